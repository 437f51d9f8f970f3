"""Sums of integers under min or max, with the infinity where no finite sum can reach."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.constants import outside
from semiring.algebra.overflow import may_leave, refuse
from semiring.algebra.semiring import Semiring
from semiring.kernels.facts import Facts

from .base import ByElement, Lowering
from .general import general
from .objects import python_integers
from .parts import each_part, like

SHORT = 64  # factors of a ⊗-product, at most, in what is computed element by element


def tropical_integers(S: Semiring, dtype: np.dtype, facts: Facts, length: int, in_place: bool) -> Lowering:
    """Sums under min or max, with the infinity moved to half the range of a type that no finite sum can reach.

    With |finite result| ≤ L and the infinity at I > 2 L, a sum with an absent edge in it stays above I − L > L, and
    I + I does not overflow: no test for zero is needed in the inner loop.
    """
    if dtype.kind == "i" and (facts.low_limit if S.zero == np.inf else facts.high_limit):
        return python_integers(S, dtype, "the dtype's other limit occurs: it stands for the opposite infinity")
    if S.sums_cycles:
        return python_integers(S, dtype, "a star is the opposite infinity")
    bound = int(facts.largest) * max(length, 1)
    for size in (2, 4, 8):
        storage = np.dtype(f"i{size}")
        if size >= (dtype.itemsize if in_place else 2) and np.iinfo(storage).max // 2 > 2 * bound:
            return _sums(S, dtype, storage)
    return python_integers(S, dtype, f"a path may weigh up to {bound}, beyond 64-bit integers")


@lru_cache(1024)
def _sums(S: Semiring, dtype: np.dtype, storage: np.dtype) -> Lowering:
    plain = general(S, dtype)
    sign = 1 if S.zero == np.inf else -1
    limits = np.iinfo(dtype)
    absent = limits.max if sign > 0 else limits.min
    middle = np.iinfo(storage).max // 2
    infinity = storage.type(sign * middle)
    same_place, half = storage == dtype, middle // 2
    # What the dtype has room for besides its infinities; no finite sum in storage is beyond half of its own.
    least = limits.min + (dtype.kind == "i")
    most = limits.max - (dtype.kind == "i" or absent == limits.max)
    may_leave = least > -half or most < half

    def encoded(target: np.ndarray, part: np.ndarray) -> None:
        none = part == absent  # before it may be written to
        if target is not part:
            target[...] = part
        target[none] = infinity

    def beyond(part: np.ndarray) -> np.ndarray | None:
        """Test which elements are infinite, or sums with infinity; None if none is."""
        farthest = (part.max if sign > 0 else part.min)(initial=0)  # faster than to compare each
        return None if abs(farthest.item()) <= half else part > half if sign > 0 else part < -half

    def cleaned(part: np.ndarray) -> None:
        far = beyond(part)
        if far is not None:
            part[far] = infinity

    def decoded(target: np.ndarray, part: np.ndarray) -> None:
        far = beyond(part)
        if may_leave:
            finite = part if far is None else np.where(far, storage.type(0), part)
            if finite.min(initial=0).item() < least or finite.max(initial=0).item() > most:
                refuse(S, dtype, finite[outside(finite, least, most)].flat[0])
        if target is not part:
            np.copyto(target, part, casting="unsafe")
        if far is not None:
            target[far] = absent

    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        if same_place and not copy:
            each_part(lambda part: encoded(part, part), a)
            return a
        result = like(a, storage)
        each_part(encoded, result, a)
        return result

    def decode(b: np.ndarray) -> np.ndarray:
        if same_place:
            each_part(lambda part: decoded(part, part), b)
            return b
        result = like(b, dtype)
        each_part(decoded, result, b)
        return result

    assert S.traced
    raw = S.traced.raw_mul
    return replace(
        plain, name=f"{storage.name} sums", storage=storage, mul=raw, scale=raw,
        reason=f"no sum can reach half of {middle}, so infinity lies there and needs no test",
        zero=(infinity,), one=(storage.type(0),), recode=(encode, decode),
        clean=lambda b: each_part(cleaned, b), by_element=_by_element(S, dtype, storage, least, most),
    )


def widest(S: Semiring, dtype: np.dtype) -> Lowering:
    """The form in 64-bit storage, for elements that its `by_element` does not call strange, and closures of `SHORT`."""
    return _sums(S, dtype, np.dtype("i8"))


def suited(S: Semiring, dtype: np.dtype) -> tuple[int, int, int]:
    """The least and the largest finite number for `widest`, and the number that stands for zero."""
    limits, size = np.iinfo(dtype), int(np.iinfo("i8").max) // 4 // SHORT
    low, high = int(limits.min), int(limits.max)
    above = S.zero == np.inf
    if above or dtype.kind == "i":
        high -= 1
    if not above or dtype.kind == "i":
        low += 1
    return max(low, -size), min(high, size), int(limits.max if above else limits.min)


def _by_element(S: Semiring, dtype: np.dtype, storage: np.dtype, least: int, most: int) -> ByElement:
    """The conversions of `_sums` for compiled code."""
    given, stored, middle = dtype.name, storage.name, np.iinfo(storage).max // 2
    sign, half = 1 if S.zero == np.inf else -1, middle // 2
    low, high, absent = suited(S, dtype)
    is_absent = f"({{0}} == {given}({absent}))"
    far = f"({{0}} {'>' if sign > 0 else '<'} {sign * half})"
    beyond = [f"({{0}} > {most})"] * (most < half) + [f"({{0}} < {least})"] * (least > -half)
    return ByElement(
        f"select({is_absent}, {stored}({sign * middle}), {stored}({{0}}))",
        f"select({far}, {given}({absent}), {given}({{0}}))",
        f"(not {is_absent}) & (({{0}} < {given}({low})) | ({{0}} > {given}({high})))",
        f"(not {far}) & ({' | '.join(beyond)})" if beyond else "False",
    )


def widen(S: Semiring, array: np.ndarray, facts: Facts) -> np.ndarray:
    """Data in a dtype in which sums along a path cannot overflow: integers as floats if exact, else as objects."""
    if not may_leave(S, array.dtype):
        return array
    if not S.is_tropical or int(facts.largest) * max(array.shape[-1], 1) >= 2**53:
        return python_integers(S, array.dtype, "").encode(array, True)
    return as_floats(S, array)


def as_floats(S: Semiring, array: np.ndarray) -> np.ndarray:
    """Integers of a tropical algebra as floats, the limits that stand for infinities as these.

    Examples
    --------
    >>> import semiring as sr
    >>> as_floats(sr.min_plus, np.array([5, 127, -128], "i1"))
    array([  5.,  inf, -inf])
    """
    result = array.astype("f8")
    limits = np.iinfo(array.dtype)
    result[array == limits.max] = np.inf if S.zero == np.inf or limits.min else limits.max
    if limits.min:
        result[array == limits.min] = -np.inf
    return result


def from_floats(S: Semiring, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """What `as_floats` made, and sums of it, in the data's own dtype.

    Raises
    ------
    SemiringError
        If a number does not fit.

    Examples
    --------
    >>> import semiring as sr
    >>> from_floats(sr.min_plus, np.array([5, np.inf]), np.dtype("i1"))
    array([  5, 127], dtype=int8)
    """
    limits = np.iinfo(dtype)
    low, high = limits.min + bool(limits.min), limits.max - bool(S.zero == np.inf or limits.min)
    wrong = np.isfinite(array) & ((array < low) | (array > high))
    if wrong.any():
        refuse(S, dtype, int(array[wrong][0]))
    finite = np.isfinite(array)
    result = np.where(finite, array, 0).astype(dtype)
    result[~finite & (array > 0)] = limits.max
    result[~finite & (array < 0)] = limits.min
    return result


def narrow(S: Semiring, value: Any, dtype: np.dtype) -> Any:
    """A weight that `widen` arithmetic found, in the data's own dtype."""
    if not may_leave(S, dtype):
        return value
    if isinstance(value, (float, np.floating)) and np.isinf(value):  # integers have no infinity but in arrays
        return float(value)
    # A weight that leaves the dtype is still worth telling: as a Python int. So does one that would read as infinite.
    limits = np.iinfo(dtype)
    low = limits.min + bool(limits.min)
    high = limits.max - bool(S.zero == np.inf or limits.min)
    return dtype.type(int(value)) if low <= value <= high else int(value)
