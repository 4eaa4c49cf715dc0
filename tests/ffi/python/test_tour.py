"""Every C function is reached through the binding, and arrays are used where they lie."""

import os
import re
import tempfile
from types import SimpleNamespace

import numpy as np

import npagg
from npagg import _abi, noise

import calls
import support
from calls import D, K, N, OFFSETS


class Recorder:
    """Stands in for a C function and writes down that it was called."""

    def __init__(self, seen, symbol, function):
        self.seen, self.symbol, self.function = seen, symbol, function

    def __call__(self, *arguments):
        self.seen.add(self.symbol)
        return self.function(*arguments)


def visit_precision(dtype, path):
    """Calls everything that has a precision."""
    w = calls.World(dtype)
    for function, arguments in w.calls().values():
        function(**arguments)
    npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, cache=w.cache)
    w.cache.weights(dtype)
    noise.normal(1, 2, (3,), dtype)
    noise.uniform(1, 2, (3,), dtype)
    params = w.model.init_params(1, dtype)
    w.model.save(path, params)
    w.model.load_params(path, dtype)
    npagg.checkpoint.save_extra(path, "step", params[:2])
    npagg.checkpoint.load_extra(path, "step", 2, dtype)
    npagg.Model.load(path).tensors(params)
    return w


def visit_settings(w):
    """Calls what has no precision; destroys everything."""
    npagg.library_version(), npagg.status_name(0)
    with npagg.Context(threads=2, alloc=None) as ctx, npagg.Cache(ctx) as cache:
        vmp = npagg.Vmp(grad="implicit", tolerance=1e-9, max_iters=100, ctx=ctx)
        q, _ = npagg.infer_forward(
            w.prior, w.params, w.m, w.v, OFFSETS, logz=True, vmp=vmp, cache=cache
        )
        npagg.infer_backward(w.prior, w.params, w.m, w.v, OFFSETS, dq=q, vmp=vmp, cache=cache)
        cache.nbytes, cache.iters(), cache.residual(), cache.grad_iters(), cache.trace(0), ctx.error
    w.prior.param_offset("mean"), w.prior.posterior_offset("var"), w.model.param_offset("prior")
    w.encoder.param_offset("mean.0.weight"), w.decoder.param_offset("sd.0.bias"), w.encoder.per_set
    w.encoder.trunk = True
    npagg.Prior.gaussian(2), npagg.Prior.student(2), npagg.Prior.mixture(2, 2, robust=True)
    npagg.MeanEncoder(1, 1, 2, [3], [2]), npagg.AttentionEncoder(1, 1, 2, [4], 2, [2])
    for shape in (w.prior, w.vmp, w.encoder, w.decoder, w.objective, w.model, w.cache):
        shape.close()


def counting_context():
    """A context with an allocator of Python's."""
    import ctypes

    libc = ctypes.CDLL(None)
    libc.realloc.restype = ctypes.c_void_p
    libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    return npagg.Context(alloc=lambda p, old, new: libc.realloc(p, new) if new else libc.free(p))


def exceptions():
    """Functions that docs/bindings.md says Python does not reach: "- npagg_x (Python): reason"."""
    path = os.path.join(support.SOURCE_ROOT, "docs", "bindings.md")
    if not os.path.exists(path):
        return set()
    with open(path) as page:
        lines = re.findall(r"^- `?(npagg_\w+)`? \(([^)]*)\)", page.read(), re.MULTILINE)
    return {symbol for symbol, languages in lines if "Python" in languages}


