"""The cache beside the matrix: accesses, hits and misses as in the chapter."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest
from browser.conftest import Opener
from browser.small import chapter, small

import semiring as sr


def linked(n: int, width: int) -> list[int]:
    return [size for size in (4, 8, 12, 16, 24, 64, 128, 512) if size <= n * n // width]


def missed(lines: Iterable[Any], size: int) -> int:
    """Misses of a cache that is a list, the last used line at its end."""
    cache: list[Any] = []
    count = 0
    for line in lines:
        if line in cache:
            cache.remove(line)
        else:
            count += 1
            del cache[: max(0, len(cache) - size + 1)]
        cache.append(line)
    return count


@pytest.mark.parametrize("n", [8, 16, 32])
def test_accesses_and_misses_are_those_of_the_chapter(visit: Opener, n: int) -> None:
    space = chapter("6", "def touched(", "def misses(")
    page = small(visit, "cache")
    random.seed(n)
    for method in page.evaluate("Object.keys(SCHEDULES)"):
        for tile in [n] if method == "floyd-warshall" else [t for t in (2, 4, 8, 16) if t < n]:
            calls = sr.kernel_calls(method, n, tile)
            for width in (4, 8):
                wanted = [i * (n // width) + j for i, j in space["touched"](calls, tile, width)]
                facts = """([method, n, tile, width]) => touched(SCHEDULES[method][1](n, tile), n, tile, width)
                    .filter((_, at) => at % 3 === 0)"""
                entries = page.evaluate(facts, [method, n, tile, width])
                assert [entry // width for entry in entries] == wanted
                every = list(space["touched"](calls, tile, 1))  # a left factor, and two entries for each column
                runs = 1 + 2 * max(1, tile // width)
                assert entries[::runs] == [i * n + j for i, j in every[:: 1 + 2 * tile]]
                for size in random.sample(linked(n, width), 2):
                    count = page.evaluate("given => missesOf(...given)", [method, n, tile, width, size])
                    assert count == (space["misses"](calls, tile, size) if width == 8 else missed(wanted, size))


def test_the_table_of_the_chapter(visit: Opener) -> None:
    space = chapter("6", "def touched(", "def misses(", "schedules = {")
    page = small(visit, "cache")
    for name, value in (("Matrix", "64"), ("Numbers in a line", "8"), ("Lines in the cache", "128"), ("Tile", "8")):
        page.get_by_role("combobox", name=name, exact=True).select_option(value)
    rows = page.locator("#totals tr").all()
    shown = {row.locator("th").inner_text(): row.locator("td").first.inner_text() for row in rows}
    table = {name: f"{count:,}" for name, (_, count) in space["table"].items()}
    assert len(table) == 4 and {name: shown[name] for name in table} == table
    assert page.locator("#totals tr.shown th").inner_text() == "blocked, tile 8"


def test_a_walk_through_the_accesses_by_keys(visit: Opener) -> None:
    """After any number of steps forward and back the page has the counts of a cache that began anew."""
    page = small(visit, "cache")
    trace = page.evaluate("state.trace.filter((_, at) => at % 3 === 0).map(entry => Math.floor(entry / 4))")
    slider, said = page.locator("#at"), page.locator("#said")
    slider.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "PageDown", "ArrowRight"):
        page.keyboard.press(key)
    for button in ("Back", "Next miss", "Next", "Next miss", "Next miss", "Back"):
        page.get_by_role("button", name=button, exact=True).press("Enter")
        t = page.evaluate("state.t")
        count = missed(trace[:t], 16)
        text = f"{count} miss{'es' * (count != 1)}, {t - count} hit{'s' * (t - count != 1)}"
        assert page.locator("#counts").inner_text() == text and text in said.inner_text()
        if button == "Next miss":
            assert missed(trace[:t - 1], 16) == count - 1 and "a miss" in page.locator("#now").inner_text()
        assert page.locator("#matrix rect.now, #matrix rect.in").count() == min(16, len(set(trace[:t])))
        held = list(dict.fromkeys(reversed(trace[:t])))[:16]
        assert page.locator("#strip li:not([aria-hidden])").all_inner_texts() == [f"{x // 4}, {x % 4}" for x in held]
    slider.press("End")
    total = missed(trace, 16)
    assert page.locator("#counts").inner_text() == f"{total} misses, {len(trace) - total:,} hits"
    assert page.locator("#totals tr.shown .number").inner_text() == str(total)


def test_it_plays_and_pauses(visit: Opener) -> None:
    page = small(visit, "cache")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("state.t > 30")
    page.get_by_role("button", name="Pause").click()
    before = page.evaluate("state.t")
    page.wait_for_timeout(200)
    assert page.evaluate("state.t") == before and page.get_by_role("button", name="Play").is_visible()
