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

/*
 * Rows about a centre serve as long as no row's weight grows to more than so many times what it is
 * there: then the terms of (R1) about another E, which in part cancel, are together at most
 * (2 sqrt(2) + 1)^2 < 15 times as large as 2 d_i, and their roundings with them.
 */
static const double grow = 2;

static void move_kept(int64_t d, const double *E, const double *V, np_kept *kept)
{
    memcpy(kept->centre, E, (size_t)d * sizeof(double));
    if (V)
        memcpy(kept->V, V, (size_t)d * sizeof(double));
    kept->moved = 1;
}

/* A pass of forward, and one of its pieces. */
typedef struct weigher {
    const np_pgm *pgm;
    const np_sweep *sweep;
    const np_rows *rows;
    int moved;            /* rows are about a centre already */
    const double *centre; /* [D]: that of the sums */
    const np_piece *piece;
    np_partial *out;
} weigher;

/* What n rows of the piece from row i on add to `extra`. */
static void add_extra(const weigher *self, int64_t i, int64_t n, const double *q)
{
    const double c0 = c_zero(self->pgm), ct = c_tilde(self->pgm);
    for (int64_t r = 0; r < n; r++) {
        const double omega = (double)self->piece->omega[i + r], u = q[r] / (2 * c0);
        self->out->extra[0] += omega * log1p(u);
        self->out->extra[1] += omega * (ct / (c0 + 0.5 * q[r])) * u;
    }
}

/* (R2), (R4) for n rows of the piece from row i on; c gets omega w. */
static void weigh(const weigher *self, int64_t i, int64_t n, const double *q, real *c)
{
    const double c0 = c_zero(self->pgm), ct = c_tilde(self->pgm);
    self->rows->fast->weights(n, ct, c0, q, c);
    if (self->sweep->w)
        NP_REAL(np_piece_put)(self->piece, i, n, c, self->sweep->w);
    if (self->sweep->bound)
        add_extra(self, i, n, q);
    for (int64_t r = 0; self->piece->weighted && r < n; r++)
        c[r] = np_saturate((double)self->piece->omega[i + r] * (double)c[r]);
}

/* Whether some row is too far from its centre, where (R1) was q_0. The bound has log d_i times
 * c0: it wants q_i itself to be right where that is small beside c0. */
static int is_stale(const np_pgm *pgm, int64_t n, const double *q_0, const double *q)
{
    const double c0 = fmin(c_zero(pgm), 0.5 * (double)pgm->d);
    int64_t stale = 0;
    for (int64_t r = 0; r < n; r++)
        stale += c0 + 0.5 * q_0[r] <= grow * (c0 + 0.5 * q[r]) ? 0 : 1;
    return stale != 0;
}

/* Rows that float cannot sum are summed here. */
static int can_sum(const np_rows *rows, const np_piece *piece, int64_t i, int64_t n, const real *c,
                   const double *centre, np_partial *out)
{
    if (np_tame_rows(n, c))
        return 1;
    const np_block part = NP_REAL(np_piece_part)(piece, i, n);
    rows->ref->sums(&part, c, centre, out->L, out->h);
    return 0;
}

static int weigh_some(void *arg, int64_t i, int64_t n, const double *q, real *c)
{
    const weigher *self = arg;
    weigh(self, i, n, q, c);
    if (self->piece->q)
        memcpy(self->piece->q + i, q, (size_t)n * sizeof *q);
    return self->sweep->next_L &&
           can_sum(self->rows, self->piece, i, n, c, self->centre, self->out);
}

/* s is what (R1) is more than at the centre. */
static int weigh_moved(void *arg, int64_t i, int64_t n, const double *s, real *c)
{
    const weigher *self = arg;
    const double *q_0 = self->piece->q + i;
    double q[NP_VISIT_ROWS] = {0};
    for (int64_t r = 0; r < n; r++)
        q[r] = q_0[r] + s[r];
    self->out->stale |= is_stale(self->pgm, n, q_0, q);
    weigh(self, i, n, q, c);
    return self->sweep->next_L &&
           can_sum(self->rows, self->piece, i, n, c, self->centre, self->out);
}

