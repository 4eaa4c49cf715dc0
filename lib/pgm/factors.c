#include "pgm/factors.h"

#include <math.h>

#include "base/size.h"
#include "kernel/tame.h"

/* Weights of the piece: all finite and positive (those that are 0 are not in it). */
static int bad_weights(const np_piece *piece)
{
    int bad = 0;
    for (int64_t i = 0; i < piece->block.n; i++)
        bad |= !(piece->omega[i] > 0 && piece->omega[i] <= NP_REAL_MAX);
    return bad;
}

/* Count, logs and, about the piece's own mean, quad. part has L and h. */
static void add_evidence(const np_rows *rows, const np_kernels *k, np_piece *piece,
                         np_evidence evidence, np_partial *part)
{
    const np_block *block = &piece->block;
    double q[NP_BLOCK_ROWS] = {0}, logs[NP_BLOCK_ROWS], *centre = piece->lane->centre;
    if (evidence == NP_EVIDENCE_QUAD) {
        for (int64_t j = 0; j < rows->d; j++)
            centre[j] = part->L[j] > 0 ? part->h[j] / part->L[j] : 0;
        k->quad(block, centre, rows->zero, q);
    }
    k->logs(block, logs);
    for (int64_t i = 0; i < block->n; i++) {
        const double omega = (double)piece->omega[i];
        part->count += omega;
        part->logs += omega * logs[i];
        part->quad += omega * q[i];
    }
}

/*
 * (S1), (S2) about the piece's first row and then moved to 0 in double: E is as exact as the rows
 * are, and m - E has its digits even where one row rules its set.
 */
static void sums_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const np_evidence evidence = *(const np_evidence *)self;
    np_partial *part = &piece->lane->block;
    np_range range = {1, 1, 0, 0};
    const np_kernels *k = rows->fast;
    if (!rows->kept && evidence == NP_EVIDENCE_NONE)
        piece->block.store = NULL; /* nobody needs it afterwards */
    np_partial_clear(part, rows->d);
    k->first(&piece->block, piece->omega, &range, part->L, part->h);
    if (!(np_tame_range(&range) && k->tame(piece->block.n, piece->omega))) {
        k = rows->ref;
        np_partial_clear(part, rows->d);
        k->first(&piece->block, piece->omega, &range, part->L, part->h);
        part->wild = 1;
    }
    part->bad = range.bad | bad_weights(piece);
    NP_REAL(np_piece_filled)(piece);
    if (evidence != NP_EVIDENCE_NONE)
        add_evidence(rows, k, piece, evidence, part);
    np_partial_merge(rows->dims, rows->d, part, evidence == NP_EVIDENCE_QUAD, out);
}

np_partial *NP_REAL(np_factors_sums)(const np_rows *rows, np_evidence evidence)
{
    np_partial *sum =
        NP_REAL(np_rows_run)(rows, sums_piece, &evidence, evidence == NP_EVIDENCE_QUAD);
    sum->bad |= !rows->dims->tame(rows->d, sum->L, DBL_MAX, sum->h, DBL_MAX);
    return sum;
}

typedef struct bracket {
    const np_pgm *pgm;
    const np_noise *noise;
    const np_kernels *k;
    const np_post *post;
    double g;
    real *dweight;
} bracket;

static void bracket_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const bracket *b = self;
    double q[NP_BLOCK_ROWS], logs[NP_BLOCK_ROWS];
    (void)out, (void)rows;
    b->k->quad(&piece->block, b->post->E, b->post->V, q);
    NP_REAL(np_piece_filled)(piece);
    b->k->logs(&piece->block, logs);
    for (int64_t i = 0; i < piece->block.n; i++) {
        real *dw = &b->dweight[piece->row[i]];
        const double value = b->noise->log_factor(b->pgm, q[i]) + 0.5 * logs[i];
        *dw = np_saturate((double)*dw + b->g * value);
    }
}

void NP_REAL(np_factors_bracket)(const np_pgm *pgm, const np_rows *rows, const np_noise *noise,
                                 const np_post *post, double g, real *dweight)
{
    const np_kernels *k = rows->wild ? rows->ref : rows->fast;
    const bracket b = {pgm, noise, k, post, g, dweight};
    NP_REAL(np_rows_run)(rows, bracket_piece, &b, 0);
}

typedef struct weight_grad {
    const np_kernels *k;
    const np_back *back;
    real *dweight;
} weight_grad;

static void dweight_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const weight_grad *w = self;
    double s[NP_BLOCK_ROWS];
    (void)out, (void)rows;
    w->k->dot(&piece->block, w->back->E, w->back->dL, w->back->dh, s);
    for (int64_t i = 0; i < piece->block.n; i++) {
        real *dw = &w->dweight[piece->row[i]];
        *dw = np_saturate((double)*dw + s[i]);
    }
}

