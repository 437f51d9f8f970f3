"""Parquet files: what other programs wrote, and what is said of bad ones."""

from __future__ import annotations

import builtins
import json

import numpy as np
import pandas as pd
import pytest
from files.reading import example, listed, refused

import semiring as sr
from semiring.files.parquet import NOTE

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def put(path, columns, **metadata):
    table = pa.table(columns)
    pq.write_table(table.replace_schema_metadata(metadata) if metadata else table, path)
    return path


def test_edges_of_others(tmp_path):
    file = put(tmp_path / "e.parquet", {"source": ["a", "007"], "target": ["007", "b"], "km": [1.5, 0.0]})
    assert listed(sr.read_graph(file)) == [("a", "007", 1.5), ("007", "b", 0.0)]
    assert listed(sr.read_graph(file, weight=None, directed=False)) == [("a", "007", None), ("007", "b", None)]
    both = put(tmp_path / "b.pq", {"x": [1.0, 2.0], "a": [0, 1], "b": [1, 2], "y": [3, 4]})
    graph = sr.read_graph(both, source="a", target="b", weight=["x", "y"])
    assert graph.names is None and graph.weights.tolist() == [(1.0, 3), (2.0, 4)]
    assert sr.read_graph(both, source="a", target="b", weight="x", names=str).names == ["0", "1", "2"]
    with refused("e.parquet: no column is called 'kms'; did you mean 'km'?"):
        sr.read_graph(file, weight="kms")
    assert len(sr.read_graph(put(tmp_path / "n.parquet", {"from": pa.array([], pa.int64()),
                                                          "to": pa.array([], pa.int64())}))) == 0


def test_missing_values(tmp_path):
    with refused("g.parquet: edge 1: the target vertex is missing (None)"):
        sr.read_graph(put(tmp_path / "g.parquet", {"from": ["a", "b"], "to": ["b", None]}))
    with refused("edge 1 ('b' → 'a'): the weight is None"):
        sr.read_graph(put(tmp_path / "g.parquet", {"from": ["a", "b"], "to": ["b", "a"], "weight": [2, None]}))


def test_what_other_programs_see(tmp_path):
    sr.write_matrix(tmp_path / "m.parquet", example())
    table = pq.read_table(tmp_path / "m.parquet")
    assert table.to_pylist()[0] == {"from": "a", "to": "b", "weight": 2.5} and len(table) == 3
    records = sr.adjacency([(0, 1, (2.0, 3))], sr.shortest_count)
    sr.write_matrix(tmp_path / "r.parquet", records)
    assert pq.read_table(tmp_path / "r.parquet").to_pylist() == [{"from": 0, "to": 1, "dist": 2.0, "count": 3.0}]


def test_what_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing PAR1")
    with refused("x.parquet is not a Parquet file that PyArrow reads"):
        sr.read_graph(tmp_path / "x.parquet")
    good = {"n": 2, "names": ["a", "b"], "algebra": "min-plus", "dtype": "float64", "weights": ["weight"]}
    columns = {"from": ["a"], "to": ["b"], "weight": [1.0]}
    assert sr.read_graph(put(tmp_path / "g.parquet", columns, **{NOTE.decode(): json.dumps(good)})).names == ["a", "b"]
    for change in ({"n": -1}, {"n": 3}, {"n": "2"}, {"names": [1.5, "b"]}, {"dtype": "O"}, {"dtype": 3},
                   {"weights": ["km"]}):
        file = put(tmp_path / "g.parquet", columns, **{NOTE.decode(): json.dumps({**good, **change})})
        with refused("g.parquet: its metadata 'semiring' is not as write_matrix writes it"):
            sr.read_graph(file)
    for text in ("", "{", "[]", "[" * 100_000):
        with refused("is not as write_matrix writes it"):
            sr.read_graph(put(tmp_path / "g.parquet", columns, **{NOTE.decode(): text}))
    with refused("edge 0: target vertex 'b' is not among the names"):
        other = {**good, "names": ["a", "c"]}
        sr.read_graph(put(tmp_path / "g.parquet", columns, **{NOTE.decode(): json.dumps(other)}))


