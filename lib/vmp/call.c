#include "vmp/call.h"

#include "base/ragged.h"
#include "base/size.h"

np_run NP_REAL(np_run_begin)(npagg_ctx *ctx, const npagg_prior *prior, const npagg_vmp *vmp,
                             int64_t n_sets, const int64_t *offsets, const real *m, const real *v,
                             const real *weight)
{
    np_run run = {
        .ctx = ctx,
        .pgm = {prior, prior->d, prior->k, npagg_prior_param_count(prior), NULL,
                np_dims_choose(ctx->cpu)},
        .z = prior->z,
        .noise = NP_REAL(np_noises)[prior->noise],
        .vmp = np_vmp_settings(vmp),
        .n_sets = n_sets,
        .offsets = offsets,
        .ends = offsets ? offsets + 1 : NULL,
        .m = m,
        .v = v,
        .weight = weight,
    };
    run.iterated = run.z->has_hyper || run.noise->has_weights;
    if (!run.iterated)
        run.vmp.max_iters = 1;
    return run;
}

/* Bounds kept per set: all of them, but in implicit mode no number that grows with the sweeps. */
static int64_t trace_room(const np_run *run)
{
    const int implicit = run->vmp.grad == NPAGG_GRAD_IMPLICIT;
    return run->iterated && implicit ? NP_IMPLICIT_TRACE : run->vmp.max_iters;
}

np_record NP_REAL(np_run_record)(const np_run *run, int64_t n, int evidence, int keep)
{
    const int32_t sweeps = run->vmp.max_iters;
    const int unroll = run->vmp.grad == NPAGG_GRAD_UNROLL;
    np_record shape = {
        .z = run->z,
        .noise = run->pgm.prior->noise,
        .d = run->pgm.d,
        .k = run->pgm.k,
        .p = run->pgm.p,
        .n_sets = run->n_sets,
        .n = n,
        .has_weight = run->weight != NULL,
        .evidence = evidence,
        .max_iters = sweeps,
        .grad = run->vmp.grad,
        .tol = run->vmp.tol,
        .slots = !keep    ? 1
                 : unroll ? sweeps
                          : (int32_t)np_min(sweeps, 2),
        .trace_room = evidence && keep ? trace_room(run) : 0,
        .logw_slots = run->z->has_logw && keep ? run->pgm.k : 0,
        .mean_slots = run->pgm.k > 1 && !run->iterated && keep ? run->pgm.d : 0,
        .real_size = sizeof(real),
    };
    shape.last_weights = keep && (run->vmp.weights || evidence || !run->noise->has_weights);
    if (run->noise->has_weights)
        shape.weight_slots = keep ? shape.slots - !shape.last_weights : 0;
    else
        shape.weight_slots = keep && run->weight ? 1 : 0;
    return shape;
}

npagg_status NP_REAL(np_run_check)(npagg_ctx *ctx, const npagg_prior *prior, const real *params,
                                   int64_t n_sets, const int64_t *offsets, const real *m,
                                   const real *v, int64_t *n)
{
    NP_REQUIRE(ctx, ctx, "infer: ctx is NULL");
    NP_REQUIRE(ctx, prior, "infer: prior is NULL");
    NP_REQUIRE(ctx, params, "infer: params is NULL");
    NP_TRY(np_ragged_check(ctx, n_sets, offsets, prior->d, npagg_prior_posterior_count(prior), n));
    NP_REQUIRE(ctx, m || *n == 0, "infer: m is NULL");
    NP_REQUIRE(ctx, v || *n == 0, "infer: v is NULL");
    return NPAGG_OK;
}
