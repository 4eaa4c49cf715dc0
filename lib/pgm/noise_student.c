/*
 * Student-t factors: beta_i ~ Gamma(c0, c0), (R1)-(R4). The last parameter is c0.
 * extra: sum_i omega_i log1p(u_i) and sum_i omega_i w_i u_i with u = q / 2 c0.
 */
#include <math.h>
#include <string.h>

#include "kernel/special.h"
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
    return k->tame(n, c) ? k : rows->ref;
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

/* A pass of forward. */
typedef struct weigher {
    const np_pgm *pgm;
    const np_sweep *sweep;
    int moved;            /* rows are about a centre already */
    const double *centre; /* [D]: that of the sums */
} weigher;

/* What the rows of the piece add to `extra`. */
static void add_extra(const weigher *self, const np_kernels *k, const np_piece *piece,
                      const double *q, np_partial *out)
{
    const double c0 = c_zero(self->pgm), ct = c_tilde(self->pgm);
    double u[NP_BLOCK_ROWS], logs[NP_BLOCK_ROWS];
    for (int64_t i = 0; i < piece->block.n; i++)
        u[i] = q[i] / (2 * c0);
    k->log1p(piece->block.n, u, logs);
    for (int64_t i = 0; i < piece->block.n; i++) {
        const double omega = (double)piece->omega[i];
        out->extra[0] += omega * logs[i];
        out->extra[1] += omega * (ct / (c0 + 0.5 * q[i])) * u[i];
    }
}

/* The bound has log d_i times c0: it wants q_i itself to be right where that is small beside c0. */
static double stale_floor(const np_pgm *pgm)
{
    return fmin(c_zero(pgm), 0.5 * (double)pgm->d);
}

/* Weights of the rows, as opposed to what they count, where they are wanted. */
static void put_weights(const weigher *self, const np_rows *rows, const np_piece *piece,
                        const double *q)
{
    real w[NP_BLOCK_ROWS];
    rows->fast->weights(piece->block.n, c_tilde(self->pgm), c_zero(self->pgm), q, w);
    NP_REAL(np_piece_put)(piece, 0, piece->block.n, w, self->sweep->w);
}

/* The row is in cache: q_i, then w_i, then its share of the next sums. What float cannot sum is
 * summed by the reference. */
static void weigh_piece(const void *arg, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const weigher *self = arg;
    const np_post *post = self->sweep->post;
    const int64_t n = piece->block.n;
    double q[NP_BLOCK_ROWS];
    real c[NP_BLOCK_ROWS];
    np_visit visit = NP_REAL(np_piece_visit)(piece, self->sweep->next_L ? out : NULL);
    int summed;
    visit.top = c_tilde(self->pgm);
    visit.base = c_zero(self->pgm);
    visit.s = self->moved || !piece->q ? q : piece->q;
    visit.c = NP_REAL(np_piece_room)(piece, self->sweep->w, c);
    if (self->moved) {
        const np_pairs pairs = {n, rows->d, piece->block.lam, piece->g};
        visit.q_0 = piece->q;
        visit.floor = stale_floor(self->pgm);
        visit.grow = grow;
        visit.stale = &out->stale;
        summed = rows->fast->visit_pairs(&pairs, rows->kept->a, rows->kept->b, &visit);
    } else {
        summed = rows->fast->visit(&piece->block, post->E, post->V, NULL, &visit);
    }
    if (self->sweep->w && piece->weighted)
        put_weights(self, rows, piece, visit.s);
    if (self->sweep->bound)
        add_extra(self, rows->fast, piece, visit.s, out);
    if (self->sweep->next_L && !summed)
        rows->ref->sums(&piece->block, visit.c, self->centre, out->L, out->h);
}

