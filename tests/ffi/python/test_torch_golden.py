"""Every aggregation file of tests/golden through npagg.torch, in float64, forward and gradients."""

import numpy as np
import torch

import npagg
import npagg.torch as nt

import support
import test_golden


class Case(test_golden.Case):
    """The same problem, with a graph in place of the cache."""

    def forward(self):
        g = self.file
        arrays = (self.params, g["m"], g["V"], self.weight)
        self.leaves = [None if a is None else torch.tensor(a, requires_grad=True) for a in arrays]
        params, m, v, weight = self.leaves
        posterior = nt.aggregate(
            m, v, g["offsets"], self.prior, params, weight=weight, vmp=self.vmp, logz=True
        )
        fields = [t.flatten(1) for t in posterior[:3] if t is not None]
        self.q, self.logz = torch.cat(fields, 1), posterior.logz
        return self.q.detach().numpy(), self.logz.detach().numpy()

    def backward(self, gradient):
        outputs, weights = [self.q], [self.cotangent(gradient)]
        if gradient == "g":
            outputs, weights = [self.q, self.logz], weights + [self.file[self.how.dlogz]]
        leaves = [t for t in self.leaves if t is not None]
        grads = torch.autograd.grad(
            outputs, leaves, [torch.tensor(w) for w in weights], retain_graph=True
        )
        found = [t.numpy() for t in grads] + [None] * (4 - len(leaves))
        return npagg.InferGrads(*found)


class TorchGoldenTest(test_golden.Comparisons):
    def check_file(self, path, dialect):
        case = Case(path, dialect)
        q, logz = case.forward()
        self.check_posterior(case, q)
        trace = case.file[dialect.logz].reshape(len(logz), -1)
        self.compare(trace[:, -1], logz, "logz")
        for gradient in dialect.gradients:
            self.check_backward(case, gradient)


test_golden.add_tests(TorchGoldenTest, "torch")
if __name__ == "__main__":
    support.main()
