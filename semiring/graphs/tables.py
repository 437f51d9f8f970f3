"""`Table`: elements from some vertices to others by name; printing of matrices and tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike

from semiring.algebra.arguments import truth_value
from semiring.algebra.elements import MINUS
from semiring.algebra.tables import dtype_text, html_table
from semiring.errors import GraphError

from .frames import frame_of
from .held import Array, Held
from .names import Labelled, as_names, is_hashable, is_truth, near
from .operators import as_array, as_converted
from .texts import aligned, clip, element_text, infinities, quoted, shown, with_infinities

if TYPE_CHECKING:
    import pandas

    from semiring.algebra.semiring import Semiring

SHOWN = 10  # rows and columns of a matrix that `repr` shows in full


class Elements:
    """Elements from some vertices to some others: what `Matrix` and `Table` share."""

    array: np.ndarray
    semiring: Semiring
    library: str | None

    @property
    def _ends(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """The vertices of the rows, and those of the columns."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        rows, columns = self.array.shape
        return rows, columns

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self.array.dtype

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.to_numpy())

    @property
    def _elements(self) -> Held:
        """The elements, in whichever way they are held."""
        return Array(self.array, self.semiring)

    def _shown(self, part: Any) -> Any:
        shows = self.dtype.kind in "iuV"
        return with_infinities(np.asarray(part), self.semiring)[()] if shows else part

    def to_numpy(self) -> np.ndarray:
        """Return the elements as an array, with ∞ as a float.

        Returns
        -------
        ndarray, of the same shape
            `array` itself, unless it holds integers and ∞: then float64, which is exact up to 2⁵³, or Python numbers if
            an element is larger. `numpy.asarray` does the same.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.adjacency([(0, 1, 3.0)], sr.min_plus).to_numpy()
        array([[inf,  3.],
               [inf, inf]])
        """
        return with_infinities(self._elements.all(), self.semiring)

    @overload
    def to_frame(self, long: bool = ..., *, library: Literal["pandas"]) -> pandas.DataFrame: ...
    @overload
    def to_frame(self, long: bool = ..., library: str | None = ...) -> Any: ...
    def to_frame(self, long: bool = True, library: str | None = None) -> Any:
        """Return the elements as a data frame.

        Parameters
        ----------
        long : bool
            True: columns from, to and weight, one row for each element other than the algebra's zero. False: all
            elements, with the vertices as index and columns; in Polars and Arrow, which have no index, the vertices of
            the rows are the column "from".
        library : {None, "pandas", "polars", "pyarrow"}
            None: that of the data frame which was passed; else pandas or Polars, the first that the program has loaded;
            else the first that is installed.

        Returns
        -------
        DataFrame, or Table of PyArrow
            Records are tuples in a data frame.

        Raises
        ------
        GraphError
            For an unknown library, or one that is not installed; if Polars or Arrow cannot name columns like the
            vertices, or Arrow has no type for the elements.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0)], sr.min_plus)
        >>> roads.to_frame().values.tolist()
        [['a', 'b', 3.0], ['b', 'c', 4.0]]
        """
        return frame_of(self, *self._ends, truth_value(long, "long"), library)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        elements = self._elements
        stored = elements.all()
        if copy is False and elements.kind != "dense":
            raise ValueError(f"a {elements.kind} Matrix has no array of all elements: leave out copy=False")
        return as_converted(with_infinities(stored, self.semiring), stored, dtype, copy)

    def __repr__(self) -> str:
        return "\n".join([self._title(), *(lines(self._cells(), self.dtype) if all(self.shape) else [])])

    def _repr_html_(self) -> str:
        head, *rows = self._cells(MINUS)
        return html_table(self._title(), rows, head, "right")

    def _title(self) -> str:
        rows, columns = self.shape
        return f"{type(self).__name__} {rows} × {columns} over {self.semiring.name}, {dtype_text(self.dtype)}"

    def _cells(self, minus: str = "-") -> list[list[str]]:
        return cells(self._elements, self.semiring, *self._ends, minus=minus)


