"""A square matrix over an algebra whose rows and columns are vertices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike

from semiring.algebra.by_name import algebra
from semiring.algebra.verbs import verb
from semiring.errors import GraphError
from semiring.graphs.exports import networkx_of, sparse_of
from semiring.graphs.frames import has_labels, library_of, matrix_of
from semiring.graphs.masks import is_masked, unmasked
from semiring.graphs.names import as_names, is_hashable, refuse_table
from semiring.graphs.operators import Operators, as_array, in_order, refuse_other_algebra
from semiring.graphs.tables import Elements

if TYPE_CHECKING:
    from networkx import DiGraph
    from scipy.sparse import csr_array

    from semiring.algebra.semiring import Semiring
    from semiring.kernels.cpu.bits.matrix import PackedMatrix


class Matrix(Operators, Elements):
    """A square matrix over an algebra whose rows and columns are vertices.

    `M[a, b]` is the element from vertex a to vertex b, `M[a]` a row, `M[:, b]` a column; vertices are called by
    name if they have names, else by position. (A tuple that is itself a name selects that vertex's row.)
    `M[[a, b]]` is the matrix of these vertices alone.

    Operators compute over the matrix's algebra: `A @ B` is the product, `A ** k` a power, `A | B` the sum ⊕ element by
    element. `A == B` compares element by element, like arrays, and returns an array of bool; `(A == B).all()` says
    whether all are equal. If both matrices have names, the names must be the same, and B is put into the order of A.
    Operands without names, such as arrays, are matched by position. The answer has the names. A matrix over a different
    algebra is refused.

    NumPy treats it as an array, element by element; several with names are put into the order of the first. But
    `numpy.matmul`, `numpy.equal` and NumPy's functions for the operators above compute over the algebra, and functions
    that would multiply over the real numbers (`numpy.dot`, `numpy.einsum`, `numpy.linalg`, …) are refused. So is a
    data frame or a series of pandas on the left of ``@``, because its products are over the reals: write
    ``sr.Matrix(frame, S) @ M``, or ``sr.matmul(frame, M)``.

    Parameters
    ----------
    array : array_like, shape (n, n)
        Elements of the algebra; an array is kept, not copied. Masked entries become the algebra's zero. The index and
        the columns of a pandas data frame are the names, in the order of the index. A matrix must be over the same
        algebra and keeps its names.
    semiring : Semiring or str
    names : sequence of hashable, optional
        One for each vertex, all different. If the array has names: the new order.
    library : {None, "pandas", "polars", "pyarrow"}
        The library of the data frames that `to_frame` makes. Default: that of the data frame which was passed.

    Attributes
    ----------
    array : ndarray, shape (n, n)
        The elements as stored: in integers the limits of the dtype stand for ±∞. When they are read, by ``M[a, b]``,
        `to_numpy` or `to_frame`, ∞ is a float.
    semiring : Semiring
    n : int
        The number of vertices.
    names : list or None

    Raises
    ------
    GraphError
        If the array is not square, or the names are not a sequence with one for each vertex, all different and
        hashable, or the index and the columns of a data frame are different names.
    SemiringError
        For an unknown algebra, and a matrix over a different one.

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
    """

    def __init__(
        self, array: Any, semiring: Semiring | str, names: Sequence[Hashable] | None = None,
        library: str | None = None,
    ) -> None:
        semiring = algebra(semiring)
        refuse_table(array, "array")
        self.library = library or library_of(array)
        if isinstance(array, Operators):
            refuse_other_algebra(array, semiring, "array")
            self.library = library or array.library
            array, names = in_order(array, names)
        elif has_labels(array):
            array, names = matrix_of(array, names)
        array = unmasked(array, semiring) if is_masked(array) else as_array(array)
        if semiring.lift is not None and semiring.lift.takes(array.dtype):
            array = semiring.lift(array)
        elif semiring._grows(array.dtype):
            array = array.astype(semiring.default_dtype)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise GraphError(f"a matrix over vertices must be square, but this array has shape {array.shape}")
        self.array: np.ndarray = array
        self.semiring = semiring
        self.n = array.shape[0]
        self.names = as_names(names)
        self._check_names()

    @overload
    def __getitem__(self, key: list[Any]) -> Matrix: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and not (is_hashable(key) and key in self._positions):
            if len(key) != 2:
                raise GraphError(f"a matrix takes a row, or a row and a column, not {len(key)} vertices")
            return self._shown(self.array[self._place(key[0]), self._place(key[1])])
        if isinstance(key, list):
            return self._part(key)
        return self._shown(self.array[self._place(key)])

    def _place(self, key: Any) -> int | slice:
        if not isinstance(key, slice):
            return self.index(key)
        for end in (key.start, key.stop, key.step):
            if not (end is None or hasattr(end, "__index__")):
                raise GraphError(f"a slice needs positions, integers, but one of its ends is {end!r}: pass "
                                 ".index() of the vertex, or a list of vertices")
        return key

    def _like(self, array: Any, names: Sequence[Any] | None) -> Matrix:
        return Matrix(array, self.semiring, names, self.library)

    def _part(self, vertices: list[Any]) -> Matrix:
        """The matrix of some vertices, which keep their names."""
        places = [self.index(vertex) for vertex in vertices]
        names = places if self.names is None else [self.names[i] for i in places]
        plain = self.names is None and names == list(range(len(names)))
        places_ = np.array(places, np.int64)
        return Matrix(self.array[np.ix_(places_, places_)], self.semiring, None if plain else names, self.library)

    @property
    def T(self) -> Matrix:
        """The transpose, with every edge reversed; it shares the elements."""
        return Matrix(self.array.T, self.semiring, self.names, self.library)

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
        return networkx_of(self)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        self._refuse_products_of_pandas()
        return super().__array__(dtype, copy)

    @property
    def _ends(self) -> tuple[Sequence[Any], Sequence[Any]]:
        vertices = range(self.n) if self.names is None else self.names
        return vertices, vertices
