"""Objects of C end once, in any order, and take all their memory with them."""

import copy
import ctypes
import gc
import itertools
import os
import pickle
import subprocess
import sys
import weakref

import numpy as np

import npagg

import calls
import support
from calls import OFFSETS

LIBC = ctypes.CDLL(None)
LIBC.realloc.restype = ctypes.c_void_p
LIBC.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]


class Meter:
    """An allocator that counts what is alive, and fails from its n-th allocation on if told so."""

    def __init__(self, fail_at=None):
        self.live, self.calls, self.fail_at = {}, 0, fail_at

    def __call__(self, p, old, new):
        if new == 0:
            self.live.pop(p, None) if p else None
            return LIBC.free(p)
        self.calls += 1
        if self.fail_at is not None and self.calls >= self.fail_at:
            return None
        if p:
            assert self.live.pop(p) == old
        p = LIBC.realloc(p, new)
        self.live[p] = new
        return p


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def create_and_destroy(w):
    """One of everything, used once; half are closed, half are left to the garbage collector."""
    with npagg.Context() as ctx, npagg.Cache(ctx) as cache:
        prior, vmp = npagg.Prior.student(3, ctx=ctx), npagg.Vmp(max_iters=2, ctx=ctx)
        npagg.infer_forward(prior, w.params, w.m, w.v, OFFSETS, vmp=vmp, cache=cache, ctx=ctx)
        with npagg.Objective(ctx=ctx):
            npagg.Encoder(1, 1, 3, [2], ctx=ctx)


