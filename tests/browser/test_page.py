"""The page in a browser: what clicks and keys do, and that everybody can read it."""

from __future__ import annotations

from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from browser.conftest import ROADS, Opener, table
from teach.cases import DRIVER, answer, cases, differences, question

import semiring as sr
from semiring.algebra.notation import written
from semiring.teach.elements import Elements
from semiring.teach.page import matrix

WIDTHS = [(320, 640), (360, 760), (768, 1024), (1400, 900)]


def say(page: Any) -> str:
    return page.locator("#equation").inner_text()


def address(page: Any) -> str:
    """The link to this step, once the page has written it."""
    page.wait_for_timeout(400)
    return page.evaluate("location.href")


def field(page: Any, name: str) -> Any:
    return page.get_by_role("textbox", name=name, exact=True)


def choice(page: Any, name: str) -> Any:
    return page.get_by_role("combobox", name=name, exact=True)


def expected(E: sr.Explanation) -> list[list[str]]:
    zero = E.elements.zero
    return [["·" if E.elements.same(x, zero) else written(x) for x in row] for row in E.closure or []]


# Reading and moving

def test_it_begins_with_the_edges_and_ends_with_the_closure(visit: Opener) -> None:
    page = visit()
    assert "A* = 1 ⊕ A ⊕ A² ⊕ …" in say(page)
    assert table(page)[0] == ["·", "7", "2", "·", "·", "·"]
    page.get_by_role("button", name="To the end").click()
    assert "Done: this is A*" in say(page)
    assert table(page) == expected(sr.explain(sr.as_graph(ROADS), sr.min_plus))


