"""Read a sequence of elements, as `check_laws` and the tables take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semiring.algebra.elements import sequence, show
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError

from .dense import read_array
from .examine import examine


def read_elements(given: Any, S: Semiring, what: str, dtype: Any = None) -> np.ndarray:
    """Read elements of an algebra as an array.

    Parameters
    ----------
    given : sequence or array of elements, shape (count,)
    S : Semiring
    what : str
        Their name in messages.
    dtype : dtype or what `numpy.dtype` takes, optional
        The dtype that is wanted. Default: the algebra's own, or that of an array.

    Returns
    -------
    ndarray, shape (count,)

    Raises
    ------
    SemiringError
        If this is not a sequence, an element is not valid or does not fit the dtype, or the algebra cannot live in
        the dtype.

    Examples
    --------
    >>> import semiring as sr
    >>> read_elements([0, float("inf")], sr.min_plus, "samples", "i2").tolist()
    [0, 32767]
    """
    if dtype is not None and not S.is_object:
        A = S.over(S.resolve_dtype(dtype))
        values = given.tolist() if isinstance(given, np.ndarray) else given
        try:
            cast = [A.element(v) for v in values]
        except (TypeError, ValueError, KeyError, OverflowError) as e:
            raise SemiringError(f"{what} are not a sequence of elements of {S.name} in {A.dtype}: {e}") from None
        given = np.empty(len(cast), A.dtype)
        for i, element in enumerate(cast):
            given[i] = element
    elif not isinstance(given, np.ndarray):
        try:
            values = [tuple(v) if S.is_record else v for v in given]
            given = sequence(values, _home(S, values))
        except (TypeError, ValueError, OverflowError) as e:
            raise SemiringError(f"{what} are not a sequence of elements of {S.name}: {e}") from None
    if given.ndim != 1:
        raise SemiringError(f"{what} must be a sequence of elements, and have shape {given.shape}")
    result: np.ndarray = read_array(given, S, what).array
    if result.dtype.kind == "O":
        examine(S, result.dtype, [(what, result)])
    inside = S.over(result.dtype).contains(result)
    if not np.all(inside):
        bad = np.flatnonzero(~inside)[0]
        value = show(result[bad])
        raise SemiringError(f"{what}[{bad}] is {value}, outside the carrier of {S.name}{S.how_written}")
    return result


def _home(S: Semiring, values: Sequence[Any]) -> np.dtype:
    """The algebra's own dtype, or a complex dtype if there are complex numbers and the algebra lives in one.

    Raises
    ------
    TypeError
        If it does not live in one.
    """
    home, parts = S.default_dtype, [part for v in values for part in v] if S.is_record else values
    if home.kind in "cO" or not any(np.asarray(part).dtype.kind == "c" for part in parts):
        return home
    wide = next((d for d in S.dtypes if d.kind == "c"), None)
    if wide is None:
        found = next(part for part in parts if np.asarray(part).dtype.kind == "c")
        fields = [f"{f} {home[f].name}" for f in home.names or ()]
        raise TypeError(f"{found} is complex, and it lives in {', '.join(fields or [d.name for d in S.dtypes])}")
    return wide
