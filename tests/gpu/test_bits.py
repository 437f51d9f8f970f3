"""Packed Boolean matrices on the device: words, the three products and the closure, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from methods import SCHEDULES

import semiring as sr
from semiring.kernels.cpu.bits.matrix import PackedMatrix

KERNELS = ["wgmma", "mma", "lop"]
DENSITIES = [0, 0.001, 0.03, 0.5, 1]
SHAPES = [  # around words, warps, slabs and tiles of 64, 128, 192 and 256
    (1, 1, 1), (1, 64, 65), (63, 65, 64), (64, 128, 256), (65, 129, 1023), (127, 255, 1024), (128, 256, 1025),
    (191, 257, 130), (192, 256, 2048), (193, 383, 5000), (400, 520, 1), (385, 100, 4097), (2, 3000, 300),
    (1200, 70, 700),
]


def entries(shape: tuple[int, int], density: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([*shape, seed]).random(shape) < density


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return (A.astype("f4") @ B.astype("f4")) > 0


def closure(A: np.ndarray) -> np.ndarray:
    """A⁺ by squaring."""
    A = A.copy()
    while True:
        more = A | product(A, A)
        if (more == A).all():
            return A
        A = more


def on_device(array: np.ndarray) -> Any:
    from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix

    return DevicePackedMatrix.from_dense(array)


def padding(M: Any) -> bool:
    """Whether anything is set beyond the last column."""
    words = M.words.get()
    beyond = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, M.shape[1] :]
    return bool(beyond.any())


def runnable(kernel: str) -> None:
    from semiring.kernels.cuda.bits import product as bits
    from semiring.kernels.cuda.compile.launch import capability, current_device

    if kernel not in bits.kernels_of(capability(current_device())):
        pytest.skip("this device has no instructions for it")


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (3, 64), (65, 63), (300, 1000), (257, 4097)])
@pytest.mark.parametrize("dtype", ["?", "f4", "u1", "i8"])
def test_words(shape: tuple[int, int], dtype: str) -> None:
    import cupy

    A = entries(shape, 0.3)
    given = cupy.asarray(A.astype(dtype))
    for same in (given, A, PackedMatrix.from_dense(A), cupy.asfortranarray(given)):
        M = on_device(same)
        assert M.shape == shape and M.count() == A.sum() and not padding(M)
        np.testing.assert_array_equal(M.to_dense().get(), A)
        np.testing.assert_array_equal(M.get().to_dense(), A)
        np.testing.assert_array_equal(M.transpose().to_dense(dtype).get(), A.T.astype(dtype))
        assert not padding(M.transpose())
    assert on_device(A) == M and M.copy() == M
    if A.size:
        B = A.copy()
        B[-1, -1] ^= True
        assert on_device(B) != M
        assert M[-1, -1] == A[-1, -1] and M[0, 0] == A[0, 0]


def test_unaligned_rows_of_truth_values() -> None:
    import cupy

    A = entries((70, 333), 0.4)
    for view in (cupy.asarray(A)[1:, 3:], cupy.asarray(A)[:, 16:32], cupy.asarray(A)[::2], cupy.asarray(A)[:, ::3]):
        np.testing.assert_array_equal(on_device(view).to_dense().get(), view.get())


def test_blocks_are_views() -> None:
    A = entries((300, 500), 0.3)
    M = on_device(A)
    np.testing.assert_array_equal(M[10:200, 64:].to_dense().get(), A[10:200, 64:])
    np.testing.assert_array_equal(M[:, 128:192].transpose().to_dense().get(), A[:, 128:192].T)
    part = M[100:164, 64:128]
    part.words[...] = 0
    A[100:164, 64:128] = False
    assert on_device(A) == M
    for wrong in ((slice(None), slice(3, 64)), (slice(0, 10, 2), slice(None)), (3, slice(None))):
        with pytest.raises(sr.SemiringError, match="get"):
            M[wrong]
    with pytest.raises(IndexError, match="row 300"):
        M[300, 0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("density", DENSITIES)
def test_products(kernel: str, density: float) -> None:
    """Both packings, with and without what C held, and no bit beyond the last column."""
    from semiring.kernels.cuda.bits import product as bits
    from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix

    runnable(kernel)
    for m, n, k in SHAPES:
        A, B, C = entries((m, k), density, 1), entries((k, n), density, 2), entries((m, n), 0.02, 3)
        a, t = on_device(A), on_device(B).transpose()
        for accumulate in (False, True):
            wanted = product(A, B) | (C if accumulate else False)
            for both in (False, True):
                c, ct = on_device(C), DevicePackedMatrix.zeros(-(-n // 64) * 64, m)
                bits.multiply(c.bits, a.bits, t.bits, accumulate, ct.bits if both else None, kernel=kernel)
                case = f"{m} × {n} × {k}, {accumulate=}, {both=}"
                np.testing.assert_array_equal(c.to_dense().get(), wanted, case)
                assert not padding(c) and not padding(ct), case
                if both:
                    np.testing.assert_array_equal(ct.to_dense().get()[:n], wanted.T, case)


@pytest.mark.parametrize("kernel", KERNELS)
def test_more_steps_than_can_be_counted(kernel: str) -> None:
    """A row of ones meets columns of ones in up to 140,000 places, and one column in the last place alone."""
    from semiring.kernels.cuda.bits import product as bits

    runnable(kernel)
    for k in (32_768, 32_769, 65_536, 65_537, 131_072, 140_000):
        A, T = np.zeros((70, k), bool), np.zeros((300, k), bool)
        A[::2] = True
        T[::3] = True
        T[1, -1] = T[2, min(k, 65_536) - 1] = True
        c = on_device(np.zeros((70, 300), bool))
        a, t = on_device(A), on_device(T)
        bits.multiply(c.bits, a.bits, t.bits, False, kernel=kernel)
        np.testing.assert_array_equal(c.to_dense().get(), product(A, T.T))


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_are_left_out(kernel: str) -> None:
    from semiring.kernels.cuda.bits import product as bits
    from semiring.kernels.cuda.dense.product import Gap

    runnable(kernel)
    A, B, C = entries((777, 300), 0.05, 1), entries((300, 400), 0.05, 2), entries((777, 400), 0.02, 3)
    a, t = on_device(A), on_device(B.T.copy())
    for gap in (Gap(64, 128), Gap(0, 64), Gap(640, 137), Gap(0, 777), Gap(320, 64)):
        c = on_device(C)
        bits.multiply(c.bits, a.bits, t.bits, True, gap=gap, kernel=kernel)
        wanted = C | product(A, B)
        wanted[gap.at : gap.at + gap.size] = C[gap.at : gap.at + gap.size]
        np.testing.assert_array_equal(c.to_dense().get(), wanted)


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_of_a_matrix_are_multiplied_where_they_lie(kernel: str) -> None:
    """Views that begin with any word; what surrounds the target stays."""
    from semiring.kernels.cuda.bits import product as bits

    runnable(kernel)
    M, A, B = entries((700, 1000), 0.02, 1), entries((400, 900), 0.05, 2), entries((1000, 900), 0.05, 3)
    m, a, t = on_device(M), on_device(A), on_device(B)
    for left, right, first in ((64, 320, 64), (128, 384, 0), (192, 640, 128), (64, 1000, 192)):
        m = on_device(M)
        bits.multiply(
            m[30:330, left:right].bits, a[:300, first:832].bits, t[10 : 10 + right - left, first:832].bits, True,
            kernel=kernel,
        )
        wanted = M.copy()
        wanted[30:330, left:right] |= product(A[:300, first:832], B[10 : 10 + right - left, first:832].T)
        np.testing.assert_array_equal(m.to_dense().get(), wanted)


@pytest.mark.parametrize("m", [100, 700])
def test_known_tiles_are_passed_over(m: int) -> None:
    """Full tiles and empty operands change nothing, and what becomes full is noted."""
    import cupy

    from semiring.kernels.cuda.bits import product as bits
    from semiring.kernels.cuda.bits.words import some
    from semiring.kernels.cuda.dense.product import NO_GAP, Gap

    runnable("wgmma")
    n, k = 1000, 300
    A, B, C = entries((m, k), 0.3, 1), entries((k, n), 0.3, 2), entries((m, n), 0.02, 3)
    A[64:200], B[:, 256:512] = False, False
    a, t = on_device(A), on_device(B).transpose()
    down, across = -(-m // 64), -(-n // 256)
    found = cupy.zeros(down, np.uint8)
    some(a.bits, found.data.ptr)
    np.testing.assert_array_equal(found.get(), [A[i : i + 64].any() for i in range(0, m, 64)])
    for gap in (NO_GAP, Gap(64, m - 64), Gap(0, 64)):
        c = on_device(C)
        full, settled = cupy.zeros((across, 4 * down), np.uint8), cupy.ones(100, np.uint8)
        known = bits.Known(full.data.ptr, 4 * down, settled.data.ptr)
        wanted = C | product(A, B)
        wanted[gap.at : gap.at + gap.size] = C[gap.at : gap.at + gap.size]
        for _ in range(2):
            bits.settle(c.bits, a.bits, t.bits, gap, known)
            bits.multiply(c.bits, a.bits, t.bits, True, gap=gap, known=known, kernel="wgmma")
            np.testing.assert_array_equal(c.to_dense().get(), wanted)
        for x, y in zip(*np.nonzero(full.get()), strict=True):
            assert wanted[16 * y : 16 * y + 16, 256 * x : 256 * x + 256].all()
        tiles = np.prod(bits.GEOMETRIES["wgmma"].tiles(m - gap.size, n))
        passed = settled.get()[:tiles]
        assert passed.any() and (gap == Gap(0, 64) or not passed.all())  # columns 256 to 511 of B are empty


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 300, 480, 511, 512])
@pytest.mark.parametrize("density", [0, 0.5, 1.2, 3, 200])
def test_blocks_are_closed(n: int, density: float) -> None:
    A = entries((n, n), density / n)
    check_closure(A)


@pytest.mark.parametrize("n", [513, 576, 1000, 1024, 2048, 2100, 4500])
@pytest.mark.parametrize("degree", [0.8, 1.1, 3])
def test_closures(n: int, degree: float) -> None:
    check_closure(entries((n, n), degree / n))


@pytest.mark.parametrize("n", [600, 2500])
def test_paths_and_orders(n: int) -> None:
    """A path through all vertices in shuffled order, and a dense acyclic graph: half of the pairs in the end."""
    order = np.random.default_rng(n).permutation(n)
    A = np.zeros((n, n), bool)
    A[order[:-1], order[1:]] = True
    check_closure(A)
    B = np.zeros((n, n), bool)
    B[np.ix_(order, order)] = np.triu(entries((n, n), 0.05), 1)
    check_closure(B)


def test_a_block_that_begins_with_any_word_is_closed_in_place() -> None:
    from semiring.kernels.cuda.bits.engine import BooleanKernel

    A = entries((800, 800), 1.2 / 800)
    M = on_device(A)
    BooleanKernel().close_plus(M[64:704, 64:704])
    A[64:704, 64:704] = closure(A[64:704, 64:704])
    np.testing.assert_array_equal(M.to_dense().get(), A)


def check_closure(A: np.ndarray) -> None:
    from semiring.kernels.cuda.bits.engine import BooleanKernel

    wanted, kernel = closure(A), BooleanKernel()
    plus, star = on_device(A), on_device(A)
    assert kernel.close_plus(plus) == kernel.close(star) == -1
    np.testing.assert_array_equal(plus.to_dense().get(), wanted)
    np.testing.assert_array_equal(star.to_dense().get(), wanted | np.eye(len(A), dtype=bool))
    assert not padding(plus) and not padding(star)
    np.testing.assert_array_equal(kernel.diagonal(on_device(A), star).get(), wanted.diagonal())


@pytest.mark.parametrize("blocks", [(), (512,), (640,), (1024, 512), (2048, 1024, 640)])
@pytest.mark.parametrize("spare", [0, 8])
@pytest.mark.parametrize("skip", [False, True])
def test_every_schedule_gives_the_same(blocks: tuple[int, ...], spare: int, skip: bool) -> None:
    from semiring.kernels.cuda.bits.closure import Schedule, close

    for degree in (0.9, 1.5, 40):
        A = entries((3000, 3000), degree / 3000)
        M = on_device(A)
        close(M.bits, Schedule(blocks, spare, skip))
        np.testing.assert_array_equal(M.to_dense().get(), closure(A))


@pytest.mark.parametrize("method", SCHEDULES)
@pytest.mark.parametrize("n", [100, 700, 1500])
def test_schedules_run_unchanged(method: str, n: int) -> None:
    from semiring.kernels.cuda.bits.engine import BooleanKernel

    A = entries((n, n), 1.3 / n)
    M = on_device(A)
    SCHEDULES[method](M, BooleanKernel(), 256)
    np.testing.assert_array_equal(M.to_dense().get(), closure(A) | np.eye(n, dtype=bool))


@pytest.mark.parametrize("dtype", ["?", "f4", "i4"])
def test_the_lowering_takes_zeros_and_ones_of_any_algebra(dtype: str) -> None:
    import cupy

    from semiring.kernels.cuda.bits.engine import BooleanKernel
    from semiring.kernels.cuda.choose import packed_on_device

    S = sr.boolean if dtype == "?" else sr.min_plus
    low = packed_on_device(S, np.dtype(dtype))
    truths = entries((300, 300), 1.2 / 300)
    given = cupy.asarray(np.where(truths, low.one[0], low.zero[0]))
    work = low.encode(given, True)
    BooleanKernel().close(work)
    got = low.decode(work)
    assert got.dtype == given.dtype
    np.testing.assert_array_equal((got == low.one[0]).get(), closure(truths) | np.eye(300, dtype=bool))
    assert low.empty((3, 70)).count() == 0


@pytest.mark.parametrize("reflexive", [False, True])
def test_from_the_host_and_back(reflexive: bool) -> None:
    A = entries((1500, 1500), 1.2 / 1500)
    wanted = closure(A) | (np.eye(1500, dtype=bool) & reflexive)
    for given in (A, np.asfortranarray(A), A.astype("f8"), PackedMatrix.from_dense(A)):
        got = sr.closure(given, sr.boolean, packed=True, reflexive=reflexive, device="gpu")
        np.testing.assert_array_equal(got.to_dense(), wanted)


def test_what_does_not_fit_is_refused() -> None:
    import cupy

    from semiring.kernels.cuda.bits.engine import BooleanKernel
    from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix

    M = on_device(entries((100, 70), 0.5))
    with pytest.raises(sr.SemiringError, match="square"):
        BooleanKernel().close(M)
    with pytest.raises(sr.SemiringError, match="fit"):
        BooleanKernel().multiply(M, M, M)
    with pytest.raises(sr.SemiringError, match="2-D uint64"):
        DevicePackedMatrix(cupy.zeros((3, 3), np.int64), 3)
    with pytest.raises(sr.SemiringError, match="columns do not fit"):
        DevicePackedMatrix(cupy.zeros((3, 3), np.uint64), 200)


def test_entry_by_entry_and_degrees() -> None:
    a, b = entries((300, 700), 0.3), entries((300, 700), 0.4)
    A, B = on_device(a), on_device(b)
    for got, want in ((A | B, a | b), (A & B, a & b), (A ^ B, a ^ b)):
        np.testing.assert_array_equal(got.get().to_dense(), want)
    np.testing.assert_array_equal(A.row_degrees().get(), a.sum(axis=1))
    np.testing.assert_array_equal(A.column_degrees().get(), a.sum(axis=0))
