"""Best paths between all vertices, from file to file: the closure, then next hops as a second file, from values alone.

Next hops to a target follow from the target's column of the closure and from the edges (`semiring.algorithms.trees`),
so that some columns at a time are enough. Edges are kept by their entries; of a dense matrix those that best walks can
have: no worse than every walk from their tail, and where ⊗ is a sum no worse than the best one between their ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.laws import full
from semiring.algebra.rounding import nothing_improves
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import shown
from semiring.kernels.blocks.rows import Rows
from semiring.machine.memory import in_words
from semiring.operands.convert import as_dense
from semiring.operands.dense import carried_by
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.sparse import COLUMN, OFFSET, Sparse
from semiring.scale.stores import SLAB_BYTES, Output, Source

from ..dense.tolerance import loosened
from ..paths.paths import Found, unnamed
from ..paths.trees import best_trees, least_or_greatest, rounds_once
from ..task import Task
from .forecasts import StoredPlan
from .levels import memory_for_tiles
from .out_of_core import Stage, offered

HOP = np.dtype(np.int32)
LINES = 6  # matrices of a column block's size that finding trees takes, beside the block


def offer(task: Task) -> StoredPlan:
    """Best paths whose weights and next hops go to files."""
    S, o, given = task.S, task.options, task.given[0]
    storing = o.storing
    assert storing is not None
    if not S.selective or S.product_only:
        raise LawError(f"best paths need a selective ⊕ of a semiring, and {S.name} has none: "
                       f"{S._law_report.flags['selective']}")
    sources, limit, targets = task.arguments
    if not sources is limit is targets is None:
        raise SemiringError("out= is of paths between all vertices: leave out sources, targets and limit")
    if storing.out.suffix != ".npy" or storing.hops is None:
        raise SemiringError(f"out={shown(storing.out)}: weights of paths are written as .npy, next hops beside them")
    order_of_one(given.shape, f"with out= {given.what}")
    plain = unnamed(given) if isinstance(given, Sparse) else as_dense(given)
    plan = offered(Task("closure", S, (plain,), o), Stage(storing.hops, HOP, _next_hops))
    return replace(plan, operation="paths", output=plan.output + plan.shape[0] ** 2 * HOP.itemsize,
                   runner=partial(_run, task, plan.runner))


def _run(task: Task, answer: Callable[[Any], Any], plan: StoredPlan) -> Found:
    weights = answer(plan)
    if plan.loosened:
        task.given[0] = loosened(task.given[0], float(task.options.tol or 0))  # whose edges paths consist of
    assert plan.storing.hops is not None
    return weights, np.load(plan.storing.hops, mmap_mode="r"), None


def _next_hops(
    given: Operand, source: Source, closure: Output, hops: Output, plan: StoredPlan, start: int,
    commit: Callable[[int], None] | None, report: Callable[[float], None],
) -> None:
    """Write the columns of the next hops from one on."""
    n = plan.shape[0]
    edges = given if isinstance(given, Sparse) else _edges(given, source, closure, plan)
    line = max(n * (closure.dtype.itemsize + HOP.itemsize), 1)
    width = max(1, _memory(plan) // (LINES * line))
    last = time.monotonic()
    for begin in range(start, n, width):
        columns = slice(begin, min(begin + width, n))
        lines = np.ascontiguousarray(closure.read_block(slice(0, n), columns).T)
        tree = best_trees(edges, lines, np.arange(columns.start, columns.stop), backwards=True)
        hops.write_block(slice(0, n), columns, tree.T)
        report(columns.stop / n)
        if commit is not None and plan.storing.checkpoint is not None and (
                time.monotonic() - last >= plan.storing.checkpoint):
            commit(columns.stop)
            last = time.monotonic()


def _memory(plan: StoredPlan) -> int:
    """Bytes of the host's memory: as much as tiles had, or where these were on a GPU, as much as they might have."""
    return memory_for_tiles(plan.storing) if plan.lowering.on_gpu else plan.host


def _edges(given: Operand, source: Source, closure: Output, plan: StoredPlan) -> Sparse:
    """The edges of a matrix that best walks between all vertices can have, some rows at a time.

    Raises
    ------
    SemiringError
        When they take more than the memory for tiles.
    """
    S, n, dtype = given.S, plan.shape[0], given.dtype
    T, zero, direction = S.over(dtype), S.zero_in(dtype), least_or_greatest(S)
    step = max(1, SLAB_BYTES // max(n * dtype.itemsize, 1))

    def rows(begin: int) -> np.ndarray:
        part = slice(begin, min(begin + step, n))
        elements = np.empty((part.stop - begin, n), source.dtype)
        source.read(part, slice(0, n), elements)
        return np.asarray(carried_by(elements, S))

    chosen = direction != 0 and rounds_once(S, dtype)
    chosen = chosen and all(nothing_improves(T, rows(begin)) for begin in range(0, n, step))
    no_worse = np.less_equal if direction < 0 else np.greater_equal
    worst = np.maximum if direction < 0 else np.minimum
    counts, heads, values, taken = [np.zeros(1, OFFSET)], [], [], 0
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
                "next hops need the edges that best walks may have in memory, which take more than "
                f"{in_words(_memory(plan))} after {begin + len(A)} of {n} rows: give more memory=, or a sparse matrix, "
                "or ask sr.closure(…, out=…) for the weights alone")
    columns = np.concatenate(heads) if heads else np.empty(0, COLUMN)
    elements = np.concatenate(values) if values else np.empty(0, dtype)
    return Sparse(Rows(np.cumsum(np.concatenate(counts)), columns, elements, n), S, given.what, given.names)
