#include "road.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numbers.h"
#include "set_stage.h"

/* An array and its gradient. */
typedef struct {
    double *x, *dx;
    int64_t n;
} pair;

static pair pair_of(int64_t n)
{
    return (pair){zeros_of(n), zeros_of(n), n};
}

static void pair_free(pair *a)
{
    free(a->x);
    free(a->dx);
}

enum {
    M,
    V,
    MC,
    VC,
    QC,
    QA,
    LOGZC,
    LOGZA,
    Z,
    LOGW,
    LOGQC,
    LOGQA,
    KL,
    MEAN,
    VAR,
    PY,
    LOGLIK,
    PAIRS
};

typedef struct {
    npagg_ctx *ctx;
    const model_call *f;
    const model_parts *parts;
    npagg_prior *layout; /* of q */
    const double *params, *prior_params, *decoder_params;
    int64_t *ctx_offsets, *point_offsets; /* [B+1] */
    int64_t n_points;
    double *x, *y; /* of the points */
    pair a[PAIRS];
    npagg_cache *encoded, *context, *all, *decoded;
    double *dparams;
} road;

/* Rows of set b that are its points: all, or its targets. */
static int64_t first_point(const model_call *f, int64_t b)
{
    return f->offsets[b] + (f->spec.points == NPAGG_POINTS_ALL ? 0 : f->n_ctx[b]);
}

static void lay_out(road *r)
{
    const model_call *f = r->f;
    r->ctx_offsets = offsets_of(f->n_sets, f->n_ctx);
    r->point_offsets = offsets_of(f->n_sets, f->n_ctx);
    for (int64_t b = 0; b < f->n_sets; b++)
        r->point_offsets[b + 1] = r->point_offsets[b] + f->offsets[b + 1] - first_point(f, b);
    r->n_points = r->point_offsets[f->n_sets];
    r->x = zeros_of(r->n_points * f->x_dim);
    r->y = zeros_of(r->n_points * f->y_dim);
    for (int64_t b = 0; b < f->n_sets; b++) {
        const int64_t to = r->point_offsets[b], from = first_point(f, b);
        const size_t n = (size_t)(r->point_offsets[b + 1] - to);
        memcpy(r->x + to * f->x_dim, (double *)f->x + from * f->x_dim,
               n * (size_t)f->x_dim * sizeof(double));
        memcpy(r->y + to * f->y_dim, (double *)f->y + from * f->y_dim,
               n * (size_t)f->y_dim * sizeof(double));
    }
}

static road road_create(npagg_ctx *ctx, const model_call *f)
{
    road r = {.ctx = ctx, .f = f, .parts = &f->parts, .params = f->params};
    const int64_t b = f->n_sets, s = f->s;
    r.prior_params = r.params + npagg_model_param_offset(f->model, "prior");
    r.decoder_params = r.params + npagg_model_param_offset(f->model, "decoder");
    ASSERT_OK(ctx, npagg_prior_create_gaussian(ctx, f->d, &r.layout));
    lay_out(&r);
    const int64_t nc = r.ctx_offsets[b], out = npagg_decoder_output_count(f->parts.decoder);
    const int64_t sizes[PAIRS] = {
        [M] = f->n * f->d,
        [V] = f->n * f->d,
        [MC] = nc * f->d,
        [VC] = nc * f->d,
        [QC] = b * f->q,
        [QA] = b * f->q,
        [LOGZC] = b,
        [LOGZA] = b,
        [Z] = b * s * f->d,
        [LOGW] = b * s,
        [LOGQC] = b * s,
        [LOGQA] = b * s,
        [KL] = b,
        [MEAN] = b * f->d,
        [VAR] = b * f->d,
        [PY] = r.n_points * s * out,
        [LOGLIK] = r.n_points * s,
    };
    for (int i = 0; i < PAIRS; i++)
        r.a[i] = pair_of(sizes[i]);
    ASSERT_OK(ctx, npagg_cache_create(ctx, &r.encoded));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &r.context));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &r.all));
    ASSERT_OK(ctx, npagg_cache_create(ctx, &r.decoded));
    return r;
}

static void road_destroy(road *r)
{
    for (int i = 0; i < PAIRS; i++)
        pair_free(&r->a[i]);
    free(r->ctx_offsets);
    free(r->point_offsets);
    free(r->x);
    free(r->y);
    npagg_prior_destroy(r->layout);
    npagg_cache_destroy(r->encoded);
    npagg_cache_destroy(r->context);
    npagg_cache_destroy(r->all);
    npagg_cache_destroy(r->decoded);
}

