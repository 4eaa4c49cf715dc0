#include "vmp/vmp.h"

#include <math.h>

npagg_vmp np_vmp_settings(const npagg_vmp *vmp)
{
    const npagg_vmp defaults = {.max_iters = 5, .grad = NPAGG_GRAD_UNROLL, .weights = 1};
    return vmp ? *vmp : defaults;
}

npagg_status npagg_vmp_create(npagg_ctx *ctx, npagg_vmp **out)
{
    NP_REQUIRE(ctx, ctx, "vmp_create: ctx is NULL");
    NP_REQUIRE(ctx, out, "vmp_create: out is NULL");
    npagg_vmp *vmp = np_memory_get(ctx->mem, sizeof *vmp);
    if (!vmp)
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for vmp settings");
    *vmp = np_vmp_settings(NULL);
    vmp->mem = ctx->mem;
    *out = vmp;
    return NPAGG_OK;
}

void npagg_vmp_destroy(npagg_vmp *vmp)
{
    if (vmp)
        np_memory_free(vmp->mem, vmp, sizeof *vmp);
}

npagg_status npagg_vmp_set_max_iters(npagg_vmp *vmp, int32_t n)
{
    if (!vmp || n < 1 || n > 1000000)
        return NPAGG_E_ARG;
    vmp->max_iters = n;
    return NPAGG_OK;
}

npagg_status npagg_vmp_set_tolerance(npagg_vmp *vmp, double tol)
{
    if (!vmp || !isfinite(tol) || tol < 0)
        return NPAGG_E_ARG;
    vmp->tol = tol;
    return NPAGG_OK;
}

npagg_status npagg_vmp_set_grad(npagg_vmp *vmp, int32_t mode)
{
    if (!vmp || mode < NPAGG_GRAD_UNROLL || mode > NPAGG_GRAD_IMPLICIT)
        return NPAGG_E_ARG;
    vmp->grad = mode;
    return NPAGG_OK;
}

npagg_status npagg_vmp_set_weights(npagg_vmp *vmp, int32_t on)
{
    if (!vmp || on < 0 || on > 1)
        return NPAGG_E_ARG;
    vmp->weights = on;
    return NPAGG_OK;
}
