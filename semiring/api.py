"""The verbs: each builds a task, and all end in `semiring.solvers.task.compute`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from os import PathLike
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack, overload

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
from .solvers.task import Options, Task, compute, first_offer, options, own_algebra, refuse_what_has_no_meaning

if TYPE_CHECKING:
    from .algorithms.sparse.analysis import Analysis
    from .graphs.graph import Graph
    from .graphs.matrix import Matrix
    from .graphs.tables import Table
    from .kernels.cpu.bits.matrix import PackedMatrix
    from .results.path_stacks import StackedPaths
    from .results.paths import Paths
    from .solvers.existence import Closures
    from .solvers.factors import Factors
    from .solvers.sparse_factors import SparseFactors
    from .solvers.stacks import StackedFactors

Progress = bool | Callable[[float], None]
Over = Semiring | str | None
Out = TypeVar("Out", bound="np.ndarray")
Kept = TypeVar("Kept", "np.ndarray", "Matrix", "Graph", "PackedMatrix")


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
    """The closure A* = 1 ⊕ A ⊕ A² ⊕ … of a square matrix: the ⊕ over all walks of the ⊗ along each.

    Parameters
    ----------
    A : array_like, shape (n, n) or (…, n, n)
        A NumPy or CuPy array of any strides, a SciPy sparse matrix (the answer is dense), a `Matrix`, a `Graph`, a
        NetworkX graph, a list of tuples (from, to) or (from, to, weight), or anything with DLPack. An absent edge is
        the algebra's zero; dense arrays are taken literally, but what a masked array masks is not an edge.
        A stack is closed matrix by matrix.
    S : Semiring or str, optional
        Default: that of A, which a `Matrix` or what `prepare` gives has; another one than A's is refused.
        With min_plus the answer holds shortest distances, with boolean reachability, with max_min widest paths.
    method : {"auto", "floyd-warshall", "blocked", "r-kleene", "squaring", "elimination", "sparse", "search"}
        The schedule. All give the same answer, up to rounding where ⊗ rounds. Sparse matrices and graphs are eliminated
        on their structure ("sparse"), or searched from every vertex ("search", where ⊕ selects and no edge is better
        than 1), where that is reckoned to be faster.
    reflexive : bool
        Whether the empty walk counts; otherwise A⁺ = A A*. With `devices` not of packed bits.
    overwrite : bool
        Whether A's own memory may be used, which is a permission: where A is dense and nothing of it is needed later
        the answer lies there. Otherwise A is not changed.
    device : {None, "cpu", "gpu"}
        Where to compute; ``None``: where the data are, and for large host arrays of floats, and sparse matrices, the
        GPU if there is one and that is predicted to be faster. The closure of a sparse matrix that ``"gpu"`` was asked
        for is a CuPy array; that of a graph is in the host's memory. With `on`: the CPU, or ``"gpu"``, see there.
    tile : int, optional
        Rows of a pivot block. ``"floyd-warshall"`` and ``"squaring"`` have none, as the plan says.
    check : bool
        Whether to refuse entries that are not elements, and a closure that does not exist. On a GPU this is the only
        thing that waits for the device; without it the form of the algebra that is right for all data runs, and what
        comes of such entries is not defined. On the CPU only the search for improving cycles is left out, and by
        ``method="search"`` not even that. With `tol` and ``on_divergence="mask"`` it cannot be left out.
    packed : bool
        Whether to give the closure over `boolean` as a `PackedMatrix`, one bit a pair, and never hold more. A packed A
        is closed so in any case.
    progress : bool or callable
        ``True`` shows a bar on stderr; a callable is given the fraction done.
    max_edges : int, optional
        Only walks of at most so many edges count: 1 ⊕ A ⊕ … ⊕ A^max_edges, which exists where A* does not, too. By
        products, so that `method` and `tile` have no meaning.
    on_divergence : {"raise", "mask"}
        What happens where a closure does not exist: an error of the first one, or an answer that says of every matrix
        whether it has one.
    tol : float, optional
        How well weights are known, where ⊗ adds or multiplies floats: a cycle of k edges that is better than 1 by no
        more than k tol, or by a factor of no more than (1 + tol)^k where ⊗ is ×, is not refused. Where there is one the
        answer is that of edges that are all worse by tol, so that the value of a walk of k edges is worse by k tol;
        elsewhere tol changes nothing. Not with `max_edges`, which no cycle needs to be judged for.
    out : path, optional
        Ends in .npy or .zarr. The closure is computed tile by tile and written there, and A may be the path of a .npy
        file or a zarr array, a zarr array or an HDF5 data set: neither needs to fit in memory. Until the closure is
        whole it is in a folder ``out.partial`` beside its place. Arrays of zarr are in the machine's order of bytes.
    memory : int or str, optional
        With `out` bytes for tiles in the host's memory, or a text such as "8G"; half of what is free when absent. With
        ``device="gpu"`` too the GPU computes: it holds as many tiles as it has room for, and those that it puts away
        stay in so much of the host's memory, or go on to the disk. Without `out`, ``device="gpu"``: how much of the
        GPU's memory may be used. Tiles of A, which is on the host like the answer, go there and back, as they do where
        A does not fit.
    checkpoint : float, optional
        Seconds between commits: after a power cut the closure goes on from the last one. None when absent.
    resume : bool
        Go on with what an earlier call with the same arguments left in ``out.partial``; begin where there is nothing.
    devices : int or sequence of int, optional
        How many GPUs of this host, or their numbers. Block rows of a matrix are dealt out to them, so that it may be
        larger than the memory of one; or the matrices of a stack. A sparse matrix is eliminated on each, where that is
        predicted to be faster, and rows of the answer are dealt out. The answer is where A is; if a sparse A is on a
        GPU, on the first of these.
    on : MPI or Ray, optional
        Processes, also on several machines, that compute it together: `connect` gives them. With MPI all of them call
        this. Either rank 0 passes A, and the others ``None``: it has the answer, and the others get ``None``. Or each
        passes some rows, ``on.rows(part)``, and gets these of the answer. Or each passes the path of the same file;
        with ``out=`` all write the answer there, and the same number of processes goes on from a commit. With MPI and
        ``device="gpu"`` each process has its part of the matrix on a GPU: those of one machine take its GPUs in turn.

    Returns
    -------
    ndarray or Matrix or PackedMatrix, of A's shape
        Of A's dtype and byte order, and of A's kind where that is another array type. With ``on_divergence="mask"`` a
        pair of these: `values`, in which a matrix that has no closure is all zero, and `exists`, truth values of shape
        (…) in the host's memory, a single one for one matrix. With ``out=`` the array in the file: a memory map, or a
        zarr array.

    Raises
    ------
    NoClosureError
        When there is an improving cycle (in min-plus a negative one), by more than the rounding of its edges explains
        (floats are known to two machine epsilons of their size, whole numbers are exact), and no star was declared
        that sums it; or a pivot's star does not exist, or over the reals 1 − A is singular. It names a cycle with its
        weight, and which matrix of a stack it is in.
    LawError
        When the method needs a law that the algebra lacks, or the algebra has products only.
    SemiringError
        When A is not square, its dtype cannot carry the algebra, an entry is not an element, an option is not known, or
        memory is short.

    Notes
    -----
    Each schedule's file in `semiring.algorithms` names its source.

    Nothing rounds where ⊕ and ⊗ only select (max-min, min-max, boolean), nor in integers. In min-plus and max-plus a
    walk of k edges is a sum of k floats, which is off by at most (k − 1) ε / 2 times the sum of their sizes, ε being
    the machine epsilon of A's dtype; of a product, as in viterbi, that is relative to the result, to first order.

    Over the real and the complex numbers A* is (1 − A)⁻¹ wherever that exists, with exchange of rows: also where
    1 + A + A² + … diverges, so that of [[2.0]] it is −1. What a method that was asked for makes of it is looked at, and
    mended where pivots cancelled. Where 1 − A is singular, or rounding hides whether it is, there is an error with the
    condition number; over `log` it is ∞. Other algebras in which sums cancel are compared with X = 1 ⊕ A X.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    >>> sr.closure(A, sr.min_plus)
    array([[ 0.,  3.,  7.],
           [inf,  0.,  4.],
           [inf, inf,  0.]])

    Of several graphs, one of which has a negative cycle:

    >>> loops = np.array([[[1.0]], [[-1.0]]])
    >>> found = sr.closure(loops, sr.min_plus, on_divergence="mask")
    >>> found.exists, found.values.ravel()
    (array([ True, False]), array([ 0., inf]))
    """
    to_file, on_gpu = None, None
    if not (out is memory is checkpoint is None and resume is False):
        to_file, on_gpu = storing_or_memory(out, memory, checkpoint, resume, device)
    asked = options(method, reflexive, overwrite, device, tile, check, packed, progress, max_edges=max_edges,
                    on_divergence=on_divergence, tol=tol, storing=to_file, devices=devices, gpu_memory=on_gpu)
    if on is not None:
        return _solver_of(on).closure(on, A, S, asked)
    if overwrite:
        _refuse_prepared(A)
    return compute(Task("closure", S, (A,), asked))


def _refuse_prepared(A: Any) -> None:
    """What is prepared is not overwritten."""
    if isinstance(A, Operand):
        raise SemiringError("A was prepared, and what is prepared must not change: pass the matrix itself, or leave "
                            "out overwrite=True")


# As NumPy does for its own, arrays are said to give an array; of two vectors that is a number.
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
    """The matrix product A ⊗ B over a semiring: c_ij = ⊕_k a_ik ⊗ b_kj.

    Parameters
    ----------
    A, B : array_like, shape (…, m, k) and (…, k, n)
        NumPy or CuPy arrays of any strides, SciPy sparse matrices, `Matrix`, graphs as for `closure`, or anything with
        DLPack; vectors and leading axes as in `numpy.matmul`. Of the same dtype, in any byte order. Where one is
        sparse, it stays so. Where the vertices of two have names, they
        are the same names: those of B are put in the order of A's. Arrays, and vertices without names, are taken by
        position.
    S : Semiring or str, optional
        Default: that of a `Matrix`, or of what `prepare` gives.
    accumulate : array_like, optional
        C of the answer's shape; the answer is then C ⊕ A ⊗ B. It is not changed unless it is `out`.
    out : ndarray, optional
        Where to put the answer: writable, of the answer's shape and dtype, in any byte order. It is returned.
    device : {None, "cpu", "gpu"}
        Where to compute; ``None``: where the data are, and for large host arrays of floats the GPU if there is one.
    check : bool
        Whether to look at the entries; see `closure`.
    argmax : bool
        Whether to return also the k of the term that is c_ij, where ⊕ selects: the back-pointers of Viterbi's
        algorithm. Of sparse matrices found on the CPU.

    Returns
    -------
    ndarray, csr_array, Matrix or Graph, shape (…, m, n)
        What it is depends on what A and B are, never on their size. Where one is dense so is the answer: an array of
        A's dtype and byte order, or of A's kind where that is another array type. Where both are sparse it is a SciPy
        `csr_array`. Where the rows and columns of both are vertices, the same ones, they stay so: the answer is a
        `Graph` of two graphs, and otherwise a `Matrix`.
    argmax : ndarray of int32, or csr_array, shape (…, m, n)
        If wanted; the least k of several, −1 where c_ij is zero. Of two sparse matrices by the entries of the answer.

    Raises
    ------
    LawError
        When `argmax` is wanted and ⊕ does not select.
    SemiringError
        When shapes do not fit, the dtype cannot carry the algebra, an entry is not an element, no algebra is given and
        no operand has one, an operand has another one, or memory is short.
    GraphError
        When the vertices of A and B have names, and not the same ones.

    Notes
    -----
    Of floats each ⊗ that is + or × rounds at most once; min and max do not round, so that max-min and min-max products
    are exact. A sum of k products is off by at most k ε / 2 times the sum of their sizes, to first order, in whatever
    order they are added, ε being the dtype's machine epsilon. Products over log-sum-exp have a bound of their own, see
    `semiring.kernels.numpy.logsum`.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[0.0, 3.0], [np.inf, 0.0]])
    >>> sr.matmul(A, A, sr.min_plus)
    array([[ 0.,  3.],
           [inf,  0.]])

    The best way of two edges, and by which vertex it goes:

    >>> C, middle = sr.matmul(np.array([[5.0, 1.0]]), np.array([[1.0, np.inf], [2.0, np.inf]]), "min-plus", argmax=True)
    >>> C, middle
    (array([[ 3., inf]]), array([[ 1, -1]], dtype=int32))
    """
    given = (A, B) if accumulate is None else (A, B, accumulate)
    return compute(Task("matmul", S, given, options(device=device, check=check, argmax=argmax), (out,)))


def prepare(A: Any, S: Semiring | str | None = None) -> Operand:
    """A matrix, read and examined once, to be used in many calls.

    What is prepared stands for A in every verb, and in `pack`, `reach` and what is built on them: it is not read again,
    nor are its elements and its structure looked at. That is most of the time of a sparse matrix times a vector.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or packed matrix, shape (…, m, n)
        As for the verb. It must not change as long as what is prepared from it is in use: arrays are not copied.
    S : Semiring or str, optional
        Default: that of A, if it is a `Matrix`.

    Returns
    -------
    Operand
        With `shape`, `dtype` and `names`.

    Raises
    ------
    SemiringError
        When A is not a matrix over S: its dtype cannot carry the algebra, or an entry is not an element.

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
def factor(
    A: Any, S: Semiring | str | None = None, *, device: str | None = None, check: bool = True,
    order: str | Sequence[Any] | np.ndarray | Analysis = "auto", progress: Progress = False, tol: float | None = None,
    devices: int | Sequence[int] | None = None,
) -> Factors | StackedFactors | SparseFactors:
    """Eliminate a square matrix once (LU decomposition), a third of the closure's work.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n) or (…, n, n)
        As for `closure`.
    S : Semiring or str, optional
        Default: that of A, if it is a `Matrix` or was prepared.
    device : {None, "cpu", "gpu"}
        Where to compute; ``None``: where A is. Factors of a sparse matrix on a GPU answer with CuPy arrays.
    check : bool
        Whether to refuse a closure that does not exist, and results without a value; see `closure`.
    order : {"auto", "amd", "levels", "metis", "natural"}, sequence of all vertices, or Analysis
        What finds the order of elimination of a sparse matrix or graph: approximate minimum degree, nested dissection
        by level sets, or by METIS (which needs `pymetis`); ``"auto"`` is the better one of the first two. Or the order
        itself, a list or an array of vertices by name, or by number where they have no names, the first to be
        eliminated first; ``F.analysis.order`` is one for the same edges. Or the analysis of a matrix with the same
        edges, ``F.analysis`` or what `open_analysis` gives, which saves finding it.
    progress : bool or callable
        As in `closure`.
    tol : float, optional
        How well weights are known; see `closure`. Of a stack all matrices are made worse if one has to be.
    devices : int or sequence of int, optional
        Of a sparse matrix or graph: how many GPUs of this host, or their numbers. Each eliminates the matrix, and what
        is asked of the factors is dealt out to them: sources of rows and reductions, columns of right-hand sides.
        Arrays that stay on a GPU come together on the first.

    Returns
    -------
    Factors, StackedFactors or SparseFactors
        With `.solve(B)` and `.closure()`; of a sparse matrix or graph also rows, streams of rows, and reductions, with
        nothing of n × n ever held.

    Raises
    ------
    NoClosureError
        When A* does not exist; it names a cycle with its weight.
    LawError
        When the algebra has products only.
    SemiringError
        When A is not a matrix over S, an option is not known, or the factors would not fit in memory.

    Notes
    -----
    B. Carré, Graphs and networks (1979); of sparse matrices by fronts, I. S. Duff, J. K. Reid, The multifrontal
    solution of indefinite sparse symmetric linear equations (1983). Floats are rounded as in `closure`.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> F = sr.factor(np.array([[0.0, 0.5], [0.25, 0.0]]), sr.plus_times)
    >>> F.solve(np.array([7.0, 0.0]))
    array([8., 2.])

    In an order from elsewhere:

    >>> import scipy.sparse as sp
    >>> path = sp.csr_array([[0, 2.0, 0], [0, 0, 3.0], [0, 0, 0]])
    >>> sr.factor(path, sr.min_plus, order=[2, 0, 1]).row(0)
    array([0., 2., 5.])
    """
    asked = options(device=device, check=check, order=order, progress=progress, tol=tol, devices=devices)
    made: Factors | StackedFactors | SparseFactors = compute(Task("factor", S, (A,), asked))
    return made


