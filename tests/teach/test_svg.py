"""Drawings: well formed whatever the names, with words for who does not see them, and everything on the paper."""

from __future__ import annotations

from itertools import product
from xml.etree import ElementTree

import pytest

from semiring.teach.svg import HEIGHT, Drawing, half_width, width_of

SVG = "{http://www.w3.org/2000/svg}"


def drawn(drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(str(drawing))


def sample(name: str = "a") -> Drawing:
    drawing = Drawing(f"About {name}", f"From {name} to b.")
    drawing.arrow((0, 0), (120, 40), "3 < 4", bend=10)
    drawing.loop((120, 40), "7", (1, 0))
    drawing.line([(0, 0), (-30, 90), (20, 160)])
    drawing.vertex((0, 0), name)
    drawing.vertex((120, 40), "b")
    assert drawing.table((0, 200), [["", "x"], [name, "∞"]]) == 240
    return drawing


@pytest.mark.parametrize("name", ["a", "<b>&\"'", "道路", "two words", "\x1b[31m", "\udc80", "]]>", ""])
def test_names_are_text(name: str) -> None:
    page = drawn(sample(name))
    assert page.tag == f"{SVG}svg" and page.get("role") == "img"
    assert {text.text for text in page.iter(f"{SVG}text")} >= {"3 < 4", "7", "b", "x", "∞"}
    if name.isprintable():
        assert page.findtext(f"{SVG}title") == f"About {name}" and page.findtext(f"{SVG}desc") == f"From {name} to b."


def test_a_reader_of_screens_is_told_the_title_and_the_description() -> None:
    page = drawn(sample())
    titles = [page.find(f"{SVG}{tag}") for tag in ("title", "desc")]
    assert page.get("aria-labelledby", "").split() == [None if t is None else t.get("id") for t in titles]
    assert str(sample()) == str(sample()), "the same drawing is the same text"
    other = drawn(sample("z"))
    assert other.get("aria-labelledby") != page.get("aria-labelledby"), "two drawings of one page have their own"


def test_there_is_paper_for_light_and_dark() -> None:
    style = drawn(sample()).findtext(f"{SVG}style") or ""
    light, dark = style.split("@media(prefers-color-scheme:dark)")
    for kind in (".sr-paper", ".sr-line", ".sr-head", ".sr-node", ".sr-drawing text", ".sr-label"):
        assert kind in light and kind in dark, "whatever has a colour has another in the dark"


def test_everything_is_on_the_paper() -> None:
    page = drawn(sample("a long name of a vertex"))
    left, top, width, height = map(float, (page.get("viewBox") or "").split())
    for text in page.iter(f"{SVG}text"):
        x, y, wide = float(text.get("x", 0)), float(text.get("y", 0)), width_of(text.text or "")
        start = {"start": x, "middle": x - wide / 2, "end": x - wide}[text.get("text-anchor", "start")]
        assert left <= start and start + wide <= left + width and top <= y <= top + height
    for box in page.iter(f"{SVG}rect"):
        assert float(box.get("x", 0)) >= left and float(box.get("y", 0)) >= top


def test_an_arrow_ends_before_its_vertex_and_bends_to_its_left() -> None:
    for dx, dy in product((-100, 0, 100), repeat=2):
        if dx or dy:
            drawing = Drawing("", "")
            drawing.arrow((0, 0), (dx, dy), bend=0)
            tip = next(drawn(drawing).iter(f"{SVG}polygon")).get("points", "").split()[0]
            x, y = map(float, tip.split(","))
            assert ((x - dx) ** 2 + (y - dy) ** 2) ** 0.5 == pytest.approx(HEIGHT / 2 + 2, abs=0.2)
    bent = Drawing("", "")
    bent.arrow((0, 0), (100, 0), "up", bend=20)
    label = next(drawn(bent).iter(f"{SVG}text"))
    assert float(label.get("y", 0)) < -20, "y grows downward"


def test_wide_characters_take_more_room() -> None:
    assert width_of("道路") > width_of("ab") > width_of("") == 0
    assert half_width("") == HEIGHT / 2 and half_width("a" * 30) > 100
