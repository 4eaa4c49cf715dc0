"""Settings of shapes as attributes: what is set goes to C, and is remembered for reading."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Callable, Generic, Optional, Type, TypeVar, overload

from ._abi import C
from ._check import choice, integer
from ._handle import Handle, apply

T = TypeVar("T")
E = TypeVar("E", bound=IntEnum)


class Setting(Generic[T]):
    """An attribute that is set by a C function; convert(value, name) makes what C takes."""

    def __init__(self, function: str, convert: Callable[[Any, str], T]) -> None:
        self._function, self._convert = function, convert

    def __set_name__(self, owner: Type[Handle], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, handle: None, owner: Optional[type] = None) -> "Setting[T]":
        ...

    @overload
    def __get__(self, handle: Handle, owner: Optional[type] = None) -> T:
        ...

    def __get__(self, handle: Optional[Handle], owner: Optional[type] = None) -> Any:
        return self if handle is None else handle.__dict__[self._name]

    def __set__(self, handle: Handle, value: Any) -> None:
        value = self._convert(value, self._name)
        apply(handle, getattr(C, self._function), self._name, value)
        handle.__dict__[self._name] = value
        handle._changed()


def one_of(kind: Type[E]) -> Callable[[Any, str], E]:
    """An enum, or its number or name."""
    return lambda value, name: choice(value, kind, name)


def int32(value: Any, name: str) -> int:
    return integer(value, name, 32)


def flag(value: Any, name: str) -> bool:
    return bool(integer(value, name, 32))
