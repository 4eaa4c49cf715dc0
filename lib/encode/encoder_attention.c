/*
 * Self-attention within a set: pre of every point, its query, key and value, attention among the
 * points of the set, what nn/residual.h says, and the mean of that.
 */
#include "base/parallel.h"
#include "base/size.h"
#include "encode/encoder_kind.h"
#include "encode/pooling.h"
#include "kernel/gemm.h"

enum { FC = 4 }; /* pre, query, key, value, fc, norm1, norm2 */

static int64_t count_rows(const np_encoding *e)
{
    int64_t n = 0;
    for (int64_t u = 0; u < e->parts * e->n_sets; u++)
        n += NP_REAL(np_encoding_count)(e, u);
    return n;
}

static int64_t largest_set(const np_encoding *e)
{
    int64_t n = 0;
    for (int64_t u = 0; u < e->parts * e->n_sets; u++)
        n = np_max(n, NP_REAL(np_encoding_count)(e, u));
    return n;
}

static void begin_layers(np_encoding *e)
{
    const int64_t width = np_encoder_pooled(e->encoder);
    e->n_rows = count_rows(e);
    e->attention = (np_attention){e->points.linear, e->points.lanes, width, e->encoder->n_heads};
    e->room_count = NP_REAL(np_attention_room)(&e->attention, largest_set(e));
    np_residual *r = &e->residual;
    *r = (np_residual){.ctx = e->ctx, .nets = &e->nets, .first = FC, .width = width};
    r->n = e->n_rows;
    r->is_kept = e->is_kept;
    NP_REAL(np_residual_begin)(r);
    e->chunks = np_max(e->chunks, r->chunks);
}

static void begin(np_encoding *e)
{
    np_fan *fan = &e->points;
    fan->trunk = 1;
    fan->heads = 3;
    NP_REAL(np_fan_begin)(fan);
    e->chunks = fan->chunks;
    begin_layers(e);
    NP_REAL(np_pooling_begin)(e);
}

