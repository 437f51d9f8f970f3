"""Products of which a mask says which entries are wanted, of arrays, sparse matrices and packed bits.

    c_ij = ⊕_k a_ik ⊗ b_kj   for the wanted (i, j), and zero elsewhere

There are three ways, and the one with the least predicted time is taken:

- dot products, a row of A and a column of B for each wanted entry: where few are wanted;
- rows under the mask, of two sparse matrices: Gustavson's algorithm (1978), in which the mask's row is the table of
  where to put a term, and a term that has no place is never made;
- the product, of which the wanted entries are selected: where most are wanted, because tiles take less time a term.

The first two follow A. Buluç and J. Gilbert, The Combinatorial BLAS (2011), and T. A. Davis, Algorithm 1000:
SuiteSparse:GraphBLAS (2019). The answer does not depend on the way, to the bit where ⊕ selects and ⊗ is exact.
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
from semiring.kernels.blocks.bits import check_writable
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, code_of, sparse_kernel
from semiring.kernels.choose import choose
from semiring.kernels.cpu.sparse.masked import DotsKernel, MaskedKernel
from semiring.kernels.cpu.sparse.structure import transpose, transposed
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.dense import operations
from semiring.kernels.numpy.masked import ArrayMaskedKernel
from semiring.kernels.numpy.structure import rows_of
from semiring.machine.threads import cpu_place
from semiring.operands.align import same_dtype, same_vertices
from semiring.operands.between import Answer, keeps_any
from semiring.operands.convert import as_dense, as_packed
from semiring.operands.devices import is_on_gpu
from semiring.operands.held import of_rows
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse
from semiring.operands.wanted import Pattern, Wanted, read_mask, told

from ..forms import affordable_sums, plain_form, refuse_overflow
from ..plan import Plan
from ..task import Task, compute, first_offer
from .arrays import Product, bits_of, can_hold, finish_product, product_shape
from .masked_on_gpu import offer as offer_on_gpu
from .sparse import facts_of, rows_in

DOTS, ROWS, SELECT = "dot products", "rows under the mask", "product, then select"
DOT = 2.5e-10  # seconds of a simple operation of a term of a dot product with a dense column
PAIR = 2e-9  # and with a sparse one, for each entry of the row and of the column
ROW = 1.2e-9  # seconds that a term takes under the mask, or takes to be passed over
TILE = 3.2e-11  # and of a product of arrays of 8 bytes an element
LIBRARY = 9e-11  # seconds of a term of a product of arrays by BLAS, of numbers or of their powers
PANEL = 1.3e-10  # seconds of a simple operation of a term of a sparse matrix and an array
UNION = 8e-9  # of two sparse matrices, with the search for the entries of the answer
COPY_COLUMNS = 4  # wanted entries of a column that repay copying it


class Given(NamedTuple):
    """A product under a mask, read and checked."""

    A: Any
    B: Any
    C: Any  # None where nothing is accumulated
    shape: Product
    wanted: Wanted
    as_rows: bool  # whether the answer is sparse


def offer(task: Task) -> Plan:
    """A product under a mask."""
    assert task.options.mask is not None
    there = any(given.on_gpu for given in task.given) or task.options.device == "gpu"
    if task.kind == "packed":
        return _packed(task, read_mask(task.options.mask, there))
    if there:
        return offer_on_gpu(task)
    wanted = read_mask(task.options.mask)
    given = read_given(task, wanted)
    facts, dtype = facts_of(task.operands, task.options.check), given.A.dtype
    low = plain_form(task.S, dtype, facts, 3)
    by_library = choose(task.S, dtype, facts, 3, in_place=False, packed=False).by_library
    seconds = _seconds(given, low, by_library)
    method = min(seconds, key=seconds.__getitem__)
    if method == SELECT:
        return _whole(task, given, low, facts, seconds)
    rounds, terms = steps(given, method)
    low = affordable_sums(low, facts, rounds, terms, "masked" if both_sparse(given) else "dots")
    return _plan(task, given, low, method, seconds, terms, partial(_by_entries, task, given, method))


def _plan(
    task: Task, given: Given, low: Lowering, method: str, seconds: dict[str, float], terms: float, run: Any
) -> Plan:
    size = given.A.dtype.itemsize
    memory = given.wanted.count * (size + 12) if given.as_rows else prod(given.shape.full) * size
    return Plan(
        operation="matmul", algebra=task.S, shape=given.shape.final, method=method, lowering=low,
        place=cpu_place(None if low.compiled else 1), work=terms, memory=memory, runner=run,
        seconds=seconds if len(seconds) > 1 else {}, reasons={"method": told(given.wanted)},
    )


def read_given(task: Task, wanted: Wanted) -> Given:
    """Check that the operands, the mask and `out` go together."""
    A, B, *C = task.operands
    (out,) = task.arguments
    both = A.kind == B.kind == "sparse"
    dtype = same_dtype(A, B, *C)
    shape = product_shape(A.shape, B.shape, C[0].shape if C else None)
    if "sparse" in (A.kind, B.kind):
        refuse_unless(task.S, "absorbs")
        if len(shape.full) > 2:
            array = B if A.kind == "sparse" else A
            raise SemiringError(f"a sparse matrix times an array of shape {array.shape}: the array must be 1-D or 2-D")
    wanted = wanted.of_product(task.given[0], task.given[1], shape.final)
    as_rows = both or wanted.sparse
    if as_rows and (C or out is not None):
        advice = "pass A.toarray() with the algebra's zero filled in" if both else "pass mask.toarray() != 0"
        raise SemiringError(f"the product under the mask is sparse: accumulate and out need a dense "
                            f"{'operand' if both else 'mask'}; {advice}")
    if as_rows and (dtype.kind in "OV" or dtype == np.float16) and not keeps_any(A, B):
        elements = "records" if dtype.names else "objects" if dtype.kind == "O" else "numbers of 16 bits"
        raise SemiringError(f"a sparse product over {task.S.name} would have {elements} as elements, which no SciPy "
                            "sparse matrix holds; pass "
                            f"{'one of the factors as a dense array' if both else 'mask as a Boolean array'}")
    if out is not None and (is_on_gpu(out) or not can_hold(out, shape.final, task.S, dtype)):
        raise SemiringError(f"out must be a writable, unmasked {dtype} array of shape {shape.final}")
    if isinstance(A, Sparse) and isinstance(B, Sparse) and B.rows is A.rows:
        B = B.changed(column_counts=A.column_counts)
    wanted = next((wanted.over(X.rows.offsets, X.rows.columns) for X in (A, B) if isinstance(X, Sparse)
                   and wanted.has_places(X.rows.offsets, X.rows.columns)), wanted)
    return Given(A, B, C[0] if C else None, shape, wanted, as_rows)


def both_sparse(given: Given) -> bool:
    """Return whether both factors are sparse."""
    return isinstance(given.A, Sparse) and isinstance(given.B, Sparse)


# Predicted times


def _lengths(A: Operand) -> np.ndarray:
    """The number of entries of each row of a sparse matrix."""
    return np.diff(A.rows.offsets)  # type: ignore[attr-defined]


def _terms(A: Sparse, B: Sparse) -> float:
    """The number of terms of a product of two sparse matrices."""
    return float(A.column_counts @ _lengths(B).astype(float))


def _seconds(given: Given, low: Lowering, by_library: bool) -> dict[str, float]:
    """The predicted seconds of each way, on one thread; products of arrays may be BLAS's."""
    A, B, wanted = given.A, given.B, given.wanted
    m, n = given.shape.full[-2:]
    if both_sparse(given):
        work = _terms(A, B)
        found = {SELECT: work * UNION}
        if wanted.complement and isinstance(wanted.marks, tuple):
            return found  # too many to be listed
        offsets, columns = wanted.pattern()
        same = next((X for X in (A, B) if X.rows.columns is columns and X.rows.width == n), None)
        counts = np.bincount(columns, minlength=n) if same is None else same.column_counts
        pairs = float(np.diff(offsets) @ _lengths(A).astype(float)) + float(counts @ B.column_counts.astype(float))
        return found | {ROWS: work * ROW + len(columns) * ROW, DOTS: pairs * PAIR + B.nnz * PAIR}
    slow = 1.0 if low.kind == "objects" else max(operations(low).steps, 1.0)
    dots = steps(given, DOTS)[1] * DOT * slow
    terms = float(prod(given.shape.full)) * given.shape.depth
    if low.kind == "objects":  # a term takes the same time everywhere
        return {DOTS: dots, SELECT: terms * DOT}
    if isinstance(A, Sparse) or isinstance(B, Sparse):
        entries = A.nnz * n if isinstance(A, Sparse) else B.nnz * m
        return {DOTS: dots, SELECT: entries * PANEL * slow}
    tile = LIBRARY if by_library else TILE * slow * max(given.A.dtype.itemsize / 8, 0.25)
    return {DOTS: dots, SELECT: terms * tile}


