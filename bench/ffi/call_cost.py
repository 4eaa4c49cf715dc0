#!/usr/bin/env python3
"""What a call from Python costs more than the same call from C.

usage: NPAGG_LIBRARY=build/lib/libnpagg.so PYTHONPATH=bindings/python \\
           python3 bench/ffi/call_cost.py [rounds [calls per round]]

The call is a forward over 16 sets of 47 points, D = 128, float32, with a cache. Python and C run in
one process on the same arrays, in turns, so that both see the same machine. Time is that of the
thread, so that other programs on the machine count less; given are the fastest round of each side
and the median over rounds of the difference.
"""

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import npagg
from npagg import _abi

SETS, POINTS, D = 16, 47, 128
HERE = os.path.dirname(os.path.abspath(__file__))


def compile_c(folder):
    """call_cost_seconds of call_cost.c."""
    library = os.path.join(folder, "call_cost.so")
    subprocess.run(
        [
            "cc",
            "-O2",
            "-std=c11",
            "-D_POSIX_C_SOURCE=200809L",
            "-shared",
            "-fPIC",
            "-I",
            os.path.join(HERE, "..", "..", "include"),
            "-o",
            library,
            os.path.join(HERE, "call_cost.c"),
        ],
        check=True,
    )
    function = ctypes.CDLL(library).call_cost_seconds
    pointer = ctypes.c_void_p
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_int64, pointer, pointer, pointer, pointer, ctypes.c_int64] + [
        pointer
    ] * 5
    return function


class Problem:
    """One inference, to be called from either side."""

    def __init__(self, prior):
        rng = np.random.default_rng(1)
        self.prior, self.ctx, self.cache = prior, npagg.Context(), npagg.Cache()
        self.params = prior.init_params(1, np.float32)
        self.m = rng.standard_normal((SETS * POINTS, D), np.float32)
        self.v = 0.1 + rng.random((SETS * POINTS, D), np.float32)
        self.offsets = np.arange(SETS + 1) * POINTS
        self.q = np.empty((SETS, prior.n_posterior), np.float32)

    def seconds_new(self, n):
        """n calls from Python that allocate their result and use the thread's own context."""
        a = time.thread_time()
        for _ in range(n):
            npagg.infer_forward(
                self.prior, self.params, self.m, self.v, self.offsets, cache=self.cache
            )
        return time.thread_time() - a

    def seconds_out(self, n):
        """n calls from Python that write to an array of the caller's."""
        a = time.thread_time()
        for _ in range(n):
            npagg.infer_forward(
                self.prior,
                self.params,
                self.m,
                self.v,
                self.offsets,
                out=self.q,
                cache=self.cache,
                ctx=self.ctx,
            )
        return time.thread_time() - a

    def seconds_c(self, n, function):
        forward = ctypes.cast(_abi.F32.infer_forward, ctypes.c_void_p)
        arrays = [a.ctypes.data for a in (self.offsets, self.m, self.v, self.q)]
        seconds = function(
            n,
            forward,
            self.ctx._h,
            self.prior._h,
            self.params.ctypes.data,
            SETS,
            *arrays,
            self.cache._h,
        )
        if seconds < 0:
            raise RuntimeError(self.ctx.error)
        return seconds


def report(name, python, c):
    between = 1e6 * statistics.median(p - q for p, q in zip(python, c))
    a, b = 1e6 * min(python), 1e6 * min(c)
    print(
        f"{name:20} Python {a:7.1f} us  C {b:7.1f} us  ratio {a / b:5.3f}  "
        f"difference {a - b:5.1f} us, median {between:5.1f} us"
    )


def main(rounds=300, calls=20):
    with tempfile.TemporaryDirectory() as folder:
        function = compile_c(folder)
        for prior in (npagg.Prior.gaussian(D), npagg.Prior.mixture(D, 5), npagg.Prior.student(D)):
            problem, times = Problem(prior), ([], [], [])
            for _ in range(rounds):
                times[0].append(problem.seconds_c(calls, function) / calls)
                times[1].append(problem.seconds_out(calls) / calls)
                times[2].append(problem.seconds_new(calls) / calls)
            report(f"{prior.kind}, out=", times[1], times[0])
            report(f"{prior.kind}, new array", times[2], times[0])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
