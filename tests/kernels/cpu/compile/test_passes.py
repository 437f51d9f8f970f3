"""The library's own functions go through few of Numba's passes, and others' through all."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import float64, int64

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.parts import Light, Whole
from semiring.kernels.cpu.compile.passes import PASSES, FewPasses, ForIndices, ForParts

SIZE = 0
part = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)


@part
def wanted(x: Any) -> Any:
    """A branch that a constant of the module decides is gone before types are found: it would have none."""
    return x.absent if SIZE else x + 1


def passes_of(dispatcher: Any) -> list[str]:
    (compiled,) = dispatcher.overloads.values()
    (times,) = compiled.metadata["pipeline_times"].values()
    return [name.partition("_")[2] for name in times]


def test_functions_of_the_library_go_through_few_passes() -> None:
    @njit([float64(float64[:, ::1], int64)])
    def own(a: Any, n: int) -> float:
        total, sign = 0.0, 1
        for i in range(min(n, a.shape[0])):
            for j in range(a.shape[1]):
                if a[i, j] < 0:
                    continue
                total += sign * wanted(a[i, j])
            sign = -sign
        return total

    a = np.arange(12.0).reshape(3, 4) - 2
    by_rows = np.where(a < 0, 0, a + 1).sum(axis=1)
    assert own(a, 5) == by_rows[0] - by_rows[1] + by_rows[2]
    for dispatcher in (own, wanted):
        assert passes_of(dispatcher) == [each._name for each in PASSES]
    assert own._compiler.pipeline_class is FewPasses
    assert wanted._compiler.pipeline_class is ForParts


def test_what_they_call_of_numba_and_functions_of_users_go_through_all() -> None:
    @numba.njit
    def of_a_user(x: float) -> float:
        return min(x, 2.5)

    @njit([float64(float64)])
    def own(x: float) -> float:
        return min(x, 2.5)

    assert of_a_user(3.0) == own(3.0) == 2.5
    assert len(passes_of(of_a_user)) > len(PASSES) == len(passes_of(own))


def test_loops_over_indices_go_through_fewer_passes_of_llvm_and_give_the_same() -> None:
    def total(a: Any) -> int:
        found = 0
        for i in range(len(a)):
            found += a[i] * a[i]
        return found

    a = np.arange(1000)
    text = {}
    for light in (False, True):
        own = njit([int64(int64[::1])], light=light)(total)
        assert own(a) == (a * a).sum()
        assert own._compiler.pipeline_class is (ForIndices if light else FewPasses)
        assert type(own.overloads[own.signatures[0]].library) is (Light if light else Whole)
        (text[light],) = own.inspect_llvm().values()
    vectors = " x i64>"
    assert vectors in text[False] and vectors not in text[True]
