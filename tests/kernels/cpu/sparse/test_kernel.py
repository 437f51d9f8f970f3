"""What kernels over compressed rows share: a module that is loaded once, and lines that each thread takes once."""

from __future__ import annotations

from threading import Lock

import numpy as np
import pytest

import semiring as sr
from semiring.errors import SemiringError
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse.kernel import RowsKernel
from semiring.kernels.cpu.sparse.predecessors import PredecessorKernel
from semiring.kernels.cpu.sparse.search import CpuSearchKernel
from semiring.kernels.cpu.sparse.trees import TreeKernel
from semiring.kernels.cpu.sparse.winners import WinnersKernel
from semiring.kernels.lowering.general import general

TEXT = program(general(sr.min_plus, np.dtype("f8")))
KERNELS = [CpuSearchKernel, PredecessorKernel, TreeKernel, WinnersKernel]


def test_each_kernel_has_a_module_of_its_own() -> None:
    modules = {kind: kind(TEXT, 1).module.__name__ for kind in KERNELS}
    assert len(set(modules.values())) == len(KERNELS), modules


@pytest.mark.parametrize("kind", KERNELS, ids=lambda kind: kind.__name__)
def test_threads_are_those_asked_for(kind: type[RowsKernel]) -> None:
    kernel = kind(TEXT, 3)
    assert kernel.threads == 3 and kernel.dtype == np.float64 and kernel.module is kernel.module
    with pytest.raises(SemiringError, match="number of threads must be at least 1"):
        kind(TEXT, 0)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_every_line_is_taken_once(threads: int, count: int) -> None:
    taken, lock = [], Lock()

    def lines(first: int, last: int) -> None:
        with lock:
            taken.extend(range(first, last))

    RowsKernel(TEXT, threads)._share("lines", lines, count, 1e6)
    assert sorted(taken) == list(range(count))
