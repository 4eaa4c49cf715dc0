/* Priors, as npagg/prior.h: shapes of graphical models, which hold no numbers. */
#ifndef NPAGG_PRIOR_HPP
#define NPAGG_PRIOR_HPP

#include <cstdint>

#include "calls.hpp"
#include "ctx.hpp"

NPAGG_CPP_BEGIN

class prior : public detail::handle<npagg_prior, npagg_prior_destroy>
{
  public:
    prior() noexcept = default;

    /* z ~ N(mean, var) in d >= 1 dimensions. */
    static outcome<prior> gaussian(context &ctx, std::int64_t d)
    {
        prior p(d);
        const npagg_status code = npagg_prior_create_gaussian(ctx.get(), d, p.fill());
        return detail::done(ctx, code, std::move(p));
    }

    /* k >= 1 Gaussians. */
    static outcome<prior> mixture(context &ctx, std::int64_t d, std::int64_t k)
    {
        prior p(d);
        const npagg_status code = npagg_prior_create_mixture(ctx.get(), d, k, p.fill());
        return detail::done(ctx, code, std::move(p));
    }

    /* z ~ N(0, 1/alpha), alpha ~ Gamma(a0, b0), with robust factors. */
    static outcome<prior> student(context &ctx, std::int64_t d)
    {
        prior p(d);
        const npagg_status code = npagg_prior_create_student(ctx.get(), d, p.fill());
        return detail::done(ctx, code, std::move(p));
    }

    /* Student-t factors; adds or removes the parameter "log_c0". */
    outcome<void> set_robust(bool on)
    {
        const npagg_status code = npagg_prior_set_robust(get(), on ? 1 : 0);
        return detail::finish(detail::status_of(code, "prior.set_robust: an empty handle"));
    }

    /* Dimensions of z. */
    std::int64_t d() const noexcept { return d_; }

    /* P, and where "mean", "logvar", "logits", "log_a0", "log_b0" or "log_c0" begins; or -1. */
    std::int64_t param_count() const noexcept { return npagg_prior_param_count(get()); }
    std::int64_t param_offset(const char *field) const noexcept
    {
        return npagg_prior_param_offset(get(), field);
    }

    /* Q, and where "mean" [K,D], "var" [K,D] or "logw" [K] begins in a posterior; or -1. */
    std::int64_t posterior_count() const noexcept { return npagg_prior_posterior_count(get()); }
    std::int64_t posterior_offset(const char *field) const noexcept
    {
        return npagg_prior_posterior_offset(get(), field);
    }

    /* params [P]: the paper's values. */
    template <class A>
    outcome<void> init_params(context &ctx, std::uint64_t seed, A &&params) const
    {
        const out<A> p(params);
        detail::measure sizes("prior.init_params");
        if (sizes.there("prior", *this))
            sizes.array("params", p, "[P]", {param_count()});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(
            ctx, detail::calls<real_t<A>>::prior_init_params(ctx.get(), get(), seed, p.data()));
    }

    /* result [P]: variances for "logvar", weights for "logits", a0, b0, c0 for their logs. */
    template <class A>
    outcome<void> constrained(context &ctx, const A &params, out<A> result) const
    {
        const in<A> p(params);
        detail::measure sizes("prior.constrained");
        if (sizes.there("prior", *this)) {
            sizes.array("params", p, "[P]", {param_count()});
            sizes.array("result", result, "[P]", {param_count()});
        }
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::prior_constrained(
                                     ctx.get(), get(), p.data(), result.data()));
    }

  private:
    explicit prior(std::int64_t d) noexcept : d_(d) {}

    std::int64_t d_ = 0;
};

NPAGG_CPP_END

#endif /* NPAGG_PRIOR_HPP */
