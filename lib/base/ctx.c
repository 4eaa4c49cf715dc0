#include "base/ctx.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cpu.h"
#include "base/parallel.h"

npagg_status np_fail(npagg_ctx *ctx, npagg_status status, const char *format, ...)
{
    if (ctx) {
        va_list args;
        va_start(args, format);
        vsnprintf(ctx->error, sizeof ctx->error, format, args);
        va_end(args);
    }
    return status;
}

static npagg_status begin_scratch(npagg_ctx *ctx, np_buffer *buffer, np_arena *arena)
{
    if (arena->overflow)
        return np_fail(ctx, NPAGG_E_ARG, "the sizes of this call do not fit into memory addresses");
    if (np_buffer_reserve(ctx->mem, buffer, arena->used))
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for %zu bytes of scratch", arena->used);
    *arena = (np_arena){buffer->base, 0, 0};
    return NPAGG_OK;
}

npagg_status np_scratch_begin(npagg_ctx *ctx, np_arena *arena)
{
    return begin_scratch(ctx, &ctx->scratch, arena);
}

npagg_status np_spare_begin(npagg_ctx *ctx, np_arena *arena)
{
    return begin_scratch(ctx, &ctx->spare, arena);
}

npagg_status np_stage_begin(npagg_ctx *ctx, np_arena *arena)
{
    return begin_scratch(ctx, &ctx->stage, arena);
}

npagg_status npagg_ctx_create_with_alloc(npagg_ctx **out, npagg_alloc_fn alloc, void *user)
{
    if (!out || !alloc)
        return NPAGG_E_ARG;
    np_memory mem = {alloc, user};
    npagg_ctx *ctx = np_memory_get(mem, sizeof *ctx);
    if (!ctx)
        return NPAGG_E_NOMEM;
    ctx->mem = mem;
    ctx->cpu = np_cpu_mask();
    *out = ctx;
    return NPAGG_OK;
}

npagg_status npagg_ctx_create(npagg_ctx **out)
{
    np_memory mem = np_memory_default();
    return npagg_ctx_create_with_alloc(out, mem.alloc, mem.user);
}

void npagg_ctx_destroy(npagg_ctx *ctx)
{
    if (!ctx)
        return;
    np_pool_destroy(ctx->mem, ctx->pool);
    np_buffer_free(ctx->mem, &ctx->scratch);
    np_buffer_free(ctx->mem, &ctx->spare);
    np_buffer_free(ctx->mem, &ctx->stage);
    npagg_cache_destroy(ctx->step);
    np_memory_free(ctx->mem, ctx, sizeof *ctx);
}

npagg_status npagg_ctx_set_threads(npagg_ctx *ctx, int32_t n)
{
    NP_REQUIRE(ctx, ctx, "ctx_set_threads: ctx is NULL");
    if (n < 1 || n > NP_MAX_THREADS)
        return np_fail(ctx, NPAGG_E_ARG, "ctx_set_threads: n = %d, want 1..%d", (int)n,
                       NP_MAX_THREADS);
    if (n == np_threads(ctx))
        return NPAGG_OK;
    np_pool *pool = NULL;
    if (n > 1)
        NP_TRY(np_pool_create(ctx, n, &pool));
    np_pool_destroy(ctx->mem, ctx->pool);
    ctx->pool = pool;
    return NPAGG_OK;
}

const char *npagg_ctx_error(const npagg_ctx *ctx)
{
    return ctx ? ctx->error : "the context is NULL";
}
