"""Types are found once in a process for an operator, once in a function for what Numba compiles, and are Numba's."""

from __future__ import annotations

import operator
from typing import Any

import numba
import numpy as np
import pytest
from numba import float32, float64, int8, int64, types, uint64
from numba.core.registry import cpu_target

from semiring.kernels.cpu.compile import inference
from semiring.kernels.cpu.compile.inference import Remembering
from semiring.kernels.cpu.compile.jit import njit

CONTEXT: Any = cpu_target.typing_context
ARRAY = types.Array(int64, 1, "C")
NUMBERS = (int8, int64, uint64, float32, float64, types.boolean, types.literal(1), types.literal(2))


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    CONTEXT.refresh()
    monkeypatch.setattr(inference, "_known", {})


@pytest.mark.parametrize("op", [operator.add, operator.truediv, operator.lt, operator.and_, operator.iadd])
def test_operators_have_the_signatures_that_numba_gives_them(op: Any) -> None:
    for _ in range(2):
        remembering = Remembering(CONTEXT)
        for x in NUMBERS:
            for y in NUMBERS:
                try:
                    wanted = CONTEXT.resolve_function_type(op, (x, y), {})
                except numba.TypingError:
                    with pytest.raises(numba.TypingError):
                        remembering.resolve_function_type(op, (x, y), {})
                else:
                    assert remembering.resolve_function_type(op, (x, y), {}) == wanted


def test_numba_is_asked_once_for_an_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    ask = type(CONTEXT).resolve_function_type
    monkeypatch.setattr(type(CONTEXT), "resolve_function_type", lambda *a: asked.append(a[1]) or ask(*a))
    for _ in range(3):
        assert Remembering(CONTEXT).resolve_function_type(operator.getitem, (ARRAY, int64), {}) == int64(ARRAY, int64)
    assert asked == [operator.getitem]


def test_what_numba_compiles_for_types_is_remembered_in_a_function_only() -> None:
    remembering, zeros = Remembering(CONTEXT), CONTEXT.resolve_value_type(np.zeros)
    kind = types.NumberClass(int64)
    found = remembering.resolve_function_type(zeros, (int64, kind), {})
    assert remembering.resolve_function_type(zeros, (int64, kind), {}) is found
    assert (zeros, (int64, kind)) in remembering.here
    assert not inference._known and not Remembering(CONTEXT).here


def test_values_among_the_types_are_never_remembered() -> None:
    """0, 0.0 and False are equal, and slices have no hash."""
    remembering = Remembering(CONTEXT)
    part = slice(None, 2)
    assert remembering.resolve_static_getitem(ARRAY, part) == CONTEXT.resolve_static_getitem(ARRAY, part)
    pair = types.Tuple((int64, float64))
    for _ in range(2):
        assert remembering.resolve_static_getitem(pair, 0).return_type == int64
        assert remembering.resolve_static_getitem(pair, 1).return_type == float64
    assert not inference._known and not remembering.here


def test_a_context_has_the_declarations_of_the_other_and_leaves_it_as_it_is() -> None:
    remembering = Remembering(CONTEXT)
    assert remembering.resolve_value_type(operator.add) is CONTEXT.resolve_value_type(operator.add)
    assert type(cpu_target.typing_context) is not Remembering


def test_functions_of_the_same_text_and_other_types() -> None:
    def average(a: Any, b: Any, n: Any) -> Any:
        return (a[0] + b[n]) / 2 + (a[0] < b[n])

    of_the_library, of_numba = njit()(average), numba.njit(average)
    rng = np.random.default_rng(0)
    for x in (np.int8, np.int64, np.uint64, np.float32, np.float64):
        for y in (np.int8, np.int64, np.uint64, np.float32, np.float64):
            a, b = rng.integers(0, 99, 3).astype(x), rng.integers(0, 99, 3).astype(y)
            found, wanted = of_the_library(a, b, 1), of_numba(a, b, 1)
            assert found == wanted and type(found) is type(wanted)
