"""Rows of a closure for a few sources of a sparse graph, where ⊕ selects: label setting and label correcting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semiring.algebra.by_name import closable
from semiring.algebra.rounding import nothing_improves, worse
from semiring.algebra.semiring import Semiring
from semiring.algorithms.labels import Walks, along_tree, best_walks, cycle_of, cycle_weight, truly_improves
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import LawError, SemiringError
from semiring.graphs.names import near
from semiring.graphs.texts import clip_repr
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.objects import in_python_integers
from semiring.machine.memory import require
from semiring.operands.devices import gpu_name
from semiring.operands.operand import check_square, examine
from semiring.operands.sparse import Compressed, compressed

from .cycles import improving
from .schedules import LARGE

WORTH = 1 << 28  # edges times sources from which a GPU is faster, the copies included


def closure_rows(
    A: Any, S: Semiring | str, sources: Any, *, predecessors: bool = False, device: str | None = None
) -> Any:
    """The rows of the closure A* for some sources, of a sparse graph over an algebra whose ⊕ selects.

    With min_plus a row holds the distances from its source, with max_min the widest paths. Takes memory for the rows
    only, and time about in proportion to the edges and the sources; for most rows of a closure, `factor` or `closure`
    is faster.

    Parameters
    ----------
    A : sparse matrix, Graph, NetworkX graph, or what `closure` takes
        Square. Every stored entry is an edge, also if it is the number 0; entries of one place combine with ⊕.
    S : Semiring or str
        With a selective ⊕.
    sources : vertex, or sequence of vertices
        By name where A has names, else by position.
    predecessors : bool
        Whether to return the vertex before each on a best walk, too.
    device : {None, "cpu", "gpu"}
        Where to compute; ``None``: on the GPU, if there is one, where that repays the copies.

    Returns
    -------
    rows : ndarray of A's dtype, shape (k, n), or (n,) for one vertex
    predecessors : ndarray of int32, of the same shape
        If wanted; positions, −1 for the source and for what is not reached.

    Raises
    ------
    LawError
        When ⊕ does not select; or predecessors are wanted where best walks go round a cycle, and how often is not known
        from them.
    NoClosureError
        When an improving cycle can be reached from a source; it names the cycle. Beyond an infinitely good edge nothing
        improves any more, and cycles may stay unnoticed.
    SemiringError
        For an unknown vertex, an entry that is not an element, or a result that A's dtype cannot hold.

    Notes
    -----
    Where no edge is better than 1 (non-negative weights in min-plus), Dijkstra's algorithm with a heap; elsewhere
    Bellman–Ford–Moore with a frontier, see `semiring.algorithms.frontier`. A cycle whose weight is better than 1 by no
    more than the rounding of its edges explains is none; see `semiring.algebra.rounding`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> import semiring as sr
    >>> from semiring.solvers.search import closure_rows
    >>> A = sp.csr_array(([3.0, 10.0, -4.0], ([0, 0, 1], [1, 2, 2])), shape=(3, 3))
    >>> closure_rows(A, sr.min_plus, [0, 1])
    array([[ 0.,  3., -1.],
           [inf,  0., -4.]])
    >>> row, before = closure_rows(A, sr.min_plus, 0, predecessors=True)
    >>> before
    array([-1,  0,  1], dtype=int32)
    """
    S = closable(S)
    if not S.selective:
        raise LawError(
            f"{S.name}: ⊕ does not select, so that no single walk is best; use factor(A, S).solve(B), or closure(A, S)"
        )
    given = compressed(A, S)
    n = check_square(np.broadcast_to(False, given.shape))
    single, starts = positions(sources, given.names, n)
    size = len(starts) * n * (given.dtype.itemsize + 4 * predecessors)
    if size > LARGE:
        require(size, f"{len(starts)} rows of the closure of {n} vertices", "pass fewer sources at a time")
    found = Search(S, given, form_of(S, given))
    if _on_gpu(found, len(starts), predecessors, device):
        from .search_gpu import rows_on_gpu

        X, unfinished = rows_on_gpu(S, given.rows, starts, found.form.facts, found.form.bounded)
        for i in unfinished:  # a cycle improves, or rounding keeps one going: the CPU says which
            X[i] = found.rows(starts[i : i + 1], False)[0][0]
        P = None
    else:
        X, P = found.rows(starts, predecessors)
    rows = X[0] if single else X
    return rows if P is None else (rows, P[0] if single else P)


@dataclass(frozen=True)
class Form:
    """How the search runs, and what is known of the weights."""

    low: Lowering
    facts: Facts
    bounded: bool  # no edge is better than 1, so that vertices settle best first


class Search:
    """Best walks over one graph."""

    def __init__(self, S: Semiring, given: Compressed, form: Form):
        self.S, self.given, self.form = S, given, form
        low = form.low
        self.stored = replace(given.rows, values=low.encode(given.rows.values, True))

    def rows(self, starts: np.ndarray, predecessors: bool) -> tuple[np.ndarray, np.ndarray | None]:
        """The rows of the closure on the CPU, and predecessors if wanted."""
        low = self.form.low
        if low.kind == "objects":
            found = [self._searched(int(s), self.stored.values, predecessors) for s in starts]
            return _stacked(found, low, self.given.shape[0], predecessors)
        from semiring.kernels.cpu.sparse.search import frontier_kernel

        kernel = frontier_kernel(low)
        if self.form.bounded:
            X, P = kernel.settle(self.stored, starts, predecessors)
            return low.decode(X), P
        X, P, failed = kernel.correct(self.stored, starts, predecessors)
        # A cycle improves, or rounding makes it look so.
        rows = low.decode(X)
        for i, walks in self._looked_at(starts, np.flatnonzero(failed >= 0), predecessors):
            rows[i] = walks.labels
            if P is not None:
                P[i] = walks.predecessor
        return rows, P

    def _looked_at(self, starts: np.ndarray, unsure: np.ndarray, predecessors: bool) -> Iterator[tuple[int, Walks]]:
        """The rows of some sources again, of which a cycle that they reach improves, unless that is rounding."""
        from semiring.kernels.cpu.sparse.search import frontier_kernel

        low, S, values = self.form.low, self.S, self.given.rows.values
        if not S.may_diverge:
            for i in unsure.tolist():
                yield i, self._searched(int(starts[i]), values, predecessors)
            return
        if values.dtype.kind in "iu" and S.is_tropical:
            values = in_python_integers(low, self.stored.values)[1]
        graph, first = self._graph(values), unsure[:1]
        if first.size:  # where it is no matter of rounding, the compiled search has found the cycle already
            _, P, failed = frontier_kernel(low).correct(self.stored, starts[first], True)
            cycle = None if P is None else cycle_of(P[0], int(failed[0]))
            if cycle is not None and truly_improves(graph, S, cycle):
                raise self._improving(cycle, cycle_weight(graph, S, cycle))
        if unsure.size and low.storage.kind == "f" == values.dtype.kind:
            T = S.over(values.dtype)
            stored = low.encode(worse(T, values), True)
            _, P, failed = frontier_kernel(low).correct(replace(self.stored, values=stored), starts[unsure], True)
            assert P is not None
            for i, before in zip(unsure[failed < 0].tolist(), P[failed < 0], strict=True):
                yield i, Walks(along_tree(graph, T, [int(starts[i])], before), before)
            unsure = unsure[failed >= 0]
        for i in unsure.tolist():
            yield i, self._searched(int(starts[i]), values, predecessors)

    def _graph(self, values: np.ndarray) -> CompressedRows:
        return CompressedRows(self.given.rows.offsets, self.given.rows.columns, values)

    def _searched(self, source: int, values: np.ndarray, predecessors: bool) -> Walks:
        found = best_walks(self._graph(values), self.S, source)
        if found.cycle is not None:
            raise self._improving(found.cycle, found.weight)
        if predecessors and found.rounds is not None:
            raise LawError(
                f"{self.S.name}: best walks go round a cycle here before that stops improving, which predecessors "
                "cannot tell; leave out predecessors=True, or ask sr.path for the walks"
            )
        return found

    def _improving(self, cycle: list[int], weight: Any) -> Exception:
        return improving(self.S, self.given.names, cycle[0], cycle, weight, None)


def form_of(S: Semiring, given: Compressed) -> Form:
    """What the search over a graph runs on."""
    values = given.rows.values
    facts = examine(S, values.dtype, [("A", values)])
    # Between two looks for a cycle at most 2 n edges join a walk; see frontier_template.py.
    low = choose(S, values.dtype, facts, 3 * given.shape[0] + 3, in_place=False, packed=False)
    if low.kind == "numba" and values.dtype in (np.float32, np.float64):
        plain = general(S, values.dtype)  # what other forms save in a product is nothing here
        low = plain if plain.is_identity else low
    return Form(low, facts, nothing_improves(S.over(values.dtype), values))


def _stacked(
    found: list[Walks], low: Lowering, n: int, predecessors: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    X = np.empty((len(found), n), object)
    for row, walks in zip(X, found, strict=True):
        row[...] = walks.labels
    P = np.array([walks.predecessor for walks in found], np.int32).reshape(len(found), n) if predecessors else None
    return low.decode(X), P


def positions(sources: Any, names: Sequence[Any] | None, n: int) -> tuple[bool, np.ndarray]:
    """Whether one vertex was given, and the positions of the vertices.

    Raises
    ------
    SemiringError
        For an unknown vertex, with a near one.
    """
    index = {name: i for i, name in enumerate(names)} if names is not None else None
    single = isinstance(sources, (int, np.integer, str)) or (index is not None and _is_name(sources, index))
    try:
        wanted = [sources] if single else list(sources)
    except TypeError:
        wanted = [sources]  # which is none
    result = np.empty(len(wanted), np.int64)
    for i, v in enumerate(wanted):
        if index is not None:
            if not _is_name(v, index):
                shown = repr(v) if isinstance(v, str) else clip_repr(v)
                raise SemiringError(f"there is no vertex {shown}{near(v, names or ())}")
            result[i] = index[v]
        elif not isinstance(v, (int, np.integer)) or isinstance(v, (bool, np.bool_)) or not 0 <= v < n:
            raise SemiringError(f"there is no vertex {clip_repr(v)}: vertices are 0 … {n - 1}")
        else:
            result[i] = v
    return single, result


def _is_name(v: Any, index: dict) -> bool:
    try:
        return v in index
    except TypeError:  # not hashable
        return False


def _on_gpu(search: Search, count: int, predecessors: bool, device: str | None) -> bool:
    """Whether the GPU does it."""
    if device not in (None, "cpu", "gpu", "cuda"):
        raise SemiringError(f"unknown device {device!r}: it is 'cpu', 'gpu', or None for the best of them")
    if device == "cpu":
        return False
    dtype = search.given.dtype
    machine = search.form.low.kind == "numba" and dtype.names is None
    if device is None:
        large = count * len(search.given.rows.columns) >= WORTH
        return large and machine and not predecessors and dtype.kind == "f" and gpu_name() is not None
    if gpu_name() is None:
        raise SemiringError(
            f"device {device!r}: no GPU was found; install semiring[cu12] or semiring[cu13] on a machine that has one, "
            "or use device='cpu'"
        )
    if predecessors or not machine:
        what = "predecessors are" if predecessors else f"{search.S.name} on {dtype} is"
        raise SemiringError(f"{what} found on the CPU only; use device='cpu'")
    return True
