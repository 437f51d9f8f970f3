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
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from scipy.sparse import csgraph as _theirs
from scipy.sparse.csgraph import NegativeCycleError as NegativeCycleError

from .algebra.catalogue import min_plus
from .api import closure_rows, cycle_mean, nearest
from .api import plan as plan_of
from .errors import LawError, NoClosureError
from .graphs.foreign import as_array, as_scipy, is_foreign, unpadded, with_entries
from .operands.read import read
from .operands.sparse import compressed_rows
from .solvers.paths.searches import with_a_root
from .solvers.paths.trees import best_trees
from .solvers.task import Task, compute, options

NOTHING = -9999  # before the first vertex of a path, and where there is no path
SCIPY_WORK = 3e4  # edges and vertices, for each source, below which SciPy's own search runs
WITH_PREDECESSORS = 20  # times this work, because trees take longer to compile
CROWDED = 8  # a dense array stays dense if at least one in this many pairs is an edge
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
    found = _all(_graph(csgraph, directed, unweighted), return_predecessors)
    return _written(csgraph, found, return_predecessors) if overwrite else found


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
    graph = _graph(csgraph, directed, unweighted)
    if method == "D":
        _warn(graph)
    if indices is not None:
        if method != "D":
            _refuse_negative_cycles(graph)
        return _rows(graph, indices, return_predecessors)
    found = _all(graph, return_predecessors)
    return _written(csgraph, found, return_predecessors) if overwrite else found


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
    graph = _graph(csgraph, directed, unweighted)
    negative = _warn(graph)
    if not min_only:
        every = np.arange(_order(graph)) if indices is None else indices
        if indices is None and np.isinf(limit):
            return _all(graph, return_predecessors)
        return _rows(graph, every, return_predecessors, limit)
    return _from_the_nearest(_sparse(graph), indices, return_predecessors, limit, negative)


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
    graph = _graph(csgraph, directed, unweighted)
    return _all(graph, return_predecessors) if indices is None else _rows(graph, indices, return_predecessors)


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
    graph = _graph(csgraph, directed, unweighted)
    if indices is None:
        return _all(graph, return_predecessors)
    _refuse_negative_cycles(graph)
    return _rows(graph, indices, return_predecessors)


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
    graph = _sparse(_graph(csgraph, directed, unweighted))
    _refuse_negative_cycles(graph)
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
    A = _sparse(_read(csgraph, weighted=False))
    if not A.has_canonical_format:  # with parallel edges SciPy's search for strong components never ends
        A = _single(A)
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
    graph = _sparse(_read(csgraph, weighted=False))
    n = _order(graph)
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
    graph = _graph(csgraph, directed, unweighted)
    sources = np.arange(_order(graph)) if indices is None else _sources(indices, _order(graph))
    if _is_small(graph, sources.size, return_predecessors):
        return "SciPy's own search: it is done before another way is chosen"
    if indices is None:
        return str(plan_of("closure", graph, min_plus))
    return str(plan_of("closure_rows", graph, min_plus, sources=sources.ravel()))


