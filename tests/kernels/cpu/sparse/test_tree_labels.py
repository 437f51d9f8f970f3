"""Labels along the tree of supernodes against rows of the closure, for algebras of all kinds of elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engines import slow_but
from hypothesis import given, settings
from hypothesis import strategies as st
from solvers.sparse.test_factors import matrices_of_counts

import semiring as sr
from semiring.algorithms.sparse.analysis import analyse
from semiring.graphs.graph import Graph
from semiring.operands.read import read
from semiring.solvers.sparse.factors import SparseFactors
from semiring.solvers.sparse.substitution import Substitution

CASES = [
    ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "f2"), ("max_plus", "f8"),
    ("max_min", "f8"), ("viterbi", "f4"), ("plus_times", "f8"), ("log", "f8"), ("lukasiewicz", "f8"),
    ("shortest_count", None), ("matrices", None),
]
pytestmark = pytest.mark.usefixtures("machine_code")


def values(name: str, dtype: str | None, count: int, rng: np.random.Generator) -> Any:
    """Elements of an algebra whose sums along walks need no rounding, so that all orders give the same."""
    if name == "matrices":
        found = np.zeros(count, matrices_of_counts.default_dtype)
        for field in found.dtype.names:
            found[field] = rng.integers(0, 2, count)
        return found
    if name == "shortest_count":
        found = np.zeros(count, sr.shortest_count.default_dtype)
        first, second = found.dtype.names
        found[first], found[second] = rng.integers(1, 5, count), 1
        return found
    if name in ("plus_times", "log"):
        found = rng.integers(1, 4, count) / 1024
        return np.log(found) if name == "log" else found
    if name in ("viterbi", "lukasiewicz"):
        return rng.choice([1, 0.5, 0.25], count).astype(dtype)
    return (rng.integers(0, 5, count) * (-1 if name == "max_plus" else 1)).astype(dtype)


def factors(name: str, dtype: str | None, n: int, degree: float, seed: int, **how: Any) -> SparseFactors:
    """Factors of a random graph with parts that nothing joins; without cycles where closures need that."""
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.integers(0, max(n - 2, 1), (int(n * degree), 2)), axis=0) if n else np.zeros((0, 2), int)
    if name == "matrices":
        place = rng.permutation(max(n, 1))
        edges = edges[place[edges[:, 0]] < place[edges[:, 1]]]
    T = matrices_of_counts if name == "matrices" else sr.catalogue[name]
    A = read(Graph(edges[:, 0], edges[:, 1], n, values(name, dtype, len(edges), rng)), T)
    return SparseFactors(Substitution(A, analyse(A.indptr, A.indices, **how)))


def same(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.dtype == expected.dtype
    if found.dtype.kind == "f":
        tolerance = {2: 1e-2, 4: 1e-5, 8: 1e-9}[found.dtype.itemsize]
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=0)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("name", "dtype"), slow_but(CASES, 1, 5))
@settings(max_examples=12)
@given(st.integers(1, 40), st.sampled_from([0.0, 1.0, 1.6, 3.0]), st.integers(0, 2**20), st.sampled_from([0, 2, 32]),
       st.booleans(), st.sampled_from(["amd", "levels", "natural"]))
def test_labels_say_what_rows_do(
    name: str, dtype: str | None, n: int, degree: float, seed: int, leaf: int, merge: bool, method: str
) -> None:
    F = factors(name, dtype, n, degree, seed, method=method, leaf=leaf, merge=merge)
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    expected = F.rows(range(n))
    if dtype == "i4":
        assert expected.dtype == (np.float64 if np.isinf(expected).any() else np.int32)
    pairs = F._of_pairs(i, j)
    assert pairs.dtype == F._A.dtype
    same(F._A.as_shown(pairs), expected[i, j])
    L = F.labels()
    same(L.weight(i, j), expected[i, j])
    same(np.asarray(L.table(range(n), range(n)[::-1])), expected[:, ::-1])


@pytest.mark.parametrize("name", ["min_plus", "plus_times"])
def test_larger_trees(name: str) -> None:
    F = factors(name, "f8", 3000, 1.7, 1)
    rng = np.random.default_rng(2)
    sources, targets = rng.integers(0, F.n, (2, 500))
    same(F.weight(sources, targets), F.rows(sources)[np.arange(500), targets])


def test_long_labels_reach_beyond_whole_vectors() -> None:
    """A complete graph is one supernode; labels of all lengths about a vector's."""
    for n in (15, 16, 17, 31, 33, 70):
        rng = np.random.default_rng(n)
        i, j = np.nonzero(~np.eye(n, dtype=bool))
        A = read(Graph(i, j, n, rng.integers(1, 99, len(i)).astype("f4")), sr.min_plus)
        F = SparseFactors(Substitution(A, analyse(A.indptr, A.indices)))
        same(F._of_pairs(i, j), F.rows(range(n))[i, j])


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    F = factors("log", "f8", 2000, 1.5, 3)
    sources, targets = np.random.default_rng(4).integers(0, F.n, (2, 300))
    one = F.weight(sources, targets)
    for threads in (1, 3):
        F._by.fronts.threads, F._by.labels = threads, None
        np.testing.assert_array_equal(F.weight(sources, targets), one)
