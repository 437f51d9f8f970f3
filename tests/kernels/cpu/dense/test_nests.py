"""Nests of loops around small products: against NumPy, in parts, in cut matrices, and looks at every element."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.dense import nests
from semiring.kernels.cpu.dense.lanes import geometry
from semiring.kernels.cpu.dense.nests import NOTHING, Loop, Nest, Nests, look
from semiring.kernels.lowering.general import general

F8 = np.dtype("f8")
LOW = general(sr.min_plus, F8)
LANES, HEIGHT, _ = geometry(LOW.components)


def addresses(*arrays: np.ndarray) -> np.ndarray:
    return np.array([A.ctypes.data for A in arrays], np.int64)


def nest(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> Nest:
    """C[x, y, i, j] ← ⊕_t A[x, t, i] ⊗ B[x, y, t, j]."""
    (X, Y, m, n), k = C.shape, B.shape[2]
    return Nest(
        (0, 1, 2), (Loop(X, A.strides[0], B.strides[0], C.strides[0]),), Loop(Y, 0, B.strides[1], C.strides[1]),
        Loop(m, A.strides[2], 0, C.strides[2]), Loop(k, A.strides[1], B.strides[2], 0), n, 8,
    )


@pytest.mark.parametrize("shape", [(3, 2, 4, 4, 4), (1, 1, 1, 1, 1), (2, 3, 9, 5, 17), (2, 1, 70, 65, 3),
                                   (2, 2, 3, 130, 67)])
@pytest.mark.parametrize("cut", [False, True])
def test_a_nest_is_the_product_that_its_loops_say(
    shape: tuple[int, ...], cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the processor has no masks, so that longer sides are cut."""
    if cut:
        monkeypatch.setattr(nests, "geometry", lambda parts: (LANES, HEIGHT, False))
    X, Y, m, k, n = shape
    rng = np.random.default_rng(1)
    A, B, C = rng.random((X, k, m)), rng.random((X, Y, k, n)), np.full((X, Y, m, n), np.nan)
    wanted = (A[:, None, :, :, None] + B[:, :, :, None]).min(2)
    one = nest(A, B, C)
    assert (one.passes, one.terms) == (X, X * Y * m * k * n)
    assert Nests([one], LANES, HEIGHT).run(LOW, addresses(A, B, C))
    assert np.array_equal(C, wanted)


def test_threads_share_the_passes_of_a_large_nest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nests, "SHARED", 1e-9)
    monkeypatch.setenv("SEMIRING_NUM_THREADS", "3")
    seen: list[int] = []
    monkeypatch.setattr(nests, "share", lambda f, pieces, threads: (seen.append(len(pieces)), [f(*p) for p in pieces]))
    rng = np.random.default_rng(1)
    A, B, C = rng.random((31, 4, 5)), rng.random((31, 2, 4, 8)), np.full((31, 2, 5, 8), np.nan)
    two = [nest(A, B, C)._replace(arrays=(0, 1, 3)), nest(A, B, C)]
    D = np.full_like(C, np.nan)
    assert Nests(two, LANES, HEIGHT).run(LOW, addresses(A, B, C, D))
    assert np.array_equal(C, (A[:, None, :, :, None] + B[:, :, :, None]).min(2)) and np.array_equal(C, D)
    assert seen == [12, 12]


@pytest.mark.parametrize("count", [1, LANES, 3 * LANES + 1, 64 * LANES, 130 * LANES + 5])
def test_a_look_sees_every_element_and_nothing_else(count: int) -> None:
    rows, step = 3, 8 * (count + 7)
    A = np.full((rows, count + 7), np.nan)
    A[:, :count] = 1
    looks = Nests(look(0, rows, step, count, 8, LANES), LANES, HEIGHT)
    assert looks.run(LOW, addresses(A))
    for place in {0, count // 2, count - 1, count - 2, count - LANES, count // (64 * LANES) * 64 * LANES - 1} & {
        *range(count)
    }:
        for row in range(rows):
            A[row, place] = np.nan
            assert not looks.run(LOW, addresses(A)), (row, place)
            A[row, place] = 1


def test_looks_of_powers() -> None:
    """The product over log-sum-exp has its own way to look, and sides that end at 64."""
    low = general(sr.log, F8)
    A = np.zeros(1000)
    looks = Nests(look(0, 1, 8000, 1000, 8, LANES), LANES, HEIGHT)
    assert looks.run(low, addresses(A))
    for place in (0, 511, 512, 999):
        A[place] = np.nan
        assert not looks.run(low, addresses(A))
        A[place] = -np.inf


def test_what_is_made_needs_a_look() -> None:
    assert not nests.looks(general(sr.min_plus, F8)), "NaN is dropped, and everything else is an element"
    assert nests.looks(general(sr.plus_times, F8)) and nests.looks(general(sr.max_times, F8))


def test_numbers_of_a_nest_end_with_its_loops() -> None:
    for count in (nests.MOST_LOOPS, 3, 0):
        loops = tuple(Loop(2, 8, 0, 16) for _ in range(count))
        numbers = Nest((0, 1, 2), loops, NOTHING, NOTHING, NOTHING, 1, 8).numbers()
        assert len(numbers) == nests.HEAD + 4 * count and numbers[nests.HEAD - 1] == count


def test_passes_of_several_loops_are_cut_anywhere() -> None:
    """The counters of the loops begin in the middle."""
    from semiring.kernels.cpu.dense.lanes import small

    A, B = np.random.default_rng(2).random((2, 3, 4, 5))
    C = np.full((3, 4, 5), np.nan)
    loops = tuple(Loop(size, *[step] * 3) for size, step in zip(C.shape, C.strides, strict=True))
    numbers = np.array([Nest((0, 1, 2), loops, NOTHING, NOTHING, NOTHING, 1, 8).numbers()], np.int64)
    bases, run, given = addresses(A, B, C), nests.nest_loops(), (numbers.ctypes.data, numbers.shape[1])
    for begin, end in pairwise([0, 7, 8, 33, 60]):
        assert run(*given, 0, 1, begin, end, bases.ctypes.data, small(LOW).product, 1 << 40) == -1
        flat = C.reshape(-1)
        assert np.array_equal(flat[:end], (A + B).reshape(-1)[:end]) and np.isnan(flat[end:]).all()
