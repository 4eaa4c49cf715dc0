/* The road down: encode, infer, sample, decode, and what it was worth. */
#include <npagg/decoder.h>
#include <npagg/encoder.h>
#include <npagg/posterior.h>
#include <string.h>

#include "model/flow.h"
#include "nn/finite.h"
#include "vmp/overlap.h"

/* What every flow keeps. */
static void take_inferred(np_arena *arena, np_flow *f)
{
    const npagg_model *model = f->model;
    const int64_t b = f->n_sets, d = model->prior.d;
    const int64_t q = npagg_prior_posterior_count(&model->prior);
    f->shape = NP_TAKE(arena, 1, npagg_model);
    f->begin = NP_TAKE(arena, b + 1, int64_t);
    f->split = NP_TAKE(arena, b + 1, int64_t);
    f->point_offsets = NP_TAKE(arena, b + 1, int64_t);
    f->m = NP_TAKE2(arena, NP_REAL(np_flow_factors)(f), d, real);
    f->v = NP_TAKE2(arena, NP_REAL(np_flow_factors)(f), d, real);
    f->q_c = NP_TAKE2(arena, b, q, real);
    if (NP_REAL(np_flow_needs_all)(model))
        f->q_ct = NP_TAKE2(arena, b, q, real);
    if (NP_REAL(np_flow_needs_kl)(model))
        f->kl = NP_TAKE(arena, b, real);
    if (NP_REAL(np_flow_needs_evidence)(model)) {
        f->logz_c = NP_TAKE(arena, b, real);
        f->logz_ct = NP_TAKE(arena, b, real);
        f->mean = NP_TAKE2(arena, b, d, real);
        f->var = NP_TAKE2(arena, b, d, real);
        f->overlap = NP_TAKE(arena, b, double);
    }
}

static void take_sampled(np_arena *arena, np_flow *f)
{
    const npagg_model *model = f->model;
    const int64_t b = f->n_sets, s = model->objective.samples;
    f->z = np_arena_take(arena, b, s, (size_t)model->prior.d * sizeof(real));
    f->logw = NP_TAKE2(arena, b, s, real);
    if (NP_REAL(np_flow_needs_ratio)(model)) {
        f->logq_c = NP_TAKE2(arena, b, s, real);
        f->logq_ct = NP_TAKE2(arena, b, s, real);
    }
    if (model->objective.points == NPAGG_POINTS_TARGET) {
        f->x_targets = NP_TAKE2(arena, f->n_points, model->encoder.x_dim, real);
        f->y_targets = NP_TAKE2(arena, f->n_points, model->encoder.y_dim, real);
    }
    f->py = np_arena_take(arena, f->n_points, s,
                          (size_t)npagg_decoder_output_count(&model->decoder) * sizeof(real));
    f->loglik = NP_TAKE2(arena, f->n_points, s, real);
    f->worth = np_arena_take(arena, b, s, 3 * sizeof(double));
    f->loss = NP_TAKE(arena, b, real);
}

/* The flow itself and its arrays; NULL while measuring. */
static np_flow *take_flow(np_arena *arena, const np_flow *call)
{
    np_flow *kept = NP_TAKE(arena, 1, np_flow);
    np_flow f = *call;
    take_inferred(arena, &f);
    take_sampled(arena, &f);
    if (kept)
        *kept = f;
    return kept;
}

static int64_t count_points(const np_flow *f)
{
    int64_t n = f->n;
    for (int64_t b = 0; f->model->objective.points == NPAGG_POINTS_TARGET && b < f->n_sets; b++)
        n -= f->n_ctx[b];
    return n;
}

/* Where contexts end and where the points of each set are. */
static void lay_out_sets(np_flow *f)
{
    const int all = f->model->objective.points == NPAGG_POINTS_ALL;
    f->begin[0] = f->point_offsets[0] = 0;
    for (int64_t b = 0; b < f->n_sets; b++) {
        const int64_t from = all ? f->offsets[b] : f->offsets[b] + f->n_ctx[b];
        f->begin[b + 1] = f->offsets[b + 1];
        f->split[b] = f->offsets[b] + f->n_ctx[b];
        f->point_offsets[b + 1] = f->point_offsets[b] + f->offsets[b + 1] - from;
    }
    f->split[f->n_sets] = f->n;
}

static void gather(const np_flow *f, const real *rows, int64_t width, real *targets)
{
    for (int64_t b = 0; targets && width > 0 && b < f->n_sets; b++) {
        const int64_t n = f->offsets[b + 1] - f->split[b];
        if (n > 0)
            memcpy(targets + f->point_offsets[b] * width, rows + f->split[b] * width,
                   (size_t)(n * width) * sizeof(real));
    }
}

