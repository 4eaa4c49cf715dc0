/* Backward and look-ups need the cache of their own forward; any other is refused. */
#include <string.h>

#include "check.h"
#include "stand.h"

static stand *s;

void setUp(void)
{
    s = stand_create(&flavours[5], 64, NPAGG_GRAD_UNROLL);
}

void tearDown(void)
{
    stand_end(&s);
}

static void test_infer_backward_with_an_empty_cache_is_refused(void)
{
    inference_poison(s->good);
    ASSERT_FAILS(s->ctx, NPAGG_E_STATE, "empty", inference_backward(s->ctx, s->good, s->cache));
    ASSERT_UNTOUCHED(s->good);
    ASSERT_STILL_GOOD(s);
}

static void test_lookups_of_an_empty_cache_are_refused(void)
{
    ASSERT_CACHE_EMPTY(s->ctx, s->cache);
}

static void test_infer_backward_in_the_other_precision_is_refused(void)
{
    inference *other = inference_create(s->ctx, s->problem, 32);
    ASSERT_BACKWARD_REFUSED(s, other, NPAGG_E_STATE, "f64", "f32");
    inference_destroy(other);
}

static void test_infer_weights_in_the_other_precision_are_refused(void)
{
    float w[9] = {7};
    ASSERT_STILL_GOOD(s);
    ASSERT_FAILS(s->ctx, NPAGG_E_STATE, "f64", npagg_infer_weights_f32(s->ctx, s->cache, w));
    TEST_ASSERT_EQUAL_FLOAT(7, w[0]);
    ASSERT_OK(s->ctx, inference_weights(s->ctx, s->good, s->cache));
}

/* Without them the cache still serves backward, and logz brings them back. */
static void test_infer_weights_need_a_forward_that_keeps_them(void)
{
    inference bare = *s->good;
    bare.logz = bare.dlogz = NULL;
    ASSERT_OK(s->ctx, npagg_vmp_set_weights(bare.vmp, 0));
    ASSERT_OK(s->ctx, inference_forward(s->ctx, &bare, s->cache));
    const size_t bytes = npagg_cache_bytes(s->cache);
    inference_poison(&bare);
    ASSERT_FAILS(s->ctx, NPAGG_E_STATE, "npagg_vmp_set_weights",
                 inference_weights(s->ctx, &bare, s->cache));
    ASSERT_UNTOUCHED(&bare);
    TEST_ASSERT_EQUAL_UINT64(bytes, npagg_cache_bytes(s->cache));
    ASSERT_OK(s->ctx, inference_backward(s->ctx, &bare, s->cache));
    ASSERT_STILL_GOOD(s);
    ASSERT_OK(s->ctx, npagg_vmp_set_weights(bare.vmp, 1));
    ASSERT_OK(s->ctx, inference_forward(s->ctx, &bare, s->cache));
    ASSERT_OK(s->ctx, inference_weights(s->ctx, &bare, s->cache));
    ASSERT_SAME_BITS(bare.n * (int64_t)bare.real, s->want->w, bare.w);
}

static void test_infer_backward_with_fewer_sets_is_refused(void)
{
    inference bad = *s->good;
    bad.n_sets = 3;
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_STATE, "cache", "");
    bad.n_sets = 0;
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_STATE, "cache", "");
}

static void test_infer_backward_with_other_offsets_is_refused(void)
{
    inference bad = *s->good;
    int64_t moved[] = {0, 2, 3, 7, 9}, shorter[] = {0, 3, 3, 7, 8};
    bad.offsets = moved;
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_STATE, "cache", "");
    bad.offsets = shorter;
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_STATE, "cache", "");
}

static void refuse_prior(npagg_prior *other)
{
    inference bad = *s->good;
    bad.prior = other;
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_STATE, "cache", "");
    npagg_prior_destroy(other);
}

static void test_infer_backward_with_another_prior_is_refused(void)
{
    npagg_prior *other = NULL;
    ASSERT_OK(s->ctx, npagg_prior_create_student(s->ctx, 4, &other));
    refuse_prior(other);
    ASSERT_OK(s->ctx, npagg_prior_create_student(s->ctx, 5, &other));
    ASSERT_OK(s->ctx, npagg_prior_set_robust(other, 0));
    refuse_prior(other);
    ASSERT_OK(s->ctx, npagg_prior_create_gaussian(s->ctx, 5, &other));
    ASSERT_OK(s->ctx, npagg_prior_set_robust(other, 1));
    refuse_prior(other);
}

