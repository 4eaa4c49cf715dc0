/*
 * The other half of call_cost.py: n calls of npagg_infer_forward_f32 from C, on the arrays that
 * Python holds. The function's address is an argument, so this needs no library to link with.
 */
#include <npagg/npagg.h>
#include <time.h>

typedef npagg_status (*forward_fn)(npagg_ctx *, const npagg_prior *, const npagg_vmp *,
                                   const float *, int64_t, const int64_t *, const float *,
                                   const float *, const float *, float *, float *, npagg_cache *);

double call_cost_seconds(int64_t n, forward_fn forward, npagg_ctx *ctx, const npagg_prior *prior,
                         const float *params, int64_t n_sets, const int64_t *offsets,
                         const float *m, const float *v, float *q, npagg_cache *cache);

/* Seconds of this thread in n calls; negative if one failed. */
double call_cost_seconds(int64_t n, forward_fn forward, npagg_ctx *ctx, const npagg_prior *prior,
                         const float *params, int64_t n_sets, const int64_t *offsets,
                         const float *m, const float *v, float *q, npagg_cache *cache)
{
    struct timespec a, b;
    npagg_status status = NPAGG_OK;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (int64_t i = 0; i < n && status == NPAGG_OK; i++)
        status = forward(ctx, prior, NULL, params, n_sets, offsets, m, v, NULL, q, NULL, cache);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    if (status != NPAGG_OK)
        return -1;
    return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}
