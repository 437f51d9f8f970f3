"""What a `Matrix` can do besides products: sums, parts, functions of its entries, and assignment, all by name."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike

from semiring.algebra.by_name import algebra
from semiring.algebra.catalogue import boolean
from semiring.algebra.elements import sequence
from semiring.algebra.masks import is_masked
from semiring.algebra.tables import dtype_text
from semiring.errors import GraphError

from .axes import selected
from .exports import entries_of, is_absent
from .frames import has_labels
from .held import Array, Held, Stored, arranged
from .holders import comes_by_entries, converted, marked, together
from .names import refuse_table
from .operators import Operators, as_array, as_elements, number, records
from .order import by_labels, labels_along, orders, over_vertices
from .tables import Elements
from .texts import count_text, quoted, with_infinities
from .weights import elements, fitted, refuse_nan

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

    from .matrix import Matrix


class Vocabulary(Operators, Elements):
    """The methods of a `Matrix` that work by element, by row or by column."""

    @property
    def nnz(self) -> int:
        """The number of entries other than the algebra's zero."""
        return self._held.count()

    def hold(self, kind: str) -> Matrix:
        """Return the same matrix with its elements kept in another way.

        Parameters
        ----------
        kind : {"dense", "sparse", "packed"}
            "dense": all elements, in an array. "sparse": those other than zero, in compressed rows. "packed": truth
            values over `boolean`, one bit each.

        Returns
        -------
        Matrix
            With the same names; if both are dense, they share the elements.

        Raises
        ------
        GraphError
            For another kind, and for bits of elements that are not of dtype bool.
        SemiringError
            For bits over another algebra, and if the elements do not fit in memory.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.adjacency([("a", "b", 3.0)], sr.min_plus).hold("sparse")
        >>> roads.holder, (roads @ roads).holder, roads.hold("dense").array.shape
        ('sparse', 'sparse', (2, 2))
        """
        return self._with(converted(self._held, kind), self.row_names, self.column_names)

    def copy(self) -> Matrix:
        """Return the same matrix with elements of its own, held in the same way.

        Returns
        -------
        Matrix

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.adjacency([("a", "b", 3.0)], sr.min_plus)
        >>> shorter = roads.copy()
        >>> shorter["a", "b"] = 1.0
        >>> float(roads["a", "b"]), float(shorter["a", "b"])
        (3.0, 1.0)
        """
        return cast("Matrix", copy.copy(self))

    def __iter__(self) -> Iterator[np.ndarray]:
        if self.holder == "dense":
            return super().__iter__()
        return (self._shown(self._held.at(i, slice(None))) for i in range(self.n))

    def edges(self) -> Iterator[tuple[Any, Any, Any]]:
        """Iterate over the entries other than the algebra's zero, row by row.

        Yields
        ------
        tuple
            (row, column, weight), by name if there are names. Weights are Python numbers, records tuples.

        Examples
        --------
        >>> import semiring as sr
        >>> list(sr.adjacency([("a", "b", 3.0), ("b", "a", 0.0)], sr.min_plus).edges())
        [('a', 'b', 3.0), ('b', 'a', 0.0)]
        """
        rows, columns, values = entries_of(self)
        down, across = self._ends
        yield from zip((down[i] for i in rows.tolist()), (across[j] for j in columns.tolist()), values.tolist(),
                       strict=True)

    def _title(self) -> str:
        kept = "" if self.holder == "dense" else f", {self.holder}, {count_text(self.nnz, 'entry', 'entries')}"
        return super()._title() + kept

    def __contains__(self, key: Any) -> bool:
        """Whether there is a row or a column of this name, or an entry other than zero at (row, column)."""
        if self._is_at(key, 0) or self._is_at(key, 1):
            return True
        if not (isinstance(key, tuple) and len(key) == 2 and self._is_at(key[0], 0) and self._is_at(key[1], 1)):
            return False
        places = (np.array([self.index(name, axis)]) for axis, name in enumerate(key))
        return bool(self._held.has(*places)[0])

    def _is_at(self, name: Any, axis: int) -> bool:
        try:
            self.index(name, axis)
        except GraphError:
            return False
        return True

    def row(self, name: Hashable) -> np.ndarray:
        """Return the elements of a row, in the order of the columns.

        Parameters
        ----------
        name : hashable
            The row's name; its position, if rows have no names.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        GraphError
            If there is no such row; the message suggests a similar name.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.adjacency([("a", "b", 3.0)], sr.min_plus).row("a")
        array([inf,  3.])
        """
        found: np.ndarray = self._shown(self._held.at(self.index(name, 0), slice(None)))
        return found

    def column(self, name: Hashable) -> np.ndarray:
        """Return the elements of a column, in the order of the rows.

        Parameters
        ----------
        name : hashable
            The column's name; its position, if columns have no names.

        Returns
        -------
        ndarray, shape (m,)

        Raises
        ------
        GraphError
            If there is no such column; the message suggests a similar name.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.adjacency([("a", "b", 3.0)], sr.min_plus).column("b")
        array([ 3., inf])
        """
        found: np.ndarray = self._shown(self._held.at(slice(None), self.index(name, 1)))
        return found

    def diagonal(self) -> np.ndarray:
        """Return the elements from each vertex to itself.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        GraphError
            If rows and columns are not the same vertices.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.adjacency([("a", "a", 3.0), ("a", "b", 1.0)], sr.min_plus).diagonal()
        array([ 3., inf])
        """
        found: np.ndarray = self._shown(over_vertices(cast("Matrix", self), "A")._held.diagonal())
        return found

    def sum(self, axis: int | tuple[int, ...] | None = None) -> Any:
        """Combine elements with ⊕: all of them, or those of each column or row.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes that go, as in `Semiring.sum`. Default: both. 0: over the rows, one element for each column. 1 or
            −1: over the columns, one element for each row.

        Returns
        -------
        element, or ndarray of shape (n,) or (m,)
            The algebra's zero if there is nothing to combine.

        Raises
        ------
        SemiringError
            If an axis is out of bounds or given twice, an entry is not an element, or a sum of integers leaves the
            dtype.

        Notes
        -----
        The sum is that of `Semiring.sum`, which states its rounding error.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.adjacency([("a", "b", 3.0), ("a", "c", 2.0), ("b", "c", 4.0)], sr.min_plus)
        >>> roads.sum(axis=1), float(roads.sum())
        (array([ 2.,  4., inf]), 2.0)
        """
        return self.semiring.sum(self, axis)

    def where(self, mask: Any, complement: bool = False) -> Matrix:
        """Keep the entries where a mask is true; the others become the algebra's zero.

        Parameters
        ----------
        mask : Matrix, graph, sparse matrix, packed matrix, data frame or array_like of bool, of the same shape
            In a `Matrix` the entries other than the zero of its algebra are true, and in a graph or a sparse matrix
            those that are stored; names are aligned.
        complement : bool
            True: keep the entries where the mask is false.

        Returns
        -------
        Matrix
            With the same names and dtype.

        Raises
        ------
        GraphError
            If the mask has a different shape, different names, or is an array of anything but bool.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.adjacency([("a", "b", 3.0), ("b", "a", 4.0)], sr.min_plus)
        >>> list(roads.where([[False, True], [False, False]]).edges())
        [('a', 'b', 3.0)]
        """
        return self._of(self._held.where(self._mask(mask), complement))

    def _of(self, held: Held) -> Matrix:
        """A matrix of other elements, perhaps over another algebra, with the same names."""
        found = self._with(held, self.row_names, self.column_names)
        found.semiring = held.S
        return found

    def _mask(self, mask: Any) -> Held:
        """The entries that a mask selects, in the order of this matrix."""
        frame = has_labels(mask)
        if frame:
            mask = self._over(boolean, mask, self._columns_of(mask))
        elif comes_by_entries(mask):
            held, rows, columns = marked(mask)
            mask = self._with(held, rows, columns, rows is not columns)
        elif not isinstance(mask, Operators):
            mask = as_array(mask.filled(False) if is_masked(mask) and mask.dtype == bool else mask)
        named = isinstance(mask, Operators)
        if mask.dtype != bool and (frame or not named):
            raise GraphError("a mask is an array of bool, a sparse matrix, a graph or a Matrix, and this "
                             f"{'data frame' if frame else 'one'} is {dtype_text(mask.dtype)}: compare its elements, "
                             "such as mask != 0")
        if mask.shape != self.shape:
            raise GraphError(f"A has shape {self.shape} and the mask {mask.shape}")
        return arranged(mask._held, *orders(self, mask)) if named else Array(mask, boolean)

    def select(self, condition: Callable[[np.ndarray], Any]) -> Matrix:
        """Keep the entries whose weights satisfy a condition.

        The others become the algebra's zero.

        Parameters
        ----------
        condition : callable
            It takes an array of the entries other than zero, ∞ as a float, and returns an array of bool. For algebras
            of Python objects it takes one object.

        Returns
        -------
        Matrix
            With the same names and dtype.

        Raises
        ------
        GraphError
            If the function does not return one truth value for each entry.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.adjacency([("a", "b", 3.0), ("b", "a", 7.0)], sr.min_plus)
        >>> list(roads.select(lambda w: w < 5).edges())
        [('a', 'b', 3.0)]
        """
        entries = self._held.entries()
        found = self._applied(condition, entries, "condition")
        if found.dtype != bool:
            raise GraphError(f"condition must return an array of bool, and returned {dtype_text(found.dtype)}")
        return self._of(entries.kept(found))

    def map(self, function: Callable[[np.ndarray], Any], semiring: Semiring | str | None = None) -> Matrix:
        """Apply a function to the entries other than zero; zero stays zero.

        Parameters
        ----------
        function : callable
            It takes an array of the entries other than zero, ∞ as a float, and returns an array of as many elements,
            or a list; records are tuples there. For algebras of Python objects it takes and returns one object.
        semiring : Semiring or str, optional
            The algebra of the answer. Default: the same.

        Returns
        -------
        Matrix
            With the same names, in the dtype of the results.

        Raises
        ------
        GraphError
            If the function does not return one element for each entry.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.adjacency([("a", "b", 3.0), ("b", "a", 7.0)], sr.min_plus)
        >>> list(roads.map(lambda w: 2 * w).edges())
        [('a', 'b', 6.0), ('b', 'a', 14.0)]
        >>> list(roads.map(lambda w: -w, sr.max_plus).edges())
        [('a', 'b', -3.0), ('b', 'a', -7.0)]
        """
        S = self.semiring if semiring is None else algebra(semiring)
        entries = self._held.entries()
        found = self._applied(function, entries, "function", S.is_object, S if S.is_record else None)
        place = self._entry(entries)
        refuse_nan(found, place)
        return self._of(entries.filled(elements(S, found, None, place), S))

    def _applied(
        self, function: Callable[[Any], Any], entries: Stored, what: str, to_objects: bool = False,
        of: Semiring | None = None,
    ) -> np.ndarray:
        """The results of a function on the entries."""
        values = with_infinities(entries.values, self.semiring)
        if np.may_share_memory(values, entries.values):
            values = values.copy()  # the function may write there
        if to_objects or self.semiring.is_object:
            each = [function(value) for value in values.tolist()]
            plain = what == "condition" or not to_objects
            return np.array(each, bool if what == "condition" else None) if plain else sequence(each, np.dtype(object))
        results = function(values)
        if of is not None and isinstance(results, list) and any(isinstance(x, tuple) for x in results):
            results = records(results, of)
        found = as_array(results)
        if found.shape != values.shape:
            raise GraphError(f"{what} must return one result for each of the {len(values)} entries, and returned an "
                             f"array of shape {found.shape}")
        return found

    def _entry(self, entries: Stored) -> Callable[[int], str]:
        """The name of an entry in messages, by its number."""
        down, across = self._ends

        def entry(i: int) -> str:
            row, column = (int(x[i]) for x in entries.places())
            return f"entry ({quoted(down[row])}, {quoted(across[column])})"

        return entry

    def astype(self, dtype: DTypeLike) -> Matrix:
        """Convert the elements to another dtype; ∞ stays ∞.

        Parameters
        ----------
        dtype : dtype or what `numpy.dtype` takes
            A shorter float may round.

        Returns
        -------
        Matrix
            With the same names.

        Raises
        ------
        GraphError
            If an element does not fit: a fraction or a large number in integers, a number that would become ∞ or the
            algebra's zero.
        SemiringError
            If the algebra cannot live in the dtype.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.adjacency([("a", "b", 3.0)], sr.min_plus).astype("i4").array.tolist()
        [[2147483647, 3], [2147483647, 2147483647]]
        """
        S, entries = self.semiring, self._held.entries()
        target = S.resolve_dtype(np.dtype(dtype))
        values = fitted(S, entries.values, target, self._entry(entries))
        if len(values) and np.any(is_absent(values, S)):
            i = int(np.argmax(is_absent(values, S)))
            raise GraphError(f"{self._entry(entries)(i)}: the weight {with_infinities(entries.values, S)[i]} would "
                             f"become the zero of {S.name} in {dtype_text(target)}: pass another dtype")
        return self._of(entries.filled(values, S))

    def kron(self, other: Any) -> Matrix:
        """Return the Kronecker product: element ((a, c), (b, d)) is A[a, b] ⊗ B[c, d].

        Parameters
        ----------
        other : Matrix, data frame or array_like, shape (p, q)
            B, over the same algebra and in the same dtype.

        Returns
        -------
        Matrix
            Names are pairs of names, if A or B has names; positions stand for missing names.

        Raises
        ------
        GraphError
            If the dtypes differ, or an entry is not an element.
        SemiringError
            For a matrix over a different algebra, and if the answer does not fit in memory.

        Examples
        --------
        >>> import semiring as sr
        >>> lines = sr.adjacency([("a", "b", 3.0)], sr.min_plus).kron(sr.adjacency([("x", "y", 1.0)], sr.min_plus))
        >>> list(lines.edges())
        [(('a', 'x'), ('b', 'y'), 4.0)]
        """
        B = other if isinstance(other, Operators) else self._like(other, None)
        self._refuse_other(B)
        mine, others = together(self._held, B._held, not self.semiring.absorbs)
        held = mine.kron(others, self._operation(mine, others))
        rows, columns = (
            None if a is b is None else [(x, y) for x in mine for y in others] for a, b, mine, others in zip(
                (self.row_names, self.column_names), (B.row_names, B.column_names), self._ends, B._ends, strict=True))
        own = not (self.is_over_vertices and B.is_over_vertices)
        return self._with(held, rows, columns, own)

    def __setitem__(self, key: Any, value: Any) -> None:
        refuse_table(value, "the value")
        rows, columns = self._places(key)
        S, dtype = self.semiring, self.dtype
        part = tuple(len(np.arange(size)[place]) for size, place in zip(self.shape, (rows, columns), strict=True)
                     if not isinstance(place, int))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            given = number(S, value, dtype) if S.lift is None or not dtype.names else self._weights([[value]])[0, 0]
        elif isinstance(value, Operators) or has_labels(value) or comes_by_entries(value):
            inside = cast("Matrix", self)
            inside = inside if len(part) < 2 else inside._part(rows, columns)
            B = value if isinstance(value, Operators) else self._like(value, None, inside._columns_of(value))
            self._refuse_other(B)
            if part != B.shape:
                raise GraphError(f"the entries that are set have shape {part}, and the Matrix {B.shape}: "
                                 "a Matrix is set to as many rows and columns, called by lists of names or slices")
            given = arranged(B._held, *orders(inside, B)).all()
        elif S.is_object and part == ():
            given = sequence([value], np.dtype(object))[0]
        else:
            given = self._weights(value)
            if len(part) == 1 and (labels := labels_along(value)) is not None:
                axis = int(isinstance(rows, int))
                names = selected((self.row_names, self.column_names)[axis], self.shape[axis], (rows, columns)[axis])
                order = by_labels(names, labels, "A", "the value")
                given = given if order is None else given[order]
        if getattr(given, "dtype", dtype) != dtype:
            given = fitted(S, np.asarray(given), dtype, lambda i: f"element {i}")
        if not np.all(S.over(dtype).contains(np.asarray(given, dtype))):
            raise GraphError(f"the value is outside the carrier of {S.name}, {S.notation}{S.how_written}")
        try:
            self._held = self._held.put(rows, columns, given)
        except GraphError:
            raise
        except ValueError:
            raise GraphError(f"the entries that are set have shape {part}, and the value "
                             f"{np.shape(given)}") from None

    def _weights(self, value: Any) -> np.ndarray:
        """Elements as an array; plain numbers of an algebra of records are lifted."""
        S = self.semiring
        if isinstance(value, tuple) and S.is_record:
            return np.asarray(records([value], S)[0])
        array = as_elements(value, S)
        return S.lift(array) if S.lift is not None and S.lift.takes(array.dtype) else array
