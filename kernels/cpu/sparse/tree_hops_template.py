"""What is kept of the hops of walks, and sets of vertices. A template that begins trees_template.py and
tree_rounds_template.py; see trees.py.

All arrays are addresses, vertices int32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64

from semiring.kernels.cpu.compile.raw import as_element, fetch, first_component, put
from semiring.kernels.cpu.dense.template import ELEMENT, SIZE, inline

from .search_template import extend

HOP = np.int8  # as predecessors are kept: the numbers of edges among those to a vertex, or other vertices
HOP_BYTES = 1
MONOTONE = True  # whether what is no better has products that are no better, to the bit

# Template

STRIP = max(2048 // SIZE // 64 * 64, 64)  # lanes that are looked at together: a first-level cache holds them
NONE = np.int32(-1)
OPEN = np.int32(-2)  # in place of a predecessor that is still looked for


@inline
def at(x: int, step: int, v: int) -> Any:
    """The value of a vertex in a line."""
    return fetch(ELEMENT, x + v * step, 0)


@inline
def product(x: Any, a: Any) -> Any:
    """x ⊗ a of a walk and an edge."""
    return extend(x, a, first_component(ELEMENT, 1))


@inline
def named(u: int, number: int) -> Any:
    """What is kept of an edge to a vertex: its number among all of them where that is one byte, else its tail."""
    return number if HOP_BYTES == 1 else u


@inline
def hop_at(predecessor: int, step: int, v: int) -> Any:
    """What stands at a vertex in a line of predecessors."""
    return as_element(np.int32, fetch(HOP, predecessor + v * step, 0))


@inline
def put_hop(predecessor: int, step: int, v: int, hop: Any) -> None:
    put(HOP, predecessor + v * step, 0, as_element(HOP, hop))


@inline
def has(bits: int, v: int) -> Any:
    """Whether a vertex is in a set of vertices, a bit each."""
    return (fetch(np.uint64, bits, v >> 6) >> uint64(v & 63)) & uint64(1) != 0


@inline
def join_set(bits: int, v: int) -> None:
    put(np.uint64, bits, v >> 6, fetch(np.uint64, bits, v >> 6) | (uint64(1) << uint64(v & 63)))
