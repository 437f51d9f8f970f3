"""Operations that are the same in another dtype: on the numbers of the narrow one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.lowering.ordinary import alike, ordinary

NUMBERS = np.array([-3, 0, 1, 5, 17])


@pytest.mark.parametrize(("S", "op", "expected"), [
    (sr.min_plus, "mul", np.add), (sr.max_plus, "mul", np.add), (sr.counting, "add", np.add),
    (sr.counting, "mul", np.multiply), (sr.min_plus, "add", None), (sr.max_min, "mul", None), (sr.gf2, "add", None),
], ids=str)
def test_ordinary_sums_and_products_are_those_of_the_algebra(S: sr.Semiring, op: str, expected: Any) -> None:
    dtype = np.dtype("i8")
    found = ordinary(S, op, dtype)
    assert found is expected
    if found is not None:
        x, y = np.abs(np.meshgrid(NUMBERS, NUMBERS)).astype(dtype)
        assert np.array_equal(found(x, y), getattr(S.over(dtype), op)(x, y))
    assert ordinary(S, op, np.dtype("f8")) is None, "floats need no other operation"


def test_algebras_whose_constants_are_the_same_are_alike() -> None:
    narrow, wide = np.dtype("f2"), np.dtype("f4")
    assert alike(sr.min_plus, narrow, wide) and alike(sr.max_times, narrow, wide)
    tenths = sr.Semiring("tenths", add=np.minimum, mul=lambda a, b: a + b + 0.1, zero=np.inf, product_only=True)
    assert not alike(tenths, narrow, wide), "0.1 is another number in half precision"
