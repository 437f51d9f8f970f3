"""The plan of an einsum is printed before anything is allocated."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr


def test_the_plan_says_the_steps_and_allocates_nothing() -> None:
    x = np.broadcast_to(np.float64(1), (100_000, 100_000))
    plan = sr.plan("einsum", "ij,jk,k->i", x, x, x[0], S=sr.min_plus)
    assert plan.shape == (100_000,)
    assert plan.work == 2e10
    assert "jk, k → j: (100000 × 100000) ⊗ (100000 × 1), 1e+10 multiply-adds" in str(plan)
    assert "largest    100000 elements, 800000 bytes, of axes j" in str(plan)
    large = sr.plan("einsum", "ij,kl->ijkl", x, x, S=sr.min_plus)
    assert large.memory == 8e20
    with pytest.raises(sr.SemiringError, match="an array of axes ijkl between the operands and the answer"):
        sr.einsum("ij,kl->ijkl", x, x, S=sr.min_plus)
    small = sr.plan("einsum", "ij,jk->ik", np.eye(2), np.eye(2), S=sr.plus_times)
    assert np.array_equal(small.run(), np.eye(2))
