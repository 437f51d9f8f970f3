"""Algebras whose answers are known, on whole stacks of matrices: the oracle of the generated algebras.

This file shares no code with the library. Elements lie in NumPy arrays: real numbers as long doubles, so that rounding
is distinguished from errors; finite sets and bits as 64-bit integers; records as structured arrays of these.
`closure` is Gauss's and Kleene's elimination of one vertex after the other, over a stack at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

REAL = np.dtype(np.longdouble)
WHOLE = np.dtype(np.int64)
inf = np.inf
Array = np.ndarray

# What is known of the closure of one matrix, the strongest last.
EXISTS, EITHER, NONE, UNSURE = range(4)


@dataclass(frozen=True)
class Base:
    """An algebra as functions on arrays.

    `star` gives the values and a code for each: EXISTS, NONE, or EITHER where a sum of powers comes to rest after some
    steps, so that refusing it is not a wrong answer. `texts` spells the operations for a declaration, with {a} and {b}
    for the operands; `dual` is ⊕ when the order is turned round.
    """

    name: str
    dtype: np.dtype
    zero: Any
    one: Any
    plus: Callable[[Array, Array], Array]
    times: Callable[[Array, Array], Array]
    star: Callable[[Array], tuple[Array, Array]]
    flags: str  # of ISBC
    pools: tuple[Array, ...]  # elements to draw from; all but the last are safe: most closures over them exist
    texts: dict[str, str]
    interval: tuple[float, float, str] = (-inf, inf, "[]")  # the carrier, if it is one, with its brackets
    exact: bool = False  # sums and products of drawn elements do not round
    partial: bool = False  # an inverse: another order of elimination may meet a star that does not exist
    potentials: bool = False  # ⊗ is +, so that a difference of potentials may be added to an edge
    # Beyond this, of each component, rounding errors are no longer told from wrong answers.
    large: tuple[float, ...] = (inf,)
    improves: Callable[[Array], bool] | None = None  # whether a cycle of a matrix does, in fractions

    def has(self, flag: str) -> bool:
        """Whether a property holds, by its first letter."""
        return flag[0].upper() in self.flags

    def full(self, shape: Sequence[int], element: Any) -> Array:
        """An array of one element."""
        result = np.empty(tuple(shape), self.dtype)
        result[...] = element
        return result

    def eye(self, n: int) -> Array:
        """The identity matrix."""
        result = self.full((n, n), self.zero)
        for i in range(n):
            result[i, i] = self.one
        return result

    def equal(self, x: Array, y: Array) -> Array:
        """Where two elements are the same one."""
        return np.asarray(x == y)


def matmul(base: Base, A: Array, B: Array, C: Array | None = None) -> Array:
    """C ⊕ A ⊗ B, matrix by matrix."""
    shape = (*A.shape[:-1], B.shape[-1])
    result = base.full(shape, base.zero) if C is None else C
    for k in range(A.shape[-1]):
        result = base.plus(result, base.times(A[..., :, k, None], B[..., None, k, :]))
    return result


def convolve_rows(base: Base, A: Array, B: Array) -> Array:
    """Each row of A convolved with the same row of B."""
    m, n = A.shape[-1], B.shape[-1]
    result = base.full((*A.shape[:-1], m + n - 1), base.zero)
    for i in range(m):
        for j in range(n):
            result[..., i + j] = base.plus(result[..., i + j], base.times(A[..., i], B[..., j]))
    return result


def closure(
    base: Base, A: Array, *, near_one: Callable[[Array, Array], Array] | None = None,
    order: Sequence[int] | None = None, declared: bool = True,
) -> tuple[Array, Array]:
    """A* of each matrix of a stack, and whether it exists: EXISTS, EITHER, NONE or UNSURE.

    Parameters
    ----------
    near_one : callable, optional
        Of pivots, and whether each has a star: where rounding decides whether 1 ⊕ a = 1.
    order : sequence of int, optional
        In which the vertices are eliminated.
    declared : bool
        Whether the star is declared; otherwise it is 1 where 1 ⊕ a = 1.
    """
    n, given = A.shape[-1], A
    code = np.full(len(A), EXISTS)
    one = base.full((len(A),), base.one)
    with np.errstate(all="ignore"):
        for k in range(n) if order is None else order:
            pivot = A[:, k, k]
            star, found = base.star(pivot)
            bounded = base.equal(base.plus(one, pivot), one)
            if base.has("selective") or not declared:
                # A selective ⊕ has no closure where a cycle improves: as documented, whatever star is declared.
                found = np.where(bounded, EXISTS, np.maximum(found, EITHER))
            if near_one is not None:
                found = np.where(near_one(pivot, found), UNSURE, found)
            code = np.maximum(code, found)
            left = base.times(A[:, :, k], star[:, None])
            A = base.plus(A, base.times(left[:, :, None], A[:, k, None, :]))
            for part, most in zip([A[f] for f in A.dtype.names] if A.dtype.names else [A], base.large, strict=False):
                if np.isfinite(most):
                    numbers = np.where(np.isfinite(part), np.abs(part), 0)
                    code = np.where(numbers.max(axis=(1, 2), initial=0) > most, UNSURE, code)
        if base.improves is not None:
            code = np.array([NONE if base.improves(a) else EXISTS for a in given], code.dtype)
        return base.plus(np.broadcast_to(base.eye(n), A.shape), A), code


def laws_fail(base: Base, elements: Array) -> str:
    """The name of a law of semirings that fails on all combinations of some elements; empty if none does."""
    a, b, c = (elements[np.array(i)] for i in zip(*product(range(len(elements)), repeat=3), strict=True))
    zero, one = base.full(a.shape, base.zero), base.full(a.shape, base.one)
    p, t = base.plus, base.times

    def near(x: Array, y: Array) -> Array:
        if x.dtype.names:
            return np.logical_and.reduce([near(x[f], y[f]) for f in x.dtype.names])
        same = x == y
        if x.dtype == REAL:
            same |= np.abs(x - y) <= 1e-14 * np.maximum(1, np.maximum(np.abs(x), np.abs(y)))
        return np.asarray(same)

    with np.errstate(all="ignore"):
        star, code = base.star(a)
        fine = code == EXISTS
        sides = {
            "associative ⊕": (p(p(a, b), c), p(a, p(b, c))),
            "commutative ⊕": (p(a, b), p(b, a)),
            "neutral 0": (p(zero, a), a),
            "associative ⊗": (t(t(a, b), c), t(a, t(b, c))),
            "neutral 1, left": (t(one, a), a),
            "neutral 1, right": (t(a, one), a),
            "0 ⊗ a": (t(zero, a), zero),
            "a ⊗ 0": (t(a, zero), zero),
            "left distributive": (t(a, p(b, c)), p(t(a, b), t(a, c))),
            "right distributive": (t(p(a, b), c), p(t(a, c), t(b, c))),
            "star": (star[fine], p(one, t(a, star))[fine]),
        }
        if base.has("idempotent"):
            sides["idempotent"] = (p(a, a), a)
        if base.has("selective"):
            total = p(a, b)
            sides["selective"] = (total, np.where(base.equal(total, b), b, a))
        if base.has("bounded"):
            sides["bounded"] = (p(one, a), one)
        if base.has("commutative"):
            sides["commutative ⊗"] = (t(a, b), t(b, a))
        return next((name for name, (x, y) in sides.items() if not near(x, y).all()), "")


# Real numbers.


def _real(*values: float) -> Array:
    return np.array(values, REAL)


def _absorbing(zero: float, operation: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def times(a: Array, b: Array) -> Array:
        a, b = np.broadcast_arrays(a, b)
        with np.errstate(all="ignore"):
            return np.where((a == zero) | (b == zero), zero, operation(a, b)).astype(REAL)

    return times


def _always(value: float) -> Callable[[Array], tuple[Array, Array]]:
    return lambda a: (np.full(a.shape, value, REAL), np.full(a.shape, EXISTS))


def _where(condition: Array, value: Array | float, otherwise: float, code: int = NONE) -> tuple[Array, Array]:
    values = np.where(condition, value, otherwise).astype(REAL)
    return values, np.where(condition, EXISTS, code)


MINIMUM = {"add": "np.minimum({a}, {b})", "dual": "np.maximum({a}, {b})"}
MAXIMUM = {"add": "np.maximum({a}, {b})", "dual": "np.minimum({a}, {b})"}
_STEPS = _real(0, 1, 2, 3, 5, 0.5, 8)


def _tropical(name: str, sign: int, interval: tuple[float, float, str], flags: str, *pools: Array) -> Base:
    zero = sign * inf
    return Base(
        name, REAL, zero, 0,
        plus=np.minimum if sign > 0 else np.maximum,
        times=_absorbing(zero, np.add),
        star=lambda a: _where(sign * a >= 0, 0, -zero),
        flags=flags,
        pools=pools,
        texts=(MINIMUM if sign > 0 else MAXIMUM)
        | {"mul": "{a} + {b}", "star": f"np.where({{a}} {'<>'[sign < 0]} 0, np.nan, 0)"},
        interval=interval,
        exact=True,
        potentials="B" not in flags,
    )


REALS = (
    _tropical("min-plus ≥ 0", 1, (0, inf, "[]"), "ISBC", _STEPS, _real(1, 2, 3), _real(0, 1, 4, 60)),
    _tropical("min-plus", 1, (-inf, inf, "(]"), "ISC", _STEPS, _STEPS, _real(-1, 0, 1, 2, -3)),
    _tropical("min-plus with −∞", 1, (-inf, inf, "[]"), "ISC", _STEPS, _real(0, 1, 4), _real(0, 1, 2, -inf)),
    _tropical("max-plus", -1, (-inf, inf, "[)"), "ISC", -_STEPS, -_STEPS, _real(-1, 0, 1, 2, -3)),
    _tropical("max-plus ≤ 0", -1, (-inf, 0, "[]"), "ISBC", -_STEPS, -_STEPS),
    Base("max-min", REAL, -inf, inf, np.maximum, np.minimum, _always(inf), "ISBC",
         (_real(-3, -1, 0, 1, 2, 5, 0.5), _real(1, 2, 3, 4), _real(inf, 0, 7, -7)),
         MAXIMUM | {"mul": "np.minimum({a}, {b})", "dual mul": "np.maximum({a}, {b})", "star": "{one}"}, exact=True),
    Base("fuzzy", REAL, 0, 1, np.maximum, np.minimum, _always(1), "ISBC",
         (_real(0.25, 0.5, 0.75, 1, 0.125), _real(0.5, 1)),
         MAXIMUM | {"mul": "np.minimum({a}, {b})", "dual mul": "np.maximum({a}, {b})", "star": "{one}"},
         (0, 1, "[]"), exact=True),
    Base("viterbi", REAL, 0, 1, np.maximum, np.multiply, _always(1), "ISBC",
         (_real(0.5, 1, 0.25), _real(0.9, 0.75, 0.3, 1)),
         MAXIMUM | {"mul": "{a} * {b}", "star": "{one}"}, (0, 1, "[]")),
    Base("max-times", REAL, 0, 1, np.maximum, _absorbing(0, np.multiply), lambda a: _where(a <= 1, 1, inf), "ISC",
         (_real(0.5, 1, 0.25), _real(0.9, 0.75, 0.3, 1), _real(0.5, 2, 1, 0.25)),
         MAXIMUM | {"mul": "{a} * {b}", "star": "np.where({a} > 1, np.nan, 1)"}, (0, inf, "[)")),
    Base("min-times", REAL, inf, 1, np.minimum, _absorbing(inf, np.multiply), _always(1), "ISBC",
         (_real(1, 2, 4), _real(1, 1.5, 3, 2)),
         MINIMUM | {"mul": "{a} * {b}", "star": "{one}"}, (1, inf, "[]")),
    Base("plus-times", REAL, 0, 1, np.add, np.multiply, lambda a: _where(a != 1, 1 / (1 - a), 1), "C",
         (_real(*(k / 64 for k in (-4, -2, -1, 1, 2, 3))), _real(1 / 64, 1 / 32), _real(0.5, -0.5, 2, -1, 1)),
         {"add": "{a} + {b}", "mul": "{a} * {b}", "star": "np.where({a} == 1, np.nan, 1 / (1 - {a}))"},
         (-inf, inf, "()"), partial=True, large=(32,)),
    Base("non-negative plus-times", REAL, 0, 1, np.add, np.multiply, lambda a: _where(a < 1, 1 / (1 - a), 1), "C",
         (_real(*(k / 64 for k in (1, 2, 3))), _real(1 / 64, 1 / 32), _real(0.5, 0.25, 2, 1 / 64)),
         {"add": "{a} + {b}", "mul": "{a} * {b}", "star": "np.where({a} >= 1, np.nan, 1 / (1 - {a}))"},
         (0, inf, "[)"), large=(32,)),
    Base("plus-times up to ∞", REAL, 0, 1, np.add, _absorbing(0, np.multiply),
         lambda a: _where(a < 1, 1 / (1 - a), inf, EXISTS), "C",
         (_real(*(k / 64 for k in (1, 2, 3))), _real(1 / 64, 1 / 32), _real(0.5, 0.25, 2, inf, 1 / 64)),
         {"add": "{a} + {b}", "mul": "{a} * {b}", "star": "np.where({a} >= 1, np.inf, 1 / (1 - {a}))"},
         (0, inf, "[]"), large=(32,)),
    Base("counting", REAL, 0, 1, np.add, _absorbing(0, np.multiply), lambda a: _where(a == 0, 1, inf, EXISTS), "C",
         (_real(1, 1, 2), _real(1, 2, 3, inf)),
         {"add": "{a} + {b}", "mul": "{a} * {b}", "star": "np.where({a} == 0, 1, np.inf)",
          "where": "({x} == 0) | ({x} >= 1)"},
         (0, inf, "[]"), exact=True),
    Base("lukasiewicz", REAL, 0, 1, np.maximum, lambda a, b: np.maximum(0, a + b - 1), _always(1), "ISBC",
         (_real(*(k / 8 for k in range(1, 9))), _real(0.75, 0.875, 1)),
         MAXIMUM | {"mul": "np.maximum({a} + {b} - 1, 0)", "star": "{one}"}, (0, 1, "[]"), exact=True),
    Base("min-plus up to 60", REAL, 60, 0, np.minimum, lambda a, b: np.minimum(a + b, 60), _always(0), "ISBC",
         (_real(0, 1, 2, 3, 7), _real(20, 30, 31, 59, 1)),
         MINIMUM | {"mul": "np.minimum({a} + {b}, 60)", "dual mul": "{a} + {b}", "star": "{one}"},
         (0, 60, "[]"), exact=True),
)


# Whole numbers and tables.


def _whole(*values: int) -> Array:
    return np.array(values, WHOLE)


def _whole_always(value: int) -> Callable[[Array], tuple[Array, Array]]:
    return lambda a: (np.full(a.shape, value, WHOLE), np.full(a.shape, EXISTS))


def bits(k: int, must: bool = False) -> Base:
    """Sets of k things, under union and intersection or the other way round."""
    full = 2**k - 1
    union, meet = {"add": "{a} | {b}"}, {"add": "{a} & {b}"}
    zero, one = (full, 0) if must else (0, full)
    return Base(
        f"{k} bits{', all' if must else ''}", WHOLE, zero, one,
        plus=np.bitwise_and if must else np.bitwise_or,
        times=np.bitwise_or if must else np.bitwise_and,
        star=_whole_always(one),
        flags="IBC" if k > 1 else "ISBC",
        pools=(np.unique(_whole(1, 2, 3, full, full >> 1, full - 1) & full), np.arange(min(full + 1, 64))),
        texts=(meet if must else union) | {"mul": (union if must else meet)["add"], "star": "{one}"},
        exact=True,
    )


def divisors(of: int, *, turned: bool = False) -> Base:
    """Divisors of a number: gcd is ⊕ and lcm ⊗, or the other way round."""
    all_of_them = _whole(*(d for d in range(1, of + 1) if of % d == 0))
    gcd, lcm = "np.gcd({a}, {b})", "np.lcm({a}, {b})"
    zero, one = (1, of) if turned else (of, 1)
    return Base(
        f"divisors of {of}{', lcm and gcd' if turned else ''}", WHOLE, zero, one,
        plus=np.lcm if turned else np.gcd,
        times=np.gcd if turned else np.lcm,
        star=_whole_always(one),
        flags="IBC",
        pools=(all_of_them,),
        texts={"add": lcm if turned else gcd, "mul": gcd if turned else lcm, "star": "{one}"},
        exact=True,
    )


@dataclass(frozen=True)
class Tables:
    """A finite algebra on 0 … m − 1, of which 0 is zero and 1 is one."""

    plus: tuple[tuple[int, ...], ...]
    times: tuple[tuple[int, ...], ...]

    def stars(self) -> list[int | None]:
        """1 ⊕ a ⊕ a² ⊕ … where that comes to rest, else the one solution of x = 1 ⊕ a ⊗ x, else None."""
        m = len(self.plus)
        result: list[int | None] = []
        for a in range(m):
            total, power = 1, 1
            seen = []
            for _ in range(2 * m * m):
                power = self.times[power][a]
                total = self.plus[total][power]
                seen.append((total, power))
            rests = len({t for t, _ in seen[m * m :]}) == 1
            solutions = [x for x in range(m) if x == self.plus[1][self.times[a][x]]]
            result.append(seen[-1][0] if rests else solutions[0] if len(solutions) == 1 else None)
        return result


def finite(name: str, tables: Tables) -> Base:
    """A finite algebra as functions on arrays."""
    p, t = np.array(tables.plus, WHOLE), np.array(tables.times, WHOLE)
    m = len(p)
    everything = np.arange(m)
    stars = tables.stars()
    values = np.array([1 if s is None else s for s in stars], WHOLE)
    codes = np.array([NONE if s is None else EXISTS for s in stars])
    idempotent = bool((p[everything, everything] == everything).all())
    selective = bool(((p == everything[:, None]) | (p == everything)).all())
    flags = "I" * idempotent + "S" * selective
    flags += "B" * bool((p[1] == 1).all()) + "C" * bool((t == t.T).all())
    return Base(
        name, WHOLE, 0, 1, lambda a, b: p[a, b], lambda a, b: t[a, b], lambda a: (values[a], codes[a]), flags,
        (np.arange(1, m), np.arange(1, m)), {}, exact=True, partial=not idempotent,
    )


def modulo(n: int) -> Tables:
    """Whole numbers modulo n."""
    return Tables(
        tuple(tuple((a + b) % n for b in range(n)) for a in range(n)),
        tuple(tuple(a * b % n for b in range(n)) for a in range(n)),
    )


def field(p: int, k: int, modulus: Sequence[int]) -> Tables:
    """The field of pᵏ elements: polynomials over Z_p, element Σ cᵢ pⁱ, modulo xᵏ = Σ modulus[i] xⁱ."""
    digits = [[e // p**i % p for i in range(k)] for e in range(p**k)]

    def number(c: Sequence[int]) -> int:
        return sum(x % p * p**i for i, x in enumerate(c))

    def times(a: Sequence[int], b: Sequence[int]) -> int:
        c = [0] * (2 * k - 1)
        for i, j in product(range(k), repeat=2):
            c[i + j] += a[i] * b[j]
        for top in range(2 * k - 2, k - 1, -1):
            for i, m in enumerate(modulus):
                c[top - k + i] += c[top] * m
        return number(c[:k])

    return Tables(
        tuple(tuple(number([x + y for x, y in zip(a, b, strict=True)]) for b in digits) for a in digits),
        tuple(tuple(times(a, b) for b in digits) for a in digits),
    )


@lru_cache
def all_semirings(m: int) -> tuple[Tables, ...]:
    """All semirings with m elements and 0 ≠ 1, one of each kind, by trying every pair of tables (m ≤ 4)."""
    e = np.arange(m)
    pairs = [(i, j) for i in range(1, m) for j in range(i, m)]
    sums = []
    for values in product(range(m), repeat=len(pairs)):
        P = np.zeros((m, m), int)
        P[0], P[:, 0] = e, e
        for (i, j), v in zip(pairs, values, strict=True):
            P[i, j] = P[j, i] = v
        if (P[P] == P[e[:, None, None], P[None]]).all():
            sums.append(P)
    others = [(i, j) for i in range(2, m) for j in range(2, m)]
    products = []
    for values in product(range(m), repeat=len(others)):
        T = np.zeros((m, m), int)
        T[1], T[:, 1] = e, e
        for (i, j), v in zip(others, values, strict=True):
            T[i, j] = v
        if (T[T] == T[e[:, None, None], T[None]]).all():
            products.append(T)
    found: dict[tuple, Tables] = {}
    for P, T in product(sums, products):
        left = T[e[:, None, None], P[None]] == P[T[:, :, None], T[:, None, :]]
        right = T[P] == P[T[:, None, :], T[None, :, :]]
        if left.all() and right.all():
            swap = np.array([0, 1, *reversed(range(2, m))])
            keys = [(P.tolist(), T.tolist()), (swap[P[swap][:, swap]].tolist(), swap[T[swap][:, swap]].tolist())]
            key = min(map(str, keys))
            found.setdefault((key,), Tables(tuple(map(tuple, P.tolist())), tuple(map(tuple, T.tolist()))))
    return tuple(found.values())


def relations() -> Base:
    """Relations on two points, as bits m₀₀ m₀₁ m₁₀ m₁₁ from the lowest: the smallest Kleene algebra of matrices."""

    def times(a: Array, b: Array) -> Array:
        first, second = (b & 3), (b >> 2)
        rows = [((a >> 2 * i & 1) * first) | ((a >> (2 * i + 1) & 1) * second) for i in (0, 1)]
        return np.asarray(rows[0] | rows[1] << 2)

    text = (
        "((({a} & 1) * ({b} & 3)) | ((({a} >> 1) & 1) * (({b} >> 2) & 3)))"
        " | (((((({a} >> 2) & 1) * ({b} & 3)) | ((({a} >> 3) & 1) * (({b} >> 2) & 3)))) << 2)"
    )
    return Base(
        "relations on two points", WHOLE, 0, 9, np.bitwise_or, times, lambda a: (a | 9, np.full(a.shape, EXISTS)), "I",
        (np.arange(1, 16), np.arange(1, 16)), {"add": "{a} | {b}", "mul": text, "star": "{a} | 9"}, exact=True,
    )


def sums_of_residues(n: int) -> Base:
    """Sets of residues modulo n as bits, under union and sums of members: a star comes to rest after some steps."""
    full = 2**n - 1

    def times(a: Array, b: Array) -> Array:
        total = np.zeros(np.broadcast_shapes(a.shape, b.shape), WHOLE)
        for i in range(n):
            total |= (a >> i & 1) * ((b << i | b >> (n - i)) & full)
        return total

    def star(a: Array) -> tuple[Array, Array]:
        total = a | 1
        for _ in range(n):
            total = total | times(total, total)
        return total, np.full(a.shape, EXISTS)

    text = " | ".join(f"((({{a}} >> {i}) & 1) * ((({{b}} << {i}) | ({{b}} >> {n - i})) & {full}))" for i in range(n))
    return Base(
        f"sets of residues modulo {n}", WHOLE, 0, 1, np.bitwise_or, times, star, "IC",
        (np.arange(1, full + 1), 2 ** np.arange(n)), {"add": "{a} | {b}", "mul": text}, exact=True,
    )
