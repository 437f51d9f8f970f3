"""Algebras of records whose answers are known: products, lexicographic ones, matrices, polynomials; see `bases`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from bases import EXISTS, NONE, REAL, Array, Base

inf = np.inf


def _real(*values: float) -> Array:
    return np.array(values, REAL)


def _counts(a: Array, b: Array) -> Array:
    """a · b where 0 · ∞ = 0."""
    with np.errstate(all="ignore"):
        return np.where((a == 0) | (b == 0), 0, a * b).astype(REAL)


def record(fields: dict[str, np.dtype]) -> np.dtype:
    """The dtype of records of base elements."""
    return np.dtype(list(fields.items()))


def build(dtype: np.dtype, *components: Array) -> Array:
    """Records from their components."""
    components = tuple(np.broadcast_arrays(*components))
    result = np.empty(components[0].shape, dtype)
    for name, c in zip(dtype.names or (), components, strict=True):
        result[name] = c
    return result


def choose(condition: Array, x: Array, y: Array) -> Array:
    """Records from two arrays, by a condition."""
    condition, x, y = np.broadcast_arrays(condition, x, y)
    result = y.copy()
    result[condition] = x[condition]
    return result


def pair(p: Base, q: Base, seed: int = 0) -> Base:
    """The direct product of two algebras."""
    dtype = record({"p": p.dtype, "q": q.dtype})
    rng = np.random.default_rng(seed)

    def star(a: Array) -> tuple[Array, Array]:
        (first, x), (second, y) = p.star(a["p"]), q.star(a["q"])
        return build(dtype, first, second), np.maximum(x, y)

    def mixed(a: Array, b: Array) -> Array:
        return build(dtype, rng.choice(a, 24), rng.choice(b, 24))

    safe = mixed(p.pools[0], q.pools[0])
    wild = mixed(np.append(p.pools[-1], np.array(p.zero, p.dtype)), np.append(q.pools[-1], np.array(q.zero, q.dtype)))
    flags = "".join(f for f in "IBC" if f in p.flags and f in q.flags)
    return Base(
        f"{p.name} × {q.name}", dtype, (p.zero, q.zero), (p.one, q.one),
        plus=lambda a, b: build(dtype, p.plus(a["p"], b["p"]), q.plus(a["q"], b["q"])),
        times=lambda a, b: build(dtype, p.times(a["p"], b["p"]), q.times(a["q"], b["q"])),
        star=star, flags=flags, pools=(safe, wild), texts={}, exact=p.exact and q.exact,
        partial=p.partial or q.partial, large=p.large + q.large,
    )


def _lexicographic(
    name: str, zero: tuple, one: tuple, ties: Callable[[Array, Array], Array], times: Callable[[Array, Array], Array],
    star: Callable[[Array], Array], flags: str, first: tuple[float, ...], second: tuple[float, ...],
) -> Base:
    """The least first component wins, ties combine the second ones; ⊗ adds up first ones."""
    dtype = record({"p": REAL, "q": REAL})

    def plus(a: Array, b: Array) -> Array:
        a, b = np.broadcast_arrays(a, b)
        tied = build(dtype, a["p"], ties(a["q"], b["q"]))
        return choose(a["p"] == b["p"], tied, choose(a["p"] < b["p"], a, b))

    def product_of(a: Array, b: Array) -> Array:
        a, b = np.broadcast_arrays(a, b)
        none = (a["p"] == inf) | (b["p"] == inf)
        nothing = np.full(a.shape, np.array(zero, dtype))
        return choose(none, nothing, build(dtype, a["p"] + b["p"], times(a["q"], b["q"])))

    def star_of(a: Array) -> tuple[Array, Array]:
        return build(dtype, np.zeros(a.shape, REAL), star(a)), np.where(a["p"] >= 0, EXISTS, NONE)

    pool = build(dtype, *(_real(*v) for v in zip(*product(first, second), strict=True)))
    return Base(name, dtype, zero, one, plus, product_of, star_of, flags, (pool,), {}, exact=True)


def lexicographic() -> dict[str, Base]:
    """Shortest paths with something beside: how many, how few hops, how wide."""
    plus_one = (0.0, 1.0, 2.0, 5.0, 0.5)
    return {
        "counted": _lexicographic(
            "shortest paths counted", (inf, 0), (0, 1), np.add, _counts,
            lambda a: np.where((a["p"] == 0) & (a["q"] > 0), inf, 1), "C", plus_one, (1.0, 2.0, 3.0)),
        "hops": _lexicographic(
            "cost, then hops", (inf, inf), (0, 0), np.minimum, np.add, lambda a: np.zeros(a.shape, REAL), "ISBC",
            plus_one, (0.0, 1.0, 2.0)),
        "signed hops": _lexicographic(
            "any cost, then hops", (inf, inf), (0, 0), np.minimum, np.add, lambda a: np.zeros(a.shape, REAL),
            "ISC", (-1.0, 0.0, 1.0, 3.0, 2.0), (0.0, 1.0, 2.0)),
        "wide": _lexicographic(
            "cost, then width", (inf, -inf), (0, inf), np.maximum, np.minimum, lambda a: np.full(a.shape, inf), "ISBC",
            plus_one, (1.0, 2.0, 7.0)),
    }


Tuple = tuple[Fraction, ...]


def fractions_of(A: Array, signs: Sequence[int]) -> list[list[Tuple | None]]:
    """A matrix of records as tuples of fractions, the least the best; None where no edge leads."""
    fields = A.dtype.names or ()
    return [[tuple(sign * Fraction(*x[f].as_integer_ratio()) for f, sign in zip(fields, signs, strict=True))
             if np.isfinite(x[fields[0]]) else None for x in row] for row in A]


def improves(A: list[list[Tuple | None]]) -> bool:
    """Whether a cycle is better than one, where tuples add up and the least in order is best: Bellman–Ford."""
    n = len(A)
    edges = [(u, v, w) for u, row in enumerate(A) for v, w in enumerate(row) if w is not None]
    best = [(Fraction(0),) * len(edges[0][2])] * n if edges else []
    for _ in range(n + 1):
        changed = False
        for u, v, w in edges:
            found = tuple(a + b for a, b in zip(best[u], w, strict=True))
            if found < best[v]:
                best[v], changed = found, True
        if not changed:
            return False
    return bool(edges)


def tuples(name: str, signs: Sequence[int], pools: Sequence[Sequence[float]], *, signed: bool = True) -> Base:
    """Tuples in lexicographic order, each component the least (sign 1) or the greatest (−1); ⊗ adds them up.

    Unless all components are signed, only the first one is ever better than that of one.
    """
    dtype = record({f: REAL for f, _ in zip("pqr", signs, strict=False)})
    zero, one = tuple(sign * inf for sign in signs), (0.0,) * len(signs)

    def plus(a: Array, b: Array) -> Array:
        a, b = np.broadcast_arrays(a, b)
        wins = np.ones(a.shape, bool)  # ties are a's
        for f, sign in reversed(list(zip(dtype.names or (), signs, strict=True))):
            wins = (sign * a[f] < sign * b[f]) | ((a[f] == b[f]) & wins)
        return choose(wins, a, b)

    def times(a: Array, b: Array) -> Array:
        a, b = np.broadcast_arrays(a, b)
        none = np.isinf(a["p"]) | np.isinf(b["p"])
        sums = build(dtype, *(a[f] + b[f] for f in dtype.names or ()))
        return choose(none, np.full(a.shape, np.array(zero, dtype)), sums)

    def star(a: Array) -> tuple[Array, Array]:
        ones = np.full(a.shape, np.array(one, dtype))
        return ones, np.where(plus(ones, a) == ones, EXISTS, NONE)

    def pool(values: Sequence[float]) -> Array:
        rows = [v for v in product(values, repeat=len(signs)) if signed or min(v[1:]) >= 0]
        columns = zip(*rows, strict=True)
        return build(dtype, *(sign * _real(*c) for sign, c in zip(signs, columns, strict=True)))

    return Base(
        name, dtype, zero, one, plus, times, star, "ISC", tuple(map(pool, pools)), {}, exact=True, potentials=signed,
        improves=lambda A: improves(fractions_of(A, signs)),
    )


def dual_numbers() -> Base:
    """p + r ε with ε² = 0."""
    dtype = record({"p": REAL, "q": REAL})

    def star(a: Array) -> tuple[Array, Array]:
        exists = a["p"] != 1
        s, code = np.where(exists, 1 / (1 - a["p"]), 1), np.where(exists, EXISTS, NONE)
        return build(dtype, s, a["q"] * s * s), code

    values = tuple(k / 64 for k in (-3, -1, 1, 2))
    pool = build(dtype, *(_real(*v) for v in zip(*product(values, (-1.0, 0.5, 2.0)), strict=True)))
    return Base(
        "dual numbers", dtype, (0, 0), (1, 0),
        plus=lambda a, b: build(dtype, a["p"] + b["p"], a["q"] + b["q"]),
        times=lambda a, b: build(dtype, a["p"] * b["p"], a["p"] * b["q"] + a["q"] * b["p"]),
        star=star, flags="C", pools=(pool,), texts={}, partial=True, large=(32, 32),
    )


def triangular(of: Base) -> Base:
    """Upper triangular 2 × 2 matrices (p, q; 0, r) over a base: ⊗ does not commute."""
    dtype = record({"p": of.dtype, "q": of.dtype, "r": of.dtype})
    rng = np.random.default_rng(7)

    def times(a: Array, b: Array) -> Array:
        above = of.plus(of.times(a["p"], b["q"]), of.times(a["q"], b["r"]))
        return build(dtype, of.times(a["p"], b["p"]), above, of.times(a["r"], b["r"]))

    def star(a: Array) -> tuple[Array, Array]:
        (first, x), (last, y) = of.star(a["p"]), of.star(a["r"])
        return build(dtype, first, of.times(of.times(first, a["q"]), last), last), np.maximum(x, y)

    some = np.append(of.pools[0], np.array(of.zero, of.dtype))
    pool = build(dtype, *(rng.choice(some, 24) for _ in range(3)))
    return Base(
        f"triangular matrices over {of.name}", dtype, (of.zero,) * 3, (of.one, of.zero, of.one),
        plus=lambda a, b: build(dtype, *(of.plus(a[f], b[f]) for f in "pqr")),
        times=times, star=star, flags="I" if of.has("idempotent") else "", pools=(pool,), texts={},
        exact=of.exact, partial=of.partial, large=of.large * 3,
    )


def two_best() -> Base:
    """The two least weights of walks ≥ 0, each walk counted."""
    dtype = record({"p": REAL, "q": REAL})

    def least(*values: Array) -> Array:
        stack = np.sort(np.stack(np.broadcast_arrays(*values)), axis=0)
        return build(dtype, stack[0], stack[1])

    def star(a: Array) -> tuple[Array, Array]:
        return build(dtype, np.zeros(a.shape, REAL), a["p"]), np.full(a.shape, EXISTS)

    values = (0.0, 1.0, 2.0, 3.0, 7.0, inf)
    pairs = [(p, q) for p, q in product(values, values) if p <= q and p < inf]
    pool = build(dtype, *(_real(*v) for v in zip(*pairs, strict=True)))
    return Base(
        "two best", dtype, (inf, inf), (0, inf),
        plus=lambda a, b: least(a["p"], a["q"], b["p"], b["q"]),
        times=lambda a, b: least(a["p"] + b["p"], a["p"] + b["q"], a["q"] + b["p"], a["q"] + b["q"]),
        star=star, flags="C", pools=(pool,), texts={}, exact=True,
    )


def polynomials() -> Base:
    """Tropical polynomials p + q x + r x² up to the square, coefficients ≥ 0: a star comes to rest after two steps."""
    dtype = record({"p": REAL, "q": REAL, "r": REAL})

    def times(a: Array, b: Array) -> Array:
        square = np.minimum(np.minimum(a["p"] + b["r"], a["r"] + b["p"]), a["q"] + b["q"])
        return build(dtype, a["p"] + b["p"], np.minimum(a["p"] + b["q"], a["q"] + b["p"]), square)

    def star(a: Array) -> tuple[Array, Array]:
        values = build(dtype, np.zeros(a.shape, REAL), a["q"], np.minimum(a["r"], 2 * a["q"]))
        return values, np.full(a.shape, EXISTS)

    values = (0.0, 1.0, 4.0, inf)
    pool = build(dtype, *(_real(*v) for v in zip(*product(values, repeat=3), strict=True)))[:-1]
    return Base(
        "tropical polynomials", dtype, (inf, inf, inf), (0, inf, inf),
        plus=lambda a, b: build(dtype, *(np.minimum(a[f], b[f]) for f in "pqr")),
        times=times, star=star, flags="IC", pools=(pool,), texts={}, exact=True,
    )
