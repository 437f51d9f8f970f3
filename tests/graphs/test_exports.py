"""Matrices as SciPy's and NetworkX's: the same edges, and back again."""

from __future__ import annotations

import numpy as np
import pytest
from graphs.listing import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import hops_and_costs, laid_out, layouts, same

import semiring as sr
from semiring.graphs.exports import entries_of

INF = np.inf


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 5))
    cells = draw(st.lists(st.sampled_from([0.0, 1.5, -2.0, INF]), min_size=n * n, max_size=n * n))
    texts, pairs, numbers = [f"v{i}" for i in range(n)], [(i, i) for i in range(n)], list(range(9, 9 + n))
    names = draw(st.sampled_from([None, texts, pairs, numbers]))
    return sr.Matrix(np.array(cells).reshape(n, n), sr.min_plus, names)


@settings(max_examples=60)
@given(matrices())
def test_there_and_back(M):
    graph = M.to_networkx()
    assert list(graph) == (list(range(M.n)) if M.names is None else M.names)
    assert np.all(sr.adjacency(graph, sr.min_plus, names=M.names) == M)
    sparse = M.to_sparse()
    assert np.all(sr.adjacency(sparse, sr.min_plus).array == M) and sparse.shape == M.shape
    assert sparse.has_sorted_indices and sparse.nnz == len(graph.edges)
    np.testing.assert_array_equal(sr.closure_rows(abs(sparse), sr.min_plus, [0]),
                                  sr.closure_rows(abs(M.array), sr.min_plus, [0]))


def test_zeros_of_the_algebra_are_left_out_and_numbers_0_are_not():
    M = sr.Matrix(np.array([[0.0, INF], [3.0, INF]]), sr.min_plus)
    rows, columns, values = entries_of(M)
    assert (rows.tolist(), columns.tolist(), values.tolist()) == ([0, 1], [0, 0], [0.0, 3.0])
    assert sr.Matrix(np.eye(2), sr.plus_times).to_sparse().nnz == 2


def test_records_and_objects():
    vectors = sr.Semiring("vectors", fields={"v": ("f8", 2)}, zero=([INF, INF],), one=([0, 0],),
                          add=lambda x, y: (np.minimum(x.v, y.v),), mul=lambda x, y: (x.v + y.v,),
                          carrier=lambda x: np.min(x.v) >= 0)
    V = sr.adjacency([("a", "b", ([1.5, 0.0],))], vectors)
    assert [entry[:2] for entry in V.to_frame().values.tolist()] == [["a", "b"]]
    assert entries_of(V)[2]["v"].tolist() == [[1.5, 0.0]]
    flat = np.array([(1.5, 0.0)], [("v.0", "f8"), ("v.1", "f8")])
    assert (sr.adjacency((np.array([0]), np.array([1]), flat), vectors).array == V.array).all()
    M = sr.adjacency([("a", "b", (2.0, 3))], sr.shortest_count)
    assert list(M.to_networkx().edges(data="weight")) == [("a", "b", (2.0, 3.0))]
    words = sr.adjacency([("a", "b", sr.letter("x"))], sr.regex)
    assert [str(w) for *_, w in words.to_networkx().edges(data="weight")] == ["x"]
    for given_ in (M, words):
        with refused("SciPy's sparse matrices hold numbers"):
            given_.to_sparse()


@pytest.mark.parametrize("n", [0, 1])
def test_small(n):
    M = sr.Matrix(np.full((n, n), INF), sr.min_plus)
    assert M.to_sparse().shape == (n, n) and len(M.to_networkx()) == n


@pytest.mark.parametrize("S", [sr.shortest_hops, hops_and_costs()], ids=lambda S: S.name)
def test_records_leave_in_the_order_of_the_algebra(S):
    """As tuples they have no names, and come back by their places."""
    x = S.eye(3)
    x[0, 1], x[1, 2], x[2, 2] = x[0, 0], S.samples().view(S.element_dtype)[3], x[0, 1]
    for dtype in layouts(S):
        M = sr.Matrix(laid_out(x, dtype), S, ["a", "b", "c"])
        for again in (M.to_networkx(), M.to_frame()):
            assert same(sr.adjacency(again, S, names=M.names).array, x), dtype
        for row, wanted in zip(M.to_frame(long=False).to_numpy(), x, strict=True):
            assert same(S.array(list(row)), wanted)


def test_a_matrix_over_vertices_in_two_orders_is_a_graph():
    M = sr.Matrix([[0.0, 1.0], [2.0, 3.0]], sr.min_plus, ["a", "b"], columns=["b", "a"])
    assert {(a, b): w for a, b, w in M.to_networkx().edges(data="weight")} == {
        ("a", "b"): 0.0, ("a", "a"): 1.0, ("b", "b"): 2.0, ("b", "a"): 3.0}
