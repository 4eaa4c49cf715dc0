/* A cache that does not hold the forward of this call is refused, whatever else it holds. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model_call.h"
#include "prediction.h"

static npagg_ctx *ctx;
static npagg_cache *cache;

void setUp(void)
{
    ASSERT_OK(NULL, npagg_ctx_create(&ctx));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &cache));
}

void tearDown(void)
{
    npagg_cache_destroy(cache);
    npagg_ctx_destroy(ctx);
}

static model_call *draw(int precision)
{
    const model_spec spec = spec_of(&flavours[5], NPAGG_OBJECTIVE_IWAE);
    return model_call_ragged(ctx, &spec, precision, 101);
}

/* Backward of f fails for its cache, which is empty then; the outputs stay. */
static void refuse(const model_call *f, const char *text, int line)
{
    model_poison(f);
    check_status(ctx, NPAGG_E_STATE, model_backward(ctx, f, cache), text, "backward", line);
    ASSERT_MODEL_UNTOUCHED(f);
    TEST_ASSERT_EQUAL_UINT64(0, npagg_cache_bytes(cache));
    check_status(ctx, NPAGG_E_STATE, model_backward(ctx, f, cache), "empty", "backward", line);
}

static void test_backward_without_a_forward_is_refused(void)
{
    model_call *f = draw(64);
    refuse(f, "empty", __LINE__);
    ASSERT_FAILS(ctx, NPAGG_E_ARG, "cache is NULL", model_backward(ctx, f, NULL));
    model_call_destroy(f);
}

static void test_backward_after_a_failed_forward_is_refused(void)
{
    model_call *f = draw(64);
    model_run(ctx, f, cache);
    const double before = model_get(f, f->y, 3);
    model_put(f, f->y, 3, 1.0 / 0.0);
    ASSERT_FAILS(ctx, NPAGG_E_NUMERIC, "y[3,0]", model_forward(ctx, f, cache));
    model_put(f, f->y, 3, before);
    refuse(f, "empty", __LINE__);
    model_call_destroy(f);
}

static void test_backward_with_other_offsets_is_refused(void)
{
    model_call *f = draw(64);
    int64_t offsets[RAGGED_SETS + 1];
    model_call bad = *f;
    bad.offsets = offsets;
    memcpy(offsets, f->offsets, sizeof offsets);
    offsets[1]++;
    model_run(ctx, f, cache);
    refuse(&bad, "offsets", __LINE__);
    memcpy(offsets, f->offsets, sizeof offsets);
    bad.n_sets--;
    model_run(ctx, f, cache);
    refuse(&bad, "n_sets", __LINE__);
    bad.n_sets = 0;
    model_run(ctx, f, cache);
    refuse(&bad, "n_sets", __LINE__);
    model_call_destroy(f);
}

static void test_backward_with_another_context_size_is_refused(void)
{
    model_call *f = draw(64);
    int64_t n_ctx[RAGGED_SETS];
    model_call bad = *f;
    bad.n_ctx = n_ctx;
    for (int b = 0; b < RAGGED_SETS; b++) {
        if (f->offsets[b + 1] == f->offsets[b])
            continue;
        memcpy(n_ctx, f->n_ctx, sizeof n_ctx);
        n_ctx[b] += n_ctx[b] > 0 ? -1 : 1;
        model_run(ctx, f, cache);
        refuse(&bad, "n_ctx", __LINE__);
    }
    model_call_destroy(f);
}

static void test_backward_in_the_other_precision_is_refused(void)
{
    model_call *f = draw(64), *g = draw(32);
    npagg_model_destroy(g->model);
    g->model = f->model;
    model_run(ctx, f, cache);
    refuse(g, "f64, want f32", __LINE__);
    model_run(ctx, g, cache);
    refuse(f, "f32, want f64", __LINE__);
    f->model = NULL;
    model_call_destroy(g);
    model_call_destroy(f);
}

