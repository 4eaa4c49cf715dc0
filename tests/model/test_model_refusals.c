/* Calls of a model with a bad argument are refused by name, change nothing and leave no trace. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "meter.h"
#include "model_call.h"
#include "prediction.h"

/* A good call and its undisturbed outputs. */
static meter m;
static npagg_ctx *ctx;
static npagg_cache *cache;
static model_call *good, *want;
static prediction *asked, *want_asked;

/* A robust mixture that chooses, so that every argument is read. */
static model_spec choosy_spec(void)
{
    model_spec spec = spec_of(&flavours[3], NPAGG_OBJECTIVE_ELBO);
    spec.sampling = NPAGG_SAMPLE_CHOSEN;
    return spec;
}

void setUp(void)
{
    const model_spec spec = choosy_spec();
    meter_init(&m);
    ctx = meter_ctx(&m);
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
    good = model_call_ragged(ctx, &spec, 64, 91);
    want = model_call_ragged(ctx, &spec, 64, 91);
    asked = prediction_create(good);
    want_asked = prediction_create(want);
    model_run_once(ctx, want);
    prediction_run(ctx, want_asked);
}

void tearDown(void)
{
    prediction_destroy(asked);
    prediction_destroy(want_asked);
    model_call_destroy(good);
    model_call_destroy(want);
    npagg_cache_destroy(cache);
    npagg_ctx_destroy(ctx);
    ASSERT_BALANCED(&m);
}

static void check_text(npagg_status status, npagg_status got, const char *text, int line)
{
    check_status(ctx, status, got, text, "a bad call", line);
    ASSERT_MODEL_UNTOUCHED(good);
}

/* forward, backward if the fault is one it can see, step: each must refuse. */
static void refuse(const model_call *bad, npagg_status status, const char *text, int backward,
                   int line)
{
    model_run(ctx, good, cache);
    model_poison(good);
    check_text(status, model_forward(ctx, bad, cache), text, line);
    TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(cache));
    check_text(status, model_forward(ctx, bad, NULL), text, line);
    check_text(status, model_step(ctx, bad), text, line);
    if (backward) {
        model_run(ctx, good, cache);
        model_poison(good);
        check_text(status, model_backward(ctx, bad, cache), text, line);
        TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(cache));
    }
    model_run(ctx, good, cache);
    ASSERT_SAME_MODEL_OUTPUTS(want, good);
}

#define ASSERT_REFUSED(bad, status, text) refuse((bad), (status), (text), 1, __LINE__)
#define ASSERT_VALUE_REFUSED(bad, status, text) refuse((bad), (status), (text), 0, __LINE__)

static void test_null_arguments_are_refused_by_name(void)
{
    model_call bad = *good;
    bad.model = NULL;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "model is NULL");
    bad = *good, bad.params = NULL;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "params is NULL");
    bad = *good, bad.offsets = NULL;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "offsets is NULL");
    bad = *good, bad.n_ctx = NULL;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "n_ctx is NULL");
    bad = *good, bad.x = NULL;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "x is NULL");
    bad = *good, bad.y = NULL;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "y is NULL");
    bad = *good, bad.noise = NULL;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "noise is NULL");
    bad = *good, bad.which = NULL;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "which is NULL");
    bad = *good, bad.loss = NULL;
    ASSERT_VALUE_REFUSED(&bad, NPAGG_E_ARG, "loss is NULL");
}

static void test_null_gradients_are_refused_by_name(void)
{
    model_call bad = *good;
    model_run(ctx, good, cache);
    model_poison(good);
    bad.dloss = NULL;
    check_text(NPAGG_E_ARG, model_backward(ctx, &bad, cache), "dloss is NULL", __LINE__);
    check_text(NPAGG_E_ARG, model_step(ctx, &bad), "dloss is NULL", __LINE__);
    bad = *good, bad.dparams = NULL;
    check_text(NPAGG_E_ARG, model_backward(ctx, &bad, cache), "dparams is NULL", __LINE__);
    check_text(NPAGG_E_ARG, model_step(ctx, &bad), "dparams is NULL", __LINE__);
}

static void test_no_context_is_refused_and_empties_the_cache(void)
{
    model_run(ctx, good, cache);
    model_poison(good);
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, model_forward(NULL, good, cache));
    TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(cache));
    model_run(ctx, good, cache);
    model_poison(good);
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, model_backward(NULL, good, cache));
    TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(cache));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, model_step(NULL, good));
    ASSERT_MODEL_UNTOUCHED(good);
    prediction_poison(asked);
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, prediction_predict(NULL, asked));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, prediction_infer(NULL, asked));
    ASSERT_PREDICTION_UNTOUCHED(asked);
}

