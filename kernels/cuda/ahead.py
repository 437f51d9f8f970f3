"""Have the kernels of a first call compiled beside each other, before the call asks for the first of them.

A first call waits for what it finds out: the facts about the data decide on the form, and the form on the kernels. Here
a row of the data stands for all of them. If it does not, what was compiled in vain cost other cores some work, and the
call compiles what it needs as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.facts import DeviceFacts

from .choose import PRODUCT, array_kernel, choose, without_facts
from .compile.launch import Function, compile_ahead
from .dense.exchange import exchange

_seen: set[tuple[Any, ...]] = set()  # kinds of calls


def begin_call(verb: str, S: Semiring, *arrays: Any) -> None:
    """Begin with the kernels of a closure or a product of arrays on the current GPU, once for each kind of call."""
    first = arrays[0]
    sizes = tuple(min(x.bit_length(), 13) for array in arrays for x in array.shape)
    key = verb, S, first.dtype, sizes
    if key in _seen or first.dtype.kind not in "fiu" or not all(array.size and array.ndim > 1 for array in arrays):
        return
    _seen.add(key)
    compile_ahead(_functions(verb, S, *arrays))


def _functions(verb: str, S: Semiring, *arrays: Any) -> Iterator[Function]:
    """The kernels of a call in which all data are like their first row; the slowest of them among the first."""
    first = arrays[0]
    n = first.shape[-1]
    try:
        yield exchange(without_facts(S, first.dtype)).looks
        facts = facts_of_row(first)
        low = choose(S, first.dtype, facts, n if verb == "closure" else PRODUCT, in_place=False)
        if low.kind != "cuda":
            return
        if verb == "closure":
            yield from array_kernel(low).for_closure(n, first.ndim > 2)
        else:
            low = low.for_product(facts)
            yield from array_kernel(low).for_product(first.shape[-2], n, arrays[1].shape[-1], first.ndim > 2)
    except SemiringError:  # the call itself will say so
        return
    yield from exchange(low).ways(verb == "closure")


def facts_of_row(array: Any) -> DeviceFacts:
    """What holds for the first row of numbers, which is copied to the host."""
    row = array[(0,) * (array.ndim - 1)]
    if row.strides[0] != row.itemsize and row.size > 1:
        return DeviceFacts()
    values: np.ndarray = row.get()
    if values.dtype.kind != "f":
        ends: Any = np.iinfo(values.dtype)
        finite = values[(values != ends.min) & (values != ends.max)]
        low, high = (values == ends.min).any(), (values == ends.max).any()
    else:
        finite, low, high = values[np.isfinite(values)], (values == -np.inf).any(), (values == np.inf).any()
    if not finite.size:
        return DeviceFacts(low_limit=bool(low), high_limit=bool(high))
    least, most = finite.min().item(), finite.max().item()
    return DeviceFacts(
        largest=max(abs(least), abs(most)), least=least, low_limit=bool(low), high_limit=bool(high),
    )
