"""Trees of best walks for values that are there: where these are, by compiled code or by NumPy; or on objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from semiring.algebra.laws import full, show
from semiring.algebra.overflow import may_leave
from semiring.algebra.rounding import fractions, nothing_improves, over_fractions, rounds
from semiring.algebra.semiring import Semiring
from semiring.algorithms import trees
from semiring.algorithms.labels import best_walks
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import quoted
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import PURPOSES, affordable, code_of
from semiring.kernels.cpu.compile.price import Renting
from semiring.kernels.cpu.sparse import bottleneck
from semiring.kernels.cpu.sparse.edge_numbers import EdgeNumbers
from semiring.kernels.cpu.sparse.predecessors import PredecessorKernel
from semiring.kernels.cpu.sparse.structure import is_symmetric, transpose
from semiring.kernels.cpu.sparse.trees import kernel_for
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.comparing import only_compares
from semiring.kernels.lowering.objects import python_integers
from semiring.machine.pieces import equal_shares
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.dense import Dense
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse

from .encoded import Encoded
from .forms import fits, plain_form
from .fronts import analysis_of, is_analysed
from .trees_gpu import trees_on_gpu

NEAR = 4  # roundings by which the weight of a walk may differ from the value of the best one, for each vertex
ALL = 1 << 22  # values that NumPy looks at together
LOOKED = 1 << 14  # edges that are looked at together as fractions
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
            _mend(on_host(given), to_host(X[some]), roots[guessed], trees_there, backwards)
            P[some] = upload(trees_there)
        if S.has_reached_star or S.sums_cycles:
            _refuse_false_walks(on_host(given), to_host(X), roots, to_host(P), backwards)
        return P
    _refuse_cycles(S, X[np.arange(len(roots)), roots], T, within)
    bounded = is_bounded(given)
    whole = np.array_equal(roots, np.arange(n))
    graph = _edges(given, X, bounded, backwards, whole)
    low = form_for_trees(given)
    nested = whole and backwards and bounded and isinstance(given, Sparse) and takes_the_worse(S)
    hops = _by_components(graph, low) if nested else None
    if hops is not None:
        return hops.T if isinstance(hops, np.ndarray) else hops.kept().T if numbers else hops.vertices().T
    leaving = transpose(graph.rows) if backwards else graph.rows
    # It may be what a search left, to the bit.
    searched = not backwards and not isinstance(X, Encoded) and X.flags.c_contiguous
    P, left = None, np.arange(len(roots))
    if searched:
        P, left = _from_a_search(low, leaving, X, roots, bounded, within)
    if P is not None and not left.size:
        _refuse_false_walks(given, X, roots, P, backwards)
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
        _mend(given, x[guessed], its[guessed], mended, backwards)
        found[guessed] = mended
    if P is None:
        P = found
    else:
        P[left] = found
    if not bounded:
        _refuse_false_walks(given, X, roots, P, backwards)
    if lost and not within:
        some = [(int(left[i]), v) for i, v in lost]
        asked = None if wanted is None else ~_led(P) & np.broadcast_to(wanted, (len(roots), n))
        _refuse_lost(given, graph, entering, X, roots, some, backwards, asked)
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


def no_tree(S: Semiring) -> LawError:
    """That the best walks from a vertex make no tree, and what to ask for instead.

    Examples
    --------
    >>> import semiring as sr
    >>> str(no_tree(sr.max_plus))[:37]
    'max-plus: best walks go round a cycle'
    """
    return LawError(
        f"{S.name}: best walks go round a cycle here before that stops improving, which no tree of walks can tell; "
        "ask sr.path for one walk at a time, or sr.closure_rows for values alone"
    )


def _refuse_false_walks(given: Operand, X: np.ndarray, roots: np.ndarray, P: np.ndarray, backwards: bool) -> None:
    """Raise where a walk along a tree weighs something else than X says, because the best one goes round a cycle.

    Only where cycles may improve for some rounds, and then no more: elsewhere those that improve are refused. A vertex
    before which that happens has a best edge from the cycle, or none from outside it.
    """
    S = given.S
    if not (S.has_reached_star or S.sums_cycles) or not S.selective or is_bounded(given):
        return
    sparse = as_sparse(given)
    rows = transpose(sparse.rows) if backwards else sparse.rows
    T, step = S.over(rows.values.dtype), max(ALL // max(X.shape[1], 1), 1)
    for begin in range(0, len(roots), step):
        some = slice(begin, begin + step)
        weights, values = _weights_along(T, rows, P[some], roots[some], backwards), X[some]
        told = P[some] >= 0
        if not _are_near(weights, values, rows.values)[told].all():
            raise no_tree(S)


def _mend(given: Operand, X: np.ndarray, roots: np.ndarray, P: np.ndarray, backwards: bool) -> None:
    """Make walks weigh what X says in lines with a guess, where edges are better than one and floats round.

    A cycle that is one but for rounding may look best from within, so that no edge into it does from outside; then the
    edge by which it is entered is a guess. Lines in which that went wrong are searched, which keeps the edges that it
    goes along. Elsewhere a walk goes along best edges alone, whose values are each other's products up to a rounding.
    """
    S, sparse = given.S, as_sparse(given)
    if not rounds(sparse.values) or (backwards and not S.commutative):
        return
    rows = sparse.rows if not backwards else transpose(sparse.rows)
    graph, T = CompressedRows(rows.offsets, rows.columns, rows.values), S.over(rows.values.dtype)
    step = max(ALL // max(X.shape[1], 1), 1)
    for begin in range(0, len(roots), step):
        some = slice(begin, begin + step)
        weights = _weights_along(T, rows, P[some], roots[some])
        for i in (begin + np.flatnonzero(~_are_near(weights, X[some], rows.values).all(axis=1))).tolist():
            found = best_walks(graph, S, int(roots[i]))
            if found.cycle is None and found.rounds is None:
                P[i] = found.predecessor


def _weights_along(T: Any, rows: Rows, P: np.ndarray, roots: np.ndarray, backwards: bool = False) -> np.ndarray:
    """What the walks along trees weigh; zero where there is none. If `backwards`, walks lead to the roots.

    Of each vertex the walk from a vertex `before` it is known, of one edge at first. Then that to `before` is put
    ahead of it, which doubles the edges, until all walks begin at their roots.
    """
    weights = full(np.empty(P.shape, T.dtype), T.zero)
    weights[np.arange(len(roots)), roots] = T.one
    i, v = np.nonzero(P >= 0)
    before = P.astype(np.int64)
    tails = np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets))
    entries = np.searchsorted(tails * rows.width + rows.columns, before[i, v] * rows.width + v)
    weights[i, v] = rows.values[entries]
    for _ in range(P.shape[1].bit_length()):
        i, v = np.nonzero(before >= 0)
        u = before[i, v]
        with np.errstate(all="ignore"):
            walked = T.mul(weights[i, v], weights[i, u]) if backwards else T.mul(weights[i, u], weights[i, v])
        weights[i, v], before[i, v] = walked, before[i, u]
    return weights


def _are_near(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Whether elements differ by no more than the roundings of a long walk."""
    if x.dtype.names:
        return np.logical_and.reduce([_are_near(x[f], y[f], weights[f]) for f in x.dtype.names])
    if x.dtype.kind != "f":
        return np.asarray(x == y, bool)
    finite = np.abs(weights[np.isfinite(weights)])
    size = np.maximum(np.maximum(np.abs(x), np.abs(y)), finite.max(initial=0.0))
    with np.errstate(invalid="ignore"):
        near = np.isfinite(size) & (np.abs(x - y) <= NEAR * x.shape[1] * np.finfo(x.dtype).eps * size)
        return np.asarray((x == y) | near, bool)


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


