"""Forms for tiles that go to a GPU from the host's memory; closures by them are in test_out_of_core."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.general import general
from semiring.solvers.offloading import decoder, encoder, offloaded, offloaded_seconds, room_for


@pytest.mark.parametrize("name", ["min_plus", "plus_times", "max_min"])
def test_products_are_compiled_so_that_zero_times_infinity_is_zero(name: str) -> None:
    low = offloaded(sr.catalogue[name], np.dtype("f8"), Facts(), 100)
    assert low.on_gpu and not low.blas


def test_lowerings_of_the_host_need_no_gpu() -> None:
    low = general(sr.min_plus, np.dtype("f4"))
    A = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(decoder(low)(encoder(low)(A)), A) and room_for(low) is np.empty


def test_larger_tiles_travel_less() -> None:
    low = offloaded(sr.min_plus, np.dtype("f4"), Facts(), 100)
    times = [offloaded_seconds(low, 1e15, side) for side in (512, 1024, 4096)]
    assert times == sorted(times, reverse=True) and times[0] > 2 * times[2]
