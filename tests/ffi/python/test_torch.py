"""npagg.torch: gradients by gradcheck, the same numbers as the NumPy binding, what is refused."""

import copy
import io
import warnings

import numpy as np
import torch

import npagg
import npagg.torch as nt

import support

D, K = 3, 2
OFFSETS = [0, 3, 3, 7]
PRIORS = {
    "gaussian": lambda: nt.GaussianPrior(D, dtype=torch.float64),
    "mixture": lambda: nt.MixturePrior(D, K, dtype=torch.float64),
    "student": lambda: nt.StudentPrior(D, dtype=torch.float64),
    "robust_mixture": lambda: nt.RobustMixturePrior(D, K, dtype=torch.float64),
    "robust_gaussian": lambda: nt.GaussianPrior(D, robust=True, dtype=torch.float64),
}


def draw(kind, seed=0):
    """A prior away from its initial values, and m, v, weight that want gradients."""
    torch.manual_seed(seed)
    prior = PRIORS[kind]()
    with torch.no_grad():
        for p in prior.parameters():
            p.copy_(0.4 * torch.randn_like(p))
    m = torch.randn(7, D, dtype=torch.float64).requires_grad_()
    v = (0.2 + torch.rand(7, D, dtype=torch.float64)).requires_grad_()
    weight = (0.5 + torch.rand(7, dtype=torch.float64)).requires_grad_()
    return prior, m, v, weight


def outputs(posterior):
    return tuple(t for t in posterior if t is not None)