def test_buttons_keys_and_slider_move_alike(visit: Opener) -> None:
    page = visit()
    where = page.locator("#where")
    page.get_by_role("button", name="One step on").click()
    assert where.inner_text().startswith("1 / ")
    page.keyboard.press("ArrowRight")
    assert where.inner_text().startswith("2 / ")
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="One step back").click()
    assert where.inner_text().startswith("0 / ")
    page.keyboard.press("End")
    assert "Done" in say(page)
    page.keyboard.press("Home")
    assert "The edges" in say(page)
    page.get_by_label("Step", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert where.inner_text().startswith("2 / ")
    page.locator("#rounds button").nth(3).click()
    assert "d" in page.locator("#rounds [aria-current]").inner_text()


def test_playing(visit: Opener) -> None:
    page = visit()
    choice(page, "Speed").select_option("fast")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("document.getElementById('where').textContent.startsWith('2 /')")
    page.get_by_role("button", name="Pause").click()
    before = page.locator("#where").inner_text()
    page.wait_for_timeout(400)
    assert page.locator("#where").inner_text() == before
    assert page.get_by_role("button", name="Play").is_visible()


def test_what_one_step_is(visit: Opener) -> None:
    page = visit()
    counts = {}
    for step in ("a change", "an entry", "a round"):
        choice(page, "One step is").select_option(step)
        counts[step] = int(page.locator("#where").inner_text().split(" / ")[1])
    assert counts == {"a change": 31, "an entry": 216, "a round": 6}


def test_the_equation_tells_the_step(visit: Opener) -> None:
    page = visit(link="#a=min_plus&m=floyd-warshall&t=0&by=change")
    page.locator("#changes summary").click()
    page.locator("#log button", has_text="a → f: · ⇒ 17").click()
    text = say(page)
    assert "Let walks pass through d" in text
    assert "d(a, f) ← d(a, f) ⊕ d(a, d) ⊗ d(d, f)" in text
    assert "= min(∞, 11 + 6) = 17 was ∞, no walk" in " ".join(text.split())
    assert "by a → b → d → f" in text
    assert page.locator("td.target").get_attribute("aria-label") == "a to f: 17, by a → b → d → f, written now"
    assert page.locator("td.first").inner_text() == "11"
    assert page.locator("td.second").inner_text() == "6"
    assert page.locator("th.pivot").all_inner_texts() == ["d", "d"]


def test_the_matrix_by_keys(visit: Opener) -> None:
    page = visit(link="#t=216")
    page.locator('td[data-i="0"][data-j="0"]').focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "b to b: 0, by staying at b"
    page.keyboard.press("ArrowRight")
    assert "b → c so far: 1, by b → c" in say(page)
    assert "Done" not in say(page)
    assert page.locator("#matrix td[tabindex='0']").count() == 1
    assert page.locator("path.edge.walk").count() == 1
    page.keyboard.press("Tab")
    assert "so far" not in say(page)


def test_the_screen_reader_hears_each_step(visit: Opener) -> None:
    page = visit()
    page.get_by_role("button", name="One step on").click()
    said = page.locator("#said").inner_text()
    assert said == "Let walks pass through a. f to b: 12, by f → a → b, was ∞: min(∞, 5 + 7)."
    page.get_by_role("button", name="One step on").click()
    assert page.locator("#said").inner_text().startswith("f to c: "), "the round is the same"


# Changing what is computed

@pytest.mark.parametrize("algebra", ["min_plus", "boolean", "max_min", "plus_times", "viterbi", "counting",
                                     "shortest_count", "k_best", "regex"])
def test_every_algebra_by_every_method(visit: Opener, algebra: str) -> None:
    page = visit()
    choice(page, "Algebra").select_option(algebra)
    S = sr.catalogue[algebra]
    here = sr.explain(sr.as_graph(ROADS), sr.min_plus)
    weights = dict(zip(here.edges, here.weights[S], strict=True))
    for option in page.locator("#method option:not([disabled])").all():
        method = option.get_attribute("value")
        choice(page, "Method").select_option(method)
        page.get_by_role("button", name="To the end").click()
        given = sr.adjacency([(*edge, w) for edge, w in weights.items()], S) if algebra == "regex" else (
            matrix(here, Elements(S)))
        ours = sr.explain(given, S, method=method)
        shown = [[cell if cell != "∅" else "·" for cell in row] for row in table(page)]
        assert shown == expected(ours), method


def test_methods_that_laws_forbid_say_why(visit: Opener) -> None:
    page = visit(link="#m=squaring")
    assert choice(page, "Method").input_value() == "squaring"
    choice(page, "Algebra").select_option("plus-times")
    assert choice(page, "Method").input_value() == "floyd-warshall"
    option = page.locator("#method option[value=squaring]")
    assert option.is_disabled()
    assert "idempotent" in option.get_attribute("title")


def test_changing_an_edge_computes_anew(visit: Opener) -> None:
    page = visit()
    page.locator("#edges summary").click()
    field(page, "a → c").fill("0.5")
    field(page, "a → c").press("Enter")
    field(page, "f → a").fill("")
    field(page, "f → a").press("Tab")
    page.get_by_role("button", name="To the end").click()
    changed = [(u, v, 0.5 if (u, v) == ("a", "c") else w) for u, v, w in ROADS if (u, v) != ("f", "a")]
    assert table(page) == expected(sr.explain(sr.as_graph(changed), sr.min_plus))


def test_adding_an_edge(visit: Opener) -> None:
    page = visit()
    page.locator("#edges summary").click()
    choice(page, "From").select_option("f")
    choice(page, "To").select_option("b")
    page.get_by_label("Weight").fill("1")
    page.get_by_role("button", name="Add this edge").click()
    page.get_by_role("button", name="To the end").click()
    wanted = expected(sr.explain(sr.as_graph([*ROADS, ("f", "b", 1.0)]), sr.min_plus))
    assert table(page) == wanted
    page.get_by_label("Weight").fill("2")
    page.get_by_role("button", name="Add this edge").click()
    assert "there already" in page.locator("#edgewrong").inner_text()
    link = address(page)
    page.goto("about:blank")
    page.goto(link)
    assert table(page) == wanted


@pytest.mark.parametrize(("algebra", "text", "why"), [
    ("viterbi", "7", "7 is not in the carrier of viterbi"), ("min_plus", "long", "“long” is not a number"),
    ("boolean", "2", "“2” is neither 0 nor 1"), ("shortest_count", "1", "needs 2 numbers"),
    ("regex", "ab", "“ab” is not one letter or digit"), ("counting", "0.5", "not in the carrier"),
])
def test_a_weight_that_is_refused(visit: Opener, algebra: str, text: str, why: str) -> None:
    page = visit(link=f"#a={algebra}")
    before = table(page)
    page.locator("#edges summary").click()
    weight = field(page, "a → c")
    weight.fill(text)
    weight.press("Tab")
    assert why in page.locator("#edgewrong").inner_text()
    assert weight.get_attribute("aria-invalid") == "true"
    assert table(page) == before


def test_a_negative_cycle_is_named(visit: Opener) -> None:
    page = visit()
    page.locator("#edges summary").click()
    field(page, "d → b").fill("-5")
    field(page, "d → b").press("Tab")
    page.get_by_role("button", name="To the end").click()
    assert "No closure: the cycle d → b → d has the weight −1, and each round is better." in say(page)
    assert page.locator("path.edge.walk").count() == 2


# An algebra of one's own

def own(page: Any, **texts: str) -> None:
    page.locator("#own summary").click()
    for name, text in texts.items():
        page.locator(f"#own-{name}").fill(text)
    page.get_by_role("button", name="Try the laws, and use it").click()


def test_an_algebra_that_is_none(visit: Opener) -> None:
    page = visit()
    page.locator("#own summary").click()
    page.get_by_role("button", name="One that fails").click()
    page.get_by_role("button", name="Try the laws, and use it").click()
    said = page.locator("#laws").inner_text()
    assert "Not a semiring" in said
    assert "⊕ is associative: (a ⊕ b) ⊕ c = a ⊕ (b ⊕ c) does not hold for a = 2, b = 3, c = 5: 3.75 ≠ 3" in said
    assert choice(page, "Algebra").input_value() == "min_plus"


def test_infinities_that_cannot_be_added_have_a_remedy(visit: Opener) -> None:
    page = visit()
    own(page, add="a + b", mul="a * b", zero="0", one="1", carrier="", star="1 / (1 - a)")
    said = page.locator("#laws").inner_text()
    assert "name a carrier, such as a > −∞ and a < ∞, or let elements be real numbers" in said
    choice(page, "Elements are").select_option("real numbers")
    page.get_by_role("button", name="Try the laws, and use it").click()
    assert "No law failed" in page.locator("#laws").inner_text()


def test_what_cannot_be_read(visit: Opener) -> None:
    page = visit()
    own(page, add="max(a, c)")
    assert "“c” is not known here" in page.locator("#laws").inner_text()
    assert page.locator("#own-add").get_attribute("aria-invalid") == "true"


def test_an_algebra_of_one_s_own_runs_as_the_library_s(visit: Opener) -> None:
    page = visit()
    own(page, add="max(a, b)", mul="min(a, b)", zero="-inf", one="∞", carrier="", star="")
    assert "No law failed" in page.locator("#laws").inner_text()
    assert choice(page, "Algebra").input_value() == "own"
    choice(page, "Method").select_option("squaring")
    page.get_by_role("button", name="To the end").click()
    wanted = expected(sr.explain(sr.as_graph(ROADS), sr.max_min))
    assert table(page) == wanted
    page.get_by_role("button", name="One step back").click()
    assert "= max(" in say(page)
    page.get_by_role("button", name="To the end").click()
    link = address(page)
    page.goto("about:blank")
    page.goto(link)
    assert table(page) == wanted
    assert choice(page, "Method").input_value() == "squaring"


@pytest.mark.parametrize(("of", "name", "weight"), [
    ("whole", "gcd_lcm", lambda w: int(w)), ("truth", "boolean", lambda w: True),
    ("pair", "shortest_count", lambda w: (w, 1)),
])
def test_algebras_of_other_elements(visit: Opener, of: str, name: str, weight: Any) -> None:
    page = visit()
    page.locator("#own summary").click()
    choice(page, "Elements are").select_option(of)
    page.get_by_role("button", name="Try the laws, and use it").click()
    assert "No law failed" in page.locator("#laws").inner_text()
    page.get_by_role("button", name="To the end").click()
    S = sr.catalogue[name]
    wanted = expected(sr.explain(sr.adjacency([(u, v, weight(w)) for u, v, w in ROADS], S), S))
    assert table(page) == wanted
    page.locator("#edges summary").click()
    field(page, "a → c").fill("long")
    field(page, "a → c").press("Tab")
    assert "long" in page.locator("#edgewrong").inner_text()
    link = address(page)
    page.goto("about:blank")
    page.goto(link)
    assert table(page) == wanted
    page.locator("#own summary").click()
    assert choice(page, "Elements are").input_value() == of
    page.get_by_role("button", name="One that fails").click()
    page.get_by_role("button", name="Try the laws, and use it").click()
    assert "Not a semiring" in page.locator("#laws").inner_text()


# Links, names, frames

def test_a_link_opens_the_step(visit: Opener) -> None:
    page = visit()
    choice(page, "Algebra").select_option("max_min")
    choice(page, "Method").select_option("elimination")
    choice(page, "One step is").select_option("an entry")
    page.locator("#edges summary").click()
    field(page, "a → b").fill("0.125")
    field(page, "a → b").press("Tab")
    for _ in range(25):
        page.get_by_role("button", name="One step on").click()
    before, link = (say(page), table(page)), address(page)
    page.goto("about:blank")
    page.goto(link)
    assert (say(page), table(page)) == before
    assert choice(page, "One step is").input_value() == "entry"


@pytest.mark.parametrize("link", [
    "#a=none&m=none&t=-3&by=x", "#t=99999", "#own={}", "#own=x&a=own", "#w=[1]", "#e=1-99,x",
    "#w=%5B%22x%22%2C1%2C1%2C1%2C1%2C1%2C1%2C1%2C1%2C1%5D",
])
def test_links_that_make_no_sense(visit: Opener, link: str) -> None:
    page = visit(link=link)
    page.locator("h1").click()
    page.keyboard.press("End")
    page.keyboard.press("Home")
    assert table(page)[0] == ["·", "7", "2", "·", "·", "·"]


def test_names_are_text(visit: Opener) -> None:
    names = ["<b>bold</b>", 'a "quoted" name', "it's & more", "</script><script>alert(1)</script>"]
    edges = [(names[i], names[(i + 1) % 4], float(i + 1)) for i in range(4)]
    page = visit(sr.explain(sr.as_graph(edges), sr.min_plus, title="<i>Title</i>"), link="#t=64")
    assert page.locator("h1").inner_text() == "<i>Title</i>"
    assert page.locator("#matrix th[scope=row]").first.get_attribute("title") == names[0]
    assert page.locator("b:has-text('bold')").count() == 0
    assert page.locator(".vertex title").nth(3).text_content() == names[3]


def test_in_a_frame_the_theme_follows(visit: Opener, tmp_path: Path) -> None:
    E = sr.explain(sr.as_graph(ROADS), sr.min_plus)
    outer = tmp_path / "outer.html"
    outer.write_text(f"<!doctype html><html lang=en><title>x</title><body>{E._repr_html_()}", encoding="utf-8")
    page = visit(file=outer)
    frame = page.frames[1]
    frame.get_by_role("button", name="To the end").click()
    assert "Done" in frame.locator("#equation").inner_text()
    assert frame.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("document.querySelector('iframe').contentWindow.postMessage({theme: 'dark'}, '*')")
    frame.wait_for_function("document.documentElement.dataset.theme === 'dark'")


@pytest.mark.parametrize(("inside", "name", "light", "dark"), [
    ("document.documentElement", "data-theme", "light", "dark"),
    ("document.body", "data-jp-theme-light", "true", "false"),
], ids=["a site", "a notebook"])
def test_the_theme_of_the_page_around_is_followed(
    visit: Opener, tmp_path: Path, inside: str, name: str, light: str, dark: str
) -> None:
    outer = tmp_path / "outer.html"
    where = f"{name}={dark}"
    page = sr.explain(sr.as_graph(ROADS), sr.min_plus)._repr_html_()
    html, body = (where, "") if inside.endswith("Element") else ("", where)
    outer.write_text(f"<!doctype html><html lang=en {html}><title>x</title><body {body}>{page}", encoding="utf-8")
    around = visit(file=outer)
    frame = around.frames[1]
    frame.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    around.evaluate(f"{inside}.setAttribute('{name}', '{light}')")
    frame.wait_for_function("document.documentElement.dataset.theme === 'light'")


def test_a_web_server_has_nothing_else_to_do(browser: Any, tmp_path: Path) -> None:
    """Over http the page asks for itself alone, and a link opens the step that it was copied at."""
    sr.explain(sr.as_graph(ROADS), sr.min_plus).save(tmp_path / "page.html")
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *given: Any, **named: Any):
            super().__init__(*given, directory=str(tmp_path), **named)

        def log_message(self, format: str, *args: Any) -> None:
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        page = browser.new_page()
        try:
            page.goto(f"http://127.0.0.1:{server.server_port}/page.html")
            choice(page, "Algebra").select_option("max_min")
            for _ in range(5):
                page.get_by_role("button", name="One step on").click()
            before, link = (say(page), table(page)), address(page)
            assert "a=max_min" in link
            page.goto("about:blank")
            page.goto(link)
            assert (say(page), table(page)) == before
        finally:
            page.close()
            server.shutdown()
            thread.join()
    assert {path for path in asked if path != "/favicon.ico"} == {"/page.html"}


