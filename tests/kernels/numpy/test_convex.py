"""Merged slopes: as defined, to the bit, also if sequences are convex only up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from bridge import same_bits
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy.convex import applies, candidates, least, merged, slopes

inf = np.inf


def lowering(dtype: str, concave: bool = False) -> Lowering:
    S = sr.max_plus if concave else sr.min_plus
    return choose(S, np.dtype(dtype), Facts(largest=1 << 20), 3, in_place=False, packed=False)


def definition(low: Lowering, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The least of all rounded sums, for sequences of elements."""
    least = low.add.is_plain("minimum")
    c = np.full(len(a) + len(b) - 1, inf if least else -inf, a.dtype)
    for j in range(len(b)):
        some = c[j : j + len(a)]
        some[...] = (np.minimum if least else np.maximum)(some, a + b[j])
    return c


def by_slopes(low: Lowering, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    found = [slopes(low, low.encode(x, True)) for x in (a, b)]
    if found[0] is None or found[1] is None:
        return None
    x, y, count = found[0], found[1], len(a) + len(b) - 1
    each = least(low, x, y, candidates(low, x, y), count)
    if x.exact and y.exact:
        assert same_bits(merged(low, x, y, count), each)
    return low.decode(each)


@st.composite
def convex(draw: st.DrawFn, dtype: str, concave: bool) -> np.ndarray:
    """A sequence with slopes that ascend, and zeros around it."""
    bends = draw(st.lists(st.integers(0, 3), max_size=12))
    steps = np.cumsum([draw(st.integers(-20, 5)), *bends])
    y = np.cumsum([draw(st.integers(-9, 9)), *steps])[: len(bends) + draw(st.integers(0, 2))]
    if np.dtype(dtype).kind == "f":
        y = y * 2.0 ** draw(st.integers(-60, 4))
    around = [np.full(draw(st.integers(0, 2)), inf) for _ in range(2)]
    x = np.concatenate([around[0], y, around[1], [inf] * (not len(y))])
    x = -x if concave else x
    if np.dtype(dtype).kind == "i":
        info = np.iinfo(dtype)
        x = np.where(np.isinf(x), info.min if concave else info.max, np.where(np.isinf(x), 0, x))
    return x.astype(dtype)


@pytest.mark.parametrize("concave", [False, True], ids=["min", "max"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_convex_sequences_are_convolved_as_defined(dtype: str, concave: bool) -> None:
    low = lowering(dtype, concave)
    assert applies(low)

    @given(st.data())
    def check(data: st.DataObject) -> None:
        a, b = (data.draw(convex(dtype, concave)) for _ in range(2))
        found = by_slopes(low, a, b)
        assert found is not None
        if dtype == "i4":
            limit = low.algebra.zero_in(np.dtype(dtype))
            x, y = (np.where(z == limit, low.algebra.zero, z).astype(float) for z in (a, b))
            found = np.where(found == limit, low.algebra.zero, found).astype(float)
            assert same_bits(found, definition(low, x, y))
        else:
            assert same_bits(found, definition(low, a, b))

    check()


@given(st.lists(st.integers(-3, 3), min_size=3, max_size=9), st.sampled_from(["f4", "f8", "i4"]))
def test_what_is_not_convex_is_left_to_others(values: list[int], dtype: str) -> None:
    bends = np.diff(values, 2)
    found = slopes(lowering(dtype), lowering(dtype).encode(np.array(values, dtype), True))
    assert (found is None) == bool((bends < 0).any())


def test_infinities_within_are_not_convex() -> None:
    for x in ([0.0, inf, 0.0], [0.0, -inf, 0.0], [-inf, 0.0], [0.0, 1.0, -inf]):
        assert slopes(lowering("f8"), np.array(x)) is None
    nothing = slopes(lowering("f8"), np.array([inf, inf]))
    assert nothing is not None
    assert merged(lowering("f8"), nothing, nothing, 3).tolist() == [inf] * 3


def test_slopes_that_floats_cannot_hold_are_compared_exactly() -> None:
    """Differences of a large and a small number, which differ by less than their rounding."""
    low, tiny = general(sr.min_plus, np.dtype("f8")), 2.0**-60
    a = np.array([0.0, -1 + 2.0**-53, -1.5])  # −1 + 2⁻⁵³, −0.5 − 2⁻⁵³
    b = np.array([tiny, -1.0, -1.5])  # −1 − 2⁻⁶⁰, which rounds to −1
    sums = [[Fraction(x) + Fraction(y) for y in b.tolist()] for x in a.tolist()]
    expected = [float(min(sums[i][k - i] for i in range(3) if 0 <= k - i < 3)) for k in range(5)]
    found = by_slopes(low, a, b)
    assert found is not None
    assert found.tolist() == expected == definition(low, a, b).tolist()


def test_the_largest_numbers() -> None:
    low = lowering("f8")
    large = np.finfo(float).max
    assert slopes(low, np.array([large, -large, large])) is None  # differences overflow
    a = np.array([large, 0.0, large])
    found = by_slopes(low, a, a)
    assert found is not None
    with np.errstate(over="ignore"):
        assert same_bits(found, definition(low, a, a))


FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "straight": lambda t: 0.1 * t, "parabola": lambda t: 0.37 * (t - t[101]) ** 2,
    "through zero": lambda t: 0.1 * (t - t[150]), "two lines": lambda t: np.maximum(0.1 * t, 0.7 * t - t[111]),
    "far from zero": lambda t: 1e3 + 0.3 * t, "high ends": lambda t: 1e-9 * (t - t[150]) ** 4 + 0.1 * t,
}


@pytest.mark.parametrize("concave", [False, True], ids=["min", "max"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("shape", FUNCTIONS)
def test_rounded_convex_functions_are_convolved_as_defined(shape: str, dtype: str, concave: bool) -> None:
    t, low, sign = np.arange(300) / (30 if dtype == "f2" else 1), lowering(dtype, concave), -1 if concave else 1
    a = (sign * FUNCTIONS[shape](t)).astype(dtype)
    for other in FUNCTIONS:
        b = (sign * FUNCTIONS[other](t)).astype(dtype)[:200]
        found = by_slopes(low, a, b)
        assert found is not None
        assert same_bits(found, definition(low, a, b))


def test_few_sums_are_looked_at() -> None:
    t = np.arange(2000.0)
    pairs = [(0.1 * t, 0.3 * t), (0.1 * t, 0.21 * (t - 77) ** 2), (0.37 * t * t, np.cumsum(np.sort(np.sin(t))))]
    for a, b in pairs:
        x, y = (slopes(lowering("f8"), z) for z in (a, b))
        assert x is not None and y is not None
        assert candidates(lowering("f8"), x, y).total < 3 * 4000


@given(st.integers(0, 10**6), st.sampled_from(["f4", "f8"]))
def test_hulls_of_rounded_sequences(seed: int, dtype: str) -> None:
    """Any slopes, some of which are equal, rounded, and a few numbers further from the hull."""
    random, low = np.random.default_rng(seed), lowering(dtype)
    a, b = (np.cumsum(np.sort(random.choice(random.normal(size=9), n))) for n in (60, 40))
    a, b = (x.astype(dtype) for x in (random.choice([1e-3, 1.0, 1e6]) * a, random.choice([1e-3, 1.0, 1e6]) * b))
    a[random.integers(60)] *= 1 + np.finfo(dtype).eps
    found = by_slopes(low, a, b)
    if found is not None:
        assert same_bits(found, definition(low, a, b))


def test_more_than_rounding_is_not_convex() -> None:
    for scale in (1.0, 1e-3):
        x = scale * 0.1 * np.arange(100)
        assert slopes(lowering("f8"), x) is not None
        x[50] += 1e-13 * scale
        assert slopes(lowering("f8"), x) is None


@pytest.mark.parametrize("concave", [False, True], ids=["min", "max"])
@given(st.integers(0, 10**6), st.sampled_from(["f4", "f8"]))
def test_long_rounded_sequences(concave: bool, seed: int, dtype: str) -> None:
    """Of several blocks and parts, of unequal lengths, also if sums leave the dtype."""
    random, low = np.random.default_rng(seed), lowering(dtype, concave)
    size = random.choice([1e-3, 1.0, 1e6, 0.9 * float(np.finfo(dtype).max)]) * (-1 if concave else 1)
    a, b = (np.cumsum(np.sort(random.normal(size=n))) for n in random.integers(1, 900, 2))
    a, b = ((size * (x / np.abs(x).max())).astype(dtype) for x in (a, b))
    found = by_slopes(low, a, b)
    assert found is not None
    with np.errstate(over="ignore"):
        assert same_bits(found, definition(low, a, b))


@given(st.integers(2, 998))
def test_one_bend_that_is_not_convex(place: int) -> None:
    x = np.arange(1000.0) ** 2
    x[place] += 1.5
    assert slopes(lowering("f8"), x) is None
    x[place:] = 0.1 * x[place:] + 7.3
    assert slopes(lowering("f8"), x) is None


def test_slopes_that_round_to_one_number_are_merged_by_what_rounding_took() -> None:
    """Differences of 1 + p ε and q ε / 4 are 1 or its neighbours, and which one is the lesser decides a rounded sum."""
    low, eps, compared = lowering("f8"), float(np.finfo("f8").eps), 0
    steps = [np.array([q * eps / 4, 1 + p * eps]) for p in range(3) for q in range(8)]
    for a in steps:
        for b in steps:
            found = [slopes(low, x) for x in (a, b)]
            if found[0] is not None and found[1] is not None and found[0].exact and found[1].exact:
                compared += 1
                assert same_bits(merged(low, found[0], found[1], 3), definition(low, a, b))
    assert compared == len(steps) ** 2
