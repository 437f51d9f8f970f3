"""The best mean weight of a cycle, over algebras of sums under min or max: the eigenvalue of an irreducible matrix.

Policy iteration in floats finds a cycle and potentials of the vertices. Whether another cycle is better is then asked
of weights from which the mean was taken, exactly where they are whole, and each answer is a better cycle or none.
Edges too heavy for any cycle of least mean are left out before: the digits of floats go as far as the heaviest.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import fsum
from typing import Any

import numpy as np

from semiring.algebra.catalogue import min_plus
from semiring.algorithms.labels import improving_cycle
from semiring.algorithms.sparse import traversal
from semiring.algorithms.sparse.cycle_mean import least_means
from semiring.algorithms.sparse.pattern import Index
from semiring.algorithms.sparse.relaxation import CompressedRows
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import shown
from semiring.kernels.choose import choose
from semiring.kernels.lowering.sums import widen
from semiring.operands.convert import as_sparse, on_host
from semiring.operands.operand import order_of_one
from semiring.operands.sparse import Sparse

from ..plan import Plan
from ..task import Task

SLACK = 16  # machine epsilons of the largest weight by which a policy has to be better
ROUNDS = 1000  # of policy iteration, which takes some tens


def offer(task: Task) -> Plan:
    """Policy iteration, whatever the matrix."""
    S = task.S
    if not S.is_tropical:
        raise LawError(
            "the mean weight of a cycle needs sums under min or max, as in min_plus and max_plus; "
            f"{S.name} is {S.notation}"
        )
    order_of_one(task.operands[0].shape)
    given = as_sparse(on_host(task.operands[0]))
    if given.dtype.kind == "O":
        raise SemiringError(f"{given.what} holds Python objects, and the mean weight of a cycle is of numbers: convert "
                            "it with .astype(…), to float64 or int64")
    low = choose(S, given.dtype, given.facts, given.n, in_place=False, packed=False)
    return Plan(
        operation="cycle_mean", algebra=S, shape=given.shape, method="policy iteration", lowering=low,
        place="CPU, 1 thread", work=float(given.nnz), memory=8 * given.nbytes, runner=partial(_run, given),
        reasons={"method": "and an exact search for a better cycle"},
    )


def _run(given: Sparse, plan: Plan) -> tuple[Any, list[Any] | None]:
    S, dtype = given.S, given.dtype
    given = given.without_zeros()
    heads, tails = given.indices, np.repeat(np.arange(given.n), np.diff(given.indptr))
    values = widen(S, given.values, given.facts)
    values = values if S.zero == np.inf else -values  # the least mean is looked for
    edges = np.flatnonzero(_on_cycles(given.n, tails, heads))
    if not len(edges):
        return _mean_in(dtype, S.zero), None
    if values.dtype.kind == "f" and values[edges].min() != -np.inf:
        edges = edges[light_enough(given.n, tails[edges], heads[edges], values[edges])]
        edges = edges[_on_cycles(given.n, tails[edges], heads[edges])]
    values = values[edges]
    if values.min() != -np.inf and 4.0 * given.n * float(np.abs(values).max()) == np.inf:
        raise SemiringError(f"{given.what} has weights on cycles of which sums leave the range of floats, up to "
                            f"{shown(np.abs(values).max())}: divide all weights by one number")
    vertices, places = np.unique(tails[edges], return_inverse=True)
    place = np.full(given.n, -1)
    place[vertices] = np.arange(len(vertices))
    start = np.concatenate([[0], np.cumsum(np.bincount(places.reshape(-1), minlength=len(vertices)))])
    mean, cycle = least_mean(CompressedRows(start, place[heads[edges]], values))
    weight = _mean_in(dtype, mean if S.zero == np.inf else -mean)
    return weight, [given.position(v) for v in vertices[cycle].tolist()]


def _mean_in(dtype: np.dtype, mean: Any) -> Any:
    """A mean of weights of a dtype, as a float; of integers none stands for an infinity."""
    return dtype.type(mean) if dtype.kind == "f" else np.float64(mean)


def light_enough(n: int, tails: np.ndarray, heads: Index, weights: np.ndarray) -> np.ndarray:
    """Which edges a cycle of least mean can have; the others, however heavy, are to spoil no digits.

        d = w − min w,   t: a power of 2 for which the edges with d ≤ t have a cycle, so that the least mean of d is ≤ t
        a cycle of k ≤ n edges, one of which has d > n t, has a mean above t, since no d is negative

    Parameters
    ----------
    n : int
    tails, heads : ndarray of int64
        Ends of edges, some of which make a cycle; tails ascend.
    weights : ndarray of floats
        Finite.

    Examples
    --------
    >>> light_enough(2, np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([2.5, 1e20, 2.0]))
    array([ True, False,  True])
    """
    d = weights / 2 - weights.min() / 2  # halves do not overflow
    size = np.where(d > 0, np.frexp(d)[1], np.iinfo(np.int32).min)
    sizes = np.unique(size)
    low, high = 0, len(sizes) - 1
    while low < high:
        middle = (low + high) // 2
        some = size <= sizes[middle]
        if len(traversal.topological_order(_starts(n, tails[some]), heads[some])) < n:
            high = middle
        else:
            low = middle + 1
    few = int(2 * n).bit_length()  # n t, and room for rounding
    return np.asarray(size <= int(sizes[low]) + few)


def _on_cycles(n: int, tails: np.ndarray, heads: Index) -> np.ndarray:
    """Which edges are on a cycle; tails ascend."""
    label = traversal.strong_components(_starts(n, tails), heads)
    return np.asarray(label[tails] == label[heads])


def _starts(n: int, tails: np.ndarray) -> Index:
    return np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=n))])


def least_mean(G: CompressedRows) -> tuple[Any, list[int]]:
    """The least mean of a cycle of a graph in which an edge leads on from every vertex, and the cycle, closed.

    Weights are finite or −∞; the mean is a `Fraction` of integers, exact, and else a float.

    Examples
    --------
    >>> least_mean(CompressedRows(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([3.0, 1.0, 2.0])))
    (Fraction(3, 2), [0, 1, 0])
    """
    w, tails = G.values, np.repeat(np.arange(G.n), np.diff(G.indptr))
    endless = np.flatnonzero(w == -np.inf)
    if len(endless):
        return -np.inf, _cycle_along(G.indptr, G.indices, tails, int(endless[0]))
    rough = w.astype(np.float64)
    slack = SLACK * np.finfo(np.float64).eps * float(np.abs(rough).max())
    means, potential, follows = least_means(G.indptr, G.indices, rough, slack, ROUNDS)
    exact = w.dtype == object or bool((w == np.floor(w)).all())
    cycle = _followed(G.indices, follows, int(means.argmin()))
    mean, potential = _mean(G, cycle, exact), potential - potential[cycle[0]]  # multiples of 1 / len(cycle), if exact
    rounded = 0.0 if exact else slack + 4 * np.finfo(np.float64).eps * float(np.abs(potential).max())
    while True:
        shifted = _shifted(G, tails, mean, potential)
        if (shifted >= -rounded).all():
            return mean, cycle
        better, _ = improving_cycle(G.with_values(shifted), min_plus, list(range(G.n)))
        if better is None or not _mean(G, better, exact) < mean:
            return mean, cycle
        cycle, mean = better, _mean(G, better, exact)


def _mean(G: CompressedRows, cycle: list[int], exact: bool) -> Any:
    weights = G.along(cycle[:-1], cycle[1:]).tolist()
    return Fraction(sum(map(int, weights)), len(weights)) if exact else fsum(weights) / len(weights)


def _shifted(G: CompressedRows, tails: np.ndarray, mean: Any, potential: np.ndarray) -> np.ndarray:
    """w(u, v) − mean + h(v) − h(u), of integers times the mean's denominator: cycles keep the sign of their sum."""
    w, heads = G.values, G.indices
    if not isinstance(mean, Fraction):
        return np.asarray(w - mean + potential[heads] - potential[tails])
    p, q = mean.numerator, mean.denominator
    h = np.rint(potential * q)
    largest = (float(np.abs(w).max()) + abs(p / q)) * q + 2 * float(np.abs(h).max())
    if largest * max(G.n, 1) < 2**53:  # sums along walks are exact in floats
        return np.asarray(w.astype(np.float64) * q - p + h[heads] - h[tails])
    whole = np.array([int(x) for x in h.tolist()], object)
    return np.asarray(np.array([int(x) for x in w.tolist()], object) * q - p + whole[heads] - whole[tails])


def _followed(heads: Index, follows: Index, v: int) -> list[int]:
    """The cycle that following leads to from a vertex, from its least vertex on."""
    seen: dict[int, None] = {}
    while v not in seen:
        seen[v] = None
        v = int(heads[follows[v]])
    walk = list(seen)
    cycle = walk[walk.index(v) :]
    first = cycle.index(min(cycle))
    return [*cycle[first:], *cycle[: first + 1]]


def _cycle_along(start: Index, heads: Index, tails: np.ndarray, edge: int) -> list[int]:
    """A shortest cycle along an edge that is on one."""
    u = int(tails[edge])
    kept = tails != u
    kept[edge] = True
    before = np.concatenate([[0], np.cumsum(kept)])
    found: list[int] = traversal.shortest_cycle(before[start], heads[kept], u).tolist()
    return found