@overload
def solve(A: Any, B: np.ndarray, S: Over = None, **others: Unpack[Solving]) -> np.ndarray: ...
@overload
def solve(A: Any, B: Any, S: Over = None, **others: Unpack[Solving]) -> Any: ...
def solve(
    A: Any, B: Any, S: Semiring | str | None = None, *, device: str | None = None, check: bool = True,
    progress: Progress = False, left: bool = False, tol: float | None = None,
) -> Any:
    """The least solution of X = A ⊗ X ⊕ B, which is A* B, without forming A*.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or packed matrix, shape (n, n) or (…, n, n)
        As for `closure`.
    B : array_like, shape (n,) or (n, m)
        Of A's dtype; of shape (n,) or (m, n) from the left. Where the vertices of both have names, they are put in the
        order of A's. Where A is a stack, (n,), a vector of all equations, or (…, n, m), whose leading axes broadcast.
        A data frame only if its index and columns are vertices: another one might hold edges, and is refused.
    S : Semiring or str, optional
        Default: that of a `Matrix`, or of what `prepare` gives.
    device : {None, "cpu", "gpu"}
        Where to compute; ``None``: where the data are.
    check : bool
        Whether to refuse a closure that does not exist, and results without a value; see `closure`.
    progress : bool or callable
        As in `closure`.
    left : bool
        Whether unknowns stand on the left: X = X ⊗ A ⊕ B, which B A* solves.
    tol : float, optional
        How well weights are known; see `closure`. Of a stack all matrices are made worse if one has to be.

    Returns
    -------
    array of B's shape and kind
        In A's byte order; of a stack and a vector an answer for each matrix, shape (…, n).

    Raises
    ------
    NoClosureError
        When A* does not exist; it names a cycle with its weight, and which matrix of a stack it is in.
    LawError
        When the algebra has products only.
    SemiringError
        When shapes or dtypes do not fit, an entry is not an element, or memory is short.

    Notes
    -----
    Elimination, then substitution forwards and backwards; B. Carré, Graphs and networks (1979). Of acyclic graphs
    substitution alone, in topological order. From the left the transposed equations are solved where ⊗ commutes, and
    elsewhere A* is formed. Floats are rounded as in `closure`.

    Over the real and the complex numbers this is (1 − A) X = B, wherever 1 − A is regular, with exchange of rows: also
    where 1 + A + A² + … diverges, so that ``solve([[2.0]], [1.0], plus_times)`` is −1. A residual is looked at.

    Examples
    --------
    Distances to one vertex: B is one there and zero elsewhere.

    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    >>> sr.solve(A, np.array([np.inf, np.inf, 0.0]), sr.min_plus)
    array([7., 4., 0.])

    And from one vertex:

    >>> sr.solve(A, np.array([0.0, np.inf, np.inf]), sr.min_plus, left=True)
    array([0., 3., 7.])
    """
    asked = options(device=device, check=check, progress=progress, left=left, tol=tol)
    return compute(Task("solve", S, (A, B), asked))


