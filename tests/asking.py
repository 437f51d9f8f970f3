"""What generated algebras are asked: every verb, method and layout, each with what should come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import bases
import numpy as np
import scipy.sparse as sp
import strategies
from bases import EXISTS, UNSURE, Array
from generated import Generated

from semiring.graphs.texts import as_stored

DENSE = (
    ("auto", None), ("floyd-warshall", None), ("blocked", 1), ("blocked", 2), ("blocked", 3), ("r-kleene", 1),
    ("r-kleene", 2), ("r-kleene", 3), ("elimination", None), ("elimination", 2), ("squaring", None),
)
LAYOUTS = ("C", "Fortran", "strided", "reversed", "rows reversed", "part of a larger", "read-only")


@dataclass(frozen=True)
class Check:
    """A call on stacks of matrices, and what should come of it.

    `answer`, of a `Known` and the inputs, gives base elements, a code for each matrix, and where entries count (None:
    everywhere).
    """

    text: str
    run: Callable[..., Array]
    answer: Callable[..., tuple[Array, Array, Array | None]]
    note: str = ""  # what the text does not say
    any_order: bool = False  # vertices may be eliminated in an order of the method's own

    @property
    def inputs(self) -> int:
        """How many matrices it takes: A, or A and B, or A, B and C."""
        return 1 + ("B" in self.text) + ("C)" in self.text)


class Known:
    """Closures over the base, each worked out once for the checks that ask for it."""

    def __init__(self, g: Generated):
        self.g = g
        self.found: dict[tuple, tuple[Array, Array]] = {}

    def closure(self, A: Array) -> tuple[Array, Array]:
        """A* of each matrix as base elements, and whether it exists."""
        key = (A.shape, A.dtype, A.tobytes())
        if key not in self.found:
            if len(self.found) >= 64:
                self.found.clear()
            self.found[key] = self.g.closure(A)
        return self.found[key]


def closure_answer(known: Known, A: Array) -> tuple[Array, Array, None]:
    """A*."""
    return (*known.closure(A), None)


def plus_answer(known: Known, A: Array) -> tuple[Array, Array, None]:
    """A⁺ = A A*."""
    star, code = known.closure(A)
    return bases.matmul(known.g.base, known.g.from_data(A), star), code, None


def solve_answer(known: Known, A: Array, B: Array, left: bool = False) -> tuple[Array, Array, None]:
    """A* B, or B A*."""
    g = known.g
    star, code = known.closure(A)
    inexact, _ = g.to_data(star, A.dtype)
    lost = g.is_constant(inexact, g.zero) & ~g.is_zero(star)  # what underflows takes an infinity of B with it
    code = np.where(lost.any(axis=(1, 2)) & (code == EXISTS), UNSURE, code)
    b = g.from_data(B)
    return bases.matmul(g.base, *((b, star) if left else (star, b))), code, None


def product_answer(known: Known, A: Array, B: Array, C: Array | None = None) -> tuple[Array, Array, None]:
    """C ⊕ A B."""
    g = known.g
    start = None if C is None else g.from_data(C)
    return bases.matmul(g.base, g.from_data(A), g.from_data(B), start), np.full(len(A), EXISTS), None


def convolution_answer(known: Known, A: Array, B: Array) -> tuple[Array, Array, None]:
    """Each row of A convolved with that of B."""
    g = known.g
    a, b = g.from_data(A), g.from_data(B)
    return bases.convolve_rows(g.base, a, b), np.full(len(A), EXISTS), None


def masked_answer(wanted: Callable[[Array], Array], known: Known, A: Array, B: Array) -> tuple[Array, Array, None]:
    """A B where entries are wanted, and zero elsewhere."""
    found, code, _ = product_answer(known, A, B)
    others = ~np.broadcast_to(wanted(A), A.shape)
    found[others] = known.g.base.full((1,), known.g.base.zero)
    return found, code, None


def each(function: Callable[..., Any]) -> Callable[..., Array]:
    """A function of single matrices as one of stacks."""
    return lambda *stacks: np.stack([np.asarray(function(*one)) for one in zip(*stacks, strict=True)])


def stack_checks(g: Generated, S: Any, library: Any, rng: np.random.Generator) -> Iterator[Check]:
    """Closures of whole stacks by every method, and products of them."""
    for method, tile in DENSE:
        if method == "squaring" and not (S.idempotent and S.has_unit_stars):
            continue  # longer and longer walks must stop improving
        layout = LAYOUTS[rng.integers(len(LAYOUTS))]
        options = f", method={method!r}" * (method != "auto") + (f", tile={tile}" if tile else "")

        def close(A: Array, method: str = method, tile: int | None = tile, layout: str = layout, **more: bool) -> Array:
            return library.closure(_view(A, layout), S, method=method, tile=tile, **more)

        yield Check(f"sr.closure(A, S{options})", close, closure_answer, note="" if layout == "C" else layout)
        if tile in (None, 2):
            yield Check(
                f"sr.closure(A, S{options}, reflexive=False)",
                lambda A, close=close: close(A, reflexive=False), plus_answer,
            )
        if tile in (None, 1):
            yield Check(
                f"sr.closure(A.copy(), S{options}, overwrite=True)",
                lambda A, m=method, t=tile: library.closure(A.copy(), S, method=m, tile=t, overwrite=True),
                closure_answer,
            )
    yield Check("sr.matmul(A, B, S)", lambda A, B: library.matmul(A, B, S), product_answer)
    yield Check("sr.convolve(A, B, S, axes=-1)", lambda A, B: library.convolve(A, B, S, axes=-1), convolution_answer)
    accumulated = lambda A, B, C: library.matmul(A, B, S, accumulate=C)  # noqa: E731
    yield Check("sr.matmul(A, B, S, accumulate=C)", accumulated, product_answer)
    for share in (2, 5):  # most entries are wanted, or few
        text = f"sr.matmul(A, B, S, mask=np.add.outer(i, 2 * i) % {share} == 1), i = np.arange(len(A))"

        def wanted(A: Array, share: int = share) -> Array:
            i = np.arange(A.shape[-1])
            return np.add.outer(i, 2 * i) % share == 1

        masked = each(lambda A, B, wanted=wanted: library.matmul(A, B, S, mask=wanted(A)))
        yield Check(text, masked, partial(masked_answer, wanted))


def single_checks(g: Generated, S: Any, library: Any, rng: np.random.Generator) -> Iterator[Check]:
    """What is asked of one matrix at a time."""
    layout = LAYOUTS[rng.integers(len(LAYOUTS))]
    answers: tuple[tuple[str, Callable[..., Any], Callable[..., Any]], ...] = (
        ("sr.closure(A, S)", lambda A: library.closure(_view(A, layout), S), closure_answer),
        ("sr.factor(A, S).closure()", lambda A: library.factor(A, S).closure(), closure_answer),
        ("sr.factor(A, S).solve(B)", lambda A, B: library.factor(A, S).solve(B), solve_answer),
        ("sr.factor(A, S).solve(B, left=True)", lambda A, B: library.factor(A, S).solve(B, left=True),
         partial(solve_answer, left=True)),
        ("sr.solve(A, B, S)", lambda A, B: library.solve(A, B, S), solve_answer),
        ("sr.matmul(A, B, S)", lambda A, B: library.matmul(A, B, S), product_answer),
    )
    for text, function, answer in answers:
        yield Check(text, each(function), answer, note=f"one matrix, {layout}" if "closure(A" in text else "one matrix")
    if S.selective:
        text = "[[sr.path(A, S, i, j) for j in range(len(A))] for i in range(len(A))]"
        yield Check(text, each(lambda A: path_weights(g, S, library, A)), closure_answer)


def sparse_checks(g: Generated, S: Any, library: Any) -> Iterator[Check]:
    """What is asked of SciPy's sparse matrices, whose explicit entries are edges; records stand in graphs."""

    def sparse(A: Array) -> Any:
        i, j = np.nonzero(~g.is_constant(A, g.zero))
        if A.dtype.names:
            return library.as_graph((i, j, A[i, j]), len(A))
        return sp.coo_array((A[i, j], (i, j)), A.shape).tocsr()

    def doubled(A: Array) -> Any:
        M = sparse(A).tocoo()
        return sp.coo_array((np.tile(M.data, 2), (np.tile(M.row, 2), np.tile(M.col, 2))), M.shape)

    close, solve, times = library.closure, library.solve, library.matmul
    yield Check("sr.closure(M, S)", each(lambda A: stored(close(sparse(A), S), S, A.dtype)), closure_answer)
    yield Check(
        "sr.closure(M, S, method='sparse')",
        each(lambda A: stored(close(sparse(A), S, method="sparse"), S, A.dtype)), closure_answer, any_order=True,
    )
    yield Check(
        "sr.solve(M, B, S)", each(lambda A, B: stored(solve(sparse(A), B, S), S, A.dtype)), solve_answer,
        any_order=True,
    )
    yield Check(
        "sr.factor(M, S).solve(B, left=True)",
        each(lambda A, B: stored(library.factor(sparse(A), S).solve(B, left=True), S, A.dtype)),
        partial(solve_answer, left=True), any_order=True,
    )
    if not g.record_dtypes:
        yield Check("sr.matmul(M, B, S)", each(lambda A, B: times(sparse(A), B, S)), product_answer)
        if g.base.has("idempotent"):
            twice = each(lambda A: close(doubled(A), S))
            yield Check("sr.closure(M, S)", twice, closure_answer, note="each edge twice")
    if S.selective:
        rows = lambda A: stored(library.closure_rows(sparse(A), S, range(len(A))), S, A.dtype)  # noqa: E731
        yield Check("sr.closure_rows(M, S, range(len(A)))", each(rows), closure_answer)


