#include "nn/finite.h"

#include <inttypes.h>
#include <math.h>

#include "base/size.h"
#include "nn/lanes.h"

enum { FINITE_BLOCK = 1024 };

int64_t NP_REAL(np_finite_find)(const npagg_ctx *ctx, int64_t n, const real *x)
{
    const np_lanes *lanes = NP_REAL(np_lanes_choose)(ctx->cpu);
    for (int64_t first = 0; first < n; first += FINITE_BLOCK) {
        const int64_t end = np_min(n, first + FINITE_BLOCK);
        if (lanes->is_finite(end - first, x + first))
            continue;
        for (int64_t i = first; i < end; i++)
            if (!isfinite(x[i]))
                return i;
    }
    return -1;
}

npagg_status NP_REAL(np_finite_check)(npagg_ctx *ctx, const char *name, int64_t n, int64_t columns,
                                      const real *x)
{
    const int64_t at = NP_REAL(np_finite_find)(ctx, columns > 0 ? n * columns : n, x);
    if (at < 0)
        return NPAGG_OK;
    if (columns == 0)
        return np_fail(ctx, NPAGG_E_NUMERIC, "%s[%" PRId64 "] = %g, want finite", name, at,
                       (double)x[at]);
    return np_fail(ctx, NPAGG_E_NUMERIC, "%s[%" PRId64 ",%" PRId64 "] = %g, want finite", name,
                   at / columns, at % columns, (double)x[at]);
}
