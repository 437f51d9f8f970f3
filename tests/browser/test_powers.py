"""Powers as the library computes them, and the walks of an entry."""

from __future__ import annotations

from itertools import product
from typing import Any

from browser.conftest import Opener
from browser.small import small

import semiring as sr


def test_powers_are_those_of_the_library(visit: Opener) -> None:
    page = small(visit, "powers")
    for name in page.evaluate("Object.keys(GRAPHS)"):
        graph = page.evaluate("name => GRAPHS[name]", name)
        names = list(graph["places"])
        for algebra in page.evaluate("Object.keys(ALGEBRAS)"):
            S = getattr(sr, algebra, None) or sr.catalogue[algebra]
            M = sr.adjacency([(u, v, page_weight(algebra, km)) for u, v, km in graph["edges"]], S)
            found = page.evaluate("([g, a]) => powers(GRAPHS[g], ALGEBRAS[a], 12)", [name, algebra])
            for k in range(13):
                power = sr.power(M, S, k)
                wanted = [[float(power[u, v]) for v in names] for u in names]
                assert found[k] == wanted, (name, algebra, k)
                at_most = sr.closure(M, S, max_edges=k) if k and S.idempotent else None
                if at_most is not None:
                    summed = page.evaluate("([a, made]) => sum(made, ALGEBRAS[a])", [algebra, found[:k + 1]])
                    assert summed == [[float(at_most[u, v]) for v in names] for u in names], (name, algebra, k)


def page_weight(algebra: str, km: float) -> Any:
    return km if algebra in ("min_plus", "max_plus", "max_min") else 1


def test_the_walks_of_an_entry_make_it(visit: Opener) -> None:
    page = small(visit, "powers")
    made = """([g, a, u, v, k]) => { const S = ALGEBRAS[a], G = GRAPHS[g];
        return walksOf(G, u, v, k).map(walk => weight(G, S, walk)).reduce((x, y) => S.add(x, y), S.zero) ===
            powers(G, S, k)[k][names(G).indexOf(u)][names(G).indexOf(v)]; }"""
    for name in page.evaluate("Object.keys(GRAPHS)"):
        names = page.evaluate("name => names(GRAPHS[name])", name)
        for algebra in page.evaluate("Object.keys(ALGEBRAS)"):
            for u, v, k in product(names, names, (0, 1, 2, 5, 8)):
                assert page.evaluate(made, [name, algebra, u, v, k]), (name, algebra, u, v, k)


def test_an_entry_and_its_walks_by_keys(visit: Opener) -> None:
    page = small(visit, "powers")
    rule = page.locator("#rule")
    assert rule.inner_text() == "A³[a, f] = 2"
    page.locator("#k").press("End")
    assert rule.inner_text() == "A¹²[a, f] = 2"
    page.locator("#k").press("Home")
    assert rule.inner_text() == "A⁰[a, f] = 0" and page.locator("#count").inner_text() == "No walk of exactly 0 edges."
    page.get_by_role("combobox", name="Algebra").select_option("min_plus")
    page.get_by_role("combobox", name="Walks of").select_option("at most k edges")
    for _ in range(4):
        page.locator("#k").press("ArrowRight")
    assert rule.inner_text() == "(A⁰ ⊕ … ⊕ A⁴)[a, f] = 12"
    page.get_by_role("button", name="a to f: 12").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    assert rule.inner_text() == "(A⁰ ⊕ … ⊕ A⁴)[b, e] = ∞" and "No walk" in page.locator("#said").inner_text()
    page.get_by_role("button", name="a to f: 12").click()
    walks = page.locator("#walks button")
    assert walks.first.inner_text() == "a→c→e→d→f: 12"
    assert walks.first.get_attribute("aria-pressed") == "true"
    walks.nth(1).press("Enter")
    assert page.locator("#said").inner_text() == "Drawn: a→c→b→d→f"
    assert page.locator("path.chosen").count() == 4
    assert page.evaluate("document.activeElement.textContent").endswith(": 13")
