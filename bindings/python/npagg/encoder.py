"""Encoders: points (x, y) -> Gaussian factors, or sets of points -> posteriors (encoder.h)."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._abi import C
from ._check import (
    gradient,
    int64s,
    integer,
    number,
    output,
    pair,
    ragged,
    rank,
    read,
    read_or_null,
    real_of,
    sets,
)
from ._handle import address, address_or_null, apply
from ._net import Activation, Net
from ._setting import Setting, flag, one_of
from .ctx import Cache, Context, context


class EncoderGrads(NamedTuple):
    """Gradients of an encoder; None where none was asked for."""

    params: Optional[np.ndarray]
    x: Optional[np.ndarray]
    y: Optional[np.ndarray]


class Encoder(Net):
    """Networks on [x, y] for m and for v = lo + (hi - lo) sigmoid(..), layers of these widths.

    trunk: one network for both with two linear heads. ``n_params`` = P.
    """

    _stage = "encoder"
    _functions = C

    activation = Setting("encoder_set_activation", one_of(Activation))
    trunk = Setting("encoder_set_trunk", flag)  # changes the parameters

    def __init__(
        self,
        x_dim: int,
        y_dim: int,
        d: int,
        widths: Sequence[int] = (),
        activation: Union[Activation, str] = Activation.RELU,
        var_range: Tuple[float, float] = (1e-4, 1.0),
        trunk: bool = False,
        ctx: Optional[Context] = None,
    ) -> None:
        self._create(x_dim, y_dim, d, widths, ctx, C.encoder_create_mlp, C.encoder_destroy)
        self.activation = activation
        self.var_range = var_range
        self.trunk = trunk

    def __reduce__(self):
        return Encoder, (
            self.x_dim,
            self.y_dim,
            self.d,
            self.widths,
            int(self.activation),
            self._var_range,
            self.trunk,
        )

    @property
    def var_range(self) -> Tuple[float, float]:
        """(lo, hi) of v."""
        return self._var_range

    @var_range.setter
    def var_range(self, value: Tuple[float, float]) -> None:
        try:
            lo, hi = value
        except (TypeError, ValueError):
            raise TypeError(f"var_range is {value!r}, want (lo, hi)") from None
        lo, hi = number(lo, "var_range"), number(hi, "var_range")
        apply(self, C.encoder_set_var_range, "var_range", lo, hi)
        self._var_range = lo, hi

    @property
    def per_set(self) -> bool:
        """m, v are [B,D] and already a posterior, as of encoders of whole sets."""
        return C.encoder_per_set(address(self, Encoder, "encoder")) == 1

    def forward(
        self,
        params: np.ndarray,
        x: Any,
        y: Any,
        offsets: Any = None,
        *,
        out: Optional[Tuple[np.ndarray, np.ndarray]] = None,
        cache: Optional[Cache] = None,
        ctx: Optional[Context] = None,
    ) -> Tuple[np.ndarray, np.ndarray]:
        """(m, v) [N,D], of sets [B,D], of x [N,X], y [N,Y], offsets [B+1], or of lists of arrays. out: (m, v)."""
        handle, real = address(self, Encoder, "encoder"), real_of(params, "params")
        offsets, x, y = ragged(offsets, ("x", x, 1), ("y", y, 1))
        n, dtype = rank(x, "x", 2)[0], real.dtype
        n_sets, starts = sets(offsets, n, of="x")
        shape = (n_sets if self.per_set else n, self.d)
        m, v = pair(out)
        m, to_m = output(m, "out[0]", dtype, shape)
        v, to_v = output(v, "out[1]", dtype, shape)
        context(ctx).call(
            real.encoder_forward,
            handle,
            read(params, "params", dtype, (self.n_params,)),
            n_sets,
            starts,
            read(x, "x", dtype, (n, self.x_dim)),
            read(y, "y", dtype, (n, self.y_dim)),
            to_m,
            to_v,
            address_or_null(cache, Cache, "cache"),
        )
        return m, v

    def backward(
        self,
        params: np.ndarray,
        x: Any,
        y: Any,
        offsets: Any = None,
        *,
        cache: Cache,
        dm: Optional[np.ndarray] = None,
        dv: Optional[np.ndarray] = None,
        dparams: Any = True,
        dx: Any = None,
        dy: Any = None,
        ctx: Optional[Context] = None,
    ) -> EncoderGrads:
        """Gradients of sum(dm * m) + sum(dv * v), added to dparams [P], dx [N,X], dy [N,Y].

        Each of the three is an array, True for a new one or None. dm, dv as m, v, or None.
        """
        handle, real = address(self, Encoder, "encoder"), real_of(params, "params")
        offsets, x, y = ragged(offsets, ("x", x, 1), ("y", y, 1))
        n, dtype = rank(x, "x", 2)[0], real.dtype
        n_sets, starts = sets(offsets, n, of="x")
        shape = (n_sets if self.per_set else n, self.d)
        dparams, to_params = gradient(dparams, "dparams", dtype, (self.n_params,))
        dx, to_x = gradient(dx, "dx", dtype, (n, self.x_dim))
        dy, to_y = gradient(dy, "dy", dtype, (n, self.y_dim))
        context(ctx).call(
            real.encoder_backward,
            handle,
            read(params, "params", dtype, (self.n_params,)),
            n_sets,
            starts,
            read(x, "x", dtype, (n, self.x_dim)),
            read(y, "y", dtype, (n, self.y_dim)),
            read_or_null(dm, "dm", dtype, shape),
            read_or_null(dv, "dv", dtype, shape),
            to_params,
            to_x,
            to_y,
            address(cache, Cache, "cache"),
        )
        return EncoderGrads(dparams, dx, dy)


class MeanEncoder(Encoder):
    """Mean pooling: q(z) of a set from the mean of a network of its points, (m, v) [B,D].

    pre_widths: the layers before the mean; post_widths: those behind it. Its model has no prior.
    """

    def __init__(
        self,
        x_dim: int,
        y_dim: int,
        d: int,
        pre_widths: Sequence[int],
        post_widths: Sequence[int],
        activation: Union[Activation, str] = Activation.RELU,
        var_range: Tuple[float, float] = (1e-8, 1.0),
        ctx: Optional[Context] = None,
    ) -> None:
        self._create_of_sets(x_dim, y_dim, d, pre_widths, post_widths, ctx, C.encoder_create_mean)
        self.activation = activation
        self.var_range = var_range

    def _create_of_sets(
        self,
        x_dim: int,
        y_dim: int,
        d: int,
        pre_widths: Sequence[int],
        post_widths: Sequence[int],
        ctx: Optional[Context],
        function: Any,
        *heads: int,
    ) -> None:
        post = np.ascontiguousarray(int64s(post_widths, "post_widths"))
        self.post_widths = tuple(int(w) for w in post)
        more = (*heads, len(post), post.ctypes.data)
        self._create(x_dim, y_dim, d, pre_widths, ctx, function, C.encoder_destroy, *more)
        self.pre_widths = self.widths

    def __reduce__(self):
        return MeanEncoder, (
            self.x_dim,
            self.y_dim,
            self.d,
            self.pre_widths,
            self.post_widths,
            int(self.activation),
            self._var_range,
        )


class AttentionEncoder(MeanEncoder):
    """Self-attention of n_heads among the points of a set, then the mean: (m, v) [B,D].

    The last of pre_widths is the attention's width. Its model has no prior.
    """

    def __init__(
        self,
        x_dim: int,
        y_dim: int,
        d: int,
        pre_widths: Sequence[int],
        n_heads: int,
        post_widths: Sequence[int],
        activation: Union[Activation, str] = Activation.RELU,
        var_range: Tuple[float, float] = (1e-8, 1.0),
        ctx: Optional[Context] = None,
    ) -> None:
        self.n_heads = integer(n_heads, "n_heads")
        create = C.encoder_create_attention
        self._create_of_sets(x_dim, y_dim, d, pre_widths, post_widths, ctx, create, self.n_heads)
        self.activation = activation
        self.var_range = var_range

    def __reduce__(self):
        return AttentionEncoder, (
            self.x_dim,
            self.y_dim,
            self.d,
            self.pre_widths,
            self.n_heads,
            self.post_widths,
            int(self.activation),
            self._var_range,
        )
