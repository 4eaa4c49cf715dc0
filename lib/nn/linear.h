/*
 * The linear layer y = W x + b on rows. W [out,in] is part of a wider matrix if ldw > in; forward
 * wants it transposed, wt [in,out]: so both directions are the product that BLIS is fastest at (by
 * a sixth for 128 x 128, by a third for 64 x 64). Outputs need NP_GEMM_SLACK of gemm.h behind them.
 */
#ifndef NP_LINEAR_H
#define NP_LINEAR_H

#include <stdint.h>

#include "base/real.h"

/* wt [in,out] from w [out,in]. */
void NP_REAL(np_linear_turn)(int64_t in, int64_t out, const real *w, real *wt);

/* y [n,out] = x [n,in] wt + b; b NULL: 0. */
void NP_REAL(np_linear_forward)(int64_t n, int64_t in, int64_t out, const real *wt, const real *b,
                                const real *x, real *y);

/* dx [n,in] = g [n,out] W + beta dx. */
void NP_REAL(np_linear_backward)(int64_t n, int64_t in, int64_t out, const real *w, int64_t ldw,
                                 const real *g, real beta, real *dx);

/* dw += g' x, db += the sum of g's rows; db may be NULL. */
void NP_REAL(np_linear_backward_params)(int64_t n, int64_t in, int64_t out, const real *x,
                                        const real *g, real *dw, int64_t ldw, real *db);

#endif /* NP_LINEAR_H */
