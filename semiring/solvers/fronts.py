"""What an elimination by fronts begins with: the analysis of a structure, which is kept, a lowering and an engine."""

from __future__ import annotations

from hashlib import blake2b
from threading import Lock
from typing import Any

from semiring.algorithms.sparse.analysis import Analysis, analyse
from semiring.kernels.build import element_kernel
from semiring.kernels.choose import only_form
from semiring.kernels.interface import FrontEngine
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.fronts import ArrayFronts
from semiring.operands.sparse import Sparse

from .forms import with_room

ANALYSES = 4  # structures whose analyses are kept


def analysis_of(A: Sparse, order: str = "auto") -> Analysis:
    """The order and the structure of the factors; those of the last few structures are kept for other weights."""
    key = _key(A, order)
    with _one_at_a_time:
        if key in _analyses:
            _analyses[key] = found = _analyses.pop(key)  # the last that goes
            return found
    found = analyse(A.indptr, A.indices, method=order)
    with _one_at_a_time:
        _analyses[key] = found
        while len(_analyses) > ANALYSES:
            del _analyses[next(iter(_analyses))]
    return found


def is_analysed(A: Sparse) -> bool:
    """Whether the analysis of a structure is kept."""
    return bool(_analyses) and _key(A, "auto") in _analyses


def _key(A: Sparse, order: str) -> tuple[Any, ...]:
    digest = blake2b(A.indptr.data, digest_size=16)
    digest.update(A.rows.columns.data)
    return A.n, order, digest.digest()


_analyses: dict[tuple[Any, ...], Analysis] = {}
_one_at_a_time = Lock()


def lowering_of(A: Sparse, *, room: bool) -> Lowering:
    """How to compute on a sparse matrix; with `room`, so that sums with right-hand sides find space."""
    found = only_form(A.S, A.dtype, False)  # bits are for dense matrices
    return found or A.lowering(with_room(A.facts) if room and A.S.is_tropical else A.facts, A.n + 1)


def fronts_of(low: Lowering, analysis: Analysis, threads: int) -> FrontEngine:
    """The engine that eliminates fronts for a lowering."""
    if low.kind == "objects" or not low.compiled:
        return ArrayFronts(analysis, low, element_kernel(low, "fronts"))
    from semiring.kernels.cpu.sparse.fronts import Fronts

    return Fronts(analysis, low, threads)
