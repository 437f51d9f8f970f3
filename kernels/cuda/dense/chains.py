"""Products of sequences of small matrices: all of them, or the last one of each sequence.

A sequence is cut into chunks (`semiring.algorithms.scans`). One launch multiplies the matrices of each chunk, the
products of all that is before each chunk are those of a shorter sequence, and another launch begins with them. So
matrices are read twice, and products written once. chains.cu has the kernels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from semiring.kernels.cuda.compile.chains import ChainGeometry, chain_geometry, chain_source
from semiring.kernels.cuda.compile.launch import Function, Module, multiprocessors
from semiring.kernels.cuda.compile.program import program

from .exchange import Report

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

SIDE = 64  # rows and columns up to which a matrix is small
LEAST_LENGTH = 16  # of a chunk
ALONE = 8  # chunks of a multiprocessor up to which each has more threads
OVERHEAD = 64  # steps of one chunk that take as long as the launches for several
READS_RUNS, WRITES_RUNS, LOOKS_AT = 1, 2, 4  # as in chains.cu


class Sequences(NamedTuple):
    """Sequences of matrices in memory: where they begin, and bytes from row to row, matrix to matrix, and sequence."""

    address: int
    ld: int
    step: int
    next: int

    @classmethod
    def of(cls, array: Any) -> Sequences:
        """The place of an array (sequences, steps, rows, columns), with elements of a row side by side."""
        following, step, ld, _ = array.strides
        return cls(array.data.ptr, ld, step, following)

    def are_whole(self, unit: int) -> bool:
        """Whether all rows begin on multiples of so many bytes."""
        return not (self.address | self.ld | self.step | self.next) % unit


class Before(NamedTuple):
    """Matrices in storage before all others: where the first one begins, and elements from one sequence to the next."""

    address: int = 0
    next: int = 0


NOTHING = Before()


class Chains:
    """Products of sequences for one lowering.

    Parameters
    ----------
    low : CudaLowering
    looks : bool
        Whether matrices and answers are data; else they are in storage.
    reverse : bool
        Whether each matrix is the left factor of its product.
    """

    def __init__(self, low: CudaLowering, looks: bool, reverse: bool):
        self.low, self.looks, self.reverse = low, looks, reverse
        text = program(low)
        self.size, self._weight = text.size, 1.0 if low.log_sum else text.weight
        self.given = (low.dtype if looks else low.storage).itemsize

    def fits(self, n: int, lines: int) -> bool:
        """Whether matrices of this order, and products of so many lines, are for these kernels."""
        return 0 < max(n, lines) <= SIDE and self._geometry(n, n, True) is not None and (
            self._geometry(n, lines, True) is not None and self._geometry(n, lines, False) is not None
        )

    def prefixes(
        self, P: Any, A: Any, initial: Before = NOTHING, found: Report | None = None, looks: bool = False,
        associative: bool = True,
    ) -> None:
        """P[s, t] ← all products of A[s, 0] … A[s, t], after the initial one, or before it with `reverse`.

        Parameters
        ----------
        P : array, shape (sequences, T, lines, n), or (sequences, T, n, lines) with `reverse`
            Its matrices are runs of memory.
        A : array, shape (sequences, T, n, n)
            Elements of a row lie side by side.
        initial : Before, optional
        found : Report, optional
            Gets what is found in data.
        looks : bool
            Whether to look for what is not an element of A.
        associative : bool
            Whether sequences may be cut.
        """
        batch, steps, n = A.shape[:3]
        lines, across = (P.shape[3] if self.reverse else P.shape[2]), P.shape[3]
        if found:
            found.clear()
        g, length = self._cut(steps, batch, n, lines, associative)
        count, starts = -(-steps // length), None
        if count > 1:
            sums, starts = self._totals(A, length, found, looks), self.low.empty((batch, count, *P.shape[2:]))
            chains(self.low, False, self.reverse).prefixes(starts[:, 1:], sums[:, :-1], initial)
        a, p = Sequences.of(A), Sequences.of(P)
        unit = g.VECTOR * self.given
        how = READS_RUNS * a.are_whole(unit) | LOOKS_AT * (looks and starts is None)
        how |= WRITES_RUNS * (across % g.VECTOR == 0 and p.are_whole(unit))
        self._function("prefixes", g)(
            -(-batch * count // g.groups), 1, *a, p.address, p.step, p.next,
            0 if starts is None else starts.data.ptr, *initial, steps, length, batch, lines, how,
            found.host if found else 0,
        )

    def product(self, A: Any, found: Report | None = None, looks: bool = False, associative: bool = True) -> Any:
        """A[s, 0] ⊗ … ⊗ A[s, T − 1] in storage, of shape (sequences, 1, n, n); parameters as for `prefixes`."""
        batch, steps, n = A.shape[:3]
        if found:
            found.clear()
        _, length = self._cut(steps, batch, n, n, associative)
        sums = self._totals(A, length, found, looks)
        return sums if length == steps else chains(self.low, False, self.reverse).product(sums)

    def _totals(self, A: Any, length: int, found: Report | None, looks: bool) -> Any:
        """The product of each chunk, in storage."""
        batch, steps, n = A.shape[:3]
        count, a = -(-steps // length), Sequences.of(A)
        g = self._geometry(n, n, self._alone(batch * count))
        assert g
        sums = self.low.empty((batch, count, n, n))
        how = READS_RUNS * a.are_whole(g.VECTOR * self.given) | LOOKS_AT * looks
        self._function("totals", g)(
            -(-batch * count // g.groups), 1, *a, sums.data.ptr, steps, length, batch, how, found.host if found else 0,
        )
        return sums

    def _cut(self, steps: int, batch: int, n: int, lines: int, associative: bool) -> tuple[ChainGeometry, int]:
        """How the last launch computes, and the length of chunks: that of the sequence if it is not cut."""
        g = self._geometry(n, lines, False)
        assert g
        chunks = max(multiprocessors() * g.RESIDENT * g.groups // batch, 1)
        length = max(-(-steps // chunks), LEAST_LENGTH)
        if not associative or 2 * length + OVERHEAD >= steps:
            length = steps
        short = self._geometry(n, lines, self._alone(batch * -(-steps // length)))
        assert short
        return short, length

    def _alone(self, chunks: int) -> bool:
        """Whether so few chunks are computed at once that a multiprocessor has room for more threads for each."""
        return chunks <= ALONE * multiprocessors()

    def _geometry(self, n: int, lines: int, alone: bool) -> ChainGeometry | None:
        return chain_geometry(self.size, self._weight, n, lines, alone)

    @lru_cache(256)  # noqa: B019 (kernels live as long as the process)
    def _function(self, name: str, g: ChainGeometry) -> Function:
        return _module(self, g).function(name, g.THREADS)


@lru_cache(1024)
def _module(of: Chains, g: ChainGeometry) -> Module:
    return Module(chain_source(of.low, g, of.looks, of.reverse))


_made: dict[tuple[Any, bool, bool], Chains] = {}


def chains(low: CudaLowering, looks: bool, reverse: bool) -> Chains:
    """The kernels of a lowering; threads share them."""
    key = low, looks, reverse
    return _made.get(key) or _made.setdefault(key, Chains(*key))
