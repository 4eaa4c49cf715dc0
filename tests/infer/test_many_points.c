/* Ten million float32 points away from the origin: sums that a float accumulator would ruin. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "problem.h"

enum { N = 10000000, D = 8 };

static npagg_ctx *ctx;
static float *m, *v;            /* [N,D] */
static double *wide_m, *wide_v; /* the same numbers */

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, 2));
}

void tearDown(void)
{
    npagg_ctx_destroy(ctx);
}

static void draw_points(void)
{
    test_rng rng = {47};
    const size_t cells = (size_t)N * D;
    m = malloc(cells * sizeof *m), v = malloc(cells * sizeof *v);
    wide_m = malloc(cells * sizeof *wide_m), wide_v = malloc(cells * sizeof *wide_v);
    if (!m || !v || !wide_m || !wide_v)
        return;
    for (size_t i = 0; i < cells; i++) {
        m[i] = (float)(3 + rng_normal(&rng));
        v[i] = (float)rng_uniform(&rng, 0.5, 2);
        wide_m[i] = (double)m[i];
        wide_v[i] = (double)v[i];
    }
}

/* The paper's parameters as floats, and the same numbers as doubles. */
static void fill_params(const npagg_prior *prior, float *params, double *wide)
{
    ASSERT_OK(ctx, npagg_prior_init_params_f32(ctx, prior, 1, params));
    for (int64_t i = 0; i < npagg_prior_param_count(prior); i++)
        wide[i] = (double)params[i];
}

/* mean and var [K,D] lie at the beginning of the posterior. */
static void compare_precisions(npagg_prior *prior, int64_t k)
{
    const int64_t offsets[] = {0, N};
    float params[128], q[128];
    double wide_params[128], wide_q[128];
    TEST_ASSERT_NOT_NULL(wide_v);
    fill_params(prior, params, wide_params);
    ASSERT_OK(ctx, npagg_infer_forward_f32(ctx, prior, NULL, params, 1, offsets, m, v, NULL, q,
                                           NULL, NULL));
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, prior, NULL, wide_params, 1, offsets, wide_m,
                                           wide_v, NULL, wide_q, NULL, NULL));
    for (int64_t i = 0; i < 2 * k * D; i++)
        ASSERT_CLOSE(wide_q[i], (double)q[i], 1e-6, 0);
    npagg_prior_destroy(prior);
}

static void test_infer_f32_of_ten_million_points_is_f64_to_a_millionth(void)
{
    npagg_prior *prior = NULL;
    ASSERT_OK(ctx, npagg_prior_create_gaussian(ctx, D, &prior));
    compare_precisions(prior, 1);
}

/* With N(0, I) before the points: var = 1 / (1 + sum 1/v), mean = var sum m/v. */
static void test_infer_of_ten_million_points_is_their_plain_sum_to_a_millionth(void)
{
    const int64_t offsets[] = {0, N};
    const float params[2 * D] = {0};
    float q[2 * D];
    npagg_prior *prior = NULL;
    TEST_ASSERT_NOT_NULL(wide_v);
    ASSERT_OK(ctx, npagg_prior_create_gaussian(ctx, D, &prior));
    ASSERT_OK(ctx, npagg_infer_forward_f32(ctx, prior, NULL, params, 1, offsets, m, v, NULL, q,
                                           NULL, NULL));
    for (int64_t j = 0; j < D; j++) {
        long double precision = 1, pull = 0;
        for (int64_t i = j; i < (int64_t)N * D; i += D) {
            precision += 1 / (long double)v[i];
            pull += (long double)m[i] / (long double)v[i];
        }
        ASSERT_CLOSE((double)(pull / precision), (double)q[j], 1e-6, 0);
        ASSERT_CLOSE((double)(1 / precision), (double)q[D + j], 1e-6, 0);
    }
    npagg_prior_destroy(prior);
}

static void test_infer_f32_of_a_mixture_of_ten_million_points_is_f64_to_a_millionth(void)
{
    npagg_prior *prior = NULL;
    ASSERT_OK(ctx, npagg_prior_create_mixture(ctx, D, 3, &prior));
    compare_precisions(prior, 3);
}

static void test_infer_f32_of_rba_of_ten_million_points_is_f64_to_a_millionth(void)
{
    npagg_prior *prior = NULL;
    ASSERT_OK(ctx, npagg_prior_create_student(ctx, D, &prior));
    compare_precisions(prior, 1);
}

int main(void)
{
    UNITY_BEGIN();
    draw_points();
    RUN_TEST(test_infer_f32_of_ten_million_points_is_f64_to_a_millionth);
    RUN_TEST(test_infer_of_ten_million_points_is_their_plain_sum_to_a_millionth);
    RUN_TEST(test_infer_f32_of_a_mixture_of_ten_million_points_is_f64_to_a_millionth);
    RUN_TEST(test_infer_f32_of_rba_of_ten_million_points_is_f64_to_a_millionth);
    free(m), free(v), free(wide_m), free(wide_v);
    return UNITY_END();
}
