"""Read matrices by their entries, never dense: SciPy sparse matrices of every format, graphs, data frames of edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.carried import arithmetic_of
from semiring.algebra.elements import full, show
from semiring.algebra.given import carrying
from semiring.algebra.lexicographic import is_forgotten
from semiring.algebra.rounding import nothing_improves
from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse.ordering import Spread, spread
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import GraphError, SemiringError
from semiring.graphs.adjacency import MOST_ROWS, entries_of, require_rows
from semiring.graphs.columns import IF_CLEAR
from semiring.graphs.combining import zeros
from semiring.graphs.foreign import refuse_fill, stored_in, unpadded
from semiring.graphs.graph import Graph, graph_for
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import as_names
from semiring.graphs.texts import with_infinities
from semiring.graphs.weights import elements, refuse_nan, unweighted
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.sparse.structure import BROKEN, FINE, alike, goes_both_ways, narrowed, state_of, transpose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering

from .dense import Dense
from .device import importer
from .entries import COLUMN, OFFSET, compressed_rows, refuse_outside
from .examine import examine
from .operand import Operand

ALIKE_ENTRIES = 1 << 14  # entries from which it is worth checking whether all are equal


class Sparse(Operand):
    """Checked elements in compressed rows; entries that are not stored are zero.

    Every stored entry is an element, even an explicit 0; entries at the same place are combined with ⊕.

    Attributes
    ----------
    rows : Rows
        Rows whose structure has been checked, at the latest when this attribute is read.
    given : Rows
        Rows as they were passed, until `rows` is read. A product with a vector checks them on its way.
        Their offsets may be int32.
    inspected : bool
        Whether columns of `given` are known to ascend and to be inside the matrix.
    n, nnz, occupied : int
        Number of rows, of entries, and of rows that have entries.
    indptr, values : ndarray
        The first entry of each row, and the element of each entry.
    of_graph : bool
        Whether it was passed as a graph, so that answers are a `Matrix`.
    by_rows : callable, optional
        Makes the caller's kind of matrix from an answer by its entries, and the names of the vertices. Default: a
        `Graph` for a graph, else SciPy's.
    """

    kind = "sparse"
    by_rows: Callable[[Rows, list[Any] | None], Any] | None = None

    def __init__(
        self, rows: Rows, S: Semiring, what: str = "A", names: Sequence[Any] | None = None, of_graph: bool = False,
        examined: bool = True, inspected: bool = True,
    ):
        self.n = len(rows.offsets) - 1
        self.S, self.what, self.shape, self.dtype = S, what, (self.n, rows.width), rows.values.dtype
        self.names, self.of_graph, self.callers_dtype = names, of_graph, self.dtype
        self.given, self.examined, self.inspected = rows, examined, inspected

    @cached_property
    def rows(self) -> Rows:
        """Compressed rows whose columns ascend."""
        if not self.inspected:
            self.given, self.inspected = _inspected(self.given, self.S, self.what), True
        return self.given

    @cached_property
    def nnz(self) -> int:
        """Number of entries."""
        return len(self.rows.columns)

    @cached_property
    def occupied(self) -> int:
        """Number of rows that have entries."""
        return int(np.count_nonzero(self.indptr[1:] != self.indptr[:-1]))

    @cached_property
    def column_counts(self) -> np.ndarray:
        """Number of entries of each column."""
        return np.bincount(self.rows.columns, minlength=self.rows.width)

    @cached_property
    def indptr(self) -> np.ndarray:
        """The offset of the first entry of each row."""
        return self.rows.offsets

    @cached_property
    def values(self) -> np.ndarray:
        """The element of each entry."""
        return self.rows.values

    @property
    def elements(self) -> np.ndarray:
        """The element of each entry."""
        return self.rows.values

    @property
    def nbytes(self) -> int:
        """Bytes of the elements and their places."""
        return self.rows.values.nbytes + self.rows.columns.nbytes + self.rows.offsets.nbytes

    @cached_property
    def indices(self) -> NDArray[np.int64]:
        """The column of each entry."""
        return self.rows.columns.astype(np.int64)

    @cached_property
    def alike(self) -> bool:
        """Whether all entries have the same value."""
        return alike(self.values)

    @cached_property
    def bounded(self) -> bool:
        """Whether no edge is better than one."""
        T = arithmetic_of(self.S, self.dtype)
        return nothing_improves(T, self.values[:1] if self.alike else self.values)

    @cached_property
    def negative_zeros(self) -> bool:
        """Whether there are floats −0."""
        return self.dtype.kind == "f" and bool(np.signbit(self.values[self.values == 0]).any())

    @cached_property
    def both_ways(self) -> bool:
        """Whether each edge goes both ways, with any weights, as compiled code finds."""
        return goes_both_ways(self.rows)

    @cached_property
    def spread(self) -> Spread:
        """The directions of breadth-first searches."""
        return spread(self.indptr, self.indices)

    @cached_property
    def facts(self) -> Facts:
        """Facts about the elements and the zeros between them; raises an error for anything that is not an element."""
        values = self.values[None]
        if self.nnz > ALIKE_ENTRIES and self.alike:  # the first entry stands for all
            values = values[:, :1]
        try:
            return examine(self.S, self.dtype, [(self.what, values)], with_zero=True)
        except SemiringError:  # report the row and column of the invalid entry
            rows = np.repeat(np.arange(self.n), np.diff(self.indptr))
            refuse_outside(self.S, self.what, self.values, rows, self.rows.columns)
            raise

    def look(self) -> None:
        """Refuse anything that is not an element."""
        _ = self.facts
        self.examined = True

    def wrap(self, answer: Any) -> Any:
        """An answer in the caller's own type, with the names of the vertices."""
        if self.callers_dtype is not self.dtype:
            answer = self.in_callers_dtype(answer)
        if self.answers is not None:
            return self.answers(answer)
        return Matrix(answer, self.S.declared, self.names, self.library) if self.of_graph else answer

    @property
    def T(self) -> Sparse:
        """The transposed matrix; answers are arrays."""
        return Sparse(transpose(self.rows), self.S, self.what, self.names)

    @property
    def plain(self) -> Sparse:
        """The same entries; answers are arrays, and names occur in messages only."""
        _ = self.rows, self.bounded  # computed once for all copies
        return super().plain.changed(by_rows=None) if self.by_rows is not None else super().plain

    def eye(self) -> Sparse:
        """The identity of the same shape; answers have the caller's own type."""
        ones = full(np.empty(self.n, self.dtype), self.S.one_in(self.dtype))
        return self._with_rows(Rows(np.arange(self.n + 1), np.arange(self.n, dtype=COLUMN), ones, self.n))

    def part(self, vertices: np.ndarray) -> Sparse:
        """The rows and columns of some vertices, in the order of these."""
        rows = self.rows
        begin, lengths = rows.offsets[vertices], np.diff(rows.offsets)[vertices]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.repeat(begin - offsets[:-1], lengths) + np.arange(offsets[-1])
        place = np.full(rows.width, -1, COLUMN)
        place[vertices] = np.arange(len(vertices))
        columns = place[rows.columns[entries]]
        made = Rows(offsets, columns, rows.values[entries], len(vertices)).where(columns >= 0)
        if (np.diff(vertices) < 0).any():  # columns do not ascend
            tails = np.repeat(np.arange(len(vertices)), np.diff(made.offsets))
            made = compressed_rows(self.S, tails, made.columns, made.values, made.shape)
        found = self._with_rows(made)
        found.names = self._names_of(vertices)
        return found

    def with_elements(self, elements: np.ndarray) -> Sparse:
        """Other elements in the same places; answers have the caller's own type."""
        return self._with_rows(Rows(self.rows.offsets, self.rows.columns, elements, self.rows.width))

    def _with_rows(self, rows: Rows) -> Sparse:
        made = Sparse(rows, self.S, self.what, self.names, self.of_graph).of_library(self.library)
        made.answers, made.by_rows = self.answers, self.by_rows
        if made.dtype == self.dtype:
            made.callers_dtype = self.callers_dtype
        return made

    def graph(self, matrix: tuple[int, ...] | None = None) -> CompressedRows:
        """The matrix as a graph to search."""
        return CompressedRows(self.rows.offsets, self.rows.columns, self.rows.values)

    def wrap_rows(self, rows: Rows, as_graph: bool | None = None) -> Any:
        """An answer by its entries: as the caller's own type, a `Graph` for a graph, or SciPy's compressed rows."""
        as_graph = self.of_graph if as_graph is None else as_graph
        if self.by_rows is not None and (as_graph or not self.of_graph):
            return self.by_rows(rows, as_names(self.names))
        if not as_graph:
            from scipy.sparse import csr_array

            found = csr_array((rows.values, rows.columns, rows.offsets), shape=rows.shape)
            found.has_canonical_format = True
            return found
        sources = np.repeat(np.arange(self.n), np.diff(rows.offsets))
        columns, names = rows.columns.astype(np.int64), as_names(self.names)
        weights = with_infinities(rows.values, self.S)
        return Graph(sources, columns, self.n, weights, names, library=self.library)

    def stored(self, low: Lowering, copy: bool) -> Rows:
        """The same entries with elements in a lowering's storage."""
        return Rows(self.rows.offsets, self.rows.columns, low.encode(self.rows.values, copy), self.rows.width)

    def array(self) -> np.ndarray:
        """The matrix with its zeros."""
        height, width = self.shape
        array = zeros(self.S, height, self.dtype, width)
        array[np.repeat(np.arange(height), np.diff(self.indptr)), self.rows.columns] = self.values
        return array

    def copy(self) -> Sparse:
        """A copy in memory of its own."""
        A = self.rows
        rows = Rows(A.offsets.copy(), A.columns.copy(), A.values.copy(), A.width)
        return self.changed(given=rows, rows=rows, indptr=rows.offsets, values=rows.values)

    def without_zeros(self) -> Sparse:
        """The matrix without stored zeros; itself if there are none."""
        kept = ~self.S.over(self.dtype).is_zero(self.values)
        return self if kept.all() else self._with_rows(self.rows.where(kept)).changed(examined=self.examined)

    def with_values(self, values: np.ndarray) -> Sparse:
        """The same edges with other weights, row by row."""
        rows = np.repeat(np.arange(self.n), np.diff(self.indptr))

        def edge(i: int) -> str:
            return f"edge {i} ({rows[i]} → {self.rows.columns[i]})"

        refuse_nan(values, edge)
        return self.with_elements(np.ascontiguousarray(elements(self.S, values, self.dtype, edge)))


