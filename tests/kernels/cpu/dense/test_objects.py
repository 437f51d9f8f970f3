"""The engine for Python objects against the oracle: numbers, sets, and words of which the order of ⊗ matters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.dense.objects import ObjectKernel
from semiring.kernels.lowering.objects import python_objects

OBJECT, inf = np.dtype(object), float("inf")
quick = settings(max_examples=40)


def joined(a: frozenset[str], b: frozenset[str]) -> frozenset[str]:
    """All words of one and then the other, but for those of more than two letters: factors cannot be exchanged."""
    return frozenset(x + y for x, y in product(a, b) if len(x + y) < 3)


WORDS = sr.Semiring(
    "words", add=lambda a, b: a | b, mul=joined, zero=frozenset(), one=frozenset([""]), dtype=object,
    star=lambda a: frozenset([""]) | a | joined(a, a),
    samples=[frozenset(), frozenset([""]), frozenset(["a"]), frozenset(["b", "aa"]), frozenset(["", "ab"])],
)
NUMBERS = st.sampled_from([inf, inf, 0, 1, 2, 10**30, 3])
SETS = st.frozensets(st.sampled_from(["", "a", "b", "ab"]), max_size=2)
CASES = {
    "min_plus": (sr.min_plus, NUMBERS, min, lambda a, b: a + b),
    "words": (WORDS, SETS, lambda a, b: a | b, joined),
}


def kernel(S: sr.Semiring) -> ObjectKernel:
    return ObjectKernel(python_objects(S, OBJECT, "as a test"))


def matrix(rows: list[list[Any]], columns: int) -> np.ndarray:
    array = np.empty((len(rows), columns), object)
    for i, j in np.ndindex(array.shape):
        array[i, j] = rows[i][j]
    return array


def terms(name: str, A: np.ndarray, B: np.ndarray, start: np.ndarray | None = None) -> list[list[Any]]:
    """C ⊕ A ⊗ B, from the definition."""
    S, _, add, mul = CASES[name]
    found: list[list[Any]] = []
    for i in range(len(A)):
        found.append([])
        for j in range(B.shape[1]):
            total = S.zero if start is None else start[i, j]
            for k in range(len(B)):
                total = add(total, mul(A[i, k], B[k, j]))
            found[-1].append(total)
    return found


def drawn(data: st.DataObject, elements: Any, rows: int, columns: int) -> np.ndarray:
    some = st.lists(elements, min_size=columns, max_size=columns)
    return matrix(data.draw(st.lists(some, min_size=rows, max_size=rows)), columns)


@pytest.mark.parametrize("name", CASES)
def test_products(name: str) -> None:
    S, elements, *_ = CASES[name]

    @quick
    @given(st.data(), *[st.integers(0, 3)] * 3)
    def check(data: st.DataObject, m: int, k: int, n: int) -> None:
        A, B, C = (drawn(data, elements, *shape) for shape in ((m, k), (k, n), (m, n)))
        total, bare, engine = terms(name, A, B, C), terms(name, A, B), kernel(S)
        D = C.copy()
        engine.multiply_add(D, A, B)
        assert D.tolist() == total
        engine.multiply(D[::-1], A[::-1], B)
        assert D.tolist() == bare
        assert engine.diagonal(A, drawn(data, elements, k, m)).shape == (m,)

    check()


@pytest.mark.parametrize("name", CASES)
def test_the_other_operations(name: str) -> None:
    S, elements, add, _ = CASES[name]

    @quick
    @given(st.data(), st.integers(1, 3), st.integers(0, 3))
    def check(data: st.DataObject, n: int, m: int) -> None:
        engine = kernel(S)
        D, R, C = (drawn(data, elements, *shape) for shape in ((n, n), (n, m), (m, n)))
        after, before = terms(name, D, R), terms(name, C, D)
        diagonal = [terms(name, R[i : i + 1], C[:, i : i + 1])[0][0] for i in range(n)]
        assert engine.diagonal(R, C).tolist() == diagonal
        X, Y = R.copy(), C.copy()
        engine.left(D, X)
        engine.right(Y, D)
        assert (X.tolist(), Y.tolist()) == (after, before)
        other = engine.like(D)
        assert other.shape == D.shape and other.dtype == object
        engine.assign(other, D)
        assert engine.equal(other, D) and other is not D
        engine.add_one(other)
        assert [other[i, i] for i in range(n)] == [add(S.one, D[i, i]) for i in range(n)]
        assert all(other[i, j] == D[i, j] for i, j in np.ndindex(n, n) if i != j)
        engine.set_diagonal(other, D[0])
        assert [other[i, i] for i in range(n)] == D[0].tolist()
        different = D.copy()
        different[-1, -1] = S.zero if D[-1, -1] != S.zero else S.one
        assert not engine.equal(different, D)

    check()


@quick
@given(st.data(), st.integers(0, 4))
def test_closures_are_the_oracles(data: st.DataObject, n: int) -> None:
    A = drawn(data, NUMBERS, n, n)
    expected = oracle.closure_by_elimination(oracle.ALGEBRAS["min_plus"], A.tolist())
    assert kernel(sr.min_plus).close(A) == -1
    assert A.tolist() == expected


def test_a_star_keeps_the_order_of_its_factors() -> None:
    """Words along the walks between two vertices."""
    none = frozenset()
    A = matrix([[none, frozenset(["a"])], [frozenset(["b"]), none]], 2)
    assert kernel(WORDS).close(A) == -1
    assert A.tolist() == [[{"", "ab"}, {"a"}], [{"b"}, {"", "ba"}]]
    A = matrix([[frozenset(["a"]), frozenset(["b"])], [frozenset(["b"]), none]], 2)
    assert kernel(WORDS).close(A) == -1
    assert A.tolist() == [[{"", "a", "aa", "bb"}, {"b", "ab"}], [{"b", "ba"}, {"", "bb"}]]


def test_the_first_pivot_without_a_star_is_named() -> None:
    S = sr.Semiring("sums", add=lambda a, b: a + b, mul=lambda a, b: a * b, zero=0, one=1, dtype=object,
                    samples=[0, 1, 2, -3])
    assert S.is_object
    engine = kernel(S)
    for n, pivot in ((1, 0), (3, 1), (3, 2)):
        A = matrix([[0] * n for _ in range(n)], n)
        A[pivot, pivot] = 5  # 1 + 5 + 25 + … is never reached
        assert engine.close(A) == pivot
    stack = np.array([[[0, 3], [0, 0]], [[0, 0], [0, 7]]], object)
    assert engine.close_stack(stack).tolist() == [-1, 1]
    assert stack[0].tolist() == [[1, 3], [0, 1]]
    assert engine.close_stack(stack[:0]).tolist() == []


def test_stacks() -> None:
    engine, A = kernel(sr.min_plus), np.arange(12).astype(object).reshape(3, 2, 2)
    C = np.full((3, 2, 2), 5, object)
    expected = [terms("min_plus", a, A[0]) for a in A]
    engine.multiply_add_stack(C, A, np.broadcast_to(A[0], A.shape))
    assert C.tolist() == np.minimum(5, np.array(expected)).tolist()
    engine.multiply_stack(C, A, np.broadcast_to(A[0], A.shape))
    assert C.tolist() == expected


def test_zero_is_multiplied_only_where_it_does_not_absorb() -> None:
    """A bare product need not have an absorbing zero; where it has, ⊗ is spared what comes of it."""
    calls: list[tuple[Any, Any]] = []

    def times(a: Any, b: Any) -> Any:
        calls.append((a, b))
        return a + b if isinstance(a, int) else frozenset(x + y for x, y in product(a, b))

    bare = sr.Semiring("bare", add=max, mul=times, zero=0, dtype=object, product_only=True, samples=[0, 1, 2])
    C, none, some = np.zeros((1, 1), object), frozenset(), frozenset([4])
    calls.clear()
    kernel(bare).multiply(C, np.array([[bare.zero, 3]], object), np.array([[5], [1]], object))
    assert C[0, 0] == 5 and calls == [(0, 5), (3, 1)]
    sums = sr.Semiring("sums of sets", add=lambda a, b: a | b, mul=times, zero=none, dtype=object, product_only=True,
                       samples=[none, frozenset([0]), frozenset([2])])
    calls.clear()
    kernel(sums).multiply(C, matrix([[none, some]], 2), matrix([[some], [some]], 1))
    assert C[0, 0] == {8} and calls == [(some, some)]


def test_where_it_runs() -> None:
    engine = kernel(sr.min_plus)
    assert engine.place == "CPU, 1 thread" and engine.unchecked is engine and engine.closes_whole(10**6)
    assert engine.dtype == object and engine.align == 1


PAIRS = sr.Semiring(
    "pairs", add=min, mul=lambda a, b: (a[0] + b[0], a[1] + b[1]), zero=(inf, inf), one=(0.0, 0.0), dtype=object,
    star=lambda a: (0.0, 0.0), selective=True, idempotent=True, commutative=True, bounded=True,
)


@settings(quick, max_examples=15)
@given(st.integers(1, 3), st.data())
def test_tuples_are_elements_like_others(n: int, data: st.DataObject) -> None:
    """NumPy takes a tuple for a row, of as many elements: in every verb against records of the same components."""
    weights = st.sampled_from([None, None, (1.0, 1.0), (2.0, 1.0), (2.0, 0.0)])
    cells = data.draw(st.lists(weights, min_size=n * n, max_size=n * n))
    records = sr.shortest_hops.array([cell or (inf, inf) for cell in cells]).reshape(n, n)
    objects = PAIRS.array(records.reshape(-1).tolist()).reshape(n, n)
    rows, columns = np.nonzero(np.isfinite(records["cost"]))
    some = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3))
    k, limit = data.draw(st.integers(0, 3)), (2.0, 1.0)

    def plain(X: Any) -> Any:
        """Elements as tuples; of a product of graphs by their places."""
        if isinstance(X, sr.Graph):
            return sorted(X.edges())
        return X if isinstance(X, list) else np.asarray(X).tolist()

    verbs: dict[str, Callable[[Any, sr.Semiring], Any]] = {
        "closure": lambda A, S: sr.closure(A, S), "at most": lambda A, S: sr.closure(A, S, max_edges=k),
        "power": lambda A, S: sr.power(A, S, k), "factor": lambda A, S: sr.factor(A, S).closure(),
        "rows": lambda A, S: sr.closure_rows(A, S, some),
        "limit": lambda A, S: sr.closure_rows(A, S, some, limit=limit),
        "some": lambda A, S: sr.closure_rows(A, S, some, targets=some[:1]),
        "factored rows": lambda A, S: sr.factor(A, S).rows(some, targets=some[:1]),
        "paths": lambda A, S: sr.paths(A, S).weights, "hops": lambda A, S: sr.paths(A, S, sources=some).next_hop,
        "within": lambda A, S: sr.paths(A, S, limit=limit).weights, "near": lambda A, S: sr.nearest(A, S, some).weights,
        "walk": lambda A, S: [sr.path(A, S, some[0], v)[1] for v in range(n)],
        "factored walk": lambda A, S: [sr.factor(A, S).path(some[0], v)[1] for v in range(n)],
        "mask": lambda A, S: sr.closure(A, S, on_divergence="mask").values,
    }
    for name, verb in verbs.items():
        graphs = [sr.Graph(rows, columns, n, A[rows, columns]) for A in (objects, records)] if rows.size else []
        for A, B in ((objects, records), graphs) if rows.size else ((objects, records),):
            assert plain(verb(A, PAIRS)) == plain(verb(B, sr.shortest_hops)), name
    M, N = sr.Matrix(objects, PAIRS), sr.Matrix(records, sr.shortest_hops)
    assert M.to_frame().values.tolist() == N.to_frame().values.tolist()
    assert list(M.to_networkx().edges(data="weight")) == list(N.to_networkx().edges(data="weight"))
    assert np.array_equal(sr.pack(M).to_dense(), sr.pack(N).to_dense())
