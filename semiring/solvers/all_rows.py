"""All rows of a closure from sparse factors, block by block, so that no n × n matrix is ever held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import LawError, SemiringError
from semiring.operands.devices import module_of, to_host

from .engines import Reduction

if TYPE_CHECKING:
    from .sparse_substitution import Substitution



def by_vertex(F: Substitution, function: Reduction, dtype: Any = None) -> np.ndarray:
    """What a function returns for each row, in the order of the vertices.

    Raises
    ------
    SemiringError
        When it does not return a value for each row: one for all of a block would depend on which rows those are.
    """
    parts: list[tuple[np.ndarray, np.ndarray]] = []

    def look(vertices: np.ndarray, rows: Any) -> None:
        part = np.asarray(to_host(function(vertices, rows)))
        if part.shape[:1] != vertices.shape:
            raise SemiringError(f"reduce: the function must return a value, or a row, for each of the {len(vertices)} "
                                f"rows that it is given, and what it returned has shape {part.shape}")
        parts.append((vertices, part))

    F.engine.each_block(F, look)
    if not parts:
        return np.empty(0, dtype or float)
    first = parts[0][1]
    out = np.empty((F.n, *first.shape[1:]), dtype or np.result_type(*{part.dtype for _, part in parts}))
    for vertices, part in parts:
        out[vertices] = part
    return out


def summaries(F: Substitution) -> np.ndarray | None:
    """Total, number, least and most of each row where compiled code can find them on the way, else None."""
    found = F.fronts.summaries() if F.closed is None else None
    return None if found is None else to_host(found)


def require_numbers(S: Semiring, dtype: np.dtype) -> None:
    if dtype.kind not in "fiu":
        raise SemiringError(f"the elements of {S.name} are not numbers: reduce, of sparse factors, takes a function "
                            "of rows instead")


def ascends(S: Semiring, dtype: np.dtype) -> bool:
    """Whether less is better."""
    require_numbers(S, dtype)
    if S.traced is None or not S.traced.add.is_plain("minimum", "maximum"):
        raise LawError(f"{S.name} does not order its elements: ⊕ must be the minimum or the maximum")
    return S.traced.add.is_plain("minimum")


def best_possible(dtype: np.dtype, ascending: bool) -> Any:
    """A number that is never the worst."""
    if dtype.kind == "f":
        return dtype.type(-np.inf if ascending else np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if ascending else limits.max)


def without_own(vertices: np.ndarray, rows: Any, zero: Any) -> Any:
    """Write zero where a vertex meets itself; NumPy, or CuPy for rows on a GPU."""
    xp = module_of(rows)
    rows[xp.arange(len(rows)), xp.asarray(vertices)] = zero
    return xp
