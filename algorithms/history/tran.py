"""Two ways that Tran began with: Floyd–Warshall with a launch for each vertex, and relaxation of all pairs at once.

`floyd_warshall`, a thread for each element, all of them at once:

    for k = 0 … n − 1:    a_ij ← a_ij ⊕ a_ik ⊗ a_kj

Every element is read and written n times, and nothing of it stays near the processor from one launch to the next.

`relaxation`, a thread for each pair of a source s and a vertex v:

    D ← 1
    until nothing changes:    d_sv ← d_sv ⊕ ⊕_u d_su ⊗ a_uv    along the edges u → v

which is D ← D ⊕ D A with a sparse A, as often as the longest best walk has edges.

Q.-N. Tran, Designing efficient many-core parallel algorithms for all-pairs shortest-paths using CUDA (2010); the second
as J. M. Kemp, All-pairs shortest path algorithms using CUDA (2012), describes it.
"""

from __future__ import annotations

from typing import Protocol

from .harish_narayanan import Unsettled


class PivotKernel(Protocol):
    """A matrix, eliminated vertex by vertex."""

    n: int  #: vertices

    def step(self, k: int) -> None:
        """The launch for pivot k."""


class RoundKernel(Protocol):
    """Labels of all pairs."""

    n: int  #: vertices

    def relax(self) -> bool:
        """D ← D ⊕ D A; whether anything changed."""


def floyd_warshall(kernel: PivotKernel) -> None:
    """A ← A*."""
    for k in range(kernel.n):
        kernel.step(k)


def relaxation(kernel: RoundKernel) -> None:
    """D ← A*.

    Raises
    ------
    Unsettled
        When a cycle improves.
    """
    for _ in range(kernel.n):
        if not kernel.relax():
            return
    if kernel.n:
        raise Unsettled(range(kernel.n))
