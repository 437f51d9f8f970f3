"""Factors moved from one layout to another, and back."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.algorithms.sparse.analysis import analyse
from semiring.kernels.numpy.panels import blocks_of, move


@pytest.mark.parametrize("rows, rows_out", [(1, 1), (2, 2), (3, 2), (2, 3), (1, 3), (3, 1)])
@pytest.mark.parametrize("n", [0, 1, 60])
def test_there_and_back(rows: int, rows_out: int, n: int) -> None:
    A = sr.random_graph(n, "grid") if n else sr.Graph(np.empty(0, int), np.empty(0, int), 0)
    matrix = np.zeros((A.n, A.n), bool)
    matrix[A.sources, A.targets] = True
    i, j = np.nonzero(matrix)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=A.n))]).astype(np.int64)
    analysis = analyse(indptr, j.astype(np.int64), leaf=4)
    here, there = blocks_of(analysis, rows), blocks_of(analysis, rows_out)
    given, out, back = np.full(here.end, -1.0), np.full(there.end, 7.0), np.full(here.end, 8.0)
    for begin, size in zip(here.begins, here.sizes, strict=True):
        given[begin : begin + size] = np.arange(size) + begin
    move(analysis, [given], rows, [out], rows_out, [-1.0])
    move(analysis, [out], rows_out, [back], rows, [-1.0])
    assert np.array_equal(given, back)
    for b, c, size in zip(here.begins, there.begins, here.sizes, strict=True):
        assert np.array_equal(given[b : b + size], out[c : c + size])
    assert (out == -1).sum() == there.end - here.sizes.sum()
