"""One graph under several algebras: columns against plain loops, and what is said where weights or closures lack."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.teach.comparison import DRAWN

inf = math.inf
SVG = "{http://www.w3.org/2000/svg}"
ROADS = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)])
LOOPS = {"min_plus": (min, lambda x, y: x + y, inf, 0.0), "max_min": (max, min, -inf, inf),
         "boolean": (lambda x, y: x or y, lambda x, y: x and y, False, True)}


def closed(n: int, edges: dict[tuple[int, int], Any], name: str) -> list[list[Any]]:
    """Three loops over Python's numbers."""
    plus, times, zero, one = LOOPS[name]
    D = [[edges.get((i, j), zero) for j in range(n)] for i in range(n)]
    for k in range(n):
        D = [[plus(D[i][j], times(D[i][k], D[k][j])) for j in range(n)] for i in range(n)]
    return [[plus(one, D[i][j]) if i == j else D[i][j] for j in range(n)] for i in range(n)]


@st.composite
def graphs(draw: Any) -> tuple[int, dict[tuple[int, int], float]]:
    n = draw(st.integers(1, 5))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    return n, {edge: float(w) for edge, w in draw(st.dictionaries(ends, st.integers(1, 9), max_size=8)).items()}


@settings(max_examples=40)
@given(graphs())
def test_every_column_is_the_closure(graph: tuple[int, dict[tuple[int, int], float]]) -> None:
    n, edges = graph
    A = np.full((n, n), inf)
    for ends, weight in edges.items():
        A[ends] = weight
    edge_list = sr.as_graph([(*ends, weight) for ends, weight in edges.items()] or np.empty((0, 2), int), n)
    reach = {"boolean": dict.fromkeys(edges, True)}
    for given_ in (A, sr.Matrix(A, sr.min_plus), edge_list):
        C = sr.compare(given_, [*LOOPS], weights=reach)
        for name in LOOPS:
            weights = reach["boolean"] if name == "boolean" else edges
            assert C[name].array.tolist() == closed(n, weights, name), name
        ElementTree.fromstring(C._repr_svg_())
        ElementTree.fromstring(C._repr_html_())


def test_the_same_graph_in_other_clothes() -> None:
    expected = sr.compare(ROADS, [sr.min_plus])[sr.min_plus].array
    network = nx.DiGraph()
    network.add_weighted_edges_from(ROADS.edges())
    array = np.asarray(sr.adjacency(ROADS, sr.min_plus))
    frame = pd.DataFrame(array, index=list("abc"), columns=list("abc"))
    for A in (network, array, frame, sr.adjacency(ROADS, sr.min_plus), array.tolist(), sr.prepare(array, sr.min_plus),
              sp.csr_array(([3.0, 4.0, 9.0], ([0, 1, 0], [1, 2, 2])), shape=(3, 3))):
        C = sr.compare(A, [sr.min_plus, sr.boolean])
        assert np.array_equal(C[sr.min_plus].array, expected)
        assert C[sr.boolean].array.tolist() == np.isfinite(expected).tolist()
    assert sr.compare(frame, [sr.min_plus])["min_plus"]["a", "c"] == 7
    bits = np.array([[0, 1], [0, 0]], bool)
    for A in (bits, sr.pack(bits)):
        hops = sr.compare(A, [sr.min_plus, sr.boolean])[sr.min_plus]
        assert hops.array.tolist() == [[0, 1], [inf, 0]], "an edge without a weight is one hop"


@pytest.mark.parametrize("weights", [
    {("a", "b"): 0.5, ("b", "c"): 0.5, ("a", "c"): 0.125}, [0.5, 0.5, 0.125], (0.5, 0.5, 0.125),
    np.array([0.5, 0.5, 0.125]), np.array([[0, 0.5, 0.125], [0, 0, 0.5], [0, 0, 0]]),
    sp.csr_array([[0, 0.5, 0.125], [0, 0, 0.5], [0, 0, 0]]),
    sr.Matrix(np.array([[0, 0.5, 0.125], [0, 0, 0.5], [0, 0, 0]]), sr.viterbi),
], ids=lambda w: type(w).__name__)
@pytest.mark.parametrize("key", [sr.viterbi, "viterbi"])
def test_weights_for_one_algebra(weights: Any, key: Any) -> None:
    C = sr.compare(ROADS, [sr.min_plus, sr.viterbi], weights={key: weights})
    assert C[sr.viterbi]["a", "c"] == 0.25 and C[sr.min_plus]["a", "c"] == 7
    assert list(C.closures) == C.algebras == [sr.min_plus, sr.viterbi] and not C.failures


