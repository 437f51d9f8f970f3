"""Closures that do not exist: finding the vertex and the cycle, and telling them from rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .algorithms.relaxation import improving_cycle
from .core import Semiring
from .errors import NoClosureError
from .kernels.facts import Facts
from .kernels.lowering import Lowering, fitting, roomy
from .laws import show


def undefined_star(S: Semiring, names: Sequence[Any] | None, pivot: int) -> NoClosureError:
    vertex = names[pivot] if names is not None else pivot
    return NoClosureError(
        f"the closure over {S.name} does not exist: eliminating vertex {vertex!r} needs the star of an element that "
        "has none (a cycle through it has no limit). The input is unchanged unless overwrite=True",
        vertex=vertex,
    )


def may_diverge(low: Lowering) -> bool:
    """Whether a cycle can improve for ever; on packed bits, and where one is the best element, none can."""
    return low.algebra.selective and not low.algebra.bounded and low.kind != "packed"


def check_cycles(
    low: Lowering, work: np.ndarray, array: np.ndarray | None, facts: Facts, names: Sequence[Any] | None
) -> None:
    """Refuse a closure in which a cycle improves for ever: on the diagonal, 1 ⊕ a ≠ 1."""
    S = low.algebra
    flat = work.diagonal(0, -2, -1).reshape(-1)
    one = low.one[0] if not low.storage.names else np.array(low.one, low.storage)
    improved = np.flatnonzero(low.add_one(flat) != one)
    if not improved.size:
        return
    n = work.shape[-1]
    slack = improved[_is_slack(low, flat[improved], facts, n)] if low.storage.kind == "f" else improved[:0]
    doubtful = set(slack.tolist())
    for place in [i for i in improved.tolist() if i not in doubtful] + sorted(doubtful):
        matrix, vertex = divmod(place, n)
        cycle, weight, certain = (None, None, place not in doubtful)
        if array is not None:
            cycle, weight, improves = improving_cycle(roomy(S, array.reshape(-1, n, n)[matrix], facts), S, vertex)
            weight = fitting(S, weight, array.dtype) if cycle is not None else None
            certain = improves if place in doubtful else True
        if certain:
            raise improving(S, names, vertex, cycle, weight, matrix if work.ndim > 2 else None)
    # What is left are cycles of weight one that rounding made look better.
    stack = work.reshape(-1, n, n)
    for place in doubtful:
        matrix, vertex = divmod(place, n)
        stack[matrix, vertex, vertex] = low.one[0]


def _is_slack(low: Lowering, values: np.ndarray, facts: Facts, n: int) -> np.ndarray:
    """Whether the distance from one is no more than n roundings of sums (or products) could make."""
    sums = low.algebra.traced is not None and low.algebra.traced.raw_mul.is_plain("add")
    scale = float(facts.largest) if sums else np.abs(values)
    return np.abs(values - low.one[0]) <= n * np.finfo(low.dtype).eps * scale


def improving(
    S: Semiring, names: Sequence[Any] | None, vertex: int, cycle: list[int] | None, weight: Any, matrix: int | None
) -> NoClosureError:
    label = (lambda v: names[v]) if names is not None else (lambda v: v)
    where = "" if matrix is None else f" of matrix {matrix} of the stack"
    if cycle is None:
        found = f"a cycle through vertex {label(vertex)!r}{where} improves for ever"
        labels = None
    else:
        labels = [label(v) for v in cycle]
        route = " → ".join(map(str, labels if len(labels) <= 12 else [*labels[:6], "…", *labels[-5:]]))
        found = f"the cycle {route}{where} of weight {show(weight)} improves for ever"
    return NoClosureError(
        f"the closure over {S.name} does not exist: {found}. Remove or mend one of its edges",
        vertex=label(vertex), cycle=labels, weight=weight,
    )  # fmt: skip
