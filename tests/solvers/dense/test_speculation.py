"""Guesses that a call is like an earlier one: what is remembered, and when an answer is dropped.

NumPy stands in for CuPy, and the kernels for themselves: what they find is the test's to say.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import semiring as sr
import semiring.solvers.dense as package
from semiring.kernels.cuda.choose import choose, general_on_device, packed_on_device
from semiring.kernels.cuda.compile.geometry import LARGEST_STACKED
from semiring.kernels.cuda.dense.exchange import IMPROVED, LEAVES, NOT_A_NUMBER, OTHER, OUTSIDE, SEEN_ORDER, UNDEFINED
from semiring.kernels.facts import DeviceFacts
from semiring.kernels.lowering.general import general
from semiring.operands.device import Device
from semiring.solvers.plan import Plan, nothing
from semiring.solvers.task import Declined, Task, options

NAME = "semiring.solvers.dense.speculation"
KNOWN = DeviceFacts(largest=100, least=0)
LOW = choose(sr.min_plus, np.dtype("i4"), KNOWN, 3, in_place=False)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module, which needs CuPy to be loaded; as it was before is as it is afterwards."""
    monkeypatch.setitem(sys.modules, "cupy", np)
    before = sys.modules.pop(NAME, None)
    try:
        found = import_module(NAME)
        monkeypatch.setattr(found, "begin_call", lambda *_: None)  # compiles ahead, which needs a GPU
        yield found
    finally:
        del sys.modules[NAME]
        if before is None:
            del package.speculation  # type: ignore[attr-defined]
        else:
            sys.modules[NAME] = package.speculation = before  # type: ignore[attr-defined]


def there(S: sr.Semiring, shape: tuple[int, ...], dtype: str) -> Device:
    """Of as many elements as wanted, of which nothing is stored."""
    return Device(np.broadcast_to(np.zeros((), dtype), shape), S)


def closing(n: int | tuple[int, ...], S: sr.Semiring = sr.min_plus, dtype: str = "i4", **asked: Any) -> Task:
    shape = (n, n) if isinstance(n, int) else n
    return Task("closure", S, (there(S, shape, dtype),), options(**asked))


def multiplying(
    a: tuple[int, ...], b: tuple[int, ...], dtype: str = "i4", out: Any = None, more: int = 0, **asked: Any
) -> Task:
    given = [there(sr.min_plus, a, dtype), there(sr.min_plus, b, dtype)]
    return Task("matmul", sr.min_plus, given + given[:1] * more, options(**asked), (out,))


def done(verb: str = "closure", method: str | None = None, low: Any = LOW) -> Plan:
    """How a call was done."""
    method = method or {"closure": "floyd-warshall", "matmul": "tiled product"}[verb]
    return Plan(
        operation=verb, algebra=low.algebra, shape=(3, 3), method=method, lowering=low, work=27.0, memory=0,
        runner=nothing,
    )


def remember(module: ModuleType, task: Task, **how: Any) -> bool:
    """Offer a call for the first time, and tell who asked how it was done; whether anyone did."""
    assert module.offer(task) is None
    for told in task.observers:
        told(done(task.verb, **how))
    return bool(task.observers)


# What is remembered.


def test_a_call_like_an_earlier_one_is_guessed(module: ModuleType) -> None:
    assert remember(module, closing(3))
    plan = module.offer(closing(3))
    assert (plan.operation, plan.method, plan.shape, plan.work) == ("closure", "as before", (3, 3), 27)
    assert plan.lowering is LOW and plan.memory == 0
    assert "if its data differ, another plan runs" in plan.reasons["method"]
    assert module.offer(closing(3, device="gpu")) is not None, "where does not matter"
    assert remember(module, multiplying((3, 5), (5, 2)))
    plan = module.offer(multiplying((7, 4), (4, 9)))
    assert (plan.operation, plan.shape, plan.work) == ("matmul", (7, 9), 7 * 4 * 9), "of whatever shape"


def test_another_kind_of_call_is_a_first_one(module: ModuleType) -> None:
    assert remember(module, closing(3))
    for other in (closing(4), closing(3, dtype="i8"), closing(3, sr.max_plus), closing((2, 3, 3)),
                  multiplying((3, 3), (3, 3))):
        assert module.offer(other) is None and other.observers


