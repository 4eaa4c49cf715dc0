/* The mlp encoder: m = mean net, v = lo + (hi - lo) sigmoid(var net), tile by tile. */
#include <string.h>

#include "base/parallel.h"
#include "encode/encoder_kind.h"
#include "kernel/gemm.h"
#include "nn/chunk.h"
#include "nn/mlp.h"

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
    const int64_t owners = e->is_kept ? e->tiles : np_threads(e->ctx);
    e->keep = NP_TAKE2(arena, owners, keep_count(e), real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

/* What one tile works on. */
typedef struct rows_tile {
    int64_t first, n; /* rows of the batch, n <= R */
    int64_t rows;     /* to work on: n, or R where products want that */
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
    const int64_t first = t * e->tile_rows;
    rows_tile tile = {.first = first, .n = np_min(e->tile_rows, e->n - first)};
    tile.rows = e->linear->pads ? R : tile.n;
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

/* to [rows,columns] = the tile's rows of from [N,columns], zeros below. */
static void fill_rows(const rows_tile *tile, int64_t columns, const real *from, real *to)
{
    memcpy(to, from + tile->first * columns, (size_t)(tile->n * columns) * sizeof(real));
    memset(to + tile->n * columns, 0, (size_t)((tile->rows - tile->n) * columns) * sizeof(real));
}

/* out [rows,D] = the gradient of the var net's output from dv, zeros below. */
static void fill_variance(const np_encoding *e, const rows_tile *tile)
{
    const int64_t d = e->encoder->d;
    e->lanes->multiply(tile->n * d, e->dv + tile->first * d, tile->slope, tile->out);
    memset(tile->out + tile->n * d, 0, (size_t)((tile->rows - tile->n) * d) * sizeof(real));
}

/* in [rows,X+Y] = [x, y]. */
static void fill_input(const np_encoding *e, const rows_tile *tile)
{
    const int64_t xd = e->encoder->x_dim, yd = e->encoder->y_dim;
    memset(tile->in, 0, (size_t)(tile->rows * (xd + yd)) * sizeof(real));
    for (int64_t i = 0; i < tile->n; i++) {
        real *row = tile->in + i * (xd + yd);
        for (int64_t j = 0; j < xd; j++)
            row[j] = e->x[(tile->first + i) * xd + j];
        for (int64_t j = 0; j < yd; j++)
            row[xd + j] = e->y[(tile->first + i) * yd + j];
    }
}

/* v [n,D] and its slope from the var net's output a. */
static void forward_variance(const np_encoding *e, int64_t n, const real *a, real *v, real *slope)
{
    const npagg_encoder *encoder = e->encoder;
    e->lanes->sigmoid(n * encoder->d, (real)encoder->var_lo,
                      (real)(encoder->var_hi - encoder->var_lo), a, v, slope);
}

/* m [n,D] = net i of base, through out if there are more rows. */
static void forward_mean(const np_encoding *e, const rows_tile *tile, int32_t i, const real *base)
{
    const int64_t d = e->encoder->d;
    real *m = e->m + tile->first * d, *to = tile->rows > tile->n ? tile->out : m;
    NP_REAL(np_mlp_forward)
    (e->linear, &e->nets.net[i], e->turned, 0, tile->rows, base, tile->keep[i], to);
    if (to != m)
        memcpy(m, to, (size_t)(tile->n * d) * sizeof(real));
}

static void forward_tile(void *arg, int64_t t, int32_t worker)
{
    const np_encoding *e = arg;
    const np_mlp *net = e->nets.net;
    const rows_tile tile = begin_tile(e, t, worker);
    const real *base = tile.in;
    int32_t i = 0;
    fill_input(e, &tile);
    if (e->encoder->trunk) {
        base = NP_REAL(np_mlp_forward)(e->linear, &net[0], e->turned, 0, tile.rows, base,
                                       tile.keep[0], NULL);
        i++;
    }
    forward_mean(e, &tile, i, base);
    NP_REAL(np_mlp_forward)
    (e->linear, &net[i + 1], e->turned, 0, tile.rows, base, tile.keep[i + 1], tile.out);
    forward_variance(e, tile.n, tile.out, e->v + tile.first * e->encoder->d, tile.slope);
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
    NP_REAL(np_nets_lay_out)(e->ctx, &e->given, e->params, &e->nets, e->turned, NULL);
    np_parallel(e->ctx, e->tiles, forward_tile, e);
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
    (e->linear, &net[i], e->straight, 0, tile->rows, tile->n, base, tile->keep[i], tile->out,
     tile->work, grad, beta, dbase);
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
        fill_variance(e, &tile);
        backward_head(e, &tile, head + 1, grad, e->dm ? 1 : 0);
    }
    if (e->encoder->trunk) {
        din = e->dx || e->dy ? tile.out : NULL;
        NP_REAL(np_mlp_backward)
        (e->linear, &e->nets.net[0], e->straight, 0, tile.rows, tile.n, tile.in, tile.keep[0],
         tile.base, tile.work, grad, 0, din);
    }
    if (e->dx || e->dy)
        add_input(e, &tile, din);
}

static void backward_chunk(void *arg, int64_t c, int32_t worker)
{
    const np_encoding *e = arg;
    const int64_t tiles = e->tiles, p = e->nets.params;
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
    e->straight = NP_TAKE(arena, e->nets.params, real);
    e->chunks = np_chunk_count(e->tiles);
    if (e->dparams)
        e->chunk = NP_TAKE2(arena, e->chunks, e->nets.params, real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

static void backward(np_encoding *e)
{
    if (!e->dm && !e->dv)
        return;
    NP_REAL(np_nets_lay_out)(e->ctx, &e->given, e->params, &e->nets, NULL, e->straight);
    np_parallel(e->ctx, e->chunks, backward_chunk, e);
    if (e->dparams)
        NP_REAL(np_chunk_sum)
    (e->ctx, e->chunks, &e->nets, e->chunk, &e->given, e->dparams);
}

const np_encoder_table NP_REAL(np_encoder_mlp) = {
    .keep_take = take_keep,
    .forward_take = take_forward,
    .backward_take = take_backward,
    .forward = forward,
    .backward = backward,
};
