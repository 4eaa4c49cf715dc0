/*
 * Compiled with NP_LANES = plain, avx2, avx512: the last part of the table's name.
 *
 * Exponentials are of what is not positive. x = n log 2 + r with |r| <= log(2)/2, log 2 in two
 * parts of which the first has zeros at its end, so that n times it is exact; e^r by its Taylor
 * series to below a tenth of an ulp; 2^n in two factors, so that results below the normal
 * numbers are rounded and not lost. log(1 + e) for 0 <= e <= 1 is 2 artanh(e / (2 + e)), whose
 * argument is at most 1/3.
 */
#include "nn/lanes.h"

#include <math.h>
#include <string.h>

#define JOIN(a, b) a##b
#define NAMED(prefix, variant) JOIN(prefix, variant)
#define TABLE NP_REAL_NAME(NAMED(np_lanes_, NP_LANES))
#define NP_REAL_NAME(name) NP_REAL(name)

#if NP_REAL_BITS == 32
typedef uint32_t bits;
#define MANTISSA 23
#define ROUNDER 0x1.8p23f /* adding it leaves an integer in the last bits */
#define EXP_LEAST -104.0f /* e^ that is 0 */
#define LOG2_HIGH 0x1.62ep-1f
#define LOG2_LOW 0x1.0bfbe8p-15f
enum { EXP_TERMS = 8, ARTANH_TERMS = 8 };
#else
typedef uint64_t bits;
#define MANTISSA 52
#define ROUNDER 0x1.8p52
#define EXP_LEAST -746.0
#define LOG2_HIGH 0x1.62e42fefa38p-1
#define LOG2_LOW 0x1.ef35793c7673p-45
enum { EXP_TERMS = 14, ARTANH_TERMS = 17 };
#endif

#define INLINE static inline __attribute__((always_inline))

/* 2^n for an integer n whose power is a normal number. */
INLINE real power_of_two(real n)
{
    const real shifted = n + ROUNDER, one = 1;
    bits b, unit;
    memcpy(&b, &shifted, sizeof b);
    memcpy(&unit, &one, sizeof unit);
    b = (b << MANTISSA) + unit;
    real power;
    memcpy(&power, &b, sizeof power);
    return power;
}

/* e^x for x <= 0. */
INLINE real exp_negative(real x)
{
    static const real inverse[] = {1,
                                   1,
                                   (real)(1.0 / 2),
                                   (real)(1.0 / 6),
                                   (real)(1.0 / 24),
                                   (real)(1.0 / 120),
                                   (real)(1.0 / 720),
                                   (real)(1.0 / 5040),
                                   (real)(1.0 / 40320),
                                   (real)(1.0 / 362880),
                                   (real)(1.0 / 3628800),
                                   (real)(1.0 / 39916800),
                                   (real)(1.0 / 479001600),
                                   (real)(1.0 / 6227020800)};
    const real least = EXP_LEAST, y = x < least ? least : x;
    const real n = (y * (real)1.44269504088896340736 + ROUNDER) - ROUNDER;
    const real r = (y - n * LOG2_HIGH) - n * LOG2_LOW;
    const real half = (n * (real)0.5 + ROUNDER) - ROUNDER;
    real sum = inverse[EXP_TERMS - 1];
#pragma GCC unroll 16
    for (int k = EXP_TERMS - 2; k >= 0; k--)
        sum = sum * r + inverse[k];
    return sum * power_of_two(half) * power_of_two(n - half);
}

/* log(1 + e) for 0 <= e <= 1. */
INLINE real log_one_plus(real e)
{
    const real s = e / (2 + e), s2 = s * s;
    real sum = (real)1 / (2 * ARTANH_TERMS - 1);
#pragma GCC unroll 16
    for (int k = ARTANH_TERMS - 2; k >= 0; k--)
        sum = sum * s2 + (real)1 / (real)(2 * k + 1);
    return 2 * s * sum;
}

static void sigmoid(int64_t n, real lo, real span, const real *restrict a, real *restrict v,
                    real *restrict slope)
{
    for (int64_t i = 0; i < n; i++) {
        const real x = a[i], c = exp_negative(x < 0 ? x : -x), s = 1 / (1 + c);
        v[i] = lo + span * ((x < 0 ? c : (real)1) * s);
        slope[i] = span * c * s * s;
    }
}