def __getattr__(name: str) -> Any:
    """Look up in SciPy what this module lacks."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_theirs, name)


# Input

def _graph(csgraph: Any, directed: bool, unweighted: bool) -> Any:
    """Lengths of edges as a dense array (∞: no edge), or in compressed rows, in which parallel edges stay.

    Raises
    ------
    ValueError
        If the graph is not a square matrix.
    """
    A = _read(csgraph, weighted=not unweighted)
    if unweighted and sp.issparse(A):
        A = sp.csr_array((np.ones(len(A.data)), A.indices, A.indptr), A.shape)
    elif unweighted:
        A = np.where(np.isfinite(A), 1.0, np.inf)
    if not directed:
        A = np.minimum(A, A.T) if isinstance(A, np.ndarray) else _both_ways(A)
    return A


def _read(csgraph: Any, weighted: bool = True) -> Any:
    """A dense float64 array with ∞ where there is no edge, or compressed rows. Complex edges have no lengths.

    Raises
    ------
    ValueError
        If the graph is not a square matrix, lengths are complex, or a fill value is a length.
    """
    found = as_scipy(csgraph, "csgraph", lambda fill: abs(fill) == np.inf)
    csgraph = found if found is not None else as_array(csgraph, "csgraph") if is_foreign(csgraph) else csgraph
    if sp.issparse(csgraph):
        _refuse_shape(csgraph.shape)
        A = sp.csr_array(unpadded(csgraph).tocsr())
        A.prune()  # drop what is stored beyond the last row
        if A.dtype != np.float64:
            A = sp.csr_array((_real(A.data, weighted), A.indices, A.indptr), A.shape)
        return with_entries(A, np.isfinite(A.data))
    masked = np.ma.isMaskedArray(csgraph)
    array = np.array(csgraph.data if masked else csgraph)
    array = array if array.dtype.kind == "c" else array.astype(np.float64, copy=False)
    _refuse_shape(array.shape)
    absent = ~np.isfinite(array) | (np.ma.getmaskarray(csgraph) if masked else array == 0)
    array = _real(array, weighted)
    if array.size > CROWDED * (array.size - np.count_nonzero(absent)):
        rows, columns = np.nonzero(~absent)
        return sp.csr_array((array[rows, columns], (rows, columns)), array.shape)
    array[absent] = np.inf
    return array


def _real(values: np.ndarray, weighted: bool) -> np.ndarray:
    """Lengths as float64; if only edges matter, 1 for each finite complex number.

    Raises
    ------
    ValueError
        For complex lengths: a cast would drop the imaginary parts.
    """
    if values.dtype.kind != "c":
        return values.astype(np.float64, copy=False)
    if weighted:
        raise ValueError("lengths of edges must be real numbers, not complex: pass real parts or moduli")
    return np.where(np.isfinite(values), 1.0, np.inf)


def _refuse_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(f"the graph must be a matrix, and has shape {shape}")
    if shape[0] != shape[1]:
        raise ValueError(f"the graph must be a square matrix of shape (N, N), and has shape {shape}")


def _both_ways(A: Any) -> Any:
    """Each edge both ways, as parallel edges; the matrix itself if it is symmetric."""
    A, T = A.sorted_indices(), A.T.tocsr().sorted_indices()
    if all(np.array_equal(x, y) for x, y in zip((A.indptr, A.indices, A.data), (T.indptr, T.indices, T.data),
                                                strict=True)):
        return A
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    turned = np.repeat(np.arange(A.shape[0]), np.diff(T.indptr))
    return _least(np.concatenate([rows, turned]), np.concatenate([A.indices, T.indices]),
                  np.concatenate([A.data, T.data]), A.shape)


def _least(rows: np.ndarray, columns: np.ndarray, lengths: np.ndarray, shape: tuple[int, int]) -> Any:
    """Compressed rows with the shortest of all edges between the same vertices."""
    found = compressed_rows(min_plus, rows, columns, lengths, shape)
    return sp.csr_array((found.values, found.columns, found.offsets), shape)


def _single(A: Any) -> Any:
    """Compressed rows with the shortest of parallel edges."""
    return _least(np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), A.indices, A.data, A.shape)


def _sparse(A: Any) -> Any:
    """Compressed rows with 32-bit indices if these are enough, as SciPy's functions need them."""
    if not sp.issparse(A):
        rows, columns = np.nonzero(np.isfinite(A))
        A = sp.csr_array((A[rows, columns], (rows, columns)), A.shape)
    if A.indices.dtype == np.int32 or max(A.nnz, *A.shape) > np.iinfo(np.int32).max:
        return A
    return sp.csr_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), A.shape)


def _order(A: Any) -> int:
    return int(A.shape[0])


def _lengths(A: Any) -> np.ndarray:
    return np.asarray(A.data) if sp.issparse(A) else A


def _warn(A: Any) -> bool:
    """Warn of negative edges, as SciPy does; return whether there are some."""
    negative = bool((_lengths(A) < 0).any())
    if negative:
        warnings.warn("Graph has negative weights, which Dijkstra's algorithm does not handle, so another search is "
                      "used. Consider johnson or bellman_ford.", UserWarning, stacklevel=3)
    return negative


def _sources(indices: Any, n: int) -> np.ndarray:
    """The vertices to begin in, in the shape that was given.

    Raises
    ------
    ValueError
    """
    found = np.array(indices, dtype=np.int64)
    found[found < 0] += n
    if found.size and (found.min() < 0 or found.max() >= n):
        raise ValueError(f"indices out of range 0...{n}")
    return found


# Output

def _told(compute: Callable[[], Any]) -> Any:
    """Call `compute`, and raise SciPy's error for negative cycles."""
    try:
        return compute()
    except (NoClosureError, LawError) as e:  # a LawError if rounding alone made a cycle improve
        raise NegativeCycleError(str(e)) from None


def _before(predecessors: Any) -> np.ndarray:
    """Predecessors as SciPy numbers them."""
    found = np.array(predecessors, dtype=np.int32)
    found[found < 0] = NOTHING
    return found


def _is_small(A: Any, sources: int, wanted: bool = False) -> bool:
    edges = A.nnz if sp.issparse(A) else A.size
    limit = SCIPY_WORK * (WITH_PREDECESSORS if wanted else 1)
    return sources * (edges + _order(A)) < limit and not (_lengths(A) < 0).any()


