"""Close real and complex matrices, A* = (1 − A)⁻¹: by LAPACK with exchange of rows, or by a schedule that is checked.

Elimination of the vertices in their order needs a star at every pivot, and a pivot that cancels is only rounding. So
the closure of a schedule is accepted if X = 1 ⊕ A X within rounding, entry by entry; other matrices are closed again
with exchange of rows. If 1 − A is singular, or rounding hides whether it is, there is no closure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log as natural
from math import prod
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.choose import choose
from semiring.kernels.cpu.dense.residuals import residuals_fit
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy import library
from semiring.machine.interrupts import interruptible
from semiring.operands.dense import Dense
from semiring.operands.devices import to_host, upload
from semiring.operands.operand import Operand

from ..refusals import Index, singular

METHOD = "LAPACK"
SECOND_ORDER = 4096  # of a matrix of doubles that takes LAPACK a second: larger calls can be interrupted
CHECKED_ORDER = 128  # up to which all of 1 ⊕ A X is compared with X; above it some combinations of columns
COMBINATIONS = 4  # of columns
STRIP_ELEMENTS = 1 << 22  # elements of a stack that are checked together


class Distrusted(Exception):
    """Factors made without exchange of rows are wrong, or could not be made."""


def is_for_lapack(low: Lowering) -> bool:
    """Return whether closures are inverses, of numbers or of dual numbers, on the host."""
    return (low.inverts or low.dual) and not low.on_gpu


def host_form(S: Semiring, dtype: np.dtype) -> Lowering:
    """Return the host's form for any data."""
    return choose(S, dtype, Facts(), 1, in_place=False, packed=False)


def numbers(low: Lowering, X: Any) -> Any:
    """Return the real or complex numbers in storage; the first parts of dual numbers."""
    return X[X.dtype.names[0]] if low.dual else library.numbers(X)


def relative_cost(dtype: np.dtype) -> float:
    """Return the cost of a multiply-add relative to one of doubles."""
    return dtype.itemsize / 8 * (2 if dtype.kind == "c" else 1)


def caller(low: Lowering, n: int) -> Callable[[Callable[[], Any]], Any]:
    """Return the function that calls LAPACK for a matrix of this order; a long call can be interrupted."""
    return interruptible if relative_cost(low.dtype) * n**3 > SECOND_ORDER**3 else _at_once


def _at_once(function: Callable[[], Any]) -> Any:
    return function()


class Eliminated(NamedTuple):
    """1 − A decomposed by LAPACK; of dual numbers P + R ε the decomposition of 1 − P, and R."""

    decomposition: library.Decomposition
    beside: tuple[np.ndarray, ...] = ()

    def solve(self, X: np.ndarray, turned: bool = False) -> bool:
        """Compute X ← A* X in storage, or the same with Aᵀ; False, and X is unchanged, if numbers overflow.

        Raises
        ------
        library.Singular
        """
        if not self.beside:
            return self.decomposition.solve(library.numbers(X), turned)
        names = X.dtype.names or ()
        first, *others = (np.array(X[name]) for name in names)
        if not self.decomposition.solve(first, turned):
            return False
        for other, R in zip(others, self.beside, strict=True):
            other += (R.T if turned else R) @ first
            if not self.decomposition.solve(other, turned):
                return False
        for name, part in zip(names, (first, *others), strict=True):
            X[name] = part
        return True

    def closure(self, low: Lowering) -> np.ndarray | None:
        """Return A* in storage, or None if numbers overflow.

        Raises
        ------
        library.Singular
        """
        X = self.decomposition.closure(precision(low))
        if X is None or not low.storage.names:
            return X
        if not self.beside:
            return np.ascontiguousarray(X).view(low.storage)
        out = np.empty(X.shape, low.storage)
        for name, part in zip(low.storage.names, (X, *(X @ R @ X for R in self.beside)), strict=True):
            if not library.are_finite(part):
                return None
            out[name] = part
        return out


