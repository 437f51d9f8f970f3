"""Facts about the data that a lowering's condition asks for, gathered in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Facts:
    """What holds for all operands together; for records and objects only the defaults are known."""

    largest: float = 0  # largest size of a finite number (a Python int for integers)
    low_limit: bool = False  # −∞, or an integer dtype's least value, occurs
    high_limit: bool = False  # +∞, or an integer dtype's greatest value, occurs
    two_valued: bool = False  # every element is 0 or 1 of the algebra


def gather(scans: Iterable[Any], zero: Any, one: Any) -> Facts:
    """Facts from the scans of the operands.

    Parameters
    ----------
    scans : iterable of Scan
        As `semiring.kernels.cpu.scan.scan` returns them.
    zero, one : scalar
        Of the algebra in the data's dtype.
    """
    largest: float = 0
    low, high, two = False, False, True
    for s in scans:
        low, high = low or s.negative_infinity, high or s.positive_infinity
        if s.minimum is not None:
            largest = max(largest, abs(s.minimum), abs(s.maximum))
        two = two and _only(s, zero, one)
    return Facts(largest, low, high, two)


def _only(s: Any, zero: Any, one: Any) -> bool:
    """Whether the extremes leave room for nothing but 0 and 1."""
    allowed = {zero.item(), one.item()}
    limits = _limits(zero)
    if (s.negative_infinity and limits[0] not in allowed) or (s.positive_infinity and limits[1] not in allowed):
        return False
    finite = allowed - set(limits)
    if s.minimum is None:
        return True
    if s.minimum == s.maximum:
        return s.minimum in finite
    return {s.minimum, s.maximum} == finite and s.maximum - s.minimum == 1 and s.integral


def _limits(like: np.generic) -> tuple[Any, Any]:
    if like.dtype.kind == "f":
        return -np.inf, np.inf
    if like.dtype.kind == "b":
        return None, None
    return np.iinfo(like.dtype).min, np.iinfo(like.dtype).max
