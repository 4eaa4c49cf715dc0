"""Decoders: a latent z and a place x -> the distribution of y there (decoder.h)."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._abi import C
from ._check import gradient, number, output, ragged, rank, read, real_of, sets
from ._handle import address, address_or_null
from ._net import Activation, Net
from ._setting import Setting, one_of
from .ctx import Cache, Context, context


class Likelihood(IntEnum):
    """Distribution of y given z and x."""

    GAUSSIAN = 0
    BERNOULLI = 1


class DecoderGrads(NamedTuple):
    """Gradients of a decoder; None where none was asked for."""

    params: Optional[np.ndarray]
    x: Optional[np.ndarray]
    z: Optional[np.ndarray]


class Decoder(Net):
    """Networks on [z, x] for mean and sd of y, or for its logit, layers of these widths.

    ``n_params`` = P, ``n_outputs`` numbers per point and sample: mean then sd, 2Y, or Y logits.
    """

    _stage = "decoder"
    _functions = C
    n_outputs: int

    activation = Setting("decoder_set_activation", one_of(Activation))
    likelihood = Setting("decoder_set_likelihood", one_of(Likelihood))  # changes the parameters
    sd_floor = Setting("decoder_set_sd_floor", number)

    def __init__(
        self,
        x_dim: int,
        y_dim: int,
        d: int,
        widths: Sequence[int] = (),
        activation: Union[Activation, str] = Activation.RELU,
        likelihood: Union[Likelihood, str] = Likelihood.GAUSSIAN,
        sd_floor: float = 0.1,
        ctx: Optional[Context] = None,
    ) -> None:
        self._create(x_dim, y_dim, d, widths, ctx, C.decoder_create_mlp, C.decoder_destroy)
        self.activation = activation
        self.likelihood = likelihood
        self.sd_floor = sd_floor

    def __reduce__(self):
        return Decoder, (
            self.x_dim,
            self.y_dim,
            self.d,
            self.widths,
            int(self.activation),
            int(self.likelihood),
            self.sd_floor,
        )

    def _changed(self) -> None:
        super()._changed()
        self.__dict__["n_outputs"] = C.decoder_output_count(self._h)

    def _inputs(
        self, real: Any, params: np.ndarray, x: np.ndarray, z: np.ndarray, offsets: np.ndarray
    ) -> Tuple[int, int, int, tuple]:
        """(N, B, S, the arguments from params to z)."""
        n, dtype = rank(x, "x", 2)[0], real.dtype
        n_sets, starts = sets(offsets, n, of="x")
        s = rank(z, "z", 3)[1]
        return (
            n,
            n_sets,
            s,
            (
                read(params, "params", dtype, (self.n_params,)),
                n_sets,
                starts,
                s,
                read(x, "x", dtype, (n, self.x_dim)),
                read(z, "z", dtype, (n_sets, s, self.d)),
            ),
        )

    def forward(
        self,
        params: np.ndarray,
        x: Any,
        z: np.ndarray,
        offsets: Any = None,
        *,
        out: Optional[np.ndarray] = None,
        cache: Optional[Cache] = None,
        ctx: Optional[Context] = None,
    ) -> np.ndarray:
        """py [N,S,2Y], mean then sd, or logits [N,S,Y], of x [N,X], offsets [B+1], z [B,S,D]."""
        handle, real = address(self, Decoder, "decoder"), real_of(params, "params")
        offsets, x = ragged(offsets, ("x", x, 1))
        n, _, s, inputs = self._inputs(real, params, x, z, offsets)
        out, to = output(out, "out", real.dtype, (n, s, self.n_outputs))
        context(ctx).call(
            real.decoder_forward, handle, *inputs, to, address_or_null(cache, Cache, "cache")
        )
        return out

    def backward(
        self,
        params: np.ndarray,
        x: Any,
        z: np.ndarray,
        offsets: Any = None,
        *,
        dpy: np.ndarray,
        cache: Cache,
        dparams: Any = True,
        dx: Any = None,
        dz: Any = True,
        ctx: Optional[Context] = None,
    ) -> DecoderGrads:
        """Gradients of sum(dpy * py), added to dparams [P], dx [N,X], dz [B,S,D].

        Each of the three is an array, True for a new one or None.
        """
        handle, real = address(self, Decoder, "decoder"), real_of(params, "params")
        offsets, x = ragged(offsets, ("x", x, 1))
        n, n_sets, s, inputs = self._inputs(real, params, x, z, offsets)
        dtype = real.dtype
        dparams, to_params = gradient(dparams, "dparams", dtype, (self.n_params,))
        dx, to_x = gradient(dx, "dx", dtype, (n, self.x_dim))
        dz, to_z = gradient(dz, "dz", dtype, (n_sets, s, self.d))
        context(ctx).call(
            real.decoder_backward,
            handle,
            *inputs,
            read(dpy, "dpy", dtype, (n, s, self.n_outputs)),
            to_params,
            to_x,
            to_z,
            address(cache, Cache, "cache"),
        )
        return DecoderGrads(dparams, dx, dz)

    def loglik(
        self,
        py: np.ndarray,
        y: np.ndarray,
        *,
        out: Optional[np.ndarray] = None,
        ctx: Optional[Context] = None,
    ) -> np.ndarray:
        """[N,S]: log p(y | py) of py [N,S,2Y] or logits [N,S,Y], and y [N,Y]."""
        handle, real = address(self, Decoder, "decoder"), real_of(py, "py")
        n, s, _ = rank(py, "py", 3)
        source = read(py, "py", real.dtype, (n, s, self.n_outputs))
        points = read(y, "y", real.dtype, (n, self.y_dim))
        out, to = output(out, "out", real.dtype, (n, s))
        context(ctx).call(real.decoder_loglik, handle, n, s, source, points, to)
        return out

    def loglik_backward(
        self,
        py: np.ndarray,
        y: np.ndarray,
        dloglik: np.ndarray,
        *,
        dpy: Any = True,
        dy: Any = None,
        ctx: Optional[Context] = None,
    ) -> Tuple[Optional[np.ndarray], Optional[np.ndarray]]:
        """(dpy, dy) of sum(dloglik * loglik); each an array, True for a new one or None."""
        handle, real = address(self, Decoder, "decoder"), real_of(py, "py")
        n, s, _ = rank(py, "py", 3)
        dtype, shape = real.dtype, (n, s, self.n_outputs)
        dpy, to_py = gradient(dpy, "dpy", dtype, shape)
        dy, to_y = gradient(dy, "dy", dtype, (n, self.y_dim))
        context(ctx).call(
            real.decoder_loglik_backward,
            handle,
            n,
            s,
            read(py, "py", dtype, shape),
            read(y, "y", dtype, (n, self.y_dim)),
            read(dloglik, "dloglik", dtype, (n, s)),
            to_py,
            to_y,
        )
        return dpy, dy
