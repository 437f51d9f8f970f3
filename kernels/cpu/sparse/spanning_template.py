"""Bottleneck closures by a spanning tree. A template: see spanning.py, and template.py.

`better` is the strict order of a selective ⊕; ⊗ takes the worse of two elements. Vertices and places are int32, all
arrays addresses. An element that is read of a matrix, or written to one, passes through `recoded`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import ROW_0, ROW_1, as_element, fetch, first_component, load, put, store
from semiring.kernels.cpu.dense.operations_template import ZERO, plus
from semiring.kernels.cpu.dense.template import ELEMENT, entry, inline

from .search_template import ONE, better, extend


@inline
def recoded(x: Any, mask: int) -> Any:
    """An element of the matrix as it is in storage, and the other way round: the mask's bits of negative ones flip."""
    return x


# Template


@entry(*[int64] * 11)
def span(
    A: int, A_row: int, n: int, order: int, weights: int, left: int, keys: int, first: int, last: int, mask: int,
    one: int,
) -> None:
    """Add vertices to the tree, at places ``first:last`` of its order: each the one with the best edge from the tree.

    `left` has the vertices outside, `keys` the best edge to each from the tree but for its last vertex. One that is
    added leaves both by exchange with the last of them. The weight of its edge stands at its place.
    """
    if first == 1:
        put(np.int32, order, 0, np.int32(n - 1))
        put(ELEMENT, weights, 0, as_element(ELEMENT, ONE))
        for i in range(n - 1):
            store(np.int32, left, n, i, ROW_1, np.int32(i))
            store(ELEMENT, keys, n, i, ROW_0, as_element(ELEMENT, ZERO))
    for t in range(first, last):
        row, count = A + int64(fetch(np.int32, order, t - 1)) * A_row, n - t
        best, at = as_element(ELEMENT, ZERO), int64(0)
        for i in range(count):
            x = recoded(fetch(ELEMENT, row, int64(load(np.int32, left, n, i, ROW_1))), mask)
            y = load(ELEMENT, keys, n, i, ROW_0)
            y = x if better(x, y) else y
            store(ELEMENT, keys, n, i, ROW_0, y)
            if better(y, best):
                best, at = y, int64(i)
        put(np.int32, order, t, load(np.int32, left, n, at, ROW_1))
        put(ELEMENT, weights, t, best)
        store(np.int32, left, n, at, ROW_1, load(np.int32, left, n, count - 1, ROW_1))
        store(ELEMENT, keys, n, at, ROW_0, load(ELEMENT, keys, n, count - 1, ROW_0))


@entry(*[int64] * 12)
def fill(
    D: int, D_row: int, n: int, order: int, place: int, weights: int, first: int, last: int, reflexive: int, row: int,
    mask: int, one: int,
) -> None:
    """Rows of the closure: of the vertices at places ``first:last`` of the tree's order, from the last one up.

    The element of the vertices at the places i < j is the ⊗-product of the weights at i + 1 … j. If not
    `reflexive`, D has the diagonal of A, and gets that of A⁺. `row` is room for a row.
    """
    unit = first_component(ELEMENT, one)
    x = as_element(ELEMENT, ONE)
    for j in range(last, n):
        x = extend(x, fetch(ELEMENT, weights, j), unit)
        store(ELEMENT, row, n, j, ROW_0, x)
    for i in range(last - 1, first - 1, -1):
        v = int64(fetch(np.int32, order, i))
        out = D + v * D_row
        x = as_element(ELEMENT, ONE)
        for j in range(i, 0, -1):
            x = extend(x, fetch(ELEMENT, weights, j), unit)
            store(ELEMENT, row, n, j - 1, ROW_0, x)
        own = as_element(ELEMENT, ONE)
        if not reflexive:
            own = recoded(fetch(ELEMENT, out, v), mask)
            if i > 0:
                own = as_element(ELEMENT, plus(own, fetch(ELEMENT, weights, i)))
            if i < n - 1:
                own = as_element(ELEMENT, plus(own, fetch(ELEMENT, weights, i + 1)))
        store(ELEMENT, row, n, i, ROW_0, own)
        for u in range(n):
            place_of_u = int64(load(np.int32, place, n, u, ROW_1))
            put(ELEMENT, out, u, recoded(load(ELEMENT, row, n, place_of_u, ROW_0), mask))
        w = fetch(ELEMENT, weights, i)
        store(ELEMENT, row, n, i, ROW_0, w)
        for j in range(i + 1, n):
            store(ELEMENT, row, n, j, ROW_0, extend(load(ELEMENT, row, n, j, ROW_0), w, unit))
