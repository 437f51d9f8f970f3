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
WAVES = 8  # blocks for each multiprocessor that share what is folded
LEAST_TILES = 4  # loads of a thread, at least, in a part of a line
LEAST_ROWS = 4  # rows of a thread in a part
LINE = 32  # threads of a line, or side by side, if there are so many terms, or columns
ALIGNED = 16  # bytes of a run of elements
FULL = 1024  # threads of a multiprocessor, at least, that keep its memory busy
MOST_TAKEN = 48  # sums that a thread adds up one after the other, if ∘ rounds
CACHED = 128  # bytes of a line of the cache
GROUPS = 3  # groups of axes, besides the one that is folded, that a launch takes


class Group(NamedTuple):
    """Axes that lie together in memory, as one."""

    length: int
    stride: int


class Launch(NamedTuple):
    """A launch, but for addresses: where it reads stands before its numbers, and where it writes after them."""

    name: str
    blocks: int
    numbers: tuple[int, ...]
    how: int
    room: int  # bytes of the parts that it leaves; 0 if it writes the answer


class Plan(NamedTuple):
    """How arrays of a shape and strides are folded."""

    launches: list[Launch]
    kept: tuple[int, ...]  # the shape of the answer in the order of memory, without axes of one element
    places: tuple[int, ...]  # of its axes, in their own order
    shape: tuple[int, ...]
    is_final: bool  # whether both are the same


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
        place = x.data.ptr
        plan = self._plan(x.shape, x.strides, tuple(axes), place % ALIGNED, multiprocessors())
        if plan is None:
            return self.along(cupy.ascontiguousarray(x), axes, found)
        out, report, kept = cupy.empty(plan.kept, self.dtype), found.host if found else 0, None
        for name, blocks, numbers, how, room in plan.launches:
            made = memory(room) if room else None  # what the launch before left is in use until this one is given
            target = made.ptr if made is not None else out.data.ptr
            self.function(name)(blocks, 1, place if kept is None else kept.ptr, *numbers, target, how, report)
            kept = made
        return out if plan.is_final else out.transpose(plan.places).reshape(plan.shape)

    def runs(self, x: Any, offsets: Any, found: Report | None = None) -> Any:
        """Fold runs of elements that lie one after the other; zero for a run without any.

        Parameters
        ----------
        x : cupy.ndarray, 1-D, in C order
            As for `along`.
        offsets : cupy.ndarray of int64
            Where each run begins, and the end of the last one.
        found : Report, optional
            As for `along`.
        """
        import cupy

        count = len(offsets) - 1
        out = cupy.empty(count, self.dtype)
        if count:
            lanes = min(LINE, power_of_two(-(-len(x) // count)))
            self.function("fold_runs")(
                -(-count // (self.geometry.THREADS // lanes)), 1, x.data.ptr, offsets.data.ptr, count, lanes,
                out.data.ptr, found.host if found else 0,
            )
        return out

    @lru_cache(256)  # noqa: B019 (kernels live as long as the process)
    def _plan(
        self, shape: tuple[int, ...], strides: tuple[int, ...], axes: tuple[int, ...], place: int, processors: int
    ) -> Plan | None:
        """The launches of a fold of an array; None if one would not take so many axes, in this order of memory."""
        order = [a for a in range(len(shape)) if shape[a] > 1]
        order.sort(key=lambda a: -abs(strides[a]))
        going = [a for a in (sorted(order) if self.ordered else order) if a in axes]
        kept = [a for a in order if a not in axes]
        launches = self._launches(shape, strides, order, going, place, processors)
        if launches is None:
            return None
        places = tuple(kept.index(a) for a in range(len(shape)) if a in kept)
        first, final = tuple(shape[a] for a in kept), tuple(n for a, n in enumerate(shape) if a not in axes)
        return Plan(launches, first, places, final, places == tuple(range(len(kept))) and first == final)

    def _launches(
        self, shape: tuple[int, ...], strides: tuple[int, ...], order: list[int], going: list[int], place: int,
        processors: int,
    ) -> list[Launch] | None:
        """Fold along the axes `going`, the last one first; other axes in the order of memory."""
        length, step = 1, self.dtype.itemsize
        if going:
            last = going.pop()
            length, step = shape[last], strides[last]
            order.remove(last)
        while going and strides[going[-1]] == step * length:
            length *= shape[going[-1]]
            order.remove(going.pop())
        groups = joined([Group(shape[a], strides[a]) for a in order])
        if len(groups) > GROUPS:
            return None
        launches = self._first(place, Group(length, step), groups, not going, processors)
        while going:  # parts lie one after the other
            at = order.index(going.pop())
            length = shape[order.pop(at)]
            while going and at and order[at - 1] == going[-1]:
                going.pop()
                at -= 1
                length *= shape[order.pop(at)]
            outer, columns = prod(shape[a] for a in order[:at]), prod(shape[a] for a in order[at:])
            launches += self._join(length, outer, columns, not going, processors)
        return launches

    def _first(self, place: int, terms: Group, groups: list[Group], last: bool, processors: int) -> list[Launch]:
        """Fold along the first axis, into the answer or into parts."""
        (n_0, s_0), (n_1, s_1), (n_2, s_2) = (groups[::-1] + [Group(1, 0)] * GROUPS)[:GROUPS]
        g, size, run = self.geometry, self.dtype.itemsize, self.geometry.VECTOR * self.dtype.itemsize
        lines, whole = n_0 * n_1 * n_2, not (place | s_1 | s_2) % run and g.VECTOR > 1
        numbers: tuple[int, ...]
        if not groups or abs(terms.stride) < abs(s_0):
            whole = whole and terms.stride == size and not s_0 % run
            lanes, chunk = self._lines(terms.length, lines, g.VECTOR if whole else 1, processors)
            name, blocks = "fold_lines", -(-lines // (g.THREADS // lanes))
            numbers = (terms.stride, terms.length, chunk, lines, n_0, s_0, n_1, s_1, s_2, lanes)
        else:
            whole = whole and s_0 == size and not n_0 % g.VECTOR and not terms.stride % run
            across, strips, chunk = self._rows(
                terms.length, n_0, n_1 * n_2, g.VECTOR if whole else 1, processors, True)
            name, blocks = "fold_rows", strips * n_1 * n_2
            numbers = (terms.stride, terms.length, chunk, n_0, s_0, n_1, s_1, n_1 * n_2, s_2, across)
        return self._with_parts(name, blocks, numbers, RUNS * whole, -(-terms.length // chunk), lines, last, processors)

    def _join(self, terms: int, outer: int, columns: int, last: bool, processors: int) -> list[Launch]:
        """Join parts, which lie in the order (outer, terms, columns)."""
        across, strips, chunk = self._rows(terms, columns, outer, 1, processors, False)
        numbers = (terms, chunk, columns, outer, across)
        parts = -(-terms // chunk)
        return self._with_parts("join_rows", strips * outer, numbers, 0, parts, outer * columns, last, processors)

    def _with_parts(
        self, name: str, blocks: int, numbers: tuple[int, ...], how: int, parts: int, count: int, last: bool,
        processors: int,
    ) -> list[Launch]:
        """A launch that leaves the answer, or parts, and launches that join these."""
        if last and parts == 1:
            return [Launch(name, blocks, numbers, how, 0)]
        launch = Launch(name, blocks * parts, numbers, how | PARTS, parts * count * self.part)
        return [launch, *(self._join(parts, 1, count, last, processors) if parts > 1 else [])]

    def _lines(self, terms: int, lines: int, unit: int, processors: int) -> tuple[int, int]:
        """Threads of a line, and terms of a part of it."""
        g, lanes = self.geometry, min(LINE, power_of_two(-(-terms // unit)))
        few = processors * FULL
        while lanes < g.THREADS and (2 * lanes * g.ITEMS * LEAST_TILES <= terms
                                     or (lines * lanes < few and lanes * unit < terms)):
            lanes *= 2
        blocks = -(-lines // (g.THREADS // lanes))
        parts = max(min(processors * WAVES // blocks, terms // (lanes * g.ITEMS * LEAST_TILES)), 1)
        if self.rounds:
            parts = max(parts, -(-terms // (lanes * g.ITEMS * MOST_TAKEN)))
        step = lanes * unit
        chunk = -(-terms // (parts * step)) * step
        if self.ordered and parts > 1:  # the terms of a thread are neighbours, and are to lie in one line of the cache
            chunk = min(chunk, lanes * max(g.ITEMS, CACHED // self.dtype.itemsize))
        return lanes, chunk

    def _rows(
        self, terms: int, columns: int, outer: int, unit: int, processors: int, reads: bool
    ) -> tuple[int, int, int]:
        """Threads side by side, strips of columns, and terms of a part."""
        g, wide = self.geometry, min(self.geometry.THREADS, power_of_two(columns // unit))
        across = min(LINE, wide)
        while across < wide and g.THREADS // across * LEAST_ROWS > terms:
            across *= 2
        strips, down = -(-columns // (across * unit)), g.THREADS // across
        parts = max(min(processors * WAVES // (strips * outer), terms // (down * LEAST_ROWS * LEAST_TILES)), 1)
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
