"""What is named on the command line: algebras of one's own, records, vertices, how a list is to be read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import OWN, command, refused

import semiring as sr
from semiring.cli.inputs import algebra_of, label_of, number_of, vertex_of


def test_integer_vertices_and_compact(call, tmp_path: Path) -> None:
    file = tmp_path / "far.txt"
    file.write_text("7 1000000 2\n1000000 12 3\n")
    options = "--algebra", "min-plus", "--compact"
    assert call("closure", file, *options, "--from", 7, "--to", 12).out == "7\t12\t5\n"
    assert "vertex" in refused(call("closure", file, *options, "--from", 8))


def test_messages_name_options_of_the_command_line(call, tmp_path: Path) -> None:
    """What a message asks for is what one can type here."""
    def said(text: str, *options: str) -> str:
        (tmp_path / "g.csv").write_text(text)
        return refused(call("closure", tmp_path / "g.csv", "--algebra", "min-plus", *options))

    assert "(--text-names reads all vertices as names)" in said("from,to,km\n-1,0,3\n0,-2,1\n")
    assert "Pass --weight km, say, or --unweighted for none" in said("from,to,km,toll\n0,1,3,4\n")
    assert "Pass --weight 'toll 1', say" in said("from,to,toll 1,toll 2\n0,1,3,4\n")
    assert call("closure", tmp_path / "g.csv", "--algebra", "min-plus", "--weight", "toll 1").status == 0


def test_ids_of_64_bits(call, tmp_path: Path) -> None:
    file = tmp_path / "cells.csv"
    file.write_text("from,to,km\n9926593650773458944,9926593650773458961,1\n9926593650773458961,18446744073709551615,2\n")
    ends = "--from", "9926593650773458944", "--to", "18446744073709551615"
    assert call("closure", file, "--algebra", "min-plus", *ends).out == (
        "9926593650773458944\t18446744073709551615\t3\n")
    assert sr.read_graph(file).names == [9926593650773458944, 9926593650773458961, 2**64 - 1]
    file.write_text("from,to,km\n1,18446744073709551616,1\n")
    assert "fits 64 bits, or names (--text-names reads" in refused(call("closure", file, "--algebra", "min-plus"))


def test_records(call, roads: Path) -> None:
    ends = "--from", "Ayr", "--to", "Dale"
    common = ["closure", roads, "--algebra", "shortest-hops"]
    assert call(*common, "--append", 1, *ends, "--path").rows == [["Ayr", "Dale", "(7.0, 2.0)", "Ayr", "Bute", "Dale"]]
    assert call(*common, "--unweighted", "--append", 1, *ends).rows == [["Ayr", "Dale", "(2.0, 2.0)"]]
    assert call(*common, *ends).rows == [["Ayr", "Dale", "(7.0, 2.0)"]]  # an edge is one hop
    links = roads.with_name("links.csv")
    links.write_text("from,to,capacity,latency\na,b,9,4\nb,c,5,1\na,c,2,1\n")
    both = "--algebra", "widest-shortest", "--weight", "latency", "--weight", "capacity"
    assert call("closure", links, *both, "--from", "a", "--to", "b").rows == [["a", "b", "(4, 9)"]]
    assert "an element of widest-shortest is a tuple" in refused(call("closure", roads, "--algebra", "widest-shortest"))
    assert "--append 1,2 makes 3 components" in refused(call(*common, "--append", "1,2", *ends))
    assert "'x' is not a number" in refused(call(*common, "--append", "x", *ends))
    assert "min-plus has one" in refused(call("closure", roads, "--algebra", "min-plus", "--append", 1))
    assert call(*common, "--append", 1).rows[4] == ["Dale", "", "", "", "(0.0, 0.0)"]


def test_own_algebra(call, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "g.csv").write_text("a,b,0.5\nb,c,0.5\na,c,0.125\n")
    mine = f"{tmp_path / 'mine.py'}:reliability"
    answer = call("closure", tmp_path / "g.csv", "--algebra", mine, "--from", "a", "--to", "c")
    assert answer.out == "a\tc\t0.25\n"
    stored = call("closure", tmp_path / "g.csv", "--algebra", mine, "--memory", "1M", "-o", tmp_path / "c.npy")
    assert stored.status == 0 and np.load(tmp_path / "c.npy")[0].tolist() == [1, 0.5, 0.25]


def test_an_algebra_s_file_that_ends_the_process_is_bad_input(call, roads: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys; sys.exit(0)")
    assert "cannot be run: SystemExit" in refused(call("closure", roads, "--algebra", f"{tmp_path / 'mine.py'}:x"))


@pytest.mark.parametrize("text, words", [
    ("1 / 0", "ZeroDivisionError"),
    ("x = (", "SyntaxError"),
    (OWN.replace("np.maximum", "lambda a, b: (a + b) / 2"), "not a semiring"),
    (OWN.replace("reliability =", "reliably ="), "did you mean 'reliably'?"),
    ("reliability = 3", "is not a Semiring, but int"),
])
def test_bad_files_of_algebras(call, roads: Path, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    assert words in refused(call("closure", roads, "--algebra", f"{tmp_path / 'mine.py'}:reliability"))


def test_how_a_list_is_to_be_read(call, tmp_path: Path) -> None:
    file = tmp_path / "g.csv"
    file.write_text("u,v\nv,w\n")
    common = "closure", file, "--algebra", "boolean", "--from", "v", "--to", "w"
    answer = call(*common, "--header")
    assert (answer.out, answer.err) == ("v\tw\t1\n", "")
    assert call("closure", file, "--algebra", "boolean", "--from", "u", "--to", "w", "--no-header").out == "u\tw\t1\n"
    with pytest.warns(sr.SemiringWarning, match="was read as names of columns"):
        sr.read_graph(file)
    done = command(*common)
    assert (done.returncode, done.stdout) == (0, "v\tw\t1\n")
    assert done.stderr.startswith("semiring: warning: ") and done.stderr.count("\n") == 1
    file.write_text("7,8\n")
    assert call("closure", file, "--algebra", "boolean", "--text-names").rows[0] == ["", "7", "8"]


def test_algebras_by_name_or_from_a_file(tmp_path: Path) -> None:
    assert algebra_of("min-plus") is sr.min_plus and algebra_of("mod_p(5)") is sr.mod_p(5)
    (tmp_path / "mine.py").write_text(OWN)
    S = algebra_of(f"{tmp_path / 'mine.py'}:reliability")
    assert S.name == "reliability" and S.mul(0.5, 0.5) == 0.25
    with pytest.raises(sr.SemiringError, match=r"mine\.py has no 'relyability'; did you mean 'reliability'\?"):
        algebra_of(f"{tmp_path / 'mine.py'}:relyability")
    with pytest.raises(sr.SemiringError, match=r"'number' in .*mine\.py is not a Semiring, but int"):
        algebra_of(f"{tmp_path / 'mine.py'}:number")
    with pytest.raises(sr.SemiringError, match=r"there is no file .*yours\.py"):
        algebra_of(f"{tmp_path / 'yours.py'}:S")
    with pytest.raises(sr.SemiringError, match="unknown algebra"):
        algebra_of("mine.py")


def test_what_a_file_raises_keeps_its_kind(tmp_path: Path) -> None:
    """A law that fails there fails here; whatever else goes wrong is the file's fault."""
    means = OWN.replace("np.maximum", "lambda a, b: (a + b) / 2")
    for text, kind, message in (
        (means, sr.LawError, r"mine\.py: reliability is not a semiring"),
        (OWN.replace("np.maximum", "np.sort"), sr.SemiringError, r"mine\.py"),
        ("raise OSError('no')", sr.SemiringError, r"mine\.py cannot be run: OSError: no"),
        ("raise SystemExit(3)", sr.SemiringError, r"mine\.py cannot be run: SystemExit: 3"),
    ):
        (tmp_path / "mine.py").write_text(text)
        with pytest.raises(kind, match=message) as caught:
            algebra_of(f"{tmp_path / 'mine.py'}:reliability")
        assert type(caught.value) is kind or kind is sr.SemiringError


