/*
 * Products in plain C. A block of B is copied to where it stays in L1 with its rows one after
 * the other; then the inner loop runs along a row of C. Every element of C is its old value plus
 * its products in the order of k, whatever the sizes.
 */
#include "kernel/gemm.h"

#include "base/size.h"

enum { BLOCK_K = 64, BLOCK_N = 64 };

static void scale(int64_t m, int64_t n, real beta, real *c, int64_t ldc)
{
    for (int64_t i = 0; i < m && beta != 1; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

/* block [k,BLOCK_N] = b [k,n], zeros behind. */
static void pack_block(int64_t k, int64_t n, const real *b, int64_t ldb, real *block)
{
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < BLOCK_N; j++)
            block[p * BLOCK_N + j] = j < n ? b[p * ldb + j] : 0;
}

/* c [n] += a [k] block [k,n], one row of C. */
static void add_row(int64_t k, int64_t n, const real *a, int64_t step, const real *block, real *c)
{
    real sum[BLOCK_N] = {0};
    for (int64_t j = 0; j < n; j++)
        sum[j] = c[j];
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < BLOCK_N; j++)
            sum[j] += a[p * step] * block[p * BLOCK_N + j];
    for (int64_t j = 0; j < n; j++)
        c[j] = sum[j];
}

void NP_REAL(np_gemm)(np_gemm_op op, int64_t m, int64_t n, int64_t k, const real *a, int64_t lda,
                      const real *b, int64_t ldb, real beta, real *c, int64_t ldc)
{
    real block[BLOCK_K * BLOCK_N];
    const int64_t row = op == NP_GEMM_TN ? 1 : lda, column = op == NP_GEMM_TN ? lda : 1;
    scale(m, n, beta, c, ldc);
    for (int64_t p = 0; p < k && m > 0; p += BLOCK_K)
        for (int64_t j = 0; j < n; j += BLOCK_N) {
            const int64_t kb = np_min(BLOCK_K, k - p), nb = np_min(BLOCK_N, n - j);
            pack_block(kb, nb, b + p * ldb + j, ldb, block);
            for (int64_t i = 0; i < m; i++)
                add_row(kb, nb, a + i * row + p * column, column, block, c + i * ldc + j);
        }
}
