"""Graphs from files of every format, matrices to files, and what is said of files that do not parse."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from importlib.resources import files
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files import streams
from semiring.files import text as text_readers
from semiring.files.formats import read_graph, write_matrix
from semiring.graphs.graph import Graph

INF = np.inf
COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
EDGES = [(0, 1, 2.5), (2, 0, 0.0), (1, 2, -1.0)]
MATRIX = sp.coo_array(([2.5, 0.0, -1.0], ([0, 2, 1], [1, 0, 2])), shape=(4, 4))


def listed(graph: Graph) -> list[tuple]:
    name = (lambda v: int(v)) if graph.names is None else (lambda v: graph.names[v])
    weights = [None] * len(graph) if graph.weights is None else graph.weights.tolist()
    return [(name(a), name(b), w) for a, b, w in zip(graph.sources, graph.targets, weights, strict=True)]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(COMPRESS.get(path.suffix, bytes)(text.encode()))
    return path


def refused(message: str, error: type[Exception] = sr.GraphError) -> pytest.RaisesExc:
    return pytest.raises(error, match=re.escape(message))


# Lists of edges


def test_minnesota():
    path = files("semiring.data") / "minnesota_roads.csv"
    graph = read_graph(path, directed=False)
    assert (graph.n, len(graph), graph.names, graph.directed) == (2642, 3303, None, False)
    frame = pd.read_csv(str(path))
    np.testing.assert_array_equal(graph.sources, frame["from"])
    np.testing.assert_array_equal(graph.targets, frame["to"])
    np.testing.assert_array_equal(graph.weights, frame["km"])
    assert (graph.weights == 0).any()
    M = sr.adjacency(graph, sr.min_plus)
    assert np.isfinite(M.array).sum() == 2 * 3303


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.csv", "from,to,weight\n0,1,2.5\n2,0,0\n1,2,-1\n"),
        ("g.csv", "0,1,2.5\n2,0,0\n1,2,-1"),
        ("g.csv", "\ufeffsource;target;km\r\n0;1;2.5\r\n2;0;0\r\n1;2;-1\r\n"),
        ("g.csv", '"km", "to", "from"\n2.5, 1, 0\n"0","0","2"\n-1,2,1\n'),
        ("g.tsv", "# a comment\n\n0\t1\t2.5\n2\t0\t0\n1\t2\t-1\n"),
        ("g.txt", "% a comment\n0 1 2.5\n\n2   0\t0.0\n # in between\n 1 2 -1e0 \n"),
        ("g.txt", "0\t1 2.5\n2 0 0\n1 2 -1\n"),
        ("g.edges", "u v cost\n0 1 2.5\n2 0 0\n1 2 -1\n"),
        ("g.el", "0,1,2.5\n2,0,0\n1,2,-1\n"),
        ("g.edgelist", "junction other km\n0 1 2.5\n2 0 0\n1 2 -1\n"),
        ("g.gr", "c a comment\np sp 3 3\na 1 2 2.5\na 3 1 0\nc another\n\na 2 3 -1\n"),
    ],
)
def test_lists_of_edges(tmp_path, name, text, ending):
    graph = read_graph(written(tmp_path, name + ending, text))
    assert listed(graph) == EDGES and graph.n == 3 and graph.directed
    assert graph.weights.dtype == np.float64


def test_lists_without_weights_or_with_integer_weights(tmp_path):
    assert listed(read_graph(written(tmp_path, "a.txt", "0 1\n1 2\n"))) == [(0, 1, None), (1, 2, None)]
    graph = read_graph(written(tmp_path, "b.txt", "0 1 3\n1 2 4\n"))
    assert graph.weights.dtype == np.int64 and graph.weights.tolist() == [3, 4]
    assert read_graph(tmp_path / "b.txt", weight=None).weights is None
    mixed = read_graph(written(tmp_path, "c.txt", "0 1 3\n1 2 4.5\n"))
    assert mixed.weights.dtype == np.float64 and mixed.weights.tolist() == [3.0, 4.5]
    large = read_graph(written(tmp_path, "d.txt", f"0 1 3\n1 2 {2**70}\n"))
    assert large.weights.tolist() == [3.0, 2.0**70]
    assert read_graph(written(tmp_path, "e.txt", "0 1 inf\n")).weights.tolist() == [INF]


def test_names(tmp_path):
    text = 'from,to,km\n"Saint Paul, MN",Duluth,150\nDuluth,"the ""other"" one",2\n'
    graph = read_graph(written(tmp_path, "a.csv", text))
    assert listed(graph) == [("Saint Paul, MN", "Duluth", 150), ("Duluth", 'the "other" one', 2)]
    graph = read_graph(written(tmp_path, "b.tsv", "New York\tBoston\t3\nBoston\tParis, TX\t4\n"))
    assert graph.names == ["New York", "Boston", "Paris, TX"]
    assert read_graph(written(tmp_path, "c.csv", "alice,bob\nbob,carol\n")).names == ["alice", "bob", "carol"]
    assert listed(read_graph(written(tmp_path, "d.txt", "1 b\nb 2\n"))) == [("1", "b", None), ("b", "2", None)]
    assert read_graph(written(tmp_path, "e.txt", "Åland Øst 1\n")).names == ["Åland", "Øst"]


def test_columns(tmp_path):
    path = written(tmp_path, "a.csv", "id,to,from,km,lanes,kind\n7,1,0,2.5,2,x\n8,2,1,3.5,4,yy\n")
    assert listed(read_graph(path, weight="km")) == [(0, 1, 2.5), (1, 2, 3.5)]
    assert listed(read_graph(path, weight="lanes")) == [(0, 1, 2), (1, 2, 4)]
    assert listed(read_graph(path, weight=None)) == [(0, 1, None), (1, 2, None)]
    with refused("a.csv, line 1: which of the columns ['id', 'km', 'lanes', 'kind'] is the weight?"):
        read_graph(path)
    with refused("a.csv, line 1: no column is called 'kms'; did you mean 'km'?"):
        read_graph(path, weight="kms")
    path = written(tmp_path, "b.txt", "# from to weight time\n0 1 5 1094\n1 2 6 1095\n")
    assert listed(read_graph(path, weight=2)) == [(0, 1, 5), (1, 2, 6)]
    with refused("b.txt, line 2: which of the columns [2, 3] is the weight? Pass weight=2, say"):
        read_graph(path)


def test_snap_and_konect_say_whether_edges_go_both_ways(tmp_path):
    snap = "# {} graph: soc.txt\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n"
    directed = written(tmp_path, "a.txt.gz", snap.format("Directed"))
    undirected = written(tmp_path, "b.txt.gz", snap.format("Undirected"))
    assert read_graph(directed).directed and not read_graph(undirected).directed
    assert not read_graph(directed, directed=False).directed
    assert read_graph(undirected, directed=True).directed
    assert not read_graph(written(tmp_path, "c.edges", "% sym unweighted\n1 2\n")).directed
    assert read_graph(written(tmp_path, "d.edges", "% asym unweighted\n1 2\n")).directed


def test_what_libraries_write(tmp_path):
    G = nx.DiGraph()
    G.add_weighted_edges_from([("a", "b", 2.5), ("c", "a", 0.0)])
    nx.write_weighted_edgelist(G, tmp_path / "g.edgelist")
    assert listed(read_graph(tmp_path / "g.edgelist")) == [("a", "b", 2.5), ("c", "a", 0.0)]
    frame = pd.DataFrame(EDGES, columns=["source", "target", "weight"])
    frame.to_csv(tmp_path / "g.csv.gz", index=False)
    assert listed(read_graph(tmp_path / "g.csv.gz")) == EDGES
    np.savetxt(tmp_path / "g.txt", np.array(EDGES)[:, :2], fmt="%d")
    assert listed(read_graph(tmp_path / "g.txt")) == [(a, b, None) for a, b, _ in EDGES]


NAME = st.one_of(st.integers(-2, 12).map(str), st.sampled_from(["07", "+3", "a", "1.5", "nan", "9" * 20]))
WEIGHT = st.one_of(st.integers(-5, 5).map(str), st.sampled_from(["0.5", "-1e3", "inf", "nan", "x", "", "1_0", "7 8"]))


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(st.tuples(NAME, NAME, WEIGHT), min_size=1, max_size=5),
    width=st.integers(2, 3),
    comma=st.booleans(),
    comment=st.booleans(),
)
def test_the_fast_reader_and_the_careful_one_agree(tmp_path_factory, rows, width, comma, comment):
    """Whatever the fast reader accepts, the careful one reads the same; what it leaves is the careful one's."""
    lines = [("," if comma else " ").join(row[:width]) for row in rows]
    path = tmp_path_factory.mktemp("fast") / "g.txt"
    path.write_text("\n".join(lines[:1] + ["# remark"] * comment + lines[1:]) + "\n")
    try:
        text = path.read_text()
        layout = text_readers._layout(path, text, text_readers.Options())
    except sr.GraphError:
        return
    fast = text_readers._fast_columns(text, layout)
    if fast is not None:
        careful = text_readers._careful_columns(path, text, layout, text_readers.Options())
        assert [c.tolist() for c in fast] == [c.tolist() for c in careful]
        assert [c.dtype for c in fast] == [c.dtype for c in careful]


