/* A NULL that must not be one is refused by name, in every public function, and changes nothing. */
#include <string.h>

#include "check.h"
#include "stand.h"

static stand *s;

void setUp(void)
{
    s = stand_create(&flavours[3], 64, NPAGG_GRAD_UNROLL);
}

void tearDown(void)
{
    stand_end(&s);
}

static void test_infer_forward_without_a_needed_array_names_it(void)
{
    inference bad = *s->good;
    bad.params = NULL;
    ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, "params is NULL", "");
    bad = *s->good, bad.offsets = NULL;
    ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, "offsets is NULL", "");
    bad = *s->good, bad.m = NULL;
    ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, "m is NULL", "");
    bad = *s->good, bad.v = NULL;
    ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, "v is NULL", "");
    bad = *s->good, bad.post = NULL;
    ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, "q is NULL", "");
    bad = *s->good, bad.prior = NULL;
    ASSERT_FORWARD_REFUSED(s, &bad, NPAGG_E_ARG, "prior is NULL", "");
}

static void test_infer_backward_without_a_needed_array_names_it(void)
{
    inference bad = *s->good;
    bad.params = NULL;
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_ARG, "params is NULL", "");
    bad = *s->good, bad.offsets = NULL;
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_ARG, "offsets is NULL", "");
    bad = *s->good, bad.m = NULL;
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_ARG, "m is NULL", "");
    bad = *s->good, bad.v = NULL;
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_ARG, "v is NULL", "");
    bad = *s->good, bad.prior = NULL;
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_ARG, "prior is NULL", "");
}

static void test_infer_backward_without_a_cache_is_refused(void)
{
    inference_poison(s->good);
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "cache is NULL", inference_backward(s->ctx, s->good, NULL));
    ASSERT_UNTOUCHED(s->good);
    ASSERT_STILL_GOOD(s);
}

static void test_infer_without_a_context_is_refused_and_empties_the_cache(void)
{
    inference_run(s->ctx, s->good, s->cache);
    inference_poison(s->good);
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, inference_forward(NULL, s->good, s->cache));
    ASSERT_UNTOUCHED(s->good);
    ASSERT_CACHE_EMPTY(s->ctx, s->cache);
    inference_run(s->ctx, s->good, s->cache);
    inference_poison(s->good);
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, inference_backward(NULL, s->good, s->cache));
    ASSERT_UNTOUCHED(s->good);
    ASSERT_CACHE_EMPTY(s->ctx, s->cache);
    ASSERT_STILL_GOOD(s);
}

static void test_lookups_without_a_context_are_refused(void)
{
    double x[9];
    float y[9];
    int32_t n[9];
    ASSERT_STILL_GOOD(s);
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_infer_iters(NULL, s->cache, n));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_infer_weights_f32(NULL, s->cache, y));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_infer_weights_f64(NULL, s->cache, x));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_infer_trace(NULL, s->cache, 0, x));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_infer_residual(NULL, s->cache, x));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_infer_grad_iters(NULL, s->cache, n));
}

static void test_lookups_without_a_cache_are_refused(void)
{
    double x[9];
    float y[9];
    int32_t n[9];
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "cache is NULL", npagg_infer_iters(s->ctx, NULL, n));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "cache is NULL", npagg_infer_weights_f32(s->ctx, NULL, y));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "cache is NULL", npagg_infer_weights_f64(s->ctx, NULL, x));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "cache is NULL", npagg_infer_trace(s->ctx, NULL, 0, x));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "cache is NULL", npagg_infer_residual(s->ctx, NULL, x));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "cache is NULL", npagg_infer_grad_iters(s->ctx, NULL, n));
}

static void test_lookups_without_an_output_leave_the_cache_full(void)
{
    ASSERT_STILL_GOOD(s);
    const size_t bytes = npagg_cache_bytes(s->cache);
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "iters is NULL", npagg_infer_iters(s->ctx, s->cache, NULL));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "w is NULL", npagg_infer_weights_f64(s->ctx, s->cache, NULL));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "bound is NULL",
                 npagg_infer_trace(s->ctx, s->cache, 0, NULL));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "residual is NULL",
                 npagg_infer_residual(s->ctx, s->cache, NULL));
    TEST_ASSERT_EQUAL_UINT64(bytes, npagg_cache_bytes(s->cache));
    ASSERT_OK(s->ctx, inference_backward(s->ctx, s->good, s->cache));
}

static void test_grad_iters_without_an_output_is_refused(void)
{
    stand *implicit = stand_create(&flavours[5], 32, NPAGG_GRAD_IMPLICIT);
    ASSERT_STILL_GOOD(implicit);
    ASSERT_FAILS(implicit->ctx, NPAGG_E_ARG, "n is NULL",
                 npagg_infer_grad_iters(implicit->ctx, implicit->cache, NULL));
    stand_end(&implicit);
}

