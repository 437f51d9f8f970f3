"""Matrices of records by their components."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr

inf = np.inf
LENGTH = np.array([[inf, 2.0], [1.0, inf]])
WIDTH = np.array([[-inf, 5.0], [7.0, -inf]])
S = sr.widest_shortest


def sparse(array: np.ndarray, kind: Any = sp.csr_array) -> Any:
    rows, columns = np.nonzero(np.isfinite(array))
    return kind((array[rows, columns], (rows, columns)), shape=array.shape)


def test_arrays_and_sparse_matrices() -> None:
    C = sr.closure(S.array([[S.zero, (2.0, 5.0)], [(1.0, 7.0), S.zero]]), S)
    assert (sr.closure((LENGTH, WIDTH), S) == C).all()
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
        assert (sr.closure((sparse(LENGTH, kind), sparse(WIDTH, kind)), S) == C).all()
    assert (sr.matmul((LENGTH, WIDTH), (LENGTH, WIDTH), S)["dist"] == sr.matmul(LENGTH, LENGTH, sr.min_plus)).all()
    stacks = np.stack([LENGTH, LENGTH]), np.stack([WIDTH, WIDTH])
    assert (sr.closure(stacks, S) == np.stack([C, C])).all()
    whole = sr.closure((sparse(LENGTH).astype("i4"), sparse(WIDTH).astype("i8")), S)
    assert whole.dtype["dist"] == np.int32 and whole.dtype["width"] == np.int64
    zero = sp.csr_array(([0.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2))  # a length of 0 is an edge
    assert sr.closure((zero, sparse(WIDTH)), S)[0, 1].tolist() == (0.0, 5.0)


def test_what_came_in_is_not_changed() -> None:
    unsorted = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 2, 2])), shape=(2, 2))
    sr.closure((unsorted, unsorted), S)
    assert unsorted.indices.tolist() == [1, 0]


@pytest.mark.parametrize(("A", "message"), [
    ((LENGTH,), "a tuple of 1 matrices, but an element of widest-shortest has the 2 components dist, width"),
    ((LENGTH, WIDTH[:1]), r"A\[0\] has shape \(2, 2\) and A\[1\] \(1, 2\)"),
    ((LENGTH, sparse(WIDTH)), "mixes arrays and sparse matrices"),
    ((LENGTH.astype(complex), WIDTH), r"A\[0\] has elements of dtype complex128"),
    ((LENGTH, WIDTH.astype("U9")), r"A\[1\] has elements of dtype <U9"),
    ((np.full((2, 2), inf), WIDTH), r"A\[0, 1\] is \(∞, 5\): it is outside the carrier"),
    ((sparse(LENGTH), sp.csr_array(([1.0], ([0], [0])), shape=(2, 2))), r"different places, such as \(0, 0\)"),
    ((sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2)), sparse(WIDTH)), "several entries in one place"),
    ((sparse(-LENGTH), sparse(WIDTH)), r"A\[0, 1\] is \(-2, 5\): it is outside the carrier"),
])
def test_refusals(A: Any, message: str) -> None:
    with pytest.raises(sr.SemiringError, match=message):
        sr.closure(A, S)
