"""The temperature: soft minima, uses and shares as in the chapter, and the minimum without it."""

from __future__ import annotations

import random

import numpy as np
from browser.conftest import Opener
from browser.small import chapter, small

import semiring as sr


def test_soft_minimum_and_use_are_those_of_the_chapter(visit: Opener) -> None:
    space = chapter("7", "roads = [", "def soft_distance(", "def use(")
    page = small(visit, "temperature")
    assert page.evaluate("ROADS") == [list(road) for road in space["roads"]]
    random.seed(2)
    for T in (0.3, 0.5, 1.0, 2.0, 4.7, 8.0):
        roads = [(u, v, km if T == 2 else random.randint(1, 12)) for u, v, km in space["roads"]]
        found = page.evaluate("([roads, T]) => measured(roads, T)", [roads, T])
        assert np.isclose(found["soft"], space["soft_distance"](roads, T), rtol=1e-10)
        assert np.allclose(found["uses"], list(space["use"](roads, T).values()), rtol=1e-8)
        longer, walks = {"a": 0.0}, []
        for _ in range(30):  # all walks of fewer than 30 edges, in layers
            longer = {walk + v: km + w for walk, km in longer.items() for u, v, w in roads if walk[-1] == u}
            walks += [(km, walk) for walk, km in longer.items() if walk[-1] == "f"]
        best = sorted(walks)[:7]
        assert [(one["km"], one["walk"]) for one in found["walks"]] == best
        shares = [np.exp((found["soft"] - km) / T) for km, _ in best]
        assert np.allclose([one["share"] for one in found["walks"]], shares)


def test_how_often_a_road_is_used_is_the_derivative_and_may_exceed_1(visit: Opener) -> None:
    page = small(visit, "temperature")
    found = page.evaluate("""T => measured(ROADS, T).uses.map((use, i) => [use, ...[1e-4, -1e-4].map(by =>
        measured(ROADS.map(([u, v, km], j) => [u, v, km + (i === j ? by : 0)]), T).soft)])""", 8)
    uses, longer, shorter = map(np.array, zip(*found, strict=True))
    assert np.allclose(uses, (longer - shorter) / 2e-4, atol=1e-6) and max(uses) > 1


def test_without_temperature_it_is_the_minimum(visit: Opener) -> None:
    page = small(visit, "temperature")
    random.seed(3)
    ties = 0
    for _ in range(40):
        roads = [(u, v, random.randint(1, 12)) for u, v, _ in page.evaluate("ROADS")]
        cold = page.evaluate("roads => measured(roads, 0)", roads)
        counted = sr.closure(sr.adjacency(roads, sr.shortest_count), sr.shortest_count)["a", "f"]
        assert cold["soft"] == sr.closure(sr.adjacency(roads, sr.min_plus), sr.min_plus)["a", "f"] == counted[0]
        shares = [one["share"] for one in cold["walks"]]
        assert np.allclose(shares[:int(counted[1])], 1 / counted[1], atol=1e-6) and sum(shares[int(counted[1]):]) < 1e-6
        ties += counted[1] > 1
    assert ties, "equally short walks share"


def test_the_sliders_of_the_temperature(visit: Opener) -> None:
    page = small(visit, "temperature")
    T, text = page.locator("#T"), page.locator("#soft")
    assert text.inner_text() == "Soft minimum 10.47, minimum 12"
    T.press("Home")
    assert text.inner_text() == "Soft minimum 12: this is the minimum" and T.get_attribute("aria-valuetext") == "T = 0"
    page.get_by_text("a→c→e→d→f has a share of 100.0 %").wait_for(state="attached")
    page.get_by_role("combobox", name="Road").select_option("e to f")
    page.locator("#length").press("Home")
    assert text.inner_text() == "Soft minimum 6: this is the minimum"
    assert page.locator("#walks tr").first.locator("th").inner_text() == "a→c→e→f"
    page.get_by_role("button", name="Reset").press("Enter")
    assert text.inner_text() == "Soft minimum 10.47, minimum 12"
