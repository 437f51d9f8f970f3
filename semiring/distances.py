"""Graphs and distances as `scipy.sparse.csgraph` takes and returns them: what its functions here share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph as _theirs
from scipy.sparse.csgraph import NegativeCycleError

from .algebra.catalogue import min_plus
from .api import closure_rows, cycle_mean, nearest
from .errors import LawError, NoClosureError
from .graphs.foreign import as_array, as_scipy, is_foreign, unpadded, with_entries
from .operands.entries import compressed_rows
from .operands.read import read
from .solvers.paths.searches import with_a_root
from .solvers.paths.trees import best_trees
from .solvers.task import Task, compute, options

NOTHING = -9999  # before the first vertex of a path, and where there is no path
SCIPY_WORK = 3e4  # edges and vertices, for each source, below which SciPy's own search runs
WITH_PREDECESSORS = 20  # times this work, because trees take longer to compile
CROWDED = 8  # a dense array stays dense if at least one in this many pairs is an edge

# Input

def graph_of(csgraph: Any, directed: bool, unweighted: bool) -> Any:
    """Lengths of edges as a dense array (∞: no edge), or in compressed rows, in which parallel edges stay.

    Raises
    ------
    ValueError
        If the graph is not a square matrix.
    """
    A = read_lengths(csgraph, weighted=not unweighted)
    if unweighted and sp.issparse(A):
        A = sp.csr_array((np.ones(len(A.data)), A.indices, A.indptr), A.shape)
    elif unweighted:
        A = np.where(np.isfinite(A), 1.0, np.inf)
    if not directed:
        A = np.minimum(A, A.T) if isinstance(A, np.ndarray) else _both_ways(A)
    return A


def read_lengths(csgraph: Any, weighted: bool = True) -> Any:
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


def single(A: Any) -> Any:
    """Compressed rows with the shortest of parallel edges."""
    return _least(np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), A.indices, A.data, A.shape)


def sparse(A: Any) -> Any:
    """Compressed rows with 32-bit indices if these are enough, as SciPy's functions need them."""
    if not sp.issparse(A):
        rows, columns = np.nonzero(np.isfinite(A))
        A = sp.csr_array((A[rows, columns], (rows, columns)), A.shape)
    if A.indices.dtype == np.int32 or max(A.nnz, *A.shape) > np.iinfo(np.int32).max:
        return A
    return sp.csr_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), A.shape)


def order_of(A: Any) -> int:
    return int(A.shape[0])


def lengths_of(A: Any) -> np.ndarray:
    return np.asarray(A.data) if sp.issparse(A) else A


def sources_of(indices: Any, n: int) -> np.ndarray:
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


def is_small(A: Any, sources: int, wanted: bool = False) -> bool:
    edges = A.nnz if sp.issparse(A) else A.size
    limit = SCIPY_WORK * (WITH_PREDECESSORS if wanted else 1)
    return sources * (edges + order_of(A)) < limit and not (lengths_of(A) < 0).any()


def all_pairs(A: Any, wanted: bool) -> Any:
    """Distances between all vertices."""
    n = order_of(A)
    if not n:
        return (np.zeros((0, 0)), np.zeros((0, 0), np.int32)) if wanted else np.zeros((0, 0))
    if is_small(A, n, wanted):
        return _theirs.dijkstra(sparse(A), return_predecessors=wanted)
    task = Task("closure", min_plus, (A,), options())
    found = np.asarray(_told(lambda: compute(task)))
    if not wanted:
        return found
    # `paths` would make trees of next hops first, which are not needed here
    return found, _before(_told(lambda: best_trees(task.given[0].plain, found, np.arange(n))))


def rows_from(A: Any, indices: Any, wanted: bool, limit: float = np.inf) -> Any:
    """Distances from some vertices."""
    n = order_of(A)
    sources = sources_of(indices, n)
    shape = (*sources.shape, n)
    if not sources.size:
        empty = np.zeros(shape)
        return (empty, np.zeros(shape, np.int32)) if wanted else empty
    if is_small(A, sources.size, wanted):
        return _theirs.dijkstra(sparse(A), indices=indices, return_predecessors=wanted, limit=limit)
    some, places = np.unique(sources, return_inverse=True)
    bound = None if np.isinf(limit) or (lengths_of(A) < 0).any() else limit
    found = _told(lambda: closure_rows(sparse(A), min_plus, some, predecessors=wanted, limit=bound))
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


def from_the_nearest(A: Any, indices: Any, wanted: bool, limit: float, negative: bool) -> Any:
    """Distances from the nearest of some vertices; for predecessors, from a new vertex with an edge to each of them."""
    n = order_of(A)
    sources = np.unique(sources_of(np.arange(n) if indices is None else indices, n))
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


def refuse_negative_cycles(A: Any) -> None:
    """Refuse negative cycles.

    Raises
    ------
    NegativeCycleError
    """
    if not (lengths_of(A) < 0).any():
        return
    mean, cycle = cycle_mean(A, min_plus)
    if cycle is not None and mean < 0:
        raise NegativeCycleError(f"Negative cycle in nodes {list(cycle[:-1])}")


def written(csgraph: Any, found: Any, with_predecessors: bool) -> Any:
    """Write the answer into the caller's own memory, if SciPy would write there."""
    distances = found[0] if with_predecessors else found
    plain = isinstance(csgraph, np.ndarray) and not np.ma.isMaskedArray(csgraph)
    if not (plain and csgraph.dtype == np.float64 and csgraph.flags.c_contiguous and csgraph.flags.writeable):
        return found
    target = np.asarray(csgraph)  # the answer is an array even if csgraph is an np.matrix
    target[...] = distances
    return (target, found[1]) if with_predecessors else target
