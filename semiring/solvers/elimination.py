"""What the front door does with sparse matrices and graphs: components, or elimination on their structure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.algebra.by_name import closable
from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse.analysis import Analysis, analyse
from semiring.errors import NoClosureError
from semiring.kernels.lowering.boolean import is_boolean
from semiring.operands.csr import Csr, read
from semiring.operands.operand import Operand
from semiring.results.sparse_factors import SparseFactors, lowering_of

from . import costs
from .components import reachability_if_alone
from .costs import SparsePlan

METHOD = "sparse"  # the name under which elimination on the sparse structure can be asked for
SMALL = 100  # vertices below which the dense methods are used


def _considered(A: Any, S: Semiring, method: str) -> tuple[Csr, Analysis | None, SparsePlan | None] | None:
    """A matrix that was read, and the analysis and the plan if it is worth them; None if it was not read."""
    if method not in ("auto", METHOD):
        return None
    matrix = read(A, closable(S))
    facts = matrix.facts()
    if method == "auto" and (matrix.n < SMALL or (facts.two_valued and is_boolean(S, matrix.dtype))):
        return matrix, None, None  # too few, or reachability alone: components and bit sets are faster
    low = lowering_of(matrix, facts, room=False)
    if method == "auto" and costs.not_worth_a_look(low, matrix.indptr, matrix.indices):
        return matrix, None, None
    analysis = analyse(matrix.indptr, matrix.indices)
    return matrix, analysis, costs.plan("closure", S, low, analysis, matrix.nnz)


def sparse_plan(A: Any, S: Semiring, *, method: str = "auto") -> SparsePlan | None:
    """The plan for the closure of a sparse matrix or graph; None where its structure is not worth a look.

    Parameters
    ----------
    A : SciPy sparse matrix, Graph or NetworkX graph
    S : Semiring
    method : {"auto", "sparse"}
        With "sparse" elimination on the structure is not asked whether it pays.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> import semiring as sr
    >>> path = sp.diags_array([np.ones(999)], offsets=[1], shape=(1000, 1000), format="csr")
    >>> sparse_plan(path, sr.min_plus).method
    'sparse elimination'
    """
    found = _considered(A, S, method)
    return None if found is None else found[2]


def sparse_closure(
    A: Any, S: Semiring, *, method: str = "auto", reflexive: bool = True, check: bool = True,
    progress: bool | Callable[[float], None] = False,
) -> Any:
    """The closure of a sparse matrix or graph as a dense matrix.

    Where the dense methods are better it is an `Operand` for them if the matrix had to be read to see that, else None.

    Parameters
    ----------
    A, S, method
        See `sparse_plan`.
    reflexive, check, progress
        See `semiring.closure`.

    Raises
    ------
    NoClosureError
        When A* does not exist.
    SemiringError
        When A is not a square matrix over S, or the answer would not fit.
    """
    if method == "auto":
        if S.default_dtype.kind != "b" and not S.product_only and _is_small(A):
            return None
        reachable = reachability_if_alone(A, S, reflexive=reflexive)
        if reachable is not None:
            return reachable
    found = _considered(A, S, method)
    if found is None:
        return None
    matrix, analysis, planned = found
    if analysis is None or planned is None or (method == "auto" and planned.method == "dense"):
        return Operand(matrix.dense(), matrix.wrap, matrix.names)
    try:
        factors = SparseFactors(matrix, analysis, for_solving=False, check=check)
    except NoClosureError:
        # Where stars differ from 1, one may be undefined in one order of elimination only.
        if S.has_unit_stars or method == METHOD:
            raise
        return None
    return factors.closure(reflexive=reflexive, progress=progress)


def _is_small(A: Any) -> bool:
    """Whether there are too few vertices for any of this to pay, seen without reading the edges."""
    shape = getattr(A, "shape", None)
    return isinstance(shape, tuple) and len(shape) == 2 and shape[0] == shape[1] < SMALL


def sparse_solve(A: Any, B: Any, S: Semiring) -> np.ndarray | None:
    """X = A* B, the least solution of X = A ⊗ X ⊕ B; None where only another order of elimination may find it."""
    matrix = read(A, closable(S))
    try:
        factors = SparseFactors(matrix)
    except NoClosureError:
        if S.has_unit_stars:
            raise
        return None
    return factors.solve(B)
