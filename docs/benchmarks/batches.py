"""Compare many questions in one call with one call for each, on the CPU.

    python docs/benchmarks/batches.py [--quick]

Every row is a ratio of medians within this run. Answers are compared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logsumexp

import semiring as sr

sys.path.insert(0, str(Path(__file__).parent))
from report import grid_of, median, seconds

S, random, same = sr.min_plus, np.random.default_rng(0), np.allclose
Rows = Iterator[tuple[str, Callable[[], Any], Callable[[], Any], Callable[[Any, Any], bool]]]


def rows(share: int) -> Rows:
    """Yield the work, our call, the other calls, and a comparison of answers; sizes are divided by `share`."""
    for some in (closures, products, convolutions, contractions, sums):
        yield from some(share)


def closures(share: int) -> Rows:
    """Equations, paths and closures of many matrices, against one call for each."""
    count = 1000 // share
    A, B = (random.random(shape) for shape in ((count, 8, 8), (count, 8, 2)))
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

    yield (f"solve, {count} matrices of order 8", lambda: sr.solve(A, B, S),
           lambda: np.stack([sr.solve(a, b, S) for a, b in zip(A, B, strict=True)]), same)
    yield (f"paths, {count} matrices of order 8", lambda: sr.paths(A, S).weights,
           lambda: np.stack([sr.paths(a, S).weights for a in A]), same)
    yield (f"closure with on_divergence='mask', {count // 100} of {count} without one",
           lambda: sr.closure(some, S, on_divergence="mask").exists.tolist(), one_by_one, lambda x, y: bool(x == y))


def products(share: int) -> Rows:
    """Products of one matrix, of many, and of three in a row."""
    n, count, long = 512 // share, 20_000 // share, 1000 // share
    C, three = random.random((n, n)), [random.random(shape) for shape in ((long, 10), (10, long), (long, 5))]
    yield (f"matmul with argmax, order {n}, against without", lambda: sr.matmul(C, C, S, argmax=True)[0],
           lambda: sr.matmul(C, C, S), same)
    for dtype in ("f4", "f8"):
        P, Q = (random.random((count, 16, 16)).astype(dtype) for _ in range(2))
        yield (f"matmul, {count:,} matrices of order 16, {dtype}, against NumPy", lambda P=P, Q=Q: sr.matmul(P, Q, S),
               lambda P=P, Q=Q: lowest_sums(P, Q), same)
        yield (f"the same over log, against NumPy by powers, {dtype}", lambda P=P, Q=Q: sr.matmul(P, Q, sr.log),
               lambda P=P, Q=Q: by_powers(P, Q), near)
    yield (f"chain of {long} × 10, 10 × {long}, {long} × 5, against left to right", lambda: sr.chain(three, S),
           lambda: sr.matmul(sr.matmul(three[0], three[1], S), three[2], S), same)


def convolutions(share: int) -> Rows:
    """Convolutions, against a loop of NumPy."""
    n, some = 20_000 // share, 4000 // share
    for dtype in ("f4", "f8"):
        a, b = (random.random(n).astype(dtype) for _ in range(2))
        yield (f"convolve, {n:,} by {n:,}, {dtype}, against NumPy", lambda a=a, b=b: sr.convolve(a, b, S),
               lambda a=a, b=b: convolved(np.minimum, np.inf, a, b), same)
        far = [(1e4 * z[:some]).astype(dtype) for z in (a, b)]
        yield (f"the same over log, {some:,} by {some:,}, far apart, {dtype}, against NumPy",
               lambda far=far: sr.convolve(*far, sr.log), lambda far=far: convolved(np.logaddexp, -np.inf, *far), near)
        x, y = (np.cumsum(np.sort(random.normal(size=n))).astype(dtype) for _ in range(2))
        yield (f"the same of convex sequences, {dtype}", lambda x=x, y=y: sr.convolve(x, y, S),
               lambda x=x, y=y: convolved(np.minimum, np.inf, x, y), near)


def contractions(share: int) -> Rows:
    """Einsums of many arrays and of a few, against the same products one after the other."""
    n, count, side = 512 // share, 100_000 // share, 10 if share == 1 else 4
    C, many = random.random((n, n)), [random.random((count, 4, 4)) for _ in range(3)]
    field, factors, steps = grid_field(side, 4)
    yield (f"einsum, MAP of a {side} × {side} grid of 4 states, against the same products in NumPy",
           lambda: sr.einsum(field, *factors, S=S), lambda: by_broadcasting(steps, factors), same)
    yield ("the same with argmax=True, against the same products in NumPy without",
           lambda: sr.einsum(field, *factors, S=S, argmax=True)[0], lambda: by_broadcasting(steps, factors), same)
    yield (f"einsum('bij,bjk,bkl->bil'), {count:,} of order 4, against matmul",
           lambda: sr.einsum("bij,bjk,bkl->bil", *many, S=S),
           lambda: sr.matmul(many[0], sr.matmul(many[1], many[2], S), S), same)
    yield (f"einsum('ij,jk->ik'), order {n}, against matmul", lambda: sr.einsum("ij,jk->ik", C, C, S=S),
           lambda: sr.matmul(C, C, S), same)
    yield (f"einsum('ij,kj->ik'), order {n}, against matmul", lambda: sr.einsum("ij,kj->ik", C, C, S=S),
           lambda: sr.matmul(C, C.T, S), same)
    yield (f"einsum('ij,j->i'), order {n}, against matmul", lambda: sr.einsum("ij,j->i", C, C[0], S=S),
           lambda: sr.matmul(C, C[0], S), same)
    yield (f"einsum('bij,bjk->bik'), {count:,} of order 4, against matmul",
           lambda: sr.einsum("bij,bjk->bik", *many[:2], S=S), lambda: sr.matmul(many[0], many[1], S), same)
    yield (f"einsum('bij,jk->bik'), {count:,} of order 4, against matmul",
           lambda: sr.einsum("bij,jk->bik", many[0], many[1][0], S=S), lambda: sr.matmul(many[0], many[1][0], S), same)


def sums(share: int) -> Rows:
    """Sums and prefixes, against NumPy's of the same function."""
    long = 4000 // share
    table = random.random((long, 1000))
    yield (f"S.sum of {long} × 1000 along columns, against numpy.min", lambda: S.sum(table, 0),
           lambda: table.min(0), same)
    yield ("S.cumsum of the same, against numpy.minimum.accumulate", lambda: S.cumsum(table, 0),
           lambda: np.minimum.accumulate(table, 0), same)
    yield ("S.sum of 100 × 100, against numpy.min", lambda: S.sum(table[:100, :100], 1),
           lambda: table[:100, :100].min(1), same)
    x = random.random(10**8 // share, dtype="f4")
    yield (f"S.sum of {len(x):,}, f4, against numpy.min", lambda: S.sum(x), x.min, same)
    yield ("the same over log, against SciPy's logsumexp", lambda: sr.log.sum(x), lambda: logsumexp(x), near)


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


def run(share: int) -> str:
    """The table."""
    cells = []
    for what, ours, other, same in rows(share):
        assert same(ours(), other()), what
        mine, theirs = median(ours), median(other)
        cells.append([what, seconds(mine), seconds(theirs), f"{theirs / mine:.2g} ×"])
    return grid_of(["", "at once", "the other way", "ratio"], cells)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes, to see that it runs")
    print(run(10 if parser.parse_args().quick else 1))
