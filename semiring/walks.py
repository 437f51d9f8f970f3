"""The verbs of walks: some rows of a closure, best paths, nearest places, powers, and the mean weight of cycles."""

from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, overload

import numpy as np

from .algebra.semiring import Semiring
from .errors import SemiringError
from .matrices import Leading, Over, Placing, Progress, verb
from .scale.storing import storing
from .solvers.task import Task, options

if TYPE_CHECKING:
    from .graphs.graph import Graph
    from .graphs.matrix import Matrix
    from .graphs.tables import Table
    from .kernels.cpu.bits.matrix import PackedMatrix
    from .results.nearest import Nearest
    from .results.path_stacks import StackedPaths
    from .results.paths import Paths

Kept = TypeVar("Kept", "np.ndarray", "Matrix", "Graph", "PackedMatrix")


@overload
def power(A: Kept, S: Over = None, k: int = ..., **others: Unpack[Placing]) -> Kept: ...
@overload
def power(A: Any, S: Over = None, k: int = ..., **others: Unpack[Placing]) -> Any: ...
@verb
def power(
    A: Any, S: Semiring | str | None = None, k: int | EllipsisType = ..., *, device: str | None = None,
    check: bool = True,
) -> Any:
    """Return the power A^k = A ⊗ A ⊗ … ⊗ A.

    Element (i, j) combines all walks of exactly k edges from i to j with ⊕.

    Parameters
    ----------
    A : array_like, shape (n, n) or (…, n, n)
        As for `matmul`.
    S : Semiring or str, optional
        Default: the algebra of A, if it is a `Matrix` or was prepared: ``power(A, k=…)``.
    k : int
        Required. The number of edges, at least 0; A⁰ is the identity.
    device : {None, "cpu", "gpu"}
        As in `matmul`.
    check : bool
        As in `matmul`.

    Returns
    -------
    ndarray, csr_array, Matrix, Graph or PackedMatrix, of A's shape
        What `matmul` gives for A and A: a sparse matrix stays sparse, and vertices keep their names.

    Raises
    ------
    LawError
        If the algebra has products only.
    SemiringError
        If A is not a square matrix over S, k is not a whole number ≥ 0, or memory is short.

    Notes
    -----
    Repeated squaring, at most 2 log₂ k products; D. E. Knuth, The art of computer programming, volume 2, section 4.6.3
    (1997). Floats are rounded as in `matmul`.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3.0], [1.0, np.inf]])
    >>> sr.power(A, sr.min_plus, 3)
    array([[inf,  7.],
           [ 5., inf]])
    """
    if k is ...:
        raise SemiringError("power needs k, the exponent: call power(A, S, k), or power(A, k=…) if A is a Matrix "
                            "(which has its algebra)")
    return Task("power", S, (A,), options(device=device, check=check), (k,))


