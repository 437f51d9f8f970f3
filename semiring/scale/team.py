"""Block rows on several devices: their distribution, dependencies, and the rows of pivots that are sent.

A device has two streams of work. The urgent one makes pivots and sends their rows; the other updates all other rows.
A device keeps its block rows one below the other, and rows that need the same products are multiplied together.
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
Eliminate = Callable[[Rows, Rows, slice, Kernel[Any]], None]


@dataclass
class Worker:
    """The part of one device.

    Attributes
    ----------
    rows : block
        Its block rows, one below the other.
    spare : pair of blocks
        Memory for a pivot's rows from another device, in each.
    urgent, steady : Stream
    done : list
        Marks after the updates by the last two pivots, by the pivots' parity.
    """

    rows: Rows
    spare: tuple[Rows, Rows]
    urgent: Stream
    steady: Stream
    done: list[Any] = field(default_factory=lambda: [None, None])


class Devices:
    """A `semiring.algorithms.block_rows.Team` of devices.

    Parameters
    ----------
    kernel : Kernel
        It works on rows of any of the devices.
    deal : Deal
    workers : sequence of Worker
    report : function of a number from 0 to 1, optional
    eliminate : function, optional
        Eliminates a pivot from some rows; parameters as for `semiring.algorithms.block_rows.eliminate`.
    eliminate_rest : function, optional
        The same from one block row at a time that is not urgent, beside what is. Default: `eliminate` from all that lie
        together.
    """

    def __init__(
        self, kernel: Kernel[Any], deal: Deal, workers: Sequence[Worker],
        report: Callable[[float], None] = lambda part: None,
        eliminate: Eliminate = eliminate, eliminate_rest: Eliminate | None = None,
    ):
        self._kernel, self._deal, self._workers, self._report = kernel, deal, workers, report
        self._eliminate, self._eliminate_rest = eliminate, eliminate_rest
        self.count = deal.count
        self._made: dict[int, Any] = {}
        self._sent: dict[int, Any] = {}

    def pivot(self, k: int) -> None:
        """Make row k the pivot's row, and send it to all other devices.

        Raises
        ------
        UndefinedStar
        """
        worker = self._workers[self._deal.owner(k)]
        rows, span = worker.rows[self._deal.place(k), :], self._deal.span(k)
        worker.urgent.do(scale_row, rows, span, self._kernel)
        self._made[k] = worker.urgent.mark()
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
        worker.urgent.do(self._eliminate, rows, self._pivot_of(worker, k), self._deal.span(k), self._kernel)

    def update_rest(self, k: int) -> None:
        """Update all rows but k and k + 1 by pivot k; at most two pivots are started ahead of finished work."""
        if (old := self._sent.pop(k - 2, None)) is not None:
            del self._made[k - 2]
            old.synchronize()
            self._report((k - 1) / self.count)
        for number, worker in enumerate(self._workers):
            # The owner need not wait for the copies: its row k is written a step later, after them.
            worker.steady.after((self._made if number == self._deal.owner(k) else self._sent)[k])
        for number, run in self._rest(k):
            worker = self._workers[number]
            worker.steady.do(
                self._eliminate_rest or self._eliminate, worker.rows[run, :], self._pivot_of(worker, k),
                self._deal.span(k), self._kernel,
            )
        for worker in self._workers:
            worker.done[k % 2] = worker.steady.mark()

    def _rest(self, k: int) -> list[tuple[int, slice]]:
        """Rows other than those of k and k + 1, with the numbers of their workers."""
        deal = self._deal
        if self._eliminate_rest is not None:
            return [(deal.owner(i), deal.place(i)) for i in range(self.count) if i not in (k, k + 1)]
        return [(number, run) for number in range(deal.workers) for run in deal.others(number, k, k + 1)]

    def wait(self) -> None:
        """Wait until all devices are done."""
        for worker in self._workers:
            worker.urgent.wait()
            worker.steady.wait()

    def _pivot_of(self, worker: Worker, k: int) -> Rows:
        """The rows of pivot k on a worker."""
        if self._workers[self._deal.owner(k)] is worker:
            return worker.rows[self._deal.place(k), :]
        return self._spare(worker, k)

    def _spare(self, worker: Worker, k: int) -> Rows:
        span = self._deal.span(k)
        return worker.spare[k % 2][: span.stop - span.start, :]


def _after(stream: Stream, mark: Any) -> None:
    if mark is not None:
        stream.after(mark)
