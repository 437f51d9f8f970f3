"""Cases for both engines, of which few are compiled in `make test`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def by_both(cases: Iterable[Sequence[Any]], *compiled: int) -> list[Any]:
    """Each case followed by "never" and by "always", for `SEMIRING_COMPILE`.

    Compiling is slow, but for the cases with these numbers.
    """
    return [
        pytest.param(*case, said, marks=pytest.mark.slow if said == "always" and i not in compiled else ())
        for i, case in enumerate(cases) for said in ("never", "always")
    ]
