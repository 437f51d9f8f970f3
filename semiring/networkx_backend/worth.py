"""Which calls can run here, and which are worth it: NetworkX asks before it converts a graph.

The limits are measured: `docs/benchmarks/networkx_backend.py --sizes` prints how NetworkX's time and the backend's
compare on growing graphs, including the conversion. A limit is the least size from which the backend took at most half
of the time, on two cores, once its modules are loaded.
"""

from __future__ import annotations

from functools import cache
from inspect import Signature, signature
from typing import Any

import networkx as nx

from .graph import convert_to_nx, is_view

# Vertices × (vertices + edges), an edge counted in each direction that it has.
LEAST_SIZES = {
    "floyd_warshall": 1e4,
    "floyd_warshall_numpy": 2e5,
    "floyd_warshall_predecessor_and_distance": 1e4,
    "johnson": 4e4,
    "all_pairs_dijkstra": 4e4,
    "all_pairs_dijkstra_path": 4e4,
    "all_pairs_dijkstra_path_length": 4e4,
    "all_pairs_bellman_ford_path": 4e4,
    "all_pairs_bellman_ford_path_length": 2e4,
    "all_pairs_shortest_path": 1e6,
    "all_pairs_shortest_path_length": 1e5,
    "average_shortest_path_length": 4e4,
    "eccentricity": 4e4,
    "diameter": 4e4,
    "radius": 4e4,
    "center": 4e4,
    "periphery": 4e4,
    "barycenter": 4e4,
    "wiener_index": 4e4,
    "closeness_centrality": 1e5,
    "harmonic_centrality": 4e4,
    "global_efficiency": 1e5,
    "betweenness_centrality": 4e4,
    "katz_centrality_numpy": 1e6,
    "transitive_closure": 2e3,
    "transitive_closure_dag": 5e4,
    "transitive_reduction": 6e4,
    # Vertices + edges: one pass. The first two are worth it only on a graph that was converted before.
    "ancestors": 4e3,
    "descendants": 2e3,
    "dag_longest_path": 1e4,
    "dag_longest_path_length": 1e4,
}
ONE_PASS = ("ancestors", "descendants", "dag_longest_path", "dag_longest_path_length")
CONVERTED = ("ancestors", "descendants")

# Arguments that must be absent, and why NetworkX's own function runs if they are given.
ABSENT = {
    "eccentricity": {"v": "for one vertex NetworkX is as fast", "sp": "with given lengths NetworkX is as fast"},
    "diameter": {"e": "with given eccentricities NetworkX is as fast"},
    "radius": {"e": "with given eccentricities NetworkX is as fast"},
    "center": {"e": "with given eccentricities NetworkX is as fast"},
    "periphery": {"e": "with given eccentricities NetworkX is as fast"},
    "barycenter": {"attr": "it writes to the graph", "sp": "with given lengths NetworkX is as fast"},
    "closeness_centrality": {"u": "for one vertex NetworkX is as fast"},
    "betweenness_centrality": {"weight": "lengths need another search", "k": "samples are scaled by release"},
    "transitive_closure_dag": {"topo_order": "a given order may be any"},
    "dag_longest_path": {"topo_order": "a given order may be any"},
}


def can_run(name: str, args: Any, kwargs: Any) -> bool | str:
    """Whether a call with such arguments can run here, or why not.

    Parameters
    ----------
    name : str
        The name of the function.
    args, kwargs
        Its arguments.

    Returns
    -------
    bool or str
        The lengths of the edges are not looked at: a call may still be declined by `NotImplementedError`.

    Examples
    --------
    >>> import networkx as nx
    >>> from semiring.networkx_backend.worth import can_run
    >>> can_run("diameter", (nx.path_graph(3),), {}), can_run("eccentricity", (nx.path_graph(3), 0), {})
    (True, 'v is given: for one vertex NetworkX is as fast')
    """
    given = _arguments(name, args, kwargs)
    for argument, why in ABSENT.get(name, {}).items():
        if given.get(argument) is not None:
            return f"{argument} is given: {why}"
    if given.get("usebounds") and not given["G"].is_directed():
        return "usebounds is given: NetworkX needs few searches"
    if name == "transitive_closure" and not given["G"].is_directed():
        return "NetworkX adds loops of an undirected graph in the order of its edges"
    if str(given.get("method")).startswith("floyd"):
        return "method is given: floats are added in another order"
    return True


def should_run(name: str, args: Any, kwargs: Any) -> bool | str:
    """Whether such a call is faster here, including the conversion, or why it is not.

    Parameters
    ----------
    name : str
        The name of the function.
    args, kwargs
        Its arguments.

    Returns
    -------
    bool or str

    Examples
    --------
    >>> import networkx as nx
    >>> from semiring.networkx_backend.worth import should_run
    >>> should_run("diameter", (nx.path_graph(3),), {}), should_run("diameter", (nx.path_graph(500),), {})
    ('the graph is small', True)
    """
    G = _arguments(name, args, kwargs)["G"]
    kept = (getattr(G, "__networkx_cache__", None) or {}).get("backends", {}).get("semiring")
    if name in CONVERTED and (is_view(G) or not kept):
        return "the graph was not converted before, which takes as long"
    return True if work(name, G) >= LEAST_SIZES[name] else "the graph is small"


def work(name: str, G: Any) -> int:
    """The size to which a function's time is proportional: vertices and edges, once or for each vertex."""
    size = len(G) + sum(map(len, convert_to_nx(G)._adj.values()))
    return size if name in ONE_PASS else len(G) * size


@cache
def _signature(name: str) -> Signature:
    return signature(getattr(nx, name).orig_func)


def _arguments(name: str, args: Any, kwargs: Any) -> dict[str, Any]:
    bound = _signature(name).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
