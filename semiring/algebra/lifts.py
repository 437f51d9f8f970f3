"""Turn plain numbers into records: a weight w becomes (w, 1), for example, if each edge counts once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import SemiringError

from .constants import nearest_constant
from .dtypes import SCALAR_DTYPES
from .elements import equal, full, show

if TYPE_CHECKING:
    from .semiring import Semiring

TRIED = np.array([0.0, 1.0, 2.0, 7.0])  # numbers for testing a lift, with those that zero consists of
EXAMPLE = "lift=lambda w: (w, np.where(w == np.inf, 0, 1))"


class Lift:
    """A function from plain numbers to elements of an algebra of records.

    Parameters
    ----------
    S : Semiring
        An algebra of records.
    declared : callable
        Takes an array of float64 and returns the components of as many elements, as arrays or numbers.

    Attributes
    ----------
    absent : float
        The number that becomes zero: the weight of a missing edge.

    Raises
    ------
    SemiringError
        If the elements are not records, `declared` does not return the components of an element, or no number becomes
        zero.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.shortest_hops.lift(np.array([2.5, np.inf])).tolist(), sr.shortest_hops.lift.absent
    ([(2.5, 1.0), (inf, inf)], inf)
    """

    def __init__(self, S: Semiring, declared: Callable[[np.ndarray], Any]):
        if not S.is_record:
            raise SemiringError(f"{S.name}: lift= turns numbers into records, but its elements are not records; "
                                "declare the components with fields=")
        if not callable(declared):
            raise SemiringError(f"{S.name}: lift must be a function of an array of numbers, such as {EXAMPLE}")
        self._S, self.declared = S, declared
        self(TRIED)
        numbers = [float(x) for x in dict.fromkeys(S.components_of(S.zero))]
        made, zero = self(np.array(numbers)).view(S.default_dtype), S.zero_in(S.default_dtype)
        found = np.flatnonzero(equal(made, full(made, zero)))
        if not found.size:
            elements = " and ".join(f"{show(e)} for {show(x)}" for x, e in zip(numbers, made, strict=True))
            raise SemiringError(
                f"{S.name}: lift returns {elements} but never zero, {show(zero)}, so that no number is the weight of a "
                f"missing edge; write it as in {EXAMPLE}"
            )
        self.absent = numbers[int(found[0])]

    @staticmethod
    def takes(dtype: np.dtype) -> bool:
        """Whether numbers of a dtype can be weights: floats and integers."""
        return dtype.kind in "iuf" and dtype.newbyteorder("=") in SCALAR_DTYPES

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Elements for numbers, in an array of the same shape; NaN stays NaN, and an integer's limits are ±∞.

        Raises
        ------
        SemiringError
            If an element does not fit its dtype.
        """
        S, numbers = self._S, _as_floats(weights)
        try:
            with np.errstate(all="ignore"):
                parts = S.components_of(self.declared(numbers))
                columns = [np.broadcast_to(np.asarray(part, "f8"), numbers.shape) for part in parts]
        except (TypeError, ValueError, KeyError) as e:
            what = e if isinstance(e, SemiringError) else f"{type(e).__name__}: {e}"
            raise SemiringError(f"{S.name}: lift does not turn numbers into elements ({what}); write it with NumPy, "
                                f"for all numbers at once: {EXAMPLE}") from None
        made = np.empty(numbers.shape, S.default_dtype)
        missing = np.isnan(numbers)
        for f, column in zip(S.default_dtype.names or (), columns, strict=True):
            made[f] = _placed(S, np.where(missing, np.nan, column), S.default_dtype[f])
        return made.view(S.element_dtype)

    def on_device(self, weights: Any) -> Any | None:
        """The same elements of the algebra's default dtype in the memory of a GPU, for numbers that are there.

        None if the function takes NumPy arrays only, or an element does not fit its dtype, which the host explains.
        """
        import cupy

        numbers = _as_floats(weights)
        try:
            parts = self._S.components_of(self.declared(numbers))
            columns = [cupy.broadcast_to(cupy.asarray(part, "f8"), numbers.shape) for part in parts]
        except (TypeError, ValueError, KeyError, AttributeError, NotImplementedError):
            return None
        made, missing = cupy.empty(numbers.shape, self._S.default_dtype), cupy.isnan(numbers)
        if not made.size:
            return made
        for f, column in zip(self._S.default_dtype.names or (), columns, strict=True):
            kind = self._S.default_dtype[f]
            column = cupy.where(missing, np.nan, column)
            placed = column.astype(kind)
            if kind != np.float64:
                if kind.kind in "iu":
                    for infinity in (np.inf, -np.inf):
                        placed[column == infinity] = nearest_constant(infinity, kind)
                same = placed.astype("f8") == column
                lost = ~same & ~cupy.isinf(column) if kind.kind != "f" else cupy.isinf(placed) & ~cupy.isinf(column)
                if bool(lost.any()):
                    return None
            made[f] = placed
        return made


def _as_floats(weights: Any) -> Any:
    """Numbers as float64; the limits of an integer dtype are the infinities, as in every algebra."""
    numbers = weights.astype("f8")
    if weights.dtype.kind in "iu":
        numbers[weights == np.iinfo(weights.dtype).max] = np.inf
        if weights.dtype.kind == "i":
            numbers[weights == np.iinfo(weights.dtype).min] = -np.inf
    return numbers


def _placed(S: Semiring, column: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert a component to its dtype.

    Raises
    ------
    SemiringError
        If a number would change.
    """
    with np.errstate(all="ignore"):
        placed = column.astype(dtype)
    if dtype.kind == "f":
        lost = np.isinf(placed) & ~np.isinf(column)
    else:
        for infinity in (np.inf, -np.inf) if dtype.kind != "b" else ():
            placed[column == infinity] = nearest_constant(infinity, dtype)
        lost = (placed != column) & ~np.isinf(column)
    if lost.any():
        bad = column[lost].flat[0]
        raise SemiringError(f"{S.name}: {show(bad)} does not fit the component {dtype} of an element" if bad == bad
                            else f"{S.name}: NaN is not an element of any algebra; leave the edge out")
    return placed
