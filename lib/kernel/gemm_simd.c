/*
 * Compiled with AVX2 and with AVX-512, NP_SIMD = avx2 or avx512: the last part of the name.
 *
 * A block of C, six rows by two vectors (four of AVX-512), is summed in 12 (24) registers; one
 * step of k loads these vectors of B and spreads six numbers of A. Blocks go down the rows of A
 * first, so that their panel of B stays in cache.
 */
#include "kernel/gemm_simd.h"

#include <immintrin.h>

#include "base/size.h"

#define JOIN(a, b) a##b
#define NAMED(prefix, variant) JOIN(prefix, variant)
#define NP_REAL_NAME(name) NP_REAL(name)
#define GEMM NP_REAL_NAME(NAMED(np_gemm_, NP_SIMD))

#define INLINE static inline __attribute__((always_inline))

#ifdef __AVX512F__
enum { BYTES = 64, VECS = 4 };
#else
enum { BYTES = 32, VECS = 2 };
#endif
enum { W = BYTES / (int)sizeof(real), ROWS = 6 };

typedef real vec __attribute__((vector_size(BYTES)));
typedef real loose_vec __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));

/* mask: which lanes of a vector are there. ONLY: x where y is positive, else 0. */
#if defined __AVX512F__ && NP_REAL_BITS == 32
typedef __mmask16 mask;
#define LOAD(lanes, p) (vec) _mm512_maskz_loadu_ps((lanes), (p))
#define STORE(p, lanes, x) _mm512_mask_storeu_ps((p), (lanes), (x))
#define MAX(a, b) (vec) _mm512_max_ps((a), (b))
#define ONLY(y, x) (vec) _mm512_maskz_mov_ps(_mm512_cmp_ps_mask((y), (vec){0}, _CMP_GT_OQ), (x))
#elif defined __AVX512F__
typedef __mmask8 mask;
#define LOAD(lanes, p) (vec) _mm512_maskz_loadu_pd((lanes), (p))
#define STORE(p, lanes, x) _mm512_mask_storeu_pd((p), (lanes), (x))
#define MAX(a, b) (vec) _mm512_max_pd((a), (b))
#define ONLY(y, x) (vec) _mm512_maskz_mov_pd(_mm512_cmp_pd_mask((y), (vec){0}, _CMP_GT_OQ), (x))
#elif NP_REAL_BITS == 32
typedef __m256i mask;
#define LOAD(lanes, p) (vec) _mm256_maskload_ps((p), (lanes))
#define STORE(p, lanes, x) _mm256_maskstore_ps((p), (lanes), (x))
#define MAX(a, b) (vec) _mm256_max_ps((a), (b))
#define ONLY(y, x) (vec) _mm256_and_ps(_mm256_cmp_ps((y), (vec){0}, _CMP_GT_OQ), (x))
#else
typedef __m256i mask;
#define LOAD(lanes, p) (vec) _mm256_maskload_pd((p), (lanes))
#define STORE(p, lanes, x) _mm256_maskstore_pd((p), (lanes), (x))
#define MAX(a, b) (vec) _mm256_max_pd((a), (b))
#define ONLY(y, x) (vec) _mm256_and_pd(_mm256_cmp_pd((y), (vec){0}, _CMP_GT_OQ), (x))
#endif

/* The first n lanes. */
INLINE mask first_lanes(int64_t n)
{
#ifdef __AVX512F__
    return (mask)(n >= W ? (1u << W) - 1 : (1u << np_max(n, 0)) - 1);
#elif NP_REAL_BITS == 32
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)np_max(0, np_min(n, W))),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
#else
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
#endif
}

/* full: all lanes are there, which the compiler knows. */
INLINE vec load(const int full, mask lanes, const real *p)
{
    return full ? (vec)(*(const loose_vec *)p) : LOAD(lanes, p);
}

INLINE void store(const int full, mask lanes, real *p, vec x)
{
    if (full)
        *(loose_vec *)p = (loose_vec)x;
    else
        STORE(p, lanes, x);
}

INLINE real horizontal_sum(vec x)
{
    real sum = 0;
    for (int l = 0; l < W; l++)
        sum += x[l];
    return sum;
}

typedef struct product {
    int64_t n, k;
    const real *a;       /* element (i, p) at a[i * row + p * column] */
    int64_t row, column; /* strides of op(A) */
    const real *b;
    int64_t ldb;
    real beta;
    const np_gemm_tail *tail;
    real *c;
    int64_t ldc;
} product;

/* A block of C: its sums, and which lanes of each column of vectors there are. */
typedef struct block {
    vec sum[ROWS][VECS];
    mask lanes[VECS];
} block;

/* Every vector of a block; rows and vecs are constants, so the loops unroll. */
#define EACH(r, v)                                                                                 \
    _Pragma("GCC unroll 6") for (int r = 0; r < rows; r++)                                         \
        _Pragma("GCC unroll 4") for (int v = 0; v < vecs; v++)

