"""How a convolution is computed.

On the CPU by merged slopes, vectors of the processor, blocks or one element after the other; on a GPU by its kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product as every
from math import prod
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.catalogue import plus_times
from semiring.algebra.elements import full
from semiring.kernels.build import affordable, kernel, stacks_repay
from semiring.kernels.cpu.dense.convolution import Strips, Vectors, Windows
from semiring.kernels.cpu.dense.log_convolution import LogConvolution
from semiring.kernels.facts import DeviceFacts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy import convex, monotone
from semiring.kernels.numpy.convolution import (
    accumulating,
    by_blocks,
    by_elements,
    by_outer_product,
    log_sums_by_elements,
)
from semiring.kernels.numpy.dense import operations
from semiring.kernels.wrappers.paced import paced
from semiring.machine.pieces import ENOUGH_STEPS, share
from semiring.machine.threads import cpu_place, thread_count

SLOPES_FROM = 1 << 16  # terms from which a look whether sequences are convex pays off
BLOCKS_FROM = 1 << 18  # terms of one sequence,
POWERS_FROM = 1 << 13  # terms of neighbours along the last axis,
FEW = 1 << 14  # elements of all terms together, up to which they are computed at once
SHORTEST = 32  # and elements of both, from which products of blocks are faster than single elements


class Way(NamedTuple):
    """A way to compute a convolution.

    Attributes
    ----------
    method, reason : str
        Text for the plan.
    lowering : Lowering
    run : callable
        Returns the wanted part, in storage.
    work : float
        Multiply-adds.
    memory : int
        Bytes beyond the operands.
    place : str
        As in `Plan`.
    """

    method: str
    reason: str
    lowering: Lowering
    run: Callable[[], np.ndarray]
    work: float
    memory: int
    place: str = ""


def way(low: Lowering, windows: Windows, a: np.ndarray, b: np.ndarray) -> Way:
    """The fastest way; a and b end with the axes of the convolution, and their other axes broadcast to the stack."""
    answer = prod(windows.stack) * prod(windows.shape)
    if 0 in windows.stack:
        return Way("nothing to sum", "the stack is empty", low, lambda: low.empty((*windows.stack, *windows.shape)),
                   0.0, 0)
    each = windows._replace(stack=()).terms
    size, terms = low.storage.itemsize, windows.terms
    if low.on_gpu:
        return _on_gpu(low, windows, a, b)
    if len(windows.left) == 1 and each >= SLOPES_FROM and convex.applies(low):
        found = _by_slopes(low, windows, a, b)
        if found is not None:
            return found
    if low.kind == "objects" or not low.algebra.absorbs:
        why = "elements are Python objects" if low.kind == "objects" else "zero does not absorb"
        return _single(low, windows, a, b, why)
    if low.log_sum is not None and low.storage in (np.float32, np.float64):
        lines = prod(windows.stack) * prod(windows.shape[:-1])
        if terms >= lines * POWERS_FROM:
            return _by_powers(low, windows, a, b)
    rounds = float(min(prod(windows.left), prod(windows.right)))
    if not low.by_library and stacks_repay(low, rounds, terms):
        return _vectors(low, windows, a, b)
    shortest = min(windows.left[-1], windows.right[-1])
    if each >= BLOCKS_FROM and shortest >= SHORTEST:
        made = affordable(low, rounds, terms)
        if made.compiled or made.by_library:
            return Way("Toeplitz blocks", "products of blocks, which the engine of matrices computes", made,
                       lambda: _blocks(made, windows, a, b), terms,
                       answer * size + (a.nbytes + b.nbytes if not low.is_identity else 0) + (1 << 24))
    return _single(low.interpreted, windows, a, b, "little work, or short sequences")


@lru_cache(1)
def reals() -> Any:
    """The GPU's form of ordinary sums and products of finite numbers in double precision that are not negative."""
    from semiring.kernels.cuda.choose import general_on_device

    plain: Any = general_on_device(plus_times, np.dtype(np.float64))
    return plain.for_product(DeviceFacts(largest=1, least=0))


