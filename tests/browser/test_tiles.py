"""The page of a product by tiles, in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser.conftest import Opener

import semiring as sr
from semiring.teach.elements import Elements
from semiring.teach.tiles import drawn, explain_product

RANDOM = np.random.default_rng(2)
A, B = (RANDOM.integers(1, 10, (8, 8)).astype(float) for _ in range(2))


def opened(visit: Opener, factors: tuple[Any, Any] = (A, B), S: sr.Semiring = sr.min_plus, **more: Any) -> Any:
    return visit(explain_product(*factors, S), **more)


def cells(page: Any, table: str) -> list[list[str]]:
    return page.evaluate("id => [...document.querySelectorAll(`#${id} tbody tr`)].map(row => "
                         "[...row.querySelectorAll('td')].map(cell => cell.title || cell.textContent))", table)


def choose(page: Any, name: str, label: str) -> None:
    page.get_by_role("combobox", name=name, exact=True).select_option(label=label)


def choices(page: Any, name: str) -> list[str]:
    return page.get_by_role("combobox", name=name, exact=True).locator("option").all_inner_texts()


def whole(page: Any, rows: int, columns: int) -> list[list[str]]:
    """C at the end of each block, put together."""
    found = [["?"] * columns for _ in range(rows)]
    blocks = choices(page, "Block of C") if page.locator("#block").is_visible() else [""]
    for block in blocks:
        if block:
            choose(page, "Block of C", block)
        page.get_by_role("button", name="To the end").click()
        top, left = (int(page.locator(f"#C {head} th").first.inner_text()) for head in ("tbody", "thead"))
        for i, row in enumerate(cells(page, "C")):
            for j, text in enumerate(row):
                found[top + i][left + j] = text
    return found


@pytest.mark.parametrize("kind", ["by tiles", "naive"])
def test_the_end_is_the_product_in_every_algebra(visit: Opener, kind: str) -> None:
    E = explain_product(A, B, sr.min_plus)
    page = visit(E)
    choose(page, "Product", kind)
    assert choices(page, "Algebra") == [S.name for S in E.factors]
    for S, (left, right) in E.factors.items():
        choose(page, "Algebra", S.name)
        elements = Elements(S)
        product = sr.matmul(np.array(left, elements.dtype), np.array(right, elements.dtype), S, device="cpu")
        expected = [["·" if elements.same(x, elements.zero) else page.evaluate("x => exact(x)", x.item()) for x in row]
                    for row in product]
        assert whole(page, 8, 8) == expected, S.name


def test_parts_at_the_edge(visit: Opener) -> None:
    left, right = RANDOM.integers(1, 10, (7, 5)).astype(float), RANDOM.integers(1, 10, (5, 11)).astype(float)
    page = opened(visit, (left, right), sr.max_plus)
    product = sr.matmul(left, right, sr.max_plus)
    for tile in choices(page, "Tile"):
        choose(page, "Tile", tile)
        assert whole(page, 7, 11) == [[str(int(x)) for x in row] for row in product]
    assert "beyond the edge" not in page.locator("#equation").inner_text()
    choose(page, "Tile", "the library's, for large products")
    page.get_by_role("button", name="To the end").click()
    page.get_by_role("button", name="One step back").click()
    assert "k = 5 is beyond the edge" in page.locator("#equation").inner_text()


def test_counts_so_far_and_in_the_end(visit: Opener) -> None:
    page = opened(visit)
    g = drawn(explain_product(A, B, sr.min_plus).tiles["float64"])
    rows = page.locator("#counts tbody tr")
    page.get_by_role("button", name="To the end").click()
    assert rows.nth(0).locator("td").all_inner_texts() == [f"{(g.BM + g.BN) * 8} of {(g.BM + g.BN) * 8}",
                                                            str(2 * g.BM * g.BN * 8), "5.33 times fewer"]
    assert rows.nth(2).locator("td").nth(2).inner_text() == "the same"
    choose(page, "Product", "naive")
    page.get_by_role("button", name="One step on").click()
    assert rows.nth(0).locator("td").all_inner_texts() == [f"{2 * g.BM * g.BN} of {2 * g.BM * g.BN * 8}",
                                                            str((g.BM + g.BN) * 8), "5.33 times fewer"]
    choose(page, "Product", "by tiles")
    page.keyboard.press("ArrowRight")
    assert rows.nth(0).locator("td").first.inner_text() == f"{(g.BM + g.BN) * g.BK} of {(g.BM + g.BN) * 8}"
    real = page.locator("#realcounts tbody tr").first.locator("td")
    assert real.all_inner_texts() == ["196,608", "16,777,216", "85.3 times fewer"]
    choose(page, "Elements", "float32")
    assert real.all_inner_texts() == ["262,144", "33,554,432", "128 times fewer"]


def test_a_tile_of_one_s_own_is_counted_again(visit: Opener) -> None:
    page = opened(visit)
    choose(page, "Tile", "one of your own")
    own = {"A block computes": "4 × 4", "A thread keeps": "1 × 1", "Steps of k in a buffer": "2", "Buffers": "2"}
    for name, label in own.items():
        choose(page, name, label)
    page.get_by_role("button", name="To the end").click()
    assert page.locator("#counts tbody tr").nth(0).locator("td").first.inner_text() == "64 of 64"
    assert page.locator("#counts tbody tr").nth(1).locator("td").first.inner_text() == "256 of 256"
    choose(page, "A thread keeps", "4 × 4")
    page.get_by_role("button", name="To the end").click()
    assert page.locator("#counts tbody tr").nth(1).locator("td").first.inner_text() == "64 of 64"
    assert page.locator("#library").is_hidden()


def test_a_step_as_an_equation_and_the_thread_that_is_followed(visit: Opener) -> None:
    page = opened(visit)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    text = " ".join(page.locator("#equation").inner_text().split())
    assert "C[0, 0] ← C[0, 0] ⊕ A[0, 0] ⊗ B[0, 0], and 1 more element of this thread" in text
    assert f"= min(∞, {A[0, 0]:.0f} + {B[0, 0]:.0f}) = {A[0, 0] + B[0, 0]:.0f}" in text
    page.locator("#C tbody td").nth(5).click()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("C 1, 1: ")
    page.keyboard.press("ArrowDown")
    assert "C[2, 1]" in page.locator("#equation").inner_text()
    assert page.locator("#C td.target").count() == 2
    assert page.locator("#A td.band").count() == 16
    assert page.locator(".buffer.reading").count() == 1
    assert page.locator("#buffers td.first").count() == 2 and page.locator("#buffers td.second").count() == 1
    assert page.locator("#where").inner_text() == "4 / 15"  # arrow keys within the table do not step


def test_steps_are_announced_and_played(visit: Opener) -> None:
    page = opened(visit)
    page.get_by_role("button", name="One step on").click()
    assert page.locator("#said").inner_text().startswith("Copy tile 1 of 4 to buffer 1")
    choose(page, "Speed", "fast")
    page.get_by_role("button", name="Play").click()
    assert page.locator("#said").inner_text() == "Playing"
    page.wait_for_function("document.getElementById('where').textContent.startsWith('3 /')")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="To the end").click()
    next_ = page.get_by_role("button", name="One step on")
    assert next_.get_attribute("aria-disabled") == "true"
    assert "Done" in page.locator("#said").inner_text()


def test_records_and_a_single_element(visit: Opener) -> None:
    page = opened(visit, (np.array([[(3.0, 1.0)]], sr.shortest_count.default_dtype),) * 2, sr.shortest_count)
    page.get_by_role("button", name="To the end").click()
    assert cells(page, "C") == [["(6, 1)"]]


@pytest.mark.parametrize("name", ["a product", "a timetable"])
@pytest.mark.parametrize("width", [320, 700, 1300])
def test_within_another_page_it_is_as_high_as_its_content(visit: Opener, tmp_path: Path, name: str, width: int) -> None:
    shown = explain_product(A, B, sr.min_plus) if name == "a product" else sr.explain_timetable()
    outer = tmp_path / "outer.html"
    head = "<!doctype html><html lang=en data-theme=dark><title>x</title>"
    outer.write_text(head + shown._repr_html_(), encoding="utf-8")
    around = visit(file=outer, width=width + 16, height=500)
    frame = around.frames[1]
    frame.wait_for_function("document.documentElement.dataset.theme === 'dark' && player.last > 0")
    frame.locator("#next").click()
    assert frame.locator("#where").inner_text().startswith("1 / ")
    frame.wait_for_function("document.documentElement.scrollHeight <= innerHeight + 1")
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.evaluate("getComputedStyle($('dock')).position") == "static"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_everybody_can_read_it(visit: Opener, width: int, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = opened(visit, width=width, theme=theme)
    page.locator("#numbersof summary").click()
    for kind in ("naive", "by tiles"):
        choose(page, "Product", kind)
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        page.locator("h1").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] != "minor"] == []
