"""The playground for laws against laws in Python, and its witnesses."""

from __future__ import annotations

import random
from itertools import product
from math import inf, isclose, isnan, nan, sqrt
from typing import Any

import numpy as np
import pytest
from browser.conftest import Opener
from browser.small import small

import semiring as sr


def least(a: float, b: float) -> float:
    return nan if isnan(a) or isnan(b) else min(a, b)


def most(a: float, b: float) -> float:
    return -least(-a, -b)


NUMBERS = {"min": least, "max": most, "sum": lambda a, b: a + b, "minus": lambda a, b: a - b,
           "times": lambda a, b: a * b, "mean": lambda a, b: (a + b) / 2, "capped": lambda a, b: least(a + b, 10),
           "far": lambda a, b: abs(a - b),
           "root": lambda a, b: sqrt(a * a + b * b), "second": lambda a, b: b, "late": lambda a, b: most(a, b) + 1}
PAIRS = {"wide": lambda a, b: min(a, b, key=lambda x: (-x[0], x[1])),
         "short": lambda a, b: min(a, b, key=lambda x: (x[1], -x[0])),
         "each": lambda a, b: (max(a[0], b[0]), min(a[1], b[1])),
         "ratio": lambda a, b: b if b[0] * a[1] > a[0] * b[1] else a,
         "walk": lambda a, b: (min(a[0], b[0]), a[1] + b[1]),
         "sums": lambda a, b: (a[0] + b[0], a[1] + b[1]),
         "means": lambda a, b: (min(a[0], b[0]), (a[1] + b[1]) / 2)}
INSIDE = {"real": lambda x: abs(x) < inf, "extended": lambda x: not isnan(x), "positive": lambda x: x >= 0,
          "share": lambda x: 0 <= x <= 1, "pair": lambda x: not isnan(x[0]) and not isnan(x[1])}


def alike(x: Any, y: Any) -> bool:
    if isinstance(x, tuple):
        return all(map(alike, x, y))
    return (isnan(x) and isnan(y)) or isclose(x, y, rel_tol=1e-9, abs_tol=1e-9)


def laws_of(kind: str, plus: str, by: str, zero: Any, one: Any) -> list[tuple[str, Any]]:
    """Names of laws, and functions of a, b, c that return both sides, or two elements and whether they are such."""
    known = PAIRS if kind == "pair" else NUMBERS

    def add(a: Any, b: Any) -> Any:
        return known[plus](a, b)

    def mul(a: Any, b: Any) -> Any:
        with np.errstate(all="ignore"):
            x = known[by](a, b)
        undefined = any(map(isnan, x)) if isinstance(x, tuple) else isnan(x)
        return zero if undefined and zero in (a, b) else x

    inside = INSIDE[kind]
    return [
        ("⊕ is associative", lambda a, b, c: (add(add(a, b), c), add(a, add(b, c)))),
        ("⊕ is commutative", lambda a, b, c: (add(a, b), add(b, a))),
        ("0 is neutral for ⊕", lambda a, b, c: (add(zero, a), a)),
        ("⊗ is associative", lambda a, b, c: (mul(mul(a, b), c), mul(a, mul(b, c)))),
        ("1 is neutral on the left", lambda a, b, c: (mul(one, a), a)),
        ("1 is neutral on the right", lambda a, b, c: (mul(a, one), a)),
        ("0 absorbs on the left", lambda a, b, c: (mul(zero, a), zero)),
        ("0 absorbs on the right", lambda a, b, c: (mul(a, zero), zero)),
        ("⊗ distributes on the left", lambda a, b, c: (mul(a, add(b, c)), add(mul(a, b), mul(a, c)))),
        ("⊗ distributes on the right", lambda a, b, c: (mul(add(a, b), c), add(mul(a, c), mul(b, c)))),
        ("a ⊕ b and a ⊗ b are elements", lambda a, b, c: (inside(add(a, b)) and inside(mul(a, b)), True)),
        ("0 and 1 are elements", lambda a, b, c: (inside(zero) and inside(one), True)),
    ]


def element(x: Any) -> Any:
    return tuple(map(float, x)) if isinstance(x, list) else float(x)


BROKEN = """() => { const S = chosen(); return {pool: KINDS[S.kind].pool, zero: S.zero, one: S.one,
    broken: LAWS.filter(law => witness(law, S)).map(law => law.name)}; }"""


def choices(page: Any, kind: str) -> list[tuple[str, str]]:
    tables = ("PAIR_PLUS", "PAIR_TIMES") if kind == "pair" else ("PLUS", "TIMES")
    return list(product(*(page.evaluate(f"Object.keys({table})") for table in tables)))


