"""Products that say which term won. A template: see winners.py, and search_template.py.

Offsets are int64, columns and winners int32, all arrays addresses. `better` is the strict order of a selective ⊕.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import (
    PANEL,
    ROW_0,
    ROW_1,
    as_element,
    fetch,
    first_component,
    load,
    select,
    stay_apart,
    store,
    wide_vectors,
)
from semiring.kernels.cpu.dense.operations_template import ZERO
from semiring.kernels.cpu.dense.template import ELEMENT, ITEM, compiled, entry

from .search_template import better, extend

# Template

NONE = np.int32(-1)


@compiled
def join(k: int, a: Any, b: int, c: int, which: int, lanes: int, unit: Any) -> None:
    """c ← c ⊕ a ⊗ b for some columns, and k where that is another element."""
    stay_apart()
    wide_vectors()
    for j in range(lanes):
        x = load(ELEMENT, c, lanes, j, ROW_0)
        p = load(np.int32, which, lanes, j, ROW_1)
        t = extend(a, load(ELEMENT, b, lanes, j, PANEL), unit)
        won = better(t, x)
        store(ELEMENT, c, lanes, j, ROW_0, t if won else x)
        store(np.int32, which, lanes, j, ROW_1, select(won, np.int32(k), p))


@entry(*[int64] * 11)
def multiply(
    C: int, which: int, offsets: int, columns: int, values: int, B: int, first: int, last: int, width: int, strip: int,
    one: int,
) -> None:
    """Rows ``first:last`` of the product of compressed rows and B, and the k of the term that each entry is.

    C and B are `width` wide, and taken `strip` columns at a time, of which B's rows stay in the cache.
    """
    unit = first_component(ELEMENT, one)
    for begin in range(0, width, strip):
        lanes = min(strip, width - begin)
        for i in range(first, last):
            c, p = C + (i * width + begin) * ITEM, which + (i * width + begin) * 4
            for j in range(lanes):
                store(ELEMENT, c, lanes, j, ROW_0, as_element(ELEMENT, ZERO))
                store(np.int32, p, lanes, j, ROW_1, NONE)
            for e in range(fetch(np.int64, offsets, i), fetch(np.int64, offsets, i + 1)):
                k = int64(fetch(np.int32, columns, e))
                join(k, fetch(ELEMENT, values, e), B + (k * width + begin) * ITEM, c, p, lanes, unit)
