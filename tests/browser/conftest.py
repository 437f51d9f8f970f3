"""A browser for the tests of pages: `make test-browser` finds one, and says so where there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import semiring as sr

ROADS = [("a", "b", 7.0), ("a", "c", 2.0), ("b", "c", 1.0), ("b", "d", 4.0), ("c", "e", 3.0), ("d", "f", 6.0),
         ("e", "d", 1.0), ("e", "f", 9.0), ("d", "b", 2.0), ("f", "a", 5.0)]
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = os.environ.get("SEMIRING_BROWSER")
    if not path:
        pytest.skip("SEMIRING_BROWSER names no browser: make test-browser runs these tests")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield made
        made.close()


Opener = Callable[..., Any]


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Opener]:
    """Open an explanation's page; at the end it must have raised nothing, and requested nothing."""
    wrong: list[str] = []
    pages = []

    def opened(
        explanation: sr.Explanation | None = None, link: str = "", width: int = 1400, height: int = 900,
        theme: str = "light", file: Path | None = None,
    ) -> Any:
        size = {"width": width, "height": height}
        page = browser.new_page(viewport=size, color_scheme=theme, reduced_motion="reduce")
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda message: message.type == "error" and wrong.append(f"console: {message.text}"))
        page.on("request", lambda request: request.url.startswith(("file:", "about:")) or wrong.append(request.url))
        if file is None:
            file = tmp_path / f"page{len(pages)}.html"
            made = explanation  # which may have no step, and then is false
            if made is None:
                made = sr.explain(sr.as_graph(ROADS), sr.min_plus)
            made.save(file)
        pages.append(page)
        page.goto(file.as_uri() + link)
        return page

    yield opened
    for page in pages:
        page.close()
    assert wrong == []


def table(page: Any) -> list[list[str]]:
    """The matrix as it is shown."""
    return page.evaluate("[...document.querySelectorAll('#matrix tbody tr')]"
                         ".map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent))")
