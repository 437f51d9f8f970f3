"""Bits from arrays on the device and back, in one pass over either; and entries that are set."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from semiring.kernels.cuda.compile.launch import Function

from .words import Bits, Geometry, module_of, words_function

DOWN = 1 << 14  # blocks of a grid, one below the other, that go over rows
SETTERS = 1 << 14  # blocks of threads that set entries
THREADS = 256
RUN = 32 * THREADS  # entries of a row that a block takes


class Pattern(NamedTuple):
    """What an element is by its bits; see entries.cu."""

    counted: int  # bits of which one is set in an element that is not 0
    looked_at: int = 0  # bits that are one of two patterns in an unclear element
    low: int = 0
    high: int = 0


@lru_cache(64)
def pattern_of(dtype: np.dtype) -> Pattern:
    """The pattern of a dtype: NaN, infinities and the limits of signed integers are unclear.

    Examples
    --------
    >>> [hex(part) for part in pattern_of(np.dtype("f2"))]
    ['0x7fff', '0x7c00', '0x7c00', '0x7c00']
    >>> [hex(part) for part in pattern_of(np.dtype("i2"))]
    ['0xffff', '0xffff', '0x8000', '0x7fff']
    """
    if dtype.kind == "c":
        return pattern_of(np.dtype(f"f{dtype.itemsize // 2}"))
    every = (1 << 8 * dtype.itemsize) - 1
    if dtype.kind == "f":
        exponent = int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}"))
        return Pattern(every >> 1, exponent, exponent, exponent)
    return Pattern(every, every, every // 2 + 1, every // 2) if dtype.kind == "i" else Pattern(every)


def geometry(numbers: int, size: int) -> Geometry:
    """Elements of so many numbers of so many bytes."""
    return Geometry("bits/entries.cu", 1, RUN, THREADS, (("NUMBERS", numbers), ("SIZE", size)))


@lru_cache(32)
def function(name: str, numbers: int, size: int) -> Function:
    """A kernel of entries.cu for some elements."""
    return module_of(geometry(numbers, size)).function(name, THREADS)


def numbers_of(dtype: np.dtype) -> tuple[int, int]:
    """How many numbers an element is, and their bytes."""
    return (2, dtype.itemsize // 2) if dtype.kind == "c" else (1, dtype.itemsize)


def _is_aligned(array: Any) -> bool:
    """Whether numbers are adjacent in rows that begin on 16 bytes."""
    rows = array.strides[0] if len(array) > 1 else 0
    return array.strides[1] == array.itemsize and not (array.data.ptr | rows) % 16


def pack(array: Any, to: Bits, words: int, unclear: Any) -> None:
    """to ← where elements of an array differ from 0; `unclear` becomes 1 if one is.

    Parameters
    ----------
    array : cupy.ndarray
        Of any dtype of truth values or numbers, and any strides.
    to : Bits
        Of the array's shape.
    words : int
        Words of a row that are written: beyond the last column they become 0.
    unclear : cupy.ndarray of uint32, shape (1,)
    """
    rows, columns = array.shape
    if not (rows and words):
        return
    down, pattern, aligned = min(rows, DOWN), pattern_of(array.dtype), _is_aligned(array)
    if aligned and array.itemsize == 1 and not pattern.looked_at:
        words_function("pack_bytes")(
            -(-words // 64), down, array.data.ptr, array.strides[0], to.address, to.ld, rows, columns, words
        )
        return
    signed = (bits - (1 << 64) if bits >> 63 else bits for bits in pattern)  # as a launch takes them
    if aligned and array.itemsize in (2, 4) and array.dtype.kind != "c":
        function("pack_eight", *numbers_of(array.dtype))(
            -(-words // 32), down, array.data.ptr, array.strides[0], to.address, to.ld, rows, columns, words, *signed,
            unclear.data.ptr,
        )
        return
    function("pack", *numbers_of(array.dtype))(
        -(-64 * words // RUN), down, array.data.ptr, *array.strides, to.address, to.ld, rows, columns, words,
        *signed, unclear.data.ptr,
    )


def unpack(bits: Bits, out: Any) -> None:
    """out ← zeros and ones, an array of any dtype and strides."""
    rows, columns = out.shape
    if not (rows and columns):
        return
    down = min(rows, DOWN)
    if out.itemsize == 1 and _is_aligned(out):
        words_function("unpack_bytes")(
            -(-columns // 4096), down, *bits[:2], out.data.ptr, out.strides[0], rows, columns
        )
        return
    _, width = numbers_of(out.dtype)
    part = np.dtype(f"f{width}") if out.dtype.kind in "fc" else np.dtype(f"u{width}")
    one = int(np.ones((), part).view(f"u{width}"))
    function("unpack", *numbers_of(out.dtype))(
        -(-columns // RUN), down, *bits[:2], out.data.ptr, *out.strides, rows, columns, one
    )


def set_entries(M: Bits, rows: Any, columns: Any) -> None:
    """Set the bits at pairs of positions that are inside the matrix."""
    import cupy

    rows, columns = (cupy.ascontiguousarray(cupy.asarray(end, np.int64)) for end in (rows, columns))
    if len(rows):
        blocks = min(-(-len(rows) // THREADS), SETTERS)
        words_function("set_entries")(blocks, 1, *M[:2], rows.data.ptr, columns.data.ptr, len(rows))