def test_undirected_graphs_take_weights_of_edges_either_way() -> None:
    graph = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)], directed=False)
    for weights in ({("b", "a"): 0.5, ("b", "c"): 0.5}, np.array([[0, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0]])):
        C = sr.compare(graph, [sr.viterbi], weights={sr.viterbi: weights})
        assert C[sr.viterbi]["c", "a"] == C[sr.viterbi]["a", "c"] == 0.25
    assert "polyline" in C._repr_svg_() and "polygon" not in C._repr_svg_(), "lines, not arrows"
    with pytest.raises(sr.GraphError, match="weights are not symmetric"):
        sr.compare(graph, [sr.viterbi], weights={sr.viterbi: np.triu(weights)})


@pytest.mark.parametrize(("algebras", "options", "message"), [
    ([sr.min_plus, sr.viterbi], {}, r"viterbi lacks weights on this graph: edge 0 \('a' → 'b'\): the weight 3 is "
     r"outside the carrier of viterbi.*Pass weights=\{S: …\} for it: a matrix, a mapping of edges to elements, or a "),
    ([sr.regex], {"weights": {sr.regex: [sr.letter("x")]}}, "regex lacks weights .*: 1 weight for 3 edges"),
    ([sr.viterbi], {"weights": {sr.viterbi: {("a", "b"): 0.5}}}, r"the edge \('b', 'c'\) has no weight"),
    ([sr.viterbi], {"weights": {sr.viterbi: {("b", "a"): 0.5}}}, r"weights contains \('b', 'a'\), which is not"),
    ([sr.viterbi], {"weights": {sr.viterbi: np.full((3, 3), 0.5)}}, r"weights\[0, 0\] is 0.5, but there is no "),
    ([sr.viterbi], {"weights": {sr.viterbi: 0.5}}, "viterbi lacks weights .*: 0.5 is not a matrix of 3 × 3"),
    ([sr.viterbi], {"weights": {sr.min_plus: [1, 2, 3]}}, "weights contains min-plus, which is not among"),
    ([sr.viterbi], {"weights": [1, 2, 3]}, r"weights must be a mapping of algebras to weights, .*not \[1, 2"),
    ([sr.min_plus], {"source": "d"}, "'d'"), ([sr.min_plus], {"target": 7}, "7"),
    (sr.min_plus, {}, "algebras must be a list, such as"), ([], {}, "algebras must be a list, such as"),
    (["min_pluss"], {}, "unknown algebra 'min_pluss': did you mean 'min_plus'"),
])
def test_what_is_missing_is_named(algebras: Any, options: Any, message: str) -> None:
    with pytest.raises(sr.SemiringError, match=message):
        sr.compare(ROADS, algebras, **options)


@pytest.mark.parametrize("A", [[("a", "b", 1.0, "c")], np.ones((2, 3)), np.ones((2, 2, 2)), np.ones(3)])
def test_what_is_no_graph_is_refused(A: Any) -> None:
    with pytest.raises(sr.SemiringError):
        sr.compare(A, [sr.min_plus])


def test_an_algebra_without_a_closure_says_so_in_its_column() -> None:
    graph = sr.as_graph([("a", "b", 1.0), ("b", "a", 1.0)])
    C = sr.compare(graph, [sr.min_plus, sr.max_plus, sr.plus_min, sr.plus_times])
    assert [*C.closures] == [sr.min_plus] and [*C.failures] == [sr.max_plus, sr.plus_min, sr.plus_times]
    assert "improving" in str(C.failures[sr.max_plus]) and "No closure: the closure over max-plus" in str(C)
    page = ElementTree.fromstring(C._repr_html_())
    assert [t.findtext("./tbody/tr/th") for t in page.iter("table")] == ["a"]
    told = [text.text or "" for text in page.iter("div") if (text.text or "").startswith("No closure: ")]
    assert told == [f"No closure: {failure}" for failure in C.failures.values()] and len(told) == 3
    with pytest.raises(sr.NoClosureError, match="improving"):
        _ = C[sr.max_plus]
    with pytest.raises(sr.SemiringError, match="max-min was not compared, only min-plus, max-plus"):
        _ = C["max_min"]