@overload
def power(A: Kept, S: Over = None, k: int = ..., **others: Unpack[Placing]) -> Kept: ...
@overload
def power(A: Any, S: Over = None, k: int = ..., **others: Unpack[Placing]) -> Any: ...
def power(
    A: Any, S: Semiring | str | None = None, k: int | EllipsisType = ..., *, device: str | None = None,
    check: bool = True,
) -> Any:
    """The power A^k = A ⊗ A ⊗ … ⊗ A: the ⊕ over all walks of exactly k edges of the ⊗ along each.

    Parameters
    ----------
    A : array_like, shape (n, n) or (…, n, n)
        As for `matmul`.
    S : Semiring or str, optional
        Default: that of A, if it is a `Matrix` or was prepared: ``power(A, k=…)``.
    k : int
        The number of edges, from 0 on; A⁰ is the identity. It cannot be left out.
    device : {None, "cpu", "gpu"}
        As in `matmul`.
    check : bool
        As in `matmul`.

    Returns
    -------
    ndarray, csr_array, Matrix, Graph or PackedMatrix, of A's shape
        What `matmul` gives for A and A: what is sparse stays so, and vertices keep their names.

    Raises
    ------
    LawError
        When the algebra has products only.
    SemiringError
        When A is not a square matrix over S, k is not a whole number from 0 on, or memory is short.

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
        raise SemiringError("a power needs an exponent: power(A, S, k), or power(A, k=…) of a Matrix, which has its "
                            "algebra")
    return compute(Task("power", S, (A,), options(device=device, check=check), (k,)))


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
def closure_rows(
    A: Any, S: Semiring | str | None = None, sources: Any = ..., *, targets: Any = None, limit: Any = None,
    predecessors: bool = False, device: str | None = None, tol: float | None = None,
) -> Any:
    """The rows of the closure A* for some sources, of a sparse graph over an algebra whose ⊕ selects.

    With min_plus a row holds the distances from its source, with max_min the widest paths. Takes memory for the rows
    only, and time about in proportion to the edges and the sources; for most rows of a closure, `factor` or `closure`
    is faster.

    Parameters
    ----------
    A : sparse matrix, Graph, NetworkX graph, or what `closure` takes, or what `factor` gives
        Square. Factors answer by substitution, over every algebra.
        Every stored entry is an edge, also if it is the number 0; entries of one place combine with ⊕.
    S : Semiring or str, optional
        With a selective ⊕. Default: that of A, if it is a `Matrix` or was prepared: ``closure_rows(A, sources=…)``.
    sources : vertex, or sequence of vertices
        By name where A has names, else by position. They cannot be left out.
    targets : vertex, or sequence of vertices, optional
        Whose columns are wanted: the answer is a `Table` by name, and no more is kept. Where they are far fewer than
        the sources, searches go backwards from them; floats are then summed from the other end.
    limit : element, optional
        Walks that are worse are left out, and not searched for. Needs that no edge is better than 1.
    predecessors : bool
        Whether to return the vertex before each on a best walk, too.
    device : {None, "cpu", "gpu"}
        Where to compute; ``None``: on the GPU, if there is one, where that repays the copies.
    tol : float, optional
        How well weights are known; see `closure`.

    Returns
    -------
    rows : ndarray of A's dtype and byte order, shape (k, n), or (n,) for one vertex
        With targets a `Table`, shape (k, t).
    predecessors : ndarray of int32, of the same shape
        If wanted; positions, −1 for the source and for what is not reached. Of equally good ones that which `paths`
        gives, however the rows were found.

    Raises
    ------
    LawError
        When ⊕ does not select, or the algebra has products only; when predecessors are wanted where best walks go round
        a cycle, and how often is not known from them; when there is a limit and an edge is better than 1.
    NoClosureError
        When an improving cycle can be reached from a source; it names the cycle. Beyond an infinitely good edge nothing
        improves any more, and cycles may stay unnoticed.
    SemiringError
        For an unknown vertex, an entry that is not an element, a result that A's dtype cannot hold, or predecessors of
        some targets only.

    Notes
    -----
    Where no edge is better than 1 (non-negative weights in min-plus), Dijkstra's algorithm with a heap (E. W. Dijkstra,
    A note on two problems in connexion with graphs, 1959); elsewhere Bellman–Ford–Moore with a frontier, see
    `semiring.algorithms.frontier`. Floats are rounded as in `closure`. A cycle whose weight is better than 1 by no
    more than the rounding of its edges explains does not count; see `semiring.algebra.rounding`.

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
        raise SemiringError("closure_rows needs sources: closure_rows(A, S, sources), or closure_rows(A, sources=…) of "
                            "a Matrix, which has its algebra")
    asked = options(device=device, predecessors=predecessors, tol=tol)
    return compute(Task("rows", S, (A,), asked, (sources, targets, limit)))


