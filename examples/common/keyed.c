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

/* As Box and Muller's method, with the radius of a bivariate t in place of a normal's (R. W.
 * Bailey, Math. Comp. 62, 1994): exact, and no rejection, so always two uniforms a number. */
double key_student(double nu, double u, double v)
{
    return sqrt(nu * (pow(u, -2 / nu) - 1)) * cos(6.283185307179586 * v);
}
