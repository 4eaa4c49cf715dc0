/*
 * Matrix products: the one place that knows BLIS (gemm_blis.c), or plain C instead of it
 * (gemm_ref.c, -Dblas=ref).
 *
 * All matrices are row-major with any distance between rows. A call runs on the calling thread and
 * changes nothing that is global. BLIS picks its loops by the sizes of a call, so the bits of a row
 * of C depend on m, n and k, but not on where the row is: calls with the same m give a row the same
 * bits whatever else is in A.
 */
#ifndef NP_GEMM_H
#define NP_GEMM_H

#include <stdint.h>

#include "base/real.h"

/* Whether A is used transposed. B never is: with it BLIS is slower, and for float it reads far
 * behind A and B (see NP_GEMM_SLACK). */
typedef enum np_gemm_op {
    NP_GEMM_NN, /* A [m,k], B [k,n] */
    NP_GEMM_TN  /* A [k,m], B [k,n] */
} np_gemm_op;

/*
 * For float BLIS 0.9 reads, and ignores, up to two numbers behind the end of C and one behind that
 * of B (flame/blis#635, #821). So there must be memory: B and C are never the last of an arena or
 * of the caller's array, and layout functions take so many numbers at their end.
 */
#define NP_GEMM_SLACK 16

/*
 * C [m,n] = op(A) B + beta C; beta 0: C is not read. lda, ldb, ldc: from row to row. Any size
 * may be 0: with k = 0 it is C = beta C.
 */
void NP_REAL(np_gemm)(np_gemm_op op, int64_t m, int64_t n, int64_t k, const real *a, int64_t lda,
                      const real *b, int64_t ldb, real beta, real *c, int64_t ldc);

#endif /* NP_GEMM_H */
