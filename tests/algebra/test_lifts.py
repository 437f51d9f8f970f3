"""Plain numbers for algebras of records: the same answers as for the records that they stand for, however they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr

inf = np.inf
quick = settings(max_examples=30)
# The algebra, the oracle's, and the record of a number that is written by hand.
LIFTED: list[tuple[sr.Semiring, str, Callable[[float], tuple[float, ...]]]] = [
    (sr.shortest_count, "shortest_count", lambda w: (w, 0.0 if w == inf else 1.0)),
    (sr.shortest_hops, "shortest_hops", lambda w: (w, inf if w == inf else 1.0)),
    (sr.k_best(3), "k_best", lambda w: (w, inf, inf)),
]


@st.composite
def weights(draw: st.DrawFn) -> np.ndarray:
    n = draw(st.integers(1, 6))
    numbers = st.sampled_from([inf, inf, 0.5, 1.0, 1.0, 2.0, 3.0])
    return np.array(draw(st.lists(numbers, min_size=n * n, max_size=n * n))).reshape(n, n)


def forms(A: np.ndarray) -> dict[str, Any]:
    """The same edges in every form that holds numbers."""
    rows, columns = np.nonzero(inf > A)
    names = [f"v{i}" for i in range(len(A))]
    edges = sr.Graph(rows, columns, len(A), weights=A[rows, columns])
    return {
        "array": A, "Fortran order": np.asfortranarray(A), "big-endian": A.astype(">f8"), "single": A.astype("f4"),
        "lists": A.tolist(), "rows": list(A), "masked": np.ma.array(np.where(inf == A, -1, A), mask=inf == A),
        "sparse": sp.csr_array((A[rows, columns], (rows, columns)), shape=A.shape), "edges": edges,
        "coo": sp.coo_array((A[rows, columns], (rows, columns)), shape=A.shape), "frame": pd.DataFrame(A, names, names),
        "matrix": sr.from_dense(np.where(inf == A, 0, A), sr.min_plus).to_sparse(),
    }


@pytest.mark.parametrize(("S", "name", "record"), LIFTED, ids=lambda x: x if isinstance(x, str) else "")
def test_closures_of_numbers_are_those_of_records(S: sr.Semiring, name: str, record: Callable[..., Any]) -> None:
    T = oracle.k_best(3) if name == "k_best" else oracle.ALGEBRAS[name]

    @quick
    @given(A=weights())
    def check(A: np.ndarray) -> None:
        expected = oracle.closure_by_elimination(T, [[record(w) for w in row] for row in A.tolist()])
        for form, given_ in forms(A).items():
            C = np.asarray(sr.closure(given_, S))
            assert C.dtype == S.element_dtype
            assert [[tuple(x) for x in row] for row in C.tolist()] == expected, form

    check()


def test_every_verb_takes_numbers() -> None:
    A, S = np.array([[inf, 1.0, 2.0], [inf, inf, 1.0], [inf, inf, inf]]), sr.shortest_count
    R = sr.from_dense(np.where(inf == A, 0, A), S)
    assert R.dtype == S.element_dtype and (np.asarray(R) == np.asarray(sr.Matrix(A, S))).all()
    M = np.asarray(R)
    assert (sr.matmul(A, A, S) == sr.matmul(M, M, S)).all() and (sr.matmul(A, M, S) == sr.matmul(M, M, S)).all()
    assert (sr.power(A, S, 2) == sr.power(M, S, 2)).all()
    assert (sr.solve(A, A, S) == sr.solve(M, M, S)).all()
    assert (sr.factor(A, S).closure() == sr.closure(M, S)).all()
    weight, walk = sr.path(A, sr.shortest_hops, 0, 2)
    assert tuple(weight) == (2.0, 1.0) and walk == [0, 2]
    assert sr.paths(sp.csr_array(np.where(inf == A, 0, A)), sr.shortest_hops)[0, 2].vertices == [0, 2]
    assert sr.closure(sr.as_graph([(0, 1), (1, 2), (0, 2)]), sr.shortest_hops)[0, 2].tolist() == (1.0, 1.0)
    assert sr.closure(np.stack([A, A]), S)[1, 0, 2].tolist() == (2.0, 2.0)


def test_a_limit_of_integers_is_no_edge() -> None:
    for dtype in ("i1", "i4", "i8", "u2"):
        most = np.iinfo(dtype).max
        A = np.array([[most, 3], [4, most]], dtype)
        assert sr.closure(A, sr.shortest_count)["count"].tolist() == [[1, 1], [1, 1]]
        assert sr.matmul(A, A, sr.shortest_hops)["cost"].tolist() == [[7, inf], [inf, 7]]


@pytest.mark.parametrize(("wrong", "message"), [
    (lambda: sr.closure(np.array([[0.0, np.nan], [1, 1]]), sr.shortest_count), r"A\[0, 1\] is NaN"),
    (lambda: sr.closure(np.array([[0.0, 1], [-1, 1]]), sr.shortest_hops), r"A\[1, 0\] is \(-1, 1\): .*outside"),
    (lambda: sr.closure(sp.csr_array(-np.eye(2)), sr.shortest_hops), r"A\[0, 0\] is \(-1, 1\): .*outside"),
    (lambda: sr.closure(sr.as_graph([("a", "b", -1.0)]), sr.shortest_hops), "edge 0 .*outside"),
    (lambda: sr.closure(np.eye(2), sr.widest_shortest), "works on records"),
    (lambda: sr.closure(np.eye(2).tolist(), sr.widest_shortest), "works on records"),
    (lambda: sr.closure(list(np.eye(2)), sr.widest_shortest), "works on records"),
    (lambda: sr.closure(sp.csr_array(np.eye(2)), sr.widest_shortest), "works on records"),
    (lambda: sr.closure(np.eye(2) * 1j, sr.shortest_count), "not on complex128"),
    (lambda: sr.closure(np.eye(2, dtype=bool), sr.shortest_count), "not on bool"),
])
def test_what_is_no_weight_is_refused_with_its_place(wrong: Callable[[], Any], message: str) -> None:
    with pytest.raises(sr.SemiringError, match=message):
        wrong()


def counted(lift: Any, **more: Any) -> sr.Semiring:
    return sr.Semiring(
        "counted", add=lambda x, y: np.where(x.cost <= y.cost, x, y), zero=(inf, 0), one=(0, 0), lift=lift,
        mul=lambda x, y: (x.cost + y.cost, np.where((x.cost == inf) | (y.cost == inf), 0, x.edges + y.edges)),
        carrier=lambda a: (a.cost >= 0) & (a.edges == 0), **({"fields": {"cost": "f8", "edges": "f8"}} | more),
    )


@pytest.mark.parametrize(("lift", "message"), [
    (3, "lift must be a function of an array of numbers"),
    (lambda w: w, "does not turn numbers into elements"),
    (lambda w: (w, 1, 1), "needs the 2 components"),
    (lambda w: {"cost": w}, "KeyError: 'edges'"),
    (lambda w: (w, 0) if w < inf else (inf, 0), "ValueError: The truth value"),
    (lambda w: (w, "one"), "could not convert"),
    (lambda w: (w, [1, 2, 3]), "could not be broadcast"),
    (lambda w: (w, 1), r"lift returns \(∞, 1\) for ∞ and \(0, 1\) for 0 but never zero, \(∞, 0\)"),
])
def test_lifts_are_checked_where_they_are_declared(lift: Any, message: str) -> None:
    with pytest.raises(sr.SemiringError, match=message):
        counted(lift)


def test_a_component_must_hold_what_a_lift_makes() -> None:
    with pytest.raises(sr.SemiringError, match=r"0\.5 does not fit the component int32"):
        counted(lambda w: (w, np.where(w == inf, 0, 0.5)), fields={"cost": "f8", "edges": "i4"})
    S = counted(lambda w: (w, 0), fields={"cost": "f4", "edges": "i4"})
    assert S.lift is not None and S.lift.absent == inf and sr.min_plus.lift is None
    with pytest.raises(sr.SemiringError, match=r"1e\+300 does not fit the component float32"):
        sr.closure(np.array([[1e300]]), S)
    with pytest.raises(sr.SemiringError, match="NaN is not an element"):
        sr.closure(np.array([[np.nan]]), S)
    with pytest.raises(sr.SemiringError, match="lift= turns numbers into records"):
        sr.Semiring("mine", add=np.minimum, mul=np.add, zero=inf, one=0, lift=lambda w: w)