/* The row is in cache: q_i, then w_i, then its share of the next sums. */
static void weigh_piece(const void *arg, const np_rows *rows, np_piece *piece, np_partial *out)
{
    weigher self = *(const weigher *)arg;
    const np_post *post = self.sweep->post;
    np_visit visit = NP_REAL(np_piece_visit)(piece, self.sweep->next_L ? out : NULL);
    self.piece = piece;
    self.out = out;
    visit.weigh = self.moved ? weigh_moved : weigh_some;
    visit.self = &self;
    if (self.moved) {
        const np_pairs pairs = {piece->block.n, rows->d, piece->block.lam, piece->g};
        rows->fast->visit_pairs(&pairs, rows->kept->a, rows->kept->b, &visit);
    } else {
        rows->fast->visit(&piece->block, post->E, post->V, NULL, &visit);
    }
}

/* The same where float will not do. */
static void weigh_wild(const void *arg, const np_rows *rows, np_piece *piece, np_partial *out)
{
    weigher self = *(const weigher *)arg;
    const np_post *post = self.sweep->post;
    double q[NP_BLOCK_ROWS];
    real c[NP_BLOCK_ROWS];
    self.piece = piece;
    self.out = out;
    rows->ref->quad(&piece->block, post->E, post->V, q);
    NP_REAL(np_piece_filled)(piece);
    weigh(&self, 0, piece->block.n, q, c);
    if (self.sweep->next_L)
        rows->ref->sums(&piece->block, c, post->E, out->L, out->h);
}

/* A pass about the centre that is there, if there is one; one about E if it turns out to be too far
 * away. */
static const np_partial *weigh_rows(weigher *self, const np_rows *rows)
{
    const np_post *post = self->sweep->post;
    np_kept *kept = rows->kept;
    if (kept && kept->moved) {
        self->moved = 1;
        self->centre = kept->centre;
        rows->fast->pair_quad(rows->d, post->E, post->V, kept->centre, kept->V, kept->a, kept->b);
        const np_partial *sum = NP_REAL(np_rows_run)(rows, weigh_piece, self, 0);
        if (!sum->stale)
            return sum;
    }
    self->moved = 0;
    self->centre = post->E;
    if (kept)
        move_kept(rows->d, post->E, post->V, kept);
    return NP_REAL(np_rows_run)(rows, weigh_piece, self, 0);
}

static void forward(const np_pgm *pgm, const np_rows *rows, const np_sweep *sweep)
{
    const np_post *post = sweep->post;
    weigher self = {.pgm = pgm, .sweep = sweep, .rows = rows, .centre = post->E};
    if (sweep->w && rows->weight)
        memset(sweep->w, 0, (size_t)rows->n * sizeof(real));
    const np_partial *sum =
        rows->wild ? NP_REAL(np_rows_run)(rows, weigh_wild, &self, 0) : weigh_rows(&self, rows);
    if (sweep->next_L)
        pgm->dims->recentre(pgm->d, sum->L, sum->h, self.centre, sweep->next_L, sweep->next_h);
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
        const spreader self = {rows->wild ? rows->ref : rows->fast, post->E, dd};
        const np_partial *sum = NP_REAL(np_rows_run)(rows, spread_piece, &self, 0);
        pgm->dims->add_moments(pgm->d, sum->L, sum->h, post->E, post->E, dpost->E, dpost->V);
    }
}

/* (A9) */
static void slope(const np_pgm *pgm, const np_rows *rows, const np_piece *piece, const real *w,
                  const double *s, real *dd)
{
    real room[NP_BLOCK_ROWS];
    const int64_t n = piece->block.n;
    rows->fast->slopes(n, c_tilde(pgm), piece->omega, NP_REAL(np_piece_take)(piece, 0, n, w, room),
                       s, dd);
}

/* A pass of backward, and one of its pieces. */
typedef struct puller {
    const np_pgm *pgm;
    const np_pull *pull;
    const np_rows *rows;
    int moved;            /* rows are about a centre already */
    const double *centre; /* [D] */
    const double *dL;     /* [D]: centred there */
    const np_piece *piece;
    np_partial *out;
} puller;