@pytest.mark.parametrize("task", [
    partial(closing, 3, check=False), partial(closing, 3, reflexive=False), partial(closing, 3, overwrite=True),
    partial(closing, 3, method="r-kleene"), partial(closing, 3, tile=2), partial(closing, 3, progress=True),
    partial(multiplying, (3, 3), (3, 3), check=False), partial(multiplying, (3, 3), (3, 3), out=np.empty((3, 3))),
    partial(multiplying, (3, 3), (3, 3), more=1),
])
def test_what_is_asked_in_another_way_is_neither_guessed_nor_remembered(module: ModuleType, task: Any) -> None:
    remember(module, closing(3))
    remember(module, multiplying((3, 3), (3, 3)))
    made = task()
    assert module.offer(made) is None and not made.observers


@pytest.mark.parametrize(("task", "kept"), [
    (closing(1144), True), (closing(1145), False), (closing(0), False), (closing((5, 0, 0)), False),
    (closing((10**6, LARGEST_STACKED, LARGEST_STACKED)), True),
    (closing((2, LARGEST_STACKED + 1, LARGEST_STACKED + 1)), False), (closing((2, 2, 3, 3)), False),
    (multiplying((2000, 2000), (2000, 1000), "f8"), True), (multiplying((2000, 2000), (2000, 1001), "f8"), False),
    (multiplying((3, 0), (0, 3)), False), (multiplying((3, 3), (3, 0)), False),
    (multiplying((3, 3), (3,)), True), (multiplying((2, 3, 3), (3, 3)), True),
])
def test_only_little_work_that_is_some_is_worth_a_guess(module: ModuleType, task: Task, kept: bool) -> None:
    task.observers.clear()
    assert remember(module, task) is kept
    task.observers.clear()
    assert (module.offer(task) is not None) is kept


def test_a_large_product_of_integers_is_not_guessed_but_tells_the_form_of_others(module: ModuleType) -> None:
    large = ((2000, 2000), (2000, 1001))
    assert remember(module, multiplying(*large)) and module.offer(multiplying(*large)) is None
    assert module.offer(multiplying((3, 3), (3, 3))).method == "one pass"


def test_factors_that_do_not_fit_are_refused_or_left_to_who_refuses_them(module: ModuleType) -> None:
    assert module.offer(multiplying((3, 4), (3, 4))) is None
    remember(module, multiplying((3, 3), (3, 3)))
    for dtype in ("i4", "f8"):
        with pytest.raises(sr.SemiringError, match="do not fit"):
            module.offer(multiplying((3, 4), (3, 4), dtype))


@pytest.mark.parametrize("how", [
    {"method": "r-kleene"}, {"low": packed_on_device(sr.boolean, np.dtype(bool))},
    {"low": general(sr.min_plus, np.dtype("f8"))}, {"low": general_on_device(sr.gcd_lcm, np.dtype("i4"))},
], ids=["by blocks", "bits", "on the host", "multiples"])
def test_calls_that_were_done_in_another_way_are_not_remembered(module: ModuleType, how: dict[str, Any]) -> None:
    assert remember(module, closing(3), **how)
    assert module.offer(closing(3)) is None


