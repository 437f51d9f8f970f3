"""Einsums as nests of loops: when that is right and repays, and the walk back to the winning terms.

    offer      the form of the elements, and `Contraction` for its size; None for the general way (running.py)
    answer     the elements in storage, all nests (nests.py), the last array out of storage
    assignment from the answer back to the first product: of each, the terms of the wanted entries, and the best of them
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from semiring.algebra.elements import choose, equal
from semiring.algebra.semiring import Semiring
from semiring.kernels.build import code_of
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.cpu.dense.lanes import fits, geometry
from semiring.kernels.cpu.dense.nests import LOOPS, looks
from semiring.kernels.facts import Facts, together
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.dense import operations
from semiring.solvers.forms import plain_form

from .contraction import Product, Steps, Sum
from .nests import ALIGNED, Contraction, contraction_of
from .notation import Axis
from .reading import Operands
from .running import NONE, diagonals, summed

SHARE = 4  # of the terms of all products, the walk back looks at one in so many at most,
AT_ONCE = 1 << 24  # and at so many at once


class Nested:
    """An einsum as nests.

    Attributes
    ----------
    bytes : int
        Of all arrays that are held at once, beyond the operands.
    """

    def __init__(self, steps: Steps, S: Semiring, low: Lowering, contraction: Contraction, argmax: bool):
        self._steps, self._S, self._low, self._contraction = steps, S, low, contraction
        self.bytes = contraction.bytes + (steps.places if argmax else 0)

    def answer(
        self, given: Sequence[np.ndarray], argmax: bool, check: bool
    ) -> tuple[np.ndarray, dict[Axis, np.ndarray]] | None:
        """The answer, and if wanted the places of its winning terms; None if something is not an element."""
        low, steps = self._low, self._steps
        arrays = [diagonals(A, axes) for A, axes in zip(given, steps.fitted.operands, strict=True)]
        arrays += [summed(step, self._S, arrays[step.source], None) for step in steps.steps if isinstance(step, Sum)]
        stored = arrays if low.is_identity else [low.encode(A, True) for A in arrays]
        memory = np.empty(self._contraction.size + ALIGNED, np.uint8)
        memory = memory[-memory.ctypes.data % ALIGNED :]
        made = self._contraction.run(low, stored, memory, check and low.is_identity, check and looks(low))
        if made is None:
            return None
        output, own = steps.fitted.output, self._contraction.laid[-1].axes
        last = made[-1].transpose([own.index(a) for a in output])
        result = low.decode(last.copy())
        return result, self._assignment(made, last) if argmax else {}

    def _assignment(self, arrays: list[np.ndarray], last: np.ndarray) -> dict[Axis, np.ndarray]:
        """For each axis that is summed, its place in the winning term, by the axes of the answer; −1 for zero."""
        low, steps, shape = self._low, self._steps, last.shape
        sizes, output, do = steps.sizes, steps.fitted.output, operations(self._low)
        at: Any = np.indices(shape, sparse=True)
        places: dict[Axis, Any] = {a: n[..., None] for a, n in zip(output, at, strict=True)}
        for step in reversed(steps.steps):
            if step.summed:
                numbers = _numbers(tuple(sizes[a] for a in step.summed))
                own = places | dict(zip(step.summed, numbers, strict=True))
                terms = [arrays[n][tuple(own[a] for a in self._contraction.laid[n].axes)] for n in _factors(step)]
                best = _best(low, terms[0] if len(terms) == 1 else do.scale(*terms))
                places |= {a: n[best] for a, n in zip(step.summed, numbers, strict=True)}
        zero = np.empty((), low.storage)
        do.clear(zero[None])
        nothing = equal(last, np.broadcast_to(zero, shape))
        return {a: np.where(nothing, NONE, places[a][..., 0]).astype(NONE.dtype) for a in sizes if a not in output}


def _factors(step: Sum | Product) -> tuple[int, ...]:
    return (step.source,) if isinstance(step, Sum) else (step.left, step.right)


@lru_cache(256)
def _numbers(shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """The places of all elements along each axis."""
    return np.unravel_index(np.arange(prod(shape)), shape)


def _best(low: Lowering, terms: np.ndarray) -> np.ndarray:
    """The place along the last axis, which stays, of a term that is their ⊕, which selects."""
    if len(low.components) == 1 and low.add.is_plain("minimum", "maximum"):
        least = low.add.is_plain("minimum")
        return terms.argmin(-1, keepdims=True) if least else terms.argmax(-1, keepdims=True)
    add, places = operations(low).add, np.broadcast_to(np.arange(terms.shape[-1]), terms.shape)
    while terms.shape[-1] > 1:  # the first half against the second one, and so on
        half = terms.shape[-1] // 2
        x, y = terms[..., :half], terms[..., half : 2 * half]
        first = equal(add(x, y), x)
        winners = choose(first, x, y), np.where(first, places[..., :half], places[..., half : 2 * half])
        terms, places = (np.concatenate([w, rest[..., 2 * half :]], -1)
                         for w, rest in zip(winners, (terms, places), strict=True))
    return places


def offer(steps: Steps, S: Semiring, given: Operands, argmax: bool, check: bool) -> Nested | None:
    """The einsum as nests, if that is right and repays; None for the general way."""
    found = suited(steps, S, given, argmax, check)
    if found is None or not is_due(*found):
        return None
    low, contraction = found
    seconds = _seconds(low, contraction)
    if not all(code.repays(seconds) for code in _codes(low)):
        return None
    if check:  # the nests look at what they read, if it is stored as it is
        given.examine(steps.diagonal if low.is_identity else None)
    return Nested(steps, S, low, contraction, argmax)


def suited(
    steps: Steps, S: Semiring, given: Operands, argmax: bool, check: bool
) -> tuple[Lowering, Contraction] | None:
    """The form of the elements and the nests; None if nests are not right or predicted to be slower."""
    low = _form(steps, S, given, argmax, check)
    contraction = None if low is None else _contraction(steps, low, argmax)
    return None if low is None or contraction is None else (low, contraction)


def is_due(low: Lowering, contraction: Contraction) -> bool:
    """Whether the code of nests is there or repays for these; nothing is compiled."""
    seconds = _seconds(low, contraction)
    return all(code.bought or code.is_due(seconds) for code in _codes(low))


def most_bytes(steps: Steps, S: Semiring, dtype: np.dtype, argmax: bool) -> int:
    """Bytes that may be held at once beyond the operands, by nests or by products of stacks."""
    contraction = _contraction(steps, plain_form(S, dtype, Facts(), 3), argmax)
    nests = contraction.bytes + (steps.places if argmax else 0) if contraction else 0
    return max(steps.bytes(dtype.itemsize, argmax), nests)


def _contraction(steps: Steps, low: Lowering, argmax: bool) -> Contraction | None:
    """The nests for elements in a form; None where they are slower than the general way."""
    if not fits(low) or (argmax and not _walks_back(steps)):
        return None
    lanes, height, _ = geometry(low.components)
    return contraction_of(steps, low.storage.itemsize, lanes, height, argmax)


@contextmanager
def renting(steps: Steps, S: Semiring, given: Operands, argmax: bool, check: bool) -> Iterator[None]:
    """A context in which the general way does work that nests could do: all of its time is rent for their code."""
    found = suited(steps, S, given, argmax, check)
    codes = _codes(found[0]) if found else []
    before, began = [code.spent for code in codes], perf_counter()
    yield
    for code, spent in zip(codes, before, strict=True):
        code.spent = spent + perf_counter() - began


def _form(steps: Steps, S: Semiring, given: Operands, argmax: bool, check: bool) -> Lowering | None:
    """The form of all elements, from the operands to the answer; None where nests are not right, or slower."""
    sums = any(isinstance(step, Sum) for step in steps.steps)
    if S.product_only or not (S.absorbs and S.commutative) or given.on_gpu or given.dtype == object:
        return None
    low = plain_form(S, given.dtype, Facts(), 3)
    if given.dtype in (np.float32, np.float64) or given.dtype.names:
        return low
    if sums or not check or not all(X.shape and X.kind == "dense" for X in given.operands):
        return None  # facts about the operands are not asked for, or not those about all that is multiplied
    if _contraction(steps, low, argmax) is None:
        return None  # before a pass over the operands for the facts about them
    return plain_form(S, given.dtype, together([X.facts for X in given.operands]), len(given.operands))


def _codes(low: Lowering) -> list[Code]:
    return [code_of(low, "stacks"), LOOPS]


def _seconds(low: Lowering, contraction: Contraction) -> float:
    """What NumPy is predicted to take for all products."""
    steps = contraction.steps
    return sum(operations(low).seconds(steps.size(p.summed), p.work) for p in contraction.products)


def _walks_back(steps: Steps) -> bool:
    """Whether few terms decide about the winners of the answer."""
    entries = prod(steps.sizes[a] for a in steps.fitted.output)
    terms = [entries * steps.size(step.summed) for step in steps.steps]
    return max(terms, default=0) <= AT_ONCE and sum(terms) * SHARE <= steps.work
