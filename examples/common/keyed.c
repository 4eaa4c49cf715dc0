#include "keyed.h"

#include <math.h>
#include <npagg/npagg.h>

/* The finaliser of splitmix64: a bijection of 64 bits. */
static uint64_t mix_bits(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t key_seed(uint64_t seed, uint64_t purpose)
{
    return mix_bits(mix_bits(seed) + purpose);
}

void key_uniform(uint64_t seed, uint64_t purpose, uint64_t step, int64_t n, double *out)
{
    npagg_uniform_fill_f64(key_seed(seed, purpose), step, n, out);
}

void key_normal(uint64_t seed, uint64_t purpose, uint64_t step, int64_t n, double *out)
{
    npagg_noise_fill_f64(key_seed(seed, purpose), step, n, out);
}

void key_normal_f32(uint64_t seed, uint64_t purpose, uint64_t step, int64_t n, float *out)
{
    npagg_noise_fill_f32(key_seed(seed, purpose), step, n, out);
}

int64_t key_integer(double u, int64_t lo, int64_t hi)
{
    const int64_t i = lo + (int64_t)(u * (double)(hi - lo + 1));
    return i > hi ? hi : i;
}

void key_order(int64_t n, int64_t k, const double *u, int64_t *order)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = 0; i < k; i++) {
        const int64_t j = key_integer(u[i], i, n - 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

/* A Feistel network over pairs of `half` bits: each round adds a hash of one half to the other,
 * which can be undone, whatever the hash. */
static uint64_t permute_bits(uint64_t key, int half, uint64_t x)
{
    enum { ROUNDS = 6 };
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t left = x >> half, right = x & mask;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t next = left ^ (mix_bits(key + (right << 3 | round)) & mask);
        left = right;
        right = next;
    }
    return left << half | right;
}

/* The bits may hold more than n; walking on from what is too large stays a bijection of 0..n-1. */
int64_t key_shuffled(uint64_t seed, uint64_t purpose, uint64_t step, int64_t n, int64_t i)
{
    const uint64_t key = key_seed(key_seed(seed, purpose), step);
    uint64_t x = (uint64_t)i;
    int half = 1;
    while (UINT64_C(1) << 2 * half < (uint64_t)n)
        half++;
    do
        x = permute_bits(key, half, x);
    while (x >= (uint64_t)n);
    return (int64_t)x;
}

/* As Box and Muller's method, with the radius of a bivariate t in place of a normal's (R. W.
 * Bailey, Math. Comp. 62, 1994): exact, and no rejection, so always two uniforms a number. */
double key_student(double nu, double u, double v)
{
    return sqrt(nu * (pow(u, -2 / nu) - 1)) * cos(6.283185307179586 * v);
}
