"""When 16 bits are tried, and what follows if they are too few; NumPy's arrays stand in for a GPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.facts import DeviceFacts, Facts
from semiring.operands.dense import Dense
from semiring.operands.device import Device
from semiring.solvers.dense import narrow
from semiring.solvers.dense.narrow import offer
from semiring.solvers.plan import Plan
from semiring.solvers.task import Declined, Task, options

LARGE = narrow.SATURATING_VERTICES
SMALL = DeviceFacts(largest=100, least=0)
MANY = DeviceFacts(largest=100, least=-100)


class There(Device):
    """An array of which is known what a GPU would find."""

    known: Facts = SMALL

    @property
    def facts(self) -> Facts:  # type: ignore[override]
        return self.known


def there(S: sr.Semiring, shape: tuple[int, ...], dtype: str, known: Facts = SMALL, **more: Any) -> There:
    """Of as many elements as wanted, of which nothing is stored."""
    given = There(np.broadcast_to(np.ones((), dtype), shape), S, **more)
    given.known = known
    return given


def closing(S: sr.Semiring, shape: tuple[int, ...], dtype: str, known: Facts = SMALL, **asked: Any) -> Plan | None:
    return offer(Task("closure", S, (there(S, shape, dtype, known),), options(**asked)))


def multiplying(
    S: sr.Semiring, a: tuple[int, ...], b: tuple[int, ...], dtype: str = "f4", other: str | None = None, **asked: Any
) -> Plan | None:
    given = there(S, a, dtype), there(S, b, other or dtype)
    return offer(Task("matmul", S, given, options(**asked), (None,)))


@pytest.mark.parametrize(("S", "n", "dtype", "known", "tried"), [
    (sr.min_plus, LARGE, "i4", SMALL, True), (sr.min_plus, LARGE - 1, "i4", SMALL, False),
    (sr.min_plus, LARGE, "i4", MANY, False), (sr.min_plus, LARGE, "f4", SMALL, False),
    (sr.max_min, LARGE, "f4", MANY, True), (sr.min_max, LARGE, "f8", MANY, True),
    (sr.max_min, 5000, "f4", MANY, False), (sr.max_min, LARGE, "f2", MANY, False),
    (sr.plus_times, LARGE, "f4", MANY, False), (sr.viterbi, LARGE, "f4", SMALL, False),
    (sr.max_min, 0, "f4", MANY, False), (sr.max_min, 2000, "f8", MANY, True), (sr.max_min, 1700, "i8", MANY, False),
    (sr.max_min, 0, "f8", MANY, False), (sr.plus_times, 4000, "f8", MANY, False),
])
def test_closures_of_few_or_small_values(S: sr.Semiring, n: int, dtype: str, known: Facts, tried: bool) -> None:
    plan = closing(S, (n, n), dtype, known)
    assert (plan is not None) is tried
    if plan is not None:
        wide = dtype == "f8"
        assert (plan.operation, plan.shape, plan.work) == ("closure", (n, n), float(n) ** 3)
        assert plan.method == ("ranks" if wide else "16 bits")
        assert plan.lowering.on_gpu and plan.memory >= 2 * n * n
        assert ("16 bits or 32" if wide else "tried first") in plan.reasons["method"]


@pytest.mark.parametrize("asked", [
    {"check": False}, {"reflexive": False}, {"method": "r-kleene"}, {"tile": 64},
])
def test_closures_that_are_asked_for_in_another_way(asked: dict[str, Any]) -> None:
    assert closing(sr.max_min, (LARGE, LARGE), "f4", MANY) is not None
    assert closing(sr.max_min, (LARGE, LARGE), "f4", MANY, **asked) is None
    assert closing(sr.max_min, (1, LARGE, LARGE), "f4", MANY) is None, "nor are stacks"


def test_a_closure_of_truth_values_is_left_to_bits() -> None:
    assert closing(sr.max_min, (LARGE, LARGE), "f4", DeviceFacts(two_valued=True, least=np.inf)) is None


@pytest.mark.parametrize(("a", "b", "tried"), [
    ((10, 10), (10, 10), True), ((50, 20), (20, 1), True), ((999, 1), (1, 1), False), ((9, 10), (10, 11), False),
    ((10, 11), (10, 11), False), ((100, 100), (100,), False), ((2, 30, 30), (30, 30), False), ((0, 30), (30, 0), False),
])
def test_products_from_a_least_work_on(
    a: tuple[int, ...], b: tuple[int, ...], tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narrow, "RANKED_WORK", 1000.0)
    plan = multiplying(sr.max_min, a, b)
    assert (plan is not None) is tried
    if plan is not None:
        assert (plan.operation, plan.shape, plan.method) == ("matmul", (a[0], b[1]), "16 bits")
        assert plan.work == float(a[0]) * a[1] * b[1]


@pytest.mark.parametrize(("a", "b", "tried"), [
    ((2000, 2000), (2000, 2000), True), ((1000, 2000), (2000, 1000), False), ((10**6, 100), (100, 100), False),
    ((4000, 1400), (1400, 4000), True), ((10**6, 1000), (1000, 1000), True),
])
def test_wide_values_are_sorted_where_each_has_work_enough(
    a: tuple[int, ...], b: tuple[int, ...], tried: bool
) -> None:
    plan = multiplying(sr.max_min, a, b, "f8")
    assert (plan is not None and plan.method == "ranks") is tried
    assert multiplying(sr.min_plus, a, b, "f8") is None


def test_products_that_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "RANKED_WORK", 1000.0)
    shape = (20, 20)
    assert multiplying(sr.max_min, shape, shape) is not None
    assert multiplying(sr.max_min, shape, shape, check=False) is None
    assert multiplying(sr.max_min, shape, shape, "f4", "f8") is None
    assert multiplying(sr.min_plus, shape, shape) is None, "sums have no ranks"
    given = there(sr.max_min, shape, "f4"), there(sr.max_min, shape, "f4")
    task = Task("matmul", sr.max_min, (*given, there(sr.max_min, shape, "f4")), options(), (None,))
    assert offer(task) is None, "nothing is accumulated into"
    task = Task("matmul", sr.max_min, given, options(), (None,))
    task.operands = [given[0], Dense(given[1].array, sr.max_min)]
    assert offer(task) is None, "both have to be there"


# How it is done.


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the two ways answer, and which was asked."""
    given: dict[str, Any] = {"short": True, "asked": []}

    def way(name: str) -> Any:
        def close(*arguments: Any) -> Any:
            given["asked"].append(name)
            return given.get(name)

        return close

    monkeypatch.setattr(narrow, "saturates", lambda S, A, facts: given["short"])
    monkeypatch.setattr(narrow, "saturating_closure", way("saturating"))
    monkeypatch.setattr(narrow, "ranked_closure", way("ranks"))
    monkeypatch.setattr(narrow, "ranked_product", way("product"))
    monkeypatch.setattr(narrow, "RANKED_WORK", 1.0)
    monkeypatch.setattr(narrow, "SATURATING_VERTICES", 1)
    return given


