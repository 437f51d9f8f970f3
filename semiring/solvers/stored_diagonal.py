"""A⁺ = A A* of a matrix in a file: A*, in which the diagonal alone is another one.

Whoever goes on from a commit needs A*, or all of the new diagonal: it is kept in a file of its own before the first
element of it takes its place.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import shown
from semiring.operands.dense import carried_by
from semiring.scale.files import sync_folder
from semiring.scale.stores import Output, Source

from .forms import diagonal_of_product

KEPT = "diagonal.npy"


def of_walks_with_edges(S: Semiring, source: Source, closure: Output) -> np.ndarray:
    """The diagonal of A⁺: x_ii = ⊕_k a_ik ⊗ x_ki.

    Parameters
    ----------
    S : Semiring
    source : Source
        A.
    closure : Output
        A*.
    """
    def edges(rows: slice, columns: slice) -> np.ndarray:
        block = np.empty((rows.stop - rows.start, columns.stop - columns.start), source.dtype)
        source.read(rows, columns, block)
        return np.asarray(carried_by(block, S))

    def walks(rows: slice, columns: slice) -> np.ndarray:
        return np.asarray(carried_by(closure.read_block(rows, columns), S))

    dtype = carried_by(np.empty(0, source.dtype), S).dtype
    return diagonal_of_product(S.over(dtype), source.shape[0], edges, walks)


def put(values: np.ndarray, closure: Output) -> None:
    """Let a diagonal take its place."""
    for v, value in enumerate(values):
        closure.write_block(slice(v, v + 1), slice(v, v + 1), np.full((1, 1), value, closure.dtype))


def keep(folder: Path, values: np.ndarray) -> None:
    """Return when a diagonal would survive a power cut."""
    with open(folder / KEPT, "wb") as file:
        np.save(file, values)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(folder)


def kept(folder: Path) -> np.ndarray:
    """What was kept.

    Raises
    ------
    SemiringError
        When it is damaged.
    """
    path = folder / KEPT
    try:
        return np.asarray(np.load(path))
    except (OSError, ValueError, EOFError):
        raise SemiringError(f"{shown(path)} is damaged: remove the folder, and begin anew") from None
