"""Factor a sparse matrix once: rows of its closure, equations, streams of blocks, and new weights on the same edges."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from semiring.algebra.tables import html_table
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.sparse.analysis import Analysis
from semiring.algorithms.sparse.elimination import factor as eliminate
from semiring.errors import SemiringError
from semiring.graphs.names import Named
from semiring.graphs.texts import clip_repr
from semiring.kernels.build import affordable, kernel
from semiring.kernels.interface import FrontEngine, Report
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.objects import in_python_integers
from semiring.kernels.numpy.fronts import TOGETHER
from semiring.machine.memory import in_words, require
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.read import operand
from semiring.operands.sparse import Sparse

from . import costs, reductions, schedules
from .costs import SparsePlan
from .cycles import graph_of, look_at_fronts, may_diverge, undefined_star
from .factored import Factored, settled, units
from .forms import Apply, refuse_overflow, right_hand_side, solution, told
from .fronts import fronts_of, lowering_of
from .search import answered, positions, refuse_sets
from .task import LARGE, Task, options

if TYPE_CHECKING:
    from semiring.graphs.tables import Table

BLOCK = 256  # rows that `blocks` and `save` take at once, unless told otherwise
STEPS = 50  # parts of a closure after which progress is reported
ADVICE = "use a narrower dtype, fewer vertices, or rows and blocks of rows instead of the whole"


class SparseFactors(Factored, Named):
    """A sparse matrix eliminated once in a fill-reducing order; made by `semiring.factor`.

    Vertices are called by name where the matrix had names, else by number.

    Attributes
    ----------
    n : int
    names : list or None
    plan : SparsePlan
    analysis : Analysis
        The order and the structure of the factors.

    Notes
    -----
    I. S. Duff, J. K. Reid, The multifrontal solution of indefinite sparse symmetric linear equations (1983);
    R. E. Tarjan, Fast algorithms for solving path problems (1981). Floats are rounded as in `semiring.closure`.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> import semiring as sr
    >>> sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
    SparseFactors of a 2 × 2 matrix with 2 edges over min-plus, float64: 1 fronts, 1 pairs joined
    """

    def __init__(
        self, A: Sparse, analysis: Analysis, *, check: bool = True, plan: SparsePlan | None = None,
        report: Report | None = None,
    ) -> None:
        S = A.S
        self.n, self._S, self._A = A.n, S, A
        self._edges = A
        self.names = None if A.names is None else list(A.names)
        self._check, self.analysis = check, analysis
        if plan is None:
            plan = costs.plan("factor", lowering_of(A, room=True), analysis, A.nnz, answer=False)
        self.plan, low = plan, plan.lowering
        if plan.factors > LARGE:
            require(plan.factors, *plan.shortage)
        self._fronts = fronts_of(low, analysis, plan.threads)
        self._closed: np.ndarray | None = None
        self._rounded: np.ndarray | None = None  # places of vertices whose stars rounding had changed
        try:
            eliminate(self._fronts, low.encode(A.values, True), report)
        except UndefinedStar as e:
            order = analysis.order
            raise undefined_star(S, graph_of(A), A.names, int(order[e.pivot]), order[: e.pivot]) from None
        if check and may_diverge(low):
            verdict = look_at_fronts(low, self._fronts, A)
            if verdict.error is not None:
                raise verdict.error
            if verdict.rounded:
                self._rounded = np.array([i for i, in verdict.rounded])
                self._fronts.settle(self._rounded)
            if verdict.unstable:
                # Rounding errors grew in the factors; then A* is computed as a dense matrix, in which they do not.
                self._closed = dense_closure(low, A)

    def __repr__(self) -> str:
        return (
            f"SparseFactors of a {self.n} × {self.n} matrix with {self._A.nnz} edges over {self._S.name}, "
            f"{self._A.dtype}: {len(self.analysis.pivots)} fronts, {self.plan.fill} pairs joined"
        )

    def _repr_html_(self) -> str:
        return html_table(repr(self), [("edges", str(self._A.nnz)), *self.plan.rows().items()])

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @property
    def nbytes(self) -> int:
        """Bytes that the factors take."""
        return int(self._fronts.nbytes)

    @property
    def lowering(self) -> Lowering:
        """How elements are stored and computed."""
        return self.plan.lowering

    def predict(self) -> SparsePlan:
        """What `closure` would cost, and what else would.

        Returns
        -------
        SparsePlan
            With predicted `seconds`, and `memory` in bytes.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> F.predict().operation, F.predict().memory >= 32
        ('closure', True)
        """
        return costs.plan(
            "closure", self.lowering, self.analysis, self._A.nnz, searches=costs.all_searches(self.lowering, self._A)
        )

    def refactor(self, A: Any) -> SparseFactors:
        """The factors of other weights on the same edges; the analysis is used again.

        Parameters
        ----------
        A : SciPy sparse matrix, Graph, NetworkX graph or array of shape (nnz,)
            An array holds the weights of the edges, row by row, columns ascending.

        Returns
        -------
        SparseFactors

        Raises
        ------
        NoClosureError
            When A* does not exist.
        SemiringError
            When A has other edges, or a weight is not an element.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> F.refactor(np.array([5.0, 1.0])).row(0)
        array([0., 5.])
        """
        old = self._A
        if isinstance(A, np.ndarray) and A.ndim == 1:
            if len(A) != old.nnz:
                raise SemiringError(f"{len(A)} weights for {old.nnz} edges: give one for each")
            new = old.with_values(A)
        else:
            given = operand(A, self._S)
            if not isinstance(given, Sparse):
                raise SemiringError("refactor takes weights, or a sparse matrix or graph with the same edges")
            given.look()
            new = given
            same = new.n == old.n and np.array_equal(new.indptr, old.indptr)
            if not (same and np.array_equal(new.indices, old.indices)):
                raise SemiringError("refactor needs a matrix with the same edges; factor this one anew")
        return SparseFactors(new.copy(), self.analysis, check=self._check)

    def row(self, vertex: Hashable) -> np.ndarray:
        """The row of A* of one vertex: with min_plus the distances from it.

        Parameters
        ----------
        vertex : vertex
            By name, or by number where they have no names.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        GraphError
            For an unknown vertex.
        SemiringError
            When a result has no place in the dtype.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> F.row(1)
        array([3., 0.])
        """
        return self.rows([vertex])[0]

    @overload
    def rows(
        self, sources: Sequence[Hashable] | np.ndarray, *, targets: None = ..., reflexive: bool = ...
    ) -> np.ndarray: ...
    @overload
    def rows(
        self, sources: Sequence[Hashable] | np.ndarray, *, targets: Any, reflexive: bool = ...
    ) -> Table: ...
    def rows(
        self, sources: Sequence[Hashable] | np.ndarray, *, targets: Any = None, reflexive: bool = True
    ) -> np.ndarray | Table:
        """Rows of A*, or of A⁺ = A A* if not `reflexive`.

        Parameters
        ----------
        sources : sequence of vertices
            By name, or by number where they have no names.
        targets : vertex or sequence of vertices, optional
            Whose columns are wanted: the answer is a `Table` by name, and no more is kept. Where they are fewer than
            the sources, and the empty walk counts, columns are substituted instead of rows.
        reflexive : bool
            Whether the empty walk counts.

        Returns
        -------
        ndarray, shape (k, n), or Table, shape (k, t)

        Raises
        ------
        GraphError
            For an unknown vertex.
        SemiringError
            When the sources are no sequence, or a result has no place in the dtype.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> F.rows([1, 0], reflexive=False)
        array([[3., 5.],
               [5., 2.]])
        """
        starts = self._numbers(sources)
        if targets is None:
            return self._decoded(starts, reflexive)
        ends = positions(targets, self.names, self.n, "targets")[1]
        found = self._part(starts, ends) if reflexive else self._by_rows(starts, ends, False)
        table: Table = answered(self._A, found, starts, False, ends)
        return table

    def _part(self, starts: np.ndarray, ends: np.ndarray | None) -> np.ndarray:
        if ends is None:
            return self._decoded(starts)
        if len(ends) >= len(starts):
            return self._by_rows(starts, ends)
        parts = [np.empty((len(starts), 0), self._A.callers_dtype)]
        for some in self._blocks_of(ends):
            B = np.ascontiguousarray(units(self._A, some).T)
            parts.append(np.asarray(self._solution(right_hand_side(B, self._A, self.lowering.dtype)))[starts])
        return settled(self._S, np.concatenate(parts, axis=1), starts, ends)

    def _by_rows(self, starts: np.ndarray, ends: np.ndarray, reflexive: bool = True) -> np.ndarray:
        parts = [np.empty((0, len(ends)), self._A.dtype)]
        return np.concatenate([*parts, *(self._decoded(some, reflexive)[:, ends] for some in self._blocks_of(starts))])

    def _blocks_of(self, vertices: np.ndarray) -> Iterator[np.ndarray]:
        """So many at once as rows or columns of the closure have room for."""
        step = max(LARGE // max(self.n * self._A.dtype.itemsize, 1), 1)
        for begin in range(0, len(vertices), step):
            yield vertices[begin : begin + step]

    def _numbers(self, sources: Sequence[Hashable] | np.ndarray) -> np.ndarray:
        if self.names is None and isinstance(sources, (np.ndarray, range)):
            found = np.asarray(sources)
            if found.ndim == 1 and found.dtype.kind in "iu" and ((found >= 0) & (found < self.n)).all():
                return found.astype(np.int64)
        refuse_sets(sources, "sources")
        try:
            vertices = list(sources)
        except TypeError:
            raise SemiringError(f"sources must be a sequence of vertices, and is {clip_repr(sources)}") from None
        return np.array([self.index(v) for v in vertices], np.int64)

    def _decoded(self, sources: np.ndarray, reflexive: bool = True, thread_count: int | None = None) -> np.ndarray:
        out = np.empty((len(sources), self.n), self.lowering.storage)
        self._fill(sources, out, reflexive, thread_count=thread_count)
        return self._checked(out)

    def _checked(self, stored: np.ndarray) -> np.ndarray:
        """Rows in storage as the caller's elements, refused where numbers overflowed on the way."""
        low = self.lowering
        result = low.decode(stored)
        if self._check and not low.drops_nan:
            refuse_overflow(low, result)
        return result

    def _fill(
        self, sources: np.ndarray, out: np.ndarray, reflexive: bool = True, targets: np.ndarray | None = None,
        thread_count: int | None = None,
    ) -> None:
        """Rows in storage."""
        if self._closed is not None:
            where = np.arange(len(sources)) if targets is None else targets
            out[where] = self._closed[sources]
            if not reflexive:
                out[where, sources] = self._cycles[sources]
            return
        self._reconsider(len(sources))
        self._fronts.rows(
            sources, out, reflexive=reflexive, settled=self._settled, targets=targets, thread_count=thread_count
        )

    def _reconsider(self, rows: int) -> None:
        """Eliminate anew in compiled code, once that repays for the rows that are asked for."""
        low, load = self.lowering, self.plan.load
        if low.compiled or load is None:
            return
        terms = rows * (load.down + load.up / max(self.n, 1))
        low = affordable(low, 4.0 * self.n * -(-rows // TOGETHER), terms, "fronts")
        if not low.compiled:
            return
        self.plan.lowering, self._fronts = low, fronts_of(low, self.analysis, self.plan.threads)
        eliminate(self._fronts, low.encode(self._A.values, True))
        if self._rounded is not None:
            self._fronts.settle(self._rounded)

    @cached_property
    def _cycles(self) -> np.ndarray:
        """The diagonal of A⁺ = A A* where A* is dense."""
        return np.asarray(kernel(self.lowering).diagonal(self.lowering.encode(self._A.array(), True), self._closed))

    @property
    def _settled(self) -> bool:
        """Whether 1 ⊕ (cycles) = 1 whenever the closure exists."""
        return self._S.has_unit_stars

    @overload
    def solve(self, B: np.ndarray) -> np.ndarray: ...
    @overload
    def solve(self, B: Any) -> Any: ...
    def solve(self, B: Any) -> Any:
        """The least solution X = A* B of X = A ⊗ X ⊕ B.

        Parameters
        ----------
        B : array_like, shape (n,) or (n, m)
            Of A's dtype.

        Returns
        -------
        ndarray, of B's shape
            In A's byte order.

        Raises
        ------
        SemiringError
            When B's shape or dtype does not fit, an entry is not an element, or a result has no place in the dtype.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 0.5], [0.25, 0]]), sr.plus_times)
        >>> F.solve(np.array([7.0, 0.0]))
        array([8., 2.])
        """
        return self._solution(right_hand_side(B, self._A, self.lowering.dtype))

    def _solution(self, right: Dense) -> Any:
        return solution(self._A, right, self.lowering, self._engine, self._check)

    def _engine(self, wide: bool) -> tuple[Lowering, Apply]:
        """What multiplies by A*, in Python's integers where sums are too wide for the storage."""
        self._reconsider(1)
        low, fronts = self._in_python_integers if wide else (self.lowering, self._fronts)
        if self._closed is None or wide:
            return low, fronts.columns
        return low, partial(kernel(low).left, self._closed)

    @cached_property
    def _in_python_integers(self) -> tuple[Lowering, FrontEngine]:
        low, values = in_python_integers(self.lowering, self.lowering.encode(self._A.values, True))
        fronts = fronts_of(low, self.analysis, self.plan.threads)
        eliminate(fronts, values)
        return low, fronts

    def closure(self, *, reflexive: bool = True, progress: bool | Callable[[float], None] = False) -> Any:
        """A*, or A⁺, as a dense matrix; the factors stay.

        Parameters
        ----------
        reflexive : bool
            Whether the empty walk counts.
        progress : bool or callable
            ``True`` shows a bar on stderr; a callable is given the fraction done.

        Returns
        -------
        ndarray or Matrix, shape (n, n)
            Of A's dtype.

        Raises
        ------
        SemiringError
            When it does not fit in memory, a result has no place in the dtype, or `progress` is neither.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> F.closure()
        array([[0., 2.],
               [3., 0.]])
        """
        if progress is False:
            return self._expanded(reflexive)
        options(progress=progress)  # refuses what is none
        with told(progress, f"{self._S.name} closure") as report:
            return self._expanded(reflexive, report)

    def _expanded(self, reflexive: bool, report: Report | None = None) -> Any:
        """The closure as its caller gets it."""
        low, n = self.lowering, self.n
        size = n * n * (low.storage.itemsize + (0 if low.storage == low.dtype else low.dtype.itemsize))
        if size > LARGE:
            require(size, f"the closure of {n} × {n} {self._A.dtype}", ADVICE)
        out, order = np.empty((n, n), low.storage), self.analysis.order  # in which neighbours come together
        step = max(n if report is None else -(-n // STEPS), 1)
        for begin in range(0, n, step):
            if report is not None:
                report(begin / n)
            part = order[begin : begin + step]
            self._fill(part, out, reflexive, targets=part)
        return self._A.wrap(self._checked(out))

    def blocks(
        self, rows: int = BLOCK, *, reflexive: bool = True, in_order: bool = False
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The closure in blocks of rows, none of which is kept.

        Parameters
        ----------
        rows : int
            Rows of a block, 1 or more.
        reflexive : bool
            Whether the empty walk counts.
        in_order : bool
            True: rows come as the vertices are numbered. False: neighbours come together, which is faster.

        Yields
        ------
        vertices : int64 array, shape (rows,)
            The numbers of the vertices whose rows these are.
        block : ndarray, shape (rows, n)

        Raises
        ------
        SemiringError
            When `rows` is less than 1, as soon as the first block is asked for, or a result has no place in the dtype.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> [(v.tolist(), b.tolist()) for v, b in F.blocks(rows=1, in_order=True)]
        [([0], [[0.0, 2.0]]), ([1], [[3.0, 0.0]])]
        """
        if rows < 1:
            raise SemiringError(f"rows must be at least 1, and is {rows}")
        vertices = np.arange(self.n) if in_order else self.analysis.order
        for begin in range(0, self.n, rows):
            some = vertices[begin : begin + rows]
            yield some, self._decoded(some, reflexive)

    def save(self, path: str | Path, *, reflexive: bool = True, rows: int = BLOCK) -> np.memmap:
        """The closure straight into a .npy file, which is then mapped into memory; it may be larger than memory.

        Parameters
        ----------
        path : path
            Taken as it is; a file that is there is overwritten.
        reflexive : bool
            Whether the empty walk counts.
        rows : int
            Rows that are computed at once.

        Returns
        -------
        memmap, shape (n, n)

        Raises
        ------
        SemiringError
            When the disk has no room for it, `rows` is less than 1, or a result has no place in the dtype.
        OSError
            When the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     F.save(Path(folder) / "distances.npy").tolist()
        [[0.0, 2.0], [3.0, 0.0]]
        """
        path = Path(path)
        size, free = self.n * self.n * self._A.dtype.itemsize, disk_usage(path.absolute().parent).free
        if size > free:
            raise SemiringError(f"{path} needs {in_words(size)} and the disk has {in_words(free)} left")
        out = np.lib.format.open_memmap(path, mode="w+", dtype=self._A.dtype, shape=(self.n, self.n))
        for vertices, block in self.blocks(rows, reflexive=reflexive):
            out[vertices] = block
        out.flush()
        return out

    def reduce(self, what: str | Callable[[np.ndarray, np.ndarray], Any], **options: Any) -> Any:
        """Something about all pairs without holding them; see `semiring.solvers.reductions`.

        Parameters
        ----------
        what : {"mean", "eccentricities", "histogram", "nearest"} or callable
            A callable takes the vertices of a block and their rows, and returns a value (or a row) for each; it may
            be called by several threads at once.
        **options
            ``bins`` of the histogram; ``k`` of the nearest.

        Returns
        -------
        number, ndarray of shape (n,) or (n, …), or tuple of arrays
            As the reduction says.

        Raises
        ------
        SemiringError
            For an unknown reduction, one that has no meaning in the algebra, and an option that it does not have or
            lacks, or a value that is none.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> float(F.reduce("mean")), F.reduce("eccentricities").tolist()
        (2.5, [2.0, 3.0])
        """
        return reductions.reduce(self, what, **options)


def dense_closure(low: Lowering, A: Sparse) -> np.ndarray:
    """A* as a dense matrix in storage, computed so that rounding errors do not grow."""
    given = as_dense(A)
    task = Task("closure", A.S, [given], options(method="squaring", device="cpu"))
    planned = schedules.offer(task)
    closed = schedules.stable_closure(planned, given.array, None, A.facts, A.names)
    result: np.ndarray = low.encode(planned.lowering.decode(closed), True)
    return result
