"""Shortest paths from every vertex in turn, a thread for each vertex: Harish and Narayanan's, with two arrays.

    c ← 1 at the source, 0 elsewhere;   u ← c;   the source is marked
    while any vertex is marked:
        for every marked v, at once:    v is not marked any more;  u_w ← u_w ⊕ c_v ⊗ a_vw  for its edges v → w
        for every v, at once:           where c_v ⊕ u_v ≠ c_v:  c_v ← c_v ⊕ u_v,  v is marked
                                        u_v ← c_v

Row s of A* is c for the source s. No thread reads what another thread of the same launch writes: c is read in the first
launch of a round and written in the second. After n rounds every walk of fewer than n edges has been seen, so that a
vertex which is still marked is on, or behind, an improving cycle.

P. Harish, P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA, HiPC (2007).
"""

from __future__ import annotations

from typing import Protocol


class Unsettled(Exception):
    """Labels of one of these sources still improve after as many rounds as there are vertices."""

    def __init__(self, sources: range):
        super().__init__(f"labels of sources {sources.start} to {sources.stop - 1} still improve")
        self.sources = sources


class SourceKernel(Protocol):
    """Labels of one source, and which vertices are marked."""

    n: int  #: vertices

    def begin(self, source: int) -> None:
        """Labels and marks before the first round."""

    def relax(self) -> None:
        """The first launch of a round."""

    def settle(self) -> bool:
        """The second launch; whether any vertex is marked."""

    def end(self, source: int) -> None:
        """The labels are a row of the answer."""


def harish_narayanan(kernel: SourceKernel) -> None:
    """A*, a row at a time.

    Raises
    ------
    Unsettled
        When a cycle improves.
    """
    for source in range(kernel.n):
        kernel.begin(source)
        for _ in range(kernel.n):
            kernel.relax()
            if not kernel.settle():
                break
        else:
            raise Unsettled(range(source, source + 1))
        kernel.end(source)
