"""The verbs `closure` and `matmul`; and `verb`, which makes a verb of a function that builds a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypedDict, TypeVar, Unpack, overload

import numpy as np

from . import small
from .algebra.semiring import Semiring
from .errors import SemiringError
from .graphs.dims import labelled
from .graphs.matrix import Matrix
from .operands.between import factors
from .operands.operand import Operand
from .operands.wanted import mask_of
from .scale.connection import Connection
from .scale.storing import storing_or_memory
from .solvers.task import SpreadTask, Task, options

if TYPE_CHECKING:
    from .algorithms.sparse.analysis import Analysis
    from .graphs.graph import Graph
    from .kernels.cpu.bits.matrix import PackedMatrix
    from .solvers.dense.derived import Closures

ndarray = np.ndarray
Progress = bool | Callable[[float], None]
Over = Semiring | str | None
Out = TypeVar("Out", bound="np.ndarray")
P = ParamSpec("P")
R = TypeVar("R")

SHORT_WAYS: dict[str, small.Short] = {
    "matmul": small.product, "closure": small.closure, "solve": small.solve, "power": small.power,
}
SHORT_WAYS_ON_GPU: dict[str, small.Short] = {
    "matmul": small.product_on_gpu, "closure": small.closure_on_gpu,
}
BUILDERS: dict[str, Callable[..., Task | SpreadTask]] = {}  # of tasks, by the verb's name


def verb(build: Callable[P, R]) -> Callable[P, R]:
    """Make a verb of a function that builds its task: it gives the task's answer, and `semiring.plan` shows its plan.

    The function is annotated with the type of the answer, for its callers.
    """
    BUILDERS[build.__name__] = build  # type: ignore[assignment]

    @wraps(build)
    def computed(*operands: P.args, **options: P.kwargs) -> R:
        answer: R = build(*operands, **options).answer()  # type: ignore[attr-defined]
        if any(hasattr(type(x), "coords") for x in (*operands, *options.values())):  # as arrays of xarray have
            answer = labelled(build, operands, options, answer)
        return answer

    if (short := SHORT_WAYS.get(build.__name__)) is None:
        return computed
    on_gpu = SHORT_WAYS_ON_GPU.get(build.__name__)
    names = build.__code__.co_varnames[: build.__code__.co_argcount]

    @wraps(build)
    def of_small_ones(*operands: P.args, **options: P.kwargs) -> R:
        given: tuple[Any, ...] = operands
        others: dict[str, Any] = options
        if options and "S" in options:
            given, others = in_places(names, operands, options)
        first = type(given[0]) if given else None
        if first is ndarray:
            answer: Any = short(given, others)
        elif first is Matrix:
            answer = small.of_matrix(short, given, others)
        elif on_gpu is not None and hasattr(first, "__cuda_array_interface__"):
            answer = on_gpu(given, others)
        else:
            answer = None
        return computed(*operands, **options) if answer is None else answer

    return of_small_ones


def in_places(
    names: tuple[str, ...], operands: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments with those in their places that were given by name, as far as none before is missing.

    Examples
    --------
    >>> in_places(("A", "S", "k"), (1,), {"k": 3, "S": "log", "check": False})
    ((1, 'log', 3), {'check': False})
    """
    others = dict(options)
    for name in names[len(operands) :]:
        if name not in others:
            break
        operands = (*operands, others.pop(name))
    return operands, others


class Placing(TypedDict, total=False):
    """Options of `power`, and of `matmul` beside others."""

    device: str | None
    check: bool


class Multiplying(Placing, total=False):
    """Options of `matmul`, but for those that decide what comes out; likewise the others."""

    accumulate: Any
    complement: bool


