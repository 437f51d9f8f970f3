"""Metadata that NetworkX reads at import; imports nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Function(NamedTuple):
    """A function that runs here.

    Attributes
    ----------
    least : float
        The least size, as `semiring.networkx_backend.worth.work` measures it, from which it is faster here.
    note : str
        For its documentation: differences, and the calls that are left to NetworkX.
    absent : mapping of str to str
        Arguments that must be absent, and why NetworkX's own function runs if they are given.
    one_pass : bool
        Whether its time is proportional to vertices and edges, not to these for each vertex.
    converted : bool
        Whether it is faster only on a graph that was converted before.
    """

    least: float
    note: str
    absent: Mapping[str, str] = MappingProxyType({})
    one_pass: bool = False
    converted: bool = False


_LENGTHS = "Lengths to the bit, in the order of distance."
_TIES = "If there are several shortest paths, NetworkX's own search finds those from that vertex."
_FLOYD = "Negative cycles raise NetworkXUnbounded; sums of floats may be rounded in another order."
_HOPS = "Breadth first, in NetworkX's order."
_NO_E = "Without given eccentricities and bounds."
_ONE = "for one vertex NetworkX is as fast"
_GIVEN = "with given lengths NetworkX is as fast"
_GIVEN_E = {"e": "with given eccentricities NetworkX is as fast"}
_ORDER = "a given order may be any"

FUNCTIONS = {
    "floyd_warshall": Function(1e4, _FLOYD),
    "floyd_warshall_numpy": Function(2e5, f"{_FLOYD} Weights are floats."),
    "floyd_warshall_predecessor_and_distance": Function(1e4, "Only if each shortest path is unique."),
    "johnson": Function(4e4, _TIES),
    "all_pairs_dijkstra": Function(4e4, f"{_LENGTHS} {_TIES}"),
    "all_pairs_dijkstra_path": Function(4e4, _TIES),
    "all_pairs_dijkstra_path_length": Function(4e4, _LENGTHS),
    "all_pairs_bellman_ford_path": Function(4e4, _TIES),
    "all_pairs_bellman_ford_path_length": Function(
        2e4, "Lengths to the bit, in the order of distance, which NetworkX's are not.",
    ),
    "all_pairs_shortest_path": Function(1e6, _HOPS),
    "all_pairs_shortest_path_length": Function(1e5, _HOPS),
    "average_shortest_path_length": Function(
        4e4, "By hops, dijkstra and bellman-ford, whose sums may be rounded in another order.",
    ),
    "eccentricity": Function(
        4e4, "For all vertices, without given lengths.", {"v": _ONE, "sp": _GIVEN},
    ),
    "diameter": Function(4e4, _NO_E, _GIVEN_E),
    "radius": Function(4e4, _NO_E, _GIVEN_E),
    "center": Function(4e4, f"{_NO_E} Not for trees by hops.", _GIVEN_E),
    "periphery": Function(4e4, _NO_E, _GIVEN_E),
    "barycenter": Function(
        4e4, "Without an attribute to write to, and without given lengths. Not for trees by hops.",
        {"attr": "it writes to the graph", "sp": _GIVEN},
    ),
    "wiener_index": Function(4e4, "All arguments."),
    "closeness_centrality": Function(1e5, "For all vertices.", {"u": _ONE}),
    "harmonic_centrality": Function(4e4, "Sums of reciprocals may be rounded in another order."),
    "global_efficiency": Function(1e5, "All arguments."),
    "betweenness_centrality": Function(
        4e4, "By hops from all vertices; sums may be rounded in another order.",
        {"weight": "lengths need another search", "k": "samples are scaled by release"},
    ),
    "katz_centrality_numpy": Function(1e6, "By sparse factors, which round differently from dense ones."),
    "transitive_closure": Function(2e3, "For directed graphs; added edges are in the order of the vertices."),
    "transitive_closure_dag": Function(
        5e4, "In an unspecified order; added edges are in the order of the vertices.", {"topo_order": _ORDER},
    ),
    "transitive_reduction": Function(6e4, "Edges in the order of the graph."),
    "ancestors": Function(4e3, "All arguments.", one_pass=True, converted=True),
    "descendants": Function(2e3, "All arguments.", one_pass=True, converted=True),
    "dag_longest_path": Function(
        1e4, "Among equally long paths any one.", {"topo_order": _ORDER}, one_pass=True,
    ),
    "dag_longest_path_length": Function(1e4, "All arguments.", one_pass=True),
}


def get_info() -> dict[str, Any]:
    """Return the backend's name, its page and its functions, as NetworkX needs them.

    Returns
    -------
    dict
        With `functions`: the name of each, and a note for its documentation.

    Examples
    --------
    >>> from semiring.networkx_backend.info import get_info
    >>> get_info()["backend_name"], "johnson" in get_info()["functions"]
    ('semiring', True)
    """
    return {
        "backend_name": "semiring",
        "project": "semiring",
        "package": "semiring",
        "url": "https://pypi.org/project/semiring",
        "short_summary": "Shortest paths, closures and measures of distance of all pairs, compiled and in parallel.",
        "default_config": {},
        "functions": {name: {"additional_docs": function.note} for name, function in FUNCTIONS.items()},
    }
