"""Checks of plain arguments that many functions take."""

from __future__ import annotations

from operator import index
from typing import Any

from semiring.errors import SemiringError


def whole_number(value: Any, what: str, least: int, most: int | None = None) -> int:
    """An argument that counts something, as an int.

    Raises
    ------
    SemiringError
        When it is no whole number, or outside its limits.
    """
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise SemiringError(f"{what} must be a whole number {limits}, and is {value!r}")
    return number
