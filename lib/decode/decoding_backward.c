#include <string.h>

#include "base/parallel.h"
#include "decode/decoding.h"
#include "nn/chunk.h"
#include "nn/linear.h"
#include "nn/mlp.h"

#define R NP_TILE_ROWS

/* a [R,Y] = the tile's rows of dpy, columns at .. at + Y - 1, zeros below. */
static void fill_outputs(const np_decoding *e, const np_decoding_tile *tile, int64_t at)
{
    const int64_t yd = e->decoder->y_dim;
    for (int64_t u = tile->first_unit; u < tile->end_unit; u++) {
        const np_unit *unit = &e->plan.unit[u];
        for (int64_t i = 0; i < unit->points; i++)
            for (int64_t s = 0; s < unit->samples; s++) {
                real *to = tile->a + (unit->row + i * unit->samples + s) * yd;
                const int64_t row = (unit->point + i) * e->n_samples + unit->sample + s;
                for (int64_t j = 0; j < yd; j++)
                    to[j] = e->dpy[row * e->outputs + at + j];
            }
    }
    memset(tile->a + tile->rows * yd, 0, (size_t)((R - tile->rows) * yd) * sizeof(real));
}

/* ax [Q,H] = g [R,H] summed over the samples of each point, zeros below. */
static void sum_samples(const np_decoding *e, const np_decoding_tile *tile, const real *g)
{
    const int64_t h = e->first;
    memset(tile->ax, 0, (size_t)(e->plan.tile_points * h) * sizeof(real));
    for (int64_t u = tile->first_unit; u < tile->end_unit; u++) {
        const np_unit *unit = &e->plan.unit[u];
        for (int64_t i = 0; i < unit->points; i++)
            for (int64_t s = 0; s < unit->samples; s++) {
                const real *from = g + (unit->row + i * unit->samples + s) * h;
                real *to = tile->ax + (unit->slot + i) * h;
                for (int64_t j = 0; j < h; j++)
                    to[j] += from[j];
            }
    }
}

/* unit_dz of the tile's units: g [R,H] summed over the points of the unit. */
static void sum_points(const np_decoding *e, const np_decoding_tile *tile, int32_t net,
                       const real *g)
{
    const int64_t h = e->first, step = e->nets.n * h;
    for (int64_t u = tile->first_unit; u < tile->end_unit; u++) {
        const np_unit *unit = &e->plan.unit[u];
        real *sums = e->unit_dz + u * e->plan.unit_samples * step + net * h;
        for (int64_t i = 0; i < unit->points; i++)
            for (int64_t s = 0; s < unit->samples; s++) {
                const real *from = g + (unit->row + i * unit->samples + s) * h;
                for (int64_t j = 0; j < h; j++)
                    sums[s * step + j] = from[j] + (i > 0 ? sums[s * step + j] : 0);
            }
    }
}

/* From g [R,H], the gradient of the first layer's output, to the parts of it that a tile can do. */
static void backward_first(const np_decoding *e, const np_decoding_tile *tile, int32_t i,
                           const real *g, real *grad, real *dx)
{
    const np_mlp *net = &e->nets.net[i];
    const int64_t d = e->decoder->d, xd = e->decoder->x_dim, w = np_mlp_weight(net, 0) + d;
    if (e->unit_dz)
        sum_points(e, tile, i, g);
    sum_samples(e, tile, g);
    if (grad)
        NP_REAL(np_linear_backward_params)
    (tile->points, xd, e->first, tile->x, tile->ax, grad + w, d + xd, grad + np_mlp_bias(net, 0));
    if (dx)
        NP_REAL(np_linear_backward)
    (e->plan.tile_points, xd, e->first, e->params + w, d + xd, tile->ax, i > 0 ? 1 : 0, dx);
}

static void backward_tile(const np_decoding *e, int64_t t, int32_t worker, real *grad)
{
    const np_decoding_tile tile = NP_REAL(np_decoding_tile_begin)(e, t, worker);
    const int64_t yd = e->decoder->y_dim;
    real *dx = e->dx ? e->tile_dx + t * e->plan.tile_points * e->decoder->x_dim : NULL;
    for (int32_t i = 0; i < e->nets.n; i++) {
        fill_outputs(e, &tile, i * yd);
        for (int64_t j = 0; j < tile.rows * yd && i == 1; j++)
            tile.a[j] *= tile.slope[j];
        const real *g = NP_REAL(np_mlp_backward)(&e->nets.net[i], e->params, 1, tile.rows, NULL,
                                                 tile.keep[i], tile.a, tile.b, grad, 0, NULL);
        backward_first(e, &tile, i, g, grad, dx);
    }
}

