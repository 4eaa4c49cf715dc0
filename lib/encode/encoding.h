/*
 * One call of an encoder.
 *
 * Encoders of sets may be asked for two parts of each set at once: part p of set b is its rows
 * offsets[b] .. ends[p][b]-1. A model's are the context, and all; the networks before the mean then
 * see each point once.
 */
#ifndef NP_ENCODING_H
#define NP_ENCODING_H

#include "base/real.h"
#include "encode/encoder.h"
#include "nn/attention.h"
#include "nn/fan.h"
#include "nn/residual.h"

enum { NP_ENCODING_PARTS = 2 };

typedef struct NP_REAL(np_encoding) {
    npagg_ctx *ctx;
    const npagg_encoder *encoder;
    np_nets given, nets; /* as the caller has the parameters; aligned, P numbers */
    const real *params;
    int64_t n_sets, n;
    const int64_t *offsets;
    int32_t parts;                          /* 1 of an encoder of points */
    const int64_t *ends[NP_ENCODING_PARTS]; /* [B] each */
    const real *x, *y;                      /* [N,X], [N,Y] */
    real *m, *v;                            /* [N,D] or [parts,B,D]: forward */
    const real *dm, *dv;                    /* backward: either may be NULL */
    real *dparams, *dx, *dy;                /* each may be NULL */
    int32_t is_kept;                        /* what backward needs is in a cache */
    real *turned, *straight;                /* [P]: see nn/mlp.h */
    int64_t chunks;                         /* that gradients of parameters are summed in */
    real *chunk;                            /* [chunks,P], NULL if not wanted */
    np_fan points;                          /* of the networks that see points */

    /* of encoders of sets: U = parts B units, R numbers are averaged */
    np_fan sets;
    int64_t *from;          /* [U]: where the rows of each begin in `rows` */
    real *rows, *drows;     /* [N,R], or [N',R] of attention: what is averaged, its gradient */
    real *pooled, *dpooled; /* [U,R] */

    /* of attention: N' rows, those of every part of every set */
    int64_t n_rows;
    int64_t *source; /* [N']: their places among the N */
    np_attention attention;
    np_residual residual;
    real *q, *k, *values;           /* [N,R] */
    real *attended, *stats;         /* [N',R], [N',heads,2] */
    real *dq, *dk, *dvalues, *room; /* [N,R]; of the workers */
    int64_t room_count;             /* of each */
} NP_REAL(np_encoding);
#define np_encoding NP_REAL(np_encoding)

/* The public calls, with parts if e has some. */
npagg_status NP_REAL(np_encoding_forward)(np_encoding *e, npagg_cache *cache);
npagg_status NP_REAL(np_encoding_backward)(np_encoding *e, npagg_cache *cache);

/* Rows of unit u = p B + b: part p of set b. */
static inline int64_t NP_REAL(np_encoding_count)(const np_encoding *e, int64_t u)
{
    const int64_t b = u % e->n_sets;
    return e->ends[u / e->n_sets][b] - e->offsets[b];
}

#endif /* NP_ENCODING_H */
