/* Mean pooling: the network pre of every point, and the mean of what it gives. */
#include "base/parallel.h"
#include "encode/encoder_kind.h"
#include "encode/pooling.h"

static void begin(np_encoding *e)
{
    np_fan *fan = &e->points;
    fan->heads = 1;
    NP_REAL(np_fan_begin)(fan);
    e->chunks = fan->chunks;
    NP_REAL(np_pooling_begin)(e);
}

static void take_keep(np_arena *arena, np_encoding *e)
{
    NP_REAL(np_fan_keep_take)(arena, &e->points);
    NP_REAL(np_pooling_keep_take)(arena, e);
}

static void take_forward(np_arena *arena, np_encoding *e)
{
    e->rows = NP_TAKE2(arena, e->n, np_encoder_pooled(e->encoder), real);
    NP_REAL(np_fan_room_take)(arena, &e->points);
    NP_REAL(np_pooling_forward_take)(arena, e);
    if (!e->is_kept)
        take_keep(arena, e);
}

static void forward(np_encoding *e)
{
    for (int64_t u = 0; u < e->parts * e->n_sets; u++)
        e->from[u] = e->offsets[u % e->n_sets];
    e->points.out[0] = e->rows;
    NP_REAL(np_fan_forward)(&e->points);
    NP_REAL(np_pooling_forward)(e);
}

static void take_backward(np_arena *arena, np_encoding *e)
{
    e->drows = NP_TAKE2(arena, e->n, np_encoder_pooled(e->encoder), real);
    NP_REAL(np_fan_room_take)(arena, &e->points);
    NP_REAL(np_pooling_backward_take)(arena, e);
}

static void backward(np_encoding *e)
{
    const int64_t size = e->n * np_encoder_pooled(e->encoder);
    np_parallel_zero(e->ctx, e->drows, (size_t)size * sizeof(real));
    NP_REAL(np_pooling_backward)(e);
    e->points.dout[0] = e->drows;
    NP_REAL(np_fan_backward)(&e->points);
}

const np_encoder_table NP_REAL(np_encoder_mean) = {
    .begin = begin,
    .keep_take = take_keep,
    .forward_take = take_forward,
    .backward_take = take_backward,
    .forward = forward,
    .backward = backward,
};
