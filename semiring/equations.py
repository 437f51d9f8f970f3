"""The verbs of equations X = A ⊗ X ⊕ B: factors of a matrix, and solutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from .algebra.semiring import Semiring
from .matrices import Factoring, Over, Progress, Solving, verb
from .solvers.task import Task, options

if TYPE_CHECKING:
    from .algorithms.sparse.analysis import Analysis
    from .graphs.graph import Graph
    from .graphs.matrix import Matrix
    from .kernels.cpu.bits.matrix import PackedMatrix
    from .solvers.dense.factors import Factors
    from .solvers.dense.stacked_factors import StackedFactors
    from .solvers.sparse.factors import SparseFactors


@overload
def factor(A: Graph, S: Over = None, **others: Unpack[Factoring]) -> SparseFactors: ...
@overload
def factor(
    A: np.ndarray[tuple[int, int], Any] | Matrix | PackedMatrix, S: Over = None, **others: Unpack[Factoring]
) -> Factors: ...
@overload
def factor(A: Any, S: Over = None, **others: Unpack[Factoring]) -> Factors | StackedFactors | SparseFactors: ...
@verb
def factor(
    A: Any, S: Semiring | str | None = None, *, device: str | None = None, check: bool = True,
    order: str | Sequence[Any] | np.ndarray | Analysis = "auto", progress: Progress = False, tol: float | None = None,
    devices: int | Sequence[int] | None = None,
) -> Factors | StackedFactors | SparseFactors:
    """Eliminate a square matrix once (LU decomposition), a third of a closure's work.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n) or (…, n, n)
        As for `closure`.
    S : Semiring or str, optional
        Default: the algebra of A, if it is a `Matrix` or was prepared.
    device : {None, "cpu", "gpu"}
        Where to compute. ``None``: where A is. Factors of a sparse matrix on a GPU return CuPy arrays.
    check : bool
        Refuse a closure that does not exist, and results without a value; see `closure`.
    order : {"auto", "amd", "levels", "metis", "natural"}, sequence of all vertices, or Analysis
        The order of elimination of a sparse matrix or graph: approximate minimum degree, or nested dissection by level
        sets or by METIS (with ``pymetis``); ``"auto"`` is the better of the first two. Or the order itself, a list
        or an array of vertices by name, or by number if they have no names, first to be eliminated first;
        ``F.analysis.order`` is one for the same edges. Or the analysis of a matrix with the same edges, ``F.analysis``
        or the result of `open_analysis`, which saves finding it.
    progress : bool or callable
        As in `closure`.
    tol : float, optional
        Uncertainty of the weights; see `closure`. If one matrix of a stack needs it, all are worsened.
    devices : int or sequence of int, optional
        For a sparse matrix or graph: how many GPUs of this host, or their numbers. Each GPU eliminates the matrix; they
        then share the sources of rows and reductions, and the columns of right-hand sides. Results that stay on a GPU
        are gathered on the first.

    Returns
    -------
    Factors, StackedFactors or SparseFactors
        With `solve(B)` and `closure()`. For a sparse matrix or graph also rows, streams of rows, and reductions,
        which never hold an n × n matrix.

    Raises
    ------
    NoClosureError
        If A* does not exist; the error names a cycle with its weight.
    LawError
        If the algebra has products only.
    SemiringError
        If A is not a matrix over S, an option is unknown, or the factors would not fit in memory.

    Notes
    -----
    B. Carré, Graphs and networks (1979); for sparse matrices by fronts, I. S. Duff, J. K. Reid, The multifrontal
    solution of indefinite sparse symmetric linear equations (1983). Floats are rounded as in `closure`.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> F = sr.factor(np.array([[0.0, 0.5], [0.25, 0.0]]), sr.plus_times)
    >>> F.solve(np.array([7.0, 0.0]))
    array([8., 2.])

    With your own order of elimination:

    >>> import scipy.sparse as sp
    >>> path = sp.csr_array([[0, 2.0, 0], [0, 0, 3.0], [0, 0, 0]])
    >>> sr.factor(path, sr.min_plus, order=[2, 0, 1]).row(0)
    array([0., 2., 5.])
    """
    asked = options(device=device, check=check, order=order, progress=progress, tol=tol, devices=devices)
    return Task("factor", S, (A,), asked)  # type: ignore[return-value]


@overload
def solve(A: Any, B: np.ndarray, S: Over = None, **others: Unpack[Solving]) -> np.ndarray: ...
@overload
def solve(A: Any, B: Any, S: Over = None, **others: Unpack[Solving]) -> Any: ...
@verb
def solve(
    A: Any, B: Any, S: Semiring | str | None = None, *, device: str | None = None, check: bool = True,
    progress: Progress = False, left: bool = False, tol: float | None = None, method: str = "auto",
    rtol: float | None = None,
) -> Any:
    """Return the least solution of X = A ⊗ X ⊕ B, which is A* B, without forming A*.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or packed matrix, shape (n, n) or (…, n, n)
        As for `closure`.
    B : array_like, shape (n,) or (n, m)
        Of A's dtype; of shape (n,) or (m, n) if `left`. If the vertices of both have names, B is put into the order of
        A's. If A is a stack: (n,), one vector for all equations, or (…, n, m), whose leading axes broadcast.
        A data frame needs A's vertices as its index, or as its columns if `left`; any other might hold edges, and is
        refused.
    S : Semiring or str, optional
        Default: the algebra of a `Matrix` or of a prepared operand.
    device : {None, "cpu", "gpu"}
        Where to compute. ``None``: where the data are.
    check : bool
        Refuse a closure that does not exist, and results without a value; see `closure`.
    progress : bool or callable
        As in `closure`.
    left : bool
        Put the unknowns on the left: solve X = X ⊗ A ⊕ B, whose least solution is B A*.
    tol : float, optional
        Uncertainty of the weights; see `closure`. If one matrix of a stack needs it, all are worsened.
    method : {"auto", "iterative"}
        ``"iterative"`` never eliminates: for sparse matrices and graphs over the real or the complex numbers. Default:
        whichever is predicted to be faster.
    rtol : float, optional
        The residual to which equations are solved iteratively: in every entry ``|B + A X − X|`` is at most rtol
        ``(|A| |X| + |X| + |B|)``, beyond the rounding of this sum. So X solves equations whose entries differ by a
        share of rtol at most. Implies ``method="iterative"``. Default: 16 machine epsilons, which is as accurate as
        elimination.

    Returns
    -------
    array of B's shape and kind
        In A's byte order; for a stack and a vector one answer per matrix, shape (…, n). An array is a DataArray of
        xarray if A or B is one, and the other an array, a series or a `Matrix`.

    Raises
    ------
    NoClosureError
        If A* does not exist; the error names a cycle with its weight, and which matrix of a stack has it.
    LawError
        If the algebra has products only.
    SemiringError
        If shapes or dtypes do not fit, an entry is not an element, memory is short, or iteration does not reach `rtol`.

    Notes
    -----
    Elimination, then forward and backward substitution; B. Carré, Graphs and networks (1979). Acyclic graphs need
    substitution alone, in topological order. With `left` the transposed equations are solved, in which the operands of
    ⊗ are exchanged. If ⊕ is idempotent and the values on walks settle, as those of data flow do, they are passed on by
    a work list: G. A. Kildall (1973). Floats are rounded as in `closure`.

    Over the real and the complex numbers this is (1 − A) X = B, wherever 1 − A is regular, with row exchanges, even
    if 1 + A + A² + … diverges: ``solve([[2.0]], [1.0], plus_times)`` is −1. The residual is checked. A sparse matrix
    that would fill in is not eliminated: BiCGSTAB (H. A. van der Vorst, 1992) finds X, or the power series if a norm of
    A is below 1, or GMRES; the plan says so. If the sums of abs(A) along rows are at most c < 1, the error of X is at
    most (1 + c) / (1 − c) times the relative residual, beside the largest entry.

    Examples
    --------
    Distances to one vertex: B is one at this vertex and zero elsewhere.

    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    >>> sr.solve(A, np.array([np.inf, np.inf, 0.0]), sr.min_plus)
    array([7., 4., 0.])

    Distances from one vertex:

    >>> sr.solve(A, np.array([0.0, np.inf, np.inf]), sr.min_plus, left=True)
    array([0., 3., 7.])

    The importance of three pages, by which links a reader follows (PageRank):

    >>> import scipy.sparse as sp
    >>> links = sp.csr_array([[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]])
    >>> rank = sr.solve(0.85 * links, np.full(3, 0.05), sr.plus_times, left=True, method="iterative")
    >>> rank.round(3)
    array([0.486, 0.257, 0.257])
    """
    asked = options(device=device, check=check, progress=progress, left=left, tol=tol, method=method, rtol=rtol)
    return Task("solve", S, (A, B), asked)
