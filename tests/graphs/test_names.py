"""Vertices called by name or by position, and names that are nearly right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from graphs.listing import refused

import semiring as sr
from semiring.graphs.graph import as_graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import (
    SEARCHED_CHARACTERS,
    SEARCHED_NAMES,
    Named,
    as_integer,
    as_names,
    is_hashable,
    is_integer,
    is_missing,
    is_truth,
    near,
    position_of,
    span_text,
)
from semiring.graphs.texts import quoted


def test_index():
    graph = as_graph([("Duluth", "Rochester"), ("Rochester", "3")])
    assert graph.index("Rochester") == 1
    with refused("no vertex is called 'Rochster'; did you mean 'Rochester'?"):
        graph.index("Rochster")
    with refused("no vertex is called 3; did you mean '3'?"):
        graph.index(3)
    with refused("no vertex is called ['Duluth']"):
        graph.index(["Duluth"])
    plain = as_graph([(0, 2)])
    assert plain.index(np.int32(2)) == 2
    with refused("vertex 3: the vertices have no names, they are the integers 0 to 2"):
        plain.index(3)
    with refused("vertex -1: the vertices have no names"):
        plain.index(-1)
    with refused("vertex 'a': the vertices have no names"):
        plain.index("a")
    with refused("vertex 0x"):  # Python writes no integer of so many digits in full
        plain.index(10**5000)
    with refused("no vertex is called 0x"):
        graph.index(10**5000)
    for truth in (True, False, np.True_):
        with refused(f"vertex {bool(truth)}: the vertices have no names, they are the integers 0 to 2"):
            plain.index(truth)
        with refused(f"no vertex is called {bool(truth)}"):
            sr.as_graph([(0, 1)], names=[1, 0]).index(truth)
    assert Matrix(np.eye(2), sr.min_plus, [True, False]).index(True) == 0
    with refused("vertex 0: the graph has no vertices"):
        as_graph([]).index(0)


@pytest.mark.parametrize(("value", "integer", "number", "truth", "missing", "hashable"), [
    (3, True, 3, False, False, True), (np.int8(3), True, 3, False, False, True), (True, False, 1, True, False, True),
    (np.True_, False, None, True, False, True), (3.0, False, None, False, False, True),
    (np.nan, False, None, False, True, True), (np.float32("nan"), False, None, False, True, True),
    (None, False, None, False, True, True), (pd.NA, False, None, False, True, True),
    (pd.NaT, False, None, False, True, True), ("3", False, None, False, False, True),
    ([3], False, None, False, False, False), ((3, []), False, None, False, False, False),
    (np.array(3), False, 3, False, False, False), ((3, "a"), False, None, False, False, True),
], ids=repr)
def test_what_a_name_may_be(
    value: Any, integer: bool, number: int | None, truth: bool, missing: bool, hashable: bool
) -> None:
    assert (is_integer(value), is_truth(value), is_missing(value)) == (integer, truth, missing)
    assert is_hashable(value) is hashable
    if not isinstance(value, np.bool_):  # NumPy stops taking its truth values for integers
        assert as_integer(value) == number


def test_positions_by_name_or_number() -> None:
    names = ["mill", 7, (1, 2), True]
    places = {name: i for i, name in enumerate(names)}
    asked = ["mill", 7, 7.0, np.int64(7), (1, 2), True]
    assert [position_of(name, 4, names, places) for name in asked] == [0, 1, 1, 1, 2, 3]
    assert position_of(1, 4, names, places) == 3, "True is a name there, and 1 equals it"
    assert [position_of(v, 3, None, {}) for v in (0, np.uint8(2), np.array(1))] == [0, 2, 1]
    for name, n, known, message in (
        ("mil", 4, names, "no vertex is called 'mil'; did you mean 'mill'?"),
        ({1}, 4, names, "no vertex is called {1}"),
        (np.str_("mils"), 4, names, "no vertex is called 'mils'; did you mean 'mill'?"),
        (True, 2, [1, 0], "no vertex is called True"), (1.0, 3, None, "vertex 1.0: the vertices have no names"),
        (3, 3, None, "vertex 3: the vertices have no names, they are the integers 0 to 2"),
        (-1, 1, None, "they are the integers 0 to 0"), (0, 0, None, "vertex 0: the graph has no vertices"),
    ):
        with refused(message):
            position_of(name, n, known, {} if known is None else {v: i for i, v in enumerate(known)})


def test_near_names() -> None:
    assert near("mk", ["mile", "km"]) == "; did you mean 'km'?" and near("x", ["abc"]) == "" and near("x", []) == ""
    assert near(31, ["30", 310]) == "; did you mean 310?"
    assert near("Rochster", ["Duluth", "Rochester"]) == "; did you mean 'Rochester'?"
    assert near("\x1ba", ["\x1bab"]) == r"; did you mean '\x1bab'?"
    long = "x" * SEARCHED_CHARACTERS
    assert near(long, [long + "y", long[1:]]) == f"; did you mean {quoted(long[1:])}?"
    assert near(long + "x", [long]) == ""
    assert near("mill", ["?"] * SEARCHED_NAMES + ["mill"]) == ""
    assert near("mill", ["?"] * (SEARCHED_NAMES - 1) + ["mill"]) != ""
    assert near(10**5000, ["0x1"]) == "" and span_text(3) == "0 to 2" and span_text(0) == "of a graph without vertices"


def test_names_are_any_sequence() -> None:
    xarray = pytest.importorskip("xarray")
    for names in (("a", "b"), np.array(["a", "b"]), dict.fromkeys("ab"), (name for name in "ab"),
                  {"a": 0, "b": 1}.keys(), xarray.DataArray(["a", "b"])):
        assert as_names(names) == ["a", "b"]
    assert as_names(None) is None
    for names in ({"a", "b"}, frozenset("ab")):
        with refused(f"names are a {type(names).__name__}, which has no order: pass a list"):
            as_names(names)
    with refused("names must be a sequence, one for each vertex, and are 3"):
        as_names(3)


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_times_are_called_by_times(unit: str) -> None:
    names = as_names(np.array(["2026-01-01", "2026-01-02"], f"datetime64[{unit}]"))
    assert names is not None
    days = {name: i for i, name in enumerate(names)}
    assert position_of(np.datetime64("2026-01-02", unit), 2, names, days) == 1
    with refused("no vertex is called np.datetime64('2026-01-03')"):
        position_of(np.datetime64("2026-01-03"), 2, names, days)
    minutes = np.timedelta64(1, "m"), np.timedelta64(2, "m")
    assert sr.as_graph([(*minutes, 1.0)]).names == [*minutes] and not is_integer(minutes[0])
    assert as_names(np.array([1, 2], "timedelta64[ns]")) == [np.timedelta64(1, "ns"), np.timedelta64(2, "ns")]


class Town(Named):
    def __init__(self, n: int, names: list[Any] | None) -> None:
        self.n, self.names = n, names
        self._check_names()


def test_each_vertex_has_one_name_of_its_own() -> None:
    assert Town(2, ["a", "b"]).index("b") == 1 and Town(2, None).index(1) == 1 and Town(0, []).names == []
    for n, names, message in (
        (3, ["a", "b"], "2 names for 3 vertices: pass one for each"),
        (3, ["a", "b", "a"], "two vertices are called 'a' (the second is number 2)"),
        (3, [1, "b", True], "two vertices are called True (the second is number 2)"),
        (2, [1.5, np.nan], "vertex 1 is called nan, by which it is never found"),
        (1, [np.datetime64("NaT", "D")], "vertex 0 is called np.datetime64('NaT'"),
    ):
        with refused(message):
            Town(n, names)


TIME, NUMBER = np.datetime64("2026-01-01"), np.int64(3)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("names", [[("k", 1), TIME], [NUMBER, ("k", 1)], [np.float32(2.5), ("k", 1)], [TIME, (), "a"],
                                   [(NUMBER, 1), (("k", 1), 1)]], ids=str)
def test_names_of_numpy_beside_tuples(names, kind):
    """Each compares itself with the elements of a tuple, which gives an array."""
    n = len(names)
    array = np.arange(1.0, n * n + 1).reshape(n, n)
    M = sr.Matrix(array, sr.min_plus, names).hold(kind)
    turned = sr.Matrix(array[::-1, ::-1].copy(), sr.min_plus, names[::-1]).hold(kind)
    assert M.equals(turned) and (turned == M).all() and (M | turned).equals(M) and (M @ turned).equals(M @ M)
    assert sr.matmul(M, M, mask=turned.where(turned == 1.0)).nnz == 1
    assert np.array_equal(np.minimum(M.hold("dense"), turned.hold("dense")), array)
    assert sr.Matrix(turned, sr.min_plus, names).names == names
    apart = sr.Matrix(array, sr.min_plus, names, columns=names[::-1])
    assert not apart.is_over_vertices and (apart @ turned).equals(apart @ M)
    assert sr.solve(M, turned).equals(sr.solve(M, M))


def test_a_tuple_of_one_number_is_not_the_number():
    A = np.array([[1.0]])
    with refused("have different vertices"):
        sr.Matrix(A, sr.min_plus, [NUMBER]) @ sr.Matrix(A, sr.min_plus, [(3,)])
    with refused("is not hashable"):
        sr.Matrix(A, sr.min_plus, [[1]], columns=[[1]])
