/* The road up: the same stages in reverse. All gradients of parameters go into an array of our own
 * first. */
#include <npagg/decoder.h>
#include <npagg/encoder.h>
#include <npagg/posterior.h>
#include <string.h>

#include "base/parallel.h"
#include "model/gradients.h"
#include "vmp/overlap.h"

static real *take_like(np_arena *arena, const real *array, int64_t rows, int64_t columns)
{
    return array ? NP_TAKE2(arena, rows, columns, real) : NULL;
}

static np_gradients take_gradients(np_arena *arena, const np_flow *f)
{
    const npagg_model *model = f->model;
    const int64_t b = f->n_sets, s = model->objective.samples, d = model->prior.d;
    const int64_t q = npagg_prior_posterior_count(&model->prior);
    np_gradients g = {0};
    g.params = NP_TAKE(arena, model->p, real);
    g.m = NP_TAKE2(arena, NP_REAL(np_flow_factors)(f), d, real);
    g.v = NP_TAKE2(arena, NP_REAL(np_flow_factors)(f), d, real);
    g.q_c = take_like(arena, f->q_c, b, q);
    g.q_ct = take_like(arena, f->q_ct, b, q);
    g.logz_c = take_like(arena, f->logz_c, b, 1);
    g.logz_ct = take_like(arena, f->logz_ct, b, 1);
    g.mean = take_like(arena, f->mean, b, d);
    g.var = take_like(arena, f->var, b, d);
    g.overlap = f->overlap ? NP_TAKE(arena, b, double) : NULL;
    g.z = take_like(arena, f->z, b * s, d);
    g.logw = take_like(arena, f->logw, b, s);
    g.logq_c = take_like(arena, f->logq_c, b, s);
    g.logq_ct = take_like(arena, f->logq_ct, b, s);
    g.kl = take_like(arena, f->kl, b, 1);
    g.py = take_like(arena, f->py, f->n_points * s, npagg_decoder_output_count(&model->decoder));
    g.loglik = take_like(arena, f->loglik, f->n_points, s);
    g.worth = NP_TAKE2(arena, np_threads(f->ctx), 3 * s, double);
    return g;
}

npagg_status NP_REAL(np_gradients_begin)(const np_flow *f, np_gradients *g)
{
    np_arena arena = {0};
    take_gradients(&arena, f);
    const size_t bytes = arena.used;
    NP_TRY(np_stage_begin(f->ctx, &arena));
    np_parallel_zero(f->ctx, arena.base, bytes);
    *g = take_gradients(&arena, f);
    return NPAGG_OK;
}

void NP_REAL(np_gradients_end)(const np_flow *f, const np_gradients *g, real *dparams)
{
    for (int64_t i = 0; i < f->model->p; i++)
        dparams[i] += g->params[i];
}

void NP_REAL(np_flow_value_backward)(const np_flow *f, const np_gradients *g, int64_t b,
                                     double dloss, int32_t worker)
{
    const npagg_objective *objective = &f->model->objective;
    const int64_t s = objective->samples;
    const np_worth worth = NP_REAL(np_flow_worth)(f, b);
    double *room = g->worth + worker * 3 * s;
    np_dworth dworth = {room, room + s, room + 2 * s, 0};
    np_objective_backward(objective, &worth, -dloss / NP_REAL(np_flow_divisor)(f, b), &dworth);
    for (int64_t i = 0; i < s; i++) {
        g->logw[b * s + i] = np_saturate(dworth.logw[i]);
        if (g->logq_c) {
            g->logq_c[b * s + i] = np_saturate(dworth.ratio[i]);
            g->logq_ct[b * s + i] = np_saturate(-dworth.ratio[i]);
        }
    }
    for (int64_t n = f->point_offsets[b]; n < f->point_offsets[b + 1]; n++)
        for (int64_t i = 0; i < s; i++)
            g->loglik[n * s + i] = np_saturate(dworth.loglik[i]);
    if (g->kl)
        g->kl[b] = np_saturate(dworth.kl);
}

static npagg_status decode_backward(const np_flow *f, const np_gradients *g)
{
    const npagg_model *model = f->model;
    const int64_t s = model->objective.samples;
    NP_TRY(NP_REAL(npagg_decoder_loglik_backward)(f->ctx, &model->decoder, f->n_points, s, f->py,
                                                  NP_REAL(np_flow_y)(f), g->loglik, g->py, NULL));
    return NP_REAL(npagg_decoder_backward)(
        f->ctx, &model->decoder, f->params + model->decoder_at, f->n_sets, f->point_offsets, s,
        NP_REAL(np_flow_x)(f), f->z, g->py, g->params + model->decoder_at, NULL, g->z, f->decoded);
}

/* KL = A_T - log Z_CT + log Z_C. */
static npagg_status evidence_kl_backward(const np_flow *f, const np_gradients *g)
{
    void *rec;
    NP_TRY(np_cache_find(f->ctx, f->all, NP_STAGE_INFER, NP_REAL_BITS, &rec));
    for (int64_t b = 0; b < f->n_sets; b++) {
        g->overlap[b] = (double)g->kl[b];
        g->logz_ct[b] = -g->kl[b];
        g->logz_c[b] = g->kl[b];
    }
    np_run run = NP_REAL(np_flow_infer)(f, 1);
    np_overlap overlap = {.mean = f->mean, .var = f->var, .dvalue = g->overlap};
    overlap.dmean = g->mean;
    overlap.dvar = g->var;
    run.offsets = f->split;
    run.rec = rec;
    run.dm = g->m;
    run.dv = g->v;
    NP_TRY(NP_REAL(np_overlap_backward)(&run, &overlap));
    return NP_REAL(npagg_posterior_moments_backward)(f->ctx, &f->model->prior, f->n_sets, f->q_ct,
                                                     g->mean, g->var, g->q_ct);
}

