"""Which way a fold takes, and what it knows about operands."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.numpy.folds import NotElements
from semiring.shapes.folding import Fold

f8 = np.dtype("f8")


def test_functions_of_numpy_serve_where_they_are_exact() -> None:
    assert Fold(sr.min_plus, "add", f8).ufunc is np.minimum and Fold(sr.plus_times, "add", f8).ufunc is np.add
    assert Fold(sr.min_plus, "mul", f8).ufunc is None  # zero absorbs: ∞ − ∞ is ∞
    assert Fold(sr.max_min, "mul", f8).ufunc is np.minimum
    assert Fold(sr.counting, "add", np.dtype("i8")).ufunc is None  # sums may leave the dtype
    assert Fold(sr.boolean, "add", np.dtype("?")).ufunc is np.logical_or


def test_order_matters_only_where_operands_may_not_be_exchanged() -> None:
    assert Fold(sr.regex, "add", np.dtype(object)).commutes and not Fold(sr.regex, "mul", np.dtype(object)).commutes
    first = sr.Semiring("first", add=lambda a, b: a, mul=lambda a, b: a, zero=0.0, product_only=True)
    assert not Fold(first, "add", f8).commutes


def test_a_finite_sum_shows_that_all_are_elements() -> None:
    fold = Fold(sr.plus_times, "add", f8)
    assert fold.along(np.full(3, 1e308), [0]).tolist() == [np.inf]
    for bad in (np.nan, np.inf):
        with pytest.raises(NotElements):
            fold.along(np.array([1.0, bad]), [0])


def test_halves_are_rounded_once() -> None:
    x = np.full(5000, 0.1, "f2")
    assert sr.plus_times.sum(x) == np.float16(x.astype("f8").sum())