def eliminated(given: Operand, low: Lowering, index: Index | None = None, alone: bool = True) -> Eliminated | None:
    """Decompose a matrix, or one of a stack, on the host; None if numbers overflow.

    Parameters
    ----------
    given : Operand
    low : Lowering
    index : tuple of int, optional
        Which matrix of a stack.
    alone : bool
        Whether to refuse a singular matrix.

    Raises
    ------
    NoClosureError
    """
    A = given.array if index is None else given.array[index]  # type: ignore[attr-defined]
    stored = to_host(low.encode(A, False))
    names = (stored.dtype.names or ()) if low.dual else ()

    def decomposed() -> library.Decomposition | None:
        found = library.decomposed(np.ascontiguousarray(stored[names[0]]) if names else stored)
        if found is not None and alone:
            found.refuse_singular(precision(low))
        return found

    try:
        found = caller(low, len(stored))(decomposed)
    except library.Singular as e:
        raise refusal(given, low, e, index) from None
    return None if found is None else Eliminated(found, tuple(np.array(stored[name]) for name in names[1:]))


def refusal(given: Operand, low: Lowering, error: library.Singular, index: Index | None = None) -> NoClosureError:
    """Return the error of a singular matrix, with the names of its vertices."""
    return singular(given.S, given.graph(index), given.names, error.condition, first_dtype(low), index)


def inverse(given: Operand, low: Lowering, index: Index | None = None) -> np.ndarray | None:
    """Return A* of a matrix, or of one of a stack, in storage on the host; None if numbers overflow.

    Raises
    ------
    NoClosureError
    """
    found = eliminated(given, low, index, alone=False)
    try:
        return None if found is None else caller(low, given.shape[-1])(partial(found.closure, low))
    except library.Singular as e:
        raise refusal(given, low, e, index) from None


def first_dtype(low: Lowering) -> np.dtype:
    """Return the dtype of the entries; of dual numbers that of the first part."""
    return low.dtype[0] if low.dtype.names else low.dtype


def precision(low: Lowering) -> float:
    """Return the relative error of entries: the machine epsilon of the dtype in which they were passed."""
    return float(np.finfo(first_dtype(low)).eps)


def mended(given: Operand, low: Lowering, X: Any, sound: np.ndarray, exists: np.ndarray | None) -> Any:
    """Return A* by a schedule if that is right, and by LAPACK otherwise.

    Parameters
    ----------
    given : Operand
        A, unchanged.
    low : Lowering
    X : array
        The result of the schedule, in storage; becomes the answer.
    sound : ndarray of bool
        Whether the schedule finished, for each matrix of a stack.
    exists : ndarray of bool, optional
        Receives False for each matrix without a closure; otherwise that is an error.

    Raises
    ------
    NoClosureError
    """
    A, n = given.stored(low, False), given.shape[-1]
    if low.on_gpu or n <= CHECKED_ORDER:
        right = is_right(numbers(low, A), numbers(low, X), precision(low))
    else:  # which needs little more memory
        pairs = [(A[place], X[place]) for place in np.ndindex(sound.shape)]
        right = np.array([holds(n, low, a.__getitem__, x.__getitem__) for a, x in pairs], bool).reshape(sound.shape)
    for place in np.argwhere(~(sound & right)).tolist():
        index = tuple(place) or None
        try:
            found = inverse(given, low, index)
        except NoClosureError:
            if exists is None:
                raise
            exists[tuple(place)] = False
            continue
        if found is not None:
            X[tuple(place)] = upload(found) if low.on_gpu else found
        elif not sound[tuple(place)]:
            raise SemiringError(f"{given.S.name}: numbers leave the range of {given.dtype} in the computation; convert "
                                "the data to a wider dtype, or scale them")
    return X


