"""Best paths: every walk of every pair, for every algebra that selects, by every method, against the closure."""

from __future__ import annotations

import sys
from itertools import pairwise, product
from typing import Any
from xml.etree import ElementTree

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import ours
from engines import by_both
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.frames import frame_library
from semiring.kernels.cpu.compile.price import always
from semiring.kernels.cpu.sparse.edge_numbers import EdgeNumbers
from semiring.machine import memory
from semiring.results.paths import Path, Paths

inf = np.inf
quick = settings(max_examples=30, suppress_health_check=list(HealthCheck))
# One for each form of arithmetic.
CASES = [
    ("boolean", "?"), ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "u1"),
    ("max_plus", "f8"), ("max_plus", "i2"), ("max_min", "f4"), ("min_max", "i4"), ("viterbi", "f8"),
    ("max_times", "f8"), ("lukasiewicz", "f4"),
]
RECORDS = [("shortest_hops", 1), ("widest_shortest", 0)]
METHODS = ("auto", "floyd-warshall", "blocked", "r-kleene", "squaring", "elimination")
ROADS = [("Ayr", "Bo", 3.0), ("Bo", "Dale", 4.0), ("Ayr", "Dale", 9.0), ("Dale", "Ayr", 0.0)]


def sparse(array: np.ndarray, zero: Any) -> Any:
    rows, columns = np.nonzero(array != zero)
    return sp.csr_array((array[rows, columns], (rows, columns)), shape=array.shape)


def check_all(S: sr.Semiring, A: np.ndarray, R: Paths, exact: bool = True) -> None:
    """Every walk goes along edges from its source to its target, through no vertex twice, and has the weight."""
    T = S.over(A.dtype)
    closed = sr.closure(A, S)
    weights = np.asarray(R.weights)
    assert (weights == closed).all()
    n = len(A)
    assert R.next_hop.dtype == R.predecessors.dtype == np.int32
    for i, j in product(range(n), range(n)):
        weight, walk = R[i, j]
        assert (walk is None) == (closed[i, j] == T.zero)
        assert (R.next_hop[i, j] < 0) == (R.predecessors[i, j] < 0) == (walk is None or i == j)
        if walk is None:
            assert R.edges(i, j) == []
            continue
        assert walk[0] == i and walk[-1] == j and len(set(walk)) == len(walk)
        along = T.one
        for u, v in pairwise(walk):
            assert A[u, v] != T.zero
            along = T.mul(along, A[u, v])
        assert not exact or along == closed[i, j], (walk, along, weight)
        before, steps = j, 0
        while before != i:  # predecessors lead back to the source
            before, steps = int(R.predecessors[i, before]), steps + 1
            assert before >= 0 and steps < n


@pytest.mark.parametrize(("name", "dtype", "compile"), by_both(CASES, 2))
def test_every_walk_of_every_pair(name: str, dtype: str, compile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compile)
    S = oracle.for_dtype(oracle.ALGEBRAS[name], np.dtype(dtype))
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        A = data.draw(strategies.matrices(S, dtype))
        expected = oracle.closure_by_elimination(S, oracle.from_numpy(S, A))
        assume(oracle.fits(S, expected, dtype) and len(A))
        R = sr.paths(A, T)
        check_all(T, A, R)
        by_edges = sparse(A, T.zero_in(dtype))
        others = [sr.paths(A, T, method=data.draw(st.sampled_from(METHODS))), sr.paths(by_edges, T, method="sparse")]
        for other in others:  # ties break the same way
            assert (other.next_hop == R.next_hop).all() and (other.predecessors == R.predecessors).all()
        sources = data.draw(st.lists(st.integers(0, len(A) - 1), min_size=1, max_size=3, unique=True))
        some = sr.paths(by_edges, T, sources=sources)
        assert (some.predecessors == R.predecessors[sources]).all()
        assert (some.weights == np.asarray(R.weights)[sources]).all()
        for i, j in product(sources, range(len(A))):
            walk = some[i, j].vertices
            hop = -1 if walk is None or i == j else walk[1]
            assert some.next_hop[sources.index(i), j] == hop

    check()


