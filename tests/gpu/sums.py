"""Algebras, elements and layouts for tests of sums and products along axes whose kernels run on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from gpu.host import Host

import semiring as sr

TRIANGULAR = sr.Semiring(  # matrices [[p, q], [∞, r]] over min-plus, which do not commute
    "triangular", zero=(np.inf, np.inf, np.inf), one=(0, np.inf, 0), fields={"p": "f8", "q": "f8", "r": "f8"},
    add=lambda x, y: tuple(np.minimum(a, b) for a, b in zip(x, y, strict=True)),
    mul=lambda x, y: (x[0] + y[0], np.minimum(x[0] + y[1], x[1] + y[2]), x[2] + y[2]),
)
SOFT_MIN = sr.Semiring(
    "soft minimum", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=np.inf, product_only=True
)
LAYOUTS = ("C", "reversed axes", "gaps", "backwards", "shifted")
CASES = {
    "min-plus f4": (sr.min_plus, "f4", "add"), "plus-times f8": (sr.plus_times, "f8", "add"),
    "log f4": (sr.log, "f4", "add"), "soft minimum f8": (SOFT_MIN, "f8", "add"), "boolean": (sr.boolean, "?", "add"),
    "counting i4": (sr.counting, "i4", "add"), "counting u1": (sr.counting, "u1", "add"),
    "product i8": (sr.min_plus, "i8", "mul"), "viterbi f4": (sr.viterbi, "f4", "mul"),
    "triangular": (TRIANGULAR, [(c, "f8") for c in "pqr"], "mul"),
    "triangular sums": (TRIANGULAR, [(c, "f8") for c in "pqr"], "add"),
}


def numbers(S: sr.Semiring, dtype: Any, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Elements whose sums and products are exact, but for logarithms; products of them do not vanish."""
    rng, kind = np.random.default_rng(seed), np.dtype(dtype)
    found = np.empty(shape, kind)
    if kind.names:
        for field in kind.names:
            found[field] = rng.integers(0, 9, shape)
    elif S in (sr.log, SOFT_MIN):
        found[...] = rng.normal(size=shape, scale=9)
    elif S is sr.viterbi:
        found[...] = np.where(rng.random(shape) < 0.001, 0.5, 1)
    elif kind.kind == "u":
        found[...] = rng.random(shape) < 0.001
    else:
        found[...] = rng.integers(0, 9, shape)
    return found


def on_host(host: Host, x: np.ndarray, layout: str) -> Any:
    """The array in memory in C order, with its axes the other way round, with gaps, or backwards."""
    if layout == "reversed axes":
        return host.array(np.array(x.transpose(), order="C")).transpose()
    if layout == "gaps" and x.ndim:
        wide = host.array(np.zeros([2 * n + 1 for n in x.shape], x.dtype))
        part = wide[tuple(slice(1, None, 2) for _ in x.shape)]
        part[...] = x
        return part
    if layout == "backwards" and x.ndim:
        return host.array(np.ascontiguousarray(x[..., ::-1]))[..., ::-1]
    if layout == "shifted" and x.ndim:
        wide = host.array(np.zeros((*x.shape[:-1], x.shape[-1] + 1), x.dtype))
        wide[..., 1:] = x
        return wide[..., 1:]
    return host.array(x)
