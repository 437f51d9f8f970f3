"""Closures of arrays that take n² steps, not n³: of symmetric matrices where walks are worth their worst edge.

If ⊕ takes the better and ⊗ the worse of two elements, best walks follow a best spanning tree; see
`semiring.kernels.cpu.sparse.spanning`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.laws import equal
from semiring.algorithms.sparse.costs import dense_seconds
from semiring.kernels.build import affordable, renting
from semiring.kernels.cpu.sparse.spanning import SpanningKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy import spanning as by_numpy
from semiring.machine.pieces import share
from semiring.machine.threads import thread_count
from semiring.operands.dense import Dense

from .. import costs
from ..forms import told
from ..plan import Plan
from ..task import Task

PURPOSE = "spanning tree"
BLOCK = 256  # rows and columns that are compared with their transposes at once
VERTEX, ELEMENT = 1e-6, 6e-9  # seconds that the tree takes for a vertex, and tree and closure for an element


def offer(task: Task) -> Plan | None:
    """Offer the closure of a symmetric matrix by a spanning tree, if it is predicted to be faster than a schedule."""
    given: Any = task.operands[0]
    n = given.shape[-1]
    low = given.form(n, check=task.options.check)[1]
    if not task.S.is_bottleneck or low.kind != "numba":
        return None
    dense, tree = dense_seconds(n, costs.lowering_rates(low)), VERTEX * n + ELEMENT * n * n
    if tree >= dense:
        return None
    low = affordable(low, n, float(n) ** 2, PURPOSE)
    if not (low.compiled or by_numpy.is_ordered(low)) or not is_symmetric(_words(low, given.array)):
        return None
    threads = thread_count() if low.compiled else 1
    return Plan(
        operation="closure", algebra=task.S, shape=given.shape, method=PURPOSE, lowering=low, work=float(n) ** 2,
        place=f"CPU, {threads} thread{'s' * (threads > 1)}" if low.compiled else "", memory=given.nbytes,
        runner=partial(_by_tree, task, given),
        reasons={"method": "A is symmetric, and a walk is worth its worst edge"},
        seconds={PURPOSE: tree, "dense": dense},
    )


def is_symmetric(array: np.ndarray) -> bool:
    """Whether a matrix is its transpose.

    Examples
    --------
    >>> is_symmetric(np.array([[1, 2], [2, 3]])), is_symmetric(np.array([[1, 2], [4, 3]]))
    (True, False)
    """
    differs: list[bool] = []

    def block(i: int) -> None:
        for j in range(0, i + 1, BLOCK):
            here, there = array[i : i + BLOCK, j : j + BLOCK], array[j : j + BLOCK, i : i + BLOCK]
            if differs or not equal(here, there.T).all():
                differs.append(True)
                return

    share(block, [(i,) for i in range(0, len(array), BLOCK)][::-1], None)
    return not differs


def _words(low: Lowering, array: np.ndarray) -> np.ndarray:
    """Elements whose equality is that in storage: bits, if storage has other bits than the data."""
    return array.view(low.storage) if low.flipped else array


def _by_tree(task: Task, given: Dense, plan: Plan) -> Any:
    """Span a tree, and fill the closure: in A's own memory if that may be overwritten."""
    o, low, array = task.options, plan.lowering, given.array
    as_it_is = low.is_identity or low.flipped > 0  # else both have other storage
    with told(o.progress, f"{task.S.name} closure") as report, renting(low, PURPOSE):
        kernel = SpanningKernel.of(low) if low.compiled else by_numpy.ArraySpanning(low)
        A = np.ascontiguousarray(_words(low, array) if as_it_is else low.encode(array, True))
        order, weights = kernel.tree(A, low.flipped)
        report(0.5)
        in_place = o.overwrite and o.reflexive and array.flags.writeable
        D = A if in_place and (not as_it_is or np.shares_memory(A, array)) else np.empty_like(A)
        if not o.reflexive:
            np.fill_diagonal(D, A.diagonal())
        kernel.fill(D, order, weights, o.reflexive, low.flipped)
    result = D.view(array.dtype) if as_it_is else low.decode(D)
    if in_place and not np.shares_memory(result, array):
        array[...] = result
    return given.wrap(array if in_place else result)
