"""Python's operators of a matrix, over its algebra."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np
from numpy.typing import DTypeLike

from semiring.algebra.arguments import whole_number
from semiring.algebra.masks import is_masked, unmasked
from semiring.algebra.tables import dtype_text
from semiring.algebra.verbs import verb
from semiring.errors import GraphError, SemiringError

from .exports import as_declared
from .foreign import as_array as array_of
from .foreign import is_foreign
from .frames import column_labels, has_labels
from .held import Array, Compare, Held, arranged
from .holders import together
from .names import Named, alignment, as_names, refuse_table
from .order import both, orders
from .texts import clip_repr, infinities, with_infinities
from .ufuncs import ArrayProtocol

if TYPE_CHECKING:
    from semiring.algebra.arithmetic import Arithmetic
    from semiring.algebra.semiring import Semiring

    from .matrix import Matrix

Names = list[Any] | None


class Operators(ArrayProtocol):
    """The operators of `Matrix`, over its algebra."""

    __hash__ = None  # type: ignore[assignment]  # as of arrays: `==` is element by element

    @overload
    def __matmul__(self, other: Operators) -> Matrix: ...
    @overload
    def __matmul__(self, other: np.ndarray) -> np.ndarray: ...
    @overload
    def __matmul__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any:
        mine = self
        if isinstance(other, Operators) and other.names is not self.names:
            mine, other = other._named(self), self._named(other)
        return verb("matmul")(mine, other)

    def __rmatmul__(self, other: Any) -> Any:
        return verb("matmul")(self._named(other), self)

    def __pow__(self, exponent: int) -> Matrix:
        k = whole_number(exponent, "the exponent of a power", 0)
        found: Matrix = verb("power")(self, self.semiring, k)
        return found

    def __or__(self, other: Any) -> Matrix:
        names, mine, others = self._beside(other, True)
        return self._named_by(names, mine.union(others, self._operation(mine, others)))

    __ror__ = __or__  # ⊕ commutes

    def __add__(self, other: Any) -> NoReturn:
        raise TypeError(f"unsupported operand types for +: a Matrix and {type(other).__name__}. A | B is the sum ⊕ "
                        f"over {self.semiring.name}, and A * B the product ⊗ by element")

    __radd__ = __add__

    def __mul__(self, other: Any) -> Matrix:
        names, mine, others = self._beside(other)
        return self._named_by(names, mine.times(others, self._operation(mine, others)))

    def __rmul__(self, other: Any) -> Matrix:
        names, mine, others = self._beside(other)
        return self._named_by(names, others.times(mine, self._operation(mine, others)))

    def _refuse_other(self, other: Operators) -> None:
        """Refuse a matrix over another algebra as the second operand.

        Raises
        ------
        SemiringError
        """
        if other.semiring is not self.semiring:
            raise SemiringError(f"A is a matrix over {self.semiring.name} and B one over {other.semiring.name}: "
                                "their elements have different meanings")

    def _named_by(self, names: tuple[Names, Names], held: Held) -> Matrix:
        """A matrix of other elements over the same algebra, whose columns have names of their own if they are given."""
        rows, columns = names
        return self._with(held, rows, columns, columns is not rows or held.shape[0] != held.shape[1])

    def _operation(self, mine: Held, others: Held) -> Arithmetic:
        """The arithmetic of the elements of two matrices of one dtype; refuses anything that is not an element.

        Raises
        ------
        GraphError
        """
        if others.dtype != mine.dtype:
            raise GraphError(_two_dtypes(mine.dtype, others.dtype))
        S = self.semiring
        found = S.over(mine.dtype)
        for what, held in (("A", mine), ("B", others)):
            if not np.all(found.contains(held.elements)):
                raise GraphError(_outside(what, S))
        return found

    def __eq__(self, other: object) -> np.ndarray:  # type: ignore[override]  # as of arrays
        _, mine, others = self._beside(other, True)
        return mine.compared(others, self._equality(mine, others, other))

    def equals(self, other: Any) -> bool:
        """Return whether two matrices have the same algebra, names and elements.

        Names may be in different orders, and the matrices may be held in different ways.

        Parameters
        ----------
        other : Matrix
            Anything else is not equal.

        Returns
        -------
        bool

        Raises
        ------
        GraphError
            If one matrix has records and the other numbers.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.adjacency([("a", "b", 3.0)], sr.min_plus)
        >>> roads.equals(roads[["b", "a"]]), roads.equals(roads.hold("sparse")), roads.equals(roads.T)
        (True, True, False)
        """
        if not isinstance(other, Operators) or other.semiring is not self.semiring or other.shape != self.shape:
            return False
        for mine, others in ((self.row_names, other.row_names), (self.column_names, other.column_names)):
            if (mine is None) != (others is None) or set(mine or ()) != set(others or ()):
                return False
        _, held, beside = self._beside(other, True)
        return held.same(beside, self._equality(held, beside, other))

    def _equality(self, mine: Held, others: Held, other: Any) -> Compare:
        """What compares the elements of both; raises an error for records and numbers."""
        if bool(mine.dtype.names) != bool(others.dtype.names) and "O" not in (mine.dtype.kind, others.dtype.kind):
            raise GraphError(_two_dtypes(mine.dtype, others.dtype))
        if others.dtype == mine.dtype:
            return _equal
        S, theirs = self.semiring, isinstance(other, Operators)  # limits of different integer dtypes differ
        return lambda x, y: _equal(with_infinities(x, S), with_infinities(y, S) if theirs else y)

    def __ne__(self, other: object) -> np.ndarray:  # type: ignore[override]
        return ~np.asarray(self == other, bool)

    def _named(self, other: Any) -> Any:
        """The other operand of a product; a matrix without names gets those of this one."""
        if isinstance(other, Operators) and other.names is None and self.names is not None and other.n == self.n and (
            self.is_over_vertices and other.is_over_vertices
        ):
            return other._with(other._held, self.names, self.names, False)
        return other

    def _one_at_entries(self, element: np.ndarray) -> Held:
        """One element at the places of this matrix's entries; its product with the others is zero."""
        S = self.semiring
        element, none = (as_declared(x, S) for x in (element.reshape(1), np.empty(0, self.dtype)))
        if element.dtype != none.dtype:
            raise GraphError(_two_dtypes(self.dtype, element.dtype))
        if not np.all(S.over(element.dtype).contains(element)):
            raise GraphError(_outside("B", S))
        entries = self._held.entries()
        return entries.filled(np.repeat(element, len(entries.values)), S)

    def _columns_of(self, frame: Any) -> list[Any] | None:
        """The labels of the columns of a data frame beside a matrix whose columns have names of their own."""
        return None if self.is_over_vertices else column_labels(frame)

    def _beside(self, other: Any, largest: bool | None = None) -> tuple[tuple[Names, Names], Held, Held]:
        """The names of both, of rows and of columns, and the elements of both in one order and in one holder.

        Parameters
        ----------
        other : object
        largest : bool, optional
            Whether that holder is the one which takes the most memory. Default: only where zero does not absorb, so
            that places without an entry need it.
        """
        names, S = (self.row_names, self.column_names), self.semiring
        refuse_table(other, "B")
        if has_labels(other):
            other = self._like(other, None, self._columns_of(other))
        elif (isinstance(other, Named) and not isinstance(other, Operators)) or hasattr(other, "tocoo"):
            raise GraphError(f"a Matrix can be added to and compared with matrices and arrays, but B is a "
                             f"{type(other).__name__}: sr.Matrix(B, S) makes a Matrix of it")
        if not isinstance(other, Operators):
            if isinstance(other, (int, float)) and not isinstance(other, bool):
                array = number(S, other, self.dtype)
            else:
                array = records([other], S)[0] if is_record_of(other, S) else as_elements(other, S)
            if array.shape == self.shape and S.lift is not None and S.lift.takes(array.dtype):
                array = S.lift(array)  # plain weights, as in verbs
            elif S._grows(array.dtype):
                array = array.astype(S.default_dtype)
            if array.shape not in (self.shape, ()):
                raise GraphError(f"A has shape {self.shape} and B has shape {array.shape}")
            if array.shape == () and largest is None and S.absorbs and self.holder != "dense":
                held = self._one_at_entries(array)
            else:
                held = Array(array if self.holder == "dense" else np.broadcast_to(array, self.shape), S)
        else:
            self._refuse_other(other)
            if other.shape != self.shape:
                raise GraphError(f"A has shape {self.shape} and B has shape {other.shape}")
            held = arranged(other._held, *orders(self, other))
            names = both(self, other)
        return names, *together(self._held, held, not S.absorbs if largest is None else largest)