/* Context rows of m or v, in or (adding) out. */
static void move_context(const road *r, double *whole, double *context, int out)
{
    const model_call *f = r->f;
    for (int64_t b = 0; b < f->n_sets; b++)
        for (int64_t i = 0; i < f->n_ctx[b] * f->d; i++)
            if (out)
                whole[f->offsets[b] * f->d + i] += context[r->ctx_offsets[b] * f->d + i];
            else
                context[r->ctx_offsets[b] * f->d + i] = whole[f->offsets[b] * f->d + i];
}

/* That of the model, or the Gaussian with the posteriors of an encoder of sets. */
static const npagg_prior *prior_of(const road *r)
{
    return r->parts->prior ? r->parts->prior : r->layout;
}

static int is_ml(const road *r)
{
    return r->f->spec.objective == NPAGG_OBJECTIVE_ML;
}

static int is_elbo(const road *r)
{
    return r->f->spec.objective <= NPAGG_OBJECTIVE_ELBO_CLOSED;
}

/* NPAGG_KL_*, or AUTO for the evidences. */
static int32_t kl_kind(const road *r)
{
    const model_spec *s = &r->f->spec;
    if (s->objective == NPAGG_OBJECTIVE_ELBO_CLOSED || s->kl != NPAGG_KL_AUTO)
        return s->objective == NPAGG_OBJECTIVE_ELBO_CLOSED ? NPAGG_KL_AUTO : s->kl;
    if (s->prior->k == 1)
        return NPAGG_KL_CLOSED;
    return s->prior->robust ? NPAGG_KL_SAMPLED : NPAGG_KL_AUTO;
}

/* An encoder of sets: twice, on the context and on all rows. */
static void encode_sets(road *r, int backward)
{
    const model_call *f = r->f;
    double *x = context_of(f, f->x, f->x_dim), *y = context_of(f, f->y, f->y_dim);
    if (backward) {
        set_stage_backward(r->ctx, f, r->ctx_offsets, x, y, r->a[QC].dx, r->dparams, r->context);
        set_stage_backward(r->ctx, f, f->offsets, f->x, f->y, r->a[QA].dx, r->dparams, r->all);
    } else {
        set_stage_forward(r->ctx, f, r->ctx_offsets, x, y, r->a[QC].x, r->context);
        set_stage_forward(r->ctx, f, f->offsets, f->x, f->y, r->a[QA].x, r->all);
    }
    free(x);
    free(y);
}

static void encode_and_infer(road *r)
{
    const model_call *f = r->f;
    pair *a = r->a;
    if (is_of_sets(&f->spec)) {
        encode_sets(r, 0);
        return;
    }
    ASSERT_OK(r->ctx,
              npagg_encoder_forward_f64(r->ctx, r->parts->encoder, r->params, f->n_sets, f->offsets,
                                        f->x, f->y, a[M].x, a[V].x, r->encoded));
    move_context(r, a[M].x, a[MC].x, 0);
    move_context(r, a[V].x, a[VC].x, 0);
    ASSERT_OK(r->ctx, npagg_infer_forward_f64(r->ctx, r->parts->prior, r->parts->vmp,
                                              r->prior_params, f->n_sets, r->ctx_offsets, a[MC].x,
                                              a[VC].x, NULL, a[QC].x, a[LOGZC].x, r->context));
    ASSERT_OK(r->ctx, npagg_infer_forward_f64(r->ctx, r->parts->prior, r->parts->vmp,
                                              r->prior_params, f->n_sets, f->offsets, a[M].x,
                                              a[V].x, NULL, a[QA].x, a[LOGZA].x, r->all));
}

/* KL = sum over targets of E[log N(z | m, v)] - log Z_CT + log Z_C, or its gradient. */
static void evidence_kl(road *r, int backward)
{
    const model_call *f = r->f;
    pair *a = r->a;
    for (int64_t b = 0; b < f->n_sets; b++) {
        const double g = a[KL].dx[b];
        if (backward)
            a[LOGZA].dx[b] -= g, a[LOGZC].dx[b] += g;
        else
            a[KL].x[b] = a[LOGZC].x[b] - a[LOGZA].x[b];
        for (int64_t i = (f->offsets[b] + f->n_ctx[b]) * f->d; i < f->offsets[b + 1] * f->d; i++) {
            const int64_t j = b * f->d + i % f->d;
            const double e = a[M].x[i] - a[MEAN].x[j], v = a[V].x[i], w = a[VAR].x[j];
            if (!backward) {
                a[KL].x[b] -= 0.5 * (log(2 * acos(-1) * v) + (e * e + w) / v);
                continue;
            }
            a[M].dx[i] -= g * e / v;
            a[MEAN].dx[j] += g * e / v;
            a[VAR].dx[j] -= 0.5 * g / v;
            a[V].dx[i] -= 0.5 * g * (1 / v - (e * e + w) / (v * v));
        }
    }
}

