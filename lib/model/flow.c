#include "model/flow.h"

#include <inttypes.h>
#include <npagg/posterior.h>

#include "base/ragged.h"

static int over_all(const np_flow *flow)
{
    return flow->model->objective.points == NPAGG_POINTS_ALL;
}

double NP_REAL(np_flow_divisor)(const np_flow *flow, int64_t b)
{
    const int64_t points = flow->point_offsets[b + 1] - flow->point_offsets[b];
    const int divide = flow->model->objective.normalise == NPAGG_NORMALISE_POINTS;
    return divide && points > 0 ? (double)points : 1;
}

np_run NP_REAL(np_flow_infer)(const np_flow *flow, int all)
{
    const npagg_model *model = flow->model;
    np_run run = NP_REAL(np_run_begin)(flow->ctx, &model->prior, &model->vmp, flow->n_sets,
                                       flow->offsets, flow->m, flow->v, NULL);
    run.vmp.weights = 0; /* nobody reads them */
    if (!all)
        run.ends = flow->split;
    return run;
}

np_worth NP_REAL(np_flow_worth)(const np_flow *flow, int64_t b)
{
    const int64_t s = flow->model->objective.samples;
    const double *worth = flow->worth + 3 * s * b;
    return (np_worth){s, worth, worth + s, worth + 2 * s, flow->kl ? (double)flow->kl[b] : 0};
}

const real *NP_REAL(np_flow_x)(const np_flow *flow)
{
    return over_all(flow) ? flow->x : flow->x_targets;
}

const real *NP_REAL(np_flow_y)(const np_flow *flow)
{
    return over_all(flow) ? flow->y : flow->y_targets;
}

static npagg_status check_context(const np_flow *flow)
{
    for (int64_t b = 0; b < flow->n_sets; b++) {
        const int64_t rows = flow->offsets[b + 1] - flow->offsets[b];
        if (flow->n_ctx[b] < 0 || flow->n_ctx[b] > rows)
            return np_fail(flow->ctx, NPAGG_E_ARG,
                           "n_ctx[%" PRId64 "] = %" PRId64 ", want 0..%" PRId64, b, flow->n_ctx[b],
                           rows);
    }
    return NPAGG_OK;
}

npagg_status NP_REAL(np_flow_check)(const np_flow *flow, int64_t *n)
{
    npagg_ctx *ctx = flow->ctx;
    const npagg_model *model = flow->model;
    NP_REQUIRE(ctx, ctx, "model: ctx is NULL");
    NP_REQUIRE(ctx, model, "model: model is NULL");
    NP_REQUIRE(ctx, flow->params, "model: params is NULL");
    const npagg_prior *prior = &model->prior;
    NP_TRY(np_ragged_check(ctx, flow->n_sets, flow->offsets, prior->d,
                           npagg_prior_posterior_count(prior), n));
    NP_REQUIRE(ctx, flow->n_ctx || flow->n_sets == 0, "model: n_ctx is NULL");
    NP_REQUIRE(ctx, flow->x || *n == 0 || model->encoder.x_dim == 0, "model: x is NULL");
    NP_REQUIRE(ctx, flow->y || *n == 0, "model: y is NULL");
    NP_REQUIRE(ctx, flow->noise || flow->n_sets == 0, "model: noise is NULL");
    const int chooses = prior->k > 1 && model->objective.sampling != NPAGG_SAMPLE_STRATIFIED;
    NP_REQUIRE(ctx, flow->which || flow->n_sets == 0 || !chooses, "model: which is NULL");
    return check_context(flow);
}

npagg_status NP_REAL(np_flow_cache)(npagg_ctx *ctx, npagg_cache **out)
{
    if (!ctx->step)
        NP_TRY(npagg_cache_create(ctx, &ctx->step));
    *out = ctx->step;
    return NPAGG_OK;
}
