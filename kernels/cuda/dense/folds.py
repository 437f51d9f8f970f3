"""⊕ and ⊗ of many elements along axes of an array on the device; folds.cu has the kernels.

    x   axes that lie together are one
      → parts         along the axis of the nearest terms; at once the answer, if nothing is left to join
      → parts         of a long line or of few columns, joined in order
      → parts         along the other axes
      → answer

An answer that takes one launch is written by it. Parts stay in memory of the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from semiring.algebra.proofs import commutes
from semiring.kernels.cuda.compile.folds import FoldGeometry, fold_geometry, fold_source
from semiring.kernels.cuda.compile.launch import Function, Module, memory, multiprocessors

from .exchange import Report

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

RUNS, PARTS = 1, 2  # as in folds.cu
WAVES = 32  # blocks for each multiprocessor that share what is folded
LEAST_TILES = 4  # loads of a thread, at least, in a part of a line
LEAST_ROWS = 4  # rows of a thread in a part
LINE = 32  # threads of a line, or side by side, if there are so many terms, or columns
FULL = 1024  # threads of a multiprocessor, at least, that keep its memory busy
MOST_TAKEN = 48  # sums that a thread adds up one after the other, if ∘ rounds
CACHED = 128  # bytes of a line of the cache
GROUPS = 3  # groups of axes, besides the one that is folded, that a launch takes


class Group(NamedTuple):
    """Axes that lie together in memory, as one."""

    length: int
    stride: int


class Folds:
    """⊕ or ⊗ of a lowering along axes of device arrays.

    Parameters
    ----------
    low : CudaLowering
    op : {"add", "mul"}
    looks : bool
        Whether arrays are data, which are looked at and encoded on the way; else they are in storage.

    Raises
    ------
    ValueError
        If an element is too large; see `fits`.
    """

    def __init__(self, low: CudaLowering, op: str, looks: bool):
        self.low, self.op, self.looks = low, op, looks
        self.dtype = low.dtype if looks else low.storage
        self.powers = op == "add" and low.log_sum is not None
        self.part = low.storage.itemsize * (2 if self.powers else 1)
        geometry = fold_geometry(self.dtype.itemsize, self.part, self.powers)
        if geometry is None:
            raise ValueError("an element has more bytes than threads of a block could join")
        self.geometry: FoldGeometry = geometry
        self.ordered = not _commutes(low, op)
        self.rounds = any(c.kind == "f" for c in low.components) and not (op == "add" and low.algebra.selective)

    def along(self, x: Any, axes: Sequence[int], found: Report | None = None) -> Any:
        """Fold along some axes, ascending, none of them empty, nor is another one.

        Parameters
        ----------
        x : cupy.ndarray
            Of the data's dtype, or of that of storage.
        axes : sequence of int
        found : Report, optional
            Where flags go, if elements are looked at: NOT_A_NUMBER, OUTSIDE, and LEAVES for all integers for which the
            form is not right.

        Returns
        -------
        cupy.ndarray
            In memory of its own, in any order of axes; those that were folded are gone.
        """
        import cupy

        if found:
            found.clear()
        order = [a for a in range(x.ndim) if x.shape[a] > 1]
        order.sort(key=lambda a: -abs(x.strides[a]))
        going = [a for a in (sorted(order) if self.ordered else order) if a in axes]
        kept = [a for a in order if a not in axes]
        out = cupy.empty([x.shape[a] for a in kept], self.dtype)
        if not self._fold(x, order, going, out, found.host if found else 0):
            return self.along(cupy.ascontiguousarray(x), axes, found)
        places = [kept.index(a) for a in range(x.ndim) if a in kept]
        return out.transpose(places).reshape([n for a, n in enumerate(x.shape) if a not in axes])

    def _fold(self, x: Any, order: list[int], going: list[int], out: Any, report: int) -> bool:
        """out ← the fold along the axes `going`, the last one first; False if a launch does not take so many axes."""
        shape, strides = dict(enumerate(x.shape)), dict(enumerate(x.strides))
        length, step, order = 1, x.itemsize, list(order)
        if going:
            last = going.pop()
            length, step = shape[last], strides[last]
            order.remove(last)
        while going and strides[going[-1]] == step * length:
            length *= shape[going[-1]]
            order.remove(going.pop())
        groups = joined([Group(shape[a], strides[a]) for a in order])
        if len(groups) > GROUPS:
            return False
        parts = self._first(x.data.ptr, Group(length, step), groups, not going, out, report)
        while going:  # parts lie one after the other
            at = order.index(going.pop())
            length = shape[order.pop(at)]
            while going and at and order[at - 1] == going[-1]:
                going.pop()
                at -= 1
                length *= shape[order.pop(at)]
            outer, columns = prod(shape[a] for a in order[:at]), prod(shape[a] for a in order[at:])
            parts = self._join(parts, length, outer, columns, not going, out, report)
        return True

    def _first(self, place: int, terms: Group, groups: list[Group], last: bool, out: Any, report: int) -> Any:
        """Fold along the first axis, into the answer or into parts."""
        (n_0, s_0), (n_1, s_1), (n_2, s_2) = (groups[::-1] + [Group(1, 0)] * GROUPS)[:GROUPS]
        g, size, run = self.geometry, self.dtype.itemsize, self.geometry.VECTOR * self.dtype.itemsize
        lines, whole = n_0 * n_1 * n_2, not (place | s_1 | s_2) % run and g.VECTOR > 1
        if not groups or abs(terms.stride) < abs(s_0):
            whole = whole and terms.stride == size and not s_0 % run
            lanes, chunk = self._lines(terms.length, lines, g.VECTOR if whole else 1)
            blocks, parts = -(-lines // (g.THREADS // lanes)), -(-terms.length // chunk)
            target, how, kept = self._target(parts, lines, last, out)
            self.function("fold_lines")(
                blocks * parts, 1, place, terms.stride, terms.length, chunk, lines, n_0, s_0, n_1, s_1, s_2, lanes,
                target, how | RUNS * whole, report,
            )
        else:
            whole = whole and s_0 == size and not n_0 % g.VECTOR and not terms.stride % run
            across, strips, chunk = self._rows(terms.length, n_0, n_1 * n_2, g.VECTOR if whole else 1, True)
            parts = -(-terms.length // chunk)
            target, how, kept = self._target(parts, lines, last, out)
            self.function("fold_rows")(
                strips * n_1 * n_2 * parts, 1, place, terms.stride, terms.length, chunk, n_0, s_0, n_1, s_1, n_1 * n_2,
                s_2, across, target, how | RUNS * whole, report,
            )
        return self._join(kept, parts, 1, lines, last, out, report) if parts > 1 else kept

    def _join(
        self, kept: Any, terms: int, outer: int, columns: int, last: bool, out: Any, report: int
    ) -> Any:
        """Join parts, which lie in the order (outer, terms, columns)."""
        across, strips, chunk = self._rows(terms, columns, outer, 1, False)
        parts = -(-terms // chunk)
        target, how, more = self._target(parts, outer * columns, last, out)
        self.function("join_rows")(
            strips * outer * parts, 1, kept.ptr, terms, chunk, columns, outer, across, target, how, report
        )
        return self._join(more, parts, 1, outer * columns, last, out, report) if parts > 1 else more

    def _target(self, parts: int, count: int, last: bool, out: Any) -> tuple[int, int, Any]:
        """The address to which a launch writes, PARTS if these are parts, and the memory that holds them."""
        if last and parts == 1:
            return out.data.ptr, 0, None
        kept = memory(parts * count * self.part)
        return kept.ptr, PARTS, kept

    def _lines(self, terms: int, lines: int, unit: int) -> tuple[int, int]:
        """Threads of a line, and terms of a part of it."""
        g, lanes = self.geometry, min(LINE, power_of_two(-(-terms // unit)))
        few = multiprocessors() * FULL
        while lanes < g.THREADS and (2 * lanes * g.ITEMS * LEAST_TILES <= terms
                                     or (lines * lanes < few and lanes * unit < terms)):
            lanes *= 2
        blocks = -(-lines // (g.THREADS // lanes))
        parts = max(min(multiprocessors() * WAVES // blocks, terms // (lanes * g.ITEMS * LEAST_TILES)), 1)
        if self.rounds:
            parts = max(parts, -(-terms // (lanes * g.ITEMS * MOST_TAKEN)))
        step = lanes * unit
        chunk = -(-terms // (parts * step)) * step
        if self.ordered and parts > 1:  # the terms of a thread are neighbours, and are to lie in one line of the cache
            chunk = min(chunk, lanes * max(g.ITEMS, CACHED // self.dtype.itemsize))
        return lanes, chunk

    def _rows(self, terms: int, columns: int, outer: int, unit: int, reads: bool) -> tuple[int, int, int]:
        """Threads side by side, strips of columns, and terms of a part."""
        g, wide = self.geometry, min(self.geometry.THREADS, power_of_two(columns // unit))
        across = min(LINE, wide)
        while across < wide and g.THREADS // across * LEAST_ROWS > terms:
            across *= 2
        strips, down = -(-columns // (across * unit)), g.THREADS // across
        parts = max(min(multiprocessors() * WAVES // (strips * outer), terms // (down * LEAST_ROWS * LEAST_TILES)), 1)
        if self.rounds:
            parts = max(parts, -(-terms // (down * (g.ITEMS // unit if reads else 1) * MOST_TAKEN)))
        return across, strips, -(-terms // parts)

    @lru_cache(8)  # noqa: B019 (kernels live as long as the process)
    def function(self, name: str) -> Function:
        """A kernel of folds.cu."""
        return self._module.function(name, self.geometry.THREADS)

    @cached_property
    def _module(self) -> Module:
        return Module(fold_source(self.low, self.op, self.geometry, self.looks, self.ordered))


def fits(low: CudaLowering, op: str, looks: bool = True) -> bool:
    """Whether elements are small enough for these kernels."""
    part = low.storage.itemsize * (2 if op == "add" and low.log_sum else 1)
    given = (low.dtype if looks else low.storage).itemsize
    return fold_geometry(given, part, op == "add" and low.log_sum is not None) is not None


def _commutes(low: CudaLowering, op: str) -> bool:
    """Whether operands may be exchanged."""
    S = low.algebra
    if op == "mul":
        return S.commutative
    return not S.product_only or (S.traced is not None and commutes(S.traced.add))


def joined(groups: Sequence[Group]) -> list[Group]:
    """The same axes, outermost first, with those as one that lie together."""
    found: list[Group] = []
    for length, stride in groups:
        if found and found[-1].stride == stride * length:
            length *= found.pop().length
        found.append(Group(length, stride))
    return found


def power_of_two(least: int) -> int:
    """The smallest that is not below a number."""
    return 1 << max(least - 1, 0).bit_length()


_made: dict[tuple[Any, str, bool], Folds] = {}


def folds(low: CudaLowering, op: str = "add", looks: bool = False) -> Folds:
    """The kernels of a lowering; threads share them."""
    key = low, op, looks
    return _made.get(key) or _made.setdefault(key, Folds(low, op, looks))
