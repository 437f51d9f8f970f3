"""The site: its reference names all that is public, answers to exercises are tried, lost links are found."""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
from test_docstrings import PUBLIC

import semiring as sr
from semiring import csgraph
from semiring.cli.arguments import parser
from semiring.teach.ladder import RUNGS

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "docs" / "site"
PAGES = sorted(SITE.rglob("*.md"))


def cells(text: str) -> Iterator[tuple[set[str], str]]:
    """Tags and code of the cells of a page, in order."""
    cell = r"^```\{code-cell\} python\n((?::[^\n]*\n)*)(.*?)^```$"
    for head, code in re.findall(cell, text, re.MULTILINE | re.DOTALL):
        tags = re.search(r":tags: \[(.*)\]", head)
        yield set(tags[1].split(", ")) if tags else set(), code


def unanswered(text: str) -> list[str]:
    """Answers, which are hidden cells, that no assertion in the cell after them tries."""
    found = [*cells(text), (set[str](), "")]
    return [code for (tags, code), (next_tags, next_code) in pairwise(found)
            if "hide-cell" in tags and not ("remove-cell" in next_tags and "assert " in next_code)]


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program that writes the pages of the reference."""
    monkeypatch.syspath_prepend(str(SITE))
    return import_module("public")


def test_the_reference_names_everything_that_is_public(public: ModuleType) -> None:
    pages = [page.read_text(encoding="utf-8") for page in SITE.glob("reference/*.md")]
    tables = [table for text in pages for table in re.findall(r"^\.\. autosummary::\n(.*?)^```$", text, re.M | re.S)]
    listed = [f"semiring.{name}" for table in tables for name in re.findall(r"^   (\w\S*)$", table, re.MULTILINE)]
    assert sorted(listed) == sorted(public.pages()), "each has a row in one table, and a page of its own"
    named = {name.removeprefix("semiring.") for name in listed}
    assert {*sr.__all__} <= named | public.algebras().keys() | {"catalogue", "counter_examples"}
    own = {name for name, value in vars(csgraph).items()
           if isinstance(value, FunctionType) and value.__module__ == csgraph.__name__ and not name.startswith("_")}
    assert {f"csgraph.{name}" for name in own} | {"torch.closure", "jax.matmul"} <= named
    assert ".. algebras::" in (SITE / "reference" / "catalogue.md").read_text(encoding="utf-8")


def test_every_member_of_a_public_class_has_an_entry(public: ModuleType) -> None:
    text = "".join(map(public.page, public.pages()))
    entries = set(re.findall(r"^\.\. (?:auto|py:)(?:class|exception|function|method|property|attribute):: (\S+)$",
                             text, re.MULTILINE))
    assert PUBLIC.keys() <= entries, "functions, classes, methods and properties"
    bases = {(name, base) for name, cls in PUBLIC.items() if inspect.isclass(cls) for base in cls.__mro__
             if base.__module__.startswith("semiring.")}
    fields = {f"{name}.{field}" for name, base in bases
              for field in (*vars(base).get("__annotations__", ()), *vars(base)) if not field.startswith("_")}
    assert fields <= entries and len(fields) > 200
    assert {"SparseFactors.weight", "SparseFactors.path", "Factors.path", "Labels.weight", "SparsePlan.run"} <= entries
    assert {"Matrix.index", "Graph.index", "PackedMatrix.zeros", "Regex.parts", "Regex.kind", "Regex.text"} <= entries
    silent = re.findall(r"^\.\. py:attribute:: (\S+)\n\n   \*attribute\*", text, re.MULTILINE)
    assert silent == [], "add a row to the Attributes of the class"


def test_words_lead_to_one_place_each(monkeypatch: pytest.MonkeyPatch, public: ModuleType) -> None:
    phrases = import_module("phrases")
    places = [place.partition("#") for place in phrases.WORDS]
    pages = {page.relative_to(SITE).with_suffix("").as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
    pages |= {f"reference/api/{name}": "" for name in public.pages()}
    assert {page for page, _, _ in places} <= pages.keys()
    for page, _, anchor in places:
        titles = re.findall(r"^#+ (.+)$", pages[page], re.MULTILINE)
        assert not anchor or anchor in {re.sub(r"[^\w-]", "", title.lower().replace(" ", "-")) for title in titles}
    found = [phrase.lower() for page in pages for _, phrase in phrases.words(page)]
    assert len(found) > 300 and sorted(found) == sorted(set(found)), "a phrase leads to one page"


def test_names_in_docstrings_are_links_parameters_or_code(public: ModuleType) -> None:
    lines = ["Return a walk along `path`, as `closure`.", "", "Parameters", "----------", "path : str", "",
             "Returns", "-------", "Paths", "    With `tree(source)`, `blocks` and `weights`, as `closure`."]
    public.shown(None, "function", "f", None, None, lines)
    assert lines[0] == "Return a walk along ``path``, as `closure`."
    assert lines[-1] == ("    With `tree(source) <semiring.Paths.tree>`, ``blocks`` and "
                         "`weights <semiring.Paths.weights>`, as `closure`.")
    assert all(map(public.is_code, ("A @ B", "R[a, b]", "header="))) and not any(map(public.is_code, ("A", "A.b", "?")))
    assert public.is_internal("semiring.algorithms.trees") and not public.is_internal("semiring.algorithms.bushes")
    from docutils import nodes

    kind = public.link(None, None, {"reftarget": "python:int"}, nodes.literal("", "python:int"))
    assert kind.astext() == "int", "numpydoc's name of a type in another library"
    assert "overwrite" in public.parameters() and "overwritten" not in public.parameters()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_runs_without_the_network(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "```{code-cell}" not in text or text.startswith("---\nfile_format: mystnb\n"), "or its cells do not run"
    assert len(list(cells(text))) == text.count("{code-cell}"), "cells stand at the top, or they do not run"
    assert "{math}" not in text, "formulas stand between dollars, as notebooks show them"
    assert unanswered(text) == []


CHAPTERS = sorted({*(SITE / "course").glob("*.md")} - {SITE / "course" / f"{name}.md" for name in (
    "index", "glossary", "lecturers")})


def exercises(text: str) -> list[str]:
    """The exercises of a chapter, each with what follows it up to the next."""
    return re.split(r"^:::\{admonition\} Exercise \d+", text.partition("\n## Read on\n")[0], flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda page: page.stem)
def test_a_chapter_names_its_goals_time_needs_and_sources(chapter: Path) -> None:
    text = chapter.read_text(encoding="utf-8")
    about = re.search(r":::\{admonition\} About this chapter\n(.*?)\n:::\n", text, re.DOTALL)
    assert about and re.findall(r"\*\*(.+?)\*\*", about[1]) == ["You learn", "Time", "You need"]
    assert re.search(r"\d+ minutes", about[1]) and "(glossary.md)" in about[1]
    read_on = text.partition("\n## Read on\n")[2].partition("\n## ")[0]
    sources = re.findall(r"^\d+\. (.+(?:\n   .+)*)", read_on, re.MULTILINE)
    assert sum(bool(re.match(r"(?:\S+ )+\*[^*]+\*.*\b(?:19|20)\d\d\b", each, re.DOTALL)) for each in sources) >= 2


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda page: page.stem)
def test_exercises_ask_for_more_than_a_call_and_have_answers(chapter: Path) -> None:
    found = exercises(chapter.read_text(encoding="utf-8"))
    assert len(found) > 2
    for each in found:
        assert ":collapsible: closed" in each or "[hide-cell" in each, "an exercise without an answer"
    kinds = [each.partition("\n")[0] for each in found]
    assert {": find the mistake", ": prove"} <= {*kinds}
    assert ": why?" in kinds or not re.match("[1-4]-", chapter.stem)


def test_first_uses_of_words_lead_to_the_glossary() -> None:
    glossary = (SITE / "course" / "glossary.md").read_text(encoding="utf-8")
    terms = set(re.findall(r"^(\w.+)$", glossary.partition("```{glossary}")[2], re.MULTILINE)) - {":sorted:"}
    usual = {"custom semiring", "transitive closure", "all-pairs shortest paths", "negative cycle", "k shortest paths",
             "widest path", "tropical semiring", "dioid", "fixed point", "Kleene algebra", "walk", "path", "weight",
             "value"}
    assert usual <= terms
    first = {"1-one": {"walk", "path", "weight", "semiring", "closure", "selective", "pivot"},
             "2-what": {"distributive", "idempotent", "natural order"}, "3-prod": {"homomorphism", "power series"},
             "4-what": {"star", "regular expression", "equation"}}
    for chapter in CHAPTERS:
        text = re.sub(r"\s+", " ", chapter.read_text(encoding="utf-8"))
        linked = {full or short for short, full in re.findall(r"\{term\}`([^`<]*?)(?: <([^>]*)>)?`", text)}
        assert {term.lower() for term in linked} <= {term.lower() for term in terms}
        assert first.get(chapter.stem[:6], set()) <= linked


def formulas(text: str) -> list[str]:
    """The formulas of a page, which stand between dollars outside of code."""
    prose = re.sub(r"^(`{3,}).*?^\1$|^    .*?$|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)
    return [block or line for block, line in re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", prose, re.DOTALL)]


def test_formulas_are_drawn_by_the_browser() -> None:
    from docutils.utils import math

    site = runpy.run_path(str(SITE / "mathml.py"))
    for formula in [each for page in PAGES for each in formulas(page.read_text(encoding="utf-8"))]:
        ElementTree.fromstring(site["mathml"](formula, display=True))
    made = site["mathml"]("a^* = 1")
    assert made.startswith("<math ") and made.endswith("</math>") and "<msup><mi>a</mi><mo>∗</mo></msup>" in made
    assert '<mi>log</mi><mspace width="0.17em"/><mi>m</mi>' in site["mathml"](r"\log m"), "no entity"
    with pytest.raises(math.MathError, match="nosuch"):
        site["mathml"](r"\nosuch")
    assert formulas("a $x$ `$HOME` $$\ny\n$$\n    $ pip\n```sh\n$ ls $\n```\n") == ["x", "\ny\n"]
    assert 'html_math_renderer = "mathml"' in (SITE / "conf.py").read_text(encoding="utf-8"), "not MathJax"


def test_lecturers_see_what_each_chapter_says_that_it_needs() -> None:
    course = SITE / "course"
    page = (course / "lecturers.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[[^]]+\]\(([\w-]+\.md)\) \|([^|]*)\| \d+ \| \d+ \|$", page, re.MULTILINE))
    chapters = {file.name: file.read_text(encoding="utf-8") for file in course.glob("*.md")}
    chapters = {name: text for name, text in chapters.items() if "**You need**" in text}
    assert rows.keys() == chapters.keys()
    numbers = {name: name.split("-")[0] for name in chapters if name[0].isdigit()}
    for name, text in chapters.items():
        needs = re.search(r"\*\*You need\*\*(.*?)\n(?:- |:::)", text, re.DOTALL)
        assert needs, name
        links = re.findall(r"\(([\w-]+\.md)(?:#[\w-]+)?\)", needs[1])
        named = {int(numbers[other]) for other in links if other in numbers}
        if re.search(r"\) to\s+\[", needs[1]):
            named = set(range(min(named), max(named) + 1))
        assert {int(number) for number in rows[name].split(",") if number.strip()} == named, name


RUN = """
import json, os, sys
sys.path.insert(0, os.getcwd())
names = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    code = "".join(cell["source"])
    if code.startswith("%%writefile "):
        head, _, body = code.partition("\\n")
        open(head.split()[1], "w", encoding="utf-8").write(body)
    elif cell["cell_type"] == "code":
        exec(compile(code, "cell", "exec"), names)
