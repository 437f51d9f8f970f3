"""Entries of answers over generated algebras: arrays of any shape, what each entry should be, and whether it is.

`made` gives an algebra of `families` by its name, or one of those added here: elements that are Python objects, and
products whose zero does not absorb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import families
import numpy as np
from asking import extremes
from bases import REAL, WHOLE, Array, Base
from generated import STAY, Generated, larger

import semiring as sr

OBJECT = np.dtype(object)
FAMILIES = families.families()


@dataclass(frozen=True, repr=False)
class OfObjects(Generated):
    """A finite algebra whose elements are Python strings: each is "e" and the number of the base's element."""

    def declare(self, library: Any) -> Any:
        """The library's algebra."""

        def lifted(operation: Callable[[Array, Array], Array]) -> Callable[[str, str], str]:
            return lambda a, b: f"e{int(operation(np.array(int(a[1:])), np.array(int(b[1:]))))}"

        some = [f"e{x}" for x in np.unique(np.concatenate(self.base.pools))]
        return library.Semiring(
            self.name, add=lifted(self.base.plus), mul=lifted(self.base.times), zero=f"e{self.base.zero}",
            one=f"e{self.base.one}", samples=[f"e{self.base.zero}", f"e{self.base.one}", *some], dtype=object,
        )

    def to_data(self, x: Array, dtype: np.dtype) -> tuple[Array, Array]:
        """Base elements as strings, each of which has a place."""
        result = np.empty(x.shape, object)
        for at in np.ndindex(x.shape):
            result[at] = f"e{x[at]}"
        return result, np.ones(x.shape, bool)

    def from_data(self, data: Array) -> Array:
        """Base elements of an array of strings."""
        return np.array([int(x[1:]) for x in data.ravel()], WHOLE).reshape(data.shape)

    def is_constant(self, data: Array, declared: Any) -> Array:
        """Where strings are those of zero."""
        return np.asarray(self.is_zero(self.from_data(data)))

    def differs(self, want: Array, got: Array, scale: Array) -> Array:
        """Where strings are not those of the base's elements."""
        return np.asarray(self.to_data(want, OBJECT)[0] != got)

    def scale(self, data: Array) -> Array:
        """Nothing is rounded."""
        return np.zeros((*data.shape[:-2], 1, 1))


def _loose(
    name: str, plus: Callable[[Array, Array], Array], times: Callable[[Array, Array], Array], add: str, mul: str,
    *pool: float,
) -> Generated:
    """Products only, of numbers whose zero is 0 and does not absorb."""
    base = Base(name, REAL, 0, 0, plus, times, lambda a: (a, np.zeros(a.shape, int)), "", (np.array(pool, REAL),), {},
                exact=True)
    code = (f"sr.Semiring({name!r}, add=lambda a, b: {add}, mul=lambda a, b: {mul}, zero=0, one=0, product_only=True, "
            f"dtypes='fi', carrier={'lambda a: a >= 0' if min(pool) >= 0 else None})")
    return Generated(name, code, base, zero=0, one=0)


def _loose_records() -> Generated:
    dtype = np.dtype([("p", REAL), ("q", REAL)])

    def both(first: Callable[..., Array], second: Callable[..., Array]) -> Callable[[Array, Array], Array]:
        def operation(a: Array, b: Array) -> Array:
            a, b = np.broadcast_arrays(a, b)
            result = np.empty(a.shape, dtype)
            result["p"], result["q"] = first(a["p"], b["p"]), second(a["q"], b["q"])
            return result

        return operation

    pool = np.array([(p, q) for p in (0, 1, 4, 2) for q in (-2, 3, 0, 5)], dtype)
    base = Base("loose records", dtype, (0, 0), (0, 0), both(np.maximum, np.add),
                both(lambda a, b: a + 2 * b, np.maximum), lambda a: (a, np.zeros(a.shape, int)), "", (pool,), {},
                exact=True)
    code = ("sr.Semiring('loose records', fields={'u': 'f8', 'v': 'i4'}, zero=(0, 0), one=(0, 0), product_only=True,\n"
            "    add=lambda x, y: (np.maximum(x.u, y.u), x.v + y.v), carrier=lambda x: x.u >= 0,\n"
            "    mul=lambda x, y: (x.u + 2 * y.u, np.maximum(x.v, y.v)))")
    return Generated("loose records", code, base, (("u", "p", STAY), ("v", "q", STAY)), (0, 0), (0, 0),
                     record_dtypes=(np.dtype([("u", "f8"), ("v", "i4")], align=True),))


