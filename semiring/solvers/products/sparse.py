"""Products with sparse matrices over any semiring: sparse × dense, dense × sparse, sparse × sparse.

Sparse times sparse is Gustavson's algorithm (1978) in two phases: first the places, then the values. On a GPU a sparse
matrix times a dense one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from semiring.algebra.tables import dtype_text
from semiring.errors import SemiringError
from semiring.graphs.held import refuse_unless
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, sparse_kernel
from semiring.kernels.choose import only_form
from semiring.kernels.facts import Facts, together
from semiring.kernels.lowering.base import Lowering
from semiring.machine.threads import cpu_place
from semiring.operands.align import same_dtype, same_vertices
from semiring.operands.between import keeps_any
from semiring.operands.convert import as_dense, on_device, on_host
from semiring.operands.dense import Dense
from semiring.operands.devices import is_on_gpu, require_gpu, to_host
from semiring.operands.examine import examine, known
from semiring.operands.operand import Operand
from semiring.operands.sparse import DeviceSparse, Sparse

from ..forms import affordable_sums, plain_form, product_of, refuse_overflow, written
from ..plan import Plan
from ..task import Task
from .arrays import Product, can_hold, product_shape

if TYPE_CHECKING:
    from semiring.kernels.cpu.sparse.product import SparseKernel


def offer(task: Task) -> Plan:
    """A product with a sparse factor."""
    S, o = task.S, task.options
    refuse_unless(S, "absorbs")
    A, B, *C = task.operands
    both = A.kind == B.kind == "sparse"
    if o.device == "gpu" or (o.device is None and any(given.on_gpu for given in task.operands)):
        return _on_gpu(task, A, B)
    A, B, *C = (on_host(given) for given in task.operands)
    (out,) = task.arguments
    if both and (C or out is not None):
        raise SemiringError(
            "the product of two sparse matrices is sparse: accumulate and out need a dense operand; "
            "write sr.Matrix(C, S) | sr.Matrix(A, S) @ sr.Matrix(B, S), or pass A.toarray() with the algebra's zero "
            "filled in"
        )
    dtype = same_dtype(A, B, *C)
    if both and dtype.kind in "OV" and not keeps_any(A, B):
        raise SemiringError(f"a sparse product over {S.name} would have {'records' if dtype.names else 'objects'} as "
                            "elements, which no SciPy sparse matrix holds; pass one of the factors as a dense array, "
                            "or both as graphs on the same vertices")
    shape = _shape([A, B, *C], dtype, out, out is not None and is_on_gpu(out))
    if isinstance(A, Sparse) and not A.inspected and not both and shape.full[1] == 1:
        plan = _looking(task, A, as_dense(B), C, shape)
        if plan is not None:
            return plan
    facts = facts_of([A, B, *C], o.check)
    low, steps = plain_form(S, dtype, facts, 3), _steps(A, B, shape)
    low = affordable_sums(low, facts, *steps, "rows") if isinstance(A, Sparse) else affordable(low, *steps, "rows")
    size = 0 if both else shape.full[0] * shape.full[1] * dtype.itemsize
    nnz = sum(X.nnz for X in (A, B) if isinstance(X, Sparse))
    run = partial(_sparse, task, low, A, B) if both else partial(_dense, task, low, A, B, C[0] if C else None, shape)
    return Plan(
        operation="matmul", algebra=S, shape=shape.final, method="sparse × sparse" if both else "sparse × dense",
        lowering=low, place=cpu_place() if low.compiled else "",
        work=float(nnz) * (1 if both else max(shape.full[1] if A.kind == "sparse" else shape.full[0], 1)),
        memory=size, runner=run,
    )


def _shape(operands: list[Operand], dtype: np.dtype, out: Any, elsewhere: bool) -> Product:
    """The shape of a product; refuse stacks, and an `out` of another shape or dtype, or `elsewhere`."""
    for given in operands[:2]:
        if given.kind != "sparse" and len(given.shape) not in (1, 2):
            raise SemiringError(f"a sparse matrix times an array of shape {given.shape}: the array must be 1-D or 2-D")
    shape = product_shape(*(given.shape for given in operands))
    if out is not None and (elsewhere or not can_hold(out, shape.final, operands[0].S, dtype)):
        raise SemiringError(f"out must be a writable, unmasked {dtype_text(dtype)} array of shape {shape.final}")
    return shape


def _looking(task: Task, A: Sparse, B: Dense, C: list[Operand], shape: Product) -> Plan | None:
    """An unchecked matrix times a vector: the product checks the matrix in the same pass.

    This needs no other facts about the elements: ⊕ and ⊗ are computed in their own type.
    """
    S, check = task.S, task.options.check
    if A.dtype not in (np.float32, np.float64) or only_form(S, A.dtype, False) is None:
        return None
    low = plain_form(S, A.dtype, Facts(), 3)
    if low.kind != "numba" or not low.is_identity or not (known(S, A.dtype).everything or not check):
        return None
    entries = len(A.given.columns)
    low = affordable(low, entries / max(A.n, 1), float(entries), "rows")
    if not low.compiled:
        return None
    return Plan(
        operation="matmul", algebra=S, shape=shape.final, method="sparse × dense", lowering=low,
        place=cpu_place(), work=float(entries), memory=A.n * A.dtype.itemsize,
        runner=partial(_looked_at, task, low, A, B, C[0] if C else None, shape),
    )


def _looked_at(task: Task, low: Lowering, A: Sparse, B: Dense, C: Any, shape: Product, plan: Plan) -> Any:
    result = np.empty(shape.full, low.storage) if C is None else low.encode(C.array, True).reshape(shape.full)
    fine = cast("SparseKernel", sparse_kernel(low)).times_vector(
        result[:, 0], A.given, np.ascontiguousarray(B.array.reshape(-1)), accumulate=C is not None
    )
    if task.options.check:
        facts_of([*([] if fine else [A]), B, *([] if C is None else [C])], True)
    if fine:
        return _finish(task, low, low.decode(result).reshape(shape.final))
    return _dense(task, low, A, B, C, shape, plan)


def _steps(A: Operand, B: Operand, shape: Product) -> tuple[float, float]:
    """The most entries of a row, or terms of an entry, and all terms."""
    if isinstance(A, Sparse) and isinstance(B, Sparse):
        terms = A.nnz * B.nnz / max(B.shape[0], 1)
        return _longest(A), terms
    if isinstance(A, Sparse):
        return _longest(A), float(A.nnz) * shape.full[1]
    assert isinstance(B, Sparse)
    return B.nnz / max(B.shape[1], 1), float(B.nnz) * shape.full[0]


def _longest(A: Sparse) -> int:
    return int(np.diff(A.rows.offsets).max(initial=0))


def facts_of(operands: list[Operand], check: bool) -> Facts:
    """Facts about the elements of all operands; none if they do not matter, and nothing is checked."""
    if not check and only_form(operands[0].S, operands[0].dtype, False) is not None:
        return Facts()
    return together([(X if isinstance(X, Sparse) else as_dense(X)).facts for X in operands])


def rows_in(low: Lowering, given: Any) -> Rows:
    return given.rows if low.is_identity else given.stored(low, True)


def _dense(task: Task, low: Lowering, A: Any, B: Any, C: Any, shape: Any, plan: Plan) -> Any:
    kernel = sparse_kernel(low)
    result = np.empty(shape.full, low.storage) if C is None else low.encode(C.array, True).reshape(shape.full)
    left = isinstance(A, Sparse)
    other = (B if left else A).array.reshape(shape.operands[1 if left else 0])
    dense = other if low.is_identity else low.encode(other, True)
    if left:
        kernel.times_dense(result, rows_in(low, A), dense, accumulate=C is not None)
    else:
        kernel.dense_times(result, dense, rows_in(low, B), accumulate=C is not None)
    return _finish(task, low, low.decode(result).reshape(shape.final))


def _finish(task: Task, low: Lowering, answer: Any) -> Any:
    if task.options.check:
        refuse_overflow(low, answer)
    left, right = task.given[:2]
    (out,) = task.arguments
    if out is not None:
        return written(out, answer)
    return product_of(left, right, answer if right.on_gpu else to_host(answer))


def _sparse(task: Task, low: Lowering, A: Any, B: Any, plan: Plan) -> Any:
    """The answer has sorted columns, and no entry that is the algebra's zero: what is not stored is zero."""

    C = sparse_kernel(low).times_sparse(rows_in(low, A), rows_in(low, B))
    rows = Rows(C.offsets, C.columns, low.decode(C.values), B.shape[1])
    stored = ~A.S.over(A.dtype).is_zero(rows.values)
    rows = rows if stored.all() else rows.where(stored)
    if task.options.check:
        refuse_overflow(low, rows.values,
                        lambda i: (int(np.searchsorted(rows.offsets, i, "right")) - 1, int(rows.columns[i])))
    same = same_vertices(A, B)
    return (B if same and B.by_rows is not None else A).wrap_rows(rows, same)


