"""Values as a solver left them in storage, for another that goes on with them before anybody reads them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from semiring.kernels.lowering.base import Lowering


class Encoded:
    """A matrix in a lowering's storage: what is asked for is decoded.

    Parameters
    ----------
    low : Lowering
    array : ndarray
        In storage, on the host.

    Examples
    --------
    >>> import semiring as sr
    >>> from semiring.kernels.facts import Facts
    >>> from semiring.kernels.lowering.sums import tropical_integers
    >>> low = tropical_integers(sr.min_plus, np.dtype("i8"), Facts(largest=9), 3, False)
    >>> X = Encoded(low, low.encode(np.array([[5, np.iinfo("i8").max]]), True))
    >>> X.array.dtype, X[0, 0].tolist(), X.shape
    (dtype('int16'), 5, (1, 2))
    """

    def __init__(self, low: Lowering, array: np.ndarray):
        self.low, self.array = low, array

    @property
    def shape(self) -> tuple[int, ...]:
        """As of the array."""
        return self.array.shape

    @property
    def T(self) -> Self:
        """Columns as rows, in the same memory."""
        return type(self)(self.low, self.array.T)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, place: Any) -> np.ndarray:
        """Elements of their own memory."""
        return self.low.decode(np.array(self.array[place]))

    def is_as_in(self, low: Lowering) -> bool:
        """Whether another lowering stores elements in the same way."""
        return self.low.recode is low.recode and self.low.storage == low.storage

    def decoded(self) -> np.ndarray:
        """All elements, in the same memory where that is possible: the storage is not to be read any more."""
        return self.low.decode(self.array)
