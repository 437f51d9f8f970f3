"""The form that is always right: the expressions as they stand, in a dtype that can carry them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from semiring.algebra.arithmetic import Arithmetic
from semiring.algebra.complexes import split_complex
from semiring.algebra.constants import outside
from semiring.algebra.expression import Expression, Traced, apply, constant, operand, substitute
from semiring.algebra.overflow import Ends, ends, kept_apart, refuse
from semiring.algebra.proofs import EVERYTHING, is_absorbed, is_dropped, is_dual, is_field, reached_range
from semiring.algebra.semiring import Semiring
from semiring.kernels.facts import Facts

from .base import ByElement, Lowering
from .cheaper import cheaper
from .logsum import log_sum
from .parts import each_part, like


@lru_cache(1024)
def general(S: Semiring, dtype: np.dtype) -> Lowering:
    """The lowering that is always right: the expressions as they stand, on the data's dtype if it can carry them."""
    ops = S.traced
    assert ops
    wide, near = S.working(dtype), ends(S, dtype)
    if any(near):
        return _refusing(_plain(S, wide if dtype.names else S.working(_with_room(wide, dtype)), near), dtype, near)
    if wide != dtype:
        return _widened(general(S, wide), dtype)
    return _plain(S, dtype, near)


def inside(S: Semiring, dtype: np.dtype, facts: Facts, terms: float) -> Lowering | None:
    """The ordinary sum and product of integers, where C ⊕ A ⊗ B of so many terms an entry provably fits the dtype.

    None if it may not fit, if ∞ occurs, or if ⊕ and ⊗ are not the sum and product of integers.

    Examples
    --------
    >>> import semiring as sr
    >>> bytes_ = np.dtype("u1")
    >>> [inside(sr.counting, bytes_, Facts(largest), 10) is not None for largest in (4, 5)]
    [True, False]
    """
    low = _ordinary(S, dtype)
    if low is None or facts.high_limit or (facts.low_limit and dtype.kind == "i"):
        return None
    largest = int(facts.largest)
    return low if largest + int(terms) * largest**2 < int(np.iinfo(dtype).max) - 1 else None


@lru_cache(1024)
def _ordinary(S: Semiring, dtype: np.dtype) -> Lowering | None:
    """The sum and product of integers as they stand; None if ⊕ and ⊗ are others."""
    ops = S.traced
    if ops is None or dtype.kind not in "iu" or not any(ends(S, dtype)) or S.zero != 0 or S.working(dtype) != dtype:
        return None
    if not (ops.add.is_plain("add", "saturating_add") and ops.raw_mul.is_plain("multiply", "saturating_multiply")):
        return None
    plain = _plain(S, dtype, (None,))
    add, mul = (Traced((apply(op, operand(0), operand(1)),), 2, 1) for op in ("add", "multiply"))
    return replace(plain, name="ordinary sums", add=add, mul=mul, scale=mul,
                   reason="the longest row and the largest number show that no result leaves the dtype")


def _plain(S: Semiring, dtype: np.dtype, near: tuple[Ends | None, ...]) -> Lowering:
    """The expressions as they stand, but for integers that may leave the dtype: they are kept apart from ∞."""
    ops = S.traced
    assert ops
    if dtype.kind == "c":
        return _in_parts(S, dtype)
    A = S.over(dtype)
    fused = S.is_tropical and dtype.kind == "f"
    blas = ops.add.is_plain("add") and ops.raw_mul.is_plain("multiply") and dtype in (np.float32, np.float64)
    name, reason = "general", "as declared"
    if fused:
        name, reason = "fused sum", "x + y is one fused multiply-add"
    elif blas:
        name, reason = "BLAS", "⊕ and ⊗ are the ordinary sum and product"
    logarithms = log_sum(ops, S.zero, dtype)
    if logarithms:
        name, reason = "log-sum-exp", "products are ordinary ones of powers, where nothing is lost to underflow"
    exact = _absorbs_exactly(S, dtype)
    needless = exact or (dtype.kind == "f" and (is_dropped(ops, S.zero) or is_absorbed(ops, S.zero)))
    inside = reached_range(ops) if dtype.kind == "f" else EVERYTHING

    def apart(t: Traced) -> Traced:
        return replace(t, outputs=kept_apart(t.outputs, A.components, near)) if any(near) else t

    return Lowering(
        name=name,
        reason=reason,
        algebra=S,
        dtype=dtype,
        storage=dtype,
        kind="numba",
        add=cheaper(apart(_in_order(ops.add)), dtype, inside),
        mul=cheaper(apart(ops.raw_mul if needless else ops.mul), dtype, inside),
        scale=cheaper(apart(ops.raw_mul if exact else ops.mul), dtype, inside),
        star=apart(_star_revealing_divergence(S)),
        defined=_defined(S, dtype),
        zero=_parts(A, A.zero),
        one=_parts(A, A.zero if A.one is None else A.one),
        fused_sum=fused,
        blas=blas,
        inverts=blas and is_field(ops),
        dual=all(part in (np.float32, np.float64) for part in _dtypes(dtype)) and is_dual(ops),
        log_sum=logarithms,
    )


