"""One best path for algebras whose ⊕ selects: label setting (Dijkstra) and label correcting (Bellman–Ford–Moore).

    x_v ← x_v ⊕ x_u ⊗ a_uv, and u becomes the predecessor of v wherever that improves x_v

Where no edge is better than one the best label that is left cannot improve any more: each vertex is settled once.
Elsewhere labels are corrected until nothing improves, or until predecessors close an improving cycle.
Whether it does, or whether that is rounding, see `semiring/algebra/rounding.py`.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple, Protocol

import numpy as np

from semiring.algebra.elements import full
from semiring.algebra.rounding import (
    along,
    improves_beyond_rounding,
    in_longer_floats,
    is_better_than_one,
    nothing_improves,
    over_fractions,
    precision,
    with_ties_of,
    worse,
)
from semiring.errors import SemiringError

from .trees import best_of, better

ROUNDS = 1000  # in which cycles may go on improving
FIRST, FACTOR = 8, 8  # machine epsilons by which an improvement must exceed rounding, and what they grow by


class Graph(Protocol):
    """A graph by its weights."""

    @property
    def n(self) -> int:
        """Number of vertices."""

    @property
    def values(self) -> np.ndarray:
        """The weights."""

    def edges(self, u: int) -> tuple[np.ndarray, np.ndarray]:
        """The heads of a vertex's edges, each once, and the weights."""

    def along(self, tails: Any, heads: Any) -> np.ndarray:
        """The weights of some edges."""

    def with_values(self, values: np.ndarray) -> Graph:
        """Other weights on the same edges."""


class Dense:
    """The graph of a square matrix."""

    def __init__(self, A: np.ndarray):
        self.n, self.values = len(A), A
        self._everything = np.arange(self.n)

    def edges(self, u: int) -> tuple[np.ndarray, np.ndarray]:
        """See `Graph`."""
        return self._everything, self.values[u]

    def along(self, tails: Any, heads: Any) -> np.ndarray:
        """See `Graph`."""
        return self.values[tails, heads]

    def with_values(self, values: np.ndarray) -> Dense:
        """See `Graph`."""
        return Dense(values)


class Walks(NamedTuple):
    """Best walks from the sources, or an improving cycle."""

    labels: np.ndarray
    predecessor: np.ndarray  # −1 for none
    cycle: list[int] | None = None
    weight: Any = None  # of the cycle
    rounds: list[np.ndarray] | None = None  # predecessors by the number of edges, where best walks repeat vertices

    def walk_to(self, source: int, target: int) -> list[int] | None:
        """The vertices of a best walk; None where there is none."""
        if self.rounds is not None:
            return walk_by_rounds(self.rounds, source, target)
        return path_to(self.predecessor, source, target) if source == target or self.predecessor[target] >= 0 else None


def best_walks(G: Graph, S: Any, source: int, limit: np.ndarray | None = None) -> Walks:
    """A best walk from one vertex to each, or an improving cycle that is reached from it.

    Parameters
    ----------
    G : Graph
    S : Semiring
        With a selective ⊕.
    source : int
    limit : ndarray, shape (1,), optional
        An element: walks that are worse may be left out, where no edge is better than one.

    Examples
    --------
    >>> import semiring as sr
    >>> found = best_walks(Dense(np.array([[np.inf, 3.0, 9.0], [np.inf, np.inf, -4.0], [np.inf] * 3])), sr.min_plus, 0)
    >>> found.labels.tolist(), found.predecessor.tolist()
    ([0.0, 3.0, -1.0], [-1, 0, 1])
    """
    T = S.over(G.values.dtype)
    if nothing_improves(T, G.values):
        return settle(G, T, source, limit)
    if S.may_diverge:
        return correct(G, S, [source])
    found = follow(G, T, [source])
    return found if found.cycle is None else by_length(G, T, source) or correct(G, S, [source])


