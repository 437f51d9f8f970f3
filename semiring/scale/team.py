"""Block rows on several devices: their distribution, dependencies, and the rows of pivots that are sent.

A device has an urgent stream of work, which makes pivots and sends their rows, and two steady ones, each of which
updates half of the other rows: where a launch of one has too few blocks left, the other fills the device. A device
keeps its block rows one below the other, and rows that need the same products are multiplied together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from semiring.algorithms.block_rows import eliminate, scale_row
from semiring.kernels.interface import Kernel

from .grid import Deal

if TYPE_CHECKING:
    from semiring.kernels.cuda.compile.streams import GpuStream as Stream

Rows = Any  # a block of a matrix on a device, as its kernel takes them


@dataclass
class Worker:
    """The part of one device.

    Attributes
    ----------
    rows : block
        Its block rows, one below the other.
    spare : pair of blocks
        Memory for a pivot's rows from another device, in each.
    urgent : Stream
    steady : sequence of Stream
    done : list of lists
        Marks of the steady streams after the updates by the last two pivots, by the pivots' parity.
    """

    rows: Rows
    spare: tuple[Rows, Rows]
    urgent: Stream
    steady: Sequence[Stream]
    done: list[list[Any]] = field(default_factory=lambda: [[], []])


class Devices:
    """A `semiring.algorithms.block_rows.Team` of devices.

    Parameters
    ----------
    kernel : Kernel
        It works on rows of any of the devices.
    deal : Deal
    workers : sequence of Worker
    report : function of a number from 0 to 1, optional
    """

    def __init__(
        self, kernel: Kernel[Any], deal: Deal, workers: Sequence[Worker],
        report: Callable[[float], None] = lambda part: None,
    ):
        self._kernel, self._deal, self._workers, self._report = kernel, deal, workers, report
        self.count = deal.count
        self._sent: dict[int, Any] = {}
        self._shares = [deal.shares(number, len(worker.steady)) for number, worker in enumerate(workers)]

    def pivot(self, k: int) -> None:
        """Make row k the pivot's row, and send it to all other devices.

        Raises
        ------
        UndefinedStar
        """
        worker = self._workers[self._deal.owner(k)]
        rows, span = worker.rows[self._deal.place(k), :], self._deal.span(k)
        worker.urgent.do(scale_row, rows, span, self._kernel)
        for other in self._workers:
            if other is not worker:
                _after(worker.urgent, other.done[k % 2])  # pivot k − 2, whose rows the spare held, is finished
                worker.urgent.send(rows, self._spare(other, k))
        self._sent[k] = worker.urgent.mark()

    def update(self, i: int, k: int) -> None:
        """Update row i by pivot k, urgently."""
        worker = self._workers[self._deal.owner(i)]
        worker.urgent.after(self._sent[k])
        _after(worker.urgent, worker.done[(k - 1) % 2])
        rows = worker.rows[self._deal.place(i), :]
        worker.urgent.do(eliminate, rows, self._pivot_of(worker, k), self._deal.span(k), self._kernel)

    def update_rest(self, k: int) -> None:
        """Update all rows but k and k + 1 by pivot k; at most two pivots are started ahead of finished work."""
        if (old := self._sent.pop(k - 2, None)) is not None:
            old.synchronize()
            self._report((k - 1) / self.count)
        for number, worker in enumerate(self._workers):
            runs, pivot = self._deal.others(number, k, k + 1), self._pivot_of(worker, k)
            last = self._deal.local(k - 1, number) if k else slice(0, 0)  # which both streams have read
            for stream, share in zip(worker.steady, self._shares[number], strict=True):
                stream.after(self._sent[k])
                if _within([last], share):
                    _after(stream, worker.done[(k - 1) % 2])
                for run in _within(runs, share):
                    stream.do(eliminate, worker.rows[run, :], pivot, self._deal.span(k), self._kernel)
            worker.done[k % 2] = [stream.mark() for stream in worker.steady]

    def wait(self) -> None:
        """Wait until all devices are done."""
        for worker in self._workers:
            for stream in (worker.urgent, *worker.steady):
                stream.wait()

    def _pivot_of(self, worker: Worker, k: int) -> Rows:
        """The rows of pivot k on a worker."""
        if self._workers[self._deal.owner(k)] is worker:
            return worker.rows[self._deal.place(k), :]
        return self._spare(worker, k)

    def _spare(self, worker: Worker, k: int) -> Rows:
        span = self._deal.span(k)
        return worker.spare[k % 2][: span.stop - span.start, :]


def _after(stream: Stream, marks: Sequence[Any]) -> None:
    for mark in marks:
        stream.after(mark)


def _within(runs: Sequence[slice], share: slice) -> list[slice]:
    """The parts of some runs that are in a share."""
    cut = [slice(max(run.start, share.start), min(run.stop, share.stop)) for run in runs]
    return [run for run in cut if run.start < run.stop]
