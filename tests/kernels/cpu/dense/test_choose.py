"""Which engine of arrays a lowering has."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.dense.blas import BlasKernel
from semiring.kernels.cpu.dense.choose import dense_kernel
from semiring.kernels.cpu.dense.engine import DenseKernel
from semiring.kernels.cpu.dense.logsum import LogSumKernel
from semiring.kernels.lowering.general import general


@pytest.mark.parametrize(("name", "dtype", "engine"), [
    ("plus_times", "f8", BlasKernel), ("plus_times", "c16", BlasKernel), ("min_plus", "f8", DenseKernel),
    ("counting", "f8", DenseKernel), ("log", "f4", LogSumKernel), ("log", "f8", LogSumKernel),
])
def test_who_runs_what(name: str, dtype: str, engine: type) -> None:
    low = general(sr.catalogue[name], np.dtype(dtype))
    assert type(dense_kernel(low)) is engine
    assert dense_kernel(low) is dense_kernel(low)
