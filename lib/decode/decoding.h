/*
 * One call of the mlp decoder.
 *
 * The first layer is split (MATHS 9): W [z; x] + b = W_z z + (W_x x + b). W_z z is computed once
 * per (set, sample), W_x x + b once per point of a tile, and their sum per row of the tile. So
 *   forward   1. az = W_z z, in tiles of (set, sample) pairs
 *             2. tiles of (point, sample) pairs through the rest of the networks
 *   backward  2. the same tiles back to the gradient of the first layer, summed over the samples
 *                for x and over the points of each unit for z
 *             1. units added up, and back through W_z
 */
#ifndef NP_DECODING_H
#define NP_DECODING_H

#include "base/real.h"
#include "decode/decoder.h"
#include "decode/plan.h"

typedef struct NP_REAL(np_decoding) {
    npagg_ctx *ctx;
    const npagg_decoder *decoder;
    np_nets nets;
    const real *params; /* [P] */
    int64_t n_sets, n, n_samples;
    const int64_t *offsets;
    const real *x, *z;       /* [N,X], [B,S,D] */
    real *py;                /* [N,S,outputs]: forward */
    const real *dpy;         /* backward */
    real *dparams, *dx, *dz; /* each may be NULL */

    np_plan plan;
    int64_t first;      /* H: outputs of the first layer of one network */
    int64_t outputs;    /* numbers of a row of py */
    int32_t is_kept;    /* keep is in a cache: one per tile, else one per worker */
    real *keep;         /* what tiles leave for backward */
    real *turned;       /* [P]: see nn/mlp.h */
    real *room;         /* of the workers */
    int64_t room_count; /* of each */
    real *az;           /* [nets, z tiles, R, H] */
    real *unit_dz;      /* [units, unit_samples, nets, H]: gradient of az summed over points */
    real *tile_dx;      /* [tiles, tile_points, X] */
    double *sum;        /* [workers, nets, H] */
    int64_t chunks;     /* that the tiles are summed in */
    real *chunk;        /* [chunks,P] */
} NP_REAL(np_decoding);
#define np_decoding NP_REAL(np_decoding)

/* What one tile works on. R = NP_TILE_ROWS, Q = tile_points. */
typedef struct NP_REAL(np_decoding_tile) {
    int64_t first_unit, end_unit;
    int64_t rows, points; /* in use */
    real *x;              /* [Q,X] */
    real *ax;             /* [Q,H]: W_x x + b, or its gradient */
    real *a, *b;          /* [R,widest] */
    real *keep[NP_MAX_NETS], *slope;
} NP_REAL(np_decoding_tile);
#define np_decoding_tile NP_REAL(np_decoding_tile)

/* Sizes that follow from decoder, offsets and n_samples. */
void NP_REAL(np_decoding_begin)(np_decoding *e);

/* From the arena twice: what the cache keeps; scratch. */
void NP_REAL(np_decoding_keep_take)(np_arena *arena, np_decoding *e);
void NP_REAL(np_decoding_forward_take)(np_arena *arena, np_decoding *e);
void NP_REAL(np_decoding_backward_take)(np_arena *arena, np_decoding *e);

np_decoding_tile NP_REAL(np_decoding_tile_begin)(const np_decoding *e, int64_t t, int32_t worker);

/* to [R,D] = rows first .. first + R - 1 of z, zeros where there is none. */
void NP_REAL(np_decoding_fill_z)(const np_decoding *e, int64_t first, real *to);

void NP_REAL(np_decoding_forward)(np_decoding *e);
void NP_REAL(np_decoding_backward)(np_decoding *e);

#endif /* NP_DECODING_H */
