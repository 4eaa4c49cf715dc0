/*
 * Sweeps over rows, by vectors along the dimensions.
 *
 * A few rows at a time stay in the first-level cache while they are passed over twice: once for
 * the sums over dimensions, of four rows at a time, or one by one if they may come from memory;
 * then for the sums over rows, which stay in registers meanwhile.
 */
#include <string.h>

#include "base/size.h"
#include "kernel/simd.h"

void NP_SIMD_NAME(np_pair_quad)(int64_t d, const double *E, const double *V, const double *centre,
                                const double *V_0, real *a, real *b)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        const double e = E[j] - centre[j];
        a[j] = (real)(e * e + (V[j] - V_0[j]));
        b[j] = (real)(-2 * e);
    }
}

void NP_SIMD_NAME(np_pair_dot)(int64_t d, const double *E, const double *dL, const double *dh,
                               const double *centre, real *a, real *b)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        a[j] = (real)(dL[j] - dh[j] * (E[j] - centre[j]));
        b[j] = (real)dh[j];
    }
}

/* The sums over rows of a visit, [d], in real. */
typedef struct pile {
    int64_t d;
    real *L, *h;
} pile;

/* Vectors of dimensions whose sums stay in registers. */
enum { PILE_COLUMNS = NP_LANE_BYTES == 64 ? 8 : 4 };

/* C vectors of dimensions from j on, of which the last has n lanes. */
INLINE void add_columns(const pile *p, const np_pairs *rows, const real *c, int C, int64_t j,
                        int64_t n)
{
    vec sum_L[PILE_COLUMNS], sum_h[PILE_COLUMNS];
    for (int q = 0; q < C; q++) {
        sum_L[q] = load_n(p->L + j + q * W, q + 1 < C ? W : n);
        sum_h[q] = load_n(p->h + j + q * W, q + 1 < C ? W : n);
    }
    for (int64_t i = 0; i < rows->n; i++) {
        const real *lam = rows->lam + i * p->d + j, *g = rows->g + i * p->d + j;
        for (int q = 0; q < C; q++) {
            sum_L[q] = mad(splat(c[i]), load_n(lam + q * W, q + 1 < C ? W : n), sum_L[q]);
            sum_h[q] = mad(splat(c[i]), load_n(g + q * W, q + 1 < C ? W : n), sum_h[q]);
        }
    }
    for (int q = 0; q < C; q++) {
        store_n(p->L + j + q * W, q + 1 < C ? W : n, sum_L[q]);
        store_n(p->h + j + q * W, q + 1 < C ? W : n, sum_h[q]);
    }
}

static void add_rows(const pile *p, const np_pairs *rows, const real *c)
{
    int64_t j = 0;
    for (; j + PILE_COLUMNS * W <= p->d; j += PILE_COLUMNS * W)
        add_columns(p, rows, c, PILE_COLUMNS, j, W);
    for (; j + 2 * W <= p->d; j += 2 * W)
        add_columns(p, rows, c, 2, j, W);
    for (; j + W <= p->d; j += W)
        add_columns(p, rows, c, 1, j, W);
    if (j < p->d)
        add_columns(p, rows, c, 1, j, p->d - j);
}

static pile begin_pile(int64_t d, const np_visit *visit)
{
    const pile p = {d, visit->stage + 4 * d, visit->stage + 5 * d};
    memset(p.L, 0, 2 * (size_t)d * sizeof(real));
    return p;
}

static void end_pile(const pile *p, const np_visit *visit)
{
#pragma omp simd
    for (int64_t j = 0; j < p->d; j++) {
        visit->L[j] += (double)p->L[j];
        visit->h[j] += (double)p->h[j];
    }
}

/* Rows from row i on, once their s is known. */
static void count_rows(const pile *p, const np_visit *visit, int64_t i, const np_pairs *rows,
                       const double *s)
{
    real c[NP_VISIT_ROWS];
    if (visit->weigh(visit->self, i, rows->n, s, c) && visit->L)
        add_rows(p, rows, c);
}

