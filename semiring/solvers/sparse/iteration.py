"""Real and complex equations of a sparse matrix by iteration, where elimination would fill in.

    X = A X + B      |B + A X − X| ≤ rtol (|A| |X| + |X| + |B|) in every entry, which is checked

If a norm of A, without its diagonal, is below 1, the power series converges and 1 − A is regular. Then the steps are
predicted, and the fastest of iteration, SuperLU and LAPACK runs. For other matrices no number of steps is known:
iteration is tried where elimination is predicted to take much longer, and 1 − A is tested as factors are. If the
residual is not reached, elimination takes over, or that is an error if the caller asked for iteration.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from semiring.algorithms.sparse.ordering import may_need
from semiring.algorithms.sparse.pattern import symmetric
from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.interface import Report
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy import library
from semiring.kernels.numpy.iteration import CLOSE, MOST_STEPS, Equations, Unreached
from semiring.machine.progress import told
from semiring.operands.dense import Dense
from semiring.operands.sparse import Sparse

from ..dense import fields
from ..dense.factors import right_of
from ..forms import solution
from ..plan import Plan
from ..task import Declined, Task
from .analysis import analysis_of, is_analysed, lowering_of
from .elimination import TERM, Fill, envelope, filled, lapack_seconds, superlu_seconds

METHOD = "iterative"
FIRST = 5e-3  # seconds in which iteration begins, about those for which SuperLU solves small equations
STEP, NUMBER, ENTRY = 2.5e-5, 4e-9, 1.3e-9  # of a product with A, for an entry of X, and for one of A; doubles
FASTER = 4  # times that steps are fewer than terms of the power series
BEGIN = 10  # steps that even the easiest equations take
TRIED = 300  # steps in which other matrices are tried
TESTED = 9  # times the work of one column, with the test whether 1 − A is regular
MORE = 4  # times the predicted steps that are taken at most
VECTORS = 12  # of a column's size that iteration holds
BEYOND = 10  # times that elimination takes longer than iteration of such a matrix, or that is not tried


def offer(task: Task) -> Plan | None:
    """Iteration if it is asked for, or predicted to be the fastest method."""
    o, given = task.options, task.operands[0]
    asked = o.method != "auto" or o.rtol is not None
    if asked:
        _refuse_others(task)
    if not isinstance(given, Sparse) or o.device not in (None, "cpu"):
        return None
    low = lowering_of(given, room=True)
    if not low.inverts:
        if asked:
            raise SemiringError(f"{task.S.name}: iteration needs the sum and the product of real or complex numbers as "
                                "⊕ and ⊗, and 1 / (1 − a) as the star: leave out method and rtol")
        return None
    right = right_of(task, low.dtype)
    assert right is not None
    work = Work(given, right.shape[1] if len(right.shape) > 1 else 1, fields.relative_cost(low.dtype))
    if not asked and work.iterated(BEGIN) > work.eliminated_at_least:
        return None
    equations = _equations(given, low, o.rtol)
    sure = _contracts(equations, low)
    steps = BEGIN + int(equations.terms / FASTER) if sure else TRIED
    seconds = work.iterated(steps, 0 if sure else TESTED)
    if not asked and work.is_eliminated_within(seconds * (1 if sure else BEYOND)):
        return None
    why = f"a norm of A is {equations.norm:.3g}" if sure else "elimination would fill in"
    return Plan(
        operation="solve", algebra=task.S, shape=given.shape, method="iteration", lowering=low, place="CPU, 1 thread",
        work=float(given.nnz) * steps * work.columns,
        memory=2 * given.nbytes + (VECTORS + equations.kept) * given.n * equations.A.dtype.itemsize,
        runner=partial(_run, task, given, right, equations, steps, asked), nnz=given.nnz,
        seconds={"iteration": seconds},
        needs=(f"iteration with {given.nnz} entries", "use a narrower dtype or fewer vertices"),
        reasons={"method": f"{'as asked' if asked else why}, to a residual of {equations.rtol:.2g}"},
    )


def _refuse_others(task: Task) -> None:
    """Refuse other methods, and other matrices."""
    o, given = task.options, task.operands[0]
    if o.method not in ("auto", METHOD):
        raise SemiringError(f"method of solve must be 'auto' or {METHOD!r}, and is {o.method!r}")
    if not isinstance(given, Sparse) or o.device not in (None, "cpu"):
        on_gpu = given.on_gpu or o.device not in (None, "cpu")
        kind = "on a GPU" if on_gpu else "a packed matrix" if given.kind == "packed" else "an array"
        raise SemiringError(f"method={METHOD!r} and rtol= are for sparse matrices and graphs on the CPU, and A is "
                            f"{kind}: leave them out, or pass a sparse matrix, such as scipy.sparse.csr_array(A)")


class Work(NamedTuple):
    """Predicted seconds of equations by each method; `cost` is that of a multiply-add, 1 for doubles."""

    given: Sparse
    columns: int
    cost: float

    def iterated(self, steps: float, others: int = 0) -> float:
        """By so many steps for each column, and for `others` that test the matrix."""
        step = STEP + self.cost * (NUMBER * self.given.n + ENTRY * self.given.nnz)
        return FIRST + step * steps * (self.columns + others)

    def eliminated(self, fill: Fill) -> float:
        """By SuperLU, with a certain fill."""
        return superlu_seconds(fill, self.given.n, self.columns, self.cost)

    @property
    def dense(self) -> float:
        """By LAPACK."""
        return lapack_seconds(self.given.n, self.columns, self.cost)

    @property
    def eliminated_at_least(self) -> float:
        """By the faster of both if nothing fills in."""
        return min(self.dense, self.eliminated(Fill(self.given.nnz + 2.0 * self.given.n, float(self.given.nnz))))

    def is_eliminated_within(self, seconds: float) -> bool:
        """Whether the faster of both takes no longer; the search for an order ends when it would."""
        given = self.given
        if self.dense <= seconds or self.eliminated_at_least > seconds:
            return self.dense <= seconds
        if is_analysed(given):
            return self.eliminated(filled(analysis_of(given))) <= seconds
        if self.eliminated(envelope(given)) <= seconds:
            return True
        return may_need(*symmetric(given.indptr, given.indices), seconds / (self.cost * TERM))


def _equations(given: Sparse, low: Lowering, rtol: float | None) -> Equations:
    """The equations in double precision: long sums in single precision would round away its digits."""
    from scipy.sparse import csr_array

    rows = given.stored(low, False)
    numbers = library.numbers(rows.values)
    wide = np.result_type(numbers.dtype, np.float64)
    offsets = rows.offsets.astype(rows.columns.dtype) if given.nnz < np.iinfo(rows.columns.dtype).max else rows.offsets
    A = csr_array((numbers.astype(wide, copy=False), rows.columns, offsets), shape=given.shape)
    A.has_canonical_format = True
    return Equations(A, max(np.finfo(numbers.dtype).eps, CLOSE * np.finfo(wide).eps) if rtol is None else rtol)


def _contracts(equations: Equations, low: Lowering) -> bool:
    """Whether the power series converges, and errors of the entries leave some digits: the condition is bounded."""
    norm = equations.norm
    if not norm < 1:
        return False
    longest = int(np.diff(equations.A.indptr).max(initial=0))
    return bool(library.doubt((1 + norm) / (1 - norm), longest, equations.A.dtype, fields.precision(low)) < 1)


def _run(task: Task, given: Sparse, right: Dense, equations: Equations, steps: int, asked: bool, plan: Plan) -> Any:
    low, most = plan.lowering, max(MOST_STEPS, MORE * steps) if asked else MORE * steps

    def apply(by: Equations, report: Report, X: np.ndarray) -> None:
        numbers = library.numbers(X)
        for j in range(numbers.shape[1]):
            numbers[:, j] = by.solve(np.array(numbers[:, j], by.A.dtype), most)
            report(0.9 * (j + 1) / numbers.shape[1])

    def is_regular() -> bool:
        """Whether there is one solution; equations that tell are solved to rounding, whatever `rtol` is."""
        known = equations if task.options.rtol is None else _equations(given, low, None)
        try:
            return fields.is_trusted(
                given.stored(low, False), low, partial(apply, known, lambda part: None), known.most)
        except Unreached as e:
            if not asked:
                raise
            raise SemiringError(
                f"{task.S.name}: {e.steps} products with A do not tell whether I − A is singular, because they leave "
                f"a residual of {e.residual:.2g} (|A| |X| + |X| + |B|): leave out method and rtol to eliminate"
            ) from None

    try:
        with told(task.options.progress, f"{task.S.name} solve") as report:
            if not _contracts(equations, low) and not is_regular():
                if not asked:
                    raise Declined("rounding hides whether there is one solution")
                raise NoClosureError(f"{task.S.name}: I − A is singular, or so near to it that rounding decides about "
                                     "the answer: leave out method and rtol, and elimination names a vertex")
            answer = partial(apply, equations, report)
            return solution(given, right, low, lambda wide: (low, answer), task.options.check)
    except Unreached as e:
        if not asked:
            raise Declined(str(e)) from None
        raise SemiringError(
            f"{task.S.name}: {e.steps} products with A leave a residual of {e.residual:.2g} (|A| |X| + |X| + |B|) in "
            f"some entry, and rtol is {equations.rtol:.2g}: pass a larger rtol, or leave out method and rtol to "
            "eliminate"
        ) from None
