"""The cuts of kernels: what the kernels ask for, and what fits in the shared memory of each device."""

from __future__ import annotations

import pytest

from semiring.kernels.cuda.compile.geometry import (
    LIGHT,
    SHORT,
    WRITTEN,
    narrow_geometries,
    panel_geometry,
    product_geometries,
    stack_geometry,
)


@pytest.mark.parametrize("size", range(1, 65))
@pytest.mark.parametrize("weight", [1, 3, LIGHT, LIGHT + 1])
def test_shared_memory_fits_the_smallest_device(size: int, weight: int) -> None:
    """Compute capability 8.9 gives a block 99 KB."""
    limit = 99 << 10
    assert all(g.shared_bytes(size) <= limit for g in product_geometries(size, weight))
    panels = panel_geometry(size, weight <= LIGHT)
    assert panels.shared_bytes(size) + 8 * panels.ORDER * size <= limit


@pytest.mark.parametrize("size", [1, 2, 4, 8, 12, 16, 24, 32, 64])
@pytest.mark.parametrize("weight", [1, 1.5, 2, 2.5, 3, 4, 5, LIGHT, LIGHT + 1, 100])
def test_cuts_are_what_the_kernels_ask_for(size: int, weight: float) -> None:
    """Runs of 16 bytes fill the rows of a tile, vectors those of a thread, and threads the block."""
    light = weight <= LIGHT
    for g in product_geometries(size, weight):
        assert g.BK % g.UNROLL == g.UNROLL % g.VECTOR == 0
        assert g.UNROLL * g.TM * g.TN * weight <= 64 * WRITTEN or g.UNROLL == g.VECTOR
        assert (g.BM, g.BN, g.threads) == (8 * g.TM * g.WM, 4 * g.TN * g.WN, 32 * g.WM * g.WN)
        assert not (g.BK * size % 16 or g.BN * size % 16 or g.TN % g.VECTOR or g.BK % g.VECTOR)
        assert g.has_whole_tiles(size) or not (light and size in (1, 2, 4, 8))
        if g.has_whole_tiles(size):  # every thread copies the same number of runs
            assert g.BM * g.BK * size % (16 * g.threads) == g.BK * g.BN * size % (16 * g.threads) == 0
        assert (size == 4 and weight <= SHORT) == g.PAIRED
        assert not g.PAIRED or g.threads % (2 * g.BN) == 0  # a copy of all threads is of whole pairs of rows
    stacked = [stack_geometry(size, n, light) for n in (1, 9, 17, 32, 33, 64, 65, 128)]
    least = [8, 16, 32] if size <= 8 else [32, 32, 32]
    assert [g.ORDER for g in stacked] == [*least, 32, 64, 64, 128, 128]
    for g in narrow_geometries(size, weight) or ():
        assert min(g.BM, g.BN) == 16 and g.has_whole_tiles(size) and g.BK % g.UNROLL == g.UNROLL % g.VECTOR == 0
    for close in (panel_geometry(size, light), *stacked):
        per = close.ORDER // close.SIDE
        assert per * close.SIDE == close.ORDER and per % close.GROUP == close.GROUP % 2 == 0 and close.threads <= 1024
