"""`Held`: how a `Matrix` keeps its elements, with the few operations in which its vocabulary is written.

    Held ─┬─ Array     all elements                                    held.py
          ├─ Entries   those other than zero, in compressed rows       held_entries.py
          └─ Bits      truth values, one bit each                      held_bits.py

`Matrix` adds the names; `semiring.graphs.holders` chooses a holder for what came in, and for two that meet. What is not
stored is the algebra's zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.tables import dtype_text
from semiring.errors import GraphError, LawError
from semiring.kernels.blocks.rows import Rows
from semiring.machine.memory import require

from .exports import is_absent

if TYPE_CHECKING:
    from semiring.algebra.arithmetic import Arithmetic
    from semiring.algebra.semiring import Semiring

Place = int | slice | np.ndarray
Compare = Callable[[np.ndarray, np.ndarray], np.ndarray]
EVERY = slice(None)


class Stored(Protocol):
    """The entries of a matrix other than zero, row by row."""

    @property
    def values(self) -> np.ndarray:
        """The element of each entry."""

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The row and the column of each entry."""

    def marked(self, mask: Held) -> NDArray[np.bool_]:
        """For each entry, whether another matrix has an entry at its place."""

    def kept(self, which: NDArray[np.bool_]) -> Held:
        """The matrix of some of the entries."""

    def filled(self, values: np.ndarray, S: Semiring) -> Held:
        """A matrix over an algebra with other elements at the same places, and its zero elsewhere."""


class Held:
    """The elements of a matrix, in one of several ways.

    `union`, `times`, `compared`, `same` and `kron` take a matrix that is held in the same way, with elements of the
    same dtype (`compared` and `same`: of any).

    Attributes
    ----------
    kind : {"dense", "sparse", "packed"}
    S : Semiring
    shape : tuple of int
    dtype : dtype
    elements : ndarray
        Those that are stored, in any shape.
    T : Held
        The transpose.
    """

    kind: ClassVar[str]
    S: Semiring

    @property
    def array(self) -> np.ndarray:
        """All elements, which only `Array` has.

        Raises
        ------
        GraphError
            For the others: a caller that reads `Matrix.array` may not have the memory for it.
        """
        raise GraphError(f"this Matrix is {self.kind} and has no array of all elements: M.hold('dense') makes a Matrix "
                         "that has, and M.to_numpy() the array")

    @property
    def shape(self) -> tuple[int, int]:
        raise NotImplementedError

    @property
    def dtype(self) -> np.dtype:
        raise NotImplementedError

    @property
    def elements(self) -> np.ndarray:
        raise NotImplementedError

    @property
    def T(self) -> Held:
        raise NotImplementedError

    def all(self) -> np.ndarray:
        """An array of all elements."""
        raise NotImplementedError

    def rows(self) -> Rows:
        """The entries other than zero, in compressed rows."""
        raise NotImplementedError

    def entries(self) -> Stored:
        """The entries other than zero."""
        raise NotImplementedError

    def count(self) -> int:
        """The number of entries other than zero."""
        return len(self.entries().values)

    def has(self, rows: np.ndarray, columns: np.ndarray) -> NDArray[np.bool_]:
        """Whether there are entries other than zero at some places."""
        raise NotImplementedError

    def at(self, rows: Place, columns: Place) -> Any:
        """An element, or those of a row or a column, or of a part of it; of two arrays those at pairs of places."""
        raise NotImplementedError

    def part(self, rows: Place, columns: Place) -> Held:
        """The matrix of some rows and columns: slices, or arrays of positions."""
        raise NotImplementedError

    def where(self, mask: Held, complement: bool) -> Held:
        """The entries at places where a matrix of the same shape has one too, or has none."""
        entries = self.entries()
        marked = entries.marked(mask)
        return entries.kept(~marked if complement else marked)

    def put(self, rows: Place, columns: Place, given: Any) -> Held:
        """The matrix with some elements set to an array of their shape; this one, if its memory can be written."""
        raise NotImplementedError

    def union(self, other: Any, T: Arithmetic) -> Held:
        """The sum A ⊕ B, by element."""
        raise NotImplementedError

    def times(self, other: Any, T: Arithmetic) -> Held:
        """The product A ⊗ B, by element."""
        raise NotImplementedError

    def compared(self, other: Any, equal: Compare) -> NDArray[np.bool_]:
        """For each place, whether both have the same element there, as a function of two arrays says."""
        raise NotImplementedError

    def same(self, other: Any, equal: Compare) -> bool:
        """Whether all elements are the same."""
        return bool(self.compared(other, equal).all())

    def diagonal(self) -> np.ndarray:
        """The elements (i, i) of a square matrix."""
        places = np.arange(self.shape[0])
        return self.at(places, places)

    def kron(self, other: Any, T: Arithmetic) -> Held:
        """The Kronecker product."""
        raise NotImplementedError


