#include "base/ragged.h"

#include <inttypes.h>

#include "base/size.h"

static npagg_status check_order(npagg_ctx *ctx, int64_t n_sets, const int64_t *offsets)
{
    if (offsets[0] != 0)
        return np_fail(ctx, NPAGG_E_ARG, "offsets[0] = %" PRId64 ", want 0", offsets[0]);
    for (int64_t b = 0; b < n_sets; b++)
        if (offsets[b + 1] < offsets[b])
            return np_fail(ctx, NPAGG_E_ARG, "offsets[%" PRId64 "] = %" PRId64 ", want >= %" PRId64,
                           b + 1, offsets[b + 1], offsets[b]);
    return NPAGG_OK;
}

/* n * each doubles can be addressed. */
static int fits(int64_t n, int64_t each)
{
    int64_t cells, bytes;
    return np_size_mul(n, each, &cells) && np_size_mul(cells, (int64_t)sizeof(double), &bytes);
}

npagg_status np_ragged_check(npagg_ctx *ctx, int64_t n_sets, const int64_t *offsets, int64_t d,
                             int64_t per_set, int64_t *n)
{
    if (n_sets < 0)
        return np_fail(ctx, NPAGG_E_ARG, "n_sets = %" PRId64 ", want >= 0", n_sets);
    if (!fits(n_sets, np_max(1, per_set)))
        return np_fail(ctx, NPAGG_E_ARG,
                       "n_sets = %" PRId64 " times %" PRId64 " does not fit into memory addresses",
                       n_sets, per_set);
    *n = 0;
    if (n_sets == 0)
        return NPAGG_OK;
    NP_REQUIRE(ctx, offsets, "offsets is NULL");
    NP_TRY(check_order(ctx, n_sets, offsets));
    *n = offsets[n_sets];
    if (!fits(*n, d))
        return np_fail(ctx, NPAGG_E_ARG,
                       "offsets[%" PRId64 "] = %" PRId64 " rows of %" PRId64
                       " do not fit into memory addresses",
                       n_sets, *n, d);
    return NPAGG_OK;
}
