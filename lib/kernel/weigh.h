/* What four rows count in a visit, (R2), (R4) or (A9), by vectors of four doubles. */
#ifndef NP_WEIGH_H
#define NP_WEIGH_H

#include <string.h>

#include "kernel/kernel.h"
#include "kernel/tame.h"
#include "kernel/vector.h"

typedef real four_reals __attribute__((vector_size(4 * sizeof(real))));
typedef lane four_lanes __attribute__((vector_size(4 * sizeof(lane))));
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

/* What is known of all rows so far: the sum of (A9)'s y (1 - w); in which lanes of four no row was
 * far from its q_0, and no c too large. */
typedef struct tally {
    quarter slopes;
    four_bits near;
    four_lanes tame;
} tally;

INLINE tally begin_tally(void)
{
    const four_bits near = {-1, -1, -1, -1};
    const four_lanes tame = {-1, -1, -1, -1};
    return (tally){.near = near, .tame = tame};
}

INLINE int any_is_far(const tally *t)
{
    return (t->near[0] & t->near[1] & t->near[2] & t->near[3]) == 0;
}

INLINE int all_are_tame(const tally *t)
{
    return (t->tame[0] & t->tame[1] & t->tame[2] & t->tame[3]) != 0;
}

/* (R2), (R4): s becomes q. */
INLINE four_reals weights_of(const np_visit *visit, int64_t i, quarter *s, tally *t)
{
    if (visit->q_0) {
        const quarter q_0 = load_doubles(visit->q_0 + i);
        *s += q_0;
        t->near &= visit->floor + 0.5 * q_0 <= visit->grow * (visit->floor + 0.5 * *s);
    }
    const four_reals w = saturate(visit->top / (visit->base + 0.5 * *s));
    if (!visit->omega)
        return w;
    return saturate(widen_reals(visit->omega + i) * __builtin_convertvector(w, quarter));
}

/* (A9), by = 1 / top; slopes get y (1 - w) of the rows that `fresh` has ones for. */
INLINE four_reals slopes_of(const np_visit *visit, double by, int64_t i, quarter s, four_bits fresh,
                            tally *t)
{
    const quarter w = widen_reals(visit->w + i);
    const quarter x = visit->omega ? widen_reals(visit->omega + i) * s : s;
    const quarter y = x * (by * w);
    const quarter z = (quarter)((four_bits)y & fresh);
    t->slopes = (quarter)_mm256_fmadd_pd(z, 1 - w, t->slopes);
    return saturate(-y * w);
}

/* np_tame_rows of each. */
INLINE four_lanes tame_lanes(four_reals x)
{
    const four_lanes all = {-1, -1, -1, -1};
    const real top = (real)NP_TAME_ROW;
    return NP_REAL_BITS == 64 ? all : (x >= -top) & (x <= top);
}

/* Rows i .. i+3, given their sums over dimensions and by = 1 / top: s and c of the visit. The first
 * `before` rows have been tallied. */
INLINE void weigh_four(const np_visit *visit, double by, int64_t i, int64_t before,
                       const double *sums, tally *t)
{
    const four_bits number = {0, 1, 2, 3}, fresh = number >= before;
    quarter s = load_doubles(sums);
    const four_reals c =
        visit->w ? slopes_of(visit, by, i, s, fresh, t) : weights_of(visit, i, &s, t);
    t->tame &= tame_lanes(c);
    _mm256_storeu_pd(visit->s + i, s);
    memcpy(visit->c + i, &c, sizeof c);
}

/* The same for n < 4 rows, all that the visit has. */
static inline void weigh_few(const np_visit *visit, int64_t n, const double *sums, tally *t)
{
    double all[4] = {0}, s[4], q_0[4] = {0};
    real omega[4] = {0}, w[4] = {0}, c[4];
    np_visit four = *visit;
    four.s = s;
    four.c = c;
    memcpy(all, sums, (size_t)n * sizeof *all);
    four.q_0 = visit->q_0 ? memcpy(q_0, visit->q_0, (size_t)n * sizeof *q_0) : NULL;
    four.omega = visit->omega ? memcpy(omega, visit->omega, (size_t)n * sizeof *omega) : NULL;
    four.w = visit->w ? memcpy(w, visit->w, (size_t)n * sizeof *w) : NULL;
    weigh_four(&four, 1 / visit->top, 0, 0, all, t);
    memcpy(visit->s, s, (size_t)n * sizeof *s);
    memcpy(visit->c, c, (size_t)n * sizeof *c);
}

#endif /* NP_WEIGH_H */
