#include "objective/objective.h"

#include <npagg/posterior.h>

#include "base/ctx.h"

npagg_status npagg_objective_create(npagg_ctx *ctx, int32_t kind, npagg_objective **out)
{
    NP_REQUIRE(ctx, ctx, "objective_create: ctx is NULL");
    NP_REQUIRE(ctx, out, "objective_create: out is NULL");
    if (kind < NPAGG_OBJECTIVE_ELBO || kind > NPAGG_OBJECTIVE_ML)
        return np_fail(ctx, NPAGG_E_ARG, "objective_create: kind = %d, want 0..3", (int)kind);
    npagg_objective *objective = np_memory_get(ctx->mem, sizeof *objective);
    if (!objective)
        return np_fail(ctx, NPAGG_E_NOMEM, "no memory for an objective");
    const int iwae = kind == NPAGG_OBJECTIVE_IWAE;
    *objective = (npagg_objective){
        .mem = ctx->mem,
        .kind = kind,
        .points = iwae ? NPAGG_POINTS_ALL : NPAGG_POINTS_TARGET,
        .normalise = iwae ? NPAGG_NORMALISE_POINTS : NPAGG_NORMALISE_NONE,
        .sampling = NPAGG_SAMPLE_STRATIFIED,
        .kl = NPAGG_KL_AUTO,
        .samples = 5,
    };
    *out = objective;
    return NPAGG_OK;
}

void npagg_objective_destroy(npagg_objective *objective)
{
    if (objective)
        np_memory_free(objective->mem, objective, sizeof *objective);
}

/* *field = value if there is an objective and value is in 0..last. */
static npagg_status set(npagg_objective *objective, int32_t *field, int32_t value, int32_t last)
{
    if (!objective || value < 0 || value > last)
        return NPAGG_E_ARG;
    *field = value;
    return NPAGG_OK;
}

npagg_status npagg_objective_set_points(npagg_objective *objective, int32_t points)
{
    return set(objective, objective ? &objective->points : NULL, points, NPAGG_POINTS_ALL);
}

npagg_status npagg_objective_set_normalise(npagg_objective *objective, int32_t normalise)
{
    return set(objective, objective ? &objective->normalise : NULL, normalise,
               NPAGG_NORMALISE_POINTS);
}

npagg_status npagg_objective_set_sampling(npagg_objective *objective, int32_t mode)
{
    return set(objective, objective ? &objective->sampling : NULL, mode, NPAGG_SAMPLE_PATHWISE);
}

npagg_status npagg_objective_set_kl(npagg_objective *objective, int32_t kind)
{
    return set(objective, objective ? &objective->kl : NULL, kind, NPAGG_KL_AUTO);
}

npagg_status npagg_objective_set_samples(npagg_objective *objective, int64_t n_samples)
{
    if (!objective || n_samples < 1)
        return NPAGG_E_ARG;
    objective->samples = n_samples;
    return NPAGG_OK;
}