def steps(given: Given, method: str) -> tuple[float, float]:
    """Return the most terms of an entry, and all terms, of dot products or of rows under the mask."""
    A, B, wanted = given.A, given.B, given.wanted
    if method == ROWS:
        return float(_lengths(A).max(initial=0)), _terms(A, B)
    if len(given.shape.full) > 2 or not (isinstance(A, Sparse) or isinstance(B, Sparse)):
        return float(given.shape.depth), float(wanted.count) * given.shape.depth
    offsets, columns = wanted.pattern(matrix=given.shape.full[-2:])  # type: ignore[arg-type]
    if isinstance(A, Sparse):
        lengths = _lengths(A)
        terms = float(np.diff(offsets) @ lengths.astype(float))
    else:
        lengths = B.column_counts
        terms = float(lengths[columns].sum())
    return float(lengths.max(initial=0)), terms


# Entry by entry


def _by_entries(task: Task, given: Given, method: str, plan: Plan) -> Any:
    """The wanted entries, by dot products or rows under the mask."""
    low, (m, n), lead = plan.lowering, given.shape.full[-2:], given.shape.full[:-2]
    a, b = (stored(low, X, s, lead) for X, s in zip((given.A, given.B), given.shape.operands, strict=True))
    result = None if given.as_rows else _start(task, given)
    for place in np.ndindex(lead):
        pattern = given.wanted.pattern(place, (m, n))
        at = None if result is None else (rows_of(pattern[0]), pattern[1])
        old = None if given.C is None or result is None else result[place][at]
        values = low.decode(_values(low, method, pattern, a[place] if lead else a, b[place] if lead else b, old))
        if task.options.check:
            refuse_overflow(low, values, lambda e, pattern=pattern, place=place: (  # type: ignore[misc]
                *place, int(rows_of(pattern[0])[e]), int(pattern[1][e])))
        if result is None:
            return wrapped(task, given, Rows(*pattern, values, n))
        result[place][at] = values
    return finish_product(task, result)


