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
#include "nn/lanes.h"
#include "nn/linear.h"

typedef struct NP_REAL(np_decoding) {
    npagg_ctx *ctx;
    const npagg_decoder *decoder;
    const np_linear *linear;
    const np_lanes *lanes;
    np_nets given, nets; /* as the caller has the parameters; aligned, P numbers */
    const real *params;
    int64_t n_sets, n, n_samples;
    const int64_t *offsets;
    const real *x, *z;       /* [N,X], [B,S,D] */
    real *py;                /* [N,S,outputs]: forward */
    const real *dpy;         /* backward */
    real *dparams, *dx, *dz; /* each may be NULL */

    np_plan plan;
    int64_t first;   /* H: outputs of the first layer of one network */
    int64_t outputs; /* numbers of a row of py */
    int32_t is_kept; /* keep is in a cache: one per tile, else grain_tiles or 1 per worker */
    real *keep;      /* what tiles leave for backward */
    real *turned, *straight; /* [P]: see nn/mlp.h */
    real *room;              /* of the workers */
    int64_t room_count;      /* of each */
    int64_t z_rows, z_tiles; /* tiles of (set, sample) pairs: rows of one, number */
    real *az;                /* [nets, z_tiles, z_rows, H] */
    real *unit_dz;           /* [units, unit_samples, nets, H]: gradient of az summed over points */
    real *tile_dx;           /* [tiles, tile_points, X] */
    int64_t chunks;          /* that the tiles are summed in */
    real *chunk;             /* [chunks,P] */
} NP_REAL(np_decoding);
#define np_decoding NP_REAL(np_decoding)

/* What one tile works on. R = NP_TILE_ROWS, Q = tile_points. */
typedef struct NP_REAL(np_decoding_tile) {
    int64_t first_unit, end_unit;
    int64_t rows, points;         /* in use */
    int64_t all_rows, all_points; /* to work on: those, or R and Q where products want that */
    real *x;                      /* [Q,X] */
    real *ax;                     /* [Q,H]: W_x x + b, or its gradient */
    real *a, *b;                  /* [R,widest] */
    real *keep[NP_MAX_NETS], *slope;
} NP_REAL(np_decoding_tile);
#define np_decoding_tile NP_REAL(np_decoding_tile)

/* Sizes that follow from decoder, offsets and n_samples. */
void NP_REAL(np_decoding_begin)(np_decoding *e);

/* From the arena twice: what the cache keeps; scratch. */
void NP_REAL(np_decoding_keep_take)(np_arena *arena, np_decoding *e);
void NP_REAL(np_decoding_forward_take)(np_arena *arena, np_decoding *e);
void NP_REAL(np_decoding_backward_take)(np_arena *arena, np_decoding *e);

/* slot: which keep is the tile's. */
np_decoding_tile NP_REAL(np_decoding_tile_begin)(const np_decoding *e, int64_t t, int64_t slot,
                                                 int32_t worker);

/* Rows to work on of tile t of (set, sample) pairs. */
int64_t NP_REAL(np_decoding_z_count)(const np_decoding *e, int64_t t);

/* to [z_count,D] = those rows of z, zeros where there is none. */
void NP_REAL(np_decoding_fill_z)(const np_decoding *e, int64_t t, real *to);

/* One tile. */
void NP_REAL(np_decoding_forward_tile)(const np_decoding *e, int64_t t, int64_t slot,
                                       int32_t worker);

/* The tiles of a grain, whose first one has that slot; from the last, which is the likeliest to be
 * in cache, to the first. grad [P] may be NULL. */
void NP_REAL(np_decoding_backward_grain)(const np_decoding *e, int64_t grain, int64_t slot,
                                         int32_t worker, real *grad);

/* What comes before all forward tiles, before and after all backward tiles. */
void NP_REAL(np_decoding_forward_begin)(np_decoding *e);
void NP_REAL(np_decoding_backward_begin)(np_decoding *e);
void NP_REAL(np_decoding_backward_end)(np_decoding *e);

void NP_REAL(np_decoding_forward)(np_decoding *e);
void NP_REAL(np_decoding_backward)(np_decoding *e);

/*
 * Forward and backward of a grain in turn while what it keeps is in the caches. Between the two
 * grade fills dpy for the rows of sets first .. end - 1 from their py; it returns 0 if it cannot,
 * and then *bad is 1 in the end and the gradients are of no use. Wants plan.has_parts == 0, and
 * dparams.
 */
typedef int (*np_grade_fn)(void *arg, int64_t first, int64_t end, int32_t worker);

void NP_REAL(np_decoding_step_take)(np_arena *arena, np_decoding *e);
void NP_REAL(np_decoding_step)(np_decoding *e, np_grade_fn grade, void *arg, int *bad);

/* As npagg_decoder_forward and _backward in one; *done is 0 and nothing has been done if has_parts,
 * or if grade returned 0, which only leaves dparams and dz changed. */
npagg_status NP_REAL(np_decoder_step)(np_decoding *e, np_grade_fn grade, void *arg, int *done);

#endif /* NP_DECODING_H */
