#include <string.h>

#include "base/parallel.h"
#include "decode/decoding.h"
#include "nn/chunk.h"
#include "nn/mlp.h"

/* a [all_rows,Y] = the tile's rows of dpy, columns at .. at + Y - 1, zeros below. */
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
    memset(tile->a + tile->rows * yd, 0,
           (size_t)((tile->all_rows - tile->rows) * yd) * sizeof(real));
}

/* ax [all_points,H] = g [R,H] summed over the samples of each point, zeros below; unit_dz of the
 * tile's units = g summed over the points of the unit. */
static void split(const np_decoding *e, const np_decoding_tile *tile, int32_t net, const real *g)
{
    const int64_t h = e->first, step = e->nets.n * h;
    for (int64_t u = tile->first_unit; u < tile->end_unit; u++) {
        const np_unit *unit = &e->plan.unit[u];
        e->lanes->split(unit->points, unit->samples, h, g + unit->row * h,
                        tile->ax + unit->slot * h,
                        e->unit_dz + u * e->plan.unit_samples * step + net * h, step);
    }
    memset(tile->ax + tile->points * h, 0,
           (size_t)((tile->all_points - tile->points) * h) * sizeof(real));
}

/* From g [R,H], the gradient of the first layer's output, to the parts of it that a tile can do. */
static void backward_first(const np_decoding *e, const np_decoding_tile *tile, int32_t i,
                           const real *g, real *grad, real *dx)
{
    const np_mlp *net = &e->nets.net[i];
    const int64_t d = e->decoder->d, xd = e->decoder->x_dim, w = np_mlp_weight(net, 0) + d;
    split(e, tile, i, g);
    if (grad)
        e->linear->backward_params(tile->points, xd, e->first, tile->x, tile->ax, grad + w, d + xd,
                                   grad + np_mlp_bias(net, 0));
    if (dx)
        e->linear->backward(tile->all_points, xd, e->first, e->straight + w, d + xd, tile->ax,
                            i > 0 ? 1 : 0, NULL, dx);
}

static void backward_tile(const np_decoding *e, int64_t t, int64_t slot, int32_t worker, real *grad)
{
    const np_decoding_tile tile = NP_REAL(np_decoding_tile_begin)(e, t, slot, worker);
    const int64_t yd = e->decoder->y_dim;
    real *dx = e->dx ? e->tile_dx + t * e->plan.tile_points * e->decoder->x_dim : NULL;
    for (int32_t i = 0; i < e->nets.n; i++) {
        fill_outputs(e, &tile, i * yd);
        for (int64_t j = 0; j < tile.rows * yd && i == 1; j++)
            tile.a[j] *= tile.slope[j];
        const real *g =
            NP_REAL(np_mlp_backward)(e->linear, &e->nets.net[i], e->straight, 1, tile.all_rows,
                                     tile.rows, NULL, tile.keep[i], tile.a, tile.b, grad, 0, NULL);
        backward_first(e, &tile, i, g, grad, dx);
    }
}

void NP_REAL(np_decoding_backward_grain)(const np_decoding *e, int64_t grain, int64_t slot,
                                         int32_t worker, real *grad)
{
    const int64_t first = e->plan.grain_tile[grain];
    for (int64_t t = e->plan.grain_tile[grain + 1] - 1; t >= first; t--)
        backward_tile(e, t, slot + t - first, worker, grad);
}

static void backward_chunk(void *arg, int64_t c, int32_t worker)
{
    const np_decoding *e = arg;
    const int64_t grains = e->plan.grains, p = e->nets.params;
    real *grad = e->dparams ? e->chunk + c * p : NULL;
    if (grad)
        memset(grad, 0, (size_t)p * sizeof(real));
    for (int64_t g = np_chunk_first(grains, e->chunks, c);
         g < np_chunk_first(grains, e->chunks, c + 1); g++)
        NP_REAL(np_decoding_backward_grain)(e, g, e->plan.grain_tile[g], worker, grad);
}

