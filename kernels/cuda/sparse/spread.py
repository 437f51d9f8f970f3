"""The factors of one sparse matrix on several GPUs, each of which has them all; rows are dealt out to them.

Elimination takes less time than copies of the factors would, so each GPU does it; to the bit the same. What is asked is
cut into contiguous ranges, one for each GPU, which a thread of the host sees to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cuda.compile.launch import synchronize
from semiring.kernels.cuda.compile.staging import download
from semiring.kernels.cuda.compile.streams import connect, on_each
from semiring.kernels.cuda.dense.engine import CudaKernel
from semiring.kernels.cuda.dense.rows import here, put
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.interface import CloseFront, Report

from . import fronts
from .fronts import DeviceFronts

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis

ALONE = 256  # right-hand sides that one GPU solves for as fast as two would half of them, about


class SpreadFronts:
    """See `semiring.kernels.interface.FrontEngine`: values, right-hand sides and answers are on the first GPU.

    The caller's current device is the first one, too.

    Parameters
    ----------
    devices : sequence of int
    make : callable
        The fronts of one GPU, on the current device.

    Attributes
    ----------
    parts : list of DeviceFronts
        Those of each GPU.
    """

    threads = 1

    def __init__(self, devices: Sequence[int], make: Callable[[], DeviceFronts]):
        connect(devices)
        self.devices, self.parts = tuple(devices), on_each(devices, lambda _: make())

    @property
    def lowering(self) -> CudaLowering:
        """How elements are stored and computed."""
        return self.parts[0].lowering

    @property
    def analysis(self) -> Analysis:
        """The structure that is eliminated."""
        return self.parts[0].analysis

    @property
    def dense(self) -> CudaKernel:
        """The engine of dense matrices."""
        return self.parts[0].dense

    @property
    def nbytes(self) -> int:
        """What the factors take, on all GPUs together."""
        return sum(part.nbytes for part in self.parts)

    @property
    def pivots(self) -> np.ndarray:
        """The diagonal of every S*, in the order of elimination, on the host."""
        return self.parts[0].pivots

    def factor(self, values: Any, close: CloseFront, report: Report | None = None) -> int:
        """Eliminate all vertices, on every GPU; −1, or the place of a vertex without a star."""

        def eliminate(number: int) -> int:
            own = values if number == 0 else here(values)
            return self.parts[number].factor(own, close, report if number == 0 else None)

        return on_each(self.devices, eliminate)[0]

    def settle(self, vertices: np.ndarray) -> None:
        """Put 1 on the diagonal of S*; vertices in the order of elimination."""
        on_each(self.devices, lambda number: self.parts[number].settle(vertices))

    def shares(self, count: int, least: int = 1) -> list[slice]:
        """Contiguous ranges of so many things for the GPUs; the first ones alone have some where all have too few."""
        some = max(min(len(self.parts), count // least), 1)
        cuts = [count * w // some for w in range(some + 1)] + [count] * (len(self.parts) - some)
        return [slice(cuts[w], cuts[w + 1]) for w in range(len(self.parts))]

    def rows(
        self, sources: np.ndarray, out: Any, *, reflexive: bool = True, settled: bool = False,
        targets: np.ndarray | None = None, ends: np.ndarray | None = None, thread_count: int | None = None,
    ) -> None:
        """Rows of A*, or of A⁺; of some columns, if `ends` says which.

        The first GPU writes its rows where they belong, and the others send theirs there block by block.
        """
        shares, step = self.shares(len(sources), ALONE), self.together(out.shape[1])
        asked: dict[str, Any] = {"reflexive": reflexive, "settled": settled, "ends": ends}
        if targets is not None and len(targets) and (np.diff(targets) == 1).all():
            out, targets = out[targets[0] : targets[0] + len(targets)], None

        def fill(number: int) -> None:
            part, share = self.parts[number], shares[number]
            if number == 0:
                own = None if targets is None else targets[share]
                part.rows(sources[share], out[share] if own is None else out, targets=own, **asked)
                return
            for begin in range(share.start, share.stop, step):
                some = slice(begin, min(begin + step, share.stop))
                found = self.lowering.empty((some.stop - begin, out.shape[1]))
                part.rows(sources[some], found, **asked)
                if targets is None:
                    put(found, out[some])
                else:
                    _scatter(found, out, targets[some])

        on_each(self.devices, fill)

    def together(self, width: int) -> int:
        """Rows of so many columns that a GPU finds before it sends them."""
        return max(fronts.slab() // max(width * self.lowering.storage.itemsize, 1), 1)

    def columns(self, B: Any, thread_count: int | None = None) -> None:
        """B ← A* B, in storage; numbers by all GPUs, records by the first."""
        import cupy

        shares = self.shares(B.shape[1], ALONE)
        if shares[0].stop == B.shape[1] or self.lowering.storage.names is not None:
            self.parts[0].columns(B)
            return
        sent = [cupy.ascontiguousarray(B[:, share]) for share in shares[1:]]

        def solve(number: int) -> Any:
            own = B[:, shares[0]] if number == 0 else here(sent[number - 1])
            self.parts[number].columns(own)
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
            found = self.parts[number].summarised(np.arange(share.start, share.stop))
            return None if found is None else download(found)

        parts = on_each(self.devices, reduced)
        known = [part for part in parts if part is not None]
        return np.concatenate(known)[self.analysis.place] if len(known) == len(parts) else None


def _scatter(found: Any, out: Any, where: np.ndarray) -> None:
    """Rows of the current GPU into their places on another one."""
    import cupy

    with out.device:
        out[cupy.asarray(where)] = here(found)
        synchronize()
