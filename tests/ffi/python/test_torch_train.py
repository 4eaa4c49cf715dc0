"""A small neural process in PyTorch with npagg.torch in place of mean pooling learns."""

import os
import sys

import torch

import npagg.torch as nt

import support

sys.path.insert(0, os.path.join(support.SOURCE_ROOT, "bindings", "python", "examples"))
import mean_pooling  # noqa: E402

STEPS = 300


def with_prior(prior):
    """The network of the example with another prior; of a mixture the mean over its components."""

    class Net(mean_pooling.Inference):
        def __init__(self):
            super().__init__(8)
            self.prior = prior

        def pool(self, r):
            q = self.prior(r[..., : self.d], 1e-4 + torch.sigmoid(r[..., self.d :]))
            return q.mean if q.logw is None else (q.logw.exp()[..., None] * q.mean).sum(1)

    return Net()


class TrainTest(support.TestCase):
    def check_learning(self, prior):
        torch.manual_seed(0)
        before = [p.detach().clone() for p in prior.parameters()]
        history = mean_pooling.train(with_prior(prior), STEPS)
        start, end = sum(history[:20]) / 20, sum(history[-20:]) / 20
        self.assertLess(end, start - 0.3)
        for old, new in zip(before, prior.parameters()):
            self.assertTrue(torch.all(torch.isfinite(new)))
            self.assertFalse(torch.equal(old, new), "the prior learns too")

    def test_gaussian_prior_learns(self):
        self.check_learning(nt.GaussianPrior(8))

    def test_mixture_prior_learns(self):
        self.check_learning(nt.MixturePrior(8, 2))

    def test_student_prior_learns(self):
        self.check_learning(nt.StudentPrior(8))

    def test_robust_mixture_prior_learns(self):
        self.check_learning(nt.RobustMixturePrior(8, 2))


if __name__ == "__main__":
    support.main()
