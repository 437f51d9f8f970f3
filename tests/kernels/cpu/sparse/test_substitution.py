"""Substitution row after row against its definition, with factors in either order, on any number of threads."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse.substitution import LEAST_COLUMNS, SubstitutionKernel
from semiring.kernels.lowering.general import general

F8, inf = np.dtype("f8"), np.inf


def last(a: Any, b: Any) -> Any:
    return np.where((a == 0) | (b == 0), 0, b)


# ⊗ takes its right operand: it tells one order from the other.
LAST = sr.Semiring("last", add=np.maximum, mul=last, zero=0, one=1, dtypes="f", samples=[0, 1], product_only=True)
CASES = {
    "min_plus": (sr.min_plus, np.minimum, np.add, [0, 1, 2.5, -3, inf]),
    "last": (LAST, np.maximum, last, [0, 1, 2, 5]),
}


@cache
def kernel(name: str, threads: int = 1) -> SubstitutionKernel:
    return SubstitutionKernel(program(general(CASES[name][0], F8)), threads)


def drawn(name: str, n: int, m: int, seed: int) -> tuple[np.ndarray, Rows, np.ndarray]:
    """A strictly lower triangular matrix, which entries of it are stored, and X."""
    random, elements = np.random.default_rng(seed), np.array(CASES[name][3], F8)
    A, X = random.choice(elements, (n, n)), random.choice(elements, (n, m))
    kept = np.tril(random.random((n, n)) < 0.4, -1)
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
    stored = Rows(offsets, np.nonzero(kept)[1].astype(np.int32), A[kept], n)
    return np.where(kept, A, float(CASES[name][0].zero)), stored, X


def substituted(name: str, A: np.ndarray, X: np.ndarray, mirrored: bool) -> np.ndarray:
    _, add, mul, _ = CASES[name]
    X = X.copy()
    for i in range(len(A)):
        for p in range(i):
            X[i] = add(X[i], mul(X[p], A[i, p]) if mirrored else mul(A[i, p], X[p]))
    return X


@settings(max_examples=60)
@given(st.sampled_from(sorted(CASES)), st.integers(0, 9), st.integers(0, 4), st.booleans(), st.integers(0, 2**32 - 1))
def test_rows_take_what_those_before_have_become(name: str, n: int, m: int, mirrored: bool, seed: int) -> None:
    A, stored, X = drawn(name, n, m, seed)
    expected = substituted(name, A, X, mirrored)
    kernel(name).substitute(X, stored, np.arange(n), mirrored)
    assert np.array_equal(X, expected)


@pytest.mark.parametrize("columns", [1, LEAST_COLUMNS - 1, 3 * LEAST_COLUMNS + 1, 1100])
def test_threads_share_columns(columns: int) -> None:
    A, stored, X = drawn("min_plus", 12, columns, columns)
    expected = substituted("min_plus", A, X, False)
    for threads in (1, 3):
        found = X.copy()
        kernel("min_plus", threads).substitute(found, stored, np.arange(12))
        assert np.array_equal(found, expected)


@settings(max_examples=40)
@given(st.sampled_from(sorted(CASES)), st.integers(0, 70), st.sampled_from([1, 3]), st.integers(0, 2**32 - 1))
def test_the_closure_is_the_solution_for_the_identity(name: str, n: int, threads: int, seed: int) -> None:
    """In any order of the rows: the graph is numbered anew."""
    A, _, _ = drawn(name, n, 0, seed)
    S, order = CASES[name][0], np.random.default_rng(seed).permutation(n)
    expected = substituted(name, A, np.where(np.eye(n, dtype=bool), float(S.one), float(S.zero)), False)
    B = np.full((n, n), float(S.zero))
    B[np.ix_(order, order)] = A
    kept = float(S.zero) != B
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
    found = np.empty((n, n))
    kernel(name, threads).closure(found, Rows(offsets, np.nonzero(kept)[1].astype(np.int32), B[kept], n), order)
    assert np.array_equal(found[np.ix_(order, order)], expected)


def test_what_reads_alike_is_one_kernel() -> None:
    low = general(sr.min_plus, F8)
    twin = sr.Semiring("twin", add=np.minimum, mul=np.add, zero=inf, one=0, star=lambda a: np.where(a < 0, -inf, 0))
    assert SubstitutionKernel.of(general(twin, F8)) is SubstitutionKernel.of(low)
    (function,) = SubstitutionKernel.code(low)
    assert kernel("min_plus").module.__name__.endswith(function.on_disk.removesuffix(".substitute"))
