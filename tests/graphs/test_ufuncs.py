"""NumPy's functions on a `Matrix` compute over its algebra, or are refused."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr

INF = np.inf
ROADS = sr.Matrix(np.array([[INF, 3.0], [1.0, 7.0], [0.0, INF]]), sr.min_plus, ["ayr", "bute", "coll"],
                  columns=["mill", "shop"])


def test_numpy_adds_over_the_algebra_or_not_at_all() -> None:
    """`numpy.add` answered with sums of numbers under every algebra."""
    for S in sr.catalogue.values():
        M = sr.Matrix(S.samples()[[1, 0, 1, 1]].reshape(2, 2), S)
        for ufunc in (np.add, np.minimum, np.maximum, np.logaddexp, np.logical_or, np.bitwise_or):
            try:
                found = ufunc(M, M)
            except sr.SemiringError as e:
                assert "would compute over the real numbers" in str(e), S
                continue
            assert np.all(found == np.asarray(M | M)), (S, ufunc)
        for call in (np.multiply, lambda a, b: np.asarray(a) * b, lambda a, b: a * np.asarray(b)):
            if S.traced is not None and not S.is_record:
                assert (call(M, M) == M * M).all(), S
    assert np.sum(ROADS) == 0.0 and np.sum(ROADS, axis=1).tolist() == [3.0, 1.0, 0.0]
    assert np.kron(ROADS, ROADS)[("ayr", "bute"), ("shop", "shop")] == 10.0
    assert np.kron(ROADS, b=ROADS).equals(np.kron(ROADS, ROADS)) and np.sum(ROADS, 1).tolist() == [3.0, 1.0, 0.0]
    for call, others in ((lambda: np.sum(ROADS, axis=0, keepdims=True), "keepdims"),
                         (lambda: np.sum(ROADS, where=[[True, True]]), "where"),
                         (lambda: np.sum(ROADS, 0, float), "more arguments by position")):
        with pytest.raises(sr.SemiringError, match=f"numpy.sum of a Matrix .* takes axis, not {others}"):
            call()
