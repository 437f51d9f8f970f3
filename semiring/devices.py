"""Where to compute: where the data are; for host arrays the GPU, when there is one and the work repays the copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from .core import Semiring
from .errors import SemiringError

WORTH = 5e10  # multiply-adds of a closure or product from which host arrays go to the GPU: most of a second on the CPU


def is_on_gpu(array: Any) -> bool:
    """Whether this is a CuPy array."""
    return type(array).__module__.partition(".")[0] == "cupy"


def to_host(array: Any) -> np.ndarray:
    """A NumPy array of the same elements; the array itself if it is one."""
    return array.get() if is_on_gpu(array) else array


@cache
def gpu_name() -> str | None:
    """The GPU that CuPy would use, or None: without CuPy, or without a device it can talk to."""
    if find_spec("cupy") is None:
        return None
    import cupy

    try:
        if not cupy.cuda.runtime.getDeviceCount():
            return None
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    except cupy.cuda.runtime.CUDARuntimeError:
        return None
    return str(properties["name"].decode())


def settle(
    S: Semiring, arrays: Sequence[Any], device: str | None, work: float
) -> tuple[list[Any], Callable[[Any], Any]]:
    """The operands where the work will be done, and how to bring the answer to where they came from.

    Parameters
    ----------
    S : Semiring
    arrays : sequence of ndarray or cupy.ndarray
    device : {None, "cpu", "gpu"}
    work : float
        Multiply-adds.

    Raises
    ------
    SemiringError
        For an unknown device, or a GPU that is not there.
    """
    if device not in (None, "cpu", "gpu", "cuda"):
        raise SemiringError(f"unknown device {device!r}: it is 'cpu', 'gpu', or None for the best of them")
    here = [is_on_gpu(a) for a in arrays]
    wanted = device in ("gpu", "cuda") or (device is None and (any(here) or _repays(S, arrays, work)))
    if wanted and not any(here):
        if gpu_name() is None:
            raise SemiringError(
                f"device {device!r}: no GPU was found; install semiring[cu12] or semiring[cu13] on a machine that has "
                "one, or use device='cpu'"
            )
        if S.is_object or arrays[0].dtype.kind == "O":
            raise SemiringError(f"{S.name} on Python objects runs on the CPU only; use device='cpu'")
    if wanted == all(here):
        return list(arrays), _same
    import cupy

    if wanted:
        return [cupy.asarray(a) for a in arrays], (_same if any(here) else to_host)
    return [to_host(a) for a in arrays], cupy.asarray


def _same(array: Any) -> Any:
    return array


def _repays(S: Semiring, arrays: Sequence[Any], work: float) -> bool:
    """Floats only: integers and truth values have forms on the CPU that the GPU has not."""
    return work >= WORTH and not S.is_object and all(a.dtype.kind == "f" for a in arrays) and gpu_name() is not None
