"""NumPy's functions on a `Matrix`: over its algebra, or information about elements, or refused.

Each function of NumPy is a row of a table here, or is refused: most would compute over the real numbers, whatever the
algebra is.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.catalogue import boolean
from semiring.errors import GraphError, SemiringError

from .axes import Axes
from .frames import has_index, has_labels, is_of_truths
from .held import Array, Held
from .names import alignment, refuse_table, same_names
from .order import orders, reordered
from .texts import with_infinities

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

    from .matrix import Matrix


class ArrayProtocol(Axes):
    """What NumPy, pandas and SciPy ask a `Matrix` when they compute.

    Attributes
    ----------
    semiring : Semiring
    library : str or None
    """

    semiring: Semiring
    library: str | None

    # pandas leaves an operator to the operand on its right if that has a higher number: ``frame | M`` uses the labels
    __pandas_priority__ = 5000

    def _like(self, array: Any, names: Sequence[Any] | None, columns: Sequence[Any] | None = None) -> Matrix:
        """A matrix of other elements over the same algebra."""
        raise NotImplementedError

    def _with(self, held: Held, rows: Any, columns: Any, own: bool | None = None) -> Matrix:
        """A matrix of other elements over the same algebra, with these names."""
        raise NotImplementedError

    def _over(self, S: Semiring, array: Any, columns: Sequence[Any] | None = None) -> Matrix:
        """A matrix over another algebra."""
        raise NotImplementedError

    @property
    def array(self) -> np.ndarray:
        """The elements as stored, of a dense matrix; of others an error."""
        return self._held.array

    @array.setter
    def array(self, array: np.ndarray) -> None:
        self._held = Array(array, self.semiring)

    @property
    def holder(self) -> str:
        """How the elements are kept: dense, sparse or packed."""
        return self._held.kind

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        if "xarray" in sys.modules:
            self._refuse_operators_of_xarray()
        return computed(self, ufunc, method, inputs, keywords)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Any:
        return called(self, function, arguments, keywords)

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
        if not has_labels(value):
            return value
        return self._over(boolean, value) if is_of_truths(value) else self._like(value, None)

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

    def _refuse_operators_of_xarray(self) -> None:
        """Refuse operators of xarray with a matrix on their right, of which only the array would be left.

        Raises
        ------
        SemiringError
            If this is called by xarray.
        """
        if sys._getframe(2).f_globals.get("__name__", "").startswith("xarray."):
            raise SemiringError("a DataArray on the left of a Matrix would be matched with it by position, whatever "
                                "the names: write sr.Matrix(array, S) for it, or put the Matrix on the left")

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


def computed(M: ArrayProtocol, ufunc: np.ufunc, method: str, inputs: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """A ufunc of matrices: over their algebra, or information about elements.

    Raises
    ------
    SemiringError
        If it would compute over the real numbers.
    """
    given = [x for x in inputs if isinstance(x, ArrayProtocol)]
    if ufunc in BY_ALGEBRA and method == "__call__" and given:
        (left, right), (name, reflected) = inputs, BY_ALGEBRA[ufunc]
        by_left = isinstance(left, ArrayProtocol)
        found = getattr(left, name)(right) if by_left else getattr(right, reflected)(left)
        return written(found, ufunc, **keywords)
    for x in given:
        if ufunc not in INFORMATION and not is_sum(x.semiring, ufunc):
            refuse_reals(x, ufunc)
        if x.semiring is not given[0].semiring and ufunc not in INFORMATION:
            raise SemiringError(f"numpy.{ufunc.__name__} of matrices over {given[0].semiring.name} and over "
                                f"{x.semiring.name}: their elements have different meanings")
    inputs = [M._over_vertices(x) for x in inputs]
    first = first_named(inputs)
    if "out" in keywords:
        keywords["out"] = tuple(place_in(x, first) for x in keywords["out"])
    return getattr(ufunc, method)(*(arrays_in(x, first) for x in inputs), **keywords)


def called(
    M: ArrayProtocol, function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> Any:
    """A function of NumPy, other than a ufunc, of matrices: one of their methods, or one that moves or shows elements.

    Raises
    ------
    SemiringError
        If it would compute over the real numbers.
    """
    name = function.__name__
    if name in METHODS and function.__module__ in OWN and arguments and isinstance(arguments[0], ArrayProtocol):
        first, *rest = arguments
        if len(rest) > 1 or not {*keywords} <= {METHODS[name]}:
            others = ", ".join(sorted({*keywords} - {METHODS[name]})) or "more arguments by position"
            raise SemiringError(f"numpy.{name} of a Matrix computes over its algebra and takes {METHODS[name]}, not "
                                f"{others}; pass the elements, M.to_numpy(), to compute without the algebra")
        return getattr(first, name)(*rest, *keywords.values())
    if function in SIZES:
        return function(np.broadcast_to(np.False_, M.shape), *arguments[1:], **keywords)
    truth = name in ("any", "all") and M.dtype.kind == "b"
    if not (truth or (name in ELEMENTS and function.__module__ in OWN)):
        refuse_reals(M, function)
    arguments = [M._over_vertices(x) for x in arguments]
    keywords = {name: x if name == "out" else M._over_vertices(x) for name, x in keywords.items()}
    read = {name: x for name, x in keywords.items() if name != "out"}
    first = first_named((*arguments, *read.values()))
    if "out" in keywords:
        keywords = {**keywords, "out": place_in(keywords["out"], first)}
    return function(*(arrays_in(x, first) for x in arguments),
                    **{name: arrays_in(x, first) for name, x in keywords.items()})


def is_sum(S: Semiring, ufunc: np.ufunc) -> bool:
    """Whether a ufunc is the algebra's ⊕, as `numpy.minimum` is in min-plus.

    Examples
    --------
    >>> import semiring as sr
    >>> is_sum(sr.min_plus, np.minimum), is_sum(sr.min_plus, np.add), is_sum(sr.plus_times, np.add)
    (True, False, True)
    """
    outputs = () if S.traced is None else S.traced.add.outputs
    if len(outputs) != 1:
        return False
    op, args = outputs[0].op, outputs[0].args
    return op == ufunc.__name__ and [x.op for x in args] == ["input", "input"] and args[0].value != args[1].value


def refuse_reals(M: ArrayProtocol, function: Any) -> None:
    """Refuse a function of NumPy that would compute over the real numbers, and say what to do instead.

    Raises
    ------
    SemiringError
        Always.
    """
    home = "numpy.linalg" if getattr(function, "__module__", None) == np.linalg.__name__ else "numpy"
    name = function.__name__
    raise SemiringError(
        f"{home}.{name} of a Matrix would compute over the real numbers, and not over {M.semiring.name}: "
        f"{INSTEAD.get(name, OTHERWISE)}. For real numbers pass the elements, M.to_numpy()"
    )


def first_named(values: Sequence[Any]) -> ArrayProtocol | None:
    """The first matrix whose vertices have names, also in lists and tuples."""
    for value in values:
        found = first_named(value) if type(value) in (list, tuple) else value
        if isinstance(found, ArrayProtocol) and not found.row_names is found.column_names is None:
            return found
    return None


def arrays_in(value: Any, first: ArrayProtocol | None) -> Any:
    """The array of a matrix, with its vertices in the order of the first one; also in lists and tuples.

    A reordered array is a copy and read-only: anything that a function writes there would be lost.

    Raises
    ------
    GraphError
        If a vertex is in one of them only.
    """
    if type(value) in (list, tuple):
        return type(value)(arrays_in(x, first) for x in value)
    if has_index(value) and first is not None and first.column_names is not None:  # NumPy would drop the index
        return value.to_numpy()[places_of_labels(first.column_names, value.index.tolist())]
    if not isinstance(value, ArrayProtocol):
        return value
    elements = with_infinities(value.array, value.semiring)
    order = (None, None) if first is None or first is value else orders(first, value)
    if order[0] is order[1] is None:
        return elements
    turned = reordered(elements, *order)
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


def place_in(out: Any, first: ArrayProtocol | None) -> Any:
    """The array in which an answer is written: that of a matrix with the vertices of the first operand in order.

    Raises
    ------
    GraphError
        If they are in a different order, or different.
    """
    if not isinstance(out, ArrayProtocol):
        return out
    names = () if first is None else ((out.row_names, first.row_names), (out.column_names, first.column_names))
    if any(outs is not None and not same_names(outs, firsts) for outs, firsts in names):
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
    answer = found if isinstance(found, ArrayProtocol) else None
    np.copyto(place_in(out[0], answer), arrays_in(found, answer), casting="equiv")
    return out[0]


# NumPy calls these if an array is on the left of an operator, and a matrix on its right.
BY_ALGEBRA = {
    np.matmul: ("__matmul__", "__rmatmul__"), np.bitwise_or: ("__or__", "__ror__"),
    np.multiply: ("__mul__", "__rmul__"), np.equal: ("__eq__", "__eq__"), np.not_equal: ("__ne__", "__ne__"),
}

# Ufuncs that ask about elements, one by one, and mean the same over every algebra.
INFORMATION = {
    np.isnan, np.isinf, np.isfinite, np.signbit, np.less, np.less_equal, np.greater, np.greater_equal,
}

# NumPy's functions that are methods of a Matrix, and the name of their other argument; and the modules they are in.
METHODS = {"sum": "axis", "kron": "b"}
OWN = ("numpy", "numpy.lib", "numpy.core")

# Functions that ask for the shape alone, which a matrix has however it is held.
SIZES = (np.shape, np.ndim, np.size)

# Functions that move, select, order, compare or write elements, and compute none.
ELEMENTS = frozenset(
    "concatenate stack vstack hstack dstack column_stack block append split array_split hsplit vsplit where copy "
    "copyto ravel reshape transpose matrix_transpose permute_dims moveaxis swapaxes broadcast_to broadcast_arrays "
    "squeeze expand_dims atleast_1d atleast_2d atleast_3d take take_along_axis compress extract choose tile repeat "
    "roll rot90 flip fliplr flipud delete diagonal array_equal array_equiv allclose isclose max min "
    "amax amin argmax argmin sort argsort unique unique_values searchsorted isin iscomplexobj isrealobj "
    "may_share_memory shares_memory result_type can_cast common_type array_repr array_str array2string save savez "
    "savez_compressed savetxt empty_like full_like"
    .split()
)

OTHERWISE = "A | B is ⊕ and A * B is ⊗ by element, A @ B is the product of matrices, and A.map(f) applies a function"
ENTRIES = "M.edges() and M.nnz tell the entries other than the algebra's zero"
INSTEAD = {
    "matrix_power": "M ** k is a power over its algebra",
    "inv": "sr.closure(M) is A*, and sr.factor(M) solves equations, over its algebra",
    "solve": "sr.solve(M, B) solves X = M ⊗ X ⊕ B over its algebra",
    "add": "A | B is the sum ⊕ over its algebra, and A * B the product ⊗ by element",
    "trace": "M.diagonal() has the elements, and S.add combines them",
    "nonzero": ENTRIES, "count_nonzero": ENTRIES, "argwhere": ENTRIES, "flatnonzero": ENTRIES,
    "tril": "M.where(mask) keeps some entries", "triu": "M.where(mask) keeps some entries",
}
