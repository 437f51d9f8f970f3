"""Closures of sparse matrices that do not exist: the vertex and the cycle, found without a dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.algebra.rounding import rounds
from semiring.algorithms.labels import improving_cycle
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.sums import narrow, widen
from semiring.operands.csr import Csr

from .cycles import _is_slack, improving
from .schedules import plan_closure
from .schedules import stable_closure as dense_steady_closure


def check_cycles(low: Lowering, fronts: Any, A: Csr, facts: Facts) -> bool:
    """Refuse factors of a matrix with an improving cycle: on the diagonal of a pivot block, 1 ⊕ a ≠ 1.

    What rounding explains is no improvement, as in `semiring.solvers.cycles.check_cycles`.

    Returns
    -------
    bool
        False if rounding errors grew so far that the closure has to be computed in another way.
    """
    S, pivots, order = A.algebra, fronts.pivots, fronts.analysis.order
    one = low.one[0] if not low.storage.names else np.array(low.one, low.storage)
    improved = np.flatnonzero(low.add_one(pivots) != one)
    if not improved.size:
        return True
    slack = _is_slack(low, pivots[improved], facts, A.n)
    vertices = order[improved].tolist()
    # Beyond an infinitely good edge nothing improves any more, so that one source could hide the cycle of another.
    endless = (facts.low_limit and S.zero != -np.inf) or (facts.high_limit and S.zero != np.inf)
    graph = CompressedRows(A.indptr, A.indices, widen(S, A.values, facts))
    for sources in [[v] for v in vertices] if endless else [vertices]:
        cycle, weight = improving_cycle(graph, S, sources)
        if cycle is not None:
            raise improving(S, A.names, cycle[0], cycle, narrow(S, weight, A.dtype), None)
    certain = order[improved[~slack]]
    if certain.size and not rounds(A.values):
        raise improving(S, A.names, int(certain[0]), None, None, None)
    fronts.settle(improved)
    return not certain.size


def stable_closure(low: Lowering, A: Csr, facts: Facts) -> np.ndarray:
    """A* as a dense matrix in storage, computed so that rounding errors do not grow."""
    dense = A.dense()
    planned, _ = plan_closure(A.algebra, dense, "squaring", True, False, None)
    closed = dense_steady_closure(planned, dense, None, facts, A.names)
    result: np.ndarray = low.encode(planned.lowering.decode(closed), True)
    return result
