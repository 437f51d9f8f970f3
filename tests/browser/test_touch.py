"""The small pages of the course in a browser: their numbers against Python, keys, themes, widths, frames and print."""

from __future__ import annotations

import random
import re
import runpy
from itertools import product
from math import inf, isnan, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser.conftest import Opener
from scipy.sparse import coo_array

import semiring as sr

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"
TOUCH = SITE / "_static" / "touch"
NAMES = sorted(file.stem for file in TOUCH.glob("*.html"))
# What makes a page show more than it begins with.
USED = {"fill": "() => { for (const v of [0, 5, 3]) vertices[v].click(); vertices[6].focus(); }",
        "laws": "() => { $('preset').value = 'wider, then shorter'; $('preset').onchange(); find(); find(); }"}


def small(visit: Opener, name: str, **options: Any) -> Any:
    return visit(file=TOUCH / f"{name}.html", **options)


def chapter(name: str, *parts: str) -> dict[str, Any]:
    """What the cells of a chapter define that contain one of some texts."""
    text = next(SITE.glob(f"course/{name}-*.md")).read_text(encoding="utf-8")
    found = re.findall(r"^```\{code-cell\} python\n(?::[^\n]*\n)*(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    space: dict[str, Any] = {"np": np, "sr": sr}
    for code in found:
        if any(part in code for part in parts):
            exec(code, space)
    return space


# All of them

@pytest.mark.parametrize("name", NAMES)
def test_it_fits_from_phones_to_screens(visit: Opener, name: str) -> None:
    page = small(visit, name)
    for width in (320, 360, 390, 700, 1024, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        for act in ("() => 0", USED[name]):
            page.evaluate(act)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, width


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_read_by_all(visit: Opener, name: str, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = small(visit, name, theme=theme)
    for act in ("() => 0", USED[name]):
        page.evaluate(act)
        found = Axe().run(page, options={"preload": False}).response["violations"]
        assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in found] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_has_the_theme_of_its_page_and_the_height_of_its_content(
    visit: Opener, name: str, tmp_path: Path
) -> None:
    text = runpy.run_path(str(SITE / "touch.py"))["Touch"](name)._repr_html_()
    file = tmp_path / "page.html"
    style = "iframe { width: 100%; border: 0 }"
    file.write_text(f"<!doctype html><html data-theme='dark'><style>{style}</style><body>{text}", encoding="utf-8")
    page = visit(file=file, width=700)
    inside = page.frames[1]
    inside.wait_for_selector("html[data-theme=dark]", state="attached")
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    inside.wait_for_selector("html[data-theme=light]", state="attached")
    for width in (320, 700):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(200)
        inside.evaluate(USED[name])
        page.wait_for_timeout(200)
        sizes = "[innerHeight, document.documentElement.scrollHeight, document.querySelector('main').offsetHeight]"
        frame, content, main = inside.evaluate(sizes)
        assert content <= frame <= main + 6
    assert page.frame_locator("iframe").locator("h1").inner_text()
    link = page.get_by_role("link", name="Open this in a page of its own")
    assert link.get_attribute("href") == f"../_static/touch/{name}.html"


@pytest.mark.parametrize("name", NAMES)
def test_it_prints_a_picture_without_controls(visit: Opener, name: str) -> None:
    page = small(visit, name, theme="dark")
    page.evaluate(USED[name])
    page.emulate_media(media="print")
    buttons = page.locator("button:not(#board button, td.entry button)").all()
    assert [button for button in buttons if button.is_visible()] == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("h1").is_visible()


@pytest.mark.parametrize("name", NAMES)
def test_without_scripts_it_says_where_the_numbers_are(name: str) -> None:
    text = (TOUCH / f"{name}.html").read_text(encoding="utf-8")
    assert re.search(r"<noscript><p>[^<]*needs JavaScript\. [^<]*chapter \d", text)
    assert len(re.findall(r"role=\"status\"", text)) == 1 and "http" not in text.replace("http-equiv", "")


# The fill game

def joined(neighbours: list[set[int]], order: list[int]) -> int:
    """Edges that elimination adds: u and w are joined if all between them on some path went before both."""
    when = {v: k for k, v in enumerate(order)}

    def reach(u: int, w: int) -> bool:
        seen, todo = {u}, [u]
        while todo:
            for x in neighbours[todo.pop()] - seen:
                if x == w:
                    return True
                if when[x] < min(when[u], when[w]):
                    seen.add(x)
                    todo.append(x)
        return False

    pairs = [(u, w) for u in range(len(order)) for w in range(u)]
    return sum(w not in neighbours[u] and reach(u, w) for u, w in pairs)


GRAPHS = "() => Object.keys(MADE)"
FACTS = """name => { const g = MADE[name](); return {neighbours: g.neighbours.map(x => [...x]), orders: g.orders,
    fills: Object.fromEntries(Object.entries(g.orders).map(([k, order]) => [k, fillOf(g.neighbours, order)]))}; }"""


def test_fill_of_programs_and_of_random_orders(visit: Opener) -> None:
    page = small(visit, "fill")
    random.seed(0)
    names = page.evaluate(GRAPHS)
    assert len(names) > 6
    for name in names:
        facts = page.evaluate(FACTS, name)
        neighbours = [set(one) for one in facts["neighbours"]]
        n = len(neighbours)
        shuffled = [random.sample(range(n), n) for _ in range(4)]
        count_of = "([name, order]) => fillOf(MADE[name]().neighbours, order)"
        for order, count in [*zip(facts["orders"].values(), facts["fills"].values(), strict=True),
                             *((order, page.evaluate(count_of, [name, order])) for order in shuffled)]:
            assert sorted(order) == list(range(n)) and count == joined(neighbours, order), name


def test_fill_is_what_the_chapter_counts(visit: Opener) -> None:
    space = chapter("5", "def fill(", "def dissection(", "def minimum_degree(")
    cells, grid = space["cells"], space["grid"]
    facts = small(visit, "fill").evaluate(FACTS, "a grid of 8 × 8")
    number = {cell: k for k, cell in enumerate(cells)}
    assert [sorted(one) for one in facts["neighbours"]] == [sorted(number[w] for w in grid[v]) for v in cells]
    wanted = {"row by row": cells, "minimum degree": space["minimum_degree"](grid),
              "nested dissection": space["dissection"](range(8), range(8))}
    assert facts["orders"] == {name: [number[v] for v in order] for name, order in wanted.items()}
    assert facts["fills"] == {name: space["fill"](grid, order) for name, order in wanted.items()}


def test_pairs_joined_are_edges_and_fill_at_least(visit: Opener) -> None:
    facts = small(visit, "fill").evaluate(FACTS, "a grid of 5 × 5")
    edges = [(u, v) for u, around in enumerate(facts["neighbours"]) for v in around]
    lengths = coo_array((np.ones(len(edges)), tuple(np.transpose(edges))), shape=(25, 25))
    for name, order in facts["orders"].items():
        factors = sr.factor(lengths, sr.min_plus, order=order)
        assert factors.plan.fill >= len(edges) // 2 + facts["fills"][name]


def fills(page: Any) -> dict[str, str]:
    rows = page.locator("#orders tr").all()
    return {row.locator("th").inner_text(): row.locator("td").first.inner_text() for row in rows}


def test_the_game_by_mouse(visit: Opener) -> None:
    page = small(visit, "fill")
    assert fills(page) == {"yours": "0", "row by row": "27", "minimum degree": "18", "nested dissection": "18"}
    page.get_by_role("button", name="row 2, column 2: 4 neighbours, would add 6 edges").hover()
    assert page.locator("path.would").count() == 6
    page.get_by_role("button", name="row 2, column 2").click()
    assert fills(page)["yours"] == "6" and page.locator("path.new").count() == 6
    assert "Row 2, column 2 is eliminated: 6 new edges. Fill so far: 6." in page.locator("#said").inner_text()
    page.get_by_role("button", name="row 2, column 2: eliminated as number 1").click(force=True)  # does nothing
    assert fills(page)["yours"] == "6"
    page.get_by_role("button", name="Undo").click()
    assert fills(page)["yours"] == "0" and page.locator("path.new").count() == 0
    page.get_by_role("combobox", name="Graph", exact=True).select_option("a star of 9")
    page.get_by_role("button", name="a: 8 neighbours, would add 28 edges").click()
    assert fills(page) == {"yours": "28", "by name": "28", "minimum degree": "0", "nested dissection": "0"}
    page.get_by_role("button", name="Restart").click()
    assert "9 of 9 vertices left" in page.locator("#count").inner_text()


def test_the_game_by_keys(visit: Opener) -> None:
    page = small(visit, "fill")
    page.get_by_role("combobox", name="Graph", exact=True).select_option("a grid of 3 × 3")
    page.locator("#restart").focus()
    page.keyboard.press("Tab")
    label = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(label).startswith("row 1, column 1: 2 neighbours")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    assert page.evaluate(label).startswith("row 1, column 2")
    for key in ("Enter", "ArrowDown", "Space"):
        page.keyboard.press(key)
    assert page.evaluate(label) == "row 2, column 2: eliminated as number 2"
    assert fills(page)["yours"] == str(page.evaluate("fillOf(state.graph.neighbours, [1, 4])"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Play"  # one stop for the whole graph


@pytest.mark.parametrize("name", ["row by row", "minimum degree", "nested dissection"])
def test_an_order_plays(visit: Opener, name: str) -> None:
    page = small(visit, "fill")
    page.get_by_role("combobox", name="Graph", exact=True).select_option("a grid of 3 × 3")
    page.evaluate("() => { globalThis.setInterval = (act) => { while (next()) act(); }; }")
    page.get_by_role("button", name=f"Play the order: {name}").click()
    assert fills(page)["yours"] == fills(page)[name] and "Done" in page.locator("#count").inner_text()
    assert "Done" in page.locator("#said").inner_text()


# The playground for laws

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
    return x == y or (isnan(x) and isnan(y)) or abs(x - y) <= 1e-9 * max(1, abs(x), abs(y))


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
        ("1 is neutral, left", lambda a, b, c: (mul(one, a), a)),
        ("1 is neutral, right", lambda a, b, c: (mul(a, one), a)),
        ("0 absorbs, left", lambda a, b, c: (mul(zero, a), zero)),
        ("0 absorbs, right", lambda a, b, c: (mul(a, zero), zero)),
        ("⊗ distributes, left", lambda a, b, c: (mul(a, add(b, c)), add(mul(a, b), mul(a, c)))),
        ("⊗ distributes, right", lambda a, b, c: (mul(add(a, b), c), add(mul(a, c), mul(b, c)))),
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
    assert broken["wider, then shorter"] == ["⊗ distributes, left", "⊗ distributes, right"]
    failures = sr.check_laws(sr.shortest_widest).failures
    assert {f.law.name for f in failures} == {"⊗ distributes on the left", "⊗ distributes on the right"}
    assert broken["mean of two walks: mean and +"][0] == "⊕ is associative"
    assert "⊗ is associative" in broken["late: min, and max + 1"]
    assert broken["longest walks from 0: max and +"] == ["0 absorbs, left", "0 absorbs, right"]


def test_witnesses_are_found_one_after_another_by_keys(visit: Opener) -> None:
    page = small(visit, "laws")
    first, said = page.locator("#first"), page.locator("#said")
    page.locator("#find").focus()
    page.keyboard.press("Enter")
    assert "No law is broken by three of these 13 elements" in first.inner_text() == said.inner_text().strip()
    page.get_by_role("combobox", name="Begin with", exact=True).select_option("at most 10: min(a + b, 10) and ×")
    page.locator("#find").focus()
    page.keyboard.press("Enter")
    assert "⊗ distributes, left? Not here, where a = 2, b = 3, c = 5" in first.inner_text()
    assert "a ⊗ (b ⊕ c) = 2 ⊗ (3 ⊕ 5) = 2 ⊗ 8 = 16" in first.inner_text()
    assert "a ⊗ b ⊕ a ⊗ c = 2 ⊗ 3 ⊕ 2 ⊗ 5 = 6 ⊕ 10 = 10" in first.inner_text()
    page.locator("#a0").focus()
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#a0").get_attribute("aria-valuetext") == "1" and page.locator("#out-a").inner_text() == "1"
    assert page.locator("#laws li.differs .name").all_inner_texts() == ["⊗ distributes, right"]
    page.get_by_role("button", name="Show what breaks: ⊗ distributes, left").click()
    assert page.locator("#out-a").inner_text() == "2" and page.evaluate("document.activeElement.id") == "first"
    page.locator("#find").press("Enter")
    assert "Broken law 2 of 2: ⊗ distributes, right, at a = " in page.locator("#said").inner_text()
