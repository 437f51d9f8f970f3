"""Factor a matrix once and solve often: the LU decomposition over a semiring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from semiring.algebra.tables import dtype_text, html_table
from semiring.algorithms import elimination
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import SemiringError
from semiring.kernels.build import affordable
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.interface import Report
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.objects import in_python_integers
from semiring.kernels.numpy import library
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.devices import to_host
from semiring.operands.operand import Operand, order_of_one

from ..cycles import look_for_cycles, may_diverge, settle
from ..forms import Apply, refuse_overflow, right_hand_side, solution, with_room
from ..options import DEFAULTS, Options
from ..paths.factored import Factored, part_by_name, settled, units
from ..plan import Plan
from ..task import Task
from . import fields, rings, schedules
from .stacked_factors import offer_stack

if TYPE_CHECKING:
    from semiring.graphs.tables import Table


def offer(task: Task) -> Plan:
    """Offer to eliminate any matrix into factors, or with a right-hand side."""
    given, o = task.operands[0], task.options
    if o.order != "auto":
        kind = "a packed matrix" if given.kind == "packed" else "a stack" if len(given.shape) > 2 else "an array"
        raise SemiringError(f"order is for sparse matrices and graphs on the CPU, and A is {kind}: leave out order")
    if isinstance(task.given[0], Dense) and len(given.shape) != 2:
        return offer_stack(task)
    n = order_of_one(given.shape)
    facts, low = given.form(n + 1, check=o.check)
    if task.S.is_tropical and given.dtype.kind in "iu":
        low = given.lowering(with_room(facts), n + 1)
    elif low.kind == "packed" and given.kind != "packed":  # right-hand sides are arrays
        low = given.lowering(facts, n + 1)
    low = affordable(low, n, n**3 / 3)
    right = right_of(task, low.dtype)
    engine = build_kernel(low)
    _, tile, reasons = schedules.choose_method("elimination", low, n, engine, o.tile)
    by_lapack = fields.is_for_lapack(low)
    reasons["method"] = "by LAPACK, with exchange of rows" if by_lapack else "an LU decomposition"
    edges = task.verb == "factor" and (by_lapack or keeps_edges(given))
    kept = low.matrix_bytes(n) if given.kind == "sparse" or edges else 0
    return Plan(
        operation=task.verb, algebra=task.S, shape=given.shape, method="elimination", lowering=low, work=n**3 // 3,
        memory=schedules.closure_memory("elimination", low, n, 1, 1) + kept, runner=partial(_run, task, right),
        needs=(f"factoring {n} × {n} {dtype_text(given.dtype)}", "use a narrower dtype or fewer vertices"),
        reasons=reasons, tile=tile,
    )


def keeps_edges(given: Operand) -> bool:
    """Return whether factors keep the edges of an array for best paths: if ⊕ selects, on the host."""
    return isinstance(given, Dense) and given.S.selective and not given.on_gpu


def right_of(task: Task, dtype: np.dtype) -> Dense | None:
    """Return the right-hand side of equations; refuse one that does not fit before anything is eliminated."""
    A, *B = task.given
    return right_hand_side(B[0], A, dtype, task.operands[1]) if task.verb == "solve" else None


def _run(task: Task, right: Dense | None, plan: Plan) -> Any:
    given = task.operands[0]
    made = Factors(as_dense(given) if given.kind == "sparse" else given, plan, task.options, task.given[0])
    return made if right is None else made._solution(right)


def of_closure(given: Dense, closure: np.ndarray) -> Factors:
    """Return factors of a matrix that has a closure, although a pivot has no star."""
    plan = offer(Task("factor", given.S, (given,), replace(DEFAULTS, device="cpu")))
    made = Factors.__new__(Factors)
    made._keep(given, plan, True, given)
    made._edges = given.changed(array=given.array.copy())
    made._decomposition, made._star = None, plan.lowering.encode(closure, True)
    return made


class Factors(Factored):
    """A factorization, which solves X = A ⊗ X ⊕ B for many B or expands into A*.

    Attributes
    ----------
    plan : Plan
        How the matrix was eliminated.
    shape : tuple of int
        (n, n).

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.factor(np.array([[0.0, 0.5], [0.25, 0.0]]), sr.plus_times)
    Factors of a 2 × 2 matrix over plus-times, float64
    """

    _star: Any = None  # A* in storage, which solves by a product if the factors are not trusted

    def __init__(self, given: Operand, plan: Plan, options: Options, came: Operand):
        self._keep(given, plan, options.check, came)
        self._decomposition, progress = self._by_library(options.progress), options.progress
        low = plan.lowering
        if rings.cancels(low):
            self._eliminate(progress, lambda: rings.solves_columns(
                as_dense(given), low, self._factors, self._substitute))
        elif low.on_gpu and (low.inverts or low.dual) and options.check:
            self._eliminate(progress, lambda: fields.is_trusted(
                as_dense(given).stored(self.plan.lowering, False), self.plan.lowering, self._substitute))
        elif self._decomposition is None:
            self._factors = self._eliminated(progress)
            low = self.plan.lowering
            if low.log_sum and fields.is_endless(low, self.shape[0], self._substitute):
                self._close()
            if options.check and may_diverge(low):
                self._look_for_cycles()

    def _keep(self, given: Operand, plan: Plan, check: bool, came: Operand) -> None:
        """Keep what was passed, with the caller's names in `came`."""
        self.plan, self.shape, self._S, self._given, self._check = plan, given.shape, given.S, given, check
        self._came = self._edges = came
        if plan.operation == "factor" and keeps_edges(given):
            self._edges = given.changed(array=given.array.copy())  # type: ignore[attr-defined]  # the caller's may change

    def _eliminate(self, progress: bool | Report, is_right: Callable[[], bool]) -> None:
        """Make the factors; if a pivot has no star, or they are wrong, A*, for which rows are exchanged."""
        try:
            self._factors = self._eliminated(progress)
            if is_right():
                return
        except UndefinedStar:
            pass
        self._close()

    def _look_for_cycles(self) -> None:
        """Refuse improving cycles; if rounding errors grew in the factors, make A* in a way in which they do not."""
        given: Any = self._given
        low = self.plan.lowering
        verdict = look_for_cycles(low, self._factors, given.array, given.facts, given.names)
        if verdict.unstable and verdict.error is None:
            self._star = schedules.stable_closure(low, given.array, None, given.facts, given.names)
        else:
            settle(low, self._factors, verdict)

    def _close(self) -> None:
        low = self.plan.lowering
        asked = replace(DEFAULTS, device="gpu" if low.on_gpu else "cpu")
        given = as_dense(self._given).plain  # A* is stored in the order of bytes that kernels take
        self._star = low.encode(schedules.offer(Task("closure", self._S, (given,), asked)).run(), True)

    def _substitute(self, X: Any) -> None:
        elimination.solve(self._factors, X, build_kernel(self.plan.lowering), self.plan.tile)

    def _by_library(self, progress: bool | Report) -> fields.Eliminated | None:
        """1 − A decomposed by LAPACK on the host, over a field; None if numbers overflow."""
        low = self.plan.lowering
        if not fields.is_for_lapack(low):
            return None
        found = fields.eliminated(self._given, low)
        if found is not None:
            if self.plan.operation == "factor":  # numbers may overflow later, and the caller's A may change before
                given = as_dense(self._given)
                self._given = given.changed(array=given.array.copy())
            with schedules.reporting(self.plan, progress, self._check):
                pass
        return found

    @cached_property
    def _factors(self) -> Any:
        """The factors in storage, if LAPACK has some and numbers overflow all the same."""
        return self._eliminated(False)

    def _eliminated(self, progress: bool | Report) -> Any:
        """The factors in storage."""
        factors, self.plan = schedules.worked_on(
            self.plan, self._given, lambda work, kernel, plan: elimination.factor(work, kernel, plan.tile),
            in_place=False, look=True, check=self._check, progress=progress)
        return factors

    def _solution(self, right: Dense, left: bool = False) -> Any:
        engine = partial(self._engine, left=left)
        return solution(self._given, right, self.plan.lowering, engine, self._check, left)

    def _engine(self, wide: bool, left: bool) -> tuple[Lowering, Apply]:
        """A function that multiplies by A*, in Python's integers if sums are too wide for the storage."""
        n = self.shape[0]
        if self._decomposition is not None:
            return self.plan.lowering, self._apply_left if left else self._apply
        low = affordable(self.plan.lowering, 2 * n, float(n) ** 2)
        stored = self._factors if self._star is None else self._star
        if wide:
            low, stored = in_python_integers(low, stored)
        kernel = build_kernel(low)
        if self._star is not None:
            return low, (lambda X: kernel.right(X, stored)) if left else partial(kernel.left, stored)
        solve = elimination.solve_left if left else elimination.solve
        return low, lambda X: solve(stored, X, kernel, self.plan.tile)

    def _apply(self, X: Any) -> None:
        if not self._solved(X):
            self._substitute(X)

    def _apply_left(self, X: Any) -> None:
        """X ← X A*."""
        if not self._solved(X.T, turned=True):
            kernel = build_kernel(affordable(self.plan.lowering, 2 * self.shape[0], float(self.shape[0]) ** 2 * len(X)))
            elimination.solve_left(self._factors, X, kernel, self.plan.tile)

    def _solved(self, X: Any, turned: bool = False) -> bool:
        """X ← A* X by LAPACK, or the same with Aᵀ; False if it has no factors, or numbers overflow."""
        if self._decomposition is None:
            return False
        try:
            return self._decomposition.solve(X, turned)
        except library.Singular as e:
            raise fields.refusal(self._given, self.plan.lowering, e) from None

    def closure(self) -> Any:
        """Return A*, from the factors; these are kept.

        Returns
        -------
        array, Matrix or PackedMatrix, shape (n, n)
            A*, of A's dtype and kind.

        Raises
        ------
        SemiringError
            If a result does not fit in the dtype.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.factor(np.array([[0.0, 0.5], [1.0, 0.0]]), sr.plus_times).closure()
        array([[2., 1.],
               [2., 2.]])
        """
        low = self.plan.lowering
        X = self._star.copy() if self._star is not None else None
        if self._decomposition is not None:
            X = self._decomposition.closure(low)
        if X is not None:
            return self._given.wrap(low.decode(X))
        work, n = self._factors.copy(), self.shape[0]
        elimination.expand(work, build_kernel(affordable(low, n, n**3 * 2 / 3)), self.plan.tile)
        if self._given.kind == "packed":
            return self._given.unstored(low, work)
        result = low.decode(work)
        if self._check:
            refuse_overflow(low, result)
        return self._given.wrap(result)

    @overload
    def rows(self, sources: Any, *, targets: None = ...) -> np.ndarray: ...
    @overload
    def rows(self, sources: Any, *, targets: Any) -> Table: ...
    def rows(self, sources: Any, *, targets: Any = None) -> np.ndarray | Table:
        """Return rows of A*, from the factors.

        Parameters
        ----------
        sources : vertex or sequence of vertices
            By name if the matrix has names, otherwise by position.
        targets : vertex or sequence of vertices, optional
            The wanted columns: the answer is a `Table` by name. The fewer of rows and columns are computed.

        Returns
        -------
        ndarray, shape (k, n), or Table, shape (k, t)
            The rows, of A's dtype.

        Raises
        ------
        GraphError
            For an unknown vertex.
        SemiringError
            If the vertices are a set, or a result does not fit in the dtype.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> F = sr.factor(np.array([[0.0, 0.5], [1.0, 0.0]]), sr.plus_times)
        >>> F.rows([1])
        array([[2., 2.]])
        >>> F.rows([0, 1], targets=[1]).to_numpy()
        array([[1.],
               [2.]])
        """
        found: np.ndarray | Table = part_by_name(self, sources, targets)
        return found

    def _part(self, starts: np.ndarray, ends: np.ndarray | None) -> np.ndarray:
        low, n = self.plan.lowering, self.shape[0]
        elsewhere = low.on_gpu or low.kind == "packed"
        if elsewhere or (ends is not None and len(ends) < len(starts)):
            B = units(self._edges, np.arange(n) if ends is None else ends)
            found = np.asarray(to_host(self.solve(np.ascontiguousarray(B.T))))[starts]
            return settled(self._S, found, starts, ends)
        if self._star is not None:
            found = low.decode(np.ascontiguousarray(self._star[starts]))
        else:
            work = low.encode(units(self._edges, starts), True)
            self._apply_left(work)
            found = low.decode(work)
            if self._check:
                refuse_overflow(low, found)
        found = settled(self._S, found, starts, None)
        return found if ends is None else found[:, ends]

    def __getstate__(self) -> dict[str, Any]:
        plan, low = self.plan, self.plan.lowering
        if low.on_gpu:
            raise PicklingError("factors on a GPU are not pickled: factor the matrix on the CPU, with device='cpu', or "
                                "pickle the matrix and factor it where it is read")
        return {**vars(self), "plan": (plan.operation, plan.tile, low.name, str(low.storage))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        verb, tile, *stored = state["plan"]
        asked = replace(DEFAULTS, device="cpu", check=self._check)
        self.plan = replace(offer(Task("factor", self._S, (self._given,), asked)), operation=verb, tile=tile)
        low = self.plan.lowering
        if [low.name, str(low.storage)] != stored:
            raise SemiringError(f"these factors are pickled as {stored[0]} in {stored[1]}, and this version computes "
                                f"with {low.name} in {low.storage}: factor the matrix again")

    def __repr__(self) -> str:
        n = self.shape[0]
        return f"Factors of a {n} × {n} matrix over {self._S.name}, {dtype_text(self.plan.lowering.dtype)}"

    def _repr_html_(self) -> str:
        return html_table(repr(self), self.plan.rows().items())
