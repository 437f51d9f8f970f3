"""Trees of best walks from their values: by compiled code, by NumPy, on a GPU, or on Python objects."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.carried import arithmetic_of
from semiring.algebra.elements import equal, full
from semiring.algebra.overflow import may_leave
from semiring.algebra.rounding import least_or_greatest
from semiring.algebra.semiring import Semiring
from semiring.algorithms import trees
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, code_of, renting
from semiring.kernels.cpu.sparse.edge_numbers import MOST_EDGES, EdgeNumbers
from semiring.kernels.cpu.sparse.predecessors import PredecessorKernel
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.cpu.sparse.trees import HubTreeKernel, TreeKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.comparing import only_compares
from semiring.kernels.lowering.objects import python_integers
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.dense import Dense
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.examine import known
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse

from ..forms import Encoded, plain_form
from ..sparse.analysis import analysis_of, is_analysed
from .walks import VALUES_AT_ONCE, beyond, mend, no_tree, refuse_false_walks, refuse_lost


def best_trees(
    given: Operand, X: Any, roots: np.ndarray | None, *, backwards: bool = False, wanted: np.ndarray | None = None,
    within: bool = False, numbers: bool = False,
) -> Any:
    """Find the vertex before each one on a best walk from each root, or after it on a walk to the root.

    Parameters
    ----------
    given : Operand
        The graph, on the host; an array is on a GPU if X is there.
    X : array or Encoded, shape (k, n)
        The values of the best walks from each root, or to it.
    roots : ndarray of int64, shape (k,), or None
        None: all vertices, in their order.
    backwards : bool
        Whether X holds columns of the closure, walks lead to the roots, and vertices after each one are found.
    wanted : ndarray of bool, shape (k, n) or one that broadcasts to it, optional
        The walks that are asked for: any other that the dtype cannot hold is not an error. None: all of them.
    within : bool
        Whether what X lacks is beyond a limit, or zero as in rows of the closure; nothing is refused then.
    numbers : bool
        Whether numbers of edges may be returned.

    Returns
    -------
    array of int32, shape (k, n), or EdgeNumbers
        −1 at the root, and where there is no walk. On the device of X; on the host in its order in memory.

    Raises
    ------
    LawError
        Where best walks repeat a cycle.
    SemiringError
        Where a walk has a value that the dtype cannot hold.
    """
    S, n = given.S, given.shape[0]
    every = roots is None
    roots = np.arange(n) if roots is None else roots
    if type(X) is not np.ndarray and is_on_gpu(X):
        return _checked_on_gpu(given, X, roots, backwards, wanted, within)
    bounded, T = given.bounded, arithmetic_of(S, given.dtype)
    _refuse_cycles(S, X[roots if every else np.arange(len(roots)), roots], T, within)
    rows = _edges(given, T, X, bounded, backwards, every or np.array_equal(roots, np.arange(n)))
    P: Any = None
    left, lost = roots[:0], list[tuple[int, int]]()
    searched = not backwards and isinstance(X, np.ndarray) and X.flags.c_contiguous  # X may be what a search left
    if searched:
        P, left = _from_a_search(form_for_trees(given), rows, X, roots, bounded, within)
    if P is None:
        purpose = "predecessors" if searched else None
        P, lost = _from_values(given, rows, X, roots, bounded, backwards, numbers, purpose)
    elif left.size:
        P[left], lost = _from_values(given, rows, X[left], roots[left], bounded, backwards, False)
        lost = [(int(left[i]), v) for i, v in lost]
    if not bounded:
        refuse_false_walks(given, X, roots, P, backwards)
    if lost and not within:
        asked = None if wanted is None else ~_led(P) & np.broadcast_to(wanted, (len(roots), n))
        refuse_lost(given, rows, X, roots, lost, backwards, asked)
    return P


def _from_values(
    given: Operand, rows: Rows, X: Any, roots: np.ndarray, bounded: bool, backwards: bool, numbers: bool,
    purpose: str | None = None,
) -> tuple[Any, list[tuple[int, int]]]:
    """Find trees from any values, and the lines and vertices where a walk is zero though the one before it is not."""
    S, n, low, entering = given.S, given.shape[0], form_for_trees(given), rows if backwards else transpose(rows)
    lossless = loses_nothing(S, entering.values, n)
    compiled, makes = ("trees of hubs", HubTreeKernel) if has_hubs(entering) else ("trees", TreeKernel)
    if not code_of(low, compiled).bought:  # else a warm call is spared a step
        low = affordable(low, float(len(roots)), float(len(rows.columns)) * len(roots), compiled)
    P: Any
    if low.kind == "objects" or not low.compiled:
        decoded, leaving = X[:] if isinstance(X, Encoded) else X, transpose(rows) if backwards else rows
        P, lost, guessed = _by_numpy(low, S, entering, leaving, decoded, roots, bounded, backwards, purpose or compiled)
    else:
        x, edges = X if low.is_identity else _in_storage(low, X), stored_in(low, entering)
        order = analysis_of(given).order if isinstance(given, Sparse) and is_analysed(given) else None
        P, where, guesses = makes.of(low, exchange=backwards and not S.commutative).predecessors(
            edges, x, roots, bounded, only_compares(low), lossless, order
        )
        (lines,), (guessed,) = (where >= 0).nonzero(), guesses.nonzero()
        lost = list(zip(lines.tolist(), where[lines].tolist(), strict=True))
        if isinstance(P, EdgeNumbers):
            P = P.kept() if numbers and bounded else P.vertices()
    if guessed.size and not bounded:
        mended = P[guessed]
        mend(given, X[guessed], roots[guessed], mended, backwards)
        P[guessed] = mended
    return P, lost


def _checked_on_gpu(
    given: Operand, X: Any, roots: np.ndarray, backwards: bool, wanted: np.ndarray | None, within: bool
) -> Any:
    """Find trees on a GPU; look on the host at lines that may be an error."""
    S = given.S
    given = given if isinstance(given, Dense) else as_sparse(given)
    monotone = least_or_greatest(S) != 0 and rounds_once(S, given.dtype)
    # It is prepared while the GPU may still compute X, which the first look at an element waits for.
    P, lost_at, guessed = trees_on_gpu(given, X, roots, backwards, monotone)
    _refuse_cycles(S, to_host(X[upload(np.arange(len(roots))), upload(roots)]), S.over(given.dtype), within)
    for i in () if within else np.flatnonzero(lost_at >= 0).tolist():  # it is refused there, or was rightly zero
        asked = None if wanted is None else np.broadcast_to(wanted, X.shape)[i : i + 1]
        best_trees(on_host(given), to_host(X[i : i + 1]), roots[i : i + 1], backwards=backwards, wanted=asked)
    if guessed.size:
        some = upload(guessed)
        trees_there = to_host(P[some])
        mend(on_host(given), to_host(X[some]), roots[guessed], trees_there, backwards)
        P[some] = upload(trees_there)
    if S.has_reached_star or S.sums_cycles:
        refuse_false_walks(on_host(given), to_host(X), roots, to_host(P), backwards)
    return P


def has_hubs(entering: Rows) -> bool:
    """Whether more edges lead to a vertex, a row of these, than `EdgeNumbers` can number."""
    offsets = entering.offsets
    return int(np.maximum.reduce(offsets[1:] - offsets[:-1], initial=0)) > MOST_EDGES


def form_for_trees(given: Operand) -> Lowering:
    """Return the lowering in which trees of a matrix are made."""
    return plain_form(given.S, given.dtype, given.facts, given.shape[0] + 1)


def stored_in(low: Lowering, rows: Rows) -> Rows:
    """Return compressed rows with elements as a lowering stores them, for reading only."""
    return rows if low.is_identity else replace(rows, values=low.encode(rows.values, True))


def _in_storage(low: Lowering, X: np.ndarray | Encoded) -> np.ndarray:
    """Return values as a lowering stores them, for reading only."""
    if isinstance(X, Encoded):
        return X.array if X.is_as_in(low) else _in_storage(low, X[:])
    return low.encode(X, True)


def _refuse_cycles(S: Semiring, own: np.ndarray, T: Any, within: bool) -> None:
    """Raise an error if the value of a root to itself is not one, unless X lacks what is beyond a limit (`within`)."""
    if not within and False in (own == (T.one if own.dtype.kind in "biuf" else full(own, T.one))):
        raise no_tree(S)


def loses_nothing(S: Semiring, weights: np.ndarray, n: int) -> bool:
    """Whether a product of n edges, none better than one and none zero, is known not to be zero in their dtype.

    The product is no worse than the worst edge n times; 2 n times leaves room for rounding.

    Examples
    --------
    >>> import semiring as sr
    >>> loses_nothing(sr.max_times, np.array([0.1, 1.0]), 100), loses_nothing(sr.max_times, np.array([0.1]), 200)
    (True, False)
    """
    kind, direction = weights.dtype.kind, least_or_greatest(S)
    if kind not in "iuf" or direction == 0:
        return False
    some = weights[weights != known(S, weights.dtype).zero]
    if not some.size:
        return True
    worst = (np.maximum if direction < 0 else np.minimum).reduce(some)
    if S.is_tropical:
        return 2 * n * abs(worst.item()) < largest_in(weights.dtype)
    if kind != "f":  # a product may leave the dtype in another way than by being zero
        return False
    T = S.over(weights.dtype)
    with np.errstate(all="ignore"):
        for _ in range((2 * n).bit_length()):
            worst = T.mul(worst, worst)
    return bool(worst != T.zero)


def _led(P: Any) -> np.ndarray:
    """Return where a tree has a vertex before another."""
    return np.asarray((P.numbers if isinstance(P, EdgeNumbers) else P) >= 0)


def _from_a_search(
    low: Lowering, A: Rows, X: np.ndarray, roots: np.ndarray, bounded: bool, cut: bool
) -> tuple[Any, np.ndarray]:
    """Return predecessors by compiled code, and the rows of X that no search left; None if it is not compiled."""
    low = affordable(low, float(X.size), float(len(A.columns)) * len(roots), "predecessors")
    if low.kind == "objects" or not low.compiled:
        return None, np.arange(len(roots))
    values = X if low.is_identity else low.encode(X, True)
    P, finished = PredecessorKernel.of(low).rows(stored_in(low, A), values, roots, bounded, cut)
    return P, np.flatnonzero(~finished)


def origins_of(given: Sparse, x: np.ndarray, starts: np.ndarray) -> np.ndarray | None:
    """Return the start that the best walk to each vertex comes from; no edge may be better than one.

    Parameters
    ----------
    given : Sparse
    x : ndarray, shape (n,)
        The values of the best walks from any of the starts.
    starts : ndarray of int64
        Each once.

    Returns
    -------
    ndarray of int32, shape (n,), or None
        −1 if there is no walk. None if the code is not compiled, or rounding leaves no tree along edges.
    """
    A, n = given.rows, given.n
    low = form_for_trees(given)
    low = affordable(low, float(n), float(given.nnz), "predecessors")
    if low.kind == "objects" or not low.compiled:
        return None
    values = x if low.is_identity else low.encode(x, True)
    return PredecessorKernel.of(low).origins(stored_in(low, A), values, starts)


def _by_numpy(
    low: Any, S: Semiring, entering: Rows, leaving: Rows, X: np.ndarray, roots: np.ndarray, bounded: bool,
    backwards: bool, purpose: str,
) -> tuple[np.ndarray, list[tuple[int, int]], np.ndarray]:
    values, T = entering.values, S.over(entering.values.dtype).unchecked
    if may_leave(S, values.dtype):  # an edge that is not taken may lead out of the dtype
        whole = python_integers(S, values.dtype, low.reason)
        values, X, T = whole.encode(values, True), whole.encode(X, True), S.over(object)
    edges = trees.Edges(entering.offsets, entering.columns, values, (leaving.offsets, leaving.columns))
    step = max(VALUES_AT_ONCE // max(len(entering.offsets), 1), 1)
    parts, lost, guessed = [np.empty((0, X.shape[1]), np.int32)], [], []
    with renting(low, purpose):
        for begin in range(0, len(roots), step):
            some = slice(begin, begin + step)
            P, missing, guesses = trees.predecessors(edges, T, X[some], roots[some], bounded, backwards)
            parts.append(P)
            lost += [(begin + i, v) for i, v in missing]
            guessed += [begin + i for i in guesses]
    return np.concatenate(parts), lost, np.array(guessed, np.int64)


def _edges(given: Operand, T: Any, X: np.ndarray, bounded: bool, backwards: bool, whole: bool) -> Rows:
    """Return the edges that best walks can have; those of an array are filtered by the values.

    An edge that is worse than every walk to its head is in no best walk. This needs that no edge is better than one and
    that ⊗ rounds at most once: 1 + a − 1 may be more than a. If ⊗ is a sum, an edge of a best walk is also the best
    walk between its ends; this needs all vertices as roots (`whole`).
    """
    S = given.S
    direction = least_or_greatest(S)
    if not isinstance(given, Dense) or direction == 0 or not bounded or not X.size or not rounds_once(S, given.dtype):
        return given.rows if isinstance(given, Sparse) else as_sparse(given).rows
    A = given.array
    no_worse = np.less_equal if direction < 0 else np.greater_equal
    worst = (np.maximum if direction < 0 else np.minimum).reduce(X, axis=0)
    kept = (T.zero != A) & no_worse(A, worst[:, None] if backwards else worst)
    if whole and S.is_tropical:
        kept &= no_worse(A, X.T if backwards else X)
    kept.reshape(-1)[:: len(A) + 1] = False
    offsets = np.zeros(len(A) + 1, np.int64)
    np.add.reduce(kept, axis=1, dtype=np.int64).cumsum(out=offsets[1:])
    return Rows(offsets, kept.nonzero()[1].astype(np.int32), A[kept], len(A))


@lru_cache(64)
def largest_in(dtype: np.dtype) -> float:
    """Return the largest number of a dtype."""
    return float((np.finfo if dtype.kind == "f" else np.iinfo)(dtype).max)


@lru_cache(1024)
def rounds_once(S: Semiring, dtype: np.dtype) -> bool:
    """Whether ⊗ of elements of a dtype is exact, or a single rounded operation."""
    mul = S.traced.raw_mul if S.traced is not None else None
    return dtype.kind != "f" or (mul is not None and any(map(mul.is_plain, ("add", "multiply", "minimum", "maximum"))))


def trees_on_gpu(
    given: Dense | Sparse, X: Any, roots: np.ndarray, backwards: bool, monotone: bool
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Find trees on the GPU; see `best_trees`.

    Parameters
    ----------
    given : Device or Sparse
        The matrix: an array on the GPU, or compressed rows on the host, whose edges are copied there.
    X : array, shape (k, n)
        Values, on the GPU.
    roots : ndarray of int64, shape (k,)
    backwards : bool
        Whether X holds columns of the closure, and walks lead to the roots.
    monotone : bool
        Whether products that round are no better for a worse factor, so that bad edges can be left out.

    Returns
    -------
    P : array of int32, shape (k, n)
        On the GPU: −1 at the root, and where no walk leads.
    lost : ndarray of int64, shape (k,)
        Of each line the first vertex whose value is zero though one before it is not; −1 where there is none.
    guessed : ndarray of int64
        Lines in which rounding left no best edge to some vertices, where an edge is better than one.
    """
    import cupy

    from semiring.kernels.cuda.sparse.trees import CudaTreeKernel, lowering_for

    S, n = given.S, given.shape[0]
    if not X.size:
        return cupy.empty(X.shape, np.int32), np.full(len(roots), -1), np.empty(0, np.int64)
    low = lowering_for(S, given.dtype, given.facts, n + 1)
    kernel = CudaTreeKernel(low, backwards)
    x = cupy.ascontiguousarray(X.T)
    if not low.is_identity:
        x = low.encode(x, True)
    order = None
    if isinstance(given, Sparse):
        edges, bounded = _entering(given, low, backwards), given.bounded
        if is_analysed(given):
            order = cupy.asarray(analysis_of(given).order.astype(np.int32))
    else:
        A = cupy.ascontiguousarray(given.array if backwards else given.array.T)
        if not low.is_identity:
            A = low.encode(A, True)
        bounded = not kernel.improves(A)
        keeps = bounded and monotone
        edges = kernel.edges(A, x, keeps, keeps and S.is_tropical and np.array_equal(roots, np.arange(n)))
    P, lost, guessed = kernel.predecessors(edges, x, cupy.asarray(roots, np.int64), bounded, order)
    return P.T, lost, np.flatnonzero(guessed & (not bounded))


