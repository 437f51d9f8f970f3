"""Folds of arrays on vectors: an operation of an algebra along lines of adjacent elements, or down rows of them.

The templates of sums are written with these intrinsics (../dense/folds_template.py). Each folds a piece that stays in
a cache, and tells whether all that it read are elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numba.core import cgutils, types

from .lane_powers import Powers
from .lane_rows import Rows, intrinsic_of
from .lanes import I64, Element, Lanes, Vector
from .raw import record_dtype

SIDE_BY_SIDE = 4  # results that are computed at once, since each operation waits for the one before it


class Folds(Rows):
    """Pieces of folds by an operation that commutes.

    Parameters
    ----------
    components, count, masked, inside
        As for `Rows`.
    neutral : tuple
        The neutral element, a NumPy scalar for each component.
    fold : callable
        Text of the generated module over `Lanes`: x ∘ t.
    given : scalar class, optional
        Of the elements in memory; default: `components`, to which they are converted before anything else.
    """

    def __init__(
        self, components: Sequence[Any], neutral: Sequence[Any], count: int, masked: bool, fold: Callable[..., Any],
        inside: Callable[..., Any], given: Any = None,
    ):
        super().__init__(components, neutral, count, 1, masked, fold, fold, inside)
        self.given = [np.dtype(given)] if given else self.parts

    def line(self) -> Any:
        """out ← x₀ ∘ x₁ ∘ … of whole vectors and `live` elements more, which lie side by side: an intrinsic."""

        def generate(context: Any, b: Any, place: Any, _top: Any, out: Any, vectors: Any, live: Any) -> Any:
            v, neutral = self._lanes(context, b)
            fine, size = self._fine(v), I64(self.count * record_dtype(self.given).itemsize)
            sums = [self._slots(v, neutral) for _ in range(SIDE_BY_SIDE)]

            def take(slots: list[Any], number: Any, mask: Any = None) -> None:
                self._take(v, slots, fine, b.add(place, b.mul(number, size)), mask, neutral)

            whole = b.and_(vectors, I64(-SIDE_BY_SIDE))
            with v.rows(I64(0), whole, SIDE_BY_SIDE) as number:
                for i, slots in enumerate(sums):
                    take(slots, b.add(number, I64(i)))
            with v.rows(whole, vectors) as number:
                take(sums[0], number)
            if self.masked:
                with b.if_then(b.icmp_signed("!=", live, I64(0))):
                    take(sums[0], vectors, v.below(live))
            found = [self._read(b, slots) for slots in sums]
            while len(found) > 1:
                found = [self._one(self.combine, v, x, y) for x, y in zip(found[::2], found[1::2], strict=True)]
            v.put(v.together(found[0], partial(self._one, self.combine)), out)
            return self._strange(v, fine)

        return intrinsic_of(generate, types.int64)

    def down(self, vectors: int) -> Any:
        """out[j] ← x₀ⱼ ∘ x₁ⱼ ∘ … of so many vectors of columns, the last with `live` of its lanes: an intrinsic.

        Where `more` is not 0, what `out` holds comes first.
        """

        def generate(
            context: Any, b: Any, place: Any, row: Any, _top: Any, out: Any, depth: Any, live: Any, more: Any
        ) -> Any:
            v, neutral = self._lanes(context, b)
            fine, size = self._fine(v), self.count * record_dtype(self.parts).itemsize
            step = self.count * record_dtype(self.given).itemsize
            sums = [self._slots(v, neutral) for _ in range(vectors)]
            mask = v.below(live) if self.masked and vectors == 1 else None
            with b.if_then(b.icmp_signed("!=", more, I64(0))):
                for i, slots in enumerate(sums):
                    self._keep(b, slots, v.gather(self.parts, b.add(out, I64(i * size)), mask, neutral))
            with v.rows(I64(0), depth) as k:
                begin = b.add(place, b.mul(k, row))
                for i, slots in enumerate(sums):
                    self._take(v, slots, fine, b.add(begin, I64(i * step)), mask, neutral)
            for i, slots in enumerate(sums):
                v.scatter(self._read(b, slots), b.add(out, I64(i * size)), mask)
            return self._strange(v, fine)

        return intrinsic_of(generate, types.int64)

    def _take(self, v: Lanes, slots: list[Any], fine: Any, place: Any, mask: Any, neutral: Element) -> None:
        b = v.builder
        x = self._converted(v, v.gather(self.given, place, mask, self._converted(v, neutral, self.given)), self.parts)
        found = self.inside(v, x[0] if len(x) == 1 else x)
        if mask is not None:  # the neutral element of a product may be outside the carrier
            found = v.either(found, v.inverse(Vector(mask, np.dtype(bool))))
        b.store(b.and_(b.load(fine), found.value), fine)
        self._keep(b, slots, self._one(self.combine, v, self._read(b, slots), x))

    @staticmethod
    def _keep(b: Any, slots: list[Any], x: Element) -> None:
        for slot, part in zip(slots, x, strict=True):
            b.store(part.value, slot)

    @staticmethod
    def _converted(v: Lanes, x: Element, parts: Sequence[np.dtype]) -> Element:
        return tuple(v.convert(value, part.name) for value, part in zip(x, parts, strict=True))

    def _slots(self, v: Lanes, start: Element) -> list[Any]:
        return started(v, start)

    def _fine(self, v: Lanes) -> Any:
        return started(v, (v.constant(np.bool_(True)),))[0]

    @staticmethod
    def _strange(v: Lanes, fine: Any) -> Any:
        b = v.builder
        return b.zext(v.any(v.inverse(Vector(b.load(fine), np.dtype(bool)))), I64)


class PowerFolds(Powers):
    """Pieces of log-sum-exp: the maximum m, and the sum of exp(x − m).

    Parameters
    ----------
    dtype, count, height, masked, binary, negated, fused, inside
        As for `Powers`.
    given : scalar class, optional
        As for `Folds`.
    """

    def __init__(
        self, dtype: Any, count: int, height: int, masked: bool, binary: bool, negated: bool, fused: bool, inside: Any,
        given: Any = None,
    ):
        super().__init__(dtype, count, height, masked, binary, negated, fused, inside)
        self.given = np.dtype(given or dtype)

    def _read_row(self, v: Lanes, address: Any, mask: Any) -> Vector:
        fill = v.constant(self.given.type(math.inf if self.negated else -math.inf))
        x = v.convert(v.load(address, self.given, mask, fill), self.dtype.name)
        return v.negative(x) if self.negated else x

    def line(self) -> Any:
        """top ← m, out ← Σ exp(x − m) of whole vectors and `live` elements more: an intrinsic."""

        def generate(context: Any, b: Any, place: Any, top: Any, out: Any, vectors: Any, live: Any) -> Any:
            v = Lanes(context, b, self.count, self.masked)
            size, fine = I64(self.count * self.given.itemsize), started(v, (v.constant(np.bool_(True)),))[0]
            none, nothing = self._number(v, -np.inf), self._number(v, 0)
            most = [started(v, (none,))[0] for _ in range(SIDE_BY_SIDE)]
            sums = [started(v, (nothing,))[0] for _ in range(SIDE_BY_SIDE)]

            def each(work: Callable[[int, Vector], None]) -> None:
                whole = b.and_(vectors, I64(-SIDE_BY_SIDE))
                with v.rows(I64(0), whole, SIDE_BY_SIDE) as number:
                    for i in range(SIDE_BY_SIDE):
                        work(i, self._read_row(v, b.add(place, b.mul(b.add(number, I64(i)), size)), None))
                with v.rows(whole, vectors) as number:
                    work(0, self._read_row(v, b.add(place, b.mul(number, size)), None))
                if self.masked:
                    with b.if_then(b.icmp_signed("!=", live, I64(0))):
                        work(0, self._read_row(v, b.add(place, b.mul(vectors, size)), v.below(live)))

            def higher(i: int, x: Vector) -> None:
                self._look(v, fine, x)
                b.store(v.maximum(Vector(b.load(most[i]), self.dtype), x).value, most[i])

            each(higher)
            found = [Vector(b.load(slot), self.dtype) for slot in most]
            m = self._greatest(v, v.maximum(v.maximum(found[0], found[1]), v.maximum(found[2], found[3])))
            base = self._base(v, m)

            def add(i: int, x: Vector) -> None:
                b.store(v.add(Vector(b.load(sums[i]), self.dtype), self.exp(v, v.subtract(x, base), 0)).value, sums[i])

            each(add)
            found = [Vector(b.load(slot), self.dtype) for slot in sums]
            total = v.add(v.add(found[0], found[1]), v.add(found[2], found[3]))
            v.put((m,), top)
            v.put(v.together((total,), lambda some, x, y: (some.add(x[0], y[0]),)), out)
            return Folds._strange(v, fine)

        return intrinsic_of(generate, types.int64)

    def down(self, vectors: int) -> Any:
        """topⱼ ← mⱼ, outⱼ ← Σ exp(xⱼ − mⱼ) of so many vectors of columns: an intrinsic."""

        def generate(
            context: Any, b: Any, place: Any, row: Any, top: Any, out: Any, depth: Any, live: Any, _more: Any
        ) -> Any:
            v = Lanes(context, b, self.count, self.masked)
            size, fine = self.count * self.dtype.itemsize, started(v, (v.constant(np.bool_(True)),))[0]
            step = self.count * self.given.itemsize
            none, nothing = self._number(v, -np.inf), self._number(v, 0)
            most = [started(v, (none,))[0] for _ in range(vectors)]
            sums = [started(v, (nothing,))[0] for _ in range(vectors)]
            mask = v.below(live) if self.masked and vectors == 1 else None
            with v.rows(I64(0), depth) as k:
                for i, slot in enumerate(most):
                    x = self._read_row(v, b.add(b.add(place, b.mul(k, row)), I64(i * step)), mask)
                    self._look(v, fine, x)
                    b.store(v.maximum(Vector(b.load(slot), self.dtype), x).value, slot)
            tops = [Vector(b.load(slot), self.dtype) for slot in most]
            bases = [self._base(v, m) for m in tops]
            with v.rows(I64(0), depth) as k:
                for i, slot in enumerate(sums):
                    x = self._read_row(v, b.add(b.add(place, b.mul(k, row)), I64(i * step)), mask)
                    power = self.exp(v, v.subtract(x, bases[i]), 0)
                    b.store(v.add(Vector(b.load(slot), self.dtype), power).value, slot)
            for i, (m, slot) in enumerate(zip(tops, sums, strict=True)):
                v.store(m, b.add(top, I64(i * size)), mask)
                v.store(Vector(b.load(slot), self.dtype), b.add(out, I64(i * size)), mask)
            return Folds._strange(v, fine)

        return intrinsic_of(generate, types.int64)

    def _base(self, v: Lanes, m: Vector) -> Vector:
        """The maximum, or 0 where it is infinite."""
        return v.where(v.infinite(m), self._number(v, 0), m)

    def _look(self, v: Lanes, fine: Any, x: Vector) -> None:
        b = v.builder
        b.store(b.and_(b.load(fine), v.equal(x, x).value), fine)


def started(v: Lanes, start: Element) -> list[Any]:
    """Variables that begin with some vectors."""
    slots = [cgutils.alloca_once(v.builder, part.value.type) for part in start]
    for slot, part in zip(slots, start, strict=True):
        v.builder.store(part.value, slot)
    return slots
