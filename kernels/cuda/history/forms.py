"""In which form the historical kernels compute, and how their texts are compiled."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.cuda.choose import choose, without_facts
from semiring.kernels.cuda.compile.program import Program, program
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import Facts

MOST_SHARED = 40 << 10  # bytes of three blocks in shared memory
TILES = (32, 16, 8, 4, 2)  # rows of a block, whose elements have a thread each


def authors_form(S: Semiring, dtype: np.dtype, facts: Facts, n: int) -> CudaLowering:
    """Numbers as they are, and integers with an infinity that no sum of n of them reaches, as the authors have it.

    Raises
    ------
    SemiringError
        If the elements are Python objects or complex numbers, or sums that no integer of the GPU holds.
    """
    if dtype.kind == "c":
        raise SemiringError(f"{S.name}: complex numbers are closed on the CPU only; use device='cpu'")
    chosen = choose(S, dtype, facts, n, in_place=False)
    return chosen if S.is_tropical and dtype.kind in "iu" else without_facts(S, dtype)


@lru_cache(256)
def text_of(low: CudaLowering) -> Program:
    """The text of a lowering's algebra."""
    return program(low)


def tile_of(size: int) -> int:
    """Rows of a block of elements of `size` bytes.

    Raises
    ------
    SemiringError
        If no block of such elements fits in shared memory.
    """
    for tile in TILES:
        if 3 * tile * (tile + 1) * size <= MOST_SHARED:
            return tile
    raise SemiringError(f"elements of {size} bytes are too large for blocks in a GPU's shared memory")
