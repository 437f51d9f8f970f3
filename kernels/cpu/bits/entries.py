"""Single entries of packed matrices: setting them, and listing those that are set."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.compile import raw

from .vectors import compiled, load, store

trailing_zeros: Any = raw.trailing_zeros  # a type checker would ask the callers for the typing context


@compiled
def set_entries(words: int, stride: int, rows: Any, columns: Any) -> None:
    """Set the bits at pairs of positions; `words` is an address, `stride` the words of a row."""
    for e in range(len(rows)):
        address = words + 8 * (rows[e] * stride + columns[e] // 64)
        store(address, load(address) | (np.uint64(1) << np.uint64(columns[e] & 63)))


@compiled
def list_columns(words: int, stride: int, rows: int, width: int, columns: Any) -> None:
    """The columns that are set, row after row; there is room for all of them."""
    found = 0
    for i in range(rows):
        for w in range(width):
            word = load(words + 8 * (i * stride + w))
            while word:
                columns[found] = 64 * w + trailing_zeros(word)
                found += 1
                word &= word - np.uint64(1)
