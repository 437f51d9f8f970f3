"""A plain engine for schedules: blocks of Python objects, every call written down, and closures by their definition.

Elements are walks: each entry of the matrix is an edge of its own, ⊕ joins collections of walks, which are counted, and
⊗ puts one behind the other. So a closure is right if it has every walk of up to three edges exactly once, in the order
of its edges. Numbers under min-plus serve where matrices are larger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

MOST = 3  # edges of the walks that count
Walk = tuple[tuple[int, int], ...]
Span = tuple[int, int, int, int]  # first row, end of rows, first column, end of columns


class Elements(NamedTuple):
    """What a plain engine needs to know of an algebra."""

    add: Callable[[Any, Any], Any]
    mul: Callable[[Any, Any], Any]
    zero: Any
    one: Any


def _joined(a: dict[Walk, int], b: dict[Walk, int]) -> dict[Walk, int]:
    return dict(Counter(a) + Counter(b))


def _behind(a: dict[Walk, int], b: dict[Walk, int]) -> dict[Walk, int]:
    found: Counter[Walk] = Counter()
    for (x, m), (y, k) in product(a.items(), b.items()):
        if len(x) + len(y) <= MOST:
            found[x + y] += m * k
    return dict(found)


WALKS = Elements(_joined, _behind, {}, {(): 1})
LENGTHS = Elements(min, lambda a, b: a + b, float("inf"), 0)


class Block:
    """A rectangle of a matrix, which knows where it lies; its slices are views."""

    def __init__(self, rows: list[list[Any]], span: Span | None = None):
        self.rows = rows
        self.span = span or (0, len(rows), 0, len(rows[0]) if rows else 0)

    @property
    def shape(self) -> tuple[int, int]:
        top, bottom, left, right = self.span
        return bottom - top, right - left

    def __getitem__(self, key: tuple[slice, slice]) -> Block:
        (top, _, left, _), (height, width) = self.span, self.shape
        (a, b, rows), (c, d, columns) = key[0].indices(height), key[1].indices(width)
        assert rows == columns == 1
        return Block(self.rows, (top + a, top + b, left + c, left + d))

    def read(self) -> list[list[Any]]:
        """A copy of the elements."""
        top, bottom, left, right = self.span
        return [row[left:right] for row in self.rows[top:bottom]]

    def write(self, elements: list[list[Any]]) -> None:
        """All elements anew."""
        top, bottom, left, right = self.span
        assert len(elements) == bottom - top and all(len(row) == right - left for row in elements)
        for i, row in enumerate(elements):
            self.rows[top + i][left:right] = row

    def overlaps(self, other: Block) -> bool:
        """Whether both hold an element."""
        (a, b, c, d), (p, q, r, s) = self.span, other.span
        return self.rows is other.rows and max(a, p) < min(b, q) and max(c, r) < min(d, s)


@dataclass
class Plain:
    """The interface of engines, as its sentences say; `calls` has the name and the places of the operands of each."""

    S: Elements
    tile: int = 2
    align: int = 1
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    work: int = 0  # multiply-adds, as progress counts them

    def _seen(self, name: str, *blocks: Block) -> None:
        self.calls.append((name, *(block.span for block in blocks)))
        for block in blocks:
            assert block.span[0] % self.align == block.span[2] % self.align == 0, "a block begins between two words"

    def _product(self, A: list[list[Any]], B: list[list[Any]], start: list[list[Any]] | None, width: int) -> Any:
        S = self.S
        found = start or [[S.zero] * width for _ in A]
        for i, row in enumerate(A):
            for k, a in enumerate(row):
                for j in range(width):
                    found[i][j] = S.add(found[i][j], S.mul(a, B[k][j]))
        self.work += sum(map(len, A)) * width
        return found

    def multiply_add(self, C: Block, A: Block, B: Block) -> None:
        self._seen("multiply_add", C, A, B)
        assert not C.overlaps(A) and not C.overlaps(B)
        assert (A.shape[0], B.shape[1]) == C.shape and A.shape[1] == B.shape[0]
        C.write(self._product(A.read(), B.read(), C.read(), C.shape[1]))

    def multiply(self, C: Block, A: Block, B: Block) -> None:
        self._seen("multiply", C, A, B)
        assert not C.overlaps(A) and not C.overlaps(B)
        assert (A.shape[0], B.shape[1]) == C.shape and A.shape[1] == B.shape[0]
        C.write(self._product(A.read(), B.read(), None, C.shape[1]))

    def left(self, D: Block, R: Block) -> None:
        self._seen("left", D, R)
        assert not D.overlaps(R) and D.shape == (R.shape[0],) * 2
        R.write(self._product(D.read(), R.read(), None, R.shape[1]))

    def right(self, C: Block, D: Block) -> None:
        self._seen("right", C, D)
        assert not D.overlaps(C) and D.shape == (C.shape[1],) * 2
        C.write(self._product(C.read(), D.read(), None, C.shape[1]))

    def closes_whole(self, n: int) -> bool:
        return n <= self.tile

    def close(self, D: Block) -> int:
        """By X ← 1 ⊕ D X until nothing changes; an element of which 1 is a part has no star."""
        self._seen("close", D)
        n = D.shape[0]
        assert D.shape == (n, n) and D.span[0] == D.span[2], "a pivot block is on the diagonal"
        A = D.read()
        for i in range(n):
            if self.S is WALKS and () in A[i][i]:
                return i
        before, work = None, self.work
        X = one = [[self.S.one if i == j else self.S.zero for j in range(n)] for i in range(n)]
        while before != X:
            before, X = X, self._product(A, X, [row[:] for row in one], n)
        D.write(X)
        self.work = work + n**3
        return -1

    def add_one(self, A: Block) -> None:
        self._seen("add_one", A)
        rows = A.read()
        for i in range(len(rows)):
            rows[i][i] = self.S.add(self.S.one, rows[i][i])
        A.write(rows)

    def like(self, A: Block) -> Block:
        self._seen("like", A)
        return Block([[None] * A.shape[1] for _ in range(A.shape[0])])

    def equal(self, A: Block, B: Block) -> bool:
        self._seen("equal", A, B)
        return A.read() == B.read()

    def assign(self, A: Block, B: Block) -> None:
        self._seen("assign", A, B)
        A.write(B.read())


def edges(n: int) -> Block:
    """The matrix all of whose entries are edges of their own."""
    return Block([[{((i, j),): 1} for j in range(n)] for i in range(n)])


def walks(i: int, j: int, through: int, most: int = MOST) -> dict[Walk, int]:
    """All walks from i to j of up to three edges whose vertices between are 0 … through − 1; the empty one too."""
    found: dict[Walk, int] = {(): 1} if i == j else {}
    for length in range(1, most + 1):
        for between in product(range(through), repeat=length - 1):
            stops = (i, *between, j)
            found[tuple(pairwise(stops))] = 1
    return found


def all_walks(n: int) -> list[list[dict[Walk, int]]]:
    """The closure of `edges(n)`."""
    return [[walks(i, j, n) for j in range(n)] for i in range(n)]


def lengths(n: int, seed: int) -> Block:
    """Some roads of whole lengths, so that closures are shortest distances."""
    state = seed + 1
    rows: list[list[float]] = [[LENGTHS.zero] * n for _ in range(n)]
    for i, j in product(range(n), repeat=2):
        state = state * 48271 % 2147483647
        if state % 3 == 0:
            rows[i][j] = state // 7 % 50
    return Block(rows)


def distances(A: Block) -> list[list[float]]:
    """Shortest distances by Bellman's equations, round after round."""
    W, n = A.read(), A.shape[0]
    found = [[0 if i == j else LENGTHS.zero for j in range(n)] for i in range(n)]
    for _ in range(n):
        found = [[min([x, *(W[i][k] + found[k][j] for k in range(n))]) for j, x in enumerate(row)]
                 for i, row in enumerate(found)]
    return found


@pytest.fixture(scope="session")
def plain() -> SimpleNamespace:
    """All of this, for tests that cannot import it: two packages are called `algorithms`."""
    return SimpleNamespace(
        Kernel=Plain, Block=Block, WALKS=WALKS, LENGTHS=LENGTHS, edges=edges, walks=walks, all_walks=all_walks,
        lengths=lengths, distances=distances,
    )
