/*
 * When float arithmetic will do. With 1/v <= 2^20, |m|, |E| <= 2^20, row coefficients <= 2^20, V,
 * |dh| <= 2^30 and |dL| <= 2^40 no intermediate of a float kernel exceeds 2^122 (the largest is
 * lam^2 a dh x in push, where x may also be a difference of two E). Anything beyond, and NaN, goes
 * through the reference kernels, whose arithmetic is in double. Doubles are always tame.
 */
#ifndef NP_TAME_H
#define NP_TAME_H

#include <math.h>
#include <stdint.h>

#include "kernel/kernel.h"

#define NP_TAME_ROW 0x1p20   /* 1/v, |m|, |E|, coefficients of a row */
#define NP_TAME_WIDTH 0x1p30 /* V, |dh| */
#define NP_TAME_DL 0x1p40    /* |dL| */

static inline int np_tame_range(const np_range *range)
{
    return NP_REAL_BITS == 64 || (range->v_min >= 1 / NP_TAME_ROW && range->v_max <= 0x1p60 &&
                                  range->m_max <= NP_TAME_ROW);
}

/* |x_i| <= 2^20 for all i; false for NaN. */
static inline int np_tame_rows(int64_t n, const real *x)
{
    int32_t tame = -1;
    for (int64_t i = 0; NP_REAL_BITS == 32 && i < n; i++)
        tame &= x[i] >= -(real)NP_TAME_ROW && x[i] <= (real)NP_TAME_ROW ? -1 : 0;
    return tame != 0;
}

#endif /* NP_TAME_H */