@overload
def paths(
    A: np.ndarray[tuple[int, int], Any] | Matrix | Graph, S: Any = None, **others: Unpack[Leading]
) -> Paths: ...
@overload
def paths(A: Any, S: Any = None, **others: Unpack[Leading]) -> Paths | StackedPaths: ...
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
    """Best paths between all vertices, or from some to some, where ⊕ selects.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n) or (…, n, n)
        As for `closure`; where vertices have names, paths are asked for and given by name.
    S : Semiring or str, or a pair of them, optional
        With a selective ⊕. Not needed where A has its algebra: a `Matrix`, or what was prepared. Of a pair
        (first, second) the first one decides, and the second one breaks ties: ``(sr.max_min, sr.min_plus)`` asks for
        the widest paths, and of these for the shortest. The weights of edges are then records of both, or A is a tuple
        of two matrices.
    sources : vertex or sequence of vertices, optional
        Where paths begin. Default: in every vertex.
    targets : vertex or sequence of vertices, optional
        Where they lead. Default: to every vertex.
    limit : element, optional
        Paths that are worse are left out. Needs that no edge is better than 1.
    method : str
        As in `closure`; not with sources, from which paths are searched for.
    device : {None, "cpu", "gpu"}
        Where the weights are computed; see `closure`.
    progress : bool or callable
        As in `closure`.
    tol : float, optional
        How well weights are known; see `closure`. Where edges are made worse by it, in all matrices of a stack if in
        one, the paths are those of such edges; in files too, and from commit to commit.
    out, next_hops : path, optional
        Both end in .npy. The weights and the next hops, int32, between all vertices are computed tile by tile and
        written there, as by `closure`; neither needs to fit in memory, and neither is there before both are whole. Of a
        dense matrix the edges that best walks can have must fit in `memory`; where ⊗ is a sum these are few.
    memory, checkpoint, resume : optional
        As in `closure`.

    Returns
    -------
    Paths or StackedPaths
        With `weights`, `next_hop`, `predecessors`, `tree(source)`, `walk(sources, targets)`, `edges(source, target)`
        and `to_frame()`; `R[source, target]` is one path. Of a stack `R[i]` are the paths in one of its matrices.

    Raises
    ------
    LawError
        When ⊕ does not select, the algebra is not a semiring, or best walks go round a cycle; when there is a limit
        and an edge is better than 1; for a pair, when neither `lexicographic` makes an algebra of it nor the first one
        has paths that are as good as their worst edge.
    NoClosureError
        When there is an improving cycle.
    SemiringError
        For an unknown vertex, an entry that is not an element, or a path from one of the sources to one of the targets
        whose weight the dtype cannot hold. Another one is refused when it is asked for.

    Notes
    -----
    The weights are those of `closure`, or of `closure_rows` where sources are given, and the vertices follow from them;
    see `semiring.algorithms.trees`. Ties break the same way for every method and device: of the best edges into a
    vertex, the one from the vertex with the least position of those that are better than it; where none is (edges of
    weight 0 in min-plus), vertices are reached breadth first from the others, each from the least position. Where an
    edge of the graph is better than 1 (negative ones in min-plus), all vertices are reached so, from the source. So it
    is where sources are given; without them edges and walks are turned, and the next vertex is chosen. The ⊗ of a
    path's edges is its weight exactly where ⊗ is exact, and within the rounding of `closure` elsewhere.

    Pairs of algebras are `lexicographic` ones where these exist. They do not exist for the widest path and then the
    shortest: of two ways to a place the wider one may be longer, and if a narrow edge follows, both are as wide as
    that, and the shorter one should have been kept. Then there are two stages. First the best values by the first
    algebra; then, for each of them, the best paths by the second among edges that are no worse. A part of such a path
    need not be a best path, so that there are no next hops, predecessors and trees, and paths are searched for when
    they are asked for. Z. Wang, J. Crowcroft, Quality-of-service routing for supporting multimedia applications (1996).

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("Ayr", "Bo", 3.0), ("Bo", "Dale", 4.0), ("Ayr", "Dale", 9.0)])
    >>> R = sr.paths(roads, sr.min_plus)
    >>> R["Ayr", "Dale"]
    Path(weight=7.0, vertices=['Ayr', 'Bo', 'Dale'])
    >>> R["Dale", "Ayr"]
    Path(weight=inf, vertices=None)

    The widest way to b goes by x. But an edge of width 5 follows, and then the narrow one to b is as good, and shorter:

    >>> links = [("a", "x", (9, 4)), ("x", "b", (9, 6)), ("a", "b", (5, 1)), ("b", "c", (5, 1))]
    >>> R = sr.paths(sr.as_graph(links), (sr.max_min, sr.min_plus))
    >>> R["a", "b"].vertices, R["a", "c"].vertices
    (['a', 'x', 'b'], ['a', 'b', 'c'])
    >>> print(R["a", "c"].weight)
    (5.0, 2.0)
    """
    from .results.path_stacks import paths_of  # the other verbs do without searches, which take a while to import

    to_file = storing(out, memory, checkpoint, resume, next_hops)
    if (out is None) != (next_hops is None):
        raise SemiringError("paths go to two files: give out= for their weights, and next_hops=")
    asked = options(method=method, device=device, progress=progress, tol=tol, storing=to_file)
    task = _paths_task(A, S, asked, sources, targets, limit)
    found = compute(task)  # which may have changed the weights of edges
    return paths_of(task.given[0], found, task.arguments[2], limit is not None)


