"""Every error that the library raises on purpose; all are a ``ValueError``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class SemiringError(ValueError):
    """A request that cannot be met; the message says what, where, and what to do.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.mod_p(6)
    Traceback (most recent call last):
        ...
    semiring.errors.SemiringError: mod_p(6): the modulus must be a prime below 2³¹
    """


class TraceError(SemiringError):
    """An operation of an algebra could not be turned into an expression.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.Semiring("sines", add=np.maximum, mul=lambda a, b: np.interp(a, b, b), zero=0, one=1)
    Traceback (most recent call last):
        ...
    semiring.errors.TraceError: sines: np.interp cannot be traced; write the operation with NumPy ufuncs and ...
    """


class LawError(SemiringError):
    """An algebra lacks a declared or needed law; the message has a counterexample.

    Parameters
    ----------
    message : str
        The text of the error.
    failures : sequence, optional
        Verdicts on laws that do not hold.

    Attributes
    ----------
    failures : list
        The verdicts of a `LawReport` that caused the error, each with its ``witness`` and a ``graph()``; empty after
        the error was pickled.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.Semiring("means", add=lambda a, b: (a + b) / 2, mul=np.multiply, zero=0, one=1)
    Traceback (most recent call last):
        ...
    semiring.errors.LawError: means is not a semiring: ⊕ is not associative. With a = 2, b = 3, ...
    """

    def __init__(self, message: str, *, failures: Sequence[Any] = ()):
        super().__init__(message)
        self.failures = list(failures)

    def __reduce__(self) -> tuple[type[LawError], tuple[Any, ...]]:
        return type(self), self.args  # laws are functions, which other processes do not get


class NoClosureError(SemiringError):
    """The closure does not exist: an improving cycle, or a pivot without a star.

    Parameters
    ----------
    message : str
        The text of the error.
    vertex : int or hashable
        A vertex at which the closure fails.
    cycle : list, optional
        Vertices of a cycle through it, the first one repeated at the end: an improving cycle, or, if a star is
        undefined, one of the cycles that it sums, if possible one that diverges by itself. ``None`` if the matrix was
        overwritten.
    weight : object, optional
        The ⊗ along that cycle; ``None`` if the dtype cannot hold it.
    index : tuple of int, optional
        Which matrix of a stack has no closure: ``A[index]``.

    Attributes
    ----------
    vertex, cycle, weight, index
        As the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> try:
    ...     sr.closure(np.array([[np.inf, 1.0], [-2.0, np.inf]]), sr.min_plus)
    ... except sr.NoClosureError as e:
    ...     print(e.cycle[0] == e.cycle[-1], e.weight)
    True -1.0
    """

    def __init__(
        self, message: str, *, vertex: Any = None, cycle: list[Any] | None = None, weight: Any = None,
        index: tuple[int, ...] | None = None,
    ):
        super().__init__(message)
        self.vertex = vertex
        self.cycle = cycle
        self.weight = weight
        self.index = index


class GraphError(SemiringError):
    """An input that is not a valid graph; the message names the line or the entry.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.as_graph([("home", "mill", 3), ("mill", "shop")])
    Traceback (most recent call last):
        ...
    semiring.errors.GraphError: edge 1 ...
    """


class OutOfRangeError(SemiringError):
    """A result that its dtype cannot hold; nothing else is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.matmul(np.array([[100]], "int8"), np.array([[100]], "int8"), sr.max_plus)
    Traceback (most recent call last):
        ...
    semiring.errors.OutOfRangeError: max-plus: a result is 200, which int8 cannot hold; ...
    """


class SemiringWarning(UserWarning):
    """Something works, but not in the way the caller may expect.

    Examples
    --------
    >>> import math, warnings
    >>> import semiring as sr
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     S = sr.Semiring("divisors", add=math.gcd, mul=math.lcm, zero=0, one=1, samples=[2, 3, 4, 6])
    >>> print(caught[0].message)
    divisors: the operations cannot be traced (...); they run on Python objects, one by one, on the CPU. ...
    """
