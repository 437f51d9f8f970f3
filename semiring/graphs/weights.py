"""Convert weights of edges to elements of an algebra; an error names the edge whose weight is invalid."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from semiring.algebra.constants import outside
from semiring.algebra.elements import show
from semiring.errors import GraphError, SemiringError

from .names import is_integer, is_missing
from .texts import infinities, shown, with_infinities

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring


def as_weights(column: Any) -> np.ndarray:
    """A column of weights as an array: numbers or records unchanged, anything else as objects."""
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise GraphError(f"weights of shape {column.shape}: pass one for each edge (records as tuples)")
        if column.dtype.names or column.dtype.kind in "biufc":
            return column
        column = column.tolist()
    kinds = set(map(type, column))
    if np.timedelta64 in kinds:  # which NumPy counts among its integers
        return np.fromiter(column, dtype=object, count=len(column))
    if kinds and all(issubclass(k, (int, np.integer)) and k is not bool for k in kinds):
        try:
            return np.array(column, dtype=np.int64)
        except OverflowError:
            return np.fromiter(column, dtype=object, count=len(column))  # Python integers have no limit
    if all(issubclass(k, (int, float, complex, np.number, np.bool_)) for k in kinds):
        found = np.array(column)
        rounded = found.dtype.kind in "fc" and any(issubclass(k, (int, np.integer)) for k in kinds)
        if not rounded or all(_holds(found.dtype, value) for value in column):
            return found
    return np.fromiter(column, dtype=object, count=len(column))


def _holds(dtype: np.dtype, value: Any) -> bool:
    """Whether a dtype of floats holds a number exactly, if it is an integer."""
    if not isinstance(value, (int, np.integer)) or abs(int(value)) <= 1 << (np.finfo(dtype).nmant + 1):
        return True
    try:
        return int(dtype.type(value).real) == int(value)
    except OverflowError:
        return False


def refuse_nan(values: np.ndarray, place: Callable[[int], str], what: str = "weight") -> None:
    """Refuse NaN and None, which are not elements of any algebra, also in components of records."""
    dtype = values.dtype
    if dtype.names:
        for field in dtype.names:
            refuse_nan(values[field], place, f"weight, component {field!r},")
        return
    if dtype.kind == "O":
        bad = np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
    elif dtype.kind in "fc":
        bad = np.isnan(values)
    else:
        return
    if bad.any():
        i = int(np.argwhere(bad)[0][0])
        value = "None" if dtype.kind == "O" and values[i] is None else "NaN"
        raise GraphError(f"{place(i)}: the {what} is {value}; leave the edge out, or give it a weight")


def unweighted(S: Semiring, dtype: DTypeLike | None, default: Any) -> np.ndarray:
    """The weight of edges that have none, an array of one element."""
    if default is not None:
        return elements(S, as_weights([default]), dtype, lambda i: "default")
    if S.lift is not None:
        return elements(S, np.ones(1), dtype, lambda i: "default")
    if S.is_record or S.is_object:
        raise GraphError(
            f"the edges have no weights, and {S.name} has no natural one: pass default=, the weight of an edge"
            f"{S.how_written}"
        )
    target = S.resolve_dtype(S.default_dtype if dtype is None else np.dtype(dtype))
    one = np.ones(1, dtype=target)
    if target.kind == "b":
        one[0] = S.one_in(target)
    if one[0] == S.zero_in(target):
        raise GraphError(
            f"the edges have no weights, and in {S.name} on {target} the weight 1 means no edge: pass default="
        )
    return one


def elements(S: Semiring, values: np.ndarray, dtype: DTypeLike | None, place: Callable[[int], str]) -> np.ndarray:
    """Weights as elements of the algebra, in the dtype for them; `place` names an edge in messages."""
    result = _converted(S, values, dtype, place)
    inside = S.over(result.dtype).contains(result)
    if not inside.all():
        i = int(np.argmin(inside))
        raise GraphError(
            f"{place(i)}: the weight {show(result[i])} is outside the carrier of {S.name}, {S.notation}; "
            f"correct the edge, or leave it out{S.how_written}"
        )
    return result


def fitted(S: Semiring, values: np.ndarray, target: np.dtype, place: Callable[[int], str]) -> np.ndarray:
    """Elements in another dtype; ∞ stays ∞, also in integers.

    Raises
    ------
    GraphError
        If an element does not fit; `place` names it.

    Examples
    --------
    >>> import semiring as sr
    >>> fitted(sr.min_plus, np.array([1.0, np.inf]), np.dtype("i2"), str).tolist()
    [1, 32767]
    """
    shape, values = values.shape, with_infinities(values, S).reshape(-1)
    if values.dtype.names or target.kind not in "iu":
        return elements(S, values, target, place).reshape(shape)
    ends = {x: i for i, x in infinities(S, target).items()}
    infinite = [values == x for x in ends]
    finite = ~np.logical_or.reduce(infinite) if infinite else np.ones(len(values), bool)
    made = np.empty(len(values), target)
    at = np.flatnonzero(finite)
    made[finite] = elements(S, values[finite], target, lambda i: place(int(at[i])))
    limited = finite & np.isin(made, list(ends.values()))
    if limited.any():
        i = int(np.argmax(limited))
        raise GraphError(f"{place(i)}: the weight {values[i]} does not fit {target}, where it stands for ∞")
    for where, x in zip(infinite, ends, strict=True):
        made[where] = ends[x]
    return made.reshape(shape)


def _converted(S: Semiring, values: np.ndarray, dtype: DTypeLike | None, place: Callable[[int], str]) -> np.ndarray:
    wanted = None if dtype is None else S.resolve_dtype(np.dtype(dtype))
    if S.is_object:
        return values.astype(object)
    if S.is_record:
        return _records(S, values, wanted, place)
    if values.dtype.names:
        fields = shown(", ".join(values.dtype.names))
        raise GraphError(f"weights are records ({fields}), but the elements of {S.name} are numbers")
    for i, value in enumerate(values if values.dtype.kind == "O" else ()):
        if not isinstance(value, Number) or isinstance(value, np.timedelta64):
            raise GraphError(f"{place(i)}: the weight {value!r} is not a number")
    if len(values) and values.dtype.kind not in "biufcO":
        raise GraphError(f"{place(0)}: the weight {values[0]!r} is not a number")
    if wanted is None:
        wanted = _home(S, values.dtype)
    if wanted.kind == "b" and values.dtype.kind != "b":
        one = S.one_in(wanted)
        if S.add(np.array([one]), np.array([one]))[0] == one:
            return np.full(len(values), one)
    return _cast(values, wanted, place)


def _home(S: Semiring, dtype: np.dtype) -> np.dtype:
    """The dtype for weights of a dtype: the algebra's own choice, else its default, which must hold every weight."""
    if S.default_dtype.kind == "b":
        return S.default_dtype
    try:
        return S.promoted(dtype)
    except SemiringError:
        return S.default_dtype