def _paths_task(A: Any, S: Any, asked: Options, sources: Any, targets: Any, limit: Any) -> Task:
    """The task of `paths`, which has the targets by position."""
    from .solvers.search import positions

    task = Task("paths", S, (A,), asked, (sources, limit, None))
    given = task.given[0]
    if targets is not None:
        ends = positions(targets, given.names, given.shape[-1], "targets")[1]
        task.arguments = (*task.arguments[:2], ends)
    return task


def path(
    A: Any, S: Semiring | str | None = None, source: Any = ..., target: Any = ..., *, tol: float | None = None
) -> tuple[Any, list[Any] | None]:
    """One best path between two vertices, where ⊕ selects.

    Parameters
    ----------
    A : array_like, shape (n, n), or what `factor` gives
        As for `closure`; with a `Matrix` or a graph, vertices are given and returned by name. Factors answer by
        substitution, without a search.
    S : Semiring or str, optional
        With a selective ⊕. Default: that of A, if it is a `Matrix` or was prepared: ``path(A, source=…, target=…)``.
    source, target : int or hashable
        Vertices by name where A has names, else by position. They cannot be left out.
    tol : float, optional
        How well weights are known; see `closure`.

    Returns
    -------
    weight : scalar
        ⊗ along the path, rounded as in `closure`; zero if there is none. A number of Python's, or a record of A's
        dtype; a sum of integers may leave A's dtype, where `closure` refuses it.
    vertices : list or None
        From source to target, or ``None``. Vertices occur twice only where going round a cycle is better than not, and
        stops being so after some rounds.

    Raises
    ------
    LawError
        When ⊕ does not select, so that no single path is best, or the algebra is not a semiring.
    NoClosureError
        When an improving cycle can be reached from the source: one that improves by more than the rounding of its
        edges explains.
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
        raise SemiringError("a path needs a source and a target: path(A, S, source, target), or path(A, source=…, "
                            "target=…) of a Matrix, which has its algebra")
    found: tuple[Any, list[Any] | None] = compute(
        Task("path", S, (A,), options(tol=tol), (source, target))
    )
    return found


def cycle_mean(A: Any, S: Semiring | str | None = None) -> tuple[Any, list[Any] | None]:
    """The best mean weight of a cycle, the least in min-plus and the greatest in max-plus, and a cycle that has it.

    Of a strongly connected graph the mean is the one eigenvalue of the matrix, A ⊗ x = λ ⊗ x: the time that each round
    of a schedule takes in the long run. The cycle is called critical.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n)
        As for `closure`.
    S : Semiring or str, optional
        Whose ⊕ is min or max, and whose ⊗ is +. Default: that of A, if it is a `Matrix` or was prepared.

    Returns
    -------
    mean : scalar
        The weight of the cycle by its number of edges: of A's dtype where that is of floats, else a float64. The
        algebra's zero where there is no cycle.
    vertices : list or None
        The cycle in the direction of its edges, by name or by position; the first vertex is also the last. None where
        there is none.

    Raises
    ------
    LawError
        When ⊕ is not min or max, or ⊗ is not +.
    SemiringError
        When A is not a square matrix over S, or holds Python objects.

    Notes
    -----
    Policy iteration, then a search for a better cycle, which is exact for whole numbers; of floats, a cycle that is
    better by no more than rounding may be missed. R. A. Howard, Dynamic programming and Markov processes (1960);
    J. Cochet-Terrasson, G. Cohen, S. Gaubert, M. McGettrick, J.-P. Quadrat, Numerical computation of spectral elements
    in max-plus algebra (1998).

    Examples
    --------
    >>> import semiring as sr
    >>> trains = sr.adjacency([("a", "b", 3.0), ("b", "a", 5.0), ("b", "b", 2.0)], sr.max_plus)
    >>> sr.cycle_mean(trains, sr.max_plus)
    (np.float64(4.0), ['a', 'b', 'a'])
    """
    found: tuple[Any, list[Any] | None] = compute(Task("cycle_mean", S, (A,), options()))
    return found


def plan(
    A: Any,
    S: Semiring | str | None = None,
    *,
    verb: str = "closure",
    B: Any = None,
    sources: Any = None,
    targets: Any = None,
    limit: Any = None,
    k: int | None = None,
    method: str = "auto",
    reflexive: bool = True,
    overwrite: bool = False,
    device: str | None = None,
    tile: int | None = None,
    check: bool = True,
    packed: bool = False,
    order: str | Sequence[Any] | np.ndarray = "auto",
    predecessors: bool = False,
    max_edges: int | None = None,
    left: bool = False,
    on_divergence: str = "raise",
    argmax: bool = False,
    tol: float | None = None,
    devices: int | Sequence[int] | None = None,
    out: Any = None,
    next_hops: Any = None,
    memory: int | str | None = None,
    checkpoint: float | None = None,
    resume: bool = False,
    on: Connection | None = None,
    progress: Progress = False,
) -> Plan:
    """What a verb would do with the same arguments, without doing it: the plan that it would run.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or packed matrix, shape (n, n)
        As for the verb.
    S : Semiring or str, optional
        As for the verb.
    verb : {"closure", "matmul", "factor", "solve", "rows", "path", "paths", "nearest", "power", "cycle_mean"}
        ``"rows"`` is `closure_rows`.
    B : array_like, optional
        Of the shape that the verb takes: the other operand of ``"matmul"`` and ``"solve"``.
    sources : vertex or sequence of vertices, optional
        Of ``"rows"``, and of ``"paths"`` where there are some; for ``"path"`` the pair (source, target).
    targets : vertex or sequence of vertices, optional
        Of ``"rows"``, whose columns are wanted, and of ``"paths"``.
    limit : element, optional
        Of ``"rows"`` and ``"paths"``. A few short searches may be made for the plan, to see how far it lets them come.
    k : int, optional
        Of ``"power"``.
    method, reflexive, overwrite, device, tile, check, packed, order, predecessors, max_edges, left : optional
        As for the verb.
    on_divergence, argmax, tol, devices : optional
        As for the verb.
    out, next_hops, memory, checkpoint, resume : optional
        As for `closure` and `paths`: the plan tells what is moved and what the disk needs, how many commits there will
        be, how long it will take, and what bounds that. Nothing is written but a few MiB that measure the disk, and
        those only when the plan is printed; a matrix in a file is read once.
    on : MPI, optional
        As for `closure`. All processes call this, and have the same plan: what is sent to each, how long the closure
        will take, and what bounds that. A few MiB are sent to measure the rate of messages.
    progress : bool or callable
        As for the verb; it reports while the plan runs.

    Returns
    -------
    Plan
        Printable; with `method`, `lowering`, `place`, `work`, `memory` and the reasons. Of a sparse matrix that is
        eliminated on its structure a `SparsePlan`, with predicted times.

    Raises
    ------
    LawError
        When the verb or the method needs a law that the algebra lacks.
    SemiringError
        Where the verb would refuse its arguments before it computes, and for an option that it does not have.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> p = sr.plan(np.zeros((300, 300), np.float32), sr.max_min)
    >>> p.method, p.lowering.name, p.work
    ('r-kleene', 'ordered integers', 27000000)
    >>> sr.plan(np.zeros((3, 4)), sr.min_plus, verb="matmul", B=np.zeros((4, 2))).method
    'tiled product'
    """
    given_options: dict[str, Any] = {
        "method": method, "reflexive": reflexive, "overwrite": overwrite, "device": device, "tile": tile,
        "check": check, "packed": packed, "order": order, "predecessors": predecessors,
        "max_edges": max_edges, "left": left, "on_divergence": on_divergence, "argmax": argmax, "tol": tol,
        "devices": devices, "progress": progress,
    }
    refuse_what_has_no_meaning(verb, given_options, B, sources, k, targets, limit)
    to_file, on_gpu = storing_or_memory(out, memory, checkpoint, resume, device, next_hops)
    if to_file is not None and verb not in ("closure", "paths"):
        raise SemiringError(f"{verb} has no option 'out'; closure and paths have one")
    if on_gpu is not None and verb != "closure":
        raise SemiringError(f"{verb} has no option 'memory'; closure has one")
    if (next_hops is not None or out is not None) and (next_hops is None) == (verb == "paths"):
        raise SemiringError("next_hops= is of paths that go to files, and these have it in any case")
    given_options |= {"storing": to_file, "gpu_memory": on_gpu}
    if on is not None:
        if verb != "closure":
            raise SemiringError(f"{verb} has no option 'on'; closure has one")
        planned: Plan = _solver_of(on).plan(on, A, S, options(**given_options))
        return planned
    arguments = {
        "matmul": (None,), "rows": (sources, targets, limit), "path": sources, "nearest": (sources,), "power": (k,),
    }.get(verb, ())
    given, asked = (A,) if B is None else (A, B), options(**given_options)
    if asked.overwrite:
        _refuse_prepared(A)
    task = (_paths_task(A, S, asked, sources, targets, limit) if verb == "paths" else
            Task(verb, S, given, asked, tuple(arguments)))
    made = first_offer(task)
    if verb == "paths":
        from .results.path_stacks import paths_of

        run = made.runner

        def paths_from(plan: Plan) -> Any:
            found = run(plan)  # which may change the weights of edges
            return paths_of(task.given[0], found, task.arguments[2], limit is not None)

        made.runner = paths_from
    elif verb == "nearest":
        from .results.nearest import nearest_of

        run = made.runner
        made.runner = lambda plan: nearest_of(task.given[0], run(plan))
    return made


def _solver_of(on: Any) -> Any:
    """The module that computes on a connection.

    Raises
    ------
    SemiringError
        For anything else.
    """
    if not isinstance(on, Connection):
        raise SemiringError(f"on= takes what sr.connect('mpi') or sr.connect('ray') gives, and not {clip_repr(on)}")
    return import_module(f"semiring.solvers.{on.solver}")


def check_laws(S: Semiring | str, samples: Sequence[Any] | np.ndarray | None = None) -> laws.LawReport:
    """Try every law of semirings, the star law, and the four flags on samples.

    Parameters
    ----------
    S : Semiring or str
    samples : sequence or array of elements, shape (count,), optional
        Elements to combine in all ways; those the algebra was declared with when absent.

    Returns
    -------
    LawReport
        Printable; `.ok`, `.failures` with a witness each, `.derived` flags.

    Raises
    ------
    SemiringError
        For an unknown algebra, and for samples that are not elements.

    Notes
    -----
    The laws are those of closed semirings; see D. J. Lehmann, Algebraic structures for transitive closure (1977). Sides
    are equal where they differ by no more than rounding; see `LawReport`.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.check_laws(sr.max_min).ok
    True
    >>> print(sr.check_laws(sr.plus_min).failures[0])
    ⊗ distributes on the left fails: a ⊗ (b ⊕ c) = (a ⊗ b) ⊕ (a ⊗ c) at a = 1, b = 1, c = 1: 1 ≠ 2
    """
    S = algebra(S)
    if samples is None:
        return S._law_report
    tried = read_elements(samples, S, "samples")
    return laws.check(S.over(tried.dtype).unchecked, tried, name=S.name, star=not S.product_only)
