"""What schedules and solvers may ask of an engine: any matrix that can be cut into blocks gets all by this.

Every engine is a `Kernel`. Those of arrays are `StackKernel`s, those of bits `BitKernel`s; those that compute on the
host are `HostKernel`s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis

Report = Callable[[float], None]  # called with the fraction that is done, from 0 to 1


class Block(Protocol):
    """A rectangle of a matrix, dense, packed or on a device; its slices are views."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def __getitem__(self, key: Any, /) -> Any:
        """A block of it."""


AnyBlock = TypeVar("AnyBlock", bound=Block)


class Kernel(Protocol[AnyBlock]):
    """C ⊕= A ⊗ B and the closure of a small block, for one algebra on one kind of block.

    `tile` is the order of a block that `close` takes directly; block bounds are multiples of `align`.
    """

    tile: int
    align: int

    @property
    def place(self) -> str:
        """The place of the computation, in words."""

    @property
    def unchecked(self) -> Kernel[AnyBlock]:
        """The same engine, but nothing waits to hear of pivots without a star; on the host itself."""

    def multiply_add(self, C: AnyBlock, A: AnyBlock, B: AnyBlock) -> None:
        """C ← C ⊕ A ⊗ B; C overlaps neither A nor B."""

    def multiply(self, C: AnyBlock, A: AnyBlock, B: AnyBlock) -> None:
        """C ← A ⊗ B; C overlaps neither A nor B."""

    def left(self, D: AnyBlock, R: AnyBlock) -> None:
        """R ← D ⊗ R in place, with little extra memory."""

    def right(self, C: AnyBlock, D: AnyBlock) -> None:
        """C ← C ⊗ D in place, with little extra memory."""

    def close(self, D: AnyBlock) -> int:
        """D ← D* in place; −1, or the first pivot whose star does not exist."""

    def closes_whole(self, n: int) -> bool:
        """Whether `close` is the best way to close a whole matrix of this order."""

    def add_one(self, A: AnyBlock) -> None:
        """A ← 1 ⊕ A: ones join the diagonal."""

    def like(self, A: AnyBlock) -> AnyBlock:
        """A matrix of the same kind and shape, holding anything."""

    def equal(self, A: AnyBlock, B: AnyBlock) -> bool:
        """Whether two matrices hold the same elements."""

    def assign(self, A: AnyBlock, B: AnyBlock) -> None:
        """A ← B."""

    def diagonal(self, A: AnyBlock, D: AnyBlock) -> np.ndarray:
        """The vector of ⊕_k a_ik ⊗ d_ki; on a GPU an array of CuPy's."""

    def set_diagonal(self, A: AnyBlock, values: np.ndarray) -> None:
        """a_ii ← the values."""


class StackKernel(Kernel[AnyBlock], Protocol[AnyBlock]):
    """An engine of arrays, which takes many matrices of one shape in one call."""

    def multiply_stack(self, C: AnyBlock, A: AnyBlock, B: AnyBlock) -> None:
        """C[s] ← A[s] ⊗ B[s] for every s; A and B may repeat a matrix by a zero stride."""

    def multiply_add_stack(self, C: AnyBlock, A: AnyBlock, B: AnyBlock) -> None:
        """C[s] ← C[s] ⊕ A[s] ⊗ B[s] for every s; A and B may repeat a matrix by a zero stride."""

    def close_stack(self, D: AnyBlock) -> np.ndarray:
        """D[s] ← D[s]* for every s; an array of −1 or the first pivot without a star, for each."""


class ElementKernel(StackKernel[np.ndarray], Protocol):
    """An engine of arrays whose elements NumPy can handle one by one."""

    def add(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x ⊕ y, element by element."""

    def zeros(self, shape: tuple[int, ...]) -> np.ndarray:
        """An array of zeros."""


class BitKernel(Kernel[AnyBlock], Protocol[AnyBlock]):
    """An engine of packed truth values, in which every star is 1."""

    def close_plus(self, D: AnyBlock) -> int:
        """D ← D⁺ = D ⊗ D* in place; −1, since every star is defined."""


class HostKernel(Kernel[AnyBlock], Protocol[AnyBlock]):
    """An engine that computes on the CPU."""

    threads: int


# A front, its pivots, the engine, and the place of the first pivot.
CloseFront = Callable[[np.ndarray, int, Kernel[np.ndarray], int], None]


class FrontEngine(Protocol):
    """What eliminates fronts and solves by the factors; elements are in a lowering's storage."""

    @property
    def analysis(self) -> Analysis:
        """The structure that is eliminated."""

    @property
    def threads(self) -> int:
        """How many work."""

    @property
    def nbytes(self) -> int:
        """What the factors take."""

    @property
    def pivots(self) -> np.ndarray:
        """The diagonal of every S*, in the order of elimination."""

    def factor(self, values: np.ndarray, close: CloseFront, report: Report | None = None) -> int:
        """Eliminate all vertices; −1, or the place of the first without a star in the order of elimination.

        `close` eliminates the pivots of a front by dense operations; `report` is called from time to time.
        """

    def settle(self, vertices: np.ndarray) -> None:
        """Put 1 on the diagonal of S*; vertices in the order of elimination."""

    def rows(
        self, sources: np.ndarray, out: np.ndarray, *, reflexive: bool = True, settled: bool = False,
        targets: np.ndarray | None = None, ends: np.ndarray | None = None, thread_count: int | None = None,
    ) -> None:
        """Rows of A*, or of A⁺; of some columns, if `ends` says which."""

    def columns(self, B: np.ndarray, thread_count: int | None = None) -> None:
        """B ← A* B."""

    def summaries(self) -> np.ndarray | None:
        """For every vertex the total, number, least and most of its row of A*; None where that is not a short cut."""
