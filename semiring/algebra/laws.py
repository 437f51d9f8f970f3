"""The laws of a semiring as code, and reports on which of them some elements obey, with counterexamples."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .elements import MINUS, choose, equal, full, is_nan, sequence, show
from .tables import html_table
from .verbs import verb
from .witnesses import Breach

if TYPE_CHECKING:
    from semiring.teach.witness import LawGraph

    from .samples import Elements

COMBINED = 4096  # the most combinations of notable elements on which a law is tested
RANDOM = 256  # combinations with random elements
TRUSTED_ELEMENTS = 12  # the fewest random elements on which a flag must hold to be trusted
TOLERANCE = {2: 3e-2, 4: 2e-4, 8: 1e-9}  # relative, by the bytes of a float: rounding does not break a law


class Arithmetic(Protocol):
    """The operations of an algebra on arrays of one dtype, on which the laws are tested."""

    dtype: np.dtype
    zero: Any
    one: Any

    def add(self, x: Any, y: Any) -> Any: ...
    def mul(self, x: Any, y: Any) -> Any: ...
    def raw_mul(self, x: Any, y: Any) -> Any: ...
    def star(self, x: Any) -> Any: ...
    def defined(self, x: Any) -> Any: ...
    def contains(self, x: Any) -> Any: ...


@dataclass(frozen=True)
class Law:
    """A law on `arity` elements: `sides` returns the two sides that must be equal, to the last bit if `exact`."""

    name: str
    formula: str
    arity: int
    sides: Callable[..., tuple[Any, Any]]
    exact: bool = False

    @property
    def broken(self) -> str:
        """The opposite of the law's name: "⊕ is not associative", "0 does not absorb on the left"."""
        if self in STAYS:
            return self.name.replace(" stays in ", " leaves ")
        if " is " in self.name:
            return self.name.replace(" is ", " is not ", 1)
        return re.sub(r" (\w+)s\b", r" does not \1", self.name, count=1)


def _selective(S: Arithmetic, a: Any, b: Any) -> tuple[Any, Any]:
    total = S.add(a, b)
    return total, choose(equal(total, b), b, a)


