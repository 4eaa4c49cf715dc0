/* Public backward: check, lay out the memory, run, add up; and the weights, which have a precision
 * too. */
#include <string.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "base/size.h"
#include "pgm/params.h"
#include "vmp/call.h"

static int same_sets(const np_run *run, const np_record *rec)
{
    const size_t size = (size_t)rec->n_sets * sizeof(int64_t);
    return rec->n_sets == run->n_sets &&
           (rec->n_sets == 0 || (memcmp(rec->offsets, run->offsets, size + sizeof(int64_t)) == 0 &&
                                 memcmp(rec->ends, run->ends, size) == 0));
}

/* Whether the cache is from a forward of this shape, and has what these gradients need. */
static npagg_status check_record(const np_run *run, const np_record *rec)
{
    npagg_ctx *ctx = run->ctx;
    const npagg_prior *prior = run->pgm.prior;
    if (rec->z != prior->z || rec->noise != prior->noise || rec->d != prior->d ||
        rec->k != prior->k)
        return np_fail(ctx, NPAGG_E_STATE, "the cache was filled with a prior of another shape");
    if (!same_sets(run, rec))
        return np_fail(ctx, NPAGG_E_STATE, "the cache was filled with other n_sets or offsets");
    if (rec->has_weight != (run->weight != NULL))
        return np_fail(ctx, NPAGG_E_STATE, "the cache was filled %s weight",
                       rec->has_weight ? "with" : "without");
    if (run->dlogz && !rec->evidence)
        return np_fail(ctx, NPAGG_E_STATE, "dlogz is given, but forward was not asked for logz");
    if (rec->grad != run->vmp.grad || rec->max_iters != run->vmp.max_iters ||
        rec->tol != run->vmp.tol)
        return np_fail(ctx, NPAGG_E_STATE, "the cache was filled with other vmp settings");
    return NPAGG_OK;
}

/* Scratch of a backward. */
static void take_backward(np_arena *arena, np_run *run, int32_t slots, int want_grad)
{
    const int implicit = run->vmp.grad == NPAGG_GRAD_IMPLICIT;
    NP_REAL(np_run_take)(arena, run, implicit ? NP_IMPLICIT : NP_BACKWARD, slots);
    if (want_grad)
        NP_REAL(np_run_take_grad)(arena, run);
    if (implicit)
        run->adjoint = NP_TAKE2(arena, run->n_sets, 2 * run->pgm.d, double);
}

/* Sweeps that the workers go back over; without a tolerance all sets took as many. */
static int32_t most_slots(const np_run *run)
{
    int32_t most = 2;
    if (run->vmp.grad == NPAGG_GRAD_UNROLL && !(run->vmp.tol > 0))
        return (int32_t)np_max(most, run->vmp.max_iters);
    for (int64_t b = 0; run->vmp.grad == NPAGG_GRAD_UNROLL && b < run->n_sets; b++)
        most = (int32_t)np_max(most, run->rec->course[b].iters);
    return most;
}

enum { ADD_TILE = 256 };

/* Some parameters' gradients of all groups, added in order to those of the first. */
static void add_tile(void *arg, int64_t tile, int32_t worker)
{
    const np_run *run = arg;
    const int64_t at = tile * ADD_TILE, n = np_min(ADD_TILE, run->pgm.p - at);
    (void)worker;
    for (int64_t g = 1; g <= run->groups; g++)
        run->pgm.dims->add(n, NP_REAL(np_run_grad)(run, g) + at, run->grad + at);
}

/* dparams += the chain rule of all groups' gradients. */
static void add_up(np_run *run, real *dparams)
{
    np_parallel(NP_REAL(np_run_team)(run), (run->pgm.p + ADD_TILE - 1) / ADD_TILE, add_tile, run);
    NP_REAL(np_pgm_chain)(run->ctx, &run->pgm, run->grad, dparams);
}

/* One set of a run as a run of its own that keeps every sweep. offsets [2] is the caller's. */
static np_run single_run(const np_run *run, int64_t b, int64_t *offsets)
{
    const int64_t group = NP_REAL(np_run_group)(run, b);
    const int64_t first = run->offsets[b], d = run->pgm.d,
                  q = npagg_prior_posterior_count(run->pgm.prior);
    np_run one = *run;
    offsets[0] = 0;
    offsets[1] = run->ends[b] - first;
    one.settled = 0;
    one.n_sets = 1;
    one.offsets = offsets;
    one.ends = offsets + 1;
    one.vmp = (npagg_vmp){.max_iters = run->rec->course[b].iters, .grad = NPAGG_GRAD_UNROLL};
    one.m = run->m ? run->m + first * d : NULL;
    one.v = run->v ? run->v + first * d : NULL;
    one.weight = run->weight ? run->weight + first : NULL;
    one.dq = run->dq ? run->dq + b * q : NULL;
    one.dlogz = run->dlogz ? run->dlogz + b : NULL;
    one.dm = run->dm ? run->dm + first * d : NULL;
    one.dv = run->dv ? run->dv + first * d : NULL;
    one.dweight = run->dweight ? run->dweight + first : NULL;
    one.grad_alone = NP_REAL(np_run_grad)(run, group);
    return one;
}

static void take_single(np_arena *arena, np_run *one)
{
    const np_record shape = NP_REAL(np_run_record)(one, one->offsets[1], one->rec->evidence, 1);
    np_record *rec = np_record_take(arena, &shape);
    NP_REAL(np_run_take)(arena, one, NP_BACKWARD, one->vmp.max_iters);
    if (rec)
        one->rec = rec;
}

