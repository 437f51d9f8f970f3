"""Stacks of small matrices by vectors that hold one element of several matrices: intrinsics for one algebra.

Rows of five elements leave most lanes of a vector empty, and a pivot of such a matrix takes less time than the loop
around it. So as many matrices as a vector has lanes are copied to *slots*, one for each place of a matrix: a vector for
each component, whose lanes are the matrices. Every operation is then one of whole vectors. If there are fewer matrices,
the last of them fills the other lanes, and is written once more, as it is. Slots are written and read by transposing
squares of vectors where elements lie side by side; otherwise lane by lane.

All arguments are integers, passed as a tuple. A *side* of a matrix is the distance of two of its neighbours in bytes,
and how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from .lane_rows import Rows, intrinsic_of
from .lanes import I32, I64, Element, Lanes, Vector, scalar_kind
from .raw import record_dtype

WIDTH = 8  # elements of a row at most


class Stacks(Rows):
    """What the template of small matrices does with matrices in lanes; see `Rows`.

    Parameters
    ----------
    components, zero, count, height, masked, combine, scaled, inside
        As for `Rows`.
    star, defined : callable
        Text of the generated module over `Lanes`: a*, and whether it exists.
    """

    def __init__(
        self, components: Sequence[Any], zero: Sequence[Any], count: int, height: int, masked: bool,
        combine: Callable[..., Any], scaled: Callable[..., Any], inside: Callable[..., Any], star: Callable[..., Any],
        defined: Callable[..., Any],
    ):
        super().__init__(components, zero, count, height, masked, combine, scaled, inside)
        self.star, self.defined = star, defined
        #: components as they lie in memory
        self.raw = [np.dtype("u1") if part.kind == "b" else part for part in self.parts]
        self.slot = count * sum(part.itemsize for part in self.raw)

    def slots(self, number: int, side: int) -> Any:
        """The address of slots on the stack of the function, for matrices of at most `side` columns: an intrinsic.

        There is room for the slots that a square reaches beyond the end of a column.
        """
        return self.memory((number + (side * self.count if len(self.raw) == 1 else 0)) * self.slot)

    def enter(self) -> Any:
        """Copy matrices to slots, along their inner side first; 1 if an entry is not an element, else 0: an intrinsic.

        The arguments are the first matrix, the distance of matrices, how many there are, both sides, the slots, and the
        distances of slots along both sides.
        """

        def generate(
            context: Any, b: Any, source: Any, step: Any, live: Any, outer: Any, rows: Any, inner: Any, columns: Any,
            slots: Any, down: Any, along: Any,
        ) -> Any:
            v, zero = self._lanes(context, b)
            fine = cgutils.alloca_once_value(b, v.constant(np.bool_(True)).value)
            b.store(v.constant(np.bool_(True)).value, fine)

            def keep(x: Element, i: Any, j: Any) -> None:
                self._put(v, x, self._slot(b, slots, down, along, i, j))
                x = self._as_parts(v, x)
                found = self.inside(v, x[0] if len(x) == 1 else x)
                b.store(b.and_(b.load(fine), found.value), fine)

            def beside(place: Any, i: Any, j: Any) -> None:
                keep(self._stored_parts(v, v.gather(self.parts, place, None, zero)), i, j)

            def square(places: list[Any], i: Any, j: Any) -> None:
                mask, (fill,) = self._first_lanes(v, b.sub(columns, j)), self._stored_parts(v, zero)
                for c, x in enumerate(_turned(v, [v.load(place, fill.dtype, mask, fill) for place in places])):
                    keep((x,), i, b.add(j, I64(c)))

            def each(places: list[Any], i: Any, j: Any) -> None:
                made = []
                for part, offset in self._offsets():
                    kind = scalar_kind(part)
                    value = ir.Constant(ir.VectorType(kind, self.count), ir.Undefined)
                    for lane, place in enumerate(places):
                        pointer = b.inttoptr(b.add(place, I64(offset)), kind.as_pointer())
                        value = b.insert_element(value, b.load(pointer, align=1), I32(lane))
                    made.append(Vector(value, part))
                keep(tuple(made), i, j)

            self._over(v, source, step, live, outer, rows, inner, columns, beside, square, each)
            return b.zext(v.any(v.inverse(Vector(b.load(fine), np.dtype(bool)))), I64)

        return intrinsic_of(generate, types.int64)

    def leave(self) -> Any:
        """Copy slots to matrices; the arguments are those of `enter`: an intrinsic."""

        def generate(
            context: Any, b: Any, target: Any, step: Any, live: Any, outer: Any, rows: Any, inner: Any, columns: Any,
            slots: Any, down: Any, along: Any,
        ) -> None:
            v, _ = self._lanes(context, b)

            def slot(i: Any, j: Any) -> Element:
                return self._get(v, self._slot(b, slots, down, along, i, j))

            def beside(place: Any, i: Any, j: Any) -> None:
                v.scatter(self._as_parts(v, slot(i, j)), place, None)

            def square(places: list[Any], i: Any, j: Any) -> None:
                mask = self._first_lanes(v, b.sub(columns, j))
                rows = _turned(v, [slot(i, b.add(j, I64(c)))[0] for c in range(self.count)])
                for x, place in zip(rows, places, strict=True):
                    v.store(x, place, mask)

            def each(places: list[Any], i: Any, j: Any) -> None:
                for x, (part, offset) in zip(slot(i, j), self._offsets(), strict=True):
                    for lane, place in enumerate(places):
                        pointer = b.inttoptr(b.add(place, I64(offset)), scalar_kind(part).as_pointer())
                        b.store(b.extract_element(x.value, I32(lane)), pointer, align=1)

            self._over(v, target, step, live, outer, rows, inner, columns, beside, square, each)

        return intrinsic_of(generate)

    def approach(self) -> Any:
        """Ask for some bytes from an address on, which are read soon: an intrinsic.

        Squares go through memory in strides, which the processor does not foresee.
        """

        def generate(context: Any, b: Any, address: Any, size: Any) -> None:
            kind = ir.FunctionType(ir.VoidType(), [ir.PointerType(), I32, I32, I32])
            prefetch = cgutils.get_or_insert_function(b.module, kind, "llvm.prefetch.p0")
            with cgutils.for_range_slice(b, I64(0), size, I64(64)) as (offset, _):
                b.call(prefetch, [b.inttoptr(b.add(address, offset), ir.PointerType()), I32(0), I32(3), I32(1)])

        return intrinsic_of(generate)

    def pivots(self) -> Any:
        """D ← D* of matrices in slots, by Gauss–Jordan as in `update`; 1 if a pivot has no star, else 0: an intrinsic.

        A pivot reads one half of the slots and writes the other. The arguments are both, n ≤ `WIDTH`, and 1.
        """

        def generate(context: Any, b: Any, slots: Any, other: Any, n: Any, one: Any) -> Any:
            v, zero = self._lanes(context, b)
            unit = self._unit(context, v, one)
            fine = cgutils.alloca_once_value(b, v.constant(np.bool_(True)).value)
            b.store(v.constant(np.bool_(True)).value, fine)

            def read(place: Any) -> Element:
                return self._read_slot(v, place)

            def one_of(function: Callable[..., Any], *operands: Any) -> Element:
                found: Element = self._one(function, v, *operands)
                return found

            def pivots(width: int) -> None:
                old, new = (cgutils.alloca_once(b, I64) for _ in range(2))
                b.store(slots, old)
                b.store(other, new)
                with v.rows(I64(0), n) as k:
                    here, there, across = b.load(old), b.load(new), b.mul(k, I64(self.slot))
                    b.store(there, old)
                    b.store(here, new)
                    down = b.mul(k, I64(width * self.slot))
                    pivot = read(b.add(b.add(here, down), across))
                    exists = self.defined(v, pivot[0] if len(pivot) == 1 else pivot)
                    b.store(b.and_(b.load(fine), exists.value), fine)
                    s = one_of(self.star, tuple(v.where(exists, x, y) for x, y in zip(pivot, zero, strict=True)))
                    row = []
                    for j in range(width):
                        x = one_of(self.scaled, s, read(self._at(b, b.add(here, down), j)))
                        own = v.splat(b.icmp_signed("==", k, I64(j)), np.dtype(bool))
                        row.append(tuple(v.where(own, x, y) for x, y in zip(s, x, strict=True)))

                    def sweep(i: Any) -> None:
                        step = b.mul(i, I64(width * self.slot))
                        source, target = b.add(here, step), b.add(there, step)
                        factor = read(b.add(source, across))
                        self._put(v, zero, b.add(source, across))
                        for j, right in enumerate(row):
                            x = one_of(self.combine, read(self._at(b, source, j)), factor, right, unit)
                            self._put(v, x, self._at(b, target, j))

                    with v.rows(I64(0), n) as i:
                        sweep(i)
                    for j, x in enumerate(row):  # over what the sweep left in the pivot's own row
                        self._put(v, x, self._at(b, b.add(there, down), j))

            self._by_width(b, n, pivots)
            return b.zext(v.any(v.inverse(Vector(b.load(fine), np.dtype(bool)))), I64)

        return intrinsic_of(generate, types.int64)

    def sums(self) -> Any:
        """C ← A ⊗ B, or C ⊕ A ⊗ B where `more`, of matrices in slots: an intrinsic.

        The arguments are the slots of A, B and C; m, k, n ≤ `WIDTH`, `more` and 1.
        """

        def generate(
            context: Any, b: Any, left: Any, right: Any, target: Any, m: Any, k: Any, n: Any, more: Any, one: Any
        ) -> None:
            v, zero = self._lanes(context, b)
            unit, carried = self._unit(context, v, one), b.icmp_signed("!=", more, I64(0))

            def rows(width: int) -> None:
                totals = [[cgutils.alloca_once(b, x.value.type) for x in zero] for _ in range(width)]
                with v.rows(I64(0), m) as i:
                    place = b.add(target, b.mul(i, I64(width * self.slot)))
                    factors = b.add(left, b.mul(b.mul(i, k), I64(self.slot)))

                    def keep(j: int, x: Element) -> None:
                        for slot, part in zip(totals[j], x, strict=True):
                            b.store(part.value, slot)

                    for j in range(width):
                        keep(j, zero)
                    with b.if_then(carried):
                        for j in range(width):
                            keep(j, self._read_slot(v, self._at(b, place, j)))
                    with v.rows(I64(0), k) as step:
                        factor = self._read_slot(v, b.add(factors, b.mul(step, I64(self.slot))))
                        row = b.add(right, b.mul(step, I64(width * self.slot)))
                        for j, slots in enumerate(totals):
                            x = self._read_slot(v, self._at(b, row, j))
                            keep(j, self._one(self.combine, v, self._read(b, slots), factor, x, unit))
                    for j, slots in enumerate(totals):
                        self._put(v, self._read(b, slots), self._at(b, place, j))

            self._by_width(b, n, rows)

        return intrinsic_of(generate)

    @staticmethod
    def _by_width(b: Any, width: Any, generate: Callable[[int], None]) -> None:
        """Code for each width of a row, of which one runs."""
        end = b.append_basic_block("widths")
        choice = b.switch(width, end)
        for each in range(1, WIDTH + 1):
            block = b.append_basic_block(f"width{each}")
            choice.add_case(I64(each), block)
            b.position_at_end(block)
            generate(each)
            b.branch(end)
        b.position_at_end(end)

    def _at(self, b: Any, row: Any, j: int) -> Any:
        """The address of a slot of a row."""
        return b.add(row, I64(j * self.slot))

    def _over(
        self, v: Lanes, base: Any, step: Any, live: Any, outer: Any, rows: Any, inner: Any, columns: Any,
        beside: Callable[..., None], square: Callable[..., None], each: Callable[..., None],
    ) -> None:
        """Go over all places of matrices: by vectors where lanes lie side by side, or by squares, or one by one."""
        b, last = v.builder, v.builder.sub(live, I64(1))
        near = b.and_(b.icmp_signed("==", step, I64(record_dtype(self.parts).itemsize)),
                      b.icmp_signed("==", live, I64(self.count)))
        with b.if_else(near) as (then, otherwise):
            with then, v.rows(I64(0), rows) as i, v.rows(I64(0), columns) as j:
                beside(b.add(base, b.add(b.mul(i, outer), b.mul(j, inner))), i, j)
            with otherwise:
                lanes = [b.select(b.icmp_signed("<", I64(i), last), I64(i), last) for i in range(self.count)]
                bases, whole = [b.add(base, b.mul(lane, step)) for lane in lanes], I64(0)
                if len(self.raw) == 1:
                    whole = columns if self.masked else b.and_(columns, I64(-self.count))
                    whole = b.select(b.icmp_signed("==", inner, I64(self.raw[0].itemsize)), whole, I64(0))
                with v.rows(I64(0), rows) as i:
                    row = b.mul(i, outer)
                    if len(self.raw) == 1:
                        with v.rows(I64(0), whole, self.count) as j:
                            along = b.add(row, b.mul(j, inner))
                            square([b.add(place, along) for place in bases], i, j)
                    with v.rows(whole, columns) as j:
                        along = b.add(row, b.mul(j, inner))
                        each([b.add(place, along) for place in bases], i, j)

    def _slot(self, b: Any, slots: Any, down: Any, along: Any, i: Any, j: Any) -> Any:
        """The address of the slot for a place."""
        return b.add(slots, b.mul(b.add(b.mul(i, down), b.mul(j, along)), I64(self.slot)))

    def _first_lanes(self, v: Lanes, number: Any) -> Any:
        """The mask of so many lanes, if there are masks."""
        return v.below(number) if self.masked else None

    def _offsets(self) -> list[tuple[np.dtype, int]]:
        """The components of an element, and where they begin."""
        at = record_dtype(self.parts)
        offsets = [at.fields[name][1] for name in at.names] if at.names and at.fields else [0]
        return list(zip(self.raw, offsets, strict=True))

    def _get(self, v: Lanes, address: Any) -> Element:
        """What a slot holds, as it lies in memory."""
        found, offset = [], 0
        for part in self.raw:
            found.append(v.load(v.builder.add(address, I64(offset)), part, None, v.constant(part.type(0))))
            offset += self.count * part.itemsize
        return tuple(found)

    def _stored_parts(self, v: Lanes, x: Element) -> Element:
        """An element as it lies in memory."""
        return tuple(v.convert(part, raw.name) for part, raw in zip(x, self.raw, strict=True))

    def _put(self, v: Lanes, x: Element, address: Any) -> None:
        """Write an element to a slot."""
        offset = 0
        for part, raw in zip(x, self.raw, strict=True):
            v.store(part, v.builder.add(address, I64(offset)), None)
            offset += self.count * raw.itemsize

    def _read_slot(self, v: Lanes, address: Any) -> Element:
        """What a slot holds, as the algebra has it."""
        return self._as_parts(v, self._get(v, address))

    def _as_parts(self, v: Lanes, x: Element) -> Element:
        """An element in memory as the algebra has it."""
        return tuple(v.truth(part) if have.kind == "b" else part for part, have in zip(x, self.parts, strict=True))


def _turned(v: Lanes, rows: list[Vector]) -> list[Vector]:
    """As many vectors as they have lanes, as the rows of a matrix: its columns."""
    half, values = v.count // 2, [x.value for x in rows]
    while half:
        low = [i if not i & half else v.count + i - half for i in range(v.count)]
        high = [i + half if not i & half else v.count + i for i in range(v.count)]
        for i in range(v.count):
            if not i & half:
                x, y = values[i], values[i + half]
                values[i], values[i + half] = v.shuffle(x, y, low), v.shuffle(x, y, high)
        half //= 2
    return [Vector(value, rows[0].dtype) for value in values]