static void test_backward_of_another_model_is_refused(void)
{
    model_call *f = draw(64), *g = draw(64);
    model_run(ctx, f, cache);
    refuse(g, "another model", __LINE__);
    model_call_destroy(g);
    model_call_destroy(f);
}

/* One block for all models, so that the next one lies where the last one was. */
typedef struct {
    _Alignas(64) unsigned char block[1 << 16];
    int taken;
} one_place;

static void *place_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
    one_place *place = user;
    (void)old_size;
    if (new_size == 0 && p == place->block)
        place->taken = 0;
    else if (new_size == 0)
        free(p);
    else if (!p && !place->taken && new_size < sizeof place->block) {
        place->taken = 1;
        return place->block;
    } else if (p != place->block)
        return realloc(p, new_size);
    return NULL;
}

static npagg_model *create_in_place(npagg_ctx *here, const model_parts *p)
{
    npagg_model *model = NULL;
    ASSERT_OK(here, npagg_model_create(here, p->encoder, p->prior, p->vmp, p->decoder, p->objective,
                                       &model));
    return model;
}

static void test_backward_of_a_new_model_in_the_place_of_the_old_is_refused(void)
{
    static one_place place;
    npagg_ctx *here = NULL;
    place.taken = 1;
    ASSERT_OK(NULL, npagg_ctx_create_with_alloc(&here, place_alloc, &place));
    place.taken = 0;
    model_call *f = draw(64);
    npagg_model *own = f->model, *old = create_in_place(here, &f->parts);
    f->model = old;
    ASSERT_OK(ctx, model_forward(ctx, f, cache));
    npagg_model_destroy(old);
    ASSERT_OK(ctx, npagg_objective_set_samples(f->parts.objective, 64));
    f->model = create_in_place(here, &f->parts);
    TEST_ASSERT_EQUAL_PTR(old, f->model);
    refuse(f, "another model", __LINE__);
    npagg_model_destroy(f->model);
    f->model = own;
    model_call_destroy(f);
    npagg_ctx_destroy(here);
}

/* A cache of a stage, and a stage with the cache of a model. */
static void test_caches_of_stages_and_models_are_not_mixed_up(void)
{
    model_call *f = draw(64);
    double *m = calloc((size_t)(f->n * f->d) * 2, sizeof *m), *v = m + f->n * f->d;
    int32_t iters[RAGGED_SETS];
    TEST_ASSERT_NOT_NULL(m);
    ASSERT_OK(ctx, npagg_encoder_forward_f64(ctx, f->parts.encoder, f->params, f->n_sets,
                                             f->offsets, f->x, f->y, m, v, cache));
    refuse(f, "another stage", __LINE__);
    ASSERT_OK(ctx, model_forward(ctx, f, cache));
    ASSERT_FAILS(ctx, NPAGG_E_STATE, "another stage", npagg_infer_iters(ctx, cache, iters));
    ASSERT_FAILS(ctx, NPAGG_E_STATE, "another stage",
                 npagg_encoder_backward_f64(ctx, f->parts.encoder, f->params, f->n_sets, f->offsets,
                                            f->x, f->y, m, v, NULL, NULL, NULL, cache));
    free(m);
    model_call_destroy(f);
}

/* Junk in every array that a call was given. */
static void scribble(model_call *f)
{
    const size_t b = (size_t)f->n_sets, n = (size_t)f->n;
    memset(f->offsets, 0x77, (b + 1) * sizeof *f->offsets);
    memset(f->n_ctx, 0x77, b * sizeof *f->n_ctx);
    memset(f->which, 0x77, b * (size_t)f->s * sizeof *f->which);
    memset(f->params, 0x77, (size_t)f->p * f->real);
    memset(f->x, 0x77, n * (size_t)f->x_dim * f->real);
    memset(f->y, 0x77, n * (size_t)f->y_dim * f->real);
    memset(f->noise, 0x77, b * (size_t)(f->s * f->d) * f->real);
    memset(f->loss, 0x77, b * f->real);
}

