"""Plans of closures from file to file: what they promise is what happens."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import semiring as sr
from semiring.scale.executor import Executor
from semiring.scale.scratch import SLOTS, Scratch
from semiring.solvers.stored_plan import StoredPlan

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
    assert plan.read + plan.written > plan.bound, "2 n³ / √M is a bound from below"
    assert plan.forecast.seconds >= plan.forecast.kernels > 0
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
    with pytest.raises(sr.SemiringError, match="matmul has no option 'out'"):
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
    with pytest.raises(sr.SemiringError, match=r"needs .* more: for the closure .*, and 1000 bytes is free"):
        sr.closure(np.zeros((200, 200)), sr.min_plus, out=tmp_path / "c.npy", tile=32, memory=SMALL)
    assert list(tmp_path.iterdir()) == []
