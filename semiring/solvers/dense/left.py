"""Equations whose unknowns stand on the left: X = X ⊗ A ⊕ B, which B A* solves.

    Xᵀ = Aᵀ ⊗ Xᵀ ⊕ Bᵀ      where ⊗ commutes: the transposed equations, by whatever solver takes them
    X = B A*               elsewhere: the closure, and a product
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand, order_of
from semiring.operands.packed import Packed
from semiring.operands.sparse import Sparse

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
        inner = Task("closure", task.S, (_plain(A),), replace(task.options, left=False))
        found = first_offer(inner)
        reasons = found.reasons | {"method": "⊗ does not commute: A*, and a product with B"}
        return replace(found, operation="solve", runner=partial(_by_closure, task, found, right), reasons=reasons)
    transposed = (_transposed(A), type(right)(swapped(right.array), task.S, right.what))
    found = first_offer(Task("solve", task.S, transposed, replace(task.options, left=False)))
    return replace(found, operation="solve", runner=partial(_by_transposes, task, found))


def _by_transposes(task: Task, transposed: Plan, plan: Plan) -> Any:
    try:
        X = transposed.run()
    except NoClosureError as e:
        raise turned(e) from None
    # A vector is that of all equations: the answer is one vector for each matrix of a stack.
    return _wrapped(task, X if len(task.given[1].shape) == 1 else swapped(X))


def _by_closure(task: Task, closure: Plan, right: Dense, plan: Plan) -> Any:
    star = closure.run()
    asked = replace(DEFAULTS, device=task.options.device, check=task.options.check)
    B = type(right)(right.array, task.S, right.what)
    return _wrapped(task, compute(Task("matmul", task.S, (B, star), asked, (None,))))


def _wrapped(task: Task, X: Any) -> Any:
    """The answer of B's kind, in A's byte order."""
    A, B = task.given
    return B.in_callers_dtype(X) if B.of_graph and not alike(A, B) else B.wrap(X)


def _transposed(A: Operand) -> Operand:
    """Aᵀ, with the names that A has."""
    if isinstance(A, Sparse):
        return Sparse(transpose(A.rows), A.S, A.what, A.names)
    if isinstance(A, Packed):
        return Packed(A.matrix.transpose(), A.S, A.what, mine=True, on_gpu=A.on_gpu)
    assert isinstance(A, Dense)
    return type(A)(swapped(A.array), A.S, A.what, names=A.names)


def swapped(array: Any) -> Any:
    """Rows for columns in each matrix of a stack; a vector as it is."""
    return array if array.ndim == 1 else array.swapaxes(-1, -2)


def _plain(A: Operand) -> Operand:
    """The same, of which answers are arrays."""
    if isinstance(A, Sparse):
        return Sparse(A.rows, A.S, A.what, A.names)
    if isinstance(A, Packed):
        return A
    assert isinstance(A, Dense)
    return type(A)(A.array, A.S, A.what, names=A.names)
