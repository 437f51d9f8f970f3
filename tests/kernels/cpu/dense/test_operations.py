"""The compiled operations of each kind of program, called by address as the kernels do, against NumPy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import int64

import semiring as sr
from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.program import geometry, program
from semiring.kernels.cpu.compile.raw import call
from semiring.kernels.cpu.dense.operations import Operations, exchanged, operations
from semiring.kernels.cpu.sparse.fronts import Planes
from semiring.kernels.lowering.general import general

from .preludes import CASES, Case, join, split

NAMES = [
    "min-plus-float64", "plus-times-float64", "boolean-bool", "cost-hops-float32-int32",
    "triangular-int64-uint8-uint16",
]
cases = pytest.mark.parametrize("name", NAMES)


@njit([int64(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64)])
def call_13(
    f: int, a: int, b: int, c: int, d: int, e: int, g: int, h: int, i: int, j: int, k: int, m: int, n: int, o: int
) -> int:
    return call(f, (a, b, c, d, e, g, h, i, j, k, m, n, o))


@njit([int64(int64, int64, int64, int64, int64, int64, int64, int64, int64)])
def call_8(f: int, a: int, b: int, c: int, d: int, e: int, g: int, h: int, i: int) -> int:
    return call(f, (a, b, c, d, e, g, h, i))


@njit([int64(int64, int64, int64, int64, int64, int64, int64)])
def call_6(f: int, a: int, b: int, c: int, d: int, e: int, g: int) -> int:
    return call(f, (a, b, c, d, e, g))


def packed(case: Case, array: np.ndarray, room: int) -> Planes:
    """Elements one after the other, and room behind them."""
    planes = Planes(case.program.components, room)
    planes.fill_from(array.reshape(-1))
    return planes


def unpacked(case: Case, planes: Planes, shape: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape))
    return join(tuple(part[:count] for part in planes.parts), case.program.dtype).reshape(shape)


def combined(case: Case, x: Any, a: Any, b: Any) -> Any:
    return case.plus(x, case.times(a, b))


def same(case: Case, left: np.ndarray, right: np.ndarray) -> None:
    for one, other in zip(split(left), split(right), strict=True):
        if case.exact or "min-plus" in case.program.name:
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-12)


@cases
@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(1, 2), st.integers(1, 29), st.integers(0, 2**32 - 1))
def test_rows_take_their_terms(name: str, groups: int, vectors: int, depth: int, seed: int) -> None:
    case, sizes = CASES[name], geometry(CASES[name].program.components)
    rows, width, rng = groups * sizes.rows, vectors * sizes.lanes, np.random.default_rng(seed)
    A, B, C = (case.draw(rng, shape) for shape in ((rows, depth), (depth, width), (rows, width)))
    want = split(C)
    for k in range(depth):
        a, b = (tuple(np.copy(part) for part in split(x)) for x in (A[:, k : k + 1], B[k : k + 1]))
        want = combined(case, want, a, b)
    a, b, c = (packed(case, array, array.size + 3) for array in (A, B, C))
    call_13(
        operations(case.program).multiply, a.address, a.plane, 0, depth, b.address, b.plane, c.address, c.plane, 0,
        width, rows, depth, 1,
    )
    same(case, unpacked(case, c, C.shape), join(tuple(np.broadcast_to(w, C.shape) for w in want), case.program.dtype))


@cases
def test_constants_lie_side_by_side(name: str) -> None:
    program = CASES[name].program
    found = operations(program)
    place = found.constants
    for component, zero, one in zip(program.components, program.zero, program.one, strict=True):
        raw = ctypes.string_at(place, 2 * component.itemsize)
        np.testing.assert_array_equal(np.frombuffer(raw, component), np.array([zero, one], component))
        place += 2 * component.itemsize


@cases
@settings(max_examples=15)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_pivots_are_closed_among_themselves(name: str, pivots: int, seed: int) -> None:
    """What stands in the pivots' columns is the closure of their block; the rest is that times what stood there."""
    case, sizes = CASES[name], geometry(CASES[name].program.components)
    pivots = min(pivots, sizes.depth)
    width, rng = 2 * sizes.lanes, np.random.default_rng(seed)
    p = int(rng.integers(0, width - pivots + 1))
    rows = case.draw(rng, (pivots, width))
    rows[:, p : p + pivots] = case.draw(rng, (pivots, pivots))
    panel = packed(case, rows, rows.size)
    failed = call_6(operations(case.program).close_pivots, panel.address, panel.plane, width, p, pivots, 1)
    assert failed == -1
    want = [tuple(np.copy(part) for part in split(row)) for row in rows]
    for k in range(pivots):  # one pivot after the other, a column at a time
        s = case.star(tuple(part[p + k : p + k + 1] for part in want[k]))
        zero = tuple(np.array([z], c) for z, c in zip(case.program.zero, case.program.components, strict=True))
        want[k] = tuple(np.copy(part) for part in case.times(s, want[k]))
        for part, value in zip(want[k], s, strict=True):
            part[p + k] = value[0]
        for i in range(pivots):
            if i != k:
                f = tuple(np.copy(part[p + k : p + k + 1]) for part in want[i])
                for part, value in zip(want[i], zero, strict=True):
                    part[p + k] = value[0]
                want[i] = tuple(np.copy(part) for part in combined(case, want[i], f, want[k]))
    expected = np.stack([join(row, case.program.dtype) for row in want])
    same(case, unpacked(case, panel, rows.shape), expected)