def test_vertices_are_names_first_and_then_positions() -> None:
    plain = sr.as_graph([(0, 2), (2, 1)])
    assert [vertex_of(plain, text) for text in ("0", "2", "+1", "01")] == [0, 2, 1, 1]
    assert [label_of(plain, i) for i in range(3)] == [0, 1, 2]
    named = sr.as_graph([("1", "0"), ("0", "b")])
    assert [vertex_of(named, text) for text in ("1", "0", "b")] == [0, 1, 2]
    assert [label_of(named, i) for i in range(3)] == ["1", "0", "b"]
    numbers = sr.as_graph([(700, 30)], names=[30, 700])  # integers for names
    assert vertex_of(numbers, "700") == 1 and vertex_of(sr.adjacency(numbers, sr.min_plus), "30") == 0
    for graph, text in ((plain, "3"), (plain, "-1"), (plain, "b"), (plain, "1.0"), (named, "2"), (numbers, "0"),
                        (plain, "٢"), (plain, "9" * 30)):
        with pytest.raises(sr.GraphError, match=r"vertex"):
            vertex_of(graph, text)


@pytest.mark.parametrize(("text", "value"), [
    ("3", 3), ("-0", 0), ("18446744073709551615", 2**64 - 1), ("2.50", 2.5), ("1e3", 1000.0), ("-inf", -np.inf),
    ("Infinity", np.inf), ("-9223372036854775808", -(2**63)), ("18446744073709551616", 2.0**64), (".5", 0.5),
])
def test_numbers_are_exact_where_they_are_integers(text: str, value: float) -> None:
    assert number_of(text) == value and type(number_of(text)) is type(value)


