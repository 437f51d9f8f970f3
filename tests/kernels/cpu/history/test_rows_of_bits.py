"""Rows of bits are united where a bit is set, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.bits.lowering import packed_bits
from semiring.kernels.cpu.history.rows_of_bits import BitRowsKernel


@pytest.mark.parametrize("n", [1, 63, 64, 65, 130, 600])
def test_a_row_goes_into_those_that_lead_to_it(n: int) -> None:
    random = np.random.default_rng(n)
    A = random.random((n, n)) < 0.3
    low = packed_bits(sr.boolean, np.dtype(bool))
    for k in {0, n // 2, n - 1}:
        packed = low.encode(A, True)
        BitRowsKernel().unite(packed, k)
        expected = A.copy()
        expected[A[:, k]] |= A[k]
        assert (low.decode(packed) == expected).all()
