"""Python objects that own one of C."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, Callable, FrozenSet, Optional, Type, TypeVar

from .errors import Error

H = TypeVar("H", bound="Handle")


class Handle:
    """Owns a C object; destroys it once, by close(), by `with`, or when nobody refers to it.

    C objects do not point at each other, so any order is right, also after their context. ``_h`` is
    the address, None once closed.
    """

    _h: Optional[int] = None
    _finalizer: Optional[weakref.finalize] = None
    _fixed: FrozenSet[str] = frozenset()  # attributes that say what the C object is

    def _own(self, address: int, destroy: Callable[[int], None], allocator: Any) -> None:
        """Takes the C object; the allocator it was made with must live as long as it does."""
        self._h = address
        self._allocator = allocator
        self._finalizer = weakref.finalize(self, _destroy, destroy, address, allocator)
        # What lives until the interpreter ends goes with the process: a daemon thread may be in C.
        self._finalizer.atexit = False

    def close(self) -> None:
        """Destroys the C object; a second time does nothing."""
        self._h = None
        if self._finalizer is not None:
            self._finalizer()

    def _changed(self) -> None:
        """Called after a setting was set: sizes may be others now."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Arrays are compared with the fixed attributes, so these are not for others to set."""
        if name in self._fixed and name in self.__dict__:
            raise AttributeError(f"{name} of npagg.{type(self).__name__} cannot be set")
        super().__setattr__(name, value)

    def __reduce__(self) -> Any:
        """Two owners of one C object would destroy it twice. Shapes that can be made again say how."""
        raise TypeError(f"npagg.{type(self).__name__} cannot be copied or pickled")

    @property
    def closed(self) -> bool:
        return self._h is None

    def __enter__(self: H) -> H:
        address(self, type(self), type(self).__name__)
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _destroy(destroy: Callable[[int], None], address_: int, _allocator: Any) -> None:
    destroy(address_)


def address(handle: Any, kind: Type[Handle], name: str) -> int:
    """The C object behind an argument of this kind."""
    if not isinstance(handle, kind):
        raise TypeError(f"{name} is {type(handle).__name__}, want npagg.{kind.__name__}")
    if handle._h is None:
        raise ValueError(f"{name} is closed")
    return handle._h


def address_or_null(handle: Any, kind: Type[Handle], name: str) -> Optional[int]:
    return None if handle is None else address(handle, kind, name)


def create(owner: Handle, ctx: Any, function: Callable, destroy: Callable, *arguments: Any) -> None:
    """owner owns what function(ctx, *arguments, &out) creates."""
    out = ctypes.c_void_p()
    ctx.call(function, *arguments, ctypes.byref(out))
    assert out.value is not None
    owner._own(out.value, destroy, ctx._allocator)


def apply(handle: Handle, function: Callable, name: str, *values: Any) -> None:
    """Calls a setter, which has no context and so no text of its own."""
    status = function(address(handle, type(handle), type(handle).__name__.lower()), *values)
    if status:
        shown = ", ".join(map(str, values))
        raise Error(status, f"{name} = {shown} is out of range for this {type(handle).__name__}")
