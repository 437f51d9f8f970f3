"""The verbs: each function builds a task, `verb` computes it, and `plan` shows what would be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from os import PathLike
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypedDict, TypeVar, Unpack, overload

import numpy as np

from .algebra import laws
from .algebra.by_name import algebra
from .algebra.lexicographic import in_order
from .algebra.semiring import Semiring
from .errors import SemiringError
from .graphs.texts import clip_repr
from .operands.elements import read_elements
from .operands.operand import Operand
from .operands.read import operand
from .scale.connection import Connection
from .scale.storing import storing, storing_or_memory
from .solvers.plan import Plan
from .solvers.task import SpreadTask, Task, options, own_algebra

if TYPE_CHECKING:
    from .algorithms.sparse.analysis import Analysis
    from .graphs.graph import Graph
    from .graphs.matrix import Matrix
    from .graphs.tables import Table
    from .kernels.cpu.bits.matrix import PackedMatrix
    from .results.nearest import Nearest
    from .results.path_stacks import StackedPaths
    from .results.paths import Paths
    from .solvers.dense.derived import Closures
    from .solvers.dense.factors import Factors, StackedFactors
    from .solvers.sparse.factors import SparseFactors

Progress = bool | Callable[[float], None]
Over = Semiring | str | None
Out = TypeVar("Out", bound="np.ndarray")
P = ParamSpec("P")
R = TypeVar("R")
Kept = TypeVar("Kept", "np.ndarray", "Matrix", "Graph", "PackedMatrix")


BUILDERS: dict[str, Callable[..., Task | SpreadTask]] = {}  # of tasks, by the verb's name


def verb(build: Callable[P, R]) -> Callable[P, R]:
    """Make a verb of a function that builds its task: it gives the task's answer, and `semiring.plan` shows its plan.

    The function is annotated with the type of the answer, for its callers.
    """
    BUILDERS[build.__name__] = build  # type: ignore[assignment]

    @wraps(build)
    def computed(*operands: P.args, **options: P.kwargs) -> R:
        answer: R = build(*operands, **options).answer()  # type: ignore[attr-defined]
        return answer

    return computed


class Placing(TypedDict, total=False):
    """Options of `power`, and of `matmul` beside others."""

    device: str | None
    check: bool


class Multiplying(Placing, total=False):
    """Options of `matmul`, but for those that decide what comes out; likewise the others."""

    accumulate: Any


class Solving(Placing, total=False):
    """Options of `solve`."""

    progress: Progress
    left: bool
    tol: float | None


class Factoring(Placing, total=False):
    """Options of `factor`."""

    order: str | Sequence[Any] | np.ndarray | Analysis
    progress: Progress
    tol: float | None
    devices: int | Sequence[int] | None


class Leading(TypedDict, total=False):
    """Options of `paths`."""

    sources: Any
    targets: Any
    limit: Any
    method: str
    device: str | None
    progress: Progress
    tol: float | None
    out: str | PathLike[str] | None
    next_hops: str | PathLike[str] | None
    memory: int | str | None
    checkpoint: float | None
    resume: bool


class Closing(Placing, total=False):
    """Options of `closure`."""

    method: str
    reflexive: bool
    overwrite: bool
    tile: int | None
    progress: Progress
    max_edges: int | None
    tol: float | None
    devices: int | Sequence[int] | None


@overload
def closure(
    A: Any, S: Over = None, *, on: Connection, out: str | PathLike[str] | None = ..., checkpoint: float | None = ...,
    resume: bool = ..., **others: Unpack[Closing]
) -> Any: ...
@overload
def closure(
    A: Any, S: Over = None, *, out: str | PathLike[str], memory: int | str | None = ..., checkpoint: float | None = ...,
    resume: bool = ..., **others: Unpack[Closing]
) -> Any: ...
@overload
def closure(A: Any, S: Over = None, *, on_divergence: Literal["mask"], **others: Unpack[Closing]) -> Closures: ...
@overload
def closure(A: Any, S: Over = None, *, packed: Literal[True], **others: Unpack[Closing]) -> PackedMatrix: ...
@overload
def closure(A: PackedMatrix, S: Over = None, *, packed: bool = ..., **others: Unpack[Closing]) -> PackedMatrix: ...
@overload
def closure(
    A: Matrix | Graph, S: Over = None, *, packed: Literal[False] = ..., **others: Unpack[Closing]
) -> Matrix: ...
@overload
def closure(
    A: np.ndarray | list[Any], S: Over = None, *, packed: Literal[False] = ..., **others: Unpack[Closing]
) -> np.ndarray: ...
@overload
def closure(
    A: Any, S: Over = None, *, packed: bool = ..., on_divergence: str = ..., **others: Unpack[Closing]
) -> Any: ...
@verb
def closure(
    A: Any,
    S: Semiring | str | None = None,
    *,
    method: str = "auto",
    reflexive: bool = True,
    overwrite: bool = False,
    device: str | None = None,
    tile: int | None = None,
    check: bool = True,
    packed: bool = False,
    progress: Progress = False,
    max_edges: int | None = None,
    on_divergence: str = "raise",
    tol: float | None = None,
    out: Any = None,
    memory: int | str | None = None,
    checkpoint: float | None = None,
    resume: bool = False,
    devices: int | Sequence[int] | None = None,
    on: Connection | None = None,
) -> Any:
    """Return the closure A* = 1 ⊕ A ⊕ A² ⊕ … of a square matrix.

    Element (i, j) of A* combines all walks from i to j with ⊕; the weight of a walk is the ⊗ of its edges.

    Parameters
    ----------
    A : array_like, shape (n, n) or (…, n, n)
        A NumPy or CuPy array of any strides, a SciPy sparse matrix (the answer is dense), a `Matrix`, a `Graph`, a
        NetworkX graph, a list of tuples (from, to) or (from, to, weight), or anything with DLPack. An absent edge is
        the algebra's zero. Every element of a dense array is an edge, except those that a masked array masks. Each
        matrix of a stack is closed by itself.
    S : Semiring or str, optional
        Default: the algebra of A, if A is a `Matrix` or was prepared; a different algebra is refused.
        With min_plus the answer holds shortest distances, with boolean reachability, with max_min widest paths.
    method : {"auto", "floyd-warshall", "blocked", "r-kleene", "squaring", "elimination", "sparse", "search"}
        The schedule. All give the same answer, up to rounding if ⊗ rounds. Sparse matrices and graphs are eliminated
        on their structure ("sparse"), or searched from every vertex ("search", which needs a selective ⊕ and no edge
        better than 1), if the library predicts that this is faster.
    reflexive : bool
        True: the empty walk counts. False: return A⁺ = A A*. Only packed matrices can combine it with `devices`.
    overwrite : bool
        Permission to use A's own memory. If A is dense and nothing of it is needed later, the answer is written there.
        Otherwise A is not changed.
    device : {None, "cpu", "gpu"}
        Where to compute. ``None``: where the data are; large host arrays of floats, and sparse matrices, go to the GPU
        if there is one and it is predicted to be faster. With ``"gpu"`` the closure of a sparse matrix is a CuPy array,
        and the closure of a graph is in the host's memory. With `on`: the CPU, or ``"gpu"``, see there.
    tile : int, optional
        Rows of a pivot block. ``"floyd-warshall"`` and ``"squaring"`` use none, as the plan says.
    check : bool
        Refuse entries that are not elements, and a closure that does not exist. On a GPU this check is the only
        synchronization. With check=False a kernel valid for any data runs, and results for invalid entries are
        undefined. On the CPU check=False only leaves out the search for improving cycles, and ``method="search"``
        keeps even that. `tol` and ``on_divergence="mask"`` need the check.
    packed : bool
        Return the closure over `boolean` as a `PackedMatrix`, one bit per pair, and never hold more. The closure of a
        packed A is always packed.
    progress : bool or callable
        ``True`` shows a bar on stderr; a function is called with the fraction that is done.
    max_edges : int, optional
        Count only walks of at most so many edges: 1 ⊕ A ⊕ … ⊕ A^max_edges, which also exists if A* does not. It is
        computed by products, so `method` and `tile` do not apply.
    on_divergence : {"raise", "mask"}
        What to do if a closure does not exist: raise an error about the first one, or return for every matrix whether
        it has a closure.
    tol : float, optional
        Uncertainty of the weights, if ⊗ adds or multiplies floats. A cycle of k edges is not refused if it is better
        than 1 by at most k tol, or by a factor of at most (1 + tol)^k if ⊗ is ×. If there is such a cycle, every edge
        is worsened by tol and the closure of that matrix is returned: the value of a walk of k edges is worse by k tol.
        Otherwise tol changes nothing. It does not go with `max_edges`, which never needs to judge a cycle.
    out : path, optional
        A name that ends in .npy or .zarr. The closure is computed tile by tile and written there. A may be the path of
        a .npy file or zarr array, a zarr array or an HDF5 data set; neither A nor the closure needs to fit in memory.
        Until it is complete, the closure is in a folder ``out.partial`` next to `out`. Zarr arrays have the machine's
        byte order.
    memory : int or str, optional
        With `out`: bytes of the host's memory for tiles, or a text such as "8G"; default: half of what is free. With
        ``device="gpu"`` as well, the GPU computes. It holds as many tiles as fit; those that it evicts stay in this
        much of the host's memory, or go on to the disk. Without `out`, and with ``device="gpu"``: how much of the
        GPU's memory may be used. Tiles of A then move between the host and the GPU, as they do if A does not fit.
    checkpoint : float, optional
        Seconds between commits. After a power cut the closure continues from the last commit. Default: no commits.
    resume : bool
        Continue what an earlier call with the same arguments left in ``out.partial``; without that, start anew.
    devices : int or sequence of int, optional
        How many GPUs of this host, or their numbers. They share the block rows of a matrix, which may then be larger
        than the memory of one GPU, or the matrices of a stack. A sparse matrix is eliminated on each GPU, if that is
        predicted to be faster, and they share the rows of the answer. The answer is where A is; for a sparse A on a
        GPU it is on the first of `devices`.
    on : MPI or Ray, optional
        Processes, possibly on several machines, that compute the closure together, made by `connect`. With MPI every
        process makes this call, in one of three ways. Rank 0 passes A and the others ``None``: rank 0 gets the answer,
        the others ``None``. Or each passes some rows, ``on.rows(part)``, and gets these rows of the answer. Or each
        passes the path of the same file; with ``out=`` all write the answer there, and the same number of processes can
        continue from a commit. With MPI and ``device="gpu"`` each process keeps its part of the matrix on a GPU; the
        processes of one machine take its GPUs in turn.

    Returns
    -------
    ndarray or Matrix or PackedMatrix, of A's shape
        Of A's dtype and byte order, and of A's kind if that is another array type. With ``on_divergence="mask"`` a
        pair: `values`, all zero for a matrix without a closure, and `exists`, truth values of shape (…) in the host's
        memory (a single one for one matrix). With ``out=`` the array in the file: a memory map, or a zarr array.

    Raises
    ------
    NoClosureError
        If there is an improving cycle (in min-plus a negative one) and no declared star sums it. The cycle must improve
        by more than the rounding of its edges explains; floats are known to two machine epsilons of their size, whole
        numbers are exact. Also if the star of a pivot does not exist, or 1 − A is singular over the reals. The error
        names a cycle with its weight, and which matrix of a stack has it.
    LawError
        If the method needs a law that the algebra lacks, or the algebra has products only.
    SemiringError
        If A is not square, its dtype cannot carry the algebra, an entry is not an element, an option is unknown, or
        memory is short.

    Notes
    -----
    The file of each schedule in `semiring.algorithms` names its source.

    Nothing rounds if ⊕ and ⊗ only select (max-min, min-max, boolean), nor in integers. In min-plus and max-plus a
    walk of k edges is a sum of k floats. Its error is at most (k − 1) ε / 2 times the sum of their sizes; ε is the
    machine epsilon of A's dtype. For a product, as in viterbi, this bound is relative to the result, to first order.

    Over the real and the complex numbers A* is (1 − A)⁻¹ wherever that inverse exists, computed with row exchanges,
    even if 1 + A + A² + … diverges: the closure of [[2.0]] is −1. The result of a method that you name is checked, and
    corrected if pivots cancelled. If 1 − A is singular, or rounding hides whether it is, the error gives the condition
    number; over `log` the result is ∞. For other algebras in which sums cancel, the result is compared with
    X = 1 ⊕ A X.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    >>> sr.closure(A, sr.min_plus)
    array([[ 0.,  3.,  7.],
           [inf,  0.,  4.],
           [inf, inf,  0.]])

    Two graphs in a stack; the second has a negative cycle:

    >>> loops = np.array([[[1.0]], [[-1.0]]])
    >>> found = sr.closure(loops, sr.min_plus, on_divergence="mask")
    >>> found.exists, found.values.ravel()
    (array([ True, False]), array([ 0., inf]))
    """
    to_file, on_gpu = None, None
    if not (out is memory is checkpoint is None and resume is False):
        to_file, on_gpu = storing_or_memory(out, memory, checkpoint, resume, device)
    asked = options(
        method=method, reflexive=reflexive, overwrite=overwrite, device=device, tile=tile, check=check, packed=packed,
        progress=progress, max_edges=max_edges, on_divergence=on_divergence, tol=tol, storing=to_file, devices=devices,
        gpu_memory=on_gpu, on=on,
    )
    if on is not None:
        return SpreadTask(A, S, asked)
    if overwrite:
        _refuse_prepared(A)
    return Task("closure", S, (A,), asked)


def _refuse_prepared(A: Any) -> None:
    """Refuse to overwrite a prepared matrix."""
    if isinstance(A, Operand):
        raise SemiringError("overwrite=True would change A, which was prepared and must stay as it is: pass the matrix "
                            "itself, or leave out overwrite=True")


# As in NumPy, two arrays are typed to give an array, although the product of two vectors is a number.
@overload
def matmul(
    A: Any, B: Any, S: Over = None, *, argmax: Literal[True], out: None = ..., **others: Unpack[Placing]
) -> tuple[Any, Any]: ...
@overload
def matmul(A: Any, B: Any, S: Over = None, *, out: Out, **others: Unpack[Multiplying]) -> Out: ...
@overload
def matmul(
    A: np.ndarray, B: np.ndarray, S: Over = None, *, out: None = ..., **others: Unpack[Multiplying]
) -> np.ndarray: ...
@overload
def matmul(
    A: Any, B: Any, S: Over = None, *, argmax: bool = ..., out: Any = ..., **others: Unpack[Multiplying]
) -> Any: ...
@verb
def matmul(
    A: Any,
    B: Any,
    S: Semiring | str | None = None,
    *,
    accumulate: Any = None,
    out: Any = None,
    device: str | None = None,
    check: bool = True,
    argmax: bool = False,
) -> Any:
    """Return the matrix product A ⊗ B over a semiring: c_ij = ⊕_k a_ik ⊗ b_kj.

    Parameters
    ----------
    A, B : array_like, shape (…, m, k) and (…, k, n)
        NumPy or CuPy arrays of any strides, SciPy sparse matrices, `Matrix`, graphs as for `closure`, or anything with
        DLPack; vectors and leading axes as in `numpy.matmul`. Both have the same dtype, in any byte order. A sparse
        operand is not made dense. If the vertices of both have names, these must be the same, and B is put into the
        order of A's names. Otherwise vertices are matched by position.
    S : Semiring or str, optional
        Default: the algebra of a `Matrix` or of a prepared operand.
    accumulate : array_like, optional
        A matrix C of the answer's shape; the answer is then C ⊕ A ⊗ B. C is not changed unless it is `out`.
    out : ndarray, optional
        Where to write the answer: writable, of the answer's shape and dtype, in any byte order. It is returned.
    device : {None, "cpu", "gpu"}
        Where to compute. ``None``: where the data are; large host arrays of floats go to the GPU if there is one.
    check : bool
        Whether to check the entries; see `closure`.
    argmax : bool
        Also return, for each c_ij, the k of the term that equals it: the back-pointers of Viterbi's algorithm. Needs a
        selective ⊕. For sparse matrices this is computed on the CPU.

    Returns
    -------
    ndarray, csr_array, Matrix or Graph, shape (…, m, n)
        The type depends on what A and B are, never on their size. If one is dense, the answer is an array of A's dtype
        and byte order, or of A's kind if that is another array type. If both are sparse, it is a SciPy `csr_array`. If
        the rows and columns of both are the same vertices, the answer keeps them: it is a `Graph` for two graphs, and
        otherwise a `Matrix`.
    argmax : ndarray of int32, or csr_array, shape (…, m, n)
        If wanted; the least of several k, −1 where c_ij is zero. For two sparse matrices it has the answer's entries.

    Raises
    ------
    LawError
        If `argmax` is wanted and ⊕ does not select.
    SemiringError
        If shapes do not fit, the dtype cannot carry the algebra, an entry is not an element, no algebra is given and
        no operand has one, an operand has a different one, or memory is short.
    GraphError
        If the vertices of A and B have different names.

    Notes
    -----
    A ⊗ on floats that is + or × rounds at most once; min and max do not round, so max-min and min-max products are
    exact. The error of a sum of k products is at most k ε / 2 times the sum of their sizes, to first order and in any
    order of addition; ε is the dtype's machine epsilon. Products over log-sum-exp have a bound of their own, see
    `semiring.kernels.numpy.logsum`.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[0.0, 3.0], [np.inf, 0.0]])
    >>> sr.matmul(A, A, sr.min_plus)
    array([[ 0.,  3.],
           [inf,  0.]])

    The best walk of two edges, and the vertex in its middle:

    >>> C, middle = sr.matmul(np.array([[5.0, 1.0]]), np.array([[1.0, np.inf], [2.0, np.inf]]), "min-plus", argmax=True)
    >>> C, middle
    (array([[ 3., inf]]), array([[ 1, -1]], dtype=int32))
    """
    given = (A, B) if accumulate is None else (A, B, accumulate)
    return Task("matmul", S, given, options(device=device, check=check, argmax=argmax), (out,))


def prepare(A: Any, S: Semiring | str | None = None) -> Operand:
    """Read and check a matrix once, to use it in many calls.

    The prepared matrix can stand for A in every verb, and in `pack`, `reach` and what is built on them. It is not read
    again, nor are its elements and structure checked again: most of the time of a sparse matrix times a vector.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or packed matrix, shape (…, m, n)
        As for the verb. It must not change while what is prepared from it is in use: arrays are not copied.
    S : Semiring or str, optional
        Default: the algebra of A, if it is a `Matrix`.

    Returns
    -------
    Operand
        With `shape`, `dtype` and `names`.

    Raises
    ------
    SemiringError
        If A is not a matrix over S: its dtype cannot carry the algebra, or an entry is not an element.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> import semiring as sr
    >>> A = sr.prepare(sp.csr_array([[0, 3.0], [0, 4.0]]), sr.min_plus)
    >>> sr.matmul(A, np.array([0.0, 1.0]), sr.min_plus)
    array([4., 5.])
    """
    given = operand(A, own_algebra("prepare", (A,)) if S is None else in_order(S))
    _ = given.facts
    given.look()
    given.prepared = True
    return given


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
    progress: Progress = False, left: bool = False, tol: float | None = None,
) -> Any:
    """Return the least solution of X = A ⊗ X ⊕ B, which is A* B, without forming A*.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or packed matrix, shape (n, n) or (…, n, n)
        As for `closure`.
    B : array_like, shape (n,) or (n, m)
        Of A's dtype; of shape (n,) or (m, n) if `left`. If the vertices of both have names, B is put into the order of
        A's. If A is a stack: (n,), one vector for all equations, or (…, n, m), whose leading axes broadcast.
        A data frame needs vertices as its index and columns; any other might hold edges, and is refused.
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

    Returns
    -------
    array of B's shape and kind
        In A's byte order; for a stack and a vector one answer per matrix, shape (…, n).

    Raises
    ------
    NoClosureError
        If A* does not exist; the error names a cycle with its weight, and which matrix of a stack has it.
    LawError
        If the algebra has products only.
    SemiringError
        If shapes or dtypes do not fit, an entry is not an element, or memory is short.

    Notes
    -----
    Elimination, then forward and backward substitution; B. Carré, Graphs and networks (1979). Acyclic graphs need
    substitution alone, in topological order. With `left` the transposed equations are solved if ⊗ commutes; otherwise
    A* is formed. Floats are rounded as in `closure`.

    Over the real and the complex numbers this is (1 − A) X = B, wherever 1 − A is regular, with row exchanges, even
    if 1 + A + A² + … diverges: ``solve([[2.0]], [1.0], plus_times)`` is −1. The residual is checked.

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
    """
    asked = options(device=device, check=check, progress=progress, left=left, tol=tol)
    return Task("solve", S, (A, B), asked)


@overload
def power(A: Kept, S: Over = None, k: int = ..., **others: Unpack[Placing]) -> Kept: ...
@overload
def power(A: Any, S: Over = None, k: int = ..., **others: Unpack[Placing]) -> Any: ...
@verb
def power(
    A: Any, S: Semiring | str | None = None, k: int | EllipsisType = ..., *, device: str | None = None,
    check: bool = True,
) -> Any:
    """Return the power A^k = A ⊗ A ⊗ … ⊗ A.

    Element (i, j) combines all walks of exactly k edges from i to j with ⊕.

    Parameters
    ----------
    A : array_like, shape (n, n) or (…, n, n)
        As for `matmul`.
    S : Semiring or str, optional
        Default: the algebra of A, if it is a `Matrix` or was prepared: ``power(A, k=…)``.
    k : int
        Required. The number of edges, at least 0; A⁰ is the identity.
    device : {None, "cpu", "gpu"}
        As in `matmul`.
    check : bool
        As in `matmul`.

    Returns
    -------
    ndarray, csr_array, Matrix, Graph or PackedMatrix, of A's shape
        What `matmul` gives for A and A: a sparse matrix stays sparse, and vertices keep their names.

    Raises
    ------
    LawError
        If the algebra has products only.
    SemiringError
        If A is not a square matrix over S, k is not a whole number ≥ 0, or memory is short.

    Notes
    -----
    Repeated squaring, at most 2 log₂ k products; D. E. Knuth, The art of computer programming, volume 2, section 4.6.3
    (1997). Floats are rounded as in `matmul`.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3.0], [1.0, np.inf]])
    >>> sr.power(A, sr.min_plus, 3)
    array([[inf,  7.],
           [ 5., inf]])
    """
    if k is ...:
        raise SemiringError("power needs k, the exponent: call power(A, S, k), or power(A, k=…) if A is a Matrix "
                            "(which has its algebra)")
    return Task("power", S, (A,), options(device=device, check=check), (k,))


@overload
def closure_rows(
    A: Any, S: Over = None, sources: Any = ..., *, targets: None = ..., limit: Any = ...,
    predecessors: Literal[False] = ..., device: str | None = ..., tol: float | None = ...,
) -> np.ndarray: ...
@overload
def closure_rows(
    A: Any, S: Over = None, sources: Any = ..., *, targets: None = ..., limit: Any = ...,
    predecessors: Literal[True], device: str | None = ..., tol: float | None = ...,
) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def closure_rows(
    A: Any, S: Over = None, sources: Any = ..., *, targets: Any, limit: Any = ...,
    predecessors: Literal[False] = ..., device: str | None = ..., tol: float | None = ...,
) -> Table: ...
@overload
def closure_rows(
    A: Any, S: Over = None, sources: Any = ..., *, targets: Any = ..., limit: Any = ...,
    predecessors: bool = ..., device: str | None = ..., tol: float | None = ...,
) -> Any: ...
@verb
def closure_rows(
    A: Any, S: Semiring | str | None = None, sources: Any = ..., *, targets: Any = None, limit: Any = None,
    predecessors: bool = False, device: str | None = None, tol: float | None = None,
) -> Any:
    """Return the rows of the closure A* for some sources; ⊕ must select.

    With min_plus a row holds the distances from its source, with max_min the widest paths. Memory is needed only for
    the rows, and time is about proportional to the edges and the sources. For most rows of a closure, `factor` or
    `closure` is faster.

    Parameters
    ----------
    A : sparse matrix, Graph, NetworkX graph, or what `closure` takes, or what `factor` gives
        Square. Factors answer by substitution, over every algebra.
        Every stored entry is an edge, also the number 0; entries at the same place combine with ⊕.
    S : Semiring or str, optional
        With a selective ⊕. Default: the algebra of A, if it is a `Matrix` or was prepared:
        ``closure_rows(A, sources=…)``.
    sources : vertex, or sequence of vertices
        Required. By name if the vertices of A have names, else by position.
    targets : vertex, or sequence of vertices, optional
        The columns that are wanted: the answer is a `Table` by name, and nothing more is kept. If they are far fewer
        than the sources, searches run backwards from them; floats are then summed from the other end.
    limit : element, optional
        Leave out worse walks, and do not search for them. Needs that no edge is better than 1.
    predecessors : bool
        Also return the vertex before each one on a best walk.
    device : {None, "cpu", "gpu"}
        Where to compute. ``None``: on a GPU, if there is one and the time saved is worth the copies.
    tol : float, optional
        Uncertainty of the weights; see `closure`.

    Returns
    -------
    rows : ndarray of A's dtype and byte order, shape (k, n), or (n,) for one vertex
        With targets a `Table`, shape (k, t).
    predecessors : ndarray of int32, of the same shape
        If wanted; positions, −1 for the source and for unreached vertices. Ties are broken as in `paths`, however the
        rows were found.

    Raises
    ------
    LawError
        If ⊕ does not select, or the algebra has products only; if predecessors are wanted, best walks repeat a cycle,
        and predecessors would not show how often; if there is a limit and an edge is better than 1.
    NoClosureError
        If an improving cycle can be reached from a source; the error names the cycle. Beyond an infinitely good edge
        nothing improves any more, and cycles there may stay unnoticed.
    SemiringError
        For an unknown vertex, an entry that is not an element, a result that A's dtype cannot hold, or predecessors of
        some targets only.

    Notes
    -----
    If no edge is better than 1 (non-negative weights in min-plus): Dijkstra's algorithm with a heap (E. W. Dijkstra,
    A note on two problems in connexion with graphs, 1959). Otherwise Bellman–Ford–Moore with a frontier, see
    `semiring.algorithms.frontier`. Floats are rounded as in `closure`. A cycle that is better than 1 by no more than
    the rounding of its edges explains does not count; see `semiring.algebra.rounding`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> import semiring as sr
    >>> A = sp.csr_array(([3.0, 10.0, -4.0], ([0, 0, 1], [1, 2, 2])), shape=(3, 3))
    >>> sr.closure_rows(A, sr.min_plus, [0, 1])
    array([[ 0.,  3., -1.],
           [inf,  0., -4.]])
    >>> row, before = sr.closure_rows(A, sr.min_plus, 0, predecessors=True)
    >>> before
    array([-1,  0,  1], dtype=int32)
    """
    if sources is ...:
        raise SemiringError("closure_rows needs sources: call closure_rows(A, S, sources), or closure_rows(A, "
                            "sources=…) if A is a Matrix (which has its algebra)")
    asked = options(device=device, predecessors=predecessors, tol=tol)
    return Task("closure_rows", S, (A,), asked, (sources, targets, limit))


@overload
def paths(
    A: np.ndarray[tuple[int, int], Any] | Matrix | Graph, S: Any = None, **others: Unpack[Leading]
) -> Paths: ...
@overload
def paths(A: Any, S: Any = None, **others: Unpack[Leading]) -> Paths | StackedPaths: ...
@verb
def paths(
    A: Any,
    S: Semiring | str | None = None,
    *,
    sources: Any = None,
    targets: Any = None,
    limit: Any = None,
    method: str = "auto",
    device: str | None = None,
    progress: Progress = False,
    tol: float | None = None,
    out: Any = None,
    next_hops: Any = None,
    memory: int | str | None = None,
    checkpoint: float | None = None,
    resume: bool = False,
) -> Paths | StackedPaths:
    """Find best paths between all vertices, or between some; ⊕ must select.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n) or (…, n, n)
        As for `closure`; if vertices have names, paths are asked for and given by name.
    S : Semiring or str, or a pair of them, optional
        With a selective ⊕. Not needed if A has its algebra: a `Matrix`, or a prepared matrix. In a pair
        (first, second) the first algebra decides, and the second breaks ties: ``(sr.max_min, sr.min_plus)`` asks for
        the shortest of the widest paths. The weights of edges are then records of both, or A is a tuple of two
        matrices.
    sources : vertex or sequence of vertices, optional
        Where paths begin. Default: in every vertex.
    targets : vertex or sequence of vertices, optional
        Where paths end. Default: in every vertex.
    limit : element, optional
        Leave out worse paths. Needs that no edge is better than 1.
    method : str
        As in `closure`; not with sources, because paths from sources are always searched for.
    device : {None, "cpu", "gpu"}
        Where the weights are computed; see `closure`.
    progress : bool or callable
        As in `closure`.
    tol : float, optional
        Uncertainty of the weights; see `closure`. If edges are worsened by it (in all matrices of a stack, if in one),
        the paths are those of the worsened edges, also in files and after a restart from a commit.
    out, next_hops : path, optional
        Names that both end in .npy. The weights and the next hops (int32) between all vertices are computed tile by
        tile and written there, as by `closure`. Neither needs to fit in memory; both files appear when both are
        complete. For a dense matrix the edges that best walks can use must fit in `memory`; if ⊗ is a sum these are
        few.
    memory, checkpoint, resume : optional
        As in `closure`.

    Returns
    -------
    Paths or StackedPaths
        With `weights`, `next_hop`, `predecessors`, `tree(source)`, `walk(sources, targets)`, `edges(source, target)`
        and `to_frame()`; `R[source, target]` is one path. For a stack `R[i]` has the paths in matrix i.

    Raises
    ------
    LawError
        If ⊕ does not select, the algebra is not a semiring, or best walks repeat a cycle; if there is a limit and an
        edge is better than 1; for a pair, if `lexicographic` cannot combine it and the first algebra does not rate a
        path by its worst edge.
    NoClosureError
        If there is an improving cycle.
    SemiringError
        For an unknown vertex, an entry that is not an element, or a path from one of the sources to one of the targets
        whose weight the dtype cannot hold. Any other path with such a weight is refused when it is asked for.

    Notes
    -----
    The weights are those of `closure`, or of `closure_rows` if sources are given, and the vertices follow from them;
    see `semiring.algorithms.trees`. Ties break the same way for every method and device. Among the best edges into a
    vertex, take those from vertices that are better than it, and of these the one from the vertex with the least
    position. Vertices without such an edge (because of edges of weight 0 in min-plus) are reached breadth first from
    the others, each from the least position. If an edge of the graph is better than 1 (negative in min-plus), all
    vertices are reached breadth first from the source. This holds if sources are given; without sources the same is
    done with all edges and walks reversed, and the next vertex is chosen. The ⊗ of a path's edges equals its weight
    exactly if ⊗ is exact, and otherwise within the rounding of `closure`.

    A pair of algebras is a `lexicographic` algebra if that exists. It does not exist for "widest, then shortest": the
    wider of two walks may be longer, and if a narrow edge follows both, they are equally wide, and the shorter one
    should have been kept. In that case there are two stages: first the best values by the first algebra; then, for each
    of them, the best paths by the second algebra among edges that are no worse. A part of such a path need not be a
    best path. So there are no next hops, predecessors and trees, and each path is searched for when it is asked for.
    Z. Wang, J. Crowcroft, Quality-of-service routing for supporting multimedia applications (1996).

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("Ayr", "Bo", 3.0), ("Bo", "Dale", 4.0), ("Ayr", "Dale", 9.0)])
    >>> R = sr.paths(roads, sr.min_plus)
    >>> R["Ayr", "Dale"]
    Path(weight=7.0, vertices=['Ayr', 'Bo', 'Dale'])
    >>> R["Dale", "Ayr"]
    Path(weight=inf, vertices=None)

    The widest walk to b goes through x. But an edge of width 5 follows, and then the narrow edge to b is just as wide,
    and shorter:

    >>> links = [("a", "x", (9, 4)), ("x", "b", (9, 6)), ("a", "b", (5, 1)), ("b", "c", (5, 1))]
    >>> R = sr.paths(sr.as_graph(links), (sr.max_min, sr.min_plus))
    >>> R["a", "b"].vertices, R["a", "c"].vertices
    (['a', 'x', 'b'], ['a', 'b', 'c'])
    >>> print(R["a", "c"].weight)
    (5.0, 2.0)
    """
    from .results.path_stacks import paths_of  # imported here because the other verbs do not need it and it is slow
    from .solvers.paths.search import positions

    to_file = storing(out, memory, checkpoint, resume, next_hops)
    if (out is None) != (next_hops is None):
        raise SemiringError("paths writes two files: give out= for the weights and next_hops= for the next hops")
    asked = options(method=method, device=device, progress=progress, tol=tol, storing=to_file)
    task = Task("paths", S, (A,), asked, (sources, limit, None))
    if targets is not None:
        given = task.given[0]
        ends = positions(targets, given.names, given.shape[-1], "targets")[1]
        task.arguments = (*task.arguments[:2], ends)
    task.finish = paths_of
    return task  # type: ignore[return-value]


@verb
def path(
    A: Any, S: Semiring | str | None = None, source: Any = ..., target: Any = ..., *, tol: float | None = None
) -> tuple[Any, list[Any] | None]:
    """Find one best path between two vertices; ⊕ must select.

    Parameters
    ----------
    A : array_like, shape (n, n), or what `factor` gives
        As for `closure`; with a `Matrix` or a graph, vertices are given and returned by name. Factors answer by
        substitution, without a search.
    S : Semiring or str, optional
        With a selective ⊕. Default: the algebra of A, if it is a `Matrix` or was prepared:
        ``path(A, source=…, target=…)``.
    source, target : int or hashable
        Required. By name if the vertices of A have names, else by position.
    tol : float, optional
        Uncertainty of the weights; see `closure`.

    Returns
    -------
    weight : scalar
        ⊗ along the path, rounded as in `closure`; zero if there is no path. A Python number, or a record of A's
        dtype. A sum of integers may leave A's dtype, which `closure` refuses.
    vertices : list or None
        From source to target, or ``None``. A vertex occurs twice only if repeating a cycle is better than not, and
        stops being better after some rounds.

    Raises
    ------
    LawError
        If ⊕ does not select, so that no single path is best, or the algebra is not a semiring.
    NoClosureError
        If an improving cycle can be reached from the source: one that improves by more than the rounding of its edges
        explains.
    SemiringError
        For an unknown vertex, or an entry that is not an element.

    Notes
    -----
    The search of `closure_rows`; floats are rounded as in `closure`.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)], sr.min_plus)
    >>> sr.path(roads, sr.min_plus, "a", "c")
    (7.0, ['a', 'b', 'c'])
    """
    if source is ... or target is ...:
        raise SemiringError("path needs a source and a target: call path(A, S, source, target), or path(A, source=…, "
                            "target=…) if A is a Matrix (which has its algebra)")
    return Task("path", S, (A,), options(tol=tol), (source, target))  # type: ignore[return-value]


@verb
def nearest(A: Any, S: Semiring | str | None = None, places: Any = ...) -> Nearest:
    """Find for every vertex the best of some places, and the value of its walk.

    ⊕ must select. One search starts in all places at once. For the nearest place to go to, pass the reversed graph, or
    A.T.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n)
        As for `closure`.
    S : Semiring or str, optional
        With a selective ⊕. Default: the algebra of A, if it is a `Matrix` or was prepared: ``nearest(A, places=…)``.
    places : vertex, or sequence or set of vertices
        Required; at least one. By name if the vertices of A have names, else by position.

    Returns
    -------
    weights : ndarray of A's dtype, shape (n,)
        ⊕ over all walks from any of the places; zero if there is none. For a graph or a `Matrix` of integers float64 if
        there is an ∞, as in `Matrix.to_numpy`.
    places : ndarray, shape (n,)
        The place where the best walk begins: names, as objects, if A has names (None if there is no walk), else
        positions of int32 (−1 if there is no walk). Ties are broken as `paths` does for a source with an edge to every
        place, not by the order of the places.

    Raises
    ------
    LawError
        If ⊕ does not select, the algebra is not a semiring, or best walks repeat a cycle.
    NoClosureError
        If an improving cycle can be reached from a place.
    SemiringError
        For an unknown vertex, no place, or an entry that is not an element.

    Notes
    -----
    The search of `closure_rows` from all places at once, or from a vertex with an edge of weight one to each. M. Erwig,
    The graph Voronoi diagram with applications, Networks (2000). Floats are rounded as in `closure`.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("Ayr", "Bo", 3.0), ("Bo", "Cole", 1.0), ("Dale", "Cole", 2.0)])
    >>> found = sr.nearest(roads, sr.min_plus, ["Ayr", "Dale"])
    >>> found.weights, found.places.tolist()
    (array([0., 3., 2., 0.]), ['Ayr', 'Ayr', 'Dale', 'Dale'])
    """
    if places is ...:
        raise SemiringError("nearest needs places: call nearest(A, S, places), or nearest(A, places=…) if A is a "
                            "Matrix (which has its algebra)")
    from .results.nearest import nearest_of  # imported here because the other verbs do not need it

    task = Task("nearest", S, (A,), options(), (places,))
    task.finish = nearest_of
    return task  # type: ignore[return-value]


@verb
def cycle_mean(A: Any, S: Semiring | str | None = None) -> tuple[Any, list[Any] | None]:
    """Find the best mean weight of a cycle, and a cycle that has it.

    The best is the least in min-plus and the greatest in max-plus. The mean of a strongly connected graph is the only
    eigenvalue of its matrix, A ⊗ x = λ ⊗ x: the time that each round of a schedule takes in the long run. The cycle is
    called critical.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n)
        As for `closure`.
    S : Semiring or str, optional
        Its ⊕ is min or max, and its ⊗ is +. Default: the algebra of A, if it is a `Matrix` or was prepared.

    Returns
    -------
    mean : scalar
        The weight of the cycle divided by its number of edges: of A's dtype if A holds floats, else a float64. The
        algebra's zero if there is no cycle.
    vertices : list or None
        The cycle in the direction of its edges, by name or by position; the first vertex is also the last. None if
        there is no cycle.

    Raises
    ------
    LawError
        If ⊕ is not min or max, or ⊗ is not +.
    SemiringError
        If A is not a square matrix over S, or holds Python objects.

    Notes
    -----
    Policy iteration, then a search for a better cycle. The search is exact for whole numbers; for floats it may miss a
    cycle that is better by no more than rounding. R. A. Howard, Dynamic programming and Markov processes (1960);
    J. Cochet-Terrasson, G. Cohen, S. Gaubert, M. McGettrick, J.-P. Quadrat, Numerical computation of spectral elements
    in max-plus algebra (1998).

    Examples
    --------
    >>> import semiring as sr
    >>> trains = sr.adjacency([("a", "b", 3.0), ("b", "a", 5.0), ("b", "b", 2.0)], sr.max_plus)
    >>> sr.cycle_mean(trains, sr.max_plus)
    (np.float64(4.0), ['a', 'b', 'a'])
    """
    return Task("cycle_mean", S, (A,), options())  # type: ignore[return-value]


def plan(verb: str, /, *operands: Any, **options: Any) -> Plan:
    """Return the plan that a verb would run, without running it.

    Parameters
    ----------
    verb : {"closure", "matmul", "factor", "solve", "power", "closure_rows", "paths", "path", "nearest", "cycle_mean"}
        The name of the function.
    *operands
        Its positional arguments: ``plan("matmul", A, B, S)`` is the plan of ``matmul(A, B, S)``.
    **options
        Its keyword arguments. With `out` nothing is written but a few MiB that measure the disk, and those only when
        the plan is printed. With `on` all processes call this; a few MiB are sent to measure the rate of messages. For
        a `limit` a few short searches may be made, to see how far it lets them come.

    Returns
    -------
    Plan
        Printable; with `method`, `lowering`, `place`, `work`, `memory` and the reasons, and `run`, which gives the
        verb's answer. For a sparse matrix that is eliminated on its structure a `SparsePlan`, with predicted times.

    Raises
    ------
    SemiringError
        For an unknown verb, and wherever the verb refuses its arguments before it computes.
    LawError
        When the verb or the method needs a law that the algebra lacks.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> p = sr.plan("closure", np.zeros((300, 300), np.float32), sr.max_min)
    >>> p.method, p.lowering.name, p.work
    ('r-kleene', 'ordered integers', 27000000)
    >>> sr.plan("matmul", np.zeros((3, 4)), np.zeros((4, 2)), sr.min_plus).method
    'tiled product'
    """
    if not isinstance(verb, str) or verb not in BUILDERS:
        raise SemiringError(f"unknown verb {clip_repr(verb)}: it is the name of a function, {', '.join(BUILDERS)}, as "
                            "in plan('closure', A, S)")
    build = BUILDERS[verb]
    known = signature(build)
    for name in options:
        if name not in known.parameters:
            own = (p.name for p in known.parameters.values() if p.kind is Parameter.KEYWORD_ONLY)
            raise SemiringError(f"{verb} has no option {name!r}; it has {', '.join(own) or 'none'}")
    try:
        known.bind(*operands, **options)
    except TypeError as e:
        raise SemiringError(f"{verb} takes {known.replace(return_annotation=Signature.empty)}: {e}") from None
    return build(*operands, **options).plan()


def check_laws(S: Semiring | str, samples: Sequence[Any] | np.ndarray | None = None) -> laws.LawReport:
    """Test every law of semirings, the star law and the four flags on samples.

    Parameters
    ----------
    S : Semiring or str
    samples : sequence or array of elements, shape (count,), optional
        Elements to combine in all ways. Default: those that the algebra was declared with.

    Returns
    -------
    LawReport
        Printable; `ok`, `failures` with a counterexample each, `derived` flags.

    Raises
    ------
    SemiringError
        For an unknown algebra, and for samples that are not elements.

    Notes
    -----
    The laws are those of closed semirings; see D. J. Lehmann, Algebraic structures for transitive closure (1977). Two
    sides count as equal if they differ by no more than rounding; see `LawReport`.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.check_laws(sr.max_min).ok
    True
    >>> print(sr.check_laws(sr.plus_min).failures[0])
    ⊗ does not distribute on the left. With a = 2, b = 3, c = 5, a ⊗ (b ⊕ c) = 2 but (a ⊗ b) ⊕ (a ⊗ c) = 4
    """
    S = algebra(S)
    if samples is None:
        return S._law_report
    tried = read_elements(samples, S, "samples")
    return laws.check(S.over(tried.dtype).unchecked, tried, name=S.name, star=not S.product_only)
