"""The real and the complex field by the libraries that NumPy links: products by the BLAS.

To them 0 · ∞ is NaN, which would spread to entries that nothing infinite leads to: they get finite numbers only.
"""

from __future__ import annotations

import numpy as np

MOST = 1 << 32  # multiply-adds of one call, of half a second at most: between two calls an interrupt is heard
STEP = 256  # halves of a product are a multiple of so many rows, columns or terms


def numbers(block: np.ndarray) -> np.ndarray:
    """Pairs of real and imaginary parts as the complex numbers that they are."""
    return block.view(f"c{block.dtype.itemsize}") if block.dtype.names else block


def are_finite(*blocks: np.ndarray) -> bool:
    """Whether no number is infinite or NaN, seen by their sums; a sum that overflows only costs time."""
    with np.errstate(all="ignore"):
        return all(np.isfinite(block.sum()) for block in blocks)


def product(C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> bool:
    """C ← A B, or C + A B, for a stack of matrices; False, and nothing is done, where a number is not finite.

    Examples
    --------
    >>> A, C = np.eye(2), np.ones((2, 2))
    >>> product(C, A, A, True), C.tolist()
    (True, [[2.0, 1.0], [1.0, 2.0]])
    """
    c, a, b = map(numbers, (C, A, B))
    if not are_finite(a, b):
        return False
    with np.errstate(all="ignore"):  # what overflows is infinite, as in every engine
        for stack in _spans(len(c), c[0].size * a.shape[-1] if len(c) else 0):
            _multiply(c[stack], a[stack], b[stack], accumulate)
    return True


def _spans(batch: int, terms: int) -> list[slice]:
    """A stack in runs of at most `MOST` terms, or single matrices."""
    step = max(MOST // max(terms, 1), 1)
    return [slice(first, first + step) for first in range(0, batch, step)]


def _multiply(c: np.ndarray, a: np.ndarray, b: np.ndarray, accumulate: bool) -> None:
    m, k, n = *a.shape[1:], b.shape[2]
    longest = max(m, k, n)
    if len(c) != 1 or m * k * n <= MOST or longest <= STEP:
        if accumulate:
            c += a @ b
        else:
            np.matmul(a, b, out=c)
        return
    h = -(-longest // (2 * STEP)) * STEP
    if m == longest:
        _multiply(c[:, :h], a[:, :h], b, accumulate)
        _multiply(c[:, h:], a[:, h:], b, accumulate)
    elif n == longest:
        _multiply(c[:, :, :h], a, b[:, :, :h], accumulate)
        _multiply(c[:, :, h:], a, b[:, :, h:], accumulate)
    else:
        _multiply(c, a[:, :, :h], b[:, :h], accumulate)
        _multiply(c, a[:, :, h:], b[:, h:], True)
