"""Names of rows as in row.h."""
import re
import sys

# Forms of the aggregation in peer_model.py.
FORMS = dict(ba=["plain"], mba=["plain", "printed"], rba=["plain", "lean"])


def parse_row(name):
    agg = re.fullmatch(r"(ba|mba|rba)(\d*)-(\d+)x(\d+)x(\d+)(?:-(logz|fwd|idle))?", name)
    if agg:
        prior, count, sets, points, d, part = agg.groups()
        return dict(name=name, prior=prior, count=int(count or 1), sets=int(sets),
                    points=int(points), d=int(d), part=part or "both", step=None)
    step = re.fullmatch(r"step-(1d|image)-(ba|mba|rba)(\d*)-s(\d+)", name)
    if not step:
        sys.exit(f"bench: no such row: {name}")
    kind, prior, count, samples = step.groups()
    image = kind == "image"
    return dict(name=name, prior=prior, count=int(count or 1), samples=int(samples), step=kind,
                sets=100 if image else 16, context=100 if image else 24,
                points=150 if image else 38, d=128, part="both", x_dim=2 if image else 1)
