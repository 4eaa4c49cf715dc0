"""Models: encoder -> inference -> samples -> decoder -> objective as one function (model.h)."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import checkpoint
from ._abi import C
from ._check import (
    INT32,
    INT64,
    gradient,
    int64s,
    integer,
    output,
    ragged,
    rank,
    read,
    read_or_null,
    real_for,
    real_of,
    sets,
    text,
    write,
)
from ._handle import Handle, address, address_or_null, create
from .ctx import Cache, Context, context
from .decoder import Decoder
from .encoder import Encoder
from .infer import Vmp
from .objective import Objective
from .posterior import Sampling
from .prior import Prior

Array = np.ndarray
Maybe = Optional[np.ndarray]


class Prediction(NamedTuple):
    """What a model says of its targets; None where it was not asked for."""

    mean: Maybe  # [M,Y]
    sd: Maybe  # [M,Y]
    samples: Maybe  # [M,S,2Y], or [M,S,Y] logits
    loglik: Maybe  # [M]
    weight: Maybe  # [Nc], E[beta_i] of the context


class Model(Handle):
    """Stages joined to one differentiable function of one flat array of parameters [P].

    Set b of a batch is a task: its rows of x [N,X], y [N,Y] are its context, the first n_ctx[b],
    then its targets; offsets [B+1]. Without offsets, x and y are lists of arrays, or [B,n,X],
    [B,n,Y]. noise [B,S,D] is standard normal, which [B,S] int32 the component of each sample (None
    where the sampling does not read it); S is the objective's number of samples.

    An encoder of sets (MeanEncoder, AttentionEncoder) gives q itself: prior and vmp are None.

    The model copies the shapes it is made of. ``d``, ``k``, ``x_dim``, ``y_dim``, ``samples``,
    ``n_params`` = P, ``n_posterior`` = Q, ``n_outputs`` per point and sample.
    """

    _fixed = frozenset(
        {"d", "k", "x_dim", "y_dim", "samples", "sampling", "n_params", "n_posterior", "n_outputs"}
    )

    def __init__(
        self,
        encoder: Encoder,
        prior: Optional[Prior],
        decoder: Decoder,
        objective: Objective,
        vmp: Optional[Vmp] = None,
        ctx: Optional[Context] = None,
    ) -> None:
        create(
            self,
            context(ctx),
            C.model_create,
            C.model_destroy,
            address(encoder, Encoder, "encoder"),
            address_or_null(prior, Prior, "prior"),
            address_or_null(vmp, Vmp, "vmp"),
            address(decoder, Decoder, "decoder"),
            address(objective, Objective, "objective"),
        )
        self._count()

    @classmethod
    def load(cls, path: Any, ctx: Optional[Context] = None) -> "Model":
        """A model of the shape that a checkpoint says; load_params reads its parameters."""
        self = cls.__new__(cls)
        create(self, context(ctx), C.model_load, C.model_destroy, checkpoint.path_bytes(path))
        self._count()
        return self

    def _count(self) -> None:
        self.n_params: int = C.model_param_count(self._h)
        self.d, self.k, self.n_posterior = self.size("d"), self.size("k"), self.size("q")
        self.x_dim, self.y_dim = self.size("x"), self.size("y")
        self.samples, self.n_outputs = self.size("samples"), self.size("outputs")
        self.sampling = Sampling(self.size("sampling"))

    def size(self, name: str) -> int:
        """A size by its name in model.h; KeyError for another."""
        size = C.model_size(address(self, Model, "model"), text(name, "name"))
        if size < 0:
            raise KeyError(name)
        return size

    def param_offset(self, field: str) -> int:
        """Where a stage ("encoder", "prior", "decoder") or a tensor begins; KeyError if none."""
        offset = C.model_param_offset(address(self, Model, "model"), text(field, "field"))
        if offset < 0:
            raise KeyError(field)
        return offset

    def tensor_shapes(self) -> Dict[str, Tuple[int, Tuple[int, ...]]]:
        """Name of each tensor -> (offset, shape), in their order."""
        handle, shapes = address(self, Model, "model"), {}
        numbers = (ctypes.c_int64 * 3)()
        at = ctypes.addressof(numbers)
        for i in range(C.model_tensor_count(handle)):
            C.model_tensor_shape(handle, i, at, at + 8, at + 16)
            offset, rows, columns = numbers
            name = C.model_tensor_name(handle, i).decode()
            shapes[name] = offset, (rows, columns) if columns else (rows,)
        return shapes

    def tensors(self, params: Array) -> Dict[str, Array]:
        """Views of params [P], or of its gradient, by the names of tensors."""
        read(params, "params", real_of(params, "params").dtype, (self.n_params,))
        return {
            name: params[offset : offset + int(np.prod(shape))].reshape(shape)
            for name, (offset, shape) in self.tensor_shapes().items()
        }

    def init_params(
        self, seed: int = 0, dtype: Any = None, out: Maybe = None, ctx: Optional[Context] = None
    ) -> Array:
        """params [P], every stage's own initial values; float64 unless dtype or out say so."""
        real = real_for(dtype) if out is None else real_of(out, "out")
        handle = address(self, Model, "model")
        out, to = output(out, "out", real.dtype, (self.n_params,))
        context(ctx).call(
            real.model_init_params, handle, integer(seed, "seed", 64, signed=False), to
        )
        return out

    def _task(
        self, params: Array, x: Any, y: Any, n_ctx: Any, noise: Array, offsets: Any, which: Maybe
    ) -> Tuple[Any, int, tuple, tuple]:
        """(functions, B, the arguments from model to which, arrays to keep meanwhile)."""
        handle, real = address(self, Model, "model"), real_of(params, "params")
        dtype = real.dtype
        if type(offsets) is not np.ndarray:
            offsets, x, y = ragged(offsets, ("x", x, 1), ("y", y, 1))
        n_ctx = int64s(n_ctx, "n_ctx")
        n = rank(x, "x", 2)[0]
        n_sets, starts = sets(offsets, n, of="x")
        s = self.samples
        return (
            real,
            n_sets,
            (
                handle,
                read(params, "params", dtype, (self.n_params,)),
                n_sets,
                starts,
                read(n_ctx, "n_ctx", INT64, (n_sets,)),
                read(x, "x", dtype, (n, self.x_dim)),
                read(y, "y", dtype, (n, self.y_dim)),
                read(noise, "noise", dtype, (n_sets, s, self.d)),
                read_or_null(which, "which", INT32, (n_sets, s)),
            ),
            (offsets, n_ctx, x, y),
        )

    def _gradient(self, dparams: Maybe, dtype: np.dtype) -> Tuple[Array, int]:
        """(array [P], address): the caller's, to be added to, or a new one of zeros."""
        dparams = np.zeros(self.n_params, dtype) if dparams is None else dparams
        return dparams, write(dparams, "dparams", dtype, (self.n_params,))

    def forward(
        self,
        params: Array,
        x: Any,
        y: Any,
        n_ctx: Sequence[int],
        noise: Array,
        offsets: Any = None,
        which: Maybe = None,
        *,
        out: Maybe = None,
        cache: Optional[Cache] = None,
        ctx: Optional[Context] = None,
    ) -> Array:
        """loss [B], one per task, to be minimised."""
        real, n_sets, arguments, _keep = self._task(params, x, y, n_ctx, noise, offsets, which)
        out, to = output(out, "out", real.dtype, (n_sets,))
        context(ctx).call(
            real.model_forward, *arguments, to, address_or_null(cache, Cache, "cache")
        )
        return out

    def backward(
        self,
        params: Array,
        x: Any,
        y: Any,
        n_ctx: Sequence[int],
        noise: Array,
        offsets: Any = None,
        which: Maybe = None,
        *,
        cache: Cache,
        dloss: Maybe = None,
        dparams: Maybe = None,
        ctx: Optional[Context] = None,
    ) -> Array:
        """dparams [P], added to if given, of sum(dloss * loss); dloss None is 1/B each."""
        real, n_sets, arguments, _keep = self._task(params, x, y, n_ctx, noise, offsets, which)
        dloss = _mean(n_sets, real.dtype) if dloss is None else dloss
        dparams, to = self._gradient(dparams, real.dtype)
        context(ctx).call(
            real.model_backward,
            *arguments,
            read(dloss, "dloss", real.dtype, (n_sets,)),
            to,
            address(cache, Cache, "cache"),
        )
        return dparams

    def step(
        self,
        params: Array,
        x: Any,
        y: Any,
        n_ctx: Sequence[int],
        noise: Array,
        offsets: Any = None,
        which: Maybe = None,
        *,
        dloss: Maybe = None,
        out: Maybe = None,
        dparams: Maybe = None,
        ctx: Optional[Context] = None,
    ) -> Tuple[Array, Array]:
        """(loss [B], dparams [P]): forward and backward at once. out: the array for loss."""
        real, n_sets, arguments, _keep = self._task(params, x, y, n_ctx, noise, offsets, which)
        dloss = _mean(n_sets, real.dtype) if dloss is None else dloss
        out, to_loss = output(out, "out", real.dtype, (n_sets,))
        dparams, to = self._gradient(dparams, real.dtype)
        context(ctx).call(
            real.model_step, *arguments, read(dloss, "dloss", real.dtype, (n_sets,)), to_loss, to
        )
        return out, dparams

    def predict(
        self,
        params: Array,
        xc: Any,
        yc: Any,
        xt: Any,
        noise: Array,
        *,
        ctx_offsets: Any = None,
        tgt_offsets: Any = None,
        yt: Any = None,
        which: Maybe = None,
        mean: Any = True,
        sd: Any = True,
        samples: Any = None,
        loglik: Any = None,
        weight: Any = None,
        ctx: Optional[Context] = None,
    ) -> Prediction:
        """Predictions at xt [M,X] from the context xc [Nc,X], yc [Nc,Y], with z of it.

        noise [B,S,D] for any S; which [B,S] for mixtures. mean, sd [M,Y], samples [M,S,outputs],
        loglik [M], which needs yt [M,Y], and weight [Nc] are each an array to write to, True for a
        new one, or None.
        """
        handle, real = address(self, Model, "model"), real_of(params, "params")
        dtype = real.dtype
        ctx_offsets, xc, yc = ragged(ctx_offsets, ("xc", xc, 1), ("yc", yc, 1), name="ctx_offsets")
        tgt_offsets, xt, yt = ragged(tgt_offsets, ("xt", xt, 1), ("yt", yt, 1), name="tgt_offsets")
        nc, m = rank(xc, "xc", 2)[0], rank(xt, "xt", 2)[0]
        n_sets, context_at = sets(ctx_offsets, nc, "ctx_offsets", "xc")
        n_targets, target_at = sets(tgt_offsets, m, "tgt_offsets", "xt")
        if n_targets != n_sets:
            raise ValueError(f"tgt_offsets has {n_targets} sets, ctx_offsets has {n_sets}")
        s = rank(noise, "noise", 3)[1]
        results = [
            gradient(a, name, dtype, shape)
            for a, name, shape in (
                (mean, "mean", (m, self.y_dim)),
                (sd, "sd", (m, self.y_dim)),
                (samples, "samples", (m, s, self.n_outputs)),
                (loglik, "loglik", (m,)),
                (weight, "weight", (nc,)),
            )
        ]
        context(ctx).call(
            real.model_predict,
            handle,
            read(params, "params", dtype, (self.n_params,)),
            n_sets,
            context_at,
            read(xc, "xc", dtype, (nc, self.x_dim)),
            read(yc, "yc", dtype, (nc, self.y_dim)),
            target_at,
            read(xt, "xt", dtype, (m, self.x_dim)),
            read_or_null(yt, "yt", dtype, (m, self.y_dim)),
            s,
            read(noise, "noise", dtype, (n_sets, s, self.d)),
            read_or_null(which, "which", INT32, (n_sets, s)),
            *(to for _, to in results),
        )
        return Prediction(*(a for a, _ in results))

    def infer(
        self,
        params: Array,
        x: Any,
        y: Any,
        offsets: Any = None,
        *,
        out: Maybe = None,
        ctx: Optional[Context] = None,
    ) -> Array:
        """q [B,Q] of the context x [N,X], y [N,Y] alone."""
        handle, real = address(self, Model, "model"), real_of(params, "params")
        offsets, x, y = ragged(offsets, ("x", x, 1), ("y", y, 1))
        n, dtype = rank(x, "x", 2)[0], real.dtype
        n_sets, starts = sets(offsets, n, of="x")
        out, to = output(out, "out", dtype, (n_sets, self.n_posterior))
        context(ctx).call(
            real.model_infer,
            handle,
            read(params, "params", dtype, (self.n_params,)),
            n_sets,
            starts,
            read(x, "x", dtype, (n, self.x_dim)),
            read(y, "y", dtype, (n, self.y_dim)),
            to,
        )
        return out

    def choose(
        self, q: Array, u: Array, *, out: Maybe = None, ctx: Optional[Context] = None
    ) -> Array:
        """which [B,S] int32, drawn by the mixing weights in q [B,Q] with uniforms u [B,S]."""
        handle, real = address(self, Model, "model"), real_of(q, "q")
        n_sets, s = rank(u, "u", 2)
        out, to = output(out, "out", INT32, (n_sets, s))
        context(ctx).call(
            real.model_choose,
            handle,
            n_sets,
            s,
            read(q, "q", real.dtype, (n_sets, self.n_posterior)),
            read(u, "u", real.dtype, (n_sets, s)),
            to,
        )
        return out

    def save(self, path: Any, params: Array, ctx: Optional[Context] = None) -> None:
        """Writes shape and params [P] to a safetensors file."""
        handle, real = address(self, Model, "model"), real_of(params, "params")
        context(ctx).call(
            real.model_save,
            handle,
            read(params, "params", real.dtype, (self.n_params,)),
            checkpoint.path_bytes(path),
        )

    def load_params(
        self, path: Any, dtype: Any = None, out: Maybe = None, ctx: Optional[Context] = None
    ) -> Array:
        """params [P] of a file with the same tensors; float64 unless dtype or out say so."""
        real = real_for(dtype) if out is None else real_of(out, "out")
        handle = address(self, Model, "model")
        out, to = output(out, "out", real.dtype, (self.n_params,))
        context(ctx).call(real.model_load_params, handle, checkpoint.path_bytes(path), to)
        return out


def _mean(n_sets: int, dtype: np.dtype) -> Array:
    return np.full(n_sets, 1.0 / max(n_sets, 1), dtype)
