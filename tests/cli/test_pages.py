"""The commands on the pages of the site run, on files as the pages have them."""

from __future__ import annotations

import gzip
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semiring.cli import main

from .calling import OWN, ROADS

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"
COMMAND = re.compile(
    r"^    (?:\$ )?(?:z?cat (?P<piped>\S+) \| )?semiring (?P<words>[^#|<>\n]+?) *(?:#.*)?$", re.MULTILINE)
FERRIES = "from,to,minutes,seats\nAyr,Bute,20,40\nBute,Dale,35,60\nAyr,Dale,70,90\n"
GML = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight 3 ] ]"
TOWNS = "place,x,y\nAyr,0,0\nBute,1,0\nColl,0,1\nDale,1,1\n"


def commands() -> list[Any]:
    """The page, the file that is piped in, and the arguments of each command."""
    found = []
    for page in sorted(SITE.rglob("*.md")):
        for match in COMMAND.finditer(page.read_text(encoding="utf-8")):
            if not match["words"].startswith("warmup min-plus"):  # it takes long; test_warming.py does the same
                found.append(pytest.param(match["piped"], match["words"], id=f"{page.stem}: {match['words']}"))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that these pages mention."""
    folder = tmp_path_factory.mktemp("pages")
    for name, text in {
        "roads.csv": ROADS, "ferries.csv": FERRIES, "towns.csv": TOWNS, "mine.py": OWN,
        "rewards.csv": "0,1\n1,2\n", "tasks.csv": "from,to,days\na,b,2\nb,c,3\n",
        "chain.mtx": "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 0.5\n2 1 0.25\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, text in {"links.txt.gz": "school clinic 3\nschool hospital 2\n", "roads.gml.gz": GML}.items():
        with gzip.open(folder / name, "wt", encoding="utf-8") as file:
            file.write(text)
    np.save(folder / "weights.npy", np.array([[0.0, 2.0], [3.0, 0.0]]))
    return folder


def test_the_commands_are_found() -> None:
    assert len(commands()) > 15 and any(given.values[0] for given in commands())


@pytest.mark.parametrize(("piped", "words"), commands())
def test_commands_on_pages_run(
    piped: str | None, words: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SEMIRING_CACHE_DIR", str(folder / "cache"))
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    arguments = shlex.split(words)
    if "roads.parquet" in arguments:
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.table({"from": ["a"], "to": ["b"], "km": [2.0]}), folder / "roads.parquet")
    if "--plot" in arguments:
        pytest.importorskip("matplotlib")
    if piped:
        with gzip.open(folder / piped) as file, (folder / "piped").open("wb") as plain:
            plain.write(file.read())
        monkeypatch.setattr("sys.stdin", (folder / "piped").open(encoding="utf-8"))
    assert main(arguments) == 0, capfdbinary.readouterr().err.decode()
