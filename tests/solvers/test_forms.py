"""What solvers share: right-hand sides, and answers without a value."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.objects import in_python_integers
from semiring.operands.operand import Operand
from semiring.operands.read import read
from semiring.solvers.forms import refuse_overflow, right_hand_side, solution, without_library

inf, nan = np.inf, np.nan
PLUS_TIMES = general(sr.plus_times, np.dtype("f8"))
A = np.array([[inf, 3.0], [1.0, inf]])


def named(names: list[str] | None, S: sr.Semiring = sr.min_plus) -> Operand:
    return read(sr.Matrix(A, S, names), S)


# Answers without a value.


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("shape", [(), (4,), (3, 4), (2, 3, 4), (0, 4)])
def test_no_nan_comes_out_unsaid(shape: tuple[int, ...], dtype: str) -> None:
    good = np.full(shape, np.finfo(dtype).max, dtype)  # whose sum overflows
    refuse_overflow(PLUS_TIMES, good)
    if not good.size:
        return
    at = tuple(n - 1 for n in shape)
    good[at] = nan
    with pytest.raises(sr.SemiringError) as caught:
        refuse_overflow(PLUS_TIMES, good)
    text = f"plus-times: the result has no value at [{', '.join(map(str, at))}]: on the way numbers leave the range of "
    assert str(caught.value).startswith(text + str(good.dtype))


def test_opposite_infinities_are_a_value_each() -> None:
    refuse_overflow(PLUS_TIMES, np.array([[inf, -inf], [0.0, inf]]))
    with pytest.raises(sr.SemiringError, match=r"at \[1, 0\]"):
        refuse_overflow(PLUS_TIMES, np.array([[inf, -inf], [nan, nan]]))


def test_one_pass_is_enough_with_infinities_of_one_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in logarithms of probabilities, of which many are 0."""
    monkeypatch.setattr("semiring.solvers.forms.is_nan", lambda x: pytest.fail("a second pass"))
    refuse_overflow(PLUS_TIMES, np.array([[1.0, -inf], [-inf, 2.0]]))


def test_where_nan_cannot_stay_nobody_looks() -> None:
    refuse_overflow(general(sr.min_plus, np.dtype("f8")), np.array([[nan]]))
    refuse_overflow(general(sr.gf2, np.dtype("u1")), np.array([[1]], "u1"))


def test_entries_are_named_by_their_places_in_the_matrix() -> None:
    with pytest.raises(sr.SemiringError, match=r"no value at \[7, 2\]"):
        refuse_overflow(PLUS_TIMES, np.array([1.0, nan, nan]), lambda i: (7, 2 * i))


def test_records_have_no_value_where_a_component_has_none() -> None:
    low = general(sr.expectation, sr.expectation.default_dtype)
    answer = np.zeros((2, 2), sr.expectation.default_dtype)
    refuse_overflow(low, answer)
    answer[answer.dtype.names[1]][1, 0] = nan
    with pytest.raises(sr.SemiringError, match=r"^expectation: the result has no value at \[1, 0\]"):
        refuse_overflow(low, answer)


def test_without_the_library_all_else_is_the_same() -> None:
    assert PLUS_TIMES.blas
    low = without_library(PLUS_TIMES)
    assert not low.blas and "numbers overflow" in low.reason and low.storage == PLUS_TIMES.storage
    assert (low.add, low.mul, low.star) == (PLUS_TIMES.add, PLUS_TIMES.mul, PLUS_TIMES.star) and PLUS_TIMES.blas


# Right-hand sides.


@pytest.mark.parametrize("B", [
    np.zeros(2), np.zeros((2, 0)), np.zeros((2, 3))[:, ::-1], [0.0, 1.0], sp.csr_array(np.ones((2, 3))),
    np.zeros(2, ">f8"), np.ma.masked_array([0.0, nan], [False, True]),
], ids=lambda B: type(B).__name__)
def test_right_hand_sides_are_arrays_of_as_many_rows(B: Any) -> None:
    found = right_hand_side(B, read(A, sr.min_plus), np.dtype("f8"))
    assert found.kind == "dense" and found.what == "B" and found.shape == np.shape(B)
    assert found.dtype == np.float64


