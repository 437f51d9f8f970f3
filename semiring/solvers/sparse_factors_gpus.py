"""Sparse factors on several GPUs: each has them all and computes some of the rows, which come together on the first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algorithms.sparse.analysis import Analysis
from semiring.kernels.cuda.compile.launch import synchronize
from semiring.kernels.cuda.compile.streams import on_each
from semiring.kernels.cuda.dense.rows import here, put
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.cuda.sparse.fronts import DeviceFronts, memory_of, slab
from semiring.kernels.cuda.sparse.spread import SpreadFronts
from semiring.kernels.interface import FrontEngine, Report
from semiring.kernels.lowering.base import Lowering
from semiring.operands.dense import Dense
from semiring.operands.devices import COPY_RATE
from semiring.operands.sparse import Sparse

from .costs import SparsePlan
from .plan import nothing
from .several_gpus import place_of
from .sparse_factors_gpu import DeviceSparseFactors, lowering_on_gpu, plan_on_gpu, structure_of, tile_of

if TYPE_CHECKING:
    from .sparse_factors import SparseFactors

PEERS = 100e9  # bytes a second from one GPU to another


class SpreadSparseFactors(DeviceSparseFactors):
    """A sparse matrix eliminated on several GPUs; made by ``semiring.factor(…, devices=2)``.

    All that `DeviceSparseFactors` gives, by all of them. Every GPU has the factors. Rows, closures and solutions that
    are CuPy arrays are on the first one; reductions and blocks are computed where their rows are, so that nothing of
    n × n has to fit on one.

    Attributes
    ----------
    devices : tuple of int
        Numbers of the GPUs.

    Examples
    --------
    With ``roads`` a sparse matrix, ``sr.factor(roads, sr.min_plus, devices=2)`` makes one, and then
    ``F.reduce("eccentricities")`` takes half the time that one GPU does.

    >>> issubclass(SpreadSparseFactors, DeviceSparseFactors)
    True
    """

    _advice = ("the rows of several GPUs come together on the first of them: take F.blocks() or F.reduce(…), or have "
               "the closure in the host's memory, with closure(A, S, devices=…) of a matrix that is there")

    def __init__(
        self, A: Sparse, analysis: Analysis, *, devices: tuple[int, ...], check: bool = True,
        plan: SparsePlan | None = None, report: Report | None = None,
    ) -> None:
        self.devices = devices
        with self._first():
            plan = plan or plan_on_gpus("factor", lowering_on_gpu(A), analysis, A.nnz, devices, answer=False)
            super().__init__(A, analysis, check=check, plan=plan, report=report)

    @contextmanager
    def _first(self) -> Iterator[None]:
        """The first GPU, where answers are, as the current one; all of its work is done when this ends."""
        from cupy.cuda import Device

        with Device(self.devices[0]):
            yield
            synchronize()

    def _engine_of(self, low: Lowering) -> FrontEngine:
        assert isinstance(low, CudaLowering)
        return SpreadFronts(self.devices, lambda: DeviceFronts(structure_of(self.analysis, tile_of(low)), low))

    def _anew(self, A: Sparse) -> SparseFactors:
        return SpreadSparseFactors(A, self.analysis, devices=self.devices, check=self._check)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        again, (_, *rest) = super().__reduce__()
        return again, (partial(SpreadSparseFactors, devices=self.devices), *rest)

    @property
    def _turns(self) -> np.ndarray:
        return np.arange(self.n)  # so that each GPU has rows that lie side by side, and are sent together

    def _by_each(self) -> list[DeviceSparseFactors]:
        """The factors of every GPU, each to be asked while that GPU is the current one."""
        fronts = self._fronts
        assert isinstance(fronts, SpreadFronts)
        found = []
        for part in fronts.parts:
            alone = object.__new__(DeviceSparseFactors)
            vars(alone).update(vars(self), _fronts=part)
            found.append(alone)
        return found

    def _shared(self, work: Callable[[SparseFactors, np.ndarray], None], vertices: np.ndarray) -> None:
        if self._closed is not None:  # which is on the first
            with self._first():
                work(self, vertices)
            return
        fronts, each = self._fronts, self._by_each()
        assert isinstance(fronts, SpreadFronts)
        shares = fronts.shares(len(vertices))
        on_each(self.devices, lambda number: work(each[number], vertices[shares[number]]))

    def _stream(
        self, parts: Sequence[np.ndarray], reflexive: bool
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Blocks from the GPUs in turn, each of which is at work on its next one while the caller has one."""
        if self._closed is not None:
            yield from super()._stream(parts, reflexive)
            return
        from cupy.cuda import Device

        each, count = self._by_each(), len(self.devices)

        def block(number: int) -> Any:
            turn = number % count
            with Device(self.devices[turn]):
                found = each[turn]._decoded(parts[number], reflexive)
                synchronize()
                return found

        def brought(number: int, found: Any) -> Any:
            if number % count == 0:
                return found
            with self._first():
                return _here(found)

        ahead: deque[tuple[int, Future[Any]]] = deque()
        with ThreadPoolExecutor(count) as threads:
            for number in range(len(parts)):
                ahead.append((number, threads.submit(block, number)))
                if len(ahead) > count:
                    done, found = ahead.popleft()
                    yield parts[done], brought(done, found.result())
            for done, found in ahead:
                yield parts[done], brought(done, found.result())

    def on_host(self, reflexive: bool, report: Report) -> np.ndarray:
        """The closure in the host's memory, where all GPUs write their rows at once."""
        low, fronts = self.lowering, self._fronts
        out = np.empty(self.shape, low.storage if low.is_identity else low.dtype)  # as rows are decoded
        if self._closed is not None:
            with self._first():
                put(self._whole(reflexive), out)
            return out
        assert isinstance(fronts, SpreadFronts)
        step, lock, done = fronts.together(self.n), Lock(), 0

        def rows(alone: SparseFactors, vertices: np.ndarray) -> None:
            nonlocal done
            for begin in range(0, len(vertices), step):
                some = vertices[begin : begin + step]
                stored = alone._empty((len(some), self.n))
                alone._fill(some, stored, reflexive)
                put(alone._checked(stored, int(some[0])), out[some[0] : some[-1] + 1])
                with lock:
                    done += len(some)
                    report(done / self.n)

        self._shared(rows, np.arange(self.n))
        return out

    def _decoded(self, sources: np.ndarray, reflexive: bool = True, thread_count: int | None = None) -> np.ndarray:
        with self._first():
            return super()._decoded(sources, reflexive, thread_count)

    def _by_rows(self, starts: np.ndarray, ends: np.ndarray, reflexive: bool = True) -> np.ndarray:
        with self._first():
            return super()._by_rows(starts, ends, reflexive)

    def _whole(self, reflexive: bool, report: Report | None = None) -> Any:
        with self._first():
            return super()._whole(reflexive, report)

    def _expanded(self, reflexive: bool, report: Report | None = None) -> Any:
        if not self._A.of_graph:
            return self._whole(reflexive, report)
        return self._A.wrap(self.on_host(reflexive, report or (lambda part: None)))

    def _solution(self, right: Dense) -> Any:
        with self._first():
            if right.on_gpu and right.array.device.id != self.devices[0]:
                right = right.changed(array=_here(right.array))
            return super()._solution(right)


