"""What a `Matrix` can do besides products: sums, parts, functions of its entries, and assignment, all by name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from semiring.algebra.by_name import algebra
from semiring.algebra.laws import sequence
from semiring.algebra.tables import dtype_text
from semiring.errors import GraphError
from semiring.machine.memory import require

from .exports import entries_of, is_absent
from .frames import has_labels
from .operators import Operators, as_array, number
from .order import orders, over_vertices, reordered
from .tables import Elements
from .texts import quoted, with_infinities
from .weights import elements, fitted, refuse_nan

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

    from .matrix import Matrix


class Vocabulary(Operators, Elements):
    """The methods of a `Matrix` that work by element, by row or by column."""

    def _with(self, array: np.ndarray, rows: Any, columns: Any, own: bool | None = None) -> Matrix:
        raise NotImplementedError

    @property
    def nnz(self) -> int:
        """The number of entries other than the algebra's zero."""
        return int(np.count_nonzero(~is_absent(self.array, self.semiring)))

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

    def __contains__(self, key: Any) -> bool:
        """Whether there is a row or a column of this name, or an entry other than zero at (row, column)."""
        if self._is_at(key, 0) or self._is_at(key, 1):
            return True
        if not (isinstance(key, tuple) and len(key) == 2 and self._is_at(key[0], 0) and self._is_at(key[1], 1)):
            return False
        place = self.array[self.index(key[0], 0), self.index(key[1], 1)]
        return not bool(is_absent(np.asarray(place, self.array.dtype), self.semiring))

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
        found: np.ndarray = self._shown(self.array[self.index(name, 0)])
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
        found: np.ndarray = self._shown(self.array[:, self.index(name, 1)])
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
        found: np.ndarray = self._shown(over_vertices(cast("Matrix", self), "A").array.diagonal())
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
        mask : Matrix, data frame or array_like of bool, of the same shape
            In a `Matrix` the entries other than the zero of its algebra are true; names are aligned.
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
        kept = self._mask(mask)
        return self._kept(~kept if complement else kept)

    def _mask(self, mask: Any) -> NDArray[np.bool_]:
        """Which entries a mask selects, in the order of this matrix."""
        if has_labels(mask):
            mask = self._like(mask, None)
        if isinstance(mask, Operators):
            found = ~is_absent(mask.array, mask.semiring)
            if found.shape == self.array.shape:
                found = reordered(found, *orders(self, mask))
        else:
            found = as_array(mask)
            if found.dtype != bool:
                raise GraphError(f"a mask is an array of bool or a Matrix, and this one is {dtype_text(found.dtype)}: "
                                 "compare its elements, such as mask != 0")
        if found.shape != self.array.shape:
            raise GraphError(f"A has shape {self.array.shape} and the mask {found.shape}")
        return found

    def _kept(self, kept: NDArray[np.bool_]) -> Matrix:
        array = np.empty(self.array.shape, self.array.dtype)
        array.fill(self.semiring.zero_in(array.dtype))
        array[kept] = self.array[kept]
        return self._with(array, self.row_names, self.column_names)

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
        kept = ~is_absent(self.array, self.semiring)
        found = self._applied(condition, kept, "condition")
        if found.dtype != bool:
            raise GraphError(f"condition must return an array of bool, and returned {dtype_text(found.dtype)}")
        kept[kept] = found
        return self._kept(kept)

    def map(self, function: Callable[[np.ndarray], Any], semiring: Semiring | str | None = None) -> Matrix:
        """Apply a function to the entries other than zero; zero stays zero.

        Parameters
        ----------
        function : callable
            It takes an array of the entries other than zero, ∞ as a float, and returns an array of as many elements.
            For algebras of Python objects it takes and returns one object.
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
        stored = ~is_absent(self.array, self.semiring)
        found = self._applied(function, stored, "function", S.is_object)
        place = self._entry(stored)
        refuse_nan(found, place)
        return self._filled(stored, elements(S, found, None, place), S)

    def _applied(
        self, function: Callable[[Any], Any], stored: NDArray[np.bool_], what: str, to_objects: bool = False
    ) -> np.ndarray:
        """The results of a function on some entries."""
        values = with_infinities(self.array[stored], self.semiring)
        if to_objects or self.semiring.is_object:
            results = [function(value) for value in values.tolist()]
            plain = what == "condition" or not to_objects
            return np.array(results, bool if what == "condition" else None) if plain else sequence(
                results, np.dtype(object))
        found = as_array(function(values))
        if found.shape != values.shape:
            raise GraphError(f"{what} must return one result for each of the {len(values)} entries, and returned an "
                             f"array of shape {found.shape}")
        return found

    def _entry(self, stored: NDArray[np.bool_]) -> Callable[[int], str]:
        """The name of an entry in messages, by its number among those that are stored."""
        down, across = self._ends

        def entry(i: int) -> str:
            row, column = (int(x[i]) for x in np.nonzero(stored))
            return f"entry ({quoted(down[row])}, {quoted(across[column])})"

        return entry

    def _filled(self, stored: NDArray[np.bool_], values: np.ndarray, S: Semiring) -> Matrix:
        """A matrix with these entries, and zero elsewhere."""
        array = np.empty(stored.shape, values.dtype)
        array.fill(S.zero_in(array.dtype))
        array[stored] = values
        array = array.view(S.with_vectors(array.dtype)) if S.is_record else array
        found = self._with(array, self.row_names, self.column_names)
        found.semiring = S
        return found

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
        S, stored = self.semiring, ~is_absent(self.array, self.semiring)
        target = S.resolve_dtype(np.dtype(dtype))
        values = fitted(S, self.array[stored], target, self._entry(stored))
        if len(values) and np.any(is_absent(values, S)):
            i = int(np.argmax(is_absent(values, S)))
            raise GraphError(f"{self._entry(stored)(i)}: the weight {with_infinities(self.array[stored], S)[i]} would "
                             f"become the zero of {S.name} in {dtype_text(target)}: pass another dtype")
        return self._filled(stored, values, S)

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
        T = self._operation(self.array, B.array)
        (m, n), (p, q) = self.array.shape, B.array.shape
        require(m * n * p * q * self.array.itemsize, f"a {m * p} × {n * q} matrix of {dtype_text(self.array.dtype)}")
        array = np.asarray(T.mul(self.array[:, None, :, None], B.array[None, :, None, :])).reshape(m * p, n * q)
        rows, columns = ([(a, b) for a in mine for b in others] if named else None for mine, others, named in zip(
            self._ends, B._ends, (self.row_names or B.row_names, self.column_names or B.column_names), strict=True))
        own = not (self.is_over_vertices and B.is_over_vertices)
        return self._with(array, rows, columns, own)

    def __setitem__(self, key: Any, value: Any) -> None:
        rows, columns = self._places(key)
        if not self.array.flags.writeable:
            raise GraphError("the array of this Matrix is read-only: make a Matrix of a copy of it")
        S, dtype = self.semiring, self.array.dtype
        at: Any = (rows, columns)
        if isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray):
            at = np.ix_(rows, columns)
        part = np.broadcast_to(False, self.array.shape)[at].shape
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            given = number(S, value, dtype) if S.lift is None or not dtype.names else self._weights([[value]])[0, 0]
        elif isinstance(value, Operators) or has_labels(value):
            B = value if isinstance(value, Operators) else self._like(value, None)
            self._refuse_other(B)
            inside = cast(Any, self)[key]
            if not isinstance(inside, Operators) or inside.shape != B.shape:
                raise GraphError(f"the entries that are set have shape {part}, and the Matrix {B.array.shape}: "
                                 "a Matrix is set to as many rows and columns, called by lists of names")
            given = reordered(B.array, *orders(inside, B))
        elif S.is_object and part == ():
            given = sequence([value], np.dtype(object))[0]
        else:
            given = self._weights(value)
        if getattr(given, "dtype", dtype) != dtype:
            given = fitted(S, np.asarray(given), dtype, lambda i: f"element {i}")
        if not np.all(S.over(dtype).contains(np.asarray(given, dtype))):
            raise GraphError(f"the value is outside the carrier of {S.name}, {S.notation}{S.how_written}")
        try:
            self.array[at] = given
        except ValueError:
            raise GraphError(f"the entries that are set have shape {part}, and the value "
                             f"{np.shape(given)}") from None

    def _weights(self, value: Any) -> np.ndarray:
        """Elements as an array; plain numbers of an algebra of records are lifted."""
        S = self.semiring
        if isinstance(value, tuple) and S.is_record:
            return np.asarray(S.array([value])[0])
        array = as_array(value)
        return S.lift(array) if S.lift is not None and S.lift.takes(array.dtype) else array
