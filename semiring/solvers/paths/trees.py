"""Trees of best walks for values that are there: where these are, by compiled code or by NumPy; or on objects."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.laws import full
from semiring.algebra.overflow import may_leave
from semiring.algebra.semiring import Semiring
from semiring.algorithms import trees
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, renting
from semiring.kernels.cpu.sparse.edge_numbers import EdgeNumbers
from semiring.kernels.cpu.sparse.predecessors import PredecessorKernel
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.cpu.sparse.trees import kernel_for
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.comparing import only_compares
from semiring.kernels.lowering.objects import python_integers
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.dense import Dense
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse

from ..forms import Encoded, plain_form
from ..sparse.fronts import analysis_of, is_analysed
from .walks import ALL, mend, no_tree, refuse_false_walks, refuse_lost

LINE = 1e-8  # seconds in which compiled code makes trees where a walk is as good as its worst edge, for each pair


def best_trees(
    given: Operand, X: Any, roots: np.ndarray, *, backwards: bool = False, wanted: np.ndarray | None = None,
    within: bool = False, numbers: bool = False,
) -> Any:
    """The vertex before each on a best walk from each root; the vertex after it on one to the root, if `backwards`.

    Parameters
    ----------
    given : Operand
        The graph, on the host; an array is on a GPU if X is there.
    X : array or Encoded, shape (k, n)
        The values of the best walks from each root, or to it.
    roots : ndarray of int64, shape (k,)
    backwards : bool
        Whether X holds columns of the closure, and walks lead to the roots.
    wanted : ndarray of bool, shape (k, n) or one that broadcasts to it, optional
        Which walks are asked for: one that the dtype cannot hold elsewhere is not an error. None: all of them.
    within : bool
        Whether X says all that is asked: what it lacks is beyond a limit, or reads zero as rows of the closure do, and
        nothing is refused.
    numbers : bool
        Whether numbers of edges will do, where they are what is found.

    Returns
    -------
    array of int32, shape (k, n), or EdgeNumbers
        −1 at the root, and where there is no walk. Where X is; on the host in its order in memory too.

    Raises
    ------
    LawError
        Where best walks go round a cycle.
    SemiringError
        Where a walk has a value that the dtype cannot hold.
    """
    S, n = given.S, given.shape[0]
    T, on_gpu = S.over(given.dtype), is_on_gpu(X)
    if on_gpu:
        given = given if isinstance(given, Dense) else as_sparse(given)
        monotone = least_or_greatest(S) != 0 and rounds_once(S, given.dtype)
        # It is prepared while the GPU may still compute X, which the first look at an element waits for.
        P, lost_at, guessed = trees_on_gpu(given, X, roots, backwards, monotone)
        _refuse_cycles(S, to_host(X[upload(np.arange(len(roots))), upload(roots)]), T, within)
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
    _refuse_cycles(S, X[np.arange(len(roots)), roots], T, within)
    bounded = given.bounded
    whole = np.array_equal(roots, np.arange(n))
    graph = _edges(given, X, bounded, backwards, whole)
    low = form_for_trees(given)
    leaving = transpose(graph.rows) if backwards else graph.rows
    # It may be what a search left, to the bit.
    searched = not backwards and not isinstance(X, Encoded) and X.flags.c_contiguous
    P, left = None, np.arange(len(roots))
    if searched:
        P, left = _from_a_search(low, leaving, X, roots, bounded, within)
    if P is not None and not left.size:
        refuse_false_walks(given, X, roots, P, backwards)
        return P
    entering = graph.rows if backwards else transpose(graph.rows)
    compiled, makes = kernel_for(entering)
    low = affordable(low, float(len(roots)), float(graph.nnz) * len(roots), compiled)
    x, its = (X, roots) if P is None else (X[left], roots[left])
    found: Any
    if low.kind == "objects" or not low.compiled:
        purpose = "predecessors" if searched and P is None else compiled
        decoded = x[:] if isinstance(x, Encoded) else x
        found, lost, guessed = _by_numpy(low, S, entering, leaving, decoded, its, bounded, backwards, purpose)
    else:
        kernel = makes.of(low, exchange=backwards and not S.commutative)
        stored = Rows(entering.offsets, entering.columns, low.encode(entering.values, True), n)
        encoded = _in_storage(low, x)
        order = analysis_of(given).order if isinstance(given, Sparse) and is_analysed(given) else None
        lossless = loses_nothing(S, entering.values, n)
        found, where, guesses = kernel.predecessors(
            stored, leaving, encoded, its, bounded, only_compares(low), lossless, order
        )
        lost, guessed = [(i, int(where[i])) for i in np.flatnonzero(where >= 0).tolist()], np.flatnonzero(guesses)
        if isinstance(found, EdgeNumbers):
            found = found.kept() if numbers and bounded and P is None else found.vertices()
    if guessed.size and not bounded:
        mended = found[guessed]
        mend(given, x[guessed], its[guessed], mended, backwards)
        found[guessed] = mended
    if P is None:
        P = found
    else:
        P[left] = found
    if not bounded:
        refuse_false_walks(given, X, roots, P, backwards)
    if lost and not within:
        some = [(int(left[i]), v) for i, v in lost]
        asked = None if wanted is None else ~_led(P) & np.broadcast_to(wanted, (len(roots), n))
        refuse_lost(given, graph, entering, X, roots, some, backwards, asked)
    return P


def form_for_trees(given: Operand) -> Lowering:
    """The lowering by which trees of a matrix are made."""
    return plain_form(given.S, given.dtype, given.facts, given.shape[0] + 1)


def _in_storage(low: Lowering, X: np.ndarray | Encoded) -> np.ndarray:
    """Values as a lowering stores them, to be read."""
    if isinstance(X, Encoded):
        return X.array if X.is_as_in(low) else _in_storage(low, X[:])
    return X if low.is_identity else low.encode(X, True)


def _refuse_cycles(S: Semiring, own: np.ndarray, T: Any, within: bool) -> None:
    """Raise where the values of the roots themselves are not one, unless what X lacks is beyond a limit (`within`)."""
    if not within and not np.all(own == full(own, T.one)):
        raise no_tree(S)


def loses_nothing(S: Semiring, weights: np.ndarray, n: int) -> bool:
    """Whether the product of any n edges, none better than one and none zero, is known not to be zero in their dtype.

    It is no worse than the worst of them so many times. That is taken twice as often, which leaves room for roundings.

    Examples
    --------
    >>> import semiring as sr
    >>> loses_nothing(sr.max_times, np.array([0.1, 1.0]), 100), loses_nothing(sr.max_times, np.array([0.1]), 200)
    (True, False)
    """
    T, kind, direction = S.over(weights.dtype), weights.dtype.kind, least_or_greatest(S)
    some = weights[full(weights, T.zero) != weights]
    if not some.size:
        return True
    if kind not in "iuf" or direction == 0:
        return False
    worst = some.max() if direction < 0 else some.min()
    if S.is_tropical:
        return 2 * n * abs(worst.item()) < float((np.finfo if kind == "f" else np.iinfo)(weights.dtype).max)
    if kind != "f":  # a product may leave the dtype in another way than by being zero
        return False
    with np.errstate(all="ignore"):
        for _ in range((2 * n).bit_length()):
            worst = T.mul(worst, worst)
    return bool(worst != T.zero)


def _led(P: Any) -> np.ndarray:
    """Where a vertex stands before another in lines of trees."""
    return np.asarray((P.numbers if isinstance(P, EdgeNumbers) else P) >= 0)


def _from_a_search(
    low: Lowering, A: Rows, X: np.ndarray, roots: np.ndarray, bounded: bool, cut: bool
) -> tuple[np.ndarray | None, np.ndarray]:
    """Predecessors by compiled code where X is what a search leaves, and which rows are not; None if not compiled."""
    low = affordable(low, float(X.size), float(len(A.columns)) * len(roots), "predecessors")
    if low.kind == "objects" or not low.compiled:
        return None, np.arange(len(roots))
    stored = Rows(A.offsets, A.columns, low.encode(A.values, True), A.width)
    values = X if low.is_identity else low.encode(X, True)
    P, finished = PredecessorKernel.of(low).rows(stored, values, roots, bounded, cut)
    return P, np.flatnonzero(~finished)


def origins_of(given: Sparse, x: np.ndarray, starts: np.ndarray) -> np.ndarray | None:
    """The start that the best walk to each vertex comes from, where no edge is better than one.

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
        −1 where no walk leads. None where that is not compiled, or rounding leaves no tree along edges.
    """
    A, n = given.rows, given.n
    low = form_for_trees(given)
    low = affordable(low, float(n), float(given.nnz), "predecessors")
    if low.kind == "objects" or not low.compiled:
        return None
    stored = Rows(A.offsets, A.columns, low.encode(A.values, True), n)
    return PredecessorKernel.of(low).origins(stored, x if low.is_identity else low.encode(x, True), starts)


def _by_numpy(
    low: Any, S: Semiring, entering: Rows, leaving: Rows, X: np.ndarray, roots: np.ndarray, bounded: bool,
    backwards: bool, purpose: str,
) -> tuple[np.ndarray, list[tuple[int, int]], np.ndarray]:
    values, T = entering.values, S.over(entering.values.dtype).unchecked
    if may_leave(S, values.dtype):  # an edge that is not taken may lead out of the dtype
        whole = python_integers(S, values.dtype, low.reason)
        values, X, T = whole.encode(values, True), whole.encode(X, True), S.over(object)
    edges = trees.Edges(entering.offsets, entering.columns, values, (leaving.offsets, leaving.columns))
    step = max(ALL // max(len(entering.offsets), 1), 1)
    parts, lost, guessed = [np.empty((0, X.shape[1]), np.int32)], [], []
    with renting(low, purpose):
        for begin in range(0, len(roots), step):
            some = slice(begin, begin + step)
            P, missing, guesses = trees.predecessors(edges, T, X[some], roots[some], bounded, backwards)
            parts.append(P)
            lost += [(begin + i, v) for i, v in missing]
            guessed += [begin + i for i in guesses]
    return np.concatenate(parts), lost, np.array(guessed, np.int64)


def _edges(given: Operand, X: np.ndarray, bounded: bool, backwards: bool, whole: bool) -> Sparse:
    """The edges that best walks can have: of an array those that are no worse than every walk to their heads.

    `whole`: line i is that of vertex i, for all of them. A walk is no better than any of its edges where no edge is
    better than one, and ⊗ rounds at most once: 1 + a − 1 may be more than a. And where ⊗ is a sum, an edge of a best
    walk is itself the best walk between its ends.
    """
    S = given.S
    direction = least_or_greatest(S)
    if not isinstance(given, Dense) or direction == 0 or not bounded or not X.size or not rounds_once(S, given.dtype):
        return as_sparse(given)
    A, zero = given.array, S.zero_in(given.dtype)
    no_worse = np.less_equal if direction < 0 else np.greater_equal
    worst = (np.maximum if direction < 0 else np.minimum).reduce(X, axis=0)
    kept = (zero != A) & no_worse(A, worst[:, None] if backwards else worst)
    if whole and S.is_tropical:
        kept &= no_worse(A, X.T if backwards else X)
    np.fill_diagonal(kept, False)
    offsets = np.concatenate([[0], np.cumsum(np.count_nonzero(kept, axis=1))])
    columns = np.nonzero(kept)[1].astype(np.int32)
    return Sparse(Rows(offsets, columns, A[kept], len(A)), S, given.what, given.names)


@lru_cache(1024)
def least_or_greatest(S: Semiring) -> int:
    """−1 where ⊕ is the lesser of two numbers, 1 where it is the greater, else 0."""
    add = S.traced.add if S.traced is not None and not S.fields else None
    if add is None:
        return 0
    return -1 if add.is_plain("minimum") else 1 if add.is_plain("maximum") else 0


@lru_cache(1024)
def rounds_once(S: Semiring, dtype: np.dtype) -> bool:
    """Whether ⊗ of elements of a dtype is exact, or one operation whose result is rounded."""
    mul = S.traced.raw_mul if S.traced is not None else None
    return dtype.kind != "f" or (mul is not None and any(map(mul.is_plain, ("add", "multiply", "minimum", "maximum"))))


def trees_on_gpu(
    given: Dense | Sparse, X: Any, roots: np.ndarray, backwards: bool, monotone: bool
) -> tuple[Any, np.ndarray, np.ndarray]:
    """The vertex before each on a best walk from each root; the vertex after it on one to the root, if `backwards`.

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
    """The edges into each vertex on the GPU; those out of it, if `backwards`.

    The kernels take every entry for an edge, and a walk along one that is zero would look lost; so those are left out.
    """
    import cupy

    from semiring.kernels.cuda.sparse.product import DeviceRows

    rows = given.without_zeros().rows
    rows = rows if backwards else transpose(rows)
    offsets, tails, weights = map(cupy.asarray, (rows.offsets, rows.columns, rows.values))
    return DeviceRows(offsets, tails, weights if low.is_identity else low.encode(weights, True), rows.width)


def cut_off_on_gpu(given: Operand, X: Any, tree: Any, limit: np.ndarray) -> Any:
    """X without the walks that are worse than a limit, an array of one element; nothing comes before them in the tree.

    `tree` is overwritten.
    """
    import cupy

    from semiring.kernels.cuda.sparse.trees import CudaTreeKernel, lowering_for

    low = lowering_for(given.S, given.dtype, given.facts, 3)
    x, p = low.encode(cupy.ascontiguousarray(X), True), cupy.ascontiguousarray(tree)
    CudaTreeKernel(low, False).cut_off(x, p, low.encode(cupy.asarray(limit), True))
    if p is not tree:
        tree[...] = p
    return low.decode(x)


