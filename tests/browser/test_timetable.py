"""The page of a timetable, in a browser."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from browser.conftest import Opener

import semiring as sr
from semiring.teach.timetable import explain_timetable


def results(page: Any) -> list[str]:
    return page.locator("#results p").all_inner_texts()


def row(page: Any, name: str) -> Any:
    return page.locator("#edges tbody tr").filter(has=page.get_by_role("rowheader", name=name, exact=True))


def slack(page: Any, name: str) -> list[str]:
    return row(page, name).locator("td.slack").all_inner_texts()


def times(page: Any) -> list[list[str]]:
    return page.evaluate("[...document.querySelectorAll('#all tbody tr')].map(row => "
                         "[...row.querySelectorAll('td')].map(cell => cell.textContent))")


def test_it_begins_with_a_railway(visit: Opener) -> None:
    E = explain_timetable()
    page = visit(E)
    assert results(page) == [
        "The cycle time λ is 9/2 = 4.5: in the long run, each event takes place every 4.5.",
        "Critical cycle: Ayr → Bute → Ayr (9 in 2 rounds).",
        "From round 4 on, times repeat: 2 rounds later, each event is 9 later. The cyclicity of the network is 2.",
    ]
    A = np.full((5, 5), -np.inf)
    for edge, duration in zip(E.edges, E.durations, strict=True):
        A[edge] = float(duration)
    assert sr.cycle_mean(A, sr.max_plus)[0] == 4.5
    x, shown = np.zeros((5, 1)), times(page)
    for line in shown:
        assert line == [f"{z:.0f}" for z in x[:, 0]]
        x = sr.matmul(A.T.copy(), x, sr.max_plus)
    assert len(shown) == 10
    assert slack(page, "Ayr → Bute") == ["0, critical", "0"]
    assert page.locator("#graph .edge.walk").count() == 2


def test_a_slider_moves_the_period(visit: Opener) -> None:
    page = visit(explain_timetable())
    slider = page.get_by_role("slider", name="Duration Dale → Bute")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert results(page)[0] == "The cycle time λ is 14/3 ≈ 4.66667: in the long run, each event takes place every 14/3."
    assert "Bute → Coll → Dale → Bute (14 in 3 rounds)" in results(page)[1]
    assert "The cyclicity of the network is 3" in results(page)[2]
    assert page.get_by_role("spinbutton", name="Duration Dale → Bute as a number").input_value() == "7"
    assert "14/3" in page.locator("#said").inner_text()
    assert slack(page, "Ayr → Bute")[0] == "1/3"  # 2 · 14/3 − 9
    page.get_by_role("button", name="As it was at first").click()
    assert results(page)[0].startswith("The cycle time λ is 9/2")
    assert slider.input_value() == "6"


@pytest.mark.parametrize("name", ["Coll → Ayr", "Dale → Elie", "Elie → Elie", "Bute → Coll"])
def test_slack_is_how_much_longer_it_may_take(visit: Opener, name: str) -> None:
    page = visit(explain_timetable())
    before = results(page)[0]
    field = page.get_by_role("spinbutton", name=f"Duration {name} as a number")
    most = Fraction(field.input_value()) + Fraction(slack(page, name)[0])
    for value, same in ((most, True), (most + Fraction(1, 10), False)):
        field.fill(str(float(value)))
        field.press("Enter")
        assert (results(page)[0] == before) is same
    field.fill("")
    field.press("Enter")
    assert "“” is not a number up to 1,000,000" in page.locator("#wrong").inner_text()
    assert field.get_attribute("aria-invalid") == "true"
    field.fill("1.0005")
    field.press("Enter")
    assert "more than 3 decimals" in page.locator("#wrong").inner_text()


def test_without_cycles_and_with_several_components(visit: Opener) -> None:
    page = visit(explain_timetable(sr.as_graph([("a", "b", 2), ("b", "c", 4), ("c", "c", 5), ("b", "b", 3)])))
    assert results(page) == [
        "The events do not share a cycle time λ.",
        "Component of b: λ is 3. Critical cycle: b → b (3 in 1 round).",
        "Component of c: λ is 5. Critical cycle: c → c (5 in 1 round).",
        "a: only in the first rounds; b: every 3; c: every 5.",
        "From round 1 on, times repeat in every round, each event at its own pace.",
    ]
    assert slack(page, "a → b") == ["any, it is on no cycle", "any"]
    for name in ("c → c", "b → b"):
        page.get_by_role("checkbox", name=f"{name} counts").uncheck()
    assert results(page) == ["It has no cycle, and so no cycle time λ.",
                             "Each round has fewer events. From round 3 on, none takes place."]
    assert times(page)[2] == ["–", "–", "6"]
    assert "no cycle time" in page.locator("#said").inner_text()
    for name in ("a → b", "b → c"):
        page.get_by_role("checkbox", name=f"{name} counts").uncheck()
    assert results(page)[1] == "Each round has fewer events. From round 1 on, none takes place."


def test_a_slower_component_sets_its_own_pace(visit: Opener) -> None:
    page = visit(explain_timetable())
    page.get_by_role("checkbox", name="Dale → Bute counts").uncheck()
    assert results(page)[0].startswith("The cycle time λ is 9/2")
    assert "Component of Dale and Elie: λ is 3." in results(page)[2]
    field = page.get_by_role("spinbutton", name="Duration Elie → Elie as a number")
    field.fill("6")
    field.press("Enter")
    assert results(page)[0] == "The events do not share a cycle time λ."
    assert results(page)[3] == "Ayr, Bute and Coll: every 4.5; Dale and Elie: every 6."


def test_a_round_as_an_equation(visit: Opener) -> None:
    page = visit(explain_timetable())
    page.get_by_role("combobox", name="Event").select_option(label="Bute")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    text = page.locator("#equation").inner_text()
    assert "Round 3: Bute at 15" in text
    assert "It waits for Ayr + 5 and Dale + 6, and Ayr decides." in text
    assert "x(Bute, 3) = max(10 + 5, 7 + 6) = 15" in text
    assert page.locator("#graph .edge.first").count() == 1
    assert "Round 3: Bute at 15" in page.locator("#said").inner_text()
    assert page.locator("#times circle.now").count() == page.locator("#times circle.next").count() == 5
    assert "Round 2: Ayr" in page.locator("#times").get_attribute("aria-label")


def test_a_late_beginning_dies_out(visit: Opener) -> None:
    page = visit(explain_timetable())
    page.locator("#startpart summary").click()
    field = page.get_by_role("spinbutton", name="Elie", exact=True)
    field.fill("20")
    field.press("Enter")
    assert results(page)[0].startswith("The cycle time λ is 9/2")
    assert results(page)[2].startswith("From round 7")
    page.locator("#allpart summary").click()
    assert page.locator("#all tbody tr").first.locator("td").last.inner_text() == "20"


def test_fractions_and_long_names(visit: Opener) -> None:
    long = "a station with a long name"
    page = visit(explain_timetable(sr.as_graph([(long, "b", 0.125), ("b", long, 2.5)])))
    assert results(page)[0].startswith("The cycle time λ is 21/16 = 1.3125")


def test_paper_has_everything_but_controls(visit: Opener) -> None:
    page = visit(explain_timetable(), theme="dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#all").is_visible() and page.locator("#equation").is_visible()
    assert not page.locator("#play").is_visible() and not page.locator("#reset").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_everybody_can_read_it(visit: Opener, width: int, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit(explain_timetable(), width=width, theme=theme)
    for part in ("startpart", "allpart"):
        page.locator(f"#{part} summary").click()
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    page.get_by_role("checkbox", name="Elie → Elie counts").uncheck()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] != "minor"] == []
