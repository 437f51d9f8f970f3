"""Natural orders as Hasse diagrams, against divisibility and inclusion written out."""

from __future__ import annotations

import math
from itertools import product
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr

inf = math.inf
SVG = "{http://www.w3.org/2000/svg}"
IDEMPOTENT = {name: S for name, S in sr.catalogue.items() if S.idempotent}


def obvious(elements: list[int], below: Any) -> tuple[set[tuple[int, int]], dict[int, int]]:
    """Covers and heights by trying everything."""
    less = {(a, b) for a, b in product(elements, repeat=2) if a != b and below(a, b)}
    covers = {(a, b) for a, b in less if not any((a, c) in less and (c, b) in less for c in elements)}

    def height(b: int) -> int:
        return max((1 + height(a) for a in elements if (a, b) in less), default=0)

    return covers, {a: height(a) for a in elements}


@settings(max_examples=40)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=10, unique=True))
def test_divisibility(elements: list[int]) -> None:
    """gcd(a, b) = b says that b divides a; everything divides 0."""
    H = sr.gcd_lcm.hasse(elements)
    covers, heights = obvious(elements, lambda a, b: a % b == 0 if b else a == 0)
    assert set(H.covers) == covers and H.levels == heights
    assert H.heights.tolist() == [heights[a] for a in elements]


@settings(max_examples=40)
@given(st.lists(st.integers(0, 63), min_size=1, max_size=12, unique=True))
def test_inclusion(elements: list[int]) -> None:
    H = sr.bitset_may.hasse(elements, dtype="u1")
    covers, heights = obvious(elements, lambda a, b: a | b == b)
    assert set(H.covers) == covers and H.levels == heights and H.elements.dtype == np.uint8


@pytest.mark.parametrize("name", IDEMPOTENT)
def test_every_idempotent_algebra_has_one(name: str) -> None:
    S = IDEMPOTENT[name]
    H = S.hasse()
    k = len(H.elements)
    assert H.below.shape == (k, k) and H.below.diagonal().all() and len(H.heights) == k
    assert len(H.levels) == k, "elements are keys"
    zero = S.components_of(S.zero) if S.is_record else S.zero
    assert H.heights[0] == 0 and H.below[0].all(), f"{zero} is below everything"
    for a, b in H.covers:
        assert H.levels[a] < H.levels[b]
    if S.selective:
        assert sorted(H.heights) == list(range(k)) and len(H.covers) == k - 1, "a selective ⊕ makes a chain"


@pytest.mark.parametrize("S", [S for S in sr.catalogue.values() if not S.idempotent], ids=lambda S: S.name)
def test_without_idempotence_there_is_none(S: sr.Semiring) -> None:
    with pytest.raises(sr.LawError, match=f"{S.name} has no natural order, which needs an idempotent ⊕: ") as e:
        S.hasse()
    assert [v.law.formula for v in e.value.failures] == ["a ⊕ a = a"]


def test_what_is_unproven_is_told_so() -> None:
    S = sr.Semiring("unions", dtype=object, add=lambda a, b: a | b, mul=lambda a, b: a & b, zero=frozenset(),
                    one=frozenset("ab"))
    with pytest.raises(sr.LawError, match=r"needs an idempotent ⊕: ⊕ is idempotent is unproven") as e:
        S.hasse([frozenset("a")])
    assert e.value.failures == []


def test_what_is_no_order_is_refused() -> None:
    """Stone, paper, scissors: the winner of two; and a first operand that always wins."""
    winner = {(0, 1): 1, (1, 2): 2, (0, 2): 0}
    games = sr.Semiring("games", dtype=object, zero=0, one=0, idempotent=True, product_only=True,
                        add=lambda a, b: a if a == b else winner[min(a, b), max(a, b)], mul=lambda a, b: a)
    with pytest.raises(sr.LawError, match=r"games has no natural order on these elements: .* step by step"):
        games.hasse([0, 1, 2])
    second = sr.Semiring("second", dtype=object, zero=0, one=0, idempotent=True, product_only=True,
                         add=lambda a, b: b, mul=lambda a, b: a)
    with pytest.raises(sr.LawError, match="0 and 1 are each at most the other"):
        second.hasse([0, 1])


