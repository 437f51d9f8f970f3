"""Derivatives of products and closures beside finite differences and beside sums over all walks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.tensors.gradients import closure_gradient, differentiable, product_gradients

inf = np.inf
LOG2 = sr.Semiring(
    "log2", add=np.logaddexp2, mul=np.add, zero=-inf, one=0,
    star=lambda a: np.where(a < 0, -np.log2(-np.expm1(a * np.log(2))), inf),
)
SOFT_MIN = sr.Semiring(
    "soft-min", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=inf, one=0,
    star=lambda a: np.where(a > 0, np.log(-np.expm1(-a)), -inf),
)
STOPPING = sr.Semiring(
    "min-stopping", add=np.minimum, mul=sr.saturating_add, zero=inf, one=0, star=lambda a: 0, carrier=lambda a: a >= 0,
)
ALGEBRAS = [
    sr.plus_times, sr.log, LOG2, SOFT_MIN, sr.min_plus, sr.max_plus, sr.viterbi, sr.max_times, sr.min_times, sr.max_min,
    sr.min_max, STOPPING,
]


def elements(S: sr.Semiring, shape: tuple[int, ...], seed: int, absent: float = 0.0) -> np.ndarray:
    """Edges that are worse than one, and of which no two walks are equally good."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.1, 0.9, shape)
    x = {"plus-times": x / (2 * shape[-1]), "log": np.log(x / shape[-1]), "log2": np.log2(x / shape[-1]),
         "soft-min": -np.log(x / shape[-1]), "max-plus": -x, "min-times": 1 + x}.get(S.name, x)
    return np.where(rng.random(shape) < absent, float(S.zero), x)


def differences(f: Callable[[np.ndarray], Any], x: np.ndarray, present: np.ndarray) -> np.ndarray:
    """The derivative of a number with respect to each entry that is there, by central differences."""
    found, h = np.zeros_like(x), 1e-6
    for place in zip(*np.nonzero(present), strict=True):
        step = np.zeros_like(x)
        step[place] = h
        found[place] = (f(x + step) - f(x - step)) / (2 * h)
    return found


def weighed(G: np.ndarray, X: np.ndarray, zero: Any) -> float:
    """A number that depends on all elements that are there."""
    there = (zero != X) & np.isfinite(X)
    return float(np.sum(G[there] * X[there]))


@pytest.mark.parametrize("absent", [0.0, 0.4])
@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_products(S: sr.Semiring, absent: float) -> None:
    A, B = elements(S, (2, 4, 5), 1, absent), elements(S, (2, 5, 3), 2, absent)
    C = sr.matmul(A, B, S)
    G = np.random.default_rng(3).standard_normal(C.shape)
    dA, dB = product_gradients(S, G, A, B, C)
    everywhere = S is sr.plus_times
    there = [everywhere | (float(S.zero) != x) for x in (A, B)]
    expected = differences(lambda x: weighed(G, sr.matmul(x, B, S), S.zero), A, there[0])
    np.testing.assert_allclose(dA, expected, atol=1e-7)
    expected = differences(lambda x: weighed(G, sr.matmul(A, x, S), S.zero), B, there[1])
    np.testing.assert_allclose(dB, expected, atol=1e-7)


