/* What a cache knows of its last inference, without a precision. */
#include <inttypes.h>
#include <npagg/infer.h>
#include <string.h>

#include "base/cache.h"
#include "vmp/record.h"

static npagg_status find(npagg_ctx *ctx, const npagg_cache *cache, const void *out,
                         const char *name, const np_record **rec)
{
    void *head;
    NP_REQUIRE(ctx, ctx, "infer: ctx is NULL");
    NP_TRY(np_cache_find(ctx, cache, NP_STAGE_INFER, 0, &head));
    *rec = head;
    if (!out && (*rec)->n_sets > 0)
        return np_fail(ctx, NPAGG_E_ARG, "infer: %s is NULL", name);
    return NPAGG_OK;
}

npagg_status npagg_infer_iters(npagg_ctx *ctx, const npagg_cache *cache, int32_t *iters)
{
    const np_record *rec = NULL;
    NP_TRY(find(ctx, cache, iters, "iters", &rec));
    for (int64_t b = 0; b < rec->n_sets; b++)
        iters[b] = rec->course[b].iters;
    return NPAGG_OK;
}

npagg_status npagg_infer_grad_iters(npagg_ctx *ctx, const npagg_cache *cache, int32_t *n)
{
    const np_record *rec = NULL;
    NP_TRY(find(ctx, cache, n, "n", &rec));
    if (!rec->implicit_done)
        return np_fail(ctx, NPAGG_E_STATE, "the cache has seen no implicit backward");
    for (int64_t b = 0; b < rec->n_sets; b++)
        n[b] = rec->course[b].grad_iters;
    return NPAGG_OK;
}

npagg_status npagg_infer_residual(npagg_ctx *ctx, const npagg_cache *cache, double *residual)
{
    const np_record *rec = NULL;
    NP_TRY(find(ctx, cache, residual, "residual", &rec));
    for (int64_t b = 0; b < rec->n_sets; b++)
        residual[b] = rec->course[b].residual[0];
    return NPAGG_OK;
}

npagg_status npagg_infer_trace(npagg_ctx *ctx, const npagg_cache *cache, int64_t set, double *bound)
{
    const np_record *rec = NULL;
    NP_TRY(find(ctx, cache, bound, "bound", &rec));
    if (set < 0 || set >= rec->n_sets)
        return np_fail(ctx, NPAGG_E_ARG, "infer_trace: set = %" PRId64 ", want 0..%" PRId64, set,
                       rec->n_sets - 1);
    if (!rec->evidence)
        return np_fail(ctx, NPAGG_E_STATE, "infer_trace: forward was not asked for logz");
    if (rec->course[set].iters > rec->trace_room)
        return np_fail(ctx, NPAGG_E_STATE,
                       "infer_trace: set %" PRId64
                       " took %d sweeps, implicit mode keeps the bounds of %d",
                       set, (int)rec->course[set].iters, (int)rec->trace_room);
    memcpy(bound, rec->trace + set * rec->trace_room,
           (size_t)rec->course[set].iters * sizeof(double));
    return NPAGG_OK;
}
