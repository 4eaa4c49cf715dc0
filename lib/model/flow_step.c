/*
 * Down and up in one: decoder, objective and the decoder's way back go task by task, so that what
 * the decoder keeps never leaves the caches. Same bits as forward and then backward.
 */
#include <string.h>

#include "decode/decoding.h"
#include "decode/likelihood.h"
#include "model/gradients.h"

typedef struct grading {
    const np_flow *f;
    const np_gradients *g;
    const real *dloss;
    np_loglik loglik;
} grading;

/* From py of these tasks to dpy; 0 if py is no distribution. */
static int grade(void *arg, int64_t first, int64_t end, int32_t worker)
{
    const grading *at = arg;
    const np_flow *f = at->f;
    const int64_t from = f->point_offsets[first], to = f->point_offsets[end];
    if (!NP_REAL(np_loglik_is_good)(&at->loglik, from, to))
        return 0;
    NP_REAL(np_loglik_forward)(&at->loglik, from, to);
    for (int64_t b = first; b < end; b++) {
        NP_REAL(np_flow_value)(f, b);
        NP_REAL(np_flow_value_backward)(f, at->g, b, (double)at->dloss[b], worker);
    }
    NP_REAL(np_loglik_backward)(&at->loglik, from, to);
    return 1;
}

static grading begin_grading(const np_flow *f, const np_gradients *g, const real *dloss)
{
    grading at = {.f = f, .g = g, .dloss = dloss};
    at.loglik = (np_loglik){.ctx = f->ctx,
                            .decoder = &f->model->decoder,
                            .n = f->n_points,
                            .n_samples = f->model->objective.samples,
                            .py = f->py,
                            .y = NP_REAL(np_flow_y)(f),
                            .loglik = f->loglik,
                            .dloglik = g->loglik,
                            .dpy = g->py};
    return at;
}

static npagg_status decode_step(const np_flow *f, const np_gradients *g, const real *dloss,
                                int *done)
{
    const npagg_model *model = f->model;
    grading at = begin_grading(f, g, dloss);
    np_decoding e = {.ctx = f->ctx,
                     .decoder = &model->decoder,
                     .params = f->params + model->decoder_at,
                     .n_sets = f->n_sets,
                     .offsets = f->point_offsets,
                     .n_samples = model->objective.samples,
                     .x = NP_REAL(np_flow_x)(f),
                     .z = f->z,
                     .py = f->py,
                     .dpy = g->py,
                     .dparams = g->params + model->decoder_at,
                     .dz = g->z};
    NP_TRY(NP_REAL(np_loglik_begin)(&at.loglik));
    return NP_REAL(np_decoder_step)(&e, grade, &at, done);
}

/* In two parts: for large sets, and to learn what is wrong with py. */
static npagg_status run_apart(const np_flow *call, const real *dloss, real *loss, real *dparams,
                              npagg_cache *cache)
{
    NP_TRY(NP_REAL(np_flow_forward)(call, NULL, cache));
    NP_TRY(NP_REAL(np_flow_backward)(call, dloss, dparams, cache));
    NP_REAL(np_flow_losses)(cache, loss);
    return NPAGG_OK;
}

npagg_status NP_REAL(np_flow_step)(const np_flow *call, const real *dloss, real *loss,
                                   real *dparams, npagg_cache *cache)
{
    np_flow f;
    np_gradients g;
    size_t bytes;
    int done;
    NP_TRY(NP_REAL(np_flow_begin)(call, cache, &f, &bytes));
    NP_TRY(NP_REAL(np_flow_sampled)(&f));
    NP_TRY(NP_REAL(np_gradients_begin)(&f, &g));
    NP_TRY(decode_step(&f, &g, dloss, &done));
    if (!done)
        return run_apart(call, dloss, loss, dparams, cache);
    NP_TRY(NP_REAL(np_flow_sampled_backward)(&f, &g));
    NP_REAL(np_gradients_end)(&f, &g, dparams);
    memcpy(loss, f.loss, (size_t)f.n_sets * sizeof(real));
    return NPAGG_OK;
}
