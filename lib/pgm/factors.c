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
    double q[NP_BLOCK_ROWS] = {0}, *centre = piece->lane->centre;
    if (evidence == NP_EVIDENCE_QUAD) {
        for (int64_t j = 0; j < rows->d; j++)
            centre[j] = part->L[j] > 0 ? part->h[j] / part->L[j] : 0;
        k->quad(block, centre, rows->zero, q);
    }
    for (int64_t i = 0; i < block->n; i++) {
        const double omega = (double)piece->omega[i];
        part->count += omega;
        part->logs += omega * NP_REAL(np_rows_log)(piece, i);
        part->quad += omega * q[i];
    }
}

/*
 * (S1), (S2) about the piece's first row and then moved to 0 in double: E is as exact as the rows
 * are, and m - E has its digits even where one row rules its set.
 */
static void sum_about_first(const np_kernels *k, np_piece *piece, np_partial *part)
{
    const int64_t d = piece->block.d;
    const real *first = piece->block.m + piece->row[0] * d;
    double *centre = piece->lane->centre;
    for (int64_t j = 0; j < d; j++)
        centre[j] = (double)first[j];
    np_partial_clear(part, d);
    k->sums(&piece->block, piece->omega, centre, part->L, part->h);
    for (int64_t j = 0; j < d; j++)
        part->h[j] += centre[j] * part->L[j];
}

static void sums_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const np_evidence evidence = *(const np_evidence *)self;
    np_range range = {1, 1, 0, 0};
    NP_REAL(np_rows_fill)(rows, piece, &range);
    const int tame = np_tame_range(&range) && np_tame_rows(piece->block.n, piece->omega);
    const np_kernels *k = tame ? rows->fast : rows->ref;
    out->wild |= !tame;
    out->bad |= range.bad | bad_weights(piece);
    np_partial *part = &piece->lane->block;
    sum_about_first(k, piece, part);
    if (evidence != NP_EVIDENCE_NONE)
        add_evidence(rows, k, piece, evidence, part);
    np_partial_merge(out, part, rows->d, evidence == NP_EVIDENCE_QUAD);
}

np_partial *NP_REAL(np_factors_sums)(const np_rows *rows, np_evidence evidence)
{
    np_partial *sum =
        NP_REAL(np_rows_run)(rows, sums_piece, &evidence, evidence == NP_EVIDENCE_QUAD);
    for (int64_t j = 0; j < rows->d; j++)
        sum->bad |= !isfinite(sum->L[j]) || !isfinite(sum->h[j]);
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
    double q[NP_BLOCK_ROWS];
    (void)out;
    NP_REAL(np_rows_fill)(rows, piece, NULL);
    b->k->quad(&piece->block, b->post->E, b->post->V, q);
    for (int64_t i = 0; i < piece->block.n; i++) {
        real *dw = &b->dweight[piece->row[i]];
        const double value =
            b->noise->log_factor(b->pgm, q[i]) + 0.5 * NP_REAL(np_rows_log)(piece, i);
        *dw = np_saturate((double)*dw + b->g * value);
    }
}

void NP_REAL(np_factors_bracket)(const np_pgm *pgm, const np_rows *rows, const np_noise *noise,
                                 const np_post *post, double g, real *dweight)
{
    const np_kernels *k = NP_REAL(np_rows_kernels)(rows, post->E, post->V, NULL, NULL);
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
    (void)out;
    NP_REAL(np_rows_fill)(rows, piece, NULL);
    w->k->dot(&piece->block, w->back->E, w->back->dL, w->back->dh, s);
    for (int64_t i = 0; i < piece->block.n; i++) {
        real *dw = &w->dweight[piece->row[i]];
        *dw = np_saturate((double)*dw + s[i]);
    }
}

void NP_REAL(np_factors_dweight)(const np_rows *rows, const np_back *back, real *dweight)
{
    const weight_grad w = {NP_REAL(np_rows_kernels)(rows, back->E, NULL, back->dL, back->dh), back,
                           dweight};
    NP_REAL(np_rows_run)(rows, dweight_piece, &w, 0);
}

typedef struct pusher {
    const np_push *push;
    int tame; /* the vectors are */
} pusher;

/* Coefficients of a piece's rows in some of the terms. */
typedef struct coefficients {
    real a[NP_PUSH_TERMS][NP_BLOCK_ROWS], b[NP_PUSH_TERMS][NP_BLOCK_ROWS], c[NP_BLOCK_ROWS];
} coefficients;

/* Terms from `first` on; whether all are tame. c counts once, with the first terms. */
static int take_coefficients(const np_push *push, const np_piece *piece, int64_t first, int64_t n,
                             coefficients *co)
{
    int tame = 1;
    for (int64_t i = 0; i < piece->block.n; i++)
        co->c[i] = np_saturate(first == 0 ? 0.5 * push->g * (double)piece->omega[i] : 0);
    for (int64_t t = 0; t < n; t++) {
        const real *w = push->w[first + t], *dd = push->dd[first + t];
        for (int64_t i = 0; i < piece->block.n; i++) {
            co->a[t][i] = np_saturate((double)piece->omega[i] * (w ? (double)w[piece->row[i]] : 1));
            co->b[t][i] = dd ? dd[piece->row[i]] : 0;
        }
        tame &= np_tame_rows(piece->block.n, co->a[t]) & np_tame_rows(piece->block.n, co->b[t]);
    }
    return tame & np_tame_rows(piece->block.n, co->c);
}

static void push_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const pusher *p = self;
    const np_push *push = p->push;
    np_term terms[NP_PUSH_TERMS];
    coefficients co;
    (void)out;
    NP_REAL(np_rows_fill)(rows, piece, NULL);
    for (int64_t first = 0; first < push->n; first += NP_PUSH_TERMS) {
        const int64_t n = np_min(NP_PUSH_TERMS, push->n - first);
        const int tame = p->tame & take_coefficients(push, piece, first, n, &co);
        for (int64_t t = 0; t < n; t++) {
            const np_back *back = &push->back[first + t];
            terms[t] = (np_term){back->dh, back->dL, back->E, back->V, co.a[t], co.b[t]};
        }
        (tame ? rows->fast : rows->ref)->push(&piece->block, n, terms, co.c, push->dm, push->dv);
    }
}

void NP_REAL(np_factors_push)(const np_rows *rows, const np_push *push)
{
    pusher p = {push, 1};
    for (int64_t t = 0; t < push->n; t++) {
        const np_back *back = &push->back[t];
        p.tame &=
            NP_REAL(np_rows_kernels)(rows, back->E, back->V, back->dL, back->dh) == rows->fast;
    }
    NP_REAL(np_rows_run)(rows, push_piece, &p, 0);
}
