"""Names of vertices: positions by name, and suggestions for misspelled names."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Hashable, Mapping, Reversible, Sequence, Set
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from semiring.errors import GraphError

from .texts import clip_repr, quoted

SEARCHED_NAMES = 20_000  # the most names that are searched for a similar one
USUAL = {str, int, bool, tuple, bytes}  # types of names that are equal to themselves
PLAIN = {str, int, bool, bytes}  # and that are equal only if their hash is
SEARCHED_CHARACTERS = 200  # characters from which similar names are not searched: a comparison takes quadratic time


class Labelled:
    """A matrix whose rows are some vertices, and whose columns are some, like a `Table`."""


class Named:
    """Vertices that are called by name, or by position if they have no names."""

    n: int
    names: list[Any] | None

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self.names or ())}

    def index(self, name: Hashable) -> int:
        """Return the position of a vertex.

        Parameters
        ----------
        name : hashable
            A vertex's name; its position, if the vertices have no names.

        Returns
        -------
        int
            From 0 to n − 1.

        Raises
        ------
        GraphError
            If there is no such vertex, or it is a truth value; the message suggests a similar name.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.as_graph([("home", "mill"), ("mill", "shop")]).index("shop")
        2
        """
        return position_of(name, self.n, self.names, self._positions)

    def _check_names(self) -> None:
        check_names(self.names, self.n, "vertex", "vertices")


def check_names(names: Sequence[Any] | None, n: int, one: str, many: str) -> None:
    """Refuse names that are not one for each vertex, row or column, all different and hashable; and NaN.

    Raises
    ------
    GraphError
    """
    if names is None:
        return
    if len(names) != n:
        raise GraphError(f"{len(names)} names for {n} {many}: pass one for each")
    if not USUAL.issuperset(map(type, names)):
        for i, name in enumerate(names):
            if name is not None and is_missing(name):
                raise GraphError(f"{one} {i} is called {quoted(name)}, by which it is never found, because NaN differs "
                                 "from itself: give it another name")
    seen: set[Hashable] = set()
    try:
        different = len(set(names))
    except TypeError:
        i = next(i for i, name in enumerate(names) if not is_hashable(name))
        raise GraphError(f"{one} {i} is called {quoted(names[i])}, which is not hashable: name {many} by "
                         "strings, numbers or tuples") from None
    if different < n:
        for i, name in enumerate(names):
            if name in seen:
                raise GraphError(f"two {many} are called {quoted(name)} (the second is number {i})")
            seen.add(name)


def as_names(names: Any) -> list[Any] | None:
    """Names of vertices as a list, from any kind of sequence.

    Times of NumPy stay as they are: Python would make whole numbers of those in nanoseconds.

    Raises
    ------
    GraphError
        If they are not a sequence; a set has no order.

    Examples
    --------
    >>> as_names(np.array(["2026-01-01"], "datetime64[ns]"))
    [np.datetime64('2026-01-01T00:00:00.000000000')]
    """
    if names is None:
        return None
    if isinstance(names, Set) and not isinstance(names, Reversible):
        raise GraphError(f"names are a {type(names).__name__}, which has no order: pass a list, one for each vertex")
    try:
        if hasattr(names, "to_pylist"):  # a column of Arrow
            return list(names.to_pylist())
        if getattr(names, "ndim", 0) == 1 and hasattr(names, "to_numpy") and not hasattr(names, "tolist"):
            names = names.to_numpy()  # coordinates of xarray
        if hasattr(names, "tolist") and getattr(names, "ndim", 0) == 1:  # an array of NumPy, or a tensor
            of_times = isinstance(names, np.ndarray) and names.dtype.kind in "mM"
            return list(names if of_times else names.tolist())
        return list(names)
    except TypeError:
        raise GraphError(f"names must be a sequence, one for each vertex, and are {clip_repr(names)}") from None


def position_of(
    name: Any, n: int, names: Sequence[Any] | None, positions: Mapping[Hashable, int], what: str = "vertex"
) -> int:
    """The position of a vertex of n; `positions` are those of the names, if there are names.

    Raises
    ------
    GraphError
        If there is no such vertex. A truth value is not a vertex, although Python treats True as 1, except as a name.
    """
    if names is not None:
        try:
            found = positions[name]
            if is_truth(name) <= is_truth(names[found]):
                return found
        except (KeyError, TypeError):
            pass
        name = name.item() if isinstance(name, np.generic) and name.dtype.kind not in "mM" else name
        raise GraphError(f"no {what} is called {quoted(name)}{near(name, names)}")
    position = None if is_truth(name) else as_integer(name)
    if position is None or not 0 <= position < n:
        name = name.item() if isinstance(name, np.generic) else name if position is None else position
        many = "vertices" if what == "vertex" else f"{what}s"
        here = f"the {many} have no names, they are the integers {span_text(n)}" if n else f"the graph has no {many}"
        raise GraphError(f"{what} {quoted(name)}: {here}")
    return position


def alignment(wanted: Sequence[Any], given: Sequence[Any], first: str = "A", what: str = "B") -> np.ndarray | None:
    """The positions of vertices in another matrix on the same vertices.

    Parameters
    ----------
    wanted, given : sequence of names
        The names in the first matrix, and in the other one.
    first, what : str
        Names of the two matrices in messages.

    Returns
    -------
    ndarray of int64, shape (n,), or None
        The position in the other matrix of each vertex of the first; None if the order is the same.

    Raises
    ------
    GraphError
        If a vertex is in one of them only, or is not hashable.

    Examples
    --------
    >>> alignment(["a", "b", "c"], ["c", "a", "b"]).tolist()
    [1, 2, 0]
    """
    try:
        if same_names(wanted, given):
            return None
        here, there = ({name: i for i, name in enumerate(names)} for names in (wanted, given))
    except TypeError:
        name = next(name for name in (*wanted, *given) if not is_hashable(name))
        raise GraphError(f"{quoted(name)} is not hashable: name vertices by strings, numbers or tuples") from None
    for vertices, others, one, other in ((here, there, first, what), (there, here, what, first)):
        missing = [name for name in vertices if name not in others][:1]
        if missing:
            raise GraphError(
                f"{first} and {what} have different vertices: {quoted(missing[0])} is in {one} and not in {other}; "
                "use the same vertices in both, or pass an array, whose rows and columns are matched by position"
            )
    return np.array([there[name] for name in wanted], np.int64)


def same_names(A: Sequence[Any] | None, B: Sequence[Any] | None) -> bool:
    """Whether two axes have the same names in the same order, or both have none.

    Names are compared like keys of a dictionary. Lists are not: a number or a time of NumPy compares itself with each
    element of a tuple.

    Examples
    --------
    >>> same_names([np.int64(3), ("a", 1)], [3, ("a", 1)]), same_names([np.int64(3), ("a", 1)], [("a", 1), 3])
    (True, False)
    """
    if A is B:
        return True
    if A is None or B is None or len(A) != len(B):
        return False
    if PLAIN.issuperset(map(type, A)) and PLAIN.issuperset(map(type, B)):
        return A == B
    if not all(map(is_hashable, (*A, *B))):
        return False
    return all(x is y or (hash(x) == hash(y) and bool(x == y)) for x, y in zip(A, B, strict=True))


def span_text(n: int) -> str:
    """The positions of n vertices in words."""
    return f"0 to {n - 1}" if n else "of a graph without vertices"


def near(name: Any, names: Sequence[Any]) -> str:
    """The part of a message that suggests a similar known name; empty if there is none."""
    known = ((_letters(name), name) for name in islice(names, SEARCHED_NAMES))
    texts = {text: name for text, name in known if len(text) <= SEARCHED_CHARACTERS}
    text = _letters(name)
    # half, so that "mk" finds "km"
    close = difflib.get_close_matches(text, texts, n=1, cutoff=0.5) if len(text) <= SEARCHED_CHARACTERS else []
    return f"; did you mean {quoted(texts[close[0]])}?" if close else ""


def _letters(name: Any) -> str:
    try:
        return str(name)
    except ValueError:  # Python writes no integer of more than 4300 digits
        return quoted(name)


def refuse_table(data: Any, what: str) -> None:
    """Refuse a `Table` as an operand: its rows and columns would be matched by position, whatever their names.

    Raises
    ------
    GraphError
        For a `Table`.
    """
    if isinstance(data, Labelled):
        raise GraphError(f"{what} is a Table, whose rows and columns are different vertices: pass its elements, "
                         ".to_numpy(), to match them by position")


def is_hashable(value: Any) -> bool:
    """Whether a value can name a vertex."""
    # a tuple claims to be hashable even if its elements are not
    try:
        hash(value)
    except (TypeError, ValueError):  # a memory view that can be written to raises the latter
        return False
    return True


def is_truth(name: Any) -> bool:
    """Whether a name is a truth value."""
    return isinstance(name, (bool, np.bool_))


def is_integer(name: Any) -> bool:
    """Whether a name is an integer, and no truth value or duration, which NumPy counts among its integers."""
    return isinstance(name, (int, np.integer)) and not isinstance(name, (bool, np.timedelta64))


def is_whole(name: Any) -> bool:
    """Whether a name is an integer, perhaps as a float, which is equal to it."""
    return is_integer(name) or (isinstance(name, (float, np.floating)) and name.is_integer())


def as_integer(value: Any) -> int | None:
    """Any kind of integer as an int; None for anything else."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def integers_of(names: Sequence[Any]) -> np.ndarray | None:
    """Names that are 64-bit integers, with a sign or without, as an array; None for all others.

    >>> [None if (found := integers_of(names)) is None else str(found.dtype) for names in ([-1, 2], [2**63], [2**64])]
    ['int64', 'uint64', None]
    """
    if not all(map(is_integer, names)):
        return None
    low, high = min(names, default=0), max(names, default=0)
    dtype = np.int64 if low >= -(2**63) and high < 2**63 else np.uint64 if low >= 0 and high < 2**64 else None
    return None if dtype is None else np.array(list(map(int, names)), dtype)


def is_missing(value: Any) -> bool:
    """None, NaN, NaT, and what pandas writes for a missing value."""
    if isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")
