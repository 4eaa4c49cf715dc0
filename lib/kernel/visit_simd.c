/*
 * Sweeps over rows, by vectors along the dimensions.
 *
 * Rows go by in parts of PART, which stay in the first-level cache: first the sums over dimensions
 * of each row and what it counts, then the part's share of the sums over rows. A core has the next
 * part's rows to fetch and multiply while it waits for the weights of this one. Sums over dimensions
 * are of four rows at a time, so that a vector is read once for all; the last four of a part may
 * have been among the four before, and are found to be the same. Rows that may come from memory are
 * taken one by one, in its order.
 */
#include <string.h>

#include "base/size.h"
#include "kernel/simd.h"
#include "kernel/tame.h"
#include "kernel/weigh.h"

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

enum {
    PAIRS = 8,   /* beside KNOWN, FRESH, FAR, INNER: rows that are lam and g already */
    SQUARE = 16, /* b is x */
    WHOLE = 32,  /* D is that of the vectors of dimensions that are counted together */
    PART = 8,
    PART_MOST = PART + ROWS - 1, /* the last one takes what is less than four rows, too */
    COLUMNS = NP_LANE_BYTES == 64 ? 8 : 4,
    PAIR_TILE = 16 * W /* 32 numbers per lane, as a TILE has at most */
};

/* What is the same for all rows. */
typedef struct pass {
    np_visit visit;
    double by; /* 1 / top */
    int64_t n, d;
    const np_block *k;              /* rows, unless they are lam and g already: */
    const real *lam, *g;            /* [n,d] */
    const real *high, *low, *a, *b; /* [d]: what they are compared and multiplied with */
    real *L, *h;                    /* [d]: sums over rows; NULL: not wanted */
} pass;

/* Rows first .. first+n-1, at most PART_MOST; where their lam and g are, or are left, [n,d]. */
typedef struct part {
    int64_t first, n;
    const real *lam, *g;
    real *to_lam, *to_g;
} part;

/* D, which compilers know if it is the usual one. */
INLINE int64_t dims(const pass *p, int kind)
{
    return kind & WHOLE ? COLUMNS * W : p->d;
}

/* n lanes of R rows from row i of the part on: sum += what they give. */
INLINE void come_pairs(const pass *p, const part *x, int kind, int64_t i, int R, int64_t j,
                       int64_t n, vec sum[ROWS])
{
    const int64_t d = dims(p, kind);
    const vec a = load_n(p->a + j, n), b = load_n(p->b + j, n);
    const real *lam = x->lam + i * d + j, *g = x->g + i * d + j;
    for (int r = 0; r < R; r++)
        sum[r] = mad(a, load_n(lam + r * d, n), sum[r]);
    for (int r = 0; r < R; r++)
        sum[r] = mad(b, load_n(g + r * d, n), sum[r]);
}

INLINE void come_rows(const pass *p, const part *x, int kind, int64_t i, int R, int64_t j,
                      int64_t n, vec sum[ROWS])
{
    const np_block *k = p->k;
    const int64_t d = dims(p, kind);
    const vec high = load_n(p->high + j, n), low = load_n(p->low + j, n), a = load_n(p->a + j, n);
    const vec b = kind & SQUARE ? splat(0) : load_n(p->b + j, n);
    for (int r = 0; r < R; r++) {
        const int64_t row = k->row[x->first + i + r] * d + j, at = (i + r) * d + j;
        const vec y = (load_n(k->m + row, n) - high) - low;
        const vec lam =
            kind & FRESH ? splat(1) / load_or_one(k->v + row, n) : load_n(x->lam + at, n);
        if (kind & FRESH) {
            ask(k->m + row, kind, k->ahead);
            ask(k->v + row, kind, k->ahead);
            store_n(x->to_lam + at, n, lam);
        }
        store_n(x->to_g + at, n, lam * y);
        sum[r] = mad(lam, mad(kind & SQUARE ? y : b, y, a), sum[r]);
    }
}

INLINE void come(const pass *p, const part *x, int kind, int64_t i, int R, int64_t j, int64_t n,
                 vec sum[ROWS])
{
    if (kind & PAIRS)
        come_pairs(p, x, kind, i, R, j, n, sum);
    else
        come_rows(p, x, kind, i, R, j, n, sum);
}

