"""Best paths by lengths in edges: the same as by the general way, wherever all edges weigh the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.solvers import fewest_edges

inf = np.inf
ALIKE = [("max_min", "f4", 2.5), ("max_min", "f8", inf), ("min_max", "i4", 7), ("boolean", "?", True),
         ("min_plus", "f8", 0.0), ("min_plus", "i2", 0), ("viterbi", "f4", 1.0)]


@pytest.mark.parametrize("compile", ["always", "never"])
@pytest.mark.parametrize(("name", "dtype", "weight"), ALIKE)
def test_fewest_edges_are_the_paths_of_edges_that_weigh_the_same(
    name: str, dtype: str, weight: Any, compile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compile)
    monkeypatch.setattr(fewest_edges.costs, "SMALL", 1)
    S = sr.catalogue[name]

    @settings(max_examples=40, deadline=None)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        n = data.draw(st.integers(2, 20))
        cells = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
        i, j = np.array(data.draw(st.lists(cells, min_size=1, max_size=3 * n, unique=True))).T
        both = data.draw(st.booleans())
        i, j = np.unique(np.array([np.r_[i, j], np.r_[j, i]] if both else [i, j]), axis=1)
        A = sp.csr_array((np.full(len(i), weight, dtype), (i, j)), shape=(n, n))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fewest_edges, "predicted", lambda plan, otherwise: 0.0)
            plan, found = sr.plan(A, S, verb="paths"), sr.paths(A, S)
            patch.setattr(fewest_edges, "offer", lambda task: None)
            other = sr.paths(A, S)
        assert plan.method.startswith("fewest edges")
        assert plan.algebra is S and dtype in (plan.lowering.dtype.str[1:], plan.lowering.dtype.char)
        assert found.weights.dtype == other.weights.dtype and (found.weights == other.weights).all()
        assert (found.next_hop == other.next_hop).all() and (found.predecessors == other.predecessors).all()

    check()


def test_where_lengths_in_edges_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fewest_edges.costs, "SMALL", 1)
    monkeypatch.setattr(fewest_edges, "predicted", lambda plan, otherwise: 0.0)
    ring = sp.csr_array((np.ones(30), (np.arange(30), np.roll(np.arange(30), 1))))

    def method(A: Any, S: sr.Semiring, **options: Any) -> str:
        return sr.plan(A, S, verb="paths", **options).method

    assert method(ring, sr.max_min) == f"fewest edges, {sr.plan(ring, sr.min_plus).method}"
    other = ring.copy()
    other.data[3] = 2.0
    assert "edges" not in method(other, sr.max_min)
    assert "edges" not in method(ring, sr.min_plus)  # two of which weigh more than one
    assert "edges" not in method(ring, sr.max_min, limit=0.5) and "edges" not in method(ring, sr.max_min, sources=[0])
    assert method(ring, sr.max_min, method="blocked") == "blocked"
    assert "edges" not in method(sp.csr_array(ring.shape), sr.max_min)
    zeros = sp.csr_array((np.full(30, -inf), ring.indices, ring.indptr), shape=ring.shape)
    assert "edges" not in method(zeros, sr.max_min) and len(sr.paths(zeros, sr.max_min)) == 0
    monkeypatch.setattr(fewest_edges, "LINE", 0.0)  # nothing to gain
    assert "edges" not in method(ring, sr.max_min)
