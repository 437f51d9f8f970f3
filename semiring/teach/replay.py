"""Replay a schedule on a graph's matrix, entry by entry: its recorded kernel calls are carried out one at a time.

The schedules in `semiring.algorithms` run unchanged, and their calls are recorded. A page replays the calls, by
``page/replay.js``, whenever its reader changes something; both give the same steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from semiring.kernels.wrappers.recording import Call, Region

from .elements import Elements
from .walks import NONE, Walks, edge, staying

Values = list[list[Any]]


@dataclass(frozen=True, slots=True)
class Term:
    """A product first ⊗ second, of the entries (i, k) and (k, j) before the call."""

    through: int
    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class Step:
    """One entry that is written.

    Attributes
    ----------
    call : int
        The number of the recorded kernel call.
    kind : str
        "star", "row", "pivot" or "column" while a block is closed; "left", "product", "right", "square", "one", "copy"
        for the kernel's other operations.
    matrix : str
        "A", or a further matrix of the schedule.
    row, column : int
        The entry that is written; −1 if a whole matrix is copied.
    pivots : range
        The vertices in the middle of the walks.
    reads : tuple of (str, int, int)
        The entries read: matrix, row, column.
    terms : tuple of Term
    factor : element, optional
        The pivot's star, by which a row or a column is multiplied.
    old, new : element
    before, walks : Walks
        The walks that the old and the new value combine.
    opened : frozenset of int
        The vertices that walks may already pass through.
    changed : bool
    won : int
        If ⊕ selects: the vertex in the middle of the walk that improved the old value; −1 if there is none.
    """

    call: int
    kind: str
    matrix: str
    row: int
    column: int
    pivots: range
    reads: tuple[tuple[str, int, int], ...]
    terms: tuple[Term, ...]
    factor: Any
    old: Any
    new: Any
    before: Walks
    walks: Walks
    opened: frozenset[int]
    changed: bool
    won: int = -1


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no closure: a pivot without a star, or a cycle that improves.

    Attributes
    ----------
    vertex : int
    weight : element
    walks : Walks
        The cycle.
    improves : bool
    """

    vertex: int
    weight: Any
    walks: Walks
    improves: bool


