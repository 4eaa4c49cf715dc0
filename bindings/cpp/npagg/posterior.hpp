/*
 * What one does with a posterior, as npagg/posterior.h: q [B,Q] as infer_forward gives it. B is
 * q's size / Q, S is n_samples, D the prior's d. Backwards add to their gradients, each of which
 * may be left out.
 */
#ifndef NPAGG_POSTERIOR_HPP
#define NPAGG_POSTERIOR_HPP

#include <cstdint>

#include "calls.hpp"
#include "prior.hpp"

NPAGG_CPP_BEGIN

/* Which component sample s has, and what its gradient reaches. */
enum class sampling : std::int32_t {
    stratified = NPAGG_SAMPLE_STRATIFIED,
    chosen = NPAGG_SAMPLE_CHOSEN,
    pathwise = NPAGG_SAMPLE_PATHWISE
};

/* How a KL divergence is computed; automatic is for objectives only. */
enum class kl_kind : std::int32_t {
    closed = NPAGG_KL_CLOSED,
    sampled = NPAGG_KL_SAMPLED,
    matched = NPAGG_KL_MATCHED,
    automatic = NPAGG_KL_AUTO
};

namespace detail
{

/* B of q [B,Q]. */
template <class T>
std::int64_t measure_posterior(measure &sizes, const prior &p, const view<const T> &q) noexcept
{
    return sizes.there("prior", p) ? sizes.times("q", q, p.posterior_count()) : 0;
}

} // namespace detail

/* noise [B,S,D], which [B,S] or none -> z [B,S,D], logw [B,S] or none. */
template <class A>
outcome<void> posterior_sample(context &ctx, const prior &p, sampling mode, std::int64_t n_samples,
                               const A &q, in<A> noise, which_view which, out<A> z,
                               out<A> logw = {})
{
    const in<A> given(q);
    detail::measure sizes("posterior_sample");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.array("noise", noise, "[B,S,D]", {b, n_samples, p.d()});
    sizes.maybe("which", which, "[B,S]", {b, n_samples});
    sizes.array("z", z, "[B,S,D]", {b, n_samples, p.d()});
    sizes.maybe("logw", logw, "[B,S]", {b, n_samples});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::posterior_sample(
                                 ctx.get(), p.get(), static_cast<std::int32_t>(mode), b, n_samples,
                                 given.data(), noise.data(), which.data(), z.data(), logw.data()));
}

/* dz [B,S,D], dlogw [B,S], each may be left out -> dq [B,Q]. */
template <class A>
outcome<void> posterior_sample_backward(context &ctx, const prior &p, sampling mode,
                                        std::int64_t n_samples, const A &q, in<A> noise,
                                        which_view which, in<A> dz, in<A> dlogw, out<A> dq)
{
    const in<A> given(q);
    detail::measure sizes("posterior_sample_backward");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.array("noise", noise, "[B,S,D]", {b, n_samples, p.d()});
    sizes.maybe("which", which, "[B,S]", {b, n_samples});
    sizes.maybe("dz", dz, "[B,S,D]", {b, n_samples, p.d()});
    sizes.maybe("dlogw", dlogw, "[B,S]", {b, n_samples});
    sizes.maybe("dq", dq, "[B,Q]", {b, p.posterior_count()});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::posterior_sample_backward(
                                 ctx.get(), p.get(), static_cast<std::int32_t>(mode), b, n_samples,
                                 given.data(), noise.data(), which.data(), dz.data(), dlogw.data(),
                                 dq.data()));
}

/* u [B,S] uniform in [0, 1) -> which [B,S], drawn by the mixing weights. */
template <class A>
outcome<void> posterior_choose(context &ctx, const prior &p, std::int64_t n_samples, const A &q,
                               in<A> u, view<std::int32_t> which)
{
    const in<A> given(q);
    detail::measure sizes("posterior_choose");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.array("u", u, "[B,S]", {b, n_samples});
    sizes.array("which", which, "[B,S]", {b, n_samples});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::posterior_choose(ctx.get(), p.get(), b,
                                                                        n_samples, given.data(),
                                                                        u.data(), which.data()));
}

/* z [B,S,D] -> logq [B,S], the log density of q at z. */
template <class A>
outcome<void> posterior_logpdf(context &ctx, const prior &p, std::int64_t n_samples, const A &q,
                               in<A> z, out<A> logq)
{
    const in<A> given(q);
    detail::measure sizes("posterior_logpdf");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.array("z", z, "[B,S,D]", {b, n_samples, p.d()});
    sizes.array("logq", logq, "[B,S]", {b, n_samples});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::posterior_logpdf(ctx.get(), p.get(), b,
                                                                        n_samples, given.data(),
                                                                        z.data(), logq.data()));
}

/* dlogq [B,S] -> dq [B,Q], dz [B,S,D]. */
template <class A>
outcome<void> posterior_logpdf_backward(context &ctx, const prior &p, std::int64_t n_samples,
                                        const A &q, in<A> z, in<A> dlogq, out<A> dq, out<A> dz)
{
    const in<A> given(q);
    detail::measure sizes("posterior_logpdf_backward");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.array("z", z, "[B,S,D]", {b, n_samples, p.d()});
    sizes.array("dlogq", dlogq, "[B,S]", {b, n_samples});
    sizes.maybe("dq", dq, "[B,Q]", {b, p.posterior_count()});
    sizes.maybe("dz", dz, "[B,S,D]", {b, n_samples, p.d()});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::posterior_logpdf_backward(
                                 ctx.get(), p.get(), b, n_samples, given.data(), z.data(),
                                 dlogq.data(), dq.data(), dz.data()));
}

