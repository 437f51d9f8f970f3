"""Algebras of pairs: the first component decides, the second among equals.

    (a, x) ⊕ (b, y) = (a, x) or (b, y) where a or b is the better one, (a, x ⊕ y) where a = b
    (a, x) ⊗ (b, y) = (a ⊗ b, x ⊗ y)

Let both be semirings, and let the first one select. Then ⊗ of pairs distributes over their ⊕ exactly if ⊗ of the first
cancels: c ⊗ a = c ⊗ b ≠ 0 only if a = b, on both sides. For let a be better than b and c ⊗ a = c ⊗ b ≠ 0. Then
c ⊗ ((a, 0) ⊕ (b, 1)) = (c ⊗ a, 0), but the sum of the products is (c ⊗ a, 1): the forgotten pair was needed. And if ⊗
cancels, the better of two stays the better one, or both become zero, and ties stay ties.

If it does not cancel, there may be two stages: the best values by the first algebra, then the best by the second among
the paths that attain them. If ⊗ of the first also selects and no element is better than one, as in max-min, these are
the paths on which every edge is at least as good as that value; see `semiring/solvers/paths/stages.py`.

M. G. Gouda, M. Schneider, Maximizable routing metrics (2003); A. J. T. Gurney, T. G. Griffin, Lexicographic products in
metarouting (2007).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from semiring.errors import LawError, SemiringError

from .by_name import algebra
from .elements import MINUS, choose, equal, full, show
from .expression import Expression, Traced, apply, constant, operand, postorder, rebuild, substitute
from .laws import AXIOMS, Law, Verdict, judge
from .samples import ordinary_elements
from .semiring import Semiring
from .tracing import Symbol, where

NOTABLE = 7  # elements of each algebra that are combined into pairs to test laws
STOPPING = {"add": "saturating_add", "multiply": "saturating_multiply"}  # equal on floats


def _cancels(S: Any, a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    return choose(equal(x, y) & ~equal(x, full(x, S.zero)), a, b), b


def _selects(S: Any, a: Any, b: Any) -> tuple[Any, Any]:
    total = S.mul(a, b)
    return total, choose(equal(total, b), b, a)


_LEFT, _RIGHT = (law.formula.split(" = ") for law in AXIOMS if "distributes" in law.name)
CANCELS = (
    Law("⊗ cancels on the left", "c ⊗ a = c ⊗ b ≠ 0 only if a = b", 3,
        lambda S, a, b, c: _cancels(S, a, b, S.mul(c, a), S.mul(c, b))),
    Law("⊗ cancels on the right", "a ⊗ c = b ⊗ c ≠ 0 only if a = b", 3,
        lambda S, a, b, c: _cancels(S, a, b, S.mul(a, c), S.mul(b, c))),
)
SELECTS = Law("⊗ selects", "a ⊗ b ∈ {a, b}", 2, _selects, exact=True)


def lexicographic(
    first: Semiring | str, second: Semiring | str, *, fields: Sequence[str] | None = None
) -> Semiring:
    """Return an algebra of pairs: the first component decides; ties go to the second.

    The widest of the shortest paths: ``lexicographic(min_plus, max_min)``. The shortest path with the fewest edges:
    ``lexicographic(min_plus, min_plus)``, with 1 as each edge's second weight. The number of shortest paths:
    ``lexicographic(min_plus, counting)``. A pair may be a component of another pair.

    Parameters
    ----------
    first : Semiring or str
        Its ⊕ must select, and its ⊗ must cancel: c ⊗ a = c ⊗ b ≠ 0 only if a = b. Infinities other than its zero and
        one are excluded from its carrier, because they cannot be cancelled.
    second : Semiring or str
        Its ⊕ combines ties and need not select. If it selects, elements better than one are excluded from its carrier:
        rounding of the first component would hide whether a cycle improves the second.
    fields : sequence of str, optional
        Names of the components, one for each number of a pair. Default: the names of the two algebras, or of their
        fields.

    Returns
    -------
    Semiring
        An algebra of records. The same object for the same arguments.

    Raises
    ------
    LawError
        If ⊕ of the first algebra does not select, or its ⊗ does not cancel, so that ⊗ of pairs would not distribute;
        the message has a counterexample. In this case `paths` may still answer in two stages: see there.
    SemiringError
        For an unknown algebra, an algebra of Python objects, or names that are not one for each component.

    Notes
    -----
    A. J. T. Gurney, T. G. Griffin, Lexicographic products in metarouting (2007), show that ⊗ must cancel, and that this
    is enough. It is tested on notable and random elements. Sums and products of integers saturate at the limits of
    their dtype, which stand for ±∞.

    Examples
    --------
    >>> import semiring as sr
    >>> S = sr.lexicographic(sr.min_plus, sr.max_min, fields=["length", "width"])
    >>> roads = sr.adjacency([("a", "b", (3, 2)), ("b", "c", (4, 9)), ("a", "c", (7, 1))], S)
    >>> print(sr.closure(roads, S)["a", "c"])
    (7.0, 2.0)
    >>> sr.lexicographic(sr.max_min, sr.min_plus)
    Traceback (most recent call last):
        ...
    semiring.errors.LawError: max-min, then min-plus, is not a semiring: ⊗ does not distribute on the left. With ...
    """
    return _pairs(*_checked(first, second), _given_names(fields))


def in_order(S: Any) -> Semiring:
    """An algebra, also given as (first, second): the algebra of pairs, or else one whose paths take two stages.

    Raises
    ------
    LawError
        If paths cannot be found in two stages either.
    SemiringError
        For a tuple of another length, or an unknown algebra.
    """
    if not isinstance(S, (tuple, list)) or not all(isinstance(each, (Semiring, str)) for each in S):
        return algebra(S)
    if len(S) != 2:
        names = ", ".join(each if isinstance(each, str) else each.name for each in S)
        raise SemiringError(f"({names}) holds {len(S)} algebras: pass two, (first, second): the first decides, the "
                            "second breaks ties; sr.lexicographic can combine more than two")
    first, second = _checked(*S)
    if not first.selective or _cancellation(first) is None:
        return _pairs(first, second, None)
    return _two_stages(first, second)


def is_forgotten(S: Semiring, pairs: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Test which pairs have a better second component than the sum they are in, for an algebra with stages.

    A path whose first value another edge decides would have needed that pair.

    Examples
    --------
    >>> import semiring as sr
    >>> S = in_order((sr.max_min, sr.min_plus))
    >>> pairs = S.array([(9, 6), (5, 1), (5, 7)])
    >>> is_forgotten(S, pairs, full(pairs, pairs[0])).tolist()
    [False, True, False]
    """
    assert S.stages is not None
    A, first = S.over(pairs.dtype), S.stages[0]
    tied = pairs.copy(), sums.copy()  # tied in the first component, so that the second one decides
    for f, _ in zip(pairs.dtype.names or (), first.components_of(first.one), strict=False):
        for part in tied:
            part[f] = A.one[f]
    return ~np.asarray(equal(A.add(*tied), tied[1]), bool)


