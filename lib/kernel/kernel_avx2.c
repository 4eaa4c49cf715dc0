/*
 * AVX2 and FMA: vectors of 8 floats or 4 doubles along the dimensions, four rows at a time so that
 * sums are loaded and stored once per four rows. Vectors over dimensions are rounded to `real` a
 * tile at a time.
 */
#include "kernel/kernel.h"

#include <immintrin.h>
#include <string.h>

#include "base/size.h"

enum { W = 32 / (int)sizeof(real), TILE = 256, ROWS = 4 };

typedef real vec __attribute__((vector_size(32)));
typedef real loose_vec __attribute__((vector_size(32), aligned(sizeof(real)), may_alias));

#if NP_REAL_BITS == 32
typedef int32_t lane;
#define MASK_LOAD(p, mask) (vec) _mm256_maskload_ps((p), (mask))
#define MASK_STORE(p, mask, x) _mm256_maskstore_ps((p), (mask), (x))
#define VEC_MIN(a, b) (vec) _mm256_min_ps((a), (b))
#define VEC_MAX(a, b) (vec) _mm256_max_ps((a), (b))
#else
typedef int64_t lane;
#define MASK_LOAD(p, mask) (vec) _mm256_maskload_pd((p), (mask))
#define MASK_STORE(p, mask, x) _mm256_maskstore_pd((p), (mask), (x))
#define VEC_MIN(a, b) (vec) _mm256_min_pd((a), (b))
#define VEC_MAX(a, b) (vec) _mm256_max_pd((a), (b))
#endif

typedef lane lanes __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))

INLINE vec splat(real x)
{
    return x - (vec){0};
}

INLINE vec load(const real *p)
{
    return *(const loose_vec *)p;
}

INLINE void store(real *p, vec x)
{
    *(loose_vec *)p = x;
}

/* All ones in the first n < W lanes. */
INLINE __m256i first_lanes(int64_t n)
{
    static const lane table[2 * (32 / sizeof(lane))] = {
        -1,
        -1,
        -1,
        -1,
#if NP_REAL_BITS == 32
        -1,
        -1,
        -1,
        -1,
#endif
    };
    return _mm256_loadu_si256((const __m256i *)(const void *)(table + W - n));
}

/* The first n lanes from p, the rest 0; n >= W reads all. */
INLINE vec load_n(const real *p, int64_t n)
{
    return n >= W ? load(p) : MASK_LOAD(p, first_lanes(n));
}

INLINE void store_n(real *p, int64_t n, vec x)
{
    if (n >= W)
        store(p, x);
    else
        MASK_STORE(p, first_lanes(n), x);
}

INLINE double horizontal_sum(vec x)
{
    double sum = 0;
    for (int l = 0; l < W; l++)
        sum += (double)x[l];
    return sum;
}

/* src [n] rounded to real, padded with zeros to whole vectors. */
static void stage(real dst[TILE], const double *src, int64_t n)
{
    int64_t j = 0;
    for (; j < n; j++)
        dst[j] = (real)src[j];
    for (; j % W != 0; j++)
        dst[j] = 0;
}

/* A vector that rows are compared with: high + low, so that m - E is as good as m is also where the
 * two are close. */
typedef struct centre {
    real high[TILE], low[TILE];
} centre;

static void stage_centre(centre *c, const double *src, int64_t n)
{
    int64_t j = 0;
    for (; j < n; j++) {
        c->high[j] = (real)src[j];
        c->low[j] = (real)(src[j] - (double)c->high[j]);
    }
    for (; j % W != 0; j++)
        c->high[j] = c->low[j] = 0;
}

INLINE vec from_centre(vec m, const centre *c, int64_t j)
{
    return (m - load(c->high + j)) - load(c->low + j);
}

/* Rows i .. i+R-1 of the block from dimension j0 on. */
typedef struct strip {
    const real *m[ROWS], *lam[ROWS];
} strip;

INLINE strip take_strip(const np_block *k, int R, int64_t i, int64_t j0)
{
    strip s;
    for (int r = 0; r < R; r++) {
        s.m[r] = k->m + k->row[i + r] * k->d + j0;
        s.lam[r] = k->lam + (i + r) * k->d + j0;
    }
    return s;
}

typedef struct extremes {
    vec v_min, v_max, m_max;
    lanes good;
} extremes;

INLINE vec fill_lanes(const real *m, const real *v, extremes *seen)
{
    const vec x = load(m), y = load(v), lam = splat(1) / y, top = splat(NP_REAL_MAX);
    if (seen) {
        const vec size = VEC_MAX(x, -x);
        seen->good &= (y > splat(0)) & (y <= top) & (lam <= top) & (size <= top) & (x == x);
        seen->v_min = VEC_MIN(y, seen->v_min);
        seen->v_max = VEC_MAX(y, seen->v_max);
        seen->m_max = VEC_MAX(size, seen->m_max);
    }
    return lam;
}

