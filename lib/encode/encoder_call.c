/* Public functions of encoders that have a precision: check, lay out the memory, call the kind. */
#include <string.h>

#include "base/cache.h"
#include "base/ragged.h"
#include "base/size.h"
#include "encode/encoder_kind.h"
#include "nn/finite.h"
#include "nn/init.h"
#include "nn/tile.h"

/* What a forward leaves in the cache; the kind's own behind it. */
typedef struct record {
    npagg_encoder shape;
    int64_t n_sets;
    int64_t *offsets; /* [B+1] */
} record;

static const np_encoder_table *const tables[] = {[NP_ENCODER_MLP] = &NP_REAL(np_encoder_mlp)};

npagg_status NP_REAL(npagg_encoder_init_params)(npagg_ctx *ctx, const npagg_encoder *encoder,
                                                uint64_t seed, real *params)
{
    NP_REQUIRE(ctx, ctx, "encoder_init_params: ctx is NULL");
    NP_REQUIRE(ctx, encoder, "encoder_init_params: encoder is NULL");
    NP_REQUIRE(ctx, params, "encoder_init_params: params is NULL");
    const np_nets nets = np_encoder_nets(encoder);
    NP_REAL(np_nets_init)(&nets, seed, NP_ENCODER_STREAM, params);
    return NPAGG_OK;
}

/* What forward and backward have in common; fills n and nets. */
static npagg_status check_call(np_encoding *e)
{
    npagg_ctx *ctx = e->ctx;
    const npagg_encoder *encoder = e->encoder;
    NP_REQUIRE(ctx, ctx, "encoder: ctx is NULL");
    NP_REQUIRE(ctx, encoder, "encoder: encoder is NULL");
    NP_REQUIRE(ctx, e->params, "encoder: params is NULL");
    NP_TRY(np_ragged_check(ctx, e->n_sets, e->offsets,
                           np_max(encoder->x_dim + encoder->y_dim, encoder->d), 1, &e->n));
    NP_REQUIRE(ctx, e->x || e->n == 0 || encoder->x_dim == 0, "encoder: x is NULL");
    NP_REQUIRE(ctx, e->y || e->n == 0, "encoder: y is NULL");
    e->given = np_encoder_nets(encoder);
    e->nets = np_nets_align(&e->given);
    e->linear = NP_REAL(np_linear_choose)(ctx->cpu);
    e->lanes = NP_REAL(np_lanes_choose)(ctx->cpu);
    e->tile_rows = np_tile_rows(e->n, e->linear->pads);
    e->tiles = np_tile_count(e->n, e->tile_rows);
    return NPAGG_OK;
}

static npagg_status check_values(const np_encoding *e)
{
    const npagg_encoder *encoder = e->encoder;
    NP_TRY(NP_REAL(np_finite_check)(e->ctx, "params", e->given.params, 0, e->params));
    if (encoder->x_dim > 0)
        NP_TRY(NP_REAL(np_finite_check)(e->ctx, "x", e->n, encoder->x_dim, e->x));
    return NP_REAL(np_finite_check)(e->ctx, "y", e->n, encoder->y_dim, e->y);
}

/* The record itself and its arrays; NULL while measuring. */
static record *take_record(np_arena *arena, np_encoding *e)
{
    record *rec = NP_TAKE(arena, 1, record);
    int64_t *offsets = NP_TAKE(arena, e->n_sets + 1, int64_t);
    tables[e->encoder->kind]->keep_take(arena, e);
    if (rec)
        rec->offsets = offsets;
    return rec;
}

static void fill_record(const np_encoding *e, record *rec)
{
    rec->shape = *e->encoder;
    rec->n_sets = e->n_sets;
    if (e->n_sets > 0)
        memcpy(rec->offsets, e->offsets, (size_t)(e->n_sets + 1) * sizeof(int64_t));
}

static npagg_status run_forward(np_encoding *e, npagg_cache *cache)
{
    const np_encoder_table *table = tables[e->encoder->kind];
    np_arena scratch = {0}, kept = {0};
    e->is_kept = cache != NULL;
    table->forward_take(&scratch, e);
    NP_TRY(np_scratch_begin(e->ctx, &scratch));
    table->forward_take(&scratch, e);
    if (cache) {
        take_record(&kept, e);
        NP_TRY(np_cache_begin(e->ctx, cache, &kept));
        fill_record(e, take_record(&kept, e));
    }
    table->forward(e);
    if (cache)
        np_cache_end(cache, NP_STAGE_ENCODE, NP_REAL_BITS, kept.used);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_encoder_forward)(npagg_ctx *ctx, const npagg_encoder *encoder,
                                            const real *params, int64_t n_sets,
                                            const int64_t *offsets, const real *x, const real *y,
                                            real *m, real *v, npagg_cache *cache)
{
    np_encoding e = {.ctx = ctx,
                     .encoder = encoder,
                     .params = params,
                     .n_sets = n_sets,
                     .offsets = offsets,
                     .x = x,
                     .y = y,
                     .m = m,
                     .v = v};
    np_cache_clear(cache);
    NP_TRY(check_call(&e));
    NP_REQUIRE(ctx, m || e.n == 0, "encoder: m is NULL");
    NP_REQUIRE(ctx, v || e.n == 0, "encoder: v is NULL");
    NP_TRY(check_values(&e));
    return run_forward(&e, cache);
}

/* Whether the cache is from a forward of this shape; finds what it kept. */
static npagg_status find_record(np_encoding *e, const npagg_cache *cache)
{
    void *head;
    NP_TRY(np_cache_find(e->ctx, cache, NP_STAGE_ENCODE, NP_REAL_BITS, &head));
    const record *rec = head;
    if (!np_encoder_is_same(&rec->shape, e->encoder))
        return np_fail(e->ctx, NPAGG_E_STATE, "the cache was filled with another encoder");
    if (rec->n_sets != e->n_sets ||
        (e->n_sets > 0 &&
         memcmp(rec->offsets, e->offsets, (size_t)(e->n_sets + 1) * sizeof(int64_t))))
        return np_fail(e->ctx, NPAGG_E_STATE, "the cache was filled with other n_sets or offsets");
    np_arena kept = {head, 0, 0};
    e->is_kept = 1;
    NP_TAKE(&kept, 1, record);
    NP_TAKE(&kept, e->n_sets + 1, int64_t);
    tables[e->encoder->kind]->keep_take(&kept, e);
    return NPAGG_OK;
}

static npagg_status run_backward(np_encoding *e, const npagg_cache *cache)
{
    np_arena scratch = {0};
    NP_TRY(check_call(e));
    NP_TRY(find_record(e, cache));
    const np_encoder_table *table = tables[e->encoder->kind];
    table->backward_take(&scratch, e);
    NP_TRY(np_scratch_begin(e->ctx, &scratch));
    table->backward_take(&scratch, e);
    table->backward(e);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_encoder_backward)(npagg_ctx *ctx, const npagg_encoder *encoder,
                                             const real *params, int64_t n_sets,
                                             const int64_t *offsets, const real *x, const real *y,
                                             const real *dm, const real *dv, real *dparams,
                                             real *dx, real *dy, npagg_cache *cache)
{
    np_encoding e = {.ctx = ctx,
                     .encoder = encoder,
                     .params = params,
                     .n_sets = n_sets,
                     .offsets = offsets,
                     .x = x,
                     .y = y,
                     .dm = dm,
                     .dv = dv,
                     .dparams = dparams,
                     .dx = dx,
                     .dy = dy};
    const npagg_status status = run_backward(&e, cache);
    if (status != NPAGG_OK)
        np_cache_clear(cache);
    return status;
}
