/* How far float32 may be off: what errors of size u do to the float64 result. See docs/testing.md.
 */
#ifndef ROUNDING_H
#define ROUNDING_H

#include "golden_case.h"

#define UNIT_ROUNDOFF 0x1p-24 /* u of float32 */

/* Everything a call reads rounded to float, as doubles; the caller destroys it. */
problem *rounding_inputs(const problem *p);

/*
 * change [count of the outputs]: per array the largest |f64(disturbed) - f64(p)| of 16 random
 * disturbances, each of which multiplies every number of m, v, weight, params, dq and dlogz by
 * 1 +- u and does likewise to what the kernels read and return. at_p is f64(p).
 */
void rounding_change(const golden_case *c, const problem *p, const outputs *at_p, double *change);

/* How far the f32 result may be from f64 = exact, an array of at_p with this change. */
double rounding_allowed(const output *exact, double change);

#endif /* ROUNDING_H */
