"""LU decompositions on a device, cuSOLVER played by LAPACK: the answers and the refusals of the host."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.played_solver import stand_in
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.dense import library
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy import library as on_host


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from(["f4", "f8", "c8", "c16"]),
    st.sampled_from([1, 4, 16, 64]), st.sampled_from(["C", "F"]), st.sampled_from([1, 8]),
)
def test_the_device_decides_and_answers_as_the_host(
    n: int, seed: int, dtype: str, scale: int, order: str, columns: int
) -> None:
    """Pivots of 1, exchanged rows and all."""
    random = np.random.default_rng(seed)
    A = np.asarray(random.integers(-4, 5, (n, n)) / scale, dtype, order=order)
    if dtype[0] == "c":
        A = A * random.choice([1, 1j, -1j], (n, n)).astype(dtype)
    B = random.integers(-4, 5, (n, columns)).astype(dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_host, "LEAST", 1)
        stand_in(patch)
        before, host, device = A.copy(), on_host.decomposed(A), library.decomposed(A)
        np.testing.assert_array_equal(A, before)
        assert (host is None) == (device is None)
        if host is None or device is None:
            return
        inverse, expected = device.closure(), host.closure()
        assert inverse is not None and inverse.flags.c_contiguous and inverse.dtype == A.dtype
        size = 1000 * float(np.finfo(A.dtype).eps) * np.abs(expected).max() ** 2
        np.testing.assert_allclose(inverse, expected, rtol=0, atol=size)
        X, Y = B.copy(), B.copy()
        assert device.solve(X) and host.solve(Y)
        np.testing.assert_allclose(X, Y, rtol=0, atol=100 * size)


def test_what_elimination_has_to_judge_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch)
    dominant = np.random.default_rng(5).random((50, 50)) / 60
    assert library.decomposed(dominant) is not None
    swap, late, one, nearly, infinite, large = (dominant.copy() for _ in range(6))
    swap[:2, :2] = [[0.9, 3], [3, 0.9]]  # rows are exchanged, whichever way it is read
    late[40:42, 40:42] = [[0.9, 3], [3, 0.9]]  # and beyond the panel that is tried first
    one[0, :], one[0, 0] = 0, 1
    nearly[0, :], nearly[0, 0] = 0, 1 - 1e-15
    infinite[3, 4] = np.inf
    large[3, 4] = 1e308
    large[4, 3] = 1e308
    for A in (swap, late, one, nearly, infinite, large):
        assert library.decomposed(A) is None


def test_numbers_that_overflow_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch)
    found = library.decomposed(np.full((50, 50), 1 / 60))
    assert found is not None
    B = np.full((50, 1), 1.7e308)
    assert not found.solve(B) and (B == 1.7e308).all()
    walks = library.decomposed(np.triu(np.ones((200, 200), "f4"), 1))  # of which 2¹⁹⁸ lead from first to last
    assert walks is not None and walks.closure() is None


@pytest.mark.parametrize(("low", "n", "expected"), [
    (general_on_device(sr.plus_times, np.dtype("f4")), library.LEAST, True),
    (general_on_device(sr.plus_times, np.dtype("f8")), library.MOST, True),
    (general_on_device(sr.plus_times, np.dtype("f8")), library.LEAST - 1, False),
    (general_on_device(sr.plus_times, np.dtype("f8")), library.MOST + 1, False),
    (general_on_device(sr.log, np.dtype("f8")), library.LEAST, False),
    (general(sr.min_plus, np.dtype("f8")), library.LEAST, False),
])
def test_large_matrices_over_the_field_are_decomposed(low: Lowering, n: int, expected: bool) -> None:
    assert library.applies(low, n) is expected
