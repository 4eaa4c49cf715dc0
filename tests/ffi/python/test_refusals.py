"""What does not fit is refused before the C call, with the name of the argument; what the library
refuses is npagg.Error with its text."""

import os
import tempfile

import numpy as np

import npagg
from npagg import noise

import calls
import support
from calls import OFFSETS

OUTPUTS = {
    "out",
    "dparams",
    "dm",
    "dv",
    "dweight",
    "dx",
    "dy",
    "dz",
    "dq",
    "dp",
    "dlogw",
    "dpy",
    "mean",
    "sd",
    "samples",
    "loglik",
    "weight",
}
INPUT_GRADIENTS = {  # what some functions only read
    "infer_backward": {"dq", "weight"},
    "infer_forward": {"weight"},
    "encoder_backward": {"dm", "dv"},
    "decoder_backward": {"dpy"},
    "posterior_sample_backward": {"dz", "dlogw"},
}


def strided(a):
    """The same numbers, not next to each other."""
    return np.repeat(a, 2, axis=-1)[..., ::2]


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def unaligned(a):
    raw = np.zeros(a.nbytes + 1, np.uint8)[1:]
    b = raw.view(a.dtype).reshape(a.shape)
    b[...] = a
    return b


class Bad:
    """A bad variation of an array, and the exception it must be."""

    def __init__(self, change, exception):
        self.change, self.exception = change, exception


BAD = {
    "no array": Bad(lambda a: object(), TypeError),
    "integers of 16 bits": Bad(lambda a: a.astype(np.int16), TypeError),
    "swapped bytes": Bad(lambda a: a.astype(a.dtype.newbyteorder()), TypeError),
    "one dimension more": Bad(lambda a: a[None], ValueError),
    "masked": Bad(lambda a: np.ma.masked_array(a), TypeError),
    "strided": Bad(strided, ValueError),
    "unaligned": Bad(unaligned, ValueError),
}


