"""Products of which a mask says which entries are wanted, in a GPU's memory.

    arrays, dense mask           the product, of which the wanted entries are selected
    arrays, sparse mask          dot products of rows and columns for the mask's entries, or the product and a selection
    sparse × sparse, any mask    rows of A meet columns of B for the mask's entries
    sparse × array               the product, and a selection

Everything is computed where the operands are; a mask of the host is copied there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.elements import full
from semiring.errors import SemiringError
from semiring.graphs.held import refuse_unless
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands.align import same_dtype
from semiring.operands.convert import as_dense, on_device
from semiring.operands.device import Device
from semiring.operands.devices import is_on_gpu, require_gpu, upload
from semiring.operands.examine import examine
from semiring.operands.operand import Operand
from semiring.operands.sparse import DeviceSparse
from semiring.operands.wanted import Mask, read_mask

from ..forms import refuse_overflow
from ..plan import Plan
from ..task import Task, compute, first_offer
from .arrays import Product, can_hold, finish_product, product_shape
from .sparse import device_rows

DOTS, PAIRS, SELECT = "dot products", "rows meet columns", "product, then select"
DEARER = 40  # times as long as in a product of tiles takes a term of a dot product, which is read from memory
HELD = "?fd"  # dtypes that CuPy's sparse matrices hold, of real numbers


class Wanted(NamedTuple):
    """The wanted entries of a product, on the device.

    Attributes
    ----------
    truths : cupy.ndarray of bool, or None
        In the shape of the product; None where a sparse mask marks few.
    pattern : tuple of cupy.ndarray, or None
        Offsets, rows and columns of the entries in order, where a sparse mask marks them.
    """

    truths: Any
    pattern: tuple[Any, Any, Any] | None

    @property
    def entries(self) -> tuple[Any, Any, Any]:
        """Offsets, rows and columns of the wanted entries of a matrix."""
        import cupy

        if self.pattern is not None:
            return self.pattern
        rows, columns = cupy.nonzero(self.truths)
        return in_order(rows, columns, self.truths.shape)


def offer(task: Task) -> Plan:
    """A product under a mask, where an operand is on a GPU or device="gpu" asks for one."""
    assert task.options.mask is not None
    S, device = task.S, task.options.device
    if not any(X.on_gpu for X in task.given):
        require_gpu(S, "gpu", task.operands[0].dtype)
    if device == "cpu":
        raise SemiringError("operands of a product with a mask are on a GPU: leave out device='cpu', or pass a CuPy "
                            "array as A.get()")
    kinds = [X.kind for X in task.given[:2]]
    if "sparse" in kinds and not all(X.on_gpu for X in task.given[:2] if X.kind == "sparse"):
        raise SemiringError("a product of sparse matrices in the host's memory, with a mask, is computed on the CPU: "
                            "leave out device='gpu', and pass a CuPy array as A.get()")
    A, B, *C = (X if X.kind == "sparse" else on_device(as_dense(X)) for X in task.given)
    dtype, both = same_dtype(A, B, *C), kinds == ["sparse", "sparse"]
    shape = product_shape(A.shape, B.shape, C[0].shape if C else None)
    if "sparse" in kinds:
        refuse_unless(S, "absorbs")
        if len(shape.full) > 2:
            raise SemiringError(f"a sparse matrix times an array of shape {(B if kinds[0] == 'sparse' else A).shape}: "
                                "the array must be 1-D or 2-D")
    wanted = read_wanted(task.options.mask, task.given[0], task.given[1], shape)
    as_rows, (out,) = both or wanted.pattern is not None, task.arguments
    if as_rows and (C or out is not None):
        raise SemiringError("the product under the mask is sparse: accumulate and out need a dense "
                            + ("operand" if both else "mask; pass mask.toarray() != 0"))
    if as_rows and dtype.char not in HELD:
        raise SemiringError(f"the product under the mask is sparse, and CuPy has no sparse matrix of {dtype}: pass "
                            + ("one of the factors as a dense array" if both else "mask as a Boolean array"))
    if out is not None and not can_hold(out, shape.final, S, dtype):
        raise SemiringError(f"out must be a writable, unmasked {dtype} array of shape {shape.final}")
    if both:
        return _pairs(task, A, B, wanted, shape)
    count = None if wanted.pattern is None else len(wanted.pattern[1])
    if count is not None and "sparse" not in kinds and count * DEARER < prod(shape.full):
        return _dots(task, A, B, wanted, shape)
    return _whole(task, [A, B, *C], wanted, shape)


# The mask


def read_wanted(mask: Mask, A: Operand, B: Operand, shape: Product) -> Wanted:
    """Read a mask, from either memory."""
    import cupy

    given, complement = _unwrapped(mask.given), mask.complement
    if is_on_gpu(given):
        if given.dtype != np.bool_:
            raise SemiringError(f"mask has elements of dtype {given.dtype}, and a dense mask says True or False: pass "
                                "mask != 0, or a sparse matrix, whose stored entries count")
        truths = given
    elif type(given).__module__.startswith("cupyx."):
        matrix = given.tocoo()
        if len(shape.final) != 2 or matrix.shape != shape.final:
            raise _misfit(matrix.shape, shape)
        pattern = in_order(matrix.row, matrix.col, shape.final)
        if not complement:
            return Wanted(None, pattern)
        truths = cupy.zeros(shape.final, bool)
        truths[pattern[1], pattern[2]] = True
    else:
        found = read_mask(mask).of_product(A, B, shape.final)
        if found.sparse:
            offsets, columns = (cupy.asarray(x) for x in found.pattern())
            return Wanted(None, (offsets, rows_of(offsets, len(columns)), columns))
        truths, complement = upload(np.array(found.array, order="C")), False
    if truths.shape != shape.final:
        if len(shape.full) < 3 or truths.shape != shape.full[-2:]:
            raise _misfit(truths.shape, shape)
        truths = cupy.broadcast_to(truths, shape.final)
    return Wanted(~truths if complement else truths, None)


def _unwrapped(given: Any) -> Any:
    """What a prepared array or packed bits on the GPU mark, as CuPy's array."""
    if isinstance(given, Device) and given.dtype.names is None:
        return given.array != given.S.zero_in(given.dtype)
    if isinstance(given, PackedMatrix) and given.device != "cpu":
        return given.to_dense()
    return given


