/*
 * Vectors of W reals along the dimensions. What may come from memory is taken row by row, in its
 * order; sums over rows stay in registers while the rows of a block pass by; sums over
 * dimensions are of four rows at a time. Vectors over dimensions are rounded to `real` a tile at
 * a time. Compiled once for AVX2 and FMA and once for AVX-512.
 */
#include "kernel/kernel.h"

#include <string.h>

#include "base/size.h"
#include "kernel/simd.h"
#include "kernel/tame.h"

/*
 * What a first look has seen, as the bits of the numbers. Those of positive numbers compare like
 * the numbers themselves; what is negative, NaN with a sign included, is below all of them, and
 * what is infinite or NaN above.
 */
typedef struct extremes {
    bits v_min, v_max, m_max;
} extremes;

INLINE void see(extremes *seen, vec m, vec v)
{
    const bits x = (bits)v, y = (bits)m & LANE_MAX;
    seen->v_min = BITS_MIN(x, seen->v_min);
    seen->v_max = BITS_MAX(x, seen->v_max);
    seen->m_max = BITS_MAX(y, seen->m_max);
}

static void widen(np_range *range, const extremes *seen)
{
    const vec v_min = (vec)seen->v_min, v_max = (vec)seen->v_max, m_max = (vec)seen->m_max;
    for (int l = 0; l < W; l++) {
        const double low = (double)v_min[l], high = (double)v_max[l], size = (double)m_max[l];
        range->bad |= !(v_min[l] > 0 && 1 / v_min[l] <= NP_REAL_MAX && v_max[l] <= NP_REAL_MAX &&
                        m_max[l] <= NP_REAL_MAX);
        range->v_min = low < range->v_min ? low : range->v_min;
        range->v_max = high > range->v_max ? high : range->v_max;
        range->m_max = size > range->m_max ? size : range->m_max;
    }
}

/* Sums of a tile in `real`. */
typedef struct tile_sums {
    _Alignas(64) real L[TILE], h[TILE];
} tile_sums;

/* Vectors of dimensions whose sums stay in registers while rows pass by. */
enum { FIRST_COLUMNS = 8 };

/* C vectors of dimensions from j on, of which the last has n lanes; the tile begins at j0. Row by
 * row, in the order of memory. */
INLINE void first_columns(const np_block *k, int C, int kind, int64_t j0, int64_t j, int64_t n,
                          const real *c, const real *centre, tile_sums *part, extremes *seen)
{
    vec sum_L[FIRST_COLUMNS] = {{0}}, sum_h[FIRST_COLUMNS] = {{0}};
    extremes now = *seen;
    for (int64_t i = 0; i < k->n; i++) {
        const strip s = take_strip(k, kind, i, j0 + j);
        for (int q = 0; q < C; q++) {
            const int64_t lanes = q + 1 < C ? W : n;
            const vec m = load_n(s.m + q * W, lanes), v = load_or_one(s.lam + q * W, lanes);
            const vec x = c[i] * take_lam(&s, kind, q * W, lanes);
            see(&now, m, v);
            sum_L[q] += x;
            sum_h[q] = mad(x, m - load_n(centre + j + q * W, lanes), sum_h[q]);
        }
    }
    *seen = now;
    for (int q = 0; q < C; q++) {
        store(part->L + j + q * W, sum_L[q]);
        store(part->h + j + q * W, sum_h[q]);
    }
}

INLINE void first_tile(const np_block *k, int kind, int64_t j0, int64_t n, const real *c,
                       const real *centre, tile_sums *part, extremes *seen)
{
    int64_t j = 0;
    for (; j + FIRST_COLUMNS * W <= n; j += FIRST_COLUMNS * W)
        first_columns(k, FIRST_COLUMNS, kind, j0, j, W, c, centre, part, seen);
    for (; j + W <= n; j += W)
        first_columns(k, 1, kind, j0, j, W, c, centre, part, seen);
    if (j < n)
        first_columns(k, 1, kind, j0, j, n - j, c, centre, part, seen);
}