def test_objects_that_are_no_keys_have_heights() -> None:
    unions = sr.Semiring("unions", dtype=object, zero=set(), one={1, 2}, idempotent=True, samples=[{1}, {2}],
                         add=lambda a, b: a | b, mul=lambda a, b: a & b)
    H = unions.hasse()
    assert H.heights.tolist() == [0, 2, 1, 1] and (set(), {1}) in H.covers and "∅ < {1}, {2}" in str(H)
    with pytest.raises(sr.SemiringError, match=r"elements of unions cannot be keys .*: use heights"):
        _ = H.levels


def test_text_and_drawing() -> None:
    H = sr.bitset_may.hasse(range(4), dtype="u1")
    assert str(H).splitlines() == [
        "Natural order of bitset-may on 4 elements: a ≤ b where a ⊕ b = b",
        "  height 2: 3", "  height 1: 1, 2", "  height 0: 0", "  0 < 1, 2", "  1 < 3", "  2 < 3",
    ]
    page = ElementTree.fromstring(H._repr_svg_())
    assert page.findtext(f"{SVG}title") == "Hasse diagram of bitset-may"
    assert "0 < 1, 2; 1 < 3; 2 < 3" in (page.findtext(f"{SVG}desc") or "")
    places = {t.text: (float(t.get("x", 0)), float(t.get("y", 0))) for t in page.iter(f"{SVG}text")}
    assert places["3"][1] < places["1"][1] == places["2"][1] < places["0"][1], "what is higher is higher up"
    assert len(list(page.iter(f"{SVG}polyline"))) == len(H.covers)
    assert H._repr_svg_() in H._repr_html_()
    assert "no element is below another" in sr.gcd_lcm.hasse([2, 3])._repr_svg_()


@pytest.mark.parametrize(("name", "chain"), [
    ("min_plus", [inf, 3, 2, 1, 0, -1, -inf]), ("max_min", [-inf, -1, 0, 1, 2, 3, inf]),
    ("viterbi", [0, 0.25, 0.5, 0.75, 1]), ("lukasiewicz", [0, 0.25, 0.5, 0.75, 1]), ("boolean", [False, True]),
])
def test_a_total_order_is_a_short_chain_with_both_ends(name: str, chain: list[float]) -> None:
    H = sr.catalogue[name].hasse()
    assert sorted(H.levels, key=H.levels.__getitem__) == chain and H.covers == sorted(H.covers, key=H.covers.index)
    assert len(H.covers) == len(chain) - 1
    if -1 in chain:
        assert "−1" in repr(H) and "-1" not in repr(H) and "−1" in H._repr_svg_(), "with the minus sign of the pages"


def test_the_whole_of_a_small_order_is_shown() -> None:
    """All elements of a finite carrier, and a chain that the caller chose."""
    small = sr.Semiring("nine", add=np.maximum, mul=np.minimum, zero=0, one=12, dtypes="i", carrier=lambda a: (
        (a == 0) | (a == 1) | (a == 2) | (a == 3) | (a == 5) | (a == 7) | (a == 12) | (a == 11)),
        samples=[1, 2, 3, 5, 7, 11])
    assert sorted(small.hasse().levels) == [0, 1, 2, 3, 5, 7, 11, 12]
    assert len(sr.min_plus.hasse(list(range(12))).elements) == 12
    assert len(sr.min_plus.hasse(dtype="u1").elements) == 7 and 255 in sr.min_plus.hasse(dtype="u1").elements


def test_infinities_and_dtypes() -> None:
    H = sr.min_plus.hasse([0, 1, inf], dtype="i2")
    assert H.levels == {0: 2, 1: 1, 32767: 0} and "height 0: ∞" in str(H)
    with pytest.raises(sr.SemiringError, match="cannot live in complex128"):
        sr.min_plus.hasse(dtype=complex)
