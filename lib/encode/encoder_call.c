/* Public functions of encoders that have a precision: check, lay out the memory, call the kind. */
#include <string.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "base/ragged.h"
#include "base/size.h"
#include "encode/encoder_kind.h"
#include "kernel/gemm.h"
#include "nn/chunk.h"
#include "nn/finite.h"
#include "nn/init.h"

/* What a forward leaves in the cache; the kind's own behind it. */
typedef struct record {
    npagg_encoder shape;
    int64_t n_sets;
    int64_t *offsets; /* [B+1] */
} record;

static const np_encoder_table *const tables[] = {
    [NP_ENCODER_MLP] = &NP_REAL(np_encoder_mlp),
    [NP_ENCODER_MEAN] = &NP_REAL(np_encoder_mean),
    [NP_ENCODER_ATTENTION] = &NP_REAL(np_encoder_attention),
};

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

/* Numbers that a call has of each point and of each set, at most. */
static int64_t count_per_point(const npagg_encoder *encoder)
{
    const int64_t both = np_max(encoder->x_dim + encoder->y_dim, encoder->d);
    return np_encoder_is_per_set(encoder) ? np_max(both, 16 * np_encoder_pooled(encoder) + 256)
                                          : both;
}

static int64_t count_per_set(const npagg_encoder *encoder)
{
    return np_encoder_is_per_set(encoder)
               ? NP_ENCODING_PARTS * np_max(encoder->d, np_encoder_pooled(encoder))
               : 1;
}

/* What forward and backward have in common; fills n and nets. */
static npagg_status check_call(np_encoding *e)
{
    npagg_ctx *ctx = e->ctx;
    const npagg_encoder *encoder = e->encoder;
    NP_REQUIRE(ctx, ctx, "encoder: ctx is NULL");
    NP_REQUIRE(ctx, encoder, "encoder: encoder is NULL");
    NP_REQUIRE(ctx, e->params, "encoder: params is NULL");
    NP_TRY(np_ragged_check(ctx, e->n_sets, e->offsets, count_per_point(encoder),
                           count_per_set(encoder), &e->n));
    NP_REQUIRE(ctx, e->x || e->n == 0 || encoder->x_dim == 0, "encoder: x is NULL");
    NP_REQUIRE(ctx, e->y || e->n == 0, "encoder: y is NULL");
    e->given = np_encoder_nets(encoder);
    e->nets = np_nets_align(&e->given);
    if (e->parts == 0) {
        e->parts = 1;
        e->ends[0] = e->n_sets > 0 ? e->offsets + 1 : NULL;
    }
    return NPAGG_OK;
}

static npagg_status check_outputs(const np_encoding *e)
{
    const int64_t rows = np_encoder_is_per_set(e->encoder) ? e->n_sets : e->n;
    NP_REQUIRE(e->ctx, e->m || rows == 0, "encoder: m is NULL");
    NP_REQUIRE(e->ctx, e->v || rows == 0, "encoder: v is NULL");
    return NPAGG_OK;
}

/* The networks of points and of sets as far as they are the same for every kind. */
static void begin_call(np_encoding *e)
{
    const npagg_encoder *encoder = e->encoder;
    e->points = e->sets =
        (np_fan){.ctx = e->ctx, .nets = &e->nets, .is_kept = e->is_kept, .n = e->n};
    e->points.x_dim = encoder->x_dim;
    e->points.y_dim = encoder->y_dim;
    e->points.x = e->x;
    e->points.y = e->y;
    e->points.dx = e->dx;
    e->points.dy = e->dy;
    tables[encoder->kind]->begin(e);
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

static void take_forward(np_arena *arena, np_encoding *e)
{
    e->turned = NP_TAKE(arena, e->nets.params, real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
    tables[e->encoder->kind]->forward_take(arena, e);
}

static void forward(np_encoding *e)
{
    NP_REAL(np_nets_lay_out)(e->ctx, &e->given, e->params, &e->nets, e->turned, NULL);
    e->points.turned = e->sets.turned = e->turned;
    tables[e->encoder->kind]->forward(e);
}

static npagg_status run_forward(np_encoding *e, npagg_cache *cache)
{
    np_arena scratch = {0}, kept = {0};
    e->is_kept = cache != NULL;
    begin_call(e);
    take_forward(&scratch, e);
    NP_TRY(np_scratch_begin(e->ctx, &scratch));
    take_forward(&scratch, e);
    if (cache) {
        take_record(&kept, e);
        NP_TRY(np_cache_begin(e->ctx, cache, &kept));
        fill_record(e, take_record(&kept, e));
    }
    forward(e);
    if (cache)
        np_cache_end(cache, NP_STAGE_ENCODE, NP_REAL_BITS, kept.used);
    return NPAGG_OK;
}

npagg_status NP_REAL(np_encoding_forward)(np_encoding *e, npagg_cache *cache)
{
    np_cache_clear(cache);
    NP_TRY(check_call(e));
    NP_TRY(check_outputs(e));
    NP_TRY(check_values(e));
    return run_forward(e, cache);
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
    return NP_REAL(np_encoding_forward)(&e, cache);
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
    begin_call(e);
    NP_TAKE(&kept, 1, record);
    NP_TAKE(&kept, e->n_sets + 1, int64_t);
    tables[e->encoder->kind]->keep_take(&kept, e);
    return NPAGG_OK;
}

static void take_backward(np_arena *arena, np_encoding *e)
{
    e->straight = NP_TAKE(arena, e->nets.params, real);
    if (e->dparams)
        e->chunk = NP_TAKE2(arena, e->chunks, e->nets.params, real);
    NP_TAKE(arena, NP_GEMM_SLACK, real);
    tables[e->encoder->kind]->backward_take(arena, e);
}

static void backward(np_encoding *e)
{
    NP_REAL(np_nets_lay_out)(e->ctx, &e->given, e->params, &e->nets, NULL, e->straight);
    e->points.straight = e->sets.straight = e->straight;
    e->points.chunk = e->sets.chunk = e->chunk;
    if (e->dparams)
        np_parallel_zero(e->ctx, e->chunk, (size_t)(e->chunks * e->nets.params) * sizeof(real));
    tables[e->encoder->kind]->backward(e);
    if (e->dparams)
        NP_REAL(np_chunk_sum)
    (e->ctx, e->chunks, &e->nets, e->chunk, &e->given, e->dparams);
}

static npagg_status run_backward(np_encoding *e, const npagg_cache *cache)
{
    np_arena scratch = {0};
    NP_TRY(check_call(e));
    NP_TRY(find_record(e, cache));
    take_backward(&scratch, e);
    NP_TRY(np_scratch_begin(e->ctx, &scratch));
    take_backward(&scratch, e);
    if (e->dm || e->dv)
        backward(e);
    return NPAGG_OK;
}

npagg_status NP_REAL(np_encoding_backward)(np_encoding *e, npagg_cache *cache)
{
    const npagg_status status = run_backward(e, cache);
    if (status != NPAGG_OK)
        np_cache_clear(cache);
    return status;
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
    return NP_REAL(np_encoding_backward)(&e, cache);
}
