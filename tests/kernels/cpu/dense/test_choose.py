"""Which engine of arrays a lowering has."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.dense.blas import BlasKernel
from semiring.kernels.cpu.dense.choose import dense_kernel
from semiring.kernels.cpu.dense.logsum import LogSumKernel
from semiring.kernels.cpu.dense.paced import PacedKernel
from semiring.kernels.lowering.general import general


@pytest.mark.parametrize(("name", "dtype", "engine"), [
    ("plus_times", "f8", BlasKernel), ("plus_times", "c16", BlasKernel), ("min_plus", "f8", PacedKernel),
    ("counting", "f8", PacedKernel), ("log", "f4", LogSumKernel), ("log", "f8", LogSumKernel),
])
def test_who_runs_what(name: str, dtype: str, engine: type) -> None:
    low = general(sr.catalogue[name], np.dtype(dtype))
    assert type(dense_kernel(low)) is engine
    assert dense_kernel(low) is dense_kernel(low)
