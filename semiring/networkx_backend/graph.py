"""The backend's form of a NetworkX graph: vertices by position, edges in the order of the adjacency, and lengths.

NetworkX caches the result of `convert_from_nx` with the graph, and drops it when a method of the graph changes the
graph. So vertices and edges are cached. Attributes are read by each call, because NetworkX does not notice
``G[u][v]["weight"] = 3``. A view is read by each call, too: it changes by methods of its parent, or by what its filters
read, and neither drops the cache of the view.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property, wraps
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

EXACT = 2.0**53  # up to here integers are exact as floats
PLAIN = (int, float, np.float64)  # types of lengths; sums of other types are left to NetworkX
REAL = (int, float, np.integer, np.floating, np.bool_)


class Lengths(NamedTuple):
    """Lengths of edges, and the type of NetworkX's sums of them."""

    matrix: Any  # compressed rows in the order of the adjacency, without hidden edges
    kind: type
    negative: bool

    def boxed(self, values: np.ndarray) -> list[Any]:
        """Finite lengths of paths as NetworkX has them."""
        if self.kind is int:
            return values.astype(np.int64).tolist()
        return values.tolist() if self.kind is float else list(values)


class BackendGraph:
    """A NetworkX graph, with its vertices by position.

    Parameters
    ----------
    graph : networkx.Graph
        Or an object of a similar class; kept, not copied.

    Attributes
    ----------
    names : list
        The vertices in the order of the graph.
    structure : csr_array of float64, shape (n, n)
        1 for each edge, both ways for undirected graphs, in the order of the adjacency.
    """

    __networkx_backend__ = "semiring"

    def __init__(self, graph: Any):
        self.graph = graph

    @cached_property
    def names(self) -> list[Hashable]:
        return list(self.graph._adj)

    def as_it_is(self) -> BackendGraph:
        """The graph itself while NetworkX caches it; otherwise, and for a view, the graph read again."""
        kept = (getattr(self.graph, "__networkx_cache__", None) or {}).get("backends", {}).get("semiring", {})
        changed = "names" in vars(self) and len(self.names) != len(self.graph._adj)  # without NetworkX's methods
        if changed or is_view(self.graph) or not any(found is self for found in kept.values()):
            return BackendGraph(self.graph)
        return self

    def is_directed(self) -> bool:
        return bool(self.graph.is_directed())

    def is_multigraph(self) -> bool:
        return bool(self.graph.is_multigraph())

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.names)

    def __contains__(self, vertex: Any) -> bool:
        return vertex in self.graph

    @cached_property
    def index(self) -> dict[Hashable, int]:
        """The position of each vertex."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def objects(self) -> np.ndarray:
        """The vertices as an array of objects, to select many of them at once."""
        found = np.empty(len(self.names), object)
        for i, name in enumerate(self.names):  # assigning the list would spread vertices that are tuples
            found[i] = name
        return found

    @cached_property
    def structure(self) -> Any:
        rows = self.graph._adj.values()
        offsets = np.zeros(len(self) + 1, np.int32)
        np.cumsum(np.fromiter(map(len, rows), np.int64, len(self)), out=offsets[1:])
        ends: Iterator[Any] = chain.from_iterable(rows)
        if self.names != list(range(len(self))):
            ends = map(self.index.__getitem__, ends)
        heads = np.fromiter(ends, np.int32, int(offsets[-1]))
        return sp.csr_array((np.ones(len(heads)), heads, offsets), (len(self), len(self)))

    @property
    def hops(self) -> Lengths:
        """Every edge is one hop."""
        return Lengths(self.structure.copy(), int, False)

    def lengths(self, weight: Any, default: Any = 1, longest: bool = False, as_floats: bool = False) -> Lengths:
        """The lengths of the edges by an attribute, or a function; of parallel edges the shortest, or the longest.

        With `as_floats` real numbers of any type become floats, for functions in which NetworkX converts them.

        Raises
        ------
        NotImplementedError
            If NetworkX's sums are not floats or integers of 53 bits, all of one type.
        """
        found = self._values(weight, default, max if longest else min, as_floats)
        kinds, hidden = set(map(type, found)), None
        if NoneType in kinds:
            if longest:
                raise NotImplementedError("an edge has the weight None")
            hidden = np.array([w is None for w in found], bool)
            found = [w for w in found if w is not None]
            kinds.discard(NoneType)
        if as_floats and all(issubclass(kind, REAL) for kind in kinds):
            kinds = {float}
        if len(kinds) > 1:
            raise NotImplementedError(f"weights are of several types ({', '.join(sorted(k.__name__ for k in kinds))}): "
                                      "the type of NetworkX's sums depends on their edges")
        kind = kinds.pop() if kinds else int
        if kind not in PLAIN:
            raise NotImplementedError(f"weights are {kind.__name__}, but lengths here are int or float")
        try:
            data = np.fromiter(found, np.float64, len(found))
        except OverflowError:
            raise NotImplementedError("an integer is too large to be exact in 53 bits") from None
        if not np.isfinite(data).all():
            raise NotImplementedError("a weight is NaN or infinite")
        most = EXACT if kind is int else float(np.finfo(np.float64).max)
        if np.abs(data).max(initial=0.0) > most / (len(self) + 1):
            raise NotImplementedError("sums of such weights are too large to be exact here")
        structure = self.structure
        if len(found if hidden is None else hidden) != len(structure.indices):  # changed without NetworkX's methods
            del self.structure
            structure = self.structure
        if hidden is None:
            # a copy, because some of SciPy's methods sort an array's edges in place
            matrix = sp.csr_array((data, structure.indices.copy(), structure.indptr.copy()), structure.shape)
        else:
            offsets = np.concatenate([[0], np.cumsum(~hidden)])[structure.indptr].astype(np.int32)
            matrix = sp.csr_array((data, structure.indices[~hidden], offsets), structure.shape)
        return Lengths(matrix, kind, bool((data < 0).any()))

    def all_lengths(self, weight: Any, default: Any = 1, as_floats: bool = False) -> Lengths:
        """The lengths of the edges, none of which is hidden: only Dijkstra's algorithm hides those of weight None.

        Raises
        ------
        NotImplementedError
            As `lengths` does, and if an edge is hidden.
        """
        found = self.lengths(weight, default, as_floats=as_floats)
        if found.matrix.nnz != self.structure.nnz:
            raise NotImplementedError("an edge has the weight None")
        return found

    def _data(self) -> Iterator[Any]:
        """The attribute of each edge, in the order of the adjacency."""
        return chain.from_iterable(row.values() for row in self.graph._adj.values())

    def _values(self, weight: Any, default: Any, choose: Callable[..., Any], as_floats: bool) -> list[Any]:
        adjacency = self.graph._adj
        if callable(weight):
            return [weight(u, v, d) for u, row in adjacency.items() for v, d in row.items()]
        if not self.is_multigraph():
            if self.graph.edge_attr_dict_factory is dict:  # looking up a key changes nothing
                try:
                    return list(map(itemgetter(weight), self._data()))
                except KeyError:
                    pass  # some edge has the default
            return [d.get(weight, default) for d in self._data()]
        parallel = [[d.get(weight, default) for d in edges.values()] for edges in self._data()]
        if any(None in weights for weights in parallel):
            raise NotImplementedError("one of several parallel edges has the weight None")
        kinds = {type(w) for weights in parallel for w in weights}
        if len(kinds) > 1 and not (as_floats and all(issubclass(kind, REAL) for kind in kinds)):
            # as above: min(1, 1.0) is the one that came first
            raise NotImplementedError("weights of parallel edges are of several types")
        if kinds - {int} and any(w != w for weights in parallel for w in weights):
            raise NotImplementedError("a weight is NaN")
        return list(map(choose, parallel))


def is_view(graph: Any) -> bool:
    """Whether a graph is a view of another one: a subgraph, a filtered, reversed, directed or undirected one.

    >>> import networkx as nx
    >>> G = nx.path_graph(3)
    >>> is_view(G), is_view(G.subgraph([0, 1])), is_view(G.subgraph([0, 1]).copy())
    (False, True, False)
    """
    return hasattr(graph, "_graph")


def of_now(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call the function on the current graph; see `BackendGraph.as_it_is`."""

    @wraps(function)
    def asked(*args: Any, **kwargs: Any) -> Any:
        if not args:
            return function(**{**kwargs, "G": kwargs["G"].as_it_is()})
        return function(args[0].as_it_is(), *args[1:], **kwargs)

    return asked


def convert_from_nx(graph: Any, **wanted: Any) -> BackendGraph:
    """Convert a NetworkX graph for the backend.

    Parameters
    ----------
    graph : networkx.Graph
        Or an object of a similar class.
    **wanted
        NetworkX's requests for attributes, which are read when they are needed.

    Returns
    -------
    BackendGraph

    Examples
    --------
    >>> import networkx as nx
    >>> from semiring.networkx_backend.graph import convert_from_nx
    >>> list(convert_from_nx(nx.path_graph(3)))
    [0, 1, 2]
    """
    return graph if isinstance(graph, BackendGraph) else BackendGraph(graph)


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """Return the NetworkX graph that was converted; other objects are returned unchanged.

    Parameters
    ----------
    obj : object
    name : str, optional
        The name of the function that returned it.

    Returns
    -------
    object

    Examples
    --------
    >>> import networkx as nx
    >>> from semiring.networkx_backend.graph import convert_from_nx, convert_to_nx
    >>> convert_to_nx(convert_from_nx(nx.path_graph(3))).number_of_edges()
    2
    """
    return obj.graph if isinstance(obj, BackendGraph) else obj
