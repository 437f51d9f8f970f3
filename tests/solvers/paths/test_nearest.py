"""Which way the nearest places are found, and the graph with one vertex more."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.kernels.cpu.sparse.buckets import CpuBucketKernel
from semiring.operands.read import read
from semiring.solvers.paths import search, searches
from semiring.solvers.paths.searches import origins, with_a_root

inf = np.inf
ROADS = sp.csr_array(np.array([[0, 2.0, 0, 0], [0, 0, 3.0, 0], [0, 0, 0, 0], [0, 0, 1.0, 0]]))


@pytest.mark.parametrize(("compiled", "method"), [(True, "labels in buckets"), (False, "label setting")])
def test_buckets_where_they_are_compiled(compiled: bool, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "always" if compiled else "never")
    monkeypatch.setattr(searches, "affordable", lambda low, *_: low if compiled else low.interpreted)
    monkeypatch.setattr(search, "affordable", lambda low, *_: low if compiled else low.interpreted)
    assert sr.plan("nearest", ROADS, sr.min_plus, places=[0, 3]).method == method
    assert sr.plan("nearest", ROADS, sr.max_min, places=[0, 3]).method == "label setting"
    weights, places = sr.nearest(ROADS, sr.min_plus, [0, 3])
    assert weights.tolist() == [0, 2, 1, 0] and places.tolist() == [0, 0, 3, 3]
    assert sr.plan("nearest", ROADS, sr.min_plus, places=[0, 3]).run()[0].tolist() == weights.tolist()


def test_a_row_that_buckets_give_up_is_found_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    monkeypatch.setattr(CpuBucketKernel, "nearest", lambda *_: None)
    assert sr.nearest(ROADS, sr.min_plus, [0, 3]).weights.tolist() == [0, 2, 1, 0]


def test_edges_that_improve_and_arrays() -> None:
    A = np.array([[inf, 5.0, inf], [inf, inf, -4.0], [inf, inf, inf]])
    assert sr.plan("nearest", A, sr.min_plus, places=[0]).method != "labels in buckets"
    weights, places = sr.nearest(A, sr.min_plus, [0, 1])
    assert weights.tolist() == [0, 0, -4] and places.tolist() == [0, 1, 1]
    assert sr.nearest(np.array([[0, 7], [7, 0]], np.int16), sr.min_plus, [1]).weights.dtype == np.int16


def test_a_root_has_an_edge_of_weight_one_to_each_place() -> None:
    made = with_a_root(read(ROADS, sr.viterbi), np.array([1, 3]))
    assert made.n == 5 and made.rows.columns[-2:].tolist() == [1, 3] and made.values[-2:].tolist() == [1, 1]


def test_the_way_back_ends_at_a_place() -> None:
    before = np.array([4, 0, 1, -1, -1], np.int32)  # the root is vertex 4
    assert origins(before, np.array([0, 2])).tolist() == [0, 0, 0, -1]


def test_walks_that_go_round_a_cycle_are_refused_in_words_for_this_call() -> None:
    S = sr.Semiring(
        "capped at 10", add=np.maximum, mul=lambda a, b: np.where((a < 0) | (b < 0), -1, np.minimum(a + b, 10)),
        zero=-1, one=0, carrier=lambda a: (a >= -1) & (a <= 10) & (np.floor(a) == a),
    )
    graph = sr.as_graph([(0, 1, 1.0), (1, 1, 7.0), (1, 2, 0.0)])
    with pytest.raises(sr.LawError, match="go round a cycle") as caught:
        sr.nearest(graph, S, [0, 2])
    assert "sr.closure_rows" in str(caught.value) and "predecessors" not in str(caught.value)
    assert sr.closure_rows(graph, S, 0).tolist() == [0.0, 10.0, 10.0]