@pytest.mark.parametrize(("name", "which", "compile"), by_both(RECORDS))
def test_walks_of_records(name: str, which: int, compile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compile)
    S = oracle.ALGEBRAS[name]
    T = ours(S)
    dtype = strategies.dtypes(S)[which]

    @settings(quick, max_examples=20)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        A = data.draw(strategies.matrices(S, dtype))
        expected = oracle.closure_by_elimination(S, oracle.from_numpy(S, A))
        assume(oracle.fits(S, expected, dtype) and len(A))
        check_all(T, A.astype(T.resolve_dtype(A.dtype)), sr.paths(A, T))

    check()


@pytest.mark.parametrize("compile", ["always", "never"])
@pytest.mark.parametrize("dtype", [pytest.param("f4", marks=pytest.mark.slow), "f8"])
def test_rounding_closes_no_loop(dtype: str, compile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edges of length 0, and edges so short that they vanish in a sum, both ways between many vertices."""
    monkeypatch.setenv("SEMIRING_COMPILE", compile)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 24))
        A = rng.choice([0.0, 1e-20, 0.1, 0.3, 1 / 3, 7.7, inf, inf], (n, n)).astype(dtype)
        for M in (A, np.minimum(A, A.T)):
            R = sr.paths(M, sr.min_plus)
            check_all(sr.min_plus, M, R, exact=False)
            for (i, j), value in np.ndenumerate(np.asarray(R.weights)):
                total = sum(w for _, _, w in R.edges(i, j))
                assert value == inf or abs(total - value) <= 8 * n * np.finfo(dtype).eps * (1 + value)


def test_potentials_that_rounding_spoils() -> None:
    """Every cycle has weight 0, up to rounding, and half of the edges are negative."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        height = rng.random(8) * 10
        A = height[:, None] - height + rng.integers(0, 2, (8, 8))
        check_all(sr.min_plus, A, sr.paths(A, sr.min_plus), exact=False)


def test_paths_by_name() -> None:
    R = sr.paths(sr.as_graph(ROADS), sr.min_plus)
    assert R["Ayr", "Dale"] == Path(7.0, ["Ayr", "Bo", "Dale"]) and type(R["Ayr", "Dale"].weight) is float
    assert R.weights["Bo", "Ayr"] == 4.0 and R.sources == R.targets == ["Ayr", "Bo", "Dale"]
    assert R.edges("Bo", "Ayr") == [("Bo", "Dale", 4.0), ("Dale", "Ayr", 0.0)]
    assert R.walk(["Ayr", "Bo"], ["Bo", "Bo"]) == [["Ayr", "Bo"], ["Bo"]]
    assert len(R) == 6 and ("Dale", "Bo", 3.0, ["Dale", "Ayr", "Bo"]) in list(R)
    tree = R.tree("Ayr")
    assert sorted(zip(tree.sources.tolist(), tree.targets.tolist(), strict=True)) == [(0, 1), (1, 2)]
    assert repr(R) == "Paths(6 paths from 3 sources to 3 targets over min-plus, float64)"
    for wrong in (lambda: R["Ayr", "Dal"], lambda: R["Ayr"], lambda: R.walk(["Ayr", "Bo"], ["Bo"] * 3)):
        with pytest.raises(sr.GraphError):
            wrong()


def test_some_sources_and_targets() -> None:
    R = sr.paths(sr.as_graph(ROADS), sr.min_plus, sources="Bo", targets=["Ayr", "Dale"])
    assert R.weights.tolist() == [[4.0, 4.0]] and R.sources == ["Bo"] and R.targets == ["Ayr", "Dale"]
    assert [row[:3] for row in R] == [("Bo", "Ayr", 4.0), ("Bo", "Dale", 4.0)] and len(R) == 2
    with pytest.raises(sr.GraphError, match="vertex 'Ayr' was not among the sources"):
        R["Ayr", "Dale"]


def test_all_sources_in_another_order() -> None:
    A = np.array([[inf, 1.0, 4.0], [inf, inf, 2.0], [0.5, inf, inf]])
    R, every = sr.paths(A, sr.min_plus, sources=[2, 0, 1]), sr.paths(A, sr.min_plus)
    for ends in product(range(3), repeat=2):
        assert R[ends] == every[ends] and R[ends].vertices is not None


def test_a_limit() -> None:
    R = sr.paths(sr.as_graph(ROADS), sr.min_plus, limit=4.0)
    assert {row[:3] for row in R} == {
        ("Ayr", "Bo", 3.0), ("Bo", "Dale", 4.0), ("Bo", "Ayr", 4.0), ("Dale", "Ayr", 0.0), ("Dale", "Bo", 3.0)
    }
    assert R["Ayr", "Dale"] == (inf, None)
    for sources in (None, ["Ayr"]):  # the path of no edge is worse than this
        R = sr.paths(sr.as_graph(ROADS), sr.min_plus, sources=sources, limit=-1.0)
        assert len(R) == 0 and R["Ayr", "Ayr"] == (inf, None) and R.walk("Ayr", ["Ayr", "Bo"]) == [None, None]
        assert (R.predecessors == -1).all() and not len(R.tree("Ayr"))
    chain = np.array([[inf, 1.0, inf], [inf, inf, 2.0], [inf, inf, inf]])
    for sources in (None, range(3)):
        R = sr.paths(chain, sr.min_plus, limit=2.0, sources=sources)
        assert R.predecessors.tolist() == [[-1, 0, -1], [-1, -1, 1], [-1, -1, -1]] and len(R.tree(0)) == 1
    with pytest.raises(sr.SemiringError, match="limit must be an element"):
        sr.paths(sr.as_graph(ROADS), sr.min_plus, limit="far")
    with pytest.raises(sr.SemiringError, match="outside the carrier"):
        sr.paths(np.array([[1.0]]), sr.viterbi, limit=3.0)
    with pytest.raises(sr.LawError, match="no edge is better than 0"):
        sr.paths(np.array([[0.0, -1.0], [inf, 0.0]]), sr.min_plus, limit=3.0)


def test_what_a_dtype_cannot_hold_is_not_called_unreachable() -> None:
    A = np.full((3, 3), inf, np.float16)
    A[0, 1] = A[1, 2] = 6e4
    for given_ in (A, sr.Graph([0, 1], [1, 2], 3, weights=np.array([6e4, 6e4], np.float16))):
        for sources in (None, [0]):
            with pytest.raises(sr.SemiringError, match="from 0 to 2 has a weight that float16 cannot hold"):
                sr.paths(given_, sr.min_plus, sources=sources)
    n = 401
    chain = sp.diags_array([np.full(n - 1, 0.1)], offsets=[1], format="csr")
    with pytest.raises(sr.SemiringError, match="float64 cannot hold"):
        sr.paths(chain, sr.viterbi, sources=0)
    doubling = sp.coo_array((np.full(69, 2), (np.arange(69), np.arange(1, 70))), shape=(70, 70))
    with pytest.raises(sr.SemiringError, match="int64 cannot hold"):
        sr.paths(doubling, sr.min_times)
    most = np.iinfo(np.int64).max  # an entry that is the algebra's zero is not an edge
    doubling = sp.csr_array((np.array([2, 3, most]), ([0, 0, 1], [0, 1, 2])), shape=(3, 3))
    for S in (sr.min_plus, sr.min_times):
        assert sr.paths(doubling, S)[0, 2].vertices is sr.path(doubling, S, 0, 2)[1] is None
    tenths = np.array([[0.0, 0.4, 0.0], [0.0, 0.0, 0.6], [0.0, 0.0, 0.0]], np.float32)
    assert sr.paths(tenths, sr.lukasiewicz)[0, 2] == sr.path(tenths, sr.lukasiewicz, 0, 2) == (0.0, None)
    weak = np.array([[0.0, 0.25, 0.0], [0.0, 0.0, 0.25], [0.0, 0.0, 0.0]])
    assert sr.paths(weak, sr.lukasiewicz)[0, 2] == (0.0, None)  # max(0, 0.25 + 0.25 − 1) is 0 without rounding


def test_refusals() -> None:
    with pytest.raises(sr.LawError, match="selective"):
        sr.paths(np.eye(2), sr.plus_times)
    with pytest.raises(sr.NoClosureError):
        sr.paths(np.array([[0.0, -2.0], [1.0, 0.0]]), sr.min_plus)
    with pytest.raises(sr.LawError, match="not a semiring"):
        sr.paths(np.eye(2), sr.shortest_widest)


def test_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    R = sr.paths(sr.as_graph(ROADS), sr.min_plus)
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
        frame = R.to_frame(library)
        names = frame.column_names if library == "pyarrow" else frame.columns
        assert list(names) == ["from", "to", "weight", "vertices"] and len(frame) == 6
    with pytest.raises(sr.SemiringError, match="library is 'excel'"):
        R.to_frame("excel")
    for name in ("pandas", "polars"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr("semiring.graphs.frames.LIBRARIES", ("no_such_library",))
    with pytest.raises(sr.SemiringError, match="there is no no_such_library"):
        frame_library(None)


def test_numbers_are_pythons() -> None:
    R = sr.paths(np.array([[0, 5], [100, 0]], np.int16), sr.min_plus)
    assert R[0, 1] == (5, [0, 1]) and type(R[0, 1].weight) is int


def test_a_notebook_shows_the_first_paths() -> None:
    page = ElementTree.fromstring(sr.paths(sr.as_graph(ROADS), sr.min_plus)._repr_html_())
    rows = [[cell.text for cell in row] for row in page.findall("./tbody/tr")]
    assert rows[1] == ["Ayr", "Dale", "7", "Ayr → Bo → Dale"] and len(rows) == 6
    long = sr.paths(sr.as_graph([(i, i + 1, 2**62 if i == 0 else 1) for i in range(30)]), sr.min_plus, sources=[0, 3])
    rows = [[cell.text for cell in row] for row in ElementTree.fromstring(long._repr_html_()).findall("./tbody/tr")]
    assert len(rows) == 11 and rows[-1] == ["…"] * 4 and rows[9][:2] == ["0", "10"]
    assert rows[9][3] == "0 → 1 → 2 → 3 → 4 → … → 6 → 7 → 8 → 9 → 10"
    assert list(long)[9][3] == list(range(11)), "the paths themselves are whole"
    nothing = sr.paths(np.full((2, 2), np.inf), sr.min_plus)
    assert not ElementTree.fromstring(nothing._repr_html_()).findall("./tbody/tr")


@quick
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)), max_size=14), st.booleans())
def test_a_notebook_shows_what_is_iterated_over(edges: list[tuple[int, int, int]], some: bool) -> None:
    R = sr.paths(sr.as_graph(edges, 6), sr.min_plus, sources=[4, 1] if some else None)
    rows = [[cell.text for cell in row] for row in ElementTree.fromstring(R._repr_html_()).findall("./tbody/tr")]
    told = [[f"{a}", f"{b}", f"{w}", " → ".join(map(str, walk))] for a, b, w, walk in R]
    assert rows[:10] == told[:10] and len(rows) == min(len(told), 11) == min(len(R), 11)


