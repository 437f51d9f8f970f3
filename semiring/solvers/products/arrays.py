"""Compute matrix products by an engine: of arrays, stacks and packed bits."""

from __future__ import annotations

from functools import lru_cache, partial
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np

from semiring.algebra.elements import full
from semiring.algebra.masks import is_masked
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import check_writable
from semiring.kernels.build import affordable, code_of, few_repay, stacks_repay
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.choose import only_form
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.dense import lanes, stacks
from semiring.kernels.cpu.dense.thin import FEW, fits, looks, thin_kernel, turned
from semiring.kernels.facts import Facts
from semiring.kernels.interface import StackKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.complements import complemented_step
from semiring.kernels.lowering.parts import chunks
from semiring.kernels.numpy import logsum
from semiring.kernels.numpy.dense import operations
from semiring.kernels.wrappers.paced import UNCUT_TERMS, paced
from semiring.machine.threads import cpu_place
from semiring.operands.align import same_dtype, same_vertices
from semiring.operands.convert import as_dense, as_packed
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.examine import stacked
from semiring.operands.operand import Operand
from semiring.operands.packed import Packed

from ..forms import plain_form, product_of, refuse_overflow, written
from ..plan import Plan
from ..task import Task

LOOKED_AT = 1e6  # terms from which a look for zeros in the operands pays off
ZERO_TEST = 1e-10  # seconds that a test for zero takes
LEAST_DEPTH = 1024  # terms of an entry that are not cut,
MOST_ENTRIES, MOST_PARTS = 1 << 16, 64  # entries of all parts together, and parts, of those that are


class Product(NamedTuple):
    """Shapes of a product C ⊕ A ⊗ B."""

    full: tuple[int, ...]  # of the product of matrices
    final: tuple[int, ...]  # of the answer: without the axes that vectors lack
    depth: int  # terms of an entry
    operands: tuple[tuple[int, ...], tuple[int, ...]]  # A and B as matrices


@lru_cache(1024)
def product_shape(
    a: tuple[int, ...], b: tuple[int, ...], c: tuple[int, ...] | None = None, names: tuple[str, str] = ("A", "B")
) -> Product:
    """Return the shapes of a product, as in `numpy.matmul`; errors call its factors by `names`.

    Raises
    ------
    SemiringError
        If they do not fit.
    """
    if not a or not b:
        raise SemiringError("A and B must be matrices or vectors, not single numbers; S.mul multiplies elements")
    left, right = names
    row, column = len(a) == 1, len(b) == 1
    A, B = ((1, *a) if row else a), ((*b, 1) if column else b)
    if A[-1] != B[-2]:
        raise SemiringError(f"{left} of shape {a} and {right} of shape {b} do not fit: "
                            f"{left} has {A[-1]} columns, {right} has {B[-2]} rows")
    try:
        leading = np.broadcast_shapes(A[:-2], B[:-2])
    except ValueError:
        raise SemiringError(f"leading axes {A[:-2]} of {left} and {B[:-2]} of {right} do not broadcast") from None
    full = (*leading, A[-2], B[-1])
    final = (*leading, *(() if row else full[-2:-1]), *(() if column else full[-1:]))
    if c is not None and c != final:
        raise SemiringError(f"accumulate has shape {c}, the product {final}")
    return Product(full, final, A[-1], (A, B))


def can_hold(out: Any, shape: tuple[int, ...], S: Semiring, dtype: np.dtype) -> bool:
    """Return whether an answer of this shape and dtype can be written to an array, whatever its byte order."""
    if (not isinstance(out, np.ndarray) and not is_on_gpu(out)) or is_masked(out):
        return False
    try:
        same = S.resolve_dtype(out.dtype) == dtype
    except (SemiringError, TypeError):  # a dtype that is not one of numbers
        return False
    return same and out.shape == shape and bool(getattr(out.flags, "writeable", True))


