"""The real and the complex field by the libraries that NumPy and SciPy link: products by the BLAS, closures by LAPACK.

To them 0 · ∞ is NaN, which would spread to entries that nothing infinite leads to: they get finite numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from math import isfinite
from typing import Any

import numpy as np

CALL_TERMS = 1 << 32  # multiply-adds of one call, of half a second at most: between two calls an interrupt is heard
SPREAD = 1e4  # of the largest entry to the least, from which vertices are scaled before rows are exchanged
UNDERRATED = 4  # times that an estimate of a norm may be too small
INVERTED_COLUMNS = 64  # that LAPACK inverts together; SciPy makes room for three
PANEL = 32  # columns that are tried first: most matrices whose rows have to be exchanged show it there
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
    """A stack in runs of at most `CALL_TERMS` terms, or single matrices."""
    step = max(CALL_TERMS // max(terms, 1), 1)
    return [slice(first, first + step) for first in range(0, batch, step)]


def _multiply(c: np.ndarray, a: np.ndarray, b: np.ndarray, accumulate: bool) -> None:
    longest = max(*a.shape[1:], b.shape[2])
    if len(c) == 1 and c.size * a.shape[2] > CALL_TERMS and longest > STEP:
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
        If shapes do not fit.
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


class Singular(Exception):
    """1 − A has no inverse, or rounding hides whether it has: `condition` is ∞, or how much errors are amplified."""

    def __init__(self, condition: float = np.inf, matrix: int | None = None):
        super().__init__(f"1 − A is singular, or its condition number is {condition:.2g}")
        self.condition, self.matrix = condition, matrix


def closure(A: np.ndarray, eps: float) -> np.ndarray | None:
    """A* = (1 − A)⁻¹ with exchange of rows; None where numbers overflow.

    Raises
    ------
    Singular

    Examples
    --------
    >>> closure(np.array([[1.0, 1.0], [1.0, 0.0]]), 2.0**-52).tolist()
    [[-1.0, -1.0], [-1.0, 0.0]]
    """
    found = decomposed(A)
    return None if found is None else found.closure(eps)


@dataclass(frozen=True, eq=False)
class Decomposition:
    """1 − A = P L U, or its transpose, as LAPACK left it, the vertices perhaps in another order and scale."""

    matrix: np.ndarray  # 1 − A, so ordered and scaled
    lu: np.ndarray
    exchanges: np.ndarray
    transposed: bool
    size: float  # the largest sum of absolute values in a row of 1 − A
    order: np.ndarray | None = None  # vertices by their place, where that is another
    scale: np.ndarray | None = None  # of each place

    def closure(self, eps: float) -> np.ndarray | None:
        """A*, or None where numbers overflow.

        Raises
        ------
        Singular
        """
        char = self.lu.dtype.char
        if not self.lu.size:
            return self.lu.copy()
        inverse, _ = _lapack(char, "getri")(self.lu, self.exchanges, lwork=INVERTED_COLUMNS * len(self.lu))
        size = _lapack(char, "lange")("I1"[self.transposed], inverse)
        if not isfinite(size):
            return None
        X = inverse.T if self.transposed else inverse
        if not doubt(size * self.size, len(X), X.dtype, eps) < 1:
            condition = sensitivity(self.matrix, X)
            if not doubt(condition, len(X), X.dtype, eps) < 1:
                raise Singular(condition)
        if self.order is not None:
            assert self.scale is not None
            found = np.empty_like(X)
            found[np.ix_(self.order, self.order)] = X * (self.scale[:, None] / self.scale)
            return found if are_finite(found) else None
        return X

    def refuse_singular(self, eps: float) -> None:
        """Refuse what is singular within rounding, at the cost of a few right-hand sides where it is far from it.

        Raises
        ------
        Singular
        """
        if self.lu.size and not doubt(UNDERRATED * self._condition(), len(self.lu), self.lu.dtype, eps) < 1:
            self.closure(eps)

    def solve(self, B: np.ndarray, turned: bool = False) -> bool:
        """B ← A* B, or the same with Aᵀ, checked by its residual; False, and B stays, where numbers overflow.

        Raises
        ------
        Singular
            Where the residual stays large, as where pivots grow without bound.
        """
        if not B.size:
            return True
        order, scale = self.order, self.scale
        b = B
        if order is not None and scale is not None:
            b = B[order] * (scale if turned else 1 / scale)[:, None]
        M, solve = self.matrix.T if turned else self.matrix, partial(
            _lapack(self.lu.dtype.char, "getrs"), self.lu, self.exchanges, trans=int(self.transposed != turned))
        X, _ = solve(b)
        if not are_finite(X):
            return False
        R = b - M @ X
        if not _is_small(R, M, X, b):  # a step of refinement: R. D. Skeel (1980)
            X += solve(R)[0]
            if not _is_small(b - M @ X, M, X, b):
                raise Singular(self._condition())
        if order is None or scale is None:
            B[...] = X
        else:
            X *= (1 / scale if turned else scale)[:, None]
            if not are_finite(X):
                return False
            B[order] = X
        return True

    def _condition(self) -> float:
        """The condition number by rows, as LAPACK estimates it: N. J. Higham, FORTRAN codes (1988)."""
        gecon = _lapack(self.lu.dtype.char, "gecon")
        return float(1 / max(gecon(self.lu, self.size, norm="1" if self.transposed else "I")[0], 1e-300))


def _is_small(R: np.ndarray, M: np.ndarray, X: np.ndarray, B: np.ndarray) -> bool:
    """Whether B − M X = R is what rounding explains, by its largest entry in every column."""
    n, eps = len(M), float(np.finfo(M.dtype).eps)
    size = _lapack(M.dtype.char, "lange")("1" if M.flags.c_contiguous else "I", M.T if M.flags.c_contiguous else M)
    with np.errstate(all="ignore"):
        allowed = (n + 8) * eps * (size * np.abs(X).max(0) + np.abs(B).max(0))
        return bool((np.abs(R).max(0) <= allowed).all())


def doubt(condition: Any, n: int, dtype: np.dtype, eps: float) -> Any:
    """What rounding may be worth beside the answer, 1 being all of it.

    Entries are known to within `eps`, of the dtype that they came in, and sums of n terms are computed in `dtype`.
    """
    return condition * (eps + n * float(np.finfo(dtype).eps))


def sensitivity(M: np.ndarray, X: np.ndarray) -> float:
    """How much relative errors of the entries of M = 1 − A are amplified in X = M⁻¹.

    This is Skeel's condition number, the largest of (|X| |M| |X| e)_i / (|X| e)_i. No scale of the rows changes it, it
    is no more than that of the norm, and of an acyclic graph it is 2 n at most, whatever its weights.

    R. D. Skeel, Scaling for numerical stability in Gaussian elimination (1979).

    Examples
    --------
    >>> A = np.diag([1e9] * 3, 1)
    >>> sensitivity(np.eye(4) - A, np.linalg.inv(np.eye(4) - A)) < 12
    True
    """
    with np.errstate(all="ignore"):
        x = np.abs(X)
        total = (x * room(len(x))).sum(-1, keepdims=True)
        found = (x / total) @ (np.abs(M) @ total)
        most = float(found.max(initial=0.0))
    return most if most == most else np.inf


def room(n: int) -> float:
    """The power of 2 by which numbers are scaled so that sums of n and a product with 1 − A do not overflow.

    Examples
    --------
    >>> room(3)
    0.0625
    """
    return 2.0 ** -(n.bit_length() + 2)


def decomposed(A: np.ndarray) -> Decomposition | None:
    """1 − A decomposed with exchange of rows, or None where numbers are not finite.

    Where LAPACK exchanges none, in 1 − A or in its transpose, that is elimination of the vertices in their order. Else
    they are ordered by strong components, so that rows are exchanged within these alone, and entries that no walk
    leads to stay 0; and scaled, so that large weights one way and small ones back do not exchange any.

    Raises
    ------
    Singular
        Where a pivot is 0, whatever row is taken.
    """
    a = numbers(A)
    n = len(a)
    factor, lange = _lapack(a.dtype.char, "getrf"), _lapack(a.dtype.char, "lange")
    difference = _one_minus(a)
    if not n:
        return Decomposition(difference, difference, np.arange(0), False, 0.0)
    size = lange("1", difference.T)
    if not isfinite(size):
        return None
    for transposed in (True, False):
        matrix = difference.T if transposed else difference
        if n > PANEL and _exchanges(factor(matrix[:, :PANEL])[1]):
            continue
        lu, exchanges, info = factor(matrix)
        if not info and exchanges.tobytes() == _unmoved(n):
            return Decomposition(difference, lu, exchanges, transposed, size)
    order, scale = _arranged(a)
    if order is None or scale is None:
        if n > PANEL:
            lu, exchanges, info = factor(difference)  # else it is what was tried last
    else:
        with np.errstate(all="ignore"):
            difference = _one_minus(a[np.ix_(order, order)] * (scale / scale[:, None]))
        size = lange("1", difference.T)
        if not isfinite(size):
            return None
        lu, exchanges, info = factor(difference)
    if info:
        raise Singular
    return Decomposition(difference, lu, exchanges, False, size, order, scale)


def _one_minus(a: np.ndarray) -> np.ndarray:
    if len(a) <= PANEL:
        return np.subtract(_identity(len(a), a.dtype.char), a, order="C")
    difference = np.negative(a, order="C")
    difference.reshape(-1)[:: len(a) + 1] += 1
    return difference


@cache
def _identity(n: int, char: str) -> np.ndarray:
    return np.eye(n, dtype=char)


def _arranged(a: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The vertices by strong components, in the order of the edges between these, and their scale in powers of 2.

    B. N. Parlett, C. Reinsch, Balancing a matrix for calculation of eigenvalues and eigenvectors (1969).
    """
    n, order, scale = len(a), None, None
    size = np.abs(a)
    if not _is_strong(size):
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        _, label = connected_components(csr_array(a != 0), connection="strong")
        order = np.argsort(-label, kind="stable")  # the last component is labelled first, as it is found first
    least, most = size.min(initial=np.inf, where=size > 0), size.max(initial=0)
    if most > SPREAD * least:
        balanced = a if order is None else a[np.ix_(order, order)]
        scale = _lapack(a.dtype.char, "gebal")(balanced, scale=1, permute=0)[3].real.astype(size.dtype)
    if order is None and scale is None:
        return None, None
    return np.arange(n) if order is None else order, np.ones(n, size.dtype) if scale is None else scale


def _is_strong(size: np.ndarray) -> bool:
    """Whether every vertex leads to every other, as is soon found where edges are many."""
    pattern = (size > 0).astype(np.float32)
    for edges in (pattern, pattern.T):
        reached, before = edges[0].copy(), 0
        reached[0] = 1
        while (count := int(np.count_nonzero(reached))) > before:
            if count == len(size):
                break
            before = count
            reached = np.minimum(reached + reached @ edges, 1)
        else:
            return False
    return True


@cache
def _unmoved(n: int) -> bytes:
    return np.arange(n, dtype=np.int32).tobytes()


def _exchanges(order: np.ndarray) -> bool:
    return not (order == np.arange(len(order))).all()


@cache
def _lapack(char: str, name: str) -> Any:
    """A function of LAPACK in a dtype."""
    from scipy.linalg import lapack

    return getattr(lapack, {"f": "s", "d": "d", "F": "c", "D": "z"}[char] + name)
