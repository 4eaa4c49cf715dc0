/* Encoders, as npagg/encoder.h: points (x, y) -> factors (m_i, v_i), or sets -> posteriors. */
#ifndef NPAGG_ENCODER_HPP
#define NPAGG_ENCODER_HPP

#include <cstdint>

#include "calls.hpp"
#include "ctx.hpp"

NPAGG_CPP_BEGIN

enum class activation : std::int32_t {
    relu = NPAGG_ACTIVATION_RELU,
    gelu = NPAGG_ACTIVATION_GELU,
    tanh = NPAGG_ACTIVATION_TANH,
    softplus = NPAGG_ACTIVATION_SOFTPLUS,
    sigmoid = NPAGG_ACTIVATION_SIGMOID
};

class encoder : public detail::handle<npagg_encoder, npagg_encoder_destroy>
{
  public:
    encoder() noexcept = default;

    /* Two networks on [x, y] with these widths of 0..32 hidden layers, one for m, one for v. */
    static outcome<encoder> mlp(context &ctx, std::int64_t x_dim, std::int64_t y_dim,
                                std::int64_t d, sizes_view widths)
    {
        encoder e(x_dim, y_dim, d);
        const npagg_status code = npagg_encoder_create_mlp(
            ctx.get(), x_dim, y_dim, d, detail::count(widths.size()), widths.data(), e.fill());
        return detail::done(ctx, code, std::move(e));
    }

    /* Mean pooling: layers of widths `pre` before the mean and `post` behind it. m, v are q(z) of a
     * set; a model of it has an empty prior and vmp. */
    static outcome<encoder> mean(context &ctx, std::int64_t x_dim, std::int64_t y_dim,
                                 std::int64_t d, sizes_view pre, sizes_view post)
    {
        encoder e(x_dim, y_dim, d);
        const npagg_status code = npagg_encoder_create_mean(
            ctx.get(), x_dim, y_dim, d, detail::count(pre.size()), pre.data(),
            detail::count(post.size()), post.data(), e.fill());
        return detail::done(ctx, code, std::move(e));
    }

    /* The same with self-attention of so many heads, as wide as the last of pre, before the mean. */
    static outcome<encoder> attention(context &ctx, std::int64_t x_dim, std::int64_t y_dim,
                                      std::int64_t d, sizes_view pre, std::int64_t n_heads,
                                      sizes_view post)
    {
        encoder e(x_dim, y_dim, d);
        const npagg_status code = npagg_encoder_create_attention(
            ctx.get(), x_dim, y_dim, d, detail::count(pre.size()), pre.data(), n_heads,
            detail::count(post.size()), post.data(), e.fill());
        return detail::done(ctx, code, std::move(e));
    }

    /* Between linear layers; default relu. */
    outcome<void> set_activation(activation a)
    {
        return detail::finish(
            detail::status_of(npagg_encoder_set_activation(get(), static_cast<std::int32_t>(a)),
                              "encoder.set_activation: no such activation, or no encoder"));
    }

    /* v lies in lo .. hi, 0 < lo < hi, both finite; default 1e-4 and 1, of sets 1e-8 and 1. */
    outcome<void> set_var_range(double lo, double hi)
    {
        return detail::finish(
            detail::status_of(npagg_encoder_set_var_range(get(), lo, hi),
                              "encoder.set_var_range: not 0 < lo < hi < infinity, or no encoder"));
    }

    /* One trunk of all hidden layers with two heads; default false. Changes the parameters. */
    outcome<void> set_trunk(bool on)
    {
        return detail::finish(
            detail::status_of(npagg_encoder_set_trunk(get(), on ? 1 : 0),
                              "encoder.set_trunk: a trunk needs a hidden layer, or no encoder"));
    }

    std::int64_t x_dim() const noexcept { return x_; }
    std::int64_t y_dim() const noexcept { return y_; }
    std::int64_t d() const noexcept { return d_; }

