"""Convolutions over a semiring, in one and more dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from semiring.algebra.by_name import algebra
from semiring.algebra.dtypes import refuse_sums
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.kernels.cpu.dense.convolution import Windows
from semiring.operands.align import same_dtype
from semiring.operands.dense import Dense
from semiring.operands.devices import is_on_gpu, without_the_option
from semiring.operands.place import place
from semiring.operands.read import operand
from semiring.solvers.forms import refuse_overflow
from semiring.solvers.plan import Plan
from semiring.solvers.task import own_algebra

from .convolutions import way
from .planned import planned

MODES = ("full", "same", "valid")
Axes = int | Sequence[int] | None


class Order(NamedTuple):
    """The axes of both operands and of the answer.

    Attributes
    ----------
    axes : tuple of int
        Those of the convolution, of operands with `ndim` axes, the longest one last.
    windows : Windows
        What is wanted.
    ndim : int
    """

    axes: tuple[int, ...]
    windows: Windows
    ndim: int

    def moved(self, x: Any) -> Any:
        """An operand whose last axes are those of the convolution."""
        x = x.reshape((1,) * (self.ndim - x.ndim) + x.shape)
        return x.transpose(self._order)

    def restored(self, x: Any) -> Any:
        """An answer whose axes are where the caller's are."""
        turned = x.transpose(np.argsort(self._order).tolist())
        if not is_on_gpu(x):
            return np.ascontiguousarray(turned)
        from semiring.kernels.cuda.compile.launch import in_c_order

        return in_c_order(turned)

    @property
    def _order(self) -> list[int]:
        """The axes of an operand, those of the convolution last."""
        return [i for i in range(self.ndim) if i not in self.axes] + list(self.axes)


@planned
def convolve(a: Any, b: Any, S: Semiring | str | None = None, *, mode: str = "full", axes: Axes = None) -> Any:
    """Return the convolution of two arrays over a semiring: c_i = ⊕_j a_j ⊗ b_{i−j}.

    Over `min_plus` it is the min-plus convolution (infimal convolution), over `counting` and `plus_times` the product
    of polynomials, over `log` the distribution of a sum of independent numbers, in logarithms.

    Parameters
    ----------
    a, b : array_like, shape (…, m) and (…, n)
        NumPy or CuPy arrays of any strides, nested lists, or anything with DLPack, of one dtype, with equally many
        axes. With `axes` the other axes are those of a stack, which broadcast as in `numpy.matmul`. If one of them is
        on a GPU, the convolution is computed there.
    S : Semiring or str, optional
        Default: the algebra of a prepared operand.
    mode : {"full", "same", "valid"}
        As in `numpy.convolve`, for each axis of lengths m and n: all m + n − 1 entries; the middle max(m, n) of them;
        or the max(m, n) − min(m, n) + 1 entries for which the shorter one lies within the longer one.
    axes : int or sequence of int, optional
        The axes along which to convolve, counted in the operand with more axes. Default: all.

    Returns
    -------
    ndarray, shape (…, m + n − 1) if `mode` is "full"
        Of a's dtype and byte order, or of a's kind if that is another array type; a CuPy array if a or b is one.

    Raises
    ------
    SemiringError
        If an operand is empty along an axis of the convolution, axes or dtypes do not fit, an entry is not an element,
        an operand is a graph, sparse or packed, or integers leave their dtype.

    Notes
    -----
    Operands of ⊗ keep their order. Entries are products of rows of c with Toeplitz matrices of b, and every entry is
    rounded as in `matmul`, for as many terms: at most m n ⊗ and ⊕ for sequences of m and n elements. A Fourier
    transform would be faster over `plus_times`. It is not used, because its error is relative to the largest entry.

    On a GPU all terms are computed, by threads that each keep some neighbours of c in registers. Large convolutions
    over log-sum-exp are ordinary ones of powers in double precision; entries that are 640 or more below the sum of the
    greatest elements are computed by their terms. Terms on a GPU are added one after the other, so that an entry c of k
    terms over log-sum-exp may have an error of ε k (4 + abs(c) / 2).

    On the CPU fewer terms may do: if ⊕ is min and ⊗ is +, two convex sequences (concave for max) are convolved in m + n
    steps, by merging their slopes: J.-Y. Le Boudec, P. Thiran, Network calculus (2001), theorem 3.1.6. They may begin
    and end with zeros, which are infinite. Where they are convex only up to rounding, the few terms that may be the
    least ones are compared. The answer is that of the definition, to the bit.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.convolve([0.0, 1.0, 5.0], [2.0, 0.0], sr.min_plus)
    array([2., 0., 1., 5.])
    >>> sr.convolve([1, 3, 1], [1, 1], sr.counting)
    array([1, 4, 4, 1])

    Each row of a matrix with one sequence:

    >>> sr.convolve([[0.0, 7.0, 1.0], [3.0, 3.0, 3.0]], [0.0, 2.0], "min-plus", mode="same", axes=-1)
    array([[0., 2., 1.],
           [3., 3., 3.]])
    """
    return Convolution(a, b, S, mode, axes)


