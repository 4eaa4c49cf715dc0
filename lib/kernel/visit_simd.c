/*
 * Sweeps over rows, by vectors along the dimensions.
 *
 * Rows go by in groups of four. While the sums over dimensions of one group are taken and the group
 * before it is weighed, the one before that, which is in the first-level cache still, is counted:
 * its shares of the sums over rows. So a core has the rows that come, from the second-level cache
 * or from further away, and arithmetic that need not wait for them; and three groups are on their
 * way, NP_VISIT_ROWS. Rows that may come from memory are taken one by one, in its order. The last
 * group is the last four rows; those of them that an earlier group had count nothing there.
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
    PAIRS = 4,  /* beside KNOWN, FRESH, FAR: rows that are lam and g already */
    SQUARE = 8, /* b is x */
    WHOLE = 16, /* d is such that the sums over rows stay in registers throughout */
    HEAP_COLUMNS = NP_LANE_BYTES == 64 ? 8 : 2,
    PAIR_TILE = 16 * W /* 32 numbers per lane, as a TILE has at most */
};

/* What is the same for all groups. */
typedef struct pass {
    const np_visit *visit;
    double by; /* 1 / top */
    int64_t n, d;
    const np_block *k;              /* rows, unless they are lam and g already: */
    const real *lam, *g;            /* [n,d] */
    const real *high, *low, *a, *b; /* [d]: what they are compared and multiplied with */
    real *L, *h;                    /* [d]: sums over rows; NULL: not wanted */
} pass;

/* ROWS rows: where they come from; where lam and g are, or are left; what they count. */
typedef struct group {
    const real *m[ROWS], *v[ROWS];
    const real *lam, *g;
    real *to_lam, *to_g;
    real c[ROWS];
} group;

/* Sums over rows of some vectors of dimensions. */
typedef struct heap {
    vec L[HEAP_COLUMNS], h[HEAP_COLUMNS];
} heap;

/* n lanes of R rows of the group, from row r0 on: sum += what they give. */
INLINE void come_pairs(const pass *p, const group *x, int r0, int R, int64_t j, int64_t n,
                       vec sum[ROWS])
{
    const vec a = load_n(p->a + j, n), b = load_n(p->b + j, n);
    for (int r = r0; r < r0 + R; r++)
        sum[r] = mad(a, load_n(x->lam + r * p->d + j, n), sum[r]);
    for (int r = r0; r < r0 + R; r++)
        sum[r] = mad(b, load_n(x->g + r * p->d + j, n), sum[r]);
}

INLINE void come_rows(const pass *p, const group *x, int kind, int r0, int R, int64_t j, int64_t n,
                      vec sum[ROWS])
{
    const vec high = load_n(p->high + j, n), low = load_n(p->low + j, n), a = load_n(p->a + j, n);
    const vec b = kind & SQUARE ? splat(0) : load_n(p->b + j, n);
    for (int r = r0; r < r0 + R; r++) {
        const vec y = (load_n(x->m[r] + j, n) - high) - low;
        const vec lam =
            kind & FRESH ? splat(1) / load_or_one(x->v[r] + j, n) : load_n(x->v[r] + j, n);
        if (kind & FRESH) {
            ask(x->m[r] + j, kind, p->k->ahead);
            ask(x->v[r] + j, kind, p->k->ahead);
            store_n(x->to_lam + r * p->d + j, n, lam);
        }
        store_n(x->to_g + r * p->d + j, n, lam * y);
        sum[r] = mad(lam, mad(kind & SQUARE ? y : b, y, a), sum[r]);
    }
}

INLINE void count_rows(const pass *p, const group *o, int R, const vec c[ROWS], int64_t j,
                       int64_t n, vec *L, vec *h)
{
    for (int r = 0; r < R; r++) {
        *L = mad(c[r], load_n(o->lam + r * p->d + j, n), *L);
        *h = mad(c[r], load_n(o->g + r * p->d + j, n), *h);
    }
}

/*
 * C vectors of dimensions from j on, of which the last has n lanes: of R rows of group x from r0
 * on the sums over dimensions, of the first R_o rows of group o the shares. Either may be NULL.
 */
