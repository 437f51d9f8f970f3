"""Reachability by the names of vertices: a transitive closure with one bit per pair, and questions to it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.arguments import array_of
from semiring.algebra.catalogue import boolean
from semiring.algebra.tables import html_table
from semiring.errors import GraphError
from semiring.graphs.columns import IF_CLEAR
from semiring.graphs.graph import graph_for
from semiring.graphs.names import Named, as_names
from semiring.graphs.texts import clip, clip_repr, shown
from semiring.kernels.blocks.bits import WORD
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands.devices import is_on_gpu
from semiring.operands.pack import before_preparing, holds, is_matrix, pack_named
from semiring.solvers.sparse.traversals import A_ROW_A_COMPONENT
from semiring.solvers.task import Task, compute, options

if TYPE_CHECKING:
    from semiring.kernels.cpu.bits.components import Reach  # loads Numba

SHOWN = 10  # vertices that a notebook shows
BAND_ENTRIES = 1 << 28  # entries that are compared with their transposes at once


class Reachability(Named):
    """A reflexive transitive closure that answers questions; `reach` makes one.

    Vertices are called by name if they have names, else by position. Every vertex reaches itself.

    Attributes
    ----------
    closure : PackedMatrix, shape (n, n)
        For a sparse graph with large components only one row of each is held, and the matrix is made on first use. Of
        arrays on a GPU it is there; answers to questions come to the host.
    n : int
        Number of vertices.
    names : list or None
        The names of the vertices.

    Examples
    --------
    >>> import semiring as sr
    >>> R = sr.reach([("app", "web"), ("web", "tls"), ("cli", "tls"), ("tls", "web")])
    >>> R.reaches("app", "tls"), R.reaches("tls", "app")
    (True, False)
    >>> R.descendants("app"), R.ancestors("tls")
    (['web', 'tls'], ['app', 'web', 'cli'])
    >>> R.strongly_connected_components()
    [['app'], ['web', 'tls'], ['cli']]
    """

    _rows: PackedMatrix  # rows of the closure: one for each vertex, or for each component; on the host or on a GPU
    _found: Reach | None

    def __init__(self, closure: PackedMatrix, names: Sequence[Hashable] | None = None):
        if not isinstance(closure, PackedMatrix):
            raise GraphError(f"closure must be a PackedMatrix, and is {clip_repr(closure)}; reach(A) makes one")
        check_square(closure)
        self._rows, self._found = closure, None
        self._name(names)

    @classmethod
    def _of_components(cls, found: Reach, names: Sequence[Hashable] | None) -> Reachability:
        """Make it from a closure with a row for each strongly connected component."""
        self = cls.__new__(cls)
        self._rows, self._found = PackedMatrix(found.rows.words, len(found.label)), found
        self._name(names)
        return self

    def _name(self, names: Sequence[Hashable] | None) -> None:
        self.n = self._rows.shape[1]
        self.names = as_names(names)
        self._check_names()

    @cached_property
    def closure(self) -> PackedMatrix:
        """The closure: which vertex reaches which."""
        return self._rows if self._found is None else PackedMatrix(self._found.packed().words, self.n)

    def _row_of(self, vertices: Any) -> Any:
        """The row of the closure for a vertex."""
        return vertices if self._found is None else self._found.label[vertices]

    def __repr__(self) -> str:
        pairs = int(self.descendant_counts().sum()) + self.n
        return f"Reachability({self.n:,} vertices, {pairs:,} pairs{', named' if self.names is not None else ''})"

    def _repr_html_(self) -> str:
        counts = zip(self.descendant_counts().tolist(), self.ancestor_counts().tolist(), strict=True)
        rows = [[clip(shown(v if self.names is None else self.names[v])), f"{ahead:,}", f"{behind:,}"]
                for v, (ahead, behind) in enumerate(islice(counts, SHOWN))]
        if self.n > SHOWN:
            rows.append(["…"] * 3)
        return html_table(repr(self), rows, ["vertex", "reaches", "is reached by"])

    def reaches(self, source: Any, target: Any) -> bool:
        """Test whether there is a path from one vertex to another.

        Parameters
        ----------
        source, target : vertex
            By name, or by position if the vertices have no names.

        Returns
        -------
        bool
            Also True if both are the same vertex.

        Raises
        ------
        GraphError
            For an unknown vertex; the message suggests a similar name.

        Examples
        --------
        >>> import semiring as sr
        >>> R = sr.reach([("a", "b"), ("b", "c")])
        >>> R.reaches("a", "c"), R.reaches("c", "a")
        (True, False)
        """
        return bool(self._rows[int(self._row_of(self.index(source))), self.index(target)])

    def pairs(self, sources: Any, targets: Any) -> np.ndarray:
        """Test whether each source reaches its target.

        Parameters
        ----------
        sources, targets : sequences of vertices
            Of the same length, or arrays of positions that broadcast if vertices have no names.

        Returns
        -------
        ndarray of bool
            Shape (k,) for k names; for positions the shape that both broadcast to.

        Raises
        ------
        GraphError
            For an unknown vertex.
        SemiringError
            If sources and targets do not broadcast.

        Examples
        --------
        >>> import semiring as sr
        >>> R = sr.reach([(0, 1), (1, 2)])
        >>> R.pairs([0, 2], [2, 0]), R.pairs([[0], [1]], [0, 1])
        (array([ True, False]), array([[ True,  True],
               [False,  True]]))
        """
        return np.asarray(_here(self._rows[self._row_of(self._places(sources)), self._places(targets)]))

    def descendants(self, vertex: Any) -> Any:
        """Return the other vertices that a vertex reaches.

        Parameters
        ----------
        vertex : vertex
            By name, or by position if the vertices have no names.

        Returns
        -------
        list of names, or int64 array of positions, shape (k,)
            In the order of the vertices.

        Raises
        ------
        GraphError
            For an unknown vertex.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.reach([("a", "b"), ("b", "c")]).descendants("a")
        ['b', 'c']
        """
        v = self.index(vertex)
        return self._others(_here(self._rows[int(self._row_of(v))]), v)

    def ancestors(self, vertex: Any) -> Any:
        """Return the other vertices that reach a vertex.

        Parameters
        ----------
        vertex : vertex
            By name, or by position if the vertices have no names.

        Returns
        -------
        list of names, or int64 array of positions, shape (k,)
            In the order of the vertices.

        Raises
        ------
        GraphError
            For an unknown vertex.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.reach([(0, 1), (1, 2)]).ancestors(2)
        array([0, 1])
        """
        v = self.index(vertex)
        return self._others(_here(self._rows[:, v])[self._row_of(np.arange(self.n))], v)

    def descendant_counts(self) -> np.ndarray:
        """Count the other vertices that each vertex reaches.

        Returns
        -------
        ndarray of int64, shape (n,)

        Examples
        --------
        >>> import semiring as sr
        >>> sr.reach([(0, 1), (1, 2)]).descendant_counts()
        array([2, 1, 0])
        """
        return _here(self._rows.row_degrees())[self._row_of(np.arange(self.n))] - 1

    def ancestor_counts(self) -> np.ndarray:
        """Count the other vertices that reach each vertex.

        Returns
        -------
        ndarray of int64, shape (n,)

        Examples
        --------
        >>> import semiring as sr
        >>> sr.reach([(0, 1), (1, 2)]).ancestor_counts()
        array([0, 1, 2])
        """
        if self._found is None:
            return _here(self._rows.column_degrees()) - 1
        sizes, counts = np.bincount(self._found.label), np.zeros(self.n, np.int64)
        for k in range(int(sizes.max(initial=0)).bit_length()):  # a row counts once per vertex of its component
            counts += self._rows[np.flatnonzero(sizes >> k & 1)].column_degrees() << k
        return counts - 1

    def component_labels(self) -> np.ndarray:
        """Return the strongly connected component of each vertex.

        Returns
        -------
        ndarray of int64, shape (n,)
            From 0 to the number of components − 1, in the order of their first vertices.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.reach([(0, 1), (1, 2), (2, 1)]).component_labels()
        array([0, 1, 1])
        """
        if self._found is None:
            first = first_of_component(self._rows)
        else:
            first = np.unique(self._found.label, return_index=True)[1][self._found.label]
        return np.unique(first, return_inverse=True)[1].reshape(-1)

    def strongly_connected_components(self) -> list[Any]:
        """Return the sets of vertices that reach one another.

        Returns
        -------
        list of lists of names, or of int64 arrays of positions, shape (k,)
            In the order of their first vertices.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.reach([("a", "b"), ("b", "c"), ("c", "b")]).strongly_connected_components()
        [['a'], ['b', 'c']]
        """
        labels = self.component_labels()
        order = np.argsort(labels, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if self.n else []
        return [self._called(group) for group in groups]

    def _places(self, vertices: Any) -> np.ndarray:
        if self.names is not None:
            try:
                wanted = list(vertices)
            except TypeError:
                message = f"sources and targets must be sequences of vertices, not {clip_repr(vertices)}"
                raise GraphError(message) from None
            return np.array([self.index(v) for v in wanted], np.int64)
        places = array_of(vertices, "positions of vertices")
        if places.size and (places.dtype.kind not in "iu" or places.min() < 0 or places.max() >= self.n):
            for v in places.flat:
                self.index(v)
        return places.astype(np.int64)

    def _others(self, chosen: np.ndarray, v: int) -> Any:
        chosen = chosen.copy()
        chosen[v] = False
        return self._called(np.flatnonzero(chosen))

    def _called(self, positions: np.ndarray) -> Any:
        return positions if self.names is None else [self.names[v] for v in positions]


def reach(A: Any) -> Reachability:
    """Compute the transitive closure of a graph, to ask which vertex reaches which.

    Parameters
    ----------
    A : graph, matrix or edges
        What `semiring.pack` takes; names of a `Graph`, a `Matrix` or a NetworkX graph are kept.

    Returns
    -------
    Reachability
        It holds n² bits, 12.2 MiB for 10,000 vertices; for a sparse matrix or edges n bits for each strongly
        connected component, if there are at most n / 2 components.

    Raises
    ------
    GraphError
        If A is neither a square matrix nor edges.
    SemiringError
        For NaN, and if n² bits do not fit in memory.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.reach([("a", "b"), ("b", "c")])
    Reachability(3 vertices, 6 pairs, named)
    """
    A = before_preparing(A)
    if not is_matrix(A):
        graph = graph_for(A, weight=IF_CLEAR)
        return _of_entries(graph, graph.names)
    if is_by_entries(A):
        check_square(A)
        return _of_entries(A, None)
    matrix, names = pack_named(A)
    check_square(matrix)
    return Reachability(transitive_closure(matrix, overwrite=not holds(A, matrix)), names)


def _of_entries(A: Any, names: Sequence[Hashable] | None) -> Reachability:
    """Reachability in a graph or a sparse matrix."""
    found = compute(Task("closure", boolean, (A,), options(packed=True), (A_ROW_A_COMPONENT,)))
    return Reachability(found, names) if isinstance(found, PackedMatrix) else Reachability._of_components(found, names)


def transitive_closure(A: Any, *, reflexive: bool = True, overwrite: bool = False) -> PackedMatrix:
    """The closure of a graph or a packed matrix, one bit per pair."""
    asked = options(reflexive=reflexive, overwrite=overwrite, packed=True)
    closed: PackedMatrix = compute(Task("closure", boolean, (A,), asked))
    return closed


def is_by_entries(A: Any) -> bool:
    """Whether this is a sparse matrix on the host in which every entry is clearly an edge or not; it stays sparse."""
    if is_on_gpu(A) or getattr(A, "format", "") not in ("csr", "csc", "coo"):
        return False
    return len(A.shape) == 2 and A.dtype.kind in "biuf"


def check_square(matrix: Any) -> None:
    """Refuse a matrix that is not square."""
    if matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"a graph's matrix must be square, but this one has shape {matrix.shape}")


def _here(array: Any) -> Any:
    """A small array on the host."""
    return array.get() if is_on_gpu(array) else array


def first_of_component(closure: PackedMatrix) -> np.ndarray:
    """For each vertex the first vertex with mutual reachability: the lowest bit of a row of R ∧ Rᵀ."""
    n = closure.shape[0]
    first = np.empty(n, np.int64)
    step = max(8 * WORD, BAND_ENTRIES // max(n, 1) // WORD * WORD)
    for a in range(0, n, step):
        b = min(a + step, n)
        mutual = (closure[a:b] & closure[:, a:b].transpose()).get()
        word = (mutual.words != 0).argmax(axis=1)
        lowest = mutual.words[np.arange(b - a), word]
        lowest &= ~lowest + np.uint64(1)
        first[a:b] = WORD * word + np.bitwise_count(lowest - np.uint64(1))
    return first
