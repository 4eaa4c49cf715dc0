/* Loops along rows in one precision: every variant has the bits of the plain one, and functions are
 * those of libm; included with NP_REAL_BITS defined. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "check.h"
#include "guarded.h"
#include "nn/lanes.h"
#include "problem.h"

void setUp(void)
{
}

void tearDown(void)
{
    guarded_destroy_all();
}

static const struct {
    const np_lanes *lanes;
    uint32_t cpu; /* what it needs */
} variants[] = {
    {&NP_REAL(np_lanes_plain), 0},
#ifdef NP_HAVE_AVX2
    {&NP_REAL(np_lanes_avx2), NP_CPU_AVX2_FMA},
#endif
#ifdef NP_HAVE_AVX512
    {&NP_REAL(np_lanes_avx512), NP_CPU_AVX512},
#endif
};

enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* Variant f, or NULL if this processor cannot run it. */
static const np_lanes *find_variant(size_t f)
{
    return (variants[f].cpu & ~np_cpu_mask()) == 0 ? variants[f].lanes : NULL;
}

static real *draw(test_rng *rng, int64_t n)
{
    real *x = guarded_create((size_t)n * sizeof(real));
    for (int64_t i = 0; i < n; i++)
        x[i] = (real)(8 * rng_normal(rng));
    return x;
}

/* Everything that a variant gives of one size, in one array. */
enum { ROWS = 7, PEERS = 3, WIDTH = 203, OUTPUTS = 2 * ROWS * PEERS + 5 * ROWS + 16 };

/* out [5 ROWS + 4,width] */
static void run_layers(const np_lanes *lanes, int64_t width, real *out)
{
    test_rng rng = {10};
    real *x = draw(&rng, ROWS * width), *g = draw(&rng, ROWS * width), stats[2 * ROWS];
    real *gain = draw(&rng, width), *bias = draw(&rng, width);
    const size_t size = (size_t)width * sizeof(real);
    lanes->norm(ROWS, width, x, gain, bias, stats, out);
    out += ROWS * width;
    lanes->norm_backward(ROWS, width, x, gain, stats, g, out, out + ROWS * width,
                         out + (ROWS + 1) * width);
    out += (ROWS + 2) * width;
    lanes->norm_backward(ROWS, width, x, gain, stats, g, out, NULL, NULL);
    out += ROWS * width;
    memcpy(out, x, size);
    memcpy(out + width, x, size);
    lanes->softmax(width, out, stats);
    lanes->softmax_again(width, stats, out + width);
    ASSERT_SAME_BITS((int64_t)size, out, out + width);
    lanes->softmax_backward(width, out, (real)0.25, g);
    memcpy(out + 2 * width, g, size);
}

static void run_all(const np_lanes *lanes, int64_t width, real *out)
{
    test_rng rng = {7};
    real *x = draw(&rng, ROWS * width), *z = draw(&rng, PEERS * width);
    real *g = draw(&rng, ROWS * PEERS * width);
    lanes->multiply(width, x, z, out);
    lanes->add_rows(ROWS, width, x, out += width);
    lanes->add_wide(ROWS, width, x, width, out += width);
    lanes->sigmoid(width, (real)0.25, 2, x, out + width, out + 2 * width);
    lanes->softplus(width, (real)0.25, 2, x, out + 3 * width, out + 4 * width);
    lanes->join(ROWS, PEERS, width, x, z, 1, out += 5 * width);
    lanes->join(ROWS, PEERS, width, x, z, 0, out += ROWS * PEERS * width);
    /* too large for out: the gradients go where x and z were */
    lanes->split(ROWS, PEERS, width, g, x, z, width);
    memcpy(out + ROWS * PEERS * width, x, (size_t)width * sizeof(real));
    memcpy(out + (ROWS * PEERS + 1) * width, z + 2 * width, (size_t)width * sizeof(real));
    run_layers(lanes, width, out + (ROWS * PEERS + 2) * width);
    guarded_check();
    guarded_destroy_all();
}

