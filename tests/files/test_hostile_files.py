"""Files that are damaged, or made to do harm: only `SemiringError` and `OSError` come out, and nothing is misread."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import re
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import file_oracle
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files import archives as archive_readers
from semiring.files import matrix_market as mtx_readers
from semiring.files import numerals, streams
from semiring.files import text as text_readers
from semiring.files.text import Options
from semiring.machine import memory

FUZZER = Path(__file__).parents[1] / "fuzz" / "files.py"
INF = np.inf
ESCAPE = "\x1b]0;title\x07\x1b[2J"
COORDINATE = "%%MatrixMarket matrix coordinate {} {}\n"


def refused(message: str, error: type[Exception] = sr.GraphError) -> pytest.RaisesExc:
    return pytest.raises(error, match=re.escape(message))


def read(folder: Path, name: str, data: str | bytes, **options: Any) -> sr.Graph:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return sr.read_graph(path, **options)


def listed(graph: sr.Graph) -> list[tuple]:
    name = int if graph.names is None else graph.names.__getitem__
    weights = [None] * len(graph) if graph.weights is None else graph.weights.tolist()
    return [(name(a), name(b), w) for a, b, w in zip(graph.sources, graph.targets, weights, strict=True)]


def child(code: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess:
    """Code in a process of its own, which may be killed by what it does."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


# Mutated files


@pytest.mark.parametrize("seed", [1, 2])
def test_mutated_files_of_every_format(seed: int) -> None:
    command = [sys.executable, FUZZER, "--count", "150", "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"1200 files, 0 faults, seed {seed}\n")


def test_the_fuzzer_finds_a_misreading_a_raw_exception_an_abort_and_a_hang() -> None:
    done = subprocess.run([sys.executable, FUZZER, "--self-check"], capture_output=True, text=True)
    assert done.stdout.split() == "misread: found raw: found abort: found hang: found".split(), (
        done.stdout + done.stderr
    )
    assert done.returncode == 0


# Texts. Both readers, on characters that are digits to Unicode, to C, or to nobody

FIELD = st.one_of(
    st.integers(-2, 12).map(str),
    st.sampled_from(
        ["07", "+3", "-0", "1.5", "nan", "9" * 20, "1_0", "0x1F", "8.5abc", "1e400", '"3"', "", " 4 ", "7\t"]
    ),
    st.text(alphabet="0123456789.eE+-", min_size=1, max_size=4),
    st.text(alphabet="0١१１³Ⅷ木🎉½é\u00a0\u2028\x1c\x85\ufeff12", min_size=1, max_size=3),
)


@settings(max_examples=600, deadline=None)
@given(
    rows=st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=4),
    width=st.integers(2, 3),
    mark=st.sampled_from([",", " ", "\t", ";"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    long=st.booleans(),
)
def test_the_fast_reader_and_the_careful_one_agree_on_any_characters(rows, width, mark, end, long):
    text = end.join([mark.join(row[:width]) for row in rows] * (300 if long else 1)) + end
    try:
        layout = text_readers._layout(Path("g.csv"), text, Options())
    except sr.GraphError:
        return
    fast = text_readers._fast_columns(text, layout)
    if fast is not None:
        careful = text_readers._careful_columns(Path("g.csv"), text, layout, Options())
        assert [c.tolist() for c in fast] == [c.tolist() for c in careful]
        assert [c.dtype for c in fast] == [c.dtype for c in careful]


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 4).map(str), st.integers(0, 4).map(str), FIELD), min_size=1, max_size=4),
    field=st.sampled_from(["real", "integer", "complex", "pattern"]),
    long=st.booleans(),
)
def test_both_readers_of_matrix_market_agree(rows, field, long):
    rows = rows * (300 if long else 1)
    words = {"complex": 4, "pattern": 2}.get(field, 3)
    body = "\n".join(" ".join((*row, row[2])[:words]) for row in rows)
    text = COORDINATE.format(field, "general") + f"4 4 {len(rows)}\n{body}\n"
    head = mtx_readers._head(Path("g.mtx"), text)
    fast = mtx_readers._fast_entries(text, head)
    if fast is not None:
        careful = mtx_readers._careful_entries(Path("g.mtx"), text, head)
        for one, other in zip(fast, careful, strict=True):
            assert one.dtype == other.dtype and np.array_equal(one, other)


@settings(max_examples=500, deadline=None)
@given(text=st.text(alphabet="0123+-.eE,; \t\n\r", max_size=14), block=st.sampled_from([1, 3, 5, 1 << 16]))
def test_other_spellings_are_found_across_blocks(text, block):
    other = re.search(r"(?:^|(?<=[ \t\r\n,;]))(?:\+|0[0-9]|-0(?:[ \t\r\n,;0-9+-]|$))", text)
    kept, numerals.BLOCK = numerals.BLOCK, block
    try:
        assert numerals._is_plain(text.encode(), True) is (other is None)
        assert numerals._is_plain(text.encode(), False)
        assert not numerals._is_plain(text.encode() + b"\x1c", False)
    finally:
        numerals.BLOCK = kept


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("odd", ["", "007,1,2", "1,2,-0", "1,-0,2", "1,2,3,", "1,2,٣", "1,2,1e400", '1,2,"3"', "1,2"])
def test_large_tables_are_read_as_small_ones(end, odd):
    rows = [f"{k},{k * 7 % 1000},{k / 8}" for k in range(70_000)]
    rows.insert(50_000, odd)
    text = end.join(rows) + end
    assert len(text) > numerals.LARGE
    layout = text_readers._layout(Path("g.csv"), text, Options())
    fast = text_readers._fast_columns(text, layout)
    if odd:
        assert fast is None
    else:
        careful = text_readers._careful_columns(Path("g.csv"), text, layout, Options())
        assert [c.tolist() for c in fast] == [c.tolist() for c in careful]


