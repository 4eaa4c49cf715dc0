#include "set_stage.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numbers.h"

void set_stage_forward(npagg_ctx *ctx, const model_call *f, const int64_t *offsets, const double *x,
                       const double *y, double *q, npagg_cache *cache)
{
    double *m = zeros_of(f->n_sets * f->d), *v = zeros_of(f->n_sets * f->d);
    ASSERT_OK(ctx, npagg_encoder_forward_f64(ctx, f->parts.encoder, f->params, f->n_sets, offsets,
                                             x, y, m, v, cache));
    for (int64_t i = 0; i < f->n_sets * f->d; i++) {
        const int64_t at = i / f->d * 2 * f->d + i % f->d;
        q[at] = m[i];
        q[at + f->d] = v[i];
    }
    free(m);
    free(v);
}

void set_stage_backward(npagg_ctx *ctx, const model_call *f, const int64_t *offsets,
                        const double *x, const double *y, const double *dq, double *dparams,
                        npagg_cache *cache)
{
    double *dm = zeros_of(f->n_sets * f->d), *dv = zeros_of(f->n_sets * f->d);
    for (int64_t i = 0; i < f->n_sets * f->d; i++) {
        const int64_t at = i / f->d * 2 * f->d + i % f->d;
        dm[i] = dq[at];
        dv[i] = dq[at + f->d];
    }
    ASSERT_OK(ctx, npagg_encoder_backward_f64(ctx, f->parts.encoder, f->params, f->n_sets, offsets,
                                              x, y, dm, dv, dparams, NULL, NULL, cache));
    free(dm);
    free(dv);
}

double *context_of(const model_call *f, const double *rows, int64_t width)
{
    double *context = zeros_of(f->n * width), *to = context;
    for (int64_t b = 0; b < f->n_sets; b++)
        for (int64_t i = 0; i < f->n_ctx[b] * width; i++)
            *to++ = rows[f->offsets[b] * width + i];
    return context;
}
