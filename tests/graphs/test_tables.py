"""Parts of a closure by name, and how they are shown."""

from __future__ import annotations

import numpy as np
import pytest
from graphs.listing import refused

import semiring as sr
from semiring.graphs.held import Array
from semiring.graphs.tables import SHOWN, Table, cells, lines, some

ROADS = [("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)]


def made() -> Table:
    return sr.closure_rows(sr.as_graph(ROADS), sr.min_plus, ["a", "c"], targets=["c", "b", "a"])


def test_elements_and_rows_by_name():
    T = made()
    assert T["a", "c"] == 7.0 and T["c", "a"] == np.inf and T["a"].tolist() == [7.0, 3.0, 0.0]
    assert T.shape == (2, 3) and len(T) == 2 and T.dtype == np.float64 and T.semiring is sr.min_plus
    assert T.sources == ["a", "c"] and T.targets == ["c", "b", "a"] and np.asarray(T) is T.to_numpy()
    for call, message in ((lambda: T["b", "c"], "'b' is not among the sources of the table"),
                          (lambda: T["a", "d"], "'d' is not among the targets of the table"),
                          (lambda: T[{"a"}], "is not among the sources"),
                          (lambda: T[["b"], "a"], "is not among the sources"),
                          (lambda: T["a", "b", "c"], "a source, or a source and a target, not 3 vertices"),
                          (lambda: Table(np.zeros((2, 2)), sr.min_plus, ["a"], ["b"]), "1 sources and 1 targets")):
        with refused(message):
            call()
    plain = sr.closure_rows(np.array([[0.0, 2.0], [1.0, 0.0]]), sr.min_plus, 1, targets=0)
    assert plain[1, 0] == 1.0 and plain.shape == (1, 1)
    for call in (lambda: plain[True, 0], lambda: plain[1, np.False_], lambda: plain[True]):
        with refused("is not among the"):
            call()
    truths = Table(np.array([[2.0]]), sr.min_plus, [True], [False])
    assert truths[True, False] == truths[1, 0] == 2.0
    pair = sr.as_graph([((0, 0), (0, 1), 2.0)])
    assert sr.closure_rows(pair, sr.min_plus, [(0, 0)], targets=[(0, 1)])[(0, 0), (0, 1)] == 2.0


def test_a_table_is_shown_and_goes_to_a_data_frame():
    T = made()
    assert repr(T).splitlines() == ["Table 2 × 3 over min-plus, float64", "   c  b  a", "a  7  3  0", "c  0  ·  ·"]
    assert "<td>·</td>" in T._repr_html_() or "·" in T._repr_html_()
    assert T.to_frame().values.tolist() == [["a", "c", 7.0], ["a", "b", 3.0], ["a", "a", 0.0], ["c", "c", 0.0]]
    wide = T.to_frame(long=False)
    assert list(wide.index) == ["a", "c"] and list(wide.columns) == ["c", "b", "a"] and wide.loc["c", "b"] == np.inf
    with refused("data frames are made by pandas, polars, pyarrow, and library is 'excel'"):
        T.to_frame(library="excel")
    assert repr(sr.closure_rows(sr.as_graph(ROADS), sr.min_plus, [], targets=["a"])) == \
        "Table 0 × 1 over min-plus, float64"


@pytest.mark.parametrize("n", [0, 1, SHOWN, SHOWN + 1, 40])
def test_what_is_shown_of_many(n):
    places = some(n)
    assert len(places) == (n if n <= SHOWN else SHOWN + 1) and places.count(None) == (n > SHOWN)
    texts = cells(Array(np.arange(2.0 * n).reshape(2, n), sr.plus_times), sr.plus_times, ["x", "y"], range(n))
    assert all(len(line) == len(places) + 1 for line in texts) and len(texts) == 3
    assert len(lines(texts, np.dtype("f8"))) == 3


def test_iteration_is_over_rows():
    """Python would ask for vertices 0, 1, … instead."""
    T = sr.closure_rows(sr.as_graph([(0, 1, 3.0)]), sr.min_plus, [1, 0], targets=[0, 1])
    assert [row.tolist() for row in T] == [[np.inf, 0.0], [0.0, 3.0]] and len(list(made())) == 2
