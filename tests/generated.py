"""Generated algebras: declarations as a user might write them, each with an algebra that knows the answers.

A `Generated` is the text of a declaration and one of `bases`, joined by a one-to-one map: entries of the library's
matrices are elements of the base, moved. Only the text reaches the library, through its public names; answers come from
the base alone. `families` lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import bases
import numpy as np
from bases import REAL, WHOLE, Base

Array = np.ndarray
inf = np.inf


@dataclass(frozen=True)
class Move:
    """A one-to-one map of the numbers of an interval, as functions and as text with {x} for the operand."""

    name: str
    forth: Callable[[Array], Array]
    back: Callable[[Array], Array]
    text: str
    back_text: str
    falling: bool = False
    exact: bool = False  # on small dyadic numbers
    whole: bool = False  # integers to integers
    domain: tuple[float, float] = (-inf, inf)
    ends: str = "[]"  # "(" where the domain's lower end is not an argument
    constant: float = 0.0  # the largest that stands in the text and may cancel


STAY = Move("as it is", lambda x: x, lambda x: x, "{x}", "{x}", exact=True, whole=True)
MOVES = (
    STAY,
    Move("x + 100", lambda x: x + 100, lambda x: x - 100, "{x} + 100", "{x} - 100", exact=True, whole=True,
         constant=100),
    Move("3 − 2 x", lambda x: 3 - 2 * x, lambda x: (3 - x) / 2, "3 - 2 * {x}", "(3 - {x}) / 2", True, exact=True,
         constant=3),
    Move("−x", lambda x: -x, lambda x: -x, "-{x}", "-{x}", True, exact=True, whole=True),
    Move("1 − x", lambda x: 1 - x, lambda x: 1 - x, "1 - {x}", "1 - {x}", True, exact=True, whole=True, constant=1),
    Move("exp(−x)", lambda x: np.exp(-x), lambda x: -np.log(x), "np.exp(-{x})", "-np.log({x})", True),
    Move("log x", lambda x: np.log(x), lambda x: np.exp(x), "np.log({x})", "np.exp({x})", domain=(0, inf), constant=1),
    Move("x³", lambda x: x**3, np.cbrt, "{x} ** 3",
         "np.where({x} < 0, -1.0, 1.0) * np.power(np.abs({x}), 1 / 3)"),
    Move("x²", lambda x: x * x, np.sqrt, "{x} ** 2", "np.sqrt({x})", domain=(0, inf)),
    Move("√x", np.sqrt, lambda x: x * x, "np.sqrt({x})", "{x} * {x}", domain=(0, inf)),
    Move("1/x", lambda x: 1 / x, lambda x: 1 / x, "1 / {x}", "1 / {x}", True, domain=(0, inf)),
    Move("1/(1 + x)", lambda x: 1 / (1 + x), lambda x: 1 / x - 1, "1 / (1 + {x})", "1 / {x} - 1", True,
         domain=(0, inf), constant=1),
    Move("10⁻¹⁰ x", lambda x: x / REAL.type(10**10), lambda x: x * REAL.type(10**10), "{x} * 1e-10", "{x} * 1e10"),
    Move("10¹⁰ x", lambda x: x * REAL.type(10**10), lambda x: x / REAL.type(10**10), "{x} * 1e10", "{x} / 1e10"),
    Move("x/1024 − 5", lambda x: x / 1024 - 5, lambda x: (x + 5) * 1024, "{x} / 1024 - 5", "({x} + 5) * 1024",
         exact=True, constant=5),
)


@dataclass(frozen=True)
class Generated:
    """An algebra as text, with what its matrices mean.

    `parts` says how each component is stored: the library's field ("" for a number), the base's field, and the move.
    """

    name: str
    code: str  # an expression, of `np` and `sr`, whose value is the algebra
    base: Base
    parts: tuple[tuple[str, str, Move], ...] = (("", "", STAY),)
    zero: Any = None  # as declared
    one: Any = None
    tolerance: float = 0.0  # rounding errors allowed, in units of the dtype's epsilon; 0 is to the bit
    relative: bool = False  # errors are relative to each entry; otherwise to the largest of a matrix
    largest: float = 0.0  # a number beside which results are small, for their errors
    declared_star: bool = True
    labels: tuple[int, ...] = ()  # what stands for the elements 0, 1, … of a finite algebra
    record_dtypes: tuple[np.dtype, ...] = field(default=())

    def __repr__(self) -> str:
        return self.name

    def declare(self, library: Any) -> Any:
        """The library's algebra."""
        return eval(self.code, {"np": np, "sr": library})

    # Elements as the library holds them, and back.

    def to_data(self, x: Array, dtype: np.dtype) -> tuple[Array, Array]:
        """Base elements in a dtype, and where each has a place in it."""
        result, fits = np.empty(x.shape, dtype), np.ones(x.shape, bool)
        with np.errstate(all="ignore"):
            for number, (name, source, move) in enumerate(self.parts):
                values = x[source] if source else x
                kind = dtype[name] if name else dtype
                stored, good = self._to_numbers(values, move, kind, number)
                if name:
                    result[name] = stored
                else:
                    result = stored
                fits &= good
            if not self.base.exact or not all(move.exact for _, _, move in self.parts):
                fits &= self.is_zero(x) == self.is_constant(result, self.zero)
        return result, fits

    def _to_numbers(self, values: Array, move: Move, kind: np.dtype, number: int) -> tuple[Array, Array]:
        if self.labels:
            values = np.array(self.labels)[values]
            return values.astype(kind), _has_place(values, kind)
        moved = np.asarray(move.forth(values))
        for declared, element in ((self.zero, self.base.zero), (self.one, self.base.one)):
            moved = np.where(values == _component(element, number), REAL.type(_component(declared, number)), moved)
        if kind.kind == "f":
            stored = moved.astype(kind)
            back = np.asarray(move.back(stored.astype(REAL)))
            limits = np.finfo(kind)
            small = (np.abs(stored) < limits.tiny) & (moved != 0)
            # An element that rounds to another one of note, or out of the carrier, has no place.
            low, high, ends = self._interval()
            inside = np.ones(values.shape, bool)
            if self.base.interval[:2] != (-inf, inf) and not self.base.dtype.names:
                inside &= (back > low) | ((back >= low) & (ends[0] == "["))
                inside &= (back < high) | ((back <= high) & (ends[1] == "]"))
                inside |= (values == self.base.zero) | (values == self.base.one)
            return stored, (np.isfinite(stored) == np.isfinite(moved)) & inside & ~np.isnan(moved) & ~small
        if kind.kind == "b":
            return moved != 0, (moved == 0) | (moved == 1)
        limits = np.iinfo(kind)
        infinite = np.isinf(moved)
        whole = np.isfinite(moved) & (np.floor(moved) == moved)
        fits = whole & (moved >= limits.min) & (moved <= limits.max)
        # Where ±∞ is declared, the limits stand for it and for no number.
        ends = [v for v in (_component(self.zero, number), _component(self.one, number)) if np.isinf(v)]
        if ends:
            fits &= (moved < limits.max) & ((moved > limits.min) | (limits.min == 0))
        safe = np.where(fits, moved, 0)
        stored = np.array([int(v) for v in safe.ravel().tolist()], kind).reshape(values.shape)
        if ends:
            negative = infinite & (moved < 0)
            stored = np.where(infinite, np.where(negative, kind.type(limits.min), kind.type(limits.max)), stored)
            fits |= infinite & ~(negative & (limits.min == 0) & (-inf not in ends))
        return stored, fits

    def _interval(self) -> tuple[float, float, str]:
        return self.base.interval

    def from_data(self, data: Array) -> Array:
        """Base elements of an array of the library's; meaningless where it holds NaN."""
        with np.errstate(all="ignore"):
            columns = []
            for number, (name, source, move) in enumerate(self.parts):
                values = data[name] if name else data
                columns.append((source, self._from_numbers(values, move, number)))
            if columns[0][0] == "":
                return columns[0][1]
            result = np.empty(data.shape, self.base.dtype)
            for source, values in columns:
                result[source] = values
            return result

    def _from_numbers(self, values: Array, move: Move, number: int) -> Array:
        if self.labels:
            found = np.zeros(values.shape, WHOLE)
            for element, label in enumerate(self.labels):
                found[values == label] = element
            return found
        target = self.base.dtype[number] if self.base.dtype.names else self.base.dtype
        x = values.astype(REAL)
        if values.dtype.kind in "iu":
            ends = [v for v in (_component(self.zero, number), _component(self.one, number)) if np.isinf(v)]
            limits = np.iinfo(values.dtype)
            if ends:
                x = np.where(values == limits.max, inf, x)
                if limits.min or -inf in ends:
                    x = np.where(values == limits.min, -inf, x)
        back = np.asarray(move.back(x))
        for declared, element in ((self.zero, self.base.zero), (self.one, self.base.one)):
            with np.errstate(all="ignore"):
                stored = _stored(_component(declared, number), values.dtype)
            back = np.where(values == stored, REAL.type(_component(element, number)), back)
        return back.astype(target)

    def is_zero(self, x: Array) -> Array:
        """Where base elements are zero."""
        return np.asarray(x == np.array(self.base.zero, self.base.dtype))

    def is_constant(self, data: Array, declared: Any) -> Array:
        """Where the library's elements are zero or one, as declared."""
        if data.dtype.names:
            parts = [data[f] == _stored(declared[i], data.dtype[f]) for i, f in enumerate(data.dtype.names)]
            return np.logical_and.reduce(parts)
        return np.asarray(data == _stored(declared, data.dtype))

    # Matrices

    def draw(self, rng: np.random.Generator, count: int, n: int, dtype: np.dtype, m: int | None = None) -> Array:
        """A stack of n × n matrices (n × m) in a dtype: from none to all edges, some without a closure."""
        m = n if m is None else m
        base = self.base
        x = base.full((count, n, m), base.zero)
        density = rng.choice([0.1, 0.25, 0.4, 0.6, 0.8, 1.0], count)
        which = rng.integers(0, len(base.pools) + 1, count)  # the last two pools are the wild one
        for p in range(len(base.pools) + 1):
            here = which == p
            pool = base.pools[min(p, len(base.pools) - 1)]
            x[here] = rng.choice(pool, (int(here.sum()), n, m))
        if n == m:
            if base.potentials:
                for part in [x[f] for f in x.dtype.names] if x.dtype.names else [x]:
                    shift = rng.integers(-3, 4, (count, n)) * (rng.random(count) < 0.3)[:, None]
                    part += shift[:, :, None] - shift[:, None, :]
            # Some graphs without cycles, whose closures exist whatever the weights.
            acyclic = np.flatnonzero(rng.random(count) < 0.2)
            for i in acyclic:
                order = rng.permutation(n)
                x[i][order[:, None] >= order[None, :]] = base.zero
            loops = rng.random(count) < 0.5
            x[:, np.arange(n), np.arange(n)] = np.where(
                loops[:, None], base.full((count, n), base.zero), x[:, np.arange(n), np.arange(n)]
            )
        x[rng.random((count, n, m)) >= density[:, None, None]] = base.zero
        data, fits = self.to_data(x, dtype)
        nothing, _ = self.to_data(base.full((1,), base.zero), dtype)
        data[~fits] = nothing[0]
        return data

    def closure(self, data: Array, *, order: Sequence[int] | None = None) -> tuple[Array, Array]:
        """A* of each matrix as base elements, and whether it exists."""
        base = self.base
        near = None if base.has("bounded") else self._near_one(data)
        star, code = bases.closure(base, self.from_data(data), near_one=near, order=order, declared=self.declared_star)
        if base.partial and order is None:
            star, code = self._in_some_order(data, star, code)
        if base.partial and order is None and base.dtype == WHOLE:
            # Without more laws than a semiring's, a closure may depend on the order of elimination.
            backwards, again = self.closure(data, order=range(data.shape[-1])[::-1])
            unlike = (backwards != star).any(axis=(1, 2)) & (code <= bases.EITHER) & (again <= bases.EITHER)
            code = np.where(unlike, bases.UNSURE, code)
        if np.isfinite(base.large).any() and order is None:
            # Numbers that grow during elimination take their rounding errors along, and each order has its own.
            rng = np.random.default_rng(3)
            for other in (range(data.shape[-1])[::-1], *(rng.permutation(data.shape[-1]) for _ in range(3))):
                again = bases.closure(base, self.from_data(data), order=other, declared=self.declared_star)[1]
                code = np.where(again == bases.UNSURE, np.maximum(code, bases.UNSURE), code)
        if self.tolerance and order is None:
            for seed in range(4):
                code = np.where(self._is_unsteady(data, star, seed), np.maximum(code, bases.UNSURE), code)
        return star, code

    def _in_some_order(self, data: Array, star: Array, code: Array) -> tuple[Array, Array]:
        """The closure of a ring by other orders, or by the inverse, where the given order meets a star that lacks."""
        rng = np.random.default_rng(5)
        star, code, exact, n = star.copy(), code.copy(), self.from_data(data), data.shape[-1]
        for other in (range(n)[::-1], *(rng.permutation(n) for _ in range(4))):
            again, found = bases.closure(self.base, exact, order=other, declared=self.declared_star)
            better = (code == bases.NONE) & (found == bases.EXISTS)
            star[better], code[better] = again[better], bases.EITHER
        for i in np.flatnonzero(code == bases.NONE):
            if self.base.dtype != REAL:  # no order of some: whether there is an inverse is not known here
                code[i] = bases.UNSURE
            elif np.isfinite(exact[i]).all():
                left = np.eye(n) - exact[i].astype(float)
                if np.linalg.cond(left) < 1e6:
                    star[i], code[i] = np.linalg.inv(left), bases.EITHER
        return star, code

    def _is_unsteady(self, data: Array, star: Array, seed: int) -> Array:
        """Which closures move by much of what is allowed when the entries change by a few roundings."""
        rng, wide = np.random.default_rng(seed), data
        signs = rng.choice([-1, 1], data.shape[1:])  # the same for a matrix alone as in a stack
        if data.dtype.names:
            wide = np.empty(data.shape, [(f, REAL) for f in data.dtype.names])
        parts = {}
        for name, _, _ in self.parts:
            values = data[name] if name else data
            eps = float(np.finfo(values.dtype).eps) if values.dtype.kind == "f" else 0.0
            parts[name] = values.astype(REAL) * (1 + 8 * eps * signs)
            if name:
                wide[name] = parts[name]
        moved = self.from_data(wide if data.dtype.names else parts[""])
        exact = self.from_data(data)
        fixed = self.is_zero(exact) | (exact == np.array(self.base.one, self.base.dtype))
        moved[fixed] = exact[fixed]
        other, _ = bases.closure(self.base, moved, declared=self.declared_star)
        unsteady = np.zeros(len(data), bool)
        for name, source, move in self.parts:
            x, y = ((s[source] if source else s) for s in (star, other))
            kind = data.dtype[name] if name else data.dtype
            eps = float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
            with np.errstate(all="ignore"):
                x, y = move.forth(x), move.forth(y)
                size = np.where(np.isfinite(x), np.maximum(np.abs(x), self.largest), 0)
                if not self.relative:
                    size = size.max(axis=(1, 2), keepdims=True, initial=0)
                near = (x == y) | (np.abs(x - y) <= self.tolerance / 8 * eps * size)
            unsteady |= ~near.all(axis=(1, 2))
        return unsteady

    def _near_one(self, data: Array) -> Callable[[Array, Array], Array] | None:
        """Pivots whose difference from one may be rounding: each weight is known to a few units in its last place."""
        if data.dtype.kind != "f":
            return None
        whole = (np.isinf(data) | (np.floor(data) == data)).all(axis=(1, 2))
        few = np.maximum(self.tolerance, np.where(whole, 0, 4 * data.shape[-1]))
        size = np.maximum(self.scale(data)[:, 0, 0], max(1.0, self.largest, abs(float(self.one))))
        slack = few * float(np.finfo(data.dtype).eps) * size

        inexact = not all(move.exact for _, _, move in self.parts)

        def near(pivot: Array, found: Array) -> Array:
            moved, one = self.parts[0][2].forth(pivot), REAL.type(self.one)
            # A pole at one is met to the bit only where nothing on the way is rounded.
            rounded = (pivot != self.base.one) | ((found == bases.NONE) & inexact)
            return np.asarray(rounded & (np.abs(moved - one) <= slack))

        return near

    def differs(self, want: Array, got: Array, scale: Array) -> Array:
        """Where an array of the library's is not what the base's elements should become.

        Parameters
        ----------
        scale : ndarray
            The largest finite number of each input matrix, to broadcast: errors are relative to it and to the answers.
        """
        wrong = np.zeros(got.shape, bool)
        with np.errstate(all="ignore"):
            for number, (name, source, move) in enumerate(self.parts):
                values, found = (want[source], got[name]) if name else (want, got)
                wrong |= self._numbers_differ(values, found, move, number, scale[name] if name else scale)
        return wrong

    def _numbers_differ(self, values: Array, found: Array, move: Move, number: int, scale: Array) -> Array:
        stored, _ = self._to_numbers(values, move, found.dtype, number)
        if found.dtype.kind != "f":
            return np.asarray(stored != found)
        wrong = ~(stored == found)
        if self.tolerance:
            right, f = np.asarray(move.forth(values)), found.astype(REAL)
            size = np.maximum(np.abs(right), np.abs(f))
            if not self.relative:
                finite = np.where(np.isfinite(right), np.abs(right), 0)
                size = np.maximum(size, np.maximum(finite.max(axis=(-2, -1), keepdims=True, initial=0), scale))
                size = np.maximum(size, self.largest)
            limits = np.finfo(found.dtype)
            near = np.abs(right - f) <= self.tolerance * float(limits.eps) * size + float(limits.tiny)
            wrong &= ~(near & np.isfinite(right) & np.isfinite(f))
        return wrong

    def scale(self, data: Array) -> Array:
        """The largest finite number of each matrix, field by field."""
        if data.dtype.names:
            result = np.zeros((*data.shape[:-2], 1, 1), [(f, REAL) for f in data.dtype.names])
            for f in data.dtype.names:
                result[f] = self.scale(data[f])
            return result
        x = np.abs(np.where(np.isfinite(data), data, 0).astype(REAL))
        return np.asarray(x.max(axis=(-2, -1), keepdims=True, initial=0))

    def place(self, want: Array, dtype: np.dtype) -> Array:
        """Whether each matrix of answers has a place in a dtype, neither too large nor too small."""
        _, fits = self.to_data(want, dtype)
        return np.asarray(fits.all(axis=(-2, -1)))


