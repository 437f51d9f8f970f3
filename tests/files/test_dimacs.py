"""The DIMACS format of shortest paths: what is read, and the fast reader against the careful one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from files.reading import FIELD, listed, read, refused, written
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.files import dimacs
from semiring.files.verbs import read_graph


def test_dimacs(tmp_path):
    graph = read_graph(written(tmp_path, "g.gr.gz", "c x\np sp 4 2\na 1 3 5\na 3 1 0\n"))
    assert listed(graph) == [(0, 2, 5), (2, 0, 0)] and graph.n == 4 and graph.weights.dtype == np.int64
    assert read_graph(tmp_path / "g.gr.gz", weight=None).weights is None
    assert not read_graph(tmp_path / "g.gr.gz", directed=False).directed
    assert read_graph(written(tmp_path, "h.gr", "p sp 2 0\n")).n == 2


def test_weights_that_are_not_integers(tmp_path):
    graph = read(tmp_path, "g.gr", "p sp 2 2\na 1 2 7\na 2 1 2.5\n")
    assert graph.weights.dtype == np.float64 and graph.weights.tolist() == [7, 2.5]
    for bad in ("1,5", "nan", "1e400", "x"):
        with refused(f"g.gr, line 2: found the weight '{bad}', expected a number that fits 64 bits"):
            read(tmp_path, "g.gr", f"p sp 2 1\na 1 2 {bad}\n")


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from("aaaace"), st.integers(0, 4).map(str), FIELD, FIELD), min_size=1, max_size=4),
       st.booleans())
def test_both_readers_of_dimacs_agree(rows, long):
    text = "".join(" ".join(row) + "\n" for row in rows * (300 if long else 1))
    fast = dimacs._fast_arcs(text, 4)
    if fast is not None:
        careful = dimacs._careful_arcs(Path("g.gr"), "p sp 4 1\n" + text, 1, 4)
        assert [c.tolist() for c in fast] == [c.tolist() for c in careful]
        assert [c.dtype for c in fast] == [c.dtype for c in careful] == [np.int64] * 3