static npagg_status encode(const np_flow *f)
{
    return NP_REAL(npagg_encoder_forward)(f->ctx, &f->model->encoder, f->params, f->n_sets,
                                          f->offsets, f->x, f->y, f->m, f->v, f->encoded);
}

/* q_C, and from its sums on q_CT. */
static npagg_status infer(const np_flow *f)
{
    const real *params = f->params + f->model->prior_at;
    np_run context = NP_REAL(np_flow_infer)(f, 0), all = NP_REAL(np_flow_infer)(f, 1);
    void *base = NULL;
    NP_TRY(NP_REAL(np_infer_forward)(&context, f->n, params, f->q_c, f->logz_c, f->context));
    if (!NP_REAL(np_flow_needs_all)(f->model))
        return NPAGG_OK;
    if (!all.noise->has_weights)
        NP_TRY(np_cache_find(f->ctx, f->context, NP_STAGE_INFER, NP_REAL_BITS, &base));
    all.base = base;
    return NP_REAL(np_infer_forward)(&all, f->n, params, f->q_ct, f->logz_ct, f->all);
}

/* log Z of set b in double: a float of 1e5 is known to 0.008 only. */
static double evidence(const np_record *rec, int64_t b)
{
    return rec->trace[b * rec->trace_room + rec->course[b].iters - 1];
}

/* KL(q_CT || q_C) = A_T - log Z_CT + log Z_C, MATHS 7. */
static npagg_status evidence_kl(const np_flow *f)
{
    void *context, *rec;
    NP_TRY(NP_REAL(npagg_posterior_moments)(f->ctx, &f->model->prior, f->n_sets, f->q_ct, f->mean,
                                            f->var));
    NP_TRY(np_cache_find(f->ctx, f->context, NP_STAGE_INFER, NP_REAL_BITS, &context));
    NP_TRY(np_cache_find(f->ctx, f->all, NP_STAGE_INFER, NP_REAL_BITS, &rec));
    np_run run = NP_REAL(np_flow_infer)(f, 1);
    np_overlap overlap = {.mean = f->mean, .var = f->var, .value = f->overlap};
    run.offsets = f->split;
    run.rec = rec;
    NP_TRY(NP_REAL(np_overlap_forward)(&run, &overlap));
    for (int64_t b = 0; b < f->n_sets; b++)
        f->kl[b] = np_saturate(f->overlap[b] - (evidence(rec, b) - evidence(context, b)));
    return NPAGG_OK;
}

static npagg_status divergence(const np_flow *f)
{
    const npagg_model *model = f->model;
    const int sampled = model->kl == NPAGG_KL_SAMPLED;
    if (!NP_REAL(np_flow_needs_kl)(model))
        return NPAGG_OK;
    if (NP_REAL(np_flow_needs_evidence)(model))
        return evidence_kl(f);
    return NP_REAL(npagg_posterior_kl)(f->ctx, &model->prior, model->kl, f->n_sets,
                                       sampled ? model->objective.samples : 0, f->q_ct, f->q_c,
                                       sampled ? f->z : NULL, sampled ? f->logw : NULL, f->kl);
}

/* z from q_CT, or from q_C for ml, and the densities and divergences of it. */
static npagg_status sample(const np_flow *f)
{
    npagg_ctx *ctx = f->ctx;
    const npagg_prior *prior = &f->model->prior;
    const int64_t b = f->n_sets, s = f->model->objective.samples;
    const real *q = f->q_ct ? f->q_ct : f->q_c;
    NP_TRY(NP_REAL(npagg_posterior_sample)(ctx, prior, f->model->objective.sampling, b, s, q,
                                           f->noise, f->which, f->z, f->logw));
    if (NP_REAL(np_flow_needs_ratio)(f->model)) {
        NP_TRY(NP_REAL(npagg_posterior_logpdf)(ctx, prior, b, s, f->q_c, f->z, f->logq_c));
        NP_TRY(NP_REAL(npagg_posterior_logpdf)(ctx, prior, b, s, f->q_ct, f->z, f->logq_ct));
    }
    return divergence(f);
}

