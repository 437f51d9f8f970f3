"""Products of matrices whose columns have names of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from graphs.listing import refused

import semiring as sr

INF = np.inf
ROADS = sr.Matrix(np.array([[INF, 3.0], [1.0, 7.0], [0.0, INF]]), sr.min_plus, ["ayr", "bute", "coll"],
                  columns=["mill", "shop"])


def test_names_of_a_product_meet_inside_and_stay_outside() -> None:
    M = sr.adjacency([("bute", "ayr", 5.0), ("ayr", "coll", 1.0)], sr.min_plus)
    graph = sr.as_graph([("bute", "ayr", 5.0), ("ayr", "coll", 1.0)])
    for left in (M, graph, M.to_frame(long=False, library="pandas")):
        found = sr.matmul(left, ROADS)
        assert found.row_names == ["bute", "ayr", "coll"] and found.column_names == ["mill", "shop"]
        assert found["bute", "shop"] == 8.0 and found["ayr", "mill"] == 1.0
    assert ((graph @ ROADS) == (M @ ROADS)).all() and ((ROADS.T @ graph) == (M.T @ ROADS).T).all()
    assert type(ROADS @ np.zeros((2, 4))) is np.ndarray
    assert (ROADS @ pd.Series([1.0, 2.0], ["shop", "mill"])).tolist() == [4.0, 3.0, 2.0]
    total = sr.matmul(M, ROADS, accumulate=ROADS)
    assert total["bute", "shop"] == 7.0 and total.row_names == ["bute", "ayr", "coll"]
    values, middle = sr.matmul(ROADS.T, ROADS, argmax=True)
    assert values.names == ["mill", "shop"] and middle.tolist() == [[2, 1], [1, 0]]
    for call in (lambda: ROADS @ ROADS, lambda: M @ ROADS.T, lambda: ROADS | M, lambda: ROADS == ROADS.T):
        with pytest.raises(sr.GraphError, match=r"have different vertices|A has shape"):
            call()
    with refused("A is a matrix over min-plus, but S is max-min", sr.SemiringError):
        sr.matmul(ROADS, ROADS.T, sr.max_min)


@pytest.mark.parametrize("holder", ["dense", "sparse"])
def test_vectors_meet_rows_and_columns_by_their_labels(holder: str) -> None:
    xr, M = pytest.importorskip("xarray"), ROADS.hold(holder)
    down, across = np.array([1.0, 2.0, 4.0]), np.array([8.0, 16.0])
    rows, columns = ["coll", "ayr", "bute"], ["shop", "mill"]

    def turned(vector: np.ndarray, labels: list[str], own: list[str], kind: str) -> object:
        values = vector[[own.index(label) for label in labels]]
        return pd.Series(values, labels) if kind == "series" else xr.DataArray(values, dims="k", coords={"k": labels})

    for kind in ("series", "xarray"):
        x = turned(down, rows, ["ayr", "bute", "coll"], kind)
        y = turned(across, columns, ["mill", "shop"], kind)
        assert np.array_equal(sr.matmul(x, M), sr.matmul(down, ROADS)) and np.array_equal(M @ y, ROADS @ across)
        assert np.array_equal(sr.matmul(M, y, accumulate=x), sr.matmul(ROADS, across, accumulate=down))
        assert np.array_equal(sr.matmul(x, M, accumulate=y), sr.matmul(down, ROADS, accumulate=across))
        mask = turned(np.array([True, False, True]), rows, ["ayr", "bute", "coll"], kind)
        assert np.array_equal(sr.matmul(M, y, mask=mask), np.where([1, 0, 1], ROADS @ across, INF))
        mask = turned(np.array([True, False]), columns, ["mill", "shop"], kind)
        assert np.array_equal(sr.matmul(x, M, mask=mask), [sr.matmul(down, ROADS)[0], INF])
    with refused("the rows of B and A have different vertices"):
        sr.matmul(pd.Series(down, ["ayr", "bute", "inn"]), M)
    with refused("the columns of A and B have different vertices"):
        M @ pd.Series(across)
