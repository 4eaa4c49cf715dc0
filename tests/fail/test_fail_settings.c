/* Setters out of range change nothing, unknown fields are -1, every status has its name. */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "stand.h"

static npagg_ctx *ctx;
static npagg_vmp *vmp;
static npagg_prior *prior;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_vmp_create(ctx, &vmp));
    ASSERT_OK(ctx, npagg_prior_create_student(ctx, 1, &prior));
}

void tearDown(void)
{
    npagg_prior_destroy(prior);
    npagg_vmp_destroy(vmp);
    npagg_ctx_destroy(ctx);
}

/* Sweeps that a run of two points takes with these settings. */
static int32_t count_sweeps(void)
{
    const double params[] = {0.3, 0.2, 0.1}, m[] = {1, 3}, v[] = {1, 0.5};
    const int64_t offsets[] = {0, 2};
    double q[2];
    int32_t iters = 0;
    npagg_cache *cache = NULL;
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, prior, vmp, params, 1, offsets, m, v, NULL, q, NULL,
                                           cache));
    ASSERT_OK(ctx, npagg_infer_iters(ctx, cache, &iters));
    npagg_cache_destroy(cache);
    return iters;
}

static void test_vmp_max_iters_out_of_range_change_nothing(void)
{
    const int32_t bad[] = {0, -1, 1000001, INT32_MIN, INT32_MAX};
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, 3));
    for (int i = 0; i < 5; i++) {
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_vmp_set_max_iters(vmp, bad[i]));
        TEST_ASSERT_EQUAL_INT32(3, count_sweeps());
    }
}

static void test_vmp_max_iters_go_from_one_to_a_million(void)
{
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, 1000000));
    ASSERT_OK(ctx, npagg_vmp_set_tolerance(vmp, 1e-3));
    TEST_ASSERT_GREATER_THAN_INT32(1, count_sweeps());
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, 1));
    TEST_ASSERT_EQUAL_INT32(1, count_sweeps());
}

static void test_vmp_takes_five_sweeps_by_default(void)
{
    TEST_ASSERT_EQUAL_INT32(5, count_sweeps());
    npagg_vmp_destroy(vmp);
    vmp = NULL;
    TEST_ASSERT_EQUAL_INT32(5, count_sweeps());
}

static void test_vmp_tolerance_out_of_range_changes_nothing(void)
{
    const double bad[] = {-1e-300, -1, (double)NAN, (double)INFINITY, -(double)INFINITY};
    ASSERT_OK(ctx, npagg_vmp_set_max_iters(vmp, 500));
    ASSERT_OK(ctx, npagg_vmp_set_tolerance(vmp, 1e-4));
    const int32_t before = count_sweeps();
    TEST_ASSERT_TRUE(before > 2 && before < 500);
    for (int i = 0; i < 5; i++) {
        TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_vmp_set_tolerance(vmp, bad[i]));
        TEST_ASSERT_EQUAL_INT32(before, count_sweeps());
    }
}

/* Cache bytes tell the modes apart: implicit keeps one sweep, unroll all. */
static void test_vmp_grad_out_of_range_changes_nothing(void)
{
    const int32_t bad[] = {-1, 3, INT32_MIN, INT32_MAX};
    for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
        stand *s = stand_create(&flavours[5], 64, mode);
        for (int i = 0; i < 4; i++) {
            ASSERT_OK(s->ctx, inference_forward(s->ctx, s->good, s->cache));
            const size_t bytes = npagg_cache_bytes(s->cache);
            TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_vmp_set_grad(s->good->vmp, bad[i]));
            ASSERT_STILL_GOOD(s);
            TEST_ASSERT_EQUAL_UINT64(bytes, npagg_cache_bytes(s->cache));
        }
        stand_end(&s);
    }
}

/* What a look-up of the weights answers after a forward without logz. */
static npagg_status look_up_weights(void)
{
    const double params[] = {0.3, 0.2, 0.1}, m[] = {1, 3}, v[] = {1, 0.5};
    const int64_t offsets[] = {0, 2};
    double q[2], w[2];
    npagg_cache *cache = NULL;
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    ASSERT_OK(ctx, npagg_infer_forward_f64(ctx, prior, vmp, params, 1, offsets, m, v, NULL, q, NULL,
                                           cache));
    const npagg_status status = npagg_infer_weights_f64(ctx, cache, w);
    npagg_cache_destroy(cache);
    return status;
}

static void test_vmp_weights_out_of_range_change_nothing(void)
{
    const int32_t bad[] = {-1, 2, INT32_MIN, INT32_MAX};
    for (int32_t on = 0; on < 2; on++) {
        ASSERT_OK(ctx, npagg_vmp_set_weights(vmp, on));
        for (int i = 0; i < 4; i++) {
            TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_vmp_set_weights(vmp, bad[i]));
            TEST_ASSERT_EQUAL_INT32(on ? NPAGG_OK : NPAGG_E_STATE, look_up_weights());
        }
    }
}

static void test_vmp_wants_weights_by_default(void)
{
    ASSERT_OK(ctx, look_up_weights());
    npagg_vmp_destroy(vmp);
    vmp = NULL;
    ASSERT_OK(ctx, look_up_weights());
}

static void test_prior_robust_out_of_range_changes_nothing(void)
{
    const int32_t bad[] = {-1, 2, INT32_MIN, INT32_MAX};
    for (int32_t on = 0; on < 2; on++) {
        ASSERT_OK(ctx, npagg_prior_set_robust(prior, on));
        for (int i = 0; i < 4; i++) {
            TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_prior_set_robust(prior, bad[i]));
            TEST_ASSERT_EQUAL_INT64(2 + on, npagg_prior_param_count(prior));
        }
    }
}

