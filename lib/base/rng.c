#include "base/rng.h"

#include <math.h>
#include <string.h>

/* A bijection of 64 bits that flips each output bit with probability one half (two
 * multiply-xorshift rounds). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t np_rng_bits(uint64_t seed, uint64_t stream, uint64_t i)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = mix(mix(seed + golden) + stream * golden + 1);
    return mix(mix(key + i * golden) ^ key);
}

double np_rng_uniform(uint64_t seed, uint64_t stream, uint64_t i)
{
    return ((double)(np_rng_bits(seed, stream, i) >> 12) + 0.5) * 0x1p-52;
}

/* Natural logarithm of a normal number: x = 2^e f with f in [sqrt(1/2), sqrt(2)), log f = 2
 * artanh((f-1)/(f+1)). */
static double log_exact_ops(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t e = (int64_t)(bits >> 52) - 1022;
    bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3fe0000000000000);
    double f;
    memcpy(&f, &bits, sizeof f);
    if (f < 0.70710678118654752) {
        f *= 2;
        e--;
    }
    const double s = (f - 1) / (f + 1), s2 = s * s;
    double sum = 0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * s2 + 1.0 / k;
    return 2 * s * sum + (double)e * 0.69314718055994531;
}

static double polynomial(const double c[8], double x)
{
    double sum = c[7];
    for (int i = 6; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* Percentage points of the normal distribution, coefficients of M. J. Wichura's algorithm AS 241
 * (1988). */
static const double centre_num[8] = {3.3871328727963665, 133.14166789178438, 1971.5909503065513,
                                     13731.69376550946,  45921.95393154987,  67265.7709270087,
                                     33430.57558358813,  2509.0809287301227};
static const double centre_den[8] = {1.0,
                                     42.31333070160091,
                                     687.1870074920579,
                                     5394.196021424751,
                                     21213.794301586597,
                                     39307.89580009271,
                                     28729.085735721943,
                                     5226.495278852854};
static const double tail_num[8] = {1.4234371107496835,   4.630337846156546,    5.769497221460691,
                                   3.6478483247632045,   1.2704582524523684,   0.2417807251774506,
                                   0.022723844989269184, 0.0007745450142783414};
static const double tail_den[8] = {1.0,
                                   2.053191626637759,
                                   1.6763848301838038,
                                   0.6897673349851,
                                   0.14810397642748008,
                                   0.015198666563616457,
                                   0.0005475938084995345,
                                   1.0507500716444169e-09};
static const double far_num[8] = {
    6.657904643501103,    5.463784911164114,     1.7848265399172913,     0.29656057182850487,
    0.026532189526576124, 0.0012426609473880784, 2.7115555687434876e-05, 2.0103343992922881e-07};
static const double far_den[8] = {1.0,
                                  0.599832206555888,
                                  0.1369298809227358,
                                  0.014875361290850615,
                                  0.0007868691311456133,
                                  1.8463183175100547e-05,
                                  1.421511758316446e-07,
                                  2.0442631033899398e-15};

static double normal_quantile(double p)
{
    const double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(centre_num, r) / polynomial(centre_den, r);
    }
    const double r = sqrt(-log_exact_ops(q < 0 ? p : 1 - p));
    const double x = r <= 5 ? polynomial(tail_num, r - 1.6) / polynomial(tail_den, r - 1.6)
                            : polynomial(far_num, r - 5) / polynomial(far_den, r - 5);
    return q < 0 ? -x : x;
}

double np_rng_normal(uint64_t seed, uint64_t stream, uint64_t i)
{
    return normal_quantile(np_rng_uniform(seed, stream, i));
}
