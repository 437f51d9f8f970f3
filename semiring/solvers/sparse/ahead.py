"""What an elimination compiles, in its order, so that another process can begin with the last: see `beside`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

import numpy as np

from semiring.algorithms.sparse.analysis import analyse
from semiring.algorithms.sparse.costs import work_of
from semiring.algorithms.sparse.ordering import spread
from semiring.algorithms.sparse.pattern import symmetric, transposed
from semiring.kernels.build import PURPOSES, code_of
from semiring.kernels.cpu.compile.beside import if_missing
from semiring.kernels.cpu.compile.plain import Rehearsal
from semiring.kernels.cpu.compile.price import when
from semiring.kernels.cpu.dense.scan import SCANNED, scan
from semiring.kernels.lowering.base import Lowering
from semiring.operands.sparse import Sparse

from ..costs import least_by_numpy

SIDE = 17  # of a grid on which both ways to find an order call all loops that there are for them


@contextmanager
def with_another_process(low: Lowering, A: Sparse, answer: bool) -> Iterator[None]:
    """Within this context, the analysis of A that finds nothing compiled has another process help.

    It helps from the beginning where the elimination is so much work that it will surely be compiled: meanwhile the
    analysis may well be done in Python. It does not where both have been compiled before: what is left takes no longer
    than to start one. `answer`: whether the whole closure is wanted, and not only factors.
    """
    if when() == "never" or low.on_gpu or low.kind != "numba":
        yield
        return
    code, analysed = code_of(low, "fronts"), transposed.at_hand  # the first loop of the analysis
    surely = not (analysed or code.at_hand) and code.is_due(least_by_numpy(low, A, answer))
    with nullcontext() if analysed and code.at_hand else if_missing(steps, low.compiles, surely=surely):
        yield


def steps(low: Lowering) -> list[Callable[[], object]]:
    """What compiles the analysis of a structure, a look at the elements, and the elimination that follows."""
    vertices = np.arange(SIDE * SIDE)
    ends = np.stack([vertices + 1, vertices + SIDE], 1)  # a grid whose rows are joined at their ends
    inside = ends < len(vertices)
    start = np.concatenate([[0], np.cumsum(inside.sum(1))])
    with Rehearsal().watched() as rehearsal:
        spread(*symmetric(start, ends[inside]))
        for method in ("auto", "levels"):
            found = analyse(start, ends[inside], method=method)
        work_of(found)
        _ = found.children, found.lowest, found.depths
        found.stack_layout(1, 1)
    scanning = [partial(scan, np.zeros((1, 1), low.dtype))] if low.dtype.char in SCANNED else []
    return [*rehearsal.steps(), *scanning, *(function.make for function in PURPOSES["fronts"].code(low))]
