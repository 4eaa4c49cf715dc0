"""Threads of Python: one context each, at the same time, with the bits of one thread."""

import ctypes
import random
import signal
import threading
import time

import numpy as np

import npagg

import support

LIBC = ctypes.CDLL(None)
LIBC.realloc.restype = ctypes.c_void_p
LIBC.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]


def problem(n_sets, n, d):
    rng = np.random.default_rng(3)
    return (rng.standard_normal((n_sets, n, d)), 0.1 + rng.random((n_sets, n, d)))


def run_threads(*functions):
    """Runs them at the same time; the first exception is raised again."""
    failures = []

    def guarded(function):
        try:
            function()
        except BaseException as error:  # noqa: B902
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class ThreadTest(support.TestCase):
    def train(self, prior, m, v, results, **options):
        """Forward and backward many times over, with a cache of its own."""
        params, cache = prior.init_params(1), npagg.Cache()
        for _ in range(20):
            q, logz = npagg.infer_forward(prior, params, m, v, logz=True, cache=cache, **options)
            grads = npagg.infer_backward(
                prior, params, m, v, dq=q, dlogz=logz, cache=cache, **options
            )
            results.append((q, logz, grads.params, grads.m, grads.v))

    def test_two_threads_with_two_contexts_give_the_bits_of_one(self):
        prior, (m, v) = npagg.Prior.mixture(16, 3, robust=True), problem(8, 50, 16)
        alone, first, second = [], [], []
        self.train(prior, m, v, alone)
        with npagg.Context() as a, npagg.Context(threads=2) as b:
            run_threads(
                lambda: self.train(prior, m, v, first, ctx=a),
                lambda: self.train(prior, m, v, second, ctx=b),
            )
        self.assertEqual((20, 20), (len(first), len(second)))
        for got in first + second:
            for x, y in zip(alone[0], got):
                self.assert_same_bits(x, y)

    def test_threads_have_default_contexts_of_their_own(self):
        prior, (m, v) = npagg.Prior.student(16), problem(8, 50, 16)
        alone, first, second, contexts = [], [], [], []

        def work(results):
            contexts.append(npagg.default_context())
            self.train(prior, m, v, results)

        self.train(prior, m, v, alone)
        run_threads(lambda: work(first), lambda: work(second))
        self.assertEqual(2, len(set(map(id, contexts))))
        for x, y, z in zip(alone[0], first[-1], second[-1]):
            self.assert_same_bits(x, y)
            self.assert_same_bits(x, z)

    def test_two_threads_are_in_the_library_at_the_same_time(self):
        """Each call's first allocation waits until the other thread's call has got there too."""
        prior, (m, v) = npagg.Prior.student(4), problem(2, 5, 4)
        params, meeting = prior.init_params(), threading.Barrier(2, timeout=60)

        def work():
            met = []

            def alloc(p, old, new):
                if new == 0:
                    return LIBC.free(p)
                if armed and not met:
                    met.append(meeting.wait())
                return LIBC.realloc(p, new)

            armed = []
            with npagg.Context(alloc=alloc) as ctx:
                armed.append(True)
                npagg.infer_forward(prior, params, m, v, ctx=ctx)
            self.assertEqual(1, len(met))

        run_threads(work, work)
        self.assertFalse(meeting.broken)

    def test_python_goes_on_while_the_library_computes(self):
        prior, (m, v) = npagg.Prior.student(32), problem(4, 500, 32)
        vmp, params = npagg.Vmp(max_iters=4000), prior.init_params()
        started, ended, ticks = threading.Event(), threading.Event(), 0

        def work():
            started.set()
            npagg.infer_forward(prior, params, m, v, vmp=vmp)
            ended.set()

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        time.sleep(0.005)  # the call has begun
        while not ended.is_set():
            ticks += 1
            time.sleep(0.001)
        thread.join()
        self.assertGreater(ticks, 20)

    def test_ctrl_c_at_any_time_leaves_the_context_free(self):
        prior, (m, v) = npagg.Prior.gaussian(2), problem(2, 3, 2)
        params, interrupts = prior.init_params(), 0

        def interrupt(*_):
            raise KeyboardInterrupt

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))
        with npagg.Context() as ctx:
            while interrupts < 5000:
                try:
                    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 1e-4))
                    while True:
                        npagg.infer_forward(prior, params, m, v, ctx=ctx)
                except KeyboardInterrupt:
                    interrupts += 1
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            npagg.infer_forward(prior, params, m, v, ctx=ctx)

    def test_one_context_in_two_threads_is_refused(self):
        prior, ctx, refused = npagg.Prior.gaussian(2), None, []

        def alloc(p, old, new):
            if new == 0:
                return LIBC.free(p)
            if ctx is not None and not refused:
                thread = threading.Thread(target=intrude)
                thread.start()
                thread.join()
            return LIBC.realloc(p, new)

        def intrude():
            for attempt in (lambda: prior.init_params(ctx=ctx), ctx.close):
                try:
                    attempt()
                except RuntimeError as error:
                    refused.append(str(error))

        ctx = npagg.Context(alloc=alloc)
        npagg.infer_forward(prior, prior.init_params(), np.ones((3, 2)), np.ones((3, 2)), ctx=ctx)
        self.assertEqual(2, len(refused))
        self.assertIn("ctx", refused[0])
        ctx.close()


if __name__ == "__main__":
    support.main()
