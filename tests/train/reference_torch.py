#!/usr/bin/env python3
"""What PyTorch reaches on the task of test_training.c, from its own weights, data and noise.

Trains Bayesian (ba) and robust (rba) aggregation on functions drawn from a Gaussian process and
prints the log-likelihood of context and target points and the error of the targets:

    python3 tests/train/reference_torch.py --model ba --seeds 3

The figures in test_training.c were printed by this program.
"""
import argparse
import math

import torch
from torch import nn

D, TASKS, SAMPLES = 128, 16, 5


def mlp(*widths):
    layers = []
    for a, b in zip(widths[:-1], widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def draw(generator):
    """One batch: x, y [TASKS, n, 1] and the number of context points."""
    def uniform(*shape):
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    c = int(torch.randint(3, 47, (), generator=generator))
    t = int(torch.randint(3, 50 - c, (), generator=generator))
    n = c + t
    x = 4 * uniform(TASKS, n, 1) - 2
    height, length = 0.1 + 0.9 * uniform(TASKS, 1, 1), 0.1 + 0.5 * uniform(TASKS, 1, 1)
    k = height**2 * torch.exp(-0.5 * ((x - x.transpose(1, 2)) / length) ** 2)
    root = torch.linalg.cholesky(k + 0.02**2 * torch.eye(n, dtype=torch.float64))
    y = root @ torch.randn(TASKS, n, 1, generator=generator, dtype=torch.float64)
    return x.float(), y.float(), c


class Model(nn.Module):
    def __init__(self, robust, sweeps=5):
        super().__init__()
        self.robust, self.sweeps = robust, sweeps
        self.encode_m, self.encode_v = mlp(2, 64, 64, 64, D), mlp(2, 64, 64, 64, D)
        self.decode_m, self.decode_s = mlp(D + 1, 128, 128, 1), mlp(D + 1, 128, 128, 1)

    def encode(self, x, y):
        xy = torch.cat([x, y], -1)
        return self.encode_m(xy), 1e-4 + (1 - 1e-4) * torch.sigmoid(self.encode_v(xy))

    def posterior(self, m, v):
        """Mean and variance [B, D] from factors [B, n, D]."""
        alpha, beta = torch.ones(len(m), 1), torch.ones(*m.shape[:2], 1)
        a0 = b0 = 1e-6 * D
        c0 = 1e-2 * D
        for _ in range(self.sweeps if self.robust else 1):
            var = 1 / (alpha + (beta / v).sum(1))
            mean = var * (beta * m / v).sum(1)
            if self.robust:
                moment = (mean**2 + var).sum(1, keepdim=True)
                alpha = (a0 + D / 2) / (b0 + moment / 2)
                off = (((m - mean[:, None]) ** 2 + var[:, None]) / v).sum(-1, keepdim=True)
                beta = (c0 + D / 2) / (c0 + off / 2)
        return mean, var

    def decode(self, z, x):
        """Mean and deviation [S, B, n, 1] at x [B, n, 1] for z [S, B, D]."""
        s, n = len(z), x.shape[1]
        zx = torch.cat([z[:, :, None].expand(-1, -1, n, -1), x.expand(s, -1, -1, -1)], -1)
        return self.decode_m(zx), 0.1 + 0.9 * nn.functional.softplus(self.decode_s(zx))

    def loss(self, x, y, c):
        m, v = self.encode(x, y)
        few = torch.distributions.Normal(*root(self.posterior(m[:, :c], v[:, :c])))
        all_ = torch.distributions.Normal(*root(self.posterior(m, v)))
        z = all_.rsample((SAMPLES,))
        py = torch.distributions.Normal(*self.decode(z, x))
        worth = py.log_prob(y).sum((-1, -2)) + (few.log_prob(z) - all_.log_prob(z)).sum(-1)
        return -(worth.logsumexp(0) - math.log(SAMPLES)).mean() / x.shape[1]


def root(mean_and_variance):
    mean, variance = mean_and_variance
    return mean, variance.sqrt()


def train(model, seed, steps, rate=5e-4, length=100000):
    generator = torch.Generator().manual_seed(1000 + seed)
    optimiser = torch.optim.Adam(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, length)
    for _ in range(steps):
        optimiser.zero_grad()
        model.loss(*draw(generator)).backward()
        optimiser.step()
        schedule.step()


@torch.no_grad()
def evaluate(model, batches, samples=50):
    """Means over batches: log-likelihood of context and target, error of the target."""
    generator, total = torch.Generator().manual_seed(7), torch.zeros(3, dtype=torch.float64)
    for _ in range(batches):
        x, y, c = draw(generator)
        mean, var = model.posterior(*model.encode(x[:, :c], y[:, :c]))
        z = mean + var.sqrt() * torch.randn(samples, *mean.shape, generator=generator)
        mu, sd = model.decode(z, x)
        each = torch.distributions.Normal(mu, sd).log_prob(y).logsumexp(0) - math.log(samples)
        error = (mu.mean(0) - y)[:, c:].pow(2).mean().sqrt()
        total += torch.stack([each[:, :c].mean(), each[:, c:].mean(), error]).double()
    return (total / batches).tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=["ba", "rba"], default="ba")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batches", type=int, default=313, help="batches of the evaluation")
    args = parser.parse_args()
    for seed in range(1, args.seeds + 1):
        torch.manual_seed(seed)
        model = Model(args.model == "rba")
        train(model, seed, args.steps)
        figures = evaluate(model, args.batches)
        print("%s seed %d, %d steps: context %.3f, target %.3f, error %.3f"
              % (args.model, seed, args.steps, *figures), flush=True)


if __name__ == "__main__":
    main()