def small(**asked: Any) -> tuple[np.ndarray, Plan]:
    array = np.zeros((2, 2), "i4")
    given = There(array, sr.min_plus)
    plan = offer(Task("closure", sr.min_plus, (given,), options(**asked)))
    assert plan is not None
    return array, plan


@pytest.mark.parametrize("short", [True, False])
def test_distances_that_are_short_go_by_saturating_sums_and_all_else_by_ranks(
    short: bool, answers: dict[str, Any]
) -> None:
    answers["short"] = short
    name = "saturating" if short else "ranks"
    answers[name] = np.full((2, 2), 7, "i4")
    array, plan = small()
    assert plan.run() is answers[name] and answers["asked"] == [name] and not array.any()


def test_what_does_not_fit_is_left_to_another(answers: dict[str, Any]) -> None:
    for _ in range(2):
        with pytest.raises(Declined):
            small()[1].run()
        answers["short"] = False
    assert answers["asked"] == ["saturating", "ranks"]
    plan = multiplying(sr.max_min, (3, 3), (3, 3))
    with pytest.raises(Declined):
        plan.run()  # type: ignore[union-attr]


def test_an_array_that_may_be_overwritten_is(answers: dict[str, Any]) -> None:
    answers["saturating"] = np.full((2, 2), 7, "i4")
    array, plan = small(overwrite=True)
    assert plan.run() is array and (array == 7).all()
    frozen, plan = small(overwrite=True)
    frozen.flags.writeable = False
    assert plan.run() is answers["saturating"] and not frozen.any()
