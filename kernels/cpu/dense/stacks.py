"""Products and closures of stacks of small matrices: each lane of a vector takes another matrix, or all lanes a row.

The smallest matrices share vectors: as many of them as a vector has lanes are multiplied or closed at once
(stacks_template.py). Larger ones, and those with a pivot without a star, are computed row by row (lanes_template.py).
Both apply the same operations in the same order to every entry, so answers are the same bits.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np

from semiring.kernels.cpu.compile.price import has_numba
from semiring.kernels.cpu.compile.program import imports_of
from semiring.kernels.cpu.compile.rules import LANES, vectors
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import parts_worth, ranges, share
from semiring.machine.threads import thread_count

from .lanes import MOST_TERMS, OfStacks, Small, fits, geometry, scalar_and_vectors, small

TEMPLATE = Path(__file__).with_name("stacks_template.py")
TOGETHER = 8  # rows of the largest matrix that is closed in lanes, and columns of the largest product
SIDE, PLACES = 32, 1024  # rows and columns of the factors of such products, and entries of the left one
OTHERS = SIDE * TOGETHER  # entries of the right one and of the product
PACKED = (2, 4)  # orders of matrices that are copied, so that a vector holds several of their rows
COPIED = 128 << 10  # bytes of such matrices at once
AGAIN = -2  # marks matrices that are closed row by row
MOST_LANES = 32  # of vectors that are transposed; more take long to compile
ROOM = 128 << 10  # bytes of slots for a factor on a thread's stack, of which some systems give little


class Together(Small):
    """The compiled functions of a lowering for matrices that lanes share: see stacks_template.py.

    Parameters
    ----------
    lowering : Lowering
        Of machine numbers or records of them.
    """

    def __init__(self, lowering: Lowering):
        self.template = TEMPLATE
        text, parts, rules = scalar_and_vectors(lowering), lowering.components, replace(LANES, fused={})
        own = "\n\n".join([
            vectors("star_vectors", "a", lowering.star.outputs, parts, rules=rules),
            vectors("defined_vectors", "a", [lowering.defined], parts, [np.dtype(bool)], rules),
        ])
        head = "\n\nfrom semiring.kernels.cpu.compile.lane_stacks import Stacks\n\n"
        head += f"MATRICES, SLOTS, SIDE, WIDTH = {matrices(parts)}, {places(parts)}, {SIDE}, {TOGETHER}\n"
        head += f"OTHERS = {places(parts, OTHERS)}\n"
        head += "apart = njit(error_model=\"numpy\", no_cpython_wrapper=True, no_cfunc_wrapper=True)\n\n"
        self.program = replace(text, name=f"stacks{text.name[5:]}", prelude=text.prelude + imports_of(own) + own + head)


@functools.lru_cache(1024)
def together(lowering: Lowering) -> Together:
    """The functions of a lowering."""
    return Together(lowering)


PRODUCTS, CLOSURES = OfStacks(together, "product"), OfStacks(together, "close")


@functools.lru_cache(1024)
def matrices(parts: tuple[np.dtype, ...]) -> int:
    """How many matrices share vectors: the lanes of a vector of the widest component."""
    sizes = [part.itemsize for part in parts]
    return max(min(geometry(parts)[0] * min(sizes) // max(sizes), MOST_LANES), 1)


def slot(parts: tuple[np.dtype, ...]) -> int:
    """Bytes of an element in all lanes."""
    return matrices(parts) * sum(part.itemsize for part in parts)


def places(parts: tuple[np.dtype, ...], most: int = PLACES) -> int:
    """Entries of a factor, at most: fewer records of many components have room."""
    return min(most, ROOM // slot(parts))


def fits_in_lanes(lowering: Lowering) -> bool:
    """Whether small matrices can share vectors."""
    return fits(lowering) and lowering.log_sum is None


def closes_in_lanes(lowering: Lowering, n: int) -> bool:
    """Whether closures of matrices of order n go in lanes."""
    return n <= TOGETHER and has_numba() and closes(lowering) and n * n <= places(lowering.components, OTHERS)


@functools.lru_cache(1024)
def are_shared(lowering: Lowering, m: int, k: int, n: int) -> bool:
    """Whether products of m × k and k × n matrices are faster if each lane takes another one, as has been measured.

    Copies into lanes take as long as the work on long rows. Matrices whose rows fill a vector together need none; but
    rows that end within a vector take long where the processor has no masks.
    """
    count, _, masked = geometry(lowering.components)
    if not fits_in_lanes(lowering) or not (0 < m <= SIDE and 0 < k <= SIDE and 0 < n <= TOGETHER):
        return False
    if m * k > places(lowering.components) or max(m, k) * n > places(lowering.components, OTHERS):
        return False
    if n <= 2:
        return not m == k == n == 2
    if not masked and n % count:
        return True
    longest = 3 + matrices(lowering.components) // 4 if len(lowering.components) == 1 else 3
    return max(m, k, n) <= longest and not (m == k == n and n in (*PACKED, TOGETHER))


def product_purpose(lowering: Lowering, m: int, k: int, n: int) -> str:
    """The purpose of compiled code that multiplies m × k and k × n matrices."""
    return "stacks in lanes" if has_numba() and are_shared(lowering, m, k, n) else "stacks"


def closure_purpose(lowering: Lowering, n: int) -> str:
    """The purpose of compiled code that closes matrices of order n."""
    return "closures in lanes" if closes_in_lanes(lowering, n) else "closures of stacks"


def closes(lowering: Lowering) -> bool:
    """Whether closures of stacks go by vectors."""
    return fits(lowering) and lowering.log_sum is None and not lowering.algebra.product_only


def close_stack(lowering: Lowering, D: np.ndarray, look: bool = False) -> np.ndarray | None:
    """D[s] ← D[s]* for every s; −1, or the first pivot without a star, for each.

    Any strides; D has at most `SIDE` rows. Results do not depend on the number of threads. With `look`, for closures
    in lanes, None if an entry is not an element; then D holds anything.
    """
    from semiring.kernels.cpu.compile.jit import from_python  # it imports Numba

    failed, n, threads = np.full(len(D), -1, np.int64), D.shape[1], thread_count()
    pieces = ranges(len(D), max(parts_worth(len(D) * n**3, threads), len(D) * n**3 // MOST_TERMS))
    strange: list[int] = []

    def rest(first: int, last: int) -> tuple[int, ...]:
        return D.ctypes.data + first * D.strides[0], *D.strides, failed.ctypes.data + 8 * first, last - first, n

    if not closes_in_lanes(lowering, n):
        close = from_python(small(lowering).close, 8)
        share(lambda first, last: close(*rest(first, last), 1), pieces, threads)
        return failed
    close_together = from_python(together(lowering).close, 9)

    def part(first: int, last: int) -> None:
        if not strange and close_together(*rest(first, last), look, 1) >= 0:
            strange.append(first)

    share(part, pieces, threads)
    if strange:
        return None
    for s in np.flatnonzero(failed == AGAIN).tolist():
        from_python(small(lowering).close, 8)(*rest(s, s + 1), 1)
    return failed


def multiply_stack(
    lowering: Lowering, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool, look: bool
) -> bool:
    """C[s] ← A[s] ⊗ B[s], or C[s] ⊕ A[s] ⊗ B[s]; whether all entries are elements, where `look` asks for it.

    Any strides; A and B may repeat a matrix by a zero stride. C overlaps neither A nor B; it holds anything where an
    entry is not an element. Results do not depend on the number of threads.
    """
    from semiring.kernels.cpu.compile.jit import from_python  # it imports Numba

    (batch, m, n), k = C.shape, A.shape[2]
    shared = are_shared(lowering, m, k, n)
    product = from_python((together(lowering) if shared else small(lowering)).product, 19)
    strange: list[int] = []

    def some(count: int, *stacks: np.ndarray) -> None:
        if not strange:
            sides = [x for X in stacks for x in (X.ctypes.data, *X.strides)]
            if product(*sides, count, m, k, n, accumulate, look, 1) >= 0:
                strange.append(count)

    turned = not shared and _are_turned(lowering, C, A, B)
    block = max(COPIED // (n * n * C.itemsize), 1) if turned else batch

    def part(first: int, last: int) -> None:
        for begin in range(first, last, block):
            end = min(begin + block, last)
            left, right = (_in_rows(X, begin, end) if turned else X[begin:end] for X in (A, B))
            some(end - begin, left, right, C[begin:end])

    threads = thread_count()
    parts = max(parts_worth(batch * m * n * k, threads), batch * m * n * k // MOST_TERMS)
    share(part, ranges(batch, parts), threads)
    return not strange


def _are_turned(lowering: Lowering, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> bool:
    """Whether vectors would hold several rows of each matrix, if it were not for the layout of A or B.

    From order 8 on copies take as long as they save.
    """
    n = C.shape[2]
    if n not in PACKED or not C.shape[1] == A.shape[2] == n <= geometry(lowering.components)[0]:
        return False
    in_rows = n * C.itemsize, C.itemsize
    return C.strides[1:] == in_rows and not A.strides[1:] == B.strides[1:] == in_rows


def _in_rows(X: np.ndarray, begin: int, end: int) -> np.ndarray:
    """Some matrices of a stack, each in C order; copied if they are not."""
    if X.strides[1:] == (X.shape[2] * X.itemsize, X.itemsize):
        return X[begin:end]
    if X.strides[0] == 0:
        return np.broadcast_to(np.ascontiguousarray(X[:1]), (end - begin, *X.shape[1:]))
    return np.ascontiguousarray(X[begin:end])