static void first(const np_block *k, const real *c, np_range *range, double *L, double *h)
{
    tile_sums part;
    /* Padding lanes hold v = 1, so 1 is where the range of v starts: it only ever makes the range
     * wider. */
    extremes seen = {(bits)splat(1), (bits)splat(1), (bits)splat(0)};
    for (int64_t j0 = 0; k->n > 0 && j0 < k->d; j0 += TILE) {
        const int64_t n = np_min(TILE, k->d - j0);
        const real *centre = k->m + k->row[0] * k->d + j0;
        if (k->ahead && k->inner)
            first_tile(k, FRESH | FAR | INNER, j0, n, c, centre, &part, &seen);
        else if (k->ahead)
            first_tile(k, FRESH | FAR, j0, n, c, centre, &part, &seen);
        else
            first_tile(k, FRESH, j0, n, c, centre, &part, &seen);
        for (int64_t j = 0; j < n; j++) {
            L[j0 + j] += (double)part.L[j];
            h[j0 + j] += (double)part.h[j] + (double)centre[j] * (double)part.L[j];
        }
    }
    widen(range, &seen);
}

/* The centre of a tile. */
typedef struct centre {
    _Alignas(64) real high[TILE], low[TILE];
} centre;

/* Vectors of dimensions whose sums stay in registers over the rows of a block. */
enum { COLUMNS = NP_LANE_BYTES == 64 ? 4 : 2 };

/* C vectors of dimensions from j on, of which the last has n lanes; the tile begins at j0. */
INLINE void sums_columns(const np_block *k, int C, int kind, int64_t j0, int64_t j, int64_t n,
                         const real *c, const centre *e, tile_sums *part)
{
    vec sum_L[COLUMNS] = {{0}}, sum_h[COLUMNS] = {{0}}, high[COLUMNS], low[COLUMNS];
    for (int q = 0; q < C; q++) {
        high[q] = load(e->high + j + q * W);
        low[q] = load(e->low + j + q * W);
    }
    for (int64_t i = 0; i < k->n; i++) {
        const strip s = take_strip(k, kind, i, j0 + j);
        for (int q = 0; q < C; q++) {
            const int64_t lanes = q + 1 < C ? W : n;
            const vec x = c[i] * take_lam(&s, kind, q * W, lanes);
            sum_L[q] += x;
            sum_h[q] = mad(x, (load_n(s.m + q * W, lanes) - high[q]) - low[q], sum_h[q]);
        }
    }
    for (int q = 0; q < C; q++) {
        store(part->L + j + q * W, sum_L[q]);
        store(part->h + j + q * W, sum_h[q]);
    }
}

INLINE void sums_tile(const np_block *k, int kind, int64_t j0, int64_t n, const real *c,
                      const centre *e, tile_sums *part)
{
    int64_t j = 0;
    for (; j + COLUMNS * W <= n; j += COLUMNS * W)
        sums_columns(k, COLUMNS, kind, j0, j, W, c, e, part);
    for (; j + W <= n; j += W)
        sums_columns(k, 1, kind, j0, j, W, c, e, part);
    if (j < n)
        sums_columns(k, 1, kind, j0, j, n - j, c, e, part);
}

static void sums(const np_block *k, const real *c, const double *about, double *L, double *h)
{
    centre e;
    tile_sums part;
    for (int64_t j0 = 0; j0 < k->d; j0 += TILE) {
        const int64_t n = np_min(TILE, k->d - j0);
        stage_centre(e.high, e.low, about + j0, n);
        if (k->lam)
            sums_tile(k, KNOWN, j0, n, c, &e, &part);
        else if (k->ahead)
            sums_tile(k, FRESH | FAR, j0, n, c, &e, &part);
        else
            sums_tile(k, FRESH, j0, n, c, &e, &part);
        for (int64_t j = 0; j < n; j++) {
            L[j0 + j] += (double)part.L[j];
            h[j0 + j] += (double)part.h[j];
        }
    }
}

/* What is summed over dimensions: quad has a = V, dot has a = dL, b = dh. */
typedef struct row_terms {
    centre e;
    real a[TILE], b[TILE];
} row_terms;

/* n lanes of R rows' sums: lam (a + b x), or with square lam (a + x^2). */
INLINE void row_lanes(const strip *s, int R, int kind, int square, int64_t j, int64_t n,
                      const row_terms *u, vec sum[ROWS])
{
    const vec high = load(u->e.high + j), low = load(u->e.low + j), a = load(u->a + j);
    const vec b = square ? splat(0) : load(u->b + j);
    for (int r = 0; r < R; r++) {
        const vec x = (load_n(s[r].m + j, n) - high) - low, lam = take_lam(&s[r], kind, j, n);
        sum[r] = mad(lam, mad(square ? x : b, x, a), sum[r]);
    }
}

