"""Check elements and report the place of the first invalid one; gather facts about the rest in the same pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.elements import full, is_nan, kinds_of, show
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.kernels.cpu.dense.scan import Facts as Scan
from semiring.kernels.cpu.dense.scan import scan
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.parts import chunks

Place = tuple[int, int]
INTEGERS = (int, np.bool_, np.integer)  # for which all operations are defined
TIMES = (np.datetime64, np.timedelta64)  # of which NumPy counts some among the integers
STRANGERS = (type(None), str, bytes, list, tuple, dict, set, frozenset, np.ndarray)  # that are not numbers


class Known(NamedTuple):
    """What is needed to test elements of a dtype, computed once."""

    zero: Any
    one: Any
    low: Any
    high: Any
    everything: bool  # whether each number of the dtype is an element
    of_zero: tuple[float, bool, bool]  # the size of zero, or 0 if it is a limit; is it the low limit, and the high one


@lru_cache(1024)
def known(S: Semiring, dtype: np.dtype) -> Known:
    """See `Known`; for real numbers."""
    A = S.over(dtype)
    limits: tuple[Any, Any] = (-np.inf, np.inf)
    if dtype.kind != "f":
        limits = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    everything = S.traced is not None and S.carrier_in(dtype).op == "constant"
    zero, (low, high) = A.zero.item(), limits
    of_zero = 0 if zero in limits else abs(zero), zero == low, zero == high
    return Known(zero, (A.zero if A.one is None else A.one).item(), low, high, everything, of_zero)


def examine(
    S: Semiring, dtype: np.dtype, arrays: Sequence[tuple[str, Any]], first: Place = (0, 0), with_zero: bool = False
) -> Facts:
    """Refuse anything that is not an element, with its position, and gather facts in the same pass.

    Parameters
    ----------
    S : Semiring
    dtype : dtype
    arrays : sequence of (name, array)
        The name is for messages. All arrays are on the host, or all on a GPU.
    first : (int, int)
        The position of the arrays in the matrix of which they are a part.
    with_zero : bool
        Whether zero counts too, as between the entries of a sparse matrix; on the host.
    """
    if not isinstance(arrays[0][1], np.ndarray):
        return _examine_on_gpu(S, dtype, arrays, first)
    if dtype.names or dtype.kind in "Oc":
        for what, array in arrays:
            _refuse_outside(S, what, array, first)
        return Facts()
    if dtype.kind == "b":
        return Facts(two_valued=True)
    about = known(S, dtype)
    largest, low, high = about.of_zero if with_zero else (0, False, False)
    two = True
    for what, array in arrays:
        found = scan(array if array.ndim in (2, 3) else _matrices(array))
        if found.nan is not None:
            at = _moved(np.argwhere(np.isnan(array))[0], first)
            _refuse(what, "NaN", at, "NaN is not an element of any algebra; mark an absent edge with "
                    f"the algebra's zero, {show(S.zero_in(dtype))}")
        low, high = low or found.bottom, high or found.top
        if found.minimum is not None:
            largest = max(largest, abs(found.minimum), abs(found.maximum))
        two = two and _only(found, about)
    facts = Facts(largest, low, high, two)
    if S.has_multiples:
        zeros = [np.array([about.zero], dtype)] if with_zero else []
        facts = replace(facts, multiple=_common_multiple([*(array for _, array in arrays), *zeros]))
    if not about.everything and not two:
        for what, array in arrays:
            _refuse_outside(S, what, array, first)
    return facts


def _only(found: Scan, about: Known) -> bool:
    """Whether all elements are 0 or 1; the extremes usually decide it."""
    allowed = about.zero, about.one
    if (found.bottom and about.low not in allowed) or (found.top and about.high not in allowed):
        return False
    if found.minimum is None:
        return True
    if found.minimum not in allowed or found.maximum not in allowed:
        return False
    return found.minimum == found.maximum or bool(found.integral and found.maximum - found.minimum == 1)


def _examine_on_gpu(S: Semiring, dtype: np.dtype, arrays: Sequence[tuple[str, Any]], first: Place) -> Facts:
    """The same on a device; the operand is copied back only for an error's value and place."""
    from semiring.kernels.cuda.choose import without_facts
    from semiring.kernels.cuda.dense.exchange import NOT_A_NUMBER, OUTSIDE, look_at

    some = [array for _, array in arrays if array.size]
    if not some or dtype.kind == "b":
        return Facts(two_valued=dtype.kind == "b")
    findings = look_at(without_facts(S, dtype), some)
    if findings.flags & (NOT_A_NUMBER | OUTSIDE):
        for what, array in arrays:
            _refuse_outside(S, what, array.get(), first)
    facts: Facts = findings.facts(dtype)
    if S.has_multiples:
        facts = replace(facts, multiple=_common_multiple([array.get() for array in some]))
    return facts


