/*
 * Problems at the ends of what float32 must take: variances of points and priors from 1e-18 to
 * 1e18, means and cotangents up to 10.
 */
#ifndef EXTREMES_H
#define EXTREMES_H

#include "inference.h"

/* How the variances of one array are drawn. */
enum { ALL_TINY, ALL_HUGE, TINY_OR_HUGE, TINY_ONE_OR_HUGE, LOG_UNIFORM, SPREADS };

/* Overwrites v by the one spread, the prior's variances by the other; means and cotangents by +-10
 * or uniform. */
void extremes_draw(test_rng *rng, problem *p, int v_spread, int s_spread);

/* Runs it in this precision and asserts that every value and gradient is finite. */
void extremes_check(npagg_ctx *ctx, const problem *p, int precision);

#endif /* EXTREMES_H */
