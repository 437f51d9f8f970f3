"""Whether any or all entries of a packed matrix, of its rows or of its columns are True: by words of 64 entries.

    rows       is any word of a row other than 0, or are all words full
    columns    | or & of all rows: half of some rows onto the other half, until one is left

Words are arrays of NumPy or of CuPy, and so are the answers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import WORD

AXES = {None: None, 0: 0, 1: 1, -2: 0, -1: 1}
FULL = np.uint64(2**WORD - 1)


def reduced(M: Any, axis: Any, out: Any, keepdims: bool, every: bool) -> Any:
    """Whether all entries along an axis are True if `every`, else whether any is; see `PackedMatrix.any`."""
    axis = _read(axis)
    if axis is None and not keepdims and out is None:
        return _of_all(M, every)
    found = _of_columns(M, every) if axis == 0 else _of_rows(M, every)
    if axis is None:
        found = found.all(keepdims=True) if every else found.any(keepdims=True)
    shape = found.shape if axis is not None else ()
    if keepdims:
        shape = (1, found.size) if axis == 0 else (found.size, 1)
    found = found.reshape(shape)
    if out is None:
        return found
    if getattr(out, "shape", None) != shape or not getattr(out.flags, "writeable", True):
        raise SemiringError(f"out must be a writable array of shape {shape}")
    out[...] = found
    return out


def _read(axis: Any) -> int | None:
    """0 for an answer for each column, 1 for each row, None for one."""
    if isinstance(axis, tuple) and len(axis) == 2 and {*map(_read, axis)} == {0, 1}:
        return None
    try:
        return AXES[None if axis is None else operator.index(axis)]
    except (KeyError, TypeError):
        raise SemiringError(f"axis must be 0 (an answer for each column), 1 (for each row) or None (for the matrix), "
                            f"and is {axis!r}") from None


def _of_all(M: Any, every: bool) -> bool:
    """For the matrix; what comes after an entry that decides is not read."""
    for a, b in M.bands():
        found = _of_band(M, a, b, every)
        if bool(found.all() if every else found.any()) != every:
            return not every
    return every


def _of_rows(M: Any, every: bool) -> Any:
    """For each row."""
    found = M.words[:, :0].all(axis=1)  # where the words are
    for a, b in M.bands():
        found[a:b] = _of_band(M, a, b, every)
    return found


def _of_band(M: Any, a: int, b: int, every: bool) -> Any:
    """For each row from a to b."""
    whole, rest = divmod(M.shape[1], WORD)
    if not every:
        return (M.words[a:b, : M.used_words] != 0).any(axis=1)
    full = (M.words[a:b, :whole] == FULL).all(axis=1)
    return full & (M.words[a:b, whole] == np.uint64((1 << rest) - 1)) if rest else full


def _of_columns(M: Any, every: bool) -> Any:
    """For each column."""
    combine = operator.and_ if every else operator.or_
    total = type(M).zeros(1, M.shape[1])
    total = ~total if every else total
    used = total.words[:, : M.used_words]
    for a, b in M.bands():
        used[...] = combine(used, _folded(M.words[a:b, : M.used_words], combine))
    return total.to_dense().reshape(-1)


def _folded(words: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """| or & of some rows, as one row."""
    while len(words) > 1:
        half = len(words) // 2
        made = combine(words[:half], words[half : 2 * half])
        if len(words) % 2:
            made[0] = combine(made[0], words[-1])
        words = made
    return words
