"""Rows of a closure for many sources on the GPU: batches of sources there and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algorithms.frontier import frontier
from semiring.kernels.facts import Facts

if TYPE_CHECKING:
    from semiring.kernels.blocks.rows import Rows

BATCH = 128  # sources of one launch


def rows_on_gpu(
    S: Semiring, A: Rows, sources: np.ndarray, facts: Facts, bounded: bool
) -> tuple[np.ndarray, list[int]]:
    """The rows of A* for the sources, and which of them did not come to an end.

    Parameters
    ----------
    S : Semiring
        With a selective ⊕, on machine numbers of at most 64 bits.
    A : Rows
        Square, of the data's dtype.
    sources : ndarray of int64
    facts : Facts
        About the values.
    bounded : bool
        Whether no edge is better than 1.

    Raises
    ------
    SemiringError
        Where only the CPU can compute: sums that no integer of the GPU holds.
    """
    import cupy

    from semiring.kernels.cuda.sparse.search import CudaFrontierKernel, group_of, lowering_for

    n = A.shape[0]
    X = np.empty((len(sources), n), A.values.dtype)
    unfinished: list[int] = []
    if not n or not len(sources):
        return X, unfinished
    low = lowering_for(S, A.values, facts, n, bounded)
    kernel = CudaFrontierKernel(low, A, low.encode(cupy.asarray(A.values), True), group_of(len(sources)))
    for first in range(0, len(sources), BATCH):
        part = sources[first : first + BATCH]
        state = kernel.start(part)
        left = [] if frontier(state, kernel, n) else kernel.unfinished(state, len(part))
        labels = kernel.labels(state, len(part))
        for s in left:
            labels[s] = low.zero[0]  # it may be anything by now
        X[first : first + len(part)] = low.decode(labels).get()
        unfinished += [first + s for s in left]
    return X, unfinished
