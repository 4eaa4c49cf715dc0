/*
 * Models, as npagg/model.h: encoder -> inference -> samples -> decoder -> objective in one call.
 *
 * Set b of a batch is a task: its rows are its context, the first n_ctx[b], then its targets.
 * offsets [B+1], N = offsets[B]; S is the objective's number of samples unless said otherwise.
 */
#ifndef NPAGG_MODEL_HPP
#define NPAGG_MODEL_HPP

#include <cstdint>

#include "decoder.hpp"
#include "encoder.hpp"
#include "infer.hpp"
#include "objective.hpp"
#include "path.hpp"

NPAGG_CPP_BEGIN

/* One named array of a model's parameters; columns is 0 for a vector. */
struct tensor {
    const char *name = nullptr; /* valid as long as the model */
    std::int64_t offset = 0, rows = 0, columns = 0;
};

class model : public detail::handle<npagg_model, npagg_model_destroy>
{
  public:
    model() noexcept = default;

    /* Copies the shapes. An empty vmp stands for the defaults; with an encoder of sets prior and vmp
     * must be empty. */
    static outcome<model> create(context &ctx, const encoder &e, const prior &p,
                                 const vmp &settings, const decoder &d, const objective &o)
    {
        model m;
        const npagg_status code = npagg_model_create(ctx.get(), e.get(), p.get(), settings.get(),
                                                     d.get(), o.get(), m.fill());
        return detail::done(ctx, code, std::move(m));
    }

    /* A model of the shape that the checkpoint says. */
    static outcome<model> load(context &ctx, c_string path)
    {
        model m;
        const npagg_status code = npagg_model_load(ctx.get(), path.get(), m.fill());
        return detail::done(ctx, code, std::move(m));
    }

    /* P, and where a stage ("encoder", "prior", "decoder") or a tensor begins; or -1. */
    std::int64_t param_count() const noexcept { return npagg_model_param_count(get()); }
    std::int64_t param_offset(const char *field) const noexcept
    {
        return npagg_model_param_offset(get(), field);
    }

    /* "d", "k", "q", "x", "y", "samples", "outputs", "sampling"; -1 for another name. */
    std::int64_t size(const char *name) const noexcept { return npagg_model_size(get(), name); }
    std::int64_t samples() const noexcept { return size("samples"); }

    std::int64_t tensor_count() const noexcept { return npagg_model_tensor_count(get()); }

    /* Tensor i = 0 .. tensor_count() - 1. */
    outcome<npagg::tensor> tensor(std::int64_t i) const
    {
        npagg::tensor t;
        const npagg_status code =
            npagg_model_tensor_shape(get(), i, &t.offset, &t.rows, &t.columns);
        t.name = npagg_model_tensor_name(get(), i);
        return detail::finish(detail::status_of(code, "model.tensor: no such tensor, or no model"),
                              std::move(t));
    }

    /* params [P]: every stage's own initial values. */
    template <class A>
    outcome<void> init_params(context &ctx, std::uint64_t seed, A &&params) const
    {
        const out<A> p(params);
        detail::measure sizes("model.init_params");
        if (sizes.there("model", *this))
            sizes.array("params", p, "[P]", {param_count()});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(
            ctx, detail::calls<real_t<A>>::model_init_params(ctx.get(), get(), seed, p.data()));
    }

