"""The real and the complex field by the libraries that NumPy and SciPy link: products by the BLAS, closures by LAPACK.

To them 0 · ∞ is NaN, which would spread to entries that nothing infinite leads to: they get finite numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

MOST = 1 << 32  # multiply-adds of one call, of half a second at most: between two calls an interrupt is heard
PANEL = 32  # columns that are tried first: most matrices whose rows have to be exchanged show it there
LEAST = 32  # order of a matrix from which calling LAPACK repays
STEP = 256  # halves of a product are a multiple of so many rows, columns or terms


def check_shapes(C: Any, A: Any, B: Any) -> None:
    """Refuse stacks of matrices that are not a product C ← A ⊗ B.

    Raises
    ------
    ValueError
    """
    (batch, m, n), k = C.shape, A.shape[2]
    if A.shape != (batch, m, k) or B.shape != (batch, k, n):
        raise ValueError(f"shapes {C.shape}, {A.shape} and {B.shape} do not fit")


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
    >>> A, C = np.eye(2)[None], np.ones((1, 2, 2))
    >>> product(C, A, A, True), C[0].tolist()
    (True, [[2.0, 1.0], [1.0, 2.0]])
    """
    c, a, b = map(numbers, (C, A, B))
    if not are_finite(a, b):
        return False
    with np.errstate(all="ignore"):  # what overflows is infinite, as in every engine
        multiply(c, a, b, accumulate)
    return True


def multiply(c: np.ndarray, a: np.ndarray, b: np.ndarray, accumulate: bool = False) -> None:
    """`product` of numbers that are known to be finite."""
    for stack in _spans(len(c), c[0].size * a.shape[-1] if len(c) else 0):
        _multiply(c[stack], a[stack], b[stack], accumulate)


