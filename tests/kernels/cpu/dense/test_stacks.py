"""Stacks of small matrices that share vectors, against the same matrices row by row, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algebra.elements import full
from semiring.kernels.cpu.compile.jit import from_python
from semiring.kernels.cpu.dense import lanes, stacks
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general

from .test_lanes import CASES, PAIRS, bits, elements, layouts

CLOSED = [
    (sr.min_plus, "f4"), (sr.max_min, "f8"), (sr.min_plus, "i8"), (sr.max_times, "u2"), (sr.boolean, "b1"),
    (sr.plus_times, "f8"), (sr.plus_times, "c8"), (sr.gf2, "u1"), (sr.shortest_count, None), (sr.bitset_may, "u1"),
]
SHAPES = [(n, n, n) for n in range(1, 9)] + [(16, 16, 1), (32, 32, 1), (1, 7, 5), (5, 1, 8), (3, 6, 2), (32, 2, 3)]
COUNTS = (1, 3, 70)  # fewer matrices than lanes, and more than whole vectors of any dtype


@pytest.fixture(params=["wide", "narrow"])
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """This processor, and one with vectors of 128 bits and no masks."""
    if request.param == "narrow":
        monkeypatch.setattr(lanes, "host_features", lambda: {"neon": False})
    caches = lanes.small, stacks.together, stacks.matrices, stacks.are_shared
    for each in caches:
        each.cache_clear()
    yield
    for each in caches:
        each.cache_clear()


def componentwise(parts: int) -> sr.Semiring:
    """Min-plus on records of doubles."""
    return sr.Semiring(
        f"{parts} times min-plus", fields=[(f"x{i}", "f8") for i in range(parts)],
        add=lambda a, b: tuple(np.minimum(x, y) for x, y in zip(a, b, strict=True)),
        mul=lambda a, b: tuple(x + y for x, y in zip(a, b, strict=True)), zero=(np.inf,) * parts, one=(0.0,) * parts)


def form(S: sr.Semiring, dtype: Any) -> Lowering:
    return general(S, S.resolve_dtype(np.dtype(dtype)) if dtype else S.element_dtype)


def product(address: int) -> Callable[..., int]:
    function = from_python(address, 19)

    def call(C: np.ndarray, A: np.ndarray, B: np.ndarray, more: bool, checked: bool = False) -> int:
        sides = [part for X in (A, B, C) for part in (X.ctypes.data, *X.strides)]
        return function(*sides, len(C), *A.shape[1:], B.shape[2], more, checked, 1)

    return call


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize(("S", "dtype"), [CASES[0], CASES[5], (PAIRS, PAIRS.element_dtype), *(
    pytest.param(*case, marks=pytest.mark.slow) for case in CASES[1:5] + CASES[6:8])],
    ids=lambda case: getattr(case, "name", str(case)[:6]))
def test_products_have_the_bits_of_rows(S: sr.Semiring, dtype: Any) -> None:
    """Of any layout, one whose matrices lie side by side too; one factor may be repeated."""
    low = form(S, dtype)
    shared, by_rows = product(stacks.together(low).product), product(lanes.small(low).product)
    with np.errstate(all="ignore"):
        for seed, (m, k, n) in enumerate(SHAPES):
            A, B, C = (elements(low, (COUNTS[seed % 3], *shape), seed) for shape in ((m, k), (k, n), (m, n)))
            for more in (False, True):
                want = C.copy()
                by_rows(want, A, B, more)
                for a, b, c in zip(*map(arrangements, (A, B, C)), strict=True):
                    assert shared(c, a, b, more) == -1
                    assert bits(c) == bits(want), (m, k, n, more)
                repeated, got = np.broadcast_to(B[:1], B.shape), C.copy()
                want = C.copy()
                by_rows(want, A, repeated, more)
                shared(got, A, repeated, more)
                assert bits(got) == bits(want)


def arrangements(X: np.ndarray) -> list[np.ndarray]:
    beside = np.ascontiguousarray(X.transpose(1, 2, 0)).transpose(2, 0, 1)
    return [X.copy(), *layouts(X)[1:], beside]


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize(("S", "dtype"), [CLOSED[0], CLOSED[5], CLOSED[8], *(
    pytest.param(*case, marks=pytest.mark.slow) for case in CLOSED[1:5] + CLOSED[6:8] + CLOSED[9:])],
    ids=lambda case: getattr(case, "name", str(case)[:6]))
def test_closures_have_the_bits_of_rows(S: sr.Semiring, dtype: Any) -> None:
    """Also beside matrices whose pivots have no star, which stay as they were."""
    low = form(S, dtype)
    close = from_python(lanes.small(low).close, 8)
    for seed, n in enumerate([*range(1, stacks.TOGETHER + 1)] * 2):
        D = elements(low, (COUNTS[seed % 3], n, n), seed)
        if low.inverts and not low.storage.names:
            D[...] = np.where(np.isfinite(D), D, 0.125)
            D[-1, 0, 0] = 1
        want, failed = D.copy(), np.empty(len(D), np.int64)
        with np.errstate(all="ignore"):
            close(want.ctypes.data, *want.strides, failed.ctypes.data, len(want), n, 1)
            for X in arrangements(D):
                found = stacks.close_stack(low, X)
                assert found is not None and (found == failed).all()
                assert bits(X) == bits(want), n
    assert failed[-1] == 0 or not low.inverts or low.storage.names


@pytest.mark.parametrize(("S", "dtype", "bad"), [
    (sr.min_plus, "f4", np.nan), (sr.viterbi, "f8", 1.5), (sr.viterbi, "f4", -0.5), (sr.shortest_count, None, -1.0),
])
def test_what_is_not_an_element_is_seen_wherever_it_stands(S: sr.Semiring, dtype: str | None, bad: float) -> None:
    low = form(S, dtype)
    shared = product(stacks.together(low).product)
    A, B, C = (full(np.empty((70, *shape), low.storage), low.unit) for shape in ((3, 5), (5, 3), (3, 3)))
    assert shared(C.copy(), A, B, True, True) == -1
    assert stacks.close_stack(low, C.copy(), look=True) is not None
    for X in (A, B, C):
        for s, i, j in ((0, 0, 0), (50, 2, X.shape[2] - 1), (69, 1, 0)):
            before = X[s, i, j].copy()
            (X[X.dtype.names[0]] if X.dtype.names else X)[s, i, j] = bad
            for a, b, c in zip(*map(arrangements, (A, B, C)), strict=True):
                assert 0 <= shared(c, a, b, True, True) <= s
            assert X is not C or all(stacks.close_stack(low, c, look=True) is None for c in arrangements(C))
            assert stacks.close_stack(low, C.copy()) is not None, "they are not looked for"
            X[s, i, j] = before


def test_shapes_that_are_faster_by_rows_go_by_rows() -> None:
    """Those whose rows fill vectors; on a processor with masks those of more than a few elements."""
    low = form(sr.min_plus, "f4")
    assert stacks.are_shared(low, 3, 3, 3) and stacks.are_shared(low, 16, 16, 1) and stacks.are_shared(low, 1, 1, 1)
    for m, k, n in ((2, 2, 2), (4, 4, 4), (8, 8, 8), (16, 16, 16), (33, 2, 1), (0, 2, 2), (2, 0, 1), (2, 2, 0)):
        assert not stacks.are_shared(low, m, k, n)
    assert not stacks.are_shared(general(sr.log, np.dtype("f4")), 3, 3, 3)
    assert stacks.product_purpose(low, 3, 3, 3) != stacks.product_purpose(low, 9, 9, 9)
    assert stacks.closure_purpose(low, stacks.TOGETHER) != stacks.closure_purpose(low, stacks.TOGETHER + 1)


@pytest.mark.parametrize("parts", [1, 8, 90, 5000])
def test_records_of_many_components_leave_most_of_a_threads_stack(parts: int) -> None:
    """Three factors of a product are there at once."""
    given = (np.dtype("f8"),) * parts
    size = stacks.slot(given)
    assert size * (stacks.places(given) + 2 * stacks.places(given, stacks.OTHERS)) <= 3 * stacks.ROOM


def test_records_of_many_components_go_by_lanes_as_far_as_there_is_room() -> None:
    low, few = form(componentwise(90), None), form(componentwise(8), None)
    assert stacks.are_shared(few, 16, 16, 1) and not stacks.are_shared(few, 32, 32, 1)
    assert stacks.are_shared(low, 3, 3, 3) and not stacks.are_shared(low, 5, 5, 1)
    assert [stacks.closure_purpose(low, n) for n in (4, 5)] == ["closures in lanes", "closures of stacks"]
    assert stacks.closure_purpose(few, 8) == "closures in lanes"


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize(("S", "dtype"), [(sr.min_plus, "f4"), (sr.plus_times, "f8"), (PAIRS, PAIRS.element_dtype)],
                         ids=lambda case: getattr(case, "name", str(case)[:6]))
def test_stacks_that_do_not_lie_in_rows_are_copied(
    S: sr.Semiring, dtype: Any, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few matrices at a time, one that is repeated once; entries are looked at as before."""
    low = form(S, dtype)
    monkeypatch.setattr(stacks, "COPIED", 3 * n * n * low.storage.itemsize)
    A, B, C = (elements(low, (8, n, n), seed) for seed in range(3))
    with np.errstate(all="ignore"):
        for more in (False, True):
            want = C.copy()
            assert stacks.multiply_stack(low, want, A, B, more, False)
            for a, b in zip(layouts(A), layouts(B)[::-1], strict=True):
                got = C.copy()
                assert stacks.multiply_stack(low, got, a, b, more, False)
                assert bits(got) == bits(want)
            want, got = C.copy(), C.copy()
            one = layouts(B[:1])[1]
            repeated = np.lib.stride_tricks.as_strided(one, B.shape, (0, *one.strides[1:]))
            assert stacks.multiply_stack(low, want, A, np.repeat(one, 8, axis=0), more, False)
            assert stacks.multiply_stack(low, got, A, repeated, more, False)
            assert bits(got) == bits(want)
    if S is sr.min_plus:
        for X in (A, B):
            X[...] = 1
        A[6, 1, 0] = np.nan
        assert not stacks.multiply_stack(low, C, A, layouts(B)[1], False, True)
        A[6, 1, 0] = 1
        assert stacks.multiply_stack(low, C, layouts(A)[1], B, False, True)