def is_right(A: Any, X: Any, eps: float) -> np.ndarray:
    """Return for each matrix whether X = 1 ⊕ A X within rounding, and errors of entries of A leave X some digits.

    Examples
    --------
    >>> A = np.array([[0.5, 0.25], [0.0, 0.5]])
    >>> bool(is_right(A, np.array([[2.0, 1.0], [0.0, 2.0]]), 2.0**-52))
    True
    >>> bool(is_right(A, np.array([[2.0, 1.01], [0.0, 2.0]]), 2.0**-52))
    False
    """
    n, shape = X.shape[-1], X.shape[:-2]
    if not X.size:  # no matrix, or none with an entry
        return np.ones(shape, bool)
    a, x = (Y.reshape(-1, n, n) for Y in (A, X))
    step = max(STRIP_ELEMENTS // (n * n), 1)
    parts = [_is_right(a[i : i + step], x[i : i + step], eps) for i in range(0, prod(shape), step)]
    return np.concatenate([to_host(part) for part in parts]).reshape(shape)


def _is_right(A: Any, X: Any, eps: float) -> Any:
    """`is_right` for a stack, of NumPy's or CuPy's arrays."""
    n, rounding = X.shape[-1], float(np.finfo(X.dtype).eps)
    if isinstance(X, np.ndarray) and (right := residuals_fit(A, X, eps)) is not None:
        return right
    with np.errstate(all="ignore"):
        a, x = abs(A), abs(X)
        if n <= CHECKED_ORDER:
            left = X - A @ X
            left[..., range(n), range(n)] -= 1
            size = x
        else:
            V = _combinations(n)
            V = V.astype(x.dtype) if isinstance(X, np.ndarray) else upload(V.astype(x.dtype))
            Y = X @ V
            left = Y - A @ Y - V
            size = x @ abs(V)
        explained = (n + 8) * rounding * (a @ size + size)
        total, own = (x * library.room(n)).sum(-1, keepdims=True), a.diagonal(0, -2, -1)
        change = (abs(1 - A.diagonal(0, -2, -1)) - own)[..., None]  # from |a| to |1 − a|
        amplified = ((x / total) @ (a @ total + change * total)).max((-1, -2))
        return (abs(left) <= explained).all((-1, -2)) & (library.doubt(amplified, n, X.dtype, eps) < 1)


def holds(n: int, low: Lowering, A: Callable[[slice], np.ndarray], X: Callable[[slice], np.ndarray]) -> bool:
    """Return `is_right` of matrices that are read some rows at a time, in storage on the host."""
    spans = [slice(i, min(i + max(STRIP_ELEMENTS // n, 1), n)) for i in range(0, n, max(STRIP_ELEMENTS // n, 1))]

    def gathered(rows: Callable[[slice], np.ndarray], part: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        return np.concatenate([part(numbers(low, rows(span))) for span in spans])

    V = _combinations(n)
    with np.errstate(all="ignore"):
        Y = gathered(X, lambda x: x @ V)
        size = gathered(X, lambda x: abs(x) @ abs(V))
        total = gathered(X, lambda x: (abs(x) * library.room(n)).sum(1))
        left = abs(Y - gathered(A, lambda a: a @ Y) - V)
        explained = (n + 8) * float(np.finfo(numbers(low, A(spans[0])).dtype).eps) * (
            gathered(A, lambda a: abs(a) @ size) + size)
        if not (left <= explained).all():
            return False
        spread = np.concatenate([
            abs(np.eye(n)[span] - numbers(low, A(span))) @ total for span in spans])
        amplified = max(float(((abs(numbers(low, X(span))) / total[span, None]) @ spread).max()) for span in spans)
    return bool(library.doubt(amplified, n, numbers(low, A(spans[0])).dtype, precision(low)) < 1)


def _combinations(n: int) -> np.ndarray:
    """A few vectors that an error in a column changes almost surely; the first is positive, so that nothing cancels."""
    random = np.random.default_rng(n)
    found: np.ndarray = random.choice([-1.0, 1.0], (n, COMBINATIONS)) * random.uniform(0.5, 1.0, (n, COMBINATIONS))
    found[:, 0] = abs(found[:, 0])
    return found


def corrected(given: Dense, answer: Any, sound: bool = True) -> Any:
    """Check a closure that other machines or devices computed: correct it over a field, and write ∞ over log.

    Parameters
    ----------
    given : Dense
        A.
    answer : array
        A*, of A's dtype: NumPy's or CuPy's.
    sound : bool
        Whether its schedule finished.

    Raises
    ------
    NoClosureError
    """
    S = given.S
    if S.traced is None or given.dtype.kind not in "fcV":
        return answer
    low = host_form(S, given.dtype)
    if not (is_for_lapack(low) or low.log_sum):
        return answer
    A = Dense(to_host(given.array), S, given.what, names=given.names)
    X = low.encode(to_host(answer), False)
    X = endless(low, X) if low.log_sum else mended(A, low, X, np.array(sound), None)
    found = low.decode(X)
    return found if isinstance(answer, np.ndarray) else upload(found)


def is_trusted(given: Any, low: Lowering, apply: Callable[[Any], Any], residual: float = 0.0) -> bool:
    """Return whether factors solve known equations within rounding, and errors of entries of A leave some digits.

    Parameters
    ----------
    given : Rows, or array on a GPU, shape (n, n)
        A, in storage.
    low : Lowering
    apply : callable
        X ← A* X in storage, by the factors.
    residual : float
        The residual that `apply` leaves by itself, relative to the terms of an entry.
    """
    n = given.shape[0]
    if not n:
        return True
    if isinstance(given, Rows):
        from scipy.sparse import csr_array

        A: Any = csr_array((numbers(low, given.values), given.columns, given.offsets), shape=(n, n))
    else:
        A = numbers(low, given)
    rounding, scale = float(np.finfo(A.dtype).eps), library.room(n)

    def solved(V: Any) -> Any:
        X = np.zeros_like(low.empty(V.shape))
        numbers(low, X)[...] = V
        apply(X)
        return numbers(low, X).copy()

    with np.errstate(all="ignore"):
        V = _combinations(n)
        V = upload(V.astype(A.dtype)) if low.on_gpu else V
        Y = solved(V)
        if not low.on_gpu and not library.are_finite(Y):
            return True  # numbers overflow, which others refuse
        size, passed = abs(Y), abs(A) @ abs(Y)
        if not (abs(Y - A @ Y - V) <= ((n + 8) * rounding + residual) * (size + passed + abs(V))).all():
            return False
        # Relative errors of the entries of 1 − A, of either sign, as they appear in the answer.
        own = A.diagonal()[:, None]
        change = (abs(1 - own) - abs(own)) * (size * scale)  # from |A| to |1 − A|
        spread = solved((passed * scale + change) * (V / abs(V)))
        amplified = float((abs(spread).max(0) / (size * scale).max(0)).max())
    return bool(library.doubt(amplified, n, A.dtype, precision(low)) + amplified * residual < 1)


def endless(low: Lowering, X: Any) -> Any:
    """Write ∞ to X = A* over a log-sum-exp wherever rounding hides that walks have no sum; in place.

    Nothing cancels there. The probability to return to a vertex k is 1 minus the loss on all walks round k. If that
    loss is only rounding, so is the inverse of (X²)_kk / x_kk, the expected number of vertices on a walk round k.

    Parameters
    ----------
    low : Lowering
        The lowering of a log-sum-exp.
    X : array, shape (…, n, n)
        In storage, NumPy's or CuPy's.
    """
    n = X.shape[-1]
    if not X.size or low.log_sum is None or not may_be_endless(low, X.diagonal(0, -2, -1)):
        return X
    limit, scale = _believed(low, n)
    own = X.diagonal(0, -2, -1) * scale
    top, nothing = low.storage.type(np.inf * scale), low.storage.type(-np.inf * scale)
    for place in np.ndindex(X.shape[:-2]):
        x = X[place] * scale
        with np.errstate(all="ignore"):
            powers = abs(np.exp(x + x.T - own[place][:, None])).sum(1)  # X² by X, on the diagonal
        never = np.flatnonzero(to_host((powers > limit) & (own[place] < np.inf)))
        if never.size:
            there = X[place] != nothing
            through = there[:, never].astype(np.float32) @ there[never].astype(np.float32)
            X[place][through > 0] = top
    return X


def may_be_endless(low: Lowering, diagonal: Any) -> bool:
    """Return whether `endless` may write ∞, by the diagonals of A*: a vertex has 1/n of the limit."""
    limit, scale = _believed(low, diagonal.shape[-1])
    own = diagonal * scale
    return bool(((own > natural(limit / diagonal.shape[-1])) & (own < np.inf)).any())


def _believed(low: Lowering, n: int) -> tuple[float, float]:
    """The number of vertices of a walk that is accepted, and the factor from elements to natural logarithms."""
    form = low.log_sum
    assert form is not None
    scale = (natural(2) if form.binary else 1.0) * (-1.0 if form.negated else 1.0)
    return 1 / float(library.doubt(1.0, n, low.storage, precision(low))), scale


def is_endless(low: Lowering, n: int, apply: Callable[[Any], Any]) -> bool:
    """Return whether `endless` would write ∞ to the closure by factors, X ← A* X in storage.

    Parameters
    ----------
    low : Lowering
        The lowering of a log-sum-exp.
    n : int
    apply : callable
    """
    if low.log_sum is None or not n:
        return False
    limit, scale = _believed(low, n)
    once: Any = np.zeros((n, 1), low.storage)
    if low.on_gpu:
        once = upload(once)
    apply(once)
    twice = once.copy()
    apply(twice)
    with np.errstate(all="ignore"):
        return bool(((twice - once) * scale > natural(limit)).any())
