"""The engine for Python objects: loops over lists, for teaching and for elements that no machine type holds.

Elements lie in lists while they are combined: to read or write an entry of a NumPy array takes as long as a cheap ⊕.
Terms with a zero are left out, so that most ⊗ need not test for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, reduce
from itertools import chain, repeat
from typing import Any, NamedTuple, cast

import numpy as np

from semiring.algebra.elements import full
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.dense import ArrayBlocks

NARROW = 4  # columns below which entries are computed one by one


class Line(NamedTuple):
    """A row of elements; `others` has the places of those that are not zero, if some are."""

    elements: list[Any]
    others: list[int] | None


class Scalar(NamedTuple):
    """The operations on two objects; `times` is ⊗ of elements other than zero, if ⊗ with zero is zero (`skips`)."""

    add: Callable[[Any, Any], Any]
    times: Callable[[Any, Any], Any]
    star: Callable[[Any], Any]
    defined: Callable[[Any], Any]
    zero: Any
    compares: bool  # whether an element may equal zero without being the same object
    skips: bool

    def is_zero(self, x: Any) -> bool:
        """Whether terms with x are left out."""
        return self.skips and (x is self.zero or (self.compares and bool(x == self.zero)))

    def line(self, elements: list[Any]) -> Line:
        """A row of the second operand of a product."""
        zero, compares = self.zero, self.compares
        if not self.skips:
            return Line(elements, None)
        others = [j for j, x in enumerate(elements) if not (x is zero or (compares and x == zero))]
        few = len(others) < len(elements) / (1 if compares else 2)  # a declared ⊗ with zero takes less than an index
        return Line(elements, others if few else None)

    def scaled(self, s: Any, elements: list[Any]) -> list[Any]:
        """s ⊗ x for each x."""
        if self.is_zero(s):
            return [self.zero] * len(elements)
        times, is_zero = self.times, self.is_zero
        return [self.zero if is_zero(x) else times(s, x) for x in elements]

    def total(self, c: Any, left: list[Any], right: list[Any]) -> Any:
        """c ⊕ the ⊕ of left ⊗ right; None is zero."""
        add, times, zero = self.add, self.times, self.zero
        c = zero if c is None else c
        if not self.skips:
            return reduce(add, map(times, left, right), c)
        compares = self.compares
        for a, b in zip(left, right, strict=True):
            if a is zero or b is zero or (compares and (a == zero or b == zero)):
                continue
            c = times(a, b) if c is zero else add(c, times(a, b))
        return c

    def joined(self, row: list[Any] | None, a: Any, line: Line) -> list[Any] | None:
        """row ⊕ a ⊗ line, perhaps in place; None is a row of zeros."""
        if self.is_zero(a):
            return row
        add, times, zero = self.add, self.times, self.zero
        elements, others = line
        if others is None:
            terms = map(times, repeat(a), elements)  # without a bytecode for each
            return list(terms if row is None else map(add, row, terms))
        row = [zero] * len(elements) if row is None else row
        for j in others:
            c, t = row[j], times(a, elements[j])
            row[j] = t if c is zero else add(c, t)
        return row


class ObjectKernel(ArrayBlocks):
    """The kernel interface over object arrays; see `semiring.kernels.interface`."""

    tile = 1 << 30
    align = 1
    threads = 1
    place = "CPU, 1 thread"  #: the place of the computation, in words

    def __init__(self, lowering: Lowering):
        self._S, self._add_one = lowering.algebra.over(object), lowering.add_one
        self.dtype = np.dtype(object)

    @cached_property
    def _scalar(self) -> Scalar:
        S, known = self._S.semiring, cast("dict[str, Callable[..., Any]]", self._S.scalar)
        traced = S.traced is not None
        return Scalar(known["add"], known["raw_mul" if traced else "mul"], known["star"], known["defined"],
                      self._S.zero, traced, traced or S.absorbs)

    def add(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x ⊕ y, element by element."""
        return np.asarray(self._S.add(x, y))

    def zeros(self, shape: tuple[int, ...]) -> np.ndarray:
        """An array of zeros."""
        return full(np.empty(shape, object), self._S.zero)

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        on = self._scalar
        for c, a, b in zip(C, A, B, strict=True):
            if c.shape[1] < NARROW:
                columns, old = b.T.tolist(), c.tolist() if accumulate else [[None] * c.shape[1]] * len(c)
                _write(c, [[on.total(x, left, y) for x, y in zip(row, columns, strict=True)]
                           for row, left in zip(old, a.tolist(), strict=True)])
                continue
            lines = [on.line(row) for row in b.tolist()]
            rows: list[Any] = c.tolist() if accumulate else [None] * len(c)
            for i, left in enumerate(a.tolist()):
                row = rows[i]
                for x, line in zip(left, lines, strict=True):
                    row = on.joined(row, x, line)
                rows[i] = [on.zero] * c.shape[1] if row is None else row
            _write(c, rows)

    def close(self, D: np.ndarray) -> int:
        """D ← D*; −1, or the first pivot without a star."""
        on, rows, undefined = self._scalar, D.tolist(), -1
        for k, pivot in enumerate(rows):
            if not on.defined(pivot[k]):
                undefined = k
                break
            s = on.star(pivot[k])
            rows[k] = on.scaled(s, pivot)
            rows[k][k] = s
            line = on.line(rows[k])
            for i, row in enumerate(rows):
                if i != k:
                    a, row[k] = row[k], on.zero  # where a ⊗ s is then added
                    rows[i] = on.joined(row, a, line)
        _write(D, rows)
        return undefined

    def close_stack(self, D: np.ndarray) -> np.ndarray:
        """D[s] ← D[s]* for every s; −1, or the first pivot without a star, for each."""
        return np.array([self.close(matrix) for matrix in D], np.int64)

    def diagonal(self, A: np.ndarray, D: np.ndarray) -> np.ndarray:
        """⊕ over k of A[i, k] ⊗ D[k, i]."""
        out = np.empty(A.shape[0], object)
        for i in range(A.shape[0]):
            cell = np.empty((1, 1), object)
            self.multiply(cell, A[i : i + 1], D[:, i : i + 1])
            out[i] = cell[0, 0]
        return out

    def equal(self, A: np.ndarray, B: np.ndarray) -> bool:
        """Whether all elements are equal."""
        return bool(all(x == y for x, y in zip(A.flat, B.flat, strict=True)))


def _write(target: np.ndarray, rows: list[list[Any]]) -> None:
    """Write elements as they are, even if they are sequences."""
    target[...] = np.fromiter(chain.from_iterable(rows), object, target.size).reshape(target.shape)
