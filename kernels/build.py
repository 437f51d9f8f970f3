"""From a lowering to the engine that runs it. Engines with the same expressions share their compiled code."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from .cpu.bits.choose import CODE
from .cpu.compile.price import Code
from .interface import ElementKernel, Kernel
from .lowering.base import Lowering
from .numpy import bits, dense, fronts, rows

if TYPE_CHECKING:
    from .cpu.sparse.objects import SparseObjectKernel
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
def sparse_kernel(lowering: Lowering, purpose: str = "rows") -> SparseKernel | SparseObjectKernel | rows.RowsKernel:
    """The engine of compressed rows of a lowering; without compiled code it saves that for the purpose."""
    if lowering.kind == "objects":
        from .cpu.sparse.objects import SparseObjectKernel

        return SparseObjectKernel(lowering)
    if not lowering.compiled:
        return rows.RowsKernel(lowering, code_of(lowering, purpose))
    from .cpu.sparse.product import sparse_kernel

    return sparse_kernel(lowering)


def element_kernel(lowering: Lowering, purpose: str) -> ElementKernel:
    """The engine of arrays that does without compiled code."""
    if lowering.kind == "objects":
        return cast(ElementKernel, kernel(lowering))
    return dense.ArrayKernel(lowering, code_of(lowering, purpose))


# What compiled code of an algebra is for, the module that names its functions (by `names_of`, or as it says), and
# NumPy's time for such work.
PURPOSES: dict[str, tuple[str, Callable[[Lowering, float, float], float]]] = {
    "blocks": ("dense.engine", dense.seconds),
    "rows": ("sparse.product", rows.seconds),
    "substitution": ("sparse.substitution", rows.seconds),
    "fronts": ("sparse.fronts", fronts.seconds),
    "search": ("sparse.search", lambda lowering, rounds, terms: rounds * SETTLE + terms * LABEL),
    "buckets": ("sparse.buckets", lambda lowering, rounds, terms: rounds * SETTLE + terms * LABEL),
    "levels": ("sparse.levels", lambda lowering, rounds, terms: rounds * SETTLE + terms * LABEL),
    "trees": ("sparse.trees", lambda lowering, rounds, terms: terms * TREE_EDGE),
    "trees of hubs": ("sparse.trees:names_of_hubs", lambda lowering, rounds, terms: terms * TREE_EDGE),
    "walks": ("sparse.walks", lambda lowering, rounds, terms: rounds * WALK_STEP + terms * WALK_TERM),
    "predecessors": (
        "sparse.predecessors", lambda lowering, rounds, terms: rounds * TREE_VERTEX + terms * TREE_EDGE
    ),
    "winners": ("sparse.winners", lambda lowering, rounds, terms: rounds * WINNER_STEP + terms * WINNER_TERM),
    "pairs": ("sparse.tree_labels", lambda lowering, rounds, terms: rounds * PAIR),
    "sweep": ("sparse.sweeps", lambda lowering, rounds, terms: rounds * SETTLE + terms * LABEL),
}
FUNCTIONS = {"blocks": 2, "fronts": 5, "walks": 2, "pairs": 4}  # that such work needs, where it is more than one
SETTLE = 2.5e-4  # seconds in which `semiring.algorithms.labels` settles a vertex
LABEL = 2e-8  # and looks at a label
WINNER_STEP = 2e-5  # seconds in which NumPy takes a step of k for a strip, and keeps which terms won
WINNER_TERM = 6e-9  # and for each of the terms
WALK_STEP = 1e-5  # seconds in which `semiring.algorithms.trees` goes back by an edge of a walk
WALK_TERM = 2e-9  # and those for a term of the row that it needs
PAIR = 2e-4  # seconds in which rows of factors, at some columns only, tell the element of a pair
TREE_VERTEX = 2e-5  # seconds in which `semiring.algorithms.trees` reaches a vertex by itself
TREE_EDGE = 3e-7  # seconds in which `semiring.algorithms.trees` looks at an edge for one line


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
    predicted = bits.seconds(rounds, terms) if packed else PURPOSES[purpose][1](lowering, rounds, terms)
    return lowering if code.repays(predicted) else lowering.interpreted


@lru_cache(1024)
def code_of(lowering: Lowering, purpose: str = "blocks") -> Code:
    """The compiled code of a lowering for a purpose, whoever does the work now."""
    if lowering.kind == "packed":
        return CODE
    return _code(_Keyed(lowering), purpose)


@lru_cache(1024)
def _code(keyed: _Keyed, purpose: str) -> Code:
    def names() -> list[str]:
        module, _, function = PURPOSES[purpose][0].partition(":")
        names_of = getattr(import_module(f"semiring.kernels.cpu.{module}"), function or "names_of")
        found: list[str] = names_of(keyed.lowering)
        return found

    return Code(names, number=FUNCTIONS.get(purpose, 1))


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

    return dense_kernel(lowering)
