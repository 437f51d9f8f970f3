"""Solver: rows of a closure and best paths from existing factors; the base class of both kinds of factors."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property, partial
from typing import Any, Self, overload

import numpy as np

from semiring.algebra.arguments import truth_value
from semiring.algebra.elements import full
from semiring.algebra.rounding import along
from semiring.algebra.semiring import Semiring
from semiring.algorithms.labels import path_to
from semiring.algorithms.trees import DenseTails, Edges, Tails, walk_back
from semiring.errors import LawError
from semiring.kernels.lowering.sums import narrow, widen
from semiring.operands.convert import as_sparse
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand

from ..forms import right_hand_side
from ..plan import Plan
from ..task import Declined, Task, compute, options
from .search import answered, ends_of, positions
from .searches import spelt
from .trees import best_trees
from .walks import fits, may_be_lost, reached_from


class Factored:
    """An eliminated matrix: `Factors` or `SparseFactors`.

    Attributes
    ----------
    plan : Plan
    shape : tuple of int
    semiring : Semiring
    """

    plan: Any
    _came: Operand  # as the caller gave it, with its names
    _edges: Operand  # the matrix, in memory of its own where best paths can be asked for

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    @property
    def semiring(self) -> Semiring:
        """The algebra."""
        return self._edges.S.declared

    def path(self, source: Hashable, target: Hashable) -> tuple[Any, list[Any] | None]:
        """Return one best path between two vertices, as `semiring.path` does.

        Parameters
        ----------
        source, target : vertex
            By name where the matrix had names, else by position.

        Returns
        -------
        weight : scalar
            As of `semiring.path`: a number of Python's, zero where there is no path, or a record.
        vertices : list or None

        Raises
        ------
        LawError
            If ⊕ does not select.
        SemiringError
            For an unknown vertex.

        Notes
        -----
        The walk is followed back from the target: each time to the least vertex before it on a best walk, by the row of
        the source, which is substituted from the factors. Factors of a sparse matrix compute the row only along the
        walk, so a path takes microseconds to a few milliseconds. The whole row is computed if an edge is better than
        one, for records, for numbers whose code is not worth compiling yet, and for Python objects. If a best edge
        comes from a vertex that is no better than its head, as edges of length 0 do, all vertices are looked at; see
        `semiring.algorithms.trees`.

        Examples
        --------
        >>> import semiring as sr
        >>> F = sr.factor(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)]), sr.min_plus)
        >>> F.path("a", "c")
        (7.0, ['a', 'b', 'c'])
        """
        found: tuple[Any, list[Any] | None] = compute(Task("path", None, (self,), options(), (source, target)))
        return found

    @overload
    def solve(self, B: np.ndarray, *, left: bool = ...) -> np.ndarray: ...
    @overload
    def solve(self, B: Any, *, left: bool = ...) -> Any: ...
    def solve(self, B: Any, *, left: bool = False) -> Any:
        """Return the least solution X = A* B of X = A ⊗ X ⊕ B.

        Parameters
        ----------
        B : array_like, shape (n,) or (n, m)
            Of A's dtype. With `left` of shape (n,) or (m, n).
        left : bool
            Put the unknowns on the left: solve X = X ⊗ A ⊕ B, whose least solution is B A*.

        Returns
        -------
        ndarray, of B's shape
            In A's byte order.

        Raises
        ------
        SemiringError
            If B's shape or dtype does not fit, an entry is not an element, or the dtype cannot hold a result.

        Notes
        -----
        Floats are rounded as in `semiring.closure`.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> A = np.array([[0.0, 0.5], [0.25, 0.0]])
        >>> sr.factor(A, sr.plus_times).solve(np.array([7.0, 0.0]))
        array([8., 2.])

        The same factors serve equations with the unknowns on the left:

        >>> sr.factor(A, sr.plus_times).solve(np.array([7.0, 0.0]), left=True)
        array([8., 4.])
        """
        left = truth_value(left, "left")
        return self._solution(right_hand_side(B, self._came, self.plan.lowering.dtype, left=left), left)

    def _solution(self, right: Dense, left: bool = False) -> Any:
        """Return the solution for what `right_hand_side` made of B."""
        raise NotImplementedError

    def _part(self, starts: np.ndarray, ends: np.ndarray | None) -> np.ndarray:
        """Return rows of the closure, or some of their columns."""
        raise NotImplementedError

    def _walk(self, start: int, end: int) -> tuple[list[int] | None, np.ndarray | None]:
        """Return a best walk, or None if there is none; and the weights of its edges, or None if they are not known.

        Raises
        ------
        Declined
            If best walks repeat a cycle.
        """
        given = self._edges
        x = self._part(np.array([start]), None)[0]
        T, zero = given.S.over(given.dtype), given.S.zero_in(given.dtype)
        if x[start] != given.S.one_in(given.dtype):
            raise Declined
        if x[end] == zero:
            return None, None
        walk = walk_back(self._tails, T, x, start, end) if self._bounded else None
        if walk is None:
            try:
                before = best_trees(given, x[None], np.array([start]), wanted=np.arange(x.size) == end)[0]
            except LawError:  # best walks repeat a cycle that does not pass through the source
                raise Declined from None
            walk = path_to(before, start, end)
        return walk, None

    def _way_of_walks(self) -> str:
        """How it finds walks, in words."""
        return "by existing factors, back along the row of the source"

    def _way(self, starts: np.ndarray, ends: np.ndarray | None) -> str:
        """How it finds rows, in words."""
        return "by existing factors"

    @cached_property
    def _bounded(self) -> bool:
        return self._edges.bounded

    @cached_property
    def _tails(self) -> Tails:
        """The edges by their heads."""
        if isinstance(self._edges, Dense):
            return DenseTails(self._edges.array)
        return Edges.of(as_sparse(self._edges).rows)


def offer(task: Task) -> Plan | None:
    """Find rows by substitution, and a path by the row of its source; None without factors."""
    given, o = task.given[0], task.options
    F = given.factors
    if F is None or o.predecessors or o.device not in (None, "cpu"):
        return None
    n, low = given.shape[0], F.plan.lowering
    if task.verb == "path":
        if not task.S.selective or low.on_gpu or low.kind == "packed":
            return None
        start, end = positions(list(task.arguments), given.names, n)[1].tolist()
        return _plan(task, F, (n,), n, partial(_path, F, start, end), F._way_of_walks())
    sources, _, limit = task.arguments
    if limit is not None:
        return None
    single, starts = positions(sources, given.names, n)
    ends = ends_of(task)
    columns = n if ends is None else len(ends)
    run = partial(_rows, F, starts, single, ends)
    return _plan(task, F, (len(starts), columns), len(starts) * columns, run, F._way(starts, ends))


def _plan(task: Task, F: Factored, shape: tuple[int, ...], count: int, run: Any, way: str) -> Plan:
    given = task.given[0]
    return Plan(
        operation=task.verb, algebra=task.S, shape=shape, method="substitution", lowering=F.plan.lowering,
        place="CPU", work=float(given.nbytes), memory=count * given.dtype.itemsize, runner=run,
        reasons={"method": way},
    )


def _rows(F: Factored, starts: np.ndarray, single: bool, ends: np.ndarray | None, plan: Plan) -> Any:
    return answered(F._edges, F._part(starts, ends), starts, single, ends)


def part_by_name(F: Factored, sources: Any, targets: Any) -> Any:
    """Return rows of A* for a sequence of vertices; with targets their columns, as a `Table`."""
    given = F._edges
    starts = positions(sources, given.names, given.shape[0])[1]
    ends = None if targets is None else positions(targets, given.names, given.shape[0], "targets")[1]
    return answered(given, F._part(starts, ends), starts, False, ends)


def units(given: Operand, vertices: np.ndarray) -> np.ndarray:
    """Return rows of the identity."""
    T = given.S.over(given.dtype)
    B = full(np.empty((len(vertices), given.shape[0]), given.dtype), T.zero)
    B[np.arange(len(vertices)), vertices] = full(np.empty(len(vertices), given.dtype), T.one)
    return B


def settled(S: Semiring, X: np.ndarray, starts: np.ndarray, ends: np.ndarray | None) -> np.ndarray:
    """Set the value of each vertex to itself to one, if only rounding can make it differ."""
    if S.has_unit_stars:
        own = np.arange(X.shape[1]) if ends is None else ends
        here = starts[:, None] == own
        X[here] = full(X[here], S.one_in(X.dtype))
    return X


def _path(F: Factored, start: int, end: int, plan: Plan) -> tuple[Any, list[Any] | None]:
    given = F._edges
    S, facts = given.S, given.facts
    if not fits(given, facts):
        raise Declined
    walk, weights = F._walk(start, end)
    if walk is None and may_be_lost(given) and reached_from(as_sparse(given).without_zeros().rows, start)[end]:
        raise Declined  # the walk is there, and its weight left the dtype: the search raises the error
    weight = None
    if walk is not None:  # in the order of the walk, as a search adds it up: factors add in another one
        weights = given.graph().along(walk[:-1], walk[1:]) if weights is None else weights
        weights = widen(S, weights, facts)
        T = S.over(weights.dtype)
        weight = narrow(S, along(T, weights) if len(weights) else T.one, given.dtype)
    return spelt(given, weight, walk, given.callers_dtype)