/* C from (i, j) on = beta C + the sums, and the tail. A NaN stays one through relu. */
INLINE void finish(const product *p, int64_t i, int64_t j, const int rows, const int vecs,
                   const int full, block *at)
{
    const np_gemm_tail *tail = p->tail;
    real *c = p->c + i * p->ldc + j;
    if (p->beta != 0)
        EACH(r, v)
    at->sum[r][v] += p->beta * load(full, at->lanes[v], c + r * p->ldc + v * W);
    if (tail->bias)
        EACH(r, v)
    at->sum[r][v] += load(full, at->lanes[v], tail->bias + j + v * W);
    if (tail->relu)
        EACH(r, v)
    at->sum[r][v] = MAX((vec){0}, at->sum[r][v]);
    if (tail->where) {
        const real *where = tail->where + i * p->ldc + j;
        EACH(r, v)
        at->sum[r][v] = ONLY(load(full, at->lanes[v], where + r * p->ldc + v * W), at->sum[r][v]);
    }
    EACH(r, v)
    store(full, at->lanes[v], c + r * p->ldc + v * W, at->sum[r][v]);
}

/* rows by vecs vectors of C from (i, j) on; the last vectors end where the row does unless full. */
INLINE void multiply(const product *p, int64_t i, int64_t j, const int rows, const int vecs,
                     const int full)
{
    block at = {.sum = {{{0}}}};
    const real *a = p->a + i * p->row, *b = p->b + j;
#pragma GCC unroll 4
    for (int v = 0; v < vecs; v++)
        at.lanes[v] = first_lanes(p->n - j - v * W);
    for (int64_t q = 0; q < p->k; q++, a += p->column, b += p->ldb) {
        vec from[VECS];
#pragma GCC unroll 4
        for (int v = 0; v < vecs; v++)
            from[v] = load(full, at.lanes[v], b + v * W);
        EACH(r, v)
        at.sum[r][v] += a[r * p->row] * from[v];
    }
    finish(p, i, j, rows, vecs, full, &at);
}

/* The constants make a loop of its own for every shape. */
INLINE void multiply_rows(const product *p, int64_t i, int64_t j, int64_t rows, const int vecs,
                          const int full)
{
    switch (rows) {
    case 1:
        multiply(p, i, j, 1, vecs, full);
        break;
    case 2:
        multiply(p, i, j, 2, vecs, full);
        break;
    case 3:
        multiply(p, i, j, 3, vecs, full);
        break;
    case 4:
        multiply(p, i, j, 4, vecs, full);
        break;
    case 5:
        multiply(p, i, j, 5, vecs, full);
        break;
    default:
        multiply(p, i, j, ROWS, vecs, full);
    }
}

static void multiply_full(const product *p, int64_t i, int64_t j, int64_t rows)
{
    multiply_rows(p, i, j, rows, VECS, 1);
}

static void multiply_wide(const product *p, int64_t i, int64_t j, int64_t rows)
{
    multiply_rows(p, i, j, rows, VECS, 0);
}

static void multiply_narrow(const product *p, int64_t i, int64_t j, int64_t rows)
{
    multiply_rows(p, i, j, rows, 1, 0);
}

/* C has one column and B is a vector: the lanes share out k, and are added at the end. */
static void multiply_vector(const product *p, int64_t m)
{
    for (int64_t i = 0; i < m; i++) {
        const real *a = p->a + i * p->row;
        vec sum[2] = {{0}};
        for (int64_t q = 0; q < p->k; q += 2 * W)
            for (int h = 0; h < 2; h++) {
                const int full = q + (h + 1) * W <= p->k;
                const mask lanes = first_lanes(p->k - q - h * W);
                sum[h] += load(full, lanes, a + q + h * W) * load(full, lanes, p->b + q + h * W);
            }
        block at = {.sum = {{{horizontal_sum(sum[0] + sum[1])}}}};
        at.lanes[0] = first_lanes(1);
        finish(p, i, 0, 1, 1, 0, &at);
    }
}

void GEMM(np_gemm_op op, int64_t m, int64_t n, int64_t k, const real *a, int64_t lda, const real *b,
          int64_t ldb, real beta, const np_gemm_tail *tail, real *c, int64_t ldc)
{
    const int turned = op == NP_GEMM_TN;
    const product p = {n, k, a, turned ? 1 : lda, turned ? lda : 1, b, ldb, beta, tail, c, ldc};
    if (n == 1 && ldb == 1 && !turned && k > 1) {
        multiply_vector(&p, m);
        return;
    }
    for (int64_t j = 0; j < n; j += VECS * W) {
        const int64_t left = n - j, columns = left <= W ? W : VECS * W;
        for (int64_t i = 0; i < m; i += ROWS) {
            const int64_t rows = np_min(ROWS, m - i);
            if (left >= columns && columns > W)
                multiply_full(&p, i, j, rows);
            else if (columns > W)
                multiply_wide(&p, i, j, rows);
            else
                multiply_narrow(&p, i, j, rows);
        }
    }
}
