"""All products of a sequence of matrices: `scan`."""

from __future__ import annotations

from functools import partial
from math import isqrt, prod
from typing import Any

import numpy as np

from semiring.algebra.arguments import truth_value
from semiring.algebra.by_name import algebra
from semiring.algebra.dtypes import refuse_sums
from semiring.algebra.elements import is_nan
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.kernels.build import affordable, stacks_repay
from semiring.kernels.choose import only_form
from semiring.kernels.cpu.dense import lanes, scans
from semiring.machine.threads import cpu_place
from semiring.operands.dense import Dense
from semiring.solvers.forms import refuse_overflow
from semiring.solvers.plan import Plan
from semiring.solvers.task import own_algebra

from ..planned import planned
from .reading import Asked, answered, read_stack, rows_by_state, same_memory
from .stepwise import one_by_one


@planned
def scan(
    stack: Any, S: Semiring | str | None = None, *, axis: int = 0, reverse: bool = False, initial: Any = None
) -> Any:
    """Return all products A₀ ⊗ A₁ ⊗ … ⊗ A_t of a sequence of square matrices.

    Parameters
    ----------
    stack : array_like, shape (T, …, n, n)
        The matrices. Other leading axes are sequences of their own. Columns of a DataArray of xarray are put into the
        order of its rows by their labels, and so are those of `initial`, or with `reverse` its rows.
    S : Semiring or str, optional
        Default: the algebra of a prepared operand.
    axis : int
        Which axis of the stack counts the matrices of a sequence. It is not one of the last two.
    reverse : bool
        Return A_t ⊗ … ⊗ A_{T−1} instead, the products from each place to the end.
    initial : array_like, shape (m, n) or (…, m, n), optional
        A matrix before all others, or one for each sequence. With `reverse` it comes after them, with shape (…, n, m).

    Returns
    -------
    ndarray, of the shape of the stack
        With `initial` of its rows, or with `reverse` of its columns. The last product alone, or the first one with
        `reverse`, takes half the work: see `chain`.

    Raises
    ------
    SemiringError
        If the stack has no matrices (n, n), the axis is not one of its leading axes, `initial` does not fit, the dtype
        cannot carry the algebra, an entry is not an element, or memory is short.

    Notes
    -----
    Long sequences of small matrices are cut into chunks, which are computed side by side with two products a matrix;
    G. E. Blelloch, Prefix sums and their applications (1990). Products over an algebra that only has products are
    taken strictly one after the other. If ⊕ selects and ⊗ is exact, the answer has the same bits in any case. Otherwise
    a product of t matrices has the error of t products, each bounded as in `matmul`.

    Arrays on a GPU are multiplied there. Matrices of up to about 60 rows in single precision, and 40 in double, stay in
    the shared memory of a block; larger ones are multiplied one after the other.

    Examples
    --------
    The fastest way through a timetable up to each hour, from row to column:

    >>> import numpy as np
    >>> import semiring as sr
    >>> hours = np.array([[[1.0, 4.0], [2.0, 3.0]], [[5.0, 0.0], [1.0, 6.0]], [[2.0, 2.0], [0.0, 1.0]]])
    >>> sr.scan(hours, sr.min_plus)[:, 0, 1]
    array([4., 1., 2.])
    """
    S = own_algebra("scan", (stack,)) if S is None else algebra(S)
    refuse_sums(S)
    A, reverse = read_stack(stack, S, "scan"), truth_value(reverse, "reverse")
    X = None if initial is None else rows_by_state(initial, S, A, "initial", "scan", axis=-2 if reverse else -1)
    return Asked(partial(_offer, A, X, axis_of(A.shape, axis), reverse))


def axis_of(shape: tuple[int, ...], axis: Any) -> int:
    """The number of the axis of steps of a stack, from 0 on.

    Raises
    ------
    SemiringError
        If the stack has no square matrices, or the axis is not one of its leading ones.
    """
    if len(shape) < 3 or shape[-1] != shape[-2]:
        raise SemiringError(f"stack must hold square matrices, with shape (T, …, n, n), and has shape {shape}")
    if isinstance(axis, (bool, np.bool_)) or not isinstance(axis, (int, np.integer)):
        raise SemiringError(f"axis must be a whole number, and is {clip_repr(axis)}")
    found = int(axis) + (len(shape) if axis < 0 else 0)
    if not 0 <= found < len(shape) - 2:
        raise SemiringError(f"axis {axis} of a stack of shape {shape}: it must be one of the first {len(shape) - 2}, "
                            "since the last two are those of the matrices")
    return found


