#include "nn/hidden.h"

#include <inttypes.h>

#include "base/size.h"
#include "nn/net.h"

enum { COPIES = 3 }; /* networks of a shape: a trunk, or two, and two heads */

npagg_status np_widths_check(npagg_ctx *ctx, const char *who, const char *const names[2],
                             int64_t least, int64_t n, const int64_t *widths)
{
    if (n < least || n > NP_MAX_HIDDEN)
        return np_fail(ctx, NPAGG_E_ARG, "%s: %s = %" PRId64 ", want %" PRId64 "..%d", who,
                       names[1], n, least, NP_MAX_HIDDEN);
    if (n > 0 && !widths)
        return np_fail(ctx, NPAGG_E_ARG, "%s: %s is NULL", who, names[0]);
    for (int64_t l = 0; l < n; l++)
        if (widths[l] < 1)
            return np_fail(ctx, NPAGG_E_ARG, "%s: %s[%" PRId64 "] = %" PRId64 ", want >= 1", who,
                           names[0], l, widths[l]);
    return NPAGG_OK;
}

npagg_status np_hidden_check(npagg_ctx *ctx, const char *who, int64_t in_a, int64_t in_b,
                             int64_t n_hidden, const int64_t *widths, int64_t out)
{
    static const char *const names[2] = {"widths", "n_hidden"};
    int64_t in;
    NP_TRY(np_widths_check(ctx, who, names, 0, n_hidden, widths));
    if (!np_size_add(in_a, in_b, &in) || !np_widths_fit(COPIES, in, n_hidden, widths, out))
        return np_fail(ctx, NPAGG_E_ARG,
                       "%s: the number of parameters does not fit into memory addresses", who);
    return NPAGG_OK;
}
