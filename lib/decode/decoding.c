#include "decode/decoding.h"

#include <string.h>

#include "base/parallel.h"
#include "kernel/gemm.h"
#include "nn/mlp.h"

#define R NP_TILE_ROWS

void NP_REAL(np_decoding_begin)(np_decoding *e)
{
    e->linear = NP_REAL(np_linear_choose)(e->ctx->cpu);
    e->lanes = NP_REAL(np_lanes_choose)(e->ctx->cpu);
    e->given = np_decoder_nets(e->decoder);
    e->nets = np_nets_align(&e->given);
    e->plan = np_plan_begin(e->n_sets, e->offsets, e->n_samples);
    e->first = e->nets.net[0].width[1];
    e->z_rows = np_tile_rows(e->n_sets * e->n_samples, e->linear->pads);
    e->z_tiles = np_tile_count(e->n_sets * e->n_samples, e->z_rows);
    e->outputs = npagg_decoder_output_count(e->decoder);
}

/* Numbers that a tile keeps: of each network in turn, then the slope of the sd [R,Y]. */
static int64_t keep_count(const np_decoding *e)
{
    int64_t count = R * e->decoder->y_dim;
    for (int32_t i = 0; i < e->nets.n; i++)
        count += NP_REAL(np_mlp_keep_count)(&e->nets.net[i]);
    return count;
}

/* Columns that hold a row of any layer, or of z. */
static int64_t widest(const np_decoding *e)
{
    return np_max(np_mlp_widest(&e->nets.net[0]), e->decoder->d);
}

void NP_REAL(np_decoding_keep_take)(np_arena *arena, np_decoding *e)
{
    const int64_t owners = e->is_kept ? e->plan.tiles : np_threads(e->ctx);
    e->keep = NP_TAKE2(arena, owners, keep_count(e), real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

/* What both directions need; once per call. */
static void take_room(np_arena *arena, np_decoding *e)
{
    np_plan_take(arena, &e->plan);
    e->room_count = e->plan.tile_points * (e->decoder->x_dim + e->first) + 3 * R * widest(e);
    e->room_count = (e->room_count / 16 + 1) * 16; /* all begin at cache lines */
    e->room = NP_TAKE2(arena, np_threads(e->ctx), e->room_count, real);
}

static void take_forward(np_arena *arena, np_decoding *e)
{
    e->turned = NP_TAKE(arena, e->nets.params, real);
    e->az = NP_TAKE2(arena, e->nets.n * e->z_tiles, e->z_rows * e->first, real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

static void take_backward(np_arena *arena, np_decoding *e)
{
    const np_plan *plan = &e->plan;
    e->straight = NP_TAKE(arena, e->nets.params, real);
    e->chunks = np_chunk_count(plan->grains);
    if (e->dparams)
        e->chunk = NP_TAKE2(arena, e->chunks, e->nets.params, real);
    if (e->dx)
        e->tile_dx = NP_TAKE2(arena, plan->tiles, plan->tile_points * e->decoder->x_dim, real);
    e->unit_dz = NP_TAKE2(arena, plan->units, plan->unit_samples * e->nets.n * e->first, real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

void NP_REAL(np_decoding_forward_take)(np_arena *arena, np_decoding *e)
{
    take_room(arena, e);
    take_forward(arena, e);
    if (!e->is_kept)
        NP_REAL(np_decoding_keep_take)(arena, e);
}

void NP_REAL(np_decoding_backward_take)(np_arena *arena, np_decoding *e)
{
    take_room(arena, e);
    take_backward(arena, e);
}

void NP_REAL(np_decoding_step_take)(np_arena *arena, np_decoding *e)
{
    take_room(arena, e);
    take_forward(arena, e);
    take_backward(arena, e);
    e->keep = np_arena_take(arena, np_threads(e->ctx), e->plan.grain_tiles,
                            (size_t)keep_count(e) * sizeof(real));
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

/* x [all_points,X] = the points of the tile's units, zeros below. */
static void fill_points(const np_decoding *e, np_decoding_tile *tile)
{
    const int64_t xd = e->decoder->x_dim;
    for (int64_t u = tile->first_unit; u < tile->end_unit && xd > 0; u++) {
        const np_unit *unit = &e->plan.unit[u];
        memcpy(tile->x + unit->slot * xd, e->x + unit->point * xd,
               (size_t)(unit->points * xd) * sizeof(real));
    }
    memset(tile->x + tile->points * xd, 0,
           (size_t)((tile->all_points - tile->points) * xd) * sizeof(real));
}

np_decoding_tile NP_REAL(np_decoding_tile_begin)(const np_decoding *e, int64_t t, int64_t slot,
                                                 int32_t worker)
{
    const np_plan *plan = &e->plan;
    np_decoding_tile tile = {.first_unit = plan->tile_unit[t], .end_unit = plan->tile_unit[t + 1]};
    const np_unit *last = &plan->unit[tile.end_unit - 1];
    tile.rows = last->row + last->points * last->samples;
    tile.points = last->slot + last->points;
    tile.all_rows = e->linear->pads ? R : tile.rows;
    tile.all_points = e->linear->pads ? plan->tile_points : tile.points;
    tile.a = e->room + worker * e->room_count;
    tile.b = tile.a + R * widest(e);
    tile.ax = tile.b + R * widest(e);
    tile.x = tile.ax + plan->tile_points * e->first;
    real *keep = e->keep + slot * keep_count(e);
    for (int32_t i = 0; i < e->nets.n; i++) {
        tile.keep[i] = keep;
        keep += NP_REAL(np_mlp_keep_count)(&e->nets.net[i]);
    }
    tile.slope = keep;
    fill_points(e, &tile);
    return tile;
}

/* Rows of z that are in tile t. */
static int64_t rows_of_z(const np_decoding *e, int64_t t)
{
    return np_min(e->z_rows, e->n_sets * e->n_samples - t * e->z_rows);
}

int64_t NP_REAL(np_decoding_z_count)(const np_decoding *e, int64_t t)
{
    return e->linear->pads ? e->z_rows : rows_of_z(e, t);
}

void NP_REAL(np_decoding_fill_z)(const np_decoding *e, int64_t t, real *to)
{
    const int64_t d = e->decoder->d, n = rows_of_z(e, t);
    memcpy(to, e->z + t * e->z_rows * d, (size_t)(n * d) * sizeof(real));
    memset(to + n * d, 0, (size_t)((NP_REAL(np_decoding_z_count)(e, t) - n) * d) * sizeof(real));
}
