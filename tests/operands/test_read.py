"""Graphs of every make in and out, work in place, and reports of progress."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from bridge import same_bits
from layouts import hops_and_costs
from methods import METHODS

import semiring as sr

inf = np.inf
EDGES = [("a", "b", 3.0), ("b", "c", 0.0), ("a", "c", 5.0), ("a", "b", 4.0)]
CLOSED = np.array([[0, 3, 3], [inf, 0, 0], [inf, inf, 0]])


def matrix(n: int = 100, dtype: str = "f8", seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    A = random.integers(1, 50, (n, n)).astype(dtype)
    A[random.random((n, n)) < 0.8] = sr.min_plus.zero_in(dtype)
    return A


def test_matrices_graphs_networks_and_frames() -> None:
    network = nx.MultiDiGraph()
    network.add_weighted_edges_from(EDGES)
    frame = pd.DataFrame(EDGES, columns=["from", "to", "weight"])
    for given in (EDGES, sr.adjacency(EDGES, sr.min_plus), sr.as_graph(EDGES), network,
                  sr.adjacency(frame, sr.min_plus)):
        closed = sr.closure(given, sr.min_plus)
        assert isinstance(closed, sr.Matrix)
        assert closed.names == ["a", "b", "c"]
        assert same_bits(closed.array, CLOSED)
        assert closed["a", "c"] == 3
        assert sr.path(given, sr.min_plus, "a", "c") == (3, ["a", "b", "c"])
    undirected = nx.Graph([("a", "b"), ("b", "c")])
    assert sr.closure(undirected, sr.min_plus)["a", "c"] == 2
    assert sr.closure(undirected, "boolean")["c", "a"]


def test_lists_of_tuples_are_edges_where_they_cannot_be_a_matrix() -> None:
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert sr.closure(ring, sr.boolean).array.all() and sr.closure(ring, sr.min_plus)[3, 2] == 3
    counted = sr.closure([("a", "b", (1.0, 2.0)), ("b", "c", (1.0, 3.0))], sr.shortest_count)
    assert counted["a", "c"].tolist() == (2.0, 6.0)
    for n in (2, 3):
        edges = [tuple(range(n))] * n
        with pytest.raises(sr.GraphError, match=f"^{n} tuples of {n} numbers could be {n} edges or a matrix of {n}"):
            sr.closure(edges, sr.min_plus)
        assert sr.closure(sr.as_graph(edges), sr.min_plus).shape == (2, 2), "edges from 0 to 1"
        rows = [list(row) for row in edges]
        assert same_bits(sr.closure(rows, sr.min_plus), sr.closure(np.array(rows), sr.min_plus))
    records = [(1.0, 2.0), (3.0, 4.0)]  # a right-hand side never lists edges
    assert sr.solve(sr.from_dense(np.full((2, 2), inf), sr.shortest_count), records).tolist() == records


@pytest.mark.parametrize("columns", [["x"], ["x", "y"], ["from", "to", "weight"]])
def test_a_right_hand_side_is_no_list_of_edges(columns: list[str]) -> None:
    """Though its numbers look like vertices."""
    A = np.array([[inf, 3.0, 10.0], [inf, inf, 4.0], [inf, inf, inf]])
    B = pd.DataFrame([[0, 1, 2], [1, 2, 0], [2, 0, 1]], columns=["x", "y", "z"]).iloc[:, : len(columns)].set_axis(
        columns, axis=1)
    F, stack = sr.factor(A, sr.min_plus), sr.factor(np.stack([A, A]), sr.min_plus)
    for solve in (lambda B: sr.solve(A, B, sr.min_plus), lambda B: sr.solve(sr.Matrix(A, sr.min_plus), B),
                  lambda B: sr.solve(A, B, sr.min_plus, left=True), F.solve, stack.solve):
        with pytest.raises(sr.SemiringError, match=r"B is a data frame.*B\.to_numpy\(\)"):
            solve(B)
    expected = sr.solve(A, B.to_numpy().astype(float), sr.min_plus)
    assert expected.shape == (3, len(columns)) and same_bits(F.solve(B.to_numpy().astype(float)), expected)
    square = pd.DataFrame(A, index=list("abc"), columns=list("abc"))
    assert sr.solve(sr.Matrix(square, sr.min_plus), square)["a", "c"] == 7, "a frame over vertices is a matrix"
    assert sr.solve(A, pd.Series([inf, inf, 0.0]), sr.min_plus).tolist() == [7, 4, 0]


def test_products_of_named_matrices_keep_their_names() -> None:
    M = sr.adjacency(EDGES, sr.min_plus)
    product = sr.matmul(M, M, sr.min_plus)
    assert product["a", "c"] == 3
    assert isinstance(sr.matmul(M, np.zeros((3, 2)), sr.min_plus), np.ndarray)


# In place


@pytest.mark.parametrize("method", [m for m in METHODS if m != "squaring"])
@pytest.mark.parametrize(
    ("S", "dtype"),
    [
        (sr.min_plus, "f8"),
        (sr.min_plus, "f4"),
        (sr.max_min, "f8"),
        (sr.plus_times, "f8"),
        (sr.min_plus, "i4"),
        (sr.viterbi, "f4"),
    ],
    ids=str,
)
@pytest.mark.parametrize("n", [20, 150])
@pytest.mark.usefixtures("machine_code")  # two calls by one engine give the same bits
def test_overwrite_uses_the_memory_of_the_matrix(S: sr.Semiring, dtype: str, method: str, n: int) -> None:
    A = matrix(n, dtype if S is not sr.plus_times else "f8")
    if S is sr.plus_times:
        A = np.where(np.isinf(A), 0, A / 5000)
    elif S is sr.viterbi:
        A = np.where(np.isinf(A), 0, A / 50).astype(dtype)
    expected = sr.closure(A, S, method=method)
    assert not np.shares_memory(expected, A)
    result = sr.closure(A, S, method=method, overwrite=True)
    assert np.shares_memory(result, A)
    assert result.ctypes.data == A.ctypes.data
    assert same_bits(A, expected)


def test_overwrite_in_any_order() -> None:
    for A in (np.asfortranarray(matrix()), np.repeat(matrix(), 2, 1)[:, ::2], matrix()[::-1].copy()[::-1]):
        expected = sr.closure(A.copy(), sr.min_plus)
        assert same_bits(sr.closure(A, sr.min_plus, overwrite=True), expected)
        assert same_bits(A, expected)
    stack = np.stack([matrix(seed=1), matrix(seed=2)])
    expected = sr.closure(stack, sr.min_plus)
    assert np.shares_memory(sr.closure(stack, sr.min_plus, overwrite=True), stack)
    assert same_bits(stack, expected)
    turned = np.asfortranarray(np.stack([matrix(9, seed=1), matrix(9, seed=2)]))
    expected = sr.closure(turned, sr.min_plus)
    assert same_bits(sr.closure(turned, sr.min_plus, overwrite=True), expected)


def test_overwrite_of_what_cannot_be() -> None:
    A = matrix()
    A.flags.writeable = False
    expected = sr.closure(A, sr.min_plus)
    assert same_bits(sr.closure(A, sr.min_plus, overwrite=True), expected)
    assert same_bits(A, matrix())
    B = matrix()
    plus = sr.closure(B, sr.min_plus, overwrite=True, reflexive=False)
    assert same_bits(plus, sr.closure(matrix(), sr.min_plus, reflexive=False))
    assert same_bits(sr.closure(matrix(9, "f2"), sr.min_plus, overwrite=True), sr.closure(matrix(9, "f2"), sr.min_plus))


# Progress


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [0, 1, 50, 600])  # 600: several blocks, whichever engine
def test_progress_rises_to_one(method: str, n: int) -> None:
    A, seen = matrix(n), []
    with_reports = sr.closure(A, sr.min_plus, method=method, progress=seen.append)
    assert same_bits(with_reports, sr.closure(A, sr.min_plus, method=method))
    assert seen == sorted(seen)
    assert 0 <= seen[0] <= 1
    assert seen[-1] == pytest.approx(1.0, abs=1e-12)
    assert n < 600 or method == "floyd-warshall" or len(seen) > 3


def test_progress_of_the_others() -> None:
    for call in (
        lambda report: sr.factor(matrix(200), sr.min_plus, progress=report),
        lambda report: sr.solve(matrix(200), matrix(200)[:, :3], sr.min_plus, progress=report),
        lambda report: sr.closure(np.stack([matrix(20)] * 5), sr.min_plus, progress=report),
        lambda report: sr.closure(np.stack([matrix(150)] * 2), sr.min_plus, progress=report),
        lambda report: sr.closure(matrix(100) < 10, sr.boolean, progress=report),
        lambda report: sr.closure(np.full((3, 3), frozenset(), object), sr.pareto, progress=report),
    ):
        seen: list[float] = []
        call(seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == pytest.approx(1.0, abs=1e-12)


def test_a_bar_only_on_terminals(capsys: pytest.CaptureFixture) -> None:
    sr.closure(matrix(50), sr.min_plus, progress=True)
    out, err = capsys.readouterr()
    assert out == err == ""


def test_answers_for_graphs_have_vectors_as_fields_as_those_for_matrices_have() -> None:
    S, rng = hops_and_costs(), np.random.default_rng(3)
    roads = sr.random_graph(30, degree=(1, 3), seed=3)
    weights = np.empty(len(roads), [("costs", "f8", 2), ("hops", "i4")])
    weights["costs"], weights["hops"] = rng.integers(1, 9, (len(roads), 2)), rng.integers(1, 4, len(roads))
    G = sr.Graph(roads.sources, roads.targets, roads.n, weights, [f"v{i}" for i in range(roads.n)])
    M = sr.adjacency(G, S)
    B = M.array[:, :2].copy()
    closed, F, some = sr.closure(M), sr.factor(G, S), ["v3", "v7", "v8"]
    for found, expected in (
        (sr.closure(G, S), closed), (F.closure(), closed), (sr.closure(G, S, reflexive=False), M @ closed),
        (sr.closure(G, S, max_edges=3), sr.closure(M, max_edges=3)), (sr.closure(sr.prepare(G, S)), closed),
    ):
        assert isinstance(found, sr.Matrix) and found.dtype == S.element_dtype and (found == expected).all()
    for rows, expected in (
        (sr.solve(G, B, S), sr.solve(M, B)), (F.solve(B), sr.solve(M, B)), (F.rows(some), closed.array[[3, 7, 8]]),
        (F.rows(some, targets=["v1", "v2"]), closed.array[[3, 7, 8]][:, [1, 2]]),
        (F.rows(some, targets=["v1"]), closed.array[[3, 7, 8]][:, [1]]),
        (sr.factor(M).rows(some, targets=["v1"]), closed.array[[3, 7, 8]][:, [1]]),
        (F.weight(some, "v1"), closed.array[[3, 7, 8], 1]), (sr.matmul(G, B, S), sr.matmul(M, B)),
    ):
        assert rows.dtype == S.element_dtype and (np.asarray(rows) == expected).all()
    turned = sr.Matrix(M.array[::-1, ::-1], S, M.names[::-1])
    assert (sr.chain([M, G], S) == M @ M).all() and ((G_product := sr.matmul(turned, G, S)) == turned @ M).all()
    assert G_product.dtype == S.element_dtype


def test_the_vectors_of_narrower_floats_are_fields_too() -> None:
    S = hops_and_costs()
    G = sr.as_graph((np.array([0]), np.array([1]), np.array([(1, [2, 3])], [("hops", "i4"), ("costs", "f4", 2)])))
    for found in (sr.closure(G, S), sr.adjacency(G, S), sr.adjacency(G, S, dtype=[("hops", "i4"), ("costs", "f4", 2)])):
        assert found[0, 1]["costs"].tolist() == [2, 3] and found.dtype["costs"].base == np.float32


def test_a_stack_of_matrices_is_over_their_algebra_and_has_no_names() -> None:
    """In a list they were an array to NumPy: closed over any algebra, and by position whatever they are called."""
    A = np.array([[inf, 3.0], [2.0, inf]])
    M, N = sr.Matrix(A, sr.min_plus), sr.Matrix(A.T, sr.min_plus)
    expected = sr.closure(np.stack([A, A.T]), sr.min_plus)
    for stack in ([M, N], (M, N), [A, N], [M, N.array.tolist()]):
        assert sr.closure(stack, sr.min_plus).tolist() == expected.tolist()
        with pytest.raises(sr.SemiringError, match=r"A\[[01]\] is a matrix over min-plus, but S is max-min"):
            sr.closure(stack, sr.max_min)
    assert sr.closure([[M, N], [N, M]], sr.min_plus).shape == (2, 2, 2, 2)
    with pytest.raises(sr.SemiringError, match=r"A\[0\]\[1\] is a matrix over max-min"):
        sr.closure([[M, sr.Matrix(A, sr.max_min)], [N, M]], sr.min_plus)
    hops = sr.adjacency([(0, 1, 3.0), (1, 0, 2.0)], sr.shortest_hops)
    assert (sr.closure([hops, hops], sr.shortest_hops)[1] == hops.closure().array).all()

    named, turned = sr.Matrix(A, sr.min_plus, ["a", "b"]), sr.Matrix(A.T, sr.min_plus, ["b", "a"])
    frame = named.to_frame(long=False, library="pandas")
    for parts in ([named, turned], [M, turned], [frame, frame]):
        for call in (lambda x: sr.closure(x, sr.min_plus), lambda x: sr.paths(x, sr.min_plus),
                     lambda x: sr.matmul(x, named), lambda x: sr.solve(np.stack([A, A]), x, sr.min_plus)):
            with pytest.raises(sr.SemiringError, match=r"[AB]\[[01]\] has names, which a stack would lose: np.stack"):
                call(parts)
    assert sr.closure(np.stack([named, turned]), sr.min_plus)[1].tolist() == named.closure().array.tolist()


def test_what_is_no_array_in_a_stack() -> None:
    G = sr.as_graph(EDGES)
    for part in (G, sr.prepare(G, sr.min_plus), sr.adjacency(G, sr.min_plus).to_sparse(),
                 pd.DataFrame(EDGES, columns=["from", "to", "weight"])):
        with pytest.raises(sr.SemiringError, match=r"A\[1\] is of type \w+, but a stack must be of arrays"):
            sr.closure([np.zeros((3, 3)), part], sr.min_plus)


def test_a_table_is_no_operand() -> None:
    """Its rows and columns are vertices in some order, and were taken by position."""
    M = sr.adjacency(EDGES, sr.min_plus)
    T = sr.closure_rows(M, sources=["c", "b", "a"], targets=["c", "b", "a"])
    for call in (lambda: sr.matmul(M, T), lambda: sr.closure(T), lambda: sr.closure(T, sr.max_min),
                 lambda: sr.solve(M, T), lambda: sr.closure([T, T], sr.min_plus), lambda: sr.reach(T),
                 lambda: sr.from_dense(T, sr.min_plus), lambda: sr.Matrix(T, sr.min_plus),
                 lambda: M @ T, lambda: T @ M, lambda: M | T, lambda: M == T, lambda: T == M,
                 lambda: np.minimum(M, T), lambda: np.minimum(T, M), lambda: np.stack([M, T])):
        with pytest.raises(sr.GraphError, match=r"is a Table, whose rows .* pass its elements, \.to_numpy\(\)"):
            call()
    assert sr.closure(T.to_numpy(), sr.min_plus).tolist() == T.array.tolist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_verbs_of_arrays_ask_what_a_frame_of_numbers_is(library: str) -> None:
    """Sums, einsums and chains read edges of a data frame only if its columns or its labels say that they are edges."""
    DataFrame = pytest.importorskip(library).DataFrame
    verbs = {
        "x": lambda A: sr.min_plus.sum(A, axis=0), "operand 0": lambda A: sr.einsum("ij->j", A, S=sr.min_plus),
        "stack": lambda A: sr.forward(np.zeros(3), A, sr.min_plus, steps=1),
    }
    for unclear in ({"a": [0.0, 1.0], "b": [1.0, 2.0]}, {"km": [0, 1], "toll": [1, 2]}):
        for what, verb in verbs.items():
            with pytest.raises(sr.GraphError, match=f"^{what} is a data frame of numbers, which could be a matrix or"):
                verb(DataFrame(unclear))
    km = [3.0, 4.0]
    for edges in ({"from": [0, 1], "to": [1, 2], "km": km}, {"p": ["x", "y"], "q": ["y", "z"], "km": km}):
        assert verbs["x"](DataFrame(edges)).tolist() == verbs["operand 0"](DataFrame(edges)).tolist() == [np.inf, 3, 4]
