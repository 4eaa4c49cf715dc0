/* Products through BLIS. It aborts on sizes it does not like, so empty ones never get there. */
#include "kernel/gemm.h"

#include <blis.h>

#if NP_REAL_BITS == 32
#define GEMM bli_sgemm_ex
#else
#define GEMM bli_dgemm_ex
#endif

static void scale(int64_t m, int64_t n, real beta, real *c, int64_t ldc)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

/* Transposing is swapping the two strides. */
void NP_REAL(np_gemm)(np_gemm_op op, int64_t m, int64_t n, int64_t k, const real *a, int64_t lda,
                      const real *b, int64_t ldb, real beta, real *c, int64_t ldc)
{
    if (m <= 0 || n <= 0)
        return;
    if (k <= 0) {
        scale(m, n, beta, c, ldc);
        return;
    }
    rntm_t one_thread = BLIS_RNTM_INITIALIZER;
    bli_rntm_set_num_threads(1, &one_thread);
    real alpha = 1;
    const int turned = op == NP_GEMM_TN;
    GEMM(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, m, n, k, &alpha, (real *)a, turned ? 1 : lda,
         turned ? lda : 1, (real *)b, ldb, 1, &beta, c, ldc, 1, NULL, &one_thread);
}
