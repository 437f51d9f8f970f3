"""Best paths by lengths in edges: the same as by the general way, wherever all edges weigh the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from engines import by_both
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.solvers.paths import paths
from semiring.solvers.plan import Plan
from semiring.solvers.task import Task, first_offer

inf = np.inf
ALIKE = [("max_min", "f4", 2.5), ("max_min", "f8", inf), ("min_max", "i4", 7), ("boolean", "?", True),
         ("min_plus", "f8", 0.0), ("min_plus", "i2", 0), ("viterbi", "f4", 1.0)]


def by_elimination(task: Task) -> Plan:
    """The plan of values, or of lengths, for a graph of any size."""
    if task.options.method == "auto":
        task.options = replace(task.options, method="sparse")
    return first_offer(task)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths are asked for wherever they are right."""
    monkeypatch.setattr(paths.costs, "SMALL", 1)
    monkeypatch.setattr(paths, "TREE_SECONDS", 1e9)
    monkeypatch.setattr(paths, "first_offer", by_elimination)


def method(A: Any, S: sr.Semiring, **options: Any) -> str:
    return sr.plan("paths", A, S, **options).method


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(("name", "dtype", "weight", "compile"), by_both(ALIKE, 4))
def test_fewest_edges_are_the_paths_of_edges_that_weigh_the_same(
    name: str, dtype: str, weight: Any, compile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compile)
    S = sr.catalogue[name]

    @settings(max_examples=40)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        n = data.draw(st.integers(2, 20))
        cells = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
        i, j = np.array(data.draw(st.lists(cells, min_size=1, max_size=3 * n, unique=True))).T
        both = data.draw(st.booleans())
        i, j = np.unique(np.array([np.r_[i, j], np.r_[j, i]] if both else [i, j]), axis=1)
        A = sp.csr_array((np.full(len(i), weight, dtype), (i, j)), shape=(n, n))
        plan, found = sr.plan("paths", A, S), sr.paths(A, S)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(paths, "weighs_as_an_edge", lambda given: False)
            general, other = method(A, S), sr.paths(A, S)
        assert plan.method == "fewest edges, sparse elimination" and "edges" not in general
        assert plan.algebra is S and dtype in (plan.lowering.dtype.str[1:], plan.lowering.dtype.char)
        assert found.weights.dtype == other.weights.dtype and (found.weights == other.weights).all()
        assert (found.next_hop == other.next_hop).all() and (found.predecessors == other.predecessors).all()

    check()


def ring(n: int, weight: Any = 1.0) -> sp.csr_array:
    return sp.csr_array((np.full(n, weight), (np.arange(n), np.roll(np.arange(n), 1))))


@pytest.mark.usefixtures("always")
def test_where_lengths_in_edges_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    A = ring(30)
    assert method(A, sr.max_min) == "fewest edges, sparse elimination"
    other = A.copy()
    other.data[3] = 2.0
    assert "edges" not in method(other, sr.max_min)
    assert "edges" not in method(A, sr.min_plus)  # two of which weigh more than one
    assert "edges" not in method(A, sr.max_min, limit=0.5) and "edges" not in method(A, sr.max_min, sources=[0])
    assert method(A, sr.max_min, method="blocked") == "blocked"
    assert "edges" not in method(sp.csr_array(A.shape), sr.max_min)
    zeros = ring(30, -inf)
    assert "edges" not in method(zeros, sr.max_min) and len(sr.paths(zeros, sr.max_min)) == 0
    monkeypatch.setattr(paths, "TREE_SECONDS", 0.0)  # nothing to gain
    monkeypatch.setattr(paths, "predicted", lambda plan: 0.0)
    assert "edges" not in method(A, sr.max_min)


@pytest.mark.usefixtures("always")
def test_python_objects_stay_what_they_are() -> None:
    weight = 2**70 + 1
    R = sr.paths(sr.as_graph([(i, i + 1, weight) for i in range(150)]), sr.max_min)
    assert R[0, 5].weight == weight and type(R[0, 5].weight) is int


@pytest.mark.usefixtures("always")
def test_values_are_found_where_there_is_no_room_for_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    A = ring(300, True)
    assert "edges" in method(A, sr.boolean)
    monkeypatch.setattr(paths, "UNCHECKED_BYTES", 0)
    monkeypatch.setattr(paths, "available_bytes", lambda: None)  # the system does not say
    assert "edges" in method(A, sr.boolean)
    monkeypatch.setattr(paths, "available_bytes", lambda: 300**2)
    assert "edges" not in method(A, sr.boolean)


@pytest.mark.usefixtures("always")
def test_progress_is_told() -> None:
    told: list[float] = []
    assert len(sr.paths(ring(40), sr.max_min, progress=told.append)) == 40 * 39
    assert told == sorted(told) and told[-1] == 1.0


def test_what_fills_in_is_searched_and_a_grid_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "always")  # whatever is compiled already on this machine
    i, j = np.random.default_rng(0).integers(0, 1500, (2, 4500))
    tangled = sr.Graph(i, j, 1500, np.ones(4500, bool))
    assert "edges" not in method(tangled, sr.boolean)
    v = np.arange(1600).reshape(40, 40)
    i, j = (np.concatenate([a.ravel(), b.ravel()]) for a, b in ((v[1:], v[:, 1:]), (v[:-1], v[:, :-1])))
    grid = sr.Graph(np.r_[i, j], np.r_[j, i], 1600, np.ones(2 * len(i)))
    assert method(grid, sr.max_min) == "fewest edges, sparse elimination"
    R = sr.paths(grid, sr.max_min)
    assert R[0, 1599].weight == 1.0 and len(R[0, 1599].vertices) == 79