def improving_cycle(G: Graph, S: Any, sources: list[int]) -> tuple[list[int] | None, Any]:
    """An improving cycle that is reached from the sources, and its weight; see `best_walks`."""
    if nothing_improves(S.over(G.values.dtype), G.values):
        return None, None
    found = correct(G, S, sources)
    return found.cycle, found.weight


def settle(G: Graph, T: Any, source: int, limit: np.ndarray | None = None) -> Walks:
    """Label setting, for edges none of which is better than one; T is the arithmetic of their dtype."""
    x = full(np.empty(G.n, G.values.dtype), T.zero)
    x[source] = T.one
    predecessor = np.full(G.n, -1)
    open_, settled = np.zeros(G.n, bool), np.zeros(G.n, bool)
    open_[source] = True
    while open_.any():
        waiting = np.flatnonzero(open_)
        u = int(waiting[best_of(T, x[waiting])])
        open_[u], settled[u] = False, True
        heads, weights = G.edges(u)
        left = ~settled[heads]
        heads, weights = heads[left], weights[left]
        found = _extended(T, x, u, weights)
        improved, best = better(T, x[heads], found)
        if limit is not None:
            improved &= ~better(T, found, full(found, limit[0]))[0]
        x[heads[improved]] = best[improved]
        predecessor[heads[improved]] = u
        open_[heads[improved]] = True
    return Walks(x, predecessor)


def _extended(T: Any, x: np.ndarray, u: int, weights: np.ndarray) -> np.ndarray:
    """x_u ⊗ a for each of some weights."""
    return np.asarray(T.mul(full(weights, x[u]), weights))


def follow(G: Graph, T: Any, sources: list[int], epsilons: float = 0) -> Walks:
    """Label correcting: x_v ← x_v ⊕ x_u ⊗ a_uv until nothing improves, or predecessors close a cycle.

    With `epsilons` only what improves by more than so much rounding of x_u, a_uv and their product counts.
    """
    x = full(np.empty(G.n, G.values.dtype), T.zero)
    for s in sources:
        x[s] = T.one
    predecessor = np.full(G.n, -1)
    queue, queued = deque(sources), np.zeros(G.n, bool)
    queued[sources] = True
    count = 0  # of improvements since predecessors were last tested for a cycle
    while queue:
        u = queue.popleft()
        queued[u] = False
        heads, weights = G.edges(u)
        if not len(heads):
            continue
        improved, best = better(T, x[heads], _extended(T, x, u, weights))
        if epsilons and improved.any():
            heads, weights, best = heads[improved], weights[improved], best[improved]
            label = worse(T, x[u : u + 1], epsilons, whole=False)
            least = worse(T, _extended(T, label, 0, worse(T, weights, epsilons, whole=False)), epsilons, whole=False)
            improved = better(T, x[heads], with_ties_of(best, x[heads], least))[0]
        some = heads[improved]
        if not some.size:
            continue
        x[some] = best[improved]
        predecessor[some] = u
        fresh = some[~queued[some]]
        queue.extend(fresh.tolist())
        queued[fresh] = True
        count += some.size
        if count > G.n:
            count, cycle = 0, some_cycle(predecessor)
            if cycle is not None:
                return Walks(x, predecessor, cycle)
    # One over an infinitely good edge may stop improving before it is noticed.
    return Walks(x, predecessor, some_cycle(predecessor))


