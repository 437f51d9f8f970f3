"""Equations of many matrices of one shape: small ones are closed together and multiplied, others eliminated each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.tables import html_table
from semiring.errors import NoClosureError, SemiringError
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand, order_of
from semiring.operands.read import operand, refuse_edges

from ..cycles import of_stack
from ..forms import part_of, same_dtype, told
from ..plan import Plan
from ..task import DEFAULTS, Options, Task, compute, first_offer
from .factors import Factors
from .products import product_shape
from .schedules import STACKED_ORDER


def offer(task: Task) -> Plan | None:
    """Stacks of matrices."""
    given, o = task.given[0], task.options
    if len(given.shape) == 2 or not isinstance(given, Dense):
        return None
    n = order_of(given.shape)
    if o.order != "auto":
        raise SemiringError("order is for sparse matrices and graphs; A is a stack of arrays")
    if task.verb == "solve":
        product_shape(given.shape, task.given[1].shape)  # refused before anything is eliminated
        same_dtype(given, task.given[1])
    # What is too large for a narrow dtype may stand in a closure though no answer needs it: numbers of integers are
    # kept in factors, which have room for it.
    together = (given.dtype.kind not in "iuO" and n <= STACKED_ORDER) or not prod(given.shape)
    if together:
        inner = Task("closure", task.S, (given,), replace(o, left=False))
    else:
        inner = Task("factor", task.S, (given.matrix((0,) * len(given.shape[:-2])),), replace(o, left=False))
    found = first_offer(inner)
    why = "of small matrices: A* in one call, and products" if together else "of each matrix"
    return replace(
        found, operation=task.verb, shape=given.shape, runner=partial(_run, task, given, together),
        work=found.work * (1 if together else prod(given.shape[:-2])), reasons=found.reasons | {"method": why},
    )


def _run(task: Task, given: Dense, together: bool, plan: Plan) -> Any:
    made = StackedFactors(given, plan, task.options, together)
    return made if task.verb == "factor" else made.solve(task.given[1])


def _restored(given: Dense, asked: tuple[str | None, bool], state: dict[str, Any]) -> StackedFactors:
    """Factors that were pickled, with a plan of this process."""
    made = StackedFactors.__new__(StackedFactors)
    made._options = replace(DEFAULTS, device=asked[0], check=asked[1])
    made.plan = first_offer(Task("factor", given.S, (given,), made._options))
    vars(made).update(state)
    return made


class StackedFactors:
    """A stack of matrices, to solve X = A ⊗ X ⊕ B for many B; made by `semiring.factor`.

    Attributes
    ----------
    plan : Plan
        How it was computed.
    shape : tuple of int
        (…, n, n).

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.factor(np.array([[[0.5]], [[0.75]]]), sr.plus_times)
    StackedFactors of 2 matrices, 1 × 1, over plus-times, float64
    """

    def __init__(self, given: Dense, plan: Plan, options: Options, together: bool):
        self.plan, self.shape = plan, given.shape
        self._S, self._given, self._options = given.S, given, replace(options, left=False, progress=False)
        self._star: Operand | None = None
        self._each: list[Factors] = []
        if together:
            asked = replace(self._options, progress=options.progress)
            self._star = operand(compute(Task("closure", given.S, (given,), asked)), given.S)
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

    def solve(self, B: Any) -> Any:
        """The least solutions X = A* B of X = A ⊗ X ⊕ B.

        Parameters
        ----------
        B : array_like, shape (n,) or (…, n, m)
            Of A's dtype. A vector is that of all equations; leading axes broadcast, as in `numpy.matmul`.

        Returns
        -------
        ndarray, shape (…, n) or (…, n, m)
            In A's byte order.

        Raises
        ------
        SemiringError
            When B's shape or dtype does not fit, an entry is not an element, or a result has no place in the dtype.

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
        refuse_edges(B)
        right = operand(B, self._S, "B")
        if self._star is not None:
            asked = replace(DEFAULTS, device=self._options.device, check=self._options.check)
            return compute(Task("matmul", self._S, (self._star, right), asked, (None,)))
        shape, b = product_shape(self.shape, right.shape), as_dense(right).array
        same_dtype(self._given, right)
        leading = shape.full[:-2]
        which = np.broadcast_to(np.arange(len(self._each)).reshape(self.shape[:-2]), leading)
        parts = np.broadcast_to(b, leading + b.shape if b.ndim == 1 else (*leading, *b.shape[-2:]))
        found = np.empty(shape.final, self._given.callers_dtype)
        for place in np.ndindex(leading):
            found[place] = self._each[which[place]].solve(parts[place])
        return found

    def closure(self) -> Any:
        """A*, from the factors; they stay.

        Returns
        -------
        array, shape (…, n, n)
            Of A's dtype and kind.

        Raises
        ------
        SemiringError
            When a result has no place in the dtype.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.factor(np.array([[[0.5]], [[0.75]]]), sr.plus_times).closure().ravel()
        array([2., 4.])
        """
        if self._star is not None:
            return self._given.wrap(as_dense(self._star).array.copy())
        found = np.empty(self.shape, self._given.callers_dtype)
        for place, F in zip(np.ndindex(*self.shape[:-2]), self._each, strict=True):
            found[place] = F.closure()
        return found

    def __copy__(self) -> StackedFactors:
        return self

    def __deepcopy__(self, memo: Any) -> StackedFactors:
        return self

    def __reduce__(self) -> tuple[Callable[..., StackedFactors], tuple[Any, ...]]:
        state = {name: value for name, value in vars(self).items() if name not in ("plan", "_options")}
        asked = self._options.device, self._options.check
        return _restored, (self._given, asked, state)

    def __repr__(self) -> str:
        n, count = self.shape[-1], prod(self.shape[:-2])
        return f"StackedFactors of {count} matrices, {n} × {n}, over {self._S.name}, {self._given.dtype}"

    def _repr_html_(self) -> str:
        return html_table(repr(self), self.plan.rows().items())
