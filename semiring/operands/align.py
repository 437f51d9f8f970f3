"""Operands on the same vertices in one order."""

from __future__ import annotations

import numpy as np

from semiring.graphs.matrix import Matrix
from semiring.graphs.names import alignment

from .dense import Dense
from .operand import Operand
from .sparse import Sparse, compressed_rows


def aligned(given: Operand, first: Operand, what: str) -> Operand:
    """A matrix over vertices with them in the order of those of the first; itself where they stand so.

    `what` is its name in a message: what was prepared has that of another call.

    Raises
    ------
    GraphError
        When both have names, and a vertex is in one of them only. Vertices without names are taken by position.
    """
    if given is first or given.names is None or first.names is None:
        return given
    order = alignment(first.names, given.names, first.what, what)
    if order is None:
        return given
    S, names = given.S, first.names
    if isinstance(given, Sparse):
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        rows = place[np.repeat(np.arange(given.n), np.diff(given.indptr))]
        moved = compressed_rows(S, rows, place[given.rows.columns], given.values, given.rows.shape)
        return Sparse(moved, S, given.what, names, of_graph=True)
    assert isinstance(given, Dense) and not given.on_gpu  # what has names came from the host

    def wrap(answer: np.ndarray) -> Matrix:
        return Matrix(answer, S, names)

    return Dense(given.array[np.ix_(order, order)], S, given.what, wrap, names, True, given.callers_dtype)
