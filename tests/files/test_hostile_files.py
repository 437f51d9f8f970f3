"""Files that are damaged, or made to do harm: only `SemiringError` and `OSError` come out, and nothing is misread."""

from __future__ import annotations

import gzip
import io
import os
import random
import subprocess
import sys
import threading
import warnings
from functools import partial
from pathlib import Path

import file_oracle
import numpy as np
import pandas as pd
import pytest
from files.reading import COORDINATE, GRAPHML, ONE, archive, child, listed, raw_npy, read, refused
from fuzz import files as fuzz

import semiring as sr
from semiring.files import archives as archive_readers
from semiring.files import streams
from semiring.machine import memory

FUZZER = Path(__file__).parents[1] / "fuzz" / "files.py"
ESCAPE = "\x1b]0;title\x07\x1b[2J"


# Mutated files


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_mutated_files_of_every_format(seed: int) -> None:
    command = [sys.executable, FUZZER, "--count", "150", "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"1200 files, 0 faults, seed {seed}\n")


@pytest.mark.slow
def test_the_fuzzer_finds_a_misreading_a_raw_exception_an_abort_and_a_hang() -> None:
    done = subprocess.run([sys.executable, FUZZER, "--self-check"], capture_output=True, text=True)
    assert done.stdout.split() == "misread: found raw: found abort: found hang: found".split(), (
        done.stdout + done.stderr
    )
    assert done.returncode == 0


GML = (b'# c\ngraph [\n directed 1 label "x"\n node [ id 0 label "a" x 1.5 graphics [ w 3 ] ]\n node [ id 7 ]\n'
       b' edge [ source 0 target 7 weight 2.5 label "e" ]\n edge [ source 7 target 0 weight "3" ]\n]\n')
PAJEK = b"""*Network n\n*Vertices 4 2\n1 "a" 0.1 0.2\n3 "c\\"d"\n*Arcs\n1 3 2.5\n/* c */\n3 2\n*Edges
2 4 -1 c Red\n*Arcslist\n1 2 3\n*Edgeslist\n4 1\n"""
LIKE = {"gml": [GML], "pajek": [PAJEK, b"*Vertices 2\n*Matrix\n0 1.5\n2 0\n"]}
READ_BY_OTHERS = {"parquet": lambda: pd.DataFrame({"from": ["a", "b"], "to": ["b", "c"], "w": [1, 2]}).to_parquet(),
                  "square": lambda: pd.DataFrame([[0, 1.5], [2, 0]], list("ab"), list("ab")).to_parquet()}


@pytest.mark.parametrize("format", [*LIKE, *READ_BY_OTHERS, *fuzz.SEEDS])
def test_no_error_of_others_comes_out(format: str) -> None:
    """Files that were cut, swapped, or changed at random, as their graph and as their matrix."""
    r = random.Random(format)
    other = READ_BY_OTHERS[format]() if format in READ_BY_OTHERS else None
    for _ in range(250):
        data = other or (r.choice(LIKE[format]) if format in LIKE else fuzz.SEEDS[format](r))
        for _ in range(r.choice([1, 1, 2, 4])):
            data = fuzz.mutated(r, data, format not in ("npy", "npz", *READ_BY_OTHERS))
        options = r.choice([{}, {}, {"weight": None}, {"directed": False}, {"names": str}, {"absent": 0},
                            {"label": "id"}, {"source": 0, "target": 1}, {"weight": ["a", "b"]}, {"header": True}])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sr.SemiringWarning)
            for read in (sr.read_graph, partial(sr.read_matrix, S="min-plus"), partial(sr.read_matrix, S="boolean")):
                try:
                    read(io.BytesIO(data), format="parquet" if other else format, **options)
                except (sr.SemiringError, OSError):
                    pass
                except MemoryError:
                    pytest.fail(f"{format}: {data!r} takes all memory")


# Texts. Both readers, on characters that are digits to Unicode, to C, or to neither


def test_names_that_look_like_numbers_stay_names(tmp_path):
    assert read(tmp_path, "a.csv", "007,7,1\n7,8,2\n").names == ["007", "7", "8"]
    assert read(tmp_path, "b.csv", "+3,4\n4,5\n", header=False).names == ["+3", "4", "5"]
    assert read(tmp_path, "c.csv", "1,-0\n").names == ["1", "-0"]
    assert read(tmp_path, "d.csv", "0,1,007\n1,0,+2.5\n").weights.tolist() == [7.0, 2.5]
    assert read(tmp_path, "e.csv", "0,1,-0.5\n").names is None
    assert read(tmp_path, "f.csv", "1,2,3\n", names=str).names == ["1", "2"]
    graph = read(tmp_path, "g.graphml", GRAPHML.format('<node id="3"/><node id="4"/>'), names=str)
    assert graph.names == ["3", "4"]
    assert read(tmp_path, "g.graphml", GRAPHML.format('<node id="03"/><node id="4"/>')).names == ["03", "4"]
    with refused("g.gr: names=str has no meaning in the format gr, only in csv, tsv, txt, edges, graphml, gml, pajek, "
                 "parquet: leave it out"):
        read(tmp_path, "g.gr", "p sp 1 0\n", names=str)
    with refused("names=<class 'int'> is not a type of names: pass names=str to read all vertices as names"):
        sr.read_graph(tmp_path / "a.csv", names=int)


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
        with refused(f"sparse matrices have up to 2147483647 rows, but the graph has {n} vertices", sr.SemiringError):
            sr.closure(graph, sr.min_plus)
        monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    with refused("sparse rows needs", sr.SemiringError):
        sr.closure(sr.as_graph([(0, 10**8)], 10**8 + 1), sr.min_plus)


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
