"""The matrix as an object: elements by name, NumPy, and how it is shown."""

from __future__ import annotations

import re

import numpy as np
import pytest
from graphs.listing import NAMED, refused

import semiring as sr
from semiring.graphs.adjacency import adjacency
from semiring.graphs.matrix import SHOWN, Matrix

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
    with refused("a matrix over vertices is square, this array has shape (2, 3)"):
        Matrix(np.zeros((2, 3)), sr.min_plus)
    with refused("1 names for 2 vertices: give one for each"):
        Matrix(np.zeros((2, 2)), sr.min_plus, ["a"])


def test_repr_of_a_matrix():
    array = np.array([[0.0, 2.5, -INF], [INF, 0.0, 1 / 3], [INF, INF, 1e6]])
    assert repr(Matrix(array, sr.min_plus, ["a", "bb", "c"])).splitlines() == [
        "Matrix 3 × 3 over min-plus, float64",
        "    a   bb         c",
        " a  0  2.5        -∞",
        "bb  ·    0  0.333333",
        " c  ·    ·     1e+06",
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
    assert re.search(r"frozenset\(\{\([12]\.0…", repr(long))


def test_html_of_a_matrix_is_the_same_table_escaped():
    page = adjacency([("<a>", "b", 2.0)], sr.min_plus)._repr_html_()
    assert page.count("<tr>") == 3 and "<th>&lt;a&gt;</th><td>·</td><td>2</td>" in page and "<a>" not in page
    assert "<caption>Matrix 2 × 2 over min-plus, float64</caption>" in page


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