def _on_gpu(task: Task, A: Operand, B: Operand) -> Plan:
    """A sparse A times a dense B, with the answer on the device of B."""
    S = task.S
    require_gpu(S, task.options.device, A.dtype)
    if task.options.check and not A.examined:
        A.look()
    if A.kind != "sparse" or B.kind not in ("dense", "device"):
        raise SemiringError("on a GPU, a sparse A can only be multiplied by a dense B: pass other operands in the "
                            "host's memory")
    from semiring.kernels.cuda.compile.launch import device_name
    from semiring.kernels.cuda.sparse.product import lowering_for

    dtype = same_dtype(*task.operands)
    shape = _shape(task.operands, dtype, task.arguments[0], False)
    rows = device_rows(A)
    dense = [as_dense(on_device(given)) for given in task.operands[1:]]
    facts = examine(S, dtype, [(A.what, rows.values), *((given.what, given.array) for given in dense)])
    low = lowering_for(S, dtype, facts)
    return Plan(
        operation="matmul", algebra=S, shape=shape.final, method="sparse × dense", lowering=low, place=device_name(),
        work=float(len(rows.values)) * shape.full[1], memory=shape.full[0] * shape.full[1] * dtype.itemsize,
        runner=partial(_run_on_gpu, task, low, rows, dense, shape),
    )


def _run_on_gpu(task: Task, low: Any, rows: Any, dense: list[Dense], shape: Any, plan: Plan) -> Any:
    from semiring.kernels.cuda.sparse.product import times_dense

    B, *C = (given.array for given in dense)
    start = C[0].reshape(shape.full) if C else None
    return _finish(task, low, times_dense(low, rows, B.reshape(shape.operands[1]), start).reshape(shape.final))


def device_rows(A: Operand) -> Any:
    """Compressed rows on the device; CuPy's may have several entries at a place, since ⊗ distributes over ⊕."""
    import cupy

    from semiring.kernels.cuda.sparse.product import DeviceRows

    if isinstance(A, DeviceSparse):
        return DeviceRows(*A.parts(), A.shape[1])
    assert isinstance(A, Sparse)
    offsets, columns, values = map(cupy.asarray, (A.rows.offsets, A.rows.columns, A.values))
    return DeviceRows(offsets, columns, values, A.rows.width)
