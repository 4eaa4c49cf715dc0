/*
 * Sets whose mean travels far from sweep to sweep, in float32: rows that are close together and far
 * from where the first sweep puts the mean, so that (R1) about the first mean would have no digits
 * left of them. float32 against float64 on the same numbers.
 */
#include <math.h>
#include <string.h>

#include "check.h"
#include "problem.h"

enum { N = 40, D = 16, SWEEPS = 8, FAR = 10 };

typedef struct {
    float m[N * D], v[N * D], params[3], q[2 * D], w[N], dq[2 * D], dm[N * D], dv[N * D], dp[3],
        logz, dlogz;
} narrow;

typedef struct {
    double m[N * D], v[N * D], params[3], q[2 * D], w[N], dq[2 * D], dm[N * D], dv[N * D], dp[3],
        logz, dlogz;
} wide;

static const int64_t offsets[] = {0, N};
static npagg_ctx *ctx;
static npagg_prior *prior;
static npagg_vmp *vmp;
static npagg_cache *cache;
static narrow f;
static wide g, got; /* float64's numbers, and float32's as doubles */

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_prior_create_student(ctx, D, &prior));
    ASSERT_OK(ctx, npagg_vmp_create(ctx, &vmp));
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, SWEEPS));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
}

void tearDown(void)
{
    npagg_cache_destroy(cache);
    npagg_vmp_destroy(vmp);
    npagg_prior_destroy(prior);
    npagg_ctx_destroy(ctx);
}

static void widen(int64_t n, const float *x, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (double)x[i];
}

/* The first FAR rows lie `away` from the others and pull as much as all of them together. */
static void draw_rows(double away, double v)
{
    test_rng rng = {3};
    memset(&f, 0, sizeof f);
    memset(&g, 0, sizeof g);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++) {
            const int far = i < FAR;
            f.m[i * D + j] = (float)(5 + sqrt(v) * rng_normal(&rng) + (far ? away : 0));
            f.v[i * D + j] = (float)(far ? v * FAR / (N - FAR) : v);
        }
    for (int64_t j = 0; j < 2 * D; j++)
        f.dq[j] = (float)rng_normal(&rng);
    ASSERT_OK(ctx, npagg_prior_init_params_f32(ctx, prior, 1, f.params));
    widen(N * D, f.m, g.m);
    widen(N * D, f.v, g.v);
    widen(2 * D, f.dq, g.dq);
    widen(3, f.params, g.params);
}

/* With the evidence and its gradient, or without. */
static void run_both(int evidence)
{
    f.dlogz = (float)evidence, g.dlogz = evidence;
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, prior, vmp, g.params, 1, offsets, g.m, g.v, NULL,
                                           g.q, evidence ? &g.logz : NULL, cache));
    ASSERT_OK(ctx, npagg_infer_weights_f64(ctx, cache, g.w));
    ASSERT_OK(ctx,
              npagg_infer_backward_f64(ctx, prior, vmp, g.params, 1, offsets, g.m, g.v, NULL, g.dq,
                                       evidence ? &g.dlogz : NULL, g.dp, g.dm, g.dv, NULL, cache));
    ASSERT_OK(ctx, npagg_infer_forward_f32(ctx, prior, vmp, f.params, 1, offsets, f.m, f.v, NULL,
                                           f.q, evidence ? &f.logz : NULL, cache));
    ASSERT_OK(ctx, npagg_infer_weights_f32(ctx, cache, f.w));
    ASSERT_OK(ctx,
              npagg_infer_backward_f32(ctx, prior, vmp, f.params, 1, offsets, f.m, f.v, NULL, f.dq,
                                       evidence ? &f.dlogz : NULL, f.dp, f.dm, f.dv, NULL, cache));
    widen(2 * D, f.q, got.q);
    widen(N, f.w, got.w);
    widen(N * D, f.dm, got.dm);
    widen(N * D, f.dv, got.dv);
    widen(3, f.dp, got.dp);
}

/* The rows that are close together end with large weights, and with small ones begin. */
static void check_journey(double away, double v)
{
    double first[N], shift = 0;
    draw_rows(away, v);
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, 1));
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, prior, vmp, g.params, 1, offsets, g.m, g.v, NULL,
                                           g.q, NULL, cache));
    ASSERT_OK(ctx, npagg_infer_weights_f64(ctx, cache, first));
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, SWEEPS));
    run_both(0);
    for (int64_t i = FAR; i < N; i++)
        shift = fmax(shift, g.w[i] / first[i]);
    TEST_ASSERT_TRUE_MESSAGE(shift > 100, "no weight grows: the problem does not ask for it");
    ASSERT_ALL_CLOSE(D, g.q, got.q, 1e-6, 0);
    ASSERT_ALL_CLOSE(D, g.q + D, got.q + D, 1e-5, 0);
    ASSERT_ALL_CLOSE(N, g.w, got.w, 1e-5, 0);
    ASSERT_ALL_CLOSE(N * D, g.dm, got.dm, 1e-4, 0);
    ASSERT_ALL_CLOSE(N * D, g.dv, got.dv, 1e-4, 0);
}

static void test_infer_finds_rows_that_are_far_from_the_first_mean(void)
{
    check_journey(-4, 1e-3);
}

