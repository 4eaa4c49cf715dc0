"""Arguments from Python to C: what does not fit is an exception that names the argument.

Addresses are taken of arrays where they lie; nothing is copied or converted on the way, except that
sets given as a list of arrays have to be put behind each other (:func:`join`).
"""

from __future__ import annotations

import ctypes
import operator
from enum import IntEnum
from types import SimpleNamespace
from typing import Any, NoReturn, Optional, Sequence, Tuple, Type, TypeVar

import numpy as np
from numpy import ndarray

from ._abi import F64, REALS

E = TypeVar("E", bound=IntEnum)

INT64 = np.dtype(np.int64)
INT32 = np.dtype(np.int32)

_addressof = ctypes.addressof
_from_buffer = ctypes.c_char.from_buffer


def _address(a: ndarray) -> int:
    try:
        return _addressof(_from_buffer(a))  # type: ignore # a third of the time of a.ctypes.data
    except (TypeError, ValueError, BufferError):  # read-only, or of size 0
        return a.ctypes.data


def _refuse(a: Any, name: str, dtype: np.dtype, shape: Tuple[int, ...], write: bool) -> NoReturn:
    """Says what is wrong with an array, one thing at a time."""
    if not isinstance(a, ndarray) or isinstance(a, np.ma.MaskedArray):
        raise TypeError(f"{name} is {type(a).__name__}, want a numpy array of {dtype}")
    if a.dtype != dtype:
        raise TypeError(f"{name} has dtype {a.dtype}, want {dtype}")
    if a.shape != shape:
        raise ValueError(f"{name} has shape {list(a.shape)}, want {list(shape)}")
    if not a.flags.c_contiguous:
        raise ValueError(f"{name} is not C-contiguous; np.ascontiguousarray copies it")
    if not a.flags.aligned:
        raise ValueError(f"{name} is not aligned in memory")
    if write and not a.flags.writeable:
        raise ValueError(f"{name} is read-only")
    raise AssertionError(name)


def read(a: ndarray, name: str, dtype: np.dtype, shape: Tuple[int, ...]) -> int:
    """Address of an input, an array of exactly this dtype and shape."""
    if type(a) is ndarray:
        flags = a.flags
        if a.dtype == dtype and a.shape == shape and flags.c_contiguous and flags.aligned:
            return _address(a)
    elif isinstance(a, ndarray) and not isinstance(a, np.ma.MaskedArray):
        return read(a.view(ndarray), name, dtype, shape)
    _refuse(a, name, dtype, shape, False)


def read_or_null(
    a: Optional[ndarray], name: str, dtype: np.dtype, shape: Tuple[int, ...]
) -> Optional[int]:
    """The same for an input that may be left out."""
    return None if a is None else read(a, name, dtype, shape)


def write(a: ndarray, name: str, dtype: np.dtype, shape: Tuple[int, ...]) -> int:
    """Address of an output or of a gradient that is added to."""
    if type(a) is ndarray:
        if a.dtype == dtype and a.shape == shape and a.flags.carray:
            return _address(a)
    elif isinstance(a, ndarray) and not isinstance(a, np.ma.MaskedArray):
        return write(a.view(ndarray), name, dtype, shape)
    _refuse(a, name, dtype, shape, True)


def output(
    a: Optional[ndarray], name: str, dtype: np.dtype, shape: Tuple[int, ...]
) -> Tuple[ndarray, int]:
    """(array, address) of an output: the caller's array, or a new one for None."""
    if a is None:
        a = np.empty(shape, dtype)
    return a, write(a, name, dtype, shape)


def pair(out: Any) -> Tuple[Any, Any]:
    """The two outputs of a call that has two."""
    if out is None:
        return None, None
    if not isinstance(out, tuple) or len(out) != 2:
        raise TypeError("out is no tuple of two arrays, which this call wants")
    return out[0], out[1]


def gradient(
    a: Any, name: str, dtype: np.dtype, shape: Tuple[int, ...]
) -> Tuple[Optional[ndarray], Optional[int]]:
    """(array, address) of a gradient: an array to add to, True for a new one, None for none."""
    if a is None or a is False:
        return None, None
    if a is True:
        a = np.zeros(shape, dtype)
    return a, write(a, name, dtype, shape)


def real_of(a: ndarray, name: str) -> SimpleNamespace:
    """The functions for this array's precision."""
    if not isinstance(a, ndarray):
        raise TypeError(f"{name} is {type(a).__name__}, want a numpy array of float32 or float64")
    real = REALS.get(a.dtype)
    if real is None:
        raise TypeError(f"{name} has dtype {a.dtype}, want float32 or float64")
    return real


def real_for(dtype: Any) -> SimpleNamespace:
    """The functions for a dtype that the caller names; float64 for None."""
    real = F64 if dtype is None else REALS.get(np.dtype(dtype))
    if real is None:
        raise TypeError(f"dtype is {np.dtype(dtype)}, want float32 or float64")
    return real


def rank(a: Any, name: str, n: int) -> Tuple[int, ...]:
    """The shape of an array of n dimensions."""
    if not isinstance(a, ndarray):
        raise TypeError(f"{name} is {type(a).__name__}, want a numpy array")
    if a.ndim != n:
        raise ValueError(f"{name} has shape {list(a.shape)}, want {n} dimensions")
    return a.shape


