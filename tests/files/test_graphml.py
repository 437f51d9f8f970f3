"""Graphs from GraphML: values, defaults, encodings, and what is refused."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from files.reading import GRAPHML, listed, read, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files.format import Options
from semiring.files.graphml import read_graphml
from semiring.files.verbs import read_graph


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


PAIR = '<node id="a"/><node id="b"/>'
BOMB = (
    "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>"
    + "".join(f"<!ENTITY {chr(98 + i)} '{f'&{chr(97 + i)};' * 10}'>" for i in range(12))
    + "]><graphml>&m;</graphml>"
)


def test_graphml_values(tmp_path):
    body = PAIR + '<edge source="a" target="b"><data key="w"> 3 </data></edge><edge source="b" target="a"/>'
    assert listed(read(tmp_path, "g.graphml", GRAPHML.format(body))) == [("a", "b", 3), ("b", "a", 1)]
    assert listed(read(tmp_path, "g.graphml", GRAPHML.format(body), weight="km"))[0] == ("a", "b", 1.5)
    assert read(tmp_path, "g.graphml", GRAPHML.format(body).replace("int", "boolean").replace(" 3 ", "true")).weights[0]
    assert read(tmp_path, "g.graphml", GRAPHML.format(body).replace("int", "string")).weights.tolist() == [3, 1]
    latin = '<?xml version="1.0" encoding="latin-1"?>' + GRAPHML.format('<node id="Å"/>')
    assert read(tmp_path, "g.graphml", latin.encode("latin-1")).names == ["Å"]
    assert read(tmp_path, "g.graphml", GRAPHML.format('<node id="Å"/>').encode("utf-16")).names == ["Å"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('<?xml version="1.0" encoding="utfg-8"?><graphml/>', "g.graphml: unknown encoding: utfg-8: save it as UTF-8"),
        ('<?xml version="1.0" encoding="cp932"?><graphml/>', "save it as UTF-8"),
        (BOMB, "found an entity 'a', expected GraphML without entity declarations"),
        ("<graphml/>", "g.graphml is not GraphML: it has no <graph> in <graphml>"),
        ("<graphml><graph/></graphml>", "found edgedefault=None, expected 'directed' or 'undirected'"),
        ("<graphml><graph edgedefault='directed'/><graph edgedefault='directed'/></graphml>", "found a second graph"),
        (GRAPHML.format("<node/>"), "found <node> without id="),
        (GRAPHML.format('<node id="a"/>' * 2), "found a second node 'a'"),
        (GRAPHML.format('<node id="a"><graph/></node>'), "found edgedefault=None, expected 'directed' or 'undirected'"),
        (GRAPHML.format(PAIR + '<edge source="a" target="b"><graph edgedefault="directed"/></edge>'),
         "found a graph within an edge"),
        (GRAPHML.format('<graph edgedefault="directed"/>'), "found a graph in the wrong place"),
        (GRAPHML.format('<node id="a"><graph edgedefault="directed"><node id="a"/></graph></node>'),
         "found a second node 'a'"),
        (GRAPHML.format(PAIR + '<edge source="a" target="c"/>'), "found an edge of 'c', expected the id of a <node>"),
        (GRAPHML.format(PAIR + '<edge source="a"/>'), "found <edge> without target="),
        (
            GRAPHML.format(PAIR + '<edge source="a" target="b" directed="no"/>'),
            "found an edge with directed='no', expected true or false",
        ),
        (GRAPHML.format(PAIR + "<hyperedge/>"), "found a <hyperedge>"),
        *[
            (
                GRAPHML.format(f'{PAIR}<edge source="a" target="b"><data key="w">{word}</data></edge>'),
                "found the weight",
            )
            for word in ("x", "", "1.5", "٣", "1_0", "9" * 30)
        ],
        (
            GRAPHML.format(f'{PAIR}<edge source="a" target="b"><data key="w"><b/>1</data></edge>'),
            "found <b> within a value",
        ),
        (GRAPHML.format(f'{PAIR}<edge source="a" target="b"><data key="x">1</data></edge>'), "found a value of 'x'"),
        (
            GRAPHML.format(PAIR + '<edge source="a" target="b">' + '<data key="w">1</data>' * 2 + "</edge>"),
            "a second 'weight'",
        ),
        ("<graphml>" + "<a>" * 200_000, "no element found"),
    ],
)
def test_graphml_that_is_none(tmp_path, data, message):
    with refused(message):
        read(tmp_path, "g.graphml", data)


WEIGHTED = st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(-9, 9) | st.floats(0, 1))
NUMBERS = [{}, {"a": 2, "b": 0, "c": 1}, {"a": 7, "b": 5, "c": 6}]


@settings(max_examples=40)
@given(st.lists(WEIGHTED, max_size=6), st.sampled_from([nx.MultiGraph, nx.MultiDiGraph]), st.sampled_from(NUMBERS))
def test_what_networkx_writes_is_the_graph_that_it_was(edges, make, numbers):
    G = make()
    G.add_nodes_from(numbers.get(v, v) for v in "cba")
    G.add_weighted_edges_from((numbers.get(a, a), numbers.get(b, b), float(w)) for a, b, w in edges)
    data = "\n".join(nx.generate_graphml(G)).encode()
    graph, same = read_graphml(Path("g.graphml"), data, Options()), sr.as_graph(G)
    assert (graph.n, graph.names, graph.directed) == (same.n, same.names, same.directed)
    assert listed(graph) == listed(same)


def test_keys_of_other_elements_and_nested_data_are_passed_over(tmp_path):
    text = (
        '<graphml><key id="c" for="node" attr.name="weight" attr.type="string"/>'
        '<key id="w" for="all" attr.name="weight" attr.type="float"/><key id="n" attr.name="note"/>'
        '<graph edgedefault="undirected"><data key="n">of the graph</data>'
        '<node id="1"><data key="c">red</data></node><node id="0"/>'
        '<edge source="1" target="0" directed="false"><desc>a road</desc><data key="n">old</data>'
        '<data key="w">3</data></edge></graph></graphml>'
    )
    graph = read(tmp_path, "g.graphml", text)
    assert listed(graph) == [(1, 0, 3.0)] and not graph.directed and graph.weights.dtype == np.float64
    with refused("no edge has the attribute 'not'; did you mean 'note'?"):
        read(tmp_path, "g.graphml", text.replace('<data key="n">old</data>', ""), weight="not")
    with refused("found a second attribute 'weight', expected one attribute of weights"):
        read(tmp_path, "g.graphml", text.replace('for="node"', 'for="edge"'))


def test_edges_of_both_kinds_go_each_way_where_they_are_undirected(tmp_path):
    def edges(*ways):
        return PAIR + "".join(f'<edge source="a" target="b"{way}><data key="d">{k}</data></edge>'
                              for k, way in enumerate(ways, 1))

    one, both = ' directed="true"', ' directed="false"'
    for default in ("directed", "undirected"):
        text = GRAPHML.replace("directed", default).format
        mixed = read(tmp_path, "g.graphml", text(edges(one, both)), weight="km")
        assert mixed.directed and listed(mixed) == [("a", "b", 1.0), ("a", "b", 2.0), ("b", "a", 2.0)]
        assert read(tmp_path, "g.graphml", text(edges(one, one)), weight="km").directed
        assert not read(tmp_path, "g.graphml", text(edges(both, both)), weight="km").directed
        free = read(tmp_path, "g.graphml", text(edges(one, both)), weight="km", directed=False)
        assert not free.directed and listed(free) == [("a", "b", 1.0), ("a", "b", 2.0)]
    loop = '<edge source="a" target="a" directed="false"/>'
    assert len(read(tmp_path, "g.graphml", GRAPHML.format(edges(one) + loop))) == 2


def test_groups_of_yed_are_vertices_beside_their_members(tmp_path):
    text = GRAPHML.format(
        '<node id="n0" yfiles.foldertype="group"><graph edgedefault="undirected" id="n0:">'
        '<node id="n0::n0"/><node id="n0::n1"><graph edgedefault="directed"><node id="deep"/></graph></node>'
        '<edge source="n0::n0" target="n0::n1"/></graph></node><node id="n1"/>'
        '<edge source="n1" target="deep"><data key="w">5</data></edge><edge source="n0" target="n1"/>'
    )
    graph = read(tmp_path, "g.graphml", text)
    assert graph.names == ["n0", "n0::n0", "n0::n1", "deep", "n1"]
    assert listed(graph) == [("n0::n0", "n0::n1", 1), ("n1", "deep", 5), ("n0", "n1", 1), ("n0::n1", "n0::n0", 1)]


def test_floats_as_c_prints_them_in_hexadecimal(tmp_path):
    text = GRAPHML.format(PAIR + '<edge source="a" target="b"><data key="d">{}</data></edge>').replace
    for spelled, value in (("0x1.8p+1", 3.0), ("-0X1P-2", -0.25), ("0xff", 255.0)):
        assert read(tmp_path, "g.graphml", text("{}", spelled), weight="km").weights.tolist() == [value]
    for bad in ("0x1p9999", "0x", "1p3"):
        with refused(f"found the weight {bad!r}, expected a number"):
            read(tmp_path, "g.graphml", text("{}", bad), weight="km")


def test_several_attributes_are_records(tmp_path):
    G = nx.DiGraph()
    G.add_edge("a", "b", capacity=9, latency=4.5)
    G.add_edge("b", "c", latency=1.0, capacity=5)
    G.add_edge("a", "c", capacity=2)
    file = tmp_path / "links.graphml"
    nx.write_graphml(G, file)
    graph = sr.read_graph(file, weight=["capacity", "latency"])
    assert sorted(graph.edges()) == [("a", "b", (9, 4.5)), ("a", "c", (2, 1.0)), ("b", "c", (5, 1.0))]
    assert graph.weights.dtype == [("capacity", "i8"), ("latency", "f8")]
    assert sr.read_graph(file, weight=["latency"]).weights.dtype.names == ("latency",)
    for weight, message in ((["capacity", "delay"], "no edge has the attribute 'delay'"),
                            (["capacity", "weight"], "no edge has the attribute 'weight'")):
        with pytest.raises(sr.GraphError, match=message):
            sr.read_graph(file, weight=weight)
