"""Aggregation as a differentiable function of PyTorch, and a module for every prior.

Mean pooling in an existing neural process becomes inference in three lines::

    self.prior = npagg.torch.GaussianPrior(d)            # in __init__
    m, v = r[..., :d], 1e-4 + sigmoid(r[..., d:])        # the encoder's output, twice as wide
    r = self.prior(m, v).mean                            # instead of r.mean(dim=1)

Tensors are on the CPU, float32 or float64, and are used where they lie; only one that is not
contiguous is copied, as by Tensor.contiguous(). Gradients reach m, v, weight and the parameters of
the prior; second derivatives are not there.
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ._abi import F32, F64
from ._check import int64s
from ._handle import address, address_or_null
from .ctx import Cache, Context, context
from .infer import Vmp
from .prior import Prior

_REALS = {torch.float32: F32, torch.float64: F64}
_DEFAULTS = Vmp(weights=False)  # a call's cache is its own: nobody can ask it for the weights

__all__ = [
    "GaussianPrior",
    "MixturePrior",
    "Posterior",
    "PriorModule",
    "RobustMixturePrior",
    "StudentPrior",
    "aggregate",
]


class Posterior(NamedTuple):
    """q(z) of each of B sets. One component: mean, var [B,D], logw None."""

    mean: Tensor  # [B,D], of a mixture [B,K,D]
    var: Tensor  # likewise
    logw: Optional[Tensor]  # [B,K], log of the posterior mixing weights
    logz: Optional[Tensor]  # [B], log evidence or its lower bound, if asked for


def _check(t: Any, name: str, dtype: torch.dtype, shape: Tuple[int, ...]) -> Tensor:
    """The tensor, contiguous, if it is one that C can read."""
    if not isinstance(t, Tensor):
        raise TypeError(f"{name} is {type(t).__name__}, want a torch.Tensor")
    if t.device.type != "cpu":
        raise TypeError(f"{name} is on {t.device}, want cpu")
    if t.layout is not torch.strided:
        raise TypeError(f"{name} has layout {t.layout}, want torch.strided")
    if t.dtype is not dtype:
        raise TypeError(f"{name} has dtype {t.dtype}, want {dtype}")
    if t.shape != shape:
        raise ValueError(f"{name} has shape {list(t.shape)}, want {list(shape)}")
    return _dense(t)


def _dense(t: Tensor) -> Tensor:
    """What data_ptr() can be taken of; t itself unless it is strided, or a view that is negated."""
    return t.resolve_neg().contiguous()


class _Call:
    """One inference: the shapes and settings that forward and backward share."""

    def __init__(
        self,
        prior: Prior,
        vmp: Optional[Vmp],
        offsets: Tensor,
        dtype: torch.dtype,
        logz: bool,
        ctx: Optional[Context],
    ) -> None:
        self.prior, self.vmp, self.offsets, self.logz, self.ctx = prior, vmp, offsets, logz, ctx
        self.real = _REALS[dtype]
        self.n_sets = len(offsets) - 1
        self.differentiable = torch.is_grad_enabled()  # Function.forward cannot see it
        self.cache: Optional[Cache] = None

    def inputs(self, params: Tensor, m: Tensor, v: Tensor, weight: Optional[Tensor]) -> tuple:
        """The arguments from prior to weight."""
        return (
            address(self.prior, Prior, "prior"),
            address_or_null(self.vmp, Vmp, "vmp"),
            params.data_ptr(),
            self.n_sets,
            self.offsets.data_ptr(),
            m.data_ptr(),
            v.data_ptr(),
            _pointer(weight),
        )


def _pointer(t: Optional[Tensor]) -> Optional[int]:
    return None if t is None else t.data_ptr()


class _Aggregate(torch.autograd.Function):
    """(params [P], m, v [N,D], weight [N] or None) -> q [B,Q], and logz [B] if call.logz."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx, call: _Call, params: Tensor, m: Tensor, v: Tensor, weight: Optional[Tensor]
    ):
        if call.differentiable and any(ctx.needs_input_grad):
            call.cache = Cache(call.ctx)
        q = m.new_empty((call.n_sets, call.prior.n_posterior))
        logz = m.new_empty(call.n_sets) if call.logz else None
        context(call.ctx).call(
            call.real.infer_forward,
            *call.inputs(params, m, v, weight),
            q.data_ptr(),
            _pointer(logz),
            address_or_null(call.cache, Cache, "cache"),
        )
        ctx.call = call
        ctx.save_for_backward(params, m, v, weight)
        return (q, logz) if call.logz else (q,)

    @staticmethod
    @once_differentiable
    def backward(ctx, dq: Optional[Tensor], dlogz: Optional[Tensor] = None):
        call: _Call = ctx.call
        inputs = ctx.saved_tensors
        grads: List[Optional[Tensor]] = [
            torch.zeros_like(t) if needed else None
            for t, needed in zip(inputs, ctx.needs_input_grad[1:])
        ]
        dq = None if dq is None else _dense(dq)
        dlogz = None if dlogz is None else _dense(dlogz)
        context(call.ctx).call(
            call.real.infer_backward,
            *call.inputs(*inputs),
            _pointer(dq),
            _pointer(dlogz),
            *map(_pointer, grads),
            address(call.cache, Cache, "cache"),
        )
        return (None, *grads)


