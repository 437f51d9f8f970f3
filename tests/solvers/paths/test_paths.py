"""The offer of best paths: whose values it takes, what it says, and what a limit leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from engines import by_both
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.operands.read import read
from semiring.solvers.paths import paths, search
from semiring.solvers.paths.paths import offer
from semiring.solvers.task import Task, first_offer, options

inf = np.inf


def test_the_plan_is_that_of_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.random.default_rng(0).random((300, 300)).astype("f4")
    asked = options(method="blocked")
    plan = offer(Task("paths", sr.min_plus, (A,), asked, (None, None, None)))
    values = sr.plan("closure", A, sr.min_plus, method="blocked")
    assert plan.operation == "paths" and plan.method == values.method == "blocked"
    assert plan.memory == values.memory + 4 * 300**2
    ring = sp.csr_array((np.ones(300), (np.arange(300), np.roll(np.arange(300), 1))))
    for work, size in (("always", 1), ("never", 4)):
        monkeypatch.setenv("SEMIRING_COMPILE", work)
        for graph, extra in ((ring, 0), (-ring, 4 if size == 1 else 0)):
            plan = offer(Task("paths", sr.min_plus, (graph,), options(), (None, None, None)))
            alone = first_offer(Task("closure", sr.min_plus, (graph,), options()))
            assert plan.memory == alone.memory + (size + extra) * 300**2
    some = offer(Task("paths", sr.min_plus, (A,), options(), ([3, 5], None, None)))
    assert some.shape == (2, 300) and some.method == sr.plan("closure_rows", A, sr.min_plus, sources=[3, 5]).method


def test_values_are_asked_for_without_names_and_cycles_named() -> None:
    G = sr.as_graph([("a", "b", 1.0), ("b", "a", -2.0)])
    given = read(G, sr.min_plus).plain
    assert not given.of_graph and given.names == ["a", "b"]
    with pytest.raises(sr.NoClosureError, match="the cycle a → b → a"):
        sr.paths(G, sr.min_plus)
    M = sr.adjacency([("a", "b", 1.0)], sr.min_plus)
    assert isinstance(read(M, sr.min_plus).plain.wrap(np.eye(2)), np.ndarray)


def test_packed_and_boolean_graphs() -> None:
    edges = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
    for A in (edges, sr.pack(edges), sp.csr_array(edges)):
        assert sr.paths(A, sr.boolean)[0, 2] == (True, [0, 1, 2])


@pytest.mark.parametrize("dtype", ["i1", "i4", "u2", "f4"])
def test_an_infinite_limit_leaves_all_paths(dtype: str) -> None:
    A = np.array([[0, 3], [5, 0]], dtype)
    R = sr.paths(A, sr.min_plus, limit=np.inf)
    assert R[0, 1].weight == 3 and len(R) == 2
    with pytest.raises(sr.SemiringError, match="limit must be an element"):
        sr.paths(A, sr.min_plus, limit="far")


def grid(side: int, weights: list[Any], seed: int = 0) -> sp.csr_array:
    """Streets both ways."""
    vertices = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([vertices[:, :-1].ravel(), vertices[:-1].ravel()])
    heads = np.concatenate([vertices[:, 1:].ravel(), vertices[1:].ravel()])
    chosen = np.random.default_rng(seed).choice(np.array(weights), 2 * len(tails))
    ends = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    return sp.csr_array((chosen, ends), (side * side, side * side))


# An algebra, and weights of many ties in which ⊗ is exact.
LIMITED: list[tuple[str, list[Any]]] = [
    ("min_plus", [0.0, 1.0, 2.0]), ("min_plus", [1, 1]), ("min_plus", [0, 3, 5]), ("max_min", [1.0, 2.0, 3.0]),
    ("min_max", [1, 2, 3]), ("viterbi", [1.0, 0.5, 0.25]), ("max_plus", [0.0, -1.0, -2.0]),
]


@pytest.mark.parametrize(("name", "weights", "compile"), by_both(LIMITED, 0, 1, 2, 3))
def test_searches_up_to_a_limit_find_what_is_left_of_all(
    name: str, weights: list[Any], compile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights, next hops and predecessors, and in parts for those who watch."""
    S = sr.catalogue[name]
    monkeypatch.setattr(search, "affordable", lambda low, *_: low if compile == "always" else low.interpreted)

    @settings(max_examples=25)
    @given(st.integers(0, 10**6), st.integers(2, 5), st.floats(0, 1), st.booleans())
    def check(seed: int, side: int, quantile: float, watched: bool) -> None:
        A = grid(side, weights, seed)
        A.data[np.random.default_rng(seed).random(A.nnz) < 0.2] = S.zero_in(A.dtype)
        values = np.unique(np.asarray(sr.closure(A, S)))
        limit = values[int(quantile * (len(values) - 1))].item()
        shares: list[float] = []
        more: dict[str, Any] = {"progress": shares.append} if watched else {}
        found = sr.paths(A, S, limit=limit, method="search", **more)
        expected = sr.paths(A, S, limit=limit, method="floyd-warshall")
        assert (np.asarray(found.weights) == expected.weights).all()
        assert (found.next_hop == expected.next_hop).all() and (found.predecessors == expected.predecessors).all()
        assert len(found) == len(expected) and list(found) == list(expected)
        assert shares[-1:] == [1.0] * watched

    check()


def test_a_plan_says_whether_searches_end_at_the_limit() -> None:
    A = grid(40, [1.0, 2.0, 3.0])
    near = sr.plan("paths", A, sr.min_plus, limit=4.0)
    assert near.method == "searches up to the limit" and near.rows()["predicted"].startswith("limit ")
    assert near.work < A.nnz * A.shape[0] / 10, "of the share of pairs that are within it"
    far = sr.plan("paths", A, sr.min_plus, limit=1e9)
    assert far.method == sr.plan("paths", A, sr.min_plus).method != near.method
    R = near.run()
    assert (R.weights == sr.paths(A, sr.min_plus, limit=4.0, method="sparse").weights).all()
    assert len(R) == len(sr.paths(A, sr.min_plus, limit=4.0)) and R[0, A.shape[0] - 1].vertices is None
    asked = sr.plan("paths", A, sr.min_plus, limit=1e9, method="search")
    assert asked.method == "searches up to the limit" and "as asked" in asked.reasons["method"]
    for other in ({"method": "sparse"}, {"sources": [0]}):
        assert sr.plan("paths", A, sr.min_plus, limit=4.0, **other).method != near.method


def test_nothing_ends_early_where_that_would_not_be_right_or_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    A = grid(12, [1.0, 2.0])
    with pytest.raises(sr.LawError, match="a limit needs that no edge is better"):
        sr.plan("paths", -A, sr.min_plus, limit=4.0)
    turns = sr.Semiring("turns", add=np.minimum, mul=np.add, zero=inf, one=0.0, commutative=False)
    assert not turns.commutative
    assert sr.plan("paths", A, turns, limit=4.0, method="search").method == "search"
    assert sr.plan("paths", A.toarray(), sr.max_min, limit=4.0).method != "searches up to the limit"
    monkeypatch.setattr(paths.costs, "SMALL", 145)
    assert sr.plan("paths", A, sr.min_plus, limit=1.0).method != "searches up to the limit"
