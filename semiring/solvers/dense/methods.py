"""The schedules by name, the laws that each needs, and which suits a matrix."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocked import blocked
from semiring.algorithms.elimination import elimination
from semiring.algorithms.floyd_warshall import floyd_warshall
from semiring.algorithms.r_kleene import r_kleene
from semiring.algorithms.squaring import squaring
from semiring.errors import LawError, SemiringError
from semiring.kernels.interface import Kernel
from semiring.kernels.lowering.base import Lowering

SCHEDULES: dict[str, Callable[[Any, Kernel[Any], int], None]] = {
    "floyd-warshall": floyd_warshall,
    "blocked": blocked,
    "r-kleene": r_kleene,
    "squaring": squaring,
    "elimination": elimination,
}
SPARSE = "sparse"  # the name under which elimination on the sparse structure can be asked for
SEARCH = "search"  # and that of a search from every vertex
ALIASES = {"fw": "floyd-warshall", "kleene": "r-kleene", "lu": "elimination"}
WITHOUT_BLOCKS = ("floyd-warshall", "squaring")
BLOCKED_TILE = 256  # rows of a pivot block: products with fewer steps of k are slower


def resolve_method(method: str, S: Semiring) -> str:
    """The schedule's name, checked against the laws it needs.

    Raises
    ------
    SemiringError
        For an unknown name, with the near one.
    LawError
        When the algebra lacks a law that the schedule needs.
    """
    if method == "auto":
        return method
    name = method.lower().replace("_", "-")
    name = ALIASES.get(name, name)
    known = (*SCHEDULES, SPARSE, SEARCH, "auto")
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it is one of {', '.join(known)}"
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
    if name == SEARCH and not S.selective:
        raise LawError(
            f"a search needs a selective ⊕, and in {S.name} {S._law_report.flags['selective']}: it would keep one walk "
            "only; use method='auto'"
        )
    return name


def choose_method(
    method: str, low: Lowering, n: int, kernel: Kernel[Any], tile: int | None
) -> tuple[str, int, dict[str, str]]:
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
        if method in WITHOUT_BLOCKS and tile is not None and tile < n:
            reasons["tile"] = f"this method takes the matrix whole, and not in blocks of {tile} rows as others would"
    if method == "floyd-warshall":
        return method, n, reasons
    by_library = low.by_library and not low.on_gpu  # whose products are as fast with few steps of k
    tile = tile or (kernel.tile if method == "r-kleene" or by_library else max(kernel.tile, BLOCKED_TILE))
    if kernel.align > 16 and tile % kernel.align:
        tile = -(-tile // kernel.align) * kernel.align
        reasons["tile"] = f"this engine's blocks begin at multiples of {kernel.align}"
    return method, tile, reasons


def close_best(A: Any, kernel: Kernel[Any]) -> None:
    """A ← A* by the schedule that suits the engine."""
    if kernel.closes_whole(len(A)):
        floyd_warshall(A, kernel, len(A))
    else:
        r_kleene(A, kernel, kernel.tile)