def _spans(batch: int, terms: int) -> list[slice]:
    """A stack in runs of at most `MOST` terms, or single matrices."""
    step = max(MOST // max(terms, 1), 1)
    return [slice(first, first + step) for first in range(0, batch, step)]


def _multiply(c: np.ndarray, a: np.ndarray, b: np.ndarray, accumulate: bool) -> None:
    longest = max(*a.shape[1:], b.shape[2])
    if len(c) == 1 and c.size * a.shape[2] > MOST and longest > STEP:
        for part in halves(c, a, b, accumulate, STEP):
            _multiply(*part)
    elif accumulate:
        c += a @ b
    else:
        np.matmul(a, b, out=c)


Product = tuple[np.ndarray, np.ndarray, np.ndarray, bool]


def halves(
    C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool, step: int
) -> tuple[Product, Product]:
    """A stack of products C ← A ⊗ B, or C ⊕ A ⊗ B, as two, to be done in this order.

    Single matrices are cut at a multiple of `step`, where they are longest.

    Raises
    ------
    ValueError
        When shapes do not fit.
    """
    check_shapes(C, A, B)
    (batch, m, n), k = C.shape, A.shape[2]
    if batch > 1:
        h = batch // 2
        return (C[:h], A[:h], B[:h], accumulate), (C[h:], A[h:], B[h:], accumulate)
    longest = max(m, n, k)
    h = -(-longest // (2 * step)) * step
    if m == longest:
        return (C[:, :h], A[:, :h], B, accumulate), (C[:, h:], A[:, h:], B, accumulate)
    if n == longest:
        return (C[:, :, :h], A, B[:, :, :h], accumulate), (C[:, :, h:], A, B[:, :, h:], accumulate)
    return (C, A[:, :, :h], B[:, :h], accumulate), (C, A[:, :, h:], B[:, h:], True)


def close(D: np.ndarray) -> bool:
    """D ← D* = (1 − D)⁻¹ by an LU decomposition; False, and D stays, where `decomposed` has none or numbers overflow.

    Examples
    --------
    >>> D = np.full((40, 40), 1 / 80)
    >>> close(D), list(D[0, :2].round(6))
    (True, [np.float64(1.025), np.float64(0.025)])
    """
    found = decomposed(D)
    inverse = None if found is None else found.closure()
    if inverse is None:
        return False
    numbers(D)[...] = inverse
    return True


@dataclass(frozen=True, eq=False)
class Decomposition:
    """1 − A = L U, or its transpose, as LAPACK left it."""

    lu: np.ndarray
    order: np.ndarray
    transposed: bool

    def closure(self) -> np.ndarray | None:
        """A*, or None where numbers overflow."""
        inverse, _ = _lapack(self.lu.dtype.char, "getri")(self.lu, self.order)
        return (inverse.T if self.transposed else inverse) if are_finite(inverse) else None

    def solve(self, B: np.ndarray) -> bool:
        """B ← A* B for numbers; False, and B stays, where they overflow."""
        X, _ = _lapack(self.lu.dtype.char, "getrs")(self.lu, self.order, B, trans=int(self.transposed))
        if not are_finite(X):
            return False
        B[...] = X
        return True


def decomposed(A: np.ndarray) -> Decomposition | None:
    """1 − A decomposed without exchanging rows, or None where that is not so, or the order of vertices might matter.

    The closure exists where no pivot is 1, the vertices being eliminated in their order. LAPACK exchanges rows, and
    then divides by other pivots. So it is believed only where it exchanged none, in 1 − A or its transpose, which have
    the same pivots, and no pivot is so near to 1 that rounding could have brought it there or away.
    """
    a = numbers(A)
    n = len(a)
    if n < LEAST:
        return None
    factor = _lapack(a.dtype.char, "getrf")
    for transposed in (True, False):
        difference = np.negative(a, order="C")
        difference.reshape(-1)[:: n + 1] += 1
        if not are_finite(difference):
            return None
        matrix = difference.T if transposed else difference
        if _exchanges(factor(matrix[:, :PANEL])[1]):
            continue
        lu, order, _ = factor(matrix, overwrite_a=True)
        if not _exchanges(order):
            return Decomposition(lu, order, transposed) if are_far_from_one(lu, a) else None
    return None


def are_far_from_one(lu: Any, a: Any) -> bool:
    """Whether 1 − a = L U, or its transpose, has no pivot that rounding could have brought to 1 or away.

    A sum of n products rounds n times, and n of them may add up in a pivot. They do not where the diagonal is dominant;
    there no pivot is 1, however it is rounded. The arrays are NumPy's or CuPy's.
    """
    n = len(lu)
    largest = float(np.abs(lu).max() if lu.dtype.kind == "c" else max(lu.max(), -lu.min()))
    least, near = float(np.abs(lu.diagonal()).min()), n * float(np.finfo(lu.dtype).eps) * largest
    return least > n * near or (least > near and is_dominant(a))


def is_dominant(a: Any) -> bool:
    """Whether in every row of 1 − a, or in every column, the diagonal entry is larger than all others together.

    Then 1 − a has an inverse, and so has every block on its diagonal, by the theorem of Lévy and Desplanques. The
    margin is what rounding these sums may be worth.

    Examples
    --------
    >>> is_dominant(np.full((3, 3), 0.25)), is_dominant(np.full((3, 3), 0.5))
    (True, False)
    """
    with np.errstate(all="ignore"):  # sums that overflow are not smaller than anything
        size, own = np.abs(a), np.abs(1 - a.diagonal())
        for axis in (1, 0):
            total = size.sum(axis)
            margin = (len(a) + 4) * float(np.finfo(a.dtype).eps) * (total + own)
            if bool((total - size.diagonal() < own - margin).all()):
                return True
    return False


def _exchanges(order: np.ndarray) -> bool:
    return not (order == np.arange(len(order))).all()


@cache
def _lapack(char: str, name: str) -> Any:
    """A function of LAPACK in a dtype."""
    from scipy.linalg import lapack

    return getattr(lapack, {"f": "s", "d": "d", "F": "c", "D": "z"}[char] + name)