static void test_threads_out_of_range_are_refused_and_change_nothing(void)
{
    const int32_t bad[] = {0, -1, 257, INT32_MIN, INT32_MAX};
    const char *texts[] = {"n = 0", "n = -1", "n = 257", "n = -2147483648", "n = 2147483647"};
    stand *s = stand_create(&flavours[3], 32, NPAGG_GRAD_UNROLL);
    for (int32_t threads = 1; threads <= 3; threads += 2) {
        ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, threads));
        for (int i = 0; i < 5; i++) {
            const int64_t calls = s->meter.calls;
            ASSERT_FAILS(s->ctx, NPAGG_E_ARG, texts[i], npagg_ctx_set_threads(s->ctx, bad[i]));
            ASSERT_ERROR_HAS(s->ctx, "1..256");
            TEST_ASSERT_EQUAL_INT64(calls, s->meter.calls);
            ASSERT_STILL_GOOD(s);
        }
    }
    stand_end(&s);
}

static void test_prior_offset_of_an_unknown_field_is_minus_one(void)
{
    const char *unknown[] = {"", "Mean", "mean ", "meanx", "mea", "var", "logw", "log_d0", "%s"};
    npagg_prior *mixture = NULL;
    ASSERT_OK(ctx, npagg_prior_create_mixture(ctx, 3, 2, &mixture));
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_offset(mixture, unknown[i]));
        TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_offset(prior, unknown[i]));
    }
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_offset(mixture, NULL));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_posterior_offset(mixture, NULL));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_posterior_offset(mixture, "logvar"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_posterior_offset(mixture, "logits"));
    npagg_prior_destroy(mixture);
}

static void test_prior_offset_of_a_field_of_other_priors_is_minus_one(void)
{
    npagg_prior *gaussian = NULL;
    ASSERT_OK(ctx, npagg_prior_create_gaussian(ctx, 3, &gaussian));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_offset(gaussian, "logits"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_offset(gaussian, "log_a0"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_offset(gaussian, "log_c0"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_posterior_offset(gaussian, "logw"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_offset(prior, "mean"));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_offset(prior, "logvar"));
    ASSERT_OK(ctx, npagg_prior_set_robust(gaussian, 1));
    TEST_ASSERT_EQUAL_INT64(6, npagg_prior_param_offset(gaussian, "log_c0"));
    ASSERT_OK(ctx, npagg_prior_set_robust(prior, 0));
    TEST_ASSERT_EQUAL_INT64(-1, npagg_prior_param_offset(prior, "log_c0"));
    npagg_prior_destroy(gaussian);
}

static void test_status_names_are_those_of_the_header(void)
{
    TEST_ASSERT_EQUAL_STRING("NPAGG_OK", npagg_status_name(NPAGG_OK));
    TEST_ASSERT_EQUAL_STRING("NPAGG_E_ARG", npagg_status_name(NPAGG_E_ARG));
    TEST_ASSERT_EQUAL_STRING("NPAGG_E_NOMEM", npagg_status_name(NPAGG_E_NOMEM));
    TEST_ASSERT_EQUAL_STRING("NPAGG_E_STATE", npagg_status_name(NPAGG_E_STATE));
    TEST_ASSERT_EQUAL_STRING("NPAGG_E_NUMERIC", npagg_status_name(NPAGG_E_NUMERIC));
    TEST_ASSERT_EQUAL_STRING("NPAGG_E_UNSUP", npagg_status_name(NPAGG_E_UNSUP));
    TEST_ASSERT_EQUAL_STRING("NPAGG_E_IO", npagg_status_name(NPAGG_E_IO));
    TEST_ASSERT_EQUAL_STRING("NPAGG_E_FORMAT", npagg_status_name(NPAGG_E_FORMAT));
}

static void test_status_name_of_any_other_number_is_unknown(void)
{
    const npagg_status others[] = {1, 8, -8, -100, INT32_MIN, INT32_MAX};
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_EQUAL_STRING("unknown status", npagg_status_name(others[i]));
}

static void test_version_loaded_is_the_version_compiled_against(void)
{
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", NPAGG_VERSION_MAJOR, NPAGG_VERSION_MINOR,
             NPAGG_VERSION_PATCH);
    TEST_ASSERT_EQUAL_STRING(text, npagg_version());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_vmp_max_iters_out_of_range_change_nothing);
    RUN_TEST(test_vmp_max_iters_go_from_one_to_a_million);
    RUN_TEST(test_vmp_takes_five_sweeps_by_default);
    RUN_TEST(test_vmp_tolerance_out_of_range_changes_nothing);
    RUN_TEST(test_vmp_grad_out_of_range_changes_nothing);
    RUN_TEST(test_vmp_weights_out_of_range_change_nothing);
    RUN_TEST(test_vmp_wants_weights_by_default);
    RUN_TEST(test_prior_robust_out_of_range_changes_nothing);
    RUN_TEST(test_threads_out_of_range_are_refused_and_change_nothing);
    RUN_TEST(test_prior_offset_of_an_unknown_field_is_minus_one);
    RUN_TEST(test_prior_offset_of_a_field_of_other_priors_is_minus_one);
    RUN_TEST(test_status_names_are_those_of_the_header);
    RUN_TEST(test_status_name_of_any_other_number_is_unknown);
    RUN_TEST(test_version_loaded_is_the_version_compiled_against);
    return UNITY_END();
}
