"""Lists of edges: separators, headers, names, and the fast reader against the careful one."""

from __future__ import annotations

import csv
import io
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from files.reading import COMPRESS, EDGES, FIELD, listed, read, refused, written
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files import numerals
from semiring.files import text as text_readers
from semiring.files.format import Options
from semiring.files.streams import BLANKS, text_of
from semiring.files.verbs import read_graph

INF = np.inf
# vertices in examples may begin with any number
pytestmark = pytest.mark.filterwarnings("ignore:.*compact=True to leave:semiring.SemiringWarning")


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
    file = written(tmp_path, name + ending, text)
    header = None
    if name in ("g.csv", "g.tsv", "g.txt") and not re.search("km|from", text):  # no names of columns
        header = False
        with refused("could be 3 edges or a matrix of 3 vertices: pass header=False for edges"):
            read_graph(file)
    graph = read_graph(file, header=header)
    assert listed(graph) == EDGES and graph.n == 3 and graph.directed
    assert graph.weights.dtype == np.float64


def test_lists_without_weights_or_with_integer_weights(tmp_path):
    assert listed(read_graph(written(tmp_path, "a.edges", "0 1\n1 2\n"))) == [(0, 1, None), (1, 2, None)]
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
    with refused("a.csv, line 1: which of the columns ['km', 'lanes'] is the weight?"):
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
    assert not read_graph(written(tmp_path, "c.edges", "% sym\n1 2\n")).directed
    for head in ("% asym unweighted", "% symptoms", "%"):
        assert read_graph(written(tmp_path, "d.edges", f"{head}\n1 2\n")).directed


def test_the_sides_of_a_bipartite_graph_are_told_apart(tmp_path):
    """KONECT numbers both from 1: vertex 1 on the left would be vertex 1 on the right."""
    for head in ("% bip unweighted", "% bip", "%bip weighted\n% 2 2 2"):
        with refused("a bipartite graph, whose left and right vertices are both numbered from 1"):
            read_graph(written(tmp_path, "a.edges", f"{head}\n1 2\n2 2\n"))
    with refused("c.edges, line 3: found 1 field"):
        read_graph(written(tmp_path, "c.edges", "% bip\nfrom to weight\n7267\n"))
    assert listed(read_graph(written(tmp_path, "b.edges", "% bip unweighted\nL1 R2\nL2 R2\n"))) == [
        ("L1", "R2", None), ("L2", "R2", None)]
    assert listed(read_graph(written(tmp_path, "c.edges", "# bip bip\n1 2\n"))) == [(1, 2, None)]


def test_a_first_line_with_a_weight_that_nobody_reads_names_the_columns(tmp_path):
    path = written(tmp_path, "a.tsv", "Site A\tSite B\t8.5abc\n4\t2\t38\n")
    assert listed(read_graph(path, weight=None)) == [(4, 2, None)]
    with refused("8.5abc"):
        read_graph(path)


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


@settings(max_examples=300)
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
        careful, _ = text_readers._careful_columns(path, text, layout, text_readers.Options())
        assert [c.tolist() for c in fast] == [c.tolist() for c in careful]
        assert [c.dtype for c in fast] == [c.dtype for c in careful]


@pytest.mark.parametrize("text", ["0 1 2\n1 2 3\n", "from,to,km,note\n0,1,2.5,a\n", "0\t1\n"])
def test_plain_numbers_take_the_fast_reader(tmp_path, text):
    layout = text_readers._layout(tmp_path / "g.txt", text, text_readers.Options(weight=None))
    assert text_readers._fast_columns(text, layout) is not None