def stored(found: Any, S: Any, dtype: np.dtype) -> Array:
    """An answer of a graph in the dtype of its weights, whose integers may be read as infinities."""
    array = np.asarray(found)
    return array if array.dtype == dtype else as_stored(array, S, dtype)


def path_weights(g: Generated, S: Any, library: Any, A: Array) -> Array:
    """The weights of best paths between all pairs; NaN where a path is not one, or weighs something else."""
    n = len(A)
    result = np.empty((n, n), A.dtype)
    scale = g.scale(A[None])[0]
    for i in range(n):
        for j in range(n):
            weight, vertices = library.path(A, S, i, j)
            if A.dtype.names:
                weight = stored(np.array([[weight]], weight.dtype), S, A.dtype)[0, 0]
            elif A.dtype.kind in "iu" and isinstance(weight, float):  # the integers of no path are read as infinities
                weight = np.iinfo(A.dtype).max if weight > 0 else np.iinfo(A.dtype).min
            result[i, j] = weight
            along = g.base.full((1,), g.base.zero if vertices is None else g.base.one)
            if vertices is not None:
                if (vertices[0], vertices[-1]) != (i, j):
                    raise AssertionError(f"the path from {i} to {j} is {vertices}")
                for u, v in pairwise(vertices):
                    along = g.base.times(along, g.from_data(A[u, v][None]))
            if g.differs(along[None], result[i, j][None, None], scale).any():
                raise AssertionError(f"the path from {i} to {j}, {vertices}, of weight {weight}, weighs something else")
    return result


