"""Which answers have the names of vertices, and of what kind they are: what goes in decides, never how large it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from exported import Exported

import semiring as sr

inf = np.inf
SIZES = (3, 150)


def names(n: int) -> list[str]:
    return [f"v{i}" for i in range(n)]


def chain(n: int) -> np.ndarray:
    """Each vertex to the next, by 1, 2, …"""
    A = np.full((n, n), inf)
    A[np.arange(n - 1), np.arange(1, n)] = np.arange(1, n)
    return A


def edges(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.arange(n - 1), np.arange(1, n), np.arange(1.0, n)


def networkx(n: int) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(zip(*(end.tolist() for end in edges(n)), strict=True))
    return graph


MAKE: dict[str, Callable[[int], Any]] = {
    "array": chain,
    "csr": lambda n: sp.csr_array((edges(n)[2], edges(n)[:2]), (n, n)),
    "Matrix": lambda n: sr.Matrix(chain(n), sr.min_plus),
    "named Matrix": lambda n: sr.Matrix(chain(n), sr.min_plus, names(n)),
    "other names": lambda n: sr.Matrix(chain(n), sr.min_plus, [f"w{i}" for i in range(n)]),
    "Graph": lambda n: sr.as_graph(edges(n), n),
    "named Graph": lambda n: sr.as_graph(edges(n), n, names=names(n)),
    "NetworkX": networkx,
}
NAMED = {"named Matrix", "named Graph"}
UNNAMED = {"Matrix", "Graph", "NetworkX"}
SPARSE = {"csr", "Graph", "named Graph", "NetworkX"}


def kind_of_product(left: str, right: str) -> type:
    together = any({left, right} <= group for group in (NAMED, UNNAMED, {"other names"}))
    if {left, right} <= SPARSE:
        return sr.Graph if together else sp.csr_array
    return sr.Matrix if together else np.ndarray


def array_of(answer: Any) -> np.ndarray:
    if isinstance(answer, sr.Graph):
        answer = sr.adjacency(answer, sr.min_plus)
    if sp.issparse(answer):
        rows, columns = answer.nonzero()
        found = np.full(answer.shape, inf)
        found[rows, columns] = answer.tocsr()[rows, columns]
        return found
    return np.asarray(answer)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("right", MAKE)
@pytest.mark.parametrize("left", MAKE)
def test_products(left: str, right: str, n: int) -> None:
    A, B = MAKE[left](n), MAKE[right](n)
    if {left, right} & NAMED and "other names" in (left, right):
        with pytest.raises(sr.GraphError, match="A and B have different vertices"):
            sr.matmul(A, B, sr.min_plus)
        return
    product = sr.matmul(A, B, sr.min_plus)
    assert type(product) is kind_of_product(left, right)
    assert getattr(product, "names", None) == (names(n) if {left, right} <= NAMED else
                                               A.names if left == right == "other names" else None)
    np.testing.assert_array_equal(array_of(product), sr.matmul(chain(n), chain(n), sr.min_plus))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("given", [k for k in MAKE if k != "other names"])
def test_closures_factors_and_solutions(given: str, n: int) -> None:
    A = MAKE[given](n)
    kind = sr.Matrix if given in NAMED | UNNAMED else np.ndarray
    for answer in (sr.closure(A, sr.min_plus), sr.factor(A, sr.min_plus).closure()):
        assert type(answer) is kind
        assert getattr(answer, "names", None) == (names(n) if given in NAMED else None)
    for right in ("named Matrix", "other names"):
        B = MAKE[right](n)
        if given in NAMED and right == "other names":
            for call in (lambda B: sr.solve(A, B, sr.min_plus), sr.factor(A, sr.min_plus).solve):
                with pytest.raises(sr.GraphError, match="A and B have different vertices"):
                    call(B)
            continue
        for answer in (sr.solve(A, B, sr.min_plus), sr.factor(A, sr.min_plus).solve(B)):
            assert type(answer) is (sr.Matrix if {given, right} <= NAMED else np.ndarray)


def test_a_product_of_graphs_is_a_graph_that_goes_on() -> None:
    """Its edges are the entries that are not zero; both ways of an undirected graph are edges."""
    roads = sr.as_graph([("a", "b", 2.0), ("b", "c", 3.0), ("c", "d", 4.0)])
    two = sr.matmul(roads, roads, sr.min_plus)
    assert [(two.names[i], two.names[j], w) for i, j, w in zip(two.sources, two.targets, two.weights, strict=True)] == [
        ("a", "c", 5.0), ("b", "d", 7.0)]
    assert sr.path(sr.matmul(two, roads, sr.min_plus), sr.min_plus, "a", "d") == (9.0, ["a", "d"])
    both_ways = sr.as_graph([("a", "b", 2.0)], directed=False)
    assert np.asarray(sr.adjacency(sr.matmul(both_ways, both_ways, sr.min_plus), sr.min_plus)).tolist() == [
        [4.0, inf], [inf, 4.0]]
    assert len(sr.matmul(sr.as_graph([], 2), sr.as_graph([], 2), sr.min_plus)) == 0


def test_a_product_of_large_graphs_is_not_made_dense() -> None:
    n = 100_000
    roads = sr.as_graph(edges(n), n, names=names(n))
    two = sr.matmul(roads, roads, sr.min_plus)
    assert isinstance(two, sr.Graph) and len(two) == n - 2 and two.names == names(n)


def test_graphs_carry_elements_that_scipy_does_not_know() -> None:
    records = sr.Graph(np.array([0, 1]), np.array([1, 2]), 3, sr.shortest_hops.array([(1.5, 1), (2.0, 1)]))
    assert sr.matmul(records, records, sr.shortest_hops).weights.tolist() == [(3.5, 2.0)]
    words = sr.as_graph([("a", "b", sr.letter("x")), ("b", "c", sr.letter("y"))])
    assert [str(word) for word in sr.matmul(words, words, sr.regex).weights] == ["xy"]
    other = sr.as_graph([("a", "b", sr.letter("x")), ("b", "d", sr.letter("y"))])
    with pytest.raises(sr.SemiringError, match="A and B have different vertices: 'c' is in A and not in B"):
        sr.matmul(words, other, sr.regex)
    with pytest.raises(sr.SemiringError, match="or both as graphs on the same vertices"):
        sr.matmul(words, sr.Graph(other.sources, other.targets, 3, other.weights), sr.regex)


@pytest.mark.parametrize("right", MAKE)
def test_an_array_type_of_another_library_stays(right: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the other operand has names."""
    library = ModuleType("elsewhere")
    library.from_dlpack = lambda array: (library, array)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "elsewhere", library)
    monkeypatch.setattr(Exported, "__module__", "elsewhere")
    owner, product = sr.matmul(Exported(chain(3)), MAKE[right](3), sr.min_plus)
    assert owner is library
    np.testing.assert_array_equal(product, sr.matmul(chain(3), chain(3), sr.min_plus))


