"""A row vector times one matrix after the other, on vectors of the processor: the steps of a chain, as intrinsics.

`Steps` is for any algebra: ⊗ of two rows, and x ⊗ A with the term that won each entry. `StepPowers` is for log-sum-exp.
It keeps a row as powers, relative to the largest one, and as logarithms; r is the logarithm of that largest one:

    g = Σ_k p_k F_k    d = c + log g    m = max d    l = d − m    p = exp(l)    r ← r + m    x = r + d

F and c are the powers of A and its column maxima (lane_powers.py). So one logarithm and one power are enough for an
entry, and the sums r are the only large numbers. The powers p and F are *sure* if none was lost: each is 0 where its
logarithm is −∞, and else at least `floor`, so that a product of two is a normal number. Then g holds all its terms. If
they are not sure, an entry is believed where g is far above what may be lost, and otherwise computed by its terms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from .lane_powers import Powers
from .lane_rows import Rows, intrinsic_of
from .lanes import I32, I64, Lanes, Vector
from .raw import record_dtype


class Steps(Rows):
    """What a chain of any algebra does with rows besides products."""

    def scale(self) -> Any:
        """out ← 0 ⊕ x ⊗ y on a vector of columns, as the term of a product: an intrinsic."""

        def generate(context: Any, b: Any, x: Any, y: Any, out: Any, live: Any, one: Any) -> None:
            v, zero = self._lanes(context, b)
            mask, unit = v.below(live) if self.masked else None, self._unit(context, v, one)
            left, right = (v.gather(self.parts, place, mask, zero) for place in (x, y))
            v.scatter(self._one(self.combine, v, zero, left, right, unit), out, mask)

        return intrinsic_of(generate)

    def winners(self) -> Any:
        """out ← x ⊗ A on a vector of columns, and a byte for each: the least k whose term is the sum: an intrinsic."""

        def generate(
            context: Any, b: Any, x: Any, matrix: Any, row: Any, out: Any, back: Any, n: Any, live: Any, one: Any
        ) -> None:
            v, zero = self._lanes(context, b)
            mask, unit = v.below(live) if self.masked else None, self._unit(context, v, one)
            item, number = I64(record_dtype(self.parts).itemsize), np.dtype("i4")
            slots = [cgutils.alloca_once_value(b, part.value) for part in zero]
            for slot, part in zip(slots, zero, strict=True):
                b.store(part.value, slot)
            nothing = v.constant(np.int32(0)).value
            best = cgutils.alloca_once_value(b, nothing)
            b.store(nothing, best)
            with v.rows(I64(0), n) as k:
                old = self._read(b, slots)
                x_k = v.spread(self.parts, b.add(x, b.mul(k, item)))
                total = self._one(self.combine, v, old, x_k, v.gather(self.parts, b.add(matrix, b.mul(k, row)), mask,
                                                                      zero), unit)
                better = v.constant(np.bool_(False))
                for new, before, slot in zip(total, old, slots, strict=True):
                    better = v.either(better, v.not_equal(new, before))
                    b.store(new.value, slot)
                here = v.splat(b.trunc(k, I32), number)
                b.store(v.where(better, here, Vector(b.load(best), number)).value, best)
            v.scatter(self._read(b, slots), out, mask)
            v.store(v.convert(Vector(b.load(best), number), "uint8"), back, mask)

        return intrinsic_of(generate)


class StepPowers(Powers):
    """The steps of a chain over log-sum-exp."""

    @property
    def floor(self) -> float:
        """The least power of which the product with another such power is a normal number."""
        return float(2.0 ** (int(np.finfo(self.dtype).minexp) // 2 + 1))

    def _proper(self, v: Lanes, x: Vector) -> Vector:
        """Whether sums of two elements stay finite, or are −∞: not of +∞, NaN and the largest numbers."""
        fine = v.less_equal(v.absolute(x), self._number(v, self.largest))
        return v.either(fine, v.equal(x, self._number(v, -math.inf)))

    def _sure(self, v: Lanes, power: Vector, x: Vector) -> Vector:
        """Whether a power of an element tells what it is."""
        return v.either(v.less_equal(self._number(v, self.floor), power), v.equal(x, self._number(v, -math.inf)))

    def certain(self) -> Any:
        """2 if the powers of a vector of columns are sure, 1 if not, 0 if an element is too large: an intrinsic."""

        def generate(
            context: Any, b: Any, given: Any, stride: Any, k: Any, live: Any, powers: Any, width: Any
        ) -> Any:
            v = Lanes(context, b, self.count, self.masked)
            mask, true = self._mask(v, live), v.constant(np.bool_(True)).value
            fine, sure = (cgutils.alloca_once_value(b, true) for _ in range(2))
            b.store(true, fine)
            b.store(true, sure)
            with v.rows(I64(0), k) as i:
                x = self._read_row(v, b.add(given, b.mul(i, stride)), mask)
                power = v.load(b.add(powers, b.mul(i, width)), self.dtype, None, self._number(v, 0))
                b.store(b.and_(b.load(fine), self._proper(v, x).value), fine)
                b.store(b.and_(b.load(sure), self._sure(v, power, x).value), sure)
            return self._grade(v, b.load(fine), b.load(sure))

        return intrinsic_of(generate, types.int64)

    @staticmethod
    def _grade(v: Lanes, fine: Any, sure: Any) -> Any:
        b, bits = v.builder, np.dtype(bool)
        unsure = v.any(v.inverse(Vector(sure, bits)))
        return b.select(v.any(v.inverse(Vector(fine, bits))), I64(0), b.select(unsure, I64(1), I64(2)))

    def terms(self) -> Any:
        """d ← c + log Σ_k p_k F_k on a vector of columns: an intrinsic."""

        def generate(
            context: Any, b: Any, p: Any, logs: Any, powers: Any, width: Any, tops: Any, matrix: Any, row: Any, d: Any,
            n: Any, live: Any, sure: Any,
        ) -> None:
            v = Lanes(context, b, self.count, self.masked)
            none, nothing = self._number(v, -math.inf), self._number(v, 0)
            g = self._sum_of_products(v, p, powers, width, n)
            c = v.load(tops, self.dtype, None, nothing)
            lost = v.equal(g, nothing)
            found = v.where(lost, none, v.add(c, self.log(v, g, 2 * self.lift)))
            slot = cgutils.alloca_once_value(b, found.value)
            b.store(found.value, slot)
            with b.if_then(b.icmp_signed("==", sure, I64(0)), likely=False):
                mask = self._mask(v, live)
                doubt = v.less(g, self._number(v, self.least))
                if mask is not None:
                    doubt = v.both(doubt, Vector(mask, np.dtype(bool)))
                with b.if_then(v.any(doubt), likely=False):
                    exact = self._by_terms(v, logs, matrix, row, n, mask)
                    b.store(v.where(doubt, exact, found).value, slot)
            v.store(Vector(b.load(slot), self.dtype), d, None)

        return intrinsic_of(generate)

    def _sum_of_products(self, v: Lanes, p: Any, powers: Any, width: Any, n: Any) -> Vector:
        """Σ_k p_k F_k in four sums side by side: one would wait for each of its additions."""
        b, size, nothing = v.builder, I64(self.dtype.itemsize), self._number(v, 0)
        slots = [cgutils.alloca_once_value(b, nothing.value) for _ in range(4)]
        for slot in slots:
            b.store(nothing.value, slot)

        def take(slot: Any, k: Any) -> None:
            p_k, = v.spread(self.parts, b.add(p, b.mul(k, size)))
            row = v.load(b.add(powers, b.mul(k, width)), self.dtype, None, nothing)
            b.store(self._multiply_add(v, Vector(b.load(slot), self.dtype), p_k, row).value, slot)

        whole = b.and_(n, I64(-4))
        with v.rows(I64(0), whole, 4) as k:
            for i, slot in enumerate(slots):
                take(slot, b.add(k, I64(i)))
        with v.rows(whole, n) as k:
            take(slots[0], k)
        one, two, three, four = (Vector(b.load(slot), self.dtype) for slot in slots)
        return v.add(v.add(one, two), v.add(three, four))

    def settle(self) -> Any:
        """x ← r + d, and l, p and r of the next step; d joins the emissions before or after: an intrinsic.

        `emitted` is 1 where the row e joins d itself, 2 where it joins what goes on only, 0 where there is none. The
        result is that of `certain` for the new powers. r is a double at an address.
        """

        def generate(
            context: Any, b: Any, d: Any, e: Any, logs: Any, p: Any, x: Any, r: Any, n: Any, emitted: Any
        ) -> Any:
            v = Lanes(context, b, self.count, self.masked)
            none, true, size = self._number(v, -math.inf), v.constant(np.bool_(True)).value, I64(self.dtype.itemsize)
            most, fine, sure = (cgutils.alloca_once_value(b, y) for y in (none.value, true, true))
            for slot, value in ((most, none.value), (fine, true), (sure, true)):
                b.store(value, slot)
            goes_on = cgutils.alloca_once(b, none.value.type)
            with v.rows(I64(0), n, v.count) as j:
                along, mask = b.mul(j, size), self._mask(v, b.sub(n, j))
                here = b.add(d, along)
                found = v.load(here, self.dtype, None, none)
                b.store(found.value, goes_on)
                with b.if_then(b.icmp_signed("!=", emitted, I64(0))):
                    row = self._read_row(v, b.add(e, along), mask)
                    b.store(b.and_(b.load(fine), self._proper(v, row).value), fine)
                    absorbed = v.either(v.equal(found, none), v.equal(row, none))
                    joined = v.where(absorbed, none, v.add(found, row))
                    b.store(joined.value, goes_on)
                    with b.if_then(b.icmp_signed("==", emitted, I64(1))):
                        v.store(joined, here, None)
                state = Vector(b.load(goes_on), self.dtype)
                if mask is not None:
                    state = v.where(Vector(mask, np.dtype(bool)), state, none)
                v.store(state, b.add(logs, along), None)
                b.store(v.maximum(Vector(b.load(most), self.dtype), state).value, most)
            top = self._finite(v, self._greatest(v, Vector(b.load(most), self.dtype)))
            total = b.inttoptr(r, ir.DoubleType().as_pointer())
            before = b.load(total)
            offset = v.splat(self._narrow(b, before), self.dtype)
            b.store(b.and_(b.load(fine), v.less_equal(v.absolute(offset), self._number(v, self.largest)).value), fine)
            with v.rows(I64(0), n, v.count) as j:
                along, mask = b.mul(j, size), self._mask(v, b.sub(n, j))
                value = v.add(offset, v.load(b.add(d, along), self.dtype, None, none))
                v.store(v.negative(value) if self.negated else value, b.add(x, along), mask)
                place = b.add(logs, along)
                rest = v.subtract(v.load(place, self.dtype, None, none), top)
                power = self.exp(v, rest, self.lift)
                v.store(power, b.add(p, along), None)
                v.store(v.negative(rest) if self.negated else rest, place, None)
                b.store(b.and_(b.load(sure), self._sure(v, power, rest).value), sure)
            highest = b.extract_element(top.value, I32(0))
            wide = highest if self.dtype.itemsize == 8 else b.fpext(highest, ir.DoubleType())
            b.store(b.fadd(before, wide), total)
            return self._grade(v, b.load(fine), b.load(sure))

        return intrinsic_of(generate, types.int64)

    def start(self) -> Any:
        """d ← x on a vector of columns, −∞ after them; 0 if an element is too large: an intrinsic."""

        def generate(context: Any, b: Any, x: Any, d: Any, live: Any) -> Any:
            v = Lanes(context, b, self.count, self.masked)
            row = self._read_row(v, x, self._mask(v, live))
            v.store(row, d, None)
            return b.zext(b.not_(v.any(v.inverse(self._proper(v, row)))), I64)

        return intrinsic_of(generate, types.int64)

    def _narrow(self, b: Any, x: Any) -> Any:
        return x if self.dtype.itemsize == 8 else b.fptrunc(x, ir.FloatType())
