"""A square matrix over an algebra whose rows and columns are vertices."""

from __future__ import annotations

import html
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from semiring.algebra.by_name import algebra
from semiring.errors import GraphError
from semiring.graphs.masks import unmasked
from semiring.graphs.names import Named, as_names, is_hashable
from semiring.graphs.texts import clip, dtype_text, element_text, shown

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring


SHOWN = 10  # rows and columns of a matrix that `repr` shows in full


class Matrix(Named):
    """A square matrix over an algebra whose rows and columns are vertices.

    `M[a, b]` is the element from vertex a to vertex b, `M[a]` a row, `M[:, b]` a column; vertices are called by
    name where they have names, else by position. (A tuple that is itself a name selects that vertex's row.)
    NumPy takes it as an array.

    Parameters
    ----------
    array : array_like, shape (n, n)
        Elements of the algebra, taken literally; an array is held, not copied. What a masked array masks becomes the
        algebra's zero.
    semiring : Semiring or str
    names : sequence of hashable, optional
        One for each vertex, all different.

    Attributes
    ----------
    array : ndarray, shape (n, n)
    semiring : Semiring
    n : int
        Number of vertices.
    names : list or None

    Raises
    ------
    GraphError
        When the array is not square, or the names are no sequence with one for each vertex, all different and
        hashable.
    SemiringError
        For an unknown algebra.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> M = sr.Matrix(np.array([[0.0, 2.5], [np.inf, 0.0]]), sr.min_plus, names=["a", "b"])
    >>> float(M["a", "b"])
    2.5
    >>> np.asarray(M).shape
    (2, 2)
    """

    def __init__(self, array: np.ndarray, semiring: Semiring | str, names: Sequence[Hashable] | None = None) -> None:
        semiring = algebra(semiring)
        array = unmasked(array, semiring) if isinstance(array, np.ma.MaskedArray) else as_array(array)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise GraphError(f"a matrix over vertices is square, this array has shape {array.shape}")
        self.array = array
        self.semiring = semiring
        self.n = array.shape[0]
        self.names = as_names(names)
        self._check_names()

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @property
    def dtype(self) -> np.dtype:
        """Of the elements."""
        return self.array.dtype

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.array)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and not (is_hashable(key) and key in self._positions):
            if len(key) != 2:
                raise GraphError(f"a matrix takes a row, or a row and a column, not {len(key)} vertices")
            return self.array[self._place(key[0]), self._place(key[1])]
        return self.array[self._place(key)]

    def _place(self, key: Any) -> int | slice:
        return key if isinstance(key, slice) else self.index(key)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        rows = self._table()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(text.rjust(w) for text, w in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self._title(), *lines] if self.n else [self._title()])

    def _repr_html_(self) -> str:
        head, *rows = [[html.escape(text) for text in row] for row in self._table()]
        body = "".join(f"<tr><th>{row[0]}</th>{''.join(f'<td>{t}</td>' for t in row[1:])}</tr>" for row in rows)
        return (
            f"<table><caption>{html.escape(self._title())}</caption>"
            f"<thead><tr>{''.join(f'<th>{t}</th>' for t in head)}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _title(self) -> str:
        return f"Matrix {self.n} × {self.n} over {self.semiring.name}, {dtype_text(self.dtype)}"

    def _table(self) -> list[list[str]]:
        """Texts of the heading row and of the rows shown, each led by its vertex."""
        half = SHOWN // 2
        chosen: list[int | None] = list(range(self.n))
        if self.n > SHOWN:
            chosen = [*range(half), None, *range(self.n - half, self.n)]
        labels = ["…" if i is None else clip(shown(i if self.names is None else self.names[i])) for i in chosen]
        zero = self.semiring.zero_in(self.dtype)
        table = [["", *labels]]
        for label, i in zip(labels, chosen, strict=True):
            row = None if i is None else self.array[i]
            cells = ["…" if row is None or j is None else element_text(row[j], zero, absent="·") for j in chosen]
            table.append([label, *cells])
        return table


def as_array(array: Any) -> np.ndarray:
    try:
        return np.asarray(array)
    except (ValueError, TypeError, OverflowError) as e:
        raise GraphError(f"this is not a matrix: {e}; give rows of one length") from None
