/* Predictions from a context: encode, infer, sample, decode, and the mixture that the samples make.
 */
#include <math.h>
#include <npagg/decoder.h>
#include <npagg/encoder.h>
#include <npagg/posterior.h>
#include <string.h>

#include "base/ragged.h"
#include "base/size.h"
#include "model/flow.h"
#include "nn/finite.h"

typedef struct prediction {
    npagg_ctx *ctx;
    const npagg_model *model;
    const real *params;
    int64_t n_sets, n_context, n_target, s;
    const int64_t *ctx_offsets, *tgt_offsets;
    const real *xc, *yc, *xt, *yt, *noise;
    const int32_t *which;
    /* of our own */
    real *m, *v;       /* [Nc,D], or [B,D] of an encoder of sets */
    real *q;           /* [B,Q] */
    real *z;           /* [B,S,D] */
    real *py;          /* [M,S,2Y] */
    real *loglik;      /* [M,S] */
    real *weight;      /* [Nc] */
    npagg_cache *kept; /* of inference, if the weights are wanted */
} prediction;

static int64_t output_count(const prediction *p)
{
    return npagg_decoder_output_count(&p->model->decoder);
}

static int gives_posterior(const prediction *p)
{
    return np_encoder_is_per_set(&p->model->encoder);
}

static void take_arrays(np_arena *arena, prediction *p)
{
    const int64_t d = p->model->prior.d;
    const int64_t rows = gives_posterior(p) ? p->n_sets : p->n_context;
    p->m = NP_TAKE2(arena, rows, d, real);
    p->v = NP_TAKE2(arena, rows, d, real);
    p->q = NP_TAKE2(arena, p->n_sets, npagg_prior_posterior_count(&p->model->prior), real);
    p->z = np_arena_take(arena, p->n_sets, p->s, (size_t)d * sizeof(real));
    p->py = np_arena_take(arena, p->n_target, p->s, (size_t)output_count(p) * sizeof(real));
    p->loglik = NP_TAKE2(arena, p->n_target, p->s, real);
    p->weight = NP_TAKE(arena, p->n_context, real);
}

/* q of an encoder of sets; it has no weights, so that every point has 1. */
static npagg_status join_posterior(const prediction *p)
{
    const int64_t d = p->model->prior.d;
    NP_TRY(NP_REAL(np_finite_check)(p->ctx, "m of the encoder", p->n_sets, d, p->m));
    NP_TRY(NP_REAL(np_finite_check)(p->ctx, "v of the encoder", p->n_sets, d, p->v));
    NP_REAL(np_flow_join)(p->n_sets, d, p->m, p->v, p->q);
    for (int64_t i = 0; i < p->n_context; i++)
        p->weight[i] = 1;
    return NPAGG_OK;
}

static npagg_status encode_and_infer(const prediction *p)
{
    const npagg_model *model = p->model;
    NP_TRY(NP_REAL(npagg_encoder_forward)(p->ctx, &model->encoder, p->params, p->n_sets,
                                          p->ctx_offsets, p->xc, p->yc, p->m, p->v, NULL));
    if (gives_posterior(p))
        return join_posterior(p);
    npagg_vmp vmp = model->vmp;
    vmp.weights = 1;
    NP_TRY(NP_REAL(npagg_infer_forward)(p->ctx, &model->prior, &vmp, p->params + model->prior_at,
                                        p->n_sets, p->ctx_offsets, p->m, p->v, NULL, p->q, NULL,
                                        p->kept));
    return p->kept ? NP_REAL(npagg_infer_weights)(p->ctx, p->kept, p->weight) : NPAGG_OK;
}

static npagg_status sample_and_decode(const prediction *p)
{
    const npagg_model *model = p->model;
    NP_TRY(NP_REAL(npagg_posterior_sample)(p->ctx, &model->prior, NPAGG_SAMPLE_CHOSEN, p->n_sets,
                                           p->s, p->q, p->noise, p->which, p->z, NULL));
    NP_TRY(NP_REAL(npagg_decoder_forward)(p->ctx, &model->decoder, p->params + model->decoder_at,
                                          p->n_sets, p->tgt_offsets, p->s, p->xt, p->z, p->py,
                                          NULL));
    if (!p->yt)
        return NPAGG_OK;
    return NP_REAL(npagg_decoder_loglik)(p->ctx, &model->decoder, p->n_target, p->s, p->py, p->yt,
                                         p->loglik);
}