class DeviceSparse(Operand):
    """A sparse matrix of CuPy, in compressed rows."""

    kind = "sparse"
    on_gpu = True

    def __init__(self, matrix: Any, S: Semiring, what: str):
        super().__init__(S, what, tuple(matrix.shape), carrying(matrix.dtype, S, what))
        self.matrix = matrix

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return int(self.matrix.data.nbytes)

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return int(self.matrix.nnz)

    @cached_property
    def on_host(self) -> Sparse:
        """The same matrix in the host's memory."""
        return read_scipy(self.matrix.get(), self.S, self.what)

    @property
    def facts(self) -> Facts:
        """Facts about the elements, of which a copy on the host is examined."""
        return self.on_host.facts

    @property
    def bounded(self) -> bool:
        """Whether no edge is better than one."""
        return self.on_host.bounded

    def graph(self, matrix: tuple[int, ...] | None = None) -> CompressedRows:
        """The matrix as a graph to search on the host."""
        return self.on_host.graph()

    def parts(self) -> tuple[Any, Any, Any]:
        """Offsets, columns and elements on the device."""
        A = self.matrix
        if A.format != "csr":
            raise SemiringError(f"a sparse matrix on the GPU must have the format csr, not {A.format}: pass A.tocsr()")
        if len(A.indices) and not bool(((A.indices >= 0) & (A.indices < A.shape[1])).all()):
            raise SemiringError(f"{self.what} is {A.shape[0]} × {A.shape[1]} and has entries outside")
        values = A.data.astype(self.dtype, copy=False)
        return A.indptr.astype(np.int64), A.indices.astype(np.int32, copy=False), values