/* The sums over dimensions of R rows, which is ROWS or 1, from row i of the part on. */
INLINE void sum_rows(const pass *p, const part *x, int kind, int64_t i, int R, double *s)
{
    const int64_t tile = kind & PAIRS ? PAIR_TILE : TILE, d = dims(p, kind);
    for (int r = 0; r < R; r++)
        s[r] = 0;
    for (int64_t j0 = 0; j0 < d; j0 += tile) {
        const int64_t end = np_min(d, j0 + tile);
        vec sum[ROWS] = {{0}};
        int64_t j = j0;
#pragma GCC unroll 8
        for (; j + W <= end; j += W)
            come(p, x, kind, i, R, j, W, sum);
        if (j < end)
            come(p, x, kind, i, R, j, end - j, sum);
        if (R == ROWS)
            add_sums_of_four(sum, s);
        else
            *s += sum_of_one(sum[0]);
    }
}

/* C vectors of dimensions from j on, of which the last has n lanes: the shares of all rows of the
 * part in the sums over rows. */
INLINE void count_columns(const part *x, const real *c, real *L, real *h, int64_t d, int C,
                          int64_t j, int64_t n)
{
    const real *lam = x->lam + j, *g = x->g + j;
    vec to_L[COLUMNS], to_h[COLUMNS];
    for (int q = 0; q < C; q++) {
        to_L[q] = load_n(L + j + q * W, q + 1 < C ? W : n);
        to_h[q] = load_n(h + j + q * W, q + 1 < C ? W : n);
    }
    for (int64_t i = 0; i < x->n; i++, lam += d, g += d) {
        const vec by = splat(c[x->first + i]);
        for (int q = 0; q < C; q++) {
            to_L[q] = mad(by, load_n(lam + q * W, q + 1 < C ? W : n), to_L[q]);
            to_h[q] = mad(by, load_n(g + q * W, q + 1 < C ? W : n), to_h[q]);
        }
    }
    for (int q = 0; q < C; q++) {
        store_n(L + j + q * W, q + 1 < C ? W : n, to_L[q]);
        store_n(h + j + q * W, q + 1 < C ? W : n, to_h[q]);
    }
}

/* What need not be there for every kind is there once. */
#define ONCE static __attribute__((noinline))

/* c [n]: of all rows. */
ONCE void count_part(int64_t d, const part *x, const real *c, real *L, real *h)
{
    int64_t j = 0;
    for (; j + COLUMNS * W <= d; j += COLUMNS * W)
        count_columns(x, c, L, h, d, COLUMNS, j, W);
    for (; j + 2 * W <= d; j += 2 * W)
        count_columns(x, c, L, h, d, 2, j, W);
    for (; j < d; j += W)
        count_columns(x, c, L, h, d, 1, j, np_min(W, d - j));
}

/* n rows from row `first` on; of rows for which there is no room the part before is still there. */
INLINE part open_part(const pass *p, int kind, int64_t first, int64_t n)
{
    const np_visit *visit = &p->visit;
    const int64_t d = dims(p, kind), at = first * d,
                  room = visit->rows >= p->n ? at : first / PART % 2 * PART_MOST * d;
    part x = {.first = first, .n = n};
    if (kind & PAIRS) {
        x.lam = p->lam + at;
        x.g = p->g + at;
        return x;
    }
    x.to_lam = kind & FRESH ? visit->lam + room : NULL;
    x.to_g = visit->g + room;
    x.lam = kind & FRESH ? x.to_lam : p->k->lam + at;
    x.g = x.to_g;
    return x;
}

/* Sums over dimensions of the part's rows, then what they count. */
INLINE void weigh_part(const pass *p, const part *x, int kind, tally *t)
{
    double s[PART_MOST + 1];
    if (kind & FAR || x->n < ROWS)
        for (int64_t i = 0; i < x->n; i++)
            sum_rows(p, x, kind, i, 1, s + i);
    else
        for (int64_t i = 0; i < x->n; i += ROWS) {
            const int64_t from = np_min(i, x->n - ROWS);
            sum_rows(p, x, kind, from, ROWS, s + from);
        }
    if (x->n < ROWS)
        weigh_few(&p->visit, x->n, s, t);
    for (int64_t i = 0; x->n >= ROWS && i < x->n; i += ROWS) {
        const int64_t from = np_min(i, x->n - ROWS);
        weigh_four(&p->visit, p->by, x->first + from, i - from, s + from, t);
    }
}

