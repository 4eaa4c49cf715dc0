#include "decode/decoding.h"

#include <string.h>

#include "base/parallel.h"
#include "kernel/gemm.h"
#include "nn/mlp.h"

#define R NP_TILE_ROWS

void NP_REAL(np_decoding_begin)(np_decoding *e)
{
    e->nets = np_decoder_nets(e->decoder);
    e->plan = np_plan_begin(e->n_sets, e->offsets, e->n_samples);
    e->first = e->nets.net[0].width[1];
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

static void take_room(np_arena *arena, np_decoding *e)
{
    np_plan_take(arena, &e->plan);
    e->room_count = e->plan.tile_points * (e->decoder->x_dim + e->first) + 3 * R * widest(e);
    e->room = NP_TAKE2(arena, np_threads(e->ctx), e->room_count, real);
}

void NP_REAL(np_decoding_forward_take)(np_arena *arena, np_decoding *e)
{
    take_room(arena, e);
    e->turned = NP_TAKE(arena, e->nets.params, real);
    e->az =
        NP_TAKE2(arena, e->nets.n * np_tile_count(e->n_sets * e->n_samples), R * e->first, real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
    if (!e->is_kept)
        NP_REAL(np_decoding_keep_take)(arena, e);
}

void NP_REAL(np_decoding_backward_take)(np_arena *arena, np_decoding *e)
{
    const np_plan *plan = &e->plan;
    take_room(arena, e);
    e->chunks = np_chunk_count(plan->tiles);
    if (e->dparams)
        e->chunk = NP_TAKE2(arena, e->chunks, e->nets.params, real);
    if (e->dx)
        e->tile_dx = NP_TAKE2(arena, plan->tiles, plan->tile_points * e->decoder->x_dim, real);
    if (e->dz || e->dparams) {
        e->unit_dz = NP_TAKE2(arena, plan->units, plan->unit_samples * e->nets.n * e->first, real);
        e->sum = NP_TAKE2(arena, np_threads(e->ctx), e->nets.n * e->first, double);
    }
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

/* x [Q,X] = the points of the tile's units, zeros below. */
static void fill_points(const np_decoding *e, np_decoding_tile *tile)
{
    const int64_t xd = e->decoder->x_dim;
    for (int64_t u = tile->first_unit; u < tile->end_unit && xd > 0; u++) {
        const np_unit *unit = &e->plan.unit[u];
        memcpy(tile->x + unit->slot * xd, e->x + unit->point * xd,
               (size_t)(unit->points * xd) * sizeof(real));
    }
    memset(tile->x + tile->points * xd, 0,
           (size_t)((e->plan.tile_points - tile->points) * xd) * sizeof(real));
}

np_decoding_tile NP_REAL(np_decoding_tile_begin)(const np_decoding *e, int64_t t, int32_t worker)
{
    const np_plan *plan = &e->plan;
    np_decoding_tile tile = {plan->tile_unit[t], plan->tile_unit[t + 1], 0, 0, .x = NULL};
    const np_unit *last = &plan->unit[tile.end_unit - 1];
    tile.rows = last->row + last->points * last->samples;
    tile.points = last->slot + last->points;
    tile.a = e->room + worker * e->room_count;
    tile.b = tile.a + R * widest(e);
    tile.ax = tile.b + R * widest(e);
    tile.x = tile.ax + plan->tile_points * e->first;
    real *keep = e->keep + (e->is_kept ? t : worker) * keep_count(e);
    for (int32_t i = 0; i < e->nets.n; i++) {
        tile.keep[i] = keep;
        keep += NP_REAL(np_mlp_keep_count)(&e->nets.net[i]);
    }
    tile.slope = keep;
    fill_points(e, &tile);
    return tile;
}

void NP_REAL(np_decoding_fill_z)(const np_decoding *e, int64_t first, real *to)
{
    const int64_t d = e->decoder->d, n = np_min(R, e->n_sets * e->n_samples - first);
    memcpy(to, e->z + first * d, (size_t)(n * d) * sizeof(real));
    memset(to + n * d, 0, (size_t)((R - n) * d) * sizeof(real));
}
