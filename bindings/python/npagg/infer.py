"""Inference: factors (m_i, v_i) of ragged sets -> posterior of each set, and back (infer.h)."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._abi import C
from ._check import gradient, number, output, pair, ragged, rank, read, read_or_null, real_of, sets
from ._handle import Handle, address, address_or_null, create
from ._setting import Setting, flag, int32, one_of
from .ctx import Cache, Context, context
from .prior import Prior


class Grad(IntEnum):
    """How backward goes through the sweeps."""

    UNROLL = 0
    LAST_STEP = 1
    IMPLICIT = 2


class Vmp(Handle):
    """Settings of the message passing; where one is asked for, None means the defaults.

    max_iters: at most so many sweeps. tolerance: a set stops at this residual, 0 runs all sweeps.
    grad: "unroll", "last_step" or "implicit". weights: whether a forward with a cache also computes
    E[beta_i] after the last sweep; where nobody reads ``cache.weights()``, False saves that pass.
    """

    max_iters = Setting("vmp_set_max_iters", int32)
    tolerance = Setting("vmp_set_tolerance", number)
    grad = Setting("vmp_set_grad", one_of(Grad))
    weights = Setting("vmp_set_weights", flag)

    def __init__(
        self,
        max_iters: int = 5,
        tolerance: float = 0.0,
        grad: Union[Grad, str] = Grad.UNROLL,
        weights: bool = True,
        ctx: Optional[Context] = None,
    ) -> None:
        create(self, context(ctx), C.vmp_create, C.vmp_destroy)
        self.max_iters = max_iters
        self.tolerance = tolerance
        self.grad = grad
        self.weights = weights

    def __reduce__(self):
        return Vmp, (self.max_iters, self.tolerance, int(self.grad), self.weights)


class InferGrads(NamedTuple):
    """Gradients of an inference; None where none was asked for."""

    params: Optional[np.ndarray]
    m: Optional[np.ndarray]
    v: Optional[np.ndarray]
    weight: Optional[np.ndarray]


Out = Union[None, np.ndarray, Tuple[Optional[np.ndarray], Optional[np.ndarray]]]


def infer_forward(
    prior: Prior,
    params: np.ndarray,
    m: Any,
    v: Any,
    offsets: Any = None,
    *,
    weight: Any = None,
    vmp: Optional[Vmp] = None,
    logz: bool = False,
    out: Out = None,
    cache: Optional[Cache] = None,
    ctx: Optional[Context] = None,
) -> Any:
    """q [B,Q], or (q, logz [B]) if logz is true: posteriors and log evidences or their bounds.

    params [P]; m, v [N,D] with offsets [B+1] int64; weight [N] or None, 0 masks a row. Without
    offsets m, v and weight are lists of arrays, one a set, or m, v [B,n,D], or [N,D], one set.
    float32 and float64 by the dtype of params, which all arrays share. out: q, or (q, logz), which
    asks for logz too. cache: what :func:`infer_backward` and the look-ups of the cache need.
    """
    handle, real = address(prior, Prior, "prior"), real_of(params, "params")
    dtype, d = real.dtype, prior.d
    if type(offsets) is not np.ndarray:
        offsets, m, v, weight = ragged(offsets, ("m", m, 1), ("v", v, 1), ("weight", weight, 0))
    n = rank(m, "m", 2)[0]
    n_sets, starts = sets(offsets, n)
    q, e = pair(out) if type(out) is tuple else (out, None)
    q, to_q = output(q, "out", dtype, (n_sets, prior.n_posterior))
    logz = logz or e is not None
    e, to_logz = output(e, "out[1]", dtype, (n_sets,)) if logz else (None, None)
    ctx, arguments = context(ctx), (
        handle,
        address_or_null(vmp, Vmp, "vmp"),
        read(params, "params", dtype, (prior.n_params,)),
        n_sets,
        starts,
        read(m, "m", dtype, (n, d)),
        read(v, "v", dtype, (n, d)),
        read_or_null(weight, "weight", dtype, (n,)),
        to_q,
        to_logz,
        address_or_null(cache, Cache, "cache"),
    )
    if cache is None:
        ctx.call(real.infer_forward, *arguments)
    else:
        cache._last = None
        ctx.call(real.infer_forward, *arguments)
        cache._last = n_sets, n, dtype
    return (q, e) if logz else q


def infer_backward(
    prior: Prior,
    params: np.ndarray,
    m: Any,
    v: Any,
    offsets: Any = None,
    *,
    cache: Cache,
    dq: Optional[np.ndarray] = None,
    dlogz: Optional[np.ndarray] = None,
    weight: Any = None,
    vmp: Optional[Vmp] = None,
    dparams: Any = True,
    dm: Any = True,
    dv: Any = True,
    dweight: Any = None,
    ctx: Optional[Context] = None,
) -> InferGrads:
    """Gradients of sum(dq * q) + sum(dlogz * logz) with respect to params, m, v and weight.

    Inputs and settings are those of the forward that filled the cache. dq [B,Q], dlogz [B]. Each of
    dparams [P], dm, dv [N,D], dweight [N] is an array that is added to, True for a new one, None to
    leave it out.
    """
    handle, real = address(prior, Prior, "prior"), real_of(params, "params")
    dtype, d = real.dtype, prior.d
    if type(offsets) is not np.ndarray:
        offsets, m, v, weight = ragged(offsets, ("m", m, 1), ("v", v, 1), ("weight", weight, 0))
    n = rank(m, "m", 2)[0]
    n_sets, starts = sets(offsets, n)
    dparams, to_params = gradient(dparams, "dparams", dtype, (prior.n_params,))
    dm, to_m = gradient(dm, "dm", dtype, (n, d))
    dv, to_v = gradient(dv, "dv", dtype, (n, d))
    dweight, to_weight = gradient(dweight, "dweight", dtype, (n,))
    context(ctx).call(
        real.infer_backward,
        handle,
        address_or_null(vmp, Vmp, "vmp"),
        read(params, "params", dtype, (prior.n_params,)),
        n_sets,
        starts,
        read(m, "m", dtype, (n, d)),
        read(v, "v", dtype, (n, d)),
        read_or_null(weight, "weight", dtype, (n,)),
        read_or_null(dq, "dq", dtype, (n_sets, prior.n_posterior)),
        read_or_null(dlogz, "dlogz", dtype, (n_sets,)),
        to_params,
        to_m,
        to_v,
        to_weight,
        address(cache, Cache, "cache"),
    )
    return InferGrads(dparams, dm, dv, dweight)
