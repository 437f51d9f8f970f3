"""The ladder on a GPU: from a thread for each vertex to what `semiring.closure` does, each rung one change."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocked import blocked
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.elimination import elimination
from semiring.algorithms.history.harish_narayanan import Unsettled, harish_narayanan
from semiring.algorithms.history.katz_kider import katz_kider
from semiring.algorithms.history.kemp import kemp
from semiring.algorithms.history.out_of_core import out_of_core
from semiring.algorithms.history.tran import floyd_warshall, relaxation
from semiring.algorithms.history.zuccato_lena import in_parts
from semiring.algorithms.labels import Dense as DenseGraph
from semiring.algorithms.r_kleene import r_kleene
from semiring.algorithms.squaring import squaring
from semiring.api import closure
from semiring.errors import LawError, SemiringError
from semiring.kernels.cuda.choose import array_kernel, can_be_ranked, choose, general_on_device
from semiring.kernels.cuda.choose import kernel as kernel_of
from semiring.kernels.cuda.compile.launch import current_device
from semiring.kernels.cuda.history.blocks import KATZ_KIDER, PartsKernel, PhaseKernel, RecordedParts, Variant
from semiring.kernels.cuda.history.edges import WIDEST, HarishNarayananKernel, KempKernel, TranKernel
from semiring.kernels.cuda.history.forms import authors_form, tile_of
from semiring.kernels.cuda.history.host import HostMatrix
from semiring.kernels.cuda.history.matrix import ElementsKernel, PivotKernel
from semiring.kernels.cuda.history.steps import in_turn
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import DeviceFacts, Facts
from semiring.kernels.lowering.boolean import is_boolean
from semiring.kernels.lowering.comparing import only_compares
from semiring.kernels.lowering.sums import widen
from semiring.operands.convert import as_sparse
from semiring.operands.device import Device
from semiring.operands.devices import to_host
from semiring.operands.operand import order_of_one
from semiring.solvers.cycles import improving_through
from semiring.solvers.dense import narrow
from semiring.solvers.dense.schedules import SCHEDULES, choose_method, close_best, resolve_method
from semiring.solvers.task import Task, compute, options

from .rung import Rung, finished, unless_idempotent

Run = Callable[[Any, CudaLowering], Any]  # elements in storage, which may be overwritten → those of the closure
Form = Callable[[Semiring, np.dtype, Facts, int], CudaLowering]

BASE = 512  # rows of a block that Kleene's recursion closes in three phases a round
PANEL = 512  # rows of a pivot block of the iterative form
OFFLOADED = 2048  # rows of the blocks of a matrix that stays on the host, at most
UNTIL_NOW = DeviceFacts(largest=1, least=0)  # data that suit every form: nothing below zero, nothing above one
GROWS = ("rounding makes a cycle of weight one look better than it is; semiring.closure finds that out and squares the "
         "matrix instead, in which errors do not grow")


def _closing(run: Run, form: Form = authors_form) -> Callable[[Any, Semiring], Any]:
    """A rung that closes elements in storage; the form in which they are stored is the authors' unless said."""

    def close(A: Any, S: Semiring) -> Any:
        given = Device(A, S, "A")
        n, facts = order_of_one(given.shape), given.facts
        low = form(S, given.dtype, facts, n)
        if not n:
            return given.array.copy()
        return finished(run(low.encode(given.array, True), low), given.array, facts, low)

    return close


def _searching(run: Run) -> Callable[[Any, Semiring], Any]:
    """A rung that relaxes edges until nothing changes; where that does not end a cycle is to blame."""
    close_or_stop = _closing(run)

    def close(A: Any, S: Semiring) -> Any:
        try:
            return close_or_stop(A, S)
        except Unsettled as e:
            given = Device(A, S, "A")
            graph = DenseGraph(widen(S, to_host(given.array), given.facts))
            error = improving_through(S, graph, list(e.sources), given.facts, None, given.dtype, None)
            raise error or SemiringError(GROWS) from None

    return close


def _checked(kernel: PhaseKernel | PivotKernel) -> Any:
    pivot = kernel.failed()
    if pivot >= 0:
        raise UndefinedStar(pivot)
    return kernel.answer


