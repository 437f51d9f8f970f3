"""Parts of the loops of derivatives, one number at a time."""

from __future__ import annotations

from itertools import product as pairs
from typing import Any

import numpy as np
from numba import njit

from semiring.kernels.cpu.dense import step_gradients_loops as loops
from semiring.kernels.cpu.dense.step_gradients import FORMS


def called(function: Any) -> Any:
    """A function of the loops, which are made for compiled callers, for Python."""

    @njit(error_model="numpy")
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call


def test_powers_are_those_of_numpy_or_nothing() -> None:
    power = called(loops.power)
    for x in (*np.linspace(-700, 0, 5000), -0.0, -1e-300, -708.0):
        assert abs(power(x) - np.exp(x)) <= 4 * np.finfo(float).eps * np.exp(x)
    assert power(-800.0) == 0 == power(-np.inf) and power(0.0) == 1


def test_an_absent_term_stays_absent() -> None:
    sum_of = called(loops.sum_of)
    assert sum_of(1.5, 2.0) == 3.5 and sum_of(-np.inf, np.inf) == -np.inf == sum_of(np.inf, -np.inf)


def test_products_and_their_shares() -> None:
    """Against differences, away from equal operands; the first of equal ones counts."""
    product, shares = called(loops.product), called(loops.shares)
    by = {"add": np.add, "multiply": np.multiply, "minimum": np.minimum, "maximum": np.maximum}
    for name, (x, y) in pairs(FORMS, ((1.5, -2.0), (-3.0, 4.0), (2.0, 0.5))):
        form, h = FORMS[name], 1e-6
        assert product(form, x, y) == by[name](x, y)
        of_x = (by[name](x + h, y) - by[name](x - h, y)) / (2 * h)
        of_y = (by[name](x, y + h) - by[name](x, y - h)) / (2 * h)
        np.testing.assert_allclose(shares(form, x, y), (of_x, of_y), atol=1e-8)
    for name in ("minimum", "maximum"):
        assert shares(FORMS[name], 2.0, 2.0) == (1.0, 0.0)
