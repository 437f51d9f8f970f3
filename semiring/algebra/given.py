"""What callers pass as elements: scalars, lists and arrays as arrays of a dtype, or an error that says what is wrong.

    x   lists, tuples that are records, Python objects, arrays
      → an array              `array_of`; texts, None and the like are refused, with their place
      → of the dtype wanted   `in_dtype`; a number that it cannot hold is refused, not wrapped or cut
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import SemiringError

from .constants import cast_constant, outside
from .elements import full, is_nan, kinds_of, sequence, show
from .masks import is_masked, unmasked
from .vectors import convert

if TYPE_CHECKING:
    from .semiring import Semiring

MOST_AXES = 32  # of an array that NumPy broadcasts
SHOWN = 60  # characters of an object that a message shows
FLOAT_BITS = 1024  # of an integer that no float holds


def array_of(S: Semiring, x: Any, what: str) -> np.ndarray:
    """Elements as an array: of numbers, records or Python objects.

    Raises
    ------
    SemiringError
        If something is not a number, lists differ in length, or a record has other components.
    """
    if isinstance(x, (np.ndarray, np.generic)):
        array = unmasked(x, S, what) if is_masked(x) else np.asarray(x)
    elif S.traced is None:
        given = x if isinstance(x, list) else [x]
        array = sequence(given, np.dtype(object)).reshape(len(given) if x is given else ())
    else:
        array = _of_lists(S, x, what)
    if array.ndim > MOST_AXES:
        raise SemiringError(f"{S.name}: {what} has {array.ndim} axes, and NumPy computes with at most {MOST_AXES}")
    if S.traced is None and array.dtype != object:
        array = array.astype(object)
    if S.traced is not None and array.dtype == object:
        _refuse_strangers(S, array, what)
    if S.traced is not None and (array.dtype.kind not in "biufcO" or array.dtype.char in "gG"):  # or long doubles
        carrying(array.dtype, S, what)  # which says where the algebra lives
    if S.fields and not array.dtype.names:
        if S.lift is None or not S.lift.takes(array.dtype):
            raise SemiringError(f"{S.name}: {what} has numbers, and the elements are records of "
                                f"{', '.join(S.fields)}: pass tuples, or an array of S.element_dtype")
        array = S.lift(array)
    return array


def carrying(dtype: np.dtype, S: Semiring, what: str, literal: bool = False) -> np.dtype:
    """The dtype in which elements of a dtype are computed; a refusal says of which operand, unless `what` is empty.

    If `literal`, Python numbers became this dtype, and may become another one.

    Raises
    ------
    SemiringError
        If the dtype cannot carry the algebra.
    """
    try:
        return S._home(dtype) if literal else S.promoted(dtype)
    except SemiringError as e:
        raise SemiringError(f"{what}: {e}" if what else str(e)) from None


def in_dtype(S: Semiring, array: np.ndarray, dtype: np.dtype, what: str) -> np.ndarray:
    """Elements in a dtype in which the algebra lives.

    Raises
    ------
    SemiringError
        If the dtype cannot hold one of them.
    """
    have = array.dtype
    if have == dtype:
        return array
    if have.names or dtype.names or dtype.kind == "O":
        return convert(array, dtype) if have.names else array.astype(dtype)
    exact = dtype.kind in "iub" and have.kind == "f"
    if exact or have.kind == "O" or (have.kind == "c" and dtype.kind != "c"):
        try:
            numbers = [cast_constant(_whole(v, dtype), dtype) for v in array.ravel().tolist()]
        except OverflowError as e:
            raise SemiringError(f"{S.name}: {what} does not fit the dtype {dtype} of the operation: {_cut(str(e))}; "
                                "convert x to a wider dtype") from None
        return np.array(numbers, dtype).reshape(array.shape)
    if dtype.kind in "iub" and have.kind in "iu":
        return _of_integers(S, array, dtype, what)
    with np.errstate(over="ignore"):
        made: np.ndarray = array.astype(dtype)
    if made.dtype.kind in "fc" and (lost := np.isfinite(array) & ~np.isfinite(made)).any():
        _refuse(S, array, lost, dtype, what)
    return made


def refuse_outside(S: Semiring, array: np.ndarray, inside: np.ndarray, what: str) -> None:
    """Refuse an array by the first of its numbers that is not an element.

    Raises
    ------
    SemiringError
        Always.
    """
    at = tuple(np.argwhere(~inside)[0].tolist())
    place = f"{what}[{', '.join(map(str, at))}]" if at else what
    if is_nan(array[(*at, None)])[0]:
        raise SemiringError(f"{S.name}: {place} is NaN, which is not an element of any algebra; zero is {show(S.zero)}")
    raise SemiringError(f"{S.name}: {place} is {show(array[at])}: it is outside the carrier of {S.name}, "
                        f"{S.notation}{S.how_written}")


def refuse_shapes(S: Semiring, x: np.ndarray, y: np.ndarray) -> None:
    """Refuse operands whose shapes do not broadcast.

    Raises
    ------
    SemiringError
        Likewise.
    """
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise SemiringError(f"{S.name}: x has shape {x.shape} and y {y.shape}, which do not broadcast: from the last "
                            "axis on, lengths must be equal, or one of them 1") from None


def refuse_kinds(S: Semiring, x: np.ndarray, y: np.ndarray) -> None:
    """Refuse Python objects that are elements, but which Python does not add to each other: Decimal and float.

    Raises
    ------
    SemiringError
        Likewise.
    """
    kinds = [kinds_of(a) for a in (x, y)]
    both = kinds[0] | kinds[1]
    floats = [kind for kind in both if issubclass(kind, (float, np.floating))]
    if Decimal in both and floats:
        where = " and ".join(f"{what} has {' and '.join(sorted(k.__name__ for k in found))}"
                             for what, found in zip("xy", kinds, strict=True))
        raise SemiringError(f"{S.name}: {where}, and Python does not compute with Decimal and {floats[0].__name__} "
                            "together: convert one of the operands")


def _of_lists(S: Semiring, x: Any, what: str) -> np.ndarray:
    """Nested lists of numbers, or of tuples that are records."""
    records = bool(S.fields) and not _of_numbers(x)
    try:
        if records:
            _refuse_none(S, x, what)
        return np.asarray(x, S.element_dtype if records else None)
    except (ValueError, TypeError, OverflowError) as e:
        if isinstance(e, SemiringError):
            raise
        needed = f"tuples of {', '.join(S.fields or ())}" if records else "numbers, in lists of equal length"
        raise SemiringError(f"{S.name}: {what} is {_short(x)}, and must be {needed}: {e}") from None


def _of_numbers(x: Any) -> bool:
    """Whether nested lists hold plain numbers, which NumPy would repeat to make records."""
    while isinstance(x, list) and x:
        x = x[0]
    return isinstance(x, Number) or (isinstance(x, np.ndarray) and x.dtype.kind in "biufc")


def _refuse_none(S: Semiring, x: Any, what: str) -> None:
    """Refuse None in records, which NumPy takes for NaN."""
    if x is None:
        raise SemiringError(f"{S.name}: {what} has None, which is not a number; zero is {show(S.zero)}")
    if isinstance(x, (list, tuple)):
        for part in x:
            _refuse_none(S, part, what)


def _refuse_strangers(S: Semiring, array: np.ndarray, what: str) -> None:
    """Refuse Python objects that are not numbers, or for which the operations are not defined."""
    do: Any = S.over(object).scalar
    for kind in kinds_of(array):
        at = next(i for i in np.ndindex(array.shape) if type(array[i]) is kind)
        value = array[at]
        place = f"{what}[{', '.join(map(str, at))}]" if at else what
        if value is None or isinstance(value, (str, bytes, dict, set, frozenset, list, tuple, type)):
            raise SemiringError(f"{S.name}: {place} is {_short(value)}, which is not a number; zero is {show(S.zero)}")
        if isinstance(value, int):
            _refuse_large(S, array, what)
            continue
        if getattr(value, "shape", ()):
            raise SemiringError(f"{S.name}: {place} is of type {kind.__name__} and shape {value.shape}: the operations "
                                f"are not defined for objects of type {kind.__name__} in an array; pass one element, "
                                "or an array of elements")
        inside = True
        try:
            inside = isinstance(value, Number) or bool(do["carrier"](value))
            for op in ("raw_mul", "add"):
                do[op](value, value)
            if not isinstance(value, Number):
                do["add"](value, S.zero)
        except (TypeError, AttributeError, ValueError):
            raise SemiringError(f"{S.name}: {place} is {_short(value)}: the operations are not defined for objects of "
                                f"type {kind.__name__}") from None
        except ArithmeticError:  # of this value alone
            continue
        if not inside:
            raise SemiringError(f"{S.name}: {place} is {_short(value)}: it is outside the carrier of {S.name}, "
                                f"{S.notation}{S.how_written}")


def _refuse_large(S: Semiring, array: np.ndarray, what: str) -> None:
    """Refuse an integer for which an operation by floats has no room."""
    numbers: dict[Any, Any] = {at: abs(array[at]) for at in np.ndindex(array.shape) if isinstance(array[at], int)}
    at = max(numbers, key=lambda at: numbers[at])
    if numbers[at].bit_length() < FLOAT_BITS:
        return
    do = S.over(object).scalar
    try:
        do["raw_mul"](array[at], array[at])
        do["add"](array[at], array[at])
    except OverflowError as e:
        place = f"{what}[{', '.join(map(str, at))}]" if at else what
        raise SemiringError(f"{S.name}: {place} is {_short(array[at])}, an integer too large for the operations: {e}"
                            ) from None


def _whole(value: Any, dtype: np.dtype) -> Any:
    """A number as `cast_constant` takes it: fractions and decimals as floats, if they are not integers."""
    if isinstance(value, (int, float, complex)):
        return value.real if isinstance(value, complex) and not value.imag and dtype.kind != "c" else value
    return int(value) if value == value and abs(value) != np.inf and value == int(value) else float(value)


def _of_integers(S: Semiring, array: np.ndarray, dtype: np.dtype, what: str) -> np.ndarray:
    """Integers in another dtype of integers; what stands for 0 and 1 stays that."""
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    lost = outside(array, int(limits.min), int(limits.max)) if limits else outside(array, 0, 1)
    made = array.astype(dtype)
    if array.dtype in S.dtypes:
        have, want = S.over(array.dtype), S.over(dtype)
        for here, there in ((have.zero, want.zero), (have.one, want.one)):
            if here is not None and here != there:
                same = array == here
                made, lost = np.where(same, full(made, there), made), lost & ~same
    if lost.any():
        _refuse(S, array, lost, dtype, what)
    return made


def _refuse(S: Semiring, array: np.ndarray, lost: np.ndarray, dtype: np.dtype, what: str) -> None:
    at = tuple(np.argwhere(lost)[0].tolist())
    place = f"{what}[{', '.join(map(str, at))}]" if at else what
    raise SemiringError(f"{S.name}: {place} is {show(array[at])}, which the dtype {dtype} of the operation cannot "
                        f"hold: convert x to a wider dtype, for example with .astype('{array.dtype}')")


def _short(value: Any) -> str:
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
