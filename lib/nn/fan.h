/*
 * A fan: rows through one network that all read, the trunk, or none, to up to three heads; tile by
 * tile, forward and backward. The last head may end in a variance.
 *
 * All of nets are laid out as np_nets_align does; a fan uses those from `first` on: the trunk if
 * there is one, then the heads.
 */
#ifndef NP_FAN_H
#define NP_FAN_H

#include "base/ctx.h"
#include "nn/lanes.h"
#include "nn/mlp.h"

enum { NP_FAN_HEADS = 3, NP_FAN_NETS = NP_FAN_HEADS + 1 };

/* What the last head's output a becomes, s = lo + (hi - lo) sigmoid(a): nothing, s, or s^2. */
typedef enum np_squash { NP_SQUASH_NONE, NP_SQUASH_VAR, NP_SQUASH_SD } np_squash;

typedef struct NP_REAL(np_fan) {
    npagg_ctx *ctx;
    const np_linear *linear;
    const np_lanes *lanes;
    const np_nets *nets;
    int32_t first, trunk, heads;
    np_squash squash;
    double lo, hi;
    int64_t n;                      /* rows */
    int64_t x_dim, y_dim;           /* a row is [x, y]; either may have no columns */
    const real *x, *y;              /* [n,x_dim], [n,y_dim] */
    real *out[NP_FAN_HEADS];        /* [n,width]: forward */
    const real *dout[NP_FAN_HEADS]; /* [n,width]: backward; NULL is 0 */
    real *dx, *dy;                  /* +=, each may be NULL */
    int32_t is_kept;                /* keep is in a cache: one per tile, else one per worker */
    real *keep;                     /* what tiles leave for backward */
    const real *turned, *straight;  /* [P]: see mlp.h */
    int64_t tile_rows, tiles;       /* of tile.h */
    real *room;                     /* of the workers */
    int64_t chunks;                 /* that the tiles are summed in */
    real *chunk;                    /* [chunks,P] +=, or NULL */
} NP_REAL(np_fan);
#define np_fan NP_REAL(np_fan)

/* Kernels, tiles and chunks, when ctx and n are known. */
void NP_REAL(np_fan_begin)(np_fan *fan);

/* From an arena twice, NP_GEMM_SLACK included: keep; and the room of forward or backward. */
void NP_REAL(np_fan_keep_take)(np_arena *arena, np_fan *fan);
void NP_REAL(np_fan_room_take)(np_arena *arena, np_fan *fan);

void NP_REAL(np_fan_forward)(np_fan *fan);

/* After a forward with the same rows whose keep this is. */
void NP_REAL(np_fan_backward)(np_fan *fan);

#endif /* NP_FAN_H */
