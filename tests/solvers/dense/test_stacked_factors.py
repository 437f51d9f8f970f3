"""Equations of stacks: as one by one, whichever way they are solved, and errors say which matrix it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from bridge import CASES, ours, same_bits
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr

inf = np.inf
quick = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@quick
@given(case=st.sampled_from([c for c in CASES if c[1].kind != "O"]), data=st.data())
def test_solutions_are_the_oracles(case: Any, data: st.DataObject) -> None:
    """Acyclic matrices, whose closures exist in every algebra; right-hand sides that broadcast, and vectors."""
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    assume(not T.product_only)
    n, leading = data.draw(st.integers(1, 4)), data.draw(st.sampled_from([(1,), (2,), (2, 2)]))
    count = int(np.prod(leading))
    A = np.stack([data.draw(strategies.acyclic(S, dtype, n)) for _ in range(count)]).reshape(*leading, n, n)
    B = data.draw(strategies.matrices(S, dtype, (n, 2)))
    left = data.draw(st.booleans())
    stars = [oracle.closure_by_elimination(S, oracle.from_numpy(S, A[p])) for p in np.ndindex(leading)]
    right = oracle.from_numpy(S, B)
    if left:
        right = oracle.from_numpy(S, np.ascontiguousarray(B.T))
        expected = [oracle.matmul(S, right, star, n) for star in stars]
    else:
        expected = [oracle.matmul(S, star, right, 2) for star in stars]
    assume(all(oracle.fits(S, x, dtype) for x in (*stars, *expected)))
    given_ = np.ascontiguousarray(B.T) if left else B
    found = sr.solve(A, given_, T, left=left)
    assert found.shape == (*leading, *given_.shape) and found.dtype == A.dtype
    vector = sr.solve(A, given_[0] if left else given_[:, 0], T, left=left)
    assert vector.shape == (*leading, n)
    repeated = sr.solve(A, np.broadcast_to(given_, (*leading, *given_.shape)), T, left=left)
    for p, wanted in zip(np.ndindex(leading), expected, strict=True):
        oracle.assert_same(S, wanted, found[p])
        oracle.assert_same(S, wanted, repeated[p])
        line = [wanted[0]] if left else [[row[0]] for row in wanted]
        oracle.assert_same(S, line, vector[p].reshape((1, n) if left else (n, 1)))


@pytest.mark.parametrize(("dtype", "n"), [("f8", 5), ("f8", 140), ("i4", 5), (">f8", 5), ("O", 4)])
def test_factors_of_a_stack_are_those_of_its_matrices(dtype: str, n: int) -> None:
    random = np.random.default_rng(n)
    A, B = (random.integers(1, 9, shape).astype(dtype) for shape in ((2, 3, n, n), (3, n, 2)))
    F = sr.factor(A, sr.min_plus)
    assert isinstance(F, sr.StackedFactors) and F.shape == A.shape and "6 matrices" in repr(F)
    assert F.plan.shape == A.shape and sr.plan("factor", A, sr.min_plus).reasons == F.plan.reasons
    closed, solved = F.closure(), F.solve(B)
    assert closed.dtype == solved.dtype == A.dtype
    for p in np.ndindex(2, 3):
        alone = sr.factor(A[p], sr.min_plus)
        assert same_bits(closed[p], alone.closure()) and same_bits(solved[p], alone.solve(B[p[1]]))
    F.closure()[...] = 0
    assert same_bits(F.closure(), closed), "the factors stay"
    assert F.solve(np.broadcast_to(B[0], (4, 1, 1, n, 2))).shape == (4, 2, 3, n, 2), "of stacks that broadcast"


def test_integers_have_room_on_the_way() -> None:
    """A closure that leaves the dtype, though no solution does."""
    A = np.full((2, 3, 3), np.iinfo("i1").max, "i1")
    A[:, 0, 1] = A[:, 1, 2] = 100
    b = np.array([3, 5, 127], "i1")
    assert sr.solve(A, b, sr.min_plus).tolist() == [sr.solve(A[0], b, sr.min_plus).tolist()] * 2 == [[3, 5, 127]] * 2
    with pytest.raises(sr.SemiringError):
        sr.closure(A, sr.min_plus)


@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_errors_say_which_matrix(dtype: str) -> None:
    A = np.full((2, 2, 2, 2), sr.min_plus.zero_in(dtype), dtype)
    A[1, 0] = [[1, -3], [2, 1]]
    b = np.zeros(2, dtype)
    for call in (
        lambda: sr.factor(A, sr.min_plus), lambda: sr.solve(A, b, sr.min_plus), lambda: sr.paths(A, sr.min_plus),
        lambda: sr.solve(A, b, sr.min_plus, left=True), lambda: sr.paths(A, sr.min_plus, sources=[0]),
    ):
        with pytest.raises(sr.NoClosureError, match=r"matrix \(1, 0\) of the stack") as caught:
            call()
        assert caught.value.index == (1, 0) and caught.value.weight == -1
        assert caught.value.cycle in ([0, 1, 0], [1, 0, 1])
    bad = A.astype("f8")
    bad[0, 1, 0, 0] = np.nan
    with pytest.raises(sr.SemiringError, match=r"A\[0, 1, 0, 0\] is NaN"):
        sr.factor(bad, sr.min_plus)


def test_undefined_stars_of_stacks() -> None:
    A = np.stack([np.zeros((2, 2)), np.eye(2)])
    for call in (lambda: sr.factor(A, sr.plus_times), lambda: sr.solve(A, np.ones(2), sr.plus_times)):
        with pytest.raises(sr.NoClosureError, match=r"matrix 1 of the stack") as caught:
            call()
        assert (caught.value.index, caught.value.cycle) == ((1,), [0, 0])


@pytest.mark.parametrize("n", [0, 3])
def test_no_matrices(n: int) -> None:
    for dtype in ("f8", "i4"):
        A = np.zeros((0, n, n), dtype)
        assert sr.factor(A, sr.min_plus).closure().shape == A.shape
        assert sr.solve(A, np.zeros((n, 2), dtype), sr.min_plus).shape == (0, n, 2)
        assert len(sr.paths(A, sr.min_plus)) == len(sr.paths(A, sr.min_plus, sources=[])) == 0


def test_what_does_not_fit() -> None:
    A = np.zeros((2, 3, 3))
    with pytest.raises(sr.SemiringError, match=r"A of shape \(2, 3, 3\) and B of shape \(2,\) do not fit"):
        sr.solve(A, np.zeros(2), sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"leading axes \(2,\) of A and \(3,\) of B do not broadcast"):
        sr.factor(A, sr.min_plus).solve(np.zeros((3, 3, 1)))
    with pytest.raises(sr.SemiringError, match="A is float64 and B is float32; convert one"):
        sr.solve(A, np.zeros(3, "f4"), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="order is for sparse matrices and graphs on the CPU, and A is a stack"):
        sr.factor(A, sr.min_plus, order="amd")
    with pytest.raises(sr.SemiringError, match="must be a square matrix or a stack of them"):
        sr.factor(np.zeros((2, 3, 4)), sr.min_plus)


@pytest.mark.parametrize("dtype", [">i4", ">f8"])
def test_answers_of_stacks_keep_the_byte_order(dtype: str) -> None:
    A, b = np.ones((2, 3, 3), dtype), np.zeros(3, dtype)
    F, R = sr.factor(A, sr.min_plus), sr.paths(A, sr.min_plus)
    solved = F.solve(b), sr.solve(A, b, sr.min_plus, left=True)
    for found in (*solved, F.closure(), R.weights, sr.closure(A, sr.min_plus)):
        assert found.dtype == np.dtype(dtype) and not found.dtype.isnative


@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_right_hand_sides_of_no_matrices(dtype: str) -> None:
    A = np.ones((1, 2, 2), dtype)
    assert sr.solve(A, np.ones((0, 2, 3), dtype), sr.min_plus).shape == (0, 2, 3)
    assert sr.solve(A, np.ones((0, 3, 2), dtype), sr.min_plus, left=True).shape == (0, 3, 2)
