"""Values that stay in storage: the same elements and the same trees, and nothing is converted there and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from engines import by_both
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.objects import python_integers
from semiring.kernels.lowering.sums import tropical_integers
from semiring.operands.read import read
from semiring.solvers.forms import Encoded
from semiring.solvers.paths import trees
from semiring.solvers.sparse.analysis import lowering_of
from semiring.solvers.sparse.substitution import Substitution
from semiring.solvers.task import Task, first_offer, options

INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4")
LONG = np.iinfo("i8")


def narrow() -> Encoded:
    low = tropical_integers(sr.min_plus, np.dtype("i8"), Facts(largest=9), 3, False)
    return Encoded(low, low.encode(np.array([[5, LONG.max, 0], [1, 2, 3]]), True))


def test_what_is_asked_for_is_decoded() -> None:
    X = narrow()
    assert X.array.dtype == np.int16 and X.shape == (2, 3) and len(X) == 2
    assert X[0].tolist() == [5, LONG.max, 0] and X[1, 2] == 3 and X[[0, 1], [1, 0]].tolist() == [LONG.max, 1]
    assert X.T.shape == (3, 2) and X.T[1].tolist() == [LONG.max, 2] and np.shares_memory(X.T.array, X.array)
    X[0][:] = 0  # a copy
    assert X.decoded().tolist() == [[5, LONG.max, 0], [1, 2, 3]] and X.decoded().dtype == np.int64


def test_the_same_storage_is_told_from_another() -> None:
    X, dtype = narrow(), np.dtype("i8")
    assert X.is_as_in(X.low) and X.is_as_in(X.low.interpreted)
    assert not X.is_as_in(tropical_integers(sr.min_plus, dtype, Facts(largest=1 << 20), 3, False))
    assert not X.is_as_in(general(sr.min_plus, dtype))


def test_what_reads_as_zero_is_zero() -> None:
    """Infinity plus an edge is still beyond what any sum reaches, and would be told from infinity by its bits."""
    for S, sign in ((sr.min_plus, 1), (sr.max_plus, -1)):
        low = tropical_integers(S, np.dtype("i4"), Facts(largest=9), 3, False)
        zero = int(low.zero[0])
        stored = low.cleaned(np.array([7, zero, zero - 9, zero + 9, -7], low.storage))
        assert stored.tolist() == [7, zero, zero, zero, -7] and zero * sign > 0
    floats = np.array([1.0, np.inf])
    assert general(sr.min_plus, floats.dtype).cleaned(floats) is floats


def graphs(data: Any, dtype: str, least: int) -> sp.csr_array:
    n = data.draw(st.integers(1, 12))
    cells = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    places = data.draw(st.lists(cells, max_size=3 * n, unique=True))
    weights = data.draw(st.lists(st.integers(least, 6), min_size=len(places), max_size=len(places)))
    i, j = np.array(places, int).reshape(-1, 2).T
    return sp.csr_array((np.array(weights, dtype), (i, j)), shape=(n, n))


@pytest.mark.parametrize(("dtype", "compile"), by_both(([dtype] for dtype in INTEGERS), len(INTEGERS) - 1))
def test_paths_are_those_of_decoded_values(dtype: str, compile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compile)

    @settings(max_examples=40)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        if dtype[0] == "u":
            S, least = sr.min_plus, 0
        else:
            S, least = data.draw(st.sampled_from([(sr.min_plus, -1), (sr.min_plus, 0), (sr.max_plus, -6)]))
        A = graphs(data, dtype, least)
        A = A if S is sr.min_plus else sp.csr_array((-abs(A.data), A.indices, A.indptr), shape=A.shape)
        try:
            expected = sr.closure(A, S, method="sparse")
        except sr.NoClosureError:
            with pytest.raises(sr.NoClosureError):
                sr.paths(A, S, method="sparse")
            return
        found = sr.paths(A, S, method="sparse")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Substitution, "expanded", lambda F, reflexive, *_: F.whole(reflexive))
            other = sr.paths(A, S, method="sparse")
        assert found.weights.dtype == other.weights.dtype == dtype
        assert (found.weights == other.weights).all() and (other.weights == expected).all()
        assert (found.next_hop == other.next_hop).all() and (found.predecessors == other.predecessors).all()

    check()


def test_nothing_is_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    n = 40
    ring = sp.csr_array((np.arange(1, n + 1), (np.arange(n), np.roll(np.arange(n), 1))))
    given = read(ring, sr.min_plus).plain.changed(goes_on=True)
    X = first_offer(Task("closure", sr.min_plus, (given,), options(method="sparse"))).run()
    assert isinstance(X, Encoded) and X.array.dtype == np.int16 and X.low.dtype == np.int64
    sizes, encode = [], Lowering.encode

    def watched(low: Lowering, array: np.ndarray, copy: bool) -> Any:
        sizes.append(array.size)
        return encode(low, array, copy)

    monkeypatch.setattr(Lowering, "encode", watched)
    assert (sr.paths(ring, sr.min_plus, method="sparse").weights == X.decoded()).all()
    assert max(sizes) <= n  # the edges alone
    for dtype in ("f8", "f2"):  # which are rounded when they are read
        other = sr.Graph(np.arange(n), ring.indices, n, ring.data.astype(dtype))
        given = read(other, sr.min_plus).plain.changed(goes_on=True)
        closed = first_offer(Task("closure", sr.min_plus, (given,), options(method="sparse"))).run()
        assert isinstance(closed, np.ndarray) and closed.dtype == dtype


@settings(max_examples=60)
@given(data=st.data(), compiled=st.booleans(), forwards=st.booleans())
def test_trees_are_right_up_to_the_last_number_that_a_storage_takes(
    data: st.DataObject, compiled: bool, forwards: bool
) -> None:
    """Edges so long, and so far below zero, that sums come as near to infinity as the storage of a closure allows."""
    n = data.draw(st.integers(2, 8))
    most = (np.iinfo("i2").max // 2 - 1) // 2 // (n + 1)
    heights = data.draw(st.lists(st.sampled_from([0, 1, most]), min_size=n, max_size=n))
    cells = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    lengths = data.draw(st.dictionaries(cells, st.sampled_from([0, 1, most - 1, most]), min_size=1, max_size=4 * n))
    edges = [(u, v, w + heights[u] - heights[v]) for (u, v), w in lengths.items()]  # so no cycle is shorter than 0
    edges = [(0, 1, -most), *(edge for edge in edges if abs(edge[2]) <= most and edge[:2] not in ((0, 1), (1, 0)))]
    i, j, w = np.array(edges).T
    A = sp.csr_array((w, (i, j)), shape=(n, n))
    try:
        sr.closure(A, sr.min_plus)
    except sr.NoClosureError:  # the edge from 0 to 1 is shorter than heights say
        return
    options = {} if forwards else {"method": "sparse"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMIRING_COMPILE", "always" if compiled else "never")
        given = read(A, sr.min_plus)
        assert trees.form_for_trees(given).storage == np.int16
        assert trees.form_for_trees(given).storage == lowering_of(given, room=False).storage
        sources = list(range(n)) if forwards else None
        found = sr.paths(A, sr.min_plus, sources=sources, **options)
        patch.setattr(trees, "form_for_trees", lambda given: python_integers(given.S, given.dtype, "to compare with"))
        other = sr.paths(A, sr.min_plus, sources=sources, **options)
    assert (found.weights == other.weights).all() and (found.predecessors == other.predecessors).all()


def test_numbers_too_large_are_refused_as_those_of_the_closure() -> None:
    A = sp.csr_array((np.array([100, 100], "i1"), ([0, 1], [1, 2])), shape=(3, 3))
    for verb in (sr.closure, sr.paths):
        with pytest.raises(sr.SemiringError, match="a result is 200, which int8 cannot hold"):
            verb(A, sr.min_plus, method="sparse")
