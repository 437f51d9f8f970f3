"""Products, closures and equations of Python objects, against loops over lists as a user would write them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring import small
from semiring.solvers.dense import rings


def summed(pairs: list[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    found: dict[str, int] = {}
    for word, count in pairs:
        found[word] = found.get(word, 0) + count
    return frozenset(found.items())


EVERYTHING = frozenset(range(6))
sets = sr.Semiring(
    "sets of six", "(subsets, ∪, ∩, ∅, all)", dtype=object, add=lambda x, y: x | y, mul=lambda x, y: x & y,
    zero=frozenset(), one=EVERYTHING, star=lambda a: EVERYTHING, idempotent=True, commutative=True,
    samples=[frozenset({1, 2}), frozenset({3}), frozenset({1, 5})])
words = sr.Semiring(
    "first words", "(words ∪ {None}, least by length, concatenation, None, empty)", dtype=object,
    add=lambda x, y: y if x is None else x if y is None else min(x, y, key=lambda w: (len(w), w)),
    mul=lambda x, y: None if x is None or y is None else x + y, zero=None, one=(), star=lambda a: (),
    idempotent=True, selective=True, samples=[("a",), ("b", "a"), ("b",)])  # elements are sequences
bags = sr.Semiring(
    "bags", "(finite bags of words, +, concatenation, {}, {empty})", dtype=object, zero=frozenset(),
    one=frozenset({("", 1)}), samples=[frozenset({("x", 1)}), frozenset({("y", 2), ("", 1)})],
    add=lambda p, q: summed([*p, *q]), mul=lambda p, q: summed([(a + b, m * n) for a, m in p for b, n in q]))
heaviest = sr.Semiring("heaviest", "(N, max, +, 0)", dtype=object, add=max, mul=lambda a, b: a + b, zero=0, one=0,
                       product_only=True, samples=[1, 2, 5])  # 0 ⊗ a = a: nothing may be left out


# For each algebra: an element from four numbers, the operations, zero, and one's star or None.
KINDS: dict[str, tuple[sr.Semiring, Callable[[list[int]], Any]]] = {
    "fractions": (sr.plus_times, lambda n: Fraction(n[0] % 5, 40 + n[1] % 7) if n[3] % 3 else Fraction(0)),
    "shortest of whole numbers": (sr.min_plus, lambda n: n[0] % 9 if n[3] % 3 else [np.inf, float("inf")][n[2] % 2]),
    "sets": (sets, lambda n: frozenset(x % 6 for x in n[: n[3] % 4])),
    "words": (words, lambda n: tuple("ab"[x % 2] for x in n[: 1 + n[3] % 3]) if n[2] % 3 else None),
    "bags": (bags, lambda n: summed([("xy"[x % 2], 1) for x in n[: n[3] % 3]])),
    "regex": (sr.regex, lambda n: sr.letter("abc"[n[0] % 3]) if n[3] % 3 else sr.regex.zero),
    "why": (sr.why, lambda n: frozenset({frozenset("abcd"[n[0] % 4])}) if n[3] % 3 else frozenset()),
    "heaviest": (heaviest, lambda n: n[0] % 4),
}


def matrix(kind: str, seed: int, m: int, n: int, upper: bool = False) -> np.ndarray:
    S, element = KINDS[kind]
    found, random = np.empty((m, n), object), np.random.default_rng(seed)
    for i in range(m):
        for j in range(n):
            found[i, j] = element(random.integers(0, 100, 4).tolist()) if j > i or not upper else S.zero
    return found


def product(S: sr.Semiring, A: list[list[Any]], B: list[list[Any]], width: int) -> list[list[Any]]:
    T = S.over(object)
    return [[reduce(T.scalar["add"], (T.scalar["mul"](a, B[k][j]) for k, a in enumerate(row)), S.zero)
             for j in range(width)] for row in A]


def closure(S: sr.Semiring, A: list[list[Any]]) -> list[list[Any]]:
    add, mul, star = (S.over(object).scalar[name] for name in ("add", "mul", "star"))
    D, n = [list(row) for row in A], len(A)
    for k in range(n):
        s = star(D[k][k])
        new = [[add(D[i][j], mul(mul(D[i][k], s), D[k][j])) for j in range(n)] for i in range(n)]
        for i in range(n):
            new[i][k], new[k][i] = mul(D[i][k], s), mul(s, D[k][i])
        new[k][k] = s
        D = new
    return D


@settings(max_examples=60)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 2**32 - 1), st.integers(0, 7), st.integers(0, 7),
       st.integers(0, 9))
def test_products_are_those_of_loops(kind: str, seed: int, m: int, k: int, n: int) -> None:
    S = KINDS[kind][0]
    A, B = matrix(kind, seed, m, k), matrix(kind, seed + 1, k, n)
    expected = product(S, A.tolist(), B.tolist(), n)
    for a in (A, np.asfortranarray(A), A[::-1][::-1]):
        found = sr.matmul(a, B, S)
        assert found.dtype == object and found.shape == (m, n) and found.tolist() == expected
    C = matrix(kind, seed + 2, m, n)
    joined = [[S.over(object).scalar["add"](c, x) for c, x in zip(row, new, strict=True)]
              for row, new in zip(C.tolist(), expected, strict=True)]
    assert sr.matmul(A, B, S, accumulate=C).tolist() == joined


@settings(max_examples=40)
@given(st.sampled_from(sorted(set(KINDS) - {"heaviest"})), st.integers(0, 2**32 - 1), st.integers(0, 13),
       st.integers(0, 5))
def test_closures_and_equations_are_those_of_loops(kind: str, seed: int, n: int, columns: int) -> None:
    S = KINDS[kind][0]
    n = min(n, 4) if kind == "regex" else n
    A = matrix(kind, seed, n, n, upper=kind == "bags")
    B = matrix(kind, seed + 1, n, columns)
    star = closure(S, A.tolist())
    assert sr.closure(A, S).tolist() == star
    assert sr.closure(A, S, method="elimination").tolist() == star
    solved = product(S, star, B.tolist(), columns)
    assert sr.solve(A, B, S).tolist() == solved
    if columns:
        assert sr.solve(A, B[:, 0].copy(), S).tolist() == [row[0] for row in solved]


@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_fractions_are_right_without_a_check_and_floats_among_them_are_checked(n: int, seed: int) -> None:
    called: list[int] = []
    checked = rings.solves

    def seen(*given: Any) -> bool:
        called.append(1)
        return checked(*given)

    A, b = matrix("fractions", seed, n, n), matrix("fractions", seed + 1, n, 1)[:, 0]
    A[0, 0] = Fraction(1, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rings, "solves", seen)
        X, x = sr.closure(A, sr.plus_times), sr.solve(A, b, sr.plus_times)
        assert not called
        assert (np.eye(n, dtype=int).astype(object) + A @ X == X).all() and (x == b + A @ x).all()
        A[0, 0] = 0.5
        rounded = sr.solve(A, b, sr.plus_times)
        assert called or all(isinstance(v, (int, Fraction)) for v in A.flat)
    A[0, 0] = Fraction(1, 2)
    np.testing.assert_allclose(rounded.astype(float), sr.solve(A, b, sr.plus_times).astype(float), atol=1e-12)


def test_a_pivot_that_cancels_is_exchanged() -> None:
    A = np.array([[Fraction(1), Fraction(1)], [Fraction(1), Fraction(0)]], object)
    assert sr.closure(A, sr.plus_times).tolist() == [[-1, -1], [-1, 0]]
    assert sr.solve(A, np.array([1, 1], object), sr.plus_times).tolist() == [-2, -1]


@pytest.mark.parametrize(("value", "words"), [
    (float("nan"), r"A\[1, 0\] is NaN"), (np.float64("nan"), r"A\[1, 0\] is NaN"), ("3", r"A\[1, 0\] is '3'"),
    (None, r"A\[1, 0\] is None"), (float("inf"), r"A\[1, 0\] is ∞: it is outside the carrier"),
])
def test_what_is_no_element_is_refused_among_exact_numbers(value: Any, words: str) -> None:
    A = np.array([[Fraction(1, 3), 2], [0, Fraction(1, 7)]], object)
    A[1, 0] = value
    for call in (lambda: sr.matmul(A, A, sr.plus_times), lambda: sr.closure(A, sr.plus_times)):
        with pytest.raises(sr.SemiringError, match=words):
            call()


def outcome(call: Callable[[], Any]) -> tuple[str, Any]:
    """An answer with its shape, or the text of its error."""
    try:
        found = call()
    except sr.SemiringError as e:
        return "error", str(e)
    except (TypeError, ValueError) as e:  # of the algebra's own functions, reached by a value outside the carrier
        return "error", type(e)
    return str(np.shape(found)), np.asarray(found, object).tolist()


STRANGE: list[Any] = [float("nan"), float("inf"), None, "a", 2, Fraction(1), frozenset({9}), (), [1]]


@settings(max_examples=120)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 2**32 - 1), st.lists(st.integers(0, 4), min_size=1, max_size=3),
       st.lists(st.integers(0, 4), min_size=1, max_size=3), st.sampled_from(["matmul", "solve", "closure"]),
       st.none() | st.integers(0, len(STRANGE) - 1))
def test_small_calls_are_those_of_the_general_way(
    kind: str, seed: int, left: list[int], right: list[int], verb: str, strange: int | None
) -> None:
    """Answers, and refusals word by word; a plan goes the general way."""
    S = KINDS[kind][0]
    shape = [left[0]] * 2 if verb != "matmul" and len(left) > 1 else left
    A = matrix(kind, seed, 1, int(np.prod(shape))).reshape(shape)
    B = matrix(kind, seed + 1, 1, int(np.prod(right))).reshape(right)
    if strange is not None and A.size:
        A.reshape(-1)[seed % A.size] = STRANGE[strange]
    operands = (A,) if verb == "closure" else (A, B)
    short = outcome(lambda: getattr(sr, verb)(*operands, S))
    assert short == outcome(lambda: sr.plan(verb, *operands, S).run())


@pytest.mark.parametrize("kind", ["fractions", "sets", "bags", "why", "regex"])
def test_small_calls_go_the_short_way(kind: str) -> None:
    S = KINDS[kind][0]
    A, B = matrix(kind, 1, 3, 3, upper=kind == "bags"), matrix(kind, 2, 3, 2)
    for call, operands in ((small.product, (A, B, S)), (small.solve, (A, B, S)), (small.closure, (A, S))):
        assert call(operands, {}) is not None and call(operands, {"device": "gpu"}) is None
    assert small.product((A, B.T, S), {}) is None  # shapes do not fit, which the general way says


@pytest.mark.parametrize("stranger", [Fraction(1, 2), 2.0, None])
def test_the_general_way_refuses_what_no_operation_is_defined_for(stranger: Any) -> None:
    """The short way into small calls leaves it to that."""
    A = np.full((3, 3), 1, object)
    strange = A.copy()
    strange[1, 2] = stranger
    for verb, operands, name in [(sr.matmul, (strange, A), "A"), (sr.matmul, (A, strange[1]), "B"),
                                 (sr.closure, (strange,), "A"), (sr.solve, (strange, A), "A"),
                                 (sr.solve, (A, strange), "B")]:
        place = "2" if operands[-1].ndim == 1 else "1, 2"
        with pytest.raises(sr.SemiringError, match=rf"^{name}\[{place}\] is "):
            verb(*operands, sr.bitset_may)