@pytest.mark.parametrize("name", ["木", "火", "東", "ग", "1🎉", "١", "１", "1\u00a0", "\ufeff1"])
def test_letters_that_are_digits_somewhere_are_names(tmp_path, name):
    for rows in (1, 500):
        graph = read(tmp_path, "g.csv", f"b,{name},5\n{name},b,7\n" * rows)
        assert graph.names == ["b", name] and graph.weights.tolist() == [5, 7] * rows
    with refused("found the weight '7★', expected a number"):
        read(tmp_path, "g.csv", "0,1,5\n1,0,7★\n")
    with refused("found the weight '٣', expected a number"):
        read(tmp_path, "g.csv", "0,1,5\n1,0,٣\n")


def test_names_that_look_like_numbers_stay_names(tmp_path):
    assert read(tmp_path, "a.csv", "007,7,1\n7,8,2\n").names == ["007", "7", "8"]
    assert read(tmp_path, "b.csv", "+3,4\n4,5\n").names == ["+3", "4", "5"]
    assert read(tmp_path, "c.csv", "1,-0\n").names == ["1", "-0"]
    assert read(tmp_path, "d.csv", "0,1,007\n1,0,+2.5\n").weights.tolist() == [7.0, 2.5]
    assert read(tmp_path, "e.csv", "0,1,-0.5\n").names is None
    assert read(tmp_path, "f.csv", "1,2,3\n", names=str).names == ["1", "2"]
    graph = read(tmp_path, "g.graphml", GRAPHML.format('<node id="3"/><node id="4"/>'), names=str)
    assert graph.names == ["3", "4"]
    assert read(tmp_path, "g.graphml", GRAPHML.format('<node id="03"/><node id="4"/>')).names == ["03", "4"]
    with refused("g.gr: names=str is for lists of edges and GraphML; in gr vertices are numbers"):
        read(tmp_path, "g.gr", "p sp 1 0\n", names=str)
    with refused("names=<class 'int'>: pass names=str to read all vertices as names"):
        sr.read_graph(tmp_path / "a.csv", names=int)


def test_what_the_first_line_is_taken_for(tmp_path):
    doubtful = "Site A,Site B\nAyr,Bute\nBute,Coll\n"
    (tmp_path / "g.csv").write_text(doubtful)
    with pytest.warns(sr.SemiringWarning, match="line 1: .*'Site A', 'Site B'.* is taken for an edge, .* header=True"):
        assert len(sr.read_graph(tmp_path / "g.csv")) == 3
    assert listed(sr.read_graph(tmp_path / "g.csv", header=True)) == [("Ayr", "Bute", None), ("Bute", "Coll", None)]
    assert len(sr.read_graph(tmp_path / "g.csv", header=False)) == 3
    (tmp_path / "h.txt").write_text("u v\nv w\n")
    with pytest.warns(sr.SemiringWarning, match="is taken for names of columns, and line 2 has a vertex 'v'"):
        assert listed(sr.read_graph(tmp_path / "h.txt")) == [("v", "w", None)]
    assert len(sr.read_graph(tmp_path / "h.txt", header=False)) == 2
    assert listed(read(tmp_path, "i.csv", "7,8,9\n1,2,3\n", header=True)) == [(1, 2, 3)]
    assert listed(read(tmp_path, "j.csv", "from,to\n", header=False)) == [("from", "to", None)]
    with refused("k.mtx: header= is for lists of edges (csv, tsv, edges), not for mtx"):
        read(tmp_path, "k.mtx", "x", header=True)


def test_the_place_of_a_warning_is_the_caller(tmp_path):
    (tmp_path / "h.txt").write_text("u v\nv w\n")
    with pytest.warns(sr.SemiringWarning) as caught:
        sr.read_graph(tmp_path / "h.txt")
    assert caught[0].filename == __file__


def test_a_column_of_weights_is_no_end(tmp_path):
    with refused(
        "g.csv, line 1: of the columns ['node', 'weight'] one is the weight, and one is left for the two ends"
    ):
        read(tmp_path, "g.csv", "node,weight\n0,7\n1,9\n")
    with refused("one is left for the two ends"):
        read(tmp_path, "g.csv", "node,Weight\n0,7\n1,9\n", weight=None)
    with refused("the column 'to' holds an end of the edges, not their weights"):
        read(tmp_path, "g.csv", "from,to,km\n0,7,1\n", weight="to")
    assert listed(read(tmp_path, "g.csv", "weight,a,b\n5,0,1\n")) == [(0, 1, 5)]
    assert listed(read(tmp_path, "g.csv", "5,0,1\n", weight=0)) == [(0, 1, 5)]
    with refused("one is left for the two ends"):
        read(tmp_path, "g.csv", "0,1\n", weight=1)


def test_quotations_over_lines_hold_no_comments(tmp_path):
    graph = read(tmp_path, "g.csv", '"a\n#b",c,1\r\n# remark\nc,d,2\n')
    assert graph.names == ["a\n#b", "c", "d"]
    graph = read(tmp_path, "h.csv", '"from","to\nwhere",km\nc,d,2\n', header=True)
    assert listed(graph) == [("c", "d", 2)]


def test_texts_that_are_no_text(tmp_path):
    with refused("g.csv, line 2: found a NUL character, expected text"):
        read(tmp_path, "g.csv", b"0,1\n0,\0\n")
    with refused("is not UTF-8 text (invalid start byte in line 1); it begins like UTF-16: save it as UTF-8"):
        read(tmp_path, "g.csv", "a,b\n".encode("utf-16"))
    with refused("g.csv, line 1: found the weight 'xxxx") as caught:
        read(tmp_path, "g.csv", f"a,b,{'x' * 10**5}\n", header=False)
    assert len(str(caught.value)) < 1000
    with refused("found vertex '99"):
        read(tmp_path, "g.gr", f"p sp 2 1\na 1 {'9' * 6000} 1\n")
    with refused("found the weight '1e400', expected a number that 64 bits hold"):
        read(tmp_path, "g.csv", "0,1,1e400\n")