def is_bounded(given: Operand) -> bool:
    """Whether no edge is better than one."""
    if isinstance(given, Dense):
        return nothing_improves(given.S.over(given.dtype), given.array)
    return as_sparse(given).bounded


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


def _by_components(given: Sparse, low: Lowering) -> EdgeNumbers | np.ndarray | None:
    """Next hops of all pairs where ⊗ takes the worse of two, of which ⊕ takes the better, if edges go both ways alike.

    None where they do not, where compiling does not repay, or where another way is faster.
    """
    S, rows, n = given.S, given.rows, given.n
    if low.kind != "numba" or not is_symmetric(rows):
        return None
    code, shared = code_of(low, "trees"), bottleneck.CODE
    other = LINE * n * n if code.at_hand else PURPOSES["trees"].seconds(low, float(n), float(given.nnz) * n)
    if not shared.pays(other):
        return None
    zero, sign = S.zero_in(given.dtype), least_or_greatest(S)
    tails, values = np.repeat(np.arange(n, dtype=np.int32), np.diff(rows.offsets)), rows.values
    leads = values > zero if sign > 0 else values < zero
    once = np.flatnonzero(leads & (tails < rows.columns))
    once = once[np.argsort(values[once])[::-sign]]  # best first
    values = values[once]
    ranks = np.concatenate([[0], np.cumsum(values[1:] != values[:-1])])[: len(once)]
    ranks = (ranks.max(initial=0) - ranks).astype(np.int32)
    return bottleneck.next_hops(n, tails[once], rows.columns[once], ranks, rows)


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
    with Renting(*([code_of(low, purpose)] if low.kind == "numba" else [])):
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


def reached_from(A: Rows, source: int) -> np.ndarray:
    """Which vertices some walk leads to from one of them, or is there already: bool, shape (n,).

    Examples
    --------
    >>> reached_from(Rows(np.array([0, 1, 1, 2]), np.array([1, 0], np.int32), np.array([4.0, 5.0]), 3), 0)
    array([ True,  True, False])
    """
    from scipy.sparse import csr_array  # both take a while to import, and few calls come here
    from scipy.sparse.csgraph import breadth_first_order

    pattern = csr_array((np.ones(len(A.columns), np.int8), A.columns, A.offsets), shape=A.shape)
    reached = np.zeros(A.width, bool)
    reached[breadth_first_order(pattern, source, return_predecessors=False)] = True
    return reached


