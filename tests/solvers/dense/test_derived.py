"""Closures of which some may not exist, and equations whose unknowns stand on the left.

The closures that exist are as if each was alone; solutions are compared with B A* of the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import CASES, ours, same_bits
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from methods import METHODS

import semiring as sr
from semiring.operands.convert import as_sparse
from semiring.operands.read import read

inf = np.inf
quick = settings(max_examples=40, suppress_health_check=list(HealthCheck))
STACKS: dict[str, tuple[sr.Semiring, str, list[Any]]] = {
    "min-plus": (sr.min_plus, "f8", [inf, inf, -1.0, 0.0, 1.0, 2.0]),
    "integers": (sr.min_plus, "i4", [2**31 - 1, -1, 0, 1, 2]),
    "halves": (sr.min_plus, "f2", [inf, inf, -1.0, 0.0, 1.0]),
    "max-times": (sr.max_times, "f8", [0.0, 0.5, 1.0, 2.0]),
    "modulo 2": (sr.gf2, "u1", [0, 0, 1]),
    "fractions": (sr.plus_times, "O", [Fraction(0), Fraction(0), Fraction(1), Fraction(1, 2)]),
    "no cycle improves": (sr.max_min, "f8", [-inf, 1.0, 2.0]),
}


def alone(A: np.ndarray, S: sr.Semiring, **options: Any) -> np.ndarray | None:
    try:
        return sr.closure(A, S, **options)
    except sr.NoClosureError:
        return None


@pytest.mark.parametrize("name", STACKS)
def test_each_matrix_is_closed_as_if_it_were_alone(name: str) -> None:
    S, dtype, elements = STACKS[name]
    methods = [m for m in METHODS if m != "squaring" or S.has_unit_stars]

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        leading = data.draw(st.sampled_from([(1,), (3,), (2, 2), (0,)]))
        n = data.draw(st.integers(0, 4))
        shape = (*leading, n, n)
        size = int(np.prod(shape))
        A = np.empty(size, dtype)
        A[...] = data.draw(st.lists(st.sampled_from(elements), min_size=size, max_size=size))
        A = A.reshape(shape)
        options: dict[str, Any] = {
            "method": data.draw(st.sampled_from(methods)), "reflexive": data.draw(st.booleans()),
            "tile": data.draw(st.sampled_from([None, 1, 2])),
        }
        before = A.copy()
        found = sr.closure(A, S, on_divergence="mask", **options)
        assert same_bits(A, before) and found.exists.shape == leading and found.values.dtype == A.dtype
        again = sr.closure(A.copy(), S, on_divergence="mask", overwrite=True, **options)
        assert np.array_equal(again.exists, found.exists) and same_bits(again.values, found.values)
        for place in np.ndindex(leading):
            expected = alone(A[place], S, **options)
            assert found.exists[place] == (expected is not None)
            zeros = np.full((n, n), S.zero_in(A.dtype), A.dtype)
            assert same_bits(found.values[place], zeros if expected is None else expected)

    check()


@pytest.mark.parametrize("n", [5, 140])
def test_rounding_in_one_matrix_and_a_cycle_in_another(n: int) -> None:
    """The first has to be computed anew, in which rounding errors do not grow; the second stays without a closure."""
    random = np.random.default_rng(n)
    height = random.normal(size=n)
    A = np.stack([height[:, None] - height] * 3)
    A[1, 0, 1] -= 1
    for overwrite in (False, True):
        found = sr.closure(A.copy(), sr.min_plus, on_divergence="mask", overwrite=overwrite)
        assert found.exists.tolist() == [True, False, True]
        assert np.isinf(found.values[1]).all()
        assert (found.values[[0, 2]].diagonal(0, 1, 2) == 0).all()
        assert np.allclose(found.values[[0, 2]], A[[0, 2]], rtol=0, atol=1e-12)


MAKE: dict[str, Callable[[np.ndarray], Any]] = {
    "array": np.asarray, "sparse": lambda A: sp.csr_array(np.where(np.isinf(A), 0, A)),
    "matrix": lambda A: sr.Matrix(A, sr.min_plus, ["a", "b"]), "prepared": lambda A: sr.prepare(A, sr.min_plus),
}


@pytest.mark.parametrize("what", MAKE)
def test_one_matrix_of_any_kind(what: str) -> None:
    good, bad = np.array([[inf, 3.0], [-2.0, inf]]), np.array([[inf, 3.0], [-4.0, inf]])
    found = sr.closure(MAKE[what](good), sr.min_plus, on_divergence="mask")
    expected = sr.closure(MAKE[what](good), sr.min_plus)
    assert found.exists is np.True_ and type(found.values) is type(expected)
    assert same_bits(np.asarray(found.values), np.asarray(expected))
    values, exists = sr.closure(MAKE[what](bad), sr.min_plus, on_divergence="mask")
    assert not exists and exists.shape == () and type(values) is type(expected)
    assert np.isinf(np.asarray(values)).all()
    if what == "matrix":
        assert values.names == ["a", "b"]


def test_bits_always_have_a_closure() -> None:
    found = sr.closure(sr.pack([(0, 1), (1, 0)]), sr.boolean, on_divergence="mask")
    assert found.exists and found.values.count() == 4


def test_walks_of_few_edges_always_have_a_best() -> None:
    A = np.array([[[-1.0]], [[2.0]]])
    found = sr.closure(A, sr.min_plus, on_divergence="mask", max_edges=3)
    assert found.exists.tolist() == [True, True] and found.values.ravel().tolist() == [-3, 0]


def test_the_plan_is_that_of_the_closure() -> None:
    A = np.zeros((4, 3, 3))
    assert sr.plan("closure", A, sr.min_plus, on_divergence="mask").method == sr.plan("closure", A, sr.min_plus).method
    assert sr.plan("closure", A, sr.min_plus, on_divergence="mask").run().exists.all()
    with pytest.raises(sr.SemiringError, match="on_divergence must be 'raise' or 'mask', and is 'ignore'"):
        sr.closure(A, sr.min_plus, on_divergence="ignore")


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


@settings(max_examples=80)
@given(st.sampled_from([c for c in CASES if c[1].kind != "O"]), st.data(), st.booleans(), st.sampled_from([None, 0, 3]))
def test_factors_solve_from_both_sides(case: Any, data: st.DataObject, sparse: bool, rows: int | None) -> None:
    """Over the same factors; numbers that do not round are those of equations solved alone."""
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    assume(not T.product_only)
    A = data.draw(strategies.acyclic(S, dtype, data.draw(st.integers(0, 9))))
    B = data.draw(strategies.matrices(S, dtype, (1 if rows is None else rows, len(A))))
    star = oracle.closure_by_elimination(S, oracle.from_numpy(S, A))
    expected = oracle.matmul(S, oracle.from_numpy(S, B), star, len(A))
    assume(oracle.fits(S, star, dtype) and oracle.fits(S, expected, dtype))
    F, right = sr.factor(as_sparse(read(A, T)) if sparse else A, T), B[0] if rows is None else B
    found = F.solve(right, left=True)
    assert found.shape == right.shape and (sparse or found.dtype == right.dtype)  # `as_sparse` aligns records
    oracle.assert_same(S, expected, found.reshape(B.shape))
    with pytest.raises(sr.SemiringError, match=r"B must have shape \(\d+,\) or \(m, \d+\)"):
        F.solve(np.zeros(len(A) + 1, A.dtype), left=True)


def test_where_factors_do_not_commute() -> None:
    a, b, c = map(sr.letter, "abc")
    nothing = sr.regex.zero
    G = sr.Graph(np.array([0, 1, 1]), np.array([1, 2, 1]), 3, np.array([a, b, c], object))
    found = sr.solve(G, np.array([sr.letter("x"), nothing, nothing], object), sr.regex, left=True)
    assert list(map(str, found)) == ["x", "xac*", "xac*b"]
    assert sr.plan("solve", G, found, sr.regex, left=True).method == "sparse elimination", "without A*"


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


def test_a_matrix_in_a_file_solves_from_the_left(tmp_path: Path) -> None:
    A, B = np.array([[inf, 1.0], [5.0, inf]]), np.array([0.0, 2.0])
    np.save(tmp_path / "a.npy", A)
    for left in (False, True):
        found = sr.solve(tmp_path / "a.npy", B, sr.min_plus, left=left)
        assert np.array_equal(found, sr.solve(A, B, sr.min_plus, left=left))


@pytest.mark.parametrize("S", [sr.log, sr.min_plus, sr.plus_times], ids=lambda S: S.name)
@pytest.mark.parametrize("k", [0, 1, 2])
def test_powers_without_a_product_look_at_elements_too(S: sr.Semiring, k: int) -> None:
    A = np.full((23, 23), -3.0) if S is sr.log else np.full((23, 23), 3.0)
    A[0, 19] = np.nan
    for whole in (A, np.stack([A, A])):
        with pytest.raises(sr.SemiringError, match="is NaN"):
            sr.power(whole, S, k)