def _flatten(m: Tensor, offsets: Any) -> Tuple[Tensor, bool]:
    """(offsets [B+1] int64 of m's sets, whether m is [B,n,D])."""
    if not isinstance(m, Tensor):
        raise TypeError(f"m is {type(m).__name__}, want a torch.Tensor")
    if offsets is None:
        if m.dim() not in (2, 3):
            raise ValueError(
                f"m has shape {list(m.shape)}, want [N,D], [B,n,D], or [N,D] with offsets"
            )
        n_sets, n = m.shape[:2] if m.dim() == 3 else (1, m.shape[0])
        return torch.arange(n_sets + 1) * n, m.dim() == 3
    if m.dim() != 2:
        raise ValueError(f"m has shape {list(m.shape)}, want [N,D] with offsets")
    if not isinstance(offsets, Tensor):
        offsets = torch.from_numpy(np.array(int64s(offsets, "offsets")))
    if offsets.dim() != 1 or not len(offsets):
        raise ValueError(f"offsets has shape {list(offsets.shape)}, want [B+1]")
    offsets = _check(offsets, "offsets", torch.int64, offsets.shape)
    if offsets[-1] != m.shape[0]:
        raise ValueError(f"offsets ends at {int(offsets[-1])}, but m has {m.shape[0]} rows")
    return offsets, False


def _rows(
    t: Any, name: str, dtype: torch.dtype, shape: Tuple[int, ...], dense: bool, by: Tensor
) -> Any:
    """A ragged argument as rows; shape is that of its rows."""
    if dense and isinstance(t, Tensor):
        n_sets = len(by) - 1
        wanted = (
            n_sets,
            shape[0] // n_sets if n_sets else t.shape[1] if t.dim() > 1 else 0,
            *shape[1:],
        )
        return _check(t, name, dtype, wanted).reshape(shape)
    return _check(t, name, dtype, shape)


def _shape_and_params(prior: Any, params: Optional[Tensor]) -> Tuple[Prior, Any]:
    """A module has its parameters; a plain prior needs them as an argument."""
    if isinstance(prior, PriorModule):
        if params is not None:
            raise TypeError("params are those of the prior, which is a module")
        return prior.shape, prior.flat()
    if not isinstance(prior, Prior):
        raise TypeError(f"prior is {type(prior).__name__}, want a PriorModule or an npagg.Prior")
    return prior, params


def _unpack(shape: Prior, q: Tensor, logz: Optional[Tensor]) -> Posterior:
    """Views of q [B,Q]."""
    size = shape.k * shape.d
    if shape.kind != "mixture":
        return Posterior(q[:, :size], q[:, size:], None, logz)
    mean, var = (q[:, i * size : (i + 1) * size].reshape(-1, shape.k, shape.d) for i in range(2))
    return Posterior(mean, var, q[:, 2 * size :], logz)


