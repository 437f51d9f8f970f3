"""Graphs from .npz archives: SciPy's, ours and columns of edges; and archives that lie or are damaged."""

from __future__ import annotations

import contextlib
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from files.reading import EDGES, MATRIX, ONE, archive, listed, read, refused

import semiring as sr
from semiring.files.verbs import read_graph


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_npz_of_scipy(tmp_path, format):
    sp.save_npz(tmp_path / "g.npz", MATRIX.asformat(format))
    graph = read_graph(tmp_path / "g.npz")
    assert sorted(listed(graph)) == sorted(EDGES) and graph.n == 4
    assert read_graph(tmp_path / "g.npz", weight=None).weights is None
    np.savez(tmp_path / "h.npz", format=np.array("xyz"), data=np.ones(1))
    with refused("h.npz is not a sparse matrix as scipy.sparse.save_npz writes it: its format is 'xyz'"):
        read_graph(tmp_path / "h.npz")


@pytest.mark.parametrize("names", [("row", "col", "data"), ("sources", "targets", "weights"), ("from", "to", "weight")])
def test_npz_of_arrays(tmp_path, names):
    columns = [np.array(c) for c in zip(*EDGES, strict=True)]
    np.savez(tmp_path / "g.npz", **dict(zip(names, columns, strict=True)), n=np.array(5))
    graph = read_graph(tmp_path / "g.npz")
    assert listed(graph) == EDGES and graph.n == 5
    np.savez(tmp_path / "h.npz", **dict(zip(names[:2], columns[:2], strict=True)), names=np.array(["x", "y", "z"]))
    assert listed(read_graph(tmp_path / "h.npz")) == [("x", "y", None), ("z", "x", None), ("y", "z", None)]


def test_npz_of_other_things(tmp_path):
    np.savez(tmp_path / "g.npz", np.array([*EDGES, (3, 3, 1.0)]))
    assert listed(read_graph(tmp_path / "g.npz")) == [*EDGES, (3, 3, 1.0)]
    np.savez(tmp_path / "g.npz", a=np.ones(1), b=np.ones(2))
    with refused("g.npz holds the arrays a, b; expected row and col, and data for weights"):
        read_graph(tmp_path / "g.npz")
    np.savez(tmp_path / "g.npz", matrix=np.ones((2, 3)), zero=0.0)
    with refused("g.npz holds a matrix of shape (2, 3): a graph needs a square matrix"):
        read_graph(tmp_path / "g.npz")


CSR = {"format": "csr", "shape": [2, 2], "data": [1.0], "indices": [0], "indptr": [0, 1, 1]}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (CSR | {"indptr": [0, 999_999_999, 1]}, "the offsets in 'indptr' do not fit 1 indices of a 2 × 2 matrix"),
        (CSR | {"indptr": [0, -5, 1]}, "the offsets in 'indptr' do not fit"),
        (CSR | {"indptr": [1, 1, 1]}, "the offsets in 'indptr' do not fit"),
        (CSR | {"indptr": [0, 1]}, "the offsets in 'indptr' do not fit"),
        (CSR | {"indptr": [[0, 1, 1]]}, "the array 'indptr' has shape (1, 3) and dtype int64, expected 1-D integers"),
        (CSR | {"indptr": np.array([0, 2**63, 2**63], np.uint64)}, "the offsets in 'indptr' do not fit"),
        (CSR | {"indices": [9]}, "has an entry in column 9, but the matrix is 2 × 2"),
        (CSR | {"indices": [-1]}, "has an entry in column -1, but the matrix is 2 × 2"),
        (CSR | {"indices": [0.0]}, "the array 'indices' has shape (1,) and dtype float64, expected 1-D integers"),
        (
            CSR | {"data": ["x"]},
            "the array 'data' has shape (1,) and dtype <U1, expected 1-D integers or numbers or truth values",
        ),
        (CSR | {"shape": 5}, "the array 'shape' has shape () and dtype int64, expected 1-D integers"),
        (CSR | {"shape": [2, 3]}, "holds a matrix of shape (2, 3): a graph needs a square matrix"),
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
            "expected different diagonals",
        ),
        ({"format": "coo", "shape": [2, 2], "data": [1.0]}, "it has no array 'row'"),
        (
            {"format": "coo", "shape": [2, 2], "data": [1.0], "row": [0, 1], "col": [0]},
            "2 row indices, 1 column indices and 1 values: these numbers must be equal",
        ),
        (ONE | {"n": [1, 2]}, "the array 'n' has shape (2,) and dtype int64, expected 0-D integers"),
        (ONE | {"n": "x"}, "the array 'n' has shape () and dtype <U1"),
        (ONE | {"n": -1}, "n = -1, but a graph has 0 or more vertices"),
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
            "the element that means no edge has shape (3,) and dtype float64; exp",
        ),
        ({"matrix": np.zeros((2, 2)), "zero": np.array("x")}, "the element that means no edge has shape () and dtype "
                                                              "<U1"),
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


