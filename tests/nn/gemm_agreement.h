/* np_gemm and its variants in one precision against three loops in double; included with NP_REAL_BITS defined. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "check.h"
#include "guarded.h"
#include "kernel/gemm_simd.h"
#include "problem.h"

void setUp(void)
{
}

void tearDown(void)
{
    guarded_destroy_all();
}

static real *draw(test_rng *rng, int64_t n)
{
    real *x = guarded_create((size_t)(n + NP_GEMM_SLACK) * sizeof(real));
    for (int64_t i = 0; i < n; i++)
        x[i] = (real)rng_normal(rng);
    return x;
}

typedef void gemm_fn(np_gemm_op op, int64_t m, int64_t n, int64_t k, const real *a, int64_t lda,
                     const real *b, int64_t ldb, real beta, real *c, int64_t ldc);

/* Kernels that have a tail, without one. */
#ifdef NP_HAVE_AVX2
static void gemm_avx2(np_gemm_op op, int64_t m, int64_t n, int64_t k, const real *a, int64_t lda,
                      const real *b, int64_t ldb, real beta, real *c, int64_t ldc)
{
    const np_gemm_tail none = {0};
    NP_REAL(np_gemm_avx2)(op, m, n, k, a, lda, b, ldb, beta, &none, c, ldc);
}
#endif

#ifdef NP_HAVE_AVX512
static void gemm_avx512(np_gemm_op op, int64_t m, int64_t n, int64_t k, const real *a, int64_t lda,
                        const real *b, int64_t ldb, real beta, real *c, int64_t ldc)
{
    const np_gemm_tail none = {0};
    NP_REAL(np_gemm_avx512)(op, m, n, k, a, lda, b, ldb, beta, &none, c, ldc);
}
#endif

static const struct {
    gemm_fn *gemm;
    np_gemm_fn *tailed; /* NULL: has none, and pads */
    uint32_t cpu;       /* what it needs */
} variants[] = {
    {NP_REAL(np_gemm), NULL, 0},
#ifdef NP_HAVE_AVX2
    {gemm_avx2, NP_REAL(np_gemm_avx2), NP_CPU_AVX2_FMA},
#endif
#ifdef NP_HAVE_AVX512
    {gemm_avx512, NP_REAL(np_gemm_avx512), NP_CPU_AVX512},
#endif
};

/* Variant f, or NULL if this processor cannot run it. */
static gemm_fn *find_variant(size_t f)
{
    return (variants[f].cpu & ~np_cpu_mask()) == 0 ? variants[f].gemm : NULL;
}

enum { VARIANTS = sizeof variants / sizeof variants[0] };

typedef struct {
    np_gemm_op op;
    int64_t m, n, k, pad; /* pad: columns beyond the matrix in every row */
    real beta;
} product;

/* op(A) B + beta C at (i, j). */
static double plain(const product *p, const real *a, int64_t lda, const real *b, int64_t ldb,
                    double c, int64_t i, int64_t j)
{
    double sum = p->beta == 0 ? 0 : (double)p->beta * c;
    for (int64_t l = 0; l < p->k; l++)
        sum += (double)a[p->op == NP_GEMM_TN ? l * lda + i : i * lda + l] * (double)b[l * ldb + j];
    return sum;
}

static void compare(gemm_fn *gemm, test_rng *rng, const product *p)
{
    const int64_t lda = (p->op == NP_GEMM_TN ? p->m : p->k) + p->pad, ldb = p->n + p->pad,
                  ldc = ldb;
    real *a = draw(rng, (p->op == NP_GEMM_TN ? p->k : p->m) * lda);
    real *b = draw(rng, p->k * ldb);
    real *c = draw(rng, p->m * ldc), *old = draw(rng, p->m * ldc);
    const double tol = (NP_REAL_BITS == 32 ? 1e-6 : 1e-15) * (2 + sqrt((double)p->k));
    for (int64_t i = 0; i < p->m * ldc && p->beta == 0; i++)
        c[i] = NAN;
    memcpy(old, c, (size_t)(p->m * ldc) * sizeof(real));
    gemm(p->op, p->m, p->n, p->k, a, lda, b, ldb, p->beta, c, ldc);
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < ldc; j++) {
            const int64_t at = i * ldc + j;
            if (j >= p->n)
                TEST_ASSERT_EQUAL_MEMORY(&old[at], &c[at], sizeof(real));
            else
                ASSERT_CLOSE(plain(p, a, lda, b, ldb, (double)old[at], i, j), (double)c[at], 0,
                             4 * tol);
        }
    for (size_t i = 0; i < NP_GEMM_SLACK * sizeof(real); i++)
        TEST_ASSERT_EQUAL_HEX8(0xff, ((unsigned char *)(c + p->m * ldc))[i]);
    guarded_check();
    guarded_destroy_all();
}

