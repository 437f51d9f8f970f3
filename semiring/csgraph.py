"""A drop-in replacement for `scipy.sparse.csgraph`: the same names, arguments and answers.

    from semiring import csgraph           # instead of: from scipy.sparse import csgraph

Distances are computed by the solver that `plan` names. Small graphs, and functions that this module lacks, are left to
SciPy. SciPy's functions differ in what they accept; these agree:

- In a dense array exactly 0, NaN and ±∞ mean "no edge": a length of 1e-9 is an edge. A masked array has an edge
  wherever it is not masked, and a sparse matrix wherever it stores a value, even 0.
- Entries at the same place of a matrix in compressed rows are parallel edges, and the shortest counts. In a matrix of
  coordinates they are added up, as SciPy's conversion does.
- A loop of negative length is a negative cycle for each function, like a cycle of several edges.
- `dijkstra` is right for negative edges, too, and warns as SciPy's does.
- All functions accept every sparse format and memory order: SciPy's `floyd_warshall` refuses coordinates, and
  some of its versions leave an array in Fortran order as it was. Zeros that fill up blocks of BSR are not edges.
- Sparse arrays of PyData with the fill value 0, NaN or ±∞, of GraphBLAS, PyTorch and JAX are read as SciPy's are.
- Complex entries are edges if no length is needed: components, breadth first, and `unweighted=True`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy
from scipy.sparse import csgraph as _theirs
from scipy.sparse.csgraph import NegativeCycleError as NegativeCycleError

from .algebra.catalogue import min_plus
from .api import plan as plan_of
from .distances import (
    all_pairs,
    from_the_nearest,
    graph_of,
    is_small,
    lengths_of,
    order_of,
    read_lengths,
    refuse_negative_cycles,
    rows_from,
    single,
    sources_of,
    sparse,
    written,
)

METHODS = ("auto", "FW", "D", "BF", "J")


def floyd_warshall(
    csgraph: Any, directed: bool = True, return_predecessors: bool = False, unweighted: bool = False,
    overwrite: bool = False,
) -> Any:
    """Return distances between all vertices, as `scipy.sparse.csgraph.floyd_warshall`.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        Lengths of edges; see the module for what counts as one.
    directed : bool
        False: every edge leads both ways, and the shorter of two edges between the same vertices counts.
    return_predecessors : bool
        Also return predecessors.
    unweighted : bool
        Give every edge the length 1.
    overwrite : bool
        Write the answer into `csgraph`, if that is a dense array of float64 in C order.

    Returns
    -------
    dist_matrix : ndarray of float64, shape (n, n)
        ∞ where there is no path.
    predecessors : ndarray of int32, shape (n, n)
        If wanted: row i has the vertex before each one on a shortest path from i; −9999 at i, and where there is no
        path.

    Raises
    ------
    NegativeCycleError
    ValueError
        If the graph is not a square matrix.

    Examples
    --------
    >>> from semiring import csgraph
    >>> csgraph.floyd_warshall([[0, 2, 9], [0, 0, 3], [0, 0, 0]])
    array([[ 0.,  2.,  5.],
           [inf,  0.,  3.],
           [inf, inf,  0.]])
    """
    found = all_pairs(graph_of(csgraph, directed, unweighted), return_predecessors)
    return written(csgraph, found, return_predecessors) if overwrite else found


def shortest_path(
    csgraph: Any, method: str = "auto", directed: bool = True, return_predecessors: bool = False,
    unweighted: bool = False, overwrite: bool = False, indices: Any = None,
) -> Any:
    """Return distances between all vertices or from some, as SciPy's `scipy.sparse.csgraph.shortest_path`.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        As for `floyd_warshall`.
    directed, return_predecessors, unweighted, overwrite : bool
        As for `floyd_warshall`.
    method : {"auto", "FW", "D", "BF", "J"}
        As in SciPy, but the same is computed for each. "FW" takes no indices, and "D" warns of negative edges.
    indices : array_like of int, optional
        The vertices to begin in; negative ones count from the end.

    Returns
    -------
    dist_matrix : ndarray of float64
        As for `floyd_warshall`; with indices of shape (…, n) for indices of shape (…).
    predecessors : ndarray of int32
        If wanted.

    Raises
    ------
    NegativeCycleError
    ValueError
        For an unknown method, indices with "FW" or out of range, and what is not a square matrix.

    Examples
    --------
    >>> from semiring import csgraph
    >>> csgraph.shortest_path([[0, 2, 9], [0, 0, 3], [0, 0, 0]], indices=0)
    array([0., 2., 5.])
    """
    if method not in METHODS:
        raise ValueError(f"unrecognized method '{method}'")
    if method == "FW" and indices is not None:
        raise ValueError("Cannot specify indices with method == 'FW'.")
    graph = graph_of(csgraph, directed, unweighted)
    if method == "D":
        _warn(graph)
    if indices is not None:
        if method != "D":
            refuse_negative_cycles(graph)
        return rows_from(graph, indices, return_predecessors)
    found = all_pairs(graph, return_predecessors)
    return written(csgraph, found, return_predecessors) if overwrite else found


def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: bool = False,
    unweighted: bool = False, limit: float = np.inf, min_only: bool = False,
) -> Any:
    """Return distances from all vertices or from some, as SciPy's `scipy.sparse.csgraph.dijkstra`.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        As for `floyd_warshall`.
    directed, return_predecessors, unweighted : bool
        As for `floyd_warshall`.
    indices : array_like of int, optional
        The vertices to begin in; negative ones count from the end. Default: all.
    limit : float
        Do not look for longer paths. With negative edges a path within the limit may go through vertices beyond it:
        their distance is ∞, although they have predecessors.
    min_only : bool
        Count only the nearest of the vertices to begin in.

    Returns
    -------
    dist_matrix : ndarray of float64, shape (…, n) for indices of shape (…), or (n,) with `min_only`
    predecessors : ndarray of int32, of the same shape
        If wanted; −9999 where there is no path.
    sources : ndarray of int32, shape (n,)
        With `min_only` and predecessors: the vertex in which the shortest path begins; −9999 where there is no path.

    Raises
    ------
    NegativeCycleError
        If one can be reached.
    ValueError
        For a limit that is negative or NaN, indices out of range, and what is not a square matrix.

    Warns
    -----
    UserWarning
        If an edge is negative.

    Examples
    --------
    >>> from semiring import csgraph
    >>> csgraph.dijkstra([[0, 2, 9], [0, 0, 3], [0, 0, 0]], indices=[0, 1], min_only=True)
    array([0., 0., 3.])
    """
    if not limit >= 0:  # this refuses NaN, too
        raise ValueError(f"limit must be >= 0, and is {limit}")
    graph = graph_of(csgraph, directed, unweighted)
    negative = _warn(graph)
    if not min_only:
        every = np.arange(order_of(graph)) if indices is None else indices
        if indices is None and np.isinf(limit):
            return all_pairs(graph, return_predecessors)
        return rows_from(graph, every, return_predecessors, limit)
    return from_the_nearest(sparse(graph), indices, return_predecessors, limit, negative)


def bellman_ford(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Return distances from all vertices or from some, as SciPy's `scipy.sparse.csgraph.bellman_ford`.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        As for `floyd_warshall`.
    directed, return_predecessors, unweighted : bool
        As for `floyd_warshall`.
    indices : array_like of int, optional
        As for `dijkstra`.

    Returns
    -------
    dist_matrix : ndarray of float64
        As for `dijkstra`.
    predecessors : ndarray of int32
        If wanted.

    Raises
    ------
    NegativeCycleError
        If one can be reached.
    ValueError
        For indices out of range, and what is not a square matrix.

    Examples
    --------
    >>> from semiring import csgraph
    >>> csgraph.bellman_ford([[0, 2, 9], [0, 0, -3], [0, 0, 0]], indices=0)
    array([ 0.,  2., -1.])
    """
    graph = graph_of(csgraph, directed, unweighted)
    return all_pairs(graph, return_predecessors) if indices is None else rows_from(graph, indices, return_predecessors)


