"""A matrix over an algebra whose rows and columns have names."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike

from semiring.algebra.by_name import algebra
from semiring.algebra.verbs import verb
from semiring.errors import GraphError
from semiring.graphs.axes import Names, is_list, selected
from semiring.graphs.dataarrays import dataarray_of
from semiring.graphs.exports import networkx_of, sparse_of
from semiring.graphs.frames import has_labels, labelled, library_of
from semiring.graphs.held import Array, Held, Place
from semiring.graphs.holders import comes_by_entries, read_entries
from semiring.graphs.names import as_names, refuse_table
from semiring.graphs.operators import Operators, as_elements, in_order, refuse_other_algebra
from semiring.graphs.order import over_vertices
from semiring.graphs.vocabulary import Vocabulary

if TYPE_CHECKING:
    from networkx import DiGraph
    from scipy.sparse import csr_array

    from semiring.algebra.semiring import Semiring
    from semiring.kernels.cpu.bits.matrix import PackedMatrix


class Matrix(Vocabulary):
    """A matrix over an algebra whose rows and columns are called by name.

    `M[a, b]` is the element from a to b, `M[a]` a row, `M[:, b]` a column; rows and columns are called by name if
    they have names, else by position. (A tuple that is itself a name selects that row.) `M[[a, b]]` is the matrix of
    these vertices alone, and `M[[a, b], [c]]` that of these rows and columns; arrays and series of names do as well as
    lists. ``M[a, b] = w`` sets elements.

    A square matrix is one over vertices: its rows and columns have the same names, and it has a closure. With
    ``columns=`` its columns have names of their own, and it may have any shape.

    Operators compute over the matrix's algebra: `A @ B` is the product, `A ** k` a power; element by element, `A | B`
    is the sum ⊕ and `A * B` the product ⊗. `A == B` compares element by element, like arrays, and returns an array of
    bool; `(A == B).all()` says whether all are equal. If both matrices have names, the names must be the same, and B is
    put into the order of A; in `A @ B` these are the columns of A and the rows of B. Operands without names, such as
    arrays, are matched by position. The answer has the names. A matrix over a different algebra is refused.

    What comes in decides how elements are kept. Arrays are dense. Sparse matrices and graphs stay sparse: an entry that
    is not stored is the algebra's zero, and a stored number 0 is an element like any other. Packed matrices stay
    packed. Methods and operators give the same answers for all; those of sparse matrices are sparse, and those of
    packed ones packed. If two are kept differently, `A | B` is dense if one of them is, else sparse, and `A * B` and
    `A.kron(B)` are sparse. `A @ B` is packed if one of them is; else it is dense unless both are sparse. `hold` changes
    how elements are kept. `A.equals(B)` is one truth value: the same algebra, names and elements. Setting elements of a
    sparse or packed matrix takes time for all its entries.

    NumPy's functions for these operators, such as `numpy.matmul`, compute over the algebra, and so do `numpy.sum`,
    `numpy.kron` and a ufunc that is the algebra's ⊕. Functions that move or compare elements treat the matrix as an
    array; several matrices with names are put into the order of the first. All others would compute over the real
    numbers (`numpy.add` in min-plus, `numpy.dot`, `numpy.linalg`, …) and are refused. So is a data frame or a series of
    pandas on the left of ``@``, because its products are over the reals: write ``sr.Matrix(frame, S) @ M``, or
    ``sr.matmul(frame, M)``.

    Parameters
    ----------
    array : array_like, sparse matrix, graph or packed matrix, shape (m, n)
        Elements of the algebra; an array is kept, not copied, and memory of the others may be shared. Entries of a
        sparse matrix at one place combine with ⊕, and so do parallel edges of a graph, whose names are kept. Masked
        entries become the algebra's zero. The index and the columns of a pandas data frame, and the coordinates of a
        DataArray of xarray, are the names: those of vertices, in the order of the rows, unless they are all different.
        A matrix must be over the same algebra and keeps its names.
    semiring : Semiring or str
    names : sequence of hashable, optional
        One for each vertex, or for each row, all different. If the array has names: the new order.
    library : {None, "pandas", "polars", "pyarrow"}
        The library of the data frames that `to_frame` makes. Default: that of the data frame which was passed.
    columns : sequence of hashable, optional
        One name for each column, all different. If the array has names: the new order. Default: `names`, if the array
        is square.

    Attributes
    ----------
    holder : {"dense", "sparse", "packed"}
        How the elements are kept.
    array : ndarray, shape (m, n)
        The elements as stored, of a dense matrix; the others have none, and raise an error. In integers the limits of
        the dtype stand for ±∞. When they are read, by ``M[a, b]``, `to_numpy` or `to_frame`, ∞ is a float.
    semiring : Semiring
    n : int
        The number of rows.
    names : list or None
        The names of the vertices, if rows and columns are the same vertices.
    row_names, column_names : list or None
        The names of the rows and of the columns.

    Raises
    ------
    GraphError
        If the array has not two axes, or the names are not a sequence with one for each row or column, all different
        and hashable, or the index and the columns of a data frame share some names only.
    SemiringError
        For an unknown algebra, and a matrix over a different one; for a sparse or packed matrix over an algebra that
        its elements cannot be of, or on a GPU; for an array of a dtype that cannot carry the algebra.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> M = sr.Matrix(np.array([[0.0, 2.5], [np.inf, 0.0]]), sr.min_plus, names=["a", "b"])
    >>> float(M["a", "b"])
    2.5
    >>> (M @ M)["a", "b"] == M["a", "b"]
    np.True_
    >>> np.asarray(M).shape
    (2, 2)

    A graph stays sparse:

    >>> roads = sr.Matrix(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)]), sr.min_plus)
    >>> roads @ roads
    Matrix 3 × 3 over min-plus, float64, sparse, 1 entry
       a  b  c
    a  ·  ·  7
    b  ·  ·  ·
    c  ·  ·  ·
    """

    def __init__(
        self, array: Any, semiring: Semiring | str, names: Sequence[Hashable] | None = None,
        library: str | None = None, *, columns: Sequence[Hashable] | None = None,
    ) -> None:
        self.semiring = semiring = algebra(semiring)
        refuse_table(array, "array")
        self.library = library or library_of(array)
        own = columns is not None  # whether the columns have names of their own
        if isinstance(array, Operators):
            refuse_other_algebra(array, semiring, "array")
            self.library = library or array.library
            own |= not array.is_over_vertices
            self._held, names, columns = in_order(array, names, columns)
        elif type(array) is not np.ndarray and comes_by_entries(array):
            self._held, called, came_from = read_entries(array, semiring, "array")
            self.library = library or came_from
            if called is not None:  # of a graph
                self._call(called, called, False)
                self._held, names, columns = in_order(self, names, columns)
        else:
            if has_labels(array):
                array, names, columns = labelled(array, names, columns)
                own |= columns is not names
            self._held = _array(array, semiring)
        height, width = self._held.shape
        self._call(as_names(names), as_names(columns), own or height != width)

    @overload
    def __getitem__(self, key: list[Any]) -> Matrix: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        places = self._places(key)
        if is_list(key):
            return self._part(*(places if self.is_over_vertices else (places[0], slice(None))))
        if any(isinstance(place, np.ndarray) for place in places) and not any(isinstance(p, int) for p in places):
            return self._part(*places)
        return self._shown(self._held.at(*places))

    def _like(self, array: Any, names: Sequence[Any] | None, columns: Sequence[Any] | None = None) -> Matrix:
        if columns is None or columns is names:
            return Matrix(array, self.semiring, names, self.library)
        return Matrix(array, self.semiring, names, self.library, columns=columns)

    def _over(self, S: Semiring, array: Any, columns: Sequence[Any] | None = None) -> Matrix:
        return Matrix(array, S, columns=columns)

    def _with(self, held: Held, rows: Names, columns: Names, own: bool | None = None) -> Matrix:
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        vars(found).pop("_positions", None)
        vars(found).pop("_column_positions", None)
        found._held = held
        found._call(rows, columns, not self.is_over_vertices if own is None else own)
        return found

    def _holding(self, held: Held) -> Matrix:
        """A matrix of other elements over the same algebra and vertices."""
        found = object.__new__(type(self))
        vars(found).update(vars(self), _held=held)
        return found

    def __copy__(self) -> Matrix:
        held = Array(self.array.copy(), self.semiring) if self.holder == "dense" else self._held
        return self._of(held)

    def _renamed(self, rows: Names, columns: Names) -> Matrix:
        """The same elements, with names of their own for rows and columns."""
        return self._with(self._held, rows, columns, True)

    def _part(self, rows: Place, columns: Place) -> Matrix:
        """The matrix of some rows and columns, which keep their names."""
        down, across = (selected(names, size, place) for names, size, place in
                        zip((self.row_names, self.column_names), self.shape, (rows, columns), strict=True))
        return self._with(self._held.part(rows, columns), down, across, not (self.is_over_vertices and rows is columns))

    @property
    def T(self) -> Matrix:
        """The transpose, edges reversed; it shares the elements of a dense matrix."""
        return self._with(self._held.T, self.column_names, self.row_names)

    @overload
    def closure(self, *, packed: Literal[True], **options: Any) -> PackedMatrix: ...
    @overload
    def closure(self, *, packed: Literal[False] = ..., **options: Any) -> Matrix: ...
    def closure(self, **options: Any) -> Any:
        """Return the closure A* over the matrix's algebra.

        Parameters
        ----------
        **options : optional
            As for `semiring.closure`.

        Returns
        -------
        Matrix or PackedMatrix
            With the same names.

        Raises
        ------
        NoClosureError
            If the closure does not exist.
        SemiringError
            As `semiring.closure` does.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)], sr.min_plus)
        >>> float(roads.closure()["a", "c"])
        7.0
        """
        return verb("closure")(self, self.semiring, **options)

    def to_sparse(self) -> csr_array:
        """Return the entries other than the algebra's zero as a SciPy sparse array.

        Returns
        -------
        csr_array, shape (n, n)
            The number 0 is stored, unless it is the algebra's zero.

        Raises
        ------
        GraphError
            For records and objects, which SciPy cannot hold.
        ImportError
            Without SciPy.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.adjacency([(0, 1, 3.0), (1, 0, 0.0)], sr.min_plus).to_sparse().data
        array([3., 0.])
        """
        return sparse_of(self)

    def to_xarray(self, dims: Sequence[str] = ("from", "to")) -> Any:
        """Return the elements as a DataArray of xarray, with names as coordinates.

        Parameters
        ----------
        dims : sequence of two str
            The names of the two axes.

        Returns
        -------
        xarray.DataArray
            Of the elements as `to_numpy` returns them; without coordinates where there are no names.
            ``sr.Matrix(array, S)`` reads it back. If it is square, and rows and columns share some names and not
            all, pass `columns`, the names of the columns.

        Raises
        ------
        GraphError
            If xarray is not installed, or `dims` are not two different names.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.adjacency([("a", "b", 3.0)], sr.min_plus)
        >>> float(roads.to_xarray().sel({"from": "a", "to": "b"}))  # doctest: +SKIP
        3.0
        """
        return dataarray_of(self, dims)

    def to_networkx(self) -> DiGraph:
        """Return the graph of the matrix, without edges of weight zero.

        Returns
        -------
        networkx.DiGraph
            It has all vertices; weights are Python numbers, tuples for records, and objects.

        Raises
        ------
        ImportError
            Without NetworkX.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.adjacency([("a", "b", 3.0)], sr.min_plus).to_networkx().edges(data="weight")
        OutEdgeDataView([('a', 'b', 3.0)])
        """
        in_two_orders = self.row_names is not None and set(self.row_names) == set(self.column_names or ())
        return networkx_of(over_vertices(self, "M") if in_two_orders else self)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        self._refuse_products_of_pandas()
        return super().__array__(dtype, copy)


def _array(array: Any, S: Semiring) -> Array:
    """The elements of an array as they are held."""
    array = as_elements(array, S)
    if S.lift is not None and S.lift.takes(array.dtype):
        array = S.lift(array)
    elif S._grows(array.dtype):
        array = array.astype(S.default_dtype)
    S.promoted(array.dtype)  # refuses a dtype that no verb takes
    if array.ndim != 2:
        raise GraphError(f"a matrix has rows and columns, but this array has shape {array.shape}")
    return Array(array, S)
