"""Which form of an algebra computes on a GPU for tiles in the host's memory, and how elements get into it and back.

Closures from file to file, and those spread over processes, keep their tiles in storage on the host. With a CPU's
lowering these functions are its own; with a GPU's they go by the GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.facts import Facts
from semiring.kernels.interface import Kernel
from semiring.kernels.lowering.base import Lowering
from semiring.operands.devices import COPY_RATE, GPU_RATE

from .forms import without_library

SIDES = (8192, 4096, 2048, 1024, 512, 256, 128)  # of tiles that go to a GPU
TILES = 24  # that should fit in the host's memory: large tiles hide their way to the GPU better than many save ways
SHARE = 0.8  # of the GPU's memory that is free


def offloaded(S: Semiring, dtype: np.dtype, facts: Facts, n: int) -> Lowering:
    """The form for a GPU, with compiled products: a library's do not know 0 · ∞ = 0."""
    from semiring.kernels.cuda.choose import choose

    low = choose(S, dtype, facts, n, in_place=False)
    return without_library(low) if low.blas else low


def offload(low: Any) -> Kernel[Any]:
    """The engine: it may use the part of the current GPU's memory that is free, but for a reserve."""
    from semiring.kernels.cuda.dense.offload import Offload
    from semiring.machine.memory import available_on_device

    return Offload(low, int(available_on_device() * SHARE))


def offloaded_seconds(low: Lowering, work: float, side: int) -> float:
    """Seconds of so many multiply-adds on tiles of an order, four of which travel for each product of two."""
    item = low.storage.itemsize
    return work * max(item, 4) / 4 / GPU_RATE + 4 * item * work / max(side, 1) / COPY_RATE


@contextmanager
def rooms(low: Lowering) -> Iterator[Callable[[int, np.dtype], np.ndarray]]:
    """What gives memory for tiles: pinned where they go to a GPU, and not longer than this is open."""
    if not low.on_gpu:
        yield np.empty
        return
    from semiring.kernels.cuda.dense.carry import Pinned

    with Pinned() as pinned:
        pinned.begin()

        def room(count: int, dtype: np.dtype) -> np.ndarray:
            array = np.empty(count, dtype)
            pinned.add(array, fresh=True)
            pinned.wait()
            return array

        yield room


def encoder(low: Any) -> Callable[[np.ndarray], np.ndarray]:
    """What makes elements on the host storage there; for any thread."""
    if not low.on_gpu:
        return partial(low.encode, copy=False)
    from semiring.kernels.cuda.compile.launch import current_device
    from semiring.kernels.cuda.dense.offload import into_storage

    return partial(into_storage, low, device=current_device())


def decoder(low: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The opposite."""
    if not low.on_gpu:
        return low.decode
    from semiring.kernels.cuda.compile.launch import current_device
    from semiring.kernels.cuda.dense.offload import out_of_storage

    return partial(out_of_storage, low, device=current_device())
