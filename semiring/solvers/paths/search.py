"""Rows of a closure for some sources, if ⊕ selects: label setting, or label correcting if an edge improves a walk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.overflow import may_leave
from semiring.algebra.rounding import rounds, worse
from semiring.algebra.semiring import Semiring
from semiring.algorithms.frontier import frontier
from semiring.algorithms.labels import (
    Graph,
    Walks,
    along_tree,
    best_walks,
    cycle_of,
    cycle_weight,
    edges_along,
    truly_improves,
)
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import LawError, OutOfRangeError, SemiringError
from semiring.graphs.names import is_hashable, position_of
from semiring.graphs.tables import Table
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, code_of, sums_numbers
from semiring.kernels.cpu.compile.price import Code, Renting
from semiring.kernels.cpu.sparse.buckets import CpuBucketKernel
from semiring.kernels.cpu.sparse.levels import CpuLevelKernel
from semiring.kernels.cpu.sparse.search import CpuSearchKernel
from semiring.kernels.cpu.sparse.sweeps import CpuSweepKernel
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.objects import in_python_integers, python_integers
from semiring.machine.progress import told
from semiring.machine.threads import cpu_place
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.devices import gpu_name, require_gpu, to_host
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.sparse import Sparse

from ..costs import Searches, search_times
from ..forms import plain_form
from ..options import Options
from ..plan import Plan
from ..refusals import improving
from ..task import Task, compute
from .trees import best_trees, cut_off, stored_in, trees_within
from .walks import limit_of, narrowed, no_tree, not_held, widened

SOURCES_PER_TARGET = 4  # from which searches go backwards from the targets
SOURCES_FOR_BOTH_WAYS = 16  # for which it repays to find out whether edges go both ways, which takes as long as five
BYTES_AT_ONCE = 1 << 26  # of rows, if only some columns are kept
REPORTS = 50  # of progress
SOURCES_PER_LAUNCH = 128  # on a GPU
GPU_EDGES = 1 << 28  # edges times sources from which a GPU is faster, the copies included


def offer(task: Task) -> Plan:
    """Search from each source."""
    S = task.S
    refuse_sums(S)
    given = task.operands[0]
    n = order_of_one(given.shape)
    sources, _, limit = task.arguments
    ends = ends_of(task)
    single, starts = positions(sources, given.names, n)
    matrix, o = as_sparse(on_host(given)), task.options
    form = form_of(matrix)
    on_gpu = _on_gpu(matrix, form, len(starts), o)
    bound = None if limit is None else limit_of(matrix, limit)
    if not on_gpu:
        form = on_the_host(matrix, form, len(starts), o.predecessors, bound is not None)
    search = Search(S, matrix, form)
    fewer = ends is not None and len(starts) >= SOURCES_PER_TARGET * len(ends)
    turned = fewer and not on_gpu and S.commutative and form.bounded
    low = search.form.low
    method, why = way_of(search.form, o.predecessors)
    if turned and ends is not None:
        run: Any = partial(_columns, search, starts, ends, bound, given)
    else:
        run = partial(_rows, search, starts, ends, bound, single, on_gpu, o, given)
    columns = n if ends is None else len(ends)
    size = len(starts) * columns * (given.dtype.itemsize + (4 if o.predecessors else 0))
    return Plan(
        operation="closure_rows", algebra=S, shape=(len(starts), columns), method=method, lowering=low,
        place=gpu_name() or "GPU" if on_gpu else place_of(low),
        work=float(matrix.nnz) * (len(ends) if turned and ends is not None else len(starts)), memory=size,
        runner=run if ends is None else partial(_of_targets, task, run, starts, ends),
        needs=(f"{len(starts)} rows of the closure of {n} vertices", "pass fewer sources at a time"),
        reasons={"method": f"{why}; backwards from the targets, which are fewer" if turned else why},
    )


def _of_targets(task: Task, run: Any, starts: np.ndarray, ends: np.ndarray, plan: Plan) -> Any:
    """Return the columns of targets; numbers in other columns may leave the dtype."""
    try:
        return run(plan)
    except SemiringError as e:
        wide = widened(task.given[0]) if type(e) in (SemiringError, OutOfRangeError) else None
        if wide is None:
            raise
    given = task.given[0]
    found = compute(Task("closure_rows", task.S, (wide,), task.options, task.arguments)).to_numpy()
    rows, lost = narrowed(task.S, found, given.dtype)
    for i, j in np.argwhere(lost)[:1].tolist():
        raise not_held(given, int(starts[i]), int(ends[j]), False)
    return answered(given, rows, starts, False, ends)


def refuse_sums(S: Semiring) -> None:
    """Refuse an algebra in which no single walk is best."""
    if S.selective:
        return
    verdict = S._law_report.flags["selective"]
    why = verdict if verdict.holds else "⊕ does not select"  # it may hold, and be declared otherwise or not be shown
    raise LawError(f"{S.name}: {why}, so no single walk is best; use factor(A, S).solve(B) or closure(A, S)")


def way_of(form: Form, predecessors: bool = False) -> tuple[str, str]:
    """Return the name of the search, and why it is possible."""
    if not form.bounded:
        return "label correcting", "an edge may be better than 1"
    if form.alike:
        return "breadth-first search", "all edges have one value, none better than 1"
    if form.together and not predecessors:
        return "sweeps over the edges, of many sources at once", "no edge is better than 1, and it is predicted faster"
    if form.buckets:
        return "labels in buckets", "no edge is better than 1, and ⊗ is a sum"
    return "label setting", "no edge is better than 1"


def place_of(low: Lowering) -> str:
    """Name the CPU and its threads that search."""
    return cpu_place() if low.compiled and low.kind != "objects" else "CPU, 1 thread"


def ends_of(task: Task) -> np.ndarray | None:
    """Return the positions of the targets of rows; None if whole rows are wanted.

    Raises
    ------
    SemiringError
        If predecessors are wanted as well: they may be other vertices.
    """
    given, targets = task.given[0], task.arguments[1]
    if targets is None:
        return None
    if task.options.predecessors:
        raise SemiringError("predecessors of targets may be other vertices: leave out targets= or predecessors=True, "
                            "or ask sr.paths(A, S, sources=…, targets=…) for the paths")
    return positions(targets, given.names, given.shape[0], "targets")[1]


def answered(given: Operand, rows: np.ndarray, starts: np.ndarray, single: bool, ends: np.ndarray | None) -> Any:
    """Return rows of a closure, or some of their columns, as the caller gets them."""
    if ends is not None:
        sources, targets = ([given.position(v) for v in vertices.tolist()] for vertices in (starts, ends))
        return Table(given.in_callers_dtype(to_host(rows)), given.S.declared, sources, targets, given.library)
    rows = given.as_shown(rows)
    return rows[0] if single else rows


def _rows(
    search: Search, starts: np.ndarray, ends: np.ndarray | None, limit: np.ndarray | None, single: bool, on_gpu: bool,
    o: Options, given: Operand, plan: Plan,
) -> Any:
    X, P = rows_in_parts(search, starts, limit, o.predecessors, o.progress, "rows", on_gpu, ends)
    rows = answered(given, X, starts, single, ends)
    return rows if P is None else (rows, P[0] if single else P)


def rows_in_parts(
    search: Search, starts: np.ndarray, limit: np.ndarray | None, predecessors: bool, progress: Any, what: str,
    on_gpu: bool = False, ends: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return `some_rows`, or their columns `ends`, and report the progress of `what` after some sources at a time."""
    count, n, dtype = len(starts), search.given.n, search.given.dtype
    step = max(count, 1)
    if ends is not None:  # only these columns are kept
        step = max(BYTES_AT_ONCE // max(n * dtype.itemsize, 1), 1)
    if progress is not False:
        step = min(step, max(-(-count // REPORTS), 1))
    if step >= count and progress is False:
        X, P = some_rows(search, starts, limit, on_gpu, predecessors)
        return X if ends is None else X[:, ends], P
    X = np.empty((count, n if ends is None else len(ends)), dtype)
    P = np.empty((count, n), np.int32) if predecessors else None
    with told(progress, f"{search.S.name} {what}") as report:
        for begin in range(0, count, step):
            report(begin / count)
            some = slice(begin, begin + step)
            part, before = some_rows(search, starts[some], limit, on_gpu, predecessors)
            X[some] = part if ends is None else part[:, ends]
            if P is not None:
                P[some] = before
    return X, P


def _columns(
    search: Search, starts: np.ndarray, ends: np.ndarray, limit: np.ndarray | None, given: Operand, plan: Plan
) -> Any:
    """Return some columns, by searches backwards from their vertices; ⊗ commutes, so they are rows of Aᵀ."""
    matrix = search.given
    turned = matrix.T
    form = on_the_host(turned, form_of(turned), len(ends), False, limit is not None)
    X, _ = some_rows(Search(search.S, turned, form), ends, limit, False, False)
    return answered(given, np.ascontiguousarray(X.T[starts]), starts, False, ends)


def some_rows(
    search: Search, starts: np.ndarray, limit: np.ndarray | None, on_gpu: bool, predecessors: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return rows of a closure, and predecessors if wanted; beyond a limit values are zero and predecessors −1."""
    P = None
    if on_gpu:
        form = search.form
        X, unfinished = rows_on_gpu(search.S, search.given.rows, starts, form.facts, form.bounded)
        for i in unfinished:  # a cycle improves, or rounding keeps one going: the CPU says which
            X[i] = search.rows(starts[i : i + 1], False)[0][0]
    else:
        X, P = search.rows(starts, predecessors, limit)
    return X if limit is None else cut_off(search.given, X, P, limit), P


@dataclass(frozen=True)
class Form:
    """How the search runs, and facts about the weights."""

    low: Lowering
    facts: Facts
    bounded: bool  # no edge is better than 1: vertices settle best first
    alike: bool = False  # all edges have the same value: breadth first
    together: bool = False  # several sources at once, in sweeps over the edges
    buckets: bool = False  # one source after the other, with labels in buckets instead of a heap
    codes: tuple[Code, ...] = ()  # compiled code that the search could use and does not; it records the time


class Search:
    """Best walks over one graph."""

    def __init__(self, S: Semiring, given: Sparse, form: Form):
        low = form.low
        if low.storage.kind in "iu" and S.is_tropical and (form.facts.low_limit or form.facts.high_limit):
            given = given.without_zeros()  # an infinity that is a number less another would be reached
        self.S, self.given, self.form = S, given, form
        self.stored = stored_in(low, given.rows)

    def rows(
        self, starts: np.ndarray, predecessors: bool, limit: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return rows of the closure on the CPU, and predecessors if wanted; walks beyond a limit may be left out.

        Ties between equally good predecessors are broken in the same way however the rows were found.
        """
        X = self._values(starts, predecessors, limit)
        if not predecessors:
            return X, None
        if limit is not None:
            return X, trees_within(self.given, X, starts)
        return X, best_trees(self.given, X, starts, within=True)

    def _values(self, starts: np.ndarray, predecessors: bool, limit: np.ndarray | None) -> np.ndarray:
        low = self.form.low
        stored = None if limit is None else low.encode(limit, True)
        if stored is not None and low.decode(stored.copy())[0] != limit[0]:  # type: ignore[index]
            stored = None  # the storage cannot hold it, so no walk is beyond it
        if low.kind == "objects" or not low.compiled:
            values = self.stored.values if low.kind == "objects" else self.given.values
            bound = stored if low.kind == "objects" else limit
            with Renting(*self.form.codes):
                found = [self._searched(int(s), values, predecessors, bound) for s in starts]
            return _stacked(found, low, self.given.shape[0])
        if self.form.alike:
            known = self.given.prepared or self.given.of_graph or len(starts) >= SOURCES_FOR_BOTH_WAYS
            both_ways = known and self.given.both_ways
            return low.decode(CpuLevelKernel.of(low).levels(self.stored, starts, stored, both_ways))
        if self.form.together and not predecessors:
            return low.decode(CpuSweepKernel.of(low).sweep(self.stored, starts))
        if self.form.buckets:
            largest = float(self.form.facts.largest)
            return low.decode(CpuBucketKernel.of(low).rows(self.stored, starts, largest, stored))
        kernel = CpuSearchKernel.of(low)
        if self.form.bounded:
            return low.decode(kernel.settle(self.stored, starts, stored))
        X, _, failed = kernel.correct(self.stored, starts, False)
        # A cycle improves, or rounding makes it look so.
        unsure = np.flatnonzero(failed >= 0)
        X[unsure] = np.array(tuple(low.zero), X.dtype) if X.dtype.names else low.zero[0]  # labels there mean nothing
        rows = low.decode(X)
        for i, walks in self._looked_at(starts, unsure, predecessors):
            rows[i] = walks.labels
        return rows

    def _looked_at(self, starts: np.ndarray, unsure: np.ndarray, predecessors: bool) -> Iterator[tuple[int, Walks]]:
        """Search again from some sources that reach a cycle that improves, unless this is rounding."""
        low, S, values = self.form.low, self.S, self.given.values
        if not S.may_diverge:
            for i in unsure.tolist():
                yield i, self._searched(int(starts[i]), values, predecessors)
            return
        if values.dtype.kind in "iu" and S.is_tropical:
            values = in_python_integers(low, self.stored.values)[1]
        elif may_leave(S, values.dtype):
            values = python_integers(S, values.dtype, low.reason).encode(values, True)
        graph, first = self._graph(values), unsure[:1]
        if first.size:  # unless it is rounding, the compiled search has found the cycle already
            _, P, failed = CpuSearchKernel.of(low).correct(self.stored, starts[first], True)
            cycle = None if P is None else cycle_of(P[0], int(failed[0]))
            if cycle is not None and truly_improves(graph, S, cycle):
                raise improving_along(self.given, graph, cycle, cycle_weight(graph, S, cycle))
        if unsure.size and low.storage.kind == values.dtype.kind and values.dtype.kind in "fV" and rounds(values):
            T = S.over(values.dtype)
            stored = low.encode(worse(T, values), True)
            _, P, failed = CpuSearchKernel.of(low).correct(replace(self.stored, values=stored), starts[unsure], True)
            assert P is not None
            for i, before in zip(unsure[failed < 0].tolist(), P[failed < 0], strict=True):
                yield i, Walks(along_tree(graph, T, [int(starts[i])], before), before)
            unsure = unsure[failed >= 0]
        for i in unsure.tolist():
            yield i, self._searched(int(starts[i]), values, predecessors)

    def _graph(self, values: np.ndarray) -> CompressedRows:
        return CompressedRows(self.given.rows.offsets, self.given.rows.columns, values)

    def _searched(
        self, source: int, values: np.ndarray, predecessors: bool, limit: np.ndarray | None = None
    ) -> Walks:
        graph = self._graph(values)
        found = best_walks(graph, self.S, source, limit)
        if found.cycle is not None:
            raise improving_along(self.given, graph, found.cycle, found.weight)
        if predecessors and found.rounds is not None:
            raise no_tree(self.S)
        return found


def improving_along(given: Operand, graph: Graph, cycle: list[int], weight: Any) -> Exception:
    """Make the error for a cycle that improves, with its edges if rounding may matter."""
    edges = edges_along(graph, cycle) if given.dtype.kind == "f" else None
    return improving(given.S, given.names, cycle[0], cycle, weight, None, edges=edges)


def form_of(given: Sparse) -> Form:
    """Return the form of a search over a graph, before it is decided where and how it runs."""
    S, values, facts = given.S, given.values, given.facts
    # Between two looks for a cycle at most 2 n edges join a walk; see search_template.py.
    low = plain_form(S, values.dtype, facts, 3 * given.n + 3)
    return Form(low, facts, given.bounded)


def on_the_host(
    given: Sparse, form: Form, sources: int, predecessors: bool = False, limited: bool = False,
    times: Searches | None = None,
) -> Form:
    """Decide how searches from so many sources run on the CPU: in which way, and whether compiled.

    Searches that end at a limit are not made together, because each ends at another time. `times` are those of
    `search_times`, if they are known.
    """
    machine = form.low.kind == "numba" and form.bounded
    alike = machine and given.alike
    buckets = machine and not alike and sums_numbers(form.low)
    purpose = "levels" if alike else "buckets" if buckets else "search"
    low = affordable(form.low, float(sources) * given.n, float(sources) * given.n**2, purpose)
    many = sources > 1 and not predecessors and not limited
    sweep = code_of(form.low, "sweep") if machine and not alike and many else None
    if low.compiled:
        together = False
        if sweep is not None:
            times = times or search_times(low, given, sources, given.alike)
            one_by_one = times.buckets if buckets else times.settle
            together = times.sweep < one_by_one and sweep.repays(one_by_one)
        return replace(form, low=low, alike=alike, together=together, buckets=buckets)
    codes = [code_of(form.low, purpose)] + ([] if sweep is None else [sweep])
    if may_leave(given.S, given.dtype):
        low = python_integers(given.S, given.dtype, low.reason)  # in which no sum leaves the dtype on the way
    return replace(form, low=low, codes=tuple(codes))


def _stacked(found: list[Walks], low: Lowering, n: int) -> np.ndarray:
    objects = low.kind == "objects"
    X = np.empty((len(found), n), object if objects else low.dtype)
    for row, walks in zip(X, found, strict=True):
        row[...] = walks.labels
    return low.decode(X) if objects else X


class Positions(NamedTuple):
    """Vertices by position even if they have names, in a solver's own tasks.

    Attributes
    ----------
    of : ndarray of int64
    """

    of: np.ndarray


def positions(
    sources: Any, names: Sequence[Any] | None, n: int, what: str = "sources"
) -> tuple[bool, np.ndarray]:
    """Return whether one vertex was given, and the positions of the vertices.

    Raises
    ------
    GraphError
        For an unknown vertex; the error suggests a similar one.
    SemiringError
        For a set, which gives answers no order.
    """
    if isinstance(sources, Positions):
        return False, sources.of
    index = {name: i for i, name in enumerate(names or ())}
    single = isinstance(sources, (int, np.integer, str)) or (is_hashable(sources) and sources in index)
    if not single:
        refuse_sets(sources, what)
    try:
        wanted = [sources] if single else list(sources)
    except TypeError:
        single, wanted = True, [sources]
    return single, np.array([position_of(v, n, names, index) for v in wanted], np.int64)


def refuse_sets(vertices: Any, what: str) -> None:
    """Refuse a set of vertices: answers are in the order of the vertices."""
    if isinstance(vertices, (set, frozenset)):
        raise SemiringError(f"{what} are a set, which has no order: pass a list, such as sorted({what}); answers are "
                            "in its order")


def _on_gpu(given: Sparse, form: Form, count: int, o: Options) -> bool:
    """Whether the searches run on the GPU."""
    if o.device == "cpu":
        return False
    dtype = given.dtype
    machine = form.low.kind == "numba" and dtype.names is None
    if o.device is None:
        large = count * given.nnz >= GPU_EDGES
        return large and machine and not o.predecessors and dtype.kind == "f" and gpu_name() is not None
    require_gpu(given.S, o.device, dtype)
    if o.predecessors or not machine:
        what = "predecessors are" if o.predecessors else f"{given.S.name} on {dtype} is"
        raise SemiringError(f"{what} found on the CPU only; use device='cpu'")
    return True


def rows_on_gpu(
    S: Semiring, A: Rows, sources: np.ndarray, facts: Facts, bounded: bool
) -> tuple[np.ndarray, list[int]]:
    """Return the rows of A* for the sources, found on the GPU in batches, and which of them did not converge.

    Parameters
    ----------
    S : Semiring
        With a selective ⊕, on machine numbers of at most 64 bits.
    A : Rows
        Square, of the data's dtype.
    sources : ndarray of int64
    facts : Facts
        About the values.
    bounded : bool
        Whether no edge is better than 1.

    Raises
    ------
    SemiringError
        If only the CPU can compute them: no integer of the GPU can hold the sums.
    """
    import cupy

    from semiring.kernels.cuda.sparse.search import CudaFrontierKernel, group_of, lowering_for

    n = A.shape[0]
    X = np.empty((len(sources), n), A.values.dtype)
    unfinished: list[int] = []
    if not n or not len(sources):
        return X, unfinished
    low = lowering_for(S, A.values, facts, n, bounded)
    kernel = CudaFrontierKernel(low, A, low.encode(cupy.asarray(A.values), True), group_of(len(sources)))
    for first in range(0, len(sources), SOURCES_PER_LAUNCH):
        part = sources[first : first + SOURCES_PER_LAUNCH]
        state = kernel.start(part)
        left = [] if frontier(state, kernel, n) else kernel.unfinished(state, len(part))
        labels = kernel.labels(state, len(part))
        for s in left:
            labels[s] = low.zero[0]  # it may be anything by now
        X[first : first + len(part)] = low.decode(labels).get()
        unfinished += [first + s for s in left]
    return X, unfinished
