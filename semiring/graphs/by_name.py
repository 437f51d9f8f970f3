"""What a `Graph` and a matrix say to each other, and edges by the names of their ends."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.by_name import algebra
from semiring.algebra.verbs import verb
from semiring.errors import GraphError, SemiringError

from .frames import frame_library, made_of, plain
from .names import Named
from .operators import Operators
from .texts import count_text, quoted, with_infinities

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from semiring.algebra.semiring import Semiring


class ByName(Named):
    """The methods of a `Graph` that call edges by name, or turn it into something else."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: np.ndarray | None
    directed: bool
    library: str | None

    __array_ufunc__ = None  # an array on the left of ``@`` leaves the product to the graph

    def __matmul__(self, other: Any) -> Any:
        return verb("matmul")(self, other, _algebra_of(other))

    def __rmatmul__(self, other: Any) -> Any:
        return verb("matmul")(other, self, _algebra_of(other))

    def __contains__(self, key: Any) -> bool:
        """Whether there is a vertex of this name, or an edge (from, to) or (from, to, weight)."""
        if self._is_vertex(key):
            return True
        if not isinstance(key, tuple) or len(key) not in (2, 3) or not all(map(self._is_vertex, key[:2])):
            return False
        places = self._between(self.index(key[0]), self.index(key[1]))
        if len(key) == 2:
            return bool(len(places))
        return self.weights is not None and key[2] in self.weights[places].tolist()

    def _is_vertex(self, name: Any) -> bool:
        try:
            self.index(name)
        except GraphError:
            return False
        return True

    def _between(self, a: int, b: int) -> NDArray[np.int64]:
        """The numbers of the edges from one vertex to another."""
        found = (self.sources == a) & (self.targets == b)
        if not self.directed:
            found |= (self.sources == b) & (self.targets == a)
        return np.flatnonzero(found)

    def weight(self, source: Hashable, target: Hashable, S: Semiring | str | None = None) -> Any:
        """Return the weight of the edge between two vertices.

        Parameters
        ----------
        source, target : vertex
            By name if vertices have names, else by position.
        S : Semiring or str, optional
            The algebra: parallel edges combine with ⊕, and without an edge the weight is zero. Default: there must be
            one edge, whose weight is returned as it was passed.

        Returns
        -------
        element
            A Python number, a tuple for a record, or an object.

        Raises
        ------
        GraphError
            If there is no such vertex; without S, if there is no edge, several, or edges have no weights.
        SemiringError
            For an unknown algebra.

        Examples
        --------
        >>> import semiring as sr
        >>> roads = sr.as_graph([("a", "b", 3.0), ("a", "b", 2.0), ("b", "c", 4.0)])
        >>> roads.weight("b", "c"), roads.weight("a", "b", sr.min_plus), roads.weight("c", "a", sr.min_plus)
        (4.0, 2.0, inf)
        """
        places = self._between(self.index(source), self.index(target))
        if S is not None:
            return self._combined(places, algebra(S))
        edge = f"from {quoted(source)} to {quoted(target)}"
        if self.weights is None:
            raise GraphError("the edges have no weights: pass S, the algebra whose weight of an edge is wanted")
        if len(places) != 1:
            many = count_text(len(places), "edge", "edges") if len(places) else "no edge"
            raise GraphError(f"{many} {edge}: pass S, whose zero is the weight without an edge and whose ⊕ combines "
                             "parallel edges")
        return self.weights[places].tolist()[0]

    def _combined(self, places: NDArray[np.int64], S: Semiring) -> Any:
        ends, weights = np.zeros(len(places), np.int64), None if self.weights is None else self.weights[places]
        found = verb("adjacency")(verb("Graph")(ends, ends, 1, weights), S)
        return with_infinities(found.array.reshape(-1), S).tolist()[0]

    def to_sparse(self, S: Semiring | str) -> csr_array:
        """Return the matrix of the graph over an algebra as a SciPy sparse array.

        Parameters
        ----------
        S : Semiring or str
            Parallel edges combine with ⊕. Edges without weights have the weight 1.

        Returns
        -------
        csr_array, shape (n, n)
            An edge whose weight is the number 0 is stored. In integers the limits of the dtype stand for ±∞.

        Raises
        ------
        GraphError
            For records and objects, which SciPy cannot hold, and for a weight that is not an element.
        SemiringError
            For an unknown algebra.
        ImportError
            Without SciPy.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.as_graph([(0, 1, 3.0), (0, 1, 2.0), (1, 0, 0.0)]).to_sparse(sr.min_plus).toarray()
        array([[0., 2.],
               [0., 0.]])
        """
        S = algebra(S)
        if S.is_record or S.is_object:
            raise GraphError(f"SciPy's sparse matrices hold numbers, but the elements of {S.name} are not: use "
                             "sr.adjacency(graph, S)")
        given = verb("prepare")(self, S)
        return given.wrap_rows(given.rows, as_graph=False)

    def to_frame(self, library: str | None = None) -> Any:
        """Return the edges as a data frame with the columns from, to and weight.

        Parameters
        ----------
        library : {None, "pandas", "polars", "pyarrow"}
            None: that of the data frame which was passed; else pandas or Polars, the first that the program has loaded;
            else the first that is installed.

        Returns
        -------
        DataFrame, or Table of PyArrow
            One row for each edge, in their order; without the column weight if edges have no weights.

        Raises
        ------
        GraphError
            For an unknown library, or one that is not installed.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)]).to_frame().values.tolist()
        [['a', 'b', 3.0], ['b', 'c', 4.0]]
        """
        name, module = frame_library(library or self.library)
        ends = (end.tolist() for end in (self.sources, self.targets))
        columns: dict[str, Any] = {
            what: end if self.names is None else [self.names[v] for v in end]
            for what, end in zip(("from", "to"), ends, strict=True)
        }
        if self.weights is not None:
            columns["weight"] = plain(self.weights)
        return made_of(columns, name, module)


def _algebra_of(other: Any) -> Semiring:
    """The algebra of the other factor of a product.

    Raises
    ------
    SemiringError
        If it has none.
    """
    S = other.semiring if isinstance(other, Operators) else getattr(other, "S", None)
    if S is None:
        raise SemiringError("a Graph has no algebra: one factor of @ must be a Matrix, such as sr.adjacency(graph, S); "
                            "or call sr.matmul(A, B, S)")
    found: Semiring = S
    return found
