"""Pajek."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from files.reading import listed, read, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files.format import Options
from semiring.files.formats import FORMATS

NAMES = ["a", "007", "7", "1e5", "nan", "a b", "Å", "c,d", "x;y"]


def test_pajek(tmp_path):
    text = '*Vertices 3\n1 "Ayr"\n2 "007"\n3 "alone at sea"\n*Arcs\n1 2 2.5\n2 1 0\n'
    graph = read(tmp_path, "g.net", text)
    assert graph.names == ["Ayr", "007", "alone at sea"] and graph.directed
    assert listed(graph) == [("Ayr", "007", 2.5), ("007", "Ayr", 0.0)]
    assert not read(tmp_path, "g.net", text.replace("*Arcs", "*Edges")).directed
    with refused("g.net, line 3: found a second vertex called 'Ayr', expected different labels; pass label="):
        read(tmp_path, "g.net", text.replace('"007"', '"Ayr"'))
    again = read(tmp_path, "g.net", text.replace('"007"', '"Ayr"'), label="id")
    assert again.names == [1, 2, 3] and listed(again) == [(1, 2, 2.5), (2, 1, 0.0)]
    with refused("vertices of Pajek have no 'town'"):
        read(tmp_path, "g.net", text, label="town")


PAJEK = '*Vertices 3\n1 "a"\n2 "b"\n3 "7"\n'


@pytest.mark.parametrize(
    "edges, message",
    [
        ("*Arcs\n1 2 x\n", "line 6: found the weight 'x', expected a number"),
        ("*Arcs\n1 2 1e400\n", "line 6: found the weight '1e400', expected a number"),
        ("*Arcs\n1 2 nan\n", "line 6: found the weight 'nan', expected a number"),
        ("*Arcs\n1\n2 3 4\n", "line 6: found '1', expected the numbers of two vertices"),
        ("*Arcslist\n1\n2 3 4\n", "line 6: found '1', expected the numbers of two vertices"),
        ("*Arcs\n1 7 4\n", "line 6: found vertex '7', expected an integer from 1 to 3"),
        ("*Arcs\n1: 1 2 4\n", "line 6: found vertex '1:', expected an integer from 1 to 3"),
        ("*Edgeslist\n1 2 0\n", "line 6: found vertex '0', expected an integer from 1 to 3"),
        ("*Matrix\n1 2 0\n", "line 5: found a matrix of 3 numbers, expected 3 rows of 3"),
        ("*Matrix\n", "line 5: found a matrix of 0 numbers, expected 3 rows of 3"),
        ("*Matrix\n1 2 b\n", "line 6: found the weight 'b', expected a number"),
        ('*Arcs :1 "likes"\n1 2\n*Arcs :2 "knows"\n1 3\n', "line 8: found a second relation ':2'"),
        ("*Partition club\n", "line 5: found '*Partition', expected one network: *Vertices, and then *Arcs"),
        ("*Vertices 3\n", "line 5: found a second '*Vertices'"),
        ("3\n", "line 5: found vertex 3 again, after line 4"),
        ("4\n", "line 5: found vertex '4', expected an integer from 1 to 3"),
    ],
)
def test_pajek_that_is_refused(tmp_path, edges, message):
    with refused(message):
        read(tmp_path, "g.net", PAJEK + edges)


@pytest.mark.parametrize(
    "text, message",
    [
        ("*Arcs\n", "line 1: found no vertices, expected '*Vertices N' above the edges"),
        ("% only this\n", "line 1: found no vertices"),
        ("*Network x\n1 2\n", "line 2: found '1 2', expected '*Vertices N'"),
        ("1 2\n", "line 1: found '1 2', expected '*Vertices N'"),
        ("*Vertices\n", "line 1: found '*Vertices', expected '*Vertices N'"),
        ("*Vertices 2 3\n", "line 1: found '*Vertices 2 3'"),
        ("*Vertices -2\n", "line 1: found '*Vertices -2'"),
        ("*Vertices 999999999999\n", "line 1: found 999999999999 vertices, but lines for 0, expected a line for each"),
    ],
)
def test_pajek_without_vertices(tmp_path, text, message):
    with refused(message):
        read(tmp_path, "g.net", text)


def test_pajek_of_its_manual(tmp_path):
    arcs = "*Arcs\n1 2 5\n3 2\n"
    # lines of vertices lack, in part or all; comments; a relation; what stands behind a weight
    lacking = '/* a comment */\n% another\n*Network n\n*Vertices 3\n2 "b" 0.1 0.2 box ic Red\n' + arcs
    graph = read(tmp_path, "g.net", lacking)
    assert graph.names == ["1", "b", "3"] and listed(graph) == [("1", "b", 5.0), ("3", "b", 1.0)]
    graph = read(tmp_path, "g.net", "*vertices 3\n" + arcs)
    assert graph.names == [1, 2, 3] and listed(graph) == [(1, 2, 5.0), (3, 2, 1.0)] and graph.directed
    graph = read(tmp_path, "g.net", "/* two\nlines */\n" + PAJEK + '*ARCS :4 "x"\n1 2 5 c Blue\n/* 2 3 9\n3 2 1\n')
    assert listed(graph) == [("a", "b", 5.0), ("7", "b", 1.0)]
    # edges among arcs go each way, a loop once
    graph = read(tmp_path, "g.net", PAJEK + arcs + "*Edges\n2 3 7\n3 3 4\n")
    assert graph.directed
    assert listed(graph) == [("a", "b", 5.0), ("7", "b", 1.0), ("b", "7", 7.0), ("7", "7", 4.0), ("7", "b", 7.0)]
    graph = read(tmp_path, "g.net", PAJEK + arcs + "*Edges\n2 3 7\n", directed=False)
    assert not graph.directed and listed(graph) == [("a", "b", 5.0), ("7", "b", 1.0), ("b", "7", 7.0)]
    # lists
    graph = read(tmp_path, "g.net", PAJEK + "*Arcslist\n1 2 3\n2 3\n")
    assert graph.directed and listed(graph) == [("a", "b", None), ("a", "7", None), ("b", "7", None)]
    graph = read(tmp_path, "g.net", PAJEK + "*Edgeslist\n1 2 3\n")
    assert not graph.directed and listed(graph) == [("a", "b", None), ("a", "7", None)]
    # matrices, of one mode and of two
    graph = read(tmp_path, "g.net", PAJEK + "*Matrix\n0 0.5 0\n0 0 2.25\n1.5e0 0 0\n")
    assert graph.directed and listed(graph) == [("a", "b", 0.5), ("b", "7", 2.25), ("7", "a", 1.5)]
    graph = read(tmp_path, "g.net", PAJEK + "*Matrix\n-1 0 -1\n-1 -1 2\n-1 -1 -1\n", absent=-1)
    assert listed(graph) == [("a", "b", 0.0), ("b", "7", 2.0)]
    modes = '*Vertices 5 3\n1 "ada"\n2 "bea"\n3 "cleo"\n4 "golf"\n5 "opera"\n'
    graph = read(tmp_path, "g.net", modes + "*Edges\n1 4 2\n2 5 3\n")
    assert not graph.directed and listed(graph) == [("ada", "golf", 2.0), ("bea", "opera", 3.0)] and graph.n == 5
    graph = read(tmp_path, "g.net", modes + "*Matrix\n2 0\n0 3\n0 .5\n")
    assert not graph.directed
    assert listed(graph) == [("ada", "golf", 2.0), ("bea", "opera", 3.0), ("cleo", "opera", 0.5)]
    for size in ("3 0", "3 3"):  # one mode all the same
        assert read(tmp_path, "g.net", PAJEK.replace("3", size, 1) + "*Matrix\n0 1 0\n0 0 0\n0 0 0\n").directed


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


EDGES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 9)), min_size=1, max_size=6)


@settings(max_examples=60)
@given(EDGES, st.sampled_from([nx.MultiGraph, nx.MultiDiGraph]))
def test_what_networkx_writes_in_pajek(edges, make):
    G = make()
    G.add_nodes_from(NAMES)
    G.add_weighted_edges_from((NAMES[u], NAMES[v], w) for u, v, w in edges)
    graph = FORMATS["pajek"].read(Path("g.net"), "\n".join(nx.generate_pajek(G)).encode(), Options())
    assert (graph.n, graph.names, graph.directed) == (len(NAMES), NAMES, G.is_directed())
    assert sorted(listed(graph)) == sorted(G.edges(data="weight"))
