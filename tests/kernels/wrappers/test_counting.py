"""What a counting kernel reports, on a kernel of the test's own that only notes its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.wrappers.counting import Counting

C, A, B, D = np.empty((2, 3)), np.empty((2, 5)), np.empty((5, 3)), np.empty((4, 4))
# Of every operation: what is counted, and its operands.
OPERATIONS: dict[str, tuple[int, tuple[np.ndarray, ...]]] = {
    "multiply_add": (2 * 3 * 5, (C, A, B)),
    "multiply": (2 * 3 * 5, (C, A, B)),
    "left": (4 * 4 * 7, (D, np.empty((4, 7)))),
    "right": (7 * 4 * 4, (np.empty((7, 4)), D)),
    "close": (4**3, (D,)),
    "close_stack": (6 * 4**3, (np.empty((6, 4, 4)),)),
}


class Noted:
    """Any operation is noted, and answers with its name."""

    tile = 12

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Callable[..., str]:
        def operation(*operands: Any) -> str:
            self.calls.append((name, *map(id, operands)))
            return name

        return operation


@contextmanager
def bar(reports: list[float]) -> Iterator[Callable[[float], None]]:
    yield reports.append


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_done_once_and_its_terms_counted(name: str) -> None:
    (terms, operands), kernel, reports = OPERATIONS[name], Noted(), []
    counting = Counting(kernel, 10_000, reports.append)
    answer = getattr(counting, name)(*operands)
    assert kernel.calls == [(name, *map(id, operands))]
    assert answer == (name if name.startswith("close") else None)
    assert reports == [terms / 10_000]
    getattr(counting, name)(*operands)
    assert reports[1] == 2 * terms / 10_000


def test_what_is_not_counted_is_handed_on() -> None:
    kernel, reports = Noted(), []
    counting = Counting(kernel, 100, reports.append)
    assert counting.tile == 12
    assert counting.assign(A, A) == "assign"
    assert kernel.calls == [("assign", id(A), id(A))] and not reports


@pytest.mark.parametrize("work", [0, 1, 29])
def test_no_more_than_all_the_work_is_ever_reported(work: int) -> None:
    """Schedules estimate their work, and a matrix without rows has none."""
    reports: list[float] = []
    counting = Counting(Noted(), work, reports.append)
    counting.multiply(C[:0], A[:0], B)
    assert reports == [0]
    counting.multiply(C, A, B)
    assert reports == [0, 1]


def test_a_kernel_that_fails_has_done_nothing() -> None:
    class Failing(Noted):
        def close(self, D: Any) -> int:
            raise ValueError("no star")

    reports: list[float] = []
    counting = Counting(Failing(), 100, reports.append)
    with pytest.raises(ValueError, match="no star"):
        counting.close(D)
    assert not reports


class TestUnderABar:
    def test_at_the_end_all_is_done(self) -> None:
        reports: list[float] = []
        with Counting.under(bar(reports), Noted(), 60) as kernel:
            kernel.multiply(C, A, B)
            assert reports == [0.5]
        assert reports == [0.5, 1]

    def test_the_end_is_told_once(self) -> None:
        reports: list[float] = []
        with Counting.under(bar(reports), Noted(), 30) as kernel:
            kernel.multiply(C, A, B)
        assert reports == [1]

    def test_work_that_was_broken_off_is_not_called_done(self) -> None:
        reports: list[float] = []
        with pytest.raises(KeyboardInterrupt), Counting.under(bar(reports), Noted(), 60) as kernel:
            kernel.multiply(C, A, B)
            raise KeyboardInterrupt
        assert reports == [0.5]


@pytest.mark.parametrize("progress", [False, lambda share: None], ids=["quiet", "progress"])
def test_stacks_of_objects_are_closed_with_a_progress_bar_too(progress: Any) -> None:
    stack = np.array([[["", "a"], ["b", ""]]] * 2, object)
    stack = np.frompyfunc(lambda text: sr.letter(text) if text else sr.regex.zero, 1, 1)(stack)
    closed = sr.closure(stack, sr.regex, progress=progress)
    assert str(closed[0, 0, 1]) == str(closed[1, 0, 1]) == str(sr.closure(stack[0], sr.regex)[0, 1])
