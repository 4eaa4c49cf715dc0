/*
 * Loops over the rows of a block: the only code whose cost grows with N D. They know no
 * distribution, own no memory and cannot fail.
 *
 * A block is a few rows that stay in cache while all of a pass's kernels run over them. Vectors
 * over dimensions and everything summed over rows are double in both precisions.
 *
 * kernel_ref.c is the definition: plain C, all arithmetic in double. The others compute in `real`,
 * sum at most NP_BLOCK_ROWS rows in `real` before they add to a double, and for float want numbers
 * of moderate size (tame.h): outside of that the reference does the work.
 */
#ifndef NP_KERNEL_H
#define NP_KERNEL_H

#include <stdint.h>

#include "base/real.h"

#define NP_BLOCK_ROWS 64 /* a block has at most so many rows */
#define NP_PUSH_TERMS 8  /* and a push at most so many terms */

typedef struct NP_REAL(np_block) {
    int64_t n, d;
    const real *m, *v;  /* [.,d]: rows of the set */
    const int64_t *row; /* [n]: rows of m that are in the block */
    int64_t ahead;      /* rows are asked for so many bytes before they are needed; 0: not at all */
    int32_t inner;      /* into the first-level cache, else into the second */
    const real *lam;    /* [n,d]: 1/v of those rows; NULL: not known yet, computed on the way */
    real *store;        /* [n,d]: where 1/v is left if it was not known; NULL: nowhere */
} NP_REAL(np_block);
#define np_block NP_REAL(np_block)

/* What a first look saw: bad if a v or 1/v was not positive and finite or an m not finite. The rest
 * is kept for float only. */
typedef struct np_range {
    double v_min, v_max, m_max; /* smallest and largest v, largest |m| */
    int32_t bad;
} np_range;

/*
 * Rows about a centre, which all sums of a sweep can be had from: lam, and g = lam (m - centre).
 * With e = E - centre, quad and dot about E are sums of lam a + g b, see pair_quad and pair_dot.
 */
typedef struct NP_REAL(np_pairs) {
    int64_t n, d;
    const real *lam, *g; /* [n,d] */
} NP_REAL(np_pairs);
#define np_pairs NP_REAL(np_pairs)

/*
 * A sweep over rows: of each the sum s over dimensions, then what it counts, c, then the sums over
 * rows, while the rows are in the nearest cache. Without w c is a weight, (R2), (R4),
 *   s becomes q_0 + s,   c = omega top / (base + s / 2)
 * and with it what (A9) has for one, and slopes is added to:
 *   c = -y w  with  y = omega s w / top,   slopes += sum_i y_i (1 - w_i)
 */
#define NP_VISIT_ROWS 22 /* room for so many rows will do */
typedef struct NP_REAL(np_visit) {
    double top, base;
    const real *omega, *w; /* [n]; omega NULL: 1 */
    const double *q_0;     /* [n]; NULL: 0 */
    double floor, grow;    /* with q_0, unless stale is NULL: */
    int32_t *stale;        /* 1 if floor + q_0 / 2 <= grow (floor + s / 2) is not so for some row */
    double *s;             /* [n]: out */
    real *c;               /* [n]: out */
    double *slopes;
    double *L, *h; /* [d]: added to; NULL: not wanted */
    /* Room for rows on the way, [rows,d]: for NP_VISIT_ROWS, or for all of them, who are then found
     * there afterwards, in order. */
    int64_t rows;
    real *lam, *g;
    real *stage; /* [6,d]: room for vectors */
} NP_REAL(np_visit);
#define np_visit NP_REAL(np_visit)

/* One sweep's share of a row's gradient, see push. */
typedef struct NP_REAL(np_term) {
    const double *dh, *dL, *E, *V; /* [d] */
    const real *a, *b;             /* [n]; a NULL: 1; b NULL: 0, and V is not read */
} NP_REAL(np_term);
#define np_term NP_REAL(np_term)

