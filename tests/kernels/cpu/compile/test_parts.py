"""Parts of compiled functions: linked into their callers, never machine code of their own."""

from __future__ import annotations

from typing import Any

import numba
import pytest
from numba import int64
from numba.core.codegen import JITCodeLibrary

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.parts import Part, Whole

part = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
inlined = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def library_of(dispatcher: Any) -> Any:
    (compiled,) = dispatcher.overloads.values()
    return compiled.library


def test_parts_of_parts_run_in_their_callers() -> None:
    @inlined
    def doubled(x: int) -> int:
        return max(x, 2) * 2  # an overload of Numba's

    @part
    def with_rest(x: int) -> int:
        return doubled(x) + x % 3

    @njit([int64(int64)])
    def outside(x: int) -> int:
        total = 0
        for i in range(x):
            total += with_rest(i) - doubled(-i)
        return total

    assert outside(9) == sum(max(i, 2) * 2 + i % 3 - 4 for i in range(9))
    for dispatcher in (doubled, with_rest):
        assert type(library_of(dispatcher)) is Part
        assert library_of(dispatcher).get_pointer_to_function("anything") == 0
    assert type(library_of(outside)) is Whole
    assert library_of(outside).get_pointer_to_function(outside.overloads[int64,].fndesc.llvm_func_name) != 0


def test_what_numba_compiled_for_a_part_serves_others() -> None:
    @part
    def least(x: Any, y: Any) -> Any:
        return min(x, y)

    @njit([int64(int64, int64)])
    def outside(x: int, y: int) -> int:
        return least(x, y)

    @numba.njit
    def of_a_user(x: int, y: int) -> int:
        return min(x, y)

    assert outside(4, 3) == of_a_user(4, 3) == 3
    assert type(library_of(of_a_user)) is JITCodeLibrary


def test_a_part_that_does_not_compile_leaves_nothing_behind() -> None:
    @part
    def wrong(x: Any) -> Any:
        return x.absent

    @njit([int64(int64)])
    def outside(x: int) -> int:
        return wrong(x)

    with pytest.raises(numba.TypingError):
        outside(1)

    @numba.njit
    def of_a_user(x: int) -> int:
        return x + 2

    assert of_a_user(1) == 3
    assert type(library_of(of_a_user)) is JITCodeLibrary

    @njit([int64(int64)])
    def right(x: int) -> int:
        return x + 1

    assert right(1) == 2
    assert type(library_of(right)) is Whole