def _on_gpu(low: Any, windows: Windows, a: Any, b: Any) -> Way:
    """By the kernel of the GPU, of powers where that repays."""
    from semiring.kernels.cuda.dense.convolution import convolution
    from semiring.kernels.cuda.dense.log_convolution import LogConvolution, repays

    if low.is_identity and repays(low, windows):
        powers = LogConvolution(low, reals())
        return Way("powers", "ordinary convolutions of powers, and terms where powers underflow", low,
                   lambda: powers(windows, a, b), windows.terms, powers.memory(windows))
    kernels, coded = convolution(low), 0 if low.is_identity else (a.size + b.size) * low.storage.itemsize
    return Way("neighbours in registers", "every thread of the GPU sums neighbours of c", low,
               lambda: kernels(windows, low.encode(a, not low.is_identity), low.encode(b, not low.is_identity)),
               windows.terms, coded + kernels.memory(windows))


def _single(low: Lowering, windows: Windows, a: np.ndarray, b: np.ndarray, reason: str) -> Way:
    """One element of the smaller operand after the other; or all terms at once, if they are few."""
    whole = sum((*windows.left, *windows.right))
    few = not windows.stack and len(windows.left) == 1 and min(*windows.left, *windows.right) * whole <= FEW

    def at_once() -> np.ndarray:
        (first,), (count,) = windows.first, windows.shape
        return by_outer_product(low, low.encode(a, True), low.encode(b, True))[first : first + count]

    def run() -> np.ndarray:
        shape = (*windows.stack, *windows.shape)
        C = full(np.empty(shape, object), low.zero[0]) if low.kind == "objects" else operations(low).zeros(shape)
        sides = low.encode(a, True), low.encode(b, True)
        if logs:
            log_sums_by_elements(low, C, *sides, windows.first)
        else:
            by_elements(accumulating(low), C, *sides, windows.first)
        return C

    logs = low.log_sum is not None  # whose terms are in double precision
    size = 16 if logs else low.storage.itemsize
    if few and low.kind != "objects" and not low.algebra.product_only:  # ⊕ may not be associative
        return Way("outer product", reason, low, at_once, windows.terms, 3 * FEW * size,
                   "CPU, 1 thread, NumPy")
    memory = 3 * prod(windows.stack) * prod(windows.shape) * size
    return Way("element by element", reason, low, run, windows.terms, memory, "CPU, 1 thread, NumPy")


def _by_powers(low: Lowering, windows: Windows, a: np.ndarray, b: np.ndarray) -> Way:
    """By ordinary convolutions of powers, and by terms where these underflow."""
    line = windows.left[-1] + windows.right[-1]

    def run() -> np.ndarray:
        sides = (x if low.is_identity else low.encode(x, True) for x in (a, b))
        return LogConvolution(low, windows, *sides).run()

    own = prod(windows.left) + prod(windows.right) + 8 * line
    return Way("powers", "ordinary convolutions of powers, and terms where powers underflow", low, run, windows.terms,
               prod(windows.stack) * prod(windows.shape) * low.storage.itemsize + 32 * own, cpu_place())


def _vectors(low: Lowering, windows: Windows, a: np.ndarray, b: np.ndarray) -> Way:
    """By vectors; the shorter operand comes second where ⊗ commutes."""
    exchange = low.algebra.commutative and windows.left[-1] < windows.right[-1]
    wanted, left, right = (windows.exchanged, b, a) if exchange else (windows, a, b)
    strips = Strips.of(low, wanted.left[-1], wanted.right[-1], wanted.shape[-1])
    stored = prod((*wanted.stack, *wanted.shape[:-1], strips.rows * strips.width)) + left.size + right.size

    def run() -> np.ndarray:
        sides = (x if low.is_identity else low.encode(x, True) for x in (left, right))
        return Vectors(low, wanted, *sides).run()

    return Way("Toeplitz rows as vectors", "views of the sequences are the matrices, and tiles of c stay in registers",
               low, run, windows.terms, stored * low.storage.itemsize, cpu_place())