def _in_parts(S: Semiring, dtype: np.dtype) -> Lowering:
    """Complex numbers as records of their real and imaginary parts, in the same memory."""
    ops, A, part = S.traced, S.over(dtype), np.dtype(f"f{dtype.itemsize // 2}")
    assert ops
    storage = np.dtype([("real", part), ("imag", part)])

    def split(t: Traced) -> Traced:
        return Traced(split_complex(t.outputs), t.arity, 2 * t.width)

    def numbers(element: Any) -> tuple[Any, ...]:
        return part.type(element.real), part.type(element.imag)

    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        return np.array(a, copy=copy or None).view(storage)

    times = split(ops.mul)
    return Lowering(
        name="real and imaginary parts", reason="a complex number is a record of two floats", algebra=S, dtype=dtype,
        storage=storage, kind="numba", add=split(ops.add), mul=times, scale=times, star=split(ops.star),
        defined=split_complex([_defined(S, dtype)])[0], zero=numbers(A.zero),
        one=numbers(A.zero if A.one is None else A.one), recode=(encode, lambda b: b.view(dtype)),
        blas=ops.add.is_plain("add") and ops.raw_mul.is_plain("multiply"), inverts=is_field(ops),
    )


def _absorbs_exactly(S: Semiring, dtype: np.dtype) -> bool:
    """Whether 0 ⊗ a is 0, or no better under ⊕: ⊗ only picks one of the two or their bits, or multiplies integers."""
    ops = S.traced
    assert ops
    if dtype.kind in "iu" and S.zero == 0 and ops.raw_mul.is_plain("multiply", "saturating_multiply"):
        return True
    picks = ops.raw_mul.is_plain("minimum", "maximum") and ops.add.is_plain("minimum", "maximum")
    return picks or ops.raw_mul.is_plain("bitwise_and", "bitwise_or", "logical_and", "logical_or")


def _in_order(add: Traced) -> Traced:
    """⊕ with its first operand first: a minimum drops a NaN that stands second."""
    if add.is_plain("minimum", "maximum"):
        return Traced((Expression(add.outputs[0].op, (operand(0), operand(1))),), 2, 1)
    return add


def _defined(S: Semiring, dtype: np.dtype) -> Expression:
    """The condition for a star: no number has overflowed, unless infinity is an element."""
    ops = S.traced
    assert ops
    if S.has_unit_stars:
        return constant(True)
    if dtype.kind not in "fc" or S.over(dtype).contains(np.array([np.inf, -np.inf], dtype)).any():
        return ops.defined
    finite = apply("isfinite", operand(0))
    return finite if ops.defined is constant(True) else apply("logical_and", ops.defined, finite)


def _dtypes(dtype: np.dtype) -> list[np.dtype]:
    return [dtype[f] for f in dtype.names] if dtype.names else [dtype]


def _parts(A: Arithmetic, element: Any) -> tuple[Any, ...]:
    return tuple(element[f] for f in A.dtype.names) if A.dtype.names else (element,)


def _star_revealing_divergence(S: Semiring) -> Traced:
    """1 ⊕ a where cycles may improve without end: it is a* where a* is 1, and else shows it on the diagonal."""
    ops = S.traced
    assert ops
    if not S.may_diverge or S.one is None:
        return ops.star
    one = [constant(c) for c in S.components_of(S.one)]
    first = {operand(0, c): e for c, e in enumerate(one)}
    second = {operand(1, c): operand(0, c) for c in range(len(one))}
    return Traced(substitute(ops.add.outputs, first | second), 1, ops.add.width)


