"""GML and Pajek, by NetworkX's readers."""

from __future__ import annotations

import builtins
import gzip
from pathlib import Path

import networkx as nx
from files.reading import listed, read, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files.formats import READERS
from semiring.files.text import Options

NAMES = ["a", "007", "7", "1e5", "nan", "a b", "Å", "c,d", "x;y"]

EDGE = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from([0, 3, 2.5, -1.0]))


@settings(max_examples=80, deadline=None)
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
