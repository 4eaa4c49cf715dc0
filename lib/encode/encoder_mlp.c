/* The mlp encoder: m = mean net, v = lo + (hi - lo) sigmoid(var net), tile by tile. */
#include <string.h>

#include "base/parallel.h"
#include "encode/encoder_kind.h"
#include "kernel/gemm.h"
#include "nn/chunk.h"
#include "nn/mlp.h"
#include "nn/scalar.h"

#define R NP_TILE_ROWS

/* Numbers that a tile keeps: of each network in turn, then the slope dv/d(var net) [R,D]. */
static int64_t keep_count(const np_encoding *e)
{
    int64_t count = R * e->encoder->d;
    for (int32_t i = 0; i < e->nets.n; i++)
        count += NP_REAL(np_mlp_keep_count)(&e->nets.net[i]);
    return count;
}

static int64_t widest(const np_encoding *e)
{
    int64_t width = 0;
    for (int32_t i = 0; i < e->nets.n; i++)
        width = np_max(width, np_mlp_widest(&e->nets.net[i]));
    return width;
}

static void take_keep(np_arena *arena, np_encoding *e)
{
    const int64_t owners = e->is_kept ? np_tile_count(e->n) : np_threads(e->ctx);
    e->keep = NP_TAKE2(arena, owners, keep_count(e), real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

/* What one tile works on. */
typedef struct rows_tile {
    int64_t first, n; /* rows of the batch, n <= R */
    real *in;         /* [R,X+Y] */
    real *out, *work; /* [R,widest] */
    real *base;       /* [R,widest]: gradient of what both heads read */
    real *keep[NP_MAX_NETS], *slope;
} rows_tile;

static int64_t room_count(const np_encoding *e)
{
    return R * (e->nets.net[0].width[0] + 3 * np_max(widest(e), e->nets.net[0].width[0]));
}

static rows_tile begin_tile(const np_encoding *e, int64_t t, int32_t worker)
{
    const int64_t in = e->nets.net[0].width[0], wide = np_max(widest(e), in);
    rows_tile tile = {.first = t * R, .n = np_min(R, e->n - t * R)};
    tile.in = e->room + worker * e->room_count;
    tile.out = tile.in + R * in;
    tile.work = tile.out + R * wide;
    tile.base = tile.work + R * wide;
    real *keep = e->keep + (e->is_kept ? t : worker) * keep_count(e);
    for (int32_t i = 0; i < e->nets.n; i++) {
        tile.keep[i] = keep;
        keep += NP_REAL(np_mlp_keep_count)(&e->nets.net[i]);
    }
    tile.slope = keep;
    return tile;
}

/* to [R,columns] = the tile's rows of from [N,columns], zeros below. */
static void fill_rows(const rows_tile *tile, int64_t columns, const real *from, real *to)
{
    memcpy(to, from + tile->first * columns, (size_t)(tile->n * columns) * sizeof(real));
    memset(to + tile->n * columns, 0, (size_t)((R - tile->n) * columns) * sizeof(real));
}

/* in [R,X+Y] = [x, y]. */
static void fill_input(const np_encoding *e, const rows_tile *tile)
{
    const int64_t xd = e->encoder->x_dim, yd = e->encoder->y_dim;
    memset(tile->in, 0, (size_t)(R * (xd + yd)) * sizeof(real));
    for (int64_t i = 0; i < tile->n; i++) {
        real *row = tile->in + i * (xd + yd);
        for (int64_t j = 0; j < xd; j++)
            row[j] = e->x[(tile->first + i) * xd + j];
        for (int64_t j = 0; j < yd; j++)
            row[xd + j] = e->y[(tile->first + i) * yd + j];
    }
}

/* v [n,D] and its slope from the var net's output a. lo + (hi - lo) s rounds to no less than lo. */
static void forward_variance(const np_encoding *e, int64_t n, const real *a, real *v, real *slope)
{
    const real lo = (real)e->encoder->var_lo,
               span = (real)(e->encoder->var_hi - e->encoder->var_lo);
    for (int64_t i = 0; i < n * e->encoder->d; i++) {
        const real c = np_exp(-np_abs(a[i])), s = 1 / (1 + c);
        v[i] = lo + span * (a[i] < 0 ? c * s : s);
        slope[i] = span * c * s * s;
    }
}

static void forward_tile(void *arg, int64_t t, int32_t worker)
{
    const np_encoding *e = arg;
    const np_mlp *net = e->nets.net;
    const rows_tile tile = begin_tile(e, t, worker);
    const int64_t d = e->encoder->d, at = tile.first * d;
    const real *base = tile.in;
    int32_t i = 0;
    fill_input(e, &tile);
    if (e->encoder->trunk) {
        base = NP_REAL(np_mlp_forward)(&net[0], e->turned, 0, base, tile.keep[0], NULL);
        i++;
    }
    NP_REAL(np_mlp_forward)(&net[i], e->turned, 0, base, tile.keep[i], tile.out);
    memcpy(e->m + at, tile.out, (size_t)(tile.n * d) * sizeof(real));
    NP_REAL(np_mlp_forward)(&net[i + 1], e->turned, 0, base, tile.keep[i + 1], tile.out);
    forward_variance(e, tile.n, tile.out, e->v + at, tile.slope);
}

static void take_forward(np_arena *arena, np_encoding *e)
{
    e->room_count = room_count(e);
    e->room = NP_TAKE2(arena, np_threads(e->ctx), e->room_count, real);
    e->turned = NP_TAKE(arena, e->nets.params, real);
    if (!e->is_kept)
        take_keep(arena, e);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

static void forward(np_encoding *e)
{
    NP_REAL(np_nets_turn)(&e->nets, e->params, e->turned);
    np_parallel(e->ctx, np_tile_count(e->n), forward_tile, e);
}

/* From the gradient of one head's output, in tile->out, to that of what it reads: base + beta base.
 */
static void backward_head(const np_encoding *e, const rows_tile *tile, int32_t i, real *grad,
                          real beta)
{
    const np_mlp *net = e->nets.net;
    const int trunk = e->encoder->trunk;
    const real *base =
        trunk ? NP_REAL(np_mlp_kept)(&net[0], net[0].layers - 1, tile->keep[0]) : tile->in;
    real *dbase = trunk || e->dx || e->dy ? tile->base : NULL;
    NP_REAL(np_mlp_backward)
    (&net[i], e->params, 0, tile->n, base, tile->keep[i], tile->out, tile->work, grad, beta, dbase);
}

/* dx, dy += their columns of the gradient of in. */
static void add_input(const np_encoding *e, const rows_tile *tile, const real *din)
{
    const int64_t xd = e->encoder->x_dim, yd = e->encoder->y_dim;
    for (int64_t i = 0; i < tile->n; i++) {
        const real *row = din + i * (xd + yd);
        for (int64_t j = 0; j < xd && e->dx; j++)
            e->dx[(tile->first + i) * xd + j] += row[j];
        for (int64_t j = 0; j < yd && e->dy; j++)
            e->dy[(tile->first + i) * yd + j] += row[xd + j];
    }
}

static void backward_tile(const np_encoding *e, int64_t t, int32_t worker, real *grad)
{
    const rows_tile tile = begin_tile(e, t, worker);
    const int64_t d = e->encoder->d;
    const int32_t head = e->encoder->trunk;
    real *din = tile.base;
    fill_input(e, &tile);
    if (e->dm) {
        fill_rows(&tile, d, e->dm, tile.out);
        backward_head(e, &tile, head, grad, 0);
    }
    if (e->dv) {
        fill_rows(&tile, d, e->dv, tile.out);
        for (int64_t i = 0; i < tile.n * d; i++)
            tile.out[i] *= tile.slope[i];
        backward_head(e, &tile, head + 1, grad, e->dm ? 1 : 0);
    }
    if (e->encoder->trunk) {
        din = e->dx || e->dy ? tile.out : NULL;
        NP_REAL(np_mlp_backward)
        (&e->nets.net[0], e->params, 0, tile.n, tile.in, tile.keep[0], tile.base, tile.work, grad,
         0, din);
    }
    if (e->dx || e->dy)
        add_input(e, &tile, din);
}

static void backward_chunk(void *arg, int64_t c, int32_t worker)
{
    const np_encoding *e = arg;
    const int64_t tiles = np_tile_count(e->n), p = e->nets.params;
    real *grad = e->dparams ? e->chunk + c * p : NULL;
    if (grad)
        memset(grad, 0, (size_t)p * sizeof(real));
    for (int64_t t = np_chunk_first(tiles, e->chunks, c);
         t < np_chunk_first(tiles, e->chunks, c + 1); t++)
        backward_tile(e, t, worker, grad);
}

static void take_backward(np_arena *arena, np_encoding *e)
{
    e->room_count = room_count(e);
    e->room = NP_TAKE2(arena, np_threads(e->ctx), e->room_count, real);
    e->chunks = np_chunk_count(np_tile_count(e->n));
    if (e->dparams)
        e->chunk = NP_TAKE2(arena, e->chunks, e->nets.params, real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

static void backward(np_encoding *e)
{
    if (!e->dm && !e->dv)
        return;
    np_parallel(e->ctx, e->chunks, backward_chunk, e);
    if (e->dparams)
        NP_REAL(np_chunk_sum)(e->ctx, e->chunks, e->nets.params, e->chunk, e->dparams);
}

const np_encoder_table NP_REAL(np_encoder_mlp) = {
    .keep_take = take_keep,
    .forward_take = take_forward,
    .backward_take = take_backward,
    .forward = forward,
    .backward = backward,
};
