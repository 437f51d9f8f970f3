"""Forms for tiles that go to a GPU from the host's memory; closures by them are in test_out_of_core."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cuda.dense import carry
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.general import general
from semiring.solvers.offloading import decoder, encoder, offloaded, offloaded_seconds, rooms


@pytest.mark.parametrize("name", ["min_plus", "plus_times", "max_min"])
def test_products_are_compiled_so_that_zero_times_infinity_is_zero(name: str) -> None:
    low = offloaded(sr.catalogue[name], np.dtype("f8"), Facts(), 100)
    assert low.on_gpu and not low.blas


def test_lowerings_of_the_host_need_no_gpu() -> None:
    low = general(sr.min_plus, np.dtype("f4"))
    A = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(decoder(low)(encoder(low)(A)), A)
    with rooms(low) as room:
        assert room is np.empty


def test_memory_for_tiles_is_pinned_and_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not kept in a pool: it is as much as the caller allows."""
    pins: list[int] = []
    runtime = SimpleNamespace(hostRegister=lambda address, size, flags: pins.append(size),
                              hostUnregister=lambda address: pins.append(-address), CUDARuntimeError=OSError)
    cuda = SimpleNamespace(runtime=runtime, Device=lambda number: nullcontext())
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    monkeypatch.setattr(carry, "current_device", lambda: 0)
    with rooms(offloaded(sr.min_plus, np.dtype("f4"), Facts(), 100)) as room:
        array = room(1000, np.dtype("f4"))
        assert pins == [4000] and array.shape == (1000,)
    assert pins[1:] == [-array.ctypes.data]


def test_larger_tiles_travel_less() -> None:
    low = offloaded(sr.min_plus, np.dtype("f4"), Facts(), 100)
    times = [offloaded_seconds(low, 1e15, side) for side in (512, 1024, 4096)]
    assert times == sorted(times, reverse=True) and times[0] > 2 * times[2]
