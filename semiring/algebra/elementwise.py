"""An algebra's operations on arrays and nested lists, element by element, and arrays of its elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.machine.memory import require

from .arguments import whole_number
from .arithmetic import Arithmetic
from .carried import Carried
from .constants import cast_constant
from .elements import full, sequence, show
from .given import array_of, carrying, in_dtype, refuse_kinds, refuse_outside, refuse_shapes
from .verbs import verb

PAIRWISE = "shapes.sums.pairwise.pairwise"
PAIRED = "graphs.order.paired"
LABELLED = "graphs.dims.by_element"
LABELS = ("row_names", "iloc", "coords")  # attributes of matrices, data frames and arrays of xarray
SIGNS = {"add": "⊕", "mul": "⊗"}
_UNCHECKED_BYTES = 1 << 26  # allocations of more bytes are checked against free memory


class Elementwise(Carried):
    """The part of `Semiring` that computes element by element."""

    def array(self, values: Any, dtype: Any = None) -> np.ndarray:
        """Make an array of elements from nested lists.

        Tuples are records, and objects stay whole.

        Parameters
        ----------
        values : sequence or array
            Nested lists, of any shape; for objects one list, or a list of lists for a matrix.
        dtype : dtype or what `numpy.dtype` takes, optional
            Default: `element_dtype`.

        Returns
        -------
        ndarray, of the shape of the lists
            It is not checked whether the values are elements.

        Raises
        ------
        ValueError, TypeError
            From NumPy: if lists differ in length, or a value does not fit the dtype.
        SemiringError
            If no dtype is given and the algebra has no default.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.shortest_hops.array([[(0.0, 0), (2.5, 1)]])["cost"]
        array([[0. , 2.5]])
        """
        dtype = np.dtype(dtype) if dtype is not None else self.element_dtype
        if dtype.kind != "O" or not isinstance(values, (list, tuple)):
            return np.array(values, dtype)
        if values and all(isinstance(row, list) for row in values):
            return np.stack([sequence(row, dtype) for row in values])
        return sequence(values, dtype)

    def eye(self, n: int, dtype: Any = None) -> np.ndarray:
        """Return the n × n identity matrix: one on the diagonal, zero elsewhere.

        Parameters
        ----------
        n : int
            The number of rows and columns.
        dtype : dtype or what `numpy.dtype` takes, optional
            Default: `element_dtype`.

        Returns
        -------
        ndarray, shape (n, n)

        Raises
        ------
        SemiringError
            If n is not a whole number, or negative; the algebra cannot live in the dtype; or n² elements do not
            fit in memory.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.eye(2)
        array([[ 0., inf],
               [inf,  0.]])
        """
        n = whole_number(n, "n", 0)
        S = self.over(dtype if dtype is not None else self.default_dtype)
        if n * n * S.dtype.itemsize > _UNCHECKED_BYTES:
            require(n * n * S.dtype.itemsize, f"a {n} × {n} identity matrix of {S.dtype}")
        result = full(np.empty((n, n), S.dtype), S.zero)
        for i in range(n):
            result[i, i] = S.one
        return result.view(self.with_vectors(S.dtype)) if self.fields else result

    def add(self, x: Any, y: Any) -> Any:
        """Return x ⊕ y, element by element, in the dtype of x.

        Parameters
        ----------
        x, y : array_like
            Elements, of any shapes that broadcast; tuples are records. Python objects are in lists, or alone. If both
            have labels, as matrices, data frames and series have, y is put into the order of x.

        Returns
        -------
        ndarray, of the shape that both broadcast to, or scalar
            Of the dtype of x; of the default dtype if the algebra lacks that one and it is a dtype of plain numbers
            (float64, int64 or bool). If an operand is a DataArray of xarray, so is the answer, and axes of two are
            matched by the names of their dimensions.

        Raises
        ------
        SemiringError
            If the algebra cannot live in the dtype of x, an element or a result does not fit it, something is not an
            element, or the shapes do not broadcast.

        Notes
        -----
        Floats are rounded as `Semiring` says: not at all if ⊕ is min or max.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.add([1.0, 5.0], [3.0, 4.0])
        array([1., 4.])
        """
        return self._on_arrays("add", x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """Return x ⊗ y, element by element, in the dtype of x; zero absorbs.

        Parameters
        ----------
        x, y : array_like
            Elements, of any shapes that broadcast; tuples are records. Python objects are in lists, or alone. If both
            have labels, as matrices, data frames and series have, y is put into the order of x.

        Returns
        -------
        ndarray, of the shape that both broadcast to, or scalar
            Of the dtype of x; of the default dtype if the algebra lacks that one and it is a dtype of plain numbers
            (float64, int64 or bool). If an operand is a DataArray of xarray, so is the answer, and axes of two are
            matched by the names of their dimensions.

        Raises
        ------
        SemiringError
            If the algebra cannot live in the dtype of x, or an element or a result does not fit it: for example a
            sum of integers under min or max that would reach a limit, which stands for ∞. If something is not an
            element, or the shapes do not broadcast.

        Notes
        -----
        Floats are rounded as `Semiring` says: once if ⊗ is + or ×, not at all if it is min or max.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.mul([1.0, 5.0], [3.0, float("inf")])
        array([ 4., inf])
        """
        return self._on_arrays("mul", x, y)

    def star(self, x: Any) -> Any:
        """Return x* = 1 ⊕ x ⊕ x² ⊕ …, element by element.

        Parameters
        ----------
        x : array_like, any shape
            Elements; tuples are records. Python objects are in lists, or alone.

        Returns
        -------
        ndarray, of the shape of x, or scalar
            Of the dtype of x; of the default dtype if the algebra lacks that one and it is a dtype of plain numbers
            (float64, int64 or bool). A DataArray of xarray gives one.

        Raises
        ------
        SemiringError
            If the star does not exist, or the algebra cannot live in the dtype of x.

        Notes
        -----
        Floats are rounded as `Semiring` says: in plus-times 1 / (1 − x) rounds twice.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.plus_times.star([0.5, 0.75])
        array([2., 4.])
        """
        if hasattr(type(x), "coords") and hasattr(x, "to_numpy"):  # an array of xarray
            return verb(LABELLED)(self.star(x.to_numpy()), x)
        array, S = self._elements(x)
        defined = S.defined(array)
        if not np.all(defined):
            bad = array[~defined].flat[0] if array.ndim else array[()]
            hint = "" if self._algebra.declares_star else "; if the sum of its powers is known, declare it with star="
            raise SemiringError(f"{self.name}: the star of {show(bad)} does not exist{hint}")
        return self._written(self._as_given(S.star(array), x), array)

    def _on_arrays(self, op: str, x: Any, y: Any) -> Any:
        if type(x) is np.ndarray and (found := verb(PAIRWISE)(self, op, x, y)) is not None:
            return found
        if any(hasattr(A, name) for A in (x, y) for name in LABELS):
            return verb(LABELLED)(self._combined(op, *verb(PAIRED)(self._algebra, x, y)), x, y)
        return self._combined(op, x, y)

    def _combined(self, op: str, x: Any, y: Any) -> Any:
        a, S = self._elements(x)
        b, _ = self._elements(y, S.dtype, "y")
        refuse_shapes(self._algebra, a, b)
        if S.dtype != object:
            return self._written(self._as_given(getattr(S, op)(a, b), x, y), a, b)
        refuse_kinds(self._algebra, a, b)
        try:
            return self._written(getattr(S, op)(a, b), a, b)
        except (TypeError, OverflowError) as e:  # of Python's operators, or a function of the algebra
            raise SemiringError(f"{self.name}: {SIGNS[op]} is not defined for these objects together: {e}") from e

    def _as_given(self, result: Any, *given: Any) -> Any:
        """Convert integers that stand for ∞ to floats, if the operands were Python numbers, not integer arrays."""
        numbers = isinstance(result, (np.ndarray, np.generic)) and result.dtype.kind in "iu"
        if not numbers or any(isinstance(x, (np.ndarray, np.generic)) for x in given):
            return result
        floats = next((d for d in self.dtypes if d.kind == "f"), None)
        ends = [] if floats is None else [x for x in (math.inf, -math.inf) if self.over(floats).contains(np.array(x))]
        endless = {x: result == cast_constant(x, result.dtype) for x in ends}
        if not any(where.any() for where in endless.values()):
            return result
        made = np.asarray(result, float)
        for x, where in endless.items():
            made = np.where(where, x, made)
        return made

    def _written(self, result: Any, *given: np.ndarray) -> Any:
        """Elements as users write them: vectors are fields, a single element is a scalar, an array is a new one."""
        if not isinstance(result, np.ndarray):
            return result
        if not result.flags.writeable or any(np.may_share_memory(result, x) for x in given):
            result = result.copy()  # a broadcast view, or an operand itself
        return (result.view(self.with_vectors(result.dtype)) if self.fields else result)[()]

    def _elements(self, x: Any, dtype: Any = None, what: str = "x") -> tuple[np.ndarray, Arithmetic]:
        array = array_of(self._algebra, x, what)
        S = self.over(dtype if dtype is not None else carrying(array.dtype, self._algebra, what, literal=True))
        if self.traced is None and not np.all(inside := S.contains(array)):
            bad = array[~np.asarray(inside)].flat[0] if array.ndim else array[()]
            raise SemiringError(f"{self.name}: {what} has {show(bad)}, which is not an element")
        array = in_dtype(self._algebra, array, S.dtype, what)
        if self.traced is not None and not np.all(inside := S.contains(array)):
            refuse_outside(self._algebra, array, np.asarray(inside, bool), what)
        return array, S

    def _home(self, dtype: np.dtype) -> np.dtype:
        """The dtype of data, or the default one for plain Python numbers that became int64 or float64."""
        try:
            return self.promoted(dtype)
        except SemiringError:
            if dtype in (np.dtype("i8"), np.dtype("f8"), np.dtype("?")):
                return self.default_dtype
            raise
