#include "decode/plan.h"

#include "base/size.h"
#include "nn/tile.h"

enum { UNITS_PER_TILE = 4 }; /* of a large set: smaller units pad less, larger ones sum less */

/* Where the walk over all units is. */
typedef struct walk {
    int64_t unit, tile;
    int64_t row, slot;         /* rows and points in the last tile; row = a tile's: begin another */
    int64_t grain, first_tile; /* grains so far, the first tile of the last one */
    int64_t grain_rows;        /* rows of the last one; GRAIN_FULL: begin another */
} walk;

#define GRAIN_FULL INT64_MAX

static void begin_tile(np_plan *plan, walk *at)
{
    if (plan->tile_unit)
        plan->tile_unit[at->tile] = at->unit;
    at->tile++;
    at->row = 0;
    at->slot = 0;
}

static void end_grain(np_plan *plan, const walk *at)
{
    plan->grain_tiles = np_max(plan->grain_tiles, at->tile - at->first_tile);
}

/* From set b on; the next unit begins a tile. */
static void begin_grain(np_plan *plan, walk *at, int64_t b)
{
    end_grain(plan, at);
    if (plan->grain_tile) {
        plan->grain_tile[at->grain] = at->tile;
        plan->grain_set[at->grain] = at->grain == 0 ? 0 : b; /* sets without rows are in it */
    }
    at->grain++;
    at->first_tile = at->tile;
    at->grain_rows = 0;
    at->row = NP_TILE_ROWS;
}

static void add_unit(np_plan *plan, walk *at, np_unit unit)
{
    const int64_t rows = (int64_t)unit.points * unit.samples;
    if (at->grain_rows == GRAIN_FULL)
        begin_grain(plan, at, unit.set);
    if (at->row + rows > NP_TILE_ROWS || at->slot + unit.points > plan->tile_points)
        begin_tile(plan, at);
    unit.row = (int32_t)at->row;
    unit.slot = (int32_t)at->slot;
    if (plan->unit)
        plan->unit[at->unit] = unit;
    at->unit++;
    at->row += rows;
    at->slot += unit.points;
    at->grain_rows += rows;
    if (plan->is_large && at->grain_rows >= NP_GRAIN_ROWS)
        at->grain_rows = GRAIN_FULL;
}

static void add_set(np_plan *plan, walk *at, int64_t b)
{
    const int64_t end = plan->offsets[b + 1], s_end = plan->n_samples;
    plan->is_large = end - plan->offsets[b] > NP_GRAIN_LARGEST / s_end;
    plan->has_parts |= plan->is_large;
    if (plan->is_large || at->grain_rows >= NP_GRAIN_ROWS)
        at->grain_rows = GRAIN_FULL;
    for (int64_t i = plan->offsets[b]; i < end; i += plan->unit_points)
        for (int64_t s = 0; s < s_end; s += plan->unit_samples) {
            const np_unit unit = {.set = b,
                                  .point = i,
                                  .sample = s,
                                  .points = (int32_t)np_min(plan->unit_points, end - i),
                                  .samples = (int32_t)np_min(plan->unit_samples, s_end - s)};
            add_unit(plan, at, unit);
        }
    if (plan->is_large)
        at->grain_rows = GRAIN_FULL;
}

/* Counts, and fills the arrays that are there. */
static void walk_sets(np_plan *plan)
{
    walk at = {.row = NP_TILE_ROWS, .grain_rows = GRAIN_FULL};
    for (int64_t b = 0; b < plan->n_sets; b++) {
        if (plan->set_unit)
            plan->set_unit[b] = at.unit;
        add_set(plan, &at, b);
    }
    if (plan->set_unit) {
        plan->set_unit[plan->n_sets] = at.unit;
        plan->tile_unit[at.tile] = at.unit;
        plan->grain_tile[at.grain] = at.tile;
        plan->grain_set[at.grain] = plan->n_sets;
    }
    end_grain(plan, &at);
    plan->units = at.unit;
    plan->tiles = at.tile;
    plan->grains = at.grain;
}

np_plan np_plan_begin(int64_t n_sets, const int64_t *offsets, int64_t n_samples)
{
    np_plan plan = {.n_sets = n_sets, .offsets = offsets, .n_samples = n_samples};
    plan.unit_samples = np_min(n_samples, NP_TILE_ROWS);
    plan.unit_points = np_max(1, NP_TILE_ROWS / UNITS_PER_TILE / plan.unit_samples);
    plan.tile_points = NP_TILE_ROWS / plan.unit_samples;
    walk_sets(&plan);
    return plan;
}

void np_plan_take(np_arena *arena, np_plan *plan)
{
    plan->unit = NP_TAKE(arena, plan->units, np_unit);
    plan->tile_unit = NP_TAKE(arena, plan->tiles + 1, int64_t);
    plan->set_unit = NP_TAKE(arena, plan->n_sets + 1, int64_t);
    plan->grain_tile = NP_TAKE(arena, plan->grains + 1, int64_t);
    plan->grain_set = NP_TAKE(arena, plan->grains + 1, int64_t);
    if (plan->set_unit)
        walk_sets(plan);
}