def _star(S: Arithmetic, a: Any, product: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    defined, one = S.defined(a), full(a, S.one)
    star = choose(defined, S.star(a), one)  # the law says nothing of elements without a star
    return choose(defined, star, a), choose(defined, S.add(one, product(a, star)), a)


def _absorbs(a: Any, result: Any, zero: Any) -> tuple[Any, Any]:
    """IEEE gives NaN for 0·∞ and ∞ − ∞, where the algebra means zero: both count as absorbed."""
    return choose(is_nan(result), full(a, zero), result), full(a, zero)


def _inside(S: Arithmetic, result: Any) -> tuple[Any, Any]:
    """A result twice if it is an element, else the result and zero."""
    return result, choose(~is_nan(result) & S.contains(result), result, full(result, S.zero))


NEUTRAL = Law("0 is neutral for ⊕", "0 ⊕ a = a", 1, lambda S, a: (S.add(full(a, S.zero), a), a))
# Enough for sums of products; asked only where 0 is not neutral for all elements.
NEUTRAL_FOR_PRODUCTS = Law("0 is neutral for ⊕ on products", "0 ⊕ (a ⊗ b) = a ⊗ b", 2,
                           lambda S, a, b: (S.add(full(a, S.zero), S.mul(a, b)), S.mul(a, b)))
AXIOMS = (
    Law("⊕ is associative", "(a ⊕ b) ⊕ c = a ⊕ (b ⊕ c)", 3,
        lambda S, a, b, c: (S.add(S.add(a, b), c), S.add(a, S.add(b, c)))),
    Law("⊕ is commutative", "a ⊕ b = b ⊕ a", 2, lambda S, a, b: (S.add(a, b), S.add(b, a))),
    NEUTRAL,
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
)
# Tested if a side of an axiom is NaN: then it is not the axiom that is broken.
STAYS = (
    Law("⊕ stays in the carrier", "a ⊕ b ∈ S", 2, lambda S, a, b: _inside(S, S.add(a, b))),
    Law("⊗ stays in the carrier", "a ⊗ b ∈ S", 2, lambda S, a, b: _inside(S, S.mul(a, b))),
)
STAR = (
    Law("star unfolds on the left", "a* = 1 ⊕ a ⊗ a*", 1, lambda S, a: _star(S, a, S.mul)),
    Law("star unfolds on the right", "a* = 1 ⊕ a* ⊗ a", 1, lambda S, a: _star(S, a, lambda x, y: S.mul(y, x))),
)
FLAGS = {
    "idempotent": Law("⊕ is idempotent", "a ⊕ a = a", 1, lambda S, a: (S.add(a, a), a)),
    # Searches treat whatever differs from an operand as an improvement.
    "selective": Law("⊕ is selective", "a ⊕ b ∈ {a, b}", 2, _selective, exact=True),
    "bounded": Law("1 bounds every element", "1 ⊕ a = 1", 1, lambda S, a: (S.add(full(a, S.one), a), full(a, S.one))),
    "commutative": Law("⊗ is commutative", "a ⊗ b = b ⊗ a", 2, lambda S, a, b: (S.mul(a, b), S.mul(b, a))),
}


@dataclass(frozen=True, repr=False)
class Verdict:
    """The result of testing one law.

    Attributes
    ----------
    law : Law
    holds : bool
        No element breaks the law, of those that were tested.
    proven : bool
        It follows from the expressions, or all elements were tested, or it held on enough random ones.
    breach : Breach or None
        The combinations that break it.
    witness : tuple
        Elements that break it, the simplest of them: different ones other than 0, 1 and ∞ if there are such.
    left, right : element or None
        The two sides of the law at the witness; an operation that leaves the carrier has its result alone.
    """

    law: Law
    holds: bool
    proven: bool = True
    breach: Breach | None = field(default=None, compare=False)
    undefined: bool = field(default=False, compare=False)  # some side is NaN

    @property
    def witness(self) -> tuple[Any, ...]:
        return self.breach.simplest[0] if self.breach else ()

    @property
    def left(self) -> Any:
        return self.breach.simplest[1] if self.breach else None

    @property
    def right(self) -> Any:
        return self.breach.simplest[2] if self.breach and self.law not in STAYS else None

    def graph(self) -> LawGraph | None:
        """Return a small graph on which the broken law changes an answer, or None if the law holds."""
        drawn: LawGraph | None = verb("LawGraph").of(self)
        return drawn

    def _repr_html_(self) -> str:
        graph = self.graph()
        return f"<p>{html.escape(str(self))}</p>" + ("" if graph is None else graph._repr_html_())

    def __repr__(self) -> str:
        if self.holds and self.proven:
            return f"{self.law.name}: {self.law.formula}"
        if self.holds:
            flag = next((f"; if it holds, declare {f}=True" for f, law in FLAGS.items() if law is self.law), "")
            return (f"{self.law.name} is unproven: {self.law.formula} was tested on too few elements other than 0 and "
                    f"1{flag}")
        assert self.breach
        names = ", ".join(f"{n} = {show(w, MINUS)}" for n, w in zip("abc", self.witness, strict=False))
        left, right = show(self.left, MINUS), show(self.right, MINUS)
        first, _, second = self.law.formula.partition(" = ")
        if self.law in STAYS:
            result = "is NaN" if is_nan(sequence([self.left], self.breach.arithmetic.dtype))[0] else f"= {left}"
            return f"{self.law.broken}. With {names}, {self.law.formula[:-4]} {result}, which is not an element"
        if self.law is FLAGS["selective"]:
            return f"{self.law.broken}. With {names}, {self.law.formula[:-9]} = {left}, neither a nor b"
        if not second or " = " in second:
            return f"{self.law.broken}. With {names}, {self.law.formula} does not hold: {left} ≠ {right}"
        other = f", not {right}" if second in ("a", "0", "1") else f" but {second} = {right}"
        return f"{self.law.broken}. With {names}, {first} = {left}{other}"


@dataclass(frozen=True)
class LawReport:
    """Verdicts on the axioms, the star and the flags of one algebra on some samples.

    `check_laws` makes one; it prints as a table, and iterating over it gives all verdicts. A verdict has the law and
    whether it ``holds``. If it does not hold, the verdict has a ``witness`` of elements with the two sides, `left` and
    `right`, and a ``graph()`` on which this changes an answer.

    Attributes
    ----------
    name : str
        The name of the algebra.
    samples : int
        The number of elements that were combined.
    axioms, star : tuple of Verdict
        One for each law, and one for each operation whose result is NaN or outside the carrier, if that makes a side of
        an axiom NaN; no star laws for a bare product.
    flags : dict of str to Verdict
        By flag: "idempotent", "selective", "bounded", "commutative".

    Notes
    -----
    Floats count as equal if rounding explains their difference: it is at most 10⁻⁹ of the largest intermediate value in
    double precision, 2 · 10⁻⁴ in single, 3 · 10⁻² in half. Whether ⊕ selects is tested to the last bit.

    Examples
    --------
    >>> import semiring as sr
    >>> report = sr.check_laws(sr.min_plus)
    >>> report.ok, report.derived
    (True, {'idempotent': True, 'selective': True, 'bounded': False, 'commutative': True})
    >>> print(report.flags["bounded"])
    1 does not bound every element. With a = −1, 1 ⊕ a = −1, not 0
    """

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
        """Verdicts on the axioms and the star that do not hold."""
        return [v for v in (*self.axioms, *self.star) if not v.holds]

    @property
    def derived(self) -> dict[str, bool]:
        """The flags that can be trusted."""
        return {flag: verdict.holds and verdict.proven for flag, verdict in self.flags.items()}

    def __iter__(self) -> Iterator[Verdict]:
        return iter((*self.axioms, *self.star, *self.flags.values()))

    @property
    def _head(self) -> str:
        return f"{self.name}: {'a semiring' if self.ok else 'not a semiring'} on {self.samples} samples"

    def _flag_rows(self) -> Iterator[tuple[str, str, Verdict]]:
        """Each flag with its mark and its verdict."""
        for flag, v in self.flags.items():
            yield flag, "+" if self.derived[flag] else "?" if v.holds else "−", v

    def __repr__(self) -> str:
        rows = [f"  {'✓' if v.holds else '✗'} {v}" for v in (*self.axioms, *self.star)]
        rows += [f"  {mark} {flag}" + ("" if mark == "+" else f"  ({v})") for flag, mark, v in self._flag_rows()]
        return "\n".join([self._head, *rows])

    def _repr_html_(self) -> str:
        rows = [(v.law.name, "✓" if v.holds else "✗", v.law.formula if v.holds else str(v))
                for v in (*self.axioms, *self.star)]
        rows += [(flag, mark, v.law.formula if mark == "+" else str(v)) for flag, mark, v in self._flag_rows()]
        return html_table(self._head, rows)


def check(
    S: Arithmetic, given: Elements | np.ndarray, *, name: str = "algebra", star: bool = True,
    proven: frozenset[str] = frozenset(), ordinary: Callable[[], np.ndarray] | None = None,
) -> LawReport:
    """Test every law.

    Parameters
    ----------
    S : Arithmetic
    given : Elements or ndarray
        Elements to combine; an array is combined in all ways, and flags that hold on it are trusted.
    star : bool
        Also test the star.
    proven : set of str
        Flags that follow from the expressions.
    ordinary : callable, optional
        Makes further elements for the counterexamples of broken laws.
    """
    notable, random, sure = (given, given[:0], True) if isinstance(given, np.ndarray) else given
    sure |= len(random) >= TRUSTED_ELEMENTS

    def verdict(law: Law, certain: bool = True, strict: bool = False) -> Verdict:
        return judge(law, S, notable, random, certain, strict=strict, ordinary=ordinary)

    known = S.one is not None  # bare products need no 1
    axioms = [verdict(law) for law in AXIOMS if known or "1" not in law.name]
    stars = [verdict(law) for law in STAR] if star else []
    if any(v.undefined for v in (*axioms, *stars)):
        leaving = [v for v in map(verdict, STAYS) if not v.holds]
        if not leaving:  # then NaN is a counterexample like any other
            axioms, stars = ([verdict(v.law, strict=True) for v in part] for part in (axioms, stars))
        axioms += leaving
    flags = {f: verdict(law, sure or f in proven, strict=True) for f, law in FLAGS.items() if known or f != "bounded"}
    return LawReport(name, len(notable) + len(random), tuple(axioms), tuple(stars), flags)


def judge(
    law: Law, S: Arithmetic, notable: np.ndarray, random: np.ndarray, proven: bool = True, *, strict: bool = True,
    ordinary: Callable[[], np.ndarray] | None = None,
) -> Verdict:
    """Test one law on combinations of the notable elements, and on some with random ones.

    Sides are equal if they differ by no more than rounding of the intermediate values. A combination is skipped if an
    intermediate value leaves the dtype's range. A law that is broken only where one side is NaN is broken if `strict`.
    """

    def refuted(elements: np.ndarray, combinations: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        operands = [elements[c] for c in combinations]
        watched = _Watched(S, operands)
        left, right = law.sides(watched, *operands)
        failed = ~(equal(left, right) if law.exact else watched.agree(left, right))
        nan = is_nan(left), is_nan(right)
        clean = failed & ~np.logical_or(*nan)
        if not clean.any() and (strict or law in STAYS):
            clean = failed & ~np.logical_and(*nan)
        return clean, failed

    everything = np.concatenate([notable, random])
    combinations = _combinations(law.arity, len(notable), len(random))
    broken, failed = refuted(everything, combinations)
    undefined = bool((failed & ~broken).any())
    if not broken.any():
        return Verdict(law, True, proven=proven, undefined=undefined)

    def more() -> tuple[np.ndarray, Sequence[np.ndarray]]:
        others = ordinary() if ordinary else everything
        grid = np.indices((len(others),) * law.arity).reshape(law.arity, -1)
        refuting, _ = refuted(others, [*grid])
        return others, [c[refuting] for c in grid]

    found = [c[broken] for c in combinations]
    breach = Breach(law, S, everything, found, more if ordinary else None)
    return Verdict(law, False, breach=breach, undefined=undefined)


@lru_cache(64)
def _combinations(arity: int, notable: int, random: int) -> tuple[np.ndarray, ...]:
    """Indices of the elements of each combination: the notable ones come first, the random ones after them."""
    most = min(notable, int(COMBINED ** (1 / arity) + 1e-9))
    grid = np.indices((most,) * arity).reshape(arity, -1)
    if not random:
        return tuple(grid)
    rng = np.random.default_rng(arity)
    if arity == 1:
        return (np.arange(notable + random),)
    # Notable elements have a quarter of the places.
    mixed = rng.integers(notable, notable + random, (arity, RANDOM))
    places = rng.random((arity, RANDOM)) < 0.25
    mixed[places] = rng.integers(0, notable, int(places.sum()))
    return tuple(np.concatenate([grid, mixed], axis=1))


class AsDeclared:
    """An arithmetic with ⊗ as it was declared, although its zero does not absorb.

    With a zero that is made to absorb, further laws would break as a consequence, at elements whose two sides are
    equal as declared.
    """

    def __init__(self, S: Arithmetic):
        self.dtype, self.zero, self.one = S.dtype, S.zero, S.one
        self.add, self.mul, self.raw_mul, self.star, self.defined = S.add, S.raw_mul, S.raw_mul, S.star, S.defined
        self.contains = S.contains


class _Watched:
    """An arithmetic that records how large intermediate values are, and whether they leave the dtype's range."""

    def __init__(self, S: Arithmetic, elements: Sequence[np.ndarray]):
        self._S, self.dtype, self.zero, self.one = S, S.dtype, S.zero, S.one
        self.raw_mul, self.star, self.defined, self.contains = S.raw_mul, S.star, S.defined, S.contains
        self._components = tuple(S.dtype[f] for f in S.dtype.names) if S.dtype.names else (S.dtype,)
        self._floats = [k for k, d in enumerate(self._components) if d.kind in "fc"]
        self._sizes = {k: np.zeros(len(elements[0])) for k in self._floats}
        self._lost = np.zeros(len(elements[0]), bool)
        for e in elements:
            self._see(e)

    def _parts(self, x: np.ndarray) -> list[np.ndarray]:
        return [x[f] for f in self.dtype.names] if self.dtype.names else [x]

    def _see(self, result: np.ndarray, *operands: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            for k in self._floats:
                part = self._parts(result)[k]
                size = np.abs(part).astype("f8")
                finite = np.isfinite(size)
                np.maximum(self._sizes[k], np.where(finite, size, 0), out=self._sizes[k])
                if not operands:
                    continue
                given = [np.abs(self._parts(x)[k]).astype("f8") for x in operands]
                least = np.finfo(self._components[k]).tiny
                self._lost |= ~finite & np.logical_and.reduce([np.isfinite(g) for g in given])
                vanished = (size < least) & np.logical_and.reduce([g > 0 for g in given])
                self._lost |= vanished & (np.minimum.reduce(given) < least**0.25)

    def add(self, x: Any, y: Any) -> Any:
        result = self._S.add(x, y)
        self._see(result, x, y)
        return result

    def mul(self, x: Any, y: Any) -> Any:
        result = self._S.mul(x, y)
        self._see(result, x, y)
        return result

    def agree(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Test, for each combination, whether both sides are equal up to rounding, or nothing can be said."""
        same = self._lost.copy() if self._floats else np.zeros(len(x), bool)
        parts = [
            _near(p, q, self._sizes[k]) if k in self._floats else equal(p, q)
            for k, (p, q) in enumerate(zip(self._parts(x), self._parts(y), strict=True))
        ]
        return np.asarray(same | np.logical_and.reduce(parts), bool)


def _near(x: np.ndarray, y: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Test whether numbers differ by no more than rounding of numbers of that size."""
    with np.errstate(all="ignore"):
        both = np.maximum(np.abs(x), np.abs(y)).astype("f8")
        item = x.dtype.itemsize // (2 if x.dtype.kind == "c" else 1)
        near = np.abs(x - y) <= TOLERANCE.get(item, 1e-9) * np.maximum(size, both)
        return np.asarray((x == y) | (near & np.isfinite(x) & np.isfinite(y)), bool)
