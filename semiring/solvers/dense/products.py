"""Matrix products by an engine: arrays, stacks and packed bits, here or on a GPU."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any, cast

import numpy as np

from semiring.algebra import laws
from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import check_writable
from semiring.kernels.build import affordable, code_of
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.interface import StackKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.parts import chunks
from semiring.kernels.numpy import logsum
from semiring.kernels.wrappers.paced import SHORT, paced
from semiring.operands.convert import as_packed
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.examine import stacked
from semiring.operands.packed import Packed

from ..forms import product_of, refuse_overflow, same_dtype, written
from ..plan import Plan
from ..task import Task
from .shapes import Product, can_hold, product_shape

MANY = 1e6  # terms for which a look at the operands repays
TEST = 1e-10  # seconds that a test for zero takes


def offer(task: Task) -> Plan:
    """Any product of arrays, or of packed matrices."""
    return _packed(task) if task.kind == "packed" else _dense(task)


def _dense(task: Task) -> Plan:
    A, B, *C = task.operands
    dtype = same_dtype(A, B, *C)
    shape = product_shape(A.shape, B.shape, C[0].shape if C else None)
    (out,) = task.arguments
    if out is not None and not can_hold(out, shape.final, task.S, dtype):
        raise SemiringError(f"out must be a writable {dtype} array of shape {shape.final}, and none with a mask")
    nothing, packed = 0 in A.shape or 0 in B.shape, len(shape.full) == 2
    facts, low = A.form(3, beside=(B, *C), check=task.options.check or nothing, packed=packed and not nothing)
    low = low.for_product(facts)
    entries = prod(shape.full)
    terms = float(entries) * shape.depth
    if terms >= MANY and needs_no_test(low, A.array, B.array):  # type: ignore[attr-defined]
        low = spared(low, terms)
    if not code_of(low).bought:  # else a warm call is spared a step
        low = affordable(low, shape.depth, terms)
    powers = 0
    if low.log_sum:
        powers = logsum.memory(low, prod(shape.full[:-2]), shape.full[-2], shape.depth, shape.full[-1])
    return Plan(
        operation="matmul", algebra=task.S, shape=shape.final, method="tiled product", lowering=low, work=terms,
        memory=entries * dtype.itemsize + powers, runner=partial(_nothing if nothing else _multiply, task, shape),
    )


def needs_no_test(low: Lowering, *operands: np.ndarray) -> bool:
    """Whether ⊗ tests for a zero that is in none of the operands, in compiled code on the CPU."""
    if low.on_gpu or low.kind != "numba" or low.by_library or not low.is_identity or len(low.components) > 1:
        return False
    zero = low.zero[0]
    return low.test_for_zero is not None and not any((part == zero).any() for x in operands for part in chunks(x))


def spared(low: Lowering, terms: float) -> Lowering:
    """The form without a test for zero, or that with it where its code is there and the other's would cost more."""
    spare, seconds = low.without_test, terms * TEST
    code = code_of(spare)
    return spare if code.at_hand or not code_of(low).at_hand or code.pays(seconds) else low


def _nothing(task: Task, shape: Product, plan: Plan) -> Any:
    """No terms are added to C, or to zero."""
    A, _, *C = task.operands
    if C:
        return finish_product(task, C[0].array.reshape(shape.full).copy())  # type: ignore[attr-defined]
    result = laws.full(np.empty(shape.full, A.dtype), task.S.zero_in(A.dtype))
    return finish_product(task, upload(result) if A.on_gpu else result)


def _multiply(task: Task, shape: Product, plan: Plan) -> Any:
    arrays, low = [given.array for given in task.operands], plan.lowering  # type: ignore[attr-defined]
    a, b = arrays[0].reshape(shape.operands[0]), arrays[1].reshape(shape.operands[1])
    c = arrays[2].reshape(shape.full) if len(arrays) > 2 else None
    result = low.decode(multiplied(low, shape.full, a, b, c))
    if task.options.check and not low.drops_nan:
        refuse_overflow(low, result)
    return finish_product(task, result)


def multiplied(low: Lowering, full: tuple[int, ...], a: Any, b: Any, c: Any = None) -> Any:
    """C ⊕ A ⊗ B in storage, of arrays of data."""
    if not low.is_identity:
        a, b = low.encode(a, True), low.encode(b, True)
    result = low.empty(full) if c is None else low.encode(c, True)
    terms = float(prod(full)) * a.shape[-1]
    if len(full) == 2:
        k = paced(build_kernel(low), low, terms) if terms > SHORT else build_kernel(low)
        (k.multiply if c is None else k.multiply_add)(result, a, b)
        return result
    many = cast("StackKernel[Any]", paced(build_kernel(low), low, terms))
    stacks = [stacked(np.broadcast_to(x, (*full[:-2], *x.shape[-2:]))) for x in (a, b)]
    (many.multiply_stack if c is None else many.multiply_add_stack)(stacked(result), *stacks)
    return result


def finish_product(task: Task, result: Any) -> Any:
    """The answer where the operands came from, in `out` if that is given, with names that both have."""
    left, right = task.given[:2]
    final = product_shape(left.shape, right.shape).final
    came = left.on_gpu or right.on_gpu or (len(task.given) > 2 and task.given[2].on_gpu)
    if came != is_on_gpu(result):
        result = upload(result) if came else to_host(result)
    if result.shape != final:
        result = result.reshape(final)
    (out,) = task.arguments
    if out is not None:
        return written(out, result)
    return product_of(left, right, result) if final else left.in_callers_dtype(result)[()]


def _packed(task: Task) -> Plan:
    operands = [as_packed(given) for given in task.operands]
    A = operands[0]
    shape = product_shape(*(given.shape for given in operands))
    work = float(shape.full[0]) * shape.full[1] * shape.depth
    low = A.lowering(A.facts, 3, packed=True)
    low = affordable(low, shape.depth, work)
    (out,) = task.arguments
    wanted = type(A.matrix)
    if out is not None and (type(out) is not wanted or out.shape != shape.full):
        raise SemiringError(f"out must be a {wanted.__name__} of shape {shape.full}")
    return Plan(
        operation="matmul", algebra=task.S, shape=shape.final, method="product of packed rows", lowering=low,
        work=work, memory=low.matrix_bytes(max(shape.full)), runner=partial(_multiply_packed, task, low, operands),
    )


def _multiply_packed(task: Task, low: Lowering, operands: list[Packed], plan: Plan) -> Any:
    A, B, *C = operands
    kernel = build_kernel(low)
    a, b = A.matrix, B.matrix
    if C:
        result = C[0].stored(low, not C[0].mine)
        kernel.multiply_add(result, a, b)
    else:
        result = type(a).zeros(a.shape[0], b.shape[1])
        kernel.multiply(result, a, b)
    (out,) = task.arguments
    if out is None:
        return A.unstored(low, result)
    if not A.on_gpu:
        check_writable(out)
    kernel.assign(out, result)
    return out