def test_a_pivot_without_a_star_is_told() -> None:
    case = CASES["plus-times-float64"]
    rows = np.zeros((3, 8))
    rows[2, 4] = 1.0
    panel = packed(case, rows, rows.size)
    assert call_6(operations(case.program).close_pivots, panel.address, panel.plane, 8, 2, 3, 1) == 2


@cases
def test_what_is_scattered_is_added_where_it_belongs(name: str) -> None:
    case, rng = CASES[name], np.random.default_rng(5)
    target, source, places = case.draw(rng, (7, 9)), case.draw(rng, (3, 3)), np.array([1, 4, 6])
    both = packed(case, np.concatenate([target.ravel(), source.ravel()]), target.size + source.size)
    call_8(
        operations(case.program).add_scattered, both.address, target.size, both.address, 0, 9, both.plane,
        places.ctypes.data, 3,
    )
    want, where = target.copy(), np.ix_(places, places)
    want[where] = join(case.plus(split(target[where]), split(source)), case.program.dtype)
    same(case, unpacked(case, both, target.shape), want)


@cases
@pytest.mark.parametrize("turned", [False, True])
def test_entries_are_combined_with_a_column(name: str, turned: bool) -> None:
    case, rng = CASES[name], np.random.default_rng(6)
    width = geometry(case.program.components).lanes
    weights, W = case.draw(rng, (6,)), case.draw(rng, (5, width))
    numbers, rows, j = np.array([5, 0, 3]), np.array([4, 1, 1]), 2
    a, w, out = packed(case, weights, 6), packed(case, W, W.size), Planes(case.program.components, 4)
    program = exchanged(case.program) if turned else case.program
    call_13(
        operations(program).combine_entries, a.address, a.plane, numbers.ctypes.data, w.address, w.plane,
        rows.ctypes.data, width, j, 3, out.address, out.plane, 2, 1,
    )
    x = tuple(np.array([z], c) for z, c in zip(case.program.zero, case.program.components, strict=True))
    for e, r in zip(numbers, rows, strict=True):
        left, right = split(weights[e : e + 1]), split(W[r, j : j + 1])
        x = case.plus(x, case.times(right, left) if turned else case.times(left, right))
    found = join(tuple(part[2:3] for part in out.parts), case.program.dtype)
    same(case, found, join(x, case.program.dtype))


def test_each_is_compiled_when_it_is_asked_for() -> None:
    case = CASES["or-and-uint8"]
    found = Operations(case.program)
    assert found.multiply == found.multiply != 0
    assert found.code("multiply", "close_pivots")[1].on_disk.endswith(".close_pivots")
    assert operations(case.program) is operations(case.program)
    assert not found.module.add_scattered.signatures


def test_exchanged_operands_of_a_whole_step() -> None:
    """Of ⊗ only: x stays where it is."""
    S = sr.Semiring("users", add=np.minimum, mul=lambda a, b: 2 * a - b, zero=np.inf, product_only=True)
    given_ = program(general(S, np.dtype("f8")))
    scope: dict[str, Any] = {
        "inline": lambda f: f, "float64": np.float64, "select": lambda c, x, y: x if c else y,
        "fma": lambda x, y, z: x * y + z,
    }
    for text, term in ((given_, -1), (exchanged(given_), 5)):
        exec(text.prelude + text.combine.replace("as_element(ELEMENT, ", "("), scope)
        assert (scope["combine"](9, 1, 3, 1), scope["combine"](-5, 1, 3, 1)) == (min(9, term), -5)
