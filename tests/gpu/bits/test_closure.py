"""Closures of packed Boolean matrices on the device, against NumPy: small blocks, every schedule, paths, orders."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.truths import closure, entries, on_device, padding


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
