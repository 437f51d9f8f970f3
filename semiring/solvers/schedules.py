"""From checked operands to a plan, and from a plan to the schedule that runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.by_name import closable
from semiring.algebra.laws import is_nan
from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocked import blocked
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.elimination import elimination
from semiring.algorithms.floyd_warshall import floyd_warshall
from semiring.algorithms.r_kleene import r_kleene
from semiring.algorithms.squaring import squaring
from semiring.errors import SemiringError
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.wrappers.counting import Counting
from semiring.operands.devices import is_on_gpu
from semiring.operands.operand import check_square, examine, stacked

from .cycles import check_cycles
from .task import Plan, choose_method, closure_memory, resolve_method

SCHEDULES: dict[str, Callable[[Any, Any, int], None]] = {
    "floyd-warshall": floyd_warshall,
    "blocked": blocked,
    "r-kleene": r_kleene,
    "squaring": squaring,
    "elimination": elimination,
}
LARGE = 1 << 26  # bytes; larger allocations are checked against free memory
RANKS_REPAY = 2e11  # multiply-adds of a closure or product from which looking for few distinct values pays on a GPU
PACKED_ON_GPU = 512  # least side of matrices of truth values that repays packing them on a GPU
STACKED = 128  # matrices up to this order are closed together in one call


def lowering_for(
    S: Semiring, array: Any, facts: Facts, length: int, *, in_place: bool = False, packed: bool = False
) -> Lowering:
    """The lowering for data where they are; see `semiring.kernels.choose.choose`."""
    if is_on_gpu(array):
        from semiring.kernels.cuda.choose import choose as choose_on_gpu

        packed = packed and min(array.shape) >= PACKED_ON_GPU
        return choose_on_gpu(S, array.dtype, facts, length, in_place=in_place, packed=packed)
    return choose(S, array.dtype, facts, length, in_place=in_place, packed=packed)


def lowering_without_facts(S: Semiring, array: Any, *, packed: bool) -> Lowering:
    """The lowering for device data that nobody has looked at."""
    from semiring.kernels.cuda.choose import without_facts

    if packed and array.dtype.kind == "b":
        return lowering_for(S, array, Facts(two_valued=True), 1, packed=True)
    return without_facts(S, array.dtype)


def in_16_bits(low: Lowering, array: Any, facts: Facts) -> Any:
    """The closure of device data by 16-bit arithmetic, or None where that would not be right, or not be faster."""
    if not could_be_in_16_bits(low, array, facts):
        return None
    from . import ranks, saturating

    S = low.algebra
    if saturating.repays(S, array, facts):
        return saturating.closure(S, array, close_best)
    return ranks.closure(S, array, close_best)


def could_be_in_16_bits(low: Lowering, array: Any, facts: Facts) -> bool:
    """Whether `in_16_bits` would look closer, instead of using a lowering."""
    if low.kind != "cuda" or array.ndim != 2:
        return False
    from semiring.kernels.cuda.choose import can_be_ranked

    from . import saturating

    S = low.algebra
    if saturating.may_repay(S, array, facts):
        return True
    return float(len(array)) ** 3 >= RANKS_REPAY and can_be_ranked(S, array.dtype)


def product_in_16_bits(low: Lowering, a: Any, b: Any) -> Any:
    """The product of device matrices by 16-bit arithmetic, or None where that would not be right, or not be faster."""
    if low.kind != "cuda" or a.size * float(b.shape[1]) < RANKS_REPAY:
        return None
    from . import ranks

    return ranks.product(low.algebra, a, b)


def close_best(A: Any, kernel: Any) -> None:
    """A ← A* by the schedule that suits the engine."""
    if kernel.closes_whole(len(A)):
        floyd_warshall(A, kernel, len(A))
    else:
        r_kleene(A, kernel, kernel.tile)


def plan_closure(
    S: Semiring, array: Any, method: str, reflexive: bool, overwrite: bool, tile: int | None, check: bool = True
) -> tuple[Plan, Facts]:
    """What to do with a checked operand, and the facts that were found."""
    n = check_square(array)
    method = resolve_method(method, closable(S))
    batch = prod(array.shape[:-2])
    if check or not is_on_gpu(array):
        facts = examine(S, array.dtype, [("A", array)])
        low = lowering_for(S, array, facts, n, in_place=overwrite and reflexive, packed=array.ndim == 2)
    else:
        facts, low = Facts(), lowering_without_facts(S, array, packed=array.ndim == 2)
    engine = build_kernel(low)
    free = check and reflexive and method == "auto" and tile is None
    method, tile, reasons = choose_method(method, low, n, engine, tile)
    if free and could_be_in_16_bits(low, array, facts):
        reasons["lowering"] = f"{low.reason}; 16 bits are tried first"
    copies = (0 if overwrite and reflexive and low.storage == low.dtype else 1) + (not reflexive)
    memory = closure_memory(method, low, n, batch, copies)
    shape = tuple(array.shape)
    rounds = max((n - 1).bit_length(), 1) if method == "squaring" else 1
    return Plan("closure", S, shape, method, tile, low, engine.place, rounds * batch * n**3, memory, reasons), facts


def common_dtype(S: Semiring, *arrays: tuple[str, np.ndarray]) -> np.dtype:
    (first, a), *others = arrays
    for name, b in others:
        if b.dtype != a.dtype:
            raise SemiringError(f"{first} is {a.dtype} and {name} is {b.dtype}; convert one with .astype(…)")
    return a.dtype


def encoded(low: Lowering, array: np.ndarray) -> Any:
    """An operand in storage; the operand itself where nothing has to be changed."""
    return array if low.is_identity else low.encode(array, True)


def closed(
    planned: Plan, array: Any, original: Any, *, in_place: bool, check: bool, progress: bool | Callable[[float], None]
) -> Any:
    """The closure of an operand, in storage.

    Raises
    ------
    UndefinedStar
        When a pivot has no star.
    """
    low = planned.lowering
    work = low.encode(array, not in_place)
    close = close_matrix if array.ndim == 2 else close_each
    by_library = low.on_gpu and low.blas and check  # to which 0 · ∞ is NaN
    try:
        with reporting(progress, planned, check) as kernel:
            close(work, original, kernel, planned)
        if not by_library or is_finite(work):
            return work
    except UndefinedStar:
        if not by_library or in_place:
            raise
    if in_place:
        raise SemiringError(
            f"{low.algebra.name}: sums overflow {low.dtype}, and A is overwritten; close a copy, or convert A to a "
            "wider dtype first"
        )
    general = replace(planned, lowering=without_library(low))
    work = low.encode(array, True)
    close(work, original, build_kernel(general.lowering), general)
    return work


def without_library(low: Lowering) -> Lowering:
    """The same with compiled products only, in which 0 · ∞ = 0."""
    return replace(low, blas=False, reason="⊕ and ⊗ are sum and product, and numbers overflow")


def is_finite(array: Any) -> bool:
    """Whether device data hold neither infinities nor NaN; waits for the device."""
    import cupy

    return bool(cupy.isfinite(array).all())


def refuse_overflow(low: Lowering, result: Any) -> None:
    """No NaN comes out where none went in.

    Raises
    ------
    SemiringError
        When sums of opposite infinities are in the result: numbers left the range of the dtype on the way.
    """
    if low.drops_nan or result.dtype.kind not in "fcV" or (low.on_gpu and result.dtype.names):
        return
    if low.on_gpu:
        import cupy

        found = cupy.isnan(result)
        if not bool(found.any()):
            return
        at = tuple(int(i) for i in np.argwhere(found.get())[0])
    else:
        if not result.dtype.names:
            with np.errstate(over="ignore", invalid="ignore"):
                if np.isfinite(np.add.reduce(result, axis=None)):
                    return
        found = is_nan(result)
        if not found.any():
            return
        at = tuple(np.argwhere(found)[0].tolist())
    raise SemiringError(
        f"{low.algebra.name}: the result has no value at [{', '.join(map(str, at))}]: on the way numbers leave the "
        f"range of {result.dtype}, and infinities of both signs meet. Convert the data to a wider dtype, or scale them"
    )


def close_matrix(work: Any, original: Any, kernel: Any, planned: Plan) -> None:
    """A ← A*, or A⁺ where the original matrix is given."""
    SCHEDULES[planned.method](work, kernel, planned.tile)
    if original is not None:
        # A* and A⁺ differ on the diagonal only, since 1 has zeros elsewhere: A⁺ = A A*.
        kernel.set_diagonal(work, kernel.diagonal(original, work))


def close_each(work: np.ndarray, original: np.ndarray | None, kernel: Any, planned: Plan) -> None:
    """`close_matrix` for each matrix; small ones together in one call."""
    n = work.shape[-1]
    stack = stacked(work)
    originals = [None] * len(stack) if original is None else stacked(original)
    together = planned.method == "floyd-warshall" and n <= STACKED
    if together:
        failed = kernel.close_stack(stack)
        if (failed >= 0).any():
            raise UndefinedStar(int(failed[failed >= 0][0]))
    if not together or original is not None:
        for D, A in zip(stack, originals, strict=True):
            if not together:
                close_matrix(D, A, kernel, planned)
            else:
                kernel.set_diagonal(D, kernel.diagonal(A, D))
    if isinstance(work, np.ndarray) and not np.shares_memory(stack, work):
        work[...] = stack.reshape(work.shape)


def reporting(progress: bool | Callable[[float], None], planned: Plan, check: bool = True) -> Any:
    """A context with the kernel of the plan, which reports the share of the work done if that is wanted."""
    kernel = build_kernel(planned.lowering)
    if not check:
        kernel = kernel.unchecked
    if progress is False:
        return nullcontext(kernel)
    if progress is True:
        from semiring.machine.progress import bar

        return Counting.under(bar(f"{planned.algebra.name} closure"), kernel, planned.work)
    return Counting.under(nullcontext(progress), kernel, planned.work)


def stable_closure(
    planned: Plan, array: np.ndarray, original: Any, facts: Facts, names: Sequence[Any] | None
) -> Any:
    """The closure in storage by squaring, in which rounding errors add up along a path but never grow."""
    low, planned = planned.lowering, replace(planned, method="squaring")
    work = low.encode(array, True)
    (close_matrix if array.ndim == 2 else close_each)(work, original, build_kernel(low), planned)
    check_cycles(low, work, array, facts, names, stable=True)
    return work
