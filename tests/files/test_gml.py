"""GML."""

from __future__ import annotations

import gzip
from pathlib import Path

import networkx as nx
from files.reading import listed, read, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files.format import Options
from semiring.files.formats import FORMATS

NAMES = ["a", "007", "7", "1e5", "nan", "a b", "Å", "c,d", "x;y"]

EDGE = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from([0, 3, 2.5, -1.0]))


@settings(max_examples=80)
@given(st.lists(EDGE, max_size=6), st.sampled_from([nx.MultiGraph, nx.MultiDiGraph]))
def test_what_networkx_writes_in_gml(edges, make):
    G = make()
    G.add_nodes_from(NAMES)
    G.add_weighted_edges_from(edges)
    graph = FORMATS["gml"].read(Path("g.gml"), "\n".join(nx.generate_gml(G)).encode(), Options())
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
    for bad, message in (
        (text.replace('"7"', '"Åre"'), "line 1: found a second node with label 'Åre', after line 1"),
        (text.replace("target 1", "target 9"), "line 1: found an edge of 9, expected the id of a node"),
        (text.replace(" target 1", ""), "line 1: found edge without target"),
        (text.replace("km 2.5", "km 2.5 km 3"), "line 1: found a second 'km' of edge"),
        (text.replace("2.5", '"far"'), "line 1: found the weight 'far', expected a number"),
        (text.replace("2.5", "nan"), "line 1: found the weight 'nan', expected a number"),
        (text.replace("2.5", "1e999"), "line 1: found km '1e999', expected a number"),
        (text.replace("2.5", "9" * 400), "line 1: found the weight "),
        (text.replace("2.5", "[ ]"), "line 1: found a list for 'km'"),
        (text.replace("id 1", "id 3"), "line 1: found a second node with id 3"),
        (text.replace("id 1", ""), "line 1: found node without id"),
        (text.replace('"7"', '"7'), "line 1: found a text without an end"),
        (text[:-3], "line 1: found the end of the file, expected ']' for"),
        (text + "]", "line 1: found ']', expected a key"),
        (text + "\n" + text, "line 2: found a second graph"),
        ("graph [ node 3 ]", "line 1: found node 3, expected 'node [ … ]'"),
        ("graph [ directed ]", "line 1: found ']' after 'directed'"),
        ("graph [ 3 4 ]", "line 1: found '3', expected a key"),
        ("digraph {}", "line 1: found digraph '{}', expected a number"),
        ("# nothing", "g.gml is not GML"),
        ("[" * 5000, "line 1: found '[', expected a key"),
        ("a [ " * 50_000, "line 1: found the end of the file"),
    ):
        with refused(message):
            read(tmp_path, "g.gml", bad, weight="km")


def test_gml_of_other_programs(tmp_path):
    def gml(nodes, edges, directed=1):
        return f"Creator \"x\"\ngraph [\n directed {directed}\n" + "".join(
            f" {kind} [ {each} ]\n" for kind, parts in (("node", nodes), ("edge", edges)) for each in parts) + "]\n"

    parallel = ["source 4 target 9 weight 8", "source 4 target 9 weight 3", "source 9 target 4"]
    hub = ['id 4 label "hub"', 'id 9 label "rim"']
    for directed in (0, 1):
        graph = read(tmp_path, "g.gml", gml(hub, parallel, directed))
        assert graph.directed == bool(directed)
        assert listed(graph) == [("hub", "rim", 8), ("hub", "rim", 3), ("rim", "hub", 1)]
    # labels of edges alone: vertices are called by their ids
    edges = ['source 4 target 9 weight 8 label "pipe"', "source 9 target 6"]
    graph = read(tmp_path, "g.gml", gml(["id 4", "id 9", "id 6"], edges))
    assert graph.names == [4, 9, 6] and listed(graph) == [(4, 9, 8), (9, 6, 1)]
    # vertices that are called alike, and some without a label
    for nodes in (['id 4 label "x"', 'id 9 label "x"', "id 6 label 7"], ["id 4 label 1", "id 9", "id 6"]):
        with refused('pass label="id" to use ids as names'):
            read(tmp_path, "g.gml", gml(nodes, edges))
        assert listed(read(tmp_path, "g.gml", gml(nodes, edges), label="id")) == [(4, 9, 8), (9, 6, 1)]
    called = gml(['id 4 label "x" town "Ayr"', 'id 9 label "x" town "Dale"'], parallel)
    assert read(tmp_path, "g.gml", called, label="town").names == ["Ayr", "Dale"]
    with refused("found node 4 without 'village'"):
        read(tmp_path, "g.gml", called, label="village")
    # weights that are texts, large integers, texts of several lines, lists and comments
    text = gml(['id 0 label "two\r\nlines &amp; &#228;"', 'id 1 label "b]" graphics [ x 1 y [ z 2 ] ]'],
               [*(f'source 0 target 1 weight "{w}"' for w in ("1.5", " 3 ", 2**62)),
                "source 1 target 0 weight 1e3 # ]\n"])
    graph = read(tmp_path, "g.gml", text)
    assert graph.names == ["two\r\nlines & ä", "b]"] and graph.weights.tolist() == [1.5, 3, 2**62, 1000.0]
    with refused("line 7: found the weight 'far'"):
        read(tmp_path, "g.gml", text.replace('"1.5"', '"far"'))
