"""Columns of a table of edges are taken by their names, in any order, from everything that has columns."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.columns import IF_CLEAR, MISSING, attribute_weights, is_key, place_of, table_columns

from .listing import listed

pd = pytest.importorskip("pandas")

ENDS = [
    ("from", "to"), ("source", "target"), ("Source", "Target"), ("src", "dst"), ("src", "dest"), ("u", "v"), ("U", "V"),
    ("origin", "destination"), ("ORIGIN", "DEST"), ("start", "end"), ("begin", "end"), ("FromNodeId", "ToNodeId"),
    ("from_node_id", "to_node_id"), ("from_stop_id", "to_stop_id"), ("fromnode", "tonode"), ("node_from", "node_to"),
    ("source airport", "destination airport"), ("source_node", "target_node"), ("Start Station", "End Station"),
    ("node1", "node2"), ("node_1", "node_2"), ("protein1", "protein2"), ("node_a", "node_b"), ("head", "tail"),
    ("tail", "head"), ("i", "j"), ("a", "b"), ("A", "B"), (":START_ID", ":END_ID"), ("_from", "_to"), ("row", "col"),
    ("init_node", "term_node"), ("bus0", "bus1"), ("departure_airport", "arrival_airport"), ("ANODE", "BNODE"),
    ("sender", "receiver"), ("parent", "child"), ("from_x", "to_x"), ("Quelle_von", "Quelle_nach"),
]
OTHERS = ["id", "key", "link_id", "name", "lanes", "Straße", "start_time", "end_time", "year", "x", "y", "day1", "day2"]
ROWS = [("k", "l", 2.5), ("l", "m", 4.0), ("m", "k", 1.5)]


@pytest.mark.parametrize("ends", ENDS)
@given(st.lists(st.sampled_from(OTHERS), unique=True, max_size=5), st.integers(0, 2**32))
def test_ends_are_found_by_their_names_among_any_other_columns(ends, others, seed):
    """Alone where that suffices; in no case are other columns taken."""
    header = [*others, "km", *ends]
    if set(ends) != {"head", "tail"}:  # which of these comes first decides
        random.Random(seed).shuffle(header)
    assert table_columns(header, "km").taken == tuple(map(header.index, (*ends, "km")))
    assert table_columns(header, None).taken == tuple(map(header.index, ends))


TABLE = ["link_id", "name", "to_node_id", "lanes", "from_node_id", "km"]


def table_of(library):
    ends = {"from_node_id": [a for a, _, _ in ROWS], "to_node_id": [b for _, b, _ in ROWS]}
    others = {"link_id": [5, 6, 7], "name": list("xyz"), "lanes": [1, 2, 1], "km": [w for *_, w in ROWS]}
    columns = {name: (ends | others)[name] for name in TABLE}
    if library == "structured":
        dtype = [(name, "U9" if isinstance(column[0], str) else type(column[0])) for name, column in columns.items()]
        return np.array(list(zip(*columns.values(), strict=True)), dtype)
    made = pytest.importorskip(library)
    return made.table(columns) if library == "pyarrow" else made.DataFrame(columns)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "structured"])
def test_every_table_has_its_ends_and_weights_by_name_or_number(library):
    table = table_of(library)
    assert listed(sr.as_graph(table, weight="km")) == ROWS
    assert listed(sr.as_graph(table, weight=5)) == ROWS
    turned = [(b, a, w) for a, b, w in ROWS]
    assert listed(sr.as_graph(table, weight="km", source=2, target="from_node_id")) == turned
    M = sr.adjacency(table, sr.min_plus, source="to_node_id", target="from_node_id", weight="km")
    assert M["l", "k"] == 2.5 and M["k", "l"] == np.inf
    with pytest.raises(sr.GraphError, match=r"which of the columns \['lanes', 'km'\] is the weight"):
        sr.as_graph(table)
    with pytest.raises(sr.GraphError, match=r"no column is called 'form'.* needed as the source"):
        sr.as_graph(table, source="form", target=4)
    for number in (6, -1, True, 1.0):
        with pytest.raises(sr.GraphError, match="no column is called"):
            sr.as_graph(table, weight=number)


def test_names_that_say_nothing_are_asked_for():
    frame = pd.DataFrame({"pipe": list("pqr"), "well": [a for a, _, _ in ROWS], "tap": [b for _, b, _ in ROWS],
                          "flow": [w for *_, w in ROWS]})
    for weight in ("flow", "weight", None):
        with pytest.raises(sr.GraphError, match=r"which columns are the two ends of an edge\? None of .'pipe'"):
            sr.as_graph(frame, weight=weight)
    assert listed(sr.as_graph(frame, source="well", target="tap", weight="flow")) == ROWS
    assert listed(sr.as_graph(frame, source="well", target="tap")) == ROWS  # the only one of numbers
    assert listed(sr.as_graph(frame.drop(columns="pipe"))) == ROWS
    assert listed(sr.as_graph(frame.set_axis(range(4), axis=1), weight=3))[0] == ("p", "k", 2.5)  # no names at all
    for edges in ([("a", "b")], sr.as_graph([("a", "b")]), np.zeros((4, 2))):
        with pytest.raises(sr.GraphError, match="source= and target="):
            sr.as_graph(edges, source=1, target=0)


def test_names_that_fit_twice_are_asked_for():
    with pytest.raises(sr.GraphError, match="'dep_station_from' and 'dep_station_to' or 'route_from' and 'route_to'"):
        table_columns(["dep_station_from", "dep_station_to", "route_from", "route_to"], None)
    assert table_columns(["from_route_id", "to_route_id", "from_stop_id", "to_stop_id", "t"], "t").taken == (2, 3, 4)
    header = ["source airport", "source airport ID", "destination airport", "destination airport ID", "stops"]
    assert table_columns(header, "stops").taken == (0, 2, 4)
    assert table_columns(["x1", "y1", "x2"], "weight").taken == (0, 1, 2)
    with pytest.raises(sr.GraphError, match="which columns are the two ends"):
        table_columns(["p", "q", "start_time", "end_time", "fare"], "fare")


def test_ids_and_keys_are_no_weights():
    assert [name for name in (*OTHERS, "edge_id", "ID", "Unnamed: 0", "weight", "lid") if is_key(name)] == [
        "id", "key", "link_id", "edge_id", "ID"]
    assert table_columns(["from", "to", "link_id"], "weight").taken == (0, 1)
    assert table_columns(["from", "to", "link_id"], "link_id").taken == (0, 1, 2)
    assert table_columns(["", "home", "work", "n"], "weight").taken == (1, 2, 3)
    assert table_columns(["home", "work", "n", "__index_level_0__"], "weight").taken == (0, 1, 2)
    with pytest.raises(sr.GraphError, match="which columns are the two ends"):
        table_columns(["link_id", "home", "work"], "weight")


def test_weights_that_are_not_clear_are_none_where_they_do_not_matter():
    assert table_columns(["from", "to", "km", "toll"], IF_CLEAR).weights == ()
    assert table_columns(["from", "to", "km"], IF_CLEAR).weights == (2,)
    assert table_columns(["from", "to", "km", "Weight"], IF_CLEAR).weights == (3,)


@pytest.mark.parametrize("wanted", ["km", "KM", 2, "2", np.int64(2), np.str_("km")])
def test_a_column_is_named_or_numbered(wanted):
    assert place_of(["from", "to", "km"], wanted) == 2


def test_a_name_goes_before_a_number():
    assert place_of(["2", "1", "0"], "2") == 0 and place_of([5, 2, 1], 2) == 1 and place_of(["a", "A"], "A") == 1
    assert place_of(["aa", "AA"], "Aa") is None and place_of(["a"], "²") is None and place_of(["a"], ["a"]) is None


TRIPS = pd.DataFrame({"from": list("kklm"), "to": list("llmk"), "fare": [4.0, 2.5, 4.0, 1.5], "riders": [1, 2, 3, 4]})


def test_ends_in_the_index_of_a_frame():
    grouped = TRIPS.groupby(["from", "to"]).agg({"fare": "min", "riders": "sum"})
    assert listed(sr.as_graph(grouped, weight="fare")) == ROWS
    assert listed(sr.as_graph(grouped[["fare"]])) == ROWS
    assert sr.closure(grouped[["fare"]], sr.min_plus)["k", "m"] == 6.5
    streets = pd.DataFrame({"osmid": [9, 8, 7], "length": [w for *_, w in ROWS], "name": [None, "x", "y"]},
                           pd.MultiIndex.from_tuples([(a, b, 0) for a, b, _ in ROWS], names=["u", "v", "key"]))
    assert listed(sr.as_graph(streets)) == ROWS and listed(sr.as_graph(streets.assign(u=1, v=2))) != ROWS
    assert listed(sr.as_graph(streets, weight=1)) == ROWS  # numbers count the columns
    assert listed(sr.as_graph(streets.reset_index())) == ROWS
    assert listed(sr.as_graph(streets.assign(**{"from": 1, "to": 2}), weight="length")) == ROWS  # the index says it
    assert listed(sr.as_graph(streets, source="v", target="u"))[0] == ("l", "k", 2.5)
    called = pd.DataFrame({"fare": [w for *_, w in ROWS]}, pd.MultiIndex.from_tuples([(a, b) for a, b, _ in ROWS]))
    assert listed(sr.as_graph(called)) == ROWS
    homes = called.rename_axis(["home", "work"]).assign(n=1)
    with pytest.raises(sr.GraphError, match=r"which columns are the two ends of an edge\? None of .*'home', 'work'"):
        sr.as_graph(homes)
    assert listed(sr.as_graph(homes, source="home", target="work", weight="fare")) == ROWS
    assert listed(sr.as_graph(homes[["fare"]])) == ROWS


def test_a_named_index_that_is_an_end():
    frame = pd.DataFrame(ROWS, columns=["from", "to", "fare"])
    assert listed(sr.as_graph(frame.set_index("from"))) == ROWS
    assert listed(sr.as_graph(frame.set_index("to"))) == ROWS
    assert listed(sr.as_graph(frame.rename_axis("trip"))) == ROWS
    assert listed(sr.as_graph(frame.iloc[::-1]))[::-1] == ROWS
    assert listed(sr.as_graph(frame.set_axis(["x", "y", "z"], axis=1).rename_axis("trip"))) == ROWS
    with pytest.raises(sr.GraphError, match="two columns or more, but this one has"):
        sr.as_graph(frame[["fare"]].rename_axis("trip"))


@pytest.mark.parametrize(("name", "one", "both"), [
    ("Type", "Directed", "Undirected"), ("type", "directed", "UNDIRECTED"), ("directed", True, False),
    ("directed", 1, 0), ("is_bidirectional", 0, 1), ("isBidirectional", "no", "yes"), ("is_directed", 1.0, 0.0),
])
def test_a_column_says_which_edges_go_both_ways(name, one, both):
    frame = pd.DataFrame(ROWS, columns=["from", "to", "km"])
    assert sr.as_graph(frame.assign(**{name: one})).directed
    undirected = sr.as_graph(frame.assign(**{name: both}))
    assert not undirected.directed and listed(undirected) == ROWS
    mixed = frame.assign(**{name: [both, one, both]})
    assert listed(sr.as_graph(mixed)) == [*ROWS, ("l", "k", 2.5), ("k", "m", 1.5)]
    assert listed(sr.as_graph(mixed, weight=None)) == [(a, b, None) for a, b, _ in listed(sr.as_graph(mixed))]
    chosen = sr.as_graph(mixed, directed=False)
    assert not chosen.directed and listed(chosen) == ROWS
    loops = pd.DataFrame({"from": ["a", "a"], "to": ["a", "b"], name: [both, one]})
    assert listed(sr.as_graph(loops)) == [("a", "a", None), ("a", "b", None)]
    with pytest.raises(sr.GraphError, match=r"edge 2: the column .* holds 'perhaps'; to say whether"):
        sr.as_graph(frame.assign(**{name: [one, both, "perhaps"]}).astype({name: object}))


def test_a_type_of_something_else_is_no_direction():
    frame = pd.DataFrame(ROWS, columns=["from", "to", "km"])
    assert listed(sr.as_graph(frame.assign(type="rail"))) == ROWS
    assert sr.as_graph(frame.drop(columns="km").assign(type=[3, 4, 5])).weights.tolist() == [3, 4, 5]


nx = pytest.importorskip("networkx")


def graph_with(attributes, path=None, extra=()):
    """Two edges with attributes, as a graph of NetworkX or from a file."""
    G = nx.DiGraph([("k", "l", attributes[0]), ("l", "m", attributes[1])])
    if path is None:
        return sr.as_graph(G, *extra)
    {".graphml": nx.write_graphml, ".gml": nx.write_gml}[path.suffix](G, path)
    return sr.read_graph(path)


@pytest.mark.parametrize("form", [None, ".graphml", ".gml"])
@pytest.mark.parametrize(("first", "second", "weights"), [
    ({"length": 2.5}, {"length": 4.0}, [2.5, 4.0]), ({"value": 2}, {"value": 4}, [2, 4]), ({}, {}, None),
    ({"length": 2.5, "road": "A1"}, {"length": 4.0, "road": "7"}, [2.5, 4.0]),
    ({"length": 2.5, "id": 4, "osmid": 9}, {"length": 4.0, "id": 5, "osmid": 8}, [2.5, 4.0]),
    ({"weight": 1, "length": 2.5}, {"weight": 3, "length": 4.0}, [1, 3]), ({"road": "A1"}, {"road": "B2"}, None),
    ({"weight": 2, "length": 2.5}, {"length": 4.0}, [2, 1]), ({"id": 7}, {"id": 8}, None),
])
def test_the_only_attribute_of_numbers_is_the_weight_in_every_format(form, first, second, weights, tmp_path):
    path = None if form is None else tmp_path / f"g{form}"
    graph = graph_with([first, second], path)
    assert (None if graph.weights is None else graph.weights.tolist()) == weights
    assert path is None or sr.read_graph(path, weight=None).weights is None


@pytest.mark.parametrize("form", [None, ".graphml", ".gml"])
@pytest.mark.parametrize(("second", "message"), [
    ({"length": 2.5, "toll": 2}, r"which of the attributes .* is the weight\? Pass weight='(length|toll)', say"),
    ({"toll": 2}, r"which of the attributes .* is the weight\?"),
    ({}, "1 of 2 edges have no 'length', the only attribute of numbers: pass weight='length' to count them as 1"),
])
def test_attributes_that_are_not_clear_are_asked_for(form, second, message, tmp_path):
    path = None if form is None else tmp_path / f"g{form}"
    with pytest.raises(sr.GraphError, match=message):
        graph_with([{"length": 1.5}, second], path)


def test_verbs_ask_only_where_weights_matter_and_say_where_to_answer():
    frame = pd.DataFrame(ROWS, columns=["from", "to", "km"]).assign(toll=1)
    G = nx.from_pandas_edgelist(frame, "from", "to", True, nx.DiGraph)
    for edges in (frame, G):
        for verb in (sr.reach, sr.components, sr.pack, sr.bridges):
            verb(edges)
        assert sr.closure(edges, sr.boolean).to_numpy().all() and sr.find_cycle(edges) is not None
        with pytest.raises(sr.GraphError, match=r"is the weight\? Pass weight='km', .*: to sr.as_graph, whose graph"):
            sr.closure(edges, sr.min_plus)
    with pytest.raises(sr.GraphError, match=r"is a matrix.*: pass sr.from_dense\(frame, S\) instead"):
        sr.find_cycle(pd.DataFrame([[0, 1.0], [0, 0]], ["a", "b"], ["a", "b"]))


def test_a_series_by_its_ends_is_edges():
    fares = TRIPS.groupby(["from", "to"])["fare"].min()
    assert listed(sr.as_graph(fares)) == ROWS and sr.closure(fares, sr.min_plus)["k", "m"] == 6.5
    assert listed(sr.as_graph(TRIPS[["from", "to"]].value_counts(sort=False))) == [
        ("k", "l", 2), ("l", "m", 1), ("m", "k", 1)]
    assert listed(sr.as_graph(fares.rename(None))) == ROWS and listed(sr.as_graph(fares.rename("to"))) == ROWS
    assert sr.reach(fares).reaches("k", "m")


def test_errors_say_which_columns_were_taken_for_what():
    plan = pd.DataFrame({"task": ["dig", "wall"], "days": ["three", "five"], "after": ["", "dig"]})
    with pytest.raises(sr.GraphError, match=r"of the columns \['task', .*: the weight '' is not a number"):
        sr.closure(plan, sr.min_plus)
    with pytest.raises(sr.GraphError, match=r"is missing.*; edges are of the columns \['after', 'task'\]"):
        sr.as_graph(plan.assign(after=[None, "dig"]), source="after", target="task", weight=None)


@pytest.mark.parametrize(("edges", "message"), [
    (nx.DiGraph([("a", "b")]).nodes, "a NodeView of NetworkX holds no edges: give the graph"),
    ({"from": ["a"], "to": ["b"]}, "columns as a data frame"),
])
def test_dicts_are_refused_with_what_leads_on(edges, message):
    with pytest.raises(sr.GraphError, match=message):
        sr.as_graph(edges)


def test_attributes_that_some_edges_lack():
    ends, some, nothing = (["a", "b"], ["b", "c"]), [MISSING, 2.5], [MISSING, MISSING]
    names = lambda: ["km", "lanes"]  # noqa: E731
    assert attribute_weights(ends, some, "km", None, names) == [1, 2.5]
    assert attribute_weights(ends, some, "km", 9, names) == [9, 2.5]
    assert attribute_weights(ends, nothing, "weight", None, names) is None
    assert attribute_weights(ends, nothing, None, 9, names) is None
    with pytest.raises(sr.GraphError, match=r"^no edge has the attribute 'kn'; did you mean 'km'\?"):
        attribute_weights(ends, nothing, "kn", None, names)
    with pytest.raises(sr.GraphError, match=r"^edge 0 \('a' → 'b'\) has no 'km' and others do: pass default=$"):
        attribute_weights(ends, [MISSING, (1, 2)], "km", None, names)
    assert some[0] is MISSING
