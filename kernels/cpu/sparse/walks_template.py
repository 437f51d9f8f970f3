"""The last edge of a best walk, from the values of all walks from its source. A template: see walks.py.

`better` is the strict order of a selective ⊕. The rule by which ties break stands in `semiring.algorithms.trees`.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import ANY, as_element, first_component, load
from semiring.kernels.cpu.dense.operations_template import ZERO, operation
from semiring.kernels.cpu.dense.template import ELEMENT

from .search_template import better, differs, extend

# Template


@operation
def last_edge(
    v: int, weights: int, weights_plane: int, numbers: int, W: int, w_plane: int, rows: int, width: int, count: int,
    order: int, one: int,
) -> int:
    """Which of the edges to v is best of all, and comes from a vertex that is better than v: the least of these.

    Edge q has the weight whose number is at `numbers`, and comes from the vertex at `rows`; `order` says what vertices
    are called. Their values stand in W. −1 where there is no such edge.
    """
    unit, here = first_component(ELEMENT, one), load(ELEMENT, W, w_plane, v * width, ANY)
    best, some, found, least = as_element(ELEMENT, ZERO), False, int64(-1), int64(-1)
    for q in range(count):
        u = load(np.int64, rows, 0, q, ANY)
        x = load(ELEMENT, W, w_plane, u * width, ANY)
        a = load(ELEMENT, weights, weights_plane, load(np.int64, numbers, 0, q, ANY), ANY)
        if u == v or not differs(x, as_element(ELEMENT, ZERO)) or not differs(a, as_element(ELEMENT, ZERO)):
            continue
        c = extend(x, a, unit)
        if not some or better(c, best):
            best, some, found = c, True, int64(-1)
        if better(x, here) and not better(best, c):
            name = load(np.int64, order, 0, u, ANY)
            if found < 0 or name < least:
                found, least = int64(q), name
    return found
