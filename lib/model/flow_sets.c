/*
 * Models whose encoder gives the posteriors itself: encode and infer in one, down and up. q_C is of
 * the first rows of a set, q_CT of all; the encoder makes both in one call.
 */
#include <string.h>

#include "encode/encoding.h"
#include "model/gradients.h"
#include "nn/finite.h"

static int32_t count_parts(const np_flow *f)
{
    return NP_REAL(np_flow_needs_all)(f->model) ? 2 : 1;
}

int64_t NP_REAL(np_flow_factors)(const np_flow *f)
{
    return np_encoder_is_per_set(&f->model->encoder) ? count_parts(f) * f->n_sets : f->n;
}

static np_encoding begin(const np_flow *f)
{
    np_encoding e = {.ctx = f->ctx,
                     .encoder = &f->model->encoder,
                     .params = f->params,
                     .n_sets = f->n_sets,
                     .offsets = f->offsets,
                     .parts = count_parts(f),
                     .x = f->x,
                     .y = f->y};
    e.ends[0] = f->split;
    e.ends[1] = f->n_sets > 0 ? f->offsets + 1 : NULL;
    return e;
}

void NP_REAL(np_flow_join)(int64_t n, int64_t d, const real *m, const real *v, real *q)
{
    for (int64_t b = 0; b < n; b++) {
        memcpy(q + 2 * b * d, m + b * d, (size_t)d * sizeof(real));
        memcpy(q + (2 * b + 1) * d, v + b * d, (size_t)d * sizeof(real));
    }
}

/* The same from q to m and v. */
static void part(int64_t n, int64_t d, const real *q, real *m, real *v)
{
    for (int64_t b = 0; b < n; b++) {
        memcpy(m + b * d, q + 2 * b * d, (size_t)d * sizeof(real));
        memcpy(v + b * d, q + (2 * b + 1) * d, (size_t)d * sizeof(real));
    }
}

npagg_status NP_REAL(np_flow_encode_sets)(const np_flow *f)
{
    const int64_t b = f->n_sets, d = f->model->encoder.d;
    np_encoding e = begin(f);
    e.m = f->m;
    e.v = f->v;
    NP_TRY(NP_REAL(np_encoding_forward)(&e, f->encoded));
    NP_TRY(NP_REAL(np_finite_check)(f->ctx, "m of the encoder", e.parts * b, d, f->m));
    NP_TRY(NP_REAL(np_finite_check)(f->ctx, "v of the encoder", e.parts * b, d, f->v));
    NP_REAL(np_flow_join)(b, d, f->m, f->v, f->q_c);
    if (f->q_ct)
        NP_REAL(np_flow_join)(b, d, f->m + b * d, f->v + b * d, f->q_ct);
    return NPAGG_OK;
}

npagg_status NP_REAL(np_flow_encode_sets_backward)(const np_flow *f, const np_gradients *g)
{
    const int64_t b = f->n_sets, d = f->model->encoder.d;
    np_encoding e = begin(f);
    part(b, d, g->q_c, g->m, g->v);
    if (g->q_ct)
        part(b, d, g->q_ct, g->m + b * d, g->v + b * d);
    e.dm = g->m;
    e.dv = g->v;
    e.dparams = g->params;
    return NP_REAL(np_encoding_backward)(&e, f->encoded);
}
