"""Where a sparse matrix is eliminated and its factors lie: `Host` in `sparse_substitution`, `Gpus` in `engines_gpu`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from semiring.algorithms.sparse.analysis import Analysis
from semiring.kernels.interface import FrontEngine, Report
from semiring.kernels.lowering.base import Lowering
from semiring.operands.dense import Dense
from semiring.operands.sparse import Sparse

from ..costs import SparsePlan
from ..plan import nothing

if TYPE_CHECKING:
    from .sparse_substitution import Substitution

ADVICE = "use a narrower dtype, fewer vertices, or rows and blocks of rows instead of the whole"

Reduction = Callable[[np.ndarray, Any], Any]


class Engine(Protocol):
    """What the place decides; a value that a process can send to another.

    Attributes
    ----------
    devices : tuple of int or None
        Numbers of the GPUs that were asked for by number.
    """

    @property
    def devices(self) -> tuple[int, ...] | None:
        """See the attributes."""

    @property
    def advice(self) -> str:
        """What helps where a closure does not fit in memory."""

    def lowering(self, A: Sparse, *, room: bool) -> Lowering:
        """How to compute on a matrix; with `room`, so that sums with right-hand sides find space.

        Raises
        ------
        SemiringError
            Where the elements cannot be there.
        """

    def plan(
        self, operation: str, low: Lowering, analysis: Analysis, nnz: int, run: Callable[[Any], Any] = nothing, *,
        answer: bool = True, there: bool = True,
    ) -> SparsePlan:
        """The plan for a closure, which stays `there` or is in the host's memory, or for factors (`answer` false)."""

    def fronts(self, low: Lowering, analysis: Analysis, threads: int) -> FrontEngine:
        """What eliminates fronts and solves by the factors."""

    def put(self, low: Lowering, array: np.ndarray) -> Any:
        """The host's array in storage, in memory of its own where the factors are."""

    def current(self) -> AbstractContextManager[None]:
        """A context in which memory is allocated where answers are."""

    def turns(self, analysis: Analysis) -> np.ndarray:
        """The order in which all rows of a closure are computed."""

    def right_hand_side(self, B: Dense) -> Dense:
        """The same where the factors can read it."""

    def each_block(self, F: Substitution, function: Reduction) -> None:
        """Call a function with vertices and their rows, block by block; it may write to the rows."""

    def stream(
        self, F: Substitution, parts: Sequence[np.ndarray], reflexive: bool
    ) -> Iterator[tuple[np.ndarray, Any]]:
        """Some vertices after the other, with their rows."""

    def on_host(self, F: Substitution, reflexive: bool, report: Report | None) -> np.ndarray:
        """The closure in the host's memory."""
