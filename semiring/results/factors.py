"""Factor once, solve often: the LU decomposition of a matrix over a semiring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.algorithms import elimination
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import SemiringError
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.objects import in_python_integers
from semiring.machine.memory import require
from semiring.operands.csr import has_edges
from semiring.operands.operand import examine, operand
from semiring.solvers.cycles import check_cycles, may_diverge, undefined_star
from semiring.solvers.schedules import (
    LARGE,
    common_dtype,
    is_finite,
    lowering_for,
    plan_closure,
    refuse_overflow,
    reporting,
    stable_closure,
    without_library,
)

if TYPE_CHECKING:
    from .sparse_factors import SparseFactors


class Factors:
    """A matrix eliminated once, to solve X = A ⊗ X ⊕ B for many B, or to expand into A*; made by `factor`.

    Attributes
    ----------
    plan : Plan
    shape : tuple of int
    """

    def __init__(self, S: Semiring, A: Any, right: Any = None, progress: bool | Callable[[float], None] = False):
        given = operand(A, S)
        array = given.array
        if array.ndim != 2:
            raise SemiringError(f"A must be one square matrix, and has shape {array.shape}")
        planned, facts = plan_closure(S, array, "elimination", True, False, None)
        if S.is_tropical and array.dtype.kind in "iu":
            # The widest storage leaves right-hand sides the most room.
            room = Facts(max(facts.largest, 1 << 40), facts.low_limit, facts.high_limit)
            low = lowering_for(S, array, room, array.shape[0] + 1)
        else:
            low = lowering_for(S, array, facts, array.shape[0] + 1)
        self.plan = replace(planned, operation="factor", lowering=low, work=array.shape[0] ** 3 // 3)
        self.shape = array.shape
        if planned.memory > LARGE:
            require(planned.memory, f"factoring {array.shape[0]} × {array.shape[0]} {array.dtype}")
        self._S, self._names, self._wrap, self._facts = S, given.names, given.wrap, facts
        try:
            self._factors = self._eliminated(array, progress)
        except UndefinedStar as e:
            raise undefined_star(S, given.names, e.pivot) from None
        self._closed = None
        if may_diverge(low) and not check_cycles(low, self._factors, array, facts, given.names):
            # Rounding errors grew in the factors; then A* itself solves, by a product.
            self._closed = stable_closure(self.plan, array, None, facts, given.names)

    def _eliminated(self, array: Any, progress: bool | Callable[[float], None]) -> Any:
        """The factors in storage; on a GPU anew without its library, to which 0 · ∞ is NaN, where numbers overflow."""
        low = self.plan.lowering
        by_library = low.on_gpu and low.blas
        factors = low.encode(array, True)
        try:
            with reporting(progress, self.plan) as kernel:
                elimination.factor(factors, kernel, self.plan.tile)
            if not by_library or is_finite(factors):
                return factors
        except UndefinedStar:
            if not by_library:
                raise
        self.plan = replace(self.plan, lowering=without_library(low))
        factors = low.encode(array, True)
        elimination.factor(factors, build_kernel(self.plan.lowering), self.plan.tile)
        return factors

    def solve(self, B: Any) -> Any:
        """The least solution X = A* B of X = A ⊗ X ⊕ B.

        Parameters
        ----------
        B : array_like, shape (n,) or (n, m)
            Of A's dtype.

        Returns
        -------
        ndarray, of B's shape
        """
        S, low = self._S, self.plan.lowering
        right = operand(B, S, "B")
        b = right.array
        common_dtype(S, ("A", np.empty(0, low.dtype)), ("B", b))
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise SemiringError(f"B must have shape ({self.shape[0]},) or ({self.shape[0]}, m), and has {b.shape}")
        facts = examine(S, b.dtype, [("B", b)])
        factors = self._factors
        if S.is_tropical and low.storage.kind == "i" and self._overflows(facts):
            if low.kind != "numba":
                raise SemiringError("B is infinite, or so large that sums leave 64 bits: solve with device='cpu'")
            low, factors = in_python_integers(low, factors)
        X = low.encode(b if b.ndim == 2 else b[:, None], True)
        if self._closed is None:
            elimination.solve(factors, X, build_kernel(low), self.plan.tile)
        else:
            build_kernel(low).left(self._closed, X)
        result = low.decode(X)
        refuse_overflow(low, result)
        answer = result if b.ndim == 2 else result[:, 0]
        return right.wrap(answer) if isinstance(B, np.ndarray) else answer

    def _overflows(self, right: Facts) -> bool:
        """Whether sums with a right-hand side may leave the storage, which was chosen before it was known."""
        low = self.plan.lowering
        if low.dtype.kind == "i" and (right.low_limit if self._S.zero == np.inf else right.high_limit):
            return True
        return int(self._facts.largest) * self.shape[0] + int(right.largest) >= np.iinfo(low.storage).max // 4

    def closure(self) -> Any:
        """A*, from the factors; they stay."""
        low = self.plan.lowering
        if self._closed is not None:
            return self._wrap(low.decode(self._closed.copy()))
        work = self._factors.copy()
        elimination.expand(work, build_kernel(low), self.plan.tile)
        result = low.decode(work)
        refuse_overflow(low, result)
        return self._wrap(result)

    def __repr__(self) -> str:
        n = self.shape[0]
        return f"Factors of a {n} × {n} matrix over {self._S.name}, {self.plan.lowering.dtype}"


def factor(
    A: Any, S: Semiring | str, *, progress: bool | Callable[[float], None] = False
) -> Factors | SparseFactors:
    """Eliminate a square matrix once (LU decomposition), a third of the closure's work.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n)
    S : Semiring or str
    progress : bool or callable
        As in `closure`; for dense matrices.

    Returns
    -------
    Factors or SparseFactors
        With `.solve(B)` and `.closure()`; of a sparse matrix or graph also rows, streams of rows, and reductions, with
        nothing of n × n ever held.

    Raises
    ------
    NoClosureError
        When A* does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> F = sr.factor(np.array([[0.0, 0.5], [0.25, 0.0]]), sr.plus_times)
    >>> F.solve(np.array([7.0, 0.0]))
    array([8., 2.])
    """
    if has_edges(A):
        from .sparse_factors import sparse_factor

        return sparse_factor(A, S)
    return Factors(algebra(S), A, progress=progress)


def solve(A: Any, B: Any, S: Semiring | str, *, progress: bool | Callable[[float], None] = False) -> Any:
    """The least solution of X = A ⊗ X ⊕ B, which is A* B, without forming A*.

    Parameters
    ----------
    A : array_like, shape (n, n)
    B : array_like, shape (n,) or (n, m)
        Of A's dtype.
    S : Semiring or str
    progress : bool or callable
        As in `closure`.

    Returns
    -------
    ndarray, of B's shape

    Examples
    --------
    Distances to one vertex: B is one there and zero elsewhere.

    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    >>> sr.solve(A, np.array([np.inf, np.inf, 0.0]), sr.min_plus)
    array([7., 4., 0.])
    """
    if has_edges(A):
        from semiring.solvers.elimination import sparse_solve

        found = sparse_solve(A, B, algebra(S))
        if found is not None:
            return found
    return Factors(algebra(S), A, progress=progress).solve(B)