def integer(value: Any, name: str, bits: int = 64, signed: bool = True) -> int:
    """A Python integer that fits into C's; ctypes alone would cut off what does not."""
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {type(value).__name__}, want an integer") from None
    low, high = (-(1 << (bits - 1)), 1 << (bits - 1)) if signed else (0, 1 << bits)
    if not low <= value < high:
        raise ValueError(
            f"{name} = {value} does not fit into {bits} bits" + ("" if signed else ", want >= 0")
        )
    return value


def number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {type(value).__name__}, want a number") from None


def choice(value: Any, kind: Type[E], name: str) -> E:
    """A setting by its enum, its number or its name in lower case."""
    if type(value) is kind:
        return value
    try:
        return kind[value.upper()] if isinstance(value, str) else kind(operator.index(value))
    except (KeyError, ValueError, TypeError):
        wanted = ", ".join(repr(k.name.lower()) for k in kind)
        raise ValueError(f"{name} is {value!r}, want one of {wanted}") from None


def text(value: Any, name: str) -> bytes:
    """UTF-8 of a string without NUL."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {type(value).__name__}, want str")
    if "\0" in value:
        raise ValueError(f"{name} has a NUL in it")
    return value.encode()


def int64s(values: Any, name: str) -> ndarray:
    """An array of int64 as it is, or one made of a list of integers."""
    if isinstance(values, ndarray):
        rank(values, name, 1)
        if values.dtype != INT64:
            raise TypeError(f"{name} has dtype {values.dtype}, want int64")
        return values
    if not isinstance(values, (list, tuple, range)):
        raise TypeError(f"{name} is {type(values).__name__}, want integers or an array of int64")
    return np.array([integer(v, f"{name}[{i}]") for i, v in enumerate(values)], INT64)


def sets(offsets: ndarray, rows: int, name: str = "offsets", of: str = "m") -> Tuple[int, int]:
    """(number of sets, address) of offsets [B+1] that end at rows; C checks the rest."""
    n = rank(offsets, name, 1)[0]
    address = read(offsets, name, INT64, (n,))
    if n < 1:
        raise ValueError(f"{name} is empty, want [B+1] numbers")
    if offsets[-1] != rows:
        raise ValueError(f"{name} ends at {offsets[-1]}, but {of} has {rows} rows")
    return n - 1, address


def join(arrays: Sequence[ndarray], name: str = "arrays") -> Tuple[ndarray, ndarray]:
    """(array [N,..], offsets [B+1]) of a list of arrays [N_b,..], one a set: this copies."""
    for b, a in enumerate(arrays):
        if not isinstance(a, ndarray):
            raise TypeError(f"{name}[{b}] is {type(a).__name__}, want a numpy array")
        if a.ndim < 1 or a.shape[1:] != arrays[0].shape[1:]:
            raise ValueError(f"{name}[{b}] has shape {list(a.shape)}, unlike {name}[0]")
        if a.dtype != arrays[0].dtype:
            raise TypeError(f"{name}[{b}] has dtype {a.dtype}, unlike {name}[0]")
    if not len(arrays):
        raise ValueError(f"{name} is an empty list; give an array and offsets for no sets")
    offsets = np.zeros(len(arrays) + 1, INT64)
    np.cumsum([len(a) for a in arrays], out=offsets[1:])
    return np.concatenate(arrays), offsets


def split(array: ndarray, offsets: ndarray) -> list:
    """The sets of an array [N,..] as a list of views [N_b,..]."""
    return [array[a:b] for a, b in zip(offsets[:-1], offsets[1:])]


def _flatten(a: Any, name: str, extra: int) -> Tuple[ndarray, ndarray]:
    """(rows, offsets) of an argument that came without offsets; extra = dimensions of a row."""
    if isinstance(a, (list, tuple)):
        return join(a, name)
    if not isinstance(a, ndarray):
        raise TypeError(f"{name} is {type(a).__name__}, want a numpy array or a list of them")
    if a.ndim == 1 + extra:
        return a, np.array([0, len(a)], INT64)
    if a.ndim != 2 + extra:
        raise ValueError(
            f"{name} has shape {list(a.shape)}, want {1 + extra} or {2 + extra} dimensions"
        )
    if not a.flags.c_contiguous:
        raise ValueError(f"{name} is not C-contiguous; np.ascontiguousarray copies it")
    n_sets, n = a.shape[:2]
    rows = a.reshape((n_sets * n,) + a.shape[2:])
    return rows, np.arange(0, n_sets * n + 1, n, INT64) if n else np.zeros(n_sets + 1, INT64)


def ragged(offsets: Any, *arguments: Tuple[str, Any, int], name: str = "offsets") -> tuple:
    """(offsets, array, array, ..) of ragged arguments (name, value, dimensions of a row).

    With offsets the values are arrays [N,..] and stay as they are. Without, they are lists of
    arrays [N_b,..], or arrays [B,n,..] of sets of one size, or arrays [N,..], one set.
    """
    if offsets is not None:
        return (int64s(offsets, name), *(a for _, a, _ in arguments))
    flat = []
    for what, a, extra in arguments:
        rows, found = (None, None) if a is None else _flatten(a, what, extra)
        if offsets is None:
            offsets = found
        elif found is not None and not np.array_equal(found, offsets):
            raise ValueError(f"{what} has other sets than {arguments[0][0]}")
        flat.append(rows)
    return (offsets, *flat)