static void check_products(gemm_fn *gemm)
{
    const int64_t m[] = {1, 2, 7, 33, 128}, n[] = {1, 3, 16, 65, 130}, k[] = {1, 2, 5, 64, 129};
    const real beta[] = {0, 1, (real)0.5};
    test_rng rng = {1};
    for (int op = NP_GEMM_NN; op <= NP_GEMM_TN; op++)
        for (int i = 0; i < 125; i++) {
            const product p = {(np_gemm_op)op, m[i % 5],      n[i / 5 % 5],
                               k[i / 25],      i % 2 ? 3 : 0, beta[i % 3]};
            compare(gemm, &rng, &p);
        }
}

static void test_gemm_is_three_loops(void)
{
    for (size_t f = 0; f < VARIANTS; f++)
        if (find_variant(f))
            check_products(find_variant(f));
}

static void check_nothing(gemm_fn *gemm)
{
    real c[6] = {1, 2, 3, 4, 5, 6};
    gemm(NP_GEMM_NN, 0, 3, 2, NULL, 2, NULL, 3, 0, c, 3);
    gemm(NP_GEMM_NN, 2, 0, 2, NULL, 2, NULL, 2, 0, c, 3);
    gemm(NP_GEMM_TN, 2, 3, 0, NULL, 2, NULL, 3, 1, c, 3);
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_TRUE(c[i] == i + 1);
    gemm(NP_GEMM_NN, 2, 2, 0, NULL, 0, NULL, 2, 2, c, 3);
    TEST_ASSERT_TRUE(c[0] == 2 && c[1] == 4 && c[2] == 3 && c[3] == 8 && c[4] == 10 && c[5] == 6);
    gemm(NP_GEMM_NN, 2, 3, 0, NULL, 0, NULL, 3, 0, c, 3);
    for (int i = 0; i < 6; i++)
        TEST_ASSERT_TRUE(c[i] == 0);
}

static void test_gemm_of_nothing_scales(void)
{
    for (size_t f = 0; f < VARIANTS; f++)
        if (find_variant(f))
            check_nothing(find_variant(f));
}

/* Row 0 of A, put at row `to` among other rows, gives the bits it gives at row 0. */
static void compare_rows(gemm_fn *gemm, test_rng *rng, int64_t n, int64_t k)
{
    enum { ROWS = 128 };
    real *a = draw(rng, ROWS * k), *other = draw(rng, ROWS * k), *b = draw(rng, k * n);
    real *c = draw(rng, ROWS * n), *got = draw(rng, ROWS * n);
    gemm(NP_GEMM_NN, ROWS, n, k, a, k, b, n, 0, c, n);
    for (int64_t to = 0; to < ROWS; to++) {
        for (int64_t i = 0; i < ROWS * k; i++)
            other[i] = (real)rng_normal(rng);
        memcpy(other + to * k, a, (size_t)k * sizeof(real));
        gemm(NP_GEMM_NN, ROWS, n, k, other, k, b, n, 0, got, n);
        ASSERT_SAME_BITS(n * (int64_t)sizeof(real), c, got + to * n);
    }
    guarded_destroy_all();
}

static void test_gemm_gives_a_row_the_same_bits_wherever_it_is(void)
{
    const int64_t n[] = {1, 2, 64, 128, 9, 1}, k[] = {128, 64, 2, 128, 300, 1};
    test_rng rng = {2};
    for (size_t f = 0; f < VARIANTS; f++)
        for (int i = 0; i < 6 && find_variant(f); i++)
            compare_rows(find_variant(f), &rng, n[i], k[i]);
}

