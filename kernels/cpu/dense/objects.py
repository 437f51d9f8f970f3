"""The engine for Python objects: plain loops, for teaching and for elements that no machine type holds."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from semiring.algebra.laws import full
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.dense import ArrayBlocks


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
    def _scalar(self) -> dict[str, Any]:
        return self._S.scalar

    def add(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x ⊕ y, element by element."""
        return np.asarray(self._S.add(x, y))

    def zeros(self, shape: tuple[int, ...]) -> np.ndarray:
        """An array of zeros."""
        return full(np.empty(shape, object), self._S.zero)

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        add, mul, zero, absorbs = self._scalar["add"], self._scalar["mul"], self._S.zero, self._S.semiring.absorbs
        for place in np.ndindex(C.shape) if not accumulate else ():
            C[place] = zero
        for c, a, b in zip(C, A, B, strict=True):
            for i, k in np.ndindex(a.shape):
                if a[i, k] is not zero or not absorbs:
                    for j in range(b.shape[1]):
                        c[i, j] = add(c[i, j], mul(a[i, k], b[k, j]))

    def close(self, D: np.ndarray) -> int:
        """D ← D*; −1, or the first pivot without a star."""
        add, mul, star = (self._scalar[k] for k in ("add", "mul", "star"))
        n = D.shape[0]
        for k in range(n):
            if not self._scalar["defined"](D[k, k]):
                return k
            s = star(D[k, k])
            others = [i for i in range(n) if i != k]
            for j in others:
                D[k, j] = mul(s, D[k, j])
            for i in others:
                for j in others:
                    D[i, j] = add(D[i, j], mul(D[i, k], D[k, j]))
            for i in others:
                D[i, k] = mul(D[i, k], s)
            D[k, k] = s
        return -1

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
