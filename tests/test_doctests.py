"""Every example in a docstring, in README.md and in docs/ runs; the cells of the site run when it is built."""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import scipy.sparse.csgraph

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OPTIONS = doctest.ELLIPSIS
FOLDERS = {"semiring": "semiring", "kernels": "semiring.kernels", "algorithms": "semiring.algorithms"}


def modules() -> Iterator[str]:
    """Modules with examples, by full name: pytest's own collection would import a second copy of some folders."""
    for folder, package in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            if ">>> " in file.read_text(encoding="utf-8"):
                name = ".".join([package, *file.relative_to(ROOT / folder).with_suffix("").parts])
                yield name.removesuffix(".__init__")


MODULES = list(modules())


def test_all_folders_are_walked() -> None:
    assert {"semiring.api", "semiring.algebra.semiring", "semiring.machine.threads"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in ("semiring.torch", "semiring.jax"):
        pytest.importorskip(name.rpartition(".")[2])
    module = importlib.import_module(name)
    if name == "semiring.csgraph" and not hasattr(scipy.sparse.csgraph, "yen"):
        monkeypatch.setattr(module.yen, "__doc__", None)  # a function of SciPy 1.14 and later
    result = doctest.testmod(module, optionflags=OPTIONS)
    assert result.attempted and not result.failed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS, encoding="utf-8")
    assert not result.failed


def test_the_front_page_has_examples() -> None:
    parser = doctest.DocTestParser()
    assert len(parser.get_examples((ROOT / "README.md").read_text(encoding="utf-8"))) >= 5
