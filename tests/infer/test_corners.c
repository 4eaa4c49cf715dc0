/* Sets that one row rules, weights next to nothing, many allowed sweeps, and the child of a fork. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static npagg_ctx *ctx;
static npagg_cache *cache;

void setUp(void)
{
    TEST_ASSERT_EQUAL(NPAGG_OK, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
}

void tearDown(void)
{
    npagg_cache_destroy(cache);
    npagg_ctx_destroy(ctx);
}

static npagg_prior *gaussian(int64_t d)
{
    npagg_prior *prior = NULL;
    ASSERT_OK(ctx, npagg_prior_create_gaussian(ctx, d, &prior));
    return prior;
}

enum { D = 4 };

/* One row, N(0, I) prior: q = N(m / (1 + v), v / (1 + v)), so dmean/dv = -m / (1 + v)^2. */
static void check_one_row(float v0)
{
    const int64_t offsets[] = {0, 1};
    const float m[D] = {1.7f, -0.3f, 2.9f, 0.8f}, v[D] = {v0, v0, v0, v0};
    float params[2 * D] = {0}, q[2 * D], dq[2 * D] = {1, 1, 1, 1}, dlogz = 1;
    float dm[D] = {0}, dv[D] = {0}, em[D] = {0}, logz;
    npagg_prior *prior = gaussian(D);
    ASSERT_OK(ctx, npagg_infer_forward_f32(ctx, prior, NULL, params, 1, offsets, m, v, NULL, q,
                                           &logz, cache));
    ASSERT_OK(ctx, npagg_infer_backward_f32(ctx, prior, NULL, params, 1, offsets, m, v, NULL, dq,
                                            NULL, NULL, dm, dv, NULL, cache));
    ASSERT_OK(ctx, npagg_infer_backward_f32(ctx, prior, NULL, params, 1, offsets, m, v, NULL, NULL,
                                            &dlogz, NULL, em, NULL, NULL, cache));
    for (int j = 0; j < D; j++) {
        const double t = 1 + (double)v[j];
        ASSERT_CLOSE((double)m[j] / t, (double)q[j], 3e-7, 0);
        ASSERT_CLOSE(-(double)m[j] / (t * t), (double)dv[j], 3e-6, 0);
        ASSERT_CLOSE(-(double)m[j] / t, (double)em[j], 3e-6, 0);
    }
    npagg_prior_destroy(prior);
}

static void test_float_gradients_of_a_single_precise_row_keep_their_digits(void)
{
    const float sizes[] = {1, 1e-2f, 1e-4f, 2e-6f, 1e-9f};
    for (int i = 0; i < 5; i++)
        check_one_row(sizes[i]);
}

static void test_weight_next_to_nothing_is_a_row_next_to_nothing(void)
{
    enum { N = 65 };
    const int64_t offsets[] = {0, N};
    float m[N], v[N], weight[N], params[2] = {0}, q[2][2], logz[2];
    npagg_prior *prior = gaussian(1);
    for (int i = 0; i < N; i++) {
        m[i] = (float)(i % 5);
        v[i] = 100;
        weight[i] = i == N - 1 ? 1e-44f : 1;
    }
    ASSERT_OK(ctx, npagg_infer_forward_f32(ctx, prior, NULL, params, 1, offsets, m, v, weight, q[0],
                                           &logz[0], NULL));
    weight[N - 1] = 0;
    ASSERT_OK(ctx, npagg_infer_forward_f32(ctx, prior, NULL, params, 1, offsets, m, v, weight, q[1],
                                           &logz[1], NULL));
    ASSERT_CLOSE((double)q[1][0], (double)q[0][0], 1e-6, 0);
    ASSERT_CLOSE((double)logz[1], (double)logz[0], 1e-6, 0);
    npagg_prior_destroy(prior);
}

/* Bytes of the cache after ten points, and whether the trace is there. */
static size_t run_student(int32_t mode, int32_t sweeps, double tol, npagg_cache *into)
{
    const int64_t offsets[] = {0, 10};
    double m[10], v[10], params[3], q[2], logz;
    npagg_prior *prior = NULL;
    npagg_vmp *vmp = NULL;
    for (int i = 0; i < 10; i++) {
        m[i] = i == 0 ? 20 : 0.1 * i;
        v[i] = 0.5;
    }
    ASSERT_OK(ctx, npagg_prior_create_student(ctx, 1, &prior));
    ASSERT_OK(ctx, npagg_vmp_create(ctx, &vmp));
    ASSERT_OK(ctx, npagg_vmp_set_grad(vmp, mode));
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, sweeps));
    ASSERT_OK(ctx, npagg_vmp_set_tolerance(vmp, tol));
    ASSERT_OK(ctx, npagg_prior_init_params_f64(ctx, prior, 0, params));
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, prior, vmp, params, 1, offsets, m, v, NULL, q,
                                           &logz, into));
    npagg_vmp_destroy(vmp);
    npagg_prior_destroy(prior);
    return npagg_cache_bytes(into);
}

