#include "nn/attention.h"

#include <math.h>
#include <string.h>

#include "base/size.h"
#include "kernel/gemm.h"

enum { BLOCK = 48 }; /* query rows at a time: with 200 points their scores stay in L1 or nearly */

/* Copies of one head's columns, and its blocks. */
typedef struct head_room {
    real *q, *da;  /* [n,w]: q is divided by sqrt(R) */
    real *k, *kt;  /* [n,w], [w,n] */
    real *v, *vt;  /* [n,w], [w,n] */
    real *dk, *dv; /* [n,w] */
    real *p, *dp;  /* [BLOCK,n] */
    real *out;     /* [BLOCK,w] */
} head_room;

static int64_t head_width(const np_attention *at)
{
    return at->width / at->heads;
}

int64_t NP_REAL(np_attention_room)(const np_attention *at, int64_t n)
{
    const int64_t w = head_width(at);
    return 8 * (n * w + NP_GEMM_SLACK) + 2 * (BLOCK * n + NP_GEMM_SLACK) + BLOCK * w +
           NP_GEMM_SLACK;
}

static real *cut(real **room, int64_t n)
{
    real *part = *room;
    *room += n + NP_GEMM_SLACK;
    return part;
}

static head_room begin_room(const np_attention *at, int64_t n, real *room)
{
    const int64_t nw = n * head_width(at);
    head_room r;
    r.q = cut(&room, nw);
    r.da = cut(&room, nw);
    r.k = cut(&room, nw);
    r.kt = cut(&room, nw);
    r.v = cut(&room, nw);
    r.vt = cut(&room, nw);
    r.dk = cut(&room, nw);
    r.dv = cut(&room, nw);
    r.p = cut(&room, BLOCK * n);
    r.dp = cut(&room, BLOCK * n);
    r.out = cut(&room, BLOCK * head_width(at));
    return r;
}

static real scale(const np_attention *at)
{
    return (real)(1 / sqrt((double)at->width));
}

/* to [n,w] = factor times the head's columns of from [n,R]. */
static void pack(const np_attention *at, int64_t head, int64_t n, real factor, const real *from,
                 real *to)
{
    const int64_t w = head_width(at);
    from += head * w;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < w; j++)
            to[i * w + j] = factor * from[i * at->width + j];
}

/* The head's columns of to [n,R] += factor times from [n,w]. */
static void add_columns(const np_attention *at, int64_t head, int64_t n, real factor,
                        const real *from, real *to)
{
    const int64_t w = head_width(at);
    to += head * w;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < w; j++)
            to[i * at->width + j] += factor * from[i * w + j];
}

static void put_columns(const np_attention *at, int64_t head, int64_t n, const real *from, real *to)
{
    const int64_t w = head_width(at);
    to += head * w;
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * at->width, from + i * w, (size_t)w * sizeof(real));
}

void NP_REAL(np_attention_forward)(const np_attention *at, int64_t head, int64_t n, const real *q,
                                   const real *k, const real *v, real *a, real *stats, real *room)
{
    const int64_t w = head_width(at);
    const head_room r = begin_room(at, n, room);
    pack(at, head, n, scale(at), q, r.q);
    pack(at, head, n, 1, k, r.k);
    pack(at, head, n, 1, v, r.v);
    NP_REAL(np_linear_turn)(w, n, r.k, r.kt);
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int64_t rows = np_min(BLOCK, n - i);
        at->linear->forward(rows, w, n, r.kt, NULL, 0, r.q + i * w, r.p);
        for (int64_t b = 0; b < rows; b++)
            at->lanes->softmax(n, r.p + b * n, stats + 2 * ((i + b) * at->heads + head));
        at->linear->forward(rows, n, w, r.v, NULL, 0, r.p, r.out);
        put_columns(at, head, rows, r.out, a + i * at->width);
    }
}

/* dp [n] of row i becomes the gradient of its scores; p [n] is computed again from them. */
static void backward_row(const np_attention *at, int64_t head, int64_t n, int64_t i, const real *a,
                         const real *da, const real *stats, real *p, real *dp)
{
    const int64_t w = head_width(at), row = i * at->width + head * w;
    double sum = 0; /* over j of p_ij dp_ij */
    for (int64_t j = 0; j < w; j++)
        sum += (double)a[row + j] * (double)da[row + j];
    at->lanes->softmax_again(n, stats + 2 * (i * at->heads + head), p);
    at->lanes->softmax_backward(n, p, (real)sum, dp);
}

/* Query rows i .. i+rows-1: dq, and what they add to dk and dv in the room. */
static void backward_block(const np_attention *at, int64_t head, int64_t n, int64_t i, int64_t rows,
                           const real *a, const real *stats, const real *da, const head_room *r,
                           real *dq)
{
    const int64_t w = head_width(at);
    at->linear->forward(rows, w, n, r->kt, NULL, 0, r->q + i * w, r->p);
    at->linear->forward(rows, w, n, r->vt, NULL, 0, r->da + i * w, r->dp);
    for (int64_t b = 0; b < rows; b++)
        backward_row(at, head, n, i + b, a, da, stats, r->p + b * n, r->dp + b * n);
    at->linear->forward(rows, n, w, r->k, NULL, 0, r->dp, r->out);
    add_columns(at, head, rows, scale(at), r->out, dq + i * at->width);
    at->linear->backward_params(rows, w, n, r->q + i * w, r->dp, r->dk, w, NULL);
    at->linear->backward_params(rows, w, n, r->da + i * w, r->p, r->dv, w, NULL);
}

void NP_REAL(np_attention_backward)(const np_attention *at, int64_t head, int64_t n, const real *q,
                                    const real *k, const real *v, const real *a, const real *stats,
                                    const real *da, real *dq, real *dk, real *dv, real *room)
{
    const int64_t w = head_width(at);
    const head_room r = begin_room(at, n, room);
    pack(at, head, n, scale(at), q, r.q);
    pack(at, head, n, 1, da, r.da);
    pack(at, head, n, 1, k, r.k);
    pack(at, head, n, 1, v, r.v);
    NP_REAL(np_linear_turn)(w, n, r.k, r.kt);
    NP_REAL(np_linear_turn)(w, n, r.v, r.vt);
    memset(r.dk, 0, (size_t)(n * w) * sizeof(real));
    memset(r.dv, 0, (size_t)(n * w) * sizeof(real));
    for (int64_t i = 0; i < n; i += BLOCK)
        backward_block(at, head, n, i, np_min(BLOCK, n - i), a, stats, da, &r, dq);
    add_columns(at, head, n, 1, r.dk, dk);
    add_columns(at, head, n, 1, r.dv, dv);
}
