"""Objectives: what a model's loss is (objective.h)."""

from __future__ import annotations

from enum import IntEnum
from typing import Optional, Union

from ._abi import C
from ._check import choice, integer
from ._handle import Handle, create
from ._setting import Setting, one_of
from .ctx import Context, context
from .posterior import Kl, Sampling


class Loss(IntEnum):
    """Kinds of objectives."""

    ELBO = 0
    ELBO_CLOSED = 1
    IWAE = 2
    ML = 3


class Points(IntEnum):
    """Points that the likelihood is over."""

    TARGET = 0
    ALL = 1


class Normalise(IntEnum):
    """What a loss is divided by."""

    NONE = 0
    POINTS = 1


class Objective(Handle):
    """What a loss is: kind "elbo", "elbo_closed", "iwae" or "ml" and its settings.

    points: "target" or "all"; normalise: "none" or "points" (None: the kind's own, all and points
    for iwae, target and none for the others). samples: S, of z per task. sampling: "stratified",
    "chosen" or "pathwise". kl: "auto", "closed", "sampled" or "matched".
    """

    _fixed = frozenset({"kind"})

    samples = Setting("objective_set_samples", integer)
    points = Setting("objective_set_points", one_of(Points))
    normalise = Setting("objective_set_normalise", one_of(Normalise))
    sampling = Setting("objective_set_sampling", one_of(Sampling))
    kl = Setting("objective_set_kl", one_of(Kl))

    def __init__(
        self,
        kind: Union[Loss, str] = Loss.ELBO,
        samples: int = 5,
        points: Union[None, Points, str] = None,
        normalise: Union[None, Normalise, str] = None,
        sampling: Union[Sampling, str] = Sampling.STRATIFIED,
        kl: Union[Kl, str] = Kl.AUTO,
        ctx: Optional[Context] = None,
    ) -> None:
        self.kind = choice(kind, Loss, "kind")
        create(self, context(ctx), C.objective_create, C.objective_destroy, self.kind)
        iwae = self.kind == Loss.IWAE
        self.samples = samples
        self.points = (Points.ALL if iwae else Points.TARGET) if points is None else points
        self.normalise = (
            (Normalise.POINTS if iwae else Normalise.NONE) if normalise is None else normalise
        )
        self.sampling = sampling
        self.kl = kl

    def __reduce__(self):
        return Objective, (
            int(self.kind),
            self.samples,
            int(self.points),
            int(self.normalise),
            int(self.sampling),
            int(self.kl),
        )
