"""The rows and columns of a matrix: their names, and the positions that a name, a list or a slice selects."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from semiring.errors import GraphError

from .held import Held, Place
from .names import Named, as_names, check_names, is_hashable, is_truth, position_of, same_names

Names = list[Any] | None


class Axes(Named):
    """Rows and columns that are called by name, or by position if they have no names.

    Attributes
    ----------
    row_names, column_names : list or None
        The names of the rows and of the columns; the same list if both are the same vertices.
    is_over_vertices : bool
        Whether the rows and the columns are the same vertices, in the same order.
    """

    _held: Held
    row_names: Names
    column_names: Names
    is_over_vertices: bool

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return self._held.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self._held.dtype

    def __len__(self) -> int:
        return self.n

    @property
    def _elements(self) -> Held:
        """The elements, in whichever way they are held."""
        return self._held

    @property
    def _ends(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """The names, or positions, of the rows and of the columns."""
        height, width = self.shape
        return self.row_names or range(height), self.column_names or range(width)

    def _call(self, rows: list[Any] | None, columns: list[Any] | None, own: bool) -> None:
        """Set the names of the rows and columns; the same vertices unless the columns have names of their own.

        Raises
        ------
        GraphError
            For names that do not fit.
        """
        self.n, width = self._held.shape
        self.is_over_vertices = not own or (self.n == width and same_names(rows, columns))
        self.row_names = self.names = rows
        if self.is_over_vertices:
            self.column_names = rows
            check_names(rows, self.n, "vertex", "vertices")
            return
        self.column_names, self.names = columns, None
        check_names(rows, self.n, "row", "rows")
        check_names(columns, width, "column", "columns")

    def _places(self, key: Any) -> tuple[Place, Place]:
        """The rows and the columns that a key selects, as an index of the array."""
        if is_list(key):
            rows = self._place(key, 0)
            return rows, rows if self.is_over_vertices else slice(None)
        if not isinstance(key, tuple) or (is_hashable(key) and key in self._positions):
            return self._place(key, 0), slice(None)
        if len(key) != 2:
            raise GraphError(f"a matrix takes a row, or a row and a column, not {len(key)} vertices")
        return self._place(key[0], 0), self._place(key[1], 1)

    def _place(self, key: Any, axis: int) -> Place:
        if hasattr(key, "row_names") or getattr(key, "ndim", 0) > 1:
            raise GraphError("a mask of entries is not a key: M.where(mask) keeps entries, and "
                             "M.where(mask, complement=True) | N.where(mask) replaces them")
        if is_list(key):
            vertices = as_names(key) or []
            if vertices and not isinstance(key, list) and all(map(is_truth, vertices)):
                raise GraphError("truth values do not name vertices: pass their names, or keep entries by "
                                 "M.where(mask)")
            return np.array([self.index(vertex, axis) for vertex in vertices], np.int64)
        if not isinstance(key, slice):
            return self.index(key, axis)
        for end in (key.start, key.stop, key.step):
            if not (end is None or hasattr(end, "__index__")):
                raise GraphError(f"a slice needs positions, integers, but one of its ends is {end!r}: pass "
                                 ".index() of the vertex, or a list of vertices")
        return key

    def index(self, name: Hashable, axis: int = 0) -> int:
        """Return the position of a vertex, a row or a column.

        Parameters
        ----------
        name : hashable
            Its name; its position, if there are no names.
        axis : {0, 1}
            0 for a row, 1 for a column. A vertex has the same position in both.

        Returns
        -------
        int
            From 0.

        Raises
        ------
        GraphError
            If there is none of this name, or it is a truth value; the message suggests a similar name.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.Matrix([[1.0, 2.0]], sr.min_plus, ["mill"], columns=["flour", "oats"]).index("oats", axis=1)
        1
        """
        if self.is_over_vertices:
            return position_of(name, self.n, self.row_names, self._positions)
        names, what = (self.column_names, "column") if axis else (self.row_names, "row")
        positions = self._column_positions if axis else self._positions
        return position_of(name, self._held.shape[axis], names, positions, what)

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self.row_names or ())}

    @cached_property
    def _column_positions(self) -> dict[Hashable, int]:
        return self._positions if self.is_over_vertices else {name: i for i, name in enumerate(self.column_names or ())}


def is_list(key: Any) -> bool:
    """Whether a key is a list of vertices, or an array, index or series of them.

    >>> is_list(["a"]), is_list(np.array(["a"])), is_list(np.str_("a")), is_list(("a", "b"))
    (True, True, False, False)
    """
    in_one_line = hasattr(key, "dtype") and getattr(key, "ndim", 1) == 1
    return in_one_line or isinstance(key, list) or hasattr(key, "to_pylist")


def selected(names: Names, size: int, place: Place) -> Names:
    """The names of some rows or columns: positions if they have no names, None if these are counted from 0.

    Examples
    --------
    >>> selected(["a", "b", "c"], 3, slice(1, None)), selected(None, 3, np.array([2, 0])), selected(None, 3, slice(2))
    (['b', 'c'], [2, 0], None)
    """
    places = np.arange(size)[place].tolist()
    if names is not None:
        return [names[i] for i in places]
    return None if places == list(range(len(places))) else places
