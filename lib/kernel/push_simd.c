/*
 * The last pass of backward: gradients of rows, by vectors along the dimensions.
 *
 * All terms are taken about the E of the first, rounded to real. With that as C, x = m - C and
 * e_t = C - E_t the sums over terms of push (kernel.h) are
 *   gm = p + B x,   gl = q + x (p + B x / 2)
 *   p = sum a_t dh_t + b_t e_t,   q = sum a_t (dL_t + dh_t e_t) + b_t (e_t^2 + V_t) / 2
 *   B = sum b_t
 * so a coefficient a or b costs two multiplications a number, and the vectors it is multiplied
 * with are combined in double before they are rounded. Without such coefficients, as without
 * sweeps, all rows have the same p and q, which stay in registers. With them rows go four by four,
 * so that a vector is read once for all; those that may come from memory one by one, in its order.
 */
#include <string.h>

#include "base/size.h"
#include "kernel/simd.h"

enum {
    PUSH_TILE = 128,
    PUSH_PARTS = 2 * NP_PUSH_TERMS, /* an a and a b for each term */
    FLAT_COLUMNS = 8,
    PUSH_ROWS = 4,
    PUSH_COLUMNS = NP_LANE_BYTES == 64 ? 2 : 1
};

/* What a coefficient of the rows is multiplied with in p and q. */
typedef struct part {
    _Alignas(64) real p[PUSH_TILE], q[PUSH_TILE];
    const real *c; /* [n] */
} part;

/* A tile of a push. */
typedef struct push_tile {
    const np_block *k;
    int64_t j0, n, n_parts;
    part u[PUSH_PARTS], rest; /* rest: of all coefficients that are 1, c is not read */
    _Alignas(64) real centre[PUSH_TILE];
    real total[NP_BLOCK_ROWS]; /* B of each row */
    const real *c;
    real *dm, *dv;
} push_tile;

/* A row of the block at the first dimension of the tile. */
typedef struct pushed {
    strip s;
    real *dm, *dv;       /* or NULL */
    real total, half, c; /* B, B/2 */
} pushed;

INLINE pushed take_pushed(const push_tile *t, int kind, int64_t i)
{
    const int64_t at = t->k->row[i] * t->k->d + t->j0;
    return (pushed){
        .s = take_strip(t->k, kind, i, t->j0),
        .dm = t->dm ? t->dm + at : NULL,
        .dv = t->dv ? t->dv + at : NULL,
        .total = t->total[i],
        .half = (real)0.5 * t->total[i],
        .c = t->c[i],
    };
}

/* n lanes from p and q on. flat: B is 0. */
INLINE void push_lanes(const pushed *row, int kind, int flat, int64_t j, int64_t n, vec centre,
                       vec p, vec q)
{
    const vec x = load_n(row->s.m + j, n) - centre, lam = take_lam(&row->s, kind, j, n);
    if (row->dm) {
        const vec gm = flat ? p : mad(splat(row->total), x, p);
        ask(row->dm + j, kind, row->s.ahead);
        store_n(row->dm + j, n, mad(lam, gm, load_n(row->dm + j, n)));
    }
    if (row->dv) {
        const vec gl = mad(x, flat ? p : mad(splat(row->half), x, p), q);
        ask(row->dv + j, kind, row->s.ahead);
        store_n(row->dv + j, n, mad(-lam, mad(lam, gl, splat(row->c)), load_n(row->dv + j, n)));
    }
}

/* C vectors of dimensions from j on, of which the last has n lanes, of all rows. */
INLINE void push_flat(const push_tile *t, int C, int kind, int64_t j, int64_t n)
{
    vec p[FLAT_COLUMNS], q[FLAT_COLUMNS], centre[FLAT_COLUMNS];
    for (int z = 0; z < C; z++) {
        p[z] = load(t->rest.p + j + z * W);
        q[z] = load(t->rest.q + j + z * W);
        centre[z] = load(t->centre + j + z * W);
    }
    for (int64_t i = 0; i < t->k->n; i++) {
        const pushed row = take_pushed(t, kind, i);
        for (int z = 0; z < C; z++)
            push_lanes(&row, kind, 1, j + z * W, z + 1 < C ? W : n, centre[z], p[z], q[z]);
    }
}

/* C vectors of dimensions from j on, of which the last has n lanes, of R rows from row i on. */
INLINE void push_columns(const push_tile *t, const pushed *row, int R, int C, int kind, int64_t i,
                         int64_t j, int64_t n)
{
    vec p[PUSH_ROWS][PUSH_COLUMNS], q[PUSH_ROWS][PUSH_COLUMNS];
    for (int r = 0; r < R; r++)
        for (int z = 0; z < C; z++) {
            p[r][z] = load(t->rest.p + j + z * W);
            q[r][z] = load(t->rest.q + j + z * W);
        }
    for (int64_t k = 0; k < t->n_parts; k++) {
        const part *u = &t->u[k];
        for (int z = 0; z < C; z++) {
            vec up = load(u->p + j + z * W), uq = load(u->q + j + z * W);
            pin(&up); /* read once for all rows */
            pin(&uq);
            for (int r = 0; r < R; r++) {
                p[r][z] = mad(splat(u->c[i + r]), up, p[r][z]);
                q[r][z] = mad(splat(u->c[i + r]), uq, q[r][z]);
            }
        }
    }
    for (int r = 0; r < R; r++)
        for (int z = 0; z < C; z++)
            push_lanes(&row[r], kind, 0, j + z * W, z + 1 < C ? W : n, load(t->centre + j + z * W),
                       p[r][z], q[r][z]);
}

