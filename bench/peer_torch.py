#!/usr/bin/env python3
"""Times the rows of bench/row.h in PyTorch (bench/peer_model.py), and compares results.

    peer_torch.py --serve                   the commands of bench.c; "set NAME FORM"; "versions"
    peer_torch.py --row NAME [--form F] [--threads N] [--blocks N] [--seconds S]
    peer_torch.py --row NAME --peak
    peer_torch.py --cpu-time ...            processor time instead of time
    peer_torch.py --row NAME --check DIR    compares with what npagg-bench --dump DIR wrote
"""
import argparse
import ctypes
import json
import re
import statistics
import struct
import sys
import time

import numpy as np
import torch

from peer_model import create
from rows import parse_row

# Largest difference from a float64 run of peer_model.py on the same float32 inputs, relative to the
# largest entry of an array. The library's is for results that were computed with care, measured at
# up to 3e-6; PyTorch's for long float32 sums, measured at up to 2e-4.
TOLERANCE = dict(npagg=1e-5, torch=1e-3)


# --- comparing with what npagg-bench --dump wrote -----------------------------------------------

def raw(folder, name, shape=(-1,), dtype=torch.float32):
    return torch.from_numpy(np.fromfile(f"{folder}/{name}", np.float32)).to(dtype).reshape(shape)


def load_aggregation(r, folder, form, dtype):
    """The same inputs in a work; results as a flat array each, laid out as the library's."""
    w = create(r, form, dtype)
    with torch.no_grad():
        w.m.copy_(raw(folder, "m", w.m.shape)), w.v.copy_(raw(folder, "v", w.v.shape))
        flat, at = raw(folder, "params"), 0
        for p in w.params.values():
            p.copy_(flat[at:at + p.numel()].reshape(p.shape))
            at += p.numel()
    dq, at = raw(folder, "dq", (r["sets"], -1)), 0
    for i, g in enumerate(w.grads[:3]):
        if g is not None:
            count = g[0].numel()
            w.grads[i] = dq[:, at:at + count].reshape(g.shape).to(dtype)
            at += count
    if w.logz:
        w.grads[3] = raw(folder, "dlogz", dtype=dtype)
    out = w.run()
    result = dict(q=torch.cat([o.reshape(r["sets"], -1) for o in out[:3] if o is not None], 1))
    if w.back:
        result.update(dm=w.m.grad, dv=w.v.grad,
                      dparams=torch.cat([p.grad.flatten() for p in w.params.values()]))
    if w.logz:
        result["logz"] = out[3]
    return result


