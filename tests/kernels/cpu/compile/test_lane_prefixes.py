"""Sums of powers on vectors: what blocks leave, how they join, and the elements that they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

import semiring as sr
from semiring.kernels.cpu.compile import program
from semiring.kernels.cpu.compile.lane_prefixes import PowerPrefixes
from semiring.kernels.cpu.dense.power_prefixes import PowerPrefixKernel
from semiring.kernels.lowering.general import general

LANES = 4


def inside(v: Any, a: Any) -> Any:
    return v.equal(a, a)


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_blocks_join_to_the_sum_of_all(dtype: str, negated: bool) -> None:
    """Two blocks of lines of some lanes, not of all; logarithms are those of NumPy."""
    kind = np.dtype(dtype)
    by = PowerPrefixes(kind.type, LANES, 1, False, False, negated, program.has_fma(), inside)
    block, joined, started, ended = by.block(False, True), by.joined(), by.started(), by.ended()
    size = kind.itemsize

    @njit
    def run(x: int, out: int, to: int, n: int, step: int, live: int, sums: int) -> int:
        none, first, second = sums, sums + 2 * LANES * size, sums + 4 * LANES * size
        started((0, live, none))
        strange = block((x, out, size, n // 2, step, live, none, first))
        strange |= block((x + n // 2 * size, out + n // 2 * size, size, n - n // 2, step, live, first, second))
        joined((first, second, first))
        ended((first, live, to))
        return strange

    random = np.random.default_rng(0)
    x = (random.normal(0, 30, (LANES, 21)) * random.integers(0, 2, (LANES, 21))).astype(kind)
    x[0, :5] = np.inf if negated else -np.inf
    for live in range(1, LANES + 1):
        out, to = np.full_like(x, 7), np.full(LANES, 7, kind)
        sums = np.zeros(6 * LANES, kind)
        assert run(x.ctypes.data, out.ctypes.data, to.ctypes.data, 21, x.strides[0], live, sums.ctypes.data) == 0
        sign = -1 if negated else 1
        wanted = sign * np.logaddexp.accumulate(sign * x.astype(np.longdouble), axis=1)
        np.testing.assert_allclose(out[:live], wanted[:live], rtol=0, atol=60 * np.finfo(kind).eps * 90)
        np.testing.assert_allclose(to[:live], wanted[:live, -1], rtol=0, atol=60 * np.finfo(kind).eps * 90)
        assert (out[live:] == 7).all() and (to[live:] == 7).all(), "other lanes stay as they are"
    x[1, 3] = np.nan
    arguments = (x.ctypes.data, out.ctypes.data, to.ctypes.data, 21, x.strides[0])
    assert run(*arguments, 2, sums.ctypes.data) == 1 and run(*arguments, 1, sums.ctypes.data) == 0


def test_prefixes_of_log_are_written_with_them() -> None:
    assert "by = PowerPrefixes(" in PowerPrefixKernel(general(sr.log, np.dtype("f4"))).text[1]
