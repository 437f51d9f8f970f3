"""An algebra's sums and products along the axes of arrays, and their prefixes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementwise import Elementwise
from .verbs import verb

REDUCED, ACCUMULATED = "shapes.sums.sums.reduced", "shapes.sums.sums.accumulated"


class Reductions(Elementwise):
    """The part of `Semiring` that folds ⊕ and ⊗ along axes."""

    def sum(
        self, x: Any, axis: int | str | tuple[int | str, ...] | None = None, *, keepdims: bool = False,
        initial: Any = None, out: np.ndarray | None = None,
    ) -> Any:
        """Return the ⊕ of elements along axes.

        Parameters
        ----------
        x : array_like, sparse matrix, graph, Matrix or PackedMatrix, any shape
            Elements; tuples are records. Python objects are in lists, or alone. What a sparse matrix or a graph does
            not store is zero. If x is on a GPU, the sum is computed there, and stays there.
        axis : int or tuple of int, optional
            The axes that go; negative ones count from the end. Default: all. Those of a DataArray of xarray may be
            names of its dimensions.
        keepdims : bool
            Keep these axes, with length 1.
        initial : element, optional
            An element that is added too.
        out : ndarray, of the shape and dtype of the answer, optional
            Takes the answer, and is returned. It is on a GPU if x is.

        Returns
        -------
        ndarray, of the shape of x without the axes, or scalar
            In the dtype of x, or in the default dtype as for `add`. The sum of nothing is zero. If x is a DataArray,
            so is an answer with axes.

        Raises
        ------
        SemiringError
            If something is not an element (with its place), an axis is out of bounds or given twice, the algebra cannot
            live in the dtype, or a sum of integers leaves it.
        LawError
            If x is sparse and zero is not neutral for ⊕, as in some algebras with products only.

        Notes
        -----
        Sums of integers, and by min, max or bits, are exact. Sums of n floats are added in pairs, then in pairs of
        pairs, or better: a sum of n positive numbers has a relative error of at most (log₂ n + 128) machine epsilons
        (N. J. Higham, The accuracy of floating point summation, 1993). A log-sum-exp takes out the maximum first, then
        adds up powers: the absolute error of a result of size r is at most ε (log₂ n + 160 + 6 r), in the units of
        1 / ln 2 to base 2 (P. Blanchard, D. J. Higham, N. J. Higham, Accurately computing the log-sum-exp and softmax
        functions, 2021).
        Results do not depend on the number of threads.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> x = np.array([[3.0, 1.0, 4.0], [1.0, 5.0, 9.0]])
        >>> sr.min_plus.sum(x), sr.max_plus.sum(x, axis=0)
        (np.float64(1.0), array([3., 5., 9.]))
        >>> sr.log.sum(np.log([1.0, 2.0, 5.0])).round(6) == np.log(8).round(6)
        np.True_
        """
        return verb(REDUCED)(self, "add", x, axis, keepdims, initial, out)

    def prod(
        self, x: Any, axis: int | str | tuple[int | str, ...] | None = None, *, keepdims: bool = False,
        initial: Any = None, out: np.ndarray | None = None,
    ) -> Any:
        """Return the ⊗ of elements along axes.

        Parameters
        ----------
        x : array_like, sparse matrix, graph, Matrix or PackedMatrix, any shape
            As for `sum`.
        axis : int or tuple of int, optional
            As for `sum`. Factors keep the order that the elements have in x, the last axis running fastest.
        keepdims : bool
            As for `sum`.
        initial : element, optional
            The first factor.
        out : ndarray, of the shape and dtype of the answer, optional
            As for `sum`.

        Returns
        -------
        ndarray, of the shape of x without the axes, or scalar
            In the dtype of x, or in the default dtype as for `mul`. The product of nothing is one.

        Raises
        ------
        SemiringError
            As for `sum`; also if a product of nothing is asked of an algebra without one.
        LawError
            If x is sparse and ⊗ does not absorb zero.

        Notes
        -----
        Zero absorbs. Products of n floats are multiplied in pairs, then in pairs of pairs: a factor passes log₂ n
        roundings if ⊗ rounds. Half precision is computed in single, and rounded at the end.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.prod([[3.0, 1.0], [float("inf"), 5.0]], axis=1)
        array([ 4., inf])
        >>> a, b = sr.letter("a"), sr.letter("b")
        >>> sr.regex.prod([a, b, a])
        Regex('aba')
        """
        return verb(REDUCED)(self, "mul", x, axis, keepdims, initial, out)

    def cumsum(self, x: Any, axis: int | str | None = None, *, out: np.ndarray | None = None) -> Any:
        """Return the ⊕ of all elements up to each, along an axis.

        Parameters
        ----------
        x : array_like or Matrix, any shape
            Elements; tuples are records. Python objects are in lists. The prefixes of an array on a GPU are computed
            there, and stay there.
        axis : int, optional
            Default: all elements in one sequence, the last axis running fastest.
        out : ndarray, of the shape and dtype of the answer, optional
            Takes the answer, and is returned. It is on a GPU if x is.

        Returns
        -------
        ndarray, of the shape of x, or of one axis if `axis` is None

        Raises
        ------
        SemiringError
            As for `sum`, and for sparse matrices, whose prefixes are dense.

        Notes
        -----
        Prefixes are made of those of neighbours in pairs (G. E. Blelloch, Prefix sums and their applications, 1990), or
        of blocks of 128 terms: an element passes at most 128 + 2 log₂ n operations, each of which may round.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.cumsum([3.0, 1.0, 4.0, 0.5])
        array([3. , 1. , 1. , 0.5])
        """
        return verb(ACCUMULATED)(self, "add", x, axis, out)

    def cumprod(self, x: Any, axis: int | str | None = None, *, out: np.ndarray | None = None) -> Any:
        """Return the ⊗ of all elements up to each, along an axis, in their order.

        Parameters
        ----------
        x : array_like or Matrix, any shape
            As for `cumsum`.
        axis : int, optional
            As for `cumsum`.
        out : ndarray, of the shape and dtype of the answer, optional
            As for `cumsum`.

        Returns
        -------
        ndarray, of the shape of x, or of one axis if `axis` is None

        Raises
        ------
        SemiringError
            As for `cumsum`.

        Notes
        -----
        As for `cumsum`. Zero absorbs.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.cumprod([3.0, 1.0, float("inf"), 0.5])
        array([ 3.,  4., inf, inf])
        """
        return verb(ACCUMULATED)(self, "mul", x, axis, out)