def library_names(folder):
    """Tensors of the checkpoint in the order of the flat array."""
    with open(f"{folder}/model.safetensors", "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
    header.pop("__metadata__", None)
    return sorted(header, key=lambda n: header[n]["data_offsets"][0])


def torch_name(name):
    """encoder.mean.1.weight -> enc_mean.2.weight: every other module is a ReLU."""
    stage, rest = name.split(".", 1)
    if stage == "prior":
        return name
    net, layer, kind = rest.split(".")
    return f"{stage[:3]}_{net}.{2 * int(layer)}.{kind}"


def load_step(r, folder, form, dtype):
    w = create(r, form, dtype)
    params, at = dict(w.model.named_parameters()), 0
    flat, order = raw(folder, "params"), [torch_name(n) for n in library_names(folder)]
    if sorted(order) != sorted(params):
        sys.exit(f"peer_torch: tensors differ: {sorted(order)} and {sorted(params)}")
    with torch.no_grad():
        for name in order:
            p = params[name]
            p.copy_(flat[at:at + p.numel()].reshape(p.shape))
            at += p.numel()
        w.x.copy_(raw(folder, "x", w.x.shape)), w.y.copy_(raw(folder, "y", w.y.shape))
        w.noise.copy_(raw(folder, "noise", w.noise.shape))
    loss = w.run()
    return dict(loss=loss, dparams=torch.cat([params[n].grad.flatten() for n in order]))


def check(r, folder, form):
    load = load_step if r["step"] else load_aggregation
    exact, single = (load(r, folder, form, t) for t in (torch.float64, torch.float32))
    good, errors = True, {}
    for name, truth in exact.items():
        truth = truth.detach().flatten()
        scale = truth.abs().max()
        mine = single[name].detach().flatten().double()
        theirs = raw(folder, name, dtype=torch.float64)
        pair = dict(npagg=theirs, torch=mine)
        errors[name] = {k: float((x - truth).abs().max() / scale) for k, x in pair.items()}
        good = good and all(errors[name][k] <= TOLERANCE[k] for k in pair)
    print(json.dumps(dict(row=r["name"], form=form, same=good, tolerance=TOLERANCE, errors=errors)))
    return good


# --- timing, as in timing.c ---------------------------------------------------------------------

clock = time.perf_counter


def time_together(w, seconds):
    calls, batch, start = 0, 1, clock()
    now = start
    while calls == 0 or (now - start) * (calls + batch) / calls < 1.1 * seconds:
        for _ in range(batch):
            w.run()
        calls += batch
        now = clock()
    return (now - start) / calls, calls


def time_alone(w, seconds):
    took, end = [], time.perf_counter() + seconds
    while len(took) < 5 or time.perf_counter() < end:
        time.sleep(0.001)
        start = clock()
        w.run()
        took.append(clock() - start)
    return statistics.median(took), len(took)


def block(r, w, threads, seconds):
    torch.set_num_threads(threads)
    w.begin()
    w.run()
    return (time_alone if r["part"] == "idle" else time_together)(w, seconds)


def memory(field):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(field))


def peak(r, form, threads):
    torch.set_num_threads(threads)
    before = memory("VmRSS")
    w = create(r, form)
    w.run(), w.run()
    print(json.dumps(dict(row=r["name"], threads=threads, before_kb=before,
                          peak_kb=memory("VmHWM"))))


def serve():
    r = w = None
    for line in sys.stdin:
        words = line.split()
        if words[0] == "set":
            w = None
            r = parse_row(words[1])
            w = create(r, words[2] if len(words) > 2 else "plain")
            answer = dict(row=r["name"])
        elif words[0] == "block":
            seconds, calls = block(r, w, int(words[1]), float(words[2]))
            answer = dict(seconds=seconds, calls=calls)
        elif words[0] == "versions":
            answer = dict(torch=torch.__version__, blas=loaded_blas(), kernels=blas_kernels())
        else:
            w, answer = None, {}
        print(json.dumps(answer), flush=True)


def loaded_blas():
    with open("/proc/self/maps") as f:
        paths = {line.split()[-1] for line in f if ".so" in line}
    return sorted(p for p in paths if re.search(r"lib(open)?(blas|blis|mkl)", p))


def blas_kernels():
    """The processor that OpenBLAS takes this one for."""
    for path in loaded_blas():
        try:
            name = ctypes.CDLL(path).openblas_get_corename
        except (OSError, AttributeError):
            continue
        name.restype = ctypes.c_char_p
        return name().decode()
    return ""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--serve", action="store_true")
    options.add_argument("--row", action="append", default=[])
    options.add_argument("--form", default="plain", choices=("plain", "lean", "printed"))
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--blocks", type=int, default=9)
    options.add_argument("--seconds", type=float, default=0.05)
    options.add_argument("--peak", action="store_true")
    options.add_argument("--check")
    options.add_argument("--cpu-time", action="store_true")
    o = options.parse_args()
    if o.cpu_time:
        global clock
        clock = time.process_time
    if o.serve:
        serve()
    good = True
    for r in map(parse_row, o.row):
        if o.check:
            good = check(r, o.check, o.form) and good
        elif o.peak:
            peak(r, o.form, o.threads)
        else:
            w = create(r, o.form)
            took = [1e6 * block(r, w, o.threads, o.seconds)[0] for _ in range(o.blocks)]
            print(json.dumps(dict(row=r["name"], form=o.form, threads=o.threads,
                                  median_us=statistics.median(took), min_us=min(took))), flush=True)
    sys.exit(not good)


if __name__ == "__main__":
    main()
