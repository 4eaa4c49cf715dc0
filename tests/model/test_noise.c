/* Random numbers by seed and stream: the same for the same, unrelated for others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"

enum { N = 100000 };

static double a[N], b[N];
static float c[N];

void setUp(void)
{
}

void tearDown(void)
{
}

typedef npagg_status (*fill64)(uint64_t seed, uint64_t stream, int64_t n, double *out);
typedef npagg_status (*fill32)(uint64_t seed, uint64_t stream, int64_t n, float *out);

static void fill(fill64 f, uint64_t seed, uint64_t stream, double *out)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, f(seed, stream, N, out));
}

static void test_same_seed_and_stream_give_the_same_numbers(void)
{
    const fill64 fills[] = {npagg_noise_fill_f64, npagg_uniform_fill_f64};
    for (int i = 0; i < 2; i++) {
        fill(fills[i], 7, 3, a);
        fill(fills[i], 7, 3, b);
        ASSERT_SAME_BITS((int64_t)sizeof a, a, b);
    }
}

static void test_fewer_numbers_are_the_first_of_more(void)
{
    fill(npagg_noise_fill_f64, 7, 3, a);
    memset(b, 0, sizeof b);
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_noise_fill_f64(7, 3, 1234, b));
    ASSERT_SAME_BITS(1234 * 8, a, b);
    TEST_ASSERT_EQUAL_DOUBLE(0, b[1234]);
}

/* Fixed numbers: the same on every machine, now and later. */
static void test_numbers_are_those_they_always_were(void)
{
    double x[4], u[2];
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_noise_fill_f64(1, 2, 4, x));
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_uniform_fill_f64(1, 2, 2, u));
    const double want[4] = {-0x1.fa4727bdebae2p+0, -0x1.77ed726b3dadep-3, 0x1.d27ed69368c49p+0,
                            -0x1.6214ce97393a6p-2};
    const double want_u[2] = {0x1.7766550ada58cp-3, 0x1.7e5dbc7423bc6p-2};
    ASSERT_SAME_BITS(32, want, x);
    ASSERT_SAME_BITS(16, want_u, u);
}

static double mean_of(const double *x, int power)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += pow(x[i], power);
    return sum / N;
}

/* Moments 1 to 4 of a standard normal within 4 of their standard errors. */
static void test_noise_has_the_moments_of_a_standard_normal(void)
{
    const double want[] = {0, 1, 0, 3}, variance[] = {1, 2, 15, 96};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        fill(npagg_noise_fill_f64, seed, 0, a);
        for (int k = 0; k < 4; k++)
            ASSERT_CLOSE(want[k], mean_of(a, k + 1), 0, 4 * sqrt(variance[k] / N));
    }
}

static void test_uniforms_have_the_moments_of_a_uniform(void)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        fill(npagg_uniform_fill_f64, seed, 0, a);
        for (int k = 1; k <= 4; k++) {
            const double m = 1.0 / (k + 1), v = 1.0 / (2 * k + 1) - m * m;
            ASSERT_CLOSE(m, mean_of(a, k), 0, 4 * sqrt(v / N));
        }
    }
}

static void check_uncorrelated(const double *x, const double *y, int n, double scale)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    ASSERT_CLOSE(0, sum / n, 0, scale * 4 / sqrt(n));
}

static void test_other_streams_and_seeds_are_uncorrelated(void)
{
    const uint64_t seeds[] = {0, 1, 2, UINT64_MAX}, streams[] = {0, 1, 2, UINT64_MAX};
    fill(npagg_noise_fill_f64, 5, 5, a);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            fill(npagg_noise_fill_f64, seeds[i], streams[j], b);
            check_uncorrelated(a, b, N, 1);
        }
    fill(npagg_noise_fill_f64, 5, 6, b);
    check_uncorrelated(a, b, N, 1);
}

/* Normals, uniforms and the first weights of a wide layer, all of one seed and one stream. */
static void test_one_seed_serves_noise_uniforms_and_first_parameters(void)
{
    const int64_t d = N / 2;
    npagg_ctx *ctx;
    npagg_prior *prior;
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_prior_create_mixture(ctx, d, 2, &prior));
    double *params = calloc((size_t)npagg_prior_param_count(prior), sizeof *params);
    TEST_ASSERT_NOT_NULL(params);
    ASSERT_OK(ctx, npagg_prior_init_params_f64(ctx, prior, 5, params));
    fill(npagg_noise_fill_f64, 5, 0, a);
    fill(npagg_uniform_fill_f64, 5, 0, b);
    for (int i = 0; i < N; i++)
        b[i] = sqrt(12) * (b[i] - 0.5);
    check_uncorrelated(a, b, N, 1);
    check_uncorrelated(a, params, 2 * d, 0.1);
    check_uncorrelated(b, params, 2 * d, 0.1);
    free(params);
    npagg_prior_destroy(prior);
    npagg_ctx_destroy(ctx);
}

