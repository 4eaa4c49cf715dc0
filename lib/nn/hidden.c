#include "nn/hidden.h"

#include <inttypes.h>

#include "base/size.h"
#include "nn/net.h"

npagg_status np_hidden_check(npagg_ctx *ctx, const char *who, int64_t in_a, int64_t in_b,
                             int64_t n_hidden, const int64_t *widths, int64_t out)
{
    int64_t in;
    if (n_hidden < 0 || n_hidden > NP_MAX_HIDDEN)
        return np_fail(ctx, NPAGG_E_ARG, "%s: n_hidden = %" PRId64 ", want 0..%d", who, n_hidden,
                       NP_MAX_HIDDEN);
    if (n_hidden > 0 && !widths)
        return np_fail(ctx, NPAGG_E_ARG, "%s: widths is NULL", who);
    for (int64_t l = 0; l < n_hidden; l++)
        if (widths[l] < 1)
            return np_fail(ctx, NPAGG_E_ARG, "%s: widths[%" PRId64 "] = %" PRId64 ", want >= 1",
                           who, l, widths[l]);
    if (!np_size_add(in_a, in_b, &in) || !np_widths_fit(NP_MAX_NETS, in, n_hidden, widths, out))
        return np_fail(ctx, NPAGG_E_ARG,
                       "%s: the number of parameters does not fit into memory addresses", who);
    return NPAGG_OK;
}