def _start(task: Task, given: Given) -> np.ndarray:
    """The whole answer before anything is computed: C, or zero."""
    if given.C is not None:
        return np.array(as_dense(given.C).array, order="C").reshape(given.shape.full)
    dtype = given.A.dtype
    return full(np.empty(given.shape.full, dtype), task.S.zero_in(dtype))


def stored(low: Lowering, X: Operand, shape: tuple[int, ...], lead: tuple[int, ...]) -> Any:
    """A factor in storage: compressed rows, or an array of matrices."""
    if isinstance(X, Sparse):
        return rows_in(low, X)
    array = as_dense(X).array.reshape(shape)
    array = array if low.is_identity else low.encode(array, True)
    return np.broadcast_to(array, (*lead, *array.shape[-2:]))


def _kernel(low: Lowering, purpose: str, exchange: bool = False) -> Any:
    """The engine for one of its purposes; perhaps with the operands of ⊗ exchanged."""
    if low.kind == "objects":
        return ArrayMaskedKernel(low, None, exchange)
    if not low.compiled:
        return ArrayMaskedKernel(low, code_of(low, purpose), exchange)
    owner = DotsKernel if purpose == "dots" else MaskedKernel
    return owner.of(low, exchange=exchange and not low.algebra.commutative)


def _values(low: Lowering, method: str, pattern: Pattern, a: Any, b: Any, old: np.ndarray | None) -> np.ndarray:
    """The wanted entries of C ⊕ A ⊗ B, or of A ⊗ B, in storage."""
    offsets, columns = pattern
    if old is None:
        C = low.encode(full(np.empty(len(columns), low.dtype), low.algebra.zero_in(low.dtype)), False)
    else:
        C = low.encode(old, True)
    if isinstance(a, Rows) and isinstance(b, Rows):
        kernel = _kernel(low, "masked")
        if method == ROWS:
            kernel.by_rows(C, pattern, a, b)
        else:
            kernel.by_pairs(C, pattern, a, transpose(b))
        return C
    if isinstance(b, Rows):  # columns of B are rows of its transpose, and come second in each ⊗
        to, found, order = transposed(offsets, columns, b.width)
        turned = np.ascontiguousarray(C[order])
        _kernel(low, "dots", True).by_dots(turned, (to, found), transpose(b), np.ascontiguousarray(a).T)
        C[order] = turned
        return C
    _kernel(low, "dots").by_dots(C, pattern, *dotted(pattern, a, b))
    return C


