"""Equations over the real or the complex field with a sparse matrix, by SuperLU: X = A X + B is (1 − A) X = B."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from semiring.kernels.build import code_of
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy import library
from semiring.operands.dense import Dense
from semiring.operands.operand import order_of
from semiring.operands.sparse import Sparse

from .factors import right_of
from .forms import Apply, solution, told
from .fronts import is_analysed, lowering_of
from .plan import Plan
from .task import Declined, Task

SMALL_PIVOT = 0.01  # of the largest entry below it: SuperLU exchanges rows where a pivot is smaller
DOUBTFUL = 1000  # roundings of the largest entry, by which a pivot may be off


def offer(task: Task) -> Plan | None:
    """Sparse equations in the field, unless fronts are compiled and have been analysed."""
    given = task.operands[0]
    if not isinstance(given, Sparse):
        return None
    order_of(given.shape)
    low = lowering_of(given, room=True)
    if not low.inverts or not given.n or (code_of(low, "fronts").bought and is_analysed(given)):
        return None
    right = right_of(task, low.dtype)
    assert right is not None
    return Plan(
        "solve", task.S, given.shape, "SuperLU", low, "CPU, 1 thread", float(given.nnz), given.nbytes,
        partial(_run, task, given, right),
        reasons={"method": "⊕ and ⊗ are the ordinary sum and product", "work": "and more where entries fill in"},
    )


def _run(task: Task, given: Sparse, right: Dense, plan: Plan) -> Any:
    with told(task.options.progress, f"{task.S.name} solve") as report:
        lu = decomposed(given)
        report(0.9)

        def engine(wide: bool) -> tuple[Lowering, Apply]:
            return plan.lowering, partial(_apply, lu)

        return solution(given, right, plan.lowering, engine, task.options.check)


def _apply(lu: Any, X: np.ndarray) -> None:
    numbers = library.numbers(X)
    found = lu.solve(numbers, trans="T")
    if not library.are_finite(found):
        raise Declined("numbers overflow")
    numbers[...] = found


def decomposed(A: Sparse) -> Any:
    """The transpose of 1 − A as SuperLU decomposes it, the vertices in a fill-reducing order.

    X. S. Li, An overview of SuperLU (2005).

    Raises
    ------
    Declined
        Where rows were exchanged, so that it is no elimination of vertices in any order, or a pivot is so near to 1
        that rounding could have brought it there or away.
    """
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    rows = A.rows
    transposed = csc_array((rows.values, rows.columns, rows.offsets), shape=A.shape)
    matrix = eye_array(A.n, dtype=A.dtype, format="csc") - transposed
    try:
        lu = splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=SMALL_PIVOT, options={"SymmetricMode": True}
        )
    except (RuntimeError, MemoryError) as e:  # a pivot is 0 and no other can be had, or the factors do not fit
        raise Declined(str(e)) from e
    upper = lu.U
    pivots, largest = np.abs(upper.diagonal()), np.abs(upper.data).max()
    near = DOUBTFUL * np.finfo(A.dtype).eps * largest
    own = np.abs(matrix.diagonal())  # of a vertex that other orders may begin with
    if not np.array_equal(lu.perm_r, lu.perm_c) or not min(pivots.min(), own.min()) > near:
        raise Declined("rows were exchanged, or a pivot is near to 1")
    return lu
