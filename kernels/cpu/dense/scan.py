"""Facts about the values of an array, gathered in one pass: what is checked of operands and what plans use."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.numpy import scan as by_numpy
from semiring.machine import threads

PARALLEL = 1 << 18  # elements below which the caller's thread does the work alone
BLOCK = 1 << 16  # elements that a thread looks at before it takes more


class Facts(NamedTuple):
    """What `scan` found.

    Attributes
    ----------
    nan : tuple of int or None
        Index of the first NaN, in C order.
    top, bottom : bool
        Whether +∞ and −∞ occur; in an integer type its largest and its smallest value, for bool True and False.
    minimum, maximum : int, float or None
        Of all other values but NaN; None where there are none.
    negative_zero : bool
        Whether −0 occurs.
    integral : bool
        Whether the values from minimum to maximum are whole numbers.
    """

    nan: tuple[int, ...] | None
    top: bool
    bottom: bool
    minimum: Any
    maximum: Any
    negative_zero: bool
    integral: bool


def scan(array: np.ndarray, thread_count: int | None = None) -> Facts:
    """Look once at every value of a 2-D or 3-D array of floats, integers or bool, of any strides.

    Parameters
    ----------
    array : numpy.ndarray
        float16 is looked at through a copy in float32.
    thread_count : int, optional
        Threads to use for a large array; as for `CpuKernel`.

    Examples
    --------
    >>> scan(np.array([[0.0, np.inf], [-1.0, 2.5]]))
    Facts(nan=None, top=True, bottom=False, minimum=-1.0, maximum=2.5, negative_zero=False, integral=False)
    """
    dtype = array.dtype
    if dtype.char not in _KEYS:
        raise TypeError(f"cannot scan an array of {dtype}")
    if dtype.char == "e":
        return scan(array.astype(np.float32), thread_count)
    if not dtype.isnative:
        return scan(array.astype(dtype.newbyteorder("=")), thread_count)
    code = _code(dtype.char)
    if code.bought or code.repays(by_numpy.seconds(array.size)):
        nan, *rest = _compiled(array, thread_count)
    else:
        began = perf_counter()
        nan, *rest = by_numpy.scan(array)
        code.spent += perf_counter() - began  # by hand: `rent` would be a step more in every small call
    top, bottom, negative_zero, fraction, least, greatest = rest
    place = tuple(map(int, np.unravel_index(np.isnan(array).argmax(), array.shape))) if nan else None
    return Facts(place, top, bottom, least, greatest, negative_zero, not fraction)


def _compiled(array: np.ndarray, thread_count: int | None) -> tuple[bool, bool, bool, bool, bool, Any, Any]:
    """The same as `semiring.kernels.numpy.scan.scan`, in one pass."""
    dtype = array.dtype
    block = array if array.ndim == 3 else array[None]
    if block.strides[1] and abs(block.strides[1]) < abs(block.strides[2]):
        block = block.swapaxes(1, 2)
    if block.strides[2] % dtype.itemsize:  # a field of a packed record
        block = np.ascontiguousarray(block)
    kernel, decode = _kernel(dtype.char)
    if array.size < PARALLEL:
        nan, top, bottom, negative_zero, fraction, least, greatest = kernel(block, 0, block.shape[0] * block.shape[1])
    else:
        found = _together(kernel, block, threads.thread_count(thread_count))
        nan, top, bottom, negative_zero, fraction = (any(column) for column in list(zip(*found, strict=True))[:5])
        least, greatest = min(each[5] for each in found), max(each[6] for each in found)
    limits = (decode(least), decode(greatest)) if least <= greatest else (None, None)
    return bool(nan), bool(top), bool(bottom), bool(negative_zero), bool(fraction), *limits


def _together(kernel: Any, block: np.ndarray, thread_count: int) -> list[tuple[Any, ...]]:
    """The facts of runs of rows, which the threads take from one iterator (its steps hold the GIL: nothing is lost)."""
    found: list[tuple[Any, ...]] = []
    if block.flags.c_contiguous:  # rows of any length are as good: those of a vector are too long to share
        flat = block.reshape(-1)
        whole = flat.size - flat.size % BLOCK
        found.append(kernel(flat[None, None, whole:], 0, 1))
        block = flat[:whole].reshape(1, -1, BLOCK)
    rows, height = block.shape[0] * block.shape[1], max(BLOCK // max(block.shape[2], 1), 1)
    runs = iter(range(0, rows, height))

    def share() -> None:
        for first in runs:
            found.append(kernel(block, first, min(first + height, rows)))

    threads.pool.run(share, min(thread_count, -(-rows // height)) - 1)
    return found


# Formats of the struct module that name an element's type and an integer of its size; longs by their size.
_KEYS = {
    "?": ("?", "B"), "b": ("b", "b"), "B": ("B", "B"), "h": ("h", "h"), "H": ("H", "H"),
    "i": ("i", "i"), "I": ("I", "I"),
    "l": ("q", "q") if np.dtype("l").itemsize == 8 else ("i", "i"),
    "L": ("Q", "Q") if np.dtype("L").itemsize == 8 else ("I", "I"),
    "q": ("q", "q"), "Q": ("Q", "Q"), "e": ("e", "h"), "f": ("f", "i"), "d": ("d", "q"),
}


SCANNED = frozenset(_KEYS)  # characters of the dtypes that can be looked at


@functools.cache
def _code(char: str) -> Code:
    return Code.of(lambda: [cache.Function(*_source(char), "scan", shown=False)], shared=True)


def _source(char: str) -> tuple[str, str]:
    """Name and text of the module for one type."""
    dtype, key = np.dtype(char), np.dtype(_KEYS[char][1])
    least, greatest = int(np.iinfo(key).min), int(np.iinfo(key).max)
    bottom, top = least, greatest
    if dtype.kind == "f":
        top = int(np.array(np.inf, dtype).view(key))
        bottom = int(np.array(-np.inf, dtype).view(key)) ^ greatest
    elif dtype.kind == "b":
        top = 1
    name = f"np.{key.type.__name__}"
    numba_type = "boolean" if dtype.kind == "b" else dtype.name
    header = (
        '"""Generated from kernels/cpu/dense/scan_template.py; see there."""\n\n'
        "from typing import Any\n\nimport numpy as np\nfrom numba import int64, types\n\n"
        "from semiring.kernels.cpu.compile.jit import njit\n"
        "from semiring.kernels.cpu.compile.raw import fetch, floor, select, wide_vectors\n\n"
        f"KEY = {name}\nFLOAT = np.{dtype.type.__name__}\nFLOATING = {dtype.kind == 'f'}\n"
        f"LEAST, GREATEST = {name}({least}), {name}({greatest})\nBOTTOM, TOP = {name}({bottom}), {name}({top})\n"
        f"KEY_TYPE = types.{key.name}\n"
        f'MATRIX = types.Array(types.{numba_type}, 3, "A", readonly=True, aligned=False)\n\n'
    )
    text = Path(__file__).with_name("scan_template.py").read_text(encoding="utf-8").split("# Template\n", 1)[1]
    return f"scan_{dtype.name}", header + text


@functools.cache
def _kernel(char: str) -> tuple[Any, Callable[[int], Any]]:
    """The compiled pass for one type, and what turns a key into a value."""
    dtype, formats = np.dtype(char), _KEYS[char]
    greatest = int(np.iinfo(formats[1]).max)

    def decode(value: int) -> Any:
        if dtype.kind != "f":
            return value
        return struct.unpack(formats[0], struct.pack(formats[1], value ^ greatest if value < 0 else value))[0]

    return cache.load(*_source(char), shown=False).scan, decode
