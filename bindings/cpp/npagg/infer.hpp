/*
 * Inference, as npagg/infer.h: factors (m_i, v_i) of ragged sets -> a posterior per set, and back.
 *
 * offsets [B+1]: set b owns rows offsets[b] .. offsets[b+1]-1 of N = offsets[B]. P and Q are the
 * prior's param_count and posterior_count.
 */
#ifndef NPAGG_INFER_HPP
#define NPAGG_INFER_HPP

#include <cstdint>
#include <memory>
#include <new>

#include "calls.hpp"
#include "prior.hpp"

NPAGG_CPP_BEGIN

/* How backward goes through the sweeps. */
enum class grad_mode : std::int32_t {
    unroll = NPAGG_GRAD_UNROLL,
    last_step = NPAGG_GRAD_LAST_STEP,
    implicit = NPAGG_GRAD_IMPLICIT
};

/* Settings of the message passing. An empty vmp, {}, stands for the defaults. */
class vmp : public detail::handle<npagg_vmp, npagg_vmp_destroy>
{
  public:
    vmp() noexcept = default;

    static outcome<vmp> create(context &ctx)
    {
        vmp v;
        const npagg_status code = npagg_vmp_create(ctx.get(), v.fill());
        return detail::done(ctx, code, std::move(v));
    }

    /* At most n sweeps, 1..1000000, default 5. */
    outcome<void> set_max_iters(std::int32_t n)
    {
        return detail::finish(
            detail::status_of(npagg_vmp_set_max_iters(get(), n),
                              "vmp.set_max_iters: n not in 1..1000000, or no vmp"));
    }

    /* A set stops when its residual is <= tol; finite, >= 0, default 0: all sweeps. */
    outcome<void> set_tolerance(double tol)
    {
        return detail::finish(
            detail::status_of(npagg_vmp_set_tolerance(get(), tol),
                              "vmp.set_tolerance: tol not finite and >= 0, or no vmp"));
    }

    /* Default unroll; set it before the forward. */
    outcome<void> set_grad(grad_mode mode)
    {
        return detail::finish(
            detail::status_of(npagg_vmp_set_grad(get(), static_cast<std::int32_t>(mode)),
                              "vmp.set_grad: no such mode, or no vmp"));
    }

    /* Default true; false: a forward without logz does not compute what infer_weights reads. */
    outcome<void> set_weights(bool on)
    {
        const npagg_status code = npagg_vmp_set_weights(get(), on ? 1 : 0);
        return detail::finish(detail::status_of(code, "vmp.set_weights: an empty handle"));
    }
};

/*
 * params [P], m, v [N,D], weight [N] or none -> q [B,Q], logz [B] or none: the log evidence or its
 * lower bound. store may be NULL if no backward and no look-up follows.
 */
template <class A>
outcome<void> infer_forward(context &ctx, const prior &p, const vmp &settings, const A &params,
                            sizes_view offsets, in<A> m, in<A> v, in<A> weight, out<A> q,
                            out<A> logz = {}, cache *store = nullptr)
{
    const in<A> theta(params);
    detail::measure sizes("infer_forward");
    const detail::batch n = sizes.sets("offsets", offsets);
    if (sizes.there("prior", p)) {
        sizes.array("params", theta, "[P]", {p.param_count()});
        sizes.array("m", m, "[N,D]", {n.rows, p.d()});
        sizes.array("v", v, "[N,D]", {n.rows, p.d()});
        sizes.maybe("weight", weight, "[N]", {n.rows});
        sizes.array("q", q, "[B,Q]", {n.sets, p.posterior_count()});
        sizes.maybe("logz", logz, "[B]", {n.sets});
    }
    if (!sizes)
        return detail::finish(sizes.failure());
    const npagg_status code = detail::calls<real_t<A>>::infer_forward(
        ctx.get(), p.get(), settings.get(), theta.data(), n.sets, offsets.data(), m.data(),
        v.data(), weight.data(), q.data(), logz.data(), detail::taken(store));
    if (store && code == NPAGG_OK)
        detail::cache_notes::note(*store, n);
    return detail::done(ctx, code);
}

/*
 * Gradients of sum(dq * q) + sum(dlogz * logz), added to dparams [P], dm, dv [N,D], dweight [N];
 * each may be left out, and so may dq [B,Q] or dlogz [B]. Inputs as in the forward that filled
 * store.
 */
