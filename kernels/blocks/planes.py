"""Bit sets as one packed matrix a bit: a block of the kernel interface."""

from __future__ import annotations

from collections.abc import Sequence

from .bits import PackedRows


class Planes:
    """Packed matrices of one shape, one for each bit; a block of the kernel interface.

    Parameters
    ----------
    planes : sequence of PackedRows
        Those of the lowest bits first.
    """

    __slots__ = ("planes", "shape")

    def __init__(self, planes: Sequence[PackedRows]):
        self.planes = list(planes)
        self.shape = self.planes[0].shape

    def copy(self) -> Planes:
        """The same in words of its own."""
        return Planes([plane.copy() for plane in self.planes])

    def __getitem__(self, key: tuple[slice, slice]) -> Planes:
        return Planes([plane[key] for plane in self.planes])