def offer(task: Task) -> Plan:
    """Offer any product of arrays or of packed matrices."""
    return _packed(task) if task.kind == "packed" else _dense(task)


def _dense(task: Task) -> Plan:
    A, B, *C = task.operands
    dtype = same_dtype(A, B, *C)
    shape = product_shape(A.shape, B.shape, C[0].shape if C else None)
    (out,) = task.arguments
    if out is not None and not can_hold(out, shape.final, task.S, dtype):
        raise SemiringError(f"out must be a writable, unmasked {dtype_text(dtype)} array of shape {shape.final}")
    return _with_few_vectors(task, shape, dtype) or _examined(task, shape, dtype)


def _with_few_vectors(task: Task, shape: Product, dtype: np.dtype) -> Plan | None:
    """The plan of a product whose large factor is read once, and looked at meanwhile; None for any other."""
    A = task.operands[0]
    S, large, terms = task.S, max(task.operands[:2], key=lambda X: prod(X.shape)), prod(shape.full) * shape.depth
    if A.on_gpu or len(shape.full) != 2 or min(shape.full) > FEW or not task.options.check or "facts" in vars(large):
        return None
    if dtype not in (np.float32, np.float64) or only_form(S, dtype, False) is None:
        return None
    low = plain_form(S, dtype, Facts(), 3)
    given = turned(np.empty(shape.full, dtype), *_matrices(task, shape))
    if given is None or not (fits(low) and looks(low)) or not few_repay(low, given.matrix.size):
        return None
    return Plan(
        operation="matmul", algebra=S, shape=shape.final, method="one pass over the matrix", lowering=low,
        place=cpu_place(), work=float(terms), memory=given.out.nbytes,
        runner=partial(_multiply_looking, task, shape, large),
        reasons={"method": "there are few vectors, and elements are examined as they are read"},
    )


def _matrices(task: Task, shape: Product) -> list[np.ndarray]:
    """The factors, vectors as matrices."""
    return [as_dense(X).array.reshape(s) for X, s in zip(task.operands, shape.operands, strict=False)]


def _multiply_looking(task: Task, shape: Product, large: Operand, plan: Plan) -> Any:
    low = plan.lowering
    C = as_dense(task.operands[2]).array.reshape(shape.full) if len(task.operands) > 2 else None
    result = low.empty(shape.full) if C is None else low.encode(C, True)
    given = turned(result, *_matrices(task, shape))
    assert given
    if not thin_kernel(low, given).product(given, C is not None, look=True):
        again = _examined(task, shape, low.dtype)  # which says what is wrong, and where
        return again.runner(again)
    for X in task.operands:
        if X is not large:
            _ = X.facts
    if not low.drops_nan:
        refuse_overflow(low, result)
    return finish_product(task, result)


def _examined(task: Task, shape: Product, dtype: np.dtype) -> Plan:
    """The plan of any product of arrays, whose elements are examined first."""
    A, B, *C = task.operands
    nothing, packed = 0 in A.shape or 0 in B.shape, len(shape.full) == 2
    small = not (nothing or A.on_gpu) and max(*shape.full[-2:], shape.depth) <= lanes.SIDE
    form = only_form(task.S, dtype, False) if small else None
    small &= not packed or (form is not None and form.log_sum is not None)  # by tiles each term would take an exp
    if small and form is not None and form.is_identity and (plan := _stack(task, shape, form, look=True)):
        return plan
    facts, low = A.form(3, beside=(B, *C), check=task.options.check or nothing, packed=packed and not nothing)
    low = low.for_product(facts)
    entries = prod(shape.full)
    terms = float(entries) * shape.depth
    if small and (plan := _stack(task, shape, low, look=False)):
        return plan
    if terms >= LOOKED_AT and needs_no_test(low, A.array, B.array):  # type: ignore[attr-defined]
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


