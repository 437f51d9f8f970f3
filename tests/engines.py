"""Cases of which a few are in `make test`, such as those that are compiled, since compiling is slow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def by_both(cases: Iterable[Sequence[Any]], *compiled: int) -> list[Any]:
    """Each case with "never" and with "always" for `SEMIRING_COMPILE`; the cases with these numbers are not slow."""
    return [
        pytest.param(*case, said, marks=pytest.mark.slow if said == "always" and i not in compiled else ())
        for i, case in enumerate(cases) for said in ("never", "always")
    ]


def slow_but(cases: Iterable[Sequence[Any]], *numbers: int) -> list[Any]:
    """Each case, marked as slow but for those with these numbers."""
    return [pytest.param(*case, marks=() if i in numbers else pytest.mark.slow) for i, case in enumerate(cases)]
