"""Which way computes a convolution: by what ⊕ and ⊗ are, and by what the sequences look like, never by a name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bridge import same_bits

import semiring as sr

inf = np.inf


def method(a: Any, b: Any, S: Any, **options: Any) -> str:
    return sr.plan("convolve", a, b, S, **options).method


def test_convexity_is_seen_from_the_operations() -> None:
    mine = sr.Semiring("mine", add=lambda a, b: np.where(a < b, a, b), mul=lambda a, b: a + b, zero=inf, one=0.0)
    up, bent = np.arange(300.0) ** 2, np.sin(np.arange(300.0))
    for S, convex in ((sr.min_plus, up), (sr.max_plus, -up), (mine, up)):
        merges = S.is_tropical
        assert (method(convex, convex, S) == "merged slopes") == merges
        assert method(convex, -convex, S) != "merged slopes"
        assert method(convex, bent, S) != "merged slopes"
        assert method(convex[:20], convex[:20], S) != "merged slopes"  # little work
    assert mine.is_tropical or method(up, up, mine) == "element by element"
    long = np.arange(600.0) ** 2
    assert method(long, long, sr.plus_times) == "Toeplitz blocks"
    assert method(up, up, sr.min_max) != "merged slopes"


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_convex_sequences_agree_with_the_general_way(dtype: str, mode: str) -> None:
    """The general way takes a stack in which one sequence is not convex."""
    random = np.random.default_rng(17)
    for m, n in ((700, 300), (300, 700), (2000, 40)):
        a, b = (np.cumsum(np.sort(random.integers(-99, 99, k))).astype(dtype) for k in (m, n))
        both = np.stack([a, random.permutation(a)])
        assert method(a, b, sr.min_plus, mode=mode) == "merged slopes"
        assert method(both, b, sr.min_plus, mode=mode, axes=-1) != "merged slopes"
        general = sr.convolve(both, b, sr.min_plus, mode=mode, axes=-1)
        assert same_bits(sr.convolve(a, b, sr.min_plus, mode=mode), general[0])


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_one_convex_sequence_agrees_with_the_general_way(dtype: str) -> None:
    random = np.random.default_rng(19)
    convex, other = np.cumsum(np.arange(-1500, 1500)).astype(dtype), random.integers(0, 1 << 20, 3000).astype(dtype)
    if dtype != "i8":
        other[random.integers(0, 3000, 500)] = inf
    c = np.full(5999, inf)
    for j in range(3000):
        some = c[j : j + 3000]
        np.minimum(some, other.astype(float) + convex[j], out=some)
    for a, b in ((convex, other), (other, convex)):
        assert method(a, b, sr.min_plus) == "divided rows"
        assert same_bits(sr.convolve(a, b, sr.min_plus), c.astype(dtype))
        both = np.stack([a, a])
        assert same_bits(sr.convolve(both, b, sr.min_plus, axes=-1)[1], c.astype(dtype))
        assert method(a, b[:60], sr.min_plus) != "divided rows"


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sequences_that_are_convex_up_to_rounding_agree_with_the_general_way(dtype: str) -> None:
    random = np.random.default_rng(23)
    for scale in (0.1, 1e3):
        slopes = (np.repeat(np.sort(random.normal(size=k // 10)), 10) for k in (1500, 1100))  # of straight pieces
        a, b = ((scale * np.cumsum(steps)).astype(dtype) for steps in slopes)
        both = np.stack([a, random.permutation(a)])
        for x, y in ((a, b), (-a, -b)):
            S = sr.min_plus if x is a else sr.max_plus
            plan = sr.plan("convolve", x, y, S)
            assert plan.method == "merged slopes" and "rounding" in plan.reasons["method"]
            general = sr.convolve(both if x is a else -both, y, S, axes=-1)
            assert same_bits(sr.convolve(x, y, S), general[0])
    same = (0.1 * np.arange(1500)).astype(dtype)
    assert method(same, same, sr.min_plus) != "merged slopes"  # every sum of a place may be the least


def test_stacks_of_convex_sequences() -> None:
    up = np.arange(300.0) ** 2
    a, b = np.stack([up, 2 * up, up + 1]), np.stack([up[:280], 3 * up[:280]])[:, None]
    assert method(a, b, sr.min_plus, axes=-1) == "merged slopes"
    found = sr.convolve(a, b, sr.min_plus, axes=-1)
    assert found.shape == (2, 3, 579)
    for i in range(2):
        for j in range(3):
            assert same_bits(found[i, j], sr.convolve(a[j], b[i, 0], sr.min_plus))


def test_objects_and_products_without_a_zero_go_element_by_element() -> None:
    assert method([sr.letter("a")], [sr.letter("b")], sr.regex) == "element by element"
    S = sr.Semiring("plus-max", add=np.add, mul=np.maximum, zero=0.0, product_only=True)
    assert sr.plan("convolve", np.ones(900), np.ones(900), S).reasons["method"] == "zero does not absorb"
    words = sr.convolve([sr.letter("a"), sr.letter("b")], [sr.letter("c"), sr.letter("d")], sr.regex)
    assert [str(w) for w in words] == ["ac", "ad|bc", "bd"]


def test_log_is_computed_by_powers() -> None:
    x = np.linspace(-3, 0, 700)
    p = sr.plan("convolve", x, x, sr.log)
    assert p.method == "powers"
    expected = np.log(np.convolve(np.exp(x), np.exp(x)))
    assert np.allclose(p.run(), expected, rtol=1e-13, atol=1e-13)
