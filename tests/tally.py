#!/usr/bin/env python3
"""Adds up the test functions of meson's test logs and prints 'N passed, M failed'.

usage: tally.py plain/meson-logs/testlog.json [other logs...]

Passed functions are counted in the first log, so that each counts once however many builds ran it;
failures are counted in all of them. A program says how many functions it ran in Unity's summary
line; one that failed without saying which function did, or never got to its summary, is one failure
more, and so is a log that is not there or has no run in it. Exits with 1 if anything failed.

NPAGG_NO_SKIP=1   a program that was skipped as a whole, for want of an interpreter, is a failure too
"""

import json
import os
import re
import sys

SUMMARY = re.compile(r"^(\d+) Tests (\d+) Failures (\d+) Ignored", re.MULTILINE)


def may_skip(run):
    return run["result"] == "SKIP" and not os.environ.get("NPAGG_NO_SKIP")


def count(run):
    """(passed, failed, ignored) functions of one program's run."""
    tests, failures, ignored = (
        sum(column) for column in zip((0, 0, 0), *(map(int, s) for s in SUMMARY.findall(run.get("stdout") or "")))
    )
    good = run["result"] in ("OK", "EXPECTEDFAIL") or may_skip(run)
    silent = 0 if good or failures else 1
    if good and not tests:  # a program without a summary is one function
        tests, ignored = 1, int(run["result"] == "SKIP")
    return tests - failures - ignored, failures + silent, ignored


def read(path):
    try:
        with open(path) as log:
            runs = [json.loads(line) for line in log if line.strip()]
    except OSError:
        runs = []
    return runs or [{"name": "all tests", "result": "NOT RUN", "stdout": ""}]


def main(paths):
    passed = failed = skipped = 0
    for number, path in enumerate(paths):
        for run in read(path):
            good, bad, ignored = count(run)
            if bad:
                print(f"failed: {run['name']} ({run['result']}, {path})")
            failed += bad
            if number == 0:
                passed += good
                skipped += ignored
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