def test_so_many_kinds_are_remembered_and_the_oldest_goes(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED_KINDS", 3)
    for n in (1, 2, 3, 4):
        remember(module, closing(n))
    assert [module.offer(closing(n)) is not None for n in (1, 2, 3, 4)] == [False, True, True, True]


# What is made of a guess.


class Launches:
    """The kernels of a lowering: they write sevens, and find what the test prescribes."""

    def __init__(self, flags: int = 0, facts: DeviceFacts = KNOWN):
        self.flags, self.facts, self.ran = flags, facts, list[str]()
        self.closure = SimpleNamespace(has_graph=lambda n: False)
        self.as_they_lie = True  # whether a pass reads its operands without views

    def close_small(self, given: np.ndarray, result: np.ndarray) -> None:
        self.ran.append("close")
        result[...] = 7

    def close_seen(self, given: np.ndarray, result: np.ndarray, found: Any) -> None:
        self.ran.append("close and look")
        result[...] = 7

    def straight(self, shape: Any, C: np.ndarray, A: np.ndarray, B: np.ndarray, found: Any) -> bool:
        assert shape[1:] == (*A.shape, B.shape[1])
        self.ran.append("straight")
        if self.as_they_lie:
            C[...] = 7
        return self.as_they_lie

    def one_pass(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, found: Any) -> None:
        assert C.ndim == A.ndim == B.ndim == 3
        self.ran.append("stacks")
        C[...] = 7

    def thin(self, fits: Any) -> Any:
        """The kernels of small and thin products, which are for shapes that fit."""

        class Thin:
            straight = staticmethod(self.straight)
            __call__ = staticmethod(self.one_pass)

        made = Thin()
        made.fits = fits  # type: ignore[attr-defined]
        return made

    def multiply(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        self.ran.append("multiply")
        C[...] = 7

    def take_in(self, array: np.ndarray, work: np.ndarray, found: Any) -> None:
        self.ran.append("in")
        work[...] = array

    def hand_out(self, work: np.ndarray, result: np.ndarray, failed: int, found: Any) -> None:
        self.ran.append("out")
        result[...] = work

    def look_at(self, array: np.ndarray, found: Any, last: bool = False) -> None:
        self.ran.append("look")

    def inspect(self, array: np.ndarray, failed: int, found: Any) -> None:
        self.ran.append("inspect")

    def read(self) -> Any:
        return SimpleNamespace(flags=self.flags, facts=lambda dtype: self.facts)


@pytest.fixture
def launches(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Any:
    thin = module.thin

    def made(flags: int = 0, facts: DeviceFacts = KNOWN) -> Launches:
        found = Launches(flags, facts)
        monkeypatch.setattr(module, "thin", lambda low, looks: found.thin(thin(low, looks).fits))
        monkeypatch.setattr(module, "array_kernel", lambda low: found)
        monkeypatch.setattr(module, "exchange", lambda low: found)
        monkeypatch.setattr(module, "report", lambda: found)
        return found

    return made


def test_data_as_before_give_the_answer(module: ModuleType, launches: Any) -> None:
    ran = launches().ran
    A = np.zeros((3, 3), "i4")
    found = module.closure(LOW, A)
    assert found.dtype == A.dtype and (found == 7).all() and not A.any() and ran == ["in", "close", "out"]
    ran.clear()
    found = module.product(LOW, A, A)
    assert found.dtype == A.dtype and (found == 7).all() and ran == ["in", "in", "multiply", "out"]
    plain = general_on_device(sr.min_plus, np.dtype("f8"))
    B, facts = np.zeros((3, 3)), DeviceFacts(largest=5, least=-5)
    ran = launches(facts=facts).ran
    assert (module.closure(plain, B) == 7).all() and not B.any() and ran == ["close and look"]
    ran.clear()
    for n, expected in ((SEEN_ORDER, ["close and look"]), (SEEN_ORDER + 1, ["look", "close", "inspect"])):
        assert (module.closure(plain, np.zeros((n, n))) == 7).all() and ran == expected
        ran.clear()
    ran.clear()
    assert (module.closure(plain, B[:, ::-1]) == 7).all() and ran == ["in", "close", "out"], "rows are read forwards"
    ran.clear()
    assert (module.product(plain, B, B) == 7).all() and ran == ["look", "look", "multiply"]


@pytest.mark.parametrize("flag", [NOT_A_NUMBER, OUTSIDE, LEAVES, UNDEFINED, IMPROVED])
def test_whatever_is_wrong_the_answer_is_dropped(flag: int, module: ModuleType, launches: Any) -> None:
    launches(flag | OTHER)
    A = np.zeros((3, 3), "i4")
    assert module.closure(LOW, A) is None
    product = module.product(LOW, A, A)
    assert (product is None) is (flag != IMPROVED), "a product has no diagonal to look at"


def test_where_nothing_can_improve_the_diagonal_is_no_matter(module: ModuleType, launches: Any) -> None:
    low = choose(sr.max_min, np.dtype("f8"), KNOWN, 3, in_place=False)
    launches(IMPROVED)
    assert module.closure(low, np.zeros((3, 3))) is not None
    launches(OUTSIDE)
    assert module.closure(low, np.zeros((3, 3))) is None


@pytest.mark.parametrize("facts", [
    DeviceFacts(largest=100, least=-1), DeviceFacts(largest=10**6, least=0), DeviceFacts(largest=2**62, least=0),
    DeviceFacts(largest=100, least=0, low_limit=True),
], ids=["signs", "large", "beyond all integers", "the other infinity"])
def test_data_of_another_kind_are_left_to_a_careful_call(facts: DeviceFacts, module: ModuleType, launches: Any) -> None:
    launches(facts=facts)
    A = np.zeros((3, 3), "i4")
    assert module.closure(LOW, A) is None and module.product(LOW, A, A) is None


def test_a_closure_of_many_launches_is_not_guessed(module: ModuleType, launches: Any) -> None:
    ran = launches().ran
    assert module.closure(LOW, np.zeros((LARGEST_STACKED + 1,) * 2, "i4")) is None and not ran


def test_what_cancels_is_looked_at(module: ModuleType, launches: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pivot that is rounding has a star, and so nothing on the device complains."""
    monkeypatch.setattr("semiring.solvers.dense.fields.to_host", np.asarray)
    for S, dtype in ((sr.plus_times, "f4"), (sr.plus_times, "f8"), (sr.expectation, sr.expectation.element_dtype)):
        low = general_on_device(S, np.dtype(dtype))
        for shape in ((3, 3), (2, 3, 3)):
            remember(module, closing(shape, S, dtype), low=low)
            monkeypatch.setattr(module, "choose", lambda *_, low=low, **__: low)
            made = launches()
            with pytest.raises(Declined):
                module.offer(closing(shape, S, dtype)).run()
            assert remember(module, closing(shape, S, dtype), low=low), "what was wrong once is not guessed again"
            one = S.eye(3, dtype)
            monkeypatch.setattr(made, "close_small", lambda A, X, one=one: X.__setitem__(..., one))
            assert (module.offer(closing(shape, S, dtype)).run() == one).all()


def test_sums_over_log_without_end_are_infinite(
    module: ModuleType, launches: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semiring.solvers.dense.fields.to_host", np.asarray)
    low = general_on_device(sr.log, np.dtype("f8"))
    remember(module, closing(3, sr.log, "f8"), low=low)
    made = launches(facts=DeviceFacts(largest=0, least=0))
    assert (module.offer(closing(3, sr.log, "f8")).run() == 7).all()
    made.close_small = lambda A, X: X.fill(40)  # type: ignore[method-assign]
    assert (module.offer(closing(3, sr.log, "f8")).run() == np.inf).all()


def test_closures_that_are_looked_at_in_another_dtype_are_not_remembered(module: ModuleType) -> None:
    for S in (sr.plus_times, sr.log):
        low = general_on_device(S, np.dtype("f2"))
        if not low.is_identity:
            remember(module, closing(3, S, "f2"), low=low)
            assert module.offer(closing(3, S, "f2")) is None


def test_a_plan_gives_the_answer_or_declines(module: ModuleType, launches: Any) -> None:
    remember(module, closing(3))
    remember(module, multiplying((3, 3), (3, 3)))
    calls = ((closing, 3), (multiplying, (3, 3), (3, 3)), (multiplying, (99, 99), (99, 99)))
    made = launches()
    for call, *shapes in calls:
        assert (module.offer(call(*shapes)).run() == 7).all()
    assert made.ran == ["in", "close", "out", "straight", "in", "in", "multiply", "out"]
    made.ran.clear()
    made.as_they_lie = False
    assert (module.offer(multiplying((3, 3), (3, 3))).run() == 7).all() and made.ran == ["straight", "stacks"]
    launches(NOT_A_NUMBER)
    for call, *shapes in calls:
        task = call(*shapes)
        with pytest.raises(Declined):
            module.offer(task).run()


# The short way: no task is made.


@pytest.fixture
def at_once(module: ModuleType, launches: Any, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Arrays are on the current GPU, and small products have no kernel of their own."""
    monkeypatch.setattr(module, "here", lambda *_: True)
    monkeypatch.setattr(module, "_small_way", lambda *_: False)
    launches()
    return module


def test_a_call_of_a_known_kind_is_answered_at_once(at_once: ModuleType, launches: Any) -> None:
    A, B = np.zeros((70, 80), "i4"), np.zeros((80, 90), "i4")
    C = np.zeros((70, 70), "i4")
    assert at_once.product_at_once(A, B, sr.min_plus) is None and at_once.closure_at_once(C, sr.min_plus) is None
    remember(at_once, multiplying((3, 3), (3, 3)))
    remember(at_once, closing(70))
    assert (at_once.product_at_once(A, B, sr.min_plus) == 7).all()
    assert (at_once.closure_at_once(C, sr.min_plus) == 7).all()
    for unusual in ((A, A, sr.min_plus), (A[0], B, sr.min_plus), (A, B.astype("i8"), sr.min_plus),
                    (A, B, sr.max_plus), (A.tolist(), B, sr.min_plus), (A, B[:, :0], sr.min_plus)):
        assert at_once.product_at_once(*unusual) is None
    for array in (A, C[0], C[:9, :9], C.tolist(), C.astype("i8"), np.zeros((1, 1, 3, 3), "i4")):
        assert at_once.closure_at_once(array, sr.min_plus) is None


def test_sums_that_begin_with_no_neutral_zero_are_refused_by_the_general_way(module: ModuleType) -> None:
    S = sr.Semiring("least product", add=np.minimum, mul=np.multiply, zero=0, one=1, product_only=True)
    assert not S.has_zero_for_products and module._small_way(S, np.dtype("f4")) is False
    assert module._small_way(sr.min_plus, np.dtype("f4")) is not False


def test_vectors_and_small_matrices_have_other_ways(at_once: ModuleType) -> None:
    remember(at_once, multiplying((3, 3), (3, 3)))
    for m, k, n in ((500, 600, 1), (1, 600, 500), (64, 64, 64), (5, 9, 7)):
        assert at_once.product_at_once(np.zeros((m, k), "i4"), np.zeros((k, n), "i4"), sr.min_plus) is None


def test_what_was_wrong_once_is_not_guessed_again(at_once: ModuleType, launches: Any) -> None:
    A = np.zeros((70, 70), "i4")
    remember(at_once, multiplying((3, 3), (3, 3)))
    remember(at_once, closing(70))
    made = launches(NOT_A_NUMBER)
    assert at_once.product_at_once(A, A, sr.min_plus) is None and at_once.closure_at_once(A, sr.min_plus) is None
    ran = list(made.ran)
    assert at_once.product_at_once(A, A, sr.min_plus) is None and at_once.closure_at_once(A, sr.min_plus) is None
    assert made.ran == ran
    assert remember(at_once, closing(70)), "the general way remembers how it went"
    launches()
    assert at_once.closure_at_once(A, sr.min_plus) is not None


def test_a_wrong_guess_of_a_plan_is_replaced_by_what_ran_then(module: ModuleType, launches: Any) -> None:
    other = choose(sr.min_plus, np.dtype("i4"), DeviceFacts(largest=10**6, least=0), 3, in_place=False)
    assert other is not LOW
    remember(module, closing(70))
    launches(facts=DeviceFacts(largest=10**6, least=0))
    task = closing(70)
    with pytest.raises(Declined):
        module.offer(task).run()
    for told in task.observers:
        told(done(low=other))
    assert module.offer(closing(70)).lowering is other


def test_sums_of_cycles_are_left_to_the_general_way(at_once: ModuleType) -> None:
    S = sr.Semiring("without a star", add=np.minimum, mul=np.add, zero=np.inf, one=0)
    assert S.completed is not None or S.sums_powers
    remember(at_once, closing(70, S, "f8"), low=general_on_device(sr.min_plus, np.dtype("f8")))
    assert at_once.closure_at_once(np.zeros((70, 70)), S) is None
