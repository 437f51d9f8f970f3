"""What is not an array of the host's memory is refused by its name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr


def test_sparse_and_packed_matrices_are_refused_by_name() -> None:
    with pytest.raises(sr.SemiringError, match="forward takes arrays, and stack is a csr_array: pass an array"):
        sr.forward(np.zeros(2), sp.csr_array(np.eye(2)), sr.min_plus, steps=1)
    with pytest.raises(sr.SemiringError, match="scan takes arrays, and stack is a PackedMatrix"):
        sr.scan(sr.pack(np.eye(2, dtype=bool)), sr.boolean)


def test_answers_have_the_callers_byte_order() -> None:
    A = np.ones((3, 2, 2), ">f4")
    assert sr.scan(A, sr.min_plus).dtype == A.dtype
    assert sr.forward(A[0, 0], A, sr.min_plus, argmax=True).values.dtype == A.dtype