@pytest.mark.parametrize("absent", [0.0, 0.5])
@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_closures(S: sr.Semiring, n: int, absent: float) -> None:
    A = elements(S, (2, n, n), n, absent)
    X = sr.closure(A, S)
    G = np.random.default_rng(4).standard_normal(X.shape)
    there = (S is sr.plus_times) | (float(S.zero) != A)
    expected = differences(lambda x: weighed(G, sr.closure(x, S), S.zero), A, there)
    np.testing.assert_allclose(closure_gradient(S, G, A, X), expected, atol=1e-6)


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min, sr.viterbi], ids=lambda S: S.name)
def test_of_equal_walks_the_one_of_the_tree_counts(S: sr.Semiring) -> None:
    """Whole numbers with many ties: the derivative is the sum over all pairs along `Paths`' trees."""
    rng = np.random.default_rng(5)
    A = {"viterbi": rng.choice([0.25, 0.5, 1.0], (7, 7))}.get(S.name, rng.integers(1, 4, (7, 7)).astype(float))
    R = sr.paths(A, S)
    G = rng.standard_normal((7, 7))
    expected = np.zeros_like(A)
    for i, j in itertools.permutations(range(7), 2):
        walk = [j]
        while walk[0] != i:
            walk.insert(0, int(R.predecessors[i, walk[0]]))
        pairs = list(itertools.pairwise(walk))
        weights = [A[pair] for pair in pairs]
        if S is sr.max_min:
            expected[pairs[int(np.argmin(weights))]] += G[i, j]
            continue
        for e, pair in enumerate(pairs):
            others = np.prod(weights[:e] + weights[e + 1 :]) if S is sr.viterbi else 1.0
            expected[pair] += G[i, j] * others
    np.testing.assert_allclose(closure_gradient(S, G, A, R.weights), expected, atol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_logarithms_far_apart_neither_overflow_nor_vanish(dtype: str) -> None:
    """The powers of these would: a chain whose only walk has every derivative 1 in each of its edges."""
    n = 9
    A = np.full((n, n), -inf, dtype)
    for i in range(n - 1):
        A[i, i + 1] = -900.0 if i % 2 else 800.0
    G = np.zeros((n, n), dtype)
    G[0, n - 1] = -2
    found = closure_gradient(sr.log, G, A, sr.closure(A, sr.log))
    np.testing.assert_allclose(found, np.where(-inf < A, -2.0, 0.0), rtol=1e-3 if dtype == "f4" else 1e-11)
    assert found.dtype == dtype


@pytest.mark.parametrize("S", [sr.log, LOG2, SOFT_MIN], ids=lambda S: S.name)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.filterwarnings("error")
def test_infinite_sums_are_shared_by_their_infinite_terms(S: sr.Semiring, dtype: str) -> None:
    """As by terms that are far above all others; of finite weights that overflow the same."""
    rng, top = np.random.default_rng(6), -float(S.zero)
    sign = np.sign(top)
    for _ in range(10):
        A, B = (rng.standard_normal(shape).astype(dtype) for shape in ((2, 3, 4), (2, 4, 3)))
        for x in (A, B):
            x[rng.random(x.shape) < 0.3] = S.zero
        G = rng.standard_normal((2, 3, 3)).astype(dtype)
        far = np.zeros(A.shape, bool)
        far[:, :, 0] = rng.random((2, 3)) < 0.7
        high, higher = A.copy(), A.copy()
        high[far], higher[far] = sign * 100, top  # infinite terms of one sum are equal ones
        B[:, 0][np.isfinite(B[:, 0])] = 0
        expected = product_gradients(S, G, high, B, sr.matmul(high, B, S))
        found = product_gradients(S, G, higher, B, sr.matmul(higher, B, S))
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-3 if dtype == "f4" else 1e-9, atol=1e-12)
        most = np.finfo(dtype).max * 0.75
        C = np.array([[top]], dtype)
        dA, dB = product_gradients(
            S, np.ones((1, 1), dtype), np.array([[sign * most, 3]], dtype), np.array([[sign * most], [1]], dtype), C)
        assert dA.tolist() == [[1, 0]] and dB.tolist() == [[1], [0]]
    dA, dB = product_gradients(
        S, np.ones((1, 1), dtype), np.array([[top, top, S.zero]], dtype), np.array([[0], [1], [top]], dtype), C)
    assert dA.tolist() == [[0.5, 0.5, 0]] and dB.tolist() == [[0.5], [0.5], [0]]