# Matrix Market


@pytest.mark.parametrize(
    "text",
    [
        COORDINATE.format("real", "general") + "9 9 20\n" + "1 1 5\n" * 20,
        "%%MatrixMarket matrix array real general\n%" + "x" * 300 + "\n3 3\n9.161+2j2221773003\n3   ",
        COORDINATE.format("real", "general") + "%" + "x" * 300 + "\n3 3 2\n1 1 5\n2 2 ",
        COORDINATE.format("real", "general") + "%" + "x" * 2000 + "\n3 3 2\n1 1 5\n2 2\n\n\n",
        "%%MatrixMarket matrix array real symmetric\n9999999 9999999\n1\n",
        COORDINATE.format("real", "general") + "9223372036854775807 9223372036854775807 9223372036854775807\n1 1 1\n",
    ],
)
def test_matrix_market_ends_no_process(tmp_path, text):
    (tmp_path / "g.mtx").write_text(text)
    code = (
        "import sys, semiring as sr\ntry: print(sr.read_graph(sys.argv[1]))\nexcept sr.GraphError as e: print('no', e)"
    )
    done = child(
        code,
        tmp_path / "g.mtx",
    )
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("Graph(9 vertices, 20 edges" if "9 9 20" in text else "no")


@pytest.mark.parametrize(
    ("field", "word"),
    [
        ("real", "3,5"),
        ("real", "1,000.25"),
        ("integer", "0x1F"),
        ("real", "8.5abc"),
        ("real", "0.41.507"),
        ("real", "1d3"),
        ("integer", "2.0"),
        ("integer", "1e3"),
        ("real", "1e400"),
        ("real", "nan"),
        ("integer", str(2**64)),
        ("real", "٣"),
        ("unsigned-integer", "-1"),
        ("real", "1_0"),
        ("real", ""),
        ("real", "1 2"),
        ("complex", "1"),
        ("pattern", "1"),
    ],
)
@pytest.mark.parametrize("rows", [1, 300])
def test_matrix_market_numbers_are_read_whole_or_not_at_all(tmp_path, field, word, rows):
    good = {"complex": "1 2", "pattern": ""}.get(field, "1")
    lines = [f"1 2 {good}"] * rows + [f"2 1 {word}"]
    with refused(f"g.mtx, line {rows + 3}: found"):
        read(tmp_path, "g.mtx", COORDINATE.format(field, "general") + f"2 2 {rows + 1}\n" + "\n".join(lines) + "\n")


def test_matrix_market_of_every_field_and_symmetry(tmp_path):
    def of(kind: str, body: str, **options: Any) -> tuple:
        graph = read(tmp_path, "g.mtx", f"%%MatrixMarket matrix {kind}\n% remark\n\n{body}\n", **options)
        return sorted(listed(graph), key=repr), graph.directed

    assert of("coordinate complex general", "2 2 1\n1 2 1.5 -2") == ([(0, 1, 1.5 - 2j)], True)
    assert of("coordinate integer skew-symmetric", "2 2 1\n2 1 3") == ([(0, 1, -3), (1, 0, 3)], True)
    assert of("coordinate complex hermitian", "2 2 2\n1 1 1 0\n2 1 1 2")[0] == [
        (0, 0, 1),
        (0, 1, 1 - 2j),
        (1, 0, 1 + 2j),
    ]
    assert of("coordinate real symmetric", "2 2 2\n1 1 1\n1 2 inf") == ([(0, 0, 1), (0, 1, INF)], False)
    assert of("coordinate pattern symmetric", "2 2 1\n2 1") == ([(1, 0, None)], False)
    assert of("array real symmetric", "2 2\n1\n2\n0") == ([(0, 0, 1), (1, 0, 2)], False)
    assert of("array integer skew-symmetric", "3 3\n1\n2\n3")[0] == [
        (0, 1, -1),
        (0, 2, -2),
        (1, 0, 1),
        (1, 2, -3),
        (2, 0, 2),
        (2, 1, 3),
    ]
    assert of("array complex hermitian", "1 1\n1 0") == ([(0, 0, 1)], True)
    assert of("array real general", "2 2\n0\n1\n2\ninf") == ([(0, 1, 2), (1, 0, 1)], True)
    assert of("coordinate real general", "0 0 0") == ([], True)
    assert of("coordinate unsigned-integer general", f"1 1 1\n1 1 {2**64 - 1}") == ([(0, 0, 2**64 - 1)], True)
    assert of("COORDINATE Real GENERAL", "2 2 1\n%x\n1 2 5\n\n") == ([(0, 1, 5)], True)
    assert of("coordinate double general", "2 2 1\n1 2 5", weight=None) == ([(0, 1, None)], True)
    for kind, body, message in (
        ("coordinate real symmetric", "2 2 2\n1 2 1\n2 1 1", "both entry (2, 1) and entry (1, 2)"),
        ("coordinate real skew-symmetric", "2 2 1\n1 1 1", "entry (1, 1): a skew-symmetric matrix has nothing on its"),
        ("coordinate integer skew-symmetric", f"2 2 1\n2 1 {-(2**63)}", "one of them needs 65 bits"),
        ("coordinate integer general", f"2 2 2\n2 1 -1\n1 1 {2**63}", "no integers of 64 bits hold both"),
        ("coordinate real hermitian", "1 1 0", "found a hermitian matrix, expected complex numbers"),
        ("array pattern general", "1 1", "found a pattern, expected numbers"),
        ("coordinate real general", "2 2 1\n0 1 1", "line 5: found vertex '0', expected an integer from 1 to 2"),
        ("coordinate real general", "2 2 1\n1 3 1", "line 5: found vertex '3'"),
        ("coordinate real general", "2 2 1\n1 2 1\n1 1 1", "found a size of 1 entries, expected the 2"),
        ("coordinate real general", "2 2", "line 4: found '2 2', expected the numbers of rows and columns and entries"),
        ("coordinate real diagonal", "2 2 1\n1 2 1", "found 'diagonal', expected one of general, symmetric"),
        ("coordinate real general", "", "g.mtx ends before the line of its size"),
    ):
        with refused(message):
            of(kind, body)


