"""The ladder on a CPU: from three loops to what `semiring.closure` does, each rung one change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocked import blocked
from semiring.algorithms.elimination import elimination
from semiring.algorithms.floyd_warshall import floyd_warshall
from semiring.algorithms.history.floyd import floyd
from semiring.algorithms.history.tiled import tiled_squaring
from semiring.algorithms.history.warshall import warshall
from semiring.algorithms.r_kleene import r_kleene
from semiring.algorithms.squaring import squaring
from semiring.api import closure
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.cpu.bits.lowering import packed_bits
from semiring.kernels.cpu.compile.price import when
from semiring.kernels.cpu.dense.engine import DenseKernel
from semiring.kernels.cpu.history.plain import PlainKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.boolean import is_boolean
from semiring.kernels.lowering.general import general
from semiring.machine.threads import thread_count
from semiring.operands.dense import Dense
from semiring.solvers.dense.schedules import BLOCKED_TILE, SCHEDULES, choose_method

from .rung import Rung, finished, unless_idempotent

TILE = 64  # rows of a tile of plain loops
Close = Callable[[np.ndarray, Semiring], np.ndarray]


def _closing(run: Callable[[Any, Lowering], None], suited: bool = False) -> Close:
    """A rung that closes elements in storage in place; they are stored as they came, or as is `suited` to the data."""

    def close(A: np.ndarray, S: Semiring) -> np.ndarray:
        given = Dense(np.ascontiguousarray(A), S)
        facts, low = given.form(len(A), packed=suited)
        if low.kind == "numba" and not suited and given.dtype.kind == "f" and given.dtype.itemsize > 2:
            low = general(S, given.dtype)
        work = low.encode(given.array, True)
        run(work, low)
        return finished(work, given.array, facts, low)

    return close


def _close_bits(A: np.ndarray, S: Semiring) -> np.ndarray:
    from semiring.kernels.cpu.history.rows_of_bits import BitRowsKernel  # it loads Numba

    low = packed_bits(S, A.dtype)
    work = low.encode(A, True)
    warshall(work, BitRowsKernel())
    return low.decode(work)


def _close_as_the_library(A: np.ndarray, S: Semiring) -> np.ndarray:
    return np.asarray(closure(A, S, device="cpu"))


def _plain(low: Lowering, entries: bool = False) -> Any:
    """Plain loops, of Python for its objects."""
    if low.kind == "objects":
        return build_kernel(low)
    return PlainKernel(low, entries)


def _one_core(low: Lowering) -> Any:
    """The library's products on one core, in registers and in packed tiles, not by a library of linear algebra."""
    if low.kind == "objects":
        return build_kernel(low)
    engine = DenseKernel(low)
    engine.threads = 1
    return engine


def _all_cores(low: Lowering) -> Any:
    """The same on all cores."""
    engine = _one_core(low)
    if low.kind != "objects":
        engine.threads = thread_count(None)
    return engine


def _floyd(A: Any, low: Lowering) -> None:
    if low.kind == "objects":
        floyd_warshall(A, _plain(low), len(A))  # their engine has the three loops
    else:
        floyd(A, _plain(low))


def _halves(A: Any, engine: Any) -> None:
    r_kleene(A, engine, engine.tile)


def _as_the_engine_is_best(A: Any, low: Lowering) -> None:
    engine = build_kernel(low)
    method, tile, _reasons = choose_method("auto", low, A.shape[0], engine, None)
    SCHEDULES[method](A, engine, tile)


