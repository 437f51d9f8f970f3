"""What an elimination by fronts begins with: the analysis of a structure, which is kept, a lowering and an engine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from hashlib import blake2b
from math import isqrt
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from semiring.algorithms.sparse.analysis import Analysis, analyse
from semiring.algorithms.sparse.pattern import Index
from semiring.errors import SemiringError
from semiring.graphs.names import position_of
from semiring.graphs.texts import shown
from semiring.kernels.build import affordable
from semiring.kernels.choose import only_form
from semiring.kernels.interface import FrontEngine
from semiring.kernels.lowering.base import Lowering
from semiring.operands.sparse import Sparse

from ..forms import with_room
from ..task import GivenOrder

if TYPE_CHECKING:
    from semiring.kernels.cpu.sparse.tree_labels import TreeLabels

ANALYSES = 4  # structures whose analyses are kept


def analysis_of(
    A: Sparse, order: str | GivenOrder | Analysis = "auto",
    meanwhile: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Analysis:
    """The order and the structure of the factors; those of the last few structures are kept for other weights.

    A new structure is analysed within a context, which `meanwhile` makes.

    Raises
    ------
    SemiringError
        When an order that was given is not one of A's vertices, or an analysis is of other edges.
    """
    if isinstance(order, Analysis):
        if order.n != A.n or not (np.array_equal(order.indptr, A.indptr) and np.array_equal(order.indices, A.indices)):
            raise SemiringError(f"the analysis that was given as order is of other edges: it has {order.n} vertices "
                                f"and {order.nnz} edges, and A has {A.n} and {A.nnz}; factor with order='auto'")
        return order
    method = _by_position(order, A) if isinstance(order, GivenOrder) else order
    key = _key(A, method)
    with _one_at_a_time:
        if key in _analyses:
            _analyses[key] = found = _analyses.pop(key)  # the last that goes
            return found
    with meanwhile():
        found = analyse(A.indptr, A.indices, method=method)
    with _one_at_a_time:
        _analyses[key] = found
        while len(_analyses) > ANALYSES:
            del _analyses[next(iter(_analyses))]
    return found


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


def labels_of(fronts: FrontEngine) -> TreeLabels:
    """What gives single elements of a closure, for compiled fronts."""
    from semiring.kernels.cpu.sparse.tree_labels import TreeLabels

    return TreeLabels(cast(Any, fronts))


def walk_by_fronts(
    low: Lowering, fronts: FrontEngine, A: Sparse, start: int, end: int, terms: float
) -> tuple[list[int] | None, np.ndarray | None] | None:
    """A best walk and the weights of its edges from factors in compiled code, where no edge is better than one.

    The row of the source, which takes so many `terms`, is computed only where the walk leads back along it: the
    vertices, and the ties, are those of `semiring.algorithms.trees.walk_back`. None where that needs the whole tree,
    and where compiling does not repay yet.
    """
    if low.storage.kind == "i" and A.negative_zeros:  # two codes for one number, which would not tie
        return None
    if not affordable(low, float(isqrt(A.n)), terms, "walks").compiled:
        return None
    from semiring.kernels.cpu.sparse.fronts import Fronts
    from semiring.kernels.cpu.sparse.walks import last_edge

    stored, edges = cast(Fronts, fronts).walk(start, end, last_edge(low))
    own, value = low.decode(stored)
    if own != A.S.one_in(A.dtype):
        return None
    if value == A.S.zero_in(A.dtype):
        return None, None
    if edges is None:
        return None
    return [start, *A.indices[edges].tolist()], A.values[edges]