/* Whether set b has to be run forward again to be unrolled after all. */
static int is_lost(const np_run *run, int64_t b)
{
    return run->rec->course[b].grad_iters < 0 && !NP_REAL(np_set_is_kept)(run, b);
}

/* Room in the spare scratch for every such set. */
static npagg_status begin_fallback(const np_run *run, np_arena *spare)
{
    int64_t offsets[2];
    for (int64_t b = 0; b < run->n_sets; b++) {
        if (!is_lost(run, b))
            continue;
        np_arena arena = {0};
        np_run one = single_run(run, b, offsets);
        take_single(&arena, &one);
        spare->used = arena.used > spare->used ? arena.used : spare->used;
        spare->overflow |= arena.overflow;
    }
    return np_spare_begin(run->ctx, spare);
}

/* Forward again, from m and v, and back over every sweep. */
static void fall_back(const np_run *run, np_arena *spare)
{
    int64_t offsets[2];
    for (int64_t b = 0; b < run->n_sets; b++) {
        if (!is_lost(run, b))
            continue;
        np_run one = single_run(run, b, offsets);
        spare->used = 0;
        take_single(spare, &one);
        NP_REAL(np_run_alone)(&one, 0, NP_REAL(np_forward_set));
        NP_REAL(np_run_alone)(&one, 0, NP_REAL(np_backward_unrolled));
    }
}

/* Nothing is written before the last thing that can fail. */
static npagg_status run_implicit(np_run *run)
{
    np_arena spare = {0};
    NP_REAL(np_run_sets)(run, NP_REAL(np_implicit_solve));
    NP_TRY(begin_fallback(run, &spare));
    NP_REAL(np_run_sets)(run, NP_REAL(np_backward_implicit));
    fall_back(run, &spare);
    run->rec->implicit_done = 1;
    return NPAGG_OK;
}

static npagg_status run_backward(np_run *run, real *dparams)
{
    np_arena scratch = {0};
    const int32_t slots = most_slots(run);
    take_backward(&scratch, run, slots, dparams != NULL);
    NP_TRY(np_scratch_begin(run->ctx, &scratch));
    take_backward(&scratch, run, slots, dparams != NULL);
    const int unroll = run->vmp.grad == NPAGG_GRAD_UNROLL;
    const np_set_fn direct =
        unroll ? NP_REAL(np_backward_unrolled) : NP_REAL(np_backward_last_step);
    if (run->vmp.grad == NPAGG_GRAD_IMPLICIT)
        NP_TRY(run_implicit(run));
    else
        NP_REAL(np_run_sets)(run, direct);
    if (run->grad)
        add_up(run, dparams);
    return NPAGG_OK;
}

npagg_status NP_REAL(np_infer_backward)(np_run *run, real *dparams, const npagg_cache *cache)
{
    void *head;
    NP_TRY(np_cache_find(run->ctx, cache, NP_STAGE_INFER, NP_REAL_BITS, &head));
    run->rec = head;
    NP_TRY(check_record(run, run->rec));
    run->pgm.value = run->rec->value;
    return run_backward(run, dparams);
}

npagg_status NP_REAL(npagg_infer_backward)(npagg_ctx *ctx, const npagg_prior *prior,
                                           const npagg_vmp *vmp, const real *params, int64_t n_sets,
                                           const int64_t *offsets, const real *m, const real *v,
                                           const real *weight, const real *dq, const real *dlogz,
                                           real *dparams, real *dm, real *dv, real *dweight,
                                           npagg_cache *cache)
{
    int64_t n;
    npagg_status status = NP_REAL(np_run_check)(ctx, prior, params, n_sets, offsets, m, v, &n);
    if (status == NPAGG_OK) {
        np_run run = NP_REAL(np_run_begin)(ctx, prior, vmp, n_sets, offsets, m, v, weight);
        run.dq = dq;
        run.dlogz = dlogz;
        run.dm = dm;
        run.dv = dv;
        run.dweight = dweight;
        status = NP_REAL(np_infer_backward)(&run, dparams, cache);
    }
    if (status != NPAGG_OK)
        np_cache_clear(cache);
    return status;
}

npagg_status NP_REAL(npagg_infer_weights)(npagg_ctx *ctx, const npagg_cache *cache, real *w)
{
    void *head;
    NP_REQUIRE(ctx, ctx, "infer_weights: ctx is NULL");
    NP_TRY(np_cache_find(ctx, cache, NP_STAGE_INFER, NP_REAL_BITS, &head));
    const np_record *rec = head;
    NP_REQUIRE(ctx, w || rec->n == 0, "infer_weights: w is NULL");
    if (!rec->last_weights)
        return np_fail(ctx, NPAGG_E_STATE,
                       "infer_weights: forward had npagg_vmp_set_weights 0 and no logz, want "
                       "one of them");
    for (int64_t b = 0; b < rec->n_sets; b++) {
        const int64_t slot =
            rec->weight_slots ? np_record_slot(rec->weight_slots, rec->course[b].iters) : 0;
        for (int64_t i = rec->offsets[b]; i < rec->offsets[b + 1]; i++)
            w[i] = rec->weight_slots ? ((const real *)rec->w)[slot * rec->n + i] : 1;
    }
    return NPAGG_OK;
}
