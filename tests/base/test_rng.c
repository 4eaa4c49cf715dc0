/* The random numbers: the same everywhere, inside their range, and distributed as they should be.
 */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"

#define DRAWS 1000000

typedef struct {
    uint64_t seed, stream, i, bits;
    double quantile; /* of the normal distribution, computed with 50 digits */
    double normal;   /* what must come out, to the bit */
} draw;

/* From the seventh on, i is chosen for its bits: ends, middle, and each branch of the quantile. */
static const draw draws[] = {
    {UINT64_C(0), UINT64_C(0), UINT64_C(0), UINT64_C(0xab907ad3af71c267), 0.44039185005892667,
     0x1.c2f614c5b64c4p-2},
    {UINT64_C(0), UINT64_C(0), UINT64_C(1), UINT64_C(0xb101e39e06892de0), 0.4999222164103776,
     0x1.ffeb9c081b0a6p-2},
    {UINT64_C(1), UINT64_C(0), UINT64_C(0), UINT64_C(0x9e8bb1e592211626), 0.30369292359246752,
     0x1.36fb471b6cd36p-2},
    {UINT64_C(0), UINT64_C(1), UINT64_C(0), UINT64_C(0x88c4943f9afc3956), 0.085956644744058064,
     0x1.60141320cb3ep-4},
    {UINT64_C(20230801), UINT64_C(7), UINT64_C(123456789), UINT64_C(0x6a2ee7ee5604d35f),
     -0.21527046294581209, -0x1.b8dfb8712d24cp-3},
    {UINT64_C(18446744073709551615), UINT64_C(18446744073709551615), UINT64_C(18446744073709551615),
     UINT64_C(0x9d6509026ff5a29c), 0.2919116830227303, 0x1.2aeae56f9c9dbp-2},
    {UINT64_C(0), UINT64_C(0), UINT64_C(1044354408619422609), UINT64_C(0x0000000000000000),
     -8.2095361516013874, -0x1.06b48528cea51p+3},
    {UINT64_C(0), UINT64_C(0), UINT64_C(6590978679755311826), UINT64_C(0xffffffffffffffff),
     8.2095361516013874, 0x1.06b48528cea51p+3},
    {UINT64_C(0), UINT64_C(0), UINT64_C(5359500900913393319), UINT64_C(0x8000000000000000),
     2.7829164246717671e-16, 0x1.40d931ff62707p-52},
    {UINT64_C(0), UINT64_C(0), UINT64_C(6693537225945232294), UINT64_C(0x7fffffffffffffff),
     -2.7829164246717671e-16, -0x1.40d931ff62707p-52},
    {UINT64_C(0), UINT64_C(0), UINT64_C(5562928067992248884), UINT64_C(0x0000010000000000),
     -5.2947040845142039, -0x1.52dc6e853f1cap+2},
    {UINT64_C(0), UINT64_C(0), UINT64_C(126391086691247285), UINT64_C(0xfffffeffffffffff),
     5.2947040845142039, 0x1.52dc6e853f1cap+2},
    {UINT64_C(0), UINT64_C(0), UINT64_C(6491696102777091647), UINT64_C(0x0080000000000000),
     -2.8856349124267391, -0x1.715c7c1c88ca1p+1},
    {UINT64_C(0), UINT64_C(0), UINT64_C(9858505963180585115), UINT64_C(0x1330000000000000),
     -1.4398764965970943, -0x1.709bbeff29ep+0},
    {UINT64_C(0), UINT64_C(0), UINT64_C(16265336029729313658), UINT64_C(0x1335000000000000),
     -1.439337469288819, -0x1.70786b9e80bcep+0},
    {UINT64_C(0), UINT64_C(0), UINT64_C(297421987404365332), UINT64_C(0x25c3c3c3c3c3c3c3),
     -1.047136201708768, -0x1.0c111e3ccbfc4p+0},
};

