"""A row vector times one matrix after the other, and emissions: `forward`, for Markov models and other chains."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.arguments import truth_value
from semiring.algebra.by_name import algebra
from semiring.algebra.dtypes import refuse_sums
from semiring.algebra.elements import full
from semiring.algebra.semiring import Semiring
from semiring.algorithms.scans import steps_of, walk
from semiring.errors import LawError
from semiring.kernels.build import affordable, kernel, renting, stacks_repay
from semiring.kernels.choose import only_form
from semiring.kernels.cpu.dense import steps as compiled
from semiring.kernels.cpu.dense.steps import Sequences
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.dense import operations
from semiring.machine.threads import cpu_place, thread_count
from semiring.operands.align import same_dtype
from semiring.operands.dense import Dense
from semiring.solvers.forms import refuse_overflow
from semiring.solvers.plan import Plan
from semiring.solvers.products.winners import AT_ONCE, Best, best_terms
from semiring.solvers.task import own_algebra

from ..planned import planned
from .layout import Layout, layout
from .reading import Asked, answered, read_stack, rows_by_state, same_memory
from .steps import Steps

PURPOSE = "chains"


@planned
def forward(
    x: Any, stack: Any, S: Semiring | str | None = None, *, emissions: Any = None, lengths: Any = None,
    steps: int | None = None, reverse: bool = False, argmax: bool = False,
) -> Any:
    """Return x ⊗ A₁ ⊗ … ⊗ A_t for all t, each row after the one before.

    With `emissions` e every row is also multiplied by a row of them, element by element, as in hidden Markov models:

        x_0 = x ⊗ e_0,   x_t = (x_{t−1} ⊗ A_t) ⊗ e_t

    Parameters
    ----------
    x : array_like, shape (n,) or (…, n)
        The row at the beginning, or one for each sequence. With `reverse` the column at the end.
    stack : array_like, shape (n, n) or (…, T − 1, n, n)
        One matrix for all steps, or the matrices between T rows. An axis of steps of length 1 also serves all steps.
    S : Semiring or str, optional
        Default: the algebra of a prepared operand. With `log` the rows are the forward variables of a hidden Markov
        model, with `max_plus` the scores of Viterbi's algorithm.
    emissions : array_like, shape (…, T, n), optional
        A row for each step, of the same dtype. If the stack is a matrix over vertices with names, or a DataArray, the
        columns of a data frame, a `Matrix` or a DataArray are put into the order of these names, which are those of
        the stack's rows; so is x, and a series by its labels.
    lengths : array_like of int, optional
        How many rows each sequence has. For emissions with two axes the sequences come one after the other, and
        lengths add up to their rows; there may then be one matrix fewer than rows for each sequence. Otherwise the
        sequences are padded: `lengths` has the shape of the leading axes, and the rows after a sequence are zero.
    steps : int, optional
        How many steps one matrix serves, if there are no emissions.
    reverse : bool
        Compute from the end: the backward variables x_t = A_{t+1} ⊗ (e_{t+1} ⊗ x_{t+1}). The sum of
        forward ⊗ backward is then the same at each t.
    argmax : bool
        Also return which term won each element, for the best sequence of states. Needs a selective ⊕.

    Returns
    -------
    ndarray, shape (…, T, n), or of emissions' shape
        A row for each t, of the dtype of x. Without emissions, T is one more than the number of steps.
    Steps
        With `argmax`: `values` as above, `back`, and the method `states`. See `Steps`.

    Raises
    ------
    LawError
        If `argmax` is wanted and ⊕ does not select.
    SemiringError
        If shapes, dtypes or lengths do not fit, the dtype cannot carry the algebra, an entry is not an element, or
        memory is short.

    Notes
    -----
    L. R. Rabiner, A tutorial on hidden Markov models (1989). Every row is that of `matmul` of the row before, to the
    bit, but for log-sum-exp: there a row is kept as powers relative to its largest element and multiplied by powers of
    the matrix, so that a step takes one logarithm and one power for each element of a row. A step adds an error of at
    most ε (n + 16 + 4 s + d): s is the size of the logarithm of the sum of powers of an element, and d that of the
    element relative to the largest one of the row before. Reading a row as a whole adds ε of it. Powers that underflow
    are noticed, and such elements are summed by their terms.

    Arrays on a GPU are computed there, all sequences side by side and the steps of each one after the other. Rows of at
    most 64 elements in single precision and 32 in double take one launch; longer ones take a few launches a step. A few
    long sequences are cut into chunks if that is faster; the first row of a chunk is then rounded in another order, and
    the winning terms of the next row are those of the rows that are returned. Products of floats by × may overflow or
    underflow in a chunk where the rows do not: that is noticed, and the sequence is then computed row by row.

    Examples
    --------
    Two hidden states, healthy and ill, and the probability of three observations:

    >>> import numpy as np
    >>> import semiring as sr
    >>> start, A = np.log([0.6, 0.4]), np.log([[0.7, 0.3], [0.4, 0.6]])
    >>> seen = np.log([[0.5, 0.1], [0.4, 0.3], [0.1, 0.6]])  # probability of each observation, by state
    >>> alpha = sr.forward(start, A, sr.log, emissions=seen)
    >>> round(float(np.exp(alpha[-1]).sum()), 6)
    0.03628

    The most likely states:

    >>> best = sr.forward(start, A, sr.max_plus, emissions=seen, argmax=True)
    >>> best.states()
    array([0, 0, 1])
    """
    given = (x, stack, *([] if emissions is None else [emissions]))
    S = own_algebra("forward", given) if S is None else algebra(S)
    reverse, argmax = truth_value(reverse, "reverse"), truth_value(argmax, "argmax")
    refuse_sums(S)
    if argmax and not S.selective:
        raise LawError(f"argmax needs a selective ⊕ (one whose result is always one of its operands); in {S.name} "
                       f"{S._law_report.flags['selective']}")
    matrices = read_stack(stack, S, "forward")
    operands = [rows_by_state(x, S, matrices, "x", "forward"), matrices]
    if emissions is not None:
        operands.append(rows_by_state(emissions, S, matrices, "emissions", "forward"))
    same_dtype(*operands)
    shapes = [A.shape for A in operands]
    found = layout(shapes[0], shapes[1], shapes[2] if emissions is not None else None, lengths, steps)
    if same_memory(*operands):
        from . import forward_on_gpu

        return Asked(partial(forward_on_gpu.offer, operands, found, reverse, argmax))
    return Asked(partial(_offer, operands, found, reverse, argmax))


def _offer(operands: list[Dense], found: Layout, reverse: bool, argmax: bool) -> Plan:
    S, dtype, n = operands[0].S, operands[0].dtype, found.shape[-1]
    inner = S if not reverse or S.commutative else S.opposite
    most = int(found.lengths.max(initial=0))
    work = float(np.maximum(found.lengths - 1, 0).sum()) * n * n
    small = 0 < n <= compiled.MOST
    form = only_form(inner, dtype, False) if small else None
    look = form is not None and form.is_identity and stacks_repay(form, most, work, PURPOSE)
    low = form if look and form is not None else _examined(operands, inner, most)
    by_vectors = look or (small and stacks_repay(low, most, work, PURPOSE))
    if not by_vectors:
        low = affordable(low, float(most) * n, work)
    rows = prod(found.shape)
    storage = 0 if low.is_identity else (rows + sum(prod(A.shape) for A in operands)) * low.storage.itemsize
    back = rows * np.min_scalar_type(max(n - 1, 0)).itemsize if argmax else 0
    return Plan(
        operation="forward", algebra=S, shape=found.shape, lowering=low, work=work,
        method="rows as vectors" if by_vectors else "one product after the other",
        memory=rows * dtype.itemsize + storage + back, runner=partial(_run, operands, found, reverse, argmax, look),
        place=cpu_place(min(thread_count(), max(len(found.lengths), 1))) if by_vectors else "",
        reasons={"method": f"rows of at most {compiled.MOST} elements stay in registers"} if by_vectors else {},
        needs=("the rows of all steps", "use a narrower dtype, or fewer sequences at a time"),
    )


def _examined(operands: list[Dense], inner: Semiring, most: int) -> Lowering:
    """The form for operands whose elements are examined first; refuses what is not an element."""
    first, *others = operands
    facts, low = first.form(2 * most + 1, beside=others, packed=False)
    return low if inner is first.S else first.changed(S=inner).lowering(facts, 2 * most + 1, packed=False)


def _run(
    operands: list[Dense], found: Layout, reverse: bool, argmax: bool, look: bool, plan: Plan
) -> Any:
    low, n = plan.lowering, found.shape[-1]
    arrays = [A.array if low.is_identity else low.encode(A.array, True) for A in operands]
    given = found.sequences(arrays[0], arrays[1], arrays[2] if len(arrays) > 2 else None)
    count = prod(found.shape[:-1])
    out = low.empty((count, n))
    back = np.zeros((count, n), np.min_scalar_type(max(n - 1, 0))) if argmax else None
    if found.partial:
        out = full(out, low.algebra.zero if low.kind == "objects" else operations(low).zero)
    if out.size:
        _walk(low, given, out, back, reverse, plan, look, operands)
    result = low.decode(out).reshape(found.shape)
    if not low.drops_nan:
        refuse_overflow(low, result)
    values = answered(operands[0], result)
    if back is None:
        return values
    return Steps(values, back.reshape(found.shape), operands[0].S, found, reverse, result)


def _walk(
    low: Lowering, given: Sequences, out: np.ndarray, back: np.ndarray | None, reverse: bool, plan: Plan, look: bool,
    operands: list[Dense],
) -> None:
    """Compute all rows, by vectors if the plan says so."""
    if plan.method == "rows as vectors":
        if compiled.walk(low, given, out, back, reverse, look):
            return
        _examined(operands, low.algebra, 1)  # refuses what was seen
        if low.log_sum is None:
            compiled.walk(low, given, out, back, reverse, False)
            return
    _by_kernel(low, given, out, back, reverse)


def _by_kernel(
    low: Lowering, given: Sequences, out: np.ndarray, back: np.ndarray | None, reverse: bool
) -> None:
    """The same by the products of any engine, a step of all sequences at once."""
    A = given.A.swapaxes(-1, -2) if reverse else given.A
    made = kernel(low)
    scale = _scale(low)

    def product(rows: np.ndarray, matrices: np.ndarray, places: np.ndarray) -> np.ndarray:
        if back is not None and low.kind != "objects" and A[0].size <= AT_ONCE:
            values, back[places] = best_terms(low, rows, A if len(given.A) == 1 else A[matrices])
            return values
        if back is not None:
            best = Best(low, rows.shape)
            for k in range(rows.shape[-1]):
                best.join(..., rows[:, k, None], A[matrices, k], k)
            back[places] = np.maximum(best.which, 0)
            return best.values
        result = low.empty((len(rows), 1, rows.shape[-1]))
        if len(given.A) == 1:
            made.multiply(result[:, 0], rows, A[0])
        else:
            made.multiply_stack(result, rows[:, None], A[matrices])  # type: ignore[attr-defined]
        return result[:, 0]

    steps = steps_of(given.lengths, given.rows_at, given.a_at, given.e_at, given.a_step, reverse)
    with renting(low, PURPOSE):
        walk(steps, given.x[given.x_at], A, given.e, out, product, scale, reverse)


def _scale(low: Lowering) -> Any:
    """x ⊗ y, element by element; where storage has room beyond zero, as the term of a product."""
    if low.kind == "objects":
        return low.algebra.over(object).mul
    by = operations(low)
    if low.dtype.kind not in "iu":
        return by.scale

    def term(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        total = by.zeros(x.shape)
        by.accumulate(total, x, y)
        return total

    return term
