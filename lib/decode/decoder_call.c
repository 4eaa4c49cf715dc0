/* Public functions of decoders that have a precision: check, lay out the memory, call. */
#include <inttypes.h>
#include <string.h>

#include "base/cache.h"
#include "base/ragged.h"
#include "base/size.h"
#include "decode/decoding.h"
#include "nn/finite.h"
#include "nn/init.h"

/* What a forward leaves in the cache; what the tiles keep is behind it. */
typedef struct record {
    npagg_decoder shape;
    int64_t n_sets, n_samples;
    int64_t *offsets; /* [B+1] */
} record;

npagg_status NP_REAL(npagg_decoder_init_params)(npagg_ctx *ctx, const npagg_decoder *decoder,
                                                uint64_t seed, real *params)
{
    NP_REQUIRE(ctx, ctx, "decoder_init_params: ctx is NULL");
    NP_REQUIRE(ctx, decoder, "decoder_init_params: decoder is NULL");
    NP_REQUIRE(ctx, params, "decoder_init_params: params is NULL");
    const np_nets nets = np_decoder_nets(decoder);
    NP_REAL(np_nets_init)(&nets, seed, NP_DECODER_STREAM, params);
    return NPAGG_OK;
}

/* n_samples >= 1, and S numbers of any kind per point and per set can be addressed. */
static npagg_status check_sizes(np_decoding *e)
{
    const npagg_decoder *decoder = e->decoder;
    int64_t per_row = np_max(2 * decoder->y_dim, decoder->x_dim), per_set;
    if (e->n_samples < 1)
        return np_fail(e->ctx, NPAGG_E_ARG, "decoder: n_samples = %" PRId64 ", want >= 1",
                       e->n_samples);
    if (!np_size_mul(e->n_samples, per_row, &per_row) ||
        !np_size_mul(e->n_samples, np_max(decoder->d, np_decoder_nets(decoder).net[0].width[1]),
                     &per_set) ||
        !np_size_mul(per_set, 4, &per_set))
        return np_fail(e->ctx, NPAGG_E_ARG,
                       "decoder: n_samples = %" PRId64 " does not fit into memory addresses",
                       e->n_samples);
    return np_ragged_check(e->ctx, e->n_sets, e->offsets, per_row, per_set, &e->n);
}

/* What forward and backward have in common; fills sizes. */
static npagg_status check_call(np_decoding *e)
{
    npagg_ctx *ctx = e->ctx;
    NP_REQUIRE(ctx, ctx, "decoder: ctx is NULL");
    NP_REQUIRE(ctx, e->decoder, "decoder: decoder is NULL");
    NP_REQUIRE(ctx, e->params, "decoder: params is NULL");
    NP_TRY(check_sizes(e));
    NP_REQUIRE(ctx, e->x || e->n == 0 || e->decoder->x_dim == 0, "decoder: x is NULL");
    NP_REQUIRE(ctx, e->z || e->n_sets == 0, "decoder: z is NULL");
    NP_REAL(np_decoding_begin)(e);
    return NPAGG_OK;
}

static npagg_status check_values(const np_decoding *e)
{
    const int64_t d = e->decoder->d, xd = e->decoder->x_dim, s = e->n_samples;
    NP_TRY(NP_REAL(np_finite_check)(e->ctx, "params", e->given.params, 0, e->params));
    if (xd > 0)
        NP_TRY(NP_REAL(np_finite_check)(e->ctx, "x", e->n, xd, e->x));
    const int64_t at = NP_REAL(np_finite_find)(e->ctx, e->n_sets * s * d, e->z);
    if (at < 0)
        return NPAGG_OK;
    return np_fail(e->ctx, NPAGG_E_NUMERIC,
                   "z[%" PRId64 ",%" PRId64 ",%" PRId64 "] = %g, want finite", at / d / s,
                   at / d % s, at % d, (double)e->z[at]);
}

/* The record itself and its arrays; NULL while measuring. */
static record *take_record(np_arena *arena, np_decoding *e)
{
    record *rec = NP_TAKE(arena, 1, record);
    int64_t *offsets = NP_TAKE(arena, e->n_sets + 1, int64_t);
    NP_REAL(np_decoding_keep_take)(arena, e);
    if (rec)
        rec->offsets = offsets;
    return rec;
}

static void fill_record(const np_decoding *e, record *rec)
{
    rec->shape = *e->decoder;
    rec->n_sets = e->n_sets;
    rec->n_samples = e->n_samples;
    if (e->n_sets > 0)
        memcpy(rec->offsets, e->offsets, (size_t)(e->n_sets + 1) * sizeof(int64_t));
}