def _cast(values: np.ndarray, target: np.dtype, place: Callable[[int], str]) -> np.ndarray:
    """Values in another dtype; a shorter float may round, but an integer or a magnitude must not change."""
    if not len(values):
        return np.empty(0, target)
    if values.dtype == target or target.kind == "O":
        return values.astype(target, copy=False)
    if values.dtype.kind == "O":
        values = _numbers(values, target, place)
    if target.kind in "biu":
        low, high = (0, 1) if target.kind == "b" else (int(np.iinfo(target).min), int(np.iinfo(target).max))
        if values.dtype.kind == "c":
            fits = values.imag != values.imag
        elif values.dtype.kind == "f":
            # the float above `high` is exact, but `high` itself may not be
            fits = (values >= float(low)) & (values < float(high + 1)) & (np.floor(values) == values)
        else:
            fits = ~outside(values, low, high)
    elif values.dtype.kind == "c" and target.kind == "f":
        fits = values.imag == 0
        values = values.real if fits.all() else values
    else:
        with np.errstate(over="ignore"):
            fits = np.isinf(values) | ~np.isinf(values.astype(target))
    if not fits.all():
        i = int(np.argmin(fits))
        raise GraphError(f"{place(i)}: the weight {values[i]} does not fit {target}: pass another dtype")
    return values.astype(target)