static void softplus(int64_t n, real lo, real span, const real *restrict a, real *restrict v,
                     real *restrict slope)
{
    for (int64_t i = 0; i < n; i++) {
        const real x = a[i], c = exp_negative(x < 0 ? x : -x);
        slope[i] = span * ((x < 0 ? c : (real)1) / (1 + c));
        v[i] = lo + span * ((x < 0 ? (real)0 : x) + log_one_plus(c));
    }
}

/* The largest exponent there is, as an integer, is that of infinities and NaN. */
static int is_finite(int64_t n, const real *x)
{
    const bits infinite = (~(bits)0 << (MANTISSA + 1)) >> 1;
    bits bad = 0;
    for (int64_t i = 0; i < n; i++) {
        bits b;
        memcpy(&b, &x[i], sizeof b);
        bad |= (bits)((b & infinite) == infinite);
    }
    return bad == 0;
}

static void multiply(int64_t n, const real *a, const real *b, real *restrict to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = a[i] * b[i];
}

static void add_rows(int64_t n, int64_t width, const real *x, real *restrict sum)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const real *row = x + i * width;
        for (int64_t j = 0; j < width; j++)
            sum[j] =
                (((sum[j] + row[j]) + row[width + j]) + row[2 * width + j]) + row[3 * width + j];
    }
    for (; i < n; i++)
        for (int64_t j = 0; j < width; j++)
            sum[j] += x[i * width + j];
}

static void add_wide(int64_t n, int64_t width, const real *x, int64_t ldx, real *sum)
{
    double wide[NP_LANES_BLOCK];
    for (int64_t j = 0; j < width; j++)
        wide[j] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < width; j++)
            wide[j] += (double)x[i * ldx + j];
    for (int64_t j = 0; j < width; j++)
        sum[j] = (real)((double)sum[j] + wide[j]);
}

static void join(int64_t n, int64_t s, int64_t width, const real *x, const real *z, int relu,
                 real *restrict to)
{
    const real least = relu ? 0 : (real)-INFINITY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < s; r++) {
            real *restrict row = to + (i * s + r) * width;
            const real *from_x = x + i * width, *from_z = z + r * width;
            for (int64_t j = 0; j < width; j++) {
                const real sum = from_z[j] + from_x[j];
                row[j] = sum < least ? least : sum;
            }
        }
}

static void split(int64_t n, int64_t s, int64_t width, const real *g, real *restrict dx,
                  real *restrict dz, int64_t ldz)
{
    memset(dx, 0, (size_t)(n * width) * sizeof(real));
    for (int64_t r = 0; r < s; r++)
        memset(dz + r * ldz, 0, (size_t)width * sizeof(real));
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < s; r++) {
            const real *row = g + (i * s + r) * width;
            real *restrict to_x = dx + i * width, *restrict to_z = dz + r * ldz;
            for (int64_t j = 0; j < width; j++) {
                to_x[j] += row[j];
                to_z[j] += row[j];
            }
        }
}

/* Sums along a row: one for every lane, so that vectors of any width give the same bits. */
enum { LANES = 16 };

INLINE real add_lanes(const real *sum)
{
    real total = 0;
    for (int l = 0; l < LANES; l++)
        total += sum[l];
    return total;
}

static real find_largest(int64_t n, const real *x)
{
    real most[LANES], largest;
    int64_t j = 0;
    for (int l = 0; l < LANES; l++)
        most[l] = x[0];
    for (; j + LANES <= n; j += LANES)
        for (int l = 0; l < LANES; l++)
            most[l] = x[j + l] > most[l] ? x[j + l] : most[l];
    largest = most[0];
    for (int l = 1; l < LANES; l++)
        largest = most[l] > largest ? most[l] : largest;
    for (; j < n; j++)
        largest = x[j] > largest ? x[j] : largest;
    return largest;
}

static real sum_row(int64_t n, const real *x)
{
    real sum[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int l = 0; l < LANES; l++)
            sum[l] += x[j + l];
    for (int l = 0; j < n; j++, l++)
        sum[l] += x[j];
    return add_lanes(sum);
}