static void widen(np_range *range, const extremes *seen)
{
    for (int l = 0; l < W; l++) {
        range->bad |= seen->good[l] == 0;
        range->v_min =
            (double)seen->v_min[l] < range->v_min ? (double)seen->v_min[l] : range->v_min;
        range->v_max =
            (double)seen->v_max[l] > range->v_max ? (double)seen->v_max[l] : range->v_max;
        range->m_max =
            (double)seen->m_max[l] > range->m_max ? (double)seen->m_max[l] : range->m_max;
    }
}

/* The last n < W numbers of a row, by way of a vector that is padded with harmless ones. */
INLINE void fill_rest(const real *m, const real *v, int64_t n, real *lam, extremes *seen)
{
    real x[W], y[W], z[W];
    store(x, splat(0));
    store(y, splat(1));
    memcpy(x, m, (size_t)n * sizeof(real));
    memcpy(y, v, (size_t)n * sizeof(real));
    store(z, fill_lanes(x, y, seen));
    memcpy(lam, z, (size_t)n * sizeof(real));
}

INLINE void fill_block(const np_block *k, const real *v, real *lam, extremes *seen)
{
    for (int64_t i = 0; i < k->n; i++) {
        const real *m_i = k->m + k->row[i] * k->d, *v_i = v + k->row[i] * k->d;
        real *out = lam + i * k->d;
        int64_t j = 0;
        for (; j + W <= k->d; j += W)
            store(out + j, fill_lanes(m_i + j, v_i + j, seen));
        if (j < k->d)
            fill_rest(m_i + j, v_i + j, k->d - j, out + j, seen);
    }
}

static void fill(const np_block *k, const real *v, real *lam, np_range *range)
{
    if (!range) {
        fill_block(k, v, lam, NULL);
        return;
    }
    /* Padding lanes hold v = 1, so 1 is where the range of v starts: it only ever makes the range
     * wider. */
    extremes seen = {splat(1), splat(1), splat(0), ~(lanes){0}};
    fill_block(k, v, lam, &seen);
    widen(range, &seen);
}

INLINE void sums_strip(const np_block *k, int R, int64_t i, int64_t j0, int64_t n, const real *c,
                       const centre *e, real *L, real *h)
{
    const strip s = take_strip(k, R, i, j0);
    for (int64_t j = 0; j < n; j += W) {
        vec sum_L = load(L + j), sum_h = load(h + j);
        for (int r = 0; r < R; r++) {
            const vec x = c[i + r] * load_n(s.lam[r] + j, n - j);
            sum_L += x;
            sum_h += x * from_centre(load_n(s.m[r] + j, n - j), e, j);
        }
        store(L + j, sum_L);
        store(h + j, sum_h);
    }
}

static void sums(const np_block *k, const real *c, const double *about, double *L, double *h)
{
    centre e;
    real part_L[TILE], part_h[TILE];
    for (int64_t j0 = 0; j0 < k->d; j0 += TILE) {
        const int64_t n = np_min(TILE, k->d - j0);
        stage_centre(&e, about + j0, n);
        memset(part_L, 0, sizeof part_L);
        memset(part_h, 0, sizeof part_h);
        int64_t i = 0;
        for (; i + ROWS <= k->n; i += ROWS)
            sums_strip(k, ROWS, i, j0, n, c, &e, part_L, part_h);
        for (; i < k->n; i++)
            sums_strip(k, 1, i, j0, n, c, &e, part_L, part_h);
        for (int64_t j = 0; j < n; j++) {
            L[j0 + j] += (double)part_L[j];
            h[j0 + j] += (double)part_h[j];
        }
    }
}

INLINE void quad_strip(const np_block *k, int R, int64_t i, int64_t j0, int64_t n, const centre *e,
                       const real *V, double *q)
{
    const strip s = take_strip(k, R, i, j0);
    vec sum[ROWS] = {{0}};
    for (int64_t j = 0; j < n; j += W) {
        const vec u = load(V + j);
        for (int r = 0; r < R; r++) {
            const vec x = from_centre(load_n(s.m[r] + j, n - j), e, j);
            sum[r] += load_n(s.lam[r] + j, n - j) * (x * x + u);
        }
    }
    for (int r = 0; r < R; r++)
        q[i + r] += horizontal_sum(sum[r]);
}

static void quad(const np_block *k, const double *E, const double *V, double *q)
{
    centre e;
    real u[TILE];
    memset(q, 0, (size_t)k->n * sizeof *q);
    for (int64_t j0 = 0; j0 < k->d; j0 += TILE) {
        const int64_t n = np_min(TILE, k->d - j0);
        stage_centre(&e, E + j0, n);
        stage(u, V + j0, n);
        int64_t i = 0;
        for (; i + ROWS <= k->n; i += ROWS)
            quad_strip(k, ROWS, i, j0, n, &e, u, q);
        for (; i < k->n; i++)
            quad_strip(k, 1, i, j0, n, &e, u, q);
    }
}

