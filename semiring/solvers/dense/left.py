"""Equations whose unknowns stand on the left: X = X ⊗ A ⊕ B, which B A* solves.

    Xᵀ = Aᵀ ⊗ Xᵀ ⊕ Bᵀ      where ⊗ commutes: the transposed equations, by whatever solver takes them
    X = B A*               elsewhere: the closure, and a product
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from semiring.errors import NoClosureError, SemiringError
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.operand import order_of

from ..cycles import turned
from ..forms import alike
from ..plan import Plan
from ..task import DEFAULTS, Task, compute, first_offer
from .products import product_shape


def offer(task: Task) -> Plan:
    """The plan of the transposed equations, or of the closure."""
    A, B = task.operands
    n, right = order_of(A.shape), as_dense(B)
    if len(A.shape) > 2:
        product_shape(right.shape, A.shape, names=("B", "A"))  # refused before anything is computed
    elif len(right.shape) not in (1, 2) or right.shape[-1] != n:
        raise SemiringError(f"B must have shape ({n},) or (m, {n}), and has {right.shape}")
    if right.dtype != A.dtype:
        raise SemiringError(f"A is {A.dtype} and B is {right.dtype}; convert one with .astype(…)")
    if not task.S.commutative:
        inner = Task("closure", task.S, (A.plain,), replace(task.options, left=False))
        found = first_offer(inner)
        reasons = found.reasons | {"method": "⊗ does not commute: A*, and a product with B"}
        return replace(found, operation="solve", runner=partial(_by_closure, task, found, right), reasons=reasons)
    found = first_offer(Task("solve", task.S, (A.T, right.T), replace(task.options, left=False)))
    return replace(found, operation="solve", runner=partial(_by_transposes, task, found))


def _by_transposes(task: Task, transposed: Plan, plan: Plan) -> Any:
    try:
        X = transposed.run()
    except NoClosureError as e:
        raise turned(e) from None
    # A vector is that of all equations: the answer is one vector for each matrix of a stack.
    return _wrapped(task, X if len(task.given[1].shape) == 1 else X.swapaxes(-1, -2))


def _by_closure(task: Task, closure: Plan, right: Dense, plan: Plan) -> Any:
    star = closure.run()
    asked = replace(DEFAULTS, device=task.options.device, check=task.options.check)
    return _wrapped(task, compute(Task("matmul", task.S, (right.plain, star), asked, (None,))))


def _wrapped(task: Task, X: Any) -> Any:
    """The answer of B's kind, in A's byte order."""
    A, B = task.given
    return B.in_callers_dtype(X) if B.of_graph and not alike(A, B) else B.wrap(X)
