/* Objectives, as npagg/objective.h: what a model's loss is. */
#ifndef NPAGG_OBJECTIVE_HPP
#define NPAGG_OBJECTIVE_HPP

#include <cstdint>

#include <npagg/objective.h>

#include "posterior.hpp"

NPAGG_CPP_BEGIN

enum class loss_kind : std::int32_t {
    elbo = NPAGG_OBJECTIVE_ELBO,
    elbo_closed = NPAGG_OBJECTIVE_ELBO_CLOSED,
    iwae = NPAGG_OBJECTIVE_IWAE,
    ml = NPAGG_OBJECTIVE_ML
};

/* The points that p(y|x,z) is over: the targets, or context and targets. */
enum class points : std::int32_t { target = NPAGG_POINTS_TARGET, all = NPAGG_POINTS_ALL };

/* By what the loss is divided: nothing, or the number of those points. */
enum class normalise : std::int32_t {
    none = NPAGG_NORMALISE_NONE,
    points = NPAGG_NORMALISE_POINTS
};

class objective : public detail::handle<npagg_objective, npagg_objective_destroy>
{
  public:
    objective() noexcept = default;

    static outcome<objective> create(context &ctx, loss_kind kind)
    {
        objective o;
        const npagg_status code =
            npagg_objective_create(ctx.get(), static_cast<std::int32_t>(kind), o.fill());
        return detail::done(ctx, code, std::move(o));
    }

    /* Default all for iwae, target for the others. */
    outcome<void> set_points(points over)
    {
        return detail::finish(
            detail::status_of(npagg_objective_set_points(get(), static_cast<std::int32_t>(over)),
                              "objective.set_points: no such choice, or no objective"));
    }

    /* Default points for iwae, none for the others. */
    outcome<void> set_normalise(normalise by)
    {
        return detail::finish(
            detail::status_of(npagg_objective_set_normalise(get(), static_cast<std::int32_t>(by)),
                              "objective.set_normalise: no such choice, or no objective"));
    }

    /* Samples of z per task, S >= 1; default 5. */
    outcome<void> set_samples(std::int64_t n_samples)
    {
        return detail::finish(
            detail::status_of(npagg_objective_set_samples(get(), n_samples),
                              "objective.set_samples: n_samples < 1, or no objective"));
    }

    /* Default stratified, which needs S >= K. */
    outcome<void> set_sampling(sampling mode)
    {
        return detail::finish(
            detail::status_of(npagg_objective_set_sampling(get(), static_cast<std::int32_t>(mode)),
                              "objective.set_sampling: no such mode, or no objective"));
    }

    /* For elbo; default automatic. */
    outcome<void> set_kl(kl_kind kind)
    {
        return detail::finish(
            detail::status_of(npagg_objective_set_kl(get(), static_cast<std::int32_t>(kind)),
                              "objective.set_kl: no such kind, or no objective"));
    }
};

NPAGG_CPP_END

#endif /* NPAGG_OBJECTIVE_HPP */
