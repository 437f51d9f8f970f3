"""Read a mask: which entries of a product are wanted.

A mask is structural: what counts is whether an entry is stored, and not its value. A dense array of truth values
stores its True ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from semiring.algebra.catalogue import boolean
from semiring.algebra.masks import is_masked
from semiring.errors import SemiringError
from semiring.graphs.dataarrays import is_dataarray, labels_of
from semiring.graphs.edges import are_edges
from semiring.graphs.foreign import as_array, as_scipy, is_foreign, is_sparse, unpadded
from semiring.graphs.frames import is_frame, is_of_truths, is_pandas, is_square, matrix_of
from semiring.graphs.graph import graph_for
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import refuse_table
from semiring.graphs.order import between, by_labels, labels_along
from semiring.graphs.texts import clip_repr
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.sparse.structure import BROKEN, COLUMN, FINE, OFFSET, narrowed, state_of

from .align import axis_labels
from .between import Answer
from .devices import is_on_gpu
from .operand import Operand
from .read import is_of_edges

Pattern = tuple[np.ndarray, np.ndarray]  # offsets and columns of compressed rows; columns ascend
MARKS = "a Boolean array, a sparse matrix, a graph, a Matrix or a PackedMatrix"


@dataclass(frozen=True, eq=False)
class Mask:
    """A mask as the caller passed it: the option `mask` of a product.

    Attributes
    ----------
    given : Any
    complement : bool
        Whether the entries that it does not mark are wanted.
    """

    given: Any
    complement: bool


def mask_of(given: Any, complement: bool) -> Mask:
    """Check a mask and its complement, before they are read.

    Raises
    ------
    SemiringError
        For a complement that is not a truth value, or of no mask.
    """
    if not isinstance(complement, (bool, np.bool_)):
        raise SemiringError(f"complement must be True or False, and is {clip_repr(complement)}")
    if given is None:
        raise SemiringError("complement=True is the complement of a mask: pass mask=")
    return Mask(given, bool(complement))


@dataclass(frozen=True, eq=False)
class Wanted:
    """The entries that a mask marks, and whether these are wanted or all others.

    Attributes
    ----------
    marks : tuple of arrays, or ndarray of bool, or PackedMatrix
        Compressed rows of a sparse mask; truth values; bits.
    shape : tuple of int
    complement : bool
    names, columns : sequence, optional
        Of its rows, and of its columns.
    """

    marks: Any
    shape: tuple[int, ...]
    complement: bool
    names: Sequence[Any] | None = None
    columns: Sequence[Any] | None = None

    @property
    def sparse(self) -> bool:
        """Whether the mask is sparse, and not complemented: then the product is sparse."""
        return isinstance(self.marks, tuple) and not self.complement

    @cached_property
    def array(self) -> np.ndarray:
        """Truth values: which entries are wanted."""
        if isinstance(self.marks, tuple):
            offsets, columns = self.marks
            found = np.zeros(self.shape, bool)
            found[np.repeat(np.arange(self.shape[0]), np.diff(offsets)), columns] = True
        else:
            found = self.marks.to_dense() if isinstance(self.marks, PackedMatrix) else self.marks
        return ~found if self.complement else np.asarray(found)

    @cached_property
    def count(self) -> int:
        """The number of entries that are wanted."""
        size = int(np.prod(self.shape, dtype=object))
        if isinstance(self.marks, tuple):
            marked = len(self.marks[1])
        else:
            marked = self.marks.count() if isinstance(self.marks, PackedMatrix) else int(np.count_nonzero(self.marks))
        return size - marked if self.complement else marked

    def pattern(self, place: tuple[int, ...] = (), matrix: tuple[int, int] | None = None) -> Pattern:
        """The wanted entries in compressed rows: of a matrix, or of the one at a place in a stack.

        `matrix` is its shape, of which a vector is a row or a column.
        """
        if self.sparse:
            found: Pattern = self.marks
            return found
        array = self.array[place] if place else self.array
        array = array if matrix is None else array.reshape(matrix)
        offsets = np.zeros(array.shape[0] + 1, OFFSET)
        np.cumsum(np.count_nonzero(array, axis=1), out=offsets[1:])
        return offsets, np.nonzero(array)[1].astype(COLUMN)

    def has_places(self, offsets: np.ndarray, columns: np.ndarray) -> bool:
        """Whether the mask is sparse and marks the entries of these compressed rows."""
        if not isinstance(self.marks, tuple) or len(self.marks[1]) != len(columns):
            return False
        return np.array_equal(self.marks[0], offsets) and np.array_equal(self.marks[1], columns)

    def over(self, offsets: np.ndarray, columns: np.ndarray) -> Self:
        """The same mask in the memory of a matrix whose entries it marks."""
        return replace(self, marks=(offsets, columns))

    def packed(self) -> PackedMatrix:
        """The wanted entries as bits."""
        if isinstance(self.marks, PackedMatrix):
            return ~self.marks if self.complement else self.marks
        if not self.sparse:
            return PackedMatrix.from_dense(self.array)
        offsets, columns = self.marks
        rows = np.repeat(np.arange(self.shape[0]), np.diff(offsets))
        return PackedMatrix.from_edges(rows, columns, (self.shape[0], self.shape[1]))

    def of_product(self, rows: Operand, columns: Operand, shape: tuple[int, ...]) -> Self:
        """The mask of a product of this shape, by the names of one factor's rows and the other's columns.

        Raises
        ------
        SemiringError
            If the shapes differ. A mask of one matrix may serve a stack.
        GraphError
            If the vertices have other names.
        """
        found = self
        if self.shape == shape and len(shape) == 2:
            order = [None if theirs is None or mine is None else between(theirs, mine, what, "mask")
                     for theirs, mine, what in zip(self._ends(rows, columns), (self.names, self.columns),
                                                   (rows.what, columns.what), strict=True)]
            found = self._ordered(order[0], order[1])
        if self.shape == shape and len(shape) == 1:  # of a matrix and a vector
            matrix = rows if len(rows.shape) == 2 else columns
            order = [by_labels(matrix.names, self.names, matrix.what, "mask")]
            found = self if order[0] is None else type(self)(self.marks[order[0]], shape, self.complement)
        if found.shape == shape:
            return found
        if len(shape) > 2 and self.shape == shape[-2:]:
            if self.sparse:
                raise SemiringError(f"mask is sparse and the product a stack of shape {shape}, which would be a stack "
                                    "of sparse matrices, and SciPy has none: pass mask.toarray() != 0")
            made: Self = type(self)(np.broadcast_to(self.array, shape), shape, False)
            return made
        text = "a sparse mask is one matrix, " if isinstance(self.marks, tuple) and len(shape) != 2 else ""
        raise SemiringError(f"{text}mask has shape {self.shape}, the product {shape}: pass a mask that says of each "
                            "entry of the product whether it is wanted")

    def _ends(self, rows: Operand, columns: Operand) -> tuple[Sequence[Any] | None, Sequence[Any] | None]:
        """The names of a product's rows and columns, by which the mask's are put into order.

        The rows or columns of an array beside a graph are its vertices if the mask calls them so. Otherwise those of an
        array match the mask's by position.
        """
        if isinstance(rows.answers, Answer):
            return rows.answers.ends
        one, other = (X.names or axis_labels(X, -1) for X in (rows, columns))
        if one is None and columns.of_graph and _same(self.names, other):
            return other, other
        if other is None and rows.of_graph and _same(self.columns, one):
            return one, one
        return one, other

    def _ordered(self, rows: np.ndarray | None, columns: np.ndarray | None) -> Self:
        """The mask with rows and columns at other places; None leaves them where they are."""
        if rows is None and columns is None:
            return self
        at = [np.arange(n) if p is None else p for p, n in zip((rows, columns), self.shape, strict=True)]
        if not isinstance(self.marks, tuple):
            array = self.marks.to_dense() if isinstance(self.marks, PackedMatrix) else self.marks
            return type(self)(array[np.ix_(*at)], self.shape, self.complement)
        offsets, found = self.marks
        tails = np.repeat(np.arange(self.shape[0]), np.diff(offsets))
        there = [np.empty(len(p), np.int64) for p in at]
        for back, p in zip(there, at, strict=True):
            back[p] = np.arange(len(p))
        return type(self)(_compressed(there[0][tails], there[1][found], self.shape), self.shape, self.complement)


def _same(A: Sequence[Any] | None, B: Sequence[Any] | None) -> bool:
    """Whether these are the same names, in any order."""
    return A is not None and B is not None and len(A) == len(B) and set(A) == set(B)


def read_mask(mask: Mask, on_gpu: bool = False) -> Wanted:
    """Read a mask of any kind; one of packed bits may be on a GPU, if the product is computed there.

    Raises
    ------
    SemiringError
        If it does not mark entries: a dense array must be of truth values.
    GraphError
        For edges that are not valid.

    Examples
    --------
    >>> read_mask(Mask(np.eye(3, dtype=bool), True)).count
    6
    """
    given, complement = mask.given, mask.complement
    names = None
    refuse_table(given, "mask")
    elsewhere = is_on_gpu(given) or type(given).__module__.startswith("cupyx.")
    if elsewhere or (isinstance(given, PackedMatrix) and given.device != "cpu" and not on_gpu):
        raise SemiringError("mask is in a GPU's memory, and the product is not computed there: pass mask.get()")
    if isinstance(given, PackedMatrix):
        return Wanted(given, given.shape, complement)
    if isinstance(given, Operand):
        return _prepared(given, complement)
    if isinstance(given, Matrix):
        if given.holder == "packed":
            bits = given._held.matrix  # type: ignore[attr-defined]
            return Wanted(bits, given.shape, complement, given.row_names, given.column_names)
        if given.holder == "sparse":
            held = given._held.rows()
            return Wanted((held.offsets, held.columns), given.shape, complement, given.row_names, given.column_names)
        stored = ~np.asarray(given.semiring.over(given.dtype).is_zero(given.array), bool)
        return Wanted(stored, stored.shape, complement, given.row_names, given.column_names)
    if (sparse := _as_scipy(given)) is not None:
        return Wanted(_rows_of(sparse), tuple(sparse.shape), complement)
    if is_dataarray(given) and given.ndim == 2:
        array = _truths(given.to_numpy())
        return Wanted(array, array.shape, complement, *labels_of(given))
    if is_pandas(given) and is_of_truths(given):
        M = Matrix(given, boolean, columns=list(given.columns))
        if M.dtype != bool:
            raise SemiringError("mask has missing entries, which are neither True nor False: pass mask.fillna(False)")
        return Wanted(M.array, M.shape, complement, M.row_names, M.column_names)
    if not isinstance(given, np.ndarray) and is_frame(given) and is_square(given):
        given, names = matrix_of(given, None)
    elif not isinstance(given, np.ndarray) and (is_of_edges(given) or are_edges(given)):
        graph = graph_for(given)
        rows, columns = graph.sources, graph.targets
        if not graph.directed:
            rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        shape = graph.n, graph.n
        return Wanted(_compressed(rows, columns, shape), shape, complement, graph.names, graph.names)
    array = _truths(given)
    names = labels_along(given) if array.ndim == 1 else names
    return Wanted(array, array.shape, complement, names, names)


def _prepared(given: Operand, complement: bool) -> Wanted:
    """The mask of a prepared matrix: its stored entries, or those of an array that are not zero."""
    if given.on_gpu:
        raise SemiringError("mask is in a GPU's memory, and the product is not computed there: prepare it on the host")
    if given.kind == "sparse":
        rows = given.rows  # type: ignore[attr-defined]
        return Wanted((rows.offsets, rows.columns), given.shape, complement, given.names, given.names)
    if given.kind == "packed":
        return Wanted(given.matrix, given.shape, complement, given.names, given.names)  # type: ignore[attr-defined]
    stored = ~np.asarray(given.S.over(given.dtype).is_zero(given.elements), bool)
    return Wanted(stored, given.shape, complement, given.names, given.names)


def _as_scipy(given: Any) -> Any:
    """A sparse matrix of any library as SciPy's; None for anything else."""
    if hasattr(given, "format") and hasattr(given, "tocoo"):
        return given
    return as_scipy(given, "mask") if is_sparse(given) else None


