"""Products by the BLAS in pieces, against NumPy's whole ones; what is not finite is left to others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.numpy import library

COMPLEX = np.dtype([("real", "f8"), ("imag", "f8")])


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 3), st.tuples(*[st.integers(0, 20)] * 3), st.integers(0, 2**32 - 1), st.booleans(),
    st.integers(1, 500), st.booleans(),
)
def test_pieces_make_the_whole(
    batch: int, shape: tuple[int, int, int], seed: int, accumulate: bool, most: int, records: bool
) -> None:
    (m, k, n), random = shape, np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return random.integers(-9, 10, shape).astype(complex if records else float)

    A, B, C = drawn(batch, m, k), drawn(batch, k, n), drawn(batch, m, n)
    expected = A @ B + (C if accumulate else 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "MOST", most)
        patch.setattr(library, "STEP", 2)
        assert library.product(*(x.view(COMPLEX) if records else x for x in (C, A, B)), accumulate)
    assert np.array_equal(C, expected)


@pytest.mark.parametrize("unruly", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_is_left(unruly: float) -> None:
    A, C = np.eye(3)[None], np.ones((1, 3, 3))
    A[0, 1, 2] = unruly
    for factors in ((A, np.eye(3)[None]), (np.eye(3)[None], A)):
        assert not library.product(C, *factors, True)
    assert (C == 1).all()


def test_a_repeated_matrix() -> None:
    A = np.arange(24.0).reshape(2, 3, 4)
    B = np.broadcast_to(np.arange(20.0).reshape(4, 5), (2, 4, 5))
    C = np.empty((2, 3, 5))
    assert library.product(C, A, B, False)
    assert np.array_equal(C, A @ B)
