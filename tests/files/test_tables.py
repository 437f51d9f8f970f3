"""Labelled tables of a matrix: as people and other programs write them, and what is said of bad ones."""

from __future__ import annotations

import gzip
import re
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from files.reading import listed, read, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files.format import Options
from semiring.files.tables import form_of, parse_table


def test_what_pandas_writes(tmp_path):
    frame = pd.DataFrame([[np.nan, 2.5, 0.0], [1.0, np.nan, np.inf], [np.nan] * 3], index=["a", "007", "c"],
                         columns=["a", "007", "c"])
    frame.to_csv(tmp_path / "m.csv")
    graph = sr.read_graph(tmp_path / "m.csv")
    assert graph.names == ["a", "007", "c"]
    assert listed(sr.read_graph(tmp_path / "m.csv", absent=np.nan)) == listed(graph)
    assert listed(graph) == [("a", "007", 2.5), ("a", "c", 0.0), ("007", "a", 1.0), ("007", "c", np.inf)]
    frame.to_csv(tmp_path / "m.tsv.gz", sep="\t")
    assert listed(sr.read_graph(tmp_path / "m.tsv.gz", absent=float("nan"))) == listed(graph)
    assert listed(sr.read_graph(tmp_path / "m.tsv.gz", absent=0)) == [e for e in listed(graph) if e[2]]


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
        (",a,b,a\n", "line 1, field 4: found 'a' again, as in field 2, expected columns with different names"),
        (",a,b\na,,\nb,,\n\na,,\n", "line 5: found 'a' again, as in line 2, expected rows with different names"),
        (",a,b\na,,\nc,,\n", "m.csv, line 1, field 3: found the column 'b', expected a row of the same vertex"),
        (",a\na,\nc,\n", "m.csv, line 3: found the row 'c', expected a column of the same vertex"),
        (',a\na,"x\n', "m.csv, line 2: found unexpected end of data, expected fields that are in quotation marks"),
        (',a\na,"x"y\n', "m.csv, line 2: found ',' expected after '\"', expected fields that are in quotation marks"),
    ],
)
def test_tables_that_are_none(tmp_path, text, message):
    with refused(message):
        read(tmp_path, "m.csv", text)


def test_options(tmp_path):
    text = ",a,b\na,,5\nb,,\n"
    assert read(tmp_path, "m.csv", text, weight=None).weights is None
    assert not read(tmp_path, "m.csv", text, directed=False).directed
    with refused("m.csv is the table of a matrix and has no column of weights 'km': leave weight= out"):
        read(tmp_path, "m.csv", text, weight="km")
    with refused("found an empty first field"):
        read(tmp_path, "m.csv", text, header=False)
    assert not form_of("", Options()) and form_of("\t1\n", Options())


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
    form = form_of(text, Options())
    if form is not None and form.labelled:
        try:
            cells = parse_table(Path("m.csv"), text, form, Options())
        except sr.GraphError as e:
            assert "m.csv, line" in str(e)
        else:
            assert cells.names is None or len(cells.names) == cells.n
            assert len(cells.sources) == len(cells.targets) == len(cells.values)


# What 0 means: of an adjacency matrix no edge, in a table with empty cells a weight


