"""Models through the binding: golden losses and gradients, and what belongs together agrees."""

import os
import tempfile

import numpy as np

import npagg

import calls
import support
from calls import OFFSETS, Y

NAMES = {
    "encoder.mean": "enc_m",
    "encoder.var": "enc_v",
    "decoder.mean": "dec_mu",
    "decoder.sd": "dec_sig",
    "prior.log_a0": "a0",
    "prior.log_b0": "b0",
    "prior.log_c0": "c0",
    "prior.logits": "logit_pi",
}
PRIORS = {"ba": "gaussian", "mba": "mixture", "rba": "student"}


def golden_name(g, name):
    """'encoder.mean.2.weight' -> 'enc_m_W2'; 'prior.logvar' -> 'S0' or 'S_k', as is there."""
    if name == "prior.mean":
        return "mu0" if "mu0" in g else "mu_k"
    if name == "prior.logvar":
        return "S0" if "S0" in g else "S_k"
    if name in NAMES:
        return NAMES[name]
    net, layer, kind = name.rsplit(".", 2)
    return f"{NAMES[net]}_{'W' if kind == 'weight' else 'b'}{layer}"


def is_log(name):
    return name.startswith("prior.log") and name != "prior.logits"


def golden_model(g, kind, loss):
    d, hidden = int(g["D"]), [int(g["hid"])] * (int(g["depth"]) - 1)
    objective = npagg.Objective(
        loss, samples=int(g["S"]), sampling="chosen", kl="sampled" if kind == "mba" else "auto"
    )
    prior = npagg.Prior(PRIORS[kind], d, int(g["K"]) if kind == "mba" else 1)
    return npagg.Model(
        npagg.Encoder(1, 1, d, hidden),
        prior,
        npagg.Decoder(1, 1, d, hidden),
        objective,
        npagg.Vmp(max_iters=int(g["steps"])),
    )


def golden_params(g, model):
    """What the file gives; the prior's own initial values where it gives nothing."""
    params = model.init_params()
    for name, view in model.tensors(params).items():
        theirs = golden_name(g, name)
        if theirs in g:
            value = np.log(g[theirs]) if is_log(name) else g[theirs]
            view[...] = value.reshape(view.shape)
    return params


