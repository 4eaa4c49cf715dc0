/*
 * The n-th allocation fails, for every n, once or from then on, in every call of a model:
 * NPAGG_E_NOMEM, nothing leaked, outputs and handles as before, and the next call gives the
 * undisturbed bits.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "meter.h"
#include "model_call.h"
#include "prediction.h"

void setUp(void)
{
}

void tearDown(void)
{
}

typedef enum { FORWARD, FORWARD_ALONE, BACKWARD, STEP, PREDICT, INFER, ACTS } act;

/* What one attempt works on, and what it must give undisturbed. */
typedef struct {
    const model_spec *spec;
    int precision;
    int32_t threads;
    int grow; /* the context and the cache have served a smaller model before */
    act act;
    meter meter;
    npagg_ctx *ctx, *other; /* other: for the forward before a backward, so that ctx stays cold */
    npagg_cache *cache;
    model_call *f, *want;
    prediction *p, *want_p;
} scene;

static npagg_status do_act(const scene *s)
{
    switch (s->act) {
    case FORWARD:
        return model_forward(s->ctx, s->f, s->cache);
    case FORWARD_ALONE:
        return model_forward(s->ctx, s->f, NULL);
    case BACKWARD:
        return model_backward(s->ctx, s->f, s->cache);
    case STEP:
        return model_step(s->ctx, s->f);
    case PREDICT:
        return prediction_predict(s->ctx, s->p);
    default:
        return prediction_infer(s->ctx, s->p);
    }
}

/* A step takes more scratch than any other call, so that after one few would have to grow. */
static void run_smaller(const scene *s)
{
    const int64_t size = 2, context = 1;
    const model_spec spec = spec_of(&flavours[0], NPAGG_OBJECTIVE_ML);
    model_call *f = model_call_create(s->ctx, &spec, 32, 83, 1, &size, &context);
    model_run(s->ctx, f, s->cache);
    if (s->act == STEP)
        model_run_step(s->ctx, f);
    model_call_destroy(f);
}

static void set_up_scene(scene *s)
{
    meter_init(&s->meter);
    s->ctx = meter_ctx(&s->meter);
    s->other = meter_ctx(&s->meter);
    ASSERT_OK(s->ctx, npagg_ctx_set_threads(s->ctx, s->threads));
    ASSERT_OK(s->ctx, npagg_cache_create(s->ctx, &s->cache));
    s->f = model_call_ragged(s->other, s->spec, s->precision, 81);
    s->p = prediction_create(s->f);
    if (s->grow)
        run_smaller(s);
    if (s->act == BACKWARD)
        ASSERT_OK(s->other, model_forward(s->other, s->f, s->cache));
    model_poison(s->f);
    prediction_poison(s->p);
}

static void tear_down_scene(scene *s)
{
    prediction_destroy(s->p);
    model_call_destroy(s->f);
    npagg_cache_destroy(s->cache);
    npagg_ctx_destroy(s->ctx);
    npagg_ctx_destroy(s->other);
    ASSERT_BALANCED(&s->meter);
}

static void check_failure(const scene *s, npagg_status status)
{
    TEST_ASSERT_EQUAL_INT32_MESSAGE(NPAGG_E_NOMEM, status, npagg_ctx_error(s->ctx));
    TEST_ASSERT_TRUE(npagg_ctx_error(s->ctx)[0] != '\0');
    ASSERT_MODEL_UNTOUCHED(s->f);
    ASSERT_PREDICTION_UNTOUCHED(s->p);
    if (s->act == FORWARD || s->act == BACKWARD) {
        TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(s->cache));
        ASSERT_FAILS(s->ctx, NPAGG_E_STATE, "empty", model_backward(s->ctx, s->f, s->cache));
    }
    if (s->act == STEP)
        model_run_step(s->ctx, s->f);
    else
        model_run(s->ctx, s->f, s->cache);
    prediction_run(s->ctx, s->p);
    ASSERT_SAME_MODEL_OUTPUTS(s->want, s->f);
    ASSERT_SAME_PREDICTIONS(s->want_p, s->p);
}