/* The same where float will not do. */
static void weigh_wild(const void *arg, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const weigher *self = arg;
    const np_post *post = self->sweep->post;
    const int64_t n = piece->block.n;
    double q[NP_BLOCK_ROWS];
    real c[NP_BLOCK_ROWS];
    rows->ref->quad(&piece->block, post->E, post->V, q);
    NP_REAL(np_piece_filled)(piece);
    rows->ref->weights(n, c_tilde(self->pgm), c_zero(self->pgm), q, c);
    for (int64_t i = 0; piece->weighted && i < n; i++)
        c[i] = np_saturate((double)piece->omega[i] * (double)c[i]);
    if (self->sweep->w)
        put_weights(self, rows, piece, q);
    if (self->sweep->bound)
        add_extra(self, rows->ref, piece, q, out);
    if (self->sweep->next_L)
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
    weigher self = {.pgm = pgm, .sweep = sweep, .centre = post->E};
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

/* A pass of backward. */
typedef struct puller {
    const np_pgm *pgm;
    const np_pull *pull;
    int moved;            /* rows are about a centre already */
    const double *centre; /* [D] */
    const double *dL;     /* [D]: centred there */
} puller;

/* dd of the piece's rows, if it is not in its place, and their weights' share of dweight, where
 * these are wanted. */
static void put_slopes(const np_pull *p, const np_piece *piece, const real *w, const double *s,
                       const real *dd)
{
    if (p->dd && piece->weighted)
        NP_REAL(np_piece_put)(piece, 0, piece->block.n, dd, p->dd);
    for (int64_t i = 0; p->dweight && i < piece->block.n; i++) {
        real *dweight = &p->dweight[piece->row[i]];
        *dweight = np_saturate((double)*dweight + (double)w[i] * s[i]);
    }
}

/* (A8), (A9), then the row's share of (A10). extra[0] sums the gradient of c0. */
static void pull_piece(const void *arg, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const puller *self = arg;
    const np_pull *p = self->pull;
    const int64_t n = piece->block.n;
    double s[NP_BLOCK_ROWS];
    real room_dd[NP_BLOCK_ROWS], room[NP_BLOCK_ROWS];
    np_visit visit = NP_REAL(np_piece_visit)(piece, p->dpost ? out : NULL);
    int summed;
    visit.top = c_tilde(self->pgm);
    visit.w = NP_REAL(np_piece_take)(piece, 0, n, p->w, room);
    visit.s = s;
    visit.c = NP_REAL(np_piece_room)(piece, p->dd, room_dd);
    visit.slopes = &out->extra[0];
    if (self->moved) {
        const np_pairs pairs = {n, rows->d, piece->block.lam, piece->g};
        summed = rows->fast->visit_pairs(&pairs, rows->kept->a, rows->kept->b, &visit);
    } else {
        summed = rows->fast->visit(&piece->block, self->centre, self->dL, p->back->dh, &visit);
    }
    put_slopes(p, piece, visit.w, s, visit.c);
    if (p->dpost && !summed)
        rows->ref->sums(&piece->block, visit.c, self->centre, out->L, out->h);
}

/* The same where float will not do. */
static void pull_wild(const void *arg, const np_rows *rows, np_piece *piece, np_partial *out)
{
    const puller *self = arg;
    const np_pull *p = self->pull;
    const np_back *back = p->back;
    const int64_t n = piece->block.n;
    double s[NP_BLOCK_ROWS];
    real room_dd[NP_BLOCK_ROWS], room[NP_BLOCK_ROWS];
    real *dd = NP_REAL(np_piece_room)(piece, p->dd, room_dd);
    const real *w = NP_REAL(np_piece_take)(piece, 0, n, p->w, room);
    rows->ref->dot(&piece->block, back->E, back->dL, back->dh, s);
    NP_REAL(np_piece_filled)(piece);
    out->extra[0] += rows->ref->slopes(n, c_tilde(self->pgm), piece->omega, w, s, dd);
    put_slopes(p, piece, w, s, dd);
    if (p->dpost)
        rows->ref->sums(&piece->block, dd, p->before->E, out->L, out->h);
}

/* About the centre that is there if it serves for rows of these weights, otherwise about theirs. */
static const np_partial *pull_all(puller *self, const np_rows *rows)
{
    const np_pull *p = self->pull;
    const np_back *back = p->back;
    const double *E = p->before->E;
    np_kept *kept = rows->kept;
    self->moved = kept && kept->moved && rows->fast->within(rows->n, (real)grow, p->w, kept->w);
    self->centre = self->moved ? kept->centre : E;
    self->dL = rows->spare;
    if (self->moved) {
        rows->fast->pair_dot(rows->d, back->E, back->dL, back->dh, kept->centre, kept->a, kept->b);
    } else {
        rows->dims->move(rows->d, back->dL, back->dh, back->E, E, rows->spare);
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
    puller self = {.pgm = pgm, .pull = p, .centre = p->before->E};
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
