#include "nn/linear.h"

#include <string.h>

#include "base/size.h"
#include "kernel/gemm.h"

enum { TURN_BLOCK = 16 };

void NP_REAL(np_linear_turn)(int64_t in, int64_t out, const real *w, real *wt)
{
    for (int64_t i0 = 0; i0 < out; i0 += TURN_BLOCK)
        for (int64_t j0 = 0; j0 < in; j0 += TURN_BLOCK)
            for (int64_t j = j0; j < np_min(in, j0 + TURN_BLOCK); j++)
                for (int64_t i = i0; i < np_min(out, i0 + TURN_BLOCK); i++)
                    wt[j * out + i] = w[i * in + j];
}

void NP_REAL(np_linear_forward)(int64_t n, int64_t in, int64_t out, const real *wt, const real *b,
                                const real *x, real *y)
{
    for (int64_t i = 0; i < n && b; i++)
        memcpy(y + i * out, b, (size_t)out * sizeof(real));
    NP_REAL(np_gemm)(NP_GEMM_NN, n, out, in, x, in, wt, out, b ? 1 : 0, y, out);
}

void NP_REAL(np_linear_backward)(int64_t n, int64_t in, int64_t out, const real *w, int64_t ldw,
                                 const real *g, real beta, real *dx)
{
    NP_REAL(np_gemm)(NP_GEMM_NN, n, in, out, g, out, w, ldw, beta, dx, in);
}

void NP_REAL(np_linear_backward_params)(int64_t n, int64_t in, int64_t out, const real *x,
                                        const real *g, real *dw, int64_t ldw, real *db)
{
    NP_REAL(np_gemm)(NP_GEMM_TN, out, in, n, g, out, x, in, 1, dw, ldw);
    for (int64_t i = 0; i < n && db; i++)
        for (int64_t j = 0; j < out; j++)
            db[j] += g[i * out + j];
}
