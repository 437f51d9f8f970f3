"""Transitive closure of a graph in compressed rows: its components, and bit sets along the condensation.

    strongly connected components → a row for each of them → a row for every vertex

No n × n matrix is made but the answer, which vertices of one component share a row of until the end. A component's row
is the union of the rows of those that its edges lead to, which come before it. Where edges are many, and few of them
add nothing, they are packed, and their closure is that of packed matrices (engine.py), which takes them transposed.

R. E. Tarjan, Depth-first search and linear graph algorithms (1972).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from semiring.kernels.blocks.bits import WORD, PackedRows
from semiring.kernels.cpu.compile import raw
from semiring.machine.pieces import parts_worth, ranges, share
from semiring.machine.threads import scratch, thread_count

from .engine import UNIONS_A_LOOKUP, rows_of_components, transposed
from .loops import bit, clear_diagonal, unite_rows, unpack_rows
from .vectors import PIVOTS, VECTOR, compiled, disjoin, load, store

BAND = 64  # rows of the answer that a thread writes at once
fetch: Any = raw.fetch  # a type checker would ask the callers for the typing context
put: Any = raw.put


@compiled
def strong_components_of_rows(offsets: int, columns: int, n: int) -> Any:
    """Strongly connected components, sinks of the condensation first (Tarjan, without recursion).

    Returns
    -------
    label : component of every vertex
    members : the vertices, component by component
    starts : where each component begins in `members`, and n
    cyclic : which vertices lie on a cycle
    """
    label = np.full(n, -1, np.int64)
    members = np.empty(n, np.int64)
    starts = np.empty(n + 1, np.int64)
    cyclic = np.zeros(n, np.bool_)
    number = np.full(n, -1, np.int64)  # in the order of the search
    low = np.empty(n, np.int64)
    following = np.empty(n, np.int64)  # the entry at which the search of a vertex goes on
    path = np.empty(n, np.int64)
    waiting = np.empty(n, np.int64)  # vertices that were met and have no component yet
    met = depth = kept = found = components = 0
    for root in range(n):
        if number[root] >= 0:
            continue
        path[0], depth = root, 1
        while depth:
            v = path[depth - 1]
            if number[v] < 0:
                number[v] = low[v] = met
                met += 1
                following[v] = fetch(np.int64, offsets, v)
                waiting[kept] = v
                kept += 1
            end = fetch(np.int64, offsets, v + 1)
            p = following[v]
            deeper = False
            while p < end:
                w = np.int64(fetch(np.int32, columns, p))
                p += 1
                if number[w] < 0:
                    path[depth] = w
                    depth += 1
                    deeper = True
                    break
                if label[w] < 0:
                    low[v] = min(low[v], number[w])
                    if w == v:
                        cyclic[v] = True
            following[v] = p
            if deeper:
                continue
            depth -= 1
            if depth:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[v])
            if low[v] == number[v]:
                alone = waiting[kept - 1] == v
                starts[components] = found
                while True:
                    kept -= 1
                    w = waiting[kept]
                    label[w] = components
                    members[found] = w
                    found += 1
                    if not alone:
                        cyclic[w] = True
                    if w == v:
                        break
                components += 1
    starts[components] = n
    return label, members, starts[: components + 1], cyclic


@compiled
def set_component_edges(
    Q: int, stride: int, offsets: int, columns: int, label: Any, members: Any, starts: Any, first: int, last: int
) -> None:
    """Rows ``first:last`` of the matrix of edges between components."""
    for c in range(first, last):
        row = Q + 8 * c * stride
        for w in range(stride):
            store(row + 8 * w, np.uint64(0))
        for k in range(starts[c], starts[c + 1]):
            v = members[k]
            for p in range(fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)):
                d = label[fetch(np.int32, columns, p)]
                store(row + 8 * (d // 64), load(row + 8 * (d // 64)) | bit(d))


@compiled
def unite_with(row: int, other: int, words: int) -> None:
    """row ← row | other."""
    for w in range(0, words, VECTOR):
        disjoin(row + 8 * w, row + 8 * w, other + 8 * w)


@compiled
def unite_successors(
    rows: int, stride: int, offsets: int, columns: int, label: Any, members: Any, starts: Any, budget: int
) -> bool:
    """The components that each component reaches, with itself; False if it takes more than `budget` vector unions.

    An edge to a vertex that is reached already adds nothing. The last one of the successors in topological order comes
    first, since none of the others reaches it, and it may reach many of them.
    """
    united: Any = np.int64(0)
    for c in range(len(starts) - 1):
        row = rows + 8 * c * stride
        latest = np.int64(-1)
        for w in range(stride):
            store(row + 8 * w, np.uint64(0))
        for k in range(starts[c], starts[c + 1]):
            v = members[k]
            store(row + 8 * (v // 64), load(row + 8 * (v // 64)) | bit(v))
            for p in range(fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)):
                d = label[fetch(np.int32, columns, p)]
                if d != c:
                    latest = max(latest, d)
        if latest < 0:
            continue
        unite_with(row, rows + 8 * latest * stride, stride)
        united += stride // VECTOR
        for k in range(starts[c], starts[c + 1]):
            v = members[k]
            for p in range(fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)):
                u = np.int64(fetch(np.int32, columns, p))
                if load(row + 8 * (u // 64)) & bit(u) == 0:
                    unite_with(row, rows + 8 * label[u] * stride, stride)
                    united += stride // VECTOR
        if united > budget:
            return False
    return True


@compiled
def unpack_labelled(
    target: int, target_stride: int, source: int, source_stride: int, label: Any, first: int, last: int, columns: int
) -> None:
    """Rows ``first:last`` of a matrix of bytes from the packed rows that their labels name."""
    for v in range(first, last):
        row = source + 8 * label[v] * source_stride
        unpack_rows(target + (v - first) * target_stride, target_stride, row, source_stride, 1, columns)


@compiled
def clear_bytes(target: int, row: int, kept: Any, first: int, last: int) -> None:
    """Take the diagonal entry from every vertex of ``first:last`` that is not kept; rows begin with vertex `first`."""
    for v in range(first, last):
        if not kept[v]:
            put(np.uint8, target + (v - first) * row, v, np.uint8(0))


@dataclass(frozen=True, eq=False)
class Reach:
    """The transitive closure of a graph, a row for every strongly connected component.

    Attributes
    ----------
    rows : PackedRows, shape (components, n)
        Which vertices each component reaches, itself included.
    label : ndarray of int64, shape (n,)
        Component of every vertex, sinks first.
    cyclic : ndarray of bool, shape (n,)
        Which vertices lie on a cycle.
    """

    rows: PackedRows
    label: np.ndarray
    cyclic: np.ndarray

    @property
    def shared(self) -> bool:
        """Whether vertices share rows, so that there are half as many at most."""
        return 2 * self.rows.shape[0] <= len(self.label)

    def packed(self, reflexive: bool = True, threads: int | None = None) -> PackedRows:
        """The closure, a bit a pair."""
        n, threads = len(self.label), thread_count(threads)
        R = PackedRows.empty(n, n)
        to, origin, stride = R.words.ctypes.data, self.rows.words.ctypes.data, R.words.shape[1]
        rows = ranges(n, parts_worth(n * stride // VECTOR, threads))
        share(partial(unite_rows, to, origin, stride, self.label, np.arange(n + 1)), rows, threads)
        if not reflexive:
            clear_diagonal(to, stride, self.cyclic)
        return R

    def dense(self, zero: Any, one: Any, dtype: Any, reflexive: bool = True, threads: int | None = None) -> np.ndarray:
        """The closure as an array of two values."""
        n, dtype = len(self.label), np.dtype(dtype)
        out = np.empty((n, n), dtype)
        plain = dtype.itemsize == 1 and zero == 0 and one == 1

        def band(first: int, last: int) -> None:
            part = out[first:last] if plain else np.empty((last - first, n), bool)
            unpack_labelled(
                part.ctypes.data, n, self.rows.words.ctypes.data, self.rows.words.shape[1], self.label, first, last, n
            )
            if not reflexive:
                clear_bytes(part.ctypes.data, n, self.cyclic, first, last)
            if not plain:
                out[first:last] = zero
                np.copyto(out[first:last], one, where=part)

        share(band, ranges(n, -(-n // BAND)), threads)
        return out


def reach(offsets: np.ndarray, columns: np.ndarray, threads: int | None = None) -> Reach:
    """The transitive closure of a graph whose edges are entries of compressed rows, in any order.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
    columns : ndarray of int32

    Examples
    --------
    >>> found = reach(np.array([0, 1, 2, 2]), np.array([1, 0], np.int32))
    >>> found.dense(0, 1, int).tolist()
    [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    """
    n, threads = len(offsets) - 1, thread_count(threads)
    addresses = offsets.ctypes.data, columns.ctypes.data
    label, members, starts, cyclic = strong_components_of_rows(*addresses, n)
    count = len(starts) - 1
    found = PackedRows.empty(count, n)
    rows, width = found.words.ctypes.data, found.words.shape[1]
    budget = UNIONS_A_LOOKUP * n * float(count) ** 2 / (PIVOTS * WORD * VECTOR * threads)
    if not unite_successors(rows, width, *addresses, label, members, starts, int(budget)):
        edges = PackedRows.empty(count, count)
        words, stride = edges.words.ctypes.data, edges.words.shape[1]
        work = partial(set_component_edges, words, stride, *addresses, label, members, starts)
        share(work, ranges(count, -(-count * stride // (1 << 17))), threads)
        edges = transposed(edges, threads)
        room = scratch(8 * stride)
        rows_of_components(rows, width, edges.words.ctypes.data, count, label, room[1], UNIONS_A_LOOKUP, threads)
    return Reach(found, label, cyclic)
