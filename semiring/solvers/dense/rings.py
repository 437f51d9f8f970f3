"""Check closures over algebras in which sums cancel but that are not known to be fields: X must solve X = V ⊕ A X.

If the star takes differences or quotients, a pivot may be nothing but rounding, or have no star although the pivots of
another order do. So answers are checked. If one is wrong, the vertices are eliminated in a few other orders, and if
none of these is right the closure is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.elements import EXACT, kinds_of
from semiring.algebra.expression import postorder
from semiring.algebra.proofs import is_field
from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import NoClosureError
from semiring.kernels.lowering.base import Lowering
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand

from ..options import DEFAULTS
from ..refusals import Index, star_undefined
from ..task import Task, compute

CHECKED_ORDER = 64  # up to which all of 1 ⊕ A X is compared with X; of larger matrices some columns
CHECKED_COLUMNS = 4  # of larger matrices
HALF_DIGITS = 2.0**-26  # relative error of a float that is known to half of its digits
ORDERS = 4  # other orders of the vertices that are tried
# Operations of a star that only compares elements.
COMPARING = frozenset(
    "input constant where equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not "
    "isfinite isnan isinf".split()
)


@lru_cache(1024)
def cancels(low: Lowering) -> bool:
    """Return whether sums may cancel and stars are computed, and the algebra is not known to be a field."""
    S, ops = low.algebra, low.algebra.traced
    if ops is None or S.idempotent or S.has_unit_stars:
        return False
    if low.kind == "objects":
        return is_field(ops)
    if low.kind != "numba":
        return False
    if low.inverts or low.dual or low.log_sum or low.on_gpu:
        return False
    return any(e.op not in COMPARING for e in postorder(ops.star.outputs))


def solves(S: Semiring, A: Any, X: np.ndarray, V: np.ndarray) -> bool:
    """Return whether X = V ⊕ A X: integers exactly, floats to half of the digits of the largest in a column.

    Parameters
    ----------
    S : Semiring
    A : Operand
        On the host.
    X, V : ndarray, shape (n, m)
        Of A's dtype.

    Examples
    --------
    >>> import semiring as sr
    >>> S = sr.mod_p(7)
    >>> A = Dense(np.array([[2]]), S)
    >>> solves(S, A, np.array([[6]]), np.array([[1]])), solves(S, A, np.array([[5]]), np.array([[1]]))
    (True, False)
    """
    T = S.over(X.dtype)
    with np.errstate(all="ignore"):
        if not np.all(T.contains(X)):  # a quotient by 0
            return False
        product = compute(Task("matmul", S, (A, Dense(X, S)), DEFAULTS, (None,)))
        found = T.add(V, np.asarray(product).reshape(X.shape))
        names = X.dtype.names
        return all(_close(X[name], found[name]) for name in names) if names else _close(X, np.asarray(found))


def is_exact(*arrays: np.ndarray) -> bool:
    """Return whether there are only integers and fractions of Python: then nothing was rounded on the way.

    Examples
    --------
    >>> from fractions import Fraction
    >>> exact, rounded = np.array([Fraction(1, 3), 2], object), np.array([Fraction(1, 3), 0.5], object)
    >>> is_exact(exact), is_exact(exact, rounded)
    (True, False)
    """
    return all(x.dtype.kind == "O" and kinds_of(x) <= EXACT for x in arrays)


def _close(x: np.ndarray, y: np.ndarray) -> bool:
    if x.dtype.kind == "O":  # Python's own: fractions are exact
        pairs = zip(x.flat, y.flat, strict=True)
        return all(p == q or abs(p - q) <= HALF_DIGITS * max(abs(p), abs(q)) for p, q in pairs)
    if x.dtype.kind not in "fc":
        return bool((x == y).all())
    size = np.maximum(abs(x), abs(y))
    scale = np.where(np.isfinite(size), size, 0).max(0, initial=0)
    return bool(((x == y) | (abs(x - y) <= np.sqrt(np.finfo(x.dtype).eps) * scale)).all())


def solves_columns(given: Dense, low: Lowering, factors: np.ndarray, apply: Callable[[np.ndarray], Any]) -> bool:
    """Return whether factors, which make A* X of X in storage, are right for columns of A; for all if they are few."""
    if is_exact(given.array, factors):
        return True
    V = given.array if given.shape[-1] <= CHECKED_ORDER else given.array[:, :CHECKED_COLUMNS]
    X = low.encode(V, True)
    apply(X)
    return solves(given.S, given, np.asarray(low.decode(X)), V)


def is_right(given: Dense, X: np.ndarray) -> bool:
    """Return whether X is A*: all of it solves, or some columns of a large matrix."""
    S, n = given.S, len(X)
    if is_exact(given.array, X):
        return True
    if n <= CHECKED_ORDER:
        return solves(S, given, X, S.eye(n, X.dtype))
    if not np.all(S.over(X.dtype).contains(X)):
        return False
    V = np.ascontiguousarray(given.array[:, np.linspace(0, n - 1, CHECKED_COLUMNS).astype(int)])
    Y = compute(Task("matmul", S, (Dense(X, S), Dense(V, S)), DEFAULTS, (None,)))
    return solves(S, given, np.asarray(Y), V)


Close = Callable[[Operand], np.ndarray]  # A* by eliminating the vertices in their order


def mended(
    given: Operand, low: Lowering, X: np.ndarray, sound: np.ndarray, exists: np.ndarray | None, close: Close
) -> np.ndarray:
    """Return A* in storage: as the schedule made it if that is right, or by another order of the vertices.

    The parameters are those of `semiring.solvers.dense.fields.mended`, and a function that closes a matrix.

    Raises
    ------
    NoClosureError
    """
    for place in np.ndindex(given.shape[:-2]):
        one = _matrix(given, place)
        if sound[place] and is_right(one, low.decode(X[place].copy())):
            continue
        found = _in_other_orders(one, close)
        if found is not None:
            X[place] = low.encode(found, True)
        elif exists is not None:
            exists[place] = False
        elif not sound[place]:
            raise _undefined(given, place or None, close)
        else:
            raise wrong(given, place or None, low.decode(X[place].copy()))
    return X


def _matrix(given: Operand, place: Index) -> Dense:
    assert isinstance(given, Dense)
    return Dense(given.array[place], given.S, given.what, names=given.names)


def _in_other_orders(given: Dense, close: Close) -> np.ndarray | None:
    """A* by eliminating the vertices in other orders; None if none is right."""
    n = given.shape[-1]
    random = np.random.default_rng(n)
    for order in (np.arange(n)[::-1], *(random.permutation(n) for _ in range(ORDERS - 1))):
        turned = Dense(np.ascontiguousarray(given.array[np.ix_(order, order)]), given.S, given.what)
        try:
            X = close(turned)
        except UndefinedStar:
            continue
        if is_right(turned, X):
            back = np.argsort(order)
            return X[np.ix_(back, back)]
    return _by_gauss(given.array) if given.dtype.kind == "O" else None


def _by_gauss(A: np.ndarray) -> np.ndarray | None:
    """(1 − A)⁻¹ of Python's numbers, with exchange of rows; None if there is none."""
    n = len(A)
    M = np.concatenate([np.eye(n, dtype=int).astype(object) - A, np.eye(n, dtype=int).astype(object)], axis=1)
    for k in range(n):
        best = k + max(range(n - k), key=lambda i: abs(M[k + i, k]))
        if M[best, k] == 0:
            return None
        M[[k, best]] = M[[best, k]]
        M[k] = M[k] / M[k, k]
        for i in range(n):
            if i != k:
                M[i] = M[i] - M[i, k] * M[k]
    return M[:, n:]


