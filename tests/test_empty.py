"""Any shape: nothing, one, two or three on every axis, against products and closures written out."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import oracle
import pytest
from bridge import ours, same_bits
from methods import METHODS

import semiring as sr

SIZES = (0, 1, 2, 3)
CASES = [("min_plus", "f8"), ("min_plus", "i4"), ("max_min", "f2"), ("boolean", "?"), ("plus_times", "f4"),
         ("shortest_hops", None), ("why", "O"), ("min_plus", "O")]


def acyclic(S: oracle.Algebra, shape: tuple, dtype: Any) -> np.ndarray:
    """Elements above the diagonal, so that a closure exists in every algebra."""
    T = ours(S)
    dtype = T.default_dtype if dtype is None else np.dtype(dtype)
    random = np.random.default_rng(len(shape))
    if S.name.startswith("why"):
        some = [frozenset([frozenset("x")]), frozenset([frozenset("y"), frozenset("z")])]
    elif T.is_record:
        some = [(1.0, 1.0), (2.0, 1.0)]
    else:
        some = [T.one_in(dtype), 1 if dtype.kind != "f" else dtype.type(0.5)]
    A = np.empty(shape, dtype)
    for at in np.ndindex(*shape):
        element: Any = T.zero_in(dtype) if at[-1] <= at[-2] or random.random() < 0.3 else some[random.integers(2)]
        A[at] = element
    return A


def slow_product(T: sr.Semiring, A: np.ndarray, B: np.ndarray, C: np.ndarray | None = None) -> np.ndarray:
    """c_ij ⊕ ⊕_k a_ik ⊗ b_kj, one by one."""
    S = T.over(A.dtype)
    leading = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    full = (*leading, A.shape[-2], B.shape[-1])
    A, B = (np.broadcast_to(X, (*leading, *X.shape[-2:])) for X in (A, B))
    result = np.empty(full, A.dtype)
    for at in np.ndindex(*full):
        total = np.empty(1, A.dtype)
        total[0] = S.zero if C is None else C[at]
        for k in range(A.shape[-1]):
            terms = np.empty((2, 1), A.dtype)
            terms[0, 0], terms[1, 0] = A[(*at[:-1], k)], B[(*at[:-2], k, at[-1])]
            total = np.asarray(S.add(total, np.asarray(S.mul(terms[0], terms[1]))))
        result[at] = total[0]
    return result


def slow_closure(T: sr.Semiring, A: np.ndarray, reflexive: bool) -> np.ndarray:
    """1 ⊕ A ⊕ … ⊕ Aⁿ, since no walk is longer."""
    n = A.shape[-1]
    one = np.broadcast_to(T.eye(n, A.dtype), A.shape)
    walks = one
    for _ in range(n):
        walks = slow_product(T, A, walks, one)
    return walks if reflexive else slow_product(T, A, walks)


def same(x: Any, y: np.ndarray) -> bool:
    x = np.asarray(x)
    if y.dtype == object:
        return x.shape == y.shape and all(p == q for p, q in zip(x.flat, y.flat, strict=True))
    return same_bits(x, y)


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_closures(name: str, dtype: Any) -> None:
    S = oracle.ALGEBRAS[name]
    T = ours(S)
    for leading in [(), *((a,) for a in SIZES), *product((0, 1, 2), repeat=2)]:
        for n in SIZES:
            A = acyclic(S, (*leading, n, n), dtype)
            for reflexive in (True, False):
                expected = slow_closure(T, A, reflexive)
                for method in METHODS:
                    if method == "squaring" and not (T.idempotent and (T.bounded or T.selective)):
                        continue
                    got = sr.closure(A, T, method=method, reflexive=reflexive)
                    assert same(got, expected), (A.shape, method, reflexive)
                got = sr.closure(A.copy(), T, reflexive=reflexive, overwrite=True)
                assert same(got, expected)
                assert same(sr.closure(A, T, reflexive=reflexive, tile=1, check=False), expected)
                assert same(sr.closure(A, T, reflexive=reflexive, progress=lambda share: None), expected)
                assert same(sr.closure(np.asfortranarray(A), T, reflexive=reflexive), expected)
            sr.plan("closure", A, T)
            if not leading:
                F = sr.factor(A, T)
                assert same(F.closure(), slow_closure(T, A, True))
                for m in SIZES:
                    B = acyclic(S, (n, m), dtype)
                    assert same(F.solve(B), slow_product(T, slow_closure(T, A, True), B))
                    assert same(sr.solve(A, B, T), slow_product(T, slow_closure(T, A, True), B))
                if n:
                    assert same(sr.solve(A, A[:, 0], T), slow_product(T, slow_closure(T, A, True), A[:, :1])[:, 0])
                if T.selective:
                    assert same(sr.closure_rows(A, T, range(n)), slow_closure(T, A, True))


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_products(name: str, dtype: Any) -> None:
    S = oracle.ALGEBRAS[name]
    T = ours(S)
    stacks = [((), ()), ((0,), (0,)), ((2,), (2,)), ((1,), (0,)), ((3,), ()), ((), (0,)), ((2, 0), (0,)),
              ((2, 1), (3,))]
    for (left, right), m, k, n in product(stacks, (0, 1, 3), SIZES, (0, 1, 2)):
        A, B = acyclic(S, (*left, m, k), dtype), acyclic(S, (*right, k, n), dtype)
        expected = slow_product(T, A, B)
        assert same(sr.matmul(A, B, T), expected), (A.shape, B.shape)
        C = acyclic(S, expected.shape, dtype)
        before = C.copy()
        added = slow_product(T, A, B, C)
        assert same(sr.matmul(A, B, T, accumulate=C), added), (A.shape, B.shape)
        assert same(C, before)
        out = C.copy()
        assert sr.matmul(A, B, T, accumulate=out, out=out) is out and same(out, added)
        out = C.copy()
        assert sr.matmul(A, B, T, out=out) is out and same(out, expected)
        if not left and not right:
            if m:
                assert same(sr.matmul(A[0], B, T), expected[0])
            if n:
                assert same(sr.matmul(A, B[:, 0], T), expected[:, 0])
            if m and n:
                assert sr.matmul(A[0], B[:, 0], T) == expected[0, 0]


def test_bits() -> None:
    for m, k, n in product(SIZES, repeat=3):
        A, B = np.ones((m, k), bool), np.ones((k, n), bool)
        expected = np.full((m, n), k > 0)
        for left, right in ((sr.pack(A), B), (A, sr.pack(B)), (sr.pack(A), sr.pack(B))):
            assert same(sr.matmul(left, right, sr.boolean).to_dense(), expected)
            C = np.eye(m, n, dtype=bool)
            assert same(sr.matmul(left, right, sr.boolean, accumulate=sr.pack(C)).to_dense(), expected | C)
        if m == n:
            chain = np.eye(n, k=1, dtype=bool)
            for reflexive in (True, False):
                closed = sr.closure(chain, sr.boolean, packed=True, reflexive=reflexive)
                assert same(closed.to_dense(), slow_closure(sr.boolean, chain, reflexive))


def test_entries_are_looked_at_though_nothing_is_computed() -> None:
    C = np.full((2, 2), np.nan)
    with pytest.raises(sr.SemiringError, match=r"accumulate\[0, 0\] is NaN"):
        sr.matmul(np.zeros((2, 0)), np.zeros((0, 2)), sr.min_plus, accumulate=C)
    with pytest.raises(sr.SemiringError, match="unknown method"):
        sr.closure(np.zeros((3, 0, 0)), sr.min_plus, method="fast")
    with pytest.raises(sr.SemiringError, match="do not fit"):
        sr.matmul(np.zeros((3, 0, 2)), np.zeros((3, 0, 2)), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="square"):
        sr.closure(np.zeros((3, 0, 2)), sr.min_plus)


@pytest.mark.parametrize("name", sorted(sr.catalogue))
def test_no_edges_are_an_empty_graph(name: str) -> None:
    """A list that holds nothing, and a dict: `closure` takes them as `components` does."""
    S = sr.catalogue[name]
    for nothing in ([], {}):
        assert sr.closure(nothing, S).shape == sr.adjacency(nothing, S).shape == (0, 0)
        assert sr.components(nothing) == [] and sr.as_graph(nothing).n == 0
