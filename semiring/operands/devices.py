"""Choose the device: where the data are, or for host arrays the GPU if the work is worth the copy."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.kernels.lowering.general import general
from semiring.machine.memory import in_words
from semiring.machine.threads import thread_count

if TYPE_CHECKING:
    from .operand import Operand

# Rates for choosing the device for host arrays; for 32-bit elements, and for wider ones in proportion.
LEAST_WORK = 1e8  # multiply-adds below which no time is predicted
CPU_RATE = 45e9  # multiply-adds per second and thread
GPU_RATE = 10e12
RECORDS_ON_CPU, RECORDS_ON_GPU = 1e9, 2e12  # the same of records, for 4 bytes of each
COPY_RATE = 12e9  # bytes per second
HOSTS = "pass arrays of the host, with .get() for CuPy"  # what to do in verbs without the option `device`
MOST = 1 << 10  # GPUs that a number can mean
LAUNCHES = 1e-3  # seconds of launches in a warm call
ONE_GPU_BYTES = 1 << 30  # a smaller matrix fits on every GPU
CLOSURE_COPIES = 2.2  # memory of a closure on a GPU, in matrices
FIRST_USE = 1.0  # seconds until a context and the compiled kernels are there


def is_on_gpu(array: Any) -> bool:
    """Whether this is a CuPy array; it cannot be one before CuPy is loaded."""
    kind = getattr(sys.modules.get("cupy"), "ndarray", None)
    return kind is not None and isinstance(array, kind)


def module_of(array: Any) -> Any:
    """The library with the functions of an array: NumPy, or CuPy."""
    return sys.modules["cupy"] if is_on_gpu(array) else np


def to_host(array: Any) -> np.ndarray:
    """A NumPy array of the same elements; the array itself if it is one."""
    if not is_on_gpu(array):
        return array
    from semiring.kernels.cuda.compile.staging import download

    return download(array)


def upload(array: np.ndarray) -> Any:
    """The same elements as a CuPy array."""
    from semiring.kernels.cuda.compile.staging import upload as to_gpu

    return to_gpu(array)


@contextmanager
def without_the_option() -> Iterator[None]:
    """Within this context errors that advise device='cpu' say what to do in a verb without that option."""
    try:
        yield
    except SemiringError as error:
        if "use device='cpu'" not in str(error):
            raise
        raise SemiringError(str(error).replace("use device='cpu'", HOSTS)) from None


def has_cupy() -> bool:
    """Whether CuPy is installed: a folder of that name alone, which removing CuPy may leave, is not enough."""
    spec = find_spec("cupy")
    return spec is not None and spec.origin is not None


@cache
def gpu_name() -> str | None:
    """The GPU that CuPy would use, or None: without CuPy, or without a device it can use."""
    if not has_cupy():
        return None
    import cupy

    try:
        if not cupy.cuda.runtime.getDeviceCount():
            return None
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    except cupy.cuda.runtime.CUDARuntimeError:
        return None
    return str(properties["name"].decode())


def gpu_count() -> int:
    """The number of GPUs that CuPy can use."""
    if gpu_name() is None:
        return 0
    import cupy

    return int(cupy.cuda.runtime.getDeviceCount())


def device_numbers(devices: Any) -> tuple[int, ...] | None:
    """Choose GPUs of this host by their number, or by a list of their own numbers.

    Raises
    ------
    SemiringError
    """
    if devices is None:
        return None
    whole = (int, np.integer)
    if isinstance(devices, whole) and not isinstance(devices, bool) and 0 < devices <= MOST:
        return tuple(range(int(devices)))
    several = isinstance(devices, (list, tuple, range)) or (isinstance(devices, np.ndarray) and devices.ndim == 1)
    numbers = list(devices) if several else []
    if not numbers or not all(isinstance(d, whole) and not isinstance(d, bool) and d >= 0 for d in numbers):
        raise SemiringError(f"devices must be a number of GPUs from 1 to {MOST}, or a list of their own numbers, such "
                            f"as [0, 1], and is {clip_repr(devices)}")
    if len(set(numbers)) < len(numbers):
        raise SemiringError(f"devices={clip_repr(devices)} names a GPU twice")
    return tuple(map(int, numbers))


def existing(devices: tuple[int, ...]) -> tuple[int, ...]:
    """Return the GPUs, if this host has all of them.

    Raises
    ------
    SemiringError
    """
    if gpu_name() is None:
        raise SemiringError(f"devices={list(devices)}: no GPU was found; install semiring[cu12] or semiring[cu13] on a "
                            "machine that has some, or leave out devices")
    count = gpu_count()
    if (most := max(devices)) >= count:
        raise SemiringError(f"devices={list(devices)}: this host has {count} GPU{'s' * (count > 1)}, numbered from 0, "
                            f"but no number {most}")
    return devices


def require_gpu(S: Semiring, device: Any, dtype: np.dtype) -> None:
    """Refuse a GPU that does not exist, or elements that cannot be on one."""
    if gpu_name() is None:
        raise SemiringError(
            f"device {device!r}: no GPU was found; install semiring[cu12] or semiring[cu13] on a machine that has "
            "one, or use device='cpu'"
        )
    if S.is_object or dtype.kind == "O":
        raise SemiringError(f"{S.name} on Python objects runs on the CPU only; use device='cpu'")


def repays(S: Semiring, dtypes: Sequence[np.dtype], nbytes: int, work: float) -> bool:
    """Whether the GPU is faster, with copies; only floats: for integers the CPU has forms that the GPU lacks."""
    if work < LEAST_WORK or S.is_object or not all(map(of_floats_only, dtypes)) or gpu_name() is None:
        return False
    first = dtypes[0]
    if first.names and (nbytes >= ONE_GPU_BYTES or general(S, first).dual):  # too large, or closed by LAPACK
        return False
    return _is_faster(nbytes, work, first.itemsize, _is_warm(), bool(first.names))


def of_floats_only(dtype: np.dtype) -> bool:
    """Whether a dtype, or each component of a record, is of floats; halves in records would need more room on a GPU.

    Examples
    --------
    >>> of_floats_only(np.dtype("f2")), of_floats_only(np.dtype("f8, f4")), of_floats_only(np.dtype("f8, i4"))
    (True, True, False)
    """
    parts = [dtype[name] for name in dtype.names or ()]
    return dtype.kind == "f" or (bool(parts) and all(part.kind == "f" and part.itemsize >= 4 for part in parts))


def _is_faster(nbytes: int, work: float, itemsize: int, warm: bool, records: bool = False) -> bool:
    width = max(itemsize, 4) // 4
    cpu_rate, gpu_rate = (RECORDS_ON_CPU, RECORDS_ON_GPU) if records else (CPU_RATE, GPU_RATE)
    on_cpu = work * width / (cpu_rate * thread_count(None))
    on_gpu = LAUNCHES + 2 * nbytes / COPY_RATE + work * width / gpu_rate
    return on_gpu + (0.0 if warm else FIRST_USE) < on_cpu


def _is_warm() -> bool:
    """Whether the process has used the GPU, so that a context and compiled kernels are likely to exist."""
    launch = sys.modules.get("semiring.kernels.cuda.compile.launch")
    return launch is not None and launch.in_use()


def exceeds_gpu(given: Operand, device: str | None) -> bool:
    """Whether a matrix of the host is too large to be closed on a GPU, with a copy and panels."""
    if given.nbytes < ONE_GPU_BYTES or (device is None and given.dtype.kind != "f") or gpu_name() is None:
        return False
    from semiring.machine.memory import available_on_device

    return CLOSURE_COPIES * given.nbytes > available_on_device()


def gpu_facts() -> Iterator[tuple[str, str]]:
    """Describe the GPUs: names, the architecture of kernels, and when host arrays are sent there."""
    if gpu_name() is None:
        why = "CuPy finds none" if has_cupy() else "CuPy is not installed"
        yield "gpu", f"none: {why}"
        return
    import cupy

    from semiring.kernels.cuda.compile.launch import architecture
    for number in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(number) as device:
            properties = cupy.cuda.runtime.getDeviceProperties(number)
            free, total = cupy.cuda.runtime.memGetInfo()
            capability = ".".join((device.compute_capability[:-1], device.compute_capability[-1]))
            yield f"gpu {number}", (
                f"{properties['name'].decode()}, compute capability {capability} (kernels compiled for "
                f"{architecture()}), {properties['multiProcessorCount']} multiprocessors, "
                f"{in_words(free)} of {in_words(total)} free"
            )
    yield "cupy", cupy.__version__
    for state, warm in (("first use", False), ("in use", True)):
        yield f"gpu, {state}", f"closures of host arrays of float32 go there from n = {_least_order(warm)} on"


def _least_order(warm: bool) -> int:
    """The least order (a multiple of 64) for which a closure in single precision is predicted to be faster there."""
    n = 64
    while not _is_faster(4 * n * n, float(n) ** 3, 4, warm):
        n += 64
    return n
