"""Names that the package does not have lead to what does the same."""

from __future__ import annotations

import re
from typing import Any

import pytest

import semiring as sr
from semiring.suggestions import BY_NAME, MEANT, suggestion

LEADS = {
    "shortest_path": "sr.path(A, sr.min_plus", "transitive_closure": "sr.closure(A, sr.boolean)", "star": "sr.closure",
    "eye": "sr.min_plus.eye(3)", "from_networkx": "sr.as_graph", "connected_components": "sr.components",
    "matrix_power": "A ** k", "isochrones": "limit=…", "distance_matrix": "targets=…", "from_pandas": "sr.as_graph",
    "identity": "S.eye(n)", "voronoi": "sr.nearest", "union": "A | B", "to_pandas": "sr.Matrix.to_frame",
    "strongly_connected_components": "sr.components", "karp": "sr.cycle_mean",
    "floyd_warshall": "sr.closure(A, sr.min_plus)", "clossure": "did you mean closure?",
    "all_pairs_shortest_path": "sr.paths(A, sr.min_plus)", "floyd_warshal": "sr.closure(A, sr.min_plus)",
    "Dijkstra": "sr.closure_rows", "min_pluss": "did you mean min_plus?", "matrix": "did you mean Matrix?",
    "widest": "sr.max_min", "k_shortest": "sr.k_best", "transpose": "A.T", "to_numpy": "sr.Matrix.to_numpy",
    "reachability": "sr.reach", "critical": "sr.longest_path", "yen": "semiring.csgraph.yen",
    "k_shortest_paths": "semiring.csgraph.yen", "shortest_simple_paths": "walks, which may go back and forth",
    "get_shortest_paths": "sr.path(A, sr.min_plus", "dijkstra_shortest_paths": "sr.path(A, sr.min_plus",
    "all_pairs_dijkstra": "sr.paths(A, sr.min_plus)", "minimum_cycle_mean": "sr.cycle_mean",
    "viterbi_path": "sr.path(A, sr.viterbi", "closeness": "nx.closeness_centrality", "parse": "not parsed",
    "arbitrage": "sr.max_times", "pagerank": "sr.solve", "dag_longest_path_length": "sr.longest_path",
}


@pytest.mark.parametrize("name", LEADS)
def test_a_name_leads_somewhere(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(sr, name)
    assert str(caught.value).startswith(f"module 'semiring' has no attribute {name!r}; ")
    assert LEADS[name] in str(caught.value)


def test_what_is_suggested_is_there_and_what_is_there_is_not_explained() -> None:
    for meant in MEANT:
        for path in re.findall(r"sr((?:\.\w+)+)", meant):
            thing: Any = sr
            for part in path.strip(".").split("."):
                thing = getattr(thing, part)
    assert sum(len(names.split()) for names in MEANT.values()) == len(BY_NAME), "each name stands once"
    assert not {"closure", "matmul", "Matrix", "path"} & set(BY_NAME)


@pytest.mark.parametrize("words", ["k shortest paths", "k shortest path", "yen", "simple paths", "k best paths"])
def test_walks_are_not_suggested_for_paths_without_a_word(words: str) -> None:
    """Also where the words are written together, in capitals or in the singular."""
    name = words.replace(" ", "_")
    for written in (name, name.upper(), name.removesuffix("s"), name.replace("_", "")):
        text = suggestion(written, sr.__all__)
        assert "k_best" not in text or "walks" in text, written
        assert "csgraph.yen" in text, written


def test_what_is_near_to_nothing_gets_no_suggestion() -> None:
    assert suggestion("qqqqqqqq", sr.__all__) == ""
    for other in ("trace", "max_flow", "spanning_tree"):  # a few letters are shared with what does something else
        assert suggestion(other, sr.__all__) == "", other
    with pytest.raises(AttributeError, match=r"^module 'semiring' has no attribute 'qqqqqqqq'$"):
        _ = sr.qqqqqqqq