def _common_multiple(arrays: Sequence[np.ndarray]) -> int:
    """A common multiple of all numbers other than 0; of some of them once it exceeds every dtype."""
    multiple = 1
    for value in np.unique(np.concatenate([np.unique(array) for array in arrays])).tolist():
        multiple = math.lcm(multiple, value or 1)
        if multiple >= 2**64:
            break
    return multiple


def _matrices(array: np.ndarray) -> np.ndarray:
    """Reshape an array with any other number of axes to a stack of matrices."""
    return array.reshape(1, -1) if array.ndim < 2 else stacked(array)


def stacked(array: Any) -> Any:
    """Reshape matrices behind any leading axes to one stack, even if an axis is empty."""
    return array.reshape(math.prod(array.shape[:-2]), *array.shape[-2:])


def _refuse_outside(S: Semiring, what: str, array: np.ndarray, first: Place = (0, 0)) -> None:
    if array.dtype.kind == "O" and S.traced is not None:
        _refuse_strangers(S, what, array)
    A = S.over(array.dtype)
    start = 0
    for part in chunks(array):
        inside = A.contains(part)
        if not inside.all():
            at = np.argwhere(~inside)[0]
            value = part[tuple(at)]
            if part.ndim:
                at[0] += start
            kind = "NaN" if is_nan(full(np.empty(1, part.dtype), value))[0] else show(value)
            why = f"it is outside the carrier of {S.name}, {S.notation}{S.how_written}"
            _refuse(what, kind, _moved(at, first), why)
        start += len(part) if part.ndim else 0


def _moved(at: np.ndarray, first: Place) -> tuple[int, ...]:
    """Convert a place in a part of a matrix to one in the matrix."""
    place: tuple[int, ...] = tuple(at.tolist())
    return (place[0] + first[0], place[1] + first[1]) if any(first) else place


def _refuse_strangers(S: Semiring, what: str, array: np.ndarray) -> None:
    """Refuse Python objects that are not numbers, and those for which an operation is not defined."""
    doubtful = {kind for kind in kinds_of(array) if not issubclass(kind, INTEGERS) or issubclass(kind, TIMES)}
    for at, value in np.ndenumerate(array):
        if not doubtful:
            return
        if (kind := type(value)) not in doubtful:
            continue
        if isinstance(value, STRANGERS):
            _refuse(what, clip_repr(value), at, f"{S.name} computes with numbers; mark an absent edge with the "
                    f"algebra's zero, {show(S.zero)}")
        if not computes_with(S, value):
            _refuse(what, clip_repr(value), at, f"the operations of {S.name} are not defined for objects of type "
                    f"{kind.__name__}; pass numbers of another type")
        doubtful.remove(kind)


def computes_with(S: Semiring, value: Any) -> bool:
    """Return whether the operations are defined for a value; unless it is a number, with zero and one too."""
    do: dict[str, Any] = S.over(object).scalar
    try:
        do["carrier"](value)
        do["raw_mul"](value, value)
        do["add"](value, value)
        if not isinstance(value, Number) or isinstance(value, TIMES):
            do["add"](value, S.zero)
            if S.one is not None:
                do["add"](value, S.one)
                do["raw_mul"](value, S.one)
    except (TypeError, AttributeError, ValueError):
        return False
    except ArithmeticError:  # of this value alone
        return True
    return True


def _refuse(what: str, value: str, position: Sequence[int], why: str) -> None:
    raise SemiringError(f"{what}[{', '.join(map(str, position))}] is {value}: {why}")
