"""The three products of packed Boolean matrices on the device, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.truths import entries, on_device, padding, product

KERNELS = ["wgmma", "mma", "lop"]
DENSITIES = [0, 0.001, 0.03, 0.5, 1]
SHAPES = [  # around words, warps, slabs and tiles of 64, 128, 192 and 256
    (1, 1, 1), (1, 64, 65), (63, 65, 64), (64, 128, 256), (65, 129, 1023), (127, 255, 1024), (128, 256, 1025),
    (191, 257, 130), (192, 256, 2048), (193, 383, 5000), (400, 520, 1), (385, 100, 4097), (2, 3000, 300),
    (1200, 70, 700),
]


def runnable(kernel: str) -> None:
    from semiring.kernels.cuda.bits import product as bits
    from semiring.kernels.cuda.compile.launch import capability, current_device

    if kernel not in bits.kernels_of(capability(current_device())):
        pytest.skip("this device has no instructions for it")


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
        full = cupy.zeros((across, 4 * down), np.uint8)
        tiles = int(np.prod(bits.GEOMETRIES["wgmma"].tiles(m - gap.size, n)))
        wanted = C | product(A, B)
        wanted[gap.at : gap.at + gap.size] = C[gap.at : gap.at + gap.size]
        for _ in range(2):
            known, kept = bits.settled(c.bits, a.bits, t.bits, gap, bits.Known(full.data.ptr, 4 * down))
            bits.multiply(c.bits, a.bits, t.bits, True, gap=gap, known=known, kernel="wgmma")
            np.testing.assert_array_equal(c.to_dense().get(), wanted)
        for x, y in zip(*np.nonzero(full.get()), strict=True):
            assert wanted[16 * y : 16 * y + 16, 256 * x : 256 * x + 256].all()
        flags = cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(known.settled, max(tiles, 1), kept), 0)
        passed = cupy.ndarray(tiles, np.uint8, flags).get()
        assert passed.any() and (gap == Gap(0, 64) or not passed.all())  # columns 256 to 511 of B are empty