static void backward_chunk(void *arg, int64_t c, int32_t worker)
{
    const np_decoding *e = arg;
    const int64_t tiles = e->plan.tiles, p = e->nets.params;
    real *grad = e->dparams ? e->chunk + c * p : NULL;
    if (grad)
        memset(grad, 0, (size_t)p * sizeof(real));
    for (int64_t t = np_chunk_first(tiles, e->chunks, c);
         t < np_chunk_first(tiles, e->chunks, c + 1); t++)
        backward_tile(e, t, worker, grad);
}

/* g [R,H] = the gradient of az for rows first .. of one network: its units' sums in order. */
static void sum_units(const np_decoding *e, int64_t first, int64_t n, int32_t net, double *sum,
                      real *g)
{
    const np_plan *plan = &e->plan;
    const int64_t h = e->first, step = e->nets.n * h;
    memset(g, 0, (size_t)(R * h) * sizeof(real));
    for (int64_t r = 0; r < n; r++) {
        const int64_t b = (first + r) / e->n_samples, s = (first + r) % e->n_samples;
        memset(sum, 0, (size_t)h * sizeof(double));
        for (int64_t u = plan->set_unit[b]; u < plan->set_unit[b + 1]; u++) {
            const int64_t at = s - plan->unit[u].sample;
            if (at < 0 || at >= plan->unit[u].samples)
                continue;
            const real *from = e->unit_dz + (u * plan->unit_samples + at) * step + net * h;
            for (int64_t j = 0; j < h; j++)
                sum[j] += (double)from[j];
        }
        for (int64_t j = 0; j < h; j++)
            g[r * h + j] = (real)sum[j];
    }
}

/* A tile of (set, sample) pairs: dz, and the columns of W_z in grad. */
static void backward_z_tile(const np_decoding *e, int64_t t, int32_t worker, real *grad)
{
    const int64_t d = e->decoder->d, in = d + e->decoder->x_dim, h = e->first;
    const int64_t n = np_min(R, e->n_sets * e->n_samples - t * R);
    real *g = e->room + worker * e->room_count;
    real *z = g + R * np_max(h, d), *dz = z + R * np_max(h, d);
    double *sum = e->sum + worker * e->nets.n * h;
    NP_REAL(np_decoding_fill_z)(e, t * R, z);
    for (int32_t i = 0; i < e->nets.n; i++) {
        const int64_t w = np_mlp_weight(&e->nets.net[i], 0);
        sum_units(e, t * R, n, i, sum, g);
        if (grad)
            NP_REAL(np_linear_backward_params)(n, d, h, z, g, grad + w, in, NULL);
        if (e->dz)
            NP_REAL(np_linear_backward)(R, d, h, e->params + w, in, g, i > 0 ? 1 : 0, dz);
    }
    for (int64_t i = 0; i < n * d && e->dz; i++)
        e->dz[t * R * d + i] += dz[i];
}

/* The z tiles of one chunk; there may be fewer chunks of them than of the others. */
static void backward_z(void *arg, int64_t c, int32_t worker)
{
    const np_decoding *e = arg;
    const int64_t tiles = np_tile_count(e->n_sets * e->n_samples);
    const int64_t chunks = np_min(tiles, e->chunks);
    real *grad = e->dparams ? e->chunk + c * e->nets.params : NULL;
    for (int64_t t = np_chunk_first(tiles, chunks, c); t < np_chunk_first(tiles, chunks, c + 1);
         t++)
        backward_z_tile(e, t, worker, grad);
}

/* dx += the tiles' shares, unit by unit. */
static void add_points(const np_decoding *e)
{
    const np_plan *plan = &e->plan;
    const int64_t xd = e->decoder->x_dim;
    for (int64_t t = 0; t < plan->tiles; t++)
        for (int64_t u = plan->tile_unit[t]; u < plan->tile_unit[t + 1]; u++) {
            const np_unit *unit = &plan->unit[u];
            const real *from = e->tile_dx + (t * plan->tile_points + unit->slot) * xd;
            for (int64_t i = 0; i < unit->points * xd; i++)
                e->dx[unit->point * xd + i] += from[i];
        }
}

void NP_REAL(np_decoding_backward)(np_decoding *e)
{
    if (e->plan.tiles == 0)
        return;
    np_parallel(e->ctx, e->chunks, backward_chunk, e);
    if (e->unit_dz)
        np_parallel(e->ctx, np_min(np_tile_count(e->n_sets * e->n_samples), e->chunks), backward_z,
                    e);
    if (e->dx)
        add_points(e);
    if (e->dparams)
        NP_REAL(np_chunk_sum)(e->ctx, e->chunks, e->nets.params, e->chunk, e->dparams);
}
