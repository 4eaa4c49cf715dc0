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

/* The three products of a layer, by np_gemm or by a kernel for the processor. */
typedef struct NP_REAL(np_linear) {
    /* 1: the bits of a row depend on how many rows a call has, so calls of any part of a batch want
     * the same number. */
    int32_t pads;

    /* y [n,out] = x [n,in] wt + b; b NULL: 0. relu: y = max(y, 0). */
    void (*forward)(int64_t n, int64_t in, int64_t out, const real *wt, const real *b, int relu,
                    const real *x, real *y);

    /* dx [n,in] = g [n,out] W + beta dx. relu [n,in], if not NULL: what was the output of relu and
     * is where dx belongs; dx is then 0 where that is. */
    void (*backward)(int64_t n, int64_t in, int64_t out, const real *w, int64_t ldw, const real *g,
                     real beta, const real *relu, real *dx);

    /* dw += g' x, db += the sum of g's rows; db may be NULL. */
    void (*backward_params)(int64_t n, int64_t in, int64_t out, const real *x, const real *g,
                            real *dw, int64_t ldw, real *db);
} NP_REAL(np_linear);
#define np_linear NP_REAL(np_linear)

/* The best for a CPU mask (base/cpu.h); mask 0 gives np_gemm's. */
const np_linear *NP_REAL(np_linear_choose)(uint32_t cpu);

#endif /* NP_LINEAR_H */