    /* m, v are one posterior per set, not one factor per point. */
    bool per_set() const noexcept { return npagg_encoder_per_set(get()) == 1; }

    /* P, and where a tensor as "mean.0.weight" begins; or -1. */
    std::int64_t param_count() const noexcept { return npagg_encoder_param_count(get()); }
    std::int64_t param_offset(const char *field) const noexcept
    {
        return npagg_encoder_param_offset(get(), field);
    }

    /* params [P]: uniform in +-1/sqrt(in). */
    template <class A>
    outcome<void> init_params(context &ctx, std::uint64_t seed, A &&params) const
    {
        const out<A> p(params);
        detail::measure sizes("encoder.init_params");
        if (sizes.there("encoder", *this))
            sizes.array("params", p, "[P]", {param_count()});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(
            ctx, detail::calls<real_t<A>>::encoder_init_params(ctx.get(), get(), seed, p.data()));
    }

    /* params [P], offsets [B+1], x [N,X], y [N,Y] -> m, v [N,D], or [B,D] if per_set(). */
    template <class A>
    outcome<void> forward(context &ctx, const A &params, sizes_view offsets, in<A> x, in<A> y,
                          out<A> m, out<A> v, cache *store = nullptr) const
    {
        const in<A> p(params);
        detail::measure sizes("encoder.forward");
        const detail::batch n = sizes.sets("offsets", offsets);
        measure_inputs(sizes, n, p, x, y);
        sizes.array("m", m, factors(), {factors(n), d_});
        sizes.array("v", v, factors(), {factors(n), d_});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::encoder_forward(
                                     ctx.get(), get(), p.data(), n.sets, offsets.data(), x.data(),
                                     y.data(), m.data(), v.data(), detail::taken(store)));
    }

    /* dm, dv as m, v -> added to dparams [P], dx [N,X], dy [N,Y]; each may be left out. */
    template <class A>
    outcome<void> backward(context &ctx, const A &params, sizes_view offsets, in<A> x, in<A> y,
                           in<A> dm, in<A> dv, out<A> dparams, out<A> dx, out<A> dy,
                           cache &store) const
    {
        const in<A> p(params);
        detail::measure sizes("encoder.backward");
        const detail::batch n = sizes.sets("offsets", offsets);
        measure_inputs(sizes, n, p, x, y);
        sizes.maybe("dm", dm, factors(), {factors(n), d_});
        sizes.maybe("dv", dv, factors(), {factors(n), d_});
        sizes.maybe("dparams", dparams, "[P]", {param_count()});
        sizes.maybe("dx", dx, "[N,X]", {n.rows, x_});
        sizes.maybe("dy", dy, "[N,Y]", {n.rows, y_});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::encoder_backward(
                                     ctx.get(), get(), p.data(), n.sets, offsets.data(), x.data(),
                                     y.data(), dm.data(), dv.data(), dparams.data(), dx.data(),
                                     dy.data(), store.get()));
    }

  private:
    encoder(std::int64_t x, std::int64_t y, std::int64_t d) noexcept : x_(x), y_(y), d_(d) {}

    const char *factors() const noexcept { return per_set() ? "[B,D]" : "[N,D]"; }
    std::int64_t factors(const detail::batch &n) const noexcept
    {
        return per_set() ? n.sets : n.rows;
    }

    template <class T>
    void measure_inputs(detail::measure &sizes, const detail::batch &n, const view<const T> &params,
                        const view<const T> &x, const view<const T> &y) const noexcept
    {
        if (!sizes.there("encoder", *this))
            return;
        sizes.array("params", params, "[P]", {param_count()});
        sizes.array("x", x, "[N,X]", {n.rows, x_});
        sizes.array("y", y, "[N,Y]", {n.rows, y_});
    }

    std::int64_t x_ = 0, y_ = 0, d_ = 0;
};

NPAGG_CPP_END

#endif /* NPAGG_ENCODER_HPP */
