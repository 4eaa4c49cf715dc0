/* Ragged batches: B sets, set b owns rows offsets[b] .. offsets[b+1]-1. */
#ifndef NP_RAGGED_H
#define NP_RAGGED_H

#include "base/ctx.h"

/*
 * n_sets >= 0; offsets [B+1] starts at 0 and never falls; N * d and B * per_set numbers can be
 * addressed. *n is N. offsets may be NULL if n_sets is 0.
 */
npagg_status np_ragged_check(npagg_ctx *ctx, int64_t n_sets, const int64_t *offsets, int64_t d,
                             int64_t per_set, int64_t *n);

#endif /* NP_RAGGED_H */
