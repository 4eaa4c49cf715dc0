/* What four rows count in a visit, (R2), (R4) or (A9), by vectors of four doubles. */
#ifndef NP_WEIGH_H
#define NP_WEIGH_H

#include <string.h>

#include "kernel/kernel.h"
#include "kernel/vector.h"

typedef real four_reals __attribute__((vector_size(4 * sizeof(real))));
typedef int64_t four_bits __attribute__((vector_size(32)));

INLINE quarter load_doubles(const double *p)
{
    return (quarter)_mm256_loadu_pd(p);
}

INLINE quarter widen_reals(const real *p)
{
#if NP_REAL_BITS == 32
    return (quarter)_mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    return load_doubles(p);
#endif
}

/* np_saturate of each: what is NaN is the second operand, and stays. */
INLINE four_reals saturate(quarter x)
{
    const __m256d top = _mm256_set1_pd((double)NP_REAL_MAX),
                  low = _mm256_set1_pd(-(double)NP_REAL_MAX);
    return __builtin_convertvector((quarter)_mm256_max_pd(low, _mm256_min_pd(top, x)), four_reals);
}

/* (R2), (R4): s becomes q. */
INLINE four_reals weights_of(const np_visit *visit, int64_t i, quarter *s)
{
    if (visit->q_0)
        *s += load_doubles(visit->q_0 + i);
    const four_reals w = saturate(visit->top / (visit->base + 0.5 * *s));
    if (!visit->omega)
        return w;
    return saturate(widen_reals(visit->omega + i) * __builtin_convertvector(w, quarter));
}

/* (A9), by = 1 / top; sum gets y (1 - w) of the rows that `fresh` has ones for. */
INLINE four_reals slopes_of(const np_visit *visit, double by, int64_t i, quarter s, four_bits fresh,
                            quarter *sum)
{
    const quarter w = widen_reals(visit->w + i);
    const quarter x = visit->omega ? widen_reals(visit->omega + i) * s : s;
    const quarter y = x * (by * w);
    const quarter z = (quarter)((four_bits)y & fresh);
    *sum = (quarter)_mm256_fmadd_pd(z, 1 - w, *sum);
    return saturate(-y * w);
}

/* Rows i .. i+3, given their sums over dimensions and by = 1 / top: s and c of the visit; and c [4]
 * once more, with 0 for the first `before` rows, which have been counted. */
INLINE void weigh_four(const np_visit *visit, double by, int64_t i, int64_t before,
                       const double *sums, quarter *slopes, real *c)
{
    const four_bits number = {0, 1, 2, 3}, fresh = number >= before;
    quarter s = load_doubles(sums);
    four_reals x = visit->w ? slopes_of(visit, by, i, s, fresh, slopes) : weights_of(visit, i, &s);
    _mm256_storeu_pd(visit->s + i, s);
    memcpy(visit->c + i, &x, sizeof x);
    x = before > 0 ? x * __builtin_convertvector(fresh & 1, four_reals) : x;
    memcpy(c, &x, sizeof x);
}

/* The same for n < 4 rows, all that the visit has. */
static inline void weigh_few(const np_visit *visit, int64_t n, const double *sums, quarter *slopes,
                             real *c)
{
    double s[4] = {0}, q_0[4] = {0};
    real omega[4] = {0}, w[4] = {0}, to_c[4];
    np_visit four = *visit;
    four.s = s;
    four.c = to_c;
    four.q_0 = visit->q_0 ? memcpy(q_0, visit->q_0, (size_t)n * sizeof *q_0) : NULL;
    four.omega = visit->omega ? memcpy(omega, visit->omega, (size_t)n * sizeof *omega) : NULL;
    four.w = visit->w ? memcpy(w, visit->w, (size_t)n * sizeof *w) : NULL;
    weigh_four(&four, 1 / visit->top, 0, 0, sums, slopes, c);
    memcpy(visit->s, s, (size_t)n * sizeof *s);
    memcpy(visit->c, to_c, (size_t)n * sizeof *to_c);
}

#endif /* NP_WEIGH_H */