def _here(array: Any) -> Any:
    """An array of any GPU as one of the current GPU, once it has arrived: where it was may be freed."""
    moved = here(array)
    synchronize()
    return moved


def plan_on_gpus(
    operation: str, low: CudaLowering, analysis: Analysis, nnz: int, devices: tuple[int, ...], run: Any = nothing, *,
    answer: bool = True, there: bool = False,
) -> SparsePlan:
    """The plan for a closure by elimination on several GPUs, or for factors only (`answer` false).

    The answer is on the first of them (`there`), or in the host's memory.
    """
    made = plan_on_gpu(operation, low, analysis, nnz, run, answer=answer)
    alone = plan_on_gpu(operation, low, analysis, nnz, answer=False) if answer else made
    n, size, count = analysis.n, low.storage.itemsize, len(devices)
    factors, working = memory_of(analysis, size)
    whole = n * n * size
    factored, everything = (plan.seconds["elimination"] for plan in (alone, made))
    seconds = factored + (everything - factored) / count
    made.memory = factors + working
    if answer:
        sent = min(slab(), whole)
        moved = whole * (count - 1) / count / PEERS if there else whole / COPY_RATE / count
        seconds, made.memory = seconds + moved, made.memory + sent + (whole if there else 0)
        made.reasons["memory"] = (f"on each GPU, with the answer on GPU {devices[0]}" if there
                                  else "on each GPU; the answer is in the host's memory")
    else:
        made.reasons["memory"] = "on each GPU"
    made.reasons["method"] = "level by level of the tree of fronts, on each GPU; rows are dealt out"
    made.seconds = {"elimination": seconds, "dense": made.seconds["dense"] / count}
    made.place, made.devices = place_of(devices), devices
    if there:
        made.needs = made.shortage[0], SpreadSparseFactors._advice
    return made