def _entering(given: Sparse, low: Any, backwards: bool) -> Any:
    """Return the edges into each vertex, on the GPU; the edges out of it, if `backwards`.

    Entries that are zero are left out: the kernels take every entry for an edge, and report a walk along it as lost.
    """
    import cupy

    from semiring.kernels.cuda.sparse.product import DeviceRows

    rows = given.without_zeros().rows
    rows = rows if backwards else transpose(rows)
    offsets, tails, weights = map(cupy.asarray, (rows.offsets, rows.columns, rows.values))
    return DeviceRows(offsets, tails, weights if low.is_identity else low.encode(weights, True), rows.width)


def cut_off_on_gpu(given: Operand, X: Any, tree: Any, limit: np.ndarray) -> Any:
    """Return X with zero for walks that are worse than a limit, an array of one element.

    `tree` is overwritten, and has no predecessors there.
    """
    import cupy

    from semiring.kernels.cuda.sparse.trees import CudaTreeKernel, lowering_for

    low = lowering_for(given.S, given.dtype, given.facts, 3)
    x, p = low.encode(cupy.ascontiguousarray(X), True), cupy.ascontiguousarray(tree)
    CudaTreeKernel(low, False).cut_off(x, p, low.encode(cupy.asarray(limit), True))
    if p is not tree:
        tree[...] = p
    return low.decode(x)