@pytest.mark.parametrize("S", [sr.log, LOG2, SOFT_MIN], ids=lambda S: S.name)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.filterwarnings("error")
def test_closures_that_diverge(S: sr.Semiring, dtype: str) -> None:
    """As where the star of a loop is e³⁰; the loop itself, beyond which nothing grows, has the derivative 0."""
    rng, top = np.random.default_rng(7), -float(S.zero)
    unit = {"log2": np.log(2)}.get(S.name, 1.0) * np.sign(top)
    for _ in range(20):
        n = int(rng.integers(1, 6))
        A = elements(S, (n, n), int(rng.integers(100)), 0.4).astype(dtype)
        v, G = int(rng.integers(n)), rng.standard_normal((n, n)).astype(dtype)
        near = A.astype("f8")
        A[v], near[v] = np.where(np.arange(n) < v, S.zero, A[v]), np.where(np.arange(n) < v, S.zero, near[v])
        A[v:, v], near[v:, v] = S.zero, S.zero  # on no cycle but its loop
        order = np.arange(n)
        A[order[:, None] > order], near[order[:, None] > order] = S.zero, S.zero
        A[v, v], near[v, v] = 0.25 * np.sign(top), np.log1p(-np.exp(-30)) / unit
        X = sr.closure(A, S)
        assert X[v, v] == top
        endless = top == X
        ends = np.where(endless, G, 0).astype("f8")
        expected = closure_gradient(S, ends, near, sr.closure(near, S))
        finite = near.copy()
        finite[v, v] = S.zero
        expected += closure_gradient(S, np.where(endless, 0, G).astype("f8"), finite, sr.closure(finite, S))
        expected[v, v] = 0
        found = closure_gradient(S, G, A, X)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
    cycle = np.full((2, 3, 3), S.zero, dtype)
    cycle[:, 0, 1] = cycle[:, 1, 0] = cycle[0, 1, 2] = np.sign(top)
    G = np.zeros((2, 3, 3), dtype)
    G[0, 0, 2] = 3
    found = closure_gradient(S, G, cycle, sr.closure(cycle, S))
    assert found[0, 1, 2] == pytest.approx(3) and np.count_nonzero(found) == 1
    most = np.finfo(dtype).max * 0.75 * np.sign(top)
    chain = np.full((3, 3), S.zero, dtype)
    chain[0, 1] = chain[1, 2] = most
    assert np.isfinite(closure_gradient(S, np.ones((3, 3), dtype), chain, sr.closure(chain, S))).all()


@pytest.mark.parametrize("S", [sr.max_times, sr.min_times], ids=lambda S: S.name)
def test_infinite_elements_that_no_walk_takes(S: sr.Semiring) -> None:
    """What is absent in min-times is infinite, and 0 · ∞ would be NaN."""
    A, B = np.array([[inf, 2.0], [inf, inf]]), np.array([[3.0, inf], [1.5, inf]])
    if S is sr.max_times:
        A, B = np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([[inf, 0.0], [1.5, 0.0]])
    dA, dB = product_gradients(S, np.ones((2, 2)), A, B, sr.matmul(A, B, S))
    np.testing.assert_array_equal(dA, [[0, 1.5], [0, 0]])
    np.testing.assert_array_equal(dB, [[0, 0], [2, 0]])


def test_empty() -> None:
    for S in ALGEBRAS:
        for stack in ((), (0,), (2,)):
            A = np.zeros((*stack, 0, 0))
            assert closure_gradient(S, A, A, A).shape == A.shape
        G, nothing = np.zeros((2, 3)), np.full((2, 3), float(S.zero))
        left, right = product_gradients(S, G, np.zeros((2, 0)), np.zeros((0, 3)), nothing)
        assert left.shape == (2, 0) and right.shape == (0, 3)


def test_what_has_no_derivatives_is_refused() -> None:
    for S in (sr.boolean, sr.shortest_hops, sr.lukasiewicz, sr.gcd_lcm, sr.regex):
        with pytest.raises(sr.LawError, match="has no derivatives here"):
            differentiable(S, np.dtype("f8"))
    for dtype in ("f2", "i4", "c16"):
        with pytest.raises(sr.SemiringError, match="float32 or float64"):
            differentiable(sr.plus_times, np.dtype(dtype))