@overload
def closure_rows(
    A: Any, S: Over = None, sources: Any = ..., *, targets: None = ..., limit: Any = ...,
    predecessors: Literal[False] = ..., device: str | None = ..., tol: float | None = ...,
) -> np.ndarray: ...
@overload
def closure_rows(
    A: Any, S: Over = None, sources: Any = ..., *, targets: None = ..., limit: Any = ...,
    predecessors: Literal[True], device: str | None = ..., tol: float | None = ...,
) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def closure_rows(
    A: Any, S: Over = None, sources: Any = ..., *, targets: Any, limit: Any = ...,
    predecessors: Literal[False] = ..., device: str | None = ..., tol: float | None = ...,
) -> Table: ...
@overload
def closure_rows(
    A: Any, S: Over = None, sources: Any = ..., *, targets: Any = ..., limit: Any = ...,
    predecessors: bool = ..., device: str | None = ..., tol: float | None = ...,
) -> Any: ...
@verb
def closure_rows(
    A: Any, S: Semiring | str | None = None, sources: Any = ..., *, targets: Any = None, limit: Any = None,
    predecessors: bool = False, device: str | None = None, tol: float | None = None,
) -> Any:
    """Return the rows of the closure A* for some sources; ⊕ must select.

    With min_plus a row holds the distances from its source, with max_min the widest paths. Memory is needed only for
    the rows, and time is about proportional to the edges and the sources. For most rows of a closure, `factor` or
    `closure` is faster.

    Parameters
    ----------
    A : sparse matrix, Graph, NetworkX graph, or what `closure` takes, or what `factor` gives
        Square. Factors answer by substitution, over every algebra.
        Every stored entry is an edge, also the number 0; entries at the same place combine with ⊕.
    S : Semiring or str, optional
        With a selective ⊕. Default: the algebra of A, if it is a `Matrix` or was prepared:
        ``closure_rows(A, sources=…)``.
    sources : vertex, or sequence of vertices
        Required. By name if the vertices of A have names, else by position.
    targets : vertex, or sequence of vertices, optional
        The columns that are wanted: the answer is a `Table` by name, and nothing more is kept. If they are far fewer
        than the sources, searches run backwards from them; floats are then summed from the other end.
    limit : element, optional
        Leave out worse walks, and do not search for them. Needs that no edge is better than 1.
    predecessors : bool
        Also return the vertex before each one on a best walk.
    device : {None, "cpu", "gpu"}
        Where to compute. ``None``: on a GPU, if there is one and the time saved is worth the copies.
    tol : float, optional
        Uncertainty of the weights; see `closure`.

    Returns
    -------
    rows : ndarray of A's dtype and byte order, shape (k, n), or (n,) for one vertex
        With targets a `Table`, shape (k, t).
    predecessors : ndarray of int32, of the same shape
        If wanted; positions, −1 for the source and for unreached vertices. Ties are broken as in `paths`, however the
        rows were found.

    Raises
    ------
    LawError
        If ⊕ does not select, or the algebra has products only; if predecessors are wanted, best walks repeat a cycle,
        and predecessors would not show how often; if there is a limit and an edge is better than 1.
    NoClosureError
        If an improving cycle can be reached from a source; the error names the cycle. Beyond an infinitely good edge
        nothing improves any more, and cycles there may stay unnoticed.
    SemiringError
        For an unknown vertex, an entry that is not an element, a result that A's dtype cannot hold, or predecessors of
        some targets only.

    Notes
    -----
    If no edge is better than 1 (non-negative weights in min-plus): Dijkstra's algorithm with a heap (E. W. Dijkstra,
    A note on two problems in connexion with graphs, 1959). Otherwise Bellman–Ford–Moore with a frontier, see
    `semiring.algorithms.frontier`. Floats are rounded as in `closure`. A cycle that is better than 1 by no more than
    the rounding of its edges explains does not count; see `semiring.algebra.rounding`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> import semiring as sr
    >>> A = sp.csr_array(([3.0, 10.0, -4.0], ([0, 0, 1], [1, 2, 2])), shape=(3, 3))
    >>> sr.closure_rows(A, sr.min_plus, [0, 1])
    array([[ 0.,  3., -1.],
           [inf,  0., -4.]])
    >>> row, before = sr.closure_rows(A, sr.min_plus, 0, predecessors=True)
    >>> before
    array([-1,  0,  1], dtype=int32)
    """
    if sources is ...:
        raise SemiringError("closure_rows needs sources: call closure_rows(A, S, sources), or closure_rows(A, "
                            "sources=…) if A is a Matrix (which has its algebra)")
    asked = options(device=device, predecessors=predecessors, tol=tol)
    return Task("closure_rows", S, (A,), asked, (sources, targets, limit))


