"""Paths in two stages as an object: what it has of `Paths`, and what no tree can tell."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.results.paths import followed
from semiring.results.staged_paths import StagedPaths

PAIR = (sr.max_min, sr.min_plus)
EDGES = [("s", "x", (9.0, 4.0)), ("x", "m", (9.0, 6.0)), ("s", "m", (5.0, 1.0)), ("m", "t", (5.0, 0.5))]


def test_what_it_tells() -> None:
    R = sr.paths(sr.as_graph(EDGES), PAIR)
    assert isinstance(R, StagedPaths) and isinstance(R, sr.Paths)
    assert len(R) == 6 and R.sources == R.targets == ["s", "x", "m", "t"]
    assert [(a, b, tuple(w)) for a, b, w in R.edges("s", "t")] == EDGES[2:] and R.edges("t", "s") == []
    assert R.walk("s", ["m", "t", "s", "x"]) == [["s", "x", "m"], ["s", "m", "t"], ["s"], ["s", "x"]]
    assert R.walk(["t", "x"], ["s", "t"]) == [None, ["x", "m", "t"]]
    frame = R.to_frame("pandas")
    assert list(frame["vertices"][:3]) == [["s", "x"], ["s", "x", "m"], ["s", "m", "t"]]
    assert repr(R).startswith("Paths(6 paths from 4 sources to 4 targets over max-min, then min-plus")


def test_there_is_no_tree() -> None:
    R = sr.paths(sr.as_graph(EDGES), PAIR)
    for ask in (lambda: R.next_hop, lambda: R.predecessors, lambda: R.tree("s")):
        with pytest.raises(sr.LawError, match="a part of a best path need not be one"):
            ask()


def test_only_what_was_asked_for() -> None:
    R = sr.paths(sr.as_graph(EDGES), PAIR, sources=["s", "x"], targets=["t"])
    assert [row[:2] for row in R] == [("s", "t"), ("x", "t")] and len(R) == 2
    assert np.asarray(R.weights).tolist() == [[(5.0, 1.5)], [(5.0, 6.5)]]
    with pytest.raises(sr.GraphError, match="vertex 'm' was not among the targets: pass it in targets"):
        R["s", "m"]
    with pytest.raises(sr.GraphError, match="vertex 'm' was not among the sources"):
        R["m", "t"]


def test_ways_are_followed_to_their_end() -> None:
    ahead = np.array([1, 2, -1, 3])
    found = followed(lambda here: ahead[here], np.array([0, 0, 2]), np.array([2, 0, 1]))
    assert found == [[0, 1, 2], [0], None]


@pytest.mark.parametrize("weights", [(5.0, 4.0), (4.0, 5.0)])
def test_ties_that_no_number_can_be_are_refused_for_pairs_that_are_asked_for(weights: tuple[float, float]) -> None:
    """And not read as if there were no path; other pairs do not matter."""
    first, second = weights
    links = [("a", "b", (first, 1e-200)), ("b", "c", (second, 1e-200)), ("c", "d", (first, 1.0))]
    pair = (sr.max_min, sr.max_times)
    for sources in (None, "a"):
        R = sr.paths(sr.as_graph(links), pair, sources=sources, targets="b")
        assert R["a", "b"].vertices == ["a", "b"]
        with pytest.raises(sr.SemiringError, match="from 'a' to 'c' has a weight that float64 cannot hold"):
            sr.paths(sr.as_graph(links), pair, sources=sources, targets=["b", "c"])
        assert len(sr.paths(sr.as_graph(links), pair, sources=sources, limit=(0.0, 1e-250))) == (1 if sources else 4)
