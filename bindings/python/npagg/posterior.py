"""What one does with posteriors q [B,Q] of a prior (posterior.h).

Each function has a backward that adds to its gradients: an array is added to, True is a new array,
None leaves it out.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Optional, Tuple, Union

import numpy as np

from ._check import INT32, choice, gradient, output, pair, rank, read, read_or_null, real_of
from ._handle import address
from .ctx import Context, context
from .prior import Prior

Array = np.ndarray
Maybe = Optional[np.ndarray]


class Sampling(IntEnum):
    """Which component sample s has, and what its gradient reaches."""

    STRATIFIED = 0
    CHOSEN = 1
    PATHWISE = 2


class Kl(IntEnum):
    """How KL(q || p) is computed; AUTO is for objectives only."""

    CLOSED = 0
    SAMPLED = 1
    MATCHED = 2
    AUTO = 3


def _begin(prior: Prior, q: Array) -> Tuple[int, Any, int, int]:
    """(handle, functions, B, address of q)."""
    handle, real = address(prior, Prior, "prior"), real_of(q, "q")
    n_sets = rank(q, "q", 2)[0]
    return handle, real, n_sets, read(q, "q", real.dtype, (n_sets, prior.n_posterior))


def _dq(
    prior: Prior, dq: Any, real: Any, n_sets: int, name: str = "dq"
) -> Tuple[Maybe, Optional[int]]:
    return gradient(dq, name, real.dtype, (n_sets, prior.n_posterior))


def sample(
    prior: Prior,
    q: Array,
    noise: Array,
    which: Maybe = None,
    *,
    mode: Union[Sampling, str] = Sampling.STRATIFIED,
    out: Optional[Tuple[Maybe, Maybe]] = None,
    ctx: Optional[Context] = None,
) -> Tuple[Array, Array]:
    """(z [B,S,D], logw [B,S]) from noise [B,S,D] and which [B,S] int32, the component of each."""
    handle, real, n_sets, q_at = _begin(prior, q)
    s = rank(noise, "noise", 3)[1]
    z, logw = pair(out)
    z, to_z = output(z, "out[0]", real.dtype, (n_sets, s, prior.d))
    logw, to_logw = output(logw, "out[1]", real.dtype, (n_sets, s))
    context(ctx).call(
        real.posterior_sample,
        handle,
        choice(mode, Sampling, "mode"),
        n_sets,
        s,
        q_at,
        read(noise, "noise", real.dtype, (n_sets, s, prior.d)),
        read_or_null(which, "which", INT32, (n_sets, s)),
        to_z,
        to_logw,
    )
    return z, logw


def sample_backward(
    prior: Prior,
    q: Array,
    noise: Array,
    which: Maybe = None,
    *,
    mode: Union[Sampling, str] = Sampling.STRATIFIED,
    dz: Maybe = None,
    dlogw: Maybe = None,
    dq: Any = True,
    ctx: Optional[Context] = None,
) -> Array:
    """dq [B,Q] from dz [B,S,D] and dlogw [B,S]."""
    handle, real, n_sets, q_at = _begin(prior, q)
    s = rank(noise, "noise", 3)[1]
    shape = (n_sets, s, prior.d)
    dq, to_q = _dq(prior, dq, real, n_sets)
    context(ctx).call(
        real.posterior_sample_backward,
        handle,
        choice(mode, Sampling, "mode"),
        n_sets,
        s,
        q_at,
        read(noise, "noise", real.dtype, shape),
        read_or_null(which, "which", INT32, (n_sets, s)),
        read_or_null(dz, "dz", real.dtype, shape),
        read_or_null(dlogw, "dlogw", real.dtype, (n_sets, s)),
        to_q,
    )
    return dq


def choose(
    prior: Prior, q: Array, u: Array, *, out: Maybe = None, ctx: Optional[Context] = None
) -> Array:
    """which [B,S] int32, drawn by the mixing weights with u [B,S] uniform in [0, 1)."""
    handle, real, n_sets, q_at = _begin(prior, q)
    s = rank(u, "u", 2)[1]
    out, to = output(out, "out", INT32, (n_sets, s))
    context(ctx).call(
        real.posterior_choose, handle, n_sets, s, q_at, read(u, "u", real.dtype, (n_sets, s)), to
    )
    return out


def logpdf(
    prior: Prior, q: Array, z: Array, *, out: Maybe = None, ctx: Optional[Context] = None
) -> Array:
    """[B,S]: log density of q at z [B,S,D]."""
    handle, real, n_sets, q_at = _begin(prior, q)
    s = rank(z, "z", 3)[1]
    out, to = output(out, "out", real.dtype, (n_sets, s))
    context(ctx).call(
        real.posterior_logpdf,
        handle,
        n_sets,
        s,
        q_at,
        read(z, "z", real.dtype, (n_sets, s, prior.d)),
        to,
    )
    return out


def logpdf_backward(
    prior: Prior,
    q: Array,
    z: Array,
    dlogq: Array,
    *,
    dq: Any = True,
    dz: Any = True,
    ctx: Optional[Context] = None,
) -> Tuple[Maybe, Maybe]:
    """(dq, dz) from dlogq [B,S]."""
    handle, real, n_sets, q_at = _begin(prior, q)
    s = rank(z, "z", 3)[1]
    shape = (n_sets, s, prior.d)
    dq, to_q = _dq(prior, dq, real, n_sets)
    dz, to_z = gradient(dz, "dz", real.dtype, shape)
    context(ctx).call(
        real.posterior_logpdf_backward,
        handle,
        n_sets,
        s,
        q_at,
        read(z, "z", real.dtype, shape),
        read(dlogq, "dlogq", real.dtype, (n_sets, s)),
        to_q,
        to_z,
    )
    return dq, dz


def _samples(
    prior: Prior, real: Any, n_sets: int, z: Maybe, logw: Maybe
) -> Tuple[int, Optional[int], Optional[int]]:
    """(S, z, logw) where samples may be left out."""
    s = 0 if z is None else rank(z, "z", 3)[1]
    return (
        s,
        read_or_null(z, "z", real.dtype, (n_sets, s, prior.d)),
        read_or_null(logw, "logw", real.dtype, (n_sets, s)),
    )


def kl(
    prior: Prior,
    q: Array,
    p: Array,
    z: Maybe = None,
    logw: Maybe = None,
    *,
    kind: Union[Kl, str] = Kl.CLOSED,
    out: Maybe = None,
    ctx: Optional[Context] = None,
) -> Array:
    """[B]: KL(q || p); samples z [B,S,D] of q with logw [B,S] for kind "sampled"."""
    handle, real, n_sets, q_at = _begin(prior, q)
    p_at = read(p, "p", real.dtype, (n_sets, prior.n_posterior))
    s, z_at, logw_at = _samples(prior, real, n_sets, z, logw)
    out, to = output(out, "out", real.dtype, (n_sets,))
    context(ctx).call(
        real.posterior_kl,
        handle,
        choice(kind, Kl, "kind"),
        n_sets,
        s,
        q_at,
        p_at,
        z_at,
        logw_at,
        to,
    )
    return out


def kl_backward(
    prior: Prior,
    q: Array,
    p: Array,
    z: Maybe = None,
    logw: Maybe = None,
    *,
    dkl: Array,
    kind: Union[Kl, str] = Kl.CLOSED,
    dq: Any = True,
    dp: Any = True,
    dz: Any = None,
    dlogw: Any = None,
    ctx: Optional[Context] = None,
) -> Tuple[Maybe, Maybe, Maybe, Maybe]:
    """(dq, dp, dz, dlogw) from dkl [B]."""
    handle, real, n_sets, q_at = _begin(prior, q)
    p_at = read(p, "p", real.dtype, (n_sets, prior.n_posterior))
    s, z_at, logw_at = _samples(prior, real, n_sets, z, logw)
    dq, to_q = _dq(prior, dq, real, n_sets)
    dp, to_p = _dq(prior, dp, real, n_sets, "dp")
    dz, to_z = gradient(dz, "dz", real.dtype, (n_sets, s, prior.d))
    dlogw, to_logw = gradient(dlogw, "dlogw", real.dtype, (n_sets, s))
    context(ctx).call(
        real.posterior_kl_backward,
        handle,
        choice(kind, Kl, "kind"),
        n_sets,
        s,
        q_at,
        p_at,
        z_at,
        logw_at,
        read(dkl, "dkl", real.dtype, (n_sets,)),
        to_q,
        to_p,
        to_z,
        to_logw,
    )
    return dq, dp, dz, dlogw


def moments(
    prior: Prior,
    q: Array,
    *,
    out: Optional[Tuple[Maybe, Maybe]] = None,
    ctx: Optional[Context] = None,
) -> Tuple[Array, Array]:
    """(mean, var) [B,D] of q."""
    handle, real, n_sets, q_at = _begin(prior, q)
    mean, var = pair(out)
    mean, to_mean = output(mean, "out[0]", real.dtype, (n_sets, prior.d))
    var, to_var = output(var, "out[1]", real.dtype, (n_sets, prior.d))
    context(ctx).call(real.posterior_moments, handle, n_sets, q_at, to_mean, to_var)
    return mean, var


def moments_backward(
    prior: Prior,
    q: Array,
    *,
    dmean: Maybe = None,
    dvar: Maybe = None,
    dq: Any = True,
    ctx: Optional[Context] = None,
) -> Array:
    """dq [B,Q] from dmean, dvar [B,D]."""
    handle, real, n_sets, q_at = _begin(prior, q)
    dq, to_q = _dq(prior, dq, real, n_sets)
    shape = (n_sets, prior.d)
    context(ctx).call(
        real.posterior_moments_backward,
        handle,
        n_sets,
        q_at,
        read_or_null(dmean, "dmean", real.dtype, shape),
        read_or_null(dvar, "dvar", real.dtype, shape),
        to_q,
    )
    return dq


def entropy(
    prior: Prior,
    q: Array,
    z: Maybe = None,
    logw: Maybe = None,
    *,
    out: Maybe = None,
    ctx: Optional[Context] = None,
) -> Array:
    """[B]: entropy of q; a mixture needs samples z [B,S,D] of q with logw [B,S]."""
    handle, real, n_sets, q_at = _begin(prior, q)
    s, z_at, logw_at = _samples(prior, real, n_sets, z, logw)
    out, to = output(out, "out", real.dtype, (n_sets,))
    context(ctx).call(real.posterior_entropy, handle, n_sets, s, q_at, z_at, logw_at, to)
    return out


def entropy_backward(
    prior: Prior,
    q: Array,
    z: Maybe = None,
    logw: Maybe = None,
    *,
    dentropy: Array,
    dq: Any = True,
    dz: Any = None,
    dlogw: Any = None,
    ctx: Optional[Context] = None,
) -> Tuple[Maybe, Maybe, Maybe]:
    """(dq, dz, dlogw) from dentropy [B]."""
    handle, real, n_sets, q_at = _begin(prior, q)
    s, z_at, logw_at = _samples(prior, real, n_sets, z, logw)
    dq, to_q = _dq(prior, dq, real, n_sets)
    dz, to_z = gradient(dz, "dz", real.dtype, (n_sets, s, prior.d))
    dlogw, to_logw = gradient(dlogw, "dlogw", real.dtype, (n_sets, s))
    context(ctx).call(
        real.posterior_entropy_backward,
        handle,
        n_sets,
        s,
        q_at,
        z_at,
        logw_at,
        read(dentropy, "dentropy", real.dtype, (n_sets,)),
        to_q,
        to_z,
        to_logw,
    )
    return dq, dz, dlogw
