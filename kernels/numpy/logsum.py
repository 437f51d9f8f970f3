"""Products over log-sum-exp by ordinary matrix products: of powers, with the maxima of rows and columns taken out.

    r_i = max_k a_ik    c_j = max_k b_kj    E = exp(A − r)    F = exp(B − c)    G = E F    A ⊗ B = r + c + log G

Taking the maximum out before the sum is how a log-sum-exp is computed without overflow (P. Blanchard, D. J. Higham,
N. J. Higham, Accurately computing the log-sum-exp and softmax functions, 2021); taken out of rows and columns, it
leaves a matrix product. What it costs is range: a term far below r_i + c_j underflows. So an entry is believed only

- where G_ij ≥ 8 k t / ε, for t the least normal number: all that underflowed is less than its rounding; or
- where greatest and least finite number of row i, and of column j, are so near that no term can underflow; then a G_ij
  of 0 says that there is no term, and the entry is −∞.

The others are computed once more with powers in double precision, and what is not believed then by the general way:
only their rows and columns where these are few. So are rows and columns with NaN, with +∞, or with numbers whose sums
may overflow.

With ε the rounding unit of the precision in which E, F and G are held, a believed entry C_ij differs from the exact one
by at most ε (k + 16 + 4 |log G_ij| + |C_ij|), and by its rounding into the dtype of C. The sum of k positive terms
brings k; the mean of |a_ik − r_i| + |b_kj − c_j|, weighted by the terms, is at most log k − log G_ij, which bounds what
the rounded differences bring; the rest are exp, log and the sums of r_i + c_j with log G_ij. To base 2 it is this in
units of 1 / ln 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.logsum import LogSum

from . import library

General: TypeAlias = Callable[[Any, Any, Any, bool], None]  # C ← A ⊗ B, or C ⊕ A ⊗ B, for stacks
Strip: TypeAlias = Callable[[slice, slice], None]  # work on some rows of some matrices
FEW_SHARE = 1 / 4  # of a row beyond which the whole row is computed anew, and of rows beyond which all are
DOUBLE = np.dtype("f8")
SIDE_ON_GPU = 8192  # rows, columns and terms of one product there: powers take 768 MB at most, or twice as much


@dataclass(frozen=True)
class Library:
    """The array library: the place of arrays, its product, and how work is cut."""

    arrays: Any  # NumPy, or CuPy
    multiply: Callable[[Any, Any, Any], None]  # C ← A B for stacks of floats
    side: int  # rows, columns and terms of one product at most: powers take memory
    strip: int  # elements that are worked on at once after the product
    least_depth: int  # terms of an entry, and
    least_terms: int  # terms in all, from which the way by powers is faster
    each: Callable[[Strip, Iterable[tuple[slice, slice]]], None]  # does all strips, in any order


class Powers(NamedTuple):
    """Powers of an operand, with a maximum taken out of each row of A, or of each column of B."""

    numbers: Any
    top: Any
    spread: Any = None  # maxima less least finite numbers, −∞ where none is finite; None: to be found where asked for

    @property
    def turned(self) -> Powers:
        """The same of transposed matrices."""
        return Powers(*(None if x is None else x.swapaxes(1, 2) for x in self))


class LogSumProduct:
    """C ← A ⊗ B and C ⊕ A ⊗ B for stacks over one form of log-sum-exp.

    Parameters
    ----------
    form : LogSum
    library : Library
    """

    def __init__(self, form: LogSum, library: Library):
        self._negated, self._library, xp = form.negated, library, library.arrays
        self._exp, self._log = (xp.exp2, xp.log2) if form.binary else (xp.exp, xp.log)
        self._unit = math.log(2) if form.binary else 1.0

    def repays(self, batch: int, m: int, k: int, n: int) -> bool:
        """Whether a product of this shape is faster so than by ⊕ of each term."""
        return k >= self._library.least_depth and batch * m * k * n >= self._library.least_terms

    def __call__(self, C: Any, A: Any, B: Any, accumulate: bool, general: General) -> None:
        """Any strides; A and B may repeat a matrix by a zero stride. C overlaps neither A nor B.

        Raises
        ------
        ValueError
            If shapes do not fit.
        """
        library.check_shapes(C, A, B)
        (batch, m, n), k = C.shape, A.shape[2]
        if not self.repays(batch, m, k, n):
            general(C, A, B, accumulate)
            return
        wide = (DOUBLE,) if C.dtype == DOUBLE else (np.dtype("f4"), DOUBLE)
        with np.errstate(all="ignore"):  # log 0 = −∞, and what is not finite is looked for
            for c, a, b, follows in self._pieces(C, A, B):
                self._piece(c, a, b, accumulate or follows, general, wide)

    def _pieces(self, C: Any, A: Any, B: Any) -> Iterator[tuple[Any, Any, Any, bool]]:
        """Products of at most `side` rows, columns and terms, or stacks of as much; whether it adds to one before."""
        (batch, m, n), k, side = C.shape, A.shape[2], self._library.side
        step = max(side * side // max(m * k, k * n, m * n), 1)
        for s in (slice(i, i + step) for i in range(0, batch, step)):
            for p in range(0, k, side):
                for j in range(0, n, side):
                    for i in range(0, m, side):
                        rows, terms, columns = (slice(first, first + side) for first in (i, p, j))
                        yield C[s, rows, columns], A[s, rows, terms], B[s, terms, columns], p > 0

    def _piece(
        self, C: Any, A: Any, B: Any, accumulate: bool, general: General, wide: tuple[np.dtype, ...]
    ) -> None:
        """In the first precision that is believed, row by row; else by the general way."""
        if not wide or not self.repays(len(C), A.shape[1], A.shape[2], C.shape[2]):
            general(C, A, B, accumulate)
            return
        xp, dtype, left = self._library.arrays, wide[0], wide[1:]
        lift = lift_of(dtype, A.shape[2])
        E, F = self._powers(A, 2, dtype, lift), self._powers(B, 1, dtype, lift)
        G = xp.empty(C.shape, dtype)
        self._library.multiply(G, E.numbers, F.numbers)
        doubt, r, c = self._doubtful(G, A, B, E, F), E.top, F.top
        if doubt is None:
            self._finish(C, G, r, c, lift, accumulate)
        elif len(C) > 1:
            some = xp.flatnonzero(doubt.any(axis=(1, 2)))
            kept = C[some]
            self._finish(C, G, r, c, lift, accumulate)
            for i, s in enumerate(some.tolist()):
                self._piece(kept[i : i + 1], A[s : s + 1], B[s : s + 1], accumulate, general, wide)
            C[some] = kept
        else:
            rows = doubt[0].mean(axis=1) > FEW_SHARE
            columns = (doubt[0] & ~rows[:, None]).any(axis=0)
            if float(rows.mean() + columns.mean()) > FEW_SHARE:
                self._piece(C, A, B, accumulate, general, left)
                return
            i, j = xp.flatnonzero(rows), xp.flatnonzero(columns)
            some_rows, some_columns = C[:, i], C[:, :, j]
            self._finish(C, G, r, c, lift, accumulate)
            if len(i):
                self._piece(some_rows, A[:, i], B, accumulate, general, left)
                C[:, i] = some_rows
            if len(j):
                self._piece(some_columns, A, B[:, :, j], accumulate, general, left)
                C[:, :, j] = some_columns

    def _powers(self, X: Any, axis: int, dtype: np.dtype, lift: int) -> Powers:
        """2^lift exp(X − t) for t the maxima along an axis, or 0 where these are −∞; and t. No number is subnormal."""
        xp, batch = self._library.arrays, len(X)
        if abs(X.strides[1]) < abs(X.strides[2]):  # strips are to be of elements that lie side by side
            return self._powers(X.swapaxes(1, 2), 3 - axis, dtype, lift).turned
        if batch > 1 and X.strides[0] == 0:
            one = self._powers(X[:1], axis, dtype, lift)
            return Powers(*(None if x is None else xp.broadcast_to(x, (batch, *x.shape[1:])) for x in one))
        return self._lifted(X, axis, dtype, lift)

    def _lifted(self, X: Any, axis: int, dtype: np.dtype, lift: int) -> Powers:
        """The same for matrices in which elements of a row lie side by side, or nearer than those of a column."""
        xp = self._library.arrays
        top = (-X.min(axis=axis, keepdims=True) if self._negated else X.max(axis=axis, keepdims=True)).astype(dtype)
        top = xp.where(top == -np.inf, dtype.type(0), top)
        powers, tiny, scale = xp.empty(X.shape, dtype), np.finfo(dtype).tiny, dtype.type(2.0**lift)

        def strip(s: slice, rows: slice) -> None:
            x, part, most = X[s, rows], powers[s, rows], top[s, rows] if axis == 2 else top[s]
            xp.subtract(*((-most, x) if self._negated else (x, most)), out=part, dtype=dtype)
            self._exp(part, out=part)
            part *= xp.multiply(part >= tiny, scale, dtype=dtype)

        self._library.each(strip, self._strips(*X.shape))
        return Powers(powers, top)

    def _doubtful(self, G: Any, A: Any, B: Any, E: Powers, F: Powers) -> Any:
        """Which entries are not to be believed; None where all are."""
        xp, dtype, limits = self._library.arrays, G.dtype, np.finfo(G.dtype)
        k, r, c = A.shape[2], E.top, F.top
        least = dtype.type(8 * k * float(limits.tiny) / float(limits.eps) * 4.0 ** lift_of(dtype, k))
        largest = float(np.finfo(A.dtype).max) / 4  # beyond it r + c may overflow, and so may differences from them
        fine_rows, fine_columns = abs(r) <= largest, abs(c) <= largest  # and NaN is not fine
        fine = xp.stack([G.min() >= least, fine_rows.all(), fine_columns.all()])
        if bool(fine.all()):
            return None
        spread_r = self._spread(A, r, 2) if E.spread is None else E.spread
        spread_c = self._spread(B, c, 1) if F.spread is None else F.spread
        believed = (least <= G) | (spread_r + spread_c <= normal(dtype, self._unit))
        believed &= fine_rows & fine_columns
        return None if bool(believed.all()) else ~believed

    def _spread(self, x: Any, top: Any, axis: int) -> Any:
        """Maxima less least finite numbers along an axis, −∞ where none is finite."""
        xp = self._library.arrays
        if self._negated:
            return top + xp.where(x < np.inf, x, x.dtype.type(-np.inf)).max(axis=axis, keepdims=True)
        return top - xp.where(x > -np.inf, x, x.dtype.type(np.inf)).min(axis=axis, keepdims=True)

    def _finish(self, C: Any, G: Any, r: Any, c: Any, lift: int, accumulate: bool) -> None:
        """C ← r + c + log G, or the sum of that and C; G is used up."""
        def strip(s: slice, rows: slice) -> None:
            g, top, out = G[s, rows], r[s, rows] + c[s], C[s, rows]
            g *= G.dtype.type(0.25**lift)  # exact, which a difference of logarithms is not
            self._log(g, out=g)
            g += top  # r + c first: where they cancel nothing is lost
            if accumulate:
                g = self._sum(g, -out if self._negated else out)
            out[...] = -g if self._negated else g

        self._library.each(strip, self._strips(*G.shape))

    def _sum(self, x: Any, y: Any) -> Any:
        """log(eˣ + eʸ), step by step: a library has vector instructions for each, and none for all at once."""
        xp = self._library.arrays
        rest = xp.subtract(x, y)
        xp.negative(xp.abs(rest, out=rest), out=rest)
        self._exp(rest, out=rest)
        xp.log1p(xp.fmin(rest, 1, out=rest), out=rest)  # of the same infinities no difference is known, nor needed
        if self._unit != 1:
            rest *= rest.dtype.type(1 / self._unit)
        rest += xp.maximum(x, y)
        return rest

    def _strips(self, batch: int, m: int, n: int) -> Iterator[tuple[slice, slice]]:
        """Matrices and rows that are finished at once."""
        step = max(self._library.strip // max(m * n, 1), 1)
        height = max(self._library.strip // max(n, 1), 1)
        for s in range(0, batch, step):
            for i in range(0, m, height):
                yield slice(s, s + step), slice(i, i + height)


def normal(dtype: np.dtype, unit: float) -> float:
    """How far apart numbers may be of which no term underflows, in logarithms to e for 1, to 2 for log 2."""
    return -math.log(float(np.finfo(dtype).tiny)) / unit - 2


def lift_of(dtype: np.dtype, k: int) -> int:
    """The greatest exponent e so that k terms of 2ᵉ · 2ᵉ stay well below overflow.

    Then no product of normal numbers below 1 underflows either: sums that are subnormal on the way are a hundred times
    as slow on most processors.
    """
    return int(np.finfo(dtype).maxexp - 2 - max(k - 1, 1).bit_length()) // 2


def in_turn(work: Strip, strips: Iterable[tuple[slice, slice]]) -> None:
    """Strips one after the other."""
    for strip in strips:
        work(*strip)


#: The BLAS that NumPy links. Powers of a product fit in 192 MB, or 384 MB for doubles; strips stay in the cache.
HOST = Library(np, library.multiply, side=4096, strip=1 << 15, least_depth=4, least_terms=1 << 13, each=in_turn)


def memory(lowering: Lowering, batch: int, m: int, k: int, n: int) -> int:
    """Bytes that a product takes beside its operands and its result: E, F and G in each precision, and the doubts."""
    side = SIDE_ON_GPU if lowering.on_gpu else HOST.side
    m, k, n = (min(length, side) for length in (m, k, n))
    most = min(batch, max(side * side // max(m * k, k * n, m * n, 1), 1))
    size = 8 if lowering.storage == DOUBLE else 4 + 8
    return most * (size * (m * k + k * n + m * n) + 2 * m * n)
