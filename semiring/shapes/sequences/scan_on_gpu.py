"""Products of sequences of matrices in the memory of a GPU: all of them for `scan`, the last one for `chain`.

The launches that multiply also look at every element. If any is unusual, or a result has no value, the answer is
dropped; then the elements are examined first, which says what is wrong, and another form computes.
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.overflow import refuse
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.build import kernel
from semiring.kernels.cuda.choose import PRODUCT, choose
from semiring.kernels.cuda.dense.chains import NOTHING, SIDE, Before, chains
from semiring.kernels.cuda.dense.exchange import LEAVES, report
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import DeviceFacts
from semiring.operands.dense import Dense
from semiring.operands.devices import HOSTS, module_of, without_the_option
from semiring.solvers.forms import refuse_overflow
from semiring.solvers.plan import Plan

from .stepwise import one_by_one


def offer_scan(A: Dense, X: Dense | None, axis: int, reverse: bool, shape: tuple[int, ...]) -> Plan:
    """The plan of `scan` on a GPU; the answer has this shape."""
    S, steps, n = A.S, A.shape[axis], A.shape[-1]
    refuse_elements(S, A.dtype)
    lines = shape[-1] if reverse else shape[-2]
    quick = form_of_any(S, A.dtype, _length(steps)) if 0 not in shape else None
    low = quick or _examined(A, X, steps)
    in_chunks = 0 in shape or chains(low, True, reverse).fits(n, lines)
    if quick and not in_chunks:
        quick, low = None, _examined(A, X, steps)
    return Plan(
        operation="scan", algebra=S, shape=shape, lowering=low, work=float(prod(shape)) * n,
        method="chunks of products" if in_chunks else "one product after the other",
        reasons={"method": f"matrices of at most {SIDE} rows and columns stay in shared memory"} if in_chunks else {},
        memory=prod(shape) * A.dtype.itemsize + (0 if in_chunks else 2 * prod(shape) * low.storage.itemsize),
        needs=("the products of the sequence", "use a narrower dtype, or sr.chain for the last product alone"),
        runner=partial(_run_scan, A, X, axis, reverse, quick is not None, in_chunks),
    )


def refuse_elements(S: Semiring, dtype: np.dtype) -> None:
    """Refuse elements that only the CPU computes with.

    Raises
    ------
    SemiringError
    """
    if S.traced is None or dtype.kind == "O":
        raise SemiringError(f"{S.name}: sequences of Python objects are computed on the CPU: {HOSTS}")


@lru_cache(1024)
def form_of_any(S: Semiring, dtype: np.dtype, length: int) -> CudaLowering | None:
    """The form that products of so many factors take whatever the elements are; None for integers."""
    if dtype.kind in "iu" or S.has_multiples:
        return None
    low = choose(S, dtype, DeviceFacts(), length, in_place=False)
    if low.blas:  # 0 · ∞ is NaN without a test, and seen in the result
        low = low.for_product(DeviceFacts(has_zero=False))
    return low if low.kind == "cuda" else None


def _length(steps: int) -> int:
    """Factors, at most, of an element: more than those of one product, whose form may round each."""
    return PRODUCT + 1 if steps < PRODUCT else 1 << (steps + 1).bit_length()


def _examined(A: Dense, X: Dense | None, steps: int) -> Any:
    """The form for operands whose elements are examined first; refuses what is not an element."""
    with without_the_option():
        return A.form(max(steps + 2, PRODUCT + 1), beside=() if X is None else (X,), packed=False)[1]


def _run_scan(
    A: Dense, X: Dense | None, axis: int, reverse: bool, looks: bool, in_chunks: bool, plan: Plan
) -> Any:
    low, shape = plan.lowering, plan.shape
    if 0 in shape:
        return A.wrap(module_of(A.array).empty(shape, A.dtype))
    if not in_chunks:
        return A.wrap(_one_by_one(low, A, X, axis, reverse, shape))
    assert isinstance(low, CudaLowering)
    if looks:
        if X is not None:
            _ = X.facts  # refuses what is not an element
        result, flags = _scanned(low, A, X, axis, reverse, shape, True)
        if not flags:
            return A.wrap(result)
        low = _examined(A, X, A.shape[axis])
    result, flags = _scanned(low, A, X, axis, reverse, shape, False)
    if flags & LEAVES:
        refuse(A.S, A.dtype, None)
    if flags:
        refuse_overflow(low, result)
    return A.wrap(result)


def _scanned(
    low: CudaLowering, A: Dense, X: Dense | None, axis: int, reverse: bool, shape: tuple[int, ...], looks: bool
) -> tuple[Any, int]:
    """All products, and flags of what was found."""
    a, (result, p) = sequences(A.array, axis), _room(module_of(A.array), shape, axis, low.dtype)
    before, kept = _before(low, X, a.shape[0], A, axis)
    if reverse:
        a, p = a[:, ::-1], p[:, ::-1]
    found = report()
    chains(low, True, reverse).prefixes(p, a, before, found, looks, not A.S.product_only)
    flags = found.read().flags
    del kept  # the launches read it
    return result, flags


def sequences(array: Any, axis: int) -> Any:
    """A stack as an array (sequences, steps, n, n), elements of a row side by side; a copy if it is not a view."""
    xp = module_of(array)
    moved = xp.moveaxis(array, axis, -3)
    if moved.strides[-1] != moved.itemsize:
        moved = xp.ascontiguousarray(moved)
    return moved.reshape(prod(moved.shape[:-3]), *moved.shape[-3:])


def _room(xp: Any, shape: tuple[int, ...], axis: int, dtype: np.dtype) -> tuple[Any, Any]:
    """An array for an answer, and it as (sequences, steps, rows, columns), with matrices in one run of memory."""
    result = xp.empty(shape, dtype)
    moved = xp.moveaxis(result, axis, -3)
    flat = (prod(moved.shape[:-3]), *moved.shape[-3:])
    if 1 not in (prod(shape[:axis]), prod(shape[axis + 1 : -2])):  # no view of it has one axis of sequences
        result = xp.empty(moved.shape, dtype)
        return xp.moveaxis(result, -3, axis), result.reshape(flat)
    return result, moved.reshape(flat)


def _before(low: CudaLowering, X: Dense | None, batch: int, A: Dense, axis: int) -> tuple[Before, Any]:
    """The matrices before all others, in storage, and what keeps their memory."""
    xp = module_of(A.array)
    if X is None:
        return NOTHING, None
    stored = xp.ascontiguousarray(X.stored(low, True))
    each = prod(X.shape[-2:])
    if len(X.shape) == 2:
        return Before(stored.data.ptr, 0), stored
    leading = (*A.shape[:axis], *A.shape[axis + 1 : -2])
    stored = xp.ascontiguousarray(xp.broadcast_to(stored, (*leading, *X.shape[-2:])))
    return Before(stored.data.ptr, each), stored


def _one_by_one(low: Any, A: Dense, X: Dense | None, axis: int, reverse: bool, shape: tuple[int, ...]) -> Any:
    """The same by one product of the engine for each step."""
    xp = module_of(A.array)
    out = low.empty(shape)
    a, p = (xp.moveaxis(x, axis, 0) for x in (A.stored(low, True) if not low.is_identity else A.array, out))
    if reverse:
        a, p = a[::-1], p[::-1]
    x = None if X is None else xp.broadcast_to(X.stored(low, True), (*a.shape[1:-2], *X.shape[-2:]))
    one_by_one(low, p, a, x, reverse)
    result = low.decode(out)
    refuse_overflow(low, result)
    return result


def product_of(A: Dense, check: bool) -> Any:
    """A₀ ⊗ A₁ ⊗ … ⊗ A_{T−1} of a stack of shape (T, …, n, n), on its GPU."""
    S, steps, n = A.S, A.shape[0], A.shape[-1]
    refuse_elements(S, A.dtype)
    if 0 in A.shape:
        return module_of(A.array).empty(A.shape[1:], A.dtype)
    quick = form_of_any(S, A.dtype, _length(steps)) if check else None
    if quick and chains(quick, True, False).fits(n, n):
        result, flags = _multiplied(quick, A, True)
        if not flags and not _has_nan(quick, result):
            return result
    low: Any = _examined(A, None, steps) if check else A.form(steps + 2, check=False, packed=False)[1]
    if chains(low, True, False).fits(n, n):
        result, _ = _multiplied(low, A, False)
    else:
        result = _folded(low, A)
    if check:
        refuse_overflow(low, result)
    return result


def _multiplied(low: CudaLowering, A: Dense, looks: bool) -> tuple[Any, int]:
    """The product of all matrices, and flags of what was found if it `looks`, for which it waits."""
    found = report() if looks else None
    stored = chains(low, True, False).product(sequences(A.array, 0), found, looks, not A.S.product_only)
    flags = found.read().flags if found else 0
    return (stored if flags else low.decode(stored).reshape(A.shape[1:])), flags


def _has_nan(low: CudaLowering, result: Any) -> bool:
    """Whether there is NaN in the numbers of a result that may have some."""
    xp = module_of(result)
    return not low.drops_nan and result.dtype.kind in "fc" and bool(xp.isnan(result).any())


def _folded(low: Any, A: Dense) -> Any:
    """The same in pairs of neighbours, or one after the other if ⊗ is not associative."""
    xp = module_of(A.array)
    made: Any = kernel(low)
    stack = A.stored(low, True).reshape(A.shape[0], prod(A.shape[1:-2]), *A.shape[-2:])

    def product(left: Any, right: Any) -> Any:
        result = low.empty(left.shape)
        flat = (prod(left.shape[:-2]), *left.shape[-2:])
        made.multiply_stack(result.reshape(flat), left.reshape(flat), right.reshape(flat))
        return result

    if A.S.product_only:
        total = stack[0]
        for step in stack[1:]:
            total = product(total, step)
        return low.decode(total).reshape(A.shape[1:])
    while len(stack) > 1:
        even = len(stack) // 2 * 2
        pairs = product(xp.ascontiguousarray(stack[:even:2]), xp.ascontiguousarray(stack[1:even:2]))
        stack = xp.concatenate([pairs, stack[even:]]) if even < len(stack) else pairs
    return low.decode(stack[0]).reshape(A.shape[1:])
