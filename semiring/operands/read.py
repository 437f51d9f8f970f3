"""The table of everything that can be passed as a matrix, with its readers.

A row is a module, the name of a class in it, and the reader. Only modules that are loaded are tried, because an object
cannot exist before the module of its class; subclasses are read like their parents.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Number
from operator import is_
from os import PathLike
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError, SemiringError
from semiring.graphs.columns import called_as_ends
from semiring.graphs.dataarrays import labels_of
from semiring.graphs.edges import are_edges
from semiring.graphs.foreign import as_array, as_scipy, is_foreign, is_sparse, is_sparse_tensor
from semiring.graphs.frames import edge_columns, has_labels, has_named_rows, is_frame, is_square
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import refuse_table

from .components import is_components, read_components
from .dense import Dense, read_array, read_nested
from .device import read_cupy, read_dlpack
from .held import read_held
from .operand import Operand
from .packed import read_packed
from .sparse import Sparse, read_cupyx, read_scipy, read_stored
from .sparse import read_graph as read_entries
from .stored import read_chunked, read_path

Reader = Callable[[Any, Semiring, str], Operand]


def read_graph(A: Any, S: Semiring, what: str) -> Sparse:
    """Read a graph by its edges; answers have the vectors of the algebra's records as fields, like a `Matrix`."""
    given = read_entries(A, S, what)
    return given.answering_in(S.with_vectors(given.dtype))


def read_frame(A: Any, S: Semiring, what: str) -> Operand:
    """Read a data frame: a matrix if its rows and its columns are the same vertices, else edges.

    Raises
    ------
    GraphError
        If it could be either: numbers in rows that have names, and no column has the name of an end, such as "from".
    """
    if is_square(A):
        return as_matrix(A, S, what)
    if has_named_rows(A) and not called_as_ends(list(A.columns)):
        raise GraphError(f"{what} is a data frame of numbers whose rows have names, and could be a matrix or the ends "
                         "of edges: pass sr.Matrix(frame, S), or sr.as_graph(frame)")
    return read_graph(A, S, what)


def as_matrix(A: Any, S: Semiring, what: str) -> Operand:
    """Read a `Matrix`, or a data frame that is one."""
    return read_held(A if isinstance(A, Matrix) else Matrix(A, S), S, what)


def read_series(A: Any, S: Semiring, what: str) -> Operand:
    """Read a pandas series: a vector, whose labels are vertices if it meets a matrix over vertices; or edges."""
    if what == "A" and getattr(A.index, "nlevels", 1) > 1:  # the ends of edges
        return read_graph(A, S, what)
    given = read(A.to_numpy(), S, what)
    given.labels = [A.index.tolist()]
    return given


def read_dataarray(A: Any, S: Semiring, what: str) -> Operand:
    """Read a DataArray of xarray: a matrix, a vector whose labels are vertices, or a stack, which has labels."""
    if A.ndim == 2:
        return as_matrix(A, S, what)
    given = read(A.to_numpy(), S, what)
    given.labels = labels_of(A) if any(x is not None for x in labels_of(A)) else None
    return given


def read_factors(A: Any, S: Semiring, what: str) -> Operand:
    """Read factors: the matrix that was eliminated, with its factors."""
    given: Operand = operand(A._edges, S, what)
    return given.changed(factors=A)


def read_tensor(A: Any, S: Semiring, what: str) -> Operand:
    """Read a PyTorch tensor: by its entries if its layout is sparse, else as an array."""
    return read_stored(A, S, what) if is_sparse_tensor(A) else read_dlpack(A, S, what)


def refuse_traced(A: Any, S: Semiring, what: str) -> Operand:
    """Refuse a JAX array without elements, in a function that JAX traces.

    Raises
    ------
    SemiringError
        Always.
    """
    raise SemiringError(f"{what} is traced by JAX, as within jax.jit, jax.grad or jax.vmap, and has no elements yet: "
                        "use matmul and closure of semiring.jax there")


READERS: tuple[tuple[str, str, Reader], ...] = (
    ("cupy", "ndarray", read_cupy),
    ("semiring.kernels.cpu.bits.matrix", "PackedMatrix", read_packed),
    ("semiring.graphs.graph", "Graph", read_graph),
    ("semiring.solvers.paths.factored", "Factored", read_factors),
    ("scipy.sparse", "sparray", read_scipy),
    ("scipy.sparse", "spmatrix", read_scipy),
    ("cupyx.scipy.sparse", "spmatrix", read_cupyx),
    ("sparse", "SparseArray", read_stored),
    ("graphblas.core.matrix", "Matrix", read_stored),
    ("graphblas.core.matrix", "TransposedMatrix", read_stored),
    ("graphblas.core.base", "BaseExpression", read_stored),
    ("graphblas.core.vector", "Vector", read_stored),
    ("torch", "Tensor", read_tensor),
    ("networkx", "Graph", read_graph),
    ("zarr", "Array", read_chunked),
    ("h5py", "Dataset", read_chunked),
    ("pandas", "DataFrame", read_frame),
    ("pandas", "Series", read_series),
    ("xarray", "DataArray", read_dataarray),
    ("polars", "DataFrame", read_frame),
    ("pyarrow", "Table", read_frame),
    ("pyarrow", "RecordBatch", read_frame),
    ("jax.core", "Tracer", refuse_traced),
    ("jax.experimental.sparse", "JAXSparse", read_stored),
)


def operand(A: Any, S: Semiring, what: str = "A") -> Operand:
    """Read what a caller passed as an operand that messages call `what`, unless it was prepared.

    Raises
    ------
    SemiringError
        If it is not a matrix over S, or was prepared for a different algebra.
    """
    if not isinstance(A, Operand):
        return read(A, S, what)
    if A.S is not S and A.S.declared is S.declared:
        A = A.changed(S=S)  # S sums improving cycles, or does not
    if A.S is not S:
        raise SemiringError(f"{what} was prepared for {A.S.name}, but is used with {S.name}; prepare it for {S.name}")
    return A if A.what == what else A.changed(what=what)


