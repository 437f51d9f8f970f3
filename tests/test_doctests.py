"""Every example in a docstring, in README.md and in docs/ runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import semiring

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OPTIONS = doctest.ELLIPSIS
# By their full names: pytest's own collection would import a second copy of `kernels` and `algorithms`.
MODULES = sorted(m.name for m in pkgutil.walk_packages(semiring.__path__, "semiring.") if m.name != "semiring.__main__")


def find(name: str) -> list[doctest.DocTest]:
    module = importlib.import_module(name)
    return [test for test in doctest.DocTestFinder().find(module) if test.examples]


def test_all_folders_are_walked() -> None:
    assert {"semiring.api", "semiring.algorithms.blocked", "semiring.kernels.cpu.cache"} <= set(MODULES)


@pytest.mark.parametrize("name", ["semiring", *MODULES])
def test_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert not result.failed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    assert not result.failed


def test_the_front_page_has_examples() -> None:
    parser = doctest.DocTestParser()
    for name, least in (("README.md", 5), ("docs/path-algebra.md", 12)):
        assert len(parser.get_examples((ROOT / name).read_text(encoding="utf-8"))) >= least


def test_public_functions_have_examples() -> None:
    for name in "adjacency check_laws closure factor from_dense matmul path plan read_graph solve".split():
        assert ">>> " in (getattr(semiring, name).__doc__ or ""), name