class Convolution:
    """A convolution that is to be computed; see `convolve`."""

    def __init__(self, a: Any, b: Any, S: Semiring | str | None, mode: str, axes: Axes):
        if not isinstance(mode, str) or mode not in MODES:
            raise SemiringError(f"mode must be 'full', 'same' or 'valid', and is {clip_repr(mode)}")
        S = own_algebra("convolve", (a, b)) if S is None else algebra(S)
        refuse_sums(S)
        self.S, self._given = S, [_array(x, S, what) for x, what in ((a, "a"), (b, "b"))]
        same_dtype(*self._given)
        self._order = order(self._given[0].shape, self._given[1].shape, mode, axes)

    def plan(self) -> Plan:
        """Return the plan that `answer` runs."""
        a, b = place(self._given, None)
        with without_the_option():
            facts, low = a.form(3, beside=(b,), packed=False)
        windows = self._order.windows
        found = way(low.for_product(facts), windows, *(self._order.moved(x.array) for x in (a, b)))  # type: ignore[attr-defined]
        return Plan(
            operation="convolve", algebra=self.S, shape=self._shape, method=found.method, lowering=found.lowering,
            work=found.work, memory=found.memory, runner=partial(self._run, found.run), place=found.place,
            reasons={"method": found.reason}, needs=(
                f"the convolution of shape {self._shape}", "use a narrower dtype, or mode='same' or 'valid'"),
        )

    @property
    def _shape(self) -> tuple[int, ...]:
        """The shape of the answer."""
        where = self._order.axes
        rest = iter(self._order.windows.stack)
        sizes = dict(zip(where, self._order.windows.shape, strict=True))
        return tuple(sizes[i] if i in sizes else next(rest) for i in range(self._order.ndim))

    def _run(self, run: Any, plan: Plan) -> Any:
        low, a = plan.lowering, self._given[0]
        result = run()
        result = low.decode(result if low.on_gpu else np.ascontiguousarray(result))
        if not low.drops_nan:
            refuse_overflow(low, result)
        return a.wrap(self._order.restored(result))


def _array(x: Any, S: Semiring, what: str) -> Dense:
    """Read an operand.

    Raises
    ------
    SemiringError
        If it is not an array.
    """
    given = operand(x, S, what)
    if not isinstance(given, Dense) or given.of_graph or given.labels is not None:
        raise SemiringError(f"{what} is of type {type(x).__name__}, and convolve takes arrays: pass the elements as a "
                            "NumPy array, such as .to_numpy()")
    return given


def order(a: tuple[int, ...], b: tuple[int, ...], mode: str, axes: Axes) -> Order:
    """Find out which axes meet, and what part of the full convolution is wanted.

    Raises
    ------
    SemiringError
        If shapes do not fit.

    Examples
    --------
    >>> order((3, 9), (3, 4), "valid", -1).windows
    Windows(stack=(3,), left=(9,), right=(4,), first=(3,), shape=(6,))
    """
    ndim = max(len(a), len(b))
    if not (a and b):
        raise SemiringError(f"a has shape {a} and b has shape {b}: a convolution needs arrays, not single numbers; "
                            "S.mul multiplies elements")
    if axes is None and len(a) != len(b):
        raise SemiringError(f"a has {len(a)} axes and b has {len(b)}: give both as many, or say with axes= along which "
                            "to convolve")
    given: Any = axes
    several = given if isinstance(given, (list, tuple, range)) or bool(getattr(given, "shape", ())) else [given]
    try:
        numbers = range(ndim) if axes is None else [whole(each) for each in several]
        where = normalize_axis_tuple(tuple(numbers), ndim)
    except (TypeError, ValueError, OverflowError) as e:
        raise SemiringError(f"axes must be the numbers of axes, each once, and are {clip_repr(axes)}: {e}") from None
    if not where:
        raise SemiringError("axes is empty: a convolution needs at least one axis")
    wide = [(1,) * (ndim - len(x)) + x for x in (a, b)]
    for what, shape in zip("ab", wide, strict=True):
        for i in where:
            if not shape[i]:
                raise SemiringError(f"{what} of shape {a if what == 'a' else b} is empty along axis {i}: no term "
                                    "begins a sum there")
    where = tuple(sorted(where, key=lambda i: (wide[0][i] + wide[1][i], i)))
    rest = [tuple(n for i, n in enumerate(shape) if i not in where) for shape in wide]
    try:
        stack = np.broadcast_shapes(*rest)
    except ValueError:
        raise SemiringError(f"a of shape {a} and b of shape {b} do not fit: along the axes that are not convolved, "
                            f"{rest[0]} and {rest[1]} do not broadcast") from None
    left, right = (tuple(shape[i] for i in where) for shape in wide)
    parts = [part(m, n, mode) for m, n in zip(left, right, strict=True)]
    return Order(where, Windows(stack, left, right, tuple(f for f, _ in parts), tuple(n for _, n in parts)), ndim)


def whole(value: Any) -> int:
    """Read the number of an axis, which a truth value is not."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError("a truth value is not the number of an axis")
    return index(value)


def part(m: int, n: int, mode: str) -> tuple[int, int]:
    """Return where the part that a mode asks for begins, and its length, for sequences of m and n elements.

    Examples
    --------
    >>> part(3, 5, "full"), part(3, 5, "same"), part(3, 5, "valid")
    ((0, 7), (1, 5), (2, 3))
    """
    short, long = sorted((m, n))
    return {"full": (0, m + n - 1), "same": ((short - 1) // 2, long), "valid": (short - 1, long - short + 1)}[mode]
