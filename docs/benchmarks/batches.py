"""Compare many questions in one call with one call for each, on the CPU.

    python docs/benchmarks/batches.py

Every row is a ratio of medians within this run. Answers are compared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr

sys.path.insert(0, str(Path(__file__).parent))
from report import grid_of, median, seconds

S, random, same = sr.min_plus, np.random.default_rng(0), np.allclose
Rows = Iterator[tuple[str, Callable[[], Any], Callable[[], Any], Callable[[Any, Any], bool]]]


def rows() -> Rows:
    """Yield the work, our call, the other calls, and a comparison of answers."""
    for some in (closures, products, convolutions, contractions, sums):
        yield from some()


def closures() -> Rows:
    """Equations, paths and closures of many matrices, against one call for each."""
    A, B = (random.random(shape) for shape in ((1000, 8, 8), (1000, 8, 2)))
    some = A.copy()
    some[::100, 0, 0] = -1

    def one_by_one() -> list[bool]:
        exists = []
        for matrix in some:
            try:
                sr.closure(matrix, S)
                exists.append(True)
            except sr.NoClosureError:
                exists.append(False)
        return exists

    yield ("solve, 1000 matrices of order 8", lambda: sr.solve(A, B, S),
           lambda: np.stack([sr.solve(a, b, S) for a, b in zip(A, B, strict=True)]), same)
    yield ("paths, 1000 matrices of order 8", lambda: sr.paths(A, S).weights,
           lambda: np.stack([sr.paths(a, S).weights for a in A]), same)
    yield ("closure with on_divergence='mask', 10 of 1000 without one",
           lambda: sr.closure(some, S, on_divergence="mask").exists.tolist(), one_by_one, lambda x, y: bool(x == y))


def products() -> Rows:
    """Products of one matrix, of many, and of three in a row."""
    C, three = random.random((512, 512)), [random.random(shape) for shape in ((1000, 10), (10, 1000), (1000, 5))]
    yield ("matmul with argmax, order 512, against without", lambda: sr.matmul(C, C, S, argmax=True)[0],
           lambda: sr.matmul(C, C, S), same)
    for dtype in ("f4", "f8"):
        P, Q = (random.random((20_000, 16, 16)).astype(dtype) for _ in range(2))
        yield (f"matmul, 20,000 matrices of order 16, {dtype}, against NumPy", lambda P=P, Q=Q: sr.matmul(P, Q, S),
               lambda P=P, Q=Q: lowest_sums(P, Q), same)
        yield (f"the same over log, against NumPy by powers, {dtype}", lambda P=P, Q=Q: sr.matmul(P, Q, sr.log),
               lambda P=P, Q=Q: by_powers(P, Q), near)
    yield ("chain of 1000 × 10, 10 × 1000, 1000 × 5, against left to right", lambda: sr.chain(three, S),
           lambda: sr.matmul(sr.matmul(three[0], three[1], S), three[2], S), same)


def convolutions() -> Rows:
    """Convolutions, against a loop of NumPy."""
    for dtype in ("f4", "f8"):
        a, b = (random.random(20_000).astype(dtype) for _ in range(2))
        yield (f"convolve, 20,000 by 20,000, {dtype}, against NumPy", lambda a=a, b=b: sr.convolve(a, b, S),
               lambda a=a, b=b: convolved(np.minimum, np.inf, a, b), same)
        far = [(1e4 * z[:4000]).astype(dtype) for z in (a, b)]
        yield (f"the same over log, 4,000 by 4,000, far apart, {dtype}, against NumPy",
               lambda far=far: sr.convolve(*far, sr.log), lambda far=far: convolved(np.logaddexp, -np.inf, *far), near)
        x, y = (np.cumsum(np.sort(random.normal(size=20_000))).astype(dtype) for _ in range(2))
        yield (f"the same of convex sequences, {dtype}", lambda x=x, y=y: sr.convolve(x, y, S),
               lambda x=x, y=y: convolved(np.minimum, np.inf, x, y), near)


def contractions() -> Rows:
    """Einsums of many arrays and of a few, against the same products one after the other."""
    C, many = random.random((512, 512)), [random.random((100_000, 4, 4)) for _ in range(3)]
    field, factors, steps = grid_field(10, 4)
    yield ("einsum, MAP of a 10 × 10 grid of 4 states, against the same products in NumPy",
           lambda: sr.einsum(field, *factors, S=S), lambda: by_broadcasting(steps, factors), same)
    yield ("the same with argmax=True, against the same products in NumPy without",
           lambda: sr.einsum(field, *factors, S=S, argmax=True)[0], lambda: by_broadcasting(steps, factors), same)
    yield ("einsum('bij,bjk,bkl->bil'), 100,000 of order 4, against matmul",
           lambda: sr.einsum("bij,bjk,bkl->bil", *many, S=S),
           lambda: sr.matmul(many[0], sr.matmul(many[1], many[2], S), S), same)
    yield ("einsum('ij,jk->ik'), order 512, against matmul", lambda: sr.einsum("ij,jk->ik", C, C, S=S),
           lambda: sr.matmul(C, C, S), same)


def sums() -> Rows:
    """Sums and prefixes, against NumPy's of the same function."""
    table = random.random((4000, 1000))
    yield ("S.sum of 4000 × 1000 along columns, against numpy.min", lambda: S.sum(table, 0), lambda: table.min(0), same)
    yield ("S.cumsum of the same, against numpy.minimum.accumulate", lambda: S.cumsum(table, 0),
           lambda: np.minimum.accumulate(table, 0), same)
    yield ("S.sum of 100 × 100, against numpy.min", lambda: S.sum(table[:100, :100], 1),
           lambda: table[:100, :100].min(1), same)