def aggregate(
    m: Tensor,
    v: Tensor,
    offsets: Any,
    prior: Union["PriorModule", Prior],
    params: Optional[Tensor] = None,
    *,
    weight: Optional[Tensor] = None,
    vmp: Optional[Vmp] = None,
    logz: bool = False,
    ctx: Optional[Context] = None,
) -> Posterior:
    """Posterior of each set of factors N(z | m_i, v_i), differentiable.

    m, v [N,D] with offsets [B+1] (tensor, numpy array or list), or, with offsets None, [B,n,D] for
    B sets of one size, or [N,D] for one set. prior: a module, or an npagg.Prior with its flat
    params [P]. weight [N] or [B,n]: a multiplicity, 0 masks a row. vmp: settings of the message
    passing, e.g. npagg.Vmp(max_iters=10, weights=False), as nothing here reads the weights. logz:
    also the evidence.
    """
    shape, params = _shape_and_params(prior, params)
    by, dense = _flatten(m, offsets)
    dtype = m.dtype
    if dtype not in _REALS:
        raise TypeError(f"m has dtype {dtype}, want float32 or float64")
    n = m.shape[0] * m.shape[1] if dense else m.shape[0]
    m = _rows(m, "m", dtype, (n, shape.d), dense, by)
    v = _rows(v, "v", dtype, (n, shape.d), dense, by)
    if weight is not None:
        weight = _rows(weight, "weight", dtype, (n,), dense, by)
    name = "prior" if isinstance(prior, PriorModule) else "params"
    params = _check(params, name, dtype, (shape.n_params,))
    call = _Call(shape, _DEFAULTS if vmp is None else vmp, by, dtype, logz, ctx)
    q, *evidence = _Aggregate.apply(call, params, m, v, weight)
    return _unpack(shape, q, evidence[0] if logz else None)


class PriorModule(nn.Module):
    """Base of the modules below: a prior whose parameters are nn.Parameters by their C names.

    module(m, v, offsets=None, weight=None, logz=False) is :func:`aggregate` with this prior.
    seed: of the initial values, which are the paper's. vmp: settings of the message passing.
    """

    def __init__(
        self,
        shape: Prior,
        seed: int = 0,
        vmp: Optional[Vmp] = None,
        dtype: Optional[torch.dtype] = None,
    ) -> None:
        super().__init__()
        values = shape.split_params(shape.init_params(seed))
        self.shape, self.vmp, self.fields = shape, vmp, tuple(values)
        dtype = torch.get_default_dtype() if dtype is None else dtype
        for field, value in values.items():
            self.register_parameter(field, nn.Parameter(torch.tensor(value, dtype=dtype)))

    def flat(self) -> Tensor:
        """The parameters as one array [P], as the library lays them out."""
        return torch.cat([getattr(self, field).reshape(-1) for field in self.fields])

    def constrained(self) -> Dict[str, Tensor]:
        """Variances for "logvar", mixing weights for "logits", a0, b0, c0; without gradients."""
        flat = self.flat().detach().numpy()
        names = {
            "logvar": "var",
            "logits": "weights",
            "log_a0": "a0",
            "log_b0": "b0",
            "log_c0": "c0",
        }
        values = self.shape.split_params(self.shape.constrained(flat))
        return {names.get(f, f): torch.from_numpy(x) for f, x in values.items()}

    def forward(
        self,
        m: Tensor,
        v: Tensor,
        offsets: Any = None,
        weight: Optional[Tensor] = None,
        logz: bool = False,
        ctx: Optional[Context] = None,
    ) -> Posterior:
        return aggregate(m, v, offsets, self, weight=weight, vmp=self.vmp, logz=logz, ctx=ctx)

    def extra_repr(self) -> str:
        return repr(self.shape)


Dtype = Union[torch.dtype, None]


class GaussianPrior(PriorModule):
    """z ~ N(mean, exp(logvar)): Bayesian aggregation. Parameters mean, logvar [1,D]."""

    def __init__(
        self,
        d: int,
        robust: bool = False,
        seed: int = 0,
        vmp: Optional[Vmp] = None,
        dtype: Dtype = None,
    ) -> None:
        super().__init__(Prior.gaussian(d, robust), seed, vmp, dtype)


class MixturePrior(PriorModule):
    """z from k Gaussians. Parameters mean, logvar [K,D], logits [K]; if robust also log_c0."""

    def __init__(
        self,
        d: int,
        k: int,
        robust: bool = False,
        seed: int = 0,
        vmp: Optional[Vmp] = None,
        dtype: Dtype = None,
    ) -> None:
        super().__init__(Prior.mixture(d, k, robust), seed, vmp, dtype)


class RobustMixturePrior(MixturePrior):
    """z from k Gaussians, Student-t factors: several modes, and outliers lose their weight."""

    def __init__(
        self, d: int, k: int, seed: int = 0, vmp: Optional[Vmp] = None, dtype: Dtype = None
    ) -> None:
        super().__init__(d, k, True, seed, vmp, dtype)


class StudentPrior(PriorModule):
    """z ~ N(0, 1/alpha), Gamma on alpha, Student-t factors. Parameters log_a0, log_b0, log_c0."""

    def __init__(
        self, d: int, seed: int = 0, vmp: Optional[Vmp] = None, dtype: Dtype = None
    ) -> None:
        super().__init__(Prior.student(d), seed, vmp, dtype)
