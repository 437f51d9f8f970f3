"""The factors of one sparse matrix on several GPUs, each of which has them all; rows are dealt out to them.

Elimination takes less time than copies of the factors would, so each GPU does it; to the bit the same. What is asked is
cut into contiguous ranges, one for each GPU, which a thread of the host sees to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cuda.compile.launch import synchronize
from semiring.kernels.cuda.compile.staging import download
from semiring.kernels.cuda.compile.streams import GpuStream, connect, marked, on_each, waits_for
from semiring.kernels.cuda.dense.engine import CudaKernel
from semiring.kernels.cuda.dense.rows import here, put
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.interface import CloseFront, Report

from . import fronts
from .fronts import DeviceFronts

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis

ALONE = 1024  # right-hand sides that one GPU solves for as fast as two would half of them, about
SENT = 512  # rows that a GPU sends while it computes the next ones
FINDERS = 2  # GPUs that find rows for the first one's memory: its links take in no more than a second one finds


class SpreadFronts:
    """See `semiring.kernels.interface.FrontEngine`: values, right-hand sides and answers are on the first GPU.

    The caller's current device is the first one, too. Other GPUs eliminate when something is first asked of them.

    Parameters
    ----------
    devices : sequence of int
    make : callable
        The fronts of one GPU, on the current device.
    """

    threads = 1

    def __init__(self, devices: Sequence[int], make: Callable[[], DeviceFronts]):
        connect(devices)
        self.devices, self._make = tuple(devices), make
        self._first, self._others = make(), [_Other() for _ in devices[1:]]
        self._settled: list[np.ndarray] = []

    def part(self, number: int) -> DeviceFronts:
        """The factors of a GPU, which is the current one."""
        if number == 0:
            return self._first
        other = self._others[number - 1]
        with other.lock:
            if other.fronts is None:
                other.fronts = self._make()
            if other.is_behind:
                other.fronts.factor(here(self._values), self._close)
                for vertices in self._settled:
                    other.fronts.settle(vertices)
                other.is_behind = False
        return other.fronts

    @property
    def parts(self) -> list[DeviceFronts]:
        """The factors of each GPU."""
        return on_each(self.devices, self.part)

    @property
    def lowering(self) -> CudaLowering:
        """How elements are stored and computed."""
        return self._first.lowering

    @property
    def analysis(self) -> Analysis:
        """The structure that is eliminated."""
        return self._first.analysis

    @property
    def dense(self) -> CudaKernel:
        """The engine of dense matrices."""
        return self._first.dense

    @property
    def nbytes(self) -> int:
        """What the factors take, on all GPUs together."""
        return self._first.nbytes * len(self.devices)

    @property
    def pivots(self) -> np.ndarray:
        """The diagonal of every S*, in the order of elimination, on the host."""
        return self._first.pivots

    def factor(self, values: Any, close: CloseFront, report: Report | None = None) -> int:
        """Eliminate all vertices; −1, or the place of a vertex without a star."""
        self._values, self._close, self._settled = values, close, []
        for other in self._others:
            other.is_behind = True
        return self._first.factor(values, close, report)

    def settle(self, vertices: np.ndarray) -> None:
        """Put 1 on the diagonal of S*; vertices in the order of elimination."""
        self._settled.append(vertices)
        self._first.settle(vertices)
        for other in self._others:
            other.is_behind = True

    def shares(self, count: int, least: int = 1, most: int | None = None) -> list[slice]:
        """Contiguous ranges of so many things for the GPUs: at least so many for each, of at most so many GPUs."""
        many = len(self.devices)
        some = max(min(many, most or many, count // least), 1)
        cuts = [count * w // some for w in range(some + 1)] + [count] * (many - some)
        return [slice(cuts[w], cuts[w + 1]) for w in range(many)]

    def rows(
        self, sources: np.ndarray, out: Any, *, reflexive: bool = True, settled: bool = False,
        targets: np.ndarray | None = None, ends: np.ndarray | None = None, thread_count: int | None = None,
    ) -> None:
        """Rows of A*, or of A⁺; of some columns, if `ends` says which.

        The first GPU writes its rows where they belong, and the others send theirs there block by block.
        """
        shares = self.shares(len(sources), ALONE, FINDERS)
        asked: dict[str, Any] = {"reflexive": reflexive, "settled": settled, "ends": ends}
        if shares[0].stop == len(sources):
            self._first.rows(sources, out, targets=targets, **asked)
            return
        if targets is not None and (np.diff(targets) == 1).all():
            out, targets = out[targets[0] : targets[0] + len(targets)], None
        packed = out.strides[0] == out.shape[1] * out.strides[1]

        def fill(number: int) -> None:
            part, share = self.part(number), shares[number]
            if number == 0:
                own = None if targets is None else targets[share]
                part.rows(sources[share], out[share] if own is None else out, targets=own, **asked)
            elif targets is None and packed:
                self._sent(number, sources, share, out, asked)
            else:
                for some in _blocks(share, self.together(out.shape[1])):
                    found = self.lowering.empty((some.stop - some.start, out.shape[1]))
                    part.rows(sources[some], found, **asked)
                    if targets is None:
                        put(found, out[some])
                    else:
                        _scatter(found, out, targets[some])

        on_each(self.devices, fill)

    def _sent(self, number: int, sources: np.ndarray, share: slice, out: Any, asked: dict[str, Any]) -> None:
        """Rows of a share, each block of them on its way to the first GPU while the next one is computed."""
        part, way = self.part(number), GpuStream(self.devices[number], True)
        step = min(SENT, self.together(out.shape[1]))
        rooms, away = [self.lowering.empty((step, out.shape[1])) for _ in range(2)], [None, None]
        try:
            for turn, some in enumerate(_blocks(share, step)):
                found = rooms[turn % 2][: some.stop - some.start]
                if away[turn % 2] is not None:
                    waits_for(away[turn % 2])
                part.rows(sources[some], found, **asked)
                way.after(marked())
                way.send(found, out[some])
                away[turn % 2] = way.mark()
        finally:
            way.wait()  # memory may be freed only after its last use

    def together(self, width: int) -> int:
        """Rows of so many columns that a GPU finds before it sends them."""
        return max(fronts.slab() // max(width * self.lowering.storage.itemsize, 1), 1)

    def columns(self, B: Any, thread_count: int | None = None) -> None:
        """B ← A* B, in storage; numbers by all GPUs, records by the first."""
        import cupy

        shares = self.shares(B.shape[1], ALONE)
        if shares[0].stop == B.shape[1] or self.lowering.storage.names is not None:
            self._first.columns(B)
            return
        sent = [cupy.ascontiguousarray(B[:, share]) for share in shares[1:]]

        def solve(number: int) -> Any:
            own = B[:, shares[0]] if number == 0 else here(sent[number - 1])
            self.part(number).columns(own)
            return own

        found = on_each(self.devices, solve)
        for share, X in zip(shares[1:], found[1:], strict=True):
            B[:, share] = here(X)
        synchronize()  # before the memory that was sent is used for something else

    def summaries(self) -> np.ndarray | None:
        """For every vertex the total, number, least and most of its row of A*, on the host; see `DeviceFronts`."""
        shares = self.shares(self.analysis.n)

        def reduced(number: int) -> np.ndarray | None:
            share = shares[number]
            found = self.part(number).summarised(share.start, share.stop)
            return None if found is None else download(found)

        parts = on_each(self.devices, reduced)
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return np.take(np.concatenate(known), self.analysis.place, axis=0)


@dataclass
class _Other:
    """The factors of another GPU than the first, once they are needed."""

    lock: Any = field(default_factory=Lock)
    fronts: DeviceFronts | None = None
    is_behind: bool = True


def _blocks(share: slice, step: int) -> list[slice]:
    """A range cut into runs."""
    return [slice(begin, min(begin + step, share.stop)) for begin in range(share.start, share.stop, step)]


def _scatter(found: Any, out: Any, where: np.ndarray) -> None:
    """Rows of the current GPU into their places on another one."""
    import cupy

    with out.device:
        out[cupy.asarray(where)] = here(found)
        synchronize()
