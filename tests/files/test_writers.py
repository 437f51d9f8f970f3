"""Matrices to files of each format, and back; what others read, and what is refused."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io
from files.reading import COMPRESS, example, listed, refused
from layouts import hops_and_costs, laid_out, layouts, same

import semiring as sr
from semiring.files import matrix_market, streams
from semiring.files.arrays import save_array
from semiring.files.verbs import read_graph, write_matrix

INF = np.inf


@pytest.mark.parametrize("ending", COMPRESS)
def test_npz_keeps_everything(tmp_path, ending):
    M = example()
    write_matrix(tmp_path / f"m.npz{ending}", M)
    graph = read_graph(tmp_path / f"m.npz{ending}")
    again = sr.adjacency(graph, sr.min_plus)
    assert again.names == M.names == ["a", "b", "c", "c,d"]
    np.testing.assert_array_equal(again, M)


@pytest.mark.parametrize("S", [sr.boolean, sr.min_plus, sr.max_plus, sr.bitset_must, sr.shortest_count, sr.plus_times])
def test_npz_over_other_algebras(tmp_path, S):
    edges = [(30, 10), (10, 20)]
    M = sr.adjacency(edges, S, names=[10, 20, 30], default=(2.0, 3) if S.is_record else None)
    write_matrix(tmp_path / "m.npz", M)
    graph = read_graph(tmp_path / "m.npz")
    assert sorted((a, b) for a, b, _ in listed(graph)) == sorted(edges)
    again = sr.adjacency(graph, S)
    assert again.names == [10, 20, 30] and again.dtype == M.dtype
    np.testing.assert_array_equal(again, M)


@pytest.mark.parametrize("ending", COMPRESS)
def test_npy_and_mtx(tmp_path, ending):
    M = example()
    write_matrix(tmp_path / f"m.npy{ending}", M)
    with streams.open_file(tmp_path / f"m.npy{ending}", tmp_path / f"m.npy{ending}", "rb") as file:
        np.testing.assert_array_equal(np.load(file), M)
    write_matrix(tmp_path / f"m.mtx{ending}", M)
    graph = read_graph(tmp_path / f"m.mtx{ending}")
    np.testing.assert_array_equal(sr.adjacency(graph, sr.min_plus), M)


@pytest.mark.parametrize("dtype", ["f2", "f4", "i2", "i8", "u1"])
def test_mtx_of_other_dtypes(tmp_path, dtype):
    M = sr.adjacency([(0, 1, 3), (1, 1, 0)], sr.min_plus, dtype=dtype)
    write_matrix(tmp_path / "m.mtx", M)
    again = sr.adjacency(read_graph(tmp_path / "m.mtx"), sr.min_plus, dtype=dtype)
    np.testing.assert_array_equal(again, M)


def test_mtx_of_booleans_is_a_pattern(tmp_path):
    write_matrix(tmp_path / "m.mtx", sr.adjacency([(0, 1)], sr.boolean))
    assert "pattern" in (tmp_path / "m.mtx").read_text().splitlines()[0]
    assert listed(read_graph(tmp_path / "m.mtx")) == [(0, 1, None)]


def test_tables(tmp_path):
    write_matrix(tmp_path / "m.csv", example())
    assert (tmp_path / "m.csv").read_text() == (
        ',a,b,c,"c,d"\na,,2.5,,\nb,,,0.0,\nc,,,,\n"c,d",0.3333333333333333,,,\n'
    )
    frame = pd.read_csv(tmp_path / "m.csv", index_col=0)
    np.testing.assert_array_equal(frame.fillna(INF).to_numpy(), example())
    write_matrix(tmp_path / "b.tsv.gz", sr.adjacency([(0, 1)], sr.boolean))
    assert gzip.decompress((tmp_path / "b.tsv.gz").read_bytes()) == b"\t0\t1\n0\t\t1\n1\t\t\n"
    write_matrix(tmp_path / "i.csv", sr.adjacency([(0, 1, 5)], sr.min_plus))
    assert (tmp_path / "i.csv").read_text() == ",0,1\n0,,5\n1,,\n"  # not the integer that stands for ∞
    write_matrix(tmp_path / "f.csv", sr.adjacency([(0, 1, 0.1)], sr.min_plus, dtype="f4"))
    assert (tmp_path / "f.csv").read_text() == ",0,1\n0,,0.1\n1,,\n"
    write_matrix(tmp_path / "r.csv", sr.adjacency([(0, 1, (2.0, 3))], sr.shortest_count))
    assert '"(2.0, 3.0)"' in (tmp_path / "r.csv").read_text()
    write_matrix(tmp_path / "o.csv", sr.adjacency([(0, 1, sr.letter("x"))], sr.regex))
    assert (tmp_path / "o.csv").read_text() == ",0,1\n0,,x\n1,,\n"


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
        assert again.weights.dtype == M.dtype and again.weights.tobytes() == M.array[0].tobytes()


def test_names_that_an_archive_cannot_hold(tmp_path):
    M = sr.adjacency([((0, 1), (1, 2), 3)], sr.min_plus)
    with pytest.warns(sr.SemiringWarning, match=re.escape("(0, 1) becomes '(0, 1)'")):
        sr.write_matrix(tmp_path / "m.npz", M)
    assert sr.read_graph(tmp_path / "m.npz").names == ["(0, 1)", "(1, 2)"]
    with refused("cannot hold the name 'a\\x00', which ends in NUL: rename the vertex", sr.SemiringError):
        sr.write_matrix(tmp_path / "m.npz", sr.adjacency([("a\0", "b", 3)], sr.min_plus))
    with refused("have the same text: rename one", sr.SemiringError):
        sr.write_matrix(tmp_path / "m.npz", sr.adjacency([("1", 1, 3)], sr.min_plus))
    with refused("'\\ud800' cannot be encoded as UTF-8", sr.SemiringError):
        sr.write_matrix(tmp_path / "m.csv", sr.adjacency([("\ud800", "b", 3)], sr.min_plus))
    big = sr.Matrix(np.zeros((2, 2)), sr.min_plus, [2**70, 2**71])
    with pytest.warns(sr.SemiringWarning, match="stores names as texts"):
        sr.write_matrix(tmp_path / "m.npz", big)


def test_an_array_may_be_followed_by_others(tmp_path) -> None:
    path = tmp_path / "a.npy"
    save_array(path, np.arange(6).reshape(2, 3).T, [1.5, 2.5], np.array(True))
    with open(path, "rb") as file:
        assert [np.load(file).tolist() for _ in range(3)] == [[[0, 3], [1, 4], [2, 5]], [1.5, 2.5], True]
    with pytest.raises(ValueError, match="allow_pickle"):
        save_array(path, np.array([{}], object))
    assert np.load(path).shape == (3, 2), "what was there stays"


@pytest.mark.parametrize("block", [1, 2, 3, 5])
def test_entries_are_written_in_blocks(tmp_path, monkeypatch, block) -> None:
    monkeypatch.setattr(matrix_market, "BLOCK", block)
    M = sr.adjacency([(0, 1, 2.5), (1, 1, -1.0), (2, 0, 0.0), (0, 2, 1 / 3)], sr.min_plus, 4)
    write_matrix(tmp_path / "m.mtx", M)
    assert (tmp_path / "m.mtx").read_text().splitlines() == [
        "%%MatrixMarket matrix coordinate real general", "4 4 4", "1 2 2.5", f"1 3 {1 / 3!r}", "2 2 -1.0", "3 1 0.0"]
    np.testing.assert_array_equal(scipy.io.mmread(tmp_path / "m.mtx").toarray(), np.where(np.isinf(M), 0, M))


def test_complex_entries_and_no_entries(tmp_path) -> None:
    for edges, head in (([(0, 1, 1 - 2j)], "coordinate complex general"), ([], "coordinate real general")):
        M = sr.Matrix(sr.adjacency(edges, sr.plus_times, 2).array, sr.plus_times)
        write_matrix(tmp_path / "m.mtx", M)
        lines = (tmp_path / "m.mtx").read_text().splitlines()
        assert lines == [f"%%MatrixMarket matrix {head}", f"2 2 {len(edges)}", *["1 2 1.0 -2.0"] * len(edges)]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npz", ".npy", ".mtx"])
def test_a_matrix_of_nothing(tmp_path, ending) -> None:
    M = sr.adjacency([], sr.min_plus)
    write_matrix(tmp_path / f"m{ending}", M)
    if ending in (".csv", ".tsv"):
        assert (tmp_path / f"m{ending}").read_text() == '""\n'
    else:
        assert read_graph(tmp_path / f"m{ending}").n == 0


@pytest.mark.parametrize("ending", [".csv", ".npz", ".mtx"])
def test_a_vertex_called_none_becomes_a_text_with_a_warning(tmp_path, ending):
    path = tmp_path / f"matrix{ending}"
    M = sr.Matrix(np.array([[0.0, 2.0], [np.inf, 0.0]]), sr.min_plus, names=[None, "x"])
    with pytest.warns(sr.SemiringWarning, match="None becomes 'None'"):
        sr.write_matrix(path, M)
    assert list(sr.read_matrix(path, sr.min_plus).names) == ["None", "x"]


@pytest.mark.parametrize("S", [sr.shortest_hops, hops_and_costs()], ids=lambda S: S.name)
@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv", ".tsv", ".parquet"])
def test_records_in_any_layout_are_read_back_by_name(tmp_path, S, ending):
    x = S.eye(3)
    x[0, 1], x[1, 2], x[2, 2] = x[0, 0], S.samples().view(S.element_dtype)[3], x[0, 1]
    for dtype in layouts(S):
        sr.write_matrix(tmp_path / f"m{ending}", sr.Matrix(laid_out(x, dtype), S))
        again = sr.read_matrix(tmp_path / f"m{ending}", S)
        assert again.dtype == S.element_dtype and same(again.array, x), dtype


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv", ".mtx", ".parquet", ".graphml", ".gml", ".net", ".gr"])
def test_numbers_in_another_byte_order(tmp_path, ending):
    for dtype in (">f8", ">f4", ">i4", ">u2"):
        x = np.array([[0, 1], [2, 0]], dtype)
        x[1, 1] = sr.min_plus.zero_in(dtype)
        sr.write_matrix(tmp_path / f"m{ending}", sr.Matrix(x, sr.min_plus))
        again = sr.read_matrix(tmp_path / f"m{ending}", sr.min_plus, dtype=dtype)
        assert again.dtype == np.dtype(dtype).newbyteorder("=") and np.array_equal(again.array, x)


def test_what_is_no_matrix_is_not_written(tmp_path):
    for other in (np.eye(2), sr.as_graph([("a", "b", 1.0)]), [[1.0]], None):
        with pytest.raises(sr.SemiringError, match=r"M must be a Matrix, .*, not \w+: pass sr.Matrix\("):
            sr.write_matrix(tmp_path / "m.csv", other)
    assert not list(tmp_path.iterdir())


def graphs(names: list[Any] | None, value: Any = 2.5, dtype: str = "f8") -> sr.Matrix:
    return sr.Matrix(np.array([[np.inf, value], [np.inf, np.inf]], dtype), sr.min_plus, names)


@pytest.mark.parametrize(("ending", "M", "words"), [
    (".graphml", graphs(["a", "b\0"]), r"GraphML cannot hold the name 'b\\x00'"),
    (".gml", graphs(["()", "b"]), r"GML cannot hold the name '\(\)'"),
    (".net", graphs(["a", "b\nc"]), "Pajek cannot hold the name"),
    (".net", graphs(["a", "b\0"]), r"Pajek cannot hold the name 'b\\x00'"),
    (".graphml", graphs([7, "a"]), "names are integers, such as 7, and texts, such as 'a'"),
    (".gr", graphs(["a", "b"]), "vertices have names, such as 'a', and DIMACS only numbers them: write .graphml"),
    (".gr", graphs(None), "only integer lengths, and entry 0 → 1 is 2.5"),
    (".gr", graphs(None, -np.inf), "only integer lengths, and entry 0 → 1 is -inf"),
    (".graphml", sr.Matrix(np.ones((1, 1), "c16"), sr.plus_times), "complex"),
    (".gml", sr.adjacency([(0, 1, (1.0, 1))], sr.shortest_hops), "records"),
])
def test_what_formats_of_graphs_cannot_hold(tmp_path: Path, ending: str, M: sr.Matrix, words: str) -> None:
    with pytest.raises(sr.SemiringError, match=words):
        sr.write_matrix(tmp_path / f"m{ending}", M)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".graphml", ".gml", ".net"])
def test_networkx_reads_what_is_written(tmp_path: Path, ending: str) -> None:
    nx = pytest.importorskip("networkx")
    M = sr.adjacency([("Ayr", 'a "b" & <c>', 1e-5), ('a "b" & <c>', "Ayr", 0.0), ("Ayr", "Ayr", 3.0)], sr.min_plus)
    sr.write_matrix(tmp_path / f"m{ending}", M)
    reads = {".graphml": nx.read_graphml, ".gml": nx.read_gml, ".net": nx.read_pajek}
    G = reads[ending](tmp_path / f"m{ending}")
    assert sorted(G.edges(data="weight")) == sorted(
        [("Ayr", 'a "b" & <c>', 1e-5), ('a "b" & <c>', "Ayr", 0.0), ("Ayr", "Ayr", 3.0)]
    )


def test_files_of_other_programs_are_as_they_should_be(tmp_path: Path) -> None:
    """The text of each format, whose comment aside it could be anybody's."""
    M = sr.Matrix(np.array([[np.inf, 3.0], [0.0, np.inf]]), sr.min_plus)
    sr.write_matrix(tmp_path / "m.gr", M)
    note = '{"algebra": "min\\u002dplus", "dtype": "float64", "names": null}'
    assert (tmp_path / "m.gr").read_text().splitlines() == [
        f"c semiring-matrix {note}", "p sp 2 2", "a 1 2 3", "a 2 1 0"]
    sr.write_matrix(tmp_path / "m.net", M)
    assert (tmp_path / "m.net").read_text().splitlines() == [
        f"% semiring-matrix {note}", "*Vertices 2", '1 "0"', '2 "1"', "*Arcs", "1 2 3.0", "2 1 0.0"]
