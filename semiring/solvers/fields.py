"""Closures over the real and the complex field, A* = (1 − A)⁻¹: by LAPACK with exchange of rows, or checked and mended.

Elimination of the vertices in their order needs a star at every pivot, and where a pivot cancels what is left of it is
rounding. So what a schedule closed is believed where X = 1 ⊕ A X within rounding, entry by entry; other matrices are
closed anew with exchange of rows. Where 1 − A is singular, or rounding hides whether it is, there is no closure.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy import library
from semiring.machine.threads import interruptible
from semiring.operands.devices import to_host, upload
from semiring.operands.operand import Operand

from .cycles import Index, graph_of, singular

METHOD = "LAPACK"
AT_ONCE = 4096  # order of a matrix of doubles that LAPACK takes a second for: of larger ones interrupts are heard
WHOLE = 128  # order up to which all of 1 ⊕ A X is compared with X; of larger ones some combinations of columns
SAMPLES = 4  # of them
STRIP = 1 << 22  # elements of a stack that are looked at together


class Distrusted(Exception):
    """Factors made without exchange of rows are wrong, or could not be made."""


def is_for_lapack(low: Lowering) -> bool:
    """Whether closures are inverses, and in the host's memory."""
    return low.inverts and not low.on_gpu


def relative_cost(dtype: np.dtype) -> float:
    """What a multiply-add of real or complex numbers costs beside one of doubles."""
    return dtype.itemsize / 8 * (2 if dtype.kind == "c" else 1)


def caller(low: Lowering, n: int) -> Callable[[Callable[[], Any]], Any]:
    """What calls LAPACK for a matrix of this order: where that takes long, so that an interrupt is heard."""
    return interruptible if relative_cost(low.dtype) * n**3 > AT_ONCE**3 else _at_once


def _at_once(function: Callable[[], Any]) -> Any:
    return function()


def inverse(given: Operand, low: Lowering, index: Index | None = None) -> np.ndarray | None:
    """A* of a matrix, or of one of a stack, in storage on the host; None where numbers overflow.

    Raises
    ------
    NoClosureError
    """
    A = given.array if index is None else given.array[index]  # type: ignore[attr-defined]
    stored = to_host(low.encode(A, False)) if low.on_gpu else low.encode(A, False)
    try:
        X = caller(low, len(stored))(partial(library.closure, stored, precision(low)))
    except library.Singular as e:
        raise singular(given.S, graph_of(given, index), given.names, e.condition, given.dtype, index) from None
    return None if X is None else X.view(low.storage) if low.storage.names else X


def precision(low: Lowering) -> float:
    """What entries are known to: the machine epsilon of the dtype that they came in."""
    return float(np.finfo(low.dtype).eps)


def mended(given: Operand, low: Lowering, X: Any, sound: np.ndarray, exists: np.ndarray | None) -> Any:
    """A* by a schedule, where that is right, and by LAPACK where it is not.

    Parameters
    ----------
    given : Operand
        A, as it was.
    low : Lowering
    X : array
        What the schedule made of it, in storage; the answer, in place.
    sound : ndarray of bool
        Of every matrix of a stack whether the schedule came to its end.
    exists : ndarray of bool, optional
        Is told which matrices have no closure, instead of an error.

    Raises
    ------
    NoClosureError
    """
    for place in np.argwhere(~(sound & is_right(given.stored(low, False), X, precision(low)))).tolist():
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
            raise SemiringError(f"{given.S.name}: on the way numbers leave the range of {given.dtype}; convert the "
                                "data to a wider dtype, or scale them")
    return X


def is_right(A: Any, X: Any, eps: float) -> np.ndarray:
    """Of each matrix of a stack whether X = 1 ⊕ A X within rounding, and errors of entries of A leave X some digits.

    Examples
    --------
    >>> A = np.array([[0.5, 0.25], [0.0, 0.5]])
    >>> bool(is_right(A, np.array([[2.0, 1.0], [0.0, 2.0]]), 2.0**-52))
    True
    >>> bool(is_right(A, np.array([[2.0, 1.01], [0.0, 2.0]]), 2.0**-52))
    False
    """
    n, shape = X.shape[-1], X.shape[:-2]
    a, x = (library.numbers(Y).reshape(-1, n, n) for Y in (A, X))
    step = max(STRIP // max(n * n, 1), 1)
    parts = [_is_right(a[i : i + step], x[i : i + step], eps) for i in range(0, prod(shape), step)]
    return np.concatenate([to_host(part) for part in parts]).reshape(shape)


def _is_right(A: Any, X: Any, eps: float) -> Any:
    """`is_right` for a stack, of NumPy's or CuPy's arrays."""
    n, rounding = X.shape[-1], float(np.finfo(X.dtype).eps)
    with np.errstate(all="ignore"):
        a, x = abs(A), abs(X)
        if n <= WHOLE:
            left = X - A @ X
            left[..., range(n), range(n)] -= 1
            size = x
        else:
            random = np.random.default_rng(n)
            V = random.choice([-1.0, 1.0], (n, SAMPLES)) * random.uniform(0.5, 1.0, (n, SAMPLES))
            V = V.astype(x.dtype) if isinstance(X, np.ndarray) else upload(V.astype(x.dtype))
            Y = X @ V
            left = Y - A @ Y - V
            size = x @ abs(V)
        explained = (n + 8) * rounding * (a @ size + size)
        total = x.sum(-1, keepdims=True)
        amplified = ((x / total) @ (a @ total + total)).max((-1, -2))
        return (abs(left) <= explained).all((-1, -2)) & (library.doubt(amplified, n, X.dtype, eps) < 1)


def is_trusted(rows: Rows, low: Lowering, apply: Callable[[np.ndarray], Any]) -> bool:
    """Whether factors of a sparse matrix solve what is known within rounding, and errors of entries leave some digits.

    Parameters
    ----------
    rows : Rows
        A, in storage.
    low : Lowering
    apply : callable
        X ← A* X in storage, by the factors.
    """
    from scipy.sparse import csr_array

    n = len(rows.offsets) - 1
    if not n:
        return True
    values = library.numbers(rows.values)
    A, rounding = csr_array((values, rows.columns, rows.offsets), shape=(n, n)), float(np.finfo(values.dtype).eps)
    random = np.random.default_rng(n)

    def solved(V: np.ndarray) -> np.ndarray:
        X = np.ascontiguousarray(V.astype(values.dtype))
        apply(X.view(low.storage) if low.storage.names else X)
        return X

    with np.errstate(all="ignore"):
        V = random.uniform(0.5, 1.0, (n, SAMPLES))
        V[:, 1:] *= random.choice([-1.0, 1.0], (n, SAMPLES - 1))
        Y = solved(V)
        if not library.are_finite(Y):
            return True  # numbers overflow, which is for others to say
        size = abs(A) @ abs(Y) + abs(Y)
        left = Y - A @ Y - V
        if not (abs(left) <= (n + 8) * rounding * (size + abs(V))).all():
            return False
        # Errors of entries of either sign, as they come out.
        spread = solved(size * random.choice([-1.0, 1.0], size.shape))
        amplified = (abs(spread).max(0) / abs(Y).max(0)).max()
        return bool(library.doubt(amplified, n, values.dtype, precision(low)) < 1)
