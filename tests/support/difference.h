/* Gradients of a problem against finite differences of a loss. */
#ifndef DIFFERENCE_H
#define DIFFERENCE_H

#include "problem.h"

typedef double (*loss_fn)(void *user, const problem *p);

/* problem_loss with the context as user. */
double loss_of_library(void *ctx, const problem *p);

/*
 * dparams, dm, dv, dweight of r are the central differences of the loss with step 1e-5, to tol of
 * the largest entry of each array. Masked rows must have gradient 0.
 */
void check_gradient(const problem *p, const result *r, loss_fn loss, void *user, double tol);

/*
 * The derivative along one random direction in params, and then along one in m, v and weight, is
 * that which r says, to tol of itself. Normal entries of the direction, times v for v.
 */
void check_directions(test_rng *rng, const problem *p, const result *r, loss_fn loss, void *user,
                      double h, double tol);

/* All four gradient arrays of got are those of want, to tol of the largest entry of each. */
void check_same_gradient(const problem *p, const result *want, const result *got, double tol);
void check_same_gradient_bits(const problem *p, const result *want, const result *got);

/* "mixture K=3 robust D=4 B=4 N=10 T=5 dq dlogz weight: what", for messages; one static buffer. */
const char *describe(const problem *p, const char *what);

/* Frees an optional array of a problem and leaves NULL. */
void drop(double **array);

#endif /* DIFFERENCE_H */