static void test_cache_of_implicit_is_the_same_for_any_number_of_sweeps(void)
{
    const size_t few = run_student(NPAGG_GRAD_IMPLICIT, 5, 0, cache);
    TEST_ASSERT_EQUAL_size_t(few, run_student(NPAGG_GRAD_IMPLICIT, 100, 0, cache));
    TEST_ASSERT_EQUAL_size_t(few, run_student(NPAGG_GRAD_IMPLICIT, 1000, 0, cache));
    TEST_ASSERT_EQUAL_size_t(few, run_student(NPAGG_GRAD_IMPLICIT, 1000000, 1e-6, cache));
}

static void test_trace_of_implicit_ends_with_what_is_kept(void)
{
    double bound[128];
    run_student(NPAGG_GRAD_IMPLICIT, 128, 0, cache);
    ASSERT_OK(ctx, npagg_infer_trace(ctx, cache, 0, bound));
    run_student(NPAGG_GRAD_IMPLICIT, 129, 0, cache);
    ASSERT_FAILS(ctx, NPAGG_E_STATE, "129", npagg_infer_trace(ctx, cache, 0, bound));
}

static void test_infer_without_a_cache_does_not_pay_for_allowed_sweeps(void)
{
    run_student(NPAGG_GRAD_UNROLL, 1000000, 1e-6, NULL);
}

enum { ROWS = 100000 };

/* A set large enough for all threads. */
static double infer_large(void)
{
    static double m[ROWS], v[ROWS];
    const int64_t offsets[] = {0, ROWS};
    double params[2] = {0}, q[2];
    npagg_prior *prior = gaussian(1);
    for (int i = 0; i < ROWS; i++) {
        m[i] = i % 7;
        v[i] = 1 + i % 3;
    }
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, prior, NULL, params, 1, offsets, m, v, NULL, q,
                                           NULL, NULL));
    npagg_prior_destroy(prior);
    return q[0];
}

/* Exit status of a child that infers as its parent did, with as many threads as it asks for. */
static int infer_in_child(double want, int32_t threads)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        int failed = threads > 0 && npagg_ctx_set_threads(ctx, threads) != NPAGG_OK;
        failed |= infer_large() != want;
        npagg_ctx_destroy(ctx);
        _exit(failed);
    }
    TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
    return status;
}

static void test_child_of_a_fork_infers_without_its_parents_threads(void)
{
    ASSERT_OK(ctx, npagg_ctx_set_threads(ctx, 3));
    const double want = infer_large();
    TEST_ASSERT_EQUAL(0, infer_in_child(want, 0));
    TEST_ASSERT_EQUAL(0, infer_in_child(want, 1));
    TEST_ASSERT_EQUAL(0, infer_in_child(want, 3));
    TEST_ASSERT_EQUAL_DOUBLE(want, infer_large());
}

static void test_no_sets_may_have_no_arrays(void)
{
    npagg_prior *prior = gaussian(2);
    const double params[4] = {0};
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, prior, NULL, params, 0, NULL, NULL, NULL, NULL,
                                           NULL, NULL, cache));
    ASSERT_OK(ctx, npagg_infer_backward_f64(ctx, prior, NULL, params, 0, NULL, NULL, NULL, NULL,
                                            NULL, NULL, NULL, NULL, NULL, NULL, cache));
    npagg_prior_destroy(prior);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_float_gradients_of_a_single_precise_row_keep_their_digits);
    RUN_TEST(test_weight_next_to_nothing_is_a_row_next_to_nothing);
    RUN_TEST(test_cache_of_implicit_is_the_same_for_any_number_of_sweeps);
    RUN_TEST(test_trace_of_implicit_ends_with_what_is_kept);
    RUN_TEST(test_infer_without_a_cache_does_not_pay_for_allowed_sweeps);
    RUN_TEST(test_child_of_a_fork_infers_without_its_parents_threads);
    RUN_TEST(test_no_sets_may_have_no_arrays);
    return UNITY_END();
}
