"""Priors: the graphical model that says how the factors of a set combine (prior.h)."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from ._abi import C
from ._check import integer, output, rank, read, real_for, real_of, text
from ._handle import Handle, address, create
from ._setting import Setting, flag
from .ctx import Context, context


class Prior(Handle):
    """Shape of a prior over z [D]; parameters are arrays of the caller's.

    Made by :meth:`gaussian`, :meth:`mixture` or :meth:`student`. ``d`` dimensions, ``k``
    components, ``n_params`` = P unconstrained parameters, ``n_posterior`` = Q numbers a posterior.
    """

    d: int
    k: int
    kind: str
    n_params: int
    n_posterior: int
    _fixed = frozenset({"d", "k", "kind", "n_params", "n_posterior"})

    #: Student-t factors; adds or removes the parameter "log_c0".
    robust = Setting("prior_set_robust", flag)

    def __init__(
        self,
        kind: str,
        d: int,
        k: int = 1,
        robust: Optional[bool] = None,
        ctx: Optional[Context] = None,
    ) -> None:
        kinds: Dict[str, Callable] = {
            "gaussian": C.prior_create_gaussian,
            "mixture": C.prior_create_mixture,
            "student": C.prior_create_student,
        }
        if kind not in kinds:
            raise ValueError(f"kind is {kind!r}, want one of {list(kinds)}")
        self.kind, self.d, self.k = kind, integer(d, "d"), integer(k, "k")
        if kind != "mixture" and k != 1:
            raise ValueError(f"k = {k}, want 1 for a {kind} prior")
        sizes = (self.d, self.k) if kind == "mixture" else (self.d,)
        create(self, context(ctx), kinds[kind], C.prior_destroy, *sizes)
        self.robust = kind == "student" if robust is None else robust

    @classmethod
    def gaussian(cls, d: int, robust: bool = False, ctx: Optional[Context] = None) -> "Prior":
        """z ~ N(mean, var): Bayesian aggregation."""
        return cls("gaussian", d, 1, robust, ctx)

    @classmethod
    def mixture(
        cls, d: int, k: int, robust: bool = False, ctx: Optional[Context] = None
    ) -> "Prior":
        """z from k Gaussians: several modes."""
        return cls("mixture", d, k, robust, ctx)

    @classmethod
    def student(cls, d: int, ctx: Optional[Context] = None) -> "Prior":
        """z ~ N(0, 1/alpha), Gamma on alpha, Student-t factors: outliers lose their weight."""
        return cls("student", d, 1, None, ctx)

    def __reduce__(self):
        return Prior, (self.kind, self.d, self.k, self.robust)

    def __repr__(self) -> str:
        return f"Prior({self.kind!r}, d={self.d}, k={self.k}, robust={self.robust})"

    def _changed(self) -> None:
        self.__dict__["n_params"] = C.prior_param_count(self._h)
        self.__dict__["n_posterior"] = C.prior_posterior_count(self._h)

    def param_offset(self, field: str) -> int:
        """Where a parameter begins; KeyError if there is none of that name."""
        return _found(
            C.prior_param_offset(address(self, Prior, "prior"), text(field, "field")), field
        )

    def posterior_offset(self, field: str) -> int:
        """Where a field of a posterior begins; KeyError if there is none of that name."""
        return _found(
            C.prior_posterior_offset(address(self, Prior, "prior"), text(field, "field")), field
        )

    def param_shapes(self) -> Dict[str, Tuple[int, ...]]:
        """Names and shapes of the parameters, in their order."""
        matrix = (self.k, self.d)
        shapes = {
            "mean": matrix,
            "logvar": matrix,
            "logits": (self.k,),
            "log_a0": (),
            "log_b0": (),
            "log_c0": (),
        }
        return {
            f: s
            for f, s in shapes.items()
            if C.prior_param_offset(address(self, Prior, "prior"), f.encode()) >= 0
        }

    def split_params(self, params: np.ndarray) -> Dict[str, np.ndarray]:
        """Views of params [P] by name: "mean", "logvar" [K,D], "logits" [K], "log_a0" [] .."""
        read(params, "params", real_of(params, "params").dtype, (self.n_params,))
        return {f: _view(params, self.param_offset(f), s) for f, s in self.param_shapes().items()}

    def split_posterior(self, q: np.ndarray) -> Dict[str, np.ndarray]:
        """Views of q [B,Q] by name: "mean", "var" [B,K,D] and, of a mixture, "logw" [B,K]."""
        n_sets, width = rank(q, "q", 2)
        if width != self.n_posterior:
            raise ValueError(f"q has shape {list(q.shape)}, want [B, {self.n_posterior}]")
        size, views = self.k * self.d, {}
        for field in ("mean", "var"):
            begin = self.posterior_offset(field)
            views[field] = q[:, begin : begin + size].reshape(n_sets, self.k, self.d)
        if self.kind == "mixture":
            begin = self.posterior_offset("logw")
            views["logw"] = q[:, begin : begin + self.k]
        return views

    def init_params(
        self,
        seed: int = 0,
        dtype: Any = None,
        out: Optional[np.ndarray] = None,
        ctx: Optional[Context] = None,
    ) -> np.ndarray:
        """params [P]: the paper's values. dtype float64 unless given or taken from out."""
        real = real_for(dtype) if out is None else real_of(out, "out")
        out, to = output(out, "out", real.dtype, (self.n_params,))
        seed = integer(seed, "seed", 64, signed=False)
        context(ctx).call(real.prior_init_params, address(self, Prior, "prior"), seed, to)
        return out

    def constrained(
        self, params: np.ndarray, out: Optional[np.ndarray] = None, ctx: Optional[Context] = None
    ) -> np.ndarray:
        """[P]: variances, mixing weights, a0, b0, c0 in place of their logs. out may be params."""
        real = real_of(params, "params")
        source = read(params, "params", real.dtype, (self.n_params,))
        out, to = output(out, "out", real.dtype, (self.n_params,))
        context(ctx).call(real.prior_constrained, address(self, Prior, "prior"), source, to)
        return out


def _found(offset: int, field: str) -> int:
    if offset < 0:
        raise KeyError(field)
    return offset


def _view(params: np.ndarray, begin: int, shape: Tuple[int, ...]) -> np.ndarray:
    return params[begin : begin + int(np.prod(shape, dtype=int))].reshape(shape)