@pytest.mark.parametrize(("B", "text"), [
    (np.zeros(3), r"^B must have shape \(2,\) or \(2, m\), and has \(3,\)$"), (np.float64(1), "B must have shape"),
    (np.zeros((2, 2, 2)), "B must have shape"), (np.zeros((3, 2)), r"and has \(3, 2\)$"),
    (np.zeros(2, "f4"), "^A is float64 and B is float32; convert one with"), (np.array([0, nan]), r"^B\[1\] is NaN"),
])
def test_right_hand_sides_that_do_not_fit(B: Any, text: str) -> None:
    with pytest.raises(sr.SemiringError, match=text):
        right_hand_side(B, read(A, sr.min_plus), np.dtype("f8"))


def test_a_solution_has_the_names_that_both_have() -> None:
    for left, right, kept in (
        (["a", "b"], ["a", "b"], True), (["b", "a"], ["b", "a"], True), (None, None, True), (None, ["a", "b"], False),
        (["a", "b"], None, False),
    ):
        found = right_hand_side(sr.Matrix(A, sr.min_plus, right), named(left), np.dtype("f8")).wrap(A.copy())
        assert isinstance(found, sr.Matrix) is kept and (not kept or found.names == right)
    moved = right_hand_side(sr.Matrix(A, sr.min_plus, ["b", "a"]), named(["a", "b"]), np.dtype("f8"))
    assert moved.array.tolist() == A[::-1, ::-1].tolist() and moved.wrap(A.copy()).names == ["a", "b"]
    with pytest.raises(sr.GraphError, match="A and B have different vertices: 'a' is in A and not in B"):
        right_hand_side(sr.Matrix(A, sr.min_plus, ["x", "y"]), named(["a", "b"]), np.dtype("f8"))
    array = right_hand_side(sr.Matrix(A, sr.min_plus, ["a", "b"]), read(A, sr.min_plus), np.dtype("f8"))
    assert type(array.wrap(A.copy())) is np.ndarray


def solved(left: Any, right: Any, S: sr.Semiring, low: Lowering, check: bool = True) -> tuple[Any, list[bool]]:
    """A solution by an engine that gives back what is on the right, and whether Python's integers were asked for."""
    asked: list[bool] = []

    def engine(wide: bool) -> tuple[Lowering, Callable[[Any], None]]:
        asked.append(wide)
        return in_python_integers(low, low.empty((1, 1)))[0] if wide else low, lambda X: None

    given = read(left, S)
    return solution(given, right_hand_side(right, given, given.dtype), low, engine, check), asked


def test_a_solution_has_the_shape_of_its_right_hand_side() -> None:
    low = general(sr.min_plus, np.dtype("f8"))
    for B in (np.array([1.0, 2.0]), np.array([[1.0, 5.0, 2.0], [3.0, 4.0, 0.0]]), np.zeros((2, 0))):
        before = B.copy()
        found, asked = solved(A, B, sr.min_plus, low)
        assert asked == [False] and found.shape == B.shape and np.array_equal(found, B)
        assert not np.shares_memory(found, B) and np.array_equal(B, before)


def test_a_solution_without_a_value_is_refused_unless_nobody_looks() -> None:
    def engine(wide: bool) -> tuple[Lowering, Callable[[Any], None]]:
        return PLUS_TIMES, lambda X: X.__setitem__((1, 0), nan)

    given = read(np.zeros((2, 2)), sr.plus_times)
    call = partial(solution, given, right_hand_side(np.zeros(2), given, given.dtype), PLUS_TIMES, engine)
    with pytest.raises(sr.SemiringError, match=r"no value at \[1, 0\]"):
        call(True)
    assert np.isnan(call(False)).tolist() == [False, True]


@pytest.mark.parametrize(("right", "wide"), [
    (5, False), (-5, False), (2**40, False), (2**61, True), (-(2**61), True), (np.iinfo("i8").min, True),
    (np.iinfo("i8").max, False),
])
def test_integers_are_pythons_where_sums_may_leave_the_storage(right: int, wide: bool) -> None:
    """The lowest number stands for −∞, to which nothing in 64 bits is left to be added; the highest is not a number."""
    top = np.iinfo("i8").max
    left = np.array([[top, 3], [top, top]])
    found, asked = solved(left, np.array([right, 0]), sr.min_plus, sr.factor(left, sr.min_plus).plan.lowering)
    assert asked == [wide] and found.tolist() == [right, 0]
