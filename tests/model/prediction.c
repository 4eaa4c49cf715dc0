#include "prediction.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numbers.h"

#define POISON 0xA5

static void *take(size_t bytes)
{
    void *p = calloc(bytes + 1, 1);
    TEST_ASSERT_NOT_NULL(p);
    return p;
}

/* Rows of each task before (targets = 0) or behind its n_ctx. */
static void *gather(const model_call *f, const int64_t *offsets, const void *rows, int64_t width,
                    int targets)
{
    const size_t each = (size_t)width * f->real;
    unsigned char *out = take((size_t)offsets[f->n_sets] * each);
    for (int64_t b = 0; b < f->n_sets; b++) {
        const int64_t from = f->offsets[b] + (targets ? f->n_ctx[b] : 0);
        memcpy(out + (size_t)offsets[b] * each, (const unsigned char *)rows + (size_t)from * each,
               (size_t)(offsets[b + 1] - offsets[b]) * each);
    }
    return out;
}

static void *copy_of(const void *p, size_t bytes)
{
    void *c = take(bytes);
    memcpy(c, p, bytes);
    return c;
}

static void take_outputs(prediction *p)
{
    const model_call *f = p->f;
    const int64_t each = npagg_decoder_output_count(f->parts.decoder), m = p->n_target;
    const int64_t counts[] = {m * f->y_dim, m * f->y_dim,    m * p->s * each, m,
                              p->n_context, p->n_sets * f->q};
    void **const arrays[] = {&p->mean, &p->sd, &p->samples, &p->loglik, &p->weight, &p->q};
    int64_t total = 0;
    for (int i = 0; i < 6; i++)
        total += counts[i];
    p->out_bytes = (size_t)total * f->real;
    p->out = take(p->out_bytes);
    size_t at = 0;
    for (int i = 0; i < 6; i++) {
        *arrays[i] = p->out + at;
        at += (size_t)counts[i] * f->real;
    }
}

prediction *prediction_create(const model_call *f)
{
    prediction *p = take(sizeof *p);
    const int64_t b = f->n_sets;
    p->f = f;
    p->n_sets = b;
    p->s = f->s;
    p->ctx_offsets = offsets_of(b, f->n_ctx);
    p->tgt_offsets = offsets_of(b, f->n_ctx);
    for (int64_t i = 0; i < b; i++)
        p->tgt_offsets[i + 1] = f->offsets[i + 1] - p->ctx_offsets[i + 1];
    p->n_context = p->ctx_offsets[b];
    p->n_target = p->tgt_offsets[b];
    p->xc = gather(f, p->ctx_offsets, f->x, f->x_dim, 0);
    p->yc = gather(f, p->ctx_offsets, f->y, f->y_dim, 0);
    p->xt = gather(f, p->tgt_offsets, f->x, f->x_dim, 1);
    p->yt = gather(f, p->tgt_offsets, f->y, f->y_dim, 1);
    p->noise = copy_of(f->noise, (size_t)(b * f->s * f->d) * f->real);
    p->which = copy_of(f->which, (size_t)(b * f->s) * sizeof *f->which);
    take_outputs(p);
    return p;
}

void prediction_destroy(prediction *p)
{
    free(p->ctx_offsets);
    free(p->tgt_offsets);
    free(p->xc);
    free(p->yc);
    free(p->xt);
    free(p->yt);
    free(p->noise);
    free(p->which);
    free(p->out);
    free(p);
}

npagg_status prediction_predict(npagg_ctx *ctx, const prediction *p)
{
    const model_call *f = p->f;
    if (f->precision == 32)
        return npagg_model_predict_f32(ctx, f->model, f->params, p->n_sets, p->ctx_offsets, p->xc,
                                       p->yc, p->tgt_offsets, p->xt, p->yt, p->s, p->noise,
                                       p->which, p->mean, p->sd, p->samples, p->loglik, p->weight);
    return npagg_model_predict_f64(ctx, f->model, f->params, p->n_sets, p->ctx_offsets, p->xc,
                                   p->yc, p->tgt_offsets, p->xt, p->yt, p->s, p->noise, p->which,
                                   p->mean, p->sd, p->samples, p->loglik, p->weight);
}

npagg_status prediction_infer(npagg_ctx *ctx, const prediction *p)
{
    const model_call *f = p->f;
    if (f->precision == 32)
        return npagg_model_infer_f32(ctx, f->model, f->params, p->n_sets, p->ctx_offsets, p->xc,
                                     p->yc, p->q);
    return npagg_model_infer_f64(ctx, f->model, f->params, p->n_sets, p->ctx_offsets, p->xc, p->yc,
                                 p->q);
}

void prediction_run(npagg_ctx *ctx, const prediction *p)
{
    memset(p->out, 0, p->out_bytes);
    ASSERT_OK(ctx, prediction_predict(ctx, p));
    ASSERT_OK(ctx, prediction_infer(ctx, p));
}

void prediction_poison(const prediction *p)
{
    memset(p->out, POISON, p->out_bytes);
}

void prediction_check_poison(const prediction *p, int line)
{
    for (size_t i = 0; i < p->out_bytes; i++)
        if (p->out[i] != POISON)
            UNITY_TEST_FAIL((UNITY_LINE_TYPE)line, model_describe(p->f, "an output was written"));
}

void prediction_check_same(const prediction *want, const prediction *got, int line)
{
    UNITY_TEST_ASSERT(want->out_bytes == got->out_bytes, (UNITY_LINE_TYPE)line, "other shapes");
    check_same_bits((int64_t)want->out_bytes, want->out, got->out,
                    model_describe(want->f, "prediction"), line);
}
