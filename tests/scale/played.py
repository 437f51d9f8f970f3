"""Processes of MPI's that threads play: what mpi4py has under the same names, in the memory of one process.

A message is read from its sender's memory as late as MPI may: when the sender waits for it, or the receiver does. So
memory that is written too early gives a wrong answer.
"""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

PATIENCE = 60  # seconds, after which somebody is lost


class Desk:
    """What the threads of a communicator share; with a turn, only one of them goes on at a time, until it waits."""

    def __init__(self, size: int, turn: threading.Lock | None = None):
        self.turn = turn
        self.values: list[Any] = [None] * size
        self.barrier = threading.Barrier(size)
        self.mail: defaultdict[Any, queue.Queue[Message]] = defaultdict(queue.Queue)
        self.lock = threading.Lock()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        if self.turn is None:
            yield
            return
        self.turn.release()
        try:
            yield
        finally:
            self.turn.acquire()

    def box(self, address: Any) -> queue.Queue[Message]:
        with self.lock:
            return self.mail[address]


class Message:
    """Memory that is sent, until its sender waits; then a copy of it."""

    def __init__(self, memory: np.ndarray):
        self.memory, self.lock, self.sent = memory, threading.Lock(), False

    def leave(self) -> None:
        with self.lock:
            if not self.sent:
                self.memory, self.sent = self.memory.copy(), True

    def into(self, target: np.ndarray) -> None:
        with self.lock:
            assert target.nbytes == self.memory.nbytes, "a message of another length is waited for"
            target[...] = self.memory


class Request:
    """A message on its way."""

    def __init__(self, wait: Callable[[bool], bool]):
        self._wait, self._over = wait, False

    def finish(self, patient: bool) -> None:
        self._over = self._over or self._wait(patient)

    @staticmethod
    def Waitall(requests: Sequence[Request]) -> None:
        for request in requests:
            request.finish(True)

    @staticmethod
    def Testall(requests: Sequence[Request]) -> bool:
        for request in requests:
            request.finish(False)
        return all(request._over for request in requests)


class World:
    """One thread's side of a communicator."""

    def __init__(self, rank: int, size: int, desk: Desk):
        self.rank, self.size, self._desk = rank, size, desk
        self._broadcasts = 0

    def allgather(self, value: Any) -> list[Any]:
        self._desk.values[self.rank] = value
        self.Barrier()
        found = list(self._desk.values)
        self.Barrier()
        return found

    def bcast(self, value: Any) -> Any:
        return self.allgather(value)[0]

    def Barrier(self) -> None:
        with self._desk.waiting():
            self._desk.barrier.wait(PATIENCE)

    def Split(self, color: int, key: int) -> World:
        given = self.allgather((color, key, self.rank))
        ranks = [rank for _, rank in sorted((k, rank) for c, k, rank in given if c == color)]
        desk = self.allgather(Desk(len(ranks), self._desk.turn) if self.rank == ranks[0] else None)[ranks[0]]
        return World(ranks.index(self.rank), len(ranks), desk)

    def Free(self) -> None:
        """Nothing is kept."""

    def Abort(self, status: int) -> None:
        self._desk.barrier.abort()

    def Isend(self, memory: np.ndarray, dest: int, tag: int = 0) -> Request:
        message = Message(memory)
        self._desk.box((self.rank, dest, tag)).put(message)
        return self._sending(message)

    def Irecv(self, memory: np.ndarray, source: int, tag: int = 0) -> Request:
        return self._receiving((source, self.rank, tag), memory)

    def Sendrecv(self, sent: np.ndarray, dest: int, recvbuf: np.ndarray, source: int) -> None:
        Request.Waitall([self.Isend(sent, dest), self.Irecv(recvbuf, source)])

    def Ibcast(self, memory: np.ndarray, root: int) -> Request:
        self._broadcasts += 1  # they are the same on all, in this order
        if self.rank != root:
            return self._receiving(("broadcast", self._broadcasts, self.rank), memory)
        message = Message(memory)
        for other in range(self.size):
            if other != root:
                self._desk.box(("broadcast", self._broadcasts, other)).put(message)
        return self._sending(message)

    def _sending(self, message: Message) -> Request:
        def wait(patient: bool) -> bool:
            if patient:
                message.leave()
            return patient

        return Request(wait)

    def _receiving(self, address: Any, memory: np.ndarray) -> Request:
        def wait(patient: bool) -> bool:
            try:
                with self._desk.waiting():
                    message = self._desk.box(address).get(patient, PATIENCE if patient else None)
            except queue.Empty:
                assert not patient, "a message never came"
                return False
            message.into(memory)
            return True

        return Request(wait)


def together(work: Callable[[World], Any], size: int = 3, turn: threading.Lock | None = None) -> list[Any]:
    """What the function gives on each of the processes; an error of one is raised."""
    desk = Desk(size, turn)

    def one(rank: int) -> Any:
        try:
            with turn or nullcontext():
                return work(World(rank, size, desk))
        except BaseException:
            desk.barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        found = [pool.submit(one, rank) for rank in range(size)]
        errors = [e for e in (f.exception() for f in found) if e is not None]
        for e in sorted(errors, key=lambda e: isinstance(e, threading.BrokenBarrierError)):
            raise e
        return [f.result() for f in found]