def extremes(g: Generated, dtype: np.dtype) -> Array:
    """Elements near the limits of a dtype."""
    if dtype.names:
        return np.empty(0, dtype)
    if dtype.kind == "f":
        f = np.finfo(dtype)
        top, low = float(f.max), float(f.tiny)
        some = [top, top / 2, top**0.75, top**0.5 * 4, low, low * 8, low**0.75, low**0.5]
        values = np.array(some + [-x for x in some], dtype)
    elif dtype.kind in "iu":
        i = np.iinfo(dtype)
        if not g.base.dtype.names and not g.labels:
            inner = np.array([i.min + 1, i.max - 1], dtype)
            x = g.from_data(inner)
            if ((np.isinf(x) | g.is_zero(x)) & (g.to_data(x, dtype)[0] != inner)).any():
                return np.empty(0, dtype)  # the oracle's numbers end before the dtype's
        values = np.array([i.max, i.max - 1, i.max - 7, i.max // 2, i.max // 2 + 1, i.max // 3, i.min, i.min + 1,
                           i.min + 8, i.min // 2, i.min // 2 - (i.min < 0)], dtype)
    else:
        return np.empty(0, dtype)
    with np.errstate(all="ignore"):
        x = g.from_data(values)
        again, fits = g.to_data(x, dtype)
        low, high, brackets = g.base.interval
        inside = ((x > low) | ((x == low) & (brackets[0] == "["))) & ((x < high) | ((x == high) & (brackets[1] == "]")))
        if g.labels or g.base.dtype != bases.REAL:
            return np.empty(0, dtype)
        near = np.abs(again.astype(bases.REAL) - values.astype(bases.REAL)) <= 1e-3 * np.abs(values.astype(bases.REAL))
        return values[fits & inside & near & (again == values if dtype.kind != "f" else near) & ~g.is_zero(x)]


def overflow_checks(g: Generated, S: Any, library: Any, big: Array) -> Iterator[Check]:
    """Closures of matrices some of whose edges lie near the dtype's limits: the others must not hear of it."""

    def answer(known: Known, A: Array) -> tuple[Array, Array, Array]:
        large = np.isin(A, big)
        rest = A.copy()
        nothing, _ = g.to_data(g.base.full((1,), g.base.zero), A.dtype)
        rest[large] = nothing[0]
        edges = (~g.is_constant(A, g.zero)).astype(int)
        reach = np.eye(A.shape[-1], dtype=int) | edges
        for _ in range(A.shape[-1]):
            reach = np.minimum(reach @ reach, 1)
        touched = reach @ large @ reach > 0
        star, code = known.closure(rest)
        # A cycle through a large edge is another question.
        n = np.arange(A.shape[-1])
        return star, np.where(touched[:, n, n].any(axis=1), UNSURE, code), ~touched

    for method, tile in (("floyd-warshall", None), ("blocked", 1), ("blocked", 2), ("r-kleene", 1), ("elimination", 1)):
        yield Check(
            f"sr.closure(A, S, method={method!r}{f', tile={tile}' if tile else ''})",
            lambda A, m=method, t=tile: library.closure(A, S, method=m, tile=t), answer, note="near the dtype's limits",
        )
    if S.idempotent and (S.selective or S.bounded):
        yield Check(
            "sr.closure(A, S, method='squaring')",
            lambda A: library.closure(A, S, method="squaring"), answer, note="near the dtype's limits",
        )


def _view(A: Array, layout: str) -> Array:
    if A.ndim == 2:
        return strategies.views_of(A)[layout]
    if layout == "C":
        return A
    if layout == "read-only":
        copy = A.copy()
        copy.flags.writeable = False
        return copy
    if layout == "Fortran":
        return np.ascontiguousarray(A.swapaxes(1, 2)).swapaxes(1, 2)
    if layout == "reversed":
        return A[:, ::-1, ::-1].copy()[:, ::-1, ::-1]
    if layout == "rows reversed":
        return A[::-1, ::-1].copy()[::-1, ::-1]
    k, m, n = A.shape
    room = np.zeros((k, 2 * m, 3 * n + 1) if layout == "strided" else (k + 1, m + 2, n + 3), A.dtype)
    inside = room[:, ::2, 1::3] if layout == "strided" else room[1:, 1:-1, 1:-2]
    inside[...] = A
    return inside
