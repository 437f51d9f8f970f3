"""Execute GPU calls speculatively: assume that data are fine, or like the last, and check that afterwards.

Small and thin products look at their operands while they multiply them. Their form is one for any data, except for
integers, whose form depends on the data: that is the one of the last call.

The facts about the data (which form of the algebra they allow, that no entry is NaN, that the closure exists) are found
on the device during the computation, and read once at the end. If they are not as assumed, or an error has to be
raised, the answer is dropped and another way computes it.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache, partial
from math import prod
from typing import Any

import cupy
import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.cuda.ahead import begin_call
from semiring.kernels.cuda.choose import PRODUCT, array_kernel, choose
from semiring.kernels.cuda.compile.geometry import LARGEST_STACKED
from semiring.kernels.cuda.dense.exchange import (
    IMPROVED,
    LEAVES,
    NOT_A_NUMBER,
    OUTSIDE,
    SEEN_ORDER,
    UNDEFINED,
    Findings,
    exchange,
    report,
)
from semiring.kernels.cuda.dense.small import SmallProduct, here
from semiring.kernels.cuda.dense.thin import thin
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import DeviceFacts

from ..cycles import may_diverge
from ..plan import Plan
from ..products.arrays import Product, finish_product, product_shape
from ..task import Declined, Task
from . import fields

SPECULATIVE_WORK = 1.5e9  # multiply-adds up to which one synchronization more would cost more than a wrong guess
SPECULATIVE_PRODUCT = 4e9  # the same of products, which are faster
LARGE_ANSWER = 1 << 28  # bytes from which asking for free memory takes no time, compared with computing them
REMEMBERED_KINDS = 256  # of calls

Key = tuple[Semiring, Any, int, int]  # algebra, dtype, axes, order: 0 for products

_known: OrderedDict[Key, CudaLowering] = OrderedDict()


def offer(task: Task) -> Plan | None:
    """Offer a call like an earlier one; the first call of a kind is remembered."""
    if not task.options.usual or (task.verb == "matmul" and (len(task.operands) > 2 or task.arguments[0] is not None)):
        return None
    arrays = [given.array for given in task.operands]  # type: ignore[attr-defined]
    if task.verb == "matmul":
        plan = _in_one_pass(task, *arrays)
        if plan is not None:
            return plan
    key = (_closure_key if task.verb == "closure" else _product_key)(task.S, *arrays)
    if key is None:
        begin_call(task.verb, task.S, *arrays)
        return None
    low = _known.get(key)
    if low is None:
        begin_call(task.verb, task.S, *arrays)
        task.observers.append(partial(_remember, key))
        return None
    shape = arrays[0].shape if task.verb == "closure" else (arrays[0].shape[0], arrays[1].shape[1])
    work = float(shape[-1]) ** 3 if task.verb == "closure" else float(arrays[0].size) * shape[1]
    return Plan(
        operation=task.verb, algebra=task.S, shape=shape, method="as before", lowering=low, work=work, memory=0,
        runner=partial(_guess, task, key, low, arrays),
        reasons={"method": "a call like an earlier one; if its data differ, another plan runs"},
    )


def _guess(task: Task, key: Key, low: CudaLowering, arrays: list[Any], plan: Plan) -> Any:
    answer = (closure if task.verb == "closure" else product)(low, *arrays)
    if answer is None or (task.verb == "closure" and not _is_right(low, arrays[0], answer)):
        _known.pop(key, None)
        task.observers.append(partial(_remember, key))
        raise Declined
    return task.operands[0].wrap(answer) if task.verb == "closure" else finish_product(task, answer)


def product_at_once(A: Any, B: Any, S: Semiring) -> Any:
    """A ⊗ B of arrays that are small, or of a kind that was multiplied before; None for the general way.

    Both are on the current GPU. The general way says what is unusual.
    """
    found = small_product(A, B, S)
    return _product_like_before(A, B, S) if found is None else found


def small_product(A: Any, B: Any, S: Semiring) -> Any:
    """A ⊗ B of two small arrays of floats on the current GPU, or None."""
    if type(A) is not cupy.ndarray or type(B) is not cupy.ndarray:
        return None
    if A.ndim != 2 or B.ndim != 2 or (dtype := A.dtype) is not B.dtype or not here(A, B):
        return None
    way = _small.get((S, dtype))
    if way is None:
        way = _small[S, dtype] = _small_way(S, dtype)
        while len(_small) > REMEMBERED_KINDS:
            _small.pop(next(iter(_small)), None)
    return way(A, B) if isinstance(way, SmallProduct) else None


def _product_like_before(A: Any, B: Any, S: Semiring) -> Any:
    """A ⊗ B of arrays of a kind that was multiplied before, but for vectors and small ones; or None."""
    if type(A) is not cupy.ndarray or type(B) is not cupy.ndarray:
        return None
    if (key := _product_key(S, A, B)) is None or (low := _known.get(key)) is None or not here(A, B):
        return None
    (m, k), n = A.shape, B.shape[1]
    return None if thin(low, True).fits(1, m, k, n) else _if_right(key, product(low, A, B))


def closure_at_once(A: Any, S: Semiring) -> Any:
    """A* of an array of a kind that was closed before, on the current GPU; None for the general way."""
    if type(A) is not cupy.ndarray or not 2 <= A.ndim <= 3 or A.shape[-1] != A.shape[-2] or not here(A):
        return None
    if S.completed is not None or S.sums_powers or (key := _closure_key(S, A)) is None:
        return None
    if (low := _known.get(key)) is None:
        return None
    answer = closure(low, A)
    return _if_right(key, None if answer is None or not _is_right(low, A, answer) else answer)


def _if_right(key: Key, answer: Any) -> Any:
    """The answer; where there is none, the general way need not guess the same again."""
    if answer is None:
        _known.pop(key, None)
    return answer


_small: dict[tuple[Semiring, np.dtype], SmallProduct | bool] = {}  # False where there is no such way


def _small_way(S: Semiring, dtype: np.dtype) -> SmallProduct | bool:
    """The way of small products, if the data may stay in their dtype and one form is right for all of them."""
    if dtype.kind != "f" or not dtype.isnative or S.traced is None or (S.lift and S.lift.takes(dtype)):
        return False
    if not S.has_zero_for_products:  # the general way refuses it
        return False
    try:
        stays = S.promoted(dtype) == dtype
    except SemiringError:  # which the general way explains
        return False
    low = _form_of_any(S, dtype) if stays else None
    return False if low is None else SmallProduct(low)


def _in_one_pass(task: Task, a: Any, b: Any) -> Plan | None:
    """Offer a product of stacks of small matrices, or of a matrix and a vector."""
    S, dtype = task.S, a.dtype
    if b.dtype != dtype or not (a.size and b.size and a.ndim and b.ndim):
        return None
    low = _form_of_any(S, dtype) or _known.get((S, dtype, 2, 0))
    if low is None:
        task.observers.append(partial(_remember, (S, dtype, 2, 0)))
        return None
    shape = product_shape(a.shape, b.shape)
    *leading, m, n = shape.full
    batch = prod(leading)
    if not thin(low, True).fits(batch, m, shape.depth, n):
        return None
    size = batch * m * n * dtype.itemsize
    return Plan(
        operation="matmul", algebra=S, shape=shape.final, method="one pass", lowering=low,
        work=float(batch) * m * n * shape.depth, memory=size if size >= LARGE_ANSWER else 0,
        runner=partial(_pass, task, low, shape, a, b),
        reasons={"method": "entries are looked at while they are multiplied; if any is unusual, another plan runs"},
    )


def _pass(task: Task, low: CudaLowering, shape: Product, a: Any, b: Any, plan: Plan) -> Any:
    found, result, kernels = report(), cupy.empty(shape.final, low.dtype), thin(low, True)
    *leading, m, n = shape.full
    if not kernels.straight((prod(leading), m, shape.depth, n), result, a, b, found):
        A, B = (_stack(x.reshape(s), shape.full) for x, s in zip((a, b), shape.operands, strict=True))
        kernels(result.reshape(-1, m, n), A, B, found=found)
    findings = found.read()
    if findings.flags & (NOT_A_NUMBER | OUTSIDE | LEAVES) or (
        low.dtype.kind in "iu" and not _holds(low, 0, findings, 0)
    ):
        if low.dtype.kind in "iu":
            task.observers.append(partial(_remember, (task.S, low.dtype, 2, 0)))
        raise Declined
    return finish_product(task, result)


def _stack(array: Any, full: tuple[int, ...]) -> Any:
    """Matrices behind any leading axes, as many as the product has, as one stack."""
    if array.ndim == 2:
        return cupy.broadcast_to(array, (prod(full[:-2]), *array.shape))
    if array.ndim == 3 and array.shape[0] == full[0] and len(full) == 3:
        return array
    return cupy.broadcast_to(array, (*full[:-2], *array.shape[-2:])).reshape(-1, *array.shape[-2:])


@lru_cache(1024)
def _form_of_any(S: Semiring, dtype: np.dtype) -> CudaLowering | None:
    """The form that a product takes whatever its elements are; None for integers, and where there is none."""
    if dtype.kind in "iuO" or S.has_multiples:
        return None
    try:
        low = choose(S, dtype, DeviceFacts(), PRODUCT, in_place=False)
    except SemiringError:
        return None
    if low.blas:  # 0 · ∞ is NaN without a test, and seen in the result
        low = low.for_product(DeviceFacts(has_zero=False))
    return low if low.kind == "cuda" else None


def _is_right(low: CudaLowering, A: Any, X: Any) -> bool:
    """Whether X is A*, if sums may cancel or diverge; for other algebras it is."""
    if low.inverts or low.dual:
        right = fields.is_right(fields.numbers(low, A), fields.numbers(low, X), fields.precision(low))
        return bool(right.all())
    if low.log_sum:
        fields.endless(low, X)
    return True


def _remember(key: Key, plan: Plan) -> None:
    """Remember how a call was computed."""
    low = plan.lowering
    if plan.operation == "closure" and (low.inverts or low.dual or low.log_sum) and not low.is_identity:
        return  # answers are checked in storage
    whole = plan.method == ("floyd-warshall" if plan.operation == "closure" else "tiled product")
    if whole and isinstance(low, CudaLowering) and low.kind == "cuda" and not low.algebra.has_multiples:
        _known[key] = low
        while len(_known) > REMEMBERED_KINDS:
            _known.popitem(last=False)


def _closure_key(S: Semiring, array: Any) -> Key | None:
    """The kind of a closure, or None if speculation does not pay off or needs many launches."""
    n, axes = array.shape[-1], array.ndim
    few = n <= LARGEST_STACKED if axes == 3 else axes == 2 and n**3 <= SPECULATIVE_WORK
    return (S, array.dtype, axes, n) if few and array.size else None


def _product_key(S: Semiring, a: Any, b: Any) -> Key | None:
    """The kind of a product, or None if speculation does not pay off."""
    if not (a.ndim == b.ndim == 2 and a.shape[1] == b.shape[0] and a.dtype == b.dtype):
        return None
    return (S, a.dtype, 2, 0) if 0 < a.size * b.shape[1] <= SPECULATIVE_PRODUCT else None


def closure(low: CudaLowering, array: Any) -> Any:
    """Return A* in new memory, or None if another way has to compute it."""
    n = array.shape[-1]
    kernel, ways, found = array_kernel(low), exchange(low), report()
    result = cupy.empty(array.shape, low.dtype)
    if array.ndim == 2 and kernel.closure.has_graph(n):
        with kernel.closure.graph(n) as recorded:
            ways.take_in(array, recorded.matrix, found)
            recorded.launch()
            ways.hand_out(recorded.matrix, result, recorded.failed.data.ptr, found)
    elif n > LARGEST_STACKED:
        return None
    else:
        if low.is_identity and array.strides[-1] == array.itemsize and n <= SEEN_ORDER and not low.log_sum:
            ways.close_seen(array, result, found)
        elif low.is_identity and array.strides[-1] == array.itemsize:
            ways.look_at(array, found)
            failed = kernel.close_small(array, result)
            ways.inspect(result, 0 if failed is None else failed.data.ptr, found)
        else:
            work = cupy.empty(array.shape, low.storage)
            ways.take_in(array, work, found)
            failed = kernel.close_small(work, work)
            ways.hand_out(work, result, 0 if failed is None else failed.data.ptr, found)
    return result if _holds(low, n, found.read(), IMPROVED if may_diverge(low) else 0) else None


def product(low: CudaLowering, a: Any, b: Any) -> Any:
    """Return A ⊗ B in new memory, or None if another way has to compute it."""
    kernel, ways, found = array_kernel(low), exchange(low), report()
    result = cupy.empty((a.shape[0], b.shape[1]), low.storage)
    if low.is_identity:
        ways.look_at(a, found)
        ways.look_at(b, found, last=True)
        kernel.multiply(result, a, b)
    else:
        x, y = cupy.empty(a.shape, low.storage), cupy.empty(b.shape, low.storage)
        ways.take_in(a, x, found)
        ways.take_in(b, y, found)
        kernel.multiply(result, x, y)
        stored, result = result, cupy.empty(result.shape, low.dtype)
        ways.hand_out(stored, result, 0, found)
    return result if _holds(low, 0, found.read(), 0) else None


def _holds(low: CudaLowering, order: int, findings: Findings, improved: int) -> bool:
    """Whether the data were as assumed, and the answer raises no error; the order of a product is 0."""
    if findings.flags & (NOT_A_NUMBER | OUTSIDE | LEAVES | UNDEFINED | improved):
        return False
    facts = findings.facts(low.dtype)
    try:
        right = choose(low.algebra, low.dtype, facts, order or PRODUCT, in_place=False)
        return (right if order else right.for_product(facts)) is low
    except SemiringError:
        return False
