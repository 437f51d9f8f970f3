"""Data frames with labels: vertices by name on both sides, long and square, and what could be edges as well."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from graphs.listing import refused
from graphs.test_exports import matrices
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.frames import columns_in, frame_library, is_frame, is_square, matrix_of

INF = np.inf


@settings(max_examples=60)
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
    polars.DataFrame, polars.exceptions = dict, SimpleNamespace(PolarsError=OSError)  # type: ignore[attr-defined]
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


# Polars, Arrow, and what has Arrow's interface

EDGES = {"from": ["a", "b", "a"], "to": ["b", "c", "c"], "weight": [3.0, 4.0, 9.0]}


class Stream:
    """What has nothing but Arrow's PyCapsule interface, as a relation of DuckDB's has."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def frames_of(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns in every library that is installed."""
    found: dict[str, Any] = {"pandas": pd.DataFrame(columns)}
    for name in ("polars", "pyarrow"):
        try:
            _, module = frame_library(name)
        except sr.GraphError:
            continue
        if name == "polars":
            found[name] = module.DataFrame(columns)
        else:
            table = module.table(columns)
            found.update({"table": table, "batch": module.record_batch(columns), "stream": Stream(table)})
    return found


KINDS = list(frames_of(EDGES))


@pytest.mark.parametrize("kind", KINDS)
def test_every_verb_reads_edges_of_every_kind(kind: str) -> None:
    frame, M = frames_of(EDGES)[kind], sr.Matrix(FRAME, sr.min_plus)
    assert is_frame(frame) and not is_square(frame) and sr.as_graph(frame).names == LABELS
    assert np.array_equal(sr.adjacency(frame, sr.min_plus), M)
    assert np.array_equal(sr.closure(frame, sr.min_plus), M.closure())
    assert sr.path(frame, sr.min_plus, "a", "c") == (7.0, LABELS)
    assert sr.paths(frame, sr.min_plus)["a", "c"] == (7.0, LABELS)
    assert sr.closure_rows(frame, sr.min_plus, ["a"], targets=["c"])["a", "c"] == 7.0
    assert np.array_equal(sr.solve(frame, np.array([INF, INF, 0.0]), sr.min_plus), [7.0, 4.0, 0.0])
    assert sr.factor(frame, sr.min_plus).rows(["a"])[0, 2] == 7.0
    assert sr.nearest(frame, sr.min_plus, ["b"])[0][2] == 4.0
    assert sr.reach(frame).descendants("a") == ["b", "c"] and sr.topological_order(frame) == LABELS
    assert sr.plan("closure", frame, sr.min_plus).method and sr.pack(frame).shape == (3, 3)
    assert list(sr.matmul(frame, frame, sr.min_plus).edges()) == [("a", "c", 7.0)]
    with refused("B is a data frame, whose columns may be right-hand sides", sr.SemiringError):
        sr.solve(M, frame, sr.min_plus)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@settings(max_examples=60)
@given(M=matrices())
def test_there_and_back_through_every_library(library: str, M: sr.Matrix) -> None:
    pytest.importorskip(library)
    for label in (str, lambda v: "007" + str(v), int):
        names = None
        if M.names is not None:
            names = [label(v) if label is not int else 5 * i + 9 for i, v in enumerate(M.names)]
        named = sr.Matrix(M.array, sr.min_plus, names)
        long = named.to_frame(library=library)
        back = sr.adjacency(long, sr.min_plus, n=None if names else M.n, names=names)
        assert np.array_equal(back, named) and back.names == names
        if library == "pandas" or names:
            square = named.to_frame(long=False, library=library)
            again = sr.Matrix(square, sr.min_plus)
            assert np.array_equal(again, named) and again.names == names
            assert names is None or is_square(square)
            if names:
                both = named.T
                assert (again == named).all() and np.array_equal(sr.matmul(square, both), named @ both)
                assert np.array_equal(sr.from_dense(square, sr.min_plus, absent=INF), named)