def _undefined(given: Operand, index: Index | None, close: Close) -> NoClosureError:
    """The error of a pivot without a star, in the order of the vertices."""
    try:
        close(_matrix(given, index or ()))
    except UndefinedStar as e:
        matrix = None if index is None else int(np.ravel_multi_index(index, given.shape[:-2]))
        return star_undefined(given, UndefinedStar(e.pivot, matrix), gone=False)
    return wrong(given, index)


def wrong(given: Operand, index: Index | None = None, X: np.ndarray | None = None) -> NoClosureError:
    """Return the error of a matrix for which no order is right; X is what the first one gave."""
    which = "" if index is None else f" of matrix {index} of the stack"
    may = ["There may be no closure", f"the rounding of {given.dtype} hides it"]
    parts = [] if X is None else [X[f] for f in X.dtype.names] if X.dtype.names else [X]
    for part in parts:
        lost = np.argwhere(~np.isfinite(part)) if part.dtype.kind in "fc" else np.empty((0, 2), int)
        if lost.size:
            at = ", ".join(map(str, (*(index or ()), *lost[0].tolist()[:2])))
            may.append(f"numbers leave the range of {part.dtype} (the result has no value at [{at}])")
    return NoClosureError(
        f"the closure over {given.S.name}{which} is not known: sums cancel, and X as elimination finds it does not "
        f"solve X = 1 ⊕ A X, in {ORDERS + 1} orders of the vertices. {', or '.join(may)}. sr.plus_times exchanges "
        "rows: use it if your algebra can be expressed by it", index=index,
    )