static npagg_status divergence_backward(const np_flow *f, const np_gradients *g)
{
    const npagg_model *model = f->model;
    const int sampled = model->kl == NPAGG_KL_SAMPLED;
    if (!NP_REAL(np_flow_needs_kl)(model))
        return NPAGG_OK;
    if (NP_REAL(np_flow_needs_evidence)(model))
        return evidence_kl_backward(f, g);
    return NP_REAL(npagg_posterior_kl_backward)(
        f->ctx, &model->prior, model->kl, f->n_sets, sampled ? model->objective.samples : 0,
        f->q_ct, f->q_c, sampled ? f->z : NULL, sampled ? f->logw : NULL, g->kl, g->q_ct, g->q_c,
        sampled ? g->z : NULL, sampled ? g->logw : NULL);
}

static npagg_status sample_backward(const np_flow *f, const np_gradients *g)
{
    npagg_ctx *ctx = f->ctx;
    const npagg_prior *prior = &f->model->prior;
    const int64_t b = f->n_sets, s = f->model->objective.samples;
    NP_TRY(divergence_backward(f, g));
    if (g->logq_c) {
        NP_TRY(NP_REAL(npagg_posterior_logpdf_backward)(ctx, prior, b, s, f->q_c, f->z, g->logq_c,
                                                        g->q_c, g->z));
        NP_TRY(NP_REAL(npagg_posterior_logpdf_backward)(ctx, prior, b, s, f->q_ct, f->z, g->logq_ct,
                                                        g->q_ct, g->z));
    }
    return NP_REAL(npagg_posterior_sample_backward)(ctx, prior, f->model->objective.sampling, b, s,
                                                    f->q_ct ? f->q_ct : f->q_c, f->noise, f->which,
                                                    g->z, g->logw, g->q_ct ? g->q_ct : g->q_c);
}

static npagg_status infer_one_backward(const np_flow *f, const np_gradients *g, int all)
{
    const int64_t at = f->model->prior_at;
    np_run run = NP_REAL(np_flow_infer)(f, all);
    run.dq = all ? g->q_ct : g->q_c;
    run.dlogz = all ? g->logz_ct : g->logz_c;
    run.dm = g->m;
    run.dv = g->v;
    return NP_REAL(np_infer_backward)(&run, g->params + at, all ? f->all : f->context);
}

static npagg_status infer_backward(const np_flow *f, const np_gradients *g)
{
    if (f->q_ct)
        NP_TRY(infer_one_backward(f, g, 1));
    return infer_one_backward(f, g, 0);
}

static npagg_status encode_backward(const np_flow *f, const np_gradients *g)
{
    return NP_REAL(npagg_encoder_backward)(f->ctx, &f->model->encoder, f->params, f->n_sets,
                                           f->offsets, f->x, f->y, g->m, g->v, g->params, NULL,
                                           NULL, f->encoded);
}

npagg_status NP_REAL(np_flow_sampled_backward)(const np_flow *f, const np_gradients *g)
{
    NP_TRY(sample_backward(f, g));
    if (np_encoder_is_per_set(&f->model->encoder))
        return NP_REAL(np_flow_encode_sets_backward)(f, g);
    NP_TRY(infer_backward(f, g));
    return encode_backward(f, g);
}

static npagg_status run(const np_flow *f, const np_gradients *g, const real *dloss)
{
    for (int64_t b = 0; b < f->n_sets; b++)
        NP_REAL(np_flow_value_backward)(f, g, b, (double)dloss[b], 0);
    NP_TRY(decode_backward(f, g));
    return NP_REAL(np_flow_sampled_backward)(f, g);
}

/* The flow that a forward kept, now with this call's arrays. */
static npagg_status find_flow(const np_flow *call, const npagg_cache *cache, np_flow *flow)
{
    void *head;
    NP_TRY(np_cache_find(call->ctx, cache, NP_STAGE_MODEL, NP_REAL_BITS, &head));
    *flow = *(const np_flow *)head;
    const size_t size = (size_t)(call->n_sets + 1) * sizeof(int64_t);
    /* another model may lie where that one was */
    if (flow->model != call->model || memcmp(flow->shape, call->model, sizeof *flow->shape) != 0 ||
        flow->n_sets != call->n_sets ||
        (call->n_sets > 0 && memcmp(flow->begin, call->offsets, size) != 0))
        return np_fail(call->ctx, NPAGG_E_STATE,
                       "the cache was filled with another model, n_sets or offsets");
    for (int64_t b = 0; b < call->n_sets; b++)
        if (flow->split[b] != call->offsets[b] + call->n_ctx[b])
            return np_fail(call->ctx, NPAGG_E_STATE, "the cache was filled with another n_ctx");
    flow->ctx = call->ctx;
    flow->params = call->params;
    flow->offsets = call->offsets;
    flow->n_ctx = call->n_ctx;
    flow->x = call->x;
    flow->y = call->y;
    flow->noise = call->noise;
    flow->which = call->which;
    return NPAGG_OK;
}

npagg_status NP_REAL(np_flow_backward)(const np_flow *call, const real *dloss, real *dparams,
                                       npagg_cache *cache)
{
    np_flow flow;
    np_gradients g;
    NP_TRY(find_flow(call, cache, &flow));
    NP_TRY(NP_REAL(np_gradients_begin)(&flow, &g));
    NP_TRY(run(&flow, &g, dloss));
    NP_REAL(np_gradients_end)(&flow, &g, dparams);
    return NPAGG_OK;
}
