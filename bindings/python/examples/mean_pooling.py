"""A neural process in PyTorch with mean pooling, and the same with inference instead: three lines.

Both learn sine waves of random phase and height from noisy points, of which one in five is an
outlier; printed is the mean of the predictive log likelihood of points without noise, higher is
better. The student prior gives outliers little weight.

usage: python3 mean_pooling.py [steps]
"""

import sys

import torch
from torch import nn

import npagg.torch


class MeanPooling(nn.Module):
    """r = mean over the context of net(x, y); y ~ N(mean, sd) given x and r."""

    def __init__(self, d=32):
        super().__init__()
        self.d = d
        self.encoder = nn.Sequential(
            nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2 * d)
        )
        self.decoder = nn.Sequential(
            nn.Linear(d + 1, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
        )

    def pool(self, r):
        """[B,n,2D] -> [B,D]"""
        return r[..., : self.d].mean(1)

    def forward(self, xc, yc, xt):
        r = self.pool(self.encoder(torch.cat([xc, yc], 2)))
        out = self.decoder(torch.cat([r[:, None].expand(-1, xt.shape[1], -1), xt], 2))
        return torch.distributions.Normal(out[..., :1], 0.05 + nn.functional.softplus(out[..., 1:]))


class Inference(MeanPooling):
    """The same with the posterior mean in place of the mean."""

    def __init__(self, d=32):
        super().__init__(d)
        self.prior = npagg.torch.StudentPrior(d)  # 1

    def pool(self, r):
        m, v = r[..., : self.d], 1e-4 + torch.sigmoid(r[..., self.d :])  # 2
        return self.prior(m, v).mean  # 3


def draw_tasks(n_tasks=32, n_context=15, n_target=20):
    """xc, yc with outliers, xt, yt without, [B,n,1]."""
    x = 4 * torch.rand(n_tasks, n_context + n_target, 1) - 2
    y = (0.5 + torch.rand(n_tasks, 1, 1)) * torch.sin(2 * x + 6.2832 * torch.rand(n_tasks, 1, 1))
    yc = y[:, :n_context] + 0.05 * torch.randn(n_tasks, n_context, 1)
    outlier = torch.rand(n_tasks, n_context, 1) < 0.2
    yc = torch.where(outlier, 3 * torch.randn_like(yc), yc)
    return x[:, :n_context], yc, x[:, n_context:], y[:, n_context:]


def train(model, steps, report=None):
    """The loss of each step."""
    torch.manual_seed(1)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    history = []
    for step in range(1, steps + 1):
        xc, yc, xt, yt = draw_tasks()
        loss = -model(xc, yc, xt).log_prob(yt).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        history.append(loss.item())
        if report and step % report == 0:
            print(f"  step {step:5d}  log likelihood {-sum(history[-report:]) / report:7.3f}")
    return history


def main(steps=2000):
    for kind in (MeanPooling, Inference):
        torch.manual_seed(0)
        print(kind.__name__)
        train(kind(), steps, max(steps // 4, 1))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
