"""Compute closures and products on a GPU in 16 or 32 bits, if the values are few, small or only compared.

Two ways replace the values by short integers, and both are exact.

Ranks. ⊕ and ⊗ of max-min and its like return one of their operands, so they commute with any replacement of the values
that keeps their order. Up to 65,536 distinct values are replaced by their ranks, and two elements share a word. If the
values are wide and there are more of them, the elements are sorted, and each takes its position as its rank: a GPU
compares words of 32 bits five times as fast as words of 64. Equal elements then have different ranks. That is harmless:
the map back from ranks to values is monotone, so it commutes with ⊕ and ⊗.

Saturating sums. t(x) = min(x, M) with M = 32,767 is a homomorphism from (N ∪ {∞}, min, +, ∞, 0) onto the numbers up to
M, with min and a sum that stops at M. So the closure of the truncated matrix is the truncated closure. An entry below M
is exact; an entry M means M or more, or unreachable. A certificate decides which: if no edge leads from a pair below M
to a pair at M, the pairs below M are all pairs that are reachable, by induction over the edges of a walk.

Whether 16 bits are enough is known only at run time; if they are not, the solver declines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.cuda.choose import can_be_ranked, choose, kernel, ranked
from semiring.kernels.cuda.compile.launch import Function, Module, multiprocessors
from semiring.kernels.cuda.compile.program import boolean_words, rank_source
from semiring.kernels.cuda.dense.product import Product, View, WordProduct
from semiring.kernels.facts import DeviceFacts, Facts
from semiring.machine.memory import available_on_device
from semiring.operands.operand import order_of_one

from ..plan import Plan
from ..products.arrays import finish_product
from ..task import Declined, Task
from .schedules import close_best

RANKED_WORK = 2e11  # multiply-adds from which searching for few distinct values pays off
SORTED_WORK = 5e9  # the same for values of 8 bytes, which can be sorted
SORTED_WORK_EACH = 700  # multiply-adds for each element that is sorted
SHORT, LONG = np.dtype("u2"), np.dtype("u4")
SHORT_VALUES = 65_536  # distinct values that have ranks of 16 bits
LONG_ELEMENTS = 2**32 - 2  # elements that can be sorted: the first and the last rank stand for zero and one
SORTING_BYTES = 56  # for each element: sorting, the ranks, the table and the answer
SAMPLED = 1 << 18  # elements from which the first table of values is made
LACKING = 1 << 20  # elements not in the table that one pass collects
PASSES = 3  # over the data, until the table is complete or given up
THREADS = 256  # of a block
RESIDENT_BLOCKS = 8  # of a multiprocessor
M = 32_767
SATURATING_VERTICES = 6144  # from which half the width repays converting, the forecast and the certificate
RELAXATIONS = 32  # of the forecast
CERTIFIED_ROWS = 8192  # rows for which the certificate is checked at once, 4 bytes an element
TILE_BITS = 2048  # the columns of bits are a multiple of this: whole tiles of the product


def offer(task: Task) -> Plan | None:
    """Offer a closure or a product whose values may fit into 16 bits."""
    return _closure(task) if task.verb == "closure" else _product(task)


def _closure(task: Task) -> Plan | None:
    o, S, given = task.options, task.S, task.operands[0]
    plain = o.check and o.reflexive and o.method == "auto" and o.tile is None and not o.packed
    if not plain or len(given.shape) != 2:
        return None
    n = order_of_one(given.shape)
    facts, low = given.form(n)
    if low.kind != "cuda":
        return None
    array = given.array  # type: ignore[attr-defined]
    by_ranks = _may_be_ranked(S, array.dtype, float(n) ** 3, n * n)
    if not by_ranks and not may_saturate(S, array, facts):
        return None
    return _plan(task, given.shape, float(n) ** 3, low, by_ranks, partial(_close, task, facts))


def _may_be_ranked(S: Semiring, dtype: np.dtype, work: float, elements: int) -> bool:
    enough = work >= max(SORTED_WORK, SORTED_WORK_EACH * elements) if dtype.itemsize == 8 else work >= RANKED_WORK
    return enough and can_be_ranked(S, dtype)


def _close(task: Task, facts: Facts, plan: Plan) -> Any:
    S, given = task.S, task.operands[0]
    array = given.array  # type: ignore[attr-defined]
    closure = saturating_closure if saturates(S, array, facts) else ranked_closure
    short = closure(S, array, close_best)
    if short is None:
        raise Declined
    if task.options.overwrite and getattr(array.flags, "writeable", True):
        array[...] = short
        short = array
    return given.wrap(short)


def _product(task: Task) -> Plan | None:
    A, B, *rest = task.operands
    if rest or not (task.options.check and A.on_gpu and B.on_gpu and len(A.shape) == len(B.shape) == 2):
        return None
    work = float(A.shape[0]) * A.shape[1] * B.shape[1]
    if A.dtype != B.dtype or A.shape[1] != B.shape[0] or not _may_be_ranked(
        task.S, A.dtype, work, A.shape[0] * A.shape[1] + B.shape[0] * B.shape[1]
    ):
        return None
    _, low = A.form(3, beside=(B,))
    if low.kind != "cuda":
        return None
    return _plan(task, (A.shape[0], B.shape[1]), work, low, True, partial(_multiply, task, low))


def _multiply(task: Task, low: Any, plan: Plan) -> Any:
    A, B = task.operands
    short = ranked_product(low.algebra, A.array, B.array)  # type: ignore[attr-defined]
    if short is None:
        raise Declined
    return finish_product(task, short)


def _plan(task: Task, shape: tuple[int, ...], work: float, low: Any, by_ranks: bool, run: Any) -> Plan:
    wide = by_ranks and low.dtype.itemsize == 8
    why = ("values of 8 bytes are only compared, and compare faster by their ranks, in 16 bits or 32" if wide else
           "tried first; if 16 bits are too few, another plan runs")
    return Plan(
        operation=task.verb, algebra=task.S, shape=shape, method="ranks" if wide else "16 bits", lowering=low,
        work=work, memory=2 * low.matrix_bytes(max(shape)),  # every other plan needs at least this much
        runner=run, reasons={"method": why},
    )


class Ranks:
    """Matrices replaced by ranks, and the way back.

    Attributes
    ----------
    matrices : list of cupy.ndarray
        Of unsigned integers.
    kernel : CudaKernel
        That of the algebra on ranks.
    """

    def __init__(self, S: Semiring, table: Any, matrices: list[Any], up: bool):
        self.table, self.matrices = table, matrices
        self.kernel = kernel(ranked(S, table.dtype, up, matrices[0].dtype))

    def values(self, ranks: Any) -> Any:
        """Return the elements that a matrix of ranks, in C order, stands for."""
        import cupy

        result = cupy.empty(ranks.shape, self.table.dtype)
        _functions(self.table.dtype, ranks.dtype)[2](
            _blocks(ranks.size), 1, ranks.data.ptr, ranks.size, self.table.data.ptr, len(self.table), result.data.ptr
        )
        return result


def ranks(S: Semiring, matrices: Sequence[Any]) -> Ranks | None:
    """Replace matrices by ranks among all their values; None if they have no ranks. Synchronizes the device.

    Ranks have 16 bits if there are few distinct values. Otherwise they have 32 bits, if that is half of a value and
    there is enough memory to sort the elements.

    Parameters
    ----------
    S : Semiring
    matrices : sequence of cupy.ndarray
        Of one dtype, without NaN.
    """
    import cupy

    dtype = matrices[0].dtype
    if not can_be_ranked(S, dtype):
        return None
    matrices = [cupy.ascontiguousarray(m) for m in matrices]
    zero, one = (S.over(dtype).zero, S.over(dtype).one)
    if zero == one:
        return None
    found = _among_few(matrices, zero, one)
    if found is None and dtype.itemsize > LONG.itemsize:
        found = _sorted(matrices, zero, one)
    return None if found is None else Ranks(S, *found, up=bool(zero < one))


def _among_few(matrices: Sequence[Any], zero: Any, one: Any) -> tuple[Any, list[Any]] | None:
    """A table of the distinct values, and ranks in it; None if there are too many, or one is not between 0 and 1."""
    import cupy

    dtype = matrices[0].dtype
    step = max(sum(m.size for m in matrices) // SAMPLED, 1)
    table = cupy.unique(cupy.concatenate([cupy.array([zero, one], dtype), *(m.reshape(-1)[::step] for m in matrices)]))
    for _ in range(PASSES):
        if len(table) > SHORT_VALUES:
            return None
        found, missing = _look_up(matrices, table)
        if missing is None:
            ends = sorted([zero.item(), one.item()])
            return (table, found) if [table[0].item(), table[-1].item()] == ends else None
        table = cupy.unique(cupy.concatenate([table, missing]))
    return None


def _sorted(matrices: Sequence[Any], zero: Any, one: Any) -> tuple[Any, list[Any]] | None:
    """All elements in order from zero to one, and their positions; None if one lies outside, or memory is short."""
    import cupy

    count, (least, greatest) = sum(m.size for m in matrices), sorted([zero, one])
    if count > LONG_ELEMENTS or SORTING_BYTES * count > available_on_device():
        return None
    flat = [m.reshape(-1) for m in matrices]
    elements = flat[0] if len(flat) == 1 else cupy.concatenate(flat)
    table, places = cupy.empty(count + 2, elements.dtype), cupy.empty(count, LONG)
    table[0], table[-1] = least, greatest
    _spread(elements, cupy.argsort(elements), places, table)
    if count and (table[1].item() < least.item() or table[-2].item() > greatest.item()):
        return None
    ends = np.cumsum([m.size for m in matrices]).tolist()
    return table, [places[end - m.size : end].reshape(m.shape) for m, end in zip(matrices, ends, strict=True)]


def _spread(elements: Any, order: Any, places: Any, table: Any) -> None:
    """Write the position of each element in the order, and the elements in order from the table's second place on."""
    _functions(elements.dtype, places.dtype)[1](
        _blocks(elements.size), 1, elements.data.ptr, elements.size, order.data.ptr, places.data.ptr, table.data.ptr
    )