class LifetimeTest(support.TestCase):
    def setUp(self):
        gc.collect()

    def test_a_hundred_thousand_lives_leave_no_memory(self):
        w = calls.World(np.float64)
        w.params = npagg.Prior.student(3).init_params()
        for _ in range(5000):
            create_and_destroy(w)
        before = resident_bytes()
        for _ in range(100_000):
            create_and_destroy(w)
        # A leak of ten bytes a turn would be 1 MB.
        self.assertLess(resident_bytes() - before, 1_000_000)

    def test_objects_end_in_any_order(self):
        meter = Meter()
        for order in itertools.permutations(range(6)):
            w = calls.World(np.float64, npagg.Context(alloc=meter))
            npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, cache=w.cache, ctx=w.ctx)
            objects = [w.ctx, w.cache, w.prior, w.vmp, w.model, w.encoder]
            w.decoder.close(), w.objective.close()
            self.assertGreater(len(meter.live), 5)
            for i in order:
                objects[i].close()
            self.assertEqual({}, meter.live, order)

    def test_garbage_in_cycles_ends_too(self):
        meter = Meter()
        w = calls.World(np.float64, npagg.Context(alloc=meter))
        w.itself, w.prior.user, w.ctx.world = w, w.model, w
        gone = weakref.ref(w.model)
        del w
        gc.collect()
        self.assertIsNone(gone())
        self.assertEqual({}, meter.live)

    def test_closing_twice_and_leaving_with_are_fine(self):
        with npagg.Prior.gaussian(2) as prior:
            self.assertFalse(prior.closed)
        self.assertTrue(prior.closed)
        prior.close()
        with self.assertRaises(ValueError):
            prior.__enter__()

    def test_an_exception_in_the_middle_leaks_nothing(self):
        meter = Meter()
        for number in range(8):
            with self.assertRaises((npagg.Error, ValueError, TypeError, KeyError)):
                with npagg.Context(alloc=meter) as ctx:
                    w = calls.World(np.float64, ctx)
                    self.fail_somehow(number, w, ctx)
            del w
            gc.collect()
            self.assertEqual({}, meter.live, number)

    def fail_somehow(self, number, w, ctx):
        """Failures of the library and of the binding, in constructors, calls and the host."""
        bad = np.full_like(w.v, np.nan)
        cache = npagg.Cache(ctx)
        if number == 0:
            npagg.Vmp(max_iters=0, ctx=ctx)
        elif number == 1:
            npagg.Encoder(1, 1, 3, [2], "no such", ctx=ctx)
        elif number == 2:
            npagg.infer_forward(w.prior, w.params, w.m, bad, OFFSETS, cache=cache, ctx=ctx)
        elif number == 3:
            npagg.infer_forward(w.prior, w.params, w.m, w.v, OFFSETS, cache=cache, ctx=ctx)
            npagg.infer_backward(w.prior, w.params, w.m, w.v[:2], OFFSETS, cache=cache, ctx=ctx)
        elif number == 4:
            npagg.Model(
                w.encoder, npagg.Prior.gaussian(9, ctx=ctx), w.decoder, w.objective, ctx=ctx
            )
        elif number == 5:
            npagg.Model.load(os.devnull, ctx=ctx)
        elif number == 6:
            raise KeyError("the host's own")
        else:
            npagg.Prior.mixture(3, 0, ctx=ctx)

    def test_running_out_of_memory_anywhere_leaks_nothing(self):
        for n in itertools.count(1):
            meter = Meter(fail_at=n)
            done = self.use_everything(meter)
            gc.collect()
            self.assertEqual({}, meter.live, n)
            if done:
                break
        self.assertGreater(n, 20)

    def use_everything(self, meter):
        """Whether there was memory for it; else the failure says that there was none."""
        try:
            w = calls.World(np.float64, npagg.Context(alloc=meter))
            for function, arguments in w.calls().values():
                function(**arguments)
        except npagg.Error as error:
            self.assertEqual(npagg.Status.E_NOMEM, error.status)
            return False
        return True

    def test_the_allocator_outlives_the_context(self):
        meter = Meter()
        prior = npagg.Prior.gaussian(2, ctx=npagg.Context(alloc=meter))
        gc.collect()
        self.assertEqual(1, len(meter.live))
        del prior
        gc.collect()
        self.assertEqual({}, meter.live)

    def test_what_cannot_be_made_again_is_not_copied(self):
        """A copy of the attributes would be a second owner, left with what the first destroyed."""
        w = calls.World(np.float64)
        for handle in (w.model, npagg.Cache(), npagg.Context()):
            for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaisesRegex(TypeError, type(handle).__name__):
                    attempt(handle)
        for shape in (w.prior, w.vmp, w.encoder, w.decoder, w.objective):
            other = copy.copy(shape)
            self.assertNotEqual(shape._h, other._h)
            other.close()
            self.assertFalse(shape.closed)

    def test_the_interpreter_ends_while_a_daemon_thread_computes(self):
        """What runs at exit after the binding's part has the thread use all that it holds."""
        code = """
import atexit, threading, time
atexit.register(time.sleep, 0.3)
import npagg, numpy as np
prior, vmp = npagg.Prior.student(32), npagg.Vmp(max_iters=100)
params, m = prior.init_params(), np.ones((4, 200, 32))
begun = threading.Event()
def work():
    while True:
        npagg.infer_forward(prior, params, m, m, vmp=vmp)
        begun.set()
threading.Thread(target=work, daemon=True).start()
begun.wait()
"""
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((0, "", ""), (run.returncode, run.stdout, run.stderr))

    def test_the_interpreter_ends_with_objects_alive(self):
        code = """
import npagg, threading, numpy as np
keep = [npagg.Context(threads=3), npagg.Cache(), npagg.Prior.gaussian(2), npagg.Vmp()]
keep.append(keep)
def work():
    p = npagg.Prior.student(2)
    ones = np.ones((3, 2))
    threading.current_thread().q = npagg.infer_forward(p, p.init_params(), ones, ones)
t = threading.Thread(target=work); t.start(); t.join()
class Late:
    def __del__(self, Prior=npagg.Prior): self.prior.close()
late = Late(); late.prior = keep[2]
"""
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((0, "", ""), (run.returncode, run.stdout, run.stderr))


if __name__ == "__main__":
    support.main()
