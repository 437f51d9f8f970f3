"""Eliminate a sparse matrix by an engine, and find rows, columns and pairs of its closure by substitution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.sparse.analysis import Analysis
from semiring.algorithms.sparse.costs import work_between, work_of
from semiring.algorithms.sparse.elimination import factor as eliminate
from semiring.errors import SemiringError
from semiring.kernels.build import PAIR, affordable, element_kernel, kernel, renting, repays
from semiring.kernels.interface import FrontEngine, Report
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.objects import in_python_integers
from semiring.kernels.numpy.fronts import TOGETHER, ArrayFronts
from semiring.machine.memory import require
from semiring.machine.pieces import ranges, share
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.devices import module_of, to_host, upload
from semiring.operands.read import operand
from semiring.operands.sparse import Sparse

from .. import costs
from ..costs import SparsePlan, rows_steps
from ..cycles import look_at_fronts, may_diverge
from ..dense import fields, rings, schedules
from ..forms import Apply, Encoded, refuse_overflow, right_hand_side, solution
from ..paths.factored import settled, units
from ..refusals import undefined_star
from ..task import UNCHECKED_BYTES, Task, options
from .analysis import analysis_of, lowering_of

if TYPE_CHECKING:
    from semiring.kernels.cpu.sparse.tree_labels import TreeLabels

Reduction = Callable[[np.ndarray, Any], Any]

ADVICE = "use a narrower dtype, fewer vertices, or rows and blocks of rows instead of the whole"
CHUNK_ROWS = 64  # rows that a thread computes and reduces at once
STEPS = 50  # parts of a closure after which progress is reported


@dataclass(frozen=True)
class Engine:
    """The place of an elimination and its factors: here the host; `Gpus` in `on_gpus` overrides all methods.

    An engine is a value that one process can send to another.

    Attributes
    ----------
    devices : tuple of int or None
        Numbers of the GPUs, if the caller passed them.
    lowering, plan : callable
        How to compute on a matrix, and the plan for a closure or factors; see `lowering_of` and `costs.plan`.
    """

    devices: tuple[int, ...] | None = None
    lowering = staticmethod(lowering_of)
    plan = staticmethod(costs.plan)

    @property
    def advice(self) -> str:
        """Advice for a closure that does not fit in memory."""
        return ADVICE

    def fronts(self, low: Lowering, analysis: Analysis, threads: int) -> FrontEngine:
        """The kernels that eliminate fronts and solve by the factors."""
        if low.kind == "objects" or not low.compiled:
            return ArrayFronts(analysis, low, element_kernel(low, "fronts"))
        from semiring.kernels.cpu.sparse.fronts import Fronts

        return Fronts(analysis, low, threads)

    def put(self, low: Lowering, array: np.ndarray) -> Any:
        """Convert a host array to storage, in new memory beside the factors."""
        return low.encode(array, True)

    def current(self) -> AbstractContextManager[None]:
        """A context in which memory is allocated on the device of the answers."""
        return nullcontext()

    def turns(self, analysis: Analysis) -> np.ndarray:
        """The order in which all rows of a closure are computed: neighbours come together."""
        return analysis.order

    def right_hand_side(self, B: Dense) -> Dense:
        """Move a right-hand side to where the factors can read it."""
        return B

    def each_block(self, F: Substitution, function: Reduction) -> None:
        """Call a function with vertices and their rows, block by block, on all threads; it may write to the rows."""
        order = F.analysis.order

        def block(begin: int, end: int) -> None:
            some = order[begin:end]
            function(some, F.rows(some, thread_count=1))

        share(block, ranges(F.n, -(-F.n // CHUNK_ROWS)), F.fronts.threads)

    def stream(
        self, F: Substitution, parts: Sequence[np.ndarray], reflexive: bool
    ) -> Iterator[tuple[np.ndarray, Any]]:
        """Yield each part of the vertices with its rows."""
        for some in parts:
            yield some, F.rows(some, reflexive)

    def on_host(self, F: Substitution, reflexive: bool, report: Report | None) -> np.ndarray:
        """The closure in the host's memory."""
        closed: np.ndarray = F.whole(reflexive, report)
        return closed


HOST = Engine()


