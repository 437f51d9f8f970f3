"""Forms, layouts and memory of closures that a GPU computes from file to file; the closures are in test_files."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algorithms.r_kleene import r_kleene
from semiring.kernels.cuda.dense import arena, carry
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.general import general
from semiring.scale.arena import HostArena
from semiring.scale.scratch import Scratch
from semiring.scale.storing import Storing
from semiring.solvers.beyond import levels as module
from semiring.solvers.beyond.levels import Layout, allocated, memory_for_tiles, on_gpu, on_their_way, planned


@pytest.mark.parametrize("name", ["min_plus", "plus_times", "max_min"])
def test_products_are_compiled_so_that_zero_times_infinity_is_zero(name: str) -> None:
    low = on_gpu(sr.catalogue[name], np.dtype("f8"), Facts(), 100)
    assert low.on_gpu and not low.blas


def test_lowerings_of_the_host_need_no_gpu(tmp_path: Path) -> None:
    low = general(sr.min_plus, np.dtype("f4"))
    cut, _, plan = planned(500, low, Storing(tmp_path / "c.npy", 64 * 64 * 4 * 40), None, r_kleene)
    assert cut == Layout(500, 64, 34, 34)
    scratch = Scratch(tmp_path, 64 * 64 * 4)
    with allocated(low, cut, plan, scratch) as (_, buffers, shelf, memory):
        assert shelf is scratch and memory is None and len(buffers) == 40
    scratch.close()


def test_what_the_caller_says_of_memory_or_half_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for free, expected in ((100, 50), (None, 1 << 30)):
        monkeypatch.setattr(module, "available_bytes", lambda free=free: free)
        assert memory_for_tiles(Storing(Path("c.npy"))) == expected
    assert memory_for_tiles(Storing(Path("c.npy"), 7)) == 7


def test_memory_for_tiles_is_pinned_and_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not kept in a pool: it is as much as the caller allows."""
    pins: list[int] = []
    runtime = SimpleNamespace(hostRegister=lambda address, size, flags: pins.append(size),
                              hostUnregister=lambda address: pins.append(-address), CUDARuntimeError=OSError)
    cuda = SimpleNamespace(runtime=runtime, Device=lambda number: nullcontext())
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    monkeypatch.setattr(carry, "current_device", lambda: 0)
    monkeypatch.setattr(arena, "GpuArena", HostArena)
    monkeypatch.setattr(module, "build_kernel", lambda low: None)
    low, cut = on_gpu(sr.min_plus, np.dtype("f4"), Facts(), 100), Layout(100, 10, 12, 12, 20)
    plan, scratch = cut.planned(r_kleene).traffic, Scratch(tmp_path, 400)
    assert 0 < plan.held <= 20
    with allocated(low, cut, plan, scratch):
        assert pins == [400 * (module.MOVERS + plan.held)]
    scratch.close()
    assert len(pins) == 2 and pins[1] < 0


@pytest.mark.parametrize("memory", ["1M", "3M", "30M"])
def test_the_order_is_that_which_moves_faster(memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    low: Any = on_gpu(sr.min_plus, np.dtype("f4"), Facts(), 2048)
    monkeypatch.setattr(module, "available_on_device", lambda: 3 << 20)
    storing = Storing(tmp_path / "c.npy", sr.scale.storing.bytes_of(memory))
    found, _, plan = planned(2048, low, storing, 128, r_kleene)
    others = [Layout(found.n, found.side, found.room, order, found.beside)
              for order in (found.room, found.room + found.beside)]
    assert found in others
    times = [module._moving(other.planned(r_kleene).traffic) for other in others]
    assert module._moving(plan) == min(times)
    assert on_their_way(128, low) + found.beside * 128 * 128 * 4 <= storing.memory
