"""Facts about CuPy arrays, gathered on the device: one pass over each, and one small copy back for all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from . import rules
from .launch import Function, Module, rows_of
from .lowering import DeviceFacts
from .program import Program

LOW_LIMIT, HIGH_LIMIT, NOT_A_NUMBER, OTHER = 1, 2, 4, 8  # as in facts.cu
_BLOCKS = 1024


def gather(arrays: Sequence[Any], zero: Any, one: Any) -> tuple[DeviceFacts, bool]:
    """Facts about all arrays together, and whether a NaN is among them; records have only the defaults.

    Parameters
    ----------
    arrays : sequence of cupy.ndarray
        Of one dtype.
    zero, one : scalar
        Of the algebra in that dtype.
    """
    import cupy

    dtype = arrays[0].dtype
    if dtype.names:
        return DeviceFacts(), False
    result = cupy.asarray(np.array([np.iinfo("i8").max, np.iinfo("i8").min, 0]))
    ends = [_key(np.asarray(x, dtype)) for x in (zero, one)]
    for array in arrays:
        flat = rows_of(array.reshape(-1, array.shape[-1]) if array.ndim != 2 else array)
        if flat.size:
            blocks = min(_BLOCKS, flat.shape[0])
            _scan(dtype)(
                blocks, 1, flat.data.ptr, flat.strides[0], flat.shape[0], flat.shape[1], *ends, result.data.ptr,
            )  # fmt: skip
    low, high, flags = result.get().tolist()
    empty = low > high
    least, greatest = (np.inf, 0) if empty else (_number(low, dtype), _number(high, dtype))
    facts = DeviceFacts(
        largest=0 if empty else max(abs(least), abs(greatest)),
        low_limit=bool(flags & LOW_LIMIT), high_limit=bool(flags & HIGH_LIMIT),
        two_valued=not flags & OTHER, least=least,
    )  # fmt: skip
    return facts, bool(flags & NOT_A_NUMBER)


def source(dtype: np.dtype) -> str:
    """The text of the scan of a dtype."""
    types = f"using Value = {rules.memory_type(dtype)};\nusing Number = {rules.value_type(dtype)};\n"
    return Program((dtype,), types + "DEVICE Value zero() { return Value(); }\n").source("", "facts.cu")


@lru_cache(32)
def _scan(dtype: np.dtype) -> Function:
    return Module(source(dtype)).function("scan", 256)


def _key(x: np.ndarray) -> int:
    """As `key` in facts.cu."""
    if x.dtype.kind == "f":
        bits = int(np.asarray(x, "f8").view("i8"))
        return bits if bits >= 0 else bits ^ 0x7FFFFFFFFFFFFFFF
    return int(x) - (1 << 63) if x.dtype == np.uint64 else int(x)


def _number(key: int, dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return float(np.asarray(key if key >= 0 else key ^ 0x7FFFFFFFFFFFFFFF, "i8").view("f8"))
    return key + (1 << 63) if dtype == np.uint64 else key