def read_cupyx(A: Any, S: Semiring, what: str) -> DeviceSparse:
    """Read a sparse matrix of CuPy."""
    return DeviceSparse(A, S, what)


def read_scipy(A: Any, S: Semiring, what: str) -> Sparse:
    """Read a SciPy sparse matrix or array.

    Formats that store blocks or diagonals cannot distinguish a 0 from padding: in them a 0 is not an entry.

    Raises
    ------
    SemiringError
        For a dtype that cannot carry the algebra, an entry that is not an element (with its row and column), or
        columns outside the matrix.
    """
    if len(A.shape) != 2:
        raise SemiringError(f"a sparse matrix has two axes, and {what} has shape {A.shape}; pass A.toarray() with "
                            "the algebra's zero filled in")
    height, width = A.shape
    if max(height, width) > MOST_ROWS:
        raise SemiringError(
            f"{what} is {height} × {width}; a sparse matrix may have {MOST_ROWS} rows and columns: if the vertices are "
            "numbers with gaps, semiring.as_graph(A).compact() closes them"
        )
    if A.format == "csc":
        A = A.tocsr()  # from compressed columns rows come out in one order, and duplicates stay
    if A.format != "csr":
        entries = unpadded(A).tocoo()
        rows, columns, data = entries.row, entries.col, entries.data
        if len(rows) and (rows.min() < 0 or columns.min() < 0 or rows.max() >= height or columns.max() >= width):
            raise SemiringError(f"{what} is {height} × {width} and has entries outside")
        return _from_triples(S, what, rows, columns, data, A.shape)
    offsets = np.ascontiguousarray(A.indptr, COLUMN if A.indptr.dtype == COLUMN else OFFSET)
    columns = narrowed(np.asarray(A.indices))
    if columns is None:
        raise SemiringError(f"{what} is {height} × {width} and has entries outside")
    if len(offsets) != height + 1 or offsets[0] != 0 or not 0 <= offsets[-1] <= min(len(columns), len(A.data)):
        raise _broken(what, A.shape)
    columns, data = columns[: offsets[-1]], np.ascontiguousarray(A.data[: offsets[-1]])
    if data.dtype == bool and not _lives_in_bool(S):
        rows = _inspected(Rows(offsets, columns, data, width), S, what)
        return Sparse(rows, S, what)
    return Sparse(Rows(offsets, columns, elements_of(S, data, what), width), S, what, examined=False, inspected=False)