class Array(Held):
    """All elements of a matrix, or one for all places."""

    kind = "dense"

    def __init__(self, array: np.ndarray, S: Semiring):
        self._array, self.S = array, S

    @property
    def array(self) -> np.ndarray:
        return self._array

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.array.shape
        return rows, columns

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    @property
    def elements(self) -> np.ndarray:
        return self.array

    @property
    def T(self) -> Array:
        return Array(self.array.T, self.S)

    def all(self) -> np.ndarray:
        return self.array

    def rows(self) -> Rows:
        stored = ~is_absent(self.array, self.S)
        offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(stored, axis=1))]).astype(np.int64)
        return Rows(offsets, np.nonzero(stored)[1].astype(np.int32), self.array[stored], self.shape[1])

    def entries(self) -> Masked:
        return Masked(self.array, ~is_absent(self.array, self.S), self.S)

    def count(self) -> int:
        return int(np.count_nonzero(~is_absent(self.array, self.S)))

    def has(self, rows: np.ndarray, columns: np.ndarray) -> NDArray[np.bool_]:
        return ~is_absent(self.array[rows, columns], self.S)

    def at(self, rows: Place, columns: Place) -> Any:
        return self.array[rows, columns]

    def part(self, rows: Place, columns: Place) -> Array:
        found = self.array[rows]
        return Array(found if columns is EVERY else found[:, columns], self.S)

    def put(self, rows: Place, columns: Place, given: Any) -> Array:
        if not self.array.flags.writeable:
            raise GraphError("the array of this Matrix is read-only: make a Matrix of a copy of it")
        both = isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray)
        self.array[np.ix_(rows, columns) if both else (rows, columns)] = given  # type: ignore[arg-type]
        return self

    def union(self, other: Array, T: Arithmetic) -> Array:
        return Array(np.asarray(T.add(self.array, other.array)), self.S)

    def times(self, other: Array, T: Arithmetic) -> Array:
        return Array(np.asarray(T.mul(self.array, other.array)), self.S)

    def compared(self, other: Array, equal: Compare) -> NDArray[np.bool_]:
        return equal(self.array, other.array)

    def kron(self, other: Array, T: Arithmetic) -> Array:
        (m, n), (p, q) = self.shape, other.shape
        require(m * n * p * q * self.dtype.itemsize, f"a {m * p} × {n * q} matrix of {dtype_text(self.dtype)}")
        found = np.asarray(T.mul(self.array[:, None, :, None], other.array[None, :, None, :]))
        return Array(found.reshape(m * p, n * q), self.S)


class Masked:
    """The entries of an array other than zero; see `Stored`."""

    def __init__(self, array: np.ndarray, stored: NDArray[np.bool_], S: Semiring):
        self._array, self._stored, self._algebra = array, stored, S

    @property
    def values(self) -> np.ndarray:
        return self._array[self._stored]

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        rows, columns = np.nonzero(self._stored)
        return rows, columns

    def marked(self, mask: Held) -> NDArray[np.bool_]:
        if isinstance(mask, Array):
            return ~is_absent(mask.array, mask.S)[self._stored]
        if mask.kind == "packed":
            marked: NDArray[np.bool_] = mask.all()[self._stored]
            return marked
        return mask.has(*self.places())

    def kept(self, which: NDArray[np.bool_]) -> Array:
        stored = self._stored.copy()
        stored[stored] = which
        array = np.empty(self._array.shape, self._array.dtype)
        array.fill(self._algebra.zero_in(array.dtype))
        np.copyto(array, self._array, where=stored)
        return Array(array, self._algebra)

    def filled(self, values: np.ndarray, S: Semiring) -> Array:
        array = np.empty(self._stored.shape, values.dtype)
        array.fill(S.zero_in(array.dtype))
        array[self._stored] = values
        return Array(array.view(S.with_vectors(array.dtype)) if S.is_record else array, S)


def to_write(
    held: Held, rows: Place, columns: Place, given: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], np.ndarray]:
    """The positions of rows and columns that are set, and an element for each of their places."""
    lines = [np.array([x]) if isinstance(x, int) else np.arange(size)[x] if isinstance(x, slice) else x
             for x, size in zip((rows, columns), held.shape, strict=True)]
    new = np.empty([len(line) for line, x in zip(lines, (rows, columns), strict=True) if not isinstance(x, int)],
                   held.dtype)
    if not new.ndim and np.ndim(given):
        raise ValueError("an array for one element")
    new[...] = given
    return lines[0], lines[1], new.reshape(len(lines[0]), len(lines[1]))


def arranged(held: Held, rows: np.ndarray | None, columns: np.ndarray | None) -> Held:
    """A matrix with its rows and columns at other positions; itself if both orders are None."""
    if rows is columns is None:
        return held
    return held.part(EVERY if rows is None else rows, EVERY if columns is None else columns)


def refuse_unless(S: Semiring, law: str) -> None:
    """Refuse an algebra in which zero is not what a place without an entry stands for.

    Parameters
    ----------
    S : Semiring
    law : {"absorbs", "is neutral for ⊕"}
        What zero must do.

    Raises
    ------
    LawError
        For a bare product whose zero does not.
    """
    broken = next((v for v in S._law_report.axioms if law in v.law.name and not v.holds), None)
    if broken is not None:
        raise LawError(f"{S.name}: {broken}, so sparse storage, which leaves zeros out, cannot be used: pass dense "
                       "arrays")
