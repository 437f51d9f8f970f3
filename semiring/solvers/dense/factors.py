"""Factor once, solve often: the LU decomposition of a matrix over a semiring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from semiring.algebra.tables import html_table
from semiring.algorithms import elimination
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import SemiringError
from semiring.kernels.build import affordable
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.objects import in_python_integers
from semiring.kernels.numpy import library
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.devices import to_host
from semiring.operands.operand import Operand, order_of_one

from ..cycles import look_for_cycles, may_diverge, settle
from ..forms import Apply, is_finite, refuse_overflow, right_hand_side, solution, with_room, without_library
from ..paths.factored import Factored, part_by_name, settled, units
from ..plan import Plan
from ..task import DEFAULTS, Options, Task
from . import fields, rings, schedules

if TYPE_CHECKING:
    from semiring.graphs.tables import Table


def offer(task: Task) -> Plan:
    """Elimination of any matrix into factors, or with a right-hand side."""
    given, o = task.operands[0], task.options
    n = order_of_one(given.shape)
    if o.order != "auto":
        raise SemiringError("order is for sparse matrices and graphs, which are eliminated on the CPU; A is "
                            f"{'a packed matrix' if given.kind == 'packed' else 'an array'}")
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
        needs=(f"factoring {n} × {n} {given.dtype}", "use a narrower dtype or fewer vertices"), reasons=reasons,
        tile=tile,
    )


def keeps_edges(given: Operand) -> bool:
    """Whether factors of an array keep its edges, for best paths: where ⊕ selects, on the host."""
    return isinstance(given, Dense) and given.S.selective and not given.on_gpu


def right_of(task: Task, dtype: np.dtype) -> Dense | None:
    """The right-hand side of equations, refused where it does not fit before anything is eliminated."""
    if task.verb != "solve":
        return None
    return right_hand_side(task.given[1], task.given[0], dtype, task.operands[1])


def _run(task: Task, right: Dense | None, plan: Plan) -> Any:
    given = task.operands[0]
    made = Factors(as_dense(given) if given.kind == "sparse" else given, plan, task.options, task.given[0])
    return made if right is None else made._solution(right)


def _restored(given: Operand, check: bool, verb: str, about: tuple[str, str, int], state: dict[str, Any]) -> Factors:
    """Factors that were pickled, with an engine of this process.

    Raises
    ------
    SemiringError
        Where this version of the library would store them in another way.
    """
    task = Task("factor", given.S, (given,), replace(DEFAULTS, device="cpu", check=check))
    plan = replace(offer(task), operation=verb, tile=about[2])
    low = plan.lowering
    if (low.name, str(low.storage)) != about[:2]:
        raise SemiringError(f"these factors are pickled as {about[0]} in {about[1]}, and this version computes with "
                            f"{low.name} in {low.storage}: factor the matrix anew")
    made = Factors.__new__(Factors)
    vars(made).update(state, plan=plan, shape=given.shape, _S=given.S)
    return made


def of_closure(given: Dense, closure: np.ndarray) -> Factors:
    """Factors of a matrix that has none, as pivots have no stars, though it has a closure."""
    plan = offer(Task("factor", given.S, (given,), replace(DEFAULTS, device="cpu")))
    made = Factors.__new__(Factors)
    edges = given.changed(array=given.array.copy())
    vars(made).update(
        plan=plan, shape=given.shape, _S=given.S, _given=given, _check=True, _came=given, _edges=edges,
        _decomposition=None, _factors=None, _closed=plan.lowering.encode(closure, True))
    return made


class Factors(Factored):
    """A matrix eliminated once, to solve X = A ⊗ X ⊕ B for many B, or to expand into A*; made by `semiring.factor`.

    Attributes
    ----------
    plan : Plan
        How it was eliminated.
    shape : tuple of int
        (n, n).

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.factor(np.array([[0.0, 0.5], [0.25, 0.0]]), sr.plus_times)
    Factors of a 2 × 2 matrix over plus-times, float64
    """

    def __init__(self, given: Operand, plan: Plan, options: Options, came: Operand):
        self.plan, self.shape = plan, given.shape
        self._S, self._given, self._check = given.S, given, options.check
        self._came = came  # as the caller gave it, with its names
        self._edges = given if plan.operation == "factor" and keeps_edges(given) else came
        if self._edges is given and isinstance(given, Dense):
            self._edges = given.changed(array=given.array.copy())  # the caller's may change
        self._decomposition = self._by_library(options.progress)
        self._closed, low = None, self.plan.lowering
        if rings.cancels(low):
            self._eliminate_and_look(low, options.progress)
            return
        if low.on_gpu and (low.inverts or low.dual) and options.check:
            self._eliminate_on_gpu(low, options.progress)
            return
        if self._decomposition is None:
            self._factors = self._eliminated(options.progress)
        low = self.plan.lowering
        if low.log_sum and self._is_endless(low):
            task = Task("closure", given.S, (as_dense(given),), replace(
                DEFAULTS, device="gpu" if low.on_gpu else "cpu"))
            self._closed = low.encode(schedules.offer(task).run(), True)
        if not options.check or not may_diverge(low):
            return
        array = given.array  # type: ignore[attr-defined]
        verdict = look_for_cycles(low, self._factors, array, given.facts, given.names)
        if verdict.unstable and verdict.error is None:
            # Rounding errors grew in the factors; then A* itself solves, by a product.
            self._closed = schedules.stable_closure(low, array, None, given.facts, given.names)
        else:
            settle(low, self._factors, verdict)

    def _eliminate_and_look(self, low: Lowering, progress: bool | Callable[[float], None]) -> None:
        """The factors, or where sums cancelled too far to believe them A* itself, which solves by a product."""
        given, n = as_dense(self._given), self.shape[0]
        kernel = build_kernel(low)
        try:
            self._factors = self._eliminated(progress)
            V = given.array if n <= rings.WHOLE else given.array[:, : rings.COLUMNS]
            X = low.encode(V, True)
            elimination.solve(self._factors, X, kernel, self.plan.tile)
            if rings.solves(self._S, given, np.asarray(low.decode(X)), V):
                return
        except UndefinedStar:
            self._factors = low.encode(given.array, True)
        task = Task("closure", given.S, (given,), replace(DEFAULTS, device="cpu"))
        self._closed = low.encode(schedules.offer(task).run(), True)

    def _eliminate_on_gpu(self, low: Lowering, progress: bool | Callable[[float], None]) -> None:
        """The factors over a field on a GPU, or where they are wrong A* itself, for which rows are exchanged."""
        given = as_dense(self._given)
        try:
            self._factors = self._eliminated(progress)
            low = self.plan.lowering
            kernel = build_kernel(low)
            apply = partial(self._substituted, kernel)
            if fields.is_right_to_solve(low, given.stored(low, False), apply):
                return
        except UndefinedStar:
            pass
        plan = schedules.offer(Task("closure", given.S, (given,), replace(DEFAULTS, device="gpu")))
        self._closed = low.encode(plan.run(), True)

    def _substituted(self, kernel: Any, X: Any) -> None:
        elimination.solve(self._factors, X, kernel, self.plan.tile)

    def _is_endless(self, low: Lowering) -> bool:
        return fields.is_endless(low, self.shape[0], partial(self._substituted, build_kernel(low)))

    def _by_library(self, progress: bool | Callable[[float], None]) -> fields.Eliminated | None:
        """What LAPACK makes of 1 − A on the host, over a field; None where numbers overflow.

        Raises
        ------
        NoClosureError
        """
        low = self.plan.lowering
        if not fields.is_for_lapack(low):
            return None
        found = fields.eliminated(self._given, low)
        if found is not None:
            if self.plan.operation == "factor":  # where numbers overflow A is eliminated later; it may change till then
                given = as_dense(self._given)
                self._given = given.changed(array=given.array.copy())
            with schedules.reporting(self.plan, progress, self._check):
                pass
        return found

    @cached_property
    def _factors(self) -> Any:
        """The factors in storage, where LAPACK has some and numbers overflow all the same."""
        return self._eliminated(False)

    def _eliminated(self, progress: bool | Callable[[float], None]) -> Any:
        """The factors in storage; on a GPU anew without its library, to which 0 · ∞ is NaN, where numbers overflow."""
        low = self.plan.lowering
        by_library = low.on_gpu and low.blas
        factors = self._given.stored(low, True)
        try:
            with schedules.reporting(self.plan, progress, self._check) as kernel:
                elimination.factor(factors, kernel, self.plan.tile)
            if not by_library or is_finite(factors):
                return factors
        except UndefinedStar:
            if not by_library:
                raise
        self.plan = replace(self.plan, lowering=without_library(low))
        factors = self._given.stored(low, True)
        elimination.factor(factors, build_kernel(self.plan.lowering), self.plan.tile)
        return factors

    def _solution(self, right: Dense) -> Any:
        return solution(self._given, right, self.plan.lowering, self._engine, self._check)

    def _engine(self, wide: bool) -> tuple[Lowering, Apply]:
        """What multiplies by A*, in Python's integers where sums are too wide for the storage."""
        n = self.shape[0]
        if self._decomposition is not None:
            return self.plan.lowering, self._apply
        low = affordable(self.plan.lowering, 2 * n, float(n) ** 2)
        held = self._factors if self._closed is None else self._closed
        if wide:
            low, held = in_python_integers(low, held)
        kernel = build_kernel(low)
        if self._closed is not None:
            return low, partial(kernel.left, held)
        return low, lambda X: elimination.solve(held, X, kernel, self.plan.tile)

    def _apply(self, X: Any) -> None:
        if not self._solved(X):
            elimination.solve(self._factors, X, build_kernel(self.plan.lowering), self.plan.tile)

    def _solved(self, X: Any, turned: bool = False) -> bool:
        """X ← A* X by LAPACK, or the same with Aᵀ; False where it has no factors, or numbers overflow.

        Raises
        ------
        NoClosureError
        """
        if self._decomposition is None:
            return False
        try:
            return self._decomposition.solve(X, turned)
        except library.Singular as e:
            raise fields.refusal(self._given, self.plan.lowering, e) from None

    def closure(self) -> Any:
        """A*, from the factors; they stay.

        Returns
        -------
        array, Matrix or PackedMatrix, shape (n, n)
            Of A's dtype and kind.

        Raises
        ------
        SemiringError
            When a result has no place in the dtype.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.factor(np.array([[0.0, 0.5], [1.0, 0.0]]), sr.plus_times).closure()
        array([[2., 1.],
               [2., 2.]])
        """
        low = self.plan.lowering
        if self._closed is not None:
            return self._given.wrap(low.decode(self._closed.copy()))
        if self._decomposition is not None:
            inverse = self._decomposition.closure(low)
            if inverse is not None:
                return self._given.wrap(low.decode(inverse))
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
        """Rows of A*, from the factors.

        Parameters
        ----------
        sources : vertex or sequence of vertices
            By name where the matrix had names, else by position.
        targets : vertex or sequence of vertices, optional
            Whose columns are wanted: the answer is a `Table` by name. No more rows or columns are computed than the
            fewer of the two are.

        Returns
        -------
        ndarray, shape (k, n), or Table, shape (k, t)
            Of A's dtype.

        Raises
        ------
        GraphError
            For an unknown vertex.
        SemiringError
            When the vertices are a set, or a result has no place in the dtype.

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
        if self._closed is not None:
            found = low.decode(np.ascontiguousarray(self._closed[starts]))
        else:
            low = affordable(low, 2 * n, float(n) ** 2 * len(starts))
            work = low.encode(units(self._edges, starts), True)
            if not self._solved(work.T, turned=True):
                elimination.solve_left(self._factors, work, build_kernel(low), self.plan.tile)
            found = low.decode(work)
            if self._check:
                refuse_overflow(low, found)
        found = settled(self._S, found, starts, None)
        return found if ends is None else found[:, ends]

    def __reduce__(self) -> tuple[Callable[..., Factors], tuple[Any, ...]]:
        low = self.plan.lowering
        if low.on_gpu:
            raise PicklingError("factors on a GPU are not pickled: factor the matrix on the CPU, with device='cpu', or "
                                "pickle the matrix and factor it where it is read")
        state = {name: value for name, value in vars(self).items() if name not in ("plan", "shape", "_S")}
        about = low.name, str(low.storage), self.plan.tile
        return _restored, (self._given, self._check, self.plan.operation, about, state)

    def __repr__(self) -> str:
        n = self.shape[0]
        return f"Factors of a {n} × {n} matrix over {self._S.name}, {self.plan.lowering.dtype}"

    def _repr_html_(self) -> str:
        return html_table(repr(self), self.plan.rows().items())
