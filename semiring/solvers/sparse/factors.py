"""Factors of a sparse matrix: rows of its closure, equations, blocks, and new weights on the same edges."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from math import isqrt
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from semiring.algebra.arguments import truth_value
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text, html_table
from semiring.algorithms.sparse.analysis import Analysis
from semiring.errors import SemiringError
from semiring.graphs.texts import count_text, shown
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, renting
from semiring.kernels.cpu.compile.price import has_numba, loads_numba
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.panels import blocks_of
from semiring.machine.progress import told
from semiring.operands.dense import Dense
from semiring.operands.entries import COLUMN, OFFSET
from semiring.operands.read import operand
from semiring.operands.sparse import Sparse

from .. import costs
from ..costs import SparsePlan
from ..paths import measures
from ..paths.factored import Factored
from ..paths.search import answered, positions
from ..task import options
from .analysis import lowering_of
from .files import FACTORS, Saving, matrix_of, opened, read_analysis, read_vector, require_storage
from .pairs import Labels, Pairs, labels_of
from .substitution import HOST, Substitution

if TYPE_CHECKING:
    from pathlib import Path

    from semiring.graphs.tables import Table


class SparseFactors(Factored, Pairs, Saving):
    """Factors of a sparse matrix, eliminated in a fill-reducing order.

    `semiring.factor` makes them. Vertices are called by name if the matrix had names, otherwise by number. Factors on
    a GPU give rows, blocks and closures as CuPy arrays; factors on several GPUs give them on the first. Best walks,
    files, tables and answers with names are in the host's memory. Right-hand sides and new weights may be on either,
    and a solution is returned where its right-hand side was.

    Attributes
    ----------
    n : int
    names : list or None
    plan : SparsePlan
    analysis : Analysis
        The order and the structure of the factors.
    devices : tuple of int or None
        Numbers of the GPUs that have the factors, if `devices` was passed.

    Notes
    -----
    I. S. Duff, J. K. Reid, The multifrontal solution of indefinite sparse symmetric linear equations (1983);
    R. E. Tarjan, Fast algorithms for solving path problems (1981). Floats are rounded as in `semiring.closure`.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> import semiring as sr
    >>> sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
    SparseFactors of a 2 × 2 matrix with 2 edges over min-plus, float64: 1 front in 1 level, 1 pair joined
    """

    def __init__(self, substitution: Substitution):
        A = substitution.A
        self._by, self._A, self._S, self._edges, self._came = substitution, A, A.S, A, A
        self.n, self.names = A.n, None if A.names is None else list(A.names)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._by,)

    def __repr__(self) -> str:
        plan, edges = self.plan, count_text(self._A.nnz, "edge", "edges")
        fronts, levels = count_text(plan.fronts, "front", "fronts"), count_text(plan.height, "level", "levels")
        return (
            f"SparseFactors of a {self.n} × {self.n} matrix with {edges} over {self._S.name}, "
            f"{dtype_text(self._A.dtype)}: {fronts} in {levels}, {count_text(plan.fill, 'pair', 'pairs')} joined"
        )

    def _repr_html_(self) -> str:
        return html_table(repr(self), [("edges", str(self._A.nnz)), *self.plan.rows().items()])

    @property
    def plan(self) -> SparsePlan:
        """The plan by which the matrix was eliminated."""
        return self._by.plan

    @property
    def analysis(self) -> Analysis:
        """The order and the structure of the factors."""
        return self._by.analysis

    @property
    def lowering(self) -> Lowering:
        """How elements are stored and computed."""
        return self._by.lowering

    @property
    def devices(self) -> tuple[int, ...] | None:
        """Numbers of the GPUs that have the factors, if `devices` was passed."""
        return self._by.engine.devices

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @property
    def nbytes(self) -> int:
        """Bytes that the factors take."""
        return int(self._by.fronts.nbytes)

    def predict(self) -> SparsePlan:
        """Predict the cost of `closure`, and of other ways to compute it.

        Returns
        -------
        SparsePlan
            With predicted `seconds`, and `memory` in bytes.

        Raises
        ------
        SemiringError
            When ``SEMIRING_NUM_THREADS`` is not a number of threads.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> F.predict().operation, F.predict().memory >= 32
        ('closure', True)
        """
        plan = costs.plan("closure", self.lowering, self.analysis, self._A.nnz)
        search = costs.all_searches(self.lowering, self._A)
        return plan if search is None else replace(plan, seconds=plan.seconds | {"search": search})

    def refactor(self, A: Any) -> SparseFactors:
        """Factor other weights on the same edges; the analysis is used again.

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
        return SparseFactors(self._by.anew(new.copy()))

    def row(self, vertex: Hashable) -> np.ndarray:
        """Return the row of A* of one vertex: with min_plus the distances from it.

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
            When a result does not fit the dtype.

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
        """Return rows of A*, or of A⁺ = A A* if not `reflexive`.

        Parameters
        ----------
        sources : sequence of vertices
            By name, or by number where they have no names.
        targets : vertex or sequence of vertices, optional
            The columns to return, as a `Table` by name. Only this part of the rows is computed, up the elimination tree
            from the sources and down to the targets: microseconds for one pair, `F.rows([a], targets=[b])[a, b]`. If
            columns of few targets take less work, and the empty walk counts, columns are computed.
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
            When the sources are not a sequence, or a result does not fit the dtype.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> F.rows([1, 0], reflexive=False)
        array([[3., 5.],
               [5., 2.]])
        """
        starts, reflexive = self._numbers(sources), truth_value(reflexive, "reflexive")
        if targets is None:
            rows: np.ndarray = answered(self._A, self._by.rows(starts, reflexive), starts, False, None)
            return rows
        ends = positions(targets, self.names, self.n, "targets")[1]
        found = self._by.part(starts, ends) if reflexive else self._by.by_rows(starts, ends, False)
        table: Table = answered(self._A, found, starts, False, ends)
        return table

    def labels(self) -> Labels:
        """Compute labels of all vertices: two labels give an element in a microsecond.

        They take a few hundred elements for each vertex and direction (250,000 road crossings: 0.6 GiB in float32, in a
        second). Use them for many questions; `weight` needs no labels.

        Returns
        -------
        Labels

        Raises
        ------
        SemiringError
            When they do not fit in memory, for factors on a GPU, for Python objects, and without Numba.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> L = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus).labels()
        >>> L.weight([0, 1], [1, 1]).tolist()
        [2.0, 0.0]
        """
        return labels_of(self._by)

    def closure(self, *, reflexive: bool = True, progress: bool | Callable[[float], None] = False) -> Any:
        """Return A*, or A⁺, as a dense matrix.

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
            When it does not fit in memory, a result does not fit the dtype, or `progress` is neither.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> F.closure()
        array([[0., 2.],
               [3., 0.]])
        """
        options(progress=progress, reflexive=reflexive)  # checks both
        if progress is False:
            return self._by.expanded(reflexive)
        with told(progress, f"{self._S.name} closure") as report:
            return self._by.expanded(reflexive, report)

    def reduce(self, what: str | Callable[[np.ndarray, np.ndarray], Any], **options: Any) -> Any:
        """Reduce the closure to a number, or to a value for each vertex, row by row.

        Parameters
        ----------
        what : {"mean", "eccentricities", "diameter", "radius", "histogram", "nearest"} or callable
            A vertex's eccentricity is the worst weight to another vertex that it reaches, or the algebra's zero if it
            reaches none; the diameter is the worst eccentricity, and the radius the best. They need few rows if bounds
            are predicted to decide, as on road networks. A callable takes the vertices of a block and their rows, and
            returns a value (or a row) for each; several threads may call it at once.
        **options
            ``bins`` of the histogram; ``k`` of the nearest.

        Returns
        -------
        number, ndarray of shape (n,) or (n, …), or tuple of arrays
            Depends on the reduction. If ⊗ rounds, eccentricities that differ by less than 16 units in the last place
            are not distinguished.

        Raises
        ------
        LawError
            For eccentricities and nearest vertices, when ⊕ is neither the minimum nor the maximum.
        SemiringError
            For an unknown reduction, one that has no meaning in the algebra, a missing or unknown option, or a value
            that is not an element.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> float(F.reduce("mean")), F.reduce("eccentricities").tolist(), F.reduce("diameter")
        (2.5, [2.0, 3.0], 3.0)
        """
        return measures.reduce(self._by, what, **options)

    def _solution(self, right: Dense, left: bool = False) -> Any:
        return self._by.solution(right, left)

    def _of_pairs(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        return self._by.pairs(starts, ends)

    def _part(self, starts: np.ndarray, ends: np.ndarray | None) -> np.ndarray:
        found: np.ndarray = self._by.part(starts, ends)
        return found

    _across = _part

    def _way(self, starts: np.ndarray, ends: np.ndarray | None) -> str:
        way = super()._way(starts, ends)
        if self.lowering.on_gpu:
            return f"{way}, on the GPU"
        if ends is None or self._by.closed is not None:
            return way
        if self._by.has_fewer_columns(starts, ends):
            return f"{way}; columns of the targets, which take less work"
        return f"{way}; up from the sources, and down to the targets only"

    def _walk(self, start: int, end: int) -> tuple[list[int] | None, np.ndarray | None]:
        if self.lowering.kind != "numba":
            return super()._walk(start, end)
        found = self._walk_by_parts(start, end)
        if found is not None:
            return found
        with renting(self.lowering, "walks"):
            return super()._walk(start, end)

    def _walk_by_parts(self, start: int, end: int) -> tuple[list[int] | None, np.ndarray | None] | None:
        """A best walk and the weights of its edges, by compiled code; no edge is better than one.

        The row of the source is computed only where the walk passes: the vertices, and the ties, are those of
        `semiring.algorithms.trees.walk_back`. None if that needs the whole tree, or if compiling does not repay yet.
        """
        low, load, A = self.lowering, self.plan.load, self._A
        if not self._walks_by_parts or load is None:
            return None
        if low.storage.kind == "i" and A.negative_zeros:  # two codes for one number, which would not tie
            return None
        if not affordable(low, float(isqrt(A.n)), load.down, "walks").compiled:
            return None
        from semiring.kernels.cpu.sparse.walks import last_edge

        fronts: Any = self._by.fronts
        stored, edges = fronts.walk(start, end, last_edge(low))
        own, value = low.decode(stored)
        if own != A.S.one_in(A.dtype):
            return None
        if value == A.S.zero_in(A.dtype):
            return None, None
        return None if edges is None else ([start, *A.indices[edges].tolist()], A.values[edges])

    @property
    def _walks_by_parts(self) -> bool:
        """Whether parts of rows are enough to find walks."""
        low = self.lowering
        return low.kind == "numba" and low.compiled and self._by.closed is None and self._bounded

    def _way_of_walks(self) -> str:
        way = super()._way_of_walks()
        return f"{way}, computed where the walk leads" if self._walks_by_parts else way


def open_factors(path: str | Path, S: Semiring | str | None = None) -> SparseFactors:
    """Open factors that `SparseFactors.save_factors` wrote, without eliminating again.

    Parameters
    ----------
    path : path
    S : Semiring or str, optional
        The algebra, which is code, so that no file holds it. Default: the algebra of that name in the catalogue.

    Returns
    -------
    SparseFactors
        They give the answers of the saved factors, bit for bit, on any machine of the same byte order, and have the
        same methods, `SparseFactors.refactor` with new weights too.

    Raises
    ------
    SemiringError
        If the file holds something else, is damaged, or has another version; if S is not the algebra of the factors;
        and if they do not fit in memory.
    OSError
        When the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import semiring as sr
    >>> F = sr.factor(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)]), sr.min_plus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     F.save_factors(Path(folder) / "roads.factors")
    ...     again = sr.open_factors(Path(folder) / "roads.factors")
    >>> again.path("a", "c")
    (7.0, ['a', 'b', 'c'])
    """
    file, S, dtype = opened(path, FACTORS, S)
    analysis = read_analysis(file)
    values = read_vector(file, "values", dtype, analysis.nnz)
    A = matrix_of(file, Rows(analysis.indptr.astype(OFFSET), analysis.indices.astype(COLUMN), values, analysis.n), S)
    plan = HOST.plan("factor", lowering_of(A, room=True), analysis, A.nnz, answer=False)
    low = plan.lowering
    require_storage(file, low)
    compiled = file.about.get("compiled") is True and has_numba() and loads_numba()
    if compiled != low.compiled:
        low = low.in_machine_code if compiled else low.interpreted
    made = Substitution.restored(A, analysis, file.about.get("check") is True, replace(plan, lowering=low))
    panels_for = file.about.get("rows")
    if type(panels_for) is not int or not 1 <= panels_for <= 64:
        file.refuse(f"its panels are laid out for {shown(panels_for)} rows")
    blob = file.array("panels", np.uint8, blocks_of(analysis, panels_for).end * sum(c.itemsize for c in low.components))
    sizes = np.array([c.itemsize for c in low.components])
    ends = np.cumsum(sizes) * (len(blob) // int(sizes.sum()))  # of planes, one component each
    planes = [part.view(c) for part, c in zip(np.split(blob, ends[:-1]), low.components, strict=True)]
    fronts: Any = made.fronts
    fronts.restore(low.encode(A.values, True), panels_for, planes)
    if file.about.get("rounded"):
        made.rounded = file.array("rounded", np.int64)
    if file.about.get("closed"):
        made.closed = read_vector(file, "closed", low.storage, A.n**2).reshape(A.n, A.n)
    return SparseFactors(made)
