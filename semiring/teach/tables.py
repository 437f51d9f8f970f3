"""Operation tables: ⊕, ⊗ and the star of a few elements of an algebra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring.algebra.arithmetic import Arithmetic
from semiring.algebra.elements import MINUS, is_nan
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import html_table
from semiring.algebra.witnesses import ranks
from semiring.errors import SemiringError
from semiring.graphs.tables import lines
from semiring.graphs.texts import count_text, infinities, plain_text
from semiring.operands.elements import read_elements

CLOSED = 16  # the most elements for which 0, 1 and samples are combined until nothing new appears
SAMPLES = 10  # the elements that are shown if there are more
MOST_ELEMENTS = 64  # that a caller may ask for
WIDTH = 100  # characters of a line; wider blocks are written below each other


@dataclass(frozen=True, eq=False, repr=False)
class OperationTables:
    """Tables of ⊕ and ⊗ and the stars of some elements; `Semiring.table` makes them.

    They print as text, and a notebook shows them as tables.

    Attributes
    ----------
    semiring : Semiring
    elements : ndarray, shape (k,)
    add, mul : ndarray, shape (k, k)
        a ⊕ b and a ⊗ b in the row of a and the column of b.
    star : ndarray, shape (k,), or None
        a*, if `defined`; None for a bare product.
    defined : ndarray of bool, shape (k,)
        Whether the star exists.
    closed : bool
        Whether every sum and product is one of the elements.

    Examples
    --------
    >>> import semiring as sr
    >>> T = sr.boolean.table()
    >>> print(T)
    boolean on 2 elements, of which ⊕ and ⊗ make no others
    <BLANKLINE>
    ⊕  0  1    ⊗  0  1    a  a*
    0  0  1    0  0  0    0   1
    1  1  1    1  0  1    1   1
    >>> T.closed, T.mul.tolist()
    (True, [[False, False], [False, True]])
    """

    semiring: Semiring
    elements: np.ndarray
    add: np.ndarray
    mul: np.ndarray
    star: np.ndarray | None
    defined: np.ndarray
    closed: bool

    @classmethod
    def of(cls, semiring: Semiring, elements: Any = None, dtype: Any = None) -> OperationTables:
        """Make the tables over elements of an algebra.

        Parameters
        ----------
        semiring : Semiring
        elements, dtype : optional
            As for `Semiring.table`.

        Returns
        -------
        OperationTables

        Raises
        ------
        SemiringError
            As `Semiring.table` does.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.OperationTables.of(sr.gf2).add.tolist()
        [[0, 1], [1, 0]]
        """
        chosen = some_elements(semiring, elements, dtype)
        A = semiring.over(chosen.dtype)
        add, mul = combined(A, chosen)
        known = [*chosen]
        closed = all(_is_among(x, known) for x in (*add.ravel(), *mul.ravel()))
        defined = np.zeros(len(chosen), bool) if semiring.product_only else np.asarray(A.defined(chosen), bool)
        star = None
        if not semiring.product_only:
            with np.errstate(all="ignore"):
                star = _as_people_write(semiring, np.asarray(A.star(chosen), A.dtype))
        chosen, add, mul = (_as_people_write(semiring, x) for x in (chosen, add, mul))
        return cls(semiring, chosen, add, mul, star, defined, closed)

    def _tables(self) -> list[list[list[str]]]:
        """The texts of the tables with their headings: for ⊕, for ⊗, and for the star."""
        names = texts(self.semiring, self.elements)
        tables = []
        for sign, array in (("⊕", self.add), ("⊗", self.mul)):
            rows = [texts(self.semiring, row) for row in array]
            tables.append([[sign, *names], *([name, *row] for name, row in zip(names, rows, strict=True))])
        if self.star is not None:
            stars = texts(self.semiring, self.star)
            rows = [[a, star if d else "—"] for a, star, d in zip(names, stars, self.defined, strict=True)]
            tables.append([["a", "a*"], *rows])
        return tables

    def _title(self) -> str:
        count = count_text(len(self.elements), "element", "elements")
        others = "no others" if self.closed else "others, too"
        return f"{self.semiring.name} on {count}, of which ⊕ and ⊗ make {others}"

    def __repr__(self) -> str:
        blocks = [lines(rows, np.dtype(object)) for rows in self._tables()]
        return "\n".join([self._title(), "", *beside(blocks)])

    def _repr_html_(self) -> str:
        captions = ("a ⊕ b", "a ⊗ b", "stars")
        pages = [html_table(f"{self.semiring.name}: {caption}", rows, head, "right")
                 for caption, (head, *rows) in zip(captions, self._tables(), strict=False)]
        return abreast(pages)


def abreast(pages: Sequence[str]) -> str:
    """Parts of an HTML page next to each other, if there is room for them.

    >>> abreast(["<p>a</p>"]).count("<div")
    2
    """
    # Each part scrolls by itself if it is too wide for a phone, by arrow keys too.
    inside = "".join(f'<div tabindex="0" style="overflow-x: auto; max-width: 100%">{page}</div>' for page in pages)
    return f'<div style="display: flex; flex-wrap: wrap; gap: 1em 2em; align-items: flex-start">{inside}</div>'


def beside(blocks: Sequence[Sequence[str]], gap: int = 4, width: int = WIDTH) -> list[str]:
    """Blocks of lines next to each other, or below each other if they are too wide.

    >>> beside([["a", "bb"], ["c"]])
    ['a     c', 'bb']
    >>> beside([["a", "bb"], ["c"]], width=4)
    ['a', 'bb', '', 'c']
    """
    groups: list[list[Sequence[str]]] = []
    room = 0
    for block in blocks:
        wide = max(map(len, block), default=0) + gap
        if groups and room + wide - gap <= width:
            groups[-1].append(block)
        else:
            groups.append([block])
            room = 0
        room += wide
    result: list[str] = []
    for group in groups:
        widths = [max(map(len, block), default=0) + gap for block in group]
        height = max(map(len, group))
        padded = [[*block, *[""] * (height - len(block))] for block in group]
        rows = ["".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip()
                for row in zip(*padded, strict=True)]
        result += [*([""] if result else []), *rows]
    return result


def texts(S: Semiring, elements: np.ndarray) -> list[str]:
    """Elements as tables show them, with the minus sign of a book.

    >>> import semiring as sr
    >>> texts(sr.min_plus, np.array([0, 32767], "i2"))
    ['0', '∞']
    >>> texts(sr.why, np.array([frozenset(), frozenset({frozenset("a"), frozenset("bc")})]))
    ['∅', '{{a}, {b, c}}']
    """
    infinite = infinities(S, elements.dtype)
    return [plain_text(x, infinite, MINUS) for x in elements]


def some_elements(S: Semiring, given: Any, dtype: Any) -> np.ndarray:
    """Choose different elements to show: given ones, all combinations of samples, or the simplest samples.

    Parameters
    ----------
    S : Semiring
    given : sequence or array of elements, shape (count,), or None
    dtype : dtype or what `numpy.dtype` takes, or None

    Returns
    -------
    ndarray, shape (count,)
        Given ones in their order; else 0 and 1, then the others, simple ones first.

    Raises
    ------
    SemiringError
        If a given value is not an element, there are no or too many elements, or the algebra cannot live in the
        dtype.

    Examples
    --------
    >>> import semiring as sr
    >>> some_elements(sr.mod_p(5), None, None).tolist()
    [0, 1, 2, 3, 4]
    """
    if given is not None:
        array = different(read_elements(given, S, "elements", dtype))
        if not 0 < len(array) <= MOST_ELEMENTS:
            raise SemiringError(f"{len(array)} different elements: pass from 1 to {MOST_ELEMENTS} of them")
        return array
    A = S.over(S.resolve_dtype(S.default_dtype if dtype is None else dtype))
    samples = different(S.elements_in(A.dtype).notable)
    found = closed_under_operations(A, samples)
    array = samples if found is None else found
    first = 1 if S.one is None else 2
    order = np.argsort(ranks(array[first:]), kind="stable")
    array = np.concatenate([array[:first], array[first:][order]])
    return array if found is not None else array[:SAMPLES]


def closed_under_operations(A: Arithmetic, start: np.ndarray) -> np.ndarray | None:
    """Combine some elements by ⊕ and ⊗ until nothing new appears; None if there are too many for a table.

    Examples
    --------
    >>> import semiring as sr
    >>> closed_under_operations(sr.gcd_lcm.over("i8"), np.array([0, 1, 4, 6])).tolist()
    [0, 1, 4, 6, 2, 12]
    >>> closed_under_operations(sr.min_plus.over("f8"), np.array([0.0, 1.0]))
    """
    known = [*start]
    count = 0
    while count < len(known) <= CLOSED:
        count = len(known)
        array = np.empty(count, A.dtype)
        for i, x in enumerate(known):
            array[i] = x
        made = np.concatenate([table.ravel() for table in combined(A, array)])
        if not np.all(A.contains(made)) or is_nan(made).any():
            return None
        for x in made:
            if len(known) <= CLOSED and not _is_among(x, known):
                known.append(x)
    return array if len(known) <= CLOSED else None


def combined(A: Arithmetic, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The tables of ⊕ and ⊗."""
    with np.errstate(all="ignore"):
        results = (op(elements[:, None], elements[None, :]) for op in (A.add, A.mul))
        add, mul = (np.asarray(result, A.dtype) for result in results)
    return add, mul


def different(array: np.ndarray) -> np.ndarray:
    """The elements of an array, each once, in their order.

    >>> different(np.array([3, 1, 3])).tolist()
    [3, 1]
    """
    kept: list[int] = []
    for i in range(len(array)):
        if len(kept) <= MOST_ELEMENTS and not _is_among(array[i], [array[k] for k in kept]):
            kept.append(i)
    return array[kept]


def _is_among(x: Any, known: Sequence[Any]) -> bool:
    return any(x is y or bool(x == y) for y in known)


def _as_people_write(S: Semiring, array: np.ndarray) -> np.ndarray:
    """Records with vectors, if they were declared with vectors."""
    return array.view(S.element_dtype) if S.is_record and array.dtype == S.default_dtype else array
