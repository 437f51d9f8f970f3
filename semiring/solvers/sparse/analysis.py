"""The preparation of an elimination: the analysis of the structure, the lowering, and the code to compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from hashlib import blake2b
from threading import Lock
from typing import Any

import numpy as np

from semiring.algorithms.sparse.analysis import Analysis, analyse
from semiring.algorithms.sparse.costs import work_of
from semiring.algorithms.sparse.minimum_degree import is_compiled
from semiring.algorithms.sparse.ordering import spread
from semiring.algorithms.sparse.pattern import Index, symmetric, transposed
from semiring.errors import SemiringError
from semiring.graphs.names import position_of
from semiring.graphs.texts import shown
from semiring.kernels.build import PURPOSES, code_of
from semiring.kernels.choose import only_form
from semiring.kernels.cpu.compile.beside import if_missing
from semiring.kernels.cpu.compile.plain import Rehearsal
from semiring.kernels.cpu.compile.price import when
from semiring.kernels.cpu.dense.scan import SCANNED, scan
from semiring.kernels.lowering.base import Lowering
from semiring.operands.sparse import Sparse

from ..costs import least_by_numpy
from ..forms import with_room
from ..options import GivenOrder

BY_DEGREE = ("auto", "amd")  # orders that begin with minimum degree, the longest loop of an analysis
ANALYSES = 4  # structures whose analyses are kept
SIDE = 17  # of a grid on which both ways to find an order call all loops that there are for them


def analysis_of(
    A: Sparse, order: str | GivenOrder | Analysis = "auto", low: Lowering | None = None, *, answer: bool = True
) -> Analysis:
    """The order and structure of the factors; the last few are kept for other weights on the same edges.

    Parameters
    ----------
    A : Sparse
    order : str, GivenOrder or Analysis
        As for `semiring.factor`.
    low : Lowering, optional
        If A is then eliminated in it, another process may help to compile.
    answer : bool
        Whether the whole closure is wanted, and not only factors.

    Raises
    ------
    SemiringError
        If a given order is not one of A's vertices, or an analysis is of other edges.
    """
    if isinstance(order, Analysis):
        if order.n != A.n or not (np.array_equal(order.indptr, A.indptr) and np.array_equal(order.indices, A.indices)):
            raise SemiringError(f"the analysis passed as order= is of other edges: it has {order.n} vertices "
                                f"and {order.nnz} edges, and A has {A.n} and {A.nnz}; factor with order='auto'")
        return order
    method = _by_position(order, A) if isinstance(order, GivenOrder) else order
    key = _key(A, method)
    with _one_at_a_time:
        if key in _analyses:
            _analyses[key] = found = _analyses.pop(key)  # the last that goes
            return found
    if low is not None and low.on_gpu:
        _begin_on_gpu(low, A.n)
    surely = isinstance(method, str) and method in BY_DEGREE and is_compiled(A.n, A.nnz)
    with nullcontext() if low is None else with_another_process(low, A, answer, surely):
        found = analyse(A.indptr, A.indices, method=method)
    with _one_at_a_time:
        _analyses[key] = found
        while len(_analyses) > ANALYSES:
            del _analyses[next(iter(_analyses))]
    return found


def _begin_on_gpu(low: Lowering, n: int) -> None:
    """Begin with the kernels of a GPU, which take about as long to compile as the analysis takes."""
    from semiring.kernels.cuda.lowering import CudaLowering
    from semiring.kernels.cuda.sparse.front_code import begin_kernels

    assert isinstance(low, CudaLowering)
    begin_kernels(low, n)


def is_analysed(A: Sparse) -> bool:
    """Whether the analysis of a structure is kept."""
    return bool(_analyses) and _key(A, "auto") in _analyses


def _key(A: Sparse, order: str | Index) -> tuple[Any, ...]:
    digest = blake2b(A.indptr.data, digest_size=16)
    digest.update(A.rows.columns.data)
    if isinstance(order, str):
        return A.n, order, digest.digest()
    digest.update(order.data)
    return A.n, "given", digest.digest()


def _by_position(order: GivenOrder, A: Sparse) -> Index:
    """The positions of all vertices in the order of their elimination."""
    given, n, names = order.vertices, A.n, A.names
    if len(given) != n:
        raise SemiringError(f"order must have each of the {n} vertices once, and has {len(given)}")
    found = np.asarray(given) if names is None and isinstance(given, (np.ndarray, range)) else None
    if found is None or found.dtype.kind not in "iu" or not ((found >= 0) & (found < n)).all():
        index = {name: i for i, name in enumerate(names or ())}
        found = np.array([position_of(v, n, names, index) for v in given], np.int64)
    found = np.ascontiguousarray(found, np.int64)
    count = np.bincount(found, minlength=n)
    if (count > 1).any():
        twice, lacking = int(np.argmax(count)), int(np.argmin(count))
        vertices = [shown(v if names is None else names[v]) for v in (twice, lacking)]
        raise SemiringError(f"order must have each vertex once: it has {vertices[0]} more than once, and "
                            f"lacks {vertices[1]}")
    return found


_analyses: dict[tuple[Any, ...], Analysis] = {}
_one_at_a_time = Lock()


def lowering_of(A: Sparse, *, room: bool) -> Lowering:
    """How to compute on a sparse matrix; with `room`, so that sums with right-hand sides find space."""
    found = only_form(A.S, A.dtype, False)  # bits are for dense matrices
    return found or A.lowering(with_room(A.facts) if room and A.S.is_tropical else A.facts, A.n + 1)


@contextmanager
def with_another_process(low: Lowering, A: Sparse, answer: bool, surely: bool = False) -> Iterator[None]:
    """Within this context another process helps to compile, if the analysis of A finds nothing compiled.

    It helps from the start if the elimination is so much work that it will be compiled: meanwhile the analysis may run
    in Python. If both have been compiled before, no process is started, which would take longer than the rest.
    `answer`: whether the whole closure is wanted, and not only factors. For a GPU, whose kernels are compiled by
    threads, the other process compiles the analysis alone, and helps from the start if `surely` says that the analysis
    needs compiled loops. On the CPU `surely` is not used.
    """
    if when() == "never" or not (low.on_gpu or low.kind == "numba"):
        yield
        return
    analysed, at_hand, compiles = transposed.at_hand, True, None  # the first loop of the analysis
    if not low.on_gpu:
        code, compiles = code_of(low, "fronts"), low.compiles
        at_hand = code.at_hand
        surely = not (analysed or at_hand) and code.is_due(least_by_numpy(low, A, answer))
    helped = nullcontext() if analysed and at_hand else if_missing(steps, compiles, surely=surely and not analysed)
    with helped:
        yield


def steps(low: Lowering | None) -> list[Callable[[], object]]:
    """Functions that compile the analysis, the check of elements, and the elimination, in this order.

    Without a lowering the analysis alone.
    """
    vertices = np.arange(SIDE * SIDE)
    ends = np.stack([vertices + 1, vertices + SIDE], 1)  # a grid whose rows are joined at their ends
    inside = ends < len(vertices)
    start = np.concatenate([[0], np.cumsum(inside.sum(1))])
    with Rehearsal().watched() as rehearsal:
        spread(*symmetric(start, ends[inside]))
        for method in ("auto", "levels"):
            found = analyse(start, ends[inside], method=method)
        work_of(found)
    if low is None:
        return rehearsal.steps()
    scanning = [partial(scan, np.zeros((1, 1), low.dtype))] if low.dtype.char in SCANNED else []
    return [*rehearsal.steps(), *scanning, *(function.make for function in PURPOSES["fronts"].code(low))]