@pytest.mark.parametrize("kind", KINDS)
def test_names_and_missing_values(kind: str) -> None:
    names = frames_of({"from": ["007", "nan"], "to": ["7", "a, b"], "n": [2**62 + 1, 5]})[kind]
    graph = sr.as_graph(names)
    assert graph.names == ["007", "7", "nan", "a, b"] and graph.weights.tolist() == [2**62 + 1, 5]
    truth = frames_of({"source": [0, 1], "target": [1, 2], "open": [True, False]})[kind]
    assert sr.as_graph(truth).weights.tolist() == [True, False]
    with refused("edge 1: the target vertex is missing"):
        sr.as_graph(frames_of({"from": ["a", "b"], "to": ["b", None]})[kind])
    with refused("edge 1 ('b' → 'c'): the weight is N"):
        sr.as_graph(frames_of({"from": ["a", "b"], "to": ["b", "c"], "km": [1, None]})[kind])
    both = frames_of({"from": [0], "to": [1], "km": [2.5], "toll": [3]})[kind]
    assert sr.as_graph(both, weight=["km", "toll"]).weights.tolist() == [(2.5, 3)]
    with refused("which of the columns ['km', 'toll'] is the weight?"):
        sr.as_graph(both)


def test_a_table_of_a_matrix_without_an_index() -> None:
    for kind, frame in frames_of({"from": ["b", "a"], "a": [1.0, 2.0], "b": [3.0, INF]}).items():
        if kind != "pandas":  # whose index is numbered, so that these are edges with two weights
            M = sr.Matrix(frame, sr.min_plus)
            assert M.names == ["b", "a"] and M["b", "a"] == 1.0 and M["a", "b"] == INF
            assert sr.closure(frame, sr.min_plus)["a", "a"] == 0.0
    for frame in frames_of({"from": ["to"], "to": ["x"]}).values():
        assert list(sr.as_graph(frame).edges()) == [("to", "x")], "one edge, and no matrix"
    for kind, frame in frames_of({"from": ["a", "a"], "a": [1.0, 2.0], "b": [3.0, INF]}).items():
        if kind != "pandas":
            assert not is_square(frame)


def test_labels_that_come_twice_are_refused_with_their_places() -> None:
    with refused("two of the index are called 'a', numbers 0 and 2"):
        sr.Matrix(FRAME.set_axis(["a", "b", "a"]).set_axis(["a", "b", "c"], axis=1), sr.min_plus)
    with refused("two of the columns of the data frame are called 'b', numbers 1 and 2"):
        sr.Matrix(FRAME.set_axis(["a", "b", "b"], axis=1), sr.min_plus)
    with refused("two columns of the data frame are called 'km', numbers 2 and 3: rename one"):
        sr.as_graph(pd.DataFrame([["a", "b", 1, 2]], columns=["from", "to", "km", "km"]))


def test_queries_that_have_not_run() -> None:
    polars = pytest.importorskip("polars")
    lazy = polars.DataFrame(EDGES).lazy()
    for call in (sr.as_graph, lambda f: sr.closure(f, sr.min_plus), lambda f: sr.adjacency(f, sr.min_plus)):
        with refused("a LazyFrame is a query that has not run: pass its .collect()"):
            call(lazy)
    assert sr.as_graph(lazy.collect()).names == LABELS
    pa = pytest.importorskip("pyarrow")
    reader = pa.table(EDGES).to_reader()
    with refused("a RecordBatchReader can only be read once: pass its .read_all()"):
        sr.closure(reader, sr.min_plus)
    assert sr.as_graph(reader.read_all()).names == LABELS


def test_the_library_that_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert frame_library(None)[0] == "pandas"
    pytest.importorskip("polars")
    monkeypatch.delitem(sys.modules, "pandas")
    assert frame_library(None)[0] == "polars"


@pytest.mark.parametrize("kind", ["pandas", "polars", "table"])
def test_answers_become_frames_of_the_kind_that_came_in(kind: str) -> None:
    if kind not in KINDS:
        pytest.skip(f"there is no library for {kind}")
    frame = frames_of(EDGES)[kind]
    S, M = sr.min_plus, sr.adjacency(frame, sr.min_plus)
    answers = [
        M, sr.closure(frame, S), M.closure(), M.T, M[["a", "b"]], M @ M, M | M, M ** 2, sr.power(M, S, 2),
        sr.from_dense(M.to_frame(False), S),
        sr.adjacency(sr.as_graph(frame).reverse(), S), sr.paths(frame, S), sr.paths(M, S).weights,
        sr.closure_rows(frame, S, ["a"], targets=["c"]), sr.closure(M.to_frame(False), S),
        sr.paths(frame, S, sources=["a"]),
        sr.closure(sr.as_graph(frame).subgraph(["b", "c"]), S), sr.closure(sr.matmul(frame, frame, S), S),
        sr.closure(frame, S, reflexive=False), sr.closure(M, S, method="squaring"), sr.matmul(M, sr.as_graph(frame), S),
    ]
    for k, answer in enumerate(answers):
        assert type(answer.to_frame()) is type(frame), k
        for library in {"pandas", "polars"} & set(KINDS):
            assert type(answer.to_frame(library=library)).__module__.startswith(library)