static void test_no_pointer_of_the_caller_is_kept(void)
{
    model_spec spec = spec_of(&flavours[3], NPAGG_OBJECTIVE_IWAE);
    spec.sampling = NPAGG_SAMPLE_CHOSEN;
    model_call *f = model_call_ragged(ctx, &spec, 64, 105);
    model_call *g = model_call_ragged(ctx, &spec, 64, 105);
    model_call *want = model_call_ragged(ctx, &spec, 64, 105);
    npagg_model *own = g->model;
    model_run_once(ctx, want);
    ASSERT_OK(ctx, model_forward(ctx, f, cache));
    memcpy(g->loss, f->loss, (size_t)f->n_sets * f->real);
    scribble(f);
    g->model = f->model;
    ASSERT_OK(ctx, model_backward(ctx, g, cache));
    g->model = own;
    ASSERT_SAME_MODEL_OUTPUTS(want, g);
    model_call_destroy(want);
    model_call_destroy(g);
    model_call_destroy(f);
}

/* One cache for models of all kinds, sizes and precisions, one after the other. */
static void test_a_cache_serves_any_model_after_any_other(void)
{
    npagg_cache *fresh = NULL;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MODEL_FLAVOURS; i++)
            for (int32_t objective = 0; objective < 4; objective++) {
                model_spec spec = spec_of(&flavours[i], objective);
                if (objective == NPAGG_OBJECTIVE_ELBO_CLOSED && i != 0 && i != 2)
                    continue;
                spec.d = 1 + i;
                model_call *f = model_call_ragged(ctx, &spec, i % 2 ? 32 : 64, 103);
                model_call *g = model_call_ragged(ctx, &spec, i % 2 ? 32 : 64, 103);
                ASSERT_OK(ctx, npagg_cache_create(ctx, &fresh));
                model_run(ctx, f, cache);
                model_run(ctx, g, fresh);
                ASSERT_SAME_MODEL_OUTPUTS(g, f);
                TEST_ASSERT_EQUAL_UINT64(npagg_cache_bytes(fresh), npagg_cache_bytes(cache));
                npagg_cache_destroy(fresh);
                model_call_destroy(f);
                model_call_destroy(g);
            }
}

static void test_predictions_and_steps_leave_the_callers_cache_alone(void)
{
    model_call *f = draw(64), *g = draw(64);
    prediction *p = prediction_create(f);
    model_run_once(ctx, g);
    memset(f->out, 0, f->out_bytes);
    ASSERT_OK(ctx, model_forward(ctx, f, cache));
    const size_t bytes = npagg_cache_bytes(cache);
    prediction_run(ctx, p);
    model_run_step(ctx, g);
    TEST_ASSERT_EQUAL_UINT64(bytes, npagg_cache_bytes(cache));
    ASSERT_OK(ctx, model_backward(ctx, f, cache));
    ASSERT_SAME_MODEL_OUTPUTS(g, f);
    prediction_destroy(p);
    model_call_destroy(f);
    model_call_destroy(g);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_backward_without_a_forward_is_refused);
    RUN_TEST(test_backward_after_a_failed_forward_is_refused);
    RUN_TEST(test_backward_with_other_offsets_is_refused);
    RUN_TEST(test_backward_with_another_context_size_is_refused);
    RUN_TEST(test_backward_in_the_other_precision_is_refused);
    RUN_TEST(test_backward_of_another_model_is_refused);
    RUN_TEST(test_backward_of_a_new_model_in_the_place_of_the_old_is_refused);
    RUN_TEST(test_caches_of_stages_and_models_are_not_mixed_up);
    RUN_TEST(test_no_pointer_of_the_caller_is_kept);
    RUN_TEST(test_a_cache_serves_any_model_after_any_other);
    RUN_TEST(test_predictions_and_steps_leave_the_callers_cache_alone);
    return UNITY_END();
}