def _stack(task: Task, shape: Product, low: Lowering, look: bool) -> Plan | None:
    """Offer a stack of small products by vectors, which may look for what is not an element while they compute."""
    terms = float(prod(shape.full)) * shape.depth
    purpose = stacks.product_purpose(low, shape.full[-2], shape.depth, shape.full[-1])
    return Plan(
        operation="matmul", algebra=task.S, shape=shape.final, method="rows as vectors", lowering=low, work=terms,
        memory=prod(shape.full) * low.storage.itemsize, runner=partial(_multiply_stack, task, shape, look),
        place=cpu_place(),
        reasons={"method": f"matrices of at most {lanes.SIDE} rows and columns stay in registers"},
    ) if stacks_repay(low, shape.depth, terms, purpose) else None


def _multiply_stack(task: Task, shape: Product, look: bool, plan: Plan) -> Any:
    """The products as their plan says; the general way refuses what they saw."""
    low, (A, B, *C) = plan.lowering, task.operands
    arrays: Any = [X.array.reshape(s) for X, s in zip((A, B), shape.operands, strict=True)]  # type: ignore
    arrays = arrays if low.is_identity else [low.encode(x, True) for x in arrays]
    factors = [stacked(np.broadcast_to(x, (*shape.full[:-2], *x.shape[-2:]))) for x in arrays]

    def multiplied_once(look: bool) -> tuple[bool, Any]:
        result = _sums(low, shape.full, C[0].array.reshape(shape.full) if C else None)  # type: ignore
        return stacks.multiply_stack(low, stacked(result), factors[0], factors[1], bool(C), look), result

    fine, result = multiplied_once(look)
    if not fine:
        A.form(3, beside=(B, *C), packed=False)  # which refuses it
        _, result = multiplied_once(False)
    result = low.decode(result)
    if task.options.check and not low.drops_nan:
        refuse_overflow(low, result)
    return finish_product(task, result)


def needs_no_test(low: Lowering, *operands: np.ndarray) -> bool:
    """Return whether compiled code on the CPU tests for a zero that none of the operands contains."""
    if low.on_gpu or low.kind != "numba" or low.by_library or not low.is_identity or len(low.components) > 1:
        return False
    if complemented_step(low):  # its step gives x where a or b is zero
        return False
    zero = low.zero[0]
    return low.test_for_zero is not None and not any((part == zero).any() for x in operands for part in chunks(x))


def spared(low: Lowering, terms: float) -> Lowering:
    """Return the form without a test for zero, unless compiling it would cost more than the tests do."""
    spare, seconds = low.without_test, terms * ZERO_TEST
    code = code_of(spare)
    return spare if code.at_hand or not code_of(low).at_hand or code.pays(seconds) else low


def _nothing(task: Task, shape: Product, plan: Plan) -> Any:
    """The answer without terms: C, or zero."""
    A, _, *C = task.operands
    if C:
        return finish_product(task, C[0].array.reshape(shape.full).copy())  # type: ignore[attr-defined]
    result = full(np.empty(shape.full, A.dtype), task.S.zero_in(A.dtype))
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
    """Return C ⊕ A ⊗ B in storage, from arrays of elements."""
    if not low.is_identity:
        a, b = low.encode(a, True), low.encode(b, True)
    result = _sums(low, full, c)
    terms = float(prod(full)) * a.shape[-1]
    parts = parts_of_depth(*full, a.shape[1]) if len(full) == 2 and low.kind == "numba" and not low.by_library else 1
    if parts > 1 and low.compiled:
        _add_parts(low, result, a, b, parts, c is not None)
        return result
    if len(full) == 2:
        k = paced(build_kernel(low), low, terms) if terms > UNCUT_TERMS else build_kernel(low)
        (k.multiply if c is None else k.multiply_add)(result, a, b)
        return result
    many = cast("StackKernel[Any]", paced(build_kernel(low), low, terms))
    stacks = [stacked(np.broadcast_to(x, (*full[:-2], *x.shape[-2:]))) for x in (a, b)]
    (many.multiply_stack if c is None else many.multiply_add_stack)(stacked(result), *stacks)
    return result


