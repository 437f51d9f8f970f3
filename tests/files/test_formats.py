"""The table of formats: a row is all that a format needs, and what is written of formats elsewhere agrees with it."""

from __future__ import annotations

import io
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from files.reading import refused
from files.toy import TOY

import semiring as sr
from semiring import cli
from semiring.cli.arguments import parser
from semiring.files.format import RESTRICTED, Options
from semiring.files.formats import ELEMENTS, ELSEWHERE, FORMATS, UNPACKED, accepted, endings, format_names

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file of a toy format, which is in the table for now."""
    monkeypatch.setitem(FORMATS, "toy", TOY)
    path = tmp_path / "g.toy"
    path.write_text("3\n0 1 2.5\n1 2 4\n")
    return path


def test_a_row_is_all_that_reading_and_writing_need(toy: Path) -> None:
    graph = sr.read_graph(toy)
    assert graph.n == 3 and sorted(graph.edges()) == [(0, 1, 2.5), (1, 2, 4.0)]
    assert sr.read_graph(io.BytesIO(toy.read_bytes()), format="toy", weight=None).weights is None
    M = sr.read_matrix(toy, sr.min_plus)
    sr.write_matrix(toy.with_suffix(".toys"), M)
    assert toy.with_suffix(".toys").read_text() == "3\n0 1 2.5\n1 2 4.0\n"
    assert np.array_equal(sr.read_matrix(toy.with_suffix(".toys"), sr.min_plus), M)


def test_a_row_is_all_that_messages_need(toy: Path) -> None:
    with refused(f"graphs are read from {', '.join(endings())}: pass format="):
        sr.read_graph(toy.with_suffix(""))
    assert endings()[-2:] == [".toy", ".toys"]
    with refused("no format is called 'toi'; did you mean 'toy'?"):
        sr.read_graph(toy, format="toi")
    with refused("header= has no meaning in the format toy, only in csv, tsv, txt, edges: leave it out"):
        sr.read_graph(toy, header=True)
    records = sr.adjacency([(0, 1, (2.0, 3))], sr.shortest_count)
    with refused("are records, which the toy format cannot hold: write .csv, .tsv", sr.SemiringError):
        sr.write_matrix(toy, records)
    with refused("vertices have names, such as 'a', and the toy format only numbers them", sr.SemiringError):
        sr.write_matrix(toy, sr.adjacency([("a", "b", 1.0)], sr.min_plus))
    assert toy.read_text() == "3\n0 1 2.5\n1 2 4\n", "what was there stays"


def test_a_row_is_all_that_the_command_line_needs(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = toy.with_name("c.toy")
    assert cli.main(["closure", str(toy), "--algebra", "min-plus", "-o", str(out)]) == 0
    assert sr.read_matrix(out, sr.min_plus)[0, 2] == 6.5
    assert cli.main(["order", str(toy), "--format", "toy"]) == 0
    assert capsys.readouterr().out == "0\n1\n2\n"
    help = " ".join(parser().commands["closure"].format_help().split())
    assert help.count(".toy") == 2 and "parquet, toy" in help, "of FILE and of OUT, and of --format"


def test_names_and_endings_are_of_one_format_each() -> None:
    all_endings = endings()
    assert len(set(all_endings)) == len(all_endings) and not set(all_endings) & {*ELSEWHERE, *UNPACKED}
    assert all(name == form.name and form.endings for name, form in FORMATS.items())
    assert all(form.takes <= RESTRICTED.keys() and form.holds <= ELEMENTS.keys() for form in FORMATS.values())
    assert set(endings(written=True)) < set(all_endings) and set(format_names(written=True)) < set(format_names())
    for kind in ELEMENTS:
        assert any(form.write and kind in form.holds for form in FORMATS.values()), f"nothing holds {kind}"


def test_an_option_is_honoured_or_refused() -> None:
    """By the table; what a reader makes of an option has tests in the reader's own module."""
    values = {"header": True, "source": "a", "target": 1, "weights": ["km", "toll"], "label": "id", "decimal": ",",
              "absent": 0, "names": str}
    assert values.keys() == RESTRICTED.keys()
    for (name, form), (word, value) in product(FORMATS.items(), values.items()):
        options = Options(**{"weight" if word == "weights" else word: value})
        assert options.asked == [word]
        if word in form.takes:
            assert accepted(Path("g"), form, options).asked == [word]
        else:
            with refused(f"g: {RESTRICTED[word]} has no meaning in the format {name}, only in "):
                accepted(Path("g"), form, options)


def test_the_reference_lists_all_formats() -> None:
    for verb, written in ((sr.read_graph, False), (sr.write_matrix, True)):
        text = " ".join((verb.__doc__ or "").split())
        assert re.search(r"format : str, optional One of ([\w, ]+), if", text)[1] == ", ".join(
            format_names(written=written))
        missing = [ending for ending in endings(written=written) if not re.search(rf"{re.escape(ending)}\b", text)]
        assert not missing, f"{verb.__name__} does not say what {missing} are"


def test_the_site_lists_all_formats() -> None:
    """The table of docs/site/howto/files.md is that of the code."""
    rows = ["| ending | what it is | read | written | needs |", "|---|---|---|---|---|"]
    for form in FORMATS.values():
        called = ", ".join(f"`{ending}`" for ending in form.endings)
        rows.append(f"| {called} | {form.content} | yes | {'yes' if form.write else ''} | {form.needs} |")
    table = "\n".join(rows).replace("|  |", "| |").replace("|  |", "| |")
    page = (ROOT / "docs/site/howto/files.md").read_text(encoding="utf-8")
    assert f"\n\n{table}\n\n" in page, f"the table should be\n{table}"
