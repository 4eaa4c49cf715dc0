"""What encoders and decoders have in common: networks with one flat array of parameters."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Callable, Optional, Sequence

import numpy as np

from ._check import int64s, integer, output, real_for, real_of, text
from ._handle import Handle, address, create
from .ctx import Context, context


class Activation(IntEnum):
    """Between linear layers."""

    RELU = 0
    GELU = 1
    TANH = 2
    SOFTPLUS = 3
    SIGMOID = 4


class Net(Handle):
    """Base of Encoder and Decoder: sizes and parameters."""

    _stage: str  # "encoder" or "decoder"
    _functions: Any  # of the C library that have no precision
    _fixed = frozenset({"x_dim", "y_dim", "d", "widths", "n_params", "n_outputs"})
    n_params: int

    def _create(
        self,
        x_dim: int,
        y_dim: int,
        d: int,
        widths: Sequence[int],
        ctx: Optional[Context],
        function: Callable,
        destroy: Callable,
        *more: Any,
    ) -> None:
        self.x_dim, self.y_dim = integer(x_dim, "x_dim"), integer(y_dim, "y_dim")
        self.d = integer(d, "d")
        array = np.ascontiguousarray(int64s(widths, "widths"))
        self.widths = tuple(int(w) for w in array)
        create(
            self,
            context(ctx),
            function,
            destroy,
            self.x_dim,
            self.y_dim,
            self.d,
            len(array),
            array.ctypes.data,
            *more,
        )

    def _c(self, name: str) -> Callable:
        return getattr(self._functions, f"{self._stage}_{name}")

    def _changed(self) -> None:
        self.__dict__["n_params"] = self._c("param_count")(self._h)

    def param_offset(self, field: str) -> int:
        """Where a tensor such as "mean.0.weight" begins in the parameters; KeyError if none."""
        offset = self._c("param_offset")(
            address(self, type(self), self._stage), text(field, "field")
        )
        if offset < 0:
            raise KeyError(field)
        return offset

    def init_params(
        self,
        seed: int = 0,
        dtype: Any = None,
        out: Optional[np.ndarray] = None,
        ctx: Optional[Context] = None,
    ) -> np.ndarray:
        """params [P], uniform in +-1/sqrt(inputs of a layer); float64 unless told."""
        real = real_for(dtype) if out is None else real_of(out, "out")
        handle = address(self, type(self), self._stage)
        out, to = output(out, "out", real.dtype, (self.n_params,))
        seed = integer(seed, "seed", 64, signed=False)
        context(ctx).call(getattr(real, f"{self._stage}_init_params"), handle, seed, to)
        return out
