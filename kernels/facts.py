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
    multiple: int = 0  # a common multiple of all numbers, which bounds every lcm; only known where ⊗ has one


def gather(scans: Iterable[Any], zero: Any, one: Any) -> Facts:
    """Facts from the scans of the operands.

    Parameters
    ----------
    scans : iterable
        What `semiring.kernels.cpu.dense.scan.scan` returns.
    zero, one : scalar
        Of the algebra in the data's dtype.
    """
    largest: float = 0
    low, high, two = False, False, True
    for s in scans:
        low, high = low or s.bottom, high or s.top
        if s.minimum is not None:
            largest = max(largest, abs(s.minimum), abs(s.maximum))
        two = two and _only(s, zero, one)
    return Facts(largest, low, high, two)


def _only(s: Any, zero: Any, one: Any) -> bool:
    """Whether there is nothing but 0 and 1; the extremes decide it nearly always."""
    allowed = {zero.item(), one.item()}
    low, high = _limits(zero)
    if (s.bottom and low not in allowed) or (s.top and high not in allowed):
        return False
    if s.minimum is None:
        return True
    if s.minimum not in allowed or s.maximum not in allowed:
        return False
    return s.minimum == s.maximum or bool(s.integral and s.maximum - s.minimum == 1)


def _limits(like: np.generic) -> tuple[Any, Any]:
    if like.dtype.kind == "f":
        return -np.inf, np.inf
    limits: Any = np.iinfo(like.dtype)
    return limits.min, limits.max


@dataclass(frozen=True)
class DeviceFacts(Facts):
    """Facts, and what the forms of the GPU ask for besides."""

    least: float = -np.inf  # least finite number (a Python int for integers), +∞ where there is none
