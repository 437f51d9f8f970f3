"""From a lowering to the engine that runs it. Engines with the same expressions share their compiled code."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .cpu.bits.choose import CODE
from .cpu.compile.cache import Function
from .cpu.compile.price import Code, Renting, has_numba
from .cpu.dense import folds, lanes, prefixes, stacks, thin
from .interface import ElementKernel, Kernel
from .lowering.base import Lowering
from .numpy import bits, dense, fronts, rows, spanning

if TYPE_CHECKING:
    from .cpu.sparse.product import SparseKernel


@lru_cache(1024)
def kernel(lowering: Lowering) -> Kernel[Any]:
    """The engine of a lowering."""
    if lowering.on_gpu:
        from .cuda.choose import kernel as cuda_kernel  # it needs CuPy
        from .cuda.lowering import CudaLowering

        assert isinstance(lowering, CudaLowering)
        return cuda_kernel(lowering)
    return _kernel(_Keyed(lowering), lowering.compiled)


@lru_cache(1024)
def sparse_kernel(lowering: Lowering, purpose: str = "rows") -> SparseKernel | rows.ArrayRowsKernel:
    """The engine of compressed rows of a lowering; without compiled code it saves that for the purpose."""
    if lowering.kind == "objects":
        return rows.ArrayRowsKernel(lowering)
    if not lowering.compiled:
        return rows.ArrayRowsKernel(lowering, code_of(lowering, purpose))
    from .cpu.sparse.product import SparseKernel

    return SparseKernel.of(lowering)


def element_kernel(lowering: Lowering, purpose: str) -> ElementKernel:
    """The engine of arrays that does without compiled code."""
    if lowering.kind == "objects":
        return cast(ElementKernel, kernel(lowering))
    return dense.ArrayKernel(lowering, code_of(lowering, purpose))


def _linear(step: float, term: float) -> Callable[[Lowering, float, float], float]:
    """NumPy's seconds for work of so many steps and terms."""
    return lambda lowering, rounds, terms: rounds * step + terms * term


class Purpose(NamedTuple):
    """What compiled code of an algebra is for.

    Attributes
    ----------
    source : str
        A module of `kernels/cpu` and, after a colon, an object there. Its `code` gives the compiled functions that most
        of the work needs for a lowering, and its `seldom`, if it has one, those that some needs besides.
    seconds : callable
        What NumPy takes for so many steps of k, and so many terms ⊗ in all, of a lowering.
    number : int
        How many functions `code` gives where ⊗ commutes.
    form : {"products", "factors", "searches"}
        The lowering that such work takes: that of products, that of factors, or that of searches.
    fits : callable
        Whether work over an algebra, in such a lowering, may need it.
    """

    source: str
    seconds: Callable[[Lowering, float, float], float]
    number: int = 1
    form: str = "searches"
    fits: Callable[[Lowering], bool] = lambda low: low.algebra.selective

    def code(self, lowering: Lowering) -> list[Function]:
        """The compiled functions that most of the work needs."""
        found: list[Function] = self._owner.code(lowering)
        return found

    def seldom(self, lowering: Lowering) -> list[Function]:
        """Those that some of it needs besides."""
        found: list[Function] = getattr(self._owner, "seldom", lambda _: [])(lowering)
        return found

    @property
    def _owner(self) -> Any:
        module, _, name = self.source.partition(":")
        found = import_module(f"semiring.kernels.cpu.{module}")
        return getattr(found, name) if name else found


BY_TILES = 2e-10  # seconds a term that products of small matrices take longer by tiles than by vectors
COPIED = 1e-9  # seconds that tiles take longer for an element of a matrix that is read once
SETTLE = 2.5e-4  # seconds in which `semiring.algorithms.labels` settles a vertex
LABEL = 2e-8  # and looks at a label
LOGARITHM = 6e-9  # seconds that a term of a small closure takes as a log-sum-exp of two numbers
CHAIN_STEP = 5e-5  # seconds in which NumPy takes a step of a chain of rows
CHAIN_TERM = 2e-9  # and for each of its terms
WINNER_STEP = 2e-5  # seconds in which NumPy takes a step of k for a strip, and keeps which terms won
WINNER_TERM = 6e-9  # and for each of the terms
WINNER_MET = 3e-8  # and for each of the terms of entries that a mask wants, which it gathers
WALK_STEP = 1e-5  # seconds in which `semiring.algorithms.trees` goes back by an edge of a walk
WALK_TERM = 2e-9  # and those for a term of the row that it needs
PAIR = 2e-4  # seconds in which rows of factors, at some columns only, tell the element of a pair
SCANNED = 2e-8  # seconds in which NumPy makes a prefix of those of pairs
FOLDED = 4e-9  # seconds in which NumPy folds an element in pairs, or by its power
TREE_VERTEX = 2e-5  # seconds in which `semiring.algorithms.trees` reaches a vertex by itself
TREE_EDGE = 3e-7  # seconds in which `semiring.algorithms.trees` looks at an edge for one line


