"""Random numbers that are the same bits everywhere (model.h)."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple, Union

import numpy as np

from ._check import integer, output, real_for, real_of
from .errors import Error

Shape = Union[int, Tuple[int, ...]]


def _fill(
    name: str, seed: int, stream: int, shape: Optional[Shape], dtype: Any, out: Optional[np.ndarray]
) -> np.ndarray:
    real = real_for(dtype) if out is None else real_of(out, "out")
    if out is None:
        if shape is None:
            raise TypeError("shape or out is needed")
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (integer(shape, "shape"),)
    else:
        shape = out.shape
    out, to = output(out, "out", real.dtype, shape)
    fill: Callable = getattr(real, name)
    status = fill(
        integer(seed, "seed", 64, signed=False),
        integer(stream, "stream", 64, signed=False),
        out.size,
        to,
    )
    if status:
        raise Error(status, f"{name} of {out.size} numbers")
    return out


def normal(
    seed: int,
    stream: int,
    shape: Optional[Shape] = None,
    dtype: Any = None,
    out: Optional[np.ndarray] = None,
) -> np.ndarray:
    """Standard normals of (seed, stream), of this shape or into out; float64 unless told."""
    return _fill("noise_fill", seed, stream, shape, dtype, out)


def uniform(
    seed: int,
    stream: int,
    shape: Optional[Shape] = None,
    dtype: Any = None,
    out: Optional[np.ndarray] = None,
) -> np.ndarray:
    """Uniforms in (0, 1) of (seed, stream), of this shape or into out; float64 unless told."""
    return _fill("uniform_fill", seed, stream, shape, dtype, out)