def johnson(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Return distances from all vertices or from some, as SciPy's `scipy.sparse.csgraph.johnson`.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        As for `floyd_warshall`.
    directed, return_predecessors, unweighted : bool
        As for `floyd_warshall`.
    indices : array_like of int, optional
        As for `dijkstra`.

    Returns
    -------
    dist_matrix : ndarray of float64
        As for `dijkstra`.
    predecessors : ndarray of int32
        If wanted.

    Raises
    ------
    NegativeCycleError
        If there is one anywhere.
    ValueError
        For indices out of range, and what is not a square matrix.

    Examples
    --------
    >>> from semiring import csgraph
    >>> csgraph.johnson([[0, 2, 9], [0, 0, -3], [0, 0, 0]], indices=0)
    array([ 0.,  2., -1.])
    """
    graph = graph_of(csgraph, directed, unweighted)
    if indices is None:
        return all_pairs(graph, return_predecessors)
    refuse_negative_cycles(graph)
    return rows_from(graph, indices, return_predecessors)


def yen(
    csgraph: Any, source: int, sink: int, K: int, *, directed: bool = True, return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Return the K shortest paths from one vertex to another, by SciPy's own function.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        As for `floyd_warshall`.
    directed, return_predecessors, unweighted : bool
        As for `floyd_warshall`.
    source, sink : int
        The ends of the paths.
    K : int
        The largest number of paths, 1 or more.

    Returns
    -------
    dist_array : ndarray of float64
        As SciPy's.
    predecessors : ndarray of int32
        If wanted.

    Raises
    ------
    NegativeCycleError
    NotImplementedError
        If SciPy is older than 1.14, which has no such function.
    ValueError
        If a vertex is out of range, K is not positive, or the graph is not a square matrix.

    Examples
    --------
    >>> from semiring import csgraph
    >>> csgraph.yen([[0, 2, 9], [0, 0, 3], [0, 0, 0]], 0, 2, 2)
    array([5., 9.])
    """
    if not hasattr(_theirs, "yen"):
        raise NotImplementedError(f"yen needs SciPy 1.14 or later, and this is SciPy {scipy.__version__}: "
                                  "upgrade SciPy")
    if K < 1:  # SciPy would write beyond its arrays
        raise ValueError(f"K must be >= 1, and is {K}")
    graph = sparse(graph_of(csgraph, directed, unweighted))
    refuse_negative_cycles(graph)
    return _theirs.yen(graph, source, sink, K, directed=True, return_predecessors=return_predecessors)


def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """Return connected components, by SciPy's own function.

    The module's description says what counts as an edge.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        As for `floyd_warshall`.
    directed : bool
        As for `floyd_warshall`.
    connection : {"weak", "strong"}
        "weak": edges are taken both ways; "strong": paths lead both ways between any two vertices of one component.
    return_labels : bool
        Also return labels.

    Returns
    -------
    n_components : int
    labels : ndarray of int32, shape (n,)
        If wanted.

    Raises
    ------
    ValueError
        For another connection, and what is not a square matrix.

    Examples
    --------
    >>> from semiring import csgraph
    >>> csgraph.connected_components([[0, 1e-9, 0], [0, 0, 0], [0, 0, 0]])[0]
    2
    """
    A = sparse(read_lengths(csgraph, weighted=False))
    if not A.has_canonical_format:  # with parallel edges SciPy's search for strong components never ends
        A = single(A)
    return _theirs.connected_components(A, directed, connection, return_labels)


def breadth_first_order(
    csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True
) -> Any:
    """Return vertices in the order of a breadth-first search, by SciPy's own function.

    The module's description says what counts as an edge.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        As for `floyd_warshall`.
    directed, return_predecessors : bool
        As for `floyd_warshall`.
    i_start : int
        The vertex to begin in; a negative one counts from the end.

    Returns
    -------
    node_array : ndarray of int32
    predecessors : ndarray of int32, shape (n,)
        If wanted.

    Raises
    ------
    ValueError
        If i_start is out of range, or the graph is not a square matrix.

    Examples
    --------
    >>> from semiring import csgraph
    >>> csgraph.breadth_first_order([[0, 1, 0], [0, 0, 1], [0, 0, 0]], 0, return_predecessors=False)
    array([0, 1, 2], dtype=int32)
    """
    graph = sparse(read_lengths(csgraph, weighted=False))
    n = order_of(graph)
    if not -n <= i_start < n:  # SciPy prints an error, and returns uninitialized memory
        raise ValueError(f"i_start out of range 0...{n}")
    return _theirs.breadth_first_order(graph, i_start % n, directed, return_predecessors)


def plan(
    csgraph: Any, directed: bool = True, unweighted: bool = False, indices: Any = None,
    return_predecessors: bool = False,
) -> str:
    """Describe the solver that computes distances, in words.

    Parameters
    ----------
    csgraph : array_like, masked array or sparse matrix, shape (n, n)
        As for `floyd_warshall`.
    directed, unweighted, return_predecessors : bool
        As for `floyd_warshall`.
    indices : array_like of int, optional
        As for `dijkstra`.
    return_predecessors : bool
        Also with predecessors: SciPy's search is then faster up to larger graphs.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the graph is not a square matrix.

    Examples
    --------
    >>> from semiring import csgraph
    >>> csgraph.plan([[0, 2], [0, 0]])
    "SciPy's own search: it is done before another way is chosen"
    """
    graph = graph_of(csgraph, directed, unweighted)
    sources = np.arange(order_of(graph)) if indices is None else sources_of(indices, order_of(graph))
    if is_small(graph, sources.size, return_predecessors):
        return "SciPy's own search: it is done before another way is chosen"
    if indices is None:
        return str(plan_of("closure", graph, min_plus))
    return str(plan_of("closure_rows", graph, min_plus, sources=sources.ravel()))


def _warn(A: Any) -> bool:
    """Warn of negative edges, as SciPy does; return whether there are some."""
    negative = bool((lengths_of(A) < 0).any())
    if negative:
        warnings.warn("Graph has negative weights, which Dijkstra's algorithm does not handle, so another search is "
                      "used. Consider johnson or bellman_ford.", UserWarning, stacklevel=3)
    return negative


def __getattr__(name: str) -> Any:
    """Look up in SciPy what this module lacks."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_theirs, name)
