"""Supernodes: runs of vertices that are eliminated together, because they touch nearly the same later vertices.

A supernode S with s vertices touches a boundary U of u later vertices; its front is the dense (s + u) × (s + u) matrix
over both. Large ones run at the speed of dense kernels, and each costs a few calls, so small neighbours in the tree
are merged where that is cheaper than to treat them apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled, takes

from .pattern import Index, transposed

LEAF = 32  # vertices of a whole subtree that becomes one supernode
LARGEST = 512  # vertices of a supernode that amalgamation makes
CALL = 100.0  # what each supernode costs in a solve, in multiply-adds of one right-hand side
OWN = 0.15  # share of a solve's right-hand sides that pass through the block S* of a large supernode
TOUCH = 8.0  # and what each vertex in its front costs: it is gathered


def supernodes(parent: Index, count: Index, *, leaf: int = LEAF, merge: bool = True) -> Index:
    """The first vertex of every supernode, and n behind the last.

    Parameters
    ----------
    parent : int64 array, shape (n,)
        The elimination tree, in postorder.
    count : int64 array, shape (n,)
        From `column_counts`.
    leaf : int
        Whole subtrees of up to so many vertices become one supernode each; 0: none do.
    merge : bool
        Whether supernodes are merged with their parents where that lowers the cost of a solve.

    Examples
    --------
    Two paths that meet in vertex 4: 0 – 1 – 4 – 3 – 2.

    >>> parent, count = np.array([1, 4, 3, 4, -1]), np.array([1, 1, 1, 1, 0])
    >>> supernodes(parent, count, leaf=0, merge=False).tolist()
    [0, 1, 2, 3, 5]
    >>> supernodes(parent, count).tolist()
    [0, 5]
    """
    return _partition(parent, count, leaf, merge)


@compiled
def _cost(s: Any, u: Any) -> Any:
    """Multiply-adds that one right-hand side takes on its way down, and what is as dear."""
    return s * u + TOUCH * (s + u) + CALL


@compiled
def _own_block(s: Any) -> Any:
    """What S* costs those right-hand sides that begin below it, shared among all."""
    return OWN * s * s * (s > LEAF)


@takes(2)
def _partition(parent: Any, count: Any, leaf: int, merge: bool) -> Any:
    n = len(parent)
    size = np.full(n, 1)  # of the subtree below each vertex
    for j in range(n):
        if parent[j] >= 0:
            size[parent[j]] += size[j]
    first, top, j = np.empty(n + 1, np.int64), 0, 0
    while j < n:
        begin, end = j, j + 1
        if size[j] == 1:  # a leaf: the largest small subtree that begins here
            root = j
            while parent[root] >= 0 and size[parent[root]] <= leaf:
                root = parent[root]
            if size[root] <= leaf:
                begin, end = j, root + 1
        if end == j + 1:  # fundamental: a chain of vertices that touch the same
            while end < n and parent[end - 1] == end and count[end - 1] == count[end] + 1:
                end += 1
        first[top] = begin
        top += 1
        j = end
        while merge and top > 1:  # with the supernode before it, if that is its child
            middle, start = first[top - 1], first[top - 2]
            if not middle <= parent[middle - 1] < end or end - start > LARGEST:
                break
            apart = _cost(middle - start, count[middle - 1]) + _cost(end - middle, count[end - 1])
            if _cost(end - start, count[end - 1]) + _own_block(end - start) > apart:
                break
            top -= 1
    first[top] = n
    return first[: top + 1].copy()


def boundaries(start: Index, neighbours: Index, first: Index) -> tuple[Index, Index, Index, Index]:
    """The boundary of every supernode, ascending, as pointers and vertices, and its parent: the one with the least.

    A supernode touches what its own vertices and its children touch beyond it. The last of the four arrays is the
    supernode of every vertex.
    """
    pointer, found, parent, owner = _boundaries(start, neighbours, first)
    by_vertex, members, _ = transposed(pointer, found, len(owner))  # which ascends, and so does its own transpose
    _, boundary, _ = transposed(by_vertex, members, len(parent))
    return pointer, boundary, parent, owner


@compiled
def _boundaries(start: Any, neighbours: Any, first: Any) -> Any:
    """The same in any order. Slices are not assigned to: compiling their errors would take two seconds."""
    m, n = len(first) - 1, len(start) - 1
    owner = np.empty(n, np.int64)
    for a in range(m):
        for i in range(first[a], first[a + 1]):
            owner[i] = a
    pointer, found, parent = np.zeros(m + 1, np.int64), np.empty(8 * n + 1, np.int64), np.full(m, -1)
    child, sibling, seen = np.full(m, -1), np.full(m, -1), np.full(n, -1)
    for a in range(m):
        end, size, least = first[a + 1], pointer[a], n
        if size + n > len(found):
            more = np.empty(2 * len(found) + n, np.int64)
            for q in range(size):
                more[q] = found[q]
            found = more
        for q in range(start[first[a]], start[end]):
            i = neighbours[q]
            if i >= end and seen[i] != a:
                seen[i], found[size], least = a, i, min(least, i)
                size += 1
        c = child[a]
        while c >= 0:
            for q in range(pointer[c], pointer[c + 1]):
                i = found[q]
                if i >= end and seen[i] != a:
                    seen[i], found[size], least = a, i, min(least, i)
                    size += 1
            c = sibling[c]
        pointer[a + 1] = size
        if least < n:
            above = owner[least]
            parent[a] = above
            sibling[a], child[above] = child[above], a
    return pointer, found[: pointer[m]].copy(), parent, owner