INLINE void row_strip(const np_block *k, int R, int kind, int square, int64_t i, int64_t j0,
                      int64_t n, const row_terms *u, double *out)
{
    strip s[ROWS];
    vec sum[ROWS] = {{0}};
    int64_t j = 0;
    for (int r = 0; r < R; r++)
        s[r] = take_strip(k, kind, i + r, j0);
    for (; j + W <= n; j += W)
        row_lanes(s, R, kind, square, j, W, u, sum);
    if (j < n)
        row_lanes(s, R, kind, square, j, n - j, u, sum);
    if (R == ROWS)
        add_sums_of_four(sum, out + i);
    else
        out[i] += sum_of_one(sum[0]);
}

INLINE void row_strips(const np_block *k, int kind, int square, int64_t j0, int64_t n,
                       const row_terms *u, double *out)
{
    int64_t i = 0;
    for (; !(kind & FAR) && i + ROWS <= k->n; i += ROWS)
        row_strip(k, ROWS, kind, square, i, j0, n, u, out);
    for (; i < k->n; i++)
        row_strip(k, 1, kind, square, i, j0, n, u, out);
}

INLINE void row_tile(const np_block *k, int square, int64_t j0, int64_t n, const row_terms *u,
                     double *out)
{
    if (k->lam)
        row_strips(k, KNOWN, square, j0, n, u, out);
    else if (k->ahead)
        row_strips(k, FRESH | FAR, square, j0, n, u, out);
    else
        row_strips(k, FRESH, square, j0, n, u, out);
}

static void quad(const np_block *k, const double *E, const double *V, double *q)
{
    row_terms u;
    memset(q, 0, (size_t)k->n * sizeof *q);
    for (int64_t j0 = 0; j0 < k->d; j0 += TILE) {
        const int64_t n = np_min(TILE, k->d - j0);
        stage_centre(u.e.high, u.e.low, E + j0, n);
        stage(u.a, V + j0, n);
        row_tile(k, 1, j0, n, &u, q);
    }
}

static void dot(const np_block *k, const double *E, const double *dL, const double *dh, double *s)
{
    row_terms u;
    memset(s, 0, (size_t)k->n * sizeof *s);
    for (int64_t j0 = 0; j0 < k->d; j0 += TILE) {
        const int64_t n = np_min(TILE, k->d - j0);
        stage_centre(u.e.high, u.e.low, E + j0, n);
        stage(u.a, dL + j0, n);
        stage(u.b, dh + j0, n);
        row_tile(k, 0, j0, n, &u, s);
    }
}

static int narrow(int64_t n, const double *x, real *out)
{
    double poison = 0; /* NaN once some x is infinite or NaN */
#pragma omp simd reduction(+ : poison)
    for (int64_t j = 0; j < n; j++) {
        poison += 0 * x[j];
        out[j] = np_saturate(x[j]);
    }
    return poison == 0;
}

static void widen_numbers(int64_t n, const real *x, double *out)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        out[j] = (double)x[j];
}

static int tame(int64_t n, const real *x)
{
    return np_tame_rows(n, x);
}

static int within(int64_t n, real ratio, const real *x, const real *y)
{
    int32_t apart = 0;
#pragma omp simd reduction(| : apart)
    for (int64_t i = 0; i < n; i++)
        apart |= x[i] <= ratio * y[i] ? 0 : 1;
    return !apart;
}

static void accumulate(int64_t n, const double *x, real *y)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        y[j] = np_saturate((double)y[j] + x[j]);
}

static void weights(int64_t n, double top, double base, const double *q, real *w)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        w[i] = np_saturate(top / (base + 0.5 * q[i]));
}

static double slopes(int64_t n, double top, const real *omega, const real *w, const double *s,
                     real *dd)
{
    const double by = 1 / top;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)w[i], y = (double)omega[i] * s[i] * (by * x);
        dd[i] = np_saturate(-y * x);
        sum += y * (1 - x);
    }
    return sum;
}

const np_kernels NP_SIMD_NAME(np_kernels) = {
    .first = first,
    .sums = sums,
    .quad = quad,
    .dot = dot,
    .visit = NP_SIMD_NAME(np_visit),
    .visit_pairs = NP_SIMD_NAME(np_visit_pairs),
    .pair_quad = NP_SIMD_NAME(np_pair_quad),
    .pair_dot = NP_SIMD_NAME(np_pair_dot),
    .push = NP_SIMD_NAME(np_push),
    .narrow = narrow,
    .widen = widen_numbers,
    .tame = tame,
    .within = within,
    .accumulate = accumulate,
    .weights = weights,
    .slopes = slopes,
    .logs = NP_SIMD_NAME(np_logs),
    .log1p = NP_SIMD_NAME(np_log1p),
};
