"""Every method, algebra and dtype against the oracle, over small matrices of every kind and view."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import oracle
import semiring as sr
import strategies

METHODS = ("auto", "floyd-warshall", "blocked", "r-kleene", "squaring", "elimination")
LIBRARY = {
    "mod_p(7)": sr.mod_p(7),
    "saturating_min_plus(100)": sr.saturating_min_plus(100),
    "k_best(3)": sr.k_best(3),
}
CASES = [(name, dtype) for name, S in oracle.ALGEBRAS.items() for dtype in strategies.dtypes(S)]


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
quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


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


def expected_closure(S: oracle.Algebra, array: np.ndarray) -> list | None:
    """A* by the oracle, or None where it does not exist or does not fit the dtype."""
    A = oracle.from_numpy(S, array)
    if S.selective and oracle.has_improving_cycle(S, A):
        return None
    try:
        return oracle.closure_by_elimination(S, A)
    except (oracle.Undefined, OverflowError):
        return None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_closure_is_the_oracles(name: str, dtype: str, method: str) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    if method == "squaring" and not (T.idempotent and (T.bounded or T.selective)):
        with pytest.raises(sr.LawError, match=r"idempotent|bounded"):
            sr.closure(T.eye(2, dtype), T, method=method)
        return

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        array = data.draw(strategies.matrices(S, dtype))
        tile = data.draw(st.sampled_from([None, 1, 2, 3, 64]))
        expected = expected_closure(S, array)
        assume(expected is not None and oracle.fits(S, expected, array.dtype))
        make_view = data.draw(st.sampled_from(VIEWS))

        def run(A: np.ndarray) -> np.ndarray:
            return sr.closure(make_view(to_library(S, A)), T, method=method, tile=tile)

        text = f"sr.closure(A, sr.{S.name}, method={method!r}, tile={tile})"
        oracle.check(S, oracle.closure_call(S, array, run, text))

    check()
