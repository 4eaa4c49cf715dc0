/*
 * How the (point, sample) pairs of a batch are laid into tiles.
 *
 * A set is cut into units, a few points by all samples (or by a range of them if they are more than
 * a tile has rows), counted from its own first point. A tile holds whole units, one behind the
 * other, of one or several sets. Sums over points and samples are made inside a unit and then over
 * the units of a set in order: so they do not depend on the other sets of the batch. Rows of a unit
 * are point by point.
 *
 * A grain is a run of tiles that holds whole sets, small enough that what its tiles keep stays in
 * the cache of one core; it begins a tile. Only sets with more than NP_GRAIN_LARGEST rows are cut
 * into several grains: has_parts says that there is such a set. Chunks of grains are what gradients
 * of parameters are summed in.
 */
#ifndef NP_PLAN_H
#define NP_PLAN_H

#include "base/arena.h"

#define NP_GRAIN_ROWS 256     /* a grain with so many rows takes no further set */
#define NP_GRAIN_LARGEST 2048 /* rows of the largest set that is one grain */

typedef struct np_unit {
    int64_t set, point, sample; /* its first point in the batch, its first sample */
    int32_t points, samples;
    int32_t row, slot; /* where its rows and its points begin in the tile */
} np_unit;

typedef struct np_plan {
    int64_t n_sets, n_samples;
    const int64_t *offsets;
    int64_t unit_points, unit_samples; /* of a full unit */
    int64_t tile_points;               /* most points of a tile */
    int64_t units, tiles, grains;
    int64_t grain_tiles;         /* most tiles of a grain */
    int32_t has_parts, is_large; /* of any set; of the one being laid out */
    np_unit *unit;               /* [units] */
    int64_t *tile_unit;          /* [tiles+1]: its first unit */
    int64_t *set_unit;           /* [B+1] */
    int64_t *grain_tile;         /* [grains+1]: its first tile */
    int64_t *grain_set;          /* [grains+1]: its first set */
} np_plan;

/* Sizes and counts. */
np_plan np_plan_begin(int64_t n_sets, const int64_t *offsets, int64_t n_samples);

/* Arrays from the arena; fills them if it has memory. */
void np_plan_take(np_arena *arena, np_plan *plan);

#endif /* NP_PLAN_H */