static void test_infer_backward_with_another_number_of_components_is_refused(void)
{
    stand_end(&s);
    s = stand_create(&flavours[2], 32, NPAGG_GRAD_UNROLL);
    npagg_prior *other = NULL;
    ASSERT_OK(s->ctx, npagg_prior_create_mixture(s->ctx, 5, 2, &other));
    refuse_prior(other);
    ASSERT_OK(s->ctx, npagg_prior_create_mixture(s->ctx, 5, 4, &other));
    refuse_prior(other);
    ASSERT_OK(s->ctx, npagg_prior_create_gaussian(s->ctx, 5, &other));
    refuse_prior(other);
}

/* An equal prior is as good as the same one: shapes hold no numbers and have no identity. */
static void test_infer_backward_with_an_equal_prior_is_fine(void)
{
    inference twin = *s->good;
    npagg_prior *other = NULL;
    ASSERT_OK(s->ctx, npagg_prior_create_student(s->ctx, 5, &other));
    inference_run(s->ctx, s->good, s->cache);
    twin.prior = other;
    memset(twin.dparams, 0, (size_t)twin.p * twin.real);
    memset(twin.dm, 0, (size_t)(twin.n * twin.d) * twin.real);
    memset(twin.dv, 0, (size_t)(twin.n * twin.d) * twin.real);
    memset(twin.dweight, 0, (size_t)twin.n * twin.real);
    ASSERT_OK(s->ctx, inference_backward(s->ctx, &twin, s->cache));
    ASSERT_SAME_OUTPUTS(s->want, &twin);
    npagg_prior_destroy(other);
}

static void test_infer_backward_in_another_gradient_mode_is_refused(void)
{
    for (int32_t forward = 0; forward < GRAD_MODES; forward++)
        for (int32_t backward = 0; backward < GRAD_MODES; backward++) {
            if (forward == backward)
                continue;
            stand_end(&s);
            s = stand_create(&flavours[5], 32, forward);
            inference bad = *s->good;
            ASSERT_OK(s->ctx, npagg_vmp_create(s->ctx, &bad.vmp));
            ASSERT_OK(s->ctx, npagg_vmp_set_max_iters(bad.vmp, 4));
            ASSERT_OK(s->ctx, npagg_vmp_set_grad(bad.vmp, backward));
            ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_STATE, "cache", "");
            npagg_vmp_destroy(bad.vmp);
        }
}

static void test_infer_backward_with_other_sweeps_is_refused(void)
{
    inference bad = *s->good;
    ASSERT_OK(s->ctx, npagg_vmp_create(s->ctx, &bad.vmp));
    ASSERT_OK(s->ctx, npagg_vmp_set_max_iters(bad.vmp, 7));
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_STATE, "cache", "");
    ASSERT_OK(s->ctx, npagg_vmp_set_max_iters(bad.vmp, 2));
    ASSERT_BACKWARD_REFUSED(s, &bad, NPAGG_E_STATE, "cache", "");
    npagg_vmp_destroy(bad.vmp);
}

static void test_infer_backward_from_logz_needs_a_forward_with_logz(void)
{
    inference bad = *s->good;
    bad.logz = NULL;
    ASSERT_OK(s->ctx, inference_forward(s->ctx, &bad, s->cache));
    inference_poison(&bad);
    ASSERT_FAILS(s->ctx, NPAGG_E_STATE, "logz", inference_backward(s->ctx, &bad, s->cache));
    ASSERT_UNTOUCHED(&bad);
    ASSERT_CACHE_EMPTY(s->ctx, s->cache);
    ASSERT_STILL_GOOD(s);
}

static void test_infer_trace_needs_a_forward_with_logz(void)
{
    inference bad = *s->good;
    double bound[4] = {7, 7, 7, 7};
    bad.logz = NULL;
    ASSERT_OK(s->ctx, inference_forward(s->ctx, &bad, s->cache));
    const size_t bytes = npagg_cache_bytes(s->cache);
    ASSERT_FAILS(s->ctx, NPAGG_E_STATE, "logz", npagg_infer_trace(s->ctx, s->cache, 0, bound));
    TEST_ASSERT_EQUAL_DOUBLE(7, bound[0]);
    TEST_ASSERT_EQUAL_UINT64(bytes, npagg_cache_bytes(s->cache));
    bad.dlogz = NULL;
    ASSERT_OK(s->ctx, inference_backward(s->ctx, &bad, s->cache));
}

