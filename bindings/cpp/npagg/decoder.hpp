/*
 * Decoders, as npagg/decoder.h: a latent z and a place x -> the distribution py of y there, per
 * point and sample: mean and sd [N,S,2Y], or logits [N,S,Y].
 */
#ifndef NPAGG_DECODER_HPP
#define NPAGG_DECODER_HPP

#include <cstdint>

#include "encoder.hpp"

NPAGG_CPP_BEGIN

enum class likelihood : std::int32_t {
    gaussian = NPAGG_LIKELIHOOD_GAUSSIAN,
    bernoulli = NPAGG_LIKELIHOOD_BERNOULLI
};

class decoder : public detail::handle<npagg_decoder, npagg_decoder_destroy>
{
  public:
    decoder() noexcept = default;

    /* Two networks on [z, x] with these widths of hidden layers, one for mean, one for sd. */
    static outcome<decoder> mlp(context &ctx, std::int64_t x_dim, std::int64_t y_dim,
                                std::int64_t d, sizes_view widths)
    {
        decoder e(x_dim, y_dim, d);
        const npagg_status code = npagg_decoder_create_mlp(
            ctx.get(), x_dim, y_dim, d, detail::count(widths.size()), widths.data(), e.fill());
        return detail::done(ctx, code, std::move(e));
    }

    /* Between linear layers; default relu. */
    outcome<void> set_activation(activation a)
    {
        return detail::finish(
            detail::status_of(npagg_decoder_set_activation(get(), static_cast<std::int32_t>(a)),
                              "decoder.set_activation: no such activation, or no decoder"));
    }

    /* Default gaussian. Changes the parameters. */
    outcome<void> set_likelihood(likelihood l)
    {
        return detail::finish(
            detail::status_of(npagg_decoder_set_likelihood(get(), static_cast<std::int32_t>(l)),
                              "decoder.set_likelihood: no such likelihood, or no decoder"));
    }

    /* Smallest sd, 0 <= floor < 1, default 0.1. */
    outcome<void> set_sd_floor(double floor)
    {
        return detail::finish(
            detail::status_of(npagg_decoder_set_sd_floor(get(), floor),
                              "decoder.set_sd_floor: floor not in 0 .. 1, or no decoder"));
    }

    std::int64_t x_dim() const noexcept { return x_; }
    std::int64_t y_dim() const noexcept { return y_; }
    std::int64_t d() const noexcept { return d_; }

    /* P, and where a tensor as "mean.0.weight" begins; or -1. */
    std::int64_t param_count() const noexcept { return npagg_decoder_param_count(get()); }
    std::int64_t param_offset(const char *field) const noexcept
    {
        return npagg_decoder_param_offset(get(), field);
    }

    /* O, numbers per point and sample in py: 2Y, or Y for bernoulli. */
    std::int64_t output_count() const noexcept { return npagg_decoder_output_count(get()); }

    /* params [P]: uniform in +-1/sqrt(in). */
    template <class A>
    outcome<void> init_params(context &ctx, std::uint64_t seed, A &&params) const
    {
        const out<A> p(params);
        detail::measure sizes("decoder.init_params");
        if (sizes.there("decoder", *this))
            sizes.array("params", p, "[P]", {param_count()});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(
            ctx, detail::calls<real_t<A>>::decoder_init_params(ctx.get(), get(), seed, p.data()));
    }

