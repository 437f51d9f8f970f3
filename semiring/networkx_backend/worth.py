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
from .info import FUNCTIONS


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
    for argument, why in FUNCTIONS[name].absent.items():
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
    if FUNCTIONS[name].converted and (is_view(G) or not kept):
        return "the graph was not converted before, which takes as long"
    return True if work(name, G) >= FUNCTIONS[name].least else "the graph is small"


def work(name: str, G: Any) -> int:
    """The size to which a function's time is proportional: vertices and edges, once or for each vertex.

    An edge counts in each direction that it has.
    """
    size = len(G) + sum(map(len, convert_to_nx(G)._adj.values()))
    return size if FUNCTIONS[name].one_pass else len(G) * size


@cache
def _signature(name: str) -> Signature:
    return signature(getattr(nx, name).orig_func)


def _arguments(name: str, args: Any, kwargs: Any) -> dict[str, Any]:
    bound = _signature(name).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