/* (A8), (A9) for n rows of the piece from row i on; c gets dd. extra[0] sums the gradient of c0. */
static void pull_rows(const puller *self, int64_t i, int64_t n, const double *s, real *c)
{
    const np_pull *p = self->pull;
    real room[NP_BLOCK_ROWS];
    const real *weights = NP_REAL(np_piece_take)(self->piece, i, n, p->w, room);
    self->out->extra[0] +=
        self->rows->fast->slopes(n, c_tilde(self->pgm), self->piece->omega + i, weights, s, c);
    if (p->dd)
        NP_REAL(np_piece_put)(self->piece, i, n, c, p->dd);
    for (int64_t r = 0; p->dweight && r < n; r++) {
        real *dweight = &p->dweight[self->piece->row[i + r]];
        *dweight = np_saturate((double)*dweight + (double)weights[r] * s[r]);
    }
}

static int pull_some(void *arg, int64_t i, int64_t n, const double *s, real *c)
{
    const puller *self = arg;
    pull_rows(self, i, n, s, c);
    return self->pull->dpost && can_sum(self->rows, self->piece, i, n, c, self->centre, self->out);
}

static void pull_piece(const void *arg, const np_rows *rows, np_piece *piece, np_partial *out)
{
    puller self = *(const puller *)arg;
    np_visit visit = NP_REAL(np_piece_visit)(piece, self.pull->dpost ? out : NULL);
    self.piece = piece;
    self.out = out;
    visit.weigh = pull_some;
    visit.self = &self;
    if (self.moved) {
        const np_pairs pairs = {piece->block.n, rows->d, piece->block.lam, piece->g};
        rows->fast->visit_pairs(&pairs, rows->kept->a, rows->kept->b, &visit);
    } else {
        rows->fast->visit(&piece->block, self.centre, self.dL, self.pull->back->dh, &visit);
    }
}

/* The same where float will not do. */
static void pull_wild(const void *arg, const np_rows *rows, np_piece *piece, np_partial *out)
{
    puller self = *(const puller *)arg;
    const np_back *back = self.pull->back;
    double s[NP_BLOCK_ROWS];
    real c[NP_BLOCK_ROWS];
    self.piece = piece;
    self.out = out;
    rows->ref->dot(&piece->block, back->E, back->dL, back->dh, s);
    NP_REAL(np_piece_filled)(piece);
    pull_rows(&self, 0, piece->block.n, s, c);
    if (self.pull->dpost)
        rows->ref->sums(&piece->block, c, self.pull->before->E, out->L, out->h);
}

/* Whether the centre of the rows that are kept serves for rows of these weights. */
static int centre_serves(const np_kept *kept, int64_t n, const real *w)
{
    int64_t stale = 0;
    for (int64_t i = 0; i < n; i++)
        stale += w[i] <= (real)grow * kept->w[i] ? 0 : 1;
    return stale == 0;
}

/* About the centre that is there if it serves, otherwise about that of the weights. */
static const np_partial *pull_all(puller *self, const np_rows *rows)
{
    const np_pull *p = self->pull;
    const np_back *back = p->back;
    const double *E = p->before->E;
    np_kept *kept = rows->kept;
    self->moved = kept && kept->moved && centre_serves(kept, rows->n, p->w);
    self->centre = self->moved ? kept->centre : E;
    self->dL = rows->spare;
    if (self->moved) {
        rows->fast->pair_dot(rows->d, back->E, back->dL, back->dh, kept->centre, kept->a, kept->b);
    } else {
        for (int64_t j = 0; j < rows->d; j++)
            rows->spare[j] = back->dL[j] - back->dh[j] * (back->E[j] - E[j]);
    }
    if (kept && !self->moved) {
        move_kept(rows->d, E, NULL, kept);
        kept->w = p->w;
    }
    return NP_REAL(np_rows_run)(rows, pull_piece, self, 0);
}

static void pull(const np_pgm *pgm, const np_rows *rows, const np_pull *p)
{
    if (!p->before) {
        if (p->dweight)
            NP_REAL(np_factors_dweight)(rows, p->back, p->dweight);
        return;
    }
    puller self = {.pgm = pgm, .pull = p, .rows = rows, .centre = p->before->E};
    const np_partial *sum =
        p->back->tame ? pull_all(&self, rows) : NP_REAL(np_rows_run)(rows, pull_wild, &self, 0);
    if (p->grad)
        p->grad[pgm->p - 1] += sum->extra[0];
    if (p->dpost)
        pgm->dims->add_moments(pgm->d, sum->L, sum->h, p->before->E, self.centre, p->dpost->E,
                               p->dpost->V);
}

const np_noise NP_REAL(np_student_noise) = {1,          forward, bound, bound_backward,
                                            log_factor, pull,    slope};