def read_stored(A: Any, S: Semiring, what: str) -> Operand:
    """Read a sparse array of a library other than SciPy by its entries; vectors and stacks become dense.

    Raises
    ------
    SemiringError
        As for `read_scipy`, and if entries that are not stored have a value other than 0, NaN and the algebra's
        zero.
    """
    found = stored_in(A, what)
    assert found is not None
    refuse_fill(found, what, lambda fill: _is_zero(fill, found.values.dtype, S))
    if len(found.shape) != 2:
        _carried(S, found.values.dtype, what)
        array = np.full(found.shape, S.zero_in(carrying(found.values.dtype, S, what)))
        array[found.places] = found.values
        return Dense(array, S, what, importer(A))
    from scipy.sparse import coo_array

    given = read_scipy(coo_array((found.values, found.places), shape=found.shape), S, what)
    return given.changed(answers=importer(A))


def _is_zero(value: Any, dtype: np.dtype, S: Semiring) -> bool:
    """Whether a value is the algebra's zero, also as integers store it."""
    return bool(value == S.zero) or (dtype in S.dtypes and bool(value == S.zero_in(dtype)))


def _inspected(given: Rows, S: Semiring, what: str) -> Rows:
    """Compressed rows of elements, or of edges without a weight, with ascending columns.

    Raises
    ------
    SemiringError
        For columns outside the matrix, and for an entry that is not an element and would be combined with another.
    """
    given = Rows(given.offsets.astype(OFFSET, copy=False), given.columns, given.values, given.width)
    offsets, columns, values = given.offsets, given.columns, given.values
    state = state_of(offsets, columns, given.width)
    if state == BROKEN:
        raise _broken(what, given.shape)
    if state == FINE and (values.dtype != bool or _lives_in_bool(S)):
        return given
    rows = np.repeat(np.arange(given.shape[0]), np.diff(offsets))
    return _from_triples(S, what, rows, columns, values, given.shape).rows


def _broken(what: str, shape: tuple[int, int]) -> SemiringError:
    return SemiringError(f"{what} is {shape[0]} × {shape[1]}, but some of its indices are outside: rebuild the matrix")


