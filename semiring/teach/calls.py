"""`kernel_calls`: a schedule as data, the calls of a kernel that it makes on a matrix of any size."""

from __future__ import annotations

from semiring.algebra.arguments import whole_number
from semiring.algebra.catalogue import boolean
from semiring.errors import SemiringError
from semiring.kernels.wrappers.recording import Call, recorded
from semiring.solvers.dense.schedules import SCHEDULES, resolve_method

LARGEST = 1 << 32  # rows; recording so many calls never ends


def kernel_calls(method: str, n: int, tile: int = 16) -> list[Call]:
    """Return the calls of a kernel by which a schedule closes a matrix.

    A schedule never looks at an element, so its calls are the same for every matrix of this size and every algebra.

    Parameters
    ----------
    method : {"floyd-warshall", "blocked", "r-kleene", "squaring", "elimination"}
    n : int
        Order of the matrix.
    tile : int
        Order of a pivot block. Floyd–Warshall and squaring take the matrix whole.

    Returns
    -------
    list of Call
        Each has an `operation` and its `blocks`, the first of which is written. A block has a `matrix` ("A", and the
        letters after it for the schedule's own copies) and the ranges `rows` and `columns`. The operations are

        - "close", D: D ← D*;
        - "left", D, R: R ← D ⊗ R;
        - "right", C, D: C ← C ⊗ D;
        - "multiply_add", C, A, B: C ← C ⊕ A ⊗ B;
        - "multiply", C, A, B: C ← A ⊗ B;
        - "add_one", "assign" and "equal": add the identity, copy, compare.

    Raises
    ------
    SemiringError
        If the method is not a schedule of blocks, or n or tile is not a whole number of at least 1.

    Examples
    --------
    >>> import semiring as sr
    >>> for call in sr.kernel_calls("blocked", 4, tile=2)[:3]:
    ...     print(call.operation, *(f"{b.rows[0]}–{b.rows[-1]} × {b.columns[0]}–{b.columns[-1]}" for b in call.blocks))
    close 0–1 × 0–1
    left 0–1 × 0–1 0–1 × 2–3
    multiply_add 2–3 × 2–3 2–3 × 0–1 0–1 × 2–3
    """
    n, tile = whole_number(n, "n, the order of the matrix,", 1, LARGEST), whole_number(tile, "tile", 1, LARGEST)
    name = resolve_method(method, boolean) if isinstance(method, str) else None
    if name not in SCHEDULES:
        given = repr(method) if isinstance(method, str) else f"a {type(method).__name__}"
        raise SemiringError(f"{given} has no calls of its own: choose one of {', '.join(SCHEDULES)}")
    return recorded(SCHEDULES[name], n, n if name == "floyd-warshall" else tile)