static void test_all_variants_have_the_same_bits(void)
{
    static real want[OUTPUTS * WIDTH], got[OUTPUTS * WIDTH];
    for (int64_t width = 1; width <= WIDTH; width += width < 40 ? 1 : 54) {
        memset(want, 0, sizeof want);
        run_all(&NP_REAL(np_lanes_plain), width, want);
        for (size_t f = 1; f < VARIANTS; f++)
            if (find_variant(f)) {
                memset(got, 0, sizeof got);
                run_all(find_variant(f), width, got);
                ASSERT_SAME_BITS((int64_t)sizeof want, want, got);
            }
    }
}

static void test_sums_are_their_loops(void)
{
    test_rng rng = {8};
    const np_lanes *lanes = &NP_REAL(np_lanes_plain);
    real *g = draw(&rng, ROWS * PEERS * 5), x[ROWS * 5], z[PEERS * 9], sum[5] = {1, 1, 1, 1, 1};
    const double tol = 100 * (double)(NP_REAL_BITS == 32 ? FLT_EPSILON : DBL_EPSILON);
    lanes->split(ROWS, PEERS, 5, g, x, z, 9);
    lanes->add_rows(ROWS, 5, x, sum);
    for (int j = 0; j < 5; j++) {
        double all = 0, one = 0;
        for (int r = 0; r < ROWS * PEERS; r++)
            all += (double)g[r * 5 + j];
        for (int r = 0; r < ROWS; r++)
            one += (double)g[(r * PEERS + 1) * 5 + j];
        ASSERT_CLOSE(all + 1, (double)sum[j], 0, 100 * tol);
        ASSERT_CLOSE(one, (double)z[9 + j], 0, 100 * tol);
    }
}

static void test_norm_leaves_rows_with_mean_0_and_variance_1(void)
{
    test_rng rng = {11};
    const double tol = 100 * (double)(NP_REAL_BITS == 32 ? FLT_EPSILON : DBL_EPSILON);
    real ones[WIDTH], none[WIDTH] = {0}, y[WIDTH], stats[2];
    for (int64_t width = 1; width <= WIDTH; width += 11) {
        real *x = draw(&rng, width);
        double mean = 0, square = 0, spread = 0;
        for (int64_t j = 0; j < width; j++) {
            ones[j] = 1;
            x[j] += 100;
        }
        NP_REAL(np_lanes_plain).norm(1, width, x, ones, none, stats, y);
        for (int64_t j = 0; j < width; j++) {
            mean += (double)y[j] / (double)width;
            square += (double)(y[j] * y[j]) / (double)width;
            spread += pow((double)x[j] - (double)stats[0], 2) / (double)width;
        }
        ASSERT_CLOSE(0, mean, 0, 20 * tol);
        ASSERT_CLOSE(spread / (spread + NP_NORM_EPS), square, tol, 0);
        guarded_destroy_all();
    }
}

static void test_softmax_is_that_of_libm(void)
{
    test_rng rng = {12};
    const double tol = 100 * (double)(NP_REAL_BITS == 32 ? FLT_EPSILON : DBL_EPSILON);
    for (int64_t width = 1; width <= WIDTH; width += 11) {
        real *x = draw(&rng, width), *p = guarded_create((size_t)width * sizeof(real)), stats[2];
        long double sum = 0;
        memcpy(p, x, (size_t)width * sizeof(real));
        NP_REAL(np_lanes_plain).softmax(width, p, stats);
        for (int64_t j = 0; j < width; j++)
            sum += expl((long double)x[j]);
        for (int64_t j = 0; j < width; j++)
            ASSERT_CLOSE((double)(expl((long double)x[j]) / sum), (double)p[j], tol, 0);
        guarded_check();
        guarded_destroy_all();
    }
}

/* |got - want| in units in the last place of want; of the smallest normal number below that. */
static double error_in_ulp(long double want, real got)
{
    const long double least = NP_REAL_BITS == 32 ? FLT_MIN : DBL_MIN;
    const long double eps = NP_REAL_BITS == 32 ? FLT_EPSILON : DBL_EPSILON;
    int e;
    frexpl(fmaxl(fabsl(want), least), &e);
    return (double)(fabsl((long double)got - want) / ldexpl(eps, e - 1));
}