@settings(max_examples=600)
@given(
    rows=st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=4),
    width=st.integers(2, 3),
    mark=st.sampled_from([",", " ", "\t", ";"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    long=st.booleans(),
)
def test_the_fast_reader_and_the_careful_one_agree_on_any_characters(rows, width, mark, end, long):
    text = end.join([mark.join(row[:width]) for row in rows] * (300 if long else 1)) + end
    try:
        layout = text_readers._layout(Path("g.csv"), text, Options())
    except sr.GraphError:
        return
    fast = text_readers._fast_columns(text, layout)
    if fast is not None:
        careful, _ = text_readers._careful_columns(Path("g.csv"), text, layout, Options())
        assert [c.tolist() for c in fast] == [c.tolist() for c in careful]
        assert [c.dtype for c in fast] == [c.dtype for c in careful]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("odd", ["", "007,1,2", "1,2,-0", "1,-0,2", "1,2,3,", "1,2,٣", "1,2,1e400", '1,2,"3"', "1,2"])
def test_large_tables_are_read_as_small_ones(end, odd):
    rows = [f"{k},{k * 7 % 1000},{k / 8}" for k in range(70_000)]
    rows.insert(50_000, odd)
    text = end.join(rows) + end
    assert len(text) > numerals.FILE_CHARACTERS
    layout = text_readers._layout(Path("g.csv"), text, Options())
    fast = text_readers._fast_columns(text, layout)
    if odd:
        assert fast is None
    else:
        careful, _ = text_readers._careful_columns(Path("g.csv"), text, layout, Options())
        assert [c.tolist() for c in fast] == [c.tolist() for c in careful]


@pytest.mark.parametrize("name", ["木", "火", "東", "ग", "1🎉", "١", "１", "1\u00a0", "\ufeff1"])
def test_letters_that_are_digits_somewhere_are_names(tmp_path, name):
    for rows in (1, 500):
        graph = read(tmp_path, "g.csv", f"b,{name},5\n{name},b,7\n" * rows)
        assert graph.names == ["b", name] and graph.weights.tolist() == [5, 7] * rows
    with refused("found the weight '7★', expected a number"):
        read(tmp_path, "g.csv", "0,1,5\n1,0,7★\n")
    with refused("found the weight '٣', expected a number"):
        read(tmp_path, "g.csv", "0,1,5\n1,0,٣\n")


def test_what_the_first_line_is_taken_for(tmp_path):
    doubtful = "Site A,Site B\nAyr,Bute\nBute,Coll\n"
    (tmp_path / "g.csv").write_text(doubtful)
    with pytest.warns(sr.SemiringWarning, match="line 1: .*'Site A', 'Site B'.* was read as an edge, .* header=True"):
        assert len(sr.read_graph(tmp_path / "g.csv")) == 3
    assert listed(sr.read_graph(tmp_path / "g.csv", header=True)) == [("Ayr", "Bute", None), ("Bute", "Coll", None)]
    assert len(sr.read_graph(tmp_path / "g.csv", header=False)) == 3
    (tmp_path / "h.txt").write_text("u v\nv w\n")
    with pytest.warns(sr.SemiringWarning, match="was read as names of columns, and line 2 has a vertex 'v'"):
        assert listed(sr.read_graph(tmp_path / "h.txt")) == [("v", "w", None)]
    assert len(sr.read_graph(tmp_path / "h.txt", header=False)) == 2
    assert listed(read(tmp_path, "i.csv", "7,8,9\n1,2,3\n", header=True)) == [(1, 2, 3)]
    assert listed(read(tmp_path, "j.csv", "from,to\n", header=False)) == [("from", "to", None)]
    with refused("k.mtx: header= has no meaning in the format mtx, only in csv, tsv, txt, edges: leave it out"):
        read(tmp_path, "k.mtx", "x", header=True)


def test_the_place_of_a_warning_is_the_caller(tmp_path):
    (tmp_path / "h.txt").write_text("u v\nv w\n")
    with pytest.warns(sr.SemiringWarning) as caught:
        sr.read_graph(tmp_path / "h.txt")
    assert caught[0].filename == __file__


def test_a_column_of_weights_is_no_end(tmp_path):
    with refused(
        "g.csv, line 1: of the columns ['node', 'weight'] one is the weight, which leaves one for the two ends"
    ):
        read(tmp_path, "g.csv", "node,weight\n0,7\n1,9\n")
    with refused("which leaves one for the two ends"):
        read(tmp_path, "g.csv", "node,Weight\n0,7\n1,9\n", weight=None)
    with refused("the column 'to' holds an end of the edges, not their weights"):
        read(tmp_path, "g.csv", "from,to,km\n0,7,1\n", weight="to")
    assert listed(read(tmp_path, "g.csv", "weight,a,b\n5,0,1\n")) == [(0, 1, 5)]
    assert listed(read(tmp_path, "g.csv", "5,0,1\n", weight=0)) == [(0, 1, 5)]
    with refused("which leaves one for the two ends"):
        read(tmp_path, "g.csv", "0,1\n", weight=1)


def test_quotations_over_lines_hold_no_comments(tmp_path):
    graph = read(tmp_path, "g.csv", '"a\n#b",c,1\r\n# remark\nc,d,2\n')
    assert graph.names == ["a\n#b", "c", "d"]
    graph = read(tmp_path, "h.csv", '"from","to\nwhere",km\nc,d,2\n', header=True)
    assert listed(graph) == [("c", "d", 2)]


def test_texts_that_are_no_text(tmp_path):
    with refused("g.csv, line 2: found a NUL character, expected text"):
        read(tmp_path, "g.csv", b"0,1\n0,\0\n")
    with refused("is not UTF-8 text (invalid start byte in line 1); it begins like UTF-16: save it as UTF-8"):
        read(tmp_path, "g.csv", "a,b\n".encode("utf-16"))
    with refused("g.csv, line 1: found the weight 'xxxx") as caught:
        read(tmp_path, "g.csv", f"a,b,{'x' * 10**5}\n", header=False)
    assert len(str(caught.value)) < 1000
    with refused("found vertex '99"):
        read(tmp_path, "g.gr", f"p sp 2 1\na 1 {'9' * 6000} 1\n")
    with refused("found the weight '1e400', expected a number that fits 64 bits"):
        read(tmp_path, "g.csv", "0,1,1e400\n")


LETTERS = st.sampled_from('ab"#%\n\r \u2028') | st.characters(exclude_categories=["Cs"], exclude_characters="\0,;\t")
NAMES = st.text(LETTERS, min_size=1, max_size=4).filter(lambda name: name.strip(BLANKS) == name != text_readers.NULL)
BEFORE = ["", "\ufeff", "# remark, 1\n\n"]


@settings(max_examples=150)
@given(
    st.lists(st.tuples(NAMES, NAMES, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=5),
    st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n"]), st.sampled_from(BEFORE),
)
def test_names_of_any_letters_are_read_as_they_were_written(edges, mark, end, before):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=mark, quoting=csv.QUOTE_ALL, lineterminator=end).writerows(
        [(a, b, repr(w)) for a, b, w in edges])
    data = (before + file.getvalue()).encode()
    graph = text_readers.read_edges(Path("g.csv"), text_of(Path("g.csv"), data), Options(header=False, names=str))
    assert listed(graph) == edges
    assert graph.names == list(dict.fromkeys(name for a, b, _ in edges for name in (a, b)))


def test_the_direction_of_a_file_that_tells_none():
    assert [Options(directed=d).one_way for d in (None, True, False)] == [True, True, False]


@pytest.mark.filterwarnings("ignore::semiring.SemiringWarning")
def test_marks_within_quotations_separate_nothing(tmp_path: Path) -> None:
    file = tmp_path / "quoted.csv"
    file.write_text('"a;b;c",d\n"e;f;g","h ""i;"""\n')
    assert list(sr.read_graph(file).names) == ["a;b;c", "d", "e;f;g", 'h "i;"']


TABLE = "id,to,latency,from,capacity\n1,b,4,a,9.5\n2,c,6,b,9\n3,c,1,a,5\n"


def test_several_columns_of_weights_are_records(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text(TABLE)
    graph = sr.read_graph(file, weight=["capacity", "latency"])
    assert list(graph.edges()) == [("a", "b", (9.5, 4)), ("b", "c", (9.0, 6)), ("a", "c", (5.0, 1))]
    assert graph.weights is not None and graph.weights.dtype == [("capacity", "f8"), ("latency", "i8")]
    R = sr.paths(graph, (sr.max_min, sr.min_plus))  # the components in the order of the columns
    assert tuple(R["a", "c"].weight) == (9.0, 10.0)
    turned = sr.read_graph(file, weight=["latency", "capacity"])
    assert sr.closure(turned, sr.widest_shortest)["a", "c"].tolist() == (1, 5)
    same = sr.read_graph(file, source="to", target="from", weight=("Latency",), header=True)
    assert list(same.reverse().edges()) == [("a", "b", (4,)), ("b", "c", (6,)), ("a", "c", (1,))]
    assert ("a", "1") in sr.read_graph(file, source="from", target="id", weight=None, names=str).edges()
    assert sr.read_graph(file, source="from", target="to", weight="capacity").weights.tolist() == [9.5, 9, 5]
    for S, message in ((sr.min_plus, "are records .capacity, latency., but the elements of"),
                       (sr.k_best(3), "weights have the components .capacity, latency., and an element of 3-best")):
        with pytest.raises(sr.GraphError, match=message):
            sr.closure(graph, S)


@pytest.mark.parametrize(("options", "message"), [
    ({"weight": ["capacity", "latencies"]}, "no column is called 'latencies'; did you mean 'latency'?"),
    ({"weight": ["capacity", "capacity"]}, "the column 'capacity' is used twice"),
    ({"source": "from", "target": "from"}, "the column 'from' is used twice"),
    ({"source": "from"}, "pass both, or neither"), ({"weight": []}, "weight=.. names no column"),
    ({"source": "from", "target": "too"}, "no column is called 'too'.*needed as the target"),
    ({"source": "from", "target": "to"}, "which of the columns .* is the weight"),
    ({"source": "from", "target": "to", "weight": ["to"]}, "the column 'to' is used twice"),
    ({"weight": ["capacity", ["latency"]]}, "no column is called"),
])
def test_columns_that_there_are_not(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text(TABLE)
    with pytest.raises(sr.GraphError, match=message):
        sr.read_graph(file, **options)


def test_a_bad_weight_among_several_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "links.txt"
    file.write_text("0 1 2 3\n1 2 x 4\n")
    with pytest.raises(sr.GraphError, match="line 2: found the weight 'x'"):
        sr.read_graph(file, weight=[2, 3])
    file.write_text("0 1 2 3\n1 2 4 5.5\n")
    graph = sr.read_graph(file, weight=[3, 2])
    assert graph.weights.dtype == [("3", "f8"), ("2", "i8")] and graph.weights.tolist() == [(3.0, 2), (5.5, 4)]
    assert graph.names is None
    with pytest.raises(sr.GraphError, match="a list of columns in weight= has no meaning in the format mtx, only"):
        sr.read_graph(file, format="mtx", weight=[2, 3])
    with refused("source= has no meaning in the format graphml, only in csv, tsv, txt, edges, parquet: leave it out"):
        sr.read_graph(file, format="graphml", source=0, target=1)


ROW = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(-99, 99), st.sampled_from([0.5, 1.0, -3.25]))


@given(st.lists(ROW, min_size=1, max_size=8), st.permutations(range(4)), st.booleans())
def test_columns_in_any_order(rows: list[tuple[Any, ...]], order: list[int], header: bool) -> None:
    """As they were written."""
    labels = ["tail", "head", "cost", "width"]
    lines = [[row[k] for k in order] for row in rows]
    text = "".join(" ".join(map(str, line)) + "\n" for line in ([[labels[k] for k in order]] if header else []) + lines)
    where = labels if header else [order.index(k) for k in range(4)]
    options = Options(source=where[0], target=where[1], weight=[where[2], where[3]], header=header)
    graph = text_readers.read_edges(Path("g.txt"), text, options)
    assert list(zip(graph.sources, graph.targets, graph.weights.tolist(), strict=True)) == [
        (a, b, (c, w)) for a, b, c, w in rows]
    assert graph.weights.dtype[0] == np.int64 and graph.weights.dtype.names == tuple(map(str, where[2:]))


@pytest.mark.parametrize("weight", ["weight", ["cost", "weight"]])
def test_a_name_over_two_columns_is_nobodys(tmp_path: Path, weight: Any) -> None:
    text = "from,to,weight,cost,weight\na,b,1,2,3\n"
    with pytest.raises(sr.GraphError, match="line 1: two columns are called 'weight', numbers 2 and 4: rename one"):
        read(tmp_path, "g.csv", text, weight=weight)
    assert list(read(tmp_path, "g.csv", text, weight="cost").edges()) == [("a", "b", 2)]  # the others do not matter


@pytest.mark.parametrize("weight", ["1,5", "1,000", "1.000,5"])
def test_other_marks_than_the_point_are_named(tmp_path: Path, weight: str) -> None:
    with pytest.raises(sr.GraphError, match=f"line 2: found the weight '{weight}' in .*, with a decimal point"):
        read(tmp_path, "g.csv", f"from;to;weight\na;b;{weight}\n")


MEANT = ["1e400", "0x10", "1_000", "∞", "−∞", "1,5", "NA", "null", "-", "", "3 km", "€ 3", "True", "٣"]


@pytest.mark.parametrize("weight", MEANT)
@pytest.mark.parametrize("line", [1, 2])
def test_a_first_edge_whose_weight_is_no_number_is_not_taken_for_names_of_columns(
    tmp_path: Path, weight: str, line: int
) -> None:
    """Its vertices appear nowhere else, so that the edge would be gone without a word."""
    edges = [f"Ayr;Bute;{weight}", "Coll;Dale;2"] if line == 1 else ["Coll;Dale;2", f"Ayr;Bute;{weight}"]
    with refused(f"g.csv, line {line}: found ") as caught:
        read(tmp_path, "g.csv", "\n".join(edges) + "\n")
    assert ("header=True if this line names the columns" in str(caught.value)) == (line == 1)
    if line == 1:
        assert listed(sr.read_graph(tmp_path / "g.csv", header=True)) == [("Coll", "Dale", 2)]


@pytest.mark.parametrize("first", ["Site A;Site B;way", "1st;2nd;length", "from;to;2", "x;y;nil"])
def test_names_of_columns_that_no_weight_looks_like(tmp_path: Path, first: str) -> None:
    if first == "from;to;2":
        assert listed(read(tmp_path, "g.csv", f"{first}\n3;4;2\n")) == [(3, 4, 2)]
    else:
        assert listed(read(tmp_path, "g.csv", f"{first}\nColl;Dale;2\n")) == [("Coll", "Dale", 2)]


@pytest.mark.parametrize("text", ["a b 1,5\nb c 2,5\n", "0 1 1,5\n1 2 2\n", "a b 1,5 2,5\n", "a b -0,5"])
def test_a_decimal_comma_between_blanks_separates_no_names(tmp_path: Path, text: str) -> None:
    """Once "a b 1" was read as a vertex, with an edge to "5"."""
    columns = len(text.split("\n")[0].split())
    with refused("a decimal point and no other mark"):
        read(tmp_path, "g.txt", text, weight="weight" if columns == 3 else [2, 3])


def test_commas_between_names_with_blanks(tmp_path: Path) -> None:
    assert listed(read(tmp_path, "a.csv", "Big A 1,2,5\nBig B 2,3,6\n")) == [("Big A 1", "2", 5), ("Big B 2", "3", 6)]
    assert listed(read(tmp_path, "b.csv", "New York,Los Angeles\n")) == [("New York", "Los Angeles", None)]
    assert listed(read(tmp_path, "c.csv", "A 1,2\n")) == [("A 1", "2", None)]


@pytest.mark.parametrize("ending", [".txt", ".csv", ".edges"])
def test_a_matrix_market_file_by_another_name_is_not_a_list_of_edges(tmp_path, ending):
    """Its first line was a comment, and its second, of sizes, an edge."""
    path = tmp_path / f"graph{ending}"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 3.5\n2 3 1\n")
    with refused('line 1: found \'%%MatrixMarket matrix coordinate real general\', expected edges; format="mtx" reads'):
        read_graph(path)
    assert len(read_graph(path, format="mtx")) == 2
    path.write_text("% sym\n1 2\n2 3\n")
    assert not read_graph(path).directed


def test_names_with_the_mark_of_comments_are_vertices(tmp_path):
    """Behind the first edge, or below the names of columns; comments have other fields, or a blank behind the mark."""
    tags = "source,target,weight\n#art,#film,2\n# a comment, of two, 3\n#film,news,5\n#,news,1\n%x,news,4\n"
    edges = [("#art", "#film", 2), ("#film", "news", 5), ("#", "news", 1), ("%x", "news", 4)]
    assert listed(read(tmp_path, "a.csv", tags)) == edges
    assert [edge[:2] for edge in read(tmp_path, "a.csv", tags, weight=None).edges()] == [edge[:2] for edge in edges]
    for comment in ("# checked until here", "#checked", "# b 3", "%", "#see note below", "#a b x", "#a b 1 2"):
        text = f"# from to weight\na b 1\n{comment}\nb #c 2\n"
        assert listed(read(tmp_path, "b.txt", text)) == [("a", "b", 1), ("b", "#c", 2)]
    assert listed(read(tmp_path, "c.txt", "a #b\n#b c\n## remark\n")) == [("a", "#b", None), ("#b", "c", None)]
    assert listed(read(tmp_path, "c.csv", 'a,#b\n#b,"c\nd"\n')) == [("a", "#b", None), ("#b", "c\nd", None)]


def test_lines_that_may_be_comments_are_warned_of(tmp_path):
    with pytest.warns(sr.SemiringWarning, match=r"line 3: .'%rest', 'x'. was read as an edge, .* blank .* comment"):
        graph = read(tmp_path, "a.txt", "x 20% 1\n20% y 2\n%rest x 4\n")
    assert listed(graph) == [("x", "20%", 1), ("20%", "y", 2), ("%rest", "x", 4)]


def test_a_comment_that_may_be_the_first_edge_is_warned_of(tmp_path):
    with pytest.warns(sr.SemiringWarning, match="line 1 was read as a comment, but has the fields of an edge"):
        assert listed(read(tmp_path, "a.csv", "#art,#film,2\nnews,#art,3\n")) == [("news", "#art", 3)]
    for text in ("# art film 2\nnews art 3\n", "#from to km\nnews art 3\n", "%a \"b\nnews art 3\n"):
        assert listed(read(tmp_path, "a.txt", text)) == [("news", "art", 3)]
    assert len(read(tmp_path, "b.csv", "#a,b,3\nfrom,to,km\na,b,2\n")) == 1


FORMS = [True, False, ["weight"], ["weight", "road"]]


@pytest.mark.parametrize("data", FORMS)
@pytest.mark.parametrize("delimiter", [" ", "\t", ",", ";"])
@pytest.mark.parametrize("attributes", [
    [{}, {}], [{"weight": 4.5}, {"weight": 1}],
    [{"length": 4.5, "road": "A 1, B; 2"}, {"length": 2.0, "road": "{'x'}"}],
    [{"weight": 4.5, "road": "A"}, {"road": "B's", "weight": INF}],
    [{"weight": np.float64(4.5), "id": 3}, {"weight": np.int64(2), "id": 4}],
])
def test_every_form_of_write_edgelist_is_read(tmp_path, data, delimiter, attributes):
    names = {name for each in attributes for name in each}
    heavy = {"weight", "length"} & names if data is not False else set()
    if isinstance(data, list):
        data = [name for name in data if {name, "weight"} <= names]  # NetworkX writes no field for others
        heavy &= set(data)
    G = nx.DiGraph([("s", "t", attributes[0]), ("t", "u", attributes[1])])
    nx.write_edgelist(G, tmp_path / "g.edgelist", data=data, delimiter=delimiter)
    weights = [each[name] for each in attributes for name in heavy] or [None, None]
    assert listed(read_graph(tmp_path / "g.edgelist")) == [("s", "t", weights[0]), ("t", "u", weights[1])]
    assert read_graph(tmp_path / "g.edgelist", weight=None).weights is None


def test_dicts_behind_edges(tmp_path):
    text = "# a comment\n0 1 {'km': 2, 'toll': 5}\n#\n\n1 2 {'km': 3.5, 'toll': 1}\n"
    assert listed(read(tmp_path, "g.edgelist", text, weight="km")) == [(0, 1, 2), (1, 2, 3.5)]
    assert read(tmp_path, "g.edgelist", text, weight=["toll", "km"]).weights.tolist() == [(5, 2.0), (1, 3.5)]
    assert listed(read(tmp_path, "g.edgelist", text, weight=None, names=str))[0] == ("0", "1", None)
    for options, message in (({}, "which of the attributes ['km', 'toll'] is the weight"),
                             ({"weight": "kms"}, "no edge has the attribute 'kms'; did you mean 'km'?")):
        with refused(message):
            read(tmp_path, "g.edgelist", text, **options)
    for line in ("2 3", "2 3 {'km': }", "2 {'km': 1}", "2 3 4 {'km': 1}", "2 3 {1, 2}", "2 3 {'km': os.sep}"):
        with refused("g.edgelist, line 6: found "):
            read(tmp_path, "g.edgelist", f"{text}{line}\n")


@pytest.mark.parametrize("index", [range(3), [5, 6, 9], list("xyz")])
@pytest.mark.parametrize("header", [["from", "to", "km"], ["home", "work", "trips"]])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_frame_saved_with_its_index_is_read(tmp_path, index, header, separator):
    edges = [("k", "l", 2.5), ("l", "m", 4.0), ("m", "k", 1.5)]
    frame = pd.DataFrame(edges, index, header)
    frame.to_csv(tmp_path / "g.csv", sep=separator)
    assert listed(read_graph(tmp_path / "g.csv", header=True)) == edges
    assert listed(read_graph(tmp_path / "g.csv", source=header[0], target=header[1], weight=header[2])) == edges
    assert listed(read_graph(tmp_path / "g.csv", weight=header[2])) == edges
    frame.iloc[:, :2].to_csv(tmp_path / "two.csv", sep=separator)
    assert listed(read_graph(tmp_path / "two.csv", header=True)) == [(a, b, None) for a, b, _ in edges]
    assert listed(read_graph(tmp_path / "g.csv")) == edges  # no matrix has texts for elements
    if header[0] == "from":
        assert listed(read_graph(tmp_path / "g.csv")) == edges
        again = pd.read_csv(tmp_path / "g.csv", sep=separator)  # with "Unnamed: 0"
        again.to_csv(tmp_path / "again.csv", index=False)
        assert listed(read_graph(tmp_path / "again.csv")) == edges


def test_a_frame_saved_with_the_levels_of_its_index_is_read(tmp_path):
    index = pd.MultiIndex.from_tuples([("k", "l"), ("l", "m")])
    for names in (["from", "to"], [None, None], ["u", "v"]):
        pd.DataFrame({"km": [2.5, 4]}, index.set_names(names)).to_csv(tmp_path / "g.csv")
        assert listed(read_graph(tmp_path / "g.csv")) == [("k", "l", 2.5), ("l", "m", 4.0)]
        pd.DataFrame({"km": [2.5, 4]}, index.set_names(names)).to_parquet(tmp_path / "g.parquet")
        assert listed(read_graph(tmp_path / "g.parquet")) == [("k", "l", 2.5), ("l", "m", 4.0)]


def test_a_table_of_vertices_called_as_ends_stays_one(tmp_path):
    (tmp_path / "g.csv").write_text(",from,to\nfrom,,3\nto,1,\n")
    assert sr.read_matrix(tmp_path / "g.csv", sr.min_plus)["from", "to"] == 3


def test_tables_of_r_have_a_name_less_than_columns(tmp_path):
    text = '"from" "to" "weight"\n"1" "a" "b" 3\n"2" "b" "c" 4.5\n'
    assert listed(read(tmp_path, "g.txt", text)) == [("a", "b", 3), ("b", "c", 4.5)]
    text = "home work trips\n1 a b 3\n2 b c 4.5\n"
    assert listed(read(tmp_path, "g.txt", text, header=True)) == [("a", "b", 3), ("b", "c", 4.5)]
    assert listed(read(tmp_path, "g.txt", text, source="work", target="home")) == [("b", "a", 3), ("c", "b", 4.5)]
    text = '"from" "to"\n"1" "New York" "a ""b"" \\\\"\n'
    assert listed(read(tmp_path, "g.txt", text)) == [("New York", 'a "b" \\', None)]
    with refused("g.txt, line 2: found 3 fields, expected 2 fields"):
        read(tmp_path, "g.txt", "a b\nb c 3\n")


def test_decimal_commas(tmp_path):
    for text in ("from;to;km\na;b;1,5\nb;c;-2e3\n", "sep=;\nfrom;to;km\na;b;1,5\nb;c;-2e3\n", "a b 1,5\nb c -2e3\n",
                 "a\tb\t1,5\nb\tc\t-2000,0\n", '"sep=;"\r\na;b;1,5\r\nb;c;-2000\r\n'):
        assert listed(read(tmp_path, "g.csv", text, decimal=",")) == [("a", "b", 1.5), ("b", "c", -2000.0)]
    with refused("found the weight '1.000,5' in the column 'km'"):
        read(tmp_path, "g.csv", "from;to;km\na;b;1.000,5\n", decimal=",")
    with refused("; pass decimal=',' for decimal commas"):
        read(tmp_path, "g.csv", "from;to;km\na;b;1,5\n")
    with refused("decimal='x' is not a decimal mark: pass '.' or ','"):
        read(tmp_path, "g.csv", "a b 1\n", decimal="x")
    with refused("g.mtx: decimal= has no meaning in the format mtx, only in csv, tsv, txt, edges"):
        read(tmp_path, "g.mtx", "x", decimal=",")
    (tmp_path / "t.csv").write_text(";a;b\na;;1,5\nb;2;\n")
    assert sr.read_matrix(tmp_path / "t.csv", sr.min_plus, decimal=",")["a", "b"] == 1.5
    assert listed(read(tmp_path, "s.csv", "sep=,\nfrom,to,km\na,b,1.5\n")) == [("a", "b", 1.5)]


def test_exponents_of_fortran(tmp_path):
    assert listed(read(tmp_path, "g.txt", "0 1 1.5D+01\n1 2 -.25d-2\n")) == [(0, 1, 15.0), (1, 2, -0.0025)]
    assert listed(read(tmp_path, "g.txt", "a 2D3\n2D3 b\n")) == [("a", "2D3", None), ("2D3", "b", None)]


def test_the_null_of_databases_is_no_vertex(tmp_path):
    with refused(r"line 2: found \N, which databases write for a missing value, as the target vertex in column 1"):
        read(tmp_path, "g.csv", "a,b,1,x\nc,\\N,2,y\n", weight=2)


@pytest.mark.filterwarnings("default::semiring.SemiringWarning")
@pytest.mark.parametrize(("text", "said"), [
    ("1 2\n2 3\n", "vertices are counted from 1, so vertex 0 has no edges: pass compact=True to leave it out"),
    ("from,to,km\n1,2,0.5\n", "vertices are counted from 1, so vertex 0 has no edges"),
    ("1 2 {}\n", "vertices are counted from 1"), ("7 9\n", "vertices 0 to 6 have no edges: pass compact=True to leave"),
    ("# Nodes: 4 Edges: 2\n0 6309\n3 2\n", "vertices are 0 to 6309, but a comment counts 4: pass compact=True to "
                                           "leave out"),
    ("# Nodes: 3 Edges: 2\n1 2\n2 3\n", "vertices are counted from 1"), ("0 1\n", None), ("a 1\n", None),
    ("# Nodes: 3 Edges: 1\n0 1\n", None),
])
def test_vertices_without_edges_are_told_of(tmp_path, text, said, recwarn):
    graph = read(tmp_path, "g.edges", text)
    told = [str(each.message) for each in recwarn if each.category is sr.SemiringWarning]
    assert len(told) == (said is not None) and all(each.startswith(f"{tmp_path}/g.edges: {said}") for each in told)
    assert all(each.filename.endswith("reading.py") for each in recwarn)
    recwarn.clear()
    compact = read(tmp_path, "g.edges", text, compact=True)
    assert not recwarn and list(compact.edges()) == list(graph.edges())
    assert compact.n == len({v for edge in graph.edges() for v in edge[:2]})


def test_a_bad_weight_says_which_column_was_taken(tmp_path):
    with refused("plan.csv, line 2: found no weight in the column 'predecessors', expected a number that fits 64 bits; "
                 "the columns ['task', 'duration'] were read as the ends of edges, and this one as their weights"):
        read(tmp_path, "plan.csv", "task,duration,predecessors\ndig,3,\nwall,5,dig\n")


@pytest.mark.parametrize("text", ["a b c\nb c\nc\n", "0 1 2\n1 2\n2\n", "a;b;c\nb;c\n"])
def test_lists_of_neighbours_are_read_by_networkx(tmp_path, text):
    with refused("fields") as caught:
        read(tmp_path, "g.txt", text)
    assert "lists of neighbours are read by NetworkX: sr.closure(networkx.read_adjlist('" in str(caught.value)