@overload
def paths(
    A: np.ndarray[tuple[int, int], Any] | Matrix | Graph, S: Any = None, **others: Unpack[Leading]
) -> Paths: ...
@overload
def paths(A: Any, S: Any = None, **others: Unpack[Leading]) -> Paths | StackedPaths: ...
@verb
def paths(
    A: Any,
    S: Semiring | str | None = None,
    *,
    sources: Any = None,
    targets: Any = None,
    limit: Any = None,
    method: str = "auto",
    device: str | None = None,
    progress: Progress = False,
    tol: float | None = None,
    out: Any = None,
    next_hops: Any = None,
    memory: int | str | None = None,
    checkpoint: float | None = None,
    resume: bool = False,
) -> Paths | StackedPaths:
    """Find best paths between all vertices, or between some; ⊕ must select.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n) or (…, n, n)
        As for `closure`; if vertices have names, paths are asked for and given by name.
    S : Semiring or str, or a pair of them, optional
        With a selective ⊕. Not needed if A has its algebra: a `Matrix`, or a prepared matrix. In a pair
        (first, second) the first algebra decides, and the second breaks ties: ``(sr.max_min, sr.min_plus)`` asks for
        the shortest of the widest paths. The weights of edges are then records of both, or A is a tuple of two
        matrices.
    sources : vertex or sequence of vertices, optional
        Where paths begin. Default: in every vertex.
    targets : vertex or sequence of vertices, optional
        Where paths end. Default: in every vertex.
    limit : element, optional
        Leave out worse paths. Needs that no edge is better than 1.
    method : str
        As in `closure`; not with sources, because paths from sources are always searched for.
    device : {None, "cpu", "gpu"}
        Where the weights are computed; see `closure`.
    progress : bool or callable
        As in `closure`.
    tol : float, optional
        Uncertainty of the weights; see `closure`. If edges are worsened by it (in all matrices of a stack, if in one),
        the paths are those of the worsened edges, also in files and after a restart from a commit.
    out, next_hops : path, optional
        Names that both end in .npy. The weights and the next hops (int32) between all vertices are computed tile by
        tile and written there, as by `closure`. Neither needs to fit in memory; both files appear when both are
        complete. For a dense matrix the edges that best walks can use must fit in `memory`; if ⊗ is a sum these are
        few.
    memory, checkpoint, resume : optional
        As in `closure`.

    Returns
    -------
    Paths or StackedPaths
        With `weights`, `next_hop`, `predecessors`, `tree(source)`, `walk(sources, targets)`, `edges(source, target)`
        and `to_frame()`; `R[source, target]` is one path. For a stack `R[i]` has the paths in matrix i.

    Raises
    ------
    LawError
        If ⊕ does not select, the algebra is not a semiring, or best walks repeat a cycle; if there is a limit and an
        edge is better than 1; for a pair, if `lexicographic` cannot combine it and the first algebra does not rate a
        path by its worst edge.
    NoClosureError
        If there is an improving cycle.
    SemiringError
        For an unknown vertex, an entry that is not an element, or a path from one of the sources to one of the targets
        whose weight the dtype cannot hold. Any other path with such a weight is refused when it is asked for.

    Notes
    -----
    The weights are those of `closure`, or of `closure_rows` if sources are given, and the vertices follow from them;
    see `semiring.algorithms.trees`. Ties break the same way for every method and device. Among the best edges into a
    vertex, take those from vertices that are better than it, and of these the one from the vertex with the least
    position. Vertices without such an edge (because of edges of weight 0 in min-plus) are reached breadth first from
    the others, each from the least position. If an edge of the graph is better than 1 (negative in min-plus), all
    vertices are reached breadth first from the source. This holds if sources are given; without sources the same is
    done with all edges and walks reversed, and the next vertex is chosen. The ⊗ of a path's edges equals its weight
    exactly if ⊗ is exact, and otherwise within the rounding of `closure`.

    A pair of algebras is a `lexicographic` algebra if that exists. It does not exist for "widest, then shortest": the
    wider of two walks may be longer, and if a narrow edge follows both, they are equally wide, and the shorter one
    should have been kept. In that case there are two stages: first the best values by the first algebra; then, for each
    of them, the best paths by the second algebra among edges that are no worse. A part of such a path need not be a
    best path. So there are no next hops, predecessors and trees, and each path is searched for when it is asked for.
    Z. Wang, J. Crowcroft, Quality-of-service routing for supporting multimedia applications (1996).

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("Ayr", "Bo", 3.0), ("Bo", "Dale", 4.0), ("Ayr", "Dale", 9.0)])
    >>> R = sr.paths(roads, sr.min_plus)
    >>> R["Ayr", "Dale"]
    Path(weight=7.0, vertices=['Ayr', 'Bo', 'Dale'])
    >>> R["Dale", "Ayr"]
    Path(weight=inf, vertices=None)

    The widest walk to b goes through x. But an edge of width 5 follows, and then the narrow edge to b is just as wide,
    and shorter:

    >>> links = [("a", "x", (9, 4)), ("x", "b", (9, 6)), ("a", "b", (5, 1)), ("b", "c", (5, 1))]
    >>> R = sr.paths(sr.as_graph(links), (sr.max_min, sr.min_plus))
    >>> R["a", "b"].vertices, R["a", "c"].vertices
    (['a', 'x', 'b'], ['a', 'b', 'c'])
    >>> print(R["a", "c"].weight)
    (5.0, 2.0)
    """
    from .results.path_stacks import paths_of  # imported here because the other verbs do not need it and it is slow
    from .solvers.paths.search import positions

    to_file = None
    if not (out is memory is checkpoint is next_hops is None and resume is False):
        to_file = storing(out, memory, checkpoint, resume, next_hops)
    if (out is None) != (next_hops is None):
        raise SemiringError("paths writes two files: give out= for the weights and next_hops= for the next hops")
    asked = options(method=method, device=device, progress=progress, tol=tol, storing=to_file)
    task = Task("paths", S, (A,), asked, (sources, limit, None))
    if targets is not None:
        given = task.given[0]
        ends = positions(targets, given.names, given.shape[-1], "targets")[1]
        task.arguments = (*task.arguments[:2], ends)
    task.finish = paths_of
    return task  # type: ignore[return-value]


