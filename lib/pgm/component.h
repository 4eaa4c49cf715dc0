/* One Gaussian component N(mu, s) of a prior under the sums L, h of a set; all arrays [D], all
 * double. What is computed of it is in pgm/dims.h. */
#ifndef NP_COMPONENT_H
#define NP_COMPONENT_H

#include <stdint.h>

typedef struct np_component {
    int64_t d;
    const double *mu, *s, *L, *h;
} np_component;

#endif /* NP_COMPONENT_H */
