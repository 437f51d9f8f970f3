"""Graphs from .npy files: headers that lie, other orders of bytes and axes, and nothing unpickled."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

import numpy as np
import pytest
from files.reading import EDGES, listed, raw_npy, read, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files.arrays import parse_npy
from semiring.files.verbs import read_graph

INF = np.inf


def test_npy(tmp_path):
    path = tmp_path / "g.npy"
    np.save(path, np.array([[0.0, 2.5], [INF, np.nan]]))
    assert listed(read_graph(path)) == [(0, 1, 2.5)] and read_graph(path).n == 2
    np.save(path, np.array([[False, True], [False, False]]))
    assert listed(read_graph(path)) == [(0, 1, None)]
    np.save(path, np.array([[0, 1], [1, 2], [2, 0], [4, 4]]))
    assert listed(read_graph(path)) == [(0, 1, None), (1, 2, None), (2, 0, None), (4, 4, None)]
    np.save(path, np.array([*EDGES, (3, 3, 1.0)]))
    assert listed(read_graph(path)) == [*EDGES, (3, 3, 1.0)]
    assert read_graph(path, weight=None).weights is None and not read_graph(path, directed=False).directed
    with gzip.open(tmp_path / "g.npy.gz", "wb") as file:
        np.save(file, np.array([*EDGES, (3, 3, 1.0)]))
    assert listed(read_graph(tmp_path / "g.npy.gz")) == [*EDGES, (3, 3, 1.0)]
    np.save(path, np.zeros((4, 5)))
    with refused("g.npy: an array of shape (4, 5): edges need shape (m, 2) or (m, 3)"):
        read_graph(path)
    np.save(path, np.zeros((2, 2), sr.shortest_count.default_dtype))
    with refused("it is not known which element means no edge"):
        read_graph(path)


def test_nothing_is_unpickled(tmp_path):
    np.save(tmp_path / "g.npy", np.array([[{}, 1], [2, 3]], dtype=object), allow_pickle=True)
    with refused("g.npy is not a file of NumPy arrays of numbers or texts"):
        read_graph(tmp_path / "g.npy")
    np.savez(tmp_path / "g.npz", row=np.array([{}], dtype=object), col=np.array([1]))
    with refused("g.npz is not a file of NumPy arrays of numbers or texts"):
        read_graph(tmp_path / "g.npz")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, "), "its header is"),
        (raw_npy("(" * 9000), "nested too deeply"),
        (raw_npy("-" * 60_000 + "1"), "its header is"),
        (raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10**9,)}"), "its header is"),
        (
            raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"),
            "elements of float64 need more than the",
        ),
        (raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"), "its shape is not valid"),
        (raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (True, 2)}"), "its shape is not valid"),
        (raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000000, 0)}"), "its shape is"),
        (raw_npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2)}", b"x" * 32), "neither numbers nor texts"),
        (raw_npy("{'descr': '>2f4', 'fortran_order': False, 'shape': (1, 2)}", b"x" * 16), "are arrays themselves"),
        (raw_npy("{'descr': '<f9', 'fortran_order': False, 'shape': (2, 2)}"), "its header is"),
        (raw_npy("{'descr': '<U0', 'fortran_order': False, 'shape': (2, 2)}"), "need more than the"),
        (raw_npy("{'descr': '<f8', 'fortran_order': 1, 'shape': (2, 2)}"), "its order is not valid"),
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
        (raw_npy("x", version=b"\x09\x00"), "it has the unknown version 9.0"),
        (b"\x93NUMPY", "it does not begin as a .npy file does"),
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


def test_matrices_of_others_with_zeros_and_infinities_are_doubtful(tmp_path):
    np.save(tmp_path / "g.npy", np.array([[0, 0.0, INF], [INF, 0, 2], [1, INF, 0]]))
    with pytest.warns(sr.SemiringWarning, match=re.escape("holds 0, as at (0, 1), and ±∞ or NaN")):
        assert listed(sr.read_graph(tmp_path / "g.npy")) == [(1, 2, 2), (2, 0, 1)]
    sr.pack(np.eye(200, dtype=bool)).save(tmp_path / "p.npy")
    with refused("p.npy holds a packed matrix: use PackedMatrix.load"):
        sr.read_graph(tmp_path / "p.npy")


DTYPES = ["?", "i1", ">i2", "<u4", "i8", "f2", ">f8", "c8", "<U3", ">U2", "S4", "<f4"]
RECORDS = [
    [("a", "f4"), ("b", ">i8")], [("a", "U2"), ("v", "f8", (3,))],
    {"names": ["a", "b"], "formats": ["u1", "f8"], "offsets": [3, 8], "itemsize": 24},
]


@settings(max_examples=150)
@given(
    st.sampled_from([*DTYPES, *map(str, range(len(RECORDS)))]), st.lists(st.integers(0, 3), max_size=3), st.booleans(),
    st.sampled_from([(1, 0), (2, 0), (3, 0)]), st.integers(0, 9),
)
def test_arrays_are_read_as_numpy_reads_them(
    kind: str, shape: list[int], turned: bool, version: tuple[int, int], seed: int
) -> None:
    dtype, chance = np.dtype(RECORDS[int(kind)] if kind.isdigit() else kind), np.random.default_rng(seed)
    array = np.zeros(shape, dtype)
    for part in [array] if dtype.names is None else [array[field] for field in dtype.names]:
        part[...] = chance.integers(0, 2, part.shape)
    array = np.asfortranarray(array) if turned else array
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version, allow_pickle=False)
    tail = b"\x01more"
    found, end = parse_npy(Path("g.npy"), b"before" + file.getvalue() + tail, len(b"before"))
    assert end == len(b"before") + len(file.getvalue())
    assert found.shape == array.shape and np.array_equal(found, array)
    assert found.dtype.newbyteorder("=") == found.dtype and found.dtype.names == array.dtype.names


def test_the_zero_beside_a_matrix_says_what_is_no_edge(tmp_path) -> None:
    matrix = np.array([[0.0, INF], [5.0, 0.0]])
    for zero, edges in ((INF, [(0, 0, 0.0), (1, 0, 5.0), (1, 1, 0.0)]), (0.0, [(0, 1, INF), (1, 0, 5.0)])):
        with open(tmp_path / "g.npy", "wb") as file:
            np.save(file, matrix)
            np.save(file, np.float64(zero))
        assert listed(read_graph(tmp_path / "g.npy")) == edges
        assert read_graph(tmp_path / "g.npy", weight=None).weights is None
    whole = (tmp_path / "g.npy").read_bytes()
    with refused("g.npy: 3 extra bytes after the second array"):
        read(tmp_path, "g.npy", whole + b"abc")
    one = raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", bytes(8))
    with refused("g.npy: a second array follows the first one, whose shape () is not that of a matrix"):
        read(tmp_path, "g.npy", one + one)
    with refused("the element that means no edge has shape () and dtype float64; expected one element of int64"):
        np.save(tmp_path / "h.npy", np.eye(2, dtype=int))
        read(tmp_path, "g.npy", (tmp_path / "h.npy").read_bytes() + one)