def _offer(A: Dense, X: Dense | None, axis: int, reverse: bool) -> Plan:
    S, shape = A.S, _shape(A, X, axis, reverse)
    if same_memory(A, X):
        from .scan_on_gpu import offer_scan

        return offer_scan(A, X, axis, reverse, shape)
    steps, n = A.shape[axis], A.shape[-1]
    m = shape[-1] if reverse else shape[-2]
    work = float(prod(shape)) * n
    beside = () if X is None else (X,)
    chained = 0 < n <= lanes.SIDE and m <= lanes.SIDE and 0 not in shape and (steps > 1 or X is not None)
    form = only_form(S, A.dtype, False) if chained else None
    look = form is not None and form.is_identity and stacks_repay(form, n * min(steps, isqrt(steps) * 2), work)
    low = form if look and form is not None else A.form(steps + 2, beside=beside, packed=False)[1]
    by_vectors = look or (chained and stacks_repay(low, n * min(steps, isqrt(steps) * 2), work))
    if not by_vectors:
        low = affordable(low, n * steps, work)
    method = "rows as vectors" if by_vectors else "one product after the other"
    reason = {"method": f"matrices of at most {lanes.SIDE} rows and columns stay in registers"} if by_vectors else {}
    storage = 0 if low.is_identity else (prod(shape) + prod(A.shape)) * low.storage.itemsize
    return Plan(
        operation="scan", algebra=S, shape=shape, method=method, lowering=low, work=work,
        memory=prod(shape) * A.dtype.itemsize + storage, reasons=reason,
        place=cpu_place() if by_vectors else "",
        needs=("the products of the sequence", "use a narrower dtype, or sr.chain for the last product alone"),
        runner=partial(_run, A, X, axis, reverse, shape, by_vectors, look),
    )


def _shape(A: Dense, X: Dense | None, axis: int, reverse: bool) -> tuple[int, ...]:
    """The shape of the answer; refuses an initial matrix that does not fit."""
    if X is None:
        return A.shape
    if X.dtype != A.dtype:
        raise SemiringError(f"stack is {dtype_text(A.dtype)} and initial is {dtype_text(X.dtype)}; convert one with "
                            ".astype(…)")
    at = (*A.shape[:axis], *A.shape[axis + 1 : -2], A.shape[axis], *A.shape[-2:])
    fit_initial(at, X.shape, reverse)
    n = A.shape[-1]
    return (*A.shape[:-2], n, X.shape[-1]) if reverse else (*A.shape[:-2], X.shape[-2], n)


def fit_initial(stack: tuple[int, ...], X: tuple[int, ...], reverse: bool) -> None:
    """Look whether an initial matrix fits a stack of shape (…, T, n, n).

    Raises
    ------
    SemiringError
        If it does not.
    """
    n, batch = stack[-1], stack[:-3]
    if len(X) < 2 or X[-2 if reverse else -1] != n:
        raise SemiringError(f"initial must be a matrix of shape {f'({n}, m)' if reverse else f'(m, {n})'} for matrices "
                            f"of shape ({n}, {n}), and has shape {X}; sr.forward takes vectors")
    try:
        fits = np.broadcast_shapes(X[:-2], batch) == batch
    except ValueError:
        fits = False
    if not fits:
        raise SemiringError(f"initial has leading axes {X[:-2]}, and the sequences of the stack {batch}")


def _run(
    A: Dense, X: Dense | None, axis: int, reverse: bool, shape: tuple[int, ...], by_vectors: bool, look: bool,
    plan: Plan,
) -> Any:
    low = plan.lowering
    out = low.empty(shape)
    a, p = (np.moveaxis(x, axis, 0) for x in (A.stored(low, True) if not low.is_identity else A.array, out))
    if reverse:
        a, p = a[::-1], p[::-1]
    x = None if X is None else np.broadcast_to(X.stored(low, True), (*a.shape[1:-2], *X.shape[-2:]))
    looked = False  # at all products but the last ones of the sequences: they are operands of the next
    if not out.size:
        pass
    elif by_vectors:
        places = list(np.ndindex(a.shape[1:-2]))
        chains = [scans.Chain(p[(slice(None), *i)], a[(slice(None), *i)], None if x is None else x[i]) for i in places]
        looked = look and scans.scan(low, chains, reverse, True, not A.S.product_only)
        if look and not looked:
            A.form(len(a) + 2, beside=() if X is None else (X,), packed=False)  # which refuses what was seen
        if not looked:
            scans.scan(low, chains, reverse, False, not A.S.product_only)
    else:
        one_by_one(low, p, a, x, reverse)
    result = low.decode(out)
    if not low.drops_nan and not (looked and not is_nan(np.take(result, 0 if reverse else -1, axis)).any()):
        refuse_overflow(low, result)
    return answered(A, result)
