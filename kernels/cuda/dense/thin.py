"""Products that take as long as reading their operands: of stacks of small matrices, and of a matrix and a vector.

thin.cu has the kernels. On data they look at every element on the way, so that nothing else reads the operands; on
matrices in storage they only multiply.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from semiring.kernels.cuda.compile.launch import Function, Module, memory, multiprocessors
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.compile.thin import ThinGeometry, thin_geometries, thin_source

from .exchange import Report, exchange

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

SIDE = 64  # rows, columns and terms up to which a matrix of a stack is small
ELEMENTS = 1024  # of a matrix that keep a block busy
LARGEST_ELEMENT = 32  # bytes; sums of larger ones would not fit in shared memory
MOST_DOWN = 65_535  # blocks of a launch in its second direction
LEAST_TERMS = 4096  # of a row for a warp, where rows are split
LEAST_ROWS = 32  # of a matrix for a thread, where columns are split
EACH = 4  # parts that a thread joins
DENSE_A, DENSE_B, RUNS_OF_C, OLD_OF_STACK = 1, 2, 4, 8  # as in thin.cu
RUNS, PARTS, OLD = 1, 2, 4


Shape = tuple[int, int, int, int]  # matrices, and m, k and n of each


class Place(NamedTuple):
    """A stack in memory: where it begins, and in bytes from element to element, row to row and matrix to matrix."""

    address: int
    step: int
    ld: int
    next: int

    @classmethod
    def of(cls, stack: Any) -> Place:
        """The place of an array of three axes."""
        following, ld, step = stack.strides
        return cls(stack.data.ptr, step, ld, following if len(stack) > 1 else 0)

    def moved(self, by: int, following: int) -> Place:
        """The place so many bytes further on, with another step from matrix to matrix."""
        return Place(self.address + by, self.step, self.ld, following)

    @property
    def turned(self) -> Place:
        """The transposes of the matrices."""
        return Place(self.address, self.ld, self.step, self.next)


class Thin:
    """C ← A ⊗ B and C ⊕ A ⊗ B for one lowering.

    Parameters
    ----------
    low : CudaLowering
    looks : bool
        Whether operands and answers are data; else they are in storage.
    """

    def __init__(self, low: CudaLowering, looks: bool):
        self.low, self.looks = low, looks
        text = program(low)
        self.size, self.given = text.size, (low.dtype if looks else low.storage).itemsize
        self.powers = low.log_sum is not None
        self.tiny, self.small, self.vectors = thin_geometries(text.size, text.weight, self.powers)
        self.facts = looks and low.dtype.kind in "iu"
        self._ends = exchange(low).ends if self.facts else ()

    def fits(self, batch: int, m: int, k: int, n: int) -> bool:
        """Whether products of this shape are for these kernels."""
        if self.size > LARGEST_ELEMENT or min(batch, m, k, n) < 1 or (batch > 1 and k <= SIDE < max(m, n)):
            return False  # strips of many matrices would be as many launches
        return _fits(self, m, k, n)

    def __call__(self, C: Any, A: Any, B: Any, accumulate: bool = False, found: Report | None = None) -> None:
        """Stacks of any strides, of a shape that `fits`; what is found in data goes to the report."""
        (batch, m, n), k = C.shape, A.shape[2]
        if k > SIDE:  # the vector may have any step, and the matrix its rows or its columns side by side
            A, B = (A if m == 1 and n > 1 else self._sides_of(A)), (B if n == 1 else self._sides_of(B))
        else:
            A, B = self._rows_of(A), self._rows_of(B)
        self.at((batch, m, k, n), Place.of(C), Place.of(A), Place.of(B), accumulate, found)

    def straight(self, shape: Shape, C: Any, A: Any, B: Any, found: Report | None = None) -> bool:
        """C ← A ⊗ B for arrays of up to three axes that can be read as they lie; False for others.

        C lies in one run of memory. A vector is a row of A, or a column of B.
        """
        batch, m, k, n = shape
        a, b, size = _lying(A, batch, False), _lying(B, batch, True), self.given
        if a is None or b is None:
            return False
        if k > SIDE:
            matrix = a if n == 1 else b
            fits = size in (matrix.step, matrix.ld)
        else:
            fits = (a.step == size or k == 1) and (b.step == size or n == 1)
        if fits:
            self.at(shape, Place(C.data.ptr, size, n * size, m * n * size), a, b, False, found)
        return fits

    def at(
        self, shape: Shape, C: Place, A: Place, B: Place, accumulate: bool = False, found: Report | None = None
    ) -> None:
        """The same by places; elements of a row lie side by side, but for a vector, or a matrix that it multiplies."""
        _, m, k, n = shape
        if found and not self.facts:
            found.clear()
        if k > SIDE:
            self._vector(shape, C, A, B, accumulate, found)
        elif max(m, n) <= SIDE:
            self._stack(C, A, B, shape, accumulate, found, True)
        else:
            self._strips((m, k, n), C, A, B, accumulate, found)

    # Stacks

    def _strips(
        self, sides: tuple[int, int, int], C: Place, A: Place, B: Place, accumulate: bool, found: Report | None
    ) -> None:
        """One product with a long side, as a stack and what is left of it."""
        m, k, n = sides
        whole, rest = divmod(max(m, n), SIDE)
        for count, first, side in ((whole, 0, SIDE), (1, whole * SIDE, rest)):
            if not count * side:
                continue
            ends = first > 0 or not rest
            if m >= n:
                c, a = (place.moved(first * place.ld, SIDE * place.ld) for place in (C, A))
                self._stack(c, a, B.moved(0, 0), (count, side, k, n), accumulate, found, ends)
            else:
                c, b = (place.moved(first * place.step, SIDE * place.step) for place in (C, B))
                self._stack(c, A.moved(0, 0), b, (count, m, k, side), accumulate, found, ends)

    def _stack(
        self, C: Place, A: Place, B: Place, shape: Shape, accumulate: bool, found: Report | None, last: bool
    ) -> None:
        batch, m, k, n = shape
        one_b = batch > 1 and B.next == 0
        g, count = _cut(self, m, k, n, one_b)
        count = min(count, max(batch // (2 * multiprocessors()), 1), batch)
        unit, how = g.VECTOR * self.given, OLD_OF_STACK * accumulate
        how |= DENSE_A * (A.ld == k * self.given and (count == 1 or A.next == m * A.ld))
        how |= DENSE_B * (B.ld == n * self.given and (count == 1 or one_b or B.next == k * B.ld))
        how |= RUNS_OF_C * (n % g.VECTOR == 0 and not (C.address | C.ld | C.next) % unit)
        self._function("stack", g, True)(
            -(-batch // count), 1, A.address, A.ld, A.next, B.address, B.ld, B.next, C.address, C.ld, C.next,
            batch, m, k, n, count, how, *self._report(found, last),
        )

    # Vectors

    def _vector(
        self, shape: Shape, C: Place, A: Place, B: Place, accumulate: bool, found: Report | None
    ) -> None:
        """A matrix and a vector, in either order; matrices with rows or with columns side by side."""
        batch, m, k, n = shape
        left = n == 1
        # x and y from element to element, as `step` says
        M, x, y = (A, B.turned, C.turned) if left else (B, A, C)
        in_rows = M.step == self.given
        M = M if in_rows else M.turned
        run = self._rows if in_rows == left else self._columns
        for first in range(0, batch, MOST_DOWN):
            count = min(batch - first, MOST_DOWN)
            of, by, to = (p._replace(address=p.address + first * p.next) for p in (M, x, y))
            run(of, by, to, count, m if left else n, k, left, accumulate, found, first + count == batch)

    def _rows(
        self, M: Place, x: Place, y: Place, batch: int, m: int, k: int, left: bool, accumulate: bool,
        found: Report | None, last: bool,
    ) -> None:
        g = self.vectors
        unit = g.VECTOR * self.given
        blocks = -(-m // (g.THREADS // 32 * g.ROWS))
        parts = max(min(4 * multiprocessors() // (blocks * batch), k // LEAST_TERMS), 1)
        chunk = -(-k // parts // (32 * g.VECTOR)) * 32 * g.VECTOR
        whole = x.step == self.given and not (M.address | M.ld | M.next | x.address | x.next) % unit
        self._parts("rows", left, M, x, y, batch, m, k, chunk, blocks, RUNS * whole, accumulate, found, last, ())

    def _columns(
        self, M: Place, x: Place, y: Place, batch: int, n: int, k: int, left: bool, accumulate: bool,
        found: Report | None, last: bool,
    ) -> None:
        g = self.vectors
        whole = n % g.VECTOR == 0 and not (M.address | M.ld | M.next) % (g.VECTOR * self.given)
        groups = n // g.VECTOR if whole else n
        across = min(g.THREADS, 1 << (groups - 1).bit_length())
        blocks, down = -(-groups // across), g.THREADS // across
        parts = max(min(8 * multiprocessors() // (blocks * batch), k // (LEAST_ROWS * down)), 1)
        self._parts(
            "columns", left, M, x, y, batch, n, k, -(-k // parts), blocks, RUNS * whole, accumulate, found, last,
            (across,),
        )

    def _parts(
        self, name: str, left: bool, M: Place, x: Place, y: Place, batch: int, n: int, k: int, chunk: int, blocks: int,
        how: int, accumulate: bool, found: Report | None, last: bool, more: tuple[int, ...],
    ) -> None:
        """One launch, or one for parts of k and one that joins them in their order."""
        g, parts, old = self.vectors, -(-k // chunk), OLD * accumulate
        to, kept = y, None
        if parts > 1:
            kept = memory(batch * parts * n * self.size * (2 if self.powers else 1))
            to, how, old = Place(kept.ptr, 0, 0, 0), how | PARTS, 0
        self._function(name, g, left)(
            blocks * parts, batch, M.address, M.ld, M.next, x.address, x.step, x.next, to.address, to.step, to.next,
            n, k, chunk, blocks, how | old, *more, *self._report(found, last and parts == 1),
        )
        if kept is not None:
            self._join(left, kept.ptr, y, batch, n, parts, accumulate, found, last)

    def _join(
        self, left: bool, parts: int, y: Place, batch: int, n: int, count: int, accumulate: bool,
        found: Report | None = None, last: bool = True,
    ) -> None:
        levels = 1 << max(min(count // EACH, self.vectors.THREADS // 32), 1).bit_length() - 1
        across = self.vectors.THREADS // levels
        self.joins(left)(
            -(-n // across), batch, parts, y.address, y.step, y.next, n, count, OLD * accumulate, across,
            *self._report(found, last),
        )

    def joins(self, left: bool = True) -> Function:
        """The kernel of `join`, and of the joining of a vector's parts from either side."""
        return self._function("together", self.vectors, left)

    def join(self, parts: Any, C: Any, accumulate: bool) -> None:
        """Each row of C ← the ⊕ of as many rows in storage, or of that and the row; of no powers.

        Parameters
        ----------
        parts : array, shape (m, count, n)
        C : array, shape (m, n)
            Elements of a row lie side by side.
        accumulate : bool
        """
        m, count, n = parts.shape
        for first in range(0, m, MOST_DOWN):
            rows = C[first : first + MOST_DOWN]
            to = Place(rows.data.ptr, self.given, 0, rows.strides[0])
            self._join(True, parts[first:].data.ptr, to, len(rows), n, count, accumulate)

    # What both share

    def single(self, m: int, k: int, n: int) -> tuple[Function, ThinGeometry] | None:
        """The kernel for one product of small matrices, and how it is cut; None if the product is not small."""
        if not self.fits(1, m, k, n) or max(m, k, n) > SIDE:
            return None
        g, _ = _cut(self, m, k, n, False)
        return self._function("stack", g, True), g

    def _rows_of(self, stack: Any) -> Any:
        """The stack, or a copy in which the elements of a row lie side by side."""
        if stack.strides[2] == self.given or stack.shape[2] == 1:
            return stack
        import cupy

        return cupy.ascontiguousarray(stack)

    def _sides_of(self, stack: Any) -> Any:
        """The stack, or a copy, in which the elements of a row or of a column lie side by side."""
        return stack if self.given in stack.strides[1:] else self._rows_of(stack)

    def _report(self, found: Report | None, last: bool) -> tuple[int, ...]:
        host = found.host if found else 0
        return (host, *self._ends, found.tally if found else 0, int(last)) if self.facts else (host,)

    @lru_cache(64)  # noqa: B019 (kernels live as long as the process)
    def _function(self, name: str, g: ThinGeometry, left: bool) -> Function:
        return _module(self, g, "STACK" if name == "stack" else "VECTORS", left).function(name, g.THREADS)


