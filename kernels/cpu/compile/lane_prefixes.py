"""Prefixes of log-sum-exp on vectors: a lane for each sequence, which keeps a maximum and a sum of powers.

    d = x − m    e = exp(−|d|)    c ← c + e, or c e + 1 if d > 0    m ← max(m, x)    m + log c is the sum so far

So an element takes one power and one logarithm. c is at least 1 from the first element on that is not −∞, so nothing
that matters is lost to underflow. A *sum* in memory is a vector of maxima and one of sums, side by side.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from .lane_folds import started
from .lane_powers import Powers
from .lane_rows import intrinsic_of
from .lanes import I1, I32, I64, Lanes, Vector


class PowerPrefixes(Powers):
    """What the template of prefixes of log-sum-exp is written with, as intrinsics; parameters as for `Powers`."""

    def block(self, adjacent: bool, written: bool) -> Any:
        """out ← base ⊕ x₀, base ⊕ x₀ ⊕ x₁, …; total ← x₀ ⊕ x₁ ⊕ … of n elements of some lanes: an intrinsic.

        It is 1 if something is not an element. Elements are `hop` bytes apart, and lanes `step`, or lie side by side
        if `adjacent`. Only if `written`, `out` is written, where elements lie as in x.
        """

        def generate(
            context: Any, b: Any, x: Any, out: Any, hop: Any, n: Any, step: Any, live: Any, base: Any, total: Any
        ) -> Any:
            v = self._vectors(context, b)
            mask, fine = v.below(live), started(v, (v.constant(np.bool_(True)),))[0]
            one, nothing = self._number(v, 1), self._number(v, 0)
            most, powers = self._read_sum(v, base)
            slots = m, c, own = started(v, (most, powers, nothing))

            def read(slot: Any) -> Vector:
                return Vector(b.load(slot), self.dtype)

            def places(begin: Any) -> Any:
                lanes = b.mul(v.numbers(I64), v.splat(step, np.dtype("i8")).value)
                return b.add(lanes, v.splat(begin, np.dtype("i8")).value)

            with v.rows(I64(0), n) as j:
                along = b.mul(j, hop)
                if adjacent:
                    given = self._read_row(v, b.add(x, along), mask)
                else:
                    given = self._gathered(v, places(b.add(x, along)), mask)
                b.store(b.and_(b.load(fine), self.inside(v, v.negative(given) if self.negated else given).value), fine)
                old = read(m)
                rises = v.less(old, given)
                power = self.exp(v, v.negative(v.absolute(v.subtract(given, old))), 0)
                for slot in (c, own):
                    before = read(slot)
                    up = self._multiply_add(v, one, before, power)
                    b.store(v.where(rises, up, v.add(before, power)).value, slot)
                b.store(v.maximum(old, given).value, m)
                if written:
                    found = self._value(v, read(m), read(c))
                    if adjacent:
                        v.store(found, b.add(out, along), mask)
                    else:
                        self._scatter(v, found, places(b.add(out, along)), mask)
            self._write_sum(v, total, read(slots[0]), read(own))
            strange = v.both(v.inverse(Vector(b.load(fine), np.dtype(bool))), Vector(mask, np.dtype(bool)))
            return b.zext(v.any(strange), I64)

        return intrinsic_of(generate, types.int64)

    def joined(self) -> Any:
        """to ← x ⊕ y, of sums in memory: an intrinsic."""

        def generate(context: Any, b: Any, x: Any, y: Any, to: Any) -> None:
            v = self._vectors(context, b)
            (m, c), (n, d) = self._read_sum(v, x), self._read_sum(v, y)
            rises = v.less(m, n)
            power = self.exp(v, v.negative(v.absolute(v.subtract(n, m))), 0)
            low, high = v.where(rises, c, d), v.where(rises, d, c)
            self._write_sum(v, to, v.maximum(m, n), self._multiply_add(v, high, low, power))

        return intrinsic_of(generate)

    def copied(self) -> Any:
        """to ← x, of sums in memory: an intrinsic."""

        def generate(context: Any, b: Any, x: Any, to: Any) -> None:
            v = self._vectors(context, b)
            self._write_sum(v, to, *self._read_sum(v, x))

        return intrinsic_of(generate)

    def started(self) -> Any:
        """to ← the sum of one element for each of some lanes, which lie side by side; of none if `x` is 0."""

        def generate(context: Any, b: Any, x: Any, live: Any, to: Any) -> None:
            v = self._vectors(context, b)
            self._write_sum(v, to, self._number(v, -math.inf), self._number(v, 0))
            with b.if_then(b.icmp_signed("!=", x, I64(0))):
                addresses = b.add(b.mul(v.numbers(I64), self._whole(ir.VectorType(I64, v.count), self.dtype.itemsize)),
                                  v.splat(x, np.dtype("i8")).value)
                self._write_sum(v, to, self._gathered(v, addresses, v.below(live)), self._number(v, 1))

        return intrinsic_of(generate)

    def ended(self) -> Any:
        """out ← the elements that the sums of some lanes are, side by side: an intrinsic."""

        def generate(context: Any, b: Any, x: Any, live: Any, out: Any) -> None:
            v = self._vectors(context, b)
            addresses = b.add(b.mul(v.numbers(I64), self._whole(ir.VectorType(I64, v.count), self.dtype.itemsize)),
                              v.splat(out, np.dtype("i8")).value)
            self._scatter(v, self._value(v, *self._read_sum(v, x)), addresses, v.below(live))

        return intrinsic_of(generate)

    def _vectors(self, context: Any, b: Any) -> Lanes:
        return Lanes(context, b, self.count, self.masked)

    def _value(self, v: Lanes, m: Vector, c: Vector) -> Vector:
        """m + log c as an element."""
        found = v.where(v.infinite(m), m, v.add(m, self.log(v, c, 0)))
        return v.negative(found) if self.negated else found

    def _read_sum(self, v: Lanes, address: Any) -> tuple[Vector, Vector]:
        none, size = self._number(v, 0), I64(self.count * self.dtype.itemsize)
        return v.load(address, self.dtype, None, none), v.load(v.builder.add(address, size), self.dtype, None, none)

    def _write_sum(self, v: Lanes, address: Any, m: Vector, c: Vector) -> None:
        v.store(m, address, None)
        v.store(c, v.builder.add(address, I64(self.count * self.dtype.itemsize)), None)

    def _gathered(self, v: Lanes, addresses: Any, mask: Any) -> Vector:
        """Numbers from anywhere, −∞ where the mask is not set; with the sign of a log-sum-exp that is not negated."""
        fill = self._number(v, math.inf if self.negated else -math.inf)
        pointers, bits, suffix = self._pointers(v, addresses)
        kind = ir.FunctionType(fill.value.type, [pointers.type, I32, bits, fill.value.type])
        gather = cgutils.get_or_insert_function(v.builder.module, kind, f"llvm.masked.gather.{suffix}")
        item = ir.Constant(I32, self.dtype.itemsize)
        x = Vector(v.builder.call(gather, [pointers, item, mask, fill.value]), self.dtype)
        return v.negative(x) if self.negated else x

    def _scatter(self, v: Lanes, x: Vector, addresses: Any, mask: Any) -> None:
        """Write numbers anywhere, where the mask is set."""
        pointers, bits, suffix = self._pointers(v, addresses)
        kind = ir.FunctionType(ir.VoidType(), [x.value.type, pointers.type, I32, bits])
        scatter = cgutils.get_or_insert_function(v.builder.module, kind, f"llvm.masked.scatter.{suffix}")
        v.builder.call(scatter, [x.value, pointers, ir.Constant(I32, self.dtype.itemsize), mask])

    def _pointers(self, v: Lanes, addresses: Any) -> tuple[Any, Any, str]:
        """Addresses as pointers, the type of their mask, and how functions of both are called."""
        number = ir.FloatType() if self.dtype.itemsize == 4 else ir.DoubleType()
        pointers = v.builder.inttoptr(addresses, ir.VectorType(number.as_pointer(), self.count))
        letter = f"v{self.count}f{8 * self.dtype.itemsize}"
        return pointers, ir.VectorType(I1, self.count), f"{letter}.v{self.count}p0"


