"""Whether small matrices X are (1 − A)⁻¹: by compiled code that takes a matrix at a time.

    |X − A X − 1| ≤ (n + 8) ε (|A| |X| + |X|)  in each entry,  and  max_i (|X| |1 − A| |X| e)_i / (|X| e)_i · δ < 1

The second says that errors of the entries of A, and of the sums, leave X some digits; δ is what they are worth
(`semiring.kernels.numpy.library.doubt`). NumPy takes as long for it as for the inverses of such matrices.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.numpy import library
from semiring.machine.pieces import parts_worth, ranges, share
from semiring.machine.threads import thread_count

CODE = Code.of_loops(Path(__file__).with_name("residual_loops.py"), ("compare",), each=1.0)
SIDE = 32  # rows of the largest matrix; above it the products that NumPy takes are large enough
MATRIX, ENTRY = 5e-7, 1e-8  # seconds that NumPy takes for a matrix, and for each of its entries


def residuals_fit(A: np.ndarray, X: np.ndarray, eps: float) -> np.ndarray | None:
    """Whether each matrix is right; None where NumPy is to find out.

    Parameters
    ----------
    A, X : ndarray, shape (batch, n, n)
    eps : float
        The relative error of the entries of A.

    Examples
    --------
    >>> from semiring.kernels.cpu.compile.price import always
    >>> A = np.array([[[0.5, 0.25], [0.0, 0.5]]])
    >>> with always():
    ...     residuals_fit(A, np.array([[[2.0, 1.0], [0.0, 2.0]]]), 2.0**-52)
    array([ True])
    """
    batch, n, _ = X.shape
    if n > SIDE or X.dtype.char not in "fd" or A.dtype != X.dtype:
        return None
    if not CODE.pays(batch * (MATRIX + n * n * ENTRY)):
        return None
    from .residual_loops import compare  # it loads Numba

    right, kind = np.empty(batch, bool), X.dtype.type
    about = [(n + 8) * float(np.finfo(kind).eps), library.room(n), library.doubt(1.0, n, X.dtype, eps)]

    def part(first: int, last: int) -> None:
        some = (np.require(Y[first:last], requirements=["C", "A"]) for Y in (A, X))
        compare(*some, *map(kind, about), np.empty((4, n), kind), right[first:last])

    share(part, ranges(batch, parts_worth(batch * n**3, thread_count())), thread_count())
    return right