def _lying(array: Any, batch: int, column: bool) -> Place | None:
    """The place of an array as so many matrices; a vector is a column of one, or a row."""
    strides, address = array.strides, array.data.ptr
    if len(strides) == 1:
        return Place(address, array.itemsize, strides[0], 0) if column else Place(address, strides[0], 0, 0)
    if len(strides) == 2:
        return Place(address, strides[1], strides[0], 0)
    return Place(address, *strides[::-1]) if len(strides) == 3 and array.shape[0] == batch else None


@lru_cache(1024)
def _module(thin: Thin, g: ThinGeometry, part: str, left: bool) -> Module:
    return Module(thin_source(thin.low, g, part, thin.looks, left))


@lru_cache(4096)
def _cut(thin: Thin, m: int, k: int, n: int, one_b: bool) -> tuple[ThinGeometry, int]:
    """The geometry for a stack, and how many of its matrices a block takes; 0 where one does not fit."""
    for g in (thin.tiny, thin.small):
        run = g.VECTOR * thin.size
        a, b = (m * (-(-k // g.VECTOR) | 1) | 1) * run, (k * -(-n // g.VECTOR) | 1) * run
        if thin.powers:
            a, b = a + m * thin.size, b + -(-n // g.VECTOR) * run
        fixed, each = (b, a) if one_b else (0, a + b)
        count = min((g.SHARED - fixed) // each, max(ELEMENTS // max(m * k, k * n, m * n), 1))
        if count > 0:
            return g, count
    return thin.small, 0


@lru_cache(4096)
def _fits(thin: Thin, m: int, k: int, n: int) -> bool:
    if k > SIDE:
        return min(m, n) == 1
    if min(m, n) > SIDE:
        return False
    return _cut(thin, min(m, SIDE), k, min(n, SIDE), False)[1] > 0


_made: dict[tuple[Any, bool], Thin] = {}


def thin(low: CudaLowering, looks: bool) -> Thin:
    """The kernels of a lowering; threads share them."""
    key = low, looks
    return _made.get(key) or _made.setdefault(key, Thin(low, looks))
