"""What solvers share: dtypes and names of several operands, right-hand sides, answers without a value, and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from semiring.solvers import forms
from semiring.solvers.forms import (
    alike,
    as_python,
    refuse_overflow,
    right_hand_side,
    same_dtype,
    solution,
    told,
    without_library,
)

inf, nan = np.inf, np.nan
PLUS_TIMES = general(sr.plus_times, np.dtype("f8"))
A = np.array([[inf, 3.0], [1.0, inf]])


def named(names: list[str] | None, S: sr.Semiring = sr.min_plus) -> Operand:
    return read(sr.Matrix(A, S, names), S)


# Several operands.


def test_operands_of_one_product_have_one_dtype() -> None:
    a, b = read(A, sr.min_plus, "A"), read(A.astype("f4"), sr.min_plus, "B")
    assert same_dtype(a) == same_dtype(a, a) == np.float64
    for given in ((a, b), (a, a, b), (a, b, a)):
        with pytest.raises(sr.SemiringError, match=r"^A is float64 and B is float32; convert one with \.astype\(…\)$"):
            same_dtype(*given)
    assert same_dtype(a, read(A.astype(">f8"), sr.min_plus, "B")) == np.float64, "byte orders are none of its business"


def test_names_are_alike_where_both_have_the_same_or_none() -> None:
    array, first, other, none = read(A, sr.min_plus), named(["a", "b"]), named(["x", "y"]), named(None)
    graph = read(sr.as_graph([("a", "b", 1.0)]), sr.min_plus)
    for left, right, same in (
        (array, array, True), (first, named(["a", "b"]), True), (first, graph, True), (none, none, True),
        (first, other, False), (first, array, False), (array, none, False), (none, first, False),
    ):
        assert alike(left, right) is same and alike(right, left) is same


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


# Progress.


def test_what_is_reported_ends_with_all() -> None:
    for parts, last in (([0.2, 0.7], 1.0), ([], 1.0), ([0.5, 1.0], 1.0)):
        heard: list[float] = []
        with told(heard.append, "work") as report:
            for part in parts:
                report(part)
        assert heard[: len(parts)] == parts and heard[-1] == last


def test_nobody_is_told_that_what_failed_is_done() -> None:
    heard: list[float] = []
    with pytest.raises(ZeroDivisionError), told(heard.append, "work") as report:
        report(0.5)
        raise ZeroDivisionError
    assert heard == [0.5]


def test_a_bar_or_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []

    @contextmanager
    def bar(what: str, work: float) -> Iterator[Callable[[float], None]]:
        shown.append(what)
        yield shown.append
        shown.append("away")

    monkeypatch.setattr(forms, "bar", bar)
    with told(False, "quiet") as report:
        report(0.5)
    assert not shown
    with told(True, "min-plus closure") as report:
        report(0.5)
    assert shown == ["min-plus closure", 0.5, 1.0, "away"]


def test_numbers_as_pythons() -> None:
    assert type(as_python(np.float32(2))) is float and type(as_python(np.int8(2))) is int
    record = np.zeros(1, "f4,i4")[0]
    assert as_python(record) is record and as_python("text") == "text"
