/* Functions of one real in its own precision, safe for any finite argument. */
#ifndef NP_SCALAR_H
#define NP_SCALAR_H

#include <math.h>

#include "base/real.h"

#if NP_REAL_BITS == 32
#define np_exp expf
#define np_expm1 expm1f
#define np_log1p log1pf
#define np_tanh tanhf
#define np_erfc erfcf
#define np_abs fabsf
#else
#define np_exp exp
#define np_expm1 expm1
#define np_log1p log1p
#define np_tanh tanh
#define np_erfc erfc
#define np_abs fabs
#endif

/* 1 / (1 + exp(-x)); the exponential never overflows, and small values keep their digits. */
static inline real np_sigmoid(real x)
{
    const real e = np_exp(-np_abs(x));
    return (x < 0 ? e : 1) / (1 + e);
}

/* sigmoid(x) (1 - sigmoid(x)) without the difference. */
static inline real np_sigmoid_slope(real x)
{
    const real e = np_exp(-np_abs(x));
    return e / ((1 + e) * (1 + e));
}

/* log(1 + exp x). */
static inline real np_softplus(real x)
{
    return (x > 0 ? x : 0) + np_log1p(np_exp(-np_abs(x)));
}

#endif /* NP_SCALAR_H */