@pytest.mark.parametrize("kind", list(INSIDE))
def test_which_laws_are_broken(visit: Opener, kind: str) -> None:
    """All choices of ⊕ and ⊗: those laws of which some triple of the pool shows it; pairs by some triples of it."""
    page = small(visit, "laws")
    begin = "([k, p, t]) => { pick(k, p, t, ...neutral(k, p, t)); state.S = chosen(); }"
    every = choices(page, kind)
    assert len(every) >= 12
    for plus, by in every:
        page.evaluate(begin, [kind, plus, by])
        facts = page.evaluate(BROKEN)
        pool = list(map(element, facts["pool"]))
        laws = laws_of(kind, plus, by, element(facts["zero"]), element(facts["one"]))
        broken = [name for name, both in laws if any(not alike(*both(*chosen)) for chosen in product(pool, repeat=3))]
        assert facts["broken"] == broken, (plus, by)


def test_both_sides_while_sliders_move(visit: Opener) -> None:
    page = small(visit, "laws")
    random.seed(1)
    for kind in INSIDE:
        for plus, by in random.sample(choices(page, kind), 6):
            page.evaluate("""([k, p, t]) => {
                pick(k, p, t, ...neutral(k, p, t)); state.S = chosen(); sliders(); changed(false);
            }""", [kind, plus, by])
            page.evaluate("""ats => [...document.querySelectorAll("#values input")].forEach((node, i) => {
                node.value = Math.floor(ats[i] * (+node.max + 1)); node.oninput();
            })""", [random.random() for _ in range(6)])
            a, b, c = (element(page.evaluate("x => state.values[x]", letter)) for letter in "abc")
            zero, one = (element(page.evaluate(f"state.S.{name}")) for name in ("zero", "one"))
            rows = page.evaluate("""[...document.querySelectorAll("#laws li")].map(row =>
                [row.className === "differs", ...[".left", ".right"].map(x => row.querySelector(x).textContent)])""")
            for (name, both), (differs, *texts) in zip(laws_of(kind, plus, by, zero, one), rows, strict=True):
                assert differs == (not alike(*both(a, b, c))), (kind, plus, by, name)
                if "elements" not in name:
                    wanted = page.evaluate("xs => xs.map(x => shown(x))", [list(x) if isinstance(x, tuple) else x
                                                                          for x in both(a, b, c)])
                    assert [text.split(" = ")[1] for text in texts] == wanted


def test_presets_are_what_their_names_say(visit: Opener) -> None:
    """As the library's own test of laws finds; `means` and `late` are in the chapter."""
    page = small(visit, "laws")
    broken = {}
    for name in page.evaluate("Object.keys(PRESETS)"):
        page.get_by_role("combobox", name="Begin with", exact=True).select_option(name)
        broken[name] = page.evaluate(BROKEN)["broken"]
    good = [name for name, laws in broken.items() if not laws]
    assert good == ["shortest walks: min and +", "widest walks: max and min", "likeliest walks: max and ×",
                    "numbers of walks: + and ×", "real numbers: + and ×", "shorter, then wider"]
    assert broken["wider, then shorter"] == ["⊗ distributes on the left", "⊗ distributes on the right"]
    failures = sr.check_laws(sr.shortest_widest).failures
    assert {f.law.name for f in failures} == {"⊗ distributes on the left", "⊗ distributes on the right"}
    assert broken["mean of two walks: mean and +"] == ["⊕ is associative", "0 is neutral for ⊕"]
    assert "⊗ is associative" in broken["late: min, and max + 1"]
    assert broken["longest walks from 0: max and +"] == ["0 absorbs on the left", "0 absorbs on the right"]


def test_witnesses_are_found_one_after_another_by_keys(visit: Opener) -> None:
    page = small(visit, "laws")
    first, said = page.locator("#first"), page.locator("#said")
    page.locator("#find").focus()
    page.keyboard.press("Enter")
    assert "No law is broken by three of these 13 elements" in first.inner_text() == said.inner_text().strip()
    page.get_by_role("combobox", name="Begin with", exact=True).select_option("at most 10: min(a + b, 10) and ×")
    page.locator("#find").focus()
    page.keyboard.press("Enter")
    assert "0 is neutral for ⊕? Not here, where a = ∞" in first.inner_text()
    page.keyboard.press("Enter")
    assert "⊗ distributes on the left? Not here, where a = 2, b = 3, c = 5" in first.inner_text()
    assert "a ⊗ (b ⊕ c) = 2 ⊗ (3 ⊕ 5) = 2 ⊗ 8 = 16" in first.inner_text()
    assert "a ⊗ b ⊕ a ⊗ c = 2 ⊗ 3 ⊕ 2 ⊗ 5 = 6 ⊕ 10 = 10" in first.inner_text()
    page.locator("#a0").focus()
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#a0").get_attribute("aria-valuetext") == "1" and page.locator("#out-a").inner_text() == "1"
    assert page.locator("#laws li.differs .name").all_inner_texts() == ["⊗ distributes on the right"]
    page.get_by_role("button", name="Show what breaks: ⊗ distributes on the left").click()
    assert page.locator("#out-a").inner_text() == "2" and page.evaluate("document.activeElement.id") == "first"
    page.locator("#find").press("Enter")
    assert "Broken law 3 of 3: ⊗ distributes on the right, at a = " in page.locator("#said").inner_text()
