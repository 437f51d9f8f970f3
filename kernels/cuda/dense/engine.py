"""The CUDA engine: the kernel interface over CuPy arrays, for any algebra that compiles.

A `Program` (program.py) is an algebra as CUDA text; the fixed kernels are in product.cu, close.cu and elements.cu. All
work goes to CuPy's current stream, and nothing waits for it except `equal`, the checks that a closure exists where a
star may be missing, and large products over log-sum-exp, which ask whether powers underflowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cuda.compile.geometry import LARGEST_STACKED, ProductGeometry
from semiring.kernels.cuda.compile.launch import (
    Function,
    Module,
    copy_of,
    device_name,
    empty_like_rows,
    minus_ones,
    rows_of,
)
from semiring.kernels.cuda.compile.program import always_defined, is_linear, packed_program, program, sums_of_powers

from .closure import HUGE, TILE, Closure, outer_block
from .logsum import log_sum_product
from .product import EVERY, MOST_STACKED, Product, View, WordProduct
from .thin import LARGEST_ELEMENT, thin

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

ALIGN = 128  # bounds of blocks that keep tiles whole and rows aligned
WORTH_PADDING = 96  # least order of operands for which a copy in whole tiles pays
MOST_PADDED = 4 << 30  # bytes of operands beyond which ragged edges are a small share, and copies too large
CLOSED_BYTES = 256 << 20  # of a stack that are closed together, which takes two thirds as much besides
ALONE = 2  # large matrices of a stack, up to which each is closed by itself, with the next pivot ahead
THIN_ELEMENTS = 1 << 16  # of the larger operand from which small and thin products have kernels of their own
BLOCKS = 128  # rows from which copying with a block of threads for each keeps the device busy
TURNED = 32  # rows and columns that a block transposes
STRIP_BYTES = 256 << 20  # memory that `left` and `right` may copy operands into, or
STRIP_SHARE = 8  # … this fraction (1/8) of the operand, where that is more


class CudaKernel:
    """The operations on blocks that the schedules are written in, for one lowering; see `semiring.kernels.interface`.

    Blocks are CuPy arrays of the lowering's storage, with any strides; rows whose elements do not lie side by side are
    copied first.

    Parameters
    ----------
    lowering : CudaLowering
    """

    tile = TILE  #: order of a block that `close` takes directly
    align = ALIGN  #: bounds of blocks are multiples of this where possible

    def __init__(self, lowering: CudaLowering):
        self.lowering = lowering
        self.program = program(lowering)
        self.dtype = self.program.dtype
        self.size = self.program.size
        self.is_linear = is_linear(lowering)
        self.log_sums = log_sum_product(lowering.log_sum) if lowering.log_sum else None
        self.always_defined = always_defined(lowering)
        self.product = Product(self.program)
        self.absorbs = lowering.absorbs
        self.thin = thin(lowering, False)
        words = packed_program(lowering) if self.absorbs else None
        self.words = WordProduct(words, self.dtype) if words else None
        idempotent, powers = lowering.algebra.idempotent, sums_of_powers(lowering)
        self.closure = Closure(self.program, self.words or self.product, idempotent, powers)

    # Products

    def multiply_add(self, C: Any, A: Any, B: Any) -> None:
        """C ← C ⊕ A ⊗ B. C overlaps neither A nor B."""
        if not self._straight(C, A, B, True):
            self._product(C[None], A[None], B[None], True)

    def multiply(self, C: Any, A: Any, B: Any) -> None:
        """C ← A ⊗ B; what C held is not read. C overlaps neither A nor B."""
        if not self._straight(C, A, B, False):
            self._product(C[None], A[None], B[None], False)

    def multiply_add_stack(self, C: Any, A: Any, B: Any) -> None:
        """C[s] ← C[s] ⊕ A[s] ⊗ B[s] for every s; A and B may repeat a matrix by a zero stride."""
        self._product(C, A, B, True)

    def multiply_stack(self, C: Any, A: Any, B: Any) -> None:
        """C[s] ← A[s] ⊗ B[s] for every s; A and B may repeat a matrix by a zero stride."""
        self._product(C, A, B, False)

    def left(self, D: Any, R: Any) -> None:
        """R ← D ⊗ R in place; D is square and does not overlap R."""
        for columns in _strips(R.shape[1], R.shape[0] * R.dtype.itemsize):
            self.multiply(R[:, columns], D, self._copied(R[:, columns]))

    def right(self, C: Any, D: Any) -> None:
        """C ← C ⊗ D in place; D is square and does not overlap C."""
        for rows in _strips(C.shape[0], C.shape[1] * C.dtype.itemsize):
            self.multiply(C[rows], self._copied(C[rows]), D)

    def _straight(self, C: Any, A: Any, B: Any, accumulate: bool) -> bool:
        """The product of matrices as they lie, small or in whole tiles, with little Python; False for any others."""
        (m, k), (rows, n) = A.shape, B.shape
        if self.is_linear or self.words or k != rows or C.shape != (m, n):
            return False
        if any(X.strides[1] != X.itemsize for X in (A, B, C)):
            return False
        least, views = min(m, k, n), (view_of(C), view_of(A), view_of(B))
        if least >= WORTH_PADDING:
            if self.log_sums or not self.can_pad:
                return False
            g, count, _ = self.product.parts(m, k, n, 1)
            if count > 1 or m % g.BM or n % g.BN or k % g.BK or not all(v.is_aligned for v in views):
                return False
            self.product.whole(g, *views, 1, accumulate)
            return True
        if not least or k * max(m, n) >= THIN_ELEMENTS or (self.log_sums and self.log_sums.repays(1, m, k, n)):
            return False
        self.product(*views, 1, accumulate)
        return True

    def _product(self, C: Any, A: Any, B: Any, accumulate: bool) -> None:
        batch, m, n = C.shape
        k = A.shape[2]
        if A.shape != (batch, m, k) or B.shape != (batch, k, n):
            raise ValueError(f"shapes {C.shape}, {A.shape} and {B.shape} do not fit")
        if not C.size:
            return
        if not self.is_linear and k * max(m, n) * batch >= THIN_ELEMENTS and self._in_few_launches(C, A, B, accumulate):
            return
        if self.is_linear and k:
            import cupy

            if accumulate:
                C += cupy.matmul(A, B)
            else:
                C[...] = cupy.matmul(A, B)
        elif self.log_sums:
            self.log_sums(C, A, B, accumulate, self._by_terms)
        else:
            self._by_terms(C, A, B, accumulate)

    def _in_few_launches(self, C: Any, A: Any, B: Any, accumulate: bool) -> bool:
        """A stack of small matrices, a matrix and a vector, or few tiles of C and a long k; False for any other."""
        (batch, m, n), k = C.shape, A.shape[2]
        if self.thin.fits(batch, m, k, n):
            self.thin(C, A, B, accumulate)
            return True
        if batch > 1 or self.words or self.log_sums or self.size > LARGEST_ELEMENT:
            return False
        g, count, length = self.product.parts(m, k, n, batch)
        if count == 1:
            return False
        import cupy

        target, A, B = self._operands(C, self._rows_of(A), self._rows_of(B), accumulate, g)
        parts, whole = cupy.empty((target.shape[1], count, target.shape[2]), self.dtype), k // length
        a, b, c = view_of(A[0]), view_of(B[0]), view_of(parts.swapaxes(0, 1))
        steps = a._replace(next=length * self.size, columns=length), b._replace(next=length * b.ld, rows=length)
        self.product(c, *steps, whole, False, g)
        if whole < count:
            rest = slice(whole * length, None)
            last = a.part(EVERY, rest, self.size), b.part(rest, EVERY, self.size)
            self.product(c._replace(address=c.address + whole * c.next), *last, 1, False, g)
        self.thin.join(parts, target[0], accumulate)
        if target is not C:
            self._copy_back(C, target[:, :m, :n])
        return True

    def _rows_of(self, stack: Any) -> Any:
        """The stack, or a copy in which the elements of a row lie side by side."""
        _, rows, columns = stack.shape
        if stack.strides[1] != self.size or stack.strides[2] < rows * self.size or stack.size < THIN_ELEMENTS:
            return rows_of(stack)
        import cupy

        result, source = cupy.empty(stack.shape, self.dtype), view_of(stack.swapaxes(1, 2))
        target = view_of(result)
        for start in range(0, len(stack), MOST_STACKED):
            self._elements[4](
                -(-rows // TURNED) * -(-columns // TURNED), min(len(stack) - start, MOST_STACKED),
                source.address + start * source.next, source.ld, source.next, columns, rows,
                target.address + start * target.next, target.ld, target.next,
            )
        return result

    def _by_terms(self, C: Any, A: Any, B: Any, accumulate: bool) -> None:
        """The product by ⊕ of each term."""
        batch, m, n = C.shape
        k = A.shape[2]
        target, A, B = self._operands(C, self._rows_of(A), self._rows_of(B), accumulate)
        views = view_of(target), view_of(A), view_of(B)
        if not (k and self.words and self._word_product(*views, batch, accumulate)):
            self.product(*views, batch, accumulate)
        if target is not C:
            self._copy_back(C, target[:, :m, :n])

    def _operands(
        self, C: Any, A: Any, B: Any, accumulate: bool, g: ProductGeometry | None = None
    ) -> tuple[Any, Any, Any]:
        """C, A and B with elements of rows side by side; as whole, aligned tiles where a copy of them pays."""
        batch, m, n = C.shape
        k = A.shape[2]
        least, total = min(m, n, k), C.nbytes + A.nbytes + B.nbytes
        if least < WORTH_PADDING or total > MOST_PADDED or not self.can_pad:
            return rows_of(C), rows_of(A), rows_of(B)
        g = g or self.product.geometry(m, n, batch)
        wide = g.BN if self.words is None else 2 * g.BN
        tall, deep, wide = rounded_up(m, g.BM), rounded_up(k, g.BK), rounded_up(n, wide)
        target = self.padded(C, tall, wide, accumulate)
        padded = self.padded(A, tall, deep), self.padded(B, deep, wide)
        # Rows and columns beyond the edge are cut off again, but steps of k with zeros in them may count.
        return (target, *padded) if self.absorbs else (target, padded[0][:, :, :k], padded[1][:, :k])

    @property
    def can_pad(self) -> bool:
        """Whether `padded` takes matrices of such elements, and whole tiles gain from it."""
        return self.dtype.names is None and self.product.large.has_whole_tiles(self.size)

    def padded(self, stack: Any, rows: int, columns: int, keep: bool = True) -> Any:
        """The matrices, zeros below and to the right of them, in rows of whole 16 bytes; themselves if they fit."""
        stack = rows_of(stack)
        if stack.shape[1:] == (rows, columns) and view_of(stack).is_aligned:
            return stack
        import cupy

        result = cupy.empty((len(stack), rows, columns), self.dtype)
        if keep:
            self._place(view_of(stack), view_of(result), len(stack))
        return result

    def _place(self, source: View, target: View, batch: int = 1) -> None:
        """target ← source, zeros beyond it."""
        for start in range(0, batch, MOST_STACKED):
            self._elements[3](
                target.rows, min(batch - start, MOST_STACKED),
                source.address + start * source.next, *source[1:], target.address + start * target.next, *target[1:3],
                target.columns,
            )

    def _copied(self, block: Any) -> Any:
        """A copy of a matrix, by `place` where it has rows enough: the driver's takes twice the time."""
        if block.strides[1] != block.itemsize or len(block) < BLOCKS:
            return copy_of(block)
        import cupy

        result = cupy.empty(block.shape, block.dtype)
        self._place(view_of(block), view_of(result))
        return result

    def _copy_back(self, target: Any, source: Any) -> None:
        """target ← source, stacks of the same shape; by CuPy if elements of a row do not lie side by side."""
        if target.strides[-1] == target.itemsize == source.strides[-1]:
            self._place(view_of(source), view_of(target), len(target))
        else:
            target[...] = source

    def _word_product(self, C: View, A: View, B: View, batch: int, accumulate: bool) -> bool:
        """The product by words of two elements, an odd last column aside; False where rows do not begin with a word."""
        assert self.words
        even = slice(C.columns // 2 * 2)
        if even.stop == 0 or not self.words.fits(C.part(EVERY, even, 2), B.part(EVERY, even, 2)):
            return False
        self.words(C.part(EVERY, even, 2), A, B.part(EVERY, even, 2), batch, accumulate)
        if even.stop < C.columns:
            last = slice(even.stop, None)
            self.product(C.part(EVERY, last, 2), A, B.part(EVERY, last, 2), batch, accumulate)
        return True

    # Closures

    def close(self, D: Any) -> int:
        """D ← D* in place; returns −1, or the first pivot without a star, and then D is of no use any more.

        Any order works; beyond `tile`, pivots are blocks that are closed in turn.
        """
        n = D.shape[0]
        if n != D.shape[1]:
            raise ValueError(f"a block to close must be square, not {n} × {D.shape[1]}")
        if not n:
            return -1
        if self.closure.has_graph(n):
            work = rows_of(D)
            view = view_of(work)
            with self.closure.graph(n) as recorded:
                self._place(view, recorded.matrix)
                recorded.launch()
                self._place(recorded.matrix.part(slice(n), slice(n), self.size), view)
                pivot = -1 if self.always_defined else int(recorded.failed[0])
            if work is not D:
                D[...] = work
            return pivot
        order = n if n <= TILE else rounded_up(n, outer_block(n) if n >= HUGE else ALIGN)
        can_pad = self.absorbs and self.can_pad
        work = self.padded(D[None], order, order)[0] if can_pad and n > WORTH_PADDING else rows_of(D)
        failed = self.closure(view_of(work))
        if work.data.ptr != D.data.ptr:
            self._copy_back(D[None], work[None, :n, :n])
        return -1 if self.always_defined else int(failed[0])

    def closes_whole(self, n: int) -> bool:
        """Whether `close` is the fast way for this order; in between, the halves of R-Kleene make larger products."""
        return n <= TILE or (n >= HUGE and not (self.is_linear or self.log_sums))

    def close_stack(self, D: Any) -> np.ndarray:
        """D[s] ← D[s]* for every s; returns −1 or the first pivot without a star, for each; see `in_a_stack_of`."""
        batch, n, columns = D.shape
        if n != columns:
            raise ValueError(f"a block to close must be square, not {n} × {columns}")
        if not D.size:
            return np.full(batch, -1)
        if n > LARGEST_STACKED and max(batch, _whole_stack.get()) <= ALONE:
            return np.array([self.close(matrix) for matrix in D])
        if n > LARGEST_STACKED:
            failed = self._close_by_halves(D)
        else:
            work = rows_of(D)
            failed = self.close_small(work, work)
            if work is not D:
                D[...] = work
        return np.full(batch, -1) if failed is None else failed.get().astype(np.int64)

    def _close_by_halves(self, D: Any) -> Any:
        """D[s] ← D[s]*, in whole tiles where zeros may fill them; the first pivots without a star, None if all have."""
        batch, n, _ = D.shape
        failed = self._no_failures(batch)
        order = rounded_up(n, self.closure.side) if self.absorbs and self.can_pad else n
        step = min(max(CLOSED_BYTES // (order**2 * self.size), 1), MOST_STACKED)
        for start in range(0, batch, step):
            some = D[start : start + step]
            work = self.padded(some, order, order) if self.can_pad else rows_of(some)
            self.closure.stack_by_halves(
                view_of(work), n, len(work), 0 if failed is None else failed.data.ptr + failed.itemsize * start
            )
            if work is not some:
                self._copy_back(some, work[:, :n, :n])
        return failed

    def _no_failures(self, batch: int) -> Any:
        """−1 for each matrix of a stack, or None where every star exists."""

        return None if self.always_defined else minus_ones(batch)

    def close_small(self, A: Any, D: Any) -> Any:
        """D[s] ← A[s]*, orders up to `LARGEST_STACKED`; A may be D. The first pivots without a star, None if all have.

        Stacks or single matrices, both with the elements of a row side by side.
        """
        batch = len(D) if D.ndim == 3 else 1
        failed = self._no_failures(batch)
        self.closure.stack(view_of(A), view_of(D), batch, 0 if failed is None else failed.data.ptr)
        return failed

    @property
    def place(self) -> str:
        """The place of the computation, in words."""
        return device_name()

    @cached_property
    def unchecked(self) -> CudaKernel:
        """The same kernel, but nothing waits to hear of pivots without a star."""
        twin = copy(self)
        twin.always_defined = True
        return twin

    # What calls compile

    def for_product(self, m: int, k: int, n: int, stacked: bool) -> list[Function]:
        """The kernels that a product of matrices needs, as far as their shapes tell."""
        if self.log_sums and self.log_sums.repays(1, m, k, n):
            return self.log_sums.needed(self.dtype)
        if self.is_linear or self.log_sums or stacked:
            return []
        whole = min(m, k, n) >= WORTH_PADDING and self.can_pad
        product, split = self.words or self.product, not self.words and self.product.parts(m, k, n, 1)[1] > 1
        tiles = product.function(product.geometry(m, n, 1), whole)
        return [*([self._elements[3]] if whole else []), tiles, *([self.thin.joins()] if split else [])]

    def for_closure(self, n: int, stacked: bool) -> list[Function]:
        """The kernels that a closure needs, as far as its order tells."""
        if self.lowering.inverts or self.lowering.dual or (stacked and n > LARGEST_STACKED):
            return []
        found, product = self.closure.needed(n, stacked), self.words or self.product
        if n > TILE and not (self.is_linear or self.log_sums):
            found = [product.first(product.large), product.first(product.small), *found, self.thin.joins()]
        elif n > TILE and self.log_sums and self.log_sums.repays(1, n // 2, n // 2, n // 2):
            found = [*found, *self.log_sums.needed(self.dtype)]
        return found if stacked else [*found, self._elements[3]]

    def for_front(self, pivots: int, others: int) -> list[Function]:
        """The kernels that the elimination of a front needs, of so many pivots and others, as far as sizes tell."""
        found, product = [*self.closure.needed(min(pivots, TILE), False), self._elements[3]], self.words or self.product
        if self.is_linear or self.log_sums or not others:
            return found
        shapes = (pivots, pivots, others), (others, pivots, others), (others, pivots, pivots)
        return [*found, *(f for shape in shapes for f in product.needed(*shape, min(shape) >= WORTH_PADDING))]

    # Elements

    def clear(self, F: Any) -> None:
        """F ← 0."""
        self._place(view_of(F)._replace(rows=0, columns=0), view_of(F))

    def pick(self, values: Any, places: Any) -> Any:
        """The elements of a vector at some places (int64), without a kernel that CuPy would have to compile."""
        import cupy

        out = cupy.empty(len(places), values.dtype)
        if len(places):
            self._elements[5](-(-len(places) // 128), 1, values.data.ptr, places.data.ptr, len(places), out.data.ptr)
        return out

    @cached_property
    def _elements(self) -> tuple[Function, ...]:
        module = Module(self.program.elements())
        return tuple(module.function(name, 128) for name in (
            "diagonal", "set_diagonal", "compare", "place", "turn", "pick"))

    @property
    def picks(self) -> Function:
        """The kernel of `pick`."""
        return self._elements[5]

    def diagonal(self, A: Any, D: Any) -> Any:
        """The vector of ⊕ over k of A[i, k] ⊗ D[k, i]: the diagonal of A ⊗ D."""
        if A.shape != D.shape[::-1]:
            raise ValueError(f"shapes {A.shape} and {D.shape} do not fit")
        import cupy

        out = cupy.empty(A.shape[0], A.dtype)
        A, D = rows_of(A), rows_of(D)
        if out.size:
            self._elements[0](
                len(out), 1, A.data.ptr, A.strides[0], D.data.ptr, D.strides[0], out.data.ptr, A.shape[1]
            )
        return out

    def set_diagonal(self, A: Any, values: Any) -> None:
        """a_ii ← the values."""
        import cupy

        kept = cupy.ascontiguousarray(values)  # until the launch, before which A may be copied
        self._on_diagonal(A, kept.data.ptr)

    def add_one(self, A: Any) -> None:
        """A ← 1 ⊕ A: ones join the diagonal."""
        self._on_diagonal(A, 0)

    def _on_diagonal(self, A: Any, values: int) -> None:
        work = rows_of(A)
        n = A.shape[0]
        if n:
            self._elements[1](-(-n // 128), 1, work.data.ptr, work.strides[0], n, values)
        if work is not A:
            A[...] = work

    def like(self, A: Any) -> Any:
        """A matrix of the same shape, in C order, holding anything."""
        return empty_like_rows(A)

    def equal(self, A: Any, B: Any) -> bool:
        """Whether both hold the same elements; waits for the device."""
        if A.shape != B.shape:
            return False
        if not A.size:
            return True
        import cupy

        differ = cupy.zeros(1, np.int32)
        A, B = rows_of(A), rows_of(B)
        self._elements[2](
            len(A), 1, A.data.ptr, A.strides[0], B.data.ptr, B.strides[0], A.shape[1], differ.data.ptr
        )
        return not int(differ[0])

    def assign(self, A: Any, B: Any) -> None:
        """A ← B."""
        A[...] = B


@contextmanager
def in_a_stack_of(count: int) -> Iterator[None]:
    """Within this context stacks are parts of one of so many matrices, and are closed in the same way: to the bit."""
    token = _whole_stack.set(count)
    try:
        yield
    finally:
        _whole_stack.reset(token)


_whole_stack = ContextVar("whole_stack", default=0)


def rounded_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def view_of(block: Any) -> View:
    """A matrix or a stack as it lies in memory."""
    if block.ndim == 2:
        return View(block.data.ptr, block.strides[0], 0, *block.shape)
    next_matrix, ld, _ = block.strides
    return View(block.data.ptr, ld, next_matrix if block.shape[0] > 1 else 0, block.shape[1], block.shape[2])


def _strips(count: int, bytes_each: int) -> list[slice]:
    """Runs of rows or columns, each within the memory that a copy of it may use."""
    limit = max(STRIP_BYTES, count * bytes_each // STRIP_SHARE)
    step = max(limit // max(bytes_each, 1) // ALIGN * ALIGN, ALIGN)
    return [slice(i, min(i + step, count)) for i in range(0, count, step)]
