"""The loops of log-sum-exp one row at a time: largest terms, and sums of powers that leave out what is too small."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.kernels.cpu.dense import log_convolution, log_convolution_loops

WIDE = log_convolution_loops.WIDE


def test_both_modules_have_rows_of_one_width() -> None:
    assert WIDE == log_convolution.WIDE


@pytest.mark.parametrize(("left", "right", "first"), [(5, 3, 0), (200, 90, 64), (90, 200, 192), (64, 64, 64),
                                                     (1, 1, 0)])
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_rows_of_terms(left: int, right: int, first: int, scale: float) -> None:
    rng = np.random.default_rng(1)
    a, b = scale * rng.normal(size=left), scale * rng.normal(size=right)
    room = np.full(WIDE, -np.inf)
    x, starts = np.concatenate([room, a, room]), np.array([-7, first], np.int64)
    m, s = np.full((2, WIDE), -np.inf), np.zeros((2, WIDE))
    sums = np.array([0, m.ctypes.data, s.ctypes.data], np.int64)
    sums[:1].view(np.float64)[0] = np.log(2)
    given = x[WIDE:].ctypes.data, left, b.ctypes.data, right, starts.ctypes.data
    log_convolution_loops.largest(*given, m.ctypes.data, 1, 2)
    log_convolution_loops.total(*given, sums.ctypes.data, 1, 2)
    assert np.isneginf(m[0]).all() and not s[0].any(), "a row that was not asked for"
    for q in range(WIDE):
        terms = np.array([a[first + q - t] + b[t] for t in range(right) if 0 <= first + q - t < left])
        assert m[1, q] == terms.max(initial=-np.inf)
        if len(terms):
            np.testing.assert_allclose(s[1, q], np.exp2(terms - m[1, q]).sum(), rtol=1e-14)
