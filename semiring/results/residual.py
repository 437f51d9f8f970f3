"""Residuals of the tropical algebras: the greatest X for which a product stays within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.algebra.arguments import truth_value
from semiring.algebra.by_name import algebra
from semiring.algebra.catalogue import max_plus, min_plus
from semiring.algebra.semiring import Semiring
from semiring.errors import LawError, SemiringError
from semiring.graphs.matrix import Matrix
from semiring.operands.align import same_dtype
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.devices import to_host
from semiring.operands.operand import Operand
from semiring.operands.read import operand
from semiring.solvers.task import Task, compute, options, own_algebra


def residual(
    A: Any, B: Any, S: Semiring | str | None = None, *, left: bool = False, device: str | None = None
) -> Any:
    """Return the greatest X with A ⊗ X ≤ B, or X ⊗ A ≤ B, where a ≤ b means a ⊕ b = b.

    In max-plus X has the largest numbers for which no event of A ⊗ X is later than B allows: the latest starts of jobs
    with deadlines. In min-plus a ≤ b means that the number a is not below b, and X has the smallest numbers.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (…, m, k); with `left` (…, k, n)
    B : array_like, sparse matrix or graph, shape (m,) or (…, m, n)
        Of A's dtype. At "no walk" only "no walk" is within the bound.
    S : Semiring or str, optional
        A tropical algebra: min or max, and +. Default: the algebra of a `Matrix` or of a prepared operand.
    left : bool
        Put X on the left of A: the greatest X with X ⊗ A ≤ B.
    device : {None, "cpu", "gpu"}
        As in `matmul`.

    Returns
    -------
    ndarray or Matrix, shape (k,) or (…, k, n); with `left` (…, m, k)
        An entry without a bound is the infinity other than "no walk": ∞ in max-plus.

    Raises
    ------
    LawError
        If S is not a tropical algebra.
    SemiringError
        If shapes or dtypes do not fit, an entry is not an element, an entry of X would not be one, or the dtype has no
        negative numbers.

    Notes
    -----
    The entries are X_kj = min_i (B_ij − A_ik) in max-plus: a product with −Aᵀ over min-plus. In integers A ⊗ X ≤ B
    holds exactly, in floats up to the rounding of each difference, ε / 2 of its size. R. A. Cuninghame-Green, Minimax
    algebra (1979); F. Baccelli, G. Cohen, G. J. Olsder, J.-P. Quadrat, Synchronization and linearity, section 4.4
    (1992).

    Examples
    --------
    Two jobs need 3 and 5 hours before the first deadline; the second one needs 2 before the other:

    >>> import numpy as np
    >>> import semiring as sr
    >>> hours = np.array([[3.0, 5.0], [-np.inf, 2.0]])
    >>> start = sr.residual(hours, np.array([10.0, 6.0]), sr.max_plus)
    >>> start, sr.matmul(hours, start, sr.max_plus)
    (array([7., 4.]), array([10.,  6.]))
    """
    S = own_algebra("residual", (A, B)) if S is None else algebra(S)
    if not S.is_tropical:
        raise LawError(f"residuals need a tropical algebra, min or max and +; {S.name} is {S.notation}")
    dual = max_plus if S.zero == np.inf else min_plus
    came = [operand(x, S, what) for x, what in ((A, "A"), (B, "B"))]
    a, b = map(as_dense, came)
    for given in (a, b):
        _ = given.facts  # refuses anything that is not an element
    same_dtype(a, b)
    if len(a.shape) < 2:
        raise SemiringError(f"A must be a matrix, and has shape {a.shape}")
    left = truth_value(left, "left")
    _refuse_shapes(a.shape, b.shape, left)
    negated = _over(dual, came[0], a, np.swapaxes(_negative(a), -1, -2))
    bound = _over(dual, came[1], b, b.array)
    pair = (bound, negated) if left else (negated, bound)
    found = compute(Task("matmul", dual, pair, options(device=device), (None,)))
    inside = S.over(a.dtype).contains(to_host(found.array if isinstance(found, Matrix) else found))
    if not inside.all():
        place = np.argwhere(~inside)[0].tolist()
        raise SemiringError(f"the greatest X has an entry at {place} that is outside the carrier of {S.name}, "
                            f"{S.notation}: use {'max_plus' if dual is min_plus else 'min_plus'}, over all numbers")
    return found


def _refuse_shapes(a: tuple[int, ...], b: tuple[int, ...], left: bool) -> None:
    """Refuse a B that does not have A's height (with `left` its width); the product with −Aᵀ would not say so."""
    axis, what = (-1, "columns") if left else (-2, "rows")
    if not b:
        raise SemiringError(f"B must be a vector or a matrix with as many {what} as A, and is a single number")
    other = b[-1] if len(b) == 1 else b[axis]
    if a[axis] != other:
        raise SemiringError(f"A of shape {a} and B of shape {b} do not fit: A has {a[axis]} {what}, B has {other} "
                            f"{'entries' if len(b) == 1 else what}")


def _over(S: Semiring, came: Operand, given: Dense, array: Any) -> Operand:
    """Replace an operand's elements, over another algebra; vertices and the kind of answers stay."""
    made = type(given)(array, S, given.what, given.wrap, came.names, came.of_graph)
    made.labels = came.labels
    return made


def _negative(given: Dense) -> Any:
    """−A, with the infinities exchanged."""
    array, dtype = given.array, given.dtype
    if dtype.kind == "f":
        return -array
    if dtype.kind != "i":
        raise SemiringError(f"residuals need numbers below zero, which {dtype} does not have; convert A and B to a "
                            "signed dtype")
    limits = np.iinfo(dtype)
    if bool((array == -limits.max).any()):
        place = np.argwhere(to_host(array) == -limits.max)[0].tolist()
        raise SemiringError(f"A{place} is {-limits.max}, whose negative stands for infinity in {dtype}; convert A and "
                            "B to a wider dtype")
    highest = array == limits.max
    result = -array  # the lowest number of a dtype is its own negative
    result[array == limits.min] = limits.max
    result[highest] = limits.min
    return result