/* Mean and variance of y under one sample's distribution. */
static void read_sample(const prediction *p, int64_t n, int64_t s, int64_t j, double *mean,
                        double *var)
{
    const int64_t y = p->model->decoder.y_dim;
    const real *py = p->py + (n * p->s + s) * output_count(p);
    if (p->model->decoder.likelihood == NPAGG_LIKELIHOOD_GAUSSIAN) {
        *mean = (double)py[j];
        *var = (double)py[y + j] * (double)py[y + j];
    } else {
        *mean = 1 / (1 + exp(-(double)py[j]));
        *var = *mean * (1 - *mean);
    }
}

/* Mean and sd of the equal mixture over samples, of one number. */
static void mix(const prediction *p, int64_t n, int64_t j, double *mean, double *sd)
{
    double m, v, sum = 0, spread = 0;
    for (int64_t s = 0; s < p->s; s++) {
        read_sample(p, n, s, j, &m, &v);
        sum += m;
    }
    *mean = sum / (double)p->s;
    for (int64_t s = 0; s < p->s; s++) {
        read_sample(p, n, s, j, &m, &v);
        spread += v + (m - *mean) * (m - *mean);
    }
    *sd = sqrt(spread / (double)p->s);
}

static void write_moments(const prediction *p, real *mean, real *sd)
{
    const int64_t y = p->model->decoder.y_dim;
    for (int64_t n = 0; n < p->n_target; n++)
        for (int64_t j = 0; j < y; j++) {
            double m, s;
            mix(p, n, j, &m, &s);
            if (mean)
                mean[n * y + j] = (real)m;
            if (sd)
                sd[n * y + j] = (real)s;
        }
}

/* log mean_s p(y | x, z_s) */
static void write_loglik(const prediction *p, real *loglik)
{
    for (int64_t n = 0; n < p->n_target; n++) {
        const real *l = p->loglik + n * p->s;
        double top = (double)l[0], sum = 0;
        for (int64_t s = 1; s < p->s; s++)
            top = fmax(top, (double)l[s]);
        for (int64_t s = 0; s < p->s; s++)
            sum += exp((double)l[s] - top);
        loglik[n] = (real)(top + log(sum / (double)p->s));
    }
}

static void copy_out(int64_t n, const real *from, real *to)
{
    if (n > 0)
        memcpy(to, from, (size_t)n * sizeof(real));
}

static npagg_status check_context(prediction *p)
{
    npagg_ctx *ctx = p->ctx;
    const npagg_model *model = p->model;
    NP_REQUIRE(ctx, ctx, "model: ctx is NULL");
    NP_REQUIRE(ctx, model, "model: model is NULL");
    NP_REQUIRE(ctx, p->params, "model: params is NULL");
    const int64_t width = np_max(model->prior.d, model->encoder.x_dim + model->encoder.y_dim);
    NP_TRY(np_ragged_check(ctx, p->n_sets, p->ctx_offsets, width,
                           npagg_prior_posterior_count(&model->prior), &p->n_context));
    NP_REQUIRE(ctx, p->xc || p->n_context == 0 || model->encoder.x_dim == 0,
               "model: the context's x is NULL");
    NP_REQUIRE(ctx, p->yc || p->n_context == 0, "model: the context's y is NULL");
    return NP_REAL(np_finite_check)(ctx, "params", model->p, 0, p->params);
}

static npagg_status check_targets(prediction *p, const real *loglik)
{
    npagg_ctx *ctx = p->ctx;
    const npagg_model *model = p->model;
    const int64_t width = np_max(output_count(p), model->encoder.x_dim);
    NP_TRY(np_ragged_check(ctx, p->n_sets, p->tgt_offsets, width, 1, &p->n_target));
    NP_REQUIRE(ctx, p->s >= 1, "model_predict: n_samples is below 1");
    NP_REQUIRE(ctx, p->xt || p->n_target == 0 || model->encoder.x_dim == 0,
               "model_predict: xt is NULL");
    NP_REQUIRE(ctx, p->noise || p->n_sets == 0, "model_predict: noise is NULL");
    NP_REQUIRE(ctx, p->which || model->prior.k == 1 || p->n_sets == 0,
               "model_predict: which is NULL, a mixture needs it");
    NP_REQUIRE(ctx, p->yt || !loglik || p->n_target == 0,
               "model_predict: loglik is wanted, but yt is NULL");
    return NPAGG_OK;
}