def _checked(first: Semiring | str, second: Semiring | str) -> tuple[Semiring, Semiring]:
    found = algebra(first), algebra(second)
    for S in found:
        if S.traced is None:
            raise SemiringError(f"{S.name} works on Python objects, which cannot be components of pairs")
        if S.product_only:
            broken = S._law_report.failures
            raise LawError(f"{S.name} is not a semiring, so it cannot be a component of pairs"
                           + (f": {broken[0]}" if broken else ""))
    return found


def _given_names(fields: Sequence[str] | None) -> tuple[str, ...] | None:
    if fields is None:
        return None
    if isinstance(fields, str) or not isinstance(fields, (list, tuple)) or not all(isinstance(f, str) for f in fields):
        raise SemiringError(f"fields must be a list of names, one for each component, and is {fields!r}")
    return tuple(fields)


@cache
def _pairs(first: Semiring, second: Semiring, fields: tuple[str, ...] | None) -> Semiring:
    name = f"lexicographic({first.name}, {second.name})"
    if not first.selective:
        raise LawError(f"{name}: the first component cannot decide, because in {first.name} "
                       f"{first._law_report.flags['selective']}")
    broken = _cancellation(first)
    if broken is not None:
        raise LawError(_not_distributive(first, second, broken))
    pair = _Pair(first, second)
    made = Semiring(
        name, f"(pairs, {first.name} decides, {second.name} breaks ties)", fields=pair.fields(fields), add=pair.add,
        mul=pair.mul, zero=pair.zero, one=pair.one, star=pair.star, carrier=pair.carrier, samples=pair.samples(),
        selective=second.selective, idempotent=second.idempotent, commutative=first.commutative and second.commutative,
        bounded=first.bounded and (second.bounded or second.selective),
        description=f"best walks by {first.name}, of these the best by {second.name}",
    )
    made.origin, made.refuses_cycles = (_pairs, (first, second, fields)), True
    return made


