"""Why a closure from file to file does not exist: cycles are looked for in rows that are read when they are asked for.

`semiring.solvers.cycles` looks at whole matrices. Here labels are corrected on rows, edges made worse by what is
unknown of them, and the cycle that is found is judged on the square matrix of its own vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.rounding import in_longer_floats, rounds, worse
from semiring.algebra.semiring import Semiring
from semiring.algorithms import labels
from semiring.errors import NoClosureError, SemiringError
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.sums import widen
from semiring.machine.memory import require
from semiring.operands.dense import Dense, carried_by
from semiring.scale.stores import Output, Source

from . import fields
from .cycles import improving, improving_through, is_slack, undefined_star
from .levels import stored_vector

KEPT = 64  # rows that stay in memory


class StoredGraph:
    """The graph of a matrix that is not in memory, by its rows.

    Parameters
    ----------
    source : Source
    S : Semiring
    facts : Facts, optional
        Weights are such that sums of them cannot overflow, and worse by what is unknown of them, in longer floats; else
        they are as they are.
    """

    def __init__(self, source: Source, S: Semiring, facts: Facts | None = None):
        self.n, self._source, self._S, self._facts = source.shape[0], source, S, facts
        self._everything = np.arange(self.n)
        self.values = self._made(np.empty((0, self.n), source.dtype))  # of which nobody asks more than the dtype
        self._row = lru_cache(KEPT)(self._read)

    def edges(self, u: int) -> tuple[np.ndarray, np.ndarray]:
        """See `labels.Graph`."""
        return self._everything, self._row(u)

    def along(self, tails: Any, heads: Any) -> np.ndarray:
        """See `labels.Graph`."""
        return np.array([self._row(int(u))[v] for u, v in zip(tails, heads, strict=True)], self.values.dtype)

    def with_values(self, values: np.ndarray) -> labels.Graph:
        """See `labels.Graph`."""
        raise NotImplementedError("the weights are in a file")

    def _read(self, u: int) -> np.ndarray:
        row = np.empty((1, self.n), self._source.dtype)
        self._source.read(slice(u, u + 1), slice(0, self.n), row)
        return self._made(row)[0]

    def _made(self, rows: np.ndarray) -> np.ndarray:
        rows = carried_by(rows, self._S)
        if self._facts is None:
            return rows
        wide = widen(self._S, rows, self._facts)
        return in_longer_floats(worse(self._S.over(wide.dtype), wide))


def settle(
    S: Semiring, source: Source, low: Lowering, facts: Facts, names: Sequence[Any] | None, output: Output
) -> None:
    """Whether the diagonal of a closure shows an improving cycle; where only rounding made one look so, it becomes 1.

    Raises
    ------
    NoClosureError
        It names the cycle, or where elimination made rounding errors grow, a vertex.
    """
    diagonal = stored_vector(low, carried_by(output.diagonal(), S))
    improved = np.flatnonzero(low.add_one(diagonal) != low.unit)
    if not improved.size:
        return
    error = _improving(S, source, improved.tolist(), facts, names)
    if error is not None:
        raise error
    certain = improved[~is_slack(low, diagonal[improved], facts, len(diagonal))]
    if certain.size:
        doubt = "no cycle of the matrix explains it, and without out= the closure is computed so that they stay small"
        raise improving(S, names, int(certain[0]), None, None, None, doubt=doubt if rounds(diagonal) else "")
    output.write_diagonal(improved, S.one_in(low.dtype))


def _improving(
    S: Semiring, source: Source, vertices: list[int], facts: Facts, names: Sequence[Any] | None
) -> NoClosureError | None:
    """The refusal, if a cycle that vertices lead to improves by more than rounding."""
    graph = StoredGraph(source, S, facts)
    T = S.over(graph.values.dtype)
    # Beyond an infinitely good edge nothing improves any more, so that one source could hide the cycle of another.
    endless = (facts.low_limit and S.zero != -np.inf) or (facts.high_limit and S.zero != np.inf)
    for sources in [[v] for v in vertices] if endless else [vertices]:
        cycle = labels.follow(graph, T, sources).cycle
        if cycle is not None:
            among = cycle[:-1]
            block = _between(source, S, among)
            called = among if names is None else [names[v] for v in among]
            error = improving_through(S, labels.Dense(widen(S, block, facts)), [0], facts, called, block.dtype, None)
            if error is not None:
                return error
    return None


def _between(source: Source, S: Semiring, vertices: list[int]) -> np.ndarray:
    """The square matrix of some vertices."""
    graph = StoredGraph(source, S)
    return np.array([graph.edges(u)[1][vertices] for u in vertices], graph.values.dtype)


def undefined(S: Semiring, source: Source, names: Sequence[Any] | None, vertex: int) -> NoClosureError:
    """The refusal where a pivot has no star, with a cycle that it sums."""
    return undefined_star(S, StoredGraph(source, S), names, vertex, np.arange(vertex))


def mend(S: Semiring, source: Source, names: Sequence[Any] | None, output: Output, sound: bool) -> None:
    """A closure over a field, by LAPACK in memory where elimination is not right, or did not come to its end.

    Raises
    ------
    NoClosureError
    SemiringError
        When there is no room for that.
    """
    n, every = source.shape[0], slice(0, source.shape[0])

    def edges(rows: slice) -> np.ndarray:
        block = np.empty((rows.stop - rows.start, n), source.dtype)
        source.read(rows, every, block)
        return np.asarray(carried_by(block, S))

    low = fields.host_form(S, edges(slice(0, 0)).dtype)

    def walks(rows: slice) -> np.ndarray:
        return np.asarray(low.encode(carried_by(output.read_block(rows, every), S), False))

    if not n or (sound and fields.holds(n, low, lambda rows: np.asarray(low.encode(edges(rows), False)), walks)):
        return
    require(5 * low.matrix_bytes(n), f"the inverse of 1 − A, {n} × {n}, in which rows have to be exchanged,",
            "solve for the columns that you need, with sr.solve(A, B, S)")
    found = fields.inverse(Dense(edges(every), S, names=names), low)
    if found is None:
        raise SemiringError(f"{S.name}: on the way numbers leave the range of {low.dtype}; scale the data")
    output.write_block(every, every, low.decode(found))