def test_comments_of_matrix_market_are_in_any_encoding(tmp_path):
    text = COORDINATE.format("real", "general") + "% Ångström\n2 2 1\n1 2 5\n"
    assert listed(read(tmp_path, "g.mtx", text.encode("latin-1"))) == [(0, 1, 5)]


# Arrays


def archive(path: Path, **arrays: Any) -> Path:
    np.savez(path, **{name: np.asarray(array) for name, array in arrays.items()})
    return path


CSR = {"format": "csr", "shape": [2, 2], "data": [1.0], "indices": [0], "indptr": [0, 1, 1]}
ONE = {"row": [0], "col": [1]}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (CSR | {"indptr": [0, 999_999_999, 1]}, "the offsets in 'indptr' do not fit 1 indices of a 2 × 2 matrix"),
        (CSR | {"indptr": [0, -5, 1]}, "the offsets in 'indptr' do not fit"),
        (CSR | {"indptr": [1, 1, 1]}, "the offsets in 'indptr' do not fit"),
        (CSR | {"indptr": [0, 1]}, "the offsets in 'indptr' do not fit"),
        (CSR | {"indptr": [[0, 1, 1]]}, "the array 'indptr' has shape (1, 3) and dtype int64, expected 1-D integers"),
        (CSR | {"indptr": np.array([0, 2**63, 2**63], np.uint64)}, "the offsets in 'indptr' do not fit"),
        (CSR | {"indices": [9]}, "has column 9, and the matrix is 2 × 2"),
        (CSR | {"indices": [-1]}, "has column -1, and the matrix is 2 × 2"),
        (CSR | {"indices": [0.0]}, "the array 'indices' has shape (1,) and dtype float64, expected 1-D integers"),
        (
            CSR | {"data": ["x"]},
            "the array 'data' has shape (1,) and dtype <U1, expected 1-D integers or numbers or truth values",
        ),
        (CSR | {"shape": 5}, "the array 'shape' has shape () and dtype int64, expected 1-D integers"),
        (CSR | {"shape": [2, 3]}, "holds a matrix of shape (2, 3); a graph's is square"),
        (CSR | {"shape": [10**15, 10**15]}, "the offsets in 'indptr' do not fit"),
        (CSR | {"format": ["csr"]}, "its format is None"),
        (
            CSR | {"format": "bsr", "data": np.ones((1, 2, 2)), "indices": [2**62], "indptr": [0, 1]},
            "expected columns of blo",
        ),
        (
            CSR | {"format": "bsr", "data": np.ones((0, 10**12, 0)), "shape": [10**12] * 2, "indptr": [0, 0]},
            "its shape is",
        ),
        (
            {"format": "dia", "shape": [2, 2], "data": np.ones((1, 2)), "offsets": [2**62]},
            "expected diagonals of a 2 × 2",
        ),
        (
            {"format": "dia", "shape": [2, 2], "data": np.ones((2, 2)), "offsets": [0, 0]},
            "expected diagonals that differ",
        ),
        ({"format": "coo", "shape": [2, 2], "data": [1.0]}, "it has no array 'row'"),
        (
            {"format": "coo", "shape": [2, 2], "data": [1.0], "row": [0, 1], "col": [0]},
            "2 rows, 1 columns and 1 values",
        ),
        (ONE | {"n": [1, 2]}, "the array 'n' has shape (2,) and dtype int64, expected 0-D integers"),
        (ONE | {"n": "x"}, "the array 'n' has shape () and dtype <U1"),
        (ONE | {"n": -1}, "n = -1, and a graph has no negative number of vertices"),
        (ONE | {"n": 1}, "target vertex 1 is outside 0 to 0"),
        (ONE | {"shape": 5}, "the array 'shape' has shape ()"),
        (ONE | {"names": 3}, "the array 'names' has shape () and dtype int64, expected 1-D integers or texts"),
        (ONE | {"names": [0.5, 1.5]}, "the array 'names' has shape (2,) and dtype float64"),
        (ONE | {"names": ["a"]}, "target vertex 1 is outside 0 to 0"),
        (ONE | {"names": ["a", "a"]}, "two vertices are called 'a'"),
        (ONE | {"col": [[1]]}, "the array 'col' has shape (1, 1) and dtype int64, expected 1-D"),
        (ONE | {"col": [1 + 2j]}, "the array 'col' has shape (1,) and dtype complex128"),
        (ONE | {"col": np.array(["2020-01-01"], "M8[D]")}, "elements of datetime64[D] are neither numbers nor texts"),
        (ONE | {"data": ["x"]}, "the array 'data' has shape (1,) and dtype <U1"),
        (ONE | {"data": [1, 2]}, "1 sources, 1 targets, 2 weights"),
        (ONE | {"data": [np.nan]}, "the weight is NaN"),
        (
            {"matrix": np.zeros((2, 2)), "zero": np.zeros(3)},
            "what stands for no edge has shape (3,) and dtype float64; exp",
        ),
        ({"matrix": np.zeros((2, 2)), "zero": np.array("x")}, "what stands for no edge has shape () and dtype <U1"),
        ({"matrix": np.zeros((2, 2)), "names": ["a"]}, "1 names for 2 vertices"),
    ],
)
def test_archives_that_lie(tmp_path, arrays, message):
    with refused(message):
        sr.read_graph(archive(tmp_path / "g.npz", **arrays))


