"""The plan of an einsum is printed before anything is allocated."""

from __future__ import annotations

import numpy as np
import pytest
from networks import by_nests

import semiring as sr
from semiring.kernels.cpu.dense.nests import LOOPS


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


def test_the_plan_says_which_way_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    given = "ab,bc,cd->ad", *[np.ones((4, 4))] * 3
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    monkeypatch.setattr(LOOPS, "bought", False)
    assert sr.plan("einsum", *given, S=sr.min_plus).method == "products of pairs"
    assert sr.plan("einsum", *given, S=sr.min_plus, argmax=True).method == "terms in turn"
    with by_nests() as answers:
        plan = sr.plan("einsum", *given, S=sr.min_plus)
        assert plan.method == "nests of loops" and "no array is transposed" in str(plan) and not answers
        assert (plan.run() == 3).all() and answers == [True]
        whole = [A.astype("i4") for A in given[1:]]
        assert sr.plan("einsum", given[0], *whole, S=sr.min_plus).method == "nests of loops"
        assert sr.plan("einsum", "ab,bc->ac", *whole[:2], S=sr.min_plus).method == "products of pairs"
