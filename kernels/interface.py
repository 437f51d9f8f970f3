"""What schedules and solvers may ask of an engine: any matrix that can be cut into blocks gets all by this.

Every engine is a `Kernel`. Those of arrays are `StackKernel`s, those of bits `BitKernel`s; those that compute on the
host are `HostKernel`s.
"""

from __future__ import annotations

from typing import Any, Protocol


class Kernel(Protocol):
    """C ⊕= A ⊗ B and the closure of a small block, for one algebra on one kind of block.

    A block is a rectangle of a matrix, dense, packed or on a device: it has a `shape`, and its slices are views.

    `tile` is the order of a block that `close` takes directly; block bounds are multiples of `align`.
    """

    tile: int
    align: int

    @property
    def place(self) -> str:
        """Where it computes, in words."""

    @property
    def unchecked(self) -> Kernel:
        """The same engine, but nothing waits to hear of pivots without a star; on the host itself."""

    def multiply_add(self, C: Any, A: Any, B: Any) -> None:
        """C ← C ⊕ A ⊗ B; C overlaps neither A nor B."""

    def multiply(self, C: Any, A: Any, B: Any) -> None:
        """C ← A ⊗ B; C overlaps neither A nor B."""

    def left(self, D: Any, R: Any) -> None:
        """R ← D ⊗ R in place, with little extra memory."""

    def right(self, C: Any, D: Any) -> None:
        """C ← C ⊗ D in place, with little extra memory."""

    def close(self, D: Any) -> int:
        """D ← D* in place; −1, or the first pivot whose star does not exist."""

    def closes_whole(self, n: int) -> bool:
        """Whether `close` is the best way to close a whole matrix of this order."""

    def add_one(self, A: Any) -> None:
        """A ← 1 ⊕ A: ones join the diagonal."""

    def like(self, A: Any) -> Any:
        """A matrix of the same kind and shape, holding anything."""

    def equal(self, A: Any, B: Any) -> bool:
        """Whether two matrices hold the same elements."""

    def assign(self, A: Any, B: Any) -> None:
        """A ← B."""

    def diagonal(self, A: Any, D: Any) -> Any:
        """The vector of ⊕_k a_ik ⊗ d_ki."""

    def set_diagonal(self, A: Any, values: Any) -> None:
        """a_ii ← the values."""


class StackKernel(Kernel, Protocol):
    """An engine of arrays, which takes many matrices of one shape in one call."""

    def multiply_stack(self, C: Any, A: Any, B: Any) -> None:
        """C[s] ← A[s] ⊗ B[s] for every s; A and B may repeat a matrix by a zero stride."""

    def multiply_add_stack(self, C: Any, A: Any, B: Any) -> None:
        """C[s] ← C[s] ⊕ A[s] ⊗ B[s] for every s; A and B may repeat a matrix by a zero stride."""

    def close_stack(self, D: Any) -> Any:
        """D[s] ← D[s]* for every s; an array of −1 or the first pivot without a star, for each."""


class BitKernel(Kernel, Protocol):
    """An engine of packed truth values, in which every star is 1."""

    def close_plus(self, D: Any) -> Any:
        """D ← D⁺ = D ⊗ D* in place."""


class HostKernel(Kernel, Protocol):
    """An engine that computes on the CPU."""

    threads: int
