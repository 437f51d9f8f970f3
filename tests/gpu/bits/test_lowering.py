"""Truth values of any algebra as bits on the device, and back."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.truths import closure, entries

import semiring as sr


@pytest.mark.parametrize("dtype", ["?", "f4", "i4"])
def test_the_lowering_takes_zeros_and_ones_of_any_algebra(dtype: str) -> None:
    import cupy

    from semiring.kernels.cuda.bits.engine import BooleanKernel
    from semiring.kernels.cuda.choose import packed_on_device

    S = sr.boolean if dtype == "?" else sr.min_plus
    low = packed_on_device(S, np.dtype(dtype))
    truths = entries((300, 300), 1.2 / 300)
    given = cupy.asarray(np.where(truths, low.one[0], low.zero[0]))
    work = low.encode(given, True)
    BooleanKernel().close(work)
    got = low.decode(work)
    assert got.dtype == given.dtype
    np.testing.assert_array_equal((got == low.one[0]).get(), closure(truths) | np.eye(300, dtype=bool))
    assert low.empty((3, 70)).count() == 0
