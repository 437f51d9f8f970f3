"""What several processes of MPI's bring: one matrix, whole, by rows or in a file, and one algebra.

All of them call each function here, and all raise the same error.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.facts import Facts, together
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense, carried_by
from semiring.operands.examine import examine
from semiring.operands.operand import order_of_one
from semiring.operands.read import operand
from semiring.operands.stored import Stored
from semiring.scale.connection import Rows
from semiring.scale.ranks import agreed
from semiring.scale.stores import Source

from .task import algebra_for
from .tolerance import Loosened, loosened

STRIP = 64 << 20  # bytes of rows that are read at once
WAYS = {"whole": "passes a matrix", "rows": "its rows of one", "stored": "a path or a stored array", "nothing": "None"}
SAME = ("rows", "stored")  # of which every process passes one
T = TypeVar("T")


@dataclass(frozen=True)
class Given:
    """What one process knows of the matrix.

    Attributes
    ----------
    way : {"whole", "rows", "stored"}
        Whether rank 0 has it, each has some rows, or all can read it.
    n : int
    dtype, callers_dtype : dtype
        Of the elements as computed with, and of the answer.
    facts : Facts or None
        About the elements that this process looked at; None where it has none.
    operand : Dense or None
        What was read, where this process has something.
    source : Source or None
        Where tiles are read from, of a matrix that all can read.
    bounds : list of int
        Process r has the rows from ``bounds[r]`` to ``bounds[r + 1]``.
    """

    way: str
    n: int
    dtype: np.dtype
    callers_dtype: np.dtype
    facts: Facts | None
    operand: Dense | None
    source: Source | None
    bounds: list[int]


def of_first(world: Any, function: Callable[[], T]) -> T:
    """What a function gives on rank 0, which all get: files may be seen later by others."""
    found: T = world.bcast(agreed(world, lambda: function() if world.rank == 0 else None))
    return found


def one_algebra(world: Any, A: Any, S: Any) -> Semiring:
    """The algebra of rank 0, on every process; others that name one name the same."""

    def own() -> Semiring | None:
        return algebra_for("closure", (A,), S) if S is not None or world.rank == 0 else None

    def sent() -> bytes:
        try:
            return pickle.dumps(mine) if world.rank == 0 else b""
        except pickle.PicklingError as e:
            raise SemiringError(str(e)) from None

    mine = agreed(world, own)
    data = world.bcast(agreed(world, sent))
    found: Semiring = agreed(world, lambda: mine or pickle.loads(data) if world.rank == 0 else pickle.loads(data))

    def same() -> None:
        if mine is not None and mine is not found:
            raise SemiringError(f"rank {world.rank} asks for the closure over {mine.name}, and rank 0 over "
                                f"{found.name}")

    agreed(world, same)
    return found


def read(world: Any, A: Any, S: Semiring, saved: dict[str, Any] | None) -> Given:
    """What this process brings, and what all know of the matrix."""

    def taken() -> tuple[str, Dense | None]:
        if A is None:
            return "nothing", None
        given = operand(A.part if isinstance(A, Rows) else A, S, "A")
        if given.kind == "device":
            raise SemiringError("with on= the matrix comes from the host's memory or a file, and A is on a GPU: pass "
                                "A.get()")
        given = as_dense(given)
        if not isinstance(A, Rows):
            order_of_one(given.shape)
        return "rows" if isinstance(A, Rows) else "stored" if isinstance(given, Stored) else "whole", given

    way, given = agreed(world, taken)
    ways = world.allgather(way)

    def fit() -> None:
        if ways != ["whole", *["nothing"] * (world.size - 1)] and ways not in ([w] * world.size for w in SAME):
            told = ", ".join(f"rank {r} {WAYS[w]}" for r, w in enumerate(ways[:4]))
            raise SemiringError(f"{told}{', …' if world.size > 4 else ''}: rank 0 passes the matrix and others None, "
                                "or each its rows, connection.rows(part), or each the same path")

    agreed(world, fit)
    about = world.allgather(None if given is None else (given.shape, given.dtype, given.callers_dtype))
    shape, dtype, callers = about[0]
    heights = [s[0] for s, *_ in about] if ways[0] == "rows" else [0] * world.size

    def alike() -> None:
        for r, one in enumerate(about):
            if one is not None and (one[0][1] != shape[1] or one[1] != dtype or one[2] != callers):
                raise SemiringError(f"rank {r} brings {one[0][0]} × {one[0][1]} elements of {one[2]}, and rank 0 "
                                    f"{shape[0]} × {shape[1]} of {callers}: they are of one matrix, with as many "
                                    "columns")
            if one is not None and ways[0] == "stored" and one[0] != shape:
                raise SemiringError(f"rank {r} reads a matrix of {one[0]}, and rank 0 one of {shape}")
        if ways[0] == "rows" and sum(heights) != shape[1]:
            raise SemiringError(f"the processes bring {sum(heights)} rows of {shape[1]} columns: a matrix that has a "
                                "closure is square")

    agreed(world, alike)
    n = int(shape[1])
    bounds = [0, *np.cumsum([n, *[0] * (world.size - 1)] if ways[0] == "whole" else heights).tolist()]
    source = given.source if isinstance(given, Stored) else None
    facts = agreed(world, lambda: None if saved is not None else _look(world, given, source, bounds))
    return Given(ways[0], n, dtype, callers, facts, given, source, bounds)


def with_tolerance(world: Any, given: Given, tol: float) -> Given:
    """The same matrix with each edge worse by a tolerance; `facts` are those of what this process looks at."""
    operand, source = given.operand, given.source
    if operand is not None and source is not None:
        source = Loosened(source, operand.S, given.dtype, tol)
    elif operand is not None:
        made = loosened(operand, tol)
        assert isinstance(made, Dense)
        operand = made
    facts = agreed(world, lambda: _look(world, operand, source, given.bounds))
    return replace(given, operand=operand, source=source, facts=facts)


def _look(world: Any, given: Dense | None, source: Source | None, bounds: list[int]) -> Facts | None:
    """Facts about what this process looks at: all that it brings, or its share of the rows of a file."""
    if given is None or not given.shape[0]:
        return None
    if source is None and given.shape[0] == given.shape[1]:  # all of it, and perhaps prepared
        return given.facts
    if source is None:
        return examine(given.S, given.dtype, ((given.what, given.array),), (bounds[world.rank], 0))
    n, found = given.shape[0], []
    begin, end = n * world.rank // world.size, n * (world.rank + 1) // world.size
    step = max(1, STRIP // max(n * source.dtype.itemsize, 1))
    for at in range(begin, end, step):
        rows = slice(at, min(at + step, end))
        elements = np.empty((rows.stop - rows.start, n), source.dtype)
        source.read(rows, slice(0, n), elements)
        found.append(examine(given.S, given.dtype, ((given.what, carried_by(elements, given.S)),), (at, 0)))
    return together(found) if found else None


def facts_of(world: Any, given: Given) -> Facts:
    """What holds for the whole matrix, the same on every process."""
    found = [facts for facts in world.allgather(given.facts) if facts is not None]
    return together(found) if found else Facts(two_valued=True)


def identity_of(given: Given) -> dict[str, Any]:
    """What tells the input from others, also after a restart."""
    if given.source is not None:
        return given.source.identity()
    return {"shape": [given.n, given.n], "dtype": given.callers_dtype.str}
