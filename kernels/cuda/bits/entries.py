"""Bits from arrays on the device and back, in one pass over either; and entries that are set."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .words import ENTRIES, Bits, Function, module_of

DOWN = 1 << 14  # blocks of a grid, one below the other, that go over rows
SETTERS = 1 << 14  # blocks of threads that set entries


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


@lru_cache(32)
def function(name: str) -> Function:
    """A kernel of entries.cu."""
    return module_of(ENTRIES).function(name, ENTRIES.threads)


def _name(dtype: np.dtype) -> str:
    """The part of a kernel's name that says how elements lie."""
    return f"complex_{dtype.itemsize}" if dtype.kind == "c" else str(dtype.itemsize)


def _are_bytes(array: Any) -> bool:
    """Whether bytes are adjacent in rows that begin on 16 bytes."""
    rows = array.strides[0] if len(array) > 1 else 0
    return array.itemsize == 1 and array.strides[1] == 1 and not (array.data.ptr | rows) % 16


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
    down, pattern = min(rows, DOWN), pattern_of(array.dtype)
    if not pattern.looked_at and _are_bytes(array):
        function("pack_bytes")(
            -(-words // 64), down, array.data.ptr, array.strides[0], to.address, to.ld, rows, columns, words
        )
        return
    signed = (bits - (1 << 64) if bits >> 63 else bits for bits in pattern)  # as a launch takes them
    function(f"pack_{_name(array.dtype)}")(
        -(-64 * words // ENTRIES.BN), down, array.data.ptr, *array.strides, to.address, to.ld, rows, columns, words,
        *signed, unclear.data.ptr,
    )


def unpack(bits: Bits, out: Any) -> None:
    """out ← zeros and ones, an array of any dtype and strides."""
    rows, columns = out.shape
    if not (rows and columns):
        return
    down = min(rows, DOWN)
    if _are_bytes(out):
        function("unpack_bytes")(-(-columns // 4096), down, *bits[:2], out.data.ptr, out.strides[0], rows, columns)
        return
    width = out.itemsize // (2 if out.dtype.kind == "c" else 1)
    part = np.dtype(f"f{width}") if out.dtype.kind in "fc" else np.dtype(f"u{width}")
    one = int(np.ones((), part).view(f"u{width}"))
    function(f"unpack_{_name(out.dtype)}")(
        -(-columns // ENTRIES.BN), down, *bits[:2], out.data.ptr, *out.strides, rows, columns, one
    )


def set_entries(M: Bits, rows: Any, columns: Any) -> None:
    """Set the bits at pairs of positions that are inside the matrix."""
    import cupy

    rows, columns = (cupy.ascontiguousarray(cupy.asarray(end, np.int64)) for end in (rows, columns))
    if len(rows):
        blocks = min(-(-len(rows) // ENTRIES.threads), SETTERS)
        function("set_entries")(blocks, 1, *M[:2], rows.data.ptr, columns.data.ptr, len(rows))