template <class A>
outcome<void> infer_backward(context &ctx, const prior &p, const vmp &settings, const A &params,
                             sizes_view offsets, in<A> m, in<A> v, in<A> weight, in<A> dq,
                             in<A> dlogz, out<A> dparams, out<A> dm, out<A> dv, out<A> dweight,
                             cache &store)
{
    const in<A> theta(params);
    detail::measure sizes("infer_backward");
    const detail::batch n = sizes.sets("offsets", offsets);
    if (sizes.there("prior", p)) {
        sizes.array("params", theta, "[P]", {p.param_count()});
        sizes.array("m", m, "[N,D]", {n.rows, p.d()});
        sizes.array("v", v, "[N,D]", {n.rows, p.d()});
        sizes.maybe("weight", weight, "[N]", {n.rows});
        sizes.maybe("dq", dq, "[B,Q]", {n.sets, p.posterior_count()});
        sizes.maybe("dlogz", dlogz, "[B]", {n.sets});
        sizes.maybe("dparams", dparams, "[P]", {p.param_count()});
        sizes.maybe("dm", dm, "[N,D]", {n.rows, p.d()});
        sizes.maybe("dv", dv, "[N,D]", {n.rows, p.d()});
        sizes.maybe("dweight", dweight, "[N]", {n.rows});
    }
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, detail::calls<real_t<A>>::infer_backward(
                                 ctx.get(), p.get(), settings.get(), theta.data(), n.sets,
                                 offsets.data(), m.data(), v.data(), weight.data(), dq.data(),
                                 dlogz.data(), dparams.data(), dm.data(), dv.data(), dweight.data(),
                                 store.get()));
}

namespace detail
{

/* The batch that the look-ups below are about. */
inline batch inferred(measure &sizes, const cache &store) noexcept
{
    const batch n = cache_notes::inference(store);
    if (n.sets < 0)
        sizes.refuse("store", "holds no inference", NPAGG_E_STATE);
    return n;
}

} // namespace detail

/* iters [B]: sweeps that each set took in the last infer_forward into store. */
inline outcome<void> infer_iters(context &ctx, const cache &store, view<std::int32_t> iters)
{
    detail::measure sizes("infer_iters");
    sizes.array("iters", iters, "[B]", {detail::inferred(sizes, store).sets});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, npagg_infer_iters(ctx.get(), store.get(), iters.data()));
}

/* w [N]: E[beta_i] after the last sweep, in the forward's precision. */
template <class A>
outcome<void> infer_weights(context &ctx, const cache &store, A &&w)
{
    const out<A> weights(w);
    detail::measure sizes("infer_weights");
    sizes.array("w", weights, "[N]", {detail::inferred(sizes, store).rows});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(
        ctx, detail::calls<real_t<A>>::infer_weights(ctx.get(), store.get(), weights.data()));
}

/* bound [iters of this set]: after each sweep; needs a forward that was given logz. */
inline outcome<void> infer_trace(context &ctx, const cache &store, std::int64_t set,
                                 view<double> bound)
{
    detail::measure sizes("infer_trace");
    const std::int64_t n = detail::inferred(sizes, store).sets;
    if (sizes && (set < 0 || set >= n))
        sizes.refuse("set", "is not one of the sets of the batch");
    if (!sizes)
        return detail::finish(sizes.failure());
    const std::unique_ptr<std::int32_t[]> iters(new (std::nothrow)
                                                    std::int32_t[static_cast<std::size_t>(n)]);
    if (!iters)
        return detail::finish(status(NPAGG_E_NOMEM, "infer_trace: no memory for [B] numbers"));
    npagg_status code = npagg_infer_iters(ctx.get(), store.get(), iters.get());
    if (code == NPAGG_OK) {
        sizes.array("bound", bound, "[iters]", {iters[static_cast<std::size_t>(set)]});
        if (!sizes)
            return detail::finish(sizes.failure());
        code = npagg_infer_trace(ctx.get(), store.get(), set, bound.data());
    }
    return detail::done(ctx, code);
}

/* residual [B] of the last sweep. */
inline outcome<void> infer_residual(context &ctx, const cache &store, view<double> residual)
{
    detail::measure sizes("infer_residual");
    sizes.array("residual", residual, "[B]", {detail::inferred(sizes, store).sets});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, npagg_infer_residual(ctx.get(), store.get(), residual.data()));
}

/* n [B]: adjoint sweeps of the last implicit backward, -1 where a set was unrolled instead. */
inline outcome<void> infer_grad_iters(context &ctx, const cache &store, view<std::int32_t> n)
{
    detail::measure sizes("infer_grad_iters");
    sizes.array("n", n, "[B]", {detail::inferred(sizes, store).sets});
    if (!sizes)
        return detail::finish(sizes.failure());
    return detail::done(ctx, npagg_infer_grad_iters(ctx.get(), store.get(), n.data()));
}

NPAGG_CPP_END

#endif /* NPAGG_INFER_HPP */