class Substitution:
    """A sparse matrix eliminated in a fill-reducing order, and solutions by its factors.

    Parameters
    ----------
    A : Sparse
    analysis : Analysis
    engine : Engine
        The place of the elimination and the factors.
    check : bool
        Whether to refuse improving cycles and overflow.
    plan : SparsePlan, optional
        Default: that of a factorization.
    report : callable, optional
        Called with the part of the elimination that is done.
    mend : bool
        Whether to compute the dense closure, with exchange of rows, if elimination over a field goes wrong.

    Attributes
    ----------
    n : int
    fronts : FrontEngine
        The factors.
    closed : array or None
        The closure as a dense matrix in storage, if rounding errors grew in the factors.
    rounded : ndarray or None
        Places of vertices whose stars were changed by rounding.

    Raises
    ------
    NoClosureError
        When A* does not exist.
    Distrusted
        If elimination over a field goes wrong, and `mend` is False.
    """

    closed: Any = None
    rounded: np.ndarray | None = None
    labels: TreeLabels | None = None  # of these fronts, once single elements were asked for

    def __init__(
        self, A: Sparse, analysis: Analysis, engine: Engine = HOST, *, check: bool = True,
        plan: SparsePlan | None = None, report: Report | None = None, mend: bool = True,
    ) -> None:
        with engine.current():
            self._begin(A, analysis, engine, check, plan)
            self._eliminate(report, mend)

    @classmethod
    def restored(cls, A: Sparse, analysis: Analysis, check: bool, plan: SparsePlan) -> Self:
        """An object on the host with everything but the numbers."""
        made = object.__new__(cls)
        made._begin(A, analysis, HOST, check, plan)
        return made

    def _begin(self, A: Sparse, analysis: Analysis, engine: Engine, check: bool, plan: SparsePlan | None) -> None:
        if plan is None:
            plan = engine.plan("factor", engine.lowering(A, room=True), analysis, A.nnz, answer=False)
        self.n, self.A, self.analysis, self.engine, self.check, self.plan = A.n, A, analysis, engine, check, plan
        if plan.factors > UNCHECKED_BYTES:
            require(plan.factors, *plan.shortage, on_gpu=plan.lowering.on_gpu, devices=plan.devices)
        self.fronts = engine.fronts(plan.lowering, analysis, plan.threads)

    def _eliminate(self, report: Report | None, mend: bool) -> None:
        A, low, put = self.A, self.lowering, self.engine.put
        try:
            eliminate(self.fronts, put(low, A.values), report)
            if (low.inverts or low.dual) and not self._is_trusted():
                raise fields.Distrusted
            if rings.cancels(low) and not self._solves():
                raise fields.Distrusted
        except (UndefinedStar, fields.Distrusted) as e:
            if low.inverts or low.dual:  # rows have to be exchanged, as LAPACK does in the dense matrix
                if not mend:
                    raise fields.Distrusted from None
                self._stand_in(stable_closure(A))
            elif rings.cancels(low):
                self._stand_in(_dense_closure(A))
            else:
                assert isinstance(e, UndefinedStar)
                order = self.analysis.order
                raise undefined_star(A.S, A.graph(), A.names, int(order[e.pivot]), order[: e.pivot]) from None
            return
        if low.log_sum and fields.is_endless(low, self.n, self.fronts.columns):
            self.closed = put(low, _dense_closure(A))
        if self.check and may_diverge(low):
            verdict = look_at_fronts(low, self.fronts, A)
            if verdict.error is not None:
                raise verdict.error
            if verdict.rounded:
                self.rounded = np.array([i for i, in verdict.rounded])
                self.fronts.settle(self.rounded)
            if verdict.unstable:
                # Rounding errors grew in the factors; then A* is computed as a dense matrix, in which they do not.
                self.closed = put(low, stable_closure(A))

    def _stand_in(self, closure: np.ndarray) -> None:
        """Answer from a dense A*; on the host the fronts get no edges, so that the factors can be saved."""
        self.closed = self.engine.put(self.lowering, closure)
        if not self.lowering.on_gpu:
            nothing = np.full_like(self.A.values, self.A.S.zero_in(self.A.dtype))
            eliminate(self.fronts, self.engine.put(self.lowering, nothing))

    def _is_trusted(self) -> bool:
        """Whether the factors over a field are right; on a GPU columns are copied there and back."""
        low, host = self.lowering, fields.host_form(self.A.S, self.A.dtype)

        def there_and_back(X: np.ndarray) -> None:
            Y = low.encode(upload(host.decode(X.copy())), True)
            self.fronts.columns(Y)
            X[...] = host.encode(to_host(low.decode(Y)), False)

        apply = there_and_back if low.on_gpu else self.fronts.columns
        return fields.is_trusted(self.A.stored(host, False), host, apply)

    def _solves(self) -> bool:
        """Whether a few columns of A* solve their equations."""
        V = np.ascontiguousarray(self.A.array()[:, : rings.CHECKED_COLUMNS])
        X = self.engine.put(self.lowering, V)
        self.fronts.columns(X)
        return rings.solves(self.A.S, self.A, np.asarray(to_host(self.lowering.decode(X))), V)

    @property
    def lowering(self) -> Lowering:
        """How elements are stored and computed."""
        return self.plan.lowering

    @property
    def settled(self) -> bool:
        """Whether 1 ⊕ (cycles) = 1 whenever the closure exists."""
        return self.A.S.has_unit_stars

    def anew(self, A: Sparse) -> Substitution:
        """Other weights on the same edges, eliminated in the same place."""
        return type(self)(A, self.analysis, self.engine, check=self.check)

    def __reduce__(self) -> tuple[Any, ...]:
        # The analysis is most of the work, and the matrix is smaller than its factors: these are computed again.
        return partial(type(self), check=self.check), (self.A, self.analysis, self.engine)

    def with_engine(self, engine: Engine, fronts: FrontEngine) -> Substitution:
        """The same factors in the fronts of another engine."""
        made = object.__new__(type(self))
        vars(made).update(vars(self), engine=engine, fronts=fronts)
        return made

    # Rows and parts of rows

    def rows(self, sources: np.ndarray, reflexive: bool = True, thread_count: int | None = None) -> Any:
        """Rows of A*, or of A⁺, as the caller's elements."""
        with self.engine.current():
            out = self.lowering.empty((len(sources), self.n))
            self.fill(sources, out, reflexive, thread_count=thread_count)
            return self.checked(out)

    def by_rows(self, starts: np.ndarray, ends: np.ndarray, reflexive: bool = True) -> Any:
        """Some columns of the rows."""
        with self.engine.current():
            out = self.lowering.empty((len(starts), len(ends)))
            self.fill(starts, out, reflexive, ends=ends)
            return self.checked(out)

    def part(self, starts: np.ndarray, ends: np.ndarray | None) -> Any:
        """Some columns of rows of A*, found by rows or by columns, whichever takes fewer terms."""
        if ends is None:
            return self.rows(starts)
        if not self.has_fewer_columns(starts, ends):
            return self.by_rows(starts, ends)
        parts = [np.empty((len(starts), 0), self.A.callers_dtype)]
        step = max(UNCHECKED_BYTES // max(self.n * self.A.dtype.itemsize, 1), 1)  # as many columns as there is room for
        for begin in range(0, len(ends), step):
            B = np.ascontiguousarray(units(self.A, ends[begin : begin + step]).T)
            parts.append(np.asarray(self.solution(right_hand_side(B, self.A, self.lowering.dtype)))[starts])
        return settled(self.A.S, np.concatenate(parts, axis=1), starts, ends)

    def has_fewer_columns(self, starts: np.ndarray, ends: np.ndarray) -> bool:
        """Whether the columns of the targets take fewer terms than the parts of rows that lead to them.

        A column is solved on the whole tree.
        """
        if self.lowering.on_gpu or len(ends) >= len(starts):
            return False
        return work_between(self.analysis, starts, ends)[0] > len(ends) * float(work_of(self.analysis).stored)

    def fill(
        self, sources: np.ndarray, out: Any, reflexive: bool = True, targets: np.ndarray | None = None,
        ends: np.ndarray | None = None, thread_count: int | None = None,
    ) -> None:
        """Rows in storage, or some columns of them."""
        if self.closed is None:
            self.reconsider(len(sources), None if ends is None else (sources, ends))
            self.fronts.rows(
                sources, out, reflexive=reflexive, settled=self.settled, targets=targets, ends=ends,
                thread_count=thread_count,
            )
            return
        xp = module_of(self.closed)
        where, rows = xp.asarray(np.arange(len(sources)) if targets is None else targets), xp.asarray(sources)
        out[where] = self.closed[rows] if ends is None else self.closed[rows[:, None], xp.asarray(ends)]
        if not reflexive:
            i, j = np.nonzero(sources[:, None] == (np.arange(self.n) if ends is None else ends))
            out[where[xp.asarray(i)], xp.asarray(j)] = self._cycles[xp.asarray(sources[i])]

    @cached_property
    def _cycles(self) -> Any:
        """The diagonal of A⁺ = A A* from a dense A*."""
        found = kernel(self.lowering).diagonal(self.engine.put(self.lowering, self.A.array()), self.closed)
        return found if self.lowering.on_gpu else np.asarray(found)

    def checked(self, stored: Any, first: int = 0) -> Any:
        """Decode rows from the `first` on; refuse overflow."""
        low = self.lowering
        result = low.decode(stored)
        if self.check and not low.drops_nan:
            refuse_overflow(low, result, first=(first, 0))
        return result

    def reconsider(self, rows: int, part: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """Eliminate again in compiled code once the rows, or pairs, that are wanted repay compiling."""
        low, load = self.lowering, self.plan.load
        if low.compiled or load is None or self.closed is not None:
            return
        if part is None:
            terms, steps = rows * (load.down + load.up / max(self.n, 1)), rows_steps(self.analysis, load, rows)
        else:
            terms, steps = work_between(self.analysis, *part)
            steps *= -(-rows // TOGETHER)
        low = affordable(low, steps, terms, "fronts")
        if not low.compiled:
            return
        self.plan = replace(self.plan, lowering=low)
        self.fronts = self.engine.fronts(low, self.analysis, self.plan.threads)
        eliminate(self.fronts, self.engine.put(low, self.A.values))
        if self.rounded is not None:
            self.fronts.settle(self.rounded)

    # The whole

    def expanded(self, reflexive: bool, report: Report | None = None, there: bool = True) -> Any:
        """The closure as the caller gets it: `there`, on a GPU, or in the host's memory, always if it has names."""
        low, A = self.lowering, self.A
        if low.on_gpu and there and not A.of_graph:
            return self.whole(reflexive, report)
        if A.goes_on and not low.on_gpu and not low.is_identity and low.dtype.kind in "iu":
            return Encoded(low, low.cleaned(self._stored(reflexive, report)))  # narrow floats are rounded in the end
        return A.wrap(self.engine.on_host(self, reflexive, report))

    def whole(self, reflexive: bool, report: Report | None = None) -> Any:
        """The closure as an array on the device of the factors."""
        with self.engine.current():
            return self.checked(self._stored(reflexive, report))

    def _stored(self, reflexive: bool, report: Report | None) -> Any:
        """The same in storage."""
        low, n = self.lowering, self.n
        size = n * n * (low.storage.itemsize + (0 if low.storage == low.dtype else low.dtype.itemsize))
        if size > UNCHECKED_BYTES:
            require(size, f"the closure of {n} × {n} {self.A.dtype}", self.engine.advice, on_gpu=low.on_gpu)
        out, order = low.empty((n, n)), self.engine.turns(self.analysis)
        step = max(n if report is None else -(-n // STEPS), 1)
        for begin in range(0, n, step):
            if report is not None:
                report(begin / n)
            part = order[begin : begin + step]
            self.fill(part, out, reflexive, targets=part)
        return out

    # Columns

    def solution(self, right: Dense, left: bool = False) -> Any:
        """X = A* B, for B read by `right_hand_side`, or B A*."""
        if left and self.lowering.on_gpu:
            return right.wrap(self._turned.solution(right.T).T)
        with self.engine.current():
            right = self.engine.right_hand_side(right)
            return solution(self.A, right, self.lowering, partial(self._multiplier, left=left), self.check, left)

    @cached_property
    def _turned(self) -> Substitution:
        """The transposed matrix, with the operands of ⊗ exchanged: its columns are rows, which a GPU cannot take."""
        S = self.A.S
        A: Any = operand(self.A.T, S if S.commutative else S.opposite)
        return Substitution(A, analysis_of(A), self.engine, check=self.check)

    def _multiplier(self, wide: bool, left: bool) -> tuple[Lowering, Apply]:
        """A function that multiplies by A*, in Python integers if sums are too wide for the storage."""
        self.reconsider(1)
        found: tuple[Lowering, Any] = self._in_python_integers if wide else (self.lowering, self.fronts)
        low, fronts = found
        if self.closed is None or wide:
            return low, fronts.left if left else fronts.columns
        whole, by = self.closed, kernel(low)
        return low, (lambda X: by.right(X, whole)) if left else partial(by.left, whole)

    @cached_property
    def _in_python_integers(self) -> tuple[Lowering, FrontEngine]:
        low, values = in_python_integers(self.lowering, self.lowering.encode(self.A.values, True))
        fronts = self.engine.fronts(low, self.analysis, self.plan.threads)
        eliminate(fronts, values)
        return low, fronts

    # Single elements

    def pairs(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """A*[s, t] of pairs, by labels of both ends if compiling these repays, otherwise by rows."""
        low, count = self.lowering, len(starts)
        if low.on_gpu or low.kind != "numba":
            return self._pairs_by_rows(starts, ends)
        if self.closed is not None:
            return np.asarray(self.checked(self.closed[starts, ends]))
        self.reconsider(count, (starts, ends))
        if not (repays(low, PAIR * count, "pairs") and self.lowering.compiled):
            with renting(low, "pairs"):
                return self._pairs_by_rows(starts, ends)
        if self.labels is None or self.labels.fronts is not self.fronts:
            from semiring.kernels.cpu.sparse.tree_labels import TreeLabels

            fronts: Any = self.fronts
            self.labels = TreeLabels(fronts)
        stored = self.labels.between(self.analysis.place[starts], self.analysis.place[ends])
        if self.settled:
            stored[starts == ends] = np.array(self.lowering.unit, stored.dtype)
        return np.asarray(self.checked(stored))

    def _pairs_by_rows(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The same by rows of the sources, as many at once as fit in `UNCHECKED_BYTES`."""
        found = np.empty(len(starts), self.A.dtype)
        sources, number = np.unique(starts, return_inverse=True)
        step = max(UNCHECKED_BYTES // max(len(ends) * self.A.dtype.itemsize, 1), 1)
        for begin in range(0, len(sources), step):
            some = np.flatnonzero((number >= begin) & (number < begin + step))
            columns, column = np.unique(ends[some], return_inverse=True)
            part = to_host(self.by_rows(sources[begin : begin + step], columns))
            found[some] = part[number[some] - begin, column]
        return found


def _dense_closure(A: Sparse) -> np.ndarray:
    """A* as a dense matrix on the host."""
    closed: np.ndarray = schedules.offer(Task("closure", A.S, (as_dense(A),), options(device="cpu"))).run()
    return closed


def stable_closure(A: Sparse) -> np.ndarray:
    """The same, computed so that rounding errors do not grow.

    Raises
    ------
    SemiringError
        If numbers overflow.
    """
    given = as_dense(A)
    if A.dtype.kind in "fcV" and A.S.traced is not None:
        low = fields.host_form(A.S, A.dtype)
        if fields.is_for_lapack(low):
            require(3 * low.matrix_bytes(A.n), f"the inverse of 1 − A, {A.n} × {A.n}, in which rows are exchanged",
                    "solve for the columns that you need, with sr.solve(A, B, S)")
            found = fields.inverse(given, low)
            if found is None:
                raise SemiringError(f"{A.S.name}: on the way numbers leave the range of {A.dtype}; convert the data to "
                                    "a wider dtype, or scale them")
            return np.asarray(low.decode(found))
    task = Task("closure", A.S, [given], options(method="squaring", device="cpu"))
    low = schedules.offer(task).lowering
    result: np.ndarray = low.decode(schedules.stable_closure(low, given.array, None, A.facts, A.names))
    return result