static void test_contexts_that_do_not_fit_their_task_are_refused(void)
{
    const int64_t faults[] = {-1, 7, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        const int64_t before = good->n_ctx[0];
        model_call bad = *good;
        int64_t n_ctx[RAGGED_SETS];
        memcpy(n_ctx, good->n_ctx, sizeof n_ctx);
        n_ctx[0] = faults[i];
        bad.n_ctx = n_ctx;
        ASSERT_REFUSED(&bad, NPAGG_E_ARG, "n_ctx[0] = ");
        n_ctx[0] = before;
        n_ctx[3] = 1;
        ASSERT_REFUSED(&bad, NPAGG_E_ARG, "n_ctx[3] = 1, want 0..0");
    }
}

static void test_offsets_that_are_none_are_refused(void)
{
    int64_t offsets[RAGGED_SETS + 1];
    model_call bad = *good;
    bad.offsets = offsets;
    memcpy(offsets, good->offsets, sizeof offsets);
    offsets[0] = 1;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "offsets[0] = 1, want 0");
    offsets[0] = 0, offsets[2] = 0;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "offsets[2] = 0");
    memcpy(offsets, good->offsets, sizeof offsets);
    offsets[RAGGED_SETS] = INT64_MAX / 2;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "memory addresses");
    bad = *good, bad.n_sets = -1;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "n_sets = -1");
    bad = *good, bad.n_sets = INT64_MAX / 2;
    ASSERT_REFUSED(&bad, NPAGG_E_ARG, "memory addresses");
}

/* Entry i of one of good's arrays becomes bad for one call. */
static void refuse_entry(void *array, int64_t i, double value, const char *text, int line)
{
    const double before = model_get(good, array, i);
    double *at = (double *)array + i;
    model_run(ctx, good, cache);
    model_poison(good);
    *at = value;
    check_text(NPAGG_E_NUMERIC, model_forward(ctx, good, cache), text, line);
    TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(cache));
    check_text(NPAGG_E_NUMERIC, model_step(ctx, good), text, line);
    *at = before;
    model_run(ctx, good, cache);
    ASSERT_SAME_MODEL_OUTPUTS(want, good);
}

static void test_values_that_are_not_finite_are_named_with_their_place(void)
{
    refuse_entry(good->x, 0, NAN, "x[0,0] = nan", __LINE__);
    refuse_entry(good->x, 8, INFINITY, "x[8,0] = inf", __LINE__);
    refuse_entry(good->y, 12, NAN, "y[12,0] = ", __LINE__);
    refuse_entry(good->noise, 5, NAN, "noise[0,2,1]", __LINE__);
    refuse_entry(good->params, 0, NAN, "params[0] = nan", __LINE__);
    const int64_t decoder = npagg_model_param_offset(good->model, "decoder.mean.0.weight");
    char text[64];
    snprintf(text, sizeof text, "params[%d] = nan", (int)decoder + 1);
    refuse_entry(good->params, decoder + 1, NAN, text, __LINE__);
    const int64_t prior = npagg_model_param_offset(good->model, "prior.logvar");
    snprintf(text, sizeof text, "params[%d] = nan", (int)prior);
    refuse_entry(good->params, prior, NAN, text, __LINE__);
    refuse_entry(good->params, prior, 1e5, "logvar", __LINE__);
}

static void test_components_that_are_not_there_are_refused(void)
{
    const int32_t faults[] = {-1, 3, INT32_MAX};
    for (int i = 0; i < 3; i++) {
        model_run(ctx, good, cache);
        model_poison(good);
        const int32_t before = good->which[6];
        good->which[6] = faults[i];
        check_text(NPAGG_E_ARG, model_forward(ctx, good, cache), "which[1,2]", __LINE__);
        check_text(NPAGG_E_ARG, model_step(ctx, good), "which[1,2]", __LINE__);
        prediction_poison(asked);
        asked->which[6] = faults[i];
        ASSERT_FAILS(ctx, NPAGG_E_ARG, "which[1,2]", prediction_predict(ctx, asked));
        ASSERT_PREDICTION_UNTOUCHED(asked);
        good->which[6] = asked->which[6] = before;
    }
    prediction_run(ctx, asked);
    ASSERT_SAME_PREDICTIONS(want_asked, asked);
}

/* A refused prediction leaves its outputs, and the next one is good. */
static void refuse_prediction(const prediction *bad, npagg_status status, const char *text,
                              int line)
{
    prediction_poison(asked);
    check_status(ctx, status, prediction_predict(ctx, bad), text, "a bad prediction", line);
    ASSERT_PREDICTION_UNTOUCHED(asked);
    prediction_run(ctx, asked);
    ASSERT_SAME_PREDICTIONS(want_asked, asked);
}

