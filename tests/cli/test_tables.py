"""Tables of a vertex and numbers: right-hand sides and places."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from cli.calling import refused

import semiring as sr
from semiring.cli.tables import positions, right_hand_side


@pytest.mark.parametrize("text, words", [
    ("Dale,0\nDael,1\n", "line 2: no vertex is called 'Dael'; did you mean 'Dale'?"),
    ("Dale,0\nDale,1\n", "line 2: found vertex 'Dale' again, expected one line for each"),
    ("Dale,0\nColl,x\n", "line 2: found 'x', expected a number"),
    ("Dale,0\nColl,nan\n", "line 2: found NaN, expected a number"),
    ("Dale,0\nColl,1,2\n", "line 2: found 3 fields, expected 2"),
    ("Dale,0.5\n", "line 1: the weight 0.5 does not fit int64: pass another dtype"),
    ("Coll,1\nDale,1e300\n", "line 2: the weight 1e+300 does not fit int64"),
    ("Dale,-inf\n", "line 1: the weight -inf does not fit int64"),
    (f"Dale,{2**63}\n", f"line 1: the weight {2**63} does not fit int64"),
    ("vertex,price\n", "holds only the line of column names ['vertex', 'price']"),
    ("# nothing\n", "holds nothing: expected lines of a vertex and numbers"),
])
def test_bad_right_hand_sides(call, roads: Path, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "b.csv").write_text(text)
    assert words in refused(call("solve", roads, tmp_path / "b.csv", "--algebra", "min-plus"))


# The tables themselves

TOWNS = sr.as_graph([("Ayr", "Bute", 3), ("Bute", "Coll", 2)])


def table(folder: Path, text: str, name: str = "t.csv") -> Path:
    (folder / name).write_bytes(text.encode())
    return folder / name


def test_a_right_hand_side_has_the_zero_where_no_line_is(tmp_path: Path) -> None:
    A = sr.adjacency(TOWNS, sr.min_plus, dtype="f8")
    one = right_hand_side(table(tmp_path, "# goals\nColl,0\n\nAyr,2.5\n"), A, A.semiring, A.dtype)
    assert one.tolist() == [2.5, np.inf, 0.0] and one.dtype == np.float64
    two = right_hand_side(table(tmp_path, "vertex,here,there\nBute,1,inf\n"), A, A.semiring, A.dtype)
    assert two.tolist() == [[np.inf, np.inf], [1.0, np.inf], [np.inf, np.inf]]
    tabs = right_hand_side(table(tmp_path, "Bute\t-4\n", "t.tsv"), A, A.semiring, A.dtype)
    assert tabs.tolist() == [np.inf, -4, np.inf]


def test_integers_take_the_algebra_s_infinity_and_no_other(tmp_path: Path) -> None:
    A = sr.adjacency(TOWNS, sr.min_plus)
    assert A.dtype == np.int64
    found = right_hand_side(table(tmp_path, f"Bute,inf\nColl,{2**60}\n"), A, A.semiring, A.dtype)
    assert found.tolist() == [2**63 - 1, 2**63 - 1, 2**60]
    with pytest.raises(sr.GraphError, match=r"t\.csv: line 2: the weight -inf does not fit int64"):
        right_hand_side(table(tmp_path, "Bute,1\nColl,-inf\n"), A, A.semiring, A.dtype)


def test_right_hand_sides_outside_the_carrier_or_of_no_numbers(tmp_path: Path) -> None:
    A = sr.adjacency([("Ayr", "Bute", 0.5)], sr.viterbi)
    with pytest.raises(sr.GraphError, match=r"t\.csv: line 3: the weight 1\.5 is outside the carrier of viterbi"):
        right_hand_side(table(tmp_path, "town,chance\nAyr,0.5\nBute,1.5\n"), A, A.semiring, A.dtype)
    hops = sr.adjacency([("Ayr", "Bute", (1.0, 1))], sr.shortest_hops)
    with pytest.raises(sr.SemiringError, match=r"elements of shortest-hops are not numbers: give a \.npy array"):
        right_hand_side(table(tmp_path, "Ayr,0\n"), hops, hops.semiring, hops.dtype)
    np.save(tmp_path / "b.npy", np.array([(0.0, 0.0), (1.0, 2.0)], hops.dtype))
    assert right_hand_side(tmp_path / "b.npy", hops, hops.semiring, hops.dtype).tolist() == [(0.0, 0.0), (1.0, 2.0)]


@pytest.mark.parametrize(("head", "unit"), [
    ("", ""), ("town,x,y\n", ""), ("town,longitude,latitude\n", "km"), ("town,Lon,LAT\n", "km"), ("v,lng,lat\n", "km"),
    ("town,latitude,longitude\n", ""),
])
def test_places_in_degrees_become_kilometres(tmp_path: Path, head: str, unit: str) -> None:
    file = table(tmp_path, f"{head}Coll,1,0\nAyr,0,0\nBute,0,0.5\n")
    points, found = positions(file, TOWNS)
    assert found == unit
    if unit:
        degree = 2 * np.pi * 6371.0088 / 360
        np.testing.assert_allclose(points, [[0, 0], [0, degree / 2], [degree * np.cos(np.radians(0.25)), 0]], atol=1e-9)
    else:
        assert points.tolist() == [[0, 0], [0, 0.5], [1, 0]]


@pytest.mark.parametrize(("text", "message"), [
    ("Ayr,0,0\nBute,1,1\n", "t.csv: vertex Coll has no coordinates"),
    ("Ayr,0\nBute,1\nColl,2\n", "t.csv: expected three columns, a vertex, x and y"),
    ("Ayr,0,0,0\nBute,1,1,1\nColl,2,2,2\n", "t.csv: expected three columns, a vertex, x and y"),
    ("Ayr\nBute\n", "t.csv, line 1: found 1 fields, expected 2"),
    ("Ayr,0,0\nDale,1,1\n", "t.csv, line 2: no vertex is called 'Dale'"),
    ("town,x,y\ntown,x,y\n", "t.csv, line 2: found 'x', expected a number"),
    ("Ayr,0,0\nBute,1\n", "t.csv, line 2: found 2 fields, expected 3"),
])
def test_places_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(sr.GraphError, match=re.escape(message)):
        positions(table(tmp_path, text), TOWNS)