    /* params [P], offsets [B+1], S = n_samples >= 1, x [N,X], z [B,S,D] -> py [N,S,O]. */
    template <class A>
    outcome<void> forward(context &ctx, const A &params, sizes_view offsets, std::int64_t n_samples,
                          in<A> x, in<A> z, out<A> py, cache *store = nullptr) const
    {
        const in<A> p(params);
        detail::measure sizes("decoder.forward");
        const detail::batch n = sizes.sets("offsets", offsets);
        measure_inputs(sizes, n, n_samples, p, x, z);
        sizes.array("py", py, "[N,S,O]", {n.rows, n_samples, output_count()});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::decoder_forward(
                                     ctx.get(), get(), p.data(), n.sets, offsets.data(), n_samples,
                                     x.data(), z.data(), py.data(), detail::taken(store)));
    }

    /* dpy [N,S,O] -> added to dparams [P], dx [N,X], dz [B,S,D]; each may be left out. */
    template <class A>
    outcome<void> backward(context &ctx, const A &params, sizes_view offsets,
                           std::int64_t n_samples, in<A> x, in<A> z, in<A> dpy, out<A> dparams,
                           out<A> dx, out<A> dz, cache &store) const
    {
        const in<A> p(params);
        detail::measure sizes("decoder.backward");
        const detail::batch n = sizes.sets("offsets", offsets);
        measure_inputs(sizes, n, n_samples, p, x, z);
        sizes.array("dpy", dpy, "[N,S,O]", {n.rows, n_samples, output_count()});
        sizes.maybe("dparams", dparams, "[P]", {param_count()});
        sizes.maybe("dx", dx, "[N,X]", {n.rows, x_});
        sizes.maybe("dz", dz, "[B,S,D]", {n.sets, n_samples, d_});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::decoder_backward(
                                     ctx.get(), get(), p.data(), n.sets, offsets.data(), n_samples,
                                     x.data(), z.data(), dpy.data(), dparams.data(), dx.data(),
                                     dz.data(), store.get()));
    }

    /* loglik [N,S] of y [N,Y] under py [N,S,O]; N is y's. */
    template <class A>
    outcome<void> loglik(context &ctx, std::int64_t n_samples, const A &py, in<A> y,
                         out<A> result) const
    {
        const in<A> given(py);
        detail::measure sizes("decoder.loglik");
        const std::int64_t n = measure_points(sizes, n_samples, given, y);
        sizes.array("result", result, "[N,S]", {n, n_samples});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::decoder_loglik(ctx.get(), get(), n,
                                                                          n_samples, given.data(),
                                                                          y.data(), result.data()));
    }

    /* dloglik [N,S] -> added to dpy [N,S,O], dy [N,Y]; each may be left out. */
    template <class A>
    outcome<void> loglik_backward(context &ctx, std::int64_t n_samples, const A &py, in<A> y,
                                  in<A> dloglik, out<A> dpy, out<A> dy) const
    {
        const in<A> given(py);
        detail::measure sizes("decoder.loglik_backward");
        const std::int64_t n = measure_points(sizes, n_samples, given, y);
        sizes.array("dloglik", dloglik, "[N,S]", {n, n_samples});
        sizes.maybe("dpy", dpy, "[N,S,O]", {n, n_samples, output_count()});
        sizes.maybe("dy", dy, "[N,Y]", {n, y_});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::decoder_loglik_backward(
                                     ctx.get(), get(), n, n_samples, given.data(), y.data(),
                                     dloglik.data(), dpy.data(), dy.data()));
    }

  private:
    decoder(std::int64_t x, std::int64_t y, std::int64_t d) noexcept : x_(x), y_(y), d_(d) {}

    template <class T>
    void measure_inputs(detail::measure &sizes, const detail::batch &n, std::int64_t n_samples,
                        const view<const T> &params, const view<const T> &x,
                        const view<const T> &z) const noexcept
    {
        if (!sizes.there("decoder", *this))
            return;
        sizes.array("params", params, "[P]", {param_count()});
        sizes.array("x", x, "[N,X]", {n.rows, x_});
        sizes.array("z", z, "[B,S,D]", {n.sets, n_samples, d_});
    }

    template <class T>
    std::int64_t measure_points(detail::measure &sizes, std::int64_t n_samples,
                                const view<const T> &py, const view<const T> &y) const noexcept
    {
        if (!sizes.there("decoder", *this))
            return 0;
        const std::int64_t n = sizes.times("y", y, y_);
        sizes.array("py", py, "[N,S,O]", {n, n_samples, output_count()});
        return n;
    }

    std::int64_t x_ = 0, y_ = 0, d_ = 0;
};

NPAGG_CPP_END

#endif /* NPAGG_DECODER_HPP */
