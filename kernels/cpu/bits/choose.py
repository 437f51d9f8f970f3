"""Packing, unpacking and single entries: by compiled code, or by NumPy where that takes less time than compiling."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from semiring.kernels.blocks.bits import AnyRows, PackedRows
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.numpy import bits
from semiring.machine.threads import thread_count

TYPICAL = "pack_rows", "unpack_rows", "multiply_rows", "close_diagonal"  # what most work with packed bits needs

CODE = Code.of_loops(Path(__file__).with_name("loops.py"), TYPICAL)  # of all functions on packed bits


def pack(matrix: PackedRows, array: np.ndarray, threads: int | None = None) -> None:
    """Fill an owned matrix from a bool or numeric array of its shape."""
    if CODE.repays(bits.CALL + array.size * bits.BYTES):
        from . import engine  # it loads Numba

        engine.pack(matrix, array, threads)
        return
    thread_count(threads)  # refuses what is not a number of threads
    CODE.rent(bits.pack, matrix, array)


def unpack(matrix: PackedRows, out: np.ndarray, threads: int | None = None) -> None:
    """Write a matrix to an array of its shape."""
    if CODE.repays(bits.CALL + out.size * bits.BYTES):
        from . import engine

        engine.unpack(matrix, out, threads)
        return
    thread_count(threads)
    CODE.rent(bits.unpack, matrix, out)


def transposed(source: AnyRows, threads: int | None = None) -> AnyRows:
    """The transposed matrix, in words of its own."""
    if CODE.repays(bits.CALL + 3 * source.shape[0] * source.shape[1] * bits.BYTES):
        from . import engine

        return engine.transposed(source, threads)
    thread_count(threads)
    return CODE.rent(bits.transposed, source)


def set_entries(matrix: PackedRows, rows: np.ndarray, columns: np.ndarray) -> None:
    """Set the bits at pairs of positions, int64 arrays without gaps."""
    if CODE.repays(bits.CALL + len(rows) * 20 * bits.BYTES):
        from . import entries

        entries.set_entries(matrix.words.ctypes.data, matrix.words.strides[0] // 8, rows, columns)
        return
    CODE.rent(bits.set_entries, matrix, rows, columns)


def columns_of(matrix: PackedRows, first: int, last: int, count: int) -> np.ndarray:
    """The columns that are set in some rows, row after row; there are so many."""
    if CODE.repays(bits.CALL + 10 * (last - first) * matrix.shape[1] * bits.BYTES):
        from . import entries

        found, block = np.empty(count, np.int64), matrix.words[first:last]
        stride = block.strides[0] // 8 if len(block) > 1 else 0
        entries.list_columns(block.ctypes.data, stride, last - first, matrix.used_words, found)
        return found
    return CODE.rent(bits.columns_of, matrix, slice(first, last))
