/*
 * What follows attention, row by row and in tiles:
 *   o = norm1(q + a),   y = norm2(o + relu(fc o))
 */
#ifndef NP_RESIDUAL_H
#define NP_RESIDUAL_H

#include "base/ctx.h"
#include "nn/lanes.h"
#include "nn/mlp.h"

typedef struct NP_REAL(np_residual) {
    npagg_ctx *ctx;
    const np_linear *linear;
    const np_lanes *lanes;
    const np_nets *nets;           /* laid out as np_nets_align does */
    int32_t first;                 /* of fc, norm1, norm2 among them */
    int64_t n, width;              /* rows, R */
    const real *q, *a;             /* [.,R], [n,R] */
    const int64_t *source;         /* [n]: which row of q belongs to a row of a */
    real *y;                       /* [n,R]: forward */
    real *d;                       /* [n,R]: the gradient of y becomes that of q + a */
    int32_t is_kept;               /* keep is in a cache: one per tile, else one per worker */
    real *keep;                    /* what tiles leave for backward */
    const real *turned, *straight; /* [P] */
    int64_t tile_rows, tiles;
    real *room;
    int64_t chunks;
    real *chunk; /* [chunks,P] +=, or NULL */
} NP_REAL(np_residual);
#define np_residual NP_REAL(np_residual)

/* As the functions of a fan. */
void NP_REAL(np_residual_begin)(np_residual *r);
void NP_REAL(np_residual_keep_take)(np_arena *arena, np_residual *r);
void NP_REAL(np_residual_room_take)(np_arena *arena, np_residual *r);
void NP_REAL(np_residual_forward)(np_residual *r);
void NP_REAL(np_residual_backward)(np_residual *r);

#endif /* NP_RESIDUAL_H */
