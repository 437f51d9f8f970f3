"""Sets of walks, cut to the few shortest: the free algebra, which shows the walks that a value combines.

⊕ is the union and ⊗ joins end to end, so under any schedule the walks of an entry are those that its value combines.
A page has the same in ``page/walks.js``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

KEPT_WALKS = 4  # of a set


class Walks(NamedTuple):
    """Some of the walks between two vertices: each as the tuple of its vertices, and whether there are more."""

    shortest: tuple[tuple[int, ...], ...] = ()
    more: bool = False

    def __or__(self, other: Walks) -> Walks:
        return _cut({*self.shortest, *other.shortest}, self.more or other.more)

    def __matmul__(self, other: Walks) -> Walks:
        """Each walk of one followed by each of the other, which begins at the end of the first."""
        if not (self.shortest and other.shortest):
            return NONE
        joined = {first + second[1:] for first in self.shortest for second in other.shortest}
        return _cut(joined, self.more or other.more)

    def repeated(self, vertex: int) -> Walks:
        """All closed walks, repeated any number of times, from a vertex to itself."""
        loops = Walks(tuple(walk for walk in self.shortest if len(walk) > 1), self.more)
        if not loops.shortest:
            return staying(vertex)
        total = power = staying(vertex)
        for _ in range(KEPT_WALKS):
            power = power @ loops
            total = total | power
        return Walks(total.shortest, True)


NONE = Walks()


def staying(vertex: int) -> Walks:
    """The walk of no edges.

    >>> staying(2) @ edge(2, 0)
    Walks(shortest=((2, 0),), more=False)
    """
    return Walks(((vertex,),))


def edge(u: int, v: int) -> Walks:
    """The walk of one edge."""
    return Walks(((u, v),))


def _cut(walks: Iterable[tuple[int, ...]], more: bool) -> Walks:
    ordered = sorted(walks, key=lambda walk: (len(walk), walk))
    return Walks(tuple(ordered[:KEPT_WALKS]), more or len(ordered) > KEPT_WALKS)
