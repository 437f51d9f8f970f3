"""Chains x ⊗ A₁ ⊗ … ⊗ A_t by vectors: compiled for an algebra's expressions in one storage type.

`walk` computes all rows of many sequences, one after the other in each; threads share the sequences. It reads the
matrices and the emissions once, where they lie. For log-sum-exp see ../compile/lane_steps.py: a row stays in powers, so
that a step takes one logarithm and one power for an entry instead of a `logaddexp` for a term.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import source
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import parts_worth, ranges, share
from semiring.machine.threads import thread_count

from .lanes import MOST_TERMS, SIDE, scalar_and_vectors

TEMPLATE = Path(__file__).with_name("steps_template.py")
POWERS = Path(__file__).with_name("step_powers_template.py")
MOST = SIDE  # elements of a row
LEAST_TERMS = 256  # that take as long as a step of a short row


class Sequences(NamedTuple):
    """Rows, matrices and emissions of several sequences, each at its place in an array.

    Attributes
    ----------
    x : ndarray, shape (…, n)
        First rows, or last ones.
    A : ndarray, shape (…, n, n)
        Matrices.
    e : ndarray or None, shape (…, n)
        Emissions.
    x_at, a_at, e_at, rows_at, lengths : ndarray of int64, shape (sequences,)
        The place of x, of the first matrix, of the first emissions and of the first row that comes out; and how many
        rows do.
    a_step : int
        1 if the next matrix of a sequence comes next, 0 if it is the same one.
    """

    x: np.ndarray
    A: np.ndarray
    e: np.ndarray | None
    x_at: np.ndarray
    a_at: np.ndarray
    e_at: np.ndarray
    rows_at: np.ndarray
    lengths: np.ndarray
    a_step: int

    @property
    def terms(self) -> float:
        """Products ⊗ in all."""
        return float(np.maximum(self.lengths - 1, 0).sum()) * self.x.shape[-1] ** 2


def text(lowering: Lowering) -> tuple[str, str]:
    """The name and the source of the compiled module."""
    program, by = scalar_and_vectors(lowering), "StepPowers" if lowering.log_sum else "Steps"
    imported = f"from semiring.kernels.cpu.compile.lane_steps import {by}\n\n"
    made = source(replace(program, prelude=imported + program.prelude), POWERS if lowering.log_sum else TEMPLATE)
    return program.name.replace("lanes_", "steps_", 1), made


def code(lowering: Lowering) -> list[cache.Function]:
    """What is compiled for chains."""
    return [cache.Function(*text(lowering), "steps")]


@functools.lru_cache(1024)
def _address(lowering: Lowering) -> int:
    from semiring.kernels.cpu.compile.jit import address_of  # it imports Numba

    return address_of(cache.load(*text(lowering)).steps)


def walk(
    lowering: Lowering, given: Sequences, out: np.ndarray, back: np.ndarray | None, backwards: bool, look: bool
) -> bool:
    """out[t] ← x ⊗ A₁ ⊗ … ⊗ A_t for all t and every sequence; whether all entries are elements, if `look` asks for it.

    Parameters
    ----------
    lowering : Lowering
    given : Sequences
        In storage; rows have at most `MOST` elements.
    out : ndarray, shape (rows, n)
    back : ndarray of uint8, shape (rows, n), optional
        Gets the least k of the term that won. Its rows are adjacent.
    backwards : bool
        Steps and emissions come from the last row to the first, and emissions join after a row came out.
    look : bool
        Whether to test the elements. Over log-sum-exp they are tested in any case; the answer is False if one is so
        large that sums may leave the dtype.
    """
    from semiring.kernels.cpu.compile.jit import from_python  # it imports Numba

    x, A, e, n = given.x, given.A, given.e, given.x.shape[-1]
    last = np.maximum(given.lengths - 1, 0) if backwards else np.zeros_like(given.lengths)
    turn = -1 if backwards else 1
    jobs = np.zeros((len(given.lengths), 8), np.int64)
    jobs[:, 0] = x.ctypes.data + given.x_at * x.strides[0]
    jobs[:, 1] = A.ctypes.data + (given.a_at + given.a_step * np.maximum(last - 1, 0)) * A.strides[0]
    if e is not None:
        jobs[:, 2] = e.ctypes.data + (given.e_at + last) * e.strides[0]
    jobs[:, 3] = out.ctypes.data + (given.rows_at + last) * out.strides[0]
    if back is not None:
        jobs[:, 4] = back.ctypes.data + (given.rows_at + last) * back.strides[0]
    jobs[:, 6] = given.lengths
    columns = A.strides[1:][::-1] if backwards else A.strides[1:]
    shared = (
        n, x.strides[1], turn * given.a_step * A.strides[0], *columns, *((0, 0) if e is None else
        (turn * e.strides[0], e.strides[1])), turn * out.strides[0], out.strides[1],
        0 if back is None else turn * back.strides[0], e is not None, back is not None, backwards, look, 1,
    )
    steps = from_python(_address(lowering), 17)
    strange: list[int] = []

    def part(first: int, end: int) -> None:
        some = jobs[first:end]
        try:
            for _ in _in_turn(some, n, x.dtype):
                if strange or steps(some.ctypes.data, end - first, *shared) >= 0:
                    strange.append(first)
                    return
        except BaseException:  # an interrupt, after which other threads begin no more
            strange.append(first)
            raise

    threads, work = thread_count(), int(given.terms)
    share(part, ranges(len(jobs), max(parts_worth(work, threads), work // MOST_TERMS)), threads)
    return not strange


def _in_turn(jobs: np.ndarray, n: int, dtype: np.dtype) -> Iterator[None]:
    """Make jobs ask for so many rows of each that an interrupt is heard after them, again and again up to the last."""
    lengths = jobs[:, 6].copy()
    longest, count = int(lengths.max(initial=0)), max(1, MOST_TERMS // (max(n * n, LEAST_TERMS) * len(jobs)))
    if longest > count:
        kept = np.empty((len(jobs), 16 + 2 * SIDE * dtype.itemsize), np.uint8)
        jobs[:, 7] = kept.ctypes.data + np.arange(len(jobs)) * kept.strides[0]
    for begin in range(0, longest, count):
        jobs[:, 5], jobs[:, 6] = begin, np.minimum(lengths, begin + count)
        yield
