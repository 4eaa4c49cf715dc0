"""What a row needs at least, and how long that takes at the machine's measured limits."""
# Smallest ratio to PyTorch that is wanted, and the aim; "copy" is a share of copy bandwidth.
WANTED = {
    "ba-16x47x128": ("5x", "10x"),
    "mba5-16x47x128": ("10x", "20x"),
    "rba5-16x47x128": ("25x", "60x"),
    "ba-100x197x128": ("70 % of copy, about 2x", "85 %"),
    "mba5-100x197x128": ("1.15 of BA's time, about 6x", "8x"),
    "rba5-100x197x128": ("20x", "28x"),
    "ba-1x1000000x128": ("70 % of copy", "85 %"),
    "rba5-1x200000x128": ("12x", "20x"),
    "rba5-1x1000000x128": ("runs; arrays + 1 % memory", ""),
    "step-1d-ba-s5": ("3.3x", "4.2x"),
    "step-1d-mba5-s10": ("3.2x", "4.0x"),
    "step-1d-rba5-s5": ("4.7x", "5.8x"),
    "step-image-ba-s5": ("1.9x, 70 % of BLIS", "2.3x, 85 %"),
    "step-image-mba5-s10": ("1.8x, 70 % of BLIS", "2.2x, 85 %"),
    "step-image-rba5-s5": ("2.1x, 70 % of BLIS", "2.7x, 85 %"),
    "ba-1x10x128-idle": ("2 threads no slower", "3 us"),
}

RECIPROCAL = 4  # operations of 1/v: an estimate and a step of Newton's


def layers(r):
    """(rows, inputs, outputs, has input gradient) of all products of a step; decoder split."""
    image = r["step"] == "image"
    d, x, points = r["d"], r["x_dim"], r["sets"] * r["points"]
    narrow = [x + 1] + [64] * (4 if image else 3) + [d]
    wide = [128] * (3 if image else 2) + [1]
    net = [(points, i, o, n > 0) for n, (i, o) in enumerate(zip(narrow, narrow[1:]))]
    net += [(r["sets"] * r["samples"], d, wide[0], True), (points, x, wide[0], False)]
    net += [(points * r["samples"], i, o, True) for i, o in zip(wide, wide[1:])]
    return net * 2


def flops(r):
    """Multiplications and additions of the products: forward, inputs' and weights' gradients."""
    return sum(2 * rows * i * o * (3 if back else 2) for rows, i, o, back in layers(r))


def layer_rate(limits, threads, i, o):
    """BLIS's best rate at a layer's shape. Layers with a side below 64 have few multiplications:
    they count at the rate of 64 x 64."""
    shape = (min(i, o), max(i, o)) if min(i, o) >= 64 else (64, 64)
    return 1e9 * max(l["gflops"] for l in limits if l["limit"] == "layer" and
                     l["threads"] == threads and (l["in"], l["out"]) == shape)


def fma_rate(limits, threads):
    """Multiplications and additions per second of the widest vectors; 0 if not measured."""
    return 1e9 * max((l["gflops"] for l in limits if l["limit"] == "fma" and
                      l["threads"] == threads), default=0)


def stream_rate(limits, threads, kinds, size):
    """Bytes per second of the best of these loops, and its name; its arrays the next larger measured
    size."""
    here = [l for l in limits if l["limit"] in kinds and l["threads"] == threads]
    sizes = [l["bytes"] for l in here]
    at = min((s for s in sizes if s >= size), default=max(sizes))
    best = max((l for l in here if l["bytes"] == at), key=lambda l: l["gbs"])
    return 1e9 * best["gbs"], best["limit"]


def counted(r, cache):
    """Bytes that pass and numbers that are computed on, of an aggregation.

    Forward reads m and v, backward reads them and adds to dm and dv. With T sweeps, a set that does
    not fit in the second-level cache (its size in bytes is given) is read T times forward and T
    times backward.
    """
    numbers = r["sets"] * r["points"] * r["d"]
    sweeps = r["count"] if r["prior"] == "rba" else 1
    passes = sweeps if 8 * r["points"] * r["d"] > cache else 1
    back = r["part"] in ("both", "logz")
    logz = 5 if r["part"] == "logz" else 0
    arrays = 2 * passes + (2 * passes + 4 if back else 0)
    more = 4 * (sweeps - 1)  # two products over dimensions, two over rows
    operations = RECIPROCAL + 2 + (3 + more if sweeps > 1 else 0) + logz
    if back:
        push = 5 if sweeps == 1 else 2 * (2 * sweeps - 1) + 8
        operations += RECIPROCAL + (2 + more if sweeps > 1 else 0) + push + (2 if logz else 0)
    return dict(bytes=4 * numbers * arrays, resident=4 * numbers * (4 if back else 2),
                operations=operations * numbers, back=back)


def limit(r, limits, threads):
    """Which limit binds, and the seconds it gives."""
    if r["step"]:
        seconds = sum(2 * rows * i * o * (3 if back else 2) / layer_rate(limits, threads, i, o)
                      for rows, i, o, back in layers(r))
        fma = fma_rate(limits, threads)
        return dict(name="BLIS", seconds=seconds, gflop=1e-9 * flops(r),
                    fma_seconds=flops(r) / fma if fma else 0)
    c = counted(r, next(l["bytes"] for l in limits if l["limit"] == "cache"))
    kinds = ("copy", "memcpy") if c["back"] else ("read",)
    rate, loop = stream_rate(limits, threads, kinds, c["resident"])
    memory = c["bytes"] / rate
    fma = fma_rate(limits, threads)
    compute = 2 * c["operations"] / fma if fma else 0
    name = ("copy" if c["back"] else "read") if memory >= compute else "arithmetic"
    return dict(name=name, seconds=max(memory, compute), megabytes=1e-6 * c["bytes"], loop=loop,
                resident=c["resident"], compute_seconds=compute)