class Table(Labelled, Elements):
    """A part of a closure: elements from some vertices to some others.

    `semiring.closure_rows` makes one. `T[a, b]` is the element from a to b, with vertices called by name if the graph
    has names, else by position; `T[a]` is the row of a. NumPy treats it as an array. Verbs and operators, which match
    vertices by name, refuse it: pass its elements, `to_numpy()`.

    Attributes
    ----------
    array : ndarray, shape (k, t)
        The elements as stored: in integers the limits of the dtype stand for ±∞, which are floats when they are read.
    semiring : Semiring
        The algebra of the elements.
    sources, targets : list
        The k vertices of the rows and the t vertices of the columns.
    library : {None, "pandas", "polars", "pyarrow"}
        The library of the data frames that `to_frame` makes.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)])
    >>> T = sr.closure_rows(roads, sr.min_plus, ["a", "b"], targets=["c"])
    >>> T
    Table 2 × 1 over min-plus, float64
       c
    a  7
    b  4
    >>> float(T["a", "c"])
    7.0
    """

    def __init__(
        self, array: np.ndarray, semiring: Semiring, sources: Sequence[Hashable], targets: Sequence[Hashable],
        library: str | None = None,
    ) -> None:
        self.array, self.semiring, self.library = as_array(array), semiring, library
        self.sources, self.targets = as_names(sources) or [], as_names(targets) or []
        if self.array.shape != (len(self.sources), len(self.targets)):
            raise GraphError(f"{len(self.sources)} sources and {len(self.targets)} targets for an array of shape "
                             f"{self.array.shape}")

    @property
    def _ends(self) -> tuple[Sequence[Any], Sequence[Any]]:
        return self.sources, self.targets

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and not (is_hashable(key) and key in self._rows):
            if len(key) != 2:
                raise GraphError(f"a table takes a source, or a source and a target, not {len(key)} vertices")
            row, column = key
            return self._shown(self.array[self._row(row), place_of(column, self._columns, self.targets, "targets")])
        return self._shown(self.array[self._row(key)])

    def _row(self, vertex: Any) -> int:
        return place_of(vertex, self._rows, self.sources, "sources")

    @cached_property
    def _rows(self) -> dict[Hashable, int]:
        return {vertex: i for i, vertex in reversed(list(enumerate(self.sources)))}

    @cached_property
    def _columns(self) -> dict[Hashable, int]:
        return {vertex: i for i, vertex in reversed(list(enumerate(self.targets)))}



def place_of(vertex: Any, places: dict[Hashable, int], names: Sequence[Hashable], what: str) -> int:
    """The row or the column of a vertex; `places` are those of the names.

    Raises
    ------
    GraphError
        If it has none. A truth value is not a position, although Python treats True as 1, unless it is a name.
    """
    try:
        found = places[vertex]
        if is_truth(vertex) <= is_truth(names[found]):
            return found
    except (KeyError, TypeError):
        pass
    raise GraphError(f"{quoted(vertex)} is not among the {what} of the table{near(vertex, names)}")


def cells(
    elements: Held, S: Semiring, rows: Sequence[Any], columns: Sequence[Any], minus: str = "-"
) -> list[list[str]]:
    """Texts of the heading row and of the rows that are shown, each starting with its vertex.

    Examples
    --------
    >>> import semiring as sr
    >>> cells(Array(np.array([[1.0, np.inf]]), sr.min_plus), sr.min_plus, ["a"], ["b", "c"])
    [['', 'b', 'c'], ['a', '1', '·']]
    """
    zero, infinite = S.zero_in(elements.dtype), infinities(S, elements.dtype)
    down, across = some(len(rows)), some(len(columns))
    part = elements.part(*(np.array([x for x in places if x is not None], np.int64) for places in (down, across))).all()
    shown_rows, places = iter(part), [k - (None in across[:k]) for k in range(len(across))]
    table = [["", *("…" if j is None else clip(shown(columns[j])) for j in across)]]
    for i in down:
        row = None if i is None else next(shown_rows)
        texts = ["…" if row is None or j is None else element_text(row[k], zero, "·", infinite, minus)
                 for k, j in zip(places, across, strict=True)]
        table.append(["…" if i is None else clip(shown(rows[i])), *texts])
    return table


def some(n: int) -> list[int | None]:
    """The positions that are shown; None between them if some are left out."""
    return list(range(n)) if n <= SHOWN else [*range(SHOWN // 2), None, *range(n - SHOWN // 2, n)]


def lines(rows: list[list[str]], dtype: np.dtype) -> list[str]:
    """The lines of a table of texts; floats are aligned at the decimal point."""
    if dtype.kind == "f":
        columns = [[head, *aligned(texts)] for head, *texts in zip(*rows, strict=True)][1:]
        rows = [list(row) for row in zip([row[0] for row in rows], *columns, strict=True)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.rjust(w) for text, w in zip(row, widths, strict=True)).rstrip() for row in rows]