@verb
def path(
    A: Any, S: Semiring | str | None = None, source: Any = ..., target: Any = ..., *, tol: float | None = None
) -> tuple[Any, list[Any] | None]:
    """Find one best path between two vertices; ⊕ must select.

    Parameters
    ----------
    A : array_like, shape (n, n), or what `factor` gives
        As for `closure`; with a `Matrix` or a graph, vertices are given and returned by name. Factors answer by
        substitution, without a search.
    S : Semiring or str, optional
        With a selective ⊕. Default: the algebra of A, if it is a `Matrix` or was prepared:
        ``path(A, source=…, target=…)``.
    source, target : int or hashable
        Required. By name if the vertices of A have names, else by position.
    tol : float, optional
        Uncertainty of the weights; see `closure`.

    Returns
    -------
    weight : scalar
        ⊗ along the path, rounded as in `closure`; zero if there is no path. A Python number, or a record of A's
        dtype. A sum of integers may leave A's dtype, which `closure` refuses.
    vertices : list or None
        From source to target, or ``None``. A vertex occurs twice only if repeating a cycle is better than not, and
        stops being better after some rounds.

    Raises
    ------
    LawError
        If ⊕ does not select, so that no single path is best, or the algebra is not a semiring.
    NoClosureError
        If an improving cycle can be reached from the source: one that improves by more than the rounding of its edges
        explains.
    SemiringError
        For an unknown vertex, or an entry that is not an element.

    Notes
    -----
    The search of `closure_rows`; floats are rounded as in `closure`.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)], sr.min_plus)
    >>> sr.path(roads, sr.min_plus, "a", "c")
    (7.0, ['a', 'b', 'c'])
    """
    if source is ... or target is ...:
        raise SemiringError("path needs a source and a target: call path(A, S, source, target), or path(A, source=…, "
                            "target=…) if A is a Matrix (which has its algebra)")
    return Task("path", S, (A,), options(tol=tol), (source, target))  # type: ignore[return-value]


