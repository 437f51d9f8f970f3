"""`Entries`: a matrix by its entries other than zero, in compressed rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.tables import dtype_text
from semiring.errors import GraphError
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.machine.memory import require

from .combining import zeros
from .exports import is_absent
from .held import EVERY, Compare, Held, Place, refuse_unless, to_write

if TYPE_CHECKING:
    from semiring.algebra.arithmetic import Arithmetic
    from semiring.algebra.semiring import Semiring

MOST = 2**31 - 1  # rows and columns, so that a column fits 32 bits


class Entries(Held):
    """A matrix by its entries other than zero; it is its own `Stored`.

    Its memory is never written, because others may read the same rows.
    """

    kind = "sparse"

    def __init__(self, rows: Rows, S: Semiring):
        self._rows, self.S = rows, S

    @classmethod
    def of(cls, rows: Rows, S: Semiring) -> Entries:
        """The matrix of compressed rows, without zeros that are stored."""
        stored = ~is_absent(rows.values, S)
        return cls(rows if stored.all() else rows.where(stored), S)

    @classmethod
    def by_keys(cls, keys: NDArray[np.int64], values: np.ndarray, shape: tuple[int, int], S: Semiring) -> Entries:
        """The matrix of elements at ascending places, row · width + column."""
        rows, columns = np.divmod(keys, max(shape[1], 1))
        offsets = np.zeros(shape[0] + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=shape[0]), out=offsets[1:])
        return cls.of(Rows(offsets, columns.astype(np.int32), values, shape[1]), S)

    @classmethod
    def unordered(
        cls, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int], S: Semiring
    ) -> Entries:
        """The matrix of elements at different places, in any order."""
        if max(shape) > MOST:
            raise GraphError(f"a sparse matrix may have {MOST} rows and columns, and this one would be {shape[0]} × "
                             f"{shape[1]}")
        keys = np.asarray(rows, np.int64) * shape[1] + columns
        order = np.argsort(keys, kind="stable")
        return cls.by_keys(keys[order], values[order], shape, S)

    @property
    def shape(self) -> tuple[int, int]:
        return self._rows.shape

    @property
    def dtype(self) -> np.dtype:
        return self._rows.values.dtype

    @property
    def elements(self) -> np.ndarray:
        return self._rows.values

    @property
    def values(self) -> np.ndarray:
        """The element of each entry."""
        return self._rows.values

    @property
    def T(self) -> Entries:
        return Entries(transpose(self._rows), self.S)

    def all(self) -> np.ndarray:
        height, width = self.shape
        array = zeros(self.S, height, self.dtype, width)
        array[self.places()] = self.values
        return array

    def rows(self) -> Rows:
        return self._rows

    def entries(self) -> Entries:
        return self

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The row and the column of each entry."""
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self._rows.offsets))
        return rows, self._rows.columns.astype(np.int64)

    def marked(self, mask: Held) -> NDArray[np.bool_]:
        """For each entry, whether another matrix has an entry at its place."""
        return mask.has(*self.places())

    def kept(self, which: NDArray[np.bool_]) -> Entries:
        """The matrix of some of the entries."""
        return Entries(self._rows.where(which), self.S)

    def filled(self, values: np.ndarray, S: Semiring) -> Entries:
        """A matrix over an algebra with other elements at the same places, without those that are zero."""
        values = values.view(S.with_vectors(values.dtype)) if S.is_record else values
        return Entries.of(Rows(self._rows.offsets, self._rows.columns, values, self._rows.width), S)

    def _keys(self) -> NDArray[np.int64]:
        rows, columns = self.places()
        return rows * self.shape[1] + columns

    def has(self, rows: np.ndarray, columns: np.ndarray) -> NDArray[np.bool_]:
        keys, asked = self._keys(), np.asarray(rows, np.int64) * self.shape[1] + columns
        if not len(keys):
            return np.zeros(asked.shape, bool)
        found: NDArray[np.bool_] = keys[np.minimum(np.searchsorted(keys, asked), len(keys) - 1)] == asked
        return found

    def at(self, rows: Place, columns: Place) -> Any:
        if isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray):
            keys, asked = self._keys(), rows * self.shape[1] + columns
            found, there = zeros(self.S, 1, self.dtype, len(asked))[0], self.has(rows, columns)
            found[there] = self.values[np.searchsorted(keys, asked[there])]
            return found
        lines = [np.array([x], np.int64) if isinstance(x, int) else x for x in (rows, columns)]
        found = self.part(*lines).all()
        return found[tuple(0 if isinstance(x, int) else EVERY for x in (rows, columns))]

    def part(self, rows: Place, columns: Place) -> Entries:
        offsets, wanted = self._rows.offsets, rows if isinstance(rows, np.ndarray) else np.arange(self.shape[0])[rows]
        tails, entries = expanded(offsets[wanted], offsets[np.asarray(wanted) + 1])
        heads, width = self._rows.columns[entries], self.shape[1]
        if columns != EVERY if isinstance(columns, slice) else True:
            chosen = columns if isinstance(columns, np.ndarray) else np.arange(width)[columns]
            order, width = np.argsort(chosen, kind="stable"), len(chosen)
            ends = (np.searchsorted(chosen[order], heads, side) for side in ("left", "right"))
            of, places = expanded(*ends)  # a column may be wanted several times
            tails, entries, heads = tails[of], entries[of], order[places]
        return Entries.unordered(tails, heads, self.values[entries], (len(wanted), width), self.S)

    def put(self, rows: Place, columns: Place, given: Any) -> Entries:
        *lines, new = to_write(self, rows, columns, given)
        written = (lines[0][:, None] * self.shape[1] + lines[1]).reshape(-1)
        old, places = self._keys(), [np.zeros(size, bool) for size in self.shape]
        for place, line in zip(places, lines, strict=True):
            place[line] = True
        down, across = self.places()
        stays = ~(places[0][down] & places[1][across])
        keys = np.concatenate([old[stays], written])
        values = np.concatenate([self.values[stays], new.reshape(-1)])
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
        last = np.concatenate([keys[1:] != keys[:-1], [True]])[: len(keys)]  # of what is written to one place
        return Entries.by_keys(keys[last], values[last], self.shape, self.S)

    def union(self, other: Entries, T: Arithmetic) -> Entries:
        refuse_unless(self.S, "is neutral for ⊕")
        keys = np.concatenate([self._keys(), other._keys()])
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], np.concatenate([self.values, other.values])[order]
        first = np.flatnonzero(keys[1:] == keys[:-1])  # of two at one place: A's
        values[first] = T.add(values[first], values[first + 1])
        once = np.ones(len(keys), bool)
        once[first + 1] = False
        return Entries.by_keys(keys[once], values[once], self.shape, self.S)

    def times(self, other: Entries, T: Arithmetic) -> Entries:
        refuse_unless(self.S, "absorbs")
        keys, mine, others = np.intersect1d(self._keys(), other._keys(), True, return_indices=True)
        values = np.asarray(T.mul(self.values[mine], other.values[others]))
        return Entries.by_keys(keys, values, self.shape, self.S)

    def compared(self, other: Entries, equal: Compare) -> NDArray[np.bool_]:
        height, width = self.shape
        require(height * width, f"a {height} × {width} array of bool", "A.equals(B) compares the entries alone")
        found = np.ones(self.shape, bool)
        for held in (self, other):
            found[held.places()] = False
        _, mine, others = np.intersect1d(self._keys(), other._keys(), True, return_indices=True)
        rows, columns = (place[mine] for place in self.places())
        found[rows, columns] = equal(self.values[mine], other.values[others])
        return found

    def same(self, other: Entries, equal: Compare) -> bool:
        return np.array_equal(self._keys(), other._keys()) and bool(equal(self.values, other.values).all())

    def kron(self, other: Entries, T: Arithmetic) -> Entries:
        refuse_unless(self.S, "absorbs")
        (m, n), (p, q), count = self.shape, other.shape, self.count() * other.count()
        require(count * (self.dtype.itemsize + 48), f"a {m * p} × {n * q} matrix with {count} entries of "
                                                    f"{dtype_text(self.dtype)}")
        rows, columns = ((mine[:, None] * size + others).reshape(-1) for mine, others, size in
                         zip(self.places(), other.places(), (p, q), strict=True))
        values = np.asarray(T.mul(self.values[:, None], other.values[None, :])).reshape(-1)
        return Entries.unordered(rows, columns, values, (m * p, n * q), self.S)


def expanded(begins: np.ndarray, ends: np.ndarray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of several ranges, one range after the other, and which range each is of.

    Examples
    --------
    >>> [found.tolist() for found in expanded(np.array([5, 1, 2]), np.array([7, 1, 3]))]
    [[0, 0, 2], [5, 6, 2]]
    """
    lengths = ends - begins
    of = np.repeat(np.arange(len(lengths)), lengths)
    before = np.cumsum(lengths) - lengths
    return of, np.arange(len(of)) - before[of] + begins[of]