def elements(A: Any, S: Semiring, what: str) -> Operand:
    """Read an operand of a verb of arrays, for which a data frame of numbers is edges only if its columns say so.

    Columns that are all floats hold no ends, whatever they are called.

    Raises
    ------
    GraphError
        For a data frame that could be elements or edges.
    SemiringError
        As `operand` does.
    """
    if not isinstance(A, (np.ndarray, Matrix, Operand, list, tuple)) and is_frame(A) and not is_square(A):
        header, column, _, _ = edge_columns(A)
        kinds = {column(k).dtype.kind for k in range(len(header))}
        if kinds <= {"f"} or (kinds <= {*"iufb"} and not called_as_ends(header)):
            raise GraphError(f"{what} is a data frame of numbers, which could be a matrix or the ends of edges: pass "
                             "sr.Matrix(frame, S), sr.as_graph(frame), or frame.to_numpy()")
    return operand(A, S, what)


def read(A: Any, S: Semiring, what: str = "A") -> Operand:
    """Read anything that can stand for a matrix, as an operand.

    Raises
    ------
    SemiringError
        If it cannot stand for a matrix, or its dtype cannot carry the algebra.
    """
    if isinstance(A, np.ndarray):
        return read_array(A, S, what)
    if isinstance(A, Matrix):
        return read_held(A, S, what)
    if isinstance(A, tuple) and S.is_record:
        A = tuple(as_scipy(part, f"{what}[{k}]") if is_sparse(part) else part for k, part in enumerate(A))
    if isinstance(A, tuple) and is_components(A, S):
        return read_components(A, S, what)
    if (reader := _reader_of(A)) is not None:
        return reader(A, S, what)
    refuse_table(A, what)
    if is_frame(A):
        return read_frame(A, S, what)
    if is_foreign(A):
        return read_dlpack(A, S, what)
    if what == "A" and (are_edges(A) or _are_edges(A)):
        return read_graph(A, S, what)
    return read_nested(_plain(A, S, what), S, what)


def _plain(A: Any, S: Semiring, what: str) -> Any:
    """Refuse nested lists with arrays over vertices; NumPy would stack them for any algebra.

    Raises
    ------
    SemiringError
        For a matrix over a different algebra, a graph, a prepared matrix, and a matrix whose vertices have names, which
        an array would match by position.
    """
    if isinstance(A, (list, tuple)):
        if not A or isinstance(A[0], (Number, str, bytes)):
            return A
        found = [_plain(part, S, f"{what}[{i}]") for i, part in enumerate(A)]
        return A if all(map(is_, found, A)) else found
    if isinstance(A, (Number, np.ndarray)):
        return A
    refuse_table(A, what)
    if isinstance(A, Operand) or is_of_edges(A):
        raise SemiringError(f"{what} is of type {type(A).__name__}, but a stack must be of arrays: pass the elements, "
                            "such as sr.adjacency(graph, S).to_numpy() for a graph")
    if is_foreign(A):
        return as_array(A, what)
    if not (isinstance(A, Matrix) or has_labels(A)):
        return A
    given = as_matrix(A, S, what)
    if given.names is not None:
        raise SemiringError(f"{what} has names, which a stack would lose: np.stack([M, N]) makes a stack of Matrices, "
                            "in the order of the names of the first")
    if not isinstance(given, Dense):
        raise SemiringError(f"{what} is a Matrix that is not dense, but a stack must be of arrays: pass its elements, "
                            "M.to_numpy()")
    return given.array


def _are_edges(A: Any) -> bool:
    """Whether this is a list of tuples (from, to) or (from, to, weight), or an empty list: a graph without edges.

    Raises
    ------
    GraphError
        For two tuples of two numbers, or three of three, which could also be a matrix.
    """
    if not isinstance(A, list) or not all(isinstance(e, tuple) and len(e) in (2, 3) for e in A):
        return False
    if A and len({len(A), *map(len, A)}) == 1 and all(isinstance(part, Number) for edge in A for part in edge):
        n = len(A)
        raise GraphError(f"{n} tuples of {n} numbers could be {n} edges or a matrix of {n} vertices: pass edges as "
                         "semiring.as_graph(edges), and a matrix as lists or as an array")
    return True


def is_of_edges(A: Any) -> bool:
    """Whether this is a graph, a SciPy sparse matrix or a table of edges, which `as_graph` takes.

    >>> import semiring as sr
    >>> is_of_edges(sr.as_graph([(0, 1)])), is_of_edges(np.eye(2))
    (True, False)
    """
    reader = _reader_of(A)
    if reader is read_stored or is_sparse_tensor(A):
        return True
    if reader is None and not isinstance(A, np.ndarray) and is_frame(A):
        reader = read_frame
    return reader in (read_graph, read_scipy) or (reader is read_frame and not is_square(A))


def refuse_edges(B: Any) -> None:
    """Refuse a right-hand side that looks like a list of edges.

    Raises
    ------
    SemiringError
        For a data frame, unless its index and columns are vertices.
    """
    if not isinstance(B, np.ndarray) and is_frame(B) and not is_square(B):
        raise SemiringError("B is a data frame, whose columns may be right-hand sides or the ends of edges: pass an "
                            "array, such as B.to_numpy(), or a graph, sr.as_graph(B)")


def _reader_of(A: Any) -> Reader | None:
    if isinstance(A, (str, bytes, PathLike)):
        return read_path
    for module, name, reader in READERS:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(A, kind):
            return reader
    return None
