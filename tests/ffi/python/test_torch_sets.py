"""Encoders of sets against the same networks made of PyTorch's own layers, and models of them."""

import os
import tempfile

import numpy as np
import torch
from torch import nn

import npagg

import support

X, Y, D, OFFSETS = 2, 1, 5, [0, 60, 60, 61, 75]
PRE, HEADS, POST = [16, 12], 3, [8, 7]
N, B = OFFSETS[-1], len(OFFSETS) - 1


def layers(widths):
    """Linear layers with relu between them."""
    parts = []
    for a, b in zip(widths, widths[1:]):
        parts += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


class Peer(nn.Module):
    """m, v [B,D]; heads 0: mean pooling."""

    def __init__(self, heads):
        super().__init__()
        r = PRE[-1]
        self.heads, self.pre = heads, layers([X + Y, *PRE])
        if heads:
            self.query, self.key, self.value = (nn.Linear(r, r, bias=False) for _ in range(3))
            self.fc, self.norm1, self.norm2 = nn.Linear(r, r), nn.LayerNorm(r), nn.LayerNorm(r)
        self.joint = layers([r, POST[0]])
        self.mean, self.sd = layers([*POST, D]), layers([*POST, D])

    def attend(self, u):
        q, k, v = (f(u).reshape(len(u), self.heads, -1) for f in (self.query, self.key, self.value))
        p = torch.softmax(torch.einsum("ihw,jhw->hij", q, k) / PRE[-1] ** 0.5, 2)
        a = torch.einsum("hij,jhw->ihw", p, v).reshape(len(u), -1)
        o = self.norm1(q.reshape(len(u), -1) + a)
        return self.norm2(o + torch.relu(self.fc(o)))

    def one(self, points):
        r = self.pre(points)
        if self.heads and len(r):
            r = self.attend(torch.relu(r))
        s = torch.relu(self.joint(r.mean(0) if len(r) else r.new_zeros(PRE[-1])))
        sd = 1e-4 + (1 - 1e-4) * torch.sigmoid(self.sd(s))
        return self.mean(s), sd * sd

    def forward(self, points):
        sets = [self.one(points[a:b]) for a, b in zip(OFFSETS, OFFSETS[1:])]
        return tuple(torch.stack(t) for t in zip(*sets))


def ours(heads):
    if heads:
        return npagg.AttentionEncoder(X, Y, D, PRE, heads, POST)
    return npagg.MeanEncoder(X, Y, D, PRE, POST)


def model_of(heads):
    objective = npagg.Objective("iwae", samples=3)
    return npagg.Model(ours(heads), None, npagg.Decoder(X, Y, D, [6]), objective)


def name_tensors(peer):
    """(our name, tensor) of each; norms away from 1 and 0, the rest as PyTorch starts."""
    torch.manual_seed(3)
    for name, p in peer.named_parameters():
        net, *rest = name.split(".")
        with torch.no_grad():
            if net.startswith("norm"):
                p.add_(0.3 * torch.randn_like(p))
        if net in ("pre", "joint", "mean", "sd"):
            rest[0] = str(int(rest[0]) // 2)
        elif net.startswith("norm"):
            rest[-1] = rest[-1].replace("weight", "gain")
        yield "encoder." + ".".join([net, *rest]), p


class SetsTest(support.TestCase):
    def draw(self):
        rng = np.random.default_rng(4)
        return [rng.standard_normal((N, k)) for k in (X, Y)] + [
            rng.standard_normal((B, D)) for _ in range(2)
        ]

    def compare(self, heads):
        peer, encoder, model = Peer(heads).double(), ours(heads), model_of(heads)
        all_params = model.init_params()
        tensors = model.tensors(all_params)
        pairs = dict(name_tensors(peer))
        for name, p in pairs.items():
            tensors[name][...] = p.detach().numpy()
        self.assertEqual(set(pairs), {t for t in tensors if t.startswith("encoder.")})
        params = all_params[: encoder.n_params].copy()
        x, y, dm, dv = self.draw()
        cache = npagg.Cache()
        m, v = encoder.forward(params, x, y, OFFSETS, cache=cache)
        grads = encoder.backward(params, x, y, OFFSETS, cache=cache, dm=dm, dv=dv, dx=True)
        points = torch.tensor(np.hstack([x, y])).requires_grad_()
        m_, v_ = peer(points)
        (m_ * torch.tensor(dm) + v_ * torch.tensor(dv)).sum().backward()
        self.assert_close(m_.detach().numpy(), m, 1e-12, "m")
        self.assert_close(v_.detach().numpy(), v, 1e-12, "v")
        self.assert_close(points.grad.numpy()[:, :X], grads.x, 1e-11, "dx")
        padded = np.zeros_like(all_params)
        padded[: encoder.n_params] = grads.params
        for name, got in model.tensors(padded).items():
            if name in pairs:
                self.assert_close(pairs[name].grad.numpy(), got, 1e-11, name)

    def test_mean_pooling_is_that_of_torch(self):
        self.compare(0)

    def test_attention_is_that_of_torch(self):
        self.compare(HEADS)

    def test_models_of_sets_train_and_come_back_from_a_checkpoint(self):
        for heads in (0, HEADS):
            model = model_of(heads)
            self.assertEqual((1, 2 * D), (model.k, model.n_posterior))
            self.assertRaises(KeyError, model.param_offset, "prior")
            x, y, *_ = self.draw()
            params, n_ctx = model.init_params(1), np.array([20, 0, 1, 5])
            noise = npagg.noise.normal(1, 1, (B, 3, D), np.float64)
            loss, grad = model.step(params, x, y, n_ctx, noise, OFFSETS)
            after = model.forward(params - 1e-3 * grad, x, y, n_ctx, noise, OFFSETS)
            self.assertLess(after.mean(), loss.mean())
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "a.safetensors")
                model.save(path, params)
                again = npagg.Model.load(path)
                self.assertEqual(model.tensor_shapes(), again.tensor_shapes())
                self.assertTrue((again.load_params(path) == params).all())

    def test_a_prior_beside_an_encoder_of_sets_is_refused(self):
        with self.assertRaisesRegex(npagg.Error, "prior is given, want NULL"):
            npagg.Model(
                ours(0), npagg.Prior.gaussian(D), npagg.Decoder(X, Y, D), npagg.Objective("ml")
            )


if __name__ == "__main__":
    support.main()