static void sample(road *r)
{
    const model_call *f = r->f;
    const npagg_prior *prior = prior_of(r);
    pair *a = r->a;
    const int32_t kind = kl_kind(r);
    ASSERT_OK(r->ctx, npagg_posterior_sample_f64(r->ctx, prior, f->spec.sampling, f->n_sets, f->s,
                                                 a[is_ml(r) ? QC : QA].x, f->noise, f->which,
                                                 a[Z].x, a[LOGW].x));
    ASSERT_OK(r->ctx, npagg_posterior_logpdf_f64(r->ctx, prior, f->n_sets, f->s, a[QC].x, a[Z].x,
                                                 a[LOGQC].x));
    ASSERT_OK(r->ctx, npagg_posterior_logpdf_f64(r->ctx, prior, f->n_sets, f->s, a[QA].x, a[Z].x,
                                                 a[LOGQA].x));
    ASSERT_OK(r->ctx,
              npagg_posterior_moments_f64(r->ctx, prior, f->n_sets, a[QA].x, a[MEAN].x, a[VAR].x));
    if (kind == NPAGG_KL_AUTO)
        evidence_kl(r, 0);
    else
        ASSERT_OK(r->ctx, npagg_posterior_kl_f64(r->ctx, prior, kind, f->n_sets, f->s, a[QA].x,
                                                 a[QC].x, a[Z].x, a[LOGW].x, a[KL].x));
}

static void decode(road *r)
{
    const model_call *f = r->f;
    pair *a = r->a;
    ASSERT_OK(r->ctx,
              npagg_decoder_forward_f64(r->ctx, r->parts->decoder, r->decoder_params, f->n_sets,
                                        r->point_offsets, f->s, r->x, a[Z].x, a[PY].x, r->decoded));
    ASSERT_OK(r->ctx, npagg_decoder_loglik_f64(r->ctx, r->parts->decoder, r->n_points, f->s,
                                               a[PY].x, r->y, a[LOGLIK].x));
}

/* log p over the points of sample s of task b. */
static double points_loglik(const road *r, int64_t b, int64_t s)
{
    double sum = 0;
    for (int64_t n = r->point_offsets[b]; n < r->point_offsets[b + 1]; n++)
        sum += r->a[LOGLIK].x[n * r->f->s + s];
    return sum;
}

/* Loss of task b; with a gradient g of the loss also those of its samples. */
static double task(road *r, int64_t b, double g)
{
    const model_call *f = r->f;
    pair *a = r->a;
    const int64_t points = r->point_offsets[b + 1] - r->point_offsets[b];
    const double by = f->spec.normalise && points > 0 ? (double)points : 1;
    double value = is_elbo(r) ? -a[KL].x[b] : 0;
    for (int64_t i = b * f->s; i < (b + 1) * f->s; i++) {
        const double l = points_loglik(r, b, i % f->s), w = exp(a[LOGW].x[i]);
        const double ratio = is_ml(r) ? 0 : a[LOGQC].x[i] - a[LOGQA].x[i];
        value += is_elbo(r) ? w * l : w * exp(l + ratio);
    }
    for (int64_t i = b * f->s; i < (b + 1) * f->s; i++) {
        const double l = points_loglik(r, b, i % f->s), w = exp(a[LOGW].x[i]);
        const double ratio = is_ml(r) ? 0 : a[LOGQC].x[i] - a[LOGQA].x[i];
        const double dl = -g / by * (is_elbo(r) ? w : w * exp(l + ratio) / value);
        a[LOGW].dx[i] += is_elbo(r) ? dl * l : dl;
        if (f->spec.objective == NPAGG_OBJECTIVE_IWAE)
            a[LOGQC].dx[i] += dl, a[LOGQA].dx[i] -= dl;
        for (int64_t n = r->point_offsets[b]; n < r->point_offsets[b + 1]; n++)
            a[LOGLIK].dx[n * f->s + i % f->s] += dl;
    }
    if (is_elbo(r))
        a[KL].dx[b] += g / by;
    return -(is_elbo(r) ? value : log(value)) / by;
}

