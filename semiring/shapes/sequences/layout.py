"""Sequences of different lengths in arrays: where the rows, matrices and emissions of each are.

The rows of a batch of sequences are stored in one of two ways. *Padded*: an axis of steps, as long as the longest
sequence, after the axes of the batch. *One after the other*: the rows of all sequences in one axis, as hmmlearn and
CRF suites have them. `Layout` finds the way from the shapes, and says what does not fit.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.arguments import array_of, whole_number
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.kernels.cpu.dense.steps import Sequences

Shape = tuple[int, ...]
MOST = 1 << 62  # rows, or steps: places stay within 64 bits


class Layout(NamedTuple):
    """Places of all sequences in arrays.

    Attributes
    ----------
    shape : tuple of int
        Of all rows: (…, T, n), or (rows, n) if sequences come one after the other.
    batch : tuple of int
        The axes of the sequences.
    lengths : ndarray of int64
        The rows of each sequence, in C order of the batch.
    joined : bool
        Whether sequences come one after the other.
    """

    shape: Shape
    batch: Shape
    lengths: np.ndarray
    joined: bool

    @property
    def rows_at(self) -> np.ndarray:
        """The place of the first row of each sequence among all rows."""
        if self.joined:
            return np.concatenate([[0], np.cumsum(self.lengths)])[:-1].astype(np.int64)
        return np.arange(len(self.lengths), dtype=np.int64) * self.shape[-2]

    @property
    def partial(self) -> bool:
        """Whether some rows belong to no sequence."""
        return not self.joined and bool((self.lengths < self.shape[-2]).any())

    def sequences(self, x: np.ndarray, A: np.ndarray, e: np.ndarray | None) -> Sequences:
        """The places of all sequences in such arrays, whose leading axes become one."""
        n, rows = self.shape[-1], self.rows_at
        count, matrices = len(self.lengths), A.shape[-3] if A.ndim > 2 else 1
        step = int(A.ndim > 2 and A.shape[-3] > 1)
        if self.joined:
            a_at = rows - np.arange(count) if step else np.zeros(count, np.int64)
        else:
            a_at = _places(A.shape[:-3], self.batch) * matrices
        e_at = np.zeros(count, np.int64)
        if e is not None:
            e_at = rows if self.joined else _places(e.shape[:-2], self.batch) * e.shape[-2]
            e = e.reshape(-1, n) if n else e.reshape(prod(e.shape[:-1]), 0)
        flat = (prod(x.shape[:-1]), n), (prod(A.shape[:-2]), n, n)
        return Sequences(
            x.reshape(flat[0]), A.reshape(flat[1]), e, _places(x.shape[:-1], self.batch), a_at.astype(np.int64), e_at,
            rows, self.lengths, step,
        )


def _places(own: Shape, batch: Shape) -> np.ndarray:
    """Which of a batch's own items each sequence has."""
    return np.broadcast_to(np.arange(prod(own), dtype=np.int64).reshape(own), batch).reshape(-1)


