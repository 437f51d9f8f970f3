"""Compiled chains of rows, called with arrays in any layout, against loops in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.choose import only_form
from semiring.kernels.cpu.dense.steps import Sequences, walk

NOTHING = np.zeros(1, np.int64)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("n", [1, 5, 33, 64])
def test_rows_and_the_terms_that_won(n: int, backwards: bool) -> None:
    low = only_form(sr.max_plus, np.dtype("f4"), False)
    assert low is not None
    rng = np.random.default_rng(n)
    x, A, e = (rng.integers(-9, 9, shape).astype("f4") for shape in ((1, n), (6, n, n), (7, n)))
    out, back = np.zeros((7, 2 * n), "f4")[:, ::2], np.full((7, n), 77, np.uint8)
    given = Sequences(x, np.asfortranarray(A), e, NOTHING, NOTHING, NOTHING, NOTHING, np.array([7]), 1)
    assert walk(low, given, out, back, backwards, True)
    state = x[0]
    for i in range(7):
        t = 6 - i if backwards else i
        if i:
            terms = A[t] + state if backwards else (A[t - 1] + state[:, None]).T
            assert np.array_equal(back[t], terms.argmax(1))
            state = terms.max(1)
        if backwards:
            assert np.array_equal(out[t], state)
        state = state + e[t]
        if not backwards:
            assert np.array_equal(out[t], state)
    e[3, n - 1] = np.nan
    assert not walk(low, given, out, None, backwards, True)
