#!/usr/bin/env python3
"""Measures the library beside PyTorch: two long-lived programs that take turns, block by block, and
sleep while the other one works. bench/run.sh builds them and calls this."""
import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

import accounting
import report
from rows import FORMS, parse_row

HERE = os.path.dirname(os.path.abspath(__file__))
PEER = [sys.executable, os.path.join(HERE, "peer_torch.py")]
# What PyTorch needs to be fast here: large blocks stay in the process, OpenBLAS with OpenMP.
TUNED = dict(MALLOC_MMAP_THRESHOLD_="8589934592", MALLOC_TRIM_THRESHOLD_="17179869184",
             MALLOC_TOP_PAD_="268435456")
OPENBLAS = f"/usr/lib/{platform.machine()}-linux-gnu/openblas-"
PEER_GROUPS = ("aggregation", "logz", "forward", "step", "posterior")
PEER_TOO_LARGE = ("rba5-1x1000000x128",)
PEAK_ROWS = ("rba5-1x1000000x128", "rba5-100x197x128", "step-image-rba5-s5")
CHECK_MOST = 5_000_000  # numbers in m of a row that is compared
TURNS_FROM = 1 << 25    # bytes of arrays from which on memory takes turns with what it binds
PAUSE = 0.005           # between blocks: OpenMP's threads spin for a while after their work
# Settings that some machines have for all programs, and that would be measured in place of what
# the libraries do by themselves.
SETTINGS = ("OPENBLAS_", "GOTO_", "BLIS_", "MKL_", "OMP_", "GOMP_", "KMP_")
# Kernels of BLIS 0.9 by the name of their processors, and what a processor must have for them.
BLIS_KERNELS = {"skx": ("0", "avx512f"), "haswell": ("3", "avx2")}


def forget_settings():
    found = sorted(k for k in os.environ if k.startswith(SETTINGS))
    for name in found:
        print(f"bench: not passed on: {name}={os.environ.pop(name)}", file=sys.stderr)
    return found


def environment(tuned):
    env = dict(os.environ)
    flavour = OPENBLAS + ("openmp" if tuned else "pthread")
    if tuned:
        env.update(TUNED)
    if os.path.isdir(flavour):
        env["LD_LIBRARY_PATH"] = flavour + ":" + env.get("LD_LIBRARY_PATH", "")
    return env


