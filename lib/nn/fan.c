#include "nn/fan.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "kernel/gemm.h"
#include "nn/tile.h"

#define R NP_TILE_ROWS

static const np_mlp *find_net(const np_fan *f, int32_t i)
{
    return &f->nets->net[f->first + i];
}

static int32_t count_nets(const np_fan *f)
{
    return f->trunk + f->heads;
}

static int64_t head_width(const np_fan *f, int32_t head)
{
    const np_mlp *net = find_net(f, f->trunk + head);
    return net->width[net->layers];
}

/* Numbers of a row in the fan's widest array. */
static int64_t widest(const np_fan *f)
{
    int64_t width = f->x_dim + f->y_dim;
    for (int32_t i = 0; i < count_nets(f); i++)
        width = np_max(width, np_mlp_widest(find_net(f, i)));
    return width;
}

/* Numbers that a tile keeps: of each network in turn, then the slope of the squashed [R,width]. */
static int64_t keep_count(const np_fan *f)
{
    int64_t count = f->squash == NP_SQUASH_NONE ? 0 : R * head_width(f, f->heads - 1);
    for (int32_t i = 0; i < count_nets(f); i++)
        count += NP_REAL(np_mlp_keep_count)(find_net(f, i));
    return count;
}

static int64_t room_count(const np_fan *f)
{
    return R * (f->x_dim + f->y_dim + 3 * widest(f));
}

void NP_REAL(np_fan_begin)(np_fan *f)
{
    f->linear = NP_REAL(np_linear_choose)(f->ctx->cpu);
    f->lanes = NP_REAL(np_lanes_choose)(f->ctx->cpu);
    f->tile_rows = np_tile_rows(f->n, f->linear->pads);
    f->tiles = np_tile_count(f->n, f->tile_rows);
    f->chunks = np_chunk_count(f->tiles);
}

