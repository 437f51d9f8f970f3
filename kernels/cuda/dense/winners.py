"""Products on the GPU that say which term won, where ⊕ selects; product.cu and winners.cu have the kernels.

The tiled product notes in which tile of steps each element changed last: a comparison for each element and tile, not
for each term. The term that won is in that tile, and is the first of it whose value is the element's. Elements that no
term changed are zero, and nothing won there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from semiring.kernels.cuda.compile.geometry import ProductGeometry, product_geometries
from semiring.kernels.cuda.compile.launch import Function, Module, rows_of

from .engine import WORTH_PADDING, CudaKernel, rounded_up, view_of
from .product import MOST_STACKED, NO_GAP, View

THREADS = 256  # as in winners.cu
NONE = -1


class CudaWinnersKernel:
    """C ← A ⊗ B and the step of each element that won, for one semiring in one storage type.

    Blocks are CuPy arrays of the lowering's storage.

    Parameters
    ----------
    engine : CudaKernel
        Of a semiring whose ⊕ selects.
    """

    def __init__(self, engine: CudaKernel):
        self.engine, self.program, self.size = engine, engine.program, engine.size
        # Elements, and what they were a tile ago, fill the registers that large tiles need for twice as many.
        self.geometry: ProductGeometry = product_geometries(self.size, self.program.weight)[1]

    def multiply(self, A: Any, B: Any) -> tuple[Any, Any]:
        """A[s] ⊗ B[s] for every s, and the least of the steps that are best.

        Parameters
        ----------
        A, B : array, shape (batch, m, k) and (batch, k, n)
            Of any strides; they may repeat a matrix by a zero stride.

        Returns
        -------
        values : array, shape (batch, m, n)
            In C order, as the next.
        which : array of int32, shape (batch, m, n)
            −1 where no term is better than zero.
        """
        import cupy

        (batch, m, k), n, g, dtype = A.shape, B.shape[2], self.geometry, A.dtype
        fits = self.engine.absorbs or k % g.BK == 0  # steps of k with zeros in them may count otherwise
        whole = min(m, n, k) >= WORTH_PADDING and fits and self.engine.can_pad
        tall, deep, wide = (rounded_up(m, g.BM), rounded_up(k, g.BK), rounded_up(n, g.BN)) if whole else (m, k, n)
        A, B = (self.engine.padded(A, tall, deep), self.engine.padded(B, deep, wide)) if whole else (
            rows_of(A), rows_of(B))
        values = cupy.empty((batch, tall, wide), dtype)  # with the names of the operands' fields
        which = cupy.full((batch, tall, wide), NONE, np.int32)
        for start in range(0, batch if m and n else 0, MOST_STACKED):
            some = slice(start, start + MOST_STACKED)
            C, W = values[some], which[some]
            self._stack(view_of(C), view_of(A[some]), view_of(B[some]), view_of(W), len(C), m, k, whole)
        return cupy.ascontiguousarray(values[:, :m, :n]), cupy.ascontiguousarray(which[:, :m, :n])

    def _stack(self, C: View, A: View, B: View, W: View, batch: int, m: int, k: int, whole: bool) -> None:
        """C and W, of which the first m rows and k steps are those of the operands."""
        import cupy

        g, marks = self.geometry, (W.address, W.ld // 4, W.next // 4)
        places = (A.address, A.ld, A.next, B.address, B.ld, B.next, C.address, C.ld, C.next)
        down, across = -(-C.rows // g.BM), -(-C.columns // g.BN)
        if whole:
            self._product(True)(
                down * across, batch, *places, down, across, A.columns // g.BK, *NO_GAP, *NO_GAP, 0, *marks
            )
        else:
            self._product(False)(down * across, batch, *places, C.rows, C.columns, k, 0, *marks)
        if not k:
            return
        turned = cupy.empty((batch if B.next else 1, C.columns, k), self.engine.dtype)
        T = view_of(turned)
        columns = T.address, T.next // self.size
        self._settling("turn")(C.columns, len(turned), B.address, B.ld, B.next, k, C.columns, *columns)
        self._settling("settle")(
            m, batch, A.address, A.ld, A.next, *columns, C.address, C.ld, C.next, *marks, C.columns, k
        )

    @lru_cache(2)  # noqa: B019 (kernels live as long as the process)
    def _product(self, whole: bool) -> Function:
        g = self.geometry
        name = "product" if whole else "product_edge"
        return Module(self.program.tracked(g, whole)).function(name, g.threads, g.shared_bytes(self.size))

    @lru_cache(2)  # noqa: B019 (kernels live as long as the process)
    def _settling(self, name: str) -> Function:
        return Module(self.program.winners(self.geometry)).function(name, THREADS)


@lru_cache(64)
def winners_kernel(engine: CudaKernel) -> CudaWinnersKernel:
    """The kernel beside an engine."""
    return CudaWinnersKernel(engine)