@pytest.mark.parametrize(("text", "found"), [
    ("", "''"), ("x", "'x'"), ("1,5", "'1,5'"), ("0x1f", "'0x1f'"), ("1e400", "'1e400'"), ("nan", "NaN"), ("٣", "'٣'"),
    (" 1", "' 1'"), ("1_0", "'1_0'"), ("\x1b", r"'\x1b'"),
])
def test_the_error_is_what_was_found_in_place_of_a_number(text: str, found: str) -> None:
    with pytest.raises(ValueError) as caught:
        number_of(text)
    assert str(caught.value) == found


def test_a_dtype_that_numpy_does_not_know(call, roads: Path) -> None:
    line = refused(call("closure", roads, "--algebra", "viterbi", "--dtype", "float46"))
    assert "NumPy has no dtype 'float46'; did you mean 'float64'?; viterbi has the dtypes float64, float32" in line


def test_components_that_every_edge_gets(call, roads: Path) -> None:
    ends = "--algebra", "shortest-count", "--from", "Ayr", "--to", "Dale"
    assert call("closure", roads, *ends, "--append", "2").rows == [["Ayr", "Dale", "(7.0, 4.0)"]]
    assert "--append nan: NaN is not a number" in refused(call("closure", roads, *ends, "--append", "nan"))
    few = refused(call("closure", roads, *ends, "--append", "1,2,3"))
    assert "--append 1,2,3 makes 4 components, but an element of shortest-count has 2: dist, count" in few


LINKS = "link_id,name,from_node_id,to_node_id,length,lanes\n1,x,10,20,2.5,1\n2,y,20,30,4,2\n"
FAR = "--algebra", "min-plus", "--from", "10", "--to", "30", "--text-names"


@pytest.mark.parametrize(("text", "options", "value"), [
    (LINKS, ["--weight", "length"], "6.5"), (LINKS, ["--weight", "5"], "3"), (LINKS, ["--unweighted"], "2.0"),
    (LINKS, ["--weight", "length", "--source", "from_node_id", "--target", "3"], "6.5"),
    (LINKS.replace("_node", "_thing"), ["--weight", "4", "--source", "2", "--target", "to_thing_id"], "6.5"),
    ("10,20,4,17\n20,30,3,16\n", ["--weight", "2"], "7"), ("10,20,4,17\n20,30,3,16\n", ["--weight", "3"], "33"),
    ("9;10;20\n9;20;30\n", ["--source", "1", "--target", "2", "--unweighted"], "2.0"),
    ("from;to;km\n10;20;1,5\n20;30;2\n", ["--decimal", ","], "3.5"),
])
def test_columns_by_name_or_number(call, tmp_path: Path, text: str, options: list[str], value: str) -> None:
    file = tmp_path / "links.csv"
    file.write_text(text)
    answer = call("closure", file, *FAR, *options)
    assert (answer.status, answer.rows, answer.err) == (0, [["10", "30", value]], "")
    answer = call("closure", "-", *FAR, *options, stdin=text.encode())
    assert (answer.status, answer.rows, answer.err) == (0, [["10", "30", value]], "")


