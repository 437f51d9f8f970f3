"""The kernel interface over packed Boolean matrices on the device: in place, under every schedule, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.truths import closure, entries, on_device
from methods import SCHEDULES

import semiring as sr


def test_a_block_that_begins_with_any_word_is_closed_in_place() -> None:
    from semiring.kernels.cuda.bits.engine import BooleanKernel

    A = entries((800, 800), 1.2 / 800)
    M = on_device(A)
    BooleanKernel().close_plus(M[64:704, 64:704])
    A[64:704, 64:704] = closure(A[64:704, 64:704])
    np.testing.assert_array_equal(M.to_dense().get(), A)


@pytest.mark.parametrize("method", SCHEDULES)
@pytest.mark.parametrize("n", [100, 700, 1500])
def test_schedules_run_unchanged(method: str, n: int) -> None:
    from semiring.kernels.cuda.bits.engine import BooleanKernel

    A = entries((n, n), 1.3 / n)
    M = on_device(A)
    SCHEDULES[method](M, BooleanKernel(), 256)
    np.testing.assert_array_equal(M.to_dense().get(), closure(A) | np.eye(n, dtype=bool))


def test_what_does_not_fit_is_refused() -> None:
    from semiring.kernels.cuda.bits.engine import BooleanKernel

    M = on_device(entries((100, 70), 0.5))
    with pytest.raises(sr.SemiringError, match="square"):
        BooleanKernel().close(M)
    with pytest.raises(sr.SemiringError, match="fit"):
        BooleanKernel().multiply(M, M, M)
