/*
 * Corruptions of images: noise has the distribution that it should, within four standard errors;
 * pixelation is exact.
 */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "corruption.h"
#include "keyed.h"

void setUp(void)
{
}

void tearDown(void)
{
}

enum { DRAWS = 40000 };

typedef struct {
    double mean, sd, share; /* share of the draws that changed */
} summary;

static summary corrupt_often(int kind, int severity, double x)
{
    static double u[2 * DRAWS];
    double sum = 0, square = 0, changed = 0;
    key_uniform(11, KEY_OUTLIERS, (uint64_t)(10 * kind + severity), 2 * DRAWS, u);
    for (int i = 0; i < DRAWS; i++) {
        const double y = corrupt_value(kind, severity, x, u[2 * i], u[2 * i + 1]);
        TEST_ASSERT_TRUE(y >= 0 && y <= 1);
        sum += y;
        square += y * y;
        changed += y != x;
    }
    const double mean = sum / DRAWS;
    return (summary){mean, sqrt(square / DRAWS - mean * mean), changed / DRAWS};
}

/* sd of a variance's root from n normal draws: sd / sqrt(2 n). */
static void check_normal(int kind, int severity, double x, double sd)
{
    const summary got = corrupt_often(kind, severity, x);
    ASSERT_CLOSE(x, got.mean, 0, 4 * sd / sqrt(DRAWS));
    ASSERT_CLOSE(sd, got.sd, 0, 4 * sd / sqrt(2.0 * DRAWS));
}

static void test_gaussian_noise_has_the_sd_of_its_severity(void)
{
    const double sd[] = {0.04, 0.06, 0.08, 0.09, 0.10};
    for (int i = 0; i < 5; i++)
        check_normal(CORRUPT_GAUSSIAN, i + 1, 0.5, sd[i]);
}

static void test_speckle_scales_with_the_value(void)
{
    const double sd[] = {0.06, 0.10, 0.12, 0.16, 0.20};
    for (int i = 0; i < 5; i++) {
        check_normal(CORRUPT_SPECKLE, i + 1, 0.5, 0.5 * sd[i]);
        check_normal(CORRUPT_SPECKLE, i + 1, 0.25, 0.25 * sd[i]);
        ASSERT_CLOSE(0, corrupt_often(CORRUPT_SPECKLE, i + 1, 0).mean, 0, 0);
    }
}

/* Poisson(x c) / c has mean x and variance x / c. */
static void test_shot_noise_counts_photons(void)
{
    const double c[] = {500, 250, 100, 75, 50};
    for (int i = 0; i < 5; i++) {
        check_normal(CORRUPT_SHOT, i + 1, 0.4, sqrt(0.4 / c[i]));
        ASSERT_CLOSE(0, corrupt_often(CORRUPT_SHOT, i + 1, 0).mean, 0, 0);
    }
}

static double poisson_cdf(double rate, int k)
{
    double sum = 0;
    for (int i = 0; i <= k; i++)
        sum += exp(i * log(rate) - rate - lgamma(i + 1.0));
    return sum;
}

static void test_shot_noise_has_the_quantiles_of_poisson(void)
{
    const double rate = 0.2 * 50;
    static double u[DRAWS];
    key_uniform(12, KEY_OUTLIERS, 0, DRAWS, u);
    for (int k = 2; k < 20; k++) {
        const double want = poisson_cdf(rate, k);
        double below = 0;
        for (int i = 0; i < DRAWS; i++)
            below += corrupt_value(CORRUPT_SHOT, 5, 0.2, u[i], 0.5) <= (k + 0.5) / 50;
        ASSERT_CLOSE(want, below / DRAWS, 0, 4 * sqrt(want * (1 - want) / DRAWS));
    }
}

static void test_impulses_are_black_or_white_in_equal_parts(void)
{
    const double share[] = {0.01, 0.02, 0.03, 0.05, 0.07};
    for (int i = 0; i < 5; i++) {
        const summary got = corrupt_often(CORRUPT_IMPULSE, i + 1, 0.25);
        const double p = share[i], mean = (1 - p) * 0.25 + p / 2;
        ASSERT_CLOSE(p, got.share, 0, 4 * sqrt(p * (1 - p) / DRAWS));
        ASSERT_CLOSE(mean, got.mean, 0, 4 * got.sd / sqrt(DRAWS));
    }
}

static void test_severity_0_changes_nothing(void)
{
    for (int kind = 0; kind < CORRUPT_NOISES; kind++)
        for (double x = 0; x <= 1; x += 0.125)
            ASSERT_CLOSE(x, corrupt_value(kind, 0, x, 0.01, 0.99), 0, 0);
    for (int64_t i = 0; i < 28; i++)
        TEST_ASSERT_EQUAL_INT64(i, corrupt_place(0, 28, i));
}

/* 28 pixels become 26, 25, 23, 21, 18, each from the middle of where it lies. */
static void test_pixelation_keeps_so_many_places_of_a_side(void)
{
    const int kept[] = {26, 25, 23, 21, 18};
    for (int severity = 1; severity <= 5; severity++) {
        int seen[28] = {0}, different = 0;
        for (int64_t i = 0; i < 28; i++) {
            const int64_t from = corrupt_place(severity, 28, i);
            TEST_ASSERT_TRUE(from >= 0 && from < 28 && llabs(from - i) <= 1);
            different += !seen[from]++;
        }
        TEST_ASSERT_EQUAL_INT(kept[severity - 1], different);
    }
}

/* 10 pixels at 65 percent are 6, the places 0 2 4 5 7 9; each of ten takes its nearest. */
static void test_pixelation_of_a_small_side_is_as_by_hand(void)
{
    const int64_t want[] = {0, 0, 2, 4, 4, 5, 5, 7, 9, 9};
    for (int64_t i = 0; i < 10; i++)
        TEST_ASSERT_EQUAL_INT64(want[i], corrupt_place(5, 10, i));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_gaussian_noise_has_the_sd_of_its_severity);
    RUN_TEST(test_speckle_scales_with_the_value);
    RUN_TEST(test_shot_noise_counts_photons);
    RUN_TEST(test_shot_noise_has_the_quantiles_of_poisson);
    RUN_TEST(test_impulses_are_black_or_white_in_equal_parts);
    RUN_TEST(test_severity_0_changes_nothing);
    RUN_TEST(test_pixelation_keeps_so_many_places_of_a_side);
    RUN_TEST(test_pixelation_of_a_small_side_is_as_by_hand);
    return UNITY_END();
}
