/* What the property tests share: sizes to claim something over, and comparisons of posteriors. */
#ifndef CLAIM_H
#define CLAIM_H

#include "inference.h"
#include "problem.h"

/* One prior, one set of n points in d dimensions beside a small one, one precision. */
typedef void (*claim)(npagg_ctx *ctx, test_rng *rng, const flavour *f, int64_t n, int64_t d,
                      int precision);

/*
 * The claim for every flavour and both precisions over N = 0, 1, 2, 31, 33, 4097, D = 1, 7, 8, 9,
 * 127, 128, 129, 1000 and random smaller sizes.
 */
void claim_for_all(npagg_ctx *ctx, uint64_t seed, claim holds);

/* The same for the flavours with this kind only. */
void claim_for_kind(npagg_ctx *ctx, uint64_t seed, prior_kind kind, claim holds);

/* Sets of n, 3 and 0 points; rounded to float if precision is 32. */
problem *draw_problem(test_rng *rng, const flavour *f, int64_t n, int64_t d, int precision,
                      int weighted);

/*
 * The problem made of other rows: row i of the new one is row from_row[i] of p, its set b, which
 * owns offsets[b] .. offsets[b+1]-1 of them, has the cotangents of p's set from_set[b].
 */
problem *problem_pick(const problem *p, int64_t n_sets, const int64_t *from_set,
                      const int64_t *offsets, const int64_t *from_row);

/* Set b of p alone. */
problem *problem_of_set(const problem *p, int64_t b);

/*
 * Every posterior of got is that of want: variances to tol of the set's largest one, means to tol
 * of one plus the largest (m and mu are of order one), log weights to tol of one plus the largest.
 */
void check_posterior(const problem *p, const double *want, const double *got, double tol);

/*
 * Rounding that two ways of computing the same may differ by, relative to the largest number: in
 * f64 a few thousand ulps of sums over rows and sweeps, in f32 some ulps of float rows and results.
 * A mixture's weights are exponentials of sums over D dimensions, so the ulps of these sums, which
 * grow with D, are relative errors of the weights.
 */
double rounding(const problem *p, int precision);

/* To tol of one plus itself. */
void check_logz(const problem *p, const double *want, const double *got, double tol);

#endif /* CLAIM_H */
