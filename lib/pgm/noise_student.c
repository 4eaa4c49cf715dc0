/*
 * Student-t factors: beta_i ~ Gamma(c0, c0), (R1)-(R4). The last parameter is c0.
 * extra: sum_i omega_i log1p(u_i) and sum_i omega_i w_i u_i with u = q / 2 c0.
 */
#include <math.h>
#include <string.h>

#include "kernel/special.h"
#include "kernel/tame.h"
#include "pgm/factors.h"

static double c_zero(const np_pgm *pgm)
{
    return pgm->value[pgm->p - 1];
}

/* (R3) */
static double c_tilde(const np_pgm *pgm)
{
    return c_zero(pgm) + 0.5 * (double)pgm->d;
}

static const np_kernels *block_kernels(const np_rows *rows, const np_kernels *k, int64_t n,
                                       const real *c)
{
    return np_tame_rows(n, c) ? k : rows->ref;
}

typedef struct weigher {
    const np_pgm *pgm;
    const np_sweep *sweep;
    const np_kernels *k;
} weigher;

/* (R2), (R4) for the rows of the piece; c gets omega w. */
static void weigh(const weigher *self, const np_piece *piece, const double *q, real *c,
                  np_partial *out)
{
    const double c0 = c_zero(self->pgm), ct = c_tilde(self->pgm);
    for (int64_t i = 0; i < piece->block.n; i++) {
        const double omega = (double)piece->omega[i], u = q[i] / (2 * c0),
                     w = ct / (c0 + 0.5 * q[i]);
        if (self->sweep->w)
            self->sweep->w[piece->row[i]] = (real)w;
        c[i] = np_saturate(omega * (double)(real)w);
        if (self->sweep->bound) {
            out->extra[0] += omega * log1p(u);
            out->extra[1] += omega * w * u;
        }
    }
}

/* The row is in cache: q_i, then w_i, then its share of the next sums. */
static void weigh_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const weigher *s = self;
    double q[NP_BLOCK_ROWS];
    real c[NP_BLOCK_ROWS];
    s->k->quad(&piece->block, s->sweep->post->E, s->sweep->post->V, q);
    NP_REAL(np_piece_filled)(piece);
    weigh(s, piece, q, c, out);
    if (s->sweep->next_L)
        block_kernels(rows, s->k, piece->block.n, c)
            ->sums(&piece->block, c, s->sweep->post->E, out->L, out->h);
}

static void forward(const np_pgm *pgm, const np_rows *rows, const np_sweep *sweep)
{
    const np_post *post = sweep->post;
    const weigher self = {pgm, sweep, NP_REAL(np_rows_kernels)(rows, post->E, post->V, NULL, NULL)};
    if (sweep->w && rows->weight)
        memset(sweep->w, 0, (size_t)rows->n * sizeof(real));
    const np_partial *sum = NP_REAL(np_rows_run)(rows, weigh_piece, &self, 0);
    for (int64_t j = 0; sweep->next_L && j < pgm->d; j++) {
        sweep->next_L[j] = sum->L[j];
        sweep->next_h[j] = sum->h[j] + post->E[j] * sum->L[j];
    }
    memcpy(sweep->stats->extra, sum->extra, sizeof sum->extra);
}

static double bound(const np_pgm *pgm, const np_sweep *sweep)
{
    const double half_d = 0.5 * (double)pgm->d;
    const double each = np_lgamma_rise(c_zero(pgm), half_d) - half_d * NP_LOG_2PI;
    return sweep->stats->count * each - c_tilde(pgm) * sweep->stats->extra[0] +
           0.5 * sweep->stats->logs;
}

static double log_factor(const np_pgm *pgm, double q)
{
    const double half_d = 0.5 * (double)pgm->d, c0 = c_zero(pgm);
    return np_lgamma_rise(c0, half_d) - half_d * NP_LOG_2PI - c_tilde(pgm) * log1p(q / (2 * c0));
}

typedef struct spreader {
    const np_kernels *k;
    const double *E;
    const real *dd; /* [n] */
} spreader;

/* (A10): L and h of the partial get sum_i dd_i lam_i and sum_i dd_i lam_i (m_i - E). */
static void spread_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const spreader *s = self;
    real c[NP_BLOCK_ROWS];
    for (int64_t i = 0; i < piece->block.n; i++)
        c[i] = s->dd[piece->row[i]];
    block_kernels(rows, s->k, piece->block.n, c)->sums(&piece->block, c, s->E, out->L, out->h);
}

