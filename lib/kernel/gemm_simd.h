/*
 * Matrix products by vectors, with what a layer does next made in the registers that hold the
 * result. One source is compiled for AVX2 and for AVX-512.
 *
 * BLIS 0.9 multiplies matrices as small as a layer's with its AVX2 kernels, also on processors
 * that have AVX-512. GFLOP/s on one core of a Xeon with AVX-512 (Sapphire Rapids), in float, upper
 * decile of 41 runs, BLIS, AVX2, AVX-512: 128 x 128 x 128 107, 113, 222; 128 x 64 x 64 103, 113,
 * 215; with A transposed 104, 110, 222; 99, 114, 226.
 *
 * B is not packed: a panel of it stays in L1 or L2 over all rows of A. Every element of C is its
 * products in the order of k, so the bits of a row depend neither on m nor on where the row is,
 * nothing behind a matrix is read, and rows need no padding.
 */
#ifndef NP_GEMM_SIMD_H
#define NP_GEMM_SIMD_H

#include "kernel/gemm.h"

/* C = what the product gives, then + bias, then relu, then 0 where `where` is not positive. */
typedef struct NP_REAL(np_gemm_tail) {
    const real *bias;  /* [n] for every row, or NULL */
    const real *where; /* [m,n] with rows ldc apart, or NULL */
    int32_t relu;
} NP_REAL(np_gemm_tail);
#define np_gemm_tail NP_REAL(np_gemm_tail)

/* As np_gemm, then the tail. */
typedef void NP_REAL(np_gemm_fn)(np_gemm_op op, int64_t m, int64_t n, int64_t k, const real *a,
                                 int64_t lda, const real *b, int64_t ldb, real beta,
                                 const np_gemm_tail *tail, real *c, int64_t ldc);
#define np_gemm_fn NP_REAL(np_gemm_fn)

#ifdef NP_HAVE_AVX2
np_gemm_fn NP_REAL(np_gemm_avx2);
#endif
#ifdef NP_HAVE_AVX512
np_gemm_fn NP_REAL(np_gemm_avx512);
#endif

#endif /* NP_GEMM_SIMD_H */
