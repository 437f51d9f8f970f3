"""What a closure by several processes will move and take, before it is begun."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

from semiring.machine.memory import in_words
from semiring.machine.threads import thread_count
from semiring.operands.devices import COPY_RATE, GPU_RATE

from .costs import lowering_rates
from .plan import Plan
from .stored_plan import time_in_words

MOST_THREADS = 16  # for which rates of products are predicted


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
