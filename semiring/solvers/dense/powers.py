"""Walks of exactly, or of at most, so many edges: powers of a matrix, and of 1 ⊕ A, by products alone.

    A^(2k) = A^k A^k                                repeated squaring
    1 ⊕ A ⊕ … ⊕ A^k = (1 ⊕ A)^k                     where ⊕ is idempotent
    1 ⊕ A ⊕ … ⊕ A^k = 1 ⊕ A (1 ⊕ A (1 ⊕ …))         elsewhere (Horner), and where A is so sparse that it is less work

No star is needed, so that there is an answer where A* does not exist, too. Each product is a task of its own. Sums of
integers that may leave their dtype on the way, and be back within it at the end, are taken as floats where these are
exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.arguments import whole_number
from semiring.algebra.laws import full
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.sparse.structure import COLUMN
from semiring.kernels.lowering.sums import as_floats, from_floats
from semiring.operands.convert import as_dense, as_packed, on_host
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand, order_of
from semiring.operands.packed import Packed
from semiring.operands.sparse import Sparse

from ..forms import told
from ..plan import Plan
from ..task import DEFAULTS, Task, compute, first_offer


def offer(task: Task) -> Plan:
    """Powers, and closures of which only walks of at most `max_edges` edges are wanted."""
    given, o = task.operands[0], task.options
    n = order_of(given.shape)
    if task.verb == "power":
        k = whole_number(task.arguments[0], "k", 0)
        products = max(k.bit_length() - 1, 0) + max(k.bit_count() - 1, 0)
        A = _with_room(given, k) if k > 1 else given
        return _plan(task, A, A, "repeated squaring", products, partial(_powered, task, given, A, k))
    k = int(o.max_edges or 0)
    A = as_packed(given) if o.packed else _with_room(on_host(given), k)
    squarings = k.bit_length()
    work = float(A.nnz) * n * k if isinstance(A, Sparse) else float(n) ** 3 * k
    if task.S.idempotent and work > float(n) ** 3 * squarings:
        A = A if isinstance(A, Packed) else as_dense(A)
        return _plan(task, A, A, "repeated squaring", 2 * squarings, partial(_closed, task, given, A, k))
    run = partial(_summed, task, given, A, k)
    if not isinstance(A, Sparse):
        return _plan(task, A, A, "Horner's rule", k, run)
    column = Dense(full(np.empty((n, 1), A.dtype), task.S.zero_in(A.dtype)), task.S)
    return _plan(task, A, column, "Horner's rule", k, run, n)


def _plan(
    task: Task, A: Operand, B: Operand, method: str, products: int, run: Callable[[Plan], Any], columns: int = 1
) -> Plan:
    """The plan of so many products like that of A and as many columns like B."""
    product = first_offer(_product(task, A, B))
    size = max(product.memory, A.nbytes)
    if task.verb == "closure" and not isinstance(A, Packed):  # which is dense, whatever A is
        size = max(size, prod(A.shape) * A.dtype.itemsize)
    return Plan(
        operation=task.verb, algebra=task.S, shape=A.shape, method=method, lowering=product.lowering,
        place=product.place, work=product.work * products * columns, memory=3 * size, runner=run,
        reasons={"method": f"{products} products: {product.method}"},
    )


def _product(task: Task, A: Any, B: Any, C: Any = None) -> Task:
    asked = replace(DEFAULTS, device=task.options.device, check=task.options.check)
    return Task("matmul", task.S, (A, B) if C is None else (A, B, C), asked, (None,))


def _with_room(A: Operand, k: int) -> Operand:
    """The same with integers as floats, where a sum of k of them may leave their dtype and floats are exact."""
    if not isinstance(A, (Dense, Sparse)) or A.on_gpu or A.dtype.kind not in "iu" or not A.S.is_tropical:
        return A
    most = int(A.facts.largest) * k
    if most < int(np.iinfo(A.dtype).max) // 2 or most >= 2**53:
        return A
    return A.with_elements(as_floats(A.S, A.array if isinstance(A, Dense) else A.values)).plain


def _powered(task: Task, given: Operand, A: Operand, k: int, plan: Plan) -> Any:
    """A^k as the caller gets it."""
    found = _power(task, A, k, plan)
    if A is given:
        return found
    if isinstance(given, Dense):
        return given.wrap(from_floats(given.S, found, given.dtype))
    assert isinstance(given, Sparse)
    values = from_floats(given.S, found.data, given.dtype)
    if given.of_graph:
        return given.wrap_rows(Rows(found.indptr, found.indices.astype(COLUMN, copy=False), values, given.n))
    return type(found)((values, found.indices, found.indptr), shape=found.shape)


def _power(task: Task, given: Operand, k: int, plan: Plan) -> Any:
    """A^k as a product of those of A, A², A⁴, … that are in it."""
    if k < 2:
        return _as_product(given if k else on_host(given).eye())
    square: Any = given
    result = None
    while True:
        if k & 1:
            result = square if result is None else compute(_product(task, result, square))
        k >>= 1
        if not k:
            return result
        square = compute(_product(task, square, square))


def _as_product(given: Operand) -> Any:
    """A matrix as a product of it would come."""
    if isinstance(given, Packed):
        return given.unstored(given.form(1)[1], given.matrix.copy())
    if isinstance(given, Dense):
        return given.wrap(given.array.copy())
    assert isinstance(given, Sparse)
    rows = given.copy().rows
    if given.of_graph:
        return given.wrap_rows(rows)
    from scipy.sparse import csr_array

    return csr_array((rows.values, rows.columns, rows.offsets), shape=given.shape)


def _with_ones(A: Operand) -> Operand:
    """1 ⊕ A: the diagonal alone differs."""
    if isinstance(A, Packed):
        return Packed(A.matrix | PackedMatrix.identity(A.shape[0]), A.S, A.what, mine=True)
    assert isinstance(A, Dense)
    array, at, T = A.array.copy(), np.arange(A.shape[-1]), A.S.over(A.dtype)
    array[..., at, at] = T.add(full(array[..., at, at].copy(), T.one), array[..., at, at])
    return A.with_elements(array).plain


def _closed(task: Task, given: Operand, A: Any, k: int, plan: Plan) -> Any:
    """(1 ⊕ A)^k, or A (1 ⊕ A)^(k − 1) without the empty walk."""
    reflexive = task.options.reflexive
    with told(task.options.progress, f"{task.S.name} closure"):
        X = _power(task, _with_ones(A), k if reflexive else max(k - 1, 0), plan)
        if not reflexive:
            X = compute(_product(task, A.plain, X)) if k else _nothing(A)
    return _wrapped(given, X)


def _summed(task: Task, given: Operand, A: Any, k: int, plan: Plan) -> Any:
    """X ← 1 ⊕ A X, k times; without the empty walk the last 1 is left out."""
    one = on_host(A).eye().plain
    one = one if isinstance(one, Packed) else as_dense(one)
    A, X = A.plain, one.matrix.copy() if isinstance(one, Packed) else one.array.copy()
    with told(task.options.progress, f"{task.S.name} closure") as report:
        for i in range(k - (not task.options.reflexive)):
            X = compute(_product(task, A, X, one))
            report((i + 1) / k)
        if not task.options.reflexive:
            X = compute(_product(task, A, X)) if k else _nothing(A)
    return _wrapped(given, X)


def _nothing(A: Operand) -> Any:
    if isinstance(A, Packed):
        return PackedMatrix.zeros(*A.shape)
    return full(np.empty(A.shape, A.dtype), A.S.zero_in(A.dtype))


def _wrapped(given: Operand, X: Any) -> Any:
    """The answer as a closure's comes."""
    if isinstance(X, PackedMatrix):
        return on_host(given).wrap(X) if isinstance(given, Packed) else X
    if X.dtype.kind == "f" and given.dtype.kind in "iu":
        X = from_floats(given.S, X, given.dtype)
    return on_host(given).wrap(X)