def test_what_arrow_has_no_type_for() -> None:
    pytest.importorskip("pyarrow")
    with refused("Arrow has no type for a column of these elements"):
        sr.Matrix(np.array([[1j]]), sr.plus_times).to_frame(library="pyarrow")
    words = sr.adjacency([("a", "b", sr.letter("x"))], sr.regex)
    with refused("Arrow has no type for a column of these elements"):
        words.to_frame(library="pyarrow")


def test_what_polars_has_no_type_for() -> None:
    pytest.importorskip("polars")
    mixed = sr.adjacency([("a", "b", 1.0), ("b", 3, 2.0)], sr.min_plus)
    for long in (True, False):
        with refused("Polars has no type for a column of these elements"):
            mixed.to_frame(long=long, library="polars")


def test_columns_of_dictionaries_and_chunks() -> None:
    pa = pytest.importorskip("pyarrow")
    names = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["b"]).dictionary_encode()])
    table = pa.table({"from": names, "to": pa.chunked_array([["b"], ["c", "a"]]), "weight": [1, 2, 3]})
    assert list(sr.as_graph(table).edges()) == [("a", "b", 1), ("b", "c", 2), ("b", "a", 3)]
    header, column = columns_in(table)
    assert header == ["from", "to", "weight"] and column(2).dtype == np.int64


def test_vertices_called_false_and_true_are_not_numbers():
    names = [False, True]
    frame = pd.DataFrame([[0.0, 2.0], [3.0, 0.0]], index=names, columns=names)
    for found in (sr.Matrix(frame, sr.min_plus), sr.closure(frame, sr.min_plus)):
        assert [str(name) for name in found.names] == ["False", "True"]
        assert found.array.tolist() == [[0.0, 2.0], [3.0, 0.0]]


def test_missing_numbers_of_a_square_frame_are_refused_with_their_place() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"a": pandas.array([0, None], "Int64"), "b": pandas.array([5, 0], "Int64")}, index=["a", "b"]
    )
    with pytest.raises(sr.SemiringError, match="NaN"):
        sr.closure(frame, sr.min_plus)
    whole = frame.fillna(7)
    assert sr.closure(whole, sr.min_plus)["b", "a"] == 7


def test_integers_beside_floats_are_not_rounded() -> None:
    pandas = pytest.importorskip("pandas")
    large = 2**53 + 1
    frame = pandas.DataFrame({"a": np.array([0, large]), "b": [0.5, 1.0]}, index=["a", "b"])
    assert sr.Matrix(frame, sr.min_plus)["b", "a"] == large
    assert sr.closure(frame, sr.min_plus)["b", "a"] == large
    small = pandas.DataFrame({"a": np.array([0, 3]), "b": [0.5, 1.0]}, index=["a", "b"])
    assert sr.Matrix(small, sr.min_plus).dtype == np.float64


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_frame_beside_a_matrix_with_columns_of_its_own_has_columns_of_its_own(kind):
    """Rows and columns may share some names and not all."""
    M = sr.Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], sr.min_plus, ["a", "b"], columns=["b", "c", "d"]).hold(kind)
    frame = M.to_frame(long=False).iloc[::-1, ::-1]
    assert (M | frame).equals((M | M).hold("dense")) and (frame == M).all() and (frame == M).all()
    assert M.where(frame > 2).nnz == 4
    N = M.select(lambda w: w > 2)
    N[:, :] = frame
    assert N.equals(M)
    square = sr.Matrix(sr.min_plus.eye(3), sr.min_plus, ["b", "c", "d"]).hold(kind)
    square[["c"], :] = frame.loc[["a"]].rename(index={"a": "c"})
    assert square.row("c").tolist() == [1.0, 2.0, 3.0]