#define COUNT ((int)(sizeof draws / sizeof draws[0]))

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_rng_bits_are_the_same_on_every_machine(void)
{
    for (int i = 0; i < COUNT; i++)
        TEST_ASSERT_EQUAL_HEX64(draws[i].bits,
                                np_rng_bits(draws[i].seed, draws[i].stream, draws[i].i));
}

static void test_rng_normals_are_the_same_on_every_machine(void)
{
    for (int i = 0; i < COUNT; i++) {
        double got = np_rng_normal(draws[i].seed, draws[i].stream, draws[i].i);
        ASSERT_SAME_BITS(sizeof got, &draws[i].normal, &got);
    }
}

static void test_rng_normal_is_the_quantile_of_its_uniform(void)
{
    for (int i = 0; i < COUNT; i++)
        ASSERT_CLOSE(draws[i].quantile, np_rng_normal(draws[i].seed, draws[i].stream, draws[i].i),
                     0x1p-50, 0);
}

static void test_rng_uniform_is_its_bits_and_never_zero_or_one(void)
{
    for (int i = 0; i < COUNT; i++) {
        double got = np_rng_uniform(draws[i].seed, draws[i].stream, draws[i].i);
        ASSERT_CLOSE((double)draws[i].bits * 0x1p-64, got, 0, 0x1p-52);
        TEST_ASSERT_TRUE(got > 0 && got < 1);
    }
}

/* Five standard deviations of what DRAWS independent numbers would give. */
static void test_rng_normals_have_the_moments_of_a_normal(void)
{
    double sum[5] = {0};
    for (uint64_t i = 0; i < DRAWS; i++) {
        double x = np_rng_normal(42, 3, i), power = x;
        for (int k = 1; k <= 4; k++, power *= x)
            sum[k] += power;
    }
    ASSERT_CLOSE(0, sum[1] / DRAWS, 0, 5 / sqrt(DRAWS));
    ASSERT_CLOSE(1, sum[2] / DRAWS, 0, 5 * sqrt(2.0 / DRAWS));
    ASSERT_CLOSE(0, sum[3] / DRAWS, 0, 5 * sqrt(15.0 / DRAWS));
    ASSERT_CLOSE(3, sum[4] / DRAWS, 0, 5 * sqrt(96.0 / DRAWS));
}

static void test_rng_normals_have_the_tails_of_a_normal(void)
{
    for (int k = -4; k <= 4; k++) {
        double below = 0, want = 0.5 * erfc(-k / sqrt(2));
        for (uint64_t i = 0; i < DRAWS; i++)
            below += np_rng_normal(42, 3, i) < k;
        ASSERT_CLOSE(want, below / DRAWS, 0, 5 * sqrt(want * (1 - want) / DRAWS));
    }
}

static void test_rng_numbers_of_neighbours_are_uncorrelated(void)
{
    double next = 0, stream = 0, seed = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        double x = np_rng_normal(42, 3, i);
        next += x * np_rng_normal(42, 3, i + 1);
        stream += x * np_rng_normal(42, 4, i);
        seed += x * np_rng_normal(43, 3, i);
    }
    ASSERT_CLOSE(0, next / DRAWS, 0, 5 / sqrt(DRAWS));
    ASSERT_CLOSE(0, stream / DRAWS, 0, 5 / sqrt(DRAWS));
    ASSERT_CLOSE(0, seed / DRAWS, 0, 5 / sqrt(DRAWS));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_rng_bits_are_the_same_on_every_machine);
    RUN_TEST(test_rng_normals_are_the_same_on_every_machine);
    RUN_TEST(test_rng_normal_is_the_quantile_of_its_uniform);
    RUN_TEST(test_rng_uniform_is_its_bits_and_never_zero_or_one);
    RUN_TEST(test_rng_normals_have_the_moments_of_a_normal);
    RUN_TEST(test_rng_normals_have_the_tails_of_a_normal);
    RUN_TEST(test_rng_numbers_of_neighbours_are_uncorrelated);
    return UNITY_END();
}
