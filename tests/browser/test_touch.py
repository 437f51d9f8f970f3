"""The small pages of the course in a browser: themes, widths, frames and print."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from browser.conftest import Opener
from browser.small import NAMES, SITE, TOUCH, USED, small


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
    buttons = page.locator("button:not(#board button, td.entry button, #walks button)").all()
    assert [one for one in [*buttons, *page.locator("input").all()] if one.is_visible()] == []
    assert all(cell.is_visible() for cell in page.locator("#board button, td.entry button").all())
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("h1").is_visible()


@pytest.mark.parametrize("name", NAMES)
def test_without_scripts_it_says_where_the_numbers_are(browser: Any, name: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto((TOUCH / f"{name}.html").as_uri())
    text = page.locator("main").inner_text()
    assert re.search(r"needs? JavaScript\. The cells of chapter \d", text)
    assert not page.locator(".bar").first.is_visible() and len(text) < 600
    context.close()


@pytest.mark.parametrize("name", NAMES)
def test_any_sequence_of_controls_raises_nothing(visit: Opener, name: str) -> None:
    """And shows nothing that is not a text for readers, and fits."""
    page = small(visit, name, width=700)
    wrong = page.evaluate("""steps => {
        let seed = 7;
        const random = k => (seed = seed * 1103515245 % 2147483648 + 12345, Math.floor(seed / 2147483648 % 1 * k));
        const wrong = [];
        for (let step = 0; step < steps; step++) {
            const all = [...document.querySelectorAll("select, button, input")].filter(one => one.offsetParent);
            const one = all[random(all.length)];
            if (one.tagName === "SELECT") one.selectedIndex = random(one.options.length), one.onchange();
            else if (one.tagName === "INPUT") one.value = +one.min + random(+one.max - +one.min + 1), one.oninput();
            else one.focus(), one.click();
            if (/NaN|Infinity|null|\\[object/.test(document.body.innerText)) wrong.push(document.body.innerText);
            if (document.documentElement.scrollWidth > innerWidth) wrong.push(one.outerHTML);
        }
        return wrong;
    }""", 40)
    assert wrong == []
