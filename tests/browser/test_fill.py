"""The fill game against elimination in Python, by mouse and by keys."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from browser.conftest import Opener
from browser.small import chapter, small
from scipy.sparse import coo_array

import semiring as sr


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


def least_fill(neighbours: list[set[int]]) -> int:
    """The fewest edges that any order adds: the vertices eliminated so far decide the neighbours of the next."""
    n = len(neighbours)

    def around(gone: int, v: int) -> int:
        seen, todo, found = {v}, [v], 0
        while todo:
            for x in neighbours[todo.pop()] - seen:
                seen.add(x)
                if gone >> x & 1:
                    todo.append(x)
                else:
                    found += 1
        return found

    best = {0: 0}
    for _ in range(n):
        larger: dict[int, int] = {}
        for gone, edges in best.items():
            for v in range(n):
                if not gone >> v & 1:
                    more = gone | 1 << v
                    larger[more] = min(larger.get(more, n * n), edges + around(gone, v))
        best = larger
    return best[2**n - 1] - sum(map(len, neighbours)) // 2


def test_what_the_chapter_says_of_the_best_orders(visit: Opener) -> None:
    page = small(visit, "fill")
    facts = page.evaluate(FACTS, "a grid of 4 × 4")
    assert least_fill([set(one) for one in facts["neighbours"]]) == 18 == min(facts["fills"].values())
    order = [0, 5, 30, 35, 3, 11, 18, 1, 29, 34, 31, 6, 20, 27, 22, 17, 13, 8, 24, 25, 10, 15, 4, 32, 7, 28, 33, 2, 9,
             16, 14, 23, 19, 21, 12, 26]
    page.get_by_role("combobox", name="Graph", exact=True).select_option("a grid of 6 × 6")
    page.evaluate("order => order.forEach(v => vertices[v].click())", order)
    assert page.locator("#count").inner_text() == "Done: fill 69. Fewer than all three programs."


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
