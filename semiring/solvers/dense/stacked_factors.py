"""Factors of a stack: of each matrix.

Small matrices are not eliminated: they are closed together in one call, and A* multiplies.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.arguments import truth_value
from semiring.algebra.tables import dtype_text, html_table
from semiring.errors import NoClosureError
from semiring.graphs.dataarrays import is_dataarray
from semiring.graphs.dims import Axes, Axis, axes_of, solution, with_axes
from semiring.machine.progress import part_of, told
from semiring.operands.align import in_order, same_dtype
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand, order_of
from semiring.operands.read import operand

from ..forms import restored
from ..options import DEFAULTS, Options
from ..plan import Plan
from ..products.arrays import product_shape
from ..refusals import of_stack
from ..task import Task, compute, first_offer
from . import schedules

if TYPE_CHECKING:

    from .factors import Factors


def offer_stack(task: Task) -> Plan:
    """Offer to eliminate each matrix of a stack, or to close all: the plan of its closure, or of one matrix."""
    given: Any = task.given[0]
    n = order_of(given.shape)
    if task.verb == "solve":
        product_shape(given.shape, task.given[1].shape)  # refuses before anything is eliminated
        same_dtype(given, task.given[1])
    # A closure of integers may leave a narrow dtype although no answer does; factors have more room.
    together = (given.dtype.kind not in "iuO" and n <= schedules.STACKED_ORDER) or not prod(given.shape)
    one = given if together else given.matrix((0,) * len(given.shape[:-2]))
    found = first_offer(Task("closure" if together else "factor", task.S, (one,), task.options))
    why = "of small matrices: A* in one call, and products" if together else "of each matrix"
    return replace(
        found, operation=task.verb, shape=given.shape, runner=partial(_run_stack, task, together),
        work=found.work * (1 if together else prod(given.shape[:-2])), reasons=found.reasons | {"method": why},
    )


def _run_stack(task: Task, together: bool, plan: Plan) -> Any:
    made = StackedFactors(task.given[0], plan, task.options, together)  # type: ignore[arg-type]
    return made if task.verb == "factor" else made.solve(task.given[1])


class StackedFactors:
    """The factorization of a stack, which solves X = A ⊗ X ⊕ B for many B.

    Attributes
    ----------
    plan : Plan
        How the stack was factored.
    shape : tuple of int
        (…, n, n).
    axes : list of Axis
        The dimensions and the labels of a DataArray of xarray that was factored, which answers have; else none.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.factor(np.array([[[0.5]], [[0.75]]]), sr.plus_times)
    StackedFactors of 2 matrices, 1 × 1, over plus-times, float64
    """

    def __init__(self, given: Dense, plan: Plan, options: Options, together: bool):
        self.plan, self.shape, self._S, self._given = plan, given.shape, given.S, given
        self._options = replace(DEFAULTS, device=options.device, check=options.check)
        self.axes: Axes = []
        self._star: Operand | None = None
        self._each: list[Factors] = []
        if together:
            self._star = operand(compute(Task("closure", given.S, (given,), options)), given.S)
            return
        count = prod(given.shape[:-2])
        with told(options.progress, f"{given.S.name} {plan.operation}") as report:
            for k, place in enumerate(np.ndindex(*given.shape[:-2])):
                part = options.progress and part_of(report, k / count, (k + 1) / count)
                asked = replace(self._options, progress=part)
                try:
                    self._each.append(compute(Task("factor", given.S, (given.matrix(place),), asked)))
                except NoClosureError as e:
                    raise of_stack(e, place) from None

    def solve(self, B: Any, *, left: bool = False) -> Any:
        """Return the least solutions X = A* B of X = A ⊗ X ⊕ B.

        Parameters
        ----------
        B : array_like, shape (n,) or (…, n, m)
            Of A's dtype. A vector belongs to all equations; leading axes broadcast, as in `numpy.matmul`. With `left`
            of shape (n,) or (…, m, n).
        left : bool
            Put the unknowns on the left: solve X = X ⊗ A ⊕ B, whose least solution is B A*.

        Returns
        -------
        ndarray, shape (…, n), (…, n, m) or (…, m, n)
            The solutions, in A's byte order.

        Raises
        ------
        SemiringError
            If B's shape or dtype does not fit, an entry is not an element, or a result does not fit in the dtype.

        Notes
        -----
        Floats are rounded as in `semiring.closure`.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> F = sr.factor(np.array([[[0.5]], [[0.75]]]), sr.plus_times)
        >>> F.solve(np.array([3.0]))
        array([[ 6.],
               [12.]])
        """
        left, axes = truth_value(left, "left"), axes_of(B)
        right = in_order(self._given, operand(restored(B, self._given, left), self._S, "B"), -1 if left else -2)[1]
        right = right if right.labels is None else right.changed(labels=None)
        known = self.axes or (is_dataarray(B) and self._given.labels is None)
        axes = solution(self.axes or [*map(Axis, self.shape)], axes, left) if known and axes is not None else []
        shapes, names = (self.shape, right.shape), ("A", "B")
        shape = product_shape(*(shapes[::-1] if left else shapes), names=names[::-1] if left else names)
        if self._star is not None:
            factors = (right, self._star) if left else (self._star, right)
            return with_axes(compute(Task("matmul", self._S, factors, self._options, (None,))), axes)
        b = as_dense(right).array
        same_dtype(self._given, right)
        leading = shape.full[:-2]
        which = np.broadcast_to(np.arange(len(self._each)).reshape(self.shape[:-2]), leading)
        parts = np.broadcast_to(b, leading + b.shape if b.ndim == 1 else (*leading, *b.shape[-2:]))
        found = np.empty(shape.final, self._given.callers_dtype)
        for place in np.ndindex(leading):
            found[place] = self._each[which[place]].solve(parts[place], left=left)
        return with_axes(found, axes)

    def closure(self) -> Any:
        """Return A*, from the factors; these are kept.

        Returns
        -------
        array, shape (…, n, n)
            A*, of A's dtype and kind.

        Raises
        ------
        SemiringError
            If a result does not fit in the dtype.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.factor(np.array([[[0.5]], [[0.75]]]), sr.plus_times).closure().ravel()
        array([2., 4.])
        """
        if self._star is not None:
            return with_axes(self._given.wrap(as_dense(self._star).array.copy()), self.axes)
        found = np.empty(self.shape, self._given.callers_dtype)
        for place, F in zip(np.ndindex(*self.shape[:-2]), self._each, strict=True):
            found[place] = F.closure()
        return with_axes(found, self.axes)

    def __copy__(self) -> StackedFactors:
        return self

    def __deepcopy__(self, memo: Any) -> StackedFactors:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "plan"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.plan = first_offer(Task("factor", self._S, (self._given,), self._options))

    def __repr__(self) -> str:
        n, count, dtype = self.shape[-1], prod(self.shape[:-2]), dtype_text(self._given.dtype)
        return f"StackedFactors of {count} matri{'x' if count == 1 else 'ces'}, {n} × {n}, over {self._S.name}, {dtype}"

    def _repr_html_(self) -> str:
        return html_table(repr(self), self.plan.rows().items())