static void decode_backward(road *r)
{
    const model_call *f = r->f;
    pair *a = r->a;
    const int64_t at = npagg_model_param_offset(f->model, "decoder");
    ASSERT_OK(r->ctx,
              npagg_decoder_loglik_backward_f64(r->ctx, r->parts->decoder, r->n_points, f->s,
                                                a[PY].x, r->y, a[LOGLIK].dx, a[PY].dx, NULL));
    ASSERT_OK(r->ctx,
              npagg_decoder_backward_f64(r->ctx, r->parts->decoder, r->decoder_params, f->n_sets,
                                         r->point_offsets, f->s, r->x, a[Z].x, a[PY].dx,
                                         r->dparams + at, NULL, a[Z].dx, r->decoded));
}

static void kl_backward(road *r)
{
    const model_call *f = r->f;
    const npagg_prior *prior = prior_of(r);
    pair *a = r->a;
    if (!is_elbo(r))
        return;
    if (kl_kind(r) == NPAGG_KL_AUTO) {
        evidence_kl(r, 1);
        ASSERT_OK(r->ctx, npagg_posterior_moments_backward_f64(r->ctx, prior, f->n_sets, a[QA].x,
                                                               a[MEAN].dx, a[VAR].dx, a[QA].dx));
        return;
    }
    ASSERT_OK(r->ctx, npagg_posterior_kl_backward_f64(r->ctx, prior, kl_kind(r), f->n_sets, f->s,
                                                      a[QA].x, a[QC].x, a[Z].x, a[LOGW].x, a[KL].dx,
                                                      a[QA].dx, a[QC].dx, a[Z].dx, a[LOGW].dx));
}

static void sample_backward(road *r)
{
    const model_call *f = r->f;
    const npagg_prior *prior = prior_of(r);
    pair *a = r->a;
    const int from = is_ml(r) ? QC : QA;
    kl_backward(r);
    ASSERT_OK(r->ctx, npagg_posterior_logpdf_backward_f64(r->ctx, prior, f->n_sets, f->s, a[QC].x,
                                                          a[Z].x, a[LOGQC].dx, a[QC].dx, a[Z].dx));
    ASSERT_OK(r->ctx, npagg_posterior_logpdf_backward_f64(r->ctx, prior, f->n_sets, f->s, a[QA].x,
                                                          a[Z].x, a[LOGQA].dx, a[QA].dx, a[Z].dx));
    ASSERT_OK(r->ctx, npagg_posterior_sample_backward_f64(
                          r->ctx, prior, f->spec.sampling, f->n_sets, f->s, a[from].x, f->noise,
                          f->which, a[Z].dx, a[LOGW].dx, a[from].dx));
}

static void infer_and_encode_backward(road *r)
{
    const model_call *f = r->f;
    pair *a = r->a;
    const int64_t at = npagg_model_param_offset(f->model, "prior");
    ASSERT_OK(r->ctx, npagg_infer_backward_f64(r->ctx, r->parts->prior, r->parts->vmp,
                                               r->prior_params, f->n_sets, f->offsets, a[M].x,
                                               a[V].x, NULL, a[QA].dx, a[LOGZA].dx, r->dparams + at,
                                               a[M].dx, a[V].dx, NULL, r->all));
    ASSERT_OK(r->ctx, npagg_infer_backward_f64(
                          r->ctx, r->parts->prior, r->parts->vmp, r->prior_params, f->n_sets,
                          r->ctx_offsets, a[MC].x, a[VC].x, NULL, a[QC].dx, a[LOGZC].dx,
                          r->dparams + at, a[MC].dx, a[VC].dx, NULL, r->context));
    move_context(r, a[M].dx, a[MC].dx, 1);
    move_context(r, a[V].dx, a[VC].dx, 1);
    ASSERT_OK(r->ctx, npagg_encoder_backward_f64(r->ctx, r->parts->encoder, r->params, f->n_sets,
                                                 f->offsets, f->x, f->y, a[M].dx, a[V].dx,
                                                 r->dparams, NULL, NULL, r->encoded));
}

void road_run(npagg_ctx *ctx, const model_call *f, double *loss, double *dparams)
{
    road r = road_create(ctx, f);
    r.dparams = dparams;
    memset(dparams, 0, (size_t)f->p * sizeof *dparams);
    encode_and_infer(&r);
    sample(&r);
    decode(&r);
    for (int64_t b = 0; b < f->n_sets; b++)
        loss[b] = task(&r, b, ((double *)f->dloss)[b]);
    decode_backward(&r);
    sample_backward(&r);
    if (is_of_sets(&f->spec))
        encode_sets(&r, 1);
    else
        infer_and_encode_backward(&r);
    road_destroy(&r);
}
