/*
 * How far float32 may be off: what perturbations of size u of its inputs and of the posterior mean
 * do to the float64 result. docs/testing.md derives the bound.
 */
#ifndef ROUNDING_H
#define ROUNDING_H

#include "golden_case.h"

#define UNIT_ROUNDOFF 0x1p-24 /* u of float32 */

/* Everything a call reads rounded to float, as doubles; the caller destroys it. */
problem *rounding_inputs(const problem *p);

/*
 * change [count of the outputs]: per array the largest |f64(perturbed p) - f64(p)| of `draws`
 * random perturbations, each of which multiplies every number of m, v, weight, params, dq and dlogz
 * by 1 +- u, and besides
 *
 *   the columns of m and of v of each set by 1 +- u: the roundings of sums over rows,
 *   the rows of m and of v by 1 +- u: the roundings of sums over dimensions,
 *
 * which the signs of many single numbers would not reach, since those average out; plus, for the
 * gradients of rows, what moving the posterior mean against the rows does. at_p is f64(p).
 */
void rounding_change(const golden_case *c, const problem *p, const outputs *at_p, int draws,
                     double *change);

#endif /* ROUNDING_H */