static npagg_status decode(const np_flow *f)
{
    const npagg_model *model = f->model;
    const int64_t s = model->objective.samples;
    NP_TRY(NP_REAL(npagg_decoder_forward)(f->ctx, &model->decoder, f->params + model->decoder_at,
                                          f->n_sets, f->point_offsets, s, NP_REAL(np_flow_x)(f),
                                          f->z, f->py, f->decoded));
    return NP_REAL(npagg_decoder_loglik)(f->ctx, &model->decoder, f->n_points, s, f->py,
                                         NP_REAL(np_flow_y)(f), f->loglik);
}

/* A task's samples: their weights, what they say of its points, and how likely they were. */
static void add_worth(const np_flow *f, int64_t b)
{
    const int64_t s = f->model->objective.samples;
    double *worth = f->worth + 3 * s * b;
    for (int64_t i = 0; i < s; i++) {
        const int64_t at = b * s + i;
        worth[i] = (double)f->logw[at];
        worth[s + i] = 0;
        worth[2 * s + i] = f->logq_c ? (double)f->logq_c[at] - (double)f->logq_ct[at] : 0;
    }
    for (int64_t n = f->point_offsets[b]; n < f->point_offsets[b + 1]; n++)
        for (int64_t i = 0; i < s; i++)
            worth[s + i] += (double)f->loglik[n * s + i];
}

void NP_REAL(np_flow_value)(const np_flow *f, int64_t b)
{
    add_worth(f, b);
    const np_worth worth = NP_REAL(np_flow_worth)(f, b);
    f->loss[b] = np_saturate(-np_objective_forward(&f->model->objective, &worth) /
                             NP_REAL(np_flow_divisor)(f, b));
}

npagg_status NP_REAL(np_flow_sampled)(const np_flow *f)
{
    if (np_encoder_is_per_set(&f->model->encoder)) {
        NP_TRY(NP_REAL(np_flow_encode_sets)(f));
    } else {
        NP_TRY(encode(f));
        NP_TRY(infer(f));
    }
    gather(f, f->x, f->model->encoder.x_dim, f->x_targets);
    gather(f, f->y, f->model->encoder.y_dim, f->y_targets);
    return sample(f);
}

static npagg_status run(const np_flow *f)
{
    NP_TRY(NP_REAL(np_flow_sampled)(f));
    NP_TRY(decode(f));
    for (int64_t b = 0; b < f->n_sets; b++)
        NP_REAL(np_flow_value)(f, b);
    return NPAGG_OK;
}

static npagg_status take_children(np_flow *f, npagg_cache *cache)
{
    NP_TRY(np_cache_child(f->ctx, cache, 0, &f->encoded));
    NP_TRY(np_cache_child(f->ctx, cache, 1, &f->context));
    NP_TRY(np_cache_child(f->ctx, cache, 2, &f->all));
    return np_cache_child(f->ctx, cache, 3, &f->decoded);
}

static size_t count_bytes(const np_flow *f, size_t own)
{
    return own + npagg_cache_bytes(f->encoded) + npagg_cache_bytes(f->context) +
           npagg_cache_bytes(f->all) + npagg_cache_bytes(f->decoded);
}

npagg_status NP_REAL(np_flow_begin)(const np_flow *call, npagg_cache *cache, np_flow *out,
                                    size_t *bytes)
{
    np_arena arena = {0};
    np_flow flow = *call;
    NP_TRY(NP_REAL(np_finite_check)(flow.ctx, "params", flow.model->p, 0, flow.params));
    flow.n_points = count_points(&flow);
    take_flow(&arena, &flow);
    NP_TRY(np_cache_begin(flow.ctx, cache, &arena));
    NP_TRY(take_children(&flow, cache));
    np_cache_clear(flow.context);
    np_cache_clear(flow.all);
    *out = *take_flow(&arena, &flow);
    memcpy(out->shape, out->model, sizeof *out->shape);
    lay_out_sets(out);
    *bytes = arena.used;
    return NPAGG_OK;
}

npagg_status NP_REAL(np_flow_forward)(const np_flow *call, real *loss, npagg_cache *cache)
{
    np_flow flow;
    size_t bytes;
    NP_TRY(NP_REAL(np_flow_begin)(call, cache, &flow, &bytes));
    NP_TRY(run(&flow));
    np_cache_end(cache, NP_STAGE_MODEL, NP_REAL_BITS, count_bytes(&flow, bytes));
    NP_REAL(np_flow_losses)(cache, loss);
    return NPAGG_OK;
}

void NP_REAL(np_flow_losses)(const npagg_cache *cache, real *loss)
{
    const np_flow *flow = (const void *)cache->buffer.base;
    if (loss)
        memcpy(loss, flow->loss, (size_t)flow->n_sets * sizeof(real));
}
