"""Chains of rows in the memory of a GPU by its products, a step of all sequences at once: rows of any length.

The sequences are sorted by length, so that those that have not ended come first, and a step takes a run of them. If
their rows, matrices or emissions are evenly spaced in memory, a step reads and writes them where they lie; else they
are gathered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.elements import full
from semiring.kernels.build import kernel
from semiring.kernels.cpu.dense.steps import Sequences
from semiring.operands.dense import Dense
from semiring.operands.devices import module_of, upload
from semiring.solvers.forms import refuse_overflow
from semiring.solvers.plan import Plan

from .layout import Layout
from .reading import answered
from .steps import Steps

Where = Any  # what arrays are indexed with: a slice, or an array of places on the device


class Places:
    """The place in an array of each sequence's item at each step.

    Parameters
    ----------
    first : ndarray of int64, shape (sequences,)
        The places at the first step.
    turn : int
        By which all of them move a step.
    """

    def __init__(self, first: np.ndarray, turn: int):
        self.turn, self._first = turn, int(first[0])
        steps = np.diff(first)
        self._apart = int(steps[0]) if len(steps) else 1
        self._places = None if self._apart >= 0 and (steps == self._apart).all() else upload(first)

    @property
    def shared(self) -> bool:
        """Whether all sequences have the same item."""
        return self._places is None and self._apart == 0

    def at(self, t: int, count: int) -> Where:
        """The places of the first `count` sequences at step t; one place if all share it."""
        if self._places is not None:
            return self._places[:count] + self.turn * t
        begin = self._first + self.turn * t
        if self.shared:
            return slice(begin, begin + 1)
        return slice(begin, begin + self._apart * (count - 1) + 1, self._apart)


def run(
    operands: list[Dense], found: Layout, reverse: bool, argmax: bool, in_chunks: Callable[..., bool] | None, plan: Plan
) -> Any:
    """The answer of `forward` for arrays on a GPU.

    Parameters
    ----------
    operands : list of Dense
    found : Layout
    reverse, argmax : bool
    in_chunks : callable or None
        Called with the form, the engine, the kernel of winners or None, the sequences, the arrays for rows and winners
        and `reverse`, if sequences are cut; whether the rows are right.
    plan : Plan
        With `reverse` its form is of the exchanged algebra.
    """
    from semiring.kernels.cuda.choose import array_kernel
    from semiring.kernels.cuda.dense.outer import outer
    from semiring.kernels.cuda.dense.winners import winners_kernel

    low: Any = plan.lowering
    x, A, *e = (_stored(low, operand.array) for operand in operands)
    given = found.sequences(x, A, e[0] if e else None)
    if reverse:
        given = given._replace(A=turned(given.A))
    xp, n, count = module_of(x), found.shape[-1], prod(found.shape[:-1])
    out = _zeros(low, (count, n)) if found.partial else low.empty((count, n))
    back = xp.zeros((count, n), np.min_scalar_type(max(n - 1, 0))) if argmax else None
    if out.size:
        engine, winners = kernel(low), winners_kernel(array_kernel(low)) if argmax else None
        if not in_chunks or not in_chunks(low, engine, winners, given, out, back, reverse):
            walk(engine, winners, partial(outer, low), given, out, back, reverse)
    result = low.decode(out).reshape(found.shape)
    refuse_overflow(low, result)
    values = answered(operands[0], result)
    return values if back is None else Steps(values, back.reshape(found.shape), operands[0].S, found, reverse, result)


def _stored(low: Any, array: Any) -> Any:
    """The elements in storage, those of a row side by side."""
    from semiring.kernels.cuda.compile.launch import in_c_order

    if array.dtype.names or array.strides[-1] != array.itemsize:
        array = in_c_order(array)
    return array if low.is_identity else low.encode(array, True)


def _zeros(low: Any, shape: tuple[int, ...]) -> Any:
    """Zeros in storage."""
    zero: Any = np.array(low.zero, low.storage) if low.storage.names else low.zero[0]
    if low.storage.kind == "c":
        zero = complex(*low.zero)
    return upload(full(np.empty(shape, low.storage), zero))


def walk(engine: Any, winners: Any, scale: Any, given: Sequences, out: Any, back: Any, backwards: bool) -> None:
    """out[t] ← x ⊗ A₁ ⊗ … ⊗ A_t for all t and every sequence, in storage.

    Parameters
    ----------
    engine : kernel
        With `multiply` and `multiply_stack`; with `backwards` of the algebra with the operands of ⊗ exchanged.
    winners : kernel
        Whose `multiply` gives products and the terms that won; not used without `back`.
    scale : callable
        x ⊗ e, element by element.
    given : Sequences
        With `backwards` the matrices are transposed.
    out : array, shape (rows, n)
    back : array of unsigned integers, shape (rows, n), or None
        Gets the least k of the term that won.
    backwards : bool
        Steps and emissions come from the last row to the first, and emissions join after a row came out.
    """
    order = np.argsort(-given.lengths, kind="stable")
    lengths = given.lengths[order]
    lengths = lengths[lengths > 0]
    if not len(lengths):
        return
    order = order[: len(lengths)]
    last, turn = (lengths - 1, -1) if backwards else (np.zeros_like(lengths), 1)
    rows = Places(given.rows_at[order] + last, turn)
    # The matrix between two rows has the number of the first of them.
    matrices = Places(given.a_at[order] + given.a_step * (last if backwards else last - 1), given.a_step * turn)
    emissions = Places(given.e_at[order] + last, turn)
    live = np.searchsorted(-lengths, -np.arange(int(lengths[0])), side="left")
    state = taken(given.x, Places(given.x_at[order], 0).at(0, len(order)))
    for t in range(int(lengths[0])):
        count = int(live[t])
        row = state[:count]
        if t:
            A = taken(given.A, matrices.at(t, count))
            if back is None:
                row = _times(engine, row, A)
            else:
                row, which = _won(winners, row, A)
                put(back, rows.at(t, count), which.astype(back.dtype))
        elif len(row) < count:
            row = repeated(row, count)
        emitted = row if given.e is None else scale(row, taken(given.e, emissions.at(t, count)))
        put(out, rows.at(t, count), row if backwards else emitted)
        state = emitted


def _times(engine: Any, x: Any, A: Any) -> Any:
    """A row times its matrix for each sequence, or all rows times the same one."""
    result = module_of(x).empty(x.shape, x.dtype)
    if len(A) == 1:
        engine.multiply(result, x, A[0])
    else:
        engine.multiply_stack(*(r.reshape(len(r), 1, r.shape[1]) for r in (result, x)), A)
    return result


def _won(winners: Any, x: Any, A: Any) -> tuple[Any, Any]:
    """The same, and the least k whose term is the element."""
    rows = x.reshape(1, *x.shape) if len(A) == 1 else x.reshape(len(x), 1, x.shape[1])
    values, which = winners.multiply(rows, A)
    return values.reshape(x.shape), module_of(which).maximum(which.reshape(x.shape), 0)  # −1 where the element is 0


def taken(array: Any, where: Where) -> Any:
    """Some items of an array: a view if a slice says which."""
    if isinstance(where, slice):
        return array[where]
    from semiring.kernels.cuda.compile.launch import in_words

    found = in_words(array)[where]
    return found if array.dtype.names is None else _records(found, array.dtype)


def put(array: Any, where: Where, values: Any) -> None:
    """array[where] ← values, of the same dtype or numbers."""
    from semiring.kernels.cuda.compile.launch import in_words

    in_words(array)[where] = in_words(values)


def repeated(row: Any, count: int) -> Any:
    """An array (1, n) as one of `count` rows."""
    from semiring.kernels.cuda.compile.launch import in_words

    words, xp = in_words(row), module_of(row)
    found = xp.ascontiguousarray(xp.broadcast_to(words, (count, *words.shape[1:])))
    return found if row.dtype.names is None else _records(found, row.dtype)


def turned(A: Any) -> Any:
    """The transposes of a stack of matrices, in C order."""
    from semiring.kernels.cuda.compile.launch import in_words

    found = module_of(A).ascontiguousarray(in_words(A).swapaxes(1, 2))
    return found if A.dtype.names is None else _records(found, A.dtype)


def _records(words: Any, dtype: np.dtype) -> Any:
    """Words in C order as the records that they are."""
    import cupy

    return cupy.ndarray(words.shape[:-1], dtype, words.data)