def test_a_part_is_shown_and_the_whole_is_kept() -> None:
    C = sr.compare(ROADS, [sr.min_plus, sr.min_plus, "max_min"], source="a", target="c")
    assert str(C).startswith("Closures of 3 vertices and 3 edges under 2 algebras, from a to c\n")
    rows = [line.split(maxsplit=2) for line in str(C).splitlines()[3:5]]
    assert rows == [["min-plus", "7", "a → b → c"], ["max-min", "9", "a → c"]]
    assert C.walks == {sr.min_plus: ["a", "b", "c"], sr.max_min: ["a", "c"]}
    assert C[sr.min_plus].shape == (3, 3)
    assert len(ElementTree.fromstring(C._repr_html_()).findall(".//tbody/tr/td")) == 2


def test_one_vertex_makes_a_row_for_each_algebra() -> None:
    for ends, expected in (({"source": "b"}, [["a", "b", "c"], ["·", "0", "4"], ["·", "∞", "4"]]),
                           ({"target": "b"}, [["a", "b", "c"], ["3", "0", "·"], ["3", "∞", "·"]])):
        C = sr.compare(ROADS, [sr.min_plus, sr.max_min], **ends)
        head, *rows = (line.split() for line in str(C).splitlines()[2:5])
        assert [head, *(row[1:] for row in rows)] == expected and [row[0] for row in rows] == ["min-plus", "max-min"]
        assert not C.walks, "a walk has two ends"


def test_a_best_walk_is_shown_where_there_is_one() -> None:
    C = sr.compare(ROADS, [sr.min_plus, sr.max_min, sr.counting, sr.max_plus], source="a", target="c",
                   weights={"counting": [1, 1, 1]})
    assert C.walks == {sr.min_plus: ["a", "b", "c"], sr.max_min: ["a", "c"], sr.max_plus: ["a", "c"]}, "+ selects none"
    page = ElementTree.fromstring(C._repr_svg_())
    assert len(page.findall(f".//{SVG}g[@class='sr-walk']")) == 2 + 1 + 1, "its edges stand out"
    assert "The walk a → b → c stands out." in (page.findtext(f"{SVG}desc") or "")
    back = sr.compare(ROADS, [sr.min_plus], source="c", target="a")
    assert not back.walks and str(back).splitlines()[2:4] == ["          a", "min-plus  ·"]
    undirected = sr.as_graph([("a", "b", 1.0), ("b", "c", 1.0)], directed=False)
    lines = ElementTree.fromstring(sr.compare(undirected, [sr.min_plus], source="c", target="a")._repr_svg_())
    assert len(lines.findall(f".//{SVG}g[@class='sr-walk']/{SVG}polyline")) == 2


def test_every_algebra_has_a_panel_with_its_own_weights() -> None:
    C = sr.compare(ROADS, [sr.min_plus, sr.viterbi, sr.boolean], weights={"viterbi": [0.5, 0.25, 0.125]})
    for markup in (C._repr_svg_(), C._repr_html_()):
        page = ElementTree.fromstring(markup)
        told = [(text.text or "") for text in page.iter() if text.tag.split("}")[-1] in ("text", "div", "strong")]
        assert {"3", "4", "9", "0.5", "0.25", "0.125", "min-plus", "viterbi"} <= set(told)
        assert "every edge has the weight 1" in told, "what all edges share is said once"
        assert len(list(page.iter(f"{SVG}polygon"))) == 3 * 3
    page = ElementTree.fromstring(C._repr_svg_())
    assert len(list(page.iter(f"{SVG}rect"))) == 1 + 3 * 3
    assert "viterbi: Edges: a to b, 0.5; b to c, 0.25; a to c, 0.125." in (page.findtext(f"{SVG}desc") or "")
    large = sr.compare(np.full((DRAWN + 1,) * 2, 2.0), [sr.min_plus])
    assert f"{DRAWN + 1} vertices are too many to draw (at most {DRAWN})" in large._repr_svg_()
    assert "…" in str(large), "of large matrices the corners are shown"