@pytest.mark.parametrize("format", ["coo", "csr", "csc", "bsr", "dia"])
def test_archives_of_scipy_in_every_format(tmp_path, format):
    chance = np.random.default_rng(5)
    for dtype in (float, bool, np.complex64):
        dense = chance.integers(0, 3, (6, 6)).astype(dtype)
        dense[:2, 4:] = 0
        matrix = sp.coo_array(dense).asformat(format)
        sp.save_npz(tmp_path / "g.npz", matrix)
        graph = sr.read_graph(tmp_path / "g.npz")
        expected = sorted(
            (int(i), int(j), None if dtype is bool else dense[i, j]) for i, j in zip(*dense.nonzero(), strict=True)
        )
        assert graph.n == 6 and sorted(listed(graph)) == expected


def raw_npy(header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    return b"\x93NUMPY" + version + len(header).to_bytes(2, "little") + header.encode("latin-1") + body


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, "), "its header is"),
        (raw_npy("(" * 9000), "nested too deeply"),
        (raw_npy("-" * 60_000 + "1"), "its header is"),
        (raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10**9,)}"), "its header is"),
        (
            raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"),
            "elements of float64 do not lie in",
        ),
        (raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"), "its shape is none"),
        (raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (True, 2)}"), "its shape is none"),
        (raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000000, 0)}"), "its shape is"),
        (raw_npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2)}", b"x" * 32), "neither numbers nor texts"),
        (raw_npy("{'descr': '>2f4', 'fortran_order': False, 'shape': (1, 2)}", b"x" * 16), "are arrays themselves"),
        (raw_npy("{'descr': '<f9', 'fortran_order': False, 'shape': (2, 2)}"), "its header is"),
        (raw_npy("{'descr': '<U0', 'fortran_order': False, 'shape': (2, 2)}"), "do not lie in"),
        (raw_npy("{'descr': '<f8', 'fortran_order': 1, 'shape': (2, 2)}"), "its order is none"),
        (raw_npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2)}", b"\1\0\7\1"), "neither 0 nor 1"),
        (
            raw_npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1, 2)}", b"\xff" * 8),
            "that Unicode does not have",
        ),
        (
            raw_npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1, 2)}", b"\0\xd8\0\0" * 2),
            "that Unicode does not have",
        ),
        (
            raw_npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2)}", b"\0" * 5),
            "is not a file of NumPy arrays",
        ),
        (
            raw_npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1, 2)}", b"\0" * 16),
            "vertices are complex numbers",
        ),
        (raw_npy("x", version=b"\x09\x00"), "its format is version 9.0"),
        (b"\x93NUMPY", "it does not begin with NumPy's mark"),
    ],
)
def test_headers_that_lie(tmp_path, data, message):
    with refused(message):
        read(tmp_path, "g.npy", data)


def test_arrays_of_other_orders(tmp_path):
    matrix = np.array([[0, 2.5], [1, 0]])
    for array in (matrix.astype(">f8"), np.asfortranarray(matrix), matrix.astype("f2")):
        np.save(tmp_path / "g.npy", array)
        graph = sr.read_graph(tmp_path / "g.npy")
        assert listed(graph) == [(0, 1, 2.5), (1, 0, 1)] and graph.weights.dtype.isnative


def test_archives_that_are_damaged(tmp_path):
    whole = archive(tmp_path / "g.npz", **ONE).read_bytes()
    for at in range(0, len(whole), 3):
        for data in (whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]):
            with contextlib.suppress(sr.GraphError):
                assert listed(read(tmp_path, "h.npz", data)) == [(0, 1, None)]
    with zipfile.ZipFile(tmp_path / "i.npz", "w", zipfile.ZIP_LZMA) as file:
        file.writestr("a.npy", whole)
    with refused("i.npz is compressed in a way that NumPy does not use"):
        sr.read_graph(tmp_path / "i.npz")


def test_what_expands_beyond_the_memory_is_refused_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 20)
    for module in streams, archive_readers:
        monkeypatch.setattr(module, "CHUNK", 1 << 18)
    (tmp_path / "g.csv.gz").write_bytes(gzip.compress(b"0,1\n" * (1 << 22)))
    with refused("g.csv.gz, of which 1048576 bytes are read, needs 1.2 MiB of memory", sr.SemiringError):
        sr.read_graph(tmp_path / "g.csv.gz")
    np.savez_compressed(tmp_path / "g.npz", matrix=np.zeros((1000, 1000)))
    with refused("array 'matrix', needs 15.3 MiB of memory", sr.SemiringError):
        sr.read_graph(tmp_path / "g.npz")


# GraphML

GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="w" for="edge" attr.name="weight" attr.type="int"/>'
    '<key id="d" for="edge" attr.name="km" attr.type="double"><default>1.5</default></key>'
    '<graph edgedefault="directed">{}</graph></graphml>'
)
PAIR = '<node id="a"/><node id="b"/>'
BOMB = (
    "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>"
    + "".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(12))
    + "]><graphml>&m;</graphml>"
)


