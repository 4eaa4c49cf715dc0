/* Worker threads of a context. */
#ifndef NP_PARALLEL_H
#define NP_PARALLEL_H

#include "base/ctx.h"

#define NP_MAX_THREADS 256

typedef void (*np_task_fn)(void *arg, int64_t item, int32_t worker);

/*
 * task(arg, item, worker) for every item 0..n-1, in any order, on all threads of ctx, or in order
 * on the calling thread if ctx is NULL. worker is 0..np_threads(ctx)-1 and 0 is the caller. Returns
 * when all are done.
 */
void np_parallel(npagg_ctx *ctx, int64_t n, np_task_fn task, void *arg);

/* The same from the last item to the first: every thread begins where it ended a round before, with
 * what it has in cache. */
void np_parallel_back(npagg_ctx *ctx, int64_t n, np_task_fn task, void *arg);

/* Sets n bytes to 0, on all threads. */
void np_parallel_zero(npagg_ctx *ctx, void *to, size_t n);

int32_t np_threads(const npagg_ctx *ctx);

npagg_status np_pool_create(npagg_ctx *ctx, int32_t threads, np_pool **out);
void np_pool_destroy(np_memory mem, np_pool *pool);

#endif /* NP_PARALLEL_H */
