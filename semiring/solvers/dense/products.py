"""Compute matrix products by an engine: of arrays, stacks and packed bits; and find which terms win.

With argmax=True the answer is c_ij = ⊕_k a_ik ⊗ b_kj and the least k whose term is c_ij:

    c ← 0, p ← −1,   then for k = 0, 1, …:   if c ⊕ a_ik ⊗ b_kj ≠ c:   c ← a_ik ⊗ b_kj,  p ← k

⊕ selects, so a term that changes c is the new c. Compiled code takes the rows of A one by one. NumPy takes one k after
the other; of compressed rows it takes the first entries of all rows, then the second ones, and so on, whose k ascend
too. Arrays on a GPU are multiplied there, in tiles of k; sparse matrices go through the host.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import lru_cache, partial
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np

from semiring.algebra.laws import choose, full, is_nan
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.errors import LawError, SemiringError
from semiring.graphs.masks import is_masked
from semiring.kernels.blocks.bits import check_writable
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, code_of, renting, stacks_repay
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.choose import only_form
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.dense import lanes
from semiring.kernels.cpu.sparse.structure import product_structure, transpose
from semiring.kernels.cpu.sparse.winners import WinnersKernel
from semiring.kernels.facts import together
from semiring.kernels.interface import StackKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.complements import complemented_step
from semiring.kernels.lowering.parts import chunks
from semiring.kernels.numpy import logsum
from semiring.kernels.numpy.dense import STRIP, operations
from semiring.kernels.numpy.rows import by_rank
from semiring.kernels.wrappers.paced import UNCUT_TERMS, paced
from semiring.machine.threads import thread_count
from semiring.operands.convert import as_dense, as_packed, on_host
from semiring.operands.devices import is_on_gpu, require_gpu, to_host, upload
from semiring.operands.examine import stacked
from semiring.operands.operand import Operand
from semiring.operands.packed import Packed
from semiring.operands.sparse import Sparse

from ..forms import plain_form, product_of, refuse_overflow, same_dtype, same_vertices, written
from ..plan import Plan
from ..task import Task

LOOKED_AT = 1e6  # terms from which a look for zeros in the operands pays off
ZERO_TEST = 1e-10  # seconds that a test for zero takes
NONE = np.int32(-1)
GPU_FACTORS = 4  # factors of a product with winners on a GPU, as forms count them: with fewer, halves would stay halves


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
    """Offer any product of arrays or of packed matrices, and of sparse ones for the terms that win."""
    if task.options.argmax:
        return _with_winners(task)
    return _packed(task) if task.kind == "packed" else _dense(task)


def _dense(task: Task) -> Plan:
    A, B, *C = task.operands
    dtype = same_dtype(A, B, *C)
    shape = product_shape(A.shape, B.shape, C[0].shape if C else None)
    (out,) = task.arguments
    if out is not None and not can_hold(out, shape.final, task.S, dtype):
        raise SemiringError(f"out must be a writable, unmasked {dtype_text(dtype)} array of shape {shape.final}")
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
    return Plan(
        operation="matmul", algebra=task.S, shape=shape.final, method="rows as vectors", lowering=low, work=terms,
        memory=prod(shape.full) * low.storage.itemsize, runner=partial(_multiply_stack, task, shape, look),
        place=f"CPU, {thread_count()} threads",
        reasons={"method": f"matrices of at most {lanes.SIDE} rows and columns stay in registers"},
    ) if stacks_repay(low, shape.depth, terms) else None


def _multiply_stack(task: Task, shape: Product, look: bool, plan: Plan) -> Any:
    """The products as their plan says; the general way refuses what they saw."""
    low, (A, B, *C) = plan.lowering, task.operands
    arrays: Any = [X.array.reshape(s) for X, s in zip((A, B), shape.operands, strict=True)]  # type: ignore
    arrays = arrays if low.is_identity else [low.encode(x, True) for x in arrays]
    stacks = [stacked(np.broadcast_to(x, (*shape.full[:-2], *x.shape[-2:]))) for x in arrays]

    def multiplied_once(look: bool) -> tuple[bool, Any]:
        result = _sums(low, shape.full, C[0].array.reshape(shape.full) if C else None)  # type: ignore
        return lanes.multiply_stack(low, stacked(result), stacks[0], stacks[1], bool(C), look), result

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


def finish_product(task: Task, result: Any) -> Any:
    """Return the answer on the caller's device, in `out` if that is given, with the names that both operands have."""
    left, right = task.given[:2]
    result = _returned(task, result)
    (out,) = task.arguments
    if out is not None:
        return written(out, result)
    return product_of(left, right, result) if result.shape else left.in_callers_dtype(result)[()]