void NP_REAL(np_factors_dweight)(const np_rows *rows, const np_back *back, real *dweight)
{
    const weight_grad w = {back->tame ? rows->fast : rows->ref, back, dweight};
    NP_REAL(np_rows_run)(rows, dweight_piece, &w, 0);
}

typedef struct pusher {
    const np_push *push;
    int tame; /* the vectors are */
} pusher;

/* Room for the coefficients of a piece's rows in some of the terms. */
typedef struct coefficients {
    real a[NP_PUSH_TERMS][NP_BLOCK_ROWS], b[NP_PUSH_TERMS][NP_BLOCK_ROWS], c[NP_BLOCK_ROWS];
} coefficients;

/* omega w of the piece's rows; w [n of the set] or NULL: 1, and so for the result. */
static const real *take_a(const np_piece *piece, const real *w, real *room)
{
    if (!piece->weighted)
        return w ? NP_REAL(np_piece_take)(piece, 0, piece->block.n, w, NULL) : NULL;
    if (!w)
        return piece->omega;
    for (int64_t i = 0; i < piece->block.n; i++)
        room[i] = np_saturate((double)piece->omega[i] * (double)w[piece->row[i]]);
    return room;
}

/* What (A10) starts from in term t for the rows of the piece; NULL if there is nothing. */
static const real *take_b(const np_push *push, const np_rows *rows, const np_kernels *k,
                          np_piece *piece, int64_t t, real *room)
{
    double s[NP_BLOCK_ROWS];
    if (push->slope && t > 0) {
        const np_back *back = &push->back[t - 1];
        k->dot(&piece->block, back->E, back->dL, back->dh, s);
        NP_REAL(np_piece_filled)(piece);
        push->slope->slope(push->pgm, rows, piece, push->w[t - 1], s, room);
        return room;
    }
    return push->dd[t] ? NP_REAL(np_piece_take)(piece, 0, piece->block.n, push->dd[t], room) : NULL;
}

/* Terms from `first` on, with their coefficients; whether all are tame. c counts once, with the
 * first terms. */
static int take_terms(const np_push *push, const np_rows *rows, const np_kernels *k,
                      np_piece *piece, int64_t first, int64_t n, coefficients *co, np_term *terms)
{
    const double g = first == 0 ? 0.5 * push->g : 0;
    int tame = 1;
    for (int64_t i = 0; i < piece->block.n; i++)
        co->c[i] = np_saturate(g * (double)piece->omega[i]);
    for (int64_t t = 0; t < n; t++) {
        const np_back *back = &push->back[first + t];
        const real *a = take_a(piece, push->w[first + t], co->a[t]),
                   *b = take_b(push, rows, k, piece, first + t, co->b[t]);
        terms[t] = (np_term){back->dh, back->dL, back->E, back->V, a, b};
        tame &= !a || k->tame(piece->block.n, a);
        tame &= !b || k->tame(piece->block.n, b);
    }
    return tame & k->tame(piece->block.n, co->c);
}

static void push_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const pusher *p = self;
    const np_push *push = p->push;
    const np_kernels *k = p->tame ? rows->fast : rows->ref;
    np_term terms[NP_PUSH_TERMS];
    coefficients co;
    (void)out;
    if (push->n <= NP_PUSH_TERMS && !rows->kept && !push->slope)
        piece->block.store = NULL; /* nobody needs it afterwards */
    for (int64_t first = 0; first < push->n; first += NP_PUSH_TERMS) {
        const int64_t n = np_min(NP_PUSH_TERMS, push->n - first);
        const int tame = take_terms(push, rows, k, piece, first, n, &co, terms);
        (tame ? k : rows->ref)->push(&piece->block, n, terms, co.c, push->dm, push->dv);
        if (piece->block.store)
            NP_REAL(np_piece_filled)(piece);
    }
}

/*
 * The vectors' push takes all terms about one centre, E of the first: what it multiplies a b with
 * is made of (m - C)^2, (m - C) (C - E) and (C - E)^2, where (m - E)^2 + V is meant. As long as
 * (C - E)^2 <= 2^10 V none of the three is more than (1 + 2^5)^2 < 2^11 times as large as the
 * result, and so are their roundings at most. Sets whose mean goes further are left to the
 * reference.
 */
static const double apart = 0x1p10;

void NP_REAL(np_factors_push)(const np_rows *rows, const np_push *push)
{
    const np_back *back = push->back;
    pusher p = {push, 1};
    for (int64_t t = 0; t < push->n; t++)
        p.tame &= back[t].tame &&
                  (t == 0 || rows->dims->within(rows->d, apart, back[0].E, back[t].E, back[t].V));
    NP_REAL(np_rows_run)(rows, push_piece, &p, 0);
}