def _equal(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(x == y)


def _outside(what: str, S: Semiring) -> str:
    return f"{what} has entries outside the carrier of {S.name}, {S.notation}{S.how_written}"


def _two_dtypes(mine: np.dtype, others: np.dtype) -> str:
    return f"A is {dtype_text(mine)} and B is {dtype_text(others)}; convert one with .astype(…)"


def refuse_other_algebra(M: Operators, S: Semiring, what: str) -> None:
    """Refuse a matrix over a different algebra, in which other elements mean "no edge".

    Raises
    ------
    SemiringError
        For such a matrix.
    """
    if M.semiring is not S.declared:
        raise SemiringError(
            f"{what} is a matrix over {M.semiring.name}, but S is {S.name}, in which its elements mean something else. "
            f"Leave S out to stay in {M.semiring.name}; sr.from_dense(M, S, absent=M.semiring.zero_in(M.dtype)) "
            "is a matrix of the same edges over S"
        )


def in_order(
    M: Operators, names: Sequence[Any] | None, columns: Sequence[Any] | None = None
) -> tuple[Held, Sequence[Any] | None, Sequence[Any] | None]:
    """The elements of a matrix, and the names of its rows and columns, reordered to given names; its own by default.

    Raises
    ------
    GraphError
        If it has different names.

    Examples
    --------
    >>> import semiring as sr
    >>> in_order(sr.adjacency([("a", "b", 3.0)], sr.min_plus), ["b", "a"])[0].array.tolist()
    [[inf, inf], [3.0, inf]]
    """
    wanted = [as_names(names), as_names(columns)]
    if M.row_names is M.column_names and columns is None:
        wanted[1] = wanted[0]
    found = []
    for new, old, what in zip(wanted, (M.row_names, M.column_names), ("names", "columns"), strict=True):
        found.append(None if new is None or old is None else alignment(new, old, what, "the matrix"))
    down, across = (old if new is None else new for new, old in zip(wanted, (M.row_names, M.column_names), strict=True))
    return arranged(M._held, *found), down, across


def number(S: Semiring, value: float, dtype: np.dtype) -> np.ndarray:
    """A Python number as an element of a dtype, if it does not change; also infinities of integers.

    Raises
    ------
    GraphError
        If the dtype cannot hold it.

    Examples
    --------
    >>> import semiring as sr
    >>> number(sr.min_plus, 5, np.dtype("i4")), number(sr.min_plus, np.inf, np.dtype("i2"))
    (array(5, dtype=int32), array(32767, dtype=int16))
    """
    if dtype.kind not in "biufc" or value != value:
        return as_array(value)
    limits = {x: i for i, x in infinities(S, dtype).items()}
    value = limits.get(value, value)
    if dtype.kind in "fc":
        try:
            with np.errstate(over="ignore"):
                held = np.asarray(value, dtype)
            lost = np.isfinite(value) and not np.isfinite(held)  # rounding is allowed, but not to an infinity
        except (OverflowError, TypeError):  # an integer too large for a float
            lost, held = True, np.empty((), dtype)
        if lost or (held == S.zero and value != S.zero):
            raise GraphError(f"A is {dtype}, which cannot hold {clip_repr(value)}; convert A with .astype(…)")
        return held
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if value != np.floor(value) or not low <= value <= high:
        raise GraphError(f"A is {dtype}, which cannot hold {value!r}; convert A with .astype(…)")
    return np.asarray(int(value), dtype)


def as_array(array: Any) -> np.ndarray:
    """The array of nested lists and the like.

    Raises
    ------
    GraphError
        If they do not form an array.
    """
    if is_foreign(array):
        return array_of(array, "the matrix")
    try:
        return np.asarray(array)
    except (ValueError, TypeError, OverflowError, RuntimeError) as e:
        raise GraphError(f"this is not a matrix: {e}; pass rows of the same length") from None


def as_elements(array: Any, S: Semiring) -> np.ndarray:
    """An array of elements as they are given: masked ones are zero, and in lists tuples are records.

    Raises
    ------
    GraphError
        If they do not form an array, or a record has other components.

    Examples
    --------
    >>> import semiring as sr
    >>> as_elements([[(2.0, 1), (3.0, 4)]], sr.shortest_count)["dist"]
    array([[2., 3.]])
    """
    if is_masked(array):
        return unmasked(array, S)
    first = array
    while isinstance(first, list) and first:
        first = first[0]
    if isinstance(array, list) and ((S.is_record and isinstance(first, tuple)) or S.is_object):
        return records(array, S)
    return as_array(array)


def is_record_of(value: Any, S: Semiring) -> bool:
    """Whether a value is a tuple with one number, or one vector, for each field of an algebra's records.

    Examples
    --------
    >>> import semiring as sr
    >>> [is_record_of(x, sr.shortest_count) for x in ((2.0, 1), ((2.0, 1), (3.0, 4)), (1, 2, 3), 2.0)]
    [True, False, False, False]
    """
    if not (S.fields and isinstance(value, tuple) and len(value) == len(S.fields)):
        return False
    fields = map(np.dtype, S.fields.values())
    return all(isinstance(x, Number) or field.shape for x, field in zip(value, fields, strict=True))


def records(values: list[Any], S: Semiring) -> np.ndarray:
    """Lists of tuples as records, and of objects as they are.

    Raises
    ------
    GraphError
        If a record has other components, or lists differ in length.
    """
    try:
        return S.array(values)
    except (ValueError, TypeError) as e:
        what = f"a tuple ({', '.join(S.fields)})" if S.fields else "an object"
        raise GraphError(f"an element of {S.name} is {what}: {e}") from None


def as_converted(shown: np.ndarray, stored: np.ndarray, dtype: DTypeLike | None, copy: bool | None) -> np.ndarray:
    """The elements for `numpy.asarray`: as they are shown, or in an integer dtype as they are stored.

    Raises
    ------
    ValueError
        If a copy is needed and forbidden.
    """
    whole = dtype is not None and np.dtype(dtype).kind in "iu"
    found = stored if whole else shown
    if copy is False and found is not stored:
        raise ValueError("integers and ∞ become floats, in an array of their own: leave out copy=False")
    return np.array(found, dtype=dtype, copy=copy)