@pytest.mark.parametrize("text", ["0 1 2\n1 2 3\n", "from,to,km,note\n0,1,2.5,a\n", "0\t1\n"])
def test_plain_numbers_take_the_fast_reader(tmp_path, text):
    layout = text_readers._layout(tmp_path / "g.txt", text, text_readers.Options(weight=None))
    assert text_readers._fast_columns(text, layout) is not None


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.csv", "from,to,km\n0,1,2\n1,2,long\n", "g.csv, line 3: found the weight 'long', expected a number"),
        ("g.csv", "from,to,km\n0,1,2\n1,2,\n", "g.csv, line 3: found no weight, expected a number"),
        ("g.csv", "from,to,km\n0,1,2\n1,2,nan\n", "g.csv, line 3: found the weight 'nan', expected a number"),
        ("g.csv", "0,1,2\n\n# x\n1,2\n", "g.csv, line 4: found 2 fields, expected 3 fields separated by ','"),
        ("g.txt", "0 1\n1 2 3\n", "g.txt, line 2: found 3 fields, expected 2 fields"),
        ("g.txt", "0 1\n-1 2\n", "g.txt, line 2: found source vertex -1, expected an integer from 0 that fits 64"),
        ("g.txt", f"0 1\n2 {10**30}\n", f"line 2: found target vertex {10**30}, expected an integer from 0"),
        ("g.csv", "a,b\n,c\n", "g.csv, line 2: found no source vertex, expected a name or an integer"),
        ("g.csv", "a,b\nc,\n", "g.csv, line 2: found no target vertex"),
        ("g.csv", ",a,b\na,1,2\n", "line 1: found an empty first field, expected a source vertex (is this a table"),
        ("g.txt", "0\n1\n", "g.txt, line 1: found '0', expected a source and a target vertex"),
        ("g.csv", 'a,b\n"c,d\n', "g.csv, line 2: unexpected end of data; expected fields quoted"),
        ("g.csv", '"a,b\n', "g.csv, line 1: unexpected end of data"),
        ("g.txt", "# only\n\n% comments\n", "g.txt holds no edges, only comments and empty lines"),
        ("g.csv", "from,to,km\n", "g.csv holds no edges, only the line of column names ['from', 'to', 'km']"),
        ("g.csv.gz", "0,1\n1,2,3\n", "g.csv.gz, line 2: found 3 fields"),
        ("g.gr", "a 1 2 3\n", "g.gr, line 1: found 'a 1 2 3', expected 'p sp VERTICES ARCS' before any arc"),
        ("g.gr", "p max 3 1\na 1 2 3\n", "g.gr, line 1: found 'p max 3 1', expected 'p sp VERTICES ARCS'"),
        ("g.gr", "p sp 3 1\na 1 4 3\n", "g.gr, line 2: found vertex '4', expected an integer from 1 to 3"),
        ("g.gr", "p sp 3 1\na 0 2 3\n", "g.gr, line 2: found vertex '0', expected an integer from 1 to 3"),
        ("g.gr", "p sp 3 1\na 1 x 3\n", "g.gr, line 2: found vertex 'x'"),
        ("g.gr", "p sp 3 1\nc x\na 1 2 far\n", "g.gr, line 3: found the weight 'far', expected a number"),
        ("g.gr", "p sp 3 1\na 1 2\n", "g.gr, line 2: found 'a 1 2', expected 'a SOURCE TARGET WEIGHT'"),
        ("g.gr", "p sp 3 1\ne 1 2 3\n", "g.gr, line 2: found 'e 1 2 3', expected 'a SOURCE TARGET WEIGHT'"),
        ("g.gr", "p sp 3 4\na 1 2 3\n", "g.gr, line 1: found a problem of 4 arcs, expected the 1 that the file holds"),
        ("g.gr", "c nothing\n", "g.gr holds only comments: expected 'p sp VERTICES ARCS' and arcs"),
        ("g.mtx", "hello\n", "g.mtx, line 1: found 'hello', expected '%%MatrixMarket matrix LAYOUT FIELD SYMMETRY'"),
        (
            "g.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n1 x 4\n",
            "g.mtx, line 4: found vertex 'x', expected an integer from 1 to 2",
        ),
        (
            "g.mtx.bz2",
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 4\n",
            "g.mtx.bz2, line 3: found vertex '3', expected an integer from 1 to 2",
        ),
        (
            "g.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 3\n",
            "g.mtx, line 2: found a size of 3 entries, expected the 1 that the file holds",
        ),
        (
            "g.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 3\n",
            "g.mtx holds a 2 × 3 matrix; a graph's is square",
        ),
        (
            "g.mtx",
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 nan\n",
            "g.mtx, line 3: found the weight 'nan', expected a number",
        ),
        (
            "g.graphml",
            "<graphml>\n<graph edgedefault='directed'>\n</graphml>\n",
            "g.graphml, line 3: mismatched tag; expected GraphML",
        ),
        ("g.graphml", "<svg/>\n", "g.graphml, line 1: found <svg>, expected <graphml>"),
        ("g.npy", "text\n", "g.npy is not a file of NumPy arrays of numbers or texts"),
        ("g.npz", "PK\x03\x04 nothing\n", "g.npz is not a file of NumPy arrays of numbers or texts"),
        ("g.csv", "", "g.csv is empty"),
        ("g.gr.gz", "", "g.gr.gz is empty"),
        ("g.json", "{}", "g.json ends in '.json'; graphs are read from .csv, .tsv, .txt"),
        ("g", "0 1\n", "g has no ending; graphs are read from .csv, .tsv"),
    ],
)
def test_files_that_do_not_parse(tmp_path, name, text, message):
    path = written(tmp_path, name, text)
    with refused(message):
        read_graph(path)


