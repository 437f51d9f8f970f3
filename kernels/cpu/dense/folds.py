"""Sums and products along axes of an array, compiled: one pass over it where it lies, at the speed of memory.

    x   axes that lie together are one           `Layout`
      → lines, or rows                           the operation along, or across, what is adjacent in memory
      → pieces                                   one partial result each; threads take them in turn (folds_template.py)
      → the partial results, as an array         few enough to be folded by NumPy

Results of narrow integers are of 64 bits, and those of halves are of single precision.

The operation has to commute. Elements are examined while they are in registers. Sums run in several parts side by side;
how they are cut depends on the shape, the strides and the processor's vectors, not on the threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from hashlib import blake2b
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.expression import Expression, apply, constant, operand
from semiring.algebra.semiring import Semiring
from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import Program, has_fma, has_halves, name_of
from semiring.kernels.cpu.compile.rules import LANES, vectors
from semiring.kernels.cpu.compile.templated import Templated
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.ordinary import alike, ordinary
from semiring.kernels.numpy.folds import TERMS
from semiring.machine.pieces import ranges, share

from .lanes import geometry, is_inside

STREAMS = 8  # rows that are read side by side, of which processors fetch so many ahead,
FAR = 1024  # if so many bytes are between neighbours in a sum of powers,
WIDE_ROW = 1 << 14  # and in another one; rows that are nearer are read as they lie in memory,
CACHED = 1 << 22  # unless the array is so small that a cache holds it
AGAIN = 1 << 14  # partial results that are folded by compiled code, too
SIDE_BY_SIDE = 4  # parts of a sum along a line, each of which is a vector
EXACT = 1 << 17  # elements of a piece of a line, or rows of a small array, if no sum rounds
TASK = 1 << 18  # elements from which a share of the work is worth a call
SINGLE = np.dtype(np.float32)
FLAG = 8  # bytes of the flag `failed`, which is before results
ONE = 16  # bytes of one result, or of its maximum and its sum of powers
LOOPS = 1 << 12  # calls at most for axes that do not fit the loops of the compiled code


ROOMS: list[tuple[np.ndarray, int]] = []  # memory for one result, with its address; calls take it and put it back


def room_for(many: int) -> tuple[np.ndarray, int]:
    """Memory for a flag, which is 0, and for so many bytes; and its address.

    Memory for one result is used again, because asking NumPy for an address takes as long as a short sum.
    """
    try:
        room, address = ROOMS.pop() if many <= ONE else _room(many)
    except IndexError:
        room, address = _room(ONE)
    room[0] = 0
    return room, address


def _room(many: int) -> tuple[np.ndarray, int]:
    room = np.empty(1 + -(-many // FLAG), np.int64)
    return room, room.ctypes.data


class Group(NamedTuple):
    """Axes that lie together in memory, as one."""

    length: int
    stride: int
    goes: bool  # whether the fold is along them
    axes: tuple[int, ...]


def grouped(x: np.ndarray, axes: Sequence[int]) -> list[Group]:
    """The axes of an array, outermost first, with neighbours of one kind joined where memory allows it.

    Examples
    --------
    >>> [(g.length, g.goes) for g in grouped(np.zeros((2, 3, 4, 5)), (0, 1))]
    [(6, True), (20, False)]
    """
    found: list[Group] = []
    order = [axis for axis in range(x.ndim) if x.shape[axis] > 1]
    for axis in sorted(order, key=lambda axis: -abs(x.strides[axis])):
        length, stride, goes = x.shape[axis], x.strides[axis], axis in axes
        last = found[-1] if found else None
        if last is not None and last.goes == goes and last.stride == stride * length:
            found[-1] = Group(last.length * length, stride, goes, (*last.axes, axis))
        else:
            found.append(Group(length, stride, goes, (axis,)))
    return found


class FoldKernel(Templated):
    """⊕ or ⊗ of a lowering along axes, if it commutes: see folds_template.py.

    Parameters
    ----------
    lowering : Lowering
        Of machine numbers or records of them, stored as they are.
    op : {"add", "mul"}
    """

    template = Path(__file__).with_name("folds_template.py")

    def __init__(self, lowering: Lowering, op: str):
        self.lowering = lowering
        self.powers = lowering.log_sum if op == "add" else None
        self.whole = ordinary(lowering.algebra, op, lowering.dtype) is np.add
        self.exact = self.whole or (op == "add" and lowering.algebra.selective)
        self.program, self.count, self.masked = _program(lowering, op)
        self.result = lowering.dtype if lowering.dtype.names else self.program.components[0]

    @property
    def _piece(self) -> int:
        """The elements of a piece of a line."""
        return EXACT if self.exact else TERMS * SIDE_BY_SIDE * self.count

    def takes(self, groups: Sequence[Group], x: np.ndarray) -> bool:
        """Whether compiled code folds such an array faster than NumPy does."""
        inner = groups[-1]
        if not any(g.goes for g in groups) or inner.stride != x.itemsize:
            return False
        if x.ctypes.data % (min(part.itemsize for part in self.lowering.components) if x.dtype.names else x.itemsize):
            return False
        if (inner.goes and 2 * inner.length < self.count) or not (self.masked or inner.length % self.count == 0):
            return False
        outer = sorted((g.length for g in groups[:-1]), reverse=True)
        return prod(outer[1 if inner.goes else 2:]) <= LOOPS

    def pieces(self, x: np.ndarray, groups: Sequence[Group]) -> tuple[np.ndarray, ...] | None:
        """Partial results of an array that `takes` accepts; None if something is not an element, or is too large.

        Returns
        -------
        tuple of ndarray
            Of the partial results, with an axis for each group, along which there are fewer if it goes; before them the
            maxima, if these are sums of powers.
        """
        inner = groups[-1]
        at = len(groups) - 1 if inner.goes else max(i for i, g in enumerate(groups) if g.goes)
        far = self.powers is not None and groups[at].stride >= FAR
        piece = self._piece if inner.goes else STREAMS if far else TERMS
        shape = [-(-g.length // piece) if i == at else g.length for i, g in enumerate(groups)]
        outs = [np.empty(shape, self.result) for _ in range(1 if self.powers is None else 2)]
        failed = np.zeros(1, np.int64)
        loops = [i for i in range(len(groups) - 1) if i != at]
        many = max(loops, key=lambda i: groups[i].length, default=None)
        together = self._together(groups[at].stride, x.nbytes)
        places = [(out.ctypes.data, out.strides) for out in outs]  # NumPy takes a while to tell where arrays are
        fold = partial(self._fold, x.ctypes.data, groups, places, failed.ctypes.data, at, many, piece, together)
        share(fold, list(self._tasks(groups, at, many, piece)), None)
        return None if failed[0] else tuple(outs)

    def small(self, x: np.ndarray, lines: int, depth: int, width: int) -> np.ndarray | None:
        """Folds of `depth` rows of so many elements, `lines` times; they lie one after the other.

        Returns
        -------
        ndarray, shape (lines * width,)
            None if something is not an element, or these are too many or too few for one call.
        """
        if not (self.masked or (depth if width == 1 else width) % self.count == 0):
            return None
        piece = self._piece if width == 1 else EXACT if self.exact else TERMS
        pieces, item, made = -(-depth // piece), x.itemsize, self.result.itemsize
        if pieces > 1 and x.dtype != self.result and not self.whole:
            return None
        size = lines * width * pieces * made
        many = size if self.powers is None else 2 * size
        room, failed = room_for(many)
        given, top, out = x.ctypes.data, failed + FLAG, failed + FLAG + many - size
        if width == 1:
            self.module.fold_lines(given, depth * item, top, out, pieces * made, lines, depth, piece, failed)
        else:
            row, to = width * item, width * made
            self.module.fold_rows(given, depth * row, row, top, out, pieces * to, to, lines, depth, piece, width,
                                  self._together(row, x.nbytes), failed)
        fine, found = not room[0], room[1:].view(self.result)[: many // made]
        if many <= ONE:
            found = found.copy()
            ROOMS.append((room, failed))
        if not fine:
            return None
        if self.powers is not None:
            found = _logarithms(self, *found.reshape(2, -1))
        if pieces == 1:
            return found
        if x.dtype != self.result:  # integers so narrow that no sum leaves 64 bits
            return np.add.reduce(found.reshape(lines, pieces, width), 1).reshape(-1)
        return self.small(found, lines, pieces, width)

    def _together(self, row: int, size: int) -> int:
        """How many rows are read side by side, of an array of so many bytes."""
        if self.powers is not None:
            return TERMS  # all rows of a piece are read twice
        return STREAMS if row >= WIDE_ROW or size <= CACHED else 1

    def _tasks(self, groups: Sequence[Group], at: int, many: int | None, piece: int) -> Any:
        """What threads take in turn: the place in other axes, and ranges of lines, of terms and of columns."""
        inner, depth = groups[-1], groups[at].length
        others = [range(g.length) if i not in (at, many, len(groups) - 1) else (0,) for i, g in enumerate(groups)]
        width = 1 if inner.goes else inner.length
        lines = 1 if many is None else groups[many].length
        along = max(TASK // (piece * width), 1) * piece
        columns = width if along * width <= 2 * TASK else max(TASK // min(piece, depth) // 1024, 1) * 1024
        spans = [(first, min(first + along, depth)) for first in range(0, depth, along)]
        strips = [(first, min(first + columns, width)) for first in range(0, width, columns)]
        shares = ranges(lines, -(-lines * depth * width // TASK) if len(spans) == len(strips) == 1 else lines)
        return product(product(*others), shares, spans, strips)

    def _fold(
        self, base: int, groups: Sequence[Group], outs: Sequence[tuple[int, Sequence[int]]], failed: int, at: int,
        many: int | None, piece: int, together: int, place: tuple[int, ...], lines: tuple[int, int],
        span: tuple[int, int], strip: tuple[int, int],
    ) -> None:
        """Fold a share of an array: so many lines, terms and columns."""
        begin = list(place)
        if many is not None:
            begin[many] = lines[0]
        start = [*begin]
        begin[at], start[at] = span[0], span[0] // piece
        if not groups[-1].goes:
            begin[-1] = start[-1] = strip[0]
        given = base + sum(i * g.stride for i, g in zip(begin, groups, strict=True))
        strides = outs[0][1]
        shift = sum(i * s for i, s in zip(start, strides, strict=True))
        top, out = outs[0][0] + shift, outs[-1][0] + shift
        step = 0 if many is None else groups[many].stride
        out_step = 0 if many is None else strides[many]
        count, length = lines[1] - lines[0], span[1] - span[0]
        if groups[-1].goes:
            self.module.fold_lines(given, step, top, out, out_step, count, length, piece, failed)
        else:
            self.module.fold_rows(given, step, groups[at].stride, top, out, out_step, strides[at], count,
                                  length, piece, strip[1] - strip[0], together, failed)


@dataclass(frozen=True)
class Along:
    """⊕ or ⊗ along axes, as a purpose of compiled code."""

    op: str

    def code(self, lowering: Lowering) -> list[cache.Function]:
        """The compiled functions."""
        return kernel(lowering, self.op).code("fold_lines", "fold_rows")


SUMS, PRODUCTS = Along("add"), Along("mul")


@lru_cache(1024)
def kernel(lowering: Lowering, op: str) -> FoldKernel:
    """The kernel of a lowering."""
    return FoldKernel(lowering, op)


@lru_cache(1024)
def fits(lowering: Lowering, op: str) -> bool:
    """Whether vectors fold faster than NumPy: not where scalar functions take the time, nor where forms differ."""
    if lowering.kind != "numba" or not (lowering.is_identity or kernel(lowering, op).whole):
        return False
    if lowering.dtype == np.float16 and not (has_halves() and alike(lowering.algebra, lowering.dtype, SINGLE)):
        return False
    return "v.each(" not in kernel(lowering, op).program.prelude


def _program(lowering: Lowering, op: str) -> tuple[Program, int, bool]:
    """The text of an operation on vectors, the lanes of these, and whether there are masks."""
    S, given, plain = lowering.algebra, lowering.dtype, replace(LANES, fused={})
    whole, parts, converted = ordinary(S, op, given) is np.add, lowering.components, ""
    if whole:
        parts = (np.dtype(f"{given.kind}8"),)
    elif given == np.float16:
        lowering, parts = general(S, SINGLE), (SINGLE,)
    count, _, masked = geometry(parts)
    form = lowering.log_sum if op == "add" else None
    if given.itemsize != parts[0].itemsize and not given.names:
        converted = f", np.{given.type.__name__}"
        if form is None:
            count = min(2 * count, geometry((given,))[0])
    names = ", ".join(f"np.{part.type.__name__}" for part in parts)
    inside = _small(S, given, EXACT) if whole else is_inside(lowering)
    text = vectors("inside_vectors", "a", [inside], parts, [np.dtype(bool)], plain)
    if form is None:
        outputs = (lowering.add if op == "add" else lowering.scale).outputs
        neutral = "ZERO" if op == "add" else "ONE"
        neutral = neutral if len(parts) > 1 else f"({neutral},)"
        if whole:
            outputs, neutral = (apply("add", operand(0), operand(1)),), f"({names}(0),)"
        text += "\n\n" + vectors("fold_vectors", "x, t", outputs, parts, rules=plain)
        made = f"Folds(({names},), {neutral}, COUNT, {masked}, fold_vectors, inside_vectors{converted})"
    else:
        made = f"PowerFolds({names}, COUNT, 1, {masked}, {form.binary}, {form.negated}, {has_fma()}, inside_vectors"
        made += f"{converted})"
    imported = f"from semiring.kernels.cpu.compile.lane_folds import SIDE_BY_SIDE, {made.partition('(')[0]}\n\n"
    sizes = f"COUNT = {count}\nGIVEN = {given.itemsize}"
    prelude = f"{imported}{sizes}\n\n\n{text}\n\nby = {made}\n\n"
    digest = blake2b(prelude.encode(), digest_size=4).hexdigest()
    name = f"folds_{name_of(parts)}_{digest}"
    return Program(name, parts, lowering.zero, lowering.one, prelude), count, masked


def _small(S: Semiring, dtype: np.dtype, terms: int) -> Expression:
    """The condition that an integer is a finite element, and so small that a sum of so many does not leave 64 bits."""
    limits, most = np.iinfo(dtype), (1 << 62) // terms
    x, carrier = operand(0), S.carrier_in(dtype)
    low, high = max(int(limits.min) + (dtype.kind == "i"), -most), min(int(limits.max) - 1, most)
    bounds = [apply("less_equal", x, constant(high))]
    if dtype.kind == "i":
        bounds.append(apply("greater_equal", x, constant(low)))
    conditions = [e for e in _conjuncts(carrier) if not (_is_whole(e) or (e.op == "constant" and e.value))]
    if high == most and all(_is_from_zero(e) for e in conditions):  # the bits above are 0, which vectors gather faster
        least = 0 if conditions or dtype.kind == "u" else most
        above = -most - least + (1 << 64 if dtype.kind == "u" else 0)
        shifted = apply("add", x, constant(least)) if least else x
        return apply("equal", apply("bitwise_and", shifted, constant(above)), constant(0))
    return reduce(partial(apply, "logical_and"), bounds, carrier)


def _conjuncts(e: Expression) -> list[Expression]:
    """The conditions that an expression asks for together."""
    return [part for arg in e.args for part in _conjuncts(arg)] if e.op == "logical_and" else [e]


def _is_whole(e: Expression) -> bool:
    """Whether it asks for a whole number."""
    return e.op == "equal" and {arg.op for arg in e.args} == {"floor", "input"}


def _is_from_zero(e: Expression) -> bool:
    """Whether it asks for a number that is not negative."""
    return e.op == "greater_equal" and e.args[0] is operand(0) and e.args[1].op == "constant" and not e.args[1].value


Combine = Callable[[np.ndarray, Sequence[int]], np.ndarray]


def along(kernel: FoldKernel, x: np.ndarray, axes: Sequence[int], combine: Combine) -> np.ndarray | None:
    """Fold an array along axes, which stay with length 1; None if something is not an element.

    Parameters
    ----------
    kernel : FoldKernel
        Takes the groups of x.
    x : ndarray
    axes : sequence of int
    combine : callable
        Folds partial results, of the kernel's `result`, along axes; of sums of powers, their logarithms. They may have
        overflowed.
    """
    x = x[tuple(slice(None, None, -1) if a in axes and x.strides[a] < 0 else slice(None) for a in range(x.ndim))]
    groups = grouped(x, axes)
    found = kernel.pieces(x, groups)
    if found is None:
        return None
    goes = [i for i, g in enumerate(groups) if g.goes]
    total = found[0] if kernel.powers is None else _logarithms(kernel, *found)
    again = grouped(total, goes)
    if all(total.shape[i] == 1 for i in goes):
        pass
    elif AGAIN <= total.size < x.size and total.dtype == x.dtype and kernel.takes(again, total):
        part = along(kernel, total, goes, combine)  # None if partial results overflow
        total = combine(total, goes) if part is None else part
    else:
        total = combine(total, goes)
    kept = [axis for g in groups if not g.goes for axis in g.axes]
    total = total.reshape([x.shape[axis] for axis in kept]).transpose(np.argsort(kept))
    return total.reshape([1 if axis in axes else length for axis, length in enumerate(x.shape)])


def _logarithms(kernel: FoldKernel, top: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """m + log Σ of partial results, as elements."""
    form = kernel.powers
    assert form is not None
    with np.errstate(all="ignore"):
        found = np.where(np.isinf(top), top, top + (np.log2 if form.binary else np.log)(powers))
    return np.negative(found) if form.negated else found
