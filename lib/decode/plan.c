#include "decode/plan.h"

#include "base/size.h"
#include "nn/tile.h"

enum { UNITS_PER_TILE = 4 }; /* of a large set: smaller units pad less, larger ones sum less */

/* Where the walk over all units is. */
typedef struct walk {
    int64_t unit, tile;
    int64_t row, slot; /* rows and points in the last tile; row = a tile's: begin another */
} walk;

static void begin_tile(np_plan *plan, walk *at)
{
    if (plan->tile_unit)
        plan->tile_unit[at->tile] = at->unit;
    at->tile++;
    at->row = 0;
    at->slot = 0;
}

static void add_unit(np_plan *plan, walk *at, np_unit unit)
{
    const int64_t rows = (int64_t)unit.points * unit.samples;
    if (at->row + rows > NP_TILE_ROWS || at->slot + unit.points > plan->tile_points)
        begin_tile(plan, at);
    unit.row = (int32_t)at->row;
    unit.slot = (int32_t)at->slot;
    if (plan->unit)
        plan->unit[at->unit] = unit;
    at->unit++;
    at->row += rows;
    at->slot += unit.points;
}

static void add_set(np_plan *plan, walk *at, int64_t b)
{
    const int64_t end = plan->offsets[b + 1], s_end = plan->n_samples;
    for (int64_t i = plan->offsets[b]; i < end; i += plan->unit_points)
        for (int64_t s = 0; s < s_end; s += plan->unit_samples) {
            const np_unit unit = {.set = b,
                                  .point = i,
                                  .sample = s,
                                  .points = (int32_t)np_min(plan->unit_points, end - i),
                                  .samples = (int32_t)np_min(plan->unit_samples, s_end - s)};
            add_unit(plan, at, unit);
        }
}

/* Counts, and fills the arrays that are there. */
static void walk_sets(np_plan *plan)
{
    walk at = {.row = NP_TILE_ROWS};
    for (int64_t b = 0; b < plan->n_sets; b++) {
        if (plan->set_unit)
            plan->set_unit[b] = at.unit;
        add_set(plan, &at, b);
    }
    if (plan->set_unit) {
        plan->set_unit[plan->n_sets] = at.unit;
        plan->tile_unit[at.tile] = at.unit;
    }
    plan->units = at.unit;
    plan->tiles = at.tile;
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
    if (plan->set_unit)
        walk_sets(plan);
}
