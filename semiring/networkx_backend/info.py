"""Metadata that NetworkX reads at import; imports nothing else."""

from __future__ import annotations

from typing import Any

# Each function that runs here, with its differences, and what it leaves to NetworkX.
_LENGTHS = "Lengths to the bit, in the order of distance."
_TIES = "If there are several shortest paths, NetworkX's own search finds those from that vertex."
_FLOYD = "Negative cycles raise NetworkXUnbounded; sums of floats may be rounded in another order."
_HOPS = "Breadth first, in NetworkX's order."
_NO_E = "Without given eccentricities and bounds."
FUNCTIONS = {
    "floyd_warshall": _FLOYD,
    "floyd_warshall_numpy": f"{_FLOYD} Weights are floats.",
    "floyd_warshall_predecessor_and_distance": "Only if each shortest path is unique.",
    "johnson": _TIES,
    "all_pairs_dijkstra": f"{_LENGTHS} {_TIES}",
    "all_pairs_dijkstra_path": _TIES,
    "all_pairs_dijkstra_path_length": _LENGTHS,
    "all_pairs_bellman_ford_path": _TIES,
    "all_pairs_bellman_ford_path_length": "Lengths to the bit, in the order of distance, which NetworkX's are not.",
    "all_pairs_shortest_path": _HOPS,
    "all_pairs_shortest_path_length": _HOPS,
    "average_shortest_path_length": "By hops, dijkstra and bellman-ford, whose sums may be rounded in another order.",
    "eccentricity": "For all vertices, without given lengths.",
    "diameter": _NO_E,
    "radius": _NO_E,
    "center": f"{_NO_E} Not for trees by hops.",
    "periphery": _NO_E,
    "barycenter": "Without an attribute to write to, and without given lengths. Not for trees by hops.",
    "wiener_index": "All arguments.",
    "closeness_centrality": "For all vertices.",
    "harmonic_centrality": "Sums of reciprocals may be rounded in another order.",
    "global_efficiency": "All arguments.",
    "betweenness_centrality": "By hops from all vertices; sums may be rounded in another order.",
    "katz_centrality_numpy": "By sparse factors, which round differently from dense ones.",
    "transitive_closure": "For directed graphs; added edges are in the order of the vertices.",
    "transitive_closure_dag": "In an unspecified order; added edges are in the order of the vertices.",
    "transitive_reduction": "Edges in the order of the graph.",
    "ancestors": "All arguments.",
    "descendants": "All arguments.",
    "dag_longest_path": "Among equally long paths any one.",
    "dag_longest_path_length": "All arguments.",
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
        "functions": {name: {"additional_docs": note} for name, note in FUNCTIONS.items()},
    }
