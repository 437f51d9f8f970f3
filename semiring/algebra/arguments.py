"""Checks of plain arguments that many functions take."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from semiring.errors import SemiringError


def whole_number(value: Any, what: str, least: int, most: int | None = None) -> int:
    """Return an argument that counts something, as an int.

    Raises
    ------
    SemiringError
        If it is not a whole number, or outside its limits.
    """
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise SemiringError(f"{what} must be a whole number {limits}, and is {value!r}")
    return number


def is_truth_value(value: Any) -> bool:
    """Whether an argument is True or False, or 1 or 0.

    Examples
    --------
    >>> is_truth_value(np.False_), is_truth_value(2), is_truth_value("no")
    (True, False, False)
    """
    return isinstance(value, (bool, np.bool_, int)) and value in (0, 1)


def truth_value(value: Any, what: str) -> bool:
    """Return an argument that is true or false.

    Raises
    ------
    SemiringError
        If it is something else, such as a text or a 2, which Python would count as true.

    Examples
    --------
    >>> truth_value(np.True_, "reverse"), truth_value(0, "reverse")
    (True, False)
    """
    if not is_truth_value(value):
        raise SemiringError(f"{what} must be True or False, and is {value!r}")
    return bool(value)


def array_of(values: Any, what: str) -> np.ndarray:
    """Return an argument as an array; truth values among numbers stay truth values, which NumPy makes 0 and 1.

    Raises
    ------
    SemiringError
        If the values do not form an array, or some of them are masked.

    Examples
    --------
    >>> array_of([2, 0], "sources"), array_of([True, 0], "sources")
    (array([2, 0]), array([True, 0], dtype=object))
    """
    if hasattr(values, "mask") and np.ma.is_masked(values):
        raise SemiringError(f"{what} have masked entries: leave them out, or fill them")
    try:
        array = np.asarray(values)
        if isinstance(values, (list, tuple)) and array.dtype.kind in "iuf":
            objects = np.asarray(values, object)
            if any(isinstance(value, (bool, np.bool_)) for value in objects.flat):
                return objects
    except (ValueError, TypeError, OverflowError, RuntimeError) as e:
        raise SemiringError(f"{what} are not an array: {e}") from None
    return array
