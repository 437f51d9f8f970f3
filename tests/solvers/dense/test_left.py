"""Equations whose unknowns stand on the left, against B A* of the oracle, over algebras that commute and others."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import CASES, ours
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.operands.convert import as_sparse
from semiring.operands.read import read

inf = np.inf


@settings(max_examples=60)
@given(st.sampled_from([c for c in CASES if c[1].kind != "O"]), st.data(), st.booleans(), st.sampled_from([None, 1, 3]))
def test_solutions_are_the_oracles(case: Any, data: st.DataObject, sparse: bool, rows: int | None) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    assume(not T.product_only)
    A = data.draw(strategies.acyclic(S, dtype, data.draw(st.integers(0, 5))))
    B = data.draw(strategies.matrices(S, dtype, (rows or 1, len(A))))
    star = oracle.closure_by_elimination(S, oracle.from_numpy(S, A))
    expected = oracle.matmul(S, oracle.from_numpy(S, B), star, len(A))
    assume(oracle.fits(S, star, dtype) and oracle.fits(S, expected, dtype))
    right = B[0] if rows is None else B
    found = sr.solve(as_sparse(read(A, T)) if sparse else A, right, T, left=True)
    assert found.shape == right.shape
    oracle.assert_same(S, expected, found.reshape(B.shape))


def test_where_factors_do_not_commute() -> None:
    a, b, c = map(sr.letter, "abc")
    nothing = sr.regex.zero
    G = sr.Graph(np.array([0, 1, 1]), np.array([1, 2, 1]), 3, np.array([a, b, c], object))
    found = sr.solve(G, np.array([sr.letter("x"), nothing, nothing], object), sr.regex, left=True)
    assert list(map(str, found)) == ["x", "xac*", "xac*b"]
    reason = sr.plan("solve", G, found, sr.regex, left=True).reasons["method"]
    assert reason == "⊗ does not commute: A*, and a product with B"


def test_kinds_and_names() -> None:
    M = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0), ("c", "a", 1.0)], sr.min_plus)
    found = sr.solve(M, M, sr.min_plus, left=True)
    assert isinstance(found, sr.Matrix) and found.names == M.names
    assert np.array_equal(found, sr.closure(M, sr.min_plus, reflexive=False))
    b = np.array([0, inf, inf])
    for A in (M, M.array, sp.csr_array(([3.0, 4, 1], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))):
        row = sr.solve(A, b, sr.min_plus, left=True)
        assert type(row) is np.ndarray and row.tolist() == [0, 3, 7]
    swapped = M.array.astype(">f8")
    assert sr.solve(swapped, b, sr.min_plus, left=True).dtype == ">f8"
    P = sr.pack(np.isfinite(M.array))
    assert sr.solve(P, np.array([True, False, False]), sr.boolean, left=True).tolist() == [True] * 3


def test_a_cycle_is_named_in_its_own_direction() -> None:
    M = sr.adjacency([("a", "b", 3.0), ("b", "c", -4.0), ("c", "a", -1.0)], sr.min_plus)
    for A in (M, sr.as_graph([("a", "b", 3.0), ("b", "c", -4.0), ("c", "a", -1.0)])):
        with pytest.raises(sr.NoClosureError, match="of weight -2 is improving") as caught:
            sr.solve(A, np.zeros(3), sr.min_plus, left=True)
        cycle = caught.value.cycle
        assert "".join(cycle[:-1]) in "abcab" and cycle[0] == cycle[-1] == caught.value.vertex


def test_what_does_not_fit() -> None:
    A = np.array([[inf, 1.0], [1.0, inf]])
    for shape in ((3,), (2, 3), (1, 2, 2)):
        with pytest.raises(sr.SemiringError, match=r"B must have shape \(2,\) or \(m, 2\), and has"):
            sr.solve(A, np.zeros(shape), sr.min_plus, left=True)
    with pytest.raises(sr.SemiringError, match="A is float64 and B is float32"):
        sr.solve(A, np.zeros(2, "f4"), sr.min_plus, left=True)
    with pytest.raises(sr.SemiringError, match=r"B\[1\] is NaN"):
        sr.solve(A, np.array([0, np.nan]), sr.min_plus, left=True)
    with pytest.raises(sr.SemiringError, match="left must be True or False"):
        sr.solve(A, np.zeros(2), sr.min_plus, left="yes")  # type: ignore[arg-type]


def test_errors_of_stacks_call_operands_by_their_names() -> None:
    A = np.zeros((3, 4, 4))
    with pytest.raises(sr.SemiringError, match=r"^B of shape \(4, 2\) and A of shape \(3, 4, 4\) do not fit: "
                       "B has 2 columns, A has 4 rows$"):
        sr.solve(A, np.zeros((4, 2)), sr.min_plus, left=True)
    with pytest.raises(sr.SemiringError, match=r"^leading axes \(2,\) of B and \(3,\) of A do not broadcast$"):
        sr.solve(A, np.zeros((2, 4, 4)), sr.min_plus, left=True)