def test_vertices_have_the_same_places_in_all_panels() -> None:
    graph = sr.as_graph([(u, v, float(7 * u + v)) for u in range(6) for v in range(6) if (u * v + u) % 3 == 1])
    C = sr.compare(graph, [sr.min_plus, sr.max_min, sr.boolean], weights={"max_min": [1e-5] * (len(graph) - 1) + [7]})
    places = [[(box.get("x"), box.get("y")) for box in ElementTree.fromstring(str(C._draw(S))).iter(f"{SVG}rect")][1:]
              for S in C.algebras]
    assert places[0] == places[1] == places[2] and len(places[0]) == graph.n


def vertices_of(C: sr.Comparison) -> dict[str, tuple[float, float]]:
    """Where the first panel has the middle of each vertex."""
    panel = ElementTree.fromstring(C._repr_html_()).find(f".//{SVG}svg")
    assert panel is not None
    boxes = [box for box in panel.iter(f"{SVG}rect") if box.get("class") == "sr-node"]
    names = [text.text or "" for text in panel.iter(f"{SVG}text")][-len(boxes):]
    return {name: (float(box.get("x", "")) + float(box.get("width", "")) / 2, float(box.get("y", "")))
            for name, box in zip(names, boxes, strict=True)}


def test_positions_are_those_of_explain() -> None:
    """One graph has one layout on a page: the same parameter, and without it the same circle."""
    positions = {"a": (0, 0), "c": (2, 0), "b": (1, 2)}
    for given_ in (positions, [positions[v] for v in "abc"], None):
        C = sr.compare(ROADS, [sr.min_plus, sr.max_min], positions=given_)
        assert C.places == sr.explain(ROADS, sr.min_plus, positions=given_).positions
    found = vertices_of(sr.compare(ROADS, [sr.min_plus], positions=positions))
    assert found["a"][1] == found["c"][1] > found["b"][1] and found["a"][0] < found["b"][0] < found["c"][0]
    for bad in ({"a": (0, 0), "b": (1, 1)}, [(0, 0)], [(0, 0), (1, 1), (2, np.nan)], "abc", 7, [(0,), (1,), (2,)],
                [(0, 0, 1)] * 3, {"a": 1, "b": 2, "c": 3}):
        for ask in (sr.compare, sr.explain):
            algebras = [sr.min_plus] if ask is sr.compare else sr.min_plus
            with pytest.raises(sr.SemiringError, match="positions"):
                ask(ROADS, algebras, positions=bad)
    with pytest.raises(sr.GraphError, match="'x'"):
        sr.compare(ROADS, [sr.min_plus], positions=positions | {"x": (1, 1)})
    loop = sr.compare(sr.as_graph([("a", "a", 2.0), ("a", "b", 1.0)]), [sr.max_min], positions=[(0, 0), (0, 0)])
    assert "nan" not in loop._repr_svg_(), "a loop in the middle of the picture has a direction"


def test_negative_numbers_have_the_minus_sign_of_the_pages() -> None:
    C = sr.compare(sr.as_graph([("a", "b", -3.0), ("b", "c", -1.5), ("a", "c", 2.0)]), [sr.min_plus], source="a")
    for shown in (repr(C), C._repr_html_(), C._repr_svg_()):
        assert "−3" in shown and "−4.5" in shown and ">-3" not in shown and " -4.5" not in shown


def test_records_and_objects() -> None:
    C = sr.compare(ROADS, [sr.shortest_hops, sr.regex], weights={"regex": [sr.letter(x) for x in "xyz"]})
    assert tuple(C[sr.shortest_hops]["a", "c"]) == (7, 2) and str(C[sr.regex]["a", "c"]) == "z|xy"
    assert "(7, 2)" in str(C) and "z|xy" in str(C)


@pytest.mark.parametrize("A", [
    np.empty((0, 0)), np.array([[3.0]]), np.full((2, 2), inf), sr.as_graph([("<b>&", "道路\x1b", 2.0)]),
], ids=["nothing", "a loop", "no edge", "odd names"])
def test_small_graphs_and_odd_names(A: Any) -> None:
    C = sr.compare(A, [sr.min_plus])
    ElementTree.fromstring(C._repr_svg_())
    ElementTree.fromstring(C._repr_html_())
    assert str(C).startswith("Closures of ") and "\x1b" not in str(C) and "min-plus" in str(C)
