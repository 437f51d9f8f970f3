"""Rows of a closure for many sources over compressed rows, on the GPU: frontiers as bits, labels compared and swapped.

search.cu has the kernels, `semiring.algorithms.frontier` the schedule that calls `advance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.cuda.choose import choose
from semiring.kernels.cuda.compile.launch import Function, Module, multiprocessors
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import DeviceFacts, Facts

from .product import with_zero

if TYPE_CHECKING:
    from semiring.kernels.blocks.rows import Rows

CHUNK = 128  # edges of a vertex that a warp relaxes one after the other
THREADS = 256  # as in search.cu
RESIDENT = 8  # blocks of a multiprocessor


@dataclass
class State:
    """Labels and frontiers of a batch of sources, on the device."""

    x: Any  # words, shape (n, sources)
    frontiers: Any  # uint32, shape (3, groups, n): now, later and spare, in turn
    groups: int
    done: int = 0  # rounds


class CudaFrontierKernel:
    """Rounds over one graph for one algebra; see `semiring.algorithms.frontier.FrontierKernel`."""

    rounds = 32  # launches between two looks at whether anything is left

    def __init__(self, low: CudaLowering, A: Rows, values: Any, group: int):
        import cupy

        self.low, self.n, self.group = low, A.shape[0], group
        self._begin, self._relax = _functions(low, group)
        counts = -(-np.diff(A.offsets) // CHUNK)
        vertices = np.repeat(np.arange(self.n, dtype=np.int32), counts)
        rank = np.arange(len(vertices)) - np.repeat(np.cumsum(counts) - counts, counts)
        self._chunks = cupy.asarray(vertices), cupy.asarray(A.offsets[vertices] + CHUNK * rank)
        self._rows = cupy.asarray(A.offsets), cupy.asarray(A.columns), values

    def start(self, sources: np.ndarray) -> State:
        """Labels 1 at the sources and 0 elsewhere, and frontiers that hold the sources."""
        import cupy

        groups = -(-len(sources) // self.group)
        word = np.uint64 if self.low.storage.itemsize == 8 else np.uint32
        state = State(
            cupy.empty((self.n, groups * self.group), word), cupy.empty((3, groups, self.n), np.uint32), groups
        )
        starts = cupy.asarray(sources, np.int64)
        self._begin(
            self._blocks(state.x.size), 1, state.x.data.ptr, state.frontiers.data.ptr, starts.data.ptr, len(sources),
            self.n, groups,
        )
        return state

    def advance(self, state: State, rounds: int) -> bool:
        """So many rounds for all sources; whether any frontier is left."""
        import cupy

        flags = cupy.zeros(rounds, np.int32)
        vertices, firsts = self._chunks
        shared = (vertices.data.ptr, firsts.data.ptr, len(vertices), *(a.data.ptr for a in self._rows), self.n)
        blocks = self._blocks(max(len(vertices), self.n))
        for r in range(rounds):
            masks = [state.frontiers[(state.done + i) % 3].data.ptr for i in range(3)]
            before = flags.data.ptr + 4 * (r - 1) if r else 0
            self._relax(
                blocks, state.groups, *shared, state.groups, state.x.data.ptr, *masks, before, flags.data.ptr + 4 * r
            )
            state.done += 1
        return bool(flags[-1].get())

    def labels(self, state: State, count: int) -> Any:
        """The labels in storage, a row for each of `count` sources."""
        import cupy

        words = cupy.ascontiguousarray(state.x[:, :count].T)
        size = self.low.storage.itemsize
        return (words if words.itemsize == size else words.astype(f"u{size}")).view(self.low.storage)

    def unfinished(self, state: State, count: int) -> list[int]:
        """The sources whose frontier is not empty, after a round that found something to do."""
        left = state.frontiers[state.done % 3]
        rest = [left[s // self.group] >> np.uint32(s % self.group) & np.uint32(1) for s in range(count)]
        return [s for s, bits in enumerate(rest) if bool(bits.any().get())]

    def _blocks(self, count: int) -> int:
        return max(1, min(-(-count // THREADS), RESIDENT * multiprocessors()))


@lru_cache(64)
def _functions(low: CudaLowering, group: int) -> tuple[Function, Function]:
    module = Module(source(low, group))
    return module.function("begin", THREADS), module.function("relax_frontier", THREADS)


def source(low: CudaLowering, group: int) -> str:
    """The text of both kernels for groups of so many sources."""
    constants = f"constexpr int GROUP = {group};\nconstexpr long long CHUNK = {CHUNK};\n"
    return program(low).source(constants, "sparse/search.cu")


def group_of(count: int) -> int:
    """Sources of a group: a power of two, up to a warp's lanes."""
    return min(1 << max(count - 1, 0).bit_length(), 32)


def lowering_for(S: Semiring, values: np.ndarray, facts: Facts, n: int, bounded: bool) -> CudaLowering:
    """The form for a graph of n vertices with these edges; `bounded`: none is better than 1.

    Raises
    ------
    SemiringError
        If only the CPU can compute: sums that no integer of the GPU holds.
    """
    known = vars(with_zero(S, values.dtype, facts))
    # An improving cycle is walked many times before n rounds are over; integers must not overflow meanwhile.
    length = n + 1 if bounded else (n + 1) ** 2
    return choose(S, values.dtype, DeviceFacts(**known, least=_least(values)), length, in_place=False)


def _least(values: np.ndarray) -> Any:
    """The least finite number; −0 if that is among the zeros."""
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    if not len(finite) or values.dtype.kind == "b":
        return 0
    least = finite.min().item()
    return -0.0 if least == 0 and values.dtype.kind == "f" and np.signbit(finite).any() else least