/* n lanes of R rows; lam a and g b apart, so that twice as many sums do not wait for each other. */
INLINE void pair_lanes(const real *lam, const real *g, int64_t d, int R, int64_t j, int64_t n,
                       const real *a, const real *b, vec p[ROWS], vec q[ROWS])
{
    const vec va = load_n(a + j, n), vb = load_n(b + j, n);
    for (int r = 0; r < R; r++) {
        p[r] = mad(va, load_n(lam + r * d + j, n), p[r]);
        q[r] = mad(vb, load_n(g + r * d + j, n), q[r]);
    }
}

/* s [R] += dimensions j0 .. end-1 of R rows. */
INLINE void pair_tile(const real *lam, const real *g, int64_t d, int R, int64_t j0, int64_t end,
                      const real *a, const real *b, double *s)
{
    vec p[ROWS] = {{0}}, q[ROWS] = {{0}};
    int64_t j = j0;
    for (; j + W <= end; j += W)
        pair_lanes(lam, g, d, R, j, W, a, b, p, q);
    if (j < end)
        pair_lanes(lam, g, d, R, j, end - j, a, b, p, q);
    for (int r = 0; r < R; r++)
        p[r] += q[r];
    if (R == ROWS)
        add_sums_of_four(p, s);
    else
        *s += sum_of_one(p[0]);
}

/* s of rows i .. i+R-1. */
INLINE void pair_rows(const np_pairs *k, int R, int64_t i, const real *a, const real *b, double *s)
{
    double sum[ROWS] = {0};
    for (int64_t j0 = 0; j0 < k->d; j0 += TILE)
        pair_tile(k->lam + i * k->d, k->g + i * k->d, k->d, R, j0, np_min(k->d, j0 + TILE), a, b,
                  sum);
    memcpy(s + i, sum, (size_t)R * sizeof *s);
}

/* The last four rows may overlap with those before. */
static void pair_sums(const np_pairs *k, const real *a, const real *b, double *s)
{
    if (k->n < ROWS) {
        for (int64_t i = 0; i < k->n; i++)
            pair_rows(k, 1, i, a, b, s);
        return;
    }
    for (int64_t i = 0; i < k->n; i += ROWS)
        pair_rows(k, ROWS, np_min(i, k->n - ROWS), a, b, s);
}

void NP_SIMD_NAME(np_visit_pairs)(const np_pairs *k, const real *a, const real *b,
                                  const np_visit *visit)
{
    const pile p = begin_pile(k->d, visit);
    double s[NP_VISIT_ROWS];
    for (int64_t i = 0; i < k->n; i += NP_VISIT_ROWS) {
        const np_pairs rows = {np_min(NP_VISIT_ROWS, k->n - i), k->d, k->lam + i * k->d,
                               k->g + i * k->d};
        pair_sums(&rows, a, b, s);
        count_rows(&p, visit, i, &rows, s);
    }
    if (visit->L)
        end_pile(&p, visit);
}

/* What a visit compares its rows with, [d] each; b NULL: the rows themselves. */
typedef struct terms {
    const real *high, *low, *a, *b;
} terms;

static terms stage_terms(int64_t d, const double *E, const double *a, const double *b, real *room)
{
    const terms t = {room, room + d, room + 2 * d, b ? room + 3 * d : NULL};
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        room[j] = (real)E[j];
        room[d + j] = (real)(E[j] - (double)room[j]);
        room[2 * d + j] = (real)a[j];
    }
    for (int64_t j = 0; b && j < d; j++)
        room[3 * d + j] = (real)b[j];
    return t;
}

/* R rows of m, with 1/v, or v if that is not known, and where lam and g are to be left. */
typedef struct visited {
    const real *m[ROWS], *v[ROWS];
    real *lam[ROWS], *g[ROWS];
    int64_t ahead;
} visited;

/* n lanes of R rows. */
INLINE void visit_lanes(const visited *k, int R, int kind, int square, int64_t j, int64_t n,
                        const terms *t, vec sum[ROWS])
{
    const vec high = load_n(t->high + j, n), low = load_n(t->low + j, n), a = load_n(t->a + j, n);
    const vec b = square ? splat(0) : load_n(t->b + j, n);
    for (int r = 0; r < R; r++) {
        const vec x = (load_n(k->m[r] + j, n) - high) - low;
        const vec lam =
            kind & FRESH ? splat(1) / load_or_one(k->v[r] + j, n) : load_n(k->v[r] + j, n);
        if (kind & FRESH) {
            ask(k->m[r] + j, kind, k->ahead);
            ask(k->v[r] + j, kind, k->ahead);
            store_n(k->lam[r] + j, n, lam);
        }
        store_n(k->g[r] + j, n, lam * x);
        sum[r] = mad(lam, mad(square ? x : b, x, a), sum[r]);
    }
}

