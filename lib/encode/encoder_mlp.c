/* The mlp encoder: m = mean net, v = lo + (hi - lo) sigmoid(var net), of every point. */
#include "encode/encoder_kind.h"

static void begin(np_encoding *e)
{
    const npagg_encoder *encoder = e->encoder;
    np_fan *fan = &e->points;
    fan->trunk = encoder->trunk;
    fan->heads = 2;
    fan->squash = NP_SQUASH_VAR;
    fan->lo = encoder->var_lo;
    fan->hi = encoder->var_hi;
    fan->out[0] = e->m;
    fan->out[1] = e->v;
    fan->dout[0] = e->dm;
    fan->dout[1] = e->dv;
    NP_REAL(np_fan_begin)(fan);
    e->chunks = fan->chunks;
}

static void take_keep(np_arena *arena, np_encoding *e)
{
    NP_REAL(np_fan_keep_take)(arena, &e->points);
}

static void take_forward(np_arena *arena, np_encoding *e)
{
    NP_REAL(np_fan_room_take)(arena, &e->points);
    if (!e->is_kept)
        take_keep(arena, e);
}

static void forward(np_encoding *e)
{
    NP_REAL(np_fan_forward)(&e->points);
}

static void take_backward(np_arena *arena, np_encoding *e)
{
    NP_REAL(np_fan_room_take)(arena, &e->points);
}

static void backward(np_encoding *e)
{
    NP_REAL(np_fan_backward)(&e->points);
}

const np_encoder_table NP_REAL(np_encoder_mlp) = {
    .begin = begin,
    .keep_take = take_keep,
    .forward_take = take_forward,
    .backward_take = take_backward,
    .forward = forward,
    .backward = backward,
};
