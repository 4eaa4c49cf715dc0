/*
 * NP_DIMS_TABLE is the table this compilation makes. A loop marked simd has no dependence between
 * its turns but the reduction it names.
 */
#include "pgm/dims.h"

#include <math.h>
#include <string.h>

#include "base/size.h"

static int tame(int64_t n, const double *x, double top)
{
    int64_t wild = 0;
#pragma omp simd reduction(+ : wild)
    for (int64_t j = 0; j < n; j++)
        wild += fabs(x[j]) <= top ? 0 : 1;
    return wild == 0;
}

static void component(const np_component *c, double *mean, double *var)
{
    const double *mu = c->mu, *s = c->s, *L = c->L, *h = c->h;
#pragma omp simd
    for (int64_t j = 0; j < c->d; j++) {
        const double by = 1 / (1 + L[j] * s[j]), r = h[j] - L[j] * mu[j];
        var[j] = s[j] * by;
        mean[j] = mu[j] + s[j] * (r * by);
    }
}

/* x = 2^exponent mantissa, with a mantissa of 1 .. 2, for normal numbers. */
static inline int64_t split(double x, double *mantissa)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int64_t exponent = (int64_t)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    memcpy(mantissa, &bits, sizeof bits);
    return exponent;
}

/* sum_j log(1 + L s) of n <= 512 numbers, whose mantissas' product cannot overflow. */
static double log_t(int64_t n, const double *s, const double *L)
{
    const double log_2 = 0.69314718055994530942;
    double product = 1, poison = 0;
    int64_t exponents = 0;
#pragma omp simd reduction(* : product) reduction(+ : poison, exponents)
    for (int64_t j = 0; j < n; j++) {
        const double t = 1 + L[j] * s[j];
        double mantissa;
        exponents += split(t, &mantissa);
        product *= mantissa;
        poison += 0 * t; /* NaN if t is no number or infinite */
    }
    return (log(product) + log_2 * (double)exponents) + poison;
}

static double component_evidence(const np_component *c, double *mean, double *var)
{
    enum { PIECE = 512 };
    const double *mu = c->mu, *s = c->s, *L = c->L, *h = c->h;
    double sum = 0, logs = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < c->d; j++) {
        const double by = 1 / (1 + L[j] * s[j]), r = h[j] - L[j] * mu[j], delta = r * by;
        const double term = r * delta / (L[j] > 0 ? L[j] : 1);
        var[j] = s[j] * by;
        mean[j] = mu[j] + s[j] * delta;
        sum += L[j] > 0 ? term : 0;
    }
    for (int64_t j = 0; j < c->d; j += PIECE)
        logs += log_t(np_min(PIECE, c->d - j), s + j, L + j);
    return -0.5 * (logs + sum);
}

static void sums_backward(int64_t d, const double *mean, const double *var, const double *E,
                          const double *dmean, const double *dvar, double dl, double *dL,
                          double *dh)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        const double x = mean[j] - E[j], p = dmean[j] * var[j];
        dh[j] += p + dl * x;
        dL[j] -= dvar[j] * var[j] * var[j] + p * x + 0.5 * dl * (var[j] + x * x);
    }
}

static void prior_backward(const np_component *c, const double *var, const double *dmean,
                           const double *dvar, double dl, double *dmu, double *dprec)
{
    const double *mu = c->mu, *s = c->s, *sum_L = c->L, *h = c->h;
#pragma omp simd
    for (int64_t j = 0; j < c->d; j++) {
        const double L = sum_L[j], by = 1 / (1 + L * s[j]), delta = (h[j] - L * mu[j]) * by;
        const double shift = s[j] * delta;
        dmu[j] += dmean[j] * by + dl * delta;
        dprec[j] += -dvar[j] * var[j] * var[j] - dmean[j] * var[j] * shift +
                    0.5 * dl * (L * s[j] * var[j] - shift * shift);
    }
}

static void shrink(int64_t d, double alpha, const double *L, const double *h, double *mean,
                   double *var)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        const double v = 1 / (alpha + L[j]);
        var[j] = v;
        mean[j] = h[j] * v;
    }
}

static double shrink_backward(int64_t d, const double *mean, const double *var, const double *dmean,
                              const double *dvar, double *dL, double *dh)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < d; j++) {
        const double gh = dmean[j] * var[j], gL = -dvar[j] * var[j] * var[j];
        dh[j] = gh;
        dL[j] = gL;
        sum += gL - gh * mean[j];
    }
    return sum;
}

/* In pieces: the terms are alike, and so would be their rounding errors. */
static double squares(int64_t d, const double *E, const double *V)
{
    enum { PIECE = 64 };
    double sum = 0;
    for (int64_t j0 = 0; j0 < d; j0 += PIECE) {
        const int64_t end = np_min(d, j0 + PIECE);
        double piece = 0;
#pragma omp simd reduction(+ : piece)
        for (int64_t j = j0; j < end; j++)
            piece += E[j] * E[j] + V[j];
        sum += piece;
    }
    return sum;
}

static void add_shift(int64_t d, double w, const double *mean, const double *base, double *E)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++)
        E[j] += w * (mean[j] - base[j]);
}

static void add_spread(int64_t d, double w, const double *mean, const double *var, const double *E,
                       double *V)
{
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        const double x = mean[j] - E[j];
        V[j] += w * (var[j] + x * x);
    }
}

static double moments_backward(int64_t d, double w, const double *mean, const double *var,
                               const double *E, const double *dE, const double *dV, double *dmean,
                               double *dvar)
{
    double dlogw = 0;
#pragma omp simd reduction(+ : dlogw)
    for (int64_t j = 0; j < d; j++) {
        const double x = mean[j] - E[j];
        dmean[j] += w * (dE[j] + 2 * dV[j] * x);
        dvar[j] += w * dV[j];
        dlogw += x * dE[j] + dV[j] * (var[j] + x * x);
    }
    return w * dlogw;
}

const np_dims NP_DIMS_TABLE = {
    tame,           component,  component_evidence, sums_backward,
    prior_backward, shrink,     shrink_backward,    squares,
    add_shift,      add_spread, moments_backward,
};
