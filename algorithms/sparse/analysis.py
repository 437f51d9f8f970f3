"""The symbolic analysis of a sparse matrix: everything that its elimination needs to know but the weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled

from . import pattern, symbolic
from .ordering import Order, Spread, order, spread
from .pattern import Index, inverse
from .supernodes import LEAF, boundaries, supernodes


@dataclass(frozen=True, eq=False)
class Analysis:
    """Vertices are numbered in the order of elimination here; `order` says what they are called outside.

    Supernode a eliminates vertices ``first[a] … first[a + 1] − 1`` = S and touches ``boundary[pointer[a] :
    pointer[a + 1]]`` = U. Rows and columns of its front are S, then U.

    Attributes
    ----------
    order : int64 array, shape (n,)
        The vertex that is eliminated as the k-th.
    place : int64 array, shape (n,)
        When each vertex is eliminated: the inverse.
    first : int64 array, shape (m + 1,)
    pointer, boundary : int64 array
    parent : int64 array, shape (m,)
        The supernode that takes over what is left of a front; −1 at the roots.
    owner : int64 array, shape (n,)
        The supernode of each vertex.
    position : int64 array, like `boundary`
        Where each boundary vertex stands in the parent's front.
    entry_pointer, entry, entry_row, entry_column : int64 array
        The matrix entries that each front begins with: their numbers, and their rows and columns in the front.
    indptr, indices : int64 array
        The matrix's own compressed rows, for those who need the edges.
    method : str
        What found the order.
    """

    order: Index
    place: Index
    first: Index
    pointer: Index
    boundary: Index
    parent: Index
    owner: Index
    position: Index
    entry_pointer: Index
    entry: Index
    entry_row: Index
    entry_column: Index
    indptr: Index
    indices: Index
    method: str

    @cached_property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.order)

    @cached_property
    def nnz(self) -> int:
        """Number of entries of the matrix."""
        return len(self.indices)

    @cached_property
    def spread(self) -> Spread:
        """How breadth-first searches of the matrix go."""
        return spread(self.indptr, self.indices)

    @cached_property
    def pivots(self) -> Index:
        """The vertices s that each supernode eliminates."""
        return np.diff(self.first)

    @cached_property
    def reach(self) -> Index:
        """The boundary vertices u of each supernode."""
        return np.diff(self.pointer)

    @cached_property
    def lowest(self) -> Index:
        """The first vertex of the subtree below each supernode, whose vertices stand together."""
        return _folded(np.minimum, self.first[:-1], self.parent)

    @cached_property
    def children(self) -> tuple[Index, Index]:
        """The first child of every supernode and the next sibling, −1 where there is none; children ascend."""
        child, sibling = np.full((2, len(self.parent)), -1)
        below = np.flatnonzero(self.parent >= 0)
        child[self.parent[below[::-1]]] = below[::-1]  # of several children the first is written last
        by_parent = below[np.argsort(self.parent[below], kind="stable")]
        together = self.parent[by_parent[:-1]] == self.parent[by_parent[1:]]
        sibling[by_parent[:-1][together]] = by_parent[1:][together]
        return child, sibling

    @cached_property
    def heights(self) -> Index:
        """The longest way down from each supernode to a leaf: a parent is higher than its children."""
        return _folded(np.maximum, self.depths, self.parent) - self.depths

    @cached_property
    def depths(self) -> Index:
        """The way up from each supernode to its root."""
        above, depth = self.parent, (self.parent >= 0).astype(np.int64)
        while (up := above >= 0).any():
            depth[up] += depth[above[up]]
            above = np.where(up, above[above], -1)
        return depth

    def spans(self, places: Index) -> tuple[Index, Index]:
        """Which of some vertices, ascending in the order of elimination, are in the subtree of each supernode.

        Returns
        -------
        head, tail : int64 array, shape (m,)
            ``places[head : tail]`` are.
        """
        head, tail = np.zeros((2, len(self.parent)), np.int64)
        if not len(places):
            return head, tail
        # Before the owner of the first every subtree ends; beyond that of the last few begin early enough.
        begin, end = self.owner[places[0]], self.owner[places[-1]] + 1
        head[begin:end] = np.searchsorted(places, self.lowest[begin:end])
        tail[begin:end] = np.searchsorted(places, self.first[begin + 1 : end + 1])
        beyond = end + np.flatnonzero(self.lowest[end:] <= places[-1])
        head[beyond], tail[beyond] = np.searchsorted(places, self.lowest[beyond]), len(places)
        return head, tail

    def above(self, places: Index) -> np.ndarray:
        """Whether each supernode has one of some vertices, by the order of elimination, in its subtree."""
        head, tail = self.spans(np.sort(places))
        return head < tail

    def stack_layout(self, lanes: int, rows: int) -> tuple[Index, Index, int]:
        """The places on a stack of each front and of what it leaves, and the largest size of the stack.

        Supernodes are in postorder, so what the children left is on top when their parent's turn comes. A front takes
        rows and columns up to multiples of `rows` and `lanes`; what it leaves takes the place of what it was made from.
        """
        left, order = self.reach**2, self.pivots + self.reach
        from_children = np.zeros_like(left)
        np.add.at(from_children, self.parent[self.parent >= 0], left[self.parent >= 0])
        front = np.cumsum(left - from_children) - (left - from_children)
        tops = front + -(-order // rows) * rows * (-(-order // lanes) * lanes)
        return front - from_children, front, int(tops.max(initial=0))

    @cached_property
    def columns(self) -> tuple[Index, Index, Index]:
        """The matrix by columns, in the order of elimination: pointers, rows, and the numbers of the entries."""
        start, rows, origin = pattern.transposed(self.indptr, self.indices, self.n)
        pick = _runs(start, self.order)
        new = np.concatenate([[0], np.cumsum(np.diff(start)[self.order])])
        return new, self.place[rows[pick]], origin[pick]


def _folded(take: np.ufunc, values: Index, parent: Index) -> Index:
    """The least or greatest of some values in the subtree of each supernode: within 1, 3, 7, … steps down."""
    found, above = values.copy(), parent
    while (up := above >= 0).any():
        take.at(found, above[up], found[up])
        above = np.where(up, above[above], -1)
    return found


def _runs(start: Index, order: Index) -> Index:
    """The places of rows `order` of compressed rows, one row after the other."""
    length = np.diff(start)[order]
    ends = np.cumsum(length)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(start[order] - ends + length, length)


def analyse(
    indptr: Index, indices: Index, *, method: str | Index = "auto", leaf: int = LEAF, merge: bool = True
) -> Analysis:
    """Order a matrix and find its supernodes and fronts.

    Parameters
    ----------
    indptr, indices : int64 array
        Compressed rows of a square matrix, indices ascending.
    method : {"auto", "amd", "levels", "metis", "natural"} or int64 array, shape (n,)
        What finds the order, see `ordering.order`; or the order itself, with each vertex once. It is followed but for
        vertices of separate subtrees, which elimination does not join: these come in postorder, with the same fill.
    leaf, merge
        How supernodes are made larger; see `supernodes.supernodes`.

    Examples
    --------
    A path 0 → 1 → 2 is one small supernode.

    >>> found = analyse(np.array([0, 1, 2, 2]), np.array([1, 2]))
    >>> found.pivots.tolist(), found.reach.tolist()
    ([3], [0])
    """
    start, neighbours = pattern.symmetric(indptr, indices)
    found = order(start, neighbours, method) if isinstance(method, str) else Order(method, "given")
    first_order, method, tree, count = found
    if tree is None or count is None:
        ordered = pattern.renumbered(start, neighbours, first_order, inverse(first_order))
        tree = symbolic.elimination_tree(*ordered)
        count = symbolic.column_counts(*ordered, tree)
    visit = symbolic.postorder(tree)
    moved = inverse(visit)
    tree = np.where(tree >= 0, moved[tree], -1)[visit]
    final = first_order[visit]
    place = inverse(final)
    first = supernodes(tree, count[visit], leaf=leaf, merge=merge)
    ordered = pattern.renumbered(start, neighbours, final, place)
    pointer, boundary, parent, owner = boundaries(ordered[0], ordered[1], first)
    position = _positions(first, pointer, boundary, parent)
    start, entry, row, column = _entries(indptr, indices, place, first, pointer, boundary, owner)
    return Analysis(
        final, place, first, pointer, boundary, parent, owner, position, start, entry, row, column, indptr, indices,
        method,
    )


def _positions(first: Index, pointer: Index, boundary: Index, parent: Index) -> Index:
    """The position of each boundary vertex in the parent's front."""
    reach = np.diff(pointer)
    own = np.repeat(np.arange(len(parent)), reach)
    above = parent[own]
    found = boundary - first[above]
    beyond = np.flatnonzero(boundary >= first[above + 1])
    # The parent's boundary has these too; all boundaries one after the other ascend by supernode and vertex.
    b = above[beyond]
    place = np.searchsorted(own * first[-1] + boundary, b * first[-1] + boundary[beyond])
    found[beyond] = first[b + 1] - first[b] + place - pointer[b]
    return found


@compiled
def _entries(indptr: Any, indices: Any, place: Any, first: Any, pointer: Any, boundary: Any, owner: Any) -> Any:
    """The matrix entries of every front, each in the front of the end that is eliminated first."""
    n, m, size = len(place), len(first) - 1, len(indices)
    start = np.zeros(m + 1, np.int64)
    for i in range(n):
        for q in range(indptr[i], indptr[i + 1]):
            start[owner[min(place[i], place[indices[q]])] + 1] += 1
    for a in range(m):
        start[a + 1] += start[a]
    entry, row, column = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    free = start[:-1].copy()
    for i in range(n):
        for q in range(indptr[i], indptr[i + 1]):
            a = owner[min(place[i], place[indices[q]])]
            k = free[a]
            entry[k], row[k], column[k] = q, place[i], place[indices[q]]
            free[a] = k + 1
    local = np.empty(n, np.int64)
    for a in range(m):
        for v in range(first[a], first[a + 1]):
            local[v] = v - first[a]
        for q in range(pointer[a], pointer[a + 1]):
            local[boundary[q]] = first[a + 1] - first[a] + q - pointer[a]
        for k in range(start[a], start[a + 1]):
            row[k], column[k] = local[row[k]], local[column[k]]
    return start, entry, row, column
