"""What solvers share: forms of computation, answers and their checks, right-hand sides, encoded matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

from semiring.algebra.elements import is_nan
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.algebra.vectors import convert
from semiring.errors import OutOfRangeError, SemiringError
from semiring.graphs.dataarrays import is_dataarray
from semiring.graphs.frames import has_columns_of, has_index_of
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import as_stored, with_infinities
from semiring.kernels.build import affordable
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general, inside
from semiring.operands.align import aligned, alike, axis_labels, in_order
from semiring.operands.between import right_side
from semiring.operands.convert import as_dense, on_device, on_host
from semiring.operands.dense import Dense
from semiring.operands.devices import is_on_gpu, to_host
from semiring.operands.operand import Operand
from semiring.operands.read import operand, refuse_edges


@lru_cache(1024)
def plain_form(S: Semiring, dtype: np.dtype, facts: Facts, length: int) -> Lowering:
    """Choose the form for little work on much data: floats as they are; other forms cost more than they save."""
    low = choose(S, dtype, facts, length, in_place=False, packed=False)
    plain = general(S, dtype) if low.kind == "numba" and dtype in (np.float32, np.float64) else low
    return plain if plain.is_identity else low


def affordable_sums(low: Lowering, facts: Facts, rounds: float, terms: float, purpose: str) -> Lowering:
    """`affordable`, with ordinary sums of integers where none of at most `rounds` terms an entry can leave the dtype.

    Code that is at hand goes before code that would have to be compiled.
    """
    ordinary = inside(low.algebra, low.dtype, facts, rounds) if low.kind == "numba" else None
    if ordinary is None:
        return affordable(low, rounds, terms, purpose)
    found = affordable(ordinary, rounds, terms, purpose)
    other = found if found.compiled else affordable(low, rounds, terms, purpose)
    return other if other.compiled else found


def with_room(facts: Facts) -> Facts:
    """Return facts about such large numbers that the widest storage is chosen: right-hand sides may be large."""
    return replace(facts, largest=max(facts.largest, 1 << 40))


def without_library(low: Lowering) -> Lowering:
    """Return the same form with compiled products only, in which 0 · ∞ = 0."""
    return replace(low, blas=False, inverts=False, reason="⊕ and ⊗ are sum and product, and numbers overflow")


def is_finite(array: Any) -> bool:
    """Return whether data on a GPU contain neither infinities nor NaN. Synchronizes the device."""
    import cupy

    return bool(cupy.isfinite(array).all())


def refuse_overflow(
    low: Lowering, result: Any, place: Callable[[int], tuple[int, ...]] | None = None, first: tuple[int, int] = (0, 0)
) -> None:
    """Refuse NaN in a result: the operands contain none.

    `place` maps the position in a vector of entries to that in the matrix; a block of a matrix begins at `first`.

    Raises
    ------
    OutOfRangeError
        If infinities of both signs were added, because numbers left the range of the dtype.
    """
    there = low.on_gpu and not isinstance(result, np.ndarray)  # tiles of it may be in the host's memory
    if low.drops_nan or result.dtype.kind not in "fcV" or (there and result.dtype.names):
        return
    if there:
        import cupy

        found = cupy.isnan(result)
        if not bool(found.any()):
            return
        at = tuple(int(i) for i in np.argwhere(found.get())[0])
    else:
        if not result.dtype.names:
            with np.errstate(over="ignore", invalid="ignore"):
                if not np.isnan(np.add.reduce(result, axis=None)):
                    return
        found = is_nan(result)
        if not found.any():
            return
        at = tuple(np.argwhere(found)[0].tolist())
    at = at if place is None else place(at[0])
    at = (at[0] + first[0], at[1] + first[1]) if any(first) else at
    raise OutOfRangeError(
        f"{low.algebra.name}: the result has no value at [{', '.join(map(str, at))}]: on the way numbers leave the "
        f"range of {result.dtype}, and infinities of both signs meet. Convert the data to a wider dtype, or scale them"
    )


def product_of(left: Operand, right: Operand, answer: Any) -> Any:
    """Return a product as the type of the first operand, with the names that both operands have."""
    return left.in_callers_dtype(answer) if left.of_graph and not alike(left, right) else left.wrap(answer)


def written(out: Any, answer: Any) -> Any:
    """Write the answer to `out`, and return that."""
    if is_on_gpu(out) != is_on_gpu(answer):
        answer = to_host(answer)
    out[...] = convert(answer, out.dtype) if out.dtype.names else answer
    return out


def restored(B: Any, A: Operand, left: bool = False) -> Any:
    """Return B in the dtype of a graph A of integers, if it contains ∞ as answers for such a graph do.

    The answer is then shown with ∞, too. A `Matrix` whose rows, or columns if the unknowns are on the left, are the
    vertices of A is put into their order; the answer has its names. So is a DataArray of two axes, and a data frame
    with these vertices as its index, or as its columns.

    Raises
    ------
    SemiringError
        For a data frame whose index are other vertices, which may be edges.
    """
    vertices = axis_labels(A, -2) or axis_labels(A, -1)
    named = not isinstance(vertices, range) and (has_columns_of if left else has_index_of)(B, vertices)
    if named or (is_dataarray(B) and B.ndim == 2):
        B = Matrix(B, A.S)
    refuse_edges(B)
    if isinstance(B, Matrix) and not B.is_over_vertices:
        return right_side(B, A, left)
    found = as_stored(B, A.S, A.dtype) if A.of_graph and isinstance(B, np.ndarray) else None
    return B if found is None else Dense(found, A.S, "B", lambda answer: with_infinities(answer, A.S))


def right_hand_side(
    B: Any, A: Operand, dtype: np.dtype, placed: Operand | None = None, left: bool = False
) -> Dense:
    """Read B of X = A ⊗ X ⊕ B: a vector, or the columns of a matrix, of A's dtype; of X = X ⊗ A ⊕ B the rows.

    A and B are as they were passed; `placed` is B on the device that computes. The right-hand side wraps the answer:
    it has B's kind and A's byte order.
    """
    came = operand(restored(B, A, left), A.S, "B")
    came = aligned(came, A, "B") if came.of_graph and A.of_graph else came
    came = came if came.labels is None else in_order(A, came, -1 if left else -2)[1].changed(labels=None)
    came = came.answering_in(A.callers_dtype)
    given = as_dense(placed or came)
    if given.dtype != dtype:
        raise SemiringError(f"A is {dtype_text(dtype)} and B is {dtype_text(given.dtype)}; convert one with .astype(…)")
    n = A.shape[-1]
    if len(given.shape) not in (1, 2) or given.shape[-1 if left else 0] != n:
        several = f"(m, {n})" if left else f"({n}, m)"
        raise SemiringError(f"B must have shape ({n},) or {several}, and has {given.shape}")
    if came.of_graph and not alike(A, came):  # names are on the host, and so was B
        given = type(given)(given.array, A.S, given.what, lambda answer: came.in_callers_dtype(to_host(answer)))
    _ = given.facts  # refuses what is not an element
    return given


Apply = Callable[[Any], None]  # X ← A* X, in storage; or X ← X A*


def solution(
    A: Operand, right: Dense, low: Lowering, engine: Callable[[bool], tuple[Lowering, Apply]], check: bool,
    left: bool = False,
) -> Any:
    """Compute X = A* B by factors, or B A* if the unknowns are on the left.

    Parameters
    ----------
    A : Operand
    right : Dense
        B, from `right_hand_side`.
    low : Lowering
        The lowering of the factors.
    engine : callable
        Returns a lowering and a function that multiplies by A* in it: `low`, or Python's integers if called with True.
    check : bool
        Whether to refuse an answer without a value.
    """
    wide = low.algebra.is_tropical and low.storage.kind == "i" and _overflows(A, right, low)
    if wide and low.kind != "numba":
        raise SemiringError("B is infinite, or so large that sums leave 64 bits: solve with device='cpu'")
    low, apply = engine(wide)
    if right.on_gpu != low.on_gpu:
        right = as_dense(on_device(right) if low.on_gpu else on_host(right))
    b = right.array
    X = low.encode(b if b.ndim == 2 else b[None] if left else b[:, None], True)
    apply(X)
    result = low.decode(X)
    if check:
        refuse_overflow(low, result)
    return right.wrap(result if b.ndim == 2 else result[0] if left else result[:, 0])


def _overflows(A: Operand, right: Dense, low: Lowering) -> bool:
    """Whether sums with the right-hand side may leave the storage, which was chosen without it."""
    B = right.facts
    if low.dtype.kind == "i" and (B.low_limit if low.algebra.zero == np.inf else B.high_limit):
        return True
    return int(A.facts.largest) * A.shape[-1] + int(B.largest) >= np.iinfo(low.storage).max // 4


class Encoded:
    """A matrix in storage that one solver passes to the next: elements are decoded when they are read.

    Parameters
    ----------
    low : Lowering
    array : ndarray
        The elements in storage, on the host.

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
        """The shape of the array."""
        return self.array.shape

    @property
    def T(self) -> Self:
        """The transpose, in the same memory."""
        return type(self)(self.low, self.array.T)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, place: Any) -> np.ndarray:
        """Decode some elements, in new memory."""
        return self.low.decode(np.array(self.array[place]))

    def is_as_in(self, low: Lowering) -> bool:
        """Return whether another lowering stores elements in the same way."""
        return self.low.recode is low.recode and self.low.storage == low.storage

    def decoded(self) -> np.ndarray:
        """Decode all elements, in the same memory if possible: the storage must not be read any more."""
        return self.low.decode(self.array)