def _blocks(low: Lowering, windows: Windows, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By products of blocks, for each pair of sequences along the last axis."""
    C = operations(low).zeros((*windows.stack, *windows.shape))
    A, B = (low.encode(x, True) for x in (a, b))
    A, B = (np.broadcast_to(x, (*windows.stack, *n)) for x, n in ((A, windows.left), (B, windows.right)))
    engine = paced(kernel(low), low, windows.terms)
    for place in np.ndindex(*windows.stack):
        for I in every(*map(range, windows.left[:-1])):
            for J in every(*map(range, windows.right[:-1])):
                at = tuple(i + j - f for i, j, f in zip(I, J, windows.first, strict=False))
                if all(0 <= x < n for x, n in zip(at, windows.shape, strict=False)):
                    by_blocks(engine, low, C[(*place, *at)], A[(*place, *I)], B[(*place, *J)], windows.first[-1])
    return C


def _by_slopes(low: Lowering, windows: Windows, a: np.ndarray, b: np.ndarray) -> Way | None:
    """The way for convex sequences: of both operands, or exactly of one; None if there are others in both."""
    stored = [low.encode(x, True) for x in (a, b)]
    sides: list[dict[tuple[int, ...], convex.Slopes] | None] = [None, None]

    def look(side: int) -> None:
        sides[side] = _slopes(low, stored[side])

    share(look, [(0,), (1,)], thread_count() if min(a.size, b.size) >= ENOUGH_STEPS else 1)
    x, y = sides
    left, right = windows.left[0], windows.right[0]
    total, count = left + right, prod(windows.stack)
    answer, (first,), (wanted,) = count * windows.shape[0], windows.first, windows.shape
    places = list(np.ndindex(*windows.stack))

    def made(
        method: str, reason: str, work: float, each: Callable[[tuple[int, ...]], np.ndarray],
        place: str = "CPU, 1 thread",
    ) -> Way:
        def run() -> np.ndarray:
            C = low.empty((*windows.stack, wanted))
            for place in places:
                C[place] = each(place)[first : first + wanted]
            return C

        return Way(method, reason, low, run, work, answer * low.storage.itemsize + 64 * total * count, place)

    if x is not None and y is not None:
        if _are_exact(x) and _are_exact(y):
            return made("merged slopes", "both sequences are convex, seen from ⊕", float(count * (total - 1)),
                        lambda place: convex.merged(low, x[_of(place, a)], y[_of(place, b)], total - 1))
        pairs = {place: (x[_of(place, a)], y[_of(place, b)]) for place in places}
        found = {place: convex.candidates(low, *pair) for place, pair in pairs.items()}
        work = sum(each.total for each in found.values())
        if work * convex.COST <= windows.terms:
            return made("merged slopes", "both sequences are convex up to rounding, seen from ⊕",
                        float(work * convex.BLOCK),
                        lambda place: convex.least(low, *pairs[place], found[place], total - 1), cpu_place())
    one, of_one, other, own = (x, a, stored[1], b) if _are_exact(x) else (y, b, stored[0], a)
    if one is None or not _are_exact(one) or not monotone.repays(left, right, windows.terms / count):
        return None

    def pair(place: tuple[int, ...]) -> tuple[np.ndarray, convex.Slopes]:
        return other[_of(place, own)], one[_of(place, of_one)]

    if not all(monotone.are_exact(low, *pair(place)) for place in places):
        return None
    work = count * total * total.bit_length()
    return made("divided rows", "one sequence is convex, seen from ⊕", float(work),
                lambda place: monotone.with_convex(low, *pair(place), count=total - 1))


def _are_exact(found: dict[tuple[int, ...], convex.Slopes] | None) -> bool:
    return found is not None and all(one.exact for one in found.values())


def _slopes(low: Lowering, x: np.ndarray) -> dict[tuple[int, ...], convex.Slopes] | None:
    """Those of all sequences of a stack in storage; None if one of them is not convex."""
    found = {}
    for place in np.ndindex(*x.shape[:-1]):
        one = convex.slopes(low, x[place])
        if one is None:
            return None
        found[place] = one
    return found


def _of(place: tuple[int, ...], x: np.ndarray) -> tuple[int, ...]:
    """A place of the stack in an array that broadcasts to it."""
    shape = x.shape[:-1]
    return tuple(i if n > 1 else 0 for i, n in zip(place[len(place) - len(shape) :], shape, strict=True))
