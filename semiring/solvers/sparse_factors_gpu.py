"""Sparse factors in a GPU's memory: rows, blocks, equations and reductions whose answers stay there."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algorithms.sparse.analysis import Analysis
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.compile.launch import current_device, device_name
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.cuda.sparse.fronts import DeviceFronts, Structure, geometry, memory_of, slab
from semiring.kernels.cuda.sparse.product import with_zero
from semiring.kernels.cuda.sparse.spread import SpreadFronts
from semiring.kernels.interface import FrontEngine, Report
from semiring.kernels.lowering.base import Lowering
from semiring.operands.devices import to_host, upload
from semiring.operands.sparse import Sparse

from . import costs
from .costs import SparsePlan
from .plan import nothing
from .sparse_factors import SparseFactors
from .sparse_substitution import stable_closure

STRUCTURES = 4  # whose places in the device's memory are kept
LAUNCH = 60e-6  # seconds for a level of the tree
ELIMINATED, TERMS, DENSE = 100e9, 5e12, 10e12  # terms a second: of fronts, of solutions, of the dense closure
MOVED, PASSES = 3e12, 4  # bytes a second, and how often the answer is moved until it is in its place


class DeviceSparseFactors(SparseFactors):
    """A sparse matrix eliminated once, its factors in a GPU's memory; made by ``semiring.factor(…, device="gpu")``.

    All that `SparseFactors` gives, as CuPy arrays: rows, blocks, closures and tables. Right-hand sides of `solve` and
    weights for `refactor` may be on the GPU or on the host; a solution comes back where its right-hand side was. Best
    walks, files and what has names are in the host's memory.

    Attributes
    ----------
    n : int
    names : list or None
    plan : SparsePlan
    analysis : Analysis
        The order and the structure of the factors, found on the CPU.

    Notes
    -----
    J. W. H. Liu, The multifrontal method for sparse matrix solution (1992), by levels of the tree. Floats are rounded
    as in `semiring.closure`; the order in which fronts are combined is that of the CPU.

    Examples
    --------
    With ``roads`` a sparse matrix of SciPy's or CuPy's, ``sr.factor(roads, sr.min_plus, device="gpu")`` makes one.

    >>> issubclass(DeviceSparseFactors, SparseFactors)
    True
    """

    @staticmethod
    def _planned(A: Sparse, analysis: Analysis) -> SparsePlan:
        return plan_on_gpu("factor", lowering_on_gpu(A), analysis, A.nnz, answer=False)

    def _engine_of(self, low: Lowering) -> FrontEngine:
        assert isinstance(low, CudaLowering)
        return DeviceFronts(structure_of(self.analysis, tile_of(low)), low)

    def _weights(self, low: Lowering) -> Any:
        return low.encode(upload(self._A.values), False)

    def _empty(self, shape: tuple[int, int]) -> Any:
        return self.lowering.empty(shape)

    def _dense_closure(self, low: Lowering) -> Any:
        return low.encode(upload(stable_closure(self._A)), False)

    def _fill(
        self, sources: np.ndarray, out: Any, reflexive: bool = True, targets: np.ndarray | None = None,
        ends: np.ndarray | None = None, thread_count: int | None = None,
    ) -> None:
        if self._closed is None:
            self._fronts.rows(
                sources, out, reflexive=reflexive, settled=self._settled, targets=targets, ends=ends,
                thread_count=thread_count,
            )
            return
        import cupy

        columns = np.arange(self.n) if ends is None else ends
        where = cupy.asarray(np.arange(len(sources)) if targets is None else targets)
        out[where] = self._closed[cupy.asarray(sources)][:, cupy.asarray(columns)]
        if not reflexive:
            i, j = np.nonzero(sources[:, None] == columns)
            out[where[cupy.asarray(i)], cupy.asarray(j)] = self._cycles[cupy.asarray(sources[i])]

    @property
    def _cycles(self) -> Any:
        """The diagonal of A⁺ = A A* where A* is dense."""
        engine = self._fronts
        assert isinstance(engine, (DeviceFronts, SpreadFronts))
        return engine.dense.diagonal(self.lowering.encode(upload(self._A.array()), False), self._closed)

    def _expanded(self, reflexive: bool, report: Report | None = None) -> Any:
        closed = self._whole(reflexive, report)
        return self._A.wrap(to_host(closed)) if self._A.of_graph else closed

    def _part(self, starts: np.ndarray, ends: np.ndarray | None) -> Any:
        return self._decoded(starts) if ends is None else self._by_rows(starts, ends)

    def _way(self, starts: np.ndarray, ends: np.ndarray | None) -> str:
        return "by factors that are there, on the GPU"

    def _reconsider(self, rows: int, part: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """All is compiled."""


def structure_of(analysis: Analysis, tile: int) -> Structure:
    """The structure of fronts in the current device's memory."""
    there, device = _structures(analysis, tile), current_device()
    if device not in there:
        there[device] = Structure(analysis, tile)
    return there[device]


@lru_cache(STRUCTURES)
def _structures(analysis: Analysis, tile: int) -> dict[int, Structure]:
    """By the number of the device whose memory each is in."""
    return {}


def tile_of(low: CudaLowering) -> int:
    """Vertices that a thread holds."""
    text = program(low)
    return geometry(text.size, text.light).TILE


def lowering_on_gpu(A: Sparse) -> CudaLowering:
    """How to compute on a sparse matrix: floats as they are, since most of the time goes into moving them.

    Raises
    ------
    SemiringError
        Where only the CPU can compute: Python objects, complex numbers, sums that no integer of the GPU holds.
    """
    low = choose(A.S, A.dtype, with_zero(A.S, A.dtype, A.facts), A.n + 1, in_place=False)
    plain = general_on_device(A.S, A.dtype) if A.dtype in (np.float32, np.float64) else low
    return plain if plain.is_identity else low


def plan_on_gpu(
    operation: str, low: CudaLowering, analysis: Analysis, nnz: int, run: Any = nothing, *, answer: bool = True
) -> SparsePlan:
    """The plan for a closure by elimination on the GPU, or for factors only (`answer` false)."""
    made = costs.plan(operation, low, analysis, nnz, run, answer=answer)
    n, load, size = analysis.n, made.load, low.storage.itemsize
    assert load is not None
    factors, working = memory_of(analysis, size)
    written = n * n * size if answer else 0
    levels = int(analysis.depths.max(initial=-1)) + 1
    seconds = LAUNCH * levels + (load.small + load.large) / ELIMINATED
    if answer:
        chunks = -(-written // slab())
        seconds += 2 * LAUNCH * levels * chunks + (n * load.down + load.up) / TERMS + PASSES * written / MOVED
    made.place, made.threads, made.factors, made.memory = device_name(), 1, factors, factors + working + written
    made.seconds = {"elimination": made.prepared + seconds, "dense": float(n) ** 3 / DENSE / (1 if answer else 3)}
    made.reasons["method"] = "level by level of the tree of fronts"
    return made
