"""Between the oracle's algebras and the library's: who is who, and their elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import strategies

import semiring as sr

LIBRARY = {
    "mod_p(7)": sr.mod_p(7),
    "saturating_min_plus(100)": sr.saturating_min_plus(100),
    "k_best(3)": sr.k_best(3),
}
CASES = [(name, dtype) for name, S in oracle.ALGEBRAS.items() for dtype in strategies.dtypes(S)]


def ours(S: oracle.Algebra) -> sr.Semiring:
    """The library's algebra for an oracle's."""
    return LIBRARY[S.name] if S.name in LIBRARY else sr.catalogue[S.base]


def to_library(S: oracle.Algebra, array: np.ndarray) -> np.ndarray:
    """The oracle's regular expressions are text; the library's are objects."""
    if S.base != "regex":
        return array
    return np.frompyfunc(parse, 1, 1)(array)


def stored(S: oracle.Algebra, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Elements that were read of a graph, a matrix with two axes, as the graph's dtype stores them.

    Asserts how they are read: integers of which one is infinite as floats, or as Python's numbers where floats would
    round, and all others in the dtype of the graph.
    """
    if S.objects or not any(dtype[f].kind in "iu" if f else dtype.kind in "iu" for f in S.fields or ("",)):
        assert array.dtype == dtype
        return array
    for (kind, infinities), name in zip(oracle._components(S, dtype), S.fields or (None,), strict=True):
        part = array if name is None else array[name]
        numbers = part.ravel().tolist()
        finite = [x for x in numbers if x not in (np.inf, -np.inf)]
        if kind.kind in "iu" and len(finite) < len(numbers):
            assert part.dtype == (float if max(map(abs, finite), default=0) <= 2**53 else object)
        else:
            assert part.dtype == kind
        if kind.kind in "iu":
            kept = [x for x in finite if x or kind.kind != "u"]  # the 0 of unsigned ones is a number
            assert all(oracle._from_integer(int(x), kind, infinities) == x for x in kept), numbers
    return oracle.to_numpy(S, oracle.from_numpy(S, array), dtype, array.shape)


def parse(text: str) -> sr.Regex:
    """A regular expression from the text of alternatives of words."""
    from semiring.algebra.objects import EMPTY, EPSILON, alternative, concatenation, letter

    result = EMPTY
    for word in () if text == "∅" else text.split("|"):
        product = EPSILON
        for c in word.replace("ε", ""):
            product = concatenation(product, letter(c))
        result = alternative(result, product)
    return result


def same_bits(x: Any, y: Any) -> bool:
    """Whether two arrays hold the same elements bit for bit; 0 and −0 are one element, NaN is not one."""
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.kind == "f":
        integer = f"i{x.dtype.itemsize}"
        return bool(((x + 0.0).view(integer) == (y + 0.0).view(integer)).all())
    return bool((x == y).all())


def read_only(array: np.ndarray) -> np.ndarray:
    """A copy that cannot be written."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def strided(array: np.ndarray) -> np.ndarray:
    """The same elements, two apart in each direction."""
    room = np.empty([2 * s for s in array.shape], array.dtype)
    room[::2, ::2] = array
    return room[::2, ::2]


def reversed_memory(array: np.ndarray) -> np.ndarray:
    """The same elements, with negative strides."""
    return array[::-1, ::-1].copy()[::-1, ::-1]


VIEWS = (np.copy, np.asfortranarray, read_only, strided, reversed_memory)