@cache
def _two_stages(first: Semiring, second: Semiring) -> Semiring:
    why = _no_stages(first, second)
    if why:
        raise LawError(f"{first.name}, then {second.name}: there is no algebra of these pairs, and paths cannot be "
                       f"found in two stages, because {why}")
    pair = _Pair(first, second)
    made = Semiring(
        f"{first.name}, then {second.name}", f"(pairs, {first.name} decides, {second.name} breaks ties)",
        fields=pair.fields(None), add=pair.add, mul=pair.mul, zero=pair.zero, one=pair.one, carrier=pair.both_or_none,
        samples=pair.samples(), product_only=True,
        description=f"paths in two stages: the best by {first.name}, of these the best by {second.name}",
    )
    made.stages, made.origin = (first, second), (_two_stages, (first, second))
    return made


def _no_stages(first: Semiring, second: Semiring) -> str:
    """Why best paths are not the paths whose edges are all as good as the first value; empty if they are."""
    selects = judge(SELECTS, first.over(first.default_dtype), *first.elements_in(first.default_dtype)[:2])
    for S, verdict in ((first, selects), (first, first._law_report.flags["bounded"]),
                       (second, second._law_report.flags["selective"])):
        if not (verdict.holds and verdict.proven):
            return f"in {S.name} {verdict}"
    return ""


def _cancellation(first: Semiring) -> Verdict | None:
    """A verdict with elements that ⊗ makes equal; None if ⊗ cancels."""
    A = first.over(first.default_dtype)
    kept = [e[cancellable(first, e)] for e in first.elements_in(first.default_dtype)[:2]]
    others = ordinary_elements(A)
    verdicts = (judge(law, A, *kept, ordinary=lambda: others[cancellable(first, others)]) for law in CANCELS)
    return next((v for v in verdicts if not v.holds), None)


def _not_distributive(first: Semiring, second: Semiring, broken: Verdict) -> str:
    """The error, with three pairs, one of which is forgotten too early."""
    A, B = first.over(first.default_dtype), second.over(second.default_dtype)
    left = "left" in broken.law.name
    better, worse, same = (np.array([w], A.dtype) for w in broken.witness)
    if equal(A.add(better, worse), worse)[0]:
        better, worse = worse, better
    p = A.mul(same, better) if left else A.mul(better, same)
    x, y, z = _told(B, left)
    once, twice = ((B.mul(z, x), B.mul(z, y)) if left else (B.mul(x, z), B.mul(y, z)))
    once, twice = once, B.add(once, twice)
    pairs = [(better, x), (worse, y)]
    given = [(same, z), *pairs] if left else [*pairs, (same, z)]
    sides = dict(zip(_LEFT if left else _RIGHT, ((p, once), (p, twice)), strict=True))
    names, (whole, parts) = ([f"{name} = ({show(v[0], MINUS)}, {show(w[0], MINUS)})" for name, (v, w) in told]
                             for told in (zip("abc", given, strict=True), sides.items()))
    stages = "" if _no_stages(first, second) else " sr.paths(A, (first, second)) finds best paths in two stages."
    return (
        f"{first.name}, then {second.name}, is not a semiring: ⊗ does not distribute on the "
        f"{'left' if left else 'right'}. With {', '.join(names)}, {whole} but {parts}. The reason: ⊗ of {first.name} "
        f"does not cancel. So a walk that is worse now may be needed later.{stages}"
    )


