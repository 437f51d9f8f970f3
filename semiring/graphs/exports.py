"""Convert matrices for other packages: compressed rows of SciPy, graphs of NetworkX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.vectors import convert, flattened
from semiring.errors import GraphError

from .texts import with_infinities

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

    from .matrix import Matrix
    from .operators import Operators
    from .tables import Elements


def by_components(array: np.ndarray) -> np.ndarray:
    """Elements with vectors as adjacent numbers; others unchanged."""
    if not any(array.dtype[f].subdtype for f in array.dtype.names or ()):
        return array
    return convert(array, flattened(array.dtype))


def as_declared(array: np.ndarray, S: Semiring) -> np.ndarray:
    """Elements in native byte order; records with the fields in the algebra's order, because tuples have no names."""
    dtype = S.with_vectors(S.resolve_dtype(array.dtype)) if array.dtype.names else array.dtype.newbyteorder("=")
    return array if dtype == array.dtype else convert(array, dtype)


def is_absent(array: np.ndarray, S: Semiring) -> NDArray[np.bool_]:
    """Test which elements are the algebra's zero."""
    absent: NDArray[np.bool_] = S.over(array.dtype).is_zero(array)
    return absent


def entries_of(M: Operators | Elements) -> tuple[NDArray[np.int64], NDArray[np.int64], np.ndarray]:
    """Rows, columns and elements of the entries other than the algebra's zero, row by row."""
    entries = M._elements.entries()
    return (*entries.places(), with_infinities(as_declared(entries.values, M.semiring), M.semiring))


def edges_of(M: Operators) -> tuple[NDArray[np.int64], NDArray[np.int64], np.ndarray]:
    """The same of a matrix whose rows and columns are the same vertices; others are refused."""
    if not M.is_over_vertices:
        raise GraphError("the rows and columns of this Matrix are different, and a graph has one set of vertices: "
                         "rename them, such as by [(('row', a), ('column', b), w) for a, b, w in M.edges()], for a "
                         "bipartite graph")
    return entries_of(M)


def sparse_of(M: Matrix) -> Any:
    """See `Matrix.to_sparse`."""
    if M.dtype.names or M.dtype.kind == "O":
        raise GraphError(f"SciPy's sparse matrices hold numbers, but the elements of {M.semiring.name} are not: use "
                         "to_frame or to_networkx")
    from scipy.sparse import csr_array

    rows, columns, values = entries_of(M)
    offsets = np.zeros(M.shape[0] + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=M.shape[0]), out=offsets[1:])
    return csr_array((values, columns, offsets), shape=M.shape)


def networkx_of(M: Matrix) -> Any:
    """See `Matrix.to_networkx`."""
    from networkx import DiGraph

    rows, columns, values = edges_of(M)
    names = range(M.n) if M.names is None else M.names
    graph = DiGraph()
    graph.add_nodes_from(names)
    ends = zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True)
    graph.add_edges_from((names[i], names[j], {"weight": weight}) for i, j, weight in ends)
    return graph
