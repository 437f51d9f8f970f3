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
