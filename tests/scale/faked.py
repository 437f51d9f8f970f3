"""Devices that are NumPy arrays, whose streams do their work late and in any order that is not forbidden."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from semiring.kernels.interface import Kernel
from semiring.scale.grid import Deal
from semiring.scale.team import Worker


class FakedMark:
    """The end of what a stream was asked for."""

    def __init__(self, stream: FakedStream):
        self.stream, self.end = stream, stream.asked

    @property
    def is_reached(self) -> bool:
        return self.stream.finished >= self.end

    def synchronize(self) -> None:
        self.stream.host.go_on(lambda: self.is_reached)


class FakedStream:
    """Work in order; `waits` is whether marks of other streams are heeded."""

    def __init__(self, host: FakedHost, waits: bool = True):
        self.host, self.waits = host, waits
        self.asked = self.finished = 0
        self.work: list[tuple[FakedMark | None, Callable[[], None]]] = []
        host.streams.append(self)

    def _ask(self, work: Callable[[], None], mark: FakedMark | None = None) -> None:
        self.asked += 1
        self.work.append((mark, work))

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        if self.host.answers:  # a device is asked whether there is a star, and the caller waits
            self.mark().synchronize()
            work(*arguments)
        else:
            self._ask(lambda: work(*arguments))

    def send(self, rows: np.ndarray, target: np.ndarray) -> None:
        self._ask(lambda: np.copyto(target, rows))

    def mark(self) -> FakedMark:
        return FakedMark(self)

    def after(self, mark: FakedMark) -> None:
        if self.waits:
            self._ask(lambda: None, mark)

    def wait(self) -> None:
        self.mark().synchronize()

    @property
    def can_go_on(self) -> bool:
        return bool(self.work) and (self.work[0][0] is None or self.work[0][0].is_reached)

    def step(self) -> None:
        _, work = self.work.pop(0)
        work()
        self.finished += 1


class FakedHost:
    """What decides which stream goes on: a random one, or the one that went on last as long as it can.

    Parameters
    ----------
    seed : int
    patience : float
        How likely it is that another stream's turn comes.
    answers : bool
        Whether the caller waits for all that it asks, as it does where a star may be missing.
    """

    def __init__(self, seed: int, patience: float = 0.5, answers: bool = False):
        self.random, self.patience, self.answers = Random(seed), patience, answers
        self.streams: list[FakedStream] = []
        self._last: FakedStream | None = None

    def go_on(self, enough: Callable[[], bool]) -> None:
        while not enough():
            able = [stream for stream in self.streams if stream.can_go_on]
            assert able, "everybody waits for somebody else"
            if self._last not in able or self.random.random() < self.patience:
                self._last = self.random.choice(able)
            self._last.step()


def deal_out(A: np.ndarray, deal: Deal, host: FakedHost, waits: bool = True) -> list[Worker]:
    """Workers with their rows of a matrix."""
    workers = []
    for number in range(deal.workers):
        rows = np.concatenate([A[:0], *(A[span] for span in deal.spans(number))])
        spare = tuple(np.empty((deal.side, deal.n), A.dtype) for _ in range(2))
        workers.append(Worker(rows, spare, FakedStream(host, waits), FakedStream(host, waits)))  # type: ignore[arg-type]
    return workers


def gathered(workers: list[Worker], deal: Deal, like: np.ndarray) -> np.ndarray:
    """The matrix that the workers have."""
    found = np.empty_like(like)
    for number, worker in enumerate(workers):
        start = 0
        for span in deal.spans(number):
            stop = start + span.stop - span.start
            found[span] = worker.rows[start:stop]
            start = stop
    return found


def unchecked(kernel: Kernel[Any]) -> Kernel[Any]:
    """The same kernel; nothing waits for its pivots."""
    return kernel.unchecked