"""
EVERY_DAY = {"index", "2-what-may-be-forgotten", "topics", "reach"}


def runs() -> Iterator[Any]:
    for page in PAGES:
        if "{code-cell}" in page.read_text(encoding="utf-8"):
            yield pytest.param(page, id=page.stem, marks=[] if page.stem in EVERY_DAY else pytest.mark.slow)


@pytest.fixture
def notebooks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program that makes notebooks of pages."""
    monkeypatch.syspath_prepend(str(SITE))
    return import_module("notebooks")


@pytest.mark.parametrize("page", [*runs()])
def test_a_notebook_runs_without_the_site(notebooks: ModuleType, page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if not notebooks.has_code(text):
        pytest.skip("all its code is hidden")
    file = tmp_path / "page.ipynb"
    file.write_text(notebooks.notebook(text), encoding="utf-8")
    made = json.loads(file.read_text(encoding="utf-8"))["cells"]
    first, *rest = (cell for cell in made if cell["cell_type"] == "code")
    assert first["source"] == [notebooks.SET_UP] and rest
    environment = os.environ | {"SEMIRING_COMPILE": "never", "PYTHONPATH": ""}
    command = [sys.executable, "-c", RUN, file.name]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def unrun() -> Iterator[Any]:
    """Blocks of Python that neither a notebook nor doctest runs: on GPUs, on a cluster, with PyTorch or JAX."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fenced = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        indented = re.findall(r"(?:^    .*\n|^\n(?=    ))+", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
        for number, block in enumerate([*fenced, *map(dedent, indented)]):
            code = re.sub(r"^(\$|semiring) .*", "", block, flags=re.MULTILINE)  # commands of a shell
            if ">>>" not in code and re.search(r"\bsr[tj]?\.", code):
                yield pytest.param(code, id=f"{page.stem} {number}")


def parameters(module: str, name: str) -> dict[str, Any]:
    """The parameters of a public function, of a module that may need a package which is not installed."""
    if module == "sr":
        assert hasattr(sr, name), f"there is no sr.{name}"
        return dict(inspect.signature(getattr(sr, name)).parameters)
    file = ROOT / "semiring" / {"srt": "torch.py", "srj": "jax.py"}[module]
    defined = {node.name: node.args for node in ast.parse(file.read_text(encoding="utf-8")).body
               if isinstance(node, ast.FunctionDef)}
    return dict.fromkeys(each.arg for each in (*defined[name].args, *defined[name].kwonlyargs))


def wrong_calls(code: str) -> list[str]:
    """Calls of the library, in code that is not run, with an option that the function lacks."""
    wrong = []
    for node in ast.walk(ast.parse(code)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id in ("sr", "srt", "srj")):
            continue
        known = parameters(node.func.value.id, node.func.attr)
        if not any(getattr(p, "kind", None) is inspect.Parameter.VAR_KEYWORD for p in known.values()):
            wrong += [f"{ast.unparse(node)}: {k.arg}" for k in node.keywords if k.arg not in known]
    return wrong


@pytest.mark.parametrize("code", [*unrun()])
def test_code_that_is_not_run_calls_what_there_is(code: str) -> None:
    assert wrong_calls(code) == []


def test_a_wrong_call_in_code_that_is_not_run_is_found() -> None:
    assert wrong_calls("D = sr.closure(A, sr.min_plus, gpus=2)") == ["sr.closure(A, sr.min_plus, gpus=2): gpus"]
    assert wrong_calls("srt.closure(A, sr.log, tile=4)") == ["srt.closure(A, sr.log, tile=4): tile"]
    with pytest.raises(AssertionError, match=r"there is no sr\.close"):
        wrong_calls("sr.close(A)")


def test_a_notebook_has_texts_answers_and_no_syntax_of_the_site(notebooks: ModuleType) -> None:
    def cell(tags: str, code: str) -> str:
        return f"```{{code-cell}} python\n:tags: [{tags}]\n{code}\n```\n\n"

    page = (
        "---\nkernel: x\n---\n# Title\n\n"
        "[A *link*](next.md#here), [SciPy](https://scipy.org), {term}`walks <walk>`, {math}`a`.\n\n"
        ":::{admonition} Exercise 1\nWhy?\n:::\n\n"
        ":::{admonition} Answer\n:collapsible: closed\n\nBecause $a$.\n:::\n\n"
        + cell("hide-cell, wrap", "x = 1") + cell("remove-cell", "assert x == 1")
        + cell("remove-input", "from rungs import table\ntable()") + cell("remove-input", "table(2)")
        + cell("remove-input", "from drawing import bars\nbars('b', [])")
        + "```{toctree}\nnext\n```\n\n```\nplain\n```\n")
    made = [(cell["cell_type"], "".join(cell["source"])) for cell in notebooks.cells(page)]
    figure = "*The page on the site has a figure here.*"
    assert made.pop(1)[1].startswith("%%writefile drawing.py\n")
    assert made == [
        ("code", notebooks.SET_UP),
        ("markdown", "# Title\n\nA *link*, [SciPy](https://scipy.org), walks, $a$.\n\n> **Exercise 1**\n>\n> Why?\n\n"
         "<details><summary>Answer</summary>\n\nBecause $a$.\n\n</details>"),
        ("code", "# An answer; try the exercise first.\nx = 1"), ("markdown", f"{figure}\n\n{figure}"),
        ("code", "from drawing import bars\nbars('b', [])"), ("markdown", "```\nplain\n```")]
    assert not notebooks.has_code(cell("remove-input", "x"))


def test_an_answer_that_nothing_tries_is_found() -> None:
    answer = "```{code-cell} python\n:tags: [hide-cell]\nx = 2\n```\n"
    tried = "```{code-cell} python\n:tags: [remove-cell]\nassert x == 2\n```\n"
    assert unanswered(answer + tried) == []
    for after in ("", answer + tried, tried.replace("assert", "print"), tried.replace("remove-cell", "hide-input")):
        assert unanswered(answer + after) == ["x = 2\n"]


def test_the_page_of_commands_has_them_all() -> None:
    action = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    text = (SITE / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [*action.choices]
    assert re.findall(r'commands\["(.+)"\]', text) == [*action.choices], "each prints its own help"


def test_the_page_of_variables_has_them_all() -> None:
    files = [file for folder in ("semiring", "kernels", "algorithms") for file in (ROOT / folder).rglob("*.py")]
    used = {name for file in files for name in re.findall(r"SEMIRING_[A-Z_]+", file.read_text(encoding="utf-8"))}
    text = (SITE / "reference" / "environment.md").read_text(encoding="utf-8")
    assert len(used) > 2 and set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE)) == used


def test_the_tables_of_benchmarks_have_their_place() -> None:
    page = (SITE / "benchmarks.md").read_text(encoding="utf-8")
    programs = [file.read_text(encoding="utf-8") for file in (ROOT / "docs" / "benchmarks").glob("*.py")]
    written = sorted(name for text in programs for name in re.findall(r'"([a-z-]+-benchmark)"', text))
    assert sorted(re.findall(r"^<!-- ([a-z-]+) -->$", page, re.MULTILINE)) == written and len(written) == 5
    for name in written:
        _, _, rest = page.partition(f"<!-- {name} -->\n")
        assert "| --- |" in rest.partition(f"\n<!-- /{name} -->\n")[0]


def test_a_table_goes_between_its_markers(tmp_path: Path) -> None:
    report = runpy.run_path(str(ROOT / "docs" / "benchmarks" / "report.py"))
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- /a -->\nafter\n", encoding="utf-8")
    report["insert"]("a", report["grid_of"](["work"], [["|x|"]]), page)
    assert page.read_text(encoding="utf-8") == (
        "before\n<!-- a -->\n| work |\n| --- |\n| \\|x\\| |\n<!-- /a -->\nafter\n")
    with pytest.raises(SystemExit, match="no place for the table"):
        report["insert"]("b", "", page)


def test_drawings_are_svg_with_a_text_in_their_place() -> None:
    drawing = runpy.run_path(str(SITE / "drawing.py"))
    edges = [("a", "a", "<1>"), ("a", "b", 2), ("b", "a", 3), ("b", "long name", 4)]
    made = [
        drawing["graph"]('a "title" & more', edges, {"a": (0, 0), "b": (1, 0), "long name": (1, 1)}, ["a", "b"]),
        drawing["bars"]("bars", [("one", 1), ("two", 2_000)]), drawing["grid"]("grid", [[1, 2]], [[0, 1]]),
        drawing["floors"]("floors", [("one", "<first>"), ("two", "second"), ("three", "")], [(2, 0, "again")]),
    ]
    for one in made:
        svg = ElementTree.fromstring(one._repr_html_())
        assert (svg.tag, svg.get("role"), svg.get("aria-label")) == ("svg", "img", one.title)
        right, bottom = map(float, str(svg.get("viewBox")).split()[2:])
        for text in svg.iter("text"):
            assert 0 <= float(text.get("x", -1)) <= right and 0 <= float(text.get("y", -1)) <= bottom
    texts = [text.text for text in ElementTree.fromstring(made[0]._repr_html_()).iter("text")]
    assert texts == ["<1>", "2", "3", "4", "a", "b", "long name"]
    wide = drawing["graph"]("t", [("a", "a long name of it", "")], {"a": (0, 0), "a long name of it": (3, 0)})
    for ellipse in ElementTree.fromstring(wide._repr_html_()).iter("ellipse"):
        x, half = float(ellipse.get("cx", 0)), float(ellipse.get("rx", 0))
        assert half < x < wide.width - half, "a vertex lies within its drawing"
    boxes = ElementTree.fromstring(made[3]._repr_html_())
    right = 4 + float(boxes.findall("rect")[0].get("width", 0))
    ends = [float(text.get("x", 0)) + 8.43 * len(text.text or "") for text in boxes.iter("text")]  # as browsers draw it
    assert len(ends) == 7 and max(ends[:-1]) < right < ends[-1] < made[3].width
    assert "<td>&lt;</td>" in drawing["Table"]("t", ["h"], [["<"]])._repr_html_()


def test_lost_links_are_found(tmp_path: Path) -> None:
    faults = runpy.run_path(str(SITE / "build.py"))["faults"]
    (tmp_path / "a.html").write_text('<a href="b.html#here"></a><a href="https://a.org"></a><img alt="x" src="p">')
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="#here"></a><a href="a.html?q=1"></a>')
    (tmp_path / "p").write_text("")
    assert list(faults(tmp_path)) == []
    (tmp_path / "c.html").write_text(
        '<a href="d.html"></a><a href="b.html#there"></a><script src="https://example.org/x.js"></script><img src="p">')
    (tmp_path / "s.css").write_text("@font-face { src: url('https://example.org/f.woff') }")
    assert sorted(fault.split(" ", 1)[1] for fault in faults(tmp_path)) == [
        "has <img> without alt", "leads to b.html#there, an anchor that does not exist",
        "leads to d.html, which does not exist", "loads https://example.org/f.woff", "loads https://example.org/x.js"]


@pytest.fixture
def rungs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The figures of the page on the ladder."""
    monkeypatch.syspath_prepend(str(SITE))
    return import_module("rungs")


def test_every_rung_opens_to_its_source_a_picture_and_its_code(rungs: ModuleType) -> None:
    for device in ("cpu", "gpu"):
        page = rungs.Rungs(device)._repr_html_()
        ours = [rung for rung in RUNGS if rung.device == device]
        assert page.count("<details ") == page.count("<svg ") == len(ours)
        for rung in ours:
            assert f'id="{device}-{rung.name}"' in page and escape(rung.source) in page
            assert rungs.code(rung)
    assert "def floyd" not in page and '<div class="highlight">' in rungs.Rungs("cpu")._repr_html_()


def test_what_was_measured_is_shown_and_what_was_not_says_how(
    rungs: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = {"name": "floyd", "algebra": "min-plus", "times": [[1000, 0.5], [2000, 4.0]], "predicted": [[4000, 32.0]],
              "exponent": 3.0, "share": 0.25, "joules": 8.0, "metered": 2000, "refused": ""}
    refused = record | {"name": "warshall", "times": [], "predicted": [], "refused": "its elements are single bits"}
    found = {"machine": "abacus", "algebra": "min-plus", "dtype": "float32", "date": "2026-01-01", "limit": 0.008,
             "energy": "a counter", "idle": 5.0, "rungs": [record, refused]}
    monkeypatch.setattr(rungs, "HERE", tmp_path)
    for figure in (rungs.table, rungs.times, rungs.ladder):
        assert "history.py --device gpu --write" in figure("gpu")._repr_html_()
    (tmp_path / "ladder_gpu.json").write_text(json.dumps(found), encoding="utf-8")
    table = rungs.table("gpu")._repr_html_()
    texts = ("abacus", "2,000", "4.00\u00a0s", "0.002", "25%", "3.00", "8\u00a0J", "1\u00a0G a joule", "single bits")
    assert [text for text in texts if text not in table] == []
    drawn = rungs.times("gpu")._repr_html_()
    assert drawn.count("<circle") == 2 and drawn.count('stroke-dasharray="3 4"') == 1 and "Other rungs" in drawn
    assert ">2<" in rungs.ladder("gpu")._repr_html_() and ">25<" in rungs.ladder("gpu", share=True)._repr_html_()
    short = record | {"name": "carre", "times": [[1000, 0.25]], "predicted": []}
    (tmp_path / "ladder_gpu.json").write_text(json.dumps(found | {"rungs": [record, short]}), encoding="utf-8")
    both = rungs.ladder("gpu")._repr_html_()
    assert "floyd, n = 2,000" in both and "carre, n = 1,000" in both, "as in the table"
    assert ">2<" in both and ">4<" in both
    ElementTree.fromstring(drawn)


def test_exponents_and_predictions_come_from_sizes_beyond_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SITE))
    fits = import_module("fits")
    cliff = [(1024, 0.01), (2048, 0.08), (4096, 6.4), (8192, 51.2)]  # four bytes each: 4, 16, 64 and 256 MiB
    assert fits.exponent("floyd", cliff, "cpu") == pytest.approx(3)
    assert fits.predicted("floyd", cliff, [8192, 16384], "cpu") == [(16384, pytest.approx(409.6))]
    assert fits.exponent("floyd", cliff[:3], "cpu") is None, "one size beyond the cache"
    assert fits.predicted("floyd", cliff[:3], [8192], "cpu") == [(8192, pytest.approx(51.2))], "by the cube"
    assert fits.exponent("floyd", cliff[:2], "cpu") is None
    assert fits.predicted("floyd", cliff[:2], [4096], "cpu") == []
    assert fits.exponent("warshall", cliff, "cpu") is None, "a bit each: all sizes fit"
    for device in ("cpu", "gpu"):
        found = json.loads((SITE / f"ladder_{device}.json").read_text(encoding="utf-8"))
        again = json.loads(json.dumps(found))
        fits.refit(again)
        for old, new in zip(found["rungs"], again["rungs"], strict=True):
            assert old["exponent"] == (None if new["exponent"] is None else pytest.approx(new["exponent"]))
            assert [n for n, _ in old["predicted"]] == [n for n, _ in new["predicted"]]


