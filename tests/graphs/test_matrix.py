"""The matrix as an object: elements by name, NumPy, and how it is shown."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from graphs.listing import NAMED, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.adjacency import adjacency
from semiring.graphs.matrix import Matrix
from semiring.graphs.tables import SHOWN

INF = np.inf


def test_elements_rows_and_columns_by_name():
    M = adjacency(NAMED, sr.min_plus)
    assert M["a", "b"] == 3.0 and M["a"].tolist() == [INF, 3.0, INF] and M[:, "c"].tolist() == [INF, 0.0, 1.5]
    assert M["a", :].tolist() == M["a"].tolist() and len(M) == 3 and [r.tolist() for r in M] == M.array.tolist()
    with refused("no vertex is called 'd'"):
        M["a", "d"]
    with refused("no vertex is called 0"):
        M[0, 1]
    with refused("a row, or a row and a column, not 3 vertices"):
        M["a", "b", "c"]
    plain = Matrix(np.arange(4).reshape(2, 2), sr.min_plus)
    assert plain[1, 0] == 2 and plain[1].tolist() == [2, 3]
    with refused("vertex 2: the vertices have no names, they are the integers 0 to 1"):
        plain[2]


def test_a_tuple_that_is_a_name_selects_a_row():
    M = adjacency([((0, 0), (0, 1), 2.0)], sr.min_plus)
    assert M[(0, 0)].tolist() == [INF, 2.0] and M[(0, 0), (0, 1)] == 2.0


def test_numpy_takes_a_matrix_as_an_array():
    M = adjacency([(0, 1, 2.0)], sr.min_plus)
    assert np.asarray(M) is M.array
    assert np.array(M) is not M.array
    assert np.asarray(M, dtype="f4").dtype == np.float32
    assert np.array(M, copy=False) is M.array
    with pytest.raises(ValueError, match="copy"):
        np.array(M, dtype="f4", copy=False)
    assert np.minimum(M, 1.0).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_matrix_is_square_with_a_name_for_each_vertex():
    for verb in (sr.closure, sr.paths, sr.factor, sr.as_graph):
        with refused("must be a square matrix" if verb is not sr.as_graph else "a graph has one set of vertices"):
            verb(Matrix(np.zeros((2, 3)), sr.min_plus))
    with refused("a matrix has rows and columns, but this array has shape (2,)"):
        Matrix(np.zeros(2), sr.min_plus)
    with refused("1 names for 2 vertices: pass one for each"):
        Matrix(np.zeros((2, 2)), sr.min_plus, ["a"])


def test_repr_of_a_matrix():
    array = np.array([[0.0, 2.5, -INF], [INF, 0.0, 1 / 3], [INF, INF, 1e6]])
    assert repr(Matrix(array, sr.min_plus, ["a", "bb", "c"])).splitlines() == [
        "Matrix 3 × 3 over min-plus, float64",
        "    a   bb          c",
        " a  0  2.5  -∞",
        "bb  ·  0     0.333333",
        " c  ·  ·     1e+06",
    ]
    assert repr(Matrix(np.array([[INF]]), sr.max_min)).splitlines()[-1] == "0  ∞"
    assert repr(Matrix(np.array([[True, False]] * 2), sr.boolean)).splitlines()[-1] == "1  1  ·"
    assert repr(Matrix(np.zeros((0, 0)), sr.min_plus)) == "Matrix 0 × 0 over min-plus, float64"
    integers = adjacency([(0, 1, 5)], sr.min_plus)
    assert repr(integers).splitlines()[1:] == ["   0  1", "0  ·  5", "1  ·  ·"]


def test_repr_of_large_matrices_records_and_long_texts():
    lines = repr(Matrix(np.zeros((300, 300)), sr.min_plus)).splitlines()
    assert len(lines) == 13
    assert lines[1].split() == [*"01234", "…", *map(str, range(295, 300))]
    assert lines[7].split() == ["…"] * 12
    M = adjacency([("a", "b", (2.0, 3))], sr.shortest_count)
    assert repr(M).splitlines()[0] == "Matrix 2 × 2 over shortest-count, (dist float64, count float64)"
    assert "(2, 3)" in repr(M)
    long = adjacency([("n" * 40, "b", frozenset({(1.0, 2.0), (2.0, 1.0)}))], sr.pareto)
    assert max(map(len, repr(long).splitlines()[1:])) <= 3 * 16 + 4
    assert "{(1, 2), (2, 1)}" in repr(long)


def test_html_of_a_matrix_is_the_same_table_escaped():
    page = adjacency([("<a>", "b", 2.0)], sr.min_plus)._repr_html_()
    assert page.count("<tr>") == 3 and "<a>" not in page
    assert '<th scope="row">&lt;a&gt;</th><td>·</td><td>2</td>' in page
    assert ">Matrix 2 × 2 over min-plus, float64</caption>" in page


def test_what_is_masked_is_the_zero_and_what_is_given_is_held():
    array = np.array([[0.0, 2.0], [INF, 0.0]])
    assert Matrix(array, "min-plus").array is array and Matrix(array.tolist(), sr.min_plus).dtype == np.float64
    masked = np.ma.array([[7.0, 2.0], [np.nan, 0.0]], mask=[[False, False], [True, False]])
    assert Matrix(masked, sr.min_plus).array.tolist() == [[7, 2], [INF, 0]]
    assert Matrix(masked, sr.max_plus).array.tolist() == [[7, 2], [-INF, 0]]
    with refused("this is not a matrix:"):
        Matrix([[1, 2], [3]], sr.min_plus)
    with refused("unknown algebra 'min-pluss'", sr.SemiringError):
        Matrix(array, "min-pluss")


def test_slices_are_of_positions_also_where_vertices_have_names():
    M = Matrix(np.arange(9).reshape(3, 3), sr.min_plus, ["c", "a", "b"])
    assert M[1:].tolist() == [[3, 4, 5], [6, 7, 8]]
    assert M["b", ::-1].tolist() == [8, 7, 6] and M[:2, "a"].tolist() == [1, 4]
    assert M.shape == (3, 3) and M.index("b") == 2 and len(M) == 3
    for key in ([0], ("a", [0]), {}):
        with refused("no vertex is called"):
            M[key]
    for ends in (slice("a", "b"), slice(None, "b"), slice(0, 2, 1.0)):
        with refused("a slice needs positions"):
            M[ends]
        with refused("a slice needs positions"):
            M["a", ends]


@pytest.mark.parametrize("n", [1, SHOWN - 1, SHOWN, SHOWN + 1, 3 * SHOWN])
def test_all_rows_are_shown_or_the_corners(n):
    lines = repr(Matrix(np.eye(n), sr.plus_times)).splitlines()
    shown = n if n <= SHOWN else SHOWN + 1
    assert len(lines) == 2 + shown and lines[0] == f"Matrix {n} × {n} over plus-times, float64"
    assert len({len(line) for line in lines[1:]}) == 1, "columns stand below each other"
    last = ["·"] * (shown - 1) + ["1"]
    if n > SHOWN:
        last[SHOWN // 2] = "…"
    assert lines[-1].split() == [str(n - 1), *last]


def test_objects_without_an_order_are_compared_with_the_zero():
    M = adjacency([("p", "q", sr.letter("x"))], sr.regex)
    assert repr(M).splitlines()[1:] == ["   p  q", "p  ·  x", "q  ·  ·"]


def test_the_matrix_of_some_vertices():
    M = adjacency(NAMED, sr.min_plus)
    part = M[["c", "a"]]
    assert part.names == ["c", "a"] and part["c", "c"] == 1.5 and part["a", "c"] == INF and part.semiring is sr.min_plus
    plain = Matrix(np.arange(9).reshape(3, 3), sr.min_plus)
    assert plain[[0, 1]].names is None and plain[[2, 0]].names == [2, 0] and plain[[2, 0]][2, 0] == 6
    assert M[[]].shape == (0, 0)
    with refused("no vertex is called 'd'"):
        M[["a", "d"]]
    with refused("two vertices are called 'a'"):
        M[["a", "a"]]


@pytest.mark.parametrize("kind", [np.array, pd.Index, pd.Series, pd.Categorical, "polars"])
def test_arrays_and_series_of_names_are_lists_of_vertices(kind):
    kind = pytest.importorskip("polars").Series if kind == "polars" else kind
    M = adjacency(NAMED, sr.min_plus)
    some = kind(["c", "a"])
    assert M[some].equals(M[["c", "a"]]) and M[some, ["b"]].equals(M[["c", "a"], ["b"]])
    assert M["a", some].tolist() == [M["a", "c"], M["a", "a"]]
    M[some, some] = 1.0
    assert M["c", "a"] == 1.0
    with refused("truth values do not name vertices"):
        M[kind([True, False, True])]
    with refused("no vertex is called 'd'"):
        M[kind(["a", "d"])]


def test_an_array_has_a_dtype_that_the_algebra_lives_in():
    for array in (np.eye(2, dtype=bool), np.array([["1", "2"], ["3", "4"]]), np.ones((2, 2), "m8[m]"), np.eye(2) * 1j):
        with refused("min-plus cannot live in", sr.SemiringError):
            Matrix(array, sr.min_plus)


def test_closure_and_numpy():
    M = adjacency(NAMED, sr.min_plus)
    closed = M.closure()
    assert closed.names == M.names and np.all(closed == sr.closure(M)) and M.to_numpy() is M.array
    assert np.all(M.closure(reflexive=False) == sr.closure(M, reflexive=False))
    total = np.zeros((3, 3))
    assert np.minimum(M, 1.0, out=total) is total and np.minimum.reduce(M, axis=None) == 0.0


def test_a_data_frame_brings_its_names():
    frame = pd.DataFrame([[1.0, 0.0], [3.0, 2.0]], index=["a", "b"], columns=["b", "a"])
    M = Matrix(frame, sr.min_plus)
    assert M.names == ["a", "b"] and M.array.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    other = Matrix(np.array([[9.0, 0.5], [0.5, 9.0]]), sr.min_plus, ["a", "b"])
    assert np.all(other | frame == other | M) and np.all(other @ frame == other @ M)
    other.array[0, 1] = 1.0
    assert np.asarray(other == frame).tolist() == [[False, True], [False, False]]
    assert np.asarray(other != frame).tolist() == [[True, False], [True, True]]
    with refused("have different vertices: "):
        _ = other | frame.rename(index={"a": "x"}, columns={"a": "x"})


@pytest.mark.parametrize(("S", "dtype", "array", "rows"), [
    (sr.min_plus, "i8", [[0, 2**63 - 1], [-(2**63), 7]], ["0  ·", "-∞  7"]),
    (sr.max_min, "i4", [[2**31 - 1, 3], [-(2**31), 5]], ["∞  3", "·  5"]),
    (sr.min_max, "u1", [[0, 255], [254, 1]], ["-∞  ·", "254  1"]),
    (sr.counting, "u4", [[0, 2**32 - 1], [2**31, 1]], ["·  ∞", f"{2**31} 1"]),
    (sr.mod_p(7), "i1", [[0, 6], [5, 1]], ["·  6", "5  1"]),
], ids=lambda x: getattr(x, "name", None))
def test_infinities_of_integers_are_shown_as_such(S, dtype, array, rows):
    M = Matrix(np.array(array, dtype), S)
    found = [" ".join(line.split()[1:]) for line in repr(M).splitlines()[2:]]
    assert found == [" ".join(row.split()) for row in rows]
    assert ("∞" in M._repr_html_()) is ("∞" in "".join(rows))


@settings(max_examples=40)
@given(st.lists(st.floats(allow_nan=False) | st.sampled_from([0.0, 1.5, 22.25, INF]), min_size=9, max_size=9))
def test_floats_stand_below_each_other_by_their_points(values):
    """The last whole digit of each number of a column is at one place."""
    lines = repr(Matrix(np.array(values).reshape(3, 3), sr.plus_times)).splitlines()[2:]
    for column in range(1, 4):
        ends = set()
        for line in lines:
            number = list(re.finditer(r"\S+", line))[column]
            whole = re.match(r"[^.e]*", number[0])
            ends.add(number.start() + len(whole[0]))
        assert len(ends) == 1, lines


def test_a_matrix_of_a_matrix_keeps_its_names_and_its_algebra():
    M = adjacency(NAMED, sr.min_plus)
    again, turned = Matrix(M, sr.min_plus), Matrix(M, "min_plus", ["c", "b", "a"])
    assert again.names == ["a", "b", "c"] and again.array is M.array
    assert turned.names == ["c", "b", "a"] and turned["a", "b"] == 3.0 and (turned == M).all()
    assert Matrix(Matrix(M.array, sr.min_plus), sr.min_plus, ["x", "y", "z"])["x", "y"] == 3.0
    with refused("array is a matrix over min-plus, but S is max-min", sr.SemiringError):
        Matrix(M, sr.max_min)
    widest = sr.from_dense(M, sr.max_min, absent=np.inf)
    assert widest.names == M.names and widest["a", "b"] == 3.0 and widest["b", "a"] == -INF
    assert sr.from_dense(M, sr.min_plus, absent=INF, names=["b", "a", "c"])["a", "b"] == 3.0
    for names, message in ((["a", "b", "x"], "'x' is in names and not in the matrix"), (["a", "b"], "'c' is in the"),
                           (["a", "a", "b", "c"], "two vertices are called 'a'"), (["a", "b", ["c"]], "not hashable")):
        with refused(message):
            Matrix(M, sr.min_plus, names)
    frame = M.to_frame(long=False, library="pandas")
    assert Matrix(Matrix(frame, sr.min_plus), sr.min_plus).library == "pandas"
    with refused("['c'] is not hashable: name vertices by strings"):
        Matrix(frame, sr.min_plus, ["a", "b", ["c"]])


ROADS = [("Ayr", "Bute", 3), ("Ayr", "Coll", 2), ("Bute", "Coll", 6), ("Bute", "Dale", 4), ("Coll", "Dale", 7)]
DOORS: dict[str, Callable[[Any, sr.Semiring, sr.Matrix, Path], Any]] = {
    "an element": lambda A, S, M, f: [M[a, b] for a in M.names for b in M.names],
    "a row and a column": lambda A, S, M, f: [M["Dale"], M[:, "Dale"], list(M), M.T["Dale"]],
    "an array": lambda A, S, M, f: [M.to_numpy(), np.asarray(M), np.stack([M, M]), M[["Dale", "Ayr"]].to_numpy()],
    "a frame": lambda A, S, M, f: [M.to_frame()["weight"].to_numpy(), M.to_frame(long=False).to_numpy()],
    "SciPy": lambda A, S, M, f: M.to_sparse().data,
    "NetworkX": lambda A, S, M, f: [w for *_, w in M.to_networkx().edges(data="weight")],
    "an operator": lambda A, S, M, f: [(M | M).to_numpy(), (M @ M).to_numpy(), (M**2).to_numpy()],
    "a power of edges": lambda A, S, M, f: sr.power(A, S, 2).weights,
    "path": lambda A, S, M, f: [sr.path(A, S, a, b)[0] for a in M.names for b in M.names],
    "paths": lambda A, S, M, f: (lambda R: [R["Dale", "Ayr"].weight, R["Ayr", "Ayr"].weight, np.asarray(R.weights),
                                            [w for *_, w, _ in R], R.to_frame()["weight"].to_numpy()])(sr.paths(A, S)),
    "paths of some": lambda A, S, M, f: sr.paths(A, S, sources=["Dale"], targets=["Ayr"]).weights,
    "rows": lambda A, S, M, f: [sr.closure_rows(A, S, ["Dale"]), sr.closure_rows(A, S, "Dale")],
    "a table": lambda A, S, M, f: (lambda T: [T["Dale", "Ayr"], T["Dale"], T.to_numpy(), list(T), T.to_frame()[
        "weight"].to_numpy(), T.to_frame(long=False).to_numpy()])(sr.closure_rows(A, S, ["Dale"], targets=["Ayr"])),
    "nearest": lambda A, S, M, f: sr.nearest(A, S, ["Dale"]).weights,
    "measures": lambda A, S, M, f: [sr.eccentricities(A, S), sr.diameter(A, S), sr.radius(A, S)],
    "factors": lambda A, S, M, f: (lambda F: [F.weight("Dale", "Ayr"), F.weight(["Dale"], ["Ayr"]), F.row("Dale"),
                                              F.reduce("eccentricities"), F.reduce("diameter")])(sr.factor(A, S)),
    "a file of NumPy's": lambda A, S, M, f: (sr.write_matrix(f / "m.npy", M), np.load(f / "m.npy"))[1],
    **{ending: lambda A, S, M, f, ending=ending: (sr.write_matrix(f / f"m{ending}", M), list(map(int, re.findall(
        r"\d{15,}", (f / f"m{ending}").read_text(encoding="utf-8")))))[1]
        for ending in (".csv", ".mtx", ".graphml", ".gml")},
}


def numbers_in(found: Any) -> list[float]:
    """All numbers of what came out of a door, in one list."""
    if isinstance(found, (list, tuple)):
        return [x for part in found for x in numbers_in(part)]
    return [float(x) for x in np.asarray(found).reshape(-1).tolist()] if found is not None else []


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_plus, sr.max_min, sr.min_max], ids=lambda S: S.name)
@pytest.mark.parametrize("door", DOORS)
def test_infinity_is_a_float_at_every_door(door: str, S: sr.Semiring, tmp_path: Path) -> None:
    A = sr.as_graph(ROADS)
    M = sr.closure(A, S)
    assert M.array.dtype == np.int64, "as it is stored"
    found = numbers_in(DOORS[door](A, S, M, tmp_path))
    assert not any(abs(x) > 1e15 and not np.isinf(x) for x in found), found
    written = tmp_path / "again.npy"
    sr.write_matrix(written, M)
    again = sr.read_matrix(written, S)
    assert again.dtype == np.int64 and np.array_equal(again.array, M.array)


@pytest.mark.parametrize("kind", ["dense", "sparse", "packed"])
def test_a_copy_has_elements_of_its_own(kind):
    """However they are held."""
    M = Matrix(np.eye(3, dtype=bool), sr.boolean, list("abc"), columns=list("xyz")).hold(kind)
    for call in (copy.copy, copy.deepcopy, Matrix.copy):
        again = call(M)
        assert again.equals(M) and again.holder == kind
        again["a", "y"] = True
        assert ("a", "y") in again and ("a", "y") not in M and not M["a", "y"]
