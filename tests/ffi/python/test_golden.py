"""Every aggregation file of tests/golden through the binding, in float64, forward and gradients."""

import numpy as np

import npagg

import support

TOLERANCE = 1e-11  # of the largest entry, docs/testing.md


class Dialect:
    """How one kind of file calls things."""

    def __init__(self, kind, robust, mean, var, logz, dlogz, dlogw, gradients):
        self.kind, self.robust, self.mean, self.var = kind, robust, mean, var
        self.logz, self.dlogz, self.dlogw, self.gradients = logz, dlogz, dlogw, gradients


DIALECTS = {
    "ba": Dialect("gaussian", False, "mu0", "S0", "logZ", "w_logZ", None, ["g"]),
    "mba": Dialect("mixture", False, "mu_k", "S_k", "logZ", "w_logZ", "w_pi", ["g", "gpi"]),
    "rba": Dialect("student", True, None, None, "elbo", "w_elbo", None, ["g", "gz"]),
    "rmba": Dialect("mixture", True, "mu_k", "S_k", "bound", "w_bound", "w_logw", ["g", "gz"]),
    "wba": Dialect("mixture", False, "mu_k", "S_k", "bound", "w_bound", "w_logw", ["g", "gz"]),
}
HYPER = {"log_a0": "a0", "log_b0": "b0", "log_c0": "c0"}


class Case:
    """The problem of a file."""

    def __init__(self, path, dialect):
        self.file, self.how = support.read_golden(path), dialect
        g = self.file
        self.prior = npagg.Prior(dialect.kind, int(g["D"]), int(g.get("K", 1)), dialect.robust)
        self.vmp = npagg.Vmp(max_iters=int(g.get("steps", 1)))
        self.cache = npagg.Cache()
        self.weight = g.get("weight")
        self.params = np.zeros(self.prior.n_params)
        for field, view in self.prior.split_params(self.params).items():
            view[...] = self.param(field).reshape(view.shape)

    def param(self, field):
        g = self.file
        if field == "mean":
            return g[self.how.mean]
        if field == "logvar":
            return np.log(g[self.how.var])
        return g["logit_pi"] if field == "logits" else np.log(g[HYPER[field]])

    def forward(self):
        g = self.file
        return npagg.infer_forward(
            self.prior,
            self.params,
            g["m"],
            g["V"],
            g["offsets"],
            weight=self.weight,
            vmp=self.vmp,
            cache=self.cache,
            logz=True,
        )

    def cotangent(self, gradient):
        """dq [B,Q] of the loss, or of the part of it that a gradient is of."""
        g = self.file
        dq = np.zeros((int(g["B"]), self.prior.n_posterior))
        views = self.prior.split_posterior(dq)
        if self.how.dlogw:  # w_pi weighs the weights, not their logs
            views["logw"][...] = g[self.how.dlogw] * (
                g["post_pi"] if self.how.dlogw == "w_pi" else 1
            )
        if gradient != "gpi":
            for field, name in (("mean", "w_mu"), ("var", "w_var")):
                views[field][...] = g[name].reshape(views[field].shape)
        return dq

    def backward(self, gradient):
        g = self.file
        return npagg.infer_backward(
            self.prior,
            self.params,
            g["m"],
            g["V"],
            g["offsets"],
            weight=self.weight,
            vmp=self.vmp,
            cache=self.cache,
            dq=self.cotangent(gradient),
            dlogz=g[self.how.dlogz] if gradient == "g" else None,
            dweight=None if self.weight is None else True,
        )

    def wanted_param(self, gradient, field):
        """The file's gradient is of the constrained parameter, ours of its log."""
        g = self.file
        if field == "mean":
            return g[f"{gradient}_{self.how.mean}"]
        if field == "logvar":
            return g[f"{gradient}_{self.how.var}"] * g[self.how.var]
        if field == "logits":
            return g[f"{gradient}_logit_pi"]
        return g[f"{gradient}_{HYPER[field]}"] * g[HYPER[field]]

    def wanted_weights(self):
        g = self.file
        if self.how.kind == "student":
            return g["c_tilde"] / g["d_tilde"]
        return g["beta"] if self.weight is not None else np.ones(len(g["m"]))


class Comparisons(support.TestCase):
    """What tests/ffi/python/test_torch_golden.py shares."""

    def compare(self, want, got, what):
        self.assert_close(np.ravel(want), np.ravel(got), TOLERANCE, what)

    def check_posterior(self, case, q):
        g, posterior = case.file, case.prior.split_posterior(q)
        self.compare(g["post_mu"], posterior["mean"], "mean")
        self.compare(g["post_var"], posterior["var"], "var")
        if case.how.kind == "mixture":
            self.compare(g["log_post_pi"], posterior["logw"], "logw")

    def check_backward(self, case, gradient):
        g, grads = case.file, case.backward(gradient)
        if gradient != "gpi":
            self.compare(g[f"{gradient}_m"], grads.m, f"{gradient}_m")
            self.compare(g[f"{gradient}_V"], grads.v, f"{gradient}_V")
        if case.weight is not None:
            self.compare(g[f"{gradient}_weight"], grads.weight, f"{gradient}_weight")
        for field, got in case.prior.split_params(grads.params).items():
            self.compare(case.wanted_param(gradient, field), got, f"{gradient}_{field}")


class GoldenTest(Comparisons):
    def check_forward(self, case):
        g, (q, logz) = case.file, case.forward()
        self.check_posterior(case, q)
        trace = g[case.how.logz].reshape(int(g["B"]), -1)
        self.compare(trace[:, -1], logz, "logz")
        self.compare(trace, np.array([case.cache.trace(b) for b in range(len(trace))]), "trace")
        self.compare(case.wanted_weights(), case.cache.weights(), "weights")

    def check_file(self, path, dialect):
        case = Case(path, dialect)
        self.check_forward(case)
        for gradient in dialect.gradients:
            self.check_backward(case, gradient)

    def test_golden_directory_has_files_of_every_kind(self):
        for kind in DIALECTS:
            self.assertTrue(list(support.golden_files(kind + "_")), kind)


def add_tests(to, binding):
    for number, (stem, path) in enumerate(support.golden_files(*(k + "_" for k in DIALECTS))):
        dialect = DIALECTS[stem.partition("_")[0]]
        name = f"test_{binding}_f64_reproduces_{stem}"
        name += f"_{number}" if hasattr(to, name) else ""
        setattr(to, name, lambda self, p=path, d=dialect: self.check_file(p, d))


add_tests(GoldenTest, "numpy")
if __name__ == "__main__":
    support.main()
