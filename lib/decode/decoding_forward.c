#include <string.h>

#include "base/parallel.h"
#include "decode/decoding.h"
#include "nn/mlp.h"

/* az of one network and one tile of (set, sample) pairs. */
static void forward_z(void *arg, int64_t item, int32_t worker)
{
    const np_decoding *e = arg;
    const int64_t t = item / e->nets.n;
    const int32_t net = (int32_t)(item % e->nets.n);
    real *z = e->room + worker * e->room_count;
    NP_REAL(np_decoding_fill_z)(e, t, z);
    e->linear->forward(NP_REAL(np_decoding_z_count)(e, t), e->decoder->d, e->first,
                       e->turned + np_mlp_weight(&e->nets.net[net], 0), NULL, 0, z,
                       e->az + (net * e->z_tiles + t) * e->z_rows * e->first);
}

/* a [all_rows,H] = az of the row's set and sample + ax of its point, zeros below. */
static void join(const np_decoding *e, const np_decoding_tile *tile, int32_t net, int relu, real *a)
{
    const int64_t h = e->first;
    const real *az = e->az + net * e->z_tiles * e->z_rows * h;
    for (int64_t u = tile->first_unit; u < tile->end_unit; u++) {
        const np_unit *unit = &e->plan.unit[u];
        e->lanes->join(unit->points, unit->samples, h, tile->ax + unit->slot * h,
                       az + (unit->set * e->n_samples + unit->sample) * h, relu, a + unit->row * h);
    }
    memset(a + tile->rows * h, 0, (size_t)((tile->all_rows - tile->rows) * h) * sizeof(real));
}

/* One network of a tile; its result [R,Y] is in tile->a. */
static void forward_net(const np_decoding *e, const np_decoding_tile *tile, int32_t i)
{
    const np_mlp *net = &e->nets.net[i];
    const int is_linear = net->layers == 1, relu = net->activation == NPAGG_ACTIVATION_RELU;
    const real *wx = e->turned + np_mlp_weight(net, 0) + e->decoder->d * e->first;
    e->linear->forward(tile->all_points, e->decoder->x_dim, e->first, wx,
                       e->turned + np_mlp_bias(net, 0), 0, tile->x, tile->ax);
    if (is_linear) {
        join(e, tile, i, 0, tile->a);
        return;
    }
    join(e, tile, i, relu, NP_REAL(np_mlp_kept)(net, 0, tile->keep[i]));
    if (!relu)
        NP_REAL(np_mlp_activate)(net, 0, tile->all_rows, tile->keep[i]);
    NP_REAL(np_mlp_forward)
    (e->linear, net, e->turned, 1, tile->all_rows, NULL, tile->keep[i], tile->a);
}

/* b [rows,Y] = sd = floor + (1 - floor) softplus(a), with its slope. */
static void forward_sd(const np_decoding *e, const np_decoding_tile *tile)
{
    e->lanes->softplus(tile->rows * e->decoder->y_dim, (real)e->decoder->sd_floor,
                       (real)(1 - e->decoder->sd_floor), tile->a, tile->b, tile->slope);
}

/* The tile's rows of py, columns at .. at + Y - 1, = those of rows [R,Y]. */
static void hand_out(const np_decoding *e, const np_decoding_tile *tile, int64_t at,
                     const real *rows)
{
    const int64_t yd = e->decoder->y_dim;
    for (int64_t u = tile->first_unit; u < tile->end_unit; u++) {
        const np_unit *unit = &e->plan.unit[u];
        for (int64_t i = 0; i < unit->points; i++)
            for (int64_t s = 0; s < unit->samples; s++) {
                const real *from = rows + (unit->row + i * unit->samples + s) * yd;
                const int64_t row = (unit->point + i) * e->n_samples + unit->sample + s;
                for (int64_t j = 0; j < yd; j++)
                    e->py[row * e->outputs + at + j] = from[j];
            }
    }
}

void NP_REAL(np_decoding_forward_tile)(const np_decoding *e, int64_t t, int64_t slot,
                                       int32_t worker)
{
    const np_decoding_tile tile = NP_REAL(np_decoding_tile_begin)(e, t, slot, worker);
    for (int32_t i = 0; i < e->nets.n; i++) {
        forward_net(e, &tile, i);
        if (i == 1)
            forward_sd(e, &tile);
        hand_out(e, &tile, i * e->decoder->y_dim, i == 1 ? tile.b : tile.a);
    }
}

void NP_REAL(np_decoding_forward_begin)(np_decoding *e)
{
    NP_REAL(np_nets_lay_out)(e->ctx, &e->given, e->params, &e->nets, e->turned, NULL);
    np_parallel(e->ctx, e->z_tiles * e->nets.n, forward_z, e);
}

static void forward_tile(void *arg, int64_t t, int32_t worker)
{
    const np_decoding *e = arg;
    NP_REAL(np_decoding_forward_tile)(e, t, e->is_kept ? t : worker, worker);
}

void NP_REAL(np_decoding_forward)(np_decoding *e)
{
    NP_REAL(np_decoding_forward_begin)(e);
    np_parallel(e->ctx, e->plan.tiles, forward_tile, e);
}
