"""Graphs from files of every format, matrices to files, and what is said of files that do not parse."""

from __future__ import annotations

import json
import re

import networkx as nx
import pytest
from files.reading import COMPRESS, example, refused, written

import semiring as sr
from semiring.files import formats
from semiring.files.verbs import read_graph, write_matrix


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.csv", "from,to,km\n0,1,2\n1,2,long\n", "g.csv, line 3: found the weight 'long' in the column"),
        ("g.csv", "from,to,km\n0,1,2\n1,2,\n", "g.csv, line 3: found no weight in the column 'km', expected a number"),
        ("g.csv", "from,to,km\n0,1,2\n1,2,nan\n", "g.csv, line 3: found the weight 'nan' in the column 'km', expected"),
        ("g.csv", "0,1,2\n\n# x\n1,2\n", "g.csv, line 4: found 2 fields, expected 3 fields separated by ','"),
        ("g.txt", "0 1\n1 2 3\n", "g.txt, line 2: found 3 fields, expected 2 fields"),
        ("g.txt", "0 1\n-1 2\n3 4\n", "g.txt, line 2: found source vertex -1, expected an integer from 0 that fits 64"),
        ("g.txt", f"0 1\n2 {10**30}\n3 4\n", f"line 2: found target vertex {10**30}, expected an integer from 0"),
        ("g.csv", "a,b\n,c\n", "g.csv, line 2: found no source vertex, expected a name or an integer"),
        ("g.csv", "a,b\nc,\n", "g.csv, line 2: found no target vertex"),
        ("g.csv", ",a,b\na,1,2\n", "line 1, field 3: found the column 'b', expected a row of the same"),
        ("g.txt", "0\n1\n", "g.txt, line 1: found '0', expected a source and a target vertex"),
        ("g.csv", 'a,b\n"c,d\n', "g.csv, line 2: unexpected end of data; expected fields that are in quotation marks"),
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
            "g.mtx holds a 2 × 3 matrix: a graph needs a square matrix",
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
        ("g.json", "{}", ".json is not read here; NetworkX reads it, for example in sr.closure(networkx.node_link"),
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
    with refused("folder.csv is a folder: pass a file in it"):
        read_graph(tmp_path / "folder.csv")
    with refused("there is no file"):
        read_graph(tmp_path / "nowhere" / "g.csv")
    with refused("no format is called 'cvs'; did you mean 'csv'?; known: csv, tsv, txt, edges, mtx"):
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


def test_matrices_that_cannot_be_written_leave_no_file(tmp_path):
    known = ".csv, .tsv, .mtx, .gr, .npy, .npz, .graphml, .gml, .net, .pajek, .parquet, .pq"
    with refused(f"m.png: a matrix is written as {known}", sr.SemiringError):
        write_matrix(tmp_path / "m.png", example())
    objects = sr.adjacency([(0, 1, sr.letter("x"))], sr.regex)
    with refused("elements of regex are Python objects, which .npy cannot hold: write .csv or .tsv", sr.SemiringError):
        write_matrix(tmp_path / "m.npy", objects)
    records = sr.adjacency([(0, 1, (2.0, 3))], sr.shortest_count)
    why = "elements of shortest-count are records, which Matrix Market cannot hold: write .csv, .tsv, .npy, .npz or "
    with refused(f"{why}.parquet", sr.SemiringError):
        write_matrix(tmp_path / "m.mtx", records)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("ending", "call"), sorted(formats.ELSEWHERE.items()))
def test_formats_that_others_read(tmp_path, ending, call):
    """The call that a message names exists, and where NetworkX writes the format, what it reads is closed."""
    path = tmp_path / f"g{ending}"
    path.write_text("x")
    with refused(f"{ending} is not read here; ") as caught:
        read_graph(path)
    told = re.search(r"sr\.closure\((.*), S\)", str(caught.value))[1]
    assert told == call.format(repr(str(path)))
    with refused(f"{ending} is not read here; "):
        read_graph(tmp_path / "g.csv", format=ending[1:])
    G = nx.DiGraph([("a", "b"), ("b", "c")])
    write = {".gexf": nx.write_gexf, ".adjlist": nx.write_adjlist, ".multiadj": nx.write_multiline_adjlist,
             ".json": lambda G, path: path.write_text(json.dumps(nx.node_link_data(G)))}.get(ending)
    if write is not None:
        write(G, path)
        C = sr.closure(eval(told, {"networkx": nx, "json": json}), sr.min_plus)
        assert C["a", "c"] == 2


def test_archives_are_to_be_unpacked(tmp_path):
    (tmp_path / "g.zip").write_bytes(b"PK")
    with refused("g.zip is an archive: unpack it first; only .gz, .bz2, .xz are decompressed here"):
        read_graph(tmp_path / "g.zip")
