"""Contexts and caches (ctx.h)."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from ._abi import ALLOC, C
from ._check import INT32, integer, output, real_for
from ._handle import Handle, address, create
from .errors import Error, Status

Allocator = Callable[[Optional[int], int, int], Optional[int]]


def _callback(alloc: Allocator) -> Any:
    return ALLOC(lambda _user, p, old, new: alloc(p, old, new))


class Context(Handle):
    """Scratch memory, worker threads and the last error: one per Python thread.

    Functions of this package take ``ctx=``; without it they use a context of the calling thread's
    own (:func:`default_context`). ctypes releases the GIL, so two threads with two contexts compute
    at the same time; using one context from two threads at once is a RuntimeError.

    threads: compute on this many threads, 1..256; results are the same bits for any number.
    alloc: ``alloc(address, old_size, new_size) -> address``, in the manner of realloc, for all that
        the C library allocates for this context and for the objects made with it.
    """

    def __init__(self, threads: int = 1, alloc: Optional[Allocator] = None) -> None:
        # Who is in a call: a list, because Ctrl-C cannot come between its append and its remove and
        # what they do. After a lock's acquire it can, and would leave the lock locked.
        self._users: List[object] = []
        self._threads = 1
        out = ctypes.c_void_p()
        callback = None if alloc is None else _callback(alloc)
        if callback is None:
            status = C.ctx_create(ctypes.byref(out))
        else:
            status = C.ctx_create_with_alloc(ctypes.byref(out), callback, None)
        if status or out.value is None:
            raise Error(status, "no context")
        self._own(out.value, C.ctx_destroy, callback)
        if threads != 1:
            self.threads = threads

    @property
    def threads(self) -> int:
        """Threads this context computes on."""
        return self._threads

    @threads.setter
    def threads(self, n: int) -> None:
        self.call(C.ctx_set_threads, integer(n, "threads", 32))
        self._threads = n

    @property
    def error(self) -> str:
        """Text of the last failure; empty if there was none."""
        return C.ctx_error(address(self, Context, "ctx")).decode(errors="replace")

    def call(self, function: Callable[..., int], *arguments: Any) -> None:
        """function(ctx, *arguments) of the C library; a failure becomes :class:`npagg.Error`."""
        users, me = self._users, object()
        try:
            users.append(me)
            if users[0] is not me:
                raise RuntimeError("ctx is in use by another thread; give each thread a Context")
            handle = self._h
            if handle is None:
                raise ValueError("ctx is closed")
            status = function(handle, *arguments)
            if status:
                raise Error(status, C.ctx_error(handle).decode(errors="replace"))
        finally:
            users.remove(me)

    def close(self) -> None:
        users, me = self._users, object()
        try:
            users.append(me)
            if users[0] is not me:
                raise RuntimeError("ctx is in use by another thread")
            super().close()
        finally:
            users.remove(me)


class _PerThread(threading.local):
    ctx: Optional[Context] = None


_per_thread = _PerThread()


def default_context() -> Context:
    """The context that calls without ``ctx=`` use: one per thread, made when it is first needed."""
    ctx = _per_thread.ctx
    if ctx is None or ctx._h is None:
        ctx = _per_thread.ctx = Context()
    return ctx


def context(ctx: Optional[Context]) -> Context:
    if ctx is None:
        return default_context()
    if not isinstance(ctx, Context):
        raise TypeError(f"ctx is {type(ctx).__name__}, want npagg.Context")
    return ctx


class Cache(Handle):
    """What one forward leaves for its backward; fits every stage and both precisions in turn.

    It belongs to one thread at a time.
    """

    # Sets, rows and dtype of the last inference, for the look-ups below. None while one runs, and
    # after one that failed or that Ctrl-C ended: C would write as many numbers as that one had.
    _last: Optional[Tuple[int, int, Any]] = (0, 0, None)

    def __init__(self, ctx: Optional[Context] = None) -> None:
        create(self, context(ctx), C.cache_create, C.cache_destroy)

    @property
    def nbytes(self) -> int:
        """Bytes the last forward put into the cache."""
        return C.cache_bytes(address(self, Cache, "cache"))

    def _inference(self) -> Tuple[int, int, Any]:
        if self._last is None:
            raise Error(Status.E_STATE, "the last forward with this cache did not come to its end")
        return self._last

    def _look(self, function: Callable, dtype: Any, n: int, ctx: Optional[Context]) -> np.ndarray:
        result, where = output(None, "out", np.dtype(dtype), (n,))
        context(ctx).call(function, address(self, Cache, "cache"), where)
        return result

    def iters(self, ctx: Optional[Context] = None) -> np.ndarray:
        """[B] int32: sweeps each set of the last inference took."""
        return self._look(C.infer_iters, INT32, self._inference()[0], ctx)

    def residual(self, ctx: Optional[Context] = None) -> np.ndarray:
        """[B] float64: residual of each set after its last sweep."""
        return self._look(C.infer_residual, np.float64, self._inference()[0], ctx)

    def grad_iters(self, ctx: Optional[Context] = None) -> np.ndarray:
        """[B] int32: adjoint sweeps of the last implicit backward; -1 where a set was unrolled."""
        return self._look(C.infer_grad_iters, INT32, self._inference()[0], ctx)

    def weights(self, dtype: Any = None, ctx: Optional[Context] = None) -> np.ndarray:
        """[N]: E[beta_i] after the last sweep; dtype, if given, must be that of the forward.

        Student-t factors have them unless Vmp.weights was False and logz not asked for.
        """
        _, n, last = self._inference()
        real = real_for(last if dtype is None else dtype)
        return self._look(real.infer_weights, real.dtype, n, ctx)

    def trace(self, b: int, ctx: Optional[Context] = None) -> np.ndarray:
        """[iters of set b] float64: the bound after each sweep; needs a forward with logz."""
        b, n_sets = integer(b, "b"), self._inference()[0]
        if not 0 <= b < n_sets:
            raise IndexError(f"b = {b}, want 0 <= b < {n_sets}")
        bound = np.empty(int(self.iters(ctx)[b]))
        context(ctx).call(C.infer_trace, address(self, Cache, "cache"), b, bound.ctypes.data)
        return bound
