/*
 * Contexts and caches.
 *
 * Thread rule, for the whole library: a context and a cache belong to one thread at a time; use one
 * context per thread. Handles of shapes (priors, vmp settings) are only read by the functions that
 * compute, so any number of threads may share them while nobody sets or destroys them. Objects do
 * not point at each other: they may be destroyed in any order, also after their context.
 */
#ifndef NPAGG_CTX_H
#define NPAGG_CTX_H

#include <npagg/types.h>

NPAGG_BEGIN_DECLS

/* A context that allocates with malloc and computes on the calling thread only. The caller owns
 * *out. */
NPAGG_API npagg_status npagg_ctx_create(npagg_ctx **out);

/* The same with the caller's allocator, which must outlive every object made from this context. */
NPAGG_API npagg_status npagg_ctx_create_with_alloc(npagg_ctx **out, npagg_alloc_fn alloc,
                                                   void *user);

/* Ends the worker threads, frees the scratch. NULL is fine. */
NPAGG_API void npagg_ctx_destroy(npagg_ctx *ctx);

/*
 * Computes on n threads: the caller's and n - 1 workers, which the context owns. 1..256, default 1.
 * Results are the same bits for every n, if the rounding and denormal modes of the caller are those
 * that this call saw: workers keep them. They take no signals. The child of a fork has no workers
 * and computes on its one thread until it calls this again. NPAGG_E_UNSUP if the system gives no
 * more threads.
 */
NPAGG_API npagg_status npagg_ctx_set_threads(npagg_ctx *ctx, int32_t n);

/*
 * What the last failed call on this context got and what it wanted; "" if none failed yet. Valid
 * until the next failure on this context or its end. Never NULL.
 */
NPAGG_API const char *npagg_ctx_error(const npagg_ctx *ctx);

/*
 * An empty cache. A forward fills it (growing it to a high-water mark), its backward reads it, any
 * number of times. It fits every stage and both precisions, one at a time. The caller owns *out.
 */
NPAGG_API npagg_status npagg_cache_create(npagg_ctx *ctx, npagg_cache **out);

/* NULL is fine. */
NPAGG_API void npagg_cache_destroy(npagg_cache *cache);

/* Bytes the last forward put into the cache; 0 if it is empty or NULL. */
NPAGG_API size_t npagg_cache_bytes(const npagg_cache *cache);

NPAGG_END_DECLS

#endif /* NPAGG_CTX_H */