void NP_REAL(np_fan_keep_take)(np_arena *arena, np_fan *f)
{
    const int64_t owners = f->is_kept ? f->tiles : np_threads(f->ctx);
    f->keep = NP_TAKE2(arena, owners, keep_count(f), real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

void NP_REAL(np_fan_room_take)(np_arena *arena, np_fan *f)
{
    f->room = NP_TAKE2(arena, np_threads(f->ctx), room_count(f), real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
}

/* What one tile works on. */
typedef struct rows_tile {
    int64_t first, n; /* rows of the batch, n <= R */
    int64_t rows;     /* to work on: n, or R where products want that */
    real *in;         /* [R,x_dim+y_dim] */
    real *out, *work; /* [R,widest] */
    real *base;       /* [R,widest]: gradient of what the heads read */
    real *keep[NP_FAN_NETS], *slope;
} rows_tile;

static rows_tile begin_tile(const np_fan *f, int64_t t, int32_t worker)
{
    const int64_t in = f->x_dim + f->y_dim, wide = widest(f);
    const int64_t first = t * f->tile_rows;
    rows_tile tile = {.first = first, .n = np_min(f->tile_rows, f->n - first)};
    tile.rows = f->linear->pads ? R : tile.n;
    tile.in = f->room + worker * room_count(f);
    tile.out = tile.in + R * in;
    tile.work = tile.out + R * wide;
    tile.base = tile.work + R * wide;
    real *keep = f->keep + (f->is_kept ? t : worker) * keep_count(f);
    for (int32_t i = 0; i < count_nets(f); i++) {
        tile.keep[i] = keep;
        keep += NP_REAL(np_mlp_keep_count)(find_net(f, i));
    }
    tile.slope = keep;
    return tile;
}

/* in [rows,x_dim+y_dim] = [x, y], zeros below. */
static void fill_input(const np_fan *f, const rows_tile *tile)
{
    const int64_t xd = f->x_dim, yd = f->y_dim;
    memset(tile->in, 0, (size_t)(tile->rows * (xd + yd)) * sizeof(real));
    for (int64_t i = 0; i < tile->n; i++) {
        real *row = tile->in + i * (xd + yd);
        for (int64_t j = 0; j < xd; j++)
            row[j] = f->x[(tile->first + i) * xd + j];
        for (int64_t j = 0; j < yd; j++)
            row[xd + j] = f->y[(tile->first + i) * yd + j];
    }
}

/* s [n] and its slope from a; then s^2 and the slope of that. */
static void forward_squash(const np_fan *f, int64_t n, const real *a, real *s, real *slope)
{
    const double lo = f->squash == NP_SQUASH_SD ? sqrt(f->lo) : f->lo;
    const double hi = f->squash == NP_SQUASH_SD ? sqrt(f->hi) : f->hi;
    f->lanes->sigmoid(n, (real)lo, (real)(hi - lo), a, s, slope);
    for (int64_t i = 0; i < n && f->squash == NP_SQUASH_SD; i++) {
        slope[i] *= 2 * s[i];
        s[i] *= s[i];
    }
}

/* The rows of one head, straight to where they belong unless there are more than those. */
static void forward_head(const np_fan *f, const rows_tile *tile, int32_t head, const real *base)
{
    const int32_t i = f->trunk + head;
    const int64_t width = head_width(f, head);
    const int squash = f->squash != NP_SQUASH_NONE && head == f->heads - 1;
    real *out = f->out[head] + tile->first * width;
    real *to = squash || f->linear->pads ? tile->out : out;
    NP_REAL(np_mlp_forward)
    (f->linear, find_net(f, i), f->turned, 0, tile->rows, base, tile->keep[i], to);
    if (squash)
        forward_squash(f, tile->n * width, to, out, tile->slope);
    else if (to != out)
        memcpy(out, to, (size_t)(tile->n * width) * sizeof(real));
}

static void forward_tile(void *arg, int64_t t, int32_t worker)
{
    const np_fan *f = arg;
    const rows_tile tile = begin_tile(f, t, worker);
    const real *base = tile.in;
    fill_input(f, &tile);
    if (f->trunk)
        base = NP_REAL(np_mlp_forward)(f->linear, find_net(f, 0), f->turned, 0, tile.rows, base,
                                       tile.keep[0], NULL);
    for (int32_t head = 0; head < f->heads; head++)
        forward_head(f, &tile, head, base);
}

void NP_REAL(np_fan_forward)(np_fan *f)
{
    np_parallel(f->ctx, f->tiles, forward_tile, f);
}

/* out [rows,width] = the gradient of the head's last layer, zeros below. */
static void fill_gradient(const np_fan *f, const rows_tile *tile, int32_t head)
{
    const int64_t width = head_width(f, head), n = tile->n * width;
    const real *from = f->dout[head] + tile->first * width;
    if (f->squash != NP_SQUASH_NONE && head == f->heads - 1)
        f->lanes->multiply(n, from, tile->slope, tile->out);
    else
        memcpy(tile->out, from, (size_t)n * sizeof(real));
    memset(tile->out + n, 0, (size_t)((tile->rows - tile->n) * width) * sizeof(real));
}

/* From dout of one head to that of what it reads: base = it + beta base. */
static void backward_head(const np_fan *f, const rows_tile *tile, int32_t head, real *grad,
                          real beta)
{
    const int32_t i = f->trunk + head;
    const np_mlp *trunk = find_net(f, 0);
    const real *base =
        f->trunk ? NP_REAL(np_mlp_kept)(trunk, trunk->layers - 1, tile->keep[0]) : tile->in;
    real *dbase = f->trunk || f->dx || f->dy ? tile->base : NULL;
    fill_gradient(f, tile, head);
    NP_REAL(np_mlp_backward)
    (f->linear, find_net(f, i), f->straight, 0, tile->rows, tile->n, base, tile->keep[i], tile->out,
     tile->work, grad, beta, dbase);
}

/* dx, dy += their columns of the gradient of in. */
static void add_input(const np_fan *f, const rows_tile *tile, const real *din)
{
    const int64_t xd = f->x_dim, yd = f->y_dim;
    for (int64_t i = 0; i < tile->n; i++) {
        const real *row = din + i * (xd + yd);
        for (int64_t j = 0; j < xd && f->dx; j++)
            f->dx[(tile->first + i) * xd + j] += row[j];
        for (int64_t j = 0; j < yd && f->dy; j++)
            f->dy[(tile->first + i) * yd + j] += row[xd + j];
    }
}

static void backward_tile(const np_fan *f, int64_t t, int32_t worker, real *grad)
{
    const rows_tile tile = begin_tile(f, t, worker);
    real *din = tile.base;
    int begun = 0;
    fill_input(f, &tile);
    for (int32_t head = 0; head < f->heads; head++)
        if (f->dout[head]) {
            backward_head(f, &tile, head, grad, begun ? 1 : 0);
            begun = 1;
        }
    if (f->trunk) {
        din = f->dx || f->dy ? tile.out : NULL;
        NP_REAL(np_mlp_backward)
        (f->linear, find_net(f, 0), f->straight, 0, tile.rows, tile.n, tile.in, tile.keep[0],
         tile.base, tile.work, grad, 0, din);
    }
    if (f->dx || f->dy)
        add_input(f, &tile, din);
}

static void backward_chunk(void *arg, int64_t c, int32_t worker)
{
    const np_fan *f = arg;
    real *grad = f->chunk ? f->chunk + c * f->nets->params : NULL;
    for (int64_t t = np_chunk_first(f->tiles, f->chunks, c);
         t < np_chunk_first(f->tiles, f->chunks, c + 1); t++)
        backward_tile(f, t, worker, grad);
}

void NP_REAL(np_fan_backward)(np_fan *f)
{
    np_parallel(f->ctx, f->chunks, backward_chunk, f);
}
