#include "nn/residual.h"

#include <string.h>

#include "base/parallel.h"
#include "kernel/gemm.h"
#include "nn/tile.h"

#define R NP_TILE_ROWS

enum { FC, NORM1, NORM2 }; /* from r->first on */

/* A tile keeps o and f = relu(fc o) [R,width], and the stats of both norms [R,2]. */
static int64_t keep_count(const np_residual *r)
{
    return R * (2 * r->width + 4);
}

static int64_t room_count(const np_residual *r)
{
    return 3 * R * r->width;
}

void NP_REAL(np_residual_begin)(np_residual *r)
{
    r->linear = NP_REAL(np_linear_choose)(r->ctx->cpu);
    r->lanes = NP_REAL(np_lanes_choose)(r->ctx->cpu);
    r->tile_rows = np_tile_rows(r->n, r->linear->pads);
    r->tiles = np_tile_count(r->n, r->tile_rows);
    r->chunks = np_chunk_count(r->tiles);
}

void NP_REAL(np_residual_keep_take)(np_arena *arena, np_residual *r)
{
    const int64_t owners = r->is_kept ? r->tiles : np_threads(r->ctx);
    r->keep = NP_TAKE2(arena, owners, keep_count(r), real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

void NP_REAL(np_residual_room_take)(np_arena *arena, np_residual *r)
{
    r->room = NP_TAKE2(arena, np_threads(r->ctx), room_count(r), real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

/* What one tile works on. */
typedef struct rows_tile {
    int64_t first, n;         /* rows of the batch, n <= R */
    int64_t rows;             /* to work on: n, or R where products want that */
    real *o, *f;              /* [R,width]: kept */
    real *stats[2];           /* [R,2]: kept */
    real *sum, *grad, *inner; /* [R,width]: what a norm reads; gradients of o and of fc o */
} rows_tile;

static rows_tile begin_tile(const np_residual *r, int64_t t, int32_t worker)
{
    const int64_t first = t * r->tile_rows, size = R * r->width;
    rows_tile tile = {.first = first, .n = np_min(r->tile_rows, r->n - first)};
    tile.rows = r->linear->pads ? R : tile.n;
    tile.o = r->keep + (r->is_kept ? t : worker) * keep_count(r);
    tile.f = tile.o + size;
    tile.stats[0] = tile.f + size;
    tile.stats[1] = tile.stats[0] + 2 * R;
    tile.sum = r->room + worker * room_count(r);
    tile.grad = tile.sum + size;
    tile.inner = tile.grad + size;
    return tile;
}

static int64_t weight_at(const np_residual *r, int32_t i)
{
    return np_mlp_weight(&r->nets->net[r->first + i], 0);
}

static int64_t bias_at(const np_residual *r, int32_t i)
{
    return np_mlp_bias(&r->nets->net[r->first + i], 0);
}

/* sum [rows,width] = q + a, zeros below. */
static void add_attended(const np_residual *r, const rows_tile *tile)
{
    const int64_t width = r->width;
    for (int64_t i = 0; i < tile->n; i++) {
        const real *q = r->q + r->source[tile->first + i] * width;
        const real *a = r->a + (tile->first + i) * width;
        real *sum = tile->sum + i * width;
        for (int64_t j = 0; j < width; j++)
            sum[j] = q[j] + a[j];
    }
    memset(tile->sum + tile->n * width, 0, (size_t)((tile->rows - tile->n) * width) * sizeof(real));
}

/* sum [n,width] = o + f. */
static void add_layer(const np_residual *r, const rows_tile *tile)
{
    for (int64_t i = 0; i < tile->n * r->width; i++)
        tile->sum[i] = tile->o[i] + tile->f[i];
}

static void forward_tile(void *arg, int64_t t, int32_t worker)
{
    const np_residual *r = arg;
    const int64_t width = r->width;
    const real *p = r->turned;
    const rows_tile tile = begin_tile(r, t, worker);
    add_attended(r, &tile);
    r->lanes->norm(tile.rows, width, tile.sum, p + weight_at(r, NORM1), p + bias_at(r, NORM1),
                   tile.stats[0], tile.o);
    r->linear->forward(tile.rows, width, width, p + weight_at(r, FC), p + bias_at(r, FC), 1, tile.o,
                       tile.f);
    add_layer(r, &tile);
    r->lanes->norm(tile.n, width, tile.sum, p + weight_at(r, NORM2), p + bias_at(r, NORM2),
                   tile.stats[1], r->y + tile.first * width);
}

void NP_REAL(np_residual_forward)(np_residual *r)
{
    np_parallel(r->ctx, r->tiles, forward_tile, r);
}

/* to [n,width] = the gradient of what norm i read, sum, from that of its output, g. */
static void backward_norm(const np_residual *r, const rows_tile *tile, int32_t i, const real *g,
                          real *to, real *grad)
{
    r->lanes->norm_backward(tile->n, r->width, tile->sum, r->straight + weight_at(r, i),
                            tile->stats[i - NORM1], g, to, grad ? grad + weight_at(r, i) : NULL,
                            grad ? grad + bias_at(r, i) : NULL);
}

/* grad [rows,width], the gradient of o + f, becomes that of o. */
static void backward_layer(const np_residual *r, const rows_tile *tile, real *grad)
{
    const int64_t width = r->width, n = tile->n * width;
    memset(tile->grad + n, 0, (size_t)(tile->rows * width - n) * sizeof(real));
    for (int64_t i = 0; i < tile->rows * width; i++)
        tile->inner[i] = tile->f[i] > 0 ? tile->grad[i] : 0;
    if (grad)
        r->linear->backward_params(tile->n, width, width, tile->o, tile->inner,
                                   grad + weight_at(r, FC), width, grad + bias_at(r, FC));
    r->linear->backward(tile->rows, width, width, r->straight + weight_at(r, FC), width,
                        tile->inner, 1, NULL, tile->grad);
}

static void backward_tile(const np_residual *r, int64_t t, int32_t worker, real *grad)
{
    const rows_tile tile = begin_tile(r, t, worker);
    real *d = r->d + tile.first * r->width;
    add_layer(r, &tile);
    backward_norm(r, &tile, NORM2, d, tile.grad, grad);
    backward_layer(r, &tile, grad);
    add_attended(r, &tile);
    backward_norm(r, &tile, NORM1, tile.grad, d, grad);
}

static void backward_chunk(void *arg, int64_t c, int32_t worker)
{
    const np_residual *r = arg;
    real *grad = r->chunk ? r->chunk + c * r->nets->params : NULL;
    for (int64_t t = np_chunk_first(r->tiles, r->chunks, c);
         t < np_chunk_first(r->tiles, r->chunks, c + 1); t++)
        backward_tile(r, t, worker, grad);
}

void NP_REAL(np_residual_backward)(np_residual *r)
{
    np_parallel(r->ctx, r->chunks, backward_chunk, r);
}
