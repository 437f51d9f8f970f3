"""Convolutions in a GPU's memory, in one and more dimensions, for one lowering; convolution.cu has the kernels."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semiring.kernels.cpu.dense.convolution import Windows
from semiring.kernels.cuda.compile.convolution import convolution_geometry, convolution_source
from semiring.kernels.cuda.compile.launch import Function, Module, current_device, in_c_order, multiprocessors
from semiring.kernels.cuda.compile.program import program

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

MOST_DOWN = 65_535  # blocks of a launch in its second direction
WAVES = 4  # blocks that follow one another on a multiprocessor, so that none is left with much more work than others
LEAST_STEPS = 256  # of t in a part,
MOST_PARTS = 1024
PART_BYTES = 256 << 20  # of memory for all parts together
KEPT_PLACES = 1 << 16  # of rows, for which tables are kept

Sizes = tuple[int, ...]


class Cut(NamedTuple):
    """How a convolution is cut into blocks.

    Attributes
    ----------
    wide : int
        Threads side by side along a row of c.
    blocks : int
        Blocks for all rows of one c, for each part.
    parts : int
    tall, deep : int
        Steps of t and rows of b in a part.
    """

    wide: int
    blocks: int
    parts: int
    tall: int
    deep: int


class Convolution:
    """c ← a ∗ b for one lowering.

    Parameters
    ----------
    low : CudaLowering
    """

    def __init__(self, low: CudaLowering):
        self.low, self.size = low, program(low).size
        self.geometry = convolution_geometry(self.size, program(low).weight)
        self._in_parts = not low.algebra.product_only  # whose ⊕ may not be associative

    def __call__(self, windows: Windows, a: Any, b: Any) -> Any:
        """The wanted part of the convolutions of a stack, in storage.

        Parameters
        ----------
        windows : Windows
            With a sequence of at least one element along each axis.
        a, b : cupy.ndarray, shape (…, *left) and (…, *right)
            In storage; leading axes broadcast to the stack.
        """
        import cupy

        if exchanged := _is_first_smaller(windows):
            windows, a, b = windows.exchanged, b, a
        batch, *lead, count = prod(windows.stack), *windows.shape
        c = cupy.empty((*windows.stack, *windows.shape), self.low.storage)
        if not c.size:
            return c
        (first, next_a), (second, next_b) = (_lying(x, windows.stack, len(windows.left)) for x in (a, b))
        cut = self.cut(windows, batch)
        table, positions = tables(windows.left[:-1], windows.right[:-1], windows.first[:-1], tuple(lead))
        convolve, join = self._functions(exchanged and not self.low.algebra.commutative)
        target = cupy.empty((cut.parts, c.size), self.low.storage) if cut.parts > 1 else c
        rows_b, rows_c, step = prod(windows.right[:-1]), prod(lead), prod(windows.shape) * self.size
        for start in range(0, batch, MOST_DOWN):
            convolve(
                cut.blocks * cut.parts, min(batch - start, MOST_DOWN),
                first.data.ptr + start * next_a * self.size, next_a, second.data.ptr + start * next_b * self.size,
                next_b, target.data.ptr + start * step, windows.left[-1], windows.right[-1], windows.first[-1], count,
                table.data.ptr, rows_b, rows_c, positions, cut.tall, cut.deep, cut.wide,
            )
        if cut.parts > 1:
            join(-(-c.size // self.geometry.THREADS), 1, target.data.ptr, c.data.ptr, c.size, cut.parts)
        return c

    def memory(self, windows: Windows) -> int:
        """Bytes of the answer, and of parts of the terms."""
        batch = prod(windows.stack)
        windows = windows.exchanged if _is_first_smaller(windows) else windows
        size = batch * prod(windows.shape) * self.size
        return size * (1 + (parts if size and (parts := self.cut(windows, batch).parts) > 1 else 0))

    def cut(self, windows: Windows, batch: int) -> Cut:
        """Parts of the terms where rows of c alone would leave multiprocessors idle."""
        g, n, rows_b = self.geometry, windows.right[-1], prod(windows.right[:-1])
        *lead, count = windows.shape
        wide = min(g.THREADS, 1 << (-(-count // g.RUN) - 1).bit_length())
        blocks = -(-count // (wide * g.RUN)) * -(-prod(lead) // (g.THREADS // wide))
        wanted = min(
            multiprocessors() * g.RESIDENT * WAVES // (blocks * batch), MOST_PARTS,
            PART_BYTES // (batch * prod(windows.shape) * self.size),
        )
        if wanted < 2 or batch > MOST_DOWN or not self._in_parts:
            return Cut(wide, blocks, 1, n, rows_b)
        along = min(wanted, max(n // LEAST_STEPS, 1))
        tall = -(-n // (along * g.RUN)) * g.RUN
        along = -(-n // tall)
        deep = -(-rows_b // max(min(wanted // along, rows_b * n // (along * LEAST_STEPS)), 1))
        return Cut(wide, blocks, along * -(-rows_b // deep), tall, deep)

    @lru_cache(2)  # noqa: B019 (kernels live as long as the process)
    def _functions(self, exchanged: bool) -> tuple[Function, Function]:
        module, g = Module(convolution_source(self.low, exchanged)), self.geometry
        return module.function("convolve", g.THREADS), module.function("join", g.THREADS)


def _is_first_smaller(windows: Windows) -> bool:
    """Whether a is the smaller operand; the kernel has all threads read that one, in their turn."""
    return prod(windows.left) < prod(windows.right)


def _lying(x: Any, stack: Sizes, axes: int) -> tuple[Any, int]:
    """An operand in one run of memory, and elements from one of the stack to the next: 0 if all share one."""
    import cupy

    shape = x.shape[x.ndim - axes :]
    if prod(x.shape[: x.ndim - axes]) == 1:
        return in_c_order(x), 0
    whole = (*stack, *shape)
    return in_c_order(x if x.shape == whole else cupy.broadcast_to(x, whole)), prod(shape)


def tables(left: Sizes, right: Sizes, first: Sizes, shape: Sizes) -> tuple[Any, int]:
    """The places of b's rows and of c's rows, then the row of a at each place or −1; and how many places there are.

    Rows are numbered along all axes but the last one, and have a place in the full convolution.
    """
    key = left, right, first, shape
    size = prod(m + n - 1 for m, n in zip(left, right, strict=True))
    return _kept_tables(current_device(), *key) if size <= KEPT_PLACES else _made_tables(*key)


@lru_cache(256)
def _kept_tables(device: int, *key: Sizes) -> tuple[Any, int]:
    return _made_tables(*key)


def _made_tables(left: Sizes, right: Sizes, first: Sizes, shape: Sizes) -> tuple[Any, int]:
    import cupy

    full = tuple(m + n - 1 for m, n in zip(left, right, strict=True))
    places = np.arange(prod(full), dtype=np.int32).reshape(full)
    rows = np.full(full, -1, np.int32)
    rows[tuple(map(slice, left))] = np.arange(prod(left)).reshape(left)
    wanted = tuple(slice(f, f + n) for f, n in zip(first, shape, strict=True))
    some = places[tuple(map(slice, right))], places[wanted], rows
    return cupy.asarray(np.concatenate([x.reshape(-1) for x in some])), prod(full)


@lru_cache(256)
def convolution(low: CudaLowering) -> Convolution:
    """The kernels of a lowering."""
    return Convolution(low)


