/* One Gaussian component N(mu, s) of a prior under the sums L, h of a set; all arrays [D], all
 * double. */
#ifndef NP_COMPONENT_H
#define NP_COMPONENT_H

#include <stdint.h>

typedef struct np_component {
    int64_t d;
    const double *mu, *s, *L, *h;
} np_component;

/* (Z1)-(Z3). */
void np_component_forward(const np_component *c, double *mean, double *var);

/* (Z4), the log evidence l. */
double np_component_evidence(const np_component *c);

/*
 * (A1)-(A4) given dmean, dvar and dl; mean, var, E from forward. dL, dh are added to; so are dmu
 * and dprec, the gradient of 1/s, unless dmu is NULL.
 */
void np_component_backward(const np_component *c, const double *mean, const double *var,
                           const double *E, const double *dmean, const double *dvar, double dl,
                           double *dL, double *dh, double *dmu, double *dprec);

/* kappa of (R8): KL(q(z|k) || p(z|k)). */
double np_component_kl(const np_component *c);

/* -g times its gradient as (A12) has it: dmu, dprec unless dmu is NULL, dmean, dvar unless dmean is
 * NULL. */
void np_component_kl_backward(const np_component *c, double g, double *dmean, double *dvar,
                              double *dmu, double *dprec);

#endif /* NP_COMPONENT_H */
