"""The real field by cuSOLVER: an LU decomposition, on the conditions of `semiring.kernels.numpy.library`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.library import PANEL, are_far_from_one, are_finite

from .closure import TILE

LEAST = TILE + 1  # order from which it is called: smaller matrices are closed by one recorded graph
MOST = 1 << 14  # order up to which one call, which no interrupt ends, takes about a second


@dataclass(frozen=True, eq=False)
class Decomposition:
    """1 − A = L U, or its transpose, as cuSOLVER left it in device memory."""

    lu: Any
    order: Any
    transposed: bool

    def closure(self) -> Any:
        """A* in C order, or None where numbers overflow."""
        import cupy

        one = cupy.eye(len(self.lu), dtype=self.lu.dtype, order="F")
        inverse = self._solved(one, not self.transposed).T  # what comes in columns is the transpose in rows
        return inverse if are_finite(inverse) else None

    def solve(self, B: Any) -> bool:
        """B ← A* B; False, and B stays, where numbers overflow."""
        X = self._solved(B.copy(order="F"), self.transposed)
        if not are_finite(X):
            return False
        B[...] = X
        return True

    def _solved(self, B: Any, transposed: bool) -> Any:
        """B ← (L U)⁻¹ B, or by its transpose."""
        from cupyx.scipy.linalg import lu_solve

        return lu_solve((self.lu, self.order), B, trans=int(transposed), overwrite_b=True, check_finite=False)


def applies(low: Lowering, n: int) -> bool:
    """Whether matrices of this form and order are decomposed here."""
    return low.inverts and low.is_identity and LEAST <= n <= MOST


def decomposed(A: Any) -> Decomposition | None:
    """1 − A decomposed without exchanging rows, or None; see `semiring.kernels.numpy.library.decomposed`.

    Waits for the device. Takes memory for another matrix while it decides, and for two until it returns.
    """
    import cupy

    n = len(A)
    for transposed in (True, False):
        matrix = cupy.empty((n, n), A.dtype, order="F")
        cupy.negative(A.T if transposed else A, out=matrix)
        matrix.T.reshape(-1)[:: n + 1] += 1
        if not are_finite(matrix):
            return None
        if _exchanges(_factored(matrix[:, :PANEL], False)[1]):
            continue
        lu, order = _factored(matrix, True)
        if not _exchanges(order):
            return Decomposition(lu, order, transposed) if are_far_from_one(lu, A) else None
    return None


def _factored(matrix: Any, overwrite: bool) -> tuple[Any, Any]:
    """L and U in one matrix, and with which row each was exchanged."""
    from cupyx.scipy.linalg import lu_factor

    with catch_warnings():
        simplefilter("ignore", RuntimeWarning)  # of a pivot that is 0, which is seen in U
        return lu_factor(matrix, overwrite_a=overwrite, check_finite=False)


def _exchanges(order: Any) -> bool:
    import cupy

    rows = cupy.asnumpy(order)
    return not (rows == np.arange(len(rows))).all()
