"""Closures of packed matrices from host to host: those of the device, in new memory and in place."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cuda.bits import carried


@pytest.mark.parametrize("reflexive", [True, False])
@pytest.mark.parametrize("n", [1, 700, 5000, 17_000])
def test_rows_that_travel(n: int, reflexive: bool) -> None:
    ends = np.random.default_rng(n).integers(0, n, (2, 2 * n))
    A = sr.PackedMatrix.from_edges(*ends, n)
    wanted, kept = sr.closure(A.to_device("gpu"), sr.boolean, reflexive=reflexive), A.copy()
    assert carried.closed(A, reflexive) == wanted and kept == A
    assert carried.closed(A, reflexive, True) is A and wanted == A
