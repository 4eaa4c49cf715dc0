/* What a caller may ask for as hidden layers. */
#ifndef NP_HIDDEN_H
#define NP_HIDDEN_H

#include "base/ctx.h"

/*
 * 0 <= n_hidden <= NP_MAX_HIDDEN, widths [n_hidden] >= 1, and three networks of in_a + in_b ->
 * widths -> out have parameters that can be addressed. who: for the message.
 */
npagg_status np_hidden_check(npagg_ctx *ctx, const char *who, int64_t in_a, int64_t in_b,
                             int64_t n_hidden, const int64_t *widths, int64_t out);

/* The first of these for a list called `names[0]` with `names[1]` as its length, which is least ..
 * NP_MAX_HIDDEN. */
npagg_status np_widths_check(npagg_ctx *ctx, const char *who, const char *const names[2],
                             int64_t least, int64_t n, const int64_t *widths);

#endif /* NP_HIDDEN_H */