def test_graphml_values(tmp_path):
    body = PAIR + '<edge source="a" target="b"><data key="w"> 3 </data></edge><edge source="b" target="a"/>'
    assert listed(read(tmp_path, "g.graphml", GRAPHML.format(body))) == [("a", "b", 3), ("b", "a", 1)]
    assert listed(read(tmp_path, "g.graphml", GRAPHML.format(body), weight="km"))[0] == ("a", "b", 1.5)
    assert read(tmp_path, "g.graphml", GRAPHML.format(body).replace("int", "boolean").replace(" 3 ", "true")).weights[0]
    assert read(tmp_path, "g.graphml", GRAPHML.format(body).replace("int", "string")).weights.tolist() == [3, 1]
    latin = '<?xml version="1.0" encoding="latin-1"?>' + GRAPHML.format('<node id="Å"/>')
    assert read(tmp_path, "g.graphml", latin.encode("latin-1")).names == ["Å"]
    assert read(tmp_path, "g.graphml", GRAPHML.format('<node id="Å"/>').encode("utf-16")).names == ["Å"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('<?xml version="1.0" encoding="utfg-8"?><graphml/>', "g.graphml: unknown encoding: utfg-8; write it in UTF-8"),
        ('<?xml version="1.0" encoding="cp932"?><graphml/>', "write it in UTF-8"),
        (BOMB, "found an entity 'a', expected GraphML without entities of its own"),
        ("<graphml/>", "g.graphml is not GraphML: it has no <graph> in <graphml>"),
        ("<graphml><graph/></graphml>", "found edgedefault=None, expected 'directed' or 'undirected'"),
        ("<graphml><graph edgedefault='directed'/><graph edgedefault='directed'/></graphml>", "found a second graph"),
        (GRAPHML.format("<node/>"), "found <node> without id="),
        (GRAPHML.format('<node id="a"/>' * 2), "found a second node 'a'"),
        (GRAPHML.format('<node id="a"><graph edgedefault="directed"/></node>'), "found a graph within a graph"),
        (GRAPHML.format(PAIR + '<edge source="a" target="c"/>'), "found an edge of 'c', expected the id of a <node>"),
        (GRAPHML.format(PAIR + '<edge source="a"/>'), "found <edge> without target="),
        (
            GRAPHML.format(PAIR + '<edge source="a" target="b" directed="false"/>'),
            "found an edge with directed='false'",
        ),
        (GRAPHML.format(PAIR + "<hyperedge/>"), "found a <hyperedge>"),
        *[
            (
                GRAPHML.format(f'{PAIR}<edge source="a" target="b"><data key="w">{word}</data></edge>'),
                "found the weight",
            )
            for word in ("x", "", "1.5", "٣", "1_0", "9" * 30)
        ],
        (
            GRAPHML.format(f'{PAIR}<edge source="a" target="b"><data key="w"><b/>1</data></edge>'),
            "found <b> within a value",
        ),
        (GRAPHML.format(f'{PAIR}<edge source="a" target="b"><data key="x">1</data></edge>'), "found a value of 'x'"),
        (
            GRAPHML.format(PAIR + '<edge source="a" target="b">' + '<data key="w">1</data>' * 2 + "</edge>"),
            "a second 'weight'",
        ),
        ("<graphml>" + "<a>" * 200_000, "no element found"),
    ],
)
def test_graphml_that_is_none(tmp_path, data, message):
    with refused(message):
        read(tmp_path, "g.graphml", data)


# Vertices that are numbers far apart


def test_far_numbers_are_names_and_allocate_nothing(tmp_path):
    big = 10_123_456_789
    expected = [(big, 7, 2.0), (7, big + 5, 1.0)]
    ends = np.array([[a, b] for a, b, _ in expected]).T
    graphs = [
        sr.as_graph(expected),
        sr.as_graph((*ends, np.array([2.0, 1.0]))),
        read(tmp_path, "g.csv", "".join(f"{a},{b},{w}\n" for a, b, w in expected)),
        sr.read_graph(archive(tmp_path / "g.npz", row=ends[0], col=ends[1], data=[2.0, 1.0])),
    ]
    for graph in graphs:
        assert graph.names == [7, big, big + 5] and listed(graph) == expected
        assert sr.closure(sr.adjacency(graph, sr.min_plus), sr.min_plus)[big, big + 5] == 3.0
    assert sr.as_graph([(0, 2**20 - 1)]).names is None
    assert sr.as_graph([(0, 2**20)]).names == [0, 2**20]
    assert sr.as_graph([(0, 2**20)] * 10_000).names is None
    assert sr.as_graph(expected, big + 6).n == big + 6
    with refused("edge 0: source vertex -1 is negative"):
        sr.as_graph([(-1, 2**40)])


