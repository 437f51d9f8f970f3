"""Best paths of sparse matrices on a GPU: values and hops are those of the host, and every walk weighs what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

import semiring as sr
from semiring.operands.read import read
from semiring.solvers.paths.trees import best_trees

cupy = pytest.importorskip("cupy")

ALGEBRAS = [
    ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("max_plus", "f8"), ("max_min", "f4"),
    ("min_max", "f8"), ("viterbi", "f8"),
]


def matrix(name: str, dtype: str, n: int, degree: float, seed: int) -> csr_array:
    """Directed edges of few values, with loops, stored zeros of the algebra, and vertices that nothing reaches."""
    S, rng = sr.catalogue[name], np.random.default_rng(seed)
    stored = rng.random((n, n)) < degree / n
    stored[:, : n // 10] = False
    rows, columns = np.nonzero(stored)
    if name == "viterbi":
        values = rng.choice([1, 0.5, 0.75], len(rows)).astype(dtype)
    else:
        values = (rng.integers(0, 4, len(rows)) * (-1 if name == "max_plus" else 1)).astype(dtype)
    values[rng.random(len(rows)) < 0.1] = S.zero_in(values.dtype)
    return csr_array((values, (rows, columns)), (n, n))


def check(A: csr_array, S: sr.Semiring, method: str = "auto") -> None:
    there, here = (sr.paths(A, S, device=device, method=method) for device in ("gpu", "cpu"))
    assert all(isinstance(part, cupy.ndarray) for part in (there.weights, there.next_hop, there.predecessors))
    X, n = there.weights.get(), A.shape[0]
    np.testing.assert_array_equal(X, here.weights)
    np.testing.assert_array_equal(there.next_hop.get(), here.next_hop)
    np.testing.assert_array_equal(there.predecessors.get(), here.predecessors)
    assert_walks(A, S, X, there.next_hop.get())
    rows = np.random.default_rng(1).permutation(n)[: n // 3 + 1]
    for lines, backwards in ((X[rows], False), (X.T[rows], True)):
        found = best_trees(read(A, S), cupy.asarray(lines), rows, backwards=backwards)
        np.testing.assert_array_equal(found.get(), best_trees(read(A, S), lines, rows, backwards=backwards))


def assert_walks(A: csr_array, S: sr.Semiring, X: np.ndarray, hops: np.ndarray) -> None:
    """Go along the hops of all pairs at once; each walk ends, and weighs what X says."""
    T, n = S.over(X.dtype), len(X)
    edges: Any = np.full((n, n), S.zero_in(X.dtype), X.dtype)
    edges[np.repeat(np.arange(n), np.diff(A.indptr)), A.indices] = A.data
    at, ends = np.divmod(np.arange(n * n), n)
    weights = np.full(n * n, T.one, X.dtype)
    going = np.flatnonzero(hops[at, ends] >= 0)
    reached = np.zeros(n * n, bool)
    reached[going] = True
    reached |= at == ends
    for _ in range(n):
        after = hops[at[going], ends[going]]
        assert (after >= 0).all(), "a walk breaks off"
        weights[going] = T.mul(weights[going], edges[at[going], after])
        at[going] = after
        going = going[after != ends[going]]
    assert not going.size, "a walk goes round"
    assert (np.where(reached, weights, S.zero_in(X.dtype)) == X.ravel()).all()


@pytest.mark.parametrize(("name", "dtype"), ALGEBRAS)
def test_hops_are_those_of_the_host(name: str, dtype: str) -> None:
    for n, degree in ((1, 1.0), (8, 2.0), (40, 3.0), (300, 1.5)):
        A = matrix(name, dtype, n, degree, n)
        check(A, sr.catalogue[name])
        check(A, sr.catalogue[name], "sparse")


def test_by_elimination_where_that_is_chosen() -> None:
    check(matrix("min_plus", "f4", 1500, 2.0, 3), sr.min_plus, "sparse")


def test_edges_that_improve() -> None:
    A = matrix("min_plus", "f8", 200, 3.0, 5)
    height = np.random.default_rng(5).integers(-50, 50, 200).astype(float)
    tails = np.repeat(np.arange(200), np.diff(A.indptr))
    A.data += height[tails] - height[A.indices]
    check(A, sr.min_plus, "sparse")


def test_a_graph_by_its_names_is_answered_in_the_hosts_memory() -> None:
    G = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0), ("d", "a", 1.0)])
    for method in ("auto", "sparse"):
        R = sr.paths(G, sr.min_plus, device="gpu", method=method)
        assert isinstance(R.next_hop, np.ndarray)
        assert R["d", "c"] == (8.0, ["d", "a", "b", "c"]) and R["c", "a"].vertices is None


def test_a_limit() -> None:
    A = matrix("min_plus", "f8", 100, 3.0, 7)
    there, here = (sr.paths(A, sr.min_plus, device=device, limit=3.0) for device in ("gpu", "cpu"))
    assert (there.weights.get() == here.weights).all() and (there.next_hop.get() == here.next_hop).all()


@pytest.mark.parametrize("method", ["auto", "sparse"])
def test_best_paths_of_a_sparse_matrix_on_the_gpu_stay_there(method: str) -> None:
    import cupyx.scipy.sparse as cs

    A = matrix("min_plus", "f8", 300, 3.0, 8)
    there = sr.paths(cs.csr_matrix(csr_matrix(A)), sr.min_plus, method=method)
    from_host = sr.paths(A, sr.min_plus, device="gpu", method=method)
    assert isinstance(there.weights, cupy.ndarray) and isinstance(there.next_hop, cupy.ndarray)
    assert (there.weights == from_host.weights).all() and (there.next_hop == from_host.next_hop).all()