def _widened(wide: Lowering, dtype: np.dtype) -> Lowering:
    """Computed in a wider dtype than the data's, where 0 and 1 are what they are declared to be."""
    S, storage = wide.algebra, wide.storage
    A, W = S.over(dtype), S.over(storage)
    known = [(x, y) for x, y in ((A.zero, W.zero), (A.one, W.one)) if x is not None]
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None

    def encoded(target: np.ndarray, part: np.ndarray) -> None:
        target[...] = part
        for given, meant in known:
            target[part == given] = meant

    def decoded(target: np.ndarray, part: np.ndarray) -> None:
        for given, meant in known:
            if given != meant:
                part = np.where(part == meant, given, part)
        if limits is not None:
            wrong = outside(part, limits.min, limits.max)
            if wrong.any():
                refuse(S, dtype, part[wrong].flat[0])
        with np.errstate(over="ignore"):
            np.copyto(target, part, casting="unsafe")

    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        result = like(a, storage)
        each_part(encoded, result, a)
        return result

    def decode(b: np.ndarray) -> np.ndarray:
        result = like(b, dtype)
        each_part(decoded, result, b)
        return result

    return replace(
        wide, name=f"{wide.name}, widened", dtype=dtype, blas=False, fused_sum=False,
        recode=(encode, decode), by_element=_by_element(dtype, storage, known),
        reason=f"{dtype} is too narrow for its constants or laws, so it is computed in {storage}",
    )


def _by_element(dtype: np.dtype, storage: np.dtype, known: Sequence[tuple[Any, Any]]) -> ByElement | None:
    """The conversions of `_widened` for compiled code."""
    if dtype.names or dtype.kind == "c" or dtype == np.float16:
        return None
    enter, leave = f"{storage.name}({{0}})", f"{dtype.name}({{0}})"
    for given, meant in known:
        if given != meant:
            given, meant = f"{dtype.name}({given.item()!r})", f"{storage.name}({meant.item()!r})"
            enter = f"select({{0}} == {given}, {meant}, {enter})"
            leave = f"select({{0}} == {meant}, {given}, {leave})"
    if dtype.kind == "f":
        return ByElement(enter, leave)
    limits = np.iinfo(dtype)
    special = [f"({{0}} != {storage.name}({meant.item()!r}))" for given, meant in known if given != meant]
    outside = f"(({{0}} < {limits.min}) | ({{0}} > {limits.max}))"
    return ByElement(enter, leave, leaves=" & ".join([*special, outside]))


def _with_room(wide: np.dtype, dtype: np.dtype) -> np.dtype:
    """A dtype that holds all of another one, and numbers beyond it, where there is one."""
    return max(wide, np.dtype(f"{dtype.kind}{min(2 * dtype.itemsize, 8)}"), key=lambda d: d.itemsize)