/* Dimensions j0 .. end-1 of R rows. */
INLINE void visit_tile(const visited *k, int R, int kind, int square, int64_t j0, int64_t end,
                       const terms *t, double *s)
{
    vec sum[ROWS] = {{0}};
    int64_t j = j0;
    for (; j + W <= end; j += W)
        visit_lanes(k, R, kind, square, j, W, t, sum);
    if (j < end)
        visit_lanes(k, R, kind, square, j, end - j, t, sum);
    if (R == ROWS)
        add_sums_of_four(sum, s);
    else
        *s += sum_of_one(sum[0]);
}

/* s of rows i .. i+R-1 of the block. */
INLINE void visit_some(const np_block *k, const np_visit *visit, int R, int kind, int square,
                       int64_t i, const terms *t, double *s)
{
    visited rows;
    double sum[ROWS] = {0};
    rows.ahead = k->ahead;
    for (int r = 0; r < R; r++) {
        const int64_t row = k->row[i + r] * k->d, at = (i + r) % visit->rows * k->d;
        rows.m[r] = k->m + row;
        rows.v[r] = kind & FRESH ? k->v + row : k->lam + (i + r) * k->d;
        rows.lam[r] = visit->lam + at;
        rows.g[r] = visit->g + at;
    }
    for (int64_t j0 = 0; j0 < k->d; j0 += TILE)
        visit_tile(&rows, R, kind, square, j0, np_min(k->d, j0 + TILE), t, sum);
    memcpy(s, sum, (size_t)R * sizeof *s);
}

/* Rows first .. first+n-1. */
INLINE void visit_strip(const np_block *k, const np_visit *visit, int kind, int square,
                        int64_t first, int64_t n, const terms *t, const pile *p)
{
    double s[NP_VISIT_ROWS];
    const int64_t at = first % visit->rows * k->d;
    const np_pairs rows = {n, k->d, kind & FRESH ? visit->lam + at : k->lam + first * k->d,
                           visit->g + at};
    const int R =
        kind & FAR || n < ROWS ? 1 : ROWS; /* the last four may overlap with those before */
    for (int64_t i = 0; i < n; i += R) {
        const int64_t at_most = np_min(i, n - R);
        if (R == 1)
            visit_some(k, visit, 1, kind, square, first + at_most, t, s + at_most);
        else
            visit_some(k, visit, ROWS, kind, square, first + at_most, t, s + at_most);
    }
    count_rows(p, visit, first, &rows, s);
}

INLINE void visit_all(const np_block *k, const np_visit *visit, int kind, int square,
                      const terms *t, const pile *p)
{
    for (int64_t i = 0; i < k->n; i += NP_VISIT_ROWS)
        visit_strip(k, visit, kind, square, i, np_min(NP_VISIT_ROWS, k->n - i), t, p);
}

void NP_SIMD_NAME(np_visit)(const np_block *k, const double *E, const double *a, const double *b,
                            const np_visit *visit)
{
    const terms t = stage_terms(k->d, E, a, b, visit->stage);
    const pile p = begin_pile(k->d, visit);
    if (k->lam && b)
        visit_all(k, visit, KNOWN, 0, &t, &p);
    else if (k->lam)
        visit_all(k, visit, KNOWN, 1, &t, &p);
    else if (k->ahead && b)
        visit_all(k, visit, FRESH | FAR, 0, &t, &p);
    else if (k->ahead)
        visit_all(k, visit, FRESH | FAR, 1, &t, &p);
    else if (b)
        visit_all(k, visit, FRESH, 0, &t, &p);
    else
        visit_all(k, visit, FRESH, 1, &t, &p);
    if (visit->L)
        end_pile(&p, visit);
}
