"""Close a matrix wherever it is stored: its home closes it, and the steps that follow are the same for all homes.

    A ← A*         a schedule of the home's, in storage
    1 ⊕ a_ii ≠ 1   a cycle improves, or rounding makes one look so: then a_ii ← 1
    A⁺ = A A*      differs from A* on the diagonal alone, x_ii = ⊕_k a_ik ⊗ x_ki

A home is where a matrix is stored while it is closed. `Home` keeps the answer in an array; a file and the processes of
MPI keep it in parts, and define how these are read and written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from semiring.algebra.laws import Arithmetic
from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocks import UndefinedStar, spans
from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.operands.dense import Dense
from semiring.operands.devices import to_host

from .cycles import Verdict, judge, may_diverge, search_elements
from .dense import fields
from .forms import refuse_overflow
from .refusals import Index
from .task import Declined

DIAGONAL_BLOCK = 512  # rows and columns of a block that is multiplied entry by entry


class Home:
    """A matrix whose closure becomes an array, in the host's memory or on a GPU.

    Parameters
    ----------
    given : Dense
    check : bool
        Whether to check elements, cycles and results.
    reflexive : bool
        Whether A* is wanted, and not A⁺.

    Attributes
    ----------
    S : Semiring
    names : sequence or None
        The names of the vertices.
    low : Lowering
        The form of the computation; `close` may choose it.
    facts : Facts
        About the elements.
    answer : array
        The elements of the closure, once `decode` has run.
    doubt : str or None
        What would show whether a cycle improves or rounding errors grew; None if `close_again` can do better.
    kept : bool
        Whether the matrix was kept, so that it can be searched for cycles.
    """

    low: Lowering
    facts: Facts
    answer: Any
    doubt: str | None = None
    kept = True

    def __init__(self, given: Dense, check: bool, reflexive: bool):
        self.given, self.check, self.reflexive = given, check, reflexive
        self.S: Semiring = given.S
        self.names: Sequence[Any] | None = given.names

    def close(self) -> None:
        """Compute A ← A*.

        Raises
        ------
        UndefinedStar
            If a pivot has no star.
        """
        raise NotImplementedError

    def refuse(self, error: UndefinedStar) -> None:
        """Raise the error of a pivot without a star; return if `mend` will exchange rows."""
        if not self.kept or not (self.low.inverts or self.low.dual):
            raise error
        raise Declined("rows have to be exchanged") from None

    def verdict(self) -> Verdict:
        """Judge whether a cycle improves, by the diagonal of A*.

        Raises
        ------
        NoClosureError
        """
        search = self.search if self.kept else None
        found = judge(self.low, self.diagonal(), search, self.facts, self.names, doubt=self.doubt)
        if found.error is not None:
            raise found.error
        return found

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of A*, in storage, on the host."""
        return stored_vector(self.low, to_host(self.answer.diagonal()).copy())

    def search(self, vertices: list[int], index: Index | None) -> NoClosureError | None:
        """Return the error of a cycle through one of the vertices that improves; see `cycles.Search`."""
        return search_elements(self.S, self.given.array, self.facts, self.names, vertices, index)

    def close_again(self) -> None:
        """Compute A ← A* in a way in which rounding errors do not grow."""
        raise Declined("rounding errors grew")

    def decoded(self, stored: Any, first: tuple[int, int] = (0, 0)) -> Any:
        """Decode a block of A* that begins at a place; refuse results without a value."""
        found = self.low.decode(stored)
        if self.check:
            refuse_overflow(self.low, found, first=first)
        return found

    def decode(self) -> None:
        """Decode the elements into `answer`; refuse results without a value."""

    def put_diagonal(self, vertices: Iterable[int], values: Any) -> None:
        """Write elements, or one, to places of the diagonal."""
        put_diagonal(self.answer, 0, vertices, np.asarray(values, self.given.dtype))

    def mend(self, sound: bool) -> None:
        """Check A* over a field and over log, and correct it; `sound` says that `close` finished."""
        if self.kept:
            self.answer = fields.corrected(self.given, self.answer, sound)

    def with_edges(self) -> np.ndarray:
        """Return the diagonal of A⁺ = A A*."""
        A, X = self.given.array, self.answer
        return diagonal_of_product(self.S.over(self.given.dtype), len(A), lambda *block: to_host(A[block]),
                                   lambda *block: to_host(X[block]))

    def leave_out_empty_walks(self) -> None:
        """Compute A* ← A⁺."""
        self.put_diagonal(range(self.given.shape[-1]), self.with_edges())  # all computed first

    def wrapped(self) -> Any:
        """Return the answer as the caller gets it."""
        return self.given.wrap(self.answer)