/* While a part is weighed the one before it is counted. */
INLINE void pass_parts(const pass *p, int kind, tally *t)
{
    part x[2];
    int now = 0;
    if (p->L)
        memset(p->L, 0, 2 * (size_t)p->d * sizeof(real)); /* h follows */
    for (int64_t first = 0; first < p->n; first += x[now].n, now ^= 1) {
        const int64_t left = p->n - first;
        x[now] = open_part(p, kind, first, left <= PART_MOST ? left : PART);
        weigh_part(p, &x[now], kind, t);
        if (p->L && first > 0)
            count_part(p->d, &x[!now], p->visit.c, p->L, p->h);
    }
    if (p->L && p->n > 0)
        count_part(p->d, &x[!now], p->visit.c, p->L, p->h);
}

INLINE void pass_all(const pass *p, int kind, tally *t)
{
    if (p->d == COLUMNS * W && !(kind & FAR))
        pass_parts(p, kind | WHOLE, t);
    else
        pass_parts(p, kind, t);
}

static pass begin_pass(const np_visit *visit, int64_t n, int64_t d)
{
    pass p = {.visit = *visit, .by = 1 / visit->top, .n = n, .d = d};
    if (visit->L) {
        p.L = visit->stage + 4 * d;
        p.h = visit->stage + 5 * d;
    }
    return p;
}

static int end_pass(const pass *p, const tally *t)
{
    const np_visit *visit = &p->visit;
    if (visit->w)
        *visit->slopes += (t->slopes[0] + t->slopes[1]) + (t->slopes[2] + t->slopes[3]);
    if (visit->stale)
        *visit->stale |= any_is_far(t);
    if (!all_are_tame(t))
        return 0;
    if (p->L) {
#pragma omp simd
        for (int64_t j = 0; j < p->d; j++) {
            visit->L[j] += (double)p->L[j];
            visit->h[j] += (double)p->h[j];
        }
    }
    return 1;
}

int NP_SIMD_NAME(np_visit_pairs)(const np_pairs *k, const real *a, const real *b,
                                 const np_visit *visit)
{
    pass p = begin_pass(visit, k->n, k->d);
    tally t = begin_tally();
    p.lam = k->lam;
    p.g = k->g;
    p.a = a;
    p.b = b;
    pass_all(&p, PAIRS, &t);
    return end_pass(&p, &t);
}

static void stage_vectors(pass *p, const double *E, const double *a, const double *b, real *room)
{
    const int64_t d = p->d;
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        room[j] = (real)E[j];
        room[d + j] = (real)(E[j] - (double)room[j]);
        room[2 * d + j] = (real)a[j];
    }
    for (int64_t j = 0; b && j < d; j++)
        room[3 * d + j] = (real)b[j];
    p->high = room;
    p->low = room + d;
    p->a = room + 2 * d;
    p->b = room + 3 * d;
}

int NP_SIMD_NAME(np_visit)(const np_block *k, const double *E, const double *a, const double *b,
                           const np_visit *visit)
{
    pass p = begin_pass(visit, k->n, k->d);
    tally t = begin_tally();
    p.k = k;
    stage_vectors(&p, E, a, b, visit->stage);
    if (k->lam && b)
        pass_all(&p, KNOWN, &t);
    else if (k->lam)
        pass_all(&p, KNOWN | SQUARE, &t);
    else if (k->ahead && k->inner && b)
        pass_all(&p, FRESH | FAR | INNER, &t);
    else if (k->ahead && k->inner)
        pass_all(&p, FRESH | FAR | INNER | SQUARE, &t);
    else if (k->ahead && b)
        pass_all(&p, FRESH | FAR, &t);
    else if (k->ahead)
        pass_all(&p, FRESH | FAR | SQUARE, &t);
    else if (b)
        pass_all(&p, FRESH, &t);
    else
        pass_all(&p, FRESH | SQUARE, &t);
    return end_pass(&p, &t);
}
