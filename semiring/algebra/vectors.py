"""Record components that are vectors: the argument of a traced function for one, and dtypes with and without vectors.

Kernels only know components that are numbers. A field ``v`` of dtype ("f8", 3) is three of them, v.0, v.1 and v.2, at
the same places of the same memory, so a view converts between the two dtypes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from semiring.errors import TraceError


def flattened(dtype: np.dtype) -> np.dtype:
    """An aligned record dtype with vectors as adjacent numbers.

    Examples
    --------
    >>> flattened(np.dtype([("v", "f8", 2), ("n", "i4")], align=True)).names
    ('v.0', 'v.1', 'n')
    """
    if not dtype.names:
        return dtype
    return np.dtype([pair for f in dtype.names for pair in flat_field(f, dtype[f])], align=True)


def flat_field(name: str, dtype: np.dtype) -> list[tuple[str, np.dtype]]:
    """The components of a field."""
    if dtype.subdtype is None:
        return [(name, dtype)]
    base, shape = dtype.subdtype
    return [(f"{name}.{k}", base) for k in range(int(np.prod(shape)))]


def convert(array: np.ndarray, wanted: np.dtype) -> np.ndarray:
    """Convert an array to another dtype: fields of records by name, vectors to adjacent numbers, and back."""
    given = array.dtype
    if not (wanted.names and given.names):
        return array.astype(wanted)
    if set(wanted.names) == set(given.names):
        result = np.empty(array.shape, wanted)
        for f in wanted.names:
            result[f] = array[f]
        return result
    # One of the two has vectors, the other the same numbers as fields in the same memory.
    if set(flattened(given).names or ()) == set(wanted.names):
        base = {f: wanted[f] if f in wanted.names else wanted[f"{f}.0"] for f in given.names}
        aligned = np.dtype([(f, base[f], given[f].shape) for f in given.names], align=True)
        return convert(convert(array, aligned).view(flattened(aligned)), wanted)
    aligned = np.dtype([(f, wanted[f]) for f in wanted.names], align=True)
    return convert(convert(array, flattened(aligned)).view(aligned), wanted)


def flat_element(element: Sequence[Any], fields: Mapping[str, np.dtype]) -> list[Any] | None:
    """The components of an element given field by field, or None if a vector has the wrong length."""
    parts: list[Any] = []
    for value, dtype in zip(element, fields.values(), strict=True):
        if dtype.subdtype is None:
            parts.append(value)
            continue
        if not isinstance(value, (tuple, list, np.ndarray, Vector)) or len(value) != dtype.shape[0]:
            return None
        parts += list(value)
    return parts


class Vector:
    """A vector of numbers, to which operations apply one by one, as to an array of one axis.

    A number, or a vector of one, is broadcast to the length of the other operand; arrays and lists are vectors of
    constants.
    """

    __hash__ = None  # type: ignore[assignment]
    sum: Callable[[], Any]  # of the numbers; `_install_operators` adds this method, and those for other reductions

    def __init__(self, parts: Iterable[Any], constants: Any = None):
        self._parts = list(parts)
        self.constants = constants  # the array or list that turned numbers into a vector, for messages

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def __getitem__(self, key: int | slice) -> Any:
        return Vector(self._parts[key]) if isinstance(key, slice) else self._parts[key]

    def __repr__(self) -> str:
        return f"Vector({self._parts})"

    def __bool__(self) -> bool:
        raise TraceError("a vector has no truth value; write (v == w).all() or (v < w).any()")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce":
            return reduce(ufunc, inputs[0])
        if method == "__call__" and ufunc is np.matmul and not options:
            return dot(*inputs)
        if method != "__call__" or options:
            raise TraceError(f"np.{ufunc.__name__} on vectors must be one plain call, or a reduction")
        return each(ufunc, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if (function in REDUCTIONS or function is np.mean) and len(args) == 1 and not kwargs:
            return getattr(args[0], function.__name__)()
        if function in (np.dot, np.inner):
            return dot(*args, **kwargs)
        return each(lambda *parts: function(*parts, **kwargs), *args)

    def mean(self) -> Any:
        """The sum of the numbers divided by their number."""
        return self.sum() / len(self)

    def dot(self, other: Any) -> Any:
        """The sum of the products of the numbers at each place."""
        return dot(self, other)

    __matmul__ = dot

    def __rmatmul__(self, other: Any) -> Any:
        return dot(other, self)


def is_several(x: Any) -> bool:
    """Whether an operand is a vector, or an array or list of constants."""
    return isinstance(x, (Vector, list)) or (isinstance(x, np.ndarray) and x.ndim > 0)


def each(function: Callable[..., Any], *operands: Any) -> Vector:
    """Apply a function to the numbers at each place.

    Raises
    ------
    TraceError
        If vectors of different lengths meet, or an array has several axes.

    Examples
    --------
    >>> each(max, Vector([1, 5, 2]), [3], 2)
    Vector([3, 5, 3])
    """
    for x in operands:
        if isinstance(x, np.ndarray) and x.ndim > 1:
            raise TraceError(f"an array of shape {x.shape} is used in an operation; vectors have one axis")
    lengths = {len(x) for x in operands if is_several(x)}
    longest = lengths - {1} or lengths
    if len(longest) != 1:
        numbers = " and ".join(map(str, sorted(longest)))
        raise TraceError(f"vectors of {numbers} numbers are combined; they must have the same length" if longest else
                         "an operation of vectors needs a vector as an operand; write it for numbers, such as x.v[0]")
    (length,) = longest
    columns = [list(x) * (length if len(x) == 1 else 1) if is_several(x) else [x] * length for x in operands]
    constants = next((x for x in operands if is_several(x) and not isinstance(x, Vector)), None)
    return Vector([function(*parts) for parts in zip(*columns, strict=True)], constants)


def dot(x: Any, y: Any) -> Any:
    """The sum of the products of the numbers at each place of two vectors.

    Raises
    ------
    TraceError
        If one of them is not a vector, or they differ in length.
    """
    if not (is_several(x) and is_several(y)) or len(x) != len(y):
        lengths = " and ".join(str(len(v)) if is_several(v) else "no vector" for v in (x, y))
        raise TraceError(f"a scalar product needs two vectors of the same length, not {lengths}")
    return each(np.multiply, x, y).sum()


# NumPy's functions of all numbers of a vector, and the operations that these repeat.
REDUCTIONS: dict[Any, np.ufunc] = {
    np.sum: np.add, np.prod: np.multiply, np.min: np.minimum, np.max: np.maximum, np.all: np.logical_and,
    np.any: np.logical_or,
}


def _install_operators() -> None:
    import operator

    for function, ufunc in REDUCTIONS.items():
        setattr(Vector, function.__name__, lambda self, ufunc=ufunc: reduce(ufunc, self))
    for name in "add sub mul truediv floordiv mod pow and or xor".split():
        call = getattr(operator, f"__{name}__")
        setattr(Vector, f"__{name}__", lambda self, other, call=call: each(call, self, other))
        setattr(Vector, f"__r{name}__", lambda self, other, call=call: each(call, other, self))
    for name in "lt le gt ge eq ne".split():
        call = getattr(operator, f"__{name}__")
        setattr(Vector, f"__{name}__", lambda self, other, call=call: each(call, self, other))
    for name in "neg pos abs invert".split():
        call = getattr(operator, f"__{name}__")
        setattr(Vector, f"__{name}__", lambda self, call=call: each(call, self))


_install_operators()
