"""What the tests of the Python binding share."""

import os
import sys
import unittest

import numpy as np

SOURCE_ROOT = os.environ.get("SOURCE_ROOT") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", "..", "..")
)
GOLDEN_DIR = os.environ.get("NPAGG_GOLDEN_DIR") or os.path.join(SOURCE_ROOT, "tests", "golden")


class TestCase(unittest.TestCase):
    """Comparisons in the manner of docs/testing.md."""

    def assert_close(self, want, got, tolerance, what=""):
        """|want - got| <= tolerance times the largest entry; zeros are zeros to the bit."""
        want, got = np.asarray(want, float), np.asarray(got, float)
        self.assertEqual(want.shape, got.shape, what)
        if want.size:
            error, largest = np.max(np.abs(want - got)), np.max(np.abs(want))
            self.assertLessEqual(
                error, tolerance * largest, f"{what}: {error:.3g} of {largest:.3g}"
            )

    def assert_same_bits(self, a, b, what=""):
        self.assertEqual((a.dtype, a.shape, a.tobytes()), (b.dtype, b.shape, b.tobytes()), what)


def read_golden(path):
    """Name -> array of a golden file; scalars are arrays of shape [] and integers stay integers."""
    with open(path) as file:
        words = iter(" ".join(line.partition("#")[0] for line in file).split())
    entries = {}
    for word in words:
        if word == "end":
            break
        name = next(words)
        if word == "scalar":
            entries[name] = np.array(float(next(words)))
        elif word == "array":
            dtype = {"f64": float, "i64": int}[next(words)]
            shape = [int(next(words)) for _ in range(int(next(words)))]
            values = [dtype(next(words)) for _ in range(int(np.prod(shape)))]
            entries[name] = np.array(values, dtype).reshape(shape)
        elif word != "case":
            raise ValueError(f"{path}: {word}")
    return entries


def golden_files(*prefixes):
    """(stem, path) of every golden file of these kinds."""
    for directory in filter(None, (GOLDEN_DIR, os.environ.get("NPAGG_GOLDEN_EXTRA_DIR"))):
        for file in sorted(os.listdir(directory)):
            if file.endswith(".txt") and file.startswith(prefixes):
                yield file[: -len(".txt")], os.path.join(directory, file)


def failed_tests(result):
    """Each test once, however many of its subtests failed."""
    return {
        getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors
    } | {test.id() for test in result.unexpectedSuccesses}


def main():
    """Runs the tests of the calling file; the last line is what tests/tally.py counts by."""
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(failed_tests(result))
    print(f"{result.testsRun} Tests {failed} Failures {len(result.skipped)} Ignored", flush=True)
    sys.exit(failed > 0 or result.testsRun == 0)