/* Under the names of this call; the stages know them as x and y. */
static npagg_status check_values(const prediction *p)
{
    npagg_ctx *ctx = p->ctx;
    const int64_t xd = p->model->encoder.x_dim, yd = p->model->encoder.y_dim;
    if (xd > 0) {
        NP_TRY(NP_REAL(np_finite_check)(ctx, "xc", p->n_context, xd, p->xc));
        NP_TRY(NP_REAL(np_finite_check)(ctx, "xt", p->n_target, xd, p->xt));
    }
    NP_TRY(NP_REAL(np_finite_check)(ctx, "yc", p->n_context, yd, p->yc));
    return p->yt ? NP_REAL(np_finite_check)(ctx, "yt", p->n_target, yd, p->yt) : NPAGG_OK;
}

static npagg_status begin_arrays(prediction *p)
{
    np_arena arena = {0};
    take_arrays(&arena, p);
    NP_TRY(np_stage_begin(p->ctx, &arena));
    take_arrays(&arena, p);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_model_predict)(npagg_ctx *ctx, const npagg_model *model,
                                          const real *params, int64_t n_sets,
                                          const int64_t *ctx_offsets, const real *xc,
                                          const real *yc, const int64_t *tgt_offsets,
                                          const real *xt, const real *yt, int64_t n_samples,
                                          const real *noise, const int32_t *which, real *mean,
                                          real *sd, real *samples, real *loglik, real *weight)
{
    prediction p = {
        .ctx = ctx,
        .model = model,
        .params = params,
        .n_sets = n_sets,
        .s = n_samples,
        .ctx_offsets = ctx_offsets,
        .tgt_offsets = tgt_offsets,
        .xc = xc,
        .yc = yc,
        .xt = xt,
        .yt = yt,
        .noise = noise,
        .which = which,
    };
    NP_TRY(check_context(&p));
    NP_TRY(check_targets(&p, loglik));
    NP_TRY(check_values(&p));
    NP_TRY(begin_arrays(&p));
    if (weight && !gives_posterior(&p))
        NP_TRY(NP_REAL(np_flow_cache)(ctx, &p.kept));
    NP_TRY(encode_and_infer(&p));
    NP_TRY(sample_and_decode(&p));
    if (mean || sd)
        write_moments(&p, mean, sd);
    if (samples)
        copy_out(p.n_target * p.s * output_count(&p), p.py, samples);
    if (loglik)
        write_loglik(&p, loglik);
    if (weight)
        copy_out(p.n_context, p.weight, weight);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_model_infer)(npagg_ctx *ctx, const npagg_model *model,
                                        const real *params, int64_t n_sets, const int64_t *offsets,
                                        const real *x, const real *y, real *q)
{
    prediction p = {
        .ctx = ctx,
        .model = model,
        .params = params,
        .n_sets = n_sets,
        .ctx_offsets = offsets,
        .xc = x,
        .yc = y,
    };
    NP_TRY(check_context(&p));
    NP_REQUIRE(ctx, q || n_sets == 0, "model_infer: q is NULL");
    NP_TRY(begin_arrays(&p));
    NP_TRY(encode_and_infer(&p));
    copy_out(n_sets * npagg_prior_posterior_count(&model->prior), p.q, q);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_model_choose)(npagg_ctx *ctx, const npagg_model *model, int64_t n_sets,
                                         int64_t n_samples, const real *q, const real *u,
                                         int32_t *which)
{
    NP_REQUIRE(ctx, ctx, "model_choose: ctx is NULL");
    NP_REQUIRE(ctx, model, "model_choose: model is NULL");
    return NP_REAL(npagg_posterior_choose)(ctx, &model->prior, n_sets, n_samples, q, u, which);
}