/* KL(q || r) [B]; z [B,S,D], logw [B,S] are samples of q for kl_kind::sampled, else 0 and none. */
template <class A>
outcome<void> posterior_kl(context &ctx, const prior &p, kl_kind kind, std::int64_t n_samples,
                           const A &q, in<A> r, in<A> z, in<A> logw, out<A> result)
{
    const in<A> given(q);
    detail::measure sizes("posterior_kl");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.array("r", r, "[B,Q]", {b, p.posterior_count()});
    sizes.maybe("z", z, "[B,S,D]", {b, n_samples, p.d()});
    sizes.maybe("logw", logw, "[B,S]", {b, n_samples});
    sizes.array("result", result, "[B]", {b});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::posterior_kl(
                                 ctx.get(), p.get(), static_cast<std::int32_t>(kind), b, n_samples,
                                 given.data(), r.data(), z.data(), logw.data(), result.data()));
}

/* dkl [B] -> dq, dr [B,Q], dz [B,S,D], dlogw [B,S]. */
template <class A>
outcome<void> posterior_kl_backward(context &ctx, const prior &p, kl_kind kind,
                                    std::int64_t n_samples, const A &q, in<A> r, in<A> z,
                                    in<A> logw, in<A> dkl, out<A> dq, out<A> dr, out<A> dz,
                                    out<A> dlogw)
{
    const in<A> given(q);
    detail::measure sizes("posterior_kl_backward");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.array("r", r, "[B,Q]", {b, p.posterior_count()});
    sizes.maybe("z", z, "[B,S,D]", {b, n_samples, p.d()});
    sizes.maybe("logw", logw, "[B,S]", {b, n_samples});
    sizes.array("dkl", dkl, "[B]", {b});
    sizes.maybe("dq", dq, "[B,Q]", {b, p.posterior_count()});
    sizes.maybe("dr", dr, "[B,Q]", {b, p.posterior_count()});
    sizes.maybe("dz", dz, "[B,S,D]", {b, n_samples, p.d()});
    sizes.maybe("dlogw", dlogw, "[B,S]", {b, n_samples});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::posterior_kl_backward(
                                 ctx.get(), p.get(), static_cast<std::int32_t>(kind), b, n_samples,
                                 given.data(), r.data(), z.data(), logw.data(), dkl.data(),
                                 dq.data(), dr.data(), dz.data(), dlogw.data()));
}

/* mean, var [B,D] of q; each may be left out. */
template <class A>
outcome<void> posterior_moments(context &ctx, const prior &p, const A &q, out<A> mean, out<A> var)
{
    const in<A> given(q);
    detail::measure sizes("posterior_moments");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.maybe("mean", mean, "[B,D]", {b, p.d()});
    sizes.maybe("var", var, "[B,D]", {b, p.d()});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::posterior_moments(
                                 ctx.get(), p.get(), b, given.data(), mean.data(), var.data()));
}

/* dmean, dvar [B,D], each may be left out -> dq [B,Q]. */
template <class A>
outcome<void> posterior_moments_backward(context &ctx, const prior &p, const A &q, in<A> dmean,
                                         in<A> dvar, out<A> dq)
{
    const in<A> given(q);
    detail::measure sizes("posterior_moments_backward");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.maybe("dmean", dmean, "[B,D]", {b, p.d()});
    sizes.maybe("dvar", dvar, "[B,D]", {b, p.d()});
    sizes.maybe("dq", dq, "[B,Q]", {b, p.posterior_count()});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(
        ctx, detail::calls<real_t<A>>::posterior_moments_backward(
                 ctx.get(), p.get(), b, given.data(), dmean.data(), dvar.data(), dq.data()));
}

/* entropy [B]; mixtures need q's samples z [B,S,D] and logw [B,S], one component 0 and none. */
template <class A>
outcome<void> posterior_entropy(context &ctx, const prior &p, std::int64_t n_samples, const A &q,
                                in<A> z, in<A> logw, out<A> entropy)
{
    const in<A> given(q);
    detail::measure sizes("posterior_entropy");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.maybe("z", z, "[B,S,D]", {b, n_samples, p.d()});
    sizes.maybe("logw", logw, "[B,S]", {b, n_samples});
    sizes.array("entropy", entropy, "[B]", {b});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::posterior_entropy(
                                 ctx.get(), p.get(), b, n_samples, given.data(), z.data(),
                                 logw.data(), entropy.data()));
}

/* dentropy [B] -> dq [B,Q], dz [B,S,D], dlogw [B,S]. */
template <class A>
outcome<void> posterior_entropy_backward(context &ctx, const prior &p, std::int64_t n_samples,
                                         const A &q, in<A> z, in<A> logw, in<A> dentropy, out<A> dq,
                                         out<A> dz, out<A> dlogw)
{
    const in<A> given(q);
    detail::measure sizes("posterior_entropy_backward");
    const std::int64_t b = detail::measure_posterior(sizes, p, given);
    sizes.maybe("z", z, "[B,S,D]", {b, n_samples, p.d()});
    sizes.maybe("logw", logw, "[B,S]", {b, n_samples});
    sizes.array("dentropy", dentropy, "[B]", {b});
    sizes.maybe("dq", dq, "[B,Q]", {b, p.posterior_count()});
    sizes.maybe("dz", dz, "[B,S,D]", {b, n_samples, p.d()});
    sizes.maybe("dlogw", dlogw, "[B,S]", {b, n_samples});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::posterior_entropy_backward(
                                 ctx.get(), p.get(), b, n_samples, given.data(), z.data(),
                                 logw.data(), dentropy.data(), dq.data(), dz.data(), dlogw.data()));
}

NPAGG_CPP_END

#endif /* NPAGG_POSTERIOR_HPP */
