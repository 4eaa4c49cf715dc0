#include "base/cache.h"

npagg_status npagg_cache_create(npagg_ctx *ctx, npagg_cache **out)
{
    NP_REQUIRE(ctx, ctx, "cache_create: ctx is NULL");
    NP_REQUIRE(ctx, out, "cache_create: out is NULL");
    npagg_cache *cache = np_memory_get(ctx->mem, sizeof *cache);
    if (!cache)
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for a cache");
    cache->mem = ctx->mem;
    *out = cache;
    return NPAGG_OK;
}

void npagg_cache_destroy(npagg_cache *cache)
{
    if (!cache)
        return;
    for (int32_t i = 0; i < NP_CACHE_CHILDREN; i++)
        npagg_cache_destroy(cache->child[i]);
    np_buffer_free(cache->mem, &cache->buffer);
    np_memory_free(cache->mem, cache, sizeof *cache);
}

npagg_status np_cache_child(npagg_ctx *ctx, npagg_cache *cache, int32_t i, npagg_cache **out)
{
    if (!cache->child[i]) {
        npagg_cache *child = np_memory_get(cache->mem, sizeof *child);
        if (!child)
            return np_fail(ctx, NPAGG_E_NOMEM, "no memory for a cache");
        child->mem = cache->mem;
        cache->child[i] = child;
    }
    *out = cache->child[i];
    return NPAGG_OK;
}

size_t npagg_cache_bytes(const npagg_cache *cache)
{
    return cache ? cache->used : 0;
}

void np_cache_clear(npagg_cache *cache)
{
    if (!cache)
        return;
    cache->stage = NP_STAGE_NONE;
    cache->used = 0;
}

npagg_status np_cache_begin(npagg_ctx *ctx, npagg_cache *cache, np_arena *arena)
{
    np_cache_clear(cache);
    if (arena->overflow)
        return np_fail(ctx, NPAGG_E_ARG, "the sizes of this call do not fit into memory addresses");
    if (np_buffer_reserve(cache->mem, &cache->buffer, arena->used))
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for %zu bytes of cache", arena->used);
    *arena = (np_arena){cache->buffer.base, 0, 0};
    return NPAGG_OK;
}

void np_cache_end(npagg_cache *cache, int32_t stage, int32_t bits, size_t used)
{
    cache->stage = stage;
    cache->bits = bits;
    cache->used = used;
}

npagg_status np_cache_find(npagg_ctx *ctx, const npagg_cache *cache, int32_t stage, int32_t bits,
                           void **head)
{
    NP_REQUIRE(ctx, cache, "cache is NULL");
    if (cache->stage == NP_STAGE_NONE)
        return np_fail(ctx, NPAGG_E_STATE, "the cache is empty, want one filled by a forward");
    if (cache->stage != stage)
        return np_fail(ctx, NPAGG_E_STATE, "the cache was filled by another stage");
    if (bits != 0 && cache->bits != bits)
        return np_fail(ctx, NPAGG_E_STATE, "the cache was filled in f%d, want f%d",
                       (int)cache->bits, (int)bits);
    *head = cache->buffer.base;
    return NPAGG_OK;
}
