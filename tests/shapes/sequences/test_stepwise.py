"""All products of sequences by an engine, against one product after the other."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.choose import only_form
from semiring.shapes.sequences.stepwise import one_by_one


@pytest.mark.parametrize("name", ["min_plus", "plus_times", "log"])
@pytest.mark.parametrize("steps", [1, 2, 9, 40])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("starts", [False, True])
def test_steps(name: str, steps: int, reverse: bool, starts: bool) -> None:
    S, random = sr.catalogue[name], np.random.default_rng(steps)
    low = only_form(S, np.dtype("f8"), False)
    assert low and low.is_identity
    a = random.random((steps, 2, 3, 3))
    x = random.random((2, 3, 5) if reverse else (2, 5, 3)) if starts else None
    p = np.empty((steps, *(x.shape if x is not None else a.shape[1:])))
    one_by_one(low, p, a, x, reverse)
    before = x
    for t in range(steps):
        factors = (a[t], before) if reverse else (before, a[t])
        before = a[t] if before is None else sr.matmul(*factors, S)
        np.testing.assert_allclose(p[t], before, rtol=1e-11, atol=1e-11)
