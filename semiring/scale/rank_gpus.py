"""Processes with a GPU each: the choice of a process's GPU, and its tiles there.

Processes of one machine take its GPUs in turn, so several may share one. If the launcher shows each process a GPU of
its own, the process takes that one.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from semiring.algorithms.blocks import spans
from semiring.errors import SemiringError
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.interface import Kernel
from semiring.machine.memory import require

from .arena import pinned_memory
from .memories import DeviceMemory
from .ranks import agreed

STRIP_BYTES = 256 << 20  # bytes of elements that are copied from a GPU at once
NAMED = 4  # processes without a GPU that an error names


class Gpu(NamedTuple):
    """The GPU of a process.

    Attributes
    ----------
    number : int
        Its number among those that the process sees.
    sharing : int
        The number of processes that have this one.
    total : int
        The number of GPUs that all processes have together.
    """

    number: int
    sharing: int
    total: int


def gpu_of(world: Any, count: Callable[[], int]) -> Gpu:
    """The GPU of this process, where every process has one; all of a communicator call this.

    Parameters
    ----------
    world : mpi4py.MPI.Comm
    count : callable
        How many GPUs this process sees.

    Raises
    ------
    Agreed
        On every process, where some have none; it says which, and on which machines.
    """
    mine = platform.node()
    seen = world.allgather((mine, agreed(world, count)))
    lacking = [f"rank {r} on {host}" for r, (host, there) in enumerate(seen) if not there]

    def refuse() -> None:
        if lacking:
            more = f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
            raise SemiringError(f"device='gpu': no GPU was found by {', '.join(lacking[:NAMED])}{more}; every process "
                                "needs one, and semiring[cu12] or semiring[cu13]: start them where there are GPUs, or "
                                "leave out device")

    agreed(world, refuse)
    before = sum(host == mine for host, _ in seen[: world.rank])
    number = before % seen[world.rank][1]
    others = world.allgather((mine, agreed(world, partial(_address, number))))
    return Gpu(number, others.count(others[world.rank]), len(set(others)))


def _address(number: int) -> str:
    """The address of a GPU on the machine's bus: its number may be 0 in every process that sees only one."""
    import cupy

    return str(cupy.cuda.Device(number).pci_bus_id)


def require_room(gpu: Gpu, nbytes: int, what: str) -> None:
    """Raise unless each of the processes that share a GPU can have so many bytes of it."""
    import cupy

    with cupy.cuda.Device(gpu.number):
        require(nbytes * gpu.sharing, what, "use more processes, with more GPUs", on_gpu=True)


@contextmanager
def tiles_on(low: Any, gpu: Gpu) -> Iterator[tuple[Kernel[Any], DeviceMemory]]:
    """The engine and the memory for this process's tiles, the GPU being CuPy's current one meanwhile."""
    import cupy

    from semiring.kernels.cuda.compile.streams import GpuStream
    from semiring.kernels.cuda.dense.carry import begin_carry, taken_in

    def empty(count: int, dtype: Any) -> Any:
        array = cupy.empty(count, dtype)
        cupy.cuda.get_current_stream().synchronize()  # the memory may have been another array's
        return array

    def copy(source: Any, target: Any) -> None:
        if source.size:
            begin_carry(source, target)

    with cupy.cuda.Device(gpu.number), pinned_memory() as room:
        urgent, steady = GpuStream(gpu.number, True), GpuStream(gpu.number, False)
        memory = DeviceMemory(low.storage, low.dtype, urgent, steady, empty, room, copy, partial(taken_in, low))
        try:
            yield build_kernel(low), memory
        finally:
            memory.wait()  # no memory is given back that is still in use


def decoded(low: Any, stored: Any) -> np.ndarray:
    """Tiles of the current GPU as elements, on the host; some rows at a time, since elements may need room there."""
    from semiring.kernels.cuda.dense.rows import put

    found = np.empty(stored.shape, low.dtype)
    if found.size:
        for rows in spans(len(found), max(STRIP_BYTES // (found.shape[1] * low.dtype.itemsize), 1)):
            put(low.decode(stored[rows]), found[rows])
    return found