def test_paths_that_hold_no_file(tmp_path):
    written(tmp_path, "roads.csv", "0,1\n")
    with refused("road.csv; did you mean 'roads.csv'?"):
        read_graph(tmp_path / "road.csv")
    (tmp_path / "folder.csv").mkdir()
    with refused("folder.csv is a folder: give a file in it"):
        read_graph(tmp_path / "folder.csv")
    with refused("there is no file"):
        read_graph(tmp_path / "nowhere" / "g.csv")
    with refused("no format is called 'cvs'; did you mean 'csv'?; known: csv, tsv, edges, mtx"):
        read_graph(tmp_path / "roads.csv", format="cvs")
    assert len(read_graph(tmp_path / "roads.csv", format="edges")) == 1


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_files_that_are_not_compressed_or_cut_short(tmp_path, ending):
    (tmp_path / f"g.csv{ending}").write_bytes(b"0,1,2.5\n")
    with refused(f"g.csv{ending} cannot be read"):
        read_graph(tmp_path / f"g.csv{ending}")
    whole = COMPRESS[ending](b"".join(b"%d,%d\n" % (k, k * k % 1009) for k in range(5000)))
    (tmp_path / f"h.csv{ending}").write_bytes(whole[: len(whole) // 2])
    with refused(f"h.csv{ending} cannot be read"):
        read_graph(tmp_path / f"h.csv{ending}")


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "g.csv").write_bytes("Åland,Øst\n".encode("latin-1"))
    with refused("g.csv is not UTF-8 text"):
        read_graph(tmp_path / "g.csv")


# DIMACS


def test_dimacs(tmp_path):
    graph = read_graph(written(tmp_path, "g.gr.gz", "c x\np sp 4 2\na 1 3 5\na 3 1 0\n"))
    assert listed(graph) == [(0, 2, 5), (2, 0, 0)] and graph.n == 4 and graph.weights.dtype == np.int64
    assert read_graph(tmp_path / "g.gr.gz", weight=None).weights is None
    assert not read_graph(tmp_path / "g.gr.gz", directed=False).directed
    assert read_graph(written(tmp_path, "h.gr", "p sp 2 0\n")).n == 2


# Matrices


@pytest.mark.parametrize("ending", COMPRESS)
def test_matrix_market(tmp_path, ending):
    scipy.io.mmwrite(tmp_path / "g.mtx", MATRIX, symmetry="general")
    (tmp_path / f"h.mtx{ending}").write_bytes(COMPRESS[ending]((tmp_path / "g.mtx").read_bytes()))
    graph = read_graph(tmp_path / f"h.mtx{ending}")
    assert sorted(listed(graph)) == sorted(EDGES) and graph.n == 4 and graph.directed
    assert read_graph(tmp_path / f"h.mtx{ending}", weight=None).weights is None


def test_matrix_market_symmetric_pattern_integer_and_dense(tmp_path):
    head = "%%MatrixMarket matrix {}\n"
    symmetric = head.format("coordinate integer symmetric") + "3 3 3\n1 1 4\n2 1 5\n3 2 0\n"
    graph = read_graph(written(tmp_path, "a.mtx", symmetric))
    assert sorted(listed(graph)) == [(0, 0, 4), (1, 0, 5), (2, 1, 0)] and not graph.directed
    assert graph.weights.dtype == np.int64
    M = sr.adjacency(graph, sr.counting)
    assert M.array.tolist() == [[4, 5, 0], [5, 0, 0], [0, 0, 0]]
    assert not read_graph(tmp_path / "a.mtx", directed=True).directed
    pattern = head.format("coordinate pattern general") + "2 2 1\n1 2\n"
    assert listed(read_graph(written(tmp_path, "b.mtx", pattern))) == [(0, 1, None)]
    assert not read_graph(tmp_path / "b.mtx", directed=False).directed
    dense = head.format("array real general") + "2 2\n0\n7\n2.5\n0\n"
    assert listed(read_graph(written(tmp_path, "c.mtx", dense))) == [(0, 1, 2.5), (1, 0, 7.0)]


def test_a_size_that_lies_allocates_nothing(tmp_path):
    path = written(tmp_path, "a.mtx", "%%MatrixMarket matrix array real general\n4000000 4000000\n1\n")
    with refused("a.mtx, line 2: found a size of 16000000000000 entries, expected the 1 that the file holds"):
        read_graph(path)


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
    with refused("g.npy: an array of shape (4, 5): edges are (m, 2) or (m, 3)"):
        read_graph(path)
    np.save(path, np.zeros((2, 2), sr.shortest_count.default_dtype))
    with refused("not of numbers"):
        read_graph(path)


def test_nothing_is_unpickled(tmp_path):
    np.save(tmp_path / "g.npy", np.array([[{}, 1], [2, 3]], dtype=object), allow_pickle=True)
    with refused("g.npy is not a file of NumPy arrays of numbers or texts"):
        read_graph(tmp_path / "g.npy")
    np.savez(tmp_path / "g.npz", row=np.array([{}], dtype=object), col=np.array([1]))
    with refused("g.npz is not a file of NumPy arrays of numbers or texts"):
        read_graph(tmp_path / "g.npz")


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_npz_of_scipy(tmp_path, format):
    sp.save_npz(tmp_path / "g.npz", MATRIX.asformat(format))
    graph = read_graph(tmp_path / "g.npz")
    assert sorted(listed(graph)) == sorted(EDGES) and graph.n == 4
    assert read_graph(tmp_path / "g.npz", weight=None).weights is None
    np.savez(tmp_path / "h.npz", format=np.array("xyz"), data=np.ones(1))
    with refused("h.npz is not a sparse matrix that SciPy writes: its format is 'xyz'"):
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
    with refused("g.npz holds a matrix of shape (2, 3); a graph's is square"):
        read_graph(tmp_path / "g.npz")


# GraphML


def test_graphml(tmp_path):
    G = nx.MultiDiGraph()
    G.add_node("lonely")
    G.add_weighted_edges_from([("a", "b", 2.5), ("a", "b", 1.5)])
    nx.write_graphml(G, tmp_path / "g.graphml")
    graph = read_graph(tmp_path / "g.graphml")
    assert graph.names == ["lonely", "a", "b"] and graph.directed
    assert listed(graph) == [("a", "b", 2.5), ("a", "b", 1.5)]
    H = nx.Graph()
    H.add_edge(2, 0, km=3)
    H.add_edge(0, 1, km=4)
    nx.write_graphml(H, tmp_path / "h.graphml.gz")
    graph = read_graph(tmp_path / "h.graphml.gz", weight="km", directed=True)
    assert graph.names is None and not graph.directed
    assert listed(graph) == [(2, 0, 3), (0, 1, 4)]
    nx.write_graphml(nx.DiGraph([(7, 5)]), tmp_path / "i.graphml")
    assert listed(read_graph(tmp_path / "i.graphml")) == [(7, 5, None)]
    with refused("no edge has the attribute 'kms'; did you mean 'km'?"):
        read_graph(tmp_path / "h.graphml.gz", weight="kms")


# Writing


def example() -> sr.Matrix:
    return sr.adjacency([("a", "b", 2.5), ("b", "c", 0.0), ("c,d", "a", 1 / 3)], sr.min_plus)


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


def test_matrices_that_cannot_be_written_leave_no_file(tmp_path):
    with refused("m.png: a matrix is written as .npy, .npz, .csv, .tsv, .mtx", sr.SemiringError):
        write_matrix(tmp_path / "m.png", example())
    objects = sr.adjacency([(0, 1, sr.letter("x"))], sr.regex)
    with refused("elements of regex are Python objects, which only .csv and .tsv hold", sr.SemiringError):
        write_matrix(tmp_path / "m.npy", objects)
    records = sr.adjacency([(0, 1, (2.0, 3))], sr.shortest_count)
    with refused("elements of shortest-count are records, which .npz and .csv hold, .mtx not", sr.SemiringError):
        write_matrix(tmp_path / "m.mtx", records)
    assert not list(tmp_path.iterdir())