@pytest.mark.parametrize(("text", "options", "words"), [
    ("a,b,4,17\n", [], "which of the columns [2, 3] is the weight? Pass --weight 2, say, or --unweighted for none"),
    ("from,to,in km,toll\na,b,1,2\n", [], "Pass --weight 'in km', say, or --unweighted"),
    ("pipe,well,tap,flow\np,a,b,1\n", ["--weight", "flow"], "pass --source pipe and --target well, say"),
    ("a;b;1,5\nb;c;2,5\n", [], "; pass --decimal , for decimal commas"), ("a,b,c\n", [], "or --header if this line "
                                                                                         "names"),
    ("%%MatrixMarket matrix\n", [], "--format mtx reads Matrix Market"),
    ("a,b\n", ["--source", "0"], "--source and --target"),
    ("0,-1\n", [], "--text-names reads all vertices as names"), ("a,'weight=2'\nb\n", [], "found 1 fields"),
])
def test_messages_spell_options_as_the_command_line_does(
    call, tmp_path: Path, text: str, options: list[str], words: str
) -> None:
    (tmp_path / "g.csv").write_text(text)
    said = refused(call("closure", tmp_path / "g.csv", "--algebra", "min-plus", *options))
    assert words in said and not re.search("(weight|source|target|header|names|decimal|format)=", said)


def test_lists_that_count_from_one_are_told_of(call, tmp_path: Path) -> None:
    (tmp_path / "g.edges").write_text("1 2\n2 3\n")
    done = command("components", tmp_path / "g.edges")
    assert done.stdout == "0\n1\n2\n3\n" and done.stderr.count("\n") == 1
    assert "vertex 0 has no edges: pass --compact to leave it out" in done.stderr
    given = call("components", "-", "--compact", stdin=b"1 2\n2 3\n")
    for answer in call("components", tmp_path / "g.edges", "--compact"), given:
        assert (answer.out, answer.err) == ("1\n2\n3\n", "")


def test_what_means_no_edge_in_a_matrix(call, tmp_path: Path) -> None:
    file = tmp_path / "m.csv"
    file.write_text(",A,B,C\nA,0,1,0\nB,0,0,1\nC,0,0,0\n")
    assert call("order", file).out.split() == ["A", "B", "C"]
    assert call("closure", file, "--algebra", "min-plus", "--from", "A", "--to", "C").out == "A\tC\t2\n"
    assert call("closure", file, "--algebra", "min-plus", "--from", "A", "--to", "C", "--absent", "nan").out == (
        "A\tC\t0\n")
    file.write_text("0 7 9\n9 0 7\n9 9 0\n")
    assert "could be 3 edges or a matrix of 3 vertices: pass --no-header for edges" in refused(call("components", file))
    two = ("--algebra", "min-plus", "--from", "0", "--to", "2")
    assert call("closure", file, "--absent", "9", *two).out == "0\t2\t14\n"
    assert "holds a list of edges, and --absent is for matrices that write every entry: leave it out" in refused(
        call("components", file, "--absent", "0", "--no-header"))
    file = tmp_path / "g.gml"
    file.write_text('graph [ directed 1 node [ id 4 label "x" ] node [ id 9 label "x" ] edge [ source 4 target 9 ] ]')
    assert "pass --label id to use ids as names" in refused(call("order", file))
    assert call("order", file, "--label", "id").out.split() == ["4", "9"]
    assert "--label has no meaning in the format csv, only in gml, pajek: leave it out" in refused(
        call("order", tmp_path / "m.csv", "--label", "id"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_standard_input_may_be_packed(call, pack: Any) -> None:
    ends = "--algebra", "min-plus", "--from", "a", "--to", "c"
    for data, more in ((b"a,b,1\nb,c,2\n", []), (b",a,b,c\na,,1,\nb,,,2\nc,,,\n", ["--format", "csv"])):
        answer = call("closure", "-", *ends, *more, stdin=pack(data))
        assert float(answer.out.split()[2]) == 3.0, answer.err