def _component(element: Any, number: int) -> Any:
    return element[number] if isinstance(element, tuple) else element


def _stored(value: Any, kind: np.dtype) -> Any:
    """A declared number in a dtype, ±∞ as the limits of an integer one."""
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        if np.isinf(value):
            return kind.type(limits.max if value > 0 else limits.min)
        return kind.type(int(value)) if limits.min <= value <= limits.max else None
    return kind.type(value)


def larger(x: Array, y: Array) -> Array:
    """The larger of two numbers each, field by field."""
    if not x.dtype.names:
        return np.maximum(x, y)
    result = x.copy()
    for f in x.dtype.names:
        result[f] = np.maximum(x[f], y[f])
    return result


def _has_place(values: Array, kind: np.dtype) -> Array:
    if kind.kind == "b":
        return np.asarray((values == 0) | (values == 1))
    if kind.kind == "f":
        return np.asarray(values == values.astype(kind))
    limits = np.iinfo(kind)
    return np.asarray((values >= limits.min) & (values <= limits.max))


def number(value: Any) -> str:
    """A number as one writes it, or a tuple of them."""
    if isinstance(value, tuple):
        return f"({', '.join(map(number, value))})"
    value = float(value)
    if np.isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def declaration(name: str, add: str, mul: str, zero: str, one: str, **options: str | None) -> str:
    """The text of a declaration; options that are None are left out."""
    lines = [f"add=lambda a, b: {add}", f"mul=lambda a, b: {mul}", f"zero={zero}", f"one={one}"]
    lines += [f"{key}={text}" for key, text in options.items() if text is not None]
    return f"sr.Semiring({name!r},\n    " + ",\n    ".join(lines) + ")"


def inside_text(base: Base, move: Move, letter: str) -> str:
    """The condition on an element, from the ends of the base's carrier; empty if there is none."""
    low, high, brackets = base.interval
    with np.errstate(all="ignore"):
        ends = [(float(move.forth(REAL.type(v))), b in "[]") for v, b in zip((low, high), brackets, strict=True)]
    if move.falling:
        ends.reverse()
    conditions = []
    for (value, closed), sign, limit in zip(ends, (">", "<"), (-inf, inf), strict=True):
        if not (closed and value == limit):
            conditions.append(f"({letter} {sign}{'=' if closed else ''} {number(value)})")
    return " & ".join(conditions)