def test_steps_and_reports_of_papers_take_their_numbers_from_what_was_measured(
    rungs: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for device, steps in rungs.STEPS.items():
        assert {name for rung, before, _ in steps for name in (rung, before)} <= {
            rung.name for rung in RUNGS if rung.device == device}
    monkeypatch.setattr(rungs, "HERE", tmp_path)
    assert "--device gpu --write" in rungs.steps("gpu")._repr_html_() and "--write" in rungs.claims()._repr_html_()
    names = {"cpu": ["floyd"], "gpu": ["harish-narayanan", "kemp", "katz-kider", "kemp-out-of-core", "registers",
                                       "buluc-gilbert-budak-gpu", "closure-gpu"]}
    for device, some in names.items():
        found = {"rungs": [{"name": name, "times": [[1000, 8.0 / 4**k], [2000, 32.0 / 4**k]], "share": 0.5}
                           for k, name in enumerate(some)]}
        (tmp_path / f"ladder_{device}.json").write_text(json.dumps(found), encoding="utf-8")
    kemp = rungs.steps("gpu").rows[0]
    assert kemp[-2:] == ["4.0×, n\u00a0=\u00a01,000", "4.0×, n\u00a0=\u00a02,000"]
    cells = [row[-1] for row in rungs.claims().rows]
    assert "16\u00a0ms" in cells[0] and "another size" in cells[0]
    assert "2.00\u00a0s for n\u00a0=\u00a02,000" in cells[1] and "500\u00a0ms for n\u00a0=\u00a02,000" in cells[1]
    assert cells[2].startswith("50%") and cells[3] == cells[4] == "no rung follows this paper"


def test_what_the_program_wrote_is_of_rungs_that_there_are(rungs: ModuleType) -> None:
    names = {device: {rung.name for rung in RUNGS if rung.device == device} for device in ("cpu", "gpu")}
    for device in ("cpu", "gpu"):
        found = rungs.measured(device)
        assert found is None or {record["name"] for record in found["rungs"]} <= names[device]
