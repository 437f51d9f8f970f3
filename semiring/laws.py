"""The laws of a semiring as code. A report says of each law whether the samples obey it, with a witness if not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np


class Arithmetic(Protocol):
    """What the laws are stated over: an algebra's operations on arrays of one dtype."""

    dtype: np.dtype
    zero: Any
    one: Any

    def add(self, x: Any, y: Any) -> Any: ...
    def mul(self, x: Any, y: Any) -> Any: ...
    def raw_mul(self, x: Any, y: Any) -> Any: ...
    def star(self, x: Any) -> Any: ...
    def defined(self, x: Any) -> Any: ...


@dataclass(frozen=True)
class Law:
    """A law over `arity` elements: `sides` returns the two sides that must be equal."""

    name: str
    formula: str
    arity: int
    sides: Callable[..., tuple[Any, Any]]


def _selective(S: Arithmetic, a: Any, b: Any) -> tuple[Any, Any]:
    total = S.add(a, b)
    return total, choose(same(total, b), b, a)


def _star(S: Arithmetic, a: Any, product: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    star = S.star(a)
    return choose(S.defined(a), star, a), choose(S.defined(a), S.add(full(a, S.one), product(a, star)), a)


def _absorbs(a: Any, result: Any, zero: Any) -> tuple[Any, Any]:
    """IEEE answers NaN to 0·∞ and ∞ − ∞, where the algebra means zero: both count as absorbed."""
    return choose(is_nan(result), full(a, zero), result), full(a, zero)


AXIOMS = (
    Law("⊕ is associative", "(a ⊕ b) ⊕ c = a ⊕ (b ⊕ c)", 3,
        lambda S, a, b, c: (S.add(S.add(a, b), c), S.add(a, S.add(b, c)))),
    Law("⊕ is commutative", "a ⊕ b = b ⊕ a", 2, lambda S, a, b: (S.add(a, b), S.add(b, a))),
    Law("0 is neutral for ⊕", "0 ⊕ a = a", 1, lambda S, a: (S.add(full(a, S.zero), a), a)),
    Law("⊗ is associative", "(a ⊗ b) ⊗ c = a ⊗ (b ⊗ c)", 3,
        lambda S, a, b, c: (S.mul(S.mul(a, b), c), S.mul(a, S.mul(b, c)))),
    Law("1 is neutral on the left", "1 ⊗ a = a", 1, lambda S, a: (S.mul(full(a, S.one), a), a)),
    Law("1 is neutral on the right", "a ⊗ 1 = a", 1, lambda S, a: (S.mul(a, full(a, S.one)), a)),
    Law("0 absorbs on the left", "0 ⊗ a = 0", 1, lambda S, a: _absorbs(a, S.raw_mul(full(a, S.zero), a), S.zero)),
    Law("0 absorbs on the right", "a ⊗ 0 = 0", 1, lambda S, a: _absorbs(a, S.raw_mul(a, full(a, S.zero)), S.zero)),
    Law("⊗ distributes on the left", "a ⊗ (b ⊕ c) = (a ⊗ b) ⊕ (a ⊗ c)", 3,
        lambda S, a, b, c: (S.mul(a, S.add(b, c)), S.add(S.mul(a, b), S.mul(a, c)))),
    Law("⊗ distributes on the right", "(a ⊕ b) ⊗ c = (a ⊗ c) ⊕ (b ⊗ c)", 3,
        lambda S, a, b, c: (S.mul(S.add(a, b), c), S.add(S.mul(a, c), S.mul(b, c)))),
)  # fmt: skip
STAR = (
    Law("star unfolds on the left", "a* = 1 ⊕ a ⊗ a*", 1, lambda S, a: _star(S, a, S.mul)),
    Law("star unfolds on the right", "a* = 1 ⊕ a* ⊗ a", 1, lambda S, a: _star(S, a, lambda x, y: S.mul(y, x))),
)
FLAGS = {
    "idempotent": Law("⊕ is idempotent", "a ⊕ a = a", 1, lambda S, a: (S.add(a, a), a)),
    "selective": Law("⊕ is selective", "a ⊕ b ∈ {a, b}", 2, _selective),
    "bounded": Law("1 bounds every element", "1 ⊕ a = 1", 1, lambda S, a: (S.add(full(a, S.one), a), full(a, S.one))),
    "commutative": Law("⊗ is commutative", "a ⊗ b = b ⊗ a", 2, lambda S, a, b: (S.mul(a, b), S.mul(b, a))),
}


@dataclass(frozen=True)
class Verdict:
    """What the samples say of one law; `witness` holds the elements that break it, `left` and `right` the sides."""

    law: Law
    holds: bool
    witness: tuple = ()
    left: Any = None
    right: Any = None

    def __str__(self) -> str:
        if self.holds:
            return f"{self.law.name}: {self.law.formula}"
        names = ", ".join(f"{n} = {show(w)}" for n, w in zip("abc", self.witness, strict=False))
        return f"{self.law.name} fails: {self.law.formula} at {names}: {show(self.left)} ≠ {show(self.right)}"


@dataclass(frozen=True)
class LawReport:
    """Verdicts on the axioms, the star and the flags of one algebra over one set of samples."""

    name: str
    samples: int
    axioms: tuple[Verdict, ...]
    star: tuple[Verdict, ...]
    flags: dict[str, Verdict]

    @property
    def ok(self) -> bool:
        """Whether every axiom and the star law hold on the samples."""
        return not self.failures

    @property
    def failures(self) -> list[Verdict]:
        """Verdicts on the axioms and the star that failed."""
        return [v for v in (*self.axioms, *self.star) if not v.holds]

    @property
    def derived(self) -> dict[str, bool]:
        """The flags as the samples show them."""
        return {flag: verdict.holds for flag, verdict in self.flags.items()}

    def __iter__(self) -> Iterator[Verdict]:
        return iter((*self.axioms, *self.star, *self.flags.values()))

    def __str__(self) -> str:
        head = f"{self.name}: {'a semiring' if self.ok else 'not a semiring'} on {self.samples} samples"
        rows = [f"  {'✓' if v.holds else '✗'} {v}" for v in (*self.axioms, *self.star)]
        rows += [f"  {'+' if v.holds else '−'} {f}" + ("" if v.holds else f"  ({v})") for f, v in self.flags.items()]
        return "\n".join([head, *rows])

    __repr__ = __str__


def check(S: Arithmetic, samples: np.ndarray, *, name: str = "algebra", star: bool = True) -> LawReport:
    """Try every law on all combinations of the samples (a 1-D array of elements)."""
    return LawReport(
        name,
        len(samples),
        tuple(judge(law, S, samples) for law in AXIOMS),
        tuple(judge(law, S, samples) for law in STAR) if star else (),
        {flag: judge(law, S, samples) for flag, law in FLAGS.items()},
    )


def judge(law: Law, S: Arithmetic, samples: np.ndarray) -> Verdict:
    """Try one law on all combinations of the samples."""
    combinations = np.array(list(product(range(len(samples)), repeat=law.arity)), np.intp).reshape(-1, law.arity)
    elements = [samples[c] for c in combinations.T]
    left, right = law.sides(S, *elements)
    failed = np.flatnonzero(~same(left, right))
    if not failed.size:
        return Verdict(law, True)
    f = failed[0]
    return Verdict(law, False, tuple(e[f] for e in elements), left[f], right[f])


def full(like: np.ndarray, value: Any) -> np.ndarray:
    """An array like another, every element the given one."""
    result = np.empty(like.shape, like.dtype)
    if like.dtype == object:
        for i in range(result.size):
            result.flat[i] = value
    else:
        result[...] = value
    return result


def same(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Element-wise equality; floats up to a relative 10⁻⁹ (10⁻³ in half precision), since laws hold up to rounding."""
    if x.dtype.names:
        return np.logical_and.reduce([same(x[f], y[f]) for f in x.dtype.names])
    if x.dtype.kind != "f":
        return np.asarray(x == y, bool)
    with np.errstate(all="ignore"):
        tolerance = {2: 1e-3, 4: 1e-5}.get(x.dtype.itemsize, 1e-9)
        near = np.abs(x - y) <= tolerance * np.maximum(1, np.maximum(np.abs(x), np.abs(y)))
        return (x == y) | (near & np.isfinite(x) & np.isfinite(y))


def is_nan(x: np.ndarray) -> np.ndarray:
    """Where an element is NaN, or a record has one."""
    if x.dtype.names:
        return np.logical_or.reduce([is_nan(x[f]) for f in x.dtype.names])
    if x.dtype.kind == "O":
        return np.asarray(np.frompyfunc(lambda e: isinstance(e, (float, np.floating)) and e != e, 1, 1)(x), bool)
    return np.isnan(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool)


def choose(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`np.where` that also takes records."""
    result = np.array(y, copy=True)
    condition = np.broadcast_to(np.asarray(condition, bool), result.shape)
    result[condition] = x[condition]
    return result


def show(element: Any) -> str:
    """An element as a person would write it."""
    if isinstance(element, np.void):
        return "(" + ", ".join(show(element[f]) for f in element.dtype.names or ()) + ")"
    if isinstance(element, (float, np.floating)):
        text = {np.inf: "∞", -np.inf: "−∞"}.get(float(element))
        return text if text else f"{float(element):g}"
    return str(element)


def sequence(values: Sequence[Any], dtype: np.dtype) -> np.ndarray:
    """Elements as a 1-D array; object elements stay whole, also when they are sequences themselves."""
    if dtype.kind != "O":
        return np.array(values, dtype)
    result = np.empty(len(values), object)
    for i, v in enumerate(values):
        result[i] = v
    return result