    /* params [P], n_ctx [B], x [N,X], y [N,Y], noise [B,S,D], which [B,S] or none -> loss [B]. */
    template <class A>
    outcome<void> forward(context &ctx, const A &params, sizes_view offsets, sizes_view n_ctx,
                          in<A> x, in<A> y, in<A> noise, which_view which, out<A> loss,
                          cache *store = nullptr) const
    {
        const in<A> p(params);
        detail::measure sizes("model.forward");
        const detail::batch n = measure_inputs(sizes, p, offsets, n_ctx, x, y, noise, which);
        sizes.array("loss", loss, "[B]", {n.sets});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::model_forward(
                                     ctx.get(), get(), p.data(), n.sets, offsets.data(),
                                     n_ctx.data(), x.data(), y.data(), noise.data(), which.data(),
                                     loss.data(), detail::taken(store)));
    }

    /* dparams [P] += gradient of sum(dloss * loss), dloss [B]; inputs as in the forward. */
    template <class A>
    outcome<void> backward(context &ctx, const A &params, sizes_view offsets, sizes_view n_ctx,
                           in<A> x, in<A> y, in<A> noise, which_view which, in<A> dloss,
                           out<A> dparams, cache &store) const
    {
        const in<A> p(params);
        detail::measure sizes("model.backward");
        const detail::batch n = measure_inputs(sizes, p, offsets, n_ctx, x, y, noise, which);
        sizes.array("dloss", dloss, "[B]", {n.sets});
        sizes.array("dparams", dparams, "[P]", {param_count()});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::model_backward(
                                     ctx.get(), get(), p.data(), n.sets, offsets.data(),
                                     n_ctx.data(), x.data(), y.data(), noise.data(), which.data(),
                                     dloss.data(), dparams.data(), store.get()));
    }

    /* Both at once, without a cache: loss [B], dparams [P] +=. */
    template <class A>
    outcome<void> step(context &ctx, const A &params, sizes_view offsets, sizes_view n_ctx, in<A> x,
                       in<A> y, in<A> noise, which_view which, in<A> dloss, out<A> loss,
                       out<A> dparams) const
    {
        const in<A> p(params);
        detail::measure sizes("model.step");
        const detail::batch n = measure_inputs(sizes, p, offsets, n_ctx, x, y, noise, which);
        sizes.array("dloss", dloss, "[B]", {n.sets});
        sizes.array("loss", loss, "[B]", {n.sets});
        sizes.array("dparams", dparams, "[P]", {param_count()});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::model_step(
                                     ctx.get(), get(), p.data(), n.sets, offsets.data(),
                                     n_ctx.data(), x.data(), y.data(), noise.data(), which.data(),
                                     dloss.data(), loss.data(), dparams.data()));
    }

    /*
     * Context xc [Nc,X], yc [Nc,Y] by ctx_offsets [B+1], targets xt [M,X], yt [M,Y] or none by
     * tgt_offsets [B+1], S = n_samples of this call, noise [B,S,D], which [B,S] (for mixtures) ->
     * mean, sd [M,Y], samples [M,S,O], O = size("outputs"), loglik [M], weight [Nc]; each may be
     * left out.
     */
    template <class A>
    outcome<void> predict(context &ctx, const A &params, sizes_view ctx_offsets, in<A> xc, in<A> yc,
                          sizes_view tgt_offsets, in<A> xt, in<A> yt, std::int64_t n_samples,
                          in<A> noise, which_view which, out<A> mean, out<A> sd,
                          out<A> samples = {}, out<A> loglik = {}, out<A> weight = {}) const
    {
        const in<A> p(params);
        detail::measure sizes("model.predict");
        const detail::batch c = sizes.sets("ctx_offsets", ctx_offsets);
        const detail::batch t = sizes.sets("tgt_offsets", tgt_offsets);
        if (sizes.there("model", *this)) {
            const std::int64_t x = size("x"), y = size("y"), s = n_samples;
            sizes.array("params", p, "[P]", {param_count()});
            sizes.array("xc", xc, "[Nc,X]", {c.rows, x});
            sizes.array("yc", yc, "[Nc,Y]", {c.rows, y});
            sizes.array("tgt_offsets", tgt_offsets, "[B+1]", {c.sets + 1});
            sizes.array("xt", xt, "[M,X]", {t.rows, x});
            sizes.maybe("yt", yt, "[M,Y]", {t.rows, y});
            sizes.array("noise", noise, "[B,S,D]", {c.sets, s, size("d")});
            sizes.maybe("which", which, "[B,S]", {c.sets, s});
            sizes.maybe("mean", mean, "[M,Y]", {t.rows, y});
            sizes.maybe("sd", sd, "[M,Y]", {t.rows, y});
            sizes.maybe("samples", samples, "[M,S,O]", {t.rows, s, size("outputs")});
            sizes.maybe("loglik", loglik, "[M]", {t.rows});
            sizes.maybe("weight", weight, "[Nc]", {c.rows});
        }
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::model_predict(
                                     ctx.get(), get(), p.data(), c.sets, ctx_offsets.data(),
                                     xc.data(), yc.data(), tgt_offsets.data(), xt.data(), yt.data(),
                                     n_samples, noise.data(), which.data(), mean.data(), sd.data(),
                                     samples.data(), loglik.data(), weight.data()));
    }

    /* Posterior q [B,Q], Q = size("q"), given context x [N,X], y [N,Y] alone. */
    template <class A>
    outcome<void> infer(context &ctx, const A &params, sizes_view offsets, in<A> x, in<A> y,
                        out<A> q) const
    {
        const in<A> p(params);
        detail::measure sizes("model.infer");
        const detail::batch n = sizes.sets("offsets", offsets);
        measure_rows(sizes, n, p, x, y);
        sizes.array("q", q, "[B,Q]", {n.sets, size("q")});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::model_infer(
                                     ctx.get(), get(), p.data(), n.sets, offsets.data(), x.data(),
                                     y.data(), q.data()));
    }

    /* u [B,S] uniform in [0, 1), S = n_samples -> which [B,S], drawn by the weights in q [B,Q]. */
    template <class A>
    outcome<void> choose(context &ctx, std::int64_t n_samples, const A &q, in<A> u,
                         view<std::int32_t> which) const
    {
        const in<A> given(q);
        detail::measure sizes("model.choose");
        const std::int64_t b = sizes.there("model", *this) ? sizes.times("q", given, size("q")) : 0;
        sizes.array("u", u, "[B,S]", {b, n_samples});
        sizes.array("which", which, "[B,S]", {b, n_samples});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::model_choose(ctx.get(), get(), b,
                                                                        n_samples, given.data(),
                                                                        u.data(), which.data()));
    }

    /* Writes a checkpoint of the shape and params [P]; replaces the file, extras and all. */
    template <class A>
    outcome<void> save(context &ctx, const A &params, c_string path) const
    {
        const in<A> p(params);
        detail::measure sizes("model.save");
        if (sizes.there("model", *this))
            sizes.array("params", p, "[P]", {param_count()});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(
            ctx, detail::calls<real_t<A>>::model_save(ctx.get(), get(), p.data(), path.get()));
    }

    /* params [P] from a checkpoint with the same tensors, of either precision. */
    template <class A>
    outcome<void> load_params(context &ctx, c_string path, A &&params) const
    {
        const out<A> p(params);
        detail::measure sizes("model.load_params");
        if (sizes.there("model", *this))
            sizes.array("params", p, "[P]", {param_count()});
        if (!sizes)
            return detail::finish(sizes.failure());
        return detail::done(ctx, detail::calls<real_t<A>>::model_load_params(ctx.get(), get(),
                                                                             path.get(), p.data()));
    }

  private:
    template <class T>
    void measure_rows(detail::measure &sizes, const detail::batch &n, const view<const T> &params,
                      const view<const T> &x, const view<const T> &y) const noexcept
    {
        if (!sizes.there("model", *this))
            return;
        sizes.array("params", params, "[P]", {param_count()});
        sizes.array("x", x, "[N,X]", {n.rows, size("x")});
        sizes.array("y", y, "[N,Y]", {n.rows, size("y")});
    }

    template <class T>
    detail::batch measure_inputs(detail::measure &sizes, const view<const T> &params,
                                 const sizes_view &offsets, const sizes_view &n_ctx,
                                 const view<const T> &x, const view<const T> &y,
                                 const view<const T> &noise, const which_view &which) const noexcept
    {
        const detail::batch n = sizes.sets("offsets", offsets);
        measure_rows(sizes, n, params, x, y);
        sizes.array("n_ctx", n_ctx, "[B]", {n.sets});
        sizes.array("noise", noise, "[B,S,D]", {n.sets, samples(), size("d")});
        sizes.maybe("which", which, "[B,S]", {n.sets, samples()});
        return n;
    }
};

NPAGG_CPP_END

#endif /* NPAGG_MODEL_HPP */