def layout(x: Shape, stack: Shape, emissions: Shape | None, lengths: Any, steps: Any) -> Layout:
    """Find where the sequences are from the shapes of x, the stack and the emissions.

    Raises
    ------
    SemiringError
        If they do not fit.
    """
    n = _order(x, stack, emissions)
    if emissions is not None and steps is not None:
        raise SemiringError("steps is for calls without emissions, whose rows are counted: leave out one of the two")
    if lengths is not None and emissions is not None and len(emissions) == 2:
        return _joined(x, stack, emissions, _lengths(lengths))
    matrices = stack[-3] if len(stack) > 2 else 1
    if emissions is not None:
        rows = emissions[-2]
    elif steps is not None:
        rows = whole_number(steps, "steps", 0, MOST) + 1
    elif len(stack) > 2:
        rows = matrices + 1
    else:
        raise SemiringError("one matrix serves any number of steps: pass emissions of shape (T, n), a stack of shape "
                            "(T − 1, n, n), or steps=")
    if matrices not in (1, max(rows - 1, 0)):
        raise SemiringError(f"stack has {matrices} matrices and there are {rows} rows: pass one matrix between two "
                            f"neighbours, {max(rows - 1, 0)} in all, or one for all steps")
    leading = {"x": x[:-1], "stack": stack[:-3], "emissions": () if emissions is None else emissions[:-2]}
    batch: Shape = ()
    for what, axes in leading.items():
        try:
            batch = np.broadcast_shapes(batch, axes)
        except ValueError:
            raise SemiringError(f"{what} has leading axes {axes}, which do not broadcast with {batch} of those before "
                                "it") from None
    count = prod(batch)
    if lengths is None:
        return Layout((*batch, rows, n), batch, np.full(count, rows, np.int64), False)
    given = _lengths(lengths)
    if given.shape != batch:
        raise SemiringError(f"lengths has shape {given.shape}, and there are sequences of shape {batch}")
    if given.size and int(given.max()) > rows:
        at = np.unravel_index(int(given.argmax()), batch)
        place = ", ".join(map(str, at))
        raise SemiringError(f"lengths[{place}] is {given.max()}, and there are {rows} rows")
    return Layout((*batch, rows, n), batch, given.reshape(-1), False)


def _order(x: Shape, stack: Shape, emissions: Shape | None) -> int:
    """Elements of a row."""
    if len(stack) < 2 or stack[-1] != stack[-2]:
        raise SemiringError(f"stack must be a square matrix (n, n) or hold square matrices (…, T − 1, n, n), and has "
                            f"shape {stack}")
    n = stack[-1]
    if not x or x[-1] != n:
        raise SemiringError(f"x must be a vector of {n} elements, or one for each sequence (…, {n}), and has shape {x}")
    if emissions is not None and (len(emissions) < 2 or emissions[-1] != n):
        raise SemiringError(f"emissions must have shape (…, T, {n}), a row for each step, and has shape {emissions}")
    return n


def _joined(x: Shape, stack: Shape, emissions: Shape, lengths: np.ndarray) -> Layout:
    """The layout of sequences that come one after the other."""
    rows = emissions[0]
    if lengths.ndim != 1:
        raise SemiringError(f"lengths of sequences that come one after the other must be 1-D, and has shape "
                            f"{lengths.shape}; for padded ones emissions has more axes")
    total = sum(lengths.tolist())  # which leaves 64 bits if they are nonsense
    if total != rows:
        raise SemiringError(f"lengths add up to {total}, and emissions has {rows} rows; padded sequences have "
                            "emissions of shape (sequences, T, n)")
    between = int(np.maximum(lengths - 1, 0).sum())
    if len(stack) > 3 or (len(stack) == 3 and stack[0] != 1 and (stack[0] != between or not lengths.all())):
        raise SemiringError(f"stack has shape {stack}: sequences that come one after the other have one matrix for all "
                            f"steps, or {between}, one between two neighbours of each sequence, and no empty sequence")
    if x[:-1] not in ((), (1,), lengths.shape):
        raise SemiringError(f"x has shape {x}: pass one vector, or one for each of {len(lengths)} sequences")
    return Layout(emissions, lengths.shape, lengths, True)


def _lengths(lengths: Any) -> np.ndarray:
    """Numbers of rows as 64-bit integers."""
    given = array_of(lengths, "lengths")
    if not given.size:
        return given.astype(np.int64)
    if given.dtype.kind not in "iu" or int(given.min()) < 0:
        raise SemiringError(f"lengths must be whole numbers of rows, 0 or more, and is {clip_repr(lengths)}")
    if int(given.max()) >= MOST:
        raise SemiringError(f"lengths has {given.max()}, and a sequence has fewer than 2⁶² rows")
    return given.astype(np.int64)
