"""Sparse matrices on GPUs: the engine of their factors there, and the same matrices as arrays.

Each GPU has all factors and computes some rows; answers are on the first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from semiring.algorithms.sparse.analysis import Analysis
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.compile.launch import current_device, device_name, synchronize
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.compile.streams import on_each
from semiring.kernels.cuda.dense.rows import here, put
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.cuda.sparse.front_structure import Structure
from semiring.kernels.cuda.sparse.fronts import DeviceFronts, memory_of, slab
from semiring.kernels.cuda.sparse.pieces import geometry
from semiring.kernels.cuda.sparse.product import with_zero
from semiring.kernels.cuda.sparse.spread import SpreadFronts
from semiring.kernels.interface import FrontEngine, Report
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import require
from semiring.operands.convert import as_dense, on_device
from semiring.operands.dense import Dense
from semiring.operands.device import Device as DeviceArray
from semiring.operands.devices import COPY_RATE, require_gpu, to_host, upload
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse

from .. import costs
from ..beyond.gpus import place_of
from ..costs import SparsePlan
from ..plan import Plan, nothing
from ..task import UNCHECKED_BYTES, Task, first_offer
from .substitution import ADVICE, Engine, Reduction, Substitution

STRUCTURES = 4  # whose places in the device's memory are kept
LAUNCH = 60e-6  # seconds for a level of the tree
ELIMINATED, TERMS, DENSE = 100e9, 5e12, 10e12  # terms a second: of fronts, of solutions, of the dense closure
MOVED, PASSES = 3e12, 4  # bytes a second, and how often the answer is moved until it is in its place
PEERS = 100e9  # bytes a second from one GPU to another
BLOCK_BYTES = 256 << 20  # of rows that are reduced at once
OF_SEVERAL = ("the rows of several GPUs come together on the first of them: take F.blocks() or F.reduce(…), or have "
              "the closure in the host's memory, with closure(A, S, devices=…) of a matrix that is there")


def offer(task: Task) -> Plan:
    """The offer of the solvers of arrays on the GPU; answers stay on the GPU, except those of graphs."""
    first = task.operands[0]
    require_gpu(task.S, "gpu", first.dtype)
    return first_offer(Task(task.verb, task.S, [_placed(given) for given in task.operands], task.options,
                            task.arguments))


def _placed(given: Operand) -> Operand:
    """Convert an operand to an array on the GPU."""
    if given.kind != "sparse":
        return on_device(given)
    dense: Any = as_dense(given)
    if given.of_graph or given.names is not None:
        return on_device(dense)
    return DeviceArray(dense.array if dense.on_gpu else upload(dense.array), given.S, given.what)


@dataclass(frozen=True)
class Gpus(Engine):
    """Sparse factors on GPUs; see `semiring.solvers.sparse.substitution.Engine`.

    Values, right-hand sides and rows are CuPy arrays on the first GPU. Each GPU reduces its own rows, so that no n × n
    matrix has to fit on one.

    Attributes
    ----------
    devices : tuple of int or None
        Numbers of the GPUs; None: the current one alone.

    Notes
    -----
    J. W. H. Liu, The multifrontal method for sparse matrix solution (1992), by levels of the tree. The order in which
    fronts are combined is that of the CPU.
    """

    @property
    def advice(self) -> str:
        """See `Engine`."""
        return ADVICE if self.devices is None else OF_SEVERAL

    def lowering(self, A: Sparse, *, room: bool) -> CudaLowering:
        """See `Engine`: floats keep their dtype, since moving them takes most of the time.

        Raises
        ------
        SemiringError
            For Python objects, complex numbers, and sums that no integer of the GPU holds: only the CPU computes these.
        """
        low = choose(A.S, A.dtype, with_zero(A.S, A.dtype, A.facts), A.n + 1, in_place=False)
        plain = general_on_device(A.S, A.dtype) if A.dtype in (np.float32, np.float64) else low
        return plain if plain.is_identity else low

    def plan(
        self, operation: str, low: Lowering, analysis: Analysis, nnz: int, run: Callable[[Any], Any] = nothing, *,
        answer: bool = True, there: bool = True,
    ) -> SparsePlan:
        """See `Engine`."""
        made = costs.plan(operation, low, analysis, nnz, run, answer=answer)
        n, load, size, devices = analysis.n, made.load, low.storage.itemsize, self.devices
        assert load is not None
        count = 1 if devices is None else len(devices)
        factors, working = memory_of(analysis, size)
        whole = n * n * size if answer else 0
        levels = int(analysis.depths.max(initial=-1)) + 1
        seconds, memory = LAUNCH * levels + (load.small + load.large) / ELIMINATED, factors + working
        if answer:
            chunks = -(-whole // slab())
            rows = 2 * LAUNCH * levels * chunks + (n * load.down + load.up) / TERMS + PASSES * whole / MOVED
            seconds += rows / count
            memory += whole if there or devices is None else 0
        reasons, needs, method = dict(made.reasons), made.needs, "level by level of the tree of fronts"
        place = device_name() if devices is None else place_of(devices)
        if devices is not None:
            method += ", on each GPU; rows are dealt out"
            reasons["memory"] = "on each GPU"
            if answer:
                seconds += whole * (count - 1) / count / PEERS if there else whole / COPY_RATE / count
                memory += min(slab(), whole)
                reasons["memory"] += f", with the answer on GPU {devices[0]}" if there else (
                    "; the answer is in the host's memory")
            if answer and there:
                needs = made.shortage[0], OF_SEVERAL
        return replace(
            made, place=place, threads=1, factors=factors, memory=memory, devices=devices or (), needs=needs,
            reasons=reasons | {"method": method},
            seconds={"elimination": made.prepared + seconds,
                     "dense": float(n) ** 3 / DENSE / (1 if answer else 3) / count},
        )

    def fronts(self, low: Lowering, analysis: Analysis, threads: int) -> FrontEngine:
        """See `Engine`."""
        assert isinstance(low, CudaLowering)

        def make() -> DeviceFronts:
            return DeviceFronts(structure_of(analysis, tile_of(low)), low)

        return make() if self.devices is None else SpreadFronts(self.devices, make)

    def put(self, low: Lowering, array: np.ndarray) -> Any:
        """See `Engine`."""
        return low.encode(upload(array), False)

    @contextmanager
    def current(self) -> Iterator[None]:
        """See `Engine`: at its end the first GPU has finished all work."""
        if self.devices is None:
            yield
            return
        from cupy.cuda import Device

        with Device(self.devices[0]):
            yield
            synchronize()

    def turns(self, analysis: Analysis) -> np.ndarray:
        """See `Engine`: with several GPUs, each has adjacent rows, which are sent together."""
        return analysis.order if self.devices is None else np.arange(analysis.n)

    def right_hand_side(self, B: Dense) -> Dense:
        """See `Engine`."""
        if self.devices is None or not B.on_gpu or B.array.device.id == self.devices[0]:
            return B
        return B.changed(array=_here(B.array))

    def each_block(self, F: Substitution, function: Reduction) -> None:
        """See `Engine`: in larger blocks, in order; each GPU calls the function with its own rows."""
        step = max(BLOCK_BYTES // max(F.n * F.lowering.storage.itemsize, 1), 1)

        def blocks(alone: Substitution, vertices: np.ndarray) -> None:
            for begin in range(0, len(vertices), step):
                some = vertices[begin : begin + step]
                function(some, alone.rows(some))

        self._shared(F, blocks, F.analysis.order)

    def stream(
        self, F: Substitution, parts: Sequence[np.ndarray], reflexive: bool
    ) -> Iterator[tuple[np.ndarray, Any]]:
        """See `Engine`: from the GPUs in turn; each computes its next block meanwhile."""
        if self.devices is None or F.closed is not None:
            for some in parts:
                yield some, F.rows(some, reflexive)
            return
        from cupy.cuda import Device

        devices, count = self.devices, len(self.devices)

        def block(number: int) -> Any:
            with Device(devices[number % count]):
                found = _alone(F, number % count).rows(parts[number], reflexive)
                synchronize()
                return found

        def brought(number: int, found: Any) -> Any:
            if number % count == 0:
                return found
            with self.current():
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

    def on_host(self, F: Substitution, reflexive: bool, report: Report | None) -> np.ndarray:
        """See `Engine`: several GPUs write their rows there at once."""
        if self.devices is None:
            return to_host(F.whole(reflexive, report))
        low, n = F.lowering, F.n
        if (size := n * n * low.dtype.itemsize) > UNCHECKED_BYTES:
            advice = "factor the matrix, and take rows, blocks or reductions of the factors"
            require(size, f"the closure of {n} × {n} {low.dtype}", advice)
        out = np.empty((n, n), low.storage if low.is_identity else low.dtype)  # as rows are decoded
        if F.closed is not None:
            with self.current():
                put(F.whole(reflexive), out)
            return out
        fronts, lock, done = F.fronts, Lock(), 0
        assert isinstance(fronts, SpreadFronts)
        step = fronts.together(n)

        def rows(alone: Substitution, vertices: np.ndarray) -> None:
            nonlocal done
            for begin in range(0, len(vertices), step):
                some = vertices[begin : begin + step]
                stored = alone.lowering.empty((len(some), n))
                alone.fill(some, stored, reflexive)
                put(alone.checked(stored, int(some[0])), out[some[0] : some[-1] + 1])
                with lock:
                    done += len(some)
                    if report is not None:
                        report(done / n)

        self._shared(F, rows, np.arange(n))
        return out

    def _shared(self, F: Substitution, work: Callable[[Substitution, np.ndarray], None], vertices: np.ndarray) -> None:
        """Call a function with the factors of each GPU and its share of the vertices."""
        if self.devices is None or F.closed is not None:  # a dense closure is on the first
            with self.current():
                work(F, vertices)
            return
        assert isinstance(F.fronts, SpreadFronts)
        shares = F.fronts.shares(len(vertices))
        on_each(self.devices, lambda number: work(_alone(F, number), vertices[shares[number]]))


def _alone(F: Substitution, number: int) -> Substitution:
    """The factors of one of the GPUs, which is the current one."""
    assert isinstance(F.fronts, SpreadFronts)
    return F.with_engine(Gpus(), F.fronts.part(number))


def _here(array: Any) -> Any:
    """Copy an array of any GPU to the current one, and wait, so that the original may be freed."""
    moved = here(array)
    synchronize()
    return moved


def structure_of(analysis: Analysis, tile: int) -> Structure:
    """The structure of fronts in the current device's memory."""
    there, device = _structures(analysis, tile), current_device()
    if device not in there:
        there[device] = Structure(analysis, tile)
    return there[device]


@lru_cache(STRUCTURES)
def _structures(analysis: Analysis, tile: int) -> dict[int, Structure]:
    """Structures by the number of their device."""
    return {}


def tile_of(low: CudaLowering) -> int:
    """The number of vertices in a tile of one thread."""
    text = program(low)
    return geometry(text.size, text.light).TILE
