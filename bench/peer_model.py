"""Aggregation and models of bench/row.h in PyTorch, as its users write them.

Written from the paper's equations: batched tensors, autograd, a loop over sweeps only. Forms of the
aggregation:

    plain    the equations term by term, in a form that float32 can hold
    lean     rBA rewritten for speed: sums over points as batched matrix products
    printed  mBA with log C_k as the paper's appendix prints it, which float32 cannot hold: large
             terms cancel. It is here because it is what one would write first.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

LOG_2PI = math.log(2 * math.pi)


# --- aggregation: m, v [B,N,D] -> mean, var [B,K,D], logw [B,K] (or None), log evidence [B] ------

def component(p, total, h):
    """Posteriors of the components [B,K,D], and how well each explains the sums, [B,K]."""
    s = torch.exp(p["logvar"])
    t = 1 + total[:, None] * s
    r = h[:, None] - total[:, None] * p["mean"]
    step = r / t
    fit = -0.5 * (torch.log(t) + r * step / total[:, None]).sum(-1)
    return p["mean"] + s * step, s / t, fit


def shared_evidence(m, v, lam, total, h):
    """What all components share of log Z, [B]; centred, or float32 has no digit of it."""
    n, d = m.shape[1:]
    centred = m - (h / total)[:, None]
    return -0.5 * (n * d * LOG_2PI + torch.log(v).sum((1, 2)) + (lam * centred ** 2).sum((1, 2)))


def infer_ba(p, m, v, form, logz):
    lam = 1 / v
    total, h = lam.sum(1), (lam * m).sum(1)
    if logz:
        mean, var, fit = component(p, total, h)
        return mean, var, None, fit[:, 0] + shared_evidence(m, v, lam, total, h)
    precision = torch.exp(-p["logvar"][0])
    var = 1 / (total + precision)
    mean = var * (h + p["mean"][0] * precision)
    return mean[:, None], var[:, None], None, None


def infer_mba(p, m, v, form, logz):
    lam = 1 / v
    total, h = lam.sum(1), (lam * m).sum(1)
    mean, var, fit = component(p, total, h)
    log_pi = F.log_softmax(p["logits"], -1)
    joint = log_pi + (printed_constant(p, m, v, lam, mean, var) if form == "printed" else fit)
    evidence = torch.logsumexp(joint, -1)
    logw = joint - evidence[:, None]
    if logz and form != "printed":
        evidence = evidence + shared_evidence(m, v, lam, total, h)
    return mean, var, logw, evidence if logz else None


def printed_constant(p, m, v, lam, mean, var):
    """log C_k [B,K] as the paper's appendix prints it."""
    n, d = m.shape[1:]
    prior = p["logvar"].sum(-1) + (p["mean"] ** 2 * torch.exp(-p["logvar"])).sum(-1)
    data = torch.log(v).sum((1, 2)) + (m * m * lam).sum((1, 2)) + n * d * LOG_2PI
    post = torch.log(var).sum(-1) + (mean ** 2 / var).sum(-1)
    return -0.5 * (data[:, None] + prior - post)


def infer_rba(p, m, v, form, logz, sweeps):
    d = m.shape[-1]
    a0, b0, c0 = (torch.exp(p[k]) for k in ("log_a0", "log_b0", "log_c0"))
    lam = 1 / v
    lam_m = lam * m if form == "lean" else None
    w, alpha = m.new_ones(m.shape[:2]), m.new_ones(m.shape[0], 1)
    for sweep in range(sweeps):
        if form == "lean":
            total, h = torch.bmm(w[:, None], lam)[:, 0], torch.bmm(w[:, None], lam_m)[:, 0]
        else:
            weighted = w[..., None] * lam
            total, h = weighted.sum(1), (weighted * m).sum(1)
        var = 1 / (alpha + total)
        mean = var * h
        if sweep == sweeps - 1 and not logz:
            break
        b = b0 + 0.5 * (mean ** 2 + var).sum(-1, keepdim=True)
        alpha = (a0 + d / 2) / b
        q = (lam * ((m - mean[:, None]) ** 2 + var[:, None])).sum(-1)
        w = (c0 + d / 2) / (c0 + 0.5 * q)
    bound = rba_bound(a0, b0, c0, v, var, b, q) if logz else None
    return mean[:, None], var[:, None], None, bound