INLINE void pass_columns(const pass *p, int kind, const group *x, int r0, int R, const group *o,
                         int R_o, const vec c[ROWS], int C, int64_t j, int64_t n, vec sum[ROWS],
                         heap *whole)
{
    heap room, *to = kind & WHOLE ? whole : &room;
    for (int q = 0; o && !(kind & WHOLE) && q < C; q++) {
        to->L[q] = load_n(p->L + j + q * W, q + 1 < C ? W : n);
        to->h[q] = load_n(p->h + j + q * W, q + 1 < C ? W : n);
    }
#pragma GCC unroll 8
    for (int q = 0; q < C; q++) {
        const int64_t at = j + q * W, lanes = q + 1 < C ? W : n;
        if (x && kind & PAIRS)
            come_pairs(p, x, r0, R, at, lanes, sum);
        else if (x)
            come_rows(p, x, kind, r0, R, at, lanes, sum);
        for (int r = r0; x && r < r0 + R; r++)
            pin(&sum[r]);
        if (o)
            count_rows(p, o, R_o, c, at, lanes, &to->L[q], &to->h[q]);
    }
    for (int q = 0; o && !(kind & WHOLE) && q < C; q++) {
        store_n(p->L + j + q * W, q + 1 < C ? W : n, to->L[q]);
        store_n(p->h + j + q * W, q + 1 < C ? W : n, to->h[q]);
    }
}

/* Dimensions j0 .. end-1, likewise. */
INLINE void pass_tile(const pass *p, int kind, const group *x, int r0, int R, const group *o,
                      int R_o, int64_t j0, int64_t end, vec sum[ROWS], heap *whole)
{
    int64_t j = j0;
    vec c[ROWS];
    for (int r = 0; o && r < R_o; r++)
        c[r] = splat(o->c[r]);
    for (; j + HEAP_COLUMNS * W <= end; j += HEAP_COLUMNS * W)
        pass_columns(p, kind, x, r0, R, o, R_o, c, HEAP_COLUMNS, j, W, sum, whole);
    if (kind & WHOLE)
        return;
    for (; j + W <= end; j += W)
        pass_columns(p, kind, x, r0, R, o, R_o, c, 1, j, W, sum, whole);
    if (j < end)
        pass_columns(p, kind, x, r0, R, o, R_o, c, 1, j, end - j, sum, whole);
}

/* All dimensions, likewise; s [R] += the sums over them. */
INLINE void pass_rows(const pass *p, int kind, const group *x, int r0, int R, const group *o,
                      int R_o, double *s, heap *whole)
{
    const int64_t d = kind & WHOLE ? HEAP_COLUMNS * W : p->d;
    const int64_t tile = kind & PAIRS ? PAIR_TILE : TILE;
    for (int64_t j0 = 0; j0 < d; j0 += tile) {
        vec sum[ROWS] = {{0}};
        pass_tile(p, kind, x, r0, R, o, R_o, j0, np_min(d, j0 + tile), sum, whole);
        if (x && R == ROWS)
            add_sums_of_four(sum, s);
        else if (x)
            *s += sum_of_one(sum[r0]);
    }
}

/* What need not be there for every kind is there once. */
#define ONCE static __attribute__((noinline))

/* The shares of R rows, which is ROWS or 1, of group o. */
ONCE void count_alone(const pass *p, const group *o, int R)
{
    if (R == ROWS)
        pass_rows(p, KNOWN, NULL, 0, 0, o, ROWS, NULL, NULL);
    else
        pass_rows(p, KNOWN, NULL, 0, 0, o, 1, NULL, NULL);
}

/* The sums of group x, while group o, if there is one, is counted. */
INLINE void pass_group(const pass *p, int kind, const group *x, const group *o, double s[ROWS],
                       heap *whole)
{
    if (!(kind & FAR)) {
        pass_rows(p, kind, x, 0, ROWS, o, ROWS, s, whole);
        return;
    }
    for (int r = 0; r < ROWS; r++)
        pass_rows(p, kind, x, r, 1, NULL, 0, s + r, whole);
    if (o)
        count_alone(p, o, ROWS);
}

/* Rows from row i on, R of them, which are number `slot` where only some rows are left. */
INLINE group open_group(const pass *p, int kind, int64_t i, int R, int64_t slot)
{
    const np_block *k = p->k;
    const np_visit *visit = p->visit;
    const int64_t at = (visit->rows >= p->n ? i : slot) * p->d;
    group x = {.to_lam = kind & FRESH ? visit->lam + at : NULL,
               .to_g = kind & PAIRS ? NULL : visit->g + at};
    if (kind & PAIRS) {
        x.lam = p->lam + i * p->d;
        x.g = p->g + i * p->d;
        return x;
    }
    for (int r = 0; r < R; r++) {
        x.m[r] = k->m + k->row[i + r] * p->d;
        x.v[r] = kind & FRESH ? k->v + k->row[i + r] * p->d : k->lam + (i + r) * p->d;
    }
    x.lam = kind & FRESH ? x.to_lam : k->lam + i * p->d;
    x.g = x.to_g;
    return x;
}