@verb
def nearest(A: Any, S: Semiring | str | None = None, places: Any = ...) -> Nearest:
    """Find for every vertex the best of some places, and the value of its walk.

    ⊕ must select. One search starts in all places at once. For the nearest place to go to, pass the reversed graph, or
    A.T.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n)
        As for `closure`.
    S : Semiring or str, optional
        With a selective ⊕. Default: the algebra of A, if it is a `Matrix` or was prepared: ``nearest(A, places=…)``.
    places : vertex, or sequence or set of vertices
        Required; at least one. By name if the vertices of A have names, else by position.

    Returns
    -------
    weights : ndarray of A's dtype, shape (n,)
        ⊕ over all walks from any of the places; zero if there is none. For a graph or a `Matrix` of integers float64 if
        there is an ∞, as in `Matrix.to_numpy`.
    places : ndarray, shape (n,)
        The place where the best walk begins: names, as objects, if A has names (None if there is no walk), else
        positions of int32 (−1 if there is no walk). Ties are broken as `paths` does for a source with an edge to every
        place, not by the order of the places.

    Raises
    ------
    LawError
        If ⊕ does not select, the algebra is not a semiring, or best walks repeat a cycle.
    NoClosureError
        If an improving cycle can be reached from a place.
    SemiringError
        For an unknown vertex, no place, or an entry that is not an element.

    Notes
    -----
    The search of `closure_rows` from all places at once, or from a vertex with an edge of weight one to each. M. Erwig,
    The graph Voronoi diagram with applications, Networks (2000). Floats are rounded as in `closure`.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("Ayr", "Bo", 3.0), ("Bo", "Cole", 1.0), ("Dale", "Cole", 2.0)])
    >>> found = sr.nearest(roads, sr.min_plus, ["Ayr", "Dale"])
    >>> found.weights, found.places.tolist()
    (array([0., 3., 2., 0.]), ['Ayr', 'Ayr', 'Dale', 'Dale'])
    """
    if places is ...:
        raise SemiringError("nearest needs places: call nearest(A, S, places), or nearest(A, places=…) if A is a "
                            "Matrix (which has its algebra)")
    from .results.nearest import nearest_of  # imported here because the other verbs do not need it

    task = Task("nearest", S, (A,), options(), (places,))
    task.finish = nearest_of
    return task  # type: ignore[return-value]


@verb
def cycle_mean(A: Any, S: Semiring | str | None = None) -> tuple[Any, list[Any] | None]:
    """Find the best mean weight of a cycle, and a cycle that has it.

    The best is the least in min-plus and the greatest in max-plus. The mean of a strongly connected graph is the only
    eigenvalue of its matrix, A ⊗ x = λ ⊗ x: the time that each round of a schedule takes in the long run. The cycle is
    called critical.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n)
        As for `closure`.
    S : Semiring or str, optional
        Its ⊕ is min or max, and its ⊗ is +. Default: the algebra of A, if it is a `Matrix` or was prepared.

    Returns
    -------
    mean : scalar
        The weight of the cycle divided by its number of edges: of A's dtype if A holds floats, else a float64. The
        algebra's zero if there is no cycle.
    vertices : list or None
        The cycle in the direction of its edges, by name or by position; the first vertex is also the last. None if
        there is no cycle.

    Raises
    ------
    LawError
        If ⊕ is not min or max, or ⊗ is not +.
    SemiringError
        If A is not a square matrix over S, or holds Python objects.

    Notes
    -----
    Policy iteration, then a search for a better cycle. The search is exact for whole numbers; for floats it may miss a
    cycle that is better by no more than rounding. R. A. Howard, Dynamic programming and Markov processes (1960);
    J. Cochet-Terrasson, G. Cohen, S. Gaubert, M. McGettrick, J.-P. Quadrat, Numerical computation of spectral elements
    in max-plus algebra (1998).

    Examples
    --------
    >>> import semiring as sr
    >>> trains = sr.adjacency([("a", "b", 3.0), ("b", "a", 5.0), ("b", "b", 2.0)], sr.max_plus)
    >>> sr.cycle_mean(trains, sr.max_plus)
    (np.float64(4.0), ['a', 'b', 'a'])
    """
    return Task("cycle_mean", S, (A,), options())  # type: ignore[return-value]