/* 1 if there was an n-th allocation. */
static int attempt(scene *s, int64_t n, int forever)
{
    set_up_scene(s);
    meter_fail_in(&s->meter, n, forever);
    const npagg_status status = do_act(s);
    const int failed = s->meter.failed > 0;
    meter_never_fail(&s->meter);
    if (failed)
        check_failure(s, status);
    else
        TEST_ASSERT_EQUAL_INT32(NPAGG_OK, status);
    tear_down_scene(s);
    return failed;
}

static void fail_each_allocation(scene *s)
{
    int64_t n = 1;
    while (attempt(s, n, 0) | attempt(s, n, 1))
        n++;
    TEST_ASSERT_GREATER_THAN_INT64_MESSAGE(1, n, "no allocation was there to fail");
}

static void fail_every_act(const model_spec *spec, int precision, int32_t threads)
{
    npagg_ctx *ctx = NULL;
    scene s = {.spec = spec, .precision = precision, .threads = threads};
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    s.want = model_call_ragged(ctx, spec, precision, 81);
    s.want_p = prediction_create(s.want);
    model_run_once(ctx, s.want);
    prediction_run(ctx, s.want_p);
    for (int i = 0; i < 2 * ACTS; i++) {
        s.act = (act)(i / 2);
        s.grow = i % 2;
        fail_each_allocation(&s);
    }
    prediction_destroy(s.want_p);
    model_call_destroy(s.want);
    npagg_ctx_destroy(ctx);
}

static void test_every_model_survives_every_failing_allocation(void)
{
    for (int i = 0; i < MODEL_FLAVOURS; i++)
        for (int32_t objective = 0; objective < 4; objective++) {
            const model_spec spec = spec_of(&flavours[i], objective);
            if (objective != NPAGG_OBJECTIVE_ELBO_CLOSED || i == 0 || i == 2)
                fail_every_act(&spec, (i + objective) % 2 ? 32 : 64, 1);
        }
}

static void test_every_gradient_mode_survives_every_failing_allocation(void)
{
    for (int32_t mode = 0; mode < GRAD_MODES; mode++) {
        model_spec spec = spec_of(&flavours[5], NPAGG_OBJECTIVE_IWAE);
        spec.grad = mode;
        fail_every_act(&spec, 64, 1);
    }
}

static void test_models_on_threads_survive_every_failing_allocation(void)
{
    const model_spec spec = spec_of(&flavours[3], NPAGG_OBJECTIVE_ELBO);
    fail_every_act(&spec, 32, 3);
}

static void test_model_create_survives_every_failing_allocation(void)
{
    int failed = 1;
    for (int64_t n = 1; failed; n++) {
        const model_spec spec = spec_of(&flavours[3], NPAGG_OBJECTIVE_IWAE);
        meter m;
        meter_init(&m);
        npagg_ctx *ctx = meter_ctx(&m);
        model_parts parts = parts_create(ctx, &spec);
        npagg_model *const unmade = (npagg_model *)&m, *model = unmade;
        meter_fail_in(&m, n, 0);
        const npagg_status status = npagg_model_create(ctx, parts.encoder, parts.prior, parts.vmp,
                                                       parts.decoder, parts.objective, &model);
        failed = m.failed > 0;
        TEST_ASSERT_EQUAL_INT32(failed ? NPAGG_E_NOMEM : NPAGG_OK, status);
        TEST_ASSERT_EQUAL_INT(failed, model == unmade);
        TEST_ASSERT_TRUE(failed || n > 1);
        npagg_model_destroy(failed ? NULL : model);
        parts_destroy(&parts);
        npagg_ctx_destroy(ctx);
        ASSERT_BALANCED(&m);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_model_survives_every_failing_allocation);
    RUN_TEST(test_every_gradient_mode_survives_every_failing_allocation);
    RUN_TEST(test_models_on_threads_survive_every_failing_allocation);
    RUN_TEST(test_model_create_survives_every_failing_allocation);
    return UNITY_END();
}