/* Neighbours within a stream, and the next stream shifted against it. */
static void test_shifted_streams_are_uncorrelated(void)
{
    fill(npagg_noise_fill_f64, 9, 1, a);
    fill(npagg_noise_fill_f64, 9, 2, b);
    for (int shift = 1; shift <= 8; shift++) {
        check_uncorrelated(a, a + shift, N - shift, 1);
        check_uncorrelated(a, b + shift, N - shift, 1);
        check_uncorrelated(a + shift, b, N - shift, 1);
    }
}

static void test_f32_noise_is_the_rounded_f64_noise(void)
{
    fill(npagg_noise_fill_f64, 3, 4, a);
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_noise_fill_f32(3, 4, N, c));
    for (int i = 0; i < N; i++)
        TEST_ASSERT_TRUE(c[i] == (float)a[i]);
}

static void test_f32_uniforms_are_close_to_the_f64_ones(void)
{
    fill(npagg_uniform_fill_f64, 3, 4, a);
    TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_uniform_fill_f32(3, 4, N, c));
    for (int i = 0; i < N; i++)
        TEST_ASSERT_TRUE(fabs((double)c[i] - a[i]) <= 0x1p-23);
}

/* Streams of this seed whose first uniform has its 26 leading bits all one, or all zero. */
#define EXTREME (11 ^ NP_RNG_UNIFORM)
#define HIGHEST UINT64_C(52305549)
#define LOWEST UINT64_C(89356252)

static void test_uniforms_at_both_ends_are_strictly_between_zero_and_one(void)
{
    const uint64_t streams[] = {LOWEST, HIGHEST};
    for (int i = 0; i < 2; i++) {
        float u;
        double v;
        TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_uniform_fill_f32(EXTREME, streams[i], 1, &u));
        TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_uniform_fill_f64(EXTREME, streams[i], 1, &v));
        TEST_ASSERT_TRUE(u > 0 && u < 1 && fabs((double)u - i) < 1e-6);
        TEST_ASSERT_TRUE(v > 0 && v < 1 && fabs(v - i) < 0x1p-26);
    }
}

static void test_uniforms_are_strictly_between_zero_and_one(void)
{
    for (uint64_t stream = 0; stream < 20; stream++) {
        TEST_ASSERT_EQUAL_INT32(NPAGG_OK, npagg_uniform_fill_f32(11, stream, N, c));
        fill(npagg_uniform_fill_f64, 11, stream, a);
        for (int i = 0; i < N; i++)
            TEST_ASSERT_TRUE(c[i] > 0 && c[i] < 1 && a[i] > 0 && a[i] < 1);
    }
}

static void test_fill_refuses_what_it_cannot_fill(void)
{
    const fill64 wide[] = {npagg_noise_fill_f64, npagg_uniform_fill_f64};
    const fill32 narrow[] = {npagg_noise_fill_f32, npagg_uniform_fill_f32};
    a[0] = 5, c[0] = 5;
    for (int i = 0; i < 2; i++) {
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, wide[i](1, 1, -1, a));
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, narrow[i](1, 1, -1, c));
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, wide[i](1, 1, 3, NULL));
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, narrow[i](1, 1, 3, NULL));
        TEST_ASSERT_EQUAL_INT32(NPAGG_OK, wide[i](1, 1, 0, NULL));
        TEST_ASSERT_EQUAL_INT32(NPAGG_OK, narrow[i](1, 1, 0, NULL));
    }
    TEST_ASSERT_TRUE(a[0] == 5 && c[0] == 5);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_same_seed_and_stream_give_the_same_numbers);
    RUN_TEST(test_fewer_numbers_are_the_first_of_more);
    RUN_TEST(test_numbers_are_those_they_always_were);
    RUN_TEST(test_noise_has_the_moments_of_a_standard_normal);
    RUN_TEST(test_uniforms_have_the_moments_of_a_uniform);
    RUN_TEST(test_other_streams_and_seeds_are_uncorrelated);
    RUN_TEST(test_one_seed_serves_noise_uniforms_and_first_parameters);
    RUN_TEST(test_shifted_streams_are_uncorrelated);
    RUN_TEST(test_f32_noise_is_the_rounded_f64_noise);
    RUN_TEST(test_f32_uniforms_are_close_to_the_f64_ones);
    RUN_TEST(test_uniforms_at_both_ends_are_strictly_between_zero_and_one);
    RUN_TEST(test_uniforms_are_strictly_between_zero_and_one);
    RUN_TEST(test_fill_refuses_what_it_cannot_fill);
    return UNITY_END();
}