def test_recorded_objects_are_stepped_and_not_edited(visit: Opener) -> None:
    edges = [("a", "b", frozenset({(1, 4)})), ("b", "c", frozenset({(2, 1)})), ("a", "c", frozenset({(9, 0)}))]
    E = sr.explain(sr.adjacency(edges, sr.pareto), method="blocked")
    page = visit(E)
    assert "recorded" in page.locator("#note").inner_text()
    for method in ("blocked", "squaring", "r-kleene"):
        choice(page, "Method").select_option(method)
        page.get_by_role("button", name="To the end").click()
        assert table(page)[0] == ["{(0, 0)}", "{(1, 4)}", "{(3, 5), (9, 0)}"]
    page.locator("#edges summary").click()
    assert field(page, "a → b").is_disabled()


# Everywhere, for everybody

@pytest.mark.parametrize(("width", "height"), WIDTHS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_overflows_and_axe_finds_nothing(visit: Opener, width: int, height: int, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit(link="#m=blocked&t=61", width=width, height=height, theme=theme)
    for state in ("as it opens", "with everything open"):
        assert page.evaluate("document.documentElement.scrollWidth") <= width, state
        found = Axe().run(page).response["violations"]
        assert [(v["id"], [n["html"][:120] for n in v["nodes"]][:3]) for v in found] == [], state
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        page.locator("#bad").evaluate("button => { button.click(); document.getElementById('try').click(); }")
        page.locator('td[data-i="1"][data-j="4"]').evaluate("cell => cell.focus()")


@pytest.mark.parametrize(("width", "height"), WIDTHS)
def test_long_names_and_twelve_vertices(visit: Opener, width: int, height: int) -> None:
    random = np.random.default_rng(0)
    names = [f"Station number {i}" for i in range(12)]
    edges = [(names[i], names[j], float(random.integers(1, 20))) for i in range(12) for j in range(12)
             if i != j and random.random() < 0.3]
    page = visit(sr.explain(sr.as_graph(edges), sr.min_plus, method="squaring"), width=width, height=height)
    page.get_by_role("button", name="To the end").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


LABELS = """() => {
  const box = node => { const r = node.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  const labels = [...document.querySelectorAll('#graph .weight')];
  const shown = labels.filter(label => label.getAttribute('display') !== 'none');
  const texts = shown.map(label => box(label.querySelector('text')));
  const others = [...document.querySelectorAll('.vertex circle, .vertex text[text-anchor]')].map(box);
  const meet = (p, q) => p[0] < q[2] - 1 && q[0] < p[2] - 1 && p[1] < q[3] - 1 && q[1] < p[3] - 1;
  const outer = box(document.getElementById('graph'));
  const inside = p => p[0] >= outer[0] && p[1] >= outer[1] && p[2] <= outer[2] && p[3] <= outer[3];
  const met = texts.flatMap((p, i) => [...texts.slice(i + 1), ...others].filter(q => meet(p, q)));
  return [shown.length, met.length, [...texts, ...others].filter(p => !inside(p)).length];
}"""


MIXED = ["Kilmarnock South", "a", "北京", "Αθήνα", "WWWWWWWWWWWW", "Edinburgh", "odd", "Very long name", "x", "0", "St",
         "r"]


@pytest.mark.parametrize("names", ["abcdefghijkl", [f"Station {i}" for i in range(12)], MIXED],
                         ids=["short", "long", "mixed"])
def test_weights_are_on_no_vertex_and_on_no_other_weight(visit: Opener, names: Any) -> None:
    random = np.random.default_rng(len(names[0]))
    for n in range(2, 13):
        pairs = [(i, j) for i in range(n) for j in range(n)]
        chosen = random.choice(len(pairs), min(2 * n, len(pairs)), replace=False)
        edges = [(names[pairs[k][0]], names[pairs[k][1]], float(random.choice([3, 47, 12345, 2.5]))) for k in chosen]
        page = visit(sr.explain(sr.as_graph(edges), sr.min_plus))
        drawn, met, outside = page.evaluate(LABELS)
        assert (met, outside) == (0, 0) and drawn >= len(edges) / 2, edges
        for _ in range(3):
            page.keyboard.press("ArrowRight")
            assert page.evaluate(LABELS)[1:] == [0, 0], edges


@pytest.mark.parametrize("n", [1, 3])
def test_a_graph_without_edges(visit: Opener, n: int) -> None:
    page = visit(sr.explain(np.full((n, n), np.inf), sr.min_plus))
    page.get_by_role("button", name="To the end").click()
    assert "Done: this is A*" in say(page)
    assert table(page) == [["0" if i == j else "·" for j in range(n)] for i in range(n)]


def test_of_many_edges_only_those_of_a_step_have_weights(visit: Opener) -> None:
    edges = [(i, j, float(i + 2 * j)) for i in range(12) for j in range(12) if i != j]
    page = visit(sr.explain(sr.as_graph(edges), sr.min_plus))
    assert page.evaluate(LABELS) == [0, 0, 0]
    page.keyboard.press("ArrowRight")
    drawn, met, _ = page.evaluate(LABELS)
    assert drawn >= 1 and met == 0


def test_numbers_have_all_digits_where_they_are_asked_for(visit: Opener) -> None:
    edges = [("a", "b", 12345.0), ("b", "c", 10001.0), ("a", "c", 22347.0), ("c", "a", 0.123456789)]
    page = visit(sr.explain(sr.as_graph(edges), sr.min_plus))
    page.get_by_role("button", name="One step on").click()
    page.get_by_role("button", name="To the end").click()
    cells = table(page)
    assert cells[0] == ["0", "12345", "22346"] and cells[2][0] == "0.1235"
    assert page.locator('td[data-i="2"][data-j="0"]').get_attribute("title") == "0.123456789"
    assert "0.123456789" in page.locator('td[data-i="2"][data-j="0"]').get_attribute("aria-label")
    page.locator("#edges summary").click()
    assert field(page, "c → a").input_value() == "0.123456789"
    page = visit(sr.explain(sr.adjacency([("a", "b", 5), ("b", "c", 6)], sr.bitset_may)))
    assert table(page)[0] == ["·", "{0, 2}", "·"]
    page.locator("#edges summary").click()
    field(page, "a → b").fill("all but {1}")
    field(page, "a → b").press("Tab")
    page.get_by_role("button", name="To the end").click()
    assert table(page)[0] == ["all", "all but {1}", "{2}"]


@pytest.mark.parametrize(("width", "height"), [(320, 568), (320, 640), (375, 667), (360, 760), (390, 844)])
def test_on_a_phone_the_written_entry_is_in_sight(visit: Opener, width: int, height: int) -> None:
    """Under the algebra with the longest texts too, whose equation makes the controls higher; selects are not cut."""
    page = visit(width=width, height=height)
    cut = page.evaluate("""() => { const pen = document.createElement('canvas').getContext('2d');
      return [...document.querySelectorAll('.bar select')].filter(s => s.offsetParent).filter(s => {
        pen.font = getComputedStyle(s).font;
        return pen.measureText(s.selectedOptions[0].text).width > s.clientWidth - 16; }).length; }""")
    assert cut == 0
    for algebra in ("min_plus", "k_best"):
        choice(page, "Algebra").select_option(algebra)
        assert page.evaluate("""() => { const hidden = [], next = document.getElementById('next');
          scrollTo(0, 0);
          for (; next.getAttribute('aria-disabled') !== 'true';) { next.click();
            const cell = document.querySelector('td.target').getBoundingClientRect();
            const end = Math.min(innerHeight, document.getElementById('dock').getBoundingClientRect().top);
            if (cell.top < 0 || cell.bottom > end || cell.left < 0 || cell.right > innerWidth) hidden.push(1); }
          return hidden.length; }""") == 0


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (1024, 700), (700, 500), (390, 700)])
def test_panels_below_the_controls_are_announced(visit: Opener, width: int, height: int) -> None:
    """A page of its own, or in a frame of another origin, keeps its controls in sight, and says what is below them."""
    page = visit(width=width, height=height)
    more = page.get_by_role("button", name="More: change the edges")
    more.click()
    assert page.evaluate("document.activeElement.textContent") == "Change the edges"
    dock = page.locator("#dock").bounding_box()
    for summary in page.locator("#more summary").all():
        box = summary.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= dock["y"] + 1
    assert more.is_hidden()
    page.evaluate("scrollTo(0, 0)")
    more.wait_for()


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (1024, 700), (700, 500), (390, 700)])
def test_in_a_frame_nothing_is_under_the_controls(visit: Opener, tmp_path: Path, width: int, height: int) -> None:
    outer = tmp_path / "outer.html"
    E = sr.explain(sr.as_graph(ROADS), sr.min_plus)
    outer.write_text(f"<!doctype html><html lang=en><title>x</title><body>{E._repr_html_()}<p>after", encoding="utf-8")
    page = visit(file=outer, width=width, height=height)
    frame = page.frames[1]
    frame.wait_for_function("parseFloat(frameElement.style.height) - document.body.getBoundingClientRect().height < 1")
    hidden = """() => { const dock = document.getElementById('dock').getBoundingClientRect();
      return [...document.querySelectorAll('summary, #matrix td, select')].filter(e => {
        const r = e.getBoundingClientRect();
        return r.top < dock.bottom && r.bottom > dock.top; }).length; }"""
    assert frame.evaluate(hidden) == 0
    assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert frame.locator("#link").is_hidden()