#define ASSERT_PREDICTION_REFUSED(bad, status, text)                                               \
    refuse_prediction((bad), (status), (text), __LINE__)

static void test_predictions_without_an_argument_are_refused_by_name(void)
{
    prediction bad = *asked;
    bad.ctx_offsets = NULL;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "offsets is NULL");
    bad = *asked, bad.tgt_offsets = NULL;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "offsets is NULL");
    bad = *asked, bad.xc = NULL;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "context's x is NULL");
    bad = *asked, bad.yc = NULL;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "context's y is NULL");
    bad = *asked, bad.xt = NULL;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "xt is NULL");
    bad = *asked, bad.yt = NULL;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "yt is NULL");
    bad = *asked, bad.noise = NULL;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "noise is NULL");
    bad = *asked, bad.which = NULL;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "which is NULL");
    bad = *asked, bad.s = 0;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "n_samples");
    bad = *asked, bad.s = -4;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "n_samples");
    bad = *asked, bad.s = INT64_MAX / 2;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "memory addresses");
    bad = *asked, bad.n_sets = -1;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "n_sets = -1");
}

static void test_predictions_of_nothing_are_refused_by_name(void)
{
    model_call none = *good;
    prediction bad = *asked;
    bad.f = &none;
    none.model = NULL;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "model is NULL");
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "model is NULL", prediction_infer(ctx, &bad));
    none = *good, none.params = NULL;
    ASSERT_PREDICTION_REFUSED(&bad, NPAGG_E_ARG, "params is NULL");
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "params is NULL", prediction_infer(ctx, &bad));
    bad = *asked, bad.q = NULL;
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "q is NULL", prediction_infer(ctx, &bad));
}

static void test_predictions_from_values_that_are_not_finite_name_them(void)
{
    const struct {
        void *array;
        int64_t i;
        const char *text;
    } faults[] = {
        {asked->xc, 1, "xc[1,0] = nan"},         {asked->yc, 2, "yc[2,0] = nan"},
        {asked->xt, 3, "xt[3,0] = nan"},         {asked->yt, 4, "yt[4,0] = nan"},
        {asked->noise, 5, "noise[0,2,1] = nan"}, {good->params, 6, "params[6] = nan"},
    };
    for (int i = 0; i < 6; i++) {
        double *at = (double *)faults[i].array + faults[i].i;
        const double before = *at;
        *at = NAN;
        prediction_poison(asked);
        check_status(ctx, NPAGG_E_NUMERIC, prediction_predict(ctx, asked), faults[i].text,
                     "predict", __LINE__);
        ASSERT_PREDICTION_UNTOUCHED(asked);
        *at = before;
        prediction_run(ctx, asked);
        ASSERT_SAME_PREDICTIONS(want_asked, asked);
    }
}

static void test_init_params_without_an_argument_is_refused_by_name(void)
{
    double x[1];
    float y[1];
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_model_init_params_f64(NULL, good->model, 1, x));
    TEST_ASSERT_EQUAL_INT32(NPAGG_E_ARG, npagg_model_init_params_f32(NULL, good->model, 1, y));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "model is NULL", npagg_model_init_params_f64(ctx, NULL, 1, x));
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "params is NULL",
                 npagg_model_init_params_f32(ctx, good->model, 1, NULL));
}

/* Gradients are not checked: a NaN goes in and comes out. */
static void test_nan_in_dloss_comes_out_as_nan(void)
{
    model_run(ctx, good, cache);
    model_put(good, good->dloss, 0, NAN);
    ASSERT_OK(ctx, model_backward(ctx, good, cache));
    int64_t count = 0;
    for (int64_t i = 0; i < good->p; i++)
        count += isnan(model_get(good, good->dparams, i)) != 0;
    TEST_ASSERT_GREATER_THAN_INT64(good->p / 2, count);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_null_arguments_are_refused_by_name);
    RUN_TEST(test_null_gradients_are_refused_by_name);
    RUN_TEST(test_no_context_is_refused_and_empties_the_cache);
    RUN_TEST(test_contexts_that_do_not_fit_their_task_are_refused);
    RUN_TEST(test_offsets_that_are_none_are_refused);
    RUN_TEST(test_values_that_are_not_finite_are_named_with_their_place);
    RUN_TEST(test_components_that_are_not_there_are_refused);
    RUN_TEST(test_predictions_without_an_argument_are_refused_by_name);
    RUN_TEST(test_predictions_of_nothing_are_refused_by_name);
    RUN_TEST(test_predictions_from_values_that_are_not_finite_name_them);
    RUN_TEST(test_init_params_without_an_argument_is_refused_by_name);
    RUN_TEST(test_nan_in_dloss_comes_out_as_nan);
    return UNITY_END();
}
