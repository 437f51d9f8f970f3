"""The kernel interface over packed matrices in device memory, which is the host's here: in place, strips, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.host import Host
from gpu.played_bits import Bits

import semiring as sr
from semiring.kernels.cuda.bits import engine
from semiring.kernels.cuda.bits.engine import BooleanKernel
from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix

KERNEL = BooleanKernel()


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> Bits:
    """Operands are transposed and copied in strips of 512 rows or columns."""
    monkeypatch.setattr(engine, "STRIP_BYTES", 1)
    return Bits(Host(), monkeypatch)


def truths(rows: int, columns: int, seed: int = 0, density: float = 0.05) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, columns)) < density


def packed(array: np.ndarray) -> DevicePackedMatrix:
    return DevicePackedMatrix.from_dense(array)


def meeting(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A.astype(int) @ B.astype(int) > 0


def reached(A: np.ndarray) -> np.ndarray:
    A = A.copy()
    for k in range(len(A)):
        A |= A[:, k, None] & A[k]
    return A


def assert_same(M: DevicePackedMatrix, wanted: Any) -> None:
    np.testing.assert_array_equal(M.get().to_dense(), wanted)


@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (40, 70, 600), (30, 0, 20), (0, 5, 5), (5, 5, 0)])
def test_products(m: int, k: int, n: int) -> None:
    A, B, C = truths(m, k, 1), truths(k, n, 2), truths(m, n, 3)
    c = packed(C)
    KERNEL.multiply_add(c, packed(A), packed(B))
    assert_same(c, C | meeting(A, B))
    KERNEL.multiply(c, packed(A), packed(B))
    assert_same(c, meeting(A, B))


def test_products_in_place() -> None:
    D, R, C = truths(40, 40, 1), truths(40, 700, 2), truths(700, 40, 3)
    r, c = packed(R), packed(C)
    KERNEL.left(packed(D), r)
    KERNEL.right(c, packed(D))
    assert_same(r, meeting(D, R))
    assert_same(c, meeting(C, D))


@pytest.mark.parametrize("n", [0, 1, 65, 130])
def test_closures(n: int) -> None:
    A = truths(n, n, density=1.5 / max(n, 1))
    plus, star = packed(A), packed(A)
    assert KERNEL.close_plus(plus) == KERNEL.unchecked.close(star) == -1
    assert_same(plus, reached(A))
    assert_same(star, reached(A) | np.eye(n, dtype=bool))
    assert KERNEL.closes_whole(n)


def test_a_block_that_begins_with_any_word_is_closed_where_it_lies() -> None:
    A = truths(300, 300, density=0.01)
    M = packed(A)
    KERNEL.close_plus(M[64:192, 64:192])
    A[64:192, 64:192] = reached(A[64:192, 64:192])
    assert_same(M, A)


def test_entries() -> None:
    A, D = truths(600, 30, 1), truths(30, 600, 2)
    np.testing.assert_array_equal(KERNEL.diagonal(packed(A), packed(D)), meeting(A, D).diagonal())
    assert not KERNEL.diagonal(packed(A[:, :0]), packed(D[:0])).any()
    S = truths(70, 70)
    M = packed(S)
    KERNEL.add_one(M)
    assert_same(M, S | np.eye(70, dtype=bool))
    diagonal = np.arange(70) % 3 == 0
    KERNEL.set_diagonal(M, diagonal.astype("f4"))
    assert_same(M, np.where(np.eye(70, dtype=bool), diagonal, S))
    other = KERNEL.like(M)
    assert other.shape == M.shape and other.count() == 0 and not KERNEL.equal(other, M)
    KERNEL.assign(other, M)
    assert KERNEL.equal(other, M)


def test_what_does_not_fit_is_refused() -> None:
    M = DevicePackedMatrix.zeros(100, 70)
    for multiply in (KERNEL.multiply, KERNEL.multiply_add):
        with pytest.raises(sr.SemiringError, match=r"shapes do not fit: \(100, 70\) ← \(100, 70\) ⊗ \(100, 70\)"):
            multiply(M, M, M)
    with pytest.raises(sr.SemiringError, match=r"only a square matrix has a closure, not one of shape \(100, 70\)"):
        KERNEL.close(M)
    with pytest.raises(sr.SemiringError, match=r"shapes \(100, 70\) and \(100, 70\) do not fit"):
        KERNEL.diagonal(M, M)


@pytest.mark.parametrize(("count", "length"), [(0, 5), (1, 1), (513, 0), (2_000_000, 9_000_000), (100_000, 100_000)])
def test_strips(count: int, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other; each begins where a view may, and takes no more memory than may be taken at once."""
    monkeypatch.setattr(engine, "STRIP_BYTES", 1 << 30)
    strips = engine.strips(count, length)
    bounds = [i for strip in strips for i in strip]
    assert bounds == sorted(bounds) and sum(last - first for first, last in strips) == count
    assert all(first % 512 == 0 for first, _ in strips) and bounds[1:-1:2] == bounds[2::2]
    assert all((last - first) * length <= max(8 << 30, 512 * length) for first, last in strips)
