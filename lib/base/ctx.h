/* Inside of a context, and the two control-flow macros of the library. */
#ifndef NP_CTX_H
#define NP_CTX_H

#include <npagg/ctx.h>

#include "base/arena.h"
#include "base/memory.h"

typedef struct np_pool np_pool;

struct npagg_ctx {
    np_memory mem;
    np_buffer scratch; /* of the running call */
    np_buffer spare;   /* a second one, for calls that learn late what else they need */
    np_buffer stage;   /* a third, for what a model keeps while its stages use the first two */
    npagg_cache *step; /* of model steps, which have none of the caller's; NULL until needed */
    np_pool *pool;     /* NULL: the caller's thread only */
    uint32_t cpu;      /* NP_CPU_* */
    char error[256];
};

/* Passes a failure on. */
#define NP_TRY(call)                                                                               \
    do {                                                                                           \
        npagg_status status_ = (call);                                                             \
        if (status_ != NPAGG_OK)                                                                   \
            return status_;                                                                        \
    } while (0)

/* NPAGG_E_ARG with a fixed text unless cond holds. */
#define NP_REQUIRE(ctx, cond, text)                                                                \
    do {                                                                                           \
        if (!(cond))                                                                               \
            return np_fail((ctx), NPAGG_E_ARG, "%s", (text));                                      \
    } while (0)

/* Keeps the text in the context, if there is one, and returns status. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
npagg_status
np_fail(npagg_ctx *ctx, npagg_status status, const char *format, ...);

/* The context's scratch as large as the arena measured; the arena starts again, now with memory. */
npagg_status np_scratch_begin(npagg_ctx *ctx, np_arena *arena);

/* The same with the other two; the rest stays as it is. */
npagg_status np_spare_begin(npagg_ctx *ctx, np_arena *arena);
npagg_status np_stage_begin(npagg_ctx *ctx, np_arena *arena);

#endif /* NP_CTX_H */