static npagg_status run_forward(np_decoding *e, npagg_cache *cache)
{
    np_arena scratch = {0}, kept = {0};
    e->is_kept = cache != NULL;
    NP_REAL(np_decoding_forward_take)(&scratch, e);
    NP_TRY(np_scratch_begin(e->ctx, &scratch));
    NP_REAL(np_decoding_forward_take)(&scratch, e);
    if (cache) {
        take_record(&kept, e);
        NP_TRY(np_cache_begin(e->ctx, cache, &kept));
        fill_record(e, take_record(&kept, e));
    }
    NP_REAL(np_decoding_forward)(e);
    if (cache)
        np_cache_end(cache, NP_STAGE_DECODE, NP_REAL_BITS, kept.used);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_decoder_forward)(npagg_ctx *ctx, const npagg_decoder *decoder,
                                            const real *params, int64_t n_sets,
                                            const int64_t *offsets, int64_t n_samples,
                                            const real *x, const real *z, real *py,
                                            npagg_cache *cache)
{
    np_decoding e = {.ctx = ctx,
                     .decoder = decoder,
                     .params = params,
                     .n_sets = n_sets,
                     .offsets = offsets,
                     .n_samples = n_samples,
                     .x = x,
                     .z = z,
                     .py = py};
    np_cache_clear(cache);
    NP_TRY(check_call(&e));
    NP_REQUIRE(ctx, py || e.n == 0, "decoder: py is NULL");
    NP_TRY(check_values(&e));
    return run_forward(&e, cache);
}

/* Whether the cache is from a forward of this shape; finds what it kept. */
static npagg_status find_record(np_decoding *e, const npagg_cache *cache)
{
    void *head;
    NP_TRY(np_cache_find(e->ctx, cache, NP_STAGE_DECODE, NP_REAL_BITS, &head));
    const record *rec = head;
    if (!np_decoder_is_same(&rec->shape, e->decoder))
        return np_fail(e->ctx, NPAGG_E_STATE, "the cache was filled with another decoder");
    if (rec->n_samples != e->n_samples)
        return np_fail(e->ctx, NPAGG_E_STATE,
                       "the cache was filled with n_samples = %" PRId64 ", got %" PRId64,
                       rec->n_samples, e->n_samples);
    if (rec->n_sets != e->n_sets ||
        (e->n_sets > 0 &&
         memcmp(rec->offsets, e->offsets, (size_t)(e->n_sets + 1) * sizeof(int64_t))))
        return np_fail(e->ctx, NPAGG_E_STATE, "the cache was filled with other n_sets or offsets");
    np_arena kept = {head, 0, 0};
    e->is_kept = 1;
    NP_TAKE(&kept, 1, record);
    NP_TAKE(&kept, e->n_sets + 1, int64_t);
    NP_REAL(np_decoding_keep_take)(&kept, e);
    return NPAGG_OK;
}

npagg_status NP_REAL(np_decoder_step)(np_decoding *e, np_grade_fn grade, void *arg, int *done)
{
    np_arena scratch = {0};
    int bad = 0;
    *done = 0;
    NP_TRY(check_call(e));
    NP_TRY(check_values(e));
    if (e->plan.has_parts || e->plan.tiles == 0)
        return NPAGG_OK;
    NP_REAL(np_decoding_step_take)(&scratch, e);
    NP_TRY(np_scratch_begin(e->ctx, &scratch));
    NP_REAL(np_decoding_step_take)(&scratch, e);
    NP_REAL(np_decoding_step)(e, grade, arg, &bad);
    *done = !bad;
    return NPAGG_OK;
}

static npagg_status run_backward(np_decoding *e, const npagg_cache *cache)
{
    np_arena scratch = {0};
    NP_TRY(check_call(e));
    NP_REQUIRE(e->ctx, e->dpy || e->n == 0, "decoder: dpy is NULL");
    NP_TRY(find_record(e, cache));
    NP_REAL(np_decoding_backward_take)(&scratch, e);
    NP_TRY(np_scratch_begin(e->ctx, &scratch));
    NP_REAL(np_decoding_backward_take)(&scratch, e);
    NP_REAL(np_decoding_backward)(e);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_decoder_backward)(npagg_ctx *ctx, const npagg_decoder *decoder,
                                             const real *params, int64_t n_sets,
                                             const int64_t *offsets, int64_t n_samples,
                                             const real *x, const real *z, const real *dpy,
                                             real *dparams, real *dx, real *dz, npagg_cache *cache)
{
    np_decoding e = {.ctx = ctx,
                     .decoder = decoder,
                     .params = params,
                     .n_sets = n_sets,
                     .offsets = offsets,
                     .n_samples = n_samples,
                     .x = x,
                     .z = z,
                     .dpy = dpy,
                     .dparams = dparams,
                     .dx = dx,
                     .dz = dz};
    const npagg_status status = run_backward(&e, cache);
    if (status != NPAGG_OK)
        np_cache_clear(cache);
    return status;
}