def _misfit(given: tuple[int, ...], shape: Product) -> SemiringError:
    return SemiringError(f"mask has shape {given}, the product {shape.final}: pass a mask that says of each entry of "
                         "the product whether it is wanted")


def in_order(rows: Any, columns: Any, shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """Offsets, rows and columns of places in any order, each once."""
    import cupy

    width = max(shape[1], 1)
    keys = cupy.unique(rows.astype(np.int64) * width + columns)
    rows, columns = (x.astype(np.int32) for x in (keys // width, keys % width))
    return cupy.searchsorted(rows, cupy.arange(shape[0] + 1, dtype=np.int32)).astype(np.int64), rows, columns


def rows_of(offsets: Any, count: int) -> Any:
    """The row of each entry."""
    import cupy

    return (cupy.searchsorted(offsets, cupy.arange(count), side="right") - 1).astype(np.int32)


# Entry by entry


def _plan(task: Task, shape: Product, low: Any, method: str, count: int, terms: float, run: Any) -> Plan:
    from semiring.kernels.cuda.compile.launch import device_name

    size = prod(shape.full)
    return Plan(
        operation="matmul", algebra=task.S, shape=shape.final, method=method, lowering=low, place=device_name(),
        work=terms, memory=count * (low.storage.itemsize + 12), runner=run,
        reasons={"method": f"the mask wants {count:,} of {size:,} entries"},
    )


def _dots(task: Task, A: Any, B: Any, wanted: Wanted, shape: Product) -> Plan:
    """The wanted entries of a product of arrays by dot products."""
    facts, low = A.form(3, beside=(B,), check=task.options.check, packed=False)
    offsets, rows, columns = wanted.entries
    run = partial(_run_dots, task, A, B, (offsets, rows, columns), shape)
    return _plan(task, shape, low.for_product(facts), DOTS, len(rows), float(len(rows)) * shape.depth, run)


def _run_dots(task: Task, A: Any, B: Any, places: tuple[Any, Any, Any], shape: Product, plan: Plan) -> Any:
    low: Any = plan.lowering
    return _as_rows(task, low, _dot_products(low, A, B, shape, places[1:]), places, shape)


def _dot_products(low: Any, A: Any, B: Any, shape: Product, places: tuple[Any, Any]) -> Any:
    """The wanted entries of a product of arrays."""
    from semiring.kernels.cuda.sparse.masked import dots

    a, b = (low.encode(X.array, True) if not low.is_identity else X.array for X in (A, B))
    a, b = (x.reshape(s) for x, s in zip((a, b), shape.operands, strict=True))
    return low.decode(dots(low, a, b, places))


def _pairs(task: Task, A: Any, B: Any, wanted: Wanted, shape: Product) -> Plan:
    """The wanted entries of a product of two sparse matrices."""
    from semiring.kernels.cuda.sparse.product import lowering_for

    left, right = ascending(A), ascending(B)
    facts = examine(task.S, A.dtype, [(X.what, rows.values) for X, rows in ((A, left), (B, right))])
    places = wanted.entries
    shorter = min(len(rows.values) / max(n, 1) for rows, n in zip((left, right), shape.full, strict=True))
    terms = float(len(places[1])) * shorter
    run = partial(_run_pairs, task, left, right, places, shape)
    return _plan(task, shape, lowering_for(task.S, A.dtype, facts), PAIRS, len(places[1]), terms, run)


def _run_pairs(task: Task, left: Any, right: Any, places: tuple[Any, Any, Any], shape: Product, plan: Plan) -> Any:
    from semiring.kernels.cuda.sparse.masked import pairs

    low: Any = plan.lowering
    turned = transposed(right)
    left, turned = (replace(X, values=low.encode(X.values, not low.is_identity)) for X in (left, turned))
    return _as_rows(task, low, low.decode(pairs(low, left, turned, places[1:])), places, shape)


def ascending(X: DeviceSparse) -> Any:
    """Compressed rows whose columns ascend."""
    import cupy

    found = device_rows(X)
    rows = rows_of(found.offsets, len(found.columns))
    keys = rows.astype(np.int64) * max(found.width, 1) + found.columns
    steps = cupy.diff(keys)
    if bool((steps > 0).all()):
        return found
    order = cupy.argsort(keys)
    if not bool((cupy.diff(keys[order]) > 0).all()):
        raise SemiringError(f"{X.what} has several entries at one place: combine them with ⊕ first, or pass "
                            f"{X.what}.get(), whose entries are combined on the CPU")
    return type(found)(found.offsets, found.columns[order], found.values[order], found.width)


def transposed(X: Any) -> Any:
    """Compressed rows of the transpose; columns ascend there too."""
    import cupy

    rows = rows_of(X.offsets, len(X.columns))
    order = cupy.argsort(X.columns.astype(np.int64) * max(X.shape[0], 1) + rows)
    columns = X.columns[order]
    offsets = cupy.searchsorted(columns, cupy.arange(X.width + 1, dtype=np.int32)).astype(np.int64)
    return type(X)(offsets, rows[order], X.values[order], X.shape[0])


def _as_rows(task: Task, low: Any, values: Any, places: tuple[Any, Any, Any], shape: Product) -> Any:
    """A sparse matrix of CuPy, without entries that are the algebra's zero: what is not stored is zero."""
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    offsets, rows, columns = places
    if task.options.check:
        refuse_overflow(low, values, lambda e: (int(rows[e]), int(columns[e])))
    stored = values != task.S.zero_in(values.dtype)
    before = cupy.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(stored, dtype=np.int64)])
    index = np.int32 if len(values) <= np.iinfo(np.int32).max else np.int64
    parts = values[stored], columns[stored].astype(index), before[offsets].astype(index)
    return csr_matrix(parts, shape=shape.final)


# The product, and a selection


def _whole(task: Task, operands: list[Any], wanted: Wanted, shape: Product) -> Plan:
    """The product, of which the wanted entries are selected."""
    A, *others = (X if X.kind == "sparse" else X.changed(
        answers=None, of_graph=False, library=None, labels=None, callers_dtype=X.dtype) for X in operands)
    inner = Task.within("matmul", A, task.options.without("mask", "device"), (None,), beside=others)
    found = first_offer(inner)
    run = partial(_selected, task, operands, inner, wanted, shape)
    size = prod(shape.full) * operands[0].dtype.itemsize
    return Plan(
        operation="matmul", algebra=task.S, shape=shape.final, method=SELECT, lowering=found.lowering,
        place=found.place, work=found.work, memory=found.memory + size, runner=run,
        reasons={"method": "tiles take less time than single entries"},
    )


def _selected(task: Task, operands: list[Any], inner: Task, wanted: Wanted, shape: Product, plan: Plan) -> Any:
    import cupy

    from semiring.kernels.cuda.compile.launch import in_words

    dtype = operands[0].dtype
    try:
        result = compute(inner)
    except SemiringError:  # an entry may have left its dtype that is not wanted
        if len(operands) > 2 or len(shape.full) > 2 or any(X.kind == "sparse" for X in operands):
            raise
        return _alone(task, operands[0], operands[1], wanted, shape)
    result = (result if dtype.names else cupy.ascontiguousarray(result)).reshape(shape.full)
    if wanted.pattern is not None:
        _, rows, columns = wanted.pattern
        return _as_rows(task, plan.lowering, result[rows, columns], wanted.pattern, shape)
    start = operands[2].array.reshape(shape.full) if len(operands) > 2 else zero_of(task, dtype, shape)
    truths, words = wanted.truths.reshape(shape.full), in_words(result)
    words[...] = cupy.where(truths[..., None] if dtype.names else truths, words, in_words(start))
    return finish_product(task, result)


def zero_of(task: Task, dtype: np.dtype, shape: Product) -> Any:
    """The algebra's zero, with as many axes as the product."""
    return upload(full(np.empty((1,) * len(shape.full), dtype), task.S.zero_in(dtype)))


def _alone(task: Task, A: Any, B: Any, wanted: Wanted, shape: Product) -> Any:
    """The wanted entries of a product of matrices by dot products, and zero elsewhere."""
    import cupy

    from semiring.kernels.cuda.compile.launch import in_words

    facts, form = A.form(3, beside=(B,), check=task.options.check, packed=False)
    low: Any = form.for_product(facts)
    if wanted.pattern is not None:
        return _as_rows(task, low, _dot_products(low, A, B, shape, wanted.pattern[1:]), wanted.pattern, shape)
    rows, columns = (x.astype(np.int32) for x in cupy.nonzero(wanted.truths.reshape(shape.full)))
    values = _dot_products(low, A, B, shape, (rows, columns))
    if task.options.check:
        refuse_overflow(low, values, lambda e: (int(rows[e]), int(columns[e])))
    result = cupy.empty(shape.full, A.dtype)
    words = in_words(result)
    words[...] = in_words(zero_of(task, A.dtype, shape))
    words[rows, columns] = in_words(values)
    return finish_product(task, result)
