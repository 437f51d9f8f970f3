"""One convex sequence and any other: as defined, to the bit, with infinities anywhere in the other."""

from __future__ import annotations

import numpy as np
import pytest
from bridge import same_bits
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy.convex import slopes
from semiring.kernels.numpy.monotone import are_exact, repays, with_convex

inf = np.inf


def lowering(dtype: str, concave: bool = False) -> Lowering:
    return general(sr.max_plus if concave else sr.min_plus, np.dtype(dtype))


def definition(low: Lowering, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    zero = low.zero[0]
    c = np.full(len(a) + len(b) - 1, zero, a.dtype)
    for i in range(len(a)):
        for j in range(len(b)):
            if zero not in (a[i], b[j]):
                c[i + j] = (max if zero < 0 else min)(c[i + j], a[i] + b[j])
    return c


@pytest.mark.parametrize("concave", [False, True], ids=["min", "max"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_any_sequence_with_a_convex_one(dtype: str, concave: bool) -> None:
    low = lowering(dtype, concave)

    @given(st.lists(st.integers(-9, 9) | st.sampled_from([inf, inf, -inf]), min_size=1, max_size=12),
           st.lists(st.integers(0, 3), max_size=9), st.integers(-9, 9), st.tuples(st.integers(0, 2), st.integers(0, 2)),
           st.sampled_from([1.0, 0.1]))
    def check(values: list[float], bends: list[int], start: int, around: tuple[int, int], scale: float) -> None:
        x = np.array([scale * v for v in values], dtype)
        y = np.concatenate([[inf] * around[0], np.cumsum([start, *np.cumsum(bends)]), [inf] * around[1]]).astype(dtype)
        x, y = (-x, -y) if concave else (x, y)
        found = slopes(low, y)
        assert found is not None
        assert are_exact(low, x, found)
        c = with_convex(low, x, found, len(x) + len(y) - 1)
        assert same_bits(c, definition(low, x, y))

    check()


def test_sums_that_floats_cannot_hold_are_compared_exactly() -> None:
    """Rounded sums tie, and a column that is only nearly the best would mislead the rows after it."""
    low, random = lowering("f8"), np.random.default_rng(3)
    for _ in range(30):
        x = 2.0**52 * random.integers(0, 3, 40) + random.integers(0, 3, 40)
        y = np.cumsum(np.sort(random.integers(-40, 40, 30))) / 8.0
        found = slopes(low, y)
        assert found is not None
        assert are_exact(low, x, found)
        assert same_bits(with_convex(low, x, found, 69), definition(low, x, y))


def test_what_overflows_is_left_to_others() -> None:
    low, large = lowering("f8"), np.finfo(float).max
    found = slopes(low, np.array([large, 0.9 * large]))
    assert found is not None
    assert are_exact(low, np.array([0.0, inf]), found)
    assert not are_exact(low, np.array([large, 0.0]), found)


def test_what_is_convex_up_to_rounding_is_left_to_others() -> None:
    found = slopes(lowering("f8"), 0.1 * np.arange(99))
    assert found is not None
    assert not are_exact(lowering("f8"), np.zeros(3), found)


def test_a_sequence_of_zeros() -> None:
    low = lowering("f8")
    nothing = slopes(low, np.full(3, inf))
    assert nothing is not None
    assert with_convex(low, np.zeros(2), nothing, 4).tolist() == [inf] * 4


def test_short_sequences_are_left_to_vectors() -> None:
    assert repays(100_000, 100_000, 1e10)
    assert not repays(100_000, 100, 1e7)
    assert not repays(1000, 1000, 1e6)


def test_of_sums_that_round_to_one_number_the_least_leads() -> None:
    """The convex numbers are so large that sums with neighbours tie: only what rounding took tells which is best."""
    low, random = lowering("f8"), np.random.default_rng(1)
    for _ in range(60):
        x = random.integers(-9, 9, random.integers(5, 14)) * 0.5
        bends = np.cumsum(np.sort(random.integers(-6, 7, 13)))
        y = bends * random.choice([0.5, 1.0, 2.0]) + 2.0 ** random.integers(52, 55)
        found = slopes(low, y)
        if found is not None and found.exact:
            assert same_bits(with_convex(low, x, found, len(x) + len(y) - 1), definition(low, x, y))