def cut_off(given: Operand, values: Any, tree: Any, bound: np.ndarray) -> Any:
    """Leave out walks that are worse than a limit: their values become zero, and they have no predecessors.

    Parameters
    ----------
    given : Operand
    values : array, shape (k, n)
        May be overwritten.
    tree : array of int32, shape (k, n), or EdgeNumbers, or None
        Is overwritten.
    bound : ndarray, shape (1,)
        What `limit_of` made of the limit.

    Returns
    -------
    array, shape (k, n)
        The values that are left.
    """
    if is_on_gpu(values):
        return cut_off_on_gpu(given, values, tree, bound)
    far = beyond(given.S, values, bound)
    np.copyto(values, full(values[:1, :1], given.S.zero_in(values.dtype)), where=far)
    if tree is not None:
        np.copyto(tree.numbers if isinstance(tree, EdgeNumbers) else tree, -1, where=far)
    return values


def trees_within(given: Operand, X: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Find trees as `best_trees` does, for rows without what is beyond a limit.

    Only edges between vertices that some root reaches are looked at. Vertices stay in order, so ties break the same
    way. No walk is lost: one whose value would be zero is beyond the limit.

    Examples
    --------
    >>> import semiring as sr
    >>> from semiring.operands.read import read
    >>> G = read(sr.as_graph([(0, 1, 3.0), (1, 2, 4.0), (2, 3, 1.0)]), sr.min_plus)
    >>> trees_within(G, np.array([[0.0, 3.0, np.inf, np.inf]]), np.array([0]))
    array([[-1,  0, -1, -1]], dtype=int32)
    """
    reached = ~equal(X, full(X[:1, :1], given.S.zero_in(X.dtype)))
    alone = ~reached[np.arange(len(roots)), roots]  # even the walk of no edge is beyond the limit
    rows, vertices = np.flatnonzero(~alone), np.flatnonzero(reached.any(axis=0))
    if len(rows) == len(roots) and len(vertices) == X.shape[1]:
        return np.asarray(best_trees(given, X, roots, within=True))
    found = np.full(X.shape, -1, np.int32)
    if rows.size:
        part = np.ix_(rows, vertices)
        inside = best_trees(given.part(vertices), np.ascontiguousarray(X[part]),
                            np.searchsorted(vertices, roots[rows]), within=True)
        found[part] = np.where(inside >= 0, vertices[inside], -1)
    return found
