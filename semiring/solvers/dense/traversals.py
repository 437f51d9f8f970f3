"""Closures of arrays that one traversal finds: of symmetric matrices by a spanning tree, and of acyclic graphs.

If ⊕ takes the better and ⊗ the worse of two elements, best walks follow a best spanning tree; see
`semiring.kernels.cpu.sparse.spanning`. For acyclic graphs see `semiring.solvers.sparse.traversals`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.elements import equal, full
from semiring.algorithms.sparse.costs import dense_seconds
from semiring.kernels.build import affordable, renting
from semiring.kernels.cpu.sparse.spanning import SpanningKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy import spanning as by_numpy
from semiring.machine.pieces import share
from semiring.machine.progress import told
from semiring.machine.threads import cpu_place, thread_count
from semiring.operands.dense import Dense
from semiring.operands.entries import compressed_rows
from semiring.operands.sparse import Sparse

from .. import costs
from ..plan import Plan
from ..sparse.traversals import acyclic_closure
from ..task import Task

PURPOSE = "spanning tree"
FIRST = 32  # rows in which a dense matrix turns out to have cycles
BLOCK = 256  # rows and columns that are compared with their transposes at once
READING = 40  # bytes that the places of an edge take while compressed rows are made
VERTEX, ELEMENT = 1e-6, 6e-9  # seconds that the tree takes for a vertex, and tree and closure for an element


def offer(task: Task) -> Plan | None:
    """Offer the closure of a symmetric matrix or an acyclic graph, if it is predicted to be faster than a schedule."""
    return _of_symmetric(task) or _of_acyclic(task)


def _of_symmetric(task: Task) -> Plan | None:
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
        place=cpu_place(threads) if low.compiled else "", memory=given.nbytes,
        runner=partial(_by_tree, task, given),
        reasons={"method": "A is symmetric, and a walk is worth its worst edge"},
        seconds={PURPOSE: tree, "dense": dense},
    )


def _of_acyclic(task: Task) -> Plan | None:
    given: Any = task.operands[0]
    array, S = given.array, task.S
    T = S.over(array.dtype)
    loops = array.diagonal()[~T.is_zero(array.diagonal())]
    if len(loops) and not (task.options.reflexive and S.idempotent and _are_ones(T, loops)):
        return None
    edges = one_way(array, T.is_zero)
    if edges is None:
        return None
    rows = compressed_rows(S, *edges, array[edges], array.shape)
    plan = acyclic_closure(task, Sparse(rows, S, given.what, given.names), given)
    kept, reading = rows.columns.nbytes + rows.values.nbytes, len(rows.columns) * READING + rows.values.nbytes
    return plan and replace(plan, memory=max(plan.memory + kept, reading))


def _are_ones(T: Any, loops: np.ndarray) -> bool:
    """Whether loops weigh one, and are worth one however often they are walked."""
    return bool(equal(loops, full(loops, T.one)).all() and T.defined(loops).all() and equal(T.star(loops), loops).all())


def one_way(array: np.ndarray, is_zero: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray] | None:
    """The rows and columns of the elements off the diagonal that are not zero; None if a cycle is found meanwhile.

    There is one if each vertex has an edge to it, or the edges are too many.

    Examples
    --------
    >>> one_way(np.array([[0, 3, 0], [0, 7, 0], [0, 5, 0]]), lambda x: x == 0)
    (array([0, 2]), array([1, 1]))
    >>> one_way(np.ones((3, 3)), lambda x: x == 0) is None
    True
    """
    n = len(array)
    entered, most, parts = np.zeros(n, bool), n * (n - 1) // 2, dict[int, np.ndarray]()

    def look(first: int, last: int) -> None:
        if entered.all() or sum(map(len, list(parts.values()))) > most:
            return
        places = first * n + np.flatnonzero(~is_zero(array[first:last]))
        places = places[places % (n + 1) > 0]
        entered[places % n] = True
        parts[first] = places

    look(0, FIRST)
    share(look, [(i, min(i + BLOCK, n)) for i in range(FIRST, n, BLOCK)], None)
    places = np.concatenate([part for _, part in sorted(parts.items())])
    return None if entered.all() or len(places) > most else (places // n, places % n)


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
