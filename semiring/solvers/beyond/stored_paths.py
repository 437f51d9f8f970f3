"""Next hops of a closure in a finished file, written to another file.

Next hops to a target follow from the target's column of the closure and from the edges (`semiring.algorithms.trees`),
so some columns at a time are enough. Of a dense matrix only edges are kept that best walks can have: no worse than
every walk from their tail and, if ⊗ is a sum, no worse than the best walk between their ends.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from semiring.algebra.elements import full
from semiring.algebra.rounding import least_or_greatest, nothing_improves
from semiring.errors import SemiringError
from semiring.kernels.blocks.rows import Rows
from semiring.machine.memory import in_words
from semiring.operands.entries import COLUMN, OFFSET
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse
from semiring.scale.stores import SLAB_BYTES, Output, Source

from ..paths.trees import best_trees, rounds_once
from .levels import HOP, StoredPlan, elements_of, memory_for_tiles

LINES = 6  # matrices of a column block's size that finding trees takes, besides the block


def next_hops(
    given: Operand, source: Source, closure: Output, hops: Output, plan: StoredPlan, start: int
) -> Iterator[int]:
    """Write the columns of the next hops from one on; yield how many are done."""
    n = plan.shape[0]
    edges = given if isinstance(given, Sparse) else _edges(given, source, closure, plan)
    line = max(n * (closure.dtype.itemsize + HOP.itemsize), 1)
    width = max(1, _memory(plan) // (LINES * line))
    for begin in range(start, n, width):
        columns = slice(begin, min(begin + width, n))
        lines = np.ascontiguousarray(closure.read_block(slice(0, n), columns).T)
        tree = best_trees(edges, lines, np.arange(columns.start, columns.stop), backwards=True)
        hops.write_block(slice(0, n), columns, tree.T)
        yield columns.stop


def _memory(plan: StoredPlan) -> int:
    """Bytes of the host's memory: as many as for tiles; if these were on a GPU, as many as they might have had."""
    return memory_for_tiles(plan.storing) if plan.lowering.on_gpu else plan.host


def _edges(given: Operand, source: Source, closure: Output, plan: StoredPlan) -> Sparse:
    """Select the edges of a matrix that best walks between all vertices can have, some rows at a time.

    Raises
    ------
    SemiringError
        If they take more than the memory for tiles.
    """
    S, n, dtype = given.S, plan.shape[0], given.dtype
    T, zero, direction = S.over(dtype), S.zero_in(dtype), least_or_greatest(S)
    step = max(1, SLAB_BYTES // max(n * dtype.itemsize, 1))

    def rows(begin: int) -> np.ndarray:
        return elements_of(source, S, slice(begin, min(begin + step, n)), slice(0, n))

    chosen = direction != 0 and rounds_once(S, dtype)
    chosen = chosen and all(nothing_improves(T, rows(begin)) for begin in range(0, n, step))
    no_worse = np.less_equal if direction < 0 else np.greater_equal
    worst = np.maximum if direction < 0 else np.minimum
    counts, heads, values, taken = [np.zeros(1, OFFSET)], list[np.ndarray](), list[np.ndarray](), 0
    for begin in range(0, n, step):
        A = rows(begin)
        kept = full(A, zero) != A
        if chosen:
            X = closure.read_block(slice(begin, begin + len(A)), slice(0, n))
            kept &= no_worse(A, worst.reduce(X, axis=1)[:, None])
            if S.is_tropical:
                kept &= no_worse(A, X)
            kept[np.arange(len(A)), np.arange(begin, begin + len(A))] = False
        counts.append(np.count_nonzero(kept, axis=1).astype(OFFSET))
        heads.append(np.nonzero(kept)[1].astype(COLUMN))
        values.append(A[kept])
        taken += heads[-1].nbytes + values[-1].nbytes
        if taken > _memory(plan):
            raise SemiringError(
                f"next hops need in memory the edges that best walks may have, and these take more than "
                f"{in_words(_memory(plan))} after {begin + len(A)} of {n} rows: give more memory=, pass a sparse "
                "matrix, or compute only the weights by sr.closure(…, out=…)")
    columns, elements = np.concatenate([np.empty(0, COLUMN), *heads]), np.concatenate([np.empty(0, dtype), *values])
    return Sparse(Rows(np.cumsum(np.concatenate(counts)), columns, elements, n), S, given.what, given.names)