PATTERN = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]])
LETTERS = list("KLMN")
TABLES = {
    "pandas.csv": lambda A: pd.DataFrame(A, LETTERS, LETTERS).to_csv(),
    "named.csv": lambda A: pd.DataFrame(A, pd.Index(LETTERS, name="place"), LETTERS).to_csv(),
    "semicolons.csv": lambda A: pd.DataFrame(A, LETTERS, LETTERS).to_csv(sep=";"),
    "tabs.tsv": lambda A: pd.DataFrame(A, LETTERS, LETTERS).to_csv(sep="\t"),
    "floats.txt": lambda A: pd.DataFrame(A.astype(float), LETTERS, LETTERS).to_csv(sep="\t"),
    "truth.csv": lambda A: pd.DataFrame(A > 0, LETTERS, LETTERS).to_csv(),
    "polars.csv": lambda A: pd.DataFrame(A, pd.Index(LETTERS, name="from"), LETTERS).to_csv(),
    "networkx.csv": lambda A: nx.to_pandas_adjacency(
        nx.from_numpy_array(A, create_using=nx.DiGraph, nodelist=LETTERS)).to_csv(),
    "r.csv": lambda A: "\n".join(
        ['"","K","L","M","N"', *(f'"{u}",{",".join(map(str, row))}' for u, row in zip(LETTERS, A, strict=True)), ""]),
    "r.txt": lambda A: "\n".join(
        ['"K" "L" "M" "N"', *(f'"{u}" {" ".join(map(str, row))}' for u, row in zip(LETTERS, A, strict=True)), ""]),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("weight", [1, 7])
def test_0_in_a_full_table_is_no_edge(tmp_path, name, weight):
    file = _file(tmp_path, name, TABLES[name](PATTERN * weight))
    graph = sr.read_graph(file)
    assert sorted((u, v) for u, v, *_ in graph.edges()) == [("K", "L"), ("L", "M"), ("N", "K")]
    for M in (sr.read_matrix(file, "boolean"), sr.read_matrix(file, "boolean", absent=0)):
        assert M.names == LETTERS and np.array_equal(M.array, PATTERN != 0)
    if name != "truth.csv":
        assert np.array_equal(sr.read_matrix(file, "plus-times").array, PATTERN * weight)
        with pytest.warns(sr.SemiringWarning, match="holds 0 off its diagonal, 9 times, .* inf means no edge"):
            M = sr.read_matrix(file, "min-plus")
        assert np.array_equal(M.array, PATTERN * weight)
        assert np.array_equal(sr.read_matrix(file, "min-plus", absent=float("nan")).array, M.array)
        assert (sr.read_matrix(file, "min-plus", absent=0) == sr.adjacency(graph, sr.min_plus)).all()
        assert len(sr.read_graph(file, absent=float("nan"))) == 16 and len(sr.read_graph(file, absent=weight)) == 13


def test_0_where_other_marks_mean_no_edge(tmp_path):
    A = np.array([[0.0, 1, np.inf], [np.inf, 0, 1], [1, np.inf, 0]])
    distances = pd.DataFrame(A, list("abc"), list("abc"))
    distances.to_csv(tmp_path / "d.csv")
    assert len(sr.read_graph(tmp_path / "d.csv")) == 6  # with 0 on the diagonal, which is the distance there
    assert np.array_equal(sr.read_matrix(tmp_path / "d.csv", "min-plus").array, A)
    assert np.array_equal(sr.read_matrix(tmp_path / "d.csv", "boolean").array, np.isfinite(A))
    distances.loc["a", "b"] = 0
    distances.to_csv(tmp_path / "d.csv")
    with pytest.warns(sr.SemiringWarning, match="holds 0 and ±∞, and both were read as no edge"):
        assert len(sr.read_graph(tmp_path / "d.csv")) == 2
    assert len(sr.read_graph(tmp_path / "d.csv", absent=np.inf)) == 6
    for text, count, message in (
        (",a,b\na,,0\nb,1,\n", 1, "0, which was read as no edge"),  # nothing is empty but the diagonal
        (",a,b,c\na,0,1,\nb,0,0,1\nc,,,0\n", 6, "0, which was read as an edge of weight 0"),
    ):
        with pytest.warns(sr.SemiringWarning, match=message):
            assert len(read(tmp_path, "m.csv", text)) == count
    assert len(read(tmp_path, "m.csv", text, absent=0)) == 2
    assert len(read(tmp_path, "m.csv", text, absent=float("nan"))) == 6
    assert len(read(tmp_path, "m.csv", ",a,b,c\na,0,5,\nb,0,0,1\nc,,,0\n")) == 6  # weights


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
@pytest.mark.parametrize("array", [[[0.0, 0], [3, 0]], [[0.0, 1], [1, 0]], [[np.inf, 0], [0, 2]],
                                   [[1.0, 0], [-np.inf, 1]], [[0, 1, np.inf], [0, 1, 1], [1, np.inf, 0]]])
def test_a_table_whose_0_is_a_weight_says_so(tmp_path, ending, array):
    M = sr.Matrix(np.array(array), sr.min_plus, list("abc")[: len(array)])
    file = tmp_path / f"m{ending}"
    sr.write_matrix(file, M)
    assert np.array_equal(sr.read_matrix(file, "min-plus").array, M.array)
    assert len(sr.read_graph(file)) == np.isfinite(M.array).sum() + (M.array == -np.inf).sum()
    assert np.array_equal(sr.read_matrix(file, "boolean").array, M.array != np.inf)


def test_frames_without_an_index_as_tables(tmp_path):
    pl = pytest.importorskip("polars")
    for names in (["a"], ["a", "b"], [5, 7, 9]):
        n = len(names)
        C = sr.closure(sr.Matrix(np.arange(1.0, n * n + 1).reshape(n, n), sr.min_plus, names), sr.min_plus)
        C.to_frame(long=False, library="polars").write_csv(tmp_path / "c.csv")
        again = sr.read_matrix(tmp_path / "c.csv", "min-plus", dtype=float)
        assert again.names == names and np.array_equal(again.array, C.array)
    assert pl is not None


# Matrices of plain numbers


SAVED = {
    "as it is": {}, "%d": {"fmt": "%d"}, "%.1f": {"fmt": "%.1f"}, "%g": {"fmt": "%g"}, "commas": {"delimiter": ","},
    "semicolons": {"delimiter": ";", "fmt": "%g"}, "tabs": {"delimiter": "\t", "fmt": "%d"},
    "blanks": {"fmt": "%10.3f"}, "a comment": {"header": "some text, of 3 words", "fmt": "%d"},
}


@pytest.mark.parametrize("how", SAVED)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("ending", [".txt", ".csv", ".csv.gz", ".tsv", ".dat"])
def test_what_numpy_saves(tmp_path, how, n, ending):
    A = np.round(np.random.default_rng(n).random((n, n)) * 9)
    A[0, n - 1] = 0
    A[n // 2, 0] = -3 if n % 2 else 5
    file = tmp_path / f"m{ending}"
    np.savetxt(file, A, **SAVED[how])
    told = {"format": "csv"} if ending == ".dat" else {}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        M = sr.read_matrix(file, "plus-times", **told)
    assert np.array_equal(M.array, A) and M.names is None
    could_be_edges = n > 1 and all(row.split()[:2] == [str(int(x)) for x in A[i, :2]] and (A[i, :2] >= 0).all()
                                   for i, row in enumerate(_plain_rows(file)))
    assert len(heard) == could_be_edges and all("could be" in str(w.message) for w in heard)
    if could_be_edges:
        with refused(f"could be {n} edges or a matrix of {n} vertices: pass header=False"):
            sr.read_graph(file, **told)
        if n == 3:
            assert len(sr.read_graph(file, header=False, **told)) == n
    else:
        assert len(sr.read_graph(file, **told)) == (A != 0).sum()
    assert len(sr.read_graph(file, absent=0, **told)) == (A != 0).sum()
    assert len(sr.read_graph(file, absent=5, **told)) == (A != 5).sum()


def _plain_rows(file):
    text = (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()).decode()
    return [re.sub("[,;\t]", " ", line) for line in text.splitlines() if not line.startswith("#")]


def test_matrices_of_plain_numbers_of_others(tmp_path):
    ones = "0 1 0 1\n1 0 1 0\n0 1 0 1\n1 0 1 0\n"  # four edges would be 0–1 and 1–0 twice
    assert len(read(tmp_path, "m.txt", ones)) == 8
    assert not read(tmp_path, "m.txt", ones, directed=False).directed
    # below a line of names, as a frame without its index
    frame = pd.DataFrame([[0.0, 2.5], [1.5, 0.0]], columns=["Ayr", "Bute"])
    frame.to_csv(tmp_path / "m.csv", index=False)
    assert listed(sr.read_graph(tmp_path / "m.csv")) == [("Ayr", "Bute", 2.5), ("Bute", "Ayr", 1.5)]
    assert sr.read_matrix(tmp_path / "m.csv", "plus-times").names == ["Ayr", "Bute"]
    with refused("could be 3 edges or a matrix of 3 vertices: pass header=True for edges"):
        read(tmp_path, "m.csv", "a,b,c\n0,1,5\n1,2,4\n2,0,3\n")
    for header in ("from,to,km", "u,v,weight", "a,b,distance"):  # of edges
        assert len(read(tmp_path, "m.csv", f"{header}\n0,1,5\n1,2,4\n2,0,3\n")) == 3
    # infinite and missing entries, as in an array
    assert len(read(tmp_path, "m.txt", "nan 2.5\ninf nan\n")) == 1
    with pytest.warns(sr.SemiringWarning, match="holds 0, as at"):
        read(tmp_path, "m.txt", "0 0.0 1.5\ninf 0 2\n2 1 0\n")
    with refused("m.txt: entry (0, 0): the element is NaN"):
        sr.read_matrix(_file(tmp_path, "m.txt", "nan 2.5\n1 nan\n"), "min-plus")
    assert np.array_equal(sr.read_matrix(_file(tmp_path, "m.txt", "0 .5\n2 0\n"), "boolean").array, [[0, 1], [1, 0]])
    for name, text, options in (("m.edges", "0 1\n1 2\n", {}), ("m.txt", "0 1\n1 2\n", {"format": "edges"}),
                                ("m.txt", "0 1\n1 2\n", {"header": False}), ("m.txt", "% sym\n0 1\n1 2\n", {}),
                                ("m.txt", "0 1 4\n1 2 4\n0 2 4\n", {"weight": 2}), ("m.csv", "0,1,9\n1,2,8\n", {})):
        assert read(tmp_path, name, text, **options).n == 3
    with refused("m.csv holds a list of edges, and absent= is for matrices that write every entry: leave it out"):
        read(tmp_path, "m.csv", "0,1,9\n1,2,8\n", absent=0)


def test_a_matrix_without_names_as_r_writes_it(tmp_path):
    for letter in "VX":
        text = f'"","{letter}1","{letter}2"\n"1",0,5\n"2",0,0\n'
        assert listed(read(tmp_path, "m.csv", text)) == [("1", "2", 5)]
        assert listed(read(tmp_path, "m.csv", text.replace('"', ""))) == [(1, 2, 5)]
    with refused("found the column 'V1', expected a row of the same vertex"):
        read(tmp_path, "m.csv", ",V1,V3\n1,0,5\n2,0,0\n")