static void test_create_without_an_output_is_refused(void)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_ctx_create(NULL));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_ctx_create_with_alloc(NULL, meter_alloc, &s->meter));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "out is NULL", npagg_cache_create(s->ctx, NULL));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "out is NULL", npagg_vmp_create(s->ctx, NULL));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "out is NULL", npagg_prior_create_gaussian(s->ctx, 2, NULL));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "out is NULL",
                 npagg_prior_create_mixture(s->ctx, 2, 3, NULL));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "out is NULL", npagg_prior_create_student(s->ctx, 2, NULL));
}

static void test_create_without_a_context_leaves_its_output(void)
{
    npagg_cache *const cache = s->cache, *cache_out = cache;
    npagg_vmp *const vmp = s->good->vmp, *vmp_out = vmp;
    npagg_prior *const prior = s->good->prior, *prior_out = prior;
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_cache_create(NULL, &cache_out));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_vmp_create(NULL, &vmp_out));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_prior_create_gaussian(NULL, 2, &prior_out));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_prior_create_mixture(NULL, 2, 3, &prior_out));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_prior_create_student(NULL, 2, &prior_out));
    TEST_ASSERT_EQUAL_PTR(cache, cache_out);
    TEST_ASSERT_EQUAL_PTR(vmp, vmp_out);
    TEST_ASSERT_EQUAL_PTR(prior, prior_out);
}

static void test_ctx_without_an_allocator_is_refused(void)
{
    npagg_ctx *out = s->ctx;
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_ctx_create_with_alloc(&out, NULL, NULL));
    TEST_ASSERT_EQUAL_PTR(s->ctx, out);
}

static void test_prior_params_without_an_argument_are_refused(void)
{
    npagg_ctx *ctx = s->ctx;
    const npagg_prior *prior = s->good->prior;
    float x[64] = {0};
    double y[64] = {0};
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_prior_init_params_f32(NULL, prior, 1, x));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_prior_init_params_f64(NULL, prior, 1, y));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_prior_constrained_f32(NULL, prior, x, x));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_prior_constrained_f64(NULL, prior, y, y));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "prior is NULL", npagg_prior_init_params_f32(ctx, NULL, 1, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "prior is NULL", npagg_prior_init_params_f64(ctx, NULL, 1, y));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "params is NULL",
                 npagg_prior_init_params_f32(ctx, prior, 1, NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "params is NULL",
                 npagg_prior_init_params_f64(ctx, prior, 1, NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "prior is NULL", npagg_prior_constrained_f32(ctx, NULL, x, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "prior is NULL", npagg_prior_constrained_f64(ctx, NULL, y, y));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "params is NULL",
                 npagg_prior_constrained_f32(ctx, prior, NULL, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "out is NULL", npagg_prior_constrained_f32(ctx, prior, x, NULL));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "params is NULL",
                 npagg_prior_constrained_f64(ctx, prior, NULL, y));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "out is NULL", npagg_prior_constrained_f64(ctx, prior, y, NULL));
}

static void test_setters_and_counts_of_nothing_are_refused(void)
{
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_ctx_set_threads(NULL, 1));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_prior_set_robust(NULL, 1));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_vmp_set_max_iters(NULL, 5));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_vmp_set_tolerance(NULL, 0));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_vmp_set_grad(NULL, 0));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_vmp_set_weights(NULL, 1));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_count(NULL));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_posterior_count(NULL));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_offset(NULL, "mean"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_posterior_offset(NULL, "mean"));
    TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(NULL));
    TEST_ASSERT_NOT_NULL(npagg_ctx_error(NULL));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_forward_without_a_needed_array_names_it);
    RUN_TEST(test_infer_backward_without_a_needed_array_names_it);
    RUN_TEST(test_infer_backward_without_a_cache_is_refused);
    RUN_TEST(test_infer_without_a_context_is_refused_and_empties_the_cache);
    RUN_TEST(test_lookups_without_a_context_are_refused);
    RUN_TEST(test_lookups_without_a_cache_are_refused);
    RUN_TEST(test_lookups_without_an_output_leave_the_cache_full);
    RUN_TEST(test_grad_iters_without_an_output_is_refused);
    RUN_TEST(test_create_without_an_output_is_refused);
    RUN_TEST(test_create_without_a_context_leaves_its_output);
    RUN_TEST(test_ctx_without_an_allocator_is_refused);
    RUN_TEST(test_prior_params_without_an_argument_are_refused);
    RUN_TEST(test_setters_and_counts_of_nothing_are_refused);
    return UNITY_END();
}
