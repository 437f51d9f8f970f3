"""Graph functions on sparse arrays of PyData: SciPy's own tests, and every fill value."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from exchanged import exchanged
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph as theirs

import semiring as sr
from semiring import csgraph as ours
from semiring import distances

sparse = pytest.importorskip("sparse")

OF_SCIPY = exchanged("test_pydata_sparse")
if OF_SCIPY is not None:  # tests, the fixtures that they ask for, and the modules that these look at
    globals().update({name: value for name, value in vars(OF_SCIPY).items()
                      if name.startswith("test_") or name == "graphs"})


@pytest.fixture
def sparse_cls() -> Any:
    """For SciPy's tests, which expect that other classes fail."""
    return sparse.COO


@pytest.fixture(autouse=True, params=["as people call it", "by us"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by us":
        monkeypatch.setattr(distances, "SCIPY_WORK", 0)


def test_scipys_own_tests_were_found_and_ask_us() -> None:
    if OF_SCIPY is None:
        pytest.skip("SciPy was installed without its tests")
    assert OF_SCIPY.spgraph is ours
    assert sum(name.startswith("test_") for name in globals()) > 12


FILLS = (0.0, np.inf, -np.inf, np.nan, 2.5)


@given(seed=st.integers(0, 10**6), fill=st.sampled_from(FILLS), form=st.sampled_from(["coo", "gcxs", "dok"]),
       dtype=st.sampled_from(["f8", "f4", "i8"]))
@settings(max_examples=60)
def test_every_fill_value(seed: int, fill: float, form: str, dtype: str) -> None:
    """A fill value that means that an edge is absent is taken; any other is refused, as by SciPy."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 8))
    A = random.integers(0, 9, (n, n)).astype(dtype)
    stored = random.random((n, n)) < 0.3
    fill = fill if dtype[0] == "f" or np.isfinite(fill) else 0.0
    given_array = sparse.COO(np.nonzero(stored), A[stored], shape=(n, n), fill_value=np.array(fill, dtype)[()])
    given_array = given_array.asformat(form)
    if fill == 2.5:
        with pytest.raises(ValueError, match="fill value 2"):
            ours.shortest_path(given_array)
        for ask in (lambda: sr.as_graph(given_array), lambda: sr.closure(given_array, sr.min_plus)):
            with pytest.raises(sr.SemiringError, match="fill value 2"):
                ask()
        return
    dense = np.ma.array(A.astype(float), mask=~stored)
    expected = ours.shortest_path(dense)
    assert np.array_equal(ours.shortest_path(given_array), expected)
    if form == "coo" and fill != -np.inf:
        assert np.array_equal(theirs.shortest_path(given_array), expected)
    alike = sp.coo_array((A[stored], np.nonzero(stored)), shape=(n, n))
    graphs = sr.as_graph(given_array), sr.as_graph(alike)
    assert np.array_equal(*(np.asarray(sr.closure(graph, sr.min_plus)) for graph in graphs))
    if fill == -np.inf:
        with pytest.raises(sr.SemiringError, match="fill value -inf"):
            sr.closure(given_array, sr.min_plus)
    else:
        assert np.array_equal(sr.closure(given_array, sr.min_plus), sr.closure(alike, sr.min_plus))


@pytest.mark.parametrize("form", ["coo", "gcxs", "dok"])
@pytest.mark.parametrize(("S", "fill"), [
    (sr.min_plus, np.inf), (sr.max_plus, -np.inf), (sr.plus_times, 0.0), (sr.viterbi, 0.0), (sr.max_min, -np.inf),
    (sr.log, -np.inf), (sr.boolean, False), (sr.min_plus, np.nan)])
def test_what_means_no_edge_is_the_algebras_own_to_say(S: Any, fill: Any, form: str) -> None:
    full = np.full((3, 3), S.zero)
    full[0, 1], full[1, 2] = (True, True) if S is sr.boolean else (0.5, 0.25)
    stored = np.nonzero(full != S.zero)
    A = sparse.COO(stored, full[stored], shape=(3, 3), fill_value=np.asarray(fill)[()]).asformat(form)
    assert np.array_equal(sr.closure(A, S), sr.closure(full, S))
    vector = sparse.COO([[1]], full[[0], [1]], shape=(3,), fill_value=A.fill_value)
    dense = np.full(3, S.zero)
    dense[1] = full[0, 1]
    assert np.array_equal(sr.solve(full, vector, S), sr.solve(full, dense, S))


@pytest.mark.parametrize("call", [
    lambda: sr.closure(sparse.COO([[0], [1]], [1.0], shape=(2, 3)), sr.min_plus),
    lambda: sr.as_graph(sparse.COO([[0], [1]], [1.0], shape=(2, 3))),
    lambda: sr.as_graph(sparse.COO([[0]], [1.0], shape=(2,))),
    lambda: ours.dijkstra(sparse.COO([[0]], [1.0], shape=(2,))),
    lambda: ours.dijkstra(sparse.COO([[0], [1]], [1.0], shape=(2, 3))),
    lambda: sr.closure(sparse.COO([[0], [1]], [1.0], shape=(2, 2), fill_value=np.inf), sr.max_plus),
    lambda: sr.closure(sparse.COO([[0], [1]], [True], shape=(2, 2), fill_value=True), sr.boolean),
    lambda: sr.closure([sparse.COO([[0], [1]], [1.0], shape=(2, 2), fill_value=3.0)], sr.min_plus),
])
def test_refusals_are_in_words(call: Callable[[], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"fill value|shape|square|matrix|stack"):
            call()