def test_records_are_shown_by_their_fields() -> None:
    R = sr.paths([("a", "b", 1.0), ("b", "c", 2.5)], sr.shortest_hops)
    assert repr(R["a", "c"]) == "Path(weight=(cost=3.5, hops=2.0), vertices=['a', 'b', 'c'])"
    assert repr(R["c", "a"]).endswith("vertices=None)")
    assert repr(sr.paths([("a", "b", 1.0)], sr.min_plus)["a", "b"]) == "Path(weight=1.0, vertices=['a', 'b'])"


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min])
def test_a_matrix_that_is_changed_later_changes_no_path(S: sr.Semiring) -> None:
    columns, offsets = np.array([[1, 2, 0, 2, 0, 1], [0, 2, 4, 6, 0, 0]], np.int32)
    A = sp.csr_array((np.array([5.0, 1.0, 5.0, 2.0, 1.0, 2.0]), columns, offsets[:4]), shape=(3, 3))
    found = []
    for changed in (False, True):
        with always():
            R = sr.paths(A, S)
        assert isinstance(R._tree, EdgeNumbers)
        if changed:
            A.data[0] = 0
            A.eliminate_zeros()
            A.indices[:] = 0
        found.append((R.walk([0, 0, 2, 1], [1, 2, 1, 0]), R.next_hop.tolist()))
    assert found[0] == found[1]