def _look_up(matrices: Sequence[Any], table: Any) -> tuple[list[Any], Any]:
    """The ranks in the table, and values that it lacks, or None."""
    import cupy

    results = [cupy.empty(m.shape, SHORT) for m in matrices]
    missing, lacking = cupy.empty(LACKING, table.dtype), cupy.zeros(1, np.uint64)
    for m, out in zip(matrices, results, strict=True):
        _functions(table.dtype, SHORT)[0](
            _blocks(m.size), 1, m.data.ptr, m.size, table.data.ptr, len(table), out.data.ptr,
            missing.data.ptr, LACKING, lacking.data.ptr,
        )
    count = int(lacking[0])
    return results, missing[: min(count, LACKING)] if count else None


@lru_cache(16)
def _functions(dtype: np.dtype, rank: np.dtype) -> tuple[Function, Function, Function]:
    module = Module(rank_source(dtype, rank))
    look_up, spread, value = (module.function(name, THREADS) for name in ("rank", "spread", "value"))
    return look_up, spread, value


def _blocks(count: int) -> int:
    return max(min(-(-count // THREADS), multiprocessors() * RESIDENT_BLOCKS), 1)


def ranked_closure(S: Semiring, A: Any, close: Callable[[Any, Any], None]) -> Any:
    """Return the closure of a square CuPy array by ranks, or None if it has none.

    Parameters
    ----------
    S : Semiring
    A : cupy.ndarray, shape (n, n)
    close : callable
        `close(matrix, kernel)` closes a matrix in place.
    """
    found = ranks(S, [A])
    if found is None:
        return None
    (work,) = found.matrices
    close(work, found.kernel)
    return found.values(work)


def ranked_product(S: Semiring, A: Any, B: Any) -> Any:
    """Return A ⊗ B of CuPy matrices by ranks, or None if they have none."""
    import cupy

    found = ranks(S, [A, B])
    if found is None:
        return None
    C = cupy.empty((A.shape[0], B.shape[1]), found.matrices[0].dtype)
    found.kernel.multiply(C, *found.matrices)
    return found.values(C)


def sums_lengths(S: Semiring, dtype: np.dtype, facts: DeviceFacts) -> bool:
    """Return whether the algebra is min-plus on integers, and none of the elements is negative."""
    return S.is_tropical and S.zero == np.inf and dtype.kind in "iu" and facts.least >= 0


def may_saturate(S: Semiring, A: Any, facts: Facts) -> bool:
    """Return whether 32 bits or more would take longer, if 16 are enough."""
    if not isinstance(facts, DeviceFacts) or not sums_lengths(S, A.dtype, facts):
        return False
    return len(A) >= SATURATING_VERTICES and A.dtype.itemsize > SHORT.itemsize


def saturates(S: Semiring, A: Any, facts: Facts) -> bool:
    """Return whether, moreover, the distances from vertex 0 suggest that 16 bits are enough. Synchronizes the device.

    Relaxing all edges gives upper bounds that only decrease; none of those of vertices that are reached may end at M.
    """
    if not may_saturate(S, A, facts):
        return False
    import cupy

    relaxed = _relaxation()
    absent = A.dtype.type(np.iinfo(A.dtype).max)
    x = cupy.full(len(A), np.inf)
    x[0] = 0
    reached = 1
    for _ in range(RELAXATIONS):
        x = cupy.minimum(x, relaxed(A, x[:, None], absent, axis=0))
        now, short = (int(k) for k in cupy.stack([cupy.isfinite(x).sum(), (x < M).sum()]).get())
        if now == short == reached or short == len(A):
            return True
        reached = now
    return False


@cache
def _relaxation() -> Any:
    import cupy

    return cupy.ReductionKernel(
        "T a, float64 x, T absent", "float64 y", "a == absent ? 1.0 / 0.0 : x + a", "min(a, b)", "y = a", "1.0 / 0.0",
        "shortest_edge",
    )


def saturating_closure(S: Semiring, A: Any, close: Callable[[Any, Any], None]) -> Any:
    """Return the closure of a square CuPy array, or None if a distance is M or more. Synchronizes the device.

    Parameters
    ----------
    S : Semiring
        As `sums_lengths` accepts it.
    A : cupy.ndarray, shape (n, n)
        Integers ≥ 0, the dtype's greatest value for an absent edge. It is not changed.
    close : callable
        `close(matrix, kernel)` closes a matrix in place.
    """
    import cupy

    absent = np.iinfo(A.dtype).max
    low = choose(S, SHORT, DeviceFacts(least=0), A.shape[0], in_place=False)
    work = cupy.minimum(A, A.dtype.type(min(M, absent))).astype(np.uint16)
    if absent < M:
        work[absent == A] = M
    close(work, kernel(low))
    far = work == M
    if bool(far.any()) and leads_out(~far, absent != A):
        return None
    largest = int(cupy.where(far, 0, work).max()) if absent <= M else 0
    if absent <= M and largest >= absent:
        return None
    return cupy.where(far, A.dtype.type(absent), work.astype(A.dtype))


def leads_out(inside: Any, edges: Any) -> bool:
    """Return whether an edge k → j leads from a pair (i, k) inside to a pair (i, j) outside.

    It is a Boolean product, 32 elements a word, of the rows and the columns in which something is outside.
    """
    import cupy

    rows, columns = (cupy.flatnonzero(~inside.all(axis=axis)) for axis in (1, 0))
    width = -(-len(columns) // TILE_BITS) * TILE_BITS
    bits = _packed(edges[:, columns], width)
    for start in range(0, len(rows), CERTIFIED_ROWS):
        some = inside[rows[start : start + CERTIFIED_ROWS]]
        known = _packed(some[:, columns], width)
        reached = known.copy()
        words, _memory = _filler().filled(_view(some), 1)
        _boolean()(_view(reached), words, _view(bits), 1, True)
        if bool((reached != known).any()):
            return True
    return False


@cache
def _boolean() -> Product:
    return Product(boolean_words())


@cache
def _filler() -> WordProduct:
    return WordProduct(boolean_words(), np.dtype(bool))


def _packed(truths: Any, columns: int) -> Any:
    """Rows of bits in words, up to a number of columns that is a multiple of 32."""
    import cupy

    wide = cupy.zeros((truths.shape[0], columns), bool)
    wide[:, : truths.shape[1]] = truths
    return cupy.packbits(wide.reshape(-1), bitorder="little").view(np.uint32).reshape(truths.shape[0], columns // 32)


def _view(matrix: Any) -> View:
    return View(matrix.data.ptr, matrix.strides[0], 0, *matrix.shape)
