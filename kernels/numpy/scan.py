"""Facts about the values of an array by NumPy: what `semiring.kernels.cpu.dense.scan` compiles a pass for."""

from __future__ import annotations

from typing import Any

import numpy as np

CALLS = 4e-5  # seconds of a scan, beside what each element takes
ELEMENT = 4e-9


def scan(array: np.ndarray) -> tuple[bool, bool, bool, bool, bool, Any, Any]:
    """Whether NaN, the top, the bottom, −0 and fractions occur; the least and the greatest other value, or None.

    Parameters
    ----------
    array : ndarray
        Of floats, integers or bool. Its dtype's top and bottom are ±∞, the limits of an integer type, True and False.
    """
    if array.dtype.kind == "f":
        return _floats(array)
    low, high = (False, True) if array.dtype.kind == "b" else _limits(array.dtype)
    top, bottom = array == high, array == low
    inside = array[~(top | bottom)]
    least, greatest = (inside.min().item(), inside.max().item()) if inside.size else (None, None)
    return False, bool(top.any()), bool(bottom.any()), False, False, least, greatest


def _limits(dtype: np.dtype) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _floats(array: np.ndarray) -> tuple[bool, bool, bool, bool, bool, Any, Any]:
    finite = np.isfinite(array)
    inside = array[finite]
    nan = top = bottom = False
    if inside.size < array.size:
        others = array[~finite]
        nan, top, bottom = bool(np.isnan(others).any()), bool((others == np.inf).any()), bool((others == -np.inf).any())
    if not inside.size:
        return nan, top, bottom, False, False, None, None
    negative_zero = bool((np.signbit(inside) & (inside == 0)).any())
    least, greatest = inside.min().item(), inside.max().item()
    if least == 0 and negative_zero:
        least = -0.0
    if greatest == 0:
        greatest = 0.0 if ((inside == 0) & ~np.signbit(inside)).any() else -0.0
    return nan, top, bottom, negative_zero, bool((np.floor(inside) != inside).any()), least, greatest


def seconds(size: int) -> float:
    """What looking at so many elements is predicted to take."""
    return CALLS + size * ELEMENT