def _returned(task: Task, result: Any) -> Any:
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
        return result
    check_writable(out)
    out.words[:, : out.used_words] = result.words[:, : out.used_words]
    return out


def _with_winners(task: Task) -> Plan:
    """The plan of a product and the terms that win, over an algebra whose ⊕ selects."""
    S = task.S
    if not S.selective:
        raise LawError(f"argmax needs a selective ⊕ (one whose result is always one of its operands); in {S.name} "
                       f"{S._law_report.flags['selective']}")
    if len(task.given) > 2 or task.arguments[0] is not None:
        raise SemiringError("argmax=True returns the product and the winning terms: leave out accumulate and out")
    if any(given.kind == "packed" for given in task.given):
        raise SemiringError("argmax needs arrays or sparse matrices: unpack A and B with .to_dense()")
    if all(given.kind == "device" for given in task.operands):
        return _winners_on_gpu(task)
    if task.options.device == "gpu":
        require_gpu(S, "gpu", task.operands[0].dtype)
        raise SemiringError("argmax of sparse matrices is computed on the CPU: leave out device='gpu', or pass arrays")
    A, B = (on_host(given) for given in task.given)
    both = isinstance(A, Sparse) and isinstance(B, Sparse)
    dtype = same_dtype(A, B)
    for given in (A, B):
        if (isinstance(A, Sparse) or isinstance(B, Sparse)) and len(given.shape) > 2:
            raise SemiringError(f"a sparse matrix times an array of shape {given.shape}: the array must be 1-D or 2-D")
    if both and dtype.kind in "OV" and not same_vertices(A, B):
        raise SemiringError(f"a sparse product over {S.name} would have {'records' if dtype.names else 'objects'} as "
                            "elements, which no SciPy sparse matrix holds; pass one of the factors as a dense array")
    shape = product_shape(A.shape, B.shape)
    low = plain_form(S, dtype, together([A.facts, B.facts]), 3)
    terms = float(prod(shape.full)) * shape.depth
    if isinstance(A, Sparse):
        terms = float(A.nnz) * shape.full[-1]
    steps = float(shape.depth) * max(prod(shape.full) // STRIP, 1)
    low = affordable(low, steps, terms, "winners") if _compiles(low, B) else low.interpreted
    run: Callable[[Plan], Any] = partial(_find, task, A, B, shape)
    if isinstance(A, Sparse) and isinstance(B, Sparse):
        run = partial(_find_sparse, task, A, B)
    entries = prod(shape.full)
    return Plan(
        operation="matmul", algebra=S, shape=shape.final, method="terms in turn", lowering=low,
        place=f"CPU, {thread_count() if low.compiled and low.kind == 'numba' else 1} threads", work=terms,
        memory=entries * (dtype.itemsize + NONE.itemsize), runner=run,
        reasons={"method": "argmax=True asks which of them wins"},
    )


def _winners_on_gpu(task: Task) -> Plan:
    """The same for arrays on the GPU."""
    A, B = task.operands
    dtype, shape = same_dtype(A, B), product_shape(A.shape, B.shape)
    nothing = 0 in A.shape or 0 in B.shape
    facts, low = A.form(GPU_FACTORS, beside=(B,), check=task.options.check or nothing, packed=False)
    low = low.for_product(facts)
    entries = prod(shape.full)
    return Plan(
        operation="matmul", algebra=task.S, shape=shape.final, method="tiled product", lowering=low,
        work=float(entries) * shape.depth, memory=entries * (low.storage.itemsize + dtype.itemsize + NONE.itemsize),
        runner=partial(_find_on_gpu, task, shape),
        reasons={"method": "the winning tile of each entry is noted, and then searched for the term"},
    )


def _find_on_gpu(task: Task, shape: Product, plan: Plan) -> tuple[Any, Any]:
    """The product and the terms that win, on the caller's device."""
    from semiring.kernels.cuda.choose import array_kernel
    from semiring.kernels.cuda.dense.winners import winners_kernel
    from semiring.kernels.cuda.lowering import CudaLowering

    low = plan.lowering
    assert isinstance(low, CudaLowering)
    given = (as_dense(X).array.reshape(s) for X, s in zip(task.operands, shape.operands, strict=True))
    stored = [x if low.is_identity else low.encode(x, True) for x in given]
    stacks = [x[None] if len(shape.full) == 2 else stacked(np.broadcast_to(x, (*shape.full[:-2], *x.shape[-2:])))
              for x in stored]
    values, which = winners_kernel(array_kernel(low)).multiply(*stacks)
    result, which = low.decode(values).reshape(shape.final), which.reshape(shape.final)
    if task.options.check:
        refuse_overflow(low, result)
    if not result.dtype.names:  # an infinity of integers may have moved, and still no term won
        which[result == task.S.zero_in(result.dtype)] = NONE
    return finish_product(task, result), _returned(task, which)[()]


def _compiles(low: Lowering, B: Operand) -> bool:
    """Whether there is compiled code: NumPy computes records, and products with a sparse B."""
    return low.kind == "numba" and low.storage.names is None and not isinstance(B, Sparse)


class Best:
    """The best terms so far, and their numbers.

    Parameters
    ----------
    low : Lowering
    shape : tuple of int
        Of the answer.
    """

    def __init__(self, low: Lowering, shape: tuple[int, ...]):
        objects = low.kind == "objects"
        arithmetic = low.algebra.over(object) if objects else operations(low)
        self._add: Callable[[Any, Any], Any] = arithmetic.add
        self._times: Callable[[Any, Any], Any] = arithmetic.mul if objects else arithmetic.scale  # type: ignore
        self.values = full(np.empty(shape, low.storage), arithmetic.zero)
        self.which = np.full(shape, NONE)

    def join(self, where: Any, a: np.ndarray, b: np.ndarray, k: Any) -> None:
        """Add the terms a ⊗ b, whose numbers are k, to a part of the answer."""
        old = self.values[where]
        total = np.asarray(self._add(old, np.asarray(self._times(a, b), old.dtype)))
        better = np.asarray(~(total == old) & ~is_nan(total), bool)
        if better.any():
            self.values[where] = choose(better, total, old)
            self.which[where] = np.where(better, k, self.which[where])


def _find(task: Task, A: Operand, B: Operand, shape: Product, plan: Plan) -> tuple[Any, Any]:
    """The product and the terms that win, on the caller's device."""
    low = plan.lowering
    a, b = (_in_storage(low, X, s) for X, s in zip((A, B), shape.operands, strict=True))
    if low.compiled and low.kind == "numba":
        values, found = _compiled(low, a, b, shape)
    else:
        best = Best(low, shape.full)
        fold: Any = _sparse_dense if isinstance(A, Sparse) else _dense_sparse if isinstance(B, Sparse) else _dense_dense
        with renting(low, "winners") if _compiles(low, B) else nullcontext():
            fold(best, a, b)
        values, found = best.values, best.which
    result = low.decode(values).reshape(shape.final)
    if task.options.check:
        refuse_overflow(low, result)
    # An infinity of integers may have moved, and still no term won.
    nothing = np.asarray(result == full(result, task.S.zero_in(result.dtype)), bool)
    which = np.where(nothing, NONE, found.reshape(shape.final))
    return finish_product(task, result), _returned(task, which)[()]


def _in_storage(low: Lowering, X: Operand, shape: tuple[int, ...]) -> Any:
    """Compressed rows, or an array of matrices."""
    return X.stored(low, True) if isinstance(X, Sparse) else low.encode(as_dense(X).array, True).reshape(shape)


def _compiled(low: Lowering, a: Any, b: np.ndarray, shape: Product) -> tuple[np.ndarray, np.ndarray]:
    """The same by compiled code: of compressed rows and an array, or of two stacks, matrix by matrix."""
    kernel = WinnersKernel.of(low)
    if isinstance(a, Rows):
        return kernel.multiply(a, np.ascontiguousarray(b))
    values, which = np.empty(shape.full, low.storage), np.empty(shape.full, NONE.dtype)
    rows, depth = a.shape[-2:]
    offsets = np.arange(rows + 1) * depth
    columns = np.tile(np.arange(depth, dtype=NONE.dtype), rows)
    lefts, rights = (np.broadcast_to(x, (*shape.full[:-2], *x.shape[-2:])) for x in (a, b))
    for place in np.ndindex(shape.full[:-2]):
        left = Rows(offsets, columns, np.ascontiguousarray(lefts[place]).reshape(-1), depth)
        values[place], which[place] = kernel.multiply(left, np.ascontiguousarray(rights[place]))
    return values, which


def _dense_dense(best: Best, a: np.ndarray, b: np.ndarray) -> None:
    """Fold in rows of the answer a strip at a time: a strip stays in the cache while k passes."""
    rows, depth, width = a.shape[-2], a.shape[-1], max(prod(best.values.shape[:-2]) * b.shape[-1], 1)
    step = max(STRIP // width, 1)
    for begin in range(0, rows, step):
        some = (..., slice(begin, begin + step), slice(None))
        strip = a[some]
        for k in range(depth):
            best.join(some, strip[..., k, None], b[..., k, None, :], k)


def _sparse_dense(best: Best, A: Rows, b: np.ndarray) -> None:
    for rows, e in by_rank(A.offsets):
        k = A.columns[e]
        best.join(rows, A.values[e][:, None], b[k], k[:, None])


def _dense_sparse(best: Best, a: np.ndarray, B: Rows) -> None:
    turned = transpose(B)
    for columns, e in by_rank(turned.offsets):
        k = turned.columns[e]
        best.join((slice(None), columns), a[:, k], turned.values[e][None, :], k[None, :])


def _find_sparse(task: Task, A: Sparse, B: Sparse, plan: Plan) -> tuple[Any, Any]:
    """The same of two sparse matrices: the winners are in a sparse matrix of the same structure."""
    from scipy.sparse import csr_array

    low, left, right = plan.lowering, A.stored(plan.lowering, True), B.stored(plan.lowering, True)
    offsets, columns = product_structure((left.offsets, left.columns), (right.offsets, right.columns), right.width)
    best = Best(low, (len(columns),))
    keys = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * right.width + columns  # ascending
    for rows, e in by_rank(left.offsets):
        k = left.columns[e]
        lengths = np.diff(right.offsets)[k]
        begins = np.concatenate([[0], np.cumsum(lengths)])
        terms = np.repeat(right.offsets[k] - begins[:-1], lengths) + np.arange(begins[-1])
        places = np.searchsorted(keys, np.repeat(rows, lengths) * right.width + right.columns[terms])
        best.join(places, np.repeat(left.values[e], lengths), right.values[terms], np.repeat(k, lengths))
    values = low.decode(best.values)
    there = (best.which >= 0) & ~np.asarray(values == full(values, task.S.zero_in(values.dtype)), bool)
    if task.options.check:
        refuse_overflow(low, values, lambda i: (int(keys[i]) // right.width, int(columns[i])))
    before = np.concatenate([[0], np.cumsum(there)])
    offsets, columns = before[offsets], columns[there]
    shape = A.shape[0], right.width
    which = csr_array((best.which[there], columns, offsets), shape=shape)
    return A.wrap_rows(Rows(offsets, columns, values[there], right.width), same_vertices(A, B)), which
