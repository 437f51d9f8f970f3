"""Folds along axes: which way is taken, and how results are rounded."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.numpy.folds import NotElements
from semiring.shapes.folding import Fold

f8 = np.dtype("f8")


def test_a_finite_sum_shows_that_all_are_elements() -> None:
    fold = Fold(sr.plus_times, "add", f8)
    assert fold.along(np.full(3, 1e308), [0]).tolist() == [np.inf]
    for bad in (np.nan, np.inf):
        with pytest.raises(NotElements):
            fold.along(np.array([1.0, bad]), [0])


def test_halves_are_rounded_once() -> None:
    x = np.full(5000, 0.1, "f2")
    assert sr.plus_times.sum(x) == np.float16(x.astype("f8").sum())


@pytest.mark.parametrize("name", ["?", "i1", "i8", "f2", "f4", "f8"])
def test_a_few_long_rows(name: str, by_numpy: None) -> None:
    S = sr.boolean if name == "?" else sr.min_plus
    x = (np.random.default_rng(3).random((5, 60_000)) * 3).astype(name)
    found = S.sum(x, 0)
    assert found.dtype == x.dtype and np.array_equal(found, (np.any if name == "?" else np.min)(x, axis=0))
    if name in ("f2", "f4", "f8"):
        x[3, 50_000] = np.nan
        with pytest.raises(sr.SemiringError, match=r"x\[3, 50000\] is NaN"):
            S.sum(x, 0)