@pytest.mark.parametrize("n", [2**31, 10**13])
def test_as_many_vertices_as_were_asked_for_are_refused_before_they_are_allocated(n, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    graph = sr.as_graph([(0, n - 1, 1.0)], n)
    for call in (
        lambda: sr.closure(graph, sr.min_plus),
        lambda: sr.closure_rows(graph, sr.min_plus, [0]),
        lambda: sr.factor(graph, sr.min_plus),
        lambda: sr.reach(graph),
        lambda: sr.pack(graph),
        lambda: sr.adjacency(graph, sr.min_plus),
        lambda: sr.closure(graph, sr.boolean, packed=True),
    ):
        with pytest.raises(sr.SemiringError, match=r"memory|sparse matrices have up to"):
            call()
    with refused("as_graph(edges).compact() closes them", sr.SemiringError):
        sr.closure(graph, sr.min_plus)
    if n > 2**40:  # so many that nothing can be allocated, should the check be missing
        monkeypatch.setattr(memory, "available_bytes", lambda: None)  # as on a system that does not tell
        with refused(f"sparse matrices have up to 2147483647 rows, and the graph has {n} vertices", sr.SemiringError):
            sr.closure(graph, sr.min_plus)
        monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    with refused("sparse rows needs", sr.SemiringError):
        sr.closure(sr.as_graph([(0, 10**8)], 10**8 + 1), sr.min_plus)


@pytest.mark.parametrize("side", [2, 3])
def test_an_array_that_could_be_a_matrix_or_edges_is_refused(side):
    array = np.zeros((side, side), int)
    message = f"an array of shape ({side}, {side}) could be {side} edges or a matrix of {side} vertices: give edges as"
    with refused(message):
        sr.adjacency(array, sr.min_plus)
    assert len(sr.as_graph(tuple(array.T))) == side and sr.from_dense(array, sr.min_plus).n == side
    assert len(sr.as_graph(array.astype(str))) == side and len(sr.as_graph(array.tolist())) == side


# Read once


def test_a_pipe_is_read_once(tmp_path):
    for name, data in (
        ("g.csv", b"from,to,km\n0,1,2\n"),
        ("g.csv.gz", gzip.compress(b"0,1,2\n")),
        ("g.gr", b"p sp 2 1\na 1 2 2\n"),
        ("g.mtx", (COORDINATE.format("integer", "general") + "2 2 1\n1 2 2\n").encode()),
        ("g.npz", archive(tmp_path / "x.npz", **ONE, data=[2]).read_bytes()),
    ):
        os.mkfifo(tmp_path / name)
        writer = threading.Thread(target=(tmp_path / name).write_bytes, args=(data,), daemon=True)
        writer.start()
        done = child("import sys, semiring as sr\nprint(sr.read_graph(sys.argv[1]))", tmp_path / name)
        assert done.stdout == "Graph(2 vertices, 1 edge, directed, weights int64)\n", (name, done.stderr)
        writer.join(5)


# Written whole or not at all

FULL = """
import resource, sys, numpy as np, semiring as sr
M = sr.adjacency([(i, i * 7 % 150, i / 7) for i in range(150)], sr.min_plus)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    sr.write_matrix(sys.argv[1], M)
except OSError as e:
    print(e.errno, e.filename)
"""


@pytest.mark.parametrize("name", ["m.npy", "m.npz", "m.csv", "m.tsv", "m.mtx", "m.npy.gz", "m.csv.xz", "m.npz.bz2"])
def test_an_error_while_writing_leaves_the_file_that_was_there(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"what was there")
    done = child(FULL, path, env=os.environ | {"TMPDIR": str(tmp_path)})
    assert done.stdout == f"{errno.EFBIG} {path}\n", done.stderr
    assert path.read_bytes() == b"what was there" and [p.name for p in tmp_path.iterdir()] == [name]


def test_what_is_written_keeps_links_and_permissions(tmp_path):
    M = sr.adjacency([(0, 1, 2.0)], sr.min_plus)
    target = tmp_path / "target.npy"
    target.write_bytes(b"")
    target.chmod(0o640)
    (tmp_path / "link.npy").symlink_to(target)
    sr.write_matrix(tmp_path / "link.npy", M)
    assert (tmp_path / "link.npy").is_symlink() and target.stat().st_mode & 0o777 == 0o640
    assert np.array_equal(np.load(target), M)
    sr.write_matrix(tmp_path / "new.csv", M)
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o666 & ~mask
    with pytest.raises(OSError) as caught:
        sr.write_matrix(tmp_path / "nowhere" / "m.csv", M)
    assert caught.value.errno == errno.ENOENT and caught.value.filename == str(tmp_path / "nowhere" / "m.csv")
    if os.path.exists("/dev/full"):
        (tmp_path / "full.csv").symlink_to("/dev/full")
        with pytest.raises(OSError) as caught:
            sr.write_matrix(tmp_path / "full.csv", M)
        assert caught.value.errno == errno.ENOSPC


ROUND = [sr.min_plus, sr.max_plus, sr.max_min, sr.plus_times, sr.boolean, sr.viterbi, sr.gf2, sr.shortest_count]


@pytest.mark.parametrize("S", ROUND, ids=lambda S: S.name)
@pytest.mark.parametrize("ending", [".npy", ".npz", ".mtx", ".npy.gz"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_what_was_written_is_read_back(tmp_path, S, ending, n):
    if S.is_record and ending == ".mtx":
        pytest.skip("Matrix Market holds no records")
    for dtype in [None] if S.is_record else S.dtypes:
        weights = [0, 1, 1, 0]
        values = [(float(w), 1) for w in weights] if S.is_record else weights
        M = sr.adjacency([(0, 1, values[0]), (1, 1, values[1]), (n - 1, 0, values[2])], S, n, dtype=dtype)
        sr.write_matrix(tmp_path / f"m{ending}", M)
        again = sr.adjacency(sr.read_graph(tmp_path / f"m{ending}"), S, dtype=dtype)
        assert again.dtype == M.dtype and np.array_equal(again, M)


def test_floats_are_written_exactly(tmp_path):
    values = np.array([0.1, 1 / 3, 5e-324, 1.7976931348623157e308, INF, -0.0])
    for dtype in ("f8", "f4", "f2"):
        with np.errstate(over="ignore"):
            edges = np.zeros(len(values), int), np.arange(len(values)), values.astype(dtype)
        M = sr.adjacency(edges, sr.max_min, len(values))
        sr.write_matrix(tmp_path / "m.mtx", M)
        again = sr.read_graph(tmp_path / "m.mtx")
        assert again.weights.tobytes() == M.array[0].astype("f8").tobytes()


def test_names_that_an_archive_cannot_hold(tmp_path):
    M = sr.adjacency([((0, 1), (1, 2), 3)], sr.min_plus)
    with pytest.warns(sr.SemiringWarning, match=re.escape("so that (0, 1) will be '(0, 1)'")):
        sr.write_matrix(tmp_path / "m.npz", M)
    assert sr.read_graph(tmp_path / "m.npz").names == ["(0, 1)", "(1, 2)"]
    with refused("cannot hold the name 'a\\x00', which ends in NUL", sr.SemiringError):
        sr.write_matrix(tmp_path / "m.npz", sr.adjacency([("a\0", "b", 3)], sr.min_plus))
    with refused("two of them have the same text", sr.SemiringError):
        sr.write_matrix(tmp_path / "m.npz", sr.adjacency([("1", 1, 3)], sr.min_plus))
    with refused("'\\ud800' is not a character that UTF-8 has", sr.SemiringError):
        sr.write_matrix(tmp_path / "m.csv", sr.adjacency([("\ud800", "b", 3)], sr.min_plus))
    big = sr.Matrix(np.zeros((2, 2)), sr.min_plus, [2**70, 2**71])
    with pytest.warns(sr.SemiringWarning, match="holds names as texts"):
        sr.write_matrix(tmp_path / "m.npz", big)


def test_matrices_of_others_with_zeros_and_infinities_are_doubtful(tmp_path):
    np.save(tmp_path / "g.npy", np.array([[0, 0.0, INF], [INF, 0, 2], [1, INF, 0]]))
    with pytest.warns(sr.SemiringWarning, match=re.escape("holds 0, as at (0, 1), and ±∞ or NaN")):
        assert listed(sr.read_graph(tmp_path / "g.npy")) == [(1, 2, 2), (2, 0, 1)]
    sr.pack(np.eye(200, dtype=bool)).save(tmp_path / "p.npy")
    with refused("p.npy holds a packed matrix: read it by PackedMatrix.load"):
        sr.read_graph(tmp_path / "p.npy")


# Names on a terminal


def harmless(text: str) -> bool:
    return not any((ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 for c in text)


def test_control_characters_reach_no_terminal(tmp_path):
    M = sr.adjacency([(ESCAPE, "b", -1.0), ("b", ESCAPE, 0.5)], sr.min_plus)
    graph = sr.as_graph([(ESCAPE, "b"), ("b", ESCAPE)])
    header = "{{'descr': [('a','<i4'),('b','<i4'),('\x1b[2J',[('\x1b','<f8')])], 'fortran_order': False, 'shape': {}}}"
    texts = [str(M), M._repr_html_(), repr(graph), str(sr.reach(graph))]
    for call in (
        lambda: sr.closure(M, sr.min_plus),
        lambda: sr.closure(M, sr.min_plus, method="floyd-warshall"),
        lambda: sr.closure_rows(sr.as_graph([(ESCAPE, "b", -1.0), ("b", ESCAPE, 0.5)]), sr.min_plus, ["b"]),
        lambda: sr.factor(sr.as_graph([(ESCAPE, "b", -1.0), ("b", ESCAPE, 0.5)]), sr.min_plus),
        lambda: sr.transitive_reduction(graph),
        lambda: M[ESCAPE + "x", "b"],
        lambda: sr.path(M, sr.min_plus, ESCAPE + "x", "b"),
        lambda: sr.adjacency([(ESCAPE, "b", "x")], sr.min_plus),
        lambda: sr.adjacency([(ESCAPE, "b", np.nan)], sr.min_plus),
        lambda: sr.as_graph([(ESCAPE, None)]),
        lambda: sr.as_graph([(ESCAPE,)]),
        lambda: sr.as_graph(graph, names=["b"]),
        lambda: sr.as_graph([(0, 1)], names=[ESCAPE, ESCAPE]),
        lambda: sr.read_graph(tmp_path / f"{ESCAPE}.csv"),
        lambda: sr.read_graph(tmp_path / f"{ESCAPE}"),
        lambda: read(tmp_path, "g.csv", f"{ESCAPE},b,{ESCAPE}\n", header=False),
        lambda: read(tmp_path, "g.csv", f'"{ESCAPE}"x,b\n'),
        lambda: read(tmp_path, "g.csv", "\x1b[2J\n"),
        lambda: read(tmp_path, "g.csv", f"{ESCAPE},b,c,d\n1,2,3,4\n"),
        lambda: read(tmp_path, "g.mtx", ESCAPE),
        lambda: read(tmp_path, "g.gr", ESCAPE),
        lambda: read(tmp_path, "g.npz", ESCAPE),
        lambda: read(tmp_path, "g.npy", ESCAPE),
        lambda: read(tmp_path, "g.npy", raw_npy(header.format("(3,)"))),
        lambda: sr.adjacency(read(tmp_path, "g.npy", raw_npy(header.format("(0,)"))), sr.min_plus),
        lambda: read(tmp_path, "g.graphml", ESCAPE),
        lambda: read(tmp_path, "g.csv", f"a,b,{ESCAPE}\n1,2,3\n", weight="x"),
    ):
        with pytest.raises(sr.SemiringError) as caught:
            call()
        texts.append(str(caught.value))
    assert all(map(harmless, texts)), [text for text in texts if not harmless(text)]
    joined = "जोड़\u200dना"
    assert joined in repr(sr.adjacency([(joined, "b", 1.0)], sr.min_plus))  # joiners belong to words


@pytest.mark.parametrize("options", [[], ["--from", "b"], ["--packed", "--from", "b"]])
def test_the_command_line_prints_a_row_a_line(tmp_path, options):
    name = f"{ESCAPE}\t\u2028\n"
    (tmp_path / "g.csv").write_text(f'"{name}x",b,1\nb,c\u202e,2\n')
    command = [sys.executable, "-m", "semiring", "closure", str(tmp_path / "g.csv"), "--algebra", "boolean", *options]
    done = subprocess.run([*command, "--no-header"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(c.isprintable() or c in "\t\n" for c in done.stdout)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert len({len(row) for row in rows}) == 1 and len(rows) == (3 if options else 4)
    assert "\\x1b]0;title\\x07\\x1b[2J\\t\\u2028\\nx" in done.stdout


# The oracle


def test_the_oracle_reads_what_it_should():
    text = b'from,to,km\n"a ""b""", c ,1\n# remark\nc,007,2.5\n'
    assert file_oracle.read_list(text) == file_oracle.Read(
        3, ['a "b"', "c", "007"], True, [('a "b"', "c", 1.0), ("c", "007", 2.5)]
    )
    found = file_oracle.read_mtx(b"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n0\n")
    assert found == file_oracle.Read(2, None, False, [(0, 0, 1.0), (1, 0, 2.0)])
    assert file_oracle.read_gr(b"p sp 2 1\na 1 2 5\n").edges == [(0, 1, 5)]
    file = io.BytesIO()
    np.save(file, np.array([[0, 2], [0, 0]]))
    assert file_oracle.read_npy(file.getvalue()).edges == [(0, 1, 2)]
    for reader, data in (
        (file_oracle.read_list, b"0,1\n0\n"),
        (file_oracle.read_gr, b"p sp 2 2\na 1 2 5\n"),
        (file_oracle.read_npy, b"x"),
        (file_oracle.read_npz, b"x"),
        (file_oracle.read_graphml, b"<x/>"),
        (file_oracle.read_mtx, b"x"),
    ):
        with pytest.raises(file_oracle.Bad):
            reader(data)