def _rows_of(given: Any) -> Pattern:
    """The places of the stored entries of a SciPy sparse matrix."""
    shape = tuple(given.shape)
    if len(shape) != 2:
        raise SemiringError(f"a sparse mask has two axes, and mask has shape {shape}: pass a Boolean array")
    if given.format == "csr":
        offsets = np.ascontiguousarray(given.indptr, OFFSET)
        columns = narrowed(np.asarray(given.indices))
        state = BROKEN if columns is None or len(offsets) != shape[0] + 1 else state_of(offsets, columns, shape[1])
        if state == BROKEN or columns is None:
            raise SemiringError(f"mask is {shape[0]} × {shape[1]}, but some of its indices are outside: rebuild it")
        columns = columns[: offsets[-1]]
        if state == FINE:
            return offsets, columns
        return _compressed(np.repeat(np.arange(shape[0]), np.diff(offsets)), columns, shape)
    entries = unpadded(given).tocoo()
    rows, columns = entries.row, entries.col
    if len(rows) and (rows.min() < 0 or columns.min() < 0 or rows.max() >= shape[0] or columns.max() >= shape[1]):
        raise SemiringError(f"mask is {shape[0]} × {shape[1]} and has entries outside: rebuild it")
    return _compressed(rows, columns, shape)


