"""Sparse matrices and graphs as compressed rows of checked elements, without a dense matrix."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.laws import is_nan, show
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError

from .operand import examine, operand

if TYPE_CHECKING:
    from semiring.kernels.cpu.sparse.product import Rows


@dataclass(frozen=True)
class Compressed:
    """The entries of a matrix row by row, and the names of its vertices."""

    rows: Rows
    names: Sequence[Any] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.rows.shape

    @property
    def dtype(self) -> np.dtype:
        """Of the elements."""
        return self.rows.values.dtype


def is_sparse(A: Any) -> bool:
    """Whether A is a SciPy sparse matrix or array."""
    return type(A).__module__.startswith("scipy.sparse")


def compressed(A: Any, S: Semiring, what: str = "A") -> Compressed:
    """Compressed rows of anything that stands for a matrix.

    Every stored entry of a SciPy sparse matrix is an element, an explicit 0 too (the formats that store blocks or
    diagonals cannot tell a 0 from padding: there it is none); entries of one place combine with ⊕. Of dense matrices
    the entries that are not the algebra's zero are taken.

    Raises
    ------
    SemiringError
        For a dtype that cannot carry the algebra, an entry that is not an element (with its row and column), or columns
        outside the matrix.
    """
    if is_sparse(A):
        return _from_scipy(A, S, what)
    graph = sys.modules.get("semiring.graphs.graph")
    if (graph is not None and isinstance(A, graph.Graph)) or type(A).__module__.startswith("networkx."):
        return _from_graph(A, S)
    given = operand(A, S, what)
    if given.array.ndim != 2:
        raise SemiringError(f"{what} must be a matrix, and has shape {given.array.shape}")
    zero = S.zero_in(given.array.dtype)
    stored = np.asarray(given.array != zero) if zero == zero else np.full(given.array.shape, True)
    if given.array.dtype.kind == "O":
        examine(S, given.array.dtype, [(what, given.array)])
    rows, columns = np.nonzero(stored)
    values = given.array[stored]
    _check(S, what, values, rows, columns)
    return Compressed(from_triples(S, rows, columns, values, given.array.shape), given.names)


def _from_scipy(A: Any, S: Semiring, what: str) -> Compressed:
    from semiring.kernels.cpu.sparse.product import Rows
    from semiring.kernels.cpu.sparse.structure import BROKEN, COLUMN, FINE, MOST, OFFSET, state_of

    if len(A.shape) != 2:
        raise SemiringError(f"{what} must be a matrix, and has shape {A.shape}")
    height, width = A.shape
    if max(height, width) > MOST:
        raise SemiringError(f"{what} is {height} × {width}; a sparse matrix may have {MOST} rows and columns")
    if A.format == "csc":
        A = A.tocsr()  # as compressed columns it has one order in each row, and duplicates stay
    if A.format != "csr":
        entries = A.tocoo()
        rows, columns, data = entries.row, entries.col, entries.data
        if A.format == "bsr":
            rows, columns, data = (part[entries.data != 0] for part in (rows, columns, data))
        values = _elements(S, data)
        if len(rows) and (rows.min() < 0 or columns.min() < 0 or rows.max() >= height or columns.max() >= width):
            raise SemiringError(f"{what} is {height} × {width} and has entries outside")
        _check(S, what, values, rows, columns)
        return Compressed(from_triples(S, rows, columns, values, A.shape))
    offsets = np.ascontiguousarray(A.indptr, OFFSET)
    indices = np.asarray(A.indices)
    if indices.dtype != COLUMN and len(indices) and (indices.min() < 0 or indices.max() > MOST):
        raise SemiringError(f"{what} is {height} × {width} and has entries outside")
    columns = np.ascontiguousarray(indices, COLUMN)
    state = state_of(offsets, columns, width) if len(offsets) == height + 1 else BROKEN
    if state == BROKEN or len(A.data) < offsets[-1]:
        raise SemiringError(f"{what} is {height} × {width} and its compressed rows do not fit: indices lie outside")
    columns, values = columns[: offsets[-1]], _elements(S, np.ascontiguousarray(A.data[: offsets[-1]]))
    if not S.over(values.dtype).contains(values).all() or state != FINE:
        rows = np.repeat(np.arange(height), np.diff(offsets))
        _check(S, what, values, rows, columns)
        return Compressed(from_triples(S, rows, columns, values, A.shape))
    return Compressed(Rows(offsets, columns, values, width))


def _elements(S: Semiring, data: np.ndarray) -> np.ndarray:
    """Stored numbers in the dtype of the elements; under a Boolean algebra every number is an edge."""
    if S.is_object:
        raise SemiringError(f"{S.name} works on Python objects, which no SciPy sparse matrix holds; use a dense array")
    if S.is_record:
        raise SemiringError(f"{S.name} works on records, which no SciPy sparse matrix holds; use a Graph or an array")
    if S.default_dtype.kind == "b" and data.dtype.kind in "iuf" and S.idempotent:
        at = np.isnan(data) if data.dtype.kind == "f" else np.zeros(1, bool)
        if not at.any():
            return np.full(len(data), S.one_in(bool))
    return data.astype(S.resolve_dtype(data.dtype), copy=False)


def _from_graph(A: Any, S: Semiring) -> Compressed:
    """The matrix of a graph, as `semiring.adjacency` would make it."""
    from semiring.graphs.graph import as_graph
    from semiring.graphs.weights import elements, unweighted

    graph = as_graph(A)
    if graph.weights is not None:
        values = elements(S, graph.weights, None, graph._edge)
    elif len(graph):
        values = np.repeat(unweighted(S, None, None), len(graph))
    else:
        values = np.empty(0, S.default_dtype)
    sources, targets = graph.sources, graph.targets
    if not graph.directed:
        back = sources != targets  # a self-loop already goes both ways
        sources, targets = np.concatenate([sources, targets[back]]), np.concatenate([targets, sources[back]])
        values = np.concatenate([values, values[back]])
    return Compressed(from_triples(S, sources, targets, values, (graph.n, graph.n)), graph.names)


def from_triples(
    S: Semiring, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> Rows:
    """Compressed rows of entries in any order; those of one place combine with ⊕, in the order they stand in."""
    from semiring.graphs.adjacency import require_rows, stable_order
    from semiring.kernels.cpu.sparse.product import Rows
    from semiring.kernels.cpu.sparse.structure import COLUMN, OFFSET

    require_rows(shape[0])
    add = S.over(values.dtype).add
    keys = rows.astype(np.int64) * shape[1] + columns
    order = stable_order(keys, max(shape[0] * shape[1], 1))
    keys, values = keys[order], values[order]
    same = keys[1:] == keys[:-1]
    while same.any():  # pairs of neighbours at a time
        starts = np.flatnonzero(np.concatenate([[True], ~same]))
        first = (np.arange(len(keys)) - np.repeat(starts, np.diff(starts, append=len(keys)))) % 2 == 0
        left = np.flatnonzero(first[:-1] & same)
        values[left] = add(values[left], values[left + 1])
        keys, values = keys[first], values[first]
        same = keys[1:] == keys[:-1]
    counts = np.bincount(keys // max(shape[1], 1), minlength=shape[0])
    offsets = np.zeros(shape[0] + 1, OFFSET)
    np.cumsum(counts, out=offsets[1:])
    return Rows(offsets, (keys % max(shape[1], 1)).astype(COLUMN), values, shape[1])


def _check(S: Semiring, what: str, values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> None:
    """Refuse what is not an element, with its row and column."""
    inside = S.over(values.dtype).contains(values)
    if inside.all():
        return
    i = int(np.argmin(inside))
    place = f"{what}[{int(rows[i])}, {int(columns[i])}]"
    if np.any(is_nan(np.asarray(values[i]))):
        raise SemiringError(f"{place} is NaN: NaN is not an element of any algebra; leave the entry out, or mend it")
    raise SemiringError(f"{place} is {show(values[i])}: it is outside the carrier of {S.name}, {S.notation}")
