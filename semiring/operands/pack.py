"""Graphs and matrices of every make as packed Boolean matrices."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from semiring.algebra.arguments import truth_value
from semiring.algebra.arithmetic import Arithmetic
from semiring.algebra.catalogue import boolean
from semiring.algebra.masks import mask_of
from semiring.errors import GraphError, SemiringError
from semiring.graphs.columns import IF_CLEAR
from semiring.graphs.foreign import as_scipy, is_sparse, kind_of
from semiring.graphs.graph import Graph, graph_for
from semiring.graphs.held_bits import Bits
from semiring.graphs.matrix import Matrix
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.lowering.parts import chunks

from .convert import as_dense, on_host
from .dense import read_matrix
from .device import read_dlpack
from .devices import is_on_gpu
from .entries import refuse_outside
from .operand import Operand
from .packed import Packed
from .sparse import Sparse


def pack(A: Any, n: int | None = None, *, directed: bool = True) -> PackedMatrix:
    """Pack the matrix of a graph, one bit per pair of vertices.

    The unpacked n × n matrix is never made.

    Parameters
    ----------
    A : array, sparse matrix, Matrix, graph or edges
        Of shape (n, n), or (rows, columns) for a matrix:

        - a 2-D array of NumPy, CuPy or a library that exports DLPack: True where an entry differs from 0;
        - a SciPy sparse matrix: True where an entry is stored, even an explicit 0, but not a False;
        - a `Matrix`: True where an element differs from its algebra's zero;
        - a `Graph`, a NetworkX graph, a data frame or other edges as `as_graph` takes them: True where there is an
          edge, whatever its weight. Rows are in the order of the graph's vertices; `reach` keeps their names.
        - a `PackedMatrix`: returned as it is.
    n : int, optional
        The number of vertices, if the edges do not determine it.
    directed : bool
        False: every edge, listed once, goes both ways.

    Returns
    -------
    PackedMatrix, shape (n, n) or (rows, columns)
        It takes n ceil(n / 512) · 64 bytes. The bits of a CuPy array, or of a sparse matrix of CuPy, stay on the GPU.

    Raises
    ------
    SemiringError
        For NaN and infinities, because it is unclear whether they mean an edge; so are the limits of signed integers in
        an array, which stand for infinities. For an entry of a `Matrix` that is not an element of its algebra, for a
        matrix that does not have n vertices, or is not square but must be, and if the bits do not fit in memory.
    GraphError
        For an object that is neither a matrix nor edges, and for lists that could be either: two of two numbers, three
        of three.
    TypeError
        If n is not an integer.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.pack([(0, 1), (1, 2), (2, 0)]).to_dense(int).tolist()
    [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    """
    A, directed = before_preparing(A), truth_value(directed, "directed")
    matrix = _packed(A) if is_matrix(A) else None
    if matrix is None:
        return _edges(graph_for(A, n, directed, IF_CLEAR))
    if n is not None and matrix.shape != (n, n):
        raise SemiringError(f"n = {n}, but the matrix has shape {matrix.shape}")
    if not directed:
        if matrix.shape[0] != matrix.shape[1]:
            raise SemiringError(f"an undirected graph has a square matrix, but A has shape {matrix.shape}")
        return matrix | matrix.transpose()
    return matrix


def holds(A: Any, matrix: PackedMatrix) -> bool:
    """Whether the bits of a matrix are the caller's own, and must not be overwritten."""
    return matrix is A or (isinstance(A, Matrix) and isinstance(A._held, Bits) and A._held.matrix is matrix)


def pack_named(A: Any) -> tuple[PackedMatrix, Sequence[Any] | None]:
    """Pack a matrix or a graph, and return it with the names of its vertices."""
    A = before_preparing(A)
    if is_matrix(A):
        return pack(A), A.names if isinstance(A, Matrix) else None
    graph = graph_for(A, weight=IF_CLEAR)
    return _edges(graph), graph.names


def before_preparing(A: Any) -> Any:
    """Turn a prepared operand back into a graph, a matrix or truth values, with its names; return others unchanged."""
    if not isinstance(A, Operand):
        return A
    if isinstance(A, Packed):
        return A.wrap(A.matrix)
    given = on_host(A)
    if not isinstance(given, Sparse):
        array = as_dense(given).array
        if given.of_graph:
            return Matrix(array, given.S, given.names, given.library)
        return ~given.S.over(given.dtype).is_zero(array)
    edges = given.without_zeros()
    if edges.of_graph:
        return edges.wrap_rows(edges.rows)
    from scipy.sparse import csr_array

    return csr_array((np.ones(edges.nnz, bool), edges.rows.columns, edges.indptr), shape=edges.shape)


def is_matrix(A: Any) -> bool:
    """Whether this is a matrix, and not edges.

    Raises
    ------
    GraphError
        For two lists of two numbers, or three of three, which could be either.
    """
    if isinstance(A, list) and _could_be_matrix(A):
        side = len(A)
        raise GraphError(
            f"a list of {side} lists of {side} numbers could be {side} edges or a matrix of {side} vertices: pass "
            "edges as tuples, and a matrix as a NumPy array"
        )
    return (
        isinstance(A, (PackedMatrix, np.ndarray, Matrix)) or is_on_gpu(A) or hasattr(A, "tocoo") or _is_exported(A)
        or is_sparse(A)
    )


def _could_be_matrix(rows: list[Any]) -> bool:
    return len(rows) in (2, 3) and all(
        (isinstance(row, list) or (isinstance(row, np.ndarray) and row.ndim == 1))
        and len(row) == len(rows)
        and all(isinstance(entry, (Number, np.bool_)) for entry in row)
        for row in rows
    )


def _is_exported(A: Any) -> bool:
    """Whether this is an array of a library that exports DLPack."""
    return hasattr(A, "__dlpack__") and hasattr(A, "__dlpack_device__")


def _packed(A: Any) -> PackedMatrix | None:
    """Pack a matrix; None for edges."""
    if isinstance(A, PackedMatrix):
        return A
    if isinstance(A, Matrix) and A.holder != "dense":
        return _held(A)
    if isinstance(A, Matrix):
        given = read_matrix(A, A.semiring, "A")
        _ = given.facts  # refuses anything that is not an element, with its place
        return _differing(given.array, A.semiring.over(given.dtype))
    if is_sparse(A) and not kind_of(A, "cupyx.scipy.sparse", "spmatrix"):
        A = as_scipy(A, "A", lambda fill: bool(abs(fill) == np.inf))
    if _is_exported(A) and not isinstance(A, np.ndarray) and not is_on_gpu(A):
        A = read_dlpack(A, boolean, "A").array
    if isinstance(A, np.ndarray) or is_on_gpu(A):
        mask = mask_of(A)
        if mask is not None:
            A = np.where(mask, np.zeros((), A.dtype), A.data)
        if is_on_gpu(A):
            return _on_gpu(A)
        _refuse_unclear(A)
        return PackedMatrix.from_dense(A)
    if hasattr(A, "tocoo") and hasattr(A, "shape"):
        if getattr(A.dtype, "kind", "") in "fc":
            entries = A.tocoo()
            bad = np.flatnonzero(~np.isfinite(entries.data))
            if len(bad):
                raise _unclear((entries.row[bad[0]], entries.col[bad[0]]), entries.data[bad[0]])
        return PackedMatrix.from_sparse(A)
    return None


def _held(A: Matrix) -> PackedMatrix:
    """The bits of a sparse or a packed `Matrix`: True where there is an entry."""
    held = A._held
    if isinstance(held, Bits):
        return held.matrix
    rows, columns = held.entries().places()
    refuse_outside(A.semiring, "A", held.elements, rows, columns)
    return PackedMatrix.from_edges(rows, columns, held.shape)


def _on_gpu(array: Any) -> PackedMatrix:
    """Pack a CuPy array where it is; its elements are looked at in the same pass."""
    from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix

    matrix, unclear = DevicePackedMatrix.examined(array)
    if array.dtype.kind in "fci" and int(unclear[0]):
        _refuse_unclear(array.get())
    return matrix


def _refuse_unclear(array: np.ndarray) -> None:
    """Refuse NaN and infinities, which are absent edges over some algebras, and edges over others."""
    if array.dtype.kind not in "fci":
        return
    if not all(_is_finite(part).all() for part in chunks(array)):
        at = tuple(np.argwhere(~_is_finite(array))[0])
        raise _unclear(at, array[at])


def _is_finite(array: Any) -> Any:
    """Test which numbers are neither NaN nor infinite; in signed integers their limits are ±∞."""
    if array.dtype.kind != "i":
        return np.isfinite(array)
    limits = np.iinfo(array.dtype)
    return (array != limits.min) & (array != limits.max)


def _unclear(at: tuple[Any, ...], value: Any) -> SemiringError:
    place = f"A[{', '.join(map(str, at))}]"
    if np.isnan(value):
        return SemiringError(f"{place} is NaN; mark an absent edge with 0")
    return SemiringError(
        f"{place} is {value}, which is an absent edge over some algebras and an edge over others; pass a matrix with "
        "its algebra, such as semiring.Matrix(A, semiring.min_plus), or mark absent edges with 0"
    )


def _differing(array: np.ndarray, T: Arithmetic) -> PackedMatrix:
    """Pack the elements that are not zero, some rows at a time; T is the arithmetic of their dtype."""
    matrix = PackedMatrix.zeros(*array.shape)
    row = 0
    for part in chunks(array):
        matrix.words[row : row + len(part)] = PackedMatrix.from_dense(~T.is_zero(part)).words
        row += len(part)
    return matrix


def _edges(graph: Graph) -> PackedMatrix:
    sources, targets = graph.sources, graph.targets
    if graph.weights is not None and graph.weights.dtype.kind == "b":
        sources, targets = sources[graph.weights], targets[graph.weights]
    matrix = PackedMatrix.from_edges(sources, targets, graph.n)
    if not graph.directed:
        matrix |= PackedMatrix.from_edges(targets, sources, graph.n)
    return matrix