/* One call and, row by row, calls of one row have the same bits: nobody needs to pad. */
static void compare_single_rows(np_gemm_fn *gemm, test_rng *rng, int64_t n)
{
    enum { ROWS = 23, DEEP = 77 };
    const np_gemm_tail none = {0};
    real *a = draw(rng, ROWS * DEEP), *b = draw(rng, DEEP * n);
    real *c = draw(rng, ROWS * n), *got = draw(rng, n);
    gemm(NP_GEMM_NN, ROWS, n, DEEP, a, DEEP, b, n, 0, &none, c, n);
    for (int64_t i = 0; i < ROWS; i++) {
        gemm(NP_GEMM_NN, 1, n, DEEP, a + i * DEEP, DEEP, b, n, 0, &none, got, n);
        ASSERT_SAME_BITS(n * (int64_t)sizeof(real), c + i * n, got);
    }
    guarded_destroy_all();
}

/* The tail against the same steps after the product, to the bit: it rounds the same sums. */
static void check_tail(np_gemm_fn *gemm, test_rng *rng, int64_t n, int relu, int masks)
{
    enum { ROWS = 13, DEEP = 9 };
    real *a = draw(rng, ROWS * DEEP), *b = draw(rng, DEEP * n), *bias = draw(rng, n);
    real *where = draw(rng, ROWS * n), *c = draw(rng, ROWS * n), *want = draw(rng, ROWS * n);
    const np_gemm_tail none = {0}, tail = {bias, masks ? where : NULL, relu};
    where[0] = (real)NAN;
    where[1 % n] = 0;
    gemm(NP_GEMM_NN, ROWS, n, DEEP, a, DEEP, b, n, 0, &none, want, n);
    gemm(NP_GEMM_NN, ROWS, n, DEEP, a, DEEP, b, n, 0, &tail, c, n);
    for (int64_t i = 0; i < ROWS * n; i++) {
        want[i] += bias[i % n];
        want[i] = relu && want[i] < 0 ? 0 : want[i];
        want[i] = masks && !(where[i] > 0) ? 0 : want[i];
    }
    ASSERT_SAME_BITS(ROWS * n * (int64_t)sizeof(real), want, c);
    guarded_check();
    guarded_destroy_all();
}

static void test_kernels_give_a_row_the_same_bits_alone(void)
{
    const int64_t n[] = {1, 5, 64, 130};
    test_rng rng = {3};
    for (size_t f = 1; f < VARIANTS; f++)
        for (int i = 0; i < 4 && find_variant(f); i++)
            compare_single_rows(variants[f].tailed, &rng, n[i]);
}

static void test_tail_is_bias_then_relu_then_mask(void)
{
    const int64_t n[] = {1, 7, 64, 100};
    test_rng rng = {5};
    for (size_t f = 1; f < VARIANTS; f++)
        for (int i = 0; i < 16 && find_variant(f); i++)
            check_tail(variants[f].tailed, &rng, n[i / 4], i % 2, i / 2 % 2);
}

static void test_relu_of_a_tail_keeps_nan(void)
{
    const real a[2] = {(real)NAN, -1}, b = 1;
    const np_gemm_tail relu = {.relu = 1};
    for (size_t f = 1; f < VARIANTS; f++)
        if (find_variant(f)) {
            real c[2];
            variants[f].tailed(NP_GEMM_NN, 2, 1, 1, a, 1, &b, 1, 0, &relu, c, 1);
            TEST_ASSERT_TRUE(isnan(c[0]) && c[1] == 0);
        }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_gemm_is_three_loops);
    RUN_TEST(test_gemm_of_nothing_scales);
    RUN_TEST(test_gemm_gives_a_row_the_same_bits_wherever_it_is);
    RUN_TEST(test_kernels_give_a_row_the_same_bits_alone);
    RUN_TEST(test_tail_is_bias_then_relu_then_mask);
    RUN_TEST(test_relu_of_a_tail_keeps_nan);
    return UNITY_END();
}