def _numbers(values: np.ndarray, target: np.dtype, place: Callable[[int], str]) -> np.ndarray:
    """Numbers that are objects as an array of integers if they are integers and the target is, else of floats."""
    try:
        if target.kind in "iu" and all(map(is_integer, values)):
            return np.array(values.tolist(), dtype=target)
        return values.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        for i, value in enumerate(values):
            try:
                target.type(value), np.float64(value)
            except (OverflowError, TypeError, ValueError):
                raise GraphError(f"{place(i)}: the weight {value!r} does not fit {target}") from None
        raise


def _columns_of(field: str, values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The components of a field: one, unless it is a vector."""
    if values.ndim == 1:
        return [(field, values)]
    return [(f"{field}.{k}", values[:, k]) for k in range(values.shape[1])]


def _in_order(S: Semiring, values: np.ndarray, shape: str) -> np.ndarray:
    """Records with the algebra's names: matched by name, or by order if all names differ.

    Raises
    ------
    GraphError
        If the number of components differs, or some of the algebra's names are at other positions.
    """
    given, fields = values.dtype.names or (), S.element_dtype.names or ()
    if set(given) == set(fields):
        return values
    numbers = S.default_dtype.names or ()  # with vectors as single numbers
    if len(given) != len(numbers) or any(values.dtype[f].shape for f in given):
        raise GraphError(f"weights have the components ({shown(', '.join(given))}), and {shape}")
    moved = [f for f, own in zip(given, numbers, strict=True) if f in numbers and f != own]
    if moved:
        raise GraphError(f"weights have the components ({shown(', '.join(given))}), and {shape}: {shown(moved[0])} "
                         "is at another position, so that neither names nor order can be used; rename them")
    made = np.empty(len(values), [(own, values.dtype[f]) for f, own in zip(given, numbers, strict=True)])
    for f, own in zip(given, numbers, strict=True):
        made[own] = values[f]
    return made


def _records(S: Semiring, values: np.ndarray, wanted: np.dtype | None, place: Callable[[int], str]) -> np.ndarray:
    """Weights that are records, component by component."""
    fields = S.element_dtype.names or ()
    shape = f"an element of {S.name} is a tuple ({', '.join(fields)})"
    if S.lift is not None and S.lift.takes(values.dtype):
        values = S.lift(values)
    if values.dtype.names:
        values = _in_order(S, values, shape)
        columns = dict(chain.from_iterable(_columns_of(field, values[field]) for field in values.dtype.names or ()))
        target = S.resolve_dtype(values.dtype) if wanted is None else wanted
    else:
        if values.dtype.kind != "O" and len(values):
            raise GraphError(
                f"weights are numbers ({values.dtype}), and {shape}: pass such tuples or a structured array"
            )
        for i, value in enumerate(values):
            if not isinstance(value, (tuple, list)) or len(value) != len(fields):
                raise GraphError(f"{place(i)}: the weight is {value!r}, and {shape}")
        rows = [S.components_of(value) for value in values]
        columns = {f: as_weights([row[k] for row in rows]) for k, f in enumerate(S.default_dtype.names or ())}
        target = S.default_dtype if wanted is None else wanted
    result = np.empty(len(values), dtype=target)
    for field, column in columns.items():
        if column.ndim != 1 or column.dtype.kind not in "biufcO":
            raise GraphError(f"component {field!r} of the weights is {column.dtype}"
                             f"{' of several axes' * (column.ndim > 1)}, and {shape} of numbers")
        for i, part in enumerate(column if column.dtype.kind == "O" else ()):
            if not isinstance(part, Number):
                raise GraphError(f"{place(i)}: component {field!r} of the weight is {part!r}, not a number")
        result[field] = _cast(column, target[field], place)
    refuse_nan(result, place)
    return result