def _from_triples(
    S: Semiring, what: str, rows: np.ndarray, columns: np.ndarray, data: np.ndarray, shape: tuple[int, int]
) -> Sparse:
    if data.dtype == bool and not _lives_in_bool(S):  # True is an edge without a weight
        rows, columns = rows[data], columns[data]
        values = np.repeat(unweighted(S, None, None), len(rows))
    else:
        values = elements_of(S, data, what)
    refuse_outside(S, what, values, rows, columns)
    return Sparse(compressed_rows(S, rows, columns, values, shape), S, what)


def _lives_in_bool(S: Semiring) -> bool:
    return any(d.kind == "b" for d in S.dtypes)


def elements_of(S: Semiring, data: np.ndarray, what: str) -> np.ndarray:
    """Stored numbers of an operand in the dtype of the elements; a Boolean algebra makes finite numbers edges."""
    if S.lift is not None and S.lift.takes(data.dtype):
        return S.lift(data).view(S.default_dtype)
    wanted = _carried(S, data.dtype, what)
    if wanted is None:
        if data.dtype.kind != "f" or np.isfinite(data).all():
            return np.full(len(data), S.one_in(bool))
        wanted = carrying(data.dtype, S, what)
    return data.astype(wanted, copy=False)


@lru_cache(1024)
def _carried(S: Semiring, dtype: np.dtype, what: str) -> np.dtype | None:
    """The dtype that carries stored numbers as elements; None if every number is an edge."""
    if S.is_object:
        raise SemiringError(f"{what}: {S.name} works on Python objects, which a SciPy sparse matrix cannot hold; "
                            "use a dense array")
    if S.is_record:
        raise SemiringError(f"{what}: {S.name} works on records, which a SciPy sparse matrix cannot hold; use a Graph, "
                            "an array, or a tuple of sparse matrices, one for each component")
    if S.default_dtype.kind == "b" and dtype.kind in "iuf" and S.idempotent:
        return None
    return carrying(dtype, S, what)


def read_graph(A: Any, S: Semiring, what: str, dtype: np.dtype | None = None) -> Sparse:
    """Read a `Graph`, a NetworkX graph or a data frame of edges: the matrix that `semiring.adjacency` would make."""
    graph = graph_for(A, weight=IF_CLEAR if S.default_dtype.kind == "b" else "weight")
    require_rows(graph.n)
    sources, targets, values = entries_of(graph, S, dtype)
    rows = compressed_rows(S, sources, targets, values, (graph.n, graph.n))
    if S.stages is not None and len(rows.columns) < len(values):
        _refuse_forgotten(S, graph, sources, targets, values, rows)
    return Sparse(rows, S, what, graph.names, of_graph=True).of_library(graph.library)


def _refuse_forgotten(
    S: Semiring, graph: Graph, sources: np.ndarray, targets: np.ndarray, values: np.ndarray, rows: Rows
) -> None:
    """Refuse parallel edges, one better in the first stage and the other in the second.

    Raises
    ------
    GraphError
        A best path may need either, depending on its other edges, but only one can be kept.
    """
    keys = np.repeat(np.arange(graph.n), np.diff(rows.offsets)) * graph.n + rows.columns
    sums = rows.values[np.searchsorted(keys, sources * graph.n + targets)]
    lost = np.flatnonzero(is_forgotten(S, values, sums))
    if lost.size:
        back = np.flatnonzero(graph.sources != graph.targets)  # edges that go both ways occur twice
        i = int(np.concatenate([np.arange(len(graph)), back])[lost[0]])
        first, second = (stage.name for stage in S.stages or ())
        raise GraphError(
            f"{graph._edge(i)} is better by {second} than a parallel edge, which is better by {first}. A path may need "
            "either, depending on its other edges, but only one of parallel edges is kept. Put a vertex on one: give "
            f"its other half the weight {show(S.one_in(values.dtype))}"
        )


def entries_in(array: np.ndarray, S: Semiring, what: str, names: Sequence[Any] | None) -> Sparse:
    """The entries of an array of checked elements that are not the algebra's zero."""
    if array.ndim != 2:
        raise SemiringError(f"{what} must be a matrix, and has shape {array.shape}")
    stored = ~S.over(array.dtype).is_zero(array)
    rows, columns = np.nonzero(stored)
    return Sparse(compressed_rows(S, rows, columns, array[stored], array.shape), S, what, names)