def by_length(G: Graph, T: Any, source: int, known: tuple[int, Any] | None = None) -> Walks | None:
    """Best walks of up to 1, 2, … edges until nothing improves, where that comes to an end though cycles improve.

    With the `known` value of a vertex, until that has it. None where there is no end after `ROUNDS` more than there are
    vertices.

    So it is where every star is reached after finitely many steps: going round a cycle once, or a few times, is then
    better than not at all, and predecessors alone do not tell how often.
    """
    x = full(np.empty(G.n, G.values.dtype), T.zero)
    x[source] = T.one
    changed = np.array([source])
    rounds: list[np.ndarray] = []
    while changed.size and (known is None or x[known[0]] != known[1]):
        if len(rounds) > ROUNDS + G.n:
            return None
        before, predecessor = x.copy(), np.full(G.n, -1)
        for u in changed.tolist():
            heads, weights = G.edges(u)
            improved, best = better(T, x[heads], _extended(T, before, u, weights))
            x[heads[improved]] = best[improved]
            predecessor[heads[improved]] = u
        changed = np.flatnonzero(predecessor >= 0)
        rounds.append(predecessor)
    return Walks(x, np.full(G.n, -1), rounds=rounds)


def walk_by_rounds(rounds: list[np.ndarray], source: int, target: int) -> list[int] | None:
    """The walk that led to the label of a vertex, from the predecessors of each round; None if there is none.

    Examples
    --------
    >>> walk_by_rounds([np.array([-1, 0]), np.array([1, -1]), np.array([-1, -1])], 0, 0)
    [0, 1, 0]
    """
    walk = [target]
    for predecessor in reversed(rounds):
        if predecessor[walk[-1]] >= 0:
            walk.append(int(predecessor[walk[-1]]))
    return walk[::-1] if walk[-1] == source else None


def correct(G: Graph, S: Any, sources: list[int]) -> Walks:
    """Label correcting, where only a cycle that improves by more than rounding is one."""
    T = S.over(G.values.dtype)
    found = follow(G, T, sources)
    if found.cycle is None:
        return found
    if not truly_improves(G, S, found.cycle):
        searched = _on_fractions(G, S, sources)
        found = _beyond_rounding(G, S, sources) if searched is None else searched
    if found.cycle is not None:
        return found._replace(weight=cycle_weight(G, S, found.cycle))
    return found._replace(labels=along_tree(G, T, sources, found.predecessor))


def all_labels(G: Graph, S: Any) -> np.ndarray:
    """The labels that `correct` finds from each vertex, where cycles improve by rounding alone.

    Raises
    ------
    SemiringError
        If one improves by more.
    """
    T, H = S.over(G.values.dtype), _worsened(G, S)
    X = full(np.empty((G.n, G.n), G.values.dtype), T.zero)
    for s in range(G.n):
        found = follow(H, S.over(H.values.dtype), [s])
        if found.cycle is None:
            X[s] = along_tree(G, T, [s], found.predecessor)
            continue
        found = correct(G, S, [s])
        if found.cycle is not None:
            raise SemiringError(f"{S.name}: a cycle through {found.cycle[0]} improves")
        X[s] = found.labels
    return X


def _worsened(G: Graph, S: Any) -> Graph:
    """Each edge worse by what is unknown of it, in longer floats."""
    return G.with_values(in_longer_floats(worse(S.over(G.values.dtype), G.values)))


def _on_fractions(G: Graph, S: Any, sources: list[int]) -> Walks | None:
    """The search on edges that are worse by what is unknown of them, in exact arithmetic; None where there is none.

    It is done in floats, and once more on fractions if those find a cycle that does not improve.
    """
    exact = over_fractions(S)
    H = _worsened(G, S)
    T = S.over(H.values.dtype)
    if exact is None or exact.elements(T, H.values.reshape(-1)[:0]) is None:
        return None
    try:
        found = follow(H, T, sources)
        if found.cycle is None:
            return found
        weights = exact.elements(T, edges_along(H, found.cycle))
        if weights is None or is_better_than_one(exact, along(exact, weights)):
            return found
        numbers = exact.elements(T, H.values)
        return None if numbers is None else follow(H.with_values(numbers), exact, sources)
    except ArithmeticError:
        return None


