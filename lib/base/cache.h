/* Caches: one stage's forward fills it, the same stage's backward finds what it left. */
#ifndef NP_CACHE_H
#define NP_CACHE_H

#include "base/ctx.h"

enum { NP_STAGE_NONE, NP_STAGE_INFER, NP_STAGE_ENCODE, NP_STAGE_DECODE, NP_STAGE_MODEL };

enum { NP_CACHE_CHILDREN = 4 };

struct npagg_cache {
    np_memory mem;
    np_buffer buffer;
    int32_t stage; /* NP_STAGE_*; NONE: empty */
    int32_t bits;  /* 32 or 64 */
    size_t used;
    npagg_cache *child[NP_CACHE_CHILDREN]; /* of the stages of a model; NULL until needed */
};

/* Child i, made if it is not there yet. */
npagg_status np_cache_child(npagg_ctx *ctx, npagg_cache *cache, int32_t i, npagg_cache **out);

/* Empties the cache; NULL is fine. */
void np_cache_clear(npagg_cache *cache);

/* Empties it and makes room for what the arena measured; the arena starts again, now with memory.
 */
npagg_status np_cache_begin(npagg_ctx *ctx, npagg_cache *cache, np_arena *arena);

/* From here on it holds the results of this stage in this precision. */
void np_cache_end(npagg_cache *cache, int32_t stage, int32_t bits, size_t used);

/* The first thing that stage took from the arena; NPAGG_E_STATE if something else is in the cache.
 * bits 0: either. */
npagg_status np_cache_find(npagg_ctx *ctx, const npagg_cache *cache, int32_t stage, int32_t bits,
                           void **head);

#endif /* NP_CACHE_H */
