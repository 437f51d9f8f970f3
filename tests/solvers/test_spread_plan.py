"""Predictions for several processes; what they are sent is counted in test_processes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.lowering.general import general
from semiring.scale.grid import Grid
from semiring.solvers.plan import nothing
from semiring.solvers.spread_plan import SpreadPlan


def made(**known: Any) -> SpreadPlan:
    low = general(sr.min_plus, np.dtype("f4"))
    about: dict[str, Any] = {"grid": (2, 2), "received": 10**9, "rate": 1e9} | known
    return SpreadPlan(
        operation="closure", algebra=sr.min_plus, shape=(1000, 1000), method="blocked, spread", lowering=low,
        place="4 processes", work=1e9, memory=0, runner=nothing, **about,
    )


def test_what_bounds_it() -> None:
    slow, fast = made(rate=1.0), made(rate=1e15)
    assert "bound by messages" in slow.rows()["predicted"] and "bound by kernels" in fast.rows()["predicted"]
    assert slow.message_seconds == 1e9 and slow.kernel_seconds == fast.kernel_seconds
    assert made(received=0, rate=np.inf).message_seconds == 0


def test_more_processes_and_threads_have_less_each() -> None:
    assert made(grid=(2, 4)).kernel_seconds == pytest.approx(made().kernel_seconds / 2)
    assert made(threads=2).kernel_seconds == pytest.approx(made().kernel_seconds / 2)


def test_what_was_done_before_is_left_out() -> None:
    assert made(done=0.75).message_seconds == made().message_seconds / 4
    assert made(done=0.75).kernel_seconds == made().kernel_seconds / 4
    assert made(done=0.75).rows()["done"].startswith("75.0 %") and "done" not in made().rows()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
@pytest.mark.parametrize(("n", "side"), [(1, 4), (8, 4), (23, 4), (24, 5)])
def test_panels_reach_all_but_those_who_have_them(n: int, side: int, size: int) -> None:
    """Sums over all processes: each column panel goes to C − 1 others, each row panel to R − 1."""
    grids = [Grid(n, side, size, r) for r in range(size)]
    rows, columns = grids[0].rows, grids[0].columns
    panels = n * n * (columns - 1 + rows - 1)
    pivots = sum((s.stop - s.start) ** 2 for s in map(grids[0].span, range(grids[0].count)))
    assert sum(g.received for g in grids) == panels + pivots * (columns - 1 + rows - 1)
