"""GML and Pajek, by NetworkX's readers."""

from __future__ import annotations

import builtins
import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from files.reading import listed, read, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files.formats import READERS
from semiring.files.text import Options

NAMES = ["a", "007", "7", "1e5", "nan", "a b", "Å", "c,d", "x;y"]

EDGE = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from([0, 3, 2.5, -1.0]))


@settings(max_examples=80)
@given(st.lists(EDGE, max_size=6), st.sampled_from([nx.MultiGraph, nx.MultiDiGraph]))
def test_what_networkx_writes_in_gml(edges, make):
    G = make()
    G.add_nodes_from(NAMES)
    G.add_weighted_edges_from(edges)
    graph = READERS["gml"](Path("g.gml"), "\n".join(nx.generate_gml(G)).encode(), Options())
    same = sr.as_graph(G)
    assert (graph.n, graph.names, graph.directed) == (same.n, NAMES, same.directed)
    assert listed(graph) == listed(same)


def test_gml(tmp_path):
    text = ('graph [ directed 1 node [ id 3 label "Åre" ] node [ id 1 label "7" ] '
            "edge [ source 3 target 1 km 2.5 toll 1 ] ]")
    graph = read(tmp_path, "g.gml", text, weight="km")
    assert listed(graph) == [("Åre", "7", 2.5)] and graph.names == ["Åre", "7"]
    both = read(tmp_path, "g.gml.gz", gzip.compress(text.encode()), weight=["toll", "km"])
    assert both.weights.tolist() == [(1, 2.5)]
    plain = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]"
    assert read(tmp_path, "g.gml", plain).names is None and not read(tmp_path, "g.gml", plain).directed
    assert read(tmp_path, "g.gml", plain, names=str).names == ["0", "1"]
    with refused("no edge has the attribute 'hours'"):
        read(tmp_path, "g.gml", text, weight=["km", "hours"])
    twice, lost = text.replace('"7"', '"Åre"'), text.replace("target 1", "target 9")
    for bad in (twice, lost, text[:-3], "digraph {}", "[" * 5000):
        with refused("g.gml is not GML that NetworkX reads: "):
            read(tmp_path, "g.gml", bad)


def test_pajek(tmp_path):
    text = '*Vertices 3\n1 "Ayr"\n2 "007"\n3 "alone at sea"\n*Arcs\n1 2 2.5\n2 1 0\n'
    graph = read(tmp_path, "g.net", text)
    assert graph.names == ["Ayr", "007", "alone at sea"] and graph.directed
    assert listed(graph) == [("Ayr", "007", 2.5), ("007", "Ayr", 0.0)]
    assert not read(tmp_path, "g.net", text.replace("*Arcs", "*Edges")).directed
    with refused("g.net, line 1: found 3 vertices with 2 different labels, expected a label of its own"):
        read(tmp_path, "g.net", text.replace('"007"', '"Ayr"'))
    with refused("found no vertices, expected '*Vertices N' above the edges"):
        read(tmp_path, "g.net", "*Arcs\n")
    for bad in ("*Vertices 5\n1 a\n", '*Vertices 1\n1 "a\n', text + "9 9 1\n"):
        with refused("g.net"):
            read(tmp_path, "g.net", bad)


PAJEK = '*Vertices 3\n1 "a"\n2 "b"\n3 "7"\n'


@pytest.mark.parametrize(
    "edges, message",
    [
        ("*Arcs\n1 2 5\n*Edges\n2 3 7\n", "line 8: found lines of '*Edges', expected one list of edges"),
        ("*Edges\n1 2 5\n*Arcs\n2 3 7\n", "line 8: found lines of '*Arcs', expected one list of edges"),
        ("*Arcslist\n1 2 3\n", "line 6: found lines of '*Arcslist', expected one list of edges"),
        ("*Edgeslist\n1 2 3\n", "line 6: found lines of '*Edgeslist', expected one list of edges"),
        ("*Arcs\n1 2 5\n*Matrix\n0 1 0\n", "line 7: found '*Matrix', expected nothing behind"),
        ("*Arcs\n1 2 x\n", "line 6: found the weight 'x', expected a number"),
        ("*Arcs\n1 2 1e400\n", "line 6: found the weight '1e400', expected a number"),
        ("*Arcs\n1\n2 3 4\n", "line 6: found '1', expected the numbers of two vertices"),
        ("*Arcs\n1 7 4\n", "line 6: found '1 7 4', expected the numbers of two vertices"),
    ],
)
def test_pajek_that_networkx_reads_as_something_else(tmp_path, edges, message):
    with refused(message):
        read(tmp_path, "g.net", PAJEK + edges)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_pajek_with_a_section_without_lines(tmp_path, end):
    for empty, full, directed in (("*Arcs", "*Edges", False), ("*Edges", "*Arcs", True), ("*Arcslist", "*Arcs", True)):
        for sections in (f"{empty}\n\n{full}\n1 2 5\n2 3\n", f"{full}\n1 2 5\n2 3\n{empty}\n"):
            graph = read(tmp_path, "g.net", (PAJEK + sections).replace("\n", end))
            assert graph.directed is directed and listed(graph) == [("a", "b", 5.0), ("b", "7", 1.0)]
    graph = read(tmp_path, "g.net", PAJEK + "*Arcs\n*Edges\n")
    assert (graph.n, listed(graph), graph.directed) == (3, [], False)
    assert listed(read(tmp_path, "g.net", PAJEK + "*Matrix\n0 1 0\n0 0 0\n2 0 0\n")) == [("a", "b", 1), ("7", "a", 2)]


@pytest.mark.parametrize("name", ["a\r", "\r", "a\rb", "a\v\f\x1c\x85\u2028", " a ", '*Arcs "', "% a"])
def test_pajek_labels_with_other_ends_of_lines(tmp_path, name):
    M = sr.Matrix([[0.0, 2.5], [np.inf, 1.0]], "min-plus", names=[name, "7"])
    sr.write_matrix(tmp_path / "m.net", M)
    again = sr.read_matrix(tmp_path / "m.net", "min-plus")
    assert again.names == M.names and np.array_equal(again.array, M.array)


def test_without_networkx(tmp_path, monkeypatch):
    plain = builtins.__import__

    def without(name, *more):
        if name.startswith("networkx"):
            raise ImportError(name)
        return plain(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    for name, what in (("g.gml", "GML"), ("g.net", "Pajek")):
        with refused(f"{name}: {what} is read by NetworkX: pip install networkx", sr.SemiringError):
            read(tmp_path, name, "x")
