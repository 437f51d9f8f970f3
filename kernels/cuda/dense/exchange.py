"""Data into storage and results out of it on the device, with facts about them; exchange.cu has the kernels.

What the kernels find reaches the host through memory that both can see: waiting for the stream is all that reading
it takes, and several launches are waited for once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import pack, unpack
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semiring.kernels.cuda.compile.geometry import CloseGeometry, stack_geometry
from semiring.kernels.cuda.compile.launch import Function, Module, current_device, multiprocessors, rows_of, synchronize
from semiring.kernels.cuda.compile.program import close_source, exchange_source, program
from semiring.kernels.facts import DeviceFacts

from .product import View

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

# As in exchange.cu.
LOW_LIMIT, HIGH_LIMIT, NOT_A_NUMBER, OTHER, OUTSIDE, IMPROVED, LEAVES, UNDEFINED, ZERO, TINY = (
    1 << i for i in range(10)
)
THREADS = 256
RESIDENT = 8  # blocks of a multiprocessor
SEEN_ORDER = 32  # up to which a closure looks at its matrix: beyond that it needs the registers
LINE = 1024  # elements of a row that keeps a block busy
FEW_ELEMENTS = 1 << 16  # elements for which it makes no difference how they are shared out
EMPTY = (np.iinfo("i8").max, np.iinfo("i8").min, 0, 0)  # of a tally: no number, no flag, no block has arrived


class Findings(NamedTuple):
    """Least and greatest finite number, as keys of their order, and flags."""

    low: int
    high: int
    flags: int

    def facts(self, dtype: np.dtype) -> DeviceFacts:
        """As the choice of a lowering wants them; records and complex numbers have only the defaults."""
        if dtype.names or dtype.kind == "c":
            return DeviceFacts()
        empty = self.low > self.high
        least, greatest = (np.inf, 0) if empty else (_number(self.low, dtype), _number(self.high, dtype))
        return DeviceFacts(
            largest=0 if empty else max(abs(least), abs(greatest)), least=least,
            low_limit=bool(self.flags & LOW_LIMIT), high_limit=bool(self.flags & HIGH_LIMIT),
            two_valued=not self.flags & OTHER, has_zero=bool(self.flags & ZERO),
            has_tiny=bool(self.flags & TINY),
        )


class Report:
    """What launches on one stream find, added up on the device; the last of them sends it to the host."""

    def __init__(self) -> None:
        import cupy

        self._device = current_device()
        self._tally = cupy.asarray(np.array(EMPTY))
        self._pinned = cupy.cuda.alloc_pinned_memory(32)
        self._view = np.frombuffer(self._pinned, np.int64, 3)
        self.tally, self.host = self._tally.data.ptr, self._pinned.ptr

    def clear(self) -> None:
        """Expect flags only, of launches that write them where they find some."""
        self._view[:] = EMPTY[:3]

    def read(self) -> Findings:
        """Wait for the current stream and take what was found; the report is free for others then."""
        synchronize()
        findings = Findings(*self._view.tolist())
        _free.setdefault(self._device, []).append(self)
        return findings


_free: dict[int, list[Report]] = {}  # one that an exception leaves half used is not put back


def report() -> Report:
    """A report of its own for this call."""
    try:
        return _free[current_device()].pop()
    except (KeyError, IndexError):
        return Report()


class Exchange:
    """The way in and out for one lowering."""

    def __init__(self, low: CudaLowering):
        self.low, self.given, self.stored = low, low.dtype, low.storage
        A = low.algebra.over(low.dtype)
        neutral = (A.zero, A.zero if A.one is None else A.one)
        self.ends = (0, 0) if len(low.components) > 1 else tuple(_key(np.asarray(x, low.dtype)) for x in neutral)
        module, self._encodes = _module(exchange_source(low)), not low.is_identity
        self._take_in, self._hand_out, self._inspect = (
            module.function(name, THREADS) for name in ("take_in", "hand_out", "inspect")
        )

    @property
    def looks(self) -> Function:
        """The kernel that looks at data."""
        return self._take_in

    def ways(self, closure: bool) -> list[Function]:
        """The kernels that a first closure or product needs besides."""
        if closure:  # a second one hands out what a recorded graph computes
            return [self._take_in, self._inspect, self._hand_out]
        return [self._take_in, self._hand_out] if self._encodes else []

    def look_at(self, A: Any, into: Report, last: bool = False) -> None:
        """Only look at an array of the data's dtype."""
        A = A if A.ndim else A.reshape(1)
        if A.ndim == 2 and A.strides[0] == A.itemsize:
            A = A.T  # in the order in which it lies
        if A.size % LINE == 0 and A.size > FEW_ELEMENTS and A.flags.c_contiguous:
            flat = A.reshape(-1, LINE)
        else:
            flat = rows_of(A.reshape(-1, A.shape[-1]) if A.ndim != 2 else A)
        rows, columns = flat.shape
        place = (flat.data.ptr, flat.strides[0], 0, rows, columns, 1)
        self._launch_in(place, (0, 0, 0, rows, columns), into, last)

    def take_in(self, A: Any, target: Any, into: Report | None = None, last: bool = False) -> None:
        """target ← A in storage, the semiring's zero beyond A; both are one matrix or a stack."""
        rows, goal = rows_of(A), _stack(target)  # a copy of rows stays until the launch: see `_addresses`
        self._launch_in(_stack(rows), (*goal[:3], *goal[3:5]), into, last)

    def _launch_in(self, place: tuple[Any, ...], goal: tuple[Any, ...], into: Report | None, last: bool) -> None:
        lanes, blocks = _share(place[5] * goal[3], goal[4])
        tally, host = _addresses(into, last)
        self._take_in(blocks, 1, *place, *goal, lanes, *self.ends, tally, host)

    def hand_out(
        self, results: Any, target: Any, failed: int = 0, into: Report | None = None, last: bool = True
    ) -> None:
        """target ← results as data, cut to the shape of target, whose memory may be the same."""
        goal = _stack(target)
        place = (*_stack(results)[:3], *goal[3:])
        lanes, blocks = _share(place[3] * place[5], place[4])
        tally, host = _addresses(into, last)
        self._hand_out(blocks, 1, *place, *goal[:3], lanes, failed, tally, host)

    def inspect(self, results: Any, failed: int, into: Report, last: bool = True) -> None:
        """Look whether 1 ⊕ a = 1 on the diagonals."""
        address, ld, following, rows, _, batch = _stack(results)
        blocks = min(-(-rows * batch // THREADS), multiprocessors() * RESIDENT)
        self._inspect(max(blocks, 1), 1, address, ld, following, rows, batch, failed, *_addresses(into, last))


    def close_seen(self, A: Any, D: Any, into: Report) -> None:
        """D[s] ← A[s]* for small matrices of data that storage holds as they are, which are looked at as well."""
        address, ld, following, n, _, batch = _stack(A)
        g = stack_geometry(self.stored.itemsize, n, program(self.low).light)
        places = address, ld, following, *_stack(D)[:3], n, batch
        self._close(g)(-(-batch // g.MATRICES), 1, *places, *self.ends, into.tally, into.host)

    @lru_cache(64)  # noqa: B019 (exchanges live as long as the process)
    def _close(self, g: CloseGeometry) -> Function:
        return Module(close_source(self.low, g)).function("close_data", g.threads)


@lru_cache(256)
def _module(source: str) -> Module:
    """The kernels of a text, which several lowerings share."""
    return Module(source)


def exchange(low: CudaLowering) -> Exchange:
    """The exchange of a lowering; threads share one, since what is dropped unloads its code."""
    found = _exchanges.get(low)
    if found is None:
        with _making:
            found = _exchanges.get(low) or _exchanges.setdefault(low, Exchange(low))
    return found


_exchanges: dict[CudaLowering, Exchange] = {}
_making = RLock()


def look_at(low: CudaLowering, arrays: Sequence[Any]) -> Findings:
    """What holds for all arrays together; waits for the device."""
    found = report()
    for i, array in enumerate(arrays):
        exchange(low).look_at(array, found, i == len(arrays) - 1)
    return found.read()


def _addresses(into: Report | None, last: bool) -> tuple[int, int]:
    """The addresses of a tally, which may be allocated here, and of what the host reads."""
    if into is None:
        return _nowhere(), 0
    return into.tally, into.host if last else 0


@lru_cache(8)
def _scrap(device: int) -> Any:
    import cupy

    return cupy.asarray(np.array(EMPTY))


def _nowhere() -> int:
    """A tally that is not read."""
    return _scrap(current_device()).data.ptr


def _stack(array: Any) -> tuple[int, int, int, int, int, int]:
    """Address, bytes from row to row and from matrix to matrix, rows, columns, matrices."""
    if isinstance(array, View):
        return (*array, 1)
    strides = array.strides
    if array.ndim == 2:
        return array.data.ptr, strides[0], 0, *array.shape, 1
    return array.data.ptr, strides[1], strides[0], *array.shape[1:], len(array)


def _share(rows: int, columns: int) -> tuple[int, int]:
    """Threads for a row, each of which takes four elements at once, and blocks."""
    lanes = min(THREADS, max(1 << (columns - 1).bit_length() >> 2, 1)) if columns else 1
    return lanes, max(min(-(-rows * lanes // THREADS), multiprocessors() * RESIDENT), 1)


def _key(x: np.ndarray) -> int:
    """As `key` in exchange.cu."""
    if x.dtype.kind == "f":
        bits = int(np.asarray(x, "f8").view("i8"))
        return bits if bits >= 0 else bits ^ 0x7FFFFFFFFFFFFFFF
    return int(x) - (1 << 63) if x.dtype == np.uint64 else int(x)


def _number(key: int, dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return unpack("d", pack("q", key if key >= 0 else key ^ 0x7FFFFFFFFFFFFFFF))[0]
    return key + (1 << 63) if dtype == np.uint64 else key
