"""Answers as text: tab-separated for a pipe, tables for a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from cli.calling import Terminal

import semiring as sr
from semiring import cli
from semiring.cli.output import element_text, write_matrix, write_rows, write_table

inf = np.inf
ESCAPE = "\x1b]0;title\x07\x1b[2J"


@pytest.mark.parametrize("algebra, dtype", [
    ("min-plus", None), ("min-plus", "f4"), ("max-min", None), ("max-min", "f8"), ("boolean", None),
])
def test_matrix_is_as_in_a_file(call, roads: Path, tmp_path: Path, algebra: str, dtype: str | None) -> None:
    options = ["--algebra", algebra, *(["--dtype", dtype] if dtype else [])]
    answer = call("closure", roads, *options)
    assert answer.status == 0
    silent = call("closure", roads, *options, "-o", tmp_path / "c.tsv")
    assert (silent.status, silent.out) == (0, "")
    assert (tmp_path / "c.tsv").read_text() == answer.out
    assert answer.rows[0] == ["", "Ayr", "Bute", "Coll", "Dale"]
    assert answer.rows[4][:4] == ["Dale", "", "", ""]


def test_a_file_that_is_read_is_not_written_over(call, roads: Path, tmp_path: Path) -> None:
    before, link, other = roads.read_bytes(), tmp_path / "link.csv", tmp_path / "other.csv"
    link.symlink_to(roads)
    other.write_text("Ayr,0\n")
    refused = "is an input and would be overwritten: give another name"
    for path in (roads, link, roads.parent / "." / roads.name):
        answer = call("closure", roads, "--algebra", "min-plus", "-o", path)
        assert answer.status == 2 and refused in answer.err
    assert refused in call("solve", roads, other, "--algebra", "min-plus", "-o", other).err
    assert refused in call("components", roads, "-o", roads).err
    assert roads.read_bytes() == before and other.read_text() == "Ayr,0\n" and link.is_symlink()
    assert call("closure", roads, "--algebra", "min-plus", "-o", tmp_path / "new.csv").status == 0
    assert call("closure", roads, "--algebra", "min-plus", "-o", tmp_path / "new.csv").status == 0


def test_tables_for_a_terminal(monkeypatch: pytest.MonkeyPatch, roads: Path) -> None:
    stdout = Terminal()
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.main(["catalogue"]) == 0
    assert "saturating_min_plus" in stdout.getvalue() and "\t" not in stdout.getvalue()
    assert cli.main(["closure", str(roads), "--algebra", "min-plus"]) == 0
    assert "Matrix 4 × 4 over min-plus" in stdout.getvalue()


@pytest.mark.parametrize("options", [[], ["--from", "b"], ["--packed", "--from", "b"]])
def test_the_command_line_prints_a_row_a_line(call, tmp_path, options):
    name = f"{ESCAPE}\t\u2028\n"
    (tmp_path / "g.csv").write_text(f'"{name}x",b,1\nb,c\u202e,2\n')
    answer = call("closure", tmp_path / "g.csv", "--algebra", "boolean", *options, "--no-header")
    assert answer.status == 0, answer.err
    assert all(c.isprintable() or c in "\t\n" for c in answer.out)
    rows = [line.split("\t") for line in answer.out.splitlines()]
    assert len({len(row) for row in rows}) == 1 and len(rows) == (3 if options else 4)
    assert "\\x1b]0;title\\x07\\x1b[2J\\t\\u2028\\nx" in answer.out


def test_elements_in_cells() -> None:
    def cells(S: sr.Semiring, values: list, dtype: str) -> list:
        return [element_text(S, np.dtype(dtype))(v) for v in np.array(values, dtype)]

    assert cells(sr.boolean, [True, False], "?") == [1, 0]
    assert cells(sr.min_plus, [127, -128, 5], "i1") == cells(sr.max_plus, [127, -128, 5], "i1") == [inf, -inf, 5]
    assert cells(sr.max_min, [127, -128, 5], "i1") == [inf, -inf, 5]  # both ends are elements there
    assert cells(sr.bitset_may, [255, 0], "u1") == [255, 0] and cells(sr.counting, [255, 0], "u1") == [inf, 0]
    assert cells(sr.min_plus, [2.5, inf], "f8") == [2.5, inf] and cells(sr.gf2, [1, 0], "u1") == [1, 0]
    assert cells(sr.min_plus, [0.1, inf], "f4") == ["0.1", "inf"] and cells(sr.min_plus, [0.1], "f8") == [0.1]
    record = np.array([(2.0, inf)], sr.shortest_hops.default_dtype)[0]
    assert element_text(sr.shortest_hops, record.dtype)(record) == (2.0, inf)
    assert str(element_text(sr.regex, np.dtype(object))(sr.letter("x"))) == "x"


def test_rows_escape_what_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    write_rows([["a\tb", 1, 2.5], ["\x1b[2J", "a\nb", ""], [], ['say "x"', "木", None]])
    assert capsys.readouterr().out == 'a\\tb\t1\t2.5\n\\x1b[2J\ta\\nb\t\n\n"say ""x"""\t木\t\n'


def test_a_table_for_a_pipe_and_for_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = ["name", "is"], [["[bold]x[/bold]", "1"], ["y", "22"]]
    write_table(*table)
    assert capsys.readouterr().out == "name\tis\n[bold]x[/bold]\t1\ny\t22\n"
    stdout = Terminal()
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setenv("TERM", "dumb")
    write_table(*table)
    lines = [line.split() for line in stdout.getvalue().splitlines()]
    words = [line for line in lines if line and line[0].isascii()]
    assert words == [["name", "is"], ["[bold]x[/bold]", "1"], ["y", "22"]]


@pytest.mark.parametrize(("S", "array", "text"), [
    (sr.min_plus, np.array([[0, inf], [2.5, 0]]), "\ta\tb\na\t0.0\t\nb\t2.5\t0.0\n"),
    (sr.min_plus, np.array([[0, 2**31 - 1], [7, 0]], "i4"), "\ta\tb\na\t0\t\nb\t7\t0\n"),
    (sr.boolean, np.array([[True, False], [True, True]]), "\ta\tb\na\t1\t\nb\t1\t1\n"),
])
def test_matrices_leave_the_zero_out(
    capsys: pytest.CaptureFixture[str], S: sr.Semiring, array: np.ndarray, text: str
) -> None:
    write_matrix(sr.Matrix(array, S, ["a", "b"]))
    assert capsys.readouterr().out == text
    write_matrix(sr.Matrix(array, S))
    assert capsys.readouterr().out == text.replace("a", "0").replace("b", "1")


def test_matrices_of_objects_records_and_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    write_matrix(sr.adjacency([("a", "b", sr.letter("x"))], sr.regex))
    write_matrix(sr.adjacency([("a", "b", (2.0, 1))], sr.shortest_hops))
    write_matrix(sr.adjacency([], sr.min_plus))
    assert capsys.readouterr().out == (
        "\ta\tb\na\t\tx\nb\t\t\n" "\ta\tb\na\t\t(2.0, 1.0)\nb\t\t\n" '""\n')
