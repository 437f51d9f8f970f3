"""Labelled tables of a matrix: as people and other programs write them, and what is said of bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from files.reading import listed, read, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files.tables import is_table, parse_table
from semiring.files.text import Options


def test_what_pandas_writes(tmp_path):
    frame = pd.DataFrame([[np.nan, 2.5, 0.0], [1.0, np.nan, np.inf], [np.nan] * 3], index=["a", "007", "c"],
                         columns=["a", "007", "c"])
    frame.to_csv(tmp_path / "m.csv")
    graph = sr.read_graph(tmp_path / "m.csv")
    assert graph.names == ["a", "007", "c"]
    assert listed(graph) == [("a", "007", 2.5), ("a", "c", 0.0), ("007", "a", 1.0), ("007", "c", np.inf)]
    frame.to_csv(tmp_path / "m.tsv.gz", sep="\t")
    assert listed(sr.read_graph(tmp_path / "m.tsv.gz")) == listed(graph)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (",0,1\n0,,5\n1,,\n", None),
        (',"0","1"\n"0",,5\n"1",,\n', ["0", "1"]),
        (",1,0\n1,,5\n0,,\n", [1, 0]),
        (",0,1\n1,,5\n0,,\n", [1, 0]),
        (",7,007\n7,,5\n007,,\n", ["7", "007"]),
        (",1e5,nan\n1e5,,5\nnan,,\n", ["1e5", "nan"]),
        (',"a ",b\n"a ",,5\n b ,,\n', ["a ", "b"]),
        (',7,"a"\n7,,5\n"a",,\n', [7, "a"]),
        (',,b\n"",,5\nb,,\n', ["", "b"]),
        (f",{2**70},1\n{2**70},,5\n1,,\n", [2**70, 1]),
        ("# roads\n\n,a,b\n# more\na,,5\n\nb,,\n", ["a", "b"]),
        ("\ufeff,a,b\r\na,,5\r\nb,,\r\n", ["a", "b"]),
        ('"";a;"two\nlines"\na;;5\n"two\nlines";;\n', ["a", "two\nlines"]),
        (', "x,y",b\n "x,y",,5\nb,,\n', ["x,y", "b"]),
    ],
)
def test_names(tmp_path, text, names):
    graph = read(tmp_path, "m.csv", text)
    assert graph.names == names
    a, b = (0, 1) if names is None else names
    if not text.startswith(",0,1\n1"):
        assert listed(graph) == [(a, b, 5)]
    told = read(tmp_path, "m.csv", text, names=str)
    assert told.names == ["0", "1"] if names is None else list(map(str, names))


def test_columns_in_another_order_than_the_rows(tmp_path):
    assert listed(read(tmp_path, "m.csv", ",b,a\na,1,2\nb,3,4\n")) == [("a", "b", 1), ("a", "a", 2), ("b", "b", 3),
                                                                      ("b", "a", 4)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",a,b\na,1\nb,,\n", "m.csv, line 2: found 2 fields, expected 3, as in line 1"),
        (",a,b\na,1,\nb,,x\n", "line 3, field 3: found 'x', expected a number, a tuple of numbers for a record, or"),
        (",a\na,nan\n", "m.csv, line 2, field 2: found 'nan', expected a number"),
        (",a\na,1e400\n", "m.csv, line 2, field 2: found '1e400'"),
        (",a\na,1_0\n", "m.csv, line 2, field 2: found '1_0'"),
        (',a\na,"(1, 2"\n', "m.csv, line 2, field 2: found '(1, 2'"),
        *[(f',a\na,"{cell}"\n', "m.csv, line 2, field 2: found")
          for cell in ("(1)", "(1inf,2)", "(1 if 1 else 2,)", "(nan,1)", "()()", "(1;2)", "[1,2]", "(0x1F,1)")],
        (f",a\na,{'9' * 5000}\n", "m.csv, line 2, field 2: found '999"),
        (f',a\na,"{"(" * 3000}{")" * 900}"\n', "m.csv, line 2, field 2: found '((("),
        (",a,b,a\n", "line 1, field 4: found 'a' again, which field 2 is called too, expected columns that all differ"),
        (",a,b\na,,\nb,,\n\na,,\n", "line 5: found 'a' again, which line 2 is called too, expected rows that all"),
        (",a,b\na,,\nc,,\n", "m.csv, line 1, field 3: found the column 'b', expected a row of the same vertex"),
        (",a\na,\nc,\n", "m.csv, line 3: found the row 'c', expected a column of the same vertex"),
        (',a\na,"x\n', "m.csv, line 2: found unexpected end of data, expected fields quoted"),
        (',a\na,"x"y\n', "m.csv, line 2: found ',' expected after '\"', expected fields quoted"),
    ],
)
def test_tables_that_are_none(tmp_path, text, message):
    with refused(message):
        read(tmp_path, "m.csv", text)


def test_options(tmp_path):
    text = ",a,b\na,,5\nb,,\n"
    assert read(tmp_path, "m.csv", text, weight=None).weights is None
    assert not read(tmp_path, "m.csv", text, directed=False).directed
    with refused("m.csv is a table of a matrix, which has no column called 'km': leave weight= out"):
        read(tmp_path, "m.csv", text, weight="km")
    with refused("found an empty first field"):
        read(tmp_path, "m.csv", text, header=False)
    assert not is_table("", Options()) and not is_table("\n\t \n1 2\n", Options()) and is_table("\t1\n", Options())


def test_cells(tmp_path):
    graph = read(tmp_path, "m.csv", ',a,b\na,"(1.5, [2, -inf])",\nb,"(inf, [1, 2])",\n')
    assert graph.weights.tolist() == [(1.5, [2, -np.inf]), (np.inf, [1, 2])]
    assert read(tmp_path, "m.csv", ",a\na,(1-2j)\n").weights.tolist() == [1 - 2j]
    large = read(tmp_path, "m.csv", f",a,b\na,{2**60 + 1},0.5\nb,,\n")
    assert large.weights.tolist() == [2**60 + 1, 0.5]
    with refused("b.csv, line 2, field 2: found 'x'"):
        sr.read_matrix(_file(tmp_path, "b.csv", ",a\na,x\n"), sr.min_plus)


def _file(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@settings(max_examples=300)
@given(st.text(alphabet=',;\t"a0 1\n\r#%(e.)', max_size=30))
def test_any_text_is_a_table_or_refused(text):
    if is_table(text, Options()):
        try:
            cells = parse_table(Path("m.csv"), text, Options())
        except sr.GraphError as e:
            assert "m.csv, line" in str(e)
        else:
            assert cells.names is None or len(cells.names) == cells.n
            assert len(cells.sources) == len(cells.targets) == len(cells.values)