def _harish_narayanan(A: Any, low: CudaLowering) -> Any:
    kernel = HarishNarayananKernel(low, A)
    harish_narayanan(kernel)
    return kernel.answer


def _kemp(A: Any, low: CudaLowering) -> Any:
    kernel = KempKernel(low, A)
    kemp(kernel)
    return kernel.answer


def _relaxation(A: Any, low: CudaLowering) -> Any:
    kernel = TranKernel(low, A)
    relaxation(kernel)
    return kernel.answer


def _pivots(A: Any, low: CudaLowering) -> Any:
    if low.unit_pivots:
        array_kernel(low).add_one(A)
    kernel = PivotKernel(low, A)
    floyd_warshall(kernel)
    return _checked(kernel)


def _phases(A: Any, low: CudaLowering, variant: Variant = KATZ_KIDER) -> Any:
    kernel = PhaseKernel(low, A, variant)
    katz_kider(kernel)
    return _checked(kernel)


def _parts(A: Any, low: CudaLowering) -> Any:
    kernel = PartsKernel(low, A, PADDED)
    kernel.run(in_parts)
    return _checked(kernel)


@lru_cache(1)  # it holds a matrix
def _recorded(low: CudaLowering, n: int, device: int) -> RecordedParts:
    return RecordedParts(low, n, PADDED, in_parts)


def _graph(A: Any, low: CudaLowering) -> Any:
    pivot = _recorded(low, len(A), current_device()).close(A)
    if pivot >= 0:
        raise UndefinedStar(pivot)
    return A


def _elements(low: CudaLowering, product: str = "tiled_product") -> ElementsKernel:
    return ElementsKernel(low, product, katz_kider, BASE)