def test_what_cannot_be_written(tmp_path):
    waves = sr.Matrix(np.array([[1j]]), sr.plus_times)
    with refused("are complex numbers, which Parquet cannot hold: write .csv, .tsv, .mtx, "
                 ".npy or .npz", sr.SemiringError):
        sr.write_matrix(tmp_path / "m.parquet", waves)
    with refused("'\\ud800' cannot be encoded as UTF-8", sr.SemiringError):
        sr.write_matrix(tmp_path / "m.parquet", sr.adjacency([("\ud800", "b", 3)], sr.min_plus))
    with pytest.warns(sr.SemiringWarning, match="1.5 becomes '1.5'"):
        sr.write_matrix(tmp_path / "k.parquet", sr.Matrix(np.zeros((2, 2)), sr.min_plus, [1.5, "b"]))
    assert sr.read_matrix(tmp_path / "k.parquet", sr.min_plus).names == ["1.5", "b"]
    same = refused("names are stored as integers and texts, and two have the same text: rename one", sr.SemiringError)
    with same, pytest.warns(sr.SemiringWarning):
        sr.write_matrix(tmp_path / "m.parquet", sr.Matrix(np.zeros((2, 2)), sr.min_plus, [1.5, "1.5"]))
    assert [file.name for file in tmp_path.iterdir()] == ["k.parquet"]


def test_without_pyarrow(tmp_path, monkeypatch):
    plain = builtins.__import__

    def without(name, *more):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return plain(name, *more)

    (tmp_path / "m.parquet").write_bytes(b"PAR1")
    monkeypatch.setattr(builtins, "__import__", without)
    read, write = lambda: sr.read_graph(tmp_path / "m.parquet"), lambda: sr.write_matrix(tmp_path / "n.pq", example())
    for call in (read, write):
        with refused("Parquet needs PyArrow: pip install pyarrow", sr.SemiringError):
            call()


SQUARES = {
    "pandas": lambda A, path: pd.DataFrame(A, list("abc"), list("abc")).to_parquet(path),
    "a named index": lambda A, path: pd.DataFrame(A, pd.Index(list("abc"), name="x"), list("abc")).to_parquet(path),
    "polars": lambda A, path: sr.Matrix(A, sr.plus_times, list("abc")).to_frame(
        long=False, library="polars").write_parquet(path),
}


@pytest.mark.parametrize("how", SQUARES)
def test_square_frames_are_matrices(tmp_path, how):
    pytest.importorskip("polars" if how == "polars" else "pandas")
    A = np.array([[0.0, 1.5, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    path = tmp_path / "m.parquet"
    SQUARES[how](A, path)
    graph = sr.read_graph(path)
    assert list(graph.edges()) == [("a", "b", 1.5), ("b", "c", 2.0)]
    M = sr.read_matrix(path, "plus-times")
    assert M.names == ["a", "b", "c"] and np.array_equal(M.array, A)
    assert np.array_equal(sr.read_matrix(path, "boolean").array, A != 0)
    with pytest.warns(sr.SemiringWarning, match="holds 0 off its diagonal, 4 times, .* inf means no edge"):
        assert np.array_equal(sr.read_matrix(path, "min-plus").array, A)
    assert (sr.read_matrix(path, "min-plus", absent=0) == sr.adjacency(graph, sr.min_plus)).all()
    assert len(sr.read_graph(path, absent=1.5)) == 8
    pd.DataFrame({"from": ["a"], "to": ["b"], "w": [3]}).to_parquet(path)
    assert list(sr.read_graph(path).edges()) == [("a", "b", 3)]
    with pytest.raises(sr.GraphError, match="holds edges, and absent= is for matrices that write every entry: leave "
                                            "it out"):
        sr.read_graph(path, absent=0)
    pd.DataFrame(np.arange(9).reshape(3, 3)).rename(columns=str).to_parquet(path)
    with pytest.raises(sr.GraphError, match="could be 3 edges or a matrix of 3 vertices"):
        sr.read_graph(path)
    assert len(sr.read_graph(path, absent=0)) == 8 and len(sr.read_graph(path, source="0", target="1")) == 3