/* Fewer rows than a group has: one by one. */
ONCE void pass_few(const pass *p, int kind, quarter *slopes)
{
    group x = open_group(p, kind, 0, (int)p->n, 0);
    double s[ROWS] = {0};
    for (int r = 0; r < p->n; r++)
        pass_rows(p, kind, &x, r, 1, NULL, 0, s + r, NULL);
    weigh_few(p->visit, p->n, s, slopes, x.c);
    for (int r = 0; p->L && r < p->n; r++) {
        const group one = {.lam = x.lam + r * p->d, .g = x.g + r * p->d, .c = {x.c[r]}};
        count_alone(p, &one, 1);
    }
}

/* The group from row i on, or the last rows; s [ROWS] gets its sums, while group o is counted. */
INLINE group pass_next(const pass *p, int kind, int64_t i, const group *o, double *s, heap *whole)
{
    const group x = open_group(p, kind, np_min(i, p->n - ROWS), ROWS, i % NP_VISIT_ROWS);
    for (int r = 0; r < ROWS; r++)
        s[r] = 0;
    pass_group(p, kind, &x, o, s, whole);
    return x;
}

/* What the group from row i on counts. */
INLINE void weigh_next(const pass *p, int64_t i, const double *s, quarter *slopes, group *x)
{
    const int64_t first = np_min(i, p->n - ROWS);
    weigh_four(p->visit, p->by, first, i - first, s, slopes, x->c);
}

/* Of three groups in succession the first is counted while the second is weighed and the third
 * comes. */
INLINE void pass_many(const pass *p, int kind, quarter *slopes)
{
    heap whole;
    group o = {0}, x = {0};
    double s[ROWS] = {0};
    for (int q = 0; kind & WHOLE && q < HEAP_COLUMNS; q++)
        whole.L[q] = whole.h[q] = splat(0);
    for (int64_t i = 0; i < p->n; i += ROWS) {
        if (i > 0)
            weigh_next(p, i - ROWS, s, slopes, &x);
        const group next = i < 2 * ROWS || !p->L ? pass_next(p, kind, i, NULL, s, &whole)
                                                 : pass_next(p, kind, i, &o, s, &whole);
        o = x;
        x = next;
    }
    weigh_next(p, (p->n - 1) / ROWS * ROWS, s, slopes, &x);
    for (int q = 0; kind & WHOLE && p->L && q < HEAP_COLUMNS; q++) {
        store(p->L + q * W, whole.L[q]);
        store(p->h + q * W, whole.h[q]);
    }
    if (p->L && p->n > ROWS)
        count_alone(p, &o, ROWS);
    if (p->L)
        count_alone(p, &x, ROWS);
}

INLINE void pass_all(const pass *p, int kind, quarter *slopes)
{
    const int whole = !(kind & FAR) && p->n >= ROWS && p->d == HEAP_COLUMNS * W;
    if (p->L && !whole)
        memset(p->L, 0, 2 * (size_t)p->d * sizeof(real)); /* h follows */
    if (p->n < ROWS)
        pass_few(p, kind, slopes);
    else if (whole)
        pass_many(p, kind | WHOLE, slopes);
    else
        pass_many(p, kind, slopes);
}

static pass begin_pass(const np_visit *visit, int64_t n, int64_t d)
{
    pass p = {.visit = visit, .by = 1 / visit->top, .n = n, .d = d};
    if (visit->L) {
        p.L = visit->stage + 4 * d;
        p.h = visit->stage + 5 * d;
    }
    return p;
}

static int end_pass(const pass *p, quarter sum)
{
    const np_visit *visit = p->visit;
    if (visit->w)
        *visit->slopes += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    if (!np_tame_rows(p->n, visit->c))
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
    quarter slopes = {0};
    p.lam = k->lam;
    p.g = k->g;
    p.a = a;
    p.b = b;
    pass_all(&p, PAIRS, &slopes);
    return end_pass(&p, slopes);
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
    quarter slopes = {0};
    p.k = k;
    stage_vectors(&p, E, a, b, visit->stage);
    if (k->lam && b)
        pass_all(&p, KNOWN, &slopes);
    else if (k->lam)
        pass_all(&p, KNOWN | SQUARE, &slopes);
    else if (k->ahead && b)
        pass_all(&p, FRESH | FAR, &slopes);
    else if (k->ahead)
        pass_all(&p, FRESH | FAR | SQUARE, &slopes);
    else if (b)
        pass_all(&p, FRESH, &slopes);
    else
        pass_all(&p, FRESH | SQUARE, &slopes);
    return end_pass(&p, slopes);
}