/* g [H] = the gradient of az for one sample of set b in one network: its units' sums in order. The
 * units of a set are points by ranges of samples. */
static void sum_units(const np_decoding *e, int64_t b, int64_t s, int32_t net, real *g)
{
    const np_plan *plan = &e->plan;
    const int64_t h = e->first, step = e->nets.n * h, first = plan->set_unit[b];
    const int64_t ranges = (e->n_samples + plan->unit_samples - 1) / plan->unit_samples;
    const int64_t units = (plan->set_unit[b + 1] - first) / ranges;
    const real *from = e->unit_dz + (first * plan->unit_samples + s) * step + net * h;
    for (int64_t j = 0; j < h; j += NP_LANES_BLOCK)
        e->lanes->add_wide(units, np_min(NP_LANES_BLOCK, h - j), from + j,
                           ranges * plan->unit_samples * step, g + j);
}

/* g [z_count,H] = the gradient of az in tile t, of which n rows are there. */
static void sum_tile(const np_decoding *e, int64_t t, int64_t n, int32_t net, real *g)
{
    const int64_t h = e->first;
    memset(g, 0, (size_t)(NP_REAL(np_decoding_z_count)(e, t) * h) * sizeof(real));
    for (int64_t r = 0; r < n; r++) {
        const int64_t row = t * e->z_rows + r;
        sum_units(e, row / e->n_samples, row % e->n_samples, net, g + r * h);
    }
}

/* A tile of (set, sample) pairs: dz, and the columns of W_z in grad. */
static void backward_z_tile(const np_decoding *e, int64_t t, int32_t worker, real *grad)
{
    const int64_t d = e->decoder->d, in = d + e->decoder->x_dim, h = e->first;
    const int64_t first = t * e->z_rows, rows = NP_REAL(np_decoding_z_count)(e, t);
    const int64_t n = np_min(rows, e->n_sets * e->n_samples - first);
    real *g = e->room + worker * e->room_count;
    real *z = g + e->z_rows * np_max(h, d), *dz = z + e->z_rows * np_max(h, d);
    NP_REAL(np_decoding_fill_z)(e, t, z);
    for (int32_t i = 0; i < e->nets.n; i++) {
        const int64_t w = np_mlp_weight(&e->nets.net[i], 0);
        sum_tile(e, t, n, i, g);
        if (grad)
            e->linear->backward_params(n, d, h, z, g, grad + w, in, NULL);
        if (e->dz)
            e->linear->backward(rows, d, h, e->straight + w, in, g, i > 0 ? 1 : 0, NULL, dz);
    }
    for (int64_t i = 0; i < n * d && e->dz; i++)
        e->dz[first * d + i] += dz[i];
}

/* The z tiles of one chunk; there may be fewer chunks of them than of the others. */
static void backward_z(void *arg, int64_t c, int32_t worker)
{
    const np_decoding *e = arg;
    const int64_t tiles = e->z_tiles, chunks = np_min(tiles, e->chunks);
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

void NP_REAL(np_decoding_backward_begin)(np_decoding *e)
{
    NP_REAL(np_nets_lay_out)(e->ctx, &e->given, e->params, &e->nets, NULL, e->straight);
}

void NP_REAL(np_decoding_backward_end)(np_decoding *e)
{
    if (e->dz || e->dparams)
        np_parallel(e->ctx, np_min(e->z_tiles, e->chunks), backward_z, e);
    if (e->dx)
        add_points(e);
    if (e->dparams)
        NP_REAL(np_chunk_sum)
    (e->ctx, e->chunks, &e->nets, e->chunk, &e->given, e->dparams);
}

void NP_REAL(np_decoding_backward)(np_decoding *e)
{
    if (e->plan.tiles == 0)
        return;
    NP_REAL(np_decoding_backward_begin)(e);
    np_parallel(e->ctx, e->chunks, backward_chunk, e);
    NP_REAL(np_decoding_backward_end)(e);
}