def test_archives_that_are_damaged(tmp_path):
    whole = archive(tmp_path / "g.npz", **ONE).read_bytes()
    for at in range(0, len(whole), 3):
        for data in (whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]):
            with contextlib.suppress(sr.GraphError):
                assert listed(read(tmp_path, "h.npz", data)) == [(0, 1, None)]
    with zipfile.ZipFile(tmp_path / "i.npz", "w", zipfile.ZIP_LZMA) as file:
        file.writestr("a.npy", whole)
    with refused("i.npz has a compression that NumPy does not use"):
        sr.read_graph(tmp_path / "i.npz")


def test_what_an_archive_tells_of_its_vertices(tmp_path):
    columns = {"row": [0, 2], "col": [1, 0], "data": [1.5, 2.5]}
    for more, n, names in (
        ({}, 3, None), ({"n": 5}, 5, None), ({"shape": [4, 4]}, 4, None), ({"n": 3, "shape": [9, 9]}, 3, None),
        ({"names": ["x", "y", "z"]}, 3, ["x", "y", "z"]), ({"n": np.uint8(3)}, 3, None),
    ):
        graph = sr.read_graph(archive(tmp_path / "g.npz", **columns, **more))
        assert (graph.n, graph.names, len(graph)) == (n, names, 2), more
    texts = {"source": ["b", "a"], "target": ["a", "c"], "weight": [1, 2]}
    assert listed(sr.read_graph(archive(tmp_path / "g.npz", **texts))) == [("b", "a", 1), ("a", "c", 2)]
    graph = sr.read_graph(tmp_path / "g.npz", weight=None, directed=False)
    assert graph.weights is None and not graph.directed


def test_coordinates_in_one_array(tmp_path):
    """As newer versions of SciPy write arrays of any number of axes."""
    coo = {"format": np.array(b"coo"), "shape": [3, 3], "data": [1.5, 0.0], "coords": [[0, 2], [1, 2]]}
    assert listed(sr.read_graph(archive(tmp_path / "g.npz", **coo))) == [(0, 1, 1.5), (2, 2, 0.0)]
    with refused("the array 'coords' has shape (1, 2) and dtype int64, expected two rows of indices"):
        sr.read_graph(archive(tmp_path / "g.npz", **coo | {"coords": [[0, 2]]}))
    with refused("has an entry in row 3, but the matrix is 3 × 3"):
        sr.read_graph(archive(tmp_path / "g.npz", **coo | {"coords": [[0, 3], [1, 2]]}))


def test_an_archive_of_two_arrays_of_one_name(tmp_path):
    whole = archive(tmp_path / "g.npz", **ONE).read_bytes()
    with zipfile.ZipFile(tmp_path / "g.npz") as file:
        member = file.read("row.npy")
    with zipfile.ZipFile(tmp_path / "h.npz", "w") as file:
        file.writestr("row.npy", member)
        file.writestr("row", member)
    with refused("h.npz holds two arrays with the same name"):
        sr.read_graph(tmp_path / "h.npz")
    with zipfile.ZipFile(tmp_path / "i.npz", "w") as file:
        file.writestr("row.npy", member + b"more")
        file.writestr("col.npy", member)
    with refused("i.npz, array 'row', has 4 extra bytes after its elements"):
        sr.read_graph(tmp_path / "i.npz")
    assert listed(read(tmp_path, "j.npz", whole)) == [(0, 1, None)]
