"""How a `Matrix` keeps what came in, and what its operators keep."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from graphs.listing import refused

import semiring as sr

INF = np.inf
EDGES = [("a", "b", 3.0), ("b", "c", 0.0), ("a", "c", 9.0)]
ROADS = sr.Matrix(sr.as_graph(EDGES), sr.min_plus)
DENSE = sr.adjacency(EDGES, sr.min_plus)
LINKS = sr.Matrix(sr.pack(sr.as_graph(EDGES)), sr.boolean, ["a", "b", "c"])


def test_what_comes_in_decides_how_elements_are_kept() -> None:
    rows = sp.csr_array((np.array([5.0, 2.0, 0.0, INF]), np.array([1, 1, 0, 2]), np.array([0, 2, 4])), shape=(2, 3))
    for stored in (rows, rows.tocoo(), rows.tocsc(), sp.csr_matrix(rows)):
        M = sr.Matrix(stored, sr.min_plus, ["r", "s"], columns=["x", "y", "z"])
        assert M.holder == "sparse" and M.nnz == 2, "∞ is zero, 0 is not, and entries at one place are added"
        assert list(M.edges()) == [("r", "y", 2.0), ("s", "x", 0.0)] and M["s", "z"] == INF
    assert rows.data.tolist() == [5.0, 2.0, 0.0, INF]
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(EDGES)
    for found in (sr.Matrix(graph, sr.min_plus), ROADS, sr.Matrix(ROADS, sr.min_plus)):
        assert found.holder == "sparse" and found.equals(DENSE) and found.names == ["a", "b", "c"]
    assert sr.Matrix(sr.as_graph(EDGES), sr.min_plus, ["c", "a", "b"]).names == ["c", "a", "b"]
    assert sr.Matrix(sr.as_graph(EDGES), sr.min_plus, ["c", "a", "b"]).equals(DENSE)
    with refused("'d' is in names and not in the matrix"):
        sr.Matrix(sr.as_graph(EDGES), sr.min_plus, ["a", "b", "d"])
    pairs = sr.Matrix(sr.as_graph([("a", "b", (2.0, 3)), ("a", "b", (2.0, 1))]), sr.shortest_count)
    assert pairs.holder == "sparse" and pairs["a", "b"].tolist() == (2.0, 4.0) and pairs.equals(pairs.hold("dense"))
    words = sr.Matrix(sr.as_graph([("a", "b", sr.letter("x"))]), sr.regex)
    assert (words | words.T).nnz == 2 and words.closure()["a", "b"] == sr.letter("x")
    assert LINKS.holder == "packed" and LINKS.nnz == 3 and LINKS.dtype == bool
    with refused("one bit per pair is only enough for algebras of False and True", sr.SemiringError):
        sr.Matrix(sr.pack([(0, 1)]), sr.min_plus)
    with refused("must be a square matrix") and refused("3 names for 2 rows"):
        sr.Matrix(rows, sr.min_plus, ["r", "s", "t"])
    with refused("works on records", sr.SemiringError):
        sr.Matrix(rows, sr.shortest_count)


def test_how_it_is_shown_and_asked_for() -> None:
    assert repr(ROADS) == ("Matrix 3 × 3 over min-plus, float64, sparse, 3 entries\n   a  b  c\na  ·  3  9\n"
                           "b  ·  ·  0\nc  ·  ·  ·")
    assert "packed, 3 entries" in repr(LINKS) and "sparse" not in repr(DENSE)
    large = sr.Matrix(sp.identity(10**6, format="csr"), sr.plus_times)
    assert "…" in repr(large) and large[0, 0] == 1.0 and large.sum() == 1e6 and large.T.equals(large)
    assert (large @ large).equals(large) and large._repr_html_().count("<tr>") == 12
    with refused("a 1000000 × 1000000 array of bool", sr.SemiringError):
        _ = large == large.T
    with refused("has no array of all elements: M.hold('dense')"):
        _ = ROADS.array
    with refused("has no array of all elements"):
        np.where(ROADS, 1.0, 2.0)
    with refused("a Matrix is held dense, sparse or packed, and not 'csr'"):
        ROADS.hold("csr")
    with refused("one bit per pair", sr.SemiringError):
        ROADS.hold("packed")
    assert ROADS.to_numpy().tolist() == np.asarray(ROADS).tolist() == DENSE.array.tolist()
    assert ROADS.to_sparse().nnz == 3 and ROADS.to_frame().values.tolist() == DENSE.to_frame().values.tolist()
    assert ROADS.to_frame(long=False).equals(DENSE.to_frame(long=False)) and len(ROADS) == 3
    assert list(ROADS.to_networkx().edges(data="weight")) == list(DENSE.to_networkx().edges(data="weight"))
    assert list(sr.as_graph(ROADS).edges()) == list(sr.as_graph(DENSE).edges())


LARGEST, FIRST = ["dense", "sparse", "packed"], ["packed", "dense", "sparse"]


@pytest.mark.parametrize("operator", ["matmul", "union", "times", "kron"])
def test_which_holder_the_answer_has(operator: str) -> None:
    compute = {"matmul": lambda A, B: A @ B, "union": lambda A, B: A | B, "times": lambda A, B: A * B,
               "kron": lambda A, B: A.kron(B)}[operator]
    wanted = compute(LINKS.hold("dense"), LINKS.hold("dense").T)
    for left in LARGEST:
        for right in LARGEST:
            found = compute(LINKS.hold(left), LINKS.hold(right).T[["c", "a", "b"]])
            if left == right:
                kind = left
            elif operator in ("matmul", "union"):
                kind = next(x for x in (FIRST if operator == "matmul" else LARGEST) if x in (left, right))
            else:
                kind = "sparse"
            assert found.holder == kind and found.equals(wanted)


def test_arrays_and_numbers_beside_a_sparse_matrix() -> None:
    other = np.array([[1.0, 5.0, INF], [INF, 0.0, 2.0], [3.0, 1.0, INF]])
    for mine in (ROADS, DENSE):
        assert (mine | other).array.tolist() == (DENSE | other).array.tolist()
        assert (mine * other).equals(DENSE * other) and (other * mine).equals(other * DENSE)
        assert (mine * 2.0).equals(DENSE * 2.0) and (mine | 2.0).equals(DENSE | 2.0)
        assert (mine == other).tolist() == (other == DENSE).tolist() and (mine != 3.0).tolist() == (
            DENSE != 3.0).tolist()
        assert (mine @ other).tolist() == (DENSE @ other).tolist() and (mine @ other[0]).tolist() == (
            DENSE @ other[0]).tolist()
    assert (ROADS * 2.0).holder == (ROADS * other).holder == "sparse" and (ROADS | other).holder == "dense"
    assert (LINKS @ np.array([False, False, True])).tolist() == [True, True, False]
    assert (np.array([True, False, False]) @ LINKS).tolist() == [False, True, True]
    with refused("A has shape (3, 3) and B has shape (2, 2)"):
        _ = ROADS | np.zeros((2, 2))
    with refused("is float64 and B is float32"):
        _ = ROADS | ROADS.astype("f4")
    assert (ROADS.astype("i4") == ROADS).all() and ROADS.equals(ROADS.astype("i4"))
    with refused("B has entries outside the carrier"):
        _ = ROADS * np.full((3, 3), np.nan)
