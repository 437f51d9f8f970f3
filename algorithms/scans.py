"""All products P_t = A_0 ⊗ A_1 ⊗ … ⊗ A_t of a sequence of matrices, and of a row vector with it.

One product a matrix, each after the one before (`fold`):

    P_0 = A_0,   P_t = P_{t−1} ⊗ A_t

⊗ is associative, so the sequence can be cut into chunks that are computed side by side (`fold_chunks`). A chunk that
begins at b has products of its own; D is the product of all matrices before it, from chunk to chunk:

    L_b = A_b,  L_t = L_{t−1} ⊗ A_t        D ← D ⊗ L_end        P_t = D ⊗ L_t

This takes two products a matrix. G. E. Blelloch, Prefix sums and their applications (1990), section 1.3.

A row vector x takes n² terms a step, where a product of matrices takes n³, so `walk` goes step by step, and takes many
sequences side by side. The steps of hidden Markov models multiply by emissions e_t, element by element:

    x_0 = x ⊗ e_0,   x_t = (x_{t−1} ⊗ A_t) ⊗ e_t                     forwards
    x_T = x,         x_t = A_{t+1} ⊗ (e_{t+1} ⊗ x_{t+1})              backwards

L. R. Rabiner, A tutorial on hidden Markov models (1989), equations 19, 20, 24 and 25, without his factors of scale.
Backwards is forwards over the algebra with the operands of ⊗ exchanged, of transposed matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from semiring.kernels.interface import StackKernel

Scale = Callable[[np.ndarray, np.ndarray], np.ndarray]  # x ⊗ y, element by element


def _times(kernel: StackKernel[np.ndarray], P: np.ndarray, D: np.ndarray, A: np.ndarray, reverse: bool) -> None:
    """P ← D ⊗ A, or A ⊗ D, on stacks."""
    kernel.multiply_stack(P, *((A, D) if reverse else (D, A)))


def fold(
    P: np.ndarray, A: np.ndarray, kernel: StackKernel[np.ndarray], reverse: bool = False, begin: int = 1
) -> None:
    """P[t] ← P[t−1] ⊗ A[t], or A[t] ⊗ P[t−1], from t = `begin` on.

    P[t] and A[t] are stacks of matrices.
    """
    for t in range(begin, len(A)):
        _times(kernel, P[t], P[t - 1], A[t], reverse)


def fold_chunks(
    P: np.ndarray, A: np.ndarray, kernel: StackKernel[np.ndarray], reverse: bool = False, length: int = 1
) -> None:
    """The same for P[0] = A[0], in chunks of `length` matrices that are computed side by side."""
    steps, batch, m, n = P.shape
    count = steps // length
    whole = count * length
    some, local = (X[:whole].reshape(count, length, batch, *X.shape[2:]) for X in (A, P))  # views, if in C order
    local[:, 0] = some[:, 0]
    made = np.empty((count * batch, m, n), P.dtype)
    for j in range(1, length):
        before, now = (np.ascontiguousarray(X).reshape(-1, m, n) for X in (local[:, j - 1], some[:, j]))
        _times(kernel, made, before, now, reverse)
        local[:, j] = made.reshape(count, batch, m, n)
    D = local[0, -1].copy()
    for chunk in local[1:]:
        copies = np.ascontiguousarray(np.broadcast_to(D, chunk.shape)).reshape(-1, m, n)
        products = np.empty_like(copies)
        _times(kernel, products, copies, np.ascontiguousarray(chunk).reshape(-1, m, n), reverse)
        chunk[...] = products.reshape(chunk.shape)
        D = chunk[-1].copy()
    P[:whole] = local.reshape(whole, batch, m, n)
    fold(P, A, kernel, reverse, whole)


class Step(NamedTuple):
    """A step of the sequences that have not ended: which they are, and their rows, matrices and emissions."""

    live: np.ndarray
    rows: np.ndarray
    matrices: np.ndarray
    emissions: np.ndarray


def steps_of(
    lengths: np.ndarray, rows_at: np.ndarray, a_at: np.ndarray, e_at: np.ndarray, a_step: int, backwards: bool
) -> Iterator[Step]:
    """The steps of sequences of different lengths, from their first rows, or backwards from their last ones."""
    for t in range(int(lengths.max(initial=0))):
        live = np.flatnonzero(lengths > t)
        at = lengths[live] - 1 - t if backwards else np.full(len(live), t)
        matrix = at if backwards else at - 1  # the one between the rows, which the first step does not use
        yield Step(live, rows_at[live] + at, a_at[live] + a_step * matrix, e_at[live] + at)


def walk(
    steps: Iterator[Step], x: np.ndarray, A: np.ndarray, e: np.ndarray | None, out: np.ndarray,
    product: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray], scale: Scale, backwards: bool,
) -> None:
    """All rows of some sequences: x has a row for each, `out` gets them.

    Parameters
    ----------
    steps : iterator of Step
    x, A, e, out : ndarray
        In storage. A is transposed, and `scale` is that of the exchanged algebra, if `backwards`.
    product : callable
        Called with rows x, the places of their matrices in A, and the places of rows in `out`: x ⊗ A for each.
    scale : callable
    backwards : bool
    """
    state = x.copy()
    for t, step in enumerate(steps):
        row = product(state[step.live], step.matrices, step.rows) if t else state[step.live]
        emitted = row if e is None else scale(row, e[step.emissions])
        out[step.rows] = row if backwards else emitted
        state[step.live] = emitted
