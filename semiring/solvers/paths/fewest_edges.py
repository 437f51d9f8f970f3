"""Best paths where all edges weigh the same and every walk as much as one of them: those of fewest edges.

Of walks that are equally good those of fewest edges are told. So lengths in edges, over min-plus, tell next hops, which
are final where lengths decrease, and which vertices are reached; nothing is searched among vertices of equal value.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from semiring.algebra.catalogue import min_plus
from semiring.kernels.lowering.parts import each_part, like
from semiring.machine.memory import available_bytes
from semiring.operands.operand import Operand, order_of_one
from semiring.operands.sparse import Sparse

from .. import costs
from ..costs import PredictedPlan, SparsePlan
from ..forms import told
from ..plan import Plan
from ..task import LARGE, Options, Task, first_offer
from .paths import Found, hop_bytes, with_trees
from .trees import LINE

LENGTH = np.dtype("f4")  # of a walk in edges, which is exact below 2²⁴


def offer(task: Task) -> Plan | None:
    """All pairs, on the host, by elimination, where that is predicted to take less time than values and a search."""
    o, given, (sources, limit, _) = task.options, task.given[0], task.arguments
    if sources is not None or limit is not None or o.method != "auto" or o.device is not None or given.on_gpu:
        return None
    if not isinstance(given, Sparse) or given.n < costs.SMALL or not weighs_as_an_edge(given):
        return None
    n, quiet = order_of_one(given.shape), replace(o, progress=False)
    edges = replace(given.rows, values=np.ones(given.nnz, LENGTH))
    graph, plain = Sparse(edges, min_plus, given.what, given.names), given.plain
    lengths, values = (first_offer(Task("closure", A.S, (A,), quiet)) for A in (graph, plain))
    if not isinstance(lengths, SparsePlan):  # searches take as long as they save
        return None
    if min(lengths.seconds.values()) >= predicted(values) + LINE * n * n:
        return None
    memory = lengths.memory + n * n * (given.dtype.itemsize + hop_bytes(given, lengths.lowering))
    if memory > LARGE and memory > (available_bytes() or memory):  # values take less room
        return None
    return replace(
        lengths, operation="paths", algebra=task.S, method=f"fewest edges, {lengths.method}", memory=memory,
        lowering=replace(lengths.lowering, dtype=given.dtype), runner=partial(_run, given, graph, lengths, o),
        reasons={**lengths.reasons, "method": "all edges weigh the same, and a walk as much as an edge",
                 "lowering": "of lengths in edges, over min-plus"},
    )


def predicted(plan: Plan) -> float:
    """Seconds, where a plan says them."""
    return min(plan.seconds.values(), default=0.0) if isinstance(plan, PredictedPlan) else 0.0


def weighs_as_an_edge(given: Sparse) -> bool:
    """Whether every walk of one edge or more has the one weight that all edges have, a number that is not zero."""
    S, weight = given.S, given.values[:1]
    if not S.selective or given.dtype.kind not in "biuf" or not (given.nnz and given.alike and given.bounded):
        return False
    T = S.over(given.dtype)
    return bool((weight != T.zero).all() and (T.mul(weight, weight) == weight).all())


def _run(given: Sparse, graph: Operand, lengths: Plan, o: Options, plan: Plan) -> Found:
    """Lengths in edges and next hops; the lengths as weights."""
    if o.progress is not False:
        with told(o.progress, f"{given.S.name} paths") as report:
            found = first_offer(Task("closure", min_plus, (graph,), replace(o, progress=report))).run()
    else:
        found = lengths.run()
    L, tree, starts = with_trees(graph, found, None, None)
    T, weight = given.S.over(given.dtype), given.values[0]
    X = L if L.dtype == given.dtype else like(L, given.dtype)

    def weigh(target: np.ndarray, part: np.ndarray) -> None:
        whole = part.max(initial=0) < np.inf  # all are reached
        target[...] = weight if whole else np.where(part < np.inf, weight, T.zero)

    each_part(weigh, X, L)
    np.fill_diagonal(X, T.one)
    return X, tree, starts