def least_or_greatest(S: Semiring) -> int:
    """−1 where ⊕ is the lesser of two numbers, 1 where it is the greater, else 0."""
    add = S.traced.add if S.traced is not None and not S.fields else None
    if add is None:
        return 0
    return -1 if add.is_plain("minimum") else 1 if add.is_plain("maximum") else 0


def takes_the_worse(S: Semiring) -> bool:
    """Whether ⊗ is the worse of two numbers, of which ⊕ is the better: a walk is as good as its worst edge.

    Examples
    --------
    >>> import semiring as sr
    >>> takes_the_worse(sr.max_min), takes_the_worse(sr.min_plus)
    (True, False)
    """
    mul, better = S.traced.raw_mul if S.traced is not None else None, least_or_greatest(S)
    return bool(mul is not None and better and mul.is_plain("minimum" if better > 0 else "maximum"))


def _is_held(value: Any, dtype: np.dtype, zero: Any) -> bool:
    """Whether a number is told from zero in a dtype."""
    try:
        with np.errstate(all="ignore"):
            found = dtype.type(int(value)) if dtype.kind in "iu" else np.asarray(float(value)).astype(dtype)
    except OverflowError:
        return False
    return bool(found != zero)


def rounds_once(S: Semiring, dtype: np.dtype) -> bool:
    """Whether ⊗ of elements of a dtype is exact, or one operation whose result is rounded."""
    mul = S.traced.raw_mul if S.traced is not None else None
    return dtype.kind != "f" or (mul is not None and any(map(mul.is_plain, ("add", "multiply", "minimum", "maximum"))))


def may_be_lost(given: Operand) -> bool:
    """Whether a walk may have a weight that its dtype reads as zero: too large or too small a number."""
    dtype = given.dtype
    if dtype.kind != "f":
        return dtype.names is not None or not fits(given, given.facts)
    return not given.S.is_tropical or float(given.facts.largest) * given.shape[0] > float(np.finfo(dtype).max)


def _refuse_lost(
    given: Operand, graph: Sparse, entering: Rows, X: Any, roots: np.ndarray, lost: list[tuple[int, int]],
    backwards: bool, missing: np.ndarray | None,
) -> None:
    """Raise where a walk is lost because of its dtype, and is one that is wanted.

    `missing`: the walks that are wanted and were not found, whether or not there are any; None where all are wanted.
    """
    for i, v in _lost(given, entering, X, roots, lost, backwards):
        root = int(roots[i])
        if missing is None:
            raise not_held(given, root, v, backwards)
        ends = missing[i].copy()
        ends[root] = False
        if ends.any():
            edges = graph.without_zeros().rows
            ends &= reached_from(transpose(edges) if backwards else edges, root)
        if ends.any():
            raise not_held(given, root, v if ends[v] else int(ends.argmax()), backwards)


def _lost(
    given: Operand, entering: Rows, X: Any, roots: np.ndarray, lost: list[tuple[int, int]], backwards: bool
) -> Iterator[tuple[int, int]]:
    """Lines, and vertices at which a product is zero only because its dtype ends before the number that it is.

    Other numbers that differ from zero by the rounding of sums, as 0.4 + 0.6 − 1 may, are what rounding makes of them.
    """
    S, dtype = given.S, given.dtype
    exact = over_fractions(S)
    if exact is None or S.fields:
        return
    T = S.over(dtype)
    lines, vertices = np.array(lost).T
    counts = np.diff(entering.offsets)[vertices]
    before = np.concatenate([[0], np.cumsum(counts)])
    parts = len(lost) if dtype.kind == "O" else 1 + int(before[-1]) // LOOKED
    for first, last in equal_shares(before, parts):
        of = np.repeat(np.arange(first, last), counts[first:last])
        edges = np.arange(before[first], before[last]) - before[of] + entering.offsets[vertices[of]]
        x, weights = X[lines[of], entering.columns[edges]], entering.values[edges]
        real = (x != full(x, T.zero)) & (weights != full(weights, T.zero))
        numbers = [fractions(part) for part in (x[real], weights[real])]
        if any(part is None for part in numbers):
            continue
        products = exact.mul(*reversed(numbers)) if backwards else exact.mul(*numbers)
        for k in np.flatnonzero(products != exact.zero).tolist():
            if not _is_held(products[k], dtype, T.zero):
                place = of[real][k]
                yield int(lines[place]), int(vertices[place])


def not_held(given: Operand, root: int, v: int, backwards: bool) -> SemiringError:
    """That the weight of a walk is a number that its dtype has not."""
    S, zero = given.S, given.S.over(given.dtype).zero
    a, b = (quoted(given.position(u)) for u in ([v, root] if backwards else [root, v]))
    return SemiringError(
        f"{S.name}: the best walk from {a} to {b} has a weight that {given.dtype} cannot hold: it would read "
        f"{show(zero)}, as if there were no walk. Convert the weights to a wider dtype, or scale them"
    )
