"""Which functions of NumPy an operation is, and what it knows about operands."""

from __future__ import annotations

import numpy as np

import semiring as sr
from semiring.shapes.sums.operation import Operation

f8 = np.dtype("f8")


def test_functions_of_numpy_serve_where_they_are_exact() -> None:
    assert Operation(sr.min_plus, "add", f8).ufunc is np.minimum and Operation(sr.plus_times, "add", f8).ufunc is np.add
    assert Operation(sr.min_plus, "mul", f8).ufunc is None  # zero absorbs: ∞ − ∞ is ∞
    assert Operation(sr.max_min, "mul", f8).ufunc is np.minimum
    assert Operation(sr.counting, "add", np.dtype("i8")).ufunc is None  # sums may leave the dtype
    assert Operation(sr.boolean, "add", np.dtype("?")).ufunc is np.logical_or


def test_order_matters_only_where_operands_may_not_be_exchanged() -> None:
    objects = np.dtype(object)
    assert Operation(sr.regex, "add", objects).commutes and not Operation(sr.regex, "mul", objects).commutes
    first = sr.Semiring("first", add=lambda a, b: a, mul=lambda a, b: a, zero=0.0, product_only=True)
    assert not Operation(first, "add", f8).commutes