def _compressed(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, ...]) -> Pattern:
    """Places in any order, some of them perhaps twice, in compressed rows."""
    width = max(shape[1], 1)
    keys = np.unique(rows.astype(np.int64) * width + columns)
    offsets = np.zeros(shape[0] + 1, OFFSET)
    np.cumsum(np.bincount(keys // width, minlength=shape[0]), out=offsets[1:])
    return offsets, (keys % width).astype(COLUMN)


def _truths(given: Any) -> np.ndarray:
    """Truth values; masked ones are False."""
    if is_masked(given):
        given = given.filled(False) if given.dtype == bool else given
    try:
        array = as_array(given, "mask") if is_foreign(given) else np.asarray(given)
    except (ValueError, TypeError):
        raise SemiringError(f"mask must be {MARKS}, and is {clip_repr(given)}") from None
    if not array.size and isinstance(given, (list, tuple)):  # which NumPy reads as floats
        array = array.astype(bool)
    if array.dtype != bool:
        if array.ndim and array.dtype.kind in "iufc":
            raise SemiringError(f"mask has elements of dtype {array.dtype}, and a dense mask says True or False: pass "
                                "mask != 0, or a sparse matrix, whose stored entries count")
        raise SemiringError(f"mask must be {MARKS}, and is {clip_repr(given)}")
    return array


def told(wanted: Wanted) -> str:
    """How much a mask wants, for a plan.

    Examples
    --------
    >>> told(read_mask(Mask(np.eye(3, dtype=bool), False)))
    'the mask wants 3 of 9 entries'
    """
    size = int(np.prod(wanted.shape, dtype=object))
    return f"the mask wants {wanted.count:,} of {size:,} entries"