class RefusalTest(support.TestCase):
    def refuse(self, exception, name, function, *arguments, **named):
        """The exception, exactly of this type, with the argument's name in its text."""
        with self.assertRaisesRegex(exception, rf"\b{name}\b") as caught:
            function(*arguments, **named)
        self.assertIs(exception, type(caught.exception))

    def refuse_array(self, function, arguments, name, value, bad):
        """One array argument, or one of a tuple of outputs, made bad."""
        if isinstance(value, tuple):
            for i, part in enumerate(value):
                changed = tuple(bad.change(part) if i == j else p for j, p in enumerate(value))
                self.refuse(bad.exception, name, function, **dict(arguments, **{name: changed}))
        else:
            self.refuse(
                bad.exception, name, function, **dict(arguments, **{name: bad.change(value)})
            )

    def each_array(self):
        for symbol, (function, arguments) in calls.World(np.float64).calls().items():
            function(**arguments)  # it is good as it is, and fills the cache of its backward
            for name, value in arguments.items():
                if isinstance(value, (np.ndarray, tuple)):
                    yield symbol, function, arguments, name, value

    def test_every_bad_array_is_named(self):
        seen = 0
        for symbol, function, arguments, name, value in self.each_array():
            for kind, bad in BAD.items():
                with self.subTest(f"{symbol} {name} {kind}"):
                    self.refuse_array(function, arguments, name, value, bad)
                    seen += 1
        self.assertGreater(seen, 700)

    def test_a_pair_of_outputs_is_asked_for(self):
        for symbol, (function, arguments) in calls.World(np.float64).calls().items():
            out = arguments.get("out")
            if isinstance(out, tuple):
                for bad in (out + out, list(out), out[:1]):
                    self.refuse(TypeError, "out", function, **dict(arguments, out=bad))

    def test_an_array_of_the_other_precision_is_named(self):
        single = Bad(lambda a: a.astype(np.float32), TypeError)
        for symbol, function, arguments, name, value in self.each_array():
            decides = next(n for n in ("params", "py", "q", "out") if n in arguments)
            first = value[0] if isinstance(value, tuple) else value
            if name != decides and first.dtype == np.float64:
                with self.subTest(f"{symbol} {name}"):
                    self.refuse_array(function, arguments, name, value, single)

    def test_read_only_outputs_are_named(self):
        seen = 0
        for symbol, function, arguments, name, value in self.each_array():
            if name in OUTPUTS - INPUT_GRADIENTS.get(symbol, set()):
                with self.subTest(f"{symbol} {name}"):
                    self.refuse_array(function, arguments, name, value, Bad(read_only, ValueError))
                    seen += 1
        self.assertGreater(seen, 40)

    def test_too_many_rows_are_named(self):
        """Arrays that C would read beyond: one row less than offsets or sets say."""
        shorter = Bad(lambda a: a[:-1].copy(), ValueError)
        decides = {"q", "noise", "z", "u", "offsets", "ctx_offsets", "tgt_offsets", "params", "py"}
        for symbol, function, arguments, name, value in self.each_array():
            if name not in decides:
                with self.subTest(f"{symbol} {name}"):
                    self.refuse_array(function, arguments, name, value, shorter)

    def test_handles_of_another_kind_or_closed_are_named(self):
        w = calls.World(np.float64)
        for symbol, (function, arguments) in w.calls().items():
            for name in {"prior", "vmp", "cache", "ctx"} & set(arguments):
                with self.subTest(f"{symbol} {name}"):
                    self.refuse(TypeError, name, function, **dict(arguments, **{name: w.encoder}))
                    closed = {
                        "prior": npagg.Prior.gaussian(3),
                        "vmp": npagg.Vmp(),
                        "cache": npagg.Cache(),
                        "ctx": npagg.Context(),
                    }[name]
                    closed.close()
                    self.refuse(ValueError, name, function, **dict(arguments, **{name: closed}))

    def test_methods_of_closed_objects_say_so(self):
        w = calls.World(np.float64)
        table = w.calls()
        for handle, name in ((w.encoder, "encoder"), (w.decoder, "decoder"), (w.model, "model")):
            handle.close()
            for symbol, (function, arguments) in table.items():
                if symbol.startswith(name):
                    self.refuse(ValueError, name, function, **arguments)

    def test_offsets_that_do_not_fit_are_named(self):
        w = calls.World(np.float64)
        infer = lambda o: npagg.infer_forward(w.prior, w.params, w.m, w.v, o)  # noqa: E731
        for bad in (
            np.array([0, 3]),
            np.array([0, 3, 8]),
            np.zeros(0, int),
            np.array([[0, 7]]),
            np.array(7),
            [0, 3],
        ):
            self.refuse(ValueError, "offsets", infer, bad)
        for bad in (OFFSETS.astype(np.int32), OFFSETS.astype(float), [0, 7.0]):
            self.refuse(TypeError, "offsets", infer, bad)
        for bad in ([1, 7], [0, 5, 3, 7], [0, -1, 7]):
            with self.assertRaises(npagg.Error) as caught:
                infer(bad)
            self.assertEqual(npagg.Status.E_ARG, caught.exception.status)
            self.assertIn("offsets", caught.exception.text)

    def test_sets_that_do_not_fit_each_other_are_named(self):
        w = calls.World(np.float64)
        infer = lambda **k: npagg.infer_forward(w.prior, w.params, **k)  # noqa: E731
        m, v = npagg.split(w.m, OFFSETS), npagg.split(w.v, OFFSETS)
        self.refuse(ValueError, "v", infer, m=m, v=npagg.split(w.v, np.array([0, 2, 3, 7])))
        self.refuse(ValueError, "m", infer, m=[], v=[])
        self.refuse(TypeError, "m", infer, m=[[1.0]], v=v)
        self.refuse(ValueError, "v", infer, m=m, v=[v[0], v[1][:, :2], v[2]])
        self.refuse(TypeError, "v", infer, m=m, v=[v[0], v[1], v[2].astype(np.float32)])
        self.refuse(ValueError, "m", infer, m=w.m[0], v=w.v)
        self.refuse(ValueError, "m", infer, m=np.zeros((2, 2, 6))[:, :, ::2], v=np.ones((2, 2, 3)))

    def test_numbers_that_do_not_fit_into_c_are_named(self):
        big = 1 << 64
        self.refuse(ValueError, "d", npagg.Prior.gaussian, big + 1)
        self.refuse(TypeError, "d", npagg.Prior.gaussian, 2.0)
        self.refuse(ValueError, "k", npagg.Prior.mixture, 2, big + 1)
        self.refuse(ValueError, "k", npagg.Prior, "gaussian", 2, 2)
        self.refuse(ValueError, "kind", npagg.Prior, "gauss", 2)
        self.refuse(ValueError, "max_iters", npagg.Vmp, (1 << 32) + 1)
        self.refuse(TypeError, "tolerance", npagg.Vmp, 5, "small")
        self.refuse(ValueError, "grad", npagg.Vmp, 5, 0.0, "backprop")
        self.refuse(TypeError, "weights", npagg.Vmp, 5, 0.0, "unroll", "none")
        self.refuse(ValueError, "threads", npagg.Context, (1 << 32) + 1)
        self.refuse(ValueError, "seed", npagg.Prior.gaussian(2).init_params, -1)
        self.refuse(ValueError, "seed", npagg.Prior.gaussian(2).init_params, big)
        self.refuse(TypeError, "dtype", npagg.Prior.gaussian(2).init_params, 0, np.int32)
        self.refuse(ValueError, "x_dim", npagg.Encoder, big, 1, 2)
        self.refuse(TypeError, "widths", npagg.Encoder, 1, 1, 2, [1.5])
        self.refuse(ValueError, "activation", npagg.Encoder, 1, 1, 2, [3], "swish")
        self.refuse(ValueError, "likelihood", npagg.Decoder, 1, 1, 2, [3], "relu", "poisson")
        self.refuse(TypeError, "sd_floor", npagg.Decoder, 1, 1, 2, [3], "relu", "gaussian", None)
        self.refuse(ValueError, "kind", npagg.Objective, "vae")
        self.refuse(ValueError, "points", npagg.Objective, "elbo", 5, "some")
        self.refuse(ValueError, "stream", noise.normal, 1, -1, 3)
        self.refuse(TypeError, "shape", noise.normal, 1, 1)
        self.refuse(TypeError, "out", noise.uniform, 1, 1, out=np.zeros(3, int))

    def test_a_model_of_wrong_parts_names_them(self):
        w = calls.World(np.float64)
        parts = dict(
            encoder=w.encoder, prior=w.prior, decoder=w.decoder, objective=w.objective, vmp=w.vmp
        )
        for name in parts:
            self.refuse(TypeError, name, npagg.Model, **dict(parts, **{name: w.cache}))

    def test_sizes_of_shapes_cannot_be_set(self):
        """Arrays are compared with them: another number would let C read past an array's end."""
        w = calls.World(np.float64)
        for shape, names in (
            (w.prior, "kind d k n_params n_posterior"),
            (w.encoder, "x_dim y_dim d widths n_params"),
            (w.decoder, "x_dim y_dim d widths n_params n_outputs"),
            (w.objective, "kind"),
            (w.model, "d k x_dim y_dim samples sampling n_params n_posterior n_outputs"),
        ):
            for name in names.split():
                was = getattr(shape, name)
                self.refuse(AttributeError, name, setattr, shape, name, 1)
                self.assertEqual(was, getattr(shape, name))

    def test_a_range_that_is_no_pair_is_named(self):
        for value in (3, (1, 2, 3), "ab", None):
            self.refuse(
                TypeError, "var_range", npagg.Encoder, 1, 1, 2, [], "relu", var_range=value
            )

    def test_unknown_fields_are_key_errors(self):
        w = calls.World(np.float64)
        for look in (
            w.prior.param_offset,
            w.prior.posterior_offset,
            w.encoder.param_offset,
            w.decoder.param_offset,
            w.model.param_offset,
            w.model.size,
        ):
            self.refuse(KeyError, "nothing", look, "nothing")
            self.refuse(ValueError, "NUL", look, "a\0b")
            with self.assertRaises(TypeError):
                look(1)

    def library_refuses(self, status, text, function, *arguments, **named):
        with self.assertRaises(npagg.Error) as caught:
            function(*arguments, **named)
        self.assertEqual(status, caught.exception.status)
        self.assertRegex(caught.exception.text, text)
        self.assertIn("NPAGG_" + status.name, str(caught.exception))

    def test_what_the_library_refuses_has_its_status_and_text(self):
        status, w = npagg.Status, calls.World(np.float64)
        bad = w.v.copy()
        bad[3, 1] = -0.2
        infer = npagg.infer_forward
        self.library_refuses(
            status.E_NUMERIC, r"v\[3,1\] = -0.2", infer, w.prior, w.params, w.m, bad, OFFSETS
        )
        self.library_refuses(status.E_ARG, "d", npagg.Prior.gaussian, 0)
        self.library_refuses(status.E_ARG, "max_iters = 0", npagg.Vmp, 0)
        self.library_refuses(
            status.E_ARG, "var_range = 2.0, 1.0", npagg.Encoder, 1, 1, 2, [], "relu", (2, 1)
        )
        self.library_refuses(status.E_ARG, "0", npagg.Context, 0)
        self.library_refuses(
            status.E_ARG,
            "9",
            npagg.Model,
            w.encoder,
            npagg.Prior.gaussian(9),
            w.decoder,
            w.objective,
        )
        self.library_refuses(status.E_UNSUP, "component", npagg.posterior.kl, w.prior, w.q, w.p)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "none")
            self.library_refuses(status.E_IO, "none", npagg.Model.load, path)
            with open(path, "w") as file:
                file.write("no checkpoint at all")
            self.library_refuses(status.E_FORMAT, ".", npagg.Model.load, path)

    def test_the_cache_says_what_it_does_not_hold(self):
        status, w, cache = npagg.Status, calls.World(np.float64), npagg.Cache()
        for look in (cache.iters, cache.residual, cache.grad_iters, cache.weights):
            self.library_refuses(status.E_STATE, "cache", look)
        self.refuse(IndexError, "b", cache.trace, 0)
        npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, cache=cache)
        self.library_refuses(status.E_STATE, "cache", cache.weights, np.float32)
        self.library_refuses(status.E_STATE, "logz", cache.trace, 0)
        self.library_refuses(status.E_STATE, "backward", cache.grad_iters)
        w.encoder.forward(w.encoder.init_params(), w.x, w.y, OFFSETS, cache=cache)
        self.library_refuses(status.E_STATE, "cache", cache.iters)

    def test_weights_have_the_precision_of_their_forward(self):
        for dtype in (np.float32, np.float64):
            w, cache = calls.World(dtype), npagg.Cache()
            npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, cache=cache)
            self.assert_same_bits(cache.weights(dtype), cache.weights())
            self.assertEqual(dtype, cache.weights().dtype)

    def test_weights_that_were_not_wanted_are_refused_and_change_no_gradient(self):
        w, cache, grads = calls.World(np.float64), npagg.Cache(), []
        for weights in (True, False):
            settings = dict(vmp=npagg.Vmp(weights=weights), cache=cache)
            q = npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, **settings)
            grads.append(
                npagg.infer_backward(w.prior, w.params, w.m, w.v, OFFSETS, dq=q, **settings)
            )
        for want, got in zip(grads[0][:3], grads[1][:3]):
            self.assert_same_bits(want, got)
        self.library_refuses(npagg.Status.E_STATE, "npagg_vmp_set_weights", cache.weights)
        npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, logz=True, **settings)
        self.assertEqual((len(w.m),), cache.weights().shape)

    def test_after_ctrl_c_the_cache_gives_nothing(self):
        """C had come to its end: by the sizes of the forward before it, it would write too much."""
        w, cache, forward = calls.World(np.float64), npagg.Cache(), npagg._abi.F64.infer_forward

        def interrupted(*arguments):
            forward(*arguments)
            raise KeyboardInterrupt

        npagg.infer_forward(w.prior, w.params, w.m[:1], w.v[:1], cache=cache)
        self.addCleanup(setattr, npagg._abi.F64, "infer_forward", forward)
        npagg._abi.F64.infer_forward = interrupted
        with self.assertRaises(KeyboardInterrupt):
            npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, cache=cache)
        for look in (cache.iters, cache.residual, cache.grad_iters, cache.weights):
            self.library_refuses(npagg.Status.E_STATE, "cache", look)
        self.library_refuses(npagg.Status.E_STATE, "cache", cache.trace, 0)

    def test_an_array_refused_by_the_binding_leaves_the_cache_as_it_was(self):
        w, cache = calls.World(np.float64), npagg.Cache()
        npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, cache=cache)
        before = cache.weights()
        self.refuse(
            ValueError,
            "v",
            npagg.infer_forward,
            w.prior,
            w.params,
            w.m,
            w.v[:2],
            OFFSETS,
            cache=cache,
        )
        self.assert_same_bits(before, cache.weights())

    def test_paths_and_names_of_checkpoints_are_checked(self):
        extra = npagg.checkpoint
        self.refuse(TypeError, "path", extra.save_extra, 3, "a", np.zeros(2))
        self.refuse(ValueError, "path", extra.save_extra, "a\0b", "a", np.zeros(2))
        self.refuse(TypeError, "name", extra.save_extra, "a", 3, np.zeros(2))
        self.refuse(ValueError, "array", extra.save_extra, "a", "b", np.zeros((2, 2)))
        self.refuse(ValueError, "n", extra.load_extra, "a", "b", -1)
        self.refuse(TypeError, "n", extra.load_extra, "a", "b")


if __name__ == "__main__":
    support.main()