INLINE void push_rows(const push_tile *t, int R, int kind, int64_t i)
{
    pushed row[PUSH_ROWS];
    int64_t j = 0;
    for (int r = 0; r < R; r++)
        row[r] = take_pushed(t, kind, i + r);
    for (; j + PUSH_COLUMNS * W <= t->n; j += PUSH_COLUMNS * W)
        push_columns(t, row, R, PUSH_COLUMNS, kind, i, j, W);
    for (; j + W <= t->n; j += W)
        push_columns(t, row, R, 1, kind, i, j, W);
    if (j < t->n)
        push_columns(t, row, R, 1, kind, i, j, t->n - j);
}

INLINE void push_all(const push_tile *t, int kind)
{
    int64_t i = 0, j = 0;
    for (; t->n_parts > 0 && !(kind & FAR) && i + PUSH_ROWS <= t->k->n; i += PUSH_ROWS)
        push_rows(t, PUSH_ROWS, kind, i);
    for (; t->n_parts > 0 && i < t->k->n; i++)
        push_rows(t, 1, kind, i);
    if (t->n_parts > 0)
        return;
    for (; j + FLAT_COLUMNS * W <= t->n; j += FLAT_COLUMNS * W)
        push_flat(t, FLAT_COLUMNS, kind, j, W);
    for (; j + W <= t->n; j += W)
        push_flat(t, 1, kind, j, W);
    if (j < t->n)
        push_flat(t, 1, kind, j, t->n - j);
}

/* Lanes behind the end are read, but what comes of them is not stored. */
static void pad(part *u, int64_t n)
{
    for (int64_t j = n; j % W != 0; j++)
        u->p[j] = u->q[j] = 0;
}

static void stage_a(part *u, const np_term *term, const real *C, int64_t j0, int64_t n)
{
    const double *dh = term->dh + j0, *dL = term->dL + j0, *E = term->E + j0;
    u->c = term->a;
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        u->p[j] = (real)dh[j];
        u->q[j] = (real)(dL[j] + dh[j] * ((double)C[j] - E[j]));
    }
    pad(u, n);
}

/* The sum of all terms whose a is 1. */
static void stage_rest(push_tile *t, int64_t n_terms, const np_term *terms)
{
    double p[PUSH_TILE] = {0}, q[PUSH_TILE] = {0};
    for (int64_t i = 0; i < n_terms; i++) {
        const double *dh = terms[i].dh + t->j0, *dL = terms[i].dL + t->j0, *E = terms[i].E + t->j0;
        for (int64_t j = 0; !terms[i].a && j < t->n; j++) {
            p[j] += dh[j];
            q[j] += dL[j] + dh[j] * ((double)t->centre[j] - E[j]);
        }
    }
#pragma omp simd
    for (int64_t j = 0; j < PUSH_TILE; j++) {
        t->rest.p[j] = (real)p[j];
        t->rest.q[j] = (real)q[j];
    }
}

static void stage_b(part *u, const np_term *term, const real *C, int64_t j0, int64_t n)
{
    const double *V = term->V + j0, *E = term->E + j0;
    u->c = term->b;
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        const double e = (double)C[j] - E[j];
        u->p[j] = (real)e;
        u->q[j] = (real)(0.5 * (e * e + V[j]));
    }
    pad(u, n);
}

/* From the last term on, which is the one whose a may be 1: then it makes no difference to the
 * bits, but for the sign of a 0, whether it is given as NULL or as ones. */
static void stage_tile(push_tile *t, int64_t n_terms, const np_term *terms)
{
    t->n_parts = 0;
    if (n_terms > 0)
        stage(t->centre, terms[0].E + t->j0, t->n);
    else
        memset(t->centre, 0, sizeof t->centre);
    stage_rest(t, n_terms, terms);
    for (int64_t i = n_terms - 1; i >= 0; i--)
        if (terms[i].a)
            stage_a(&t->u[t->n_parts++], &terms[i], t->centre, t->j0, t->n);
    for (int64_t i = 0; i < n_terms; i++)
        if (terms[i].b)
            stage_b(&t->u[t->n_parts++], &terms[i], t->centre, t->j0, t->n);
}

static void total_b(push_tile *t, int64_t n_terms, const np_term *terms)
{
    for (int64_t i = 0; i < t->k->n; i++)
        t->total[i] = 0;
    for (int64_t k = 0; k < n_terms; k++)
        for (int64_t i = 0; terms[k].b && i < t->k->n; i++)
            t->total[i] += terms[k].b[i];
}

void NP_SIMD_NAME(np_push)(const np_block *k, int64_t n_terms, const np_term *terms, const real *c,
                           real *dm, real *dv)
{
    push_tile t;
    t.k = k;
    t.c = c;
    t.dm = dm;
    t.dv = dv;
    total_b(&t, n_terms, terms);
    for (int64_t j0 = 0; j0 < k->d; j0 += PUSH_TILE) {
        t.j0 = j0;
        t.n = np_min(PUSH_TILE, k->d - j0);
        stage_tile(&t, n_terms, terms);
        if (k->lam && k->ahead)
            push_all(&t, KNOWN | FAR);
        else if (k->lam)
            push_all(&t, KNOWN);
        else if (k->ahead && k->inner)
            push_all(&t, FRESH | FAR | INNER);
        else if (k->ahead)
            push_all(&t, FRESH | FAR);
        else
            push_all(&t, FRESH);
    }
}
