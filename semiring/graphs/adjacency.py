"""Turn graphs into matrices over an algebra."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from semiring.algebra.by_name import algebra
from semiring.algebra.masks import mask_of
from semiring.errors import GraphError
from semiring.graphs.columns import WeightColumns
from semiring.graphs.combining import CLOSE_GAPS, scatter, zeros
from semiring.graphs.edges import MANY_VERTICES
from semiring.graphs.frames import has_labels, library_of, matrix_of
from semiring.graphs.graph import Graph, as_graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import refuse_table
from semiring.graphs.operators import as_array, in_order
from semiring.graphs.order import over_vertices
from semiring.graphs.weights import elements, refuse_nan, unweighted
from semiring.machine.memory import require

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

MOST_ROWS = 2**31 - 1  # so that a column fits 32 bits, and a row with a column 64
BYTES_A_ROW = 48  # offsets, counts and an order of the rows, made at the same time


def adjacency(
    edges: Any,
    S: Semiring | str,
    n: int | None = None,
    *,
    dtype: DTypeLike | None = None,
    directed: bool = True,
    weight: WeightColumns = "weight",
    default: Any = None,
    names: Sequence[Hashable] | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
) -> Matrix:
    """Make the matrix of a graph over an algebra.

    Element (i, j) is the weight of the edge from i to j, and the algebra's zero if there is no edge, also on the
    diagonal. Parallel edges combine with ⊕. An edge whose weight is the number 0 is still an edge.

    Parameters
    ----------
    edges, n, directed, weight, names, source, target : as for `as_graph`
    S : Semiring or str
    dtype : dtype or what `numpy.dtype` takes, optional
        The dtype of the matrix. Default: what the algebra uses for the weights' dtype. In a Boolean matrix every edge
        with a number as its weight is True, even 0, because the edge exists.
    default : element, optional
        The weight of edges that have none. Default: 1 if elements are numbers (an edge counts one hop in min-plus and
        is True in boolean). For records and objects there is no natural weight: pass it.

    Returns
    -------
    Matrix
        It has n² elements.

    Raises
    ------
    GraphError
        A vertex, weight or edge that is not valid, with its position; a weight that is not an element, or that the
        dtype cannot hold; names that are not a sequence.
    SemiringError
        If the matrix does not fit in memory, the algebra is unknown, or it cannot live in the dtype.
    TypeError
        If n is not an integer, or NumPy knows no such dtype.

    Notes
    -----
    Parallel edges combine pairwise: each weight of m edges is in at most ⌈log₂ m⌉ sums. Each sum rounds floats once if
    ⊕ is +, and not at all if ⊕ is min or max.

    Examples
    --------
    >>> import semiring as sr
    >>> M = sr.adjacency([("a", "b", 4.0), ("a", "b", 3.0), ("b", "c", 0.0)], sr.min_plus)
    >>> float(M["a", "b"]), float(M["b", "c"]), float(M["c", "a"])
    (3.0, 0.0, inf)
    """
    S = algebra(S)
    graph = as_graph(edges, n, directed=directed, weight=weight, default=default, names=names, source=source,
                     target=target)
    sources, targets, values = entries_of(graph, S, dtype, default)
    array = zeros(S, graph.n, values.dtype)
    scatter(array.reshape(-1), sources * graph.n + targets, values, S.over(values.dtype).add)
    if S.is_record:
        array = array.view(S.with_vectors(array.dtype))
    return Matrix(array, S, graph.names, graph.library)


def entries_of(
    graph: Graph, S: Semiring, dtype: DTypeLike | None = None, default: Any = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], np.ndarray]:
    """Rows, columns and elements of the edges of a graph; an undirected edge is an entry in each direction."""
    sources, targets = graph.sources, graph.targets
    if graph.weights is not None:
        values = elements(S, graph.weights, dtype, graph._edge)
    elif len(graph):
        values = np.repeat(unweighted(S, dtype, default), len(graph))
    else:
        values = np.empty(0, dtype=S.resolve_dtype(S.default_dtype if dtype is None else dtype))
    if graph.directed:
        return sources, targets, values
    back = sources != targets  # a self-loop already goes both ways
    return (np.concatenate([sources, targets[back]]), np.concatenate([targets, sources[back]]),
            np.concatenate([values, values[back]]))


def from_dense(
    array: Any,
    S: Semiring | str,
    *,
    absent: Any = 0,
    dtype: DTypeLike | None = None,
    names: Sequence[Hashable] | None = None,
) -> Matrix:
    """Make a matrix from a dense array in which one value means "no edge".

    Parameters
    ----------
    array : array_like, shape (n, n)
        It is copied. A masked entry is not an edge. The index and the columns of a pandas data frame are the names; a
        `Matrix` keeps its own.
    S : Semiring or str
    absent : optional
        The value that means "no edge"; `float("nan")` for NaN.
    dtype, names : optional
        As for `adjacency`.

    Returns
    -------
    Matrix
        It has the algebra's zero where there is no edge.

    Raises
    ------
    GraphError
        If the array is not square, an entry is not a number, is NaN, is not an element, or does not fit the dtype; the
        message names its place. Also if the names are not a sequence with one for each vertex, all different.
    SemiringError
        If the matrix does not fit in memory, the algebra is unknown, or it cannot live in the dtype.
    TypeError
        If NumPy knows no such dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> M = sr.from_dense([[0, 5], [0, 0]], sr.min_plus, dtype=float)
    >>> np.asarray(M).tolist()
    [[inf, 5.0], [inf, inf]]
    """
    S, library = algebra(S), library_of(array)
    refuse_table(array, "array")
    if isinstance(array, Matrix):
        library = array.library
        held, names, _ = in_order(over_vertices(array, "array"), names)
        array = held.all()
    elif has_labels(array):
        array, names = matrix_of(array, names)
    data = as_array(array)
    if data.dtype.kind not in "biufcO" and not (data.dtype.names and S.is_record):
        raise GraphError(f"the entries are {data.dtype}, which are not numbers; convert them with .astype(…)")
    if data.ndim != 2 or data.shape[0] != data.shape[1]:
        raise GraphError(f"a matrix of edges must be square, but this array has shape {data.shape}")
    if data.dtype.names:
        present = data != np.array(absent, dtype=data.dtype)
    elif isinstance(absent, float) and absent != absent:
        present = data == data
    elif data.dtype.kind == "O":
        present = np.array([x != absent for x in data.flat], dtype=bool).reshape(data.shape)
    else:
        present = np.asarray(data != absent)
    mask = mask_of(array, "array")
    if mask is not None:
        present &= ~mask
    where = None

    def entry(i: int) -> str:
        nonlocal where
        where = np.flatnonzero(present) if where is None else where
        row, column = divmod(int(where[i]), data.shape[1])
        return f"entry ({row}, {column})"

    given = data[present]
    refuse_nan(given, entry)
    values = elements(S, given, dtype, entry)
    result = zeros(S, data.shape[0], values.dtype)
    result[present] = values
    return Matrix(result.view(S.with_vectors(result.dtype)) if S.is_record else result, S, names, library)


def require_rows(n: int) -> None:
    """Refuse more vertices than compressed rows can have, or than fit in memory, before anything is allocated."""
    if n > MOST_ROWS:
        raise GraphError(f"sparse matrices have up to {MOST_ROWS} rows, but the graph has {n} vertices: {CLOSE_GAPS}")
    if n > MANY_VERTICES:  # checking costs as much as a small closure
        require(BYTES_A_ROW * n, f"{n} sparse rows", CLOSE_GAPS)
