/* Public forward: check, lay out the memory, run, hand out. */
#include <string.h>

#include "base/cache.h"
#include "pgm/params.h"
#include "vmp/call.h"

/* Scratch of a forward. */
typedef struct forward_room {
    real *q;        /* [B,Q] */
    np_record *rec; /* if there is no cache */
} forward_room;

static forward_room take_forward(np_arena *arena, np_run *run, const np_record *shape,
                                 const npagg_cache *cache)
{
    forward_room room = {0};
    room.q = NP_TAKE2(arena, run->n_sets, npagg_prior_posterior_count(run->pgm.prior), real);
    if (!cache)
        room.rec = np_record_take(arena, shape);
    NP_REAL(np_run_take)(arena, run, NP_FORWARD, 0);
    return room;
}

/* The text for the first set that could not be done. Workers know whether there is one: their
 * notes on all the sets would have to come from their caches. */
static npagg_status check_sets(const np_run *run)
{
    int bad = 0;
    for (int32_t i = 0; i < run->workers; i++)
        bad |= run->work[i].bad;
    for (int64_t b = 0; bad && b < run->n_sets; b++) {
        if (!run->rec->course[b].bad)
            continue;
        const int64_t first = run->offsets[b], d = run->pgm.d;
        const np_rows rows = {
            .n = run->ends[b] - first,
            .d = d,
            .m = run->m + first * d,
            .v = run->v + first * d,
            .weight = run->weight ? run->weight + first : NULL,
        };
        return NP_REAL(np_rows_explain)(run->ctx, &rows, b, first);
    }
    return NPAGG_OK;
}

enum { HAND_OUT_ALONE = 8192 }; /* so many numbers are copied before others would have come */

/* By the worker who has it in its cache, but for large sets. */
static void hand_out_set(np_set *set)
{
    const np_run *run = set->run;
    const int64_t count = npagg_prior_posterior_count(run->pgm.prior);
    memcpy(run->out + set->b * count, run->q + set->b * count, (size_t)count * sizeof(real));
}

static void hand_out(np_run *run, real *q, real *logz)
{
    const int64_t count = run->n_sets * npagg_prior_posterior_count(run->pgm.prior);
    run->out = q;
    if (count > HAND_OUT_ALONE)
        NP_REAL(np_run_sets)(run, hand_out_set);
    else if (count > 0)
        memcpy(q, run->q, (size_t)count * sizeof(real));
    for (int64_t b = 0; logz && b < run->n_sets; b++)
        logz[b] = np_saturate(run->rec->course[b].bound);
}

npagg_status NP_REAL(np_infer_forward)(np_run *run, int64_t n, const real *params, real *q,
                                       real *logz, npagg_cache *cache)
{
    np_arena scratch = {0}, kept = {0};
    const np_record record = NP_REAL(np_run_record)(run, n, logz != NULL, cache != NULL);
    const np_record *shape = &record;
    np_cache_clear(cache);
    take_forward(&scratch, run, shape, cache);
    NP_TRY(np_scratch_begin(run->ctx, &scratch));
    if (cache) {
        np_record_take(&kept, shape);
        NP_TRY(np_cache_begin(run->ctx, cache, &kept));
    }
    const forward_room room = take_forward(&scratch, run, shape, cache);
    run->rec = cache ? np_record_take(&kept, shape) : room.rec;
    run->q = room.q;
    NP_TRY(NP_REAL(np_pgm_load)(run->ctx, run->pgm.prior, params, run->rec->value, &run->pgm));
    if (run->n_sets > 0) {
        memcpy(run->rec->offsets, run->offsets, (size_t)(run->n_sets + 1) * sizeof(int64_t));
        memcpy(run->rec->ends, run->ends, (size_t)run->n_sets * sizeof(int64_t));
    }
    NP_REAL(np_run_sets)(run, NP_REAL(np_forward_set));
    NP_TRY(check_sets(run));
    hand_out(run, q, logz);
    if (cache)
        np_cache_end(cache, NP_STAGE_INFER, NP_REAL_BITS, kept.used);
    return NPAGG_OK;
}

npagg_status NP_REAL(npagg_infer_forward)(npagg_ctx *ctx, const npagg_prior *prior,
                                          const npagg_vmp *vmp, const real *params, int64_t n_sets,
                                          const int64_t *offsets, const real *m, const real *v,
                                          const real *weight, real *q, real *logz,
                                          npagg_cache *cache)
{
    int64_t n;
    np_cache_clear(cache);
    NP_TRY(NP_REAL(np_run_check)(ctx, prior, params, n_sets, offsets, m, v, &n));
    NP_REQUIRE(ctx, q || n_sets == 0, "infer: q is NULL");
    np_run run = NP_REAL(np_run_begin)(ctx, prior, vmp, n_sets, offsets, m, v, weight);
    return NP_REAL(np_infer_forward)(&run, n, params, q, logz, cache);
}
