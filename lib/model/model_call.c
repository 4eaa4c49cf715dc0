/* The public calls of a model. */
#include <npagg/decoder.h>
#include <npagg/encoder.h>
#include <npagg/prior.h>

#include "model/flow.h"

npagg_status NP_REAL(npagg_model_init_params)(npagg_ctx *ctx, const npagg_model *model,
                                              uint64_t seed, real *params)
{
    NP_REQUIRE(ctx, ctx, "model_init_params: ctx is NULL");
    NP_REQUIRE(ctx, model, "model_init_params: model is NULL");
    NP_REQUIRE(ctx, params, "model_init_params: params is NULL");
    NP_TRY(NP_REAL(npagg_encoder_init_params)(ctx, &model->encoder, seed, params));
    NP_TRY(NP_REAL(npagg_prior_init_params)(ctx, &model->prior, seed, params + model->prior_at));
    return NP_REAL(npagg_decoder_init_params)(ctx, &model->decoder, seed,
                                              params + model->decoder_at);
}

/* Arguments as they come. */
static np_flow begin(npagg_ctx *ctx, const npagg_model *model, const real *params, int64_t n_sets,
                     const int64_t *offsets, const int64_t *n_ctx, const real *x, const real *y,
                     const real *noise, const int32_t *which)
{
    return (np_flow){
        .ctx = ctx,
        .model = model,
        .params = params,
        .n_sets = n_sets,
        .offsets = offsets,
        .n_ctx = n_ctx,
        .x = x,
        .y = y,
        .noise = noise,
        .which = which,
    };
}

static npagg_status check_and_go_down(np_flow *flow, real *loss, npagg_cache *cache)
{
    NP_TRY(NP_REAL(np_flow_check)(flow, &flow->n));
    NP_REQUIRE(flow->ctx, loss || flow->n_sets == 0, "model: loss is NULL");
    if (!cache)
        NP_TRY(NP_REAL(np_flow_cache)(flow->ctx, &cache));
    return NP_REAL(np_flow_forward)(flow, loss, cache);
}

static npagg_status check_and_go_up(np_flow *flow, const real *dloss, real *dparams,
                                    npagg_cache *cache)
{
    NP_TRY(NP_REAL(np_flow_check)(flow, &flow->n));
    NP_REQUIRE(flow->ctx, dloss || flow->n_sets == 0, "model: dloss is NULL");
    NP_REQUIRE(flow->ctx, dparams, "model: dparams is NULL");
    return NP_REAL(np_flow_backward)(flow, dloss, dparams, cache);
}

npagg_status NP_REAL(npagg_model_forward)(npagg_ctx *ctx, const npagg_model *model,
                                          const real *params, int64_t n_sets,
                                          const int64_t *offsets, const int64_t *n_ctx,
                                          const real *x, const real *y, const real *noise,
                                          const int32_t *which, real *loss, npagg_cache *cache)
{
    np_flow flow = begin(ctx, model, params, n_sets, offsets, n_ctx, x, y, noise, which);
    np_cache_clear(cache);
    return check_and_go_down(&flow, loss, cache);
}

npagg_status NP_REAL(npagg_model_backward)(npagg_ctx *ctx, const npagg_model *model,
                                           const real *params, int64_t n_sets,
                                           const int64_t *offsets, const int64_t *n_ctx,
                                           const real *x, const real *y, const real *noise,
                                           const int32_t *which, const real *dloss, real *dparams,
                                           npagg_cache *cache)
{
    np_flow flow = begin(ctx, model, params, n_sets, offsets, n_ctx, x, y, noise, which);
    const npagg_status status = check_and_go_up(&flow, dloss, dparams, cache);
    if (status != NPAGG_OK)
        np_cache_clear(cache);
    return status;
}

npagg_status NP_REAL(npagg_model_step)(npagg_ctx *ctx, const npagg_model *model, const real *params,
                                       int64_t n_sets, const int64_t *offsets, const int64_t *n_ctx,
                                       const real *x, const real *y, const real *noise,
                                       const int32_t *which, const real *dloss, real *loss,
                                       real *dparams)
{
    np_flow flow = begin(ctx, model, params, n_sets, offsets, n_ctx, x, y, noise, which);
    npagg_cache *cache = NULL;
    NP_TRY(NP_REAL(np_flow_check)(&flow, &flow.n));
    NP_REQUIRE(ctx, loss || n_sets == 0, "model: loss is NULL");
    NP_REQUIRE(ctx, dloss || n_sets == 0, "model: dloss is NULL");
    NP_REQUIRE(ctx, dparams, "model: dparams is NULL");
    NP_TRY(NP_REAL(np_flow_cache)(ctx, &cache));
    return NP_REAL(np_flow_step)(&flow, dloss, loss, dparams, cache);
}