class TorchTest(support.TestCase):
    def check_gradients(self, kind, logz, vmp=None):
        """gradcheck with respect to m, v, weight and every parameter of the prior."""
        prior, m, v, weight = draw(kind)
        names, values = zip(*prior.named_parameters())

        def function(m, v, weight, *parameters):
            other = copy.copy(prior)
            other._parameters = dict(zip(names, parameters))
            return outputs(nt.aggregate(m, v, OFFSETS, other, weight=weight, logz=logz, vmp=vmp))

        n = len(function(m, v, weight, *values))
        self.assertEqual(2 + (prior.shape.kind == "mixture") + logz, n)
        self.assertTrue(
            torch.autograd.gradcheck(
                function, (m, v, weight, *values), eps=1e-6, atol=1e-8, rtol=1e-5
            )
        )

    def test_a_plain_prior_takes_its_parameters_as_one_tensor(self):
        for kind in PRIORS:
            prior, m, v, weight = draw(kind)
            params = prior.flat().detach().requires_grad_()
            plain = nt.aggregate(m, v, OFFSETS, prior.shape, params, weight=weight)
            self.assertTrue(torch.equal(prior(m, v, OFFSETS, weight).mean, plain.mean))
            plain.mean.sum().backward()
            prior(m, v, OFFSETS, weight).mean.sum().backward()
            self.assertTrue(
                torch.equal(params.grad, torch.cat([p.grad.flatten() for p in prior.parameters()]))
            )

    def test_implicit_gradients_are_those_of_the_fixed_point(self):
        self.check_gradients(
            "student", False, npagg.Vmp(max_iters=2000, tolerance=1e-14, grad="implicit")
        )

    def test_numbers_are_those_of_the_numpy_binding(self):
        for kind in PRIORS:
            prior, m, v, weight = draw(kind)
            posterior = prior(m, v, OFFSETS, weight, logz=True)
            params, cache = prior.flat().detach().numpy(), npagg.Cache()
            rows = [t.detach().numpy() for t in (m, v, weight)]
            q, logz = npagg.infer_forward(
                prior.shape,
                params,
                *rows[:2],
                np.array(OFFSETS),
                weight=rows[2],
                logz=True,
                cache=cache,
            )
            got = torch.cat([t.flatten(1) for t in outputs(posterior)[:-1]], 1).detach().numpy()
            self.assert_same_bits(q, got, kind)
            self.assert_same_bits(logz, posterior.logz.detach().numpy(), kind)
            (sum(t.sum() for t in outputs(posterior)[:-1]) + posterior.logz.sum()).backward()
            grads = npagg.infer_backward(
                prior.shape,
                params,
                *rows[:2],
                np.array(OFFSETS),
                weight=rows[2],
                dq=np.ones_like(q),
                dlogz=np.ones_like(logz),
                cache=cache,
                dweight=True,
            )
            for want, got in zip(grads[1:], (m, v, weight)):
                self.assert_same_bits(want, got.grad.numpy(), kind)
            flat = np.concatenate([p.grad.numpy().ravel() for p in prior.parameters()])
            self.assert_same_bits(grads.params, flat, kind)

    def test_sets_may_be_dense_or_one_and_tensors_strided(self):
        prior, m, v, _ = draw("mixture")
        m, v = m.detach()[:6], v.detach()[:6]
        want = prior(m, v, [0, 3, 6])
        dense = prior(m.reshape(2, 3, D), v.reshape(2, 3, D))
        both = torch.cat([m, v], 1)
        strided = prior(both[:, :D], both[:, D:], torch.tensor([0, 3, 6]))
        for a, b, c in zip(outputs(want), outputs(dense), outputs(strided)):
            self.assertTrue(torch.equal(a, b) and torch.equal(a, c))
        self.assertEqual((1, K, D), prior(m, v).mean.shape)
        self.assertEqual(
            (2, K, D), prior(m[:0].reshape(2, 0, D), v[:0].reshape(2, 0, D)).mean.shape
        )

    def test_no_sets_and_no_points_are_fine(self):
        for kind in PRIORS:
            prior = PRIORS[kind]()
            for shape, offsets, n_sets in (
                ((0, D), [0], 0),
                ((0, 5, D), None, 0),
                ((2, 0, D), None, 2),
            ):
                m = torch.zeros(shape, dtype=torch.float64).requires_grad_()
                q = prior(m, torch.ones_like(m), offsets, logz=True)
                (q.mean.sum() + q.logz.sum()).backward()
                self.assertEqual((n_sets, m.shape), (len(q.mean), m.grad.shape))

    def test_gradients_of_dense_sets_have_their_shape(self):
        prior, m, v, weight = draw("student")
        dense = m.detach()[:6].reshape(2, 3, D).requires_grad_()
        masked = torch.tensor([[1.0, 1, 0], [1, 1, 1]], dtype=torch.float64)
        prior(dense, v.detach()[:6].reshape(2, 3, D), weight=masked).mean.sum().backward()
        self.assertEqual(dense.shape, dense.grad.shape)
        self.assertTrue(torch.all(dense.grad[0, 2] == 0) and torch.all(dense.grad[1] != 0))

    def test_a_negated_view_has_its_sign(self):
        """Such a tensor is contiguous here, and its memory has the number with the other sign."""
        negated = torch.tensor([[1 + 2j]], dtype=torch.complex128).conj().imag
        self.assertTrue(negated.is_neg() and negated.is_contiguous())
        prior, one = nt.GaussianPrior(1, dtype=torch.float64), torch.ones_like(negated)
        self.assertEqual(-1.0, prior(negated, one.clone()).mean.item())

    def test_offsets_of_any_kind_are_the_same_and_warn_of_nothing(self):
        prior, m, v, _ = draw("gaussian")
        fixed = np.array(OFFSETS)
        fixed.setflags(write=False)
        want = prior(m, v, torch.tensor(OFFSETS)).mean
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for offsets in (OFFSETS, tuple(OFFSETS), fixed, np.array(OFFSETS[::-1])[::-1]):
                self.assertTrue(torch.equal(want, prior(m, v, offsets).mean))

    def test_without_gradients_no_cache_is_filled(self):
        prior, m, v, _ = draw("student")
        seen, forward = [], npagg._abi.F64.infer_forward
        self.addCleanup(setattr, npagg._abi.F64, "infer_forward", forward)
        npagg._abi.F64.infer_forward = lambda *a: seen.append(a[-1]) or forward(*a)
        with torch.no_grad():
            prior(m, v, OFFSETS)
        prior(m, v, OFFSETS)
        prior.requires_grad_(False)(m.detach(), v.detach(), OFFSETS)
        self.assertEqual([True, False, True], [cache is None for cache in seen])

    def test_weights_that_nobody_reads_are_left_out_and_change_no_gradient(self):
        """By default; settings of the caller's are taken as they are."""
        sizes, gradients, forward = [], [], npagg._abi.F64.infer_forward

        def measured(*arguments):
            status = forward(*arguments)
            sizes.append(npagg._abi.C.cache_bytes(arguments[-1]))
            return status

        self.addCleanup(setattr, npagg._abi.F64, "infer_forward", forward)
        npagg._abi.F64.infer_forward = measured
        for vmp in (None, npagg.Vmp(), npagg.Vmp(weights=False)):
            prior, m, v, _ = draw("student")
            nt.aggregate(m, v, OFFSETS, prior, vmp=vmp).mean.sum().backward()
            gradients.append(torch.cat([m.grad, v.grad]))
        self.assertTrue(all(torch.equal(gradients[0], g) for g in gradients))
        self.assertTrue(sizes[0] == sizes[2] < sizes[1])

    def test_tensors_are_not_copied(self):
        prior, m, v, _ = draw("gaussian")
        seen, forward = [], npagg._abi.F64.infer_forward
        self.addCleanup(setattr, npagg._abi.F64, "infer_forward", forward)
        npagg._abi.F64.infer_forward = lambda *a: seen.append(a) or forward(*a)
        mean = prior(m, v, OFFSETS).mean
        self.assertEqual(
            (m.data_ptr(), v.data_ptr(), mean.data_ptr()), (seen[0][6], seen[0][7], seen[0][9])
        )

    def test_parameters_alone_or_rows_alone_may_want_gradients(self):
        prior, m, v, _ = draw("gaussian")
        prior(m.detach(), v.detach(), OFFSETS).mean.sum().backward()
        self.assertTrue(all(p.grad is not None for p in prior.parameters()))
        prior.requires_grad_(False).zero_grad()
        prior(m, v.detach(), OFFSETS, logz=True).logz.sum().backward()
        self.assertIsNotNone(m.grad)
        self.assertIsNone(v.grad)
        with torch.no_grad():
            self.assertFalse(prior(m, v, OFFSETS).mean.requires_grad)

    def test_a_graph_may_be_used_twice(self):
        prior, m, v, _ = draw("student")
        loss = prior(m, v, OFFSETS).mean.sum()
        loss.backward(retain_graph=True)
        once = m.grad.clone()
        loss.backward()
        self.assertTrue(torch.equal(2 * once, m.grad))

    def test_modules_are_copied_saved_and_cast(self):
        prior, m, v, _ = draw("robust_mixture")
        want = prior(m, v, OFFSETS).mean
        self.assertTrue(torch.equal(want, copy.deepcopy(prior)(m, v, OFFSETS).mean))
        file = io.BytesIO()
        torch.save(prior, file)
        file.seek(0)
        self.assertTrue(torch.equal(want, torch.load(file)(m, v, OFFSETS).mean))
        single = copy.deepcopy(prior).float()(m.float(), v.float(), OFFSETS).mean
        self.assertEqual(torch.float32, single.dtype)
        self.assert_close(want.detach(), single.detach(), 1e-4)
        self.assertEqual({"mean", "logvar", "logits", "log_c0"}, set(prior.state_dict()))

    def test_initial_values_are_the_papers(self):
        values = nt.StudentPrior(10, dtype=torch.float64).constrained()
        self.assertEqual(
            {"a0": 1e-5, "b0": 1e-5, "c0": 0.1}, {k: round(float(x), 12) for k, x in values.items()}
        )
        values = nt.MixturePrior(4, 2, dtype=torch.float64).constrained()
        self.assertEqual([0.5, 0.5], values["weights"].tolist())
        self.assertTrue(torch.all(values["var"] == 1))

    def refuse(self, exception, name, **changed):
        prior, m, v, weight = draw("gaussian")
        with self.assertRaisesRegex(exception, rf"\b{name}\b"):
            nt.aggregate(
                **{**dict(m=m, v=v, offsets=OFFSETS, prior=prior, weight=weight), **changed}
            )

    def test_what_does_not_fit_is_named(self):
        _, m, v, weight = draw("gaussian")
        for name, t in (("m", m), ("v", v), ("weight", weight)):
            self.refuse(TypeError, name, **{name: t.detach().numpy()})
            self.refuse(TypeError, name, **{name: t.to("meta")})
            self.refuse(TypeError, name, **{name: t.int()})
            self.refuse(TypeError, name, **{name: t.detach().to_sparse()})
            self.refuse(ValueError, name, **{name: t[None]})
        self.refuse(TypeError, "v", v=v.float())
        self.refuse(ValueError, "v", v=v[:, :2])
        self.refuse(ValueError, "v", v=v[:6])
        self.refuse(ValueError, "offsets", offsets=[0, 3])
        for bad in ([], torch.tensor(OFFSETS)[None], np.array(OFFSETS)[None]):
            self.refuse(ValueError, "offsets", offsets=bad)
        for bad in ("abc", 7, [0, [7]], [0.0, 7.0], np.array([0.0, 7.0])):
            self.refuse(TypeError, "offsets", offsets=bad)
        self.refuse(TypeError, "offsets", offsets=torch.tensor(OFFSETS).int())
        self.refuse(TypeError, "prior", prior=7)
        self.refuse(TypeError, "params", prior=npagg.Prior.gaussian(D))
        self.refuse(TypeError, "params", params=torch.zeros(6, dtype=torch.float64))
        self.refuse(ValueError, "params", prior=npagg.Prior.gaussian(D), params=m[0].detach())
        self.refuse(TypeError, "prior", prior=nt.GaussianPrior(D, dtype=torch.float32))
        self.refuse(TypeError, "vmp", vmp=7)
        self.refuse(
            ValueError, "v", m=m[:6].reshape(2, 3, D), v=v[:6].reshape(3, 2, D), offsets=None
        )
        self.refuse(npagg.Error, "v", v=-v)

    def test_values_changed_in_place_are_noticed(self):
        prior, m, v, _ = draw("gaussian")
        rows = m * 1
        loss = prior(rows, v, OFFSETS).mean.sum()
        rows += 1
        with self.assertRaisesRegex(RuntimeError, "inplace"):
            loss.backward()

    def test_threads_train_at_the_same_time(self):
        import threading

        results = []

        def work(problem):
            prior, m, v, weight = problem
            for _ in range(20):
                outputs(prior(m, v, OFFSETS, weight))[0].sum().backward()
            results.append(m.grad)

        # PyTorch has one generator for all threads: the problems are drawn before they start.
        problems = [draw("robust_mixture") for _ in range(3)]
        work(problems[0])
        threads = [threading.Thread(target=work, args=(p,)) for p in problems[1:]]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(results), 3)
        for other in results[1:]:
            self.assertTrue(torch.equal(results[0], other))


def add_tests():
    for kind in PRIORS:
        for logz in (False, True):
            name = f"test_gradcheck_of_{kind}_{'with' if logz else 'without'}_logz"
            setattr(TorchTest, name, lambda self, k=kind, z=logz: self.check_gradients(k, z))


add_tests()
if __name__ == "__main__":
    support.main()
