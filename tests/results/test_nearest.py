"""Nearest places against rows of the closure, and against SciPy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from engines import by_both
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph

import semiring as sr
from semiring.solvers.paths.searches import origins

inf = np.inf


@pytest.mark.parametrize(("name", "dtype", "compile"), by_both([
    ("min_plus", "f8"), ("min_plus", "i4"), ("max_min", "f4"), ("max_plus", "f8")], 0))
def test_they_are_the_best_of_the_rows(name: str, dtype: str, compile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compile)
    S = sr.catalogue[name]

    @settings(max_examples=40)
    @given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 5))
    def check(seed: int, n: int, count: int) -> None:
        rng = np.random.default_rng(seed)
        A = rng.integers(0, 9, (n, n)).astype(dtype)
        A[(rng.random((n, n)) < 0.7) | (np.tri(n, dtype=bool) & (name == "max_plus"))] = S.zero_in(dtype)
        places = rng.integers(0, n, count)
        rows = sr.closure(A, S)[places]
        expected = rows[0]
        for row in rows[1:]:
            expected = S.over(dtype).add(expected, row)
        found = sr.nearest(A, S, places)
        assert (found.weights == expected).all() and found.weights.dtype == A.dtype
        for v in range(n):
            if expected[v] == S.zero_in(dtype):
                assert found.places[v] == -1
            else:
                assert found.places[v] in places and sr.closure(A, S)[found.places[v], v] == expected[v]

    check()


def test_scipy_says_the_same() -> None:
    rng = np.random.default_rng(0)
    A = sp.random_array((400, 400), density=0.01, random_state=rng, format="csr")
    A = sp.csr_array(A.toarray())  # with indices of 32 bits, the only ones that Dijkstra's search of SciPy 1.13 takes
    places = [3, 77, 200]
    weights, _, origin = csgraph.dijkstra(A, indices=places, min_only=True, return_predecessors=True)
    found = sr.nearest(A, sr.min_plus, places)
    np.testing.assert_allclose(found.weights, weights)
    assert (np.where(np.isinf(weights), -1, origin) == found.places).all()


def test_names_and_refusals() -> None:
    G = sr.as_graph([("a", "b", 1.0), ("c", "d", 1.0)])
    assert sr.nearest(G, sr.min_plus, "a").places.tolist() == ["a", "a", None, None]
    with pytest.raises(sr.GraphError, match="at least one place"):
        sr.nearest(G, sr.min_plus, [])
    with pytest.raises(sr.GraphError, match="did you mean"):
        sr.nearest(G, sr.min_plus, ["aa"])
    with pytest.raises(sr.LawError):
        sr.nearest(np.eye(2), sr.plus_times, 0)
    with pytest.raises(sr.NoClosureError, match="a → b → a"):
        sr.nearest(sr.as_graph([("a", "b", 1.0), ("b", "a", -2.0)]), sr.min_plus, "a")


def test_a_place_on_the_way_of_another_is_no_end() -> None:
    before = np.array([4, 0, 1, -1, -1], np.int32)  # the root is vertex 4
    assert origins(before, np.array([0, 2])).tolist() == [0, 0, 0, -1]


def test_how_it_is_shown() -> None:
    roads = sr.as_graph([("Ayr", "<Bo>", 3), ("<Bo>", "Cole", 1), ("Dale", "Ayr", 2)])
    found = sr.nearest(roads, sr.min_plus, ["<Bo>"])
    assert repr(found) == "Nearest(4 vertices over min-plus, float64)"  # ∞ is among them
    page = found._repr_html_()
    assert "9223372036854775807" not in page and '<th scope="row">Ayr</th><td>·</td><td>·</td>' in page
    assert '<th scope="row">Cole</th><td>&lt;Bo&gt;</td><td>1</td>' in page
    weights, places = pickle.loads(pickle.dumps(found))
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
    assert weights.tolist() == found.weights.tolist() and places.tolist() == [None, "<Bo>", "<Bo>", None]
    many = sr.nearest(sp.csr_array(np.eye(20, k=1)), sr.min_plus, [1])
    assert many._repr_html_().count("<tr>") == 12 and '<th scope="row">2</th><td>1</td><td>1</td>' in many._repr_html_()


def test_places_may_be_a_set_and_the_algebra_that_of_the_matrix() -> None:
    M = sr.adjacency([("a", "b", 1.0), ("c", "b", 0.5)], sr.min_plus)
    expected = sr.nearest(M, sr.min_plus, ["a", "c"])
    for found in (sr.nearest(M, places={"c", "a"}), sr.nearest(M, places=["c", "a"])):
        assert found.places.tolist() == expected.places.tolist() == ["a", "c", "c"]
    with pytest.raises(sr.SemiringError, match="nearest needs places"):
        sr.nearest(M)
    sets = sr.adjacency([(frozenset("ab"), frozenset("c"), 1.0)], sr.min_plus)
    assert sr.nearest(sets, places=frozenset("ab")).weights.tolist() == [0.0, 1.0]