def rba_bound(a0, b0, c0, v, var, b, q):
    """The evidence lower bound after a whole sweep, [B]."""
    n, d = v.shape[1:]
    c = c0 + d / 2
    rows = n * (torch.lgamma(c) - torch.lgamma(c0) - d / 2 * torch.log(c0) - d / 2 * LOG_2PI)
    rows = rows - (c * torch.log1p(q / (2 * c0))).sum(1) - 0.5 * torch.log(v).sum((1, 2))
    a = a0 + d / 2
    prior = a0 * torch.log(b0) + torch.lgamma(a) - torch.lgamma(a0) - a * torch.log(b[:, 0]) + d / 2
    return rows + prior + 0.5 * torch.log(var).sum(-1)


def infer(r, p, m, v, form="plain", logz=False):
    if r["prior"] == "rba":
        return infer_rba(p, m, v, form, logz, r["count"])
    return (infer_ba if r["prior"] == "ba" else infer_mba)(p, m, v, form, logz)


def prior_params(r, dtype):
    """Initial values of the paper, as leaves."""
    k, d = r["count"], r["d"]
    if r["prior"] == "rba":
        values = dict(log_a0=math.log(1e-6 * d), log_b0=math.log(1e-6 * d),
                      log_c0=math.log(1e-2 * d))
        return {n: torch.tensor(x, dtype=dtype, requires_grad=True) for n, x in values.items()}
    shape = dict(mean=(k, d), logvar=(k, d), logits=(k,))
    if r["prior"] == "ba":
        del shape["logits"]
    p = {n: torch.zeros(s, dtype=dtype) for n, s in shape.items()}
    if r["prior"] == "mba":
        p["mean"].normal_(0, 0.1)
    return {n: x.requires_grad_() for n, x in p.items()}


class Aggregation:
    def __init__(self, r, form="plain", dtype=torch.float32):
        self.row, self.form = r, form
        self.logz = r["part"] == "logz"
        shape = (r["sets"], r["points"], r["d"])
        self.params = prior_params(r, dtype)
        self.m, self.v = torch.randn(shape, dtype=dtype), torch.empty(shape, dtype=dtype)
        self.v.uniform_(0.05, 1)
        k = r["count"] if r["prior"] == "mba" else 1
        sizes = [(r["sets"], k, r["d"])] * 2 + [(r["sets"], k) if r["prior"] == "mba" else None,
                                                r["sets"] if self.logz else None]
        self.grads = [None if s is None else torch.randn(s, dtype=dtype) for s in sizes]
        self.back = r["part"] in ("both", "logz")
        if self.back:
            self.m.requires_grad_(), self.v.requires_grad_()

    def leaves(self):
        return [self.m, self.v, *self.params.values()]

    def begin(self):
        pass

    def run(self):
        if not self.back:
            with torch.no_grad():
                return infer(self.row, self.params, self.m, self.v, self.form)
        for leaf in self.leaves():
            leaf.grad = None
        out = infer(self.row, self.params, self.m, self.v, self.form, self.logz)
        pairs = [(o, g) for o, g in zip(out, self.grads) if o is not None]
        torch.autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return out


# --- training steps -------------------------------------------------------------------------------

