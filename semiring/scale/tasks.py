"""Run a recorded program as tasks on tiles in an object store: each task reads tiles and returns one.

All products that are added to a tile in a row are one task, because a task costs as much as a small product.
This module does not depend on the system that runs the tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semiring.algorithms.r_kleene import close_by_halves
from semiring.kernels.interface import Kernel

from .program import Program, Tile


class Work(NamedTuple):
    """What a task does with one tile.

    Attributes
    ----------
    kind : {"close", "multiply", "multiply_add"}
        First a product in place of the target, if any; further products are added to it.
    target : int
        The cell that is written.
    factors : list of (int, int)
        Cells, in the order of the products.
    tile : (int, int)
    """

    kind: str
    target: int
    factors: list[tuple[int, int]]
    tile: Tile


def works(made: Program) -> list[Work]:
    """The operations of a program, with consecutive products on one tile combined.

    A product waits for further ones until its target or one of its factors is needed again.

    Examples
    --------
    >>> from semiring.algorithms.r_kleene import r_kleene
    >>> from semiring.scale.program import program
    >>> [(w.kind, w.target, len(w.factors)) for w in works(program(r_kleene, 4, 2, 8))][:3]
    [('close', 0, 0), ('multiply', 4, 1), ('multiply_add', 3, 1)]
    """
    found: list[Work] = []
    open_: dict[int, Work] = {}  # by target: works to which products may still be added
    written: dict[int, int] = {}  # by cell: the number of the last work that writes it
    at: dict[int, int] = {}  # by target: the number of its open work
    for o in made.operations:
        read = (o.first, o.second) if o.kind != "close" else ()
        for cell in read:  # nothing may be added to cells that are read here
            open_.pop(cell, None)
        if o.kind == "multiply_add" and o.target in open_:
            since = at[o.target]
            if all(written.get(cell, -1) < since for cell in read):
                open_[o.target].factors.append((o.first, o.second))
                continue
        work = Work(o.kind, o.target, [(o.first, o.second)] if read else [], o.tile)
        written[o.target] = at[o.target] = len(found)
        found.append(work)
        open_.pop(o.target, None)
        if o.kind != "close":
            open_[o.target] = work
    return found


def done(work: Work, side: int, kernel: Kernel[Any], tile: np.ndarray, factors: list[np.ndarray]) -> np.ndarray:
    """The tile that a task returns.

    Parameters
    ----------
    work : Work
    side : int
        Of tiles.
    kernel : Kernel
    tile : ndarray
        The contents of the target, which are not changed; for "multiply" any values of its dtype.
    factors : list of ndarray
        Two for each product.

    Raises
    ------
    UndefinedStar
        When a pivot has no star.
    """
    shape = (factors[0].shape[0], factors[1].shape[1]) if factors else tile.shape
    out = np.empty(shape, tile.dtype) if work.kind == "multiply" else tile.copy()
    if work.kind == "close":
        close_by_halves(out, kernel, kernel.tile, work.tile[0] * side)
    for k in range(0, len(factors), 2):
        product = kernel.multiply if work.kind == "multiply" and k == 0 else kernel.multiply_add
        product(out, factors[k], factors[k + 1])
    return out


def carry_out(
    made: Program, tiles: dict[Tile, Any], start: Callable[[Work, Any, list[Any]], Any],
) -> dict[Tile, Any]:
    """Start all works in order, each with references to its tiles; return references to the closure's tiles.

    Parameters
    ----------
    made : Program
    tiles : dict of (int, int) to object
        A reference to each tile of the matrix.
    start : function of a work, its target and its factors
        Returns a reference to its result, which need not exist yet.
    """
    cells = {i * made.count + j: held for (i, j), held in tiles.items()}
    for work in works(made):
        factors = [cells[cell] for pair in work.factors for cell in pair]
        cells[work.target] = start(work, cells.get(work.target, factors[0] if factors else None), factors)
    return {tile: cells[cell] for tile, cell in made.cells.items()}