def in_some_order(rng: np.random.Generator, A: np.ndarray, kind: str, prepared: bool) -> Any:
    """A Boolean matrix whose vertices stand in a random order, kept in one way, and perhaps prepared."""
    order = rng.permutation(len(A))
    M = sr.Matrix(A[np.ix_(order, order)], sr.boolean, ["abcd"[i] for i in order]).hold(kind)
    return sr.prepare(M) if prepared else M


@pytest.mark.parametrize("prepared", [(False, False, False), (True, False, False), (False, True, True), (True,) * 3])
@pytest.mark.parametrize("kinds", [
    ("packed", "dense", "sparse"), ("dense", "packed", "packed"), ("sparse", "packed", "dense"), ("packed",) * 3,
    ("dense", "dense", "packed"), ("sparse", "dense", "packed"),
])
def test_packed_matrices_are_matched_by_name(kinds: tuple[str, ...], prepared: tuple[bool, ...]) -> None:
    """Whichever verb, and whether a matrix was prepared: vertices of packed bits have names, too."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        a, b, c = (rng.random((4, 4)) < 0.4 for _ in range(3))
        given = zip((a, b, c), kinds, prepared, strict=True)
        A, B, C = (in_some_order(rng, x, kind, ready) for x, kind, ready in given)
        product, star = sr.matmul(a, b, sr.boolean), sr.closure(a, sr.boolean)
        solution = sr.matmul(star, b, sr.boolean)
        for found, wanted in (
            (sr.matmul(A, B), product), (sr.matmul(A, B, mask=C), product & c), (sr.closure(A), star),
            (sr.matmul(A, B, mask=C, complement=True), product & ~c), (sr.solve(A, B), solution),
            (sr.factor(A).solve(B), solution), (sr.factor(A).closure(), star), (sr.power(A, sr.boolean, 1), a),
            (sr.einsum("ij,jk->ik", A, B), product), (sr.einsum("ij,ij->ij", A, B), a & b),
            (sr.chain([A, B, C]), sr.matmul(product, c, sr.boolean)),
        ):
            made = found if isinstance(found, sr.Matrix) else sr.Matrix(found, sr.boolean)
            assert {(x, y) for x, y, _ in made.edges()} == {("abcd"[i], "abcd"[j]) for i, j in np.argwhere(wanted)}
        assert sr.reach(A).names is not None and sorted(x for part in sr.components(A) for x in part) == list("abcd")


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_data_frame_by_the_names_of_a_matrix_is_no_table_of_edges(kind: str) -> None:
    """Its numbers could be ends of edges; its index or columns say that they are elements."""
    pandas = pytest.importorskip("pandas")
    near = np.array([[0.0, 1.0, 9.0], [9.0, 0.0, 1.0], [9.0, 9.0, 0.0]])
    M = sr.Matrix(near, sr.min_plus, ["a", "b", "c"]).hold(kind)
    frame = pandas.DataFrame({"p": [1.0, 2.0, 0.0], "q": [0.0, 1.0, 2.0]}, index=["c", "b", "a"])
    wanted = sr.matmul(near, frame.loc[["a", "b", "c"]].to_numpy(), sr.min_plus)
    for found in (M @ frame, sr.matmul(M, frame), sr.matmul(M, frame, sr.min_plus), sr.matmul(frame.T, M.T).T):
        assert found.row_names == ["a", "b", "c"] and found.column_names == ["p", "q"]
        assert np.array_equal(found.to_numpy(), wanted)
    with pytest.raises(sr.GraphError, match="was prepared"):
        sr.matmul(sr.prepare(M), frame)
    edges = pandas.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]})
    graph = sr.as_graph(edges)
    assert {(x, y, w) for x, y, w in sr.matmul(M, graph).edges()} == {(x, y, w) for x, y, w in (M @ edges).edges()}


def test_a_data_frame_that_could_be_a_matrix_or_edges_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    M = sr.Matrix(chain(3), sr.min_plus, ["a", "b", "c"])
    frame = pandas.DataFrame({"p": [1.0, 2.0, 0.0], "q": [0.0, 1.0, 2.0]}, index=["c", "b", "a"])
    for asked in (lambda: sr.chain([M, frame]), lambda: sr.einsum("ij,jk->ik", M, frame),
                  lambda: sr.closure(frame, "min-plus"),
                  lambda: sr.matmul(sr.as_graph(M.to_networkx()), frame, sr.min_plus)):
        with pytest.raises(sr.GraphError, match=r"could be a matrix or the ends of edges: pass sr\.Matrix"):
            asked()
    ends = pandas.DataFrame({"source": [0, 1], "target": [1, 2]}, index=["first", "second"])
    assert sr.closure(ends, sr.boolean).shape == (3, 3)
