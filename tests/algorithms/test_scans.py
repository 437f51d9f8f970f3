"""Products of a sequence of matrices: chunks of any length give those of one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.scans import fold, fold_chunks
from semiring.kernels.build import kernel
from semiring.kernels.choose import only_form


def folded_numbers(A: np.ndarray, reverse: bool) -> np.ndarray:
    total = A[0]
    for B in A[1:]:
        left, right = (B, total) if reverse else (total, B)
        total = (left[:, :, None] + right[None]).min(1)
    return total


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 12), st.booleans(), st.integers(1, 3))
def test_chunks_of_any_length_give_the_same(steps: int, length: int, reverse: bool, batch: int) -> None:
    low = only_form(sr.min_plus, np.dtype("f8"), False)
    assert low is not None
    A = np.random.default_rng(steps).integers(0, 50, (steps, batch, 3, 3)).astype("f8")
    engine: Any = kernel(low.interpreted)
    P, Q = np.empty_like(A), np.empty_like(A)
    P[0] = Q[0] = A[0]
    fold(P, A, engine, reverse)
    fold_chunks(Q, A, engine, reverse, min(length, steps))
    assert np.array_equal(P, Q)
    assert np.array_equal(P[-1, 0], folded_numbers(A[:, 0], reverse))
