"""Views of a notebook on a page without any style for tables: legible in both themes, and no column touches another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr

LONG = "the village of Much Wenlock"
NAMED = sr.as_graph([(LONG, "b", 2.0), ("b", "c", -3.0), ("c", LONG, 1.0)])
TRADES = sr.as_graph([("a", "b", frozenset({(9, 0), (3, 5)})), ("b", "c", frozenset({(1, 1)}))])
EDGES = sr.as_graph([(a, b, frozenset([frozenset([a + b])])) for a, b in (("a", "b"), ("b", "c"), ("a", "c"))])
STYLE = """body{margin:16px;font:16px sans-serif;background:#fff;color:#1f2328}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}} .out{overflow-x:auto}"""
GAPS = """() => [...document.querySelectorAll('tr')].flatMap(row => {
  const boxes = [...row.cells].filter(cell => cell.textContent.trim()).map(cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return range.getBoundingClientRect();
  });
  return boxes.slice(1).map((box, i) => box.left - boxes[i].right);
})"""


def views() -> list[Any]:
    broken = sr.check_laws(sr.shortest_widest)
    return [
        sr.closure(TRADES, sr.pareto), sr.closure(EDGES, sr.why), TRADES, sr.paths(NAMED, sr.min_plus)[LONG, "c"],
        sr.paths(NAMED, sr.min_plus), sr.pack(np.eye(40, k=1, dtype=bool)), sr.closure(NAMED, sr.min_plus), sr.min_plus,
        sr.gcd_lcm.table([0, 1, 2, 3, 4, 6, 12, 100, 120]), sr.min_plus.hasse(), sr.why.hasse(), broken,
        *broken.failures, *(v for v in sr.check_laws(sr.plus_times).flags.values() if not v.holds),
        sr.compare(NAMED, [sr.min_plus, sr.max_min], source=LONG, target="c"), sr.compare(NAMED, [sr.min_plus]),
        sr.factor(NAMED, sr.min_plus), sr.plan("closure", NAMED, sr.min_plus), sr.letter("a"), sr.reach(NAMED),
        sr.nearest(NAMED, sr.min_plus, "b"),
    ]


@pytest.fixture(scope="module")
def page_of_views(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("views") / "views.html"
    shown = "".join(f'<div class="out" tabindex="0">{view._repr_html_()}</div>' for view in views())
    file.write_text(f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Views</title><style>{STYLE}</style>'
                    f"<main><h1>Views</h1>{shown}</main></html>", encoding="utf-8")
    return file


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_views_are_legible_on_any_page(visit: Any, page_of_views: Path, width: int, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit(file=page_of_views, width=width, theme=theme)
    found = Axe().run(page)
    assert [(v["id"], v["nodes"][0]["html"][:90]) for v in found.response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    gaps = page.evaluate(GAPS)
    assert len(gaps) > 200 and min(gaps) >= 6, "columns do not touch"
    narrow = page.evaluate("""() => [...document.querySelectorAll('caption')].filter(caption =>
      caption.getBoundingClientRect().width > innerWidth).map(caption => caption.textContent)""")
    assert narrow == [], "a long caption makes no table wider than the page"


def test_the_whole_name_is_on_hover(visit: Any, page_of_views: Path) -> None:
    page = visit(file=page_of_views)
    cut = page.locator("td, th, svg text").filter(has_text="the village of …")
    assert cut.count() > 10
    for cell in cut.all():
        title = cell.get_attribute("title") or cell.locator("title").text_content()
        assert title is not None and LONG in title
