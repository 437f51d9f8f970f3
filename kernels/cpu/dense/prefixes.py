"""Prefixes along an axis of an array, compiled: x₀, x₀ ∘ x₁, x₀ ∘ x₁ ∘ x₂, …

    x as (outer, length, inner)    elements lie one after the other
      → lines                      if `inner` is small: some lines side by side
      → or rows                    as vectors of the processor
      → or chunks of a long line   as lines; then the prefixes of their totals are put before them

Threads take lines, columns or chunks in turn. An operation that rounds sums up short blocks, and their totals in pairs
(prefixes_template.py), so that an element passes few roundings. Prefixes of log-sum-exp have a kernel of their own
(power_prefixes.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import Program, geometry, imports_of, name_of
from semiring.kernels.cpu.compile.rules import function
from semiring.kernels.cpu.compile.templated import Templated
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import ranges, share
from semiring.machine.threads import scratch

from .folds import ROOMS, room_for
from .lanes import is_inside
from .power_prefixes import PowerPrefixKernel

BLOCK = 128  # terms that an operation which rounds takes in turn
NARROW = 16  # columns up to which lines are taken one element at a time
LONG = 1 << 14  # elements of a line from which it is cut into chunks, if there are few lines
CHUNK = 1 << 12  # elements of a chunk
STRIP = 512  # columns of a strip: its rows stay in the first-level cache
TASK = 1 << 16  # elements from which a share of the work is worth a call
LEVELS = 64  # of the stack of totals


class PrefixKernel(Templated):
    """Prefixes over an operation of a lowering: see prefixes_template.py.

    Parameters
    ----------
    lowering : Lowering
        Of machine numbers or records of them.
    op : {"add", "mul"}
    exact : bool
        Whether the operation never rounds, so that terms are taken in turn.
    """

    template = Path(__file__).with_name("prefixes_template.py")
    functions = ("prefixes_of_lines", "prefixes_of_rows", "shift_lines")

    def __init__(self, lowering: Lowering, op: str, exact: bool):
        self.lowering, self.exact = lowering, exact
        self.program = _program(lowering, op)
        sizes = geometry(self.program.components)
        self._depth, self._item, self._size = sizes.depth, sizes.item, sizes.size

    def prefixes(self, x: np.ndarray, scanned: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
        """All prefixes along the second of three axes.

        Parameters
        ----------
        x : ndarray, shape (outer, length, inner)
            In storage, aligned, elements one after the other; not empty.
        scanned : callable
            Returns the prefixes of a few elements along the first axis.

        Returns
        -------
        ndarray of the same shape
            None if something is not an element.
        """
        out, failed = np.empty_like(x), np.zeros(1, np.int64)
        outer, length, inner = x.shape
        if inner == 1 and outer < self._depth and length >= LONG:
            for line, to in zip(x[..., 0], out[..., 0], strict=True):
                self._by_chunks(line, to, failed, scanned)
        elif inner == 1:
            self._lines(x[..., 0], out[..., 0], failed)
        elif inner < NARROW:
            share(lambda i: self._narrow(x[i], out[i], failed), [(i,) for i in range(outer)], None)
        else:
            self._rows(x, out, failed)
        return None if failed[0] else out

    def small(self, x: np.ndarray, lines: int, length: int, inner: int) -> np.ndarray | None:
        """All prefixes of so many lines of adjacent elements, or of one matrix of a few columns, on this thread.

        Returns
        -------
        ndarray, of the shape of x
            None if something is not an element.
        """
        out, (room, failed) = np.empty_like(x), room_for(0)
        item = self._item
        step, hop, count = (length * item, item, lines) if inner == 1 else (item, inner * item, inner)
        _memory, stack = scratch(LEVELS * self._depth * item)
        self.module.prefixes_of_lines(x.ctypes.data, out.ctypes.data, step, hop, count, length, self._block(length),
                                      stack, failed)
        fine = not room[0]
        ROOMS.append((room, failed))
        return out if fine else None

    def _lines(self, x: np.ndarray, out: np.ndarray, failed: np.ndarray) -> None:
        """Lines of adjacent elements."""
        lines, length = x.shape
        step, block = length * self._item, self._block(length)

        def some(first: int, last: int) -> None:
            _memory, stack = scratch(LEVELS * self._depth * self._item)
            self.module.prefixes_of_lines(
                x.ctypes.data + first * step, out.ctypes.data + first * step, step, self._item, last - first, length,
                block, stack, failed.ctypes.data,
            )

        share(some, list(ranges(lines, max(min(x.size // TASK, -(-lines // self._depth)), 1))), None)

    def _narrow(self, x: np.ndarray, out: np.ndarray, failed: np.ndarray) -> None:
        """A few columns, each as a line."""
        length, lines = x.shape
        _memory, stack = scratch(LEVELS * self._depth * self._item)
        self.module.prefixes_of_lines(
            x.ctypes.data, out.ctypes.data, self._item, lines * self._item, lines, length, self._block(length), stack,
            failed.ctypes.data,
        )

    def _rows(self, x: np.ndarray, out: np.ndarray, failed: np.ndarray) -> None:
        """Rows of adjacent elements, in strips of columns."""
        outer, length, inner = x.shape
        row, block = inner * self._item, self._block(length)
        levels = 0 if block >= length else (-(-length // block)).bit_length() + 1

        def strip(i: int, first: int, last: int) -> None:
            width, place = last - first, i * length * row + first * self._item
            _memory, room = scratch(2 * width * self._size + self._item + (levels * width + 1) * self._item)
            self.module.prefixes_of_rows(
                x.ctypes.data + place, out.ctypes.data + place, row, length, width, block, room, failed.ctypes.data
            )

        strips = [(first, min(first + STRIP, inner)) for first in range(0, inner, STRIP)]
        share(strip, [(i, *span) for i in range(outer) for span in strips], None)

    def _by_chunks(
        self, x: np.ndarray, out: np.ndarray, failed: np.ndarray, scanned: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        """One long line: the prefixes of chunks, and before them those of the totals of earlier chunks."""
        whole = len(x) - len(x) % CHUNK
        chunks, to = x[:whole].reshape(-1, CHUNK), out[:whole].reshape(-1, CHUNK)
        self._lines(chunks, to, failed)
        if whole < len(x):
            self._lines(x[whole:].reshape(1, -1), out[whole:].reshape(1, -1), failed)
        if failed[0]:
            return
        carries = np.ascontiguousarray(scanned(np.ascontiguousarray(to[:, -1])))
        step = CHUNK * self._item

        def shift(first: int, last: int) -> None:
            place = carries.ctypes.data + (first - 1) * self._item
            self.module.shift_lines(to.ctypes.data + first * step, step, place, last - first, CHUNK)

        lines = len(to) - 1
        share(shift, [(a + 1, b + 1) for a, b in ranges(lines, max(lines * CHUNK // TASK, 1))] if lines else [], None)
        if whole < len(x):
            rest = out[whole:]
            self.module.shift_lines(rest.ctypes.data, step, carries.ctypes.data + lines * self._item, 1, len(rest))

    def _block(self, length: int) -> int:
        return length if self.exact else BLOCK


@dataclass(frozen=True)
class Running:
    """Prefixes over ⊕ or ⊗, as a purpose of compiled code."""

    op: str

    def code(self, lowering: Lowering) -> list[cache.Function]:
        """The compiled functions."""
        made = kernel(lowering, self.op, True)
        return made.code(*made.functions)


SUMS, PRODUCTS = Running("add"), Running("mul")


@lru_cache(1024)
def kernel(lowering: Lowering, op: str, exact: bool) -> PrefixKernel | PowerPrefixKernel:
    """The kernel of a lowering."""
    if op == "add" and lowering.log_sum is not None and lowering.dtype.itemsize >= 4:
        return PowerPrefixKernel(lowering)
    return PrefixKernel(lowering, op, exact)


def fits(lowering: Lowering) -> bool:
    """Whether there are prefixes of all elements that the data may have, as they lie in memory."""
    return lowering.kind == "numba" and lowering.is_identity and all(part.kind in "fb" for part in lowering.components)


def _program(lowering: Lowering, op: str) -> Program:
    """The text of an operation, and of the test of elements."""
    parts = lowering.components
    text = function("operate", "x, t", (lowering.add if op == "add" else lowering.scale).outputs, parts)
    text += "\n\n" + function("inside", "a", [is_inside(lowering)], parts, [np.dtype(bool)])
    prelude = f"{imports_of(text)}{text}\n\n"
    digest = blake2b(prelude.encode(), digest_size=4).hexdigest()
    return Program(f"prefixes_{name_of(parts)}_{digest}", parts, lowering.zero, lowering.one, prelude)
