/*
 * The second half of encoders of sets: the mean over the points of a set, joint, and the heads
 *   m = mean net,   v = s^2 with s = sqrt(lo) + (sqrt(hi) - sqrt(lo)) sigmoid(sd net)
 * An empty set has the mean 0.
 */
#include "encode/pooling.h"

#include <string.h>

#include "base/parallel.h"
#include "base/size.h"

static int64_t count_units(const np_encoding *e)
{
    return e->parts * e->n_sets;
}

void NP_REAL(np_pooling_begin)(np_encoding *e)
{
    const npagg_encoder *encoder = e->encoder;
    np_fan *fan = &e->sets;
    fan->first = e->nets.n - 3; /* joint, mean, sd */
    fan->trunk = 1;
    fan->heads = 2;
    fan->squash = NP_SQUASH_SD;
    fan->lo = encoder->var_lo;
    fan->hi = encoder->var_hi;
    fan->n = count_units(e);
    fan->x_dim = np_encoder_pooled(encoder);
    fan->out[0] = e->m;
    fan->out[1] = e->v;
    fan->dout[0] = e->dm;
    fan->dout[1] = e->dv;
    NP_REAL(np_fan_begin)(fan);
    e->chunks = np_max(e->chunks, fan->chunks);
}

void NP_REAL(np_pooling_keep_take)(np_arena *arena, np_encoding *e)
{
    e->from = NP_TAKE(arena, count_units(e), int64_t);
    e->pooled = NP_TAKE2(arena, count_units(e), np_encoder_pooled(e->encoder), real);
    NP_REAL(np_fan_keep_take)(arena, &e->sets);
}

void NP_REAL(np_pooling_forward_take)(np_arena *arena, np_encoding *e)
{
    NP_REAL(np_fan_room_take)(arena, &e->sets);
}

/* One part of one set: the mean of its rows, summed in their order and in double. */
static void forward_mean(void *arg, int64_t u, int32_t worker)
{
    const np_encoding *e = arg;
    const int64_t width = np_encoder_pooled(e->encoder), n = NP_REAL(np_encoding_count)(e, u);
    const real *rows = e->rows + e->from[u] * width;
    real *pooled = e->pooled + u * width;
    (void)worker;
    memset(pooled, 0, (size_t)width * sizeof(real));
    for (int64_t j = 0; j < width && n > 0; j += NP_LANES_BLOCK)
        e->sets.lanes->add_wide(n, np_min(NP_LANES_BLOCK, width - j), rows + j, width, pooled + j);
    for (int64_t j = 0; j < width && n > 0; j++)
        pooled[j] /= (real)n;
}

void NP_REAL(np_pooling_forward)(np_encoding *e)
{
    np_parallel(e->ctx, count_units(e), forward_mean, e);
    e->sets.x = e->pooled;
    NP_REAL(np_fan_forward)(&e->sets);
}

void NP_REAL(np_pooling_backward_take)(np_arena *arena, np_encoding *e)
{
    e->dpooled = NP_TAKE2(arena, count_units(e), np_encoder_pooled(e->encoder), real);
    NP_REAL(np_fan_room_take)(arena, &e->sets);
}

/* All parts of set b, which may have rows in common: every row gets its share. */
static void backward_mean(void *arg, int64_t b, int32_t worker)
{
    const np_encoding *e = arg;
    const int64_t width = np_encoder_pooled(e->encoder);
    (void)worker;
    for (int64_t u = b; u < count_units(e); u += e->n_sets) {
        const int64_t n = NP_REAL(np_encoding_count)(e, u);
        real *share = e->dpooled + u * width, *rows = e->drows + e->from[u] * width;
        for (int64_t j = 0; j < width && n > 0; j++)
            share[j] /= (real)n;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < width; j++)
                rows[i * width + j] += share[j];
    }
}

void NP_REAL(np_pooling_backward)(np_encoding *e)
{
    const int64_t size = count_units(e) * np_encoder_pooled(e->encoder);
    np_parallel_zero(e->ctx, e->dpooled, (size_t)size * sizeof(real));
    e->sets.x = e->pooled;
    e->sets.dx = e->dpooled;
    NP_REAL(np_fan_backward)(&e->sets);
    np_parallel(e->ctx, e->n_sets, backward_mean, e);
}
