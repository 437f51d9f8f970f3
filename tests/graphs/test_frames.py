"""Data frames with labels: vertices by name on both sides, long and square, and what could be edges as well."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from graphs.listing import refused
from graphs.test_exports import matrices
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.frames import is_square, matrix_of

INF = np.inf


@settings(max_examples=60, deadline=None)
@given(matrices(), st.randoms())
def test_there_and_back(M, random):
    square = M.to_frame(long=False)
    assert np.all(sr.Matrix(square, sr.min_plus) == M) and sr.Matrix(square, sr.min_plus).names == M.names
    long = M.to_frame()
    assert list(long.columns) == ["from", "to", "weight"]
    back = sr.adjacency(long, sr.min_plus, n=M.n, names=M.names, dtype=M.dtype)
    assert np.all(back == M)
    if M.names is not None:
        rows, columns = (random.sample(M.names, M.n) for _ in range(2))
        moved = square.take([M.index(v) for v in rows]).T.take([M.index(v) for v in columns]).T
        assert np.all(sr.Matrix(moved, sr.min_plus) == M)
        wanted = sr.Matrix(moved, sr.min_plus, M.names)
        assert wanted.names == M.names and np.all(wanted.array == M.array)


LABELS = ["a", "b", "c"]
FRAME = pd.DataFrame([[INF, 3.0, 9.0], [INF, INF, 4.0], [INF, INF, INF]], index=LABELS, columns=LABELS)


def test_every_verb_reads_a_square_frame_by_its_labels():
    moved = FRAME[["c", "a", "b"]]
    for frame in (FRAME, moved):
        closed = sr.closure(frame, sr.min_plus)
        assert closed.names == LABELS and closed["a", "c"] == 7.0
        assert sr.path(frame, sr.min_plus, "a", "c") == (7.0, LABELS)
    assert np.all(sr.matmul(sr.Matrix(FRAME, sr.min_plus), moved.iloc[::-1]) == sr.matmul(FRAME, FRAME, "min-plus"))
    assert np.all(sr.from_dense(moved, sr.min_plus, absent=INF) == sr.Matrix(FRAME, sr.min_plus))


def test_labels_that_differ_are_refused():
    other = FRAME.rename(columns={"c": "d"})
    for call in (lambda f: sr.closure(f, sr.min_plus), lambda f: sr.Matrix(f, sr.min_plus),
                 lambda f: sr.from_dense(f, sr.min_plus)):
        with refused("the index and the columns of the data frame have different vertices: 'c' is in the index and"):
            call(other)
    with refused("names and the index of the data frame have different vertices"):
        sr.Matrix(FRAME, sr.min_plus, ["a", "b", "x"])


def test_edges_stay_edges():
    roads = pd.DataFrame({"from": ["a", "b", "a"], "to": ["b", "c", "c"], "weight": [3.0, 4.0, 9.0]})
    assert not is_square(roads) and not is_square(roads.set_index(pd.Index(["x", "y", "z"]))) and not is_square(3)
    assert np.all(sr.closure(roads, sr.min_plus) == sr.closure(FRAME, sr.min_plus))
    with refused("this data frame is a matrix"):
        sr.as_graph(FRAME)
    with refused("could be 3 edges or a matrix of 3 vertices"):
        sr.closure(pd.DataFrame(np.zeros((3, 3))), sr.min_plus)
    assert sr.closure(pd.DataFrame(np.zeros((4, 4))), sr.min_plus).names is None


def test_numbered_rows_and_columns_take_names():
    array, names = matrix_of(pd.DataFrame(np.eye(2)), ["x", "y"])
    assert array.tolist() == np.eye(2).tolist() and names == ["x", "y"]
    assert matrix_of(pd.DataFrame(np.eye(2)), None)[1] is None


def test_records():
    M = sr.adjacency([("a", "b", (2.0, 3))], sr.shortest_count)
    assert M.to_frame().values.tolist() == [["a", "b", (2.0, 3.0)]]
    assert M.to_frame(long=False).loc["a", "b"] == (2.0, 3.0)


def test_polars_has_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    polars = ModuleType("polars")
    polars.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "polars", polars)
    M = sr.Matrix(FRAME, sr.min_plus)
    assert M.to_frame(library="polars")["weight"].tolist() == [3.0, 9.0, 4.0]
    square = M.to_frame(long=False, library="polars")
    assert list(square) == ["from", *LABELS] and square["from"] == LABELS and square["b"].tolist() == [3.0, INF, INF]
    for names in (["from", "b", "c"], ["1", 1, "c"]):
        with refused("columns of Polars are called by texts"):
            sr.Matrix(FRAME.to_numpy(), sr.min_plus, names).to_frame(long=False, library="polars")
    with refused("data frames are made by pandas, polars, pyarrow, and library is 'excel'"):
        M.to_frame(library="excel")
