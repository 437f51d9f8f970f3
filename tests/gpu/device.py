"""The CUDA engine as a test calls it: NumPy in, NumPy out, with the lowering that the data's facts allow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from methods import SCHEDULES

import semiring as sr
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.lowering import CudaLowering


@cache
def has_device() -> bool:
    """Whether CuPy finds a GPU."""
    try:
        import cupy
    except ImportError:
        return False
    try:
        return bool(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def on_device(array: np.ndarray) -> Any:
    """The array on the device, its components side by side as in C."""
    import cupy

    if array.dtype.names:
        aligned = np.dtype([(f, array.dtype[f]) for f in array.dtype.names], align=True)
        out = np.empty(array.shape, aligned)
        for f in array.dtype.names:
            out[f] = array[f]
        return cupy.asarray(out)
    return cupy.asarray(array)


def lowering(S: sr.Semiring, arrays: Sequence[Any], length: int, fast: bool = True) -> CudaLowering:
    """The lowering for arrays on the device, or the one that is always right."""
    from semiring.kernels.cuda.choose import without_facts
    from semiring.kernels.cuda.dense.exchange import NOT_A_NUMBER, look_at

    dtype = S.resolve_dtype(arrays[0].dtype)
    if not fast and not (S.is_tropical and dtype.kind in "iu") and dtype != np.float16:
        return general_on_device(S, dtype)
    findings = look_at(without_facts(S, dtype), arrays)
    assert not findings.flags & NOT_A_NUMBER
    return choose(S, dtype, findings.facts(dtype), length, in_place=False)


def product(S: sr.Semiring, A: np.ndarray, B: np.ndarray, C: np.ndarray | None = None, fast: bool = True) -> np.ndarray:
    """A ⊗ B, or C ⊕ A ⊗ B, computed on the device."""
    import cupy

    from semiring.kernels.cuda.choose import kernel

    a, b = on_device(A), on_device(B)
    c = on_device(C) if C is not None else None
    low = lowering(S, [a, b] if c is None else [a, b, c], 3, fast)
    k = kernel(low)
    a, b = low.encode(a, True), low.encode(b, True)
    out = cupy.empty((*a.shape[:-1], b.shape[-1]), a.dtype) if c is None else low.encode(c, True)
    stacked = a.ndim == 3
    if c is None:
        (k.multiply_stack if stacked else k.multiply)(out, a, b)
    else:
        (k.multiply_add_stack if stacked else k.multiply_add)(out, a, b)
    return cupy.asnumpy(low.decode(out)).astype(A.dtype, copy=False)


def closure(S: sr.Semiring, A: np.ndarray, method: str = "r-kleene", tile: int = 64, fast: bool = True) -> np.ndarray:
    """A*, computed on the device."""
    import cupy

    from semiring.kernels.cuda.choose import kernel

    a = on_device(A)
    low = lowering(S, [a], a.shape[-1], fast)
    work = low.encode(a, True)
    if a.ndim == 3:
        failed = kernel(low).close_stack(work)
        assert (failed == -1).all()
    else:
        SCHEDULES[method](work, kernel(low), tile)
    return cupy.asnumpy(low.decode(work)).astype(A.dtype, copy=False)