@dataclass
class Replay:
    """The steps of recorded calls on a matrix.

    Attributes
    ----------
    steps : list of Step
    failure : Failure or None
    values : dict of str to list of lists
        The matrices at the end, by letter; "A" is the closure unless there was a failure.
    """

    elements: Elements
    calls: Sequence[Call]
    given: Values
    steps: list[Step] = field(default_factory=list)
    failure: Failure | None = None

    def __post_init__(self) -> None:
        zero, n = self.elements.zero, len(self.given)
        walks = [[NONE if self.elements.same(x, zero) else edge(i, j) for j, x in enumerate(row)]
                 for i, row in enumerate(self.given)]
        self.values: dict[str, Values] = {"A": [list(row) for row in self.given]}
        self.walks: dict[str, list[list[Walks]]] = {"A": walks}
        self._opened: frozenset[int] = frozenset()
        for number, call in enumerate(self.calls):
            self._call = number
            for block in call.blocks:
                self.values.setdefault(block.matrix, [[zero] * n for _ in range(n)])
                self.walks.setdefault(block.matrix, [[NONE] * n for _ in range(n)])
            if not getattr(self, f"_{call.operation}")(*call.blocks):
                break

    # The kernel's operations; each returns whether to continue

    def _close(self, D: Region) -> bool:
        """Floyd–Warshall on a block, as in `semiring.algorithms.floyd_warshall`."""
        E, name = self.elements, D.matrix
        for k in D.rows:
            others, pivot = [i for i in D.rows if i != k], range(k, k + 1)
            X, W = self.values[name], self.walks[name]
            improves = E.improves(X[k][k])
            star = None if improves else E.star(X[k][k])
            if star is None:
                self.failure = Failure(k, X[k][k], W[k][k], improves)
                return False
            unit = E.unit or (E.S.selective and E.same(star, E.one))
            round_ = staying(k) if unit else W[k][k].repeated(k)
            self._opened |= {k}
            for j in others:
                reads = ((name, k, k), (name, k, j))
                self._put("row", name, k, j, E.mul(star, X[k][j]), round_ @ W[k][j], pivot, reads, factor=star)
            for i in others:
                for j in others:
                    if not self._sum("pivot", D, i, j, D, D, pivot, X, X, W, W):
                        return False
            for i in others:
                reads = ((name, i, k), (name, k, k))
                self._put("column", name, i, k, E.mul(X[i][k], star), W[i][k] @ round_, pivot, reads, factor=star)
            self._put("star", name, k, k, star, round_, pivot, ((name, k, k),))
        return True

    def _multiply_add(self, C: Region, A: Region, B: Region) -> bool:
        return self._product("product", C, A, B, adds=True)

    def _multiply(self, C: Region, A: Region, B: Region) -> bool:
        return self._product("square", C, A, B)

    def _left(self, D: Region, R: Region) -> bool:
        return self._product("left", R, D, R)

    def _right(self, C: Region, D: Region) -> bool:
        return self._product("right", C, C, D)

    def _product(self, kind: str, C: Region, A: Region, B: Region, adds: bool = False) -> bool:
        a, b = ([list(row) for row in self.values[m.matrix]] for m in (A, B))
        v, w = ([list(row) for row in self.walks[m.matrix]] for m in (A, B))
        inner = A.columns if kind != "square" else range(0)
        return all(self._sum(kind, C, i, j, A, B, inner, a, b, v, w, adds) for i in C.rows for j in C.columns)

    def _add_one(self, A: Region) -> bool:
        E, name = self.elements, A.matrix
        for i in A.rows:
            old, before = self.values[name][i][i], self.walks[name][i][i]
            total = E.add(E.one, old)
            won = E.same(total, E.one) if E.S.selective else None  # whether staying is as good
            walks = staying(i) | before if won is None else staying(i) if won else before
            if not self._put("one", name, i, i, total, walks, range(0), ((name, i, i),)):
                return False
        return True

    def _equal(self, A: Region, B: Region) -> bool:
        pairs = zip(self.values[A.matrix], self.values[B.matrix], strict=True)
        return not all(self.elements.same(x, y) for row, other in pairs for x, y in zip(row, other, strict=True))

    def _assign(self, A: Region, B: Region) -> bool:
        self.values[A.matrix] = [list(row) for row in self.values[B.matrix]]
        self.walks[A.matrix] = [list(row) for row in self.walks[B.matrix]]
        self.steps.append(Step(self._call, "copy", A.matrix, -1, -1, range(0), (), (), None, None, None, NONE, NONE,
                               self._opened, True))
        return True

    # One entry

    def _sum(
        self, kind: str, C: Region, i: int, j: int, A: Region, B: Region, inner: range, a: Values, b: Values,
        v: list[list[Walks]], w: list[list[Walks]], adds: bool = True,
    ) -> bool:
        """c_ij ← (c_ij ⊕) ⊕_k a_ik ⊗ b_kj; if ⊕ selects, the walks are those of the first term that is as good."""
        E, name = self.elements, C.matrix
        through = inner if kind == "pivot" else A.columns
        value = self.values[name][i][j] if adds else E.zero
        walks = self.walks[name][i][j] if adds else NONE
        terms, won = [], -1
        for k in through:
            terms.append(Term(k, a[i][k], b[k][j]))
            total, joined = E.add(value, E.mul(a[i][k], b[k][j])), v[i][k] @ w[k][j]
            if not E.S.selective:
                walks = walks | joined
            elif not E.same(total, value):
                walks, won = joined, k
            value = total
        reads = tuple(entry for k in through for entry in ((A.matrix, i, k), (B.matrix, k, j)))
        return self._put(kind, name, i, j, value, walks, inner, reads, tuple(terms), won=won)

    def _put(
        self, kind: str, name: str, i: int, j: int, new: Any, walks: Walks, pivots: range,
        reads: tuple[tuple[str, int, int], ...], terms: tuple[Term, ...] = (), factor: Any = None,
        won: int = -1,
    ) -> bool:
        """Write an entry; return False if it shows that a cycle improves."""
        old, before = self.values[name][i][j], self.walks[name][i][j]
        changed = not self.elements.same(old, new)
        self.values[name][i][j], self.walks[name][i][j] = new, walks
        self.steps.append(Step(self._call, kind, name, i, j, pivots, reads, terms, factor, old, new, before, walks,
                               self._opened, changed, won))
        if i == j and self.elements.improves(new):
            self.failure = Failure(i, new, walks, True)
            return False
        return True
