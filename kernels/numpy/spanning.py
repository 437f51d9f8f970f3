"""Bottleneck closures by a spanning tree, by NumPy: what `semiring.kernels.cpu.sparse.spanning` compiles."""

from __future__ import annotations

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
        n, place, row, back = len(order), np.empty(len(order), np.int64), np.empty_like(weights), weights[::-1]
        place[order] = np.arange(n)
        own = np.full_like(weights, self._low.one[0])
        if not reflexive:
            own, add = recoded(D.diagonal()[order], mask), operations(self._low).add
            own[1:] = add(own[1:], weights[1:])
            own[:-1] = add(own[:-1], weights[1:])
        for i, at in enumerate(order.tolist()):
            row[i] = own[i]
            self._worse.accumulate(weights[i + 1 :], out=row[i + 1 :])
            row[:i] = self._worse.accumulate(back[n - 1 - i : n - 1])[::-1]
            recoded(row, mask).take(place, out=D[at], mode="clip")


def recoded(x: np.ndarray, mask: int) -> np.ndarray:
    """Elements of a matrix as they are in storage, and the other way round: the mask's bits of negative ones flip."""
    return x ^ ((x >> (8 * x.itemsize - 1)) & x.dtype.type(mask)) if mask else x


def is_ordered(lowering: Lowering) -> bool:
    """Whether ⊕ and ⊗ are minimum and maximum of numbers."""
    extremes = "minimum", "maximum"
    return len(lowering.components) == 1 and lowering.add.is_plain(*extremes) and lowering.mul.is_plain(*extremes)


def seconds(lowering: Lowering, rounds: float, terms: float) -> float:
    """What the tree of so many vertices, and so many elements of the closure, are predicted to take."""
    return rounds * STEP + terms * ELEMENT
