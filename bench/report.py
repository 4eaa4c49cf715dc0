"""Results as JSON, as a Markdown table, and as figures by gnuplot."""
import json
import os
import re
import shutil
import subprocess
import sys

from accounting import WANTED


def write(folder, result):
    with open(os.path.join(folder, "results.json"), "w") as f:
        json.dump(result, f, indent=1)
    with open(os.path.join(folder, "table.md"), "w") as f:
        f.write(text(result))


def duration(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            break
    value = seconds / scale
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def best(times, start):
    """The best time whose label starts so, with its label; None if there is none."""
    found = [(t["time"], label) for label, t in times.items() if label.startswith(start)]
    return min(found) if found else None


def ratio(times, start, ours):
    found = best(times, start)
    return f"{found[0] / ours:.2f}" if found else "–"


def torch_cell(times):
    found = best(times, "torch plain")
    return f"{duration(found[0])} ({found[1].split()[-1]})" if found else "–"


def limit_cell(limit, seconds):
    cell = f"{100 * limit['seconds'] / seconds:.0f} % {limit['name']}"
    fma = limit.get("fma_seconds", 0)
    return f"{cell}, {100 * fma / seconds:.0f} % FMA" if fma else cell


def row_line(entry, threads, statistic):
    times = {k: dict(t, time=t[statistic]) for k, t in entry["times"].items()}
    name = entry["row"]
    ours, one = times[f"npagg {threads}"], times["npagg 1"]
    other = ratio({k: t for k, t in times.items() if "plain" not in k}, "torch", ours["time"])
    installed = duration(times["installed"]["time"]) if "installed" in times else "–"
    least, aim = WANTED.get(name, ("", ""))
    wanted = f"{least}; {aim}" if aim else least
    return [name, duration(ours["time"]), f"{duration(ours['q1'])} – {duration(ours['q3'])}",
            f"{one['time'] / ours['time']:.2f}", torch_cell(times), installed,
            ratio(times, "torch plain", ours["time"]), other,
            limit_cell(entry["limit"], ours["time"]), wanted]


def markdown(head, rows):
    return "\n".join("| " + " | ".join(r) + " |" for r in [head, ["---"] * len(head), *rows]) + "\n"


def group_text(result, group):
    rows = [row_line(e, result["threads"], result["statistic"]) for e in result["rows"]
            if e["group"] == group]
    head = ["row", "npagg", "quartiles", "gain of threads", "PyTorch tuned (threads)",
            "as installed", "ratio", "ratio, other form", "of the limit", "wanted; aim"]
    return f"### {group}\n\n" + markdown(head, rows) + "\n"


def peak_text(peaks):
    rows = []
    for p in peaks:
        ours, peer = p["npagg"], p.get("torch")
        arrays = ours["arrays_kb"]
        over = f"{100 * (ours['peak_kb'] - arrays) / arrays:.2f} %" if arrays else "–"
        rows.append([p["row"], f"{ours['peak_kb'] / 1024:.0f} MB", over,
                     f"{peer['peak_kb'] / 1024:.0f} MB" if peer else "–",
                     f"{peer['peak_kb'] / ours['peak_kb']:.1f}" if peer else "–"])
    head = ["row", "npagg", "above m, v, dm, dv", "PyTorch", "ratio"]
    return "### peak memory of the process\n\n" + markdown(head, rows) + "\n"


def check_text(checks):
    rows = [[c["row"], c["form"], "yes" if c["same"] else "**no**",
             *(f"{max(e[k] for e in c['errors'].values()):.1e}" for k in ("npagg", "torch"))]
            for c in checks]
    head = ["row", "form", "same", "npagg's largest error", "PyTorch's"]
    return "### the same results\n\n" + markdown(head, rows) + "\n"


def limit_text(result):
    limits, threads = result["limits"], result["threads"]
    rows = []
    for n in sorted({1, threads}):
        here = [l for l in limits if l["threads"] == n]
        fma = {l["isa"]: l["gflops"] for l in here if l["limit"] == "fma"}
        cells = [str(n)] + [f"{fma.get(i, 0):.0f}" for i in ("avx2", "avx512")]
        for shape in ((128, 128), (64, 128), (64, 64)):
            rate = max(l["gflops"] for l in here if l["limit"] == "layer" and
                       (l["in"], l["out"]) == shape)
            cells.append(f"{rate:.0f}")
        for bytes_ in (1 << 20, 1 << 25, 1 << 30):
            cells.append(" / ".join(f"{l['gbs']:.0f}" for kind in ("read", "copy", "memcpy")
                                    for l in here if l["limit"] == kind and l["bytes"] == bytes_))
        rows.append(cells)
    blis = result["blis"]
    note = (f"BLIS with its kernels for {blis['kernels']}: with those that it takes by itself it "
            f"does {blis['by_itself']:.0f} GFLOP/s on {threads} threads.\n\n"
            if blis["kernels"] else "")
    exchange = [f"A cache line goes from thread to thread in {1e3 / l['per_us']:.0f} ns.\n\n"
                for l in limits if l["limit"] == "exchange"]
    head = ["threads", "FMA AVX2", "FMA AVX-512", "BLIS 128×128", "BLIS 64×128", "BLIS 64×64",
            "read/copy/memcpy 1 MB", "32 MB", "1 GB"]
    return ("### limits of the machine (GFLOP/s, GB/s)\n\n" + markdown(head, rows) + "\n" +
            note + "".join(exchange))


def blas_name(paths):
    """openblas-openmp of /usr/lib/.../openblas-openmp/libblas.so.3."""
    return ", ".join(sorted({os.path.basename(os.path.dirname(p)) for p in paths})) or "none"


def machine_text(result):
    m = result["machine"]
    blas = "; ".join(f"{k}: {blas_name(m[k]['blas'])} {m[k]['kernels']}"
                     for k in ("tuned", "installed") if k in m)
    torch = m.get("tuned", {}).get("torch", "not run")
    return (f"{m['cpu']}, {m['cores']} cores, Linux {m['kernel']}; load {m['load'][0]:.2f} before; "
            f"gcc {m['gcc']}; PyTorch {torch}; {', '.join(m['packages'])}; commit {m['commit']}; "
            f"{m['date']}. BLAS of PyTorch, {blas or 'not run'}. The {result['statistic']} "
            f"{result['clock']} of {result['blocks']} blocks of {result['seconds']} s or one call, "
            f"on {result['threads']} threads.\n\n")


def law_text(result):
    """Statements about two rows each."""
    key = f"npagg {result['threads']}"
    time = {e["row"]: e["times"][key][result["statistic"]] for e in result["rows"]}
    laws = [("time per point, 10⁷ over 10⁶ points, BA, D = 16", "ba-1x10000000x16",
             "ba-1x1000000x16", 10),
            ("the same, rBA", "rba5-1x10000000x16", "rba5-1x1000000x16", 10),
            ("mBA's time over BA's, 100 × 197 × 128", "mba5-100x197x128", "ba-100x197x128", 1),
            ("50 components over 10", "mba50-16x47x128", "mba10-16x47x128", 1),
            ("50 sweeps over 10", "rba50-16x47x128", "rba10-16x47x128", 1),
            ("1024 dimensions over 256, BA", "ba-16x47x1024", "ba-16x47x256", 1)]
    rows = [[what, f"{time[a] / time[b] / n:.2f}"] for what, a, b, n in laws
            if a in time and b in time]
    return "### laws\n\n" + markdown(["what", "ratio"], rows) + "\n" if rows else ""


def text(result):
    groups = list(dict.fromkeys(e["group"] for e in result["rows"]))
    return (machine_text(result) + "".join(group_text(result, g) for g in groups) +
            law_text(result) + (peak_text(result["peaks"]) if result.get("peaks") else "") +
            limit_text(result) + (check_text(result["checks"]) if result["checks"] else ""))


# --- figures --------------------------------------------------------------------------------------

def curve(result, pattern, value):
    """Sorted (x, y) of the rows whose name matches, x its one group."""
    points = []
    for e in result["rows"]:
        found = re.fullmatch(pattern, e["row"])
        if found:
            points.append((int(found.group(1)), value(e, int(found.group(1)))))
    return sorted(points)


def figures(result):
    """name -> (title, x label, y label, axes, {curve: points})."""
    key = f"npagg {result['threads']}"
    per_point = lambda e, n: 1e9 * e["times"][key][result["statistic"]] / n
    micro = lambda e, n: 1e6 * e["times"][key][result["statistic"]]
    stream = {f"{k}, {n} threads": sorted((l["bytes"], l["gbs"]) for l in result["limits"]
                                          if l["limit"] == k and l["threads"] == n)
              for k in ("read", "copy") for n in sorted({1, result["threads"]})}
    return {
        "points": ("Forward and backward, D = 16", "points in the set", "ns per point", "xy", {
            "BA": curve(result, r"ba-1x(\d+)x16", per_point),
            "rBA, 5 sweeps": curve(result, r"rba5-1x(\d+)x16", per_point)}),
        "components": ("mBA, 16 x 47 x 128", "components", "microseconds", "", {
            "mBA": curve(result, r"mba(\d+)-16x47x128", micro)}),
        "sweeps": ("rBA, 16 x 47 x 128", "sweeps", "microseconds", "", {
            "rBA": curve(result, r"rba(\d+)-16x47x128", micro)}),
        "dimensions": ("16 x 47 points", "dimensions", "microseconds", "", {
            "BA": curve(result, r"ba-16x47x(\d+)", micro),
            "rBA, 5 sweeps": curve(result, r"rba5-16x47x(\d+)", micro)}),
        "bandwidth": ("Memory", "bytes in use", "GB/s", "xy", stream),
    }


def script(folder, name, figure):
    title, xlabel, ylabel, axes, curves = figure
    out = [f"set title '{title}'", f"set xlabel '{xlabel}'", f"set ylabel '{ylabel}'",
           "set grid", "set key top left", "set yrange [0:*]" if not axes else ""]
    if axes:
        out += [f"set logscale {axes}", "set format x '10^{%L}'"]
    for i, points in enumerate(curves.values()):
        out += [f"$curve{i} << end", *(f"{x} {y}" for x, y in points), "end"]
    plot = ", ".join(f"$curve{i} with linespoints title '{label}'"
                     for i, label in enumerate(curves))
    for terminal, suffix in (("pngcairo size 800,500", "png"), ("svg size 800,500", "svg")):
        out += [f"set terminal {terminal}", f"set output '{os.path.join(folder, name)}.{suffix}'",
                "plot " + plot]
    return "\n".join(out) + "\n"


def draw(folder, result):
    if not shutil.which("gnuplot"):
        print("no figures: gnuplot is not there (Debian: gnuplot-nox)", file=sys.stderr)
        return
    for name, figure in figures(result).items():
        curves = {k: c for k, c in figure[4].items() if len(c) > 1}
        if curves:
            path = os.path.join(folder, name + ".gp")
            with open(path, "w") as f:
                f.write(script(folder, name, (*figure[:4], curves)))
            subprocess.run(["gnuplot", path], check=True)


if __name__ == "__main__":  # report.py FOLDER: table and figures again from its results.json
    with open(os.path.join(sys.argv[1], "results.json")) as f:
        saved = json.load(f)
    write(sys.argv[1], saved)
    draw(sys.argv[1], saved)
