"""Products with compressed rows of Python objects, entry by entry from the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.lowering.objects import python_integers, python_objects
from semiring.kernels.numpy.rows import ArrayRowsKernel

quick = settings(max_examples=80)
inf = float("inf")
# Pairs, of which ⊗ keeps the first of the one and the last of the other: factors cannot be exchanged.
ENDS = sr.Semiring(
    "ends", add=lambda a, b: a | b, zero=frozenset(), dtype=object, product_only=True,
    mul=lambda a, b: frozenset((p, s) for p, q in a for r, s in b if q == r),
    samples=[frozenset(), frozenset([(0, 1)]), frozenset([(1, 1), (1, 2)])],
)
PAIRS = st.frozensets(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=3)
CASES = {
    "min_plus": (python_integers(sr.min_plus, np.dtype("i8"), ""), st.sampled_from([0, 1, -2, 10**30, inf]), inf,
                 min, lambda a, b: a + b),
    "ends": (python_objects(ENDS, np.dtype(object), ""), PAIRS, frozenset(), lambda a, b: a | b,
             lambda a, b: frozenset((p, s) for p, q in a for r, s in b if q == r)),
}


def array(rows: list[list[Any]], columns: int) -> np.ndarray:
    found = np.empty((len(rows), columns), object)
    for i, j in np.ndindex(found.shape):
        found[i, j] = rows[i][j]
    return found


def drawn(data: st.DataObject, elements: Any, rows: int, columns: int) -> np.ndarray:
    some = st.lists(elements, min_size=columns, max_size=columns)
    return array(data.draw(st.lists(some, min_size=rows, max_size=rows)), columns)


def compressed(A: np.ndarray, kept: np.ndarray) -> Rows:
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
    return Rows(offsets, np.nonzero(kept)[1].astype(np.int32), A[kept], A.shape[1])


@pytest.mark.parametrize("name", CASES)
def test_products(name: str) -> None:
    low, elements, zero, add, mul = CASES[name]
    kernel = ArrayRowsKernel(low)

    def product(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
        result = C.copy()
        for i, k, j in np.ndindex(len(A), len(B), B.shape[1]):
            result[i, j] = add(result[i, j], mul(A[i, k], B[k, j]))
        return result

    @quick
    @given(st.data(), *[st.integers(0, 4)] * 3)
    def check(data: st.DataObject, m: int, k: int, n: int) -> None:
        A, B, C = (drawn(data, elements, *shape) for shape in ((m, k), (k, n), (m, n)))
        random = np.random.default_rng(data.draw(st.integers(0, 99)))
        left, right = random.random((m, k)) < 0.5, random.random((k, n)) < 0.5
        a, b = compressed(A, left), compressed(B, right)
        zeros = array([[zero] * n] * m, n)
        sparse_A, sparse_B = A.copy(), B.copy()
        for i, j in np.argwhere(~left):
            sparse_A[i, j] = zero
        for i, j in np.argwhere(~right):
            sparse_B[i, j] = zero
        for accumulate, start in ((True, C), (False, zeros)):
            D = C.copy()
            kernel.times_dense(D, a, B, accumulate=accumulate)
            assert D.tolist() == product(sparse_A, B, start).tolist()
            turned, wanted = array([[zero] * m] * n, m), array([[zero] * m] * n, m)
            kernel.times_dense(turned, compressed(B.T, right.T), A.T, mirrored=True)
            kernel.dense_times(wanted.T, A, b)
            assert turned.tolist() == wanted.tolist()
            D = C.copy()[::-1]
            D[...] = C
            kernel.dense_times(D, A, b, accumulate=accumulate)
            assert D.tolist() == product(A, sparse_B, start).tolist()
        found = kernel.times_sparse(a, b)
        assert found.shape == (m, n) and found.values.dtype == object
        dense = array([[zero] * n] * m, n)
        places = [(i, j) for i in range(m) for j in found.columns[found.offsets[i] : found.offsets[i + 1]].tolist()]
        for place, value in zip(places, found.values, strict=True):
            dense[place] = value
        assert dense.tolist() == product(sparse_A, sparse_B, zeros).tolist()
        assert sorted(set(places)) == places  # every entry once, columns ascending
        assert set(places) == {(i, j) for i, p in np.argwhere(left) for q, j in np.argwhere(right) if p == q}

    check()
