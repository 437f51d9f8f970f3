"""Between the oracle's algebras and the library's: who is who, and their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

import oracle
import semiring as sr
import strategies

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


def parse(text: str) -> sr.Regex:
    """A regular expression from the text of alternatives of words."""
    from semiring.object_algebras import EMPTY, EPSILON, alternative, concatenation, letter

    result = EMPTY
    for word in () if text == "∅" else text.split("|"):
        product = EPSILON
        for c in word.replace("ε", ""):
            product = concatenation(product, letter(c))
        result = alternative(result, product)
    return result


def same_bits(x: Any, y: Any) -> bool:
    """Whether two arrays hold the same elements bit for bit; 0 and −0 are one element, NaN is none."""
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.kind == "f":
        integer = f"i{x.dtype.itemsize}"
        return bool(((x + 0.0).view(integer) == (y + 0.0).view(integer)).all())
    return bool((x == y).all())