def closes(low: Lowering) -> bool:
    """Whether there are closures over an algebra, and not only products."""
    return not low.algebra.product_only


def sums_numbers(low: Lowering) -> bool:
    """Whether ⊗ is a sum of single machine numbers, and ⊕ their minimum or maximum: then searches use buckets."""
    return low.kind == "numba" and low.algebra.is_tropical and len(low.components) == 1


PURPOSES = {
    "blocks": Purpose("dense.engine", dense.seconds, 2, "products", lambda low: False),
    "small products": Purpose("dense.small:PRODUCTS", dense.seconds, 2, "products", lambda low: False),
    "small sums": Purpose("dense.small:SUMS", dense.seconds, 2, "products", lambda low: False),
    "small closures": Purpose("dense.small:CLOSURES", dense.seconds, 3, "products", lambda low: False),
    "stacks": Purpose("dense.lanes:PRODUCTS", dense.seconds, 1, "products", lanes.fits),
    "closures of stacks": Purpose("dense.lanes:CLOSURES", dense.seconds, 1, "products", stacks.closes),
    "stacks in lanes": Purpose("dense.stacks:PRODUCTS", dense.seconds, 1, "products", stacks.fits_in_lanes),
    "closures in lanes": Purpose("dense.stacks:CLOSURES", dense.seconds, 1, "products", stacks.closes),
    "chains": Purpose("dense.steps", _linear(CHAIN_STEP, CHAIN_TERM), 1, "products", lanes.fits),
    "rows": Purpose("sparse.product:SparseKernel", rows.seconds, 1, "products", lambda low: True),
    "masked": Purpose("sparse.masked:MaskedKernel", rows.seconds, 2, "products", lambda low: True),
    "dots": Purpose("sparse.masked:DotsKernel", rows.seconds, 1, "products", lambda low: True),
    "substitution": Purpose("sparse.substitution:SubstitutionKernel", rows.seconds, 1, "products", closes),
    "fronts": Purpose("sparse.fronts", fronts.seconds, 5, "factors", closes),
    "pairs": Purpose("sparse.tree_labels", _linear(PAIR, 0.0), 3, "factors", closes),
    "walks": Purpose("sparse.walks", _linear(WALK_STEP, WALK_TERM), 2, "factors"),
    "search": Purpose("sparse.search:CpuSearchKernel", _linear(SETTLE, LABEL),
                      fits=lambda low: low.algebra.selective and not sums_numbers(low)),
    "buckets": Purpose("sparse.buckets:CpuBucketKernel", _linear(SETTLE, LABEL), fits=sums_numbers),
    "levels": Purpose("sparse.levels:CpuLevelKernel", _linear(SETTLE, LABEL)),
    "sweep": Purpose("sparse.sweeps:CpuSweepKernel", _linear(SETTLE, LABEL), 2),
    "trees": Purpose("sparse.trees:TreeKernel", _linear(0.0, TREE_EDGE)),
    "trees of hubs": Purpose("sparse.trees:HubTreeKernel", _linear(0.0, TREE_EDGE)),
    "predecessors": Purpose("sparse.predecessors:PredecessorKernel", _linear(TREE_VERTEX, TREE_EDGE)),
    "spanning tree": Purpose("sparse.spanning:SpanningKernel", spanning.seconds, 2, "products",
                             lambda low: low.algebra.is_bottleneck),
    "thin": Purpose("dense.thin:ThinKernel", _linear(0.0, COPIED), 2, "products", thin.fits),
    "sums": Purpose("dense.folds:SUMS", _linear(0.0, FOLDED), 2, "products", partial(folds.fits, op="add")),
    "prods": Purpose("dense.folds:PRODUCTS", _linear(0.0, FOLDED), 2, "products", partial(folds.fits, op="mul")),
    "prefix sums": Purpose("dense.prefixes:SUMS", _linear(0.0, SCANNED), 3, "products", prefixes.fits),
    "prefix products": Purpose("dense.prefixes:PRODUCTS", _linear(0.0, SCANNED), 3, "products", prefixes.fits),
    "winners": Purpose("sparse.winners:WinnersKernel", _linear(WINNER_STEP, WINNER_TERM), fits=lambda low: False),
    "winners of rows": Purpose("sparse.winners:MaskedWinnersKernel", _linear(WINNER_STEP, WINNER_MET), 1, "products",
                               lambda low: False),
    "winners of dots": Purpose("sparse.winners:DotWinnersKernel", _linear(WINNER_STEP, WINNER_MET), 1, "products",
                               lambda low: False),
}