def _beyond_rounding(G: Graph, S: Any, sources: list[int]) -> Walks:
    """The search where ⊗ rounds in ways of its own: by improvements that exceed more and more of it."""
    epsilons, T = FIRST, S.over(G.values.dtype)
    while True:
        found = follow(G, T, sources, epsilons)
        if found.cycle is None or improves_beyond_rounding(S, edges_along(G, found.cycle), epsilons):
            return found
        epsilons *= FACTOR
        if epsilons * precision(G.values) > 0.5:
            return found


def along_tree(G: Graph, T: Any, sources: list[int], predecessor: np.ndarray) -> np.ndarray:
    """The ⊗ along the path to each vertex: labels that were found on other weights, on the true ones."""
    x = full(np.empty(G.n, G.values.dtype), T.zero)
    for s in sources:
        x[s] = T.one
    done = np.zeros(G.n, bool)
    done[[s for s in sources if predecessor[s] < 0]] = True
    left = np.flatnonzero((predecessor >= 0) & ~done)
    while left.size:
        ready = done[predecessor[left]]
        heads, left = left[ready], left[~ready]
        tails = predecessor[heads]
        x[heads] = T.mul(x[tails], G.along(tails, heads))
        done[heads] = True
    return x


def edges_along(G: Graph, walk: list[int]) -> np.ndarray:
    """The weights of the edges of a walk."""
    return G.along(walk[:-1], walk[1:])


def cycle_weight(G: Graph, S: Any, cycle: list[int]) -> Any:
    """The ⊗ along a cycle, without rounding where that is possible."""
    weights, exact = edges_along(G, cycle), over_fractions(S)
    T = S.over(weights.dtype)
    numbers = exact.elements(T, weights) if exact is not None and weights.dtype.kind in "fV" else None
    if exact is None or numbers is None:
        return along(T, weights)
    try:
        weight = along(exact, numbers)
        return T.element(weight) if weights.dtype.names else weights.dtype.type(weight)
    except (ArithmeticError, SemiringError):
        return along(T, weights)


def weight_of(G: Graph, S: Any, vertices: list[int]) -> Any:
    """The ⊗ along a walk, edge by edge; one if it has none."""
    return along(S.over(G.values.dtype), edges_along(G, vertices)) if len(vertices) > 1 else S.over(G.values.dtype).one


def some_cycle(predecessor: np.ndarray) -> list[int] | None:
    """A cycle of predecessors, in the direction of the edges and closed; ``None`` if there is none.

    Examples
    --------
    >>> some_cycle(np.array([-1, 0, 3, 2]))
    [2, 3, 2]
    """
    n = len(predecessor)
    back = np.append(np.where(predecessor < 0, n, predecessor), n)  # the way back ends at n
    for _ in range(n.bit_length()):
        back = back[back]
    endless = np.flatnonzero(back < n)
    return cycle_of(predecessor, int(endless[0])) if endless.size else None


def truly_improves(G: Graph, S: Any, cycle: list[int]) -> bool:
    """Whether a cycle is better than one with each of its edges worse by what is unknown of it."""
    return improves_beyond_rounding(S, edges_along(G, cycle), FIRST)


def cycle_of(predecessor: np.ndarray, v: int) -> list[int] | None:
    """The cycle that the predecessors of v run into, in the direction of the edges and closed; ``None`` if they end.

    Examples
    --------
    >>> cycle_of(np.array([2, 0, 1]), 0)
    [0, 1, 2, 0]
    """
    seen: dict[int, int] = {}
    path: list[int] = []
    while v >= 0 and v not in seen:
        seen[v] = len(path)
        path.append(int(v))
        v = int(predecessor[v])
    if v < 0:
        return None
    cycle = path[seen[v] :][::-1]
    start = cycle.index(min(cycle))
    cycle = cycle[start:] + cycle[:start]
    return [*cycle, cycle[0]]


def path_to(predecessor: np.ndarray, source: int, target: int) -> list[int]:
    """The vertices from the source to a target that was reached."""
    path = [target]
    while path[-1] != source:
        path.append(int(predecessor[path[-1]]))
    return path[::-1]