INLINE void dot_strip(const np_block *k, int R, int64_t i, int64_t j0, int64_t n, const centre *e,
                      const real *dL, const real *dh, double *out)
{
    const strip s = take_strip(k, R, i, j0);
    vec sum[ROWS] = {{0}};
    for (int64_t j = 0; j < n; j += W) {
        const vec gL = load(dL + j), gh = load(dh + j);
        for (int r = 0; r < R; r++) {
            const vec x = from_centre(load_n(s.m[r] + j, n - j), e, j);
            sum[r] += load_n(s.lam[r] + j, n - j) * (gL + gh * x);
        }
    }
    for (int r = 0; r < R; r++)
        out[i + r] += horizontal_sum(sum[r]);
}

static void dot(const np_block *k, const double *E, const double *dL, const double *dh, double *s)
{
    centre e;
    real gL[TILE], gh[TILE];
    memset(s, 0, (size_t)k->n * sizeof *s);
    for (int64_t j0 = 0; j0 < k->d; j0 += TILE) {
        const int64_t n = np_min(TILE, k->d - j0);
        stage_centre(&e, E + j0, n);
        stage(gL, dL + j0, n);
        stage(gh, dh + j0, n);
        int64_t i = 0;
        for (; i + ROWS <= k->n; i += ROWS)
            dot_strip(k, ROWS, i, j0, n, &e, gL, gh, s);
        for (; i < k->n; i++)
            dot_strip(k, 1, i, j0, n, &e, gL, gh, s);
    }
}

/* A term's vectors, rounded. */
typedef struct staged {
    real dh[TILE], dL[TILE], V[TILE];
    centre E;
} staged;

/* Both gradients of R rows at one vector of dimensions: sums over the terms. */
INLINE void push_lanes(int R, int64_t i, int64_t j, int64_t n_terms, const np_term *terms,
                       const staged *u, const vec m[ROWS], vec gm[ROWS], vec gl[ROWS])
{
    for (int64_t t = 0; t < n_terms; t++) {
        const vec gh = load(u[t].dh + j);
        const vec gL = load(u[t].dL + j), var = load(u[t].V + j);
        for (int r = 0; r < R; r++) {
            const real a = terms[t].a[i + r], b = terms[t].b[i + r], half = (real)0.5 * b;
            const vec x = from_centre(m[r], &u[t].E, j), p = a * gh;
            gm[r] += p + b * x;
            gl[r] += (a * gL + half * var) + x * (p + half * x);
        }
    }
}

INLINE void push_strip(const np_block *k, int R, int64_t i, int64_t j0, int64_t n, int64_t n_terms,
                       const np_term *terms, const staged *u, const real *c, real *dm, real *dv)
{
    const strip s = take_strip(k, R, i, j0);
    for (int64_t j = 0; j < n; j += W) {
        vec m[ROWS], gm[ROWS] = {{0}}, gl[ROWS] = {{0}};
        for (int r = 0; r < R; r++)
            m[r] = load_n(s.m[r] + j, n - j);
        push_lanes(R, i, j, n_terms, terms, u, m, gm, gl);
        for (int r = 0; r < R; r++) {
            const vec lam = load_n(s.lam[r] + j, n - j);
            const int64_t at = k->row[i + r] * k->d + j0 + j;
            if (dm)
                store_n(dm + at, n - j, load_n(dm + at, n - j) + lam * gm[r]);
            if (dv)
                store_n(dv + at, n - j, load_n(dv + at, n - j) - lam * (lam * gl[r] + c[i + r]));
        }
    }
}

static void push(const np_block *k, int64_t n_terms, const np_term *terms, const real *c, real *dm,
                 real *dv)
{
    staged u[NP_PUSH_TERMS];
    for (int64_t j0 = 0; j0 < k->d; j0 += TILE) {
        const int64_t n = np_min(TILE, k->d - j0);
        for (int64_t t = 0; t < n_terms; t++) {
            stage(u[t].dh, terms[t].dh + j0, n);
            stage(u[t].dL, terms[t].dL + j0, n);
            stage_centre(&u[t].E, terms[t].E + j0, n);
            stage(u[t].V, terms[t].V + j0, n);
        }
        int64_t i = 0;
        for (; i + ROWS <= k->n; i += ROWS)
            push_strip(k, ROWS, i, j0, n, n_terms, terms, u, c, dm, dv);
        for (; i < k->n; i++)
            push_strip(k, 1, i, j0, n, n_terms, terms, u, c, dm, dv);
    }
}

const np_kernels NP_REAL(np_kernels_avx2) = {fill, sums, quad, dot, push};
