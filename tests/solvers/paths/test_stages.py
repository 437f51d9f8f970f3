"""The widest path, and of the widest the shortest: against every path, for every form of input."""

from __future__ import annotations

import operator
from itertools import pairwise, product
from operator import neg
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from simple_paths import Edges, best, weight

import semiring as sr
from semiring.algebra.lexicographic import in_order
from semiring.operands.read import read
from semiring.solvers.paths.stages import Stages

inf = np.inf
quick = settings(max_examples=40)
WIDEST, SHORTEST = sr.max_min, sr.min_plus
# First: key by which less is better, ⊗, one, numbers; then the same of the second.
STAGES: dict[tuple[str, str], tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    ("max_min", "min_plus"): ((neg, min, inf, [1, 2, 2, 3, 9]), (float, operator.add, 0, [0, 1, 1, 4])),
    ("min_max", "viterbi"): ((float, max, -inf, [1, 2, 2, 3]), (neg, operator.mul, 1, [1, 0.5, 0.25])),
    ("max_min", "min_max"): ((neg, min, inf, [1, 2, 3]), (float, max, -inf, [1, 2, 3])),
    ("min_plus", "max_min"): ((float, operator.add, 0, [1, 1, 2, 4]), (neg, min, inf, [1, 2, 3])),
}


@st.composite
def graphs(draw: st.DrawFn, pair: tuple[str, str], most: int = 5) -> tuple[int, Edges]:
    n = draw(st.integers(1, most))
    places = draw(st.lists(st.sampled_from(list(product(range(n), repeat=2))), max_size=14, unique=True))
    numbers = st.tuples(*(st.sampled_from(stage[3]) for stage in STAGES[pair]))
    edges = {place: draw(numbers) for place in places}
    if draw(st.booleans()):
        edges |= {(b, a): w for (a, b), w in edges.items()}
    return n, edges


def expected(pair: tuple[str, str], n: int, edges: Edges) -> dict[tuple[int, int], Any]:
    """The best pair for each pair of vertices; None where no path leads."""
    (key, times, one, _), (key2, times2, one2, _) = STAGES[pair]
    return {
        (i, j): best(edges, i, j, lambda w: (key(w[0]), key2(w[1])),
                     lambda x, y: (times(x[0], y[0]), times2(x[1], y[1])), (one, one2))
        for i, j in product(range(n), repeat=2)
    }


def forms(pair: tuple[str, str], n: int, edges: Edges) -> dict[str, Any]:
    """The same graph in every form that holds records."""
    S = in_order(pair)
    A = S.array([[edges.get((i, j), S.zero) for j in range(n)] for i in range(n)])
    tails, heads = (np.array([e[k] for e in edges], np.int64) for k in (0, 1))
    columns = [np.array([w[k] for w in edges.values()], float) for k in (0, 1)]
    graph = sr.Graph(tails, heads, n, np.array([tuple(w) for w in edges.values()], S.default_dtype))
    return {
        "array": A, "graph": graph, "matrix": sr.Matrix(A, S), "arrays": tuple(A[f] for f in A.dtype.names),
        "sparse": tuple(sp.csr_array((c, (tails, heads)), shape=(n, n)) for c in columns), "prepared": sr.prepare(A, S),
        "coo": tuple(sp.coo_array((c, (tails, heads)), shape=(n, n)) for c in columns), "Fortran": np.asfortranarray(A),
    }


@pytest.mark.parametrize("pair", STAGES, ids="-".join)
def test_values_and_walks_against_every_path(pair: tuple[str, str]) -> None:
    (_, times, one, _), (_, times2, one2, _) = STAGES[pair]
    S = in_order(pair)

    @settings(quick, max_examples=25)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        n, edges = data.draw(graphs(pair))
        found = expected(pair, n, edges)
        some = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True))
        others = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True))
        for form, A in forms(pair, n, edges).items():
            R = sr.paths(A, pair)
            walks = {}
            for (i, j), value in found.items():
                got, walk = R[i, j]
                walks[i, j] = walk
                assert tuple(got) == (S.zero if value is None else value), (form, i, j)
                assert tuple(np.asarray(R.weights)[i, j]) == tuple(got)
                if value is None:
                    assert walk is None
                    continue
                assert walk[0] == i and walk[-1] == j and len(set(walk)) == len(walk)
                assert all(step in edges for step in pairwise(walk))
                along = weight(edges, walk, lambda x, y: (times(x[0], y[0]), times2(x[1], y[1])), (one, one2))
                assert along == value, (form, walk)
            T = sr.paths(A, pair, sources=some, targets=others)
            if S.stages is not None:  # else ties break by the side that paths are asked from
                assert all(T[i, j].vertices == walks[i, j] for i, j in product(some, others))
            assert [[tuple(w) for w in row] for row in np.asarray(T.weights).tolist()] == [
                [S.zero if found[i, j] is None else found[i, j] for j in others] for i in some]
            assert {(i, j): walk for i, j, _, walk in R} == {
                (i, j): walk for (i, j), walk in walks.items() if walk and i != j}

    check()


