"""`Operand`: a matrix over an algebra in the caller's representation, which answers return to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.algebra.vectors import convert
from semiring.algorithms.labels import Graph
from semiring.errors import SemiringError
from semiring.graphs.texts import with_infinities
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering


class Operand:
    """A matrix, a stack of matrices or a vector over an algebra.

    To add a representation, write a class, a reader, and a row of `semiring.operands.read.READERS`.

    `T`, `plain`, `eye`, `part`, `with_elements` and `graph` leave it unchanged.

    Attributes
    ----------
    kind : {"dense", "device", "sparse", "packed"}
        Decides which solvers are tried first.
    S : Semiring
    what : str
        Its name in messages.
    shape : tuple of int
        The shape of the matrix, after the axes of a stack.
    dtype : dtype
        The dtype of the elements in the computation.
    callers_dtype : dtype
        The dtype of the elements as passed, and of answers: `dtype`, perhaps in another byte order or record layout.
    names : sequence or None
        The names of the vertices.
    of_graph : bool
        Whether rows and columns are vertices, so that square answers are a `Matrix`.
    answers : callable, optional
        Makes the caller's kind of array from an answer. Default: a `Matrix` for a graph, else the answer itself.
    library : str, optional
        The library of the data frame that was passed, and of those that are returned.
    labels : sequence, optional
        Labels along each axis of a vector, a stack, or a matrix whose columns have names of their own; None for an axis
        without. See `semiring.operands.align`.
    factors : Factors or SparseFactors, optional
        The factors that were passed.
    prepared : bool
        Whether it is used in several calls, so that learning more about it is worth its time.
    goes_on : bool
        True if the result is consumed by another solver and may stay encoded (`semiring.solvers.forms.Encoded`).
    """

    kind: ClassVar[str]
    on_gpu: bool = False
    examined: bool = True  # otherwise call `look` before anything is computed
    of_graph: bool = False
    answers: Callable[[Any], Any] | None = None
    library: str | None = None
    labels: Sequence[Sequence[Any] | None] | None = None
    factors: Any = None
    prepared: bool = False
    goes_on: bool = False

    def __init__(
        self, S: Semiring, what: str, shape: tuple[int, ...], dtype: np.dtype, names: Sequence[Any] | None = None
    ):
        self.S, self.what, self.shape, self.dtype, self.names = S, what, shape, dtype, names
        self.callers_dtype = dtype

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.shape)) or "one number"
        return f"{shape} prepared for {self.S.name}, {dtype_text(self.dtype)}"

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        raise NotImplementedError

    @property
    def facts(self) -> Facts:
        """Facts about the elements; raises an error for anything that is not an element, with its place."""
        raise NotImplementedError

    def look(self) -> None:
        """Refuse anything that is not an element, unless this was done before."""

    @property
    def elements(self) -> Any:
        """The array of the elements: of all, or of the entries of a sparse matrix."""
        raise NotImplementedError

    @property
    def bounded(self) -> bool:
        """Whether no edge is better than one."""
        raise NotImplementedError

    @property
    def T(self) -> Self:
        """The transposed matrix, or stack of matrices; answers are arrays."""
        raise NotImplementedError

    @property
    def plain(self) -> Self:
        """The same elements; answers are arrays, and names occur in messages only."""
        strange = self.answers, self.library, self.labels
        if not self.of_graph and strange == (None, None, None) and self.callers_dtype is self.dtype:
            return self
        return self.changed(answers=None, of_graph=False, library=None, labels=None, callers_dtype=self.dtype)

    def eye(self) -> Self:
        """The identity of the same shape, on the host; answers have the caller's own type."""
        raise NotImplementedError

    def part(self, vertices: np.ndarray) -> Self:
        """The rows and columns of some vertices, in the order of these."""
        raise NotImplementedError

    def with_elements(self, elements: Any) -> Operand:
        """Other elements in the same places; answers have the caller's own type."""
        raise NotImplementedError

    def graph(self, matrix: tuple[int, ...] | None = None) -> Graph:
        """The matrix, or one of a stack, as a graph to search on the host."""
        raise NotImplementedError

    def wrap(self, answer: Any) -> Any:
        """An answer in the caller's own type, with the names of the vertices."""
        return answer if self.answers is None else self.answers(answer)

    def changed(self, **attributes: Any) -> Self:
        """A copy with other attributes and the same facts; a prepared operand is shared by several calls."""
        made = object.__new__(type(self))
        vars(made).update(vars(self), **attributes)
        return made

    def of_library(self, library: str | None) -> Self:
        """Note the library of the data frame that was passed."""
        self.library = library
        return self

    def answering_in(self, dtype: np.dtype) -> Self:
        """The same operand for answers in another byte order or layout of records."""
        return self if self.callers_dtype == dtype else self.changed(callers_dtype=dtype)

    def in_callers_dtype(self, answer: Any) -> Any:
        """An answer in the byte order, and the layout of records, of the elements that were passed."""
        if answer.dtype == self.callers_dtype or not isinstance(answer, np.ndarray):  # GPUs have one byte order
            return answer
        return convert(answer, self.callers_dtype)

    def as_shown(self, answer: Any) -> Any:
        """An answer in the caller's dtype; with ∞ in place of the integers that stand for it, unless A is an array."""
        found = self.in_callers_dtype(answer)
        return with_infinities(found, self.S) if self.of_graph and isinstance(found, np.ndarray) else found

    def number(self, element: Any) -> Any:
        """An element as a Python number, ∞ as a float; records and objects stay."""
        dtype = getattr(element, "dtype", None)
        if dtype is None or dtype.kind not in "iuV":
            return element.item() if isinstance(element, np.generic) else element
        found = with_infinities(np.asarray(element), self.S)[()]
        return found.item() if isinstance(found, np.generic) and not isinstance(found, np.void) else found

    def form(
        self, length: int, *, beside: Sequence[Operand] = (), check: bool = True, in_place: bool = False,
        packed: bool | None = None,
    ) -> tuple[Facts, Lowering]:
        """Facts about the elements, and the form in which to compute.

        Parameters
        ----------
        length : int
            The largest number of factors in a ⊗-product.
        beside : sequence of Operand, optional
            Other operands of the same dtype and representation, which take part in the computation.
        check : bool
            Whether to check elements on a GPU.
        in_place : bool
            Whether the caller wants to reuse the elements' own memory.
        packed : bool, optional
            Whether one bit per element is possible. Default: in a matrix.
        """
        facts, packed = self.facts, len(self.shape) == 2 if packed is None else packed
        return facts, self.lowering(facts, length, in_place=in_place, packed=packed)

    def lowering(self, facts: Facts, length: int, *, in_place: bool = False, packed: bool = False) -> Lowering:
        """The form in which to compute; see `semiring.kernels.choose.choose`."""
        return choose(self.S, self.dtype, facts, length, in_place=in_place, packed=packed)

    def stored(self, low: Lowering, copy: bool) -> Any:
        """The elements in a lowering's storage; their own memory may be used unless `copy`."""
        raise NotImplementedError

    def unstored(self, low: Lowering, work: Any) -> Any:
        """Convert the result of `stored`, or an answer like it, to the caller's own type."""
        return self.wrap(low.decode(work))

    def position(self, vertex: int) -> Any:
        """The name of a vertex."""
        return vertex if self.names is None else self.names[vertex]

    def _names_of(self, vertices: np.ndarray) -> list[Any]:
        """Names of vertices that are a part of the matrix: their numbers if they have none."""
        return [self.position(v) for v in vertices.tolist()]


@lru_cache(1024)
def order_of(shape: tuple[int, ...], what: str = "A") -> int:
    """The order of a square matrix, or of each matrix of a stack."""
    if len(shape) < 2 or shape[-1] != shape[-2]:
        text = " × ".join(map(str, shape)) or "one number"
        raise SemiringError(f"{what} must be a square matrix or a stack of them (…, n, n), and is {text}")
    return int(shape[-1])


@lru_cache(1024)
def order_of_one(shape: tuple[int, ...], what: str = "A") -> int:
    """The order of one square matrix."""
    if len(shape) != 2:
        raise SemiringError(f"{what} must be one square matrix, and has shape {tuple(shape)}")
    if shape[0] != shape[1]:
        raise SemiringError(f"{what} must be a square matrix, and is {shape[0]} × {shape[1]}")
    return int(shape[0])