def _all(A: Any, wanted: bool) -> Any:
    """Distances between all vertices."""
    n = _order(A)
    if not n:
        return (np.zeros((0, 0)), np.zeros((0, 0), np.int32)) if wanted else np.zeros((0, 0))
    if _is_small(A, n, wanted):
        return _theirs.dijkstra(_sparse(A), return_predecessors=wanted)
    task = Task("closure", min_plus, (A,), options())
    found = np.asarray(_told(lambda: compute(task)))
    if not wanted:
        return found
    # `paths` would make trees of next hops first, which are not needed here
    return found, _before(_told(lambda: best_trees(task.given[0].plain, found, np.arange(n))))


def _rows(A: Any, indices: Any, wanted: bool, limit: float = np.inf) -> Any:
    """Distances from some vertices."""
    n = _order(A)
    sources = _sources(indices, n)
    shape = (*sources.shape, n)
    if not sources.size:
        empty = np.zeros(shape)
        return (empty, np.zeros(shape, np.int32)) if wanted else empty
    if _is_small(A, sources.size, wanted):
        return _theirs.dijkstra(_sparse(A), indices=indices, return_predecessors=wanted, limit=limit)
    some, places = np.unique(sources, return_inverse=True)
    bound = None if np.isinf(limit) or (_lengths(A) < 0).any() else limit
    found = _told(lambda: closure_rows(_sparse(A), min_plus, some, predecessors=wanted, limit=bound))
    rows, before = found if wanted else (found, None)
    far = None if bound is not None or np.isinf(limit) else rows > limit
    if far is not None:
        rows[far] = np.inf
    places = places.reshape(sources.shape)
    if before is None:
        return rows[places]
    before = _before(before)
    if far is not None:
        before[far & ~_on_the_way(before, ~far)] = NOTHING
    return rows[places], before[places]


def _on_the_way(before: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """For each row of predecessors, the vertices that the paths to some `ends` go through, `ends` included.

    With negative edges a path within a limit may go through vertices beyond it.
    """
    found = ends.copy()
    rows, vertices = np.nonzero(ends)
    while rows.size:
        back = before[rows, vertices]
        rows, back = rows[back >= 0], back[back >= 0]
        new = ~found[rows, back]
        found[rows[new], back[new]] = True
        rows, vertices = np.unique((rows[new], back[new]), axis=1)
    return found


def _from_the_nearest(A: Any, indices: Any, wanted: bool, limit: float, negative: bool) -> Any:
    """Distances from the nearest of some vertices; for predecessors, from a new vertex with an edge to each of them."""
    n = _order(A)
    sources = np.unique(_sources(np.arange(n) if indices is None else indices, n))
    if not n or not sources.size:
        found = np.full(n, np.inf), np.full(n, NOTHING, np.int32), np.full(n, NOTHING, np.int32)
        return found if wanted else found[0]
    if not wanted:
        rows = _told(lambda: nearest(A, min_plus, sources)).weights
        return np.where(rows > limit, np.inf, rows)
    joined = with_a_root(read(A, min_plus), sources)
    bound = None if negative or np.isinf(limit) else limit
    rows, before = _told(lambda: closure_rows(joined, min_plus, n, predecessors=True, limit=bound))
    rows, before = rows[:n].copy(), before[:n].copy()
    roots = before == n
    origin = np.where(roots | (before < 0), np.arange(n), before)
    while not np.array_equal(further := origin[origin], origin):  # each step doubles the edges that it goes back
        origin = further
    before[before < 0] = before[roots] = NOTHING
    gone = (rows == np.inf) | (rows > limit)
    rows[gone] = np.inf
    origin[gone] = NOTHING
    before[gone & ~_on_the_way(before[None], ~gone[None])[0]] = NOTHING
    return rows, before.astype(np.int32), origin.astype(np.int32)


def _refuse_negative_cycles(A: Any) -> None:
    """Refuse negative cycles.

    Raises
    ------
    NegativeCycleError
    """
    if not (_lengths(A) < 0).any():
        return
    mean, cycle = cycle_mean(A, min_plus)
    if cycle is not None and mean < 0:
        raise NegativeCycleError(f"Negative cycle in nodes {list(cycle[:-1])}")


def _written(csgraph: Any, found: Any, with_predecessors: bool) -> Any:
    """Write the answer into the caller's own memory, if SciPy would write there."""
    distances = found[0] if with_predecessors else found
    plain = isinstance(csgraph, np.ndarray) and not np.ma.isMaskedArray(csgraph)
    if not (plain and csgraph.dtype == np.float64 and csgraph.flags.c_contiguous and csgraph.flags.writeable):
        return found
    written = np.asarray(csgraph)  # the answer is an array even if csgraph is an np.matrix
    written[...] = distances
    return (written, found[1]) if with_predecessors else written