def _sums(low: Lowering, full: tuple[int, ...], c: Any) -> Any:
    """Return C in storage, or room for it, which is one stack."""
    return low.empty(full) if c is None else low.encode(c.copy(order="C"), False)


def parts_of_depth(m: int, n: int, depth: int) -> int:
    """How many products a long one with few entries is cut into, which threads compute side by side.

    Examples
    --------
    >>> parts_of_depth(64, 64, 65536), parts_of_depth(1024, 1024, 1024)
    (16, 1)
    """
    if min(m, n) <= FEW:  # those are read once, and cut by themselves
        return 1
    return max(min(depth // LEAST_DEPTH, MOST_ENTRIES // max(m * n, 1), MOST_PARTS), 1)


def _add_parts(low: Lowering, result: np.ndarray, a: np.ndarray, b: np.ndarray, parts: int, accumulate: bool) -> None:
    """C ← A ⊗ B, or C ⊕ A ⊗ B, as a stack of products over parts of k, which are added up in their order."""
    (m, depth), n = a.shape, b.shape[1]
    each = depth // parts
    whole = each * parts
    left = np.moveaxis(a[:, :whole].reshape(m, parts, each), 1, 0)
    sums = low.empty((parts, m, n))
    many = cast("StackKernel[Any]", paced(build_kernel(low), low, float(m) * n * whole))
    many.multiply_stack(sums, left, b[:whole].reshape(parts, each, n))
    add = operations(low).add
    if not accumulate:
        result[...] = sums[0]
    for part in sums[not accumulate :]:
        result[...] = add(result, part)
    if whole < depth:
        build_kernel(low).multiply_add(result, a[:, whole:], b[whole:])


def finish_product(task: Task, result: Any) -> Any:
    """Return the answer on the caller's device, in `out` if that is given, with the names that both operands have."""
    left, right = task.given[:2]
    result = returned(task, result)
    (out,) = task.arguments
    if out is not None:
        return written(out, result)
    return product_of(left, right, result) if result.shape else left.in_callers_dtype(result)[()]


def returned(task: Task, result: Any) -> Any:
    """An array in the shape of the answer, on the caller's device."""
    left, right, *rest = task.given
    final = product_shape(left.shape, right.shape).final
    came = left.on_gpu or right.on_gpu or (bool(rest) and rest[0].on_gpu)
    if came and isinstance(result, np.ndarray):
        result = upload(result)
    elif not came and not isinstance(result, np.ndarray):
        result = to_host(result)
    return result if result.shape == final else result.reshape(final)


def _packed(task: Task) -> Plan:
    operands = [as_packed(given) for given in task.operands]
    A = operands[0]
    shape = product_shape(*(given.shape for given in operands))
    work = float(shape.full[0]) * shape.full[1] * shape.depth
    low = A.lowering(A.facts, 3, packed=True)
    low = affordable(low, shape.depth, work)
    (out,) = task.arguments
    if out is not None and (not isinstance(out, PackedMatrix) or out.shape != shape.full):
        raise SemiringError(f"out must be a PackedMatrix of shape {shape.full}")
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
    there = any(given.on_gpu for given in task.given) if out is None else out.device != "cpu"
    result = result.to_device("gpu" if there else "cpu")
    if out is None:
        return bits_of(task, result)
    check_writable(out)
    out.words[:, : out.used_words] = result.words[:, : out.used_words]
    return out


def bits_of(task: Task, result: Any) -> Any:
    """Return packed bits as the type of the first operand, with the names that both factors have."""
    first, second = task.given[:2]
    named = next((X for X in task.given if isinstance(X, Packed) and X.named is not None), None)
    if named is not None:
        return named.changed(names=first.names).wrap(result) if same_vertices(first, second) else result
    return first.wrap(result) if isinstance(first, Packed) else result