def _told(B: Any, left: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three elements x, y and z of the second algebra: after z, or before it, y changes the sum with x."""
    apart = [e for e in B.semiring.elements_in(B.dtype)[0] if not np.any(equal(np.array([e]), np.array([B.zero])))]
    candidates = [np.array([e], B.dtype) for e in (*ordinary_elements(B)[:4], *apart)][:12]
    for at in sorted(product(range(len(candidates)), repeat=3), key=lambda at: (len({*at}) < 3, max(at))):
        x, y, z = (candidates[i] for i in at)
        once, other = (B.mul(z, x), B.mul(z, y)) if left else (B.mul(x, z), B.mul(y, z))
        if not equal(B.add(once, other), once)[0]:
            return x, y, z
    return np.array([B.zero], B.dtype), np.array([B.one], B.dtype), np.array([B.one], B.dtype)


class _Pair:
    """The operations on pairs, written like those of any algebra."""

    def __init__(self, first: Semiring, second: Semiring):
        assert first.traced is not None and second.traced is not None
        self.first, self.second = first, second
        self.one_of, self.other = first.traced, second.traced
        self.width = self.one_of.add.width
        self.zeros = tuple(first.components_of(first.zero)), tuple(second.components_of(second.zero))
        self.ones = tuple(first.components_of(first.one)), tuple(second.components_of(second.one))
        self.zero, self.one = self.zeros[0] + self.zeros[1], self.ones[0] + self.ones[1]

    def fields(self, names: tuple[str, ...] | None) -> dict[str, np.dtype]:
        """The components by name.

        Raises
        ------
        SemiringError
            If there is not exactly one name for each component, all different.
        """
        dtypes = [d for S in (self.first, self.second) for d in S.over(S.default_dtype).components]
        if names is None:
            own = [f for S in (self.first, self.second) for f in S.default_dtype.names or (S.name,)]
            made: list[str] = []
            for name in (re.sub(r"\W+", "_", f).strip("_") for f in own):
                made.append(name if name not in made else f"{name}_{sum(m.startswith(name) for m in made) + 1}")
            names = tuple(made)
        if len(names) != len(dtypes) or len(set(names)) < len(names):
            raise SemiringError(f"fields={list(names)} must be {len(dtypes)} different names, one for each component "
                                f"of {self.first.name} and {self.second.name}")
        return dict(zip(names, dtypes, strict=True))

    def halves(self, x: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The components of both elements of a pair."""
        parts = tuple(x)
        return parts[: self.width], parts[self.width :]

    def add(self, x: Any, y: Any) -> Any:
        """The pair with the better first component; at a tie, ⊕ of the second components."""
        (p, q), (r, s) = self.halves(x), self.halves(y)
        mine, others = self.wins(p, r), self.wins(r, p)
        both = _called(self.other.add, q, s)
        return (*(where(mine, a, b) for a, b in zip(p, r, strict=True)),
                *(where(mine & others, t, where(mine, a, b)) for t, a, b in zip(both, q, s, strict=True)))

    def wins(self, p: tuple[Any, ...], r: tuple[Any, ...]) -> Any:
        """Whether p ⊕ r = p."""
        if self.one_of.add.is_plain("minimum"):
            return p[0] <= r[0]
        if self.one_of.add.is_plain("maximum"):
            return p[0] >= r[0]
        return _same(_called(self.one_of.add, p, r), p)

    def mul(self, x: Any, y: Any) -> Any:
        """⊗ of each component; a pair whose first component becomes zero is zero."""
        (p, q), (r, s) = self.halves(x), self.halves(y)
        decided, tied = _called(_stopping(self.one_of.mul), p, r), _called(_stopping(self.other.mul), q, s)
        empty = _same(decided, self.zeros[0])
        return (*decided, *(where(empty, z, t) for z, t in zip(self.zeros[1], tied, strict=True)))

    def star(self, a: Any) -> Any:
        """One if the first component is worse than one; if it is one, the star of the second."""
        p, q = self.halves(a)
        star = substitute(self.other.star.outputs, {operand(0, c): e.expression for c, e in enumerate(q)})
        (defined,) = substitute((self.other.defined,), {operand(0, c): e.expression for c, e in enumerate(q)})
        tied = _same(p, self.ones[0])
        better = tied & ~tied if self.first.bounded else ~_same(_called(self.one_of.add, self.ones[0], p), self.ones[0])
        return (*(where(better, np.nan, one) for one in self.ones[0]),
                *(where(tied, where(Symbol(defined), Symbol(e), np.nan), one)
                  for e, one in zip(star, self.ones[1], strict=True)))

    def carrier(self, a: Any) -> Any:
        """Pairs with a first element that can be cancelled, zero only if both are; no second element beyond one."""
        p, q = self.halves(a)
        endless = [~np.isfinite(x) for x in p]
        some = endless[0]
        for e in endless[1:]:
            some = some | e
        kept = ~some | _same(p, self.zeros[0]) | _same(p, self.ones[0])
        if self.second.selective and not self.second.bounded:
            kept = kept & _same(_called(self.other.add, self.ones[1], q), self.ones[1])
        return self.inside(p, q) & kept & (~_same(p, self.zeros[0]) | _same(q, self.zeros[1]))

    def both_or_none(self, a: Any) -> Any:
        """Pairs in which both elements are zero, or neither is."""
        p, q = self.halves(a)
        empty, none = _same(p, self.zeros[0]), _same(q, self.zeros[1])
        return self.inside(p, q) & ((empty & none) | ~(empty | none))

    def inside(self, p: tuple[Any, ...], q: tuple[Any, ...]) -> Any:
        """Whether both are elements."""
        conditions = [
            e for traced, x in ((self.one_of, p), (self.other, q))
            for e in substitute((traced.carrier,), {operand(0, c): part.expression for c, part in enumerate(x)})
        ]
        return Symbol(apply("logical_and", *conditions))

    def samples(self) -> list[tuple[Any, ...]]:
        """Pairs of notable elements."""
        found = []
        for S in (self.first, self.second):
            elements = S.elements_in(S.default_dtype)[0][:NOTABLE].tolist()
            found.append([tuple(e) if isinstance(e, tuple) else (e,) for e in elements])
        return [p + q for p, q in product(*found)]


def cancellable(S: Semiring, elements: np.ndarray) -> np.ndarray:
    """Test which elements are finite, zero or one: infinities cannot be cancelled."""
    A = S.over(elements.dtype)
    finite = np.logical_and.reduce([np.isfinite(part) for part in A.split(elements)])
    return np.asarray(finite | equal(elements, full(elements, A.zero)) | equal(elements, full(elements, A.one)), bool)


def _called(traced: Traced, *operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The result of traced operations on symbols, and on numbers."""
    parts = {
        operand(k, c): part.expression if isinstance(part, Symbol) else constant(part)
        for k, parts in enumerate(operands) for c, part in enumerate(parts)
    }
    return tuple(map(Symbol, substitute(traced.outputs, parts)))


def _same(x: tuple[Any, ...], y: tuple[Any, ...]) -> Any:
    """Whether elements are equal in all components."""
    result: Any = x[0] == y[0]
    for p, q in zip(x[1:], y[1:], strict=True):
        result = result & (p == q)
    return result


@cache
def _stopping(traced: Traced) -> Traced:
    """The expressions with sums and products that saturate at the limits of an integer dtype."""
    made: dict[Expression, Expression] = {}
    for e in postorder(traced.outputs):
        args = [made[a] for a in e.args]
        made[e] = apply(STOPPING[e.op], *args) if e.op in STOPPING else rebuild(e, args)
    return Traced(tuple(made[e] for e in traced.outputs), traced.arity, traced.width)
