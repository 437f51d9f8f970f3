"""The CUDA engine: the kernel interface over CuPy arrays, for any algebra that compiles.

A `Program` (program.py) is an algebra as CUDA text; the fixed kernels are in product.cu, close.cu and elements.cu. All
work goes to CuPy's current stream, and nothing waits for it except `equal`, and the checks that a closure exists where
a star may be missing.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from .launch import Function, Module, copy_of, empty_like_rows, multiprocessors, rows_of
from .lowering import CudaLowering
from .program import (
    LARGEST_STACKED,
    CloseGeometry,
    ProductGeometry,
    Program,
    always_defined,
    is_linear,
    packed_program,
    panel_geometry,
    product_geometries,
    program,
    stack_geometry,
)

TILE = 2048  # order of a block that `close` takes with pivots of one block of threads
ALIGN = 128  # bounds of blocks that keep tiles whole and rows aligned
STRIP_BYTES = 256 << 20  # memory that `left` and `right` may copy operands into, or
STRIP_SHARE = 8  # … this fraction (1/8) of the operand, where that is more
MOST_STACKED = 65535  # matrices of a stack in one launch of the product


class View(NamedTuple):
    """A stack of matrices in device memory, all in bytes: where it begins, from row to row, from matrix to matrix."""

    address: int
    ld: int
    next: int
    rows: int
    columns: int

    def part(self, rows: slice, columns: slice, size: int) -> View:
        """The matrices cut to a range of rows and of columns."""
        top, left = rows.start or 0, columns.start or 0
        bottom = self.rows if rows.stop is None else rows.stop
        right = self.columns if columns.stop is None else columns.stop
        return View(self.address + top * self.ld + left * size, self.ld, self.next, bottom - top, right - left)

    @property
    def is_aligned(self) -> bool:
        """Whether every row of every matrix begins on a multiple of 16 bytes."""
        return not (self.address | self.ld | self.next) % 16


class Gap(NamedTuple):
    """Rows or columns that a product leaves out: from `at` on, `size` of them."""

    at: int
    size: int


NO_GAP = Gap(0, 0)
EVERY = slice(None)


class Product:
    """C ⊕= A ⊗ B and C = A ⊗ B for one program: whole tiles first, then what is left at the edges."""

    def __init__(self, text: Program):
        self.text = text
        self.size = text.size
        self.large, self.small = product_geometries(self.size, text.light)

    @lru_cache(8)  # noqa: B019 (kernels live as long as the process)
    def function(self, geometry: ProductGeometry, whole_tiles: bool) -> Function:
        """The kernel for whole tiles, or the one for edges."""
        module = Module(self.text.product(geometry, whole_tiles))
        name = "product" if whole_tiles else "product_edge"
        return module.function(name, geometry.threads, geometry.shared_bytes(self.size))

    def geometry(self, m: int, n: int, batch: int) -> ProductGeometry:
        """Small tiles where large ones would leave multiprocessors idle."""
        large = self.large
        tiles = -(-m // large.BM) * -(-n // large.BN) * batch
        return large if tiles >= multiprocessors() * large.RESIDENT * 3 // 4 else self.small

    def __call__(self, C: View, A: View, B: View, batch: int, accumulate: bool) -> None:
        """Any shapes; batches beyond what one launch takes are cut."""
        if not (C.rows and C.columns):
            return
        for start in range(0, batch, MOST_STACKED):
            views = [v._replace(address=v.address + start * v.next) for v in (C, A, B)]
            self._stack(*views, min(batch - start, MOST_STACKED), accumulate)

    def _stack(self, C: View, A: View, B: View, batch: int, accumulate: bool) -> None:
        g = self.geometry(C.rows, C.columns, batch)
        m, n, k = C.rows // g.BM * g.BM, C.columns // g.BN * g.BN, A.columns // g.BK * g.BK
        if not (m and n and k and C.is_aligned and A.is_aligned and B.is_aligned and g.has_whole_tiles(self.size)):
            self._edge(g, C, A, B, batch, accumulate)
            return
        size, top, left, first = self.size, slice(m), slice(n), slice(k)
        self.whole(
            g, C.part(top, left, size), A.part(top, first, size), B.part(first, left, size), batch, accumulate
        )
        if k < A.columns:
            rest = slice(k, None)
            self._edge(g, C.part(top, left, size), A.part(top, rest, size), B.part(rest, left, size), batch, True)
        if m < C.rows:
            rest = slice(m, None)
            self._edge(g, C.part(rest, EVERY, size), A.part(rest, EVERY, size), B, batch, accumulate)
        if n < C.columns:
            rest = slice(n, None)
            self._edge(g, C.part(top, rest, size), A.part(top, EVERY, size), B.part(EVERY, rest, size), batch, accumulate)

    def whole(
        self, g: ProductGeometry, C: View, A: View, B: View, batch: int, accumulate: bool,
        rows: Gap = NO_GAP, columns: Gap = NO_GAP,
    ) -> None:  # fmt: skip
        """Whole tiles only. With a gap, C, A and B are the matrices with the gap in them, and bounds of tiles fit it."""
        down, across = (C.rows - rows.size) // g.BM, (C.columns - columns.size) // g.BN
        if down and across:
            self.function(g, True)(
                down * across, batch, A.address, A.ld, A.next, B.address, B.ld, B.next, C.address, C.ld, C.next,
                down, across, A.columns // g.BK, *rows, *columns, int(accumulate),
            )  # fmt: skip

    def _edge(self, g: ProductGeometry, C: View, A: View, B: View, batch: int, accumulate: bool) -> None:
        tiles = -(-C.rows // g.BM) * -(-C.columns // g.BN)
        self.function(g, False)(
            tiles, batch, A.address, A.ld, A.next, B.address, B.ld, B.next, C.address, C.ld, C.next,
            C.rows, C.columns, A.columns, int(accumulate),
        )  # fmt: skip


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
        self.always_defined = always_defined(lowering)
        self.product = Product(self.program)
        packed = packed_program(lowering)
        self.packed = Product(packed) if packed else None

    # Products

    def multiply_add(self, C: Any, A: Any, B: Any) -> None:
        """C ← C ⊕ A ⊗ B. C overlaps neither A nor B."""
        self._product(C[None], A[None], B[None], True)

    def multiply(self, C: Any, A: Any, B: Any) -> None:
        """C ← A ⊗ B; what C held is not read. C overlaps neither A nor B."""
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
            self.multiply(R[:, columns], D, copy_of(R[:, columns]))

    def right(self, C: Any, D: Any) -> None:
        """C ← C ⊗ D in place; D is square and does not overlap C."""
        for rows in _strips(C.shape[0], C.shape[1] * C.dtype.itemsize):
            self.multiply(C[rows], copy_of(C[rows]), D)

    def _product(self, C: Any, A: Any, B: Any, accumulate: bool) -> None:
        batch, m, n = C.shape
        k = A.shape[2]
        if A.shape != (batch, m, k) or B.shape != (batch, k, n):
            raise ValueError(f"shapes {C.shape}, {A.shape} and {B.shape} do not fit")
        if not C.size:
            return
        if self.is_linear and k:
            import cupy

            if accumulate:
                C += cupy.matmul(A, B)
            else:
                C[...] = cupy.matmul(A, B)
            return
        target = rows_of(C)
        A, B = rows_of(A), rows_of(B)
        if not (k and self.packed and self._packed_product(target, A, B, accumulate)):
            self.product(_view(target), _view(A), _view(B), batch, accumulate)
        if target is not C:
            C[...] = target

    def _packed_product(self, C: Any, A: Any, B: Any, accumulate: bool) -> bool:
        """The product by words of two elements, as far as these fit; False where rows of B or C do not begin with one."""
        assert self.packed
        batch, m, n = C.shape
        c, b = _view(C), _view(B)
        if n < 2 or any(v.address % 4 or v.ld % 4 or v.next % 4 for v in (c, b)):
            return False
        import cupy

        twice = cupy.empty(A.shape, np.uint32)
        cupy.multiply(A.view(np.uint16), np.uint32(0x10001), out=twice)
        words = n // 2
        self.packed(c._replace(columns=words), _view(twice), b._replace(columns=words), batch, accumulate)
        if n % 2:
            last = slice(n - 1, None)
            self.product(c.part(EVERY, last, 2), _view(A), b.part(EVERY, last, 2), batch, accumulate)
        return True

    # Closures

    def close(self, D: Any) -> int:
        """D ← D* in place; returns −1, or the first pivot without a star, and then D is no use any more.

        Any order works; beyond `tile`, and where tiles fit, pivots are blocks that are closed in turn.
        """
        n = D.shape[0]
        if n != D.shape[1]:
            raise ValueError(f"a block to close must be square, not {n} × {D.shape[1]}")
        if not n:
            return -1
        import cupy

        failed = cupy.full(1, -1, np.int32)
        work = rows_of(D)
        self._close(_view(work[None]), 0, failed.data.ptr)
        if work is not D:
            D[...] = work
        return -1 if self.always_defined else int(failed[0])

    def close_stack(self, D: Any) -> np.ndarray:
        """D[s] ← D[s]* for every s; returns −1 or the first pivot without a star, for each."""
        batch, n, columns = D.shape
        if n != columns:
            raise ValueError(f"a block to close must be square, not {n} × {columns}")
        if not D.size:
            return np.full(batch, -1)
        if n > LARGEST_STACKED:
            return np.array([self.close(matrix) for matrix in D])
        import cupy

        work = rows_of(D)
        v = _view(work)
        failed = None if self.always_defined else cupy.full(batch, -1, np.int32)
        self._stack(n)(batch, 1, v.address, v.ld, v.next, n, 0, failed.data.ptr if failed is not None else 0)
        if work is not D:
            D[...] = work
        return np.full(batch, -1) if failed is None else failed.get().astype(np.int64)

    def _close(self, D: View, start: int, failed: int) -> None:
        """D ← D*; its first row is `start` of the whole matrix."""
        n = D.rows
        if n <= panel_geometry(self.size, self.program.light).ORDER:
            self._stack(n)(1, 1, D.address, D.ld, 0, n, start, failed)
            return
        block = self._outer_block(n)
        g = self.product.large
        if n > TILE and D.is_aligned and n % block == 0 and block % g.BM == block % g.BN == 0 and not self.is_linear:
            self._close_by_blocks(D, block, start, failed)
        else:
            self._close_by_panels(D, start, failed)

    @staticmethod
    def _outer_block(n: int) -> int:
        """Rows of a pivot block of a large closure: enough steps of k for the product, few enough to be a small share."""
        return 256 if n < 8192 else 1024

    def _close_by_panels(self, D: View, start: int, failed: int) -> None:
        """Pivots are blocks of the panel kernels: two launches for each, three where D* D* is not D*."""
        panels, rest = self._panels
        g = panel_geometry(self.size, self.program.light)
        blocks = -(-D.rows // g.ORDER)
        side = _scratch(g.ORDER**2 * self.size)
        pointer = side.ptr
        idempotent = self.lowering.algebra.idempotent
        for k in range(blocks):
            matrix = (D.address, D.ld, D.rows, k)
            if idempotent:
                panels(2 * (blocks - 1), 1, *matrix, 0, pointer, start, failed)
                rest((blocks - 1) ** 2 + 1, 1, *matrix, pointer)
            else:
                panels(blocks - 1, 1, *matrix, 1, pointer, start, failed)
                rest((blocks - 1) ** 2 + 1, 1, *matrix, pointer)
                panels(blocks - 1, 1, *matrix, 2, pointer, start, failed)

    def _close_by_blocks(self, A: View, block: int, start: int, failed: int) -> None:
        """Blocked elimination with the panels and the rest in one product each.

        ::

                [ X C X ]
            A = [ R D R ]     D ← D*,   R ← D R,   X ← X ⊕ C R,   C ← C D
                [ X C X ]
        """
        n, size = A.rows, self.size
        row_bytes = n * size
        copy = _scratch(block * row_bytes)
        multiply = self.product.whole
        for o in range(0, n, block):
            pivot, gap = slice(o, o + block), Gap(o, block)
            D, R, C = A.part(pivot, pivot, size), A.part(pivot, EVERY, size), A.part(EVERY, pivot, size)
            self._close(D, start + o, failed)
            geometry = self.product.geometry(block, n - block, 1)
            old = View(copy.ptr, row_bytes, 0, block, n)
            _copy(old, R, row_bytes)
            multiply(geometry, R, D, old, 1, False, columns=gap)
            multiply(self.product.large, A, C, R, 1, True, gap, gap)
            old = View(copy.ptr, block * size, 0, n, block)
            _copy(old, C, block * size)
            multiply(geometry, C, old, D, 1, False, rows=gap)

    @lru_cache(4)  # noqa: B019 (kernels live as long as the process)
    def _stack_function(self, g: CloseGeometry) -> Function:
        return Module(self.program.stack(g)).function("close_stack", g.threads)

    def _stack(self, n: int) -> Function:
        return self._stack_function(stack_geometry(self.size, n, self.program.light))

    @cached_property
    def _panels(self) -> tuple[Function, Function]:
        g = panel_geometry(self.size, self.program.light)
        module, shared = Module(self.program.panels()), g.shared_bytes(self.size)
        return module.function("panels", g.threads, shared), module.function("rest", g.threads, shared)

    # Elements

    @cached_property
    def _elements(self) -> tuple[Function, Function, Function]:
        module = Module(self.program.elements())
        diagonal, set_diagonal, compare = (module.function(f, 128) for f in ("diagonal", "set_diagonal", "compare"))
        return diagonal, set_diagonal, compare

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

        self._on_diagonal(A, cupy.ascontiguousarray(values).data.ptr)

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


_kernels: dict[tuple, CudaKernel] = {}


def kernel(lowering: CudaLowering) -> CudaKernel:
    """The kernel of a lowering; lowerings whose text is the same share it."""
    found = _kernels.get(lowering.key)
    if found is None:
        found = _kernels[lowering.key] = CudaKernel(lowering)
    return found


def _view(stack: Any) -> View:
    next_matrix, ld, _ = stack.strides
    return View(stack.data.ptr, ld, next_matrix if stack.shape[0] > 1 else 0, stack.shape[1], stack.shape[2])


def _strips(count: int, bytes_each: int) -> list[slice]:
    """Runs of rows or columns, each within the memory that may be taken for a copy of it."""
    limit = max(STRIP_BYTES, count * bytes_each // STRIP_SHARE)
    step = max(limit // max(bytes_each, 1) // ALIGN * ALIGN, ALIGN)
    return [slice(i, min(i + step, count)) for i in range(0, count, step)]


def _scratch(count: int) -> Any:
    """Device memory of the current stream's pool."""
    import cupy

    return cupy.cuda.alloc(count)


def _copy(target: View, source: View, width: int) -> None:
    """Rows of `width` bytes from one place on the device to another."""
    from cupy.cuda import runtime, stream

    runtime.memcpy2DAsync(
        target.address, target.ld, source.address, source.ld, width, source.rows,
        runtime.memcpyDeviceToDevice, stream.get_current_stream().ptr,
    )  # fmt: skip
