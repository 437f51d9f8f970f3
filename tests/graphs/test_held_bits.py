"""Matrices of bits: what stays packed, with names, and what is not written."""

from __future__ import annotations

import numpy as np
from graphs.test_holders import LINKS, ROADS

import semiring as sr


def test_packed_matrices_stay_packed_with_their_names() -> None:
    dense = LINKS.hold("dense")
    for found, wanted in ((LINKS.closure(), dense.closure()), (LINKS**2, dense**2), (LINKS.T, dense.T),
                          (LINKS.closure(reflexive=False), dense.closure(reflexive=False)),
                          (LINKS[["c", "a"]], dense[["c", "a"]]), (LINKS @ LINKS, dense @ dense),
                          (LINKS.where(LINKS.T, complement=True), dense.where(dense.T, complement=True)),
                          (LINKS.map(lambda w: w), dense), (LINKS.select(lambda w: ~w), dense.select(lambda w: ~w))):
        assert found.holder == "packed" and found.equals(wanted) and found.names == wanted.names
    assert LINKS.map(lambda w: np.where(w, 2.0, 0.0), sr.min_plus).holder == "sparse"
    before = LINKS.hold("packed")
    before["c", "a"] = True
    assert before.nnz == 4 and LINKS.nnz == 3, "the words of another matrix are not written"
    assert sr.pack(LINKS).count() == sr.pack(ROADS).count() == 3
    assert sr.solve(LINKS, np.array([False, False, True])).tolist() == [True, True, True]
