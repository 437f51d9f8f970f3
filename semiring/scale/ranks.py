"""Processes that MPI has started: panels for some of them, and errors and answers on which all agree.

Communicators are those of mpi4py; this module knows nothing about matrices.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from semiring.errors import SemiringWarning
from semiring.kernels.interface import Kernel
from semiring.kernels.lowering.base import Lowering
from semiring.machine.threads import thread_count

PROBE_BYTES = 4 << 20  # a message whose rate is measured
TURNS = 3
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
PIECE_BYTES = 1 << 30  # the largest message: counts in older versions of MPI have 32 bits
T = TypeVar("T")


class Agreed(Exception):
    """An error that all processes know; it is the first argument."""


def raw(array: np.ndarray) -> np.ndarray:
    """The bytes of a contiguous array, of any dtype but that of Python objects."""
    return array.reshape(-1).view(np.uint8)


def pieces(array: np.ndarray) -> list[np.ndarray]:
    """The bytes of an array, in ranges that fit one message."""
    found = raw(array)
    return [found[at : at + PIECE_BYTES] for at in range(0, len(found), PIECE_BYTES)]


def broadcast(array: np.ndarray, root: int, among: Any) -> list[Any]:
    """Start to send an array from one process to all of a communicator; return the requests."""
    return [] if among.size == 1 else [among.Ibcast(part, root=root) for part in pieces(array)]


def nudge(requests: list[Any]) -> None:
    """Let messages make progress: MPI moves them only during its own calls."""
    if requests:
        type(requests[0]).Testall(requests)


def wait(requests: list[Any]) -> None:
    """Wait until all have arrived."""
    if requests:
        type(requests[0]).Waitall(requests)
        requests.clear()


@contextmanager
def agreeing(world: Any) -> Iterator[None]:
    """A context whose end all processes reach together, with an error on all if there is one on any.

    Raises
    ------
    Agreed
        On every process, with the error of the lowest rank that has one.
    """
    error: Exception | None = None
    try:
        yield
    except Exception as e:
        error = e
    raised = next((e for e in world.allgather(error) if e is not None), None)
    if raised is not None:
        raise Agreed(raised)


def agreed(world: Any, function: Callable[[], T]) -> T:
    """Return a function's result on this process, unless it raises an error on any process; see `agreeing`."""
    with agreeing(world):
        value = function()
    return value


@contextmanager
def ending_together(world: Any) -> Iterator[None]:
    """Raise an error on which all agree; any other error ends the job, because the other processes would wait."""
    try:
        yield
    except Agreed as e:
        raise e.args[0] from None
    except BaseException:
        if world.size == 1:
            raise
        print(f"semiring: rank {world.rank} of {world.size} failed, which ends the job", file=sys.stderr)
        traceback.print_exc()
        sys.stderr.flush()
        world.Abort(1)
        raise


def message_rate(world: Any) -> float:
    """Measure the bytes per second that each process sends to the next one while all do; equal on every process.

    It takes a few MiB; infinite for a single process.
    """
    if world.size == 1:
        return np.inf
    sent, arrived = np.zeros(PROBE_BYTES, np.uint8), np.empty(PROBE_BYTES, np.uint8)
    least = np.inf
    for _ in range(TURNS):
        world.Barrier()
        begin = perf_counter()
        world.Sendrecv(sent, dest=(world.rank + 1) % world.size, recvbuf=arrived,
                       source=(world.rank - 1) % world.size)
        least = min(least, max(world.allgather(perf_counter() - begin)))
    return PROBE_BYTES / least


def threads_of(world: Any) -> int:
    """The number of threads of a process if those of one machine share its processors.

    ``SEMIRING_NUM_THREADS``, or a fair share; if the launcher gave each process its own processors, these.
    """
    from mpi4py import MPI

    own = thread_count()
    if os.environ.get("SEMIRING_NUM_THREADS", "").strip():
        return own
    here = world.Split_type(MPI.COMM_TYPE_SHARED)
    seen = here.allgather(sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(own)))
    processes = here.size
    here.Free()
    every = len(set().union(*seen))
    return own if own * processes <= every else max(1, every // processes)


@contextmanager
def using(kernel: Kernel[Any], low: Lowering, threads: int) -> Iterator[None]:
    """An engine with so many threads, and its library with no more, as processes that share a machine need it."""
    host: Any = kernel  # which computes on the CPU
    before, host.threads = host.threads, threads
    try:
        with _bounded_library(threads) if low.by_library else nullcontext():
            yield
    finally:
        host.threads = before


def _bounded_library(threads: int) -> Any:
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        if threads < thread_count() and not any(name in os.environ for name in BLAS_THREADS):
            warnings.warn(
                f"each process computes products by the BLAS with {thread_count()} threads, and {threads} would be its "
                f"share: pip install threadpoolctl, or set {BLAS_THREADS[0]}={threads}", SemiringWarning, stacklevel=2)
        return nullcontext()
    return threadpool_limits(limits=threads, user_api="blas")
