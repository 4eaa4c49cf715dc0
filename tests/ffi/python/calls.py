"""One good call of every function of the binding that takes arrays, all arguments by name."""

import numpy as np

import npagg
from npagg import posterior

OFFSETS = np.array([0, 3, 3, 7])  # three sets, the second one empty
B, N, S, D, K, X, Y = 3, 7, 4, 3, 2, 2, 2


def draw(rng, dtype, *shape):
    return rng.standard_normal(shape).astype(dtype)


class World:
    """Shapes and arrays that fit each other, in one precision."""

    def __init__(self, dtype, ctx=None):
        rng = np.random.default_rng(1)
        self.dtype, self.ctx = np.dtype(dtype), ctx
        self.prior = npagg.Prior.mixture(D, K, robust=True, ctx=ctx)
        self.vmp = npagg.Vmp(max_iters=3, tolerance=0.0, ctx=ctx)
        self.encoder = npagg.Encoder(X, Y, D, [5], "tanh", ctx=ctx)
        self.decoder = npagg.Decoder(X, Y, D, [5], "tanh", ctx=ctx)
        self.objective = npagg.Objective("elbo", samples=S, ctx=ctx)
        self.model = npagg.Model(
            self.encoder, self.prior, self.decoder, self.objective, self.vmp, ctx
        )
        self.cache = npagg.Cache(ctx)
        self.params = self.prior.init_params(1, dtype, ctx=ctx)
        self.m, self.v = draw(rng, dtype, N, D), 0.5 + rng.random((N, D)).astype(dtype)
        self.weight = 0.5 + rng.random(N).astype(dtype)
        self.x, self.y = draw(rng, dtype, N, X), draw(rng, dtype, N, Y)
        self.noise, self.z = draw(rng, dtype, B, S, D), draw(rng, dtype, B, S, D)
        self.u = rng.random((B, S)).astype(dtype)
        self.which = rng.integers(0, K, (B, S)).astype(np.int32)
        self.n_ctx = np.array([2, 0, 3])
        self.q, self.logz = npagg.infer_forward(
            self.prior, self.params, self.m, self.v, OFFSETS, logz=True, ctx=ctx
        )
        self.p = npagg.infer_forward(
            self.prior, self.params, self.m[::-1].copy(), self.v, OFFSETS, ctx=ctx
        )
        _, self.logw = posterior.sample(self.prior, self.q, self.noise, ctx=ctx)
        self.rng = rng

    def like(self, a):
        return draw(self.rng, self.dtype, *a.shape)

    def zeros(self, *shape):
        return np.zeros(shape, self.dtype)

    def infer_calls(self):
        w = self
        base = dict(
            prior=w.prior,
            params=w.params,
            m=w.m,
            v=w.v,
            offsets=OFFSETS,
            weight=w.weight,
            vmp=w.vmp,
            cache=w.cache,
            ctx=w.ctx,
        )
        forward = dict(base, out=(w.zeros(B, w.prior.n_posterior), w.zeros(B)))
        backward = dict(
            base,
            dq=w.like(w.q),
            dlogz=w.like(w.logz),
            dparams=w.zeros(len(w.params)),
            dm=w.zeros(N, D),
            dv=w.zeros(N, D),
            dweight=w.zeros(N),
        )
        return {
            "infer_forward": (npagg.infer_forward, forward),
            "infer_backward": (npagg.infer_backward, backward),
        }

    def prior_calls(self):
        w = self
        return {
            "prior_init_params": (
                w.prior.init_params,
                dict(seed=1, out=w.zeros(len(w.params)), ctx=w.ctx),
            ),
            "prior_constrained": (
                w.prior.constrained,
                dict(params=w.params, out=w.zeros(len(w.params)), ctx=w.ctx),
            ),
        }

    def encoder_calls(self):
        w, e = self, self.encoder
        params = e.init_params(1, w.dtype, ctx=w.ctx)
        base = dict(params=params, x=w.x, y=w.y, offsets=OFFSETS, cache=w.cache, ctx=w.ctx)
        return {
            "encoder_init_params": (
                e.init_params,
                dict(seed=1, out=w.zeros(e.n_params), ctx=w.ctx),
            ),
            "encoder_forward": (e.forward, dict(base, out=(w.zeros(N, D), w.zeros(N, D)))),
            "encoder_backward": (
                e.backward,
                dict(
                    base,
                    dm=w.like(w.m),
                    dv=w.like(w.m),
                    dparams=w.zeros(e.n_params),
                    dx=w.zeros(N, X),
                    dy=w.zeros(N, Y),
                ),
            ),
        }

    def decoder_calls(self):
        w, d = self, self.decoder
        params = d.init_params(2, w.dtype, ctx=w.ctx)
        base = dict(params=params, x=w.x, z=w.z, offsets=OFFSETS, cache=w.cache, ctx=w.ctx)
        py = d.forward(params, w.x, w.z, OFFSETS, ctx=w.ctx)
        return {
            "decoder_init_params": (
                d.init_params,
                dict(seed=1, out=w.zeros(d.n_params), ctx=w.ctx),
            ),
            "decoder_forward": (d.forward, dict(base, out=w.zeros(N, S, 2 * Y))),
            "decoder_backward": (
                d.backward,
                dict(
                    base,
                    dpy=w.like(py),
                    dparams=w.zeros(d.n_params),
                    dx=w.zeros(N, X),
                    dz=w.zeros(B, S, D),
                ),
            ),
            "decoder_loglik": (d.loglik, dict(py=py, y=w.y, out=w.zeros(N, S), ctx=w.ctx)),
            "decoder_loglik_backward": (
                d.loglik_backward,
                dict(
                    py=py,
                    y=w.y,
                    dloglik=draw(w.rng, w.dtype, N, S),
                    dpy=w.zeros(N, S, 2 * Y),
                    dy=w.zeros(N, Y),
                    ctx=w.ctx,
                ),
            ),
        }

    def posterior_calls(self):
        w = self
        base, q = dict(prior=w.prior, q=w.q, ctx=w.ctx), w.q.shape
        sample = dict(base, noise=w.noise, which=w.which, mode="pathwise")
        weighed = dict(base, z=w.z, logw=w.logw)
        one = draw(w.rng, w.dtype, B)
        return {
            "posterior_sample": (
                posterior.sample,
                dict(sample, out=(w.zeros(B, S, D), w.zeros(B, S))),
            ),
            "posterior_sample_backward": (
                posterior.sample_backward,
                dict(sample, dz=w.like(w.z), dlogw=w.like(w.logw), dq=w.zeros(*q)),
            ),
            "posterior_choose": (
                posterior.choose,
                dict(base, u=w.u, out=np.zeros((B, S), np.int32)),
            ),
            "posterior_logpdf": (posterior.logpdf, dict(base, z=w.z, out=w.zeros(B, S))),
            "posterior_logpdf_backward": (
                posterior.logpdf_backward,
                dict(base, z=w.z, dlogq=w.like(w.logw), dq=w.zeros(*q), dz=w.zeros(B, S, D)),
            ),
            "posterior_kl": (posterior.kl, dict(weighed, p=w.p, kind="sampled", out=w.zeros(B))),
            "posterior_kl_backward": (
                posterior.kl_backward,
                dict(
                    weighed,
                    p=w.p,
                    kind="sampled",
                    dkl=one,
                    dq=w.zeros(*q),
                    dp=w.zeros(*q),
                    dz=w.zeros(B, S, D),
                    dlogw=w.zeros(B, S),
                ),
            ),
            "posterior_moments": (
                posterior.moments,
                dict(base, out=(w.zeros(B, D), w.zeros(B, D))),
            ),
            "posterior_moments_backward": (
                posterior.moments_backward,
                dict(base, dmean=w.zeros(B, D), dvar=w.zeros(B, D), dq=w.zeros(*q)),
            ),
            "posterior_entropy": (posterior.entropy, dict(weighed, out=w.zeros(B))),
            "posterior_entropy_backward": (
                posterior.entropy_backward,
                dict(
                    weighed, dentropy=one, dq=w.zeros(*q), dz=w.zeros(B, S, D), dlogw=w.zeros(B, S)
                ),
            ),
        }

    def model_calls(self):
        w, model = self, self.model
        params = model.init_params(1, w.dtype, ctx=w.ctx)
        task = dict(
            params=params,
            x=w.x,
            y=w.y,
            n_ctx=w.n_ctx,
            noise=w.noise,
            offsets=OFFSETS,
            which=w.which,
            ctx=w.ctx,
        )
        dloss = np.full(B, 1 / B, w.dtype)
        return {
            "model_init_params": (
                model.init_params,
                dict(seed=1, out=w.zeros(model.n_params), ctx=w.ctx),
            ),
            "model_forward": (model.forward, dict(task, out=w.zeros(B), cache=w.cache)),
            "model_backward": (
                model.backward,
                dict(task, dloss=dloss, dparams=w.zeros(model.n_params), cache=w.cache),
            ),
            "model_step": (
                model.step,
                dict(task, dloss=dloss, out=w.zeros(B), dparams=w.zeros(model.n_params)),
            ),
            "model_predict": (
                model.predict,
                dict(
                    params=params,
                    xc=w.x,
                    yc=w.y,
                    ctx_offsets=OFFSETS,
                    xt=w.x,
                    yt=w.y,
                    tgt_offsets=OFFSETS,
                    noise=w.noise,
                    which=w.which,
                    mean=w.zeros(N, Y),
                    sd=w.zeros(N, Y),
                    samples=w.zeros(N, S, 2 * Y),
                    loglik=w.zeros(N),
                    weight=w.zeros(N),
                    ctx=w.ctx,
                ),
            ),
            "model_infer": (
                model.infer,
                dict(
                    params=params, x=w.x, y=w.y, offsets=OFFSETS, out=w.zeros(*w.q.shape), ctx=w.ctx
                ),
            ),
            "model_choose": (
                model.choose,
                dict(q=w.q, u=w.u, out=np.zeros((B, S), np.int32), ctx=w.ctx),
            ),
        }

    def calls(self):
        """Name of the C function -> (function, arguments), forward before its backward."""
        table = {}
        for part in (
            self.prior_calls,
            self.infer_calls,
            self.encoder_calls,
            self.decoder_calls,
            self.posterior_calls,
            self.model_calls,
        ):
            table.update(part())
        return table
