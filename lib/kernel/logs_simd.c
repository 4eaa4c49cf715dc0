/*
 * Logarithms, by vectors.
 *
 * A sum over dimensions is the logarithm of a product of mantissas, in double, and a sum of
 * exponents: one logarithm a row and tile.
 */
#include <string.h>

#include "base/size.h"
#include "kernel/simd.h"
#include "kernel/special.h"

#if NP_REAL_BITS == 32
enum { EXPONENT = 23, BIAS = 127 };
typedef uint32_t word;
#else
enum { EXPONENT = 52, BIAS = 1023 };
typedef uint64_t word;
#endif
typedef word words __attribute__((vector_size(NP_LANE_BYTES)));
typedef double wide __attribute__((vector_size(NP_LANE_BYTES)));

enum { DOUBLES = NP_LANE_BYTES / 8, MOST = 512 }; /* mantissas whose product cannot overflow */

/* What is known of a row so far: the product of mantissas, 1 .. 2 each, and the sum of exponents
 * with their biases, lane by lane; the smallest number, as bits. */
typedef struct factors {
    wide product;
    words exponents, least;
} factors;

/* The product of both halves' lanes; floats have two doubles' worth. */
INLINE wide widen_product(vec x)
{
#if NP_REAL_BITS == 64
    return x;
#elif NP_LANE_BYTES == 64
    return (wide)_mm512_cvtps_pd(_mm512_castps512_ps256(x)) *
           (wide)_mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
#else
    return (wide)_mm256_cvtps_pd(_mm256_castps256_ps128(x)) *
           (wide)_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
#endif
}

INLINE void take(factors *f, vec x)
{
    const words one = (words)splat(1), bits_of_x = (words)x;
    const words mantissa = (bits_of_x & (((word)1 << EXPONENT) - 1)) | one;
    f->product *= widen_product((vec)mantissa);
    f->exponents += bits_of_x >> EXPONENT;
    f->least = (words)BITS_MIN((bits)f->least, (bits)bits_of_x);
}

/* sum_j log x_j = log(result) + *exponent log 2 of n <= MOST positive numbers; 0 if some of them are
 * not normal. */
INLINE double multiply(const real *x, int64_t n, double *exponent)
{
    factors f = {.product = (wide){0} + 1, .least = (words)splat(1)};
    int64_t j = 0, sum = 0, vectors = 0;
    double product = 1;
    word least = (word)1 << EXPONENT;
    for (; j + W <= n; j += W, vectors++)
        take(&f, load(x + j));
    if (j < n) {
        take(&f, load_or_one(x + j, n - j));
        vectors++;
    }
    for (int l = 0; l < DOUBLES; l++)
        product *= f.product[l];
    for (int l = 0; l < W; l++) {
        sum += (int64_t)f.exponents[l];
        least = f.least[l] < least ? f.least[l] : least;
    }
    *exponent = (double)(sum - vectors * W * BIAS);
    return least >> EXPONENT ? product : 0;
}

/*
 * log x = k log 2 + log m with sqrt(1/2) <= m < sqrt(2), for normal x > 0, and
 *   log m = 2 s (1 + z/3 + z^2/5 + ...)  with  s = (m - 1) / (m + 1),  z = s^2 < 0.0295
 * The series ends where the next term is 7e-19 of the first. `more` is added to k. k log 2 is in two
 * parts, of which the first is exact for |k| < 2^20.
 */
static inline double log_of(double x, double more)
{
    const uint64_t middle = 0x3fe6a09e667f3bcd, bias = 0x4000000000000000,
                   ones = 0x4338000000000000;
    const double log_2_high = 0x1.62e42feep-1, log_2_low = 0x1.a39ef35793c76p-33;
    uint64_t in, k_bits;
    double m, k, p = 1.0 / 21;
    memcpy(&in, &x, sizeof in);
    in = in - middle + bias;
    k_bits = ones + (in >> 52); /* 1.5 2^52 + 1024 + k */
    memcpy(&k, &k_bits, sizeof k);
    in = (in & 0xfffffffffffff) + middle;
    memcpy(&m, &in, sizeof m);
    k = (k - (0x1.8p52 + 1024)) + more;
    const double s = (m - 1) / (m + 1), z = s * s;
    p = p * z + 1.0 / 19;
    p = p * z + 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    return k * log_2_high + (2 * s + (2 * s * z * p + k * log_2_low));
}

/* The same number by number. */
static double log_row(int64_t n, const real *x)
{
    np_log_product p = {0, 1};
    for (int64_t j = 0; j < n; j++)
        np_log_add(&p, (double)x[j]);
    return np_log_total(&p);
}

/* Sums over dimensions j0 .. j0+n-1 of all rows, added to out. */
static void add_tile(const np_block *k, int64_t j0, int64_t n, double *out)
{
    double product[NP_BLOCK_ROWS], exponent[NP_BLOCK_ROWS];
    int rare = 0;
    for (int64_t i = 0; i < k->n; i++) {
        product[i] = multiply(k->lam + i * k->d + j0, n, &exponent[i]);
        rare |= product[i] == 0;
    }
#pragma omp simd
    for (int64_t i = 0; i < k->n; i++)
        out[i] += product[i] > 0 ? log_of(product[i], exponent[i]) : 0;
    for (int64_t i = 0; rare && i < k->n; i++)
        out[i] += product[i] == 0 ? log_row(n, k->lam + i * k->d + j0) : 0;
}

void NP_SIMD_NAME(np_logs)(const np_block *k, double *out)
{
    memset(out, 0, (size_t)k->n * sizeof *out);
    for (int64_t j0 = 0; j0 < k->d; j0 += MOST)
        add_tile(k, j0, np_min(MOST, k->d - j0), out);
}

/* log(1 + x), and what was lost of x in the sum; that is NaN where x is no number or infinite. */
void NP_SIMD_NAME(np_log1p)(int64_t n, const double *x, double *out)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double y = 1 + x[i];
        out[i] = log_of(y, 0) + (x[i] - (y - 1)) / y;
    }
}
