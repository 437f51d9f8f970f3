"""Right answers for the tests, from the definitions alone.

This file shares no code with the library: it knows NumPy arrays, the standard library and the table of algebras.
Everything is scalar Python on nested lists and written in the most obvious way, so that it can be read and believed.

Elements are Python numbers, with ``math.inf`` for the infinities; tuples for records; frozensets for antichains
and languages. `from_numpy` turns an array into nested lists of elements and `to_numpy` turns them back; an integer
array spells +∞ as its dtype's largest value and −∞ as its smallest. `assert_same` compares an array with the right
answer, and reports a difference as the smallest failing graph, in code to paste.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

inf = math.inf
Element = Any  # a number, a tuple of numbers, or a frozenset
Matrix = list[list[Element]]


class Undefined(ArithmeticError):
    """The closure does not exist: the star is undefined at the pivot of `vertex`."""

    def __init__(self, vertex: int) -> None:
        super().__init__(f"the star is undefined at the pivot of vertex {vertex}")
        self.vertex = vertex


@dataclass(frozen=True)
class Algebra:
    """One row of the table: the operations on Python elements, and what is claimed of them."""

    name: str  # as one writes it after "sr."
    row: int
    zero: Element
    one: Element
    plus: Callable[[Element, Element], Element]
    times: Callable[[Element, Element], Element]
    star: Callable[[Element], Element]  # None where undefined
    flags: str  # of ISBC, "-" where the property is missing
    samples: tuple[Element, ...]
    fields: tuple[str, ...] = ()  # names of the components of a record
    # How integers of a component spell infinities: "none"; "above" (largest = +∞); "both" (and smallest = −∞, in
    # signed dtypes); "order" (both, in unsigned dtypes too, where 0 is then −∞).
    infinities: tuple[str, ...] = ("none",)
    ulps: int = 0  # allowed error in units of the dtype's epsilon; 0 compares exactly
    cancels: bool = False  # sums cancel, so an error is relative to the largest entry of the matrix
    objects: bool = False  # elements live in object arrays
    read: Callable[[Any], Element] = field(default=lambda value: value)  # from what an array holds
    write: Callable[[Element], Any] = field(default=lambda element: element)  # to what an array holds

    @property
    def base(self) -> str:
        """The name without parameters, as in the table."""
        return self.name.partition("(")[0]

    @property
    def idempotent(self) -> bool:
        return "I" in self.flags

    @property
    def selective(self) -> bool:
        return "S" in self.flags

    @property
    def bounded(self) -> bool:
        return "B" in self.flags

    @property
    def commutative(self) -> bool:
        return "C" in self.flags

    def close(self, a: Element, b: Element, eps: float = 2.0**-52, scale: float = 1.0) -> bool:
        """Are a and b the same element, up to the rounding that this algebra is allowed?

        A NaN is equal to nothing and an infinity only to itself.
        """
        if isinstance(a, tuple) and isinstance(b, tuple):
            return len(a) == len(b) and all(self.close(x, y, eps, scale) for x, y in zip(a, b, strict=True))
        if a == b:
            return True
        if self.ulps == 0 or not (_finite(a) and _finite(b)):
            return False
        return abs(a - b) <= self.ulps * eps * max(scale, abs(a), abs(b))

    def __repr__(self) -> str:
        return self.name


def _finite(x: Element) -> bool:
    return isinstance(x, int | float | Fraction) and not (isinstance(x, float) and not math.isfinite(x))


# Extended numbers, case by case. Only these touch an infinity together with a number.


def sum_zero_above(a: Element, b: Element) -> Element:
    """a + b where +∞ absorbs, −∞ included."""
    if a == inf or b == inf:
        return inf
    if a == -inf or b == -inf:
        return -inf
    return a + b


def sum_zero_below(a: Element, b: Element) -> Element:
    """a + b where −∞ absorbs, +∞ included."""
    if a == -inf or b == -inf:
        return -inf
    if a == inf or b == inf:
        return inf
    return a + b


def product(a: Element, b: Element) -> Element:
    """a · b of non-negative numbers, where 0 · ∞ = 0."""
    if a == 0 or b == 0:
        return 0
    if a == inf or b == inf:
        return inf
    return a * b


def log_of_sum(a: float, b: float) -> float:
    """log(eᵃ + eᵇ)."""
    if a == inf or b == inf:
        return inf
    if a == -inf:
        return b
    if b == -inf:
        return a
    high, low = max(a, b), min(a, b)
    return high + math.log1p(math.exp(low - high))


def log_star(a: float) -> float:
    if a >= 0:
        return inf
    if a == -inf:
        return 0.0
    # 1 − eᵃ without cancellation, also for a close to 0.
    return -math.log(-math.expm1(a))


def rational(x: Any) -> Any:
    """x as an exact fraction; what is not finite stays as it is, to be found unequal to everything."""
    return Fraction(x) if math.isfinite(x) else x


# Rows 1 to 18: scalars.

boolean = Algebra(
    "boolean", 1, False, True,
    plus=lambda a, b: a or b,
    times=lambda a, b: a and b,
    star=lambda a: True,
    flags="ISBC",
    samples=(False, True),
)

min_plus = Algebra(
    "min_plus", 2, inf, 0,
    plus=lambda a, b: a if a <= b else b,
    times=sum_zero_above,
    star=lambda a: 0 if a >= 0 else -inf,
    flags="IS-C",
    samples=(inf, 0, -inf, 1, -1, 0.5, 3, 2**31 - 2, 1 - 2**31),
    infinities=("both",),
)

max_plus = Algebra(
    "max_plus", 3, -inf, 0,
    plus=lambda a, b: a if a >= b else b,
    times=sum_zero_below,
    star=lambda a: 0 if a <= 0 else inf,
    flags="IS-C",
    samples=(-inf, 0, inf, 1, -1, 0.5, 3, 2**31 - 2, 1 - 2**31),
    infinities=("both",),
)

max_min = Algebra(
    "max_min", 4, -inf, inf,
    plus=lambda a, b: a if a >= b else b,
    times=lambda a, b: a if a <= b else b,
    star=lambda a: inf,
    flags="ISBC",
    samples=(-inf, inf, 0, 1, -1, 0.5, 2**31 - 2, 1 - 2**31),
    infinities=("order",),
)

min_max = Algebra(
    "min_max", 5, inf, -inf,
    plus=lambda a, b: a if a <= b else b,
    times=lambda a, b: a if a >= b else b,
    star=lambda a: -inf,
    flags="ISBC",
    samples=(inf, -inf, 0, 1, -1, 0.5, 2**31 - 2, 1 - 2**31),
    infinities=("order",),
)

viterbi = Algebra(
    "viterbi", 6, 0, 1,
    plus=lambda a, b: a if a >= b else b,
    times=lambda a, b: a * b,
    star=lambda a: 1,
    flags="ISBC",
    samples=(0, 1, 0.5, 0.25, 0.75, 2.0**-20),
)

max_times = Algebra(
    "max_times", 7, 0, 1,
    plus=lambda a, b: a if a >= b else b,
    times=product,
    star=lambda a: 1 if a <= 1 else inf,
    flags="IS-C",
    samples=(0, 1, inf, 0.5, 2, 3, 2.0**-20),
    infinities=("above",),
)

min_times = Algebra(
    "min_times", 8, inf, 1,
    plus=lambda a, b: a if a <= b else b,
    times=product,
    star=lambda a: 1,
    flags="ISBC",
    samples=(inf, 1, 2, 3, 1.5, 2**20),
    infinities=("above",),
)

plus_times = Algebra(
    "plus_times", 9, Fraction(0), Fraction(1),
    plus=lambda a, b: a + b,
    times=lambda a, b: a * b,
    star=lambda a: None if a == 1 else 1 / (1 - Fraction(a)),
    flags="---C",
    samples=(Fraction(0), Fraction(1), Fraction(-1), Fraction(2), Fraction(1, 2), Fraction(-3, 4), Fraction(5)),
    ulps=64,
    cancels=True,
    read=rational,
)

counting = Algebra(
    "counting", 10, 0, 1,
    plus=sum_zero_above,
    times=product,
    star=lambda a: 1 if a == 0 else inf,
    flags="---C",
    samples=(0, 1, inf, 2, 3, 7, 2**31 - 2),
    infinities=("above",),
    ulps=64,
)

log = Algebra(
    "log", 11, -inf, 0.0,
    plus=log_of_sum,
    times=sum_zero_below,
    star=log_star,
    flags="---C",
    samples=(-inf, 0.0, inf, -1.0, -3.0, 0.5, 2.0, -40.0),
    ulps=64,
)

gf2 = Algebra(
    "gf2", 12, 0, 1,
    plus=lambda a, b: 0 if a == b else 1,
    times=lambda a, b: 1 if a == 1 and b == 1 else 0,
    star=lambda a: 1 if a == 0 else None,
    flags="---C",
    samples=(0, 1),
)


def mod_p(p: int) -> Algebra:
    return Algebra(
        f"mod_p({p})", 13, 0, 1,
        plus=lambda a, b: (a + b) % p,
        times=lambda a, b: (a * b) % p,
        # The inverse by search: the one x with (1 − a) x = 1.
        star=lambda a: next((x for x in range(p) if (1 - a) * x % p == 1), None),
        flags="---C",
        samples=tuple(range(p)) if p <= 7 else (0, 1, 2, p // 2, p - 2, p - 1),
    )


lukasiewicz = Algebra(
    "lukasiewicz", 14, 0, 1,
    plus=lambda a, b: a if a >= b else b,
    times=lambda a, b: max(0, a + b - 1),
    star=lambda a: 1,
    flags="ISBC",
    samples=(0, 1, 0.5, 0.25, 0.75, 0.875),
)


def bitset_may(bits: int) -> Algebra:
    full = 2**bits - 1
    return Algebra(
        "bitset_may", 15, 0, full,
        plus=lambda a, b: a | b,
        times=lambda a, b: a & b,
        star=lambda a: full,
        flags="I-BC",
        samples=(0, full, 1, 2, 3, full - 1, 1 << (bits - 1)),
    )


def bitset_must(bits: int) -> Algebra:
    full = 2**bits - 1
    return Algebra(
        "bitset_must", 16, full, 0,
        plus=lambda a, b: a & b,
        times=lambda a, b: a | b,
        star=lambda a: 0,
        flags="I-BC",
        samples=(full, 0, 1, 2, 3, full - 1, 1 << (bits - 1)),
    )


gcd_lcm = Algebra(
    "gcd_lcm", 17, 0, 1,
    plus=lambda a, b: math.gcd(a, b),
    times=lambda a, b: math.lcm(a, b),
    star=lambda a: 1,
    flags="I-BC",
    samples=(0, 1, 2, 3, 4, 6, 12, 35),
)


def saturating_min_plus(limit: int) -> Algebra:
    return Algebra(
        f"saturating_min_plus({limit})", 18, limit, 0,
        plus=lambda a, b: a if a <= b else b,
        times=lambda a, b: min(limit, a + b),
        star=lambda a: 0,
        flags="ISBC",
        samples=tuple(min(limit, x) for x in (limit, 0, 1, 2, limit // 2, limit - 1)),
    )


# Rows 19 to 23: records. A record whose distance is infinite is zero; no other one with that distance is an element.


def shortest_count_plus(a: Element, b: Element) -> Element:
    if a[0] != b[0]:
        return a if a[0] < b[0] else b
    return (a[0], sum_zero_above(a[1], b[1]))


shortest_count = Algebra(
    "shortest_count", 19, (inf, 0), (0, 1),
    plus=shortest_count_plus,
    times=lambda a, b: (sum_zero_above(a[0], b[0]), product(a[1], b[1])),
    star=lambda a: (0, inf) if a[0] == 0 and a[1] > 0 else (0, 1),
    flags="---C",
    samples=((inf, 0), (0, 1), (0, 2), (0, inf), (1, 1), (1, 3), (2.5, 1), (2**20, inf)),
    fields=("dist", "count"),
    infinities=("above", "above"),
)

shortest_hops = Algebra(
    "shortest_hops", 20, (inf, inf), (0, 0),
    plus=lambda a, b: a if a <= b else b,
    times=lambda a, b: (sum_zero_above(a[0], b[0]), sum_zero_above(a[1], b[1])),
    star=lambda a: (0, 0),
    flags="ISBC",
    samples=((inf, inf), (0, 0), (0, 1), (1, 1), (1, 0), (2.5, 3), (3, inf), (2**20, 1)),
    fields=("cost", "hops"),
    infinities=("above", "above"),
)


def widest_shortest_plus(a: Element, b: Element) -> Element:
    if a[0] != b[0]:
        return a if a[0] < b[0] else b
    return a if a[1] >= b[1] else b


widest_shortest = Algebra(
    "widest_shortest", 21, (inf, -inf), (0, inf),
    plus=widest_shortest_plus,
    times=lambda a, b: (sum_zero_above(a[0], b[0]), min(a[1], b[1])),
    star=lambda a: (0, inf),
    flags="ISBC",
    samples=((inf, -inf), (0, inf), (0, 1), (0, -inf), (1, 5), (1, 2), (2.5, inf), (3, -4)),
    fields=("dist", "width"),
    infinities=("above", "order"),
)


def k_best(k: int) -> Algebra:
    zero = (inf,) * k
    one = (0,) + (inf,) * (k - 1)

    def plus(a: Element, b: Element) -> Element:
        return tuple(sorted(a + b)[:k])

    def times(a: Element, b: Element) -> Element:
        return tuple(sorted(sum_zero_above(x, y) for x in a for y in b)[:k])

    def star(a: Element) -> Element:
        total, power = zero, one
        for _ in range(k):
            total, power = plus(total, power), times(power, a)
        return total

    some = [(1,), (0, 0), (0, 1, 2), (0.5, 0.5, 4), (3, 3), (2**20,), (0,) * k]
    return Algebra(
        f"k_best({k})", 22, zero, one, plus, times, star,
        # With k = 1 it is min_plus on the non-negative numbers.
        flags="ISBC" if k == 1 else "---C",
        samples=(zero, one, *((values + zero)[:k] for values in some)),
        fields=tuple(f"d{position}" for position in range(k)),
        infinities=("above",) * k,
    )


def _expectation_star(a: Element) -> Element:
    p, r = Fraction(a[0]), Fraction(a[1])
    return None if p == 1 else (1 / (1 - p), r / (1 - p) ** 2)


expectation = Algebra(
    "expectation", 23, (Fraction(0), Fraction(0)), (Fraction(1), Fraction(0)),
    plus=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    times=lambda a, b: (a[0] * b[0], a[0] * b[1] + a[1] * b[0]),
    star=_expectation_star,
    flags="---C",
    samples=tuple(
        (Fraction(p), Fraction(r)) for p, r in [(0, 0), (1, 0), (0, 1), (1, 1), (0.5, 2), (-2, 0.25), (3, -1)]
    ),
    fields=("p", "r"),
    infinities=("none", "none"),
    ulps=64,
    cancels=True,
    read=rational,
)


# Rows 24 to 26: objects.


def undominated(points: Any) -> frozenset:
    """The points that no other point undercuts in every criterion."""
    points = set(points)
    return frozenset(
        p for p in points if not any(q != p and all(x <= y for x, y in zip(q, p, strict=True)) for q in points)
    )


pareto = Algebra(
    "pareto", 24, frozenset(), frozenset({(0, 0)}),
    plus=lambda a, b: undominated(a | b),
    times=lambda a, b: undominated({tuple(x + y for x, y in zip(p, q, strict=True)) for p in a for q in b}),
    star=lambda a: frozenset({(0, 0)}),
    flags="I-BC",
    samples=(
        frozenset(),
        frozenset({(0, 0)}),
        frozenset({(1, 2)}),
        frozenset({(1, 2), (2, 1)}),
        frozenset({(0, 3), (0.5, 2)}),
        frozenset({(0, 1)}),
        frozenset({(4, 4)}),
    ),
    objects=True,
    read=lambda value: frozenset(tuple(point) for point in value),
)


def minimal(sets: Any) -> frozenset:
    """The sets that contain no other one of them."""
    sets = set(sets)
    return frozenset(s for s in sets if not any(t < s for t in sets))


def _sets(text: str) -> frozenset:
    return frozenset(frozenset(word) for word in text.split())


why = Algebra(
    "why", 25, frozenset(), frozenset({frozenset()}),
    plus=lambda a, b: minimal(a | b),
    times=lambda a, b: minimal({s | t for s in a for t in b}),
    star=lambda a: frozenset({frozenset()}),
    flags="I-BC",
    samples=(frozenset(), frozenset({frozenset()}), *map(_sets, ["x", "y", "x y", "xy", "xy z", "xyz", "xz yz"])),
    objects=True,
    read=lambda value: frozenset(frozenset(labels) for labels in value),
)

LONGEST_WORD = 5


def concatenation(a: frozenset, b: frozenset) -> frozenset:
    """All words of a followed by b that are short enough. Cutting by length respects every operation."""
    return frozenset(u + v for u in a for v in b if len(u) + len(v) <= LONGEST_WORD)


def repetition(a: frozenset) -> frozenset:
    words = frozenset({""})
    while True:
        more = words | concatenation(words, a)
        if more == words:
            return words
        words = more


def language(expression: Any) -> frozenset:
    """The words up to `LONGEST_WORD` letters that a regular expression matches, read from its text.

    The text may hold letters, ``|``, ``*``, ``+``, ``?``, groups ``( )`` and ``(?: )``, ``∅`` for no word, and ``ε``
    or nothing at all for the empty word.
    """
    if isinstance(expression, frozenset):
        return expression
    text = str(expression)
    position = 0

    def ahead() -> str:
        return text[position : position + 1]

    def union() -> frozenset:
        nonlocal position
        words = sequence()
        while ahead() == "|":
            position += 1
            words = words | sequence()
        return words

    def sequence() -> frozenset:
        words = frozenset({""})
        while ahead() and ahead() not in "|)":
            words = concatenation(words, repeated())
        return words

    def repeated() -> frozenset:
        nonlocal position
        words = atom()
        while ahead() and ahead() in "*+?":
            sign, position = ahead(), position + 1
            if sign == "*":
                words = repetition(words)
            elif sign == "+":
                words = concatenation(words, repetition(words))
            else:
                words = words | {""}
        return words

    def atom() -> frozenset:
        nonlocal position
        letter, position = ahead(), position + 1
        if letter == "(":
            if text.startswith("?:", position):
                position += 2
            words = union()
            if ahead() != ")":
                raise ValueError(f"a group is not closed in {text!r}")
            position += 1
            return words
        if letter == "∅":
            return frozenset()
        if letter == "ε":
            return frozenset({""})
        if not letter.isalnum():
            raise ValueError(f"cannot read {letter!r} in {text!r}")
        return frozenset({letter})

    words = union()
    if position < len(text):
        raise ValueError(f"cannot read {text[position:]!r} in {text!r}")
    return words


def expression(words: frozenset) -> str:
    """A regular expression for a finite set of words."""
    return "|".join(word or "ε" for word in sorted(words)) or "∅"


regex = Algebra(
    "regex", 26, frozenset(), frozenset({""}),
    plus=lambda a, b: a | b,
    times=concatenation,
    star=repetition,
    flags="I---",
    samples=tuple(map(language, ["∅", "ε", "a", "b", "a|b", "ab", "a*", "b|ε", "(ab)*"])),
    objects=True,
    read=language,
    write=expression,
)

ALGEBRAS: dict[str, Algebra] = {
    algebra.base: algebra
    for algebra in (
        boolean, min_plus, max_plus, max_min, min_max, viterbi, max_times, min_times, plus_times, counting, log, gf2,
        mod_p(7), lukasiewicz, bitset_may(8), bitset_must(8), gcd_lcm, saturating_min_plus(100), shortest_count,
        shortest_hops, widest_shortest, k_best(3), expectation, pareto, why, regex,
    )
}


def for_dtype(algebra: Algebra, dtype: Any) -> Algebra:
    """The algebra as it is in a dtype: how many bits ~0 has depends on it; all the others stay as they are."""
    make = {"bitset_may": bitset_may, "bitset_must": bitset_must}.get(algebra.base)
    return make(8 * np.dtype(dtype).itemsize) if make else algebra


# Laws.


def broken_laws(algebra: Algebra) -> list[tuple[str, tuple[Element, ...]]]:
    """Every law of semirings and of the star that the samples refute, with the first witness of each."""
    S, zero, one = algebra, algebra.zero, algebra.one
    x1 = [(a,) for a in S.samples]
    x2 = list(itertools.product(S.samples, repeat=2))
    x3 = list(itertools.product(S.samples, repeat=3))
    laws: list[tuple[str, list, Callable[..., tuple[Element, Element]]]] = [
        ("a ⊕ 0 = a", x1, lambda a: (S.plus(a, zero), a)),
        ("0 ⊕ a = a", x1, lambda a: (S.plus(zero, a), a)),
        ("a ⊗ 1 = a", x1, lambda a: (S.times(a, one), a)),
        ("1 ⊗ a = a", x1, lambda a: (S.times(one, a), a)),
        ("a ⊗ 0 = 0", x1, lambda a: (S.times(a, zero), zero)),
        ("0 ⊗ a = 0", x1, lambda a: (S.times(zero, a), zero)),
        ("a ⊕ b = b ⊕ a", x2, lambda a, b: (S.plus(a, b), S.plus(b, a))),
        ("⊕ associative", x3, lambda a, b, c: (S.plus(S.plus(a, b), c), S.plus(a, S.plus(b, c)))),
        ("⊗ associative", x3, lambda a, b, c: (S.times(S.times(a, b), c), S.times(a, S.times(b, c)))),
        (
            "left distributive", x3,
            lambda a, b, c: (S.times(a, S.plus(b, c)), S.plus(S.times(a, b), S.times(a, c))),
        ),
        (
            "right distributive", x3,
            lambda a, b, c: (S.times(S.plus(a, b), c), S.plus(S.times(a, c), S.times(b, c))),
        ),
    ]
    starred = [(a, S.star(a)) for a in S.samples if S.star(a) is not None]
    laws += [
        ("a* = 1 ⊕ a ⊗ a*", starred, lambda a, x: (x, S.plus(one, S.times(a, x)))),
        ("a* = 1 ⊕ a* ⊗ a", starred, lambda a, x: (x, S.plus(one, S.times(x, a)))),
    ]
    broken = []
    for law, cases, sides in laws:
        witness = next((case for case in cases if not S.close(*sides(*case))), None)
        if witness is not None:
            broken.append((law, witness))
    return broken


def flags_of(algebra: Algebra) -> str:
    """The flags that the samples do not refute."""
    S = algebra
    pairs = list(itertools.product(S.samples, repeat=2))
    held = {
        "I": all(S.close(S.plus(a, a), a) for a in S.samples),
        "S": all(S.close(S.plus(a, b), a) or S.close(S.plus(a, b), b) for a, b in pairs),
        "B": all(S.close(S.plus(S.one, a), S.one) for a in S.samples),
        "C": all(S.close(S.times(a, b), S.times(b, a)) for a, b in pairs),
    }
    return "".join(flag if holds else "-" for flag, holds in held.items())


# Matrices as nested lists.


def identity(algebra: Algebra, n: int) -> Matrix:
    return [[algebra.one if i == j else algebra.zero for j in range(n)] for i in range(n)]


def matadd(algebra: Algebra, A: Matrix, B: Matrix) -> Matrix:
    return [[algebra.plus(a, b) for a, b in zip(x, y, strict=True)] for x, y in zip(A, B, strict=True)]


def matmul(algebra: Algebra, A: Matrix, B: Matrix, columns: int | None = None) -> Matrix:
    """A ⊗ B. `columns` is needed only where B has no rows to count them in."""
    if columns is None:
        columns = len(B[0]) if B else 0
    C = [[algebra.zero] * columns for _ in A]
    for i, row in enumerate(A):
        for j in range(columns):
            for k, a in enumerate(row):
                C[i][j] = algebra.plus(C[i][j], algebra.times(a, B[k][j]))
    return C


def adjacency(algebra: Algebra, edges: Sequence[tuple[int, int, Element]], n: int) -> Matrix:
    """The matrix of a list of edges; parallel edges combine with ⊕."""
    A = [[algebra.zero] * n for _ in range(n)]
    for i, j, weight in edges:
        A[i][j] = algebra.plus(A[i][j], weight)
    return A


def closure_by_elimination(algebra: Algebra, A: Matrix) -> Matrix:
    """A* after Kleene: A⁺ through the vertices 0..k, for k = 0, 1, …, each from the one before; then ⊕ 1.

    Raises `Undefined` with the vertex where the star of a pivot does not exist.
    """
    plus, times, n = algebra.plus, algebra.times, len(A)
    for k in range(n):
        loops = algebra.star(A[k][k])
        if loops is None:
            raise Undefined(k)
        A = [
            [plus(A[i][j], times(times(A[i][k], loops), A[k][j])) for j in range(n)]
            for i in range(n)
        ]
    return matadd(algebra, identity(algebra, n), A)


def closure_by_walks(algebra: Algebra, A: Matrix, steps: int = 200) -> Matrix | None:
    """A⁰ ⊕ A¹ ⊕ A² ⊕ …, one length of walks after another; None unless it stops changing within `steps`."""
    total = power = identity(algebra, len(A))
    for _ in range(steps):
        power = matmul(algebra, power, A)
        longer = matadd(algebra, total, power)
        if longer == total:
            return total
        total = longer
    return None


def solve_by_iteration(algebra: Algebra, A: Matrix, B: Matrix, steps: int = 200) -> Matrix | None:
    """The least solution of X = A ⊗ X ⊕ B, from X = B on; None unless it stops changing within `steps`."""
    X = B
    for _ in range(steps):
        better = matadd(algebra, matmul(algebra, A, X), B) if A else B
        if better == X:
            return X
        X = better
    return None


# Paths and cycles.


def weight_of(algebra: Algebra, A: Matrix, path: Sequence[int]) -> Element:
    """The ⊗ of the entries along a path given by its vertices."""
    weight = algebra.one
    for i, j in itertools.pairwise(path):
        weight = algebra.times(weight, A[i][j])
    return weight


def is_improving(algebra: Algebra, A: Matrix, cycle: Sequence[int]) -> bool:
    """Is going round worth more than staying: 1 ⊕ weight ≠ 1? The first vertex may be repeated at the end or not."""
    closed = list(cycle) if len(cycle) > 1 and cycle[0] == cycle[-1] else [*cycle, *cycle[:1]]
    weight = weight_of(algebra, exactly(A), closed)
    return algebra.plus(algebra.one, weight) != algebra.one


def exactly(A: Matrix) -> Matrix:
    """Finite floats as the fractions that they are."""
    return [[Fraction(x) if isinstance(x, float) and math.isfinite(x) else x for x in row] for row in A]


def has_improving_cycle(algebra: Algebra, A: Matrix) -> bool:
    """Is there a closed walk that is worth more than staying? For selective algebras; in exact arithmetic."""
    if not algebra.selective:
        raise ValueError(f"{algebra} is not selective")
    A, n = exactly(A), len(A)
    # An infinitely good edge is an improving cycle as soon as its head reaches its tail. It is then left out,
    # because a value that it has made infinite cannot improve any more.
    reach = closure_by_elimination(boolean, [[x != algebra.zero for x in row] for row in A])
    for i, j in itertools.product(range(n), repeat=2):
        if A[i][j] in (inf, -inf) and algebra.plus(algebra.one, A[i][j]) != algebra.one:
            if reach[j][i]:
                return True
            A[i][j] = algebra.zero
    # Bellman–Ford from every vertex at once: a walk that still improves in round n has gone round.
    best = [algebra.one] * n
    for _ in range(n + 1):
        before = best
        best = list(before)
        for i, j in itertools.product(range(n), repeat=2):
            best[j] = algebra.plus(best[j], algebra.times(before[i], A[i][j]))
        if best == before:
            return False
    return True


# Arrays.


def _nested(values: Iterator[Element], shape: Sequence[int]) -> Any:
    if not shape:
        return next(values)
    return [_nested(values, shape[1:]) for _ in range(shape[0])]


def _from_integer(value: int, dtype: np.dtype, infinities: str) -> Element:
    limits = np.iinfo(dtype)
    if infinities != "none" and value == limits.max:
        return inf
    if value == limits.min and (infinities == "order" or (infinities == "both" and limits.min < 0)):
        return -inf
    return value


def _to_scalar(element: Element, dtype: np.dtype, infinities: str) -> Any:
    """The number that an array of this dtype holds for an element.

    An integer beyond the finite ones of the dtype becomes the infinity on that side, where there is one.
    """
    if dtype.kind not in "iu":
        with np.errstate(over="ignore"):
            return dtype.type(float(element)).item() if dtype.kind == "f" else bool(element)
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    if infinities != "none" and element >= high:
        return high
    if element <= low and (infinities == "order" or (infinities == "both" and low < 0)):
        return low
    if not low <= element <= high or element != int(element):
        raise OverflowError(f"{element} does not fit in {dtype}")
    return int(element)


def _components(algebra: Algebra, dtype: np.dtype) -> list[tuple[np.dtype, str]]:
    dtypes = [dtype[name] for name in algebra.fields] or [dtype]
    return list(zip(dtypes, algebra.infinities, strict=True))


def from_numpy(algebra: Algebra, array: np.ndarray) -> Any:
    """The elements of an array, in lists nested as deep as the array has axes."""
    array = np.asarray(array)
    if algebra.objects:
        return _nested((algebra.read(value) for value in array.ravel().tolist()), array.shape)
    columns = []
    for (dtype, infinities), name in zip(
        _components(algebra, array.dtype), algebra.fields or (None,), strict=True
    ):
        values = (array if name is None else array[name]).ravel().tolist()
        if dtype.kind in "iu":
            values = [_from_integer(value, dtype, infinities) for value in values]
        columns.append([algebra.read(value) for value in values])
    elements = zip(*columns, strict=True) if algebra.fields else columns[0]
    return _nested(iter(elements), array.shape)


def to_numpy(algebra: Algebra, rows: Any, dtype: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """A matrix of elements as an array. `shape` is needed only where the rows are too few to show it."""
    dtype = np.dtype(dtype)
    if shape is None:
        shape = (len(rows), len(rows[0]) if rows else 0)
    array = np.empty(shape, dtype)
    for i, j in np.ndindex(*shape):
        array[i, j] = _stored(algebra, rows[i][j], dtype)
    return array


def _stored(algebra: Algebra, element: Element, dtype: np.dtype) -> Any:
    if algebra.objects:
        return algebra.write(element)
    components = _components(algebra, dtype)
    if not algebra.fields:
        return _to_scalar(element, *components[0])
    values = {
        name: _to_scalar(x, *component)
        for name, x, component in zip(algebra.fields, element, components, strict=True)
    }
    return tuple(values[name] for name in dtype.names or ())


def fits(algebra: Algebra, rows: Any, dtype: Any) -> bool:
    """Can the dtype hold every finite number of these elements, so that nothing has to overflow or saturate?"""
    dtype = np.dtype(dtype)
    if algebra.objects:
        return True
    for element in itertools.chain.from_iterable(rows):
        values = element if algebra.fields else (element,)
        for value, (kind, infinities) in zip(values, _components(algebra, dtype), strict=True):
            if kind.kind in "iu" and value not in (inf, -inf):
                if not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
                    return False
                if _from_integer(int(value), kind, infinities) != value:
                    return False
            elif kind.kind == "f" and value not in (inf, -inf) and abs(value) > float(np.finfo(kind).max):
                return False
    return True


# Comparison.


@dataclass(frozen=True)
class Call:
    """A call of the code under test, with what is needed to repeat it on less input and to print it.

    `axes` names the axes of every array, one letter each; where a letter stands more than once, those axes go
    together, and a vertex is left out of all of them. An input that is a list (of edges) is left out one by one.
    """

    text: str
    inputs: dict[str, Any]  # arrays, or lists of edges
    axes: dict[str, str]
    run: Callable[..., np.ndarray]
    answer: Callable[..., Matrix]
    dtype: np.dtype | None = None  # of the result, where it is to be kept


def closure_call(
    algebra: Algebra, A: np.ndarray, run: Callable[[np.ndarray], np.ndarray], text: str | None = None
) -> Call:
    """``run(A)`` should be A*."""
    return Call(
        text or f"sr.closure(A, sr.{algebra.name})",
        {"A": A},
        {"A": "vv"},
        run,
        lambda A: closure_by_elimination(algebra, from_numpy(algebra, A)),
        A.dtype,
    )


def matmul_call(
    algebra: Algebra, A: np.ndarray, B: np.ndarray, run: Callable[..., np.ndarray], text: str | None = None
) -> Call:
    """``run(A, B)`` should be A ⊗ B."""
    return Call(
        text or f"sr.matmul(A, B, sr.{algebra.name})",
        {"A": A, "B": B},
        {"A": "ik", "B": "kj"},
        run,
        lambda A, B: matmul(algebra, from_numpy(algebra, A), from_numpy(algebra, B), B.shape[1]),
        A.dtype,
    )


def solve_call(
    algebra: Algebra, A: np.ndarray, B: np.ndarray, run: Callable[..., np.ndarray], text: str | None = None
) -> Call:
    """``run(A, B)`` should be A* ⊗ B, the least solution of X = A ⊗ X ⊕ B."""

    def answer(A: np.ndarray, B: np.ndarray) -> Matrix:
        closed = closure_by_elimination(algebra, from_numpy(algebra, A))
        return matmul(algebra, closed, from_numpy(algebra, B), B.shape[1])

    return Call(
        text or f"sr.solve(A, B, sr.{algebra.name})",
        {"A": A, "B": B},
        {"A": "vv", "B": "vj"},
        run,
        answer,
        A.dtype,
    )


def adjacency_call(
    algebra: Algebra, edges: list, n: int, run: Callable[[list], np.ndarray], text: str | None = None
) -> Call:
    """``run(edges)`` should be the n×n matrix of the edges."""
    return Call(
        text or f"sr.adjacency(edges, sr.{algebra.name}, n={n})",
        {"edges": edges},
        {},
        run,
        lambda edges: adjacency(algebra, edges, n),
    )


def expected_closure(algebra: Algebra, array: np.ndarray) -> list | None:
    """A*, or None where it does not exist or elements of it cannot be written."""
    A = from_numpy(algebra, array)
    if algebra.selective and has_improving_cycle(algebra, A):
        return None
    try:
        return closure_by_elimination(algebra, A)
    except (Undefined, OverflowError):
        return None


def check(algebra: Algebra, call: Call, context: str = "") -> None:
    """Run the call and compare it with its answer, see `assert_same`; it must leave its input as it was."""
    expected = call.answer(*call.inputs.values())
    before = [_copy(value) for value in call.inputs.values()]
    got = call.run(*call.inputs.values())
    for (name, value), old in zip(call.inputs.items(), before, strict=True):
        assert np.array_equal(value, old) if isinstance(value, np.ndarray) else value == old, (
            f"{algebra}: {call.text} changed its input {name}"
        )
    assert_same(algebra, expected, got, call, note=context)


def assert_same(
    algebra: Algebra, expected: Matrix, got: np.ndarray, context: Call | str = "", *, note: str = "",
    eps: float | None = None,
) -> None:
    """Assert that an array holds the expected elements.

    The expected numbers are first brought into the array's dtype: rounded for floats; for integers, what is beyond
    the finite numbers of the dtype becomes infinite. `eps` is the rounding unit to allow, in an algebra that is not
    exact: that of the dtype unless given. Given a `Call`, the message shows the smallest input that still fails.
    """
    if isinstance(context, str):
        fault = difference(algebra, expected, got, eps=eps)
        assert fault is None, f"{algebra}: {fault}" + (f"\n    {context}" if context else "")
        return
    fault = difference(algebra, expected, got, context.dtype, eps)
    if fault is None:
        return
    small = smallest(algebra, context, fault, eps)
    fault = _fault_of(algebra, small, eps) or fault
    heading = f"{algebra}, {note}: {fault}" if note else f"{algebra}: {fault}"
    raise AssertionError(f"{heading}\nThe smallest input that fails:\n{code(algebra, small)}")


def difference(
    algebra: Algebra, expected: Matrix, got: np.ndarray, dtype: Any = None, eps: float | None = None
) -> str | None:
    """In what an array differs from the expected elements, or None."""
    if not isinstance(got, np.ndarray):
        return f"the result is a {type(got).__name__}, not an array"
    if dtype is not None and got.dtype != dtype:
        return f"the result has dtype {got.dtype}, not {dtype}"
    if algebra.fields and set(got.dtype.names or ()) != set(algebra.fields):
        return f"the result has fields {got.dtype.names}, not {algebra.fields}"
    shape = (len(expected), len(expected[0])) if expected else (0, got.shape[-1] if got.ndim == 2 else 0)
    if got.shape != shape:
        return f"the result has shape {got.shape}, not {shape}"
    kinds = [] if algebra.objects else [kind for kind, _ in _components(algebra, got.dtype) if kind.kind == "f"]
    if eps is None:
        eps = max((float(np.finfo(kind).eps) for kind in kinds), default=0.0)
    found = from_numpy(algebra, got)
    wanted = [[_in_dtype(algebra, x, got.dtype) for x in row] for row in expected]
    scale = 1.0
    if algebra.cancels:
        numbers = [x for row in wanted for entry in row for x in (entry if algebra.fields else (entry,))]
        scale = float(max([1, *(abs(x) for x in numbers if _finite(x))]))
    wrong = [
        (i, j)
        for i, j in np.ndindex(*shape)
        if not algebra.close(wanted[i][j], found[i][j], eps, scale)
    ]
    if not wrong:
        return None
    i, j = wrong[0]
    return (
        f"entry ({i}, {j}) is {_show(found[i][j])}, not {_show(wanted[i][j])}; "
        f"{len(wrong)} of {got.size} entries differ"
    )


def _in_dtype(algebra: Algebra, element: Element, dtype: np.dtype) -> Element:
    """The element that an array of this dtype can hold for it."""
    if algebra.objects:
        return element
    components = _components(algebra, dtype)
    values = []
    for x, (kind, infinities) in zip(element if algebra.fields else (element,), components, strict=True):
        stored = _to_scalar(x, kind, infinities)
        values.append(algebra.read(_from_integer(stored, kind, infinities) if kind.kind in "iu" else stored))
    return tuple(values) if algebra.fields else values[0]


def _show(element: Element) -> str:
    if isinstance(element, Fraction):
        return repr(float(element))
    if isinstance(element, tuple):
        return f"({', '.join(map(_show, element))})"
    return repr(element)


def _fault_of(algebra: Algebra, call: Call, eps: float | None) -> str | None:
    got = call.run(*(_copy(value) for value in call.inputs.values()))
    return difference(algebra, call.answer(*call.inputs.values()), got, call.dtype, eps)


def _copy(value: np.ndarray | list) -> np.ndarray | list:
    return value.copy() if isinstance(value, np.ndarray) else list(value)


def smallest(algebra: Algebra, call: Call, fault: str, eps: float | None = None) -> Call:
    """Leave out vertices and edges for as long as the call still gives a wrong answer of the same kind.

    An input on which the call or its answer raises is another story, and passed over.
    """
    kind = " ".join(fault.split()[:4]) if fault.startswith("the") else "entry"

    def fails(call: Call) -> bool:
        try:
            found = _fault_of(algebra, call, eps)
        except Exception:
            return False
        return found is not None and found.startswith(kind)

    progress = True
    while progress:
        progress = False
        for candidate in _smaller(algebra, call):
            if fails(candidate):
                call, progress = candidate, True
                break
    return call


def _smaller(algebra: Algebra, call: Call) -> Iterator[Call]:
    lengths = {
        letter: call.inputs[name].shape[axis]
        for name, letters in call.axes.items()
        for axis, letter in enumerate(letters)
    }
    for letter, length in lengths.items():
        for left_out in range(length):
            inputs = dict(call.inputs)
            for name, letters in call.axes.items():
                for axis, other in enumerate(letters):
                    if other == letter:
                        inputs[name] = np.delete(inputs[name], left_out, axis)
            yield replace(call, inputs=inputs)
    for name, value in call.inputs.items():
        if isinstance(value, list):
            for position in range(len(value)):
                yield replace(call, inputs={**call.inputs, name: value[:position] + value[position + 1 :]})
            continue
        for i, j, _ in edges_of(algebra, value):
            fewer = value.copy()
            fewer[i, j] = _stored(algebra, algebra.zero, value.dtype)
            yield replace(call, inputs={**call.inputs, name: fewer})


def edges_of(algebra: Algebra, array: np.ndarray) -> list[tuple[int, int, Any]]:
    """(from, to, weight as the array holds it) for every entry that is not zero."""
    elements = from_numpy(algebra, array)
    return [
        (i, j, array[i, j].item() if isinstance(array[i, j], np.generic) else array[i, j])
        for i, j in np.ndindex(*array.shape)
        if not algebra.close(elements[i][j], algebra.zero)
    ]


def code(algebra: Algebra, call: Call) -> str:
    """The call and its inputs as Python to paste."""
    lines = []
    for name, value in call.inputs.items():
        if isinstance(value, list):
            lines.append(f"{name} = {_literal(value)}")
            continue
        zero = _literal(_stored(algebra, algebra.zero, value.dtype))
        dtype = value.dtype.descr if value.dtype.names else value.dtype.name
        if value.dtype.names:
            zero = f"np.array({zero}, dtype={dtype})"
        lines += [
            f"{name} = np.full({value.shape}, {zero}, dtype={dtype!r})",
            f"for i, j, weight in {_literal(edges_of(algebra, value))}:",
            f"    {name}[i, j] = weight",
        ]
    return "\n".join(f"    {line}" for line in [*lines, call.text])


def _literal(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return {inf: "np.inf", -inf: "-np.inf"}.get(value, "np.nan")
    if isinstance(value, Fraction):
        return _literal(float(value))
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
