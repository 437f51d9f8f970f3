"""Rows of small matrices as vectors: intrinsics on addresses and strides, for the operations of one algebra.

They are what the template of small matrices is written with (../dense/lanes_template.py). All arguments are integers,
passed as a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.numpy_support import from_dtype

from .lanes import I64, Element, Lanes, Vector
from .raw import record_dtype


class Rows:
    """What the templates of small matrices do with rows, as intrinsics for one algebra. Addresses are integers.

    Parameters
    ----------
    components : tuple of scalar classes
    zero : tuple
        The algebra's zero, a NumPy scalar for each component.
    count : int
        Lanes of a vector.
    height : int
        Rows of C that stay in registers.
    masked : bool
        As for `Lanes`.
    combine, scaled, inside : callable
        Text of the generated module over `Lanes`: x ⊕ a ⊗ b, a ⊗ b as it is stored, whether x is an element.
    """

    def __init__(
        self, components: Sequence[Any], zero: Sequence[Any], count: int, height: int, masked: bool,
        combine: Callable[..., Any], scaled: Callable[..., Any], inside: Callable[..., Any],
    ):
        self.parts, self.zero, self.count = [np.dtype(part) for part in components], zero, count
        self.height, self.masked, self.combine = height, masked, combine
        self.scaled, self.inside = scaled, inside

    def _lanes(self, context: Any, builder: Any) -> tuple[Lanes, Element]:
        v = Lanes(context, builder, self.count, self.masked)
        return v, tuple(v.constant(part) for part in self.zero)

    def _one(self, function: Callable[..., Any], v: Lanes, *operands: Any) -> Any:
        """Call a function of the generated module, which gets a single component without a tuple."""
        single = len(self.parts) == 1
        found = function(v, *(x[0] if single and isinstance(x, tuple) and not isinstance(x, Vector) else x
                              for x in operands))
        return (found,) if single and isinstance(found, Vector) else found

    def tiles(self) -> Any:
        """C ← A ⊗ B, or C ⊕ A ⊗ B, on some columns of all rows: an intrinsic."""

        def generate(
            context: Any, b: Any, a: Any, a_row: Any, a_column: Any, right: Any, b_row: Any, c: Any, c_row: Any, m: Any,
            k: Any, live: Any, more: Any, one: Any,
        ) -> None:
            v, zero = self._lanes(context, b)
            unit = self._unit(context, v, one)
            mask = v.below(live) if self.masked else None
            carried = b.icmp_signed("!=", more, I64(0))

            def tile(first: Any, height: int) -> None:
                lefts = [b.add(a, b.mul(b.add(first, I64(i)), a_row)) for i in range(height)]
                targets = [b.add(c, b.mul(b.add(first, I64(i)), c_row)) for i in range(height)]
                sums = [[cgutils.alloca_once(b, x.value.type) for x in zero] for _ in range(height)]
                for slots in sums:
                    for slot, x in zip(slots, zero, strict=True):
                        b.store(x.value, slot)
                with b.if_then(carried):
                    for slots, target in zip(sums, targets, strict=True):
                        for slot, x in zip(slots, v.gather(self.parts, target, mask, zero), strict=True):
                            b.store(x.value, slot)
                with v.rows(I64(0), k) as step:
                    row = v.gather(self.parts, b.add(right, b.mul(step, b_row)), mask, zero)
                    along = b.mul(step, a_column)
                    for slots, left in zip(sums, lefts, strict=True):
                        a_ik = v.spread(self.parts, b.add(left, along))
                        total = self._one(self.combine, v, self._read(b, slots), a_ik, row, unit)
                        for slot, part in zip(slots, total, strict=True):
                            b.store(part.value, slot)
                for slots, target in zip(sums, targets, strict=True):
                    v.scatter(self._read(b, slots), target, mask)

            self._down(v, b, m, tile)

        return intrinsic_of(generate)

    def packed(self, n: int) -> Any:
        """C ← A ⊗ B, or C ⊕ A ⊗ B, of n × n elements that lie together, several rows a vector: an intrinsic.

        It is 1, and nothing is written, where `checked` and an entry is not an element.
        """
        count = max(min(self.count, n * n), n)
        height = count // n  # rows in a vector

        def generate(context: Any, b: Any, a: Any, right: Any, c: Any, more: Any, checked: Any, one: Any) -> Any:
            v = Lanes(context, b, count, False)
            zero, unit = tuple(v.constant(part) for part in self.zero), self._unit(context, v, one)
            step = count * record_dtype(self.parts).itemsize

            def read(base: Any) -> list[Element]:
                places = [b.add(base, I64(i * step)) for i in range(n // height)]
                return [v.gather(self.parts, place, None, zero) for place in places]

            def chosen(x: Element, lanes: list[int]) -> Element:
                return tuple(Vector(v.shuffle(part.value, part.value, lanes), part.dtype) for part in x)

            A, B = read(a), read(right)
            sums = [[cgutils.alloca_once_value(b, x.value) for x in zero] for _ in A]
            fine = cgutils.alloca_once_value(b, v.constant(np.bool_(True)).value)

            def look(X: list[Element]) -> None:
                for x in X:
                    inside = self.inside(v, x[0] if len(x) == 1 else x)
                    b.store(b.and_(b.load(fine), inside.value), fine)

            for slots in sums:
                for slot, x in zip(slots, zero, strict=True):
                    b.store(x.value, slot)
            b.store(v.constant(np.bool_(True)).value, fine)
            look([*A, *B])
            with b.if_then(b.icmp_signed("!=", more, I64(0))):
                C = read(c)
                look(C)
                for slots, some in zip(sums, C, strict=True):
                    for slot, part in zip(slots, some, strict=True):
                        b.store(part.value, slot)
            strange = v.any(v.inverse(Vector(b.load(fine), np.dtype(bool))))
            strange = b.and_(strange, b.icmp_signed("!=", checked, I64(0)))
            with b.if_then(b.not_(strange)):
                totals = [self._read(b, slots) for slots in sums]
                for k in range(n):
                    row = chosen(B[k // height], [k % height * n + j for _ in range(height) for j in range(n)])
                    column = [r * n + k for r in range(height) for _ in range(n)]
                    totals = [self._one(self.combine, v, x, chosen(left, column), row, unit)
                              for x, left in zip(totals, A, strict=True)]
                for i, total in enumerate(totals):
                    v.scatter(total, b.add(c, I64(i * step)), None)
            return b.zext(strange, I64)

        return intrinsic_of(generate, types.int64)

    def strangers(self) -> Any:
        """1 if some of the first `live` columns of some rows hold what is not an element, else 0: an intrinsic."""

        def generate(context: Any, b: Any, source: Any, stride: Any, rows: Any, live: Any) -> Any:
            v, zero = self._lanes(context, b)
            mask = v.below(live) if self.masked else None
            fine = cgutils.alloca_once_value(b, v.constant(np.bool_(True)).value)
            with v.rows(I64(0), rows) as i:
                x = v.gather(self.parts, b.add(source, b.mul(i, stride)), mask, zero)
                found = self.inside(v, x[0] if len(self.parts) == 1 else x)
                b.store(b.and_(b.load(fine), found.value), fine)
            strange = v.inverse(Vector(b.load(fine), np.dtype(bool)))
            return b.zext(v.any(strange), I64)

        return intrinsic_of(generate, types.int64)

    def lines(self, plus: Callable[..., Any], looks: bool) -> Any:
        """out[i] ← the ⊕ of M[i, k] ⊗ x[k] over adjacent k, for some rows of M: an intrinsic.

        Two sums of every row stay in registers, of which each lane is a part; they are added up by `plus`, x ⊕ y of
        vectors. `vectors` whole ones are taken, and `live` lanes of the next if there are masks. With `looks` the
        answer is 1 if M holds what is not an element, else 0.
        """

        def generate(
            context: Any, b: Any, matrix: Any, stride: Any, x: Any, out: Any, m: Any, vectors: Any, live: Any, one: Any
        ) -> Any:
            v, zero = self._lanes(context, b)
            unit, size = self._unit(context, v, one), self.count * record_dtype(self.parts).itemsize
            fine = cgutils.alloca_once_value(b, v.constant(np.bool_(True)).value)

            def tile(first: Any, height: int) -> None:
                places = [b.add(matrix, b.mul(b.add(first, I64(i)), stride)) for i in range(height)]
                sums = [[[cgutils.alloca_once(b, part.value.type) for part in zero] for _ in range(height)]
                        for _ in range(2)]
                for slots in [slots for some in sums for slots in some]:
                    for slot, part in zip(slots, zero, strict=True):
                        b.store(part.value, slot)

                def take(some: list[list[Any]], number: Any, mask: Any = None) -> None:
                    along = b.mul(number, I64(size))
                    right = v.gather(self.parts, b.add(x, along), mask, zero)
                    for slots, place in zip(some, places, strict=True):
                        row = v.gather(self.parts, b.add(place, along), mask, zero)
                        if looks:
                            found = self.inside(v, row[0] if len(self.parts) == 1 else row)
                            b.store(b.and_(b.load(fine), found.value), fine)
                        old = self._read(b, slots)
                        total = self._one(self.combine, v, old, row, right, unit)
                        if mask is not None:  # 0 ⊗ 0 of the other lanes need not be 0
                            taken = Vector(mask, np.dtype(bool))
                            total = tuple(v.where(taken, x, y) for x, y in zip(total, old, strict=True))
                        for slot, part in zip(slots, total, strict=True):
                            b.store(part.value, slot)

                even = b.and_(vectors, I64(-2))
                with v.rows(I64(0), even, 2) as number:
                    take(sums[0], number)
                    take(sums[1], b.add(number, I64(1)))
                with v.rows(even, vectors) as number:
                    take(sums[0], number)
                if self.masked:
                    with b.if_then(b.icmp_signed("!=", live, I64(0))):
                        take(sums[0], vectors, v.below(live))
                for i, (slots, others) in enumerate(zip(*sums, strict=True)):
                    total = self._one(plus, v, self._read(b, slots), self._read(b, others))
                    total = v.together(total, partial(self._one, plus))
                    place = b.mul(b.add(first, I64(i)), I64(record_dtype(self.parts).itemsize))
                    v.put(total, b.add(out, place))

            self._down(v, b, m, tile)
            return b.zext(v.any(v.inverse(Vector(b.load(fine), np.dtype(bool)))), I64)

        return intrinsic_of(generate, types.int64)

    def move(self) -> Any:
        """Copy the first `live` columns of some rows; of a vector the other lanes become zero where a row is full."""

        def generate(
            context: Any, b: Any, source: Any, stride: Any, target: Any, other: Any, rows: Any, live: Any, full: Any
        ) -> None:
            v, zero = self._lanes(context, b)
            mask = v.below(b.select(b.icmp_signed("!=", full, I64(0)), I64(self.count), live)) if self.masked else None
            some = v.below(live) if self.masked else None
            with v.rows(I64(0), rows) as i:
                x = v.gather(self.parts, b.add(source, b.mul(i, stride)), some, zero)
                v.scatter(x, b.add(target, b.mul(i, other)), mask)

        return intrinsic_of(generate)

    def update(self) -> Any:
        """Pivot k on a vector of columns, from column j on, of a packed matrix of n rows: an intrinsic.

            a_kj ← s ⊗ a_kj,    a_ij ← a_ij ⊕ a_ik ⊗ a_kj,    a_ik ← a_ik ⊗ s,    a_kk ← s

        The pivot's column is zero before the sweep, which leaves in it just its product. It is read until the vector
        that holds it is done, which comes last.
        """

        def generate(
            context: Any, b: Any, matrix: Any, width: Any, n: Any, k: Any, j: Any, star: Any, one: Any
        ) -> None:
            v, zero = self._lanes(context, b)
            unit, item = self._unit(context, v, one), I64(record_dtype(self.parts).itemsize)
            at = v.splat(b.trunc(b.sub(k, j), ir.IntType(32)), np.dtype("i4"))
            here = v.equal(Vector(v.numbers(), np.dtype("i4")), at)

            def place(i: Any, column: Any) -> Any:
                return b.add(matrix, b.add(b.mul(i, width), b.mul(column, item)))

            def with_pivot(new: Element, old: Element) -> Element:
                return tuple(v.where(here, x, y) for x, y in zip(new, old, strict=True))

            s = v.spread(self.parts, star)
            row = with_pivot(s, self._one(self.scaled, v, s, v.gather(self.parts, place(k, j), None, zero)))
            with v.rows(I64(0), n) as i:
                factor = v.spread(self.parts, place(i, k))
                x = with_pivot(zero, v.gather(self.parts, place(i, j), None, zero))
                v.scatter(self._one(self.combine, v, x, factor, row, unit), place(i, j), None)
            v.scatter(row, place(k, j), None)  # over what the sweep left in the pivot's own row

        return intrinsic_of(generate)

    def room(self, rows: int, width: int) -> Any:
        """The address of memory for some rows on the stack of the function: an intrinsic."""
        return self.memory(rows * width * record_dtype(self.parts).itemsize)

    @staticmethod
    def memory(size: int) -> Any:
        """The address of some bytes on the stack of the function: an intrinsic."""

        def generate(context: Any, b: Any) -> Any:
            with b.goto_entry_block():  # Numba's own way fills it with zeros, an element at a time
                memory = b.alloca(ir.ArrayType(ir.IntType(8), size))
            memory.align = 64
            return b.ptrtoint(memory, I64)

        return intrinsic_of(generate, types.int64)

    def _down(self, v: Lanes, b: Any, m: Any, tile: Callable[[Any, int], None]) -> None:
        """Call `tile(first, height)` for all rows: as many as stay in registers, and then halves of that."""
        height = self.height
        whole = b.and_(m, I64(-height))
        with v.rows(I64(0), whole, height) as first:
            tile(first, height)
        while height > 1:
            height //= 2
            with b.if_then(b.icmp_signed("!=", b.and_(m, I64(height)), I64(0))):
                tile(b.and_(m, I64(-2 * height)), height)

    def _read(self, b: Any, slots: Sequence[Any]) -> Element:
        return tuple(Vector(b.load(slot), part) for slot, part in zip(slots, self.parts, strict=True))

    def _unit(self, context: Any, v: Lanes, one: Any) -> Vector:
        """1 of component 0, which is not known to the compiler."""
        part = self.parts[0]
        return v.splat(context.cast(v.builder, one, types.int64, from_dtype(part)), part)


def intrinsic_of(generate: Callable[..., Any], result: Any = types.void) -> Any:
    """An intrinsic of a tuple of integers, which `generate` gets as 64-bit ones."""

    def made(typing: Any, given: Any) -> Any:
        def called(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
            numbers = [
                context.cast(b, value, kind, types.int64)
                for value, kind in zip(cgutils.unpack_tuple(b, arguments[0]), given, strict=True)
            ]
            found = generate(context, b, *numbers)
            return context.get_dummy_value() if found is None else found

        return result(given), called

    return intrinsic(made)
