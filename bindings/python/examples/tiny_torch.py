"""The model of tiny.py with the networks and the objective written in PyTorch and npagg.torch for
the aggregation: the first loss and its gradient are those of the library's own model.

usage: python3 tiny_torch.py
"""

import torch
from torch.nn import functional as f

import npagg
import npagg.torch
import tiny


def net(tensors, name, inputs):
    """Two linear layers with tanh between them."""
    hidden = torch.tanh(f.linear(inputs, tensors[f"{name}.0.weight"], tensors[f"{name}.0.bias"]))
    return f.linear(hidden, tensors[f"{name}.1.weight"], tensors[f"{name}.1.bias"])


def encode(tensors, x, y):
    """Factors m, v [N,D]."""
    inputs = torch.cat([x, y], 1)
    return (
        net(tensors, "encoder.mean", inputs),
        1e-4 + (1 - 1e-4) * torch.sigmoid(net(tensors, "encoder.var", inputs)),
    )


def log_likelihood(tensors, x, y, z):
    """[S]: log p(y | x, z) of points x, y [n,1] under samples z [S,D]."""
    inputs = torch.cat([z[:, None].expand(-1, len(x), -1), x.expand(len(z), -1, -1)], 2)
    sd = 0.1 + 0.9 * f.softplus(net(tensors, "decoder.sd", inputs))
    return (
        torch.distributions.Normal(net(tensors, "decoder.mean", inputs), sd).log_prob(y).sum((1, 2))
    )


def divergence(q, p):
    """[B]: KL of diagonal Gaussians."""
    return 0.5 * (torch.log(p.var / q.var) + (q.var + (q.mean - p.mean) ** 2) / p.var - 1).sum(1)


def losses(tensors, prior, x, y, noise):
    """[B]: -(E log p(targets) - KL(q_CT || q_C)) / number of targets."""
    m, v = encode(tensors, x, y)
    context = torch.cat([torch.arange(a, a + n) for a, n in zip(tiny.OFFSETS, tiny.N_CTX)])
    ends = [0, *tiny.N_CTX.cumsum().tolist()]
    q_all, q_context = prior(m, v, tiny.OFFSETS), prior(m[context], v[context], ends)
    z = q_all.mean[:, None] + q_all.var.sqrt()[:, None] * noise
    kl, out = divergence(q_all, q_context), []
    for b, n in enumerate(tiny.N_CTX):
        rows = slice(tiny.OFFSETS[b] + n, tiny.OFFSETS[b + 1])
        out.append((kl[b] - log_likelihood(tensors, x[rows], y[rows], z[b]).mean()) / len(x[rows]))
    return torch.stack(out)


def first_step():
    """(losses [B], gradient of their mean [P]) at the start, in the library's order."""
    model = tiny.create_model()
    params = torch.from_numpy(model.init_params(seed=1))
    tensors = {
        name: params[at : at + torch.Size(shape).numel()].reshape(shape).clone().requires_grad_()
        for name, (at, shape) in model.tensor_shapes().items()
    }
    prior = npagg.torch.StudentPrior(tiny.D, vmp=npagg.Vmp(max_iters=4), dtype=torch.float64)
    tensors.update((f"prior.{name}", p) for name, p in prior.named_parameters())
    x, y = map(torch.from_numpy, tiny.draw_tasks())
    loss = losses(tensors, prior, x, y, torch.from_numpy(tiny.draw_noise(1)))
    loss.mean().backward()
    grad = torch.cat([tensors[name].grad.reshape(-1) for name in model.tensor_shapes()])
    return loss.detach().numpy(), grad.numpy()


def main():
    loss, grad = first_step()
    print(f"loss {loss.mean():.15g}, largest gradient {abs(grad).max():.15g}")


if __name__ == "__main__":
    main()