class Solving(Placing, total=False):
    """Options of `solve`."""

    progress: Progress
    left: bool
    tol: float | None
    method: str
    rtol: float | None


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
        memory (a single one for one matrix). With ``out=`` the array in the file: a memory map, or a zarr array. For a
        stack that is a DataArray of xarray, a DataArray; its columns are put into the order of its rows.

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
def matmul(A: Any, B: Any, S: Over = None, *, out: Out, mask: Any = ..., **others: Unpack[Multiplying]) -> Out: ...
@overload
def matmul(
    A: np.ndarray, B: np.ndarray, S: Over = None, *, out: None = ..., mask: np.ndarray | None = ...,
    **others: Unpack[Multiplying],
) -> np.ndarray: ...
@overload
def matmul(
    A: Any, B: Any, S: Over = None, *, argmax: bool = ..., out: Any = ..., mask: Any = ...,
    **others: Unpack[Multiplying],
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
    mask: Any = None,
    complement: bool = False,
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
        A matrix C of the answer's shape; the answer is then C ⊕ A ⊗ B. C is not changed unless it is `out`. With a mask
        the entries that are not wanted are those of C.
    out : ndarray, optional
        Where to write the answer: writable, of the answer's shape and dtype, in any byte order. It is returned.
    device : {None, "cpu", "gpu"}
        Where to compute. ``None``: where the data are; large host arrays of floats go to the GPU if there is one.
    check : bool
        Whether to check the entries; see `closure`.
    argmax : bool
        Also return, for each c_ij, the k of the term that equals it: the back-pointers of Viterbi's algorithm. Needs a
        selective ⊕. For sparse matrices this is computed on the CPU.
    mask : array_like of bool, sparse matrix, graph, Matrix or PackedMatrix, shape (…, m, n), optional
        Which entries are wanted; the others are zero, and are not computed unless that is faster. A mask is
        structural: an entry of a sparse matrix or graph counts if it is stored, whatever its value, and one of a
        `Matrix` if it is not the zero of its algebra. A dense array must be Boolean. A mask with names is put into the
        order of A's and B's names. One matrix may serve as the mask of a stack, unless the answer would be sparse. If A
        or B is on a GPU, the mask may be there too, as a CuPy array or sparse matrix. With `argmax` a product on a GPU
        needs arrays A and B, and a mask that is not sparse.
    complement : bool
        Whether the entries that the mask does not mark are wanted instead.

    Returns
    -------
    ndarray, csr_array, Matrix or Graph, shape (…, m, n)
        The type depends on what A, B and the mask are, never on their size. If both A and B are sparse, or if the mask
        is sparse and not complemented, the answer is a SciPy `csr_array`, which stores no zero; on a GPU it is CuPy's
        ``csr_matrix``. Otherwise it is an array of A's dtype and byte order, or of A's kind if that is another array
        type. If the rows and columns of both are the same vertices, the answer keeps them: it is a `Graph` if A is
        one and the answer is sparse, and otherwise a `Matrix`. If A or B is packed, the answer is packed. Any other
        array is a DataArray of xarray if A or B is one, and the other an array, a series or a `Matrix`.
    argmax : ndarray of int32, or csr_array, shape (…, m, n)
        If wanted; the least of several k, −1 where c_ij is zero. If the answer is sparse, it has the answer's entries.

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

    Products under a mask follow A. Buluç and J. R. Gilbert, The Combinatorial BLAS (2011), and T. A. Davis, Algorithm
    1000: SuiteSparse:GraphBLAS (2019); the way is chosen by predicted time, and `plan` shows it.

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

    Walks of two edges between vertices that an edge connects too: triangles.

    >>> import scipy.sparse as sp
    >>> L = sp.csr_array(np.tril(np.ones((4, 4), int), -1))
    >>> int(sr.matmul(L, L, sr.counting, mask=L).sum())
    4
    """
    given = factors((A, B) if accumulate is None else (A, B, accumulate), S)
    if mask is None and complement is False:
        return Task("matmul", S, given, options(device=device, check=check, argmax=argmax), (out,))
    wanted = mask_of(mask, complement)
    return Task("matmul", S, given, options(device=device, check=check, argmax=argmax, mask=wanted), (out,))
