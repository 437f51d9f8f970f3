"""Find which terms win: products with argmax=True, over an algebra whose ⊕ selects.

The answer is c_ij = ⊕_k a_ik ⊗ b_kj and the least k whose term is c_ij:

    c ← 0, p ← −1,   then for k = 0, 1, …:   if c ⊕ a_ik ⊗ b_kj ≠ c:   c ← a_ik ⊗ b_kj,  p ← k

⊕ selects, so a term that changes c is the new c. Compiled code takes the rows of A one by one. NumPy takes one k after
the other; of compressed rows it takes the first entries of all rows, then the second ones, and so on, whose k ascend
too. Arrays on a GPU are multiplied there, in tiles of k; sparse matrices go through the host.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.elements import choose, full, is_nan
from semiring.errors import LawError, SemiringError
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, renting
from semiring.kernels.cpu.sparse.structure import product_structure, transpose
from semiring.kernels.cpu.sparse.winners import WinnersKernel
from semiring.kernels.facts import together
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.dense import STRIP, operations
from semiring.kernels.numpy.masked import Pattern
from semiring.kernels.numpy.rows import by_rank
from semiring.kernels.numpy.structure import rows_of
from semiring.machine.threads import cpu_place
from semiring.operands.align import same_dtype, same_vertices
from semiring.operands.between import keeps_any
from semiring.operands.convert import as_dense, on_host
from semiring.operands.devices import require_gpu
from semiring.operands.examine import stacked
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse

from ..forms import plain_form, refuse_overflow
from ..plan import Plan
from ..task import Task
from .arrays import Product, finish_product, product_shape, returned

NONE = np.int32(-1)
AT_ONCE = 1 << 16  # terms of products of short rows that are held at once
GPU_FACTORS = 4  # factors of a product with winners on a GPU, as forms count them: with fewer, halves would stay halves


def offer(task: Task) -> Plan:
    """Offer a product and the terms that win, of arrays and sparse matrices."""
    S = task.S
    refuse_argmax(task)
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
    if both and dtype.kind in "OV" and not keeps_any(A, B):
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
        place=cpu_place(None if low.compiled and low.kind == "numba" else 1), work=terms,
        memory=entries * (dtype.itemsize + NONE.itemsize), runner=run,
        reasons={"method": "argmax=True asks which of them wins"},
    )


def refuse_argmax(task: Task) -> None:
    """Refuse what has no winning terms.

    Raises
    ------
    LawError
        If ⊕ does not select.
    SemiringError
        For accumulate and out, and for packed bits.
    """
    S = task.S
    if not S.selective:
        raise LawError(f"argmax needs a selective ⊕ (one whose result is always one of its operands); in {S.name} "
                       f"{S._law_report.flags['selective']}")
    if len(task.given) > 2 or task.arguments[0] is not None:
        raise SemiringError("argmax=True returns the product and the winning terms: leave out accumulate and out")
    if any(given.kind == "packed" for given in task.given):
        raise SemiringError("argmax needs arrays or sparse matrices: unpack A and B with .to_dense()")


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
    return finish_product(task, result), returned(task, which)[()]


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


def best_terms(low: Lowering, rows: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x ⊗ A for row vectors x, and the least k whose term is the element; 0 where the element is zero.

    All terms of some rows are computed at once, which takes fewer calls than `Best` if rows are short.

    Parameters
    ----------
    low : Lowering
        Of machine numbers or records of them.
    rows : ndarray, shape (count, n)
        In storage.
    A : ndarray, shape (1, n, n) or (count, n, n)
    """
    by, (count, n) = operations(low), rows.shape
    values, which = np.empty((count, n), low.storage), np.zeros((count, n), np.int64)
    step = max(1, AT_ONCE // max(n * n, 1))
    for some in (slice(first, first + step) for first in range(0, count, step)):
        terms = by.scale(rows[some, :, None], A if len(A) == 1 else A[some])
        zeros = by.zeros(terms.shape)
        total = terms = by.add(zeros, choose(is_nan(terms), zeros, terms))
        while total.shape[1] > 1:
            half = total.shape[1] // 2
            total = np.concatenate([by.add(total[:, :half], total[:, half : 2 * half]), total[:, 2 * half :]], 1)
        won = (terms == total).argmax(1)[:, None]
        values[some] = np.take_along_axis(terms, won, 1)[:, 0]
        which[some] = won[:, 0]
        which[some][values[some] == by.zero] = 0
    return values, which


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
    return finish_product(task, result), returned(task, which)[()]


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
    low, left, right = plan.lowering, A.stored(plan.lowering, True), B.stored(plan.lowering, True)
    pattern = product_structure((left.offsets, left.columns), (right.offsets, right.columns), right.width)
    best = Best(low, (len(pattern[1]),))
    sparse_sparse(best, pattern, left, right)
    rows, which = kept_winners(task, low, best, pattern, right.width)
    return A.wrap_rows(rows, same_vertices(A, B)), which


def sparse_sparse(best: Best, pattern: Pattern, A: Rows, B: Rows) -> None:
    """Fold in the terms at the places of a pattern, which may be those of some entries of the product only."""
    offsets, columns = pattern
    if not len(columns):
        return
    keys = rows_of(offsets) * B.width + columns  # ascending
    wanted = np.diff(offsets) > 0
    for rows, e in by_rank(A.offsets):
        some = wanted[rows]
        rows, e = rows[some], e[some]
        k = A.columns[e]
        lengths = np.diff(B.offsets)[k]
        begins = np.concatenate([[0], np.cumsum(lengths)])
        terms = np.repeat(B.offsets[k] - begins[:-1], lengths) + np.arange(begins[-1])
        there = np.repeat(rows, lengths) * B.width + B.columns[terms]
        places = np.minimum(np.searchsorted(keys, there), len(keys) - 1)
        met = np.flatnonzero(keys[places] == there)
        best.join(places[met], np.repeat(A.values[e], lengths)[met], B.values[terms[met]], np.repeat(k, lengths)[met])


def kept_winners(task: Task, low: Lowering, best: Best, pattern: Pattern, width: int) -> tuple[Rows, Any]:
    """The entries that are not zero, and their winners in a sparse matrix."""
    from scipy.sparse import csr_array

    values, tails = low.decode(best.values), rows_of(pattern[0])
    if task.options.check:
        refuse_overflow(low, values, lambda i: (int(tails[i]), int(pattern[1][i])))
    there = (best.which >= 0) & ~np.asarray(values == full(values, task.S.zero_in(values.dtype)), bool)
    rows = Rows(*pattern, values, width).where(there)
    return rows, csr_array((best.which[there], rows.columns.copy(), rows.offsets.copy()), shape=rows.shape)