def _any(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    """Nothing is refused but what cannot be compiled here."""
    if when() == "never" and S.traced is not None and dtype.kind != "O":
        return "it runs compiled code, and SEMIRING_COMPILE says never, or Numba is missing"
    return None


def _idempotent(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    return unless_idempotent(S) or _any(S, dtype, n)


def _bits(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    if dtype != np.bool_ or S.traced is None or not is_boolean(S, dtype):
        return f"its elements are single bits, ⊕ is or and ⊗ is and; over {S.name} in {dtype} they are not"
    return _any(S, dtype, n)


CPU_RUNGS: tuple[Rung, ...] = (
    Rung(
        "floyd", "Floyd: three loops", 1962,
        "R. W. Floyd, Algorithm 97: shortest path, Communications of the ACM 5(6), 1962",
        "Vertex after vertex is allowed inside walks: a_ij becomes the better of a_ij and a_ik ⊗ a_kj.",
        "Each of the n rounds reads and writes the whole matrix: once that leaves the cache, memory is what takes the "
        "time; one core works, and it loads and stores for every term.",
        "Floyd's is for distances, and skips rows without a walk to k. The star at the pivot makes it right for any "
        "algebra, and ⊗ itself knows what an absent edge is.",
        "cpu", "semiring.algorithms.history.floyd", _any, _closing(_floyd),
    ),
    Rung(
        "warshall", "Warshall: rows of bits", 1962,
        "S. Warshall, A theorem on Boolean matrices, Journal of the ACM 9(1), 1962",
        "Where elements are truth values, a row is united with another a whole machine word at a time.",
        "Reachability alone; each round still passes over the whole matrix, of one bit an entry.",
        "Words have 64 bits here. The diagonal is set last: the closure has the identity in it.",
        "cpu", "semiring.algorithms.history.warshall", _bits, _close_bits,
    ),
    Rung(
        "squaring", "Repeated squaring, entry by entry", 1976,
        "E. L. Lawler, Combinatorial optimization: networks and matroids, Holt, Rinehart and Winston, 1976",
        "1 ⊕ A squared i times has all walks of at most 2^i edges: log₂ n products, and no round waits for a vertex.",
        "log₂ n times the terms of Floyd's; columns of the right factor are read with a stride, so that a cache line "
        "serves one element.",
        "It stops when a product changes nothing. Entries are computed one after the other, as a first program would.",
        "cpu", "semiring.algorithms.squaring", _idempotent,
        _closing(lambda A, low: squaring(A, _plain(low, entries=True), TILE)),
    ),
    Rung(
        "carre", "Carré: elimination, then substitution", 1979,
        "B. Carré, Graphs and networks, Oxford University Press, 1979",
        "LU decomposition without pivoting over any closed semiring: a third of the work makes factors, which "
        "solve for any right-hand side, and substitution makes the whole closure of them.",
        "The whole closure needs all the terms again; panels are narrow.",
        f"Pivots are blocks of {TILE} rows here.",
        "cpu", "semiring.algorithms.elimination", _any,
        _closing(lambda A, low: elimination(A, _plain(low), TILE)),
    ),
    Rung(
        "tiled-squaring", "Repeated squaring, its products in tiles", 1991,
        "M. S. Lam, E. E. Rothberg, M. E. Wolf, The cache performance and optimizations of blocked algorithms, "
        "ASPLOS IV, 1991",
        "The products of repeated squaring in tiles that stay in the cache: each element is read n / t times from "
        "memory instead of n times.",
        "Still log₂ n times the terms of Floyd's, and one core that loads and stores for every term.",
        f"Tiles have {TILE} rows, and are not copied.",
        "cpu", "semiring.algorithms.history.tiled", _idempotent,
        _closing(lambda A, low: tiled_squaring(A, _plain(low), TILE)),
    ),
    Rung(
        "venkataraman", "Venkataraman, Sahni, Mukhopadhyaya: blocked", 2003,
        "G. Venkataraman, S. Sahni, S. Mukhopadhyaya, A blocked all-pairs shortest-paths algorithm, ACM Journal of "
        "Experimental Algorithmics 8, 2003",
        "Pivots are blocks: the block is closed, its rows and columns are multiplied by it, and all else is updated by "
        "products, n / t rounds instead of n.",
        "The matrix passes through the cache n / t times, and the terms of a tile are plain loops.",
        f"Tiles have {TILE} rows, and any n is taken. C is multiplied by the pivot after the rest was updated, which "
        "makes it right without idempotence.",
        "cpu", "semiring.algorithms.blocked", _any,
        _closing(lambda A, low: blocked(A, _plain(low), TILE)),
    ),
    Rung(
        "r-kleene", "D'Alberto and Nicolau: halves of halves", 2007,
        "P. D'Alberto, A. Nicolau, R-Kleene: a high-performance divide-and-conquer algorithm for the all-pair shortest "
        "path for densely connected networks, Algorithmica 47(2), 2007",
        "The closure of a matrix from the closures of its halves and six products: half of all terms are in the two "
        "largest products, so that it suits any size of cache.",
        "As fast as its products, which are plain loops here.",
        f"Blocks of {TILE} rows are closed directly. The order of the steps lets it work in place over any algebra; "
        "there it needs idempotence.",
        "cpu", "semiring.algorithms.r_kleene", _any,
        _closing(lambda A, low: r_kleene(A, _plain(low), TILE)),
    ),
    Rung(
        "iterative", "Blocks on fast products, pivot after pivot", 2010,
        "A. Buluç, J. R. Gilbert, C. Budak, Solving path problems on the GPU, Parallel Computing 36(5–6), 2010",
        "The same blocks on products that keep a tile of C in registers, and packed panels of A and B in the cache: "
        "what the recursion is to be compared with.",
        "A product has as many steps of k as a block has rows, and packing is repaid by few of them; one core.",
        f"They measure on a GPU; here it is one core, with blocks of {BLOCKED_TILE} rows.",
        "cpu", "semiring.algorithms.blocked", _any,
        _closing(lambda A, low: blocked(A, _one_core(low), BLOCKED_TILE)),
    ),
    Rung(
        "buluc-gilbert-budak", "Buluç, Gilbert, Budak: recursion cast into products", 2010,
        "A. Buluç, J. R. Gilbert, C. Budak, Solving path problems on the GPU, Parallel Computing 36(5–6), 2010",
        "The recursion by halves on such products: most terms are in products as large as half the matrix.",
        "One core; the smallest blocks are closed a pivot at a time.",
        "They measure on a GPU; here it is one core, and products are generated for the algebra.",
        "cpu", "semiring.algorithms.r_kleene", _any,
        _closing(lambda A, low: _halves(A, _one_core(low))),
    ),
    Rung(
        "all-cores", "This library: tiles of a product on all cores", 2026,
        "semiring, docs/design.md",
        "Tiles of C are handed out to threads by a counter; every entry takes its terms in the same order, so that "
        "answers do not depend on the number of threads.",
        "Instructions: for distances a sum and a minimum each term.",
        "",
        "cpu", "semiring.algorithms.r_kleene", _any,
        _closing(lambda A, low: _halves(A, _all_cores(low))),
    ),
    Rung(
        "storage", "This library: storage that suits the data", 2026,
        "semiring, docs/design.md",
        "What the expressions and facts about the data allow: whole numbers that sort like floats, sums of integers "
        "without a test for infinity, 64 truth values a word, products by BLAS.",
        "Facts are found by a pass over the matrix, and encoding is another.",
        "",
        "cpu", "semiring.kernels.choose", _any,
        _closing(_as_the_engine_is_best, suited=True),
    ),
    Rung(
        "closure", "This library: semiring.closure", 2026,
        "semiring, docs/design.md",
        "Also chooses the schedule and its tile for the engine, and whether compiling repays.",
        "The limits of the machine: docs/site/benchmarks.md has the share that is reached.",
        "",
        "cpu", "semiring.solvers.dense.schedules", lambda S, dtype, n: None, _close_as_the_library,
    ),
)
