"""Kemp's changes to Harish and Narayanan's algorithm: one array, several sources at once, a flag that the host reads.

    x ← 1 at each source, 0 elsewhere, a row of labels a source;   the sources are marked
    while any vertex is marked:
        for every source and marked v, at once:
            v is not marked any more
            x_w ← x_w ⊕ x_v ⊗ a_vw  for its edges v → w, as one atomic step;  w is marked where that improves x_w

An atomic minimum, here ⊕ of any algebra that selects, makes a second array of labels unnecessary, and with it the
second launch of a round. Labels may be read while others improve them: they are weights of walks all the same, and a
vertex that improves after it was read is marked again.

J. M. Kemp, All-pairs shortest path algorithms using CUDA, a thesis at Durham University (2012).
"""

from __future__ import annotations

from typing import Protocol

from semiring.algorithms.blocks import spans

from .harish_narayanan import Unsettled


class SourcesKernel(Protocol):
    """Labels of some sources, and which vertices are marked for each."""

    n: int  #: vertices
    together: int  #: sources at a time

    def begin(self, sources: slice) -> None:
        """Labels and marks before the first round."""

    def relax(self) -> bool:
        """A round; whether any vertex is marked."""

    def end(self, sources: slice) -> None:
        """The labels are rows of the answer."""


def kemp(kernel: SourcesKernel) -> None:
    """A*, some rows at a time.

    Raises
    ------
    Unsettled
        When a cycle improves.
    """
    for sources in spans(kernel.n, kernel.together):
        kernel.begin(sources)
        for _ in range(kernel.n):
            if not kernel.relax():
                break
        else:
            raise Unsettled(range(sources.start, sources.stop))
        kernel.end(sources)