static real *take_rows(np_arena *arena, const np_encoding *e, int64_t n)
{
    real *rows = NP_TAKE2(arena, n, np_encoder_pooled(e->encoder), real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
    return rows;
}

static void take_keep(np_arena *arena, np_encoding *e)
{
    NP_REAL(np_fan_keep_take)(arena, &e->points);
    e->source = NP_TAKE(arena, e->n_rows, int64_t);
    e->q = take_rows(arena, e, e->n);
    e->k = take_rows(arena, e, e->n);
    e->values = take_rows(arena, e, e->n);
    e->attended = take_rows(arena, e, e->n_rows);
    e->stats = NP_TAKE2(arena, e->n_rows, 2 * e->encoder->n_heads, real);
    NP_REAL(np_residual_keep_take)(arena, &e->residual);
    NP_REAL(np_pooling_keep_take)(arena, e);
}

static void take_room(np_arena *arena, np_encoding *e)
{
    NP_REAL(np_fan_room_take)(arena, &e->points);
    NP_REAL(np_residual_room_take)(arena, &e->residual);
    e->room = NP_TAKE2(arena, np_threads(e->ctx), e->room_count, real);
}

static void take_forward(np_arena *arena, np_encoding *e)
{
    e->rows = take_rows(arena, e, e->n_rows);
    take_room(arena, e);
    NP_REAL(np_pooling_forward_take)(arena, e);
    if (!e->is_kept)
        take_keep(arena, e);
}

/* Where the rows of each part are, and where they come from. */
static void lay_out_rows(np_encoding *e)
{
    int64_t at = 0;
    for (int64_t u = 0; u < e->parts * e->n_sets; u++) {
        const int64_t n = NP_REAL(np_encoding_count)(e, u);
        e->from[u] = at;
        for (int64_t i = 0; i < n; i++)
            e->source[at++] = e->offsets[u % e->n_sets] + i;
    }
}

/* The layers' arrays, known by now. */
static void join_layers(np_encoding *e)
{
    np_residual *r = &e->residual;
    r->q = e->q;
    r->a = e->attended;
    r->source = e->source;
    r->turned = e->turned;
    r->straight = e->straight;
    r->chunk = e->chunk;
}

/* Item: one head of one part of one set. */
static void forward_head(void *arg, int64_t item, int32_t worker)
{
    const np_encoding *e = arg;
    const int64_t heads = e->encoder->n_heads, u = item / heads;
    const int64_t width = e->attention.width, first = e->offsets[u % e->n_sets] * width;
    NP_REAL(np_attention_forward)
    (&e->attention, item % heads, NP_REAL(np_encoding_count)(e, u), e->q + first, e->k + first,
     e->values + first, e->attended + e->from[u] * width, e->stats + e->from[u] * 2 * heads,
     e->room + worker * e->room_count);
}

static void forward(np_encoding *e)
{
    lay_out_rows(e);
    join_layers(e);
    e->points.out[0] = e->q;
    e->points.out[1] = e->k;
    e->points.out[2] = e->values;
    NP_REAL(np_fan_forward)(&e->points);
    np_parallel(e->ctx, e->parts * e->n_sets * e->encoder->n_heads, forward_head, e);
    e->residual.y = e->rows;
    NP_REAL(np_residual_forward)(&e->residual);
    NP_REAL(np_pooling_forward)(e);
}

static void take_backward(np_arena *arena, np_encoding *e)
{
    e->drows = take_rows(arena, e, e->n_rows);
    e->dq = take_rows(arena, e, e->n);
    e->dk = take_rows(arena, e, e->n);
    e->dvalues = take_rows(arena, e, e->n);
    take_room(arena, e);
    NP_REAL(np_pooling_backward_take)(arena, e);
}

static void clear_rows(const np_encoding *e, int64_t n, real *rows)
{
    np_parallel_zero(e->ctx, rows, (size_t)(n * e->attention.width) * sizeof(real));
}

/* dq += the gradient of q + a, in the columns of one head. */
static void add_direct(const np_encoding *e, int64_t head, int64_t n, const real *d, real *dq)
{
    const int64_t width = e->attention.width, w = width / e->attention.heads;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = head * w; j < (head + 1) * w; j++)
            dq[i * width + j] += d[i * width + j];
}

/* Item: one head of one set, all parts of it. */
static void backward_head(void *arg, int64_t item, int32_t worker)
{
    const np_encoding *e = arg;
    const int64_t heads = e->encoder->n_heads, head = item % heads, b = item / heads;
    const int64_t width = e->attention.width, first = e->offsets[b] * width;
    for (int64_t u = b; u < e->parts * e->n_sets; u += e->n_sets) {
        const int64_t n = NP_REAL(np_encoding_count)(e, u), at = e->from[u] * width;
        add_direct(e, head, n, e->drows + at, e->dq + first);
        NP_REAL(np_attention_backward)
        (&e->attention, head, n, e->q + first, e->k + first, e->values + first, e->attended + at,
         e->stats + e->from[u] * 2 * heads, e->drows + at, e->dq + first, e->dk + first,
         e->dvalues + first, e->room + worker * e->room_count);
    }
}

static void backward(np_encoding *e)
{
    clear_rows(e, e->n_rows, e->drows);
    clear_rows(e, e->n, e->dq);
    clear_rows(e, e->n, e->dk);
    clear_rows(e, e->n, e->dvalues);
    join_layers(e);
    NP_REAL(np_pooling_backward)(e);
    e->residual.d = e->drows;
    NP_REAL(np_residual_backward)(&e->residual);
    np_parallel(e->ctx, e->n_sets * e->encoder->n_heads, backward_head, e);
    e->points.dout[0] = e->dq;
    e->points.dout[1] = e->dk;
    e->points.dout[2] = e->dvalues;
    NP_REAL(np_fan_backward)(&e->points);
}

const np_encoder_table NP_REAL(np_encoder_attention) = {
    .begin = begin,
    .keep_take = take_keep,
    .forward_take = take_forward,
    .backward_take = take_backward,
    .forward = forward,
    .backward = backward,
};