class TourTest(support.TestCase):
    def record(self):
        """Replaces every C function by a recorder of itself until the test is over."""
        seen = set()
        for space, suffix in ((_abi.C, ""), (_abi.F32, "_f32"), (_abi.F64, "_f64")):
            for name, function in list(vars(space).items()):
                if name != "dtype":
                    setattr(space, name, Recorder(seen, f"npagg_{name}{suffix}", function))
                    self.addCleanup(setattr, space, name, function)
        return seen

    def test_every_c_function_is_reached_through_the_binding(self):
        seen = self.record()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            visit_precision(np.float32, path)
            visit_settings(visit_precision(np.float64, path))
        counting_context().close()
        self.assertEqual(set(_abi.symbols()) - seen, exceptions())

    def test_outputs_are_the_arrays_that_were_given(self):
        for dtype in (np.float32, np.float64):
            w = calls.World(dtype)
            q, logz, cache = w.zeros(*w.q.shape), w.zeros(3), w.cache
            out = npagg.infer_forward(
                w.prior, w.params, w.m, w.v, OFFSETS, out=(q, logz), cache=cache
            )
            self.assertTrue(out[0] is q and out[1] is logz)
            self.assertTrue(npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, out=q) is q)
            npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, cache=cache)
            dm = np.ones_like(w.m)
            grads = npagg.infer_backward(
                w.prior, w.params, w.m, w.v, OFFSETS, cache=cache, dq=q, dm=dm
            )
            again = npagg.infer_backward(w.prior, w.params, w.m, w.v, OFFSETS, cache=cache, dq=q)
            self.assertTrue(grads.m is dm)
            self.assert_close(again.m + 1, dm, 1e-6, "gradients are added")
            self.assertIsNone(grads.weight)

    def test_inputs_are_read_where_they_lie(self):
        """A read-only array, and one whose memory is not numpy's, are used without a copy."""
        w = calls.World(np.float64)
        m = np.frombuffer(bytearray(w.m.tobytes())).reshape(w.m.shape)
        m.flags.writeable = False
        seen = SimpleNamespace(at=None)
        forward = _abi.F64.infer_forward
        self.addCleanup(setattr, _abi.F64, "infer_forward", forward)

        def look(*arguments):
            seen.at = arguments[6]
            return forward(*arguments)

        _abi.F64.infer_forward = look
        q = npagg.infer_forward(w.prior, w.params, m, w.v, OFFSETS)
        self.assertEqual(m.ctypes.data, seen.at)
        _abi.F64.infer_forward = forward
        self.assert_same_bits(npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS), q)

    def test_precisions_agree(self):
        single, double = calls.World(np.float32), calls.World(np.float64)
        q = npagg.infer_forward(
            double.prior,
            single.params.astype(float),
            single.m.astype(float),
            single.v.astype(float),
            OFFSETS,
        )
        self.assertEqual(np.float32, single.q.dtype)
        self.assert_close(q, single.q, 1e-5)

    def test_sets_may_be_a_list_an_array_of_equal_sets_or_one_set(self):
        w = calls.World(np.float64)
        infer = lambda *a, **k: npagg.infer_forward(w.prior, w.params, *a, **k)  # noqa: E731
        m, v, weight = (npagg.split(a, OFFSETS) for a in (w.m, w.v, w.weight))
        self.assert_same_bits(w.m, npagg.join(m)[0])
        self.assert_same_bits(OFFSETS, npagg.join(m)[1])
        want = infer(w.m, w.v, OFFSETS, weight=w.weight)
        self.assert_same_bits(want, infer(m, v, weight=weight), "list of arrays")
        self.assert_same_bits(
            want, infer(w.m, w.v, list(OFFSETS), weight=w.weight), "list of offsets"
        )
        equal = infer(w.m[:6], w.v[:6], np.array([0, 2, 4, 6]))
        self.assert_same_bits(equal, infer(w.m[:6].reshape(3, 2, D), w.v[:6].reshape(3, 2, D)))
        self.assert_same_bits(infer(w.m, w.v, np.array([0, N])), infer(w.m, w.v), "one set")
        self.assertEqual(
            (2, w.prior.n_posterior),
            infer(w.m[:0].reshape(2, 0, D), w.v[:0].reshape(2, 0, D)).shape,
        )
        self.assertEqual((0, w.prior.n_posterior), infer(w.m[:0], w.v[:0], np.array([0])).shape)

    def test_fields_are_views(self):
        w = calls.World(np.float64)
        params = w.params.copy()
        fields = w.prior.split_params(params)
        self.assertEqual(
            {"mean": (K, D), "logvar": (K, D), "logits": (K,), "log_c0": ()},
            {f: a.shape for f, a in fields.items()},
        )
        fields["logits"][:] = 7
        self.assertEqual([7, 7], params[w.prior.param_offset("logits") :][:K].tolist())
        for a in (*fields.values(), *w.prior.split_posterior(w.q).values()):
            self.assertTrue(np.shares_memory(a, params) or np.shares_memory(a, w.q))

    def test_settings_are_read_back_and_survive_pickling(self):
        import pickle

        shapes = [
            npagg.Prior.mixture(3, 2, robust=True),
            npagg.Vmp(7, 1e-3, "last_step", False),
            npagg.Encoder(1, 2, 3, [4, 5], "gelu", (1e-3, 2.0), True),
            npagg.MeanEncoder(1, 2, 3, [4, 5], [2, 3], "tanh", (1e-3, 2.0)),
            npagg.AttentionEncoder(1, 2, 3, [5, 4], 2, [3], "gelu", (1e-6, 0.5)),
            npagg.Decoder(1, 2, 3, [4], "sigmoid", "bernoulli", 0.2),
            npagg.Objective("iwae", 3, "target", "none", "chosen", "matched"),
        ]
        for shape in shapes:
            again = pickle.loads(pickle.dumps(shape))
            self.assertEqual(shape.__reduce__(), again.__reduce__())
            for name, value in vars(shape).items():
                if not name.startswith("_"):
                    self.assertEqual(value, getattr(again, name), name)
        self.assertEqual(2, pickle.loads(pickle.dumps(npagg.Error(-2, "text"))).status * -1)


if __name__ == "__main__":
    support.main()
