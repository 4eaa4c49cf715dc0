#include "nn/finite.h"

#include <inttypes.h>
#include <math.h>

#include "base/size.h"

enum { FINITE_BLOCK = 1024 };

int64_t NP_REAL(np_finite_find)(int64_t n, const real *x)
{
    for (int64_t first = 0; first < n; first += FINITE_BLOCK) {
        const int64_t end = np_min(n, first + FINITE_BLOCK);
        int bad = 0;
        for (int64_t i = first; i < end; i++)
            bad |= !(x[i] <= NP_REAL_MAX && x[i] >= -NP_REAL_MAX);
        for (int64_t i = first; i < end && bad; i++)
            if (!isfinite(x[i]))
                return i;
    }
    return -1;
}

npagg_status NP_REAL(np_finite_check)(npagg_ctx *ctx, const char *name, int64_t n, int64_t columns,
                                      const real *x)
{
    const int64_t at = NP_REAL(np_finite_find)(columns > 0 ? n * columns : n, x);
    if (at < 0)
        return NPAGG_OK;
    if (columns == 0)
        return np_fail(ctx, NPAGG_E_NUMERIC, "%s[%" PRId64 "] = %g, want finite", name, at,
                       (double)x[at]);
    return np_fail(ctx, NPAGG_E_NUMERIC, "%s[%" PRId64 ",%" PRId64 "] = %g, want finite", name,
                   at / columns, at % columns, (double)x[at]);
}