def test_a_weight_that_leaves_the_dtype_at_the_end_is_refused_only_where_it_is_wanted() -> None:
    """Elimination leaves sums of Python's integers, which are decoded after all."""
    edges = np.array([1 << 62, 1 << 62]), ([0, 1], [1, 2])
    A = sp.csr_array(edges, shape=(3, 3))
    R = sr.paths(A, sr.min_plus, targets=[0, 1], method="sparse")
    assert R[0, 1] == (1 << 62, [0, 1])
    with pytest.raises(sr.SemiringError, match="cannot hold"):
        sr.paths(A, sr.min_plus, targets=[2], method="sparse")


def test_next_hops_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    with always():
        R = sr.paths(sp.csr_array(np.diag(np.ones(2), 1)), sr.min_plus)
    monkeypatch.setattr(memory, "available_bytes", lambda: 35)
    with pytest.raises(sr.SemiringError, match=r"next hops between 3 vertices needs 36 bytes .*: R\.walk and R\["):
        R.next_hop  # noqa: B018
    assert R[0, 2].vertices == [0, 1, 2]


# Weights that add up exactly, and the longest walk that the dtype can hold: 2^−k as float32 numbers, and numbers.
HELD = [
    ("viterbi", "f4", (1, 50, 100), 149), ("max_times", "f4", (1, 50, 100), 149), ("min_plus", "i1", (1, 40, 70), 126),
    ("min_plus", "u2", (1, 20_000, 50_000), 65_534), ("min_plus", "i8", (1, 1 << 61, 1 << 62), (1 << 63) - 2),
]