def affordable(lowering: Lowering, rounds: float, terms: float, purpose: str = "blocks") -> Lowering:
    """The lowering, or the same run by NumPy where that takes less time than compiling.

    Parameters
    ----------
    lowering : Lowering
    rounds, terms : float
        Of the work ahead: steps of k, and terms ⊗ in all.
    purpose : str
        A key of `PURPOSES`.
    """
    if lowering.on_gpu or lowering.kind not in ("numba", "packed"):
        return lowering
    if not lowering.compiled:  # that was for other work
        lowering = lowering.in_machine_code
    code = code_of(lowering, purpose)
    if code.bought:
        return lowering
    packed = lowering.kind == "packed"
    predicted = bits.seconds(rounds, terms) if packed else PURPOSES[purpose].seconds(lowering, rounds, terms)
    return lowering if code.repays(predicted) else lowering.interpreted


def repays(lowering: Lowering, seconds: float, purpose: str) -> bool:
    """Whether to compile code for work that takes NumPy so many seconds; never for Python objects."""
    return lowering.kind == "numba" and code_of(lowering, purpose).repays(seconds)


def stacks_repay(lowering: Lowering, rounds: float, terms: float, purpose: str = "stacks") -> bool:
    """Whether products or closures of small matrices go by vectors: that code is there, or repays for so much work."""
    if lowering.on_gpu or not has_numba() or not PURPOSES[purpose].fits(lowering):
        return False
    code = code_of(lowering, purpose)
    if code.bought:
        return True
    by_tiles = lowering.compiled and code_of(lowering).at_hand
    return code.pays(terms * BY_TILES if by_tiles else PURPOSES[purpose].seconds(lowering, rounds, terms))


def few_repay(lowering: Lowering, elements: int) -> bool:
    """Whether a matrix of so many elements is multiplied with a few vectors where it lies, and not by tiles."""
    code = code_of(lowering, "thin")
    return code.bought or code.pays(elements * COPIED)


def walks_repay(lowering: Lowering, terms: int) -> bool:
    """Whether small closures over log-sum-exp of so many terms are computed by powers."""
    return repays(lowering, terms * LOGARITHM, "small closures")


def renting(lowering: Lowering, purpose: str) -> Renting:
    """A context in which NumPy does work that compiled code could do; work on Python objects counts for none."""
    return Renting(*([code_of(lowering, purpose)] if lowering.kind == "numba" else []))


@lru_cache(1024)
def code_of(lowering: Lowering, purpose: str = "blocks") -> Code:
    """The compiled code of a lowering for a purpose, whether or not it is used yet."""
    if lowering.kind == "packed":
        return CODE
    return _code(_Keyed(lowering), purpose)


@lru_cache(1024)
def _code(keyed: _Keyed, purpose: str) -> Code:
    return Code.of(partial(PURPOSES[purpose].code, keyed.lowering), number=PURPOSES[purpose].number)


class _Keyed:
    """A lowering that equals another when the code for both is the same."""

    def __init__(self, lowering: Lowering):
        self.lowering, self.key = lowering, lowering.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self.key == other.key


@lru_cache(256)
def _kernel(keyed: _Keyed, compiled: bool) -> Kernel[Any]:
    lowering = keyed.lowering
    if lowering.kind == "objects":
        from .cpu.dense.objects import ObjectKernel

        return ObjectKernel(lowering)
    if not compiled:
        code = code_of(lowering)
        return bits.BitsKernel(code) if lowering.kind == "packed" else dense.ArrayKernel(lowering, code)
    if lowering.kind == "packed":
        from .cpu.bits.engine import BooleanKernel

        return BooleanKernel()
    if lowering.kind == "planes":
        from .cpu.bits.planes import PlanesKernel

        return PlanesKernel()
    from .cpu.dense.choose import dense_kernel

    made = dense_kernel(lowering)
    made.few_repay, made.walks_repay = few_repay, walks_repay
    return made