class ModelTest(support.TestCase):
    def check_golden(self, path, kind, loss, wanted, prefix):
        g = support.read_golden(path)
        model = golden_model(g, kind, loss)
        params = golden_params(g, model)
        which = g["which"].astype(np.int32) if "which" in g else None
        losses, grad = model.step(params, g["x"], g["y"], g["n_ctx"], g["eps"], g["offsets"], which)
        self.assert_close(g[wanted], losses.mean(), 1e-11, wanted)
        values = model.tensors(params)
        for name, got in model.tensors(grad).items():
            want = g[f"{prefix}_{golden_name(g, name)}"].reshape(got.shape)
            self.assert_close(
                want * np.exp(values[name]) if is_log(name) else want, got, 1e-11, name
            )

    def setUp(self):
        w = self.w = calls.World(np.float64)
        self.params = w.model.init_params(1)
        self.task = (self.params, w.x, w.y, w.n_ctx, w.noise, OFFSETS)

    def test_step_is_forward_and_backward(self):
        model, cache = self.w.model, npagg.Cache()
        loss, grad = model.step(*self.task)
        self.assert_same_bits(loss, model.forward(*self.task, cache=cache))
        self.assert_close(grad, model.backward(*self.task, cache=cache), 1e-12)

    def test_gradients_are_added(self):
        grad = self.w.model.step(*self.task)[1]
        twice = grad.copy()
        self.assertTrue(self.w.model.step(*self.task, dparams=twice)[1] is twice)
        self.assert_close(2 * grad, twice, 1e-15)

    def test_gradient_is_that_of_differences(self):
        model, rng = self.w.model, np.random.default_rng(0)
        direction, h = rng.standard_normal(model.n_params), 1e-6
        up, down = (
            model.forward(self.params + s * h * direction, *self.task[1:]).mean() for s in (1, -1)
        )
        self.assert_close((up - down) / (2 * h), model.step(*self.task)[1] @ direction, 1e-7)

    def test_tasks_may_be_lists(self):
        w = self.w
        x, y = npagg.split(w.x, OFFSETS), npagg.split(w.y, OFFSETS)
        loss, grad = w.model.step(self.params, x, y, list(w.n_ctx), w.noise)
        self.assert_same_bits(w.model.step(*self.task)[0], loss)
        self.assert_same_bits(w.model.step(*self.task)[1], grad)

    def test_predictions_are_moments_of_the_samples(self):
        w = self.w
        q = w.model.infer(self.params, w.x, w.y, OFFSETS)
        which = w.model.choose(q, w.u)
        self.assert_same_bits(which, npagg.posterior.choose(w.prior, q, w.u))
        p = w.model.predict(
            self.params,
            w.x,
            w.y,
            w.x,
            w.noise,
            ctx_offsets=OFFSETS,
            tgt_offsets=OFFSETS,
            yt=w.y,
            which=which,
            samples=True,
            loglik=True,
            weight=True,
        )
        mean, sd = p.samples[..., :Y], p.samples[..., Y:]
        self.assert_close(mean.mean(1), p.mean, 1e-12)
        self.assert_close(np.sqrt((sd**2 + mean**2).mean(1) - p.mean**2), p.sd, 1e-10)
        loglik = w.decoder.loglik(p.samples, w.y)
        self.assert_close(np.log(np.exp(loglik).mean(1)), p.loglik, 1e-10)
        self.assertEqual((len(w.x),), p.weight.shape)

    def test_stages_by_hand_are_those_of_the_model(self):
        w, t = self.w, self.w.model.tensors(self.params)
        m, v = w.encoder.forward(self.params[: w.encoder.n_params], w.x, w.y, OFFSETS)
        prior = self.params[w.model.param_offset("prior") : w.model.param_offset("decoder")]
        q = npagg.infer_forward(w.prior, prior, m, v, OFFSETS, vmp=w.vmp)
        self.assert_same_bits(w.model.infer(self.params, w.x, w.y, OFFSETS), q)
        self.assertEqual((5, calls.X + Y), t["encoder.mean.0.weight"].shape)
        self.assertTrue(np.shares_memory(t["decoder.sd.1.bias"], self.params))

    def test_checkpoints_come_back(self):
        w = self.w
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ä model.safetensors")
            w.model.save(path, self.params)
            npagg.checkpoint.save_extra(path, "adam.m", 2 * self.params)
            model = npagg.Model.load(path)
            self.assert_same_bits(self.params, model.load_params(path))
            self.assert_same_bits(
                self.params.astype(np.float32), model.load_params(path, np.float32)
            )
            self.assert_same_bits(
                2 * self.params, npagg.checkpoint.load_extra(path, "adam.m", len(self.params))
            )
            out = np.zeros(len(self.params), np.float32)
            self.assertTrue(npagg.checkpoint.load_extra(path, "adam.m", out=out) is out)
            self.assertEqual(w.model.tensor_shapes(), model.tensor_shapes())
            self.assert_same_bits(w.model.step(*self.task)[1], model.step(*self.task)[1])

    def test_random_numbers_are_those_of_their_seed_and_stream(self):
        normal, uniform = npagg.noise.normal, npagg.noise.uniform
        self.assert_same_bits(normal(1, 2, (3, 4)), normal(1, 2, 12).reshape(3, 4))
        self.assertFalse(np.array_equal(normal(1, 2, 5), normal(1, 3, 5)))
        out = np.zeros((2, 3), np.float32)
        self.assertTrue(uniform((1 << 64) - 1, 0, out=out) is out)
        self.assertTrue(np.all((out > 0) & (out < 1)))
        self.assertAlmostEqual(1.0, normal(5, 5, 100_000).std(), 2)


def add_tests():
    losses = {"iwae": ("loss_iwae_all", "g_iwae"), "elbo": ("loss_elbo_tgt", "g_elbo")}
    for number, (stem, path) in enumerate(support.golden_files("model_")):
        for loss, (wanted, prefix) in losses.items():
            name = f"test_numpy_{loss}_of_{stem}_is_reproduced"
            name += f"_{number}" if hasattr(ModelTest, name) else ""
            setattr(
                ModelTest,
                name,
                lambda self, a=(path, stem.split("_")[1], loss, wanted, prefix): self.check_golden(
                    *a
                ),
            )


add_tests()
if __name__ == "__main__":
    support.main()
