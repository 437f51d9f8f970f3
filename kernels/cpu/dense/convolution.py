"""Convolutions by vectors of the processor: products with Toeplitz matrices, which lie in memory as a sequence does.

With c cut into rows of L entries, and f the first entry of c that is wanted,

    c[f + r L + q] = ⊕_t A[r, t] ⊗ B[t, q],    A[r, t] = a[f + r L − t],    B[t, q] = b[q + t]

Both matrices are views of the sequences, by strides. So the operation for products of small matrices (lanes.py) does
the work: it keeps a tile of c in registers while t passes, and copies nothing. Terms beyond the ends of a sequence are
products with zero; there are few, since every group of rows takes only the t of its own entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as every
from math import prod
from typing import NamedTuple

import numpy as np

from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.dense import operations
from semiring.machine.pieces import share
from semiring.machine.threads import thread_count

from .lanes import MOST_TERMS, geometry, small

WIDEST = 8  # vectors in a row of c at most
SHARE = 8  # of the terms, one in so many may be a product with zero
ROWS = 16  # rows of c in a group, if a group has as many terms as pay off
DEPTH = 8192  # bytes of b that a group of rows reads at a time: with its part of a they stay in the first-level cache


class Windows(NamedTuple):
    """Which part of the convolutions of a stack is wanted.

    Attributes
    ----------
    stack : tuple of int
        The axes of the stack.
    left, right : tuple of int
        Shapes of a and of b, along the axes of the convolution.
    first, shape : tuple of int
        Where the wanted part begins in the full convolution, and how large it is.
    """

    stack: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    first: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def terms(self) -> float:
        """The products ⊗ that the wanted entries are sums of."""
        counts = zip(self.left, self.right, self.first, self.shape, strict=True)
        return float(prod(self.stack)) * prod(_terms(*axis) for axis in counts)

    @property
    def exchanged(self) -> Windows:
        """Those of b and a."""
        return self._replace(left=self.right, right=self.left)


def _terms(left: int, right: int, first: int, count: int) -> int:
    """The pairs i + j of one axis in a range of sums."""
    short = min(left, right)

    def below(sums: int) -> int:  # the pairs with i + j < sums
        rising = min(max(sums, 0), short)
        flat = min(max(sums - short, 0), left + right - 2 * short)
        falling = min(max(sums - short - flat, 0), short)
        return rising * (rising + 1) // 2 + flat * short + falling * short - falling * (falling + 1) // 2

    return below(first + count) - below(first)


class Strips(NamedTuple):
    """How c is cut into rows, and these into groups.

    Attributes
    ----------
    width : int
        Entries of a row, a multiple of the lanes of a vector.
    rows, group : int
        Rows of c, and of a group.
    """

    width: int
    rows: int
    group: int

    @classmethod
    def of(cls, low: Lowering, left: int, right: int, count: int) -> Strips:
        """Those for sequences of such lengths, of which so many sums are wanted."""
        lanes, height, _ = geometry(low.components)
        each = left // height if left < right else right  # entries of a row are few against these
        width = min(max(each // (SHARE * lanes), 1), WIDEST, -(-count // lanes)) * lanes
        rows = -(-count // width)
        group = max(ROWS, height)
        if left < right:  # then a group's first and last row have few terms in common
            group = min(max(left // (SHARE * width), height), group)
        elif right * width * ROWS < MOST_TERMS // 64:
            group = max(MOST_TERMS // 64 // (right * width), group)
        return cls(width, rows, min(group, rows))

    def padding(self) -> tuple[int, int]:
        """Zeros on either side of a and of b that a group may read."""
        return (self.group - 1) * self.width, self.width - 1


class Vectors:
    """Convolutions of one lowering, whose sequences are in storage and have zeros around them.

    Parameters
    ----------
    low : Lowering
        For which lanes.py `fits`, and whose ⊕ is not a log-sum-exp.
    windows : Windows
    a, b : ndarray, shape (…, *left) and (…, *right)
        In storage; leading axes broadcast to the stack.
    """

    def __init__(self, low: Lowering, windows: Windows, a: np.ndarray, b: np.ndarray):
        self.windows, self.low = windows, low
        self.strips = Strips.of(low, windows.left[-1], windows.right[-1], windows.shape[-1])
        sides = zip((a, b), self.strips.padding(), (windows.left, windows.right), strict=True)
        self.a, self.b = (self._padded(x, zeros, shape) for x, zeros, shape in sides)
        self.c = operations(low).zeros((*windows.stack, *windows.shape[:-1], self.strips.rows * self.strips.width))
        self._item = low.storage.itemsize

    def _padded(self, x: np.ndarray, zeros: int, shape: tuple[int, ...]) -> np.ndarray:
        made = operations(self.low).zeros((*x.shape[:-1], x.shape[-1] + 2 * zeros))
        inner = made[..., zeros : zeros + x.shape[-1]]
        inner[...] = x
        return np.broadcast_to(inner, (*self.windows.stack, *shape))  # a view: zeros lie beyond both of its ends

    def run(self) -> np.ndarray:
        """Return the wanted part, in storage. Results do not depend on the number of threads."""
        from semiring.kernels.cpu.compile.jit import from_python  # it imports Numba

        self._product = from_python(small(self.low).product, 19)
        share(self._piece, list(self._pieces()), thread_count())
        return self.c[..., : self.windows.shape[-1]]

    def _pieces(self) -> Iterator[tuple[tuple[int, ...], int, int, int, int]]:
        """Leading places of c but the last axis of these, some places there, and some rows."""
        *outer, count = self.c.shape[:-1] or (1,)
        strips, depth = self.strips, min(self.windows.right[-1], self.windows.left[-1]) + self.strips.width
        each = depth * strips.group * strips.width * prod(self.windows.right[:-1])
        step = max(MOST_TERMS // 16 // each, 1)
        for place in every(*map(range, outer)):
            for i in range(0, count, step):
                for r in range(0, strips.rows, strips.group):
                    yield place, i, min(i + step, count), r, min(r + strips.group, strips.rows)

    def _piece(self, place: tuple[int, ...], i: int, end: int, r: int, last: int) -> None:
        stack, leads = len(self.windows.stack), len(self.windows.left) - 1
        if not leads:
            at = (*place, i) if stack else ()
            steps = tuple(X.strides[stack - 1] if stack else 0 for X in (self.a, self.b, self.c))
            self._rows((at, at, at), steps, end - i, r, last)
            return
        head, outer = place[:stack], place[stack:]
        step_a, step_c = (X.strides[stack + leads - 1] for X in (self.a, self.c))
        first = self.windows.first
        for J in every(*map(range, self.windows.right[:-1])):
            I = [f + o - j for f, o, j in zip(first, outer, J[:-1], strict=False)]
            if not all(0 <= x < n for x, n in zip(I, self.windows.left, strict=False)):
                continue
            shift = first[leads - 1] - J[-1]
            begin, stop = max(i, -shift), min(end, self.windows.left[leads - 1] - shift)
            if begin < stop:
                ats = (*head, *I, begin + shift), (*head, *J), (*place, begin)
                self._rows(ats, (step_a, 0, step_c), stop - begin, r, last)

    def _rows(
        self, ats: tuple[tuple[int, ...], ...], steps: tuple[int, ...], count: int, r: int, last: int
    ) -> None:
        """Some rows of `count` sequences, from places of a, b and c on: c ← c ⊕ A ⊗ B, some t at a time."""
        size, width, item = self.windows, self.strips.width, self._item
        first = size.first[-1] + r * width
        begin = max(1 - width, first - size.left[-1] + 1)
        end = min(size.right[-1], first + (last - r - 1) * width + 1)
        a, b, c = (_address(X, at) for X, at in zip((self.a, self.b, self.c), ats, strict=True))
        depth = max(DEPTH // item, 64)
        for t in range(begin, end, depth):
            self._product(
                a + (first - t) * item, steps[0], width * item, -item, b + t * item, steps[1], item, item,
                c + r * width * item, steps[2], width * item, item, count, last - r, min(depth, end - t), width,
                1, 0, 1,
            )


def _address(X: np.ndarray, at: tuple[int, ...]) -> int:
    return X.ctypes.data + sum(i * step for i, step in zip(at, X.strides, strict=False))