def test_the_focus_stays_at_the_end(visit: Opener) -> None:
    page = visit(link="#t=215&by=entry")
    page.get_by_role("button", name="One step on").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "next"
    assert page.locator("#next").get_attribute("aria-disabled") == "true"


def test_nothing_moves_between_steps(visit: Opener) -> None:
    page = visit(width=1000)
    boxes = set()
    for _ in range(31):
        page.get_by_role("button", name="One step on").click()
        found = (page.locator(f"#{name}").bounding_box() for name in ("graph", "matrix", "dock"))
        boxes.add(tuple(tuple(box.values()) for box in found))
    assert len(boxes) == 1


def test_no_motion_where_it_is_not_wanted(visit: Opener) -> None:
    page = visit()
    assert page.locator("td").nth(3).evaluate("cell => getComputedStyle(cell).transitionDuration") in ("0s", "")


def test_what_has_focus_is_not_hidden_by_the_dock(visit: Opener) -> None:
    page = visit(width=360, height=760)
    page.locator("#own summary").click()
    for _ in range(60):
        page.keyboard.press("Tab")
        box = page.evaluate("""() => { const e = document.activeElement, r = e.getBoundingClientRect();
          return e.closest('#dock') || e === document.body ? null : [r.top, r.bottom]; }""")
        dock = page.locator("#dock").bounding_box()["y"]
        assert box is None or box[0] < dock, page.evaluate("document.activeElement.outerHTML")


def test_two_thousand_random_closures(visit: Opener) -> None:
    made = list(cases(20, seed=1))
    assert len(made) >= 2000
    page = visit()
    page.add_script_tag(content=DRIVER)
    for start in range(0, len(made), 250):
        part = made[start : start + 250]
        asked = [question(E, calls, given) for _, _, E, calls, given in part]
        found = page.evaluate("asked => answer_(asked)", asked)
        for (name, method, E, calls, given), theirs in zip(part, found, strict=True):
            bad = differences(answer(E, calls, given), theirs, exact=name != "log")
            assert not bad, f"{name}, {method}, {given}: {bad[0]}"