def longest_walks(edges: dict[tuple[int, int], int], n: int) -> list[list[float]]:
    """The least sum of weights of a walk between all pairs."""
    d: list[list[float]] = [[0 if i == j else edges.get((i, j), inf) for j in range(n)] for i in range(n)]
    for k, i, j in product(range(n), repeat=3):
        d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return d


@pytest.mark.parametrize("kind", ["array", "stack", "csr", "Graph"])
@pytest.mark.parametrize(("name", "dtype", "weights", "most", "compiled"), by_both(HELD))
def test_pairs_that_are_not_asked_for_are_no_reason_to_refuse(
    name: str, dtype: str, weights: tuple[int, ...], most: int, kind: str, compiled: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a walk is wanted it is there, or refused if its own weight leaves the dtype: when asked, or later."""
    monkeypatch.setenv("SEMIRING_COMPILE", compiled)
    S = sr.catalogue[name]

    def right(weight: float) -> Any:
        return 2.0**-weight if np.dtype(dtype).kind == "f" else weight

    @settings(quick, max_examples=12)
    @given(st.data(), st.integers(2, 7))
    def check(data: st.DataObject, n: int) -> None:
        ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] != pair[1])
        edges = data.draw(st.dictionaries(ends, st.sampled_from(weights), min_size=1, max_size=3 * n), "edges")
        d = longest_walks(edges, n)
        values = np.array([right(w) for w in edges.values()], dtype)
        A: Any = sp.csr_array((values, np.array(list(edges)).T), shape=(n, n))
        if kind in ("array", "stack"):
            dense = np.full((n, n), S.zero_in(np.dtype(dtype)), dtype)
            dense[tuple(np.array(list(edges)).T)] = values
            A = dense if kind == "array" else np.stack([dense, dense])
        elif kind == "Graph":
            A = sr.as_graph(A)
        some = st.lists(st.integers(0, n - 1), min_size=1, max_size=2, unique=True)
        sources, targets = data.draw(st.none() | some, "sources"), data.draw(some, "targets")
        starts = range(n) if sources is None else sources
        lost = {(s, t) for s, t in product(range(n), repeat=2) if most < d[s][t] < inf}
        if lost.intersection(product(starts, targets)):
            with pytest.raises(sr.SemiringError, match="cannot hold"):
                sr.paths(A, S, sources=sources, targets=targets)
            return
        R: Any = sr.paths(A, S, sources=sources, targets=targets)
        R = R[1] if kind == "stack" else R
        assert len(R) == sum(s != t and d[s][t] < inf for s, t in product(starts, targets))
        for s, t in product(starts, range(n)):
            if (s, t) in lost:
                for later in (lambda s=s, t=t: R[s, t], lambda s=s, t=t: R.walk(s, [t]), lambda s=s: R.tree(s),
                              lambda: R.next_hop, lambda: R.predecessors):
                    with pytest.raises(sr.SemiringError, match="cannot hold"):
                        later()
                continue
            weight, walk = R[s, t]
            zero = S.zero_in(np.dtype(dtype)).item()
            assert weight in (([zero, S.zero]) if d[s][t] == inf else [right(d[s][t])])
            assert (walk is None) == (d[s][t] == inf)
            assert walk is None or sum(edges[e] for e in pairwise(walk)) == d[s][t]

    check()