def dotted(pattern: Pattern, a: Any, b: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the factors of dot products as they are read fastest: rows of A, and columns of B if many are wanted."""
    b = np.asfortranarray(b) if len(pattern[1]) > COPY_COLUMNS * b.shape[1] else b
    return a if isinstance(a, Rows) else np.ascontiguousarray(a), b


def wrapped(task: Task, given: Given, rows: Rows) -> Any:
    """A sparse answer without entries that are the algebra's zero: what is not stored is zero."""
    A, B = given.A, given.B
    stored = ~np.asarray(A.S.over(A.dtype).is_zero(rows.values), bool)
    if stored.all():  # the caller may change the answer, whose places may be the mask's own
        rows = Rows(rows.offsets.copy(), rows.columns.copy(), rows.values, rows.width)
    else:
        rows = rows.where(stored)
    if not isinstance(A, Sparse):
        named = A.answers if isinstance(A.answers, Answer) else None
        A = Sparse(rows, A.S, A.what, A.names, A.of_graph).of_library(A.library)
        if named is not None:
            A.by_rows = lambda rows, names: named(rows)
        elif A.of_graph:  # a Matrix, or a data frame that is one
            S, library = A.S.declared, A.library
            A.by_rows = lambda rows, names: of_rows(rows, S, names, library)
    return A.wrap_rows(rows, same_vertices(given.A, B))


# The product, and a selection


def _whole(task: Task, given: Given, low: Lowering, facts: Facts, seconds: dict[str, float]) -> Plan:
    """The plan of the product, of which the wanted entries are selected."""
    if both_sparse(given):
        work = _terms(given.A, given.B)
        low = affordable_sums(low, facts, float(_lengths(given.A).max(initial=0)), work, "rows")
        return _plan(task, given, low, SELECT, seconds, work, partial(_selected_rows, task, given))
    inner = without_mask(task, task.operands)
    found = first_offer(inner)
    run = partial(_selected, task, given, inner, low)
    made = _plan(task, given, found.lowering, SELECT, seconds, found.work, run)
    return replace(made, place=found.place, memory=found.memory + made.memory)


def without_mask(task: Task, operands: list[Operand]) -> Task:
    """The task of the whole product, whose answer is an array."""
    A, *others = (X.changed(answers=None, of_graph=False, library=None, labels=None, callers_dtype=X.dtype)
                  for X in operands)
    return Task.within("matmul", A, task.options.without("mask"), (None,), beside=others)


def _selected_rows(task: Task, given: Given, plan: Plan) -> Any:
    low, A, B = plan.lowering, given.A, given.B
    C = sparse_kernel(low).times_sparse(rows_in(low, A), rows_in(low, B))
    kept = marked(given.wanted, C)
    rows = Rows(C.offsets, C.columns, C.values, B.shape[1]).where(kept)
    rows = Rows(rows.offsets, rows.columns, low.decode(rows.values), rows.width)
    if task.options.check:
        tails = rows_of(rows.offsets)
        refuse_overflow(low, rows.values, lambda e: (int(tails[e]), int(rows.columns[e])))
    return wrapped(task, given, rows)


def marked(wanted: Wanted, C: Rows) -> np.ndarray:
    """Which entries of compressed rows are wanted."""
    if not isinstance(wanted.marks, tuple):
        return np.asarray(wanted.array[rows_of(C.offsets), C.columns])
    width = max(C.width, 1)
    keys, marks = (rows_of(offsets) * width + columns for offsets, columns in ((C.offsets, C.columns), wanted.marks))
    found = np.zeros(len(keys), bool)
    if len(marks):
        found = marks[np.minimum(np.searchsorted(marks, keys), len(marks) - 1)] == keys
    return ~found if wanted.complement else found


def _selected(task: Task, given: Given, inner: Task, low: Lowering, plan: Plan) -> Any:
    try:
        answer = compute(inner)
    except SemiringError:  # an entry may have left its dtype that is not wanted
        terms = steps(given, DOTS)
        low = affordable(low, *terms, "dots")
        return _by_entries(task, given, DOTS, replace(plan, lowering=low))
    result = np.asarray(answer).reshape(given.shape.full)
    if given.as_rows:
        offsets, columns = given.wanted.pattern()
        return wrapped(task, given, Rows(offsets, columns, result[rows_of(offsets), columns], result.shape[1]))
    unwanted = ~given.wanted.array.reshape(given.shape.full)
    result[unwanted] = _start(task, given)[unwanted]
    return finish_product(task, result)


# One bit per entry


def _packed(task: Task, wanted: Wanted) -> Plan:
    """The plan of a product of packed bits, of which the mask's bits are kept."""
    A, B, *C = (as_packed(given) for given in task.operands)
    shape = product_shape(A.shape, B.shape, C[0].shape if C else None).full
    wanted = wanted.of_product(task.given[0], task.given[1], (shape[0], shape[1]))
    inner = Task.within("matmul", A.plain, task.options.without("mask"), (None,), beside=[B])
    found = first_offer(inner)
    (out,) = task.arguments
    if out is not None and (type(out) is not type(A.matrix) or out.shape != shape):
        raise SemiringError(f"out must be a PackedMatrix of shape {shape}")
    run = partial(_packed_selected, task, inner, wanted, C)
    return replace(found, runner=run, method=f"{found.method}, then select", reasons={"method": told(wanted)})


def _packed_selected(task: Task, inner: Task, wanted: Wanted, C: list[Any], plan: Plan) -> Any:
    result = compute(inner)
    (out,) = task.arguments
    result &= wanted.packed()
    if C:
        result |= C[0].matrix
    if out is None:
        return bits_of(task, result)
    check_writable(out)
    out.words[:, : out.used_words] = result.words[:, : out.used_words]
    return out
