"""Compressed rows: the shape that offsets and a width give, and that a matrix is known by identity."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp

from semiring.kernels.blocks.rows import Rows


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (3, 7)])
def test_shape(shape: tuple[int, int]) -> None:
    A = sp.csr_array(shape)
    assert Rows(A.indptr, A.indices, A.data, shape[1]).shape == shape


def test_a_matrix_equals_itself_alone() -> None:
    """Arrays have no truth value to compare by, so that whatever remembers a matrix does so by identity."""
    parts = np.array([0, 1]), np.array([0], np.int32), np.array([2.5])
    A, B = Rows(*parts, 1), Rows(*parts, 1)
    assert A == A and A != B
    assert {A: "a", B: "b"}[A] == "a"
    with pytest.raises(FrozenInstanceError):
        A.width = 2  # type: ignore[misc]
