"""The site in a browser, as `make docs` built it: it fits, it can be read, and steppers take its theme."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote
from zipfile import ZipFile

import pytest
from browser.conftest import Opener

import semiring as sr

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


CUT = """() => {
  for (const answer of document.querySelectorAll("details")) answer.open = true;
  const seen = [...document.querySelectorAll(".bd-article *")].filter((e) => e.offsetWidth);
  const small = seen.filter((e) => e.matches("pre, code") && parseFloat(getComputedStyle(e).fontSize) < 14);
  const cut = seen.filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth
    && ["auto", "scroll"].includes(getComputedStyle(e).overflowX));
  return [...small, ...cut].map((e) => e.outerHTML.slice(0, 200));
}"""


@pytest.mark.parametrize("file", PAGES, ids=[page.stem for page in PAGES])
def test_code_and_answers_fit_on_a_laptop(visit: Opener, file: Path) -> None:
    assert visit(file=file, width=1280).evaluate(CUT) == []


def test_code_is_copied_without_prompts(visit: Opener) -> None:
    page = visit(file=SITE / "reference" / "api" / "semiring.closure.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    block = page.locator(".bd-content div.highlight").first
    block.hover()
    block.get_by_role("button", name="Copy").click()
    block.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("import ") and ">>>" not in copied
    assert page.locator("[role=status]").filter(has_text="Copied").count() == 1


def test_a_page_says_what_it_is_and_where_its_notebook_is(visit: Opener) -> None:
    page = visit(file=SITE / "course" / "5-one-star-three-ways.html")
    assert page.locator("meta[name=description]").get_attribute("content")
    assert "Floyd" in page.locator("meta[name=keywords]").get_attribute("content")
    assert page.locator("link[rel=icon]").get_attribute("href").endswith("icon.svg")
    assert sr.__version__ in page.locator("p.about").text_content()
    for name in ("History", "The ladder"):
        assert page.locator("header").get_by_role("link", name=name).is_visible()
    notebook = SITE / "course" / page.locator("p.notebook a").get_attribute("href")
    assert json.loads(notebook.read_text(encoding="utf-8"))["nbformat"] == 4
    with ZipFile(SITE / "course" / "course.zip") as course:
        assert "course/5-one-star-three-ways.ipynb" in course.namelist()


@pytest.mark.parametrize("file", [page for page in PAGES if page.parent == SITE], ids=lambda file: file.stem)
def test_there_is_no_empty_navigation(visit: Opener, file: Path) -> None:
    page = visit(file=file)
    side = page.locator("nav.bd-docs-nav:visible")
    assert side.count() == 0 or side.get_by_role("link").count()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "course/2-what-may-be-forgotten", "howto/csv", "howto/frames", "ladder",
                                  "reference/catalogue", "reference/api/semiring.SparseFactors", "search"])
def test_everybody_can_read_it(visit: Opener, name: str, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit(file=SITE / f"{name}.html", theme=theme)
    # Without preloading: that asks for style sheets anew, which pages from files may not.
    found = Axe().run(page, options={"preload": False}).response["violations"]
    assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in found] == []


FOUND = {  # the page that readers find first, and by which words
    "reference/algebras": ("custom semiring", "define my own semiring", "user-defined"),
    "reference/api/semiring.closure": ("closure", "sr.closure"),
    "reference/api/semiring.matmul": ("matrix multiplication",),
    "reference/catalogue#semiring.min_plus": ("sr.min_plus",),
    "howto/reach": ("transitive closure", "reachability"),
    "howto/sparse": ("sparse", "sparse matrices"),
    "howto/gpu": ("GPU", "CUDA", "multiple GPUs"),
    "howto/million": ("out of core", "large graph"),
    "howto/topics#all-pairs-shortest-paths": ("all pairs shortest path", "All-pairs shortest paths", "shortest path"),
    "howto/topics#shortest-paths-from-one-source": ("shortest path tree", "single-source shortest paths"),
    "howto/topics#the-k-shortest-walks-and-paths": ("k shortest", "k-shortest paths"),
    "howto/topics#widest-path-or-bottleneck": ("widest path", "bottleneck"),
    "howto/topics#longest-and-critical-path": ("critical path", "longest path"),
    "howto/topics#negative-cycle-and-arbitrage": ("negative cycle", "arbitrage"),
    "howto/topics#markov-chain-linear-equations": ("Markov chains", "hitting time"),
    "howto/topics#automaton-to-regular-expression": ("regular expression", "finite automata"),
    "course/9-when-dijkstra-is-right": ("Dijkstra", "Dijkstra's algorithm"),
    "course/5-one-star-three-ways": ("Floyd-Warshall", "Gaussian elimination"),
    "course/automata": ("hidden Markov model", "Viterbi algorithm"),
    "course/provenance": ("provenance", "provenance polynomials"),
    "course/maxplus": ("discrete event systems",),
    "course/lecturers": ("syllabus", "For lecturers"),
    "history": ("bibliography",),
    "course/glossary": ("glossary",),
}


@pytest.mark.parametrize(("words", "page"), [(words, page) for page, all_ in FOUND.items() for words in all_])
def test_readers_find_a_page_by_their_words(visit: Opener, words: str, page: str) -> None:
    first = visit(file=SITE / "search.html", link=f"?q={quote(words)}").locator("#search-results ul.search li a").first
    found = re.sub(r"\?[^#]*", "", first.evaluate("a => a.href"))
    where, _, anchor = page.partition("#")
    assert found == (SITE / f"{where}.html").as_uri() + (f"#{anchor}" if anchor else "")


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
