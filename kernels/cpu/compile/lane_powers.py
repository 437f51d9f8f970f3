"""Log-sum-exp of small matrices on vectors: powers and logarithms as polynomials, and the steps between them.

    r_i = max_k a_ik    c_j = max_k b_kj    E = exp(A − r)    F = exp(B − c)    G = E F    A ⊗ B = r + c + log G

E and F are multiplied by 2^lift, so that powers down to 2^(lowest − lift) are numbers. `semiring.kernels.numpy.logsum`
has the equations of the certificate: an entry is believed where G is far above all that may be lost. The others are
computed by their terms at once: m = max_k (a_ik + b_kj), and then m + log Σ exp(a_ik + b_kj − m).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils

from .lane_rows import Rows, intrinsic_of
from .lanes import I64, Lanes, Vector

TERMS = 64  # of an entry at most
HALVES = {4: 0.693359375, 8: 0.693147180369123816490}  # log 2 in a few bits, of which multiples are exact
RESTS = {4: -2.12194440e-4, 8: 1.90821492927058770002e-10}  # and what it lacks
ORDERS = {4: (7, 5), 8: (13, 10)}  # of the polynomials for exp and log


class Powers(Rows):
    """What the template of log-sum-exp does with rows, as intrinsics for one dtype.

    Parameters
    ----------
    dtype : scalar class
    count, height, masked
        As for `Rows`.
    binary, negated : bool
        The form of log-sum-exp: see `semiring.kernels.lowering.logsum.LogSum`.
    fused : bool
        Whether the processor multiplies and adds in one instruction.
    inside : callable
        As for `Rows`.
    """

    def __init__(
        self, dtype: Any, count: int, height: int, masked: bool, binary: bool, negated: bool, fused: bool, inside: Any
    ):
        self.dtype, self.binary, self.negated, self.fused = np.dtype(dtype), binary, negated, fused
        none = self.dtype.type(0)
        super().__init__((dtype,), (none,), count, height, masked, self._multiply_add, self._multiply_add, inside)
        limits = np.finfo(self.dtype)
        self.lift = int(limits.maxexp - 2 - (TERMS - 1).bit_length()) // 2
        self.lowest = int(limits.minexp) + 1 - self.lift  # exponent of the least power
        #: all that underflows in G is less than the rounding of a number from here on
        self.least = float(16 * TERMS * float(limits.tiny) * 2.0**self.lift / float(limits.eps))
        self.largest = float(limits.max) / 4  # beyond it sums of maxima may overflow

    def _multiply_add(self, v: Lanes, x: Vector, a: Vector, b: Vector, unit: Any = None) -> Vector:
        """a · b + x."""
        return v.fma(a, b, x) if self.fused else v.add(v.multiply(a, b), x)

    def _number(self, v: Lanes, x: float) -> Vector:
        return v.constant(self.dtype.type(x))

    def _polynomial(self, v: Lanes, x: Vector, coefficients: Sequence[float]) -> Vector:
        """That of falling powers, by Horner."""
        total = self._number(v, coefficients[0])
        for each in coefficients[1:]:
            total = self._multiply_add(v, self._number(v, each), total, x)
        return total

    def exp(self, v: Lanes, x: Vector, lift: int) -> Vector:
        """2^lift times the power of x ≤ 0, or 0 where that is below the least normal number."""
        size, unit = self.dtype.itemsize, 1.0 if self.binary else math.log(2)
        lowest = self._number(v, (self.lowest + self.lift - lift) * unit)
        y = v.maximum(lowest, x)
        if self.binary:
            k = v.whole("rint", y)
            rest = v.multiply(v.subtract(y, k), self._number(v, math.log(2)))
        else:
            k = v.whole("rint", v.multiply(y, self._number(v, 1 / math.log(2))))
            rest = self._multiply_add(v, y, k, self._number(v, -HALVES[size]))
            rest = self._multiply_add(v, rest, k, self._number(v, -RESTS[size]))
        power = self._polynomial(v, rest, [1 / math.factorial(d) for d in range(ORDERS[size][0], -1, -1)])
        whole, bits, bias = self._integers(v)
        b = v.builder
        exponent = b.add(b.fptosi(k.value, whole), self._whole(whole, bias + lift))
        scale = b.bitcast(b.shl(exponent, self._whole(whole, bits)), power.value.type)
        return v.where(v.less(x, lowest), self._number(v, 0), v.multiply(power, Vector(scale, self.dtype)))

    def log(self, v: Lanes, x: Vector, lift: int) -> Vector:
        """The logarithm of x / 2^lift, for a normal number x > 0."""
        size, (whole, bits, _), b = self.dtype.itemsize, self._integers(v), v.builder
        root = int(np.array(math.sqrt(0.5), self.dtype).view(f"i{size}"))  # x = 2^k y, and y is between √½ and √2
        given = b.bitcast(x.value, whole)
        k = b.ashr(b.sub(given, self._whole(whole, root)), self._whole(whole, bits))
        y = Vector(b.bitcast(b.sub(given, b.shl(k, self._whole(whole, bits))), x.value.type), self.dtype)
        k = Vector(b.sitofp(b.sub(k, self._whole(whole, lift)), x.value.type), self.dtype)
        one = self._number(v, 1)
        s = v.divide(v.subtract(y, one), v.add(y, one))
        square = v.multiply(s, s)
        series = self._polynomial(v, square, [2 / (2 * d + 1) for d in range(ORDERS[size][1], 0, -1)])
        found = self._multiply_add(v, v.multiply(s, self._number(v, 2)), v.multiply(series, square), s)
        if self.binary:
            return self._multiply_add(v, k, found, self._number(v, 1 / math.log(2)))
        found = self._multiply_add(v, found, k, self._number(v, RESTS[size]))
        return self._multiply_add(v, found, k, self._number(v, HALVES[size]))

    def _integers(self, v: Lanes) -> tuple[Any, int, int]:
        """Integers of the size of a number; bits of its fraction; what is added to its exponent."""
        limits = np.finfo(self.dtype)
        kind = ir.IntType(8 * self.dtype.itemsize)
        return ir.VectorType(kind, v.count), int(limits.nmant), int(limits.maxexp) - 1

    @staticmethod
    def _whole(kind: Any, x: int) -> Any:
        return ir.Constant(kind, [ir.Constant(kind.element, x)] * kind.count)

    def _read_row(self, v: Lanes, address: Any, mask: Any) -> Vector:
        """Numbers of a row, −∞ where it ends; with the sign of a log-sum-exp that is not negated."""
        fill = self._number(v, math.inf if self.negated else -math.inf)
        x = v.load(address, self.dtype, mask, fill)
        return v.negative(x) if self.negated else x

    def _finite(self, v: Lanes, x: Vector) -> Vector:
        """A maximum, or 0 where there is no number."""
        return v.where(v.equal(x, self._number(v, -math.inf)), self._number(v, 0), x)

    def _greatest(self, v: Lanes, x: Vector) -> Vector:
        """The maximum of all lanes in each of them."""
        step = v.count // 2
        while step:
            x = v.maximum(x, Vector(v.shuffle(x.value, x.value, [i ^ step for i in range(v.count)]), x.dtype))
            step //= 2
        return x

    def _mask(self, v: Lanes, live: Any) -> Any:
        return v.below(live) if self.masked else None

    def rows(self) -> Any:
        """E ← 2^lift exp(A − r), r ← maxima of the rows of A, whose elements lie side by side: an intrinsic."""

        def generate(
            context: Any, b: Any, a: Any, stride: Any, m: Any, k: Any, powers: Any, width: Any, top: Any
        ) -> None:
            v = Lanes(context, b, self.count, self.masked)
            size = I64(self.dtype.itemsize)
            with v.rows(I64(0), m) as i:
                row, target = b.add(a, b.mul(i, stride)), b.add(powers, b.mul(i, width))
                most = cgutils.alloca_once_value(b, self._number(v, -math.inf).value)
                b.store(self._number(v, -math.inf).value, most)
                with v.rows(I64(0), k, v.count) as j:
                    x = self._read_row(v, b.add(row, b.mul(j, size)), self._mask(v, b.sub(k, j)))
                    b.store(v.maximum(Vector(b.load(most), self.dtype), x).value, most)
                r = self._finite(v, self._greatest(v, Vector(b.load(most), self.dtype)))
                kind = r.value.type.element
                place = b.inttoptr(b.add(top, b.mul(i, size)), kind.as_pointer())
                b.store(b.extract_element(r.value, ir.Constant(ir.IntType(32), 0)), place, align=1)
                with v.rows(I64(0), k, v.count) as j:
                    x = self._read_row(v, b.add(row, b.mul(j, size)), self._mask(v, b.sub(k, j)))
                    v.store(self.exp(v, v.subtract(x, r), self.lift), b.add(target, b.mul(j, size)), None)

        return intrinsic_of(generate)

    def columns(self) -> Any:
        """F ← 2^lift exp(B − c), c ← maxima of columns: of a vector of them: an intrinsic."""

        def generate(
            context: Any, b: Any, given: Any, stride: Any, k: Any, live: Any, powers: Any, width: Any, top: Any
        ) -> None:
            v = Lanes(context, b, self.count, self.masked)
            mask = self._mask(v, live)
            most = cgutils.alloca_once_value(b, self._number(v, -math.inf).value)
            b.store(self._number(v, -math.inf).value, most)
            with v.rows(I64(0), k) as i:
                x = self._read_row(v, b.add(given, b.mul(i, stride)), mask)
                b.store(v.maximum(Vector(b.load(most), self.dtype), x).value, most)
            c = self._finite(v, Vector(b.load(most), self.dtype))
            v.store(c, top, None)
            with v.rows(I64(0), k) as i:
                x = self._read_row(v, b.add(given, b.mul(i, stride)), mask)
                v.store(self.exp(v, v.subtract(x, c), self.lift), b.add(powers, b.mul(i, width)), None)

        return intrinsic_of(generate)

    def entries(self) -> Any:
        """C ← r + c + log G on a vector of columns of all rows, or C ⊕ that; by terms where G is too small."""

        def generate(
            context: Any, b: Any, a: Any, a_row: Any, given: Any, b_row: Any, products: Any, width: Any, r: Any, c: Any,
            target: Any, stride: Any, m: Any, k: Any, live: Any, more: Any,
        ) -> None:
            v = Lanes(context, b, self.count, self.masked)
            mask, size = self._mask(v, live), I64(self.dtype.itemsize)
            kind = self._number(v, 0).value.type
            right = v.load(c, self.dtype, None, self._number(v, 0))
            largest = self._number(v, self.largest)
            fine_right = v.less_equal(v.absolute(right), largest)
            slot = cgutils.alloca_once(b, kind)
            with v.rows(I64(0), m) as i:
                left, = v.spread(self.parts, b.add(r, b.mul(i, size)))
                g = v.load(b.add(products, b.mul(i, width)), self.dtype, None, self._number(v, 0))
                fine = v.both(v.less_equal(self._number(v, self.least), g), fine_right)
                fine = v.both(fine, v.less_equal(v.absolute(left), largest))
                found = v.add(v.add(left, right), self.log(v, g, 2 * self.lift))
                b.store(found.value, slot)
                doubt = v.inverse(fine)
                if mask is not None:
                    doubt = v.both(doubt, Vector(mask, np.dtype(bool)))
                with b.if_then(v.any(doubt), likely=False):
                    exact = self._by_terms(v, b.add(a, b.mul(i, a_row)), given, b_row, k, mask)
                    b.store(v.where(doubt, exact, found).value, slot)
                place = b.add(target, b.mul(i, stride))
                with b.if_then(b.icmp_signed("!=", more, I64(0))):
                    old = self._read_row(v, place, mask)
                    b.store(self._sum(v, Vector(b.load(slot), self.dtype), old).value, slot)
                result = Vector(b.load(slot), self.dtype)
                v.store(v.negative(result) if self.negated else result, place, mask)

        return intrinsic_of(generate)

    def _by_terms(self, v: Lanes, a: Any, given: Any, b_row: Any, k: Any, mask: Any) -> Vector:
        """Entries of a row by the terms themselves: −∞ of none, +∞ of an infinite one."""
        b, size, none = v.builder, I64(self.dtype.itemsize), self._number(v, -math.inf)
        most, total = (cgutils.alloca_once(b, none.value.type) for _ in range(2))
        b.store(none.value, most)
        b.store(self._number(v, 0).value, total)

        def term(step: Any) -> Vector:
            left, = v.spread(self.parts, b.add(a, b.mul(step, size)))
            left = v.negative(left) if self.negated else left
            right = self._read_row(v, b.add(given, b.mul(step, b_row)), mask)
            absorbed = v.either(v.equal(left, none), v.equal(right, none))
            return v.where(absorbed, none, v.add(left, right))

        with v.rows(I64(0), k) as step:
            b.store(v.maximum(Vector(b.load(most), self.dtype), term(step)).value, most)
        top = Vector(b.load(most), self.dtype)
        with v.rows(I64(0), k) as step:
            power = self.exp(v, v.subtract(term(step), self._finite(v, top)), 0)
            b.store(v.add(Vector(b.load(total), self.dtype), power).value, total)
        found = v.add(top, self.log(v, Vector(b.load(total), self.dtype), 0))
        return v.where(v.infinite(top), top, found)

    def _sum(self, v: Lanes, x: Vector, y: Vector) -> Vector:
        """log(eˣ + eʸ)."""
        high, low = v.maximum(x, y), v.minimum(x, y)
        power = self.exp(v, v.subtract(low, high), 0)
        found = v.add(high, self.log(v, v.add(self._number(v, 1), power), 0))
        return v.where(v.infinite(high), high, found)
