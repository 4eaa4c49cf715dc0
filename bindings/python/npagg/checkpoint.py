"""Arrays of the caller's beside a model in its checkpoint (checkpoint.h).

``Model.save``, ``Model.load`` and ``Model.load_params`` are the model's own part.
"""

from __future__ import annotations

import os
from typing import Any, Optional

import numpy as np

from ._check import integer, output, rank, read, real_for, real_of, text
from .ctx import Context, context


def path_bytes(path: Any) -> bytes:
    """The bytes of a path as the file system wants them."""
    try:
        name = os.fsencode(path)
    except TypeError:
        raise TypeError(f"path is {type(path).__name__}, want str, bytes or os.PathLike") from None
    if b"\0" in name:
        raise ValueError("path has a NUL in it")
    return name


def save_extra(path: Any, name: str, array: np.ndarray, ctx: Optional[Context] = None) -> None:
    """Adds or replaces an array [n] of the file under a name of its own."""
    real, n = real_of(array, "array"), rank(array, "array", 1)[0]
    context(ctx).call(
        real.model_save_extra,
        path_bytes(path),
        text(name, "name"),
        n,
        read(array, "array", real.dtype, (n,)),
    )


def load_extra(
    path: Any,
    name: str,
    n: Optional[int] = None,
    dtype: Any = None,
    out: Optional[np.ndarray] = None,
    ctx: Optional[Context] = None,
) -> np.ndarray:
    """The array [n] of that name; n or out says how many numbers it must have."""
    real = real_for(dtype) if out is None else real_of(out, "out")
    if n is None and out is None:
        raise TypeError("n or out is needed")
    n = rank(out, "out", 1)[0] if n is None else integer(n, "n")
    if n < 0:
        raise ValueError(f"n = {n}, want >= 0")
    out, to = output(out, "out", real.dtype, (n,))
    context(ctx).call(real.model_load_extra, path_bytes(path), text(name, "name"), n, to)
    return out