static void exp_row(int64_t n, real top, real *restrict x)
{
    for (int64_t j = 0; j < n; j++)
        x[j] = exp_negative(x[j] - top);
}

static void scale_row(int64_t n, real factor, real *restrict x)
{
    for (int64_t j = 0; j < n; j++)
        x[j] *= factor;
}

static void softmax(int64_t n, real *x, real *stats)
{
    stats[0] = find_largest(n, x);
    exp_row(n, stats[0], x);
    stats[1] = 1 / sum_row(n, x);
    scale_row(n, stats[1], x);
}

static void softmax_again(int64_t n, const real *stats, real *x)
{
    exp_row(n, stats[0], x);
    scale_row(n, stats[1], x);
}

static void softmax_backward(int64_t n, const real *restrict p, real sum, real *restrict g)
{
    for (int64_t j = 0; j < n; j++)
        g[j] = p[j] * (g[j] - sum);
}

static real sum_squares(int64_t n, const real *x, real centre)
{
    real sum[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int l = 0; l < LANES; l++)
            sum[l] += (x[j + l] - centre) * (x[j + l] - centre);
    for (int l = 0; j < n; j++, l++)
        sum[l] += (x[j] - centre) * (x[j] - centre);
    return add_lanes(sum);
}

static void norm(int64_t n, int64_t width, const real *x, const real *gain, const real *bias,
                 real *stats, real *restrict y)
{
    for (int64_t i = 0; i < n; i++, x += width, y += width) {
        const real mean = sum_row(width, x) / (real)width;
        const double var = (double)(sum_squares(width, x, mean) / (real)width);
        const real inverse = (real)(1 / sqrt(var + NP_NORM_EPS));
        for (int64_t j = 0; j < width; j++)
            y[j] = gain[j] * ((x[j] - mean) * inverse) + bias[j];
        stats[2 * i] = mean;
        stats[2 * i + 1] = inverse;
    }
}

/* sums [2]: those over a row of h = g gain, and of h (x - mean) / sd. */
static void sum_gradients(int64_t width, const real *x, const real *gain, const real *stats,
                          const real *g, real *sums)
{
    real plain[LANES] = {0}, along[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= width; j += LANES)
        for (int l = 0; l < LANES; l++) {
            const real h = g[j + l] * gain[j + l];
            plain[l] += h;
            along[l] += h * ((x[j + l] - stats[0]) * stats[1]);
        }
    for (int l = 0; j < width; j++, l++) {
        const real h = g[j] * gain[j];
        plain[l] += h;
        along[l] += h * ((x[j] - stats[0]) * stats[1]);
    }
    sums[0] = add_lanes(plain);
    sums[1] = add_lanes(along);
}

/* dx = (h - mean h - c mean(h c)) / sd with c = (x - mean) / sd. */
static void norm_backward(int64_t n, int64_t width, const real *x, const real *gain,
                          const real *stats, const real *g, real *restrict dx, real *restrict dgain,
                          real *restrict dbias)
{
    for (int64_t i = 0; i < n; i++, x += width, g += width, dx += width, stats += 2) {
        const real mean = stats[0], inverse = stats[1];
        real sums[2];
        sum_gradients(width, x, gain, stats, g, sums);
        const real first = sums[0] / (real)width, second = sums[1] / (real)width;
        for (int64_t j = 0; j < width; j++) {
            const real c = (x[j] - mean) * inverse;
            dx[j] = inverse * ((g[j] * gain[j] - first) - c * second);
        }
        for (int64_t j = 0; j < width && dgain; j++) {
            dgain[j] += g[j] * ((x[j] - mean) * inverse);
            dbias[j] += g[j];
        }
    }
}

const np_lanes TABLE = {
    .is_finite = is_finite,
    .multiply = multiply,
    .add_rows = add_rows,
    .add_wide = add_wide,
    .join = join,
    .split = split,
    .sigmoid = sigmoid,
    .softplus = softplus,
    .softmax = softmax,
    .softmax_again = softmax_again,
    .softmax_backward = softmax_backward,
    .norm = norm,
    .norm_backward = norm_backward,
};
