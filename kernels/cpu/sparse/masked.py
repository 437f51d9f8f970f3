"""Some entries of a product, which a mask in compressed rows wants, over any semiring whose operations compile.

The compiled loops are generated for each semiring, from masked_template.py. There are three: rows of a sparse B one
after the other (Gustavson's order, with the mask's row as the table of where to put); a row of A and a column of B,
both sparse; and a row of A, sparse or not, and a column of a dense B.

In the first, a row of B that is longer than most rows of the mask becomes the table itself, in which the columns of
these are looked up. So a term costs the shorter of two rows, as in a merge that never looks at the longer one.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.cache import Function
from semiring.kernels.cpu.compile.program import Program, source
from semiring.kernels.cpu.compile.rounds import share_in_rounds
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import share
from semiring.machine.threads import scratch

from .kernel import RowsKernel
from .structure import alike, pieces_of, transpose

Pattern = tuple[np.ndarray, np.ndarray]  # offsets and columns of the entries that are wanted
SHARES = 16  # parts of the rows, each with a table of its own


class MaskedKernel(RowsKernel):
    """Products under a mask, for one semiring in one storage type; see `RowsKernel`.

    C holds the wanted entries in the order of the mask. They begin as they are.
    """

    template = Path(__file__).with_name("masked_template.py")
    needs: ClassVar[tuple[str, ...]] = ("by_rows", "by_columns")

    @classmethod
    def text_of(cls, text: Program) -> tuple[str, str]:
        """Name and text of the generated module."""
        return f"masked_{text.name}", source(text, cls.template)

    @classmethod
    def seldom(cls, lowering: Lowering) -> list[Function]:
        """Rows times columns of two sparse matrices."""
        return [Function(*cls.text_of(cls.program_of(lowering)), "by_pairs")]

    def by_rows(self, C: np.ndarray, wanted: Pattern, A: Rows, B: Rows) -> None:
        """C ← C ⊕ A ⊗ B at the wanted entries, by rows of B; the longest of these meet all rows of A at once."""
        by_rows, by_columns = self.module.by_rows.made(), self.module.by_columns.made()
        later, work = _later(wanted[0], A, B, self.threads)
        mask, left = _addresses(C, *wanted), _addresses(*_parts(A))
        right = [*_addresses(*_parts(B)), 0 if _same_bits(B.values) else -1]
        room = max(int(np.diff(X).max(initial=0)) for X in (B.offsets, wanted[0])) + 1

        def rows(first: int, last: int) -> None:
            table = np.zeros(max(B.width, 1), np.int32)
            _memory, met = scratch(room * 8)
            by_rows(*mask, *left, *right, later.ctypes.data, first, last, table.ctypes.data, met, 1)
            T = _columns_of(A, later, first, last)
            if T is not None:
                by_columns(*mask, *_addresses(*_parts(T)), *right, first, A.width, table.ctypes.data, met, 1)

        share_in_rounds(rows, pieces_of(work, self.threads), self.threads)

    def by_pairs(self, C: np.ndarray, wanted: Pattern, A: Rows, T: Rows) -> None:
        """C ← C ⊕ A ⊗ B at the wanted entries, by rows of A and of T, B transposed."""
        function = self.module.by_pairs.made()
        addresses = _addresses(C, *wanted, *_parts(A), *_parts(T))
        work = _upto(wanted, A.offsets, np.diff(T.offsets))
        share_in_rounds(lambda first, last: function(*addresses, first, last, 1), pieces_of(work, self.threads),
                        self.threads)


class DotsKernel(MaskedKernel):
    """The same for a dense B."""

    needs: ClassVar[tuple[str, ...]] = ("by_dots",)

    @classmethod
    def seldom(cls, lowering: Lowering) -> list[Function]:
        """Nothing besides."""
        return []

    def by_dots(self, C: np.ndarray, wanted: Pattern, A: Rows | np.ndarray, B: np.ndarray) -> None:
        """C ← C ⊕ A ⊗ B at the wanted entries; A is an array, C-contiguous, or compressed rows; B of any strides."""
        function = self.module.by_dots.made()
        if isinstance(A, Rows):
            offsets, parts = A.offsets, _addresses(*_parts(A))
        else:
            offsets = np.arange(len(A) + 1) * A.shape[1]
            parts = [offsets.ctypes.data, 0, A.ctypes.data]
        addresses = [*_addresses(C, *wanted), *parts, B.ctypes.data, *B.strides]
        work = np.concatenate([[0], np.cumsum(np.diff(wanted[0]) * np.diff(offsets))])
        share_in_rounds(partial(_call, function, addresses), pieces_of(work, self.threads), self.threads)


def _later(wanted: np.ndarray, A: Rows, B: Rows, threads: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Which entries of A meet a row of B that is longer than the mask's row, and that as many rows of A meet.

    How many do not depend on the number of threads: the order of an entry's terms follows from it. Also the steps of
    all rows before each.
    """
    from .structure_loops import longer_than_wanted  # it loads Numba

    met = np.bincount(A.columns, minlength=A.width) / SHARES  # by how many rows that share a table
    lengths = np.diff(B.offsets) * np.maximum(1 - 2 / np.maximum(met, 1), 0)  # the table is written and cleared
    later, work = np.empty(len(A.columns), np.uint8), np.zeros(len(wanted), np.int64)
    addresses = _addresses(wanted, A.offsets, A.columns, B.offsets, lengths)

    def look(first: int, last: int) -> None:
        longer_than_wanted(*addresses, first, last, later.ctypes.data, work.ctypes.data + work.itemsize)

    share(look, pieces_of(A.offsets, threads), threads)
    return later, np.cumsum(work, out=work)


def _same_bits(values: np.ndarray) -> bool:
    """Whether all elements are one, to the bit."""
    if values.dtype.kind == "f":  # 0 and −0 are equal
        values = values.view(f"i{values.itemsize}")
    return values.dtype.kind in "biu" and alike(values)


def _columns_of(A: Rows, kept: np.ndarray, first: int, last: int) -> Rows | None:
    """Some entries of the rows ``first:last`` by columns; None if there are none."""
    begin, end = A.offsets[first], A.offsets[last]
    places = np.flatnonzero(kept[begin:end])
    if not len(places):
        return None
    offsets = np.searchsorted(places, A.offsets[first : last + 1] - begin)
    return transpose(Rows(offsets, A.columns[begin:end][places], A.values[begin:end][places], A.width))


def _call(function: object, addresses: list[int], first: int, last: int) -> None:
    function(*addresses, first, last, 1)  # type: ignore[operator]


def _addresses(*arrays: np.ndarray) -> list[int]:
    return [array.ctypes.data for array in arrays]


def _parts(A: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return A.offsets, A.columns, A.values


def _upto(wanted: Pattern, offsets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The most steps of all rows before each, if a wanted entry takes those of its row and of its column."""
    each = np.diff(wanted[0]) * np.diff(offsets)
    columns = np.concatenate([[0], np.cumsum(lengths[wanted[1]])])[wanted[0]]
    return np.concatenate([[0], np.cumsum(each)]) + columns