typedef struct NP_REAL(np_kernels) {
    /*
     * The first look at rows: range is widened, and (S1), (S2) about 0 by way of the block's first
     * row, L [d] += sum_i c_i lam_i,  h [d] += sum_i c_i lam_i (m_i - m_0) + m_0 sum_i c_i lam_i,
     * where the last product is in double. c [n]. lam counts as not known.
     */
    void (*first)(const np_block *block, const real *c, np_range *range, double *L, double *h);

    /* (S1), (S2) about a centre: L [d] += sum_i c_i lam_i,  h [d] += sum_i c_i lam_i (m_i -
     * centre). c [n]. */
    void (*sums)(const np_block *block, const real *c, const double *centre, double *L, double *h);

    /* (R1): q [n] = sum_d lam ((m - E)^2 + V). */
    void (*quad)(const np_block *block, const double *E, const double *V, double *q);

    /* (A8): s [n] = sum_d lam (dL + dh (m - E)). */
    void (*dot)(const np_block *block, const double *E, const double *dL, const double *dh,
                double *s);

    /* quad (b NULL, a = V) or dot (a = dL, b = dh) as a sweep; then L += sum_i c_i lam_i, h +=
     * sum_i c_i lam_i (m_i - E). If lam is known there need be no room for it. 0: some c is more
     * than float can sum with; L and h are as before, all the rest is done. */
    int (*visit)(const np_block *block, const double *E, const double *a, const double *b,
                 const np_visit *visit);

    /* The same with s = sum_d lam a + g b; then L += sum_i c_i lam_i, h += sum_i c_i g_i. No room
     * for rows is needed. */
    int (*visit_pairs)(const np_pairs *pairs, const real *a, const real *b, const np_visit *visit);

    /* a = e^2 + V - V_0, b = -2 e: s of visit_pairs is what quad at E, V is more than quad at the
     * centre, V_0. All [d], in double until they are rounded. */
    void (*pair_quad)(int64_t d, const double *E, const double *V, const double *centre,
                      const double *V_0, real *a, real *b);

    /* a = dL - dh e, b = dh: s is dot at E. */
    void (*pair_dot)(int64_t d, const double *E, const double *dL, const double *dh,
                     const double *centre, real *a, real *b);

    /*
     * (A6), (A7), (A10): over the terms, with x = m - E,
     *   dm += lam sum (a dh + b x),   dlam = sum (a (dL + dh x) + b/2 (x^2 + V)),   dv -= lam^2
     * dlam + c lam. The last is the gradient of c_i sum_d log lam_i. c [n]; dm, dv like m, indexed
     * by row; either may be NULL.
     */
    void (*push)(const np_block *block, int64_t n_terms, const np_term *terms, const real *c,
                 real *dm, real *dv);

    /* out [n] = x [n] as reals, as np_saturate has them; whether all x are finite. And back. */
    int (*narrow)(int64_t n, const double *x, real *out);
    void (*widen)(int64_t n, const real *x, double *out);

    /* Whether float can sum with these coefficients [n], see np_tame_rows; whether x <= ratio y for
     * all of them [n], false for NaN. */
    int (*tame)(int64_t n, const real *x);
    int (*within)(int64_t n, real ratio, const real *x, const real *y);

    /* y [n] += x [n], as np_saturate has the sum. */
    void (*accumulate)(int64_t n, const double *x, real *y);

    /* (R2), (R4): w [n] = top / (base + q / 2). */
    void (*weights)(int64_t n, double top, double base, const double *q, real *w);

    /* (A9): dd [n] = -y w, with y = omega s w / top; the result is sum_i y_i (1 - w_i). All [n]. */
    double (*slopes)(int64_t n, double top, const real *omega, const real *w, const double *s,
                     real *dd);

    /* out [n] = sum_d log lam of the block's rows; lam is known. */
    void (*logs)(const np_block *block, double *out);

    /* out [n] = log(1 + x) for x >= 0, or a rounding below it, to 2 units in the last place. */
    void (*log1p)(int64_t n, const double *x, double *out);
} NP_REAL(np_kernels);
#define np_kernels NP_REAL(np_kernels)

/* The best table for a CPU mask (base/cpu.h); mask 0 gives the reference. */
const np_kernels *NP_REAL(np_kernels_choose)(uint32_t cpu);

extern const np_kernels NP_REAL(np_kernels_ref);
#ifdef NP_HAVE_AVX2
extern const np_kernels NP_REAL(np_kernels_avx2);
#endif
#ifdef NP_HAVE_AVX512
extern const np_kernels NP_REAL(np_kernels_avx512);
#endif

#endif /* NP_KERNEL_H */
