#include <string.h>

#include "base/parallel.h"
#include "decode/decoding.h"
#include "nn/linear.h"
#include "nn/mlp.h"
#include "nn/scalar.h"

#define R NP_TILE_ROWS

static int64_t z_tiles(const np_decoding *e)
{
    return np_tile_count(e->n_sets * e->n_samples);
}

/* az of one network and one tile of (set, sample) pairs. */
static void forward_z(void *arg, int64_t item, int32_t worker)
{
    const np_decoding *e = arg;
    const int64_t t = item / e->nets.n;
    const int32_t net = (int32_t)(item % e->nets.n);
    real *z = e->room + worker * e->room_count;
    NP_REAL(np_decoding_fill_z)(e, t * R, z);
    NP_REAL(np_linear_forward)
    (R, e->decoder->d, e->first, e->turned + np_mlp_weight(&e->nets.net[net], 0), NULL, z,
     e->az + (net * z_tiles(e) + t) * R * e->first);
}

/* a [R,H] = az of the row's set and sample + ax of its point, zeros below. */
static void join(const np_decoding *e, const np_decoding_tile *tile, int32_t net, real *a)
{
    const int64_t h = e->first;
    const real *az = e->az + net * z_tiles(e) * R * h;
    for (int64_t u = tile->first_unit; u < tile->end_unit; u++) {
        const np_unit *unit = &e->plan.unit[u];
        for (int64_t i = 0; i < unit->points; i++)
            for (int64_t s = 0; s < unit->samples; s++) {
                real *to = a + (unit->row + i * unit->samples + s) * h;
                const real *from_x = tile->ax + (unit->slot + i) * h;
                const real *from_z = az + (unit->set * e->n_samples + unit->sample + s) * h;
                for (int64_t j = 0; j < h; j++)
                    to[j] = from_z[j] + from_x[j];
            }
    }
    memset(a + tile->rows * h, 0, (size_t)((R - tile->rows) * h) * sizeof(real));
}

/* One network of a tile; its result [R,Y] is in tile->a. */
static void forward_net(const np_decoding *e, const np_decoding_tile *tile, int32_t i)
{
    const np_mlp *net = &e->nets.net[i];
    const int is_linear = net->layers == 1;
    const real *wx = e->turned + np_mlp_weight(net, 0) + e->decoder->d * e->first;
    NP_REAL(np_linear_forward)
    (e->plan.tile_points, e->decoder->x_dim, e->first, wx, e->turned + np_mlp_bias(net, 0), tile->x,
     tile->ax);
    join(e, tile, i, is_linear ? tile->a : NP_REAL(np_mlp_kept)(net, 0, tile->keep[i]));
    if (is_linear)
        return;
    NP_REAL(np_mlp_activate)(net, 0, tile->keep[i]);
    NP_REAL(np_mlp_forward)(net, e->turned, 1, NULL, tile->keep[i], tile->a);
}

/* a [R,Y] becomes sd = floor + (1 - floor) softplus(a), with its slope. */
static void forward_sd(const np_decoding *e, const np_decoding_tile *tile)
{
    const real floor = (real)e->decoder->sd_floor, span = (real)(1 - e->decoder->sd_floor);
    for (int64_t i = 0; i < tile->rows * e->decoder->y_dim; i++) {
        tile->slope[i] = span * np_sigmoid(tile->a[i]);
        tile->a[i] = floor + span * np_softplus(tile->a[i]);
    }
}

/* The tile's rows of py, columns at .. at + Y - 1, = a [R,Y]. */
static void hand_out(const np_decoding *e, const np_decoding_tile *tile, int64_t at)
{
    const int64_t yd = e->decoder->y_dim;
    for (int64_t u = tile->first_unit; u < tile->end_unit; u++) {
        const np_unit *unit = &e->plan.unit[u];
        for (int64_t i = 0; i < unit->points; i++)
            for (int64_t s = 0; s < unit->samples; s++) {
                const real *from = tile->a + (unit->row + i * unit->samples + s) * yd;
                const int64_t row = (unit->point + i) * e->n_samples + unit->sample + s;
                for (int64_t j = 0; j < yd; j++)
                    e->py[row * e->outputs + at + j] = from[j];
            }
    }
}

static void forward_tile(void *arg, int64_t t, int32_t worker)
{
    const np_decoding *e = arg;
    const np_decoding_tile tile = NP_REAL(np_decoding_tile_begin)(e, t, worker);
    for (int32_t i = 0; i < e->nets.n; i++) {
        forward_net(e, &tile, i);
        if (i == 1)
            forward_sd(e, &tile);
        hand_out(e, &tile, i * e->decoder->y_dim);
    }
}

void NP_REAL(np_decoding_forward)(np_decoding *e)
{
    NP_REAL(np_nets_turn)(&e->nets, e->params, e->turned);
    np_parallel(e->ctx, z_tiles(e) * e->nets.n, forward_z, e);
    np_parallel(e->ctx, e->plan.tiles, forward_tile, e);
}