static void add_moments(int64_t d, const np_partial *sum, np_dpost *dpost)
{
    for (int64_t j = 0; j < d; j++) {
        dpost->E[j] -= sum->h[j];
        dpost->V[j] += 0.5 * sum->L[j];
    }
}

/* (A12), first line. */
static void bound_backward(const np_pgm *pgm, const np_rows *rows, const np_sweep *sweep, double g,
                           real *dd, np_dpost *dpost, double *grad)
{
    const np_post *post = sweep->post;
    for (int64_t i = 0; i < rows->n; i++) {
        const double omega = rows->weight ? (double)rows->weight[i] : 1;
        dd[i] = np_saturate(-g * omega * (double)sweep->w[i]);
    }
    if (grad) {
        const double each = np_lgamma_rise_slope(c_zero(pgm), 0.5 * (double)pgm->d);
        grad[pgm->p - 1] +=
            g * (sweep->stats->count * each - sweep->stats->extra[0] + sweep->stats->extra[1]);
    }
    if (dpost) {
        const spreader self = {NP_REAL(np_rows_kernels)(rows, post->E, post->V, NULL, NULL),
                               post->E, dd};
        add_moments(pgm->d, NP_REAL(np_rows_run)(rows, spread_piece, &self, 0), dpost);
    }
}

/* (A9) */
static void slope(const np_pgm *pgm, const np_piece *piece, const real *w, const double *s,
                  real *dd)
{
    const double ct = c_tilde(pgm);
    for (int64_t i = 0; i < piece->block.n; i++) {
        const double w_i = w ? (double)w[piece->row[i]] : 1, dw = (double)piece->omega[i] * s[i];
        dd[i] = np_saturate(-dw * w_i * w_i / ct);
    }
}

typedef struct puller {
    const np_pgm *pgm;
    const np_pull *pull;
    const np_kernels *k;
} puller;

/* (A8) for the rows of the piece; c has dd. extra[0] sums the gradient of c0. */
static void pull_rows(const puller *self, const np_piece *piece, const double *s, const real *c,
                      np_partial *out)
{
    const np_pull *p = self->pull;
    const double ct = c_tilde(self->pgm);
    for (int64_t i = 0; i < piece->block.n; i++) {
        const int64_t row = piece->row[i];
        const double w = p->w ? (double)p->w[row] : 1, dw = (double)piece->omega[i] * s[i];
        if (p->dweight)
            p->dweight[row] = np_saturate((double)p->dweight[row] + w * s[i]);
        if (p->dd)
            p->dd[row] = c[i];
        out->extra[0] += dw * w * (1 - w) / ct;
    }
}

static void pull_piece(const void *self, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const puller *p = self;
    const np_back *back = p->pull->back;
    double s[NP_BLOCK_ROWS];
    real c[NP_BLOCK_ROWS];
    p->k->dot(&piece->block, back->E, back->dL, back->dh, s);
    NP_REAL(np_piece_filled)(piece);
    slope(p->pgm, piece, p->pull->w, s, c);
    pull_rows(p, piece, s, c, out);
    if (p->pull->dpost)
        block_kernels(rows, p->k, piece->block.n, c)
            ->sums(&piece->block, c, p->pull->before->E, out->L, out->h);
}

static void pull(const np_pgm *pgm, const np_rows *rows, const np_pull *p)
{
    if (!p->before) {
        if (p->dweight)
            NP_REAL(np_factors_dweight)(rows, p->back, p->dweight);
        return;
    }
    const np_kernels *back =
        NP_REAL(np_rows_kernels)(rows, p->back->E, NULL, p->back->dL, p->back->dh);
    const np_kernels *before = NP_REAL(np_rows_kernels)(rows, p->before->E, NULL, NULL, NULL);
    const puller self = {pgm, p, back == rows->fast ? before : back};
    const np_partial *sum = NP_REAL(np_rows_run)(rows, pull_piece, &self, 0);
    if (p->grad)
        p->grad[pgm->p - 1] += sum->extra[0];
    if (p->dpost)
        add_moments(pgm->d, sum, p->dpost);
}

const np_noise NP_REAL(np_student_noise) = {1,          forward, bound, bound_backward,
                                            log_factor, pull,    slope};
