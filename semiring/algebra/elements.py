"""Arrays of elements of any dtype, records and Python objects too: how they compare, and how one is written."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

FLOATS = (float, np.floating)
EXACT = {int, bool, Fraction}  # types of numbers that are finite and never rounded
MINUS = "−"  # the sign of negative numbers in text that is read, not copied


def equal(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Element-wise equality, of records in all components."""
    if x.dtype.names:
        return np.logical_and.reduce([x[f] == y[f] for f in x.dtype.names])
    return np.asarray(x == y, bool)


def full(like: np.ndarray, value: Any) -> np.ndarray:
    """An array like another, every element the given one."""
    result = np.empty(like.shape, like.dtype)
    if like.dtype == object:
        for i in range(result.size):
            result.flat[i] = value
    else:
        result[...] = value
    return result


def is_nan(x: np.ndarray) -> np.ndarray:
    """Test which elements are NaN, or records with a NaN."""
    if x.dtype.names:
        return np.logical_or.reduce([is_nan(x[f]) for f in x.dtype.names])
    if x.dtype.kind == "O":
        if not has_floats(x):
            return np.zeros(x.shape, bool)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.frompyfunc(lambda e: isinstance(e, (float, np.floating)) and e != e, 1, 1)(x), bool)
    return np.isnan(x) if x.dtype.kind in "fc" else np.zeros(x.shape, bool)


def kinds_of(x: np.ndarray) -> set[type]:
    """The types of Python objects in an array.

    >>> kinds_of(np.array([1, "a", 2], object)) == {int, str}
    True
    """
    return set(map(type, x.ravel().tolist()))


def has_floats(x: np.ndarray) -> bool:
    """Whether an array of Python objects holds floats, of which some may be NaN.

    >>> has_floats(np.array([1, "a"], object)), has_floats(np.array([1, np.float32(2)], object))
    (False, True)
    """
    return any(issubclass(kind, FLOATS) for kind in kinds_of(x))


def choose(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`np.where` for arrays that may be records."""
    result = np.array(y, copy=True)
    condition = np.broadcast_to(np.asarray(condition, bool), result.shape)
    result[condition] = x[condition]
    return result


def show(element: Any, minus: str = "-") -> str:
    """An element as a person would write it; `minus` is the sign of negative numbers.

    >>> show(frozenset({(3.0, -5.0), (9.0, 0.0)})), show(frozenset()), show(frozenset({""})), show(-np.inf)
    ('{(3, -5), (9, 0)}', '∅', '{ε}', '−∞')
    """
    if isinstance(element, np.void):
        element = tuple(element[f] for f in element.dtype.names or ())
    if isinstance(element, tuple):
        return "(" + ", ".join(show(part, minus) for part in element) + ")"
    if isinstance(element, (set, frozenset)):
        pairs = all(isinstance(part, tuple) for part in element)
        parts = [show(part, minus) for part in (sorted(element) if pairs else element)]
        parts = parts if pairs else sorted(parts, key=lambda text: (len(text), text))
        return "{" + ", ".join(parts) + "}" if parts else "∅"
    if isinstance(element, (float, np.floating)) and np.isinf(element):
        return "∞" if element > 0 else "−∞"
    if isinstance(element, (complex, float, np.inexact)):
        return f"{element:g}".replace("-", minus)
    text = getattr(element, "_shown", None) or str(element) or "ε"
    return text.replace("-", minus) if isinstance(element, (int, np.integer)) else text


def sequence(values: Sequence[Any], dtype: np.dtype) -> np.ndarray:
    """Elements as a 1-D array; object elements stay whole, even if they are sequences themselves."""
    if dtype.kind != "O":
        return np.array(values, dtype)
    result = np.empty(len(values), object)
    for i, v in enumerate(values):
        result[i] = v
    return result
