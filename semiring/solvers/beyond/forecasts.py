"""Plans of closures that take long, from file to file or by several processes: what they will move, need and take."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, sqrt
from pathlib import Path
from typing import Final, NamedTuple

from semiring.errors import SemiringError
from semiring.graphs.texts import shown
from semiring.machine.memory import in_words
from semiring.machine.threads import thread_count
from semiring.operands.devices import COPY_RATE, GPU_RATE
from semiring.scale.files import writing_rate
from semiring.scale.storing import Storing

from ..costs import lowering_rates
from ..plan import Plan

MOST_THREADS = 16  # for which rates of products are predicted


class Forecast(NamedTuple):
    """Predicted seconds.

    Attributes
    ----------
    kernels, bus, disk : float
        Of the products, and of moving tiles between the host's memory and a GPU, and from and to the disk, which go on
        at the same time.
    rate : float
        Bytes a second that the disk takes, measured on a few MiB.
    """

    kernels: float
    bus: float
    disk: float
    rate: float

    @property
    def seconds(self) -> float:
        """Of all together."""
        return max(self.kernels, self.bus, self.disk)

    @property
    def bound(self) -> str:
        """What takes longest."""
        return "kernels" if self.kernels >= self.seconds else "the disk" if self.disk >= self.seconds else "the bus"


@dataclass(eq=False, repr=False, kw_only=True)
class StoredPlan(Plan):
    """What will be done with a matrix that goes tile by tile from file to file; `print` it.

    Attributes
    ----------
    storing : Storing
        What was asked for.
    read, written : int
        Bytes of tiles that are moved, from the input and to the output too.
    output, scratch : int
        Bytes on the disk: of the answer, and of evicted tiles at most, without what commits keep besides.
    kept : int
        Bytes that commits may keep besides.
    done : float
        The part that an earlier run has done, where this one goes on.
    host : int
        Bytes of the host's memory for tiles; `memory` is the GPU's, if it computes.
    bus : int
        Bytes of tiles that are moved between the host's memory and a GPU.
    loosened : bool
        Once it has run: whether edges were made worse by a tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> p = sr.plan("closure", np.zeros((300, 300)), sr.min_plus, out="d.npy", memory="1M")
    >>> p.method, p.tile, p.output
    ('r-kleene, out of core', 64, 720000)
    """

    storing: Final[Storing] = field(default_factory=lambda: Storing(Path()))
    read: Final[int] = 0
    written: Final[int] = 0
    output: Final[int] = 0
    scratch: Final[int] = 0
    kept: Final[int] = 0
    done: Final[float] = 0.0
    host: Final[int] = 0
    bus: Final[int] = 0
    loosened: bool = False

    @property
    def bound(self) -> float:
        """Bytes that any order of n³ multiply-adds has to move with such memory: 2 n³ / √M elements.

        H. Jia-Wei, H. T. Kung, I/O complexity: the red-blue pebble game (1981); D. Irony, S. Toledo, A. Tiskin,
        Communication lower bounds for distributed-memory matrix multiplication (2004).
        """
        item = self.lowering.storage.itemsize
        memory = self.memory + self.host if self.lowering.on_gpu else self.memory
        return 2 * self.work / sqrt(max(memory / item, 1)) * item

    @cached_property
    def forecast(self) -> Forecast:
        """Predicted from the instructions of ⊕ and ⊗ on this machine, and from what the disk takes of a few MiB."""
        left, rate = 1 - self.done, writing_rate(self.storing.out.absolute().parent)
        if self.lowering.on_gpu:
            kernels = self.work * max(self.lowering.storage.itemsize, 4) / 4 / GPU_RATE
        else:
            kernels = self.work / lowering_rates(self.lowering).product
        return Forecast(left * kernels, left * self.bus / COPY_RATE, left * (self.read + self.written) / rate, rate)

    @property
    def commits(self) -> int:
        """How many there will be, as is predicted."""
        return 0 if self.storing.checkpoint is None else int(self.forecast.seconds / self.storing.checkpoint)

    def rows(self) -> dict[str, str]:
        """What is printed, by name.

        Returns
        -------
        dict of str to str

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.plan("closure", np.zeros((300, 300)), sr.min_plus, out="d.npy").rows()["commits"]
        'none: a power cut loses all, unless checkpoint= says how often'
        """
        rows = super().rows()
        times, moved = self.forecast, self.read + self.written
        matrix = max(self.shape[0] ** 2 * self.lowering.storage.itemsize, 1)
        rows["moved"] = (f"{in_words(self.read)} read, {in_words(self.written)} written: {moved / matrix:.1f} times "
                         f"the matrix (2 n³ / √M is {self.bound / matrix:.1f})")
        if self.lowering.on_gpu:
            rows["bus"] = (f"{in_words(self.bus)} between the host's memory and the GPU: {self.bus / matrix:.1f} times "
                           "the matrix")
        free = shutil.disk_usage(self.storing.out.absolute().parent).free
        rows["disk"] = f"{in_words(self.output)} for the answer, {in_words(self.scratch)} for evicted tiles"
        rows["disk"] += f", up to {in_words(self.kept)} for commits" if self.storing.checkpoint is not None else ""
        rows["disk"] += f"; {in_words(free)} is free"
        rows["commits"] = "none: a power cut loses all, unless checkpoint= says how often"
        if self.storing.checkpoint is not None:
            rows["commits"] = f"{self.commits}, one every {self.storing.checkpoint:g} s"
        if self.done:
            rows["done"] = f"{100 * self.done:.1f} %, by an earlier run"
        copies = f"{time_in_words(times.bus)} of copies to the GPU and back, " if self.lowering.on_gpu else ""
        rows["predicted"] = (f"{time_in_words(times.seconds)}, bound by {times.bound}: {time_in_words(times.kernels)} "
                             f"of products, {copies}{time_in_words(times.disk)} of reading and writing at "
                             f"{in_words(int(times.rate))}/s")
        return rows

    def require_disk(self) -> None:
        """Refuse what the disk has no room for.

        Raises
        ------
        SemiringError
        """
        place = self.storing.out.absolute().parent
        there = sum(file.stat().st_blocks * 512 if hasattr(file.stat(), "st_blocks") else file.stat().st_size
                    for file in self.storing.folder.rglob("*") if file.is_file())
        free, needed = shutil.disk_usage(place).free, self.output + self.scratch - there
        if needed > free:
            raise SemiringError(
                f"{shown(place)} needs {in_words(needed)} more: for the closure {in_words(self.output)}, for "
                f"evicted tiles {in_words(self.scratch)}, and {in_words(free)} is free: make room, take a narrower "
                "dtype, give more memory=, or write to another disk")


@dataclass(eq=False, repr=False, kw_only=True)
class SpreadPlan(Plan):
    """What will be done with a matrix that is spread over processes; `print` it.

    Attributes
    ----------
    grid : (int, int)
        Rows and columns of processes.
    received : int
        Bytes that others send to a process, at most, while the matrix is closed; not what comes in and goes out.
    threads : int
        Of a process that computes on the CPU.
    rate : float
        Bytes a second that a process is sent, measured on a few MiB.
    done : float
        The part that an earlier run has done, where this one goes on.
    gpus : int
        How many GPUs the processes have together; 0 where they compute on the CPU.
    """

    grid: Final[tuple[int, int]] = (1, 1)
    received: Final[int] = 0
    threads: Final[int] = 1
    rate: Final[float] = inf
    done: Final[float] = 0.0
    gpus: Final[int] = 0

    @property
    def kernel_seconds(self) -> float:
        """Predicted for the products of a process, from the instructions of ⊕ and ⊗."""
        if self.gpus:
            return (1 - self.done) * self.work / self.gpus * max(self.lowering.storage.itemsize, 4) / 4 / GPU_RATE
        share = self.threads / min(thread_count(), MOST_THREADS)
        processes = self.grid[0] * self.grid[1]
        return (1 - self.done) * self.work / processes / (lowering_rates(self.lowering).product * share)

    @property
    def message_seconds(self) -> float:
        """Predicted for what it is sent, which goes on at the same time; on its way to a GPU it crosses a bus."""
        bus = self.received / COPY_RATE if self.gpus else 0.0
        return (1 - self.done) * (self.received / self.rate + bus)

    def rows(self) -> dict[str, str]:
        """What is printed, by name.

        Returns
        -------
        dict of str to str
        """
        rows = super().rows()
        kernels, messages = self.kernel_seconds, self.message_seconds
        matrix = max(self.shape[0] ** 2 * self.lowering.storage.itemsize, 1)
        rows["processes"] = f"a grid of {self.grid[0]} × {self.grid[1]}"
        rows["moved"] = (f"{in_words(self.received)} to a process, at most: {self.received / matrix:.2f} times the "
                         "matrix")
        if self.done:
            rows["done"] = f"{100 * self.done:.1f} %, by an earlier run"
        what = "kernels" if kernels >= messages else "messages"
        rows["predicted"] = (f"{time_in_words(max(kernels, messages))}, bound by {what}: {time_in_words(kernels)} of "
                             f"products, {time_in_words(messages)} of messages")
        if self.rate < inf:
            rows["predicted"] += f" at {in_words(int(self.rate))}/s"
        return rows


def time_in_words(seconds: float) -> str:
    """Seconds, minutes or hours.

    >>> time_in_words(90.0), time_in_words(3600.0)
    ('90 s', '60 min')
    """
    return f"{seconds:.3g} s" if seconds < 600 else f"{seconds / 60:.0f} min" if seconds < 7200 else (
        f"{seconds / 3600:.1f} h")
