"""Block rows on several devices: which device has which, what waits for what, and the pivots' rows on their way.

A device has two streams of work. The urgent one makes pivots and sends their rows; the other updates all other rows.
Rows are dealt out like cards, block row i to device i modulo their number, so that all have as much to do to the end.
A device keeps its rows one below the other, and those that need the same products are multiplied together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from semiring.algorithms.block_rows import eliminate, scale_row
from semiring.kernels.interface import Kernel

Rows = Any  # a block of a matrix on a device, as its kernel takes them


class Mark(Protocol):
    """A point in a stream."""

    def synchronize(self) -> None:
        """Wait until the stream has come there."""


class Stream(Protocol):
    """Work that a device does in order, while the caller goes on."""

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call it for this stream; it may wait for an answer of the device, and then so does the caller."""

    def send(self, rows: Rows, target: Rows) -> None:
        """target ← rows, where the target may be on another device."""

    def mark(self) -> Mark:
        """The end of all that was asked for."""

    def after(self, mark: Mark) -> None:
        """What comes now waits for a mark, on whichever stream of whichever device."""

    def wait(self) -> None:
        """Until all is done."""


@dataclass
class Worker:
    """What one device has.

    Attributes
    ----------
    rows : block
        The block rows that were dealt to it, one below the other.
    spare : pair of blocks
        Each has room for a pivot's rows that come from another device.
    urgent, steady : Stream
    done : list of Mark
        Where the rows had been updated by the last two pivots, by the pivots' parity.
    """

    rows: Rows
    spare: tuple[Rows, Rows]
    urgent: Stream
    steady: Stream
    done: list[Mark | None] = field(default_factory=lambda: [None, None])


@dataclass(frozen=True)
class Deal:
    """How block rows of a matrix are dealt out.

    Attributes
    ----------
    n : int
        Order of the matrix.
    side : int
        Rows of a block row; the last has fewer if they do not come out even.
    workers : int

    Examples
    --------
    >>> deal = Deal(10, 4, 2)
    >>> deal.count, deal.owner(2), deal.span(2), deal.place(2)
    (3, 0, slice(8, 10, None), slice(4, 6, None))
    >>> list(deal.spans(0)), deal.rows(0)
    ([slice(0, 4, None), slice(8, 10, None)], 6)
    """

    n: int
    side: int
    workers: int

    @property
    def count(self) -> int:
        """How many block rows there are."""
        return -(-self.n // self.side)

    def owner(self, i: int) -> int:
        """The worker who has a block row."""
        return i % self.workers

    def span(self, i: int) -> slice:
        """Where it is in the matrix."""
        return slice(i * self.side, min((i + 1) * self.side, self.n))

    def place(self, i: int) -> slice:
        """Where it is among the rows of its worker."""
        start, span = i // self.workers * self.side, self.span(i)
        return slice(start, start + span.stop - span.start)

    def spans(self, worker: int) -> Iterator[slice]:
        """Where the rows of a worker are in the matrix, one block row after the other."""
        return (self.span(i) for i in range(worker, self.count, self.workers))

    def rows(self, worker: int) -> int:
        """How many rows a worker has."""
        return sum(s.stop - s.start for s in self.spans(worker))

    def others(self, worker: int, *without: int) -> Iterator[slice]:
        """Runs of a worker's rows, as long as can be, without some block rows."""
        start = 0
        for i in sorted(i for i in without if i < self.count and self.owner(i) == worker):
            place = self.place(i)
            if start < place.start:
                yield slice(start, place.start)
            start = place.stop
        if start < (end := self.rows(worker)):
            yield slice(start, end)


class Devices:
    """A `semiring.algorithms.block_rows.Team` of devices.

    Parameters
    ----------
    kernel : Kernel
        On rows of any of the devices.
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
        self._sent: dict[int, Mark] = {}

    def pivot(self, k: int) -> None:
        """Row k becomes the pivot's, and goes to all other devices.

        Raises
        ------
        UndefinedStar
        """
        worker = self._workers[self._deal.owner(k)]
        rows, span = worker.rows[self._deal.place(k), :], self._deal.span(k)
        worker.urgent.do(scale_row, rows, span, self._kernel)
        for other in self._workers:
            if other is not worker:
                _after(worker.urgent, other.done[k % 2])  # pivot k − 2, which the spare held, is used up
                worker.urgent.send(rows, self._spare(other, k))
        self._sent[k] = worker.urgent.mark()

    def update(self, i: int, k: int) -> None:
        """Row i by pivot k, urgently."""
        worker = self._workers[self._deal.owner(i)]
        worker.urgent.after(self._sent[k])
        _after(worker.urgent, worker.done[(k - 1) % 2])
        rows = worker.rows[self._deal.place(i), :]
        worker.urgent.do(eliminate, rows, self._pivot_of(worker, k), self._deal.span(k), self._kernel)

    def update_rest(self, k: int) -> None:
        """All rows but k and k + 1 by pivot k; no more than two pivots are asked for ahead of what is done."""
        if (old := self._sent.pop(k - 2, None)) is not None:
            old.synchronize()
            self._report((k - 1) / self.count)
        for number, worker in enumerate(self._workers):
            worker.steady.after(self._sent[k])
            for run in self._deal.others(number, k, k + 1):
                worker.steady.do(
                    eliminate, worker.rows[run, :], self._pivot_of(worker, k), self._deal.span(k), self._kernel
                )
            worker.done[k % 2] = worker.steady.mark()

    def wait(self) -> None:
        """Until all devices have done what they were asked for."""
        for worker in self._workers:
            worker.urgent.wait()
            worker.steady.wait()

    def _pivot_of(self, worker: Worker, k: int) -> Rows:
        """The rows of pivot k where a worker has them."""
        if self._workers[self._deal.owner(k)] is worker:
            return worker.rows[self._deal.place(k), :]
        return self._spare(worker, k)

    def _spare(self, worker: Worker, k: int) -> Rows:
        span = self._deal.span(k)
        return worker.spare[k % 2][: span.stop - span.start, :]


def _after(stream: Stream, mark: Mark | None) -> None:
    if mark is not None:
        stream.after(mark)
