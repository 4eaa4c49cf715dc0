/*
 * Loops over the dimensions of one set, all in double: what a z-node's O(K D) is spent on. One
 * source, compiled for every instruction set; without fused operations, so that only the order of
 * sums differs between them.
 */
#ifndef NP_DIMS_H
#define NP_DIMS_H

#include <stdint.h>

#include "pgm/component.h"

/* The gradients of a component's posterior, and those that they add to; all [D] but dl. */
typedef struct np_component_grad {
    const double *dmean, *dvar;
    double dl; /* of its log evidence, (A5) */
    double *dL, *dh;
    double *dmu, *dprec; /* dprec: of 1/s */
} np_component_grad;

typedef struct np_dims {
    /* |x_j| <= top_x and |y_j| <= top_y for all j; false for NaN. */
    int (*tame)(int64_t n, const double *x, double top_x, const double *y, double top_y);

    /* Whether (E - E_0)^2 <= ratio V for all of them; false for NaN. */
    int (*within)(int64_t n, double ratio, const double *E_0, const double *E, const double *V);

    /* y += x */
    void (*add)(int64_t n, const double *x, double *y);

    /* y = -y / x */
    void (*negative_over)(int64_t n, const double *x, double *y);

    /* x = exp(x) for |x| <= 708.3, to 2 units in the last place; exp(0) is 1. */
    void (*exponential)(int64_t n, double *x);

    /* L = a, h = b + centre a: sums about a centre become sums about 0. */
    void (*recentre)(int64_t d, const double *a, const double *b, const double *centre, double *L,
                     double *h);

    /* out = dL - dh (E - centre): a gradient that is centred on E, centred elsewhere. */
    void (*move)(int64_t d, const double *dL, const double *dh, const double *E,
                 const double *centre, double *out);

    /* dE -= b - (E - centre) a, dV += a / 2: (A10) from sums a, b about a centre. */
    void (*add_moments)(int64_t d, const double *a, const double *b, const double *E,
                        const double *centre, double *dE, double *dV);

    /* The mean of the rows, mid = h / L, or 0 without rows. */
    void (*average)(int64_t d, const double *L, const double *h, double *mid);

    /* (Z1)-(Z3) of a component; and as well (Z4), its log evidence, where r^2 / (L t) is
     * delta (mid - mu): the division by L serves all components. */
    void (*component)(const np_component *c, double *mean, double *var);
    double (*component_evidence)(const np_component *c, const double *mid, double *mean,
                                 double *var);

    /* kappa of (R8): KL(q(z|k) || p(z|k)). And -g times its gradient as (A12) has it: dmu, dprec
     * unless dmu is NULL, dmean, dvar unless dmean is NULL. */
    double (*component_kl)(const np_component *c);
    void (*component_kl_backward)(const np_component *c, double g, double *dmean, double *dvar,
                                  double *dmu, double *dprec);

    /* (A1)-(A4); and (A1), (A2) alone. */
    void (*component_backward)(const np_component *c, const double *E, const np_component_grad *g);
    void (*sums_backward)(const np_component *c, const double *E, const np_component_grad *g);

    /* The component with mu = 0, s = 1/alpha; the result is sum_j mean^2 + var. And back, where dL,
     * dh are set; the result is the gradient of alpha. */
    double (*shrink)(int64_t d, double alpha, const double *L, const double *h, double *mean,
                     double *var);
    double (*shrink_backward)(int64_t d, const double *mean, const double *var, const double *dmean,
                              const double *dvar, double *dL, double *dh);

    /* dE += db E, dV += db / 2: the gradient of half of sum_j E^2 + V. */
    void (*squares_backward)(int64_t d, double db, const double *E, double *dE, double *dV);

    /* E += w (mean - base) and V += w (var + (mean - E)^2), of (M1). */
    void (*add_shift)(int64_t d, double w, const double *mean, const double *base, double *E);
    void (*add_spread)(int64_t d, double w, const double *mean, const double *var, const double *E,
                       double *V);
    /* (A13) of a component of weight w; the result is the gradient of log w. */
    double (*moments_backward)(int64_t d, double w, const double *mean, const double *var,
                               const double *E, const double *dE, const double *dV, double *dmean,
                               double *dvar);

    /* How far a sweep has moved q(z): max_j max(|E - E'| / sqrt(V), |log V - log V'|). */
    double (*residual)(int64_t d, const double *E, const double *V, const double *E_before,
                       const double *V_before);
} np_dims;

/* The best table for a CPU mask (base/cpu.h); mask 0 gives the plain one. */
const np_dims *np_dims_choose(uint32_t cpu);

extern const np_dims np_dims_plain;
#ifdef NP_HAVE_AVX2
extern const np_dims np_dims_avx2;
#endif
#ifdef NP_HAVE_AVX512
extern const np_dims np_dims_avx512;
#endif

#endif /* NP_DIMS_H */