static void test_infer_finds_rows_that_are_very_far_from_the_first_mean(void)
{
    check_journey(-60, 1e-4);
}

/* With c0 so large that no weight moves, q_i still falls by orders as the hyper-prior lets go of the
 * mean, and the bound has q_i in it. */
static void check_large_c0(double m, double c0)
{
    draw_rows(0, 10);
    for (int64_t i = 0; i < N * D; i++) {
        f.m[i] += (float)m;
        g.m[i] = (double)f.m[i];
    }
    f.params[2] = (float)log(c0);
    g.params[2] = (double)f.params[2];
    run_both(1);
    ASSERT_CLOSE(g.logz, (double)f.logz, 1e-6, 0);
    ASSERT_ALL_CLOSE(D, g.q, got.q, 1e-6, 0);
    ASSERT_ALL_CLOSE(N * D, g.dm, got.dm, 1e-4, 0);
    ASSERT_ALL_CLOSE(N * D, g.dv, got.dv, 1e-4, 0);
    ASSERT_CLOSE(g.dp[2], got.dp[2], 1e-4, 0);
}

static void test_infer_bound_is_right_where_c0_is_large(void)
{
    check_large_c0(100, 1e4);
    check_large_c0(1e3, 1e6);
}

/* c0 as small as it may be and rows that are all the same: E[beta] is beyond the largest float, and
 * stays finite, also as the coefficient of a sum. */
static void test_infer_weights_beyond_float_are_the_largest_float(void)
{
    npagg_prior *plain = NULL;
    float params[2 * D + 1], w[N], q[2 * D];
    ASSERT_OK(ctx, npagg_prior_create_gaussian(ctx, D, &plain));
    ASSERT_OK(ctx, npagg_prior_set_robust(plain, 1));
    for (int64_t j = 0; j < D; j++) {
        params[j] = 0;
        params[D + j] = -87;
    }
    params[2 * D] = -87;
    for (int64_t i = 0; i < N * D; i++) {
        f.m[i] = 0;
        f.v[i] = 1e6f;
    }
    ASSERT_OK(ctx, npagg_infer_forward_f32(ctx, plain, vmp, params, 1, offsets, f.m, f.v, NULL, q,
                                           NULL, cache));
    ASSERT_OK(ctx, npagg_infer_weights_f32(ctx, cache, w));
    for (int64_t i = 0; i < N; i++)
        TEST_ASSERT_TRUE(isfinite(w[i]) && w[i] > 1e30f);
    npagg_prior_destroy(plain);
}

/* Rows that agree with each other and not with the prior, which wins: each sweep's mean is orders
 * further away from them than the one before, and all sweeps have a share in the gradients. */
static void check_defeat(double m)
{
    enum { SWEEPS_TO_LOSE = 3, P = 2 * D + 1 };
    npagg_prior *plain = NULL;
    float params[P];
    double wide_params[P];
    ASSERT_OK(ctx, npagg_prior_create_gaussian(ctx, D, &plain));
    ASSERT_OK(ctx, npagg_prior_set_robust(plain, 1));
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, SWEEPS_TO_LOSE));
    draw_rows(0, 1e-4);
    for (int64_t i = 0; i < N * D; i++) {
        f.m[i] += (float)m;
        g.m[i] = (double)f.m[i];
    }
    ASSERT_OK(ctx, npagg_prior_init_params_f32(ctx, plain, 1, params));
    widen(P, params, wide_params);
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, plain, vmp, wide_params, 1, offsets, g.m, g.v, NULL,
                                           g.q, NULL, cache));
    ASSERT_OK(ctx, npagg_infer_backward_f64(ctx, plain, vmp, wide_params, 1, offsets, g.m, g.v,
                                            NULL, g.dq, NULL, NULL, g.dm, g.dv, NULL, cache));
    ASSERT_OK(ctx, npagg_infer_forward_f32(ctx, plain, vmp, params, 1, offsets, f.m, f.v, NULL, f.q,
                                           NULL, cache));
    ASSERT_OK(ctx, npagg_infer_backward_f32(ctx, plain, vmp, params, 1, offsets, f.m, f.v, NULL,
                                            f.dq, NULL, NULL, f.dm, f.dv, NULL, cache));
    widen(N * D, f.dm, got.dm);
    widen(N * D, f.dv, got.dv);
    TEST_ASSERT_TRUE_MESSAGE(fabs(g.q[0] - g.m[0]) > 1, "the mean stays with the rows");
    ASSERT_ALL_CLOSE(N * D, g.dm, got.dm, 1e-5, 0);
    ASSERT_ALL_CLOSE(N * D, g.dv, got.dv, 1e-5, 0);
    npagg_prior_destroy(plain);
}

static void test_infer_gradients_are_right_where_the_mean_leaves_the_rows(void)
{
    check_defeat(1e4);
    check_defeat(1e5);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_finds_rows_that_are_far_from_the_first_mean);
    RUN_TEST(test_infer_finds_rows_that_are_very_far_from_the_first_mean);
    RUN_TEST(test_infer_bound_is_right_where_c0_is_large);
    RUN_TEST(test_infer_weights_beyond_float_are_the_largest_float);
    RUN_TEST(test_infer_gradients_are_right_where_the_mean_leaves_the_rows);
    return UNITY_END();
}