def mlp(sizes):
    layers = []
    for i, o in zip(sizes, sizes[1:]):
        layers += [nn.Linear(i, o), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def log_normal(x, mean, sd):
    return -0.5 * ((x - mean) / sd) ** 2 - torch.log(sd) - 0.5 * LOG_2PI


class Model(nn.Module):
    """Encoder and decoder are two networks each, one for the mean and one for the spread."""

    def __init__(self, r, dtype):
        super().__init__()
        self.row = r
        d, x = r["d"], r["x_dim"]
        narrow, wide = ([64] * 4, [128] * 3) if r["step"] == "image" else ([64] * 3, [128] * 2)
        self.enc_mean, self.enc_var = mlp([x + 1, *narrow, d]), mlp([x + 1, *narrow, d])
        self.dec_mean, self.dec_sd = mlp([d + x, *wide, 1]), mlp([d + x, *wide, 1])
        self.prior = nn.ParameterDict({n: nn.Parameter(t.detach().to(dtype))
                                       for n, t in prior_params(r, dtype).items()})
        self.to(dtype)

    def decode(self, z, x):
        """z [B,S,D], x [B,N,X] -> mean, sd [B,S,N,1]."""
        samples, points = z.shape[1], x.shape[1]
        both = torch.cat([z[:, :, None].expand(-1, -1, points, -1),
                          x[:, None].expand(-1, samples, -1, -1)], -1)
        return self.dec_mean(both), 0.1 + 0.9 * F.softplus(self.dec_sd(both))

    def sample(self, q, noise):
        """Sample s from component s mod K: z [B,S,D], log of its weight [B,S]."""
        mean, var, logw, _ = q
        samples, k = noise.shape[1], mean.shape[1]
        if k == 1:
            return mean + torch.sqrt(var) * noise, noise.new_full((1, 1), -math.log(samples))
        which = torch.arange(samples) % k
        share = torch.log(torch.bincount(which, minlength=k).to(noise.dtype))
        return mean[:, which] + torch.sqrt(var)[:, which] * noise, (logw - share)[:, which]

    def log_density(self, q, z):
        """log q(z) [B,S]."""
        mean, var, logw, _ = q
        if logw is None:
            return log_normal(z, mean, torch.sqrt(var)).sum(-1)
        each = log_normal(z[:, :, None], mean[:, None], torch.sqrt(var)[:, None]).sum(-1)
        return torch.logsumexp(logw[:, None] + each, -1)

    def forward(self, x, y, noise):
        """x [B,N,X], y [B,N,1], noise [B,S,D] -> loss [B]: importance weighted, all points."""
        r, xy = self.row, torch.cat([x, y], -1)
        m = self.enc_mean(xy)
        v = 1e-4 + (1 - 1e-4) * torch.sigmoid(self.enc_var(xy))
        context = infer(r, self.prior, m[:, :r["context"]], v[:, :r["context"]], "lean")
        every = infer(r, self.prior, m, v, "lean")
        z, weight = self.sample(every, noise)
        mean, sd = self.decode(z, x)
        fit = log_normal(y[:, None], mean, sd).sum((2, 3))
        ratio = fit + self.log_density(context, z) - self.log_density(every, z)
        return -torch.logsumexp(weight + ratio, -1) / x.shape[1]


class Step:
    def __init__(self, r, form="plain", dtype=torch.float32):
        b, n = r["sets"], r["points"]
        self.model = Model(r, dtype)
        self.x = torch.empty(b, n, r["x_dim"], dtype=dtype).uniform_(-1, 1)
        self.y = torch.randn(b, n, 1, dtype=dtype)
        self.noise = torch.randn(b, r["samples"], r["d"], dtype=dtype)
        self.first = {n: t.clone() for n, t in self.model.state_dict().items()}
        self.begin()

    def begin(self):
        self.model.load_state_dict(self.first)
        self.adam = torch.optim.Adam(self.model.parameters(), lr=5e-4)

    def run(self):
        self.adam.zero_grad(set_to_none=True)
        loss = self.model(self.x, self.y, self.noise)
        loss.mean().backward()
        self.adam.step()
        return loss


def create(r, form="plain", dtype=torch.float32):
    torch.manual_seed(1)
    return (Step if r["step"] else Aggregation)(r, form, dtype)