def near(x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether arrays of single precision, which round differently, agree."""
    return np.allclose(x, y, rtol=1e-5)


def lowest_sums(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return the min-plus products of stacks of matrices."""
    found = P[:, :, :1] + Q[:, :1]
    for k in range(1, P.shape[2]):
        np.minimum(found, P[:, :, k, None] + Q[:, k, None], out=found)
    return found


def by_powers(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return the products over log-sum-exp of stacks of matrices, by products of powers."""
    r, c = P.max(2, keepdims=True), Q.max(1, keepdims=True)
    return r + c + np.log(np.exp(P - r) @ np.exp(Q - c))


def convolved(add: Callable[..., Any], zero: float, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a convolution whose ⊗ is +, an element of b at a time."""
    c = np.full(len(a) + len(b) - 1, zero, a.dtype)
    for j, y in enumerate(b):
        part = c[j : j + len(a)]
        add(part, a + y, out=part)
    return c


def grid_field(side: int, states: int) -> tuple[str, list[Any], list[Any]]:
    """Return a Markov random field on a grid as an einsum: the expression, the factors, and the steps of its plan."""
    vertices = range(side * side)
    pairs = [(v, v + step) for v in vertices for step, inside in
             ((1, (v + 1) % side), (side, v + side in vertices)) if inside]
    field = ", ".join(f"x{v} x{w}" for v, w in pairs) + " ->"
    factors = [random.random((states, states)) for _ in pairs]
    plan: Any = sr.plan("einsum", field, *factors, S=sr.min_plus)
    return field, factors, plan.steps.steps


def by_broadcasting(steps: list[Any], factors: list[Any]) -> Any:
    """Return the answer over min-plus by the products of a plan, each as one sum of two arrays and its minimum."""
    arrays = list(factors)
    for step in steps:
        axes = (*step.axes, *step.summed)
        pair = []
        for number, own in ((step.left, step.left_axes), (step.right, step.right_axes)):
            turned = arrays[number].transpose([own.index(a) for a in axes if a in own])
            pair.append(turned[tuple(slice(None) if a in own else None for a in axes)])
            arrays[number] = None
        arrays.append((pair[0] + pair[1]).min(tuple(range(len(step.axes), len(axes)))))
    return arrays[-1]


def run() -> str:
    """The table."""
    cells = []
    for what, ours, other, same in rows():
        assert same(ours(), other()), what
        mine, theirs = median(ours), median(other)
        cells.append([what, seconds(mine), seconds(theirs), f"{theirs / mine:.2g} ×"])
    return grid_of(["", "at once", "the other way", "ratio"], cells)


if __name__ == "__main__":
    print(run())
