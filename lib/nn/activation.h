/* The layer between linear layers: y = f(x), number by number. */
#ifndef NP_ACTIVATION_H
#define NP_ACTIVATION_H

#include <stdint.h>

#include "base/real.h"

/* x [n] becomes y; pre [n] gets x if np_activation_keeps_input says so, else it may be NULL. */
void NP_REAL(np_activation_forward)(int32_t activation, int64_t n, real *x, real *pre);

/* g [n], the gradient of y, becomes that of x. y, pre [n] as forward left them. */
void NP_REAL(np_activation_backward)(int32_t activation, int64_t n, const real *y, const real *pre,
                                     real *g);

#endif /* NP_ACTIVATION_H */
