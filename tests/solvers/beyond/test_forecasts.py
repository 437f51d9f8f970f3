"""Plans with predictions: what they promise is what happens.

What several processes are sent is counted in test_mpi.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.lowering.general import general
from semiring.scale.executor import Executor
from semiring.scale.grid import Grid
from semiring.scale.scratch import SLOTS, Scratch
from semiring.solvers.beyond.levels import StoredPlan
from semiring.solvers.beyond.mpi import SpreadPlan
from semiring.solvers.plan import nothing

SMALL = 64 * 64 * 8 * 24  # bytes


def matrix(n: int) -> np.ndarray:
    random = np.random.default_rng(n)
    return np.where(random.random((n, n)) < 0.1, random.integers(1, 50, (n, n)), np.inf)


def test_the_plan_says_what_it_takes(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", matrix(300))
    given = {"A": tmp_path / "w.npy", "S": sr.min_plus, "out": tmp_path / "c.npy", "tile": 32, "memory": SMALL}
    plan = sr.plan("closure", **given, checkpoint=1)
    assert isinstance(plan, StoredPlan)
    rows = plan.rows()
    assert {"moved", "disk", "commits", "predicted"} <= set(rows)
    assert plan.output == 300 * 300 * 8
    assert plan.read + plan.written > 2 * 300**3 / np.sqrt(SMALL / 8) * 8, "2 n³ / √M elements is a bound from below"
    assert plan.predicted()[0]["products"] > 0
    assert "bound by" in rows["predicted"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["w.npy"], "nothing is left"
    moved = []
    real = Executor.run
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Executor, "run", lambda self: (real(self), moved.append(self.moved)))
        found = plan.run()
    tile = 32 * 32 * 8
    assert tile * sum(moved[0].values()) == plan.read + plan.written
    assert np.array_equal(found, sr.closure(np.load(tmp_path / "w.npy"), sr.min_plus))
    with pytest.raises(sr.SemiringError, match="out must be a writable, unmasked float64 array"):
        sr.plan("matmul", np.eye(3), np.eye(3), sr.min_plus, out=tmp_path / "c.npy")


def test_the_scratch_file_is_as_large_as_was_planned(tmp_path: Path) -> None:
    A, sizes = matrix(300), []
    options = {"out": tmp_path / "c.npy", "tile": 32, "memory": SMALL}
    real = Scratch.close
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Scratch, "close", lambda self: (
            sizes.append((tmp_path / "c.npy.partial" / SLOTS).stat().st_size), real(self)))
        sr.closure(A, sr.min_plus, **options)
    assert sizes == [sr.plan("closure", A, sr.min_plus, **options).scratch]


def test_a_disk_without_room_is_refused_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(sr.SemiringError, match=r"1000 bytes free, and .* more are needed: the closure takes"):
        sr.closure(np.zeros((200, 200)), sr.min_plus, out=tmp_path / "c.npy", tile=32, memory=SMALL)
    assert list(tmp_path.iterdir()) == []


def made(**known: Any) -> SpreadPlan:
    low = general(sr.min_plus, np.dtype("f4"))
    about: dict[str, Any] = {"grid": (2, 2), "received": 10**9, "rate": 1e9} | known
    return SpreadPlan(
        operation="closure", algebra=sr.min_plus, shape=(1000, 1000), method="blocked, spread", lowering=low,
        place="4 processes", work=1e9, memory=0, runner=nothing, **about,
    )


def test_what_bounds_it() -> None:
    slow, fast = made(rate=1.0), made(rate=1e15)
    assert "bound by messages" in slow.rows()["predicted"] and "bound by products" in fast.rows()["predicted"]
    assert slow.predicted()[0]["messages"] == 1e9 and slow.predicted()[0]["products"] == fast.predicted()[0]["products"]
    assert made(received=0, rate=np.inf).predicted()[0]["messages"] == 0


def test_more_processes_and_threads_have_less_each() -> None:
    assert made(grid=(2, 4)).predicted()[0]["products"] == pytest.approx(made().predicted()[0]["products"] / 2)
    assert made(threads=2).predicted()[0]["products"] == pytest.approx(made().predicted()[0]["products"] / 2)


def test_what_was_done_before_is_left_out() -> None:
    assert made(done=0.75).predicted()[0]["messages"] == made().predicted()[0]["messages"] / 4
    assert made(done=0.75).predicted()[0]["products"] == made().predicted()[0]["products"] / 4
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