def test_the_counter_example_of_the_catalogue() -> None:
    """Of (9, 10) and (5, 1) the wider one is better; after an edge of width 5 it is the other."""
    edges = [("s", "x", (9.0, 4.0)), ("x", "m", (9.0, 6.0)), ("s", "m", (5.0, 1.0)), ("m", "t", (5.0, 0.0))]
    R = sr.paths(sr.as_graph(edges), (WIDEST, SHORTEST))
    assert tuple(R["s", "m"].weight) == (9, 10) and R["s", "m"].vertices == ["s", "x", "m"]
    assert tuple(R["s", "t"].weight) == (5, 1) and R["s", "t"].vertices == ["s", "m", "t"]
    assert R.weights["s", "t"].tolist() == (5, 1)
    turned = [(a, b, w[::-1]) for a, b, w in edges]  # shortest, then widest: one stage, by pairs that are a semiring
    assert tuple(sr.paths(sr.as_graph(turned), (SHORTEST, WIDEST))["s", "t"].weight) == (1, 5)


@pytest.mark.parametrize(("compile", "dtype"), [
    ("always", ("f8", "f8")), ("never", ("i4", "i8")), ("never", ("f4", "f4")), ("never", ("u1", "i2")),
])
def test_dtypes_are_kept(dtype: tuple[str, str], compile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compile)
    rng = np.random.default_rng(0)
    n, pair = 6, ("max_min", "min_plus")
    for _ in range(3):
        kept = {place: (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
                for place in product(range(n), repeat=2) if rng.random() < 0.4}
        A = sr.Graph([i for i, _ in kept], [j for _, j in kept], n,
                     np.array(list(kept.values()), [("capacity", dtype[0]), ("delay", dtype[1])]))
        R = sr.paths(A, pair)
        kind, read = R.weights.array.dtype, np.asarray(R.weights).dtype
        assert (kind[0], kind[1]) == tuple(map(np.dtype, dtype))
        endless = True, None in expected(pair, n, kept).values()  # an empty walk is of capacity ∞
        assert all(read[k] == (float if endless[k] and kind[k].kind != "f" else kind[k]) for k in (0, 1))
        for (i, j), value in expected(pair, n, kept).items():
            if i != j:
                assert tuple(R[i, j].weight) == ((-inf if dtype[0] != "u1" else 0, inf) if value is None else value)
                assert (R[i, j].vertices is None) == (value is None)


def test_a_limit() -> None:
    edges = [("a", "b", (9, 4)), ("b", "c", (5, 1)), ("a", "c", (2, 1))]
    R = sr.paths(sr.as_graph(edges), (WIDEST, SHORTEST), limit=(5, 4))
    assert {row[:2] for row in R} == {("a", "b"), ("b", "c")}  # from a to c it is (5, 5)
    assert R["a", "c"].vertices is None
    with pytest.raises(sr.SemiringError, match="limit must be"):
        sr.paths(sr.as_graph(edges), (WIDEST, SHORTEST), limit=5)


def test_there_are_few_searches_where_edges_go_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    n = 64
    A = np.triu(rng.permutation(n * n).reshape(n, n).astype(float), 1)
    W = np.where(A > 0, A, 0) + A.T
    W = np.where(W > 0, W, -inf)
    searched = []
    rows = Stages.from_sources
    monkeypatch.setattr(Stages, "from_sources", lambda self, graph, starts, device="cpu": (
        searched.append(len(starts)), rows(self, graph, starts, device))[1])
    R = sr.paths((W, np.where(W > 0, rng.integers(1, 9, (n, n)), inf)), (WIDEST, SHORTEST))
    assert len(R) == n * (n - 1) and sum(searched) <= n * np.log2(n) + n


def test_a_negative_cycle_of_edges_that_count_is_found() -> None:
    edges = [("a", "b", (9, 1)), ("b", "a", (9, -2)), ("b", "c", (5, 1))]
    with pytest.raises(sr.NoClosureError) as caught:
        sr.paths(sr.as_graph(edges), (WIDEST, SHORTEST))
    assert set(caught.value.cycle or ()) == {"a", "b"}
    harmless = [("a", "b", (9, 1)), ("b", "a", (1, -2)), ("b", "c", (5, 1))]  # too narrow for a path from a to c
    R = sr.paths(sr.as_graph(harmless), (WIDEST, SHORTEST), sources="a")
    assert tuple(R["a", "c"].weight) == (5, 2)


def test_plans() -> None:
    A = sr.as_graph([("a", "b", (9, 1))])
    plan = sr.plan("paths", A, (WIDEST, SHORTEST))
    assert plan.method.startswith("two stages") and "pairs make no semiring" in str(plan)
    assert sr.plan("paths", A, (WIDEST, SHORTEST), sources=["a"]).shape == (1, 2)
    assert not sr.plan("paths", A, (SHORTEST, WIDEST)).method.startswith("two stages")


@pytest.mark.parametrize("verb", [
    lambda A: sr.closure(A, (WIDEST, SHORTEST)), lambda A: sr.path(A, (WIDEST, SHORTEST), "a", "b"),
    lambda A: sr.factor(A, (WIDEST, SHORTEST)), lambda A: sr.closure_rows(A, (WIDEST, SHORTEST), ["a"]),
])
def test_other_verbs_lead_to_paths(verb: Any) -> None:
    with pytest.raises(sr.LawError, match=r"not a semiring.*⊗ does not distribute.*sr.paths\(A, \(first, second\)\)"):
        verb(sr.as_graph([("a", "b", (9, 1))]))


def test_parts_of_pairs() -> None:
    S = in_order((WIDEST, "shortest_hops"))
    stages = Stages(read(sr.as_graph([(0, 1, (9, 1, 1)), (1, 2, (5, 2, 1))]), S))
    assert stages.part(stages.edges.values, 0).tolist() == [9, 5]
    ties = stages.part(stages.edges.values, 1)
    assert ties.tolist() == [(1, 1), (2, 1)] and ties.dtype.names == ("cost", "hops")
    assert (stages.paired(stages.part(stages.edges.values, 0), ties) == stages.edges.values).all()
    assert stages.within(6.0).nnz == 1 and stages.within(5.0).nnz == 2


@quick
@given(st.lists(st.tuples(*[st.sampled_from([1.0, 2.0, 3.0])] * 2), min_size=2, max_size=4), st.booleans(), st.data())
def test_parallel_edges_are_one_only_where_no_path_wants_another(
    weights: list[tuple[float, float]], directed: bool, data: st.DataObject
) -> None:
    """A narrow edge that follows makes the wider of two no better, and then the shorter one is wanted."""
    last = data.draw(st.sampled_from([1.0, 2.0, 3.0]))
    links = [*(("a", "b", w) for w in weights), ("b", "c", (last, 1.0))]
    widest, shortest = max(weights)[0], min(length for _, length in weights)
    graph = sr.as_graph(links, directed=directed)
    if (widest, shortest) not in weights:
        with pytest.raises(sr.GraphError, match=r"edge \d \('a' → 'b'\) is better by min-plus than a parallel edge"):
            sr.paths(graph, (WIDEST, SHORTEST))
        return
    width, length = max((min(w, last), -length - 1.0) for w, length in weights)
    assert tuple(sr.paths(graph, (WIDEST, SHORTEST))["a", "c"].weight.tolist()) == (width, -length)


def test_a_vertex_on_a_parallel_edge_keeps_it() -> None:
    links = [("a", "b", (9.0, 6.0)), ("a", "m", (5.0, 1.0)), ("m", "b", (inf, 0.0)), ("b", "c", (5.0, 1.0))]
    assert sr.paths(sr.as_graph(links), (WIDEST, SHORTEST))["a", "c"].vertices == ["a", "m", "b", "c"]