def _out_of_core(A: Any, low: CudaLowering) -> Any:
    n, kernel = len(A), _elements(low)
    kernel.tile = side = min(OFFLOADED, -(-n // 4))
    matrix = HostMatrix(n, A.dtype, side)
    matrix.take(A)
    out_of_core(matrix, kernel)
    matrix.give(A)
    return A


def _squaring(A: Any, low: CudaLowering, product: str) -> Any:
    squaring(A, _elements(low, product), BASE)
    return A


def _by_halves(A: Any, low: CudaLowering) -> Any:
    r_kleene(A, _elements(low), BASE)
    return A


def _on_registers(A: Any, low: CudaLowering, schedule: Callable[[Any, Any, int], None], tile: int) -> Any:
    """By products that keep a tile of C in registers, each step after the one before."""
    schedule(A, in_turn(array_kernel(low)), tile)
    return A


def _by_engine(A: Any, low: CudaLowering, ahead: bool) -> Any:
    """As the engine closes a matrix by itself, with look-ahead or without."""
    kernel = array_kernel(low)
    close_best(A, kernel if ahead else in_turn(kernel))
    return A


def _packed(A: Any, low: CudaLowering) -> Any:
    engine = kernel_of(low)
    method, tile, _reasons = choose_method("auto", low, A.shape[0], engine, None)
    SCHEDULES[method](A, engine, tile)
    return A


def _form_of_data(S: Semiring, dtype: np.dtype, facts: Facts, n: int) -> CudaLowering:
    return choose(S, dtype, facts, n, in_place=False)


def _three_operands(S: Semiring, dtype: np.dtype, facts: Facts, n: int) -> CudaLowering:
    low = _form_of_data(S, dtype, facts, n)
    if n and dtype.kind == "f" and not low.non_negative:
        raise SemiringError("instructions that compare three floats as integers are for data without numbers below "
                            "zero, and no other can arise; A is not so. The rung 'registers' takes it")
    return low


def _bits(S: Semiring, dtype: np.dtype, facts: Facts, n: int) -> CudaLowering:
    if not facts.two_valued:
        raise SemiringError(f"{S.name}: elements are bits where each of them is zero or one, and A has others")
    return choose(S, dtype, facts, n, in_place=False, packed=True)


def _sixteen_bits(A: Any, S: Semiring) -> Any:
    given = Device(A, S, "A")
    n, facts = order_of_one(given.shape), given.facts
    small = isinstance(facts, DeviceFacts) and narrow.sums_lengths(S, given.dtype, facts)
    closure = narrow.saturating_closure if small else narrow.ranked_closure
    short = closure(S, given.array, close_best) if n else given.array.copy()
    if short is None:
        raise SemiringError(f"{S.name}: 16 bits are not enough: there are more distinct values, or longer distances; "
                            "semiring.closure goes on with more")
    return short


def _sparse(A: Any, S: Semiring) -> Any:
    task = Task("closure", S, (as_sparse(Device(A, S, "A")),), options(method="sparse", device="gpu"))
    return compute(task)


def _as_the_library(A: Any, S: Semiring) -> Any:
    return closure(A, S)


def _any(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    """What the GPU cannot compute, or shared memory cannot hold."""
    try:
        low = authors_form(S, dtype, Facts(), max(n, 1))
        tile_of(low.storage.itemsize)
    except SemiringError as e:
        return str(e)
    return None


def _idempotent(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    return unless_idempotent(S) or _any(S, dtype, n)


def _selective(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    if not S.selective:
        return (f"a label takes the better of two walks, and in {S.name} "
                f"{S._law_report.flags['selective']}: what ⊕ makes of two walks is neither of them")
    return _any(S, dtype, n)


def _atomic(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    reason = _selective(S, dtype, n)
    if reason is not None:
        return reason
    size = general_on_device(S, dtype).storage.itemsize
    if size > WIDEST:
        return (f"several threads improve a label at once, which takes an element that is compared and swapped in one "
                f"step: of at most {WIDEST} bytes, and these have {size}")
    return None


def _instructions(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    reason = _any(S, dtype, n)
    if reason is None and not (S.is_tropical and dtype.kind in "iu"):
        low = _form_of_data(S, dtype, UNTIL_NOW, max(n, 1))
        if not low.non_negative:
            return (f"instructions with three operands take the least or the greatest of integers, and of floats of "
                    f"single precision that are not only compared; over {S.name} in {dtype} there are none")
    return reason


def _ordered(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    reason = _any(S, dtype, n)
    if reason is None and not (dtype.kind == "f" and only_compares(general_on_device(S, dtype))):
        return (f"floats may be replaced by integers of the same order where ⊕ and ⊗ do nothing but compare; over "
                f"{S.name} in {dtype} they do not")
    return reason


def _ahead(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    if not S.idempotent:
        return (f"the next pivot is closed while X still needs C, which is scaled already: right where D D = D, and in "
                f"{S.name} {S._law_report.flags['idempotent']}")
    return _any(S, dtype, n)


def _short(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    reason = _any(S, dtype, n)
    if reason is None and not (can_be_ranked(S, dtype) or narrow.sums_lengths(S, dtype, UNTIL_NOW)):
        return (f"16 bits are for values that are only compared, and for sums of integers under min; over {S.name} in "
                f"{dtype} elements are neither, or have no more than 16 bits")
    return reason


def _boolean(S: Semiring, dtype: np.dtype, n: int) -> str | None:
    if dtype.kind == "O" or not is_boolean(S, dtype):
        return f"its elements are single bits, ⊕ is or and ⊗ is and; over {S.name} in {dtype} they are not"
    return _any(S, dtype, n)


PADDED = Variant(down=True, padded=True)
_HARISH = ("P. Harish, P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA, High Performance "
           "Computing, 2007")
_KEMP = "J. M. Kemp, All-pairs shortest path algorithms using CUDA, thesis, Durham University, 2012"
_TRAN = ("Q.-N. Tran, Designing efficient many-core parallel algorithms for all-pairs shortest-paths using CUDA, ITNG, "
         "2010")
_KATZ = "G. J. Katz, J. T. Kider, All-pairs shortest-paths for large graphs on the GPU, Graphics Hardware, 2008"
_ZUCCATO = "F. Zuccato, E. Lena, a project in parallel architectures, 2022; no publication is known to us"
_PANDEY = ("M. Pandey, S. Sharma, OpenCL parallel blocked approach for solving all pairs shortest path problem on GPU, "
           "2015")
_BULUC = "A. Buluç, J. R. Gilbert, C. Budak, Solving path problems on the GPU, Parallel Computing 36(5–6), 2010"
_DENG = "C.-L. Deng's closures by repeated squaring on a GPU; no publication is known to us"
_OURS = "semiring, docs/cuda.md"
_STAR = "The star at the pivot, for any algebra, and columns that are scaled last where ⊕ is not idempotent."
_DOWN = ("The later versions show which threads have which elements: adjacent threads read a column, so each has "
         "one.")
_SIDE = "Blocks are as large as shared memory and a block of threads allow today: 32 rows for elements of 4 or 8 bytes."

GPU_RUNGS: tuple[Rung, ...] = (
    Rung(
        "harish-narayanan", "Harish and Narayanan: a thread for each vertex", 2007, _HARISH,
        "From one source at a time, every vertex that improved offers its neighbours a walk, all vertices at once; a "
        "second launch takes what was offered, so that no thread reads what others are writing.",
        "Two launches and a copied flag a round, and as many rounds as best walks have edges, for each of n sources. "
        "Vertices with many edges keep their warp waiting, and the labels of neighbours lie scattered.",
        "Two vertices may offer a third one walks at the same time: the better is taken by comparing and swapping, for "
        "any ⊕ that selects. Edges are gathered from the matrix before. Where labels still improve after n rounds, a "
        "cycle does.",
        "gpu", "semiring.algorithms.history.harish_narayanan", _atomic, _searching(_harish_narayanan),
    ),
    Rung(
        "katz-kider", "Katz and Kider: blocked in three phases", 2008, _KATZ,
        "Blocks of the matrix in shared memory: the pivot's block is closed, its row and column are multiplied by it, "
        "and all else takes the product of these.",
        "Every term reads two elements from shared memory, which gives a warp one of each a cycle: the unit that adds "
        "and compares waits. The first phase has one block of threads, for which all others wait.",
        f"{_SIDE} A thread has one element. {_STAR}",
        "gpu", "semiring.algorithms.history.katz_kider", _any, _closing(_phases),
    ),
    Rung(
        "tran-floyd", "Tran: Floyd–Warshall, a launch for each vertex", 2010, _TRAN,
        "All n² elements at once look whether a walk by way of vertex k is better, for one k a launch.",
        "Every launch reads and writes the whole matrix: memory takes the time once the caches do not hold it, and n "
        "launches do for small matrices.",
        "Where stars are not all 1, the launch writes another matrix than it reads, since pivots change their rows.",
        "gpu", "semiring.algorithms.history.tran", _any, _closing(_pivots),
    ),
    Rung(
        "tran-relaxation", "Tran: all pairs relaxed at once", 2010, f"{_TRAN}; as {_KEMP} describes it",
        "A thread for each pair of a source and a vertex looks at the edges into the vertex, until nothing changes.",
        "As many rounds as the longest best walk has edges, each of n times the number of edges, whether anything can "
        "still improve there or not.",
        "Labels are read from one matrix and written to another; edges lie in compressed columns; a flag says whether "
        "anything changed.",
        "gpu", "semiring.algorithms.history.tran", _selective, _searching(_relaxation),
    ),
    Rung(
        "deng-naive", "Deng: repeated squaring, every operand from memory", 2010, _DENG,
        "1 ⊕ A is squared until nothing changes: log₂ n products, in which no element waits for another.",
        "log₂ n times the terms of Floyd's, and two loads from memory for each, which the caches serve as they can.",
        "A thread for each element of the product; after each one a launch compares both matrices.",
        "gpu", "semiring.algorithms.squaring", _idempotent, _closing(partial(_squaring, product="naive_product")),
    ),
    Rung(
        "deng", "Deng: repeated squaring by tiles in shared memory", 2010, _DENG,
        "The same with tiles of both operands in shared memory, so that each element is loaded once for a tile.",
        "Still log₂ n times the terms of Floyd's; shared memory gives two elements for each term.",
        _SIDE,
        "gpu", "semiring.algorithms.squaring", _idempotent, _closing(partial(_squaring, product="tiled_product")),
    ),
    Rung(
        "buluc-gilbert-budak-iterative", "Buluç, Gilbert, Budak: block after block", 2010, _BULUC,
        "Pivots are blocks of many rows, and nearly all work is in products that keep a tile of the result in "
        "registers: what their recursion is compared with.",
        "Products have no more steps than a block has rows, and those of the panels are narrow.",
        f"Blocks of {PANEL} rows. Products and the closing of blocks are this library's, for the algebra at hand, in "
        "the general form; there they are written for shortest paths, after V. Volkov and J. Demmel's.",
        "gpu", "semiring.algorithms.blocked", _any,
        _closing(partial(_on_registers, schedule=blocked, tile=PANEL)),
    ),
    Rung(
        "buluc-gilbert-budak-gpu", "Buluç, Gilbert, Budak: recursion cast into products", 2010, _BULUC,
        "The closure of halves, and products that join them: most terms are in products of half the order, which run "
        "at the rate of dense linear algebra.",
        "The smallest blocks are closed one after the other, while nothing else can be done; a sum and a comparison "
        "are two instructions.",
        "Columns wait until the rest has used them, which makes it right in place without idempotence; blocks of 1,024 "
        "rows are closed by this library's engine.",
        "gpu", "semiring.algorithms.r_kleene", _any, _closing(partial(_on_registers, schedule=r_kleene, tile=1024)),
    ),
    Rung(
        "buluc-gilbert-budak-lu", "Buluç, Gilbert, Budak: the same products for elimination", 2010, _BULUC,
        "LU decomposition without pivoting is the same elimination: factors by a third of the work, then the closure "
        "of them.",
        "The closure of the factors takes the other two thirds, on narrow panels.",
        f"The factors are those of 1 ⊖ A, so that over the reals (1 − A)⁻¹ comes out. Panels have {PANEL} rows, pivot "
        "after pivot; their recursion on factors is not repeated.",
        "gpu", "semiring.algorithms.elimination", _any,
        _closing(partial(_on_registers, schedule=elimination, tile=PANEL)),
    ),
    Rung(
        "kemp", "Kemp: one array, several sources at once", 2012, _KEMP,
        "An atomic minimum replaces the second array and the second launch; sources are done together, and the flag "
        "lies where the host can read it.",
        "As many rounds as best walks have edges; improvements of the same vertex wait for each other.",
        "The minimum is any ⊕ that selects, by comparing and swapping. So many sources are done at once as have about "
        "four million labels. Marks are of two kinds, for this round and the next.",
        "gpu", "semiring.algorithms.history.kemp", _atomic, _searching(_kemp),
    ),
    Rung(
        "kemp-out-of-core", "Kemp: Katz and Kider's phases on a matrix that stays on the host", 2012,
        f"{_KATZ}; {_KEMP}",
        "The matrix lies in the host's memory, and blocks of it go to the GPU and back, four at a time.",
        "Three blocks are copied for each product of two, and the GPU waits for them.",
        f"Blocks of {OFFLOADED:,} rows, or a fourth of a smaller matrix, in pinned memory; copies and products follow "
        "one another. A matrix that comes from the GPU goes to the host first.",
        "gpu", "semiring.algorithms.history.out_of_core", _any, _closing(_out_of_core),
    ),
    Rung(
        "pandey-sharma", "Pandey and Sharma: Kleene's recursion in place, on tiles", 2015, _PANDEY,
        "Halves of halves down to blocks that are closed in three phases; products by tiles in local memory.",
        "Tiles in shared memory give two elements for each term, as with Katz and Kider.",
        f"Blocks of {BASE} rows are closed in phases. Columns wait until the rest has used them, so that ⊕ need not be "
        "idempotent. CUDA instead of OpenCL.",
        "gpu", "semiring.algorithms.r_kleene", _any, _closing(_by_halves),
    ),
    Rung(
        "zuccato-lena-1", "Zuccato and Lena 1: phases from global memory", 2022, _ZUCCATO,
        "The three phases with as many blocks of threads as each of them needs, all elements read where they lie.",
        "Each term loads two elements through the caches, one of them from a line that is its thread's alone.",
        f"{_SIDE} {_DOWN} Any n: what is beyond the edge is left out. {_STAR}",
        "gpu", "semiring.algorithms.history.zuccato_lena", _any,
        _closing(partial(_phases, variant=Variant(shared=False, down=True))),
    ),
    Rung(
        "zuccato-lena-2", "Zuccato and Lena 2: blocks in shared memory", 2022, _ZUCCATO,
        "Blocks are brought to shared memory, each element once for all that read it.",
        "Threads side by side read elements of one column, which all lie in one of the 32 banks: they are served one "
        "after the other.",
        f"{_DOWN} With rows instead there is no conflict, as in the rung of Katz and Kider. {_STAR}",
        "gpu", "semiring.algorithms.history.zuccato_lena", _any, _closing(partial(_phases, variant=Variant(down=True))),
    ),
    Rung(
        "zuccato-lena-2.1", "Zuccato and Lena 2.1: without bank conflicts", 2022, _ZUCCATO,
        "Rows in shared memory are longer by one element, so that a column lies in all 32 banks.",
        "The phases of a round wait for each other, and the first has one block of threads.",
        "They also tried to store one of the factors transposed, which serves the same end.",
        "gpu", "semiring.algorithms.history.zuccato_lena", _any, _closing(partial(_phases, variant=PADDED)),
    ),
    Rung(
        "zuccato-lena-3", "Zuccato and Lena 3: parts on streams", 2022, _ZUCCATO,
        "Block rows lie in parts, each on a stream of its own, which waits for no more than it reads.",
        "Launches and events take the host's time: four times as many of them as there were.",
        "Four parts; rows that lie side by side are in the same part.",
        "gpu", "semiring.algorithms.history.zuccato_lena", _any, _closing(_parts),
    ),
    Rung(
        "zuccato-lena-4", "Zuccato and Lena 4: one CUDA graph", 2022, _ZUCCATO,
        "What the streams do is recorded once as a graph, and launched as a whole.",
        "Shared memory, as before; recording takes longer than it saves, unless many matrices follow.",
        "The graph is recorded for the first matrix of an order, in memory of its own, and launched again for the next "
        "ones of that order.",
        "gpu", "semiring.algorithms.history.zuccato_lena", _any, _closing(_graph),
    ),
    Rung(
        "registers", "This library: 64 elements of the result in a thread's registers", 2026, _OURS,
        "A thread has 8 × 8 elements, so that 16 loads from shared memory serve 64 terms; tiles arrive while others "
        "are multiplied.",
        "Instructions: for distances a sum and a comparison each term.",
        "",
        "gpu", "semiring.kernels.cuda.dense.engine", _any, _closing(partial(_by_engine, ahead=False)),
    ),
    Rung(
        "three-operands", "This library: instructions with three operands", 2026, _OURS,
        "Floats that are not negative compare as integers, of which one instruction takes the least of three; a sum "
        "and a comparison of integers are one.",
        "Pivots: while one is closed, nothing else is done.",
        "",
        "gpu", "semiring.kernels.cuda.choose", _instructions,
        _closing(partial(_by_engine, ahead=False), _three_operands),
    ),
    Rung(
        "ordered-integers", "This library: integers that are ordered as floats are", 2026, _OURS,
        "Where elements are only compared, floats of any sign become integers of the same order, and infinities need "
        "no test.",
        "Two passes over the matrix, there and back.",
        "",
        "gpu", "semiring.kernels.cuda.choose", _ordered, _closing(partial(_by_engine, ahead=False), _form_of_data),
    ),
    Rung(
        "look-ahead", "This library: the next pivot while the rest is computed", 2026, _OURS,
        "The row and the column of the next pivot are updated first, and it is closed on a second stream while the "
        "rest of the round is done.",
        "The instructions of the bulk, and for small matrices the chain of pivots.",
        "",
        "gpu", "semiring.kernels.cuda.dense.closure", _ahead, _closing(partial(_by_engine, ahead=True), _form_of_data),
    ),
    Rung(
        "sixteen-bits", "This library: two elements a word", 2026, _OURS,
        "Distances that are short, and values of which there are few, have a place in 16 bits; an instruction takes "
        "two of them. Whether they fit is found out, not assumed.",
        "Passes there and back, and a proof that what was too long is unreachable.",
        "",
        "gpu", "semiring.solvers.dense.narrow", _short, _sixteen_bits,
    ),
    Rung(
        "tensor-cores", "This library: truth values on tensor cores", 2026, _OURS,
        "A truth value is a bit, and the units for matrices multiply bits by and, and count them.",
        "The counts have to become bits again; pivots are closed by squaring.",
        "",
        "gpu", "semiring.kernels.cuda.bits.engine", _boolean, _closing(_packed, _bits),
    ),
    Rung(
        "sparse-elimination", "This library: elimination on the structure", 2026, _OURS,
        "Vertices are eliminated in an order in which few pairs fill in, and at the same time where they do not "
        "depend on each other.",
        "How much the graph fills in; the closure itself is dense.",
        "",
        "gpu", "semiring.solvers.sparse.on_gpus", _any, _sparse,
    ),
    Rung(
        "closure-gpu", "This library: semiring.closure on a GPU", 2026, _OURS,
        "Chooses among all of these by facts about the data, the order and the algebra.",
        "The instructions of the device: docs/cuda.md has the share that is reached.",
        "",
        "gpu", "semiring.api", _any, _as_the_library,
    ),
)


def with_next_hops(A: Any, S: Semiring) -> tuple[Any, Any]:
    """The closure and its next hops, carried together as Zuccato and Lena have them.

    Parameters
    ----------
    A : cupy.ndarray, shape (n, n)
    S : Semiring
        In which ⊕ selects.

    Returns
    -------
    closure : cupy.ndarray, shape (n, n)
    hops : cupy.ndarray of int32, shape (n, n)
        The vertex after i on a best way from i to j; i itself on the diagonal, −1 where j is not reachable.

    Raises
    ------
    LawError
        For an algebra in which ⊕ does not select.
    NoClosureError
        If there is no closure.
    SemiringError
        If a cycle weighs one: round that the hops of blocks may lead back.
    """
    if not S.selective:
        raise LawError(f"next hops follow one walk, and in {S.name} {S._law_report.flags['selective']}")
    kept: list[Any] = []
    ones: list[bool] = []

    def run(work: Any, low: CudaLowering) -> Any:
        original = work.copy()
        kernel = PhaseKernel(low, work, Variant(down=True, padded=True, hops=True))
        katz_kider(kernel)
        answer = _checked(kernel)
        ones.append(kernel.has_cycle_of_one(original))
        kept.append(kernel.hops)
        return answer

    values = _closing(run)(A, S)
    if any(ones):
        raise SemiringError(f"a cycle weighs {S.one}, round which next hops of blocks may lead back; semiring.paths(A, "
                            f"{S.name!r}) has hops that do not")
    if not kept:
        import cupy

        kept.append(cupy.empty((0, 0), np.int32))
    return values, kept[0]


def diameter(A: Any, S: Semiring) -> Any:
    """The worst of all pairs that are connected, from Deng's closure: for distances the longest of the shortest.

    Parameters
    ----------
    A : cupy.ndarray, shape (n, n)
    S : Semiring
        In which ⊕ selects, and longer and longer walks stop improving.

    Returns
    -------
    element
        Of the dtype of A; zero where there is no vertex.

    Raises
    ------
    LawError
        For an algebra in which ⊕ does not select, or walks may go on improving.
    NoClosureError
        If there is no closure.
    """
    resolve_method("squaring", S)
    if not S.selective:
        raise LawError(f"the worst pair is found by comparing, and in {S.name} {S._law_report.flags['selective']}")
    values = _closing(partial(_squaring, product="tiled_product"))(A, S)
    given = Device(values, S, "A")
    low = authors_form(S, given.dtype, given.facts, max(len(values), 1))
    return to_host(low.decode(_elements(low).worst(low.encode(given.array, True))))[0]