/* Of sigmoid, its slope, softplus and its slope at a; the worst so far. */
static void worsen(double worst[4], real a)
{
    const np_lanes *lanes = &NP_REAL(np_lanes_plain);
    const long double x = (long double)a, c = expl(-fabsl(x));
    const long double s = (x < 0 ? c : 1) / (1 + c);
    const long double want[4] = {s, c / ((1 + c) * (1 + c)), (x > 0 ? x : 0) + log1pl(c), s};
    real got[4];
    lanes->sigmoid(1, 0, 1, &a, &got[0], &got[1]);
    lanes->softplus(1, 0, 1, &a, &got[2], &got[3]);
    for (int i = 0; i < 4; i++)
        worst[i] = fmax(worst[i], error_in_ulp(want[i], got[i]));
}

/* The bounds that lanes.h states, from where all is 1/2 to where all is 0 or 1. */
static void test_sigmoid_and_softplus_are_those_of_libm_everywhere(void)
{
    double worst[4] = {0};
    test_rng rng = {9};
    for (int i = 0; i < 400000; i++) {
        const double size = exp2(rng_uniform(&rng, -4, 10)); /* 1/16 .. 1024 */
        worsen(worst, (real)(size * rng_uniform(&rng, -1, 1)));
    }
    worsen(worst, 0);
    worsen(worst, NP_REAL_MAX);
    worsen(worst, -NP_REAL_MAX);
    char text[100];
    snprintf(text, sizeof text, "errors in ulp: %g %g %g %g", worst[0], worst[1], worst[2],
             worst[3]);
    TEST_ASSERT_TRUE_MESSAGE(worst[0] < 3 && worst[1] < 6 && worst[2] < 4 && worst[3] < 3, text);
}

static void test_nan_stays_nan_and_infinity_is_a_limit(void)
{
    const real in[3] = {(real)NAN, (real)INFINITY, (real)-INFINITY};
    real v[3], slope[3];
    for (size_t f = 0; f < VARIANTS; f++)
        if (find_variant(f)) {
            find_variant(f)->sigmoid(3, 0, 1, in, v, slope);
            TEST_ASSERT_TRUE(isnan(v[0]) && v[1] == 1 && v[2] == 0 && slope[1] == 0);
            find_variant(f)->softplus(3, 0, 1, in, v, slope);
            TEST_ASSERT_TRUE(isnan(v[0]) && isinf(v[1]) && v[2] == 0 && slope[1] == 1);
        }
}

static void test_finite_sees_every_number(void)
{
    const real bad[3] = {(real)NAN, (real)INFINITY, (real)-INFINITY};
    real x[67];
    for (size_t f = 0; f < VARIANTS; f++)
        for (int at = 0; at < 67 && find_variant(f); at++) {
            for (int i = 0; i < 67; i++)
                x[i] = i % 2 ? NP_REAL_MAX : -NP_REAL_MAX;
            TEST_ASSERT_TRUE(find_variant(f)->is_finite(67, x));
            x[at] = bad[at % 3];
            TEST_ASSERT_TRUE(!find_variant(f)->is_finite(67, x));
            TEST_ASSERT_TRUE(find_variant(f)->is_finite(at, x));
        }
}

static void test_choice_for_no_cpu_feature_is_plain(void)
{
    TEST_ASSERT_EQUAL_PTR(&NP_REAL(np_lanes_plain), NP_REAL(np_lanes_choose)(0));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_all_variants_have_the_same_bits);
    RUN_TEST(test_sums_are_their_loops);
    RUN_TEST(test_norm_leaves_rows_with_mean_0_and_variance_1);
    RUN_TEST(test_softmax_is_that_of_libm);
    RUN_TEST(test_sigmoid_and_softplus_are_those_of_libm_everywhere);
    RUN_TEST(test_nan_stays_nan_and_infinity_is_a_limit);
    RUN_TEST(test_finite_sees_every_number);
    RUN_TEST(test_choice_for_no_cpu_feature_is_plain);
    return UNITY_END();
}
