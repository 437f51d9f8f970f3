"""A plan is made once from the operands' shapes, dtype and facts, can be printed, and is then executed."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import LawError, SemiringError
from semiring.graphs.texts import clip_repr
from semiring.machine.memory import in_words

if TYPE_CHECKING:
    from semiring.kernels.lowering.base import Lowering

METHODS = ("floyd-warshall", "blocked", "r-kleene", "squaring", "elimination")
BLOCKED_TILE = 256  # rows of a pivot block: products with fewer steps of k are slower
DEVICES = ("cpu", "gpu", "cuda")
ALIASES = {"fw": "floyd-warshall", "kleene": "r-kleene", "lu": "elimination"}


@dataclass(frozen=True)
class Plan:
    """What will be done, and why; `print` it.

    Attributes
    ----------
    operation : str
        "closure", "factor" or "matmul".
    shape : tuple of int
        Of the answer.
    method : str
        The schedule; for products the engine's tiled product.
    tile : int
        Rows of a pivot block, or of the blocks that are closed directly.
    lowering : Lowering
        How elements are stored and computed.
    work : int
        Multiply-adds: one ⊗ and one ⊕ each.
    memory : int
        Bytes beyond the operands.
    """

    operation: str
    algebra: Semiring
    shape: tuple[int, ...]
    method: str
    tile: int
    lowering: Lowering
    device: str
    work: int
    memory: int
    reasons: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        low = self.lowering
        shape = " × ".join(map(str, self.shape))
        rows = {
            "operation": f"{self.operation} over {self.algebra.name}, {shape}, {_dtype(low.dtype)}",
            "method": self.method,
            "tile": str(self.tile),
            "lowering": f"{low.name}, stored as {_dtype(low.storage) if low.kind != 'packed' else 'bits'}",
            "device": self.device,
            "work": f"{self.work:.3g} multiply-adds",
            "memory": f"{in_words(self.memory)} beyond the operands",
        }
        reasons = {"lowering": low.reason, **self.reasons}
        return "\n".join(
            f"{k:<10} {v}" + (f"  ({reasons[k]})" if reasons.get(k) else "") for k, v in rows.items()
        )

    __repr__ = __str__


def _dtype(dtype: Any) -> str:
    return ", ".join(f"{f} {dtype[f].name}" for f in dtype.names) if dtype.names else str(dtype.name)


def resolve_method(method: str, S: Semiring) -> str:
    """The schedule's name, checked against the laws it needs.

    Raises
    ------
    SemiringError
        For an unknown name, with the near one.
    LawError
        When the algebra lacks a law that the schedule needs.
    """
    name = method.lower().replace("_", "-")
    name = ALIASES.get(name, name)
    if name != "auto" and name not in METHODS:
        near = get_close_matches(name, (*METHODS, "auto"), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it is one of auto, {', '.join(METHODS)}"
        raise SemiringError(f"unknown method {method!r}: {hint}")
    if name == "squaring" and not S.idempotent:
        raise LawError(
            f"squaring needs an idempotent ⊕, and in {S.name} {S._law_report.flags['idempotent']}: it would count "
            "walks twice; use method='auto'"
        )
    if name == "squaring" and not S.has_unit_stars:
        raise LawError(
            f"squaring needs an algebra in which longer and longer walks stop improving, and {S.name} is not bounded: "
            f"{S._law_report.flags['bounded']}; use method='auto'"
        )
    return name


def check_options(
    method: Any, device: Any = None, tile: Any = None, progress: Any = False, **switches: Any
) -> None:
    """Refuse options that are of no use whatever the operands are.

    Raises
    ------
    SemiringError
    """
    if not isinstance(method, str):
        raise SemiringError(f"method must be the name of one, such as 'auto', and is {clip_repr(method)}")
    if device is not None and not (isinstance(device, str) and device in DEVICES):
        raise SemiringError(f"unknown device {clip_repr(device)}: it is 'cpu', 'gpu', or None for the best of them")
    if tile is not None and (not isinstance(tile, (int, np.integer)) or isinstance(tile, bool) or tile < 1):
        raise SemiringError(f"tile must be a positive whole number, and is {clip_repr(tile)}")
    if progress is not False and progress is not True and not callable(progress):
        raise SemiringError(f"progress must be True, False or a function of a number, and is {clip_repr(progress)}")
    for name, value in switches.items():
        if value is not True and value is not False and not isinstance(value, (np.bool_, int)):
            raise SemiringError(f"{name} must be True or False, and is {clip_repr(value)}")


def choose_method(method: str, low: Lowering, n: int, kernel: Any, tile: int | None) -> tuple[str, int, dict[str, str]]:
    """The schedule, its tile, and the reasons."""
    reasons = {}
    if method == "auto":
        if n <= (tile or kernel.tile):
            method, reasons["method"] = "floyd-warshall", "one block"
        elif tile is None and kernel.closes_whole(n):
            method, reasons["method"] = "floyd-warshall", "the engine closes the whole matrix, in blocks of its own"
        else:
            method, reasons["method"] = "r-kleene", "most of its work is in large products"
    else:
        reasons["method"] = "as asked"
    if method == "floyd-warshall":
        return method, n, reasons
    tile = tile or (kernel.tile if method == "r-kleene" else max(kernel.tile, BLOCKED_TILE))
    if kernel.align > 16 and tile % kernel.align:
        tile = -(-tile // kernel.align) * kernel.align
        reasons["tile"] = f"this engine's blocks begin at multiples of {kernel.align}"
    return method, tile, reasons


def closure_memory(method: str, low: Lowering, n: int, batch: int, copies: int) -> int:
    """Bytes that a closure takes beyond its operand: working matrices and panels."""
    matrix = batch * n * max(-(-n // 512) * 64, 1) if low.kind == "packed" else batch * n * n * low.storage.itemsize
    one = matrix // max(batch, 1)
    extra = {"floyd-warshall": one if low.kind == "numba" else 0, "squaring": one}.get(method, 0)
    panels = min(one, max(2 << 20, one // 20))
    return copies * matrix + extra + panels