def closed(home: Home) -> Any:
    """The closure of the matrix in a home, as the caller gets it.

    Raises
    ------
    NoClosureError
        If a cycle improves, or a star that is needed does not exist.
    SemiringError
        If a result does not fit in the dtype.
    Declined
        If the home cannot close the matrix, but other solvers may.
    """
    sound = True
    try:
        home.close()
    except UndefinedStar as error:
        home.refuse(error)
        sound = False
    rounded: list[int] = []
    if home.check and sound and may_diverge(home.low):
        verdict = home.verdict()
        if verdict.unstable:
            home.close_again()
        else:
            rounded = [place[-1] for place in verdict.rounded]
    home.decode()
    if rounded:
        home.put_diagonal(rounded, home.S.one_in(home.low.dtype))
    home.mend(sound)
    if not home.reflexive:
        home.leave_out_empty_walks()
    return home.wrapped()


def method_among(methods: tuple[str, ...], asked: str, where: str) -> str:
    """Return the method of a home: the one that is asked for, or the first if that is "auto".

    Raises
    ------
    SemiringError
        If the home does not have the method.

    Examples
    --------
    >>> method_among(("blocked",), "squaring", "with on=")
    Traceback (most recent call last):
    semiring.errors.SemiringError: with on= the method must be blocked or auto, and is 'squaring'
    """
    found = methods[0] if asked == "auto" else asked
    if found not in methods:
        raise SemiringError(f"{where} the method must be {', '.join(methods)} or auto, and is {asked!r}")
    return found


def put_diagonal(block: Any, first: int, vertices: Iterable[int], values: np.ndarray) -> None:
    """Write elements, or one, to a diagonal block whose first vertex is `first`; vertices outside are skipped."""
    where = np.array(list(vertices), np.intp)
    for v, value in zip((where - first).tolist(), np.broadcast_to(values, where.shape), strict=True):
        if 0 <= v < len(block):
            block[v, v] = value


def stored_vector(low: Any, values: np.ndarray) -> np.ndarray:
    """Return a vector of elements in storage, on the host."""
    if not low.on_gpu:
        return np.asarray(low.encode(values, copy=False))
    from semiring.kernels.cuda.dense.carry import encoded

    return encoded(low, values) if len(values) else np.empty(0, low.storage)


def diagonal_of_product(
    T: Arithmetic, n: int, first: Callable[[slice, slice], np.ndarray], second: Callable[[slice, slice], np.ndarray]
) -> np.ndarray:
    """Return the diagonal of a product of two matrices, block by block: neither has to be in memory.

    Parameters
    ----------
    T : Arithmetic
        For the dtype of their elements.
    n : int
        The order of the matrices.
    first, second : function of two slices
        Returns the block of some rows and columns of each.

    Returns
    -------
    ndarray, shape (n,)
    """
    blocks = spans(n, DIAGONAL_BLOCK)
    found: list[np.ndarray] = []
    for rows in blocks:
        total: Any = None
        for inner in blocks:
            some = diagonal_of_blocks(T, first(rows, inner), second(inner, rows))
            total = some if total is None else T.add(total, some)
        found.append(total)
    return np.concatenate(found) if found else np.empty(0, T.dtype)


def diagonal_of_blocks(T: Arithmetic, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the vector of ⊕_k a_ik ⊗ b_ki, shape (m,), from blocks of shapes (m, k) and (k, m) with k > 0."""
    terms = T.mul(A, B.T)
    while terms.shape[1] > 1:
        half = terms.shape[1] // 2
        odd = terms[:, 2 * half :]
        terms = np.concatenate([T.add(terms[:, :half], terms[:, half : 2 * half]), odd], axis=1)
    return np.asarray(terms[:, 0])