def _added() -> dict[str, Generated]:
    """Algebras of objects, and those whose zero does not absorb."""
    found = [OfObjects(f"{name}, as objects", "", FAMILIES[name].base) for name in
             ("relations on two points", "semiring 6 of 4 elements", "sets of residues modulo 4", "field of 4")]
    found += [
        _loose("maxima of sums, zero 0", np.maximum, np.add, "np.maximum(a, b)", "a + b", 0, 1, 2, 3, 5),
        _loose("maxima of a + 2 b + 1", np.maximum, lambda a, b: a + 2 * b + 1, "np.maximum(a, b)", "a + 2 * b + 1",
               0, 1, 2, 3, 5),
        _loose("sums of maxima", np.add, np.maximum, "a + b", "np.maximum(a, b)", 0, 1, -2, 3, -1),
        _loose_records(),
    ]
    return {g.name: g for g in found}


ALL = FAMILIES | _added()
ONE_WAY = [name for name, g in ALL.items() if not g.base.has("commutative") and "C" not in g.base.flags]


@lru_cache(64)
def made(name: str) -> tuple[Generated, Any]:
    """An algebra, and the library's."""
    g = ALL[name]
    return g, g.declare(sr)


def dtypes(g: Generated, S: Any) -> list[np.dtype]:
    """All dtypes that an algebra claims, the default first; its laws may fail near the limits of some integers."""
    if g.record_dtypes:
        return list(g.record_dtypes)
    return [d for d in S.dtypes if d.kind != "b" or g.base.dtype != REAL]


def lives_in(g: Generated, S: Any, dtype: np.dtype) -> bool:
    """Whether the laws hold in a dtype, up to its limits; otherwise it is refused."""
    nothing = zeros(g, (1, 1), dtype)
    try:
        sr.matmul(nothing, nothing, S)
    except sr.SemiringError as error:
        assert "cannot live in" in str(error)
        return False
    return True


def drawn(g: Generated, rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype) -> Array:
    """An array of any shape, from no element but zero to none that is zero; some integers are near their limits."""
    m, n = (1, 1, *shape)[-2:]
    count = int(np.prod(shape[:-2], dtype=int))
    found = g.draw(rng, count, m, dtype, n).reshape(tuple(shape))
    if dtype.kind in "iu" and g.base.flags and rng.integers(0, 4) == 0 and len(ends := extremes(g, dtype)):
        some = rng.random(found.shape) < 0.2
        found[some] = rng.choice(ends, int(some.sum()))
    return found


def laid_out(x: Array, rng: np.random.Generator) -> Array:
    """The same array somewhere else in memory: Fortran order, strided, reversed, read-only."""
    kind = rng.integers(0, 6) if x.ndim else 0
    if kind == 1:
        return np.array(x, order="F")
    if kind == 2:
        room = np.empty(tuple(3 * n for n in x.shape), x.dtype)
        part = room[tuple(slice(1, None, 3) for _ in x.shape)]
        part[...] = x
        return part
    if kind == 3:
        turned = tuple(slice(None, None, -1) for _ in x.shape)
        return x[turned].copy()[turned]
    copy = x.copy()
    copy.flags.writeable = kind != 4
    return copy


def zeros(g: Generated, shape: Sequence[int], dtype: np.dtype) -> Array:
    """Zeros of the library."""
    return g.to_data(g.base.full(shape, g.base.zero), dtype)[0]


def judge(
    g: Generated, dtype: np.dtype, inputs: Sequence[Array], want: Array, wanted: Array, ask: Callable[[], Any],
    text: str,
) -> Array | None:
    """Compare an answer with base elements; None if it was refused, because it has no place in its dtype.

    `wanted` are the entries that were asked for; `want` is zero elsewhere. Integers must then be refused.
    """
    with np.errstate(all="ignore"):
        fits = g.to_data(want, dtype)[1]
        whole = all(k.kind in "iub" for k in ([dtype[f] for f in dtype.names] if dtype.names else [dtype]))
    there = fits[wanted].all()
    try:
        got = ask()
    except sr.SemiringError as error:
        assert not there, f"{text}: refused: {error}"
        return None
    got = np.asarray(got, object if dtype.kind == "O" else None)
    assert got.dtype == dtype and got.shape == want.shape, f"{text}: {got.dtype}, {got.shape}"
    if not there:
        assert not whole, f"{text}: the answer does not fit {dtype}, and what comes is {got!r}"
        return None
    flat = (1,) * max(2 - want.ndim, 0) + want.shape
    with np.errstate(all="ignore"):
        wrong = g.differs(want.reshape(flat), got.reshape(flat), scale(g, *inputs))
    assert not wrong.any(), f"{text}: {got!r} instead of {g.to_data(want, dtype)[0]!r}"
    return got


def scale(g: Generated, *arrays: Array) -> Array:
    """The largest finite number of some arrays, field by field: rounding is relative to it, and to the answers."""
    return reduce(larger, [g.scale(x.reshape(1, -1)) for x in arrays])
