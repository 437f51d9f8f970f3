"""Rows of sparse factors that come and go, block by block."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.solvers import all_rows
from semiring.solvers.all_rows import by_vertex, each_block


def test_what_functions_return_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_rows, "CHUNK", 2)
    F = sr.factor(sp.csr_array([[0, 1.0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]), sr.min_plus)
    mixed = by_vertex(F, lambda vertices, rows: vertices if 0 in vertices else vertices + 0.5)
    assert mixed.dtype == np.float64 and sorted(np.floor(mixed).tolist()) == [0, 1, 2, 3]
    assert by_vertex(F, lambda vertices, rows: [3] * len(vertices), dtype="i1").dtype == np.int8
    blocks: list[list[int]] = []
    each_block(F, lambda vertices, rows: blocks.append(vertices.tolist()))
    assert sorted(map(len, blocks)) == [2, 2]


def test_which_algebras_order_their_elements() -> None:
    double = np.dtype("f8")
    assert all_rows.ascends(sr.min_plus, double) and not all_rows.ascends(sr.max_min, double)
    with pytest.raises(sr.LawError, match="does not order"):
        all_rows.ascends(sr.plus_times, double)
    with pytest.raises(sr.SemiringError, match="not numbers"):
        all_rows.ascends(sr.shortest_count, np.dtype("f8,i8"))


@pytest.mark.parametrize("dtype", ["f4", "i2", "u1"])
def test_nothing_is_better_than_the_best(dtype: str) -> None:
    least, most = (all_rows.best_possible(np.dtype(dtype), ascending) for ascending in (True, False))
    numbers = np.array([0, 3, 100], dtype)
    assert (least <= numbers).all() and (numbers <= most).all()
