"""Facts about the data that a lowering's condition asks for, gathered in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np


@dataclass(frozen=True)
class Facts:
    """What holds for all operands together; for records and objects only the defaults are known."""

    largest: float = 0  # largest size of a finite number (a Python int for integers)
    low_limit: bool = False  # −∞, or an integer dtype's least value, occurs
    high_limit: bool = False  # +∞, or an integer dtype's greatest value, occurs
    two_valued: bool = False  # every element is 0 or 1 of the algebra
    multiple: int = 0  # a common multiple of all numbers, which bounds every lcm; only known where ⊗ has one


def together(facts: Sequence[Facts]) -> Facts:
    """What holds for several operands, from what holds for each.

    Examples
    --------
    >>> together([Facts(3.0, two_valued=True), Facts(2.0, high_limit=True)])
    Facts(largest=3.0, low_limit=False, high_limit=True, two_valued=False, multiple=0)
    """
    found = Facts(
        max(f.largest for f in facts), any(f.low_limit for f in facts), any(f.high_limit for f in facts),
        all(f.two_valued for f in facts), lcm(*(f.multiple for f in facts)),
    )
    seen = [f for f in facts if isinstance(f, DeviceFacts)]
    if len(seen) < len(facts):
        return found
    return DeviceFacts(
        **vars(found), least=min(f.least for f in seen), has_zero=any(f.has_zero for f in seen),
        has_tiny=any(f.has_tiny for f in seen),
    )


@dataclass(frozen=True)
class DeviceFacts(Facts):
    """Facts, and what the forms of the GPU ask for besides."""

    least: float = -np.inf  # least finite number (a Python int for integers), +∞ where there is none
    has_zero: bool = True  # the algebra's zero may occur
    has_tiny: bool = True  # so may floats beside 0 so small that a product of two might not be a normal number
