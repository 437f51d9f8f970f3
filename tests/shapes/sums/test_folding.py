"""Folds along axes: which way is taken, and how results are rounded."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.numpy.folds import NotElements
from semiring.shapes.sums.folding import Fold

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


@pytest.mark.parametrize("compiles", ["always", "never"])
def test_folds_of_a_bare_product_do_not_begin_with_what_is_not_neutral(
    compiles: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiles)
    S = sr.Semiring("least", add=np.minimum, mul=np.maximum, zero=0.0, one=5.0, product_only=True,
                    carrier=lambda a: a >= 0)
    records = sr.Semiring("least record", fields={"p": "f8"}, zero=(0,), one=(5,), product_only=True,
                          add=lambda x, y: (np.minimum(x.p, y.p),), mul=lambda x, y: (np.maximum(x.p, y.p),),
                          carrier=lambda x: x.p >= 0)
    for op in "add", "mul":
        assert not Fold(S, op, f8).has_neutral and Fold(sr.min_plus, op, f8).has_neutral
    for shape, axis in (((2,), None), ((3, 2), 0), ((40_000,), None), ((300, 200), 0), ((300, 200), 1)):
        x = np.random.default_rng(1).random(shape) + 1
        np.testing.assert_array_equal(S.sum(x, axis), x.min(axis))
        np.testing.assert_array_equal(S.prod(x, axis), x.max(axis))
        pairs = x.view([("p", float)]).reshape(shape)
        np.testing.assert_array_equal(np.asarray(records.sum(pairs, axis))["p"], x.min(axis))
        np.testing.assert_array_equal(np.asarray(records.prod(pairs, axis))["p"], x.max(axis))
