"""Rows and columns with names of their own."""

from __future__ import annotations

import numpy as np
import pytest
from graphs.listing import refused

import semiring as sr

INF = np.inf
ROADS = sr.Matrix(np.array([[INF, 3.0], [1.0, 7.0], [0.0, INF]]), sr.min_plus, ["ayr", "bute", "coll"],
                  columns=["mill", "shop"])


def test_a_rectangular_matrix_through_frames_and_verbs() -> None:
    frame = ROADS.to_frame(long=False, library="pandas")
    again = sr.Matrix(frame, sr.min_plus)
    assert (again == ROADS).all() and again.column_names == ["mill", "shop"] and again.library == "pandas"
    assert ROADS.to_frame(library="pandas").values.tolist()[0] == ["ayr", "shop", 3.0]
    turned = sr.Matrix(ROADS, sr.min_plus, ["coll", "ayr", "bute"], columns=["shop", "mill"])
    assert (turned == ROADS).all() and turned.array[1, 0] == 3.0 and ROADS.to_sparse().shape == (3, 2)
    overlapping = sr.Matrix(np.eye(2), sr.min_plus, ["a", "b"], columns=["b", "c"])
    frame = overlapping.to_frame(long=False, library="pandas")
    with refused("'a' is in the index and not in the columns"):
        sr.Matrix(frame, sr.min_plus)
    assert (sr.Matrix(frame, sr.min_plus, columns=["c", "b"]) == overlapping).all()
    square = sr.Matrix(np.array([[0.0, 1.0], [2.0, 0.0]]), sr.min_plus, ["a", "b"], columns=["b", "a"])
    assert square.closure().names == ["a", "b"] and square["a", "b"] == 0.0 and square.closure()["a", "a"] == 0.0
    for call in (sr.closure, sr.as_graph, lambda M: M ** 2, lambda M: M.diagonal(), lambda M: M.to_networkx()):
        with pytest.raises(sr.GraphError, match=r"square matrix whose rows and columns are the same|one set of vertic"):
            call(ROADS)
