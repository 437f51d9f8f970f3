"""The site in a browser, as `make docs` built it: it fits, it can be read, and steppers take its theme."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser.conftest import Opener

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
PAGES = sorted(page for page in SITE.rglob("*.html") if "_static" not in page.parts)


@pytest.mark.usefixtures("browser")
def test_there_is_a_site() -> None:
    assert len(PAGES) > 30, "make docs builds the site"


@pytest.mark.parametrize("file", PAGES, ids=[page.stem for page in PAGES])
def test_nothing_scrolls_sideways(visit: Opener, file: Path) -> None:
    page = visit(file=file, width=320)
    for width in (320, 360, 768, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "course/2-what-may-be-forgotten", "howto/csv", "reference/catalogue"])
def test_everybody_can_read_it(visit: Opener, name: str, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit(file=SITE / f"{name}.html", theme=theme)
    # Without preloading: that asks for style sheets anew, which pages from files may not.
    found = [v for v in Axe().run(page, options={"preload": False}).response["violations"] if v["impact"] != "minor"]
    assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in found] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_stepper_has_the_theme_of_the_site(visit: Opener, theme: str) -> None:
    page = visit(file=SITE / "index.html", theme=theme)
    frame = page.locator("iframe.semiring-explain").first
    frame.scroll_into_view_if_needed()
    inside = page.frame_locator("iframe.semiring-explain").first
    inside.locator(f"html[data-theme={theme}]").wait_for(state="attached")
    other = "light" if theme == "dark" else "dark"
    page.evaluate(f"document.documentElement.dataset.theme = '{other}'")
    inside.locator(f"html[data-theme={other}]").wait_for(state="attached")
