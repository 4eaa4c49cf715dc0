/*
 * The last pass of backward: gradients of rows, by vectors along the dimensions.
 *
 * All terms are taken about the E of the first. With x = m - E_0, e_t = E_0 - E_t, the sums over
 * terms of push (kernel.h) are
 *   gm = p + B x,   gl = q + x (p + B x / 2)
 *   p = sum a_t dh_t + b_t e_t,   q = sum a_t (dL_t + dh_t e_t) + b_t (e_t^2 + V_t) / 2
 *   B = sum b_t
 * so a term costs four multiplications a number, and its vectors are combined in double before they
 * are rounded.
 */
#include <string.h>

#include "base/size.h"
#include "kernel/simd.h"

/* Rows at a time: their gradients and what a term needs fit into the registers. */
enum { PUSH_TILE = 128, PUSH_ROWS = NP_LANE_BYTES == 64 ? ROWS : 2 };

/* A term: what a and b are multiplied with in p and q; the coefficients are those of the block. */
typedef struct staged {
    _Alignas(64) real ap[PUSH_TILE], aq[PUSH_TILE], bp[PUSH_TILE], bq[PUSH_TILE];
    const real *a, *b; /* [n]; b may be NULL */
} staged;

/* A tile of a push. */
typedef struct push_tile {
    const np_block *k;
    int64_t j0, n, n_terms, n_b;
    staged u[NP_PUSH_TERMS];
    const staged *with_b[NP_PUSH_TERMS];               /* [n_b]: those terms that have a b */
    _Alignas(64) real high[PUSH_TILE], low[PUSH_TILE]; /* E_0 */
    real total[NP_BLOCK_ROWS], half[NP_BLOCK_ROWS];    /* B and B/2 of each row */
    const real *c;
    real *dm, *dv;
} push_tile;

/* p and q of rows i .. i+R-1 at one vector of dimensions: the part of a, and that of b. */
INLINE void add_a(const staged *u, int R, int64_t i, int64_t j, vec *p, vec *q)
{
    const vec ap = load(u->ap + j), aq = load(u->aq + j);
    for (int r = 0; r < R; r++) {
        const vec a = splat(u->a[i + r]);
        p[r] += a * ap;
        q[r] += a * aq;
    }
}

INLINE void add_b(const staged *u, int R, int64_t i, int64_t j, vec *p, vec *q)
{
    const vec bp = load(u->bp + j), bq = load(u->bq + j);
    for (int r = 0; r < R; r++) {
        const vec b = splat(u->b[i + r]);
        p[r] += b * bp;
        q[r] += b * bq;
    }
}

INLINE void push_lanes(const push_tile *t, const strip *s, int R, int fresh, int64_t i, int64_t j,
                       int64_t n)
{
    const vec high = load(t->high + j), low = load(t->low + j);
    vec p[ROWS] = {{0}}, q[ROWS] = {{0}};
    for (int64_t k = 0; k < t->n_terms; k++)
        add_a(&t->u[k], R, i, j, p, q);
    for (int64_t k = 0; k < t->n_b; k++)
        add_b(t->with_b[k], R, i, j, p, q);
    for (int r = 0; r < R; r++) {
        const vec x = (load_n(s->m[r] + j, n) - high) - low, lam = take_lam(s, r, fresh, j, n);
        const vec gm = p[r] + t->total[i + r] * x, gl = q[r] + x * (p[r] + t->half[i + r] * x);
        const int64_t at = t->k->row[i + r] * t->k->d + t->j0 + j;
        if (t->dm)
            ask(fresh, t->dm + at);
        if (t->dv)
            ask(fresh, t->dv + at);
        if (t->dm)
            store_n(t->dm + at, n, load_n(t->dm + at, n) + lam * gm);
        if (t->dv)
            store_n(t->dv + at, n, load_n(t->dv + at, n) - lam * (lam * gl + t->c[i + r]));
    }
}

INLINE void push_strip(const push_tile *t, int R, int fresh, int64_t i)
{
    const strip s = take_strip(t->k, R, fresh, i, t->j0);
    int64_t j = 0;
    for (; j + W <= t->n; j += W)
        push_lanes(t, &s, R, fresh, i, j, W);
    if (j < t->n)
        push_lanes(t, &s, R, fresh, i, j, t->n - j);
}

/* One term costs less than the memory: row by row, in its order. */
INLINE void push_strips(const push_tile *t, int fresh)
{
    int64_t i = 0;
    for (; t->n_terms > 1 && i + PUSH_ROWS <= t->k->n; i += PUSH_ROWS)
        push_strip(t, PUSH_ROWS, fresh, i);
    for (; i < t->k->n; i++)
        push_strip(t, 1, fresh, i);
}

static void stage_term(staged *u, const np_term *term, const double *E_0, int64_t j0, int64_t n)
{
    const double *dh = term->dh + j0, *dL = term->dL + j0, *E = term->E + j0;
    u->a = term->a;
    u->b = term->b;
    for (int64_t j = 0; j < n; j++) {
        u->ap[j] = (real)dh[j];
        u->aq[j] = (real)(dL[j] + dh[j] * (E_0[j] - E[j]));
    }
    for (int64_t j = 0; term->b && j < n; j++) {
        const double e = E_0[j] - E[j];
        u->bp[j] = (real)e;
        u->bq[j] = (real)(0.5 * (e * e + term->V[j0 + j]));
    }
    for (int64_t j = n; j % W != 0; j++)
        u->ap[j] = u->aq[j] = u->bp[j] = u->bq[j] = 0;
}

/* The terms with a b; B of each row, and its half. */
static void take_b(push_tile *t, const np_term *terms)
{
    for (int64_t i = 0; i < t->k->n; i++)
        t->total[i] = 0;
    t->n_b = 0;
    for (int64_t k = 0; k < t->n_terms; k++) {
        if (!terms[k].b)
            continue;
        t->with_b[t->n_b++] = &t->u[k];
        for (int64_t i = 0; i < t->k->n; i++)
            t->total[i] += terms[k].b[i];
    }
    for (int64_t i = 0; i < t->k->n; i++)
        t->half[i] = (real)0.5 * t->total[i];
}

void NP_SIMD_NAME(np_push)(const np_block *k, int64_t n_terms, const np_term *terms, const real *c,
                           real *dm, real *dv)
{
    push_tile t;
    t.k = k;
    t.n_terms = n_terms;
    t.c = c;
    t.dm = dm;
    t.dv = dv;
    take_b(&t, terms);
    memset(t.high, 0, sizeof t.high);
    memset(t.low, 0, sizeof t.low);
    for (int64_t j0 = 0; j0 < k->d; j0 += PUSH_TILE) {
        t.j0 = j0;
        t.n = np_min(PUSH_TILE, k->d - j0);
        if (n_terms > 0)
            stage_centre(t.high, t.low, terms[0].E + j0, t.n);
        for (int64_t i = 0; i < n_terms; i++)
            stage_term(&t.u[i], &terms[i], terms[0].E + j0, j0, t.n);
        switch (how_fresh(k)) {
        case KNOWN:
            push_strips(&t, KNOWN);
            break;
        case KNOWN_FAR:
            push_strips(&t, KNOWN_FAR);
            break;
        case FRESH:
            push_strips(&t, FRESH);
            break;
        default:
            push_strips(&t, FRESH_FAR);
        }
    }
}