class Program:
    """A program that answers each line with a line of JSON."""

    def __init__(self, command, env=None):
        self.command, self.env, self.process = command, env, None

    def ask(self, line):
        if self.process is None:
            self.process = subprocess.Popen(self.command, env=self.env, text=True, bufsize=1,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:  # out of memory, say
            self.process = None
            raise RuntimeError(f"{self.command[-2:]} ended at: {line}")
        return json.loads(answer)

    def end(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
        self.process = None


def output(command, **options):
    try:
        return subprocess.run(command, capture_output=True, text=True, **options).stdout.strip()
    except OSError:
        return ""


def lines(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)
    return [json.loads(line) for line in done.stdout.splitlines()]


def machine(o, peer):
    with open("/proc/cpuinfo") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    packages = output(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", "libblis4*",
                       "libopenblas0*", "python3-torch", "gcc"]).splitlines()
    return dict(cpu=model.group(1) if model else platform.processor(), cores=os.cpu_count(),
                kernel=platform.release(), load=os.getloadavg(), date=time.strftime("%Y-%m-%d"),
                packages=[p for p in packages if not p.endswith(" ")],
                gcc=output(["gcc", "-dumpfullversion"]),
                commit=output(["git", "-C", HERE, "describe", "--always", "--dirty"]), **peer)


# --- the same results ---------------------------------------------------------------------------

def check_row(o, r):
    if not r["step"] and r["sets"] * r["points"] * r["d"] > CHECK_MOST:
        return []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([o.bench, "--row", r["name"], "--dump", folder], check=True)
        forms = [f for f in forms_of(r) if f != "printed"]  # float32 cannot hold that one
        return [x for f in forms for x in
                lines(PEER + ["--row", r["name"], "--form", f, "--check", folder],
                      env=environment(True))]


def is_large(r):
    """One PyTorch at a time: each takes gigabytes, and keeps them."""
    return r["sets"] * r["points"] * r["d"] > 20_000_000


def forms_of(r):
    return ["plain"] if r["step"] else FORMS[r["prior"]]


# --- times ----------------------------------------------------------------------------------------

def contestants(o, row, limit):
    """(label, program, its line for set, threads) of everything that takes turns."""
    r, name = parse_row(row["row"]), row["row"]
    todo = [(f"npagg {n}", o.ours, f"set {name}", n) for n in sorted({1, o.threads})]
    if o.peer and row["group"] in PEER_GROUPS and name not in PEER_TOO_LARGE:
        forms = ["plain"] if is_large(r) else forms_of(r)
        todo += [(f"torch {f} {n}", o.tuned[f], f"set {name} {f}", n)
                 for f in forms for n in o.peer_threads]
        if o.installed and not is_large(r):
            todo.append(("installed", o.installed, f"set {name} plain", o.threads))
    loop = memory_loop(o, limit)
    if loop:
        todo.append(("limit", o.streams, f"set {loop}", o.threads))
    return todo


def memory_loop(o, limit):
    """The loop that takes turns with a row that memory binds: what a shared host leaves of it
    changes from minute to minute. What stays in caches is measured once."""
    if o.cpu_time or limit["name"] not in ("copy", "read") or limit["resident"] < TURNS_FROM:
        return None
    return (f"{limit['loop']} {min(limit['resident'], 1 << 30)} "
            f"{round(1e6 * limit['megabytes'])}")


def measure_row(o, row, limit):
    todo, times = contestants(o, row, limit), {}
    programs = {c[1] for c in todo}
    for program, line in {(p, s): None for _, p, s, _ in todo}:
        program.ask(line)
    for turn in range(o.blocks):
        for label, program, _, threads in list(todo):
            if label == "installed" and turn % 5:
                continue
            took = program.ask(f"block {threads} {o.seconds}")["seconds"]
            times.setdefault(label, []).append(took)
            time.sleep(PAUSE)
        if turn == 2:
            todo = drop_slow(todo, times)
    for program in programs:
        program.end() if is_large(parse_row(row["row"])) else program.ask("end")
    return {label: summary(t) for label, t in times.items()}


def drop_slow(todo, times):
    """PyTorch counts with its best number of threads: one that is far behind need not go on."""
    def best(label):
        form = label.rsplit(" ", 1)[0]
        return min(min(t) for l, t in times.items() if l.rsplit(" ", 1)[0] == form)
    return [c for c in todo if not c[0].startswith("torch") or
            min(times[c[0]]) < 1.3 * best(c[0])]


def summary(times):
    q = statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else times * 3
    return dict(median=q[1], q1=q[0], q3=q[2], least=min(times), blocks=len(times))


def measure_peaks(o, rows):
    peaks = []
    for name in PEAK_ROWS:
        if name not in rows:
            continue
        entry = dict(row=name, npagg=lines([o.bench, "--row", name, "--peak", "--threads",
                                            str(o.threads)])[0])
        if o.peer and name not in PEER_TOO_LARGE:
            entry["torch"] = min((lines(PEER + ["--row", name, "--peak"], env=environment(t))[0]
                                  for t in (True, False)), key=lambda p: p["peak_kb"])
        peaks.append(entry)
    return peaks


def read_limits(o):
    path = os.path.join(o.out, "results.json")
    try:
        with open(path) as f:
            found = json.load(f)
            return found["limits"], found["blis"]
    except (OSError, ValueError, KeyError):
        sys.exit(f"bench: --reuse-limits, but {path} has none: run once without it")


def measure_limits(o, *only, env=None):
    return lines([o.limits, "--seconds", "0.005" if o.quick else "0.02", "--threads",
                  str(o.threads), *only], env=env)


def better_limits(before, after):
    """The higher rate of each: what the machine can do at most."""
    rates = ("gflops", "gbs", "per_us")
    key = lambda l: tuple(v for k, v in l.items() if k not in rates)
    found = {key(l): l for l in after}
    return [{k: max(v, found.get(key(l), l)[k]) if k in rates else v for k, v in l.items()}
            for l in before]


def layer_rate(o, limits):
    return max(l["gflops"] for l in limits if l["limit"] == "layer" and l["threads"] == o.threads)


def with_blis_at_its_best(o, limits):
    """BLIS takes its plainest kernels on processors that it does not know by name. The limit is
    what it does with those that suit the processor."""
    with open("/proc/cpuinfo") as f:
        flags = f.read().split()
    by_itself, limits = limits, [dict(l) for l in limits]
    chosen = None
    for name, (number, flag) in BLIS_KERNELS.items():
        if flag not in flags:
            continue
        found = measure_limits(o, "--only", "layer", env=dict(os.environ, BLIS_ARCH_TYPE=number))
        if found and layer_rate(o, found) > 1.1 * layer_rate(o, limits):
            chosen = name
        limits = better_limits(limits, found)
    return limits, dict(by_itself=layer_rate(o, by_itself), kernels=chosen)


def all_limits(o):
    print("limits of this machine ...", file=sys.stderr)
    return with_blis_at_its_best(o, measure_limits(o))


# --- all of it --------------------------------------------------------------------------------

def parse_options():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--bench", required=True)
    p.add_argument("--limits", required=True)
    p.add_argument("--out", default="bench-out")
    p.add_argument("--blocks", type=int, default=25)
    p.add_argument("--seconds", type=float, default=0.05, help="of a block")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--peer-threads", default="1,2")
    p.add_argument("--rows", default="", help="names or groups, separated by commas")
    p.add_argument("--quick", action="store_true", help="few short blocks, no scaling rows")
    p.add_argument("--no-peer", dest="peer", action="store_false")
    p.add_argument("--no-installed", dest="as_installed", action="store_false")
    p.add_argument("--statistic", default="median", choices=("median", "least"),
                   help="of the blocks, for the table; least where the machine has other work")
    p.add_argument("--cpu-time", action="store_true",
                   help="processor time on one thread, where the machine has other work")
    p.add_argument("--reuse-limits", action="store_true", help="those of the last results.json")
    o = p.parse_args()
    if o.cpu_time:
        o.threads, o.peer_threads = 1, "1"
    o.peer_threads = [int(n) for n in o.peer_threads.split(",")]
    if o.quick:
        o.blocks, o.seconds = min(o.blocks, 3), 0.01
    return o


def choose_rows(o):
    rows = {}
    for row in lines([o.bench, "--list"]):  # some are in two groups
        rows.setdefault(row["row"], row)
    rows = list(rows.values())
    chosen = o.rows.split(",") if o.rows else None
    if chosen is None:
        return [r for r in rows if not o.quick or r["group"] in PEER_GROUPS]
    known = [r for r in rows if r["row"] in chosen or r["group"] in chosen]
    extra = set(chosen) - {r["row"] for r in known} - {r["group"] for r in known}
    return known + [dict(group="aggregation", row=name) for name in sorted(extra)]


def start_programs(o):
    clock = ["--cpu-time"] if o.cpu_time else []
    o.ours = Program([o.bench, *clock, "--serve"])
    o.streams = Program([o.limits, "--serve", "--threads", str(o.threads)])
    o.tuned, o.installed, versions = {}, None, {}
    if not o.peer:
        return versions
    forms = sorted({f for fs in FORMS.values() for f in fs})
    o.tuned = {f: Program(PEER + [*clock, "--serve"], environment(True)) for f in forms}
    versions["tuned"] = o.tuned["plain"].ask("versions")
    if o.as_installed:
        o.installed = Program(PEER + [*clock, "--serve"], environment(False))
        versions["installed"] = o.installed.ask("versions")
    return versions


def look_again(o, result, known):
    """Limits once more: others on the host may have slowed down the machine before."""
    if known:
        return
    result["limits"] = better_limits(result["limits"], measure_limits(o))
    for entry in result["rows"]:
        entry["limit"] = row_limit(o, entry["row"], result["limits"], entry["times"])


def row_limit(o, name, limits, times):
    """By what the machine can do at most, or what memory did in turns with the row."""
    limit = accounting.limit(parse_row(name), limits, o.threads)
    if "limit" in times:
        limit["seconds"] = max(times["limit"][o.statistic], limit["compute_seconds"])
    return limit


def main():
    o = parse_options()
    os.makedirs(o.out, exist_ok=True)
    if os.getloadavg()[0] > 0.5:
        print(f"bench: this machine has other work, load {os.getloadavg()[0]:.1f}: times will be "
              "too long, PyTorch's most of all, whose threads wait spinning", file=sys.stderr)
    dropped = forget_settings()
    rows = choose_rows(o)
    known = read_limits(o) if o.reuse_limits else None
    result = dict(machine=machine(o, start_programs(o)), dropped=dropped, blocks=o.blocks,
                  seconds=o.seconds,
                  threads=o.threads, statistic=o.statistic, checks=[], rows=[],
                  clock="processor time" if o.cpu_time else "time")
    result["limits"], result["blis"] = known or all_limits(o)
    group = rows[0]["group"] if rows else None
    for row in rows:
        r = parse_row(row["row"])
        if row["group"] != group:
            group = row["group"]
            look_again(o, result, known)
        print(f"{row['row']} (load {os.getloadavg()[0]:.1f}) ...", file=sys.stderr)
        if o.peer and row["group"] in PEER_GROUPS:
            result["checks"] += check_row(o, r)
        limit = accounting.limit(r, result["limits"], o.threads)
        entry = dict(row, load=os.getloadavg()[0], times=measure_row(o, row, limit))
        entry["limit"] = row_limit(o, row["row"], result["limits"], entry["times"])
        result["rows"].append(entry)
        report.write(o.out, result)
    look_again(o, result, known)
    result["peaks"] = measure_peaks(o, [r["row"] for r in rows])
    for program in [o.ours, o.streams, *o.tuned.values(), *filter(None, [o.installed])]:
        program.end()
    report.write(o.out, result)
    report.draw(o.out, result)
    print(open(os.path.join(o.out, "table.md")).read())
    bad = [c for c in result["checks"] if not c["same"]]
    for c in bad:
        print(f"NOT THE SAME RESULTS: {json.dumps(c)}", file=sys.stderr)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