static void test_infer_trace_of_a_set_that_is_not_there_is_refused(void)
{
    double bound[4] = {7, 7, 7, 7};
    ASSERT_STILL_GOOD(s);
    const size_t bytes = npagg_cache_bytes(s->cache);
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "set = -1", npagg_infer_trace(s->ctx, s->cache, -1, bound));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "set = 4", npagg_infer_trace(s->ctx, s->cache, 4, bound));
    ASSERT_FAILS(s->ctx, NPAGG_E_ARG, "set = 9223372036854775807",
                 npagg_infer_trace(s->ctx, s->cache, INT64_MAX, bound));
    TEST_ASSERT_EQUAL_DOUBLE(7, bound[0]);
    TEST_ASSERT_EQUAL_UINT64(bytes, npagg_cache_bytes(s->cache));
    ASSERT_OK(s->ctx, npagg_infer_trace(s->ctx, s->cache, 3, bound));
}

static void test_infer_grad_iters_need_an_implicit_backward(void)
{
    int32_t n[4] = {7, 7, 7, 7};
    ASSERT_STILL_GOOD(s);
    ASSERT_FAILS(s->ctx, NPAGG_E_STATE, "", npagg_infer_grad_iters(s->ctx, s->cache, n));
    stand_end(&s);
    s = stand_create(&flavours[5], 64, NPAGG_GRAD_IMPLICIT);
    ASSERT_OK(s->ctx, inference_forward(s->ctx, s->good, s->cache));
    ASSERT_FAILS(s->ctx, NPAGG_E_STATE, "", npagg_infer_grad_iters(s->ctx, s->cache, n));
    TEST_ASSERT_EQUAL_INT32(7, n[0]);
    ASSERT_OK(s->ctx, inference_backward(s->ctx, s->good, s->cache));
    ASSERT_OK(s->ctx, npagg_infer_grad_iters(s->ctx, s->cache, n));
    ASSERT_OK(s->ctx, inference_forward(s->ctx, s->good, s->cache));
    ASSERT_FAILS(s->ctx, NPAGG_E_STATE, "", npagg_infer_grad_iters(s->ctx, s->cache, n));
}

/* The text is that of the last failure until the next one; a success in between does not clear it.
 */
static void test_error_text_stays_until_the_next_failure(void)
{
    TEST_ASSERT_EQUAL_STRING("", npagg_ctx_error(s->ctx));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_ctx_set_threads(s->ctx, 0));
    ASSERT_ERROR_HAS(s->ctx, "n = 0");
    ASSERT_STILL_GOOD(s);
    ASSERT_ERROR_HAS(s->ctx, "n = 0");
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_ctx_set_threads(s->ctx, 999));
    ASSERT_ERROR_HAS(s->ctx, "n = 999");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_infer_backward_with_an_empty_cache_is_refused);
    RUN_TEST(test_lookups_of_an_empty_cache_are_refused);
    RUN_TEST(test_infer_backward_in_the_other_precision_is_refused);
    RUN_TEST(test_infer_weights_in_the_other_precision_are_refused);
    RUN_TEST(test_infer_weights_need_a_forward_that_keeps_them);
    RUN_TEST(test_infer_backward_with_fewer_sets_is_refused);
    RUN_TEST(test_infer_backward_with_other_offsets_is_refused);
    RUN_TEST(test_infer_backward_with_another_prior_is_refused);
    RUN_TEST(test_infer_backward_with_another_number_of_components_is_refused);
    RUN_TEST(test_infer_backward_with_an_equal_prior_is_fine);
    RUN_TEST(test_infer_backward_in_another_gradient_mode_is_refused);
    RUN_TEST(test_infer_backward_with_other_sweeps_is_refused);
    RUN_TEST(test_infer_backward_from_logz_needs_a_forward_with_logz);
    RUN_TEST(test_infer_trace_needs_a_forward_with_logz);
    RUN_TEST(test_infer_trace_of_a_set_that_is_not_there_is_refused);
    RUN_TEST(test_infer_grad_iters_need_an_implicit_backward);
    RUN_TEST(test_error_text_stays_until_the_next_failure);
    return UNITY_END();
}
