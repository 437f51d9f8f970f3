"""What is checked beside the code agrees with it: workflows, hooks, forms, the citation, links and paths in pages."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

import semiring as sr

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
HOOKS = ROOT / ".pre-commit-config.yaml"
CITATION = ROOT / "CITATION.cff"
YAML = [*sorted((ROOT / ".github").rglob("*.yml")), HOOKS, CITATION]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def load(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def by_name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def test_the_workflows_are_found() -> None:
    assert {file.stem for file in WORKFLOWS} >= {"tests", "docs", "dependencies", "release"}


def test_it_is_yaml() -> None:
    assert [by_name(file) for file in YAML if not isinstance(load(file), dict)] == []


def test_a_workflow_may_do_little_and_ends() -> None:
    for file in WORKFLOWS:
        workflow = load(file)
        assert workflow["permissions"] == {"contents": "read"}, f"{file.name}: jobs ask for what else they need"
        assert "group" in workflow["concurrency"], file.name
        for name, job in workflow["jobs"].items():
            assert job["timeout-minutes"] <= 120, f"{file.name}: {name}"
            for step in job["steps"]:
                if "uses" in step:
                    named = re.fullmatch(r"[\w-]+/[\w-]+@(release/)?v\d+", step["uses"])
                    assert named, f"{file.name}: name the major version in {step['uses']}"


def test_every_python_that_we_support_is_tested() -> None:
    matrix = load(WORKFLOWS[[file.stem for file in WORKFLOWS].index("tests")])["jobs"]["tests"]["strategy"]["matrix"]
    pythons = matrix["python"]
    assert all(isinstance(python, str) for python in pythons), "3.10 without quotes is 3.1"
    minors = [int(python.removeprefix("3.")) for python in pythons]
    assert all(after == before + 1 for before, after in pairwise(minors))
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    named = [c for c in PROJECT["classifiers"] if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", c)]
    assert not named or [c.rpartition(" ")[2] for c in named] == pythons
    for file in WORKFLOWS:
        for python in re.findall(r"""["'](3\.\d+)["']""", file.read_text(encoding="utf-8")):
            assert python in pythons, f"{file.name} uses Python {python}"


def test_what_is_called_exists() -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for file in (*WORKFLOWS, HOOKS, ROOT / ".ci" / "run"):
        # Comments quote, and so does prose; commands begin after a dash, a colon or white space.
        text = re.sub(r"#.*", "", file.read_text(encoding="utf-8"))
        for path, test in re.findall(r"\b((?:tests|docs)/[\w/]+\.py)(?:::(\w+))?", text):
            assert (ROOT / path).is_file(), f"{file.name}: {path}"
            written = (ROOT / path).read_text(encoding="utf-8")
            assert not test or f"def {test}(" in written, f"{file.name}: {path} has no {test}"
        for called in re.findall(r"\bmake ([\w -]+)", text):
            assert set(called.split()) <= {*targets, "clean"}, f"{file.name}: make {called}"


def test_the_hook_for_ruff_installs_what_the_extra_does() -> None:
    hooks = {hook["id"]: hook for repository in load(HOOKS)["repos"] for hook in repository["hooks"]}
    wanted = [r for r in PROJECT["optional-dependencies"]["lint"] if r.startswith("ruff")]
    assert hooks["ruff"]["additional_dependencies"] == wanted


def test_the_citation_is_of_this_version() -> None:
    citation = load(CITATION)
    assert citation["version"] == sr.__version__ == PROJECT["version"]
    assert (citation["title"], citation["license"]) == (PROJECT["name"], PROJECT["license"])
    assert (citation["abstract"], citation["keywords"]) == (PROJECT["description"], PROJECT["keywords"])


def test_the_citation_names_works_that_the_sources_name() -> None:
    folders = [ROOT / name for name in ("semiring", "kernels", "algorithms", "docs")]
    files = [file for folder in folders for pattern in ("*.py", "*.md") for file in folder.rglob(pattern)]
    sources = " ".join(" ".join(file.read_text(encoding="utf-8").split()) for file in files)
    for work in load(CITATION)["references"]:
        assert f"{work['title']} ({work['year']})" in sources, work["title"]


def with_what_it_includes(page: Path) -> str:
    """The text of a page, that of pages which it includes in their places."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```\{include\} (\S+)$", lambda found: with_what_it_includes(page.parent / found[1]), text,
                  flags=re.MULTILINE)


def broken_links(page: Path) -> Iterator[str]:
    """Targets of links that are neither a file nor a title in one; the network is not asked."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if ":" in path:
            continue
        file = page.parent / path if path else page
        if not file.exists():
            yield target
        elif anchor:
            titles = re.findall(r"^#+ (.+)$", with_what_it_includes(file), re.MULTILINE)
            if anchor not in [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles]:
                yield target


def test_links_lead_somewhere() -> None:
    assert len(PAGES) > 20 and [(by_name(page), link) for page in PAGES for link in broken_links(page)] == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One title\n[a](page.md) [b](#one-title) [c](#two) [d](lost.md) [e](page.md#three) [f](https://x)")
    assert list(broken_links(page)) == ["#two", "lost.md", "page.md#three"]


# In backticks, or anywhere from a folder at the top to a suffix: in diagrams and commands.
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`|\b((?:semiring|kernels|algorithms|tests|docs)/[\w./-]+\.\w+)")
SUFFIXES = (".py", ".md", ".toml", ".cu", ".cuh")


def lost(text: str) -> Iterator[str]:
    """Paths that lead nowhere from the root, nor from a folder in the heading, nor from beside the path before."""
    for section in re.split(r"^(?=#)", text, flags=re.MULTILINE):
        heading = section.partition("\n")[0]
        homes = [ROOT, *(ROOT / folder for folder in re.findall(r"`([\w./]+/)`", heading))]
        beside = ROOT
        for quoted, plain in PATH.findall(section):
            path = quoted or plain
            if "/" not in path and not path.endswith(SUFFIXES):
                continue
            found = [home / path for home in (*homes, beside) if (home / path).exists()]
            if found:
                beside = found[0].parent
            else:
                yield path


def test_paths_lead_somewhere() -> None:
    pages = [page for page in PAGES if page.name not in ("CHANGELOG.md", "SECURITY.md")]
    assert [(by_name(page), path) for page in pages for path in lost(page.read_text(encoding="utf-8"))] == []


def test_pages_for_a_forge_link_to_pages_that_a_forge_renders() -> None:
    """A forge shows the directives and roles of the site's pages as they are written."""
    syntax = re.compile(r"^(?:`{3,}|:{3,})\{|\{[a-z:]+\}`|^\{[.#]", re.MULTILINE)
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        links = re.findall(r"\]\((?!https?:)([^)#]+\.md)", page.read_text(encoding="utf-8"))
        assert [link for link in links if syntax.search((page.parent / link).read_text(encoding="utf-8"))] == [], page


def test_paths_that_lead_nowhere_are_found() -> None:
    text = """`pyproject.toml`, `tests/test_*.py`, `1 / a`, but no `choose.py`
### `kernels/cuda/`: a folder
`choose.py`, `dense/close.cu` and beside it `product.cu`, but no `chose.py`
`tests/oracle.py` and `bridge.py`, but no `bridges.py`, and `python tests/fuzz/file.py --count 1` fails
    in a diagram  →  kernels/build.py, kernels/built.py
# Elsewhere
`bridge.py`"""
    wrong = ["choose.py", "chose.py", "bridges.py", "tests/fuzz/file.py", "kernels/built.py", "bridge.py"]
    assert list(lost(text)) == wrong


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
def test_actionlint() -> None:
    done = subprocess.run(["actionlint", *WORKFLOWS], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


# Phrases of no dialect but our own, and what to write in place of them.
_MORE = "longer|more|less|better|worse|larger|smaller|faster|slower|higher|lower|closer|shorter|wider"
PHRASES = {
    rf"(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!(?:{_MORE})\b)\w+": "is not a …",
    r"(?<!\b[Tt]here )\b(?:is|are|be) none\b(?! of (?:the|these|those|its)\b)": "is not one; there is none",
    r"\b(?:is|are|was|were) not there\b": "does not exist; is missing",
    r"\bthat there (?:is|are) (?:not|none of)\b": "that does not exist; unknown",
    r"\btaken for\b": "treated as; read as",
    r"\bno ways?\b(?! (?:to|of)\b)": "no walk; no path",
    r"\bimproves? for ever\b": "an improving cycle",
    r"\bthe odds are\b": "what is likely",
    r"\bit is asked whether\b": "is tested",
}
WRITTEN = (".py", ".pyi", ".js", ".cu", ".cuh", ".html")
PROSE = [*PAGES, ROOT / "Makefile", ROOT / "pyproject.toml",
         *(file for folder in ("semiring", "kernels", "algorithms", "tests", "docs")
           for file in sorted((ROOT / folder).rglob("*")) if file.suffix in WRITTEN)]


def dialect(text: str) -> list[str]:
    """The phrases in a text that nobody else uses, also across lines and signs of comments."""
    line = re.sub(r"\s+(?:(?:#|//)\s+)?", " ", text)
    return [found[0] for phrase in PHRASES for found in re.finditer(phrase, line)]


def test_prose_is_plain_english() -> None:
    found = {by_name(file): dialect(file.read_text(encoding="utf-8")) for file in PROSE if file != Path(__file__)}
    assert len(found) > 400 and {name: phrases for name, phrases in found.items() if phrases} == {}


def test_phrases_that_nobody_else_uses_are_found() -> None:
    assert dialect("There is no edge, it is no longer than 3 and none of these; if there is none, no way to tell") == []
    text = """n is no integer, and 'b' is no
    # position; a vertex that is none, or that there is not; the file is not there, and there is no way from a to b;
    the cycle improves for ever, numbers are taken for exact, it is asked whether they are, and the odds are bad."""
    found = ["is no integer", "is no position", "is none", "is not there", "that there is not", "taken for", "no way",
             "improves for ever", "the odds are", "it is asked whether"]
    assert sorted(dialect(text)) == sorted(found)


def test_addresses_are_of_arrays_that_stay() -> None:
    """Memory of a copy without a name is free for the next one, before a kernel has read it; scrap is kept."""
    files = [*(ROOT / "kernels").rglob("*.py"), *(ROOT / "semiring").rglob("*.py")]
    found = [f"{file}: {line.strip()}" for file in files for line in file.read_text(encoding="utf-8").splitlines()
             if re.search(r"(?<!_scrap\(current_device\(\))\)\.data\.ptr", line)]
    assert len(files) > 400 and found == []


def test_every_module_has_a_test_of_its_name() -> None:
    """In its place in the mirror, or among those that need a GPU; templates are tested through what fills them."""
    places = {"semiring": [ROOT / "tests"], "algorithms": [ROOT / "tests/algorithms"],
              "kernels": [ROOT / "tests/kernels"], "kernels/cuda": [ROOT / "tests/kernels/cuda", ROOT / "tests/gpu"]}
    without = []
    for folder in ("semiring", "algorithms", "kernels"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            inside = file.relative_to(ROOT / folder)
            home = "kernels/cuda" if folder == "kernels" and inside.parts[0] == "cuda" else folder
            inside = inside.relative_to("cuda") if home == "kernels/cuda" else inside
            names = [home_ / inside.parent / f"test_{file.name}" for home_ in places[home]]
            special = file.stem.startswith("__") or file.stem.endswith("template")
            if not special and not any(name.is_file() for name in names):
                without.append(str(file.relative_to(ROOT)))
    assert without == []


def test_files_of_tests_for_gpus_load_everywhere() -> None:
    """They are collected where there is a GPU only, and would go stale; some need CuPy or PyTorch for more."""
    tests = ROOT / "tests"
    files = sorted((tests / "gpu").rglob("test_*.py"))
    assert len(files) > 20
    for file in files:
        with suppress(pytest.skip.Exception):
            import_module(".".join(file.relative_to(tests).with_suffix("").parts))


def test_slow_tests_are_listed_by_what_they_find() -> None:
    """In the table of CONTRIBUTING.md, by file."""
    tests = ROOT / "tests"
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Slow tests")[2].partition("\n## ")[0]
    marks = re.compile(r"pytest\.mark\.slow|from engines import")
    marked = {file.relative_to(tests).as_posix() for file in tests.rglob("test_*.py")
              if marks.search(file.read_text(encoding="utf-8")) and file != Path(__file__)}
    assert marked and set(re.findall(r"`([\w/]+\.py)`", table)) == marked