@dataclass(frozen=True)
class _Component:
    """A component of elements: integers in the data's dtype and in storage, and what is special among them."""

    field: str | None
    given: np.dtype
    stored: np.dtype
    ends: Ends | None

    @cached_property
    def infinities(self) -> list[tuple[int, int]]:
        """The limits of the data's dtype that stand for ±∞, and those of a wider storage."""
        if self.given.kind not in "iu" or self.given == self.stored or not (self.ends is None or self.ends.infinite):
            return []
        narrow, wide = np.iinfo(self.given), np.iinfo(self.stored)
        both = [(int(narrow.max), int(wide.max)), (int(narrow.min), int(wide.min))]
        return both if self.given.kind == "i" else both[:1]

    @cached_property
    def reserved(self) -> tuple[int, ...]:
        """The numbers in storage that stand for what leaves it."""
        return self.ends.reserved(self.stored) if self.ends else ()

    @cached_property
    def finite(self) -> tuple[int, int]:
        """The least and the largest number in storage that is an element, neither infinite nor reserved."""
        limits = np.iinfo(self.stored)
        if self.ends and self.given != self.stored:
            low, high = self.ends.finite(self.given)
            return max(low, int(limits.min)), min(high, int(limits.max))
        special = (*self.reserved, *(wide for _, wide in self.infinities))
        low = max((x + 1 for x in special if x < 0), default=int(limits.min))
        return low, min((x - 1 for x in special if x > 0), default=int(limits.max))

    def by_element(self, S: Semiring) -> ByElement:
        """The conversions for compiled code, which leaves all that is near a limit to whole arrays."""
        given, stored = self.given.name, self.stored.name
        enter, leave, leaves = f"{stored}({{0}})", f"{given}({{0}})", "False"
        for limit, meant in self.infinities:
            enter = f"select({{0}} == {given}({limit}), {stored}({meant}), {enter})"
            leave = f"select({{0}} == {stored}({meant}), {given}({limit}), {leave})"
        found = _without_room(S, self.given) if self.ends else None
        limits, strange = np.iinfo(self.given), "False"
        if found is not None and not found[0].infinite:
            strange = f"({{0}} == {given}({limits.max}))" + f" | ({{0}} == {given}({limits.min}))" * found[0].negative
        elif found is not None:
            near = [n for n in (found[1], -found[1], -found[1] - 1) if limits.min <= n <= limits.max]
            strange = " | ".join(f"({{0}} == {given}({n}))" for n in near)
        if self.ends and self.given == self.stored:
            leaves = " | ".join(f"({{0}} == {stored}({n}))" for n in self.reserved)
        elif self.ends:
            low, high = self.ends.finite(self.given)
            inside = [f"({{0}} == {stored}({meant}))" for _, meant in self.infinities]
            leaves = f"not ({' | '.join([f'(({{0}} >= {low}) & ({{0}} <= {high}))', *inside])})"
        return ByElement(enter, leave, strange, leaves)

    def of(self, array: np.ndarray) -> np.ndarray:
        """This component of an array."""
        return array if self.field is None else array[self.field]

    def encode(self, target: np.ndarray, array: np.ndarray) -> None:
        """Write infinities to storage, where the numbers are already."""
        given = self.of(array)
        for limit, meant in self.infinities:
            if given.size and (np.maximum if limit > 0 else np.minimum).reduce(given, axis=None) == limit:
                self.of(target)[given == limit] = meant

    def is_finite(self, stored: np.ndarray) -> bool:
        """Whether all numbers are between the special ones."""
        low, high = self.finite
        return not stored.size or bool(
            np.maximum.reduce(stored, axis=None) <= high and np.minimum.reduce(stored, axis=None) >= low
        )

    def refuse(self, S: Semiring, stored: np.ndarray) -> None:
        """Refuse a number in storage that left the data's dtype."""
        assert self.ends
        if self.given == self.stored:
            wrong = np.logical_or.reduce([stored == number for number in self.reserved])
        else:
            wrong = outside(stored, *self.ends.finite(self.given))
            if self.ends.infinite:
                limits = np.iinfo(self.stored)
                wrong &= (stored != limits.min) & (stored != limits.max)
        if wrong.any():
            value = int(stored[wrong].flat[0])
            refuse(S, self.given, value, at_least=value in self.reserved)

    def decode(self, S: Semiring, target: np.ndarray, array: np.ndarray) -> None:
        """Write the numbers of storage in the data's dtype, and refuse one that left it."""
        stored, given = self.of(array), self.of(target)
        usual = not (self.ends or self.infinities) or self.is_finite(stored)
        if self.ends and not usual:
            self.refuse(S, stored)
        if target is not array:
            np.copyto(given, stored, casting="unsafe")
            for limit, meant in () if usual else self.infinities:
                given[stored == meant] = limit


def _refusing(plain: Lowering, dtype: np.dtype, near: tuple[Ends | None, ...]) -> Lowering:
    """Refuse results that integers of the data's dtype cannot hold."""
    S, storage = plain.algebra, plain.storage
    components = [
        _Component(field, dtype if field is None else dtype[field], storage if field is None else storage[field], ends_)
        for field, ends_ in zip(dtype.names or (None,), near, strict=True)
    ]

    def encoded(target: np.ndarray, array: np.ndarray) -> None:
        target[...] = array
        for component in components:
            component.encode(target, array)

    def decoded(target: np.ndarray, array: np.ndarray) -> None:
        with np.errstate(over="ignore"):
            for component in components:
                component.decode(S, target, array)

    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        if storage == dtype:
            return np.array(a, copy=copy or None)
        result = like(a, storage)
        each_part(encoded, result, a)
        return result

    def decode(b: np.ndarray) -> np.ndarray:
        result = b if storage == dtype else like(b, dtype)
        each_part(decoded, result, b)
        return result

    reason = f"integers that leave {dtype} are kept apart from ∞, its limit, and refused"
    return replace(
        plain, name=f"{plain.name}, {'with a look for overflow' if storage == dtype else f'in {storage}'}", dtype=dtype,
        recode=(encode, decode), reason=reason, by_element=None if dtype.names else components[0].by_element(S),
    )


def is_reserved(S: Semiring, dtype: np.dtype, facts: Facts) -> bool:
    """Whether the data may have a number that stands for what leaves the dtype, where no wider storage can be had."""
    found = _without_room(S, dtype)
    if found is None:
        return False
    near, largest = found
    if not near.infinite:
        return facts.high_limit or (near.negative and facts.low_limit)
    return int(facts.largest) >= largest


@lru_cache(1024)
def _without_room(S: Semiring, dtype: np.dtype) -> tuple[Ends, int] | None:
    """The ends of integers for which no wider storage can be had, and the first reserved number; None for others."""
    (near,) = ends(S, dtype)
    room = near is None or S.working(_with_room(S.working(dtype), dtype)) != dtype
    return None if near is None or room else (near, near.reserved(dtype)[0])
