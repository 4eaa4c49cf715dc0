/* One Gaussian component N(mu, s) of a prior under the sums L, h of a set; all arrays [D], all
 * double. Its posterior and evidence are in pgm/dims.h, its part in the bound is here. */
#ifndef NP_COMPONENT_H
#define NP_COMPONENT_H

#include <stdint.h>

typedef struct np_component {
    int64_t d;
    const double *mu, *s, *L, *h;
} np_component;

/* kappa of (R8): KL(q(z|k) || p(z|k)). */
double np_component_kl(const np_component *c);

/* -g times its gradient as (A12) has it: dmu, dprec unless dmu is NULL, dmean, dvar unless dmean is
 * NULL. */
void np_component_kl_backward(const np_component *c, double g, double *dmean, double *dvar,
                              double *dmu, double *dprec);

#endif /* NP_COMPONENT_H */
