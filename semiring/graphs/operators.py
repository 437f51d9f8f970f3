"""Operators of a matrix over its algebra, and NumPy's functions on matrices."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import DTypeLike

from semiring.algebra.arguments import whole_number
from semiring.algebra.tables import dtype_text
from semiring.algebra.verbs import verb
from semiring.errors import GraphError, SemiringError

from .foreign import as_array as array_of
from .foreign import is_foreign
from .frames import has_index, has_labels
from .masks import is_masked, unmasked
from .names import Named, alignment, as_names, refuse_table
from .texts import clip_repr, infinities, with_infinities

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

    from .matrix import Matrix


class Operators(Named):
    """The operators of `Matrix`, over its algebra.

    Attributes
    ----------
    array : ndarray, shape (n, n)
    semiring : Semiring
    """

    array: np.ndarray
    semiring: Semiring
    library: str | None

    # pandas leaves an operator to the operand on its right if that has a higher number: ``frame | M`` uses the labels
    __pandas_priority__ = 5000

    __hash__ = None  # type: ignore[assignment]  # as of arrays: `==` is element by element

    def _like(self, array: Any, names: Sequence[Any] | None) -> Matrix:
        """A matrix of other elements over the same algebra."""
        raise NotImplementedError

    @overload
    def __matmul__(self, other: Operators) -> Matrix: ...
    @overload
    def __matmul__(self, other: np.ndarray) -> np.ndarray: ...
    @overload
    def __matmul__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any:
        return verb("matmul")(self._named_as(other), self._named(other))

    def __rmatmul__(self, other: Any) -> Any:
        return verb("matmul")(self._named(other), self)

    def __pow__(self, exponent: int) -> Matrix:
        k = whole_number(exponent, "the exponent of a power", 0)
        found: Matrix = verb("power")(self, self.semiring, k)
        return found

    def __or__(self, other: Any) -> Matrix:
        names, mine, others = self._beside(other)
        if others.dtype != mine.dtype:
            raise GraphError(_two_dtypes(mine.dtype, others.dtype))
        S = self.semiring
        sums = S.over(mine.dtype)
        for what, elements in (("A", mine), ("B", others)):
            if not np.all(sums.contains(elements)):
                raise GraphError(f"{what} has entries outside the carrier of {S.name}, {S.notation}{S.how_written}")
        return self._like(np.asarray(sums.add(mine, others)), names)

    __ror__ = __or__  # ⊕ commutes

    def __eq__(self, other: object) -> np.ndarray:  # type: ignore[override]  # as of arrays
        _, mine, others = self._beside(other)
        if bool(mine.dtype.names) != bool(others.dtype.names) and "O" not in (mine.dtype.kind, others.dtype.kind):
            raise GraphError(_two_dtypes(mine.dtype, others.dtype))
        if others.dtype != mine.dtype:  # limits of different integer dtypes differ
            theirs = other.semiring if isinstance(other, Operators) else None
            mine = with_infinities(mine, self.semiring)
            others = others if theirs is None else with_infinities(others, theirs)
        return np.asarray(mine == others)

    def __ne__(self, other: object) -> np.ndarray:  # type: ignore[override]
        return ~np.asarray(self == other, bool)

    def _named(self, other: Any) -> Any:
        """The other operand of a product; a matrix without names gets those of this one."""
        if isinstance(other, Operators) and other.names is None and self.names is not None and other.n == self.n:
            return other._like(other.array, self.names)
        return other

    def _named_as(self, other: Any) -> Any:
        """This one as the operand of a product; without names it gets those of another matrix."""
        return other._named(self) if isinstance(other, Operators) else self

    def _beside(self, other: Any) -> tuple[list[Any] | None, np.ndarray, np.ndarray]:
        """The names of both, and the elements of both in one order."""
        names, S = self.names, self.semiring
        refuse_table(other, "B")
        if has_labels(other):
            other = self._like(other, None)
        elif (isinstance(other, Named) and not isinstance(other, Operators)) or hasattr(other, "tocoo"):
            raise GraphError(f"a Matrix can be added to and compared with matrices and arrays, but B is a "
                             f"{type(other).__name__}: adjacency(B, S) makes a Matrix of it")
        if not isinstance(other, Operators):
            if is_masked(other):
                others = unmasked(other, S)
            elif isinstance(other, (int, float)) and not isinstance(other, bool):
                others = number(S, other, self.array.dtype)
            else:
                others = as_array(other)
                lifted = S.lift is not None and S.lift.takes(others.dtype)
                if others.shape == self.array.shape and (lifted or S._grows(others.dtype)):
                    others = self._like(others, None).array  # plain weights are lifted, as in verbs
        else:
            if other.semiring is not S:
                raise SemiringError(f"A is a matrix over {self.semiring.name} and B one over {other.semiring.name}: "
                                    "their elements have different meanings")
            order = None if names is None or other.names is None else alignment(names, other.names)
            others = other.array if order is None else other.array[np.ix_(order, order)]
            names = other.names if names is None else names
        if others.shape not in (self.array.shape, ()):
            raise GraphError(f"A has shape {self.array.shape} and B has shape {others.shape}")
        return names, self.array, others

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        if ufunc in BY_ALGEBRA and method == "__call__" and any(isinstance(x, Operators) for x in inputs):
            (left, right), (name, reflected) = inputs, BY_ALGEBRA[ufunc]
            found = getattr(left, name)(right) if isinstance(left, Operators) else getattr(right, reflected)(left)
            return written(found, ufunc, **keywords)
        if ufunc.signature is not None:  # it works on whole rows or matrices
            self._refuse_reals(ufunc)
        inputs = tuple(map(self._over_vertices, inputs))
        first = first_named(inputs)
        if "out" in keywords:
            keywords["out"] = tuple(place_in(x, first) for x in keywords["out"])
        return getattr(ufunc, method)(*(arrays_in(x, first) for x in inputs), **keywords)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Any:
        if function in OF_MATRICES or function.__module__ == np.linalg.__name__:
            self._refuse_reals(function)
        arguments = [self._over_vertices(x) for x in arguments]
        keywords = {name: x if name == "out" else self._over_vertices(x) for name, x in keywords.items()}
        read = {name: x for name, x in keywords.items() if name != "out"}
        first = first_named((*arguments, *read.values()))
        if "out" in keywords:
            keywords = {**keywords, "out": place_in(keywords["out"], first)}
        return function(*(arrays_in(x, first) for x in arguments),
                        **{name: arrays_in(x, first) for name, x in keywords.items()})

    def _over_vertices(self, value: Any) -> Any:
        """A matrix for a data frame whose labels are vertices, which NumPy would read by position; also in lists.

        Raises
        ------
        GraphError
            For a `Table`, and a data frame that is not a matrix over vertices.
        """
        if type(value) in (list, tuple):
            found = [self._over_vertices(x) for x in value]
            return value if all(map(operator.is_, found, value)) else type(value)(found)
        refuse_table(value, "an operand")
        return self._like(value, None) if has_labels(value) else value

    def _refuse_reals(self, function: Any) -> None:
        home = "numpy.linalg" if getattr(function, "__module__", None) == np.linalg.__name__ else "numpy"
        name = function.__name__
        raise SemiringError(
            f"{home}.{name} of a Matrix would compute over the real numbers, and not over {self.semiring.name}: "
            f"{INSTEAD.get(name, OTHERWISE)}. For real numbers pass the elements, M.to_numpy()"
        )

    def _refuse_products_of_pandas(self) -> None:
        """Refuse products of pandas, which would read a right operand as an array.

        Raises
        ------
        SemiringError
            If this is called for a product over the real numbers.
        """
        if "pandas" not in sys.modules:
            return
        caller = sys._getframe(2)
        if caller.f_code.co_name == "dot" and caller.f_globals.get("__name__", "").startswith("pandas."):
            raise SemiringError(
                f"pandas multiplies a Matrix over the real numbers, and not over {self.semiring.name}: "
                "sr.matmul(frame, M) is the product over its algebra. For real numbers pass M.to_numpy()"
            )

    @property
    def ndim(self) -> int:
        """Missing on purpose: it raises an error.

        Raises
        ------
        AttributeError
            SciPy sparse matrices read it when they are on the left of ``@``, and would multiply over the reals.
        """
        raise AttributeError("a Matrix has no ndim, so that SciPy does not multiply it over the real numbers: for a "
                             f"product over {self.semiring.name} call sr.matmul(A, M), and for one over the reals use "
                             "M.to_numpy()")


def _two_dtypes(mine: np.dtype, others: np.dtype) -> str:
    return f"A is {dtype_text(mine)} and B is {dtype_text(others)}; convert one with .astype(…)"


def refuse_other_algebra(M: Operators, S: Semiring, what: str) -> None:
    """Refuse a matrix over a different algebra, in which other elements mean "no edge".

    Raises
    ------
    SemiringError
        For such a matrix.
    """
    if M.semiring is not S.declared:
        raise SemiringError(
            f"{what} is a matrix over {M.semiring.name}, but S is {S.name}, in which its elements mean something else. "
            f"Leave S out to stay in {M.semiring.name}; sr.from_dense(M, S, absent=M.semiring.zero_in(M.dtype)) "
            "is a matrix of the same edges over S"
        )


def in_order(M: Operators, names: Sequence[Any] | None) -> tuple[np.ndarray, Sequence[Any] | None]:
    """The elements of a matrix and the names of its vertices, reordered to given names; its own if it has none.

    Raises
    ------
    GraphError
        If it has different names.

    Examples
    --------
    >>> import semiring as sr
    >>> in_order(sr.adjacency([("a", "b", 3.0)], sr.min_plus), ["b", "a"])[0].tolist()
    [[inf, inf], [3.0, inf]]
    """
    if names is None or M.names is None:
        return M.array, M.names if names is None else names
    wanted = as_names(names) or []
    order = alignment(wanted, M.names, "names", "the matrix")
    return M.array if order is None else M.array[np.ix_(order, order)], wanted


def number(S: Semiring, value: float, dtype: np.dtype) -> np.ndarray:
    """A Python number as an element of a dtype, if it does not change; also infinities of integers.

    Raises
    ------
    GraphError
        If the dtype cannot hold it.

    Examples
    --------
    >>> import semiring as sr
    >>> number(sr.min_plus, 5, np.dtype("i4")), number(sr.min_plus, np.inf, np.dtype("i2"))
    (array(5, dtype=int32), array(32767, dtype=int16))
    """
    if dtype.kind not in "biufc" or value != value:
        return as_array(value)
    limits = {x: i for i, x in infinities(S, dtype).items()}
    value = limits.get(value, value)
    if dtype.kind in "fc":
        try:
            with np.errstate(over="ignore"):
                held = np.asarray(value, dtype)
            lost = np.isfinite(value) and not np.isfinite(held)  # rounding is allowed, but not to an infinity
        except (OverflowError, TypeError):  # an integer too large for a float
            lost, held = True, np.empty((), dtype)
        if lost or (held == S.zero and value != S.zero):
            raise GraphError(f"A is {dtype}, which cannot hold {clip_repr(value)}; convert A with .astype(…)")
        return held
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if value != np.floor(value) or not low <= value <= high:
        raise GraphError(f"A is {dtype}, which cannot hold {value!r}; convert A with .astype(…)")
    return np.asarray(int(value), dtype)


def as_array(array: Any) -> np.ndarray:
    """The array of nested lists and the like.

    Raises
    ------
    GraphError
        If they do not form an array.
    """
    if is_foreign(array):
        return array_of(array, "the matrix")
    try:
        return np.asarray(array)
    except (ValueError, TypeError, OverflowError, RuntimeError) as e:
        raise GraphError(f"this is not a matrix: {e}; pass rows of the same length") from None


def as_converted(shown: np.ndarray, stored: np.ndarray, dtype: DTypeLike | None, copy: bool | None) -> np.ndarray:
    """The elements for `numpy.asarray`: as they are shown, or in an integer dtype as they are stored.

    Raises
    ------
    ValueError
        If a copy is needed and forbidden.
    """
    whole = dtype is not None and np.dtype(dtype).kind in "iu"
    found = stored if whole else shown
    if copy is False and found is not stored:
        raise ValueError("integers and ∞ become floats, in an array of their own: leave out copy=False")
    return np.array(found, dtype=dtype, copy=copy)


def first_named(values: Sequence[Any]) -> Operators | None:
    """The first matrix whose vertices have names, also in lists and tuples."""
    for value in values:
        found = first_named(value) if type(value) in (list, tuple) else value
        if isinstance(found, Operators) and found.names is not None:
            return found
    return None


def arrays_in(value: Any, first: Operators | None) -> Any:
    """The array of a matrix, with its vertices in the order of the first one; also in lists and tuples.

    A reordered array is a copy and read-only: anything that a function writes there would be lost.

    Raises
    ------
    GraphError
        If a vertex is in one of them only.
    """
    if type(value) in (list, tuple):
        return type(value)(arrays_in(x, first) for x in value)
    if has_index(value) and first is not None and first.names is not None:  # NumPy would drop the index
        return value.to_numpy()[places_of_labels(first.names, value.index.tolist())]
    if not isinstance(value, Operators):
        return value
    elements = with_infinities(value.array, value.semiring)
    names = None if first is None else first.names
    order = None if names is None or value.names is None else alignment(names, value.names)
    if order is None:
        return elements
    turned = elements[np.ix_(order, order)]
    turned.flags.writeable = False
    return turned


def places_of_labels(names: Sequence[Any], labels: Sequence[Any]) -> Any:
    """The positions of the vertices in a series, as an index of it.

    Raises
    ------
    GraphError
        If its labels are not the vertices, each once.

    Examples
    --------
    >>> places_of_labels(["a", "b"], ["b", "a"]).tolist()
    [1, 0]
    """
    if len(set(labels)) < len(labels):
        raise GraphError("a series has a label twice, but needs one entry for each vertex of the matrix")
    order = alignment(names, labels, "the matrix", "the series")
    return slice(None) if order is None else order


def place_in(out: Any, first: Operators | None) -> Any:
    """The array in which an answer is written: that of a matrix with the vertices of the first operand in order.

    Raises
    ------
    GraphError
        If they are in a different order, or different.
    """
    if not isinstance(out, Operators):
        return out
    if first is not None and out.names is not None and out.names != first.names:
        raise GraphError("out is a matrix with its vertices in a different order than the answer's: leave it out")
    return out.array


def written(found: Any, ufunc: np.ufunc, out: tuple[Any] | None = None, axes: Any = None, **others: Any) -> Any:
    """The result of an operator, in `out` if there is one, as for an array on the left: ``array @= M``.

    Raises
    ------
    SemiringError
        For other options of NumPy's function, which have no meaning over an algebra.
    """
    if axes is not None and any(axis not in ((-2, -1), (-1,)) for axis in axes):  # ``@=`` passes these
        others["axes"] = axes
    if others:
        raise SemiringError(f"numpy.{ufunc.__name__} of a Matrix computes over its algebra and takes out, not "
                            f"{', '.join(others)}; pass the elements, M.to_numpy(), to compute without the algebra")
    if out is None:
        return found
    answer = found if isinstance(found, Operators) else None
    np.copyto(place_in(out[0], answer), arrays_in(found, answer), casting="equiv")
    return out[0]


# NumPy calls these if an array is on the left of an operator, and a matrix on its right.
BY_ALGEBRA = {
    np.matmul: ("__matmul__", "__rmatmul__"), np.bitwise_or: ("__or__", "__ror__"), np.equal: ("__eq__", "__eq__"),
    np.not_equal: ("__ne__", "__ne__"),
}

# NumPy's functions of matrices, besides numpy.linalg: sums of products, which would silently be over the reals.
OF_MATRICES = {
    np.dot, np.vdot, np.inner, np.outer, np.tensordot, np.einsum, np.einsum_path, np.kron, np.trace, np.cross,
    np.convolve, np.correlate,
}
OTHERWISE = "A @ B is the product, A | B the sum and A ** k a power over its algebra"
INSTEAD = {
    "matrix_power": "M ** k is a power over its algebra",
    "inv": "sr.closure(M) is A*, and sr.factor(M) solves equations, over its algebra",
    "solve": "sr.solve(M, B) solves X = M ⊗ X ⊕ B over its algebra",
}
