"""The compiled loops around products of small matrices; `semiring.kernels.cpu.dense.nests` has their layout.

They call the product of an algebra by its address, so that all algebras share them. All numbers are 64-bit integers,
and distances are in bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile import raw
from semiring.kernels.cpu.compile.jit import njit

call: Any = raw.call  # a type checker would ask the callers for the typing context
fetch: Any = raw.fetch
put: Any = raw.put
room: Any = raw.room

LOOPS = 32  # of a nest at most
HEAD = 18  # numbers of a nest before those of its loops, which are four each
Number = np.int64


@njit([int64(*[int64] * 9)], nogil=True, error_model="numpy", cache=True)
def run(
    nests: int, width: int, first: int, last: int, begin: int, end: int, bases: int, product: int, side: int
) -> int:
    """Run the nests from `first` to `last`; of each the passes from `begin` to `end`, of all its loops together.

    A nest is `width` numbers. At `bases` are the addresses of the arrays. No side of a matrix is longer than `side`;
    longer ones are cut, and sums over k go on. Returns −1, or the number of the first nest that found what is not an
    element.
    """
    counters = room(256)  # a number for each loop
    for number in range(first, last):
        at = nests + number * 8 * width
        a = fetch(Number, bases, fetch(Number, at, 0)) + fetch(Number, at, 16)
        b = fetch(Number, bases, fetch(Number, at, 1))
        c, count = fetch(Number, bases, fetch(Number, at, 2)), fetch(Number, at, 3)
        a_step, b_step, c_step = fetch(Number, at, 4), fetch(Number, at, 5), fetch(Number, at, 6)
        m, a_row, c_row = fetch(Number, at, 7), fetch(Number, at, 8), fetch(Number, at, 9)
        k, a_column, b_row = fetch(Number, at, 10), fetch(Number, at, 11), fetch(Number, at, 12)
        n, item = fetch(Number, at, 13), fetch(Number, at, 14)
        looks, depth = fetch(Number, at, 15), fetch(Number, at, 17)
        loops, passes, rest = at + 8 * HEAD, 1, begin
        for loop in range(depth - 1, -1, -1):
            size = fetch(Number, loops, 4 * loop)
            here, passes = rest % size, passes * size
            rest //= size
            put(Number, counters, loop, here)
            a += here * fetch(Number, loops, 4 * loop + 1)
            b += here * fetch(Number, loops, 4 * loop + 2)
            c += here * fetch(Number, loops, 4 * loop + 3)
        for _ in range(begin, min(end, passes)):
            for i in range(0, m, side):
                for j in range(0, max(n, 1), side):  # without columns there is nothing but elements to look at
                    for t in range(0, k, side):
                        strange = call(product, (
                            a + i * a_row + t * a_column, a_step, a_row, a_column, b + t * b_row + j * item, b_step,
                            b_row, item, c + i * c_row + j * item, c_step, c_row, item, count, min(side, m - i),
                            min(side, k - t), min(side, n - j), t > 0, looks, 1,
                        ))
                        if strange >= 0:
                            return number
            for loop in range(depth - 1, -1, -1):  # the next pass: the innermost counter that is not at its end
                size, here = fetch(Number, loops, 4 * loop), fetch(Number, counters, loop) + 1
                again = here < size
                turn = 1 if again else 1 - size
                put(Number, counters, loop, here if again else 0)
                a += turn * fetch(Number, loops, 4 * loop + 1)
                b += turn * fetch(Number, loops, 4 * loop + 2)
                c += turn * fetch(Number, loops, 4 * loop + 3)
                if again:
                    break
    return -1
