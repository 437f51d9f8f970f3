"""Bottleneck closures by a spanning tree, by NumPy: what `semiring.kernels.cpu.sparse.spanning` compiles."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from semiring.kernels.lowering.base import Lowering

from .dense import operations

STEP = 1.6e-5  # seconds to add a vertex to the tree and to write its row, beside what elements take
ELEMENT = 1.2e-8  # and for each element of both


class ArraySpanning:
    """The operations of `SpanningKernel`, of numbers whose order NumPy knows.

    Parameters
    ----------
    lowering : Lowering
        For which `is_ordered`.
    """

    def __init__(self, lowering: Lowering):
        self._low = lowering
        least = lowering.add.is_plain("minimum")
        self._better: np.ufunc = np.minimum if least else np.maximum
        self._worse: np.ufunc = np.maximum if least else np.minimum
        self._best = np.argmin if least else np.argmax

    def tree(self, A: np.ndarray, mask: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """See `SpanningKernel.tree`."""
        n = len(A)
        order, weights = np.zeros(n, np.int32), np.full(n, self._low.one[0], A.dtype)
        left, keys = np.arange(n - 1, dtype=np.int32), np.full(max(n - 1, 0), self._low.zero[0], A.dtype)
        order[0] = n - 1
        for t in range(1, n):
            self._better(keys, recoded(A[order[t - 1]][left], mask), out=keys)
            at = int(self._best(keys))
            order[t], weights[t] = left[at], keys[at]
            left[at], keys[at] = left[-1], keys[-1]
            left, keys = left[:-1], keys[:-1]
        return order, weights

    def fill(self, D: np.ndarray, order: np.ndarray, weights: np.ndarray, reflexive: bool, mask: int = 0) -> None:
        """See `SpanningKernel.fill`."""
        own = None
        if not reflexive:
            own, add = recoded(D.diagonal()[order], mask), operations(self._low).add
            own[1:] = add(own[1:], weights[1:])
            own[:-1] = add(own[:-1], weights[1:])
        self._fill(D, order, weights, zip(order.tolist(), range(len(order)), strict=True), own, mask)

    def rows(self, D: np.ndarray, order: np.ndarray, weights: np.ndarray, wanted: np.ndarray, mask: int = 0) -> None:
        """See `SpanningKernel.rows`."""
        self._fill(D, order, weights, enumerate(_places(order)[wanted].tolist()), None, mask)

    def _fill(
        self, D: np.ndarray, order: np.ndarray, weights: np.ndarray, rows: Iterable[tuple[int, int]],
        own: np.ndarray | None, mask: int,
    ) -> None:
        place, row, back = _places(order), np.empty_like(weights), weights[::-1]
        n = len(order)
        for at, i in rows:
            row[i] = self._low.one[0] if own is None else own[i]
            self._worse.accumulate(weights[i + 1 :], out=row[i + 1 :])
            row[:i] = self._worse.accumulate(back[n - 1 - i : n - 1])[::-1]
            recoded(row, mask).take(place, out=D[at], mode="clip")


def recoded(x: np.ndarray, mask: int) -> np.ndarray:
    """Elements of a matrix as they are in storage, and the other way round: the mask's bits of negative ones flip."""
    return x ^ ((x >> (8 * x.itemsize - 1)) & x.dtype.type(mask)) if mask else x


def _places(order: np.ndarray) -> np.ndarray:
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


def is_ordered(lowering: Lowering) -> bool:
    """Whether ⊕ and ⊗ are minimum and maximum of numbers."""
    extremes = "minimum", "maximum"
    return len(lowering.components) == 1 and lowering.add.is_plain(*extremes) and lowering.mul.is_plain(*extremes)


def seconds(lowering: Lowering, rounds: float, terms: float) -> float:
    """What the tree of so many vertices, and so many elements of the closure, are predicted to take."""
    return rounds * STEP + terms * ELEMENT
